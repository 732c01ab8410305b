/* A cluster at one time: objects by kind; immutable once built. */
#ifndef TAFFRAIL_KUBE_SNAPSHOT_H
#define TAFFRAIL_KUBE_SNAPSHOT_H

#include "kube/kind.h"

struct object;
struct pool;
struct snapshot;
struct zones;
struct snapshot_builder;

/* All memory, and the objects put in, live in the arena or outlive it. */
struct snapshot_builder *snapshot_builder_create(struct arena *arena);
/* Of objects with the same kind, namespace and name the last one counts. */
void snapshot_put(struct snapshot_builder *builder, const struct object *object);
const struct snapshot *snapshot_build(struct snapshot_builder *builder);
/* NULL when absent. */
const struct object *snapshot_find(const struct snapshot *snapshot, enum kind kind,
                                   struct text namespace, struct text name);
/* The index of the object among those of its kind; snapshot_count() when absent. */
size_t snapshot_index(const struct snapshot *snapshot, enum kind kind, struct text namespace,
                      struct text name);
size_t snapshot_count(const struct snapshot *snapshot, enum kind kind);
const struct object *snapshot_object(const struct snapshot *snapshot, enum kind kind,
                                     size_t index); /* by namespace, then name */
/* Whether files have NodePools of that name that differ, as those of several clusters do. */
bool snapshot_has_pool_twice(const struct snapshot *snapshot, struct text name);
/* Objects that are there and could not be read; of each only kind, namespace and name are known,
 * and none of the functions above finds it. */
size_t snapshot_unreadable_count(const struct snapshot *snapshot, enum kind kind);
/* Those of the kinds that are not seen as a whole: they are not among the seen ones, or some object
 * cannot be read. */
kind_set snapshot_unseen(const struct snapshot *snapshot, kind_set kinds, kind_set seen);
const struct object *snapshot_unreadable(const struct snapshot *snapshot, enum kind kind,
                                         size_t index); /* by namespace, then name */
bool snapshot_is_unreadable(const struct snapshot *snapshot, enum kind kind, struct text namespace,
                            struct text name);
/* Whether no object in the namespace is unreadable; for a kind without namespaces, none at all. */
bool snapshot_reads_all(const struct snapshot *snapshot, enum kind kind, struct text namespace);
/* The NodePools, read once. */
size_t snapshot_pool_count(const struct snapshot *snapshot);
const struct pool *snapshot_pool(const struct snapshot *snapshot, size_t index);
const struct pool *snapshot_pool_named(const struct snapshot *snapshot,
                                       struct text name); /* NULL when absent */
/* Whether some NodePool names the label, in its labels or its requirements, or gives it to its
 * nodes by itself: asked before all of them are gone through. */
bool snapshot_pools_name(const struct snapshot *snapshot, struct text key);
/* The PersistentVolumes that are bound to no claim, those of them that name the claim they are for,
 * and the zones of the Nodes: computed once. */
size_t snapshot_free_volume_count(const struct snapshot *snapshot);
const struct object *snapshot_free_volume(const struct snapshot *snapshot, size_t index);
size_t snapshot_reserved_volume_count(const struct snapshot *snapshot);
const struct object *snapshot_reserved_volume(const struct snapshot *snapshot, size_t index);
/* The Pods that mount a PersistentVolumeClaim, by namespace, then name. */
size_t snapshot_claiming_pod_count(const struct snapshot *snapshot);
const struct object *snapshot_claiming_pod(const struct snapshot *snapshot, size_t index);
const struct zones *snapshot_node_zones(const struct snapshot *snapshot);
/* The values that Nodes carry under a label, each once; NULL: no Node carries it. */
const struct text_map *snapshot_node_values(const struct snapshot *snapshot, struct text key);
/* The labels that Nodes carry, in any order. */
size_t snapshot_node_label_count(const struct snapshot *snapshot);
struct text snapshot_node_label(const struct snapshot *snapshot, size_t index,
                                const struct text_map **values);

#endif
