/* What NodePools say of a pod that the solver cannot ask. */
#include "simulation/other_pools.h"

#include "kube/object.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "simulation/cluster.h"
#include "simulation/supply_internal.h"

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

struct simulation_reason other_pool_reason(const struct pool *pool, bool takes, struct arena *arena)
{
    struct simulation_reason reason = {.node_pool = pool->object->name};
    if (!takes) {
        reason.kind = solver_reason_name(SOLVER_REASON_REQUIREMENT);
        reason.message = TEXT("what the pod asks for, or does not tolerate, keeps it out");
    } else if (!pool_makes_nodes(pool)) {
        reason.kind = REASON_NOT_READY;
        reason.message = not_ready_because(pool, arena);
        if (!pool->object->deleting && !pool_is_static(pool))
            reason.fix = TEXT("make it ready");
    } else {
        reason.kind = REASON_UNDECIDED;
        reason.message =
            TEXT("its instance types are not in the catalogue; --catalog FILE gives them");
    }
    return reason;
}

/* ---- all of them ---- */

/* A NodePool that is asked, and what it says. */
struct asked {
    const struct pool *pool;
    bool other;              /* it is not in the problem, or has no types there */
    bool takes;              /* of an other one */
    struct type_set unknown; /* else the types that nobody knows, where it launches no others */
};

static size_t list_asked(const struct cluster *cluster, struct asked *asked)
{
    size_t count = 0;
    for (size_t i = 0; i < snapshot_pool_count(cluster->snapshot); i++) {
        const struct pool *pool = snapshot_pool(cluster->snapshot, i);
        const struct cluster_pool *known = cluster_pool_of(cluster, pool);
        /* One that makes nodes and was not read is left out, which a problem says. */
        bool other = known != NULL ? known->offers_nothing : !pool_makes_nodes(pool);
        if (cluster_loses_pool(cluster, pool) || (!other && known == NULL))
            continue;
        asked[count] = (struct asked){.pool = pool, .other = other};
        if (!other)
            asked[count].unknown = type_set_create(cluster->catalog, cluster->arena);
        count++;
    }
    return count;
}

/* What it takes to ask a pod is much, and is given back. */
static void ask(const struct cluster *cluster, const struct workload *workload, struct asked *asked,
                size_t count)
{
    struct arena_mark mark = arena_mark(cluster->arena);
    const struct pod_requirements wanted =
        pod_requirements_read(cluster->catalog, workload, cluster->arena);
    for (size_t i = 0; i < count; i++) {
        if (asked[i].other) {
            asked[i].takes = pool_may_suit(asked[i].pool, &wanted);
        } else {
            const struct type_set types = pool_unknown_types(asked[i].pool, &wanted);
            type_set_add_all(&asked[i].unknown, &types);
        }
    }
    arena_rewind(cluster->arena, mark);
}

struct simulation_reasons other_pools_ask(const struct cluster *cluster,
                                          const struct workload *workload)
{
    size_t most = snapshot_pool_count(cluster->snapshot);
    struct simulation_reason *items = ARENA_ARRAY(cluster->arena, most, struct simulation_reason);
    struct simulation_reasons others = {items, 0};
    struct asked *asked = ARENA_ARRAY(cluster->arena, most, struct asked);
    size_t count = list_asked(cluster, asked);
    if (count > 0)
        ask(cluster, workload, asked, count);
    for (size_t i = 0; i < count; i++) {
        if (asked[i].other)
            items[others.count++] =
                other_pool_reason(asked[i].pool, asked[i].takes, cluster->arena);
        else if (!type_set_is_empty(&asked[i].unknown))
            items[others.count++] = (struct simulation_reason){
                .node_pool = asked[i].pool->object->name,
                .kind = REASON_UNDECIDED,
                .message = unknown_types_text(cluster->catalog, &asked[i].unknown, cluster->arena)};
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
