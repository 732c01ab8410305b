/* The parts of the rail resource-claims: the claims (resource_claims.c), and the pods that use them
 * (resource_claims_pod.c). */
#ifndef TAFFRAIL_POLICY_RAILS_RESOURCE_CLAIMS_H
#define TAFFRAIL_POLICY_RAILS_RESOURCE_CLAIMS_H

#include "policy/rail.h"

/* Whether each claim of a pod is there, and whether its devices are where the pod may run. */
void resource_claims_judge_workload(struct rail_call *call);

#endif
