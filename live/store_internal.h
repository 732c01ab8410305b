/* What a live holds (store.c), and its versions (store_version.c). */
#ifndef TAFFRAIL_LIVE_LIVE_INTERNAL_H
#define TAFFRAIL_LIVE_LIVE_INTERNAL_H

#include "kube/snapshot_internal.h"
#include "live/store.h"
#include "live/stored.h"

/* ---- what is there now ---- */

/* A name, and the objects that have it. */
struct entry {
    struct entry *next; /* of its bucket */
    uint64_t hash;
    struct stored *now;     /* NULL: there is none */
    struct stored *version; /* that in the last version, which has none when it is NULL */
    uint64_t list;          /* the last one it came in, or after which it came */
    bool touched;           /* is among those touched of its kind */
};
struct entries {
    struct entry **buckets; /* a power of two of them */
    size_t bucket_count, count;
    /* Those that may differ from the last version. */
    struct entry **touched;
    size_t touched_count, touched_capacity;
    size_t object_count, object_bytes; /* of those that are there now */
    size_t unreadable_count;           /* of them */
    uint64_t list;                     /* how many have begun */
    bool lacks, misses;                /* objects since the last one; and names */
};

/* ---- versions ---- */

/* A list of objects in memory of its own. */
struct list_block {
    struct list_block *next; /* of those that go together */
    const struct object *items[];
};
/* What is read from the objects of one kind, in memory of its own. */
enum part { PART_POOLS, PART_NODE_ZONES, PART_NODE_LABELS, PART_COUNT };

/* What a version had and the next has not. */
struct leftover {
    struct stored *objects;
    struct list_block *blocks;
    struct arena *parts[PART_COUNT];
};
struct version {
    struct snapshot snapshot; /* the first, so that one is found by the other */
    struct version *next;     /* made after it; NULL: the last */
    size_t holds;
    /* NULL: nothing is in it. Shared with the versions before and after that are the same there. */
    struct list_block *kinds[KIND_COUNT], *unreadable[KIND_COUNT], *picks[PICK_COUNT];
    struct arena *parts[PART_COUNT];
    struct leftover leftover; /* once there is a next one */
};

struct store {
    struct entries kinds[KIND_COUNT];
    struct shared_trees trees; /* of the objects now and in all versions */
    size_t limit_bytes;
    size_t change_count; /* entries that differ from the last version */
    struct version *first, *last;
    struct store_change *changes;  /* of what can be read */
    struct store_change *injuries; /* of what cannot: before and after are names */
    size_t change_capacity;        /* of both */
};

/* False: malloc failed. */
bool versions_begin(struct store *store) MUST_CHECK;
void versions_destroy(struct store *store);
/* Forgets an entry that is in no version. */
void entry_forget(struct entries *entries, struct entry *entry);

#endif
