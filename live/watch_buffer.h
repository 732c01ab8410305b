/* The bytes that a list or a watch holds until they are read. All kinds together have one budget
 * (struct watch_budget). */
#ifndef TAFFRAIL_LIVE_WATCH_BUFFER_H
#define TAFFRAIL_LIVE_WATCH_BUFFER_H

#include "live/client.h"

struct watch_buffer {
    struct watch_budget *budget; /* NULL: none */
    char *bytes;
    size_t size, capacity;
};

/* False: malloc failed. Bytes that have arrived are always held, even beyond the budget; the caller
 * then asks watch_buffer_waits before it reads more. */
bool watch_buffer_add(struct watch_buffer *buffer, struct text bytes) MUST_CHECK;
/* Whether the buffer has to wait until another one is released. The one that has been busy longest
 * never waits, so one always finishes. */
bool watch_buffer_waits(struct watch_buffer *buffer);
void watch_buffer_drop(struct watch_buffer *buffer); /* a small buffer stays for the next use */
void watch_buffer_free(struct watch_buffer *buffer);
struct text watch_buffer_text(const struct watch_buffer *buffer);

#endif
