/* The inside of a supply: supply.c makes it, supply_ask.c asks it, supply_cache.c caches
 * answers. */
#ifndef TAFFRAIL_SIMULATION_SUPPLY_INTERNAL_H
#define TAFFRAIL_SIMULATION_SUPPLY_INTERNAL_H

#include <stdatomic.h>

#include "base/hash.h"
#include "catalog/type_set.h"
#include "kube/karpenter.h"
#include "simulation/supply_pools.h"

struct pool;
struct stock;

/* ---- the cache of answers (supply_cache.c) ---- */

/* A set of zones, a bit for each index in supply.zones. Zones beyond SUPPLY_ZONES_MAX are not
 * known. */
enum { SUPPLY_ZONES_MAX = 256, ZONE_WORDS = SUPPLY_ZONES_MAX / 64 };
struct zone_bits {
    uint64_t words[ZONE_WORDS];
};

/* The key of a question: two hashes of everything in it, with secret seeds. */
struct cache_key {
    uint64_t parts[2];
};
/* One answer, written and read without a lock. The stored key is mixed with the answer, so that a
 * mixture of two answers matches no key. */
struct cache_slot {
    _Atomic uint64_t marks[2], words[ZONE_WORDS];
};
/* The number of slots is fixed: a new answer replaces an old one. A client with endless questions
 * costs others a second query, but no memory. */
enum { CACHE_SLOTS = 2048 };
struct supply_cache {
    struct hash_seed seeds[2];
    struct cache_slot *slots;
};
void cache_create(struct supply_cache *cache, struct arena *arena);
enum question_kind { ASKS_ZONES, ASKS_WHETHER };
struct cache_key cache_key_of(const struct supply_cache *cache, enum question_kind kind,
                              const struct solver_shape *shape,
                              const struct named_amounts *requests);
bool cache_find(const struct supply_cache *cache, struct cache_key key, struct zone_bits *answer);
void cache_put(const struct supply_cache *cache, struct cache_key key,
               const struct zone_bits *answer);

/* ---- the supply ---- */

/* A run for one thread at a time, with memory for its answer. A question that finds all runs taken
 * makes one of its own. */
struct supply_run {
    struct solver_run *run;
    struct arena *arena;
    _Atomic bool taken;
};
enum { SUPPLY_RUNS = 4 };

struct supply {
    _Atomic size_t holds;
    struct arena *arena; /* of everything that stays */
    const struct solver_problem *problem;
    const struct catalog *catalog;
    struct karpenter_settings settings;
    struct zones zones;   /* zones that the problem names */
    struct zones reached; /* the zones where a NodePool can launch nodes */
    struct supply_cache cache;
    const struct stock *stock; /* for plans; NULL: nobody asks for any */
    struct supply_run runs[SUPPLY_RUNS];
};

#endif
