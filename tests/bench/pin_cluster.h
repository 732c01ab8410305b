/* A cluster for measuring what pins cost: 10,000 pods on 1,000 nodes, 100 StatefulSets, 5,000
 * claims with their volumes. Objects are JSON text, of the size of real ones without
 * managedFields. */
#ifndef TAFFRAIL_TESTS_PIN_CLUSTER_H
#define TAFFRAIL_TESTS_PIN_CLUSTER_H

#include "base/base.h"

enum {
    PIN_NODES = 1000,
    PIN_SETS = 100,
    PIN_DAEMONS = 3,
    PIN_DEPLOYMENTS = 241,
    PIN_SET_REPLICAS = 20,    /* of most sets */
    PIN_LARGE_REPLICAS = 200, /* of the first set */
    PIN_HALF_LARGE = 0,       /* sets the second half of whose pods is yet to come */
    PIN_HALF_SMALL = 4,
    PIN_DEPLOYMENT_REPLICAS = 20,
    PIN_CLAIMS = 5000,
    PIN_POOLS = 3,
    PIN_POOLS_OF_ALL = 20, /* with those of teams */
};

/* Every object, in no order that matters. In namespace team-0 there is an unbound claim "shared".
 */
void pin_cluster_make(struct arena *arena, void (*put)(void *context, struct text json),
                      void *context);
/* Pools of teams, tainted, beside those that anybody may use. */
void pin_cluster_make_team_pools(struct arena *arena, void (*put)(void *context, struct text json),
                                 void *context);
/* Of the sets every fourth spreads over zones, every fourth keeps apart on hosts, every fourth is
 * confined to two zones; the others ask nothing. */
size_t pin_set_replicas(size_t set);
/* A pod of a set; node PIN_NODES: it has none. */
struct text pin_set_pod(struct arena *arena, size_t set, size_t ordinal, size_t node);
/* A pod of a Deployment; claim: the one it mounts (empty: none); follows: a set it must be beside
 * in its zone (PIN_SETS: none). */
struct text pin_deployment_pod(struct arena *arena, size_t deployment, size_t number, size_t node,
                               struct text claim, size_t follows);
struct text pin_node(struct arena *arena, size_t node, bool cordoned);
/* A set's claim; bound: to its volume. */
struct text pin_set_claim(struct arena *arena, size_t set, size_t ordinal, bool bound);

#endif
