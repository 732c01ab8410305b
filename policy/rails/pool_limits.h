/* Private to the rail pool-limits. */
#ifndef TAFFRAIL_POLICY_RAILS_POOL_LIMITS_H
#define TAFFRAIL_POLICY_RAILS_POOL_LIMITS_H

#include "policy/rail.h"

/* Limits under which no node of the pool fits. */
void pool_limits_judge_reach(struct judgement *judgement, const struct pool *pool);

#endif
