/* Private to the forecast of a disruption. */
#ifndef TAFFRAIL_SIMULATION_DISRUPTION_INTERNAL_H
#define TAFFRAIL_SIMULATION_DISRUPTION_INTERNAL_H

#include "simulation/disruption.h"

struct claims_of_nodes;

/* Whether Karpenter has made the Node. In files NodeClaims may be left out: the label tells then.
 */
bool disruption_is_managed(const struct claims_of_nodes *claims, const struct object *node,
                           const struct object *claim);
/* Whether a Node or its NodeClaim is being deleted, or Karpenter has begun to replace it. */
bool disruption_is_leaving(const struct object *node, const struct object *claim);
/* Whether its machine is on its way out: no pod is left on it. */
bool disruption_is_terminating(const struct object *claim);
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
