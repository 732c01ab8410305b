/* Containers, their requests and their limits. */
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

/* Whether an init container runs as long as the pod. */
bool container_is_sidecar(const struct node *init_container);

/* A request or a limit of one resource. */
struct amount {
    const struct field *field;        /* where it is, or would be */
    bool written;                     /* present in the object */
    bool given;                       /* present, or from a default */
    bool valid;                       /* a quantity that is not negative */
    struct text text;                 /* as written */
    int64_t milli;                    /* INT64_MAX also for larger values */
    const struct object *limit_range; /* that gives the default; NULL: none */
};
/* Reads the amount at a field, without defaults. */
void amount_read(const struct field *field, struct amount *amount);
/* The amount of a container (or of a pod's spec, which has no defaults) as the API server would
 * store it: a missing request is the limit, then a LimitRange's default. Zero-initialise the
 * defaults: they are read on first use. */
void container_amounts(const struct snapshot *snapshot, const struct workload *workload,
                       const struct field *container, struct text resource, struct arena *arena,
                       struct limit_defaults *defaults, struct amount *request,
                       struct amount *limit);

#endif
