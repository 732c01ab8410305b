/* What is wrong with a duration of a NodePool, by the pattern that the API server holds it to. */
#ifndef TAFFRAIL_POLICY_RAILS_DURATION_FAULT_H
#define TAFFRAIL_POLICY_RAILS_DURATION_FAULT_H

#include "policy/rail.h"

/* "336h", "90m" or "45s": in the largest unit that leaves no rest. */
struct text duration_text(int64_t seconds, struct arena *arena);

/* A draft of the finding: field, found, statement, fix. Of any field that is no duration. */
struct draft duration_fault(const struct field *field, struct arena *arena);

/* Whether a field is there and does not have the form of a duration: numbers, each with h, m or s
 * behind it. How long it is does not matter. A placeholder is still to become one. */
bool duration_is_malformed(const struct field *field);

#endif
