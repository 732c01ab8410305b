/* Label keys and values as numbers. */
#include "solver/solver.h"

#include <assert.h>
#include <string.h>

#include "base/base.h"

struct name {
    const char *data;
    size_t size;
};

struct value {
    struct name name;
    int64_t number;
    bool is_number;
};

struct values {
    struct value *items;
    size_t count, capacity;
};

/* A key's slot has SOLVER_NONE as its value. */
struct slot {
    uint32_t hash, key, value;
    bool used;
};

struct solver_names {
    struct arena *arena;
    const struct solver_names *below;
    uint32_t keys_below;
    uint64_t seed;
    LIST(struct name) keys; /* of this table */
    /* The values this table adds, by key; also to keys of the tables below. */
    struct values *added;
    size_t added_count;
    struct slot *slots;
    size_t slot_count, slots_used; /* slot_count is a power of two or 0 */
};

struct solver_names *solver_names_create(struct arena *arena, const struct solver_names *below)
{
    struct solver_names *names = ARENA_NEW(arena, struct solver_names);
    while (below != NULL && below->slots_used == 0 && below->below != NULL)
        below = below->below; /* an empty table */
    names->arena = arena;
    names->below = below;
    names->keys_below = below != NULL ? solver_names_key_count(below) : 0;
    /* Whoever sends labels cannot know an address, and so cannot choose labels that collide. Tables
     * over each other share the seed, so that a text is hashed once. */
    names->seed = below != NULL ? below->seed : (uint64_t)(uintptr_t)names;
    return names;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint32_t hash_text(const struct solver_names *names, uint32_t key, const char *data,
                          size_t size)
{
    uint64_t hash = mix(names->seed ^ 0x9e3779b97f4a7c15u, ((uint64_t)key << 32) + size + 1);
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, data + i, size - i < sizeof word ? size - i : sizeof word);
        hash = mix(hash ^ word, names->seed | 0xd6e8feb86659fd93u);
    }
    return (uint32_t)(hash >> 32) ^ (uint32_t)hash;
}

static const struct values *values_added(const struct solver_names *names, uint32_t key)
{
    static const struct values none;
    return key < names->added_count ? &names->added[key] : &none;
}

static uint32_t values_below(const struct solver_names *names, uint32_t key)
{
    return key < names->keys_below ? solver_names_value_count(names->below, key) : 0;
}

static const struct name *name_of(const struct solver_names *names, const struct slot *slot)
{
    if (slot->value == SOLVER_NONE)
        return &names->keys.items[slot->key - names->keys_below];
    uint32_t index = slot->value - values_below(names, slot->key);
    return &names->added[slot->key].items[index].name;
}

/* The slot of this table that has the text, or NULL. key is SOLVER_NONE when a key is looked for.
 */
static const struct slot *find_slot(const struct solver_names *names, uint32_t hash, uint32_t key,
                                    const char *data, size_t size)
{
    if (names->slot_count == 0)
        return NULL;
    size_t mask = names->slot_count - 1;
    for (size_t i = hash & mask; names->slots[i].used; i = (i + 1) & mask) {
        const struct slot *slot = &names->slots[i];
        bool same_space = key == SOLVER_NONE ? slot->value == SOLVER_NONE
                                             : slot->key == key && slot->value != SOLVER_NONE;
        if (slot->hash != hash || !same_space)
            continue;
        const struct name *name = name_of(names, slot);
        if (name->size == size && (size == 0 || memcmp(name->data, data, size) == 0))
            return slot;
    }
    return NULL;
}

static void place_slot(struct slot *slots, size_t slot_count, struct slot slot)
{
    size_t mask = slot_count - 1, i = slot.hash & mask;
    while (slots[i].used)
        i = (i + 1) & mask;
    slots[i] = slot;
}

static void add_slot(struct solver_names *names, struct slot slot)
{
    if (names->slots_used * 2 >= names->slot_count) {
        size_t slot_count = names->slot_count > 0 ? names->slot_count * 2 : 32;
        struct slot *slots = ARENA_ARRAY(names->arena, slot_count, struct slot);
        for (size_t i = 0; i < names->slot_count; i++)
            if (names->slots[i].used)
                place_slot(slots, slot_count, names->slots[i]);
        names->slots = slots;
        names->slot_count = slot_count;
    }
    place_slot(names->slots, names->slot_count, slot);
    names->slots_used++;
}

static struct name copy_name(struct arena *arena, const char *data, size_t size)
{
    struct text copy = arena_text(arena, (struct text){data, size});
    return (struct name){copy.data, copy.size};
}

/* The number of the key in this table or one below. */
static uint32_t lookup_key(const struct solver_names *names, uint32_t hash, const char *data,
                           size_t size)
{
    for (; names != NULL; names = names->below) {
        const struct slot *slot = find_slot(names, hash, SOLVER_NONE, data, size);
        if (slot != NULL)
            return slot->key;
    }
    return SOLVER_NONE;
}

static uint32_t lookup_value(const struct solver_names *names, uint32_t hash, uint32_t key,
                             const char *data, size_t size)
{
    for (; names != NULL; names = names->below) {
        const struct slot *slot = find_slot(names, hash, key, data, size);
        if (slot != NULL)
            return slot->value;
    }
    return SOLVER_NONE;
}

uint32_t solver_names_find_key(const struct solver_names *names, const char *data, size_t size)
{
    return lookup_key(names, hash_text(names, SOLVER_NONE, data, size), data, size);
}

uint32_t solver_names_find_value(const struct solver_names *names, uint32_t key, const char *data,
                                 size_t size)
{
    return lookup_value(names, hash_text(names, key, data, size), key, data, size);
}

uint32_t solver_names_key(struct solver_names *names, const char *data, size_t size)
{
    uint32_t hash = hash_text(names, SOLVER_NONE, data, size);
    uint32_t key = lookup_key(names, hash, data, size);
    if (key != SOLVER_NONE)
        return key;
    key = solver_names_key_count(names);
    struct name name = copy_name(names->arena, data, size);
    *LIST_PUSH(names->arena, &names->keys) = name;
    add_slot(names, (struct slot){.hash = hash, .key = key, .value = SOLVER_NONE, .used = true});
    return key;
}

/* As Go's Atoi: an optional sign and decimal digits. Reading stops where 64 bits overflow, whatever
 * follows. */
static bool read_number(const char *data, size_t size, int64_t *number)
{
    *number = 0;
    size_t start = size > 0 && (data[0] == '-' || data[0] == '+') ? 1 : 0;
    bool negative = start == 1 && data[0] == '-';
    uint64_t limit = (uint64_t)INT64_MAX + negative, magnitude = 0;
    bool in_range = true;
    for (size_t i = start; i < size && in_range; i++) {
        if (data[i] < '0' || data[i] > '9')
            return false;
        in_range = !__builtin_mul_overflow(magnitude, 10u, &magnitude) &&
                   !__builtin_add_overflow(magnitude, (uint64_t)(data[i] - '0'), &magnitude);
    }
    in_range = in_range && magnitude <= limit;
    if (!in_range)
        magnitude = limit;
    *number = (int64_t)(negative ? 0 - magnitude : magnitude);
    return in_range && size > start;
}

static struct values *values_to_extend(struct solver_names *names, uint32_t key)
{
    if (key >= names->added_count) {
        size_t count = (size_t)solver_names_key_count(names) * 3 / 2 + 1;
        struct values *added = ARENA_ARRAY(names->arena, count, struct values);
        if (names->added_count > 0)
            memcpy(added, names->added, names->added_count * sizeof *added);
        names->added = added;
        names->added_count = count;
    }
    return &names->added[key];
}

uint32_t solver_names_value(struct solver_names *names, uint32_t key, const char *data, size_t size)
{
    assert(key < solver_names_key_count(names));
    uint32_t hash = hash_text(names, key, data, size);
    uint32_t value = lookup_value(names, hash, key, data, size);
    if (value != SOLVER_NONE)
        return value;
    value = solver_names_value_count(names, key);
    struct value added = {.name = copy_name(names->arena, data, size)};
    added.is_number = read_number(data, size, &added.number);
    struct values *values = values_to_extend(names, key);
    *LIST_PUSH(names->arena, values) = added;
    add_slot(names, (struct slot){.hash = hash, .key = key, .value = value, .used = true});
    return value;
}

uint32_t solver_names_key_count(const struct solver_names *names)
{
    return names->keys_below + (uint32_t)names->keys.count;
}

uint32_t solver_names_value_count(const struct solver_names *names, uint32_t key)
{
    return values_below(names, key) + (uint32_t)values_added(names, key)->count;
}

const char *solver_names_key_text(const struct solver_names *names, uint32_t key, size_t *size)
{
    while (key < names->keys_below)
        names = names->below;
    const struct name *name = &names->keys.items[key - names->keys_below];
    *size = name->size;
    return name->data;
}

static const struct value *value_at(const struct solver_names *names, uint32_t key, uint32_t value)
{
    uint32_t below = values_below(names, key);
    while (value < below) {
        names = names->below;
        below = values_below(names, key);
    }
    assert(value - below < values_added(names, key)->count);
    return &names->added[key].items[value - below];
}

const char *solver_names_value_text(const struct solver_names *names, uint32_t key, uint32_t value,
                                    size_t *size)
{
    const struct name *name = &value_at(names, key, value)->name;
    *size = name->size;
    return name->data;
}

bool solver_names_value_number(const struct solver_names *names, uint32_t key, uint32_t value,
                               int64_t *number)
{
    const struct value *found = value_at(names, key, value);
    *number = found->number;
    return found->is_number;
}
