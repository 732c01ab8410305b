/* How much memory there is: of what the system and its files say, the least. */
#include "server/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/base.h"
#include "unit.h"

const char unit_suite[] = "server/memory";

static void a_file_says_a_limit_or_none(void)
{
    static const struct {
        const char *content;
        size_t bytes; /* SIZE_MAX: no limit */
    } cases[] = {
        {"536870912\n", 536870912},
        {"536870912", 536870912},
        {"1\n", 1},
        {"9223372036854771712\n", 9223372036854771712U}, /* what cgroup v1 says for none */
        {"max\n", SIZE_MAX},
        {"0\n", SIZE_MAX},
        {"-1\n", SIZE_MAX},
        {"", SIZE_MAX},
        {"\n", SIZE_MAX},
        {"12 34\n", SIZE_MAX},
        {"99999999999999999999\n", SIZE_MAX},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char path[] = "/tmp/taffrail-memory-XXXXXX";
        int file = mkstemp(path);
        CU_ASSERT_FATAL(file >= 0 && dprintf(file, "%s", cases[i].content) >= 0);
        close(file);
        CU_ASSERT(memory_limit_in(path) == cases[i].bytes);
        unlink(path);
        int next = dup(STDIN_FILENO); /* it was closed */
        ASSERT_INT(next, file);
        close(next);
    }
    CU_ASSERT(memory_limit_in("/tmp/taffrail-memory-is-not-here") == SIZE_MAX);
    CU_ASSERT(memory_limit_in("/tmp") == SIZE_MAX);
}

static void a_limit_of_the_process_counts_where_it_is_less(void)
{
    struct rlimit before;
    CU_ASSERT_FATAL(getrlimit(RLIMIT_RSS, &before) == 0);
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY, .rlim_max = before.rlim_max};
    if (before.rlim_max == RLIM_INFINITY)
        CU_ASSERT(setrlimit(RLIMIT_RSS, &limit) == 0);
    const size_t of_machine = memory_limit_bytes();
    CU_ASSERT(of_machine > 16 << 20);
    CU_ASSERT(of_machine <= (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE));
    limit.rlim_cur = of_machine - 1;
    CU_ASSERT_FATAL(setrlimit(RLIMIT_RSS, &limit) == 0);
    CU_ASSERT(memory_limit_bytes() == of_machine - 1);
    limit.rlim_cur = of_machine + 1;
    if (limit.rlim_max > of_machine && setrlimit(RLIMIT_RSS, &limit) == 0)
        CU_ASSERT(memory_limit_bytes() == of_machine);
    CU_ASSERT(setrlimit(RLIMIT_RSS, &before) == 0);
}

const struct unit_test unit_tests[] = {
    {"a file says a limit or none", a_file_says_a_limit_or_none},
    {"a limit of the process counts where it is less",
     a_limit_of_the_process_counts_where_it_is_less},
    {NULL, NULL},
};
