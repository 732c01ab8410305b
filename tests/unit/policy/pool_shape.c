/* The rail pool-shape: fields that are dropped, and where they belong. */
#include "pool_shape_pools.h"
#include "rail_modes.h"

/* Objects with every field that their version has. */
static void fields_there_are_stay_silent(void)
{
#define TAINT_LISTS                                                                         \
    "taints: [{key: a, value: b, effect: NoSchedule, timeAdded: '2026-01-01T00:00:00Z'}], " \
    "startupTaints: [{key: c, value: d, effect: NoSchedule, timeAdded: '2026-01-01T00:00:00Z'}]"
#define REQUIREMENT "{key: " AWS "family, operator: In, values: [m5, c5], minValues: 2}"
    static const struct rail_case cases[] = {
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {replicas: 1, "
         "weight: 1, limits: {cpu: 1}, disruption: {consolidateAfter: 1m, consolidationPolicy: "
         "WhenEmpty, budgets: [{nodes: '1', duration: 8h, schedule: '0 9 * * *', reasons: "
         "[Empty]}]}, template: {metadata: {labels: {a: b}, annotations: {a: b}}, spec: "
         "{expireAfter: 720h, terminationGracePeriod: 1h, " CLASS ", " TAINT_LISTS
         ", requirements: [" REQUIREMENT "]}}}, status: {}}",
         ""},
        {"{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: a}, spec: {weight: "
         "1, "
         "limits: {cpu: 1}, disruption: {consolidateAfter: 1m, consolidationPolicy: WhenEmpty, "
         "expireAfter: 720h, budgets: [{nodes: '1', duration: 8h, schedule: '0 9 * * *'}]}, "
         "template: {metadata: {labels: {a: b}, annotations: {a: b}}, spec: {kubelet: {clusterDNS: "
         "[10.0.0.1], cpuCFSQuota: true, evictionHard: {}, evictionMaxPodGracePeriod: 1, "
         "evictionSoft: {}, evictionSoftGracePeriod: {}, imageGCHighThresholdPercent: 80, "
         "imageGCLowThresholdPercent: 70, kubeReserved: {}, maxPods: 1, podsPerCore: 1, "
         "systemReserved: {}}, resources: {requests: {}}, nodeClassRef: {apiVersion: "
         "karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, name: a}, " TAINT_LISTS
         ", requirements: [" REQUIREMENT "]}}}, status: {}}",
         ""},
        /* one that is wrong in the second item of each list */
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {disruption: "
         "{budgets: [{nodes: '1'}, {nodes: '1', node: '1'}]}, template: {spec: {" CLASS
         ", taints: [{key: a, effect: NoSchedule}, {key: b c, effect: NoSchedule, keys: d}], "
         "requirements: [" REQUIREMENT ", {key: x, operator: Exists, value: y}]}}}, other: 1}",
         "warn other other\ndeny spec.disruption.budgets[1].node node\ndeny "
         "spec.template.spec.requirements[1].value value\ndeny spec.template.spec.taints[1].key b "
         "c\ndeny spec.template.spec.taints[1].keys keys"},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
}

#define V1BETA1(more, of_spec)                                                             \
    "{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: a}, spec: {" more \
    "template: {spec: {" of_spec ", requirements: [" CMR "]}}}}"

/* In every place that has fields a name that means nothing. */
static void every_place_is_looked_at(void)
{
    static const struct rail_case cases[] = {
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, zz: 1, spec: {zz: 1, "
         "disruption: {zz: 1, budgets: [{nodes: '1', zz: 1}]}, template: {zz: 1, metadata: {zz: 1, "
         "labels: {zz: a}}, spec: {zz: 1, nodeClassRef: {group: karpenter.k8s.aws, kind: "
         "EC2NodeClass, name: a, zz: 1}, requirements: [{key: " AWS
         "family, operator: In, values: [m5], zz: 1}], taints: [{key: a, effect: NoSchedule, zz: "
         "1}], startupTaints: [{key: b, effect: NoSchedule, zz: 1}]}}}}",
         "warn spec.disruption.budgets[0].zz zz\nwarn spec.disruption.zz zz\nwarn "
         "spec.template.metadata.zz zz\nwarn spec.template.spec.nodeClassRef.zz zz\nwarn "
         "spec.template.spec.requirements[0].zz zz\nwarn spec.template.spec.startupTaints[0].zz "
         "zz\nwarn spec.template.spec.taints[0].zz zz\nwarn spec.template.spec.zz zz\nwarn "
         "spec.template.zz zz\nwarn spec.zz zz\nwarn zz zz"},
        {"{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: a}, zz: 1, spec: "
         "{zz: "
         "1, disruption: {zz: 1, budgets: [{nodes: '1', zz: 1}]}, template: {zz: 1, metadata: {zz: "
         "1, labels: {zz: a}}, spec: {zz: 1, kubelet: {zz: 1}, resources: {zz: 1}, nodeClassRef: "
         "{apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, name: a, zz: 1}, "
         "requirements: [{key: " AWS
         "family, operator: In, values: [m5], zz: 1}], taints: [{key: a, effect: NoSchedule, zz: "
         "1}], startupTaints: [{key: b, effect: NoSchedule, zz: 1}]}}}}",
         "warn spec.disruption.budgets[0].zz zz\nwarn spec.disruption.zz zz\nwarn "
         "spec.template.metadata.zz zz\nwarn spec.template.spec.kubelet.zz zz\nwarn "
         "spec.template.spec.nodeClassRef.zz zz\nwarn spec.template.spec.requirements[0].zz "
         "zz\nwarn spec.template.spec.resources.zz zz\nwarn spec.template.spec.startupTaints[0].zz "
         "zz\nwarn spec.template.spec.taints[0].zz zz\nwarn spec.template.spec.zz zz\nwarn "
         "spec.template.zz zz\nwarn spec.zz zz\nwarn zz zz"},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
}

static void dropped_fields_are_found(void)
{
    static const struct rail_case cases[] = {
        {POOL(CMR), ""},
        {POOL_WITH("requirements: [], taints: [], ", "", CMR),
         "deny spec.requirements requirements\ndeny spec.taints taints"},
        {POOL_WITH("labels: {a: b}, ", "", CMR), "deny spec.labels labels"},
        {POOL_WITH("disruption: {expireAfter: 720h, consolidateAfter: 1m}, ", "", CMR),
         "deny spec.disruption.expireAfter expireAfter"},
        {POOL_WITH("", "metadata: {labels: {a: b}, name: x}, ", CMR),
         "warn spec.template.metadata.name name"},
        {POOL_WITH("", "", "{key: " AWS "family, operator: In, value: m5, values: [m5]}"),
         "deny " AT "[0].value value"},
        {POOL_WITH("disruption: {budgets: [{nodes: 10%, reason: Empty}]}, ", "", CMR),
         "deny spec.disruption.budgets[0].reason reason"},
        {HEAD "{template: {spec: {nodeClassRef: {apiVersion: karpenter.k8s.aws/v1, kind: "
              "EC2NodeClass, name: a}, kubelet: {}, requirements: [" CMR "]}}}}",
         "deny spec.template.spec.kubelet kubelet\n"
         "deny spec.template.spec.nodeClassRef.apiVersion apiVersion"},
        /* without group and kind, as v1beta1 takes it; one without a reference is a part of a pool
         */
        {HEAD "{template: {spec: {nodeClassRef: {name: a}, requirements: [" CMR "]}}}}",
         "deny spec.template.spec.nodeClassRef "},
        {V1BETA1("", "nodeClassRef: {name: a}"), ""},
        {HEAD "{template: {spec: {requirements: [" CMR "]}}}}", ""},
        /* v1beta1 had them there */
        /* a map in place of a list is the API server's to refuse: it drops nothing silently */
        {TAINTS("taints: {a: b}"), ""},
        {"{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: a}, spec: "
         "{disruption: {expireAfter: 720h}, template: {spec: {nodeClassRef: {apiVersion: "
         "karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, name: a}, kubelet: {}, requirements: "
         "[" CMR "]}}}}",
         ""},
        {"{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: a}, spec: "
         "{template: {spec: {expireAfter: 720h, requirements: [" CMR "]}}}}",
         "deny spec.template.spec.expireAfter expireAfter"},
        /* as tutorials have it: a Provisioner under the newer name */
        {"{apiVersion: karpenter.sh/v1alpha5, kind: NodePool, metadata: {name: a}, spec: "
         "{requirements: [" CMR "], ttlSecondsAfterEmpty: 30}}",
         "deny apiVersion karpenter.sh/v1alpha5\n"
         "deny spec.requirements requirements\n"
         "deny spec.template.spec.requirements \n"
         "deny spec.ttlSecondsAfterEmpty ttlSecondsAfterEmpty"},
        /* a level too high, and one too low */
        {POOL_WITH("", "requirements: [], ", CMR), "deny spec.template.requirements requirements"},
        {TAINTS("labels: {a: b}"), "deny spec.template.spec.labels labels"},
        /* a version to come may have others */
        {"{apiVersion: karpenter.sh/v2, kind: NodePool, metadata: {name: a}, spec: "
         "{template: {spec: {expireAfter: 720h, requirements: [" CMR "]}}}}",
         ""},
        {POOL_WITH("disruption: 5, ", "metadata: [1], ", CMR), ""},
        /* the template forgotten */
        {POOL_WITH("metadata: {labels: {a: b}}, ", "", CMR), "deny spec.metadata metadata"},
        {HEAD "{template: {spec: {" CLASS ", weight: 1, requirements: [" CMR "]}}}}",
         "deny spec.template.spec.weight weight"},
        /* what only a later version has may be known to a Karpenter that has both */
        {V1BETA1("replicas: 3, ", "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, "
                                  "name: a}"),
         "warn spec.replicas replicas\ndeny spec.template.spec.nodeClassRef.group group"},
        {V1BETA1("disruption: {budgets: [{nodes: '1', reasons: [Empty]}]}, ",
                 "terminationGracePeriod: 1h"),
         "warn spec.disruption.budgets[0].reasons reasons\nwarn "
         "spec.template.spec.terminationGracePeriod terminationGracePeriod"},
        /* a name that an item of a list has, or anything, tells of no place */
        {POOL_WITH("nodes: 5, ", "", CMR), "warn spec.nodes nodes"},
        {POOL_WITH("kind: a, ", "", CMR), "warn spec.kind kind"},
        {POOL_WITH("status: {}, ", "", CMR), "warn spec.status status"},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
}

static void it_says_where_things_belong(void)
{
    static const char dropped[] = "\" here. The API server drops it silently.";
    static const struct {
        const char *field, *fix;
    } fields[] = {
        {"requirements", "Move it to spec.template.spec.requirements."},
        {"labels", "Move it to spec.template.metadata.labels."},
        {"budgets", "Move it to spec.disruption.budgets."},
        {"kubelet", "Move it to the EC2NodeClass, as spec.kubelet."},
        {"ttlSecondsAfterEmpty",
         "Write spec.disruption.consolidationPolicy: WhenEmpty, and consolidateAfter beside it."},
        {"ttlSecondsUntilExpired", "Write spec.template.spec.expireAfter, such as 720h."},
        {"providerRef", "Write spec.template.spec.nodeClassRef."},
        {"weigth", "Rename it to weight."},
        {"templates", "Rename it to template."},
        {"disruptions", "Rename it to disruption."},
        {"limitats", "Rename it to limits."},
        {"taints", "Move it to spec.template.spec.taints."},
        {"nodeClassRef", "Move it to spec.template.spec.nodeClassRef."},
        {"expireAfter", "Move it to spec.template.spec.expireAfter."},
        {"consolidationPolicy", "Move it to spec.disruption.consolidationPolicy."},
        {"metadata", "Move it to spec.template.metadata."},
        {"consolidation", "Write spec.disruption.consolidationPolicy: WhenEmptyOrUnderutilized."},
        {"provider", "Write spec.template.spec.nodeClassRef, and an EC2NodeClass."},
    };
    struct arena *arena = arena_create(1 << 20);
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        struct rail_words row = {
            arena_printf(arena,
                         HEAD "{%s: 1, template: {spec: {" CLASS ", requirements: [" CMR "]}}}}",
                         fields[i].field)
                .data,
            arena_printf(arena, "A NodePool of v1 has no field \"%s%s", fields[i].field, dropped)
                .data,
            fields[i].fix};
        rail_words_run("pool-shape: {}, capacity-types: {mode: off}", NULL, &row, 1);
    }
    arena_destroy(arena);
}

#define REFERENCE "spec.template.spec.nodeClassRef"
#define REFERS(reference, requirements) \
    HEAD "{template: {spec: {nodeClassRef: {" reference "}, requirements: [" requirements "]}}}}"

static void it_says_what_is_dropped(void)
{
    static const struct rail_words rows[] = {
        {POOL_WITH("tomorrow: 1, ", "", CMR),
         "A NodePool of v1 has no field \"tomorrow\" here, unless your Karpenter is newer. The API "
         "server drops it silently.",
         "Remove it."},
        /* three letters off is another name */
        {POOL_WITH("limitation: 1, ", "", CMR),
         "A NodePool of v1 has no field \"limitation\" here, unless your Karpenter is newer. The "
         "API server drops it silently.",
         "Remove it."},
        {HEAD "{template: {spec: {nodeClassRef: {apiVersion: karpenter.k8s.aws/v1, kind: "
              "EC2NodeClass, name: a}, requirements: [" CMR "]}}}}",
         "A NodePool of v1 has no field \"apiVersion\" here. The API server drops it silently.",
         "Instead write group: karpenter.k8s.aws."},
        {REFERS("apiGroup: karpenter.k8s.aws, kind: EC2NodeClass, name: a", CMR),
         "A NodePool of v1 has no field \"apiGroup\" here. The API server drops it silently.",
         "Rename it to group."},
        {REFERS("name: a", CMR),
         "The nodeClassRef has no group and no kind, so the API server refuses the pool.",
         "Add to " REFERENCE ": {group: karpenter.k8s.aws, kind: EC2NodeClass}."},
        {REFERS("kind: EC2NodeClass, name: a", CMR),
         "The nodeClassRef has no group, so the API server refuses the pool.",
         "Add to " REFERENCE ": {group: karpenter.k8s.aws}."},
        {REFERS("name: a", IN("eks.amazonaws.com/instance-category", "c")),
         "The nodeClassRef has no group and no kind, so the API server refuses the pool.",
         "Add to " REFERENCE ": {group: eks.amazonaws.com, kind: NodeClass}."},
        {REFERS("kind: NodeClass, name: a", CMR),
         "The nodeClassRef has no group, so the API server refuses the pool.",
         "Add to " REFERENCE ": {group: eks.amazonaws.com}."},
        {REFERS("kind: AKSNodeClass, name: a", CMR),
         "The nodeClassRef has no group, so the API server refuses the pool.",
         "Add to " REFERENCE ": {group: karpenter.azure.com}."},
        {REFERS("group: karpenter.k8s.aws, name: a", CMR),
         "The nodeClassRef has no kind, so the API server refuses the pool.",
         "Add to " REFERENCE ": {kind: EC2NodeClass}."},
        {REFERS("kind: OurNodeClass, name: ''", CMR),
         "The nodeClassRef has no group and no name, so the API server refuses the pool.",
         "Add to " REFERENCE ": {group: ..., name: ...}, as the node class has it."},
        {V1BETA1("", "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}"),
         "A NodePool of v1beta1 has no field \"group\" here. The API server drops it silently.",
         "Write apiVersion: karpenter.k8s.aws/v1beta1 instead."},
        {V1BETA1("", "kubelet: {systemReserve: {}}"),
         "A NodePool of v1beta1 has no field \"systemReserve\" here. The API server drops it "
         "silently.",
         "Rename it to systemReserved."},
        {V1BETA1("", "maxPods: 30"),
         "A NodePool of v1beta1 has no field \"maxPods\" here. The API server drops it silently.",
         "Move it to spec.template.spec.kubelet.maxPods."},
        {"{apiVersion: karpenter.sh/v1alpha5, kind: NodePool, metadata: {name: a}, spec: {}}",
         "karpenter.sh/v1alpha5 has no NodePools. Its pools are Provisioners.",
         "Write apiVersion: karpenter.sh/v1, and the fields of v1."},
    };
    rail_words_run("pool-shape: {}, capacity-types: {mode: off}", NULL, rows, COUNT_OF(rows));
}

static void tools_can_write_the_version(void)
{
    rail_replaces("pool-shape: {}, capacity-types: {mode: off}",
                  "{apiVersion: karpenter.sh/v1alpha5, kind: NodePool, metadata: {name: a}, spec: "
                  "{}}",
                  "karpenter.sh/v1");
}

static void it_speaks_in_every_mode(void)
{
    rail_modes_run("pool-shape", "", NULL, POOL(""));
}

const char unit_suite[] = "policy pool-shape";
const struct unit_test unit_tests[] = {
    {"fields there are stay silent", fields_there_are_stay_silent},
    {"every place is looked at", every_place_is_looked_at},
    {"dropped fields are found", dropped_fields_are_found},
    {"it says where things belong", it_says_where_things_belong},
    {"it says what is dropped", it_says_what_is_dropped},
    {"tools can write the version", tools_can_write_the_version},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {NULL, NULL},
};
