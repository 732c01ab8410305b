/* Forecasts: what Karpenter buys for the pending pods, round after round. */
#ifndef TAFFRAIL_SIMULATION_SIMULATION_H
#define TAFFRAIL_SIMULATION_SIMULATION_H

#include "base/base.h"
#include "solver/solver.h"

struct catalog;
struct snapshot;

/* Karpenter's ReservedCapacity. An EC2NodeClass names its capacity reservations, but not how many
 * machines are free in them: one that is not counted here is left out. A count wins over what a
 * user's catalogue says. */
struct reservation_count {
    const char *id;
    uint32_t state_nodes;
};
struct reserved_capacity {
    bool off;
    bool uncounted; /* it is asked what could be, whatever is free now: each has a machine */
    const struct reservation_count *items;
    size_t count;
};
struct simulation_settings {
    struct solver_settings solver;
    struct reserved_capacity reserved;
    size_t max_rounds; /* 0: until nothing changes */
};
/* A pod of the cluster that is not done, or one a workload would make. */
struct simulation_pod {
    struct text namespace, name;
    struct text workload; /* "Deployment web" of its root owner; its own name when it has none */
    int64_t cpu_milli, memory_bytes; /* what it requests */
    bool running;                    /* had its node before */
};
struct simulation_requirement {
    struct text key;
    enum solver_op op;
    const struct text *values; /* sorted */
    size_t value_count;
};
/* A Node of the cluster, or a machine to buy. */
struct simulation_node {
    struct text name;                               /* of a claim: empty */
    struct text node_pool;                          /* empty: of none */
    struct text zone, capacity_type, instance_type; /* of a claim: its cheapest offering's */
    int64_t cpu_milli, memory_bytes;                /* allocatable; of a claim, of that type */
    int64_t usd_micro_per_hour;                     /* -1: not known */
    const size_t *pods;                             /* of simulation.pods, by namespace and name */
    size_t pod_count;
    /* Of claims only. */
    size_t round;                      /* from 1; 0: a Node */
    const struct text *instance_types; /* that can hold its pods, by price, then name */
    size_t instance_type_count;
    const struct text *zones; /* all that remain, sorted */
    size_t zone_count;
    const struct simulation_requirement *requirements; /* by key */
    size_t requirement_count;
};
/* Why a pod fits nowhere. */
struct simulation_reason {
    struct text node_pool; /* empty: whatever pool it were */
    const char *kind;      /* solver_reason_name() */
    struct text message, nearest;
};
struct simulation_unschedulable {
    size_t pod;
    const struct simulation_reason *reasons;
    size_t reason_count;
    size_t later_round; /* in which it has a place, had max_rounds allowed for it; 0: none */
};
struct simulation {
    const struct simulation_pod *pods;
    size_t pod_count;
    const struct simulation_node *nodes; /* Nodes by name, then claims by round, pool and type */
    size_t node_count, claim_count;      /* claims are the last of the nodes */
    const struct simulation_unschedulable *unschedulable; /* by namespace and name of the pod */
    size_t unschedulable_count;
    size_t round_count;
    int64_t usd_micro_per_hour; /* of the claims */
    bool incomplete;            /* something is left out that could not be understood */
    bool cut_short;             /* no time was left to look for a better plan (solver.patience) */
};
/* Solves round after round: claims become nodes, volumes bind where their first pod lands, until
 * nothing changes (docs/reference/karpenter.md 2). Workloads without pods of their own are expanded
 * as the controllers would. What cannot be understood is added to *problems and left out. False
 * with *error when together the rest makes no sense: quantities that overflow, a name that stands
 * twice.
 */
bool simulation_run(const struct snapshot *snapshot, const struct catalog *catalog,
                    const struct simulation_settings *settings, struct arena *arena,
                    struct simulation *simulation, struct problems *problems,
                    struct error *error) MUST_CHECK;

#endif
