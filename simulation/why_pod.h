/* Why a pod is where it is: where it could run, and what rules out each NodePool and Node. */
#ifndef TAFFRAIL_SIMULATION_WHY_POD_H
#define TAFFRAIL_SIMULATION_WHY_POD_H

#include "simulation/simulation.h"

enum why_pod_state {
    WHY_POD_PENDING,
    WHY_POD_RUNS,
    WHY_POD_GATED,      /* its scheduling gates hold it back */
    WHY_POD_LEAVING,    /* it is being deleted, and has no Node */
    WHY_POD_PREEMPTS,   /* kube-scheduler evicts others for it */
    WHY_POD_ON_FARGATE, /* EKS makes a node of its own for it */
    WHY_POD_DONE,
};
enum why_fit {
    WHY_FITS,
    WHY_FITS_NOT,
    WHY_UNDECIDED, /* what decides is not visible */
};
struct why_pool {
    struct text name;
    enum why_fit fit;
    /* What it would buy for the pod alone, when it fits. */
    struct text instance_type, zone, capacity_type;
    int64_t usd_micro_per_hour; /* -1: not known */
    struct text price_of;       /* the capacity type that the price is of, if another; else empty */
    /* Else the reasons that together exclude it, as one. */
    const char *kind; /* of the first; "not-ready": it makes no nodes now */
    struct text message, nearest, fix;
};
enum { WHY_NODES_NAMED = 5 };
struct why_pod {
    struct text namespace, name;
    struct text owner; /* "Deployment web"; empty: none */
    enum why_pod_state state;
    struct text node;  /* where it runs, or would be put; empty: nowhere */
    struct text waits; /* what it waits for, beside a Node that is bought; empty: nothing */
    enum why_fit fit;  /* WHY_FITS: it runs, or would be placed with all that is pending */
    const struct why_pool *pools; /* the nearest first */
    size_t pool_count;
    size_t node_total, node_fit;
    size_t node_may; /* these would take it if they have the devices that its resourceClaims ask
                        for, which are not looked at */
    struct text node_names[WHY_NODES_NAMED]; /* of those that fit or may, the first by name */
    const struct simulation_cause *causes;   /* the most frequent first */
    size_t cause_count;
    struct text nodes_nearest;
    struct text fix;
    size_t pending_beside;         /* other pods that are pending, which were counted with */
    const struct catalog *catalog; /* whose prices these are; NULL: nobody says */
};
/* Of a pod that the snapshot has, or that a workload would make. Karpenter places all pending pods
 * together, so others are placed beside it. False with *error: there is no such pod, or the rest is
 * invalid, as for simulation_run. */
bool why_pod(const struct snapshot *snapshot, const struct catalog *catalog,
             const struct simulation_settings *settings, struct text namespace, struct text name,
             struct arena *arena, struct why_pod *why, struct problems *problems,
             struct error *error) MUST_CHECK;

#endif
