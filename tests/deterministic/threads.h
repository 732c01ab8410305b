/* Time, and the threads of all replicas, one at a time: a thread runs until it waits, and who is
 * next is chance. */
#ifndef TAFFRAIL_DETERMINISTIC_THREADS_H
#define TAFFRAIL_DETERMINISTIC_THREADS_H

#include <stdbool.h>
#include <stdint.h>

enum { WORLD = -1, REPLICAS_MAX = 3 };

#define MS INT64_C(1000)
#define SECOND (1000 * MS)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define NEVER INT64_MAX

/* The one true time, in microseconds; it is also the monotonic clock of every replica. */
int64_t world_now_us(void);
/* Calls something later, outside of all threads. */
void world_at(int64_t at_us, void (*happens)(void *context), void *context);
/* Runs everything that is due until then. */
void world_run(int64_t until_us);
/* Counts what happens to the program, and mixes it into the trace. */
void world_event(uint64_t what);
uint64_t world_events(void);
uint64_t world_turns(void); /* how often a thread went on */
uint64_t world_trace(void); /* equal of two runs that were the same */

struct thread;
/* NULL: there are too many. */
struct thread *thread_start(int replica, const char *name, void *(*body)(void *), void *argument);
struct thread *thread_current(void); /* NULL: none runs */
int thread_replica(void);            /* of the current thread, or WORLD */
/* The current thread waits. */
void thread_sleep_until(int64_t until_us);
/* Ends the current thread. */
_Noreturn void thread_end(void);
/* It goes on then, if it would wait for longer. */
void thread_wake_at(struct thread *thread, int64_t at_us);
/* Ends the threads of a replica, wherever they are. */
void threads_kill(int replica);
unsigned threads_of(int replica); /* those that the program started */
/* No thread of the replica goes on before. */
void replica_freeze(int replica, int64_t until_us);
/* The wall clock of a replica is this much ahead. */
void replica_set_clock(int replica, int64_t ahead_us);
int64_t replica_clock_ahead_us(int replica);

#endif
