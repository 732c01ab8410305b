/* What of an object is kept, and the copies of it. */
#ifndef TAFFRAIL_LIVE_KEPT_INTERNAL_H
#define TAFFRAIL_LIVE_KEPT_INTERNAL_H

#include "live/kept.h"

/* ---- kept_fields.c ---- */

/* What is kept of the value of a member, and of the items when it is a list. */
struct keep {
    struct text key;
    const struct keep *inside; /* only these members, up to one without a key; NULL: the whole */
    bool (*takes)(const struct node *item); /* only these items; NULL: all */
    bool shared; /* many objects have it alike: there once for all of them */
};
extern const struct keep kept_fields[KIND_COUNT];
/* Finds what is kept of a member; false: nothing. *inside NULL: the whole. */
bool keep_finds(const struct keep *keep, struct text key, const struct keep **inside);
/* A word that most objects have, for ever; NULL: it is none. */
const char *kept_word(struct text text);

/* ---- kept_tree.c ---- */

enum { SHARED_MAX = 16 }; /* trees of one object; what is beyond is the object's own */

/* A copy under way: measured first, then made in the memory that takes. */
struct keeping {
    struct shared_trees *trees; /* NULL: nothing is shared */
    enum kind kind;
    struct shared_tree *shared[SHARED_MAX];
    size_t shared_count, shared_used;
    size_t members, nodes, bytes;
    bool failed; /* malloc did */
    struct member *next_member;
    struct node *next_node;
    char *next_byte;
};
/* keep NULL: the whole. */
void keeping_measure(struct keeping *keeping, const struct node *node, const struct keep *keep);
void keeping_measure_text(struct keeping *keeping, struct text text);
size_t keeping_size_bytes(const struct keeping *keeping);
/* Memory of that size, aligned for pointers. */
void keeping_begin(struct keeping *keeping, void *memory);
struct node keeping_copy(struct keeping *keeping, const struct node *node, const struct keep *keep);
const char *keeping_copy_text(struct keeping *keeping, struct text text);

/* Whether trees are the same, in the order written. */
bool kept_tree_equal(const struct node *a, const struct node *b);
void shared_tree_release(struct shared_trees *trees, struct shared_tree *tree);

#endif
