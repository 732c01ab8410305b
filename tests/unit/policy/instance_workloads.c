/* The rail instance-types on workloads: a selector, and each term beside it. */
#include "rail_modes.h"

#define AWS "karpenter.k8s.aws/instance-"
#define TYPE "node.kubernetes.io/instance-type"
#define TERM(expressions) "{matchExpressions: [" expressions "]}"
#define PREFERENCE(expressions) "{weight: 1, preference: " TERM(expressions) "}"
#define TERMS(selector, required, preferred)                                           \
    "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeSelector: {" selector \
    "}, affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "    \
    "{nodeSelectorTerms: [" required                                                   \
    "]}, preferredDuringSchedulingIgnoredDuringExecution: [" preferred "]}}}}"
#define IN(key, values) "{key: " key ", operator: In, values: [" values "]}"
#define IS(key, operator, values) "{key: " key ", operator: " operator", values: [" values "]}"
#define REQUIRED                                                                 \
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution." \
    "nodeSelectorTerms"
#define PREFERRED "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"

static void terms_are_judged_one_by_one(void)
{
    static const struct rail_case cases[] = {
        /* each is a way to a node, beside the selector */
        {TERMS("",
               TERM(IN(AWS "size", "large")) ", " TERM(
                   IN(AWS "family", "m5") ", " IN(AWS "cpu", "'96'")),
               ""),
         "deny " REQUIRED "[1] m5.24xlarge, m5.metal"},
        {TERMS(AWS "family: m5", TERM(IN(AWS "cpu", "'2'")), ""), ""},
        {TERMS(AWS "family: m5", TERM(IN(AWS "cpu", "'96'")), ""),
         "deny " REQUIRED "[0] m5.24xlarge, m5.metal"},
        /* the selector is wrong already, or not known */
        {TERMS(AWS "family: c5", TERM(IN(AWS "cpu", "'96'")), ""),
         "deny spec.nodeSelector[" AWS "family] c5"},
        {TERMS(AWS "family: m5, " AWS "size: tiny", TERM(IN(AWS "cpu", "'96'")), ""),
         "deny spec.nodeSelector[karpenter.k8s.aws/instance-size] tiny"},
        {TERMS(AWS "family: m5, " AWS "category: q", TERM(IN(AWS "cpu", "'96'")), ""),
         "warn spec.nodeSelector[karpenter.k8s.aws/instance-category] q"},
        {TERMS(AWS "category: q", "", PREFERENCE(IN(AWS "cpu", "'96'"))),
         "warn spec.nodeSelector[karpenter.k8s.aws/instance-category] q"},
        {TERMS("", TERM(IN(AWS "family", "c5, r5")), ""),
         "deny " REQUIRED "[0].matchExpressions[0].values[0] c5\n"
         "deny " REQUIRED "[0].matchExpressions[0].values[1] r5"},
        {TERMS("", TERM(IN(AWS "family", "m5") ", " IN(AWS "cpu", "'3'")), ""),
         "deny " REQUIRED "[0] "},
        {TERMS(AWS "family: m5, " AWS "size: large", "", ""), ""},
        {TERMS(AWS "family: m5, " AWS "cpu: '96'", TERM(IN(AWS "cpu", "'96'")), ""),
         "deny spec.nodeSelector m5.24xlarge, m5.metal"},
        /* what is said at a value is not said again of its term */
        {TERMS("", TERM(IN(AWS "category", "m, q") ", " IN(AWS "cpu", "'96'")), ""),
         "warn " REQUIRED "[0].matchExpressions[0].values[1] q"},
        {TERMS("", TERM(IN(AWS "category", "c, m, q")), ""),
         "deny " REQUIRED "[0].matchExpressions[0].values[0] c\n"
         "warn " REQUIRED "[0].matchExpressions[0].values[2] q"},
    };
    rail_table_run(
        &(struct rail_table){"instance-types: {allow: {families: [m5], sizes: [large, xlarge]}}",
                             NULL, cases, COUNT_OF(cases)});
}

static void preferences_are_warned_of(void)
{
    static const struct rail_case cases[] = {
        {TERMS("", "", PREFERENCE(IN(AWS "family", "c5"))),
         "warn " PREFERRED "[0].preference.matchExpressions[0].values[0] c5"},
        {TERMS("", "", PREFERENCE(IN(AWS "cpu", "'96'"))),
         "warn " PREFERRED "[0].preference "
         "c5.24xlarge, c5.metal, c5a.24xlarge, c5ad.24xlarge, c5d.24xlarge, ... (137)"},
        /* each beside the selector, whatever the first one says */
        {TERMS(AWS "family: m5", "",
               PREFERENCE(IN(AWS "size", "large")) ", " PREFERENCE(IN(AWS "cpu", "'96'"))),
         "warn " PREFERRED "[1].preference m5.24xlarge, m5.metal"},
        {TERMS("", TERM(IN(AWS "cpu", "'2'")), PREFERENCE(IN(AWS "cpu", "'4'"))), ""},
    };
    rail_table_run(
        &(struct rail_table){"instance-types: {allow: {families: [m5], sizes: [large, xlarge]}}",
                             NULL, cases, COUNT_OF(cases)});
}

/* Other operators say what a node must not be, or no more than a bound; of what cannot be read
 * kube-scheduler has no node, and the API server speaks. */
static void only_in_names_values(void)
{
    static const struct rail_case cases[] = {
        {TERMS("", TERM(IS(AWS "family", "NotIn", "c5, m99")), ""), ""},
        {TERMS("", TERM(IS(AWS "family", "NotIn", "m5")), ""),
         "deny " REQUIRED "[0] a1.2xlarge, a1.4xlarge, a1.large, a1.medium, a1.metal, ... (1423)"},
        {TERMS("", TERM("{key: " AWS "family, operator: Exists}"), ""), ""},
        {TERMS("", TERM(IS(AWS "generation", "Gt", "'4'")), ""), ""},
        {TERMS("", TERM(IS(AWS "generation", "Gt", "'9'")), ""), "deny " REQUIRED "[0] "},
        {TERMS("", TERM(IS("team", "In", "c5")), ""), ""},
        {TERMS("", TERM(IS(AWS "family", "Is", "c5")), ""), ""},
    };
    rail_table_run(&(struct rail_table){"instance-types: {allow: {families: [m5]}}", NULL, cases,
                                        COUNT_OF(cases)});
}

/* With a list that holds nothing whoever names a type learns of it; an empty term names none. */
static void of_an_empty_list(void)
{
    static const struct rail_case cases[] = {
        {TERMS("", "", ""), ""},
        {TERMS("", "{}", ""), ""},
        {TERMS("", TERM(IN(AWS "cpu", "'16'") ", " IN(AWS "family", "m5")), ""),
         "deny " REQUIRED "[0].matchExpressions[1].values[0] m5"},
    };
    rail_table_run(&(struct rail_table){"instance-types: {deny: {types: ['*']}}", NULL, cases,
                                        COUNT_OF(cases)});
}

static void it_says_what_is_reached(void)
{
    static const struct rail_words rows[] = {
        {TERMS(AWS "family: m5, " AWS "cpu: '3'", "", ""),
         "no instance type fits all of this together; allowed m5.large, m5.xlarge",
         "remove one of the requirements"},
        {TERMS("", TERM(IN(AWS "family", "m5") ", " IN(AWS "cpu", "'3'")), ""),
         "no instance type fits all of this together; allowed m5.large, m5.xlarge",
         "remove one of the requirements"},
        {TERMS(AWS "family: m5, " AWS "cpu: '32'", "", ""),
         "reaches one instance type, which is not in the list: m5.8xlarge; allowed m5.large, "
         "m5.xlarge",
         "widen the requirements until they meet the list, or leave the choice to the NodePools"},
        {TERMS(AWS "family: m5", TERM(IN(AWS "cpu", "'96'")), ""),
         "reaches 2 instance types, none of them in the list: m5.24xlarge, m5.metal; allowed "
         "m5.large, m5.xlarge",
         "widen the requirements until they meet the list, or leave the choice to the NodePools"},
    };
    rail_words_run("instance-types: {allow: {families: [m5], sizes: [large, xlarge]}}", NULL, rows,
                   COUNT_OF(rows));
    /* four edits away is no typing error */
    static const struct rail_words unknown[] = {
        {TERMS(TYPE ": m7i.metal-9", "", ""),
         "found \"m7i.metal-9\", which the catalogue does not know", "check the name"},
        {TERMS(TYPE ": m7i.metal-24", "", ""),
         "found \"m7i.metal-24\", which the catalogue does not know",
         "did you mean m7i.metal-24xl?"},
        /* every letter is near to every other */
        {TERMS(AWS "category: q", "", ""), "found \"q\", which the catalogue does not know",
         "check the name"},
        {TERMS(AWS "generation: '22'", "", ""), "found \"22\", which the catalogue does not know",
         "check the name"},
        {TERMS(AWS "generation: '77'", "", ""), "found \"77\", which the catalogue does not know",
         "did you mean 7?"},
    };
    rail_words_run("instance-types: {allow: {families: [m7i]}}", NULL, unknown, COUNT_OF(unknown));
    /* as people write what the label has in another way, and only what is in the list */
    static const struct rail_words other_words[] = {
        {TERMS(AWS "family: M5", "", ""), "found \"M5\", which the catalogue does not know",
         "did you mean m5?"},
        {TERMS(AWS "size: 2XL", "", ""), "found \"2XL\", which the catalogue does not know",
         "did you mean 2xlarge?"},
        {TERMS(TYPE ": m5.24xl", "", ""), "found \"m5.24xl\", which the catalogue does not know",
         "did you mean m5.24xlarge?"},
        {TERMS(TYPE ": C5.24xl", "", ""), "found \"C5.24xl\", which the catalogue does not know",
         "check the name"},
    };
    rail_words_run("instance-types: {deny: {categories: [c]}}", NULL, other_words,
                   COUNT_OF(other_words));
}

static void it_speaks_in_every_mode(void)
{
    rail_modes_run("instance-types", "allow: {families: [m5]}", NULL,
                   TERMS(AWS "family: c5", "", ""));
    rail_modes_since("instance-types", "allow: {families: [m5]}",
                     "nodeSelector: {" AWS "family: c5}");
}

const char unit_suite[] = "policy instance-types, workloads";
const struct unit_test unit_tests[] = {
    {"terms are judged one by one", terms_are_judged_one_by_one},
    {"preferences are warned of", preferences_are_warned_of},
    {"only In names values", only_in_names_values},
    {"of an empty list", of_an_empty_list},
    {"it says what is reached", it_says_what_is_reached},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {NULL, NULL},
};
