/* Looks at JSON without a tree: by quotes and brackets alone, at any depth, without memory. It says
 * where values are; the reader says whether they are valid. */
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

/* at is after the opening quote; returns the position after the closing one, NULL: there is none.
 */
static const char *string_end(const char *at, const char *end)
{
    while ((at = json_run_end(at, end)) < end) {
        if (*at == '"')
            return at + 1;
        at += *at == '\\' && end - at > 1 ? 2 : 1;
    }
    return NULL;
}

#ifdef __SSE2__
/* ---- 64 bytes at a time ---- */

enum { BLOCK_BYTES = 64 };

/* Of a block, a bit a byte. */
struct block {
    uint64_t quotes, backslashes, opening, closing;
};

static inline struct block block_read(const char *at)
{
    struct block block = {0, 0, 0, 0};
    for (int i = 0; i < BLOCK_BYTES; i += (int)sizeof(__m128i)) {
        __m128i bytes = _mm_loadu_si128((const void *)(at + i));
        __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20)); /* '[' is '{', ']' is '}' */
#define BITS(of, byte) \
    ((uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8((of), _mm_set1_epi8(byte))) << i)
        block.quotes |= BITS(bytes, '"');
        block.backslashes |= BITS(bytes, '\\');
        block.opening |= BITS(folded, '{');
        block.closing |= BITS(folded, '}');
#undef BITS
    }
    return block;
}

/* The bytes behind a backslash that is not itself behind one; *carry: whether the first byte of
 * this block, and then of the next one, is such a byte. */
static inline uint64_t escaped_bytes(uint64_t backslashes, uint64_t *carry)
{
    uint64_t escaped = *carry;
    *carry = 0;
    for (uint64_t left = backslashes & ~escaped; left != 0;) {
        uint64_t first = left & -left;
        uint64_t behind = first << 1;
        *carry = behind == 0;
        escaped |= behind;
        left &= ~(first | behind);
    }
    return escaped;
}

/* Each bit becomes the parity of those up to it: inside of strings, when they are quotes. */
static inline uint64_t parity(uint64_t bits)
{
    for (int shift = 1; shift < BLOCK_BYTES; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

/* Where in a block the last of *depth brackets is closed; BLOCK_BYTES: it is not. */
static inline size_t closed_at(uint64_t opening, uint64_t closing, size_t *depth)
{
    uint64_t empty = opening & closing >> 1; /* "{}" changes nothing, and is frequent */
    closing &= ~(empty << 1);
    for (uint64_t left = (opening & ~empty) | closing; left != 0; left &= left - 1) {
        bool closes = (closing & left & -left) != 0;
        *depth += closes ? (size_t)-1 : 1;
        if (*depth == 0)
            return (size_t)__builtin_ctzll(left);
    }
    return BLOCK_BYTES;
}

/* Passes over whole blocks, from a place outside of strings. The end of the value when it is in one
 * of them; else NULL, *at and *depth are where the blocks end, and *in_string and *escaped whether
 * that is in a string, and behind a backslash. Blocks end before one with a backslash outside of
 * strings: there it is no JSON, and the backslash says nothing of the quote behind it. */
static const char *end_in_blocks(const char **at, const char *end, size_t *depth, bool *in_string,
                                 bool *escaped)
{
    uint64_t carry = 0, inside = 0;
    for (; end - *at >= BLOCK_BYTES; *at += BLOCK_BYTES) {
        struct block block = block_read(*at);
        uint64_t before = carry;
        uint64_t quotes = block.quotes & ~escaped_bytes(block.backslashes, &carry);
        uint64_t strings = parity(quotes) ^ inside;
        if ((block.backslashes & ~strings) != 0) {
            carry = before;
            break;
        }
        size_t last = closed_at(block.opening & ~strings, block.closing & ~strings, depth);
        if (last < BLOCK_BYTES)
            return *at + last + 1;
        inside = -(strings >> (BLOCK_BYTES - 1));
    }
    *in_string = inside != 0;
    *escaped = carry != 0;
    return NULL;
}
#else
static const char *end_in_blocks(const char **at, const char *end, size_t *depth, bool *in_string,
                                 bool *escaped)
{
    (void)at, (void)end, (void)depth;
    *in_string = *escaped = false;
    return NULL;
}
#endif

/* at points to the opening bracket. */
static const char *brackets_end(const char *at, const char *end)
{
    size_t depth = 1;
    bool in_string, escaped;
    at++;
    const char *found = end_in_blocks(&at, end, &depth, &in_string, &escaped);
    if (found != NULL)
        return found;
    if (in_string)
        at = at == end ? NULL : string_end(at + escaped, end);
    while (at != NULL && at < end) {
        char c = *at++;
        if (c == '"')
            at = string_end(at, end);
        else if ((c | 0x20) == '{') /* or '[' */
            depth++;
        else if ((c | 0x20) == '}' && --depth == 0)
            return at;
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

/* Where the next value starts, and its key; NULL: there is none. */
static const char *next_member(struct json_walk *walk, struct text *key)
{
    const char *at = walk->ended ? NULL : next_value(walk);
    *key = TEXT("");
    if (at == NULL || !walk->is_map)
        return at;
    const char *start = at + 1;
    at = *at == '"' ? string_end(start, walk->end) : NULL;
    if (at == NULL)
        return NULL;
    *key = (struct text){start, (size_t)(at - 1 - start)};
    at = skip_space(at, walk->end);
    return at < walk->end && *at == ':' ? skip_space(at + 1, walk->end) : NULL;
}

static void step_over(struct json_walk *walk, const char *value_end)
{
    walk->at = value_end;
    walk->count++;
}

bool json_walk_next(struct json_walk *walk, struct text *key, struct text *value)
{
    const char *at = next_member(walk, key);
    *value = TEXT("");
    if (at == NULL)
        return false;
    const char *end = json_value_end(at, walk->end);
    *value = (struct text){at, (size_t)((end == NULL ? walk->end : end) - at)};
    if (end == NULL)
        return false;
    step_over(walk, end);
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

struct text json_find_start(struct text map, const char *key)
{
    struct json_walk walk;
    struct text found;
    const char *at, *end;
    if (!json_walk_begin(&walk, map) || !walk.is_map)
        return TEXT("");
    while ((at = next_member(&walk, &found)) != NULL) {
        if (text_is(found, key))
            return (struct text){at, (size_t)(walk.end - at)};
        if ((end = json_value_end(at, walk.end)) == NULL)
            break;
        step_over(&walk, end);
    }
    return TEXT("");
}

/* ---- the heaviest part ---- */

struct way {
    struct json_step steps[JSON_STEPS_MAX];
    size_t count;
};

/* The end of the value, and the path to what has most of it, in one pass. */
static const char *weigh(struct text value, size_t levels, struct way *way)
{
    struct json_walk walk;
    struct text key;
    const char *at, *end;
    size_t heaviest = 0;
    way->count = 0;
    if (levels == 0 || !json_walk_begin(&walk, value))
        return json_value_end(value.data, value.data + value.size);
    while ((at = next_member(&walk, &key)) != NULL) {
        struct way below;
        end = weigh((struct text){at, (size_t)(walk.end - at)}, levels - 1, &below);
        if (end == NULL)
            return NULL;
        if ((size_t)(end - at) > heaviest) {
            heaviest = (size_t)(end - at);
            way->steps[0] = (struct json_step){key, walk.is_map, walk.count};
            memcpy(&way->steps[1], below.steps, below.count * sizeof *below.steps);
            way->count = 1 + below.count;
        }
        step_over(&walk, end);
    }
    if (!walk.ended)
        return NULL;
    end = skip_space(walk.at, walk.end) + 1;
    if (heaviest < (size_t)(end - value.data) / 2)
        way->count = 0;
    return end;
}

size_t json_heaviest(struct text value, struct json_step steps[JSON_STEPS_MAX])
{
    struct way way;
    if (value.size == 0 || weigh(value, JSON_STEPS_MAX, &way) == NULL)
        return 0;
    memcpy(steps, way.steps, way.count * sizeof *steps);
    return way.count;
}

struct text json_plain_string(struct text value)
{
    bool quoted = value.size >= 2 && value.data[0] == '"';
    if (!quoted || memchr(value.data, '\\', value.size) != NULL)
        return TEXT("");
    return (struct text){value.data + 1, value.size - 2};
}
