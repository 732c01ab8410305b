/* What an update makes worse is new; what stays as it was, or is better, is not, whichever numbers
 * and names the words have. */
#include "rail_table.h"

#define DEPLOYMENT(replicas, spec)                                                               \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: " replicas    \
    ", selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {" spec \
    "}}}}"
#define ZONE "topology.kubernetes.io/zone"
#define ITS_OWN "labelSelector: {matchLabels: {app: a}}"
#define SKEW(skew)                                                       \
    "topologySpreadConstraints: [{maxSkew: " skew ", topologyKey: " ZONE \
    ", whenUnsatisfiable: DoNotSchedule, " ITS_OWN "}]"
#define APART                                                                         \
    "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{" \
    "topologyKey: " ZONE ", " ITS_OWN "}]}}"
#define THREE_ZONES                                                                          \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: d}, spec: {}, " \
    "status: {subnets: [{zone: a}, {zone: b}, {zone: c}]}}"
#define MEMORY(request, limit)                                                               \
    DEPLOYMENT("1", "containers: [{name: a, resources: {requests: {cpu: 1, memory: " request \
                    "}, limits: {memory: " limit "}}}]")
#define ASKS(cpu) "containers: [{name: a, resources: {requests: {cpu: " cpu "}}}]"
#define IN(key, values) "{key: " key ", operator: In, values: [" values "]}"
#define AWS "karpenter.k8s.aws/instance-"
#define POOL_OF(name, version, spec, template, requirements)                                   \
    "---\n{apiVersion: karpenter.sh/" version ", kind: NodePool, metadata: {name: " name "}, " \
    "spec: {" spec                                                                             \
    "template: {spec: {" template "nodeClassRef: {group: karpenter.k8s.aws, "                  \
                                  "kind: EC2NodeClass, name: d}, requirements: [" requirements \
                                  "]}}}}\n"
#define POOL(name, requirements) POOL_OF(name, "v1", "", "", requirements)
#define MIN_VALUES(key, count) "{key: " AWS key ", operator: Exists, minValues: " count "}"
#define OF_GPU(name, family)                                                          \
    POOL_OF(name, "v1", "",                                                           \
            "taints: [{key: nvidia.com/gpu, value: " name ", effect: NoSchedule}], ", \
            IN(AWS "family", family))
#define GPUS_LIMITED(limits, families)                                                  \
    POOL_OF("a", "v1", limits, "taints: [{key: nvidia.com/gpu, effect: NoSchedule}], ", \
            IN(AWS "family", families))
#define OVERLAY(name, requirements)                                                      \
    "---\n{apiVersion: karpenter.sh/v1alpha1, kind: NodeOverlay, metadata: {name: " name \
    "}, spec: {requirements: [" requirements "], price: '1', weight: 5}}\n"
#define CLOSED_AT(minute)                                                            \
    "disruption: {expireAfter: 30m, budgets: [{nodes: '0', schedule: '20 * * * *', " \
    "duration: " minute "}, {nodes: 100%}]}, "
#define EXPIRES(after)                                                                     \
    "disruption: {expireAfter: " after ", budgets: [{nodes: '0', schedule: '20 * * * *', " \
    "duration: 50m}, {nodes: 100%}]}, "
#define LIMITED(spec) POOL_OF("a", "v1", spec ", ", "", "")
#define DAEMON_SET(memory)                                                                  \
    "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a}, spec: {template: {spec: {" \
    "containers: [{name: a, resources: {requests: {memory: " memory "}}}]}}}}"
#define BUDGETS(policy)                                                                   \
    POOL_OF("a", "v1",                                                                    \
            "disruption: {consolidateAfter: 1m, consolidationPolicy: " policy             \
            ", budgets: [{nodes: '0', reasons: [Empty, Drifted]}, {nodes: '0', reasons: " \
            "[Underutilized]}]}, ",                                                       \
            "", "")
#define NO_TIME(budgets)                                               \
    POOL_OF("a", "v1",                                                 \
            "disruption: {budgets: [" budgets                          \
            ", {nodes: '0', schedule: '0 9 * * *', duration: 0h}]}, ", \
            "expireAfter: Never, ", "")
#define OFFICE ", {nodes: '0', schedule: '0 9 * * *', duration: 8h}"
#define LABELLED(labels)                                                                        \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: "      \
    "{metadata: {labels: {" labels "}}, spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: " \
    "EC2NodeClass, name: d}, requirements: []}}}}"
#define EIGHT(term) term ", " term ", " term ", " term ", " term ", " term ", " term ", " term
#define ON_M5 "{matchExpressions: [" IN(AWS "family", "m5") "]}"
#define BY_TERMS(more, rest)                                                      \
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {" \
    "nodeSelectorTerms: [" EIGHT(EIGHT(ON_M5)) more "]}}}, " rest
#define GPU(more) more "containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1}}}]"
#define TPU(count) \
    "{name: b, resources: {limits: {deviceclass.resource.kubernetes.io/tpu: " count "}}}"
#define TPUS(count, more)                                                                        \
    "containers: [{name: a, resources: {limits: {deviceclass.resource.kubernetes.io/tpu: " count \
    "}}}" more "]"
#define EVERY_TAINT(more) "tolerations: [{operator: Exists" more "}], "

struct updated {
    const char *rails, *cluster, *old, *object;
    enum action action;
};

static void run(const struct updated *row)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world(row->rails, row->cluster, arena);
    struct rail_documents old = rail_table_read(row->old, arena);
    struct rail_documents new = rail_table_read(row->object, arena);
    const struct subject subject = {
        .operation = OPERATION_UPDATE, .object = new.items, .old_object = old.items};
    struct verdict verdict;
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    if (verdict.action != row->action)
        fprintf(stderr, "%s\n%s\n  to %s\n", row->rails, row->old, row->object);
    ASSERT_INT(verdict.action, row->action);
    arena_destroy(arena);
}

static void run_all(const struct updated *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        run(&rows[i]);
}

static void of_workloads(void)
{
    static const char spread[] = "zone-spread: {}",
                      requests[] = "resource-requests: {memoryLimitEqualsRequest: true}",
                      placeable[] = "placeable: {mode: enforce}",
                      accelerators[] = "accelerators: {}}, extendedResourceToleration: false, "
                                       "karpenter: {",
                      claims[] = "resource-claims: {max: {tpu: 1}}",
                      both[] = "tolerations: {}, accelerators: {}}, extendedResourceToleration: "
                               "false, karpenter: {",
                      m5[] = POOL("m5", IN(AWS "family", "m5") ", " IN(
                                            ZONE, "a")) "---\n{apiVersion: v1, kind: Node, "
                                                        "metadata: {name: one}}",
                      small[] = POOL("small", IN("node.kubernetes.io/instance-type", "m5.large")),
                      gpus[] = OF_GPU("g", "g5") OF_GPU("p", "p4d");
    static const struct updated rows[] = {
        {spread, NULL, DEPLOYMENT("6", SKEW("1000")), DEPLOYMENT("5", SKEW("1000")), ACTION_AUDIT},
        {spread, NULL, DEPLOYMENT("5", SKEW("1000")), DEPLOYMENT("6", SKEW("1000")), ACTION_AUDIT},
        {spread, NULL, DEPLOYMENT("5", SKEW("1000")), DEPLOYMENT("5", SKEW("1001")), ACTION_DENY},
        {spread, THREE_ZONES, DEPLOYMENT("6", APART), DEPLOYMENT("5", APART), ACTION_AUDIT},
        {spread, THREE_ZONES, DEPLOYMENT("5", APART), DEPLOYMENT("5", APART), ACTION_AUDIT},
        {spread, THREE_ZONES, DEPLOYMENT("5", APART), DEPLOYMENT("6", APART), ACTION_DENY},
        /* a warning before */
        {spread, THREE_ZONES, DEPLOYMENT("3", APART), DEPLOYMENT("4", APART), ACTION_DENY},
        {requests, NULL, MEMORY("1Gi", "4Gi"), MEMORY("2Gi", "4Gi"), ACTION_AUDIT},
        {requests, NULL, MEMORY("2Gi", "4Gi"), MEMORY("1Gi", "4Gi"), ACTION_DENY},
        {requests, NULL, MEMORY("1Gi", "4Gi"), MEMORY("1Gi", "3Gi"), ACTION_AUDIT},
        {requests, NULL, MEMORY("1Gi", "4Gi"), MEMORY("1Gi", "5Gi"), ACTION_DENY},
        {requests, NULL, MEMORY("4Gi", "4Gi"), MEMORY("3Gi", "4Gi"), ACTION_DENY},
        {placeable, small, DEPLOYMENT("1", ASKS("800")), DEPLOYMENT("1", ASKS("600")),
         ACTION_AUDIT},
        {placeable, m5, DEPLOYMENT("1", ASKS("800")), DEPLOYMENT("1", ASKS("600")), ACTION_AUDIT},
        {placeable, m5, DEPLOYMENT("1", ASKS("600")), DEPLOYMENT("1", ASKS("800")), ACTION_AUDIT},
        {placeable, m5, DEPLOYMENT("1", ASKS("6")), DEPLOYMENT("1", ASKS("600")), ACTION_DENY},
        {placeable, small, DAEMON_SET("64Gi"), DAEMON_SET("33Gi"), ACTION_AUDIT},
        {placeable, small, DAEMON_SET("1Gi"), DAEMON_SET("33Gi"), ACTION_DENY},
        /* fewer NodePools could serve it */
        {accelerators, gpus, DEPLOYMENT("1", GPU("")),
         DEPLOYMENT("1", GPU("nodeSelector: {" AWS "family: g5}, ")), ACTION_AUDIT},
        {accelerators, gpus, DEPLOYMENT("1", GPU("nodeSelector: {" AWS "family: m5}, ")),
         DEPLOYMENT("1", GPU("")), ACTION_DENY},
        {accelerators, gpus, DEPLOYMENT("1", BY_TERMS(", " ON_M5 ", " ON_M5, GPU(""))),
         DEPLOYMENT("1", BY_TERMS(", " ON_M5, GPU(""))), ACTION_AUDIT},
        {accelerators, gpus,
         DEPLOYMENT("1", EVERY_TAINT("") BY_TERMS(", " ON_M5 ", " ON_M5, ASKS("1"))),
         DEPLOYMENT("1", EVERY_TAINT("") BY_TERMS(", " ON_M5, ASKS("1"))), ACTION_AUDIT},
        {claims, NULL, DEPLOYMENT("1", TPUS("2", "")), DEPLOYMENT("1", TPUS("2", ", " TPU("9"))),
         ACTION_DENY},
        {claims, NULL, DEPLOYMENT("1", TPUS("2", ", " TPU("9"))), DEPLOYMENT("1", TPUS("2", "")),
         ACTION_AUDIT},
        /* a wider toleration beside the one that was there */
        {accelerators, gpus, DEPLOYMENT("1", EVERY_TAINT(", effect: NoSchedule") ASKS("1")),
         DEPLOYMENT("1", EVERY_TAINT(", effect: NoSchedule}, {operator: Exists") ASKS("1")),
         ACTION_DENY},
        /* the other rail finds the toleration in both, and this one what the update opens */
        {both, gpus,
         DEPLOYMENT("1", EVERY_TAINT("") "nodeSelector: {" AWS "family: m5}, " ASKS("1")),
         DEPLOYMENT("1", EVERY_TAINT("") ASKS("1")), ACTION_DENY},
        {both, gpus,
         DEPLOYMENT("1", "tolerations: [{key: team, operator: Exists}, {operator: Exists}], "
                         "nodeSelector: {" AWS "family: m5}, " ASKS("1")),
         DEPLOYMENT("1",
                    "tolerations: [{key: team, operator: Exists}, {operator: Exists}], " ASKS("1")),
         ACTION_DENY},
        /* one that leaves in time is none to the other rail */
        {both, gpus,
         DEPLOYMENT("1", EVERY_TAINT(", effect: NoExecute, tolerationSeconds: 9") ASKS("1")),
         DEPLOYMENT("1", EVERY_TAINT(", effect: NoExecute, tolerationSeconds: 9") ASKS("2")),
         ACTION_NONE},
        {both, gpus, DEPLOYMENT("1", EVERY_TAINT("") GPU("")),
         DEPLOYMENT("1", EVERY_TAINT("") ASKS("1")), ACTION_DENY},
        {both, gpus, DEPLOYMENT("1", EVERY_TAINT("") ASKS("1")),
         DEPLOYMENT("2", EVERY_TAINT("") ASKS("1")), ACTION_AUDIT},
        {accelerators, gpus, DEPLOYMENT("1", EVERY_TAINT(", effect: NoSchedule") ASKS("1")),
         DEPLOYMENT("1", EVERY_TAINT("") ASKS("1")), ACTION_DENY},
    };
    run_all(rows, COUNT_OF(rows));
}

static void of_pools(void)
{
    static const char shape[] = "pool-shape: {}", overlap[] = "pool-overlap: {}",
                      budgets[] = "disruption-budgets: {}", overlay[] = "node-overlay: {}",
                      accelerators[] = "accelerators: {requireLimits: accelerator}",
                      limits[] = "pool-limits: {max: {cpu: 500, nodes: 10}, maxTotal: {nodes: 7}}",
                      other[] = POOL("b", IN(AWS "family", "m5, c5, r5"));
    static const struct updated rows[] = {
        {shape, NULL, POOL("a", ""), POOL_OF("a", "v1", "weight: 5, ", "", ""), ACTION_AUDIT},
        {shape, NULL, LABELLED(""), LABELLED("kubernetes.io/arch: amd64"), ACTION_AUDIT},
        {shape, NULL, LABELLED("kubernetes.io/arch: amd64"), LABELLED(""), ACTION_DENY},
        {shape, NULL, POOL("a", IN(AWS "family", "m5") ", " IN(AWS "size", "nano")),
         POOL("a", IN(AWS "family", "c5") ", " IN(AWS "size", "nano")), ACTION_AUDIT},
        {shape, NULL, POOL("a", IN(AWS "family", "m5") ", " IN(AWS "size", "large")),
         POOL("a", IN(AWS "family", "m5") ", " IN(AWS "size", "nano")), ACTION_DENY},
        {shape, NULL, POOL("a", IN("team", "x") ", " IN("team", "y")),
         POOL("a", IN("team", "z") ", " IN("team", "y")), ACTION_AUDIT},
        {shape, NULL, POOL("a", IN(AWS "family", "m5") ", " MIN_VALUES("cpu", "50")),
         POOL("a", IN(AWS "family", "m5, c5") ", " MIN_VALUES("cpu", "50")), ACTION_AUDIT},
        {overlap, other, POOL("a", IN(AWS "family", "m5, c5")), POOL("a", IN(AWS "family", "r5")),
         ACTION_AUDIT},
        {overlap, other, POOL("a", IN(AWS "family", "g5")), POOL("a", IN(AWS "family", "r5")),
         ACTION_DENY},
        {budgets, NULL, POOL_OF("a", "v1beta1", CLOSED_AT("50m"), "", ""),
         POOL_OF("a", "v1beta1", CLOSED_AT("40m"), "", ""), ACTION_AUDIT},
        {budgets, NULL, POOL_OF("a", "v1beta1", CLOSED_AT("40m"), "", ""),
         POOL_OF("a", "v1beta1", CLOSED_AT("50m"), "", ""), ACTION_DENY},
        {budgets, NULL, POOL_OF("a", "v1beta1", EXPIRES("30m"), "", ""),
         POOL_OF("a", "v1beta1", EXPIRES("40m"), "", ""), ACTION_AUDIT},
        {budgets, NULL, POOL_OF("a", "v1beta1", EXPIRES("30m"), "", ""),
         POOL_OF("a", "v1beta1", EXPIRES("20m"), "", ""), ACTION_DENY},
        {limits, NULL, LIMITED("limits: {cpu: 600}"), LIMITED("limits: {cpu: 550}"), ACTION_AUDIT},
        {limits, NULL, LIMITED("limits: {cpu: 550}"), LIMITED("limits: {cpu: 600}"), ACTION_DENY},
        {limits, NULL, LIMITED("replicas: 20"), LIMITED("replicas: 15"), ACTION_AUDIT},
        {limits, NULL, LIMITED("replicas: 15"), LIMITED("replicas: 20"), ACTION_DENY},
        {limits, NULL, LIMITED("replicas: 9"), LIMITED("replicas: 8"), ACTION_AUDIT},
        {limits, NULL, LIMITED("replicas: 8"), LIMITED("replicas: 9"), ACTION_DENY},
        /* a budget that is never active, or for no reason, and was there before, excuses nothing */
        {"disruption-budgets: {maxNodes: 10%}", NULL, NO_TIME("{nodes: 10%}"),
         NO_TIME("{nodes: 100%}"), ACTION_DENY},
        {"disruption-budgets: {maxNodes: 10%}", NULL,
         NO_TIME("{nodes: 10%}, {nodes: 5%, reasons: []}"),
         NO_TIME("{nodes: 100%}, {nodes: 5%, reasons: []}"), ACTION_DENY},
        {"disruption-budgets: {requireWindow: true}", NULL, NO_TIME("{nodes: 10%}" OFFICE),
         NO_TIME("{nodes: 10%}"), ACTION_DENY},
        {"disruption-budgets: {requireWindow: true}", NULL, NO_TIME("{nodes: 10%}" OFFICE),
         NO_TIME("{nodes: 20%}" OFFICE), ACTION_AUDIT},
        {budgets, NULL, BUDGETS("WhenEmpty"), BUDGETS("WhenEmptyOrUnderutilized"), ACTION_AUDIT},
        {accelerators, NULL, GPUS_LIMITED("", "g5, g4ad"),
         GPUS_LIMITED("limits: {cpu: 9}, ", "g5, g4ad"), ACTION_AUDIT},
        {accelerators, NULL, GPUS_LIMITED("limits: {cpu: 9}, ", "g5, g4ad"),
         GPUS_LIMITED("limits: {nvidia.com/gpu: 9}, ", "g5, g4ad"), ACTION_AUDIT},
        {accelerators, NULL, GPUS_LIMITED("limits: {nvidia.com/gpu: 9}, ", "g5, g4ad"),
         GPUS_LIMITED("limits: {cpu: 9}, ", "g5, g4ad"), ACTION_DENY},
        {accelerators, NULL, GPUS_LIMITED("limits: {cpu: 9}, ", "g5"), GPUS_LIMITED("", "g5"),
         ACTION_DENY},
        {accelerators, NULL, GPUS_LIMITED("limits: {cpu: 9}, ", "g5"),
         GPUS_LIMITED("limits: {cpu: 9}, ", "g5, g4ad"), ACTION_DENY},
        {overlay,
         POOL("b", IN(AWS "family", "m5, c5, r5")) OVERLAY("cheap", IN(AWS "family", "m5, c5")),
         OVERLAY("a", IN(AWS "family", "m5, c5")), OVERLAY("a", IN(AWS "family", "m5")),
         ACTION_AUDIT},
    };
    run_all(rows, COUNT_OF(rows));
}

const char unit_suite[] = "policy, what is worse";
const struct unit_test unit_tests[] = {
    {"of workloads", of_workloads},
    {"of pools", of_pools},
    {NULL, NULL},
};
