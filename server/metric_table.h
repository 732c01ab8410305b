/* Every metric there is: what it is called, what it counts, and which labels it has. The pages of
 * the ops port, `taffrail explain metrics` and docs/reference/metrics.md are made from this table.
 */
#ifndef TAFFRAIL_SERVER_METRIC_TABLE_H
#define TAFFRAIL_SERVER_METRIC_TABLE_H

#include "base/base.h"

enum metric {
    METRIC_REVIEWS,
    METRIC_KNOWN_REVIEWS,
    METRIC_FINDINGS,
    METRIC_CHANGES,
    METRIC_REVIEW_DURATION,
    METRIC_REVIEW_TIMEOUT,
    METRIC_REVIEWS_IN_FLIGHT,
    METRIC_REQUESTS_REFUSED,
    METRIC_REVIEW_LIMITS,
    METRIC_BODY_BYTES,
    METRIC_BODY_BYTES_IN_FLIGHT,
    METRIC_READY,
    METRIC_POLICY_GENERATION,
    METRIC_POLICY_LOADED,
    METRIC_RELOAD_FAILURES,
    METRIC_RELOAD_FAILING,
    METRIC_CERTIFICATE_NOT_AFTER,
    METRIC_BUILD_INFO,
    METRIC_CLUSTER_VISIBLE,
    METRIC_CLUSTER_VOLUMES_STALE,
    METRIC_CLUSTER_VIEWS,
    METRIC_CLUSTER_OBJECTS,
    METRIC_CLUSTER_OBJECT_BYTES,
    METRIC_CLUSTER_UNREADABLE,
    METRIC_CLUSTER_LACKING,
    METRIC_CLUSTER_LISTS,
    METRIC_CLUSTER_EVENTS,
    METRIC_CLUSTER_FAILURES,
    METRIC_CLUSTER_DEGRADED,
    METRIC_CLUSTER_AGE,
    METRIC_LEADER,
    METRIC_DUTY_FAILURES,
    METRIC_DUTY_WRITES,
    METRIC_CONFIGURATION_MISSING,
    METRIC_AUDITS,
    METRIC_AUDIT_DURATION,
    METRIC_AUDIT_OBJECTS,
    METRIC_AUDIT_FINDINGS,
    METRIC_REPORTS,
    METRIC_REPORTS_INTERVAL,
    METRIC_REPORTS_SUCCEEDED,
    METRIC_REPORTS_LEFT_OUT,
    METRIC_REPORT_WRITES,
    METRIC_REPORT_FAILURES,
    METRIC_COUNT
};

struct metric_info {
    const char *name;
    const char *type;   /* "counter", "gauge", "histogram" */
    const char *unit;   /* "reviews", "seconds", "bytes", "1 or 0" */
    const char *labels; /* "phase, kind"; "": none */
    const char *shown;  /* when it is there; "": always */
    const char *help;
};
extern const struct metric_info metric_table[METRIC_COUNT];

/* The lines before the samples of a metric. */
void metric_begin(struct text_builder *out, enum metric metric);
/* A sample; labels as "phase=\"%s\"", NULL: none. */
void metric_add(struct text_builder *out, enum metric metric, int64_t value, const char *labels,
                ...) PRINTF_LIKE(4, 5);
/* A metric of one sample without labels. */
void metric_one(struct text_builder *out, enum metric metric, int64_t value);
/* Milliseconds as seconds. */
void metric_add_ms(struct text_builder *out, enum metric metric, int64_t milliseconds,
                   const char *labels, ...) PRINTF_LIKE(4, 5);

/* `taffrail explain metrics` */
struct text metric_page(struct arena *arena);

#endif
