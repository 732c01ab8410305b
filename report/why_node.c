/* Why a Node is still there: what is said of it, and that as text. */
#include "report/why_format.h"

#include "kube/object.h"
#include "kube/time.h"
#include "simulation/why_node.h"

/* ---- what is said ---- */

static const struct disruption_node *forecast_of(const struct why_node *why)
{
    return &why->forecast.nodes[0];
}

static const struct disruption_pool *pool_of(const struct why_node *why)
{
    const struct disruption *forecast = &why->forecast;
    size_t number = forecast_of(why)->pool;
    return number < forecast->pool_count ? &forecast->pools[number] : NULL;
}

static bool has_room(const struct disruption_pool *pool)
{
    return pool != NULL && pool->allowed > (int64_t)pool->disrupted;
}

static void add(struct why_telling *telling, const char *kind, struct text message)
{
    *LIST_PUSH(telling->arena, &telling->points) =
        (struct why_point){.kind = kind, .message = message};
}

static void tell_pods(struct why_telling *telling)
{
    enum { OWNERS_NAMED = 4 };
    const struct why_node *why = telling->why;
    struct text_builder words = {.arena = telling->arena};
    size_t named = 0, others = why->pod_count - why->moving_count;
    if (why->moving_count == 0)
        text_builder_printf(&words, "it is empty");
    else
        text_builder_printf(&words, "it is there for %zu pod%s: ", why->moving_count,
                            plural_s(why->moving_count));
    for (size_t i = 0; i < why->owner_count && i < OWNERS_NAMED; i++) {
        const struct why_node_owner *owner = &why->owners[i];
        text_builder_printf(&words, "%s%zu of %.*s/%.*s", i == 0 ? "" : ", ", owner->count,
                            TEXT_ARGS(owner->namespace), TEXT_ARGS(owner->owner));
        named += owner->count;
    }
    if (named < why->moving_count)
        text_builder_printf(&words, ", %zu of others", why->moving_count - named);
    if (others > 0)
        text_builder_printf(&words, "; %zu pod%s of DaemonSets or of the node itself go%s with it",
                            others, plural_s(others), others == 1 ? "es" : "");
    add(telling, why->moving_count == 0 ? "empty" : "pods", text_builder_text(&words));
}

/* "it has drifted (NodePoolDrifted, by spec.template.spec.taints), since ..." */
static struct text drift_words(const struct why_node *why, struct arena *arena)
{
    struct text_builder words = {.arena = arena};
    text_builder_add(&words, TEXT("it has drifted"));
    if (why->drift.size > 0)
        text_builder_printf(&words, " (%.*s%s%.*s)", TEXT_ARGS(why->drift),
                            why->drift_path.size > 0 ? ", by " : "", TEXT_ARGS(why->drift_path));
    if (why->drifted_unix_s > 0)
        text_builder_printf(&words, ", since %.*s UTC",
                            TEXT_ARGS(window_time_text(why->drifted_unix_s, arena)));
    return text_builder_text(&words);
}

static void tell_intent(struct why_telling *telling)
{
    const struct why_node *why = telling->why;
    struct arena *arena = telling->arena;
    if (why->drifted)
        add(telling, "drifted", drift_words(why, arena));
    if (why->expires)
        add(telling, why->expires_unix_s <= telling->now_unix_s ? "expired" : "expires",
            arena_printf(arena, "it %s on %.*s UTC, whatever blocks it",
                         why->expires_unix_s <= telling->now_unix_s ? "expired" : "expires",
                         TEXT_ARGS(window_time_text(why->expires_unix_s, arena))));
}

static struct text consolidation_words(const struct why_node *why, struct arena *arena)
{
    struct text after = why->consolidate_after;
    int64_t after_s = 0;
    switch (why->consolidation) {
    case WHY_CONSOLIDATABLE:
        return why->moving_count == 0
                   ? TEXT("it is empty for long enough: Karpenter removes it")
                   : TEXT("Karpenter removes or replaces it if its pods fit elsewhere for less");
    case WHY_CONSOLIDATION_OFF:
        return TEXT("its NodePool consolidates no nodes");
    case WHY_CONSOLIDATED_WHEN_EMPTY:
        return TEXT("its NodePool consolidates empty nodes only (consolidationPolicy: WhenEmpty)");
    case WHY_CONSOLIDATION_WAITS:
        if (!duration_parse(after, &after_s) || after_s == 0)
            return TEXT("Karpenter has not found it consolidatable yet");
        return arena_printf(arena,
                            "it is not consolidated before consolidateAfter (%.*s) has passed "
                            "since a pod came or went",
                            TEXT_ARGS(after));
    case WHY_CONSOLIDATION_UNKNOWN:
        break;
    }
    return TEXT("");
}

static void tell_blocks(struct why_telling *telling)
{
    const struct disruption_node *node = forecast_of(telling->why);
    struct arena *arena = telling->arena;
    for (size_t i = 0; i < node->block_count; i++) {
        const struct disruption_block *block = &node->blocks[i];
        struct why_point *point = LIST_PUSH(arena, &telling->points);
        point->kind = "blocked";
        point->by = disruption_block_text(block, arena);
        point->owner = block->owner;
        if (block->pod == NULL) {
            point->message = point->by;
            continue;
        }
        point->pod = object_title(block->pod, arena);
        point->message = block_text(block->pod, point->owner, point->by, arena);
        if (node->waits)
            point->message = arena_printf(arena,
                                          "%.*s, which blocks consolidation only: its "
                                          "terminationGracePeriod lets drift begin",
                                          TEXT_ARGS(point->message));
    }
    if (node->block_total > node->block_count)
        add(telling, "blocked",
            arena_printf(arena, "%zu more", node->block_total - node->block_count));
}

static struct text budget_words(const struct why_telling *telling)
{
    const struct disruption_pool *pool = telling->pool;
    struct arena *arena = telling->arena;
    if (pool == NULL || pool->object == NULL)
        return TEXT("");
    if (pool->unreadable)
        return TEXT("a budget of its NodePool cannot be read, so none of its nodes goes");
    if (pool->windows == WINDOW_NEVER)
        return TEXT("the budgets of its NodePool never let a node go");
    if (pool->windows == WINDOW_FOUND && pool->window.open_unix_s > telling->now_unix_s)
        return arena_printf(arena, "the budgets of its NodePool let no node go before %.*s UTC",
                            TEXT_ARGS(window_time_text(pool->window.open_unix_s, arena)));
    if (pool->allowed >= BUDGETS_UNLIMITED)
        return TEXT("");
    if (pool->allowed == 0)
        return TEXT("the budgets of its NodePool let no node go now");
    struct text words =
        arena_printf(arena, "the budgets of its NodePool let %lld node%s go at once",
                     (long long)pool->allowed, plural_s((size_t)pool->allowed));
    return pool->disrupted == 0
               ? words
               : arena_printf(arena, "%.*s, and %zu %s going or not ready", TEXT_ARGS(words),
                              pool->disrupted, pool->disrupted == 1 ? "is" : "are");
}

static void tell_all(struct why_telling *telling)
{
    tell_pods(telling);
    tell_intent(telling);
    struct text consolidation = consolidation_words(telling->why, telling->arena);
    if (consolidation.size > 0)
        add(telling, "consolidation", consolidation);
    tell_blocks(telling);
    struct text budgets = budget_words(telling);
    if (budgets.size > 0)
        add(telling, "budgets", budgets);
}

/* ---- the verdict ---- */

static struct text verdict(const struct why_telling *telling)
{
    const struct why_node *why = telling->why;
    const struct disruption_node *node = forecast_of(why);
    if (why->expires && why->expires_unix_s <= telling->now_unix_s)
        return TEXT("has expired and goes, whatever blocks it");
    if (node->leaving)
        return TEXT("is going already");
    if (telling->pool == NULL)
        return TEXT("is none of Karpenter's, which leaves it alone");
    if (!why->wanted)
        return TEXT("stays");
    if (node->blocked)
        return arena_printf(telling->arena, "is to go, and %zu thing%s block%s it",
                            node->block_total, plural_s(node->block_total),
                            node->block_total == 1 ? "s" : "");
    return telling->disruptable ? TEXT("may go now")
                                : TEXT("is to go, and waits for the budgets of its NodePool");
}

/* " of NodePool general (m5.large, spot, eu-west-1a)" */
static struct text place_words(const struct why_node *why, struct arena *arena)
{
    struct text_builder words = {.arena = arena}, inner = {.arena = arena};
    const struct text parts[] = {why->instance_type, why->capacity_type, why->zone};
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (parts[i].size > 0)
            text_builder_printf(&inner, "%s%.*s", inner.size == 0 ? "" : ", ", TEXT_ARGS(parts[i]));
    if (why->pool.size > 0)
        text_builder_printf(&words, " of NodePool %.*s", TEXT_ARGS(why->pool));
    if (inner.size > 0)
        text_builder_printf(&words, " (%.*s)", TEXT_ARGS(text_builder_text(&inner)));
    return words.size == 0 ? TEXT("") : text_builder_text(&words);
}

/* ---- text ---- */

static void put_text(const struct why_telling *telling, const struct report_style *style, FILE *out)
{
    enum { INDENT = 4 };
    const struct why_node *why = telling->why;
    size_t columns = page_columns(style);
    fputs(style->colour ? "\033[1m" : "", out);
    put_wrapped(arena_printf(telling->arena, "Node %.*s%.*s %.*s.", TEXT_ARGS(why->name),
                             TEXT_ARGS(place_words(why, telling->arena)),
                             TEXT_ARGS(verdict(telling))),
                0, 0, columns, out);
    fputs(style->colour ? "\033[0m" : "", out);
    FOR_EACH(point, &telling->points) {
        bool blocks = strcmp(point->kind, "blocked") == 0;
        fprintf(out, "  %s", style->colour && blocks ? "\033[31m" : "");
        put_wrapped(blocks
                        ? arena_printf(telling->arena, "blocked: %.*s", TEXT_ARGS(point->message))
                        : point->message,
                    2, INDENT, columns, out);
        fputs(style->colour && blocks ? "\033[0m" : "", out);
    }
}

bool report_why_node_write(int format, const struct why_node *why, int64_t now_unix_s,
                           const struct report_style *style, struct arena *arena, FILE *out,
                           struct error *error)
{
    enum { FORMAT_JSON = 1 };
    struct why_telling telling = {
        .why = why, .pool = pool_of(why), .now_unix_s = now_unix_s, .arena = arena};
    telling.has_room = has_room(telling.pool);
    telling.disruptable = !forecast_of(why)->blocked && telling.has_room;
    tell_all(&telling);
    if (format == FORMAT_JSON)
        return why_node_json(&telling, out, error);
    put_text(&telling, style, out);
    return true;
}
