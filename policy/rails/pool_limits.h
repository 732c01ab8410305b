/* Private to the rail pool-limits. */
#ifndef TAFFRAIL_POLICY_RAILS_POOL_LIMITS_H
#define TAFFRAIL_POLICY_RAILS_POOL_LIMITS_H

#include "catalog/catalog.h"
#include "policy/rail.h"

struct catalog;
struct pool;

/* ---- what a pool may launch: pool_limits_supply.c ---- */

/* Looked up once, since a pool may have many limits. */
struct pool_supply {
    const struct catalog *catalog;
    bool covered; /* the catalogue has its types */
    struct type_set launchable;
    struct catalog_amounts of_one; /* of the first type that nodes are made of; empty: of none */
};
struct pool_supply pool_limits_supply(const struct rail_call *call, const struct pool *pool);
/* What a node has of a resource: cpu in thousandths, all others in units; 0: none. */
int64_t pool_limits_capacity(const struct catalog_amounts *amounts, struct text resource);

/* How many of the types that a pool may launch carry a resource. */
enum carriers { CARRIED_BY_NONE, CARRIED_BY_SOME, CARRIED_BY_ALL, CARRIERS_UNKNOWN };
enum carriers pool_limits_carriers(const struct pool_supply *supply, struct text resource,
                                   struct arena *arena);
/* Whether every node counts against it: a limit on GPUs leaves a pool free to buy others. */
bool pool_limits_binds(const struct pool_supply *supply, struct text resource, struct arena *arena);
/* Whether the pool could buy it at all: one without GPUs needs no limit on them. */
bool pool_limits_can_buy(const struct pool_supply *supply, struct text resource,
                         struct arena *arena);

/* Limits under which no node of the pool fits. */
void pool_limits_judge_reach(struct rail_call *call, const struct pool *pool,
                             const struct pool_supply *supply);

#endif
