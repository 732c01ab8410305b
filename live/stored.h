/* Stored objects of a watched cluster: only the fields that are read (transform_fields.c), in one
 * piece of memory each. Parts that many objects have alike, such as containers, exist once
 * (transform_tree.c). */
#ifndef TAFFRAIL_LIVE_STORED_H
#define TAFFRAIL_LIVE_STORED_H

#include "kube/object.h"

/* Trees that stored objects share; zero-initialise. Only the writing thread uses it. */
struct shared_tree;
struct shared_trees {
    struct shared_tree **buckets; /* a power of two of them */
    size_t bucket_count, count;
    size_t size_bytes[KIND_COUNT]; /* by the kind that had them first */
};
/* Call it after every stored object has been destroyed. */
void shared_trees_destroy(struct shared_trees *trees);

/* The fields of an object of that kind that are read and stored. Valid while the program runs. */
struct doc_choice transform_choice(enum kind kind);
/* All fields of an object of any kind except metadata.managedFields, which nothing reads. */
extern const struct doc_choice whole_choice;

struct stored {
    struct stored *next;  /* in a chain of objects */
    bool unreadable;      /* only its name is known */
    size_t size_bytes;    /* without shared parts */
    struct object object; /* its source is NULL: the text is gone */
    struct field root;
    struct node root_node;
    size_t tree_count;
    struct shared_tree *trees[];
};
/* NULL: malloc failed. */
struct stored *stored_create(const struct object *object, struct shared_trees *trees) MUST_CHECK;
void stored_destroy(struct stored *stored, struct shared_trees *trees); /* NULL is fine */
/* Whether no reader can tell them apart. */
bool stored_equal(const struct stored *a, const struct stored *b);

#endif
