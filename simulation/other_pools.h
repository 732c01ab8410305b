/* NodePools that are not in the problem, or of whose instance types too little is known. */
#ifndef TAFFRAIL_SIMULATION_OTHER_POOLS_H
#define TAFFRAIL_SIMULATION_OTHER_POOLS_H

#include "simulation/simulation.h"

struct cluster;
struct pool;
struct workload;

#define REASON_NOT_READY "not-ready" /* it makes no nodes now */
#define REASON_UNDECIDED "undecided" /* what decides cannot be seen */

/* Why a NodePool that makes no nodes, or has no instance types in the problem, takes no such pod;
 * of kind REASON_UNDECIDED when it may. takes: what the pod selects and tolerates lets it there. */
struct simulation_reason other_pool_reason(const struct pool *pool, bool takes,
                                           struct arena *arena);
/* The reasons of all such NodePools of a cluster, without those that a drill deletes, and those
 * that are left out as what no API server would have taken. */
struct simulation_reasons other_pools_ask(const struct cluster *cluster,
                                          const struct workload *workload);
/* Adds them to what the solver tells, in the place of what it tells of them, which is less. */
struct simulation_reasons other_pools_add(struct simulation_reasons told,
                                          struct simulation_reasons others, struct arena *arena);

#endif
