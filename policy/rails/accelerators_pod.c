/* What accelerators says of workloads. */
#include "policy/rails/accelerators_pod.h"
#include "catalog/catalog.h"
#include "kube/pod.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "policy/policy_set.h"
#include "policy/reading.h"
#include "simulation/supply.h"

/* ---- tolerating without asking ---- */

static bool uses_a_claim(const struct node *containers)
{
    FOR_ITEMS(container, containers)
        FOR_ITEMS(claim, node_at(container, "resources.claims"))
            if (node_string(node_get(claim, "name")).size > 0)
                return true;
    return false;
}

/* Whether a container asks through resourceClaims, or by the name of a class. Claims are not read
 * here: which device one is for is not known, but kube-scheduler holds a pod until its claims exist
 * and are allocated. A claim that no container uses gives none of them a device. */
static bool asks_by_claim(const struct workload *workload, const struct text_map *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (resource_device_class(names->items[i].key).size > 0)
            return true;
    return workload_claims_devices(workload) &&
           (uses_a_claim(node_get(workload->spec->node, "containers")) ||
            uses_a_claim(node_get(workload->spec->node, "initContainers")));
}

/* No resource is called so: an operator fills it in. */
static bool asks_for_a_placeholder(const struct text_map *names)
{
    static const char *const native[] = {"cpu", "memory", "ephemeral-storage", "storage"};
    for (size_t i = 0; i < names->count; i++) {
        struct text name = names->items[i].key;
        if (!text_is_one_of(name, native, COUNT_OF(native)) &&
            !text_starts_with(name, TEXT("hugepages-")) && !text_split(name, '/', NULL, NULL))
            return true;
    }
    return false;
}

/* Spark makes its pods of a template, whose container it looks for by name, and adds the
 * accelerators that its own settings ask for. */
static bool is_completed_by_spark(const struct workload *workload)
{
    if (text_is(workload->object->kind_name, "SparkApplication") ||
        text_is(workload->object->kind_name, "ScheduledSparkApplication"))
        return true;
    FOR_ITEMS(container, node_get(workload->spec->node, "containers"))
        if (TEXT_IS_ONE_OF(node_string(node_get(container, "name")), "spark-kubernetes-driver",
                           "spark-kubernetes-executor"))
            return true;
    return false;
}

/* The cluster's own controllers run also where all nodes have accelerators. Elsewhere anybody could
 * write the priority class. */
static bool is_critical(const struct workload *workload)
{
    return text_is(workload->object->namespace, "kube-system") &&
           TEXT_IS_ONE_OF(node_string(node_get(workload->spec->node, "priorityClassName")),
                          "system-cluster-critical", "system-node-critical");
}

/* A template may be completed later; a Pod has what it asks for, so that nobody takes a place by
 * what a template is called. */
static bool may_tolerate_without_asking(const struct workload *workload,
                                        const struct text_map *names)
{
    bool is_template = workload->object->kind != KIND_POD;
    return is_critical(workload) ||
           (is_template && (asks_for_a_placeholder(names) || is_completed_by_spark(workload)));
}

static void report_toleration(struct rail_call *call, const struct workload *workload,
                              const struct toleration *toleration, struct text fix)
{
    const struct field *field = field_get(call->arena, toleration->field, "key");
    struct text key = toleration->key;
    if (workload_claims_devices(workload))
        report_found(call, SEVERITY_RAIL, field, key, fix,
                     "The pod tolerates %.*s and names resourceClaims, but no container uses "
                     "one." TAKES_A_PLACE,
                     TEXT_ARGS(key));
    else
        report_found(call, SEVERITY_RAIL, field, key, fix,
                     "The pod tolerates %.*s but asks for no accelerator." TAKES_A_PLACE,
                     TEXT_ARGS(key));
}

static const struct text_map *zeros_of(struct accelerators_pod *pod,
                                       const struct workload *workload)
{
    if (pod->zeros == NULL) {
        struct text_map *zeros = ARENA_NEW(pod->call->arena, struct text_map);
        resource_zeros_read(workload, pod->call->arena, zeros);
        pod->zeros = zeros;
    }
    return pod->zeros;
}

/* Where a container names the resource, as some does. */
static const struct field *find_named(const struct workload *workload, struct text resource,
                                      struct arena *arena)
{
    static const char *const lists[] = {"initContainers", "containers"};
    static const char *const amounts[] = {"requests", "limits"};
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        FOR_FIELDS(container, arena, field_get(arena, workload->spec, lists[i]))
            for (size_t j = 0; j < COUNT_OF(amounts); j++) {
                const struct field *named = field_member(
                    arena, field_get(arena, field_get(arena, container, "resources"), amounts[j]),
                    resource);
                if (node_is_given(named->node))
                    return named;
            }
    return workload->spec;
}

/* A template of which the API server makes a pod that tolerates what nobody wrote. */
static void warn_of_none(struct accelerators_pod *pod, const struct workload *workload)
{
    struct rail_call *call = pod->call;
    struct text_map tolerated = {0};
    if (call->object->kind == KIND_POD || !call->policy->extended_resource_toleration)
        return;
    const struct text_map *zeros = zeros_of(pod, workload);
    for (size_t i = 0; zeros->count > 0 && i < pod->tolerations.count; i++)
        (void)text_map_add(&tolerated, call->arena, pod->tolerations.items[i].key);
    for (size_t i = 0; i < zeros->count; i++) {
        struct text name = zeros->items[i].key;
        if (!accelerators_is_taint(pod->settings, name) ||
            !accelerators_is_resource(pod->settings, name) || !resource_is_extended(name) ||
            text_map_has(&tolerated, name))
            continue;
        const struct field *none = find_named(workload, name, call->arena);
        report(call, SEVERITY_WARN, none,
               arena_printf(call->arena, "Remove %.*s.", TEXT_ARGS(name)),
               "With %.*s: %.*s the API server adds a toleration of %.*s to the pods, and they may "
               "take a place on nodes that are kept for pods with accelerators.",
               TEXT_ARGS(name), TEXT_ARGS(node_text(none->node)), TEXT_ARGS(name));
        return;
    }
}

static void judge_tolerations(struct accelerators_pod *pod, const struct workload *workload)
{
    struct rail_call *call = pod->call;
    struct arena *arena = call->arena;
    const struct accelerators *settings = pod->settings;
    struct text_map told = {0};
    warn_of_none(pod, workload);
    accelerators_judge_every_taint(pod, workload);
    FOR_EACH(toleration, &pod->tolerations) {
        if (!accelerators_is_taint(settings, toleration->key) ||
            !accelerators_opens_a_door(toleration) || !text_map_add(&told, arena, toleration->key))
            continue;
        struct text resource = accelerators_is_resource(settings, toleration->key)
                                   ? toleration->key
                                   : accelerators_name_of(settings->resources.items[0], arena);
        report_toleration(call, workload, toleration,
                          is_toleration_of_some(toleration, zeros_of(pod, workload))
                              ? arena_printf(arena,
                                             "Remove %.*s: 0, for which the API server adds this "
                                             "toleration.",
                                             TEXT_ARGS(resource))
                              : arena_printf(arena,
                                             "Remove the toleration, or ask for %.*s under "
                                             "resources.limits of a container.",
                                             TEXT_ARGS(resource)));
    }
}

/* ---- asking without tolerating ---- */

/* The pools that could serve it, but for a taint. */
struct closed {
    const struct pool **items;
    size_t count, capacity;
    bool is_known; /* of one of them that it carries what is wanted */
};

/* True when a pool that could serve it is open to it. */
static bool find_pool(const struct accelerators_pod *pod, struct closed *closed)
{
    const struct snapshot *snapshot = pod->call->world->snapshot;
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++) {
        const struct pool *pool = snapshot_pool(snapshot, i);
        enum service service =
            pool->object->deleting ? SERVES_NOT : accelerators_service(pod, pool);
        if (service == SERVES_NOT)
            continue;
        if (accelerators_count_closing(pod, pool) == 0)
            return true;
        *LIST_PUSH(pod->call->arena, closed) = pool;
        closed->is_known |= service == SERVES && pool_is_covered_by(pod->settings->catalog, pool);
    }
    return false;
}

/* "gpu (nvidia.com/gpu=true:NoSchedule), ml (...)": the taints that close each. */
static struct text closed_text(const struct accelerators_pod *pod, const struct closed *closed)
{
    enum { SHOWN = 5 };
    struct text_builder text = {.arena = pod->call->arena};
    for (size_t i = 0; i < closed->count && i < SHOWN; i++) {
        const struct pool *pool = closed->items[i];
        text_builder_printf(&text, "%s%.*s (", i == 0 ? "" : ", ", TEXT_ARGS(pool->object->name));
        size_t count = 0;
        FOR_EACH(taint, &pool->taints)
            if (accelerators_are_closed_by(pod, taint))
                text_builder_printf(&text, "%s%.*s%s%.*s:%.*s", count++ == 0 ? "" : ", ",
                                    TEXT_ARGS(taint->key), taint->value.size > 0 ? "=" : "",
                                    TEXT_ARGS(taint->value), TEXT_ARGS(taint->effect));
        text_builder_add(&text, TEXT(")"));
    }
    if (closed->count > SHOWN)
        text_builder_printf(&text, ", ... (%zu)", closed->count);
    return text_builder_text(&text);
}

/* What opens the pool that lacks least. */
static struct text tolerations_to_add(const struct accelerators_pod *pod,
                                      const struct closed *closed)
{
    const struct pool *pool = closed->items[0];
    for (size_t i = 1; i < closed->count; i++)
        if (accelerators_count_closing(pod, closed->items[i]) <
            accelerators_count_closing(pod, pool))
            pool = closed->items[i];
    struct text_builder yaml = {.arena = pod->call->arena};
    FOR_EACH(taint, &pool->taints) {
        if (accelerators_are_closed_by(pod, taint))
            text_builder_printf(&yaml, "%s{key: %.*s, operator: Exists, effect: %.*s}",
                                yaml.size == 0 ? "" : ", ", TEXT_ARGS(taint->key),
                                TEXT_ARGS(taint->effect));
    }
    return text_builder_text(&yaml);
}

static bool tolerates_everything(const struct tolerations *tolerations)
{
    FOR_EACH(toleration, tolerations)
        if (toleration->key.size == 0 && toleration->effect.size == 0 &&
            text_is(toleration->op, "Exists"))
            return true;
    return false;
}

static void judge_pools(struct accelerators_pod *pod, const struct workload *workload,
                        const struct text_map *names, struct text asked)
{
    struct rail_call *call = pod->call;
    struct arena *arena = call->arena;
    const struct field *field = field_get(arena, workload->spec, "tolerations");
    struct closed closed = {0};
    if (tolerates_everything(&pod->tolerations) || find_pool(pod, &closed) ||
        accelerators_node_serves(pod, workload, names))
        return;
    if (closed.count > 0)
        report_as(
            call,
            closed.is_known &&
                    world_sees(call->world, KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_NODE)) &&
                    !workload_may_get_tolerations(workload)
                ? SEVERITY_RAIL
                : SEVERITY_UNDECIDED,
            .field = field, .found = asked,
            .statement = arena_printf(
                arena,
                "The pod asks for %.*s but does not tolerate the taints of the NodePools that "
                "could serve it: %.*s.",
                TEXT_ARGS(asked), TEXT_ARGS(closed_text(pod, &closed))),
            .fault = TEXT("The pod does not tolerate the taints of the NodePools."),
            .fix = arena_printf(arena, "Add to %.*s: [%.*s].", TEXT_ARGS(field_path(arena, field)),
                                TEXT_ARGS(tolerations_to_add(pod, &closed))));
    else if (snapshot_pool_count(call->world->snapshot) == 0 && call->object->kind == KIND_POD)
        report_found(call, SEVERITY_UNDECIDED, field, asked,
                     advice_to_show(call, KIND_BIT(KIND_NODE_POOL), ""),
                     "Whether the pod tolerates the taints of nodes with %.*s is not known, since "
                     "no NodePool is visible.",
                     TEXT_ARGS(asked));
    else if (snapshot_pool_count(call->world->snapshot) > 0 && accelerators_has_more_terms(pod))
        report_with(
            call, .field = field, .found = asked,
            .statement = arena_printf(
                arena,
                "No NodePool serves this pod, which asks for %.*s, by the first %d of its %zu "
                "nodeSelectorTerms. No more are looked at.",
                TEXT_ARGS(asked), SUPPLY_TERMS_MAX, pod->selection->required.count),
            .fault = TEXT("No NodePool serves the pod by its first nodeSelectorTerms."),
            .fix = arena_printf(arena, "Write at most %d nodeSelectorTerms.", SUPPLY_TERMS_MAX));
}

/* The devices asked for by name; of a resource that tells none (the bit of DEVICE_COUNT) every type
 * may have it. */
static device_set devices_asked(const struct accelerators *settings, const struct text_map *names,
                                struct text *first)
{
    device_set devices = 0;
    *first = TEXT("");
    for (size_t i = 0; i < names->count; i++) {
        struct text name = names->items[i].key;
        if (!accelerators_is_resource(settings, name))
            continue;
        if (first->size == 0)
            *first = name;
        devices |= DEVICE_BIT(device_of_resource(name));
    }
    return devices;
}

void accelerators_judge_workload(struct rail_call *call, const struct accelerators *settings)
{
    struct arena *arena = call->arena;
    struct workload workload;
    bool is_daemon_set = call->object->kind == KIND_DAEMON_SET;
    if ((!is_daemon_set && is_of_daemon_set(call)) || !call_workload(call, &workload) ||
        node_count(node_get(workload.spec->node, "containers")) == 0)
        return;
    struct accelerators_pod pod = {.call = call, .settings = settings};
    pod.tolerations = call_tolerations(call, &workload);
    const struct text_map names = *call_resources(call, &workload);
    struct text asked;
    pod.wanted = devices_asked(settings, &names, &asked);
    accelerators_assume_tolerations(call, &names, &pod.tolerations);
    if (is_daemon_set) {
        accelerators_judge_daemon_set(call, settings, &workload, &pod.tolerations);
        return;
    }
    if (asked.size == 0) {
        if (!asks_by_claim(&workload, &names) && !may_tolerate_without_asking(&workload, &names))
            judge_tolerations(&pod, &workload);
        accelerators_judge_runtime(call, settings, &workload);
        return;
    }
    if (node_string(node_get(workload.spec->node, "nodeName")).size > 0)
        return;
    accelerators_add_tolerations(settings, &names, &pod.tolerations, arena);
    accelerators_foresee_tolerations(call, &names, &pod.tolerations);
    pod.selection = call_selection(call, &workload);
    judge_pools(&pod, &workload, &names, asked);
    if (!accelerators_judge_idle(call, settings, &workload, pod.selection))
        accelerators_judge_update(call, settings, &workload, asked);
}
