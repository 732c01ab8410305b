/* The memory available to this process. */
#ifndef TAFFRAIL_SERVER_MEMORY_H
#define TAFFRAIL_SERVER_MEMORY_H

#include <stddef.h>

/* The smallest of the limits of the cgroup, the resident set (ulimit -m) and the machine. */
size_t memory_limit_bytes(void);
/* What a file of one word says; SIZE_MAX: no limit ("max"), or there is no such file. */
size_t memory_limit_in(const char *path);

#endif
