/* A NodeClaim that Karpenter has not made. */
#include "policy/policy_set.h"
#include "policy/rails/scheduler_bypass.h"
#include "solver/well_known.h"

/* The API server drops the status of what is created: what has one is there already, and a dump of
 * it says nothing of who made it. */
static bool is_launched(const struct object *claim)
{
    const struct node *root = claim->root->node;
    return node_at(root, "status.conditions") != NULL || node_at(root, "status.providerID") != NULL;
}

/* Service accounts, the control plane, and what a cloud runs beside it. */
static bool is_person(const struct requester *requester)
{
    return !text_starts_with(requester->name, TEXT("system:")) &&
           !text_starts_with(requester->name, TEXT("eks:"));
}

static bool is_made_by_karpenter(const struct rail_call *call,
                                 const struct scheduler_bypass *settings)
{
    const struct subject *subject = call->subject;
    if (subject->existing)
        return node_get(call->object->labels, LABEL_NODE_POOL) != NULL;
    if (settings->node_claim_accounts.given)
        return requester_is_account(&subject->requester, &settings->node_claim_accounts);
    return !is_person(&subject->requester) || is_launched(call->object);
}

void scheduler_bypass_judge_node_claim(struct rail_call *call,
                                       const struct scheduler_bypass *settings)
{
    bool who_is_known = settings->node_claim_accounts.given && !call->subject->existing;
    if (is_made_by_karpenter(call, settings))
        return;
    report_found(call, who_is_known ? SEVERITY_RAIL : SEVERITY_WARN,
                 field_at(call->arena, call->object->root, "metadata.name"), call->object->name,
                 TEXT("let Karpenter make it: change a NodePool, or add one"),
                 "Karpenter did not make this NodeClaim: it buys a machine that no "
                 "NodePool's requirements, limits and budgets hold for");
}
