/* When the budgets of a NodePool let its nodes go: the windows that they leave, one after the
 * other. Time begins on Thursday 1970-01-01. */
#include "kube/budget_windows.h"

#include <time.h>

#include "cluster_fixture.h"

#define POOL(budgets)                                                                        \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {disruption: " \
    "{budgets: [" budgets "]}}}"
#define FOR(reasons, schedule, duration) \
    "{nodes: '0', schedule: '" schedule "', duration: " duration ", reasons: " reasons "}"
#define BLOCK(schedule, duration) FOR("null", schedule, duration)
#define OFFICE BLOCK("0 9 * * mon-fri", "8h")
#define SATURDAY BLOCK("0 10 * * sat", "24h")
#define FIRST_30_DAYS BLOCK("0 0 1-30 * *", "24h")
#define WEEKDAYS BLOCK("0 0 * * mon-fri", "24h")

static void budgets_of(const char *items, struct arena *arena, struct budgets *budgets)
{
    struct text yaml = arena_printf(arena, POOL("%s"), items);
    struct fixture fixture = {.arena = arena};
    const struct snapshot *snapshot = fixture_snapshot(&fixture, &yaml.data, 1);
    budgets_read(snapshot_object(snapshot, KIND_NODE_POOL, 0), 0, arena, budgets);
}

struct windows_case {
    const char *budgets, *windows;
    int64_t from_unix_s;
};

static void windows_run(const struct windows_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        struct budgets budgets;
        budgets_of(cases[i].budgets, arena, &budgets);
        struct text found = windows_text(&budgets, cases[i].from_unix_s, arena);
        if (!text_is(found, cases[i].windows))
            fprintf(stderr, "%s\n", cases[i].budgets);
        ASSERT_TEXT(found, cases[i].windows);
        arena_destroy(arena);
    }
}

static void budgets_close_together(void)
{
    static const char saturday[] = "Thu 1970-01-01 00:00 to Thu 1970-01-01 09:00, Thu 1970-01-01 "
                                   "17:00 to Fri 1970-01-02 09:00, Fri 1970-01-02 17:00 to Sat "
                                   "1970-01-03 10:00 UTC";
    static const char evening[] = "Thu 1970-01-01 00:00 to Thu 1970-01-01 09:00, Thu 1970-01-01 "
                                  "20:00 to Fri 1970-01-02 09:00, Fri 1970-01-02 20:00 to Sat "
                                  "1970-01-03 09:00 UTC";
    static const struct windows_case cases[] = {
        /* the one that comes next closes, whichever is written first */
        {OFFICE ", " SATURDAY, saturday, 0},
        {SATURDAY ", " OFFICE, saturday, 0},
        /* where they overlap, the last that ends opens */
        {BLOCK("0 9 * * *", "8h") ", " BLOCK("0 12 * * *", "8h"), evening, 0},
        {BLOCK("0 12 * * *", "8h") ", " BLOCK("0 9 * * *", "8h"), evening, 0},
        {BLOCK("20 * * * *", "40m"),
         "Thu 1970-01-01 00:00 to Thu 1970-01-01 00:20, Thu 1970-01-01 01:00 to Thu 1970-01-01 "
         "01:20, Thu 1970-01-01 02:00 to Thu 1970-01-01 02:20 UTC",
         0},
        /* budgets of some nodes close nothing, those of none for ever everything */
        {"{nodes: 10%}, {nodes: '1', schedule: '@hourly', duration: 1h}, " OFFICE ", " SATURDAY,
         saturday, 0},
        {"{nodes: '0'}, " OFFICE, "", 0},
        {BLOCK("@daily", "24h"), "", 0},
        {"{nodes: 10%}", "Thu 1970-01-01 00:00 onwards UTC", 0},
    };
    windows_run(cases, COUNT_OF(cases));
}

/* Nodes may go for one reason while they may not for another. */
static void a_window_closes_when_every_reason_is_blocked(void)
{
    static const char from_noon[] = "Thu 1970-01-01 00:00 to Thu 1970-01-01 12:00, Thu 1970-01-01 "
                                    "17:00 to Fri 1970-01-02 12:00, Fri 1970-01-02 17:00 to Sat "
                                    "1970-01-03 12:00 UTC";
    static const struct windows_case cases[] = {
        {FOR("[Empty]", "0 9 * * *", "8h") ", " FOR("[Drifted, Underutilized]", "0 12 * * *", "8h"),
         from_noon, 0},
        {FOR("[Underutilized]", "0 9 * * *", "8h") ", " FOR("[Empty, Drifted]", "0 12 * * *", "8h"),
         from_noon, 0},
        {FOR("[Drifted]", "0 9 * * *", "8h") ", " FOR("[Underutilized, Empty]", "0 12 * * *", "8h"),
         from_noon, 0},
        /* each by a budget of its own: the two that come first close nothing yet */
        {FOR("[Drifted]", "0 10 * * *", "7h") ", " FOR("[Empty]", "0 11 * * *", "6h") ", " FOR(
             "[Underutilized]", "0 12 * * *", "5h"),
         from_noon, 0},
        /* never all at once */
        {FOR("[Empty]", "0 0 * * *", "8h") ", " FOR("[Drifted, Underutilized]", "0 12 * * *", "8h"),
         "Thu 1970-01-01 00:00 onwards UTC", 0},
        {FOR("[Empty, Drifted]", "0 9 * * *", "8h"), "Thu 1970-01-01 00:00 onwards UTC", 0},
        {FOR("[]", "0 9 * * *", "8h"), "Thu 1970-01-01 00:00 onwards UTC", 0},
    };
    windows_run(cases, COUNT_OF(cases));
}

/* By days of the month or by months, it may take years. */
static void windows_that_come_seldom_are_seen(void)
{
    static const char weekends_of_a_31st[] =
        "Sat 1970-01-31 00:00 to Sun 1970-02-01 00:00, Sun 1970-05-31 00:00 to Mon 1970-06-01 "
        "00:00, Sat 1970-10-31 00:00 to Sun 1970-11-01 00:00 UTC";
    static const struct windows_case cases[] = {
        {FIRST_30_DAYS,
         "Sat 1970-01-31 00:00 to Sun 1970-02-01 00:00, Tue 1970-03-31 00:00 to Wed 1970-04-01 "
         "00:00, Sun 1970-05-31 00:00 to Mon 1970-06-01 00:00 UTC",
         0},
        {BLOCK("0 0 * 1-11 *", "24h"),
         "Tue 1970-12-01 00:00 to Fri 1971-01-01 00:00, Wed 1971-12-01 00:00 to Sat 1972-01-01 "
         "00:00, Fri 1972-12-01 00:00 to Mon 1973-01-01 00:00 UTC",
         0},
        {FIRST_30_DAYS ", " WEEKDAYS, weekends_of_a_31st, 0},
        {WEEKDAYS ", " FIRST_30_DAYS, weekends_of_a_31st, 0},
        /* from one leap day to the next, but for a minute */
        {BLOCK("0 0 29 2 *", "35063h59m"),
         "Mon 1972-02-28 23:59 to Tue 1972-02-29 00:00, Sat 1976-02-28 23:59 to Sun 1976-02-29 "
         "00:00, Thu 1980-02-28 23:59 to Fri 1980-02-29 00:00 UTC",
         0},
        {BLOCK("0 0 29 2 *", "35064h"), "", 0},
        {BLOCK("@yearly", "876000h"), "", 0},
        {BLOCK("@yearly", "2562047788015215h"), "", 0},
        {BLOCK("@hourly", "2562047788015215h"), "", 0},
    };
    windows_run(cases, COUNT_OF(cases));
}

static void windows_are_told_from_a_time_on(void)
{
    enum { AT_8_59 = 539 * 60, AT_9 = 540 * 60, AT_12_30 = 750 * 60, AT_17 = 1020 * 60 };
    static const char evening[] = "Thu 1970-01-01 17:00 to Fri 1970-01-02 09:00, Fri 1970-01-02 "
                                  "17:00 to Mon 1970-01-05 09:00, Mon 1970-01-05 17:00 to Tue "
                                  "1970-01-06 09:00 UTC";
    static const struct windows_case cases[] = {
        {OFFICE,
         "Thu 1970-01-01 08:59 to Thu 1970-01-01 09:00, Thu 1970-01-01 17:00 to Fri 1970-01-02 "
         "09:00, Fri 1970-01-02 17:00 to Mon 1970-01-05 09:00 UTC",
         AT_8_59},
        {OFFICE, evening, AT_9},
        {OFFICE, evening, AT_12_30},
        {OFFICE, evening, AT_17},
    };
    windows_run(cases, COUNT_OF(cases));
}

/* For an hour one minute after the other is closed, a step each; the next hour is open. */
static void who_asks_for_windows_often_has_an_allowance(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct budgets budgets;
    budgets_of(BLOCK("* */2 * * *", "1m"), arena, &budgets);
    struct window window = {0};
    size_t steps_left = 150;
    CU_ASSERT_EQUAL(window_next_within(&budgets, 0, &steps_left, &window), WINDOW_FOUND);
    ASSERT_INT(window.open_unix_s, 3600);
    ASSERT_INT(window.close_unix_s, 7200);
    ASSERT_INT(steps_left, 150 - 60 - 1);
    CU_ASSERT_EQUAL(window_next_within(&budgets, 7200, &steps_left, &window), WINDOW_FOUND);
    ASSERT_INT(window.open_unix_s, 10800);
    CU_ASSERT_EQUAL(window_next_within(&budgets, 14400, &steps_left, &window), WINDOW_UNKNOWN);
    ASSERT_INT(steps_left, 0);
    CU_ASSERT_EQUAL(window_next(&budgets, 14400, &window), WINDOW_FOUND);
    ASSERT_INT(window.open_unix_s, 18000);
    /* Drift is blocked at all times, a minute after the other, and the rest on the next day: it
     * takes a step a minute to see when that closes. */
    budgets_of(FOR("[Drifted]", "* * * 1-12 *", "1m") ", " FOR("[Empty, Underutilized]",
                                                               "0 0 2 1 *", "1h"),
               arena, &budgets);
    steps_left = 1440;
    CU_ASSERT_EQUAL(window_next_within(&budgets, 0, &steps_left, &window), WINDOW_FOUND);
    ASSERT_INT(window.open_unix_s, 0);
    ASSERT_INT(window.close_unix_s, 24 * 3600);
    ASSERT_INT(steps_left, 0);
    steps_left = 1439;
    CU_ASSERT_EQUAL(window_next_within(&budgets, 0, &steps_left, &window), WINDOW_UNKNOWN);
    ASSERT_INT(steps_left, 0);
    arena_destroy(arena);
}

static void budgets_allow_so_many(void)
{
    enum { NOON_S = 12 * 3600, NODES = 15 };
    static const struct {
        const char *budgets;
        int64_t empty, drifted;
    } cases[] = {
        {"", BUDGETS_UNLIMITED, BUDGETS_UNLIMITED},
        {"{nodes: '4'}", 4, 4},
        {"{nodes: '0'}", 0, 0},
        {"{nodes: 10%}", 2, 2},
        {"{nodes: 20%}", 3, 3},
        {"{nodes: 100%}, {nodes: '5'}", 5, 5},
        {"{nodes: '4'}, {nodes: '1', reasons: [Empty]}", 1, 4},
        {"{nodes: '4'}, {nodes: '1', reasons: []}", 4, 4},
        {"{nodes: '4'}, {nodes: '1', schedule: '0 9 * * *', duration: 8h}", 1, 1},
        {"{nodes: '4'}, {nodes: '1', schedule: '0 9 * * *', duration: 3h}", 4, 4},
        {"{nodes: '4'}, {nodes: '1', schedule: '0 12 * * *', duration: 1m}", 1, 1},
        {"{nodes: '4'}, {nodes: '1', schedule: '0 0 30 2 *', duration: 1m}", 1, 1},
        {"{nodes: '4'}, {nodes: '1', schedule: '0 9 * * 7', duration: 1m, reasons: [Empty]}", 0, 0},
        {"{nodes: '4'}, {nodes: '1', duration: 1m, reasons: [Empty]}", 0, 0},
        {"{nodes: some}", 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        struct budgets budgets;
        budgets_of(cases[i].budgets, arena, &budgets);
        int64_t empty = budgets_allowed(&budgets, REASON_EMPTY, NODES, NOON_S);
        int64_t drifted = budgets_allowed(&budgets, REASON_DRIFTED, NODES, NOON_S);
        if (empty != cases[i].empty || drifted != cases[i].drifted)
            fprintf(stderr, "%s\n", cases[i].budgets);
        ASSERT_INT(empty, cases[i].empty);
        ASSERT_INT(drifted, cases[i].drifted);
        arena_destroy(arena);
    }
}

/* A list that is not there is one budget of 10 %, an empty one is none. */
static void no_list_is_a_budget_of_ten_percent(void)
{
    enum { NODES = 15 };
    static const struct {
        const char *disruption;
        size_t count;
        int64_t allowed;
    } cases[] = {
        {"{}", 1, 2},
        {"{budgets: null}", 1, 2},
        {"{budgets: []}", 0, BUDGETS_UNLIMITED},
        {"{budgets: [{nodes: '7'}]}", 1, 7},
        {"{budgets: [{}]}", 1, 2},
        {"{budgets: [{reasons: [Empty]}, {nodes: '7'}]}", 2, 2},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create((size_t)1 << 20)};
        struct text yaml = arena_printf(fixture.arena,
                                        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: "
                                        "{name: a}, spec: {disruption: %s}}",
                                        cases[i].disruption);
        const struct snapshot *snapshot = fixture_snapshot(&fixture, &yaml.data, 1);
        struct budgets budgets;
        budgets_read(snapshot_object(snapshot, KIND_NODE_POOL, 0), 0, fixture.arena, &budgets);
        budgets = budgets_with_default(&budgets, fixture.arena);
        ASSERT_INT(budgets.count, cases[i].count);
        ASSERT_INT(budgets_allowed(&budgets, REASON_EMPTY, NODES, 0), cases[i].allowed);
        arena_destroy(fixture.arena);
    }
}

/* Nodes that drifted may go while empty ones stay: each reason has windows of its own. */
static void each_reason_has_its_windows(void)
{
    static const char budgets_text[] =
        "{nodes: '1'}, " FOR("[Empty, Drifted]", "0 9 * * *", "8h") ", " FOR(
            "[Drifted]", "0 20 * * *", "1h") ", " BLOCK("0 23 * * *", "1h");
    static const struct {
        unsigned reason;
        size_t count;
        const char *windows;
    } cases[] = {
        {REASON_UNDERUTILIZED, 2,
         "Thu 1970-01-01 00:00 to Thu 1970-01-01 23:00, Fri 1970-01-02 00:00 to Fri 1970-01-02 "
         "23:00, Sat 1970-01-03 00:00 to Sat 1970-01-03 23:00 UTC"},
        {REASON_EMPTY, 3,
         "Thu 1970-01-01 00:00 to Thu 1970-01-01 09:00, Thu 1970-01-01 17:00 to Thu 1970-01-01 "
         "23:00, Fri 1970-01-02 00:00 to Fri 1970-01-02 09:00 UTC"},
        {REASON_DRIFTED, 4,
         "Thu 1970-01-01 00:00 to Thu 1970-01-01 09:00, Thu 1970-01-01 17:00 to Thu 1970-01-01 "
         "20:00, Thu 1970-01-01 21:00 to Thu 1970-01-01 23:00 UTC"},
    };
    struct arena *arena = arena_create((size_t)1 << 20);
    struct budgets budgets;
    budgets_of(budgets_text, arena, &budgets);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct budgets of_reason = budgets_of_reason(&budgets, cases[i].reason, arena);
        ASSERT_INT(of_reason.count, cases[i].count);
        ASSERT_TEXT(windows_text(&of_reason, 0, arena), cases[i].windows);
    }
    arena_destroy(arena);
}

/* docs/reference/karpenter.md 6.1: from the time it fires until before its end. */
static void a_budget_lasts_from_its_start_to_its_end(void)
{
    enum { NINE_S = 9 * 3600, FIVE_S = 17 * 3600 };
    struct arena *arena = arena_create((size_t)1 << 20);
    struct budgets budgets;
    budgets_of(BLOCK("0 9 * * *", "8h"), arena, &budgets);
    static const struct {
        int64_t unix_s;
        bool open;
    } cases[] = {
        {NINE_S - 1, true},  {NINE_S, false}, {NINE_S + 1, false},
        {FIVE_S - 1, false}, {FIVE_S, true},  {FIVE_S + 1, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CU_ASSERT_EQUAL(budgets_open(&budgets, cases[i].unix_s), cases[i].open);
        ASSERT_INT(budgets_allowed(&budgets, REASON_EMPTY, 1, cases[i].unix_s),
                   cases[i].open ? BUDGETS_UNLIMITED : 0);
    }
    arena_destroy(arena);
}

/* Fifty budgets, as many as the API server takes: of all but one cron looks years ahead, and that
 * one has it asked each minute of a week. Asked anew each time it takes a minute. */
static void schedules_that_fire_once_in_years_cost_little(void)
{
    enum { BUDGETS = 50, ENOUGH_S = 10 };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct text_builder items = {.arena = arena};
    text_builder_add(&items, TEXT(BLOCK("* * * * *", "1m")));
    for (size_t i = 1; i < BUDGETS; i++)
        text_builder_add(&items, TEXT(", " BLOCK("0 0 29 2 *", "1h")));
    struct budgets budgets;
    budgets_of(text_builder_text(&items).data, arena, &budgets);
    ASSERT_INT(budgets.count, BUDGETS);
    struct window window;
    clock_t before = clock();
    CU_ASSERT_EQUAL(window_next(&budgets, 0, &window), WINDOW_UNKNOWN);
    CU_ASSERT_TRUE((clock() - before) / CLOCKS_PER_SEC < ENOUGH_S);
    arena_destroy(arena);
}

const char unit_suite[] = "kube budget windows";
const struct unit_test unit_tests[] = {
    {"budgets close together", budgets_close_together},
    {"a window closes when every reason is blocked", a_window_closes_when_every_reason_is_blocked},
    {"windows that come seldom are seen", windows_that_come_seldom_are_seen},
    {"windows are told from a time on", windows_are_told_from_a_time_on},
    {"who asks for windows often has an allowance", who_asks_for_windows_often_has_an_allowance},
    {"no list is a budget of ten percent", no_list_is_a_budget_of_ten_percent},
    {"each reason has its windows", each_reason_has_its_windows},
    {"a budget lasts from its start to its end", a_budget_lasts_from_its_start_to_its_end},
    {"budgets allow so many", budgets_allow_so_many},
    {"schedules that fire once in years cost little",
     schedules_that_fire_once_in_years_cost_little},
    {NULL, NULL},
};
