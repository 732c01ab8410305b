/* The rail placeable: pods that nothing could ever run, and what does not count. */
#include "rail_table.h"

#define POD(spec) "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {" spec "}}"
#define ASKS(requests) "containers: [{name: m, resources: {requests: {" requests "}}}]"
#define ANY ASKS("cpu: 1")
#define POOL(name, more, requirements)                                                       \
    "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: {" \
    "limits: {cpu: 1}, template: {metadata: {labels: {pool: " name "}}, spec: {" more        \
    "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: d}, requirements: "  \
    "[" requirements "]}}}}\n"
#define FAMILY(family) \
    "{key: karpenter.k8s.aws/instance-family, operator: In, values: [" family "]}"
#define ZONES "{key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a]}"

/* The largest m5 has 96 cpu, the Node, which is full, 200. */
static const char cluster[] = POOL("general", "", FAMILY("m5") ", " ZONES) POOL(
    "gpu", "taints: [{key: nvidia.com/gpu, effect: NoSchedule}], ",
    FAMILY("g5")) "---\n{apiVersion: v1, kind: Node, metadata: {name: big, labels: "
                  "{kubernetes.io/hostname: big, "
                  "rack: r1}}, status: {capacity: {cpu: 200, memory: 1Ti, pods: 110}, allocatable: "
                  "{cpu: 200, "
                  "memory: 1Ti, pods: 110}}}\n"
                  "---\n{apiVersion: v1, kind: Pod, metadata: {name: full}, spec: {nodeName: "
                  "big, " ASKS("cpu: 200") "}}\n"
                                           "---\n{apiVersion: v1, kind: PersistentVolume, "
                                           "metadata: {name: pv}, spec: {claimRef: "
                                           "{namespace: default, name: far}, csi: {driver: "
                                           "ebs.csi.aws.com}, nodeAffinity: {required: "
                                           "{nodeSelectorTerms: [{matchExpressions: [{key: "
                                           "topology.kubernetes.io/zone, operator: In, "
                                           "values: [eu-west-1c]}]}]}}}}\n"
                                           "---\n{apiVersion: v1, kind: PersistentVolumeClaim, "
                                           "metadata: {name: far, annotations: "
                                           "{pv.kubernetes.io/bind-completed: 'yes'}}, spec: "
                                           "{volumeName: pv}}\n";

static void pods_are_tried_on_pools_and_nodes(void)
{
    static const struct rail_case cases[] = {
        {POD(ANY), ""},
        /* beyond the limit of the pool, which does not count */
        {POD(ASKS("cpu: 90")), ""},
        /* no type has it, and the Node would, were it empty */
        {POD(ASKS("cpu: 190")), ""},
        {POD(ASKS("cpu: 201")), "deny spec "},
        {POD(ASKS("cpu: 190") ", nodeSelector: {pool: general}"), "deny spec "},
        {POD(ANY ", nodeSelector: {pool: general}"), ""},
        {POD(ANY ", nodeSelector: {rack: r1}"), ""},
        {POD(ANY ", nodeSelector: {rack: r2}"), "deny spec "},
        {POD(ANY ", nodeSelector: {topology.kubernetes.io/zone: eu-west-1a}"), ""},
        {POD(ANY ", nodeSelector: {topology.kubernetes.io/zone: eu-west-1c}"), "deny spec "},
        {POD(ANY ", nodeSelector: {kubernetes.io/arch: arm64}"), "deny spec "},
        /* NotIn and DoesNotExist of keys that nobody has */
        {POD(ANY ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                 "{nodeSelectorTerms: [{matchExpressions: [{key: x, operator: DoesNotExist}, {key: "
                 "y, operator: NotIn, values: [a]}]}]}}}"),
         ""},
        /* one of two alternatives */
        {POD(ANY ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                 "{nodeSelectorTerms: [{matchExpressions: [{key: x, operator: Exists}]}, "
                 "{matchExpressions: [{key: pool, operator: Exists}]}]}}}"),
         ""},
        {POD(ASKS("cpu: 1, nvidia.com/gpu: 1")), "deny spec "},
        {POD(ASKS("cpu: 1, nvidia.com/gpu: 1") ", tolerations: [{key: nvidia.com/gpu, operator: "
                                               "Exists}]"),
         ""},
        {POD(ASKS("cpu: 1, nvidia.com/gpu: 9") ", tolerations: [{operator: Exists}]"),
         "deny spec "},
        {POD(ANY ", volumes: [{name: v, persistentVolumeClaim: {claimName: far}}]"), "deny spec "},
        /* other pods, preferences, devices and what is settled do not count */
        {POD(ANY ", affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                 "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: "
                 "none}}}]}}"),
         ""},
        {POD(ANY ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: nowhere, "
                 "whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]"),
         ""},
        {POD(ASKS("cpu: 201") ", resourceClaims: [{name: gpu, resourceClaimName: gpu}]"), ""},
        {POD(ASKS("cpu: 201") ", nodeName: big"), ""},
        {POD("containers: []"), ""},
    };
    rail_table_run(
        &(struct rail_table){"placeable: {mode: enforce}", cluster, cases, COUNT_OF(cases)});
}

static void pools_that_are_given_the_benefit_of_the_doubt(void)
{
    static const char others[] =
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: azure}, spec: {template: "
        "{spec: {taints: [{key: azure, effect: NoSchedule}], nodeClassRef: {group: "
        "karpenter.azure.com, kind: AKSNodeClass, name: d}, requirements: []}}}}\n"
        "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: static}, spec: "
        "{replicas: 3, template: {metadata: {labels: {pool: static}}, spec: {nodeClassRef: {group: "
        "karpenter.k8s.aws, kind: EC2NodeClass, name: d}, requirements: ["
        "{key: pool, operator: Exists}]}}}}\n";
    static const struct rail_case cases[] = {
        {POD(ASKS("cpu: 201")), ""},
        {POD(ANY ", nodeSelector: {pool: static}"), ""},
        {POD(ANY ", nodeSelector: {pool: other}"), "deny spec "},
        {POD(ANY ", nodeSelector: {karpenter.sh/nodepool: azure}"), "deny spec "},
        {POD(ANY ", nodeSelector: {karpenter.sh/nodepool: azure}, tolerations: [{key: azure, "
                 "operator: Exists}]"),
         ""},
    };
    rail_table_run(
        &(struct rail_table){"placeable: {mode: enforce}", others, cases, COUNT_OF(cases)});
}

static void every_kind_of_workload(void)
{
#define TEMPLATE(spec) "{spec: {" spec "}}"
#define OF(api, kind, spec) \
    "{apiVersion: " api ", kind: " kind ", metadata: {name: a}, spec: {" spec "}}"
#define LARGE TEMPLATE(ASKS("cpu: 201"))
    static const char found[] = "deny spec.template.spec ";
    static const struct rail_case cases[] = {
        {OF("apps/v1", "Deployment", "template: " LARGE), found},
        {OF("apps/v1", "ReplicaSet", "template: " LARGE), found},
        {OF("v1", "ReplicationController", "template: " LARGE), found},
        {OF("apps/v1", "StatefulSet", "template: " LARGE), found},
        {OF("batch/v1", "Job", "template: " LARGE), found},
        {OF("batch/v1", "CronJob", "jobTemplate: {spec: {template: " LARGE "}}"),
         "deny spec.jobTemplate.spec.template.spec "},
        {OF("apps/v1", "DaemonSet", "template: " LARGE), ""},
        /* to its pods the API server adds the toleration */
        {OF("apps/v1", "Deployment", "template: " TEMPLATE(ASKS("cpu: 1, nvidia.com/gpu: 1"))), ""},
    };
    rail_table_run(
        &(struct rail_table){"placeable: {mode: enforce}", cluster, cases, COUNT_OF(cases)});
}

static void with_nothing_visible_nothing_is_decided(void)
{
    static const struct rail_case cases[] = {
        {POD(ANY), "undecided spec "},
    };
    rail_table_run(&(struct rail_table){"placeable: {}", NULL, cases, COUNT_OF(cases)});
}

static void it_only_warns_unless_it_has_a_mode_of_its_own(void)
{
    static const struct rail_case cases[] = {
        {POD(ASKS("cpu: 201")), "warn spec "},
    };
    rail_table_run(&(struct rail_table){"placeable: {}", cluster, cases, COUNT_OF(cases)});
}

const char unit_suite[] = "policy placeable";
const struct unit_test unit_tests[] = {
    {"pods are tried on pools and Nodes", pods_are_tried_on_pools_and_nodes},
    {"pools that are given the benefit of the doubt",
     pools_that_are_given_the_benefit_of_the_doubt},
    {"every kind of workload", every_kind_of_workload},
    {"with nothing visible nothing is decided", with_nothing_visible_nothing_is_decided},
    {"it only warns unless it has a mode of its own",
     it_only_warns_unless_it_has_a_mode_of_its_own},
    {NULL, NULL},
};
