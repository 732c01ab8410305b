/* The inside of a snapshot, for the code that makes one: snapshot.c from files, store_version.c
 * from a watched cluster. */
#ifndef TAFFRAIL_KUBE_SNAPSHOT_INTERNAL_H
#define TAFFRAIL_KUBE_SNAPSHOT_INTERNAL_H

#include "kube/kind.h"
#include "kube/zone.h"

struct object;
struct pool;

/* What an autoscaler scales. */
struct autoscaled {
    enum kind kind;
    struct text namespace, name;
    const struct object *autoscaler;
};

struct object_list {
    const struct object *const *items; /* by namespace, then name */
    size_t count;
};

/* Objects of a kind that are often asked for. */
enum snapshot_pick { PICK_FREE_VOLUMES, PICK_RESERVED_VOLUMES, PICK_CLAIMING_PODS, PICK_COUNT };
struct pick {
    enum kind kind;
    bool (*takes)(const struct object *object);
};
extern const struct pick snapshot_picks[PICK_COUNT];

struct snapshot {
    struct object_list kinds[KIND_COUNT];
    struct object_list picks[PICK_COUNT];
    /* Unreadable objects: only kind, namespace and name are known. */
    struct object_list unreadable[KIND_COUNT];
    /* Objects of files that stand there twice and differ; the last of them counts. */
    struct object_list twice;
    /* Read from the NodePools, and from the Nodes. */
    const struct pool *pools;
    size_t pool_count;
    struct text_map pool_keys; /* of the labels that the NodePools name */
    struct zones node_zones;
    struct node_labels {
        struct text_map keys; /* their numbers, from 1 */
        LIST(struct text_map) values;
    } node_labels;
    const struct autoscaled *autoscaled; /* by kind, namespace and name of what is scaled */
    size_t autoscaled_count;
};
/* These compute facts from lists that are complete. */
void snapshot_read_pools(struct snapshot *snapshot, struct arena *arena);
void snapshot_read_node_zones(struct snapshot *snapshot, struct arena *arena);
void snapshot_read_node_labels(struct snapshot *snapshot, struct arena *arena);
void snapshot_read_autoscalers(struct snapshot *snapshot, struct arena *arena);

/* The order of lists: negative, zero or positive. */
int compare_names(struct text a_namespace, struct text a_name, struct text b_namespace,
                  struct text b_name);
int compare_objects(const struct object *a, const struct object *b);
/* The index of an object with that name in the list, or of its place. */
size_t object_list_search(struct object_list list, struct text namespace, struct text name);

#endif
