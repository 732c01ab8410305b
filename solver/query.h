/* A run that answers about one pod: what it has at rest, and what a query puts over it. */
#ifndef TAFFRAIL_SOLVER_QUERY_H
#define TAFFRAIL_SOLVER_QUERY_H

#include "solver/run.h"

/* Bytes as they were. */
struct overwritten {
    void *at;
    size_t size_bytes;
    unsigned char old[24];
};

/* While nobody asks, run is as in rest. A query asks a view of the problem, whose lists have room
 * for what the query adds, and its memory is the asker's. Nothing has to be undone after a query
 * that ran out of memory: the next one begins by that. */
struct warm {
    struct solver_problem base, view;
    struct solver_run rest;
    struct pod pod; /* the only one of the view */
    struct arena *arena;
    struct {
        struct overwritten *items;
        size_t count, capacity;
    } changes; /* to the run's own arrays, the last one last */
    bool asking;
};

/* What a query leaves out and adds. */
struct overlaid {
    const struct solver_overlay_pod *pods;
    size_t pod_count;
    const uint64_t *gone;      /* bits; NULL: none */
    const uint32_t *gone_list; /* each once */
    size_t gone_count;
};
bool overlay_apply(struct solver_run *run, const struct solver_overlay *overlay,
                   struct overlaid *overlaid, struct error *error);
/* The same for a group that came with the query. */
void overlay_apply_to(struct solver_run *run, const struct overlaid *overlaid, uint32_t number);
void overlay_undo(struct warm *warm);

#endif
