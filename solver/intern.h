/* Numbers for byte strings, from 0 in order of arrival: equal things get equal numbers. */
#ifndef TAFFRAIL_SOLVER_INTERN_H
#define TAFFRAIL_SOLVER_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct intern_entry {
    const void *bytes;
    size_t size;
    uint64_t hash;
};
/* Zero-initialise with an arena. A table over another one looks there first and adds only what is
 * new; its numbers continue those of the lower one, which is read-only from then on. */
struct intern {
    struct arena *arena;
    const struct intern *below; /* NULL: none */
    size_t below_count;         /* of all that are below */
    struct intern_entry *items; /* of this table */
    size_t count, capacity;
    uint32_t *slots; /* number + 1, or 0 */
    size_t slot_count;
};

struct intern intern_over(struct arena *arena, const struct intern *below);
/* Of this table and those below. */
static inline size_t intern_count(const struct intern *table)
{
    return table->below_count + table->count;
}
/* The number of these bytes; *added (may be NULL) when they were new. The bytes are copied. */
uint32_t intern_number(struct intern *table, const void *bytes, size_t size, bool *added);
/* SOLVER_NONE when not there. */
uint32_t intern_find(const struct intern *table, const void *bytes, size_t size);
uint32_t intern_string(struct intern *table, const char *terminated, bool *added);
/* A string that was interned, terminated. */
const char *intern_text(const struct intern *table, uint32_t number);

uint64_t intern_hash(const void *bytes, size_t size, uint64_t seed);

/* Bytes that describe something, gathered field by field. Zero-initialise with an arena. */
struct fingerprint {
    struct arena *arena;
    unsigned char *bytes;
    size_t size, capacity;
};
void fingerprint_number(struct fingerprint *fingerprint, uint64_t number);
void fingerprint_bytes(struct fingerprint *fingerprint, const void *bytes, size_t size);
void fingerprint_string(struct fingerprint *fingerprint, const char *terminated);

#endif
