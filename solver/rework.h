/* A plan made better by giving up a part of it. */
#ifndef TAFFRAIL_SOLVER_REWORK_H
#define TAFFRAIL_SOLVER_REWORK_H

#include "solver/run.h"

struct old_plan;
/* What of a run's outcome it takes to come back to it; the run may go then. */
const struct old_plan *old_plan_of(const struct solver_run *run, struct arena *arena);
/* Places pods as they were in an old plan, but for those of NodeClaims, and some others, that the
 * seed draws. A pod that does not fit there any more is left, too. */
void place_as_before(struct solver_run *run, const struct old_plan *old, uint64_t seed);

#endif
