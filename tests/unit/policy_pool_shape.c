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
    rail_table_run(&(struct rail_table){"pool-shape: {}", NULL, cases, COUNT_OF(cases)});
}

#define LABELS(labels) POOL_WITH("", "metadata: {labels: {" labels "}}, ", CMR)
#define TAINTS(taints) HEAD "{template: {spec: {" CLASS ", " taints ", requirements: [" CMR "]}}}}"

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
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}", NULL, cases, COUNT_OF(cases)});
}

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
        {"ttlSecondsAfterEmpty",
         "write spec.disruption.consolidationPolicy: WhenEmpty, and consolidateAfter beside it"},
        {"ttlSecondsUntilExpired", "write spec.template.spec.expireAfter, as in 720h"},
        {"providerRef", "write spec.template.spec.nodeClassRef"},
        {"weigth", "did you mean weight?"},
        {"templates", "did you mean template?"},
        {"disruptions", "did you mean disruption?"},
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
        /* of the built-in catalogue all arm64 types but the Macs; g5g has GPUs */
        {POOL(IN("kubernetes.io/arch", "arm64")),
         "no requirement says which machines: the pool may launch any of 396 instance types, 6 "
         "with accelerators and 50 of bare metal among them",
         "add to spec.template.spec.requirements what it is for, as in [{key: "
         "karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}]"},
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
        {POOL(CMR ", {key: a, operator: In}"),
         "a requirement whose values are missing or no strings: Karpenter refuses the pool and "
         "never "
         "uses it",
         "list the values, as strings in quotes"},
        {POOL(CMR ", {key: a, operator: NotIn}"), "NotIn without values rules nothing out",
         "list what is to be kept out, or remove the requirement"},
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

#define LABEL_AT "deny spec.template.metadata.labels"
#define X63 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

/* What Karpenter's own validation of a stored NodePool says, and the API server's does not. */
static void names_that_cannot_be_are_found(void)
{
    static const struct rail_case cases[] = {
        {LABELS("example.com/" X63 ": a, team: a, UPPER_case.1: a, a-b.example.com/x: ''"), ""},
        {LABELS("a b: a"), LABEL_AT "[a b] a b"},
        {LABELS("-x: a"), LABEL_AT "[-x] -x"},
        {LABELS("'': a"), LABEL_AT "[] "},
        {LABELS(X63 "x: a"), LABEL_AT "." X63 "x " X63 "x"},
        {LABELS("/x: a"), LABEL_AT "[/x] /x"},
        {LABELS("x/: a"), LABEL_AT "[x/] x/"},
        {LABELS("a/b/c: a"), LABEL_AT "[a/b/c] a/b/c"},
        {LABELS("Example.com/x: a"), LABEL_AT "[Example.com/x] Example.com/x"},
        {LABELS("a..b/x: a"), LABEL_AT "[a..b/x] a..b/x"},
        {LABELS("a.-b/x: a"), LABEL_AT "[a.-b/x] a.-b/x"},
        {LABELS("a b: null"), ""}, /* the API server drops it */
        {POOL(CMR ", {key: a b, operator: Exists}"),
         "deny spec.template.spec.requirements[1].key a b"},
        {POOL("{key: a b, operator: Exists}, " CMR),
         "deny spec.template.spec.requirements[0].key a b"},
        {TAINTS("taints: [{key: a b, effect: NoSchedule}]"),
         "deny spec.template.spec.taints[0].key a b"},
        {TAINTS("startupTaints: [{key: a, value: b c, effect: NoSchedule}]"),
         "deny spec.template.spec.startupTaints[0].value b c"},
        {TAINTS("taints: [{key: a, value: b/c, effect: NoSchedule}]"), ""},
        {TAINTS("taints: [{key: a, value: '', effect: NoSchedule}]"), ""},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}", NULL, cases, COUNT_OF(cases)});
}

/* 2^63 nanoseconds are 2562047h47m16.854s. */
static void durations_that_overflow_are_found(void)
{
    static const struct rail_case cases[] = {
        {TAINTS("expireAfter: 2562047h47m16s"), ""},
        {TAINTS("expireAfter: 2562047h47m17s"),
         "deny spec.template.spec.expireAfter 2562047h47m17s"},
        /* more than any number here holds; and what is no duration the API server refuses */
        {TAINTS("expireAfter: 9999999999999999999h"),
         "deny spec.template.spec.expireAfter 9999999999999999999h"},
        {TAINTS("expireAfter: 1h9999999999999999999s"),
         "deny spec.template.spec.expireAfter 1h9999999999999999999s"},
        {TAINTS("expireAfter: 00000000000000000000001h"), ""},
        {TAINTS("expireAfter: 9999999999999999999"), ""},
        {TAINTS("expireAfter: h9999999999999999999h"), ""},
        {TAINTS("expireAfter: Never"), ""},
        {TAINTS("terminationGracePeriod: 2562048h"),
         "deny spec.template.spec.terminationGracePeriod 2562048h"},
        {POOL_WITH("disruption: {consolidateAfter: 9223372037s}, ", "", CMR),
         "deny spec.disruption.consolidateAfter 9223372037s"},
        {POOL_WITH("disruption: {budgets: [{nodes: '1'}, {nodes: '0', schedule: '@daily', "
                   "duration: 2562048h}]}, ",
                   "", CMR),
         "deny spec.disruption.budgets[1].duration 2562048h"},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}", NULL, cases, COUNT_OF(cases)});
}

static void values_karpenter_knows_all_of(void)
{
#define TENANCY(more) POOL(CMR ", {key: " AWS "tenancy, operator: In, " more "}")
    static const struct rail_case cases[] = {
        {TENANCY("values: [default, dedicated]"), ""},
        {TENANCY("values: [host]"), "deny spec.template.spec.requirements[1].values[0] host"},
        {TENANCY("values: [host, dedicated]"),
         "warn spec.template.spec.requirements[1].values[0] host"},
        /* of the two that are wanted one is known */
        {TENANCY("minValues: 2, values: [host, dedicated]"),
         "deny spec.template.spec.requirements[1].values[0] host"},
        {POOL(CMR ", {key: a, operator: NotIn, values: []}"),
         "warn spec.template.spec.requirements[1].values "},
        {POOL(CMR ", {key: a, operator: In, values: []}"),
         "deny spec.template.spec.requirements[1] a"},
        {LABELS("karpenter.sh/capacity-type: cheap"),
         LABEL_AT "[karpenter.sh/capacity-type] cheap"},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {LABELS("karpenter.sh/capacity-type: cheap"),
         "found \"cheap\", which is no capacity type: the pool can launch none; allowed on-demand, "
         "spot, reserved",
         "use one of the allowed values"},
        {TAINTS("taints: [{key: a b, effect: NoSchedule}]"),
         "found \"a b\", which cannot be the key of a taint: Karpenter refuses the pool and never "
         "uses it",
         "write a name of at most 63 letters, digits, '-', '_' and '.', before it perhaps a domain "
         "in lower case and '/', as in example.com/team"},
        {TAINTS("taints: [{key: a, value: b c, effect: NoSchedule}]"),
         "found \"b c\", which cannot be the value of a taint: Karpenter refuses the pool and "
         "never uses it",
         "write at most 63 letters, digits, '-', '_' and '.'"},
        {TAINTS("expireAfter: 2562048h"),
         "found \"2562048h\", which Karpenter cannot read: the longest duration is 2562047h",
         "write Never, if that is meant"},
    };
    rail_words_run("pool-shape: {}", NULL, words, COUNT_OF(words));
}

static void it_speaks_in_every_mode(void)
{
    rail_modes_run("pool-shape", "", NULL, POOL(""));
}

const char unit_suite[] = "policy pool-shape";
const struct unit_test unit_tests[] = {
    {"dropped fields are found", dropped_fields_are_found},
    {"fields there are stay silent", fields_there_are_stay_silent},
    {"refused values are found", refused_values_are_found},
    {"pools open to all are found", pools_open_to_all_are_found},
    {"pools that launch nothing are found", pools_that_launch_nothing_are_found},
    {"it says where things belong", it_says_where_things_belong},
    {"it says what is wrong", it_says_what_is_wrong},
    {"names that cannot be are found", names_that_cannot_be_are_found},
    {"durations that overflow are found", durations_that_overflow_are_found},
    {"values Karpenter knows all of", values_karpenter_knows_all_of},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {NULL, NULL},
};
