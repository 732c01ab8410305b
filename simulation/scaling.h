/* The workloads that a drill scales. */
#ifndef TAFFRAIL_SIMULATION_SCALING_H
#define TAFFRAIL_SIMULATION_SCALING_H

#include "simulation/drill.h"
#include "simulation/owner.h"

struct cluster_pods;

/* A workload whose replicas a drill sets, and its pods: neither finished nor being deleted. */
struct scaled {
    const struct object *object;
    struct ancestor at;
    int64_t before, replicas;
    LIST(size_t) pods; /* indices of cluster_pods */
};
struct scaled_list {
    struct scaled *items;
    size_t count;
};
/* Finds the workloads of a drill (NULL: none). One that is absent, that is named twice, or that
 * another workload scales, is added to problems. */
struct scaled_list scaled_find(const struct snapshot *snapshot, const struct drill *drill,
                               struct arena *arena, struct problems *problems);
/* The pods of the workload that go when it has fewer replicas, in `goes` by index. */
void scaled_choose(const struct scaled *scaled, const struct cluster_pods *pods,
                   struct arena *arena, bool *goes);

#endif
