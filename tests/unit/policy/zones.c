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
        /* a placeholder may become any */
        {POD(REQUIRES(TERM(IN(ZONE, "'${ZONE}'")))), ""},
        {POD(SELECTS(ZONE, "'${ZONE}'") ", " REQUIRES(TERM(NOT_IN(ZONE, "eu-west-1a")))), ""},
        {POD(REQUIRES(TERM(IN(ZONE, "'${ZONE}', eu-west-1c")))),
         "deny " REQUIRED "[0].matchExpressions[0].values[1] eu-west-1c"},
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
         "deny parameters.zones eu-west-1c, eu-west-1d"},
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
    static const char add[] = "Add to spec.template.spec.requirements: [{key: " ZONE
                              ", operator: In, values: [eu-west-1a, eu-west-1b]}].";
    static const struct rail_words rows[] = {
        {POOL("unseen", ""),
         "No requirement lists the zones to use, so the subnets of EC2NodeClass unseen decide in "
         "which zones nodes come up.",
         add},
        {POOL("unseen", "{key: " ZONE ", operator: NotIn, values: [eu-west-1c]}"),
         "No requirement lists the zones to use, so the subnets of EC2NodeClass unseen decide in "
         "which zones nodes come up.",
         add},
        {POOL("c", "{key: " ZONE ", operator: NotIn, values: [eu-west-1b]}"),
         "No requirement lists the zones to use, so the pool may launch nodes in eu-west-1c, which "
         "is not "
         "allowed here.",
         add},
        {POOL("c", ""),
         "No requirement lists the zones to use, so the pool may launch nodes in eu-west-1c, which "
         "is not "
         "allowed here.",
         add},
        {POD(SELECTS(ZONE, "eu-west-1c")), "Zone eu-west-1c is not allowed here.",
         "Use eu-west-1a or eu-west-1b, or leave the choice to the NodePools."},
        {POOL("c", IN(ZONE, "eu-west-1c")), "Zone eu-west-1c is not allowed here.",
         "Use eu-west-1a or eu-west-1b."},
        {CLASS(", parameters: {zones: 'eu-west-1b, eu-west-1c'}"),
         "Zone eu-west-1c is not allowed here.", "Remove eu-west-1c; eu-west-1b stays."},
        {POD(SELECTS(ZONE_ID, "euw1-az2")), "No visible EC2NodeClass tells which zone euw1-az2 is.",
         "Use the label " ZONE ", or make the EC2NodeClasses visible."},
    };
    rail_words_run(RAILS, SUBNETS, rows, COUNT_OF(rows));
    static const struct rail_words many[] = {
        {POOL("c", ""),
         "No requirement lists the zones to use, so the pool may launch nodes in a, b, c, d, e and "
         "1 more, "
         "which are not allowed here.",
         "Add to spec.template.spec.requirements: [{key: " ZONE ", operator: In, values: [z]}]."},
        {POD(SELECTS(ZONE, "x")), "Zone x is not allowed here.",
         "Use z, or leave the choice to the NodePools."},
        {CLASS(TOPOLOGY(ZONE, "x")), "Zone x is not allowed here.", "Use z."},
        {POOL("c", IN(ZONE, "x")), "Zone x is not allowed here.", "Use z."},
    };
    rail_words_run("zones: {allow: [z]}",
                   "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: c}, "
                   "status: {subnets: [{zone: a}, {zone: b}, {zone: c}, {zone: d}, {zone: e}, "
                   "{zone: f}, {zone: z}]}}",
                   many, COUNT_OF(many));
}

/* What is in another region has no likeness in this one. */
static void other_regions_and_clouds_are_told_as_such(void)
{
#define ELSEWHERE(zones, region)                                                      \
    "Zones " zones " in region " region ", and the zones allowed are in eu-west-1.",  \
        "Name zones of eu-west-1 if the cluster is there, else ask the owner of the " \
        "policy to allow " region "."
    static const struct rail_words rows[] = {
        {POOL("unseen", IN(ZONE, "us-east-1a, us-east-1b")),
         ELSEWHERE("us-east-1a and us-east-1b are", "us-east-1")},
        {POOL("unseen", IN(ZONE, "us-central1-a, us-central1-f")),
         ELSEWHERE("us-central1-a and us-central1-f are", "us-central1")},
        {CLASS(", parameters: {zones: 'westeurope-1,westeurope-2'}"),
         ELSEWHERE("westeurope-1 and westeurope-2 are", "westeurope")},
        {POD(REQUIRES(TERM(IN(ZONE, "cn-hongkong-b, us-east-1a")))),
         ELSEWHERE("cn-hongkong-b and us-east-1a are", "cn-hongkong and us-east-1")},
        {POD(SELECTS(ZONE, "us-east-1a")),
         "Zone us-east-1a is in region us-east-1, and the zones allowed are in eu-west-1.",
         "Name zones of eu-west-1 if the cluster is there, else ask the owner of the policy to "
         "allow us-east-1."},
        /* one of this region is beside it, or what it is cannot be told */
        {POOL("unseen", IN(ZONE, "us-east-1a, eu-west-1a")), "Zone us-east-1a is not allowed here.",
         "Remove us-east-1a; eu-west-1a stays."},
        {POOL("unseen", IN(ZONE, "us-east-1a, eu-west-1d")),
         "Zones us-east-1a and eu-west-1d are not allowed here.",
         "Write values: [eu-west-1a, eu-west-1b]."},
        {POD(SELECTS(ZONE, "rack1")), "Zone rack1 is not allowed here.",
         "Use eu-west-1a or eu-west-1b, or leave the choice to the NodePools."},
        {POD(SELECTS(ZONE_ID, "euw1-az3")), "Zone euw1-az3 is not allowed here.",
         "Use the label " ZONE " with eu-west-1a or eu-west-1b, or leave the choice to the "
         "NodePools."},
        {POD(REQUIRES(TERM(IN(ZONE_ID, "euw1-az8, euw1-az9")))),
         "No visible EC2NodeClass tells which zones euw1-az8 and euw1-az9 are.",
         "Use the label " ZONE ", or make the EC2NodeClasses visible."},
    };
    rail_words_run(RAILS, SUBNETS, rows, COUNT_OF(rows));
    static const struct rail_words many = {
        POD(SELECTS(ZONE, "eu-west-1g")), "Zone eu-west-1g is not allowed here.",
        "Use one of 6 allowed zones, such as eu-west-1a, or leave the choice to the NodePools."};
    rail_words_run("zones: {allow: [eu-west-1a, eu-west-1b, eu-west-1c, eu-west-1d, eu-west-1e, "
                   "eu-west-1f]}",
                   NULL, &many, 1);
}

#define POOL_OF(reference, requirements)                                                       \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: system, labels: "          \
    "{app.kubernetes.io/managed-by: eks}}, spec: {template: {spec: {nodeClassRef: {" reference \
    ", name: c}, requirements: [" requirements "]}}}}"

/* Zones of AWS have nothing to do with nodes of another cloud, and nobody can edit AWS' own pools.
 */
static void who_is_not_meant_is_left_alone(void)
{
    static const struct rail_case cases[] = {
        {POOL_OF("group: karpenter.k8s.linode, kind: LinodeNodeClass", ""), ""},
        {POOL_OF("group: karpenter.azure.com, kind: AKSNodeClass", ""), ""},
        {POOL_OF("group: karpenter.azure.com, kind: AKSNodeClass", IN(ZONE, "westeurope-1")),
         "deny " AT "[0].values[0] westeurope-1"},
        {POOL_OF("group: eks.amazonaws.com, kind: NodeClass", ""), ""},
        {POOL_OF("group: eks.amazonaws.com, kind: NodeClass", IN(ZONE, "eu-west-1c")), ""},
        /* a placeholder */
        {POOL("unseen", IN(ZONE, "'${AZ}'")), ""},
        {POD(SELECTS(ZONE, "<<AZ>>")), ""},
        {CLASS(", parameters: {zones: 'eu-west-1a, ${AZ}'}"), ""},
    };
    rail_table_run(&(struct rail_table){RAILS, NULL, cases, COUNT_OF(cases)});
    static const struct rail_case azure[] = {
        {POOL_OF("group: karpenter.azure.com, kind: AKSNodeClass", ""), "deny " AT " "}};
    rail_table_run(&(struct rail_table){"zones: {allow: [westeurope-1]}", NULL, azure, 1});
}

/* All zones of a region, or of all. */
static void a_glob_stands_for_many(void)
{
    static const struct rail_case region[] = {
        {POD(SELECTS(ZONE, "eu-west-1c")), ""},
        {POD(SELECTS(ZONE, "eu-west-2c")), "deny spec.nodeSelector[" ZONE "] eu-west-2c"},
        {POD(REQUIRES(TERM(NOT_IN(ZONE, "eu-west-1c")))), ""},
        {POD(REQUIRES(TERM(IN(ZONE, "eu-west-1c") ", " NOT_IN(ZONE, "eu-west-1c")))),
         "deny " REQUIRED "[0].matchExpressions[1] NotIn"},
        {POD(REQUIRES(TERM("{key: " ZONE ", operator: DoesNotExist}"))),
         "deny " REQUIRED "[0].matchExpressions[0] DoesNotExist"},
        {POOL("unseen", ""), ""},
        {POOL("c", ""), ""},
        {POOL("unseen", IN(ZONE, "eu-west-1c, eu-west-2c")), "deny " AT "[0].values[1] eu-west-2c"},
    };
    rail_table_run(
        &(struct rail_table){"zones: {allow: ['eu-west-1*']}", SUBNETS, region, COUNT_OF(region)});
    static const struct rail_case any[] = {
        {POD(SELECTS(ZONE, "eu-west-1c")), ""},
        {POOL("unseen", ""), ""},
        {POOL("c", IN(ZONE, "eu-west-1c")), ""},
        {CLASS(", parameters: {zone: us-central1-a}"), ""},
    };
    rail_table_run(&(struct rail_table){"zones: {allow: ['*']}", SUBNETS, any, COUNT_OF(any)});
    static const struct rail_words words[] = {
        {POOL("unseen", ""),
         "No requirement lists the zones to use, so the subnets of EC2NodeClass unseen decide in "
         "which zones nodes come up.",
         "Add to " AT " a requirement on " ZONE " that names zones of this list: eu-west-?b."},
        {POOL("c", ""),
         "No requirement lists the zones to use, so the pool may launch nodes in eu-west-1a and "
         "eu-west-1c, "
         "which are not allowed here.",
         "Select subnets of allowed zones in EC2NodeClass c."},
        {POD(SELECTS(ZONE, "eu-west-1c")), "Zone eu-west-1c is not allowed here.",
         "Name a zone that matches eu-west-?b, or leave the choice to the NodePools."},
    };
    rail_words_run("zones: {allow: ['eu-west-?b']}", SUBNETS, words, COUNT_OF(words));
}

/* A Local Zone is not all of its region; and what cannot be read names no zone. */
static void a_glob_of_less_than_a_region(void)
{
    static const struct rail_case cases[] = {
        {POOL("unseen", ""), "deny " AT " "},
        {POOL("unseen", "{key: " ZONE ", operator: In, values: []}"), "deny " AT " "},
        {POOL("unseen", IN(ZONE, "us-west-2-lax-1a")), ""},
    };
    rail_table_run(
        &(struct rail_table){"zones: {allow: ['us-west-2-lax-1*']}", NULL, cases, COUNT_OF(cases)});
}

static void it_speaks_in_every_mode(void)
{
    rail_modes_run("zones", KEYS, NULL, POOL("unseen", ""));
    rail_modes_run("zones", KEYS, NULL, CLASS(", parameters: {zone: eu-west-1c}"));
    rail_modes_since("zones", KEYS, SELECTS(ZONE, "eu-west-1c"));
}

static void a_pool_of_many_regions_or_of_none(void)
{
#define NINE(region)                                                                  \
    region "-1a, " region "-2a, " region "-3a, " region "-4a, " region "-5a, " region \
           "-6a, " region "-7a, " region "-8a, " region "-9a"
    /* of very many regions none is named */
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world(RAILS, NULL, arena);
    static const char *const pods[] = {
        POD(REQUIRES(TERM(IN(ZONE, NINE("us-east") ", " NINE("us-west"))))),
        POD(REQUIRES(TERM(IN(ZONE, NINE("us-east") ", " NINE("us-west") ", " NINE("ap-south"))))),
    };
    for (size_t i = 0; i < COUNT_OF(pods); i++) {
        struct rail_documents documents = rail_table_read(pods[i], arena);
        const struct subject subject = {.operation = OPERATION_CREATE, .object = documents.items};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        CU_ASSERT_FATAL(verdict.finding_count == 1);
        struct text problem = verdict.findings[0].problem;
        bool named = memmem(problem.data, problem.size, "in region", 9) != NULL;
        if (named != (i == 0))
            fprintf(stderr, "%.*s\n", TEXT_ARGS(problem));
        CU_ASSERT_EQUAL(named, i == 0);
    }
    arena_destroy(arena);
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
    {"other regions and clouds are told as such", other_regions_and_clouds_are_told_as_such},
    {"who is not meant is left alone", who_is_not_meant_is_left_alone},
    {"a glob stands for many", a_glob_stands_for_many},
    {"a glob of less than a region", a_glob_of_less_than_a_region},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {"a pool of many regions, or of none", a_pool_of_many_regions_or_of_none},
    {NULL, NULL},
};
