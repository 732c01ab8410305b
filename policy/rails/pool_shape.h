/* Private to the rail pool-shape. */
#ifndef TAFFRAIL_POLICY_RAILS_POOL_SHAPE_H
#define TAFFRAIL_POLICY_RAILS_POOL_SHAPE_H

#include "kube/expression.h"
#include "policy/rail.h"

struct catalog;
struct pool;
struct type_set;

#define LAUNCHES_NONE ". The pool can launch no node."

/* ---- what the rail judges, in this order ---- */

/* What the API server takes and Karpenter refuses: the pool is then never used. */
void pool_shape_judge_values(struct rail_call *call, const struct pool *pool);
/* Keys that Karpenter takes for labels of the pool's own, where a well-known one is meant. */
void pool_shape_judge_keys(struct rail_call *call, const struct pool *pool);
/* Pools that may launch anything, and pools that can launch nothing. */
void pool_shape_judge_types(struct rail_call *call, const struct pool *pool);

/* Whether no requirement says which machines: judge_types says it, and how many have accelerators.
 */
bool pool_shape_is_open(const struct catalog *catalog, const struct pool *pool,
                        struct arena *arena);

/* ---- parts of the last ---- */

/* Numbers in another unit than they are meant in; whether one of them leaves no type. */
bool pool_shape_judge_units(struct rail_call *call, const struct pool *pool);
/* Of a pool that can launch nothing: whether it is because a count of devices is to be 0. */
bool pool_shape_judge_no_devices(struct rail_call *call, const struct pool *pool);
/* NotIn of values that no type has under the key. */
void pool_shape_judge_excluded(struct rail_call *call, const struct pool *pool);
/* Of a pool that is not open: an architecture that nobody chose, and a choice of one type. */
void pool_shape_judge_choice(struct rail_call *call, const struct pool *pool,
                             const struct type_set *launchable);
/* minValues beyond what the types that the pool may launch have. */
void pool_shape_judge_min_values(struct rail_call *call, const struct pool *pool,
                                 const struct type_set *launchable);

/* ---- what they share ---- */

/* The requirements without those that only EKS Auto Mode would understand. */
struct expressions pool_shape_understood(const struct pool *pool, struct arena *arena);
/* The key under which types have the value; empty when none does. */
struct text pool_shape_key_of_value(const struct catalog *catalog, struct text value);
/* "{key: kubernetes.io/arch, operator: In, values: [amd64]}" for a pool that leaves both
 * architectures to its pods; empty: it does not. */
struct text pool_shape_architecture_to_add(const struct rail_call *call, const struct pool *pool,
                                           const struct type_set *launchable);
/* Whether it speaks of capacity types: where the policy names capacity-types, that rail says it by
 * its own list, or is off. */
bool pool_shape_tells_of_capacity(const struct rail_call *call);
/* "kubernetes.io/arch In arm64" */
struct text pool_shape_text(const struct expression *expression, struct arena *arena);

#endif
