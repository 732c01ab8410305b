/* The one reader of the system's clocks. */
#include "base/clock.h"

static int64_t read_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t monotonic_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

int64_t monotonic_ms(void)
{
    return monotonic_us() / 1000;
}

int64_t unix_us(void)
{
    return read_us(CLOCK_REALTIME);
}

int64_t thread_cpu_us(void)
{
    return read_us(CLOCK_THREAD_CPUTIME_ID);
}

struct timespec timespec_of_ms(int64_t ms)
{
    return (struct timespec){ms / 1000, ms % 1000 * 1000000};
}
