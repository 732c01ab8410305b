/* Lists of numbers, each kept once. */
#include "solver/intern.h"

#include <string.h>

#include "base/base.h"
#include "solver/solver.h"

uint64_t intern_hash(const void *bytes, size_t size, uint64_t seed)
{
    const unsigned char *p = bytes;
    uint64_t hash = seed ^ (size * 0x9e3779b97f4a7c15u);
    for (; size >= 8; size -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        hash = (hash ^ word) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    uint64_t rest = 0;
    if (size > 0)
        memcpy(&rest, p, size);
    hash = (hash ^ rest) * 0xc4ceb9fe1a85ec53u;
    return hash ^ hash >> 29;
}

static size_t slot_of(const struct intern *table, const void *bytes, size_t size, uint64_t hash)
{
    size_t mask = table->slot_count - 1, slot = hash & mask;
    while (table->slots[slot] != 0) {
        const struct intern_entry *entry = &table->items[table->slots[slot] - 1];
        if (entry->hash == hash && entry->size == size &&
            (size == 0 || memcmp(entry->bytes, bytes, size) == 0))
            return slot;
        slot = (slot + 1) & mask;
    }
    return slot;
}

static void grow(struct intern *table)
{
    table->slot_count = table->slot_count == 0 ? 16 : table->slot_count * 2;
    table->slots = ARENA_ARRAY(table->arena, table->slot_count, uint32_t);
    for (size_t i = 0; i < table->count; i++) {
        const struct intern_entry *entry = &table->items[i];
        table->slots[slot_of(table, entry->bytes, entry->size, entry->hash)] = (uint32_t)i + 1;
    }
}

struct intern intern_over(struct arena *arena, const struct intern *below)
{
    while (below != NULL && below->count == 0) /* an empty table has nothing to look up */
        below = below->below;
    if (below == NULL)
        return (struct intern){.arena = arena};
    return (struct intern){.arena = arena, .below = below, .below_count = intern_count(below)};
}

static uint32_t find(const struct intern *table, const void *bytes, size_t size, uint64_t hash)
{
    for (; table != NULL; table = table->below) {
        if (table->slot_count == 0)
            continue;
        size_t slot = slot_of(table, bytes, size, hash);
        if (table->slots[slot] != 0)
            return (uint32_t)table->below_count + table->slots[slot] - 1;
    }
    return SOLVER_NONE;
}

uint32_t intern_number(struct intern *table, const void *bytes, size_t size, bool *added)
{
    uint64_t hash = intern_hash(bytes, size, 0);
    uint32_t known = find(table, bytes, size, hash);
    if (added != NULL)
        *added = known == SOLVER_NONE;
    if (known != SOLVER_NONE)
        return known;
    if (table->count * 2 >= table->slot_count)
        grow(table);
    unsigned char *copy = arena_alloc(table->arena, size + 1);
    if (size > 0)
        memcpy(copy, bytes, size);
    size_t slot = slot_of(table, bytes, size, hash);
    struct intern_entry entry = {copy, size, hash};
    *LIST_PUSH(table->arena, table) = entry;
    table->slots[slot] = (uint32_t)table->count;
    return (uint32_t)intern_count(table) - 1;
}

uint32_t intern_find(const struct intern *table, const void *bytes, size_t size)
{
    return find(table, bytes, size, intern_hash(bytes, size, 0));
}

uint32_t intern_string(struct intern *table, const char *terminated, bool *added)
{
    return intern_number(table, terminated, strlen(terminated), added);
}

const char *intern_text(const struct intern *table, uint32_t number)
{
    while (number < table->below_count)
        table = table->below;
    return table->items[number - table->below_count].bytes;
}

void fingerprint_bytes(struct fingerprint *fingerprint, const void *bytes, size_t size)
{
    if (size == 0)
        return;
    if (fingerprint->size + size > fingerprint->capacity) {
        size_t capacity = fingerprint->capacity == 0 ? 256 : fingerprint->capacity * 2;
        while (capacity < fingerprint->size + size)
            capacity *= 2;
        unsigned char *grown = arena_alloc(fingerprint->arena, capacity);
        if (fingerprint->size > 0)
            memcpy(grown, fingerprint->bytes, fingerprint->size);
        fingerprint->bytes = grown;
        fingerprint->capacity = capacity;
    }
    memcpy(fingerprint->bytes + fingerprint->size, bytes, size);
    fingerprint->size += size;
}

void fingerprint_number(struct fingerprint *fingerprint, uint64_t number)
{
    fingerprint_bytes(fingerprint, &number, sizeof number);
}

void fingerprint_string(struct fingerprint *fingerprint, const char *terminated)
{
    size_t size = strlen(terminated);
    fingerprint_number(fingerprint, size);
    fingerprint_bytes(fingerprint, terminated, size);
}
