/* Bodies as the network sends them, through the engine: no crash, an answer or a reason, and an
 * answer that carries the review's uid and denies exactly when a finding does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/server.h"

enum { ARENA_BYTES = 64 << 20, NOW_UNIX_S = 1800000000 };

#define REQUIRE(condition)                                                                \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            abort();                                                                      \
        }                                                                                 \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char policy_text[] =
    "apiVersion: taffrail.dev/v1alpha1\n"
    "kind: GuardRails\n"
    "metadata: {name: p}\n"
    "spec:\n"
    "  mode: enforce\n"
    "  since: 2026-01-01\n"
    "  match: {namespaceSelector: {matchLabels: {tier: prod}}, excludeNamespaces: [a]}\n"
    "  rails:\n"
    "    topology-keys: {selfMatch: true}\n"
    "    instance-types: {allow: {families: [m5], minGeneration: 5}, deny: {sizes: [metal]}}\n"
    "---\n"
    "apiVersion: taffrail.dev/v1alpha1\n"
    "kind: GuardRails\n"
    "metadata: {name: q}\n"
    "spec:\n"
    "  mode: warn\n"
    "  rails: {topology-keys: {}, instance-types: {max: {cpu: 16}}}\n";

static struct world *world;
static struct arena *arena;

static void begin(void)
{
    char path[] = "/tmp/taffrail-fuzz-XXXXXX.yaml";
    int descriptor = mkstemps(path, 5);
    REQUIRE(descriptor >= 0);
    REQUIRE(write(descriptor, policy_text, sizeof policy_text - 1) ==
            (ssize_t)sizeof policy_text - 1);
    close(descriptor);
    arena = arena_create(ARENA_BYTES);
    REQUIRE(arena != NULL);
    struct problems errors = {.arena = arena};
    struct problems warnings = {.arena = arena};
    const char *paths[] = {path};
    struct world_options options = {.policy_paths = paths, .policy_path_count = 1};
    REQUIRE(world_load(&options, 1, NOW_UNIX_S, &world, &errors, &warnings));
    unlink(path);
}

struct job {
    struct text body;
    enum review_phase phase;
};

static void check_answer(struct text answer, const struct review_record *record)
{
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = answer;
    const struct node *root = NULL;
    struct error error;
    REQUIRE(doc_read_json(source, &doc_limits_review, NULL, arena, &root, &error));
    const struct node *response = node_get(root, "response");
    REQUIRE(text_equal(node_string(node_get(response, "uid")), record->uid));
    REQUIRE(node_true(node_get(response, "allowed")) == record->allowed);
    REQUIRE(record->allowed == (record->verdict.action != ACTION_DENY));
    REQUIRE((node_get(response, "status") == NULL) == record->allowed);
}

static void run(void *argument)
{
    const struct job *job = argument;
    struct text answer;
    struct review_record record;
    struct error error = {0};
    if (!review_answer(world, job->phase, job->body, NOW_UNIX_S, arena, &answer, &record, &error)) {
        REQUIRE(error.kind != ERROR_NONE && strlen(error.what) > 0);
        return;
    }
    check_answer(answer, &record);
    (void)trail_line(&record, (int64_t)NOW_UNIX_S * 1000, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (world == NULL)
        begin();
    for (int phase = REVIEW_VALIDATE; phase <= REVIEW_MUTATE; phase++) {
        struct job job = {{(const char *)data, size}, (enum review_phase)phase};
        struct error error = {0};
        arena_reset(arena);
        if (!arena_guard(arena, run, &job, &error))
            REQUIRE(error.kind == ERROR_LIMIT);
    }
    return 0;
}
