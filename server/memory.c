/* How much memory there is: the view of the cluster gets a part of it. */
#include "server/memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/base.h"

size_t memory_limit_in(const char *path)
{
    char line[64];
    int64_t number = 0;
    FILE *file = fopen(path, "re");
    bool read = file != NULL && fgets(line, sizeof line, file) != NULL;
    if (file != NULL)
        fclose(file);
    if (!read)
        return SIZE_MAX;
    line[strcspn(line, "\n")] = '\0';
    return text_to_int64(text_of(line), &number) && number > 0 ? (size_t)number : SIZE_MAX;
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
    bytes = least(bytes, memory_limit_in("/sys/fs/cgroup/memory.max"));
    bytes = least(bytes, memory_limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
    if (getrlimit(RLIMIT_RSS, &resident) == 0 && resident.rlim_cur != RLIM_INFINITY)
        bytes = least(bytes, (size_t)resident.rlim_cur);
    return bytes;
}
