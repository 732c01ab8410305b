/* Keeps what a live cluster shows, and publishes views of it. It opens no socket and its clock is
 * given to it: cluster.c runs it. */
#ifndef TAFFRAIL_SERVER_INFORMER_H
#define TAFFRAIL_SERVER_INFORMER_H

#include "server/cluster_status.h"
#include "server/publish.h"

struct informer_options {
    struct publisher *publisher;
    struct cluster_status *status;
    int64_t (*now_ms)(void); /* goes forward only */
    /* Called by the handler when informer_step has something to do after a time of rest. */
    void (*wake)(void *context);
    /* Watches custom owners as a kind, NULL: no longer. False: memory ran out, and it is asked
     * again. */
    bool (*watch_owners)(void *context, enum kind kind, const struct custom_kind *custom);
    /* Has a kind listed anew: there is room for what could not be kept. */
    void (*list_again)(void *context, enum kind kind);
    void *context;
    size_t view_bytes_max; /* 0: no limit */
};

struct informer;
/* The kinds that rails and the solver look up, and owners' kinds. */
kind_set informer_kinds(void);
/* NULL: malloc failed. */
struct informer *informer_create(const struct informer_options *options) MUST_CHECK;
void informer_destroy(struct informer *informer); /* NULL is fine */
/* Shows the publisher a cluster of which nothing is seen yet: from here on it must be destroyed
 * first. False: malloc failed. */
bool informer_begin(struct informer *informer) MUST_CHECK;
/* Told on the thread that calls informer_step. */
struct event_handler informer_handler(struct informer *informer);
/* Has the custom owners watched that the rules in force name: reports are of what it leaves. */
void informer_follow(struct informer *informer);
/* Publishes what is due; reports[kind] is what the kind's watcher reports. Returns for how many
 * milliseconds, unless it is woken, there is nothing to do. */
int64_t informer_step(struct informer *informer, const struct watch_report reports[KIND_COUNT]);

#endif
