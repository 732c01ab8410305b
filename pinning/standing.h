/* What is there without what is pending, as a problem for the solver, and that problem kept up with
 * a cluster that changes: what solver_query_zones() has to know, and no more. Pods that wait do not
 * count, and neither do volumes, since nobody asks with volumes. */
#ifndef TAFFRAIL_PINNING_STANDING_H
#define TAFFRAIL_PINNING_STANDING_H

#include "kube/karpenter.h"
#include "kube/zone.h"
#include "simulation/amounts.h"

struct catalog;
struct object;
struct snapshot;

/* A machine of the problem. */
struct stood_machine {
    struct text node_name;   /* as pods name it */
    const char *name;        /* in the problem */
    struct text node, claim; /* the names of the objects it was read from; empty: of none */
    struct text zone;        /* empty: none */
    bool zone_unclear;       /* labels that mean the zone contradict each other */
    bool leaving;            /* it is being deleted */
    uint64_t mark;           /* differs when anything about it does */
};
struct stood_machines {
    struct stood_machine *items; /* by node_name */
    size_t count, capacity;
};
struct standing {
    const struct catalog *catalog;
    struct karpenter_settings settings;
    const struct solver_problem *problem;
    struct zones zones; /* those the cluster names */
    struct stood_machines machines;
    struct texts namespaces; /* that the problem knows */
    uint64_t *daemons;       /* marks */
    size_t daemon_count;
};

/* Memory: of the problem and of all that standing holds; for a while; and for a while within that
 * while, which is reset. A problem derived from another needs that one's memory, too. */
struct standing_memory {
    struct arena *problem, *passing, *piece;
};

/* From nothing. False: the solver refuses it. */
bool standing_build(struct standing *standing, const struct snapshot *snapshot,
                    const struct catalog *catalog, const struct karpenter_settings *settings,
                    const struct standing_memory *memory, struct error *error) MUST_CHECK;

struct pod_name {
    struct text namespace, name;
};
/* What may not be as it was when the problem was made. Objects are named; those of the snapshot
 * count. */
struct standing_delta {
    LIST(struct pod_name) pods;
    struct texts nodes, claims; /* Nodes and NodeClaims */
    struct texts namespaces;    /* whose labels are others */
};
/* What that came to, as far as one has to know who asks for zones. */
struct standing_effect {
    struct stood_machines machines;      /* as they were, and as they are, that changed */
    LIST(const struct object *) arrived; /* pods that were there before their machine */
    bool limits_differ;                  /* NodePools may buy more or less */
};
/* False: it takes a problem from nothing. */
bool standing_derive(struct standing *standing, const struct snapshot *snapshot,
                     const struct standing_delta *delta, const struct standing_memory *memory,
                     struct standing_effect *effect, struct error *error) MUST_CHECK;

/* Whether a pod of the snapshot would take part, were its machine there. */
bool pod_stands(const struct object *pod);
/* NULL: it is not there. */
const struct stood_machine *standing_machine(const struct standing *standing,
                                             struct text node_name);
/* Whether somebody runs there, or may come to. */
bool standing_knows_namespace(const struct standing *standing, struct text name);
/* Whether the zones that the cluster names are what they were. */
bool standing_zones_agree(const struct standing *standing, const struct snapshot *snapshot,
                          struct arena *arena);
/* Whether the DaemonSets are what they were. */
bool standing_daemons_agree(const struct standing *standing, const struct snapshot *snapshot,
                            struct arena *arena);

#endif
