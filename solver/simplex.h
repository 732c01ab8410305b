/* The least cost that covers a demand, as a linear program with few rows and many columns. */
#ifndef TAFFRAIL_SOLVER_SIMPLEX_H
#define TAFFRAIL_SOLVER_SIMPLEX_H

#include <stdbool.h>
#include <stddef.h>

#define SIMPLEX_ROWS_MAX 8

struct arena;

/* Columns are what can be bought: column j gives supplies[j * row_count + i] of row i for
 * costs[j]. Demands and costs are above 0, supplies 0 or more. */
struct simplex {
    size_t row_count, column_count;
    const double *demands, *supplies, *costs;
};
/* What one unit of each row is worth at the optimum: the prices of the dual. False when the demand
 * cannot be covered. */
bool simplex_prices(const struct simplex *program, double prices[SIMPLEX_ROWS_MAX]);

#endif
