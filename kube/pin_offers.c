/* Where the solver could place the pods of each StatefulSet: asked once a snapshot. */
#include "kube/forecast.h"
#include "kube/pin.h"

struct offer {
    const struct object *set;
    struct zones zones;
};
struct pin_offers {
    struct offer *items; /* as the snapshot orders sets */
    size_t count;
};

struct asking {
    const struct snapshot *snapshot;
    const struct solver_problem *problem;
    struct solver_run *run;
    struct arena *arena;
};

static struct solver_amounts amounts_of(const struct named_amounts *amounts,
                                        const struct asking *asking)
{
    struct solver_amount *items = ARENA_ARRAY(asking->arena, amounts->count, struct solver_amount);
    for (size_t i = 0; i < amounts->count; i++)
        items[i] = (struct solver_amount){
            .resource = solver_problem_resource(asking->problem, amounts->items[i].resource),
            .quantity = amounts->items[i].quantity,
        };
    return (struct solver_amounts){items, amounts->count};
}

static void ask(const struct asking *asking, struct offer *offer)
{
    struct arena *arena = asking->arena;
    struct shape_source source = {.namespace = offer->set->namespace};
    struct pod_shape shape;
    struct solver_zones answer;
    if (!workload_read(offer->set, arena, &source.workload))
        return;
    pod_shape_read(asking->snapshot, &source, arena, &shape);
    if (shape.fault.message.size > 0)
        return;
    struct solver_shape asked = shape.solver;
    asked.requests = amounts_of(&shape.requests, asking);
    struct solver_question question = {.shape = &asked};
    if (!solver_query_zones(asking->run, &question, arena, &answer, NULL))
        return;
    for (size_t i = 0; i < answer.count; i++)
        zones_add(&offer->zones, text_of(answer.items[i]), arena);
}

static bool makes_claims(const struct object *set)
{
    return node_count(node_at(set->root->node, "spec.volumeClaimTemplates")) > 0;
}

const struct pin_offers *pin_offers_create(const struct snapshot *snapshot,
                                           const struct catalog *catalog, struct arena *arena)
{
    size_t most = snapshot_count(snapshot, KIND_STATEFUL_SET);
    struct pin_offers *offers = ARENA_NEW(arena, struct pin_offers);
    offers->items = ARENA_ARRAY(arena, most, struct offer);
    for (size_t i = 0; i < most; i++) {
        const struct object *set = snapshot_object(snapshot, KIND_STATEFUL_SET, i);
        if (makes_claims(set))
            offers->items[offers->count++].set = set;
    }
    if (offers->count == 0)
        return offers;
    struct cluster cluster;
    struct problems problems = {.arena = arena};
    struct solver_settings settings = {0};
    struct error error;
    cluster_read(snapshot, catalog, arena, &cluster, &problems);
    if (!cluster_problem(&cluster, &settings, &error))
        return NULL;
    struct asking asking = {snapshot, cluster.problem, solver_run_create(cluster.problem, arena),
                            arena};
    for (size_t i = 0; i < offers->count; i++)
        ask(&asking, &offers->items[i]);
    return offers;
}

const struct zones *pin_offers_find(const struct pin_offers *offers, const struct object *set)
{
    size_t low = 0;
    size_t high = offers == NULL || set == NULL ? 0 : offers->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct offer *offer = &offers->items[middle];
        int order = text_compare(offer->set->namespace, set->namespace);
        if (order == 0)
            order = text_compare(offer->set->name, set->name);
        if (order == 0)
            return offer->zones.count > 0 ? &offer->zones : NULL;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
