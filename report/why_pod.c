/* Why a pod is where it is, as text. */
#include "report/why_format.h"

#include "report/plan.h"
#include "simulation/why_pod.h"

const char *const report_why_format_names[] = {"text", "json", NULL};

/* ---- sentences ---- */

/* "m5.large, spot in eu-west-1a, for $0.0960 an hour as on-demand" */
static struct text offer_words(const struct why_pool *pool, struct arena *arena)
{
    struct text_builder words = {.arena = arena};
    text_builder_add(&words, pool->instance_type);
    if (pool->capacity_type.size > 0 || pool->zone.size > 0)
        text_builder_printf(&words, ", %.*s%s%.*s", TEXT_ARGS(pool->capacity_type),
                            pool->zone.size > 0 ? " in " : "", TEXT_ARGS(pool->zone));
    if (pool->usd_micro_per_hour >= 0)
        text_builder_printf(&words, ", for $%.*s an hour",
                            TEXT_ARGS(plan_price(pool->usd_micro_per_hour, arena)));
    if (pool->usd_micro_per_hour >= 0 && pool->price_of.size > 0)
        text_builder_printf(&words, " as %.*s", TEXT_ARGS(pool->price_of));
    return text_builder_text(&words);
}

/* "7 of 40 take it: a, b, c, ..." */
static struct text nodes_words(const struct why_pod *why, struct arena *arena)
{
    size_t count = why->node_fit + why->node_may; /* of one or the other */
    size_t named = count < WHY_NODES_NAMED ? count : WHY_NODES_NAMED;
    struct text names =
        arena_printf(arena, "%.*s%s", TEXT_ARGS(texts_join(why->node_names, named, named, arena)),
                     named < count ? ", ..." : "");
    if (why->node_total == 0)
        return TEXT("there are none");
    if (why->node_may > 0)
        return arena_printf(arena, "%zu of %zu may take it: %.*s", why->node_may, why->node_total,
                            TEXT_ARGS(names));
    if (why->node_total == 1)
        return why->node_fit == 0 ? TEXT("the only one does not take it")
                                  : arena_printf(arena, "the only one takes it: %.*s",
                                                 TEXT_ARGS(why->node_names[0]));
    if (why->node_fit == 0)
        return arena_printf(arena, "none of %zu takes it", why->node_total);
    return arena_printf(arena, "%zu of %zu take%s it: %.*s", why->node_fit, why->node_total,
                        why->node_fit == 1 ? "s" : "", TEXT_ARGS(names));
}

static const struct why_pool *pool_that_fits(const struct why_pod *why)
{
    return why->pool_count > 0 && why->pools[0].fit == WHY_FITS ? &why->pools[0] : NULL;
}

/* Of a pod among others that are pending it is known where it goes: they may have taken the room
 * that there is. */
static bool fits_on_some_node(const struct why_pod *why)
{
    return why->node_fit > 0 && why->pending_beside == 0;
}

static struct text verdict_words(const struct why_pod *why, struct arena *arena)
{
    const struct why_pool *pool = pool_that_fits(why);
    if (why->state == WHY_POD_DONE)
        return TEXT("has ended, and needs no node");
    if (why->state == WHY_POD_RUNS)
        return arena_printf(arena, "is on node %.*s", TEXT_ARGS(why->node));
    if (why->state == WHY_POD_LEAVING)
        return TEXT("is being deleted");
    if (why->waits.size > 0)
        return arena_printf(arena, "waits for %.*s", TEXT_ARGS(why->waits));
    if (why->fit == WHY_UNDECIDED)
        return TEXT("may fit: what decides cannot be seen");
    if (why->fit == WHY_FITS_NOT)
        return TEXT("fits nowhere");
    if (why->node.size > 0)
        return arena_printf(arena, "goes to node %.*s", TEXT_ARGS(why->node));
    if (fits_on_some_node(why))
        return TEXT("fits on a node there is");
    return pool == NULL ? TEXT("fits")
                        : arena_printf(arena, "waits for a node: NodePool %.*s buys %.*s",
                                       TEXT_ARGS(pool->name), TEXT_ARGS(offer_words(pool, arena)));
}

/* ---- text ---- */

enum { CAUSES_SHOWN = 5 };

struct page {
    const char *bold, *red, *green, *plain;
    size_t columns;
    struct arena *arena;
    FILE *out;
};

static void put_nearest(const struct page *page, struct text nearest)
{
    enum { INDENT = 6 };
    if (nearest.size == 0)
        return;
    fprintf(page->out, "%*s%snearest:%s ", INDENT, "", page->green, page->plain);
    put_wrapped(nearest, INDENT + sizeof "nearest:", INDENT, page->columns, page->out);
}

/* Nothing is bought for a pod that waits for something else, that has a node or gets one there is.
 */
static const char *fits_words(const struct why_pod *why)
{
    bool buys = why->state == WHY_POD_PENDING && why->node.size == 0 && !fits_on_some_node(why);
    return buys ? "fits, and buys" : "would fit on";
}

static void put_pool(const struct page *page, const struct why_pod *why,
                     const struct why_pool *pool)
{
    enum { INDENT = 6 };
    struct text said =
        pool->fit == WHY_FITS ? arena_printf(page->arena, "%s %.*s", fits_words(why),
                                             TEXT_ARGS(offer_words(pool, page->arena)))
        : pool->fit == WHY_UNDECIDED
            ? arena_printf(page->arena, "not decided: %.*s", TEXT_ARGS(pool->message))
            : pool->message;
    struct text name = arena_printf(page->arena, "  NodePool %.*s: ", TEXT_ARGS(pool->name));
    fputs(pool->fit == WHY_FITS ? page->green : page->red, page->out);
    put_printable(name, page->out);
    fputs(page->plain, page->out);
    put_wrapped(said, name.size, INDENT, page->columns, page->out);
    put_nearest(page, pool->nearest);
}

static void put_nodes(const struct page *page, const struct why_pod *why)
{
    enum { INDENT = 6 };
    fputs("  Nodes: ", page->out);
    put_wrapped(nodes_words(why, page->arena), sizeof "  Nodes:", INDENT, page->columns, page->out);
    size_t rest = 0;
    for (size_t i = 0; i < why->cause_count; i++) {
        if (i >= CAUSES_SHOWN) {
            rest += why->causes[i].count;
            continue;
        }
        struct text line = why->causes[i].of_pod
                               ? why->causes[i].message
                               : arena_printf(page->arena, "%zu %.*s", why->causes[i].count,
                                              TEXT_ARGS(why->causes[i].message));
        fprintf(page->out, "%*s", INDENT, "");
        put_wrapped(line, INDENT, INDENT, page->columns, page->out);
    }
    if (rest > 0)
        fprintf(page->out, "%*s%zu for other reasons\n", INDENT, "", rest);
    put_nearest(page, why->nodes_nearest);
}

/* Whose prices those of the NodePools are. */
static void put_prices(const struct page *page, const struct why_pod *why)
{
    enum { INDENT = 6 };
    struct text_list zones = {0};
    bool of_another = false;
    for (size_t i = 0; i < why->pool_count; i++) {
        const struct why_pool *pool = &why->pools[i];
        if (pool->fit != WHY_FITS || pool->usd_micro_per_hour < 0)
            continue;
        *LIST_PUSH(page->arena, &zones) = pool->zone;
        of_another |= pool->price_of.size > 0;
    }
    if (zones.count == 0 || why->catalog == NULL)
        return;
    fputs("  Prices: ", page->out);
    put_wrapped(plan_prices_title(why->catalog, &zones, of_another, page->arena),
                sizeof "  Prices:", INDENT, page->columns, page->out);
}

static void put_pod(const struct page *page, const struct why_pod *why)
{
    struct text_builder title = {.arena = page->arena};
    text_builder_printf(&title, "Pod %.*s/%.*s", TEXT_ARGS(why->namespace), TEXT_ARGS(why->name));
    if (why->owner.size > 0)
        text_builder_printf(&title, " of %.*s", TEXT_ARGS(why->owner));
    text_builder_printf(&title, " %.*s.", TEXT_ARGS(verdict_words(why, page->arena)));
    if (why->pending_beside > 0)
        text_builder_printf(&title, " %zu other%s pending, and placed with it.",
                            why->pending_beside, why->pending_beside == 1 ? " is" : "s are");
    fputs(page->bold, page->out);
    put_wrapped(text_builder_text(&title), 0, 0, page->columns, page->out);
    fputs(page->plain, page->out);
    if (why->state == WHY_POD_DONE)
        return;
    for (size_t i = 0; i < why->pool_count; i++)
        put_pool(page, why, &why->pools[i]);
    put_nodes(page, why);
    put_prices(page, why);
    if (why->fix.size == 0)
        return;
    fprintf(page->out, "%sfix:%s ", page->green, page->plain);
    put_wrapped(why->fix, sizeof "fix:", 0, page->columns, page->out);
}

bool report_why_pod_write(int format, const struct why_pod *why, const struct report_style *style,
                          struct arena *arena, FILE *out, struct error *error)
{
    enum { FORMAT_JSON = 1 };
    if (format == FORMAT_JSON)
        return why_pod_json(why, arena, out, error);
    struct page page = {.bold = style->colour ? "\033[1m" : "",
                        .red = style->colour ? "\033[31m" : "",
                        .green = style->colour ? "\033[32m" : "",
                        .plain = style->colour ? "\033[0m" : "",
                        .columns = page_columns(style),
                        .arena = arena,
                        .out = out};
    put_pod(&page, why);
    return true;
}
