/* The open files of this process, and the connections that they are enough for. */
#include "server/open_files.h"

#include <stdint.h>
#include <sys/resource.h>

size_t open_files_take(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return SIZE_MAX;
    const struct rlimit most = {limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &most) == 0)
        limit = most;
    return limit.rlim_cur == RLIM_INFINITY ? SIZE_MAX : (size_t)limit.rlim_cur;
}

unsigned connections_within(size_t open_files)
{
    if (open_files < OTHER_FILES + CONNECTIONS_LEAST)
        return CONNECTIONS_LEAST;
    size_t left = open_files - OTHER_FILES;
    return left < CONNECTIONS_MOST ? (unsigned)left : CONNECTIONS_MOST;
}
