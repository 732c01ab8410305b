/* The inside of a supply: supply.c makes it, supply_ask.c asks it, supply_cache.c caches
 * answers. */
#ifndef TAFFRAIL_SIMULATION_SUPPLY_INTERNAL_H
#define TAFFRAIL_SIMULATION_SUPPLY_INTERNAL_H

#include <stdatomic.h>

#include "base/hash.h"
#include "catalog/type_set.h"
#include "kube/karpenter.h"
#include "kube/pod.h"
#include "kube/taint.h"
#include "simulation/amounts.h"
#include "simulation/supply.h"

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

/* ---- pools whose types are not known (supply_pools.c) ---- */

/* What a pod requires of a node: read once, then asked of many pools. The names grow with the keys
 * and values of the pools. */
struct pod_requirements {
    const struct catalog *catalog;
    struct arena *arena;
    struct tolerations tolerations;
    const struct named_amounts *requests; /* NULL: nothing */
    bool tolerates_all;
    struct solver_names *names;
    struct solver_requirements *alternatives; /* of the node affinity, each with the nodeSelector */
    size_t alternative_count;                 /* at least one */
};
struct pod_requirements pod_requirements_read(const struct catalog *catalog,
                                              const struct workload *workload, struct arena *arena);
/* Of a pod that selects nothing and tolerates everything. */
struct pod_requirements pod_requirements_none(const struct catalog *catalog, struct arena *arena);
/* Whether the pool's requirements and taints allow the pod, by one of the alternatives of its node
 * affinity. */
bool pool_may_suit(const struct pool *pool, const struct pod_requirements *wanted);
/* The same, whatever taints the pool has. */
bool pool_is_selected(const struct pool *pool, const struct pod_requirements *wanted);
/* Of a pool that the catalogue covers, the types that it may launch for the pod, where the
 * catalogue does not know the hardware of any of them; else empty. Their names tell whether they
 * have devices. */
struct type_set pool_unknown_types(const struct pool *pool, const struct pod_requirements *wanted);
/* Whether the catalogue knows the hardware of no type that the pool may launch. */
bool pool_is_of_unknown_types(const struct catalog *catalog, const struct pool *pool,
                              struct arena *arena);
/* Why no type suits the pod, of a pool whose types are not known, and which its requirements and
 * taints let in: SOLVER_REASON_RESOURCES, or SOLVER_REASON_REQUIREMENT; SOLVER_REASON_COUNT: one
 * may suit. Adds to types what the message names. */
enum solver_reason_kind pool_unsuited(const struct pool *pool,
                                      const struct pod_requirements *wanted,
                                      struct type_set *types);
struct text unsuited_text(enum solver_reason_kind kind, const struct type_set *types,
                          const struct named_amounts *requests, const struct catalog *catalog,
                          struct arena *arena);
/* "the catalogue does not know the hardware of m8g-flex.large". */
struct text unknown_types_text(const struct catalog *catalog, const struct type_set *types,
                               struct arena *arena);
/* Adds the zones of all in which the pool can launch a node for such a pod. */
void pool_add_zones(const struct snapshot *snapshot, const struct pool *pool,
                    const struct pod_requirements *wanted, const struct zones *all,
                    struct zones *zones);

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
