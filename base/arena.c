#include "base/base.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define ARENA_POISON 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define ARENA_POISON 1
#endif
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
 * clears what was used of the one it keeps. */
struct arena {
    char *next, *end;
    struct block *last;
    size_t used_bytes, budget_bytes;
    size_t next_block_bytes;
    struct guard *guard;
    size_t wanted_bytes; /* by the allocation that failed */
    bool budget_exceeded;
};

struct arena *arena_create(size_t budget_bytes)
{
    struct arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL)
        return NULL;
    arena->budget_bytes = budget_bytes;
    arena->next_block_bytes = FIRST_BLOCK_BYTES;
    return arena;
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
    free(arena);
}

/* The largest block that is not larger than a request usually needs: kept, so that a series of
 * equal requests ends up with one block that fits them. */
static struct block *block_to_keep(struct block *last)
{
    struct block *kept = NULL;
    for (struct block *block = last; block != NULL; block = block->previous)
        if (block_size(block) <= LARGEST_BLOCK_BYTES &&
            (kept == NULL || block_size(block) > block_size(kept)))
            kept = block;
    return kept;
}

void arena_reset(struct arena *arena)
{
    struct block *kept = block_to_keep(arena->last);
    char *used_end = kept == arena->last ? arena->next : NULL;
    for (struct block *block = arena->last, *previous; block != NULL; block = previous) {
        previous = block->previous;
        if (block != kept)
            block_free(block);
    }
    arena->last = kept;
    arena->next = arena->end = NULL;
    arena->used_bytes = 0;
    if (kept == NULL)
        return;
    kept->previous = NULL;
    size_t used_bytes = used_end == NULL ? block_size(kept) : (size_t)(used_end - kept->data);
    ASAN_UNPOISON_MEMORY_REGION(kept->data, used_bytes);
    memset(kept->data, 0, used_bytes);
    ASAN_POISON_MEMORY_REGION(kept->data, block_size(kept));
    arena->next = kept->data;
    arena->end = kept->end;
}

size_t arena_used_bytes(const struct arena *arena)
{
    return arena->used_bytes;
}

static _Noreturn void arena_fail(struct arena *arena, size_t wanted_bytes, bool budget_exceeded)
{
    arena->wanted_bytes = wanted_bytes;
    arena->budget_exceeded = budget_exceeded;
    if (arena->guard != NULL)
        longjmp(arena->guard->jump, 1);
    fprintf(stderr, "taffrail: %zu bytes of memory wanted, %zu in use, budget %zu: %s\n",
            wanted_bytes, arena->used_bytes, arena->budget_bytes,
            budget_exceeded ? "over the budget" : "the system gives no more");
    abort();
}

static void arena_add_block(struct arena *arena, size_t size_bytes)
{
    size_t block_bytes = arena->next_block_bytes;
    if (block_bytes < LARGEST_BLOCK_BYTES)
        arena->next_block_bytes = 2 * block_bytes;
    if (block_bytes < size_bytes + REDZONE_BYTES)
        block_bytes = size_bytes + REDZONE_BYTES;
    struct block *block = calloc(1, sizeof *block + block_bytes);
    if (block == NULL)
        arena_fail(arena, size_bytes, false);
    block->end = block->data + block_bytes;
    block->previous = arena->last;
    ASAN_POISON_MEMORY_REGION(block->data, block_bytes);
    arena->last = block;
    arena->next = block->data;
    arena->end = block->end;
}

static void *arena_take(struct arena *arena, size_t size_bytes, size_t alignment)
{
    size_t padding = -(uintptr_t)arena->next & (alignment - 1);
    size_t left = arena->budget_bytes - arena->used_bytes;
    if (left < padding || left - padding < size_bytes || size_bytes > PTRDIFF_MAX / 2)
        arena_fail(arena, size_bytes, true);
    if ((size_t)(arena->end - arena->next) < size_bytes + padding + REDZONE_BYTES) {
        arena_add_block(arena, size_bytes);
        padding = 0;
    }
    char *memory = arena->next + padding;
    arena->next = memory + size_bytes + REDZONE_BYTES;
    arena->used_bytes += size_bytes + padding;
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
        arena_fail(arena, SIZE_MAX, true);
    return arena_alloc(arena, total);
}

void *arena_grow(struct arena *arena, const void *items, size_t *capacity, size_t size_bytes)
{
    size_t old = *capacity;
    if (old > SIZE_MAX / 2)
        arena_fail(arena, SIZE_MAX, true);
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
        arena_fail(arena, SIZE_MAX, true);
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
    if (arena->budget_exceeded)
        return error_set(error, ERROR_LIMIT, NOWHERE,
                         "memory budget of %zu bytes exhausted: %zu in use, %zu more wanted; "
                         "make the input smaller or raise the limit",
                         arena->budget_bytes, arena->used_bytes, arena->wanted_bytes);
    return error_set(error, ERROR_MEMORY, NOWHERE,
                     "the system gives no more memory: %zu bytes in use, %zu more wanted",
                     arena->used_bytes, arena->wanted_bytes);
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
