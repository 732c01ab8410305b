/* Coroutines in place of threads, and the functions of the C library that threads wait in. The
 * linker leads the program's calls here (--wrap, CMakeLists.txt). */
#include "threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include "base/clock.h"
#include "chance.h"
#include "check.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#define FIBERS 1
#endif

enum {
    THREADS_MAX = 512,
    STACK_BYTES = 1 << 20,
    TURNS_AT_ONCE = 100000, /* without time going on: somebody spins */
    STARVE_IN_MILLION = 1500,
    PREEMPT_IN_MILLION = 3000,
};

struct thread {
    unsigned number;
    int replica;
    const char *name;
    void *(*body)(void *);
    void *argument;
    bool used, begun, done;
    int64_t wake_us;
    uint64_t turn; /* what is due of an earlier turn does not count */
    uint64_t id;   /* for pthread_join */
    const void *waits_for;
    uint64_t waits_since;
    bool signalled;
    int64_t cpu_us;
    jmp_buf at;
    ucontext_t first;
    char *stack;
    void *fake_stack;
};

struct due {
    int64_t at_us;
    uint64_t order;
    struct thread *thread; /* NULL: call happens */
    uint64_t turn;
    void (*happens)(void *context);
    void *context;
};

/* The start of the world: 2026-11-06, and some time since the machine was started. */
static const int64_t start_unix_us = INT64_C(1794000000) * SECOND;
static int64_t now_us = 100 * SECOND;
static struct due *heap;
static size_t heap_count, heap_capacity;
static uint64_t order, events, turns, trace = UINT64_C(0xCBF29CE484222325), waiters, ids;
static unsigned turns_now;
static struct thread threads[THREADS_MAX];
static const char by_program[] = "a thread";
static struct thread *current;
static jmp_buf scheduler;
static int64_t frozen_until_us[REPLICAS_MAX], ahead_us[REPLICAS_MAX];
#ifdef FIBERS
static void *scheduler_fake_stack;
static const void *scheduler_stack;
static size_t scheduler_stack_size;
#endif

int64_t world_now_us(void)
{
    return now_us;
}

uint64_t world_events(void)
{
    return events;
}

uint64_t world_turns(void)
{
    return turns;
}

uint64_t world_trace(void)
{
    return trace;
}

static void mix(uint64_t what)
{
    trace = (trace ^ what) * UINT64_C(0x100000001B3);
}

void world_event(uint64_t what)
{
    events++;
    mix(what);
    mix((uint64_t)now_us);
}

/* ---- what is due ---- */

static bool is_before(const struct due *a, const struct due *b)
{
    return a->at_us != b->at_us ? a->at_us < b->at_us : a->order < b->order;
}

static void push(struct due due)
{
    if (heap_count == heap_capacity) {
        heap_capacity = heap_capacity == 0 ? 1024 : 2 * heap_capacity;
        heap = realloc(heap, heap_capacity * sizeof *heap);
        if (heap == NULL)
            abort();
    }
    /* What is due at the same time comes in any order. */
    due.order = chance_draw(1 << 20) << 40 | order++;
    size_t at = heap_count++;
    for (; at > 0 && is_before(&due, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = due;
}

static struct due pop(void)
{
    struct due first = heap[0], last = heap[--heap_count];
    size_t at = 0;
    for (size_t child = 1; child < heap_count; child = 2 * at + 1) {
        if (child + 1 < heap_count && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}

void world_at(int64_t at_us, void (*happens)(void *context), void *context)
{
    push((struct due){
        .at_us = at_us > now_us ? at_us : now_us, .happens = happens, .context = context});
}

/* ---- switching ---- */

static void to_scheduler(struct thread *thread, bool ends)
{
#ifdef FIBERS
    __sanitizer_start_switch_fiber(ends ? NULL : &thread->fake_stack, scheduler_stack,
                                   scheduler_stack_size);
#else
    (void)thread, (void)ends;
#endif
    _longjmp(scheduler, 1);
}

static void begin(void)
{
    struct thread *thread = current;
#ifdef FIBERS
    __sanitizer_finish_switch_fiber(NULL, &scheduler_stack, &scheduler_stack_size);
#endif
    thread->body(thread->argument);
    thread->done = true;
    to_scheduler(thread, true);
}

static void go_on(struct thread *thread)
{
    current = thread;
    turns++;
    mix(thread->number);
    if (_setjmp(scheduler) == 0) {
#ifdef FIBERS
        __sanitizer_start_switch_fiber(&scheduler_fake_stack, thread->stack, STACK_BYTES);
#endif
        if (thread->begun)
            _longjmp(thread->at, 1);
        thread->begun = true;
        setcontext(&thread->first);
    }
#ifdef FIBERS
    __sanitizer_finish_switch_fiber(scheduler_fake_stack, NULL, NULL);
#endif
    current = NULL;
    if (thread->done)
        thread->used = false;
}

_Noreturn void thread_end(void)
{
    current->done = true;
    to_scheduler(current, true);
    abort();
}

void thread_sleep_until(int64_t until_us)
{
    struct thread *thread = current;
    thread->turn++;
    thread->wake_us = until_us > now_us ? until_us : now_us;
    if (until_us != NEVER)
        push((struct due){.at_us = thread->wake_us, .thread = thread, .turn = thread->turn});
    if (_setjmp(thread->at) == 0)
        to_scheduler(thread, false);
#ifdef FIBERS
    __sanitizer_finish_switch_fiber(thread->fake_stack, NULL, NULL);
#endif
}

void thread_wake_at(struct thread *thread, int64_t at_us)
{
    if (thread->done || at_us >= thread->wake_us)
        return;
    thread->turn++;
    thread->wake_us = at_us > now_us ? at_us : now_us;
    push((struct due){.at_us = thread->wake_us, .thread = thread, .turn = thread->turn});
}

static __attribute__((noinline)) void prepare(ucontext_t *first, char *stack)
{
    getcontext(first);
    first->uc_stack.ss_sp = stack;
    first->uc_stack.ss_size = STACK_BYTES;
    makecontext(first, begin, 0);
}

struct thread *thread_start(int replica, const char *name, void *(*body)(void *), void *argument)
{
    size_t free_one = 0;
    while (free_one < THREADS_MAX && threads[free_one].used)
        free_one++;
    if (free_one == THREADS_MAX)
        return NULL;
    struct thread *thread = &threads[free_one];
    char *stack = thread->stack;
    if (stack == NULL)
        stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED)
        abort();
    uint64_t turn = thread->turn + 1;
    *thread = (struct thread){.number = (unsigned)free_one,
                              .replica = replica,
                              .name = name,
                              .body = body,
                              .argument = argument,
                              .used = true,
                              .turn = turn,
                              .id = ++ids,
                              .wake_us = now_us,
                              .stack = stack};
    prepare(&thread->first, stack);
    push((struct due){.at_us = now_us, .thread = thread, .turn = turn});
    return thread;
}

struct thread *thread_current(void)
{
    return current;
}

int thread_replica(void)
{
    return current == NULL ? WORLD : current->replica;
}

void threads_kill(int replica)
{
    for (size_t i = 0; i < THREADS_MAX; i++)
        if (threads[i].used && threads[i].replica == replica && &threads[i] != current) {
            threads[i].used = false;
            threads[i].turn++;
        }
}

unsigned threads_of(int replica)
{
    unsigned count = 0;
    for (size_t i = 0; i < THREADS_MAX; i++)
        count += threads[i].used && threads[i].replica == replica && threads[i].name == by_program;
    return count;
}

void replica_freeze(int replica, int64_t until_us)
{
    frozen_until_us[replica] = until_us;
}

void replica_set_clock(int replica, int64_t ahead)
{
    ahead_us[replica] = ahead;
}

int64_t replica_clock_ahead_us(int replica)
{
    return ahead_us[replica];
}

static void run_thread(struct due due)
{
    struct thread *thread = due.thread;
    if (!thread->used || due.turn != thread->turn)
        return;
    int64_t frozen_us = thread->replica == WORLD ? 0 : frozen_until_us[thread->replica];
    if (frozen_us > now_us) {
        due.at_us = frozen_us;
        push(due);
        return;
    }
    if (turns_now++ > TURNS_AT_ONCE)
        check_failed("a thread of replica %d spins: %s", thread->replica, thread->name);
    thread->wake_us = NEVER;
    go_on(thread);
}

void world_run(int64_t until_us)
{
    while (heap_count > 0 && heap[0].at_us <= until_us) {
        struct due due = pop();
        if (due.at_us > now_us) {
            now_us = due.at_us;
            turns_now = 0;
        }
        if (due.thread != NULL)
            run_thread(due);
        else
            due.happens(due.context);
        check_step();
    }
    if (now_us < until_us)
        now_us = until_us;
}

/* ---- clocks: base/clock.c is not linked ---- */

/* Who asks for the time may have waited for a processor. */
static void starve(void)
{
    if (current == NULL || !chance_of(DEED_STARVE, STARVE_IN_MILLION))
        return;
    bool long_one = chance_of_deed(DEED_STARVE, 50) == 0;
    int64_t most_us = long_one ? 3 * SECOND : 5 * MS;
    int64_t us = 1 + (int64_t)chance_of_deed(DEED_STARVE, (uint64_t)most_us);
    if (chance_of_deed(DEED_STARVE, 4) == 0)
        current->cpu_us += us; /* it worked */
    thread_sleep_until(now_us + us);
}

int64_t monotonic_us(void)
{
    starve();
    return now_us;
}

int64_t monotonic_ms(void)
{
    return monotonic_us() / 1000;
}

int64_t unix_us(void)
{
    int replica = thread_replica();
    return start_unix_us + now_us + (replica == WORLD ? 0 : ahead_us[replica]);
}

int64_t thread_cpu_us(void)
{
    return current == NULL ? 0 : current->cpu_us;
}

struct timespec timespec_of_ms(int64_t ms)
{
    return (struct timespec){ms / 1000, ms % 1000 * 1000000};
}

time_t __wrap_time(time_t *result);
time_t __wrap_time(time_t *result)
{
    time_t seconds = (time_t)(unix_us() / SECOND);
    if (result != NULL)
        *result = seconds;
    return seconds;
}

int __wrap_nanosleep(const struct timespec *for_time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *for_time, struct timespec *left)
{
    (void)left;
    thread_sleep_until(now_us + for_time->tv_sec * SECOND + for_time->tv_nsec / 1000);
    return 0;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
                           struct timespec *left);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
                           struct timespec *left)
{
    (void)clock, (void)flags, (void)left; /* the one use is absolute, of the monotonic clock */
    thread_sleep_until(until->tv_sec * SECOND + until->tv_nsec / 1000);
    return 0;
}

int __wrap_sched_yield(void);
int __wrap_sched_yield(void)
{
    thread_sleep_until(now_us + 1);
    return 0;
}

/* ---- threads ---- */

int __wrap_pthread_create(pthread_t *result, const pthread_attr_t *attributes,
                          void *(*body)(void *), void *argument);
int __wrap_pthread_create(pthread_t *result, const pthread_attr_t *attributes,
                          void *(*body)(void *), void *argument)
{
    (void)attributes;
    struct thread *thread = thread_start(thread_replica(), by_program, body, argument);
    if (thread == NULL)
        return EAGAIN;
    *result = (pthread_t)thread->id;
    return 0;
}

static bool runs(uint64_t id)
{
    for (size_t i = 0; i < THREADS_MAX; i++)
        if (threads[i].used && threads[i].id == id)
            return true;
    return false;
}

int __wrap_pthread_join(pthread_t joined, void **result);
int __wrap_pthread_join(pthread_t joined, void **result)
{
    (void)result;
    while (runs((uint64_t)joined))
        thread_sleep_until(now_us + MS);
    return 0;
}

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (current == NULL)
        return __real_pthread_mutex_lock(mutex);
    if (chance_of(DEED_PREEMPT, PREEMPT_IN_MILLION))
        thread_sleep_until(now_us + (int64_t)chance_of_deed(DEED_PREEMPT, 2000));
    while (pthread_mutex_trylock(mutex) == EBUSY)
        thread_sleep_until(now_us + 10);
    return 0;
}

static int wait_for(const void *condition, pthread_mutex_t *mutex, int64_t until_us)
{
    struct thread *thread = current;
    thread->waits_for = condition;
    thread->waits_since = waiters++;
    thread->signalled = false;
    pthread_mutex_unlock(mutex);
    thread_sleep_until(until_us);
    thread->waits_for = NULL;
    while (pthread_mutex_trylock(mutex) == EBUSY)
        thread_sleep_until(now_us + 10);
    return thread->signalled ? 0 : ETIMEDOUT;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    return wait_for(condition, mutex, until->tv_sec * SECOND + until->tv_nsec / 1000);
}

int __wrap_pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  clockid_t clock, const struct timespec *until);
int __wrap_pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  clockid_t clock, const struct timespec *until)
{
    (void)clock;
    return wait_for(condition, mutex, until->tv_sec * SECOND + until->tv_nsec / 1000);
}

static struct thread *longest_waiting(const void *condition)
{
    struct thread *first = NULL;
    for (size_t i = 0; i < THREADS_MAX; i++)
        if (threads[i].used && threads[i].waits_for == condition && !threads[i].signalled &&
            (first == NULL || threads[i].waits_since < first->waits_since))
            first = &threads[i];
    return first;
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition);
int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    struct thread *thread = longest_waiting(condition);
    if (thread != NULL) {
        thread->signalled = true;
        thread_wake_at(thread, now_us);
    }
    return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition);
int __wrap_pthread_cond_broadcast(pthread_cond_t *condition)
{
    struct thread *thread;
    while ((thread = longest_waiting(condition)) != NULL) {
        thread->signalled = true;
        thread_wake_at(thread, now_us);
    }
    return 0;
}
