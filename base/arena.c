/* Memory in arenas: taken piece by piece, bounded, given back as a whole. */
#include "base/arena_internal.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef ARENA_POISON
#include <sanitizer/asan_interface.h>
/* Bytes between two allocations that nobody may touch. */
enum { REDZONE_BYTES = 16, TEXT_ALIGNMENT = 8 };
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
enum { REDZONE_BYTES = 0, TEXT_ALIGNMENT = 1 };
#endif

enum {
    FIRST_BLOCK_BYTES = 16 << 10,
    LARGEST_BLOCK_BYTES = 1 << 20, /* of what grows by itself; one allocation may be larger */
    WATCH_BYTES = 64 << 10,        /* a watch is asked after this many bytes */
    WATCH_STEPS = 64 << 10,        /* or after this many steps */
};

struct block {
    struct block *previous;
    char *end;
    alignas(max_align_t) char data[];
};

struct guard {
    struct guard *outer;
    jmp_buf jump;
};

/* Memory between next and the end of the last block is zero: blocks come from calloc, and a reset
 * clears the used part of the block it keeps. */
struct arena {
    struct arena_room room;
    struct block *last;
    size_t budget_bytes, full_budget_bytes; /* now, and after a reset */
    size_t next_block_bytes;
    struct guard *guard;
    struct arena_watch watch; /* ask NULL: none */
    size_t steps_left;        /* until the watch is asked */
    struct block *reserve;    /* NULL: none */
    struct {
        bool open;
        char *next, *end; /* of the last block, meanwhile */
    } aside;
    enum arena_end ended; /* the last guard that failed */
    int reason;           /* what the watch said */
    size_t wanted_bytes;  /* by the allocation that failed */
};
_Static_assert(offsetof(struct arena, room) == 0, "an arena is used as its room (base/arena.h)");

struct arena *arena_create(size_t budget_bytes)
{
    struct arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL)
        return NULL;
    arena->budget_bytes = arena->full_budget_bytes = arena->room.stop_bytes = budget_bytes;
    arena->next_block_bytes = FIRST_BLOCK_BYTES;
    return arena;
}

/* The watch shares the test for the budget, so that an allocation below both costs nothing more.
 * taken_bytes are about to be taken, within the budget. */
static void watch_next(struct arena *arena, size_t taken_bytes)
{
    size_t used_bytes = arena->room.used_bytes + taken_bytes;
    bool near = arena->watch.ask == NULL || arena->budget_bytes - used_bytes < WATCH_BYTES;
    arena->room.stop_bytes = near ? arena->budget_bytes : used_bytes + WATCH_BYTES;
    arena->steps_left = WATCH_STEPS;
}

static size_t block_size(const struct block *block)
{
    return (size_t)(block->end - block->data);
}

static void block_free(struct block *block)
{
    ASAN_UNPOISON_MEMORY_REGION(block->data, block_size(block));
    free(block);
}

void arena_destroy(struct arena *arena)
{
    if (arena == NULL)
        return;
    for (struct block *block = arena->last, *previous; block != NULL; block = previous) {
        previous = block->previous;
        block_free(block);
    }
    if (arena->reserve != NULL)
        block_free(arena->reserve);
    free(arena);
}

/* The largest block that is not larger than a usual request needs, so that a series of equal
 * requests ends up with one block that fits them. */
static struct block *block_to_keep(struct block *last)
{
    struct block *kept = NULL;
    for (struct block *block = last; block != NULL; block = block->previous)
        if (block_size(block) <= LARGEST_BLOCK_BYTES &&
            (kept == NULL || block_size(block) > block_size(kept)))
            kept = block;
    return kept;
}

/* Zeroes the used part of a block, from a place in it up to another. */
static void block_clear(struct block *block, char *from, const char *to)
{
    ASAN_UNPOISON_MEMORY_REGION(from, (size_t)(to - from));
    memset(from, 0, (size_t)(to - from));
    ASAN_POISON_MEMORY_REGION(from, (size_t)(block->end - from));
}

static void reserve_close(struct arena *arena)
{
    if (!arena->aside.open)
        return;
    block_clear(arena->reserve, arena->reserve->data, arena->room.next);
    arena->room.next = arena->aside.next;
    arena->room.end = arena->aside.end;
    arena->aside.open = false;
    arena->budget_bytes = arena->full_budget_bytes;
}

void arena_reset(struct arena *arena)
{
    reserve_close(arena);
    arena_watch(arena, NULL);
    struct block *kept = block_to_keep(arena->last);
    const char *used_end = kept == arena->last ? arena->room.next : NULL;
    for (struct block *block = arena->last, *previous; block != NULL; block = previous) {
        previous = block->previous;
        if (block != kept)
            block_free(block);
    }
    arena->last = kept;
    arena->room.next = arena->room.end = NULL;
    arena->room.used_bytes = 0;
    arena->ended = ARENA_WENT_ON;
    if (kept == NULL)
        return;
    kept->previous = NULL;
    block_clear(kept, kept->data, used_end == NULL ? kept->end : used_end);
    arena->room.next = kept->data;
    arena->room.end = kept->end;
}

struct arena_mark arena_mark(const struct arena *arena)
{
    return (struct arena_mark){arena->last, arena->room.next, arena->room.used_bytes};
}

void arena_rewind(struct arena *arena, struct arena_mark mark)
{
    const char *used_end = arena->room.next;
    if (arena->aside.open) {
        block_clear(arena->reserve, mark.next, used_end);
        arena->room.next = mark.next;
        arena->room.used_bytes = mark.used_bytes;
        return;
    }
    while (arena->last != NULL && arena->last != mark.block) {
        struct block *block = arena->last;
        arena->last = block->previous;
        used_end = arena->last == NULL ? NULL : arena->last->end;
        block_free(block);
    }
    arena->room.next = mark.next;
    arena->room.end = arena->last == NULL ? NULL : arena->last->end;
    if (arena->last != NULL)
        block_clear(arena->last, mark.next, used_end);
    arena->room.used_bytes = mark.used_bytes;
    watch_next(arena, 0);
}

/* An allocation this large has a block of its own. */
void arena_release(struct arena *arena, const void *memory, size_t size_bytes)
{
    if (size_bytes <= LARGEST_BLOCK_BYTES || arena->aside.open)
        return;
    struct block **at = &arena->last;
    while (*at != NULL && (*at)->data != memory)
        at = &(*at)->previous;
    struct block *block = *at;
    if (block == NULL)
        return;
    *at = block->previous;
    if (arena->room.end == block->end)
        arena->room.next = arena->room.end = arena->last == NULL ? NULL : arena->last->end;
    arena->room.used_bytes -= size_bytes;
    watch_next(arena, 0);
    block_free(block);
}

size_t arena_used_bytes(const struct arena *arena)
{
    return arena->room.used_bytes;
}

size_t arena_budget_bytes(const struct arena *arena)
{
    return arena->full_budget_bytes;
}

static const char *const end_names[] = {
    [ARENA_WENT_ON] = "nothing is wrong",
    [ARENA_OVER_BUDGET] = "over the budget",
    [ARENA_NO_MEMORY] = "the system gives no more",
    [ARENA_STOPPED] = "its watch stopped it",
};

static _Noreturn void arena_fail(struct arena *arena, size_t wanted_bytes, enum arena_end ended)
{
    arena->wanted_bytes = wanted_bytes;
    arena->ended = ended;
    if (arena->guard != NULL)
        longjmp(arena->guard->jump, 1);
    fprintf(stderr, "taffrail: %zu bytes of memory wanted, %zu in use, budget %zu: %s\n",
            wanted_bytes, arena->room.used_bytes, arena->budget_bytes, end_names[ended]);
    abort();
}

/* ---- the watch ---- */

/* Without a guard nobody could handle the end. */
static void watch_ask(struct arena *arena, size_t taken_bytes)
{
    watch_next(arena, taken_bytes);
    if (arena->watch.ask == NULL || arena->guard == NULL)
        return;
    arena->reason = arena->watch.ask(arena->watch.context);
    if (arena->reason != 0)
        arena_fail(arena, 0, ARENA_STOPPED);
}

void arena_watch(struct arena *arena, const struct arena_watch *watch)
{
    static const struct arena_watch none = {0};
    arena->watch = *(watch == NULL ? &none : watch);
    watch_next(arena, 0);
}

void arena_watch_as(struct arena *arena, const struct arena *other)
{
    arena_watch(arena, &other->watch);
}

void arena_tick(struct arena *arena, size_t steps)
{
    if (steps < arena->steps_left)
        arena->steps_left -= steps;
    else
        watch_ask(arena, 0);
}

enum arena_end arena_ended(const struct arena *arena, int *reason)
{
    *reason = arena->ended == ARENA_STOPPED ? arena->reason : 0;
    return arena->ended;
}

/* ---- the reserve ---- */

static struct block *block_new(size_t bytes)
{
    struct block *block = calloc(1, sizeof *block + bytes);
    if (block == NULL)
        return NULL;
    block->end = block->data + bytes;
    ASAN_POISON_MEMORY_REGION(block->data, bytes);
    return block;
}

bool arena_reserve(struct arena *arena, size_t size_bytes)
{
    arena->reserve = block_new(size_bytes);
    return arena->reserve != NULL;
}

void arena_open_reserve(struct arena *arena)
{
    if (arena->reserve == NULL || arena->aside.open)
        return;
    arena->aside.open = true;
    arena->aside.next = arena->room.next;
    arena->aside.end = arena->room.end;
    arena->room.next = arena->reserve->data;
    arena->room.end = arena->reserve->end;
    arena->budget_bytes = arena->room.used_bytes + block_size(arena->reserve);
    arena_watch(arena, NULL);
}

static void arena_add_block(struct arena *arena, size_t size_bytes)
{
    if (arena->aside.open)
        arena_fail(arena, size_bytes, ARENA_OVER_BUDGET);
    size_t block_bytes = arena->next_block_bytes;
    if (block_bytes < LARGEST_BLOCK_BYTES)
        arena->next_block_bytes = 2 * block_bytes;
    if (block_bytes < size_bytes + REDZONE_BYTES)
        block_bytes = size_bytes + REDZONE_BYTES;
    struct block *block = block_new(block_bytes);
    if (block == NULL)
        arena_fail(arena, size_bytes, ARENA_NO_MEMORY);
    block->previous = arena->last;
    arena->last = block;
    arena->room.next = block->data;
    arena->room.end = block->end;
}

/* At the watch, or over the budget. */
static void arena_stop(struct arena *arena, size_t size_bytes, size_t padding)
{
    size_t left = arena->budget_bytes - arena->room.used_bytes;
    if (left < padding || left - padding < size_bytes || size_bytes > PTRDIFF_MAX / 2)
        arena_fail(arena, size_bytes, ARENA_OVER_BUDGET);
    watch_ask(arena, padding + size_bytes);
}

static void *arena_take(struct arena *arena, size_t size_bytes, size_t alignment)
{
    size_t padding = -(uintptr_t)arena->room.next & (alignment - 1);
    size_t left = arena->room.stop_bytes - arena->room.used_bytes;
    if (left < padding || left - padding < size_bytes || size_bytes > PTRDIFF_MAX / 2)
        arena_stop(arena, size_bytes, padding);
    if ((size_t)(arena->room.end - arena->room.next) < size_bytes + padding + REDZONE_BYTES) {
        arena_add_block(arena, size_bytes);
        padding = 0;
    }
    char *memory = arena->room.next + padding;
    arena->room.next = memory + size_bytes + REDZONE_BYTES;
    arena->room.used_bytes += size_bytes + padding;
    ASAN_UNPOISON_MEMORY_REGION(memory, size_bytes);
    return memory;
}

void *arena_alloc(struct arena *arena, size_t size_bytes)
{
    return arena_take(arena, size_bytes == 0 ? 1 : size_bytes, alignof(max_align_t));
}

void *arena_array(struct arena *arena, size_t count, size_t size_bytes)
{
    size_t total;
    if (__builtin_mul_overflow(count, size_bytes, &total))
        arena_fail(arena, SIZE_MAX, ARENA_OVER_BUDGET);
    return arena_alloc(arena, total);
}

void *arena_grow(struct arena *arena, const void *items, size_t *capacity, size_t size_bytes)
{
    size_t old = *capacity;
    if (old > SIZE_MAX / 2)
        arena_fail(arena, SIZE_MAX, ARENA_OVER_BUDGET);
    size_t grown = old == 0 ? 8 : 2 * old;
    char *memory = arena_array(arena, grown, size_bytes);
    if (old != 0)
        memcpy(memory, items, old * size_bytes);
    *capacity = grown;
    return memory;
}

struct text arena_text(struct arena *arena, struct text t)
{
    if (t.size == SIZE_MAX)
        arena_fail(arena, SIZE_MAX, ARENA_OVER_BUDGET);
    char *copy = arena_take(arena, t.size + 1, TEXT_ALIGNMENT);
    if (t.size != 0)
        memcpy(copy, t.data, t.size);
    return (struct text){copy, t.size};
}

struct text arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    char buffer[256];
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(buffer, sizeof buffer, format, args);
    struct text t = {"", 0};
    if (size >= 0 && (size_t)size < sizeof buffer) {
        t = arena_text(arena, (struct text){buffer, (size_t)size});
    } else if (size >= 0) {
        char *data = arena_take(arena, (size_t)size + 1, TEXT_ALIGNMENT);
        vsnprintf(data, (size_t)size + 1, format, again);
        t = (struct text){data, (size_t)size};
    }
    va_end(again);
    return t;
}

struct text arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct text t = arena_vprintf(arena, format, args);
    va_end(args);
    return t;
}

static bool failure_set(const struct arena *arena, struct error *error)
{
    if (arena->ended == ARENA_STOPPED)
        return error_set(error, ERROR_LIMIT, NOWHERE, "stopped before the end: its time is over");
    if (arena->ended == ARENA_OVER_BUDGET)
        return error_set(error, ERROR_LIMIT, NOWHERE,
                         "memory budget of %zu bytes exhausted: %zu in use, %zu more wanted; "
                         "make the input smaller",
                         arena->budget_bytes, arena->room.used_bytes, arena->wanted_bytes);
    return error_set(error, ERROR_MEMORY, NOWHERE,
                     "the system gives no more memory: %zu bytes in use, %zu more wanted",
                     arena->room.used_bytes, arena->wanted_bytes);
}

bool arena_guard(struct arena *arena, void (*body)(void *), void *argument, struct error *error)
{
    struct guard guard = {.outer = arena->guard};
    if (setjmp(guard.jump) != 0) {
        arena->guard = guard.outer;
        return failure_set(arena, error);
    }
    arena->guard = &guard;
    body(argument);
    arena->guard = guard.outer;
    return true;
}

int arena_asked(const struct arena *arena)
{
    return arena->watch.ask == NULL ? 0 : arena->watch.ask(arena->watch.context);
}
