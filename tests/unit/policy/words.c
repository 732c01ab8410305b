/* What the rails on workloads say: the sentence and the fix of a finding, as people read them. */
#include "rail_table.h"

#define POD(spec) "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {" spec "}}"
#define SELECTS(labels) POD("nodeSelector: {" labels "}")
#define POOL(name)                                                                          \
    "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: " \
    "{template: {metadata: {labels: {intent: apps}}, spec: {nodeClassRef: {group: "         \
    "karpenter.k8s.aws, kind: EC2NodeClass, name: d}, requirements: [{key: "                \
    "karpenter.k8s.aws/instance-family, operator: In, values: [m5]}, {key: "                \
    "topology.kubernetes.io/zone, operator: In, values: [eu-west-1a]}]}}}}\n"

#define NODE                                                                                      \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: node-1}, status: {allocatable: {cpu: 4, " \
    "memory: 8Gi, pods: 9}}}\n"

static const struct {
    const char *rails, *cluster, *object, *message, *fix;
} cases[] = {
    {"placeable: {mode: enforce}", POOL("a") POOL("b") NODE,
     POD("nodeSelector: {rack: r1}, containers: [{name: m}]"),
     "No NodePool and no Node can run this pod. NodePools a, b: the pod asks for rack r1 (the "
     "NodePool gives its nodes no such label); the only node lacks rack r1. Select what NodePool a "
     "has, or change its requirements or labels.",
     "Select what NodePool a has, or change its requirements or labels."},
    {"placeable: {mode: enforce}", POOL("a") POOL("b") POOL("c") POOL("d") NODE,
     POD("nodeSelector: {rack: r1}, containers: [{name: m}]"),
     "No NodePool and no Node can run this pod. NodePools a, b, c and 1 more: the pod asks for "
     "rack r1 (the NodePool gives its nodes no such label); the only node lacks rack r1. Select "
     "what NodePool a has, or change its requirements or labels.",
     "Select what NodePool a has, or change its requirements or labels."},
    {"placeable: {mode: enforce}", POOL("a") NODE,
     POD("containers: [{name: m, resources: {requests: {example.com/odd: 1}}}]"),
     "No NodePool and no Node can run this pod. The pod asks for example.com/odd, which no "
     "instance type and no Node has. Remove the request, or add nodes that have it.",
     "Remove the request, or add nodes that have it."},
    {"node-labels: {}", POOL("a"), SELECTS("kubernetes.io/arch: x86_64"),
     "No node has kubernetes.io/arch=x86_64, so these pods would stay Pending. Use amd64.",
     "Use amd64."},
    {"node-labels: {}", POOL("a"), SELECTS("kubernetes.io/arch: mips"),
     "No node has kubernetes.io/arch=mips, so these pods would stay Pending. Use amd64 or arm64.",
     "Use amd64 or arm64."},
    {"node-labels: {}", POOL("a"), SELECTS("topology.kubernetes.io/zone: us-east-1f"),
     "This cluster has no zone us-east-1f, so these pods would stay Pending. Use eu-west-1a.",
     "Use eu-west-1a."},
    {"node-labels: {}", POOL("a") NODE, SELECTS("intent: training"),
     "No NodePool and no Node has intent=training, so these pods would stay Pending. Select apps, "
     "or write intent: training under spec.template.metadata.labels of a NodePool.",
     "Select apps, or write intent: training under spec.template.metadata.labels of a NodePool."},
    {"node-labels: {}", POOL("a"), SELECTS("karpenter.k8s.aws/instance-category: m5"),
     "No node has karpenter.k8s.aws/instance-category=m5, so these pods would stay Pending. Write "
     "karpenter.k8s.aws/instance-family: m5.",
     "Write karpenter.k8s.aws/instance-family: m5."},
    {"node-labels: {allow: {intent: [web]}}", POOL("a"), SELECTS("intent: training"),
     "intent=training is not granted here. Select web, or leave the label out.",
     "Select web, or leave the label out."},
    {"tolerations: {allow: []}", "", POD("tolerations: [{key: team, operator: Exists, value: x}]"),
     "The policy does not grant the toleration of team. Remove the toleration, or ask "
     "for it to be granted.",
     "Remove the toleration, or ask for it to be granted."},
    {"disruption-opt-out: {}", "",
     "{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: {karpenter.sh/do-not-disrupt: "
     "'true'}}, spec: {}}",
     "The pod keeps its node from being replaced while it runs. That is not granted here. Remove "
     "it; a PodDisruptionBudget keeps enough replicas while nodes are replaced.",
     "Remove it; a PodDisruptionBudget keeps enough replicas while nodes are replaced."},
};

static void findings_read_well(void)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        struct world world = rail_table_world(cases[i].rails, cases[i].cluster, arena);
        struct rail_documents documents = rail_table_read(cases[i].object, arena);
        struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        CU_ASSERT_EQUAL_FATAL(verdict.finding_count, 1);
        ASSERT_TEXT(verdict.findings[0].message, cases[i].message);
        ASSERT_TEXT(verdict.findings[0].fix, cases[i].fix);
        arena_destroy(arena);
    }
}

const char unit_suite[] = "policy words";
const struct unit_test unit_tests[] = {
    {"findings read well", findings_read_well},
    {NULL, NULL},
};
