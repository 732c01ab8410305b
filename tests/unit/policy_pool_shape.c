/* The rail pool-shape: fields that are dropped, values that are refused, pools open to all or to
 * nothing. */
#include "rail_modes.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

#define HEAD "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: "
#define CLASS "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}"
#define POOL_WITH(more, template, requirements) \
    HEAD "{" more "template: {" template "spec: {" CLASS ", requirements: [" requirements "]}}}}"
#define POOL(requirements) POOL_WITH("", "", requirements)
#define IN(key, values) "{key: " key ", operator: In, values: [" values "]}"
#define AWS "karpenter.k8s.aws/instance-"
#define CMR IN(AWS "category", "c, m, r")
#define AT "spec.template.spec.requirements"

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
         "deny spec.template.metadata.name name"},
        {POOL_WITH("", "", "{key: " AWS "family, operator: In, value: m5, values: [m5]}"),
         "deny " AT "[0].value value"},
        {POOL_WITH("disruption: {budgets: [{nodes: 10%, reason: Empty}]}, ", "", CMR),
         "deny spec.disruption.budgets[0].reason reason"},
        {HEAD "{template: {spec: {nodeClassRef: {apiVersion: karpenter.k8s.aws/v1, kind: "
              "EC2NodeClass, name: a}, kubelet: {}, requirements: [" CMR "]}}}}",
         "deny spec.template.spec.kubelet kubelet\n"
         "deny spec.template.spec.nodeClassRef.apiVersion apiVersion"},
        /* v1beta1 had them there */
        {"{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: a}, spec: "
         "{disruption: {expireAfter: 720h}, template: {spec: {nodeClassRef: {apiVersion: "
         "karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, name: a}, kubelet: {}, requirements: "
         "[" CMR "]}}}}",
         ""},
        {"{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: a}, spec: "
         "{template: {spec: {expireAfter: 720h, requirements: [" CMR "]}}}}",
         "deny spec.template.spec.expireAfter expireAfter"},
        /* a version to come may have others */
        {"{apiVersion: karpenter.sh/v2, kind: NodePool, metadata: {name: a}, spec: "
         "{template: {spec: {expireAfter: 720h, requirements: [" CMR "]}}}}",
         ""},
        {POOL_WITH("disruption: 5, ", "metadata: [1], ", CMR), ""},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}", NULL, cases, COUNT_OF(cases)});
}

#define LABELS(labels) POOL_WITH("", "metadata: {labels: {" labels "}}, ", CMR)
#define TAINTS(taints) HEAD "{template: {spec: {" CLASS ", " taints ", requirements: [" CMR "]}}}}"
#define LABEL_PATH "spec.template.metadata.labels"

static void refused_values_are_found(void)
{
    static const struct rail_case cases[] = {
        {LABELS("team: a, karpenter.sh/capacity-type: spot, notkarpenter.sh/x: y"), ""},
        {LABELS("karpenter.sh/nodepool: a"),
         "deny " LABEL_PATH "[karpenter.sh/nodepool] karpenter.sh/nodepool"},
        {LABELS("kubernetes.io/hostname: a"),
         "deny " LABEL_PATH "[kubernetes.io/hostname] kubernetes.io/hostname"},
        {LABELS("karpenter.sh/team: a"),
         "deny " LABEL_PATH "[karpenter.sh/team] karpenter.sh/team"},
        {LABELS("a.karpenter.sh/team: a"),
         "deny " LABEL_PATH "[a.karpenter.sh/team] a.karpenter.sh/team"},
        {LABELS("team: \"${TEAM}\""), "deny " LABEL_PATH ".team ${TEAM}"},
        {LABELS("team: ''"), ""},
        {LABELS("team: a-"), "deny " LABEL_PATH ".team a-"},
        {POOL(CMR ", " IN(AWS "familie", "m5")), "deny " AT "[1].key " AWS "familie"},
        {POOL(CMR ", " IN(AWS "of-tomorrow", "m5")), "warn " AT "[1].key " AWS "of-tomorrow"},
        {POOL(CMR ", " IN("karpenter.sh/nodepool", "a")),
         "deny " AT "[1].key karpenter.sh/nodepool"},
        {POOL(CMR ", {key: a, values: [b]}"), "deny " AT "[1] a"},
        {POOL(CMR ", {key: a, operator: Has}"), "deny " AT "[1] a"},
        {POOL(CMR ", {key: a, operator: In}"), "deny " AT "[1] a"},
        {POOL(CMR ", {key: a, operator: Gt, values: [b]}"), "deny " AT "[1] a"},
        {POOL(CMR ", {operator: Exists}"), "deny " AT "[1] "},
        {POOL(CMR ", 5"), "deny " AT "[1] "},
        {POOL(CMR ", {key: a, operator: In, values: [b], minValues: 2}"),
         "deny " AT "[1].minValues 2"},
        {POOL(CMR ", {key: a, operator: In, values: [b, c], minValues: 2}"), ""},
        {POOL(CMR ", " IN("topology.kubernetes.io/zone", "<<ZONE>>")),
         "deny " AT "[1].values[0] <<ZONE>>"},
        {POOL(CMR ", " IN("karpenter.sh/capacity-type", "spot, on-demand, reserved")), ""},
        {POOL(CMR ", " IN("karpenter.sh/capacity-type", "spot, ondemand")),
         "warn " AT "[1].values[1] ondemand"},
        {POOL(CMR ", " IN("karpenter.sh/capacity-type", "Spot")), "deny " AT "[1].values[0] Spot"},
        {TAINTS("taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoExecute}]"), ""},
        {TAINTS("taints: [{key: a, effect: NoSchedule}], startupTaints: [{key: b, effect: "
                "NoSchedule}, {key: a, value: c, effect: NoSchedule}]"),
         "deny spec.template.spec.startupTaints[1] a"},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}", NULL, cases, COUNT_OF(cases)});
}

static void pools_open_to_all_are_found(void)
{
    static const char open[] = "deny " AT " ";
    static const char nearly[] = "warn " AT " ";
    static const struct rail_case cases[] = {
        {POOL(""), open},
        {HEAD "{template: {spec: {" CLASS "}}}}", open},
        {HEAD "null}", open},
        {POOL(IN("kubernetes.io/arch", "amd64")), nearly},
        {POOL(IN("kubernetes.io/arch", "amd64") ", " IN(
             "karpenter.sh/capacity-type", "spot") ", " IN("topology.kubernetes.io/"
                                                           "zone",
                                                           "eu-west-1a") ", " IN("team", "a")),
         nearly},
        {POOL("{key: " AWS "generation, operator: Gt, values: ['4']}"), ""},
        {POOL(IN("eks.amazonaws.com/instance-category", "c")), ""},
        {POOL(IN("beta.kubernetes.io/instance-type", "m5.large")), ""},
        {LABELS("a: b"), ""},
        {POOL_WITH("", "metadata: {labels: {" AWS "family: m5}}, ", ""), ""},
        /* another cloud's machines are in no catalogue of ours */
        {HEAD "{template: {spec: {nodeClassRef: {group: karpenter.azure.com, kind: "
              "AKSNodeClass, name: a}, requirements: []}}}}",
         ""},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}", NULL, cases, COUNT_OF(cases)});
}

static void pools_that_launch_nothing_are_found(void)
{
    static const struct rail_case cases[] = {
        /* a family is no category, and the rail knows where it belongs */
        {POOL(IN(AWS "category", "c5, m5")),
         "deny " AT "[0].values[0] c5\ndeny " AT "[0].values[1] m5"},
        {POOL(IN(AWS "category", "c5, m")), ""},
        {POOL(IN(AWS "family", "c7id")), "warn " AT "[0].values[0] c7id"},
        {POOL(IN("node.kubernetes.io/instance-type", "trn1-32xl")),
         "warn " AT "[0].values[0] trn1-32xl"},
        {POOL(IN(AWS "family", "m5") ", " IN("kubernetes.io/arch", "arm64")),
         "deny " AT "[1] kubernetes.io/arch In arm64"},
        {POOL(IN(AWS "family", "m5") ", {key: " AWS "cpu, operator: Gt, values: ['1000']}"),
         "deny " AT "[1] " AWS "cpu Gt 1000"},
        /* each two of these leave some: m5 has 8 vCPUs in one size, and metal in another */
        {POOL(IN(AWS "family", "m5, c5") ", " IN(
             AWS "size", "large, metal") ", "
                                         "{key: " AWS
                                         "cpu, operator: Gt, values: ['2']}, {key: " AWS
                                         "cpu, operator: Lt, values: ['96']}"),
         "deny " AT " "},
        {POOL(IN(AWS "family", "m5") ", " IN("karpenter.sh/capacity-type", "spot") ", " IN("a",
                                                                                           "b")),
         ""},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}", NULL, cases, COUNT_OF(cases)});
}

static void it_speaks_in_every_mode(void)
{
    rail_modes_run("pool-shape", "", NULL, POOL(""));
}

const char unit_suite[] = "policy pool-shape";
const struct unit_test unit_tests[] = {
    {"dropped fields are found", dropped_fields_are_found},
    {"refused values are found", refused_values_are_found},
    {"pools open to all are found", pools_open_to_all_are_found},
    {"pools that launch nothing are found", pools_that_launch_nothing_are_found},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {NULL, NULL},
};
