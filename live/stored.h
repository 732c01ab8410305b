/* Objects of a live cluster: of each only the fields that are read (transform_fields.c), in one
 * piece of memory. Parts that many objects have alike, such as containers, are there once
 * (transform_tree.c). */
#ifndef TAFFRAIL_LIVE_KEPT_H
#define TAFFRAIL_LIVE_KEPT_H

#include "kube/object.h"

/* Trees that kept objects share; zero-initialised. Only who writes looks in here. */
struct shared_tree;
struct shared_trees {
    struct shared_tree **buckets; /* a power of two of them */
    size_t bucket_count, count;
    size_t size_bytes[KIND_COUNT]; /* by the kind that had them first */
};
/* After all that was kept with it has been destroyed. */
void shared_trees_destroy(struct shared_trees *trees);

/* What of an object of that kind has to be read to be kept. It may be used while the program runs.
 */
struct doc_choice transform_choice(enum kind kind);
/* All of an object of any kind but metadata.managedFields, which nothing looks at. */
extern const struct doc_choice whole_choice;

struct stored {
    struct stored *next;  /* of a list of those that go together */
    bool unreadable;      /* nothing but its name is known */
    size_t size_bytes;    /* without what it shares */
    struct object object; /* its source is NULL: there is no text any more */
    struct field root;
    struct node root_node;
    size_t tree_count;
    struct shared_tree *trees[];
};
/* NULL: malloc failed. */
struct stored *stored_create(const struct object *object, struct shared_trees *trees) MUST_CHECK;
void stored_destroy(struct stored *kept, struct shared_trees *trees); /* NULL is fine */
/* Whether nobody who reads them can tell them apart. */
bool stored_equal(const struct stored *a, const struct stored *b);

#endif
