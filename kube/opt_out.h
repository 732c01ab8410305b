/* Pods and Nodes that opt out of disruption (docs/reference/karpenter.md 6.2). */
#ifndef TAFFRAIL_KUBE_OPT_OUT_H
#define TAFFRAIL_KUBE_OPT_OUT_H

#include "base/base.h"

struct object;

/* The annotation: "true" on a Node; "true" or a duration since its start on a pod. */
#define OPT_OUT "karpenter.sh/do-not-disrupt"
/* As Karpenter reads the duration, which is as Go does: also "1.5h" and "90000ms". It has to be
 * above 0. */
bool opt_out_duration(struct text t, double *ns) MUST_CHECK;
/* Whether a pod opts out now: "true", or a duration since its start, and where that is not known
 * while it is there. Until when; INT64_MAX: for good. */
bool opt_out_of_pod(const struct object *pod, int64_t now_unix_s, int64_t *until_unix_s) MUST_CHECK;

#endif
