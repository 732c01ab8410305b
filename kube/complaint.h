/* What the API server would refuse in an object, in words. */
#ifndef TAFFRAIL_KUBE_COMPLAINT_H
#define TAFFRAIL_KUBE_COMPLAINT_H

#include "base/base.h"

struct object;
struct pod_scheduling;
struct pool;
struct workload;

struct complaint {
    const struct field *field; /* NULL: nothing is wrong */
    struct text message;       /* its path, the value, and what is allowed */
};
/* False with *error: something is wrong with the object. */
bool complaint_is_none(const struct complaint *complaint, const struct object *object,
                       struct arena *arena, struct error *error) MUST_CHECK;
struct place object_place(const struct object *object, const struct field *field,
                          struct arena *arena);
/* Checks a whole number of 32 bits, if it is present. */
void count_check(const struct field *field, int64_t least, struct arena *arena,
                 struct complaint *complaint);
/* Checks the kind of a value, if it is present. */
void kind_check(const struct field *field, enum node_kind kind, struct arena *arena,
                struct complaint *complaint);
/* Checks that a value is one of some names, if it is present. NULL ends them; without any it is
 * only not empty, and it may be empty where "" is among them. */
void name_check(const struct field *field, const char *const *names, struct arena *arena,
                struct complaint *complaint);
/* Checks the value of a PriorityClass, if it is present. kubectl sends 1e3 and 1000.0 as 1000. */
void priority_check(const struct field *field, int64_t most, struct arena *arena,
                    struct complaint *complaint);
/* "\"lots\", which is no quantity of 0 or more"; most: the largest there may be. */
struct text quantity_complaint(struct text quantity, const char *most, struct arena *arena);
void pool_requirements_check(const struct pool *pool, struct arena *arena,
                             struct complaint *complaint);
/* Its requirements, and values of other fields that the CRD refuses; its limits are not among
 * them. */
void pool_check(const struct pool *pool, struct arena *arena, struct complaint *complaint);
/* Where a PersistentVolume can be attached. */
void volume_check(const struct object *volume, struct arena *arena, struct complaint *complaint);
/* What a pod asks of the scheduler, as it was read. */
void pod_check(const struct workload *workload, const struct pod_scheduling *scheduling,
               struct arena *arena, struct complaint *complaint);

#endif
