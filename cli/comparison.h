/* What `audit --compare` and `replay` have in common: the result, printed. */
#ifndef TAFFRAIL_CLI_COMPARISON_H
#define TAFFRAIL_CLI_COMPARISON_H

#include "cli/cli.h"
#include "report/compare.h"

/* Prints it. The exit code is that of its errors, else EXIT_FINDINGS when somebody is newly denied
 * and that is to fail. */
int print_comparison(const struct comparison *comparison, int format, bool denial_fails,
                     struct arena *arena);

#endif
