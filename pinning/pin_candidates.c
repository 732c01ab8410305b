/* Zones a pod could be in, as far as pools and Nodes tell without the solver. */
#include "catalog/catalog.h"
#include "catalog/zones.h"
#include "kube/object.h"
#include "kube/pod.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "pinning/pin.h"
#include "solver/well_known.h"

/* ---- what a pool can make ---- */

static bool subnets_have(const struct node *subnets, struct text zone)
{
    for (size_t i = 0; i < node_count(subnets); i++)
        if (text_equal(node_string(node_get(node_item(subnets, i), "zone")), zone))
            return true;
    return false;
}

/* Only the user's own catalogue knows which zones of the account sell something. */
static bool is_sold_in(const struct catalog *catalog, struct text zone)
{
    const struct solver_names *names = catalog_names(catalog);
    uint32_t key = catalog_is_builtin(catalog)
                       ? SOLVER_NONE
                       : solver_names_find_key(names, LABEL_ZONE, sizeof LABEL_ZONE - 1);
    return key == SOLVER_NONE || solver_names_value_count(names, key) == 0 ||
           solver_names_find_value(names, key, zone.data, zone.size) != SOLVER_NONE;
}

struct reach {
    const struct snapshot *snapshot;
    const struct catalog *catalog;
    struct solver_names *names;
    uint32_t zone_key;
    struct arena *arena;
};

static bool set_allows(const struct reach *reach, const struct solver_requirements *set,
                       struct text zone)
{
    const struct solver_requirement *requirement = solver_requirements_get(set, reach->zone_key);
    uint32_t value = solver_names_value(reach->names, reach->zone_key, zone.data, zone.size);
    return requirement == NULL || solver_requirement_has(reach->names, requirement, value);
}

static bool pool_can_make(const struct reach *reach, const struct pool *pool,
                          const struct solver_requirements *set, struct text zone)
{
    const struct node *subnets = pool_subnets(reach->snapshot, pool);
    return (subnets == NULL || subnets_have(subnets, zone)) && is_sold_in(reach->catalog, zone) &&
           set_allows(reach, set, zone);
}

static struct reach reach_create(const struct snapshot *snapshot, const struct catalog *catalog,
                                 struct arena *arena)
{
    struct reach reach = {snapshot, catalog, solver_names_create(arena, catalog_names(catalog)), 0,
                          arena};
    reach.zone_key = solver_names_key(reach.names, LABEL_ZONE, sizeof LABEL_ZONE - 1);
    return reach;
}

bool pin_zone_is_reachable(const struct snapshot *snapshot, const struct catalog *catalog,
                           struct text zone, struct arena *arena)
{
    if (zones_have(snapshot_node_zones(snapshot), zone))
        return true;
    struct reach reach = reach_create(snapshot, catalog, arena);
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++) {
        const struct pool *pool = snapshot_pool(snapshot, i);
        struct solver_requirements set = {0};
        expressions_add(&pool->requirements, reach.names, &set, reach.arena);
        expressions_add(&pool->labels, reach.names, &set, reach.arena);
        if (pool_makes_nodes(pool) && pool_can_make(&reach, pool, &set, zone))
            return true;
    }
    return false;
}

/* ---- which of them suit a pod ---- */

/* Every zone that something visible names. */
static struct zones all_zones(const struct reach *reach)
{
    struct zones zones = {0};
    const struct zones *of_nodes = snapshot_node_zones(reach->snapshot);
    for (size_t i = 0; i < of_nodes->count; i++)
        zones_add(&zones, of_nodes->items[i], reach->arena);
    (void)zones_add_makeable(reach->snapshot, reach->catalog, ZONE_KEY_NAME, reach->arena, &zones);
    return zones;
}

/* What the pod requires, by one of its alternatives. */
static void add_alternative(const struct reach *reach, const struct node_selection *selection,
                            size_t alternative, struct solver_requirements *set)
{
    expressions_add(&selection->selector, reach->names, set, reach->arena);
    if (alternative < selection->required.count)
        expressions_add(&selection->required.items[alternative].expressions, reach->names, set,
                        reach->arena);
}

static bool is_compatible(const struct reach *reach, const struct pool *pool,
                          const struct node_selection *selection, size_t alternative,
                          struct solver_requirements *both)
{
    struct solver_requirements of_pool = {0};
    struct solver_requirements of_pod = {0};
    expressions_add(&pool->requirements, reach->names, &of_pool, reach->arena);
    expressions_add(&pool->labels, reach->names, &of_pool, reach->arena);
    add_alternative(reach, selection, alternative, &of_pod);
    *both = (struct solver_requirements){0};
    expressions_add(&pool->requirements, reach->names, both, reach->arena);
    expressions_add(&pool->labels, reach->names, both, reach->arena);
    add_alternative(reach, selection, alternative, both);
    return solver_requirements_compatible(reach->names, &of_pool, &of_pod, solver_is_well_known,
                                          NULL);
}

static void add_pool(const struct reach *reach, const struct pool *pool,
                     const struct node_selection *selection, const struct zones *all,
                     struct zones *zones)
{
    size_t count = selection->required.count > 0 ? selection->required.count : 1;
    for (size_t i = 0; i < count; i++) {
        struct solver_requirements both;
        if (!is_compatible(reach, pool, selection, i, &both))
            continue;
        for (size_t j = 0; j < all->count; j++)
            if (pool_can_make(reach, pool, &both, all->items[j]))
                zones_add(zones, all->items[j], reach->arena);
    }
}

static bool tolerates(const struct tolerations *tolerations, const struct pool *pool)
{
    for (size_t i = 0; i < pool->taints.count; i++)
        if (taint_is_hard(&pool->taints.items[i]) &&
            !tolerations_cover(tolerations, &pool->taints.items[i]))
            return false;
    return true;
}

static void add_node_zones(const struct reach *reach, const struct node_selection *selection,
                           struct zones *zones)
{
    const struct zones *of_nodes = snapshot_node_zones(reach->snapshot);
    size_t count = selection->required.count > 0 ? selection->required.count : 1;
    for (size_t i = 0; i < count; i++) {
        struct solver_requirements set = {0};
        add_alternative(reach, selection, i, &set);
        for (size_t j = 0; j < of_nodes->count; j++)
            if (set_allows(reach, &set, of_nodes->items[j]))
                zones_add(zones, of_nodes->items[j], reach->arena);
    }
}

struct zones pin_candidates(const struct snapshot *snapshot, const struct catalog *catalog,
                            const struct object *pod, struct arena *arena)
{
    struct reach reach = reach_create(snapshot, catalog, arena);
    struct zones zones = {0};
    struct workload workload;
    struct node_selection selection;
    struct tolerations tolerations;
    if (!workload_read(pod, arena, &workload))
        return zones;
    node_selection_read(&workload, arena, &selection);
    tolerations_read(&workload, arena, &tolerations);
    struct zones all = all_zones(&reach);
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++) {
        const struct pool *pool = snapshot_pool(snapshot, i);
        if (pool_makes_nodes(pool) && tolerates(&tolerations, pool))
            add_pool(&reach, pool, &selection, &all, &zones);
    }
    if (zones.count == 0)
        add_node_zones(&reach, &selection, &zones);
    return zones;
}
