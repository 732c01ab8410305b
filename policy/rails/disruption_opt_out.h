/* What disruption-opt-out grants the pods that other rails speak of. */
#ifndef TAFFRAIL_POLICY_RAILS_DISRUPTION_OPT_OUT_H
#define TAFFRAIL_POLICY_RAILS_DISRUPTION_OPT_OUT_H

#include "policy/rail.h"

/* The value of karpenter.sh/do-not-disrupt that the same policy lets any pod have: "true", or the
 * longest duration; empty: none. */
struct text disruption_opt_out_most(const struct rail_call *call);

#endif
