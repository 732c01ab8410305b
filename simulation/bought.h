/* Machines that a round buys, as Nodes for the next. */
#ifndef TAFFRAIL_SIMULATION_BOUGHT_H
#define TAFFRAIL_SIMULATION_BOUGHT_H

#include "simulation/machines.h"

struct cluster;

/* Once it has come up, in the zone and of the type that is cheapest. Round and number tell it from
 * the others. */
struct machine machine_of_claim(const struct cluster *cluster, const struct solver_claim *claim,
                                size_t round, size_t number);
/* What is known about a Node that is there, some of it by its type. */
void machine_describe(const struct cluster *cluster, struct machine *machine);

#endif
