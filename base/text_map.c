/* Texts with a number each, found in constant time. A few are searched one by one; more get a
 * table, at most half full. */
#include "base/hash.h"

enum { SEARCHED_MAX = 8, FIRST_SLOTS = 64 };

struct text_slots {
    struct hash_seed seed;
    size_t count;    /* a power of two */
    uint32_t item[]; /* index + 1; 0: free */
};

/* The slot of key, or the free one where it belongs. */
static uint32_t *slot_of(const struct text_map *map, struct text key)
{
    struct text_slots *slots = map->slots;
    size_t at = hash_text(slots->seed, key) & (slots->count - 1);
    while (slots->item[at] != 0 && !text_equal(map->items[slots->item[at] - 1].key, key))
        at = (at + 1) & (slots->count - 1);
    return &slots->item[at];
}

static struct text_count *find(const struct text_map *map, struct text key)
{
    if (map->slots != NULL) {
        uint32_t item = *slot_of(map, key);
        return item == 0 ? NULL : &map->items[item - 1];
    }
    for (size_t i = 0; i < map->count; i++)
        if (text_equal(map->items[i].key, key))
            return &map->items[i];
    return NULL;
}

static void make_slots(struct text_map *map, struct arena *arena)
{
    size_t count = map->slots == NULL ? FIRST_SLOTS : 2 * map->slots->count;
    struct text_slots *slots = arena_alloc(arena, sizeof *slots + count * sizeof *slots->item);
    slots->seed = map->slots == NULL ? hash_seed_new() : map->slots->seed;
    slots->count = count;
    map->slots = slots;
    for (size_t i = 0; i < map->count; i++)
        *slot_of(map, map->items[i].key) = (uint32_t)i + 1;
}

bool text_map_has(const struct text_map *map, struct text key)
{
    return find(map, key) != NULL;
}

size_t text_map_get(const struct text_map *map, struct text key, size_t otherwise)
{
    const struct text_count *found = find(map, key);
    return found == NULL ? otherwise : found->value;
}

size_t *text_map_at(struct text_map *map, struct arena *arena, struct text key)
{
    struct text_count *found = find(map, key);
    if (found != NULL)
        return &found->value;
    *LIST_PUSH(arena, map) = (struct text_count){.key = key};
    if (map->slots == NULL ? map->count > SEARCHED_MAX : 2 * map->count > map->slots->count)
        make_slots(map, arena);
    else if (map->slots != NULL)
        *slot_of(map, key) = (uint32_t)map->count;
    return &map->items[map->count - 1].value;
}

bool text_map_add(struct text_map *map, struct arena *arena, struct text key)
{
    size_t count = map->count;
    *text_map_at(map, arena, key) += 1;
    return map->count > count;
}
