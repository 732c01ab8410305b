/* Another writer who puts back another CA bundle in a webhook configuration. An answer each time
 * would only double the writes of both. So our bundle is put back at once, and then less and less
 * often. */
#ifndef TAFFRAIL_SERVER_BUNDLE_CONFLICT_H
#define TAFFRAIL_SERVER_BUNDLE_CONFLICT_H

#include "base/base.h"

struct bundle_conflict {
    char *applied; /* the last applied bundle; NULL: none */
    unsigned count;
    int64_t put_back_at_ms;
    /* For the current round; in its arena. */
    bool overwritten;    /* the applied bundle is gone */
    struct text manager; /* the field manager that overwrote it; empty: unknown */
};

/* configuration: as it was read; differs: it does not have bundle, the wanted one. */
void bundle_conflict_look(struct bundle_conflict *conflict, const struct node *configuration,
                          bool differs, struct text bundle, struct arena *arena);
/* How long to leave a difference alone; 0: not at all. look_ms: between two rounds. */
int64_t bundle_conflict_pause_ms(struct bundle_conflict *conflict, int64_t look_ms, int64_t now_ms);
/* Notes that bundle was applied to the configuration with that name. */
void bundle_conflict_applied(struct bundle_conflict *conflict, const char *name, struct text bundle,
                             int64_t now_ms);
void bundle_conflict_forget(struct bundle_conflict *conflict);

#endif
