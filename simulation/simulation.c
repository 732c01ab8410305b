/* Runs the rounds of a simulation and makes their result. */
#include "simulation/simulation.h"

#include <stdlib.h>
#include <string.h>

#include "catalog/usd.h"
#include "kube/karpenter.h"
#include "kube/object.h"
#include "kube/pod.h"
#include "kube/snapshot.h"
#include "simulation/cluster.h"
#include "simulation/drill.h"
#include "simulation/node_claims.h"
#include "simulation/other_pools.h"
#include "simulation/reason_words.h"
#include "simulation/reserved.h"
#include "simulation/supply.h"
#include "simulation/volume_claims.h"
#include "solver/reason.h"

struct rounds {
    struct cluster cluster;
    const struct simulation_settings *settings;
    struct arena *arena;
    struct solver_run *run;
    size_t input_nodes; /* Nodes of the cluster, which come first */
    size_t round, pending, placed;
    size_t placing_rounds; /* rounds in which a pod was placed */
    bool bought_in_vain;   /* in this round */
    bool cut_short;        /* one of the plans was cut short */
};

/* ---- one round ---- */

/* False: another pod of this round has bound its volume elsewhere, so it waits for the next
 * round. */
static bool volumes_follow(const struct rounds *rounds, const struct cluster_pod *pod,
                           struct solver_labels labels)
{
    for (size_t i = 0; i < pod->claim_count; i++) {
        const struct volume_claim *claim = pod->claims[i];
        if ((claim->waits || claim->bound_in == rounds->round) && !volume_claim_fits(claim, labels))
            return false;
    }
    return true;
}

/* Those of one pod; it may have passed one on. */
static bool claims_are_free(const struct cluster_pod *pod)
{
    for (size_t i = 0; i < pod->claim_count; i++)
        if (pod->claims[i]->holder != NULL && pod->claims[i]->holder != pod)
            return false;
    return true;
}

static bool place(struct rounds *rounds, struct cluster_pod *pod, size_t state_node,
                  struct solver_labels labels)
{
    if (!volumes_follow(rounds, pod, labels) || !claims_are_free(pod))
        return false;
    for (size_t i = 0; i < pod->claim_count; i++)
        if (pod->claims[i]->waits) {
            volume_claim_bind(pod->claims[i], labels, rounds->arena);
            pod->claims[i]->bound_in = rounds->round;
        }
    pod->phase = POD_RUNNING;
    pod->state_node = state_node;
    rounds->cluster.is_posed = false;
    rounds->placed++;
    rounds->pending--;
    return true;
}

/* Pods and nodes by their numbers in the problem. */
struct index {
    struct cluster_pod **pods;
    size_t *state_nodes;
};

static struct index index_numbers(struct rounds *rounds)
{
    struct cluster *cluster = &rounds->cluster;
    struct index index = {
        ARENA_ARRAY(rounds->arena, cluster->pods.count, struct cluster_pod *),
        ARENA_ARRAY(rounds->arena, cluster->state_nodes.count, size_t),
    };
    for (size_t i = 0; i < cluster->pods.count; i++)
        if (cluster->pods.items[i].number != SOLVER_NONE)
            index.pods[cluster->pods.items[i].number] = &cluster->pods.items[i];
    for (size_t i = 0; i < cluster->state_nodes.count; i++)
        index.state_nodes[cluster->state_nodes.items[i].number] = i;
    return index;
}

static void place_on_nodes(struct rounds *rounds, const struct solver_plan *plan,
                           const struct index *index)
{
    for (size_t i = 0; i < plan->placement_count; i++) {
        const struct solver_placement *found = &plan->placements[i];
        index->pods[found->pod]->misplaced = found->misplaced;
        if (found->kind != SOLVER_ON_NODE)
            continue;
        size_t state_node = index->state_nodes[found->index];
        (void)place(rounds, index->pods[found->pod], state_node,
                    rounds->cluster.state_nodes.items[state_node].labels);
    }
}

/* Once for a pod: from then on Karpenter counts it to that node. */
static bool buy_in_vain(struct rounds *rounds, struct cluster_pod *pod)
{
    if (pod->vain_node > 0)
        return false;
    pod->vain_node = rounds->cluster.state_nodes.count + 1;
    rounds->bought_in_vain = true;
    return true;
}

static void buy(struct rounds *rounds, const struct solver_plan *plan, const struct index *index)
{
    struct state_nodes *state_nodes = &rounds->cluster.state_nodes;
    for (size_t i = 0; i < plan->claim_count; i++) {
        const struct solver_node_claim *claim = &plan->claims[i];
        struct state_node state_node =
            state_node_of_claim(&rounds->cluster, claim, rounds->round, i);
        bool used = false;
        for (size_t j = 0; j < claim->pod_count; j++) {
            struct cluster_pod *pod = index->pods[claim->pods[j]];
            used = place(rounds, pod, state_nodes->count, state_node.labels) || used;
        }
        for (size_t j = 0; j < claim->misplaced_count; j++)
            used |= buy_in_vain(rounds, index->pods[claim->misplaced[j]]);
        if (used && claim->reservation[0] != '\0')
            reservation_use(&rounds->cluster, claim->reservation);
        if (used) {
            *LIST_PUSH(rounds->arena, state_nodes) = state_node;
            rounds->cluster.is_posed = false;
        }
    }
}

/* Updates claims whose volumes were taken in earlier rounds. */
static void refresh_claims(struct rounds *rounds)
{
    struct cluster_pods *pods = &rounds->cluster.pods;
    volume_claims_refresh(rounds->cluster.claims);
    for (size_t i = 0; i < pods->count; i++) {
        struct cluster_pod *pod = &pods->items[i];
        bool waits = pod->phase == POD_PENDING && pod->fault.message.size == 0;
        for (size_t j = 0; waits && j < pod->claim_count; j++)
            if (pod->claims[j]->fault.later)
                pod->fault = pod->claims[j]->fault;
        pod->misplaced = false; /* until the plan of this round says so */
        rounds->pending -= waits && pod->fault.message.size > 0 ? 1 : 0;
    }
}

static bool run_round(struct rounds *rounds, struct error *error)
{
    rounds->placed = 0;
    rounds->bought_in_vain = false;
    refresh_claims(rounds);
    if (!rounds->cluster.is_posed &&
        !cluster_problem(&rounds->cluster, &rounds->settings->solver, error))
        return false;
    rounds->run = solver_run_create(rounds->cluster.problem, rounds->arena);
    const struct solver_plan *plan = solver_solve(rounds->run);
    rounds->cut_short |= plan->cut_short;
    struct index index = index_numbers(rounds);
    place_on_nodes(rounds, plan, &index);
    buy(rounds, plan, &index);
    return true;
}

static size_t count_pending(const struct cluster *cluster)
{
    size_t count = 0;
    for (size_t i = 0; i < cluster->pods.count; i++) {
        const struct cluster_pod *pod = &cluster->pods.items[i];
        count += pod->phase == POD_PENDING && pod->fault.message.size == 0 ? 1 : 0;
    }
    return count;
}

#define PASSED_ON_MAX 8 /* times: the replicas of a set fail alike */

static bool run_rounds(struct rounds *rounds, struct error *error)
{
    size_t passed_on = 0;
    size_t most = rounds->settings->max_rounds;
    rounds->pending = count_pending(&rounds->cluster);
    for (rounds->round = 1; rounds->pending > 0 && (most == 0 || rounds->round <= most);
         rounds->round++) {
        if (!run_round(rounds, error))
            return false;
        if (rounds->placed > 0 || rounds->bought_in_vain) {
            rounds->placing_rounds = rounds->round;
            continue;
        }
        size_t more = passed_on < PASSED_ON_MAX ? cluster_pass_on_claims(&rounds->cluster) : 0;
        if (more == 0)
            break;
        rounds->pending += more;
        rounds->cluster.is_posed = false;
        passed_on++;
    }
    return true;
}

bool cluster_run_rounds(struct cluster *cluster, const struct simulation_settings *settings,
                        struct error *error)
{
    struct rounds rounds = {.settings = settings,
                            .cluster = *cluster,
                            .arena = cluster->arena,
                            .input_nodes = cluster->state_nodes.count};
    bool good = run_rounds(&rounds, error);
    *cluster = rounds.cluster;
    return good;
}

/* ---- the answer ---- */

static const struct simulation_pod *list_pods(const struct rounds *rounds)
{
    const struct cluster_pods *pods = &rounds->cluster.pods;
    struct simulation_pod *items = ARENA_ARRAY(rounds->arena, pods->count, struct simulation_pod);
    for (size_t i = 0; i < pods->count; i++) {
        const struct cluster_pod *pod = &pods->items[i];
        items[i] = (struct simulation_pod){
            .namespace = pod->namespace,
            .name = pod->name,
            .workload = pod->owner,
            .cpu_milli = named_amount_of(&pod->shape->requests, "cpu"),
            .memory_bytes = named_amount_of(&pod->shape->requests, "memory"),
            .running = pod->had_node,
        };
    }
    return items;
}

/* By round, pool, type and zone; equal ones in the order they were bought. */
static int compare_bought(const void *a_pointer, const void *b_pointer)
{
    const struct simulation_node *a = a_pointer;
    const struct simulation_node *b = b_pointer;
    if (a->round != b->round)
        return (a->round > b->round) - (a->round < b->round);
    int order = text_compare(a->node_pool, b->node_pool);
    if (order == 0)
        order = text_compare(a->instance_type, b->instance_type);
    if (order == 0)
        order = text_compare(a->zone, b->zone);
    if (order == 0)
        order = text_compare(a->name, b->name);
    return order;
}

/* Pods are in order, so their lists are, too. */
static void list_pods_of_nodes(const struct rounds *rounds, struct simulation_node *nodes)
{
    const struct cluster_pods *pods = &rounds->cluster.pods;
    size_t count = rounds->cluster.state_nodes.count;
    size_t **lists = ARENA_ARRAY(rounds->arena, count, size_t *);
    size_t *filled = ARENA_ARRAY(rounds->arena, count, size_t);
    for (size_t i = 0; i < pods->count; i++)
        if (pods->items[i].phase == POD_RUNNING && pods->items[i].state_node != NO_NODE)
            nodes[pods->items[i].state_node].pod_count++;
    for (size_t i = 0; i < count; i++) {
        lists[i] = ARENA_ARRAY(rounds->arena, nodes[i].pod_count, size_t);
        nodes[i].pods = lists[i];
    }
    for (size_t i = 0; i < pods->count; i++) {
        size_t state_node = pods->items[i].state_node;
        if (pods->items[i].phase == POD_RUNNING && state_node != NO_NODE)
            lists[state_node][filled[state_node]++] = i;
    }
}

static void list_misplaced(const struct rounds *rounds, struct simulation_node *nodes)
{
    const struct cluster_pods *pods = &rounds->cluster.pods;
    struct {
        size_t *items;
        size_t count, capacity;
    } *lists = arena_array(rounds->arena, rounds->cluster.state_nodes.count, sizeof *lists);
    for (size_t i = 0; i < pods->count; i++) {
        const struct cluster_pod *pod = &pods->items[i];
        if (pod->phase != POD_PENDING || pod->vain_node == 0)
            continue;
        size_t state_node = pod->vain_node - 1;
        *LIST_PUSH(rounds->arena, &lists[state_node]) = i;
        nodes[state_node].misplaced = lists[state_node].items;
        nodes[state_node].misplaced_count = lists[state_node].count;
    }
}

static void list_nodes(struct rounds *rounds, struct simulation *simulation)
{
    struct state_nodes *state_nodes = &rounds->cluster.state_nodes;
    struct simulation_node *nodes =
        ARENA_ARRAY(rounds->arena, state_nodes->count, struct simulation_node);
    for (size_t i = 0; i < state_nodes->count; i++) {
        nodes[i] = state_nodes->items[i].simulation;
        nodes[i].name = text_of(state_nodes->items[i].node_name);
    }
    list_pods_of_nodes(rounds, nodes);
    list_misplaced(rounds, nodes);
    struct simulation_node *leaving =
        ARENA_ARRAY(rounds->arena, rounds->input_nodes, struct simulation_node);
    size_t count = 0;
    for (size_t i = 0; i < state_nodes->count; i++)
        if (state_nodes->items[i].leaving)
            leaving[simulation->leaving_count++] = nodes[i];
        else
            nodes[count++] = nodes[i];
    size_t bought = state_nodes->count - rounds->input_nodes;
    struct simulation_node *claims = nodes + count - bought;
    if (bought > 0)
        qsort(claims, bought, sizeof *claims, compare_bought);
    for (size_t i = 0; i < bought; i++) {
        claims[i].name = TEXT("");
        simulation->unpriced_count += claims[i].usd_micro_per_hour < 0;
        if (claims[i].usd_micro_per_hour > 0)
            simulation->usd_micro_per_hour =
                usd_sum(simulation->usd_micro_per_hour, claims[i].usd_micro_per_hour);
    }
    simulation->nodes = nodes;
    simulation->leaving = leaving;
    simulation->node_count = count;
    simulation->claim_count = bought;
}

/* ---- what fits nowhere ---- */

static struct simulation_reasons one_reason(const struct rounds *rounds,
                                            enum solver_reason_kind kind, struct text message)
{
    struct simulation_reason *reason = ARENA_NEW(rounds->arena, struct simulation_reason);
    *reason = (struct simulation_reason){.kind = solver_reason_name(kind), .message = message};
    return (struct simulation_reasons){reason, 1};
}

/* Whether a Node that is there, or by_pools a NodePool, would take the pod if its shape were as
 * suppose makes it. */
static bool would_be_taken(struct rounds *rounds, const struct cluster_pod *pod,
                           void (*suppose)(struct solver_shape *), bool by_pools)
{
    const struct arena_mark mark = arena_mark(rounds->arena);
    const struct state_nodes *nodes = &rounds->cluster.state_nodes;
    struct solver_question question = cluster_question(&rounds->cluster, pod);
    struct solver_shape shape = *question.shape;
    struct solver_outlook outlook;
    struct error error;
    bool takes = false;
    suppose(&shape);
    question.shape = &shape;
    struct solver_run *run = solver_run_create(rounds->cluster.problem, rounds->arena);
    if (solver_query_outlook(run, &question, rounds->arena, &outlook, &error)) {
        for (size_t i = 0; i < rounds->input_nodes; i++)
            takes |= outlook.nodes[nodes->items[i].number];
        for (size_t i = 0; by_pools && i < rounds->cluster.pool_count; i++)
            takes |= outlook.claims[i] != NULL;
    }
    arena_rewind(rounds->arena, mark);
    return takes;
}

static void suppose_devices(struct solver_shape *shape)
{
    shape->needs_devices = false;
}

static void suppose_tolerations(struct solver_shape *shape)
{
    static const struct solver_toleration of_every_taint = {
        .key = "", .value = "", .exists = true, .any_effect = true};
    shape->tolerations = &of_every_taint;
    shape->toleration_count = 1;
}

/* Of a template; a Pod has the tolerations of its RuntimeClass. */
static bool has_open_runtime(const struct cluster_pod *pod)
{
    return pod->object->kind != KIND_POD && workload_may_get_tolerations(&pod->source->workload);
}

static struct simulation_reasons with_reason(struct simulation_reasons reasons,
                                             struct simulation_reason more, struct arena *arena)
{
    struct simulation_reason *items =
        ARENA_ARRAY(arena, reasons.count + 1, struct simulation_reason);
    for (size_t i = 0; i < reasons.count; i++)
        items[i] = reasons.items[i];
    items[reasons.count] = more;
    return (struct simulation_reasons){items, reasons.count + 1};
}

static struct simulation_reasons with_undecided(struct simulation_reasons reasons, const char *why,
                                                struct arena *arena)
{
    return with_reason(
        reasons, (struct simulation_reason){.kind = REASON_UNDECIDED, .message = text_of(why)},
        arena);
}

/* docs/reference/karpenter.md 4.2. */
static struct simulation_reasons with_purchase(const struct rounds *rounds,
                                               const struct cluster_pod *pod,
                                               struct simulation_reasons reasons)
{
    const struct state_node *bought = &rounds->cluster.state_nodes.items[pod->vain_node - 1];
    return with_reason(
        reasons,
        (struct simulation_reason){
            .node_pool = bought->simulation.node_pool,
            .kind = solver_reason_name(SOLVER_REASON_VOLUME),
            .message = TEXT("Karpenter buys a node of it all the same, since it does not look at "
                            "which node a local volume is on"),
        },
        rounds->arena);
}

static struct simulation_reasons explain(struct rounds *rounds, const struct cluster_pod *pod)
{
    const struct solver_reasons found = solver_explain(rounds->run, pod->number);
    const struct simulation_reasons told =
        reasons_by_name(reasons_tell(found, rounds->arena), rounds->cluster.problem, rounds->arena);
    if (pod->shape->solver.needs_devices && would_be_taken(rounds, pod, suppose_devices, false))
        return with_undecided(told,
                              "a Node that is there would take it, if it has the devices: they are "
                              "not looked at",
                              rounds->arena);
    if (has_open_runtime(pod) && would_be_taken(rounds, pod, suppose_tolerations, true))
        return with_undecided(told,
                              "its RuntimeClass, which is not read, may let its Pods tolerate the "
                              "taints, and nothing else keeps it out",
                              rounds->arena);
    return reasons_exclude_every_pool(found) ? told : other_pools_add(&rounds->cluster, pod, told);
}

/* Nothing is bought for the pod, so only the existing nodes give reasons. */
static struct simulation_reasons explain_left_alone(const struct rounds *rounds,
                                                    const struct cluster_pod *pod)
{
    const struct pod_fault *why = cluster_pod_nodes_only(pod);
    struct reasons_words reasons =
        reasons_tell(solver_explain(rounds->run, pod->number), rounds->arena);
    struct simulation_reason *reason = ARENA_NEW(rounds->arena, struct simulation_reason);
    *reason = (struct simulation_reason){
        .kind = solver_reason_name(why->kind),
        .message = arena_printf(
            rounds->arena, "%.*s, and no node that is there takes this one%s%.*s",
            TEXT_ARGS(why->message), why->fix.size > 0 ? ": " : "", TEXT_ARGS(why->fix))};
    for (size_t i = 0; i < reasons.count; i++)
        if (reasons.items[i].pool == SOLVER_NONE && reasons.items[i].kind != why->kind)
            reason->nearest = text_of(reasons.items[i].message);
    return (struct simulation_reasons){reason, 1};
}

/* The last plan places the pod, but its volume cannot be there. */
static bool lost_its_volume(const struct rounds *rounds, const struct cluster_pod *pod)
{
    for (size_t i = 0; i < pod->claim_count; i++)
        if (pod->claims[i]->bound_in > 0 && pod->claims[i]->bound_in == rounds->placing_rounds)
            return true;
    return false;
}

/* All pods without a place; those of which nothing is decided, too. */
static struct simulation_unschedulable *list_unschedulable(struct rounds *rounds,
                                                           struct simulation *simulation)
{
    const struct cluster_pods *pods = &rounds->cluster.pods;
    /* Pods of one shape have the same reasons, but for those that a RuntimeClass may help. Daemons
     * have numbers among the shapes, too. */
    struct known {
        struct simulation_reasons as_written, with_open_runtime;
    };
    size_t most_shapes = rounds->cluster.daemons.count + pods->count;
    struct known *known = ARENA_ARRAY(rounds->arena, most_shapes, struct known);
    struct simulation_unschedulable *items =
        ARENA_ARRAY(rounds->arena, pods->count, struct simulation_unschedulable);
    for (size_t i = 0; i < pods->count; i++) {
        const struct cluster_pod *pod = &pods->items[i];
        struct simulation_reasons reasons;
        if (pod->phase != POD_PENDING)
            continue;
        if (pod->fault.message.size > 0) {
            reasons = one_reason(rounds, pod->fault.kind, pod->fault.message);
        } else if (cluster_pod_nodes_only(pod)->message.size > 0 &&
                   !pod->shape->solver.needs_devices) {
            reasons = explain_left_alone(rounds, pod);
        } else if (rounds->placed > 0 && lost_its_volume(rounds, pod)) {
            reasons = one_reason(rounds, SOLVER_REASON_VOLUME,
                                 TEXT("its volume went elsewhere with another pod in the last "
                                      "round that was run"));
        } else {
            struct known *of_shape = &known[pod->shape_number];
            struct simulation_reasons *cached =
                has_open_runtime(pod) ? &of_shape->with_open_runtime : &of_shape->as_written;
            if (cached->items == NULL)
                *cached = explain(rounds, pod);
            reasons = *cached;
        }
        if (pod->vain_node > 0)
            reasons = with_purchase(rounds, pod, reasons);
        items[simulation->unschedulable_count++] =
            (struct simulation_unschedulable){i, reasons.items, reasons.count, 0, pod->misplaced};
    }
    simulation->unschedulable = items;
    return items;
}

/* Finds the round in which pods that are left would be placed, after the rounds that were asked
 * for. */
static bool find_later_rounds(struct rounds *rounds, struct simulation *simulation,
                              struct simulation_unschedulable *unschedulable, struct error *error)
{
    while ((rounds->placed > 0 || rounds->bought_in_vain) && rounds->pending > 0) {
        if (!run_round(rounds, error))
            return false;
        for (size_t i = 0; i < simulation->unschedulable_count; i++) {
            size_t pod = unschedulable[i].pod;
            if (unschedulable[i].later_round == 0 &&
                rounds->cluster.pods.items[pod].phase == POD_RUNNING)
                unschedulable[i].later_round = rounds->round;
        }
        rounds->round++;
    }
    return true;
}

static bool is_undecided(const struct simulation_unschedulable *pod)
{
    for (size_t i = 0; i < pod->reason_count; i++)
        if (strcmp(pod->reasons[i].kind, REASON_UNDECIDED) == 0)
            return pod->later_round == 0;
    return false;
}

/* What a drill strands fits nowhere, whatever NodePools nobody sees. */
static void decide_stranded(const struct rounds *rounds, struct simulation_unschedulable *pod)
{
    const struct cluster *cluster = &rounds->cluster;
    struct text why = drill_strands(cluster, &cluster->pods.items[pod->pod]);
    if (why.size == 0)
        return;
    const struct simulation_reasons reasons = one_reason(rounds, SOLVER_REASON_VOLUME, why);
    pod->reasons = reasons.items;
    pod->reason_count = reasons.count;
}

/* Moves the pods of which nothing is decided to a list of their own. */
static void divide_unschedulable(const struct rounds *rounds, struct simulation *simulation,
                                 struct simulation_unschedulable *unschedulable)
{
    struct simulation_unschedulable *undecided = ARENA_ARRAY(
        rounds->arena, simulation->unschedulable_count, struct simulation_unschedulable);
    size_t kept = 0;
    for (size_t i = 0; i < simulation->unschedulable_count; i++) {
        if (is_undecided(&unschedulable[i]))
            decide_stranded(rounds, &unschedulable[i]);
        if (is_undecided(&unschedulable[i]))
            undecided[simulation->undecided_count++] = unschedulable[i];
        else
            unschedulable[kept++] = unschedulable[i];
    }
    simulation->unschedulable_count = kept;
    simulation->undecided = undecided;
}

/* False when the drill names what is not there. */
static bool read_cluster(const struct snapshot *snapshot, const struct catalog *catalog,
                         const struct simulation_settings *settings, struct arena *arena,
                         struct cluster *cluster, struct problems *problems, struct error *error)
{
    const struct problems *wrong = &cluster->drill_problems;
    cluster_read(snapshot, catalog, settings, arena, cluster, problems);
    cluster->reserved = settings->reserved;
    for (size_t i = 0; i < cluster->state_nodes.count; i++)
        state_node_describe(cluster, &cluster->state_nodes.items[i]);
    for (size_t i = 0; i < wrong->count; i++)
        problems_add_error(problems, &wrong->items[i]);
    if (wrong->count > 0)
        *error = wrong->items[0];
    return wrong->count == 0;
}

bool cluster_simulate(const struct cluster *cluster, const struct simulation_settings *settings,
                      struct simulation *simulation, struct problems *problems, struct error *error)
{
    struct rounds rounds = {.cluster = *cluster,
                            .settings = settings,
                            .arena = cluster->arena,
                            .input_nodes = cluster->state_nodes.count};
    *simulation = (struct simulation){.catalog = cluster->catalog};
    if (!run_rounds(&rounds, error))
        return false;
    if (rounds.cluster.types != NULL)
        reservations_check(&rounds.cluster, problems);
    simulation->pods = list_pods(&rounds);
    simulation->pod_count = rounds.cluster.pods.count;
    simulation->unlaunched = cluster->state_nodes.unlaunched.items;
    simulation->unlaunched_count = cluster->state_nodes.unlaunched.count;
    simulation->round_count = rounds.placing_rounds;
    simulation->incomplete = problems_have_errors(problems);
    simulation->cut_short = rounds.cut_short;
    list_nodes(&rounds, simulation);
    struct simulation_unschedulable *unschedulable = list_unschedulable(&rounds, simulation);
    if (settings->max_rounds > 0 && !find_later_rounds(&rounds, simulation, unschedulable, error))
        return false;
    divide_unschedulable(&rounds, simulation, unschedulable);
    simulation->drilled = drill_tell(&rounds.cluster, simulation);
    return true;
}

struct simulation_settings simulation_settings_of(const struct karpenter_settings *settings)
{
    return (struct simulation_settings){
        .solver = karpenter_solver_settings(settings),
        .reserved.off = settings->no_reserved_capacity,
    };
}

bool simulation_is_quick(const struct snapshot *snapshot)
{
    enum { QUICK_NODES = 500, QUICK_PODS = 5000 };
    return snapshot_count(snapshot, KIND_NODE) <= QUICK_NODES &&
           snapshot_count(snapshot, KIND_NODE_CLAIM) <= QUICK_NODES &&
           snapshot_count(snapshot, KIND_POD) <= QUICK_PODS;
}

bool simulation_run(const struct snapshot *snapshot, const struct catalog *catalog,
                    const struct simulation_settings *settings, struct arena *arena,
                    struct simulation *simulation, struct problems *problems, struct error *error)
{
    struct cluster cluster;
    *simulation = (struct simulation){.catalog = catalog};
    return read_cluster(snapshot, catalog, settings, arena, &cluster, problems, error) &&
           cluster_simulate(&cluster, settings, simulation, problems, error);
}
