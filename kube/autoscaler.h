/* How many replicas a workload may come to have, with the HorizontalPodAutoscaler that scales it.
 */
#ifndef TAFFRAIL_KUBE_AUTOSCALER_H
#define TAFFRAIL_KUBE_AUTOSCALER_H

#include "kube/kind.h"

struct object;
struct snapshot;

/* The autoscaler of a workload, by docs/reference/admission.md 9; NULL: no visible one acts on it.
 */
const struct object *autoscaler_of(const struct snapshot *snapshot, const struct object *workload);

/* What a HorizontalPodAutoscaler scales, and within which bounds. */
struct autoscaler_target {
    enum kind kind;
    struct text namespace, name;
    int64_t least, most;
};
/* False: it scales nothing, or the API server refuses it. */
bool autoscaler_target_read(const struct object *autoscaler,
                            struct autoscaler_target *target) MUST_CHECK;
/* Whether it changes a workload that has so many replicas: one with 0 is switched off, unless the
 * autoscaler may go to 0 itself. */
bool autoscaler_acts(const struct autoscaler_target *target, int64_t replicas);
/* Whether no other visible one has the same target: of two neither acts. */
bool autoscaler_is_alone(const struct snapshot *snapshot, const struct object *autoscaler,
                         const struct object *workload);

struct replicas {
    int64_t least, most;
    bool said; /* by the workload or its autoscaler; else both are 1, as the API server has it */
    const struct object *autoscaler; /* whose bounds they are; NULL: the workload's own number */
};
/* Of a workload with spec.replicas. Numbers are within those that the API server takes. */
struct replicas replicas_read(const struct snapshot *snapshot, const struct object *workload);

#endif
