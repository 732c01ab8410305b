/* Why a pod is where it is, as text and as JSON. */
#include <json-c/json.h>

#include "report/plan.h"
#include "report/why.h"
#include "simulation/why_pod.h"

const char *const report_why_format_names[] = {"text", "json", NULL};

static const char *const state_names[] = {
    [WHY_POD_PENDING] = "pending", [WHY_POD_RUNS] = "running", [WHY_POD_GATED] = "gated",
    [WHY_POD_LEAVING] = "leaving", [WHY_POD_DONE] = "done",
};

static struct text text_or_empty(struct text t)
{
    return t.data == NULL ? TEXT("") : t;
}

/* ---- sentences ---- */

/* "m5.large, on-demand in eu-west-1a, for $0.0960 an hour" */
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
    return text_builder_text(&words);
}

/* "7 of 40 take it: a, b, c, ..." */
static struct text nodes_words(const struct why_pod *why, struct arena *arena)
{
    struct text names = TEXT("");
    size_t named = why->node_fit < WHY_NODES_NAMED ? why->node_fit : WHY_NODES_NAMED;
    if (why->node_total == 0)
        return TEXT("there are none");
    if (why->node_total == 1)
        return why->node_fit == 0 ? TEXT("the only one does not take it")
                                  : arena_printf(arena, "the only one takes it: %.*s",
                                                 TEXT_ARGS(why->node_names[0]));
    if (why->node_fit == 0)
        return arena_printf(arena, "none of %zu takes it", why->node_total);
    for (size_t i = 0; i < named; i++)
        names = arena_printf(arena, "%.*s%s%.*s", TEXT_ARGS(names), i == 0 ? "" : ", ",
                             TEXT_ARGS(why->node_names[i]));
    return arena_printf(arena, "%zu of %zu take%s it: %.*s%s", why->node_fit, why->node_total,
                        why->node_fit == 1 ? "s" : "", TEXT_ARGS(names),
                        named < why->node_fit ? ", ..." : "");
}

static const struct why_pool *pool_that_fits(const struct why_pod *why)
{
    return why->pool_count > 0 && why->pools[0].fit == WHY_FITS ? &why->pools[0] : NULL;
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
    if (why->state == WHY_POD_GATED)
        return arena_printf(arena, "waits for %.*s", TEXT_ARGS(why->waits));
    if (why->fit == WHY_UNDECIDED)
        return TEXT("may fit: what decides cannot be seen");
    if (why->fit == WHY_FITS_NOT)
        return TEXT("fits nowhere");
    if (why->node.size > 0)
        return arena_printf(arena, "goes to node %.*s", TEXT_ARGS(why->node));
    if (why->node_fit > 0)
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

static void put_pool(const struct page *page, const struct why_pool *pool)
{
    enum { INDENT = 6 };
    struct text said =
        pool->fit == WHY_FITS ? arena_printf(page->arena, "fits, and buys %.*s",
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
        struct text line = arena_printf(page->arena, "%zu %.*s", why->causes[i].count,
                                        TEXT_ARGS(why->causes[i].message));
        fprintf(page->out, "%*s", INDENT, "");
        put_wrapped(line, INDENT, INDENT, page->columns, page->out);
    }
    if (rest > 0)
        fprintf(page->out, "%*s%zu for other reasons\n", INDENT, "", rest);
    put_nearest(page, why->nodes_nearest);
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
        put_pool(page, &why->pools[i]);
    put_nodes(page, why);
    if (why->fix.size == 0)
        return;
    fprintf(page->out, "%sfix:%s ", page->green, page->plain);
    put_wrapped(why->fix, sizeof "fix:", 0, page->columns, page->out);
}

/* ---- JSON ---- */

/* null: it is not decided. */
static struct json_object *json_of_fit(enum why_fit fit)
{
    return fit == WHY_UNDECIDED ? NULL : json_object_new_boolean(fit == WHY_FITS);
}

static struct json_object *json_of_kind(const char *kind)
{
    return kind == NULL ? NULL : json_object_new_string(kind);
}

static struct json_object *json_of_pool(const struct why_pool *pool)
{
    struct json_object *json = json_object_new_object();
    json_add_text(json, "name", pool->name);
    json_object_object_add(json, "fits", json_of_fit(pool->fit));
    json_object_object_add(json, "kind", json_of_kind(pool->kind));
    json_add_text(json, "message", text_or_empty(pool->message));
    json_add_text(json, "nearest", text_or_empty(pool->nearest));
    json_add_text(json, "fix", text_or_empty(pool->fix));
    if (pool->fit == WHY_FITS) {
        json_add_text(json, "instanceType", text_or_empty(pool->instance_type));
        json_add_text(json, "zone", text_or_empty(pool->zone));
        json_add_text(json, "capacityType", text_or_empty(pool->capacity_type));
        json_add_usd(json, "usdPerHour", pool->usd_micro_per_hour);
    }
    return json;
}

static struct json_object *json_of_nodes(const struct why_pod *why)
{
    struct json_object *json = json_object_new_object();
    struct json_object *reasons = json_object_new_array(), *names = json_object_new_array();
    for (size_t i = 0; i < why->cause_count; i++) {
        struct json_object *cause = json_object_new_object();
        json_add_count(cause, "count", why->causes[i].count);
        json_add_string(cause, "kind", why->causes[i].kind);
        json_add_text(cause, "message", why->causes[i].message);
        json_object_array_add(reasons, cause);
    }
    for (size_t i = 0; i < why->node_fit && i < WHY_NODES_NAMED; i++)
        json_object_array_add(names, json_of_text(why->node_names[i]));
    json_add_count(json, "total", why->node_total);
    json_add_count(json, "fit", why->node_fit);
    json_object_object_add(json, "names", names);
    json_object_object_add(json, "reasons", reasons);
    json_add_text(json, "nearest", text_or_empty(why->nodes_nearest));
    return json;
}

static bool put_json(const struct why_pod *why, struct arena *arena, FILE *out, struct error *error)
{
    struct text pod =
        arena_printf(arena, "%.*s/%.*s", TEXT_ARGS(why->namespace), TEXT_ARGS(why->name));
    struct json_object *root = json_object_new_object(), *pools = json_object_new_array();
    for (size_t i = 0; i < why->pool_count; i++)
        json_object_array_add(pools, json_of_pool(&why->pools[i]));
    json_add_string(root, "schema", "taffrail.dev/why/v1");
    json_add_text(root, "pod", pod);
    json_object_object_add(root, "fits", json_of_fit(why->fit));
    json_add_string(root, "state", state_names[why->state]);
    json_object_object_add(root, "node", why->node.size == 0 ? NULL : json_of_text(why->node));
    json_object_object_add(root, "owner", why->owner.size == 0 ? NULL : json_of_text(why->owner));
    json_add_text(root, "waitsFor", text_or_empty(why->waits));
    json_object_object_add(root, "nodePools", pools);
    json_object_object_add(root, "nodes", json_of_nodes(why));
    json_add_text(root, "fix", text_or_empty(why->fix));
    json_add_count(root, "pendingBeside", why->pending_beside);
    return json_write(root, arena, out, error);
}

bool report_why_pod_write(int format, const struct why_pod *why, const struct report_style *style,
                          struct arena *arena, FILE *out, struct error *error)
{
    enum { FORMAT_JSON = 1 };
    if (format == FORMAT_JSON)
        return put_json(why, arena, out, error);
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
