/* The rail pool-shape: keys, values, taints and durations that Karpenter refuses. */
#include "pool_shape_pools.h"
#include "rail_modes.h"

static void refused_values_are_found(void)
{
    static const struct rail_case cases[] = {
        {LABELS("team: a, karpenter.sh/capacity-type: spot, notkarpenter.sh/x: y"), ""},
        {LABELS("karpenter.sh/nodepool: a"),
         "deny " LABELS_AT "[karpenter.sh/nodepool] karpenter.sh/nodepool"},
        {LABELS("kubernetes.io/hostname: a"),
         "deny " LABELS_AT "[kubernetes.io/hostname] kubernetes.io/hostname"},
        {LABELS("karpenter.sh/team: a"), "deny " LABELS_AT "[karpenter.sh/team] karpenter.sh/team"},
        {LABELS("a.karpenter.sh/team: a"),
         "deny " LABELS_AT "[a.karpenter.sh/team] a.karpenter.sh/team"},
        {LABELS("team: \"${TEAM}\""), "undecided " LABELS_AT ".team ${TEAM}"},
        {LABELS("team: ''"), ""},
        {LABELS("karpenter.sh/team: null"), ""}, /* the API server drops it */
        {LABELS("team: " X63), ""},
        {LABELS("team: " X63 "x"), "deny " LABELS_AT ".team " X63 "x"},
        {LABELS("x.karpenter.k8s.aws/team: a"),
         "warn " LABELS_AT "[x.karpenter.k8s.aws/team] x.karpenter.k8s.aws/team"},
        {LABELS("notkarpenter.k8s.aws/team: a"), ""},
        {LABELS("team: a-"), "deny " LABELS_AT ".team a-"},
        {POOL2(IN("karpenter.sh/nodepool", "a"), CMR), "deny " AT "[0].key karpenter.sh/nodepool"},
        {POOL2(CMR, IN(AWS "familie", "m5")), "deny " AT "[1].key " AWS "familie"},
        {POOL2(CMR, IN(AWS "of-tomorrow", "m5")), "warn " AT "[1].key " AWS "of-tomorrow"},
        {POOL2(CMR, IN("karpenter.sh/nodepool", "a")), "deny " AT "[1].key karpenter.sh/nodepool"},
        {POOL2(CMR, "{key: a, values: [b]}"), "deny " AT "[1] a"},
        {POOL2(CMR, "{key: a, operator: Has}"), "deny " AT "[1] a"},
        {POOL2(CMR, "{key: a, operator: In}"), "deny " AT "[1] a"},
        {POOL2(CMR, "{key: a, operator: Gt, values: [b]}"), "deny " AT "[1] a"},
        {POOL2(CMR, "{key: a, operator: In, values: [5]}"), "deny " AT "[1] a"},
        {POOL2(CMR, "{key: a, operator: NotIn, values: [5]}"), "deny " AT "[1] a"},
        {POOL2(CMR, "{key: a, operator: Gt, values: ['5', '6']}"), "deny " AT "[1] a"},
        {POOL2(CMR, "{key: a, operator: Gt, values: ['5']}"), ""},
        {POOL2(CMR, "{key: a, operator: Gt, values: ['${N}']}"),
         "undecided " AT "[1].values[0] ${N}"},
        {POOL2(CMR, "{operator: Exists}"), "deny " AT "[1] "},
        {POOL2(CMR, "5"), "deny " AT "[1] "},
        {POOL2(CMR, "{key: a, operator: In, values: [b], minValues: 2}"),
         "deny " AT "[1].minValues 2"},
        {POOL2(CMR, "{key: " AWS "family, operator: In, values: [m5, c5], minValues: 2}"), ""},
        {POOL2(CMR, "{key: " AWS "family, operator: Exists, minValues: 2}"), ""},
        {POOL2(CMR, "{key: " AWS "family, operator: NotIn, values: [m5], minValues: 2}"), ""},
        {POOL2(CMR, IN("topology.kubernetes.io/zone", "<<ZONE>>")),
         "undecided " AT "[1].values[0] <<ZONE>>"},
        {POOL2(CMR, IN("karpenter.sh/capacity-type", "spot, on-demand, reserved")), ""},
        {POOL2(CMR, IN("karpenter.sh/capacity-type", "spot, ondemand")),
         "warn " AT "[1].values[1] ondemand"},
        {POOL2(CMR, IN("karpenter.sh/capacity-type", "Spot")), "deny " AT "[1].values[0] Spot"},
        {TAINTS("taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoExecute}]"), ""},
        {TAINTS("taints: [{key: a, effect: NoSchedule}], startupTaints: [{key: a, effect: "
                "NoSchedule}]"),
         "deny spec.template.spec.startupTaints[0] a"},
        {TAINTS("taints: [{key: a, effect: NoSchedule}], startupTaints: [{key: b, effect: "
                "NoSchedule}, {key: a, value: c, effect: NoSchedule}]"),
         "deny spec.template.spec.startupTaints[1] a"},
        {TAINTS("startupTaints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}]"),
         "deny spec.template.spec.startupTaints[1] a"},
        {TAINTS("startupTaints: [{key: a, effect: NoSchedule}, {key: a, effect: NoExecute}]"), ""},
        {TAINTS("taints: [{key: a, effect: bc}, {key: ab, effect: c}]"), ""},
        {TAINTS("taints: [{key: z, effect: NoSchedule}], startupTaints: [{key: a, effect: "
                "NoSchedule}, {key: b, effect: NoSchedule}]"),
         ""},
        {TAINTS("taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}, {key: a, "
                "effect: NoSchedule}]"),
         "deny spec.template.spec.taints[1] a\ndeny spec.template.spec.taints[2] a"},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
}

#define OPERATORS \
    "Use In, NotIn, Exists, DoesNotExist, Gt, Lt, or, of Karpenter 1.9 or newer, Gte or Lte."

static void it_says_why_karpenter_refuses(void)
{
    static const struct rail_words rows[] = {
        {POOL2(CMR, IN(AWS "familie", "m5")),
         "A NodePool must not set karpenter.k8s.aws/instance-familie. Karpenter refuses the pool "
         "and never uses it.",
         "Use " AWS "family."},
        {LABELS("karpenter.sh/team: a"),
         "A NodePool must not set karpenter.sh/team. Karpenter refuses the pool and never uses it.",
         "Remove it, or use a label of your own domain, such as example.com/team."},
        {POOL2(CMR, "{operator: Exists}"),
         "This requirement has no key. Karpenter refuses the pool and never uses it.",
         "Name a label, such as kubernetes.io/arch."},
        {POOL2(CMR, "{key: a, operator: In}"),
         "The values of this requirement are missing or no strings. Karpenter refuses the pool and "
         "never uses it.",
         "List the values, as strings in quotes."},
        {POOL2(CMR, "{key: a, operator: NotIn}"), "NotIn without values rules nothing out.",
         "List what is to be kept out, or remove the requirement."},
        {POOL2(CMR, "{key: a, operator: Lt, values: [x]}"),
         "This requirement compares with no whole number. Karpenter refuses the pool and never "
         "uses it.",
         "Give one whole number of 0 or more, in quotes."},
        {POOL2(CMR, "{key: a, operator: Has}"),
         "The operator of this requirement does not exist. Karpenter refuses the pool and never "
         "uses it.",
         OPERATORS},
        {"{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: a}, spec: {template: "
         "{spec: {requirements: [" CMR ", {key: a, operator: Has}]}}}}",
         "The operator of this requirement does not exist. Karpenter refuses the pool and never "
         "uses it.",
         "Use In, NotIn, Exists, DoesNotExist, Gt or Lt."},
        {POOL2(CMR, IN("karpenter.sh/capacity-type", "Spot")),
         "\"Spot\" is no capacity type. Karpenter refuses the pool and never uses it.",
         "Use spot."},
        {POOL2(CMR, IN("karpenter.sh/capacity-type", "spot, cheap")),
         "\"cheap\" is no capacity type.", "Use on-demand, spot or reserved."},
        {TAINTS("taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}]"),
         "The taint a with the effect NoSchedule stands twice in taints and startupTaints. "
         "Karpenter refuses the pool and never uses it.",
         "Remove one of them."},
        {POOL2(CMR, IN(AWS "of-tomorrow", "m5")),
         "Karpenter is not known to give its nodes the label "
         "karpenter.k8s.aws/instance-of-tomorrow.",
         "Remove it, or use a label of your own domain, such as example.com/team."},
        {LABELS("team: '<team>'"),
         "No node can carry the label value \"<team>\". Karpenter refuses the pool and never uses "
         "it.",
         "Write at most 63 letters, digits, '-', '_' and '.'."},
        {POOL2(CMR, "{key: a, values: [b]}"),
         "This requirement has no operator. Karpenter refuses the pool and never uses it.",
         OPERATORS},
        {POOL2(CMR, "{key: a, operator: NotIn, values: [5]}"),
         "The values of this requirement are missing or no strings. Karpenter refuses the pool and "
         "never uses it.",
         "List the values, as strings in quotes."},
        {POOL2(CMR, "{operator: NotIn}"),
         "This requirement has no key. Karpenter refuses the pool and never uses it.",
         "Name a label, such as kubernetes.io/arch."},
        {POOL2(CMR, "{key: a, operator: In, values: [b], minValues: 2}"),
         "The requirement wants 2 different values and lists 1. Karpenter refuses the pool and "
         "never uses it.",
         "List more values, or lower minValues."},
        {POOL2(CMR, "{key: a b, operator: Exists}"),
         "\"a b\" cannot be the key of a label. Karpenter refuses the pool and never uses it.",
         "Write a name of at most 63 letters, digits, '-', '_' and '.', perhaps after a domain in "
         "lower case and '/', such as example.com/team."},
        {POOL_WITH(
             "disruption: {budgets: [{nodes: '0', schedule: '@daily', duration: 2562048h}]}, ", "",
             CMR),
         "Karpenter cannot read \"2562048h\". The longest duration is 2562047h.",
         "Remove schedule and duration, if the budget is to hold always."},
        {LABELS("a b: a"),
         "\"a b\" cannot be the key of a label. Karpenter refuses the pool and never uses it.",
         "Write a name of at most 63 letters, digits, '-', '_' and '.', perhaps after a domain in "
         "lower case and '/', such as example.com/team."},
        {POOL_WITH("disruption: {consolidateAfter: 2562048h}, ", "", CMR),
         "Karpenter cannot read \"2562048h\". The longest duration is 2562047h.",
         "Write Never, if that is meant."},
        {"{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: a}, spec: "
         "{disruption: {expireAfter: 2562048h}, template: {spec: {requirements: [" CMR "]}}}}",
         "Karpenter cannot read \"2562048h\". The longest duration is 2562047h.",
         "Write a duration such as 720h."},
        {TAINTS("terminationGracePeriod: 2562048h"),
         "Karpenter cannot read \"2562048h\". The longest duration is 2562047h.",
         "Remove it, if a drain may take any time."},
    };
    rail_words_run("pool-shape: {}, capacity-types: {mode: off}", NULL, rows, COUNT_OF(rows));
}

/* What Karpenter's own validation of a stored NodePool says, and the API server's does not. */
static void names_that_cannot_be_are_found(void)
{
    static const struct rail_case cases[] = {
        {LABELS("example.com/" X63 ": a, team: a, UPPER_case.1: a, a-b.example.com/x: ''"), ""},
        {LABELS("a b: a"), "deny " LABELS_AT "[a b] a b"},
        {LABELS("-x: a"), "deny " LABELS_AT "[-x] -x"},
        {LABELS("'': a"), "deny " LABELS_AT "[] "},
        {LABELS(X63 "x: a"), "deny " LABELS_AT "." X63 "x " X63 "x"},
        {LABELS("/x: a"), "deny " LABELS_AT "[/x] /x"},
        {LABELS("x/: a"), "deny " LABELS_AT "[x/] x/"},
        {LABELS("a/b/c: a"), "deny " LABELS_AT "[a/b/c] a/b/c"},
        {LABELS("Example.com/x: a"), "deny " LABELS_AT "[Example.com/x] Example.com/x"},
        {LABELS("a..b/x: a"), "deny " LABELS_AT "[a..b/x] a..b/x"},
        {LABELS("a.-b/x: a"), "deny " LABELS_AT "[a.-b/x] a.-b/x"},
        {LABELS("a: b, a b: c"), "deny " LABELS_AT "[a b] a b"},
        {TAINTS("taints: [{key: a, effect: NoSchedule}, {key: b, value: b c, effect: NoSchedule}]"),
         "deny spec.template.spec.taints[1].value b c"},
        /* each of several */
        {LABELS("a b: a, c d: a"), "deny " LABELS_AT "[a b] a b\ndeny " LABELS_AT "[c d] c d"},
        {LABELS("a: b c, d: e f"), "deny " LABELS_AT ".a b c\ndeny " LABELS_AT ".d e f"},
        {POOL2(CMR, "{key: a b, operator: Exists}, {key: c d, operator: Exists}"),
         "deny " AT "[1].key a b\ndeny " AT "[2].key c d"},
        {TAINTS("taints: [{key: a b, value: b c, effect: NoSchedule}, {key: c d, value: d e, "
                "effect: NoSchedule}]"),
         "deny spec.template.spec.taints[0].key a b\ndeny spec.template.spec.taints[0].value b c\n"
         "deny spec.template.spec.taints[1].key c d\ndeny spec.template.spec.taints[1].value d e"},
        {TAINTS("startupTaints: [{key: a, effect: NoSchedule}, {key: a b, effect: NoSchedule}]"),
         "deny spec.template.spec.startupTaints[1].key a b"},
        {LABELS("a b: null"), ""}, /* the API server drops it */
        {POOL2(CMR, "{key: a b, operator: Exists}"),
         "deny spec.template.spec.requirements[1].key a b"},
        {POOL2("{key: a b, operator: Exists}", CMR),
         "deny spec.template.spec.requirements[0].key a b"},
        {TAINTS("taints: [{key: a b, effect: NoSchedule}]"),
         "deny spec.template.spec.taints[0].key a b"},
        {TAINTS("startupTaints: [{key: a, value: b c, effect: NoSchedule}]"),
         "deny spec.template.spec.startupTaints[0].value b c"},
        {TAINTS("taints: [{key: a, value: b/c, effect: NoSchedule}]"), ""},
        {TAINTS("taints: [{key: a, value: '', effect: NoSchedule}]"), ""},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
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
        {TAINTS("expireAfter: '9999999999999999999'"), ""},
        {TAINTS("expireAfter: h9999999999999999999h"), ""},
        {TAINTS("expireAfter: Never"), ""},
        {TAINTS("expireAfter: '${AGE}'"), "undecided spec.template.spec.expireAfter ${AGE}"},
        {TAINTS("expireAfter: ''"), ""},
        {TAINTS("expireAfter: -9999999999999999999h"), ""},
        {TAINTS("expireAfter: 9999999999999999999d"), ""},
        {TAINTS("expireAfter: 9999999999999999999y"), ""},
        {TAINTS("expireAfter: 153722867m"), ""},
        {TAINTS("expireAfter: 153722868m"), "deny spec.template.spec.expireAfter 153722868m"},
        {"{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: a}, spec: "
         "{disruption: {expireAfter: 2562048h}, template: {spec: {requirements: [" CMR "]}}}}",
         "deny spec.disruption.expireAfter 2562048h"},
        {TAINTS("terminationGracePeriod: 2562048h"),
         "deny spec.template.spec.terminationGracePeriod 2562048h"},
        {POOL_WITH("disruption: {consolidateAfter: 9223372037s}, ", "", CMR),
         "deny spec.disruption.consolidateAfter 9223372037s"},
        {POOL_WITH("disruption: {consolidateAfter: 2562048h, budgets: [{nodes: '0', schedule: "
                   "'@daily', duration: 2562048h}, {nodes: '0', schedule: '@daily', duration: "
                   "2562049h}]}, ",
                   "", CMR),
         "deny spec.disruption.budgets[0].duration 2562048h\n"
         "deny spec.disruption.budgets[1].duration 2562049h\n"
         "deny spec.disruption.consolidateAfter 2562048h"},
        {POOL_WITH("disruption: {budgets: [{nodes: '1'}, {nodes: '0', schedule: '@daily', "
                   "duration: 2562048h}]}, ",
                   "", CMR),
         "deny spec.disruption.budgets[1].duration 2562048h"},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
}

static void values_karpenter_knows_all_of(void)
{
#define TENANCY(more) POOL2(CMR, "{key: " AWS "tenancy, operator: In, " more "}")
    static const struct rail_case cases[] = {
        {TENANCY("values: [default, dedicated]"), ""},
        {TENANCY("values: [host]"), "deny spec.template.spec.requirements[1].values[0] host"},
        {TENANCY("values: [host, guest]"),
         "deny spec.template.spec.requirements[1].values[0] host\n"
         "deny spec.template.spec.requirements[1].values[1] guest"},
        {TENANCY("values: [host, dedicated]"),
         "warn spec.template.spec.requirements[1].values[0] host"},
        /* of the two that are wanted one is known */
        {TENANCY("minValues: 2, values: [host, dedicated]"),
         "deny spec.template.spec.requirements[1].values[0] host"},
        {POOL2(CMR, "{key: a, operator: NotIn, values: []}"),
         "warn spec.template.spec.requirements[1].values "},
        {POOL2(CMR, "{key: a, operator: NotIn, values: null}"),
         "warn spec.template.spec.requirements[1].values "},
        {POOL2(CMR, "{key: a, operator: NotIn, values: b}"),
         "deny spec.template.spec.requirements[1] a"},
        {POOL2(CMR, "{key: a, operator: NotIn, values: [b]}"), ""},
        {POOL2(CMR, "{key: karpenter.sh/capacity-type, operator: NotIn, values: [cheap]}"), ""},
        {POOL2(CMR, "{key: a, operator: In, values: []}"),
         "deny spec.template.spec.requirements[1] a"},
        {LABELS("karpenter.sh/capacity-type: cheap"),
         "deny " LABELS_AT "[karpenter.sh/capacity-type] cheap"},
        {LABELS("karpenter.sh/capacity-type: spot"), ""},
        {LABELS("karpenter.sh/capacity-type: null"), ""},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {LABELS("karpenter.sh/capacity-type: cheap"),
         "\"cheap\" is no capacity type. The pool can launch no node.",
         "Use on-demand, spot or reserved."},
        {TENANCY("values: [host]"),
         "\"host\" is no tenancy. Karpenter refuses the pool and never uses it.",
         "Use default or dedicated."},
        {POOL2(CMR, IN("karpenter.sh/capacity-type", "sopt")),
         "\"sopt\" is no capacity type. Karpenter refuses the pool and never uses it.",
         "Use spot."},
        {POOL2(CMR, IN("karpenter.sh/capacity-type", "ondema")),
         "\"ondema\" is no capacity type. Karpenter refuses the pool and never uses it.",
         "Use on-demand."},
        {TAINTS("taints: [{key: a b, effect: NoSchedule}]"),
         "\"a b\" cannot be the key of a taint. Karpenter refuses the pool and never uses it.",
         "Write a name of at most 63 letters, digits, '-', '_' and '.', perhaps after a domain in "
         "lower case and '/', such as example.com/team."},
        {TAINTS("taints: [{key: a, value: b c, effect: NoSchedule}]"),
         "\"b c\" cannot be the value of a taint. Karpenter refuses the pool and never uses it.",
         "Write at most 63 letters, digits, '-', '_' and '.'."},
        {TAINTS("expireAfter: 2562048h"),
         "Karpenter cannot read \"2562048h\". The longest duration is 2562047h.",
         "Write a duration such as 720h."},
    };
    rail_words_run("pool-shape: {}, capacity-types: {mode: off}", NULL, words, COUNT_OF(words));
}

const char unit_suite[] = "policy pool-shape: values";
const struct unit_test unit_tests[] = {
    {"refused values are found", refused_values_are_found},
    {"it says why Karpenter refuses", it_says_why_karpenter_refuses},
    {"names that cannot be are found", names_that_cannot_be_are_found},
    {"durations that overflow are found", durations_that_overflow_are_found},
    {"values Karpenter knows all of", values_karpenter_knows_all_of},
    {NULL, NULL},
};
