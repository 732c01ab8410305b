/* Private to the question why a pod is where it is. */
#ifndef TAFFRAIL_SIMULATION_WHY_POD_INTERNAL_H
#define TAFFRAIL_SIMULATION_WHY_POD_INTERNAL_H

#include "simulation/cluster.h"
#include "simulation/why_pod.h"

struct asking {
    const struct snapshot *snapshot;
    const struct catalog *catalog;
    const struct simulation_settings *settings;
    struct arena *arena;
    struct cluster cluster;
    struct cluster_pod *pod;
    struct text own_node; /* for which its controller has made it; empty: it is of no DaemonSet */
    struct why_pod *why;
    struct why_pool *pools;
};

/* Judges all NodePools, the nearest first. claims: what each pool of the problem would buy; NULL:
 * none buys anything. whatever: the reasons hold for every NodePool. */
void why_pools_judge(struct asking *asking, const struct solver_node_claim *const *claims,
                     const struct simulation_reasons *reasons, bool whatever);
/* The pool of a node that is bought for the pod beside all that are pending. */
void why_pools_take_bought(struct asking *asking, const struct simulation_node *node);

#endif
