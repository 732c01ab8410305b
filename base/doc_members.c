#include "base/doc_internal.h"

#include <string.h>
#include <sys/random.h>

/* Up to this many members, comparing all pairs beats building a table. */
enum { PAIRS_MAX = 24 };

static uint64_t load_bytes(const char *bytes, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, bytes, size < sizeof value ? size : sizeof value);
    return value;
}

static bool same_key(const struct member *a, const struct member *b)
{
    return a->key_size == b->key_size && memcmp(a->key, b->key, a->key_size) == 0;
}

static uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Secret, so that nobody can choose keys that collide. */
struct seed {
    uint64_t start, factor;
};

static struct seed seed_new(void)
{
    struct seed seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = (struct seed){(uintptr_t)&seed, UINT64_C(0x9E3779B97F4A7C15)};
    seed.factor |= 1;
    return seed;
}

static uint64_t key_hash(struct seed seed, const struct member *member)
{
    uint64_t hash = seed.start ^ member->key_size;
    size_t at = 0;
    for (; member->key_size - at > 8; at += 8)
        hash = fold(hash ^ load_bytes(member->key + at, 8), seed.factor);
    return fold(hash ^ load_bytes(member->key + at, member->key_size - at), seed.factor);
}

/* For each member whose key stood before: reports it and takes the key of the earlier one away. */
static bool pairs_find(struct member *members, size_t count, duplicate_report *report,
                       void *context)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (members[j].key == NULL || !same_key(&members[i], &members[j]))
                continue;
            if (report != NULL && !report(context, &members[i]))
                return false;
            members[j].key = NULL;
        }
    }
    return true;
}

static bool table_find(struct arena *arena, struct member *members, size_t count,
                       duplicate_report *report, void *context)
{
    size_t slots = 64;
    while (slots < 2 * count)
        slots *= 2;
    uint32_t *table = ARENA_ARRAY(arena, slots, uint32_t); /* index + 1 */
    struct seed seed = seed_new();
    for (size_t i = 0; i < count; i++) {
        size_t slot = key_hash(seed, &members[i]) & (slots - 1);
        while (table[slot] != 0 && !same_key(&members[table[slot] - 1], &members[i]))
            slot = (slot + 1) & (slots - 1);
        if (table[slot] != 0 && report != NULL && !report(context, &members[i]))
            return false;
        table[slot] = (uint32_t)i + 1;
    }
    /* Only the last of equal keys is in the table now; the others lose theirs. */
    for (size_t i = 0; i < count; i++) {
        size_t slot = key_hash(seed, &members[i]) & (slots - 1);
        while (members[table[slot] - 1].key == NULL ||
               !same_key(&members[table[slot] - 1], &members[i]))
            slot = (slot + 1) & (slots - 1);
        if (table[slot] != i + 1)
            members[i].key = NULL;
    }
    return true;
}

bool members_drop_duplicates(struct arena *arena, struct member *members, size_t *count,
                             duplicate_report *report, void *context)
{
    bool go_on = *count <= PAIRS_MAX ? pairs_find(members, *count, report, context)
                                     : table_find(arena, members, *count, report, context);
    if (!go_on)
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (members[i].key != NULL)
            members[kept++] = members[i];
    *count = kept;
    return true;
}
