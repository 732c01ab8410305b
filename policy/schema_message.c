/* What is said of a value that a key does not take. */
#include "policy/schema.h"

enum { FOUND_BYTES_MAX = 60 };

bool schema_problem(const struct schema *schema, const struct field *field, uint32_t offset,
                    const char *format, ...)
{
    struct problems *problems = schema->problems;
    if (problems->count >= SCHEMA_PROBLEMS_MAX)
        return false;
    struct text path = field_path(schema->arena, field);
    va_list arguments;
    va_start(arguments, format);
    struct text what = arena_vprintf(schema->arena, format, arguments);
    va_end(arguments);
    problems_add(problems, ERROR_POLICY, source_place(schema->source, schema->arena, offset),
                 "%.*s%s%.*s", TEXT_ARGS(path), path.size == 0 ? "" : ": ", TEXT_ARGS(what));
    return false;
}

struct text schema_join(struct arena *arena, const struct text *items, size_t count)
{
    return texts_join(items, count, SIZE_MAX, arena);
}

struct text schema_nearest(struct arena *arena, struct text found, const struct text *candidates,
                           size_t count)
{
    enum { EDITS_MAX = 4, BEGINNING_MIN = 3 };
    size_t edits = found.size < 4 ? 1 : found.size / 2;
    if (edits > EDITS_MAX)
        edits = EDITS_MAX;
    size_t nearest = text_nearest(found, candidates, count, edits);
    for (size_t i = 0; nearest == count && i < count; i++)
        if (found.size >= BEGINNING_MIN && text_starts_with(candidates[i], found))
            nearest = i;
    if (nearest == count)
        return TEXT("");
    return arena_printf(arena, ", did you mean `%.*s`?", TEXT_ARGS(candidates[nearest]));
}

struct text schema_printable(struct arena *arena, struct text t)
{
    bool cut = t.size > FOUND_BYTES_MAX;
    if (cut)
        t.size = FOUND_BYTES_MAX;
    while (cut && t.size > 0 && ((unsigned char)t.data[t.size] & 0xC0) == 0x80)
        t.size--;
    char *copy = ARENA_ARRAY(arena, t.size + 1, char);
    for (size_t i = 0; i < t.size; i++) {
        unsigned char c = (unsigned char)t.data[i];
        bool after_c2 = i > 0 && (unsigned char)t.data[i - 1] == 0xC2;
        bool control = c < 0x20 || c == 0x7F || (after_c2 && c < 0xA0);
        copy[i] = control ? '?' : t.data[i];
        if (control && after_c2)
            copy[i - 1] = '?';
    }
    return arena_printf(arena, "%.*s%s", (int)t.size, copy, cut ? "..." : "");
}

struct text schema_written(const struct schema *schema, const struct node *node)
{
    struct text t = schema->source->text;
    size_t begin = node->offset < t.size ? node->offset : t.size;
    size_t end = begin;
    while (end < t.size && (t.data[end] | 0x20) >= 'a' && (t.data[end] | 0x20) <= 'z')
        end++;
    return (struct text){t.data + begin, end - begin};
}

struct text schema_found(const struct schema *schema, const struct node *node)
{
    struct arena *arena = schema->arena;
    struct text value = node_text(node);
    switch ((enum node_kind)node->kind) {
    case NODE_NULL:
        return TEXT("nothing");
    case NODE_BOOL:
        return arena_printf(arena, "the boolean %.*s", TEXT_ARGS(schema_written(schema, node)));
    case NODE_NUMBER:
        return arena_printf(arena, "the number %.*s", TEXT_ARGS(schema_printable(arena, value)));
    case NODE_STRING:
        return arena_printf(arena, "\"%.*s\"", TEXT_ARGS(schema_printable(arena, value)));
    case NODE_LIST:
        return node_count(node) == 0 ? TEXT("an empty list") : TEXT("a list");
    case NODE_MAP:
        return node_count(node) == 0 ? TEXT("an empty map") : TEXT("a map");
    }
    return TEXT("");
}

struct text *schema_choices(struct arena *arena, const char *const *choices, size_t *count)
{
    *count = 0;
    while (choices[*count] != NULL)
        ++*count;
    struct text *texts = ARENA_ARRAY(arena, *count, struct text);
    for (size_t i = 0; i < *count; i++)
        texts[i] = text_of(choices[i]);
    return texts;
}

static struct text join_choices(struct arena *arena, const char *const *choices)
{
    size_t count = 0;
    const struct text *texts = schema_choices(arena, choices, &count);
    return schema_join(arena, texts, count);
}

static struct text wanted_integer(struct arena *arena, const struct key *key)
{
    if (key->minimum == 0 && key->maximum == 0)
        return TEXT("a whole number");
    if (key->maximum == 0)
        return arena_printf(arena, "a whole number, %lld or more", (long long)key->minimum);
    return arena_printf(arena, "a whole number from %lld to %lld", (long long)key->minimum,
                        (long long)key->maximum);
}

struct text schema_wanted(struct arena *arena, const struct key *key)
{
    switch (key->type) {
    case KEY_BOOL:
        return TEXT("true or false");
    case KEY_INTEGER:
        return wanted_integer(arena, key);
    case KEY_QUANTITY:
        return TEXT("a quantity above 0, such as 64 or 256Gi");
    case KEY_DURATION:
        return TEXT("a duration above 0 in h, m and s, such as 720h or 1h30m");
    case KEY_SHARE:
        return TEXT("a whole number or a percentage, such as 5 or 10%");
    case KEY_QUANTITIES:
        return TEXT("a map of names to quantities, as in {cpu: 1000, memory: 4Ti}");
    case KEY_GLOB_LISTS:
        return TEXT("a map of names to lists of globs, as in {team: [web, data-*]}");
    case KEY_STRING:
        return TEXT("a string");
    case KEY_ENUM:
        if (key->choices[1] == NULL)
            return text_of(key->choices[0]);
        return arena_printf(arena, "one of %.*s", TEXT_ARGS(join_choices(arena, key->choices)));
    case KEY_STRINGS:
        if (key->choices == NULL)
            return TEXT("a list of strings");
        return arena_printf(arena, "a list of any of %.*s",
                            TEXT_ARGS(join_choices(arena, key->choices)));
    case KEY_GLOBS:
        return TEXT("a list of globs");
    case KEY_ACCOUNTS:
        return TEXT("a list of NAMESPACE/NAME, each part a glob");
    case KEY_PATHS:
        return TEXT("a list of paths, such as [spec.template]");
    case KEY_TIME:
    case KEY_TIME_END:
        return TEXT("a day such as 2027-03-31, or a time such as 2027-03-31T18:00:00Z");
    case KEY_KINDS:
        return TEXT("a list of kinds");
    case KEY_SELECTOR:
        return TEXT("a label selector: a map of matchLabels and matchExpressions");
    case KEY_MAP:
        return TEXT("a map");
    case KEY_NODE:
        return TEXT("anything");
    case KEY_RAILS:
        return TEXT("a map of rails by name");
    case KEY_MAPS:
        return TEXT("a list of maps");
    }
    return TEXT("");
}

bool schema_refuse(const struct schema *schema, const struct field *field, struct text wanted,
                   struct text hint)
{
    struct text found = schema_found(schema, field->node);
    if (hint.size == 0 && node_is(field->node, NODE_NULL) && field->key.data != NULL)
        hint = TEXT("; give it a value, or leave the key out");
    return schema_problem(schema, field, field->node->offset, "found %.*s, expected %.*s%.*s",
                          TEXT_ARGS(found), TEXT_ARGS(wanted), TEXT_ARGS(hint));
}

bool schema_refuse_choice(const struct schema *schema, const struct field *field,
                          const struct text *choices, size_t count)
{
    struct text found = schema_found(schema, field->node);
    struct text near = node_is(field->node, NODE_STRING) && count > 1
                           ? schema_nearest(schema->arena, node_string(field->node), choices, count)
                           : TEXT("");
    struct text allowed = schema_join(schema->arena, choices, count);
    return schema_problem(schema, field, field->node->offset, "found %.*s%.*s%s allowed: %.*s",
                          TEXT_ARGS(found), TEXT_ARGS(near), near.size > 0 ? "" : ";",
                          TEXT_ARGS(allowed));
}

bool schema_unknown(const struct schema *schema, const struct field *map,
                    const struct member *member, const char *what, const struct text *allowed,
                    size_t count)
{
    struct text name = member_key(member);
    struct text near = schema_nearest(schema->arena, name, allowed, count);
    return schema_problem(schema, map, member->key_offset, "unknown %s `%.*s`%.*s%s allowed: %.*s",
                          what, TEXT_ARGS(schema_printable(schema->arena, name)), TEXT_ARGS(near),
                          near.size > 0 ? "" : ";",
                          TEXT_ARGS(schema_join(schema->arena, allowed, count)));
}
