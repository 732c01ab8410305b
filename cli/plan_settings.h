/* What the options of `taffrail plan` say of Karpenter's settings. */
#ifndef TAFFRAIL_CLI_PLAN_SETTINGS_H
#define TAFFRAIL_CLI_PLAN_SETTINGS_H

#include "cli/cli.h"
#include "solver/solver.h"

struct reserved_capacity;

/* Each false, with a usage error on stderr, when the value cannot be understood. */

struct plan_optimize {
    struct solver_optimize what;
    int64_t time_s; /* to look for a better plan */
};
/* names: "joint-zones,best-fit"; "" and "all" are all there are; NULL: none. time: a duration;
 * NULL: the default. */
bool plan_read_optimize(const char *names, const char *time, struct plan_optimize *optimize);
/* "ReservedCapacity=false,NodeOverlay=false", as Karpenter's own option. */
bool plan_read_feature_gates(const char *gates, struct reserved_capacity *reserved);
/* "cr-0123=4": how many machines are free; items is room for as many as there are. */
bool plan_read_reservations(const struct string_list *counts, struct arena *arena,
                            struct reserved_capacity *reserved);

#endif
