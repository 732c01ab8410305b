/* Stores what a watched cluster shows, and publishes views of it. It opens no socket and gets its
 * clock as a parameter: cluster.c runs it. */
#ifndef TAFFRAIL_SERVER_INFORMER_H
#define TAFFRAIL_SERVER_INFORMER_H

#include "server/cluster_status.h"
#include "server/publish.h"

struct informer_options {
    struct publisher *publisher;
    struct cluster_status *status;
    int64_t (*now_ms)(void); /* monotonic */
    /* The handler calls it when informer_step has work again after a rest. */
    void (*wake)(void *context);
    /* Watches custom owners as a kind, NULL: stop. False: memory ran out, and it is called again.
     */
    bool (*watch_owners)(void *context, enum kind kind, const struct custom_kind *custom);
    /* Lists a kind again, because there is room for objects that were not stored. */
    void (*list_again)(void *context, enum kind kind);
    void *context;
    size_t view_bytes_max; /* 0: no limit */
};

struct informer;
/* The kinds that rails and the solver look up, and the kinds of owners. */
kind_set informer_kinds(void);
/* The setting watch_quiet_ms of the kind's watch. */
int64_t informer_quiet_ms(enum kind kind);
/* NULL: malloc failed. */
struct informer *informer_create(const struct informer_options *options) MUST_CHECK;
void informer_destroy(struct informer *informer); /* NULL is fine */
/* Publishes a view in which nothing is seen yet. From here on destroy the publisher before the
 * informer. False: malloc failed. */
bool informer_begin(struct informer *informer) MUST_CHECK;
/* Called on the thread that calls informer_step. */
struct event_handler informer_handler(struct informer *informer);
/* Watches the custom owners that the rules in force name. Call it before informer_step, whose
 * reports are about these. */
void informer_follow(struct informer *informer);
/* Publishes what is due; reports[kind] is the report of the kind's watcher. Returns for how many
 * milliseconds there is nothing to do, unless it is woken. */
int64_t informer_step(struct informer *informer, const struct watch_report reports[KIND_COUNT]);

#endif
