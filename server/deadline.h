/* Private to server/: what ends a review from inside. */
#ifndef TAFFRAIL_SERVER_DEADLINE_H
#define TAFFRAIL_SERVER_DEADLINE_H

#include "policy/policy.h"

/* Time, and whether anybody still waits for the answer; parameters, so that tests have their own.
 */
struct review_clock {
    int64_t (*cpu_us)(void *context); /* of this thread */
    int64_t (*wall_us)(void *context);
    bool (*client_is_gone)(void *context); /* costs a system call; NULL: nobody knows */
    void *context;
};

struct deadline {
    const struct review_clock *clock;
    int64_t cpu_until_us;
    int64_t wall_until_us; /* INT64_MAX: the caller does not say */
    int64_t look_again_us; /* at the client */
};
/* Begins now; 0: no limit. */
struct deadline deadline_begin(const struct review_clock *clock, int64_t cpu_limit_us,
                               int64_t wall_until_us);
/* An arena's watch; the context is the deadline. Its reasons are those of enum review_limit. */
int deadline_ask(void *context);

/* When a review whose caller waits for timeout_us, counted from arrived_us, has to end; 0: the
 * caller does not say. The API server rounds what it has left up to whole seconds
 * (docs/reference/admission.md), and wants to read the answer. */
int64_t deadline_of_request(int64_t arrived_us, int64_t timeout_us);

#endif
