/* The NodePools and Nodes that could serve a pod. */
#include "catalog/catalog.h"
#include "kube/label.h"
#include "kube/pod.h"
#include "kube/pool.h"
#include "kube/quantity.h"
#include "kube/snapshot.h"
#include "policy/rails/accelerators_pod.h"
#include "simulation/supply.h"
#include "simulation/ways.h"
#include "solver/well_known.h"

static bool some_type_carries(const struct accelerators_pod *pod, struct type_set types)
{
    for (int device = 0; device < DEVICE_COUNT; device++)
        if ((pod->wanted & DEVICE_BIT(device)) != 0)
            types = type_set_and(&types, &pod->settings->carriers_of[device], pod->call->arena);
    return !type_set_is_empty(&types);
}

/* The labels that each of the pool's nodes has besides those of its template. */
static void add_own_labels(const struct pool *pool, struct solver_names *names,
                           struct solver_requirements *set, struct arena *arena)
{
    struct pool_label labels[POOL_OWN_LABELS_MAX];
    size_t count = pool_own_labels(pool, labels);
    for (size_t i = 0; i < count; i++)
        expression_add_label(labels[i].key, labels[i].value, names, set, arena);
    expression_add_label(TEXT(LABEL_REGISTERED), TEXT("true"), names, set, arena);
    expression_add_label(TEXT(LABEL_INITIALIZED), TEXT("true"), names, set, arena);
    expression_add_label(TEXT(LABEL_HOSTNAME), TEXT("hostname-placeholder"), names, set, arena);
}

/* By the types that meet both sets. A pool that is of unknown hardware alone launches what it may.
 */
static enum service service_of_types(const struct accelerators_pod *pod, const struct pool *pool,
                                     struct solver_names *names,
                                     const struct solver_requirements *of_pod,
                                     const struct solver_requirements *both)
{
    struct arena *arena = pod->call->arena;
    const struct catalog *catalog = pod->settings->catalog;
    if (some_type_carries(pod, catalog_select_launchable(catalog, names, both, arena)))
        return SERVES;
    struct type_set possible = catalog_select_possible(catalog, names, both, arena);
    if (!some_type_carries(pod, possible))
        return SERVES_NOT;
    struct type_set of_pool =
        expressions_select(catalog, &pool->requirements, &pool->labels, arena);
    struct type_set sure =
        catalog_select_sure(catalog, names, type_set_is_empty(&of_pool) ? of_pod : both, arena);
    return some_type_carries(pod, type_set_and(&sure, &possible, arena)) ? SERVES : MAY_SERVE;
}

/* Of a pool of another cloud, whose Karpenter may know labels that the pool does not name. */
static enum service service_elsewhere(const struct pool *pool, const struct solver_names *names,
                                      const struct solver_requirements *of_pod,
                                      const struct solver_requirements *of_pool,
                                      struct arena *arena)
{
    const struct label_domains domains = pool_label_domains(pool, arena);
    struct solver_requirements said = {0};
    FOR_EACH(requirement, of_pod) {
        struct text key;
        key.data = solver_names_key_text(names, requirement->key, &key.size);
        if (solver_requirements_get(of_pool, requirement->key) != NULL ||
            !label_domains_have(&domains, key))
            *LIST_PUSH(arena, &said) = *requirement;
    }
    if (!solver_requirements_compatible(names, of_pool, &said, solver_is_well_known, NULL))
        return SERVES_NOT;
    return said.count == of_pod->count ? SERVES : MAY_SERVE;
}

/* docs/reference/karpenter.md 1.3 and 2.5: the pool's labels, with those of each of its nodes, must
 * fit the pod's selection, and some type that fits both must carry what is wanted. term may be
 * NULL. */
static enum service service_by(const struct accelerators_pod *pod, const struct pool *pool,
                               const struct node_term *term)
{
    struct arena *arena = pod->call->arena;
    const struct catalog *catalog = pod->settings->catalog;
    struct solver_names *names = solver_names_create(arena, catalog_names(catalog));
    struct solver_requirements pool_set = {0};
    struct solver_requirements pod_set = {0};
    expressions_add(&pool->requirements, names, &pool_set, arena);
    expressions_add(&pool->labels, names, &pool_set, arena);
    add_own_labels(pool, names, &pool_set, arena);
    expressions_add(&pod->selection->selector, names, &pod_set, arena);
    if (term != NULL)
        expressions_add(&term->expressions, names, &pod_set, arena);
    if (!pool_is_covered_by(catalog, pool))
        return service_elsewhere(pool, names, &pod_set, &pool_set, arena);
    if (!solver_requirements_compatible(names, &pool_set, &pod_set, solver_is_well_known, NULL))
        return SERVES_NOT;
    for (size_t i = 0; i < pod_set.count; i++)
        solver_requirements_add(names, &pool_set, pod_set.items[i], arena);
    return service_of_types(pod, pool, names, &pod_set, &pool_set);
}

/* No node that a NodePool makes later has the name that a term gives. What it takes to ask a pool
 * is given back. */
enum service accelerators_service(const struct accelerators_pod *pod, const struct pool *pool)
{
    struct arena *arena = pod->call->arena;
    struct arena_mark mark = arena_mark(arena);
    const struct node_terms *terms = &pod->selection->required;
    enum service service = terms->count == 0 ? service_by(pod, pool, NULL) : SERVES_NOT;
    for (size_t i = 0; i < terms->count && i < SUPPLY_TERMS_MAX && service != SERVES; i++) {
        const struct node_term *term = &terms->items[i];
        enum service by_term =
            node_term_node(term).size == 0 ? service_by(pod, pool, term) : SERVES_NOT;
        service = by_term > service ? by_term : service;
        arena_rewind(arena, mark);
    }
    arena_rewind(arena, mark);
    return service;
}

bool accelerators_has_more_terms(const struct accelerators_pod *pod)
{
    const struct node_terms *terms = &pod->selection->required;
    for (size_t i = SUPPLY_TERMS_MAX; i < terms->count; i++)
        if (node_term_node(&terms->items[i]).size == 0)
            return true;
    return false;
}

bool accelerators_are_closed_by(const struct accelerators_pod *pod, const struct taint *taint)
{
    return taint_is_hard(taint) && !tolerations_cover(&pod->tolerations, taint);
}

size_t accelerators_count_closing(const struct accelerators_pod *pod, const struct pool *pool)
{
    size_t count = 0;
    for (size_t i = 0; i < pool->taints.count; i++)
        if (accelerators_are_closed_by(pod, &pool->taints.items[i]))
            count++;
    return count;
}

/* What the containers of a pod ask for of a resource that the rail is about. */
struct device_amount {
    struct text resource;
    int64_t count;
};
struct device_amounts {
    struct device_amount *items;
    size_t count, capacity;
};

static struct device_amounts read_devices(const struct accelerators_pod *pod,
                                          const struct workload *workload,
                                          const struct text_map *names)
{
    struct arena *arena = pod->call->arena;
    struct device_amounts asked = {0};
    for (size_t i = 0; i < names->count; i++) {
        struct text resource = names->items[i].key;
        const struct field *first;
        if (accelerators_is_resource(pod->settings, resource))
            *LIST_PUSH(arena, &asked) = (struct device_amount){
                resource, accelerators_asked(workload, resource, arena, &first)};
    }
    return asked;
}

static bool node_has(const struct object *node, const struct device_amounts *asked)
{
    const struct node *allocatable = node_at(node->root->node, "status.allocatable");
    FOR_EACH(amount, asked) {
        int64_t milli;
        if (!quantity_milli(node_text(node_member(allocatable, amount->resource)), &milli) ||
            milli <= 0 || milli / 1000 < amount->count)
            return false;
    }
    return true;
}

bool accelerators_node_serves(const struct accelerators_pod *pod, const struct workload *workload,
                              const struct text_map *names)
{
    const struct rail_call *call = pod->call;
    const struct snapshot *snapshot = call->world->snapshot;
    if (snapshot_count(snapshot, KIND_NODE) == 0)
        return false;
    const struct device_amounts asked = read_devices(pod, workload, names);
    struct ways *ways =
        ways_read(workload, &pod->tolerations, snapshot, call->world->catalog, call->arena);
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_NODE); i++) {
        const struct object *node = snapshot_object(snapshot, KIND_NODE, i);
        if (!node->deleting && node_has(node, &asked) && ways_lead_to(ways, node))
            return true;
    }
    return false;
}

bool accelerators_opens_a_door(const struct toleration *toleration)
{
    return !text_is(toleration->effect, "PreferNoSchedule");
}
