/* Which Nodes the pods of a workload may run on, by what they select and tolerate: their requests
 * are not asked for. */
#ifndef TAFFRAIL_SIMULATION_WAYS_H
#define TAFFRAIL_SIMULATION_WAYS_H

#include "base/base.h"

struct catalog;
struct object;
struct snapshot;
struct tolerations;
struct workload;

struct ways;
/* Terms beyond SUPPLY_TERMS_MAX lead nowhere. tolerations: those that the pods have once they are
 * created; NULL: those that the workload says. */
struct ways *ways_read(const struct workload *workload, const struct tolerations *tolerations,
                       const struct snapshot *snapshot, const struct catalog *catalog,
                       struct arena *arena);
bool ways_lead_to(struct ways *ways, const struct object *node);

#endif
