/* Durations as Go writes them: "1h30m", "1.5s". */
#ifndef TAFFRAIL_BASE_DURATION_H
#define TAFFRAIL_BASE_DURATION_H

#include "base/base.h"

enum { DURATION_SECOND_NS = 1000000000 };
#define DURATION_MINUTE_NS (60LL * DURATION_SECOND_NS)
#define DURATION_HOUR_NS (60 * DURATION_MINUTE_NS)

/* A number and its unit. */
struct duration_part {
    int64_t number;
    bool is_vast;   /* the number is too large, and number is the largest */
    bool has_point; /* even if the fraction is 0 */
    double fraction;
    int64_t unit_ns;
};
/* Removes one part from the start; false, with *t unchanged, when there is none. */
bool duration_take(struct text *t, struct duration_part *part) MUST_CHECK;
/* The same for a whole number of hours, minutes or seconds. */
bool duration_take_whole(struct text *t, struct duration_part *part) MUST_CHECK;
/* Whether it is nothing but those, and at least one: as CRDs demand it, however long it is. */
bool duration_is_whole(struct text t);

#endif
