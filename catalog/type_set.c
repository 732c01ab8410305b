/* Sets of instance types, a bit each. */
#include "catalog/type_set.h"

#include "catalog/catalog.h"

enum { WORD_BITS = 64 };

static size_t word_count_of(size_t type_count)
{
    return (type_count + WORD_BITS - 1) / WORD_BITS;
}

struct type_set type_set_create(const struct catalog *catalog, struct arena *arena)
{
    size_t word_count = word_count_of(catalog_count(catalog));
    return (struct type_set){ARENA_ARRAY(arena, word_count, uint64_t), word_count};
}

void type_set_add(struct type_set *set, size_t index)
{
    set->words[index / WORD_BITS] |= (uint64_t)1 << (index % WORD_BITS);
}

void type_set_add_all(struct type_set *set, const struct type_set *others)
{
    for (size_t i = 0; i < others->word_count; i++)
        set->words[i] |= others->words[i];
}

bool type_set_has(const struct type_set *set, size_t index)
{
    size_t word = index / WORD_BITS;
    return word < set->word_count && (set->words[word] >> (index % WORD_BITS) & 1) != 0;
}

size_t type_set_count(const struct type_set *set)
{
    size_t count = 0;
    for (size_t i = 0; i < set->word_count; i++)
        count += (size_t)__builtin_popcountll(set->words[i]);
    return count;
}

bool type_set_is_empty(const struct type_set *set)
{
    return type_set_next(set, 0) == SIZE_MAX;
}

size_t type_set_next(const struct type_set *set, size_t index)
{
    size_t word = index / WORD_BITS;
    if (word >= set->word_count)
        return SIZE_MAX;
    uint64_t left = set->words[word] >> (index % WORD_BITS);
    if (left != 0)
        return index + (size_t)__builtin_ctzll(left);
    while (++word < set->word_count)
        if (set->words[word] != 0)
            return word * WORD_BITS + (size_t)__builtin_ctzll(set->words[word]);
    return SIZE_MAX;
}

bool type_set_intersects(const struct type_set *a, const struct type_set *b)
{
    for (size_t i = 0; i < a->word_count && i < b->word_count; i++)
        if ((a->words[i] & b->words[i]) != 0)
            return true;
    return false;
}

struct type_set type_set_minus(const struct type_set *a, const struct type_set *b,
                               struct arena *arena)
{
    struct type_set result = {ARENA_ARRAY(arena, a->word_count, uint64_t), a->word_count};
    for (size_t i = 0; i < a->word_count; i++)
        result.words[i] = a->words[i] & ~(i < b->word_count ? b->words[i] : 0);
    return result;
}

struct type_set type_set_and(const struct type_set *a, const struct type_set *b,
                             struct arena *arena)
{
    size_t word_count = a->word_count < b->word_count ? a->word_count : b->word_count;
    struct type_set result = {ARENA_ARRAY(arena, word_count, uint64_t), word_count};
    for (size_t i = 0; i < word_count; i++)
        result.words[i] = a->words[i] & b->words[i];
    return result;
}

struct text_list type_set_names(const struct catalog *catalog, const struct type_set *set,
                                struct arena *arena)
{
    struct text_list names = {0};
    FOR_TYPES(i, set)
        *LIST_PUSH(arena, &names) = catalog_type(catalog, i)->name;
    return names;
}

struct text type_set_text(const struct catalog *catalog, const struct type_set *set,
                          struct arena *arena)
{
    enum { SHOWN = 5 };
    struct text_list names = type_set_names(catalog, set, arena);
    return texts_join(names.items, names.count, SHOWN, arena);
}
