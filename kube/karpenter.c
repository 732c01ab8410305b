/* Karpenter's own settings. */
#include "kube/karpenter.h"

const char *const karpenter_gates[KARPENTER_GATE_COUNT + 1] = {
#define GATE(name, summary) #name,
#include "kube/karpenter_gates.def"
#undef GATE
};
const char *const karpenter_preference_policies[] = {"Respect", "Ignore", NULL};
const char *const karpenter_min_values_policies[] = {"Strict", "BestEffort", NULL};

struct solver_settings karpenter_solver_settings(const struct karpenter_settings *settings)
{
    return (struct solver_settings){
        .ignore_preferences = settings->ignore_preferences,
        .best_effort_min_values = settings->best_effort_min_values,
    };
}
