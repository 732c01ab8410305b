/* The state of the watched cluster, for people. The thread that watches writes it, the ops port
 * reads it. */
#ifndef TAFFRAIL_SERVER_CLUSTER_STATUS_H
#define TAFFRAIL_SERVER_CLUSTER_STATUS_H

#include "live/client.h"
#include "server/server.h"

struct kind_report {
    struct watch_report report;
    size_t object_count, bytes; /* of stored objects */
    size_t unreadable_count;    /* of them, those known by name only */
    bool lacks;                 /* some objects found no room */
    char unreadable[400];       /* the names of some */
    char custom[128];           /* the kind of custom owners; empty for other kinds */
};

struct cluster_report {
    int64_t at_ms;   /* the time of this report, of CLOCK_MONOTONIC */
    kind_set kinds;  /* watched kinds */
    kind_set unseen; /* of these, kinds that may have objects and cannot be seen */
    bool waiting;    /* for the first look, and not for too long yet */
    bool visible;    /* the first look is done */
    bool volumes_are_stale;
    uint64_t view_count; /* published views */
    struct kind_report of[KIND_COUNT];
};

void cluster_status_set(struct cluster_status *status, const struct cluster_report *report);
bool cluster_status_is_waiting(struct cluster_status *status);
bool cluster_status_is_visible(struct cluster_status *status); /* the first look is done */
/* Adds "; cluster: ..." to the line of /readyz, without its end. */
void cluster_status_add_line(struct cluster_status *status, int64_t now_ms,
                             struct text_builder *out);
/* Adds a line for each kind. */
void cluster_status_add_kinds(struct cluster_status *status, int64_t now_ms,
                              struct text_builder *out);
/* Prometheus text format. */
void cluster_status_add_metrics(struct cluster_status *status, int64_t now_ms,
                                struct text_builder *out);

#endif
