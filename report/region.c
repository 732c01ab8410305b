/* Values as the file has them, and the region of a value in its file. */
#include <string.h>
#include <strings.h>

#include "report/format.h"

/* ---- scalars ---- */

/* Up to and including the closing quote; empty when there is none. */
static struct text quoted(struct text rest)
{
    char quote = rest.data[0];
    for (size_t i = 1; i < rest.size; i++) {
        bool doubled = quote == '\'' && rest.data[i] == quote && i + 1 < rest.size &&
                       rest.data[i + 1] == quote;
        if (doubled || (quote == '"' && rest.data[i] == '\\'))
            i++;
        else if (rest.data[i] == quote)
            return (struct text){rest.data, i + 1};
    }
    return TEXT("");
}

struct text scalar_written(struct text source, const struct node *node)
{
    struct text value = node == NULL ? TEXT("") : node_text(node);
    if (node == NULL || node->offset >= source.size)
        return TEXT("");
    struct text rest = {source.data + node->offset, source.size - node->offset};
    char first = rest.data[0];
    if (node_is(node, NODE_STRING) && (first == '"' || first == '\''))
        return quoted(rest);
    if (value.size == 0 || strchr("|>&*!", first) != NULL || !text_starts_with(rest, value))
        return TEXT("");
    return (struct text){rest.data, value.size};
}

/* Whether YAML 1.1 reads it as this string without quotes, in any place. */
static bool is_plain(struct text value)
{
    static const char *const words[] = {"y",   "n",    "yes",   "no",  "on",
                                        "off", "true", "false", "null"};
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    static const char others[] = "0123456789._/-";
    for (size_t i = 0; i < value.size; i++)
        if (memchr(letters, value.data[i], sizeof letters - 1) == NULL &&
            (i == 0 || memchr(others, value.data[i], sizeof others - 1) == NULL))
            return false;
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (value.size == strlen(words[i]) && strncasecmp(value.data, words[i], value.size) == 0)
            return false;
    return value.size > 0;
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

static bool has_control(struct text value)
{
    for (size_t i = 0; i < value.size; i++)
        if (is_control(value.data[i]))
            return true;
    return false;
}

struct text scalar_rewritten(struct text written, struct text value, struct arena *arena)
{
    char first = written.size > 0 ? written.data[0] : '"';
    if (first != '"' && first != '\'' && is_plain(value))
        return value;
    /* YAML's double quotes accept all JSON escapes. */
    bool single = first == '\'' && !has_control(value);
    struct text quote = single ? TEXT("'") : TEXT("\"");
    struct text_builder rewritten = {.arena = arena};
    text_builder_add(&rewritten, quote);
    for (size_t i = 0; i < value.size; i++) {
        char c = value.data[i];
        if (is_control(c)) {
            text_builder_printf(&rewritten, "\\u%04x", (unsigned)(unsigned char)c);
            continue;
        }
        if (single && c == '\'')
            text_builder_add(&rewritten, TEXT("'"));
        else if (!single && (c == '"' || c == '\\'))
            text_builder_add(&rewritten, TEXT("\\"));
        text_builder_add(&rewritten, (struct text){&value.data[i], 1});
    }
    text_builder_add(&rewritten, quote);
    return text_builder_text(&rewritten);
}

/* ---- regions ---- */

/* The line of an offset, and its column in UTF-16 code units. */
static void find(struct source *source, uint32_t offset, struct arena *arena, uint32_t *line,
                 uint32_t *column)
{
    struct place place = source_place(source, arena, offset);
    *line = place.line;
    *column = source_utf16_column(source, place.line, offset);
}

struct region finding_region(const struct located_finding *located, struct arena *arena)
{
    struct source *source = located->object->source;
    const struct field *field = located->finding->field;
    uint32_t offset = field_offset(field);
    struct region region = {0};
    if (source == NULL)
        return region;
    find(source, offset, arena, &region.line, &region.column);
    struct text written = scalar_written(source->text, field->node);
    if (written.size > 0)
        find(source, offset + (uint32_t)written.size, arena, &region.end_line, &region.end_column);
    return region;
}

const char *short_path(const char *path)
{
    const char *rest = path;
    while (rest[0] == '.' && rest[1] == '/') {
        rest += 2;
        rest += strspn(rest, "/");
    }
    return *rest == '\0' ? path : rest;
}
