/* The rail disruption-budgets: when, and how fast, Karpenter may replace nodes. */
#include "policy/rails/disruption_budgets.h"

#include "kube/opt_out.h"
#include "kube/placeholder.h"
#include "policy/rails/duration_fault.h"
#include "policy/reading.h"

static const struct key keys[] = {
    {.name = "requireWindow",
     .type = KEY_BOOL,
     .offset = offsetof(struct disruption_budgets, require_window),
     .summary = "every pool has windows: a budget of 0 nodes with a schedule leaves its nodes "
                "alone at all other times",
     .default_value = "false"},
    {.name = "maxNodes",
     .type = KEY_SHARE,
     .offset = offsetof(struct disruption_budgets, max_nodes),
     .given_offset = offsetof(struct disruption_budgets, max_nodes_given),
     .summary = "how many nodes of a pool may be disrupted at a time, at most"},
    {.name = "consolidationPolicies",
     .type = KEY_STRINGS,
     .offset = offsetof(struct disruption_budgets, policies),
     .summary = "the policies that a pool may have; by default any",
     .choices = (const char *const[]){"WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced", NULL},
     .minimum = 1},
    {0},
};

/* ---- what cannot be read ---- */

static void judge_schedule(struct rail_call *call, const struct budget *budget)
{
    /* The API server takes five fields, whatever they are. */
    bool is_one_field = memchr(budget->schedule.data, ' ', budget->schedule.size) == NULL;
    if (!budget->schedule_given || (is_one_field && text_has_placeholder(budget->schedule)))
        return;
    if (!budget->schedule_valid)
        report_found(call, SEVERITY_RAIL, budget->schedule_field, budget->schedule,
                     TEXT("Write five fields in UTC, such as \"0 9 * * mon-fri\"."),
                     "Karpenter cannot read the schedule \"%.*s\" (%.*s). It then disrupts no "
                     "node of the pool, for any reason.",
                     TEXT_ARGS(budget->schedule), TEXT_ARGS(budget->schedule_fault));
    else if (!budget->fires)
        report_found(call, SEVERITY_RAIL, budget->schedule_field, budget->schedule,
                     TEXT("Name a day that comes, or remove schedule and duration."),
                     "The schedule \"%.*s\" names a day that never comes. Karpenter takes such a "
                     "budget to be active always.",
                     TEXT_ARGS(budget->schedule));
}

/* It begins and lasts no time. */
static bool is_never_active(const struct budget *budget)
{
    return budget_is_scheduled(budget) && budget->duration_valid && budget->duration_s == 0;
}

static void judge_reading(struct rail_call *call, const struct budget *budget)
{
    if (!budget->nodes_valid && !text_has_placeholder(budget->nodes))
        report(call, SEVERITY_RAIL, budget->nodes_field,
               TEXT("Write a number or a percentage in quotes, such as \"5\" or \"10%\"."),
               "\"%.*s\" is neither a number of nodes nor a percentage.", TEXT_ARGS(budget->nodes));
    judge_schedule(call, budget);
    if (budget->duration_given && !budget->duration_valid &&
        !text_has_placeholder(budget->duration))
        report(call, SEVERITY_RAIL, budget->duration_field,
               TEXT("Write hours and minutes, such as 8h or 1h30m."), "\"%.*s\" is no duration%s.",
               TEXT_ARGS(budget->duration),
               duration_is_malformed(budget->duration_field) ? "" : " of hours and minutes");
    if (budget->schedule_given && !budget->duration_given)
        report(call, SEVERITY_RAIL, budget->duration_field,
               TEXT("Say how long it lasts, such as duration: 8h."),
               "The budget has a schedule and no duration, so it never ends.");
    if (is_never_active(budget))
        report(call, SEVERITY_RAIL, budget->duration_field,
               TEXT("Say how long it lasts, such as duration: 8h."),
               "The budget lasts %.*s, so it is never active and has no effect.",
               TEXT_ARGS(budget->duration));
    if (budget->duration_given && !budget->schedule_given)
        report(call, SEVERITY_RAIL, budget->schedule_field,
               TEXT("Say when it begins, in UTC, such as schedule: \"0 9 * * mon-fri\"."),
               "The budget has a duration and no schedule. Karpenter cannot read it, and disrupts "
               "no node of the pool.");
}

/* ---- budgets that never let go ---- */

#define NO_NODE_GOES "Nodes are never consolidated, and drifted ones never replaced."

static bool blocks_always(const struct budget *budget, unsigned reason)
{
    return (budget->reasons & reason) != 0 && budget_blocks(budget) && !budget_is_scheduled(budget);
}

static size_t count_always(const struct budgets *budgets, unsigned reasons)
{
    size_t count = 0;
    FOR_EACH(budget, budgets)
        count += blocks_always(budget, reasons);
    return count;
}

/* The reason of the pool that the fewest of them are for, and how many; 0: one is free. */
static size_t find_fewest(const struct budgets *budgets, unsigned *fewest)
{
    size_t least = SIZE_MAX;
    for (unsigned reason = 1; reason < REASONS_ALL; reason <<= 1) {
        size_t count = count_always(budgets, reason);
        if ((budgets->reasons & reason) == 0 || count >= least)
            continue;
        *fewest = reason;
        least = count;
    }
    return least;
}

/* While one budget is left that is for the reason, the others are changed in vain. */
static struct text advice_to_let_go(const struct budgets *budgets, unsigned reason, size_t count,
                                    struct arena *arena)
{
    struct text_list paths = {0};
    FOR_EACH(budget, budgets)
        if (blocks_always(budget, reason))
            *LIST_PUSH(arena, &paths) = field_path(arena, budget->field);
    struct text whom = texts_and(paths.items, paths.count, SIZE_MAX, arena);
    if (count == 1)
        return arena_printf(arena, "Give %.*s a schedule and a duration, or nodes: \"1\" or more.",
                            TEXT_ARGS(whom));
    return arena_printf(arena,
                        "Let no budget of 0 nodes for %.*s hold at all times: give %.*s a schedule "
                        "and a duration, or nodes: \"1\" or more.",
                        TEXT_ARGS(disruption_reasons_text(reason, arena)), TEXT_ARGS(whom));
}

static bool is_of_all_reasons(const struct budget *budget)
{
    return (REASONS_ALL & ~budget->reasons) == 0;
}

/* With this one they are for all reasons. */
static const struct budget *find_last(const struct budgets *budgets)
{
    unsigned blocked = 0;
    const struct budget *last = NULL;
    for (size_t i = 0; i < budgets->count && !budgets_have_no_other(budgets, blocked); i++)
        if (blocks_always(&budgets->items[i], budgets->reasons)) {
            last = &budgets->items[i];
            blocked |= last->reasons;
        }
    return last;
}

/* Whether all disruption is blocked for ever by budgets without a schedule; then that is said. */
static bool judge_blocked(struct rail_call *call, const struct budgets *budgets)
{
    unsigned reason = 0;
    size_t count = find_fewest(budgets, &reason);
    if (count == 0)
        return false;
    const struct budget *last = find_last(budgets);
    bool of_all = is_of_all_reasons(last);
    struct text fix =
        of_all && count_always(budgets, REASONS_ALL) == 1
            ? TEXT("Give the budget a schedule and a duration, or the reasons it is for.")
            : advice_to_let_go(budgets, reason, count, call->arena);
    struct text of_pool =
        of_all || budgets->reasons == REASONS_ALL
            ? TEXT("")
            : arena_printf(call->arena, " that this pool has (%.*s)",
                           TEXT_ARGS(disruption_reasons_text(budgets->reasons, call->arena)));
    struct text statement;
    if (budgets_have_no_other(budgets, last->reasons))
        statement = arena_printf(
            call->arena,
            "A budget of \"%.*s\" holds at all times and for all reasons%.*s. " NO_NODE_GOES,
            TEXT_ARGS(last->nodes), TEXT_ARGS(of_pool));
    else
        statement = arena_printf(call->arena,
                                 "Budgets of 0 nodes hold at all times, and together they are for "
                                 "all reasons%.*s. " NO_NODE_GOES,
                                 TEXT_ARGS(of_pool));
    report_with(call, .field = last->nodes_field, .found = node_text(last->nodes_field->node),
                .statement = statement, .fault = TEXT(NO_NODE_GOES), .fix = fix);
    return true;
}

/* Nodes take the annotations of the template, and Karpenter looks for "true" alone. */
static void judge_opted_out(struct rail_call *call)
{
    const struct field *field = field_get(
        call->arena,
        field_at(call->arena, call->object->root, "spec.template.metadata.annotations"), OPT_OUT);
    if (!text_is(node_string(field->node), "true"))
        return;
    report(call, SEVERITY_WARN, field,
           TEXT("Remove it, and let budgets say when nodes may be replaced."),
           "Every node of the pool opts out of disruption. None is ever consolidated, nor replaced "
           "when it has drifted.");
}

static bool judge_never_open(struct rail_call *call, const struct budgets *budgets)
{
    struct window window;
    if (window_next(budgets, call->now_unix_s, &window) != WINDOW_NEVER)
        return false;
    report(call, SEVERITY_RAIL, budgets->field, TEXT("Shorten a duration, or name fewer days."),
           "The budgets of 0 nodes cover all of the time. No window ever opens in which a node may "
           "be replaced.");
    return true;
}

/* Whether the budgets, all read, keep disruption inside windows. */
static bool has_windows(const struct budgets *budgets)
{
    unsigned blocked = 0;
    bool some_scheduled = false;
    FOR_EACH(budget, budgets) {
        if (!budget_blocks(budget))
            continue;
        blocked |= budget->reasons;
        some_scheduled = some_scheduled || budget_is_scheduled(budget);
    }
    return some_scheduled && budgets_have_no_other(budgets, blocked);
}

/* ---- how many at a time ---- */

bool disruption_budgets_keeps_to(const struct budget *budget, struct share most)
{
    struct share share = budget->share;
    return !budget_is_scheduled(budget) &&
           (share.amount == 0 || (share.percent == most.percent && share.amount <= most.amount));
}

enum bound { BOUND_NONE, BOUND_OTHER_UNIT, BOUND_GOOD };

/* How budgets that are always active bound a reason. */
static enum bound bound_of(const struct budgets *budgets, unsigned reason, struct share most)
{
    enum bound bound = BOUND_NONE;
    FOR_EACH(budget, budgets) {
        if (budget_is_scheduled(budget) || (budget->reasons & reason) == 0)
            continue;
        if (disruption_budgets_keeps_to(budget, most))
            return BOUND_GOOD;
        if (budget->share.percent != most.percent)
            bound = BOUND_OTHER_UNIT;
    }
    return bound;
}

/* Of all reasons of the pool the worst. */
static enum bound bound_of_all(const struct budgets *budgets, struct share most)
{
    enum bound worst = BOUND_GOOD;
    for (unsigned reason = 1; reason < REASONS_ALL; reason <<= 1) {
        enum bound bound =
            (budgets->reasons & reason) == 0 ? BOUND_GOOD : bound_of(budgets, reason, most);
        if (bound < worst)
            worst = bound;
    }
    return worst;
}

/* Beside the maximum a larger budget, in its unit, would count for nothing. */
static bool has_larger(const struct budgets *budgets, struct share most)
{
    FOR_EACH(budget, budgets)
        if (budget->share.percent == most.percent && budget->share.amount > most.amount)
            return true;
    return false;
}

static void judge_max_nodes(struct rail_call *call, const struct disruption_budgets *settings,
                            const struct budgets *budgets)
{
    struct arena *arena = call->arena;
    struct share most = settings->max_nodes;
    struct text most_text =
        arena_printf(arena, "%lld%s", (long long)most.amount, most.percent ? "%" : "");
    enum bound worst = bound_of_all(budgets, most);
    if (worst == BOUND_GOOD)
        return;
    bool alone = budgets->count == 1 && !budget_is_scheduled(&budgets->items[0]);
    const struct budget *only = alone ? &budgets->items[0] : NULL;
    bool above = worst == BOUND_NONE && alone && is_of_all_reasons(only);
    struct draft draft = {
        .severity = worst == BOUND_NONE ? SEVERITY_RAIL : SEVERITY_WARN,
        .field = alone ? only->nodes_field : budgets->field,
        .found = alone ? only->nodes : TEXT(""),
        .fix = arena_printf(
            arena, "Add {nodes: \"%.*s\"}, a budget without a schedule%s.", TEXT_ARGS(most_text),
            budgets->given && has_larger(budgets, most) ? ", and remove what is larger" : ""),
    };
    if (worst == BOUND_OTHER_UNIT)
        draft.statement =
            arena_printf(arena, "A budget in %s cannot be compared with the maximum of %.*s.",
                         most.percent ? "numbers of nodes" : "percent", TEXT_ARGS(most_text));
    else if (above)
        draft.statement = arena_printf(arena, "The budget of %.*s is above the maximum of %.*s.",
                                       TEXT_ARGS(only->nodes), TEXT_ARGS(most_text));
    else
        draft.statement = arena_printf(
            arena,
            "No budget keeps disruption to %.*s%s at a time, at all times and for all reasons.",
            TEXT_ARGS(most_text), most.percent ? " of the nodes" : " nodes");
    if (above && budgets->given)
        draft.fix = arena_printf(arena, "Set nodes: \"%.*s\".", TEXT_ARGS(most_text));
    report_draft(call, &draft);
}

/* ---- the whole ---- */

/* Takes out those that are never active, or for no reason: Karpenter goes by the rest alone. */
static void leave_effective(struct budgets *budgets)
{
    size_t count = 0;
    for (size_t i = 0; i < budgets->count; i++)
        if (!is_never_active(&budgets->items[i]) && budgets->items[i].reasons != 0)
            budgets->items[count++] = budgets->items[i];
    budgets->count = count;
}

/* With a first budget the default of 10 % goes. */
static void report_no_windows(struct rail_call *call, const struct budgets *budgets)
{
    report_found(
        call, SEVERITY_RAIL, budgets->field, TEXT(""),
        arena_printf(call->arena,
                     "Add to spec.disruption.budgets the hours in which they must stay, in "
                     "UTC: [{nodes: \"0\", schedule: \"0 9 * * mon-fri\", duration: 8h}%s].",
                     budgets->given ? "" : ", {nodes: \"10%\"}"),
        "No budget keeps disruption inside windows. Nodes may be replaced at any hour.");
}

static void judge(struct rail_call *call)
{
    const struct disruption_budgets *settings = call->settings;
    struct arena *arena = call->arena;
    struct budgets budgets;
    budgets_read(call->object, call->now_unix_s, arena, &budgets);
    bool all_read = true;
    for (size_t i = 0; i < budgets.count; i++) {
        judge_reading(call, &budgets.items[i]);
        all_read = all_read && budget_is_valid(&budgets.items[i]);
    }
    disruption_budgets_judge_policy(call, settings);
    judge_opted_out(call);
    all_read = disruption_budgets_judge_values(call, &budgets) && all_read;
    if (!all_read)
        return;
    bool is_empty = budgets.count == 0;
    leave_effective(&budgets);
    if (judge_blocked(call, &budgets) || judge_never_open(call, &budgets))
        return;
    if (settings->max_nodes_given) {
        struct budgets all = budgets_with_default(&budgets, arena);
        judge_max_nodes(call, settings, &all);
    }
    if (has_windows(&budgets))
        disruption_budgets_judge_expiry(call, &budgets);
    else if (settings->require_window)
        report_no_windows(call, &budgets);
    disruption_budgets_judge_effects(call, settings, &budgets);
    /* Where none has an effect, that is said of each. */
    if (!settings->max_nodes_given && (is_empty || budgets.count > 0))
        disruption_budgets_judge_bounds(call, &budgets);
}

const struct rail rail_disruption_budgets = {
    .name = "disruption-budgets",
    .summary = "when, and how fast, nodes are replaced",
    .detail =
        "A budget says how many nodes of a pool Karpenter may disrupt at a time, to consolidate "
        "or to replace what has drifted. One of 0 nodes with a schedule and a duration keeps "
        "nodes as they are for that time; what is left are the windows.\n\n"
        "The API server checks a schedule hardly at all. The rail reads it as Karpenter's parser "
        "does: five fields or a name such as @daily, in UTC, no time zone. One that cannot be "
        "read makes Karpenter disrupt nothing in the whole pool; one that never comes (30 "
        "February) makes its budget active always; with a duration of 0h a budget never is. The "
        "rail finds these, budgets that block all reasons for ever, and schedules that together "
        "leave no window. It warns of karpenter.sh/"
        "do-not-disrupt among the annotations of the template, with which budgets have nothing to "
        "say.\n\n"
        "expireAfter of v1 does not obey budgets: a node is drained when it is old enough, inside "
        "a window or not. Where a pool has windows and an expiry the rail warns, says which "
        "visible nodes will end outside the windows, and when the next three windows are. Where "
        "node-rotation of the same policy wants nodes to expire, that is only noted, unless a "
        "visible node ends outside. On "
        "v1beta1 expiry waits for a window: there the rail finds windows that lie further apart "
        "than expireAfter, and warns of windows too short to replace every node, as many at a "
        "time as the budgets allow, before it is that old again.\n\n"
        "Found as well is what the API server would refuse: a consolidationPolicy, a reason or a "
        "duration that is none, such as WhenUnderutilized, its name of v1beta1, or 1d. A pool with "
        "replicas is never consolidated: consolidationPolicies does not concern it.\n\n"
        "maxNodes is compared with budgets of the same unit that are always active. A pool "
        "without budgets has one of 10%; one with an empty list has none, and one with scheduled "
        "budgets has none outside of their hours: the rail warns of both, and of a reason that no "
        "budget is for, or not always (of Empty alone it does not). With WhenEmpty a pool has no "
        "reason Underutilized; with consolidateAfter: Never, or with replicas, it has Drifted "
        "alone. Of the budgets that are "
        "active Karpenter takes the smallest: one of 33% on Saturdays has no effect beside one of "
        "10% that is always active, and is warned of. So has one with an empty list of reasons, "
        "which is found.",
    .example = "disruption-budgets:\n"
               "  mode: enforce\n"
               "  requireWindow: true\n"
               "  maxNodes: 10%\n"
               "  consolidationPolicies: [WhenEmpty, WhenEmptyOrUnderutilized]\n",
    .kinds = KIND_BIT(KIND_NODE_POOL),
    .keys = keys,
    .settings_size = sizeof(struct disruption_budgets),
    .judge = judge,
};
