/* One request about one object: its path, and the result of its answer. */
#include <stdio.h>
#include <string.h>

#include "live/watch.h"

enum { RETRY_AFTER_MAX_S = 300, STATUS_ARENA_BYTES = 1 << 20, PAGE_OBJECTS = 500 };

#define REGISTRATION "admissionregistration.k8s.io/v1"
#define OPENREPORTS "openreports.io/v1alpha1"
#define WGPOLICY "wgpolicyk8s.io/v1alpha2"
const struct resource_info resource_table[RESOURCE_COUNT] = {
    [RESOURCE_CONFIG_MAP] = {"v1", "ConfigMap", "configmaps", true},
    [RESOURCE_SECRET] = {"v1", "Secret", "secrets", true},
    [RESOURCE_LEASE] = {"coordination.k8s.io/v1", "Lease", "leases", true},
    [RESOURCE_VALIDATING_CONFIGURATION] = {REGISTRATION, "ValidatingWebhookConfiguration",
                                           "validatingwebhookconfigurations", false},
    [RESOURCE_MUTATING_CONFIGURATION] = {REGISTRATION, "MutatingWebhookConfiguration",
                                         "mutatingwebhookconfigurations", false},
    [RESOURCE_REPORT] = {OPENREPORTS, "Report", "reports", true},
    [RESOURCE_CLUSTER_REPORT] = {OPENREPORTS, "ClusterReport", "clusterreports", false},
    [RESOURCE_POLICY_REPORT] = {WGPOLICY, "PolicyReport", "policyreports", true},
    [RESOURCE_CLUSTER_POLICY_REPORT] = {WGPOLICY, "ClusterPolicyReport", "clusterpolicyreports",
                                        false},
};

/* Valid Kubernetes names need no escapes in a path. */
static bool is_plain(const char *name)
{
    return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == strlen(name);
}

/* The path of one object, or of the collection it will be in. */
static int object_path(const struct call_request *request, const char *root, char *path)
{
    const struct resource_info *info = &resource_table[request->resource];
    bool named = request->verb != CALL_CREATE;
    bool reads = request->verb == CALL_GET || request->verb == CALL_DELETE;
    return snprintf(path, CALL_PATH_BYTES, "/%s/%s%s%s/%s%s%s%s", root, info->api_version,
                    info->namespaced ? "/namespaces/" : "",
                    info->namespaced ? request->namespace : "", info->plural, named ? "/" : "",
                    named ? request->name : "",
                    request->verb == CALL_APPLY ? "?fieldManager=taffrail&force=true"
                    : reads                     ? ""
                                                : "?fieldManager=taffrail");
}

/* Rights may be limited to a name, and a field selector is how a list names one. */
static int list_path(const struct call_request *request, const char *root,
                     char path[static CALL_PATH_BYTES])
{
    const struct resource_info *info = &resource_table[request->resource];
    int size =
        snprintf(path, CALL_PATH_BYTES, "/%s/%s/%s?fieldSelector=metadata.name%%3D%s&limit=%d",
                 root, info->api_version, info->plural, request->name, PAGE_OBJECTS);
    if (request->continue_token == NULL || size >= CALL_PATH_BYTES)
        return size;
    size += snprintf(path + size, (size_t)(CALL_PATH_BYTES - size), "&continue=");
    size_t end = (size_t)size;
    if (end >= CALL_PATH_BYTES || CALL_PATH_BYTES - end <= 3 * strlen(request->continue_token) + 1)
        return CALL_PATH_BYTES;
    path_add_escaped(path, &end, request->continue_token);
    return (int)end;
}

static int select_path(const struct call_request *request, const char *root,
                       char path[static CALL_PATH_BYTES])
{
    const struct resource_info *info = &resource_table[request->resource];
    int size = snprintf(path, CALL_PATH_BYTES, "/%s/%s/namespaces/%s/%s?labelSelector=", root,
                        info->api_version, request->namespace, info->plural);
    size_t end = (size_t)size;
    if (end >= CALL_PATH_BYTES || CALL_PATH_BYTES - end <= 3 * strlen(request->name) + 1)
        return CALL_PATH_BYTES;
    path_add_escaped(path, &end, request->name);
    return (int)end;
}

bool call_path(const struct call_request *request, char path[static CALL_PATH_BYTES])
{
    const char *api_version = resource_table[request->resource].api_version;
    const char *root = strchr(api_version, '/') == NULL ? "api" : "apis";
    if (request->verb == CALL_DISCOVER)
        return snprintf(path, CALL_PATH_BYTES, "/%s/%s", root, api_version) < CALL_PATH_BYTES;
    bool selects = request->verb == CALL_SELECT;
    int size = selects                      ? select_path(request, root, path)
               : request->verb == CALL_LIST ? list_path(request, root, path)
                                            : object_path(request, root, path);
    return size < CALL_PATH_BYTES && (selects || is_plain(request->name)) &&
           is_plain(request->namespace);
}

static enum call_result result_of(unsigned status, int64_t retry_after_s)
{
    static const struct {
        unsigned status;
        enum call_result result;
    } results[] = {
        {200, CALL_DONE},      {201, CALL_DONE},      {202, CALL_DONE},    {400, CALL_INVALID},
        {401, CALL_FORBIDDEN}, {403, CALL_FORBIDDEN}, {404, CALL_MISSING}, {409, CALL_CONFLICT},
        {422, CALL_INVALID},   {429, CALL_BUSY},
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
