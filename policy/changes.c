/* A patch, built up operation by operation. */
#include "policy/rail.h"

static void add(struct patch *patch, struct arena *arena, struct text path, struct node value)
{
    *LIST_PUSH(arena, patch) = (struct patch_op){
        .op = PATCH_ADD,
        .path = path,
        .value = node_keep(arena, value),
    };
}

static bool is_added(const struct patch *patch, struct text path)
{
    for (size_t i = 0; i < patch->count; i++)
        if (text_equal(patch->items[i].path, path))
            return true;
    return false;
}

/* A second `add` of an empty map would take away what the first has got since. */
static void ensure(struct patch *patch, struct arena *arena, const struct field *field,
                   struct node empty)
{
    bool is_there = field->node != NULL && !node_is(field->node, NODE_NULL);
    struct text path = field_pointer(arena, field);
    if (is_there || is_added(patch, path))
        return;
    if (field->parent != NULL)
        ensure(patch, arena, field->parent, node_of_members(NULL, 0));
    add(patch, arena, path, empty);
}

void patch_set(struct patch *patch, struct arena *arena, const struct field *map, struct text key,
               struct node value)
{
    ensure(patch, arena, map, node_of_members(NULL, 0));
    add(patch, arena, field_pointer(arena, field_member(arena, map, key)), value);
}

void patch_append(struct patch *patch, struct arena *arena, const struct field *list,
                  struct node value)
{
    ensure(patch, arena, list, node_of_items(NULL, 0));
    add(patch, arena, arena_printf(arena, "%.*s/-", TEXT_ARGS(field_pointer(arena, list))), value);
}
