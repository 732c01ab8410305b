/* Private to server/: the limits that end a review from inside. */
#ifndef TAFFRAIL_SERVER_DEADLINE_H
#define TAFFRAIL_SERVER_DEADLINE_H

#include "policy/policy.h"

/* The clocks, and whether the client still waits; parameters, so that tests can replace them. */
struct review_clock {
    int64_t (*cpu_us)(void *context); /* of this thread */
    int64_t (*wall_us)(void *context);
    bool (*client_is_gone)(void *context); /* costs a system call; NULL: unknown */
    void *context;
};

struct deadline {
    const struct review_clock *clock;
    int64_t cpu_limit_us; /* 0: none */
    int64_t cpu_until_us;
    bool counts_cpu;       /* from the first question on, which small reviews do not reach */
    int64_t wall_until_us; /* INT64_MAX: the caller gives no limit */
    int64_t look_again_us; /* the next check of the client */
};
/* The caller's time starts now, that of the CPU with the first question; 0: no limit. */
struct deadline deadline_begin(const struct review_clock *clock, int64_t cpu_limit_us,
                               int64_t wall_until_us);
/* An arena's watch; its context is the deadline. Its reasons are those of enum review_limit. */
int deadline_ask(void *context);

/* When a review must end whose caller waits for timeout_us from arrived_us; 0: the caller gives no
 * limit. The API server rounds its remaining time up to whole seconds
 * (docs/reference/admission.md), and needs time to read the answer. */
int64_t deadline_of_request(int64_t arrived_us, int64_t timeout_us);

#endif
