/* Private to the rail pool-limits: what the types that a pool may launch carry. */
#ifndef TAFFRAIL_POLICY_RAILS_POOL_LIMITS_H
#define TAFFRAIL_POLICY_RAILS_POOL_LIMITS_H

#include "policy/launchable.h"

struct pool_supply {
    const struct catalog *catalog;
    const struct launchable *launchable;
    struct catalog_amounts of_one; /* of the first type that nodes are made of; empty: of none */
};
struct pool_supply pool_limits_supply(const struct rail_call *call, const struct pool *pool);

/* How many of them carry a resource. */
enum carriers { CARRIED_BY_NONE, CARRIED_BY_SOME, CARRIED_BY_ALL, CARRIERS_UNKNOWN };
enum carriers pool_limits_carriers(const struct pool_supply *supply, struct text resource,
                                   struct arena *arena);
/* Whether every node counts against it: a limit on GPUs leaves a pool free to buy others. */
bool pool_limits_binds(const struct pool_supply *supply, struct text resource, struct arena *arena);
/* Whether the pool could buy it at all: one without GPUs needs no limit on them. */
bool pool_limits_can_buy(const struct pool_supply *supply, struct text resource,
                         struct arena *arena);

/* Whether these settings of the rail find that the pool lacks a limit on the resource, beside the
 * limits that it has. */
bool pool_limits_asks_for(const struct rail_call *call, const void *settings,
                          const struct pool *pool, struct text resource);

/* The most that a limit may be under these settings: the ceiling of one pool, or what is left of
 * the budget for all; INT64_MAX: nothing is said. */
int64_t pool_limits_most_milli(struct rail_call *call, struct text resource);
/* Limits under which no node of the pool fits. */
void pool_limits_judge_reach(struct rail_call *call, const struct pool *pool,
                             const struct pool_supply *supply);

#endif
