/* Converts objects into the solver's types. */
#ifndef TAFFRAIL_KUBE_TO_SOLVER_H
#define TAFFRAIL_KUBE_TO_SOLVER_H

#include "base/base.h"
#include "solver/solver.h"

struct expressions;
struct taints;
struct tolerations;

/* A terminated copy, because the solver wants C strings. */
const char *terminated(struct arena *arena, struct text t);
struct solver_labels labels_of(const struct node *map, struct arena *arena);
/* The value of a label, or NULL. */
const char *label_of(struct solver_labels labels, const char *key);
/* The labels and one more, unless they have its key. */
struct solver_labels labels_with(struct solver_labels labels, const char *key, const char *value,
                                 struct arena *arena);
/* False when an expression is invalid. */
bool expressions_convert(const struct expressions *expressions, struct arena *arena,
                         struct solver_expressions *converted);
struct solver_expressions expressions_with(struct solver_expressions expressions,
                                           struct solver_expression more, struct arena *arena);
struct solver_taints taints_convert(const struct taints *taints, struct arena *arena);
const struct solver_toleration *tolerations_convert(const struct tolerations *tolerations,
                                                    struct arena *arena, size_t *count);

#endif
