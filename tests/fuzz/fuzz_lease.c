/* Answers about a Lease, with a NUL between them ("409" before the body is its status, a line break
 * before both that the Lease is released then): no crash, no leak; who leads holds the Lease that
 * was read last, and each write is on what was read. Whatever stands in a request, its path is one
 * word. */
/* reads: live/lease.c live/call.c */
#include <string.h>

#include "fuzz.h"
#include "live/client.h"

enum { ARENA_BYTES = 64 << 20, RENEW_DEADLINE_MS = 10000 };

static const struct lease_settings settings = {
    .identity = "taffrail-1",
    .namespace = "taffrail",
    .name = "taffrail",
    .duration_ms = 15000,
    .renew_deadline_ms = RENEW_DEADLINE_MS,
    .retry_ms = 2000,
};

static struct arena *arena;

struct checking {
    const struct call_request *request;
    struct text version; /* of the Lease that was read last; empty: of none */
};

static void check_body(void *argument)
{
    const struct checking *checking = argument;
    const struct node *root = fuzz_tree(checking->request->body, &doc_limits_manifest, arena);
    const struct node *holder = node_at(root, "spec.holderIdentity");
    REQUIRE(root != NULL && text_is(node_string(node_get(root, "kind")), "Lease"));
    REQUIRE(holder == NULL || text_is(node_string(holder), settings.identity));
    if (checking->request->verb == CALL_UPDATE)
        REQUIRE(
            text_equal(node_string(node_at(root, "metadata.resourceVersion")), checking->version));
}

static void check_request(const struct call_request *request, struct text version)
{
    char path[CALL_PATH_BYTES];
    struct checking checking = {request, version};
    struct error error;
    REQUIRE(call_path(request, path) && path[0] == '/');
    if (request->verb == CALL_GET)
        return;
    REQUIRE(request->verb == CALL_CREATE || request->verb == CALL_UPDATE);
    REQUIRE(arena_guard(arena, check_body, &checking, &error));
}

/* The resourceVersion of an answer that is a Lease; kept, since the answer goes. */
static void keep_version(struct text body, char version[static 256])
{
    const struct node *root = fuzz_tree(body, &doc_limits_manifest, arena);
    struct text read = node_string(node_at(root, "metadata.resourceVersion"));
    if (read.size > 0)
        snprintf(version, 256, "%.*s", (int)(read.size < 255 ? read.size : 255), read.data);
}

static unsigned take_status(struct text *answer)
{
    unsigned status = 0;
    for (int i = 0; i < 3; i++) {
        if (answer->size == 0 || answer->data[0] < '0' || answer->data[0] > '9')
            return i == 0 ? 200 : status;
        status = status * 10 + (unsigned)(answer->data[0] - '0');
        *answer = (struct text){answer->data + 1, answer->size - 1};
    }
    return status;
}

static void check_leader(const struct lease *lease, int64_t now_ms)
{
    struct lease_report report;
    lease_report(lease, &report);
    REQUIRE(!lease_leads(lease, now_ms) || strcmp(report.holder, settings.identity) == 0);
    REQUIRE(report.transitions >= -1);
}

static void answer_all(struct lease *lease, struct text answers)
{
    int64_t now_ms = 1, now_unix_us = INT64_C(1800000000000000);
    char version[256] = "";
    while (answers.size > 0) {
        struct lease_step step;
        lease_next(lease, now_ms, now_unix_us, &step);
        check_leader(lease, now_ms);
        if (!step.ask) {
            if (step.until_ms == INT64_MAX)
                return; /* it was released */
            now_ms = step.until_ms > now_ms ? step.until_ms : now_ms + 1;
            continue;
        }
        bool whole = strlen(version) < 255;
        arena_reset(arena);
        if (whole)
            check_request(&step.request, text_of(version));
        struct text body = answers, rest = TEXT("");
        text_split(answers, '\0', &body, &rest);
        struct call_answer answer;
        unsigned status = take_status(&body);
        /* How long to wait: not said, a second or two, or for days. */
        int64_t retry_after_s = body.size % 4 == 3 ? 1000000 : (int64_t)(body.size % 4);
        call_read(status, body, retry_after_s, status == 0 ? "no answer" : NULL, &answer);
        if (answer.result == CALL_DONE)
            keep_version(body, version);
        lease_take(lease, now_ms += 5, status, &answer);
        check_leader(lease, now_ms);
        if (text_starts_with(rest, TEXT("\n"))) {
            lease_release(lease);
            rest = (struct text){rest.data + 1, rest.size - 1};
        }
        answers = rest;
    }
}

/* ---- paths ---- */

static void check_path(const struct call_request *request)
{
    char path[CALL_PATH_BYTES];
    if (!call_path(request, path))
        return;
    REQUIRE(path[0] == '/' && memchr(path, '\0', sizeof path) != NULL);
    for (const char *at = path; *at != '\0'; at++)
        REQUIRE(*at > ' ' && *at < 0x7F && *at != '#');
}

/* Of each verb and kind; the text is the name, or that of the namespace, or where a list goes on.
 */
static void check_paths(void *argument)
{
    const struct text *text = argument;
    const char *word = arena_text(arena, *text).data;
    for (enum call_verb verb = CALL_GET; verb <= CALL_DISCOVER; verb++)
        for (enum resource resource = 0; resource < RESOURCE_COUNT; resource++) {
            const struct call_request requests[] = {
                {.verb = verb, .resource = resource, .namespace = "a", .name = word},
                {.verb = verb, .resource = resource, .namespace = word, .name = "b"},
                {.verb = verb,
                 .resource = resource,
                 .namespace = "a",
                 .name = "b",
                 .continue_token = word},
            };
            for (size_t i = 0; i < COUNT_OF(requests); i++)
                check_path(&requests[i]);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error error;
    if (arena == NULL)
        arena = arena_create(ARENA_BYTES);
    REQUIRE(arena != NULL && lease_settings_check(&settings, &error));
    struct lease *lease = lease_create(&settings);
    REQUIRE(lease != NULL);
    answer_all(lease, (struct text){(const char *)data, size});
    lease_destroy(lease);
    struct text text = {(const char *)data, size};
    fuzz_guarded(arena, check_paths, &text);
    return 0;
}
