/* The nodes of a simulation: Nodes, NodeClaims without a Node, and NodeClaims bought in a round. */
#ifndef TAFFRAIL_SIMULATION_STATE_NODES_H
#define TAFFRAIL_SIMULATION_STATE_NODES_H

#include "simulation/amounts.h"
#include "simulation/simulation.h"

struct object;
struct snapshot;

struct state_node {
    const char
        *name; /* by which Karpenter orders nodes: that of its NodeClaim until it is registered */
    const char *node_name;       /* the name in a pod's spec.nodeName */
    const char *pool;            /* NULL: of none */
    struct solver_labels labels; /* its hostname among them */
    struct solver_taints taints;
    struct named_amounts capacity, allocatable;
    const struct solver_attach_limit *attach_limits;
    size_t attach_limit_count;
    bool attach_limits_known; /* its CSINode says how many volumes its drivers attach */
    bool initialized;
    bool leaving;                      /* being deleted: only pods that stay on it count */
    uint32_t number;                   /* in the problem of this round */
    struct simulation_node simulation; /* of a NodeClaim that was bought */
};
struct state_nodes {
    struct state_node *items;
    size_t count, capacity;
    struct text_list unlaunched; /* NodeClaims of which nobody knows the machine yet, by name */
};
/* Reads Nodes and NodeClaims, by name. What cannot be understood is added to problems. */
void state_nodes_read(const struct snapshot *snapshot, struct arena *arena,
                      struct state_nodes *state_nodes, struct problems *problems);

#endif
