/* A cluster read once into what the solver asks for, and a problem built of it for each round. */
#ifndef TAFFRAIL_SIMULATION_CLUSTER_H
#define TAFFRAIL_SIMULATION_CLUSTER_H

#include "kube/zone.h"
#include "simulation/pods.h"
#include "simulation/state_nodes.h"

struct catalog;
struct class_settings;
struct pool;
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
    bool offers_nothing; /* its types are not in the catalogue */
    /* What its node class makes of the types; NULL: what is usual. Equal ones are one. */
    const struct class_settings *settings;
};
struct cluster_type {
    size_t index;                          /* in the catalogue */
    const struct class_settings *settings; /* of the pools that have it */
    struct solver_instance_type solver;
};
/* How many nodes of a capacity reservation the rounds have used. */
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
    const struct snapshot *snapshot;
    const struct catalog *catalog;
    struct zones zones;
    struct cluster_pool *pools;
    size_t pool_count;
    struct state_nodes state_nodes;
    struct cluster_pods pods;
    struct daemons daemons;
    struct volume_claims *claims;
    struct cluster_type *types; /* as the problem numbers them; each with every kind of settings */
    size_t type_count;
    struct reserved_capacity reserved;
    struct used_reservations used;
    const struct solver_problem *problem; /* of the last round; NULL: none yet */
};
/* Every zone that something visible names. */
void cluster_zones_read(const struct snapshot *snapshot, const struct catalog *catalog,
                        struct arena *arena, struct zones *zones);
/* What may be bought and what is there: zones, pools, nodes. */
void cluster_read_supply(const struct snapshot *snapshot, const struct catalog *catalog,
                         struct arena *arena, struct cluster *cluster, struct problems *problems);
/* Adds types, pools and nodes. */
bool cluster_add_supply(struct cluster *cluster, struct solver_builder *builder,
                        struct error *error) MUST_CHECK;
/* What the DaemonSets' pods ask, and the DaemonSets for the solver. */
void cluster_read_daemons(struct cluster *cluster, struct problems *problems);
bool cluster_add_daemons(struct cluster *cluster, struct solver_builder *builder,
                         struct error *error) MUST_CHECK;
/* A node as the solver wants it; pool: whether its NodePool is in the problem. */
struct solver_node state_node_convert(const struct state_node *state_node, bool of_pool,
                                      struct solver_builder *builder, struct arena *arena);
/* The labels of a namespace, whose object may not be visible. */
struct solver_labels namespace_labels(const struct snapshot *snapshot, struct text name,
                                      struct arena *arena);
/* The node of that name in nodes that are sorted; NO_MACHINE. */
size_t state_node_find(const struct state_nodes *state_nodes, struct text node_name);
/* The whole, with pods. What cannot be understood is added to problems and left out. */
void cluster_read(const struct snapshot *snapshot, const struct catalog *catalog,
                  struct arena *arena, struct cluster *cluster, struct problems *problems);
/* The problem as things stand. A pod the solver refuses gets a fault. */
bool cluster_problem(struct cluster *cluster, const struct solver_settings *settings,
                     struct error *error) MUST_CHECK;

#endif
