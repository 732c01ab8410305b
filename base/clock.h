/* The clocks of the system. */
#ifndef TAFFRAIL_BASE_CLOCK_H
#define TAFFRAIL_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC, which only goes forward. */
int64_t monotonic_ms(void);
int64_t monotonic_us(void);
/* Since 1970. */
int64_t unix_us(void);
/* The CPU time of the calling thread. */
int64_t thread_cpu_us(void);
struct timespec timespec_of_ms(int64_t ms);

#endif
