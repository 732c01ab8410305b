/* A plan as JSON. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "kube/kind.h"
#include "report/plan.h"
#include "simulation/drill.h"
#include "simulation/simulation.h"

/* ---- work that needs the arena, before json-c is held ---- */

static struct text_list sorted(const struct text *items, size_t count, struct arena *arena)
{
    struct text_list copy = {ARENA_ARRAY(arena, count, struct text), count, count};
    for (size_t i = 0; i < count; i++)
        copy.items[i] = items[i];
    texts_sort(copy.items, count);
    return copy;
}

struct json_node {
    const struct simulation_node *node;
    struct text_list pods, misplaced, types;
};
struct json_misfit {
    struct text pod;
    const struct simulation_unschedulable *from;
};
struct material {
    const struct plan *plan;
    const struct text *pods; /* "namespace/name" of each */
    struct json_node *nodes;
    struct json_misfit *misfits, *undecided;
};

/* "namespace/name" of each pod of a node; for a Node only of those that were pending. */
static struct text_list pods_of(const struct plan *plan, const struct plan_node *node,
                                const struct text *names, struct arena *arena)
{
    struct text_list pods = {ARENA_ARRAY(arena, node->node->pod_count, struct text), 0, 0};
    for (size_t i = 0; i < node->node->pod_count; i++) {
        size_t pod = node->node->pods[i];
        if (!plan->simulation->pods[pod].running)
            pods.items[pods.count++] = names[pod];
    }
    return sorted(pods.items, pods.count, arena);
}

static struct text_list misplaced_of(const struct simulation_node *node, const struct text *names,
                                     struct arena *arena)
{
    struct text *pods = ARENA_ARRAY(arena, node->misplaced_count, struct text);
    for (size_t i = 0; i < node->misplaced_count; i++)
        pods[i] = names[node->misplaced[i]];
    return sorted(pods, node->misplaced_count, arena);
}

static int compare_misfits(const void *a, const void *b)
{
    return text_compare(((const struct json_misfit *)a)->pod, ((const struct json_misfit *)b)->pod);
}

static struct json_misfit *name_misfits(const struct simulation_unschedulable *pods, size_t count,
                                        const struct text *names, struct arena *arena)
{
    struct json_misfit *misfits = ARENA_ARRAY(arena, count, struct json_misfit);
    for (size_t i = 0; i < count; i++)
        misfits[i] = (struct json_misfit){names[pods[i].pod], &pods[i]};
    if (count > 0)
        qsort(misfits, count, sizeof *misfits, compare_misfits);
    return misfits;
}

static struct material gather(const struct plan *plan, struct arena *arena)
{
    const struct simulation *simulation = plan->simulation;
    struct material material = {
        .plan = plan,
        .nodes = ARENA_ARRAY(arena, plan->nodes.count, struct json_node),
    };
    struct text *names = ARENA_ARRAY(arena, simulation->pod_count, struct text);
    for (size_t i = 0; i < simulation->pod_count; i++)
        names[i] = arena_printf(arena, "%.*s/%.*s", TEXT_ARGS(simulation->pods[i].namespace),
                                TEXT_ARGS(simulation->pods[i].name));
    material.pods = names;
    for (size_t i = 0; i < plan->nodes.count; i++) {
        const struct plan_node *node = &plan->nodes.items[i];
        material.nodes[i].node = node->node;
        material.nodes[i].pods = pods_of(plan, node, names, arena);
        material.nodes[i].misplaced = misplaced_of(node->node, names, arena);
        material.nodes[i].types =
            sorted(node->node->instance_types, node->node->instance_type_count, arena);
    }
    material.misfits =
        name_misfits(simulation->unschedulable, simulation->unschedulable_count, names, arena);
    material.undecided =
        name_misfits(simulation->undecided, simulation->undecided_count, names, arena);
    return material;
}

/* ---- JSON ---- */

static struct json_object *json_of_existing(const struct json_node *node)
{
    struct json_object *json = json_object_new_object();
    json_add_text(json, "node", node->node->name);
    json_add_texts(json, "pods", node->pods.items, node->pods.count);
    return json;
}

static struct json_object *json_of_requirements(const struct simulation_node *node)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < node->requirement_count; i++) {
        const struct simulation_requirement *requirement = &node->requirements[i];
        struct json_object *json = json_object_new_object();
        json_add_text(json, "key", requirement->key);
        json_add_string(json, "operator", solver_op_name(requirement->op));
        json_add_texts(json, "values", requirement->values, requirement->value_count);
        json_object_array_add(list, json);
    }
    return list;
}

static struct json_object *json_of_claim(const struct json_node *claim)
{
    const struct simulation_node *node = claim->node;
    struct json_object *json = json_object_new_object();
    json_add_text(json, "nodePool", node->node_pool);
    json_add_text(json, "zone", node->zone);
    json_add_text(json, "capacityType", node->capacity_type);
    json_add_text(json, "instanceType", node->instance_type);
    json_add_texts(json, "instanceTypes", claim->types.items, claim->types.count);
    json_add_texts(json, "zones", node->zones, node->zone_count);
    json_add_usd(json, "usdPerHour", node->usd_micro_per_hour);
    if (node->price_of.size > 0)
        json_add_text(json, "priceOf", node->price_of);
    json_object_object_add(json, "requirements", json_of_requirements(node));
    json_add_texts(json, "pods", claim->pods.items, claim->pods.count);
    if (claim->misplaced.count > 0)
        json_add_texts(json, "inVainFor", claim->misplaced.items, claim->misplaced.count);
    return json;
}

static struct json_object *json_of_misfit(const struct json_misfit *misfit)
{
    struct json_object *reasons = json_object_new_array();
    for (size_t i = 0; i < misfit->from->reason_count; i++) {
        const struct simulation_reason *reason = &misfit->from->reasons[i];
        struct json_object *json = json_object_new_object();
        bool any_pool = reason->node_pool.size == 0;
        json_object_object_add(json, "nodePool", any_pool ? NULL : json_of_text(reason->node_pool));
        json_add_string(json, "kind", reason->kind);
        json_add_text(json, "message", reason->message);
        json_add_text(json, "nearest", reason->nearest.data == NULL ? TEXT("") : reason->nearest);
        json_object_array_add(reasons, json);
    }
    struct json_object *json = json_object_new_object();
    json_add_text(json, "pod", misfit->pod);
    json_object_object_add(json, "reasons", reasons);
    return json;
}

static struct json_object *json_of_misfits(const struct json_misfit *misfits, size_t count)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < count; i++)
        json_object_array_add(list, json_of_misfit(&misfits[i]));
    return list;
}

/* null: none of the claims has a known price. */
static void add_usd_of_claims(struct json_object *json, const char *key,
                              const struct simulation *simulation)
{
    json_add_usd(json, key, plan_is_priced(simulation) ? simulation->usd_micro_per_hour : -1);
}

/* The saving of --optimize. It is negative for a plan that costs more because it places more. */
static struct json_object *json_of_saved(const struct plan *plan)
{
    struct plan_saved saved = plan_saved(plan);
    struct json_object *json = json_object_new_object();
    char percent[32];
    snprintf(percent, sizeof percent, "%.1f", saved.percent);
    add_usd_of_claims(json, "usdPerHour", plan->simulation);
    add_usd_of_claims(json, "compatUsdPerHour", plan->compat);
    json_object_object_add(json, "savedUsdPerHour",
                           saved.known ? json_of_usd(saved.usd_micro_per_hour) : NULL);
    json_object_object_add(json, "savedPercent",
                           saved.known ? json_object_new_double_s(saved.percent, percent) : NULL);
    json_add_count(json, "claims", plan->simulation->claim_count);
    json_add_count(json, "compatClaims", plan->compat->claim_count);
    json_object_object_add(json, "cutShort", json_object_new_boolean(plan->simulation->cut_short));
    json_add_count(json, "unschedulable", plan->simulation->unschedulable_count);
    json_add_count(json, "compatUnschedulable", plan->compat->unschedulable_count);
    return json;
}

/* ---- a drill ---- */

static struct json_object *json_of_workload(const struct drilled_workload *workload)
{
    struct json_object *json = json_object_new_object();
    json_add_string(json, "kind", kind_table[workload->kind].name);
    json_add_text(json, "namespace", workload->namespace);
    json_add_text(json, "name", workload->name);
    json_object_object_add(json, "replicas", json_object_new_int64(workload->replicas));
    json_object_object_add(json, "replicasBefore", json_object_new_int64(workload->before));
    return json;
}

static struct json_object *json_of_disk(const struct material *material,
                                        const struct drilled_disk *disk)
{
    struct json_object *json = json_object_new_object();
    json_add_text(json, "pod", material->pods[disk->pod]);
    json_add_text(json, "claim", disk->claim);
    json_add_text(json, "place", disk->place);
    return json;
}

static struct json_object *json_of_plan_without(const struct simulation *without)
{
    struct json_object *json = json_object_new_object();
    json_add_count(json, "claims", without->claim_count);
    add_usd_of_claims(json, "usdPerHour", without);
    json_add_count(json, "unschedulable", without->unschedulable_count);
    return json;
}

static struct json_object *json_of_drill(const struct material *material)
{
    const struct drilled *drilled = material->plan->simulation->drilled;
    const struct drill *drill = drilled->drill;
    struct json_object *json = json_object_new_object();
    struct json_object *scaled = json_object_new_array();
    struct json_object *disks = json_object_new_array();
    json_add_texts(json, "withoutZones", drill->zones.items, drill->zones.count);
    json_add_texts(json, "withoutNodePools", drill->pools.items, drill->pools.count);
    json_add_texts(json, "soldOut", drill->sold_out.items, drill->sold_out.count);
    for (size_t i = 0; i < drilled->workload_count; i++)
        json_object_array_add(scaled, json_of_workload(&drilled->workloads[i]));
    json_object_object_add(json, "scaled", scaled);
    json_add_count(json, "nodesLost", drilled->node_count);
    bool priced = drilled->node_count == 0 || drilled->unpriced_count < drilled->node_count;
    json_add_usd(json, "usdPerHourLost", priced ? drilled->usd_micro_per_hour : -1);
    json_add_count(json, "nodesLostUnpriced", drilled->unpriced_count);
    json_add_count(json, "podsMoved", drilled->moved_count);
    json_add_texts(json, "podsGone", drilled->gone.items, drilled->gone.count);
    for (size_t i = 0; i < drilled->disk_count; i++)
        json_object_array_add(disks, json_of_disk(material, &drilled->disks[i]));
    json_object_object_add(json, "stranded", disks);
    if (drilled->without != NULL)
        json_object_object_add(json, "withoutDrill", json_of_plan_without(drilled->without));
    return json;
}

bool plan_json(const struct plan *plan, const struct report_style *style, struct arena *arena,
               FILE *out, struct error *error)
{
    (void)style;
    const struct material material = gather(plan, arena);
    const struct simulation *simulation = plan->simulation;
    struct json_object *existing = json_object_new_array();
    struct json_object *claims = json_object_new_array();
    for (size_t i = 0; i < plan->nodes.count; i++) {
        if (plan->nodes.items[i].bought)
            json_object_array_add(claims, json_of_claim(&material.nodes[i]));
        else if (plan->nodes.items[i].pending_count > 0)
            json_object_array_add(existing, json_of_existing(&material.nodes[i]));
    }
    struct json_object *root = json_object_new_object();
    json_add_string(root, "schema", "taffrail.dev/plan/v1");
    json_object_object_add(root, "existing", existing);
    json_object_object_add(root, "claims", claims);
    json_object_object_add(root, "unschedulable",
                           json_of_misfits(material.misfits, simulation->unschedulable_count));
    json_object_object_add(root, "undecided",
                           json_of_misfits(material.undecided, simulation->undecided_count));
    add_usd_of_claims(root, "usdPerHour", simulation);
    json_object_object_add(
        root, "prices", simulation->catalog != NULL ? json_of_prices(simulation->catalog) : NULL);
    json_add_texts(root, "unlaunched", simulation->unlaunched, simulation->unlaunched_count);
    json_add_count(root, "rounds", simulation->round_count);
    if (simulation->drilled != NULL)
        json_object_object_add(root, "drill", json_of_drill(&material));
    if (plan->compat != NULL)
        json_object_object_add(root, "optimize", json_of_saved(plan));
    return json_write(root, arena, out, error);
}
