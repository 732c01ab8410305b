/* The bytes that a list or a watch holds until they are read: those of all kinds together within a
 * budget (struct watch_budget). */
#ifndef TAFFRAIL_LIVE_HOLD_H
#define TAFFRAIL_LIVE_HOLD_H

#include "live/client.h"

struct watch_buffer {
    struct watch_budget *budget; /* NULL: none */
    char *bytes;
    size_t size, capacity;
};

/* False: malloc failed. What has come is always held, even beyond the budget; who has taken it
 * asks watch_buffer_waits before more comes. */
bool watch_buffer_add(struct watch_buffer *buffer, struct text bytes) MUST_CHECK;
/* Whether it has to wait until another lets go. Who has been at it for the longest never waits, so
 * that there is always one who gets to its end. */
bool watch_buffer_waits(struct watch_buffer *buffer);
void watch_buffer_drop(struct watch_buffer *buffer); /* a small buffer is kept for the next */
void watch_buffer_free(struct watch_buffer *buffer);
struct text watch_buffer_text(const struct watch_buffer *buffer);

#endif
