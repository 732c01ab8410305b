/* The NodeClaims of a round, as nodes of the next. */
#ifndef TAFFRAIL_SIMULATION_NODE_CLAIMS_H
#define TAFFRAIL_SIMULATION_NODE_CLAIMS_H

#include "simulation/state_nodes.h"

struct cluster;

/* The node that a NodeClaim becomes, of the cheapest type and zone. Round and number make its name
 * unique. */
struct state_node state_node_of_claim(const struct cluster *cluster,
                                      const struct solver_node_claim *claim, size_t round,
                                      size_t number);
/* Fills in what is known about an existing Node, some of it from its instance type. */
void state_node_describe(const struct cluster *cluster, struct state_node *state_node);

#endif
