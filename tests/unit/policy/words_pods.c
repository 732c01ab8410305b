/* What the rails on pods, and on the budgets of pods, say: the sentence and the fix. */
#include "rail_modes.h"

#define POD(spec) "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {" spec "}}"
#define DEPLOYMENT(replicas, template)                                                        \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {replicas: " replicas \
    ", selector: {matchLabels: {app: d}}, template: {metadata: {labels: {app: d}}, spec: "    \
    "{" template "}}}}\n"
#define CONTAINER(resources) "containers: [{name: main, resources: {" resources "}}]"

static void requests(void)
{
    static const struct rail_words required[] = {
        {POD(CONTAINER("requests: {memory: 1Gi}")),
         "The cpu request of container \"main\" is missing, so nodes are chosen as if it needed "
         "none.",
         "Set resources.requests.cpu to what the container needs."},
        {POD("initContainers: [{name: first, restartPolicy: Always}], " CONTAINER(
             "requests: {memory: 1Gi, cpu: 1}")),
         "The cpu request of init container \"first\" is missing, so nodes are chosen as if it "
         "needed none.",
         "Set resources.requests.cpu to what the container needs."},
        {POD(CONTAINER("requests: {memory: 1Gi, cpu: '0'}")),
         "The cpu request of container \"main\" is missing, so nodes are chosen as if it needed "
         "none.",
         "Set resources.requests.cpu to what the container needs."},
        {POD(CONTAINER("requests: {memory: 1Gi, cpu: many}")),
         "\"many\" is no quantity, so the API server refuses it.",
         "Write a number with a unit, as in 250m, 2, 512Mi or 4Gi."},
        {POD(CONTAINER("requests: {memory: 1Gi, cpu: 1}, limits: {example.com/a: x}")),
         "\"x\" is no quantity, so the API server refuses it.",
         "Write a number with a unit, as in 250m, 2, 512Mi or 4Gi."},
    };
    rail_words_run("resource-requests: {}", NULL, required, COUNT_OF(required));
    static const struct rail_words ceilings[] = {
        {POD(CONTAINER("requests: {cpu: 5}")),
         "The cpu request of container \"main\" is 5, above the ceiling of 4.",
         "Ask for at most 4, or split the work over more pods."},
        {POD(CONTAINER("limits: {cpu: 4001m}")),
         "The cpu limit of container \"main\" is 4001m, above the ceiling of 4.",
         "Ask for at most 4, or split the work over more pods."},
        {POD(CONTAINER("requests: {memory: 9Gi}")),
         "The memory request of container \"main\" is 9Gi, above the ceiling of 8Gi.",
         "Ask for at most 8Gi, or split the work over more pods."},
        {POD(CONTAINER("requests: {memory: 1Gi}, limits: {memory: 8193Mi}")),
         "The memory limit of container \"main\" is 8193Mi, above the ceiling of 8Gi.",
         "Ask for at most 8Gi, or split the work over more pods."},
    };
    rail_words_run("resource-requests: {require: [], max: {cpu: 4, memory: 8Gi}}", NULL, ceilings,
                   COUNT_OF(ceilings));
    static const struct rail_words ranges[] = {
        {DEPLOYMENT("1", CONTAINER("")),
         "The cpu request of container \"main\" is 6 (by LimitRange usual), above the ceiling of "
         "4.",
         "Ask for at most 4, or split the work over more pods."},
    };
    rail_words_run("resource-requests: {require: [], max: {cpu: 4, memory: 8Gi}}",
                   "{apiVersion: v1, kind: LimitRange, metadata: {name: usual}, spec: {limits: "
                   "[{type: Container, defaultRequest: {cpu: 6}}]}}",
                   ranges, COUNT_OF(ranges));
    static const struct rail_words limits[] = {
        {POD(CONTAINER("requests: {memory: 1Gi}, limits: {memory: 2Gi}")),
         "The memory limit of container \"main\" is 2Gi, and its request is 1Gi.",
         "Set resources.requests.memory to 2Gi, too."},
        {POD(CONTAINER("requests: {memory: 1Gi}")),
         "The memory limit of container \"main\" is missing, so it may take what others need.",
         "Set resources.limits.memory to 1Gi."},
    };
    rail_words_run("resource-requests: {require: [], memoryLimitEqualsRequest: true}", NULL, limits,
                   COUNT_OF(limits));
}

static void tolerations(void)
{
    static const struct rail_words open[] = {
        {POD("tolerations: [{operator: Exists, effect: NoExecute}]"),
         "The pod tolerates every NoExecute taint for ever. It stays on a node that is "
         "unreachable, and is not replaced.",
         "Set tolerationSeconds: 300, or name the key of the taint that the pod must "
         "tolerate."},
    };
    rail_words_run("tolerations: {}", NULL, open, COUNT_OF(open));
    static const struct rail_words rows[] = {
        {POD("tolerations: [{operator: Exists}]"),
         "The pod tolerates every taint. It may start on nodes that are kept for others "
         "or that Karpenter empties (karpenter.sh/disrupted).",
         "Name the key of the taint that the pod must tolerate."},
        {POD("tolerations: [{operator: Exists, effect: NoExecute}]"),
         "The pod tolerates every NoExecute taint. It may start on nodes that are kept for "
         "others, and stay on one that is unreachable.",
         "Name the key of the taint that the pod must tolerate."},
        {POD("tolerations: [{key: team, value: ml, effect: NoSchedule}]"),
         "The policy does not grant the toleration of team=ml:NoSchedule.",
         "Remove the toleration, or ask for it to be granted."},
        {POD("tolerations: [{key: team, operator: Exists}]"),
         "The policy does not grant the toleration of team.",
         "Write value: web instead of operator: Exists (team=web is granted)."},
        {POD("tolerations: [{key: batch, operator: Exists, effect: NoExecute}]"),
         "The policy does not grant the toleration of batch:NoExecute.",
         "Remove the toleration, or ask for it to be granted."},
    };
    rail_words_run("tolerations: {allow: [spot, 'team=web', 'batch:NoSchedule']}", NULL, rows,
                   COUNT_OF(rows));
}

#define SPREADS(key)                                                                     \
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: " key ", whenUnsatisfiable: " \
    "DoNotSchedule, labelSelector: {matchLabels: {app: d}}}]"
#define NODE_POOL                                                                             \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: "    \
    "{metadata: {labels: {rack: r1}}, spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: " \
    "EC2NodeClass, name: c}}}}}\n"
#define NODE \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: node-1, labels: {example.com/row: x}}}\n"

static void topology_keys(void)
{
    static const struct rail_words rows[] = {
        {DEPLOYMENT("2", SPREADS("zone")),
         "Nodes have no label \"zone\", so these pods would stay Pending.",
         "Use topology.kubernetes.io/zone."},
        {DEPLOYMENT("2", SPREADS("topology.kubernetes.io/zonr")),
         "Nodes have no label \"topology.kubernetes.io/zonr\", so these pods would stay Pending.",
         "Use topology.kubernetes.io/zone."},
        {DEPLOYMENT("2", SPREADS("example.com/row")),
         "Only existing Nodes have the label \"example.com/row\". A new node will not have it.",
         "Add the label to a NodePool, under spec.template.metadata.labels."},
        {DEPLOYMENT("2", SPREADS("example.com/cage")),
         "No NodePool gives its nodes the label \"example.com/cage\", so these pods would stay "
         "Pending.",
         "Use an allowed key, or add the label to a NodePool under spec.template.metadata.labels."},
    };
    rail_words_run("topology-keys: {}", NODE_POOL NODE, rows, COUNT_OF(rows));
    static const struct rail_words unseen[] = {
        {DEPLOYMENT("2", SPREADS("example.com/cage")),
         "No NodePool is visible that could give nodes the label \"example.com/cage\".",
         "Make the NodePools visible (--state DIR), or use an allowed key."},
    };
    rail_words_run("topology-keys: {}", NULL, unseen, 1);
    static const struct rail_words few[] = {
        {DEPLOYMENT("2", SPREADS("topology.kubernetes.io/region")),
         "The policy does not allow the key topology.kubernetes.io/region here.",
         "Use a key that the policy allows: topology.kubernetes.io/zone."},
        {DEPLOYMENT("2", SPREADS("rack")), "The policy does not allow the key rack here.",
         "Use a key that the policy allows: topology.kubernetes.io/zone."},
    };
    rail_words_run("topology-keys: {allow: [topology.kubernetes.io/zone], fromNodePools: false}",
                   NODE_POOL, few, COUNT_OF(few));
    static const struct rail_words selectors[] = {
        {DEPLOYMENT("2", "topologySpreadConstraints: [{maxSkew: 1, topologyKey: "
                         "topology.kubernetes.io/zone}]"),
         "The spread has no labelSelector, so it counts no pod.",
         "Select labels of the pod template."},
        {DEPLOYMENT("2", "topologySpreadConstraints: [{maxSkew: 1, topologyKey: "
                         "topology.kubernetes.io/zone, labelSelector: {}}]"),
         "The spread's labelSelector is empty, and with that kube-scheduler counts no pod.",
         "Select labels of the pod template."},
        {DEPLOYMENT("2", "topologySpreadConstraints: [{maxSkew: 1, topologyKey: "
                         "topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: e}}}]"),
         "The spread's labelSelector does not select the pod's own labels, so its replicas do not "
         "count.",
         "Select labels of the pod template."},
    };
    rail_words_run("topology-keys: {selfMatch: true}", NODE_POOL, selectors, COUNT_OF(selectors));
}

static void schedulers(void)
{
    static const struct rail_words rows[] = {
        {POD("nodeName: node-1"),
         "The pod names its node \"node-1\", so no scheduler looks whether it fits there. "
         "When the node is replaced, the pod gets no other.",
         "Remove nodeName, and select nodes by their labels."},
        {POD("schedulerName: default-schedular"),
         "The policy lists no scheduler \"default-schedular\". If none of that name runs, "
         "the pod stays Pending without an event.",
         "Use default-scheduler."},
        {POD("schedulerName: volcano"),
         "The policy lists no scheduler \"volcano\". If none of that name runs, the pod "
         "stays Pending without an event.",
         "Name it under schedulers in the policy if it runs, or remove schedulerName."},
    };
    rail_words_run("scheduler-bypass: {}", NULL, rows, COUNT_OF(rows));
}

static void zone_spread(void)
{
    static const struct rail_words rows[] = {
        {DEPLOYMENT("3", ""), "Nothing spreads the replicas over zones, so they may all be in one.",
         "Add to spec.template.spec.topologySpreadConstraints: [{maxSkew: 1, topologyKey: "
         "topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: "
         "{matchLabels: {app: d}}}]."},
        {DEPLOYMENT("3",
                    "topologySpreadConstraints: [{topologyKey: topology.kubernetes.io/zone, "
                    "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}}]"),
         "The spread over zones does not select the pod's own labels, so its replicas do not "
         "count.",
         "Set labelSelector: {matchLabels: {app: d}}."},
        {DEPLOYMENT("3", "topologySpreadConstraints: [{topologyKey: topology.kubernetes.io/zone, "
                         "whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]"),
         "The spread over zones has an empty labelSelector, and with that kube-scheduler counts no "
         "pod.",
         "Set labelSelector: {matchLabels: {app: d}}."},
    };
    rail_words_run("zone-spread: {}", NULL, rows, COUNT_OF(rows));
    static const struct rail_words strict[] = {
        {DEPLOYMENT("3", ""), "Nothing spreads the replicas over zones, so they may all be in one.",
         "Add to spec.template.spec.topologySpreadConstraints: [{maxSkew: 1, topologyKey: "
         "topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: "
         "{matchLabels: {app: d}}}]."}};
    rail_words_run("zone-spread: {whenUnsatisfiable: DoNotSchedule}", NULL, strict, 1);
}

#define ANNOTATED(annotations) \
    "{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: {" annotations "}}, spec: {}}"
#define KEEP "karpenter.sh/do-not-disrupt"

static void opting_out(void)
{
    static const struct rail_words rows[] = {
        {ANNOTATED(KEEP ": 'true'"),
         "The pod keeps its node from being replaced while it runs. At most 2h is granted here.",
         "Set it to \"2h\" or less, with Karpenter 1.12 or newer, or remove it."},
        {ANNOTATED(KEEP ": 3h"),
         "The pod keeps its node from being replaced for 3h. At most 2h is granted here.",
         "Set it to \"2h\" or less, with Karpenter 1.12 or newer, or remove it."},
        {ANNOTATED(KEEP ": 'yes'"),
         "karpenter.sh/do-not-disrupt \"yes\" does nothing. Karpenter reads \"true\" or a "
         "duration.",
         "Set it to \"2h\" or less, with Karpenter 1.12 or newer, or remove it."},
        {ANNOTATED("karpenter.sh/do-not-evict: 'true'"),
         "Karpenter no longer reads karpenter.sh/do-not-evict.", "Remove it."},
        {ANNOTATED("karpenter.sh/do-not-consolidate: 'true'"),
         "Karpenter no longer reads karpenter.sh/do-not-consolidate.", "Remove it."},
        {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, annotations: {" KEEP
         ": 'true'}}, spec: {template: {spec: {}}}}",
         "karpenter.sh/do-not-disrupt does nothing on a Deployment, since Karpenter reads it on "
         "pods.",
         "Remove it, or, where it is granted, put it under spec.template.metadata.annotations."},
    };
    rail_words_run("disruption-opt-out: {maxDuration: 2h}", NULL, rows, COUNT_OF(rows));
    static const struct rail_words granted[] = {
        {ANNOTATED("karpenter.sh/do-not-evict: 'true'"),
         "Karpenter no longer reads karpenter.sh/do-not-evict.",
         "Write karpenter.sh/do-not-disrupt instead."},
        {ANNOTATED(KEEP ": 'yes'"),
         "karpenter.sh/do-not-disrupt \"yes\" does nothing. Karpenter reads \"true\" or a "
         "duration.",
         "Remove it; a PodDisruptionBudget keeps enough replicas while nodes are replaced."},
    };
    rail_words_run("disruption-opt-out: {allowNamespaces: [default]}", NULL, granted,
                   COUNT_OF(granted));
}

#define BUDGET(name, spec)                                                                   \
    "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: " name "}, spec: {" \
    "selector: {matchLabels: {app: d}}, " spec "}}\n"
#define JOB                                                                                    \
    "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {metadata: " \
    "{labels: {app: d}}, spec: {}}}}\n"
#define POD_OF_D \
    "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {app: d}}, spec: {}}\n"
#define STATEFUL_SET                                                                          \
    "---\n{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {replicas: 2, " \
    "template: {metadata: {labels: {app: d}}, spec: {}}}}\n"

static void pod_budgets(void)
{
    static const struct rail_words rows[] = {
        {BUDGET("b", "minAvailable: 3"),
         "3 must stay and Deployment d has 3, so none may ever be evicted.",
         "Write maxUnavailable: 1 instead, and run two replicas or more where one must always "
         "run."},
        {BUDGET("b", "minAvailable: 67%"),
         "3 must stay and Deployment d has 3, so none may ever be evicted.",
         "Write maxUnavailable: 1 instead, and run two replicas or more where one must always "
         "run."},
        {BUDGET("b", "minAvailable: 100%"),
         "With minAvailable 100% no pod may ever be evicted, so their nodes are never replaced.",
         "Write maxUnavailable: 1 instead, and run two replicas or more where one must always "
         "run."},
        {BUDGET("b", "maxUnavailable: 0"),
         "With maxUnavailable 0 no pod may ever be evicted, so their nodes are never replaced.",
         "Set maxUnavailable: 1, and run two replicas or more where one must always run."},
        {BUDGET("b", "maxUnavailable: 0%"),
         "With maxUnavailable 0% no pod may ever be evicted, so their nodes are never replaced.",
         "Set maxUnavailable: 1, and run two replicas or more where one must always run."},
    };
    rail_words_run("pod-disruption-budgets: {}", DEPLOYMENT("3", ""), rows, COUNT_OF(rows));
    static const struct rail_words two[] = {
        {BUDGET("b", "minAvailable: 5"),
         "5 must stay and Deployment d and 1 more have 5, so none may ever be evicted.",
         "Write maxUnavailable: 1 instead, and run two replicas or more where one must always "
         "run."}};
    rail_words_run("pod-disruption-budgets: {}", DEPLOYMENT("3", "") STATEFUL_SET, two, 1);
    static const struct rail_words unseen[] = {
        {BUDGET("b", "minAvailable: 1"),
         "No visible workload says how many pods there are, so whether 1 of them leave any to "
         "evict is not known.",
         "Check it together with its workload (-f), or use --state DIR."},
    };
    rail_words_run("pod-disruption-budgets: {}", NULL, unseen, 1);
    static const struct rail_words of_job[] = {
        {BUDGET("b", "maxUnavailable: 1"),
         "Job j says no number of replicas, so the budget never allows a disruption.",
         "Write minAvailable instead, less than the number of these pods, or select none of them."},
        {BUDGET("b", "minAvailable: 50%"),
         "Job j says no number of replicas, so the budget never allows a disruption.",
         "Write minAvailable as a number, less than that of these pods, or select none of them."},
    };
    rail_words_run("pod-disruption-budgets: {}", JOB, of_job, COUNT_OF(of_job));
    static const struct rail_words again[] = {
        {BUDGET("b", "maxUnavailable: 1"),
         "PodDisruptionBudgets b and other select the same pods. Kubernetes evicts no pod that two "
         "budgets cover.",
         "Delete one."}};
    rail_words_run("pod-disruption-budgets: {}", BUDGET("other", "maxUnavailable: 1"), again, 1);
    rail_words_run("pod-disruption-budgets: {}",
                   BUDGET("other", "maxUnavailable: 1") "---\n" DEPLOYMENT("3", ""),
                   &(struct rail_words){BUDGET("b", "maxUnavailable: 1"),
                                        "PodDisruptionBudgets b and other select the pods of "
                                        "Deployment d. Kubernetes evicts no pod that two budgets "
                                        "cover.",
                                        "Delete one."},
                   1);
    rail_words_run("pod-disruption-budgets: {}", BUDGET("other", "maxUnavailable: 1") POD_OF_D,
                   &(struct rail_words){BUDGET("b", "minAvailable: 0"),
                                        "PodDisruptionBudgets b and other select Pod p. Kubernetes "
                                        "evicts no pod that two budgets cover.",
                                        "Delete one."},
                   1);
}

/* Who can see no NodePool and no Node is told what helps there. */
static void placeable(void)
{
    static const struct {
        bool blind, of_cluster;
        kind_set unseen;
        const char *fix;
    } cases[] = {
        {true, false, 0, "Make the NodePools and Nodes visible (--state DIR)."},
        {false, false, 0,
         "Create a NodePool, or add a Node. If --state leaves out some, add their files."},
        {false, true, 0, "Create a NodePool, or add a Node."},
        {false, true, KIND_BIT(KIND_NODE_POOL), "Let Taffrail list the NodePools of the cluster."},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("placeable: {}", NULL, arena);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world.blind = cases[i].blind;
        world.of_cluster = cases[i].of_cluster;
        world.unseen = cases[i].unseen;
        const struct rail_words words = {POD("containers: [{name: m}]"),
                                         "No NodePool and no Node is visible that could run it.",
                                         cases[i].fix};
        rail_words_run_in(&world, &words, 1, arena);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "policy words: pods";
const struct unit_test unit_tests[] = {
    {"requests", requests},     {"tolerations", tolerations}, {"topology keys", topology_keys},
    {"schedulers", schedulers}, {"zone spread", zone_spread}, {"opting out", opting_out},
    {"placeable", placeable},   {"pod budgets", pod_budgets}, {NULL, NULL},
};
