#include "policy/rail.h"

static void add(struct changes *changes, struct arena *arena, struct text path, struct node value)
{
    *LIST_PUSH(arena, changes) = (struct change){
        .op = CHANGE_ADD,
        .path = path,
        .value = node_keep(arena, value),
    };
}

static bool is_added(const struct changes *changes, struct text path)
{
    for (size_t i = 0; i < changes->count; i++)
        if (text_equal(changes->items[i].path, path))
            return true;
    return false;
}

/* A second `add` of an empty map would take away what the first has got since. */
static void ensure(struct changes *changes, struct arena *arena, const struct field *field,
                   struct node empty)
{
    bool is_there = field->node != NULL && !node_is(field->node, NODE_NULL);
    struct text path = field_pointer(arena, field);
    if (is_there || is_added(changes, path))
        return;
    if (field->parent != NULL)
        ensure(changes, arena, field->parent, node_of_members(NULL, 0));
    add(changes, arena, path, empty);
}

void changes_set(struct changes *changes, struct arena *arena, const struct field *map,
                 struct text key, struct node value)
{
    ensure(changes, arena, map, node_of_members(NULL, 0));
    add(changes, arena, field_pointer(arena, field_member(arena, map, key)), value);
}

void changes_append(struct changes *changes, struct arena *arena, const struct field *list,
                    struct node value)
{
    ensure(changes, arena, list, node_of_items(NULL, 0));
    add(changes, arena, arena_printf(arena, "%.*s/-", TEXT_ARGS(field_pointer(arena, list))),
        value);
}
