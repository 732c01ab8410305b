/* The bytes of an input, as choices. */
#ifndef TAFFRAIL_FUZZ_SOLVER_BYTES_H
#define TAFFRAIL_FUZZ_SOLVER_BYTES_H

#include "solver_case.h"

struct bytes {
    const uint8_t *data;
    size_t size;
    struct arena *arena;
};

/* A number below limit. */
static inline size_t take(struct bytes *bytes, size_t limit)
{
    if (bytes->size == 0)
        return 0;
    bytes->size--;
    return *bytes->data++ % limit;
}

static inline bool one_in(struct bytes *bytes, size_t count)
{
    return take(bytes, count) == count - 1;
}

/* Changes the case by the remarks that follow it in the bytes; without bytes it stays. */
void case_remark(struct bytes *bytes, struct solver_case *made);

#endif
