/* The fields of an object that are stored, and the copies of them. */
#ifndef TAFFRAIL_LIVE_TRANSFORM_H
#define TAFFRAIL_LIVE_TRANSFORM_H

#include "live/stored.h"

/* ---- transform_fields.c ---- */

/* The stored part of a member's value, and of the items when it is a list. */
struct transform_field {
    struct text key;
    const struct transform_field
        *inside; /* only these members, up to one without a key; NULL: the whole */
    bool (*takes)(const struct node *item); /* only these items; of the whole only these values;
                                               NULL: all */
    bool shared; /* many objects have the same value: it is stored once for all */
};
extern const struct transform_field transform_fields[KIND_COUNT];
/* The permanent copy of a word that most objects have; NULL: it is none of them. */
const char *transform_word(struct text text);

/* ---- transform_choice.c ---- */

/* Finds the stored part of a member; false: nothing. *inside NULL: the whole. */
bool transform_field_finds(const struct transform_field *keep, struct text key,
                           const struct transform_field **inside);

/* ---- transform_tree.c ---- */

enum { SHARED_MAX = 16 }; /* shared trees of one object; any others are its own */

/* A copy in progress: first measured, then made in the given memory. */
struct tree_copy {
    struct shared_trees *trees; /* NULL: nothing is shared */
    enum kind kind;
    struct shared_tree *shared[SHARED_MAX];
    size_t shared_count, shared_used;
    size_t members, nodes, bytes;
    bool failed; /* malloc failed */
    struct member *next_member;
    struct node *next_node;
    char *next_byte;
};
/* keep NULL: the whole. */
void tree_copy_measure(struct tree_copy *tree_copy, const struct node *node,
                       const struct transform_field *keep);
void tree_copy_measure_text(struct tree_copy *tree_copy, struct text text);
size_t tree_copy_size_bytes(const struct tree_copy *tree_copy);
/* Memory of that size, aligned for pointers. */
void tree_copy_begin(struct tree_copy *tree_copy, void *memory);
struct node tree_copy_make(struct tree_copy *tree_copy, const struct node *node,
                           const struct transform_field *keep);
const char *tree_copy_text(struct tree_copy *tree_copy, struct text text);

/* Whether trees are the same, in the order written. */
bool shared_tree_equal(const struct node *a, const struct node *b);
void shared_tree_release(struct shared_trees *trees, struct shared_tree *tree);

#endif
