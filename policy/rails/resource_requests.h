/* The parts of the rail resource-requests. */
#ifndef TAFFRAIL_POLICY_RAILS_RESOURCE_REQUESTS_H
#define TAFFRAIL_POLICY_RAILS_RESOURCE_REQUESTS_H

#include "policy/rail.h"

struct amount;
struct containers;
struct limit_defaults;
struct workload;

/* Quantities of a container that the API server would refuse, and that it takes and nobody means.
 * CPUs above the ceiling are spoken of as that. */
void resource_slips_judge(struct rail_call *call, const struct field *container,
                          int64_t most_cpu_milli);
/* Whether it is memory of so few bytes, and one who writes a unit may not mean so little. */
bool resource_is_slip(const struct amount *amount);

/* Volumes in memory that are larger than what their containers may use. */
void resource_volumes_judge(struct rail_call *call, const struct workload *workload,
                            const struct containers *containers, struct limit_defaults *defaults);

#endif
