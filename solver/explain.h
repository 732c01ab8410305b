/* Why a pod fits nowhere: what explain.c finds and reason.c tells. */
#ifndef TAFFRAIL_SOLVER_EXPLAIN_H
#define TAFFRAIL_SOLVER_EXPLAIN_H

#include "solver/run.h"

/* The reasons up to SOLVER_REASON_PORT are criteria that each leave some rows of a pool. */
#define CRITERIA (SOLVER_REASON_PORT + 1)

/* One pod against one pool. */
struct question {
    struct solver_run *run;
    const struct solver_problem *problem;
    const struct pod *pod;
    const struct shape *shape;
    uint32_t pool;
    const struct variant *variant;
    uint64_t *rows[CRITERIA]; /* what each criterion alone leaves */
    /* What was in the way. */
    const struct taint *taint;
    bool requirement_fits_pool;
    uint32_t conflict; /* the key, when it does not */
    uint32_t group;    /* of topology; SOLVER_NONE */
};
struct reason_list {
    struct solver_reason *items;
    size_t count, capacity;
};
/* In words; set is all the reasons that together exclude the pool, a bit each. */
struct solver_reason reason_tell(struct question *question, enum solver_reason_kind kind,
                                 unsigned set);
/* False, with message and nearest, when no place holds all volumes of the pod. */
bool reason_volumes_meet(struct question *question, struct solver_reason *reason);

#endif
