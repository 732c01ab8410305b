#include "server/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* A number that is a file's only word; SIZE_MAX: there is none ("max"). */
static size_t number_in(const char *path)
{
    unsigned long long number = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return SIZE_MAX;
    int read = fscanf(file, "%llu", &number);
    fclose(file);
    return read == 1 && number > 0 && number < SIZE_MAX ? (size_t)number : SIZE_MAX;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t memory_limit_bytes(void)
{
    struct rlimit resident;
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    size_t bytes = pages > 0 && page_bytes > 0 ? (size_t)pages * (size_t)page_bytes : SIZE_MAX;
    bytes = least(bytes, number_in("/sys/fs/cgroup/memory.max"));
    bytes = least(bytes, number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
    if (getrlimit(RLIMIT_RSS, &resident) == 0 && resident.rlim_cur != RLIM_INFINITY)
        bytes = least(bytes, (size_t)resident.rlim_cur);
    return bytes;
}
