/* What is known of a live cluster, for people: the thread that watches writes it down, the ops port
 * reads it. */
#ifndef TAFFRAIL_SERVER_CLUSTER_STATUS_H
#define TAFFRAIL_SERVER_CLUSTER_STATUS_H

#include "live/client.h"
#include "server/server.h"

struct kind_report {
    struct watch_report report;
    size_t object_count, bytes; /* that are kept */
    size_t unreadable_count;    /* of them: nothing but their names is known */
    bool lacks;                 /* there was no room for all of them */
    char unreadable[400];       /* the names of some */
    char custom[128];           /* of custom owners: which they are; else empty */
};

struct cluster_report {
    int64_t at_ms;   /* when it was so, of CLOCK_MONOTONIC */
    kind_set kinds;  /* that are watched */
    kind_set unseen; /* of them: may be there and cannot be seen */
    bool waiting;    /* for the first look at it, and not for too long yet */
    bool visible;    /* there was a first look */
    bool volumes_are_stale;
    uint64_t view_count; /* that have been published */
    struct kind_report of[KIND_COUNT];
};

void cluster_status_set(struct cluster_status *status, const struct cluster_report *report);
bool cluster_status_is_waiting(struct cluster_status *status);
/* "; cluster: ..." on the line of /readyz, without its end. */
void cluster_status_add_line(struct cluster_status *status, int64_t now_ms,
                             struct text_builder *out);
/* A line a kind. */
void cluster_status_add_kinds(struct cluster_status *status, int64_t now_ms,
                              struct text_builder *out);
/* Prometheus text format. */
void cluster_status_add_metrics(struct cluster_status *status, int64_t now_ms,
                                struct text_builder *out);

#endif
