/* A run that answers questions about one pod: its state between queries, and one query. */
#ifndef TAFFRAIL_SOLVER_QUERY_H
#define TAFFRAIL_SOLVER_QUERY_H

#include "solver/run.h"

/* Between queries the run equals rest. A query works on a view of the problem, whose lists have
 * room for what the query adds, in the caller's memory. A query that ran out of memory needs no
 * clean-up: the next one begins with it. */
struct query_state {
    struct solver_problem base, view;
    struct solver_run rest;
    struct pod pod; /* the only one of the view */
    bool asking;
};

/* ---- query.c ---- */

struct query {
    struct solver_run *run;
    struct solver_problem *view;
    struct solver_builder builder;
    const struct shape *shape;
    size_t relaxation_count;                        /* made so far */
    size_t known_groups;                            /* with their counts */
    uint64_t *nodes, *some_nodes, *types, *options; /* nodes and types: that were chosen */
    bool asks_for_unknown; /* the pod requests a resource that no type and no node has */
};
/* False: the question is refused. Either way query_end() puts the run at rest again. */
bool query_begin(struct query *q, struct solver_run *run, const struct solver_question *question,
                 struct arena *arena, struct error *error);
void query_end(struct solver_run *run);
/* Makes a relaxation one that can be tried. False: topology leaves it no place. */
bool query_take_relaxation(struct query *q, struct relaxation *relaxation);
/* Leaves the nodes that suit the pod's volumes, labels and taints and are in allowed domains. */
void query_choose_nodes(struct query *q, const struct relaxation *relaxation);
/* Of a node that was chosen. */
bool query_node_takes(const struct query *q, const struct relaxation *relaxation, uint32_t node);
/* Chooses the options that meet the relaxation's requirements. A pool narrows them by its own. */
bool query_choose_types(struct query *q, const struct relaxation *relaxation);
/* An empty NodeClaim of the pool with the chosen options; false when none is left. */
bool query_empty_node_claim(struct query *q, uint32_t pool, struct node_claim *claim);
bool query_try_node_claim(struct query *q, const struct node_claim *claim,
                          const struct relaxation *relaxation, struct candidate *candidate);

/* ---- query_place.c ---- */

/* The relaxations of the shape, one after the other; zero-initialise. */
struct query_relaxations {
    size_t next;
    struct relaxation_steps *steps; /* of a shape whose relaxations are not made yet */
};
bool query_next_relaxation(struct query *q, struct query_relaxations *relaxations,
                           struct relaxation *relaxation);
/* The relaxations that were taken, for the reasons. */
struct query_tried {
    struct relaxation *items;
    size_t count, capacity;
};
/* The NodeClaim that is bought for the pod alone. */
const struct solver_node_claim *query_buy(struct query *q, const struct node_claim *empty,
                                          const struct candidate *candidate);
/* Why the pod is not where it does not fit. fitting NULL: it fits nowhere. */
struct fitting;
struct solver_reasons query_explain(struct query *q, const struct query_tried *tried,
                                    const struct fitting *fitting);
/* The one reason when the pod asks for what nothing in the problem has. */
extern const struct solver_reason query_nothing_has_it;

#endif
