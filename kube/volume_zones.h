/* Where volumes can be attached. */
#ifndef TAFFRAIL_KUBE_VOLUME_ZONES_H
#define TAFFRAIL_KUBE_VOLUME_ZONES_H

#include "base/base.h"
#include "solver/solver.h"

struct object;
struct snapshot;
struct storage_class;
struct zones;

/* Whether terms, with their expressions under the key, are no more than a cluster has zones, many
 * times over: who reads more keeps everybody waiting. */
bool places_are_few(const struct node *terms, const char *key);
/* The terms of a PersistentVolume's affinity, cut with its zone labels; keys of zones are those of
 * nodes. False when a term cannot be understood, or they are not few. */
bool volume_places_read(const struct snapshot *snapshot, const struct object *volume,
                        struct arena *arena, struct solver_volume *result);
/* The zones that a volume, or all volumes and classes, name, added to those of the cluster. */
void volume_add_zones(const struct snapshot *snapshot, const struct object *volume,
                      struct arena *arena, struct zones *zones);
void claims_add_zones(const struct snapshot *snapshot, struct arena *arena, struct zones *zones);
/* The terms of allowedTopologies. */
void class_places_read(const struct snapshot *snapshot, const struct storage_class *class,
                       struct arena *arena, struct solver_volume *result);
struct solver_volume volume_of_zone(const char *zone, struct arena *arena);
/* Whether a claim of that spec wants a volume that nodes of any zone can share: ReadWriteMany. */
bool claim_is_of_many_nodes(const struct node *claim_spec);
/* The zone of the node that kube-scheduler has chosen for a claim; empty when there is none. */
struct text claim_selected_zone(const struct snapshot *snapshot, const struct node *claim);
/* Whether a node of these labels is one of the places. */
bool places_fit(const struct solver_volume *places, struct solver_labels labels);

#endif
