/* The rail instance-types, in words: what it tells the owner of a NodePool to write. */
#include "rail_catalog.h"

#define POOL(group, kind, key)                                                                    \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: {spec: " \
    "{nodeClassRef: {group: " group ", kind: " kind ", name: default}, requirements: [{key: " key \
    ", operator: In, values: [g5]}]}}}}"

/* Of g5 there are eight sizes, and one of them is in the list. */
static void what_to_add_is_spelt_as_the_provider_does(void)
{
#define SEVEN                                                                           \
    "7 of the 8 instance types that the pool can launch are not allowed: g5.12xlarge, " \
    "g5.16xlarge, g5.24xlarge, g5.2xlarge, g5.48xlarge, ... (7)."
#define ADDS(requirement) SEVEN, "Add to spec.template.spec.requirements: [" requirement "]."
    static const struct rail_words rows[] = {
        {POOL("karpenter.k8s.aws", "EC2NodeClass", "karpenter.k8s.aws/instance-family"),
         ADDS("{key: karpenter.k8s.aws/instance-size, operator: In, values: [xlarge]}")},
        {POOL("eks.amazonaws.com", "NodeClass", "eks.amazonaws.com/instance-family"),
         ADDS("{key: eks.amazonaws.com/instance-size, operator: In, values: [xlarge]}")},
    };
    rail_words_run("instance-types: {allow: {families: [c5, g5], sizes: [xlarge]}}", NULL, rows,
                   COUNT_OF(rows));
    static const struct rail_words types[] = {
        {POOL("eks.amazonaws.com", "NodeClass", "eks.amazonaws.com/instance-family"),
         ADDS("{key: node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge]}")},
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
        "All 2 instance types that the pool can launch are not allowed: m5.large, m5.xlarge.";
    static const struct rail_words rows[] = {
        {OF(FAMILY("m5") ", " SIZE("large, xlarge")), two,
         "Replace the values of karpenter.k8s.aws/instance-size, which no allowed type has, with "
         "[2xlarge]."},

        {OF(FAMILY("r5") ", " SIZE("large")),
         "The one instance type that the pool can launch is not allowed: r5.large.",
         "Change the requirements on karpenter.k8s.aws/instance-family, "
         "karpenter.k8s.aws/instance-size, which no allowed type meets."},
        {OF(FAMILY("m5, r5") ", " SIZE("2xlarge") ", " IN(
             "kubernetes.io/arch",
             "amd64") ", "
                      "{key: karpenter.k8s.aws/instance-memory, operator: Gt, values: ['40000']}"),
         "The one instance type that the pool can launch is not allowed: r5.2xlarge.",
         "Change the requirement on karpenter.k8s.aws/instance-memory, which no allowed type "
         "meets."},
    };
    rail_words_run("instance-types: {allow: {families: [c7g, m5], sizes: [2xlarge]}}", NULL, rows,
                   COUNT_OF(rows));
    static const struct rail_words whole[] = {
        {OF(FAMILY("m5, g5, p3")),
         "11 of the 20 instance types that the pool can launch are not allowed: g5.12xlarge, "
         "g5.16xlarge, g5.24xlarge, g5.2xlarge, g5.48xlarge, ... (11).",
         "Add to spec.template.spec.requirements: [{key: karpenter.k8s.aws/instance-category, "
         "operator: NotIn, values: [g, p]}]."},
        {OF(FAMILY("m5, m5dn")),
         "9 of the 18 instance types that the pool can launch are not allowed: m5dn.12xlarge, "
         "m5dn.16xlarge, m5dn.24xlarge, m5dn.2xlarge, m5dn.4xlarge, ... (9).",
         "Add to spec.template.spec.requirements: [{key: karpenter.k8s.aws/instance-family, "
         "operator: NotIn, values: [m5dn]}]."},
    };
    rail_words_run("instance-types: {deny: {families: [g5, p3, m5dn]}}", NULL, whole,
                   COUNT_OF(whole));
}

/* What In names is judged by name where the catalogue does not know it; a pool of such types alone
 * may well launch something. */
static void unknown_values_are_judged_by_name(void)
{
#define AT(requirement, value) "spec.template.spec.requirements[" requirement "].values[" value "] "
#define TYPE(values) IN("node.kubernetes.io/instance-type", values)
#define NOT_IN(key, values) "{key: " key ", operator: NotIn, values: [" values "]}"
    static const struct rail_case cases[] = {
        {OF(FAMILY("m99")), "warn " AT("0", "0") "m99"},
        {OF(FAMILY("m5, m99")), "warn " AT("0", "1") "m99"},
        {OF(SIZE("large, xlarge, tiny") ", " FAMILY("m5, m99")),
         "warn " AT("0", "2") "tiny\nwarn " AT("1", "1") "m99"},
        {OF(TYPE("m5.large, m99.large, c99.large")),
         "warn " AT("0", "1") "m99.large\ndeny " AT("0", "2") "c99.large"},
        {OF(FAMILY("m5, c99")), "deny " AT("0", "1") "c99"},
        /* misspelt */
        {OF(TYPE("m5.large, m5_xlarge")), "deny " AT("0", "1") "m5_xlarge"},
        {OF(FAMILY("m5, FAMILY")), ""},
        /* who keeps away from it names nothing that must be there */
        {OF(NOT_IN("node.kubernetes.io/instance-type", "m99.large, c99.large") ", " FAMILY("m5")),
         ""},
        {OF(IN("example.com/family", "c99") ", " FAMILY("m5")), ""},
        /* what cannot be read the API server refuses */
        {OF("{key: karpenter.k8s.aws/instance-family, operator: Is, values: [c99]}, " FAMILY("m5")),
         ""},
        /* together they leave nothing */
        {OF(FAMILY("m5") ", " IN("kubernetes.io/arch", "arm64")),
         "deny spec.template.spec.requirements "},
        {OF(FAMILY("m5, m99") ", " IN("kubernetes.io/arch", "arm64")), "warn " AT("0", "1") "m99"},
        /* labels of the template narrow the pool, as requirements do */
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: "
         "{metadata: {labels: {karpenter.k8s.aws/instance-category: m}}, spec: {nodeClassRef: "
         "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: [" SIZE(
             "large") "]}}}}",
         ""},
    };
    rail_table_run(&(struct rail_table){"instance-types: {allow: {categories: [m]}}", NULL, cases,
                                        COUNT_OF(cases)});
}

/* What of these types the pool can launch is not known: only that none of them is in the list. */
static void hardware_that_is_not_known(void)
{
#define ARM64 ", " IN("kubernetes.io/arch", "arm64")
    static const struct rail_case cases[] = {
        {OF(FAMILY("m8g-flex") ARM64), ""},
        {OF(FAMILY("m5, m8g-flex") ARM64), ""},
        {OF(FAMILY("m8g-flex") ", " IN("kubernetes.io/arch", "amd64") ARM64),
         "deny spec.template.spec.requirements "},
        /* it may be what the catalogue does not know at all that is launched */
        {OF(FAMILY("c7g-flex, m99") ARM64), "warn " AT("0", "1") "m99"},
        {OF(FAMILY("c7g-flex") ARM64),
         "deny spec.template.spec.requirements c7g-flex.2xlarge, c7g-flex.4xlarge, "
         "c7g-flex.8xlarge, c7g-flex.large, c7g-flex.medium, ... (6)"},
    };
    rail_table_run(&(struct rail_table){"instance-types: {deny: {categories: [c]}}", NULL, cases,
                                        COUNT_OF(cases)});
    /* the names of others tell that they are outside, whichever system is asked for */
#define LINUX ", " IN("kubernetes.io/os", "linux")
#define AMD64 ", " IN("kubernetes.io/arch", "amd64")
#define NO_GPU ", {key: karpenter.k8s.aws/instance-gpu-count, operator: DoesNotExist}"
    static const struct rail_case named[] = {
        {OF(TYPE("u-24tb1.metal, m8g-flex.large") LINUX),
         "deny spec.template.spec.requirements u-24tb1.metal"},
        {OF(TYPE("u-24tb1.metal, m8g-flex.large") ", " IN("kubernetes.io/os", "linux, windows")),
         "deny spec.template.spec.requirements u-24tb1.metal"},
        {OF(TYPE("u-24tb1.metal, m5.large") LINUX),
         "deny spec.template.spec.requirements u-24tb1.metal"},
        {OF(TYPE("m8g-flex.large, m5.large") LINUX), ""},
        {OF(TYPE("p6e-gb200.36xlarge, m8g-flex.large") LINUX ARM64),
         "warn spec.template.spec.requirements p6e-gb200.36xlarge"},
        {OF(TYPE("u-24tb1.metal, m8g-flex.large") ", " IN("kubernetes.io/os", "windows")),
         "warn spec.template.spec.requirements u-24tb1.metal"},
        {OF(TYPE("u-24tb1.metal, m8g-flex.large") ", {key: karpenter.k8s.aws/instance-cpu, "
                                                  "operator: Gt, values: ['1']}"),
         "warn spec.template.spec.requirements u-24tb1.metal"},
        /* others of its family tell that it has another architecture */
        {OF(TYPE("u-24tb1.metal, m8g-flex.large") LINUX ARM64), ""},
        {OF(TYPE("u-24tb1.metal, m5.large") LINUX AMD64),
         "deny spec.template.spec.requirements u-24tb1.metal"},
        {OF(TYPE("u-24tb1.metal, m5.large") ", {key: kubernetes.io/os, operator: Exists}"),
         "deny spec.template.spec.requirements u-24tb1.metal"},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: "
         "{metadata: {labels: {kubernetes.io/os: linux}}, spec: {nodeClassRef: {group: "
         "karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: [" TYPE(
             "u-24tb1.metal, m8g-flex.large") "]}}}}",
         "deny spec.template.spec.requirements u-24tb1.metal"},
        {OF(TYPE("p6e-gb200.36xlarge, m5.large") LINUX
            ", " IN("kubernetes.io/arch", "arm64, amd64")),
         "deny spec.template.spec.requirements p6e-gb200.36xlarge"},
        {OF(TYPE("p6e-gb200.36xlarge, m5.large") LINUX AMD64),
         "warn spec.template.spec.requirements p6e-gb200.36xlarge"},
        {OF(TYPE("u-24tb1.metal, m8g-flex.large, m5.large") LINUX
            ", {key: karpenter.k8s.aws/instance-cpu, operator: Gt, values: ['0']}"),
         "warn spec.template.spec.requirements u-24tb1.metal"},
        {OF(TYPE("u-24tb1.metal, m5.large") NO_GPU),
         "deny spec.template.spec.requirements u-24tb1.metal"},
        {OF(TYPE("u-24tb1.metal, m5.large") ", " NOT_IN("kubernetes.io/arch", "amd64")),
         "deny spec.template.spec.requirements "},
    };
    rail_table_run(&(struct rail_table){"instance-types: {allow: {families: [m8g-flex, m5]}}", NULL,
                                        named, COUNT_OF(named)});
    static const struct rail_words words[] = {
        {OF(TYPE("p6e-gb200.36xlarge, m8g-flex.large") LINUX ARM64),
         "The catalogue does not know the hardware of p6e-gb200.36xlarge, so the pool may launch "
         "it. It is not allowed.",
         "Add to spec.template.spec.requirements: [{key: karpenter.k8s.aws/instance-family, "
         "operator: In, values: [m8g-flex, m5]}]."},
        /* whether the allowed one can be launched is not known */
        {OF(TYPE("c7g.large, m8g-flex.large") LINUX ARM64),
         "1 of the 2 instance types that the pool can launch is not allowed: c7g.large.",
         "Add to spec.template.spec.requirements: [{key: karpenter.k8s.aws/instance-family, "
         "operator: In, values: [m8g-flex, m5]}]."},
    };
    rail_words_run("instance-types: {allow: {families: [m8g-flex, m5]}}", NULL, words,
                   COUNT_OF(words));
    static const struct rail_words left_out_beside[] = {
        {OF(TYPE("m5.large, m5.xlarge, m5.2xlarge, c5.large, p6e-gb200.36xlarge") LINUX AMD64),
         "1 of the 4 instance types that the pool can launch is not allowed: c5.large.",
         "Add to spec.template.spec.requirements: [{key: node.kubernetes.io/instance-type, "
         "operator: NotIn, values: [c5.large, p6e-gb200.36xlarge]}]."},
    };
    rail_words_run("instance-types: {deny: {families: [c5, p6e-gb200]}}", NULL, left_out_beside, 1);
    /* the category tells that they have GPUs */
    static const struct rail_case gpus[] = {
        {OF("{key: karpenter.k8s.aws/instance-gpu-count, operator: DoesNotExist}" LINUX), ""},
        {OF("{key: karpenter.k8s.aws/instance-gpu-name, operator: DoesNotExist}"), ""},
        {OF(FAMILY("p6e-gb200") NO_GPU), "deny spec.template.spec.requirements "},
        {OF(FAMILY("m5, p6e-gb200") LINUX),
         "deny spec.template.spec.requirements p6e-gb200.36xlarge"},
        {OF(FAMILY("m5, p6e-gb200") LINUX
            ", " NOT_IN("karpenter.k8s.aws/instance-gpu-count", "'1', '2', '8'")),
         "warn spec.template.spec.requirements p6e-gb200.36xlarge"},
    };
    rail_table_run(&(struct rail_table){"instance-types: {deny: {categories: [p, g]}}", NULL, gpus,
                                        COUNT_OF(gpus)});
    static const struct rail_case both[] = {{OF(FAMILY("m8g-flex") LINUX), ""}};
    rail_table_run(&(struct rail_table){"instance-types: {allow: {architectures: [amd64, arm64]}}",
                                        NULL, both, 1});
    /* nor whether it is in the list */
    static const struct rail_case unsure[] = {
        {OF(TYPE("u-24tb1.metal")), "warn spec.template.spec.requirements u-24tb1.metal"},
        {OF(TYPE("u-24tb1.metal") ", " IN("kubernetes.io/arch", "amd64")),
         "warn spec.template.spec.requirements u-24tb1.metal"},
        {OF(TYPE("m5.large, u-24tb1.metal")), "warn spec.template.spec.requirements u-24tb1.metal"},
        {OF(TYPE("m5.large, u-24tb1.metal") ", {key: karpenter.k8s.aws/instance-cpu, operator: "
                                            "Lt, values: ['33']}"),
         ""},
        {OF(TYPE("m5.24xlarge, u-24tb1.metal")),
         "deny spec.template.spec.requirements m5.24xlarge"},
        {OF(TYPE("mac-m4.metal")), ""},
        /* by its name the other one is larger; which of them has as many vCPUs is not known */
        {OF(FAMILY("u-24tb1, p6e-gb200") ", " IN("karpenter.k8s.aws/instance-cpu", "'32'")),
         "warn spec.template.spec.requirements u-24tb1.metal"},
    };
    rail_table_run(
        &(struct rail_table){"instance-types: {max: {cpu: 32}}", NULL, unsure, COUNT_OF(unsure)});
}

/* Values that are near in kind, five of them; accelerators of another maker are not. */
static void values_to_write_instead(void)
{
#define TEXT_OF(count, first, rest) \
    "All " count " instance types that the pool can launch are not allowed: " first rest
#define INSTEAD(values)                                                                         \
    "Replace the values of karpenter.k8s.aws/instance-family, which no allowed type has, with " \
    "[" values "]."
    static const char c5[] =
        TEXT_OF("9", "c5.12xlarge, c5.18xlarge, c5.24xlarge, c5.2xlarge, ", "c5.4xlarge, ... (9).");
    static const struct rail_words rows[] = {
        {OF(FAMILY("m6i, c6i, r6i, t4g, g6, p4d, i4i, m7i, c7i")),
         TEXT_OF("79", "c6i.12xlarge, c6i.16xlarge, c6i.24xlarge, c6i.2xlarge, ",
                 "c6i.32xlarge, ... (79)."),
         INSTEAD("m5, c5, r5, t3, g5")},
    };
    rail_words_run("instance-types: {allow: {families: [m5, c5, r5, t3, g5, p3, i3]}}", NULL, rows,
                   COUNT_OF(rows));
    /* with about as much memory for a CPU, of which a letter says nothing */
    static const struct rail_words categories[] = {
        {OF(IN("karpenter.k8s.aws/instance-category", "t")),
         TEXT_OF("29", "t1.micro, t2.2xlarge, t2.large, t2.medium, ", "t2.micro, ... (29)."),
         "Replace the values of karpenter.k8s.aws/instance-category, which no allowed type has, "
         "with [m]."},
        {OF(IN("karpenter.k8s.aws/instance-category", "z")),
         TEXT_OF("7", "z1d.12xlarge, z1d.2xlarge, z1d.3xlarge, z1d.6xlarge, ",
                 "z1d.large, ... (7)."),
         "Replace the values of karpenter.k8s.aws/instance-category, which no allowed type has, "
         "with [r]."},
    };
    rail_words_run("instance-types: {allow: {categories: [c, m, r]}}", NULL, categories,
                   COUNT_OF(categories));
    static const struct rail_words near_in_kind[] = {
        {OF(FAMILY("g5")),
         TEXT_OF("8", "g5.12xlarge, g5.16xlarge, g5.24xlarge, g5.2xlarge, ",
                 "g5.48xlarge, ... (8)."),
         INSTEAD("g4dn")},
        /* whose accelerators have no resource here */
        {OF(FAMILY("dl2q")),
         "The one instance type that the pool can launch is not allowed: dl2q.24xlarge.",
         INSTEAD("g4dn")},
        /* no allowed type has accelerators of the maker */
        {OF(FAMILY("inf2")),
         "All 4 instance types that the pool can launch are not allowed: inf2.24xlarge, "
         "inf2.48xlarge, inf2.8xlarge, inf2.xlarge.",
         "Ask the owner of policy table for an exception, or for a policy of its own for this "
         "pool, because no allowed type has such accelerators."},
        /* what cannot be read is passed over */
        {OF("{key: karpenter.k8s.aws/instance-cpu, operator: Gt, values: [a]}, " FAMILY("c5")), c5,
         INSTEAD("m5")},
    };
    rail_words_run("instance-types: {allow: {families: [m5, g4dn]}}", NULL, near_in_kind,
                   COUNT_OF(near_in_kind));
    static const struct rail_words no_device[] = {
        {OF(FAMILY("c5, g4ad")),
         TEXT_OF("14", "c5.12xlarge, c5.18xlarge, c5.24xlarge, c5.2xlarge, ",
                 "c5.4xlarge, ... (14)."),
         INSTEAD("m5")},
    };
    rail_words_run("instance-types: {allow: {families: [m5]}}", NULL, no_device, 1);
    /* labels of the template count as requirements do: no t3 is a metal one */
    static const struct rail_words labelled[] = {
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: "
         "{metadata: {labels: {karpenter.k8s.aws/instance-size: metal}}, spec: {nodeClassRef: "
         "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: [" FAMILY(
             "m5") "]}}}}",
         "The one instance type that the pool can launch is not allowed: m5.metal.",
         "Change the requirement on karpenter.k8s.aws/instance-family, which no allowed type "
         "meets."},
    };
    rail_words_run("instance-types: {allow: {families: [t3]}}", NULL, labelled, 1);
    /* a list of nothing has nothing to write */
    static const struct rail_words nothing[] = {
        {OF(FAMILY("c5")), c5,
         "Change the requirement on karpenter.k8s.aws/instance-family, which no allowed type "
         "meets."},
    };
    rail_words_run("instance-types: {allow: {families: [zz9]}}", NULL, nothing, 1);
}

/* Types of somebody's own catalogue have no family and no category. */
static void types_of_a_users_catalogue_are_named(void)
{
#define OTHER(number) ", " OWN_TYPE("o" number, "\"x\": 1", OWN_OFFERING("0.1", "on-demand", "a"))
#define FOUR(number) OTHER(number "1") OTHER(number "2") OTHER(number "3") OTHER(number "4")
#define OTHERS FOUR("1") FOUR("2") FOUR("3") FOUR("4") FOUR("5") FOUR("6")
    static const char types[] =
        "[" OWN_TYPE("plain", "\"x\": 1", OWN_OFFERING("0.1", "on-demand", "a")) OTHERS "]";
    static const struct rail_words rows[] = {
        {OF(""),
         "24 of the 25 instance types that the pool can launch are not allowed: o11, o12, o13, "
         "o14, o21, ... (24).",
         "Add to spec.template.spec.requirements: [{key: node.kubernetes.io/instance-type, "
         "operator: In, values: [plain]}]."},
    };
    rail_catalog_words_run("instance-types: {allow: {types: [plain]}}", NULL, types, rows, 1);
}

/* Each key of the list is one requirement, and named only where it narrows the pool. */
static void each_key_is_one_requirement(void)
{
#define ADD(requirements) "Add to spec.template.spec.requirements: [" requirements "]."
#define ONE(key, operator, values) "{key: " key ", operator: " operator", values: [" values "]}"
#define PROVIDER "karpenter.k8s.aws/instance-"
    static const struct {
        const char *list, *pool, *fix;
    } rows[] = {
        {"allow: {categories: [m, t]}", OF(FAMILY("c5, m5")),
         ADD(ONE(PROVIDER "category", "In", "m, t"))},
        {"allow: {families: [m5]}", OF(FAMILY("c5, m5")), ADD(ONE(PROVIDER "family", "In", "m5"))},
        {"allow: {sizes: [large, xlarge]}", OF(FAMILY("m5")),
         ADD(ONE(PROVIDER "size", "In", "large, xlarge"))},
        {"allow: {architectures: [arm64]}", OF(FAMILY("m5, m7g")),
         ADD(ONE("kubernetes.io/arch", "In", "arm64"))},
        {"allow: {minGeneration: 7}", OF(FAMILY("m5, m7i")),
         ADD(ONE(PROVIDER "generation", "Gt", "\"6\""))},
        {"max: {cpu: 8}", OF(FAMILY("m5")), ADD(ONE(PROVIDER "cpu", "Lt", "\"9\""))},
        {"max: {memory: 32Gi}", OF(FAMILY("m5")), ADD(ONE(PROVIDER "memory", "Lt", "\"32769\""))},
        {"max: {gpus: 0}", OF(FAMILY("g5, m5") ", " SIZE("xlarge")),
         ADD(ONE("node.kubernetes.io/instance-type", "In", "m5.xlarge"))},
        {"deny: {sizes: [metal, 24xlarge]}", OF(FAMILY("m5")),
         ADD(ONE("node.kubernetes.io/instance-type", "NotIn", "m5.24xlarge, m5.metal"))},
        /* the first makes the others superfluous, and what is left is named */
        {"allow: {families: [m5], minGeneration: 3}, max: {cpu: 4, memory: 16Gi}",
         OF(FAMILY("m1, m5")),
         ADD(ONE(PROVIDER "family", "In", "m5") ", " ONE(PROVIDER "cpu", "Lt", "\"5\""))},
        /* nor does one keep out all that is allowed */
        {"max: {cpu: 32}", OF(FAMILY("m8g-flex")),
         ADD(ONE("node.kubernetes.io/instance-type", "NotIn",
                 "m8g-flex.12xlarge, m8g-flex.16xlarge"))},
        {"allow: {sizes: [large, xlarge]}, deny: {types: [m5.large]}", OF(FAMILY("m5")),
         ADD(ONE(PROVIDER "size", "In",
                 "large, xlarge") ", " ONE("node.kubernetes.io/instance-type", "In", "m5.xlarge"))},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        struct world world = rail_table_world(
            arena_printf(arena, "instance-types: {%s}", rows[i].list).data, NULL, arena);
        struct rail_documents documents = rail_table_read(rows[i].pool, arena);
        struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        CU_ASSERT_EQUAL_FATAL(verdict.finding_count, 1);
        ASSERT_TEXT(verdict.findings[0].fix, rows[i].fix);
        arena_destroy(arena);
    }
    /* EKS Auto Mode's own names for the provider's keys; Kubernetes' are the same everywhere */
    static const struct rail_words automatic[] = {
        {POOL("eks.amazonaws.com", "NodeClass", "eks.amazonaws.com/instance-family"),
         "7 of the 8 instance types that the pool can launch are not allowed: g5.12xlarge, "
         "g5.16xlarge, g5.24xlarge, g5.2xlarge, g5.48xlarge, ... (7).",
         ADD(ONE("eks.amazonaws.com/instance-cpu", "Lt", "\"5\""))},
    };
    rail_words_run("instance-types: {allow: {families: [g5, m5]}, max: {cpu: 4}}", NULL, automatic,
                   COUNT_OF(automatic));
}

static void the_pool_s_owner_is_told_what_is_wrong(void)
{
    static const struct rail_words rows[] = {
        {OF(FAMILY("m5") ", " IN("kubernetes.io/arch", "arm64")),
         "No instance type fits these requirements, so the pool can launch none.",
         "Remove one of the requirements."},
        {OF(FAMILY("m99")), "Instance family m99 is not in the catalogue, and may not exist.",
         "Replace with m9g."},
    };
    rail_words_run("instance-types: {allow: {categories: [m]}}", NULL, rows, COUNT_OF(rows));
}

/* A pool that EKS Auto Mode has made is nobody's to change. */
static void what_eks_makes_is_let_alone(void)
{
#define BUILT_IN(name)                                                                        \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name                    \
    ", labels: {app.kubernetes.io/managed-by: eks}}, spec: {template: {spec: {nodeClassRef: " \
    "{group: eks.amazonaws.com, kind: NodeClass, name: default}, requirements: "              \
    "[" TYPE("c5.large") "]}}}}"
    static const struct rail_case cases[] = {
        {BUILT_IN("general-purpose"), ""},
        {BUILT_IN("system"), ""},
        {BUILT_IN("copy"), "deny spec.template.spec.requirements c5.large"},
    };
    rail_table_run(&(struct rail_table){"instance-types: {allow: {categories: [m]}}", NULL, cases,
                                        COUNT_OF(cases)});
}

const char unit_suite[] = "policy instance pools";
const struct unit_test unit_tests[] = {
    {"what to add is spelt as the provider does", what_to_add_is_spelt_as_the_provider_does},
    {"what keeps the list out is named", what_keeps_the_list_out_is_named},
    {"unknown values are judged by name", unknown_values_are_judged_by_name},
    {"hardware that is not known", hardware_that_is_not_known},
    {"values to write instead", values_to_write_instead},
    {"types of a user's catalogue are named", types_of_a_users_catalogue_are_named},
    {"each key is one requirement", each_key_is_one_requirement},
    {"the pool's owner is told what is wrong", the_pool_s_owner_is_told_what_is_wrong},
    {"what EKS makes is let alone", what_eks_makes_is_let_alone},
    {NULL, NULL},
};
