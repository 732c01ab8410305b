/* A drill: what a plan takes to be lost, sold out or scaled, and what that did to the cluster. */
#ifndef TAFFRAIL_SIMULATION_DRILL_H
#define TAFFRAIL_SIMULATION_DRILL_H

#include "kube/kind.h"

struct cluster;
struct cluster_pod;
struct cluster_pool;
struct cluster_type;
struct problems;
struct simulation;
struct simulation_unschedulable;
struct solver_builder;
struct solver_offering;
struct state_node;

/* A workload with another number of replicas. */
struct drill_scale {
    enum kind kind;              /* of KINDS_SCALED */
    struct text namespace, name; /* namespace empty: not said */
    int64_t replicas;
};
struct drill {
    struct text_list zones;       /* their nodes are lost, and nothing is bought there */
    struct text_list pools;       /* deleted, with their nodes */
    const struct text_map *nodes; /* names of Nodes that are lost; NULL: none */
    /* The nodes are not lost but replaced, one after the other: what is launched has to fit the
     * limits of its NodePool beside all of them but one (docs/reference/karpenter.md 6.11). */
    bool replaces;
    /* Of the nodes, those whose drain ends by itself, or has begun: a pod that nobody evicts wants
     * no place before; NULL: none. */
    const struct text_map *bounded;
    struct text_list stopped; /* NodePools that launch nothing; their nodes stay */
    /* Instance types, families and capacity types of which nothing can be bought. Nodes that run
     * stay. */
    struct text_list sold_out;
    struct {
        struct drill_scale *items;
        size_t count, capacity;
    } scales;
    struct text namespace; /* of scales that say none, where several workloads have the name */
};

/* ---- what it did ---- */

struct drilled_workload {
    enum kind kind;
    struct text namespace, name;
    int64_t before, replicas;
};
/* A pod that fits nowhere because its volume stays where nothing is left. */
struct drilled_disk {
    size_t pod;        /* in simulation.pods */
    struct text claim; /* "namespace/name" */
    struct text place; /* "us-east-1a", "node n1" */
};
struct drilled {
    const struct drill *drill;
    const struct drilled_workload *workloads;
    size_t workload_count;
    size_t node_count, unpriced_count; /* Nodes that are lost; of them those without a price */
    int64_t usd_micro_per_hour;        /* of those with one */
    size_t moved_count;                /* pods that ran on them and want another place */
    /* "namespace/name" of pods that ran on them and have no controller that makes them again. */
    struct text_list gone;
    const struct drilled_disk *disks; /* in the order of the pods that fit nowhere */
    size_t disk_count;
    /* Where nodes are replaced, the first NodePool for a pod that fits nowhere which launches
     * nothing since its nodes use more than its limit of a resource; NULL: none. */
    const char *above;
    struct text above_pool;
    const struct simulation *without; /* the plan without the drill; NULL: nobody made it */
};

/* ---- private to simulation/ ---- */

/* Adds names that the cluster and the catalogue do not have to problems. */
void drill_check(const struct cluster *cluster, struct problems *problems);
/* Moves the nodes that are lost from cluster.state_nodes to cluster.lost_nodes. */
void drill_take_nodes(struct cluster *cluster);
/* Where nodes are replaced, what the limits of the NodePools leave to one successor. */
void drill_limit_pools(struct cluster *cluster);
/* Whether a type is larger than that; numbered by the builder. */
bool drill_limits_type(const struct cluster_pool *pool, const struct cluster_type *type,
                       struct solver_builder *builder);
/* Whether an offering of the type cannot be bought. */
bool drill_takes_offering(const struct cluster *cluster, const struct cluster_type *type,
                          const struct solver_offering *offering);
/* The pod's node is lost: a controller makes most pods again. Of a node that is replaced, Karpenter
 * finds all pods a place. */
void drill_move_pod(const struct cluster *cluster, struct cluster_pod *pod);
/* Why the pod fits nowhere, whatever the NodePools that are left launch: its volume is in what is
 * lost. Empty: it is not. */
struct text drill_strands(const struct cluster *cluster, const struct cluster_pod *pod);
/* What the drill did, when all rounds are run. NULL: there is no drill. */
struct drilled *drill_tell(const struct cluster *cluster, const struct simulation *simulation);

#endif
