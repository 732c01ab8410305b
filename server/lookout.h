/* Keeps what a live cluster shows, and publishes views of it. It opens no socket and its clock is
 * given to it: cluster.c runs it. */
#ifndef TAFFRAIL_SERVER_LOOKOUT_H
#define TAFFRAIL_SERVER_LOOKOUT_H

#include "server/board.h"
#include "server/publish.h"

struct lookout_options {
    struct publisher *publisher;
    struct board *board;
    int64_t (*now_ms)(void); /* goes forward only */
    /* Called by the sink when lookout_step has something to do after a time of rest. */
    void (*wake)(void *context);
    /* Watches custom owners as a kind, NULL: no longer. False: memory ran out, and it is asked
     * again. */
    bool (*watch_owners)(void *context, enum kind kind, const struct custom_kind *custom);
    /* Has a kind listed anew: there is room for what could not be kept. */
    void (*list_again)(void *context, enum kind kind);
    void *context;
    size_t view_bytes_max; /* 0: no limit */
};

struct lookout;
/* The kinds that rails and the solver look up, and owners' kinds. */
kind_set lookout_kinds(void);
/* NULL: malloc failed. */
struct lookout *lookout_create(const struct lookout_options *options) MUST_CHECK;
void lookout_destroy(struct lookout *lookout); /* NULL is fine */
/* Shows the publisher a cluster of which nothing is seen yet: from here on it must be destroyed
 * first. False: malloc failed. */
bool lookout_begin(struct lookout *lookout) MUST_CHECK;
/* Told on the thread that calls lookout_step. */
struct watch_sink lookout_sink(struct lookout *lookout);
/* Has the custom owners watched that the rules in force name: reports are of what it leaves. */
void lookout_follow(struct lookout *lookout);
/* Publishes what is due; reports[kind] is what the kind's watcher reports. Returns for how many
 * milliseconds, unless it is woken, there is nothing to do. */
int64_t lookout_step(struct lookout *lookout, const struct watch_report reports[KIND_COUNT]);

#endif
