#include <stdlib.h>

#include "policy/rails/disruption_budgets.h"
#include "solver/well_known.h"

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
static struct endings endings_outside(struct judgement *judgement, const struct budgets *budgets,
                                      int64_t expire_s)
{
    const struct snapshot *snapshot = judgement->world->snapshot;
    struct arena *arena = judgement->arena;
    struct endings endings = {0};
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_NODE); i++) {
        const struct object *node = snapshot_object(snapshot, KIND_NODE, i);
        struct text pool = node_string(node_get(node->labels, LABEL_NODE_POOL));
        int64_t end = node->created_unix_s + expire_s;
        if (!text_equal(pool, judgement->object->name) || node->created_unix_s == 0 ||
            end <= judgement->now_unix_s || budgets_open(budgets, end))
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
        text_builder_printf(&builder, ", ... (%zu)", endings->count);
    return text_builder_text(&builder);
}

/* ---- v1: expiry does not wait ---- */

static void warn_of_expiry(struct judgement *judgement, const struct budgets *budgets,
                           const struct field *field, struct text found, int64_t expire_s)
{
    struct arena *arena = judgement->arena;
    struct endings endings = endings_outside(judgement, budgets, expire_s);
    struct text_builder statement = {.arena = arena};
    text_builder_printf(&statement,
                        "%s%.*s%s does not wait for a window: nodes are drained when "
                        "they are that old",
                        field->node == NULL ? "missing, which means 720h, and expiry" : "\"",
                        TEXT_ARGS(found), field->node == NULL ? "" : "\"");
    if (endings.count > 0)
        text_builder_printf(&statement, "; outside the windows, in UTC: %.*s",
                            TEXT_ARGS(endings_text(&endings, arena)));
    text_builder_printf(&statement, "; next windows: %.*s",
                        TEXT_ARGS(windows_text(budgets, judgement->now_unix_s, arena)));
    judgement_report(judgement,
                     &(struct draft){
                         .severity = SEVERITY_WARN,
                         .field = field,
                         .found = found,
                         .statement = text_builder_text(&statement),
                         .fix = TEXT("set Never and let drift replace the nodes inside the "
                                     "windows, or keep what is drained safe with PodDisruption"
                                     "Budgets and a terminationGracePeriod"),
                     });
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

static void judge_gaps(struct judgement *judgement, const struct budgets *budgets,
                       const struct field *field, struct text found, int64_t expire_s)
{
    enum { HOUR_S = 3600 };
    struct arena *arena = judgement->arena;
    int64_t longest = longest_closed_s(budgets, judgement->now_unix_s);
    if (longest <= expire_s)
        return;
    judgement_report(judgement,
                     &(struct draft){
                         .field = field,
                         .found = found,
                         .statement = arena_printf(
                             arena,
                             "\"%.*s\", and no window is open for up to %lld hours: nodes "
                             "cannot be replaced that soon; next windows: %.*s",
                             TEXT_ARGS(found), (long long)(longest / HOUR_S),
                             TEXT_ARGS(windows_text(budgets, judgement->now_unix_s, arena))),
                         .fix = TEXT("open windows more often, or let nodes live longer"),
                     });
}

void disruption_budgets_judge_expiry(struct judgement *judgement, const struct budgets *budgets)
{
    enum { DEFAULT_S = 720 * 3600 };
    struct arena *arena = judgement->arena;
    bool old = text_ends_with(judgement->object->api_version, TEXT("/v1beta1"));
    const struct field *field =
        field_at(arena, judgement->object->root,
                 old ? "spec.disruption.expireAfter" : "spec.template.spec.expireAfter");
    int64_t expire_s = DEFAULT_S;
    struct text found = field->node == NULL ? TEXT("") : node_text(field->node);
    if (field->node != NULL && !duration_parse(node_string(field->node), &expire_s))
        return; /* Never, or what the rail node-rotation finds */
    if (old)
        judge_gaps(judgement, budgets, field, field->node == NULL ? TEXT("720h") : found, expire_s);
    else
        warn_of_expiry(judgement, budgets, field, found, expire_s);
}
