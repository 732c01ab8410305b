/* Containers, and what they request and are limited to. */
#ifndef TAFFRAIL_KUBE_CONTAINER_H
#define TAFFRAIL_KUBE_CONTAINER_H

#include "base/base.h"

struct limit_defaults;
struct object;
struct snapshot;
struct workload;

struct container {
    const struct field *field;
    struct text name;
    bool init; /* a sidecar is one too */
};
struct containers {
    struct container *items;
    size_t count, capacity;
};
/* containers, then initContainers; ephemeral containers have no resources. */
void containers_read(const struct workload *workload, struct arena *arena,
                     struct containers *containers);

/* A request or a limit of one resource. */
struct amount {
    const struct field *field;        /* where it stands, or would stand */
    bool written;                     /* there */
    bool given;                       /* there, or by a default */
    bool valid;                       /* a quantity, and none below zero */
    struct text text;                 /* as written */
    int64_t milli;                    /* INT64_MAX also for what is larger */
    const struct object *limit_range; /* whose default it is; NULL: no one's */
};
/* What stands at a field, without defaults. */
void amount_read(const struct field *field, struct amount *amount);
/* Of a container (or of a pod's spec, which takes no defaults) as the API server would store it: a
 * request that is missing is the limit, then a LimitRange's. Zero-initialise the defaults: they are
 * read when they are first needed. */
void container_amounts(const struct snapshot *snapshot, const struct workload *workload,
                       const struct field *container, struct text resource, struct arena *arena,
                       struct limit_defaults *defaults, struct amount *request,
                       struct amount *limit);

#endif
