/* Options of `taffrail plan`, `impact` and `why` for Karpenter's settings. */
#ifndef TAFFRAIL_CLI_PLAN_SETTINGS_H
#define TAFFRAIL_CLI_PLAN_SETTINGS_H

#include "cli/cli.h"
#include "kube/karpenter.h"
#include "solver/solver.h"

struct reserved_capacity;

/* Zero: as Karpenter has them by default. */
struct policies_of_karpenter {
    int preference, min_values;
};
/* Rows of a table of options. */
#define OPTIONS_KARPENTER(policies)                                                     \
    {0,                                                                                 \
     "preference-policy",                                                               \
     OPTION_CHOICE,                                                                     \
     &(policies)->preference,                                                           \
     "POLICY",                                                                          \
     "Karpenter's: Respect or Ignore (Respect)",                                        \
     karpenter_preference_policies},                                                    \
    {                                                                                   \
        0, "min-values-policy", OPTION_CHOICE, &(policies)->min_values, "POLICY",       \
            "Karpenter's: Strict or BestEffort (Strict)", karpenter_min_values_policies \
    }
struct solver_settings solver_settings_of(const struct policies_of_karpenter *policies);

/* Each returns false, with a usage error on stderr, when the value is invalid. */

struct plan_optimize {
    struct solver_optimize what;
    int64_t time_s; /* for the search of a better plan */
};
/* names: "joint-zones,best-fit"; "" and "all" mean all; NULL: none. time: a duration; NULL: the
 * default. */
bool plan_read_optimize(const char *names, const char *time, struct plan_optimize *optimize);
/* "ReservedCapacity=false,NodeOverlay=false", in the form of Karpenter's own option. */
bool plan_read_feature_gates(const char *gates, struct reserved_capacity *reserved);
/* "cr-0123=4": the number of free machines; items has room for all of them. */
bool plan_read_reservations(const struct string_list *counts, struct arena *arena,
                            struct reserved_capacity *reserved);

#endif
