/* The parts of the rail scheduler-bypass, and what it tells other rails. */
#ifndef TAFFRAIL_POLICY_RAILS_SCHEDULER_BYPASS_H
#define TAFFRAIL_POLICY_RAILS_SCHEDULER_BYPASS_H

#include "policy/rail.h"

struct scheduler_bypass {
    bool allow_node_name;
    struct key_strings schedulers, node_claim_accounts;
};

/* Whether some policy names a scheduler as one that runs. */
bool scheduler_is_named(const struct world *world, struct text scheduler);

#endif
