/* Budgets that never count, and times at which none does. */
#include "policy/rails/disruption_budgets.h"

static const struct {
    unsigned bit;
    const char *name;
} reasons[] = {
    {REASON_UNDERUTILIZED, "Underutilized"},
    {REASON_EMPTY, "Empty"},
    {REASON_DRIFTED, "Drifted"},
    {REASON_UNHEALTHY, "Unhealthy"},
};

struct text disruption_reasons_text(unsigned set, struct arena *arena)
{
    struct text_builder builder = {.arena = arena};
    for (size_t i = 0; i < COUNT_OF(reasons); i++)
        if ((set & reasons[i].bit) != 0)
            text_builder_list(&builder, text_of(reasons[i].name));
    return text_builder_text(&builder);
}

/* ---- budgets that never count ---- */

/* Whether a budget lets fewer nodes go than another, however many the pool has. */
static bool is_smaller(const struct budget *budget, const struct budget *other)
{
    const struct share mine = budget->share, theirs = other->share;
    if (theirs.percent && theirs.amount == 100)
        return !mine.percent || mine.amount < 100;
    if (mine.amount == 0)
        return theirs.amount > 0;
    return mine.percent == theirs.percent && mine.amount < theirs.amount;
}

/* Whether a budget is active whenever another one is. */
static bool is_active_with(const struct budget *budget, const struct budget *other)
{
    if (!budget_is_scheduled(budget))
        return true;
    return budget_is_scheduled(other) && text_equal(budget->schedule, other->schedule) &&
           budget->duration_s >= other->duration_s;
}

/* What keeps a budget from ever counting: Karpenter takes the smallest that is active. NULL: it
 * counts. Where several do, by reason, it is the first. */
static const struct budget *find_smaller(const struct budgets *budgets, const struct budget *budget)
{
    const struct budget *first = NULL;
    unsigned left = budget->reasons;
    FOR_EACH(other, budgets) {
        if ((left & other->reasons) == 0 || !is_smaller(other, budget) ||
            !is_active_with(other, budget))
            continue;
        left &= ~other->reasons;
        if (first == NULL)
            first = other;
    }
    return left == 0 ? first : NULL;
}

/* Whether the policy lets a budget count in place of the smaller one. */
static bool may_count(const struct disruption_budgets *settings, const struct budget *budget,
                      const struct budget *smaller)
{
    bool is_window = settings->require_window && budget_blocks(smaller);
    return !is_window &&
           (!settings->max_nodes_given || disruption_budgets_keeps_to(budget, settings->max_nodes));
}

static struct text fix_of_idle(const struct budget *budget, const struct budget *smaller,
                               struct arena *arena)
{
    unsigned rest = REASONS_ALL & smaller->reasons & ~budget->reasons;
    struct text others = disruption_reasons_text(rest, arena);
    bool has_hours = budget_is_scheduled(budget) && !budget_is_scheduled(smaller);
    if (rest != 0 && has_hours) /* or the reasons of the one had none in the other hours */
        return arena_printf(
            arena,
            "Remove it, or split the budget of %.*s: at all times for [%.*s], and for [%.*s] with "
            "a schedule of the other hours.",
            TEXT_ARGS(smaller->nodes), TEXT_ARGS(others),
            TEXT_ARGS(disruption_reasons_text(budget->reasons & smaller->reasons, arena)));
    if (rest != 0)
        return arena_printf(arena, "Remove it, or limit the budget of %.*s to reasons: [%.*s].",
                            TEXT_ARGS(smaller->nodes), TEXT_ARGS(others));
    if (has_hours)
        return arena_printf(arena,
                            "Remove it, or give the budget of %.*s the other hours as schedule "
                            "and duration.",
                            TEXT_ARGS(smaller->nodes));
    return TEXT("Remove it.");
}

void disruption_budgets_judge_effects(struct rail_call *call,
                                      const struct disruption_budgets *settings,
                                      const struct budgets *budgets)
{
    FOR_EACH(budget, budgets) {
        const struct budget *smaller = find_smaller(budgets, budget);
        if (smaller != NULL)
            report_found(call, SEVERITY_WARN, budget->field, budget->nodes,
                         may_count(settings, budget, smaller)
                             ? fix_of_idle(budget, smaller, call->arena)
                             : TEXT("Remove it."),
                         "The budget of %.*s has no effect. Karpenter takes the smallest that is "
                         "active, and that of %.*s is active whenever it is.",
                         TEXT_ARGS(budget->nodes), TEXT_ARGS(smaller->nodes));
    }
}

/* ---- reasons without a budget ---- */

/* Whether there are times at which no budget is active for a reason. */
static bool is_unbounded_at_times(struct rail_call *call, const struct budgets *budgets,
                                  unsigned reason)
{
    struct budgets of_reason = budgets_of_reason(budgets, reason, call->arena);
    struct window window;
    for (size_t i = 0; i < of_reason.count; i++) {
        if (!budget_is_scheduled(&of_reason.items[i]))
            return false;
        of_reason.items[i].share.amount = 0;
    }
    return window_next(&of_reason, call->now_unix_s, &window) == WINDOW_FOUND;
}

static unsigned unbounded_reasons(struct rail_call *call, const struct budgets *budgets)
{
    unsigned unbounded = 0, told_apart = 0;
    FOR_EACH(budget, budgets)
        told_apart |= REASONS_ALL & ~budget->reasons;
    if (told_apart == 0)
        return is_unbounded_at_times(call, budgets, REASONS_ALL) ? REASONS_ALL : 0;
    for (size_t i = 0; i < COUNT_OF(reasons); i++)
        if ((budgets->reasons & reasons[i].bit) != 0 &&
            is_unbounded_at_times(call, budgets, reasons[i].bit))
            unbounded |= reasons[i].bit;
    /* Empty nodes may all go, if nothing else may. */
    return unbounded == REASON_EMPTY ? 0 : unbounded;
}

/* One that makes no budget idle which is there. */
static struct text bounding_text(const struct budgets *budgets, unsigned set, struct arena *arena)
{
    int64_t percent = 10;
    FOR_EACH(budget, budgets)
        if (budget->share.percent && budget->share.amount > percent)
            percent = budget->share.amount;
    struct text only = set == REASONS_ALL
                           ? TEXT("")
                           : arena_printf(arena, ", reasons: [%.*s]",
                                          TEXT_ARGS(disruption_reasons_text(set, arena)));
    return arena_printf(arena, "Add {nodes: \"%lld%%\"%.*s}, which is always active.",
                        (long long)percent, TEXT_ARGS(only));
}

void disruption_budgets_judge_bounds(struct rail_call *call, const struct budgets *budgets)
{
    struct arena *arena = call->arena;
    unsigned set = budgets->given ? unbounded_reasons(call, budgets) : 0;
    if (set == 0)
        return;
    struct text fix = bounding_text(budgets, set, arena);
    if (set == REASONS_ALL)
        report(call, SEVERITY_WARN, budgets->field, fix,
               "%s all nodes of the pool may be disrupted at once. The default of 10%% counts "
               "only where no budgets are written.",
               budgets->count == 0 ? "With an empty list" : "At times no budget is active, and");
    else
        report(call, SEVERITY_WARN, budgets->field, fix,
               "At times no budget is active for the reason %.*s. Then all such nodes may be "
               "disrupted at once.",
               TEXT_ARGS(disruption_reasons_text(set, arena)));
}
