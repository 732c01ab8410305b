#include "solver/simplex.h"

#include <math.h>
#include <string.h>

/* The revised simplex method, phase one by columns that cost too much to stay. Rows are scaled to a
 * demand of 1. */

#define STEPS_MAX 1000
#define TOLERANCE 1e-9

struct basis {
    size_t rows;
    double inverse[SIMPLEX_ROWS_MAX][SIMPLEX_ROWS_MAX];
    double values[SIMPLEX_ROWS_MAX]; /* of the basic columns */
    double costs[SIMPLEX_ROWS_MAX];
    bool artificial[SIMPLEX_ROWS_MAX];
};

static void basis_prices(const struct basis *basis, double *prices)
{
    for (size_t i = 0; i < basis->rows; i++) {
        prices[i] = 0;
        for (size_t k = 0; k < basis->rows; k++)
            prices[i] += basis->costs[k] * basis->inverse[k][i];
    }
}

/* Brings a column in; false when nothing limits it, which demands of 1 and costs above 0 rule out
 * but for rounding. */
static bool pivot(struct basis *basis, const double *column, double cost)
{
    double direction[SIMPLEX_ROWS_MAX];
    size_t leaving = SIMPLEX_ROWS_MAX;
    double least = 0;
    for (size_t k = 0; k < basis->rows; k++) {
        direction[k] = 0;
        for (size_t i = 0; i < basis->rows; i++)
            direction[k] += basis->inverse[k][i] * column[i];
        if (direction[k] <= TOLERANCE)
            continue;
        double ratio = basis->values[k] / direction[k];
        if (leaving == SIMPLEX_ROWS_MAX || ratio < least) {
            leaving = k;
            least = ratio;
        }
    }
    if (leaving == SIMPLEX_ROWS_MAX)
        return false;
    double by = direction[leaving];
    for (size_t i = 0; i < basis->rows; i++)
        basis->inverse[leaving][i] /= by;
    basis->values[leaving] /= by;
    for (size_t k = 0; k < basis->rows; k++) {
        if (k == leaving)
            continue;
        for (size_t i = 0; i < basis->rows; i++)
            basis->inverse[k][i] -= direction[k] * basis->inverse[leaving][i];
        basis->values[k] -= direction[k] * basis->values[leaving];
    }
    basis->costs[leaving] = cost;
    basis->artificial[leaving] = false;
    return true;
}

/* The column, or the surplus of a row, whose cost the prices exceed most for its size. */
static bool find_entering(const struct simplex *program, const double *prices, double *column,
                          double *cost)
{
    size_t rows = program->row_count;
    double best = TOLERANCE;
    bool found = false;
    for (size_t i = 0; i < rows; i++)
        if (-prices[i] > best) { /* a surplus costs nothing */
            best = -prices[i];
            memset(column, 0, rows * sizeof *column);
            column[i] = -1;
            *cost = 0;
            found = true;
        }
    for (size_t j = 0; j < program->column_count; j++) {
        double gain = -program->costs[j];
        for (size_t i = 0; i < rows; i++)
            gain += prices[i] * program->supplies[j * rows + i] / program->demands[i];
        gain /= program->costs[j];
        if (gain <= best)
            continue;
        best = gain;
        for (size_t i = 0; i < rows; i++)
            column[i] = program->supplies[j * rows + i] / program->demands[i];
        *cost = program->costs[j];
        found = true;
    }
    return found;
}

bool simplex_prices(const struct simplex *program, double prices[SIMPLEX_ROWS_MAX])
{
    struct basis basis = {.rows = program->row_count};
    double most = 1;
    for (size_t j = 0; j < program->column_count; j++)
        for (size_t i = 0; i < basis.rows; i++) {
            double supply = program->supplies[j * basis.rows + i] / program->demands[i];
            if (supply > TOLERANCE && program->costs[j] / supply > most)
                most = program->costs[j] / supply;
        }
    for (size_t k = 0; k < basis.rows; k++) {
        basis.inverse[k][k] = 1;
        basis.values[k] = 1;
        basis.costs[k] = most * 1000;
        basis.artificial[k] = true;
    }
    double column[SIMPLEX_ROWS_MAX], cost = 0;
    for (int step = 0; step < STEPS_MAX; step++) {
        basis_prices(&basis, prices);
        if (!find_entering(program, prices, column, &cost) || !pivot(&basis, column, cost))
            break;
    }
    basis_prices(&basis, prices);
    for (size_t k = 0; k < basis.rows; k++) {
        if (basis.artificial[k] && basis.values[k] > TOLERANCE)
            return false;
        prices[k] = prices[k] > 0 ? prices[k] / program->demands[k] : 0;
    }
    return true;
}
