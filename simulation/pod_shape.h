/* A pod's shape: the fields that the solver looks at. */
#ifndef TAFFRAIL_SIMULATION_POD_SHAPE_H
#define TAFFRAIL_SIMULATION_POD_SHAPE_H

#include "kube/pod.h"
#include "simulation/amounts.h"

struct object;
struct snapshot;

/* Why Karpenter ignores a pod; message.size 0: it does not. */
struct pod_fault {
    enum solver_reason_kind kind;
    struct text message;
    bool later;         /* arose during the rounds */
    bool broken;        /* the pod cannot be understood and is no part of the plan */
    bool no_machine;    /* no machine anywhere takes it */
    struct text fix;    /* empty: none is known */
    struct place place; /* of the field that cannot be understood */
};
struct pod_shape {
    struct solver_shape solver; /* without requests and volumes */
    struct named_amounts requests;
    struct pod_fault fault;
    /* Why Karpenter buys nothing for it; kube-scheduler may place it on an existing node. */
    struct pod_fault nodes_only;
    /* By required term: what its matchFields ask of a node; NULL: nothing anywhere. */
    const struct solver_expressions *fields;
    bool read, reported;
    bool added; /* added to the builder of this round, with so many volumes that are anywhere */
    size_t added_volume_count;
    uint32_t number; /* its number in the builder */
};
struct shape_source {
    struct text namespace;
    struct workload workload;
    /* The workload whose required node affinity counts; NULL: its own. */
    const struct workload *affinity_of;
    struct solver_labels more_labels; /* labels that a controller adds */
};
/* Adds the tolerations that the API server's admission plugin ExtendedResourceToleration adds to a
 * Pod with these requests. */
void tolerate_extended_resources(struct solver_shape *shape, const struct named_amounts *requests,
                                 struct arena *arena);
/* Reads what a pod requires of a node by itself, without its labels, what it prefers and what it
 * asks of other pods: what is broken there is a fault all the same. */
void pod_needs_read(const struct snapshot *snapshot, const struct workload *workload,
                    const struct pod_scheduling *scheduling, struct arena *arena,
                    struct pod_shape *shape);
void pod_shape_read(const struct snapshot *snapshot, const struct shape_source *source,
                    struct arena *arena, struct pod_shape *shape);
/* Whether two Pods that are there have one shape for certain, as most of one template do. */
bool pod_shapes_agree(const struct object *a, const struct object *b);

#endif
