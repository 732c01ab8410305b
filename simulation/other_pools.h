/* NodePools that are not in the problem, or of whose instance types too little is known. */
#ifndef TAFFRAIL_SIMULATION_OTHER_POOLS_H
#define TAFFRAIL_SIMULATION_OTHER_POOLS_H

#include "simulation/simulation.h"

struct cluster;
struct cluster_pod;
struct pool;

#define REASON_NOT_READY "not-ready" /* it makes no nodes now */
#define REASON_UNDECIDED "undecided" /* what decides cannot be seen */

/* What such a NodePool says of a pod; false: what the solver tells of it stands. told: the solver
 * has a reason for it. */
bool other_pool_ask(const struct cluster *cluster, const struct pool *pool,
                    const struct cluster_pod *pod, bool told, struct simulation_reason *reason);
/* Adds what all such NodePools say to what the solver tells, or puts it in its place. Pools that a
 * drill deletes say nothing, nor those that are left out as what no API server would have taken.
 * told: nothing in it excludes every pool (reason_words.h), but that the problem has none. */
struct simulation_reasons other_pools_add(const struct cluster *cluster,
                                          const struct cluster_pod *pod,
                                          struct simulation_reasons told);

#endif
