/* Whether nodes of a NodePool that has windows expire outside of them. */
#include <stdlib.h>

#include "kube/snapshot.h"
#include "kube/time.h"
#include "policy/rails/disruption_budgets.h"
#include "policy/rails/node_rotation.h"
#include "solver/well_known.h"

enum { MINUTE_S = 60, HOUR_S = 60 * MINUTE_S };

/* "2 h", "3 h 20 min", "40 min" */
static struct text span_text(int64_t span_s, struct arena *arena)
{
    int64_t hours = span_s / HOUR_S;
    int64_t minutes = span_s / MINUTE_S % MINUTE_S;
    if (hours == 0)
        return arena_printf(arena, "%lld min", (long long)minutes);
    return minutes == 0
               ? arena_printf(arena, "%lld h", (long long)hours)
               : arena_printf(arena, "%lld h %lld min", (long long)hours, (long long)minutes);
}

/* ---- nodes that will end at a bad time ---- */

struct ending {
    struct text node;
    int64_t unix_s;
};
struct endings {
    struct ending *items;
    size_t count, capacity;
};

static int compare_endings(const void *a_pointer, const void *b_pointer)
{
    const struct ending *a = a_pointer;
    const struct ending *b = b_pointer;
    if (a->unix_s != b->unix_s)
        return a->unix_s < b->unix_s ? -1 : 1;
    return text_compare(a->node, b->node);
}

/* The visible nodes of the pool that expire while the windows are closed. A NodeClaim keeps the
 * expireAfter it was made with: only Nodes that have none are judged by the pool's. */
static struct endings endings_outside(struct rail_call *call, const struct budgets *budgets,
                                      int64_t expire_s)
{
    const struct snapshot *snapshot = call->world->snapshot;
    struct arena *arena = call->arena;
    struct endings endings = {0};
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_NODE); i++) {
        const struct object *node = snapshot_object(snapshot, KIND_NODE, i);
        struct text pool = node_string(node_get(node->labels, LABEL_NODE_POOL));
        int64_t end = node->created_unix_s + expire_s;
        if (!text_equal(pool, call->object->name) || node->created_unix_s == 0 ||
            end <= call->now_unix_s || budgets_open(budgets, end))
            continue;
        *LIST_PUSH(arena, &endings) = (struct ending){node->name, end};
    }
    if (endings.count > 1)
        qsort(endings.items, endings.count, sizeof *endings.items, compare_endings);
    return endings;
}

static struct text endings_text(const struct endings *endings, struct arena *arena)
{
    enum { SHOWN = 3 };
    struct text_builder builder = {.arena = arena};
    for (size_t i = 0; i < endings->count && i < SHOWN; i++)
        text_builder_printf(&builder, "%s%.*s at %.*s", i == 0 ? "" : ", ",
                            TEXT_ARGS(endings->items[i].node),
                            TEXT_ARGS(window_time_text(endings->items[i].unix_s, arena)));
    if (endings->count > SHOWN)
        text_builder_printf(&builder, " and %zu more", endings->count - SHOWN);
    return text_builder_text(&builder);
}

/* ---- v1: expiry does not wait ---- */

static void warn_of_expiry(struct rail_call *call, const struct budgets *budgets,
                           const struct field *field, struct text found, int64_t expire_s)
{
    struct arena *arena = call->arena;
    struct endings endings = endings_outside(call, budgets, expire_s);
    struct text_builder statement = {.arena = arena};
    text_builder_printf(&statement, "Expiry does not wait for a window. Nodes are drained at %.*s.",
                        TEXT_ARGS(found.size == 0 ? TEXT("720h, the default") : found));
    if (endings.count > 0)
        text_builder_printf(&statement, " Outside the windows, in UTC: %.*s.",
                            TEXT_ARGS(endings_text(&endings, arena)));
    struct text windows = windows_text(budgets, call->now_unix_s, arena);
    if (windows.size > 0)
        text_builder_printf(&statement, " Next windows: %.*s.", TEXT_ARGS(windows));
    /* Where the policy wants nodes to expire, only those that will do so at a bad time count. */
    bool wanted = node_rotation_most(call).size > 0 && endings.count == 0;
    report_as(call, wanted ? SEVERITY_AUDIT : SEVERITY_WARN, .field = field, .found = found,
              .statement = text_builder_text(&statement),
              .fix = TEXT("Keep what is drained safe with PodDisruptionBudgets, which hold until a "
                          "terminationGracePeriod is over."));
}

/* ---- v1beta1: expiry waits for a window ---- */

/* The longest time, of those to come, in which no window is open. */
static int64_t longest_closed_s(const struct budgets *budgets, int64_t now_unix_s)
{
    enum { WINDOWS = 64 };
    int64_t longest = 0;
    int64_t closed_since = now_unix_s;
    for (size_t i = 0; i < WINDOWS; i++) {
        struct window window;
        if (window_next(budgets, closed_since, &window) != WINDOW_FOUND)
            break;
        if (window.open_unix_s - closed_since > longest)
            longest = window.open_unix_s - closed_since;
        if (window.close_unix_s == INT64_MAX)
            break;
        closed_since = window.close_unix_s;
    }
    return longest;
}

/* Whether some time without a window is longer than nodes may live; then that is said. */
static bool judge_gaps(struct rail_call *call, const struct budgets *budgets,
                       const struct field *field, struct text found, int64_t expire_s)
{
    struct arena *arena = call->arena;
    int64_t longest = longest_closed_s(budgets, call->now_unix_s);
    if (longest <= expire_s)
        return false;
    report_with(call, .field = field, .found = found,
                .statement = arena_printf(
                    arena,
                    "expireAfter is %.*s, and no window is open for up to %.*s. Nodes cannot be "
                    "replaced that soon. Next windows: %.*s.",
                    TEXT_ARGS(found), TEXT_ARGS(span_text(longest, arena)),
                    TEXT_ARGS(windows_text(budgets, call->now_unix_s, arena))),
                .fault = TEXT("No window is open for longer than nodes live."),
                .extent = longest - expire_s,
                .fix = TEXT("Open windows more often, or let nodes live longer."));
    return true;
}

/* ---- v1beta1: time enough in the windows for all nodes ---- */

/* A successor has to be bought, to start and to join, and the pods to move: it never takes less. */
enum { REPLACEMENT_S = 120 };

/* How many times nodes have to be replaced until all were; 0: budgets do not hold that up. Those
 * with a schedule, which come on top, are left out: the answer is never too high. */
static int64_t least_turns(const struct budgets *budgets, int64_t nodes, const struct budget **of)
{
    int64_t most = 0;
    FOR_EACH(budget, budgets) {
        if (budget_is_scheduled(budget) || budget->share.amount == 0)
            continue;
        int64_t amount = budget->share.amount;
        int64_t all = budget->share.percent && nodes == 0 ? 100 : nodes;
        if (budget->share.percent && nodes > 0)
            amount = share_amount(budget->share, nodes);
        int64_t turns = all / amount + (all % amount != 0);
        if (turns > most) {
            most = turns;
            *of = budget;
        }
    }
    return most;
}

/* The shortest time that windows are open in any span as long as expire_s; INT64_MAX: too many to
 * say. All windows together take no more steps than one may: those that were found then have to do.
 */
static int64_t least_open_s(const struct budgets *budgets, int64_t now_unix_s, int64_t expire_s)
{
    enum { WINDOWS = 512 };
    struct window windows[WINDOWS];
    size_t count = 0;
    size_t steps_left = WINDOW_STEPS;
    for (int64_t from = now_unix_s; count < WINDOWS; from = windows[count++].close_unix_s) {
        enum window_answer answer = window_next_within(budgets, from, &steps_left, &windows[count]);
        if (answer != WINDOW_FOUND || windows[count].close_unix_s == INT64_MAX)
            break;
    }
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        int64_t end = windows[i].close_unix_s + expire_s;
        int64_t open = 0;
        if (end > windows[count - 1].close_unix_s)
            break;
        for (size_t j = i + 1; j < count && windows[j].open_unix_s < end; j++)
            open += (windows[j].close_unix_s < end ? windows[j].close_unix_s : end) -
                    windows[j].open_unix_s;
        if (open < least)
            least = open;
    }
    return least;
}

static int64_t nodes_of_pool(const struct rail_call *call)
{
    const struct snapshot *snapshot = call->world->snapshot;
    int64_t count = 0;
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_NODE); i++)
        count += text_equal(
            node_string(node_get(snapshot_object(snapshot, KIND_NODE, i)->labels, LABEL_NODE_POOL)),
            call->object->name);
    return count;
}

static void judge_turns(struct rail_call *call, const struct budgets *budgets,
                        const struct field *field, struct text found, int64_t expire_s)
{
    struct arena *arena = call->arena;
    const struct budget *slowest = NULL;
    int64_t nodes = nodes_of_pool(call);
    int64_t needed_s = least_turns(budgets, nodes, &slowest) * REPLACEMENT_S;
    if (slowest == NULL)
        return;
    int64_t open_s = least_open_s(budgets, call->now_unix_s, expire_s);
    if (needed_s <= open_s)
        return;
    struct text all =
        nodes == 0 ? TEXT("all nodes") : arena_printf(arena, "all %lld nodes", (long long)nodes);
    report_found(
        call, SEVERITY_WARN, field, found,
        TEXT("Open windows for longer, let more nodes go at a time, or let them live "
             "longer."),
        "In %.*s the windows may be open for no more than %.*s. To replace %.*s, %.*s at a "
        "time, takes %.*s at the least (2 min each time), so nodes grow older and older. "
        "Next windows: %.*s.",
        TEXT_ARGS(found), TEXT_ARGS(span_text(open_s, arena)), TEXT_ARGS(all),
        TEXT_ARGS(slowest->nodes), TEXT_ARGS(span_text(needed_s, arena)),
        TEXT_ARGS(windows_text(budgets, call->now_unix_s, arena)));
}

void disruption_budgets_judge_expiry(struct rail_call *call, const struct budgets *budgets)
{
    enum { DEFAULT_S = 720 * 3600 };
    /* Karpenter counts in nanoseconds, and reads nothing longer: the rail pool-shape finds it. */
    static const int64_t longest_s = INT64_MAX / 1000000000;
    struct arena *arena = call->arena;
    bool old = object_is_v1beta1(call->object);
    const struct field *field =
        field_at(arena, call->object->root,
                 old ? "spec.disruption.expireAfter" : "spec.template.spec.expireAfter");
    bool missing = !node_is_given(field->node);
    int64_t expire_s = DEFAULT_S;
    struct text found = missing ? TEXT("") : node_text(field->node);
    if (!missing && !duration_parse(node_string(field->node), &expire_s))
        return; /* Never, or what the rail node-rotation finds */
    if (expire_s > longest_s)
        expire_s = longest_s;
    if (!old) {
        warn_of_expiry(call, budgets, field, found, expire_s);
        return;
    }
    if (missing)
        found = TEXT("720h");
    if (!judge_gaps(call, budgets, field, found, expire_s))
        judge_turns(call, budgets, field, found, expire_s);
}
