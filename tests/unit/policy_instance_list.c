/* The rail instance-types: what each key of its list says of types that the catalogue knows, and of
 * names that it does not. */
#include "rail_table.h"

#define AWS "karpenter.k8s.aws/instance-"
#define TYPE(value) POD("node.kubernetes.io/instance-type: " value)
#define POD(labels) \
    "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeSelector: {" labels "}}}"
#define OUTSIDE(value) "deny spec.nodeSelector[node.kubernetes.io/instance-type] " value
#define UNKNOWN(value) "warn spec.nodeSelector[node.kubernetes.io/instance-type] " value

static void each_key_narrows_the_list(void)
{
    static const struct {
        const char *list, *inside, *outside;
    } keys[] = {
        {"allow: {types: ['m5.*']}", "m5.large", "m5a.large"},
        {"allow: {families: [m5]}", "m5.large", "c5.large"},
        {"allow: {sizes: [large]}", "m5.large", "m5.xlarge"},
        {"allow: {categories: [m]}", "m5.large", "c5.large"},
        {"allow: {architectures: [arm64]}", "m7g.large", "m5.large"},
        {"allow: {minGeneration: 5}", "m5.large", "m4.large"},
        {"allow: {families: [m5, c5], sizes: [large]}", "c5.large", "r5.large"},
        {"deny: {types: ['m5.*']}", "m5a.large", "m5.large"},
        {"deny: {families: [m5]}", "c5.large", "m5.large"},
        {"deny: {sizes: [large]}", "m5.xlarge", "m5.large"},
        {"deny: {categories: [m]}", "c5.large", "m5.large"},
        {"deny: {architectures: [arm64]}", "m5.large", "m7g.large"},
        /* all keys of deny together */
        {"deny: {families: [m5], sizes: [large]}", "m5.xlarge", "m5.large"},
        {"max: {cpu: 8}", "m5.2xlarge", "m5.4xlarge"},
        /* of a type that nobody knows */
        {"max: {cpu: 4}", "m5.xlarge", "m99.2xlarge"},
        {"max: {cpu: 3}", "m5.large", "m99.xlarge"},
        {"max: {cpu: 1}", "t2.micro", "m99.large"},
        {"max: {memory: 32Gi}", "m5.2xlarge", "r5.2xlarge"},
        {"max: {gpus: 1}", "g5.xlarge", "g5.12xlarge"},
        /* a part of a GPU is more than none, and no more than one */
        {"max: {gpus: 0}", "m5.large", "g6f.xlarge"},
        {"max: {gpus: 1}", "g6f.xlarge", "p3.8xlarge"},
    };
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        char rails[256], inside[256], outside[256], found[256];
        snprintf(rails, sizeof rails, "instance-types: {%s}", keys[i].list);
        snprintf(inside, sizeof inside, TYPE("%s"), keys[i].inside);
        snprintf(outside, sizeof outside, TYPE("%s"), keys[i].outside);
        snprintf(found, sizeof found, OUTSIDE("%s"), keys[i].outside);
        const struct rail_case cases[] = {{inside, ""}, {outside, found}};
        rail_table_run(&(struct rail_table){rails, NULL, cases, COUNT_OF(cases)});
    }
}

static void unknown_names_are_judged_by_what_they_say(void)
{
    static const struct rail_case cases[] = {
        /* of a known family: its architecture is known; its size says how many vCPUs */
        {TYPE("m7g.3xlarge"), OUTSIDE("m7g.3xlarge")},
        {TYPE("m5.1xlarge"), OUTSIDE("m5.1xlarge")},
        {TYPE("m7g.1xlarge"), UNKNOWN("m7g.1xlarge")},
        {TYPE("m7g.2xlarge"), ""},
        {TYPE("m99g.large"), UNKNOWN("m99g.large")},
        {TYPE("m99g.9xlarge"), OUTSIDE("m99g.9xlarge")},
        {TYPE("m99g.2xlarge"), UNKNOWN("m99g.2xlarge")},
        {TYPE("c99g.large"), OUTSIDE("c99g.large")},
        {TYPE("m4g.large"), OUTSIDE("m4g.large")},
        {TYPE("m99g.metal"), UNKNOWN("m99g.metal")},
        {TYPE("m99g.xlarge"), UNKNOWN("m99g.xlarge")},
        {TYPE("word"), UNKNOWN("word")},
        {POD(AWS "family: m99"), "warn spec.nodeSelector[" AWS "family] m99"},
        {POD(AWS "family: c99"), "deny spec.nodeSelector[" AWS "family] c99"},
        {POD(AWS "family: m4"), "deny spec.nodeSelector[" AWS "family] m4"},
        {POD(AWS "size: 3xlarge"), "deny spec.nodeSelector[" AWS "size] 3xlarge"},
        {POD(AWS "size: tiny"), "warn spec.nodeSelector[" AWS "size] tiny"},
        {POD(AWS "category: q"), "deny spec.nodeSelector[" AWS "category] q"},
        {POD(AWS "generation: '99'"), "warn spec.nodeSelector[" AWS "generation] 99"},
        {POD(AWS "generation: '4'"), "deny spec.nodeSelector[" AWS "generation] 4"},
        {POD(AWS "generation: '7'"), ""},
        {POD("kubernetes.io/arch: amd64"), "deny spec.nodeSelector[kubernetes.io/arch] amd64"},
    };
    rail_table_run(&(struct rail_table){
        "instance-types: {allow: {categories: [m], architectures: [arm64], minGeneration: 5}, max: "
        "{cpu: 8}}",
        NULL, cases, COUNT_OF(cases)});
    /* a size stands for its vCPUs: large for 2, xlarge for 4; that of metal nobody can tell */
    static const struct rail_case at_most_two[] = {
        {TYPE("m99.large"), UNKNOWN("m99.large")},
        {TYPE("m99.xlarge"), OUTSIDE("m99.xlarge")},
        {TYPE("m99.metal"), UNKNOWN("m99.metal")},
    };
    static const struct rail_case at_most_four[] = {{TYPE("m99.xlarge"), UNKNOWN("m99.xlarge")}};
    rail_table_run(&(struct rail_table){"instance-types: {max: {cpu: 2}}", NULL, at_most_two,
                                        COUNT_OF(at_most_two)});
    rail_table_run(&(struct rail_table){"instance-types: {max: {cpu: 4}}", NULL, at_most_four, 1});
    static const struct rail_case globs[] = {
        {TYPE("m5.77xlarge"), UNKNOWN("m5.77xlarge")},
        {TYPE("m6.large"), OUTSIDE("m6.large")},
        {POD(AWS "family: m5zz"), "warn spec.nodeSelector[" AWS "family] m5zz"},
        {POD(AWS "family: m6zz"), "deny spec.nodeSelector[" AWS "family] m6zz"},
    };
    rail_table_run(&(struct rail_table){"instance-types: {allow: {types: ['m5*.*']}}", NULL, globs,
                                        COUNT_OF(globs)});
}

#define TERM(expressions) "{matchExpressions: [" expressions "]}"
#define TERMS(selector, required, preferred)                                           \
    "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeSelector: {" selector \
    "}, affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "    \
    "{nodeSelectorTerms: [" required                                                   \
    "]}, preferredDuringSchedulingIgnoredDuringExecution: [" preferred "]}}}}"
#define IN(key, values) "{key: " key ", operator: In, values: [" values "]}"
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
        {TERMS("", TERM(IN(AWS "family", "c5, r5")), ""),
         "deny "
         "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
         "nodeSelectorTerms[0].matchExpressions[0].values[0] c5\ndeny "
         "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
         "nodeSelectorTerms[0].matchExpressions[0].values[1] r5"},
        {TERMS("", TERM(IN(AWS "family", "m5") ", " IN(AWS "cpu", "'3'")), ""),
         "deny "
         "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
         "nodeSelectorTerms[0] "},
        {TERMS("", "", "{weight: 1, preference: " TERM(IN(AWS "family", "c5")) "}"),
         "warn " PREFERRED "[0].preference.matchExpressions[0].values[0] c5"},
        {TERMS("", "", "{weight: 1, preference: " TERM(IN(AWS "cpu", "'96'")) "}"),
         "warn "
         "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference "
         "c5.24xlarge, c5.metal, c5a.24xlarge, c5ad.24xlarge, c5d.24xlarge, ... (137)"},
        {TERMS(AWS "family: m5, " AWS "size: large", "", ""), ""},
        {TERMS(AWS "family: m5, " AWS "cpu: '96'", TERM(IN(AWS "cpu", "'96'")), ""),
         "deny spec.nodeSelector m5.24xlarge, m5.metal"},
    };
    rail_table_run(
        &(struct rail_table){"instance-types: {allow: {families: [m5], sizes: [large, xlarge]}}",
                             NULL, cases, COUNT_OF(cases)});
}

const char unit_suite[] = "policy instance-types, the list";
const struct unit_test unit_tests[] = {
    {"each key narrows the list", each_key_narrows_the_list},
    {"unknown names are judged by what they say", unknown_names_are_judged_by_what_they_say},
    {"terms are judged one by one", terms_are_judged_one_by_one},
    {NULL, NULL},
};
