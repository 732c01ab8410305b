/* Where volumes can be attached. */
#ifndef TAFFRAIL_KUBE_VOLUME_ZONES_H
#define TAFFRAIL_KUBE_VOLUME_ZONES_H

#include "kube/expression.h"
#include "kube/forecast.h"

/* The terms of a PersistentVolume's affinity, cut with its zone labels; keys of zones are those of
 * nodes. False when a term cannot be understood. */
bool volume_places_read(const struct snapshot *snapshot, const struct object *volume,
                        struct arena *arena, struct solver_volume *result);
/* The terms of allowedTopologies. */
void class_places_read(const struct snapshot *snapshot, const struct storage_class *class,
                       struct arena *arena, struct solver_volume *result);
struct solver_volume volume_of_zone(const char *zone, struct arena *arena);
/* Whether a node of these labels is one of the places. */
bool places_fit(const struct solver_volume *places, struct solver_labels labels);

#endif
