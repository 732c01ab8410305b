/* malloc and its kin as the program sees them (--wrap): each block is known, with its owner. */
#include "memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "threads.h"

struct known_block {
    void *memory; /* NULL: the place is free */
    const void *caller;
    size_t bytes;
    int replica;
};

extern const char __executable_start; /* the linker's */
static struct known_block *blocks;
static size_t capacity, count;
static size_t count_of[REPLICAS_MAX], bytes_of[REPLICAS_MAX];
static int64_t fails_until_us[REPLICAS_MAX], failed_us[REPLICAS_MAX];
static unsigned fails_one_of[REPLICAS_MAX];
static bool keeps;

void *__real_malloc(size_t size);
void *__real_calloc(size_t items, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
void __real_free(void *memory);

static void *must(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

void *world_alloc(size_t bytes)
{
    return must(__real_calloc(1, bytes));
}

void *world_realloc(void *memory, size_t bytes)
{
    return must(__real_realloc(memory, bytes));
}

void world_free(void *memory)
{
    __real_free(memory);
}

/* ---- the table ---- */

static size_t home_of(const void *memory)
{
    return (size_t)((uintptr_t)memory >> 4) * (size_t)UINT64_C(0x9E3779B97F4A7C15) >> 20 &
           (capacity - 1);
}

static size_t place_of(const void *memory)
{
    size_t at = home_of(memory);
    while (blocks[at].memory != NULL && blocks[at].memory != memory)
        at = (at + 1) & (capacity - 1);
    return at;
}

static void grow(void)
{
    struct known_block *old = blocks;
    size_t old_capacity = capacity;
    capacity = capacity == 0 ? 1 << 16 : 2 * capacity;
    blocks = world_alloc(capacity * sizeof *blocks);
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].memory != NULL)
            blocks[place_of(old[i].memory)] = old[i];
    world_free(old);
}

static void *note(void *memory, size_t bytes, const void *caller)
{
    int replica = thread_replica();
    if (memory == NULL || replica == WORLD)
        return memory;
    if (2 * count >= capacity)
        grow();
    blocks[place_of(memory)] = (struct known_block){memory, caller, bytes, replica};
    count++;
    count_of[replica]++;
    bytes_of[replica] += bytes;
    return memory;
}

static void forget(const void *memory)
{
    if (capacity == 0)
        return;
    size_t hole = place_of(memory);
    if (blocks[hole].memory == NULL)
        return;
    count--;
    count_of[blocks[hole].replica]--;
    bytes_of[blocks[hole].replica] -= blocks[hole].bytes;
    blocks[hole].memory = NULL;
    for (size_t at = (hole + 1) & (capacity - 1); blocks[at].memory != NULL;
         at = (at + 1) & (capacity - 1)) {
        size_t home = home_of(blocks[at].memory);
        if (((at - home) & (capacity - 1)) < ((at - hole) & (capacity - 1)))
            continue;
        blocks[hole] = blocks[at];
        blocks[at].memory = NULL;
        hole = at;
    }
}

/* ---- failing ---- */

void memory_fail(int replica, int64_t until_us, unsigned one_of)
{
    fails_until_us[replica] = until_us;
    fails_one_of[replica] = one_of;
}

int64_t memory_failed_us(int replica)
{
    return failed_us[replica];
}

static bool fails(void)
{
    int replica = thread_replica();
    if (replica == WORLD || world_now_us() >= fails_until_us[replica] ||
        chance_draw(fails_one_of[replica]) != 0)
        return false;
    failed_us[replica] = world_now_us();
    errno = ENOMEM;
    return true;
}

/* ---- malloc and its kin ---- */

void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : note(__real_malloc(size), size, __builtin_return_address(0));
}

void *__wrap_calloc(size_t items, size_t size);
void *__wrap_calloc(size_t items, size_t size)
{
    return fails() ? NULL
                   : note(__real_calloc(items, size), items * size, __builtin_return_address(0));
}

void *__wrap_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size)
{
    if (fails())
        return NULL;
    if (memory != NULL)
        forget(memory);
    return note(__real_realloc(memory, size), size, __builtin_return_address(0));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL
                   : note(__real_aligned_alloc(alignment, size), size, __builtin_return_address(0));
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (fails())
        return ENOMEM;
    int code = __real_posix_memalign(memory, alignment, size);
    if (code == 0)
        note(*memory, size, __builtin_return_address(0));
    return code;
}

void __wrap_free(void *memory);
void __wrap_free(void *memory)
{
    if (keeps)
        return;
    if (memory != NULL)
        forget(memory);
    __real_free(memory);
}

/* ---- of a replica ---- */

size_t memory_blocks(int replica)
{
    return count_of[replica];
}

size_t memory_bytes(int replica)
{
    return bytes_of[replica];
}

void memory_print(int replica)
{
    enum { PRINTED_MAX = 10 };
    unsigned printed = 0;
    for (size_t i = 0; i < capacity && printed < PRINTED_MAX; i++)
        if (blocks[i].memory != NULL && blocks[i].replica == replica) {
            fprintf(stderr, "  %zu bytes; addr2line -e simulate 0x%tx\n", blocks[i].bytes,
                    (const char *)blocks[i].caller - &__executable_start);
            printed++;
        }
}

void memory_keep(int replica, void (*give_up)(void))
{
    keeps = true;
    give_up();
    keeps = false;
    for (size_t i = 0; i < capacity; i++)
        while (blocks[i].memory != NULL && blocks[i].replica == replica)
            forget(blocks[i].memory); /* another may take its place */
}

void memory_drop(int replica)
{
    void **dropped = world_alloc((count + 1) * sizeof *dropped);
    size_t dropped_count = 0;
    for (size_t i = 0; i < capacity; i++)
        if (blocks[i].memory != NULL && blocks[i].replica == replica)
            dropped[dropped_count++] = blocks[i].memory;
    for (size_t i = 0; i < dropped_count; i++)
        __wrap_free(dropped[i]);
    world_free(dropped);
    fails_until_us[replica] = 0;
}

/* The program asks for both to give memory back to the system. */
int __wrap_malloc_trim(size_t kept);
int __wrap_malloc_trim(size_t kept)
{
    (void)kept;
    return 0;
}

int __wrap_mallopt(int option, int value);
int __wrap_mallopt(int option, int value)
{
    (void)option, (void)value;
    return 1;
}
