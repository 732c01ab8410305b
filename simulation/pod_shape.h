/* What the solver sees of a pod. */
#ifndef TAFFRAIL_SIMULATION_POD_SHAPE_H
#define TAFFRAIL_SIMULATION_POD_SHAPE_H

#include "kube/pod.h"
#include "simulation/amounts.h"

struct snapshot;

/* Why Karpenter would leave a pod out; message.size 0: it would not. */
struct pod_fault {
    enum solver_reason_kind kind;
    struct text message;
    bool later;         /* came about in the rounds */
    bool broken;        /* the pod cannot be understood: no part of the plan */
    struct place place; /* of what is broken */
};
struct pod_shape {
    struct solver_shape solver; /* without requests and volumes */
    struct named_amounts requests;
    struct pod_fault fault;
    /* Why Karpenter buys nothing for it; kube-scheduler may find it a node that is there. */
    struct pod_fault nodes_only;
    bool read, reported;
    bool added;      /* to the builder of this round, without volumes */
    uint32_t number; /* there */
};
struct shape_source {
    struct text namespace;
    struct workload workload;
    /* Whose required node affinity counts; NULL: its own. */
    const struct workload *affinity_of;
    struct solver_labels more_labels; /* that a controller adds */
};
void pod_shape_read(const struct snapshot *snapshot, const struct shape_source *source,
                    struct arena *arena, struct pod_shape *shape);
/* Only what others notice of a pod that runs: what it takes, and whom it keeps away. */
void running_shape_read(const struct snapshot *snapshot, const struct shape_source *source,
                        struct arena *arena, struct pod_shape *shape);

#endif
