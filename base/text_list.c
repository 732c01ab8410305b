/* Lists of texts: names, values, keys. */
#include "base/base.h"

#include <stdlib.h>

bool texts_have(const struct text *items, size_t count, struct text t)
{
    for (size_t i = 0; i < count; i++)
        if (text_equal(items[i], t))
            return true;
    return false;
}

bool texts_match(const struct text *globs, size_t count, struct text t)
{
    for (size_t i = 0; i < count; i++)
        if (text_matches_glob(t, globs[i]))
            return true;
    return false;
}

bool text_is_one_of(struct text t, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text_is(t, words[i]))
            return true;
    return false;
}

void text_builder_list(struct text_builder *builder, struct text t)
{
    if (builder->size > 0)
        text_builder_add(builder, TEXT(", "));
    text_builder_add(builder, t);
}

struct text texts_join(const struct text *items, size_t count, size_t most, struct arena *arena)
{
    struct text_builder joined = {.arena = arena};
    for (size_t i = 0; i < count && i < most; i++)
        text_builder_list(&joined, items[i]);
    if (count > most)
        text_builder_printf(&joined, ", ... (%zu)", count);
    return text_builder_text(&joined);
}

/* The items, with ", " between them and a word before the last. */
static struct text joined_with(const char *last, const struct text *items, size_t count,
                               struct arena *arena)
{
    struct text_builder joined = {.arena = arena};
    for (size_t i = 0; i < count; i++)
        text_builder_printf(&joined, "%s%.*s",
                            i == 0           ? ""
                            : i == count - 1 ? last
                                             : ", ",
                            TEXT_ARGS(items[i]));
    return text_builder_text(&joined);
}

struct text texts_or(const struct text *items, size_t count, struct arena *arena)
{
    return joined_with(" or ", items, count, arena);
}

struct text texts_and(const struct text *items, size_t count, size_t most, struct arena *arena)
{
    if (count <= most)
        return joined_with(" and ", items, count, arena);
    struct text shown = texts_join(items, most, most, arena);
    return arena_printf(arena, "%.*s and %zu more", TEXT_ARGS(shown), count - most);
}

static int compare(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

void texts_sort(struct text *items, size_t count)
{
    if (count > 1)
        qsort(items, count, sizeof *items, compare);
}
