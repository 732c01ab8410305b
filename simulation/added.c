/* Plans one workload while a request waits. */
#include "simulation/added.h"

#include <stdio.h>

#include "catalog/catalog.h"
#include "catalog/usd.h"
#include "kube/object.h"
#include "kube/snapshot.h"
#include "simulation/node_claims.h"
#include "simulation/stock.h"
#include "simulation/supply_internal.h"

enum {
    PLAN_BYTES = 64 << 20,
    MOST_PLANNED = 1000,
    MOST_VOLUMES = 20000,
    /* A pod is tried with one term after the other, each time with all that it wishes beside. */
    MOST_TRIES = 40000,
    MOST_TERMS = 32, /* with wishes */
    MOST_WISHES = 8,
};

struct planning {
    const struct stock *stock;
    const struct snapshot *snapshot;
    const struct added_question *question;
    struct arena *arena;
    bool beside;
    int64_t most;
    struct added *added;
    bool done;
};

/* ---- how many are planned ---- */

#define REQUIRED_TERMS \
    "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A pod with volumes has a shape of its own. */
static int64_t most_planned(const struct planning *planning)
{
    const struct object *object = planning->question->workload;
    struct workload workload;
    if (planning->question->pods != NULL)
        workload = *planning->question->pods;
    else if (!workload_read(object, planning->arena, &workload))
        return 0;
    size_t volumes = node_count(node_get(workload.spec->node, "volumes")) +
                     node_count(node_at(object->root->node, "spec.volumeClaimTemplates"));
    size_t terms = node_count(node_at(workload.spec->node, REQUIRED_TERMS));
    int64_t most =
        least_of(MOST_VOLUMES / (int64_t)(volumes + 1), MOST_TRIES / (int64_t)(terms + 1));
    return most < 1 ? 1 : least_of(most, MOST_PLANNED);
}

/* ---- what does not count ---- */

static void cut(size_t *count, size_t most)
{
    *count = *count < most ? *count : most;
}

/* The first wishes count; with fewer a pod costs no more. */
static void cut_wishes(struct solver_shape *shape)
{
    size_t most = shape->required_count > MOST_TERMS ? 0 : MOST_WISHES;
    cut(&shape->preferred_count, most);
    cut(&shape->affinity_count, most);
    cut(&shape->spread_count, most);
}

/* Nothing is bought for a pod that requests what no type has. */
static void keep_known_requests(const struct stock *stock, struct cluster_pod *pod)
{
    struct named_amounts *requests = &pod->shape->requests;
    size_t count = 0;
    for (size_t i = 0; i < requests->count; i++) {
        struct named_amount amount = requests->items[i];
        if (solver_problem_resource(stock->problem, amount.resource) != SOLVER_NONE)
            requests->items[count++] = amount;
        else
            pod->shape->fault = (struct pod_fault){.kind = SOLVER_REASON_RESOURCES,
                                                   .message = text_of(amount.resource)};
    }
    requests->count = count;
    if (pod->fault.message.size == 0)
        pod->fault = pod->shape->fault;
}

/* ---- the plan ---- */

static void read_nodes(const struct planning *planning, struct cluster *cluster,
                       struct problems *problems)
{
    state_nodes_read(planning->snapshot, planning->arena, &cluster->state_nodes, problems);
    for (size_t i = 0; i < cluster->state_nodes.count; i++)
        state_node_describe(cluster, &cluster->state_nodes.items[i]);
}

/* Pods of a Node that is being deleted look for another place, whatever the workload adds. */
static void leave_out_moved(struct cluster_pod *pod)
{
    if (pod->phase == POD_PENDING && pod->node_name.size > 0)
        pod->phase = POD_WAITING;
}

static void read_pods(const struct planning *planning, struct cluster *cluster)
{
    struct problems problems = {.arena = planning->arena};
    const struct added_question *question = planning->question;
    if (planning->beside)
        read_nodes(planning, cluster, &problems);
    const struct expansion_of of = {question->workload, question->pods, question->replicas,
                                    planning->most};
    planning->added->pods_left_out = (planning->beside ? expand_beside : expand_alone)(
        planning->snapshot, &of, planning->arena, &cluster->pods, &problems);
    cluster_read_pods(cluster, &problems);
    for (size_t i = 0; i < cluster->pods.count; i++) {
        struct cluster_pod *pod = &cluster->pods.items[i];
        cut_wishes(&pod->shape->solver);
        keep_known_requests(planning->stock, pod);
        leave_out_moved(pod);
    }
}

static void tell_region(const struct cluster *cluster, struct text zone, struct added *added)
{
    struct text priced = catalog_prices(cluster->catalog)->region;
    struct text region = zone_region(zone);
    if (added->elsewhere[0] == '\0' && priced.size > 0 && region.size > 0 &&
        !text_equal(region, priced))
        snprintf(added->elsewhere, sizeof added->elsewhere, "%.*s", TEXT_ARGS(region));
}

static void tell(const struct cluster *cluster, struct added *added)
{
    FOR_EACH(pod, &cluster->pods) {
        added->pods += pod->node_name.size > 0 ? 0 : 1;
        added->unplaced_count += pod->phase == POD_PENDING ? 1 : 0;
        added->asks_for_devices |= pod->phase == POD_PENDING && pod->shape->solver.needs_devices;
    }
    for (size_t i = 0; i < cluster->pool_count; i++)
        added->lacks_types |= cluster->pools[i].offers_nothing;
    FOR_EACH(bought, &cluster->state_nodes) {
        int64_t usd_micro = bought->simulation.usd_micro_per_hour;
        if (bought->simulation.round == 0)
            continue;
        added->node_count++;
        added->unpriced_count += usd_micro < 0 ? 1 : 0;
        added->usd_micro_per_hour =
            usd_sum(added->usd_micro_per_hour, usd_micro > 0 ? usd_micro : 0);
        added->spot_unpriced |= bought->simulation.price_of.size > 0;
        tell_region(cluster, bought->simulation.zone, added);
    }
}

static void plan(void *argument)
{
    struct planning *planning = argument;
    struct cluster cluster;
    struct error error;
    *planning->added = (struct added){0};
    stock_cluster(planning->stock, planning->snapshot, planning->arena, &cluster);
    cluster.brief = true;
    cluster.alone = !planning->beside;
    cluster.extends_tolerations = planning->question->extended_resource_toleration;
    if (planning->most < 0)
        planning->most = most_planned(planning);
    read_pods(planning, &cluster);
    if (!cluster_run_rounds(&cluster, &planning->stock->settings, &error))
        return;
    tell(&cluster, planning->added);
    planning->done = true;
}

/* Takes no memory of the caller, who may be stopped where it allocates. What takes too much is
 * planned for one pod. */
static enum added_kind plan_in_memory_of_its_own(struct planning *planning)
{
    struct error error;
    planning->arena = arena_create(PLAN_BYTES);
    if (planning->arena == NULL)
        return ADDED_UNKNOWN;
    bool enough = arena_guard(planning->arena, plan, planning, &error);
    if (!enough) {
        arena_reset(planning->arena);
        planning->most = 1;
        enough = arena_guard(planning->arena, plan, planning, &error);
    }
    arena_destroy(planning->arena);
    return !enough ? ADDED_TOO_MUCH : planning->done ? ADDED_KNOWN : ADDED_UNKNOWN;
}

static bool sells(const struct supply *supply)
{
    return supply != NULL && supply->stock != NULL && supply->stock->pool_count > 0;
}

enum added_kind supply_plan_alone(const struct supply *supply, const struct snapshot *snapshot,
                                  const struct added_question *question, struct added *added)
{
    struct planning planning = {
        .snapshot = snapshot, .question = question, .most = -1, .added = added};
    if (!sells(supply))
        return ADDED_UNKNOWN;
    planning.stock = supply->stock;
    return plan_in_memory_of_its_own(&planning);
}

enum added_kind supply_plan_beside(const struct supply *supply, const struct snapshot *snapshot,
                                   const struct added_question *question, struct added *added)
{
    struct planning planning = {
        .snapshot = snapshot, .question = question, .beside = true, .most = -1, .added = added};
    if (!sells(supply) || !simulation_is_quick(snapshot))
        return ADDED_UNKNOWN;
    planning.stock = supply->stock;
    return plan_in_memory_of_its_own(&planning);
}
