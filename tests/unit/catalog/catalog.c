/* Catalogues: the built-in one and a user's, and selections of instance types. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "catalog_fixture.h"

static const struct instance_type *type_of(const char *name)
{
    return catalog_type(catalog, index_of(name));
}

/* What a type says of a key: "8", "linux windows", "DoesNotExist", "Exists", or "" when nothing. */
static struct text label(const struct instance_type *type, const char *key_text)
{
    const struct solver_names *names = catalog_names(catalog);
    uint32_t key = solver_names_find_key(names, key_text, strlen(key_text));
    const struct solver_requirement *r =
        key == SOLVER_NONE ? NULL : solver_requirements_get(&type->requirements, key);
    if (r == NULL)
        return TEXT("");
    if (solver_requirement_op(r) != SOLVER_IN)
        return text_of(solver_op_name(solver_requirement_op(r)));
    struct text_builder out = {.arena = arena};
    for (uint32_t value = 0; value < solver_names_value_count(names, key); value++)
        if (solver_requirement_has(names, r, value)) {
            size_t size = 0;
            const char *text = solver_names_value_text(names, key, value, &size);
            text_builder_printf(&out, "%s%.*s", out.size > 0 ? " " : "", (int)size, text);
        }
    return out.size > 0 ? text_builder_text(&out) : TEXT("\"\"");
}

static void test_names(void)
{
    static const struct {
        const char *name, *family, *size, *category;
        uint32_t generation;
    } cases[] = {
        {"m5.large", "m5", "large", "m", 5},
        {"a1.medium", "a1", "medium", "a", 1},
        {"hpc7a.96xlarge", "hpc7a", "96xlarge", "hpc", 7},
        {"trn1n.32xlarge", "trn1n", "32xlarge", "trn", 1},
        {"inf2.24xlarge", "inf2", "24xlarge", "inf", 2},
        {"mac2.metal", "mac2", "metal", "mac", 2},
        {"mac2-m2pro.metal", "mac2-m2pro", "metal", "mac", 2},
        {"u-6tb1.metal", "u-6tb1", "metal", "u", 1},
        {"u-12tb1.112xlarge", "u-12tb1", "112xlarge", "u", 1},
        {"u7inh-32tb.480xlarge", "u7inh-32tb", "480xlarge", "u", 7},
        {"u7i-6tb.112xlarge", "u7i-6tb", "112xlarge", "u", 7},
        {"c7a.metal-48xl", "c7a", "metal-48xl", "c", 7},
        {"c7i-flex.large", "c7i-flex", "large", "c", 7},
        {"p6e-gb200.36xlarge", "p6e-gb200", "36xlarge", "p", 6},
        {"p6-b200.48xlarge", "p6-b200", "48xlarge", "p", 6},
        {"im4gn.large", "im4gn", "large", "im", 4},
        {"is4gen.medium", "is4gen", "medium", "is", 4},
        {"x2iedn.metal", "x2iedn", "metal", "x", 2},
        {"dl2q.24xlarge", "dl2q", "24xlarge", "dl", 2},
        {"m10x.large", "m10x", "large", "m", 10},
        {"m5.l", "m5", "l", "m", 5},
        {"m4294967295.large", "m4294967295", "large", "m", 4294967295},
        {"m4294967296.large", NULL, NULL, NULL, 0},
        {"u-6t.metal", NULL, NULL, NULL, 0},
        {"mac-m4.metal", NULL, NULL, NULL, 0},
        {"u-6t1.metal", NULL, NULL, NULL, 0},
        {"u-tb1.metal", NULL, NULL, NULL, 0},
        {"u-6tb.metal", NULL, NULL, NULL, 0},
        {"u-6tb", NULL, NULL, NULL, 0},
        {"m5", NULL, NULL, NULL, 0},
        {"m5.", NULL, NULL, NULL, 0},
        {".large", NULL, NULL, NULL, 0},
        {"5m.large", NULL, NULL, NULL, 0},
        {"M5.large", NULL, NULL, NULL, 0},
        {"m.large", NULL, NULL, NULL, 0},
        {"m5.large.large", NULL, NULL, NULL, 0},
        {"m99999999999.large", NULL, NULL, NULL, 0},
        {"c-1x-amd64-linux", NULL, NULL, NULL, 0},
        {"Standard_D2s_v3", NULL, NULL, NULL, 0},
        {"n2-standard-4", NULL, NULL, NULL, 0},
        {"", NULL, NULL, NULL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text family = {0}, size = {0}, category = {0};
        uint32_t generation = 0;
        bool parsed =
            instance_name_parse(text_of(cases[i].name), &family, &size, &category, &generation);
        if (parsed != (cases[i].family != NULL))
            fprintf(stderr, "in case \"%s\"\n", cases[i].name);
        ASSERT_INT(parsed, cases[i].family != NULL);
        ASSERT_TEXT(family, cases[i].family);
        ASSERT_TEXT(size, cases[i].size);
        ASSERT_TEXT(category, cases[i].category);
        ASSERT_INT(generation, cases[i].generation);
    }
    struct text category;
    uint32_t generation = 0;
    CU_ASSERT_TRUE(instance_family_parse(TEXT("m5"), &category, &generation));
    CU_ASSERT_FALSE(instance_family_parse(TEXT("m5.large"), &category, &generation));
}

static void test_builtin_is_whole(void)
{
    builtin();
    CU_ASSERT_TRUE(catalog_is_builtin(catalog));
    ASSERT_INT(catalog_count(catalog), 1432);
    size_t unknown = 0, priced = 0, out_of_order = 0, not_found = 0;
    for (size_t i = 0; i < catalog_count(catalog); i++) {
        const struct instance_type *type = catalog_type(catalog, i);
        unknown += type->cpu == 0;
        priced += type->usd_micro_per_hour >= 0;
        out_of_order += i > 0 && text_compare(catalog_type(catalog, i - 1)->name, type->name) >= 0;
        not_found += catalog_find(catalog, type->name) != i;
    }
    ASSERT_INT(unknown, 40);
    ASSERT_INT(priced, 1367);
    ASSERT_INT(out_of_order, 0);
    ASSERT_INT(not_found, 0);
    ASSERT_INT(catalog_find(catalog, TEXT("m5.larg")), 1432);
    ASSERT_INT(catalog_find(catalog, TEXT("")), 1432);
    ASSERT_INT(catalog_find(catalog, TEXT("zzz")), 1432);
}

#define AWS "karpenter.k8s.aws/instance-"

static void test_builtin_labels(void)
{
    static const struct {
        const char *type, *key, *label;
    } cases[] = {
        {"m5.large", "node.kubernetes.io/instance-type", "m5.large"},
        {"m5.large", "kubernetes.io/arch", "amd64"},
        {"m5.large", "kubernetes.io/os", "linux windows"},
        {"m5.large", AWS "category", "m"},
        {"m5.large", AWS "family", "m5"},
        {"m5.large", AWS "generation", "5"},
        {"m5.large", AWS "size", "large"},
        {"m5.large", AWS "cpu", "2"},
        {"m5.large", AWS "memory", "8192"},
        {"m5.large", AWS "cpu-manufacturer", "intel"},
        {"m5.large", AWS "hypervisor", "nitro"},
        {"m5.large", AWS "encryption-in-transit-supported", "false"},
        {"m5.large", AWS "capability-flex", "false"},
        {"m5.large", AWS "network-bandwidth", "750"},
        {"m5.large", AWS "ebs-bandwidth", "4750"},
        {"m5.large", AWS "tenancy", "default dedicated"},
        {"m5.large", AWS "local-nvme", "DoesNotExist"},
        {"m5.large", AWS "gpu-name", "DoesNotExist"},
        {"m5.large", AWS "gpu-count", "DoesNotExist"},
        {"m5.large", AWS "accelerator-name", "DoesNotExist"},
        {"m5.large", "topology.kubernetes.io/zone", ""},
        {"m5.large", "karpenter.sh/capacity-type", ""},
        {"m5d.large", AWS "local-nvme", "75"},
        {"m6g.large", "kubernetes.io/os", "linux"},
        {"m6g.large", "kubernetes.io/arch", "arm64"},
        {"c7i-flex.large", AWS "capability-flex", "true"},
        {"c1.medium", AWS "ebs-bandwidth", "DoesNotExist"},
        {"m6g.metal", AWS "hypervisor", "\"\""},
        {"g4dn.xlarge", AWS "gpu-name", "t4"},
        {"g4dn.xlarge", AWS "gpu-manufacturer", "nvidia"},
        {"g4dn.xlarge", AWS "gpu-count", "1"},
        {"g4dn.xlarge", AWS "gpu-memory", "16384"},
        {"g6f.xlarge", AWS "gpu-name", "l4"},
        {"g6f.xlarge", AWS "gpu-count", "0"},
        {"dl1.24xlarge", AWS "gpu-name", "gaudi-hl-205"},
        {"inf1.2xlarge", AWS "accelerator-name", "inferentia"},
        {"inf1.2xlarge", AWS "accelerator-manufacturer", "aws"},
        {"inf1.2xlarge", AWS "accelerator-count", "1"},
        {"inf1.2xlarge", AWS "gpu-name", "DoesNotExist"},
        {"trn2.3xlarge", AWS "accelerator-name", "trainium2"},
        /* Never a node. */
        {"mac2.metal", "kubernetes.io/os", "DoesNotExist"},
        {"mac2.metal", "kubernetes.io/arch", "DoesNotExist"},
        {"mac-m4.metal", AWS "category", "DoesNotExist"},
        {"mac-m4.metal", AWS "family", "mac-m4"},
        {"mac-m4.metal", AWS "cpu-manufacturer", ""},
        /* Hardware not known: what the name tells, no more. */
        {"c7g-flex.large", AWS "family", "c7g-flex"},
        {"c7g-flex.large", AWS "generation", "7"},
        {"c7g-flex.large", AWS "capability-flex", "true"},
        {"c7g-flex.large", "kubernetes.io/arch", ""},
        {"c7g-flex.large", "kubernetes.io/os", ""},
        {"c7g-flex.large", AWS "cpu", ""},
        {"c7g-flex.large", AWS "gpu-name", ""},
        {"c7g-flex.large", AWS "hypervisor", ""},
    };
    builtin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text found = label(type_of(cases[i].type), cases[i].key);
        if (!text_is(found, cases[i].label))
            fprintf(stderr, "%s of %s\n", cases[i].key, cases[i].type);
        ASSERT_TEXT(found, cases[i].label);
    }
}

static void test_builtin_fields(void)
{
    static const struct {
        const char *type, *architecture;
        uint32_t cpu;
        uint64_t memory_mib;
        uint32_t gpu_count;
        bool has_gpu, has_accelerator;
        int64_t usd_micro;
    } cases[] = {
        {"m5.large", "amd64", 2, 8192, 0, false, false, 96000},
        {"m6g.large", "arm64", 2, 8192, 0, false, false, 77000},
        {"p5.48xlarge", "amd64", 192, 2097152, 8, true, false, 55040000},
        {"g6f.xlarge", "amd64", 4, 16384, 0, true, false, 237500},
        {"gr6f.4xlarge", "amd64", 16, 131072, 0, true, false, 1066000},
        {"dl1.24xlarge", "amd64", 96, 786432, 8, true, true, 13109040},
        {"dl2q.24xlarge", "amd64", 96, 786432, 0, false, true, -2},
        {"trn2.3xlarge", "amd64", 12, 131072, 0, false, true, -1},
        {"inf2.xlarge", "amd64", 4, 16384, 0, false, true, -2},
        {"g2.2xlarge", "", 0, 0, 0, true, false, 650000},
        {"trn2u.48xlarge", "", 0, 0, 0, false, true, -1},
        {"c7g-flex.large", "", 0, 0, 0, false, false, -1},
    };
    builtin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct instance_type *type = type_of(cases[i].type);
        ASSERT_TEXT(type->architecture, cases[i].architecture);
        ASSERT_INT(type->cpu, cases[i].cpu);
        ASSERT_INT(type->memory_mib, cases[i].memory_mib);
        ASSERT_INT(type->gpu_count, cases[i].gpu_count);
        ASSERT_INT(type->has_gpu, cases[i].has_gpu);
        ASSERT_INT(type->has_accelerator, cases[i].has_accelerator);
        if (cases[i].usd_micro != -2)
            ASSERT_INT(type->usd_micro_per_hour, cases[i].usd_micro);
    }
}

static void test_has_key(void)
{
    builtin();
    CU_ASSERT_TRUE(catalog_has_key(catalog, TEXT("kubernetes.io/arch")));
    CU_ASSERT_TRUE(catalog_has_key(catalog, TEXT(AWS "gpu-name")));
    CU_ASSERT_TRUE(catalog_has_key(catalog, TEXT("topology.kubernetes.io/zone")));
    CU_ASSERT_TRUE(catalog_has_key(catalog, TEXT("topology.kubernetes.io/region")));
    CU_ASSERT_TRUE(catalog_has_key(catalog, TEXT("karpenter.sh/capacity-type")));
    CU_ASSERT_FALSE(catalog_has_key(catalog, TEXT("karpenter.kwok.sh/instance-family")));
    CU_ASSERT_FALSE(catalog_has_key(catalog, TEXT("kubernetes.io/hostname")));
    CU_ASSERT_FALSE(catalog_has_key(catalog, TEXT("zone")));
    CU_ASSERT_FALSE(catalog_has_key(catalog, TEXT("")));
    CU_ASSERT_TRUE(catalog_has_value(catalog, TEXT("kubernetes.io/arch"), TEXT("amd64")));
    CU_ASSERT_FALSE(catalog_has_value(catalog, TEXT("kubernetes.io/arch"), TEXT("m5")));
    CU_ASSERT_FALSE(catalog_has_value(catalog, TEXT("example.com/arch"), TEXT("amd64")));
}

struct query {
    struct solver_names *names;
    struct solver_requirements set;
};

static struct query ask(void)
{
    return (struct query){.names = solver_names_create(arena, catalog_names(catalog))};
}

/* "key Op value value ..." */
static void want(struct query *query, const char *written)
{
    char copy[256];
    snprintf(copy, sizeof copy, "%s", written);
    char *rest = copy;
    struct text key_text = text_of(strsep(&rest, " ")), op_text = text_of(strsep(&rest, " "));
    enum solver_op op = SOLVER_IN;
    CU_ASSERT_TRUE_FATAL(solver_op_parse(op_text.data, op_text.size, &op));
    key_text.data = solver_canonical_key(key_text.data, &key_text.size);
    uint32_t key = solver_names_key(query->names, key_text.data, key_text.size), values[32];
    size_t count = 0;
    for (const char *word; (word = strsep(&rest, " ")) != NULL; count++)
        values[count] = solver_names_value(query->names, key, word, strlen(word));
    solver_requirements_add(query->names, &query->set,
                            solver_requirement_make(query->names, key, op, values, count, 0, arena),
                            arena);
}

static struct type_set select_types(const struct query *query)
{
    return catalog_select(catalog, query->names, &query->set, arena);
}

static size_t count_of(const char *const *written)
{
    struct query query = ask();
    for (; *written != NULL; written++)
        want(&query, *written);
    struct type_set set = select_types(&query);
    return type_set_count(&set);
}

/* The NodePool of a known review: 268 types, of which 32 carry accelerators. The second count is
 * made from the types' fields, not from their labels. */
static void test_control_number(void)
{
    builtin();
    struct query query = ask();
    want(&query, "kubernetes.io/os In linux");
    want(&query, "kubernetes.io/arch In amd64");
    want(&query, AWS "cpu Gt 7");
    want(&query, AWS "cpu Lt 65");
    want(&query, AWS "memory Gt 130048");
    want(&query, AWS "memory Lt 1049600");
    struct type_set set = select_types(&query);
    size_t expected = 0, differ = 0, accelerated = 0;
    for (size_t i = 0; i < catalog_count(catalog); i++) {
        const struct instance_type *type = catalog_type(catalog, i);
        bool inside = text_is(type->architecture, "amd64") && type->cpu > 7 && type->cpu < 65 &&
                      type->memory_mib > 130048 && type->memory_mib < 1049600;
        expected += inside;
        differ += inside != type_set_has(&set, i);
        accelerated += type_set_has(&set, i) && instance_type_is_accelerated(type);
    }
    ASSERT_INT(expected, 268);
    ASSERT_INT(differ, 0);
    ASSERT_INT(type_set_count(&set), 268);
    ASSERT_INT(accelerated, 32);
}

static void test_selections(void)
{
    static const struct {
        const char *written[4];
        size_t count;
    } cases[] = {
        {{NULL}, 1432},
        {{"example.com/team In red", NULL}, 1432},
        {{"topology.kubernetes.io/zone In nowhere", NULL}, 1432},
        {{AWS "cpu-sustained-clock-speed-mhz Gt 3000", NULL}, 1432},
        {{"node.kubernetes.io/instance-type In m5.large", NULL}, 1},
        {{"beta.kubernetes.io/instance-type In m5.large nonesuch", NULL}, 1},
        {{"node.kubernetes.io/instance-type In nonesuch", NULL}, 0},
        {{"node.kubernetes.io/instance-type NotIn m5.large c7g-flex.large nonesuch", NULL}, 1430},
        {{"node.kubernetes.io/instance-type Exists", NULL}, 1432},
        {{"node.kubernetes.io/instance-type DoesNotExist", NULL}, 0},
        {{AWS "family In m5", NULL}, 9},
        {{AWS "family In m5", AWS "size In large xlarge", NULL}, 2},
        {{"kubernetes.io/os In windows", "kubernetes.io/arch In arm64", NULL}, 0},
        /* Hardware not known: 40 types that only a negative requirement takes. */
        {{AWS "cpu Exists", NULL}, 1392},
        {{AWS "cpu Gt 0", NULL}, 1392},
        {{AWS "cpu NotIn 2", AWS "family In c7g-flex", NULL}, 6},
        {{AWS "cpu In 2", AWS "family In c7g-flex", NULL}, 0},
        {{AWS "gpu-count DoesNotExist", AWS "family In g2 g4dn m5", NULL}, 11},
        {{AWS "gpu-name NotIn t4", AWS "family In g2 g4dn m5", NULL}, 11},
        {{AWS "gpu-name Exists", AWS "family In g2 g4dn m5", NULL}, 7},
        /* Every type with a GPU's name; the fractional ones count 0. */
        {{AWS "gpu-name Exists", NULL}, 81},
        {{AWS "gpu-count Gt 0", NULL}, 76},
        {{AWS "gpu-count In 0", NULL}, 5},
        {{AWS "accelerator-name Exists", NULL}, 14},
        {{AWS "hypervisor In xen", AWS "family In m4", NULL}, 6},
        {{AWS "cpu Gt 9223372036854775807", NULL}, 40},
    };
    builtin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t count = count_of(cases[i].written);
        if (count != cases[i].count)
            fprintf(stderr, "in case %zu, %s\n", i, cases[i].written[0]);
        ASSERT_INT(count, cases[i].count);
    }
}

/* 40 types are known by name alone. What a requirement leaves of known types is never less. */
static void test_possible_selections(void)
{
    static const struct {
        const char *written[4];
        size_t known, possible;
    } cases[] = {
        {{AWS "family In m8g-flex", NULL}, 8, 8},
        {{AWS "family In m8g-flex", "kubernetes.io/arch In arm64", NULL}, 0, 8},
        {{AWS "family In m8g-flex m5", AWS "cpu Gt 95", NULL}, 2, 10},
        {{AWS "family In m8g-flex", AWS "size In enormous", NULL}, 0, 0},
        {{"node.kubernetes.io/instance-type In c7i.32xlarge", "kubernetes.io/arch In amd64", NULL},
         0,
         1},
        /* others of the family tell the architecture, and who makes the processors */
        {{"node.kubernetes.io/instance-type In c7i.32xlarge", "kubernetes.io/arch In arm64", NULL},
         0,
         0},
        {{AWS "family In c7i", AWS "cpu-manufacturer In aws", NULL}, 0, 0},
        {{AWS "family In c7i", AWS "cpu In 128", NULL}, 0, 1},
        /* by name only such types are left */
        {{AWS "category In u", AWS "size In metal", AWS "cpu Gt 1", NULL}, 0, 5},
        /* none is named: the architecture may be any, and no type has more cpu than is known */
        {{AWS "capability-flex In true", "kubernetes.io/arch In arm64", NULL}, 0, 28},
        {{AWS "category In c", AWS "cpu Gt 500", NULL}, 0, 0},
        {{AWS "category In c", "kubernetes.io/arch In arm64", AWS "cpu-manufacturer In intel",
          NULL},
         0,
         0},
        /* no node is made of a Mac */
        {{AWS "family In mac2", "kubernetes.io/arch In arm64", NULL}, 0, 0},
    };
    builtin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct query query = ask();
        for (const char *const *written = cases[i].written; *written != NULL; written++)
            want(&query, *written);
        struct type_set set = catalog_select_possible(catalog, query.names, &query.set, arena);
        if (type_set_count(&set) != cases[i].possible)
            fprintf(stderr, "in case %zu, %s\n", i, cases[i].written[0]);
        ASSERT_INT(count_of(cases[i].written), cases[i].known);
        ASSERT_INT(type_set_count(&set), cases[i].possible);
    }
}

/* Each machine has these labels, also one of which they are not known; others are of some alone. */
static void test_no_machine(void)
{
    static const struct {
        const char *const written[4];
        size_t count;
    } cases[] = {
        {{AWS "category In m", "kubernetes.io/arch In amd64", "kubernetes.io/arch In arm64"}, 0},
        {{AWS "family In m8g-flex", "kubernetes.io/os In linux", "kubernetes.io/os NotIn linux"},
         0},
        {{AWS "family In m8g-flex", "kubernetes.io/os DoesNotExist"}, 0},
        {{AWS "family In m8g-flex", AWS "cpu Gt 8", AWS "cpu Lt 4"}, 0},
        {{AWS "family In m8g-flex", AWS "cpu-manufacturer In aws", AWS "cpu-manufacturer In intel"},
         0},
        {{AWS "family In m8g-flex", AWS "memory DoesNotExist"}, 0},
        {{AWS "family In m8g-flex", AWS "hypervisor DoesNotExist"}, 0},
        {{AWS "family In m8g-flex", AWS "tenancy DoesNotExist"}, 0},
        {{AWS "family In m8g-flex", AWS "encryption-in-transit-supported DoesNotExist"}, 0},
        {{AWS "family In m8g-flex", AWS "gpu-count DoesNotExist"}, 8},
        {{AWS "family In m8g-flex", AWS "local-nvme DoesNotExist"}, 8},
    };
    builtin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct query query = ask();
        for (const char *const *written = cases[i].written; *written != NULL; written++)
            want(&query, *written);
        struct type_set launchable =
            catalog_select_launchable(catalog, query.names, &query.set, arena);
        struct type_set possible = catalog_select_possible(catalog, query.names, &query.set, arena);
        ASSERT_INT(type_set_count(&launchable), cases[i].count);
        ASSERT_INT(type_set_count(&possible), cases[i].count);
    }
}

/* What is sure of types of unknown hardware is launchable, and what never is, is not possible. */
static void test_sure_selections(void)
{
    static const struct {
        const char *const written[4];
        size_t sure, launchable, possible;
    } cases[] = {
        {{AWS "family In m8g-flex"}, 8, 8, 8},
        {{AWS "family In m8g-flex", "kubernetes.io/os In linux"}, 8, 0, 8},
        {{AWS "family In m8g-flex", "kubernetes.io/os NotIn windows"}, 8, 8, 8},
        {{AWS "family In m8g-flex", "kubernetes.io/os In windows"}, 0, 0, 8},
        {{AWS "family In m8g-flex", "kubernetes.io/arch In amd64 arm64"}, 8, 0, 8},
        {{AWS "family In m8g-flex", "kubernetes.io/arch In arm64"}, 0, 0, 8},
        {{AWS "family In m8g-flex", "kubernetes.io/arch Exists"}, 8, 0, 8},
        {{AWS "family In m8g-flex", AWS "cpu Exists"}, 8, 0, 8},
        {{AWS "family In m8g-flex", AWS "cpu Gt 0"}, 0, 0, 8},
        {{AWS "family In m8g-flex", AWS "cpu NotIn 2"}, 0, 8, 8},
        {{AWS "family In m8g-flex", AWS "local-nvme DoesNotExist"}, 0, 8, 8},
        /* others of the family tell */
        {{"node.kubernetes.io/instance-type In c7i.32xlarge", "kubernetes.io/arch In amd64"},
         1,
         0,
         1},
        {{"node.kubernetes.io/instance-type In c7i.32xlarge", "kubernetes.io/arch NotIn amd64"},
         0,
         0,
         0},
        {{AWS "size In 32xlarge", AWS "family In c7i", AWS "cpu-manufacturer In intel"}, 1, 0, 1},
        {{"node.kubernetes.io/instance-type In c7i.32xlarge", "kubernetes.io/os In windows"},
         0,
         0,
         1},
        /* so does the category of devices */
        {{AWS "family In m8g-flex", AWS "gpu-count DoesNotExist"}, 8, 8, 8},
        {{AWS "family In m8g-flex", AWS "gpu-name NotIn t4"}, 8, 8, 8},
        {{AWS "family In m8g-flex", AWS "accelerator-count Exists"}, 0, 0, 0},
        {{AWS "family In g2 p6e-gb200", AWS "gpu-memory DoesNotExist"}, 0, 0, 0},
        {{AWS "family In g2 p6e-gb200", AWS "gpu-name NotIn t4"}, 0, 3, 3},
        {{AWS "family In g2 p6e-gb200", AWS "gpu-name In t4"}, 0, 0, 3},
        {{AWS "family In g2 p6e-gb200", AWS "gpu-name Exists"}, 3, 0, 3},
        {{AWS "family In g2 p6e-gb200", AWS "accelerator-name DoesNotExist"}, 3, 3, 3},
        {{AWS "family In trn2u", AWS "accelerator-manufacturer DoesNotExist"}, 0, 0, 0},
        /* a machine of known hardware that lacks the label */
        {{"node.kubernetes.io/instance-type In trn2.3xlarge", AWS "hypervisor NotIn xen"}, 1, 1, 1},
    };
    builtin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct query query = ask();
        for (const char *const *written = cases[i].written; *written != NULL; written++)
            want(&query, *written);
        struct type_set sure = catalog_select_sure(catalog, query.names, &query.set, arena);
        struct type_set launchable =
            catalog_select_launchable(catalog, query.names, &query.set, arena);
        struct type_set possible = catalog_select_possible(catalog, query.names, &query.set, arena);
        if (type_set_count(&sure) != cases[i].sure ||
            type_set_count(&launchable) != cases[i].launchable ||
            type_set_count(&possible) != cases[i].possible)
            fprintf(stderr, "in case %zu, %s, %s\n", i, cases[i].written[0], cases[i].written[1]);
        ASSERT_INT(type_set_count(&sure), cases[i].sure);
        ASSERT_INT(type_set_count(&launchable), cases[i].launchable);
        ASSERT_INT(type_set_count(&possible), cases[i].possible);
    }
}

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 33) % limit;
}

static struct solver_requirement random_requirement(struct query *query)
{
    uint32_t key = random_below(solver_names_key_count(query->names));
    uint32_t known = solver_names_value_count(query->names, key);
    enum solver_op op = (enum solver_op)random_below(SOLVER_OP_COUNT);
    uint32_t values[6];
    size_t count = op >= SOLVER_GT ? 1 : random_below(6);
    for (size_t i = 0; i < count; i++)
        values[i] = known > 0 && random_below(8) > 0
                        ? random_below(known)
                        : solver_names_value(query->names, key, "77", 2);
    return solver_requirement_make(query->names, key, op, values, count, 0, arena);
}

/* Type by type, with the solver's own algebra and no index. */
static bool takes(const struct query *query, const struct instance_type *type, const bool *defined)
{
    if (!solver_requirements_intersect(query->names, &type->requirements, &query->set, NULL))
        return false;
    for (size_t i = 0; i < query->set.count; i++) {
        const struct solver_requirement *r = &query->set.items[i];
        enum solver_op op = solver_requirement_op(r);
        bool positive = op == SOLVER_IN || op == SOLVER_EXISTS;
        if (positive && defined[r->key] &&
            solver_requirements_get(&type->requirements, r->key) == NULL)
            return false;
    }
    return true;
}

static void test_select_against_algebra(void)
{
    const char *given = getenv("TEST_SEED");
    random_state = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    printf("select: TEST_SEED=%llu\n", (unsigned long long)random_state);
    random_state = random_state * 0x9e3779b97f4a7c15u | 1;
    builtin();
    uint32_t key_count = solver_names_key_count(catalog_names(catalog));
    bool *defined = ARENA_ARRAY(arena, key_count + 8, bool);
    for (size_t i = 0; i < catalog_count(catalog); i++)
        for (uint32_t key = 0; key < key_count; key++)
            defined[key] =
                defined[key] ||
                solver_requirements_get(&catalog_type(catalog, i)->requirements, key) != NULL;
    size_t differ = 0, selected = 0;
    for (int round = 0; round < 300; round++) {
        struct query query = ask();
        solver_names_key(query.names, "example.com/unknown", 19);
        for (uint32_t left = 1 + random_below(3); left > 0; left--)
            solver_requirements_add(query.names, &query.set, random_requirement(&query), arena);
        struct type_set set = select_types(&query);
        for (size_t i = 0; i < catalog_count(catalog); i++) {
            bool taken = takes(&query, catalog_type(catalog, i), defined);
            differ += taken != type_set_has(&set, i);
            selected += taken;
        }
    }
    ASSERT_INT(differ, 0);
    CU_ASSERT(selected > 1000);
}

static void test_type_sets(void)
{
    builtin();
    struct type_set a = type_set_create(catalog, arena), b = type_set_create(catalog, arena);
    ASSERT_INT(type_set_count(&a), 0);
    CU_ASSERT_TRUE(type_set_is_empty(&a));
    CU_ASSERT_FALSE(type_set_intersects(&a, &b));
    static const size_t in_a[] = {0, 63, 64, 700, 1431}, in_b[] = {63, 65, 1431};
    for (size_t i = 0; i < sizeof in_a / sizeof *in_a; i++)
        type_set_add(&a, in_a[i]);
    for (size_t i = 0; i < sizeof in_b / sizeof *in_b; i++)
        type_set_add(&b, in_b[i]);
    type_set_add(&a, 700);
    ASSERT_INT(type_set_count(&a), 5);
    CU_ASSERT_TRUE(type_set_has(&a, 64));
    CU_ASSERT_FALSE(type_set_has(&a, 65));
    CU_ASSERT_FALSE(type_set_has(&a, 100000));
    CU_ASSERT_TRUE(type_set_intersects(&a, &b));
    struct type_set both = type_set_and(&a, &b, arena), rest = type_set_minus(&a, &b, arena);
    ASSERT_INT(type_set_count(&both), 2);
    CU_ASSERT(type_set_has(&both, 63) && type_set_has(&both, 1431));
    ASSERT_INT(type_set_count(&rest), 3);
    CU_ASSERT_FALSE(type_set_is_empty(&rest));
    CU_ASSERT(type_set_has(&rest, 0) && type_set_has(&rest, 64) && type_set_has(&rest, 700));
    CU_ASSERT_FALSE(type_set_intersects(&rest, &b));
    ASSERT_INT(type_set_count(&a), 5);
    size_t seen = 0;
    FOR_TYPES(i, &a)
        ASSERT_INT(i, in_a[seen++]);
    ASSERT_INT(seen, 5);
    ASSERT_INT(type_set_next(&a, 65), 700);
    CU_ASSERT(type_set_next(&a, 1432) == SIZE_MAX);
    CU_ASSERT(type_set_next(&a, 100000) == SIZE_MAX);
    CU_ASSERT(type_set_next(&(struct type_set){0}, 0) == SIZE_MAX);
    const struct type_set empty = {0};
    CU_ASSERT_FALSE(type_set_intersects(&a, &empty) || type_set_intersects(&empty, &a));
    both = type_set_and(&empty, &a, arena);
    ASSERT_INT(type_set_count(&both), 0);
    rest = type_set_minus(&a, &empty, arena);
    ASSERT_INT(type_set_count(&rest), 5);
}

#define OFFER(price, capacity, zone)                                                           \
    "{\"Price\": " price ", \"Available\": true, \"Requirements\": ["                          \
    "{\"key\": \"karpenter.sh/capacity-type\", \"operator\": \"In\", \"values\": [\"" capacity \
    "\"]},"                                                                                    \
    "{\"key\": \"topology.kubernetes.io/zone\", \"operator\": \"In\", \"values\": [\"" zone    \
    "\"]}]}"

static const char users[] =
    "[\n"
    " {\"name\": \"m5.large\", \"architecture\": \"amd64\", \"operatingSystems\": [\"linux\"],\n"
    "  \"resources\": {\"cpu\": 2, \"memory\": \"8192Mi\", \"pods\": \"29\"},\n"
    "  \"offerings\": [" OFFER("0.11", "on-demand", "a") "," OFFER(
        "0.1", "on-demand",
        "b") "," OFFER("0.04", "spot",
                       "a") "]},\n"
                            " {\"Name\": \"g5.xlarge\", \"Architecture\": \"amd64\", "
                            "\"operatingsystems\": [\"linux\"],\n"
                            "  \"resources\": {\"cpu\": \"4\", \"memory\": \"16Gi\", "
                            "\"nvidia.com/gpu\": \"1\"},\n"
                            "  \"offerings\": [" OFFER(
                                "0.5", "spot",
                                "b") "], \"extra\": 1},\n"
                                     " {\"name\": \"cc-1x-arm64-linux\", \"architecture\": "
                                     "\"arm64\",\n"
                                     "  \"operatingSystems\": [\"linux\", \"windows\"],\n"
                                     "  \"resources\": {\"cpu\": \"1000m\", \"memory\": \"2Gi\"},\n"
                                     "  \"offerings\": [" OFFER(
                                         "0.01", "on-demand",
                                         "a") "]},\n"
                                              " {\"name\": \"inf2.xlarge\", \"architecture\": "
                                              "\"amd64\", \"operatingSystems\": [\"linux\"],\n"
                                              "  \"resources\": {\"cpu\": \"4\", \"memory\": "
                                              "\"16Gi\", \"aws.amazon.com/neuroncore\": 2},\n"
                                              "  \"offerings\": []},\n"
                                              " {\"name\": \"g6f.xlarge\", \"architecture\": "
                                              "\"amd64\", \"operatingSystems\": null,\n"
                                              "  \"operatingSystems\": [\"linux\"],\n"
                                              "  \"resources\": {\"cpu\": \"4\", \"memory\": "
                                              "\"16Gi\"}, \"offerings\": []}\n"
                                              "]\n";

/* users[] without its last type, whose key stands twice. */
static void user_catalog(void)
{
    const char *end = strstr(users, ",\n {\"name\": \"g6f.xlarge\"");
    struct arena *scratch = arena_create((size_t)1 << 20);
    user(arena_printf(scratch, "%.*s]", (int)(end - users), users).data);
    arena_destroy(scratch);
}

static void test_user_types(void)
{
    static const struct {
        const char *type, *key, *label;
    } cases[] = {
        {"m5.large", "kubernetes.io/os", "linux"},
        {"m5.large", "topology.kubernetes.io/zone", "a b"},
        {"m5.large", "karpenter.sh/capacity-type", "on-demand spot"},
        {"m5.large", "karpenter.kwok.sh/instance-size", "large"},
        {"m5.large", "karpenter.kwok.sh/instance-family", "m5"},
        {"m5.large", "karpenter.kwok.sh/instance-cpu", "2"},
        {"m5.large", "karpenter.kwok.sh/instance-memory", "8Gi"},
        {"m5.large", AWS "family", "m5"},
        {"m5.large", AWS "generation", "5"},
        {"m5.large", AWS "cpu", "2"},
        {"m5.large", AWS "memory", "8192"},
        {"m5.large", AWS "gpu-count", "DoesNotExist"},
        {"m5.large", AWS "gpu-name", "DoesNotExist"},
        {"g5.xlarge", AWS "gpu-count", "1"},
        {"g5.xlarge", AWS "gpu-manufacturer", "nvidia"},
        {"g5.xlarge", AWS "gpu-name", "Exists"},
        {"g5.xlarge", AWS "accelerator-name", "DoesNotExist"},
        {"g5.xlarge", "karpenter.sh/capacity-type", "spot"},
        {"inf2.xlarge", AWS "accelerator-manufacturer", "aws"},
        {"inf2.xlarge", AWS "accelerator-count", "Exists"},
        {"inf2.xlarge", "topology.kubernetes.io/zone", "DoesNotExist"},
        {"cc-1x-arm64-linux", "kubernetes.io/os", "linux windows"},
        {"cc-1x-arm64-linux", "karpenter.kwok.sh/instance-size", "1"},
        {"cc-1x-arm64-linux", "karpenter.kwok.sh/instance-family", "cc"},
        {"cc-1x-arm64-linux", "karpenter.kwok.sh/instance-cpu", "1"},
        {"cc-1x-arm64-linux", AWS "family", ""},
        {"cc-1x-arm64-linux", AWS "cpu", ""},
    };
    user_catalog();
    CU_ASSERT_FALSE(catalog_is_builtin(catalog));
    ASSERT_INT(catalog_count(catalog), 4);
    ASSERT_TEXT(catalog_type(catalog, 0)->name, "cc-1x-arm64-linux");
    ASSERT_TEXT(catalog_type(catalog, 3)->name, "m5.large");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text found = label(type_of(cases[i].type), cases[i].key);
        if (!text_is(found, cases[i].label))
            fprintf(stderr, "%s of %s\n", cases[i].key, cases[i].type);
        ASSERT_TEXT(found, cases[i].label);
    }
    const struct instance_type *general = type_of("m5.large"), *gpu = type_of("g5.xlarge"),
                               *neuron = type_of("inf2.xlarge");
    ASSERT_INT(general->usd_micro_per_hour, 100000);
    ASSERT_INT(general->cpu, 2);
    ASSERT_INT(general->memory_mib, 8192);
    CU_ASSERT_FALSE(general->has_gpu || general->has_accelerator);
    ASSERT_INT(gpu->gpu_count, 1);
    CU_ASSERT_TRUE(gpu->has_gpu);
    ASSERT_INT(gpu->usd_micro_per_hour, -1);
    CU_ASSERT_TRUE(neuron->has_accelerator);
    CU_ASSERT_TRUE(catalog_has_key(catalog, TEXT("topology.kubernetes.io/zone")));
    CU_ASSERT_TRUE(catalog_has_key(catalog, TEXT("karpenter.kwok.sh/instance-cpu")));
    CU_ASSERT_FALSE(catalog_has_key(catalog, TEXT("topology.kubernetes.io/region")));
    CU_ASSERT_FALSE(catalog_has_key(catalog, TEXT(AWS "hypervisor")));
}

static void test_user_selections(void)
{
    static const struct {
        const char *written[3], *selected;
    } cases[] = {
        {{NULL}, "cc-1x-arm64-linux g5.xlarge m5.large"}, /* inf2.xlarge is not sold */
        {{"topology.kubernetes.io/zone In a", NULL}, "cc-1x-arm64-linux m5.large"},
        {{"failure-domain.beta.kubernetes.io/zone In b", NULL}, "g5.xlarge m5.large"},
        {{"topology.kubernetes.io/zone In elsewhere", NULL}, ""},
        {{"karpenter.sh/capacity-type In spot", NULL}, "g5.xlarge m5.large"},
        /* Each is sold, but not together in one offering. */
        {{"karpenter.sh/capacity-type In spot", "topology.kubernetes.io/zone In b", NULL},
         "g5.xlarge"},
        {{"karpenter.sh/capacity-type NotIn spot", NULL}, "cc-1x-arm64-linux m5.large"},
        {{"karpenter.sh/capacity-type DoesNotExist", NULL}, ""},
        {{AWS "gpu-name In t4", NULL}, "g5.xlarge"},
        {{AWS "gpu-name DoesNotExist", NULL}, "cc-1x-arm64-linux m5.large"},
        {{AWS "gpu-count Gt 0", NULL}, "g5.xlarge"},
        {{AWS "gpu-count DoesNotExist", NULL}, "cc-1x-arm64-linux m5.large"},
        {{AWS "family In m5", NULL}, "m5.large"},
        {{AWS "hypervisor In nitro", "kubernetes.io/arch In arm64", NULL}, "cc-1x-arm64-linux"},
        {{"karpenter.kwok.sh/instance-cpu Lt 4", NULL}, "cc-1x-arm64-linux m5.large"},
        {{"example.com/team In red", "kubernetes.io/os In windows", NULL}, "cc-1x-arm64-linux"},
    };
    user_catalog();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct query query = ask();
        for (const char *const *written = cases[i].written; *written != NULL; written++)
            want(&query, *written);
        struct type_set set = select_types(&query);
        struct text_builder out = {.arena = arena};
        for (size_t type = 0; type < catalog_count(catalog); type++)
            if (type_set_has(&set, type))
                text_builder_printf(&out, "%s%.*s", out.size > 0 ? " " : "",
                                    TEXT_ARGS(catalog_type(catalog, type)->name));
        struct text selected = {out.data, out.size};
        if (!text_is(selected, cases[i].selected))
            fprintf(stderr, "in case %zu, %s\n", i, cases[i].written[0]);
        ASSERT_TEXT(selected, cases[i].selected);
    }
}

/* Sizes are those of EC2 behind one word; devices are whole, shares of one, or cores. */
static void test_kwok_labels(void)
{
#define MACHINE(name, more)                                                                     \
    "{\"name\": \"" name "\", \"architecture\": \"amd64\", \"operatingSystems\": [\"linux\"], " \
    "\"resources\": {\"cpu\": \"4\", \"memory\": \"16Gi\"" more "}, \"offerings\": []}"
    static const struct {
        const char *machine, *name, *key, *label;
    } cases[] = {
        {MACHINE("M5_a.large", ""), "M5_a.large", "karpenter.kwok.sh/instance-size", "large"},
        {MACHINE("m5{.large", ""), "m5{.large", "karpenter.kwok.sh/instance-size", "4"},
        {MACHINE("m5-a.large", ""), "m5-a.large", "karpenter.kwok.sh/instance-size", "4"},
        {MACHINE("m5.huge", ""), "m5.huge", "karpenter.kwok.sh/instance-size", "4"},
        {MACHINE(".large", ""), ".large", "karpenter.kwok.sh/instance-size", "4"},
        {MACHINE("g4ad.xlarge", ", \"amd.com/gpu\": 1"), "g4ad.xlarge", AWS "gpu-manufacturer",
         "amd"},
        {MACHINE("g4ad.xlarge", ", \"amd.com/shared\": 1"), "g4ad.xlarge", AWS "gpu-count", "0"},
        {MACHINE("p4d.24xlarge", ", \"nvidia.com/mig-1g.5gb\": 7"), "p4d.24xlarge",
         AWS "gpu-manufacturer", "nvidia"},
        {MACHINE("p4d.24xlarge", ", \"nvidia.com/mig-1g.5gb\": 7"), "p4d.24xlarge", AWS "gpu-count",
         "0"},
        {MACHINE("p4d.24xlarge", ", \"nvidia.com/gpu\": 5000000000"), "p4d.24xlarge",
         AWS "gpu-count", "4294967295"},
        {MACHINE("dl1.24xlarge", ", \"habana.ai/gaudi\": 8"), "dl1.24xlarge",
         AWS "gpu-manufacturer", "habana"},
        {MACHINE("dl1.24xlarge", ", \"habana.ai/gaudi\": 8"), "dl1.24xlarge",
         AWS "accelerator-name", "DoesNotExist"},
        {MACHINE("inf2.xlarge", ", \"aws.amazon.com/neuron\": 2"), "inf2.xlarge",
         AWS "accelerator-count", "2"},
    };
#undef MACHINE
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *scratch = arena_create((size_t)1 << 20);
        user(arena_printf(scratch, "[%s]", cases[i].machine).data);
        struct text found = label(type_of(cases[i].name), cases[i].key);
        if (!text_is(found, cases[i].label))
            fprintf(stderr, "%s of %s\n", cases[i].key, cases[i].machine);
        ASSERT_TEXT(found, cases[i].label);
        if (strstr(cases[i].machine, "gaudi") != NULL)
            ASSERT_INT(type_of(cases[i].name)->devices, DEVICE_BIT(DEVICE_GAUDI));
        arena_destroy(scratch);
    }
}

/* A catalogue that fills the words of its sets, and one with more zones than a word has bits. */
static void test_many(void)
{
    struct arena *scratch = arena_create((size_t)1 << 20);
    struct text_builder json = {.arena = scratch};
    for (int i = 0; i < 64; i++)
        text_builder_printf(&json,
                            "%s{\"name\": \"t%d\", \"architecture\": \"amd64\", "
                            "\"operatingSystems\": [\"linux\"], \"resources\": {\"cpu\": \"4\", "
                            "\"memory\": \"16Gi\"}, \"offerings\": [{}]}",
                            i == 0 ? "[" : ", ", i);
    text_builder_add(&json, TEXT("]"));
    user(text_builder_text(&json).data);
    struct query query = ask();
    struct type_set all = select_types(&query);
    ASSERT_INT(type_set_count(&all), 64);

    struct text_builder zones = {.arena = scratch};
    for (int i = 0; i < 70; i++)
        text_builder_printf(&zones, "%s\"z%d\"", i == 0 ? "" : ", ", i);
    user(arena_printf(
             scratch,
             "[{\"name\": \"t\", \"architecture\": \"amd64\", \"operatingSystems\": "
             "[\"linux\"], \"resources\": {\"cpu\": 5000000000, \"memory\": \"16Gi\"}, "
             "\"offerings\": [{\"Price\": null, \"Requirements\": [{\"key\": "
             "\"topology.kubernetes.io/zone\", \"operator\": \"In\", \"values\": [%.*s]}]}, "
             "{\"Requirements\": [{\"key\": \"topology.kubernetes.io/zone\", "
             "\"operator\": \"In\", \"values\": [\"z0\"]}]}]}]",
             TEXT_ARGS(text_builder_text(&zones)))
             .data);
    ASSERT_INT(type_of("t")->usd_micro_per_hour, -1); /* null is no price */
    ASSERT_INT(type_of("t")->cpu, UINT32_MAX);
    query = ask();
    want(&query, "topology.kubernetes.io/zone In z69");
    all = select_types(&query);
    ASSERT_INT(type_set_count(&all), 1);
    size_t zone_count = 0;
    struct text named = label(type_of("t"), "topology.kubernetes.io/zone");
    for (size_t i = 0; i < named.size; i++)
        zone_count += named.data[i] == 'z';
    ASSERT_INT(zone_count, 70);
    arena_destroy(scratch);
}

#define HEAD \
    "\"name\": \"m5.large\", \"architecture\": \"amd64\", \"operatingSystems\": [\"linux\"]"
#define CPU_AND_MEMORY "\"resources\": {\"cpu\": \"2\", \"memory\": \"8Gi\"}"

static void test_user_errors(void)
{
    static const struct {
        const char *json;
        uint32_t line, column;
        const char *says; /* a part of the message */
    } cases[] = {
        {"{}", 1, 1, "the catalogue is a map; it must be a list of instance types"},
        {"[]", 1, 1, "no instance types"},
        {"[1]", 1, 2, "instance type 1: it is a number; it must be a map"},
        {"[\n {}]", 2, 2, "instance type 1: it has no name, which must be a string"},
        {"[{\"name\": 5}]", 1, 11, "name is a number; it must be a string"},
        {"[{\"name\": \"\"}]", 1, 11, "its name is empty"},
        {"[{\"name\": \"m5.large\"}]", 1, 2,
         "instance type 1 (m5.large): it has no architecture, which must be a string"},
        {"[{\"name\": \"m5.large\", \"architecture\": \"amd64\",\n  \"operatingSystems\": "
         "\"linux\"}]",
         2, 23, "operatingSystems is a string; it must be a list"},
        {"[{" HEAD ", \"resources\": {}, \"offerings\": [1]}]", 1, 92, "resources has no cpu"},
        {"[{" HEAD ",\n\"resources\": {\"cpu\": \"2x\"}, \"offerings\": []}]", 2, 22,
         "resources.cpu is \"2x\"; it must be a quantity such as"},
        {"[{" HEAD ",\n\"resources\": {\"cpu\": [2]}, \"offerings\": []}]", 2, 22,
         "resources.cpu is a list; it must be a quantity such as"},
        {"[{" HEAD ",\n\"resources\": {\"cpu\": \"-2\"}, \"offerings\": []}]", 2, 22,
         "resources.cpu is \"-2\""},
        {"[{" HEAD ",\n\"resources\": {\"cpu\": \"2\"}, \"offerings\": []}]", 2, 14,
         "resources has no memory"},
        {"[{" HEAD ", " CPU_AND_MEMORY ",\n\"offerings\": [{\"Price\": \"0.1\"}]}]", 2, 25,
         "an offering's price is a string; it must be a number"},
        {"[{" HEAD ", " CPU_AND_MEMORY ",\n\"offerings\": [{\"Price\": -1}]}]", 2, 25,
         "an offering's price is -1"},
        {"[{" HEAD ", " CPU_AND_MEMORY ",\n\"offerings\": [7]}]", 2, 15,
         "an offering is a number; it must be a map"},
        {"[{" HEAD ", " CPU_AND_MEMORY
         ",\n\"offerings\": [{\"Requirements\": [{\"key\": \"a\", \"operator\": \"is\"}]}]}]",
         2, 58, "an offering's operator is \"is\"; it must be In, NotIn"},
        {"[{" HEAD ", " CPU_AND_MEMORY ",\n\"offerings\": [{\"Requirements\": [{\"key\": \"a\", "
         "\"operator\": \"Gt\", \"values\": [\"b\"]}]}]}]",
         2, 74, "an offering's Gt takes one value, a whole number"},
        {"[{" HEAD ", " CPU_AND_MEMORY ", \"offerings\": []},\n {" HEAD ", " CPU_AND_MEMORY
         ", \"offerings\": []}]",
         2, 2, "instance type 2 (m5.large): type 1 has this name already"},
        {"[{" HEAD ",\n\"offerings\": []}]", 1, 2, "it has no resources, which must be a map"},
        {"[{" HEAD ",\n" CPU_AND_MEMORY "}]", 1, 2, "it has no offerings, which must be a list"},
        {"[{\"name\": \"a\", \"architecture\": \"amd64\", \"operatingSystems\": [\n7], "
         "\"resources\": {}, \"offerings\": []}]",
         2, 1, "operatingSystems is a number; it must be a list of strings"},
#define OFFERING(text) "[{" HEAD ", " CPU_AND_MEMORY ", \"offerings\": [\n" text "]}]"
        {OFFERING("{\"Requirements\": {}}"), 2, 18,
         "an offering's requirements is a map; it must be a list of maps"},
        {OFFERING("{\"Requirements\": [7]}"), 2, 19,
         "an offering's requirement is a number; it must be a map"},
        {OFFERING("{\"Requirements\": [{\"operator\": \"In\"}]}"), 2, 19,
         "it has no key, which must be a string"},
        {OFFERING("{\"Requirements\": [{\"key\": \"a\"}]}"), 2, 19,
         "it has no operator, which must be a string"},
        {OFFERING(
             "{\"Requirements\": [{\"key\": \"a\", \"operator\": \"In\", \"values\": \"b\"}]}"),
         2, 60, "an offering's values is a string; it must be a list of strings"},
        {OFFERING("{\"Requirements\": [{\"key\": \"a\", \"operator\": \"In\", \"values\": [7]}]}"),
         2, 61, "an offering's value is a number; it must be a list of strings"},
        {OFFERING("{\"Requirements\": [{\"key\": \"a\", \"operator\": \"Gt\"}]}"), 2, 19,
         "an offering's Gt takes one value, a whole number"},
        {OFFERING("{\"Price\": 1e30}"), 2, 11, "an offering's price is 1e30"},
        {OFFERING("{\"ReservationCapacity\": \"many\"}"), 2, 25,
         "an offering's ReservationCapacity is a string; it must be a whole number"},
        {OFFERING("{\"ReservationCapacity\": 1.5}"), 2, 25,
         "an offering's ReservationCapacity is 1.5; it must be a whole number of machines"},
        {OFFERING("{\"ReservationCapacity\": -1}"), 2, 25,
         "an offering's ReservationCapacity is -1"},
        {OFFERING("{\"ReservationCapacity\": 2147483648}"), 2, 25,
         "an offering's ReservationCapacity is 2147483648"},
#undef OFFERING
        {"[{\"name\": \"a\",\n\"name\": \"b\"}]", 2, 1, "name"},
        {"[", 1, 2, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fresh();
        struct error error = {0};
        bool read = read_catalog(cases[i].json, &error);
        if (read || strstr(error.what, cases[i].says) == NULL ||
            error.place.line != cases[i].line || error.place.column != cases[i].column)
            fprintf(stderr, "%s\n  gives %u:%u: %s\n", cases[i].json, error.place.line,
                    error.place.column, error.what);
        CU_ASSERT_FALSE(read);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.what, cases[i].says));
        ASSERT_INT(error.kind, ERROR_INPUT);
        ASSERT_INT(error.place.line, cases[i].line);
        ASSERT_INT(error.place.column, cases[i].column);
        CU_ASSERT_PTR_NOT_NULL_FATAL(error.place.file);
        ASSERT_TEXT(text_of(error.place.file), "types.json");
    }
}

const char unit_suite[] = "kube_catalog";
const struct unit_test unit_tests[] = {
    {"names", test_names},
    {"the built-in catalogue is whole", test_builtin_is_whole},
    {"its labels", test_builtin_labels},
    {"its fields", test_builtin_fields},
    {"keys", test_has_key},
    {"the control number", test_control_number},
    {"selections", test_selections},
    {"possible selections", test_possible_selections},
    {"requirements that no machine meets", test_no_machine},
    {"of unknown hardware some is sure", test_sure_selections},
    {"selecting against the algebra", test_select_against_algebra},
    {"sets of types", test_type_sets},
    {"a user's types", test_user_types},
    {"a user's selections", test_user_selections},
    {"a user's errors", test_user_errors},
    {"labels of kwok", test_kwok_labels},
    {"many types and zones", test_many},
    {NULL, NULL},
};
