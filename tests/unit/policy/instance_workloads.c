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
#define EXISTS_NOT(key) "{key: " key ", operator: DoesNotExist}"
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
         "deny " REQUIRED "[0].matchExpressions[0].values c5, r5"},
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

/* The catalogue knows these types by name alone: what they have is not known, and denies nobody. */
#define METAL "u-12tb1.metal, u-18tb1.metal, u-24tb1.metal, u-6tb1.metal, u-9tb1.metal"
static void hardware_that_is_not_known(void)
{
    static const struct rail_case cases[] = {
        {TERMS(AWS "family: m8g-flex, kubernetes.io/arch: arm64", "", ""), ""},
        {TERMS(AWS "family: m8g-flex, " AWS "cpu: '4'", "", ""), ""},
        {TERMS(TYPE ": c7i.32xlarge", TERM(IN("kubernetes.io/arch", "amd64")), ""), ""},
        {TERMS(AWS "family: m8g-flex, " AWS "size: 24xlarge", "", ""), "deny spec.nodeSelector "},
        /* but of these others of the family tell, and no machine has two architectures */
        {TERMS(AWS "family: c7i, kubernetes.io/arch: arm64", "", ""), "deny spec.nodeSelector "},
        {TERMS("",
               TERM(IN(AWS "category", "m") ", " IN("kubernetes.io/arch", "amd64") ", " IN(
                   "kubernetes.io/arch", "arm64")),
               ""),
         "deny " REQUIRED "[0] "},
        {TERMS(AWS "family: g2, kubernetes.io/arch: amd64", "", ""),
         "deny spec.nodeSelector[" AWS "family] g2"},
    };
    rail_table_run(&(struct rail_table){"instance-types: {deny: {categories: [g]}}", NULL, cases,
                                        COUNT_OF(cases)});
    /* nor whether they are in the list */
    static const struct rail_case unsure[] = {
        {TERMS("", TERM(IN(AWS "category", "u") ", " IN(AWS "size", "metal")), ""),
         "warn " REQUIRED "[0] " METAL},
        {TERMS("", "", PREFERENCE(IN(AWS "category", "u") ", " IN(AWS "size", "metal"))),
         "warn " PREFERRED "[0].preference " METAL},
    };
    rail_table_run(
        &(struct rail_table){"instance-types: {max: {cpu: 32}}", NULL, unsure, COUNT_OF(unsure)});
    static const struct rail_case ignored = {
        TERMS("", "", PREFERENCE(IN(AWS "category", "u") ", " IN(AWS "size", "metal"))),
        "audit " PREFERRED "[0].preference " METAL};
    rail_table_run(&(struct rail_table){
        "instance-types: {max: {cpu: 32}}}, karpenter: {preferencePolicy: Ignore", NULL, &ignored,
        1});
    /* whichever of them is reached, it is outside the list */
    static const struct rail_case none[] = {
        {TERMS("",
               TERM(IS(AWS "family", "NotIn", "m5") ", " IN(
                   AWS "capability-flex", "'true'") ", " IN("kubernetes.io/arch", "arm64")),
               ""),
         "deny " REQUIRED "[0] c7g-flex.2xlarge, c7g-flex.4xlarge, c7g-flex.8xlarge, "
         "c7g-flex.large, c7g-flex.medium, ... (28)"},
    };
    rail_table_run(
        &(struct rail_table){"instance-types: {deny: {types: ['*-flex.*']}}", NULL, none, 1});
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
        /* of other makers' nodes the type is not known */
        {TERMS("", TERM(EXISTS_NOT(AWS "cpu")), ""), ""},
        {TERMS("", TERM(EXISTS_NOT(AWS "family")), ""), ""},
        {TERMS(AWS "family: m5", TERM(EXISTS_NOT(AWS "hypervisor")), ""), ""},
        {TERMS("", TERM(EXISTS_NOT("kubernetes.io/arch")), ""), "deny " REQUIRED "[0] "},
        {TERMS("", TERM(IS(AWS "cpu", "DoesNotExist", "5") ", " IN(AWS "cpu", "'3'")), ""),
         "deny " REQUIRED "[0] "},
        {TERMS("", TERM(IS(AWS "family", "Is", "c5")), ""), ""},
    };
    rail_table_run(&(struct rail_table){"instance-types: {allow: {families: [m5]}}", NULL, cases,
                                        COUNT_OF(cases)});
}

/* A value that no type has beside one that is told of takes nothing from what is reached, and what
 * is new is no smaller than what is required of it. */
static void values_that_no_type_has(void)
{
#define AMD64_AND(other) IN("kubernetes.io/arch", "amd64, " other)
#define NO_M5_AND(other) AMD64_AND(other) ", " IS(AWS "family", "NotIn", "m5")
#define LARGE IS(AWS "cpu", "Gt", "'64'")
#define ALL_LARGE                                                                           \
    "deny " REQUIRED "[0] c5.18xlarge, c5.24xlarge, c5.metal, c5a.24xlarge, c5ad.24xlarge," \
    " ... (291)"
#define ALL_BUT_M5 \
    "deny " REQUIRED "[0] c1.medium, c1.xlarge, c3.2xlarge, c3.4xlarge, c3.8xlarge, ... (978)"
#define UNKNOWN(value) "warn " REQUIRED "[0].matchExpressions[0].values[1] " value
    static const char rails[] = "instance-types: {max: {cpu: 16}}";
    static const struct rail_case of_files[] = {
        {TERMS("", TERM(AMD64_AND("ARCH") ", " LARGE), ""), ALL_LARGE},
        {TERMS("", TERM(AMD64_AND("'${ARCH}'") ", " LARGE), ""), ALL_LARGE},
        {TERMS("", TERM(AMD64_AND("s390x") ", " LARGE), ""), ALL_LARGE "\n" UNKNOWN("s390x")},
        {TERMS("", TERM(IN(AWS "family", "m5, zz9") ", " LARGE), ""),
         "deny " REQUIRED "[0] m5.24xlarge, m5.metal\n" UNKNOWN("zz9")},
        {TERMS("kubernetes.io/arch: amd64, team: web",
               TERM(IN(AWS "family", "m5, zz9") ", " LARGE ", {key: " AWS
                                                "local-nvme, operator: DoesNotExist}"),
               ""),
         "deny " REQUIRED "[0] m5.24xlarge, m5.metal\n" UNKNOWN("zz9")},
        /* of what is told nothing is left */
        {TERMS(AWS "family: zz9", TERM(LARGE), ""), "warn spec.nodeSelector[" AWS "family] zz9"},
        {TERMS(AWS "family: FAMILY", TERM(LARGE), ""), ""},
        {TERMS("kubernetes.io/arch: ARCH", TERM(LARGE), ""), ""},
        {TERMS("kubernetes.io/arch: s390x", TERM(LARGE), ""),
         "warn spec.nodeSelector[kubernetes.io/arch] s390x"},
        /* what is new may have so much memory beside few vCPUs, as other families have */
        {TERMS("", TERM(IN(AWS "family", "m5, zz9") ", " IS(AWS "memory", "Gt", "'131072'")), ""),
         UNKNOWN("zz9")},
    };
    rail_table_run(&(struct rail_table){rails, NULL, of_files, COUNT_OF(of_files)});
    static const struct rail_case sent[] = {
        {TERMS("", TERM(AMD64_AND("ARCH") ", " LARGE), ""), ALL_LARGE},
        {TERMS(AWS "family: FAMILY", TERM(LARGE), ""), ""},
    };
    rail_table_run_sent(&(struct rail_table){rails, NULL, sent, COUNT_OF(sent)});
    static const char families[] = "instance-types: {allow: {families: [m5]}}";
    static const struct rail_case no_m5_of_files[] = {
        {TERMS("", TERM(NO_M5_AND("ARCH")), ""), ""},
        {TERMS("", TERM(NO_M5_AND("s390x")), ""), ALL_BUT_M5 "\n" UNKNOWN("s390x")},
    };
    rail_table_run(&(struct rail_table){families, NULL, no_m5_of_files, COUNT_OF(no_m5_of_files)});
    static const struct rail_case no_m5_sent[] = {
        {TERMS("", TERM(NO_M5_AND("ARCH")), ""), ALL_BUT_M5}};
    rail_table_run_sent(&(struct rail_table){families, NULL, no_m5_sent, COUNT_OF(no_m5_sent)});
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

enum { LISTED = 50 };

/* What judging a Pod takes of memory that has a term so many times; found: all of them. */
static size_t bytes_of_terms(const struct world *world, const char *term, size_t count, bool found)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct text_builder terms = {.arena = arena};
    for (size_t i = 0; i < count; i++)
        text_builder_printf(&terms, "%s%s", i == 0 ? "" : ", ", term);
    struct rail_documents documents = rail_table_read(
        arena_printf(arena, TERMS("", "%s", ""), text_builder_text(&terms).data).data, arena);
    const struct subject subject = {.operation = OPERATION_CREATE, .object = documents.items};
    struct verdict verdict;
    size_t before = arena_used_bytes(arena);
    policy_evaluate(world, &subject, 0, arena, &verdict);
    size_t bytes = arena_used_bytes(arena) - before;
    CU_ASSERT_EQUAL_FATAL(verdict.finding_count, found ? LISTED + 1 : 0);
    if (found)
        ASSERT_INT(verdict.findings[LISTED].more, count - LISTED);
    arena_destroy(arena);
    return bytes;
}

/* Of very many the first are put into words; one more takes as much as one of which nothing is
 * said. */
static void very_many_are_counted(void)
{
    enum { ONCE = 500, TWICE = 2 * ONCE };
    static const char unsure[] = TERM(IN(AWS "family", "u-24tb1") ", " IN(AWS "cpu", "'32'")),
                      fine[] = TERM(IN(AWS "family", "m8g-flex") ", " IN(AWS "cpu", "'32'"));
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("instance-types: {max: {cpu: 32}}", NULL, arena);
    size_t of_unsure = bytes_of_terms(&world, unsure, TWICE, true) -
                       bytes_of_terms(&world, unsure, ONCE, true),
           of_fine = bytes_of_terms(&world, fine, TWICE, false) -
                     bytes_of_terms(&world, fine, ONCE, false);
    CU_ASSERT_TRUE(of_unsure <= of_fine * 11 / 10);
    arena_destroy(arena);
}

static void it_says_what_is_reached(void)
{
    static const struct rail_words rows[] = {
        {TERMS(AWS "family: m5, " AWS "cpu: '3'", "", ""),
         "No instance type fits all of this together.", "Remove one of the requirements."},
        {TERMS("", TERM(IN(AWS "family", "m5") ", " IN(AWS "cpu", "'3'")), ""),
         "No instance type fits all of this together.", "Remove one of the requirements."},
        {TERMS(AWS "family: m5, " AWS "cpu: '32'", "", ""),
         "This reaches one instance type, m5.8xlarge, which is not allowed.",
         "Widen the requirements until they reach an allowed type, or leave the choice to the "
         "NodePools."},
        {TERMS(AWS "family: m5", TERM(IN(AWS "cpu", "'96'")), ""),
         "This reaches 2 instance types, none of which is allowed: m5.24xlarge, m5.metal.",
         "Widen the requirements until they reach an allowed type, or leave the choice to the "
         "NodePools."},
    };
    rail_words_run("instance-types: {allow: {families: [m5], sizes: [large, xlarge]}}", NULL, rows,
                   COUNT_OF(rows));
    /* four edits away is no typing error */
    static const struct rail_words unknown[] = {
        {TERMS(TYPE ": m7i.metal-9", "", ""),
         "Instance type m7i.metal-9 is not in the catalogue, and may not exist.",
         "Check the name: taffrail catalog filter type lists those there are."},
        {TERMS(TYPE ": m7i.metal-24", "", ""),
         "Instance type m7i.metal-24 is not in the catalogue, and may not exist.",
         "Replace with m7i.metal-24xl."},
        /* every letter is near to every other */
        {TERMS(AWS "category: q", "", ""),
         "Instance category q is not in the catalogue, and may not exist.",
         "Check the name: taffrail catalog filter type lists those there are."},
        {TERMS(AWS "generation: '22'", "", ""),
         "Instance generation 22 is not in the catalogue, and may not exist.",
         "Check the name: taffrail catalog filter type lists those there are."},
        {TERMS(AWS "generation: '77'", "", ""),
         "Instance generation 77 is not in the catalogue, and may not exist.", "Replace with 7."},
    };
    rail_words_run("instance-types: {allow: {families: [m7i]}}", NULL, unknown, COUNT_OF(unknown));
    /* as people write what the label has in another way, and only what is in the list */
    static const struct rail_words other_words[] = {
        {TERMS(AWS "family: M5", "", ""),
         "Instance family M5 is not in the catalogue, and may not exist.", "Replace with m5."},
        {TERMS(AWS "size: 2XL", "", ""),
         "Instance size 2XL is not in the catalogue, and may not exist.", "Replace with 2xlarge."},
        {TERMS(TYPE ": m5.24xl", "", ""),
         "Instance type m5.24xl is not in the catalogue, and may not exist.",
         "Replace with m5.24xlarge."},
        {TERMS(TYPE ": C5.24xl", "", ""),
         "Instance type C5.24xl is not in the catalogue, and may not exist.",
         "Check the name: taffrail catalog filter type lists those there are."},
    };
    rail_words_run("instance-types: {deny: {categories: [c]}}", NULL, other_words,
                   COUNT_OF(other_words));
    /* a letter off, and no GPU in it */
    static const struct rail_words unlike[] = {
        {TERMS(AWS "family: g4", "", ""),
         "Instance family g4 is not in the catalogue, and may not exist.",
         "Check the name: taffrail catalog filter type lists those there are."},
    };
    rail_words_run("instance-types: {max: {gpus: 0}}", NULL, unlike, 1);
}

/* What a pod asks for stays in kind: the accelerator, the size that it needs, the architecture. */
static void advice_is_near_in_kind(void)
{
#define REMOVE "Remove this entry of the nodeSelector, or choose "
#define DAEMON_SET                                                                      \
    "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a}, spec: {selector: {}, " \
    "template: {metadata: {}, spec: {nodeSelector: {" TYPE ": c5.large}}}}}"
    static const struct rail_words rows[] = {
        {TERMS(TYPE ": g5.xlarge", "", ""), "Instance type g5.xlarge is not allowed here.",
         "Ask the owner of policy table for an exception, because none of the 3 allowed types has "
         "accelerators of this kind and number."},
        {TERMS(TYPE ": r5.4xlarge", "", ""), "Instance type r5.4xlarge is not allowed here.",
         REMOVE "one of 3 allowed types, such as r6a.2xlarge."},
        {TERMS(TYPE ": r7g.large", "", ""), "Instance type r7g.large is not allowed here.",
         REMOVE "one of 3 allowed types, such as m6g.large."},
        {DAEMON_SET,
         "1 value named here is not allowed. The DaemonSet buys no nodes of such kinds, and runs "
         "where there are any.",
         "Remove the types that this cluster does not have."},
    };
    rail_words_run("instance-types: {allow: {types: [m6g.large, r6a.2xlarge, m6a.large]}}", NULL,
                   rows, COUNT_OF(rows));
    static const struct rail_case names[] = {
        {TERMS(TYPE ": ml.m6g.large", "", ""), ""},
        {TERMS(TYPE ": ml.p5.48xlarge", "", ""), "deny spec.nodeSelector[" TYPE "] ml.p5.48xlarge"},
        {TERMS(TYPE ": '${TYPE}'", "", ""), ""},
        {TERMS(TYPE ": INSTANCE_TYPE", "", ""), ""},
    };
    rail_table_run(&(struct rail_table){"instance-types: {allow: {types: [m6g.large]}}", NULL,
                                        names, COUNT_OF(names)});
}

static void it_speaks_in_every_mode(void)
{
    rail_modes_run("instance-types", "allow: {families: [m5]}", NULL,
                   TERMS(AWS "family: c5", "", ""));
    rail_modes_since("instance-types", "allow: {families: [m5]}",
                     "nodeSelector: {" AWS "family: c5}");
}

/* A DaemonSet goes where the Nodes are; what it rules out together is told, and kept from nobody.
 */
/* Types as large, with as many devices of the kind. */
static void advice_is_as_large(void)
{
#define ASKS(type, requests)                                                                 \
    "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeSelector: {" TYPE ": " type \
    "}, containers: [{name: a, resources: {requests: {" requests "}, limits: {" requests "}}}]}}"
#define OUTSIDE(type) "Instance type " type " is not allowed here."
#define SUCH(count, type)                                            \
    "Remove this entry of the nodeSelector, or choose one of " count \
    " allowed types, such as " type "."
    static const struct rail_words gpus[] = {
        {ASKS("p3.8xlarge", "nvidia.com/gpu: 1"), OUTSIDE("p3.8xlarge"),
         SUCH("16", "g4dn.8xlarge")},
        {ASKS("p3.8xlarge", "nvidia.com/gpu: 4"), OUTSIDE("p3.8xlarge"),
         SUCH("16", "g4dn.12xlarge")},
        {ASKS("p3.16xlarge", "cpu: 1"), OUTSIDE("p3.16xlarge"), SUCH("16", "g4dn.metal")},
    };
    rail_words_run("instance-types: {allow: {families: [m5, g4dn]}}", NULL, gpus, COUNT_OF(gpus));
    static const struct rail_words two[] = {
        {ASKS("m5.16xlarge", "cpu: 60"), OUTSIDE("m5.16xlarge"),
         "Ask the owner of policy table for an exception, because none of the 2 allowed types is "
         "large enough."},
        {ASKS("inf1.xlarge", "cpu: 1"), OUTSIDE("inf1.xlarge"), SUCH("2", "inf2.xlarge")},
        {ASKS("m5_large", "cpu: 1"), OUTSIDE("m5_large"), SUCH("2", "m5.large")},
    };
    rail_words_run("instance-types: {allow: {types: [m5.large, inf2.xlarge]}}", NULL, two,
                   COUNT_OF(two));
    /* inf2.48xlarge has 12 devices of two cores each */
    static const struct rail_words neuron[] = {
        {ASKS("trn1.32xlarge", "aws.amazon.com/neuron: 16"), OUTSIDE("trn1.32xlarge"),
         "Ask the owner of policy table for an exception, because none of the 4 allowed types has "
         "accelerators of this kind and number."},
        {ASKS("trn1.32xlarge", "aws.amazon.com/neuron: 12"), OUTSIDE("trn1.32xlarge"),
         SUCH("4", "inf2.48xlarge")},
        {ASKS("trn1.2xlarge", "aws.amazon.com/neuroncore: 2"), OUTSIDE("trn1.2xlarge"),
         SUCH("4", "inf2.xlarge")},
    };
    rail_words_run("instance-types: {allow: {families: [inf2]}}", NULL, neuron, COUNT_OF(neuron));
    /* a share of a GPU, of which any type with one has enough */
    static const struct rail_words share[] = {
        {ASKS("g6f.large", "cpu: 1"), OUTSIDE("g6f.large"), SUCH("8", "g6.xlarge")},
    };
    rail_words_run("instance-types: {allow: {families: [g6]}}", NULL, share, 1);
    static const struct rail_words memory[] = {
        {ASKS("t3.medium", "cpu: 1"), OUTSIDE("t3.medium"), SUCH("3", "c6a.large")},
        {ASKS("t3.large", "cpu: 1"), OUTSIDE("t3.large"), SUCH("3", "m6a.large")},
        {ASKS("z1d.large", "cpu: 1"), OUTSIDE("z1d.large"), SUCH("3", "r6a.large")},
    };
    rail_words_run("instance-types: {allow: {families: [c6a, m6a, r6a], sizes: [large]}}", NULL,
                   memory, COUNT_OF(memory));
}

static void daemon_sets_are_warned(void)
{
#define WITH(kind, required, preferred)                                                          \
    "{apiVersion: apps/v1, kind: " kind ", metadata: {name: a}, spec: {selector: {}, template: " \
    "{metadata: {}, spec: {affinity: {nodeAffinity: "                                            \
    "{requiredDuringSchedulingIgnoredDuringExecution:"                                           \
    " {nodeSelectorTerms: [" required                                                            \
    "]}, preferredDuringSchedulingIgnoredDuringExecution: [" preferred "]}}}}}}"
#define NO_M5 TERM(IS(AWS "family", "NotIn", "m5") ", " IN(AWS "accelerator-name", "inferentia"))
    static const struct rail_case cases[] = {
        /* what it requests no number holds */
        {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeSelector: {" TYPE
         ": c5.large}, containers: [{name: a, resources: {requests: {cpu: 1e30}}}]}}",
         "deny spec.nodeSelector[" TYPE "] c5.large"},
        {WITH("Deployment", NO_M5, ""),
         "deny spec.template." REQUIRED
         "[0] inf1.24xlarge, inf1.2xlarge, inf1.6xlarge, inf1.xlarge"},
        {WITH("DaemonSet", "", PREFERENCE(IN(AWS "family", "m5") ", " IN(AWS "cpu", "'3'"))),
         "warn spec.template." PREFERRED "[0].preference "},
        {WITH("DaemonSet", NO_M5, ""),
         "warn spec.template." REQUIRED
         "[0] inf1.24xlarge, inf1.2xlarge, inf1.6xlarge, inf1.xlarge"},
    };
    rail_table_run(&(struct rail_table){"instance-types: {allow: {families: [m5]}}", NULL, cases,
                                        COUNT_OF(cases)});
}

const char unit_suite[] = "policy instance-types, workloads";
const struct unit_test unit_tests[] = {
    {"terms are judged one by one", terms_are_judged_one_by_one},
    {"hardware that is not known", hardware_that_is_not_known},
    {"preferences are warned of", preferences_are_warned_of},
    {"only In names values", only_in_names_values},
    {"values that no type has", values_that_no_type_has},
    {"of an empty list", of_an_empty_list},
    {"very many are counted", very_many_are_counted},
    {"it says what is reached", it_says_what_is_reached},
    {"advice is near in kind", advice_is_near_in_kind},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {"advice is as large", advice_is_as_large},
    {"DaemonSets are warned", daemon_sets_are_warned},
    {NULL, NULL},
};
