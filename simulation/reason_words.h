/* Why a pod fits nowhere, in words. They are here and not in report/, because the rail placeable
 * uses them and is below report/. */
#ifndef TAFFRAIL_SIMULATION_REASON_WORDS_H
#define TAFFRAIL_SIMULATION_REASON_WORDS_H

#include "base/base.h"
#include "simulation/simulation.h"

/* Why some of the Nodes refuse the pod. */
struct cause_words {
    enum solver_reason_kind kind;
    const char *message; /* "have the taint ..."; of one Node "has the taint ..." */
    size_t count;        /* of Nodes */
};
struct reason_words {
    uint32_t pool; /* SOLVER_NONE: holds for all pools, or concerns the existing nodes */
    enum solver_reason_kind kind;
    const char *message; /* one line */
    const char *nearest; /* the nearest miss; "" when there is none */
    const char *fix;     /* what would change it: "tolerate dedicated=gpu:NoSchedule" */
    /* Of Nodes, the most frequent first; else none. */
    const struct cause_words *causes;
    size_t cause_count;
};
struct reasons_words {
    const struct reason_words *items; /* first those without a pool, then by pool; each by kind */
    size_t count;
};
/* Whether one of them keeps the pod out whatever the NodePool, be it one of another cloud or one
 * that makes no nodes now. */
bool reasons_exclude_every_pool(struct solver_reasons reasons);
struct reasons_words reasons_tell(struct solver_reasons reasons, struct arena *arena);
/* The same with the names of the problem's pools. */
struct simulation_reasons reasons_by_name(struct reasons_words words,
                                          const struct solver_problem *problem,
                                          struct arena *arena);

#endif
