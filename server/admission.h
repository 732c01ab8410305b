/* What requests may use of this server at the same time, and how long one waits for its share:
 * beyond the limits it gets 429 instead of memory. */
#ifndef TAFFRAIL_SERVER_ADMISSION_H
#define TAFFRAIL_SERVER_ADMISSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "base/base.h"

/* An amount that is shared. To take or return some is one atomic operation; the lock is for those
 * who have to wait, first come, first served. */
struct allowance {
    atomic_size_t used;
    atomic_uint waiting;
    size_t limit;
    pthread_mutex_t mutex;
    TAILQ_HEAD(, waiter) waiters;
    char apart[64]; /* the next one's counter shares no cache line with this one's */
};

void allowance_start(struct allowance *allowance, size_t limit);
/* Waits while the amount is not there, *wait_ms at most, and takes off *wait_ms how long that was.
 * False when it is still not there. */
bool allowance_take(struct allowance *allowance, size_t amount, int64_t *wait_ms) MUST_CHECK;
void allowance_return(struct allowance *allowance, size_t amount);

/* What reviews of about the same size share. Arenas have bytes of their own, so that a body that
 * has arrived does not wait for others that have not. */
struct lane {
    const char *name;
    struct allowance body_bytes, reviews, arena_bytes;
    struct allowance turns; /* to take bytes off the network, which is to decrypt them */
};

/* Nobody in one lane can take what those in the other need. The API server sends few large reviews,
 * so these share little of the processor: whoever else asks for it, finds it. */
enum lane_name { LANE_SMALL, LANE_LARGE, LANE_COUNT };
enum { SMALL_BODY_BYTES = 64 << 10 };

struct admission {
    struct lane lanes[LANE_COUNT];
};

struct lane_limits {
    size_t body_bytes, reviews, arena_bytes, turns;
};

void admission_start(struct admission *admission, const struct lane_limits limits[LANE_COUNT]);
enum lane_name lane_for(size_t body_bytes);
/* One review and what its arena may take; both or none. */
bool lane_enter(struct lane *lane, size_t arena_bytes, int64_t *wait_ms) MUST_CHECK;
/* Returns them, except for stored_bytes of the arena, which hold the answer until it is sent. */
void lane_leave(struct lane *lane, size_t arena_bytes, size_t stored_bytes);

#endif
