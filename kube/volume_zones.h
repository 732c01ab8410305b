/* The nodes and zones that volumes can be attached in. */
#ifndef TAFFRAIL_KUBE_VOLUME_ZONES_H
#define TAFFRAIL_KUBE_VOLUME_ZONES_H

#include "base/base.h"
#include "solver/solver.h"

struct object;
struct snapshot;
struct storage_class;
struct zones;

/* Whether the terms, with their expressions under the key, are not many times more than a cluster
 * has zones: reading more would take too long. */
bool terms_are_few(const struct node *terms, const char *key);
/* The terms of a PersistentVolume's affinity, intersected with its zone labels; zone keys are
 * those of nodes. False when a term is invalid, or there are too many. */
bool volume_terms_read(const struct snapshot *snapshot, const struct object *volume,
                       struct arena *arena, struct solver_volume *result);
/* Adds the zones that terms name by the operator In; false when one of them can be in any zone. */
bool volume_terms_add_zones(const struct solver_volume *terms, struct arena *arena,
                            struct zones *zones);
/* Adds the zones of a PersistentVolume. Unknown are, too, those of one that is bound to nodes by
 * something else than zones. */
enum volume_zones { VOLUME_UNKNOWN, VOLUME_IN_ZONES, VOLUME_ANYWHERE };
enum volume_zones volume_zones_read(const struct snapshot *snapshot, const struct object *volume,
                                    struct arena *arena, struct zones *zones);
/* Nearly all volumes are in one zone, in one term. This reads it without memory, because a set or a
 * class may have thousands of volumes. False: ask volume_zones_read. */
bool volume_is_in_one_zone(const struct object *volume, struct text *zone);
/* Whether a volume is restricted to a zone, or to nodes, which are in one. */
bool volume_is_zonal(const struct object *volume);
/* The zones that a volume, or all volumes and classes, name, added to those of the cluster. */
void volume_add_zones(const struct snapshot *snapshot, const struct object *volume,
                      struct arena *arena, struct zones *zones);
void claims_add_zones(const struct snapshot *snapshot, struct arena *arena, struct zones *zones);
/* The terms of allowedTopologies. */
void class_terms_read(const struct snapshot *snapshot, const struct storage_class *class,
                      struct arena *arena, struct solver_volume *result);
struct solver_volume volume_of_zone(const char *zone, struct arena *arena);
/* Whether nodes of every zone can mount the volume that the class makes for a claim with that spec:
 * it is ReadWriteMany, of a file system, or a disk in several zones. A provisioner that is not
 * known may make disks of one zone. */
bool made_volume_is_everywhere(const struct storage_class *class, const struct node *claim_spec);
/* Whether kube-scheduler places one pod alone that mounts it. */
bool claim_is_of_one_pod(const struct node *claim_spec);
/* The zone of the node that kube-scheduler has chosen for a claim; empty when there is none. */
struct text claim_selected_zone(const struct snapshot *snapshot, const struct node *claim);
/* Whether a node with these labels meets one of the terms. */
bool volume_terms_fit(const struct solver_volume *terms, struct solver_labels labels);

#endif
