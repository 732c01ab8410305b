/* --optimize inside: what optimize.c, and the strategies to place pods that it tries, share. */
#ifndef TAFFRAIL_SOLVER_OPTIMIZE_H
#define TAFFRAIL_SOLVER_OPTIMIZE_H

#include "solver/run.h"

/* Solves by each way the settings allow and keeps the best plan in run. */
void optimize(struct solver_run *run);
/* Finds where the first pod of each affinity group may go so that all others can follow. */
void joint_zones_make(struct solver_run *run);
/* Places the pods without topology, volumes and ports that are not placed yet, by bin packing. */
void pack_bins(struct solver_run *run);

/* ---- rescheduling.c: a plan made better by giving up a part of it ---- */

struct old_plan;
/* What it takes to repeat a run's plan; the run may be freed. */
const struct old_plan *old_plan_of(const struct solver_run *run, struct arena *arena);
/* Places pods as in an old plan, except those of NodeClaims, and some single pods, which the seed
 * draws. A pod that no longer fits there is left out, too. */
void place_as_before(struct solver_run *run, const struct old_plan *old, uint64_t seed);

#endif
