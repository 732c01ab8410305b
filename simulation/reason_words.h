/* Why a pod fits nowhere, in words. They are here and not in report/, because the rail placeable
 * uses them and is below report/. */
#ifndef TAFFRAIL_SIMULATION_REASON_WORDS_H
#define TAFFRAIL_SIMULATION_REASON_WORDS_H

#include "base/base.h"
#include "solver/solver.h"

struct reason_words {
    uint32_t pool; /* SOLVER_NONE: holds for all pools, or concerns the existing nodes */
    enum solver_reason_kind kind;
    const char *message; /* one line */
    const char *nearest; /* the nearest miss; "" when there is none */
};
struct reasons_words {
    const struct reason_words *items; /* first those without a pool, then by pool; each by kind */
    size_t count;
};
struct reasons_words reasons_tell(struct solver_reasons reasons, struct arena *arena);

#endif
