/* The inside of a supply: supply.c makes it, supply_ask.c asks it, supply_cache.c remembers. */
#ifndef TAFFRAIL_SIMULATION_SUPPLY_INTERNAL_H
#define TAFFRAIL_SIMULATION_SUPPLY_INTERNAL_H

#include <stdatomic.h>

#include "base/hash.h"
#include "kube/karpenter.h"
#include "kube/pod.h"
#include "kube/taint.h"
#include "simulation/amounts.h"
#include "simulation/supply.h"

struct pool;

/* ---- what is remembered (supply_cache.c) ---- */

/* Zones by their place in supply.zones, as bits: of more the others are not known. */
enum { SUPPLY_ZONES_MAX = 256, ZONE_WORDS = SUPPLY_ZONES_MAX / 64 };
struct zone_bits {
    uint64_t words[ZONE_WORDS];
};

/* What a question is known by: two hashes of all it consists of, whose seeds are secret. */
struct cache_key {
    uint64_t parts[2];
};
/* One answer, written and read without a lock: the parts of its key are mixed with what it says, so
 * that half of one and half of another is found to be neither. */
struct cache_slot {
    _Atomic uint64_t marks[2], words[ZONE_WORDS];
};
/* As many slots as there are, whoever asks: an answer takes the place of another one, and a
 * stranger who asks without end costs the others a question, not memory. */
enum { CACHE_SLOTS = 2048 };
struct supply_cache {
    struct hash_seed seeds[2];
    struct cache_slot *slots;
};
void cache_create(struct supply_cache *cache, struct arena *arena);
enum question_kind { ASKS_ZONES, ASKS_WHETHER };
struct cache_key cache_key_of(const struct supply_cache *cache, enum question_kind kind,
                              const struct solver_shape *shape,
                              const struct named_amounts *requests, struct arena *arena);
bool cache_find(const struct supply_cache *cache, struct cache_key key, struct zone_bits *answer);
void cache_put(const struct supply_cache *cache, struct cache_key key,
               const struct zone_bits *answer);

/* ---- pools by their own words (supply_pools.c) ---- */

/* What a pod asks of a node. */
struct pod_requirements {
    struct node_selection selection;
    struct tolerations tolerations;
};
/* Whether nothing that the pool says of itself speaks against the pod, by one of the alternatives
 * of its affinity. */
bool pool_may_suit(const struct catalog *catalog, const struct pool *pool,
                   const struct pod_requirements *wishes, struct arena *arena);
/* Adds those of all in which the pool can make a node for such a pod; NULL: for any. */
void pool_add_zones(const struct snapshot *snapshot, const struct catalog *catalog,
                    const struct pool *pool, const struct pod_requirements *wishes,
                    const struct zones *all, struct arena *arena, struct zones *zones);

/* ---- the whole ---- */

/* A run that is ready to be asked, by one thread at a time, with memory to answer in. A question
 * that finds all of them taken makes a run of its own. */
struct supply_run {
    struct solver_run *run;
    struct arena *arena;
    _Atomic bool taken;
};
enum { SUPPLY_RUNS = 4 };

struct supply {
    _Atomic size_t holds;
    struct arena *arena; /* of all that stays */
    const struct solver_problem *problem;
    const struct catalog *catalog;
    struct karpenter_settings settings;
    struct zones zones;   /* that the problem names */
    struct zones reached; /* some of them: where a NodePool can make nodes */
    struct supply_cache cache;
    struct supply_run runs[SUPPLY_RUNS];
};

#endif
