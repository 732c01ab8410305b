/* labels: threads */
/* Cells: values that readers pin while a writer replaces them. */
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Itself, so that a test can stop a reader between two instructions. */
#include "base/cell.c"

static struct cell *new_cell(unsigned slot_count)
{
    struct cell *cell = cell_create(slot_count);
    if (cell == NULL)
        abort();
    return cell;
}

static int destroyed;

static void count_destroyed(void *value)
{
    destroyed += *(int *)value;
}

static void values_live_while_they_are_pinned(void)
{
    int values[] = {1, 10, 100, 1000};
    destroyed = 0;
    struct cell *cell = new_cell(2);
    CU_ASSERT_PTR_NULL(cell_pin(cell, 0));
    cell_unpin(cell, 0);
    cell_publish(cell, &values[0], count_destroyed);
    CU_ASSERT_PTR_EQUAL(cell_pin(cell, 0), &values[0]);
    CU_ASSERT_PTR_EQUAL(cell_pin(cell, 1), &values[0]);
    cell_publish(cell, &values[1], count_destroyed);
    ASSERT_INT(destroyed, 0);
    cell_unpin(cell, 0);
    CU_ASSERT_PTR_EQUAL(cell_pin(cell, 0), &values[1]);
    cell_publish(cell, &values[2], count_destroyed);
    ASSERT_INT(destroyed, 0); /* slot 1 pins the first, slot 0 the second */
    cell_unpin(cell, 1);
    cell_publish(cell, &values[3], count_destroyed);
    ASSERT_INT(destroyed, 101); /* the first, and the third that nobody ever pinned */
    cell_unpin(cell, 0);
    cell_publish(cell, NULL, NULL);
    ASSERT_INT(destroyed, 1111);
    CU_ASSERT_PTR_NULL(cell_pin(cell, 0));
    cell_unpin(cell, 0);
    cell_destroy(cell);
    ASSERT_INT(destroyed, 1111);
}

/* A reader that is suspended in cell_pin may have loaded any value that was published since. */
static void a_pending_slot_keeps_everything(void)
{
    enum { COUNT = 3 };
    int values[COUNT + 1] = {1, 10, 100, 1000};
    destroyed = 0;
    struct cell *cell = new_cell(1);
    cell_publish(cell, &values[0], count_destroyed);
    atomic_store(&cell->slots[0].pinned, PENDING);
    for (int i = 1; i < COUNT; i++)
        cell_publish(cell, &values[i], count_destroyed);
    ASSERT_INT(destroyed, 0);
    atomic_store(&cell->slots[0].pinned, &values[1]);
    cell_publish(cell, &values[COUNT], count_destroyed);
    ASSERT_INT(destroyed, 101);
    cell_unpin(cell, 0);
    cell_publish(cell, NULL, NULL);
    ASSERT_INT(destroyed, 1111);
    cell_destroy(cell);
}

static void a_cell_destroys_what_it_holds(void)
{
    int values[] = {1, 10};
    destroyed = 0;
    struct cell *cell = new_cell(1);
    cell_publish(cell, &values[0], count_destroyed);
    cell_pin(cell, 0);
    cell_publish(cell, &values[1], count_destroyed);
    cell_unpin(cell, 0);
    ASSERT_INT(destroyed, 0);
    cell_destroy(cell);
    ASSERT_INT(destroyed, 11);
    cell_destroy(NULL);
}

enum { READERS = 4, VALUES = 10000 };

struct world {
    unsigned long number, twice;
};

static void poison(void *value)
{
    memset(value, 0xDD, sizeof(struct world));
    free(value);
}

struct shared {
    struct cell *cell;
    atomic_bool stop;
    atomic_ulong reads, torn, backwards;
};

struct reader {
    struct shared *shared;
    unsigned slot;
};

static void *read_worlds(void *argument)
{
    struct reader *reader = argument;
    struct shared *shared = reader->shared;
    unsigned long newest = 0;
    while (!atomic_load(&shared->stop)) {
        const struct world *world = cell_pin(shared->cell, reader->slot);
        /* Read twice, so that a writer has time to free it in between. */
        for (int i = 0; i < 2; i++)
            if (world->twice != 2 * world->number)
                atomic_fetch_add(&shared->torn, 1);
        if (world->number < newest)
            atomic_fetch_add(&shared->backwards, 1);
        newest = world->number;
        cell_unpin(shared->cell, reader->slot);
        /* The writer gets a word in on a machine with few cores. */
        if (atomic_fetch_add(&shared->reads, 1) % 64 == 0)
            sched_yield();
    }
    return NULL;
}

static void publish(struct cell *cell, unsigned long number)
{
    struct world *world = malloc(sizeof *world);
    *world = (struct world){number, 2 * number};
    cell_publish(cell, world, poison);
}

/* Readers never see a value that is freed or older than one they have seen. */
static void readers_and_a_writer_share_a_cell(void)
{
    struct shared shared = {.cell = new_cell(READERS)};
    publish(shared.cell, 1);
    pthread_t threads[READERS];
    struct reader readers[READERS];
    for (unsigned i = 0; i < READERS; i++) {
        readers[i] = (struct reader){&shared, i};
        CU_ASSERT_FATAL(pthread_create(&threads[i], NULL, read_worlds, &readers[i]) == 0);
    }
    for (unsigned long number = 2; number <= VALUES; number++) {
        publish(shared.cell, number);
        /* And so do the readers. */
        if (number % 100 == 0)
            for (unsigned long seen = atomic_load(&shared.reads);
                 atomic_load(&shared.reads) == seen;)
                sched_yield();
    }
    atomic_store(&shared.stop, true);
    for (unsigned i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    cell_destroy(shared.cell);
    CU_ASSERT(shared.reads >= VALUES / 100);
    ASSERT_INT(shared.torn, 0);
    ASSERT_INT(shared.backwards, 0);
}

/* ---- waiting for the next one ---- */

enum { LONG_MS = 60000, ROUNDS = 200 };

struct expectation {
    struct cell *cell;
    uint64_t count;
    bool came;
};

static void *expect_next(void *argument)
{
    struct expectation *expectation = argument;
    expectation->came = cell_await(expectation->cell, expectation->count, LONG_MS);
    return NULL;
}

/* However the two threads meet: a word that is lost costs a minute. */
static void who_waits_is_told_of_the_next_value(void)
{
    int values[ROUNDS] = {0};
    struct cell *cell = new_cell(1);
    int64_t began_ms = monotonic_ms();
    for (int i = 0; i < ROUNDS; i++) {
        struct expectation expectation = {.cell = cell, .count = cell_count(cell)};
        pthread_t thread;
        CU_ASSERT_FATAL(pthread_create(&thread, NULL, expect_next, &expectation) == 0);
        while (i % 2 == 0 && atomic_load(&cell->waiting) == 0)
            sched_yield();
        cell_publish(cell, &values[i], NULL);
        pthread_join(thread, NULL);
        CU_ASSERT(expectation.came);
        CU_ASSERT_EQUAL(cell_count(cell), expectation.count + 1);
        CU_ASSERT(cell_await(cell, expectation.count, 0)); /* it has come already */
        CU_ASSERT_FALSE(cell_await(cell, expectation.count + 1, i < 2 ? 1 : -1));
    }
    CU_ASSERT(monotonic_ms() - began_ms < LONG_MS);
    cell_destroy(cell);
}

const char unit_suite[] = "base cell";
const struct unit_test unit_tests[] = {
    {"values live while they are pinned", values_live_while_they_are_pinned},
    {"a pending slot keeps everything", a_pending_slot_keeps_everything},
    {"a cell destroys what it holds", a_cell_destroys_what_it_holds},
    {"readers and a writer share a cell", readers_and_a_writer_share_a_cell},
    {"who waits is told of the next value", who_waits_is_told_of_the_next_value},
    {NULL, NULL},
};
