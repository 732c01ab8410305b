/* JSON as a tree in an arena. */
#include "report/tree.h"

#include "report/format.h"

void tree_put(struct tree_map *map, const char *key, struct node value)
{
    *LIST_PUSH(map->arena, map) = member_of(text_of(key), value);
}

void tree_put_text(struct tree_map *map, const char *key, struct text value)
{
    tree_put(map, key, node_of_text(text_as_utf8(value, map->arena)));
}

void tree_put_string(struct tree_map *map, const char *key, const char *value)
{
    tree_put_text(map, key, text_of(value));
}

void tree_put_count(struct tree_map *map, const char *key, size_t count)
{
    tree_put(map, key, node_of_integer((int64_t)count, map->arena));
}

void tree_put_place(struct tree_map *map, const struct place *place)
{
    tree_put_string(map, "file", place->file == NULL ? "" : place->file);
    tree_put_count(map, "line", place->line);
    tree_put_count(map, "column", place->column);
}

struct node tree_map_node(const struct tree_map *map)
{
    return node_of_members(map->items, map->count);
}

void tree_add(struct tree_list *list, struct node value)
{
    *LIST_PUSH(list->arena, list) = value;
}

struct node tree_list_node(const struct tree_list *list)
{
    return node_of_items(list->items, list->count);
}

struct node tree_errors(const struct problems *errors, struct arena *arena)
{
    struct tree_list list = {.arena = arena};
    for (size_t i = 0; i < errors->count; i++) {
        const struct error *error = &errors->items[i];
        struct tree_map map = {.arena = arena};
        tree_put_place(&map, &error->place);
        tree_put_string(&map, "message", error->what);
        tree_add(&list, tree_map_node(&map));
    }
    return tree_list_node(&list);
}

bool tree_write(const struct node *root, struct arena *arena, FILE *out, struct error *error)
{
    return json_write(json_of_node(root), arena, out, error);
}
