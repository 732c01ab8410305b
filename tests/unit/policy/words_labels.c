/* What the rail node-labels says: the sentence and the fix, label by label. */
#include "rail_modes.h"

#define AWS "karpenter.k8s.aws/instance-"
#define POD(spec) "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {" spec "}}"
#define SELECTS(labels) POD("nodeSelector: {" labels "}")
#define REQUIRES(expressions)                                                        \
    POD("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: " \
        "{nodeSelectorTerms: [{matchExpressions: [" expressions "]}]}}}")
#define IN(key, values) "{key: " key ", operator: In, values: [" values "]}"
#define POOL(name, labels, requirements)                                                    \
    "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: " \
    "{template: {metadata: {labels: {" labels "}}, spec: {nodeClassRef: {group: "           \
    "karpenter.k8s.aws, kind: EC2NodeClass, name: d}, requirements: [" requirements "]}}}}\n"
#define ZONES IN("topology.kubernetes.io/zone", "eu-west-1a, eu-west-1b")
#define NODE                                                                         \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: node-1, labels: {rack: r1, " \
    "kubernetes.io/hostname: host-1, karpenter.sh/nodepool: old}}}\n"
#define CLUSTER \
    POOL("one", "team: web", ZONES) POOL("two", "team: shop, example.com/tier: gold", ZONES) NODE

static void keys(void)
{
    static const struct rail_words rows[] = {
        /* old names that work, and names that never did */
        {SELECTS("beta.kubernetes.io/arch: amd64"),
         "found \"beta.kubernetes.io/arch\", an old name of a label", "Use kubernetes.io/arch."},
        {SELECTS("zone: eu-west-1a"), "found \"zone\", a label that no node carries",
         "Use topology.kubernetes.io/zone."},
        {SELECTS("node.kubernetes.io/arch: amd64"),
         "found \"node.kubernetes.io/arch\", a label that no node carries",
         "Use kubernetes.io/arch."},
        {REQUIRES("{key: zone, operator: Exists}"), "found \"zone\", a label that no node carries",
         "Use topology.kubernetes.io/zone."},
        /* others put them on nodes */
        {SELECTS("eks.amazonaws.com/nodegroup: blue"),
         "found \"eks.amazonaws.com/nodegroup\", which no visible Node carries; others than "
         "NodePools put it on nodes",
         "if nodes will carry it, name the label under allow"},
        {SELECTS("feature.node.kubernetes.io/cpu: x"),
         "found \"feature.node.kubernetes.io/cpu\", which no visible Node carries; others than "
         "NodePools put it on nodes",
         "if nodes will carry it, name the label under allow"},
        {SELECTS("alpha.eksctl.io/cluster-name: x"),
         "found \"alpha.eksctl.io/cluster-name\", which no visible Node carries; others than "
         "NodePools put it on nodes",
         "if nodes will carry it, name the label under allow"},
        {SELECTS("cloud.google.com/gke-nodepool: x"),
         "found \"cloud.google.com/gke-nodepool\", which no visible Node carries; others than "
         "NodePools put it on nodes",
         "if nodes will carry it, name the label under allow"},
        {SELECTS("kubernetes.azure.com/mode: user"),
         "found \"kubernetes.azure.com/mode\", which no visible Node carries; others than "
         "NodePools put it on nodes",
         "if nodes will carry it, name the label under allow"},
        {SELECTS("agentpool: x"),
         "found \"agentpool\", which no visible Node carries; others than NodePools put it on "
         "nodes",
         "if nodes will carry it, name the label under allow"},
        {SELECTS("amd.com/gpu.family: x"),
         "found \"amd.com/gpu.family\", which no visible Node carries; others than NodePools put "
         "it on nodes",
         "if nodes will carry it, name the label under allow"},
        {SELECTS("node.openshift.io/os_id: rhel"),
         "found \"node.openshift.io/os_id\", which no visible Node carries; others than NodePools "
         "put it on nodes",
         "if nodes will carry it, name the label under allow"},
        {SELECTS("k8s.amazonaws.com/accelerator: x"),
         "found \"k8s.amazonaws.com/accelerator\", which no visible Node carries; others than "
         "NodePools put it on nodes",
         "if nodes will carry it, name the label under allow"},
        {SELECTS("nvidia.com/gpu.product: t4"),
         "found \"nvidia.com/gpu.product\", which no visible Node carries; others than NodePools "
         "put it on nodes",
         "if nodes will carry it, name the label under allow"},
        {SELECTS("node-role.kubernetes.io/worker: ''"),
         "found \"node-role.kubernetes.io/worker\", which no visible Node carries; others than "
         "NodePools put it on nodes",
         "if nodes will carry it, name the label under allow"},
        /* nobody does */
        {SELECTS("shelf: a"),
         "found \"shelf\", a label that no NodePool or Node carries; allowed team, "
         "example.com/tier",
         "remove it, or add the label to a NodePool under spec.template.metadata.labels"},
        {SELECTS("tem: web"),
         "found \"tem\", a label that no NodePool or Node carries; allowed team, example.com/tier",
         "Use team."},
        {REQUIRES(IN("example.com/tire", "gold")),
         "found \"example.com/tire\", a label that no NodePool or Node carries; allowed "
         "example.com/tier, team",
         "Use example.com/tier."},
    };
    rail_words_run("node-labels: {}", CLUSTER, rows, COUNT_OF(rows));
    static const struct rail_words unseen[] = {
        {SELECTS("shelf: a"), "found \"shelf\"; no NodePool or Node is visible that has this label",
         "make the NodePools and Nodes visible (--state DIR), or name the label under allow"},
        {SELECTS("eks.amazonaws.com/nodegroup: blue"),
         "found \"eks.amazonaws.com/nodegroup\"; no NodePool or Node is visible that has this "
         "label",
         "make the NodePools and Nodes visible (--state DIR), or name the label under allow"},
        {SELECTS("kubernetes.io/hostname: host-1"),
         "found \"host-1\", the name of one node; no Node is visible",
         "make the Nodes visible (--state DIR)"},
    };
    rail_words_run("node-labels: {}", NULL, unseen, COUNT_OF(unseen));
    /* Only labels that nodes will have, each once, and none that every node has. */
    static const struct rail_words of_pools[] = {
        {SELECTS("shelf: a"),
         "found \"shelf\", a label that no NodePool or Node carries; allowed team, any",
         "remove it, or add the label to a NodePool under spec.template.metadata.labels"},
    };
    rail_words_run("node-labels: {}",
                   POOL("one", "team: web, kubernetes.io/arch: amd64",
                        ZONES ", {key: gone, operator: DoesNotExist}, {key: broken, operator: Is, "
                              "values: [a]}, {key: any, operator: Exists}")
                       POOL("two", "team: shop", ""),
                   of_pools, COUNT_OF(of_pools));
    static const struct rail_words of_plain_pools[] = {
        {SELECTS("shelf: a"), "found \"shelf\", a label that no NodePool or Node carries",
         "remove it, or add the label to a NodePool under spec.template.metadata.labels"},
    };
    rail_words_run("node-labels: {}", POOL("one", "", ZONES), of_plain_pools, 1);
    static const struct rail_words granted[] = {
        {SELECTS("team: shop"), "found \"shop\"; allowed web, w-*",
         "select an allowed value, or leave the label out"},
        {SELECTS("karpenter.sh/nodepool: two"), "found \"two\"; allowed one",
         "select an allowed value, or leave the label out"},
        {SELECTS("team: wob"), "found \"wob\"; allowed web, w-*", "Use web."},
        /* a pattern is no value */
        {SELECTS("example.com/tier: gold"), "found \"gold\"; allowed gold-*",
         "select an allowed value, or leave the label out"},
        {SELECTS("rack: r"), "found \"r\"; allowed r?, s1",
         "select an allowed value, or leave the label out"},
    };
    rail_words_run("node-labels: {allow: {team: [web, 'w-*'], karpenter.sh/nodepool: [one], "
                   "example.com/tier: ['gold-*'], rack: ['r?', s1]}}",
                   CLUSTER, granted, COUNT_OF(granted));
}

static void values(void)
{
    static const struct rail_words rows[] = {
        {SELECTS("team: wbe"),
         "found \"wbe\", a value of team that no NodePool or Node carries; allowed web, shop",
         "Use web."},
        {SELECTS("team: payments"),
         "found \"payments\", a value of team that no NodePool or Node carries; allowed web, shop",
         "select an allowed value, or add it to a NodePool under spec.template.metadata.labels"},
        {REQUIRES(IN("team", "web, payments")),
         "found \"payments\", a value of team that no NodePool or Node carries; allowed web, shop",
         "select an allowed value, or add it to a NodePool under spec.template.metadata.labels"},
        {SELECTS("karpenter.sh/nodepool: three"),
         "found \"three\", a value of karpenter.sh/nodepool that no NodePool or Node carries; "
         "allowed one, two, old",
         "select an allowed value, or add it to a NodePool under spec.template.metadata.labels"},
        {SELECTS("rack: r2"),
         "found \"r2\", a value of rack that no NodePool or Node carries; allowed r1", "Use r1."},
        /* two letters away it was meant, three letters away it was not */
        {SELECTS("team: webxy"),
         "found \"webxy\", a value of team that no NodePool or Node carries; allowed web, shop",
         "Use web."},
        {SELECTS("team: webxyz"),
         "found \"webxyz\", a value of team that no NodePool or Node carries; allowed web, shop",
         "select an allowed value, or add it to a NodePool under spec.template.metadata.labels"},
        /* of a closed list */
        {SELECTS("kubernetes.io/os: windws"), "found \"windws\"; allowed windows, linux",
         "Use windows."},
        {SELECTS("kubernetes.io/arch: aarch64"), "found \"aarch64\"; allowed arm64, amd64",
         "Use arm64."},
        {SELECTS("karpenter.sh/capacity-type: SPOT"),
         "found \"SPOT\"; allowed spot, reserved, on-demand", "Use spot."},
        {SELECTS("karpenter.sh/capacity-type: preemptible"),
         "found \"preemptible\"; allowed reserved, on-demand, spot",
         "use one of the allowed values"},
        /* of this cluster */
        {SELECTS("topology.kubernetes.io/zone: eu-west-1c"),
         "found \"eu-west-1c\", a zone that no visible Node, NodePool or EC2NodeClass names; "
         "allowed eu-west-1a, eu-west-1b",
         "Use eu-west-1a."},
        {SELECTS("topology.kubernetes.io/zone: us-east-1c"),
         "found \"us-east-1c\", a zone that no visible Node, NodePool or EC2NodeClass names; "
         "allowed eu-west-1a, eu-west-1b",
         "name a zone of this cluster"},
        {SELECTS("topology.kubernetes.io/region: us-east-1"),
         "found \"us-east-1\"; the zones of this cluster (eu-west-1a, ...) are not there",
         "name the region of this cluster, or leave the label out"},
        {SELECTS("kubernetes.io/hostname: host-2"),
         "found \"host-2\", a node that is not there; none is bought by name",
         "select nodes by what they are, not by name"},
        /* of the catalogue */
        {SELECTS("node.kubernetes.io/instance-type: ml.g5.8xlarge"),
         "found \"ml.g5.8xlarge\", which no node has as node.kubernetes.io/instance-type",
         "did you mean g5.8xlarge?"},
        {SELECTS("node.kubernetes.io/instance-type: trn1-32xl"),
         "found \"trn1-32xl\", which no node has as node.kubernetes.io/instance-type",
         "did you mean trn1.32xlarge?"},
        {SELECTS("node.kubernetes.io/instance-type: m5.lrage"),
         "found \"m5.lrage\", which the catalogue does not know", "did you mean m5.large?"},
        {SELECTS("node.kubernetes.io/instance-type: m5"),
         "found \"m5\", which no node has as node.kubernetes.io/instance-type",
         "name it under karpenter.k8s.aws/instance-family"},
        {SELECTS("node.kubernetes.io/instance-type: Standard_D4"),
         "found \"Standard_D4\", which no node has as node.kubernetes.io/instance-type",
         "check the name: taffrail catalog show"},
        {SELECTS(AWS "category: m5"),
         "found \"m5\", which no node has as karpenter.k8s.aws/instance-category",
         "name it under karpenter.k8s.aws/instance-family"},
        {SELECTS(AWS "category: q"), "found \"q\", which the catalogue does not know",
         "check the name: taffrail catalog show"},
        {SELECTS("karpenter.sh/capacity-type: ON_DEMAND"),
         "found \"ON_DEMAND\"; allowed on-demand, spot, reserved", "Use on-demand."},
        {SELECTS(AWS "category: m9"),
         "found \"m9\", which no node has as karpenter.k8s.aws/instance-category",
         "did you mean m?"},
        {SELECTS(AWS "category: q7"),
         "found \"q7\", which no node has as karpenter.k8s.aws/instance-category",
         "check the name: taffrail catalog show"},
        {SELECTS(AWS "family: c7id"), "found \"c7id\", which the catalogue does not know",
         "did you mean c6id?"},
        {SELECTS(AWS "family: m5.large"),
         "found \"m5.large\", which no node has as karpenter.k8s.aws/instance-family",
         "name it under node.kubernetes.io/instance-type"},
        {SELECTS(AWS "family: m5.lorge"),
         "found \"m5.lorge\", which no node has as karpenter.k8s.aws/instance-family",
         "check the name: taffrail catalog show"},
        {SELECTS(AWS "size: enormous"), "found \"enormous\", which the catalogue does not know",
         "check the name: taffrail catalog show"},
        /* "nano" is as far from it as from most words */
        {SELECTS(AWS "size: gigant"), "found \"gigant\", which the catalogue does not know",
         "check the name: taffrail catalog show"},
        {SELECTS(AWS "cpu: '3'"), "found \"3\", which the catalogue does not know",
         "check the name: taffrail catalog show"},
        {REQUIRES(IN(AWS "family", "g6f") ", {key: " AWS "gpu-count, operator: Gt, values: ['0']}"),
         "no instance type fits all of this together", "remove one of the requirements"},
    };
    rail_words_run("node-labels: {}", CLUSTER, rows, COUNT_OF(rows));
}

/* Tools put the replacement in the place of what the finding's field holds: of a nodeSelector's
 * entry that is the value, and not the key. */
static void keys_are_replaced_where_they_stand(void)
{
    static const struct {
        const char *object, *path, *replacement;
    } rows[] = {
        {REQUIRES("{key: zone, operator: In, values: [eu-west-1a]}"),
         "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
         "nodeSelectorTerms[0].matchExpressions[0].key",
         "topology.kubernetes.io/zone"},
        {REQUIRES("{key: zone, operator: Exists}"),
         "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
         "nodeSelectorTerms[0].matchExpressions[0].key",
         "topology.kubernetes.io/zone"},
        {SELECTS("zone: eu-west-1a"), "spec.nodeSelector.zone", ""},
        {REQUIRES("{key: tem, operator: Exists}"),
         "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
         "nodeSelectorTerms[0].matchExpressions[0].key",
         "team"},
        {REQUIRES(IN("tem", "web")),
         "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
         "nodeSelectorTerms[0].matchExpressions[0].key",
         "team"},
        {SELECTS("tem: web"), "spec.nodeSelector.tem", ""},
        {SELECTS("team: wbe"), "spec.nodeSelector.team", "web"},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("node-labels: {}", CLUSTER, arena);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct rail_documents documents = rail_table_read(rows[i].object, arena);
        struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        CU_ASSERT_EQUAL_FATAL(verdict.finding_count, 1);
        ASSERT_TEXT(verdict.findings[0].path, rows[i].path);
        ASSERT_TEXT(verdict.findings[0].replacement, rows[i].replacement);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "policy words: node-labels";
const struct unit_test unit_tests[] = {
    {"keys", keys},
    {"values", values},
    {"keys are replaced where they stand", keys_are_replaced_where_they_stand},
    {NULL, NULL},
};
