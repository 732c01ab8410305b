/* What `audit --compare` and `replay` have in common: the result, printed. */
#ifndef TAFFRAIL_CLI_COMPARISON_H
#define TAFFRAIL_CLI_COMPARISON_H

#include "cli/cli.h"
#include "report/compare.h"

/* Prints it. The exit code is that of its errors, else EXIT_FINDINGS when a difference is there
 * that fails; failing: bits, 1 << DIFFERENCE_X. */
int print_comparison(const struct comparison *comparison, int format, unsigned failing,
                     struct arena *arena);

#endif
