/* Why a pod is where it is, and why a Node is there, as JSON. */
#include <json-c/json.h>

#include "report/why_format.h"
#include "simulation/why_node.h"
#include "simulation/why_pod.h"

/* ---- a pod ---- */

static const char *const state_names[] = {
    [WHY_POD_PENDING] = "pending",     [WHY_POD_RUNS] = "running",
    [WHY_POD_GATED] = "gated",         [WHY_POD_LEAVING] = "leaving",
    [WHY_POD_PREEMPTS] = "preempting", [WHY_POD_ON_FARGATE] = "fargate",
    [WHY_POD_DONE] = "done",
};

static struct text text_or_empty(struct text t)
{
    return t.data == NULL ? TEXT("") : t;
}

/* null: it is not decided. */
static struct json_object *json_of_fit(enum why_fit fit)
{
    return fit == WHY_UNDECIDED ? NULL : json_object_new_boolean(fit == WHY_FITS);
}

static struct json_object *json_of_pool(const struct why_pool *pool)
{
    struct json_object *json = json_object_new_object();
    json_add_text(json, "name", pool->name);
    json_object_object_add(json, "fits", json_of_fit(pool->fit));
    json_add_string(json, "kind", pool->kind);
    json_add_text(json, "message", text_or_empty(pool->message));
    json_add_text(json, "nearest", text_or_empty(pool->nearest));
    json_add_text(json, "fix", text_or_empty(pool->fix));
    if (pool->fit == WHY_FITS) {
        json_add_text(json, "instanceType", text_or_empty(pool->instance_type));
        json_add_text(json, "zone", text_or_empty(pool->zone));
        json_add_text(json, "capacityType", text_or_empty(pool->capacity_type));
        json_add_usd(json, "usdPerHour", pool->usd_micro_per_hour);
        if (pool->price_of.size > 0)
            json_add_text(json, "priceOf", pool->price_of);
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

bool why_pod_json(const struct why_pod *why, struct arena *arena, FILE *out, struct error *error)
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
    json_add_text_or_null(root, "node", why->node);
    json_add_text_or_null(root, "owner", why->owner);
    json_add_text(root, "waitsFor", text_or_empty(why->waits));
    json_object_object_add(root, "nodePools", pools);
    json_object_object_add(root, "nodes", json_of_nodes(why));
    json_object_object_add(root, "prices",
                           why->catalog != NULL ? json_of_prices(why->catalog) : NULL);
    json_add_text(root, "fix", text_or_empty(why->fix));
    json_add_count(root, "pendingBeside", why->pending_beside);
    return json_write(root, arena, out, error);
}

/* ---- a Node ---- */

static struct json_object *json_of_point(const struct why_point *point)
{
    struct json_object *json = json_object_new_object();
    json_add_string(json, "kind", point->kind);
    json_add_text(json, "message", point->message);
    if (point->by.size > 0) {
        json_add_text_or_null(json, "pod", point->pod);
        json_add_text(json, "by", point->by);
        json_add_text_or_null(json, "owner", point->owner);
    }
    return json;
}

/* names: "namespace/name" of each */
static struct json_object *json_of_pods(const struct why_node *why, const struct text *names)
{
    struct json_object *pods = json_object_new_array();
    for (size_t i = 0; i < why->pod_count; i++) {
        struct json_object *json = json_object_new_object();
        json_add_text(json, "pod", names[i]);
        json_add_text(json, "owner", why->pods[i].owner);
        json_object_object_add(json, "moves", json_object_new_boolean(why->pods[i].moves));
        json_object_array_add(pods, json);
    }
    return pods;
}

static void add_place(struct json_object *root, const struct why_node *why)
{
    json_add_text(root, "node", why->name);
    json_add_text_or_null(root, "nodeClaim", why->claim);
    json_add_text_or_null(root, "nodePool", why->pool);
    json_add_text_or_null(root, "instanceType", why->instance_type);
    json_add_text_or_null(root, "zone", why->zone);
    json_add_text_or_null(root, "capacityType", why->capacity_type);
}

/* Whether it is to go; null: it cannot be known. */
static void add_intent(struct json_object *root, const struct why_telling *telling,
                       struct text expires)
{
    const struct why_node *why = telling->why;
    json_object_object_add(root, "empty", json_object_new_boolean(why->moving_count == 0));
    json_object_object_add(root, "drifted",
                           why->drifted ? json_of_text(text_or_empty(why->drift)) : NULL);
    json_add_text_or_null(root, "driftedField", why->drift_path);
    json_add_text_or_null(root, "expires", expires);
    json_object_object_add(root, "consolidatable",
                           why->consolidation == WHY_CONSOLIDATION_UNKNOWN
                               ? NULL
                               : json_object_new_boolean(why->consolidation == WHY_CONSOLIDATABLE));
    json_object_object_add(root, "wanted", json_object_new_boolean(why->wanted));
    json_object_object_add(
        root, "disruptable",
        why->forecast.unseen != 0 ? NULL : json_object_new_boolean(telling->disruptable));
}

bool why_node_json(const struct why_telling *telling, FILE *out, struct error *error)
{
    const struct why_node *why = telling->why;
    const struct disruption_pool *pool = telling->pool;
    struct arena *arena = telling->arena;
    struct text *names = ARENA_ARRAY(arena, why->pod_count, struct text);
    for (size_t i = 0; i < why->pod_count; i++)
        names[i] = arena_printf(arena, "%.*s/%.*s", TEXT_ARGS(why->pods[i].namespace),
                                TEXT_ARGS(why->pods[i].name));
    struct text expires = why->expires ? time_rfc3339(why->expires_unix_s, arena) : TEXT("");
    /* Of a window that is open and used up nobody knows when a node goes again. */
    bool known = pool != NULL && pool->windows == WINDOW_FOUND && !pool->unreadable &&
                 (telling->has_room || pool->window.open_unix_s > telling->now_unix_s);
    struct text window = known ? time_rfc3339(pool->window.open_unix_s, arena) : TEXT("");
    struct json_object *root = json_object_new_object(), *reasons = json_object_new_array();
    FOR_EACH(point, &telling->points)
        json_object_array_add(reasons, json_of_point(point));
    json_add_string(root, "schema", "taffrail.dev/why/v1");
    add_place(root, why);
    json_object_object_add(root, "pods", json_of_pods(why, names));
    add_intent(root, telling, expires);
    json_object_object_add(root, "reasons", reasons);
    json_add_text_or_null(root, "nextWindow", window);
    return json_write(root, arena, out, error);
}
