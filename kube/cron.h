/* Schedules of disruption budgets (docs/reference/karpenter.md). */
#ifndef TAFFRAIL_KUBE_CRON_H
#define TAFFRAIL_KUBE_CRON_H

#include "base/base.h"

/* A bit for each minute, hour, ... that fires. */
struct cron {
    uint64_t minutes, hours, days_of_month, months, days_of_week;
};
/* Parses a budget's schedule as Karpenter does: five fields, or a name such as @daily, in UTC.
 * False with *fault, which says what is wrong. */
bool cron_parse(struct text schedule, struct arena *arena, struct cron *cron,
                struct text *fault) MUST_CHECK;
/* The first time after after_unix_s; false when there is none within five years. */
bool cron_next(const struct cron *cron, int64_t after_unix_s, int64_t *unix_s) MUST_CHECK;

#endif
