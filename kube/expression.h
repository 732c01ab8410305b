/* Reading requirements as people write them; shared by pod.c and pool.c. */
#ifndef TAFFRAIL_KUBE_EXPRESSION_H
#define TAFFRAIL_KUBE_EXPRESSION_H

#include "kube/kube.h"

/* A map of labels or a nodeSelector: each entry is key In [value]. */
void expressions_add_labels(struct expressions *expressions, const struct field *labels,
                            struct arena *arena);
/* A list of {key, operator, values}. */
void expressions_add_list(struct expressions *expressions, const struct field *list,
                          struct arena *arena);

#endif
