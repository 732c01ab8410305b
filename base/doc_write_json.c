/* Writes JSON, without a space, into text that grows in an arena. */
#include "base/doc_internal.h"

/* What follows the backslash in the escape of a byte; 0: no escape, or \u00XX below a blank. */
static const char short_escapes[256] = {
    ['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
    ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't',
};

enum { LONGEST_ESCAPE = sizeof "\\u0000" - 1 };

static size_t escaped_bytes(unsigned char c)
{
    return short_escapes[c] != 0 ? 2 : c < 0x20 ? LONGEST_ESCAPE : 1;
}

struct text json_cut(struct text t, size_t limit_bytes)
{
    size_t size = 0;
    if (t.size <= limit_bytes / LONGEST_ESCAPE)
        return t;
    for (size_t used = 0; size < t.size; size++) {
        used += escaped_bytes((unsigned char)t.data[size]);
        if (used > limit_bytes)
            break;
    }
    while (size > 0 && size < t.size && ((unsigned char)t.data[size] & 0xC0) == 0x80)
        size--;
    return (struct text){t.data, size};
}

static void add_escape(struct text_builder *out, unsigned char c)
{
    if (short_escapes[c] == 0)
        text_builder_printf(out, "\\u%04x", c);
    else
        text_builder_add(out, (struct text){(const char[]){'\\', short_escapes[c]}, 2});
}

/* What is not plain ASCII all through. */
static void write_special(struct text_builder *out, struct text t)
{
    t = text_as_utf8(t, out->arena);
    size_t start = 0;
    for (size_t i = 0; i < t.size; i++) {
        unsigned char c = (unsigned char)t.data[i];
        if (escaped_bytes(c) == 1)
            continue;
        text_builder_add(out, (struct text){t.data + start, i - start});
        add_escape(out, c);
        start = i + 1;
    }
    text_builder_add(out, (struct text){t.data + start, t.size - start});
}

void json_write_string(struct text_builder *out, struct text t)
{
    text_builder_add(out, TEXT("\""));
    if (t.size == 0 || json_run_end(t.data, t.data + t.size) == t.data + t.size)
        text_builder_add(out, t);
    else
        write_special(out, t);
    text_builder_add(out, TEXT("\""));
}

void json_write_key(struct text_builder *out, const char *key)
{
    char before = out->size == 0 ? '{' : out->data[out->size - 1];
    if (before != '{')
        text_builder_add(out, TEXT(","));
    json_write_string(out, text_of(key));
    text_builder_add(out, TEXT(":"));
}

void json_write_member(struct text_builder *out, const char *key, struct text value)
{
    json_write_key(out, key);
    json_write_string(out, value);
}

void json_write_node(struct text_builder *out, const struct node *node)
{
    switch ((enum node_kind)node->kind) {
    case NODE_NULL:
        text_builder_add(out, TEXT("null"));
        break;
    case NODE_BOOL:
    case NODE_NUMBER:
        text_builder_add(out, node_text(node));
        break;
    case NODE_STRING:
        json_write_string(out, node_string(node));
        break;
    case NODE_LIST:
        for (size_t i = 0; i < node->size; i++) {
            text_builder_add(out, i == 0 ? TEXT("[") : TEXT(","));
            json_write_node(out, &node->items[i]);
        }
        text_builder_add(out, node->size == 0 ? TEXT("[]") : TEXT("]"));
        break;
    case NODE_MAP:
        for (size_t i = 0; i < node->size; i++) {
            const struct member *member = &node->members[i];
            text_builder_add(out, i == 0 ? TEXT("{") : TEXT(","));
            json_write_string(out, member_key(member));
            text_builder_add(out, TEXT(":"));
            json_write_node(out, &member->value);
        }
        text_builder_add(out, node->size == 0 ? TEXT("{}") : TEXT("}"));
        break;
    }
}

struct text node_json(const struct node *node, struct arena *arena)
{
    struct text_builder out = {.arena = arena};
    json_write_node(&out, node);
    return text_builder_text(&out);
}
