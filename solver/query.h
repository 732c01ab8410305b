/* A run that answers about one pod: what it has at rest, and what a query puts over it. */
#ifndef TAFFRAIL_SOLVER_QUERY_H
#define TAFFRAIL_SOLVER_QUERY_H

#include "solver/run.h"

/* While nobody asks, run is as in rest. A query asks a view of the problem, whose lists have room
 * for what the query adds, and its memory is the asker's. Nothing has to be undone after a query
 * that ran out of memory: the next one begins by that. */
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
    bool asks_for_unknown; /* for a resource that no type and no node has */
};
/* False: the question is refused. Either way query_end() puts the run at rest again. */
bool query_begin(struct query *q, struct solver_run *run, const struct solver_question *question,
                 struct arena *arena, struct error *error);
void query_end(struct solver_run *run);
/* Makes a relaxation one that can be tried. False: topology leaves it no place. */
bool query_take_relaxation(struct query *q, struct relaxation *relaxation);
/* Leaves the nodes whose volumes, labels and taints are right and that are in wanted domains. */
void query_choose_nodes(struct query *q, const struct relaxation *relaxation);
/* Of a node that was chosen. */
bool query_node_takes(const struct query *q, const struct relaxation *relaxation, uint32_t node);
/* The options any pool could hold the relaxation on, by requirements alone: more than a pool will
 * find, which narrows them by its own. */
bool query_choose_types(struct query *q, const struct relaxation *relaxation);
/* A NodeClaim of the pool with nothing on it, of the options that were chosen; false when none is
 * left. */
bool query_empty_node_claim(struct query *q, uint32_t pool, struct node_claim *claim);
bool query_try_node_claim(struct query *q, const struct node_claim *claim,
                          const struct relaxation *relaxation, struct candidate *candidate);

#endif
