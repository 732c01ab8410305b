/* The rail zones: pods, pools and storage classes in the zones of a list. */
#include "rail_modes.h"

#define ZONE "topology.kubernetes.io/zone"
#define ZONE_ID "topology.k8s.aws/zone-id"
#define RAILS "zones: {allow: [eu-west-1a, eu-west-1b]}"
#define KEYS "allow: [eu-west-1a, eu-west-1b]"
#define IN(key, values) "{key: " key ", operator: In, values: [" values "]}"
#define NOT_IN(key, values) "{key: " key ", operator: NotIn, values: [" values "]}"
#define POD(spec) "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {" spec "}}"
#define SELECTS(key, value) "nodeSelector: {" key ": " value "}"
#define REQUIRES(terms)                                                           \
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {" \
    "nodeSelectorTerms: [" terms "]}}}"
#define TERM(expressions) "{matchExpressions: [" expressions "]}"
#define REQUIRED                                                                 \
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution." \
    "nodeSelectorTerms"
#define SUBNETS                                                                                 \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: c}, status: "      \
    "{subnets: [{id: s1, zone: eu-west-1a, zoneID: euw1-az1}, {id: s2, zone: eu-west-1c, "      \
    "zoneID: euw1-az3}]}}\n---\n"                                                               \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: inside}, status: " \
    "{subnets: [{id: s1, zone: eu-west-1a, zoneID: euw1-az1}]}}\n---\n"                         \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: silent}, status: " \
    "{subnets: [{id: s3}]}}\n---\n"                                                             \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: none}, status: "   \
    "{subnets: []}}"

static void pods_stay_in_the_zones(void)
{
    static const struct rail_case cases[] = {
        {POD(""), ""},
        {POD(SELECTS(ZONE, "eu-west-1a")), ""},
        {POD(SELECTS(ZONE, "eu-west-1c")), "deny spec.nodeSelector[" ZONE "] eu-west-1c"},
        {POD(SELECTS("failure-domain.beta.kubernetes.io/zone", "eu-west-1c")),
         "deny spec.nodeSelector[failure-domain.beta.kubernetes.io/zone] eu-west-1c"},
        {POD(SELECTS("topology.ebs.csi.aws.com/zone", "eu-west-1b")), ""},
        {POD(SELECTS(ZONE_ID, "euw1-az1")), ""},
        {POD(SELECTS(ZONE_ID, "euw1-az3")), "deny spec.nodeSelector[" ZONE_ID "] euw1-az3"},
        {POD(SELECTS(ZONE_ID, "euw1-az2")), "undecided spec.nodeSelector[" ZONE_ID "] euw1-az2"},
        {POD(SELECTS("topology.kubernetes.io/region", "eu-west-2")), ""},
        {POD(REQUIRES(TERM(IN(ZONE, "eu-west-1a, eu-west-1d")))),
         "deny " REQUIRED "[0].matchExpressions[0].values[1] eu-west-1d"},
        {POD(REQUIRES(TERM(NOT_IN(ZONE, "eu-west-1a")))), ""},
        {POD(REQUIRES(TERM(NOT_IN(ZONE, "eu-west-1a, eu-west-1b")))),
         "deny " REQUIRED "[0].matchExpressions[0] NotIn"},
        {POD(REQUIRES(TERM(NOT_IN("topology.ebs.csi.aws.com/zone", "eu-west-1a, eu-west-1b")))),
         "deny " REQUIRED "[0].matchExpressions[0] NotIn"},
        {POD("affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: "
             "1, preference: " TERM(IN(ZONE, "eu-west-1c")) "}]}}"),
         "warn spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
         "preference.matchExpressions[0].values[0] eu-west-1c"},
        {"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {template: {spec: "
         "{" SELECTS(ZONE, "eu-west-1c") "}}}}",
         "deny spec.template.spec.nodeSelector[" ZONE "] eu-west-1c"},
    };
    rail_table_run(&(struct rail_table){RAILS, SUBNETS, cases, COUNT_OF(cases)});
}

#define POOL(class, requirements)                                                                 \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: {spec: " \
    "{nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: " class "}, "            \
                                                                                 "requirements: " \
                                                                                 "[" requirements \
                                                                                 "]}}}}"
#define AT "spec.template.spec.requirements"

static void pools_stay_in_the_zones(void)
{
    static const struct rail_case cases[] = {
        {POOL("unseen", ""), "deny " AT " "},
        {POOL("unseen", NOT_IN(ZONE, "eu-west-1c")), "deny " AT " "},
        {POOL("unseen", IN(ZONE, "eu-west-1a")), ""},
        {POOL("unseen", IN(ZONE, "eu-west-1a, eu-west-1c")), "deny " AT "[0].values[1] eu-west-1c"},
        {POOL("unseen", IN(ZONE_ID, "euw1-az1")), ""},
        {POOL("unseen", IN(ZONE_ID, "euw1-az3")), "deny " AT "[0].values[0] euw1-az3"},
        {POOL("c", ""), "deny " AT " eu-west-1c"},
        {POOL("c", NOT_IN(ZONE, "eu-west-1c")), ""},
        {POOL("c", NOT_IN(ZONE, "eu-west-1a")), "deny " AT " eu-west-1c"},
        {POOL("inside", ""), ""},
        /* subnets that say no zone tell as little as none */
        {POOL("silent", ""), "deny " AT " "},
        {POOL("none", ""), "deny " AT " "},
        {POOL("inside", IN(ZONE_ID, "euw1-az1, euw1-az9")),
         "undecided " AT "[0].values[1] euw1-az9"},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: "
         "{metadata: {labels: {" ZONE ": eu-west-1c}}}}}",
         "deny spec.template.metadata.labels[" ZONE "] eu-west-1c"},
    };
    rail_table_run(&(struct rail_table){RAILS, SUBNETS, cases, COUNT_OF(cases)});
}

#define CLASS(rest)                                                                          \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: a}, provisioner: " \
    "ebs.csi.aws.com" rest "}"
#define TOPOLOGY(key, values) \
    ", allowedTopologies: [{matchLabelExpressions: [{key: " key ", values: [" values "]}]}]"

static void storage_classes_stay_in_the_zones(void)
{
    static const char at[] = "deny allowedTopologies[0].matchLabelExpressions[0].values[1] "
                             "eu-west-1c";
    static const struct rail_case cases[] = {
        {CLASS(""), ""},
        {CLASS(TOPOLOGY(ZONE, "eu-west-1a")), ""},
        {CLASS(TOPOLOGY(ZONE, "eu-west-1a, eu-west-1c")), at},
        {CLASS(TOPOLOGY("topology.ebs.csi.aws.com/zone", "eu-west-1a, eu-west-1c")), at},
        {CLASS(TOPOLOGY("kubernetes.io/os", "linux")), ""},
        {CLASS(TOPOLOGY(ZONE_ID, "euw1-az1")),
         "undecided allowedTopologies[0].matchLabelExpressions[0].values[0] euw1-az1"},
        {CLASS(", parameters: {zone: eu-west-1c}"), "deny parameters.zone eu-west-1c"},
        {CLASS(", parameters: {zones: 'eu-west-1a, eu-west-1c ,eu-west-1b'}"),
         "deny parameters.zones eu-west-1c"},
        {CLASS(", parameters: {zones: 'eu-west-1c,eu-west-1d'}"),
         "deny parameters.zones eu-west-1c\ndeny parameters.zones eu-west-1d"},
        /* every term is a choice that may be taken */
        {CLASS(
             ", allowedTopologies: [{matchLabelExpressions: [{key: " ZONE
             ", values: [eu-west-1a]}]}, {matchLabelExpressions: [{key: kubernetes.io/os, values: "
             "[linux]}, {key: " ZONE ", values: [eu-west-1c]}]}]"),
         "deny allowedTopologies[1].matchLabelExpressions[1].values[0] eu-west-1c"},
        /* what is no zone */
        {CLASS(TOPOLOGY(ZONE, "5, null, ''")), ""},
        {CLASS(", allowedTopologies: [{matchLabelExpressions: [{key: " ZONE
               ", values: eu-west-1c}, {key: " ZONE ", values: {eu-west-1c: a}}]}]"),
         ""},
        {CLASS(", parameters: {zone: '', zones: ' , ,'}"), ""},
        {CLASS(", parameters: {zone: 5, zones: [eu-west-1c]}"), ""},
        {CLASS(", parameters: {type: gp2}"), ""},
    };
    rail_table_run(&(struct rail_table){RAILS, NULL, cases, COUNT_OF(cases)});
    static const struct rail_case by_id[] = {
        {CLASS(TOPOLOGY(ZONE_ID, "euw1-az1")), ""},
        {CLASS(TOPOLOGY(ZONE_ID, "euw1-az3")),
         "deny allowedTopologies[0].matchLabelExpressions[0].values[0] euw1-az3"},
        {CLASS(TOPOLOGY(ZONE_ID, "euw1-az9")),
         "undecided allowedTopologies[0].matchLabelExpressions[0].values[0] euw1-az9"},
    };
    rail_table_run(&(struct rail_table){RAILS, SUBNETS, by_id, COUNT_OF(by_id)});
}

/* Clouds of one's own call their zones as they like. */
static void names_may_be_short(void)
{
    static const struct rail_case cases[] = {
        {POD(SELECTS(ZONE, "b")), ""},
        {POD(SELECTS(ZONE, "c")), "deny spec.nodeSelector[" ZONE "] c"},
        {CLASS(TOPOLOGY(ZONE, "a, c")),
         "deny allowedTopologies[0].matchLabelExpressions[0].values[1] c"},
        {CLASS(", parameters: {zone: c}"), "deny parameters.zone c"},
        {CLASS(", parameters: {zones: 'a , c,b'}"), "deny parameters.zones c"},
        {CLASS(", parameters: {zones: '  c  '}"), "deny parameters.zones c"},
        {CLASS(", parameters: {zones: 'b,,a, '}"), ""},
    };
    rail_table_run(&(struct rail_table){"zones: {allow: [a, b]}", NULL, cases, COUNT_OF(cases)});
}

/* Who has pods name their zones by id can allow them so, and needs no EC2NodeClass for that. */
static void ids_may_be_allowed(void)
{
    static const struct rail_case cases[] = {
        {POD(SELECTS(ZONE_ID, "euw1-az2")), ""},
        {CLASS(TOPOLOGY(ZONE_ID, "euw1-az2")), ""},
        {POD(SELECTS(ZONE, "eu-west-1a")), "deny spec.nodeSelector[" ZONE "] eu-west-1a"},
    };
    rail_table_run(
        &(struct rail_table){"zones: {allow: [euw1-az2]}", NULL, cases, COUNT_OF(cases)});
}

static void without_a_list_nothing_is_found(void)
{
    static const struct rail_case cases[] = {
        {POD(SELECTS(ZONE, "eu-west-1c")), ""},
        {POOL("unseen", ""), ""},
        {POOL("c", IN(ZONE, "eu-west-1c")), ""},
        {CLASS(", parameters: {zone: eu-west-1c}"), ""},
    };
    rail_table_run(&(struct rail_table){"zones: {}", SUBNETS, cases, COUNT_OF(cases)});
}

static void it_says_what_to_add(void)
{
    static const char add[] = "add to spec.template.spec.requirements: [{key: " ZONE
                              ", operator: In, values: [eu-west-1a, eu-west-1b]}]";
    static const struct rail_words rows[] = {
        {POOL("unseen", ""),
         "no requirement names a zone: the pool is open to all; allowed eu-west-1a, eu-west-1b",
         add},
        {POOL("c", ""),
         "no requirement names a zone: the pool may launch nodes of eu-west-1c; allowed "
         "eu-west-1a, "
         "eu-west-1b",
         add},
        {POD(SELECTS(ZONE, "eu-west-1c")), "found \"eu-west-1c\"; allowed eu-west-1a, eu-west-1b",
         "use one of the allowed values, or leave the choice to the NodePools"},
        {POOL("c", IN(ZONE, "eu-west-1c")), "found \"eu-west-1c\"; allowed eu-west-1a, eu-west-1b",
         "use one of the allowed values"},
        {CLASS(", parameters: {zones: 'eu-west-1b, eu-west-1c'}"),
         "found \"eu-west-1c\"; allowed eu-west-1a, eu-west-1b", "use one of the allowed values"},
        {POD(SELECTS(ZONE_ID, "euw1-az2")),
         "found \"euw1-az2\", and no visible EC2NodeClass tells which zone it is; allowed "
         "eu-west-1a, eu-west-1b",
         "use the label " ZONE ", or make the EC2NodeClasses visible"},
    };
    rail_words_run(RAILS, SUBNETS, rows, COUNT_OF(rows));
    static const struct rail_words many[] = {
        {POOL("c", ""),
         "no requirement names a zone: the pool may launch nodes of a, b, c, d, e, ... (6); "
         "allowed "
         "z",
         "add to spec.template.spec.requirements: [{key: " ZONE ", operator: In, values: [z]}]"},
        {POD(SELECTS(ZONE, "x")), "found \"x\"; allowed z",
         "Use z, or leave the choice to the NodePools."},
        {CLASS(TOPOLOGY(ZONE, "x")), "found \"x\"; allowed z", "Use z."},
        {POOL("c", IN(ZONE, "x")), "found \"x\"; allowed z", "Use z."},
    };
    rail_words_run("zones: {allow: [z]}",
                   "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: c}, "
                   "status: {subnets: [{zone: a}, {zone: b}, {zone: c}, {zone: d}, {zone: e}, "
                   "{zone: f}, {zone: z}]}}",
                   many, COUNT_OF(many));
}

static void it_speaks_in_every_mode(void)
{
    rail_modes_run("zones", KEYS, NULL, POOL("unseen", ""));
    rail_modes_run("zones", KEYS, NULL, CLASS(", parameters: {zone: eu-west-1c}"));
    rail_modes_since("zones", KEYS, SELECTS(ZONE, "eu-west-1c"));
}

const char unit_suite[] = "policy zones";
const struct unit_test unit_tests[] = {
    {"pods stay in the zones", pods_stay_in_the_zones},
    {"pools stay in the zones", pools_stay_in_the_zones},
    {"storage classes stay in the zones", storage_classes_stay_in_the_zones},
    {"names may be short", names_may_be_short},
    {"ids may be allowed", ids_may_be_allowed},
    {"without a list nothing is found", without_a_list_nothing_is_found},
    {"it says what to add", it_says_what_to_add},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {NULL, NULL},
};
