/* The rail capacity-buffer: buffers that Karpenter can keep, and whose size somebody has meant. */
#include "policy/rails/capacity_buffer.h"

#include "kube/quantity.h"
#include "kube/snapshot.h"
#include "policy/rails/placeable.h"
#include "simulation/amounts.h"
#include "simulation/supply.h"

struct settings {
    int64_t max_replicas;
};

static const struct key keys[] = {
    {.name = "maxReplicas",
     .type = KEY_INTEGER,
     .offset = offsetof(struct settings, max_replicas),
     .summary = "the most pods that a buffer may hold room for; absent: any number",
     .minimum = 1,
     .maximum = INT32_MAX},
    {0},
};

/* A buffer, and the pods that it holds room for. */
struct buffer {
    struct rail_call *call;
    bool quiet; /* another rail asks, and nothing is said */
    const struct field *spec, *template, *scalable;
    const struct field *reference; /* the name of their template or workload */
    struct workload pods;          /* object NULL: not seen */
    int64_t workload_replicas;     /* of the workload that is named; -1: none is */
    bool limits_tell;              /* some limit is of a resource that the pods ask for */
    int64_t limit;                 /* how many those limits leave room for */
};

/* ---- whose pods ---- */

static enum kind kind_of_scalable(const struct field *reference)
{
    struct text group = node_string(node_get(reference->node, "apiGroup"));
    struct text name = node_string(node_get(reference->node, "kind"));
    enum kind kind = kind_by_name(name);
    bool scales = kind == KIND_DEPLOYMENT || kind == KIND_STATEFUL_SET || kind == KIND_REPLICA_SET;
    /* docs/reference/karpenter.md 12 */
    return scales && (group.size == 0 || text_is(group, "apps")) ? kind : KIND_UNKNOWN;
}

static void read_template(struct buffer *buffer, const struct object *object)
{
    struct arena *arena = buffer->call->arena;
    const struct field *template = field_get(arena, object->root, "template");
    buffer->pods = (struct workload){object, field_get(arena, template, "metadata"),
                                     field_get(arena, template, "spec")};
}

static void report_unseen(const struct buffer *buffer, enum kind kind, struct text name)
{
    if (buffer->quiet)
        return;
    report_as(buffer->call, SEVERITY_UNDECIDED, .field = buffer->reference, .found = name,
              .statement = arena_printf(buffer->call->arena,
                                        "%s \"%.*s\", whose pods the buffer holds room for, is "
                                        "not visible.",
                                        kind_table[kind].name, TEXT_ARGS(name)),
              .wanted = WANTS_ONE, .fix = advice_to_show_one(buffer->call, kind, "it"));
}

static bool find_template(struct buffer *buffer)
{
    const struct rail_call *call = buffer->call;
    struct text name = node_string(node_get(buffer->template->node, "name"));
    const struct object *template =
        snapshot_find(call->world->snapshot, KIND_POD_TEMPLATE, call->object->namespace, name);
    buffer->reference = field_get(call->arena, buffer->template, "name");
    if (template == NULL)
        report_unseen(buffer, KIND_POD_TEMPLATE, name);
    else
        read_template(buffer, template);
    return template != NULL;
}

static bool find_workload(struct buffer *buffer)
{
    struct rail_call *call = buffer->call;
    const struct field *reference = buffer->scalable;
    struct text name = node_string(node_get(reference->node, "name"));
    enum kind kind = kind_of_scalable(reference);
    if (kind == KIND_UNKNOWN && !buffer->quiet)
        report(call, SEVERITY_RAIL, field_get(call->arena, reference, "kind"),
               TEXT("Name a Deployment, StatefulSet or ReplicaSet of apps, or use podTemplateRef."),
               "Karpenter reads the pods of no such kind, so it holds no room.");
    if (kind == KIND_UNKNOWN)
        return false;
    const struct object *workload =
        snapshot_find(call->world->snapshot, kind, call->object->namespace, name);
    buffer->reference = field_get(call->arena, reference, "name");
    if (workload == NULL) {
        report_unseen(buffer, kind, name);
        return false;
    }
    buffer->workload_replicas = node_int32(workload->root->node, "spec.replicas", 1);
    return workload_read(workload, call->arena, &buffer->pods);
}

/* ---- how many ---- */

/* Limits of resources that the pods do not ask for limit nothing. */
static void read_limits(struct buffer *buffer)
{
    const struct rail_call *call = buffer->call;
    const struct node *limits = node_get(buffer->spec->node, "limits");
    struct named_amounts requests, limited;
    struct error error;
    const struct field *field = field_get(call->arena, buffer->spec, "limits");
    if (node_count(limits) == 0 ||
        !pod_requests_read(call->world->snapshot, &buffer->pods, call->arena, &requests, &error) ||
        !named_amounts_read(call->object, field, call->arena, &limited, &error))
        return;
    FOR_EACH(limit, &limited) {
        int64_t request = named_amount_of(&requests, limit->resource);
        if (request <= 0 || text_is(text_of(limit->resource), "pods"))
            continue;
        int64_t count = limit->quantity / request;
        if (!buffer->limits_tell || count < buffer->limit)
            buffer->limit = count;
        buffer->limits_tell = true;
    }
}

/* The field that says how many, and their number; NULL: none does. */
static const struct field *size_of(const struct buffer *buffer, int64_t *count)
{
    struct arena *arena = buffer->call->arena;
    const struct field *replicas = field_get(arena, buffer->spec, "replicas");
    const struct field *percentage = field_get(arena, buffer->spec, "percentage");
    const struct field *from = NULL;
    int64_t written;
    *count = 0;
    if (buffer->workload_replicas > 0 && node_integer(percentage->node, &written) && written >= 0 &&
        written <= INT32_MAX) {
        *count = share_amount((struct share){written, true}, buffer->workload_replicas);
        from = percentage;
    }
    if (node_integer(replicas->node, &written) && (from == NULL || written > *count)) {
        *count = written;
        from = replicas;
    }
    if (buffer->limits_tell && (from == NULL || buffer->limit < *count)) {
        *count = buffer->limit;
        from = field_get(arena, buffer->spec, "limits");
    }
    return from;
}

static void judge_ceiling(const struct buffer *buffer, const struct field *from, int64_t count)
{
    struct rail_call *call = buffer->call;
    const struct settings *settings = call->settings;
    if (settings->max_replicas > 0 && count > settings->max_replicas)
        report_found(
            call, SEVERITY_RAIL, from, arena_printf(call->arena, "%lld", (long long)count),
            arena_printf(call->arena, "Ask for %lld at most.", (long long)settings->max_replicas),
            "The buffer holds room for %lld pods, and this policy allows %lld.", (long long)count,
            (long long)settings->max_replicas);
}

static void judge_size(const struct buffer *buffer)
{
    struct rail_call *call = buffer->call;
    int64_t count;
    const struct field *from = size_of(buffer, &count);
    const struct field *limits = field_get(call->arena, buffer->spec, "limits");
    if (node_count(limits->node) > 0 && !buffer->limits_tell)
        report(call, SEVERITY_WARN, limits,
               TEXT("Limit a resource that the containers of the template request."),
               "The pods request none of these resources, so the limits limit nothing.");
    if (from == NULL || count == 0)
        report(call, SEVERITY_WARN, from == NULL ? buffer->spec : from,
               TEXT("Set spec.replicas to the pods to hold room for."),
               "The buffer is for no pod, so Karpenter holds no room.");
    else
        judge_ceiling(buffer, from, count);
}

/* Whether limits may cut what pods that are not seen come to: none asks for the resource pods. */
static bool may_cut(const struct node *limits)
{
    return node_count(limits) > (node_is_given(node_get(limits, "pods")) ? 1 : 0);
}

/* Pods that are not seen may come later, and then replicas holds, unless limits cut it. */
static void judge_size_unseen(const struct buffer *buffer)
{
    int64_t count;
    const struct field *from = size_of(buffer, &count);
    if (!may_cut(node_get(buffer->spec->node, "limits")))
        judge_ceiling(buffer, from, count);
}

/* ---- whether there can ever be room ---- */

static bool is_blind(const struct world *world)
{
    return world->supply == NULL || !world_sees(world, KIND_BIT(KIND_NODE_POOL));
}

/* Nodes of node groups may have room. */
static bool sees_nodes(const struct world *world)
{
    return snapshot_count(world->snapshot, KIND_NODE) > 0 && world_sees(world, KIND_BIT(KIND_NODE));
}

static void report_undecided(const struct buffer *buffer, const char *why, kind_set unseen)
{
    report_found(buffer->call, SEVERITY_UNDECIDED, buffer->reference, TEXT(""),
                 advice_to_show(buffer->call, unseen, ""), "%s", why);
}

/* Its pods are never created, so that nothing is added to them on the way. Their claims count for
 * nothing. */
static void judge_room(const struct buffer *buffer)
{
    const struct rail_call *call = buffer->call;
    struct supply_answer answer;
    if (is_blind(call->world)) {
        report_undecided(buffer, "No NodePool and no Node is visible that could run its pods.",
                         KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_NODE));
        return;
    }
    const struct supply_question question = {
        .workload = &buffer->pods, .scheduling = pod_scheduling_read(&buffer->pods, call->arena)};
    supply_ask(call->world->supply, call->world->snapshot, &question, call->arena, &answer);
    if (answer.kind != SUPPLY_NOWHERE)
        return;
    if (!answer.no_machine && !sees_nodes(call->world)) {
        report_undecided(buffer, "No visible NodePool can run its pods, and Nodes are not visible.",
                         KIND_BIT(KIND_NODE));
        return;
    }
    /* What is wrong is told where the buffer names its pods. */
    struct placing placing = {.call = buffer->call, .workload = buffer->pods};
    placing.workload.spec = buffer->reference;
    placeable_report_nowhere(&placing, &answer);
}

/* ---- the whole ---- */

static struct buffer buffer_of(struct rail_call *call, const struct object *object, bool quiet)
{
    const struct field *spec = field_get(call->arena, object->root, "spec");
    return (struct buffer){
        .call = call,
        .quiet = quiet,
        .spec = spec,
        .template = field_get(call->arena, spec, "podTemplateRef"),
        .scalable = field_get(call->arena, spec, "scalableRef"),
        .workload_replicas = -1,
    };
}

static void judge_names(const struct buffer *buffer)
{
    bool has_template = node_is_given(buffer->template->node);
    bool has_scalable = node_is_given(buffer->scalable->node);
    if (has_template && has_scalable)
        report(buffer->call, SEVERITY_RAIL, buffer->scalable, TEXT("Keep one of them."),
               "With podTemplateRef and scalableRef the API server refuses this buffer.");
    if (!has_template && !has_scalable)
        report(buffer->call, SEVERITY_RAIL, buffer->spec,
               TEXT("Name a PodTemplate (podTemplateRef) or a workload (scalableRef)."),
               "The buffer names no pods, so Karpenter holds no room.");
}

/* False: it names none, or both ways, or they are not seen. */
static bool find_pods(struct buffer *buffer)
{
    bool has_template = node_is_given(buffer->template->node);
    if (has_template == node_is_given(buffer->scalable->node) ||
        !(has_template ? find_template(buffer) : find_workload(buffer)))
        return false;
    read_limits(buffer);
    return true;
}

static void judge(struct rail_call *call)
{
    struct buffer buffer = buffer_of(call, call->object, false);
    judge_names(&buffer);
    if (find_pods(&buffer)) {
        judge_size(&buffer);
        judge_room(&buffer);
    } else if (buffer.reference != NULL) {
        judge_size_unseen(&buffer);
    }
}

bool buffer_room_read(const struct rail_call *call, const struct object *object,
                      struct buffer_room *room)
{
    struct rail_call own = *call;
    own.object = object;
    struct buffer buffer = buffer_of(&own, object, true);
    if (!find_pods(&buffer))
        return false;
    room->pods = buffer.pods;
    room->from = size_of(&buffer, &room->count);
    return room->from != NULL && room->count > 0;
}

const struct rail rail_capacity_buffer = {
    .name = "capacity-buffer",
    .summary = "buffers of spare room that there can be",
    .detail =
        "A CapacityBuffer holds room for pods that are not there: Karpenter buys nodes for them "
        "as for real ones, up to the limits of its NodePools. The rail asks the solver whether a "
        "pod of its template could ever run, on a NodePool or an empty Node, and names the "
        "nearest miss. Volumes do not count, and neither do tolerations that the API server adds "
        "to real pods, because these are never created.\n\n"
        "The size is the larger of replicas and percentage, cut to limits. With maxReplicas the "
        "rail finds larger ones. It warns of limits of resources that the pods do not request, "
        "which limit nothing, and of a buffer for no pod. It finds a buffer that names no pods, "
        "or pods of a kind that Karpenter does not read.\n\n"
        "A template or a workload that is not visible cannot be decided, but replicas without "
        "limits is held against maxReplicas all the same. Karpenter reads buffers "
        "only with its feature gate CapacityBuffer.",
    .example = "capacity-buffer:\n"
               "  maxReplicas: 50\n",
    .kinds = KIND_BIT(KIND_CAPACITY_BUFFER),
    .sources = KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_NODE),
    .asks_supply = true,
    .keys = keys,
    .settings_size = sizeof(struct settings),
    .judge = judge,
};
