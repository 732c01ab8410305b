/* Tables of keys and values, and tables over each other. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "solver/solver.h"
#include "unit.h"

static struct arena *arena;

static struct solver_names *fresh(const struct solver_names *below)
{
    if (below == NULL) {
        arena_destroy(arena);
        arena = arena_create((size_t)256 << 20);
        CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    }
    return solver_names_create(arena, below);
}

static uint32_t key(struct solver_names *names, const char *text)
{
    return solver_names_key(names, text, strlen(text));
}

static uint32_t value(struct solver_names *names, uint32_t of, const char *text)
{
    return solver_names_value(names, of, text, strlen(text));
}

static struct text key_text(const struct solver_names *names, uint32_t of)
{
    struct text t;
    t.data = solver_names_key_text(names, of, &t.size);
    return t;
}

static struct text value_text(const struct solver_names *names, uint32_t of, uint32_t number)
{
    struct text t;
    t.data = solver_names_value_text(names, of, number, &t.size);
    return t;
}

static void test_numbers_in_order_of_arrival(void)
{
    struct solver_names *names = fresh(NULL);
    ASSERT_INT(key(names, "zone"), 0);
    ASSERT_INT(key(names, "arch"), 1);
    ASSERT_INT(key(names, "zone"), 0);
    ASSERT_INT(solver_names_key_count(names), 2);
    ASSERT_INT(value(names, 1, "amd64"), 0);
    ASSERT_INT(value(names, 1, "zone"), 1);
    ASSERT_INT(value(names, 0, "zone"), 0);
    ASSERT_INT(value(names, 1, ""), 2);
    ASSERT_INT(value(names, 1, "amd64"), 0);
    ASSERT_INT(solver_names_value_count(names, 0), 1);
    ASSERT_INT(solver_names_value_count(names, 1), 3);
    ASSERT_TEXT(key_text(names, 1), "arch");
    ASSERT_TEXT(value_text(names, 1, 2), "");
    ASSERT_TEXT(value_text(names, 0, 0), "zone");
    ASSERT_INT(solver_names_find_key(names, "amd64", 5), SOLVER_NONE);
    ASSERT_INT(solver_names_find_value(names, 0, "amd64", 5), SOLVER_NONE);
    ASSERT_INT(solver_names_find_value(names, 7, "amd64", 5), SOLVER_NONE);
}

static void test_upper_table_goes_on(void)
{
    struct solver_names *lower = fresh(NULL);
    uint32_t zone = key(lower, "zone"), size = key(lower, "size");
    for (int i = 0; i < 20; i++) {
        char text[16];
        snprintf(text, sizeof text, "z%d", i);
        value(lower, zone, text);
    }
    struct solver_names *one = fresh(lower), *two = fresh(lower);
    ASSERT_INT(key(one, "zone"), zone);
    ASSERT_INT(key(one, "team"), 2);
    ASSERT_INT(key(two, "owner"), 2);
    ASSERT_INT(value(one, zone, "z7"), 7);
    ASSERT_INT(value(one, zone, "z20"), 20);
    ASSERT_INT(value(one, zone, "z21"), 21);
    ASSERT_INT(value(one, size, "large"), 0);
    ASSERT_INT(value(one, 2, "red"), 0);
    ASSERT_INT(value(two, zone, "other"), 20);
    ASSERT_TEXT(value_text(one, zone, 20), "z20");
    ASSERT_TEXT(value_text(two, zone, 20), "other");
    ASSERT_TEXT(value_text(one, zone, 19), "z19");
    ASSERT_TEXT(key_text(one, 2), "team");
    ASSERT_TEXT(key_text(one, 0), "zone");

    struct solver_names *third = fresh(one);
    ASSERT_INT(value(third, zone, "z21"), 21);
    ASSERT_INT(value(third, zone, "z22"), 22);
    ASSERT_INT(key(third, "fleet"), 3);
    ASSERT_INT(value(third, 2, "blue"), 1);
    ASSERT_TEXT(value_text(third, zone, 3), "z3");
    ASSERT_TEXT(value_text(third, zone, 21), "z21");
    ASSERT_TEXT(value_text(third, 2, 0), "red");

    ASSERT_INT(solver_names_key_count(lower), 2);
    ASSERT_INT(solver_names_value_count(lower, zone), 20);
    ASSERT_INT(solver_names_value_count(lower, size), 0);
    ASSERT_INT(solver_names_find_value(lower, zone, "z20", 3), SOLVER_NONE);
}

static void test_many(void)
{
    struct solver_names *names = fresh(NULL);
    enum { KEYS = 50, VALUES = 400 };
    char text[32];
    for (int round = 0; round < 2; round++)
        for (int k = 0; k < KEYS; k++) {
            snprintf(text, sizeof text, "example.com/key-%d", k);
            ASSERT_INT(key(names, text), k);
            for (int v = 0; v < VALUES; v++) {
                snprintf(text, sizeof text, "%d", v * 7);
                if (value(names, (uint32_t)k, text) != (uint32_t)v)
                    CU_FAIL("a value has another number the second time");
            }
        }
    ASSERT_INT(solver_names_key_count(names), KEYS);
    ASSERT_INT(solver_names_value_count(names, KEYS - 1), VALUES);
    ASSERT_TEXT(value_text(names, 17, 3), "21");
}

static void test_text_is_copied(void)
{
    struct solver_names *names = fresh(NULL);
    char text[] = "zone";
    uint32_t zone = key(names, text);
    memcpy(text, "xxxx", 4);
    ASSERT_TEXT(key_text(names, zone), "zone");
    ASSERT_INT(solver_names_find_key(names, "zone", 4), zone);
}

/* Go's strconv.Atoi, the error ignored: what Karpenter does with a bound. */
static void test_numbers(void)
{
    static const struct {
        const char *text;
        bool is_number;
        int64_t number;
    } cases[] = {
        {"0", true, 0},
        {"5", true, 5},
        {"+5", true, 5},
        {"05", true, 5},
        {"-3", true, -3},
        {"-0", true, 0},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, INT64_MAX},
        {"-9223372036854775809", false, INT64_MIN},
        {"99999999999999999999", false, INT64_MAX},
        {"99999999999999999999x", false, INT64_MAX},
        {"9223372036854775808x", false, 0},
        {"18446744073709551616", false, INT64_MAX},
        {"", false, 0},
        {"+", false, 0},
        {"-", false, 0},
        {"1.5", false, 0},
        {"1e3", false, 0},
        {" 1", false, 0},
        {"1_000", false, 0},
        {"0x10", false, 0},
        {"large", false, 0},
    };
    struct solver_names *names = fresh(NULL);
    uint32_t cpu = key(names, "cpu");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t number = 77;
        bool is_number =
            solver_names_value_number(names, cpu, value(names, cpu, cases[i].text), &number);
        if (is_number != cases[i].is_number || number != cases[i].number)
            fprintf(stderr, "in case \"%s\"\n", cases[i].text);
        ASSERT_INT(is_number, cases[i].is_number);
        ASSERT_INT(number, cases[i].number);
    }
}

/* Auto Mode spells the labels of instance types that Karpenter has in a domain of its own. */
static void test_keys_of_auto_mode(void)
{
    static const char *const cases[][2] = {
        {"eks.amazonaws.com/instance-family", "karpenter.k8s.aws/instance-family"},
        {"eks.amazonaws.com/instance-none", "eks.amazonaws.com/instance-none"},
        /* as long as keys of other domains are */
        {"eks.amazonaws.com/instance-xx", "eks.amazonaws.com/instance-xx"},
        {"eks.amazonaws.com/instance-xxxxx", "eks.amazonaws.com/instance-xxxxx"},
        {"eks.amazonaws.com/other", "eks.amazonaws.com/other"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text canonical = text_of(cases[i][0]);
        canonical.data = solver_canonical_key(canonical.data, &canonical.size);
        ASSERT_TEXT(canonical, cases[i][1]);
    }
}

/* Of so many texts about twenty pairs have one hash of 32 bits. */
static void test_values_that_hash_alike(void)
{
    enum { COUNT = 400000 };
    struct solver_names *names = fresh(NULL);
    uint32_t host = key(names, "kubernetes.io/hostname");
    char text[32];
    size_t wrong = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(text, sizeof text, "ip-%u", i);
        wrong += value(names, host, text) != i;
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(text, sizeof text, "ip-%u", i);
        wrong += solver_names_find_value(names, host, text, strlen(text)) != i;
    }
    ASSERT_INT(wrong, 0);
}

const char unit_suite[] = "solver_names";
const struct unit_test unit_tests[] = {
    {"numbers in order of arrival", test_numbers_in_order_of_arrival},
    {"an upper table goes on where the lower ends", test_upper_table_goes_on},
    {"many keys and values", test_many},
    {"text is copied", test_text_is_copied},
    {"values as numbers", test_numbers},
    {"values that hash alike", test_values_that_hash_alike},
    {"keys of Auto Mode", test_keys_of_auto_mode},
    {NULL, NULL},
};
