/* How an arena hands out memory, for the files of base whose allocations are many. */
#ifndef TAFFRAIL_BASE_ARENA_INTERNAL_H
#define TAFFRAIL_BASE_ARENA_INTERNAL_H

#include <stdalign.h>

#include "base/base.h"

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define ARENA_POISON 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define ARENA_POISON 1
#endif

/* The first part of every arena: what is left of its last block, and of its budget. */
struct arena_room {
    char *next, *end;
    size_t used_bytes;
    size_t stop_bytes; /* of used_bytes: the budget, or the next call of the watch before it */
};

/* arena_alloc, without a call where there is room. */
static inline void *arena_alloc_fast(struct arena *arena, size_t size_bytes)
{
#ifndef ARENA_POISON
    struct arena_room *room = (struct arena_room *)(void *)arena;
    size_t padding = -(uintptr_t)room->next & (alignof(max_align_t) - 1);
    size_t taken = size_bytes + padding;
    if (size_bytes != 0 && taken > padding && taken <= room->stop_bytes - room->used_bytes &&
        taken <= (size_t)(room->end - room->next)) {
        char *memory = room->next + padding;
        room->next += taken;
        room->used_bytes += taken;
        return memory;
    }
#endif
    return arena_alloc(arena, size_bytes);
}

#endif
