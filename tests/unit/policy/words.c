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

static const struct {
    const char *rails, *cluster, *object, *message, *fix;
} cases[] = {
    {"placeable: {mode: enforce}", POOL("a") POOL("b"),
     POD("nodeSelector: {rack: r1}, containers: [{name: m}]"),
     "no NodePool or Node could ever run it: NodePools a, b: asks for rack r1 (the NodePool gives "
     "its nodes no such label)",
     "ask for what some NodePool has; taffrail plan shows what would be bought"},
    {"placeable: {mode: enforce}", POOL("a") POOL("b") POOL("c") POOL("d"),
     POD("nodeSelector: {rack: r1}, containers: [{name: m}]"),
     "no NodePool or Node could ever run it: NodePools a, b, c and 1 more: asks for rack r1 (the "
     "NodePool gives its nodes no such label)",
     "ask for what some NodePool has; taffrail plan shows what would be bought"},
    {"placeable: {mode: enforce}", POOL("a"),
     POD("containers: [{name: m, resources: {requests: {example.com/odd: 1}}}]"),
     "no NodePool or Node could ever run it: asks for example.com/odd, which no instance type and "
     "no Node has",
     "ask for what some NodePool has; taffrail plan shows what would be bought"},
    {"node-labels: {}", POOL("a"), SELECTS("kubernetes.io/arch: x86_64"),
     "found \"x86_64\"; allowed amd64, arm64", "Use amd64."},
    {"node-labels: {}", POOL("a"), SELECTS("kubernetes.io/arch: mips"),
     "found \"mips\"; allowed amd64, arm64", "use one of the allowed values"},
    {"node-labels: {}", POOL("a"), SELECTS("topology.kubernetes.io/zone: us-east-1f"),
     "found \"us-east-1f\", a zone that no visible Node, NodePool or EC2NodeClass names; allowed "
     "eu-west-1a",
     "name a zone of this cluster"},
    {"node-labels: {}", POOL("a"), SELECTS("intent: training"),
     "found \"training\", a value of intent that no NodePool or Node carries; allowed apps",
     "select an allowed value, or add it to a NodePool under spec.template.metadata.labels"},
    {"node-labels: {}", POOL("a"), SELECTS("karpenter.k8s.aws/instance-category: m5"),
     "found \"m5\", which no node has as karpenter.k8s.aws/instance-category",
     "name it under karpenter.k8s.aws/instance-family"},
    {"node-labels: {allow: {intent: [web]}}", POOL("a"), SELECTS("intent: training"),
     "found \"training\"; allowed web", "select an allowed value, or leave the label out"},
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
