/* Admission: the bytes and reviews in flight, by lanes of size. */
#include "server/load_limits.h"

#include "base/clock.h"

struct waiter {
    pthread_cond_t turn;
    TAILQ_ENTRY(waiter) entry;
};

void allowance_start(struct allowance *allowance, size_t limit)
{
    *allowance = (struct allowance){
        .limit = limit,
        .mutex = PTHREAD_MUTEX_INITIALIZER,
    };
    TAILQ_INIT(&allowance->waiters);
}

static bool take_now(struct allowance *allowance, size_t amount)
{
    size_t used = atomic_load(&allowance->used);
    do {
        if (amount > allowance->limit - used)
            return false;
    } while (!atomic_compare_exchange_weak(&allowance->used, &used, used + amount));
    return true;
}

/* With the mutex held. Only the first is woken: the others would find less than it does. */
static void wake_first(struct allowance *allowance)
{
    struct waiter *first = TAILQ_FIRST(&allowance->waiters);
    if (first != NULL)
        pthread_cond_signal(&first->turn);
}

/* The waiting thread announces itself before it looks again, and the returning thread then looks
 * for waiters: sequentially consistent, so one of the two sees the other. */
static bool take_later(struct allowance *allowance, size_t amount, int64_t until_ms)
{
    const struct timespec until = timespec_of_ms(until_ms);
    struct waiter self = {.turn = PTHREAD_COND_INITIALIZER};
    pthread_mutex_lock(&allowance->mutex);
    TAILQ_INSERT_TAIL(&allowance->waiters, &self, entry);
    atomic_fetch_add(&allowance->waiting, 1);
    bool taken = false;
    for (;;) {
        if (TAILQ_FIRST(&allowance->waiters) == &self)
            taken = take_now(allowance, amount);
        if (taken || monotonic_ms() >= until_ms)
            break;
        pthread_cond_clockwait(&self.turn, &allowance->mutex, CLOCK_MONOTONIC, &until);
    }
    atomic_fetch_sub(&allowance->waiting, 1);
    TAILQ_REMOVE(&allowance->waiters, &self, entry);
    wake_first(allowance);
    pthread_mutex_unlock(&allowance->mutex);
    pthread_cond_destroy(&self.turn);
    return taken;
}

bool allowance_take(struct allowance *allowance, size_t amount, int64_t *wait_ms)
{
    if (take_now(allowance, amount))
        return true;
    if (*wait_ms <= 0 || amount > allowance->limit)
        return false;
    int64_t began_ms = monotonic_ms();
    bool taken = take_later(allowance, amount, began_ms + *wait_ms);
    *wait_ms -= monotonic_ms() - began_ms;
    return taken;
}

void allowance_return(struct allowance *allowance, size_t amount)
{
    atomic_fetch_sub(&allowance->used, amount);
    if (atomic_load(&allowance->waiting) == 0)
        return;
    pthread_mutex_lock(&allowance->mutex);
    wake_first(allowance);
    pthread_mutex_unlock(&allowance->mutex);
}

void load_limits_start(struct load_limits *load_limits, const struct lane_limits limits[LANE_COUNT])
{
    static const char *const names[LANE_COUNT] = {[LANE_SMALL] = "small", [LANE_LARGE] = "large"};
    for (enum lane_name name = LANE_SMALL; name < LANE_COUNT; name++) {
        struct lane *lane = &load_limits->lanes[name];
        lane->name = names[name];
        allowance_start(&lane->body_bytes, limits[name].body_bytes);
        allowance_start(&lane->reviews, limits[name].reviews);
        allowance_start(&lane->arena_bytes, limits[name].arena_bytes);
        allowance_start(&lane->turns, limits[name].turns);
    }
}

enum lane_name lane_for(size_t body_bytes)
{
    return body_bytes <= SMALL_BODY_BYTES ? LANE_SMALL : LANE_LARGE;
}

bool lane_enter(struct lane *lane, size_t arena_bytes, int64_t *wait_ms)
{
    if (!allowance_take(&lane->reviews, 1, wait_ms))
        return false;
    if (allowance_take(&lane->arena_bytes, arena_bytes, wait_ms))
        return true;
    allowance_return(&lane->reviews, 1);
    return false;
}

void lane_leave(struct lane *lane, size_t arena_bytes, size_t stored_bytes)
{
    allowance_return(&lane->arena_bytes, arena_bytes - stored_bytes);
    allowance_return(&lane->reviews, 1);
}
