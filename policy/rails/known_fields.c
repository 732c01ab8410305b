#include "policy/rails/known_fields.h"

#include <string.h>

static bool has_name(const struct known_place *place, struct text name)
{
    for (size_t i = 0; place->names[i] != NULL; i++)
        if (text_is(name, place->names[i]))
            return true;
    return false;
}

static bool has_unknown(const struct known_place *place, const struct node *map)
{
    for (size_t i = 0; node_is(map, NODE_MAP) && i < node_count(map); i++)
        if (!has_name(place, (struct text){map->members[i].key, map->members[i].key_size}))
            return true;
    return false;
}

/* Names that so many things have that they tell nothing of where they belong. */
static bool is_of_anything(struct text name)
{
    static const char *const names[] = {"enabled", "id", "kind", "name"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (text_is(name, names[i]))
            return true;
    return false;
}

/* Where a field of that name does stand; items of lists are not meant. */
static const char *home_of(const struct known_fields *known, struct text name)
{
    if (is_of_anything(name))
        return NULL;
    for (const struct known_place *place = known->places + 1; place->path != NULL; place++)
        if (strstr(place->path, "[]") == NULL && has_name(place, name))
            return place->path;
    return NULL;
}

/* Empty when nothing tells what was meant. */
static struct text fix_of(const struct known_fields *known, const struct known_place *place,
                          struct text name, struct arena *arena)
{
    enum { TYPO_EDITS = 2 };
    struct text names[KNOWN_FIELDS_MAX];
    size_t count = 0;
    while (place->names[count] != NULL) {
        names[count] = text_of(place->names[count]);
        count++;
    }
    size_t nearest = text_nearest(name, names, count, TYPO_EDITS);
    if (nearest < count)
        return arena_printf(arena, "did you mean %.*s?", TEXT_ARGS(names[nearest]));
    const char *home = home_of(known, name);
    if (home != NULL)
        return arena_printf(arena, "move it to %s.%.*s", home, TEXT_ARGS(name));
    for (size_t i = 0; known->elsewhere[i].name != NULL; i++)
        if (text_is(name, known->elsewhere[i].name))
            return text_of(known->elsewhere[i].fix);
    return TEXT("");
}

static void judge_map(struct judgement *judgement, const struct known_fields *known,
                      const struct known_place *place, const struct field *map)
{
    struct arena *arena = judgement->arena;
    for (size_t i = 0; node_is(map->node, NODE_MAP) && i < node_count(map->node); i++) {
        struct text name = {map->node->members[i].key, map->node->members[i].key_size};
        if (has_name(place, name))
            continue;
        struct text fix = fix_of(known, place, name, arena);
        bool may_exist = fix.size == 0;
        enum severity severity = may_exist ? SEVERITY_WARN : SEVERITY_RAIL;
        if (judgement_counts(judgement, severity))
            continue;
        judgement_say(
            judgement,
            &(struct draft){
                .severity = severity,
                .field = field_member(arena, map, name),
                .found = name,
                .statement = arena_printf(
                    arena,
                    "found \"%.*s\" where %s has no such field%s: the API server drops it silently",
                    TEXT_ARGS(name), known->object,
                    may_exist ? ", unless your Karpenter is newer than what is known here" : ""),
                .fix = may_exist ? TEXT("remove it") : fix,
            });
    }
}

static void judge_place(struct judgement *judgement, const struct known_fields *known,
                        const struct known_place *place)
{
    struct arena *arena = judgement->arena;
    const struct field *root = judgement->object->root;
    const char *items = strstr(place->path, "[]");
    if (items == NULL) {
        judge_map(judgement, known, place,
                  place->path[0] == '\0' ? root : field_at(arena, root, place->path));
        return;
    }
    struct text path = {place->path, (size_t)(items - place->path)};
    const char *inside = items + strlen("[]");
    const struct field *list = field_at(arena, root, arena_text(arena, path).data);
    size_t count = node_is(list->node, NODE_LIST) ? node_count(list->node) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct node *map = &list->node->items[i];
        if (inside[0] != '\0')
            map = node_get(map, inside + 1);
        if (!has_unknown(place, map))
            continue;
        const struct field *item = field_item(arena, list, i);
        judge_map(judgement, known, place,
                  inside[0] == '\0' ? item : field_get(arena, item, inside + 1));
    }
}

void known_fields_judge(struct judgement *judgement, const struct known_fields *known)
{
    for (const struct known_place *place = known->places; place->path != NULL; place++)
        judge_place(judgement, known, place);
}
