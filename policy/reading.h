/* What rails read alike of the object at hand: read once, however many rails ask. */
#ifndef TAFFRAIL_POLICY_READING_H
#define TAFFRAIL_POLICY_READING_H

#include "kube/pod.h"
#include "kube/pool.h"
#include "kube/taint.h"
#include "kube/topology.h"
#include "kube/volume.h"
#include "policy/rail.h"

/* call->object as a workload; false when it is none. */
bool call_workload(const struct rail_call *call, struct workload *workload);
/* What the workload, which call->object is, tolerates; the list may be added to. */
struct tolerations call_tolerations(const struct rail_call *call, const struct workload *workload);
/* The names of the resources that it asks for (resource_names_read). */
const struct text_map *call_resources(const struct rail_call *call,
                                      const struct workload *workload);
/* How its pods choose nodes. */
const struct node_selection *call_selection(const struct rail_call *call,
                                            const struct workload *workload);
/* Where they are to be beside other pods, or apart from them. */
const struct topology_terms *call_topology(const struct rail_call *call,
                                           const struct workload *workload);
/* The claims that they mount. */
const struct claim_names *call_claims(const struct rail_call *call,
                                      const struct workload *workload);
/* call->object as a NodePool or Provisioner; NULL: it is neither. */
const struct pool *call_pool(const struct rail_call *call);

/* Of two objects of a kind that are wrong together the later by name tells of both, where both are
 * judged. Whether call->object is visible as it is, in what stands at the path, or another one of
 * its name stands for it (on UPDATE it tells of all, before and after); and whether the other one,
 * which is visible, then tells. */
bool call_is_seen(const struct rail_call *call, const char *path);
static inline bool call_leaves_to(const struct rail_call *call, bool is_seen,
                                  const struct object *other)
{
    return is_seen && text_compare(other->name, call->object->name) > 0 &&
           (other->origin != ORIGIN_STATE || call->object->origin == ORIGIN_STATE);
}

#endif
