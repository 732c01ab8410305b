/* The two parts of a world, and the publisher that combines them: the rules (policies and
 * catalogue) from the thread that reloads, and a view of a watched cluster from the thread that
 * watches. */
#ifndef TAFFRAIL_SERVER_PUBLISH_H
#define TAFFRAIL_SERVER_PUBLISH_H

#include "server/server.h"

struct snapshot;

/* A world as world_load makes it, with a reference count; its holders may read it. */
struct loaded_policies {
    const struct world *world;
    size_t hold_count; /* the publisher's */
};

/* A cluster at one moment, with a reference count; unused, it goes back to its maker. */
struct cluster_view {
    const struct snapshot *snapshot;
    const struct supply *supply;   /* NULL: nothing needs it */
    struct loaded_policies *rules; /* the rules whose catalogue the supply uses, held; NULL: none */
    /* Called on the thread that publishes or destroys, one at a time. */
    void (*give_back)(struct cluster_view *view);
    size_t hold_count; /* the publisher's */
};

/* Facts about a view that may change while the view stays. */
struct visibility {
    kind_set unseen;
    struct seen_owners owners; /* the owners of this view */
    bool volumes_are_stale;
};

/* Takes the view (NULL: the one before stays) and publishes a world of it and the rules in force;
 * without rules nothing is published yet. False: malloc failed, the caller owns the view again, and
 * the last world stays. */
bool publisher_set_view(struct publisher *publisher, struct cluster_view *view,
                        const struct visibility *visibility) MUST_CHECK;
/* The rules in force; NULL: none yet. */
struct loaded_policies *publisher_hold_policies(struct publisher *publisher);
void publisher_release_policies(struct publisher *publisher,
                                struct loaded_policies *rules); /* NULL is fine */
/* Calls hear, on the thread that sets them, when new rules are in force. */
void publisher_listen(struct publisher *publisher, void (*hear)(void *context), void *context);

#endif
