/* The defaults of LimitRanges, read. kube/container.c applies them to containers. */
#ifndef TAFFRAIL_KUBE_LIMIT_RANGE_H
#define TAFFRAIL_KUBE_LIMIT_RANGE_H

#include "base/base.h"

struct object;
struct snapshot;

/* What the LimitRanges of a namespace give for a resource to a container without a limit, or
 * without a request and a limit. */
struct limit_default {
    struct text resource;
    const struct node *request, *limit;         /* NULL: nothing */
    const struct object *request_by, *limit_by; /* the LimitRange that gives it */
};
struct limit_defaults {
    struct limit_default *items; /* in the order in which the LimitRanges give them */
    size_t count, capacity;
    struct text_map numbers; /* of the resources, from 1 */
    bool read;
};
void limit_defaults_read(const struct snapshot *snapshot, struct text namespace,
                         struct arena *arena, struct limit_defaults *defaults);
const struct limit_default *limit_defaults_find(const struct limit_defaults *defaults,
                                                struct text resource); /* NULL: none */

#endif
