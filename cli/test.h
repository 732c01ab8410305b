/* One case of `taffrail test`, judged. */
#ifndef TAFFRAIL_CLI_TEST_H
#define TAFFRAIL_CLI_TEST_H

#include "cli/test_case.h"

/* What a case that fails has instead of what it expects, a line each, "- " before what was expected
 * and is not there, "+ " before what is there and was not expected. Empty: it passes. */
struct text test_case_judge(const struct test_case *one, const char *folder, struct arena *arena);

#endif
