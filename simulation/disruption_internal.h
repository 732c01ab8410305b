/* Private to the forecast of a disruption. */
#ifndef TAFFRAIL_SIMULATION_DISRUPTION_INTERNAL_H
#define TAFFRAIL_SIMULATION_DISRUPTION_INTERNAL_H

#include "simulation/disruption.h"

struct claims_of_nodes;

/* Whether its start has ended; of one without a Node it has not. */
bool disruption_is_initialized(const struct object *node);
/* Finds what blocks the nodes, and which of them it blocks; their pools are known. */
void disruption_find_blocks(const struct disruption_question *question,
                            const struct claims_of_nodes *claims, struct arena *arena,
                            struct disruption *disruption);
/* Counts the nodes of the pools, and finds how many may go at once, now and in the next windows. */
void disruption_read_pools(const struct disruption_question *question,
                           const struct claims_of_nodes *claims, struct arena *arena,
                           struct disruption *disruption);

#endif
