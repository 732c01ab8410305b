/* Private to the rail disruption-budgets. */
#ifndef TAFFRAIL_POLICY_RAILS_DISRUPTION_BUDGETS_H
#define TAFFRAIL_POLICY_RAILS_DISRUPTION_BUDGETS_H

#include "kube/budget_windows.h"
#include "policy/rail.h"

struct disruption_budgets {
    bool require_window, max_nodes_given;
    struct share max_nodes;
    struct key_strings policies;
};

/* "Drifted, Empty", of a set of REASON_X. */
struct text disruption_reasons_text(unsigned set, struct arena *arena);

/* Of a pool that has windows: whether its nodes expire outside of them. */
void disruption_budgets_judge_expiry(struct rail_call *call, const struct budgets *budgets);

/* Whether a budget keeps disruption to so many at all times. */
bool disruption_budgets_keeps_to(const struct budget *budget, struct share most);

/* Of budgets that can be read: those that another one makes idle, and reasons that have no budget
 * at some time. */
void disruption_budgets_judge_effects(struct rail_call *call,
                                      const struct disruption_budgets *settings,
                                      const struct budgets *budgets);
void disruption_budgets_judge_bounds(struct rail_call *call, const struct budgets *budgets);

/* Finds a consolidationPolicy that is not allowed, and one that the API of the object does not
 * have. */
void disruption_budgets_judge_policy(struct rail_call *call,
                                     const struct disruption_budgets *settings);
void disruption_budgets_judge_policy_name(struct rail_call *call, const struct field *field);
/* Judges consolidateAfter, and what is in budgets besides their times. Whether all reasons are
 * some.
 */
bool disruption_budgets_judge_values(struct rail_call *call, const struct budgets *budgets);

#endif
