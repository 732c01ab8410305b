/* Paths of fields, built when they are printed. */
#include "base/arena_internal.h"

static inline const struct field *field_new(struct arena *arena, struct field field)
{
    struct field *copy = arena_alloc_fast(arena, sizeof *copy);
    *copy = field;
    return copy;
}

const struct field *field_root(struct arena *arena, const struct node *root)
{
    return field_new(arena, (struct field){.node = root});
}

const struct field *field_member(struct arena *arena, const struct field *parent, struct text key)
{
    if (key.data == NULL)
        key.data = "";
    return field_new(
        arena,
        (struct field){.parent = parent, .key = key, .node = node_member(parent->node, key)});
}

const struct field *field_item(struct arena *arena, const struct field *parent, size_t index)
{
    return field_new(
        arena,
        (struct field){.parent = parent, .index = index, .node = node_item(parent->node, index)});
}

const struct field *field_child(struct arena *arena, const struct field *parent,
                                enum node_kind kind, size_t index)
{
    const struct node *node = parent->node;
    if (!node_is(node, kind) || index >= node_count(node))
        return NULL;
    if (kind == NODE_LIST)
        return field_item(arena, parent, index);
    const struct member *member = &node->members[index];
    return field_new(arena, (struct field){.parent = parent,
                                           .key = member_key(member),
                                           .index = index,
                                           .node = &member->value});
}

const struct field *field_at(struct arena *arena, const struct field *parent, const char *path)
{
    for (;;) {
        const char *end = strchrnul(path, '.');
        parent = field_member(arena, parent, (struct text){path, (size_t)(end - path)});
        if (*end == '\0')
            return parent;
        path = end + 1;
    }
}

static bool is_word(struct text key)
{
    for (size_t i = 0; i < key.size; i++) {
        char c = key.data[i], lower = (char)(c | 0x20);
        bool letter = (lower >= 'a' && lower <= 'z') || c == '_';
        if (!letter && (i == 0 || ((c < '0' || c > '9') && c != '-')))
            return false;
    }
    return key.size != 0;
}

static void add_path(struct text_builder *path, const struct field *field)
{
    if (field->parent == NULL)
        return;
    add_path(path, field->parent);
    if (field->key.data == NULL) {
        text_builder_printf(path, "[%zu]", field->index);
    } else if (is_word(field->key)) {
        if (path->size != 0)
            text_builder_add(path, TEXT("."));
        text_builder_add(path, field->key);
    } else {
        text_builder_add(path, TEXT("["));
        text_builder_add(path, field->key);
        text_builder_add(path, TEXT("]"));
    }
}

struct text field_path(struct arena *arena, const struct field *field)
{
    struct text_builder path = {.arena = arena};
    add_path(&path, field);
    return text_builder_text(&path);
}

/* A key as a token of a JSON pointer (RFC 6901). */
static void add_token(struct text_builder *pointer, struct text key)
{
    for (size_t i = 0; i < key.size; i++) {
        struct text c = {key.data + i, 1};
        text_builder_add(pointer, c.data[0] == '~'   ? TEXT("~0")
                                  : c.data[0] == '/' ? TEXT("~1")
                                                     : c);
    }
}

static void add_pointer(struct text_builder *pointer, const struct field *field)
{
    if (field->parent == NULL)
        return;
    add_pointer(pointer, field->parent);
    text_builder_add(pointer, TEXT("/"));
    if (field->key.data == NULL)
        text_builder_printf(pointer, "%zu", field->index);
    else
        add_token(pointer, field->key);
}

struct text field_pointer(struct arena *arena, const struct field *field)
{
    struct text_builder pointer = {.arena = arena};
    add_pointer(&pointer, field);
    return text_builder_text(&pointer);
}

uint32_t field_offset(const struct field *field)
{
    while (field != NULL && field->node == NULL)
        field = field->parent;
    return field == NULL ? 0 : field->node->offset;
}

static size_t field_depth(const struct field *field)
{
    size_t depth = 0;
    for (; field->parent != NULL; field = field->parent)
        depth++;
    return depth;
}

/* Compares two fields at the same depth. */
static int compare_level(const struct field *a, const struct field *b)
{
    if (a == b || a->parent == NULL)
        return 0;
    int order = compare_level(a->parent, b->parent);
    if (order != 0)
        return order;
    bool a_is_item = a->key.data == NULL, b_is_item = b->key.data == NULL;
    if (a_is_item && b_is_item)
        return (a->index > b->index) - (a->index < b->index);
    if (a_is_item || b_is_item)
        return a_is_item ? -1 : 1;
    return text_compare(a->key, b->key);
}

int field_compare(struct arena *arena, const struct field *a, const struct field *b)
{
    (void)arena;
    size_t a_depth = field_depth(a), b_depth = field_depth(b);
    for (size_t i = b_depth; i < a_depth; i++)
        a = a->parent;
    for (size_t i = a_depth; i < b_depth; i++)
        b = b->parent;
    int order = compare_level(a, b);
    return order != 0 ? order : (a_depth > b_depth) - (a_depth < b_depth);
}
