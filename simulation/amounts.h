/* Quantities by name of resource, and what a pod requests. */
#ifndef TAFFRAIL_SIMULATION_AMOUNTS_H
#define TAFFRAIL_SIMULATION_AMOUNTS_H

#include "base/base.h"
#include "solver/solver.h"

struct object;
struct snapshot;
struct workload;

/* cpu in thousandths, all others in units. */
struct named_amount {
    const char *resource;
    int64_t quantity;
};
struct named_amounts {
    struct named_amount *items;
    size_t count, capacity;
};
/* 0 when it is absent. */
int64_t named_amount_of(const struct named_amounts *amounts, const char *resource);
/* Reads a map of quantities, as in a node's allocatable or a NodePool's limits; false with *error,
 * which names the first that is invalid. */
bool named_amounts_read(const struct object *object, const struct field *map, struct arena *arena,
                        struct named_amounts *amounts, struct error *error) MUST_CHECK;
struct solver_amounts named_amounts_number(const struct named_amounts *amounts,
                                           struct solver_builder *builder, struct arena *arena);
/* The amounts by the resource numbers of a finished problem; SOLVER_NONE: nothing in it has the
 * resource. */
struct solver_amounts named_amounts_find(const struct named_amounts *amounts,
                                         const struct solver_problem *problem, struct arena *arena);

/* Reads what the whole pod requests, as the API server stores it and kube-scheduler counts it: the
 * larger of what its containers need while they run and while they start, or the pod's own
 * resources; and its overhead. Pods that are not stored yet take the defaults of LimitRanges. */
bool pod_requests_read(const struct snapshot *snapshot, const struct workload *workload,
                       struct arena *arena, struct named_amounts *requests,
                       struct error *error) MUST_CHECK;

#endif
