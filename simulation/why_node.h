/* Why a Node is still there: what runs on it, whether it is to go, and what keeps it
 * (docs/reference/karpenter.md 6.2 to 6.5). */
#ifndef TAFFRAIL_SIMULATION_WHY_NODE_H
#define TAFFRAIL_SIMULATION_WHY_NODE_H

#include "simulation/disruption.h"

/* A pod that has not ended, on the Node. */
struct why_node_pod {
    struct text namespace, name;
    struct text owner; /* "Deployment web"; its own name when it has none */
    bool moves;        /* it is rescheduled when the Node goes: no DaemonSet's, no static pod */
};
struct why_node_owner {
    struct text namespace, owner;
    size_t count;
};
enum why_consolidation {
    WHY_CONSOLIDATABLE,
    WHY_CONSOLIDATION_OFF,       /* consolidateAfter: Never, or a NodePool of fixed size */
    WHY_CONSOLIDATED_WHEN_EMPTY, /* the NodePool's policy, and pods are on it */
    WHY_CONSOLIDATION_WAITS,   /* consolidateAfter has not passed since the last pod came or went */
    WHY_CONSOLIDATION_UNKNOWN, /* its NodeClaim or its NodePool is not there */
};
struct why_node {
    struct text name, claim, pool; /* empty: none */
    struct text instance_type, zone, capacity_type;
    int64_t created_unix_s;              /* of the NodeClaim, else of the Node; 0: not said */
    const struct why_node_pod *pods;     /* by namespace and name */
    size_t pod_count, moving_count;      /* those that move */
    const struct why_node_owner *owners; /* of those, the one with most pods first */
    size_t owner_count;
    bool expires; /* at: */
    int64_t expires_unix_s;
    bool drifted;
    struct text drift;      /* its reason */
    struct text drift_path; /* the field of its NodePool that it is for; empty: not known */
    int64_t drifted_unix_s; /* 0: not said */
    enum why_consolidation consolidation;
    struct text consolidate_after; /* as the NodePool has it; empty: it does not say */
    unsigned reason; /* REASON_X under which Karpenter would take it: drifted, else empty, else
                        underutilized */
    bool wanted;     /* Karpenter would, if nothing kept it */
    struct disruption forecast; /* of this Node alone */
};
/* By the name of a Node or of a NodeClaim without one. seen: the kinds of which the snapshot has
 * every object. False with *error: there is none of that name. */
bool why_node(const struct snapshot *snapshot, kind_set seen, struct text name, int64_t now_unix_s,
              struct arena *arena, struct why_node *why, struct error *error) MUST_CHECK;

#endif
