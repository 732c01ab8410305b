/* The rail capacity-types: pools that buy spot nodes, by how few ways, or unasked. */
#ifndef TAFFRAIL_POLICY_RAILS_CAPACITY_SPOT_H
#define TAFFRAIL_POLICY_RAILS_CAPACITY_SPOT_H

#include "policy/rail.h"

struct pool;

struct spot_rules {
    bool on_demand;        /* the policy allows it, too */
    bool tells_unasked;    /* of a pool that names no capacity type, */
    enum severity unasked; /* so loudly */
};
/* Whether it names no capacity type. */
bool capacity_is_unasked(const struct pool *pool);
void capacity_judge_spot(struct rail_call *call, const struct pool *pool,
                         const struct spot_rules *rules);

#endif
