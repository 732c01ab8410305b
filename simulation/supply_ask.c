/* Asks a supply: reads the pod's shape, looks into the cache, and else queries a run. */
#include <string.h>

#include "catalog/catalog.h"
#include "kube/device.h"
#include "kube/object.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "kube/to_solver.h"
#include "simulation/pod_shape.h"
#include "simulation/reason_words.h"
#include "simulation/supply_internal.h"
#include "solver/well_known.h"

struct asking {
    const struct supply *supply;
    const struct snapshot *snapshot;
    const struct workload *workload;
    struct pod_scheduling scheduling;
    struct arena *arena;
    struct pod_shape pod;
    struct solver_shape shape; /* for the solver */
};

/* ---- the question ---- */

static bool is_named_there(const struct asking *asking, const char *key, const char *value)
{
    const struct solver_names *names = solver_problem_names(asking->supply->problem);
    size_t size = strlen(key);
    const char *canonical = solver_canonical_key(key, &size);
    uint32_t number = solver_names_find_key(names, canonical, size);
    return number != SOLVER_NONE &&
           solver_names_find_value(names, number, value, strlen(value)) != SOLVER_NONE;
}

/* Values that nothing in the problem names are equivalent: a few of them represent all. */
static struct solver_expression without_most_unknown_values(
    const struct asking *asking, const struct solver_expression *expression)
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

/* Terms beyond SUPPLY_TERMS_MAX do not count; the caller tells the user. */
static const struct solver_expressions *terms_that_count(const struct asking *asking,
                                                         const struct solver_expressions *terms,
                                                         size_t *count)
{
    *count = *count < SUPPLY_TERMS_MAX ? *count : SUPPLY_TERMS_MAX;
    struct solver_expressions *cut = ARENA_ARRAY(asking->arena, *count, struct solver_expressions);
    for (size_t i = 0; i < *count; i++) {
        struct solver_expression *items =
            ARENA_ARRAY(asking->arena, terms[i].count, struct solver_expression);
        for (size_t j = 0; j < terms[i].count; j++)
            items[j] = without_most_unknown_values(asking, &terms[i].items[j]);
        cut[i] = (struct solver_expressions){items, terms[i].count};
    }
    return cut;
}

/* Reads what the pod itself requires of a node: there are no other pods. False: it cannot be
 * understood, or Karpenter buys nothing for such a pod. */
static bool read_shape(struct asking *asking)
{
    pod_needs_read(asking->snapshot, asking->workload, &asking->scheduling, asking->arena,
                   &asking->pod);
    const struct solver_shape *read = &asking->pod.solver;
    struct solver_shape *shape = &asking->shape;
    if (asking->pod.fault.message.size > 0 || asking->pod.nodes_only.message.size > 0)
        return false;
    *shape = (struct solver_shape){
        .namespace = read->namespace,
        .node_selector = read->node_selector,
        .required_count = read->required_count,
        .tolerations = read->tolerations,
        .toleration_count = read->toleration_count,
        .host_ports = read->host_ports,
        .host_port_count = read->host_port_count,
    };
    shape->required = terms_that_count(asking, read->required, &shape->required_count);
    shape->requests =
        named_amounts_find(&asking->pod.requests, asking->supply->problem, asking->arena);
    return true;
}

/* A volume that is, or will be, in one of the zones. */
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
    return (struct solver_volume){.alternatives = alternative, .alternative_count = 1};
}

static void confine_to_volumes(struct asking *asking, const struct zones *volumes, size_t count)
{
    struct solver_volume *items = ARENA_ARRAY(asking->arena, count, struct solver_volume);
    for (size_t i = 0; i < count; i++)
        items[i] = volume_in(&volumes[i], asking->arena);
    asking->shape.volumes = items;
    asking->shape.volume_count = count;
}

/* ---- queries ---- */

struct query {
    const struct supply *supply;
    struct solver_question question;
    enum question_kind kind;
    struct solver_run *run;
    struct arena *arena;
    struct zone_bits answer; /* ASKS_WHETHER: words[0] not 0: yes */
};

static size_t index_of(const struct zones *zones, struct text name)
{
    size_t low = 0;
    size_t high = zones->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (text_compare(zones->items[middle], name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_zone(const struct supply *supply, struct text name, struct zone_bits *bits)
{
    size_t index = index_of(&supply->zones, name);
    if (index < SUPPLY_ZONES_MAX)
        bits->words[index / 64] |= (uint64_t)1 << index % 64;
}

static void query_guarded(void *argument)
{
    struct query *query = argument;
    struct solver_strings zones;
    struct solver_answer answer;
    if (query->kind == ASKS_ZONES) {
        if (solver_query_zones(query->run, &query->question, query->arena, &zones, NULL))
            for (size_t i = 0; i < zones.count; i++)
                add_zone(query->supply, text_of(zones.items[i]), &query->answer);
    } else if (solver_query(query->run, &query->question, query->arena, &answer, NULL)) {
        query->answer.words[0] = answer.kind != SOLVER_UNSCHEDULABLE;
    }
}

static struct supply_run *take_run(const struct supply *supply)
{
    struct supply *shared = (struct supply *)(uintptr_t)supply;
    for (size_t i = 0; i < SUPPLY_RUNS; i++)
        if (!atomic_exchange(&shared->runs[i].taken, true))
            return &shared->runs[i];
    return NULL;
}

/* Takes no memory of the caller while it holds a run: the caller may be stopped where it
 * allocates. */
static void query_run(struct query *query, struct arena *arena)
{
    struct supply_run *run = take_run(query->supply);
    struct error error;
    if (run == NULL) {
        query->run = solver_run_create(query->supply->problem, arena);
        query->arena = arena;
        query_guarded(query);
        return;
    }
    query->run = run->run;
    query->arena = run->arena;
    if (!arena_guard(run->arena, query_guarded, query, &error))
        query->answer = (struct zone_bits){{0}};
    arena_reset(run->arena);
    atomic_store(&run->taken, false);
}

/* ---- pools that are not in the problem ---- */

static bool is_in_problem(const struct supply *supply, const struct pool *pool)
{
    for (uint32_t i = 0; i < solver_pool_count(supply->problem); i++)
        if (text_is(pool->object->name, solver_pool_name(supply->problem, i)))
            return pool_is_covered_by(supply->catalog, pool);
    return false;
}

/* A requested resource that nothing in the problem has; NULL: none. */
static const char *unknown_resource(const struct asking *asking)
{
    const struct named_amounts *amounts = &asking->pod.requests;
    for (size_t i = 0; i < amounts->count; i++)
        if (solver_problem_resource(asking->supply->problem, amounts->items[i].resource) ==
            SOLVER_NONE)
            return amounts->items[i].resource;
    return NULL;
}

/* Whether DeviceClasses may have it, as far as they are seen: kube-scheduler then makes a claim of
 * it, and which Nodes have the devices is not looked at. */
static bool is_of_device_class(const struct asking *asking, struct text resource)
{
    const struct snapshot *snapshot = asking->snapshot;
    if (resource_device_class(resource).size > 0)
        return true;
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_DEVICE_CLASS); i++) {
        const struct object *class = snapshot_object(snapshot, KIND_DEVICE_CLASS, i);
        if (text_equal(node_string(node_at(class->root->node, "spec.extendedResourceName")),
                       resource))
            return true;
    }
    return false;
}

/* Types that the catalogue knows by name alone are not in the problem. */
static bool may_launch_the_unknown(const struct asking *asking, const struct pool *pool,
                                   const struct pod_requirements *wanted)
{
    struct type_set types = pool_unknown_types(pool, wanted);
    return unknown_resource(asking) == NULL && !type_set_is_empty(&types);
}

/* Pools that are not in the problem: of another cloud, not ready, or static; or of which the types
 * are not. Whether the pod fits there is not known, only whether requirements or taints exclude it.
 */
static bool may_suit_other_pool(const struct asking *asking)
{
    const struct supply *supply = asking->supply;
    const struct pod_requirements wanted = pod_requirements_read(
        supply->catalog, asking->workload, &asking->pod.requests, asking->arena);
    for (size_t i = 0; i < snapshot_pool_count(asking->snapshot); i++) {
        const struct pool *pool = snapshot_pool(asking->snapshot, i);
        if (pool->object->deleting || (supply->settings.no_static_capacity && pool_is_static(pool)))
            continue;
        if (is_in_problem(supply, pool) ? may_launch_the_unknown(asking, pool, &wanted)
                                        : pool_may_suit(pool, &wanted))
            return true;
    }
    return false;
}

/* Adds zones of pools of another cloud that launch nodes. */
static void add_zones_of_other_pools(const struct asking *asking, struct zone_bits *bits)
{
    const struct supply *supply = asking->supply;
    struct zones zones = {0};
    struct pod_requirements wanted = {0}; /* read for the first such pool */
    for (size_t i = 0; i < snapshot_pool_count(asking->snapshot); i++) {
        const struct pool *pool = snapshot_pool(asking->snapshot, i);
        if (pool_is_covered_by(supply->catalog, pool) || !pool_makes_nodes(pool))
            continue;
        if (wanted.names == NULL)
            wanted = pod_requirements_read(supply->catalog, asking->workload, NULL, asking->arena);
        pool_add_zones(asking->snapshot, pool, &wanted, &supply->zones, &zones);
    }
    for (size_t i = 0; i < zones.count; i++)
        add_zone(supply, zones.items[i], bits);
}

/* The cached answer, or that of a run. */
static struct zone_bits answer_of(const struct supply *supply, const struct asking *asking,
                                  enum question_kind kind)
{
    struct zone_bits known;
    struct cache_key key =
        cache_key_of(&supply->cache, kind, &asking->shape, &asking->pod.requests);
    if (cache_find(&supply->cache, key, &known))
        return known;
    struct query query = {
        .supply = supply,
        .question = {.shape = &asking->shape, .beyond_limits = kind == ASKS_WHETHER},
        .kind = kind,
    };
    query_run(&query, asking->arena);
    if (kind == ASKS_ZONES)
        add_zones_of_other_pools(asking, &query.answer);
    cache_put(&supply->cache, key, &query.answer);
    return query.answer;
}

/* ---- zones ---- */

static struct zones zones_of(const struct supply *supply, const struct zone_bits *bits,
                             struct arena *arena)
{
    struct zones zones = {0};
    for (size_t i = 0; i < supply->zones.count && i < SUPPLY_ZONES_MAX; i++)
        if ((bits->words[i / 64] >> i % 64 & 1) != 0)
            zones_add(&zones, supply->zones.items[i], arena);
    return zones;
}

struct zones supply_zones(const struct supply *supply, const struct snapshot *snapshot,
                          const struct object *pod, struct arena *arena)
{
    struct workload workload;
    struct asking asking = {
        .supply = supply, .snapshot = snapshot, .workload = &workload, .arena = arena};
    if (supply == NULL || !workload_read(pod, arena, &workload))
        return (struct zones){0};
    asking.scheduling = pod_scheduling_read(&workload, arena);
    if (!read_shape(&asking))
        return (struct zones){0};
    const struct zone_bits bits = answer_of(supply, &asking, ASKS_ZONES);
    return zones_of(supply, &bits, arena);
}

bool supply_reaches(const struct supply *supply, const struct snapshot *snapshot, struct text zone)
{
    return zones_have(snapshot_node_zones(snapshot), zone) ||
           (supply != NULL && zones_have(&supply->reached, zone));
}

/* ---- whether a pod could run, and why not ---- */

static void give_reason(const struct asking *asking, struct text message, struct text fix,
                        struct supply_answer *answer)
{
    struct supply_reason *only = ARENA_NEW(asking->arena, struct supply_reason);
    only->kind = SOLVER_REASON_RESOURCES;
    only->message = message;
    only->fix = fix;
    answer->reasons = only;
    answer->reason_count = 1;
}

static const struct pool *pool_named(const struct asking *asking, struct text name)
{
    for (size_t i = 0; i < snapshot_pool_count(asking->snapshot); i++)
        if (text_equal(snapshot_pool(asking->snapshot, i)->object->name, name))
            return snapshot_pool(asking->snapshot, i);
    return NULL;
}

struct supply_reasons {
    struct supply_reason *items;
    size_t count, capacity;
};

/* Of the pools of the problem of which the solver tells nothing: those whose types are not in it.
 */
static void add_unsuited(const struct asking *asking, const struct pod_requirements *wanted,
                         struct supply_reasons *reasons)
{
    const struct solver_problem *problem = asking->supply->problem;
    size_t told = reasons->count;
    for (uint32_t i = 0; i < solver_pool_count(problem); i++) {
        struct text name = text_of(solver_pool_name(problem, i));
        const struct pool *pool = pool_named(asking, name);
        bool is_told = pool == NULL;
        for (size_t j = 0; j < told; j++)
            is_told |= text_equal(reasons->items[j].node_pool, name);
        if (is_told)
            continue;
        struct type_set types = type_set_create(wanted->catalog, asking->arena);
        enum solver_reason_kind kind = pool_unsuited(pool, wanted, &types);
        if (kind != SOLVER_REASON_COUNT)
            *LIST_PUSH(asking->arena, reasons) =
                (struct supply_reason){.node_pool = name,
                                       .message = unsuited_text(kind, &types, wanted->requests,
                                                                wanted->catalog, asking->arena),
                                       .kind = kind};
    }
}

static void take_reasons(const struct asking *asking, struct reasons_words words,
                         struct supply_answer *answer)
{
    const struct pod_requirements wanted = pod_requirements_read(
        asking->supply->catalog, asking->workload, &asking->pod.requests, asking->arena);
    struct supply_reasons reasons = {0};
    for (size_t i = 0; i < words.count; i++) {
        const struct reason_words *told = &words.items[i];
        struct supply_reason *reason = LIST_PUSH(asking->arena, &reasons);
        reason->kind = told->kind;
        reason->message = text_of(told->message);
        reason->nearest = text_of(told->nearest);
        if (told->pool != SOLVER_NONE)
            reason->node_pool = text_of(solver_pool_name(asking->supply->problem, told->pool));
    }
    add_unsuited(asking, &wanted, &reasons);
    for (size_t i = 0; i < reasons.count; i++) {
        const struct pool *pool = pool_named(asking, reasons.items[i].node_pool);
        reasons.items[i].selected = pool != NULL && pool_is_selected(pool, &wanted);
    }
    answer->reasons = reasons.items;
    answer->reason_count = reasons.count;
}

static void explain(const struct asking *asking, struct supply_answer *answer)
{
    const struct solver_question question = {
        .shape = &asking->shape, .beyond_limits = true, .explain = true};
    struct solver_run *run = solver_run_create(asking->supply->problem, asking->arena);
    struct solver_answer solved;
    if (!solver_query(run, &question, asking->arena, &solved, NULL))
        return;
    answer->kind = solved.kind == SOLVER_UNSCHEDULABLE ? SUPPLY_NOWHERE : SUPPLY_THERE;
    take_reasons(asking, reasons_tell(solved.reasons, asking->arena), answer);
}

void supply_ask(const struct supply *supply, const struct snapshot *snapshot,
                const struct supply_question *question, struct arena *arena,
                struct supply_answer *answer)
{
    struct asking asking = {
        .supply = supply,
        .snapshot = snapshot,
        .workload = question->workload,
        .scheduling = question->scheduling,
        .arena = arena,
    };
    *answer = (struct supply_answer){.kind = SUPPLY_UNKNOWN};
    if (supply == NULL)
        return;
    bool is_read = read_shape(&asking);
    const struct pod_fault *fault = &asking.pod.fault;
    if (fault->no_machine) {
        answer->kind = SUPPLY_NOWHERE;
        answer->no_machine = true;
        give_reason(&asking,
                    fault->broken ? TEXT("asks for more than can be counted") : fault->message,
                    fault->fix, answer);
    }
    if (!is_read || asking.pod.solver.needs_devices)
        return;
    answer->term_count = asking.pod.solver.required_count;
    confine_to_volumes(&asking, question->volumes, question->volume_count);
    if (question->extended_resource_toleration)
        tolerate_extended_resources(&asking.shape, &asking.pod.requests, arena);
    if (answer_of(supply, &asking, ASKS_WHETHER).words[0] != 0) {
        answer->kind = SUPPLY_THERE;
        return;
    }
    const char *unknown = unknown_resource(&asking);
    /* A resource that no type has may come from a NodeOverlay. */
    if (may_suit_other_pool(&asking) ||
        (unknown != NULL &&
         (supply->settings.node_overlays || is_of_device_class(&asking, text_of(unknown)))))
        return;
    explain(&asking, answer);
    if (answer->kind == SUPPLY_NOWHERE && unknown != NULL)
        give_reason(
            &asking,
            arena_printf(arena, "asks for %s, which no instance type and no Node has", unknown),
            TEXT(""), answer);
}
