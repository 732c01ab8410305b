/* A simulation: what Karpenter buys for the pending pods, round after round. */
#ifndef TAFFRAIL_SIMULATION_SIMULATION_H
#define TAFFRAIL_SIMULATION_SIMULATION_H

#include "base/base.h"
#include "solver/solver.h"

struct catalog;
struct drill;
struct drilled;
struct snapshot;

/* Karpenter's ReservedCapacity. An EC2NodeClass names its capacity reservations, but not how many
 * instances are free in them: a reservation without a count here is left out. A count wins over the
 * user's catalogue. */
struct reservation_count {
    const char *id;
    uint32_t state_nodes;
};
struct reserved_capacity {
    bool off;
    bool uncounted; /* for what could ever run: each reservation has a free instance */
    const struct reservation_count *items;
    size_t count;
};
struct simulation_settings {
    struct solver_settings solver;
    struct reserved_capacity reserved;
    size_t max_rounds;         /* 0: until nothing changes */
    const struct drill *drill; /* NULL: the cluster as it is */
    int64_t now_unix_s;        /* 0: nobody knows, and a pod that opts out for a time may go */
    /* The API server does not add the tolerations of extended resources that a pod asks for. */
    bool no_extended_resource_toleration;
};
struct karpenter_settings;
struct simulation_settings simulation_settings_of(const struct karpenter_settings *settings);
/* Whether the cluster is small enough to be planned while a request waits. */
bool simulation_is_quick(const struct snapshot *snapshot);
/* A pod of the cluster that is not finished, or one that a workload would make. */
struct simulation_pod {
    struct text namespace, name;
    struct text workload; /* "Deployment web" of its root owner; its own name when it has none */
    int64_t cpu_milli, memory_bytes; /* what it requests */
    bool running;                    /* had a node before */
};
struct simulation_requirement {
    struct text key;
    enum solver_op op;
    const struct text *values; /* sorted */
    size_t value_count;
};
/* A Node of the cluster, or a NodeClaim to buy. */
struct simulation_node {
    struct text name;      /* NodeClaim: empty */
    struct text node_pool; /* empty: none */
    /* NodeClaim: of its cheapest offering, with the capacity type that the provider buys. */
    struct text zone, capacity_type, instance_type;
    int64_t cpu_milli, memory_bytes; /* allocatable; NodeClaim: of that type */
    int64_t usd_micro_per_hour;      /* -1: not known */
    struct text price_of; /* the capacity type that the price is of, if another; else empty */
    const size_t *pods;   /* indices of simulation.pods, by namespace and name */
    size_t pod_count;
    /* NodeClaims only. */
    size_t round;                      /* from 1; 0: a Node */
    const struct text *instance_types; /* types that can hold its pods, by price, then name */
    size_t instance_type_count;
    const struct text *zones; /* all remaining zones, sorted */
    size_t zone_count;
    const struct simulation_requirement *requirements; /* by key */
    size_t requirement_count;
    const size_t
        *misplaced; /* as pods; Karpenter buys it for them, too, and they cannot run on it */
    size_t misplaced_count;
};
/* Why some of the Nodes refuse a pod. */
struct simulation_cause {
    size_t count;        /* of Nodes */
    const char *kind;    /* solver_reason_name() */
    struct text message; /* "have the taint ..." */
    bool of_pod;         /* it is the pod's own, whatever the Node: "asks for ..." */
};
/* Why a pod fits nowhere. */
struct simulation_reason {
    struct text node_pool; /* empty: holds for all pools */
    const char *kind;      /* solver_reason_name(), or one of other_pools.h */
    struct text message, nearest;
    struct text fix; /* what would change it; empty: nobody says */
    /* Of the Nodes, the most frequent first; else none. */
    const struct simulation_cause *causes;
    size_t cause_count;
};
struct simulation_reasons {
    const struct simulation_reason *items;
    size_t count;
};
struct simulation_unschedulable {
    size_t pod;
    const struct simulation_reason *reasons;
    size_t reason_count;
    size_t later_round; /* the round in which it would be placed, beyond max_rounds; 0: none */
    bool misplaced;     /* Karpenter counts it as placed, on a node where its local volume is not */
};
struct simulation {
    const struct simulation_pod *pods;
    size_t pod_count;
    const struct simulation_node
        *nodes;                     /* Nodes by name, then NodeClaims by round, pool and type */
    size_t node_count, claim_count; /* NodeClaims are the last of the nodes */
    const struct simulation_node *leaving; /* Nodes that are going already, which take no pod */
    size_t leaving_count;
    const struct simulation_unschedulable *unschedulable; /* by namespace and name of the pod */
    size_t unschedulable_count;
    const struct text
        *unlaunched; /* NodeClaims that are not launched yet: they count for nothing */
    size_t unlaunched_count;
    /* Pods that a NodePool may take about which too little is known, and nothing else does. */
    const struct simulation_unschedulable *undecided;
    size_t undecided_count;
    size_t round_count;
    int64_t usd_micro_per_hour;    /* of the NodeClaims that have a known price */
    size_t unpriced_count;         /* NodeClaims that have none */
    const struct catalog *catalog; /* whose prices these are; NULL: nobody says */
    bool incomplete;               /* something that could not be understood is left out */
    bool cut_short;          /* time ran out while looking for a better plan (solver.patience) */
    struct drilled *drilled; /* what the drill of the settings did; NULL: there was none */
};
/* Solves round after round until nothing changes (docs/reference/karpenter.md 2): NodeClaims become
 * nodes, and volumes are bound where their first pod is placed. Workloads without pods are expanded
 * as their controllers do. What cannot be understood is added to *problems and left out. False with
 * *error when the rest is invalid: quantities that overflow, a duplicate name; and when a drill
 * names what is not there. */
bool simulation_run(const struct snapshot *snapshot, const struct catalog *catalog,
                    const struct simulation_settings *settings, struct arena *arena,
                    struct simulation *simulation, struct problems *problems,
                    struct error *error) MUST_CHECK;

#endif
