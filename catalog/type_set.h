/* Sets of instance types. */
#ifndef TAFFRAIL_CATALOG_TYPE_SET_H
#define TAFFRAIL_CATALOG_TYPE_SET_H

#include "base/base.h"

struct catalog;

/* A set of types, a bit each, in the catalogue's order (by name). */
struct type_set {
    uint64_t *words;
    size_t word_count;
};

struct type_set type_set_create(const struct catalog *catalog, struct arena *arena); /* empty */
void type_set_add(struct type_set *set, size_t index);
/* The types of another set, which may be empty without words. */
void type_set_add_all(struct type_set *set, const struct type_set *others);
bool type_set_has(const struct type_set *set, size_t index);
size_t type_set_count(const struct type_set *set);
bool type_set_is_empty(const struct type_set *set);
/* The index of its first type from this one on; SIZE_MAX: it has no more. */
size_t type_set_next(const struct type_set *set, size_t index);
/* The index of each of its types, in order. */
#define FOR_TYPES(index, set)                                       \
    for (size_t index = type_set_next(set, 0); (index) != SIZE_MAX; \
         (index) = type_set_next(set, (index) + 1))
bool type_set_intersects(const struct type_set *a, const struct type_set *b);
/* a without b; a and b. */
struct type_set type_set_minus(const struct type_set *a, const struct type_set *b,
                               struct arena *arena);
struct type_set type_set_and(const struct type_set *a, const struct type_set *b,
                             struct arena *arena);
struct text_list type_set_names(const struct catalog *catalog, const struct type_set *set,
                                struct arena *arena);
/* "a, b, c, d, e, ... (17)": the names of at most five types of a set, then the number of all. */
struct text type_set_text(const struct catalog *catalog, const struct type_set *set,
                          struct arena *arena);

#endif
