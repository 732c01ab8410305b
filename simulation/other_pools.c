/* What NodePools say of a pod that the solver cannot ask. */
#include "simulation/other_pools.h"

#include "kube/object.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "simulation/cluster.h"
#include "simulation/supply.h"

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

struct simulation_reason other_pool_reason(const struct catalog *catalog, const struct pool *pool,
                                           bool is_read, const struct workload *workload,
                                           struct arena *arena)
{
    struct simulation_reason reason = {.node_pool = pool->object->name};
    if (!pool_takes(catalog, pool, workload, arena)) {
        reason.kind = solver_reason_name(SOLVER_REASON_REQUIREMENT);
        reason.message = TEXT("what the pod asks for, or does not tolerate, keeps it out");
    } else if (!pool_makes_nodes(pool)) {
        reason.kind = REASON_NOT_READY;
        reason.message = not_ready_because(pool, arena);
        if (!pool->object->deleting && !pool_is_static(pool))
            reason.fix = TEXT("make it ready");
    } else {
        reason.kind = REASON_UNDECIDED;
        reason.message = is_read ? TEXT("its instance types are not in the catalogue; --catalog "
                                        "FILE gives them")
                                 : TEXT("it cannot be understood");
    }
    return reason;
}

/* ---- all of them ---- */

/* Whether nobody knows the hardware of all that the NodePool may launch for the pod. */
static bool says_unknown(const struct cluster *cluster, const struct pool *pool,
                         const struct workload *workload, struct simulation_reason *reason)
{
    struct arena_mark mark = arena_mark(cluster->arena);
    struct text unknown = pool_unknown_text(cluster->catalog, pool, workload, cluster->arena);
    if (unknown.size == 0)
        arena_rewind(cluster->arena, mark);
    *reason = (struct simulation_reason){
        .node_pool = pool->object->name, .kind = REASON_UNDECIDED, .message = unknown};
    return unknown.size > 0;
}

struct simulation_reasons other_pools_ask(const struct cluster *cluster,
                                          const struct workload *workload)
{
    size_t count = snapshot_pool_count(cluster->snapshot);
    struct simulation_reason *items = ARENA_ARRAY(cluster->arena, count, struct simulation_reason);
    struct simulation_reasons others = {items, 0};
    for (size_t i = 0; i < count; i++) {
        const struct pool *pool = snapshot_pool(cluster->snapshot, i);
        const struct cluster_pool *known = cluster_pool_of(cluster, pool);
        /* One that makes nodes and was not read is left out, which a problem says. */
        bool other = known != NULL ? known->offers_nothing : !pool_makes_nodes(pool);
        if (cluster_loses_pool(cluster, pool))
            continue;
        if (other)
            items[others.count++] =
                other_pool_reason(cluster->catalog, pool, known != NULL, workload, cluster->arena);
        else if (known != NULL && says_unknown(cluster, pool, workload, &items[others.count]))
            others.count++;
    }
    return others;
}

static const struct simulation_reason *reason_of_pool(const struct simulation_reasons *reasons,
                                                      struct text pool)
{
    FOR_EACH(reason, reasons)
        if (text_equal(reason->node_pool, pool))
            return reason;
    return NULL;
}

struct simulation_reasons other_pools_add(struct simulation_reasons told,
                                          struct simulation_reasons others, struct arena *arena)
{
    struct simulation_reason *items =
        ARENA_ARRAY(arena, told.count + others.count, struct simulation_reason);
    struct simulation_reasons all = {items, 0};
    FOR_EACH(reason, &told)
        if (reason->node_pool.size == 0 || reason_of_pool(&others, reason->node_pool) == NULL)
            items[all.count++] = *reason;
    FOR_EACH(reason, &others)
        items[all.count++] = *reason;
    return all;
}
