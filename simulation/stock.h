/* What can be bought, prepared once for many plans: NodePools, instance types and DaemonSets. It
 * has no Nodes and no pods. */
#ifndef TAFFRAIL_SIMULATION_STOCK_H
#define TAFFRAIL_SIMULATION_STOCK_H

#include "simulation/cluster.h"

struct stock {
    const struct catalog *catalog;
    struct zones zones;
    const struct cluster_pool *pools;
    size_t pool_count;
    const struct cluster_type *types;
    size_t type_count;
    struct daemons daemons;
    struct simulation_settings settings;
    const struct solver_problem *problem;
};
/* Everything is in the arena: the snapshot may be freed, the catalogue must stay. What cannot be
 * understood is left out. False when the solver refuses the rest (a duplicate name). */
bool stock_make(const struct snapshot *snapshot, const struct catalog *catalog,
                const struct simulation_settings *settings, struct arena *arena,
                struct stock *stock, struct error *error) MUST_CHECK;
/* A cluster that buys from the stock; its pods are yet to be read. Plans of one stock may be made
 * at the same time. */
void stock_cluster(const struct stock *stock, const struct snapshot *snapshot, struct arena *arena,
                   struct cluster *cluster);

#endif
