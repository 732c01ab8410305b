/* Members of a large map, found by their keys. */
#include "base/doc_internal.h"

#include <string.h>

#include "base/hash.h"

/* A table of the members by their keys, at most half full. */
struct members_table {
    struct hash_seed seed;
    size_t slots;     /* a power of two */
    uint32_t index[]; /* of a member, + 1; 0: free */
};

static struct text key_of(const struct member *member)
{
    return (struct text){member->key, member->key_size};
}

static bool same_key(const struct member *a, const struct member *b)
{
    return a->key_size == b->key_size &&
           (a->key_size == 0 || memcmp(a->key, b->key, a->key_size) == 0);
}

static struct members_table *table_create(struct arena *arena, size_t count)
{
    size_t slots = 64;
    while (slots < 2 * count)
        slots *= 2;
    struct members_table *table = arena_alloc(arena, sizeof *table + slots * sizeof *table->index);
    table->seed = hash_seed_new();
    table->slots = slots;
    return table;
}

/* For each member whose key came before: reports it and removes the key of the earlier one. */
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

/* The slot of a key, or the free one where it belongs. */
static size_t slot_of(const struct members_table *table, const struct member *members,
                      const struct member *wanted)
{
    size_t slot = hash_text(table->seed, key_of(wanted)) & (table->slots - 1);
    while (table->index[slot] != 0 && !same_key(&members[table->index[slot] - 1], wanted))
        slot = (slot + 1) & (table->slots - 1);
    return slot;
}

static bool table_find(struct members_table *table, struct member *members, size_t count,
                       duplicate_report *report, void *context)
{
    for (size_t i = 0; i < count; i++) {
        size_t slot = slot_of(table, members, &members[i]);
        if (table->index[slot] != 0 && report != NULL && !report(context, &members[i]))
            return false;
        table->index[slot] = (uint32_t)i + 1;
    }
    /* Only the last of equal keys is in the table now; the others lose their key. */
    for (size_t i = 0; i < count; i++)
        if (table->index[slot_of(table, members, &members[i])] != i + 1)
            members[i].key = NULL;
    return true;
}

static size_t without_dropped(struct member *members, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (members[i].key != NULL)
            members[kept++] = members[i];
    return kept;
}

bool members_drop_duplicates(struct arena *arena, struct member *members, size_t *count,
                             duplicate_report *report, void *context)
{
    bool go_on = *count <= MEMBERS_SEARCHED_MAX /* comparing all pairs beats building a table */
                     ? pairs_find(members, *count, report, context)
                     : table_find(table_create(arena, *count), members, *count, report, context);
    if (go_on)
        *count = without_dropped(members, *count);
    return go_on;
}

bool members_index(struct arena *arena, struct member *members, size_t *count,
                   duplicate_report *report, void *context)
{
    struct members_table *table = table_create(arena, *count);
    if (!table_find(table, members, *count, report, context))
        return false;
    size_t kept = without_dropped(members, *count);
    if (kept < *count) { /* they have moved */
        *count = kept;
        memset(table->index, 0, table->slots * sizeof *table->index);
        (void)table_find(table, members, kept, NULL, NULL);
    }
    memcpy((char *)members - sizeof(void *), &table, sizeof(void *));
    return true;
}

const struct member *members_find(const struct node *map, struct text key)
{
    const struct members_table *table = NULL;
    memcpy(&table, (const char *)map->members - sizeof(void *), sizeof(void *));
    const struct member wanted = {.key = key.data, .key_size = (uint32_t)key.size};
    if (key.size > UINT32_MAX)
        return NULL;
    uint32_t index = table->index[slot_of(table, map->members, &wanted)];
    return index == 0 ? NULL : &map->members[index - 1];
}
