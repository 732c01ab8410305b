/* Ends a review from inside: when its own CPU time or its caller's time is over, or when the caller
 * is gone. The arena asks it where memory is taken and in long loops (base.h, arena_watch). */
#include "server/deadline.h"

enum { LOOK_EVERY_US = 50000 };

struct deadline deadline_begin(const struct review_clock *clock, int64_t cpu_limit_us,
                               int64_t wall_until_us)
{
    return (struct deadline){
        .clock = clock,
        .cpu_limit_us = cpu_limit_us,
        .wall_until_us = wall_until_us == 0 ? INT64_MAX : wall_until_us,
        .look_again_us = clock->wall_us(clock->context) + LOOK_EVERY_US,
    };
}

/* To read a thread's CPU time is a system call, and most reviews end before the first question. */
static bool cpu_is_spent(struct deadline *deadline)
{
    if (deadline->cpu_limit_us == 0)
        return false;
    int64_t cpu_us = deadline->clock->cpu_us(deadline->clock->context);
    if (!deadline->counts_cpu)
        deadline->cpu_until_us = cpu_us + deadline->cpu_limit_us;
    deadline->counts_cpu = true;
    return cpu_us >= deadline->cpu_until_us;
}

int deadline_ask(void *context)
{
    struct deadline *deadline = context;
    const struct review_clock *clock = deadline->clock;
    int64_t wall_us = clock->wall_us(clock->context);
    if (wall_us >= deadline->look_again_us) {
        deadline->look_again_us = wall_us + LOOK_EVERY_US;
        if (clock->client_is_gone != NULL && clock->client_is_gone(clock->context))
            return LIMIT_CLIENT_GONE;
    }
    if (cpu_is_spent(deadline))
        return LIMIT_CPU;
    return wall_us >= deadline->wall_until_us ? LIMIT_TIMEOUT : LIMIT_NONE;
}

int64_t deadline_of_request(int64_t arrived_us, int64_t timeout_us)
{
    return timeout_us == 0 ? 0 : arrived_us + timeout_us - review_margin_us(timeout_us);
}
