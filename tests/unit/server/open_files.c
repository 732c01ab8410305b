/* How many connections the open files of a process are enough for. */
#include "server/open_files.h"

#include <stdint.h>
#include <sys/resource.h>

#include "unit.h"

const char unit_suite[] = "server/open_files";

static void connections_leave_files_for_the_rest(void)
{
    static const struct {
        size_t open_files;
        unsigned connections;
    } cases[] = {
        {SIZE_MAX, CONNECTIONS_MOST},
        {1024, CONNECTIONS_MOST},
        {OTHER_FILES + CONNECTIONS_MOST, CONNECTIONS_MOST},
        {OTHER_FILES + CONNECTIONS_MOST - 1, CONNECTIONS_MOST - 1},
        {256, 96},
        {OTHER_FILES + CONNECTIONS_LEAST + 1, CONNECTIONS_LEAST + 1},
        {OTHER_FILES + CONNECTIONS_LEAST, CONNECTIONS_LEAST},
        {OTHER_FILES + CONNECTIONS_LEAST - 1, CONNECTIONS_LEAST},
        {0, CONNECTIONS_LEAST},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT_EQUAL(connections_within(cases[i].open_files), cases[i].connections);
}

static void the_hard_limit_is_taken(void)
{
    struct rlimit limit;
    CU_ASSERT_FATAL(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    const struct rlimit less = {100, limit.rlim_max < 900 ? limit.rlim_max : 900};
    CU_ASSERT_FATAL(setrlimit(RLIMIT_NOFILE, &less) == 0);
    CU_ASSERT_EQUAL(open_files_take(), less.rlim_max);
    CU_ASSERT(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    CU_ASSERT_EQUAL(limit.rlim_cur, less.rlim_max);
}

const struct unit_test unit_tests[] = {
    {"connections leave files for the rest", connections_leave_files_for_the_rest},
    {"the hard limit is taken", the_hard_limit_is_taken},
    {NULL, NULL},
};
