/* The memory of each replica: it can run out, and whoever has ended must have given all back. */
#ifndef TAFFRAIL_DETERMINISTIC_MEMORY_H
#define TAFFRAIL_DETERMINISTIC_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Memory of the world, zeroed; it never runs out. */
void *world_alloc(size_t bytes);
void *world_realloc(void *memory, size_t bytes);
void world_free(void *memory);

/* Until then, one of so many allocations of the replica fails. */
void memory_fail(int replica, int64_t until_us, unsigned one_of);
/* Whether allocations fail now, or did within the time before. */
int64_t memory_failed_us(int replica); /* when the last one did */
/* What the replica has and did not give back. */
size_t memory_blocks(int replica);
size_t memory_bytes(int replica);
/* Says where some of it was allocated, as addresses in the program. */
void memory_print(int replica);
/* What the replica has now it may keep to its end: the words of its command line. give_up would
 * free them; other replicas have theirs in the same place. */
void memory_keep(int replica, void (*give_up)(void));
/* Frees all of a replica that was killed. */
void memory_drop(int replica);

#endif
