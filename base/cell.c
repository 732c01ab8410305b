/* A pointer that one thread replaces while others read it, without a lock on their way. */
#include "base/base.h"

#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"

enum {
    CACHE_LINE_BYTES = 64,
    SPARE_VALUES = 64, /* that may wait for a pending slot, besides the pinned ones */
};

/* Empty, PENDING while its thread is between announcing and knowing what it pins, or what it
 * pins. On a cache line of its own, because its thread writes it for every request. */
struct slot {
    alignas(CACHE_LINE_BYTES) _Atomic(const void *) pinned;
};
static const char pending;
#define PENDING ((const void *)&pending)

struct value {
    void *pointer;
    void (*destroy)(void *);
};

struct cell {
    alignas(CACHE_LINE_BYTES) _Atomic(const void *) published;
    atomic_uint_fast64_t count; /* of those published */
    /* For threads that wait for the next one; cell_pin does not read it. */
    atomic_uint waiting;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    /* Only the writer uses these. */
    struct value current;
    struct value *retired; /* always has room for one more */
    size_t retired_count, retired_capacity;
    unsigned slot_count;
    struct slot slots[];
};

struct cell *cell_create(unsigned slot_count)
{
    struct cell *cell = NULL;
    size_t size = sizeof *cell + slot_count * sizeof *cell->slots;
    if (posix_memalign((void **)&cell, CACHE_LINE_BYTES, size) != 0)
        return NULL;
    *cell = (struct cell){.slot_count = slot_count};
    cell->retired_capacity = (size_t)slot_count + SPARE_VALUES;
    cell->retired = calloc(cell->retired_capacity, sizeof *cell->retired);
    if (cell->retired == NULL) {
        free(cell);
        return NULL;
    }
    for (unsigned i = 0; i < slot_count; i++)
        atomic_init(&cell->slots[i].pinned, NULL);
    atomic_init(&cell->published, NULL);
    pthread_condattr_t by_monotonic_clock;
    pthread_condattr_init(&by_monotonic_clock);
    pthread_condattr_setclock(&by_monotonic_clock, CLOCK_MONOTONIC);
    pthread_cond_init(&cell->changed, &by_monotonic_clock);
    pthread_condattr_destroy(&by_monotonic_clock);
    pthread_mutex_init(&cell->mutex, NULL);
    return cell;
}

static void destroy(struct value value)
{
    if (value.pointer != NULL && value.destroy != NULL)
        value.destroy(value.pointer);
}

void cell_destroy(struct cell *cell)
{
    if (cell == NULL)
        return;
    for (size_t i = 0; i < cell->retired_count; i++)
        destroy(cell->retired[i]);
    destroy(cell->current);
    pthread_cond_destroy(&cell->changed);
    pthread_mutex_destroy(&cell->mutex);
    free(cell->retired);
    free(cell);
}

/* The slot is announced before the published pointer is loaded, in the one order of all
 * sequentially consistent operations. So a writer that has exchanged the pointer afterwards finds
 * the slot pending, pinning, or already done. */
const void *cell_pin(struct cell *cell, unsigned slot)
{
    atomic_store(&cell->slots[slot].pinned, PENDING);
    const void *value = atomic_load(&cell->published);
    atomic_store_explicit(&cell->slots[slot].pinned, value, memory_order_release);
    return value;
}

void cell_unpin(struct cell *cell, unsigned slot)
{
    atomic_store_explicit(&cell->slots[slot].pinned, NULL, memory_order_release);
}

uint64_t cell_count(const struct cell *cell)
{
    return atomic_load(&cell->count);
}

/* The waiting thread announces itself before it reads the count. The publisher counts before it
 * looks for waiting threads. So one of the two sees the other. */
bool cell_await(struct cell *cell, uint64_t count, int64_t for_ms)
{
    const struct timespec until = timespec_of_ms(monotonic_ms() + (for_ms > 0 ? for_ms : 0));
    atomic_fetch_add(&cell->waiting, 1);
    pthread_mutex_lock(&cell->mutex);
    while (cell_count(cell) == count &&
           pthread_cond_timedwait(&cell->changed, &cell->mutex, &until) == 0)
        ;
    pthread_mutex_unlock(&cell->mutex);
    atomic_fetch_sub(&cell->waiting, 1);
    return cell_count(cell) != count;
}

static void tell_waiting(struct cell *cell)
{
    atomic_fetch_add(&cell->count, 1);
    if (atomic_load(&cell->waiting) == 0)
        return;
    pthread_mutex_lock(&cell->mutex);
    pthread_cond_broadcast(&cell->changed);
    pthread_mutex_unlock(&cell->mutex);
}

/* A pending slot may pin any value. */
static bool is_pinned(struct cell *cell, const void *value)
{
    for (unsigned i = 0; i < cell->slot_count; i++) {
        const void *pinned = atomic_load(&cell->slots[i].pinned);
        if (pinned == value || pinned == PENDING)
            return true;
    }
    return false;
}

static void destroy_unpinned(struct cell *cell)
{
    size_t kept = 0;
    for (size_t i = 0; i < cell->retired_count; i++) {
        struct value retired = cell->retired[i];
        if (is_pinned(cell, retired.pointer))
            cell->retired[kept++] = retired;
        else
            destroy(retired);
    }
    cell->retired_count = kept;
}

void cell_publish(struct cell *cell, void *value, void (*destroy_value)(void *))
{
    struct value replaced = cell->current;
    cell->current = (struct value){value, destroy_value};
    atomic_exchange(&cell->published, value);
    tell_waiting(cell);
    if (replaced.pointer != NULL)
        cell->retired[cell->retired_count++] = replaced;
    destroy_unpinned(cell);
    /* Only when a thread was suspended between two instructions of cell_pin for many publishes. */
    while (cell->retired_count == cell->retired_capacity) {
        sched_yield();
        destroy_unpinned(cell);
    }
}
