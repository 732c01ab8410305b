/* What instance-types says of workloads. */
#include "kube/label.h"
#include "kube/placeholder.h"
#include "kube/pod.h"
#include "policy/rails/instance_list.h"
#include "policy/reading.h"

/* What the values of a term came to. */
struct term_values {
    bool outside;
    /* One of them is of types that the catalogue does not have; or of none, whatever is new. */
    bool unknown, of_no_type;
};

/* SageMaker HyperPod's nodes have labels that the catalogue's types do not have. */
static bool is_label_of_types(const struct instance_list *list, enum dimension dimension,
                              struct text value)
{
    return dimension != DIMENSION_TYPE || instance_list_knows(list, dimension, value);
}

/* In a file it is filled in before the file is applied. In what the API server sends it selects no
 * node, because EC2 writes nothing in capitals. */
static bool is_placeholder(struct text value)
{
    return text_has_placeholder(value) || text_is_capitals(value);
}

static void judge_value(struct rail_call *call, const struct instance_list *list,
                        enum dimension dimension, const struct expression_value *value,
                        struct values_outside *outside, struct term_values *result)
{
    if (is_placeholder(value->text)) {
        bool may_be_any = object_is_of_file(call->object);
        result->unknown |= may_be_any;
        result->of_no_type |= !may_be_any;
        return;
    }
    switch (instance_list_value(list, dimension, value->text, call->arena)) {
    case VALUE_POSSIBLE:
        outside->others_stay = true;
        result->unknown |= !is_label_of_types(list, dimension, value->text);
        break;
    case VALUE_UNSURE:
        outside->others_stay = true;
        break;
    case VALUE_OUTSIDE:
        if (outside->names.count == 0)
            outside->first = value;
        *LIST_PUSH(call->arena, &outside->names) = value->text;
        break;
    case VALUE_UNKNOWN:
        outside->others_stay = true;
        /* EC2 sells no other architectures than the catalogue has. */
        result->of_no_type |= dimension == DIMENSION_ARCHITECTURE;
        result->unknown |= dimension != DIMENSION_ARCHITECTURE;
        instance_report_unknown(call, list, dimension, value);
        break;
    }
}

/* Each value an In names must itself be possible. */
static struct term_values judge_values(struct rail_call *call, const struct instance_list *list,
                                       const struct expressions *expressions, bool preferred)
{
    struct term_values result = {0};
    FOR_EACH(expression, expressions) {
        enum dimension dimension = dimension_of(expression->key);
        if (!expression->valid || expression->op != SOLVER_IN || dimension == DIMENSION_COUNT)
            continue;
        struct values_outside outside = {.preferred = preferred};
        for (size_t j = 0; j < expression->value_count; j++)
            judge_value(call, list, dimension, &expression->values[j], &outside, &result);
        if (outside.names.count == 0)
            continue;
        result.outside = true;
        instance_report_outside(call, list, dimension, &outside);
    }
    return result;
}

/* Whether a term keeps off the nodes that the catalogue tells of: nodes of other makers lack the
 * labels of Karpenter's AWS provider, and nobody knows their types. */
static bool wants_other_nodes(const struct expressions *term)
{
    FOR_EACH(expression, term)
        if (expression->valid && expression->op == SOLVER_DOES_NOT_EXIST &&
            label_is_in_domain(expression_canonical_key(expression), TEXT("karpenter.k8s.aws")))
            return true;
    return false;
}

static bool names_unknown(const struct instance_list *list, const struct expression *expression)
{
    enum dimension dimension = dimension_of(expression->key);
    for (size_t i = 0; dimension != DIMENSION_COUNT && i < expression->value_count; i++)
        if (!instance_list_knows(list, dimension, expression->values[i].text))
            return true;
    return false;
}

/* Without those that name a type, or a kind of types, that the catalogue does not have. */
static struct expressions without_unknown(const struct instance_list *list,
                                          const struct expressions *expressions,
                                          struct arena *arena)
{
    struct expressions kept = {0};
    FOR_EACH(expression, expressions)
        if (expression->op != SOLVER_IN || !names_unknown(list, expression))
            *LIST_PUSH(arena, &kept) = *expression;
    return kept;
}

/* Whether types that the catalogue does not have may meet the list: not where all else that is
 * required, such as more vCPUs than the most, leaves none that `max` lets pass. */
static bool unknown_may_pass(struct rail_call *call, const struct instance_list *list,
                             const struct expressions *selector, const struct expressions *term)
{
    static const struct expressions nothing;
    struct expressions rest[] = {
        without_unknown(list, selector, call->arena),
        without_unknown(list, term == NULL ? &nothing : term, call->arena),
    };
    struct type_set left =
        expressions_select_possible(list->catalog, &rest[0], &rest[1], call->arena);
    return type_set_intersects(&left, &list->within_maximum);
}

/* True when types that selector and term may reach meet the list; otherwise reports at field. */
static bool judge_reach(struct rail_call *call, const struct instance_list *list,
                        const struct field *field, const struct expressions *selector,
                        const struct expressions *term, struct term_values values,
                        enum severity severity)
{
    struct arena *arena = call->arena;
    struct type_set known = expressions_select(list->catalog, selector, term, arena);
    if (type_set_intersects(&known, &list->allowed))
        return true;
    struct type_set possible = expressions_select_possible(list->catalog, selector, term, arena);
    if (type_set_intersects(&possible, &list->allowed))
        return true;
    if ((values.unknown || values.of_no_type) && type_set_is_empty(&known))
        return true;
    if (values.unknown && unknown_may_pass(call, list, selector, term))
        return true;
    if (type_set_intersects(&possible, &list->possible)) {
        instance_report_unsure(call, list, severity == SEVERITY_RAIL ? SEVERITY_WARN : severity,
                               field, &possible);
        return false;
    }
    const struct type_set *reached = type_set_is_empty(&known) ? &possible : &known;
    size_t count = type_set_count(reached);
    if (count == 0 && term != NULL && wants_other_nodes(term))
        return true;
    struct draft draft = {
        .severity = is_of_daemon_set(call) && severity == SEVERITY_RAIL ? SEVERITY_WARN : severity,
        .field = field,
    };
    if (count == 0) {
        draft.statement = TEXT("No instance type fits all of this together.");
        draft.fix = TEXT("Remove one of the requirements.");
    } else {
        draft.found = type_set_text(list->catalog, reached, arena);
        draft.values = type_set_names(list->catalog, reached, arena);
        draft.statement =
            count == 1
                ? arena_printf(arena, "This reaches one instance type, %.*s, which is not allowed.",
                               TEXT_ARGS(draft.found))
                : arena_printf(arena,
                               "This reaches %zu instance types, none of which is allowed: %.*s.",
                               count, TEXT_ARGS(draft.found));
        draft.fix = TEXT("Widen the requirements until they reach an allowed type, or leave the "
                         "choice to the NodePools.");
    }
    draft.allowed = ALLOWED_LIST(&list->values[DIMENSION_TYPE]);
    report_draft(call, &draft);
    return false;
}

static void judge_terms(struct rail_call *call, const struct instance_list *list,
                        const struct expressions *selector, struct term_values selector_values,
                        const struct node_terms *terms, bool preferred)
{
    FOR_EACH(term, terms) {
        struct term_values values = judge_values(call, list, &term->expressions, preferred);
        if (values.outside || selector_values.outside || term->expressions.count == 0)
            continue;
        values.unknown |= selector_values.unknown;
        values.of_no_type |= selector_values.of_no_type;
        judge_reach(call, list, term->field, selector, &term->expressions, values,
                    preferred ? severity_of_preference(call) : SEVERITY_RAIL);
    }
}

void instance_judge_workload(struct rail_call *call, const struct instance_list *list)
{
    struct workload workload;
    if (!call_workload(call, &workload))
        return;
    const struct node_selection *selection = call_selection(call, &workload);

    struct term_values values = judge_values(call, list, &selection->selector, false);
    if (selection->selector.count > 0 && !values.outside)
        values.outside = !judge_reach(call, list, selection->selector_field, &selection->selector,
                                      NULL, values, SEVERITY_RAIL);
    judge_terms(call, list, &selection->selector, values, &selection->required, false);
    judge_terms(call, list, &selection->selector, values, &selection->preferred, true);
}
