/* Requirements and sets of them against Karpenter's algebra. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "solver/solver.h"
#include "unit.h"

static struct arena *arena;
static struct solver_names *names;

static void fresh(void)
{
    arena_destroy(arena);
    arena = arena_create((size_t)256 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    names = solver_names_create(arena, NULL);
}

/* "In a b", "Gt 3", "Exists", "NotIn x minValues 2": the key is given apart. */
static struct solver_requirement parse(const char *key_text, const char *written)
{
    char copy[256];
    snprintf(copy, sizeof copy, "%s", written);
    char *rest = copy;
    const char *op_text = strsep(&rest, " ");
    enum solver_op op = SOLVER_IN;
    CU_ASSERT_TRUE_FATAL(solver_op_parse(op_text, strlen(op_text), &op));
    size_t size = strlen(key_text);
    const char *canonical = solver_canonical_key(key_text, &size);
    uint32_t key = solver_names_key(names, canonical, size);
    uint32_t values[16], min_values = 0;
    size_t count = 0;
    for (const char *word; (word = strsep(&rest, " ")) != NULL;) {
        if (strcmp(word, "minValues") == 0)
            min_values = (uint32_t)atoi(strsep(&rest, " "));
        else
            values[count++] = solver_names_value(names, key, word, strlen(word));
    }
    return solver_requirement_make(names, key, op, values, count, min_values, arena);
}

static int compare_texts(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

/* As Karpenter prints one: operator, values, bounds, minValues. */
static struct text print(const struct solver_requirement *r)
{
    struct text_builder out = {.arena = arena};
    text_builder_printf(&out, "%s", solver_op_name(solver_requirement_op(r)));
    struct text values[64] = {0};
    size_t count = 0;
    for (uint32_t i = 0; i < r->word_count * 64 && count < 64; i++)
        if ((r->words[i / 64] >> (i % 64) & 1) != 0) {
            values[count].data = solver_names_value_text(names, r->key, i, &values[count].size);
            count++;
        }
    qsort(values, count, sizeof *values, compare_texts);
    for (size_t i = 0; i < count; i++)
        text_builder_printf(&out, " %.*s", TEXT_ARGS(values[i]));
    if (r->has_gte)
        text_builder_printf(&out, " >=%lld", (long long)r->gte);
    if (r->has_lte)
        text_builder_printf(&out, " <=%lld", (long long)r->lte);
    if (r->min_values > 0)
        text_builder_printf(&out, " minValues %u", r->min_values);
    return text_builder_text(&out);
}

static void check_intersection(const char *a_text, const char *b_text, const char *expected,
                               bool intersects)
{
    struct solver_requirement a = parse("k", a_text), b = parse("k", b_text);
    struct solver_requirement ab = solver_requirement_intersect(names, &a, &b, arena);
    struct solver_requirement ba = solver_requirement_intersect(names, &b, &a, arena);
    if (!text_is(print(&ab), expected))
        fprintf(stderr, "%s and %s:\n", a_text, b_text);
    ASSERT_TEXT(print(&ab), expected);
    ASSERT_TEXT(print(&ba), expected);
    ASSERT_INT(solver_requirement_intersects(names, &a, &b), intersects);
    ASSERT_INT(solver_requirement_intersects(names, &b, &a), intersects);
}

static void test_make(void)
{
    static const struct {
        const char *written, *expected;
    } cases[] = {
        {"In", "DoesNotExist"},
        {"In b a", "In a b"},
        {"In a a", "In a"},
        {"NotIn a", "NotIn a"},
        {"NotIn", "Exists"},
        {"Exists", "Exists"},
        {"DoesNotExist", "DoesNotExist"},
        {"DoesNotExist minValues 2", "DoesNotExist minValues 2"},
        {"Gt 3", "Exists >=4"},
        {"Gt 3 minValues 2", "Exists >=4 minValues 2"},
        {"Lt 3", "Exists <=2"},
        {"Gte 3", "Exists >=3"},
        {"Lte 3", "Exists <=3"},
        {"Gt +5", "Exists >=6"},
        {"Gt 05", "Exists >=6"},
        {"Gt -5", "Exists >=-4"},
        {"Gt large", "Exists >=1"},
        {"Lt 1.5", "Exists <=-1"},
        {"Gt 9223372036854775806", "Exists >=9223372036854775807"},
        {"Gt 9223372036854775807 minValues 2", "DoesNotExist"},
        {"Gt 99999999999999999999 minValues 2", "DoesNotExist"},
        {"Gte 99999999999999999999", "Exists >=9223372036854775807"},
        {"Lt -9223372036854775808", "Exists <=9223372036854775807"},
        {"Lte -9223372036854775808", "Exists <=-9223372036854775808"},
    };
    fresh();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct solver_requirement r = parse("k", cases[i].written);
        ASSERT_TEXT(print(&r), cases[i].expected);
    }
}

static void test_intersections(void)
{
    static const struct {
        const char *a, *b, *expected;
        bool intersects;
    } cases[] = {
        {"In a b", "In b c", "In b", true},
        {"In a", "In b", "DoesNotExist", false},
        {"In a b", "NotIn b", "In a", true},
        {"In b", "NotIn b", "DoesNotExist", false},
        {"NotIn a", "NotIn b", "NotIn a b", true},
        {"In a", "Exists", "In a", true},
        {"In a", "DoesNotExist", "DoesNotExist", false},
        {"Exists", "DoesNotExist", "DoesNotExist", false},
        {"NotIn a", "DoesNotExist", "DoesNotExist", false},
        {"DoesNotExist", "DoesNotExist", "DoesNotExist", false},
        {"In", "DoesNotExist", "DoesNotExist", false},
        /* Bounds. */
        {"In 1 2 3 4", "Gt 2", "In 3 4", true},
        {"In 1 2 3 4", "Lt 2", "In 1", true},
        {"In 1 2", "Gt 2", "DoesNotExist", false},
        {"In 1 x 9", "Gt 0", "In 1 9", true},
        {"In x", "Lt 9", "DoesNotExist", false},
        {"In +5 05 5", "Gte 5", "In +5 05 5", true},
        {"In 99999999999999999999", "Gt 1", "DoesNotExist", false},
        {"Gt 2", "Lt 9", "Exists >=3 <=8", true},
        {"Gt 2", "Gt 5", "Exists >=6", true},
        {"Lt 2", "Lt 5", "Exists <=1", true},
        {"Gt 5", "Lt 5", "DoesNotExist", false},
        {"Gt 4", "Lt 6", "Exists >=5 <=5", true},
        {"Gt 4", "Lt 5", "DoesNotExist", false},
        {"NotIn 1 7 x", "Gt 5", "NotIn 7 >=6", true},
        /* Crossing bounds keep the merged minValues. */
        {"Gt 5 minValues 2", "Lt 5 minValues 3", "DoesNotExist minValues 3", false},
        {"In a b minValues 2", "In b c minValues 1", "In b minValues 2", true},
        {"In a b", "In b c minValues 1", "In b minValues 1", true},
    };
    fresh();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_intersection(cases[i].a, cases[i].b, cases[i].expected, cases[i].intersects);
}

/* Nothing is left of NotIn 3, Gte 3, Lte 3, and yet the fast check says two complements meet. */
static void test_two_complements_always_meet(void)
{
    fresh();
    struct solver_requirement excluded = parse("k", "NotIn 3"), least = parse("k", "Gte 3"),
                              most = parse("k", "Lte 3");
    struct solver_requirement range = solver_requirement_intersect(names, &least, &most, arena);
    ASSERT_TEXT(print(&range), "Exists >=3 <=3");
    ASSERT_INT(solver_requirement_intersects(names, &excluded, &range), true);
    struct solver_requirement r = solver_requirement_intersect(names, &excluded, &range, arena);
    ASSERT_TEXT(print(&r), "NotIn 3 >=3 <=3");
    uint32_t three = solver_names_find_value(names, r.key, "3", 1);
    ASSERT_INT(solver_requirement_has(names, &r, three), false);
}

/* docs/reference/karpenter.md 1.3 (b): a clash is forgiven when both sides are NotIn or
 * DoesNotExist. */
static void test_sets_intersect(void)
{
    static const struct {
        const char *a, *b;
        bool intersect;
    } cases[] = {
        {"DoesNotExist", "DoesNotExist", true},
        {"DoesNotExist", "NotIn x", true},
        {"NotIn x", "DoesNotExist", true},
        {"DoesNotExist", "Exists", false},
        {"DoesNotExist", "Gt 3", false},
        {"DoesNotExist", "In x", false},
        {"In x", "NotIn x", false},
        {"In x y", "NotIn x", true},
        {"In", "NotIn x", true},
        {"Gt 3", "Lt 2", false},
        {"Exists", "NotIn x", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fresh();
        struct solver_requirements a = {0}, b = {0};
        solver_requirements_add(names, &a, parse("other", "In a"), arena);
        solver_requirements_add(names, &b, parse("another", "In a"), arena);
        solver_requirements_add(names, &a, parse("k", cases[i].a), arena);
        solver_requirements_add(names, &b, parse("k", cases[i].b), arena);
        uint32_t key = solver_names_find_key(names, "k", 1), conflict = SOLVER_NONE;
        if (solver_requirements_intersect(names, &a, &b, NULL) != cases[i].intersect)
            fprintf(stderr, "%s against %s\n", cases[i].a, cases[i].b);
        ASSERT_INT(solver_requirements_intersect(names, &a, &b, NULL), cases[i].intersect);
        ASSERT_INT(solver_requirements_intersect(names, &b, &a, &conflict), cases[i].intersect);
        ASSERT_INT(conflict, cases[i].intersect ? SOLVER_NONE : key);
    }
}

/* The worked truth table of docs/reference/karpenter.md 1.3. */
static void test_undefined_keys(void)
{
    static const struct {
        const char *incoming;
        bool accepted_when_custom;
    } cases[] = {
        {"In x", false}, {"Exists", false}, {"Gt 3", false},
        {"Lt 3", false}, {"NotIn x", true}, {"DoesNotExist", true},
    };
    static const char custom[] = "example.com/team", known[] = "topology.kubernetes.io/zone";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fresh();
        struct solver_requirements pool = {0}, pod = {0}, zoned = {0};
        solver_requirements_add(names, &pool, parse("example.com/else", "In x"), arena);
        solver_requirements_add(names, &pod, parse(custom, cases[i].incoming), arena);
        solver_requirements_add(names, &zoned, parse(known, cases[i].incoming), arena);
        uint32_t conflict = SOLVER_NONE;
        bool accepted =
            solver_requirements_compatible(names, &pool, &pod, solver_is_well_known, &conflict);
        ASSERT_INT(accepted, cases[i].accepted_when_custom);
        ASSERT_INT(conflict, accepted ? SOLVER_NONE
                                      : solver_names_find_key(names, custom, sizeof custom - 1));
        ASSERT_INT(solver_requirements_compatible(names, &pool, &zoned, solver_is_well_known, NULL),
                   true);
        /* An existing node: nothing may be undefined. */
        ASSERT_INT(solver_requirements_compatible(names, &pool, &zoned, NULL, NULL),
                   cases[i].accepted_when_custom);
        /* It is asymmetric: what the pod does not say, it accepts. */
        ASSERT_INT(solver_requirements_compatible(names, &pod, &pool, NULL, NULL), false);
    }
}

static void test_defined_keys(void)
{
    static const struct {
        const char *pool, *pod;
        bool accepted;
    } cases[] = {
        {"In x", "DoesNotExist", false}, {"Exists", "DoesNotExist", false},
        {"In x y", "NotIn x", true},     {"In x", "NotIn x", false},
        {"Exists", "In x", true},        {"In x", "Exists", true},
        {"In 8", "Gt 7", true},          {"In 7", "Gt 7", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fresh();
        struct solver_requirements pool = {0}, pod = {0};
        solver_requirements_add(names, &pool, parse("example.com/k", cases[i].pool), arena);
        solver_requirements_add(names, &pod, parse("example.com/k", cases[i].pod), arena);
        ASSERT_INT(solver_requirements_compatible(names, &pool, &pod, NULL, NULL),
                   cases[i].accepted);
    }
}

static void test_add_and_get(void)
{
    fresh();
    struct solver_requirements set = {0};
    solver_requirements_add(names, &set, parse("c", "In x"), arena);
    solver_requirements_add(names, &set, parse("a", "Gt 3"), arena);
    uint32_t absent = solver_names_key(names, "b", 1);
    solver_requirements_add(names, &set, parse("d", "Exists"), arena);
    solver_requirements_add(names, &set, parse("a", "Lt 9 minValues 2"), arena);
    ASSERT_INT(set.count, 3);
    for (size_t i = 1; i < set.count; i++)
        CU_ASSERT(set.items[i - 1].key < set.items[i].key);
    CU_ASSERT_PTR_NULL(solver_requirements_get(&set, absent));
    const struct solver_requirement *a =
        solver_requirements_get(&set, solver_names_find_key(names, "a", 1));
    CU_ASSERT_PTR_NOT_NULL_FATAL(a);
    ASSERT_TEXT(print(a), "Exists >=4 <=8 minValues 2");
}

/* An alias and its canonical key are one key, and simply intersect. */
static void test_aliases(void)
{
    static const struct {
        const char *key, *canonical;
    } cases[] = {
        {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
        {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
        {"topology.ebs.csi.aws.com/zone", "topology.kubernetes.io/zone"},
        {"beta.kubernetes.io/arch", "kubernetes.io/arch"},
        {"beta.kubernetes.io/os", "kubernetes.io/os"},
        {"beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"},
        {"eks.amazonaws.com/instance-family", "karpenter.k8s.aws/instance-family"},
        {"eks.amazonaws.com/instance-gpu-count", "karpenter.k8s.aws/instance-gpu-count"},
        {"eks.amazonaws.com/instance-", "eks.amazonaws.com/instance-"},
        {"eks.amazonaws.com/instance-nonesuch", "eks.amazonaws.com/instance-nonesuch"},
        {"eks.amazonaws.com/compute-type", "eks.amazonaws.com/compute-type"},
        {"topology.gke.io/zone", "topology.gke.io/zone"},
        {"topology.kubernetes.io/zone", "topology.kubernetes.io/zone"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text t = text_of(cases[i].key);
        t.data = solver_canonical_key(t.data, &t.size);
        ASSERT_TEXT(t, cases[i].canonical);
    }
    fresh();
    struct solver_requirements set = {0};
    solver_requirements_add(names, &set, parse("beta.kubernetes.io/arch", "In amd64 arm64"), arena);
    solver_requirements_add(names, &set, parse("kubernetes.io/arch", "In arm64 s390x"), arena);
    ASSERT_INT(set.count, 1);
    ASSERT_TEXT(print(&set.items[0]), "In arm64");
}

static void test_well_known(void)
{
    static const struct {
        const char *key;
        bool known;
    } cases[] = {
        {"karpenter.sh/nodepool", true},
        {"karpenter.sh/capacity-type", true},
        {"topology.kubernetes.io/zone", true},
        {"topology.kubernetes.io/region", true},
        {"node.kubernetes.io/instance-type", true},
        {"node.kubernetes.io/windows-build", true},
        {"kubernetes.io/arch", true},
        {"kubernetes.io/os", true},
        {"topology.k8s.aws/zone-id", true},
        {"karpenter.k8s.aws/instance-category", true},
        {"karpenter.k8s.aws/instance-family", true},
        {"karpenter.k8s.aws/instance-generation", true},
        {"karpenter.k8s.aws/instance-size", true},
        {"karpenter.k8s.aws/instance-hypervisor", true},
        {"karpenter.k8s.aws/instance-cpu", true},
        {"karpenter.k8s.aws/instance-cpu-manufacturer", true},
        {"karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz", true},
        {"karpenter.k8s.aws/instance-memory", true},
        {"karpenter.k8s.aws/instance-ebs-bandwidth", true},
        {"karpenter.k8s.aws/instance-network-bandwidth", true},
        {"karpenter.k8s.aws/instance-local-nvme", true},
        {"karpenter.k8s.aws/instance-gpu-name", true},
        {"karpenter.k8s.aws/instance-gpu-manufacturer", true},
        {"karpenter.k8s.aws/instance-gpu-count", true},
        {"karpenter.k8s.aws/instance-gpu-memory", true},
        {"karpenter.k8s.aws/instance-accelerator-name", true},
        {"karpenter.k8s.aws/instance-accelerator-manufacturer", true},
        {"karpenter.k8s.aws/instance-accelerator-count", true},
        {"karpenter.k8s.aws/instance-encryption-in-transit-supported", true},
        {"karpenter.k8s.aws/instance-capability-flex", true},
        {"karpenter.k8s.aws/instance-tenancy", true},
        {"karpenter.k8s.aws/nitro-sandbox", false},
        {"karpenter.k8s.aws/capacity-reservation-id", true},
        {"karpenter.k8s.aws/capacity-reservation-type", true},
        {"karpenter.k8s.aws/capacity-reservation-interruptible", true},
        {"karpenter.k8s.aws/placement-group-id", true},
        {"karpenter.k8s.aws/placement-group-partition", true},
        {"kubernetes.io/hostname", false},
        {"karpenter.sh/initialized", false},
        {"karpenter.k8s.aws/instance", false},
        {"karpenter.k8s.aws/instance-familyy", false},
        {"zone", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ASSERT_INT(solver_is_well_known(cases[i].key, strlen(cases[i].key)), cases[i].known);
}

static void test_operators(void)
{
    for (int op = 0; op < SOLVER_OP_COUNT; op++) {
        const char *name = solver_op_name((enum solver_op)op);
        enum solver_op parsed = SOLVER_IN;
        CU_ASSERT_TRUE(solver_op_parse(name, strlen(name), &parsed));
        ASSERT_INT(parsed, op);
    }
    enum solver_op op = SOLVER_LTE;
    CU_ASSERT_FALSE(solver_op_parse("in", 2, &op));
    CU_ASSERT_FALSE(solver_op_parse("", 0, &op));
    CU_ASSERT_FALSE(solver_op_parse("Inn", 3, &op));
    ASSERT_INT(op, SOLVER_LTE);
}

/* Words beyond word_count are 0, so that tables of different height give equal requirements. */
static void test_equal(void)
{
    fresh();
    uint64_t padded[3] = {1, 0, 0};
    struct solver_requirement r = parse("k", "In a"), wide = r;
    wide.words = padded;
    wide.word_count = 3;
    CU_ASSERT_TRUE(solver_requirement_equal(&r, &wide));
    CU_ASSERT_TRUE(solver_requirement_equal(&wide, &r));
    padded[2] = 1;
    CU_ASSERT_FALSE(solver_requirement_equal(&r, &wide));
    CU_ASSERT_FALSE(solver_requirement_equal(&wide, &r));
    struct solver_requirement many = parse("k", "In a minValues 1"), not_a = parse("k", "NotIn a"),
                              other = parse("j", "In a"), gt = parse("k", "Gt 3"),
                              gte = parse("k", "Gte 4"), gte5 = parse("k", "Gte 5");
    CU_ASSERT_FALSE(solver_requirement_equal(&r, &many));
    CU_ASSERT_FALSE(solver_requirement_equal(&r, &not_a));
    CU_ASSERT_FALSE(solver_requirement_equal(&r, &other));
    CU_ASSERT_TRUE(solver_requirement_equal(&gt, &gte));
    CU_ASSERT_FALSE(solver_requirement_equal(&gte5, &gte));
    struct solver_requirement lte4 = parse("k", "Lte 4"), lte5 = parse("k", "Lte 5"),
                              exists = parse("k", "Exists");
    CU_ASSERT_FALSE(solver_requirement_equal(&gte, &exists));
    CU_ASSERT_FALSE(solver_requirement_equal(&lte4, &exists));
    CU_ASSERT_FALSE(solver_requirement_equal(&lte4, &lte5));
}

static const char *const universe[] = {"",   "a", "b", "x-1", "0", "1",  "2",    "3",   "05",
                                       "+5", "5", "6", "7",   "8", "-2", "-003", "1.5", "42"};
enum { UNIVERSE = sizeof universe / sizeof *universe, ROUNDS = 20000 };

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 33) % limit;
}

/* TEST_SEED repeats a run. */
static void seed_random(const char *test)
{
    const char *given = getenv("TEST_SEED");
    random_state = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    printf("%s: TEST_SEED=%llu\n", test, (unsigned long long)random_state);
    random_state = random_state * 0x9e3779b97f4a7c15u | 1;
}

/* The numbers of the universe's values, half of them in a lower table. */
static uint32_t numbers[UNIVERSE];
static uint32_t the_key;

static void intern_universe(void)
{
    fresh();
    struct solver_names *lower = names;
    solver_names_key(lower, "first", 5);
    the_key = solver_names_key(lower, "k", 1);
    for (int i = 0; i < 200; i++) {
        char text[16];
        snprintf(text, sizeof text, "pad-%d", i);
        solver_names_value(lower, the_key, text, strlen(text));
        if (i % 25 == 0)
            solver_names_value(lower, the_key, universe[i / 25], strlen(universe[i / 25]));
    }
    names = solver_names_create(arena, lower);
    for (size_t i = 0; i < UNIVERSE; i++)
        numbers[i] = solver_names_value(names, the_key, universe[i], strlen(universe[i]));
}

/* A requirement as written, and as a list of the universe's values it admits, worked out from the
 * text alone. */
struct sample {
    enum solver_op op;
    uint32_t value_indices[4];
    size_t value_count;
    struct solver_requirement requirement;
    bool admits[UNIVERSE];
};

static bool to_integer(const char *text, long long *integer)
{
    char *end = NULL;
    *integer = strtoll(text, &end, 10);
    return *text != '\0' && *end == '\0';
}

static bool naive_has(const struct sample *sample, size_t index)
{
    bool listed = false;
    for (size_t i = 0; i < sample->value_count; i++)
        listed = listed || sample->value_indices[i] == index;
    long long bound = 0, integer = 0;
    if (sample->value_count > 0 && !to_integer(universe[sample->value_indices[0]], &bound))
        bound = 0;
    bool is_integer = to_integer(universe[index], &integer);
    switch (sample->op) {
    case SOLVER_IN:
        return listed;
    case SOLVER_NOT_IN:
        return !listed;
    case SOLVER_EXISTS:
        return true;
    case SOLVER_DOES_NOT_EXIST:
        return false;
    case SOLVER_GT:
        return is_integer && integer > bound;
    case SOLVER_LT:
        return is_integer && integer < bound;
    case SOLVER_GTE:
        return is_integer && integer >= bound;
    case SOLVER_LTE:
        return is_integer && integer <= bound;
    }
    return false;
}

/* The integers that two bounds leave: from greatest_lower to least_upper. */
static long long greatest_lower(const struct sample *a, const struct sample *b)
{
    long long result = LLONG_MIN;
    const struct sample *samples[] = {a, b};
    for (size_t i = 0; i < 2; i++) {
        long long bound = LLONG_MIN;
        if (samples[i]->op == SOLVER_GT || samples[i]->op == SOLVER_GTE) {
            if (!to_integer(universe[samples[i]->value_indices[0]], &bound))
                bound = 0;
            bound += samples[i]->op == SOLVER_GT;
        }
        result = bound > result ? bound : result;
    }
    return result;
}

static long long least_upper(const struct sample *a, const struct sample *b)
{
    long long result = LLONG_MAX;
    const struct sample *samples[] = {a, b};
    for (size_t i = 0; i < 2; i++) {
        long long bound = LLONG_MAX;
        if (samples[i]->op == SOLVER_LT || samples[i]->op == SOLVER_LTE) {
            if (!to_integer(universe[samples[i]->value_indices[0]], &bound))
                bound = 0;
            bound -= samples[i]->op == SOLVER_LT;
        }
        result = bound < result ? bound : result;
    }
    return result;
}

static struct sample random_sample(void)
{
    struct sample sample = {.op = (enum solver_op)random_below(SOLVER_OP_COUNT)};
    bool bound = sample.op >= SOLVER_GT;
    sample.value_count = bound ? 1 : random_below(5);
    uint32_t values[4];
    for (size_t i = 0; i < sample.value_count; i++) {
        sample.value_indices[i] = random_below(UNIVERSE);
        values[i] = numbers[sample.value_indices[i]];
    }
    sample.requirement = solver_requirement_make(names, the_key, sample.op, values,
                                                 sample.value_count, random_below(4), arena);
    for (size_t i = 0; i < UNIVERSE; i++)
        sample.admits[i] = naive_has(&sample, i);
    return sample;
}

static struct solver_requirement meet(const struct solver_requirement *a,
                                      const struct solver_requirement *b)
{
    return solver_requirement_intersect(names, a, b, arena);
}

static void must(bool holds, const char *what, int round)
{
    if (!holds) {
        fprintf(stderr, "round %d: %s\n", round, what);
        CU_FAIL("a property does not hold");
    }
}

static void test_properties(void)
{
    seed_random("properties");
    intern_universe();
    for (int round = 0; round < ROUNDS; round++) {
        struct sample a = random_sample(), b = random_sample(), c = random_sample();
        struct solver_requirement ab = meet(&a.requirement, &b.requirement);
        struct solver_requirement ba = meet(&b.requirement, &a.requirement);
        struct solver_requirement bc = meet(&b.requirement, &c.requirement);
        struct solver_requirement ab_c = meet(&ab, &c.requirement);
        struct solver_requirement a_bc = meet(&a.requirement, &bc);
        struct solver_requirement twice = meet(&ab_c, &ab_c),
                                  aa = meet(&a.requirement, &a.requirement);
        must(solver_requirement_equal(&ab, &ba), "intersection commutes", round);
        must(solver_requirement_equal(&ab_c, &a_bc), "intersection associates", round);
        must(solver_requirement_equal(&twice, &ab_c), "intersection is idempotent", round);
        must(solver_requirement_equal(&aa, &a.requirement), "a requirement meets itself", round);
        uint32_t most = a.requirement.min_values > b.requirement.min_values
                            ? a.requirement.min_values
                            : b.requirement.min_values;
        must(ab.min_values == most, "minValues is the greater", round);
        must(ab.word_count == 0 || ab.words[ab.word_count - 1] != 0, "no word to spare", round);
        bool common = false;
        for (size_t i = 0; i < UNIVERSE; i++) {
            must(solver_requirement_has(names, &a.requirement, numbers[i]) == a.admits[i],
                 "has is as written", round);
            must(solver_requirement_has(names, &ab_c, numbers[i]) ==
                     (a.admits[i] && b.admits[i] && c.admits[i]),
                 "an intersection admits what all admit", round);
            common = common || (a.admits[i] && b.admits[i]);
        }
        const struct solver_requirement *x = &a.requirement, *y = &b.requirement;
        bool crossing = greatest_lower(&a, &b) > least_upper(&a, &b);
        bool expected = x->complement && y->complement ? !crossing : common;
        must(solver_requirement_intersects(names, x, y) == expected, "intersects as by trying",
             round);
        must(solver_requirement_intersects(names, y, x) == expected, "intersects both ways", round);
    }
    CU_ASSERT(true);
}

const char unit_suite[] = "solver_requirement";
const struct unit_test unit_tests[] = {
    {"what operators become", test_make},
    {"intersections", test_intersections},
    {"two complements always meet", test_two_complements_always_meet},
    {"sets intersect", test_sets_intersect},
    {"undefined keys", test_undefined_keys},
    {"defined keys", test_defined_keys},
    {"add and get", test_add_and_get},
    {"aliases", test_aliases},
    {"well-known keys", test_well_known},
    {"operators", test_operators},
    {"equality", test_equal},
    {"properties", test_properties},
    {NULL, NULL},
};
