/* Reads disruption budgets, and goes through the times at which they come and go. */
#include "kube/budget_windows.h"

#include <time.h>

#include "base/duration.h"
#include "kube/object.h"
#include "kube/time.h"

enum { DAY_S = 24 * 60 * 60 };

/* ---- reading ---- */

static unsigned read_reasons(const struct node *list)
{
    static const struct {
        const char *name;
        unsigned bit;
    } names[] = {
        {"Underutilized", REASON_UNDERUTILIZED},
        {"Empty", REASON_EMPTY},
        {"Drifted", REASON_DRIFTED},
        {"Unhealthy", REASON_UNHEALTHY},
    };
    if (!node_is(list, NODE_LIST))
        return REASONS_ALL | REASON_UNHEALTHY;
    unsigned reasons = 0;
    for (size_t i = 0; i < node_count(list); i++)
        for (size_t j = 0; j < COUNT_OF(names); j++)
            if (text_is(node_string(node_item(list, i)), names[j].name))
                reasons |= names[j].bit;
    return reasons;
}

/* The API server takes hours, minutes, or hours and minutes: cron knows no seconds. The "0s" that
 * Go writes behind them may stay. */
static bool is_of_hours_and_minutes(struct text t)
{
    struct duration_part part = {.unit_ns = INT64_MAX};
    if (text_ends_with(t, TEXT("h0s")) || text_ends_with(t, TEXT("m0s")))
        t.size -= 2;
    while (t.size > 0) {
        int64_t larger_ns = part.unit_ns;
        if (!duration_take_whole(&t, &part) || part.unit_ns >= larger_ns ||
            part.unit_ns == DURATION_SECOND_NS)
            return false;
    }
    return true;
}

static struct budget read_budget(const struct field *field, int64_t now_unix_s, struct arena *arena)
{
    struct budget budget = {
        .field = field,
        .nodes_field = field_get(arena, field, "nodes"),
        .schedule_field = field_get(arena, field, "schedule"),
        .duration_field = field_get(arena, field, "duration"),
        .reasons = read_reasons(node_get(field->node, "reasons")),
        .active = ARENA_NEW(arena, struct firing),
        .start = ARENA_NEW(arena, struct firing),
    };
    budget.nodes_given = node_is_given(budget.nodes_field->node);
    budget.nodes = budget.nodes_given ? node_text(budget.nodes_field->node) : TEXT("10%");
    budget.nodes_valid = share_parse(budget.nodes, &budget.share);
    budget.schedule_given = node_is_given(budget.schedule_field->node);
    budget.schedule = node_string(budget.schedule_field->node);
    budget.schedule_valid =
        budget.schedule_given &&
        cron_parse(budget.schedule, arena, &budget.cron, &budget.schedule_fault);
    int64_t first = 0;
    budget.fires = budget.schedule_valid && cron_next(&budget.cron, now_unix_s, &first);
    budget.duration_given = node_is_given(budget.duration_field->node);
    budget.duration = node_text(budget.duration_field->node);
    budget.duration_valid =
        budget.duration_given &&
        duration_parse(node_string(budget.duration_field->node), &budget.duration_s) &&
        is_of_hours_and_minutes(budget.duration);
    return budget;
}

/* A pool that is not consolidated, as one with a fixed number of nodes, has drift alone. */
static unsigned reasons_of_pool(const struct node *spec)
{
    const struct node *disruption = node_get(spec, "disruption");
    if (node_is(node_get(spec, "replicas"), NODE_NUMBER) ||
        text_is(node_string(node_get(disruption, "consolidateAfter")), "Never"))
        return REASON_DRIFTED;
    return text_is(node_string(node_get(disruption, "consolidationPolicy")), "WhenEmpty")
               ? REASON_EMPTY | REASON_DRIFTED
               : REASONS_ALL;
}

void budgets_read(const struct object *pool, int64_t now_unix_s, struct arena *arena,
                  struct budgets *budgets)
{
    *budgets = (struct budgets){
        .field = field_at(arena, pool->root, "spec.disruption.budgets"),
        .reasons = reasons_of_pool(node_get(pool->root->node, "spec")),
    };
    const struct node *list = budgets->field->node;
    budgets->given = node_is(list, NODE_LIST);
    size_t count = budgets->given ? node_count(list) : 0;
    for (size_t i = 0; i < count; i++)
        *LIST_PUSH(arena, budgets) =
            read_budget(field_item(arena, budgets->field, i), now_unix_s, arena);
}

struct budgets budgets_with_default(const struct budgets *budgets, struct arena *arena)
{
    struct budgets all = *budgets;
    if (!budgets->given) {
        *LIST_PUSH(arena, &all) = (struct budget){
            .nodes_field = budgets->field,
            .nodes = TEXT("10%"),
            .nodes_valid = true,
            .share = {.amount = 10, .percent = true},
            .reasons = REASONS_ALL | REASON_UNHEALTHY,
        };
    }
    return all;
}

struct budgets budgets_of_reason(const struct budgets *budgets, unsigned reason,
                                 struct arena *arena)
{
    struct budgets of_reason = {
        .field = budgets->field, .given = budgets->given, .reasons = budgets->reasons};
    FOR_EACH(budget, budgets) {
        if ((budget->reasons & reason) == 0)
            continue;
        struct budget *copy = LIST_PUSH(arena, &of_reason);
        *copy = *budget;
        copy->reasons = REASONS_ALL;
    }
    return of_reason;
}

bool budgets_have_no_other(const struct budgets *budgets, unsigned reasons)
{
    return (budgets->reasons & ~reasons) == 0;
}

bool budget_is_valid(const struct budget *budget)
{
    bool timed = budget->schedule_given || budget->duration_given;
    return budget->nodes_valid && (!timed || (budget->schedule_valid && budget->duration_valid));
}

bool budget_blocks(const struct budget *budget)
{
    return budget->share.amount == 0;
}

bool budget_is_scheduled(const struct budget *budget)
{
    return budget->fires;
}

/* ---- open and closed ---- */

/* Years may lie between two firings, and thousands of times in them are asked about. */
static bool fires_next(const struct budget *budget, struct firing *last, int64_t after_unix_s,
                       int64_t *unix_s)
{
    if (!budget_is_scheduled(budget))
        return false;
    if (!last->known || after_unix_s < last->after_unix_s || after_unix_s >= last->unix_s) {
        last->after_unix_s = after_unix_s;
        last->known = cron_next(&budget->cron, after_unix_s, &last->unix_s);
    }
    *unix_s = last->unix_s;
    return last->known;
}

/* Until when it is active, or 0 when it is not. As Karpenter asks: has the schedule fired since a
 * duration ago? */
static int64_t active_until(const struct budget *budget, int64_t unix_s)
{
    int64_t fired = 0;
    if (!fires_next(budget, budget->active, unix_s - budget->duration_s, &fired))
        return INT64_MAX;
    return fired <= unix_s ? fired + budget->duration_s : 0;
}

int64_t budgets_allowed(const struct budgets *budgets, unsigned reason, int64_t nodes,
                        int64_t unix_s)
{
    int64_t allowed = BUDGETS_UNLIMITED;
    FOR_EACH(budget, budgets) {
        if (!budget_is_valid(budget))
            return 0;
        if ((budget->reasons & reason) == 0 || active_until(budget, unix_s) == 0)
            continue;
        int64_t share = share_amount(budget->share, nodes);
        if (share < allowed)
            allowed = share;
    }
    return allowed;
}

/* The first time after one that is closed at which something changes; 0: it is open. */
static int64_t closed_until(const struct budgets *budgets, int64_t unix_s)
{
    unsigned blocked = 0;
    int64_t until = INT64_MAX;
    FOR_EACH(budget, budgets) {
        int64_t end = budget_blocks(budget) ? active_until(budget, unix_s) : 0;
        if (end == 0)
            continue;
        blocked |= budget->reasons;
        if (end < until)
            until = end;
    }
    return budgets_have_no_other(budgets, blocked) ? until : 0;
}

bool budgets_open(const struct budgets *budgets, int64_t unix_s)
{
    return closed_until(budgets, unix_s) == 0;
}

/* The next time at which a budget that blocks becomes active; INT64_MAX: none does. */
static int64_t next_start(const struct budgets *budgets, int64_t after_unix_s)
{
    int64_t next = INT64_MAX;
    FOR_EACH(budget, budgets) {
        int64_t fires = 0;
        if (budget_blocks(budget) && fires_next(budget, budget->start, after_unix_s, &fires) &&
            fires < next)
            next = fires;
    }
    return next;
}

/* Schedules without days of the month and months repeat each week; most others within leap years.
 * What has not come by then counts as never. */
static int64_t horizon_s(const struct budgets *budgets)
{
    enum { WEEK_AND_A_DAY = 8, FIVE_YEARS = 5 * 366 };
    const uint64_t star = (uint64_t)1 << 63;
    FOR_EACH(budget, budgets)
        if (budget_blocks(budget) && budget_is_scheduled(budget) &&
            (budget->cron.days_of_month & budget->cron.months & star) == 0)
            return (int64_t)FIVE_YEARS * DAY_S;
    return (int64_t)WEEK_AND_A_DAY * DAY_S;
}

static bool take_step(size_t *steps_left)
{
    if (*steps_left == 0)
        return false;
    --*steps_left;
    return true;
}

enum window_answer window_next_within(const struct budgets *budgets, int64_t from_unix_s,
                                      size_t *steps_left, struct window *window)
{
    int64_t end = from_unix_s + horizon_s(budgets);
    int64_t at = from_unix_s;
    for (int64_t until = closed_until(budgets, at); until != 0; until = closed_until(budgets, at)) {
        if (until > end)
            return WINDOW_NEVER;
        if (!take_step(steps_left))
            return WINDOW_UNKNOWN;
        at = until;
    }
    window->open_unix_s = at;
    do {
        at = next_start(budgets, at);
        if (at > end)
            at = INT64_MAX;
        else if (!take_step(steps_left))
            return WINDOW_UNKNOWN;
    } while (at != INT64_MAX && budgets_open(budgets, at));
    window->close_unix_s = at;
    return WINDOW_FOUND;
}

enum window_answer window_next(const struct budgets *budgets, int64_t from_unix_s,
                               struct window *window)
{
    size_t steps_left = WINDOW_STEPS;
    return window_next_within(budgets, from_unix_s, &steps_left, window);
}

/* ---- in words ---- */

struct text window_time_text(int64_t unix_s, struct arena *arena)
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    time_t seconds = (time_t)unix_s;
    struct tm t = {0};
    gmtime_r(&seconds, &t);
    return arena_printf(arena, "%s %04d-%02d-%02d %02d:%02d", days[t.tm_wday], t.tm_year + 1900,
                        t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min);
}

struct text windows_text(const struct budgets *budgets, int64_t from_unix_s, struct arena *arena)
{
    enum { SHOWN = 3 };
    struct text_builder builder = {.arena = arena};
    struct window window = {0};
    int64_t from = from_unix_s;
    for (size_t i = 0; i < SHOWN; i++) {
        if (window_next(budgets, from, &window) != WINDOW_FOUND)
            break;
        text_builder_list(&builder, window_time_text(window.open_unix_s, arena));
        if (window.close_unix_s == INT64_MAX) {
            text_builder_add(&builder, TEXT(" onwards"));
            break;
        }
        text_builder_printf(&builder, " to %.*s",
                            TEXT_ARGS(window_time_text(window.close_unix_s, arena)));
        from = window.close_unix_s;
    }
    if (builder.size > 0)
        text_builder_add(&builder, TEXT(" UTC"));
    return text_builder_text(&builder);
}
