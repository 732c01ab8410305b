/* solver: the requirement algebra of Karpenter, and the placement that stands on it.
 * Pure: no I/O, no globals, no clock. Memory comes from the caller's arena (base/base.h).
 * "Karpenter semantics N" in the comments below are the rules of Karpenter's own scheduler. */
#ifndef TAFFRAIL_SOLVER_H
#define TAFFRAIL_SOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* ---- names: label keys and values interned to small numbers ---- */

/* A table of keys and, for each key, its values, both numbered from 0 in order of arrival. A table
 * over another one first looks there and adds only what is new, with numbers that go on where the
 * lower one ends: the lower table is shared and read-only from then on, the upper one belongs to
 * one request. */
struct solver_names;

#define SOLVER_NONE UINT32_MAX

struct solver_names *solver_names_create(struct arena *arena, const struct solver_names *below);
/* The number of a key or value, added when new. */
uint32_t solver_names_key(struct solver_names *names, const char *data, size_t size);
uint32_t solver_names_value(struct solver_names *names, uint32_t key, const char *data,
                            size_t size);
/* As above without adding: SOLVER_NONE when not there. */
uint32_t solver_names_find_key(const struct solver_names *names, const char *data, size_t size);
uint32_t solver_names_find_value(const struct solver_names *names, uint32_t key, const char *data,
                                 size_t size);
uint32_t solver_names_key_count(const struct solver_names *names);
uint32_t solver_names_value_count(const struct solver_names *names, uint32_t key);
/* Not terminated slices owned by the table. */
const char *solver_names_key_text(const struct solver_names *names, uint32_t key, size_t *size);
const char *solver_names_value_text(const struct solver_names *names, uint32_t key, uint32_t value,
                                    size_t *size);

/* The canonical spelling of a label key (Karpenter semantics 1.4: the beta labels, the EBS CSI
 * zone, and EKS Auto Mode's eks.amazonaws.com/instance-*, which mean what
 * karpenter.k8s.aws/instance-* does). Returns data and leaves *size alone when there is no other.
 * Every requirement is made on canonical keys; topology keys are not. */
const char *solver_canonical_key(const char *data, size_t *size);
/* Karpenter's and its AWS provider's well-known keys (Karpenter semantics 1.4). */
bool solver_is_well_known(const char *data, size_t size);

/* ---- requirements ---- */

enum solver_op {
    SOLVER_IN,
    SOLVER_NOT_IN,
    SOLVER_EXISTS,
    SOLVER_DOES_NOT_EXIST,
    SOLVER_GT,
    SOLVER_LT,
    SOLVER_GTE, /* NodePools only */
    SOLVER_LTE, /* NodePools only */
};
#define SOLVER_OP_COUNT 8
/* "In", "NotIn", ...; SOLVER_NONE cast when the text is no operator. */
const char *solver_op_name(enum solver_op op);
bool solver_op_parse(const char *data, size_t size, enum solver_op *op);

/* What one key may be (Karpenter semantics 1.1): a set of values, or with complement all but a set,
 * within integer bounds. The set is a bit a value, as solver_names numbers them; words beyond
 * word_count are 0. */
struct solver_requirement {
    uint32_t key;
    bool complement, has_gte, has_lte;
    int64_t gte, lte;
    uint32_t min_values; /* 0: none */
    uint32_t word_count;
    const uint64_t *words;
};

/* Values are numbers of this key; Gt and its kin read the first one's text as an integer. */
struct solver_requirement solver_requirement_make(const struct solver_names *names, uint32_t key,
                                                  enum solver_op op, const uint32_t *values,
                                                  size_t value_count, uint32_t min_values,
                                                  struct arena *arena);
/* Karpenter semantics 1.2. Both of the same key. */
struct solver_requirement solver_requirement_intersect(const struct solver_names *names,
                                                       const struct solver_requirement *a,
                                                       const struct solver_requirement *b,
                                                       struct arena *arena);
bool solver_requirement_has(const struct solver_names *names, const struct solver_requirement *r,
                            uint32_t value);
/* Karpenter's fast check: two complements always intersect, bounds permitting. */
bool solver_requirement_intersects(const struct solver_names *names,
                                   const struct solver_requirement *a,
                                   const struct solver_requirement *b);
/* Derived: NotIn, Exists, In or DoesNotExist. */
enum solver_op solver_requirement_op(const struct solver_requirement *r);
bool solver_requirement_equal(const struct solver_requirement *a,
                              const struct solver_requirement *b);

/* ---- requirement sets ---- */

/* At most one requirement a key, sorted by key. Zero-initialise. */
struct solver_requirements {
    struct solver_requirement *items;
    size_t count, capacity;
};

/* Intersects when the key is there (Karpenter semantics 1.3). */
void solver_requirements_add(const struct solver_names *names, struct solver_requirements *set,
                             struct solver_requirement requirement, struct arena *arena);
/* NULL when the key is not constrained, which reads as Exists. */
const struct solver_requirement *solver_requirements_get(const struct solver_requirements *set,
                                                         uint32_t key);
/* Karpenter semantics 1.3 (b). *conflict (may be NULL) names the first key that clashes. */
bool solver_requirements_intersect(const struct solver_names *names,
                                   const struct solver_requirements *a,
                                   const struct solver_requirements *b, uint32_t *conflict);
/* Karpenter semantics 1.3: asymmetric, a key that r does not define is fine only when incoming says
 * NotIn or DoesNotExist, or allow_undefined (NULL: no key) says so. */
bool solver_requirements_compatible(const struct solver_names *names,
                                    const struct solver_requirements *r,
                                    const struct solver_requirements *incoming,
                                    bool (*allow_undefined)(const char *key, size_t size),
                                    uint32_t *conflict);

#endif
