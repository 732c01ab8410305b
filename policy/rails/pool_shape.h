/* Private to the rail pool-shape. */
#ifndef TAFFRAIL_POLICY_RAILS_POOL_SHAPE_H
#define TAFFRAIL_POLICY_RAILS_POOL_SHAPE_H

#include "policy/rail.h"

#define NEVER_USED ": Karpenter refuses the pool and never uses it"

/* Fields that no NodePool of its version has: the API server drops them. */
void pool_shape_judge_fields(struct judgement *judgement, const struct pool *pool);
/* What the API server takes and Karpenter refuses: the pool is then never used. */
void pool_shape_judge_values(struct judgement *judgement, const struct pool *pool);
/* Whether Karpenter refuses a pool that names it: a key of its own domains, but none of its labels.
 */
bool pool_shape_is_restricted(struct text key);
/* Keys that Karpenter takes for labels of the pool's own, where a well-known one is meant. */
void pool_shape_judge_keys(struct judgement *judgement, const struct pool *pool);
/* The requirements without those that only EKS Auto Mode would understand. */
struct expressions pool_shape_understood(const struct pool *pool, struct arena *arena);
/* Whether Karpenter knows every value that the key can have. */
bool pool_shape_knows_all_of(struct text key);
/* Likewise: keys, values and durations that cannot be. */
void pool_shape_judge_names(struct judgement *judgement, const struct pool *pool);
/* Pools that may launch anything, and pools that can launch nothing. */
void pool_shape_judge_types(struct judgement *judgement, const struct pool *pool);

#endif
