/* The inside of a store (store.c), and of its versions (store_version.c). */
#ifndef TAFFRAIL_LIVE_STORE_INTERNAL_H
#define TAFFRAIL_LIVE_STORE_INTERNAL_H

#include "kube/snapshot_internal.h"
#include "live/store.h"
#include "live/stored.h"

/* ---- what is there now ---- */

/* A name, and its objects. */
struct entry {
    struct entry *next; /* of its bucket */
    uint64_t hash;
    struct stored *now;     /* NULL: absent */
    struct stored *version; /* the object in the last version; NULL: absent there */
    uint64_t list;          /* the number of the last list that had it, or before it came */
    bool touched;           /* in the list of touched entries of its kind */
};
/* What found no room. */
struct lack {
    bool objects, names;
};
struct entries {
    struct entry **buckets; /* a power of two of them */
    size_t bucket_count, count;
    /* Entries that may differ from the last version. */
    struct entry **touched;
    size_t touched_count, touched_capacity;
    size_t object_count, object_bytes; /* of the objects that are there now */
    size_t unreadable_count;           /* of them */
    uint64_t list;                     /* the number of lists that have begun */
    struct lack lack;                  /* since the last list that ended had begun */
    struct lack lack_of_list;          /* since the last list has begun */
};

/* ---- versions ---- */

/* A list of objects in memory of its own. */
struct list_block {
    struct list_block *next; /* in a chain that is freed together */
    const struct object *items[];
};
/* Facts computed from the objects of one kind, in memory of their own. */
enum part { PART_POOLS, PART_NODE_ZONES, PART_NODE_LABELS, PART_AUTOSCALERS, PART_COUNT };

/* What a version has and the next one has not. */
struct leftover {
    struct stored *objects;
    struct list_block *blocks;
    struct arena *parts[PART_COUNT];
};
struct version {
    struct snapshot snapshot; /* the first member, so that a cast finds the version */
    struct version *next;     /* the one after it; NULL: this is the last */
    size_t holds;
    /* NULL: empty. Shared with the versions before and after that are equal there. */
    struct list_block *kinds[KIND_COUNT], *unreadable[KIND_COUNT], *picks[PICK_COUNT];
    struct arena *parts[PART_COUNT];
    struct leftover leftover; /* set once there is a next version */
};

struct store {
    struct entries kinds[KIND_COUNT];
    struct shared_trees trees; /* of the objects now and in all versions */
    size_t limit_bytes;
    size_t change_count; /* entries that differ from the last version */
    struct version *first, *last;
    struct store_change *changes;  /* of readable objects */
    struct store_change *injuries; /* of unreadable ones: before and after are names */
    size_t change_capacity;        /* of both */
};

/* False: malloc failed. */
bool versions_begin(struct store *store) MUST_CHECK;
void versions_destroy(struct store *store);
/* Forgets an entry that is in no version. */
void entry_forget(struct entries *entries, struct entry *entry);

#endif
