/* What the types that a pool may launch carry. */
#include "kube/pool.h"
#include "policy/rails/pool_limits.h"

struct pool_supply pool_limits_supply(const struct rail_call *call, const struct pool *pool)
{
    struct arena *arena = call->arena;
    struct pool_supply supply = {.catalog = call->world->catalog};
    supply.covered = pool_is_covered_by(supply.catalog, pool);
    if (!supply.covered)
        return supply;
    supply.launchable =
        expressions_select(supply.catalog, &pool->requirements, &pool->labels, arena);
    for (size_t i = 0; i < catalog_count(supply.catalog) && supply.of_one.count == 0; i++)
        if (type_set_has(&supply.launchable, i))
            supply.of_one = catalog_type_amounts(supply.catalog, i, arena);
    return supply;
}

int64_t pool_limits_capacity(const struct catalog_amounts *amounts, struct text resource)
{
    for (size_t i = 0; i < amounts->count; i++)
        if (text_is(resource, amounts->items[i].resource))
            return amounts->items[i].capacity;
    return 0;
}

static bool is_of_every_node(struct text resource)
{
    static const char *const names[] = {"cpu", "memory", "nodes", "pods", "ephemeral-storage"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (text_is(resource, names[i]))
            return true;
    return false;
}

enum carriers pool_limits_carriers(const struct pool_supply *supply, struct text resource,
                                   struct arena *arena)
{
    size_t with = 0;
    size_t without = 0;
    if (is_of_every_node(resource))
        return CARRIED_BY_ALL;
    if (!supply->covered)
        return CARRIERS_UNKNOWN;
    for (size_t i = 0; i < catalog_count(supply->catalog); i++) {
        if (!type_set_has(&supply->launchable, i))
            continue;
        struct catalog_amounts amounts = catalog_type_amounts(supply->catalog, i, arena);
        if (amounts.count == 0)
            continue; /* no node is made of it */
        bool carries = pool_limits_capacity(&amounts, resource) > 0;
        with += carries;
        without += !carries;
    }
    if (with == 0)
        return without == 0 ? CARRIERS_UNKNOWN : CARRIED_BY_NONE;
    return without == 0 ? CARRIED_BY_ALL : CARRIED_BY_SOME;
}

/* A pool may have limits on any number of names: what one type does not carry, not all do. */
bool pool_limits_binds(const struct pool_supply *supply, struct text resource, struct arena *arena)
{
    if (is_of_every_node(resource))
        return true;
    if (supply->of_one.count > 0 && pool_limits_capacity(&supply->of_one, resource) == 0)
        return false;
    enum carriers carriers = pool_limits_carriers(supply, resource, arena);
    return carriers == CARRIED_BY_ALL || carriers == CARRIERS_UNKNOWN;
}

bool pool_limits_can_buy(const struct pool_supply *supply, struct text resource,
                         struct arena *arena)
{
    enum carriers carriers = pool_limits_carriers(supply, resource, arena);
    return carriers == CARRIED_BY_ALL || carriers == CARRIED_BY_SOME;
}
