/* What shared-volume knows of claims. */
#ifndef TAFFRAIL_POLICY_RAILS_SHARED_VOLUME_H
#define TAFFRAIL_POLICY_RAILS_SHARED_VOLUME_H

#include "base/base.h"

struct object;
struct snapshot;

/* Whether only one node at a time can attach the claim's volume, as far as that is visible. */
bool claim_is_for_one_node(const struct snapshot *snapshot, const struct object *claim,
                           struct arena *arena);

#endif
