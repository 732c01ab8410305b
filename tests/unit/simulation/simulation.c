/* Simulations of whole clusters, round after round. */
#include "simulation_fixture.h"

const char unit_suite[] = "simulation";

#define CLAIMS_DEVICE(name, cpu, more) POD(name, cpu, ", resourceClaims: [{name: gpu}]" more)

static void pods_find_nodes(void)
{
    static const struct simulation_case cases[] = {
        {"nothing to do", {POOL, NODE("n1", "a", "4")}, "", 0, 0},
        {"a node has room",
         {POOL, NODE("n1", "a", "4"), POD("one", "1", "")},
         "node n1: one\n",
         0,
         0},
        {"one is bought", {POOL, POD("one", "1", "")}, "default small on-demand a 1: one\n", 0, 0},
        {"the pool's spot price is not for it",
         {POOL, POD("one", "4", "")},
         "default large on-demand a 1: one\n",
         0,
         0},
        {"too large for all",
         {POOL, POD("one", "1", ""), POD("huge", "64", "")},
         "default small on-demand a 1: one\nnowhere huge: resources\n",
         0,
         0},
        {"a container that claims a device",
         {POOL,
          "{apiVersion: v1, kind: Pod, metadata: {name: one}, spec: {containers: [{name: main, "
          "resources: {requests: {cpu: 1}, claims: [{name: gpu}]}}], resourceClaims: [{name: gpu, "
          "resourceClaimName: gpu}]}}",
          "{apiVersion: v1, kind: Pod, metadata: {name: two}, spec: {initContainers: [{name: init, "
          "resources: {requests: {cpu: 1}, claims: [{name: gpu}]}}]}}"},
         "nowhere one: devices\nnowhere two: devices\n",
         0,
         0},
        {"a container that claims a device, which a Node may have",
         {POOL, NODE("n1", "a", "4"), CLAIMS_DEVICE("big", "5", ""), CLAIMS_DEVICE("one", "1", ""),
          CLAIMS_DEVICE("three", "1",
                        ", affinity: {nodeAffinity: "
                        "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
                        "[{matchFields: [{key: metadata.name, operator: In, values: "
                        "[n2]}]}]}}}"),
          CLAIMS_DEVICE("two", "1", ", nodeSelector: {topology.kubernetes.io/zone: b}")},
         "nowhere big: devices\nnowhere three: devices\nnowhere two: devices\n"
         "undecided one: devices undecided\n",
         0,
         0},
        {"no pool at all", {POD("one", "1", "")}, "nowhere one: requirement\n", 0, 0},
        {"more shapes than pods, since DaemonSets have theirs, too",
         {POOL, WORKLOAD("DaemonSet", "agent", "replicas: 0", "100m", ""), POD("huge", "64", ""),
          POD("more", "65", "")},
         "nowhere huge: resources\nnowhere more: resources\n",
         0,
         0},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

static void nodes_and_pools_are_told_apart(void)
{
#define POOL_OF(name, spec, template)                                                           \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: {" spec    \
    "template: {" template "spec: {requirements: [{key: karpenter.sh/capacity-type, operator: " \
                           "In, values: "                                                       \
                           "[on-demand]}]}}}}"
    static const struct simulation_case cases[] = {
        {"a NodeClaim has the name of another's Node",
         {POOL, NODE("n1", "a", "2"), NODE("c1", "a", "2"),
          "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: c1}, status: {nodeName: "
          "n1}}",
          POD("one", "1500m", ""), POD("two", "1500m", "")},
         "node c1: one\nnode n1: two\n",
         0,
         0},
        {"a template that gives all nodes one hostname",
         {POOL_OF("default", "", "metadata: {labels: {kubernetes.io/hostname: x}}, "),
          POD("one", "1", "")},
         "default small on-demand a 1: one\n",
         0,
         0},
        {"the NodePool of more weight goes first",
         {POOL_OF("a", "weight: 1, ", ""), POOL_OF("b", "weight: 2, ", ""), POD("one", "1", "")},
         "b small on-demand a 1: one\n",
         0,
         0},
        {"a NodePool with a weight that there cannot be is left out",
         {POOL_OF("a", "weight: -1, ", ""), POOL_OF("b", "weight: 1, ", ""), POD("one", "1", "")},
         "b small on-demand a 1: one\n",
         0,
         1},
        {"or with one that is too large",
         {POOL_OF("a", "weight: 3000000000, ", ""), POOL_OF("b", "weight: 1, ", ""),
          POD("one", "1", "")},
         "b small on-demand a 1: one\n",
         0,
         1},
        {"the label of the node class is the class's, whatever the template says",
         {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}, spec: "
          "{template: {metadata: {labels: {karpenter.k8s.aws/ec2nodeclass: other}}, spec: "
          "{nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: main}, "
          "requirements: []}}}}",
          POD("one", "1", ""),
          POD("two", "100m", ", nodeSelector: {karpenter.k8s.aws/ec2nodeclass: main}")},
         "default small on-demand a 1: one two\n",
         0,
         0},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

static void nodes_are_where_their_class_has_subnets(void)
{
    static const struct simulation_case cases[] = {
        {"subnets that say their zone",
         {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}, spec: "
          "{template: "
          "{spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: main}, "
          "requirements: [{key: karpenter.sh/capacity-type, operator: In, values: "
          "[on-demand]}]}}}}",
          "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: main}, status: "
          "{subnets: [{id: subnet-1}, {zone: c}]}}",
          POD("one", "1", "")},
         "default small on-demand c 1: one\n",
         0,
         0},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

static void pods_of_a_node_that_is_leaving_need_another(void)
{
#define LEAVING_NODE                                                        \
    "{apiVersion: v1, kind: Node, metadata: {name: n1, deletionTimestamp: " \
    "'2026-01-01T00:00:00Z'}, status: {allocatable: {cpu: 8, memory: 8Gi, pods: 9}}}"
    static const struct simulation_case cases[] = {
        {"not those of the node itself",
         {POOL, LEAVING_NODE, POD("one", "1", ", nodeName: n1"),
          "{apiVersion: v1, kind: Pod, metadata: {name: static-n1, annotations: "
          "{kubernetes.io/config.mirror: x}}, spec: " POD_SPEC("1", ", nodeName: n1") "}"},
         "default small on-demand a 1: one\n",
         0,
         0},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

static void budgets_keep_pods_on_a_node_that_is_leaving(void)
{
#define BUDGET(name, spec)                                                            \
    "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: " name "}, " \
    "spec: {selector: {matchLabels: {app: web}}, " spec "}, status: {disruptionsAllowed: 0}}"
#define WEB(metadata, spec, status)                                                 \
    "{apiVersion: v1, kind: Pod, metadata: {name: one, labels: {app: web}" metadata \
    "}, spec: " POD_SPEC("1", ", nodeName: n1" spec) ", status: {" status "}}"
#define MOVED "default small on-demand a 1: one\n"
    static const struct simulation_case cases[] = {
        {"none may ever be missing",
         {POOL, LEAVING_NODE, BUDGET("a", "maxUnavailable: 0"), WEB("", "", "")},
         "",
         0,
         0},
        {"no percent of them",
         {POOL, LEAVING_NODE, BUDGET("a", "maxUnavailable: 0%"), WEB("", "", "")},
         "",
         0,
         0},
        {"all must be there",
         {POOL, LEAVING_NODE, BUDGET("a", "minAvailable: 100%"), WEB("", "", "")},
         "",
         0,
         0},
        {"as many as there are now",
         {POOL, LEAVING_NODE, BUDGET("a", "minAvailable: 1"), WEB("", "", "")},
         MOVED,
         0,
         0},
        {"two budgets, which no eviction passes",
         {POOL, LEAVING_NODE, BUDGET("a", "minAvailable: 1"), BUDGET("b", "minAvailable: 1"),
          WEB("", "", "")},
         "",
         0,
         0},
        {"one that spares pods that are not ready",
         {POOL, LEAVING_NODE,
          BUDGET("a", "maxUnavailable: 0, unhealthyPodEvictionPolicy: AlwaysAllow"),
          WEB("", "", "conditions: [{type: Ready, status: 'False'}]")},
         MOVED,
         0,
         0},
        {"a pod that nobody evicts",
         {POOL, LEAVING_NODE, BUDGET("a", "maxUnavailable: 0"),
          WEB("", ", tolerations: [{key: karpenter.sh/disrupted, operator: Exists}]", "")},
         MOVED,
         0,
         0},
        {"a pod that is being deleted and comes back",
         {POOL, LEAVING_NODE, BUDGET("a", "maxUnavailable: 0"),
          WEB(", annotations: {karpenter.sh/do-not-disrupt: 'true'}, deletionTimestamp: "
              "'2026-11-21T00:00:00Z', ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, "
              "name: db, controller: true}]",
              "", "")},
         MOVED,
         0,
         0},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

static void selectors_and_labels_are_the_pods_own(void)
{
#define SPREAD_BY(selector)                                                                 \
    ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, " \
    "whenUnsatisfiable: DoNotSchedule, labelSelector: " selector "}]"
#define BESIDE_NONE                                                                     \
    ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{" \
    "topologyKey: kubernetes.io/hostname, matchLabelKeys: [app]}]}}"
#define WITH_PORT(name, number)                                                         \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name                                \
    "}, spec: {containers: [{name: main, resources: {requests: {cpu: 100m}}, ports: [{" \
    "containerPort: 80, hostPort: " number "}]}]}}"
#define WITH_SIDECAR_PORT(name, policy, more)                                                \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name "}, spec: {containers: [{name: "    \
    "main, resources: {requests: {cpu: 100m}}}], initContainers: [{name: proxy, "            \
    "restartPolicy: " policy ", ports: [{containerPort: 7000, hostPort: 7000}]}, {name: b, " \
    "restartPolicy: " policy ", ports: [{containerPort: 80}]}]" more "}}"
#define SKEW(number)                                                                 \
    ", topologySpreadConstraints: [{maxSkew: " number                                \
    ", topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, " \
    "labelSelector: " OTHERS "}]"
#define WISH(weight, expression)                                                             \
    ", affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [" RATHER( \
        weight, expression) "]}}"
#define WISHES(weight_of_b, weight_of_c)                                                     \
    ", affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [" RATHER( \
        weight_of_b, IN_ZONE "[b]") ", " RATHER(weight_of_c, IN_ZONE "[c]") "]}}"
#define IN_ZONE "topology.kubernetes.io/zone, operator: In, values: "
#define RATHER(weight, expression) \
    "{" weight "preference: {matchExpressions: [{key: " expression "}]}}"
#define OTHERS "{matchExpressions: [{key: app, operator: NotIn, values: [none]}]}"
#define OF_RUNTIME ", runtimeClassName: gvisor"
#define LABELLED_ALIKE(name, more)                                               \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: " name "}, spec: " \
    "{replicas: 1, template: {metadata: {labels: {app: x}}, spec: " POD_SPEC("1", more) "}}}"
#define TAINTED_POOL                                                                   \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}, spec: {" \
    "template: {spec: {taints: [{key: a, effect: NoSchedule}], requirements: []}}}}"
    static const struct simulation_case cases[] = {
        {"all but some",
         {POOL, POD("one", "100m", SPREAD_BY(OTHERS)), POD("two", "100m", SPREAD_BY(OTHERS))},
         "default small on-demand a 1: one\ndefault small on-demand b 1: two\n",
         0,
         0},
        {"a selector of null selects nobody",
         {POOL, POD("one", "100m", SPREAD_BY("null")), POD("two", "100m", SPREAD_BY("null"))},
         "default small on-demand a 1: one two\n",
         0,
         0},
        {"a label of the template stays as it is",
         {POOL,
          "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, "
          "template: {metadata: {labels: {pod-template-hash: own}}, spec: {containers: [{name: "
          "main, "
          "resources: {requests: {cpu: 100m}}}], affinity: {podAntiAffinity: "
          "{requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, "
          "labelSelector: {matchLabels: {pod-template-hash: own}}}]}}}}}}"},
         "default small on-demand a 1: web-0\ndefault small on-demand a 1: web-1\n",
         0,
         0},
        {"terms by fields are told once",
         {POOL, NODE("n1", "a", "4"),
          POD("one", "1",
              ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
              "{nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: "
              "[n8]}]}, "
              "{matchFields: [{key: metadata.name, operator: In, values: [n9]}]}]}}}")},
         "nowhere one: requirement\n",
         0,
         0},
        {"labels of a node that runs",
         {POOL,
          POD("one", "1", ", nodeSelector: {kubernetes.io/hostname: n1, karpenter.sh/team: a}")},
         "nowhere one: requirement\n",
         0,
         0},
        {"pods of two workloads would have one name",
         {POOL, WORKLOAD("Deployment", "web", "replicas: 0", "1", ""),
          WORKLOAD("ReplicaSet", "web", "replicas: 1", "1", ""),
          WORKLOAD("Deployment", "web-replicasets", "replicas: 1", "1", "")},
         "default small on-demand a 1: web-replicasets-0\nnowhere web-replicasets-0: resources\n",
         0,
         0},
        {"keys of labels add nothing to a selector that is not there: it selects nobody",
         {POOL, POD("one", "100m", BESIDE_NONE), POD("two", "100m", BESIDE_NONE)},
         "default small on-demand a 1: one two\n",
         0,
         0},
        {"what a RuntimeClass tolerates is not seen",
         {TAINTED_POOL, WORKLOAD("Deployment", "web", "replicas: 1", "1", OF_RUNTIME)},
         "undecided web-0: taint undecided\n",
         0,
         0},
        {"it is of no use to pods that are written alike without it",
         {TAINTED_POOL, LABELLED_ALIKE("aa", ""), LABELLED_ALIKE("bb", OF_RUNTIME),
          LABELLED_ALIKE("cc", "")},
         "nowhere aa-0: taint\nnowhere cc-0: taint\nundecided bb-0: taint undecided\n",
         0,
         0},
        {"whichever comes first",
         {TAINTED_POOL, LABELLED_ALIKE("aa", OF_RUNTIME), LABELLED_ALIKE("bb", "")},
         "nowhere bb-0: taint\nundecided aa-0: taint undecided\n",
         0,
         0},
        {"it does not make a pod smaller",
         {TAINTED_POOL, WORKLOAD("Deployment", "web", "replicas: 1", "100", OF_RUNTIME)},
         "nowhere web-0: taint\n",
         0,
         0},
        {"and a Pod has them",
         {TAINTED_POOL, POD("one", "1", OF_RUNTIME)},
         "nowhere one: taint\n",
         0,
         0},
        {"a Node may take it, too",
         {"{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {taints: [{key: a, effect: "
          "NoSchedule}]}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}}",
          WORKLOAD("Deployment", "web", "replicas: 1", "1", OF_RUNTIME)},
         "undecided web-0: taint requirement undecided\n",
         0,
         0},
        {"a port that there cannot be is taken by nobody",
         {POOL, WITH_PORT("one", "70000"), WITH_PORT("two", "70000")},
         "default small on-demand a 1: one two\n",
         0,
         0},
        {"a port is taken by one",
         {POOL, WITH_PORT("one", "7000"), WITH_PORT("two", "7000")},
         "default small on-demand a 1: one\ndefault small on-demand a 1: two\n",
         0,
         0},
        {"a port of a sidecar is taken, too, which Karpenter does not see",
         {POOL, WITH_SIDECAR_PORT("one", "Always", ""), WITH_SIDECAR_PORT("two", "Always", "")},
         "default small on-demand a 1: one\nnowhere two: port\n",
         0,
         0},
        {"kube-scheduler finds the node where it is free",
         {POOL, NODE("n1", "a", "4"), NODE("n2", "a", "4"),
          WITH_SIDECAR_PORT("old", "Always", ", nodeName: n1"), WITH_PORT("one", "7000"),
          WITH_PORT("two", "7000")},
         "node n1: old!\nnode n2: one\nnowhere two: port\n",
         0,
         0},
        {"what Karpenter expects there, kube-scheduler gives to others, and then it expects no "
         "more",
         {POOL, NODE("n1", "a", "4"), WITH_SIDECAR_PORT("old", "Always", ", nodeName: n1"),
          "{apiVersion: v1, kind: Pod, metadata: {name: one}, spec: {containers: [{name: main, "
          "resources: {requests: {cpu: 200m}}, ports: [{containerPort: 80, hostPort: 7000}, "
          "{containerPort: 81, hostPort: 8000}]}]}}",
          WITH_PORT("two", "8000")},
         "node n1: old! two\ndefault small on-demand a 1: one\n",
         0,
         0},
        {"where Karpenter expects one it expects no other",
         {POOL, NODE("n1", "a", "4"), WITH_SIDECAR_PORT("old", "Always", ", nodeName: n1"),
          WITH_PORT("one", "7000"), WITH_PORT("three", "7000"), WITH_PORT("two", "7000")},
         "node n1: old!\ndefault small on-demand a 1: three\ndefault small on-demand a 1: two\n"
         "nowhere one: port\n",
         0,
         0},
        {"with hostNetwork any port of it is",
         {POOL, NODE("n1", "a", "4"),
          WITH_SIDECAR_PORT("old", "Always", ", nodeName: n1, hostNetwork: true"),
          WITH_PORT("one", "80")},
         "node n1: old!\nnowhere one: port\n",
         0,
         0},
        {"not of an init container that ends",
         {POOL, WITH_SIDECAR_PORT("one", "''", ""), WITH_SIDECAR_PORT("two", "''", "")},
         "default small on-demand a 1: one two\n",
         0,
         0},
        {"of wishes the heaviest counts",
         {POOL, POD("one", "100m", WISHES("weight: 2, ", "weight: 1, "))},
         "default small on-demand b 1: one\n",
         0,
         0},
        {"a wish without a weight weighs nothing",
         {POOL, POD("one", "100m", WISHES("", "weight: 1, "))},
         "default small on-demand c 1: one\n",
         0,
         0},
        {"nor does one of less than nothing",
         {POOL, POD("one", "100m", WISHES("weight: -1, ", "weight: 1, "))},
         "default small on-demand c 1: one\n",
         0,
         0},
        {"nor one that cannot be counted",
         {POOL, POD("one", "100m", WISHES("weight: 3000000000, ", "weight: 1, "))},
         "default small on-demand c 1: one\n",
         0,
         0},
        {"a selector without a key",
         {POOL, POD("one", "100m", SPREAD_BY("{matchExpressions: [{operator: Exists}]}"))},
         "",
         0,
         1},
        {"a skew that cannot be counted", {POOL, POD("one", "100m", SKEW("3000000000"))}, "", 0, 1},
        {"a wish that cannot be understood",
         {POOL, POD("one", "100m", WISH("weight: 1, ", "a, operator: Likes"))},
         "",
         0,
         1},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

/* Karpenter gives a node a value for each label that its NodePool leaves open: the least number
 * that will do. A pod that nothing is bought for finds the node by it in the next round. */
static void labels_of_what_is_bought_have_values(void)
{
#define POOL_REQUIRING(expressions)                                                              \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}, spec: "            \
    "{template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: " \
    "[on-demand]}, " expressions "]}}}}"
#define FOLLOWS(expression)                                                                 \
    POD("two", "100m",                                                                      \
        ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "      \
        "{nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: " \
        "Exists}, " expression "]}]}}}")
#define ROW "key: example.com/row, operator: "
#define HALL "key: example.com/hall, operator: "
    static const struct simulation_case cases[] = {
        {"more than",
         {POOL_REQUIRING("{" ROW "Gt, values: ['3']}"), POD("one", "1", ""),
          FOLLOWS("{" ROW "In, values: ['4']}")},
         "default small on-demand a 1: one two\n",
         0,
         0},
        {"less than",
         {POOL_REQUIRING("{" ROW "Lt, values: ['3']}"), POD("one", "1", ""),
          FOLLOWS("{" ROW "In, values: ['0']}")},
         "default small on-demand a 1: one two\n",
         0,
         0},
        {"more than less than nothing",
         {POOL_REQUIRING("{" ROW "Gt, values: ['-5']}"), POD("one", "1", ""),
          FOLLOWS("{" ROW "In, values: ['0']}")},
         "default small on-demand a 1: one two\n",
         0,
         0},
        {"anything but",
         {POOL_REQUIRING("{" ROW "NotIn, values: ['1', '0']}"), POD("one", "1", ""),
          FOLLOWS("{" ROW "In, values: ['2']}")},
         "default small on-demand a 1: one two\n",
         0,
         0},
        {"nothing between",
         {POOL_REQUIRING("{" ROW "Gt, values: ['3']}, {" ROW "Lt, values: ['5']}, {" ROW
                         "NotIn, values: ['4']}"),
          POD("one", "1", ""), FOLLOWS("{" ROW "DoesNotExist}")},
         "default small on-demand a 1: one two\n",
         0,
         0},
        {"none",
         {POOL_REQUIRING("{" HALL "DoesNotExist}"), POD("one", "1", ""),
          FOLLOWS("{" HALL "DoesNotExist}")},
         "default small on-demand a 1: one two\n",
         0,
         0},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

#define POOL_WITH(more) \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}, " more "}"
#define READY(status) "status: {conditions: [{type: Ready, status: '" status "'}]}"
#define OF_A_LIMIT                                                           \
    "spec: {limits: {cpu: 4}, template: {spec: {requirements: [{key: "       \
    "karpenter.sh/capacity-type, operator: In, values: [on-demand]}, {key: " \
    "node.kubernetes.io/instance-type, operator: In, values: [small]}]}}}"

static void pools_count_when_they_can_buy(void)
{
    static const struct simulation_case cases[] = {
        {"not ready",
         {POOL_WITH(READY("False")), POD("one", "1", "")},
         "nowhere one: not-ready\n",
         0,
         0},
        {"not known to be ready",
         {POOL_WITH(READY("Unknown")), POD("one", "1", "")},
         "nowhere one: not-ready\n",
         0,
         0},
        {"static",
         {POOL_WITH("spec: {replicas: 3}"), POD("one", "1", "")},
         "nowhere one: not-ready\n",
         0,
         0},
        {"being deleted",
         {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default, "
          "deletionTimestamp: '2026-11-21T00:00:00Z'}}",
          POD("one", "1", "")},
         "nowhere one: not-ready\n",
         0,
         0},
        {"not ready, and it would not take the pod",
         {POOL_WITH(READY("False")), POD("one", "1", ", nodeSelector: {a: b}")},
         "nowhere one: requirement\n",
         0,
         0},
        {"not ready beside one that is full, which says why first",
         {POOL_WITH(READY("False")),
          "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: other}}",
          POD("one", "9", "")},
         "nowhere one: resources not-ready\n",
         0,
         0},
        {"ready, and at spot prices",
         {POOL_WITH(READY("True")), POD("one", "4", "")},
         "default large spot a 1: one\n",
         0,
         0},
        {"of equal pods the oldest is first, and one that was never stored the youngest",
         {POOL_WITH(OF_A_LIMIT), POD("a", "1500m", ""),
          "{apiVersion: v1, kind: Pod, metadata: {name: b, creationTimestamp: "
          "'2026-11-20T00:00:00Z'}, spec: " POD_SPEC("1500m", "") "}",
          "{apiVersion: v1, kind: Pod, metadata: {name: c, creationTimestamp: "
          "'2026-11-19T00:00:00Z'}, spec: " POD_SPEC("1500m", "") "}"},
         "default small on-demand a 1: c\ndefault small on-demand a 1: b\nnowhere a: limit\n",
         0,
         0},
        {"two of three fit its limit: bought nodes count in every round",
         {POOL_WITH(OF_A_LIMIT), WORKLOAD("Deployment", "web", "replicas: 3", "1500m", "")},
         "default small on-demand a 1: web-0\n"
         "default small on-demand a 1: web-1\n"
         "nowhere web-2: limit\n",
         0,
         0},
        {"nodes of the pool that are there count, too",
         {POOL_WITH(OF_A_LIMIT), WORKLOAD("Deployment", "web", "replicas: 3", "1500m", ""),
          "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {karpenter.sh/nodepool: "
          "default}}, status: {capacity: {cpu: 2, pods: 9}, allocatable: {cpu: 1, pods: 9}}}"},
         "default small on-demand a 1: web-0\n"
         "nowhere web-1: resources limit\nnowhere web-2: resources limit\n",
         0,
         0},
        {"the zones of the class's subnets",
         {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}, spec: "
          "{template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: "
          "c}}}}}",
          "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: c}, status: "
          "{subnets: [{id: s, zone: c}]}}",
          POD("one", "1", "")},
         "default small on-demand c 1: one\n",
         0,
         0},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

#define LEAVING(zone)                                                                    \
    "{apiVersion: v1, kind: Node, metadata: {name: n1, deletionTimestamp: "              \
    "'2026-11-21T00:00:00Z', labels: {topology.kubernetes.io/zone: " zone "}}, status: " \
    "{allocatable: {cpu: 4, pods: 9}}}"
#define HELD                                                                               \
    "{apiVersion: v1, kind: Pod, metadata: {name: held, labels: {app: web}, annotations: " \
    "{karpenter.sh/do-not-disrupt: 'true'}}, spec: " POD_SPEC("1", ", nodeName: n1") "}"

static void machines_are_seen_as_they_are(void)
{
#define CLAIMED(status, startup)                                                                   \
    "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: claimed, labels: {"           \
    "karpenter.sh/nodepool: default, topology.kubernetes.io/zone: a}}, spec: {startupTaints: "     \
    "[" startup "]}, status: {" status "capacity: {cpu: 4, pods: 9}, allocatable: {cpu: 4, pods: " \
    "9}}}"
#define TAINTED(labels, taints)                                          \
    "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {" labels \
    "}}, spec: {taints: [" taints "]}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}}"
#define NOT_READY "{key: node.kubernetes.io/not-ready, effect: NoSchedule}"
#define STARTING "karpenter.sh/nodepool: default, karpenter.sh/registered: 'true'"
    static const struct simulation_case cases[] = {
        {"a NodeClaim whose Node has not come up",
         {POOL, CLAIMED("", ""), POD("one", "1", "")},
         "node claimed: one\n",
         0,
         0},
        {"a NodeClaim that is not launched yet holds nothing",
         {POOL, "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: claimed}}",
          POD("one", "1", "")},
         "default small on-demand a 1: one\n",
         0,
         0},
        {"one whose Node is there",
         {POOL, CLAIMED("nodeName: n1, ", ""), NODE("n1", "a", "4"), POD("one", "1", "")},
         "node n1: one\n",
         0,
         0},
        {"taints that go while it starts, and the pool's own",
         {POOL, CLAIMED("nodeName: n1, ", "{key: cni, effect: NoSchedule}"),
          TAINTED(STARTING, NOT_READY ", {key: cni, effect: NoSchedule}"), POD("one", "1", "")},
         "node n1: one\n",
         0,
         0},
        {"once initialized they stay",
         {POOL, CLAIMED("nodeName: n1, ", "{key: cni, effect: NoSchedule}"),
          TAINTED(STARTING ", karpenter.sh/initialized: 'true'", NOT_READY), POD("one", "1", "")},
         "default small on-demand a 1: one\n",
         0,
         0},
        {"not Karpenter's: they stay",
         {POOL, TAINTED("", NOT_READY), POD("one", "1", "")},
         "default small on-demand a 1: one\n",
         0,
         0},
        {"cordoned",
         {POOL,
          "{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {unschedulable: true}, status: "
          "{allocatable: {cpu: 4, pods: 9}}}",
          POD("one", "1", "")},
         "default small on-demand a 1: one\n",
         0,
         0},
        {"going: its pods need a new place, but for its daemons",
         {POOL,
          "{apiVersion: v1, kind: Node, metadata: {name: n1, deletionTimestamp: "
          "'2026-11-21T00:00:00Z'}, status: {allocatable: {cpu: 4, pods: 9}}}",
          POD("one", "1", ", nodeName: n1"),
          "{apiVersion: v1, kind: Pod, metadata: {name: agent, ownerReferences: [{apiVersion: "
          "apps/v1, kind: DaemonSet, name: agent, controller: true}]}, spec: " POD_SPEC(
              "1", ", nodeName: n1") "}"},
         "default small on-demand a 1: one\n",
         0,
         0},
        {"being replaced: its pods move to the NodeClaim that was made for them",
         {POOL, CLAIMED("", ""),
          TAINTED(STARTING ", karpenter.sh/initialized: 'true'",
                  "{key: karpenter.sh/disrupted, effect: NoSchedule}"),
          "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: old}, status: "
          "{nodeName: n1}}",
          POD("runs", "3", ", nodeName: n1"), POD("one", "1500m", "")},
         "node claimed: runs\ndefault small on-demand a 1: one\n",
         0,
         0},
        {"full",
         {POOL, NODE("n1", "a", "2"), POD("old", "1500m", ", nodeName: n1"), POD("one", "1", "")},
         "node n1: old!\ndefault small on-demand a 1: one\n",
         0,
         0},
        {"of its pods that are going themselves only a set's come back",
         {POOL,
          "{apiVersion: v1, kind: Node, metadata: {name: n1, deletionTimestamp: "
          "'2026-11-21T00:00:00Z'}, status: {allocatable: {cpu: 4, pods: 9}}}",
          "{apiVersion: v1, kind: Pod, metadata: {name: gone, deletionTimestamp: "
          "'2026-11-21T00:00:00Z'}, spec: " POD_SPEC("1", ", nodeName: n1") "}",
          "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {replicas: 1}}",
          "{apiVersion: v1, kind: Pod, metadata: {name: db-0, deletionTimestamp: "
          "'2026-11-21T00:00:00Z', ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, "
          "name: db, controller: true}]}, spec: " POD_SPEC("1", ", nodeName: n1") "}"},
         "default small on-demand a 1: db-0\n",
         0,
         0},
        {"and none that must not be disturbed",
         {POOL,
          "{apiVersion: v1, kind: Node, metadata: {name: n1, deletionTimestamp: "
          "'2026-11-21T00:00:00Z'}, status: {allocatable: {cpu: 4, pods: 9}}}",
          "{apiVersion: v1, kind: Pod, metadata: {name: held, annotations: "
          "{karpenter.sh/do-not-disrupt: 'true'}}, spec: " POD_SPEC("1", ", nodeName: n1") "}",
          "{apiVersion: v1, kind: Pod, metadata: {name: free, annotations: "
          "{karpenter.sh/do-not-disrupt: 'false'}}, spec: " POD_SPEC("1", ", nodeName: n1") "}"},
         "default small on-demand a 1: free\n",
         0,
         0},
        {"for a time, which nobody knows here, does not count",
         {POOL, LEAVING("a"),
          "{apiVersion: v1, kind: Pod, metadata: {name: timed, annotations: "
          "{karpenter.sh/do-not-disrupt: 1h}}, spec: " POD_SPEC(
              "1", ", nodeName: n1") ", status: {startTime: '2026-01-01T00:00:00Z'}}"},
         "default small on-demand a 1: timed\n",
         0,
         0},
        {"one that must not be still keeps others out of its zone",
         {POOL, LEAVING("a"), HELD,
          WORKLOAD("Deployment", "web", "replicas: 1", "1", ANTI("topology.kubernetes.io/zone"))},
         "default small on-demand b 1: web-0\n",
         0,
         0},
        {"while one that finds a place elsewhere does not",
         {POOL, LEAVING("a"),
          "{apiVersion: v1, kind: Pod, metadata: {name: free, labels: {app: web}}, spec: " POD_SPEC(
              "1", ", nodeName: n1, nodeSelector: {topology.kubernetes.io/zone: b}") "}",
          WORKLOAD("Deployment", "web", "replicas: 1", "1", ANTI("topology.kubernetes.io/zone"))},
         "default small on-demand a 1: web-0\ndefault small on-demand b 1: free\n",
         0,
         0},
        {"a zone only such a Node has is none to spread over",
         {POOL, LEAVING("z"),
          WORKLOAD("Deployment", "web", "replicas: 4", "1500m",
                   SPREAD("topology.kubernetes.io/zone"))},
         "default large on-demand a 1: web-0 web-3\ndefault small on-demand b 1: web-1\n"
         "default small on-demand c 1: web-2\n",
         0,
         0},
        {"until a pod stays there: then the others may not go two ahead of it",
         {POOL, LEAVING("z"), HELD,
          WORKLOAD("Deployment", "web", "replicas: 7", "1500m",
                   SPREAD("topology.kubernetes.io/zone"))},
         "default large on-demand a 1: web-0 web-3\ndefault large on-demand b 1: web-1 web-4\n"
         "default large on-demand c 1: web-2 web-5\nnowhere web-6: topology\n",
         0,
         0},
        {"a file that says no more than its type",
         {POOL,
          "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: "
          "{node.kubernetes.io/instance-type: small}}}",
          POD("one", "1900m", ""), POD("two", "1", "")},
         "node n1: one\ndefault small on-demand a 1: two\n",
         0,
         0},
        {"a pod that is going keeps nobody apart",
         {POOL, NODE("n1", "a", "1"),
          "{apiVersion: v1, kind: Pod, metadata: {name: old, labels: {app: web}, "
          "deletionTimestamp: '2026-11-21T00:00:00Z'}, spec: " POD_SPEC("1", ", nodeName: n1") "}",
          WORKLOAD("Deployment", "web", "replicas: 1", "1", ANTI("topology.kubernetes.io/zone"))},
         "node n1: old!\ndefault small on-demand a 1: web-0\n",
         0,
         0},
        {"one that stays does",
         {POOL, NODE("n1", "a", "1"),
          "{apiVersion: v1, kind: Pod, metadata: {name: old, labels: {app: web}}, spec: " POD_SPEC(
              "1", ", nodeName: n1") "}",
          WORKLOAD("Deployment", "web", "replicas: 1", "1", ANTI("topology.kubernetes.io/zone"))},
         "node n1: old!\ndefault small on-demand b 1: web-0\n",
         0,
         0},
        {"a pod that is going still takes its room",
         {POOL, NODE("n1", "a", "2"),
          "{apiVersion: v1, kind: Pod, metadata: {name: old, deletionTimestamp: "
          "'2026-11-21T00:00:00Z'}, spec: " POD_SPEC("1500m", ", nodeName: n1") "}",
          POD("one", "1", "")},
         "node n1: old!\ndefault small on-demand a 1: one\n",
         0,
         0},
        {"room that a DaemonSet will want",
         {POOL, NODE("n1", "a", "2"),
          "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent}, spec: {template: {spec: "
          "{containers: [{name: main, resources: {requests: {cpu: 500m}}}]}}}}",
          POD("one", "1600m", ""), POD("two", "1400m", "")},
         "node n1: two\ndefault large on-demand a 1: one\n",
         0,
         0},
        {"room that its pod has already",
         {POOL, NODE("n1", "a", "2"),
          "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent}, spec: {template: {spec: "
          "{containers: [{name: main, resources: {requests: {cpu: 500m}}}]}}}}",
          "{apiVersion: v1, kind: Pod, metadata: {name: agent-1, ownerReferences: [{apiVersion: "
          "apps/v1, kind: DaemonSet, name: agent, controller: true}]}, spec: " POD_SPEC(
              "500m", ", nodeName: n1") "}",
          POD("two", "1400m", "")},
         "node n1: agent-1! two\n",
         0,
         0},
        {"no more volumes than its driver attaches",
         {POOL, NODE("n1", "a", "4"),
          "{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1}, spec: {drivers: "
          "[{name: ebs.csi.aws.com, nodeID: i, allocatable: {count: 1}}]}}",
          CLASS("gp3", "WaitForFirstConsumer", ""), CLAIM("d1", "{storageClassName: gp3}"),
          CLAIM("d2", "{storageClassName: gp3}"), POD("one", "1", MOUNTS("d1")),
          POD("two", "1", MOUNTS("d2"))},
         "node n1: one\ndefault small on-demand a 1: two\n",
         0,
         0},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

static void rounds_follow_each_other(void)
{
    static const struct simulation_case cases[] = {
        {"zone anti-affinity places one replica a round",
         {POOL,
          WORKLOAD("Deployment", "web", "replicas: 3", "1", ANTI("topology.kubernetes.io/zone"))},
         "default small on-demand a 1: web-0\n"
         "default small on-demand b 2: web-1\n"
         "default small on-demand c 3: web-2\n",
         0,
         0},
        {"no more than were asked for",
         {POOL,
          WORKLOAD("Deployment", "web", "replicas: 3", "1", ANTI("topology.kubernetes.io/zone"))},
         "default small on-demand a 1: web-0\n"
         "default small on-demand b 2: web-1\n"
         "nowhere web-2: topology\n",
         2,
         0},
        {"a fourth zone there is not",
         {POOL,
          WORKLOAD("Deployment", "web", "replicas: 4", "1", ANTI("topology.kubernetes.io/zone"))},
         "default small on-demand a 1: web-0\n"
         "default small on-demand b 2: web-1\n"
         "default small on-demand c 3: web-2\n"
         "nowhere web-3: topology\n",
         0,
         0},
        {"a spread over zones takes one round",
         {POOL,
          WORKLOAD("Deployment", "web", "replicas: 3", "1", SPREAD("topology.kubernetes.io/zone"))},
         "default small on-demand a 1: web-0\n"
         "default small on-demand b 1: web-1\n"
         "default small on-demand c 1: web-2\n",
         0,
         0},
        {"what was bought has its pool's taints",
         {POOL_WITH("spec: {template: {spec: {taints: [{key: t, effect: NoSchedule}], "
                    "requirements: [{key: karpenter.sh/capacity-type, operator: In, values: "
                    "[on-demand]}]}}}"),
          POD("one", "1", ", tolerations: [{operator: Exists}]"), POD("two", "500m", "")},
         "default small on-demand a 1: one\nnowhere two: taint\n",
         0,
         0},
        {"rounds are in order, wherever they went",
         {POOL,
          "{apiVersion: v1, kind: Pod, metadata: {name: one, labels: {app: web}}, spec: " POD_SPEC(
              "7", ANTI("topology.kubernetes.io/zone") ", nodeSelector: "
                                                       "{topology.kubernetes.io/zone: c}") "}",
          WORKLOAD("Deployment", "web", "replicas: 2", "6", ANTI("topology.kubernetes.io/zone"))},
         "default large on-demand a 1: web-0\n"
         "default large on-demand c 1: one\n"
         "default large on-demand b 2: web-1\n",
         0,
         0},
        {"a label that may have any value becomes one of a node",
         {POOL_WITH("spec: {template: {spec: {requirements: [{key: example.com/rack, operator: "
                    "Exists}, {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}"
                    "]}}}"),
          WORKLOAD("Deployment", "web", "replicas: 2", "1", ANTI("topology.kubernetes.io/zone"))},
         "default small on-demand a 1: web-0\ndefault small on-demand b 2: web-1\n",
         0,
         0},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

const struct unit_test unit_tests[] = {
    {"pods find nodes", pods_find_nodes},
    {"Nodes and NodePools are told apart", nodes_and_pools_are_told_apart},
    {"selectors and labels are the pods' own", selectors_and_labels_are_the_pods_own},
    {"nodes are where their class has subnets", nodes_are_where_their_class_has_subnets},
    {"pods of a node that is leaving need another", pods_of_a_node_that_is_leaving_need_another},
    {"budgets keep pods on a node that is leaving", budgets_keep_pods_on_a_node_that_is_leaving},
    {"labels of what is bought have values", labels_of_what_is_bought_have_values},
    {"pools count when they can buy", pools_count_when_they_can_buy},
    {"machines are seen as they are", machines_are_seen_as_they_are},
    {"rounds follow each other", rounds_follow_each_other},
    {NULL, NULL},
};
