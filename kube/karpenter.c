/* Karpenter's own settings. */
#include "kube/karpenter.h"

const char *const karpenter_gates[KARPENTER_GATE_COUNT + 1] = {
#define GATE(name, summary) #name,
#include "kube/karpenter_gates.def"
#undef GATE
};
const char *const karpenter_preference_policies[] = {"Respect", "Ignore", NULL};
const char *const karpenter_min_values_policies[] = {"Strict", "BestEffort", NULL};

bool karpenter_settings_equal(const struct karpenter_settings *a,
                              const struct karpenter_settings *b)
{
    return a->ignore_preferences == b->ignore_preferences &&
           a->best_effort_min_values == b->best_effort_min_values &&
           a->no_reserved_capacity == b->no_reserved_capacity &&
           a->no_static_capacity == b->no_static_capacity && a->node_overlays == b->node_overlays;
}

struct solver_settings karpenter_solver_settings(const struct karpenter_settings *settings)
{
    return (struct solver_settings){
        .ignore_preferences = settings->ignore_preferences,
        .best_effort_min_values = settings->best_effort_min_values,
    };
}
