/* Sums of money, and money as text. */
#include "catalog/usd.h"

#include "unit.h"

const char unit_suite[] = "catalog money";

static void sums_end_where_nothing_more_can_be_counted(void)
{
    ASSERT_INT(usd_sum(100000, 400000), 500000);
    ASSERT_INT(usd_sum(INT64_MAX - 1, 1), INT64_MAX);
    ASSERT_INT(usd_sum(INT64_MAX - 1, 2), INT64_MAX);
    ASSERT_INT(usd_a_month(100000), 73000000);
    ASSERT_INT(usd_a_month(INT64_MAX / HOURS_A_MONTH), INT64_MAX / HOURS_A_MONTH * HOURS_A_MONTH);
    ASSERT_INT(usd_a_month(INT64_MAX / HOURS_A_MONTH + 1), INT64_MAX);
}

static void money_is_rounded_and_grouped(void)
{
    static const struct {
        int64_t usd_micro;
        int decimals;
        const char *text;
    } cases[] = {
        {0, 2, "0.00"},
        {96000, 4, "0.0960"},
        {1234567, 6, "1.234567"},
        {994999, 2, "0.99"},
        {995000, 2, "1.00"},
        {999990000, 2, "999.99"},
        {1198656400, 2, "1,198.66"},
        {1000000000000, 2, "1,000,000.00"},
    };
    struct arena *arena = arena_create((size_t)1 << 20);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        ASSERT_TEXT(usd_text(cases[i].usd_micro, cases[i].decimals, arena), cases[i].text);
    ASSERT_TEXT(usd_dollars(1198656400, arena), "$1,198.66");
    arena_destroy(arena);
}

const struct unit_test unit_tests[] = {
    {"sums end where nothing more can be counted", sums_end_where_nothing_more_can_be_counted},
    {"money is rounded and grouped", money_is_rounded_and_grouped},
    {NULL, NULL},
};
