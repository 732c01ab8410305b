/* The parser of policy files: maps of the tree, read by tables of keys (rail.h). */
#ifndef TAFFRAIL_POLICY_SCHEMA_H
#define TAFFRAIL_POLICY_SCHEMA_H

#include "policy/rail.h"

struct schema {
    struct source *source;
    struct arena *arena;
    struct problems *problems;
};

/* A table, and the struct its offsets point into. A map may be read by several at once, as a rail's
 * is: by its own keys and by those every rail has. */
struct schema_part {
    const struct key *keys;
    void *settings;
};

/* Reads the map at field; where it is absent, only the defaults. Every problem is added; false when
 * there was one, settings are then of no use. */
bool schema_read(const struct schema *schema, const struct field *field,
                 const struct schema_part *parts, size_t part_count);

extern const struct key selector_keys[]; /* of a metav1.LabelSelector */
/* Whether field holds a metav1.LabelSelector; problems as above. */
bool schema_check_selector(const struct schema *schema, const struct field *field);

/* Whether the string at field is a glob, NAMESPACE/NAME of service accounts, or keys of an object
 * as in spec.groups[*].template; problems as above. */
bool schema_check_glob(const struct schema *schema, const struct field *field);
bool schema_check_account(const struct schema *schema, const struct field *field);
bool schema_check_path(const struct schema *schema, const struct field *field);

/* ---- messages ---- */

/* A file with more problems than this is no policy: the first ones suffice. */
enum { SCHEMA_PROBLEMS_MAX = 100 };

/* A problem at an offset of the source; the path of field (may be NULL) goes before it. These
 * return false. */
bool schema_problem(const struct schema *schema, const struct field *field, uint32_t offset,
                    const char *format, ...) PRINTF_LIKE(4, 5);
/* found VALUE, expected WANTED HINT */
bool schema_refuse(const struct schema *schema, const struct field *field, struct text wanted,
                   struct text hint);
bool schema_refuse_choice(const struct schema *schema, const struct field *field,
                          const struct text *choices, size_t count);
bool schema_unknown(const struct schema *schema, const struct field *map,
                    const struct member *member, const char *what, const struct text *allowed,
                    size_t count);

/* A value as a message names it: "abc", the number 1, an empty list. */
struct text schema_found(const struct schema *schema, const struct node *node);
/* What a key wants: a list of strings, one of warn, enforce. */
struct text schema_wanted(struct arena *arena, const struct key *key);
/* ", did you mean `NAME`?" with the nearest candidate, or empty. */
struct text schema_nearest(struct arena *arena, struct text found, const struct text *candidates,
                           size_t count);
/* "a, b, c" */
struct text schema_join(struct arena *arena, const struct text *items, size_t count);
struct text *schema_choices(struct arena *arena, const char *const *choices, size_t *count);
/* Cut to a size that fits a message, without what could confuse a terminal. */
struct text schema_printable(struct arena *arena, struct text t);
/* A boolean as it stands in the file: YAML has several spellings, and one of them, off, is also a
 * word that people write where a mode is wanted. */
struct text schema_written(const struct schema *schema, const struct node *node);

#endif
