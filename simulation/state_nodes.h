/* Nodes, NodeClaims without one, and what was bought in a round. */
#ifndef TAFFRAIL_SIMULATION_STATE_NODES_H
#define TAFFRAIL_SIMULATION_STATE_NODES_H

#include "simulation/amounts.h"
#include "simulation/simulation.h"

struct object;
struct snapshot;

struct state_node {
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
    bool leaving;                      /* it is being deleted: only pods that stay on it matter */
    uint32_t number;                   /* in the problem of this round */
    struct simulation_node simulation; /* of what was bought */
};
struct state_nodes {
    struct state_node *items;
    size_t count, capacity;
};
/* What a node is read from: a Node, its NodeClaim, or both. */
struct node_source {
    const struct object *node, *claim; /* one may be NULL */
};
struct node_sources {
    struct node_source *items; /* by name, those with a Node first */
    size_t count, capacity;
};
void node_sources_find(const struct snapshot *snapshot, struct arena *arena,
                       struct node_sources *sources, struct problems *problems);
/* The node, unless it is not there yet: adds it to nodes. */
void state_node_add(const struct snapshot *snapshot, const struct node_source *source,
                    struct arena *arena, struct state_nodes *state_nodes,
                    struct problems *problems);
/* Nodes and NodeClaims, by name; what cannot be understood is added to problems. */
void state_nodes_read(const struct snapshot *snapshot, struct arena *arena,
                      struct state_nodes *state_nodes, struct problems *problems);

#endif
