/* What each NodePool would buy for a pod, or the reasons that together exclude it. */
#include <stdlib.h>
#include <string.h>

#include "kube/object.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "simulation/node_claims.h"
#include "simulation/other_pools.h"
#include "simulation/supply.h"
#include "simulation/why_pod_internal.h"

/* ---- reasons ---- */

/* How far a reason is from being changed: what the pool has too little of is nearer than what keeps
 * the pod out on purpose. */
static int distance_of(const char *kind)
{
    static const enum solver_reason_kind order[] = {
        SOLVER_REASON_LIMIT,  SOLVER_REASON_RESOURCES,   SOLVER_REASON_MIN_VALUES,
        SOLVER_REASON_PORT,   SOLVER_REASON_OFFERING,    SOLVER_REASON_TOPOLOGY,
        SOLVER_REASON_VOLUME, SOLVER_REASON_REQUIREMENT, SOLVER_REASON_TAINT,
        SOLVER_REASON_DEVICES};
    for (size_t i = 0; i < COUNT_OF(order); i++)
        if (strcmp(kind, solver_reason_name(order[i])) == 0)
            return (int)i;
    return -1; /* not ready: nothing else keeps the pod out */
}

static struct text joined(struct text before, const char *between, struct text after,
                          struct arena *arena)
{
    return before.size == 0 || text_equal(before, after) ? after
           : after.size == 0
               ? before
               : arena_printf(arena, "%.*s%s%.*s", TEXT_ARGS(before), between, TEXT_ARGS(after));
}

/* The pool is as far as the farthest of the reasons that exclude it. */
static void exclude(struct why_pool *pool, const struct simulation_reason *reason,
                    struct arena *arena)
{
    if (pool->kind == NULL || distance_of(reason->kind) > distance_of(pool->kind))
        pool->kind = reason->kind;
    pool->fit = WHY_FITS_NOT;
    pool->message = joined(pool->message, "; ", reason->message, arena);
    pool->nearest = joined(pool->nearest, "; ", reason->nearest, arena);
    pool->fix = joined(pool->fix, " and ", reason->fix, arena);
}

/* ---- one pool ---- */

static void take_bought(const struct simulation_node *node, struct why_pool *pool)
{
    *pool = (struct why_pool){.name = pool->name,
                              .fit = WHY_FITS,
                              .instance_type = node->instance_type,
                              .zone = node->zone,
                              .capacity_type = node->capacity_type,
                              .usd_micro_per_hour = node->usd_micro_per_hour,
                              .price_of = node->price_of};
}

static void take_claim(const struct asking *asking, const struct solver_node_claim *claim,
                       struct why_pool *pool)
{
    const struct state_node node = state_node_of_claim(&asking->cluster, claim, 1, 0);
    take_bought(&node.simulation, pool);
}

static bool is_for(const struct simulation_reason *reason, const struct why_pool *pool)
{
    return reason->node_pool.size == 0 || text_equal(reason->node_pool, pool->name);
}

/* Reasons that hold for this pool. Where the problem has no pool, one says that. */
static void take_reasons(const struct asking *asking, const struct simulation_reasons *reasons,
                         struct why_pool *pool)
{
    FOR_EACH(reason, reasons)
        if (is_for(reason, pool))
            exclude(pool, reason, asking->arena);
    if (pool->kind != NULL)
        return;
    pool->fit = WHY_UNDECIDED;
    pool->message = TEXT("nothing that is known rules it out");
}

/* kind empty: none is told of the pool. */
static struct simulation_reason reason_for(const struct simulation_reasons *reasons,
                                           struct text pool)
{
    FOR_EACH(reason, reasons)
        if (text_equal(reason->node_pool, pool))
            return *reason;
    return (struct simulation_reason){.kind = ""};
}

/* What the solver does not know of a pool comes before what it tells. */
static void judge_pool(const struct asking *asking, const struct pool *pool,
                       const struct simulation_reasons *reasons, struct why_pool *judged)
{
    struct simulation_reason said = reason_for(reasons, judged->name);
    struct simulation_reason other;
    bool told = said.kind[0] != '\0';
    bool is_other = other_pool_ask(&asking->cluster, pool, asking->pod, told, &other);
    if (is_other)
        said = other;
    if (strcmp(said.kind, REASON_UNDECIDED) == 0) {
        judged->fit = WHY_UNDECIDED;
        judged->message = said.message;
    } else if (is_other) {
        exclude(judged, &said, asking->arena);
    } else {
        take_reasons(asking, reasons, judged);
    }
}

/* ---- all of them ---- */

/* Why Karpenter buys nothing for the pod, whatever the pool; message empty: it may. */
static struct simulation_reason ignored_because(const struct asking *asking)
{
    const struct pod_fault *ignored = cluster_pod_nodes_only(asking->pod);
    if (asking->own_node.size > 0)
        return (struct simulation_reason){
            .kind = solver_reason_name(SOLVER_REASON_REQUIREMENT),
            .message = arena_printf(asking->arena,
                                    "nothing is bought for a DaemonSet's pod; this one is for "
                                    "node %.*s",
                                    TEXT_ARGS(asking->own_node))};
    return (struct simulation_reason){.kind = solver_reason_name(ignored->kind),
                                      .message = ignored->message,
                                      .fix = ignored->fix};
}

static int compare_pools(const void *a_pointer, const void *b_pointer)
{
    const struct why_pool *a = a_pointer, *b = b_pointer;
    if (a->fit != b->fit)
        return a->fit == WHY_FITS || b->fit == WHY_FITS_NOT ? -1 : 1;
    int far = a->fit == WHY_FITS_NOT ? distance_of(a->kind) - distance_of(b->kind) : 0;
    return far != 0 ? far : text_compare(a->name, b->name);
}

static void sort_pools(struct asking *asking)
{
    if (asking->why->pool_count > 1)
        qsort(asking->pools, asking->why->pool_count, sizeof *asking->pools, compare_pools);
}

void why_pools_judge(struct asking *asking, const struct solver_node_claim *const *claims,
                     const struct simulation_reasons *reasons, bool whatever)
{
    struct why_pod *why = asking->why;
    const struct simulation_reason ignored = ignored_because(asking);
    size_t count = snapshot_pool_count(asking->snapshot);
    asking->pools = ARENA_ARRAY(asking->arena, count, struct why_pool);
    for (size_t i = 0; i < count; i++) {
        const struct pool *pool = snapshot_pool(asking->snapshot, i);
        struct why_pool *judged = &asking->pools[i];
        const struct cluster_pool *known = cluster_pool_of(&asking->cluster, pool);
        judged->name = pool->object->name;
        judged->usd_micro_per_hour = -1;
        if (ignored.message.size > 0)
            exclude(judged, &ignored, asking->arena);
        else if (known != NULL && claims != NULL && claims[known - asking->cluster.pools] != NULL)
            take_claim(asking, claims[known - asking->cluster.pools], judged);
        else if (whatever)
            take_reasons(asking, reasons, judged);
        else
            judge_pool(asking, pool, reasons, judged);
    }
    why->pools = asking->pools;
    why->pool_count = count;
    sort_pools(asking);
}

void why_pools_take_bought(struct asking *asking, const struct simulation_node *node)
{
    for (size_t i = 0; i < asking->why->pool_count; i++)
        if (text_equal(asking->pools[i].name, node->node_pool))
            take_bought(node, &asking->pools[i]);
    sort_pools(asking);
}
