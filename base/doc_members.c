/* Members of a large map, found by their keys. */
#include "base/doc_internal.h"

#include <string.h>

#include "base/hash.h"

/* A table of the members by their keys, at most half full. */
struct members_table {
    struct hash_seed seed;
    size_t slots; /* a power of two */
    /* The index of a member, + 1; 0: free. The bits above those that an index needs are of the
     * key's hash: of most members with another key nothing else is looked at. */
    uint32_t entry[];
};

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
    struct members_table *table = arena_alloc(arena, sizeof *table + slots * sizeof *table->entry);
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

/* Where a key stands, or would. */
struct found {
    size_t slot;
    uint32_t mark;  /* of the key's hash */
    uint32_t index; /* of the member, + 1; 0: there is none */
};

static struct found find(const struct members_table *table, const struct member *members,
                         const struct member *wanted)
{
    const uint32_t numbers = (uint32_t)table->slots - 1;
    uint64_t hash = hash_text(table->seed, member_key(wanted));
    struct found found = {.slot = hash & numbers, .mark = (uint32_t)(hash >> 32) & ~numbers};
    for (uint32_t entry; (entry = table->entry[found.slot]) != 0;
         found.slot = (found.slot + 1) & numbers) {
        uint32_t index = entry & numbers;
        if ((entry & ~numbers) != found.mark || !same_key(&members[index - 1], wanted))
            continue;
        found.index = index;
        break;
    }
    return found;
}

static bool table_find(struct members_table *table, struct member *members, size_t count,
                       duplicate_report *report, void *context)
{
    bool some_twice = false;
    for (size_t i = 0; i < count; i++) {
        struct found found = find(table, members, &members[i]);
        bool twice = found.index != 0;
        if (twice && report != NULL && !report(context, &members[i]))
            return false;
        some_twice |= twice;
        table->entry[found.slot] = found.mark | ((uint32_t)i + 1);
    }
    /* Only the last of equal keys is in the table now; the others lose their key. */
    for (size_t i = 0; some_twice && i < count; i++)
        if (find(table, members, &members[i]).index != i + 1)
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
        memset(table->entry, 0, table->slots * sizeof *table->entry);
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
    uint32_t index = find(table, map->members, &wanted).index;
    return index == 0 ? NULL : &map->members[index - 1];
}
