/* The rail pool-shape: numbers, names and values that mean something else than was meant. */
#include "pool_shape_pools.h"
#include "rail_catalog.h"

#define IS(key, operator, value) "{key: " AWS key ", operator: " operator", values: ['" value "']}"
#define VALUE AT "[1].values[0] "
#define TOO_FEW AT "[1].minValues "

/* MiB and Mbit/s, as Karpenter's AWS provider labels its types; the smallest type has 512 MiB. */
static void numbers_in_another_unit_are_found(void)
{
    static const struct rail_case cases[] = {
        {POOL2(CMR, IS("memory", "Lt", "64")), "deny " VALUE "64"},
        {POOL2(CMR, IS("memory", "In", "16")), "deny " VALUE "16"},
        {POOL2(CMR, IS("memory", "Lte", "511")), "deny " VALUE "511"},
        /* these leave every type */
        {POOL2(CMR, IS("memory", "Gt", "8")), "warn " VALUE "8"},
        {POOL2(CMR, IS("memory", "Gte", "511")), "warn " VALUE "511"},
        {POOL2(CMR, IS("memory", "NotIn", "2")), "warn " VALUE "2"},
        {POOL2(CMR, "{key: " AWS "memory, operator: In, values: ['17', '16']}"),
         "deny " AT "[1].values[0] 17\ndeny " AT "[1].values[1] 16"},
        {POOL2(CMR, "{key: " AWS "memory, operator: In, values: ['16', '17000000']}"),
         "deny " AT "[1].values[0] 16"},
        {POOL2(CMR, "{key: " AWS "memory, operator: In, values: ['16', '17000000']}"),
         "deny " AT "[1].values[0] 16"},
        {POOL2(CMR, "{key: " AWS "memory, operator: In, values: ['8192', '16']}"),
         "warn " AT "[1].values[1] 16"},
        {POOL2(CMR, IS("memory", "Gte", "512")), ""},
        {POOL2(CMR, IS("memory", "Gt", "8191")), ""},
        {POOL2(CMR, IS("memory", "Lt", "65536")), ""},
        {POOL2(CMR, IS("memory", "Gt", "0")), ""},
        /* no number at all, and so no number in another unit */
        {POOL2(CMR, "{key: " AWS "memory, operator: NotIn, values: ['5.5']}"), ""},
        {POOL2(CMR, "{key: " AWS "memory, operator: Exists}"), ""},
        {POOL2(CMR, IS("cpu", "Gt", "1")), ""},
        {POOL2(CMR, IS("network-bandwidth", "Gt", "25")), "warn " VALUE "25"},
        {POOL2(CMR, IS("network-bandwidth", "Gt", "4999")), ""},
        {POOL2(CMR, IS("ebs-bandwidth", "Lt", "10")), "deny " VALUE "10"},
        {POOL2(IN(AWS "category", "p"), IS("gpu-memory", "Gt", "16")), "warn " VALUE "16"},
        {POOL2(IN(AWS "category", "p"), IS("gpu-memory", "Gt", "16384")), ""},
        {LABELS(AWS "memory: '64'"), "deny " LABELS_AT "[" AWS "memory] 64"},
        /* it is said beside others that rule each other out, unless it does so by itself */
        {POOL3(IN(AWS "family", "m5"), IS("memory", "Gt", "8"), IN("kubernetes.io/arch", "arm64")),
         "warn " VALUE "8\ndeny " AT "[2] kubernetes.io/arch In arm64"},
        {POOL3(IN(AWS "family", "m5"), IS("memory", "Lt", "8"), IN("kubernetes.io/arch", "arm64")),
         "deny " VALUE "8"},
        /* what is no number is no unit's fault */
        {POOL2(CMR, IS("memory", "In", "16Gi")), "warn " VALUE "16Gi"},
        {POOL2(CMR, IS("memory", "NotIn", "16Gi")), ""},
        {POOL2(CMR, IS("memory", "NotIn", "")), ""},
        {POOL2(CMR, IS("memory", "NotIn", "99999999999999999999999999")), ""},
        {POOL2(CMR, IS("memory", "NotIn", "9")), "warn " VALUE "9"},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {POOL2(CMR, IS("memory", "Lt", "64")),
         "\"64\" is 64 MiB, and every type has more. The pool can launch no node.",
         "Write 65536, if 64 GiB is meant."},
        {POOL2(CMR, IS("memory", "Gt", "8")), "\"8\" is 8 MiB, and every type has more.",
         "Write 8192, if 8 GiB is meant."},
        {POOL2(CMR, IS("network-bandwidth", "Gt", "10")),
         "\"10\" is 10 Mbit/s, and every type has more.", "Write 10000, if 10 Gbit/s is meant."},
        {POOL2(CMR, IS("ebs-bandwidth", "Gt", "9")), "\"9\" is 9 Mbit/s, and every type has more.",
         "Write 9000, if 9 Gbit/s is meant."},
        {POOL2(IN(AWS "category", "p"), IS("gpu-memory", "Gt", "16")),
         "\"16\" is 16 MiB, and every type has more.", "Write 16384, if 16 GiB is meant."},
        /* numbers are near to each other in another way than names */
        {POOL2(CMR, IS("memory", "In", "7169")),
         "No known instance type has \"7169\" as karpenter.k8s.aws/instance-memory. The pool can "
         "launch no node.",
         "Check the name."},
        {POOL2(CMR, IS("cpu", "In", "47")),
         "No known instance type has \"47\" as karpenter.k8s.aws/instance-cpu. The pool can launch "
         "no node.",
         "Check the name."},
        {POOL2(CMR, IS("generation", "In", "5th")),
         "No known instance type has \"5th\" as karpenter.k8s.aws/instance-generation. The pool "
         "can launch no node.",
         "Write 5."},
    };
    rail_words_run("pool-shape: {}, capacity-types: {mode: off}", NULL, words, COUNT_OF(words));
}

/* Types without a GPU have no label that counts them; g6f and gr6f have 0, and a share of one. */
static void none_is_no_number(void)
{
    static const struct rail_case cases[] = {
        {POOL2(CMR, IS("gpu-count", "In", "0")), "deny " AT "[1] " AWS "gpu-count In 0"},
        {POOL2(CMR, IS("gpu-count", "Lt", "1")), "deny " AT "[1] " AWS "gpu-count Lt 1"},
        {POOL2(CMR, IS("gpu-count", "Lte", "0")), "deny " AT "[1] " AWS "gpu-count Lte 0"},
        {POOL2(CMR, IS("accelerator-count", "Lt", "1")),
         "deny " AT "[1] " AWS "accelerator-count Lt 1"},
        {POOL2(CMR, "{key: " AWS "gpu-count, operator: DoesNotExist}"), ""},
        {POOL2(CMR, IS("gpu-count", "NotIn", "0")), ""},
        {POOL2(CMR, IS("gpu-count", "Lt", "2")), "deny " AT "[1] " AWS "gpu-count Lt 2"},
        {POOL2(IN(AWS "family", "g6f"), IS("gpu-count", "In", "0")), ""},
        {POOL(IS("gpu-count", "In", "0")), ""},
        /* without it there is nothing, either */
        {POOL2(IN(AWS "family", "p5"), IS("gpu-count", "In", "0")),
         "deny " AT "[1] " AWS "gpu-count In 0"},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {POOL2(CMR, IS("gpu-count", "In", "0")),
         "The requirement karpenter.k8s.aws/instance-gpu-count In 0 fits no type: those without "
         "such devices do not have the label. The pool can launch no node.",
         "To keep them out, write {key: karpenter.k8s.aws/instance-gpu-count, operator: "
         "DoesNotExist}."},
        {POOL2(CMR, IS("accelerator-count", "Lte", "0")),
         "The requirement karpenter.k8s.aws/instance-accelerator-count Lte 0 fits no type: those "
         "without such devices do not have the label. The pool can launch no node.",
         "To keep them out, write {key: karpenter.k8s.aws/instance-accelerator-count, operator: "
         "DoesNotExist}."},
        {POOL2(IN(AWS "family", "p5"), IS("gpu-count", "In", "0")),
         "No instance type fits karpenter.k8s.aws/instance-gpu-count In 0 beside "
         "karpenter.k8s.aws/instance-family In p5. The pool can launch no node.",
         "Change one of the two."},
    };
    rail_words_run("pool-shape: {}, capacity-types: {mode: off}", NULL, words, COUNT_OF(words));
}

/* What rules out all by itself is blamed, and not what stands before it. */
static void one_is_blamed_before_two(void)
{
    static const struct rail_case cases[] = {
        {POOL3(IN("karpenter.sh/capacity-type", "on-demand"), CMR, IS("generation", "Gt", "90")),
         "deny " AT "[2] " AWS "generation Gt 90"},
        {POOL2(IS("generation", "Gt", "90"), CMR), "deny " AT "[0] " AWS "generation Gt 90"},
        {POOL3(IN(AWS "family", "m5"), IN("kubernetes.io/arch", "arm64"),
               IS("generation", "Gt", "90")),
         "deny " AT "[2] " AWS "generation Gt 90"},
        {POOL3(IN(AWS "size", "large"), IN(AWS "family", "m5"), IN("kubernetes.io/arch", "arm64")),
         "deny " AT "[2] kubernetes.io/arch In arm64"},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {POOL2(CMR, IS("generation", "Gt", "90")),
         "No instance type fits karpenter.k8s.aws/instance-generation Gt 90. The pool can launch "
         "no node.",
         "Change it."},
        {POOL2(CMR, "{key: " AWS "generation, operator: Gt, values: ['-1']}"),
         "This requirement compares with no whole number. Karpenter refuses the pool and never "
         "uses it.",
         "Give one whole number of 0 or more, in quotes."},
    };
    rail_words_run("pool-shape: {}, capacity-types: {mode: off}", NULL, words, COUNT_OF(words));
}

#define WANTS(key, more) "{key: " key ", minValues: " more "}"
#define TYPES(more) WANTS("node.kubernetes.io/instance-type", more)
#define FAMILIES(more) WANTS(AWS "family", more)
#define M5_M6I IN(AWS "family", "m5, m6i")

/* m5 has 9 sizes and m6i 10; both have large to 24xlarge and metal. */
static void min_values_that_no_types_have_are_found(void)
{
    static const struct rail_case cases[] = {
        {POOL2(M5_M6I, TYPES("19, operator: Exists")), ""},
        {POOL2(M5_M6I, TYPES("20, operator: Exists")), "warn " TOO_FEW "20"},
        {POOL2(M5_M6I, TYPES("38, operator: Exists")), "warn " TOO_FEW "38"},
        {POOL2(M5_M6I, TYPES("39, operator: Exists")), "deny " TOO_FEW "39"},
        {POOL2(M5_M6I, FAMILIES("2, operator: Exists")), ""},
        {POOL2(M5_M6I, FAMILIES("3, operator: Exists")), "warn " TOO_FEW "3"},
        {POOL2(M5_M6I, FAMILIES("3, operator: NotIn, values: [c5]")), "warn " TOO_FEW "3"},
        /* of three that are listed, two are left */
        {POOL2(IN(AWS "category", "m"), FAMILIES("3, operator: In, values: [m5, m6i, c5]")),
         "warn " TOO_FEW "3"},
        {POOL2(IN(AWS "category", "m"), FAMILIES("3, operator: In, values: [m5, m6i, c5, c6i]")),
         "warn " TOO_FEW "3"},
        {POOL2(TYPES("20, operator: Exists"), M5_M6I), "warn " AT "[0].minValues 20"},
        {POOL2(IN(AWS "family", "m5"), FAMILIES("2, operator: Exists")), "warn " TOO_FEW "2"},
        {POOL2(IN(AWS "category", "m, c"), FAMILIES("3, operator: In, values: [m5, m6i, c5]")), ""},
        {POOL2(M5_M6I, WANTS(AWS "cpu", "2, operator: Gt, values: ['95']")),
         ""}, /* 96 of 24xlarge and metal, and 128 of m6i.32xlarge */
        {POOL2(M5_M6I, WANTS(AWS "cpu", "3, operator: Gt, values: ['95']")), "warn " TOO_FEW "3"},
        {POOL2(M5_M6I, "{key: node.kubernetes.io/instance-type, operator: Exists}"), ""},
        /* labels of one's own are no instance type's */
        {POOL2(CMR, WANTS("team", "1, operator: In, values: [a]")), "deny " TOO_FEW "1"},
        {POOL2(CMR, WANTS("team", "2, operator: Exists")), "deny " TOO_FEW "2"},
        /* where it is sold nobody says */
        {POOL2(CMR, WANTS("topology.kubernetes.io/zone", "9, operator: Exists")), ""},
        {POOL2(CMR, WANTS("karpenter.sh/capacity-type", "3, operator: Exists")), ""},
        {POOL2(CMR, WANTS("topology.kubernetes.io/region", "1, operator: Exists")), ""},
        {POOL2(CMR, WANTS("karpenter.k8s.aws/capacity-reservation-id", "2, operator: Exists")), ""},
        /* said already, as fewer than are listed; and beside what leaves no type at all */
        {POOL2(CMR, FAMILIES("2, operator: In, values: [m5]")), "deny " TOO_FEW "2"},
        {POOL2(IS("generation", "Gt", "90"), TYPES("9, operator: Exists")),
         "deny " AT "[0] " AWS "generation Gt 90"},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {POOL2(M5_M6I, TYPES("20, operator: Exists")),
         "minValues wants 20 different values of node.kubernetes.io/instance-type, and the types "
         "that the requirements leave have 19. Karpenter launches no node.",
         "Lower minValues to at most 19, or leave more types."},
        {POOL2(CMR, WANTS("team", "2, operator: Exists")),
         "minValues wants 2 different values of team, a label that no instance type has. Karpenter "
         "launches no node.",
         "Remove minValues, which counts labels of instance types alone."},
    };
    rail_words_run("pool-shape: {}, capacity-types: {mode: off}", NULL, words, COUNT_OF(words));
}

/* MIN_VALUES_POLICY=BestEffort buys what there is. */
static void best_effort_takes_fewer(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world =
        rail_table_world("pool-shape: {}, capacity-types: {mode: off}", NULL, arena);
    struct policy_set policies = *world.policies;
    policies.karpenter.best_effort_min_values = true;
    world.policies = &policies;
    static const struct rail_case cases[] = {
        {POOL2(M5_M6I, TYPES("39, operator: Exists")), ""},
        {POOL2(M5_M6I, FAMILIES("3, operator: In, values: [m5, m6i]")), "deny " TOO_FEW "3"},
    };
    rail_table_run_in(&world, &(struct rail_table){"", NULL, cases, COUNT_OF(cases)}, arena);
    arena_destroy(arena);
}

static void values_of_every_node_are_known(void)
{
    static const struct rail_case cases[] = {
        {POOL2(CMR, IN("kubernetes.io/arch", "x86_64")), "deny " VALUE "x86_64"},
        {POOL2(CMR, IN("kubernetes.io/arch", "amd64, x86_64")), "warn " AT "[1].values[1] x86_64"},
        {POOL2(CMR, IN("kubernetes.io/arch", "amd64, arm64")), ""},
        {POOL2(CMR, IN("beta.kubernetes.io/arch", "x86_64")), "deny " VALUE "x86_64"},
        {POOL2(CMR, IN("kubernetes.io/os", "Linux")), "deny " VALUE "Linux"},
        {POOL2(CMR, IN("kubernetes.io/os", "windows")), ""},
        {LABELS("kubernetes.io/os: Linux"), "deny " LABELS_AT "[kubernetes.io/os] Linux"},
        {POOL2(CMR, "{key: kubernetes.io/arch, operator: NotIn, values: [x86_64]}"), ""},
        /* a value beside known ones is not to blame for what these rule out */
        {POOL2(IN(AWS "family", "m5"), IN("kubernetes.io/arch", "arm64, aarch64")),
         "deny " AT "[1] kubernetes.io/arch In arm64, aarch64\nwarn " AT "[1].values[1] aarch64"},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {POOL2(CMR, IN("kubernetes.io/arch", "x86_64")),
         "\"x86_64\" is no architecture. The pool can launch no node.", "Use amd64."},
        {POOL2(CMR, IN("kubernetes.io/arch", "amd64, aarch64")), "\"aarch64\" is no architecture.",
         "Use arm64."},
        {POOL2(CMR, IN("kubernetes.io/os", "bottlerocket")),
         "\"bottlerocket\" is no operating system. The pool can launch no node.",
         "Use linux or windows."},
        {POOL2(CMR, IN("karpenter.sh/capacity-type", "ON_DEMAND")),
         "\"ON_DEMAND\" is no capacity type. Karpenter refuses the pool and never uses it.",
         "Use on-demand."},
    };
    rail_words_run("pool-shape: {}, capacity-types: {mode: off}", NULL, words, COUNT_OF(words));
}

/* As people write them, and as the labels have them. */
static void values_that_were_meant_are_named(void)
{
    static const struct {
        const char *key, *written, *meant;
    } rows[] = {
        {AWS "family", "M5", "m5"},
        {AWS "family", "c7id", "c6id"},
        {AWS "gpu-name", "A100", "a100"},
        {AWS "cpu-manufacturer", "AMD", "amd"},
        {AWS "cpu-manufacturer", "Graviton", "aws"},
        {AWS "size", "2XL", "2xlarge"},
        {AWS "size", "24xl", "24xlarge"},
        {"node.kubernetes.io/instance-type", "trn1-32xl", "trn1.32xlarge"},
        {"node.kubernetes.io/instance-type", "m5.2xl", "m5.2xlarge"},
        {"node.kubernetes.io/instance-type", "M5.Large", "m5.large"},
        {"node.kubernetes.io/instance-type", "ml.g5.8xlarge", "g5.8xlarge"},
        {"node.kubernetes.io/instance-type", "m5-large", "m5.large"},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world =
        rail_table_world("pool-shape: {}, capacity-types: {mode: off}", NULL, arena);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct rail_words row = {
            arena_printf(arena, POOL("{key: %s, operator: In, values: [%s]}"), rows[i].key,
                         rows[i].written)
                .data,
            arena_printf(arena,
                         "No known instance type has \"%s\" as %s. The pool can launch "
                         "no node.",
                         rows[i].written, rows[i].key)
                .data,
            arena_printf(arena, "Write %s.", rows[i].meant).data};
        rail_words_run_in(&world, &row, 1, arena);
    }
    arena_destroy(arena);
}

static void values_of_another_key_are_told_where_they_belong(void)
{
#define NO_FAMILY(values)                                                                 \
    "No instance type has " values " as karpenter.k8s.aws/instance-family. The pool can " \
    "launch no node."
    static const struct rail_words rows[] = {
        {POOL(IN(AWS "family", "m5.large, c5.large")), NO_FAMILY("m5.large, c5.large"),
         "Use the key node.kubernetes.io/instance-type for these values."},
        {POOL(IN(AWS "family", "m5.large, 2xlarge")), NO_FAMILY("m5.large, 2xlarge"), "Write m5a."},
        {POOL(IN(AWS "family", "qq7, zz9")),
         "No known instance type has qq7, zz9 as karpenter.k8s.aws/instance-family. The pool can "
         "launch no node.",
         "Check the names."},
    };
    rail_words_run("pool-shape: {}, capacity-types: {mode: off}", NULL, rows, COUNT_OF(rows));
}

/* Its labels have values of its own, some of them no number above 0. */
static void a_users_catalogue_has_its_own(void)
{
#define LABELLED_TYPE(name, key, value)                                                         \
    "{\"name\": \"" name "\", \"architecture\": \"riscv64\", \"operatingSystems\": "            \
    "[\"linux\"], \"resources\": {\"cpu\": \"4\", \"memory\": \"16Gi\", \"pods\": \"50\"}, "    \
    "\"offerings\": [{\"Price\": 0.1, \"Available\": true, \"Requirements\": [{\"key\": \"" key \
    "\", \"operator\": \"In\", \"values\": [\"" value "\"]}]}]}"
    static const char types[] =
        OWN_TYPES4(LABELLED_TYPE("a", AWS "memory", "0"), LABELLED_TYPE("b", AWS "memory", "much"),
                   LABELLED_TYPE("c", AWS "memory", "4096"), LABELLED_TYPE("d", "team", "x"));
    static const struct rail_case cases[] = {
        /* 4096 MiB is the least */
        {POOL(IS("memory", "Gt", "1")), "warn " AT "[0].values[0] 1"},
        {POOL(IS("ebs-bandwidth", "In", "1")), "warn " AT " "},
        {POOL(IN("kubernetes.io/arch", "riscv64")), "warn " AT " "},
        {POOL2(IN("kubernetes.io/arch", "riscv64"), TYPES("4, operator: Exists")), ""},
        {POOL2(IN("kubernetes.io/arch", "riscv64"), TYPES("5, operator: Exists")),
         "deny " TOO_FEW "5"},
    };
    rail_catalog_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL,
                                          cases, COUNT_OF(cases)},
                     types);
}

static void a_region_is_no_zone(void)
{
#define ZONES(values) POOL2(CMR, IN("topology.kubernetes.io/zone", values))
    static const struct rail_case cases[] = {
        {ZONES("eu-west-1"), "deny " VALUE "eu-west-1"},
        {ZONES("us-gov-east-1, us-gov-west-1"),
         "deny " VALUE "us-gov-east-1\ndeny " AT "[1].values[1] us-gov-west-1"},
        {ZONES("eu-west-1a, eu-west-1"), "warn " AT "[1].values[1] eu-west-1"},
        {POOL2(CMR, IN("failure-domain.beta.kubernetes.io/zone", "eu-west-1")),
         "deny " VALUE "eu-west-1"},
        {LABELS("topology.kubernetes.io/zone: eu-west-1"),
         "deny " LABELS_AT "[topology.kubernetes.io/zone] eu-west-1"},
        /* zones, local zones and those of a telephone company */
        {ZONES("eu-west-1a, us-west-2-lax-1a, us-east-1-wl1-bos-wlz-1"), ""},
        {ZONES("eu~west-1"), "deny " VALUE "eu~west-1"}, /* nor is what no label can have */
        {ZONES("a, zone-1, '1', eu-west-, '-1'"), "deny " AT "[1].values[3] eu-west-\n"
                                                  "deny " AT "[1].values[4] -1"},
        {POOL2(CMR, IN("topology.kubernetes.io/region", "eu-west-1")), ""},
        {POOL2(CMR, IN("topology.k8s.aws/zone-id", "euw1-az1")), ""},
        {POOL2(CMR, "{key: topology.kubernetes.io/zone, operator: NotIn, values: [eu-west-1]}"),
         ""},
        /* other clouds name zones in other ways */
        {HEAD
         "{template: {spec: {nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, "
         "name: a}, requirements: [" IN("topology.kubernetes.io/zone", "north-europe-1") "]}}}}",
         ""},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {ZONES("eu-west-1"), "\"eu-west-1\" is a region and no zone. The pool can launch no node.",
         "Name its zones, such as eu-west-1a."},
        {ZONES("eu-west-1a, eu-west-1"), "\"eu-west-1\" is a region and no zone.",
         "Name its zones, such as eu-west-1a."},
    };
    rail_words_run("pool-shape: {}, capacity-types: {mode: off}", NULL, words, COUNT_OF(words));
    /* and so may somebody's own catalogue */
    static const char types[] =
        "[" OWN_TYPE("m5.large", "\"x\": 1", OWN_OFFERING("0.1", "on-demand", "eu-west-1")) "]";
    static const struct rail_case own[] = {
        {POOL2(IN(AWS "family", "m5"), IN("topology.kubernetes.io/zone", "eu-west-1")), ""},
    };
    rail_catalog_run(
        &(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, own, 1}, types);
}

#define NODE_CLASS(name)                                                                       \
    "---\n{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: " name "}, " \
    "spec: {}}\n"
#define REFERS(group, kind, name)                                                                \
    HEAD "{template: {spec: {nodeClassRef: {group: " group ", kind: " kind ", name: " name "}, " \
         "requirements: [" CMR "]}}}}"
#define TO_CLASS(name) REFERS("karpenter.k8s.aws", "EC2NodeClass", name)
#define CLASS_AT "warn spec.template.spec.nodeClassRef.name "

static void a_class_that_is_not_there_is_found(void)
{
    static const char two[] = NODE_CLASS("default") NODE_CLASS("gpu-nodes");
    static const struct rail_case cases[] = {
        {TO_CLASS("default"), ""},
        {TO_CLASS("gpu-nodes"), ""},
        {TO_CLASS("defualt"), CLASS_AT "defualt"},
        {TO_CLASS("batch"), CLASS_AT "batch"},
        {"{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: a}, spec: "
         "{template: {spec: {nodeClassRef: {apiVersion: karpenter.k8s.aws/v1beta1, kind: "
         "EC2NodeClass, name: batch}, requirements: [" CMR "]}}}}",
         CLASS_AT "batch"},
        {REFERS("eks.amazonaws.com", "NodeClass", "batch"), ""},
        {REFERS("karpenter.k8s.aws", "NodeClass", "batch"), ""},
        {REFERS("karpenter.k8s.aws", "EC2NodeClass", "''"),
         "deny spec.template.spec.nodeClassRef "},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", two, cases,
                                        COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {TO_CLASS("defualt"),
         "No visible EC2NodeClass is named \"defualt\". Karpenter does not use the pool until "
         "there is one.",
         "Name default, or add an EC2NodeClass defualt."},
        {TO_CLASS("batch"),
         "No visible EC2NodeClass is named \"batch\". Karpenter does not use the pool until there "
         "is one.",
         "Name an EC2NodeClass that exists, or add one of this name."},
    };
    rail_words_run("pool-shape: {}, capacity-types: {mode: off}", two, words, COUNT_OF(words));
    /* Of several a distant one is not offered; the only one is. */
    static const struct rail_words far[] = {
        {TO_CLASS("gpu-spots"),
         "No visible EC2NodeClass is named \"gpu-spots\". Karpenter does not use the pool until "
         "there is one.",
         "Name an EC2NodeClass that exists, or add one of this name."},
        {TO_CLASS("main"),
         "No visible EC2NodeClass is named \"main\". Karpenter does not use the pool until there "
         "is one.",
         "Name default, or add an EC2NodeClass main."},
    };
    rail_words_run("pool-shape: {}, capacity-types: {mode: off}", two, far, 1);
    rail_words_run("pool-shape: {}, capacity-types: {mode: off}", NODE_CLASS("default"), &far[1],
                   1);
    /* Where none is visible, others keep them. */
    static const struct rail_case silent[] = {{TO_CLASS("batch"), ""}};
    rail_table_run(
        &(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, silent, 1});
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world =
        rail_table_world("pool-shape: {}, capacity-types: {mode: off}", two, arena);
    world.unseen = KIND_BIT(KIND_EC2_NODE_CLASS);
    rail_table_run_in(&world, &(struct rail_table){"", NULL, silent, 1}, arena);
    arena_destroy(arena);
}

const char unit_suite[] = "policy pool-shape: what was meant";
const struct unit_test unit_tests[] = {
    {"numbers in another unit are found", numbers_in_another_unit_are_found},
    {"none is no number", none_is_no_number},
    {"one is blamed before two", one_is_blamed_before_two},
    {"minValues that no types have are found", min_values_that_no_types_have_are_found},
    {"best effort takes fewer", best_effort_takes_fewer},
    {"values of every node are known", values_of_every_node_are_known},
    {"values that were meant are named", values_that_were_meant_are_named},
    {"values of another key are told where they belong",
     values_of_another_key_are_told_where_they_belong},
    {"a user's catalogue has its own", a_users_catalogue_has_its_own},
    {"a region is no zone", a_region_is_no_zone},
    {"a class that is not there is found", a_class_that_is_not_there_is_found},
    {NULL, NULL},
};
