/* What the parts of the YAML reader share. */
#ifndef TAFFRAIL_BASE_YAML_INTERNAL_H
#define TAFFRAIL_BASE_YAML_INTERNAL_H

#include <yaml.h>

#include "base/doc_internal.h"

/* A document of a YAML stream with what comes before it: from start to the next line ---, or to the
 * end of a line ... . No scalar contains such a line, whatever its style (YAML 1.1, 9.1.1), so a
 * document that does not parse ends only itself. A directive belongs to the document after it.
 * A line that only kubectl takes for --- is in no document. */
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
/* tag is empty when there is none; plain: neither quoted nor a block. On failure *problem says why
 * in the words "VALUE is not ...". */
bool scalar_resolve(struct arena *arena, struct text value, struct text tag, bool plain,
                    struct scalar *scalar, const char **problem) MUST_CHECK;
/* The key for a scalar; false for null and for what fits only uint64. */
bool scalar_key(struct arena *arena, const struct scalar *scalar, struct text *key) MUST_CHECK;

struct anchor {
    struct text name;
    const struct node *node; /* NULL while it is being read */
    size_t node_count;       /* including what aliases in it stand for */
};

struct yaml_reader {
    struct source *source;
    enum yaml_style style;
    const struct doc_limits *limits;
    struct arena *arena;
    struct problems problems;
    LIST(const struct node *) roots;
    size_t node_count, depth;
    bool exhausted;              /* the nodes of the limit are used up */
    LIST(struct anchor) anchors; /* of this document */
    /* libyaml's; the stream frees them, even when the arena has failed. */
    yaml_parser_t parser;
    yaml_event_t event;
    bool open;
    /* libyaml counts characters from the start of its input. These two are the same place, in
     * characters there and in bytes of the source. */
    size_t cursor_characters, cursor_bytes, part_start;
};

/* Of a key that stands twice in a map. */
enum error_kind yaml_kind_of_duplicate(const struct yaml_reader *reader);
struct place yaml_place(struct yaml_reader *reader, uint32_t offset);
/* When these return false, the document ends; they have added their problem. */
bool yaml_next_event(struct yaml_reader *reader) MUST_CHECK;
bool yaml_count_nodes(struct yaml_reader *reader, size_t count) MUST_CHECK;
/* The event is the first of the node; afterwards it is its last. */
bool yaml_read_node(struct yaml_reader *reader, struct node *node) MUST_CHECK;

#endif
