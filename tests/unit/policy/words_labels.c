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
         "The label beta.kubernetes.io/arch is deprecated.", "Use kubernetes.io/arch: amd64."},
        {SELECTS("zone: eu-west-1a"),
         "Nodes have no label \"zone\", so these pods would stay Pending.",
         "Use topology.kubernetes.io/zone: eu-west-1a."},
        {SELECTS("node.kubernetes.io/arch: amd64"),
         "Nodes have no label \"node.kubernetes.io/arch\", so these pods would stay Pending.",
         "Use kubernetes.io/arch: amd64."},
        {REQUIRES("{key: zone, operator: Exists}"),
         "Nodes have no label \"zone\", so these pods would stay Pending.",
         "Use topology.kubernetes.io/zone."},
        /* others put them on nodes */
        {SELECTS("eks.amazonaws.com/nodegroup: blue"),
         "No visible Node has the label eks.amazonaws.com/nodegroup, which others than NodePools "
         "put on nodes.",
         "Name the label under node-labels.allow if nodes will have it."},
        {SELECTS("feature.node.kubernetes.io/cpu: x"),
         "No visible Node has the label feature.node.kubernetes.io/cpu, which others than "
         "NodePools put on nodes.",
         "Name the label under node-labels.allow if nodes will have it."},
        {SELECTS("alpha.eksctl.io/cluster-name: x"),
         "No visible Node has the label alpha.eksctl.io/cluster-name, which others than NodePools "
         "put on nodes.",
         "Name the label under node-labels.allow if nodes will have it."},
        {SELECTS("cloud.google.com/gke-nodepool: x"),
         "No visible Node has the label cloud.google.com/gke-nodepool, which others than NodePools "
         "put on nodes.",
         "Name the label under node-labels.allow if nodes will have it."},
        {SELECTS("kubernetes.azure.com/mode: user"),
         "No visible Node has the label kubernetes.azure.com/mode, which others than NodePools put "
         "on nodes.",
         "Name the label under node-labels.allow if nodes will have it."},
        {SELECTS("agentpool: x"),
         "No visible Node has the label agentpool, which others than NodePools put on nodes.",
         "Name the label under node-labels.allow if nodes will have it."},
        {SELECTS("amd.com/gpu.family: x"),
         "No visible Node has the label amd.com/gpu.family, which others than NodePools put on "
         "nodes.",
         "Name the label under node-labels.allow if nodes will have it."},
        {SELECTS("node.openshift.io/os_id: rhel"),
         "No visible Node has the label node.openshift.io/os_id, which others than NodePools put "
         "on nodes.",
         "Name the label under node-labels.allow if nodes will have it."},
        {SELECTS("k8s.amazonaws.com/accelerator: x"),
         "No visible Node has the label k8s.amazonaws.com/accelerator, which others than NodePools "
         "put on nodes.",
         "Name the label under node-labels.allow if nodes will have it."},
        {SELECTS("nvidia.com/gpu.product: t4"),
         "No visible Node has the label nvidia.com/gpu.product, which others than NodePools put on "
         "nodes.",
         "Name the label under node-labels.allow if nodes will have it."},
        {SELECTS("node-role.kubernetes.io/worker: ''"),
         "No visible Node has the label node-role.kubernetes.io/worker, which others than "
         "NodePools put on nodes.",
         "Name the label under node-labels.allow if nodes will have it."},
        /* nobody does */
        {SELECTS("shelf: a"),
         "No NodePool and no Node has the label shelf, so these pods would stay Pending.",
         "Remove it, or give it to the nodes of a NodePool, as shelf: a under "
         "spec.template.metadata.labels."},
        {SELECTS("tem: web"),
         "No NodePool and no Node has the label tem, so these pods would stay Pending.",
         "Use team."},
        {REQUIRES(IN("example.com/tire", "gold")),
         "No NodePool and no Node has the label example.com/tire, so these pods would stay "
         "Pending.",
         "Use example.com/tier."},
    };
    rail_words_run("node-labels: {}", CLUSTER, rows, COUNT_OF(rows));
    /* what YAML would take for something else is quoted */
    static const struct rail_words quoted[] = {
        {SELECTS("zone: ''"), "Nodes have no label \"zone\", so these pods would stay Pending.",
         "Use topology.kubernetes.io/zone: \"\"."},
    };
    rail_words_run("node-labels: {}", CLUSTER, quoted, 1);
    static const struct rail_words nothing_granted[] = {
        {SELECTS("team: web"), "team=web is not granted here.", "Leave the label out."},
    };
    rail_words_run("node-labels: {allow: {team: []}}", CLUSTER, nothing_granted, 1);
    static const struct rail_words partly[] = {
        {REQUIRES(IN(AWS "family", "m5, zz9")),
         "The catalogue has no instance type with karpenter.k8s.aws/instance-family=zz9.",
         "Check the name: taffrail catalog filter type lists those there are."},
    };
    rail_words_run("node-labels: {}", CLUSTER, partly, 1);
    /* instance-types tells of families, sizes and the like */
    static const struct rail_case beside_types[] = {
        {SELECTS(AWS "cpu: '3'"), "deny spec.nodeSelector \nwarn spec.nodeSelector[" AWS "cpu] 3"},
    };
    rail_table_run(&(struct rail_table){
        "node-labels: {}, instance-types: {allow: {families: [m5]}}", CLUSTER, beside_types, 1});
    static const struct rail_words unseen[] = {
        {SELECTS("shelf: a"), "No NodePool and no Node is visible that has the label shelf.",
         "Make the NodePools and Nodes visible (--state DIR), or name the label under "
         "node-labels.allow."},
        {SELECTS("eks.amazonaws.com/nodegroup: blue"),
         "No NodePool and no Node is visible that has the label eks.amazonaws.com/nodegroup.",
         "Make the NodePools and Nodes visible (--state DIR), or name the label under "
         "node-labels.allow."},
        {SELECTS("kubernetes.io/hostname: host-1"),
         "No Node is visible, so whether one has the name host-1 is not known.",
         "Make the Nodes visible (--state DIR)."},
    };
    rail_words_run("node-labels: {}", NULL, unseen, COUNT_OF(unseen));
    /* Only labels that nodes will have, each once, and none that every node has. */
    static const struct rail_words of_pools[] = {
        {SELECTS("shelf: a"), "No visible NodePool has the label shelf, and Nodes are not seen.",
         "Make the Nodes visible (--state DIR), or name the label under node-labels.allow."},
    };
    rail_words_run("node-labels: {}",
                   POOL("one", "team: web, kubernetes.io/arch: amd64",
                        ZONES ", {key: gone, operator: DoesNotExist}, {key: broken, operator: Is, "
                              "values: [a]}, {key: any, operator: Exists}")
                       POOL("two", "team: shop", ""),
                   of_pools, COUNT_OF(of_pools));
    static const struct rail_words of_plain_pools[] = {
        {SELECTS("shelf: a"), "No visible NodePool has the label shelf, and Nodes are not seen.",
         "Make the Nodes visible (--state DIR), or name the label under node-labels.allow."},
    };
    rail_words_run("node-labels: {}", POOL("one", "", ZONES), of_plain_pools, 1);
    static const struct rail_words granted[] = {
        {SELECTS("team: shop"), "team=shop is not granted here.",
         "Select web or a value that matches w-*, or leave the label out."},
        {SELECTS("karpenter.sh/nodepool: two"), "karpenter.sh/nodepool=two is not granted here.",
         "Select one, or leave the label out."},
        {SELECTS("team: wob"), "team=wob is not granted here.", "Use web."},
        /* a pattern is no value */
        {SELECTS("example.com/tier: gold"), "example.com/tier=gold is not granted here.",
         "Select a value that matches gold-*, or leave the label out."},
        {SELECTS("rack: r"), "rack=r is not granted here.",
         "Select a value that matches r? or s1, or leave the label out."},
    };
    rail_words_run("node-labels: {allow: {team: [web, 'w-*'], karpenter.sh/nodepool: [one], "
                   "example.com/tier: ['gold-*'], rack: ['r?', s1]}}",
                   CLUSTER, granted, COUNT_OF(granted));
}

static void values(void)
{
    static const struct rail_words rows[] = {
        {SELECTS("team: wbe"),
         "No NodePool and no Node has team=wbe, so these pods would stay Pending.", "Use web."},
        {SELECTS("team: payments"),
         "No NodePool and no Node has team=payments, so these pods would stay Pending.",
         "Select web or shop, or write team: payments under spec.template.metadata.labels of a "
         "NodePool."},
        {REQUIRES(IN("team", "web, payments")),
         "No NodePool and no Node has team=payments, so this value selects no node.",
         "Select web or shop, or write team: payments under spec.template.metadata.labels of a "
         "NodePool."},
        {SELECTS("karpenter.sh/nodepool: three"),
         "There is no NodePool three, so these pods would stay Pending.",
         "Select one, two or old, or create NodePool three first."},
        {SELECTS("rack: r2"),
         "No NodePool and no Node has rack=r2, so these pods would stay Pending.", "Use r1."},
        /* two letters away it was meant, three letters away it was not */
        {SELECTS("team: webxy"),
         "No NodePool and no Node has team=webxy, so these pods would stay Pending.", "Use web."},
        {SELECTS("team: webxyz"),
         "No NodePool and no Node has team=webxyz, so these pods would stay Pending.",
         "Select web or shop, or write team: webxyz under spec.template.metadata.labels of a "
         "NodePool."},
        /* of a closed list */
        {SELECTS("kubernetes.io/os: windws"),
         "No node has kubernetes.io/os=windws, so these pods would stay Pending.", "Use windows."},
        {SELECTS("kubernetes.io/arch: aarch64"),
         "No node has kubernetes.io/arch=aarch64, so these pods would stay Pending.", "Use arm64."},
        {SELECTS("karpenter.sh/capacity-type: SPOT"),
         "No node has karpenter.sh/capacity-type=SPOT, so these pods would stay Pending.",
         "Use spot."},
        {SELECTS("karpenter.sh/capacity-type: preemptible"),
         "No node has karpenter.sh/capacity-type=preemptible, so these pods would stay Pending.",
         "Use on-demand, spot or reserved."},
        /* of this cluster */
        {SELECTS("topology.kubernetes.io/zone: eu-west-1c"),
         "This cluster has no zone eu-west-1c, so these pods would stay Pending.",
         "Use eu-west-1a."},
        {SELECTS("topology.kubernetes.io/zone: us-east-1c"),
         "This cluster has no zone us-east-1c, so these pods would stay Pending.",
         "Use eu-west-1a or eu-west-1b."},
        {SELECTS("topology.kubernetes.io/region: us-east-1"),
         "The zones of this cluster, such as eu-west-1a, are not in region us-east-1.",
         "Name the region of this cluster, or remove the label."},
        {SELECTS("kubernetes.io/hostname: host-2"),
         "There is no node host-2, and Karpenter buys none by name, so these pods would stay "
         "Pending.",
         "Select nodes by what they are, such as their zone, not by name."},
        /* of the catalogue */
        {SELECTS("node.kubernetes.io/instance-type: trn1-32xl"),
         "No node has node.kubernetes.io/instance-type=trn1-32xl, so these pods would stay "
         "Pending.",
         "Use trn1.32xlarge if that is meant."},
        {SELECTS("node.kubernetes.io/instance-type: m5.lrage"),
         "The catalogue has no instance type with node.kubernetes.io/instance-type=m5.lrage.",
         "Use m5.large if that is meant."},
        {SELECTS("node.kubernetes.io/instance-type: m5"),
         "No node has node.kubernetes.io/instance-type=m5, so these pods would stay Pending.",
         "Write karpenter.k8s.aws/instance-family: m5."},
        {SELECTS("node.kubernetes.io/instance-type: Standard_D4"),
         "No node has node.kubernetes.io/instance-type=Standard_D4, so these pods would stay "
         "Pending.",
         "Check the name: taffrail catalog filter type lists those there are."},
        {SELECTS(AWS "category: m5"),
         "No node has karpenter.k8s.aws/instance-category=m5, so these pods would stay Pending.",
         "Write karpenter.k8s.aws/instance-family: m5."},
        {SELECTS(AWS "category: q"),
         "The catalogue has no instance type with karpenter.k8s.aws/instance-category=q.",
         "Check the name: taffrail catalog filter type lists those there are."},
        {SELECTS("karpenter.sh/capacity-type: ON_DEMAND"),
         "No node has karpenter.sh/capacity-type=ON_DEMAND, so these pods would stay Pending.",
         "Use on-demand."},
        {SELECTS(AWS "category: m9"),
         "No node has karpenter.k8s.aws/instance-category=m9, so these pods would stay Pending.",
         "Use m if that is meant."},
        {SELECTS(AWS "category: q7"),
         "No node has karpenter.k8s.aws/instance-category=q7, so these pods would stay Pending.",
         "Check the name: taffrail catalog filter type lists those there are."},
        {SELECTS(AWS "family: c7id"),
         "The catalogue has no instance type with karpenter.k8s.aws/instance-family=c7id.",
         "Use c6id if that is meant."},
        {SELECTS(AWS "family: m5.large"),
         "No node has karpenter.k8s.aws/instance-family=m5.large, so these pods would stay "
         "Pending.",
         "Write node.kubernetes.io/instance-type: m5.large."},
        {SELECTS(AWS "family: m5.lorge"),
         "No node has karpenter.k8s.aws/instance-family=m5.lorge, so these pods would stay "
         "Pending.",
         "Check the name: taffrail catalog filter type lists those there are."},
        {SELECTS(AWS "size: enormous"),
         "The catalogue has no instance type with karpenter.k8s.aws/instance-size=enormous.",
         "Check the name: taffrail catalog filter type lists those there are."},
        /* "nano" is as far from it as from most words */
        {SELECTS(AWS "size: gigant"),
         "The catalogue has no instance type with karpenter.k8s.aws/instance-size=gigant.",
         "Check the name: taffrail catalog filter type lists those there are."},
        {SELECTS(AWS "cpu: '3'"),
         "The catalogue has no instance type with karpenter.k8s.aws/instance-cpu=3.",
         "Check the name: taffrail catalog filter type lists those there are."},
        {REQUIRES(IN(AWS "family", "g6f") ", {key: " AWS "gpu-count, operator: Gt, values: ['0']}"),
         "No instance type fits all of this together, so these pods would stay Pending.",
         "Remove one of the requirements."},
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
