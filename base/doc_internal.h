/* What the readers of trees share. */
#ifndef TAFFRAIL_BASE_DOC_INTERNAL_H
#define TAFFRAIL_BASE_DOC_INTERNAL_H

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/base.h"

/* Fits struct node's size, and so the 32-bit offsets. */
#define DOC_BYTES_MAX ((size_t)(1u << 28) - 1)

/* As source_place, but without an arena and without an index: for the one error that ends the
 * reading. */
struct place source_place_once(const struct source *source, uint32_t offset);

/* Length of the UTF-8 sequence at the start of these bytes, 0 when it is not a valid one. */
size_t utf8_length(const char *text, const char *end);

/* A bit that is the same for equal keys: a map whose keys all have different bits has no
 * duplicates. From the first and the last bytes. */
static inline uint64_t key_bit(const char *key, size_t size)
{
    uint64_t mix = size;
    if (size >= 8) {
        uint64_t last;
        memcpy(&last, key + size - sizeof last, sizeof last);
        mix ^= last;
    } else if (size >= 4) {
        uint32_t first, last;
        memcpy(&first, key, sizeof first);
        memcpy(&last, key + size - sizeof last, sizeof last);
        mix ^= (uint64_t)first << 32 | last;
    } else if (size > 0) {
        mix ^= (uint64_t)(unsigned char)key[0] << 24 |
               (uint64_t)(unsigned char)key[size / 2] << 16 |
               (uint64_t)(unsigned char)key[size - 1] << 8;
    }
    return UINT64_C(1) << (mix * UINT64_C(0x9E3779B97F4A7C15) >> 58);
}

/* Keeps every key once: of members with equal keys the last stays, at its own place in the order.
 * Calls report (may be NULL) for each member whose key came before; false as soon as report returns
 * false. */
typedef bool duplicate_report(void *context, const struct member *member);
bool members_drop_duplicates(struct arena *arena, struct member *members, size_t *count,
                             duplicate_report *report, void *context) MUST_CHECK;
/* The same for members with room for a pointer before them, which then points to an index: for
 * lists too long to search. */
bool members_index(struct arena *arena, struct member *members, size_t *count,
                   duplicate_report *report, void *context) MUST_CHECK;
/* The member of an indexed map; NULL: none. */
const struct member *members_find(const struct node *map, struct text key);
enum { MEMBERS_SEARCHED_MAX = 24, MEMBERS_INDEX_BYTES = 16 };

#define EACH_BYTE(value) (UINT64_C(0x0101010101010101) * (value))

/* To the first byte that may end or interrupt a run of plain ASCII in a JSON string. */
static inline const char *json_run_end(const char *at, const char *end)
{
#if defined __SSE2__
    while (end - at >= (ptrdiff_t)sizeof(__m128i)) {
        __m128i bytes = _mm_loadu_si128((const void *)at);
        /* As signed numbers the bytes above 0x7F are below a blank, too. */
        __m128i found = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                                  _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))),
                                     _mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')));
        int mask = _mm_movemask_epi8(found);
        if (mask != 0)
            return at + __builtin_ctz((unsigned)mask);
        at += sizeof bytes;
    }
#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    while (end - at >= 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        uint64_t quote = word ^ EACH_BYTE('"'), backslash = word ^ EACH_BYTE('\\');
        /* The top bit of each byte that is a quote, a backslash, below 0x20 or above 0x7F; above
         * the first such byte it may be wrong. */
        uint64_t found = ((quote - EACH_BYTE(1)) | (backslash - EACH_BYTE(1)) |
                          (word - EACH_BYTE(0x20)) | word) &
                         EACH_BYTE(0x80);
        if (found != 0)
            return at + (__builtin_ctzll(found) >> 3);
        at += 8;
    }
#endif
    while (at < end && *at != '"' && *at != '\\' && (unsigned char)*at >= 0x20 &&
           (unsigned char)*at < 0x80)
        at++;
    return at;
}

/* The end of the JSON value that begins at `at`, by quotes and brackets alone; NULL: it does not
 * end. */
const char *json_value_end(const char *at, const char *end);

/* Reads the JSON value in part, a slice of the source. *rest is what follows it; with rest NULL
 * nothing may. *node_count goes on counting towards limits->nodes. The bytes are checked. */
bool json_read_part(struct source *source, struct text part, const struct doc_limits *limits,
                    struct problems *duplicates, struct arena *arena, size_t *node_count,
                    struct node *root, struct text *rest, struct error *error) MUST_CHECK;

#endif
