/* Labels of which some values are allowed, in workloads and NodePools. */
#include "policy/rails/label_choice.h"

#include "kube/pod.h"
#include "kube/pool.h"
#include "kube/zone.h"
#include "policy/reading.h"

bool label_choice_lists(const struct label_choice *choice, struct text value)
{
    return texts_have(choice->allow.items, choice->allow.count, value);
}

/* ---- what is said ---- */

/* A pod can leave the choice to the NodePools; they, and StorageClasses, cannot. */
static struct text fix_of_value(const struct label_choice *choice)
{
    bool of_pods = (KIND_BIT(choice->call->object->kind) & KINDS_WORKLOADS) != 0;
    if (choice->allow.count == 1)
        return arena_printf(choice->call->arena, "Use %.*s%s.", TEXT_ARGS(choice->allow.items[0]),
                            of_pods ? ", or leave the choice to the NodePools" : "");
    return of_pods ? TEXT("use one of the allowed values, or leave the choice to the NodePools")
                   : TEXT("use one of the allowed values");
}

void label_choice_report(const struct label_choice *choice, enum label_choice_answer answer,
                         enum severity severity, const struct field *field, struct text value)
{
    struct arena *arena = choice->call->arena;
    struct draft draft = {
        .severity = severity,
        .field = field,
        .found = value,
        .allowed = choice->allow,
        .nearest_to = value,
        .fix = fix_of_value(choice),
    };
    if (answer == CHOICE_UNKNOWN) {
        draft.severity = SEVERITY_UNDECIDED;
        draft.statement =
            arena_printf(arena, "found \"%.*s\", and no visible EC2NodeClass tells which %s it is",
                         TEXT_ARGS(value), choice->what);
        draft.fix = arena_printf(arena, "use the label %s, or make the EC2NodeClasses visible",
                                 choice->key);
    }
    report_draft(choice->call, &draft);
}

static struct text requirement_to_add(const struct label_choice *choice)
{
    struct arena *arena = choice->call->arena;
    struct text values = texts_join(choice->allow.items, choice->allow.count, SIZE_MAX, arena);
    return arena_printf(arena, "[{key: %s, operator: In, values: [%.*s]}]", choice->key,
                        TEXT_ARGS(values));
}

/* ---- expressions ---- */

/* An allowed value that leaves nothing to buy; where it stands beside others it does no harm. */
static void judge_idle(const struct label_choice *choice, const struct expression *expression,
                       enum severity severity)
{
    const struct expression_value *value = &expression->values[0];
    const char *why = choice->idle == NULL || expression->value_count != 1
                          ? NULL
                          : choice->idle(choice, expression->key, value->text);
    if (why == NULL)
        return;
    report_found(choice->call, severity == SEVERITY_RAIL ? SEVERITY_WARN : severity,
                 expression_value_field(value, choice->call->arena), value->text,
                 arena_printf(choice->call->arena, "add another %s beside it", choice->what),
                 "found \"%.*s\": %s", TEXT_ARGS(value->text), why);
}

static bool is_about(const struct label_choice *choice, const struct expression *expression)
{
    return expression->valid && choice->is_key(expression->key);
}

/* The values that expressions of the choice's own key leave. Other labels spell their values in
 * other ways: they are judged where they are named. */
struct filter {
    struct text_map named; /* by how many In */
    struct text_map excluded;
    size_t in_count;
    bool none; /* no value is a number: Gt and the like let none pass */
};

static void filter_add(struct filter *filter, const struct label_choice *choice,
                       const struct expression *expression)
{
    struct arena *arena = choice->call->arena;
    if (!expression->valid || !text_is(expression_canonical_key(expression), choice->key) ||
        expression->op == SOLVER_EXISTS)
        return;
    filter->none |= expression->op != SOLVER_IN && expression->op != SOLVER_NOT_IN;
    for (size_t i = 0; i < expression->value_count; i++) {
        struct text value = expression->values[i].text;
        if (expression->op == SOLVER_NOT_IN)
            (void)text_map_add(&filter->excluded, arena, value);
        /* A value that one In names twice counts once. */
        else if (text_map_get(&filter->named, value, 0) == filter->in_count)
            (void)text_map_add(&filter->named, arena, value);
    }
    filter->in_count += expression->op == SOLVER_IN;
}

static struct filter filter_of(const struct label_choice *choice,
                               const struct expressions *expressions)
{
    struct filter filter = {0};
    for (size_t i = 0; i < expressions->count; i++)
        filter_add(&filter, choice, &expressions->items[i]);
    return filter;
}

static bool passes(const struct filter *filter, struct text value)
{
    return !filter->none && !text_map_has(&filter->excluded, value) &&
           text_map_get(&filter->named, value, 0) == filter->in_count;
}

/* Judges the values that In names; whether one is not allowed. */
static bool judge_values(const struct label_choice *choice, const struct expressions *expressions,
                         enum severity severity)
{
    bool some = false;
    FOR_EACH(expression, expressions) {
        if (!is_about(choice, expression) || expression->op != SOLVER_IN)
            continue;
        for (size_t j = 0; j < expression->value_count; j++) {
            const struct expression_value *value = &expression->values[j];
            enum label_choice_answer answer = choice->answer(choice, expression->key, value->text);
            if (answer == CHOICE_ALLOWED) {
                judge_idle(choice, expression, severity);
                continue;
            }
            some = true;
            label_choice_report(choice, answer, severity,
                                expression_value_field(value, choice->call->arena), value->text);
        }
    }
    return some;
}

/* ---- workloads ---- */

/* The last expression that is about it; NULL: none. */
static const struct expression *last_about(const struct label_choice *choice,
                                           const struct expressions *expressions)
{
    const struct expression *last = NULL;
    FOR_EACH(expression, expressions)
        if (is_about(choice, expression))
            last = expression;
    return last;
}

static void judge_reach(const struct label_choice *choice, const struct filter *selector,
                        const struct expressions *term)
{
    struct arena *arena = choice->call->arena;
    const struct expression *at = last_about(choice, term);
    if (at == NULL)
        return;
    struct filter of_term = filter_of(choice, term);
    for (size_t i = 0; i < choice->allow.count; i++)
        if (passes(selector, choice->allow.items[i]) && passes(&of_term, choice->allow.items[i]))
            return;
    report_with(choice->call, .field = at->field, .found = text_of(solver_op_name(at->op)),
                .statement = arena_printf(arena, "rules out every allowed %s", choice->what),
                .allowed = choice->allow,
                .fix = arena_printf(arena, "remove the requirement on %.*s", TEXT_ARGS(at->key)));
}

void label_choice_judge_workload(const struct label_choice *choice)
{
    struct arena *arena = choice->call->arena;
    struct workload workload;
    if (!workload_read(choice->call->object, arena, &workload))
        return;
    const struct node_selection *selection = call_selection(choice->call, &workload);
    bool selector_told = judge_values(choice, &selection->selector, SEVERITY_RAIL);
    struct filter of_selector = filter_of(choice, &selection->selector);
    for (size_t i = 0; i < selection->required.count; i++) {
        const struct expressions *term = &selection->required.items[i].expressions;
        bool told = judge_values(choice, term, SEVERITY_RAIL);
        if (!told && !selector_told)
            judge_reach(choice, &of_selector, term);
    }
    for (size_t i = 0; i < selection->preferred.count; i++)
        judge_values(choice, &selection->preferred.items[i].expressions,
                     severity_of_preference(choice->call));
}

/* ---- pools ---- */

/* Judges the values that are named and that the other requirements leave; whether any is named. */
static bool judge_named(const struct label_choice *choice, const struct expressions *all,
                        const struct filter *filter)
{
    bool named = false;
    FOR_EACH(expression, all) {
        if (!is_about(choice, expression) || expression->op != SOLVER_IN)
            continue;
        named = true;
        for (size_t j = 0; j < expression->value_count; j++) {
            const struct expression_value *value = &expression->values[j];
            enum label_choice_answer answer = choice->answer(choice, expression->key, value->text);
            if (answer == CHOICE_ALLOWED)
                judge_idle(choice, expression, SEVERITY_RAIL);
            if (answer == CHOICE_ALLOWED || !passes(filter, value->text))
                continue;
            label_choice_report(choice, answer, SEVERITY_RAIL,
                                expression_value_field(value, choice->call->arena), value->text);
        }
    }
    return named;
}

/* The values of reach that the requirements leave and that are not allowed. */
static struct zones left_outside(const struct label_choice *choice, const struct filter *filter,
                                 const struct zones *reach)
{
    struct zones outside = {0};
    FOR_EACH(value, reach)
        if (!label_choice_lists(choice, *value) && passes(filter, *value))
            zones_add(&outside, *value, choice->call->arena);
    return outside;
}

void label_choice_judge_pool(const struct label_choice *choice, const struct pool *pool,
                             const struct zones *reach)
{
    enum { SHOWN = 5 };
    struct arena *arena = choice->call->arena;
    struct expressions all = expressions_join(&pool->requirements, &pool->labels, arena);
    struct filter filter = filter_of(choice, &all);
    if (judge_named(choice, &all, &filter))
        return;
    struct draft draft = {
        .field = pool->requirements_field,
        .statement =
            arena_printf(arena, "no requirement names a %s: the pool is open to all", choice->what),
        .allowed = choice->allow,
        .fix = arena_printf(arena, "add to %.*s: %.*s",
                            TEXT_ARGS(field_path(arena, pool->requirements_field)),
                            TEXT_ARGS(requirement_to_add(choice))),
    };
    if (reach != NULL) {
        struct zones outside = left_outside(choice, &filter, reach);
        if (outside.count == 0)
            return;
        draft.found = texts_join(outside.items, outside.count, SHOWN, arena);
        draft.statement =
            arena_printf(arena, "no requirement names a %s: the pool may launch nodes of %.*s",
                         choice->what, TEXT_ARGS(draft.found));
    }
    report_draft(choice->call, &draft);
}
