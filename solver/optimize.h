/* --optimize inside: what optimize.c, and the strategies to place pods that it tries, share. */
#ifndef TAFFRAIL_SOLVER_OPTIMIZE_H
#define TAFFRAIL_SOLVER_OPTIMIZE_H

#include "solver/run.h"

/* Solves by each way the settings allow and keeps the best plan in run. */
void optimize(struct solver_run *run);
/* Where affinity groups may begin so that all of their pods can follow. */
void joint_zones_make(struct solver_run *run);
/* Buys for the pods that no topology ties, of those not placed yet, what holds most for its price.
 */
void pack_bins(struct solver_run *run);

/* ---- rescheduling.c: a plan made better by giving up a part of it ---- */

struct old_plan;
/* What of a run's outcome it takes to come back to it; the run may go then. */
const struct old_plan *old_plan_of(const struct solver_run *run, struct arena *arena);
/* Places pods as they were in an old plan, but for those of NodeClaims, and some others, that the
 * seed draws. A pod that does not fit there any more is left, too. */
void place_as_before(struct solver_run *run, const struct old_plan *old, uint64_t seed);

#endif
