/* Why a pod fits nowhere, in a developer's words. They stand here and not in report/, since the
 * rail placeable says the same and is below it. */
#ifndef TAFFRAIL_SIMULATION_REASON_WORDS_H
#define TAFFRAIL_SIMULATION_REASON_WORDS_H

#include "base/base.h"
#include "solver/solver.h"

struct reason_words {
    uint32_t pool; /* SOLVER_NONE: whatever pool it were, or of the nodes there are */
    enum solver_reason_kind kind;
    const char *message; /* one line */
    const char *nearest; /* the nearest miss; "" when there is none */
};
struct reasons_words {
    const struct reason_words *items; /* those of no pool, then by pool; each by kind */
    size_t count;
};
struct reasons_words reasons_tell(struct solver_reasons reasons, struct arena *arena);

#endif
