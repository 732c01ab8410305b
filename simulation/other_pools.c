/* What NodePools say of a pod that the solver cannot ask. */
#include "simulation/other_pools.h"

#include "kube/object.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "simulation/cluster.h"
#include "simulation/supply_pools.h"

static struct text not_ready_because(const struct pool *pool, struct arena *arena)
{
    const struct object *object = pool->object;
    if (object->deleting)
        return TEXT("it is being deleted");
    if (pool_is_static(pool))
        return TEXT("it keeps a fixed number of nodes (spec.replicas), and buys none for pods");
    const struct node *ready = object_condition(object, "Ready");
    struct text why = node_string(node_get(ready, "message"));
    if (why.size == 0)
        why = node_string(node_get(ready, "reason"));
    return why.size > 0 ? arena_printf(arena, "it is not ready: %.*s", TEXT_ARGS(why))
                        : TEXT("it is not ready");
}

static struct text left_out_because(const struct cluster *cluster, const struct pool *pool)
{
    return arena_printf(cluster->arena, "it is left out: %.*s",
                        TEXT_ARGS(cluster_pool_fault(cluster, pool)));
}

/* ---- one pool ---- */

enum verdict {
    STANDS, /* what the solver tells */
    NOT_TAKEN,
    LEFT_OUT,
    MAKES_NO_NODES,
    NOT_IN_CATALOGUE,
    HARDWARE_UNKNOWN,
    UNSUITED,
};
struct judged {
    const struct pool *pool;
    enum verdict verdict;
    struct type_set types;            /* HARDWARE_UNKNOWN, UNSUITED */
    enum solver_reason_kind unsuited; /* UNSUITED */
};

/* judged->types is empty, of memory that lasts. known NULL: the pool is not in the problem. */
static void judge(const struct cluster_pool *known, const struct pod_requirements *wanted,
                  bool told, struct judged *judged)
{
    const struct pool *pool = judged->pool;
    judged->verdict = STANDS;
    if (known == NULL) {
        judged->verdict = !pool_may_suit(pool, wanted) ? NOT_TAKEN
                          : pool_makes_nodes(pool)     ? LEFT_OUT
                                                       : MAKES_NO_NODES;
    } else if (known->offers_nothing) {
        judged->verdict = told ? STANDS : NOT_IN_CATALOGUE;
    } else if (!told || !known->unlisted_types) {
        const struct type_set types = pool_unknown_types(pool, wanted);
        if (!type_set_is_empty(&types)) {
            judged->verdict = HARDWARE_UNKNOWN;
            type_set_add_all(&judged->types, &types);
        } else if (known->unlisted_types) {
            judged->verdict = UNSUITED;
            judged->unsuited = pool_unsuited(pool, wanted, &judged->types);
        }
    }
}

static struct simulation_reason reason_of(const struct cluster *cluster,
                                          const struct cluster_pod *pod,
                                          const struct judged *judged)
{
    const struct pool *pool = judged->pool;
    struct simulation_reason reason = {.node_pool = pool->object->name, .kind = REASON_UNDECIDED};
    switch (judged->verdict) {
    case STANDS:
        break;
    case NOT_TAKEN:
        reason.kind = solver_reason_name(SOLVER_REASON_REQUIREMENT);
        reason.message = TEXT("what the pod asks for, or does not tolerate, keeps it out");
        if (pool_makes_nodes(pool))
            reason.message =
                arena_printf(cluster->arena, "%.*s; besides, %.*s",
                             TEXT_ARGS(left_out_because(cluster, pool)), TEXT_ARGS(reason.message));
        break;
    case LEFT_OUT:
        reason.kind = REASON_NOT_READY;
        reason.message = left_out_because(cluster, pool);
        reason.fix = TEXT("mend it");
        break;
    case MAKES_NO_NODES:
        reason.kind = REASON_NOT_READY;
        reason.message = not_ready_because(pool, cluster->arena);
        if (!pool->object->deleting && !pool_is_static(pool))
            reason.fix = TEXT("make it ready");
        break;
    case NOT_IN_CATALOGUE:
        reason.message =
            TEXT("its instance types are not in the catalogue; --catalog FILE gives them");
        break;
    case HARDWARE_UNKNOWN:
        reason.message = unknown_types_text(cluster->catalog, &judged->types, cluster->arena);
        break;
    case UNSUITED:
        reason.kind = solver_reason_name(judged->unsuited);
        reason.message = unsuited_text(judged->unsuited, &judged->types, &pod->shape->requests,
                                       cluster->catalog, cluster->arena);
        break;
    }
    return reason;
}

bool other_pool_ask(const struct cluster *cluster, const struct pool *pool,
                    const struct cluster_pod *pod, bool told, struct simulation_reason *reason)
{
    const struct pod_requirements wanted = pod_requirements_read(
        cluster->catalog, &pod->source->workload, &pod->shape->requests, cluster->arena);
    struct judged judged = {.pool = pool,
                            .types = type_set_create(cluster->catalog, cluster->arena)};
    judge(cluster_pool_of(cluster, pool), &wanted, told, &judged);
    *reason = reason_of(cluster, pod, &judged);
    return judged.verdict != STANDS;
}

/* ---- all of them ---- */

static bool is_told(const struct simulation_reasons *reasons, struct text pool)
{
    FOR_EACH(reason, reasons)
        if (text_equal(reason->node_pool, pool))
            return true;
    return false;
}

struct judged_list {
    struct judged *items;
    size_t count;
};

static struct judged_list list_asked(const struct cluster *cluster)
{
    size_t most = snapshot_pool_count(cluster->snapshot);
    struct judged_list list = {ARENA_ARRAY(cluster->arena, most, struct judged), 0};
    for (size_t i = 0; i < most; i++) {
        const struct pool *pool = snapshot_pool(cluster->snapshot, i);
        /* One that makes nodes and was not read is left out, which a problem says. */
        if (!cluster_loses_pool(cluster, pool) &&
            (!pool_makes_nodes(pool) || cluster_pool_of(cluster, pool) != NULL))
            list.items[list.count++] = (struct judged){
                .pool = pool, .types = type_set_create(cluster->catalog, cluster->arena)};
    }
    return list;
}

/* What it takes to ask a pod is much, and is given back. */
static void judge_all(const struct cluster *cluster, const struct cluster_pod *pod,
                      const struct simulation_reasons *told, struct judged_list list)
{
    struct arena_mark mark = arena_mark(cluster->arena);
    const struct pod_requirements wanted = pod_requirements_read(
        cluster->catalog, &pod->source->workload, &pod->shape->requests, cluster->arena);
    for (size_t i = 0; i < list.count; i++)
        judge(cluster_pool_of(cluster, list.items[i].pool), &wanted,
              is_told(told, list.items[i].pool->object->name), &list.items[i]);
    arena_rewind(cluster->arena, mark);
}

struct simulation_reasons other_pools_add(const struct cluster *cluster,
                                          const struct cluster_pod *pod,
                                          struct simulation_reasons told)
{
    struct judged_list list = list_asked(cluster);
    struct simulation_reason *items =
        ARENA_ARRAY(cluster->arena, list.count, struct simulation_reason);
    struct simulation_reasons others = {items, 0}, all = {0};
    if (list.count > 0)
        judge_all(cluster, pod, &told, list);
    for (size_t i = 0; i < list.count; i++)
        if (list.items[i].verdict != STANDS)
            items[others.count++] = reason_of(cluster, pod, &list.items[i]);
    if (others.count == 0)
        return told;
    struct simulation_reason *kept =
        ARENA_ARRAY(cluster->arena, others.count + told.count, struct simulation_reason);
    FOR_EACH(reason, &told)
        if (reason->node_pool.size > 0 ? !is_told(&others, reason->node_pool)
                                       : reason->cause_count > 0)
            kept[all.count++] = *reason;
    FOR_EACH(reason, &others)
        kept[all.count++] = *reason;
    all.items = kept;
    return all;
}
