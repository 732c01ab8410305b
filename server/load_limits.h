/* The shares of requests that run at the same time, and how long one waits for its share. Beyond
 * the limits a request gets 429 and no memory. */
#ifndef TAFFRAIL_SERVER_LOAD_LIMITS_H
#define TAFFRAIL_SERVER_LOAD_LIMITS_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "base/base.h"

/* A shared amount. Taking or returning some is one atomic operation. The lock is only for those
 * that have to wait; they are served in order of arrival. */
struct allowance {
    atomic_size_t used;
    atomic_uint waiting;
    size_t limit;
    pthread_mutex_t mutex;
    TAILQ_HEAD(, waiter) waiters;
    char apart[64]; /* keeps the next counter off this one's cache line */
};

void allowance_start(struct allowance *allowance, size_t limit);
/* Waits for the amount, *wait_ms at most, and subtracts the wait from *wait_ms. False when the
 * amount is still not free. */
bool allowance_take(struct allowance *allowance, size_t amount, int64_t *wait_ms) MUST_CHECK;
void allowance_return(struct allowance *allowance, size_t amount);

/* The shares of reviews of about the same size. Arenas have their own bytes, so that a complete
 * body does not wait for bodies that are still arriving. */
struct lane {
    const char *name;
    struct allowance body_bytes, reviews, arena_bytes;
    struct allowance turns; /* to read from the network, which includes decrypting */
};

/* Reviews in one lane cannot take the share of the other lane. The API server sends few large
 * reviews, so these get little of the processor, and the rest stays free for others. */
enum lane_name { LANE_SMALL, LANE_LARGE, LANE_COUNT };
enum { SMALL_BODY_BYTES = 64 << 10 };

struct load_limits {
    struct lane lanes[LANE_COUNT];
};

struct lane_limits {
    size_t body_bytes, reviews, arena_bytes, turns;
};

void load_limits_start(struct load_limits *load_limits,
                       const struct lane_limits limits[LANE_COUNT]);
enum lane_name lane_for(size_t body_bytes);
/* Takes a turn for one review, and the bytes for its arena; both or none. */
bool lane_enter(struct lane *lane, size_t arena_bytes, int64_t *wait_ms) MUST_CHECK;
/* Returns them, except for stored_bytes of the arena, which hold the answer until it is sent. */
void lane_leave(struct lane *lane, size_t arena_bytes, size_t stored_bytes);

#endif
