/* A cluster that is read once, as the solver needs it, and the problem of each round. */
#ifndef TAFFRAIL_SIMULATION_CLUSTER_H
#define TAFFRAIL_SIMULATION_CLUSTER_H

#include "catalog/node_class.h"
#include "kube/pool.h"
#include "kube/zone.h"
#include "simulation/pods.h"
#include "simulation/scaling.h"
#include "simulation/state_nodes.h"

struct pool;
struct simulation_settings;
struct snapshot;
struct volume_claims;

struct cluster_pool {
    const struct pool *pool;
    const char *name;
    uint32_t weight;
    struct solver_expressions requirements;
    struct solver_labels labels;
    struct solver_taints taints;
    struct named_amounts limits;
    struct named_amounts room; /* for one instance, where a drill replaces nodes; empty: any */
    const char *above;         /* a resource of whose limit a drill finds more in use; NULL: none */
    bool offers_nothing;       /* it is of another cloud than the catalogue's types */
    /* It has no types in the problem: the same, or the catalogue knows the hardware of none. */
    bool unlisted_types;
    struct label_domains label_domains; /* of another cloud */
    /* What its node class changes about instance types; NULL: nothing. Equal settings are one
     * object. */
    const struct class_settings *settings;
    struct class_types class_types; /* those that it can launch */
};
struct cluster_type {
    size_t index;                          /* in the catalogue */
    const struct class_settings *settings; /* of the pools that launch it */
    struct solver_instance_type solver;
};
/* How many instances of a capacity reservation the rounds have used. */
struct used_reservation {
    const char *id;
    uint32_t count;
};
struct used_reservations {
    struct used_reservation *items;
    size_t count, capacity;
};
struct cluster {
    struct arena *arena;
    const struct drill *drill; /* NULL: none */
    int64_t now_unix_s;        /* 0: nobody knows */
    const struct snapshot *snapshot;
    const struct catalog *catalog;
    struct zones zones;
    struct cluster_pool *pools;
    size_t pool_count;
    struct state_nodes state_nodes;
    struct state_nodes lost_nodes;  /* which a drill took; by name, too */
    struct scaled_list scaled;      /* the workloads that it scales */
    struct problems drill_problems; /* names of the drill that are not there */
    struct cluster_pods pods;
    struct daemons daemons;
    struct volume_claims *claims;
    struct eviction_budgets *budgets; /* NULL: no pod is asked whether it moves */
    struct cluster_type
        *types; /* in the order of their numbers in the problem; one for each settings */
    size_t type_count;
    struct reserved_capacity reserved;
    struct used_reservations used;
    bool extends_tolerations; /* as the API server's ExtendedResourceToleration does */
    bool assumes_disks; /* of nodes whose class is not visible; else they may be of any size */
    bool brief;         /* of what is bought only place and price are asked for */
    bool alone;         /* the pods are of one namespace, and there are no others */
    /* Types, pools and daemons as they are before the first round; NULL: each round adds them. */
    const struct solver_problem *stock;
    const struct solver_problem *problem; /* the last round's; NULL: none yet */
    bool is_posed;                        /* nothing has been placed since the problem was made */
};
/* Reads zones, NodePools and nodes, to ask what could run where; cluster_read() to plan. */
void cluster_read_supply(const struct snapshot *snapshot, const struct catalog *catalog,
                         struct arena *arena, struct cluster *cluster, struct problems *problems);
/* Adds types, pools and nodes. */
bool cluster_add_supply(struct cluster *cluster, struct solver_builder *builder,
                        struct error *error) MUST_CHECK;
/* Reads DaemonSets, and what their pods request. */
void cluster_read_daemons(struct cluster *cluster, struct problems *problems);
bool cluster_add_daemons(struct cluster *cluster, struct solver_builder *builder,
                         struct error *error) MUST_CHECK;
/* The labels of a namespace; its object may not be visible. */
struct solver_labels namespace_labels(const struct snapshot *snapshot, struct text name,
                                      struct arena *arena);
/* Reads everything, with pods, as the settings have it. What cannot be understood is added to
 * problems and left out. */
void cluster_read(const struct snapshot *snapshot, const struct catalog *catalog,
                  const struct simulation_settings *settings, struct arena *arena,
                  struct cluster *cluster, struct problems *problems);
/* Runs the rounds over a cluster that is read and described, which they use up. As
 * simulation_run(). */
bool cluster_simulate(const struct cluster *cluster, const struct simulation_settings *settings,
                      struct simulation *simulation, struct problems *problems,
                      struct error *error) MUST_CHECK;
/* The question where the pod could go, which the problem need not hold. */
struct solver_question cluster_question(struct cluster *cluster, const struct cluster_pod *pod);
/* The NodePool as it was read; NULL: it is not in the problem. Its index is that in the problem. */
const struct cluster_pool *cluster_pool_of(const struct cluster *cluster, const struct pool *pool);
/* Why a NodePool that makes nodes is left out of the problem; empty: it is not. */
struct text cluster_pool_fault(const struct cluster *cluster, const struct pool *pool);
/* Whether a drill deletes the NodePool, or has it launch nothing. */
bool cluster_loses_pool(const struct cluster *cluster, const struct pool *pool);
/* Reads zones and NodePools. */
void cluster_read_pools(struct cluster *cluster, struct problems *problems);
/* Finds where the volumes of a pod are, to place it; of those that have no Node it is known. */
void cluster_locate_volumes(struct cluster *cluster, struct cluster_pod *pod);
/* Why Karpenter buys nothing for it, by its shape or one of its claims; message.size 0: it may. */
const struct pod_fault *cluster_pod_nodes_only(const struct cluster_pod *pod);
/* A claim of one pod of which a pod that waits has found no place goes to the next that wants it.
 * How many pods got theirs. */
size_t cluster_pass_on_claims(struct cluster *cluster);
/* Finds the node of each pod, and reads the pods. */
void cluster_read_pods(struct cluster *cluster, struct problems *problems);
/* Runs all rounds of a cluster that is read. The machines they buy are the last of its state_nodes;
 * a pod without a place stays pending. */
bool cluster_run_rounds(struct cluster *cluster, const struct simulation_settings *settings,
                        struct error *error) MUST_CHECK;
/* Makes the problem of this round. A pod that the solver refuses gets a fault. */
bool cluster_problem(struct cluster *cluster, const struct solver_settings *settings,
                     struct error *error) MUST_CHECK;

#endif
