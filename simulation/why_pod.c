/* Asks where one pod could go, alone and beside all that is pending, and gathers what rules out the
 * rest. */
#include <stdlib.h>
#include <string.h>

#include "kube/object.h"
#include "kube/snapshot.h"
#include "kube/to_solver.h"
#include "simulation/node_claims.h"
#include "simulation/other_pools.h"
#include "simulation/reason_words.h"
#include "simulation/volume_claims.h"
#include "simulation/why_pod_internal.h"
#include "solver/well_known.h"

/* ---- which pod ---- */

static int compare_to_pod(const void *key_pointer, const void *pod_pointer)
{
    const struct cluster_pod *key = key_pointer, *pod = pod_pointer;
    int order = text_compare(key->namespace, pod->namespace);
    return order != 0 ? order : text_compare(key->name, pod->name);
}

static struct cluster_pod *find_pod(const struct cluster_pods *pods, struct text namespace,
                                    struct text name)
{
    const struct cluster_pod key = {.namespace = namespace, .name = name};
    return pods->count == 0
               ? NULL
               : bsearch(&key, pods->items, pods->count, sizeof *pods->items, compare_to_pod);
}

/* What was meant: a pod of that name elsewhere, those of a workload of that name, or the nearest
 * name. */
static struct text meant(const struct cluster_pods *pods, struct text namespace, struct text name,
                         struct arena *arena)
{
    enum { TYPO_EDITS = 3, PODS_NAMED = 3 };
    struct text prefix = arena_printf(arena, "%.*s-", TEXT_ARGS(name));
    struct text_list here = {0}, of_workload = {0};
    for (size_t i = 0; i < pods->count; i++) {
        const struct cluster_pod *pod = &pods->items[i];
        if (!text_equal(pod->namespace, namespace) && text_equal(pod->name, name))
            return arena_printf(arena, "; there is one in namespace %.*s",
                                TEXT_ARGS(pod->namespace));
        if (!text_equal(pod->namespace, namespace))
            continue;
        *LIST_PUSH(arena, &here) = pod->name;
        if (text_starts_with(pod->name, prefix))
            *LIST_PUSH(arena, &of_workload) = pod->name;
    }
    if (of_workload.count > 0)
        return arena_printf(
            arena, "; did you mean one of %.*s?",
            TEXT_ARGS(texts_join(of_workload.items, of_workload.count, PODS_NAMED, arena)));
    size_t nearest = text_nearest(name, here.items, here.count, TYPO_EDITS);
    return nearest >= here.count
               ? TEXT("")
               : arena_printf(arena, "; did you mean %.*s?", TEXT_ARGS(here.items[nearest]));
}

static struct text gates_of(const struct object *pod, struct arena *arena)
{
    enum { GATES_NAMED = 3 };
    const struct node *gates = node_at(pod->root->node, "spec.schedulingGates");
    struct text_list names = {0};
    FOR_ITEMS(gate, gates)
        *LIST_PUSH(arena, &names) = node_string(node_get(gate, "name"));
    if (names.count == 0)
        return TEXT("");
    return arena_printf(arena, "its scheduling gate%s %.*s", plural_s(names.count),
                        TEXT_ARGS(texts_and(names.items, names.count, GATES_NAMED, arena)));
}

static void read_state(const struct asking *asking)
{
    const struct cluster_pod *pod = asking->pod;
    struct why_pod *why = asking->why;
    struct text nominated = pod_nominated_node(pod->object);
    why->owner = text_equal(pod->owner, pod->name) ? TEXT("") : pod->owner;
    why->waits = gates_of(pod->object, asking->arena);
    if (pod->phase == POD_RUNNING) {
        why->state = WHY_POD_RUNS;
        why->node = pod->node_name;
    } else if (why->waits.size > 0) {
        why->state = WHY_POD_GATED;
    } else if (pod->leaving) {
        why->state = WHY_POD_LEAVING;
    } else if (nominated.size > 0) {
        why->state = WHY_POD_PREEMPTS;
        why->waits = arena_printf(asking->arena, "room on node %.*s: kube-scheduler evicts others",
                                  TEXT_ARGS(nominated));
    } else if (cluster_pod_is_on_fargate(pod)) {
        why->state = WHY_POD_ON_FARGATE;
        why->waits = TEXT("the node that Fargate makes for it");
    }
}

/* Whatever NodePools and Nodes would do for it. */
static bool has_place(enum why_pod_state state)
{
    return state == WHY_POD_RUNS || state == WHY_POD_PREEMPTS || state == WHY_POD_ON_FARGATE;
}

/* ---- pods of DaemonSets ---- */

/* As the DaemonSet's controller writes it. */
static struct text node_meant(const struct cluster_pod *pod)
{
    const struct node *terms =
        node_at(pod->object->root->node, "spec.affinity.nodeAffinity."
                                         "requiredDuringSchedulingIgnoredDuringExecution."
                                         "nodeSelectorTerms");
    FOR_ITEMS(term, pod->daemon ? terms : NULL)
        FOR_ITEMS(field, node_get(term, "matchFields"))
            if (text_is(node_string(node_get(field, "key")), "metadata.name"))
                return node_string(node_item(node_get(field, "values"), 0));
    return TEXT("");
}

/* ---- Nodes ---- */

static void take_nodes(const struct asking *asking, const bool *takes)
{
    struct why_pod *why = asking->why;
    const struct state_nodes *nodes = &asking->cluster.state_nodes;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct state_node *node = &nodes->items[i];
        why->node_total += node->leaving ? 0 : 1;
        if (node->leaving || takes == NULL || !takes[node->number])
            continue;
        if (why->node_fit < WHY_NODES_NAMED)
            why->node_names[why->node_fit] = text_of(node->node_name);
        why->node_fit++;
    }
}

static void take_causes(const struct asking *asking, const struct simulation_reason *reason)
{
    struct why_pod *why = asking->why;
    why->causes = reason->causes;
    why->cause_count = reason->cause_count;
    why->nodes_nearest = reason->nearest;
}

/* Whatever the Node. */
static void take_one_cause(const struct asking *asking, const struct simulation_reason *reason)
{
    struct why_pod *why = asking->why;
    if (why->node_total == why->node_fit || why->cause_count > 0)
        return;
    struct simulation_cause *cause = ARENA_NEW(asking->arena, struct simulation_cause);
    *cause = (struct simulation_cause){why->node_total - why->node_fit, reason->kind,
                                       reason->message, .of_pod = true};
    why->causes = cause;
    why->cause_count = 1;
    why->nodes_nearest = reason->nearest;
}

/* ---- reasons ---- */

struct split_reasons {
    struct simulation_reasons pools;       /* of pools, and those that hold whatever the pool */
    const struct simulation_reason *nodes; /* of the Nodes, by cause; NULL: none */
};

static struct split_reasons split(const struct simulation_reason *reasons, size_t count,
                                  struct arena *arena)
{
    struct simulation_reason *pools = ARENA_ARRAY(arena, count, struct simulation_reason);
    struct split_reasons into = {{pools, 0}, NULL};
    for (size_t i = 0; i < count; i++) {
        if (reasons[i].cause_count > 0)
            into.nodes = &reasons[i];
        else
            pools[into.pools.count++] = reasons[i];
    }
    return into;
}

static void take_node_reasons(const struct asking *asking, const struct split_reasons *reasons)
{
    if (reasons->nodes != NULL)
        take_causes(asking, reasons->nodes);
    FOR_EACH(reason, &reasons->pools)
        if (reason->node_pool.size == 0)
            take_one_cause(asking, reason);
}

/* ---- alone ---- */

static enum why_fit best_fit(const struct why_pod *why)
{
    if (why->node_fit > 0)
        return WHY_FITS;
    if (why->node_may > 0)
        return WHY_UNDECIDED;
    return why->pool_count > 0 ? why->pools[0].fit : WHY_FITS_NOT;
}

static void add_cause(const struct asking *asking, const struct simulation_cause *cause)
{
    struct why_pod *why = asking->why;
    struct simulation_cause *causes =
        ARENA_ARRAY(asking->arena, why->cause_count + 1, struct simulation_cause);
    causes[0] = *cause;
    for (size_t i = 0; i < why->cause_count; i++)
        causes[i + 1] = why->causes[i];
    why->causes = causes;
    why->cause_count++;
}

/* Nothing is bought for a pod with resourceClaims; kube-scheduler may find the devices on a Node.
 */
static bool ask_nodes_without_devices(const struct asking *asking, struct solver_run *run,
                                      struct solver_question question, struct error *error)
{
    struct why_pod *why = asking->why;
    struct solver_outlook outlook;
    struct solver_shape shape = *question.shape;
    shape.needs_devices = false;
    question.shape = &shape;
    if (!solver_query_outlook(run, &question, asking->arena, &outlook, error))
        return false;
    const struct simulation_reasons reasons = reasons_by_name(
        reasons_tell(outlook.reasons, asking->arena), asking->cluster.problem, asking->arena);
    const struct split_reasons of = split(reasons.items, reasons.count, asking->arena);
    why->node_total = why->cause_count = 0;
    take_nodes(asking, outlook.nodes);
    take_node_reasons(asking, &of);
    why->node_may = why->node_fit;
    why->node_fit = 0;
    if (why->node_may > 0)
        add_cause(asking, &(struct simulation_cause){why->node_may, REASON_UNDECIDED,
                                                     TEXT("must have the devices that the pod "
                                                          "claims, which are not looked at"),
                                                     false});
    return true;
}

static bool ask_alone(struct asking *asking, struct error *error)
{
    struct cluster *cluster = &asking->cluster;
    struct solver_outlook outlook;
    if (!cluster_problem(cluster, &asking->settings->solver, error))
        return false;
    struct solver_run *run = solver_run_create(cluster->problem, asking->arena);
    struct solver_question question = cluster_question(cluster, asking->pod);
    question.reserved_fallback = true;
    if (!solver_query_outlook(run, &question, asking->arena, &outlook, error))
        return false;
    const struct simulation_reasons reasons = reasons_by_name(
        reasons_tell(outlook.reasons, asking->arena), cluster->problem, asking->arena);
    const struct split_reasons of = split(reasons.items, reasons.count, asking->arena);
    why_pools_judge(asking, outlook.claims, &of.pools, reasons_exclude_every_pool(outlook.reasons));
    take_nodes(asking, outlook.nodes);
    take_node_reasons(asking, &of);
    if (question.shape->needs_devices && !ask_nodes_without_devices(asking, run, question, error))
        return false;
    asking->why->fit = best_fit(asking->why);
    return true;
}

/* Why it cannot run, whatever the machine. */
static void take_fault(struct asking *asking, const struct pod_fault *fault)
{
    const struct simulation_reason reason = {.kind = solver_reason_name(fault->kind),
                                             .message = fault->message};
    const struct simulation_reasons reasons = {&reason, 1};
    why_pools_judge(asking, NULL, &reasons, true);
    take_nodes(asking, NULL);
    take_one_cause(asking, &reason);
    asking->why->fit = WHY_FITS_NOT;
    asking->why->fix = fault->fix;
}

/* ---- beside what is pending ---- */

static size_t count_pending_beside(const struct asking *asking)
{
    const struct cluster_pods *pods = &asking->cluster.pods;
    size_t count = 0;
    for (size_t i = 0; i < pods->count; i++)
        count += &pods->items[i] != asking->pod && pods->items[i].phase == POD_PENDING &&
                 pods->items[i].fault.message.size == 0;
    return count;
}

/* Whether a reason holds whatever the NodePool. Without a NodePool to ask, it may be that. */
static bool excludes_every_pool(const struct asking *asking, const struct simulation_reasons *pools)
{
    FOR_EACH(reason, pools)
        if (reason->node_pool.size == 0 && asking->cluster.pool_count > 0)
            return true;
    return false;
}

/* The others have taken what would do for the pod. */
static void take_misfit(struct asking *asking, const struct simulation_unschedulable *misfit)
{
    struct why_pod *why = asking->why;
    const struct simulation_reasons all = {misfit->reasons, misfit->reason_count};
    const struct split_reasons of = split(all.items, all.count, asking->arena);
    why->node_fit = why->cause_count = 0;
    why->nodes_nearest = TEXT("");
    why_pools_judge(asking, NULL, of.pools.count > 0 ? &of.pools : &all,
                    excludes_every_pool(asking, &of.pools));
    take_node_reasons(asking, &of);
    why->fit = best_fit(why);
}

static void take_place(struct asking *asking, const struct simulation *simulation, size_t pod)
{
    struct why_pod *why = asking->why;
    why->fit = WHY_FITS;
    for (size_t i = 0; i < simulation->node_count; i++) {
        const struct simulation_node *node = &simulation->nodes[i];
        for (size_t j = 0; j < node->pod_count; j++) {
            if (node->pods[j] != pod)
                continue;
            why->node = node->name;
            if (node->round > 0)
                why_pools_take_bought(asking, node);
            return;
        }
    }
}

/* The pod that is asked about, among some of a simulation; NULL: it is none of them. */
static const struct simulation_unschedulable *find_misfit(
    const struct asking *asking, const struct simulation *simulation,
    const struct simulation_unschedulable *misfits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct simulation_pod *pod = &simulation->pods[misfits[i].pod];
        if (text_equal(pod->namespace, asking->pod->namespace) &&
            text_equal(pod->name, asking->pod->name))
            return &misfits[i];
    }
    return NULL;
}

static bool ask_beside(struct asking *asking, struct error *error)
{
    struct simulation simulation;
    struct problems again = {.arena = asking->arena};
    const struct cluster_pod *wanted = asking->pod;
    if (!cluster_simulate(&asking->cluster, asking->settings, &simulation, &again, error))
        return false;
    const struct simulation_unschedulable *misfit =
        find_misfit(asking, &simulation, simulation.unschedulable, simulation.unschedulable_count);
    const struct simulation_unschedulable *undecided =
        find_misfit(asking, &simulation, simulation.undecided, simulation.undecided_count);
    if (misfit != NULL || undecided != NULL) {
        if (asking->why->fit == WHY_FITS)
            take_misfit(asking, misfit != NULL ? misfit : undecided);
        return true;
    }
    for (size_t i = 0; i < simulation.pod_count; i++)
        if (text_equal(simulation.pods[i].namespace, wanted->namespace) &&
            text_equal(simulation.pods[i].name, wanted->name))
            take_place(asking, &simulation, i);
    return true;
}

/* ---- all ---- */

static bool lacks_room(const struct why_pod *why)
{
    for (size_t i = 0; i < why->cause_count; i++)
        if (strcmp(why->causes[i].kind, solver_reason_name(SOLVER_REASON_RESOURCES)) == 0)
            return true;
    return false;
}

static bool is_claim_at_hand(const struct asking *asking, const struct volume_claim *claim)
{
    const struct state_nodes *nodes = &asking->cluster.state_nodes;
    FOR_EACH(node, nodes)
        if (!node->leaving && volume_claim_fits(claim, node->labels))
            return true;
    return false;
}

/* No NodePool buys a node that has a volume already; empty: no volume is on a node. */
static struct text fix_of_hosts(const struct asking *asking)
{
    const struct cluster_pod *pod = asking->pod;
    struct text fix = TEXT("");
    for (size_t i = 0; i < pod->claim_count; i++) {
        if (!volume_claim_names_hosts(pod->claims[i]))
            continue;
        if (!is_claim_at_hand(asking, pod->claims[i]))
            return arena_printf(asking->arena,
                                pod->claims[i]->waits
                                    ? "make a volume for claim %s on a node that is there"
                                    : "make claim %s anew, if its data may go: no node that is "
                                      "there has its volume",
                                pod->claims[i]->id);
        fix = lacks_room(asking->why)
                  ? TEXT("make room on the node that has its volume: no NodePool buys that node")
                  : TEXT("let the node that has its volume take it: no NodePool buys that node");
    }
    return fix;
}

/* Of the nearest pool that something could be done about. */
static void find_fix(const struct asking *asking)
{
    struct why_pod *why = asking->why;
    if (why->fit != WHY_FITS_NOT)
        return;
    if (why->fix.size == 0)
        why->fix = fix_of_hosts(asking);
    if (asking->own_node.size > 0 && lacks_room(why))
        why->fix = TEXT("make room on its node: with a priorityClassName above theirs it pushes "
                        "other pods off");
    for (size_t i = 0; i < why->pool_count && why->fix.size == 0; i++)
        if (why->pools[i].fix.size > 0)
            why->fix = arena_printf(asking->arena, "NodePool %.*s: %.*s",
                                    TEXT_ARGS(why->pools[i].name), TEXT_ARGS(why->pools[i].fix));
    if (why->pool_count == 0)
        why->fix = TEXT("make a NodePool that takes it");
}

/* It takes no room, and counts for nothing, as if it were to be placed anew. */
static void take_off_node(struct asking *asking)
{
    asking->pod->phase = POD_WAITING;
    cluster_locate_volumes(&asking->cluster, asking->pod);
}

static bool ask(struct asking *asking, struct error *error)
{
    struct why_pod *why = asking->why;
    read_state(asking);
    if (asking->pod->phase == POD_PENDING)
        why->pending_beside = count_pending_beside(asking);
    if (asking->pod->phase == POD_RUNNING)
        take_off_node(asking);
    const struct pod_fault fault = asking->pod->fault;
    bool beside = why->pending_beside > 0; /* of no DaemonSet's pod: it is not pending */
    if (fault.message.size > 0 && !asking->pod->held_back) {
        take_fault(asking, &fault);
    } else {
        asking->pod->fault = (struct pod_fault){0};
        bool asked = ask_alone(asking, error);
        asking->pod->fault = fault; /* of one that is held back the plan decides */
        if (!asked || (beside && !ask_beside(asking, error)))
            return false;
    }
    if (has_place(why->state))
        why->fit = WHY_FITS;
    find_fix(asking);
    return true;
}

bool why_pod(const struct snapshot *snapshot, const struct catalog *catalog,
             const struct simulation_settings *settings, struct text namespace, struct text name,
             struct arena *arena, struct why_pod *why, struct problems *problems,
             struct error *error)
{
    struct asking asking = {
        .snapshot = snapshot, .catalog = catalog, .settings = settings, .arena = arena, .why = why};
    const struct object *stored = snapshot_find(snapshot, KIND_POD, namespace, name);
    *why = (struct why_pod){.namespace = namespace, .name = name, .catalog = catalog};
    if (stored != NULL && pod_is_done(stored)) {
        why->state = WHY_POD_DONE;
        why->node = node_string(node_at(stored->root->node, "spec.nodeName"));
        why->fit = WHY_FITS;
        return true;
    }
    cluster_read(snapshot, catalog, settings, arena, &asking.cluster, problems);
    asking.cluster.reserved = settings->reserved;
    for (size_t i = 0; i < asking.cluster.state_nodes.count; i++)
        state_node_describe(&asking.cluster, &asking.cluster.state_nodes.items[i]);
    asking.pod = find_pod(&asking.cluster.pods, namespace, name);
    if (asking.pod == NULL)
        return error_set(error, ERROR_INPUT, NOWHERE, "there is no Pod %.*s/%.*s%.*s",
                         TEXT_ARGS(namespace), TEXT_ARGS(name),
                         TEXT_ARGS(meant(&asking.cluster.pods, namespace, name, arena)));
    asking.own_node = node_meant(asking.pod);
    return ask(&asking, error);
}
