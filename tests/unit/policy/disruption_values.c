/* The rail disruption-budgets: values that Karpenter's CRD refuses. */
#include "rail_modes.h"

#define POOL_OF(version, disruption)                                                     \
    "{apiVersion: karpenter.sh/" version ", kind: NodePool, metadata: {name: a}, spec: " \
    "{disruption: {" disruption "}, template: {spec: {expireAfter: Never}}}}"
#define POOL(disruption) POOL_OF("v1", disruption)
#define OLD(disruption) POOL_OF("v1beta1", disruption)
#define BUDGET(budget) POOL("budgets: [{nodes: 10%, " budget "}]")
#define LASTS(duration) \
    POOL("budgets: [{nodes: 10%, schedule: '@daily', duration: " duration "}, {nodes: 20%}]")
#define AFTER(value) POOL("consolidateAfter: " value)
#define POLICY "deny spec.disruption.consolidationPolicy "
#define WAIT "deny spec.disruption.consolidateAfter "
#define FIRST "deny spec.disruption.budgets[0]."

static void policies_are_those_of_the_version(void)
{
    static const struct rail_case cases[] = {
        {POOL("consolidationPolicy: WhenEmpty"), ""},
        {POOL("consolidationPolicy: WhenEmptyOrUnderutilized"), ""},
        {POOL("consolidationPolicy: Balanced"), ""},
        {POOL("consolidationPolicy: null"), ""},
        {POOL("consolidationPolicy: WhenUnderutilized"), POLICY "WhenUnderutilized"},
        {POOL("consolidationPolicy: Never"), POLICY "Never"},
        {POOL("consolidationPolicy: whenEmpty"), POLICY "whenEmpty"},
        {POOL("consolidationPolicy: 5"), POLICY "5"},
        {OLD("consolidationPolicy: WhenUnderutilized"), ""},
        {OLD("consolidationPolicy: WhenEmpty"), ""},
        {OLD("consolidationPolicy: WhenEmptyOrUnderutilized"), POLICY "WhenEmptyOrUnderutilized"},
        {OLD("consolidationPolicy: Balanced"), POLICY "Balanced"},
        /* the API server's business alone */
        {POOL("consolidationPolicy: [WhenEmpty]"), ""},
    };
    rail_table_run(&(struct rail_table){"disruption-budgets: {}", NULL, cases, COUNT_OF(cases)});
    /* A name that means what is allowed is no less wrong for that; and one finding is enough. */
    static const struct rail_case listed[] = {
        {POOL("consolidationPolicy: WhenUnderutilized"), POLICY "WhenUnderutilized"},
        {POOL("consolidationPolicy: Whenever"), POLICY "Whenever"},
        {POOL("consolidationPolicy: WhenEmptyOrUnderutilized"), ""},
    };
    rail_table_run(&(struct rail_table){
        "disruption-budgets: {consolidationPolicies: [WhenEmptyOrUnderutilized]}", NULL, listed,
        COUNT_OF(listed)});
}

static void waits_have_units(void)
{
    static const struct rail_case cases[] = {
        {AFTER("30s"), ""},
        {AFTER("1h30m"), ""},
        {AFTER("0s"), ""},
        {AFTER("Never"), ""},
        {AFTER("null"), ""},
        {AFTER("30"), WAIT "30"},
        {AFTER("'30'"), WAIT "30"},
        {AFTER("1d"), WAIT "1d"},
        {AFTER("never"), WAIT "never"},
        {AFTER("''"), WAIT},
        {AFTER("h"), WAIT "h"},
        {AFTER("1hm"), WAIT "1hm"},
        {AFTER("1h30"), WAIT "1h30"},
        {AFTER("1.5h"), WAIT "1.5h"},
        {AFTER("10ms"), WAIT "10ms"},
        {AFTER("1x"), WAIT "1x"},
        /* too long for Karpenter: the rail pool-shape finds it */
        {AFTER("99999999999999999999h"), ""},
    };
    rail_table_run(&(struct rail_table){"disruption-budgets: {}", NULL, cases, COUNT_OF(cases)});
}

static void budgets_have_reasons_and_hours(void)
{
    static const struct rail_case cases[] = {
        {BUDGET("reasons: [Drifted, Empty, Underutilized, Unhealthy]"), ""},
        {BUDGET("reasons: []"), FIRST "reasons "},
        {BUDGET("reasons: null"), ""},
        {BUDGET("reasons: Drifted"), ""},
        {BUDGET("reasons: [Drifted, drifted]"), FIRST "reasons[1] drifted"},
        {BUDGET("reasons: [Expired]"), FIRST "reasons[0] Expired"},
        {BUDGET("reasons: [Expired, Empty, 5]"), FIRST "reasons[0] Expired\n" FIRST "reasons[2] 5"},
        {LASTS("8h"), ""},
        {LASTS("90m"), ""},
        {LASTS("1h30m"), ""},
        {LASTS("8h0s"), ""},
        {LASTS("1h30m0s"), ""},
        {LASTS("90s"), FIRST "duration 90s"},
        {LASTS("1h5s"), FIRST "duration 1h5s"},
        {LASTS("1h10s"), FIRST "duration 1h10s"},
        {LASTS("0s"), FIRST "duration 0s"},
        {LASTS("30m1h"), FIRST "duration 30m1h"},
        {LASTS("1h1h"), FIRST "duration 1h1h"},
        {LASTS("1m1m"), FIRST "duration 1m1m"},
        {LASTS("8"), FIRST "duration 8"},
        /* a number is one only in quotes */
        {POOL("budgets: [{nodes: '5'}, {nodes: 5}]"), "deny spec.disruption.budgets[1].nodes 5"},
        {POOL("budgets: [{nodes: -5}]"), FIRST "nodes -5"},
    };
    rail_table_run(&(struct rail_table){"disruption-budgets: {}", NULL, cases, COUNT_OF(cases)});
    /* What cannot be read is not reckoned with, in either place. */
    static const struct rail_case unread[] = {
        {POOL("budgets: [{nodes: '0', schedule: '* * * * *', duration: 60s}]"),
         FIRST "duration 60s"},
        {POOL("budgets: [{nodes: '0', reasons: [Drift]}]"), FIRST "reasons[0] Drift"},
        {POOL("budgets: [{nodes: '0', reasons: [Drift]}, {nodes: '0', reasons: [Empty]}]"),
         FIRST "reasons[0] Drift"},
        {POOL("budgets: [{nodes: '5', reasons: [Drift]}, {nodes: 10, reasons: [Empty]}]"),
         FIRST "reasons[0] Drift\ndeny spec.disruption.budgets[1].nodes 10"},
    };
    rail_table_run(&(struct rail_table){"disruption-budgets: {requireWindow: true, maxNodes: 1%}",
                                        NULL, unread, COUNT_OF(unread)});
}

#define ANNOTATED(annotations)                                                             \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: " \
    "{metadata: {annotations: {" annotations "}}, spec: {expireAfter: Never}}}}"

/* Karpenter compares with "true" on nodes; durations are read on pods alone. */
static void nodes_may_not_opt_out(void)
{
    static const char found[] =
        "warn spec.template.metadata.annotations[karpenter.sh/do-not-disrupt] true";
    static const struct rail_case cases[] = {
        {ANNOTATED("karpenter.sh/do-not-disrupt: 'true'"), found},
        {ANNOTATED("karpenter.sh/do-not-disrupt: 'false'"), ""},
        {ANNOTATED("karpenter.sh/do-not-disrupt: 1h"), ""},
        {ANNOTATED("karpenter.sh/do-not-disrupt: true"), ""}, /* the API server refuses it */
        {ANNOTATED("example.com/do-not-disrupt: 'true'"), ""},
    };
    rail_table_run(&(struct rail_table){"disruption-budgets: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_words words = {
        ANNOTATED("karpenter.sh/do-not-disrupt: 'true'"),
        "Every node of the pool opts out of disruption. None is ever consolidated, nor replaced "
        "when it has drifted.",
        "Remove it, and let budgets say when nodes may be replaced."};
    rail_words_run("disruption-budgets: {}", NULL, &words, 1);
}

static void it_says_what_was_meant(void)
{
    static const struct rail_words rows[] = {
        {POOL("consolidationPolicy: WhenUnderutilized"),
         "WhenUnderutilized is the name it had in v1beta1. The API server refuses it.",
         "Use WhenEmptyOrUnderutilized."},
        {OLD("consolidationPolicy: WhenEmptyOrUnderutilized"),
         "WhenEmptyOrUnderutilized is the name it has in v1. The API server refuses it.",
         "Use WhenUnderutilized."},
        {OLD("consolidationPolicy: Balanced"), "\"Balanced\" is no consolidationPolicy.",
         "Use WhenUnderutilized or WhenEmpty."},
        {POOL("consolidationPolicy: whenempty"), "\"whenempty\" is no consolidationPolicy.",
         "Use WhenEmpty."},
        {POOL("consolidationPolicy: None"), "\"None\" is no consolidationPolicy.",
         "Use WhenEmptyOrUnderutilized, WhenEmpty or Balanced."},
        {AFTER("90"), "The number 90 has no unit.", "Write 90s, if seconds are meant."},
        {AFTER("2d"), "\"2d\" is no duration.", "Write 48h."},
        {AFTER("0d"), "\"0d\" is no duration.",
         "Write hours, minutes and seconds, such as 336h or 1h30m."},
        {AFTER("999999999999d"), "\"999999999999d\" is no duration.",
         "Write hours, minutes and seconds, such as 336h or 1h30m."},
        {AFTER("never"), "\"never\" is no duration.", "Use Never."},
        {BUDGET("reasons: [Expired]"),
         "\"Expired\" is no reason, since no budget holds up the expiry of nodes.",
         "Remove it, and the budget where it is for nothing else."},
        {BUDGET("reasons: [Underutilised]"), "\"Underutilised\" is no reason.",
         "Use Underutilized."},
        {BUDGET("reasons: []"),
         "With an empty list of reasons the budget is for none, so it has no effect.",
         "Remove reasons, so that it is for all of them."},
        {POOL("budgets: [{nodes: '0', reasons: []}]"),
         "With an empty list of reasons the budget is for none, so it has no effect.",
         "Name the reasons it is for, such as [Underutilized]."},
        {BUDGET("reasons: [Under-utilised]"), "\"Under-utilised\" is no reason.",
         "Use Underutilized."},
        {LASTS("90s"), "\"90s\" is no duration of hours and minutes.",
         "Write hours and minutes, such as 8h or 1h30m."},
        {LASTS("1d"), "\"1d\" is no duration.", "Write hours and minutes, such as 8h or 1h30m."},
        {POOL("budgets: [{nodes: 5}]"),
         "The API server takes nodes as a string, and 5 is a number.", "Put it in quotes: \"5\"."},
    };
    rail_words_run("disruption-budgets: {}", NULL, rows, COUNT_OF(rows));
    rail_replaces("disruption-budgets: {}", AFTER("never"), "Never");
    static const struct rail_words grace[] = {
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: "
         "{spec: {terminationGracePeriod: Never}}}}",
         "\"Never\" is no duration.", "Remove it, since without one a drain may take any time."},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: "
         "{spec: {terminationGracePeriod: 1d}}}}",
         "\"1d\" is no duration.", "Write 24h."},
    };
    rail_words_run("node-rotation: {}", NULL, grace, COUNT_OF(grace));
}

const char unit_suite[] = "policy disruption values";
const struct unit_test unit_tests[] = {
    {"policies are those of the version", policies_are_those_of_the_version},
    {"waits have units", waits_have_units},
    {"budgets have reasons and hours", budgets_have_reasons_and_hours},
    {"nodes may not opt out", nodes_may_not_opt_out},
    {"it says what was meant", it_says_what_was_meant},
    {NULL, NULL},
};
