/* The rail pool-shape: fields that are dropped, values that are refused, pools open to all or to
 * nothing. */
#include "rail_modes.h"

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
         "warn spec.template.metadata.name name"},
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
        {POOL(IN("karpenter.sh/nodepool", "a") ", " CMR),
         "deny " AT "[0].key karpenter.sh/nodepool"},
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
        {TAINTS("taints: [{key: a, effect: NoSchedule}], startupTaints: [{key: a, effect: "
                "NoSchedule}]"),
         "deny spec.template.spec.startupTaints[0] a"},
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
        {POOL_WITH("", "metadata: {labels: {" AWS "family: m5}}, ",
                   IN("kubernetes.io/arch", "arm64")),
         "deny spec.template.metadata.labels[" AWS "family] " AWS "family In m5"},
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

static void it_says_where_things_belong(void)
{
    static const char dropped[] =
        "\" where a NodePool of v1 has no such field: the API server drops "
        "it silently";
    static const struct {
        const char *field, *fix;
    } fields[] = {
        {"requirements", "move it to spec.template.spec.requirements"},
        {"labels", "move it to spec.template.metadata.labels"},
        {"budgets", "move it to spec.disruption.budgets"},
        {"kubelet", "move it to the EC2NodeClass, as spec.kubelet"},
        {"ttlSecondsUntilExpired", "write spec.template.spec.expireAfter, as in 720h"},
        {"providerRef", "write spec.template.spec.nodeClassRef"},
        {"weigth", "did you mean weight?"},
        {"templates", "did you mean template?"},
    };
    struct arena *arena = arena_create(1 << 20);
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        struct rail_words row = {
            arena_printf(arena,
                         HEAD "{%s: 1, template: {spec: {" CLASS ", requirements: [" CMR "]}}}}",
                         fields[i].field)
                .data,
            arena_printf(arena, "found \"%s%s", fields[i].field, dropped).data, fields[i].fix};
        rail_words_run("pool-shape: {}", NULL, &row, 1);
    }
    arena_destroy(arena);
}

static void it_says_what_is_wrong(void)
{
    static const struct rail_words rows[] = {
        {POOL_WITH("tomorrow: 1, ", "", CMR),
         "found \"tomorrow\" where a NodePool of v1 has no such field, unless your Karpenter is "
         "newer "
         "than what is known here: the API server drops it silently",
         "remove it"},
        {POOL(CMR ", " IN(AWS "familie", "m5")),
         "found \"" AWS "familie\", which a NodePool must not set: Karpenter refuses the pool and "
         "never uses it",
         "replace with " AWS "family"},
        {LABELS("karpenter.sh/team: a"),
         "found \"karpenter.sh/team\", which a NodePool must not set: Karpenter refuses the pool "
         "and "
         "never uses it",
         "remove it, or use a label of your own domain"},
        {POOL(CMR ", {operator: Exists}"),
         "a requirement without a key: Karpenter refuses the pool and never uses it",
         "name a label, as in kubernetes.io/arch"},
        {POOL(CMR ", {key: a, operator: NotIn}"),
         "a requirement whose values are missing or no strings: Karpenter refuses the pool and "
         "never "
         "uses it",
         "list the values, as strings in quotes"},
        {POOL(CMR ", {key: a, operator: Lt, values: [x]}"),
         "a requirement that compares with no whole number: Karpenter refuses the pool and never "
         "uses it",
         "give one whole number, in quotes"},
        {POOL(CMR ", {key: a, operator: Has}"),
         "a requirement with an operator that does not exist: Karpenter refuses the pool and never "
         "uses it",
         "use In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte"},
        {POOL(IN(AWS "category", "m5.large")),
         "found \"m5.large\", which no instance type has as " AWS
         "category: the pool can launch none",
         "it is a value of node.kubernetes.io/instance-type: use that key"},
        {POOL(IN(AWS "category", "xlarge")),
         "found \"xlarge\", which no instance type has as " AWS
         "category: the pool can launch none",
         "it is a value of " AWS "size: use that key"},
        {POOL(IN(AWS "family", "c")),
         "found \"c\", which no instance type has as " AWS "family: the pool can launch none",
         "it is a value of " AWS "category: use that key"},
        {POOL(IN(AWS "size", "12xlarg")),
         "found \"12xlarg\", which no instance type the catalogue knows has as " AWS
         "size: the pool can launch none",
         "did you mean 12xlarge?"},
        {POOL(IN(AWS "size", "enormous")),
         "found \"enormous\", which no instance type the catalogue knows has as " AWS
         "size: the pool can launch none",
         "check the name"},
        {POOL("{key: " AWS "cpu, operator: Gt, values: ['100000']}"),
         "no instance type fits " AWS "cpu Gt 100000: the pool can launch none", "change it"},
        {POOL(IN(AWS "family", "m5, c5, r5, m6i") ", " IN("kubernetes.io/arch", "arm64")),
         "no instance type fits kubernetes.io/arch In arm64 beside " AWS
         "family In m5, c5, r5, ...: the pool can launch none",
         "change one of the two"},
        {POOL(CMR ", " IN("karpenter.sh/capacity-type", "Spot")),
         "found \"Spot\", which is no capacity type: Karpenter refuses the pool and never uses it; "
         "allowed on-demand, spot, reserved",
         "replace with spot"},
        {POOL(CMR ", " IN("karpenter.sh/capacity-type", "spot, cheap")),
         "found \"cheap\", which is no capacity type; allowed on-demand, spot, reserved",
         "use one of the allowed values"},
        {TAINTS("taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}]"),
         "the taint a with the effect NoSchedule stands twice in taints and startupTaints: "
         "Karpenter "
         "refuses the pool and never uses it",
         "remove one of them"},
    };
    rail_words_run("pool-shape: {}", NULL, rows, COUNT_OF(rows));
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
    {"it says where things belong", it_says_where_things_belong},
    {"it says what is wrong", it_says_what_is_wrong},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {NULL, NULL},
};
