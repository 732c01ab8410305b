/* What a world is composed of, and who puts it together: rules (policies and catalogue), which the
 * thread that reloads makes, and a view of a live cluster, which the thread that watches makes. */
#ifndef TAFFRAIL_SERVER_PUBLISH_H
#define TAFFRAIL_SERVER_PUBLISH_H

#include "server/server.h"

struct snapshot;

/* A world as world_load makes it. Counted; whoever holds it may read it. */
struct loaded_policies {
    const struct world *world;
    size_t hold_count; /* the publisher's */
};

/* A cluster at one moment. Counted; when nobody uses it any more it is given back to its maker. */
struct cluster_view {
    const struct snapshot *snapshot;
    const struct supply *supply;   /* NULL: nobody asks */
    struct loaded_policies *rules; /* what the supply was made with, held on; NULL: none */
    /* On the thread that publishes or destroys, one at a time. */
    void (*give_back)(struct cluster_view *view);
    size_t hold_count; /* the publisher's */
};

/* What is known of a view that may change while it stays. */
struct visibility {
    kind_set unseen;
    struct seen_owners owners; /* as the view has them */
    bool volumes_are_stale;
};

/* Takes the view (NULL: the one before stays) and publishes the world that it makes with the rules
 * in force; without rules nothing is published yet. False: malloc failed, the view is the caller's
 * again and the last world stays. */
bool publisher_set_view(struct publisher *publisher, struct cluster_view *view,
                        const struct visibility *visibility) MUST_CHECK;
/* The rules in force; NULL: none yet. */
struct loaded_policies *publisher_hold_policies(struct publisher *publisher);
void publisher_release_policies(struct publisher *publisher,
                                struct loaded_policies *rules); /* NULL is fine */
/* Is called, on the thread that sets them, when rules are in force. */
void publisher_listen(struct publisher *publisher, void (*hear)(void *context), void *context);

#endif
