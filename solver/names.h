/* What the algebra asks of a name table beyond solver.h. */
#ifndef TAFFRAIL_SOLVER_NAMES_H
#define TAFFRAIL_SOLVER_NAMES_H

#include "solver/solver.h"

/* Whether a value's text is a whole decimal number, as Go's Atoi reads one. *number is that number;
 * of text that is none it is 0, of a number out of range the nearest that fits. */
bool solver_names_value_number(const struct solver_names *names, uint32_t key, uint32_t value,
                               int64_t *number);

/* The well-known keys, from 0; NULL beyond the last. */
const char *solver_well_known_key(size_t index);

#endif
