/* The values that the API server fills in before it stores an object, including LimitRanges. */
#ifndef TAFFRAIL_KUBE_DEFAULTS_H
#define TAFFRAIL_KUBE_DEFAULTS_H

#include "base/base.h"

struct object;
struct snapshot;

/* The string at a path of dotted keys, or the API server's default; empty when there is neither. */
struct text default_string(const struct object *object, const char *path);
/* The StorageClass of a claim that names none; NULL when no visible class is the default. */
const struct object *default_storage_class(const struct snapshot *snapshot);
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
