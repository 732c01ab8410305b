/* Texts with a number each, found in constant time. A few are searched one by one; more get a
 * table, at most half full. */
#include "base/hash.h"

enum { SEARCHED_MAX = 8, FIRST_SLOTS = 64 };

struct text_slot {
    uint32_t item; /* its index + 1; 0: free */
    uint32_t hash; /* of its key, which lies elsewhere */
};

struct text_slots {
    struct hash_seed seed;
    size_t count; /* a power of two */
    struct text_slot slot[];
};

static uint32_t hash_of(const struct text_map *map, struct text key)
{
    return (uint32_t)hash_text(map->slots->seed, key);
}

/* The slot of key, or the free one where it belongs. */
static struct text_slot *slot_of(const struct text_map *map, struct text key, uint32_t hash)
{
    struct text_slots *slots = map->slots;
    size_t at = hash & (slots->count - 1);
    while (slots->slot[at].item != 0 &&
           (slots->slot[at].hash != hash ||
            !text_equal(map->items[slots->slot[at].item - 1].key, key)))
        at = (at + 1) & (slots->count - 1);
    return &slots->slot[at];
}

static bool find(const struct text_map *map, struct text key, size_t *index)
{
    if (map->slots != NULL) {
        *index = (size_t)slot_of(map, key, hash_of(map, key))->item - 1;
        return *index != SIZE_MAX;
    }
    for (*index = 0; *index < map->count; (*index)++)
        if (text_equal(map->items[*index].key, key))
            return true;
    return false;
}

static struct text_slots *slots_create(struct arena *arena, size_t count, struct hash_seed seed)
{
    struct text_slots *slots = arena_alloc(arena, sizeof *slots + count * sizeof *slots->slot);
    slots->seed = seed;
    slots->count = count;
    return slots;
}

static void make_slots(struct text_map *map, struct arena *arena)
{
    map->slots = slots_create(arena, FIRST_SLOTS, hash_seed_new());
    for (size_t i = 0; i < map->count; i++) {
        uint32_t hash = hash_of(map, map->items[i].key);
        *slot_of(map, map->items[i].key, hash) = (struct text_slot){(uint32_t)i + 1, hash};
    }
}

/* The keys are all different, so none is compared. */
static void double_slots(struct text_map *map, struct arena *arena)
{
    const struct text_slots *old = map->slots;
    struct text_slots *slots = slots_create(arena, 2 * old->count, old->seed);
    for (size_t i = 0; i < old->count; i++) {
        size_t at = old->slot[i].hash & (slots->count - 1);
        while (old->slot[i].item != 0 && slots->slot[at].item != 0)
            at = (at + 1) & (slots->count - 1);
        if (old->slot[i].item != 0)
            slots->slot[at] = old->slot[i];
    }
    map->slots = slots;
}

bool text_map_has(const struct text_map *map, struct text key)
{
    size_t index;
    return find(map, key, &index);
}

size_t text_map_get(const struct text_map *map, struct text key, size_t otherwise)
{
    size_t index;
    return find(map, key, &index) ? map->items[index].value : otherwise;
}

static size_t push(struct text_map *map, struct arena *arena, struct text key)
{
    *LIST_PUSH(arena, map) = (struct text_count){.key = key};
    return map->count - 1;
}

/* The index of key, which is hashed once. */
static size_t index_in_slots(struct text_map *map, struct arena *arena, struct text key)
{
    uint32_t hash = hash_of(map, key);
    struct text_slot *slot = slot_of(map, key, hash);
    if (slot->item != 0)
        return slot->item - 1;
    if (2 * (map->count + 1) > map->slots->count) {
        double_slots(map, arena);
        slot = slot_of(map, key, hash);
    }
    size_t index = push(map, arena, key);
    *slot = (struct text_slot){(uint32_t)index + 1, hash};
    return index;
}

size_t *text_map_at(struct text_map *map, struct arena *arena, struct text key)
{
    size_t index;
    if (map->slots != NULL) {
        index = index_in_slots(map, arena, key);
    } else if (!find(map, key, &index)) {
        index = push(map, arena, key);
        if (map->count > SEARCHED_MAX)
            make_slots(map, arena);
    }
    return &map->items[index].value;
}

bool text_map_add(struct text_map *map, struct arena *arena, struct text key)
{
    size_t count = map->count;
    *text_map_at(map, arena, key) += 1;
    return map->count > count;
}
