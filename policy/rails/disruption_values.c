/* Values of spec.disruption that the API server refuses: they are found before it is asked. */
#include "kube/placeholder.h"
#include "policy/rails/crd_shape.h"
#include "policy/rails/disruption_budgets.h"
#include "policy/rails/duration_fault.h"

/* meant: empty when it is not known; then what is near. */
static void report_choice(struct rail_call *call, const struct field *field,
                          const struct crd_shape *shape, const char *what, struct text meant,
                          struct draft draft)
{
    draft.field = field;
    draft.found = node_text(field->node);
    size_t nearest = text_nearest(draft.found, shape->choices, shape->choice_count, TYPO_EDITS);
    if (meant.size == 0 && nearest < shape->choice_count)
        meant = shape->choices[nearest];
    draft.allowed = ALLOWED_TEXTS(shape->choices, shape->choice_count);
    draft.nearest_to = meant;
    draft.meant = meant;
    if (draft.statement.size == 0)
        draft.statement =
            arena_printf(call->arena, "\"%.*s\" is no %s.", TEXT_ARGS(draft.found), what);
    if (draft.fix.size == 0)
        draft.fix =
            arena_printf(call->arena, "Use %.*s.",
                         TEXT_ARGS(texts_or(shape->choices, shape->choice_count, call->arena)));
    report_draft(call, &draft);
}

/* ---- consolidation ---- */

void disruption_budgets_judge_policy_name(struct rail_call *call, const struct field *field)
{
    bool old = object_is_v1beta1(call->object);
    const char *path = "spec.disruption.consolidationPolicy";
    const struct crd_shape *now = crd_shape_at(&crd_shape_node_pool_v1, path);
    const struct crd_shape *then = crd_shape_at(&crd_shape_node_pool_v1beta1, path);
    const struct crd_shape *mine = old ? then : now;
    struct text found = node_text(field->node);
    struct draft draft = {0};
    struct text meant = TEXT("");
    if (found.size == 0 || text_has_placeholder(found) ||
        crd_shape_has_choice(mine, node_string(field->node)))
        return;
    if (text_equal(found, (old ? now : then)->choices[0])) {
        meant = mine->choices[0];
        draft.statement =
            arena_printf(call->arena, "%.*s is the name it %s. The API server refuses it.",
                         TEXT_ARGS(found), old ? "has in v1" : "had in v1beta1");
    }
    report_choice(call, field, mine, "consolidationPolicy", meant, draft);
}

static void judge_consolidate_after(struct rail_call *call)
{
    const struct field *field =
        field_at(call->arena, call->object->root, "spec.disruption.consolidateAfter");
    struct text found = node_string(field->node);
    if (!duration_is_malformed(field) || text_is(found, "Never"))
        return;
    struct draft draft = duration_fault(field, call->arena);
    if (text_is(found, "never"))
        draft.meant = TEXT("Never");
    report_draft(call, &draft);
}

/* ---- budgets ---- */

/* An empty list is no list that is not there: Karpenter finds no reason in it. */
static void report_no_reason(struct rail_call *call, const struct budget *budget,
                             const struct field *list)
{
    report_found(call, SEVERITY_RAIL, list, TEXT(""),
                 budget_blocks(budget) && !budget_is_scheduled(budget)
                     ? TEXT("Name the reasons it is for, such as [Underutilized].")
                     : TEXT("Remove reasons, so that it is for all of them."),
                 "With an empty list of reasons the budget is for none, so it has no effect.");
}

/* Whether all of its reasons are some. */
static bool judge_reasons(struct rail_call *call, const struct budget *budget)
{
    const struct field *list = field_get(call->arena, budget->field, "reasons");
    const struct crd_shape *shape =
        crd_shape_at(&crd_shape_node_pool_v1, "spec.disruption.budgets.reasons");
    bool good = true;
    if (node_is(list->node, NODE_LIST) && node_count(list->node) == 0)
        report_no_reason(call, budget, list);
    FOR_FIELDS(field, call->arena, list) {
        struct draft draft = {0};
        if (crd_shape_has_choice(shape, node_string(field->node)))
            continue;
        good = false;
        if (text_is(node_string(field->node), "Expired")) {
            draft.statement = TEXT("\"Expired\" is no reason, since no budget holds up the "
                                   "expiry of nodes.");
            draft.fix = TEXT("Remove it, and the budget where it is for nothing else.");
        }
        report_choice(call, field, shape, "reason", TEXT(""), draft);
    }
    return good;
}

bool disruption_budgets_judge_values(struct rail_call *call, const struct budgets *budgets)
{
    bool good = true;
    judge_consolidate_after(call);
    FOR_EACH(budget, budgets) {
        if (budget->nodes_valid)
            crd_shape_judge_quotes(call, budget->nodes_field);
        if (!judge_reasons(call, budget))
            good = false;
    }
    return good;
}
