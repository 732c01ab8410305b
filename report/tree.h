/* Private to report/: JSON that is made as a tree in an arena, and printed at the end. */
#ifndef TAFFRAIL_REPORT_TREE_H
#define TAFFRAIL_REPORT_TREE_H

#include <stdio.h>

#include "base/base.h"

/* The members of a map; zero-initialise with the arena. Values of texts become valid UTF-8. */
struct tree_map {
    struct arena *arena;
    struct member *items;
    size_t count, capacity;
};
void tree_put(struct tree_map *map, const char *key, struct node value);
void tree_put_text(struct tree_map *map, const char *key, struct text value);
void tree_put_string(struct tree_map *map, const char *key, const char *value);
void tree_put_count(struct tree_map *map, const char *key, size_t count);
/* {"file", "line", "column"}, as members of the map. */
void tree_put_place(struct tree_map *map, const struct place *place);
struct node tree_map_node(const struct tree_map *map);

/* The items of a list. */
struct tree_list {
    struct arena *arena;
    struct node *items;
    size_t count, capacity;
};
void tree_add(struct tree_list *list, struct node value);
struct node tree_list_node(const struct tree_list *list);

/* Errors as every format has them: [{"file", "line", "column", "message"}]. */
struct node tree_errors(const struct problems *errors, struct arena *arena);

/* False when memory ran out. */
bool tree_write(const struct node *root, struct arena *arena, FILE *out,
                struct error *error) MUST_CHECK;

#endif
