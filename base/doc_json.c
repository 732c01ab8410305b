/* A strict JSON reader (RFC 8259) for hostile input, in one pass. Strings without escapes are
 * slices of the text. Children are gathered on a stack and copied once when their list or map ends.
 */
#include "base/arena_internal.h"
#include "base/doc_internal.h"

#include <stdalign.h>
#include <stdio.h>
#include <string.h>

struct reader {
    const char *end;
    struct source *source;
    const struct doc_limits *limits;
    struct problems *duplicates;
    struct arena *arena;
    struct error *error;
    size_t node_count, depth;
    char *stack; /* the children of all open lists and maps */
    size_t stack_size, stack_capacity;
};

enum { FIRST_STACK_BYTES = 4096 };

static inline bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static uint32_t offset_of(const struct reader *reader, const char *at)
{
    return (uint32_t)(at - reader->source->text.data);
}

/* ---- errors: every reading function returns where it stopped, or NULL after one of these ---- */

static struct place place_of(const struct reader *reader, const char *at)
{
    return source_place_once(reader->source, offset_of(reader, at));
}

static const char *fail_limit(struct reader *reader, const char *at, const char *what, size_t limit)
{
    error_set(reader->error, ERROR_LIMIT, place_of(reader, at),
              "the JSON has more than the allowed %zu %s", limit, what);
    return NULL;
}

static const char *fail(struct reader *reader, const char *at, const char *what)
{
    error_set(reader->error, ERROR_INPUT, place_of(reader, at), "%s", what);
    return NULL;
}

static const char *fail_expected(struct reader *reader, const char *at, const char *expected)
{
    char found[32] = "the end of the text";
    if (at < reader->end) {
        unsigned char c = (unsigned char)*at;
        if (c > 0x20 && c < 0x7F)
            snprintf(found, sizeof found, "'%c'", c);
        else
            snprintf(found, sizeof found, "byte 0x%02X", c);
    }
    error_set(reader->error, ERROR_INPUT, place_of(reader, at), "not JSON: found %s, expected %s",
              found, expected);
    return NULL;
}

/* ---- strings ---- */

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static uint32_t hex_value(const char *digits)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = digits[i];
        value = value * 16 + (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

/* at points to "\u". */
static const char *read_code_unit(struct reader *reader, const char *at, uint32_t *unit)
{
    const char *digits = at + 2;
    for (int i = 0; i < 4; i++)
        if (digits + i >= reader->end || !is_hex(digits[i]))
            return fail_expected(reader, digits + i, "four hexadecimal digits after \\u");
    *unit = hex_value(digits);
    return digits + 4;
}

/* at points to the backslash. */
static const char *check_escape(struct reader *reader, const char *at)
{
    if (at + 1 >= reader->end || at[1] == '\0' || strchr("\"\\/bfnrtu", at[1]) == NULL)
        return fail_expected(reader, at + 1, "one of \" \\ / b f n r t u after a backslash");
    if (at[1] != 'u')
        return at + 2;
    uint32_t unit, low = 0;
    const char *next = read_code_unit(reader, at, &unit);
    if (next == NULL || unit < 0xD800 || unit > 0xDFFF)
        return next;
    if (unit < 0xDC00 && reader->end - next >= 2 && next[0] == '\\' && next[1] == 'u') {
        next = read_code_unit(reader, next, &low);
        if (next == NULL)
            return NULL;
    }
    if (low < 0xDC00 || low > 0xDFFF)
        return fail(reader, at,
                    "not JSON: half a surrogate pair; \\uD800 to \\uDBFF and \\uDC00 to \\uDFFF "
                    "stand only together, in this order");
    return next;
}

static char *write_code_point(char *out, uint32_t code)
{
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xC0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        *out++ = (char)(0xE0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
        *out++ = (char)(0x80 | (code & 0x3F));
    } else {
        *out++ = (char)(0xF0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3F));
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
        *out++ = (char)(0x80 | (code & 0x3F));
    }
    return out;
}

/* A copy of a checked string without its escapes. The copy is never longer than the original, so it
 * is decoded in place. */
static struct text decode(struct arena *arena, struct text raw)
{
    static const char plain[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
    char *copy = (char *)arena_text(arena, raw).data;
    const char *in = copy, *end = copy + raw.size;
    char *out = copy;
    while (in < end) {
        if (*in != '\\') {
            *out++ = *in++;
        } else if (in[1] != 'u') {
            *out++ = meaning[strchr(plain, in[1]) - plain];
            in += 2;
        } else {
            uint32_t code = hex_value(in + 2);
            in += 6;
            if (code >= 0xD800 && code <= 0xDFFF) {
                code = 0x10000 + ((code - 0xD800) << 10) + (hex_value(in + 2) - 0xDC00);
                in += 6;
            }
            out = write_code_point(out, code);
        }
    }
    *out = '\0';
    return (struct text){copy, (size_t)(out - copy)};
}

/* at points to a byte in a string that is not plain ASCII; returns the position after it, or after
 * the escape. */
static const char *check_byte(struct reader *reader, const char *at)
{
    if (*at == '\\')
        return check_escape(reader, at);
    if ((unsigned char)*at < 0x20)
        return fail_expected(reader, at, "control characters in a string to be escaped");
    size_t length = utf8_length(at, reader->end);
    return length == 0 ? fail_expected(reader, at, "valid UTF-8") : at + length;
}

/* The rest of a string that is not plain ASCII; at points to the first byte that is not. */
static const char *read_special(struct reader *reader, const char *start, const char *at,
                                struct text *string)
{
    bool escaped = false;
    while (at != reader->end && *at != '"') {
        escaped |= *at == '\\';
        at = check_byte(reader, at);
        if (at == NULL)
            return NULL;
        at = json_run_end(at, reader->end);
    }
    if (at == reader->end)
        return fail_expected(reader, at, "the closing '\"' of a string");
    *string = (struct text){start, (size_t)(at - start)};
    if (escaped)
        *string = decode(reader->arena, *string);
    return at + 1;
}

/* at points to the opening quote. */
static inline const char *read_string(struct reader *reader, const char *at, struct text *string)
{
    const char *start = at + 1;
    at = json_run_end(start, reader->end);
    if (at == reader->end || *at != '"')
        return read_special(reader, start, at, string);
    *string = (struct text){start, (size_t)(at - start)};
    return at + 1;
}

/* ---- values ---- */

static inline const char *skip_space(const struct reader *reader, const char *at)
{
    while (at < reader->end && (unsigned char)*at <= ' ' && is_space(*at))
        at++;
    return at;
}

static void grow_stack(struct reader *reader)
{
    char *stack = arena_alloc(reader->arena, 2 * reader->stack_capacity);
    memcpy(stack, reader->stack, reader->stack_size);
    arena_release(reader->arena, reader->stack, reader->stack_capacity);
    reader->stack = stack;
    reader->stack_capacity *= 2;
}

/* Room for a child on the stack: its offset, because the stack may move while it is read. */
static inline size_t reserve(struct reader *reader, size_t size)
{
    size_t offset = reader->stack_size;
    if (reader->stack_capacity - offset < size)
        grow_stack(reader);
    reader->stack_size = offset + size;
    return offset;
}

/* Takes the children above base off the stack into the arena. */
static void *pop(struct reader *reader, size_t base)
{
    size_t size = reader->stack_size - base;
    reader->stack_size = base;
    return size == 0 ? NULL
                     : memcpy(arena_alloc_fast(reader->arena, size), reader->stack + base, size);
}

/* Members, with room for an index before them. */
static struct member *pop_members(struct reader *reader, size_t base)
{
    size_t size = reader->stack_size - base;
    reader->stack_size = base;
    char *room = arena_alloc(reader->arena, MEMBERS_INDEX_BYTES + size);
    return memcpy(room + MEMBERS_INDEX_BYTES, reader->stack + base, size);
}

static inline void set_node(struct reader *reader, size_t slot, enum node_kind kind,
                            const void *content, size_t size, const char *start)
{
    *(struct node *)(void *)(reader->stack + slot) = (struct node){
        .bytes = content,
        .kind = kind & 7,
        .size = (uint32_t)size & DOC_BYTES_MAX,
        .offset = offset_of(reader, start),
    };
}

static const char *read_digits(struct reader *reader, const char *at, const char *expected)
{
    if (at == reader->end || !is_digit(*at))
        return fail_expected(reader, at, expected);
    do
        at++;
    while (at < reader->end && is_digit(*at));
    return at;
}

static const char *read_number(struct reader *reader, const char *start, size_t slot)
{
    const char *first = start + (*start == '-');
    const char *at = read_digits(reader, first, "a digit after '-'");
    if (at == NULL)
        return NULL;
    if (*first == '0' && at - first > 1)
        return fail(reader, first, "not JSON: a number with a leading zero");
    if (at < reader->end && *at == '.') {
        at = read_digits(reader, at + 1, "a digit after the decimal point");
        if (at == NULL)
            return NULL;
    }
    if (at < reader->end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < reader->end && (*at == '+' || *at == '-'))
            at++;
        at = read_digits(reader, at, "a digit in the exponent");
        if (at == NULL)
            return NULL;
    }
    set_node(reader, slot, NODE_NUMBER, start, (size_t)(at - start), start);
    return at;
}

static const char *read_word(struct reader *reader, const char *start, struct text word,
                             enum node_kind kind, size_t slot)
{
    if ((size_t)(reader->end - start) < word.size || memcmp(start, word.data, word.size) != 0)
        return fail_expected(reader, start,
                             "a value: a string, number, map, list, true, false or null");
    set_node(reader, slot, kind, start, word.size, start);
    return start + word.size;
}

/* at points to the opening bracket; moves to the first child or the closing bracket. */
static inline const char *open_bracket(struct reader *reader, const char *at)
{
    if (++reader->depth > reader->limits->depth)
        return fail_limit(reader, at, "levels of nesting", reader->limits->depth);
    return skip_space(reader, at + 1);
}

/* Behind a child: moves to the next one or the closing bracket. */
static inline const char *next(struct reader *reader, const char *at, char closing)
{
    at = skip_space(reader, at);
    if (at < reader->end && *at == ',') {
        at = skip_space(reader, at + 1);
        /* There is no comma before the end. */
        if (at < reader->end && *at == closing)
            return fail_expected(reader, at, closing == ']' ? "a value" : "a key in double quotes");
        return at;
    }
    if (at < reader->end && *at == closing)
        return at;
    return fail_expected(reader, at, closing == ']' ? "',' or ']'" : "',' or '}'");
}

/* Of a value that is no string. within: what is wanted of it, by limits->choice; NULL: the whole.
 */
static const char *read_other(struct reader *reader, const char *at, const void *within,
                              size_t slot);

/* Most values are strings. */
static inline const char *read_value(struct reader *reader, const char *at, const void *within,
                                     size_t slot)
{
    if (++reader->node_count > reader->limits->nodes)
        return fail_limit(reader, at, "values", reader->limits->nodes);
    if (at == reader->end || *at != '"')
        return read_other(reader, at, within, slot);
    struct text string = {0};
    const char *end = read_string(reader, at, &string);
    if (end != NULL)
        set_node(reader, slot, NODE_STRING, string.data, string.size, at);
    return end;
}

static const char *read_list(struct reader *reader, const char *start, const void *within,
                             size_t slot)
{
    size_t base = reader->stack_size;
    const char *at = open_bracket(reader, start);
    while (at != NULL && (at == reader->end || *at != ']')) {
        at = read_value(reader, at, within, reserve(reader, sizeof(struct node)));
        if (at != NULL)
            at = next(reader, at, ']');
    }
    if (at == NULL)
        return NULL;
    reader->depth--;
    size_t count = (reader->stack_size - base) / sizeof(struct node);
    set_node(reader, slot, NODE_LIST, pop(reader, base), count, start);
    return at + 1;
}

static bool report_duplicate(void *context, const struct member *member)
{
    struct reader *reader = context;
    int size = (int)(member->key_size < 80 ? member->key_size : 80);
    static const char what[] = "the key \"%.*s\" stands twice in one map; keep one of them";
    if (reader->duplicates == NULL)
        return error_set(reader->error, ERROR_INPUT,
                         source_place_once(reader->source, member->key_offset), what, size,
                         member->key);
    problems_add(reader->duplicates, ERROR_INPUT,
                 source_place(reader->source, reader->arena, member->key_offset), what, size,
                 member->key);
    return true;
}

/* The keys of the map that is read. */
struct keys {
    size_t base; /* of its members on the stack */
    uint64_t seen;
    bool suspicious; /* there may be one twice */
};

static bool is_there(const struct reader *reader, size_t base, struct text key)
{
    const struct member *member = (const void *)(reader->stack + base);
    const struct member *end = (const void *)(reader->stack + reader->stack_size);
    for (; member < end; member++)
        if (member->key_size == key.size && memcmp(member->key, key.data, key.size) == 0)
            return true;
    return false;
}

static inline void note_key(const struct reader *reader, struct keys *keys, struct text key)
{
    uint64_t bit = key_bit(key.data, key.size);
    if ((keys->seen & bit) != 0 && !keys->suspicious)
        keys->suspicious =
            reader->stack_size - keys->base >= MEMBERS_SEARCHED_MAX * sizeof(struct member) ||
            is_there(reader, keys->base, key);
    keys->seen |= bit;
}

/* Behind a value that is not wanted; NULL after an error. */
static const char *pass_over(struct reader *reader, const char *at)
{
    const char *end = json_value_end(at, reader->end);
    return end != NULL ? end : fail_expected(reader, reader->end, "the end of a value");
}

/* Whether the choice wants a member, whose value is at `at`; *after is behind one that it does not
 * want. */
static bool is_wanted(struct reader *reader, const void *within, struct text key, const char *at,
                      const void **inside, const char **after)
{
    const struct doc_choice *choice = reader->limits->choice;
    enum doc_want want = choice->wants(within, key, inside);
    if (want == DOC_READ)
        return true;
    *after = pass_over(reader, at);
    if (want == DOC_SKIP || *after == NULL)
        return false;
    const void *asked = *inside;
    *inside = NULL;
    return choice->needs(choice->context, asked, (struct text){at, (size_t)(*after - at)});
}

/* at points to a key; moves to the value behind it. */
static inline const char *read_key(struct reader *reader, const char *start, struct text *key)
{
    if (start == reader->end || *start != '"')
        return fail_expected(reader, start, "a key in double quotes");
    const char *at = read_string(reader, start, key);
    if (at == NULL)
        return NULL;
    bool decoded = key->data != start + 1;
    if (decoded && memchr(key->data, '\0', key->size) != NULL)
        return fail(reader, start,
                    "a key with a NUL character (\\u0000), which no Kubernetes object has");
    at = skip_space(reader, at);
    if (at == reader->end || *at != ':')
        return fail_expected(reader, at, "':' after a key");
    return skip_space(reader, at + 1);
}

/* Reads a member that is wanted, or passes over it. */
static inline const char *read_member(struct reader *reader, const char *start, const void *within,
                                      struct keys *keys)
{
    struct text key;
    const char *at = read_key(reader, start, &key);
    const char *after = NULL;
    const void *inside = NULL;
    if (at == NULL || (within != NULL && !is_wanted(reader, within, key, at, &inside, &after)))
        return after;
    note_key(reader, keys, key);
    size_t slot = reserve(reader, sizeof(struct member));
    struct member *member = (void *)(reader->stack + slot);
    member->key = key.data;
    member->key_size = (uint32_t)key.size;
    member->key_offset = offset_of(reader, start);
    return read_value(reader, at, inside, slot + offsetof(struct member, value));
}

static const char *close_large_map(struct reader *reader, const char *at, size_t base, size_t slot,
                                   const char *start)
{
    size_t count = (reader->stack_size - base) / sizeof(struct member);
    struct member *members = pop_members(reader, base);
    if (!members_index(reader->arena, members, &count, report_duplicate, reader))
        return NULL;
    set_node(reader, slot, NODE_MAP, members, count, start);
    ((struct node *)(void *)(reader->stack + slot))->indexed = true;
    return at + 1;
}

static const char *read_map(struct reader *reader, const char *start, const void *within,
                            size_t slot)
{
    struct keys keys = {.base = reader->stack_size};
    const char *at = open_bracket(reader, start);
    while (at != NULL && (at == reader->end || *at != '}')) {
        at = read_member(reader, at, within, &keys);
        if (at != NULL)
            at = next(reader, at, '}');
    }
    if (at == NULL)
        return NULL;
    reader->depth--;
    size_t count = (reader->stack_size - keys.base) / sizeof(struct member);
    if (keys.suspicious && count > MEMBERS_SEARCHED_MAX)
        return close_large_map(reader, at, keys.base, slot, start);
    struct member *members = pop(reader, keys.base);
    if (keys.suspicious &&
        !members_drop_duplicates(reader->arena, members, &count, report_duplicate, reader))
        return NULL;
    set_node(reader, slot, NODE_MAP, members, count, start);
    return at + 1;
}

static const char *read_other(struct reader *reader, const char *at, const void *within,
                              size_t slot)
{
    switch (at < reader->end ? *at : '\0') {
    case '{':
        return read_map(reader, at, within, slot);
    case '[':
        return read_list(reader, at, within, slot);
    case '-':
    case '0' ... '9':
        return read_number(reader, at, slot);
    case 't':
        return read_word(reader, at, TEXT("true"), NODE_BOOL, slot);
    case 'f':
        return read_word(reader, at, TEXT("false"), NODE_BOOL, slot);
    default:
        return read_word(reader, at, TEXT("null"), NODE_NULL, slot);
    }
}

bool json_read_part(struct source *source, struct text part, const struct doc_limits *limits,
                    struct problems *duplicates, struct arena *arena, size_t *node_count,
                    struct node *root, struct text *rest, struct error *error)
{
    alignas(struct member) char first_stack[FIRST_STACK_BYTES];
    struct reader reader = {
        .end = part.data + part.size,
        .source = source,
        .limits = limits,
        .duplicates = duplicates,
        .arena = arena,
        .error = error,
        .node_count = *node_count,
        .stack = first_stack,
        .stack_capacity = sizeof first_stack,
    };
    size_t slot = reserve(&reader, sizeof *root);
    const void *within = limits->choice == NULL ? NULL : limits->choice->root;
    const char *at = read_value(&reader, skip_space(&reader, part.data), within, slot);
    if (at == NULL)
        return false;
    at = skip_space(&reader, at);
    if (at != reader.end && rest == NULL)
        return fail_expected(&reader, at, "the end of the text after the value") != NULL;
    if (rest != NULL)
        *rest = (struct text){at, (size_t)(reader.end - at)};
    memcpy(root, reader.stack + slot, sizeof *root);
    arena_release(arena, reader.stack, reader.stack_capacity);
    *node_count = reader.node_count;
    return true;
}

static bool may_be_json(const struct source *source, const struct doc_limits *limits,
                        struct error *error)
{
    struct text t = source->text;
    size_t limit = limits->bytes < DOC_BYTES_MAX ? limits->bytes : DOC_BYTES_MAX;
    if (t.size > limit)
        return error_set(error, ERROR_LIMIT, (struct place){source->file, 0, 0},
                         "the JSON has %zu bytes, more than the allowed %zu", t.size, limit);
    if (text_starts_with(t, TEXT("\xEF\xBB\xBF")))
        return error_set(error, ERROR_INPUT, source_place_once(source, 0),
                         "not JSON: a byte order mark before the value; remove it");
    return true;
}

bool doc_read_json(struct source *source, const struct doc_limits *limits,
                   struct problems *duplicates, struct arena *arena, const struct node **root,
                   struct error *error)
{
    struct node node;
    size_t node_count = 0;
    if (!may_be_json(source, limits, error) ||
        !json_read_part(source, source->text, limits, duplicates, arena, &node_count, &node, NULL,
                        error))
        return false;
    *root = node_keep(arena, node);
    return true;
}

bool doc_read_json_values(struct source *source, const struct doc_limits *limits,
                          struct problems *duplicates, struct arena *arena, struct node_list *roots,
                          struct error *error)
{
    struct text rest = source->text;
    size_t node_count = 0;
    if (!may_be_json(source, limits, error))
        return false;
    do {
        struct node node;
        if (!json_read_part(source, rest, limits, duplicates, arena, &node_count, &node, &rest,
                            error))
            return false;
        *LIST_PUSH(arena, roots) = node_keep(arena, node);
    } while (rest.size > 0);
    return true;
}
