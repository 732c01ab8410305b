/* Fields of an old object that may stand at another place than theirs, where the API server dropped
 * them: they are taken along, and that is said. */
#include "kube/upgrade.h"

struct nodes {
    struct node *items;
    size_t count, capacity;
};

/* What is there so far, and more: the items of both lists, the members of both maps. */
static const struct node *joined(const struct node *there, const struct node *more,
                                 struct arena *arena)
{
    if (there == NULL)
        return more;
    if (node_is(there, NODE_LIST) && node_is(more, NODE_LIST)) {
        struct nodes items = {0};
        for (size_t i = 0; i < node_count(there); i++)
            *LIST_PUSH(arena, &items) = *node_item(there, i);
        for (size_t i = 0; i < node_count(more); i++)
            *LIST_PUSH(arena, &items) = *node_item(more, i);
        return node_keep(arena, node_of_items(items.items, items.count));
    }
    if (!node_is(there, NODE_MAP) || !node_is(more, NODE_MAP))
        return there;
    struct members members = {0};
    struct text_map names = {0};
    for (size_t i = 0; i < node_count(there); i++) {
        *LIST_PUSH(arena, &members) = there->members[i];
        (void)text_map_add(&names, arena, member_key(&there->members[i]));
    }
    for (size_t i = 0; i < node_count(more); i++)
        if (text_map_add(&names, arena, member_key(&more->members[i])))
            *LIST_PUSH(arena, &members) = more->members[i];
    return node_keep(arena, node_of_members(members.items, members.count));
}

const struct node *upgrade_gather(const struct upgrade_places *places, const char *key,
                                  struct arena *arena, struct upgrade *upgrade)
{
    const struct node *found = NULL;
    for (size_t i = 0; i < COUNT_OF(places->paths) && places->paths[i] != NULL; i++) {
        const char *path = places->paths[i];
        const struct node *at = path[0] == '\0' ? places->spec : node_at(places->spec, path);
        const struct node *value = node_get(at, key);
        if (!node_is_given(value))
            continue;
        if (i > 0)
            upgrade_note(upgrade, arena,
                         "spec%s%s.%s stood where the API server drops it, and is written to "
                         "spec.template.%s.%s",
                         path[0] == '\0' ? "" : ".", path, key, places->new_path, key);
        found = joined(found, value, arena);
    }
    return found;
}

void upgrade_leave_out(const struct node *map, const char *path, const char *const *known,
                       const char *what, struct arena *arena, struct upgrade *upgrade)
{
    enum { SHOWN = 5 };
    size_t count = 0;
    for (size_t i = 0; node_is(map, NODE_MAP) && i < node_count(map); i++) {
        struct text key = member_key(&map->members[i]);
        const char *const *name = known;
        while (*name != NULL && !text_is(key, *name))
            name++;
        if (*name == NULL && count++ < SHOWN)
            upgrade_note(upgrade, arena, "%s.%.*s is left out: %s has no such field%s", path,
                         TEXT_ARGS(key), what,
                         text_is(key, "userData") ? "; it belongs to the EC2NodeClass" : "");
    }
    if (count > SHOWN)
        upgrade_note(upgrade, arena, "%zu more field%s of %s %s left out", count - SHOWN,
                     plural_s(count - SHOWN), path, count - SHOWN == 1 ? "is" : "are");
}
