/* One case of `taffrail test`, judged. */
#ifndef TAFFRAIL_CLI_TEST_H
#define TAFFRAIL_CLI_TEST_H

#include "cli/test_case.h"

/* The differences of a failed case, one line each: "- " before an expected item that is missing, "+
 * " before an unexpected one. Empty: the case passes. */
struct text test_case_judge(const struct test_case *one, const char *folder, struct arena *arena);

#endif
