/* NodePools whose instance types are not known: what their requirements and taints, and the names
 * of types, tell of a pod. */
#ifndef TAFFRAIL_SIMULATION_SUPPLY_POOLS_H
#define TAFFRAIL_SIMULATION_SUPPLY_POOLS_H

#include "catalog/type_set.h"
#include "kube/taint.h"
#include "simulation/amounts.h"
#include "simulation/supply.h"

struct pool;

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
                                              const struct workload *workload,
                                              const struct named_amounts *requests,
                                              struct arena *arena);
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

#endif
