/* Somebody else who puts back another CA bundle in a webhook configuration. Who answered each time
 * would only double the writes of both, so ours is put back at once, then less and less often. */
#ifndef TAFFRAIL_SERVER_BUNDLE_CONFLICT_H
#define TAFFRAIL_SERVER_BUNDLE_CONFLICT_H

#include "base/base.h"

struct bundle_conflict {
    char *applied; /* the bundle that was applied last; NULL: none */
    unsigned count;
    int64_t put_back_at_ms;
    /* Of the round; in its arena. */
    bool overwritten;    /* what was applied is there no more */
    struct text manager; /* who overwrote it; empty: not known */
};

/* configuration: as it was read; differs: it does not have bundle, which is wanted. */
void bundle_conflict_look(struct bundle_conflict *conflict, const struct node *configuration,
                          bool differs, struct text bundle, struct arena *arena);
/* For how long what differs is to be left as it is; 0: not at all. look_ms: between two rounds. */
int64_t bundle_conflict_pause_ms(struct bundle_conflict *conflict, int64_t look_ms, int64_t now_ms);
/* bundle was applied to the configuration of that name. */
void bundle_conflict_applied(struct bundle_conflict *conflict, const char *name, struct text bundle,
                             int64_t now_ms);
void bundle_conflict_forget(struct bundle_conflict *conflict);

#endif
