/* A pod before accelerators: between the parts of the rail that judge pods. */
#ifndef TAFFRAIL_POLICY_RAILS_ACCELERATORS_POD_H
#define TAFFRAIL_POLICY_RAILS_ACCELERATORS_POD_H

#include "kube/taint.h"
#include "policy/rails/accelerators.h"

struct accelerators_pod {
    struct rail_call *call;
    const struct accelerators *settings;
    const struct node_selection *selection;
    struct tolerations tolerations;
    device_set wanted;
    const struct text_map *zeros; /* resources that it asks none of; NULL: not read yet */
};

/* Whether a pool could serve the pod by one of its first SUPPLY_TERMS_MAX terms, whatever its
 * taints are. */
enum service {
    SERVES_NOT,
    MAY_SERVE, /* what its types and their labels are is not known */
    SERVES,
};
enum service accelerators_service(const struct accelerators_pod *pod, const struct pool *pool);
/* Whether there are terms that it does not look at, by which a pool could serve the pod. */
bool accelerators_has_more_terms(const struct accelerators_pod *pod);
bool accelerators_are_closed_by(const struct accelerators_pod *pod, const struct taint *taint);
size_t accelerators_count_closing(const struct accelerators_pod *pod, const struct pool *pool);

/* Whether the pod may go to a visible Node, as one of a node group, that has as much as its
 * containers ask for of each resource in names that the rail is about. */
bool accelerators_node_serves(const struct accelerators_pod *pod, const struct workload *workload,
                              const struct text_map *names);

/* Tolerating PreferNoSchedule opens no door that was closed. */
bool accelerators_opens_a_door(const struct toleration *toleration);
/* A pod that asks for no accelerator, but tolerates every taint. */
void accelerators_judge_every_taint(struct accelerators_pod *pod, const struct workload *workload);

#define TAKES_A_PLACE " It takes a place on a node that is kept for pods that do."

#endif
