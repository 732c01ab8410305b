/* Times and durations in Kubernetes objects. */
#ifndef TAFFRAIL_KUBE_TIME_H
#define TAFFRAIL_KUBE_TIME_H

#include "base/base.h"

/* RFC 3339 time, or a date (its first second, UTC). */
bool time_parse(struct text t, int64_t *unix_s) MUST_CHECK;

/* Hours, minutes and seconds, as Karpenter writes them: "720h", "1h30m", "0s". */
bool duration_parse(struct text t, int64_t *seconds) MUST_CHECK;

#endif
