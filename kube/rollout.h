/* How a Deployment replaces its pods. */
#ifndef TAFFRAIL_KUBE_ROLLOUT_H
#define TAFFRAIL_KUBE_ROLLOUT_H

#include "kube/object.h"

/* How many pods more than replicas, and how many fewer, there may be meanwhile. */
struct rollout {
    bool chosen; /* it says so itself; else Kubernetes does */
    int64_t surge, unavailable;
};
/* False when the object is none, ends all pods first, or says what the API server refuses. */
bool rollout_read(const struct object *object, int64_t replicas, struct rollout *rollout);

#endif
