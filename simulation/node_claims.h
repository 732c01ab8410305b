/* Machines that a round buys, as Nodes for the next. */
#ifndef TAFFRAIL_SIMULATION_NODE_CLAIMS_H
#define TAFFRAIL_SIMULATION_NODE_CLAIMS_H

#include "simulation/state_nodes.h"

struct cluster;

/* Once it has come up, in the zone and of the type that is cheapest. Round and number tell it from
 * the others. */
struct state_node state_node_of_claim(const struct cluster *cluster,
                                      const struct solver_node_claim *claim, size_t round,
                                      size_t number);
/* What is known about a Node that is there, some of it by its type. */
void state_node_describe(const struct cluster *cluster, struct state_node *state_node);

#endif
