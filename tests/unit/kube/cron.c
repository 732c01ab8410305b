/* Cron schedules against robfig/cron v3.0.1, which Karpenter uses: the times below are its own,
 * from ParseStandard("TZ=UTC " + schedule).Next(after). */
#include <stdio.h>

#include "kube/cron.h"
#include "kube/quantity.h"
#include "kube/time.h"
#include "unit.h"

static void a_schedule_fires_when_karpenter_says(void)
{
    static const struct {
        const char *schedule, *after, *next; /* next "": never within five years */
    } rows[] = {
        {"0 0 * * *", "1970-01-01T00:00:00Z", "1970-01-02T00:00:00Z"},
        {"@yearly", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
        {"@annually", "2025-12-31T23:59:59Z", "2026-01-01T00:00:00Z"},
        {"@monthly", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"},
        {"@weekly", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"},
        {"@midnight", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"},
        {"@hourly", "2026-01-01T00:01:01Z", "2026-01-01T01:00:00Z"},
        {"* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"},
        {"* * * * *", "2026-01-01T00:00:59Z", "2026-01-01T00:01:00Z"},
        {"*/15 * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:15:00Z"},
        {"5/20 * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z"},
        {"30-40/5 9-17 * * mon-fri", "2026-01-01T00:00:00Z", "2026-01-01T09:30:00Z"},
        {"0 9 * * MON", "2026-01-01T00:00:00Z", "2026-01-05T09:00:00Z"},
        {"0 9 15 * mon", "2026-01-01T00:00:00Z", "2026-01-05T09:00:00Z"},
        {"0 9 15 * *", "2026-01-01T00:00:00Z", "2026-01-15T09:00:00Z"},
        {"0 9 */2 * mon", "2026-01-01T00:00:00Z", "2026-01-01T09:00:00Z"},
        {"0 9 15 * */1", "2026-01-01T00:00:00Z", "2026-01-15T09:00:00Z"},
        {"0 9 15 * */2", "2026-01-01T00:00:00Z", "2026-01-01T09:00:00Z"},
        {"0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
        {"0 0 29 feb ?", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
        {"0 0 1 jun-jul *", "2026-06-02T00:00:00Z", "2026-07-01T00:00:00Z"},
        {"0 0 30 2 *", "2026-01-01T00:00:00Z", ""},
        {"0 0 31 4,6,9,11 *", "2026-01-01T00:00:00Z", ""},
        {"0 0 30 2 1", "2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z"},
        {"  59\t23 31 12 *  ", "2026-01-01T00:00:00Z", "2026-12-31T23:59:00Z"},
        {",0 0 * * *", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"},
        {", 0 * * *", "2026-01-01T00:00:00Z", ""},
        {"*-5 0 * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"},
        {"+5 0 * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z"},
        {"0 0 29 2 *", "2099-01-01T00:00:00Z", "2104-02-29T00:00:00Z"},
        {"0 0 29 2 *", "2100-02-28T23:59:59Z", "2104-02-29T00:00:00Z"},
    };
    struct arena *arena = arena_create(1 << 20);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cron cron;
        struct text fault = TEXT("");
        int64_t after = 0;
        int64_t expected = 0;
        int64_t next = 0;
        CU_ASSERT_TRUE_FATAL(time_parse(text_of(rows[i].after), &after));
        bool good = cron_parse(text_of(rows[i].schedule), arena, &cron, &fault);
        if (!good)
            fprintf(stderr, "%s: %.*s\n", rows[i].schedule, TEXT_ARGS(fault));
        CU_ASSERT_TRUE_FATAL(good);
        bool fires = cron_next(&cron, after, &next);
        CU_ASSERT_EQUAL(fires, rows[i].next[0] != '\0');
        if (!fires)
            continue;
        CU_ASSERT_TRUE_FATAL(time_parse(text_of(rows[i].next), &expected));
        if (next != expected)
            fprintf(stderr, "%s after %s\n", rows[i].schedule, rows[i].after);
        ASSERT_INT(next, expected);
    }
    arena_destroy(arena);
}

static void what_karpenter_cannot_read_is_refused(void)
{
    static const struct {
        const char *schedule, *fault;
    } rows[] = {
        {"", "it has 0 fields, and must have five: minute, hour, day of month, month, day of week"},
        {"0 9 * *",
         "it has 4 fields, and must have five: minute, hour, day of month, month, day of week"},
        {"0 0 9 * * *",
         "it has 6 fields, and must have five: minute, hour, day of month, month, day of week"},
        {"60 * * * *", "\"60\" is no minute: it is from 0 to 59"},
        {"* 24 * * *", "\"24\" is no hour: it is from 0 to 23"},
        {"* * 0 * *", "\"0\" is no day of month: it is from 1 to 31"},
        {"* * 32 * *", "\"32\" is no day of month: it is from 1 to 31"},
        {"* * * 100 *", "\"100\" is no month: it is from 1 to 12"},
        {"* * * abc *", "\"abc\" is no month"},
        {"*/-5 * * * *", "\"*/-5\" is no minute"},
        {"* * * 13 *", "\"13\" is no month: it is from 1 to 12"},
        {"* * * * 7", "\"7\" is no day of week: it is from 0 to 6"},
        {"17-9 * * * *", "\"17-9\" is no minute: the range ends before it begins"},
        {"*/0 * * * *", "\"*/0\" is no minute: a step is 1 or more"},
        {"1-2-3 * * * *", "\"1-2-3\" is no minute"},
        {"1/2/3 * * * *", "\"1/2/3\" is no minute"},
        {"x * * * *", "\"x\" is no minute"},
        {"* * * * monday", "\"monday\" is no day of week"},
        {"-1 * * * *", "\"-1\" is no minute"},
        {"@dailyx", "of the names that begin with @ there are @yearly, @annually, @monthly, "
                    "@weekly, @daily, @midnight and @hourly"},
        {"@daily *", "of the names that begin with @ there are @yearly, @annually, @monthly, "
                     "@weekly, @daily, @midnight and @hourly"},
        {"TZ=Europe/Berlin 0 9 * * *", "a schedule takes no time zone, it is read in UTC"},
        {"CRON_TZ=UTC @daily", "a schedule takes no time zone, it is read in UTC"},
    };
    struct arena *arena = arena_create(1 << 20);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cron cron;
        struct text fault = TEXT("");
        CU_ASSERT_FALSE(cron_parse(text_of(rows[i].schedule), arena, &cron, &fault));
        ASSERT_TEXT(fault, rows[i].fault);
    }
    arena_destroy(arena);
}

static void durations_have_units(void)
{
    static const struct {
        const char *text;
        int64_t seconds; /* -1: is none */
    } rows[] = {
        {"720h", 2592000},
        {"1h30m", 5400},
        {"0s", 0},
        {"90s", 90},
        {"1h0m5s", 3605},
        {"", -1},
        {"720", -1},
        {"h", -1},
        {"1d", -1},
        {"Never", -1},
        {"1h ", -1},
        {"-1h", -1},
        {"9223372036854775807h", -1},
        {"2562047788015215s", 2562047788015215},
        {"9223372036854775807s1s", -1},
        {"1.5h", -1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t seconds = -1;
        bool good = duration_parse(text_of(rows[i].text), &seconds);
        CU_ASSERT_EQUAL(good, rows[i].seconds >= 0);
        if (good)
            ASSERT_INT(seconds, rows[i].seconds);
    }
}

static void shares_are_numbers_or_percentages(void)
{
    static const struct {
        const char *text;
        int64_t amount; /* -1: is none */
        bool percent;
    } rows[] = {
        {"0", 0, false},     {"5", 5, false},     {"10%", 10, true},  {"100%", 100, true},
        {"101%", -1, false}, {"-1", -1, false},   {"+5", -1, false},  {"%", -1, false},
        {"", -1, false},     {"10 %", -1, false}, {"ten", -1, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct share share;
        bool good = share_parse(text_of(rows[i].text), &share);
        CU_ASSERT_EQUAL(good, rows[i].amount >= 0);
        if (!good)
            continue;
        ASSERT_INT(share.amount, rows[i].amount);
        CU_ASSERT_EQUAL(share.percent, rows[i].percent);
    }
}

const char unit_suite[] = "kube cron";
const struct unit_test unit_tests[] = {
    {"a schedule fires when Karpenter says", a_schedule_fires_when_karpenter_says},
    {"what Karpenter cannot read is refused", what_karpenter_cannot_read_is_refused},
    {"durations have units", durations_have_units},
    {"shares are numbers or percentages", shares_are_numbers_or_percentages},
    {NULL, NULL},
};
