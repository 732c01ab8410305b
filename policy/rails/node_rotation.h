/* What node-rotation asks of the objects that other rails advise to write. */
#ifndef TAFFRAIL_POLICY_RAILS_NODE_ROTATION_H
#define TAFFRAIL_POLICY_RAILS_NODE_ROTATION_H

#include "policy/rail.h"

/* The longest that the same policy lets a node live, as a duration; empty: as long as it likes. */
struct text node_rotation_most(const struct rail_call *call);

#endif
