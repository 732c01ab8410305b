/* NodePools whose instance types are not known: only their requirements, taints and subnets
 * count. */
#include "catalog/catalog.h"
#include "kube/expression.h"
#include "kube/object.h"
#include "kube/pool.h"
#include "simulation/supply_internal.h"
#include "solver/well_known.h"

/* ---- what a pod requires ---- */

struct pod_requirements pod_requirements_none(const struct catalog *catalog, struct arena *arena)
{
    return (struct pod_requirements){
        .catalog = catalog,
        .arena = arena,
        .tolerates_all = true,
        .names = solver_names_create(arena, catalog_names(catalog)),
        .alternatives = ARENA_NEW(arena, struct solver_requirements),
        .alternative_count = 1,
    };
}

static struct solver_requirements copied(const struct solver_requirements *set, struct arena *arena)
{
    struct solver_requirements copy = {0};
    for (size_t i = 0; i < set->count; i++)
        *LIST_PUSH(arena, &copy) = set->items[i];
    return copy;
}

struct pod_requirements pod_requirements_read(const struct catalog *catalog,
                                              const struct workload *workload, struct arena *arena)
{
    struct pod_requirements wanted = pod_requirements_none(catalog, arena);
    struct node_selection selection;
    node_selection_read(workload, arena, &selection);
    tolerations_read(workload, arena, &wanted.tolerations);
    wanted.tolerates_all = false;
    struct solver_requirements selector = {0};
    expressions_add(&selection.selector, wanted.names, &selector, arena);
    wanted.alternatives[0] = selector;
    if (selection.required.count == 0)
        return wanted;
    wanted.alternative_count =
        selection.required.count < SUPPLY_TERMS_MAX ? selection.required.count : SUPPLY_TERMS_MAX;
    wanted.alternatives = ARENA_ARRAY(arena, wanted.alternative_count, struct solver_requirements);
    for (size_t i = 0; i < wanted.alternative_count; i++) {
        wanted.alternatives[i] = copied(&selector, arena);
        expressions_add(&selection.required.items[i].expressions, wanted.names,
                        &wanted.alternatives[i], arena);
    }
    return wanted;
}

/* ---- whether a pool gives it ---- */

static struct solver_requirements of_pool(const struct pool *pool,
                                          const struct pod_requirements *wanted)
{
    struct solver_requirements set = {0};
    struct expression_value name = {.text = pool->object->name};
    const struct expression label = {.key = TEXT(LABEL_NODE_POOL),
                                     .op = SOLVER_IN,
                                     .valid = true,
                                     .values = &name,
                                     .value_count = 1};
    expressions_add(&pool->requirements, wanted->names, &set, wanted->arena);
    expressions_add(&pool->labels, wanted->names, &set, wanted->arena);
    expression_add(&label, wanted->names, &set, wanted->arena);
    return set;
}

/* conflict: may be NULL. */
static bool allows(const struct solver_requirements *of_pool, const struct pod_requirements *wanted,
                   size_t alternative, uint32_t *conflict)
{
    return solver_requirements_compatible(
        wanted->names, of_pool, &wanted->alternatives[alternative], solver_is_well_known, conflict);
}

static const struct taint *not_tolerated(const struct pod_requirements *wanted,
                                         const struct pool *pool)
{
    if (wanted->tolerates_all)
        return NULL;
    FOR_EACH(taint, &pool->taints)
        if (taint_is_hard(taint) && !tolerations_cover(&wanted->tolerations, taint))
            return taint;
    return NULL;
}

bool pool_is_selected(const struct pool *pool, const struct pod_requirements *wanted)
{
    const struct solver_requirements set = of_pool(pool, wanted);
    for (size_t i = 0; i < wanted->alternative_count; i++)
        if (allows(&set, wanted, i, NULL))
            return true;
    return false;
}

bool pool_may_suit(const struct pool *pool, const struct pod_requirements *wanted)
{
    return not_tolerated(wanted, pool) == NULL && pool_is_selected(pool, wanted);
}

bool pool_takes(const struct catalog *catalog, const struct pool *pool,
                const struct workload *workload, struct arena *arena)
{
    const struct pod_requirements wanted = pod_requirements_read(catalog, workload, arena);
    return pool_may_suit(pool, &wanted);
}

/* ---- whether what it gives is known ---- */

/* The types that may meet what the pool and one alternative of the pod require. */
static struct type_set possible_types(const struct solver_requirements *of_pool,
                                      const struct pod_requirements *wanted, size_t alternative)
{
    struct solver_requirements both = copied(of_pool, wanted->arena);
    const struct solver_requirements *of_pod = &wanted->alternatives[alternative];
    for (size_t i = 0; i < of_pod->count; i++)
        solver_requirements_add(wanted->names, &both, of_pod->items[i], wanted->arena);
    return catalog_select_possible(wanted->catalog, wanted->names, &both, wanted->arena);
}

struct type_set pool_unknown_types(const struct pool *pool, const struct pod_requirements *wanted)
{
    const struct type_set none = {0};
    struct type_set all = type_set_create(wanted->catalog, wanted->arena);
    if (!pool_is_covered_by(wanted->catalog, pool) || not_tolerated(wanted, pool) != NULL)
        return none;
    const struct solver_requirements set = of_pool(pool, wanted);
    for (size_t i = 0; i < wanted->alternative_count; i++)
        if (allows(&set, wanted, i, NULL)) {
            struct type_set types = possible_types(&set, wanted, i);
            type_set_add_all(&all, &types);
        }
    FOR_TYPES(i, &all)
        if (catalog_type(wanted->catalog, i)->cpu > 0)
            return none;
    return all;
}

struct text unknown_types_text(const struct catalog *catalog, const struct type_set *types,
                               struct arena *arena)
{
    return arena_printf(arena, "the catalogue does not know the hardware of %.*s",
                        TEXT_ARGS(type_set_text(catalog, types, arena)));
}

struct text pool_unknown_text(const struct catalog *catalog, const struct pool *pool,
                              const struct workload *workload, struct arena *arena)
{
    const struct pod_requirements wanted = pod_requirements_read(catalog, workload, arena);
    struct type_set types = pool_unknown_types(pool, &wanted);
    return type_set_is_empty(&types) ? TEXT("") : unknown_types_text(catalog, &types, arena);
}

void pool_misfit(const struct pool *pool, const struct pod_requirements *wanted,
                 struct supply_reason *reason)
{
    const struct taint *taint = not_tolerated(wanted, pool);
    const struct solver_requirements set = of_pool(pool, wanted);
    uint32_t key = SOLVER_NONE;
    reason->nearest = TEXT("");
    if (taint != NULL) {
        reason->kind = SOLVER_REASON_TAINT;
        reason->message = arena_printf(wanted->arena, "does not tolerate the taint %.*s%s%.*s:%.*s",
                                       TEXT_ARGS(taint->key), taint->value.size > 0 ? "=" : "",
                                       TEXT_ARGS(taint->value), TEXT_ARGS(taint->effect));
    } else if (!allows(&set, wanted, 0, &key) && key != SOLVER_NONE) {
        struct text name;
        name.data = solver_names_key_text(wanted->names, key, &name.size);
        reason->kind = SOLVER_REASON_REQUIREMENT;
        reason->message =
            arena_printf(wanted->arena, "asks for another %.*s than the NodePool gives its nodes",
                         TEXT_ARGS(name));
    }
}

/* ---- zones ---- */

static bool subnets_have(const struct node *subnets, struct text zone)
{
    for (size_t i = 0; i < node_count(subnets); i++)
        if (text_equal(node_string(node_get(node_item(subnets, i), "zone")), zone))
            return true;
    return false;
}

/* Only a user's own catalogue knows the zones of the account. */
static bool is_sold_in(const struct catalog *catalog, struct text zone)
{
    const struct solver_names *names = catalog_names(catalog);
    uint32_t key = catalog_is_builtin(catalog)
                       ? SOLVER_NONE
                       : solver_names_find_key(names, LABEL_ZONE, sizeof LABEL_ZONE - 1);
    return key == SOLVER_NONE || solver_names_value_count(names, key) == 0 ||
           solver_names_find_value(names, key, zone.data, zone.size) != SOLVER_NONE;
}

static bool set_has(const struct solver_names *names, const struct solver_requirements *set,
                    uint32_t key, uint32_t value)
{
    const struct solver_requirement *allowed = solver_requirements_get(set, key);
    return allowed == NULL || solver_requirement_has(names, allowed, value);
}

static void add_zones(const struct pod_requirements *wanted, const struct node *subnets,
                      const struct solver_requirements *of_pool,
                      const struct solver_requirements *of_pod, const struct zones *all,
                      struct zones *zones)
{
    uint32_t key = solver_names_key(wanted->names, LABEL_ZONE, sizeof LABEL_ZONE - 1);
    for (size_t i = 0; i < all->count; i++) {
        struct text zone = all->items[i];
        uint32_t value = solver_names_value(wanted->names, key, zone.data, zone.size);
        if ((subnets == NULL || subnets_have(subnets, zone)) && is_sold_in(wanted->catalog, zone) &&
            set_has(wanted->names, of_pool, key, value) &&
            set_has(wanted->names, of_pod, key, value))
            zones_add(zones, zone, wanted->arena);
    }
}

void pool_add_zones(const struct snapshot *snapshot, const struct pool *pool,
                    const struct pod_requirements *wanted, const struct zones *all,
                    struct zones *zones)
{
    if (not_tolerated(wanted, pool) != NULL)
        return;
    const struct solver_requirements set = of_pool(pool, wanted);
    for (size_t i = 0; i < wanted->alternative_count; i++)
        if (allows(&set, wanted, i, NULL))
            add_zones(wanted, pool_subnets(snapshot, pool), &set, &wanted->alternatives[i], all,
                      zones);
}
