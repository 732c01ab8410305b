/* The rail placeable: some NodePool or Node can run the pod. */
#include "policy/rails/placeable.h"
#include "kube/pod.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "kube/volume.h"
#include "pinning/pin.h"
#include "policy/policy_set.h"
#include "policy/rails/accelerators.h"
#include "policy/reading.h"
#include "simulation/supply.h"

static const struct key keys[] = {{0}};

static bool is_placed(const struct workload *workload)
{
    return node_string(node_get(workload->spec->node, "nodeName")).size > 0;
}

/* Whether a term of its node affinity lets the pod onto Fargate. */
static bool may_be_on_fargate(const struct node_selection *selection)
{
    for (size_t i = 0; i < selection->required.count; i++) {
        const struct expressions *term = &selection->required.items[i].expressions;
        FOR_EACH(expression, term)
            if (text_is(expression->key, LABEL_COMPUTE_TYPE) && expression->op == SOLVER_IN &&
                expression_names(expression, TEXT("fargate")))
                return true;
    }
    return false;
}

/* ---- what is asked ---- */

/* With the zones of volumes that are somewhere already, or will be. */
static void ask(const struct placing *placing, struct supply_answer *answer)
{
    const struct world *world = placing->call->world;
    const struct workload *workload = &placing->workload;
    struct arena *arena = placing->call->arena;
    const struct claim_names *names = call_claims(placing->call, workload);
    struct zones *volumes = ARENA_ARRAY(arena, names->count, struct zones);
    size_t count = 0;
    for (size_t i = 0; i < names->count; i++) {
        struct claim_zones claim;
        claim_zones_read(world->snapshot, workload->object->namespace,
                         node_string(names->items[i]->node), NULL, arena, &claim);
        if (claim.hold >= CLAIM_UNBOUND && !claim.any_zone && claim.zones.count > 0)
            volumes[count++] = claim.zones;
    }
    const struct supply_question question = {
        .workload = workload,
        .scheduling = {placing->selection, &placing->tolerations,
                       call_topology(placing->call, workload)},
        .volumes = volumes,
        .volume_count = count,
        .extended_resource_toleration = placing->call->policy->extended_resource_toleration,
    };
    supply_ask(world->supply, world->snapshot, &question, arena, answer);
}

/* ---- what is decided ---- */

static bool is_blind(const struct world *world)
{
    bool nothing_there = snapshot_pool_count(world->snapshot) == 0 &&
                         snapshot_count(world->snapshot, KIND_NODE) == 0;
    return nothing_there || !world_sees(world, KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_NODE));
}

static struct text advice_of_blind(const struct rail_call *call)
{
    const struct world *world = call->world;
    if (world->of_cluster || world->blind)
        return advice_to_show(call, KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_NODE), "");
    return TEXT("Create a NodePool, or add a Node. If --state leaves out some, add their files.");
}

static void report_blind(const struct placing *placing)
{
    report(placing->call, SEVERITY_UNDECIDED, placing->workload.spec,
           advice_of_blind(placing->call), "No NodePool and no Node is visible that could run it.");
}

/* Nodes of node groups may run it, or NodePools that come with the cluster. */
static void report_unseen(const struct placing *placing, bool built_in)
{
    report(placing->call, SEVERITY_UNDECIDED, placing->workload.spec,
           built_in ? TEXT("Make the NodePools of the cluster visible, too: kubectl get nodepools "
                           "-o yaml.")
                    : advice_to_show(placing->call, KIND_BIT(KIND_NODE), ""),
           built_in
               ? "No visible NodePool can run it, and those that EKS Auto Mode brings along are "
                 "not visible."
               : "No visible NodePool can run it, and Nodes are not visible.");
}

/* The files are of several clusters, and the NodePool of another one may run it. */
static bool report_twice(const struct placing *placing, const struct supply_answer *answer)
{
    for (size_t i = 0; i < answer->reason_count; i++) {
        struct text name = answer->reasons[i].node_pool;
        if (!answer->reasons[i].selected ||
            !snapshot_has_pool_twice(placing->call->world->snapshot, name))
            continue;
        report(placing->call, SEVERITY_UNDECIDED, placing->workload.spec,
               TEXT("Judge the objects of each cluster by themselves."),
               "NodePool %.*s stands in the files twice, and the other one may suit these pods.",
               TEXT_ARGS(name));
        return true;
    }
    return false;
}

/* Whether taints alone keep it out which its RuntimeClass may let it tolerate. */
static bool runtime_may_open(const struct placing *placing)
{
    struct placing open = *placing;
    struct supply_answer answer;
    if (!workload_may_get_tolerations(&placing->workload))
        return false;
    *LIST_PUSH(placing->call->arena, &open.tolerations) = (struct toleration){.op = TEXT("Exists")};
    ask(&open, &answer);
    return answer.kind != SUPPLY_NOWHERE;
}

static void judge_pod(const struct placing *placing)
{
    struct supply_answer answer;
    if (is_blind(placing->call->world)) {
        if (!placeable_report_size(placing))
            report_blind(placing);
        return;
    }
    ask(placing, &answer);
    if (answer.kind != SUPPLY_NOWHERE || may_be_on_fargate(placing->selection) ||
        placeable_is_template(placing) || (placeable_labels_tell(placing) && !answer.no_machine) ||
        runtime_may_open(placing))
        return;
    const struct expression *elsewhere = placeable_elsewhere(placing);
    bool built_in = elsewhere == NULL && placeable_may_be_built_in(placing);
    bool unseen = built_in || (placing->nodes_unseen && !placeable_is_for_pools(placing));
    if (elsewhere != NULL && !answer.no_machine)
        placeable_report_elsewhere(placing, elsewhere);
    else if (!unseen || answer.no_machine) {
        if (!report_twice(placing, &answer))
            placeable_report_nowhere(placing, &answer);
    } else if (!placeable_report_size(placing))
        report_unseen(placing, built_in);
}

static void judge(struct rail_call *call)
{
    const struct world *world = call->world;
    struct placing placing = {
        .call = call,
        .nodes_unseen = snapshot_count(world->snapshot, KIND_NODE) == 0 ||
                        !world_sees(world, KIND_BIT(KIND_NODE)),
    };
    const struct workload *workload = &placing.workload;
    if (!call_workload(call, &placing.workload) || is_placed(workload) ||
        pod_is_on_fargate(node_get(workload->metadata->node, "labels"), workload->spec->node) ||
        node_count(node_get(workload->spec->node, "containers")) == 0)
        return;
    placing.selection = call_selection(call, workload);
    placing.tolerations = call_tolerations(call, workload);
    accelerators_foresee_tolerations(call, call_resources(call, workload), &placing.tolerations);
    if (call->object->kind == KIND_DAEMON_SET)
        placeable_judge_daemon_set(&placing);
    else if (!is_of_daemon_set(call))
        judge_pod(&placing);
}

const struct rail rail_placeable = {
    .name = "placeable",
    .summary = "pods that some NodePool or Node could run",
    .detail =
        "A pod that fits nowhere waits for ever, and Karpenter's event says why only after it is "
        "there. The rail asks the solver, for each workload, whether some NodePool could launch a "
        "type that holds it, or some Node could, were it empty: by its requests and those of "
        "DaemonSets, nodeSelector and required node affinity, tolerations, host ports, and the "
        "zones of its volumes. When none could, it names the nearest NodePools with the reason and "
        "the nearest miss. While no Node is visible, node groups may have what NodePools lack: "
        "then "
        "it decides only pods that are meant for visible NodePools, because they select what only "
        "these give their nodes or tolerate a taint of theirs, and pods that no instance type is "
        "large enough for: none that instance-types of the same policy allows, or none at all. EKS "
        "Auto Mode's own NodePools are no part of files, and count as if they were there. A label "
        "that nobody offers is left to node-labels where the policy has it.\n\n"
        "A DaemonSet is found when no instance type is large enough for it, and when it leaves no "
        "room on any type of a NodePool that it runs on: Karpenter then buys nothing there.\n\n"
        "Limits, what runs already and other pods (affinity, spread) do not count: they change. "
        "Local disk does not count where the node class is not visible. Left alone are pods that "
        "ask for devices by resourceClaims, or by a resource that nothing has but a DeviceClass, "
        "those that Fargate runs, those whose selector is a template still, and those that lack "
        "nothing but tolerations which their RuntimeClass may add when the Pod is created. What "
        "selects nodes that NodePools do not make (eks.amazonaws.com/"
        "nodegroup, karpenter.sh/nodepool DoesNotExist) cannot be decided while no such Node is "
        "visible. A NodePool of another cloud, one that is not ready, one with a fixed number "
        "of nodes and one whose types the catalogue knows by name alone are given the benefit of "
        "the doubt. How the cluster is set counts: Karpenter by "
        "spec.karpenter of the policy (minValues that it may give up, reserved capacity that it "
        "does not buy), and the tolerations of extended resources that the API server adds, unless "
        "the policy says extendedResourceToleration: false.\n\n"
        "Node groups at zero and other autoscalers are not visible, so the rail only warns unless "
        "the policy gives it a mode of its own.",
    .example = "placeable:\n"
               "  mode: enforce\n",
    .kinds = KINDS_WORKLOADS,
    .sources = KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_NODE),
    .sources_of = KINDS_WORKLOADS,
    .only_warns = true,
    .asks_supply = true,
    .keys = keys,
    .settings_size = 1,
    .judge = judge,
};
