/* Reads policy files out of ConfigMaps, as the webhook has them mounted. */
#include "cli/cluster_policies.h"

#include <stdlib.h>

#include "base/clock.h"

#define USUAL_NAMESPACE "taffrail"
#define USUAL_CONFIG_MAP "taffrail-policies"
enum { USUAL_TIMEOUT_MS = 30 * 1000, HTTP_UNAUTHORIZED = 401 };

bool cluster_policies_check(const char *command, const struct cluster_policies_options *options,
                            const struct string_list *files)
{
    bool described =
        options->namespace != NULL || options->selector != NULL || options->config_maps.count > 0;
    if (files->count == 0 && !options->from_cluster)
        usage_error(command, "no policy is given (-p FILE, or --from-cluster)");
    else if (files->count > 0 && options->from_cluster)
        usage_error(command, "either -p, or --from-cluster");
    else if (described && !options->from_cluster)
        usage_error(command, "--policy-namespace, --policy-configmap and --policy-selector are for "
                             "--from-cluster");
    else
        return true;
    return false;
}

/* ---- one request ---- */

struct asking {
    const struct client_config *config;
    int64_t limit_ms;
    struct arena *arena;
    bool answered;
    struct call_answer answer;
    char *body; /* a copy: that of the answer is gone after the call */
};

static void take_answer(void *context, const struct call_answer *answer)
{
    struct asking *asking = context;
    asking->answered = true;
    asking->answer = *answer;
    asking->body = text_duplicate(answer->body);
}

static bool ask(struct asking *asking, const struct call_request *request, struct error *error)
{
    struct client *client = NULL;
    int64_t end_ms = monotonic_ms() + asking->limit_ms;
    asking->answered = false;
    bool asked = client_open(asking->config, NULL, &client, error) &&
                 client_call(client, request, take_answer, asking, error);
    while (asked && !asking->answered && monotonic_ms() < end_ms)
        asked = client_run(client, 50, error);
    client_close(client);
    if (!asked)
        return false;
    struct text body = {asking->body, asking->answer.body.size};
    asking->answer.body = asking->body == NULL ? TEXT("") : arena_text(asking->arena, body);
    free(asking->body);
    asking->body = NULL;
    return asking->answered ||
           error_set(error, ERROR_CLUSTER, NOWHERE, "it did not answer in time (--timeout)");
}

/* ---- what a ConfigMap holds ---- */

/* The policy files of data, or of binaryData, which is base64 and mounted alike. */
static bool take_member(const struct node *map, const char *member, bool encoded,
                        struct arena *arena, struct policy_texts *texts, struct error *error)
{
    const struct node *files = node_get(map, member);
    struct text namespace = node_string(node_at(map, "metadata.namespace"));
    struct text name = node_string(node_at(map, "metadata.name"));
    for (size_t i = 0; node_is(files, NODE_MAP) && i < files->size; i++) {
        struct text key = member_key(&files->members[i]);
        struct text bytes = node_string(&files->members[i].value);
        if (!policy_key_is_read(key))
            continue;
        const char *title = arena_printf(arena, "configmap %.*s/%.*s: %.*s", TEXT_ARGS(namespace),
                                         TEXT_ARGS(name), TEXT_ARGS(key))
                                .data;
        if (encoded && !text_from_base64(bytes, arena, &bytes))
            return error_set(error, ERROR_POLICY, NOWHERE, "%s: its value under %s is no base64",
                             title, member);
        *LIST_PUSH(arena, texts) = (struct policy_text){title, bytes};
    }
    return true;
}

static bool take_config_map(const struct node *map, struct arena *arena, struct policy_texts *texts,
                            struct error *error)
{
    return take_member(map, "data", false, arena, texts, error) &&
           take_member(map, "binaryData", true, arena, texts, error);
}

/* Some proxies answer 200 with a page of their own. */
static bool read_answer(const struct asking *asking, const struct node **root, struct error *error)
{
    struct source *source = ARENA_NEW(asking->arena, struct source);
    struct error unreadable = {0};
    source->text = asking->answer.body;
    if (doc_read_json(source, &doc_limits_manifest, NULL, asking->arena, root, &unreadable) &&
        node_is(*root, NODE_MAP))
        return true;
    return error_set(error, ERROR_CLUSTER, NOWHERE,
                     "what answers is no API server of Kubernetes: it sends no JSON (%.*s, %.*s)",
                     TEXT_ARGS(asking->config->server), TEXT_ARGS(asking->config->origin));
}

/* ---- what may go wrong ---- */

static bool refuse(const struct asking *asking, const char *what, struct error *error)
{
    const struct call_answer *answer = &asking->answer;
    const struct client_config *config = asking->config;
    if (answer->result == CALL_MISSING)
        return error_set(error, ERROR_INPUT, NOWHERE,
                         "there is no %s in the cluster (%.*s, %.*s): is Taffrail installed there, "
                         "and are its policies elsewhere (--policy-namespace, "
                         "--policy-configmap)?",
                         what, TEXT_ARGS(config->server), TEXT_ARGS(config->origin));
    if (answer->result == CALL_FORBIDDEN && answer->status != HTTP_UNAUTHORIZED)
        return error_set(error, ERROR_INPUT, NOWHERE,
                         "%s may not be read: %s. The Role taffrail-policy-readers grants it "
                         "(manifests/base/rbac-policies.yaml), unless the policies are elsewhere "
                         "(--policy-namespace, --policy-configmap)",
                         what, answer->problem);
    return error_set(error, ERROR_CLUSTER, NOWHERE, "%s could not be read: %s (%.*s, %.*s)", what,
                     answer->problem, TEXT_ARGS(config->server), TEXT_ARGS(config->origin));
}

/* ---- reading ---- */

/* What answers a GET of a ConfigMap, or a SELECT by a selector; what: its name in an error. */
static bool read_maps(struct asking *asking, enum call_verb verb, const char *namespace,
                      const char *name, const char *what, const struct node **root,
                      struct error *error)
{
    const struct call_request request = {.verb = verb,
                                         .resource = RESOURCE_CONFIG_MAP,
                                         .namespace = namespace,
                                         .name = name,
                                         .limit_ms = asking->limit_ms};
    if (!ask(asking, &request, error))
        return false;
    if (asking->answer.result != CALL_DONE)
        return refuse(asking, what, error);
    return read_answer(asking, root, error);
}

static bool read_one(struct asking *asking, const char *namespace, const char *name,
                     struct policy_texts *texts, struct error *error)
{
    const struct node *root = NULL;
    size_t before = texts->count;
    const char *what = arena_printf(asking->arena, "ConfigMap %s/%s", namespace, name).data;
    if (!read_maps(asking, CALL_GET, namespace, name, what, &root, error))
        return false;
    if (!take_config_map(root, asking->arena, texts, error))
        return false;
    return texts->count > before ||
           error_set(error, ERROR_POLICY, NOWHERE,
                     "%s holds no policy file: no key of its data or binaryData ends with .yaml, "
                     ".yml or .json",
                     what);
}

static bool read_selected(struct asking *asking, const char *namespace, const char *selector,
                          struct policy_texts *texts, struct error *error)
{
    const struct node *root = NULL;
    size_t before = texts->count;
    const char *what =
        arena_printf(asking->arena, "ConfigMap of %s with %s", namespace, selector).data;
    if (!read_maps(asking, CALL_SELECT, namespace, selector, what, &root, error))
        return false;
    FOR_ITEMS(map, node_get(root, "items"))
        if (!take_config_map(map, asking->arena, texts, error))
            return false;
    return texts->count > before ||
           error_set(error, ERROR_POLICY, NOWHERE, "no %s holds a policy file", what);
}

bool cluster_policies_read(const struct cluster_policies_options *options,
                           const struct cluster_options *cluster,
                           const struct client_config *config, struct arena *arena,
                           struct policy_texts *texts, struct error *error)
{
    struct asking asking = {
        .config = config,
        .limit_ms = cluster->timeout_ms > 0 ? cluster->timeout_ms : USUAL_TIMEOUT_MS,
        .arena = arena,
    };
    const char *namespace = options->namespace == NULL ? USUAL_NAMESPACE : options->namespace;
    const char *usual[] = {USUAL_CONFIG_MAP};
    struct string_list names = options->config_maps;
    *texts = (struct policy_texts){0};
    if (names.count == 0 && options->selector == NULL)
        names = (struct string_list){usual, 1};
    for (size_t i = 0; i < names.count; i++)
        if (!read_one(&asking, namespace, names.items[i], texts, error))
            return false;
    return options->selector == NULL ||
           read_selected(&asking, namespace, options->selector, texts, error);
}
