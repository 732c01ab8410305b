/* Nodes, NodeClaims without one, and what was bought in a round. */
#ifndef TAFFRAIL_SIMULATION_MACHINES_H
#define TAFFRAIL_SIMULATION_MACHINES_H

#include "simulation/amounts.h"
#include "simulation/forecast.h"

struct object;
struct snapshot;

struct machine {
    const char *name;      /* as Karpenter orders them: of its NodeClaim until it is registered */
    const char *node_name; /* as pods name it */
    const char *pool;      /* NULL: of none */
    struct solver_labels labels;
    struct solver_taints taints;
    struct named_amounts capacity, allocatable;
    const struct solver_attach_limit *attach_limits;
    size_t attach_limit_count;
    bool attach_limits_known; /* its drivers have said what they attach */
    bool initialized;
    bool leaving;                  /* it is being deleted: only pods that stay on it matter */
    uint32_t number;               /* in the problem of this round */
    struct forecast_node forecast; /* of what was bought */
};
struct machines {
    struct machine *items;
    size_t count, capacity;
};
/* What a machine is read from: a Node, its NodeClaim, or both. */
struct machine_source {
    const struct object *node, *claim; /* one may be NULL */
};
struct machine_sources {
    struct machine_source *items; /* by name, those with a Node first */
    size_t count, capacity;
};
void machine_sources_find(const struct snapshot *snapshot, struct arena *arena,
                          struct machine_sources *sources, struct problems *problems);
/* The machine, unless it is not there yet: adds it to machines. */
void machine_add(const struct snapshot *snapshot, const struct machine_source *source,
                 struct arena *arena, struct machines *machines, struct problems *problems);
/* Nodes and NodeClaims, by name; what cannot be understood is added to problems. */
void machines_read(const struct snapshot *snapshot, struct arena *arena, struct machines *machines,
                   struct problems *problems);

#endif
