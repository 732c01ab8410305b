/* Karpenter's settings that change what it buys. */
#ifndef TAFFRAIL_KUBE_KARPENTER_H
#define TAFFRAIL_KUBE_KARPENTER_H

#include "base/base.h"
#include "solver/solver.h"

enum karpenter_gate {
#define GATE(name, summary) KARPENTER_##name,
#include "kube/karpenter_gates.def"
#undef GATE
    KARPENTER_GATE_COUNT
};
/* By enum karpenter_gate; the choices of the policies, the first is the default. The names are
 * those of Karpenter's options. */
extern const char *const karpenter_gates[KARPENTER_GATE_COUNT + 1]; /* ends with NULL */
extern const char *const karpenter_preference_policies[];
extern const char *const karpenter_min_values_policies[];
enum { KARPENTER_IGNORE_PREFERENCES = 1, KARPENTER_BEST_EFFORT_MIN_VALUES = 1 };

/* All false: Karpenter's defaults. */
struct karpenter_settings {
    bool ignore_preferences;     /* PREFERENCE_POLICY=Ignore */
    bool best_effort_min_values; /* MIN_VALUES_POLICY=BestEffort */
    bool no_reserved_capacity;   /* ReservedCapacity=false */
    bool no_static_capacity;     /* StaticCapacity=false is set, not only the default */
    bool node_overlays;          /* NodeOverlay=true */
};
struct solver_settings karpenter_solver_settings(const struct karpenter_settings *settings);

#endif
