/* The parts of the rail placeable: what is asked (placeable.c), nodes that are not visible
 * (placeable_unseen.c), the words of a pod that fits nowhere (placeable_words.c), and what is too
 * large for any instance type (placeable_size.c). */
#ifndef TAFFRAIL_POLICY_RAILS_PLACEABLE_H
#define TAFFRAIL_POLICY_RAILS_PLACEABLE_H

#include "kube/pod.h"
#include "kube/taint.h"
#include "policy/rail.h"

struct pool;
struct supply_answer;

/* A workload that is asked about. */
struct placing {
    struct rail_call *call;
    struct workload workload;
    const struct node_selection *selection;
    struct tolerations tolerations;
    bool nodes_unseen; /* Nodes may be there that cannot be seen */
};

/* ---- placeable_unseen.c ---- */

/* What leads the pod, on one way at least, to nodes that neither a visible NodePool makes nor a
 * visible Node is; NULL: nothing does. */
const struct expression *placeable_elsewhere(const struct placing *placing);
/* Whether node-labels of the same policy says of every way to a node that nobody offers a label. */
bool placeable_labels_tell(const struct placing *placing);
void placeable_report_elsewhere(const struct placing *placing, const struct expression *elsewhere);
/* Whether it is meant for NodePools that are visible: it selects what they alone give their nodes,
 * or tolerates a taint of theirs. */
bool placeable_is_for_pools(const struct placing *placing);
/* Whether a NodePool that EKS Auto Mode brings along, and that is not visible, may run it. */
bool placeable_may_be_built_in(const struct placing *placing);
/* Whether it is a template still: a value is filled in before it is applied. */
bool placeable_is_template(const struct placing *placing);

/* What is wrong with a pod, whatever it lacks and however much. */
#define RUNS_NOWHERE "Nothing can run the pod."

/* ---- placeable_words.c ---- */

void placeable_report_nowhere(const struct placing *placing, const struct supply_answer *answer);

/* ---- placeable_size.c ---- */

/* Reports a pod that no instance type holds which the policy allows; false: some does. */
bool placeable_report_size(const struct placing *placing);
/* A DaemonSet that fits no instance type, or leaves no room on any of a NodePool. */
void placeable_judge_daemon_set(const struct placing *placing);
/* Whether the same policy has placeable, which says that a DaemonSet leaves no room in the pool. */
bool placeable_tells_daemon_set(struct rail_call *call, const struct workload *daemon,
                                const struct pool *pool);

#endif
