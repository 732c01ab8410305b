/* Private to the rail pool-limits. */
#ifndef TAFFRAIL_POLICY_RAILS_POOL_LIMITS_H
#define TAFFRAIL_POLICY_RAILS_POOL_LIMITS_H

#include "policy/rail.h"

/* What a node has of a resource: cpu in thousandths, all others in units; 0: none. */
int64_t pool_limits_capacity(const struct catalog_amounts *amounts, struct text resource);
/* Limits under which no node of the pool fits. */
void pool_limits_judge_reach(struct judgement *judgement, const struct pool *pool);

#endif
