/* Cuts a YAML stream into its documents. */
#include "base/yaml_internal.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_marker(struct text line, struct text marker)
{
    return text_starts_with(line, marker) &&
           (line.size == marker.size || is_blank(line.data[marker.size]));
}

/* What Go's strings.TrimSpace takes off. */
static size_t space_size(struct text t)
{
    static const char *const spaces[] = {
        "\t",       "\n",     "\v",     "\f",     "\r",     " ",      "\xC2\x85",
        "\xC2\xA0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004",
        "\u2005",   "\u2006", "\u2007", "\u2008", "\u2009", "\u200a", "\u2028",
        "\u2029",   "\u202f", "\u205f", "\u3000",
    };
    for (size_t i = 0; i < COUNT_OF(spaces); i++)
        if (text_starts_with(t, text_of(spaces[i])))
            return strlen(spaces[i]);
    return 0;
}

/* A line that ends a document for kubectl and is no marker of YAML: --- and a comment, with other
 * white space between them, or none. */
static bool is_kubectl_separator(struct text line)
{
    if (!text_starts_with(line, TEXT("---")) || is_marker(line, TEXT("---")))
        return false;
    struct text rest = {line.data + 3, line.size - 3};
    for (size_t size; rest.size > 0 && (size = space_size(rest)) > 0;)
        rest = (struct text){rest.data + size, rest.size - size};
    return rest.size == 0 || rest.data[0] == '#';
}

static struct text line_at(struct text t, size_t start)
{
    const char *end = memchr(t.data + start, '\n', t.size - start);
    size_t next = end == NULL ? t.size : (size_t)(end - t.data) + 1;
    return (struct text){t.data + start, next - start};
}

/* YAML ends a line at these, too: what follows them is no comment. */
static size_t break_size(struct text t)
{
    static const char *const breaks[] = {"\r", "\xC2\x85", "\u2028", "\u2029"};
    bool may_be = t.data[0] == '\r' || (unsigned char)t.data[0] >= 0xC2; /* comments may be long */
    for (size_t i = 0; may_be && i < COUNT_OF(breaks); i++)
        if (text_starts_with(t, text_of(breaks[i])))
            return strlen(breaks[i]);
    return 0;
}

/* The first byte from at on that is neither blank nor comment, or line.size. */
static size_t find_content(struct text line, size_t at)
{
    bool comment = false;
    while (at < line.size) {
        size_t size = break_size((struct text){line.data + at, line.size - at});
        comment = size == 0 && (comment || line.data[at] == '#');
        if (size == 0 && !comment && !is_blank(line.data[at]))
            break;
        at += size == 0 ? 1 : size;
    }
    return at;
}

struct yaml_part yaml_part_find(struct text t, size_t start)
{
    struct yaml_part part = {.start = start, .content = SIZE_MAX};
    bool directive = false;
    size_t at = start;
    while (at < t.size) {
        struct text line = line_at(t, at);
        bool ends = is_kubectl_separator(line), begins = ends || is_marker(line, TEXT("---"));
        if (begins && at != start && (ends || !directive))
            break;
        part.begins |= begins;
        if (ends) {
            part.start = at += line.size;
            continue;
        }
        size_t content = find_content(line, begins ? 3 : 0);
        if (part.content == SIZE_MAX && content < line.size) {
            part.content = at + content;
            directive = line.data[0] == '%';
        }
        directive = directive && !begins;
        at += line.size;
        if (is_marker(line, TEXT("...")))
            break;
    }
    part.end = at;
    if (part.content > at)
        part.content = at;
    return part;
}
