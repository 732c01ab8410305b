#include "pinning/places.h"

#include <stdatomic.h>
#include <string.h>

#include "catalog/catalog.h"
#include "kube/karpenter.h"
#include "kube/object.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "kube/to_solver.h"
#include "kube/volume.h"
#include "pinning/pin.h"
#include "simulation/cluster.h"
#include "simulation/owner.h"
#include "solver/well_known.h"

enum { PLACES_BYTES = 256 << 20 };

struct places {
    const struct solver_problem *problem;
    struct karpenter_settings settings;
    struct arena *arena; /* its own; NULL: it lies in somebody else's */
    _Atomic size_t holds;
};

/* ---- making them ---- */

static bool build(const struct snapshot *snapshot, const struct catalog *catalog,
                  struct arena *arena, struct places *places)
{
    struct solver_settings settings = karpenter_solver_settings(&places->settings);
    struct cluster cluster;
    struct problems problems = {.arena = arena};
    struct error error;
    cluster_read_supply(snapshot, catalog, arena, &cluster, &problems);
    cluster.reserved =
        (struct reserved_capacity){.off = places->settings.no_reserved_capacity, .uncounted = true};
    for (size_t i = 0; i < cluster.pool_count; i++)
        cluster.pools[i].limits = (struct named_amounts){0};
    for (size_t i = 0; i < cluster.machines.count; i++)
        cluster.machines.items[i].attach_limit_count = 0;
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_DAEMON_SET); i++)
        daemon_add(snapshot_object(snapshot, KIND_DAEMON_SET, i), NULL, arena, &cluster.daemons);
    cluster_read_daemons(&cluster, &problems);
    struct solver_builder *builder = solver_builder_create(arena);
    return cluster_add_supply(&cluster, builder, &error) &&
           cluster_add_daemons(&cluster, builder, &error) &&
           solver_build(builder, &settings, &places->problem, &error);
}

const struct places *places_create(const struct snapshot *snapshot, const struct catalog *catalog,
                                   const struct karpenter_settings *settings, struct arena *arena)
{
    struct places *places = ARENA_NEW(arena, struct places);
    if (settings != NULL)
        places->settings = *settings;
    return build(snapshot, catalog, arena, places) ? places : NULL;
}

struct making {
    const struct snapshot *snapshot;
    const struct catalog *catalog;
    const struct karpenter_settings *settings;
    struct arena *arena;
    const struct places *places;
};

static void make(void *argument)
{
    struct making *making = argument;
    struct places *places = ARENA_NEW(making->arena, struct places);
    *places = (struct places){.arena = making->arena, .holds = 1};
    if (making->settings != NULL)
        places->settings = *making->settings;
    if (build(making->snapshot, making->catalog, making->arena, places))
        making->places = places;
}

const struct places *places_make(const struct snapshot *snapshot, const struct catalog *catalog,
                                 const struct karpenter_settings *settings)
{
    struct making making = {snapshot, catalog, settings, arena_create(PLACES_BYTES), NULL};
    struct error error;
    if (making.arena == NULL)
        return NULL;
    if (!arena_guard(making.arena, make, &making, &error) || making.places == NULL) {
        arena_destroy(making.arena);
        return NULL;
    }
    return making.places;
}

/* Those that are held are their holders' to count: what they say stays. */
static struct places *counted(const struct places *places)
{
    return (struct places *)(uintptr_t)places;
}

const struct places *places_hold(const struct places *places)
{
    if (places != NULL)
        atomic_fetch_add(&counted(places)->holds, 1);
    return places;
}

void places_release(const struct places *places)
{
    if (places != NULL && atomic_fetch_sub(&counted(places)->holds, 1) == 1)
        arena_destroy(places->arena);
}

bool places_mind(const struct store_changes *changes)
{
    static const kind_set kinds = KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_PROVISIONER) |
                                  KIND_BIT(KIND_EC2_NODE_CLASS) | KIND_BIT(KIND_NODE) |
                                  KIND_BIT(KIND_NODE_CLAIM) | KIND_BIT(KIND_DAEMON_SET) |
                                  KIND_BIT(KIND_STORAGE_CLASS) | KIND_BIT(KIND_PERSISTENT_VOLUME);
    for (size_t i = 0; i < changes->count; i++)
        if ((KIND_BIT(changes->items[i].kind) & kinds) != 0)
            return true;
    return false;
}

/* ---- asking ---- */

struct asking {
    const struct places *places;
    const struct snapshot *snapshot;
    const struct catalog *catalog;
    const struct workload *workload;
    struct arena *arena;
};

/* A resource that nothing in the problem has; NULL: all are had. */
static const char *resource_of_none(const struct named_amounts *amounts,
                                    const struct asking *asking)
{
    for (size_t i = 0; i < amounts->count; i++)
        if (amounts->items[i].quantity > 0 &&
            solver_problem_resource(asking->places->problem, amounts->items[i].resource) ==
                SOLVER_NONE)
            return amounts->items[i].resource;
    return NULL;
}

static bool is_named_there(const struct asking *asking, const char *key, const char *value)
{
    const struct solver_names *names = solver_problem_names(asking->places->problem);
    size_t size = strlen(key);
    const char *canonical = solver_canonical_key(key, &size);
    uint32_t number = solver_names_find_key(names, canonical, size);
    return number != SOLVER_NONE &&
           solver_names_find_value(names, number, value, strlen(value)) != SOLVER_NONE;
}

/* Of values that nothing in the problem names one is like the other: a few stand for all. */
static struct solver_expression without_most_unknown(const struct asking *asking,
                                                     const struct solver_expression *expression)
{
    enum { VALUES_MAX = 64 };
    struct solver_expression cut = *expression;
    if (expression->value_count <= VALUES_MAX)
        return cut;
    const char **values = ARENA_ARRAY(asking->arena, expression->value_count, const char *);
    size_t unknown = 0;
    cut.values = values;
    cut.value_count = 0;
    for (size_t i = 0; i < expression->value_count; i++) {
        const char *value = expression->values[i];
        if (is_named_there(asking, expression->key, value) || unknown++ < VALUES_MAX)
            values[cut.value_count++] = value;
    }
    return cut;
}

/* Whoever writes more terms than a person does is told that the others do not count. */
static const struct solver_expressions *what_is_looked_at(const struct asking *asking,
                                                          const struct solver_expressions *terms,
                                                          size_t *count)
{
    *count = *count < PLACES_TERMS_MAX ? *count : PLACES_TERMS_MAX;
    struct solver_expressions *cut = ARENA_ARRAY(asking->arena, *count, struct solver_expressions);
    for (size_t i = 0; i < *count; i++) {
        struct solver_expression *items =
            ARENA_ARRAY(asking->arena, terms[i].count, struct solver_expression);
        for (size_t j = 0; j < terms[i].count; j++)
            items[j] = without_most_unknown(asking, &terms[i].items[j]);
        cut[i] = (struct solver_expressions){items, terms[i].count};
    }
    return cut;
}

/* A volume that is somewhere already, or will be there. */
static struct solver_volume volume_in(const struct zones *zones, struct arena *arena)
{
    const char **values = ARENA_ARRAY(arena, zones->count, const char *);
    for (size_t i = 0; i < zones->count; i++)
        values[i] = terminated(arena, zones->items[i]);
    struct solver_expression *expression = ARENA_NEW(arena, struct solver_expression);
    *expression = (struct solver_expression){
        .key = LABEL_ZONE, .op = SOLVER_IN, .values = values, .value_count = zones->count};
    struct solver_expressions *alternative = ARENA_NEW(arena, struct solver_expressions);
    *alternative = (struct solver_expressions){expression, 1};
    return (struct solver_volume){alternative, 1};
}

static void add_volumes(const struct asking *asking, struct solver_shape *shape)
{
    struct arena *arena = asking->arena;
    struct claim_names names;
    claim_names_read(asking->workload, arena, &names);
    struct solver_volume *volumes = ARENA_ARRAY(arena, names.count, struct solver_volume);
    shape->volumes = volumes;
    shape->volume_count = 0;
    for (size_t i = 0; i < names.count; i++) {
        struct claim_zones claim;
        claim_zones_read(asking->snapshot, asking->workload->object->namespace,
                         node_string(names.items[i]->node), NULL, arena, &claim);
        if (claim.hold >= CLAIM_UNBOUND && !claim.any_zone && claim.zones.count > 0)
            volumes[shape->volume_count++] = volume_in(&claim.zones, arena);
    }
}

/* To pods that ask for an extended resource the API server may add the toleration of its name
 * (ExtendedResourceToleration): a template is judged as if it did. */
static void tolerate_what_is_asked_for(const struct asking *asking,
                                       const struct named_amounts *requests,
                                       struct solver_shape *shape)
{
    struct solver_toleration *tolerations = ARENA_ARRAY(
        asking->arena, shape->toleration_count + requests->count, struct solver_toleration);
    size_t count = 0;
    for (; count < shape->toleration_count; count++)
        tolerations[count] = shape->tolerations[count];
    for (size_t i = 0; i < requests->count; i++)
        if (text_split(text_of(requests->items[i].resource), '/', NULL, NULL))
            tolerations[count++] = (struct solver_toleration){.key = requests->items[i].resource,
                                                              .exists = true,
                                                              .value = "",
                                                              .any_effect = true};
    shape->tolerations = tolerations;
    shape->toleration_count = count;
}

/* ---- pools the solver was not told of ---- */

static bool is_in_problem(const struct asking *asking, const struct pool *pool)
{
    const struct solver_problem *problem = asking->places->problem;
    for (uint32_t i = 0; i < solver_pool_count(problem); i++)
        if (text_is(pool->object->name, solver_pool_name(problem, i)))
            return pool_is_covered_by(asking->catalog, pool);
    return false;
}

static bool suits(const struct asking *asking, const struct pool *pool,
                  const struct expressions *selector, const struct node_term *term)
{
    struct arena *arena = asking->arena;
    struct solver_names *names = solver_names_create(arena, catalog_names(asking->catalog));
    struct solver_requirements of_pool = {0};
    struct solver_requirements of_pod = {0};
    struct expression_value name = {.text = pool->object->name};
    struct expression label = {.key = TEXT(LABEL_NODE_POOL),
                               .op = SOLVER_IN,
                               .valid = true,
                               .values = &name,
                               .value_count = 1};
    expressions_add(&pool->requirements, names, &of_pool, arena);
    expressions_add(&pool->labels, names, &of_pool, arena);
    expression_add(&label, names, &of_pool, arena);
    expressions_add(selector, names, &of_pod, arena);
    if (term != NULL)
        expressions_add(&term->expressions, names, &of_pod, arena);
    return solver_requirements_compatible(names, &of_pool, &of_pod, solver_is_well_known, NULL);
}

/* Pools of another cloud, those that are not ready, and those with a fixed number of nodes: whether
 * the pod fits is not known, only that nothing speaks against it. */
static bool may_suit_other_pool(const struct asking *asking)
{
    struct node_selection selection;
    struct tolerations tolerations;
    node_selection_read(asking->workload, asking->arena, &selection);
    tolerations_read(asking->workload, asking->arena, &tolerations);
    for (size_t i = 0; i < snapshot_pool_count(asking->snapshot); i++) {
        const struct pool *pool = snapshot_pool(asking->snapshot, i);
        bool open = !pool->object->deleting && !is_in_problem(asking, pool) &&
                    !(asking->places->settings.no_static_capacity && pool_is_static(pool));
        for (size_t j = 0; open && j < pool->taints.count; j++)
            open = !taint_is_hard(&pool->taints.items[j]) ||
                   tolerations_cover(&tolerations, &pool->taints.items[j]);
        if (open && selection.required.count == 0 && suits(asking, pool, &selection.selector, NULL))
            return true;
        for (size_t j = 0; open && j < selection.required.count && j < PLACES_TERMS_MAX; j++)
            if (suits(asking, pool, &selection.selector, &selection.required.items[j]))
                return true;
    }
    return false;
}

/* ---- the answer ---- */

static void take_reasons(const struct asking *asking, const struct solver_reasons *reasons,
                         const char *unknown, struct places_answer *answer)
{
    if (unknown != NULL) {
        struct places_reason *only = ARENA_NEW(asking->arena, struct places_reason);
        only->kind = SOLVER_REASON_RESOURCES;
        only->message = arena_printf(
            asking->arena, "asks for %s, which no instance type and no Node has", unknown);
        answer->reasons = only;
        answer->reason_count = 1;
        return;
    }
    struct places_reason *items = ARENA_ARRAY(asking->arena, reasons->count, struct places_reason);
    for (size_t i = 0; i < reasons->count; i++) {
        const struct solver_reason *reason = &reasons->items[i];
        items[i].kind = reason->kind;
        items[i].message = text_of(reason->message);
        items[i].nearest = text_of(reason->nearest);
        if (reason->pool != SOLVER_NONE)
            items[i].node_pool = text_of(solver_pool_name(asking->places->problem, reason->pool));
    }
    answer->reasons = items;
    answer->reason_count = reasons->count;
}

void places_ask(const struct places *places, const struct snapshot *snapshot,
                const struct catalog *catalog, const struct workload *workload, struct arena *arena,
                struct places_answer *answer)
{
    struct asking asking = {places, snapshot, catalog, workload, arena};
    struct shape_source source = {.namespace = workload->object->namespace, .workload = *workload};
    struct pod_shape shape;
    struct solver_answer solved;
    *answer = (struct places_answer){.kind = PLACE_UNKNOWN};
    pod_shape_read(snapshot, &source, arena, &shape);
    if (shape.fault.message.size > 0 || shape.solver.needs_devices)
        return;
    struct solver_shape asked = shape.solver;
    asked.requests = named_amounts_find(&shape.requests, places->problem, arena);
    asked.spread_count = 0;
    asked.affinity_count = 0;
    asked.preferred_count = 0;
    answer->term_count = asked.required_count;
    asked.required = what_is_looked_at(&asking, asked.required, &asked.required_count);
    add_volumes(&asking, &asked);
    if (workload->object->kind != KIND_POD)
        tolerate_what_is_asked_for(&asking, &shape.requests, &asked);
    struct solver_question question = {.shape = &asked, .explain = true};
    struct solver_run *run = solver_run_create(places->problem, arena);
    if (!solver_query(run, &question, arena, &solved, NULL))
        return;
    if (solved.kind != SOLVER_UNSCHEDULABLE) {
        answer->kind = PLACE_THERE;
        return;
    }
    const char *of_none = resource_of_none(&shape.requests, &asking);
    /* What no type has, a NodeOverlay may have added. */
    if (may_suit_other_pool(&asking) || (of_none != NULL && places->settings.node_overlays))
        return;
    answer->kind = PLACE_NOWHERE;
    take_reasons(&asking, &solved.reasons, of_none, answer);
}
