/* Writes trees as YAML: on one line, for messages, or as people write files. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"

enum { INDENT = 2 };

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '/';
}

/* Words that YAML 1.1 does not take for a string. */
static bool is_other_word(struct text t)
{
    static const char *const words[] = {"true", "false", "yes", "no", "on",
                                        "off",  "null",  "y",   "n"};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (t.size == strlen(words[i]) && strncasecmp(t.data, words[i], t.size) == 0)
            return true;
    return false;
}

static bool is_plain(struct text t)
{
    if (t.size == 0 || (t.data[0] >= '0' && t.data[0] <= '9') || t.data[0] == '-' ||
        t.data[0] == '.' || is_other_word(t))
        return false;
    for (size_t i = 0; i < t.size; i++)
        if (!is_word_byte(t.data[i]))
            return false;
    return true;
}

/* What is written for a character that cannot stand in quotes as it is, of *size bytes; empty for
 * all others. */
enum { ESCAPE_ROOM = sizeof "\\u2028" };
static struct text escape_of(struct text rest, char room[ESCAPE_ROOM], size_t *size)
{
    char c = rest.data[0];
    *size = 1;
    if (c == '\n')
        return TEXT("\\n");
    if (c == '\t')
        return TEXT("\\t");
    if (c == '"' || c == '\\') {
        room[0] = '\\';
        room[1] = c;
        return (struct text){room, 2};
    }
    *size = control_size(rest);
    if (*size == 0)
        return TEXT("");
    /* The last byte of two is the number of the character. */
    const unsigned char *bytes = (const unsigned char *)rest.data;
    unsigned number = bytes[*size - 1];
    if (*size == 3)
        number = (bytes[0] & 0xFU) << 12 | (bytes[1] & 0x3FU) << 6 | (bytes[2] & 0x3FU);
    return (struct text){
        room, (size_t)snprintf(room, ESCAPE_ROOM, *size == 3 ? "\\u%04x" : "\\x%02x", number)};
}

static void add_quoted(struct text_builder *out, struct text t)
{
    size_t start = 0; /* of what is written as it is */
    char room[ESCAPE_ROOM];
    text_builder_add(out, TEXT("\""));
    for (size_t i = 0, size; i < t.size; i++) {
        struct text escape = escape_of((struct text){t.data + i, t.size - i}, room, &size);
        if (escape.size == 0)
            continue;
        text_builder_add(out, (struct text){t.data + start, i - start});
        text_builder_add(out, escape);
        start = i + size;
        i = start - 1;
    }
    text_builder_add(out, (struct text){t.data + start, t.size - start});
    text_builder_add(out, TEXT("\""));
}

static void add_string(struct text_builder *out, struct text t)
{
    if (is_plain(t))
        text_builder_add(out, t);
    else
        add_quoted(out, t);
}

static void add_scalar(struct text_builder *out, const struct node *node)
{
    if (node_is(node, NODE_STRING))
        add_string(out, node_string(node));
    else if (node_is(node, NODE_NULL))
        text_builder_add(out, TEXT("null"));
    else
        text_builder_add(out, node_text(node));
}

static void add_flow(struct text_builder *out, const struct node *node)
{
    bool is_map = node_is(node, NODE_MAP);
    if (!is_map && !node_is(node, NODE_LIST)) {
        add_scalar(out, node);
        return;
    }
    text_builder_add(out, is_map ? TEXT("{") : TEXT("["));
    for (size_t i = 0; i < node_count(node); i++) {
        text_builder_add(out, i == 0 ? TEXT("") : TEXT(", "));
        if (is_map) {
            add_string(out, member_key(&node->members[i]));
            text_builder_add(out, TEXT(": "));
        }
        add_flow(out, is_map ? &node->members[i].value : node_item(node, i));
    }
    text_builder_add(out, is_map ? TEXT("}") : TEXT("]"));
}

/* ---- blocks ---- */

/* Short values without lists or maps inside fit on one line. */
static bool is_short(const struct node *node)
{
    enum { MOST = 8 };
    bool is_map = node_is(node, NODE_MAP);
    if (node_count(node) > MOST)
        return false;
    for (size_t i = 0; i < node_count(node); i++) {
        const struct node *child = is_map ? &node->members[i].value : node_item(node, i);
        if (node_is(child, NODE_MAP) || (is_map && node_is(child, NODE_LIST)) ||
            memchr(node_text(child).data, '\n', node_text(child).size) != NULL)
            return false;
    }
    return true;
}

static void add_spaces(struct text_builder *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        text_builder_add(out, TEXT(" "));
}

/* A script keeps its lines, when YAML can keep all of them. */
static bool is_literal(struct text t)
{
    if (t.size < 2 || memchr(t.data, '\n', t.size) == NULL || t.data[0] == ' ' ||
        t.data[0] == '\n' || text_ends_with(t, TEXT("\n\n")))
        return false;
    for (size_t i = 0; i < t.size; i++)
        if (t.data[i] != '\n' && control_size((struct text){t.data + i, t.size - i}) > 0)
            return false;
    return true;
}

static void add_literal(struct text_builder *out, struct text t, size_t indent)
{
    text_builder_add(out, text_ends_with(t, TEXT("\n")) ? TEXT(" |\n") : TEXT(" |-\n"));
    while (t.size > 0) {
        struct text line = t;
        struct text rest = {t.data + t.size, 0};
        text_split(t, '\n', &line, &rest);
        if (line.size > 0)
            add_spaces(out, indent);
        text_builder_add(out, line);
        text_builder_add(out, TEXT("\n"));
        t = rest;
    }
}

static void add_block(struct text_builder *out, const struct node *node, size_t indent, bool begun);

/* The part after "key:" or "-". */
static void add_value(struct text_builder *out, const struct node *node, size_t indent, bool item)
{
    if (node_is(node, NODE_STRING) && is_literal(node_string(node))) {
        add_literal(out, node_string(node), indent + INDENT);
    } else if (node_count(node) == 0 || is_short(node)) {
        text_builder_add(out, TEXT(" "));
        add_flow(out, node);
        text_builder_add(out, TEXT("\n"));
    } else if (item) {
        text_builder_add(out, TEXT(" "));
        add_block(out, node, indent + INDENT, true);
    } else {
        text_builder_add(out, TEXT("\n"));
        add_block(out, node, indent + INDENT, false);
    }
}

/* begun: the first line is already indented. */
static void add_block(struct text_builder *out, const struct node *node, size_t indent, bool begun)
{
    bool is_map = node_is(node, NODE_MAP);
    for (size_t i = 0; i < node_count(node); i++) {
        if (i > 0 || !begun)
            add_spaces(out, indent);
        if (is_map) {
            add_string(out, member_key(&node->members[i]));
            text_builder_add(out, TEXT(":"));
            add_value(out, &node->members[i].value, indent, false);
        } else {
            text_builder_add(out, TEXT("-"));
            add_value(out, node_item(node, i), indent, true);
        }
    }
}

struct text node_yaml_line(const struct node *node, struct arena *arena)
{
    struct text_builder out = {.arena = arena};
    add_flow(&out, node);
    return text_builder_text(&out);
}

struct text node_yaml(const struct node *node, struct arena *arena)
{
    struct text_builder out = {.arena = arena};
    if (node_count(node) > 0)
        add_block(&out, node, 0, false);
    else
        text_builder_printf(&out, "%.*s\n", TEXT_ARGS(node_yaml_line(node, arena)));
    return text_builder_text(&out);
}
