/* Requirements as people write them: matchExpressions, nodeSelectors, labels. */
#ifndef TAFFRAIL_KUBE_EXPRESSION_H
#define TAFFRAIL_KUBE_EXPRESSION_H

#include "base/base.h"
#include "solver/solver.h"

/* Lists of values may be long, so fields are made only for values that a message names. */
struct expression_value {
    struct text text;
    const struct field *within; /* the list that has it, or its own field */
    size_t position;            /* in the list, from 1; 0: within is its own field */
};
const struct field *expression_value_field(const struct expression_value *value,
                                           struct arena *arena);
/* One requirement as written: a matchExpression, a nodeSelector entry, a label. */
struct expression {
    const struct field *field;
    struct text key; /* as written, not canonical */
    enum solver_op op;
    bool valid; /* false: no key, an unknown operator, or values of a wrong type */
    struct expression_value *values;
    size_t value_count;
    uint32_t min_values;
};
struct expressions {
    struct expression *items;
    size_t count, capacity;
};
/* A key in its current spelling. */
struct text canonical_key(struct text key);
struct text expression_canonical_key(const struct expression *expression);
/* Whether an expression with that operator has values. */
bool expression_takes_values(enum solver_op op);
/* Whether the value is among its values. */
bool expression_names(const struct expression *expression, struct text value);

/* Adds an expression to a set: canonical key, names interned in names. Ignores invalid ones. */
void expression_add(const struct expression *expression, struct solver_names *names,
                    struct solver_requirements *set, struct arena *arena);
/* Adds that a label has the value. */
void expression_add_label(struct text key, struct text value, struct solver_names *names,
                          struct solver_requirements *set, struct arena *arena);
void expressions_add(const struct expressions *expressions, struct solver_names *names,
                     struct solver_requirements *set, struct arena *arena);
/* Whether the label of an object meets a requirement; NULL: it has none of that key. */
bool requirement_takes_label(const struct solver_requirement *requirement, const struct node *label,
                             struct solver_names *names);
/* All of both. */
struct expressions expressions_join(const struct expressions *a, const struct expressions *b,
                                    struct arena *arena);
/* A map of labels or a nodeSelector: each entry is key In [value]. */
void expressions_add_labels(struct expressions *expressions, const struct field *labels,
                            struct arena *arena);
/* A list of {key, operator, values}. */
void expressions_add_list(struct expressions *expressions, const struct field *list,
                          struct arena *arena);

#endif
