/* What the memory of this process is for. */
#ifndef TAFFRAIL_SERVER_MEMORY_H
#define TAFFRAIL_SERVER_MEMORY_H

#include <stddef.h>

/* The least of what the cgroup, the resource limit of the resident set (ulimit -m) and the machine
 * have. */
size_t memory_limit_bytes(void);

#endif
