/* What rails read alike of the object at hand: read once, however many rails ask. */
#ifndef TAFFRAIL_POLICY_READING_H
#define TAFFRAIL_POLICY_READING_H

#include "kube/pod.h"
#include "kube/pool.h"
#include "policy/rail.h"

/* How the pods of the workload, which call->object is, choose nodes. */
const struct node_selection *call_selection(const struct rail_call *call,
                                            const struct workload *workload);
/* call->object as a NodePool or Provisioner; NULL: it is neither. */
const struct pool *call_pool(const struct rail_call *call);

#endif
