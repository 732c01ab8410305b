/* Reads trees: kinds, members, items, paths and places in the text. */
#include "base/doc_internal.h"

#include <string.h>

const struct doc_limits doc_limits_review = {.bytes = 40 << 20, .nodes = 16 << 20, .depth = 128};
const struct doc_limits doc_limits_manifest = {.bytes = 64 << 20, .nodes = 4000000, .depth = 128};
const struct doc_limits doc_limits_policy = {.bytes = 4 << 20, .nodes = 200000, .depth = 32};

struct text node_text(const struct node *node)
{
    if (node == NULL || node->size == 0 || node->kind == NODE_NULL || node->kind >= NODE_LIST)
        return TEXT("");
    return (struct text){node->bytes, node->size};
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
            (key.size == 0 ||
             (member->key[0] == key.data[0] && memcmp(member->key, key.data, key.size) == 0)))
            return &member->value;
    }
    return NULL;
}

const struct node *node_at(const struct node *root, const char *path)
{
    const struct node *node = root;
    for (;;) {
        const char *end = strchrnul(path, '.');
        node = node_member(node, (struct text){path, (size_t)(end - path)});
        if (*end == '\0' || node == NULL)
            return node;
        path = end + 1;
    }
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

static struct source_mark count_characters(struct text t, size_t start, size_t end)
{
    struct source_mark count = {0, 0};
    for (size_t i = start; i < end; i++) {
        unsigned char byte = (unsigned char)t.data[i];
        count.points += (byte & 0xC0) != 0x80;
        count.units += (byte & 0xC0) != 0x80;
        count.units += byte >= 0xF0;
    }
    return count;
}

static struct source_mark added(struct source_mark a, struct source_mark b)
{
    return (struct source_mark){a.points + b.points, a.units + b.units};
}

#define MARKED_BYTES ((size_t)1024) /* of text between two marks */

static struct source_mark *make_marks(struct text t, struct arena *arena)
{
    size_t count = t.size / MARKED_BYTES + 1;
    struct source_mark *marks = ARENA_ARRAY(arena, count, struct source_mark);
    for (size_t i = 1; i < count; i++)
        marks[i] =
            added(marks[i - 1], count_characters(t, (i - 1) * MARKED_BYTES, i * MARKED_BYTES));
    return marks;
}

/* From the start of the text. */
static struct source_mark characters_before(const struct source *source, size_t offset)
{
    size_t block = offset / MARKED_BYTES;
    return added(source->marks[block],
                 count_characters(source->text, block * MARKED_BYTES, offset));
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
    source->marks = make_marks(source->text, arena);
    source->line_starts = starts;
}

static size_t clamped(const struct source *source, uint32_t offset)
{
    return offset < source->text.size ? offset : source->text.size;
}

static struct place find_place(const struct source *source, uint32_t offset)
{
    size_t end = clamped(source, offset);
    size_t low = 0, high = source->line_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (source->line_starts[middle] <= end)
            low = middle;
        else
            high = middle;
    }
    /* An offset before a byte order mark, which is part of no line, is the first column. */
    size_t start = source->line_starts[low] < end ? source->line_starts[low] : end;
    return (struct place){source->file, (uint32_t)low + 1,
                          1 + characters_before(source, end).points -
                              characters_before(source, start).points};
}

struct place source_place(struct source *source, struct arena *arena, uint32_t offset)
{
    if (source->line_starts == NULL)
        source_find_lines(source, arena);
    return find_place(source, offset);
}

uint32_t source_utf16_column(const struct source *source, uint32_t line, uint32_t offset)
{
    size_t end = clamped(source, offset);
    size_t start = source->line_starts[line - 1] < end ? source->line_starts[line - 1] : end;
    return 1 + characters_before(source, end).units - characters_before(source, start).units;
}

struct place source_place_once(const struct source *source, uint32_t offset)
{
    if (source->line_starts != NULL)
        return find_place(source, offset);
    struct text t = source->text;
    size_t end = clamped(source, offset);
    size_t start = starts_with_mark(t) ? 3 : 0;
    uint32_t line = 1;
    for (const char *newline;
         start < end && (newline = memchr(t.data + start, '\n', end - start)) != NULL; line++)
        start = (size_t)(newline - t.data) + 1;
    return (struct place){source->file, line, 1 + count_characters(t, start, end).points};
}
