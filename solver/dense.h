/* Buying for pods as a whole: what dense.c, lots.c and fill.c share. Pods that no topology ties to
 * others are bought for together: what a unit of each resource is worth at the least cost of all of
 * them (the dual of a covering program) tells which machine holds most for its price, and which
 * pods to put on it. One machine after another, the densest first. */
#ifndef TAFFRAIL_SOLVER_DENSE_H
#define TAFFRAIL_SOLVER_DENSE_H

#include "solver/run.h"
#include "solver/simplex.h"

#define CANDIDATES_MAX 24 /* machines a lot may offer */
#define LOTS_MAX 8        /* that may offer theirs at once */

struct column { /* a machine that can be bought */
    uint32_t pool;
    size_t place; /* of the pool in its tier */
    size_t option;
    double cost, worth;
};
/* Shapes that every pool of a tier sees alike. */
struct lot {
    LIST(uint32_t) shapes;
    const struct node_requirements **sets; /* by pool of the tier; NULL: cannot be there */
    size_t option_count;                   /* that would do, over the pools */
    size_t place;                          /* among lots, as the queue brings them */
    double total;                          /* what its pods are worth */
    struct column best[CANDIDATES_MAX];
    size_t best_count;
};
struct lots {
    struct lot *items;
    size_t count, capacity;
};
struct dense {
    struct solver_run *run;
    const struct solver_problem *problem;
    uint32_t *left;  /* by shape: pods that wait */
    uint32_t **pods; /* by shape: which, in the order of the queue; the last of them wait */
    uint32_t *pod_count;
    uint32_t *order; /* shapes as the queue brings them: not as they were added */
    size_t order_count;
    const struct lot **lot_of; /* by shape */
    double *worth;             /* by shape: of one pod */
    const uint32_t *pools;     /* of the tier */
    size_t pool_count;
    struct lots lots;
    size_t resources[SIMPLEX_ROWS_MAX]; /* that the lot being rated asks for */
    size_t resource_count;
    double demands[SIMPLEX_ROWS_MAX];
    struct column *columns;
    size_t column_count;
    double *supplies, *costs;
    uint32_t *shapes; /* that wait, over all lots */
    size_t shape_count;
    uint32_t *filled, *best_filled; /* by place in shapes: how many */
};

/* The lots of the tier, those with fewest options to choose from first. */
void lots_make(struct dense *dense);
/* Brings what pods are worth, and the machines each lot offers, up to date. */
void lots_rate(struct dense *dense);

/* How a shape is preferred: by how well it goes with what is left, large where much is left; or by
 * what it is worth for what it takes of what is scarce. */
enum fill_rule { FILL_BY_MATCH, FILL_BY_WORTH, FILL_RULES };
/* Fills a machine with pods that wait; filled says how many of each shape, allowed is scratch. What
 * they are worth. */
double fill_machine(const struct dense *dense, const struct column *column, enum fill_rule rule,
                    bool *allowed, uint32_t *filled);

#endif
