/* The rail instance-types, in words: what it tells the owner of a NodePool to write. */
#include "rail_modes.h"

#define POOL(group, kind, key)                                                                    \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: {spec: " \
    "{nodeClassRef: {group: " group ", kind: " kind ", name: default}, requirements: [{key: " key \
    ", operator: In, values: [g5]}]}}}}"

/* Of g5 there are eight sizes, and one of them is in the list. */
static void what_to_add_is_spelt_as_the_provider_does(void)
{
    static const char seven[] =
        "7 of the 8 instance types it can launch are outside the list: g5.12xlarge, g5.16xlarge, "
        "g5.24xlarge, g5.2xlarge, g5.48xlarge, ... (7); allowed g5.xlarge, c5.xlarge";
    static const struct rail_words rows[] = {
        {POOL("karpenter.k8s.aws", "EC2NodeClass", "karpenter.k8s.aws/instance-family"), seven,
         "add to spec.template.spec.requirements: [{key: karpenter.k8s.aws/instance-size, "
         "operator: In, values: [xlarge]}]"},
        {POOL("eks.amazonaws.com", "NodeClass", "eks.amazonaws.com/instance-family"), seven,
         "add to spec.template.spec.requirements: [{key: eks.amazonaws.com/instance-size, "
         "operator: In, values: [xlarge]}]"},
    };
    rail_words_run("instance-types: {allow: {families: [c5, g5], sizes: [xlarge]}}", NULL, rows,
                   COUNT_OF(rows));
    static const struct rail_words types[] = {
        {POOL("eks.amazonaws.com", "NodeClass", "eks.amazonaws.com/instance-family"), seven,
         "add to spec.template.spec.requirements: [{key: node.kubernetes.io/instance-type, "
         "operator: In, values: [g5.xlarge]}]"},
    };
    rail_words_run("instance-types: {allow: {types: [c5.xlarge, g5.xlarge]}}", NULL, types,
                   COUNT_OF(types));
}

/* c7g is arm64; m5 has both sizes, and is not in the list. */
static void what_keeps_the_list_out_is_named(void)
{
#define OF(requirements)                                                                          \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: {spec: " \
    "{nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, "              \
    "requirements: [" requirements "]}}}}"
#define IN(key, values) "{key: " key ", operator: In, values: [" values "]}"
#define FAMILY(values) IN("karpenter.k8s.aws/instance-family", values)
#define SIZE(values) IN("karpenter.k8s.aws/instance-size", values)
    static const char two[] =
        "all 2 instance types it can launch are outside the list: m5.large, m5.xlarge; "
        "allowed c7g.2xlarge, m5.2xlarge";
    static const struct rail_words rows[] = {
        {OF(FAMILY("m5") ", " SIZE("large, xlarge")), two,
         "no type of the list fits these requirements; change the one on "
         "karpenter.k8s.aws/instance-size"},
        {OF(FAMILY("r5") ", " SIZE("large")),
         "the one instance type it can launch is outside the list: r5.large; allowed c7g.2xlarge, "
         "m5.2xlarge",
         "no type of the list fits these requirements; change the ones on "
         "karpenter.k8s.aws/instance-family, karpenter.k8s.aws/instance-size"},
        {OF(FAMILY("m5, r5") ", " SIZE("2xlarge") ", " IN(
             "kubernetes.io/arch",
             "amd64") ", "
                      "{key: karpenter.k8s.aws/instance-memory, operator: Gt, values: ['40000']}"),
         "the one instance type it can launch is outside the list: r5.2xlarge; allowed "
         "c7g.2xlarge, m5.2xlarge",
         "no type of the list fits these requirements; change the one on "
         "karpenter.k8s.aws/instance-memory"},
    };
    rail_words_run("instance-types: {allow: {families: [c7g, m5], sizes: [2xlarge]}}", NULL, rows,
                   COUNT_OF(rows));
}

const char unit_suite[] = "policy instance pools";
const struct unit_test unit_tests[] = {
    {"what to add is spelt as the provider does", what_to_add_is_spelt_as_the_provider_does},
    {"what keeps the list out is named", what_keeps_the_list_out_is_named},
    {NULL, NULL},
};
