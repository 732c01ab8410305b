/* What the readers of trees share. */
#ifndef TAFFRAIL_BASE_DOC_INTERNAL_H
#define TAFFRAIL_BASE_DOC_INTERNAL_H

#include <string.h>

#include "base/base.h"

/* Room in struct node's size, and so in the 32-bit offsets. */
#define DOC_BYTES_MAX ((size_t)(1u << 29) - 1)

/* As source_place, without an arena and without keeping an index: for the one error that ends the
 * reading. */
struct place source_place_once(const struct source *source, uint32_t offset);

/* Length of the UTF-8 sequence at the start of these bytes, 0 when it is not a valid one. */
size_t utf8_length(const char *text, const char *end);

/* A bit that is the same for equal keys: a map whose keys all have different bits has no
 * duplicates. From the last bytes, because keys of a map often start alike. */
static inline uint64_t key_bit(const char *key, size_t size)
{
    uint64_t mix = size;
    if (size >= 8) {
        uint64_t last;
        memcpy(&last, key + size - sizeof last, sizeof last);
        mix ^= last;
    } else {
        for (size_t i = 0; i < size; i++)
            mix = mix << 8 ^ (unsigned char)key[i];
    }
    return UINT64_C(1) << (mix * UINT64_C(0x9E3779B97F4A7C15) >> 58);
}

/* Every key once: of members with equal keys the last stays, at its own place in the order. Calls
 * report (NULL: nobody wants to know) for each member whose key stood before; false as soon as
 * report says so. */
typedef bool duplicate_report(void *context, const struct member *member);
bool members_drop_duplicates(struct arena *arena, struct member *members, size_t *count,
                             duplicate_report *report, void *context) MUST_CHECK;

/* Reads the JSON value that part, a slice of the source, consists of. *node_count goes on counting
 * towards limits->nodes; the bytes have been checked. */
bool json_read_part(struct source *source, struct text part, const struct doc_limits *limits,
                    struct problems *duplicates, struct arena *arena, size_t *node_count,
                    struct node *root, struct error *error) MUST_CHECK;

/* A document of a YAML stream with what stands before it: from start to the next line that is ---,
 * or behind one that is ... . No scalar contains such a line, whatever its style (YAML 1.1, 9.1.1),
 * so that a document that does not parse ends only itself. A directive goes with the document that
 * follows it. */
struct yaml_part {
    size_t start, end;
    size_t content; /* the first byte that is not blank, comment, or a --- ; end when all is */
    bool begins;    /* has a line --- */
};
struct yaml_part yaml_part_find(struct text t, size_t start);

/* What a YAML scalar means to kubectl, that is to go-yaml v2: YAML 1.1 with exceptions. */
enum scalar_type {
    SCALAR_NULL,
    SCALAR_BOOL,
    SCALAR_INTEGER,  /* fits int64 */
    SCALAR_UNSIGNED, /* fits only uint64 */
    SCALAR_FLOAT,
    SCALAR_STRING,
};
struct scalar {
    enum scalar_type type;
    struct text text; /* as JSON writes it */
    double number;    /* of SCALAR_FLOAT */
};
/* tag is empty where none is written; plain: neither quoted nor a block. On failure *problem says
 * why in the words "VALUE is not ...". */
bool scalar_resolve(struct arena *arena, struct text value, struct text tag, bool plain,
                    struct scalar *scalar, const char **problem) MUST_CHECK;
/* The key a scalar becomes; false for null and for what fits only uint64. */
bool scalar_key(struct arena *arena, const struct scalar *scalar, struct text *key) MUST_CHECK;

#endif
