/* What a DaemonSet takes of the machines that it runs on: the instance types that it leaves no room
 * on, the Nodes that have no room for it, and what its share of them costs. */
#ifndef TAFFRAIL_SIMULATION_DAEMON_FIT_H
#define TAFFRAIL_SIMULATION_DAEMON_FIT_H

#include "catalog/type_set.h"
#include "simulation/amounts.h"

struct catalog;
struct object;
struct pool;
struct snapshot;
struct workload;

/* A DaemonSet against a cluster, which may have another one of its name: that one does not count.
 */
struct daemon_fit {
    const struct snapshot *snapshot;
    const struct catalog *catalog;
    const struct workload *daemon;
    struct arena *arena;
    struct named_amounts requests; /* of a pod of it, itself among them ("pods") */
};
/* False: what its pods request cannot be understood. */
bool daemon_fit_read(const struct snapshot *snapshot, const struct catalog *catalog,
                     const struct workload *daemon, struct arena *arena,
                     struct daemon_fit *fit) MUST_CHECK;

/* Those of the types on which the DaemonSets of the pool's nodes (docs/reference/karpenter.md 2.6)
 * find room, and do not together with this one. *roomy: on how many they do without it. */
struct type_set daemon_fit_lost(const struct daemon_fit *fit, const struct pool *pool,
                                const struct type_set *types, size_t *roomy);

/* The Nodes that it is for, by what it selects and tolerates; those on their way out, and those
 * that do not say what they have, do not count. */
struct daemon_nodes {
    size_t count;
    struct text_list full; /* have no room for it beside the pods that are there */
    /* What it takes of those whose type has a price, on demand. */
    size_t priced;
    int64_t usd_micro_per_hour;
};
struct daemon_nodes daemon_fit_nodes(const struct daemon_fit *fit);

#endif
