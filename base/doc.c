#include "base/doc_internal.h"

#include <string.h>

const struct doc_limits doc_limits_review = {.bytes = 16 << 20, .nodes = 1000000, .depth = 128};
const struct doc_limits doc_limits_manifest = {.bytes = 64 << 20, .nodes = 4000000, .depth = 128};
const struct doc_limits doc_limits_policy = {.bytes = 4 << 20, .nodes = 200000, .depth = 32};

struct text node_text(const struct node *node)
{
    if (node == NULL || node->size == 0 || node->kind == NODE_NULL || node->kind >= NODE_LIST)
        return TEXT("");
    return (struct text){node->bytes, node->size};
}

struct text node_string(const struct node *node)
{
    return node_is(node, NODE_STRING) ? node_text(node) : TEXT("");
}

bool node_is(const struct node *node, enum node_kind kind)
{
    return node != NULL && node->kind == kind;
}

bool node_integer(const struct node *node, int64_t *value)
{
    return node_is(node, NODE_NUMBER) && text_to_int64(node_text(node), value);
}

bool node_is_given(const struct node *node)
{
    return node != NULL && node->kind != NODE_NULL;
}

bool node_true(const struct node *node)
{
    return node_is(node, NODE_BOOL) && node->size == 4;
}

const struct node *node_member(const struct node *map, struct text key)
{
    if (!node_is(map, NODE_MAP))
        return NULL;
    if (map->indexed) {
        const struct member *member = members_find(map, key);
        return member == NULL ? NULL : &member->value;
    }
    for (size_t i = map->size; i-- > 0;) {
        const struct member *member = &map->members[i];
        if (member->key_size == key.size &&
            (key.size == 0 || memcmp(member->key, key.data, key.size) == 0))
            return &member->value;
    }
    return NULL;
}

const struct node *node_get(const struct node *map, const char *key)
{
    return node_member(map, text_of(key));
}

const struct node *node_at(const struct node *root, const char *path)
{
    struct text rest = text_of(path), key;
    const struct node *node = root;
    while (node != NULL && text_split(rest, '.', &key, &rest))
        node = node_member(node, key);
    return node_member(node, rest);
}

size_t node_count(const struct node *node)
{
    return node_is(node, NODE_LIST) || node_is(node, NODE_MAP) ? node->size : 0;
}

const struct node *node_item(const struct node *list, size_t index)
{
    return node_is(list, NODE_LIST) && index < list->size ? &list->items[index] : NULL;
}

const char *node_kind_name(enum node_kind kind)
{
    static const char *const names[] = {
        [NODE_NULL] = "null",       [NODE_BOOL] = "a boolean", [NODE_NUMBER] = "a number",
        [NODE_STRING] = "a string", [NODE_LIST] = "a list",    [NODE_MAP] = "a map",
    };
    return names[kind];
}

/* ---- places ---- */

static bool starts_with_mark(struct text t)
{
    return text_starts_with(t, TEXT("\xEF\xBB\xBF"));
}

static uint32_t column_of(struct text t, size_t line_start, size_t offset)
{
    uint32_t column = 1;
    for (size_t i = line_start; i < offset; i++)
        column += ((unsigned char)t.data[i] & 0xC0) != 0x80;
    return column;
}

/* Fills starts (NULL: only counts) with the offset of each line's first byte. A byte order mark is
 * not part of the first line. */
static size_t find_lines(struct text t, uint32_t *starts)
{
    size_t count = 0, at = starts_with_mark(t) ? 3 : 0;
    for (;;) {
        if (starts != NULL)
            starts[count] = (uint32_t)at;
        count++;
        const char *end = at < t.size ? memchr(t.data + at, '\n', t.size - at) : NULL;
        if (end == NULL)
            return count;
        at = (size_t)(end - t.data) + 1;
    }
}

void source_find_lines(struct source *source, struct arena *arena)
{
    size_t count = find_lines(source->text, NULL);
    uint32_t *starts = ARENA_ARRAY(arena, count, uint32_t);
    source->line_count = find_lines(source->text, starts);
    source->line_starts = starts;
}

struct place source_place(struct source *source, struct arena *arena, uint32_t offset)
{
    if (source->line_starts == NULL)
        source_find_lines(source, arena);
    size_t end = offset < source->text.size ? offset : source->text.size;
    size_t low = 0, high = source->line_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (source->line_starts[middle] <= end)
            low = middle;
        else
            high = middle;
    }
    return (struct place){source->file, (uint32_t)low + 1,
                          column_of(source->text, source->line_starts[low], end)};
}

struct place source_place_once(const struct source *source, uint32_t offset)
{
    struct text t = source->text;
    size_t end = offset < t.size ? offset : t.size;
    size_t start = starts_with_mark(t) ? 3 : 0;
    uint32_t line = 1;
    for (const char *newline;
         start < end && (newline = memchr(t.data + start, '\n', end - start)) != NULL; line++)
        start = (size_t)(newline - t.data) + 1;
    return (struct place){source->file, line, column_of(t, start, end)};
}
