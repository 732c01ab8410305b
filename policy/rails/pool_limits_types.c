/* What the types that a pool may launch carry, and limits under which no node of it fits: Karpenter
 * leaves out every type that has more of a resource than is left of its limit. */
#include "kube/pool.h"
#include "kube/quantity.h"
#include "policy/rails/pool_limits.h"

enum { THOUSAND = 1000 };

/* ---- what they carry ---- */

struct pool_supply pool_limits_supply(const struct rail_call *call, const struct pool *pool)
{
    struct pool_supply supply = {.catalog = call->world->catalog,
                                 .launchable = pool_launchable(call, pool)};
    if (!supply.launchable->covered)
        return supply;
    FOR_TYPES(i, &supply.launchable->types) {
        supply.of_one = catalog_type_amounts(supply.catalog, i, call->arena);
        if (supply.of_one.count > 0)
            break;
    }
    return supply;
}

/* What a node has of a resource: cpu in thousandths, all others in units; 0: none. */
static int64_t capacity_of(const struct catalog_amounts *amounts, struct text resource)
{
    for (size_t i = 0; i < amounts->count; i++)
        if (text_is(resource, amounts->items[i].resource))
            return amounts->items[i].capacity;
    return 0;
}

static bool is_of_every_node(struct text resource)
{
    return TEXT_IS_ONE_OF(resource, "cpu", "memory", "nodes", "pods", "ephemeral-storage");
}

enum carriers pool_limits_carriers(const struct pool_supply *supply, struct text resource,
                                   struct arena *arena)
{
    size_t with = 0;
    size_t without = 0;
    if (is_of_every_node(resource))
        return CARRIED_BY_ALL;
    if (!supply->launchable->covered)
        return CARRIERS_UNKNOWN;
    FOR_TYPES(i, &supply->launchable->types) {
        struct catalog_amounts amounts = catalog_type_amounts(supply->catalog, i, arena);
        if (amounts.count == 0)
            continue; /* no node is made of it */
        bool carries = capacity_of(&amounts, resource) > 0;
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
    if (supply->of_one.count > 0 && capacity_of(&supply->of_one, resource) == 0)
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

/* ---- limits that are too low ---- */

/* Whose amounts follow from the type alone; storage and pods are the node class's as well. */
static bool is_of_type(struct text resource)
{
    return text_is(resource, "cpu") || text_is(resource, "memory") ||
           device_of_resource(resource) != DEVICE_COUNT;
}

struct smallest {
    struct text type;
    int64_t capacity;
};

/* False when one fits under the limit, in the units of the capacities, or none is known. */
static bool find_smallest(const struct pool_supply *supply, struct text resource, int64_t limit,
                          struct arena *arena, struct smallest *smallest)
{
    const struct catalog *catalog = supply->catalog;
    *smallest = (struct smallest){.capacity = INT64_MAX};
    if (supply->of_one.count == 0 || capacity_of(&supply->of_one, resource) <= limit)
        return false;
    FOR_TYPES(i, &supply->launchable->types) {
        struct catalog_amounts amounts = catalog_type_amounts(catalog, i, arena);
        int64_t capacity = capacity_of(&amounts, resource);
        if (amounts.count == 0)
            continue; /* no node is made of it */
        if (capacity <= limit)
            return false;
        if (capacity < smallest->capacity)
            *smallest = (struct smallest){catalog_type(catalog, i)->name, capacity};
    }
    return smallest->type.size > 0;
}

/* "8192Mi", "96": as a limit is written, rounded up. */
static struct text limit_text(struct text resource, int64_t capacity, struct arena *arena)
{
    static const int64_t mebi = 1048576;
    if (text_is(resource, "memory"))
        return arena_printf(arena, "%lldMi", (long long)((capacity + mebi - 1) / mebi));
    if (text_is(resource, "cpu"))
        capacity = (capacity + THOUSAND - 1) / THOUSAND;
    return arena_printf(arena, "%lld", (long long)capacity);
}

static void judge_limit(struct rail_call *call, const struct pool_supply *supply,
                        const struct field *field, int64_t milli)
{
    enum { LONGEST = 5 };
    struct arena *arena = call->arena;
    struct text resource = field->key;
    struct text written = node_text(field->node);
    struct smallest smallest;
    int64_t limit = text_is(resource, "cpu") ? milli : milli / THOUSAND;
    if (!find_smallest(supply, resource, limit, arena, &smallest))
        return;
    struct text needed = limit_text(resource, smallest.capacity, arena);
    int64_t most = pool_limits_most_milli(call, resource);
    bool allowed = smallest.capacity <= (text_is(resource, "cpu") ? most : most / THOUSAND);
    bool no_unit =
        text_is(resource, "memory") && text_is_digits(written) && written.size <= LONGEST;
    report_found(call, SEVERITY_WARN, field, written,
                 no_unit ? arena_printf(arena, "Write a unit, as in %.*sGi.", TEXT_ARGS(written))
                 : !allowed
                     ? TEXT("Choose smaller types, since the policy allows no higher limit, or set "
                            "it to 0 if it is to buy none.")
                     : arena_printf(arena, "Set it to at least %.*s, or to 0 if it is to buy none.",
                                    TEXT_ARGS(needed)),
                 "The pool never buys a node: %.*s, the smallest type that it may launch, has "
                 "%.*s, and the limit is %.*s.",
                 TEXT_ARGS(smallest.type), TEXT_ARGS(needed), TEXT_ARGS(written));
}

void pool_limits_judge_reach(struct rail_call *call, const struct pool *pool,
                             const struct pool_supply *supply)
{
    FOR_MEMBERS(field, call->arena, pool->limits_field) {
        int64_t milli;
        if (!quantity_milli(node_text(field->node), &milli) || milli == 0)
            continue; /* 0 is how a pool is switched off */
        if (milli < 0)
            report(call, SEVERITY_RAIL, field,
                   TEXT("Write what it may buy; 0, if that is nothing."),
                   "The limit %.*s is below zero, so the pool never buys a node.",
                   TEXT_ARGS(node_text(field->node)));
        else if (supply->launchable->covered && is_of_type(field->key))
            judge_limit(call, supply, field, milli);
    }
}
