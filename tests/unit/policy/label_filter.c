/* Which values of a label requirements leave. */
#include "policy/rails/label_filter.h"

#include "kube/expression.h"
#include "unit.h"

const char unit_suite[] = "policy label filter";

#define BUDGET_BYTES (1 << 20)
#define VALUES_MOST 4

/* "In a b" or "Gt 3"; what has no operator is not valid. */
static void add_one(struct label_filter *filter, struct text written, struct arena *arena)
{
    struct text op, values;
    struct expression expression = {.values =
                                        ARENA_ARRAY(arena, VALUES_MOST, struct expression_value)};
    if (!text_split(written, ' ', &op, &values)) {
        op = written;
        values = TEXT("");
    }
    expression.valid = solver_op_parse(op.data, op.size, &expression.op);
    while (values.size > 0) {
        struct text value = values, rest = TEXT("");
        (void)text_split(values, ' ', &value, &rest);
        expression.values[expression.value_count++].text = value;
        values = rest;
    }
    label_filter_add(filter, &expression, arena);
}

/* Requirements with ; between them. */
static struct label_filter filter_of(const char *written, struct arena *arena)
{
    struct label_filter filter = {0};
    struct text left = text_of(written);
    while (left.size > 0) {
        struct text one = left, rest = TEXT("");
        (void)text_split(left, ';', &one, &rest);
        add_one(&filter, one, arena);
        left = rest;
    }
    return filter;
}

static void values_pass_or_do_not(void)
{
    static const struct {
        const char *filter, *value;
        bool passes;
    } cases[] = {
        {"", "a", true},
        {"In a b", "b", true},
        {"In a b", "c", false},
        {"In a b;In b c", "b", true},
        {"In a b;In b c", "a", false},
        {"In a a", "a", true},
        {"NotIn a", "a", false},
        {"NotIn a", "b", true},
        {"In a;NotIn a", "a", false},
        {"Exists", "a", true},
        {"DoesNotExist", "a", false},
        {"Gt 3;Lt 9", "4", true},
        {"Gt 3;Lt 9", "3", false},
        {"Gt 3;Lt 9", "9", false},
        {"Gt 3", "x", false},
        {"Gte 3;Lte 3", "3", true},
        {"Gt 3;Gt 1", "3", false},
        {"Lt 3;Lt 5", "4", false},
        {"Gt x", "4", false},
        {"Gt 9223372036854775807", "9223372036854775807", false},
        {"Lt -9223372036854775808", "-9223372036854775808", false},
        {"Near a", "b", true}, /* is not valid, and asks for nothing */
    };
    struct arena *arena = arena_create(BUDGET_BYTES);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct label_filter filter = filter_of(cases[i].filter, arena);
        if (label_filter_passes(&filter, text_of(cases[i].value)) != cases[i].passes)
            fprintf(stderr, "\"%s\" and %s:\n", cases[i].filter, cases[i].value);
        CU_ASSERT_EQUAL(label_filter_passes(&filter, text_of(cases[i].value)), cases[i].passes);
    }
    arena_destroy(arena);
}

static void one_is_within_another_or_not(void)
{
    static const struct {
        const char *inner, *outer;
        bool within;
    } cases[] = {
        {"", "", true},
        {"In a", "", true},
        {"", "In a", false},
        {"In a", "In a b", true},
        {"In a b", "In a", false},
        {"In a b;NotIn b", "In a", true},
        {"In a;In b", "In c", true}, /* leaves nothing */
        {"NotIn a b", "NotIn a", true},
        {"NotIn b a", "NotIn a b", true},
        {"NotIn a", "NotIn a b", false},
        {"NotIn a", "In b", false},
        {"Exists", "NotIn a", false},
        {"DoesNotExist", "In a", true},
        {"In a", "DoesNotExist", false},
        {"DoesNotExist", "DoesNotExist", true},
        {"Gt 3", "Gte 4", true},
        {"Gte 4", "Gt 3", true},
        {"Gt 2", "Gt 3", false},
        {"Lt 3", "Lte 2", true},
        {"Lte 3", "Lt 3", false},
        {"Gt 1;Lt 5", "Lt 9", true},
        {"Gt 1", "Lt 9", false},
        {"", "Gt 1", false},
        {"Gt 7", "NotIn 5", true},
        {"Gt 3", "NotIn 5", false},
        {"Gt x", "In a", true}, /* leaves nothing */
    };
    struct arena *arena = arena_create(BUDGET_BYTES);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct label_filter inner = filter_of(cases[i].inner, arena);
        const struct label_filter outer = filter_of(cases[i].outer, arena);
        if (label_filter_is_within(&inner, &outer) != cases[i].within)
            fprintf(stderr, "\"%s\" within \"%s\":\n", cases[i].inner, cases[i].outer);
        CU_ASSERT_EQUAL(label_filter_is_within(&inner, &outer), cases[i].within);
    }
    arena_destroy(arena);
}

static void both_leave_one_of_the_globs_or_none(void)
{
    static const struct {
        const char *a, *b, *glob;
        bool leave;
    } cases[] = {
        {"", "", "x", true},
        {"", "", "x*", true},
        {"NotIn x", "", "x", false},
        {"", "NotIn x", "x", false},
        {"DoesNotExist", "", "x", false},
        {"DoesNotExist", "", "*", false},
        {"", "DoesNotExist", "*", false},
        {"In m5.large", "", "m5.*", true},
        {"", "In m5.large", "m5.*", true},
        {"In m5.large", "", "c5.*", false},
        {"NotIn a", "In a", "*", false},
        {"In a", "In b", "a", false},
        {"Gt 3", "", "4", true},
        {"Gt 3", "", "3", false},
        {"Gt 3", "", "1*", true},
        {"", "Lt 3", "?", true},
        {"Gt 3", "", "m5.*", false}, /* is no number */
        {"Gt 3", "", "5G*", false},
        {"Gt 3", "", "[*", true}, /* neither A to Z nor a to z */
        {"Gt 3", "", "{*", true},
        {"", "In 5 7;Gt 6", "*", true},
        {"", "In 5 7;Gt 6", "5*", false},
    };
    struct arena *arena = arena_create(BUDGET_BYTES);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct label_filter a = filter_of(cases[i].a, arena);
        const struct label_filter b = filter_of(cases[i].b, arena);
        const struct text glob = text_of(cases[i].glob);
        if (label_filters_leave(&a, &b, &glob, 1) != cases[i].leave)
            fprintf(stderr, "\"%s\" and \"%s\" of %s:\n", cases[i].a, cases[i].b, cases[i].glob);
        CU_ASSERT_EQUAL(label_filters_leave(&a, &b, &glob, 1), cases[i].leave);
    }
    arena_destroy(arena);
}

const struct unit_test unit_tests[] = {
    {"values pass or do not", values_pass_or_do_not},
    {"one is within another or not", one_is_within_another_or_not},
    {"both leave one of the globs or none", both_leave_one_of_the_globs_or_none},
    {NULL, NULL},
};
