/* One request about one object: where it goes, and what its answer comes to. */
#include <stdio.h>
#include <string.h>

#include "kube/client/watch.h"

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

/* Of names as Kubernetes allows them nothing must be escaped in a path. */
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

/* What the server said, or at least that it said no. */
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

/* ---- bodies ---- */

static void add_string(struct text_builder *out, struct text t)
{
    text_builder_add(out, TEXT("\""));
    size_t start = 0;
    for (size_t i = 0; i < t.size; i++) {
        unsigned char byte = (unsigned char)t.data[i];
        if (byte >= 0x20 && byte != '"' && byte != '\\')
            continue;
        text_builder_add(out, (struct text){t.data + start, i - start});
        text_builder_printf(out, "\\u%04x", byte);
        start = i + 1;
    }
    if (start < t.size)
        text_builder_add(out, (struct text){t.data + start, t.size - start});
    text_builder_add(out, TEXT("\""));
}

static void add_node(struct text_builder *out, const struct node *node)
{
    switch ((enum node_kind)node->kind) {
    case NODE_NULL:
        text_builder_add(out, TEXT("null"));
        break;
    case NODE_BOOL:
    case NODE_NUMBER:
        text_builder_add(out, node_text(node));
        break;
    case NODE_STRING:
        add_string(out, node_string(node));
        break;
    case NODE_LIST:
        for (size_t i = 0; i < node->size; i++) {
            text_builder_add(out, i == 0 ? TEXT("[") : TEXT(","));
            add_node(out, &node->items[i]);
        }
        text_builder_add(out, node->size == 0 ? TEXT("[]") : TEXT("]"));
        break;
    case NODE_MAP:
        for (size_t i = 0; i < node->size; i++) {
            const struct member *member = &node->members[i];
            text_builder_add(out, i == 0 ? TEXT("{") : TEXT(","));
            add_string(out, (struct text){member->key, member->key_size});
            text_builder_add(out, TEXT(":"));
            add_node(out, &member->value);
        }
        text_builder_add(out, node->size == 0 ? TEXT("{}") : TEXT("}"));
        break;
    }
}

struct text node_json(const struct node *node, struct arena *arena)
{
    struct text_builder out = {.arena = arena};
    add_node(&out, node);
    return text_builder_text(&out);
}
