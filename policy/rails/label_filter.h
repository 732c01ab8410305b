/* The values of one label that a list of requirements leaves. */
#ifndef TAFFRAIL_POLICY_RAILS_LABEL_FILTER_H
#define TAFFRAIL_POLICY_RAILS_LABEL_FILTER_H

#include "base/base.h"

struct expression;

/* Zero-initialise: then it leaves all. */
struct label_filter {
    struct text_map named; /* by how many In */
    struct text_map excluded;
    size_t in_count;
    bool bounded; /* by Gt and the like: numbers alone are left */
    int64_t least, most;
    bool none; /* not even a value, as with DoesNotExist */
};
/* One more requirement on the label, whichever way it spells the key. */
void label_filter_add(struct label_filter *filter, const struct expression *expression,
                      struct arena *arena);
bool label_filter_passes(const struct label_filter *filter, struct text value);
/* Whether outer leaves all that inner leaves, as far as their values and bounds show it. */
bool label_filter_is_within(const struct label_filter *inner, const struct label_filter *outer);
/* Whether both leave one of the values; globs. What a glob allows is known only where values are
 * named. */
bool label_filters_leave(const struct label_filter *a, const struct label_filter *b,
                         const struct text *globs, size_t count);

#endif
