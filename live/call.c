/* One request about one object: its path, and the result of its answer. */
#include <stdio.h>
#include <string.h>

#include "live/watch.h"

enum { RETRY_AFTER_MAX_S = 300, STATUS_ARENA_BYTES = 1 << 20 };

#define REGISTRATION "admissionregistration.k8s.io/v1"
const struct resource_info resource_table[RESOURCE_COUNT] = {
    [RESOURCE_SECRET] = {"v1", "Secret", "secrets", true},
    [RESOURCE_LEASE] = {"coordination.k8s.io/v1", "Lease", "leases", true},
    [RESOURCE_VALIDATING_CONFIGURATION] = {REGISTRATION, "ValidatingWebhookConfiguration",
                                           "validatingwebhookconfigurations", false},
    [RESOURCE_MUTATING_CONFIGURATION] = {REGISTRATION, "MutatingWebhookConfiguration",
                                         "mutatingwebhookconfigurations", false},
};

/* Valid Kubernetes names need no escapes in a path. */
static bool is_plain(const char *name)
{
    return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == strlen(name);
}

bool call_path(const struct call_request *request, char path[static CALL_PATH_BYTES])
{
    const struct resource_info *info = &resource_table[request->resource];
    const char *root = strchr(info->api_version, '/') == NULL ? "api" : "apis";
    bool named = request->verb != CALL_CREATE;
    int size =
        snprintf(path, CALL_PATH_BYTES, "/%s/%s%s%s/%s%s%s%s", root, info->api_version,
                 info->namespaced ? "/namespaces/" : "", info->namespaced ? request->namespace : "",
                 info->plural, named ? "/" : "", named ? request->name : "",
                 request->verb == CALL_APPLY ? "?fieldManager=taffrail&force=true"
                 : request->verb == CALL_GET ? ""
                                             : "?fieldManager=taffrail");
    return size < CALL_PATH_BYTES && is_plain(request->name) && is_plain(request->namespace);
}

static enum call_result result_of(unsigned status, int64_t retry_after_s)
{
    static const struct {
        unsigned status;
        enum call_result result;
    } results[] = {
        {200, CALL_DONE},      {201, CALL_DONE},      {400, CALL_INVALID},
        {401, CALL_FORBIDDEN}, {403, CALL_FORBIDDEN}, {404, CALL_MISSING},
        {409, CALL_CONFLICT},  {422, CALL_INVALID},   {429, CALL_BUSY},
    };
    for (size_t i = 0; i < COUNT_OF(results); i++)
        if (results[i].status == status)
            return results[i].result;
    return status == 503 && retry_after_s > 0 ? CALL_BUSY : CALL_FAILED;
}

/* The server's message, or at least that it refused. */
static void write_problem(struct text body, struct call_answer *answer)
{
    struct watch_event said = {0};
    struct arena *arena = arena_create(STATUS_ARENA_BYTES);
    if (arena != NULL && status_read(body, arena, &said) && said.message.size > 0)
        snprintf(answer->problem, sizeof answer->problem, "answered %u: %.*s", answer->status,
                 TEXT_ARGS(said.message));
    else
        snprintf(answer->problem, sizeof answer->problem, "answered %u, with no Status",
                 answer->status);
    arena_destroy(arena);
}

void call_read(unsigned status, struct text body, int64_t retry_after_s, const char *failure,
               struct call_answer *answer)
{
    *answer = (struct call_answer){.result = CALL_FAILED, .status = status};
    if (failure != NULL) {
        snprintf(answer->problem, sizeof answer->problem, "%s", failure);
        return;
    }
    answer->result = result_of(status, retry_after_s);
    if (answer->result == CALL_DONE) {
        answer->body = body;
        return;
    }
    if (answer->result == CALL_BUSY)
        answer->retry_after_s =
            retry_after_s > RETRY_AFTER_MAX_S ? RETRY_AFTER_MAX_S : retry_after_s;
    write_problem(body, answer);
}
