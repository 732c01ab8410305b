/* The rail instance-types: what each key of its list says of types that the catalogue knows, and of
 * names that it does not. */
#include "rail_catalog.h"

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
}

/* Of some types the catalogue knows no more than the name, too: what it does not say is warned of,
 * and such a type is not advised. */
static void hardware_that_is_not_known(void)
{
#define UNSURE(found) "warn spec.nodeSelector " found
#define METAL "u-12tb1.metal, u-18tb1.metal, u-24tb1.metal, u-6tb1.metal, u-9tb1.metal"
    static const struct rail_case largest[] = {
        {TYPE("u-24tb1.metal"), UNSURE("u-24tb1.metal")},
        {TYPE("u-12tb1.112xlarge"), OUTSIDE("u-12tb1.112xlarge")},
        {TYPE("u7inh-32tb.480xlarge"), OUTSIDE("u7inh-32tb.480xlarge")},
        {POD(AWS "family: u-12tb1"), UNSURE("u-12tb1.metal")},
        {POD(AWS "category: u"), UNSURE(METAL)},
        {POD(AWS "category: u, " AWS "size: metal"), UNSURE(METAL)},
        {POD(AWS "size: metal"), ""},
        /* by their names these are no larger */
        {TYPE("m8g-flex.8xlarge"), ""},
        {TYPE("m8g-flex.medium"), ""},
        {TYPE("m8g-flex.12xlarge"), OUTSIDE("m8g-flex.12xlarge")},
        {TYPE("g2.2xlarge"), OUTSIDE("g2.2xlarge")},
    };
    rail_table_run(&(struct rail_table){"instance-types: {max: {cpu: 32, memory: 256Gi, gpus: 0}}",
                                        NULL, largest, COUNT_OF(largest)});
    static const struct rail_case memory[] = {
        {TYPE("m8g-flex.8xlarge"), UNSURE("m8g-flex.8xlarge")},
        {TYPE("m8g-flex.2xlarge"), ""},
        {TYPE("trn2u.48xlarge"), UNSURE("trn2u.48xlarge")},
    };
    rail_table_run(&(struct rail_table){"instance-types: {max: {memory: 128Gi}}", NULL, memory,
                                        COUNT_OF(memory)});
    static const struct rail_case gpus[] = {{TYPE("g2.2xlarge"), UNSURE("g2.2xlarge")},
                                            {TYPE("trn2u.48xlarge"), ""}};
    rail_table_run(
        &(struct rail_table){"instance-types: {max: {gpus: 2}}", NULL, gpus, COUNT_OF(gpus)});
    /* another type of its family tells the architecture */
    static const struct rail_case architectures[] = {
        {TYPE("m8g-flex.large"), UNSURE("m8g-flex.large")},
        {TYPE("c7i.32xlarge"), OUTSIDE("c7i.32xlarge")},
        {POD(AWS "family: c7i"), "deny spec.nodeSelector[" AWS "family] c7i"},
        {POD(AWS "family: m8g-flex, kubernetes.io/arch: arm64"),
         UNSURE("m8g-flex.12xlarge, m8g-flex.16xlarge, m8g-flex.2xlarge, m8g-flex.4xlarge, "
                "m8g-flex.8xlarge, ... (8)")},
    };
    rail_table_run(&(struct rail_table){"instance-types: {allow: {architectures: [arm64]}}", NULL,
                                        architectures, COUNT_OF(architectures)});
    static const struct rail_case denied[] = {{TYPE("m8g-flex.large"), UNSURE("m8g-flex.large")},
                                              {TYPE("c7i.32xlarge"), ""}};
    rail_table_run(&(struct rail_table){"instance-types: {deny: {architectures: [arm64]}}", NULL,
                                        denied, COUNT_OF(denied)});
    static const struct rail_words words[] = {
        {TYPE("u-24tb1.metal"),
         "The catalogue does not know the hardware of u-24tb1.metal, so nobody can tell whether it "
         "is allowed here.",
         "Choose a type whose hardware is known, or ask the owner of policy table for an "
         "exception."},
        {TYPE("u7inh-32tb.480xlarge"), "Instance type u7inh-32tb.480xlarge is not allowed here.",
         "Remove this entry of the nodeSelector, or choose one of 3 allowed types, such as "
         "m5.large."},
    };
    rail_words_run("instance-types: {allow: {types: [m5.large, m8g-flex.large, u-12tb1.metal, "
                   "c7g-flex.large]}, max: {cpu: 32}}",
                   NULL, words + 1, 1);
    rail_words_run("instance-types: {max: {cpu: 32}}", NULL, words, 1);
    /* another category's generation is no nearer because it is as old */
    static const struct rail_words other_category[] = {
        {POD(AWS "family: u-12tb1"), "Instance family u-12tb1 is not allowed here.",
         "Remove this entry of the nodeSelector, or choose one of 3 allowed families, such as "
         "m5."},
    };
    rail_words_run("instance-types: {allow: {families: [t1, m5, c8a]}}", NULL, other_category, 1);
}

/* Karpenter's AWS provider makes no label of category or generation from these names. */
static void names_without_a_category(void)
{
    static const struct rail_case cases[] = {
        {TYPE("mac-m4max.metal"), OUTSIDE("mac-m4max.metal")},
        {POD(AWS "family: mac-m4"), "deny spec.nodeSelector[" AWS "family] mac-m4"},
        {TYPE("mac-m99.metal"), UNKNOWN("mac-m99.metal")},
    };
    rail_table_run(&(struct rail_table){"instance-types: {allow: {categories: [c, m, r]}}", NULL,
                                        cases, COUNT_OF(cases)});
    rail_table_run(&(struct rail_table){"instance-types: {allow: {minGeneration: 5}}", NULL, cases,
                                        COUNT_OF(cases)});
    static const struct rail_case left[] = {{TYPE("mac-m4max.metal"), ""}};
    rail_table_run(
        &(struct rail_table){"instance-types: {deny: {categories: [mac]}}", NULL, left, 1});
}

/* A name need not say what a key asks for: then nobody is denied for it. */
static void what_a_name_does_not_say_denies_nobody(void)
{
#define LABEL(name) "spec.nodeSelector[" AWS name "] "
    static const struct rail_case globs[] = {
        {TYPE("m5.77xlarge"), UNKNOWN("m5.77xlarge")},
        {TYPE("m6.large"), OUTSIDE("m6.large")},
        {POD(AWS "family: m5zz"), "warn " LABEL("family") "m5zz"},
        {POD(AWS "family: m6zz"), "deny " LABEL("family") "m6zz"},
        {POD(AWS "size: tiny"), "warn " LABEL("size") "tiny"},
        {POD(AWS "category: q"), "warn " LABEL("category") "q"},
        {POD(AWS "generation: '99'"), "warn " LABEL("generation") "99"},
        {POD("kubernetes.io/arch: s390x"), "warn spec.nodeSelector[kubernetes.io/arch] s390x"},
    };
    rail_table_run(&(struct rail_table){"instance-types: {allow: {types: ['c5.*', 'm5*.*']}}", NULL,
                                        globs, COUNT_OF(globs)});
    static const struct rail_case families[] = {
        {POD(AWS "family: mighty"), "deny " LABEL("family") "mighty"},
        {TYPE("mighty"), UNKNOWN("mighty")},
        {TYPE("mighty.large"), UNKNOWN("mighty.large")},
        {POD(AWS "size: tiny"), "warn " LABEL("size") "tiny"},
        {POD(AWS "category: q"), "warn " LABEL("category") "q"},
    };
    rail_table_run(&(struct rail_table){"instance-types: {allow: {families: [m5]}}", NULL, families,
                                        COUNT_OF(families)});
    static const struct rail_case architectures[] = {
        {POD("kubernetes.io/arch: s390x"), "deny spec.nodeSelector[kubernetes.io/arch] s390x"},
        {POD(AWS "family: m99"), "warn " LABEL("family") "m99"},
        {POD(AWS "family: m5"), "deny " LABEL("family") "m5"},
        {TYPE("m99.large"), UNKNOWN("m99.large")},
    };
    rail_table_run(&(struct rail_table){"instance-types: {allow: {architectures: [arm64]}}", NULL,
                                        architectures, COUNT_OF(architectures)});
    /* 4294967301 is 5 in 32 bits */
    static const struct rail_case generations[] = {
        {POD(AWS "generation: latest"), "warn " LABEL("generation") "latest"},
        {POD(AWS "generation: '4294967301'"), "warn " LABEL("generation") "4294967301"},
        {POD(AWS "generation: '5'"), ""},
        {POD(AWS "generation: '1'"), "deny " LABEL("generation") "1"},
        {TYPE("word"), UNKNOWN("word")},
    };
    rail_table_run(&(struct rail_table){"instance-types: {allow: {minGeneration: 5}}", NULL,
                                        generations, COUNT_OF(generations)});
}

static void what_a_name_does_not_say_is_not_forbidden(void)
{
    static const struct rail_case both[] = {
        {TYPE("m99.large"), OUTSIDE("m99.large")},
        {TYPE("m99.xlarge"), UNKNOWN("m99.xlarge")},
        {TYPE("word"), UNKNOWN("word")},
        {POD(AWS "family: m99"), "warn " LABEL("family") "m99"},
        {POD(AWS "category: m"), ""},
    };
    rail_table_run(&(struct rail_table){"instance-types: {deny: {categories: [m], sizes: [large]}}",
                                        NULL, both, COUNT_OF(both)});
    /* what is not there yet, and other sizes of it */
    static const struct rail_case globs[] = {
        {TYPE("m99.large"), OUTSIDE("m99.large")},
        {TYPE("m99.xlarge"), UNKNOWN("m99.xlarge")},
        {POD(AWS "family: m99"), "warn " LABEL("family") "m99"},
        {POD(AWS "size: tiny"), "warn " LABEL("size") "tiny"},
    };
    rail_table_run(&(struct rail_table){"instance-types: {deny: {types: [m99.large]}}", NULL, globs,
                                        COUNT_OF(globs)});
    static const struct rail_case processors[] = {
        {POD("kubernetes.io/arch: s390x"), "warn spec.nodeSelector[kubernetes.io/arch] s390x"},
        {TYPE("m7g.3xlarge"), OUTSIDE("m7g.3xlarge")},
        {TYPE("m5.1xlarge"), UNKNOWN("m5.1xlarge")},
    };
    rail_table_run(&(struct rail_table){"instance-types: {deny: {architectures: [arm64]}}", NULL,
                                        processors, COUNT_OF(processors)});
    static const struct rail_case sizes[] = {
        {POD(AWS "size: 2xlarge"), ""},
        {POD(AWS "size: 3xlarge"), "deny " LABEL("size") "3xlarge"},
        {POD(AWS "size: 5000xlarge"), "deny " LABEL("size") "5000xlarge"},
        /* more vCPUs than can be counted */
        {POD(AWS "size: 9223372036854775807xlarge"),
         "warn " LABEL("size") "9223372036854775807xlarge"},
        {POD(AWS "size: -9223372036854775808xlarge"),
         "deny " LABEL("size") "-9223372036854775808xlarge"},
        {POD(AWS "size: manyxlarge"), "warn " LABEL("size") "manyxlarge"},
        {POD(AWS "size: xlarge2"), "warn " LABEL("size") "xlarge2"},
    };
    rail_table_run(
        &(struct rail_table){"instance-types: {max: {cpu: 8}}", NULL, sizes, COUNT_OF(sizes)});
    /* no type has half a vCPU more */
    static const struct rail_case fraction[] = {{TYPE("m5.large"), ""},
                                                {TYPE("m5.xlarge"), OUTSIDE("m5.xlarge")}};
    rail_table_run(&(struct rail_table){"instance-types: {max: {cpu: 3500m}}", NULL, fraction, 2});
    static const struct rail_case memory[] = {{TYPE("m99.large"), UNKNOWN("m99.large")}};
    rail_table_run(
        &(struct rail_table){"instance-types: {max: {memory: 1Gi, gpus: 0}}", NULL, memory, 1});
}

/* The names of kwok's types say no family, size or generation. */
static void of_a_catalogue_of_ones_own(void)
{
    static const char types[] = OWN_TYPES2(
        OWN_TYPE("c-4x-amd64-linux", "\"ephemeral-storage\": \"20Gi\"",
                 OWN_OFFERING("0.1", "spot", "a")),
        OWN_TYPE("m5.large", "\"ephemeral-storage\": \"20Gi\"", OWN_OFFERING("0.1", "spot", "a")));
    static const struct rail_case globs[] = {
        {TYPE("c-4x-amd64-linux"), ""},
        {TYPE("m5.large"), OUTSIDE("m5.large")},
        /* it is the whole of what there is */
        {TYPE("c-8x-amd64-linux"), OUTSIDE("c-8x-amd64-linux")},
    };
    rail_catalog_run(&(struct rail_table){"instance-types: {allow: {types: ['c-*']}}", NULL, globs,
                                          COUNT_OF(globs)},
                     types);
    static const struct rail_case generations[] = {
        {POD(AWS "generation: '5'"), ""},
        {POD(AWS "generation: '0'"), "deny " LABEL("generation") "0"},
    };
    rail_catalog_run(&(struct rail_table){"instance-types: {max: {gpus: 0}}", NULL, generations,
                                          COUNT_OF(generations)},
                     types);
    static const struct rail_words words[] = {
        {TYPE("c-8x-amd64-linux"),
         "Instance type c-8x-amd64-linux is not in the catalogue, and may not exist.",
         "Replace with c-4x-amd64-linux."},
        {POD(AWS "generation: '0'"),
         "Instance generation 0 is not in the catalogue, and may not exist.",
         "Check the name: taffrail catalog filter type lists those there are."},
    };
    rail_catalog_words_run("instance-types: {deny: {types: [m5.metal]}}", NULL, types, words,
                           COUNT_OF(words));
    static const struct rail_words few[] = {
        {POD(AWS "generation: '4'"), "Instance generation 4 is not allowed here.",
         "Remove this entry of the nodeSelector, or choose 5."},
        {POD(AWS "category: c"), "Instance category c is not allowed here.",
         "Remove this entry of the nodeSelector, or choose m."},
    };
    rail_catalog_words_run("instance-types: {allow: {categories: [m], minGeneration: 5}}", NULL,
                           types, few, COUNT_OF(few));
}

/* A list that cannot work: what the policy's author reads, and where. */
static void a_list_that_cannot_work_is_warned_of(void)
{
#define RAIL "metadata: {name: p}\nspec:\n  rails:\n    instance-types:\n"
    static const struct {
        const char *spec, *warning;
        uint32_t line, column;
    } rows[] = {
        {RAIL "      allow:\n        families: [m5]\n      deny: {families: [m5]}\n",
         "instance-types: no type of the catalogue is in this list: everything that names a type "
         "will be a finding",
         8, 9},
        {RAIL "      deny: {types: ['*']}\n",
         "instance-types: no type of the catalogue is in this list: everything that names a type "
         "will be a finding",
         7, 7},
        {RAIL "      allow: {categories: [m, c], families: [m5], sizes: [large, metal]}\n"
              "      deny: {types: [m5.metal]}\n",
         "instance-types: metal, c select nothing together with the other keys; only m5.large is "
         "left",
         7, 14},
        /* what is known by name alone may be in the list */
        {RAIL "      allow: {families: [m5, g2], architectures: [arm64]}\n",
         "instance-types: m5 selects nothing together with the other keys; only g2.2xlarge, "
         "g2.8xlarge are left",
         7, 14},
        {RAIL "      deny:\n        families: [m5]\n        sizes: [18xlarge]\n",
         "instance-types: no type of the catalogue matches all keys of deny, so it keeps none out",
         8, 9},
        {RAIL "      deny: {families: [m5, m5.*]}\n",
         "the catalogue has no type with karpenter.k8s.aws/instance-family \"m5.*\"; only types "
         "takes globs: write types: [\"m5.*\"] instead",
         7, 29},
        {RAIL "      allow:\n        sizes:\n          - large\n          - larg\n",
         "the catalogue has no type with karpenter.k8s.aws/instance-size \"larg\"; did you mean "
         "\"large\"?",
         10, 13},
        {RAIL "      allow: {sizes: [large, zz], categories: [m]}\n",
         "the catalogue has no type with karpenter.k8s.aws/instance-size \"zz\"", 7, 30},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        const struct catalog *catalog = catalog_builtin(arena);
        struct source *source = ARENA_NEW(arena, struct source);
        source->text = arena_printf(
            arena, "apiVersion: taffrail.dev/v1alpha1\nkind: GuardRails\n%s", rows[i].spec);
        struct problems problems = {.arena = arena}, warnings = {.arena = arena};
        const struct node *root = NULL;
        doc_read_yaml(source, YAML_POLICY, &doc_limits_policy, arena, &problems,
                      rail_table_take_root, (void *)&root);
        struct schema schema = {source, arena, &problems};
        struct policy policy = {0};
        CU_ASSERT_TRUE_FATAL(root != NULL &&
                             document_read(&schema, root, catalog, &warnings, &policy));
        CU_ASSERT_EQUAL_FATAL(warnings.count, 1);
        ASSERT_TEXT(text_of(warnings.items[0].what), rows[i].warning);
        ASSERT_INT(warnings.items[0].place.line, rows[i].line);
        ASSERT_INT(warnings.items[0].place.column, rows[i].column);
        arena_destroy(arena);
    }
}

const char unit_suite[] = "policy instance-types, the list";
const struct unit_test unit_tests[] = {
    {"each key narrows the list", each_key_narrows_the_list},
    {"unknown names are judged by what they say", unknown_names_are_judged_by_what_they_say},
    {"hardware that is not known", hardware_that_is_not_known},
    {"names without a category", names_without_a_category},
    {"what a name does not say denies nobody", what_a_name_does_not_say_denies_nobody},
    {"what a name does not say is not forbidden", what_a_name_does_not_say_is_not_forbidden},
    {"of a catalogue of one's own", of_a_catalogue_of_ones_own},
    {"a list that cannot work is warned of", a_list_that_cannot_work_is_warned_of},
    {NULL, NULL},
};
