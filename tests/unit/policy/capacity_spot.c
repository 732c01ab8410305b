/* The rail capacity-types: pools that buy spot nodes unasked, of few types, or alone. */
#include "rail_modes.h"

#define KEY "karpenter.sh/capacity-type"
#define BUYS(values) "{key: " KEY ", operator: In, values: [" values "]}"
#define TYPES(values) "{key: node.kubernetes.io/instance-type, operator: In, values: [" values "]}"
#define SIX "m5.large, m5a.large, m6i.large, m6a.large, c5.large, c6i.large"
#define NAMED(name, more, reference, requirements)                                           \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: {" more \
    "template: {spec: {" reference "requirements: [" requirements "]}}}}"
#define EC2 "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}, "
#define POOL(requirements) NAMED("a", "", EC2, requirements)
#define AT "spec.template.spec.requirements"
#define FOUND "warn " AT " spot"
#define UNASKED "warn " AT " "

#define LABELLED(capacity)                                                                 \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: " \
    "{metadata: {labels: {" KEY ": " capacity "}}, spec: {" EC2 "requirements: []}}}}"
#define AUTO_MODE_OF(name, manager, requirements)                                         \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name                \
    ", labels: {app.kubernetes.io/managed-by: " manager "}}, spec: {template: {spec: "    \
    "{nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: c}, requirements: " \
    "[" requirements "]}}}}"
#define AUTO_MODE(name, manager) AUTO_MODE_OF(name, manager, "")

static void who_names_no_capacity_type_buys_spot_first(void)
{
    static const struct rail_case cases[] = {
        {POOL(""), UNASKED},
        {POOL("{key: " KEY ", operator: Exists}"), UNASKED},
        {POOL(TYPES("m5.large")), UNASKED},
        {POOL(BUYS("on-demand")), ""},
        {POOL(BUYS("on-demand, spot")), ""},
        {POOL("{key: " KEY ", operator: NotIn, values: [spot]}"), ""},
        {POOL("{key: " KEY ", operator: NotIn, values: [reserved]}"), ""},
        {NAMED("a", "", "", ""), ""},
        {LABELLED("spot"), ""},
        /* EKS Auto Mode's own is nobody's to change */
        {AUTO_MODE("general-purpose", "eks"), ""},
        {AUTO_MODE("copy", "eks"), UNASKED},
        {AUTO_MODE("general-purpose", "jane"), UNASKED},
        {NAMED("a", "", "nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: c}, ",
               ""),
         ""},
        {"{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: a}, spec: {}}",
         ""},
    };
    rail_table_run(&(struct rail_table){"capacity-types: {}", NULL, cases, COUNT_OF(cases)});
    /* a policy that names spot means it */
    static const struct rail_case meant = {POOL(""), ""};
    rail_table_run(
        &(struct rail_table){"capacity-types: {allow: [spot, on-demand]}", NULL, &meant, 1});
}

static void few_types_are_told(void)
{
    static const struct rail_case cases[] = {
        {POOL(BUYS("spot") ", " TYPES(SIX)), FOUND},
        {POOL(BUYS("spot, on-demand") ", " TYPES(SIX)), FOUND},
        {POOL(BUYS("on-demand") ", " TYPES(SIX)), ""},
        {POOL(
             BUYS("spot") ", {key: karpenter.k8s.aws/instance-family, operator: In, values: [m5]}"),
         FOUND},
        {POOL(BUYS("spot") ", {key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, "
                           "m6i]}"),
         ""},
        {NAMED("a", "replicas: 2, ", EC2, BUYS("spot") ", " TYPES(SIX)), ""},
        /* of accelerators there is no choice */
        {POOL(BUYS("spot, on-demand") ", " TYPES("g5.xlarge, g5.2xlarge")), ""},
        {POOL(BUYS("spot") ", " TYPES("g5.xlarge, g5.2xlarge")), FOUND},
        /* what no type has, pool-shape tells */
        {POOL(BUYS("spot") ", " TYPES("x9.large")), ""},
    };
    rail_table_run(&(struct rail_table){"capacity-types: {}", NULL, cases, COUNT_OF(cases)});
    rail_table_run(
        &(struct rail_table){"capacity-types: {allow: [spot, on-demand]}", NULL, cases, 1});
    static const struct rail_case denied = {POOL(BUYS("spot") ", " TYPES(SIX)),
                                            "deny " AT "[0].values[0] spot"};
    rail_table_run(&(struct rail_table){"capacity-types: {allow: [on-demand]}", NULL, &denied, 1});
}

#define TAINTED(name, taint, capacity)                                                   \
    NAMED(name, "", EC2 "taints: [{key: team, value: " taint ", effect: NoSchedule}], ", \
          BUYS(capacity))

static void spot_alone_behind_a_taint_is_noted(void)
{
    static const struct rail_case cases[] = {
        {TAINTED("a", "red", "spot"), "audit " AT " spot"},
        {TAINTED("a", "red", "spot, on-demand"), ""},
        {TAINTED("a", "blue", "spot"), ""},
        {POOL(BUYS("spot")), ""},
    };
    static const char others[] = TAINTED("a", "red", "on-demand") "\n---\n" TAINTED(
        "b", "blue", "on-demand") "\n---\n" TAINTED("c", "red", "spot");
    rail_table_run(&(struct rail_table){"capacity-types: {}", others, cases, COUNT_OF(cases)});
    /* which pools there are nobody sees, or the policy wants no on-demand */
    static const struct rail_case silent = {TAINTED("a", "red", "spot"), ""};
    rail_table_run_unseen(&(struct rail_table){"capacity-types: {}", others, &silent, 1},
                          KIND_BIT(KIND_NODE_POOL));
    rail_table_run(&(struct rail_table){"capacity-types: {allow: [spot]}", others, &silent, 1});
    /* a taint that keeps nobody out is none; another effect is another taint */
    static const struct rail_case soft = {
        NAMED("a", "", EC2 "taints: [{key: team, effect: PreferNoSchedule}], ", BUYS("spot")), ""};
    rail_table_run(&(struct rail_table){"capacity-types: {}", others, &soft, 1});
    static const char preferred[] =
        NAMED("b", "", EC2 "taints: [{key: team, value: blue, effect: PreferNoSchedule}], ",
              BUYS("on-demand"));
    rail_table_run(&(struct rail_table){"capacity-types: {}", preferred, &silent, 1});
    static const char executes[] = NAMED(
        "b", "", EC2 "taints: [{key: team, value: red, effect: NoExecute}], ", BUYS("on-demand"));
    rail_table_run(&(struct rail_table){"capacity-types: {}", executes, cases, 1});
    static const struct rail_case open = {TAINTED("a", "red", "spot"), ""};
    rail_table_run(&(struct rail_table){"capacity-types: {}",
                                        NAMED("b", "", EC2, BUYS("on-demand")), &open, 1});
    /* no other pool is visible */
    rail_table_run(&(struct rail_table){"capacity-types: {}", NULL, &open, 1});
}

/* Where no capacity-types stands beside it. */
static void pool_shape_tells_for_it(void)
{
#define BOTH "{key: kubernetes.io/arch, operator: In, values: [amd64]}, "
    static const struct rail_case cases[] = {
        {POOL(BOTH TYPES("m5.large, m5.xlarge")), "audit " AT " "},
        {POOL(BOTH BUYS("spot") ", " TYPES(SIX)), FOUND},
        {POOL(BOTH BUYS("spot") ", " TYPES("m5.large")), FOUND},
        {AUTO_MODE_OF("copy", "eks", BOTH TYPES("m5.large")), "audit " AT " "},
        {AUTO_MODE_OF("general-purpose", "eks", BOTH TYPES("m5.large")), ""},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case silent[] = {
        {POOL(BOTH TYPES("m5.large, m5.xlarge")), ""},
        {POOL(BOTH BUYS("spot") ", " TYPES(SIX)), ""},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, silent,
                                        COUNT_OF(silent)});
}

static void it_says_what_follows(void)
{
    static const struct rail_words rows[] = {
        {POOL(""),
         "No requirement names a capacity type, so Karpenter buys spot nodes first. EC2 takes them "
         "back at two minutes' notice.",
         "Add to " AT ": [{key: " KEY ", operator: In, values: [on-demand]}], or [spot, on-demand] "
         "where spot is meant."},
        {POOL(BUYS("spot") ", " TYPES(SIX)),
         "The pool buys spot nodes of only 6 instance types. With fewer than 15, interruptions are "
         "likelier, and Karpenter replaces no spot node by a cheaper one.",
         "Allow at least 15 instance types, of several families and sizes."},
        {POOL(BUYS("spot") ", " TYPES("g5.xlarge")),
         "The pool buys spot nodes of only 1 instance type. With fewer than 15, interruptions are "
         "likelier, and Karpenter replaces no spot node by a cheaper one.",
         "Allow further types with such accelerators, or on-demand beside spot."},
        {TAINTED("a", "red", "spot"),
         "The pool buys spot nodes alone, and no visible NodePool for its taint team buys "
         "on-demand. Its pods wait while there is no spot capacity.",
         "Allow on-demand beside spot, or add a NodePool of on-demand nodes with the same taint."},
    };
    rail_words_run("capacity-types: {}", TAINTED("b", "blue", "on-demand"), rows, COUNT_OF(rows));
}

const char unit_suite[] = "policy capacity-types: spot";
const struct unit_test unit_tests[] = {
    {"who names no capacity type buys spot first", who_names_no_capacity_type_buys_spot_first},
    {"few types are told", few_types_are_told},
    {"spot alone behind a taint is noted", spot_alone_behind_a_taint_is_noted},
    {"pool-shape tells for it", pool_shape_tells_for_it},
    {"it says what follows", it_says_what_follows},
    {NULL, NULL},
};
