/* Private to what a change does. */
#ifndef TAFFRAIL_SIMULATION_CHANGE_INTERNAL_H
#define TAFFRAIL_SIMULATION_CHANGE_INTERNAL_H

#include "simulation/change_impact.h"

struct impact_reading {
    const struct change_question *question;
    struct arena *arena;
    struct change_impact *impact;
};
void impact_add_reason(const struct impact_reading *reading, struct text reason);
/* Notes which of these kinds cannot be seen as a whole. */
void impact_need(const struct impact_reading *reading, kind_set kinds);
/* Finds what uses the object: a StorageClass, a PriorityClass, a PersistentVolumeClaim, a
 * Namespace. */
void impact_read_users(const struct impact_reading *reading);

#endif
