/* Text: comparing, searching, splitting, numbers, edit distances. */
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct text text_of(const char *terminated)
{
    return terminated == NULL ? TEXT("") : (struct text){terminated, strlen(terminated)};
}

static int compare_bytes(const char *a, const char *b, size_t size)
{
    return size == 0 ? 0 : memcmp(a, b, size);
}

char *text_duplicate(struct text t)
{
    char *copy = malloc(t.size + 1);
    if (copy == NULL)
        return NULL;
    if (t.size > 0)
        memcpy(copy, t.data, t.size);
    copy[t.size] = '\0';
    return copy;
}

int text_compare(struct text a, struct text b)
{
    int order = compare_bytes(a.data, b.data, a.size < b.size ? a.size : b.size);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

bool text_starts_with(struct text t, struct text prefix)
{
    return t.size >= prefix.size && compare_bytes(t.data, prefix.data, prefix.size) == 0;
}

bool text_ends_with(struct text t, struct text suffix)
{
    return t.size >= suffix.size && (suffix.size == 0 || memcmp(t.data + t.size - suffix.size,
                                                                suffix.data, suffix.size) == 0);
}

static bool split_at(struct text t, const char *at, struct text *before, struct text *after)
{
    if (at == NULL)
        return false;
    size_t index = (size_t)(at - t.data);
    if (before != NULL)
        *before = (struct text){t.data, index};
    if (after != NULL)
        *after = (struct text){at + 1, t.size - index - 1};
    return true;
}

bool text_opens_with(struct text t, const char *characters)
{
    size_t at = 0;
    while (at < t.size && (t.data[at] == ' ' || (t.data[at] >= '\t' && t.data[at] <= '\r')))
        at++;
    return at < t.size && t.data[at] != '\0' && strchr(characters, t.data[at]) != NULL;
}

bool text_holds(struct text t, struct text part)
{
    return part.size == 0 || memmem(t.data, t.size, part.data, part.size) != NULL;
}

bool text_split(struct text t, char separator, struct text *before, struct text *after)
{
    return split_at(t, t.size == 0 ? NULL : memchr(t.data, separator, t.size), before, after);
}

bool text_split_last(struct text t, char separator, struct text *before, struct text *after)
{
    return split_at(t, t.size == 0 ? NULL : memrchr(t.data, separator, t.size), before, after);
}

/* With t a glob itself, its * is a character that only a * matches. */
static bool matches(struct text t, struct text pattern, bool t_is_glob)
{
    size_t at = 0, next = 0;
    /* The place of the last *, and how much of t it has matched so far. */
    size_t star = SIZE_MAX, star_at = 0;
    while (at < t.size) {
        if (next < pattern.size && pattern.data[next] == '*') {
            star = next++;
            star_at = at;
        } else if (next < pattern.size && pattern.data[next] == '?' &&
                   !(t_is_glob && t.data[at] == '*')) {
            do
                at++;
            while (at < t.size && ((unsigned char)t.data[at] & 0xC0) == 0x80);
            next++;
        } else if (next < pattern.size && pattern.data[next] == t.data[at]) {
            at++;
            next++;
        } else if (star != SIZE_MAX) {
            next = star + 1;
            at = ++star_at;
        } else {
            return false;
        }
    }
    while (next < pattern.size && pattern.data[next] == '*')
        next++;
    return next == pattern.size;
}

bool text_matches_glob(struct text t, struct text pattern)
{
    return matches(t, pattern, false);
}

bool text_glob_is_within(struct text glob, struct text other)
{
    return matches(glob, other, true);
}

bool text_is_glob(struct text t)
{
    return text_split(t, '*', NULL, NULL) || text_split(t, '?', NULL, NULL);
}

size_t text_leading_digits(struct text t)
{
    size_t count = 0;
    while (count < t.size && t.data[count] >= '0' && t.data[count] <= '9')
        count++;
    return count;
}

bool text_is_digits(struct text t)
{
    return t.size > 0 && text_leading_digits(t) == t.size;
}

bool text_to_int64(struct text t, int64_t *value)
{
    size_t at = 0;
    bool negative = t.size > 0 && t.data[0] == '-';
    if (negative || (t.size > 0 && t.data[0] == '+'))
        at = 1;
    if (at == t.size)
        return false;
    int64_t sum = 0;
    for (; at < t.size; at++) {
        if (t.data[at] < '0' || t.data[at] > '9')
            return false;
        int digit = t.data[at] - '0';
        /* Summed below zero, because INT64_MIN has no positive twin. */
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_sub_overflow(sum, digit, &sum))
            return false;
    }
    if (!negative && __builtin_sub_overflow((int64_t)0, sum, &sum))
        return false;
    *value = sum;
    return true;
}

bool text_to_canonical_int64(struct text t, int64_t *value)
{
    size_t first = t.size > 0 && t.data[0] == '-' ? 1 : 0;
    bool leads = t.size > first && t.data[first] >= '1' && t.data[first] <= '9';
    return (leads || text_is(t, "0")) && text_to_int64(t, value);
}

enum { DISTANCE_BYTES = 256, WORD_BITS = 64 };

/* Row by row; for two texts that are both longer than a machine word. */
static size_t distance_by_rows(struct text a, struct text b, size_t limit)
{
    size_t row[DISTANCE_BYTES + 1];
    for (size_t j = 0; j <= b.size; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.size; i++) {
        size_t diagonal = row[0], least = i;
        row[0] = i;
        for (size_t j = 1; j <= b.size; j++) {
            size_t replaced = diagonal + (a.data[i - 1] != b.data[j - 1]);
            size_t shifted = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replaced < shifted ? replaced : shifted;
            if (row[j] < least)
                least = row[j];
        }
        if (least > limit)
            return limit + 1;
    }
    return row[b.size] > limit ? limit + 1 : row[b.size];
}

/* The positions of each byte in the shorter text; unset for other bytes. */
struct positions {
    uint64_t of[256];
};

static void positions_set(struct positions *positions, struct text shorter, struct text longer)
{
    for (size_t i = 0; i < longer.size; i++)
        positions->of[(unsigned char)longer.data[i]] = 0;
    for (size_t i = 0; i < shorter.size; i++)
        positions->of[(unsigned char)shorter.data[i]] = 0;
    for (size_t i = 0; i < shorter.size; i++)
        positions->of[(unsigned char)shorter.data[i]] |= UINT64_C(1) << i;
}

/* A whole column at once: bit i of up (down) says that the distance grows (shrinks) by one from
 * row i to the next (Myers 1999, as Hyyro has it). */
static size_t distance_by_bits(const struct positions *positions, size_t size, struct text other,
                               size_t limit)
{
    const uint64_t last = UINT64_C(1) << (size - 1);
    uint64_t up = UINT64_MAX, down = 0;
    size_t distance = size;
    size_t strange = 0; /* bytes that the text has nowhere: each is one edit at least */
    for (size_t i = 0; i < other.size; i++) {
        uint64_t match = positions->of[(unsigned char)other.data[i]];
        strange += match == 0;
        if (strange > limit)
            return limit + 1;
        uint64_t diagonal = (((match & up) + up) ^ up) | match | down;
        uint64_t right_up = down | ~(diagonal | up), right_down = up & diagonal;
        distance += (right_up & last) != 0;
        distance -= (right_down & last) != 0;
        /* Each remaining byte reduces the distance by one at most. */
        if (distance > limit + (other.size - i - 1))
            return limit + 1;
        right_up = right_up << 1 | 1;
        up = right_down << 1 | ~(diagonal | right_up);
        down = right_up & diagonal;
    }
    return distance > limit ? limit + 1 : distance;
}

size_t text_distance(struct text a, struct text b, size_t limit)
{
    if (a.size > DISTANCE_BYTES || b.size > DISTANCE_BYTES)
        return limit + 1;
    struct text shorter = a.size < b.size ? a : b;
    struct text longer = a.size < b.size ? b : a;
    if (longer.size - shorter.size > limit)
        return limit + 1;
    if (shorter.size == 0)
        return longer.size;
    if (shorter.size > WORD_BITS)
        return distance_by_rows(a, b, limit);
    struct positions positions;
    positions_set(&positions, shorter, longer);
    return distance_by_bits(&positions, shorter.size, longer, limit);
}

/* A text that is compared with many others. */
struct yardstick {
    struct text text;
    struct positions positions;
    bool is_set;
};

static size_t distance_from(struct yardstick *yardstick, struct text other, size_t limit)
{
    struct text text = yardstick->text;
    size_t difference = text.size > other.size ? text.size - other.size : other.size - text.size;
    if (difference > limit)
        return limit + 1;
    if (limit == 0)
        return text_equal(text, other) ? 0 : 1;
    if (text.size == 0 || text.size > WORD_BITS || other.size == 0)
        return text_distance(text, other, limit);
    if (!yardstick->is_set) {
        memset(&yardstick->positions, 0, sizeof yardstick->positions);
        positions_set(&yardstick->positions, text, text);
        yardstick->is_set = true;
    }
    return distance_by_bits(&yardstick->positions, text.size, other, limit);
}

static bool has_same_letters(struct text a, struct text b)
{
    return a.size == b.size && a.size > 0 && strncasecmp(a.data, b.data, a.size) == 0;
}

size_t text_nearest(struct text wanted, const struct text *candidates, size_t count, size_t limit)
{
    bool typos = limit > 0;
    size_t nearest = count;
    struct yardstick yardstick;
    yardstick.text = wanted;
    yardstick.is_set = false;
    for (size_t i = 0; i < count; i++) {
        size_t distance = distance_from(&yardstick, candidates[i], limit);
        if (typos && has_same_letters(wanted, candidates[i])) {
            typos = false;
            distance = distance == 0 ? 0 : 1;
        } else if (distance > limit) {
            continue;
        }
        nearest = i;
        if (distance == 0)
            break;
        limit = typos ? distance - 1 : 0; /* only a nearer one replaces it */
    }
    return nearest;
}

/* Of a name that is written instead of another one. */
static size_t edits_of_a_typo(struct text written, struct text other)
{
    enum { EDITS_MAX = 3, LETTERS_AN_EDIT = 3 };
    size_t letters = other.size < written.size ? other.size : written.size;
    if (letters < LETTERS_AN_EDIT)
        return written.size >= LETTERS_AN_EDIT;
    size_t edits = letters / LETTERS_AN_EDIT + (letters > LETTERS_AN_EDIT);
    return edits < EDITS_MAX ? edits : EDITS_MAX;
}

static bool swaps_neighbours(struct text a, struct text b)
{
    size_t at = 0;
    while (at < a.size && at < b.size && a.data[at] == b.data[at])
        at++;
    return a.size == b.size && at + 1 < a.size && a.data[at] == b.data[at + 1] &&
           a.data[at + 1] == b.data[at] &&
           memcmp(a.data + at + 2, b.data + at + 2, a.size - at - 2) == 0;
}

size_t text_meant(struct text written, const struct text *candidates, size_t count)
{
    size_t meant = count, least = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        struct text other = candidates[i];
        size_t limit = edits_of_a_typo(written, other);
        size_t distance = text_equal(written, other) ? 0
                          : has_same_letters(written, other) || swaps_neighbours(written, other)
                              ? 1
                              : text_distance(written, other, limit);
        if (distance > limit || distance >= least)
            continue;
        meant = i;
        least = distance;
    }
    return meant;
}

static void reserve(struct text_builder *builder, size_t size)
{
    size_t capacity = builder->capacity == 0 ? 64 : builder->capacity;
    while (capacity - builder->size <= size)
        capacity *= 2;
    if (capacity == builder->capacity)
        return;
    char *data = arena_alloc(builder->arena, capacity);
    if (builder->data != NULL)
        memcpy(data, builder->data, builder->size);
    builder->data = data;
    builder->capacity = capacity;
}

void text_builder_add(struct text_builder *builder, struct text t)
{
    if (t.size == 0)
        return;
    reserve(builder, t.size);
    memcpy(builder->data + builder->size, t.data, t.size);
    builder->size += t.size;
    builder->data[builder->size] = '\0';
}

void text_builder_add_line(struct text_builder *builder, struct text t)
{
    size_t start = builder->size;
    text_builder_add(builder, t);
    for (size_t i = start; i < builder->size; i++)
        if ((unsigned char)builder->data[i] < 0x20 || builder->data[i] == 0x7F)
            builder->data[i] = ' ';
}

void text_builder_printf(struct text_builder *builder, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    size_t room = builder->capacity - builder->size;
    char *end = builder->data == NULL ? NULL : builder->data + builder->size;
    int size = vsnprintf(end, room, format, args);
    if (size >= 0 && (size_t)size >= room) {
        if (end != NULL)
            *end = '\0';
        reserve(builder, (size_t)size);
        size = vsnprintf(builder->data + builder->size, (size_t)size + 1, format, again);
    }
    if (size > 0)
        builder->size += (size_t)size;
    va_end(again);
    va_end(args);
}

struct text text_builder_text(const struct text_builder *builder)
{
    return builder->data == NULL ? TEXT("") : (struct text){builder->data, builder->size};
}
