/* What happens to the replicas: trouble, then quiet, in which all must become right again. */
#ifndef TAFFRAIL_DETERMINISTIC_DIRECTOR_H
#define TAFFRAIL_DETERMINISTIC_DIRECTOR_H

#include <stdint.h>

struct director_plan {
    uint64_t seed;
    unsigned rounds;
    int64_t until_us; /* it ends then; 0: after the rounds */
};
void director_run(const struct director_plan *plan);

#endif
