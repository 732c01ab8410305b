/* What the rail scheduler-bypass tells other rails. */
#ifndef TAFFRAIL_POLICY_RAILS_SCHEDULER_BYPASS_H
#define TAFFRAIL_POLICY_RAILS_SCHEDULER_BYPASS_H

#include "policy/rail.h"

/* Whether some policy names a scheduler as one that runs. */
bool scheduler_is_named(const struct world *world, struct text scheduler);

#endif
