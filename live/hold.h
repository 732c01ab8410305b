/* The bytes that a list or a watch holds until they are read: those of all kinds together within a
 * budget (struct watch_budget). */
#ifndef TAFFRAIL_LIVE_HOLD_H
#define TAFFRAIL_LIVE_HOLD_H

#include "live/client.h"

struct hold {
    struct watch_budget *budget; /* NULL: none */
    char *bytes;
    size_t size, capacity;
};

/* False: malloc failed. What has come is always held, even beyond the budget; who has taken it
 * asks hold_waits before more comes. */
bool hold_add(struct hold *hold, struct text bytes) MUST_CHECK;
/* Whether it has to wait until another lets go. Who has been at it for the longest never waits, so
 * that there is always one who gets to its end. */
bool hold_waits(struct hold *hold);
void hold_drop(struct hold *hold); /* a small buffer is kept for the next */
void hold_free(struct hold *hold);
struct text hold_text(const struct hold *hold);

#endif
