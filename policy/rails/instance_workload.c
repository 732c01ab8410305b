/* What instance-types says of workloads. */
#include "catalog/catalog.h"
#include "kube/pod.h"
#include "policy/rails/instance_list.h"
#include "policy/reading.h"

/* What the values of a term came to. */
struct term_values {
    bool outside, unknown;
};

/* Each value an In names must itself be possible. */
static void judge_values(struct rail_call *call, const struct instance_list *list,
                         const struct expressions *expressions, enum severity severity,
                         struct term_values *result)
{
    FOR_EACH(expression, expressions) {
        enum dimension dimension = dimension_of(expression->key);
        if (!expression->valid || expression->op != SOLVER_IN || dimension == DIMENSION_COUNT)
            continue;
        for (size_t j = 0; j < expression->value_count; j++) {
            const struct expression_value *value = &expression->values[j];
            switch (instance_list_value(list, dimension, value->text, call->arena)) {
            case VALUE_POSSIBLE:
                break;
            case VALUE_OUTSIDE:
                result->outside = true;
                instance_report_outside(call, list, dimension, value, severity);
                break;
            case VALUE_UNKNOWN:
                result->unknown = true;
                instance_report_unknown(call, list, dimension, value);
                break;
            }
        }
    }
}

/* True when the types reached meet the list; otherwise reports at field. */
static bool judge_reach(struct rail_call *call, const struct instance_list *list,
                        const struct field *field, const struct type_set *reached,
                        enum severity severity)
{
    if (type_set_intersects(reached, &list->allowed))
        return true;
    struct arena *arena = call->arena;
    size_t count = type_set_count(reached);
    struct draft draft = {.severity = severity, .field = field};
    if (count == 0) {
        draft.statement = TEXT("no instance type fits all of this together");
        draft.fix = TEXT("remove one of the requirements");
    } else {
        draft.found = type_set_text(list->catalog, reached, arena);
        draft.statement =
            count == 1
                ? arena_printf(arena, "reaches one instance type, which is not in the list: %.*s",
                               TEXT_ARGS(draft.found))
                : arena_printf(arena, "reaches %zu instance types, none of them in the list: %.*s",
                               count, TEXT_ARGS(draft.found));
        draft.fix = TEXT("widen the requirements until they meet the list, or leave the choice to "
                         "the NodePools");
    }
    draft.allowed = ALLOWED_LIST(&list->values[DIMENSION_TYPE]);
    report_draft(call, &draft);
    return false;
}

static void judge_terms(struct rail_call *call, const struct instance_list *list,
                        const struct expressions *selector, struct term_values selector_values,
                        const struct node_terms *terms, enum severity severity)
{
    FOR_EACH(term, terms) {
        struct term_values values = {0};
        judge_values(call, list, &term->expressions, severity, &values);
        if (values.outside || values.unknown || selector_values.outside ||
            selector_values.unknown || term->expressions.count == 0)
            continue;
        struct type_set reached =
            expressions_select(list->catalog, selector, &term->expressions, call->arena);
        judge_reach(call, list, term->field, &reached, severity);
    }
}

void instance_judge_workload(struct rail_call *call, const struct instance_list *list)
{
    struct arena *arena = call->arena;
    struct workload workload;
    if (!workload_read(call->object, arena, &workload))
        return;
    const struct node_selection *selection = call_selection(call, &workload);

    struct term_values values = {0};
    judge_values(call, list, &selection->selector, SEVERITY_RAIL, &values);
    if (selection->selector.count > 0 && !values.outside && !values.unknown) {
        struct type_set reached =
            expressions_select(list->catalog, &selection->selector, NULL, arena);
        if (!judge_reach(call, list, selection->selector_field, &reached, SEVERITY_RAIL))
            values.outside = true;
    }
    judge_terms(call, list, &selection->selector, values, &selection->required, SEVERITY_RAIL);
    judge_terms(call, list, &selection->selector, values, &selection->preferred,
                severity_of_preference(call));
}
