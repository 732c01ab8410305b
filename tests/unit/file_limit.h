/* A disk that is full: no file gets longer than so many bytes. */
#ifndef TAFFRAIL_UNIT_FILE_LIMIT_H
#define TAFFRAIL_UNIT_FILE_LIMIT_H

#include <sys/resource.h>

#include "unit.h"

static inline void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    CU_ASSERT_FATAL(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    CU_ASSERT_FATAL(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

#endif
