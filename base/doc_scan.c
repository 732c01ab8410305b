/* JSON that is looked at without a tree: by quotes and brackets alone, at any depth, in no memory.
 * It says where values are; whether they are right says the reader. */
#include "base/doc_internal.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && is_space(*at))
        at++;
    return at;
}

/* at stands behind the opening quote; past the closing one, NULL: there is none. */
static const char *string_end(const char *at, const char *end)
{
    for (; at < end; at++) {
        if (*at == '"')
            return at + 1;
        if (*at == '\\')
            at++;
    }
    return NULL;
}

static const char *brackets_end(const char *at, const char *end)
{
    size_t depth = 0;
    while (at < end) {
        char c = *at++;
        if (c == '"') {
            at = string_end(at, end);
            if (at == NULL)
                return NULL;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return at;
        }
    }
    return NULL;
}

const char *json_value_end(const char *at, const char *end)
{
    if (at == end)
        return NULL;
    if (*at == '{' || *at == '[')
        return brackets_end(at, end);
    if (*at == '"')
        return string_end(at + 1, end);
    static const struct text ends = {",]}:{[\"", 7};
    const char *start = at;
    while (at < end && !is_space(*at) && memchr(ends.data, *at, ends.size) == NULL)
        at++;
    return at == start ? NULL : at;
}

bool json_walk_begin(struct json_walk *walk, struct text value)
{
    const char *end = value.data + value.size;
    const char *at = skip_space(value.data, end);
    bool opens = at < end && (*at == '{' || *at == '[');
    *walk =
        (struct json_walk){.at = opens ? at + 1 : end, .end = end, .is_map = opens && *at == '{'};
    return opens;
}

/* Behind a value, or at the first one; NULL: there is none. */
static const char *next_value(struct json_walk *walk)
{
    const char *at = skip_space(walk->at, walk->end);
    walk->ended = at < walk->end && *at == (walk->is_map ? '}' : ']');
    if (walk->ended || at == walk->end || (walk->count > 0 && *at != ','))
        return NULL;
    at = walk->count > 0 ? skip_space(at + 1, walk->end) : at;
    return at == walk->end ? NULL : at;
}

bool json_walk_next(struct json_walk *walk, struct text *key, struct text *value)
{
    const char *at = walk->ended ? NULL : next_value(walk);
    *key = *value = TEXT("");
    if (at != NULL && walk->is_map) {
        const char *start = at + 1;
        at = *at == '"' ? string_end(start, walk->end) : NULL;
        if (at == NULL)
            return false;
        *key = (struct text){start, (size_t)(at - 1 - start)};
        at = skip_space(at, walk->end);
        at = at < walk->end && *at == ':' ? skip_space(at + 1, walk->end) : NULL;
    }
    if (at == NULL)
        return false;
    const char *end = json_value_end(at, walk->end);
    *value = (struct text){at, (size_t)((end == NULL ? walk->end : end) - at)};
    if (end == NULL)
        return false;
    walk->at = end;
    walk->count++;
    return true;
}

struct text json_find(struct text map, const char *key)
{
    struct json_walk walk;
    struct text found, value;
    if (json_walk_begin(&walk, map) && walk.is_map)
        while (json_walk_next(&walk, &found, &value))
            if (text_is(found, key))
                return value;
    return TEXT("");
}

struct text json_plain_string(struct text value)
{
    bool quoted = value.size >= 2 && value.data[0] == '"';
    if (!quoted || memchr(value.data, '\\', value.size) != NULL)
        return TEXT("");
    return (struct text){value.data + 1, value.size - 2};
}
