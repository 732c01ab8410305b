/* The values that the API server fills in before it stores an object; those of LimitRanges are in
 * kube/limit_range.h. */
#ifndef TAFFRAIL_KUBE_DEFAULTS_H
#define TAFFRAIL_KUBE_DEFAULTS_H

#include "base/base.h"

struct object;
struct snapshot;

/* The StorageClass of a claim that names none; NULL when no visible class is the default. */
const struct object *default_storage_class(const struct snapshot *snapshot);

#endif
