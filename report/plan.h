/* Private to report/: a simulation in the order of its report, and what its formats share. */
#ifndef TAFFRAIL_REPORT_PLAN_H
#define TAFFRAIL_REPORT_PLAN_H

#include "report/format.h"

struct catalog;
struct simulation;
struct simulation_node;
struct simulation_reason;
struct simulation_unschedulable;

/* The pods of one controller, with the shortest unique label. */
struct plan_workload {
    struct text namespace, name; /* "Deployment web", as the simulation has it */
    struct text label;           /* "web", "shop/web", "shop/Deployment web" */
    size_t pod_count, pending_count;
    size_t rank; /* from 0, the one with most pending pods first */
};

/* The pods of one workload on one node. */
struct plan_share {
    size_t workload;
    size_t pod_count, pending_count;
    int64_t cpu_milli, memory_bytes; /* the sum of its pods */
};

/* A node, several equal ones, or a group of nodes that have something in common. */
struct plan_node {
    const struct simulation_node *node; /* the first of them */
    size_t count;
    bool bought;
    /* Of a group, shares and sums are those of all its nodes; of equal nodes, of each. */
    bool grouped;
    size_t type_count;               /* instance types in the group; else 1 */
    const struct plan_share *shares; /* most pods first, then by label */
    size_t share_count, pending_count;
    int64_t cpu_milli, memory_bytes;               /* the requests of its pods */
    int64_t before_cpu_milli, before_memory_bytes; /* of those that were there before */
    int64_t room_cpu_milli, room_memory_bytes;     /* what there is of it */
    int cpu_percent, memory_percent;               /* of the room; -1: unknown */
    int before_cpu_percent, before_memory_percent;
    int64_t usd_micro_per_hour; /* of each; -1: not known */
    bool mixed_prices;          /* it is of all of the group, since each has another */
};
struct plan_nodes {
    struct plan_node *items;
    size_t count;
};

/* Pods of one workload that fit nowhere, or not yet, for the same reasons. */
struct plan_misfit {
    const struct simulation_unschedulable *first;
    size_t count;
};
struct plan_misfits {
    const char *title;
    const struct plan_misfit *items;
    size_t count;
};
/* For good; as far as can be seen; or in the rounds that were run: a later round has a place. */
enum { PLAN_NOWHERE, PLAN_UNDECIDED, PLAN_LATER, PLAN_MISFITS };

struct plan {
    const struct simulation *simulation;
    const struct simulation
        *compat; /* Karpenter's own plan, when the simulation is better; or NULL */
    const struct plan_workload *workloads; /* by namespace and name */
    size_t workload_count;
    const size_t *workload_of; /* by pod */
    struct plan_nodes nodes;   /* as in the simulation: Nodes, then claims */
    struct plan_misfits misfits[PLAN_MISFITS];
    /* Pending pods: all, on Nodes, and on claims. */
    size_t pending_count, on_node_count, on_claim_count;
    size_t later_count;  /* pods that fit in a round that was not run */
    size_t taking_count; /* Nodes that take pending pods */
};
/* Whether something is known of what the claims cost: one has a price, or there are none. */
bool plan_is_priced(const struct simulation *simulation);
/* Users choose the quantities; a sum does not overflow. */
int64_t plan_add(int64_t a, int64_t b);
/* A workload's share of a node: of cpu or of memory, whichever is more. */
double plan_share_of_node(const struct plan_share *share, const struct plan_node *node);
/* Of all of them an hour; 0 when it is not known. */
int64_t plan_node_usd_micro(const struct plan_node *node);
/* Sets the percentages, of the sums and the room. */
void plan_node_percents(struct plan_node *node);

void plan_read(const struct simulation *simulation, const struct simulation *compat,
               struct arena *arena, struct plan *plan);

/* The claims; equal ones (type, place, price, pods) are one; by pool, the largest first. */
struct plan_nodes plan_nodes_bought(const struct plan *plan, struct arena *arena);
/* The Nodes that take pending pods, by name. */
struct plan_nodes plan_nodes_taking(const struct plan *plan, struct arena *arena);
/* Which nodes are one. */
enum plan_merge {
    PLAN_EACH,    /* none */
    PLAN_EQUAL,   /* those with equal pods */
    PLAN_BY_TYPE, /* a group: of a NodePool, a zone, a type and a capacity type */
    PLAN_BY_POOL  /* a group: of a NodePool and a zone */
};
/* Nodes, then claims, each by pool, the largest first. */
struct plan_nodes plan_nodes_all(const struct plan *plan, enum plan_merge merge,
                                 struct arena *arena);
/* The Nodes of the input by pool, as groups without regard to zones, by name; `members` are the
 * nodes of all groups, in the groups' order, the fullest first in each. */
struct plan_nodes plan_nodes_by_pool(const struct plan *plan, struct plan_nodes *members,
                                     struct arena *arena);

/* What the nodes to buy cost, by what. */
struct plan_cost_row {
    struct text name; /* of a NodePool or a namespace */
    size_t node_count, pod_count;
    int64_t usd_micro_per_hour; /* what has a price */
    size_t unpriced_count;      /* nodes without one */
};
struct plan_costs {
    struct plan_cost_row *items; /* the dearest first, then by name */
    size_t count;
};
struct plan_costs plan_costs_by_pool(const struct plan *plan, struct arena *arena);
/* A node's price is divided among its pods by what they take of it; node_count is the number of
 * nodes that have some of its pods. */
struct plan_costs plan_costs_by_namespace(const struct plan *plan, struct arena *arena);

/* Why pods fit nowhere, by the kind of the reason; a pod counts once for each kind. */
struct plan_cause {
    const char *kind, *meaning;
    size_t pod_count, workload_count;
};
struct plan_causes {
    struct plan_cause *items; /* of most pods first */
    size_t count;
};
struct plan_causes plan_causes(const struct plan_misfits *misfits, struct arena *arena);

/* "43 pods are pending: 6 fit on 2 existing nodes, ..." */
struct text plan_headline(const struct plan *plan, struct arena *arena);
/* "New nodes: $1.64 an hour, ..."; empty when none is bought. */
struct text plan_cost(const struct plan *plan, struct arena *arena);
/* The result of --optimize; empty without it. */
struct text plan_saving(const struct plan *plan, struct arena *arena);
/* What a drill takes to be so: "Drill: zone eu-west-1a is lost; spot is sold out."; what it did,
 * and what the plan is without it; what keeps pods from a place, by cause. Empty without a drill.
 */
struct text plan_drill_title(const struct plan *plan, struct arena *arena);
struct text plan_drill_effect(const struct plan *plan, struct arena *arena);
struct text plan_drill_causes(const struct plan *plan, struct arena *arena);
/* A line for each pod that fits nowhere because of where its disk is; of many only the first. */
struct text_list plan_drill_disks(const struct plan *plan, struct arena *arena);
/* "web x8, api x4": the pods of a new node; for a Node only those that were pending. `glue` is
 * between a name and its count. */
struct text plan_pods_text(const struct plan *plan, const struct plan_node *node, char glue,
                           struct arena *arena);
/* "web-3", "web-3 and 4 more (Deployment web)". */
struct text plan_misfit_title(const struct plan *plan, const struct plan_misfit *misfit,
                              struct arena *arena);
/* "NodePool default", "any NodePool". */
struct text plan_reason_pool(const struct simulation_reason *reason, struct arena *arena);
/* Whose prices those of nodes in zones are: "on-demand prices of us-east-1 of 2026-07, not of ...".
 * of_another: some are of another capacity type than the node. */
struct text plan_prices_title(const struct catalog *catalog, const struct text_list *zones,
                              bool of_another, struct arena *arena);
struct text plan_usd_a_month(int64_t usd_micro_per_hour, struct arena *arena); /* "1,198.66" */
struct text plan_usd(int64_t usd_micro, struct arena *arena);    /* "0.3840", "1,198.66" */
struct text plan_price(int64_t usd_micro, struct arena *arena);  /* four decimals, or "?" */
struct text plan_percent(int percent, struct arena *arena);      /* "93%", or "-" */
struct text plan_cpu(int64_t cpu_milli, struct arena *arena);    /* "7.91" */
struct text plan_gib(int64_t memory_bytes, struct arena *arena); /* "29.3" */

/* The saving of --optimize. Negative when it costs more. */
struct plan_saved {
    bool known; /* every claim of both plans has a price */
    int64_t usd_micro_per_hour;
    double percent; /* of what Karpenter's choices cost; one decimal */
};
struct plan_saved plan_saved(const struct plan *plan);

typedef bool plan_writer(const struct plan *plan, const struct report_style *style,
                         struct arena *arena, FILE *out, struct error *error);
plan_writer plan_text, plan_json, plan_svg, plan_html;

/* The picture as a document of its own, or as an element of a page, for a screen or a phone. */
enum plan_svg_place { PLAN_SVG_ALONE, PLAN_SVG_WIDE, PLAN_SVG_NARROW };
void plan_svg_put(const struct plan *plan, enum plan_svg_place place, struct arena *arena,
                  FILE *out);

#endif
