#include "policy/rails/choice.h"

bool choice_lists(const struct choice *choice, struct text value)
{
    for (size_t i = 0; i < choice->allow_count; i++)
        if (text_equal(choice->allow[i], value))
            return true;
    return false;
}

/* ---- what is said ---- */

/* A pod can leave the choice to the NodePools; they, and StorageClasses, cannot. */
static struct text fix_of_value(const struct choice *choice)
{
    bool of_pods = (KIND_BIT(choice->judgement->object->kind) & KINDS_WORKLOADS) != 0;
    if (choice->allow_count == 1)
        return arena_printf(choice->judgement->arena, "replace with %.*s%s",
                            TEXT_ARGS(choice->allow[0]),
                            of_pods ? ", or leave the choice to the NodePools" : "");
    return of_pods ? TEXT("use one of the allowed values, or leave the choice to the NodePools")
                   : TEXT("use one of the allowed values");
}

void choice_report(const struct choice *choice, enum choice_answer answer, enum severity severity,
                   const struct field *field, struct text value)
{
    struct arena *arena = choice->judgement->arena;
    struct draft draft = {
        .severity = severity,
        .field = field,
        .found = value,
        .allowed = choice->allow,
        .allowed_count = choice->allow_count,
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
    judgement_report(choice->judgement, &draft);
}

static struct text requirement_to_add(const struct choice *choice)
{
    struct text_builder yaml = {.arena = choice->judgement->arena};
    text_builder_printf(&yaml, "[{key: %s, operator: In, values: [", choice->key);
    for (size_t i = 0; i < choice->allow_count; i++)
        text_builder_printf(&yaml, "%s%.*s", i == 0 ? "" : ", ", TEXT_ARGS(choice->allow[i]));
    text_builder_add(&yaml, TEXT("]}]"));
    return text_builder_text(&yaml);
}

/* ---- expressions ---- */

/* Whether a node with this value fits. None is a number: Gt and the like let none pass. */
static bool passes(const struct expression *expression, struct text value)
{
    if (expression->op == SOLVER_IN || expression->op == SOLVER_NOT_IN)
        return expression_names(expression, value) == (expression->op == SOLVER_IN);
    return expression->op == SOLVER_EXISTS;
}

/* An allowed value that leaves nothing to buy; where it stands beside others it does no harm. */
static void judge_idle(const struct choice *choice, const struct expression *expression,
                       enum severity severity)
{
    const struct expression_value *value = &expression->values[0];
    const char *why = choice->idle == NULL || expression->value_count != 1
                          ? NULL
                          : choice->idle(choice, expression->key, value->text);
    if (why == NULL)
        return;
    judgement_report(
        choice->judgement,
        &(struct draft){
            .severity = severity == SEVERITY_RAIL ? SEVERITY_WARN : severity,
            .field = value->field,
            .found = value->text,
            .statement = arena_printf(choice->judgement->arena, "found \"%.*s\": %s",
                                      TEXT_ARGS(value->text), why),
            .fix = arena_printf(choice->judgement->arena, "add another %s beside it", choice->what),
        });
}

static bool is_about(const struct choice *choice, const struct expression *expression)
{
    return expression->valid && choice->is_key(expression->key);
}

static bool all_pass(const struct choice *choice, const struct expressions *expressions,
                     struct text value)
{
    for (size_t i = 0; i < expressions->count; i++) {
        const struct expression *expression = &expressions->items[i];
        struct text key = expression->key;
        key.data = solver_canonical_key(key.data, &key.size);
        /* Other labels spell their values in other ways: they are judged where they are named. */
        if (expression->valid && text_is(key, choice->key) && !passes(expression, value))
            return false;
    }
    return true;
}

/* Judges the values that In names; whether one is not allowed. */
static bool judge_values(const struct choice *choice, const struct expressions *expressions,
                         enum severity severity)
{
    bool some = false;
    for (size_t i = 0; i < expressions->count; i++) {
        const struct expression *expression = &expressions->items[i];
        if (!is_about(choice, expression) || expression->op != SOLVER_IN)
            continue;
        for (size_t j = 0; j < expression->value_count; j++) {
            const struct expression_value *value = &expression->values[j];
            enum choice_answer answer = choice->answer(choice, expression->key, value->text);
            if (answer == CHOICE_ALLOWED) {
                judge_idle(choice, expression, severity);
                continue;
            }
            some = true;
            choice_report(choice, answer, severity, value->field, value->text);
        }
    }
    return some;
}

/* ---- workloads ---- */

/* The last expression that is about it; NULL: none. */
static const struct expression *last_about(const struct choice *choice,
                                           const struct expressions *expressions)
{
    const struct expression *last = NULL;
    for (size_t i = 0; i < expressions->count; i++)
        if (is_about(choice, &expressions->items[i]))
            last = &expressions->items[i];
    return last;
}

static void judge_reach(const struct choice *choice, const struct expressions *selector,
                        const struct expressions *term)
{
    struct arena *arena = choice->judgement->arena;
    const struct expression *at = last_about(choice, term);
    if (at == NULL)
        return;
    for (size_t i = 0; i < choice->allow_count; i++)
        if (all_pass(choice, selector, choice->allow[i]) &&
            all_pass(choice, term, choice->allow[i]))
            return;
    judgement_report(
        choice->judgement,
        &(struct draft){
            .field = at->field,
            .found = text_of(solver_op_name(at->op)),
            .statement = arena_printf(arena, "rules out every allowed %s", choice->what),
            .allowed = choice->allow,
            .allowed_count = choice->allow_count,
            .fix = arena_printf(arena, "remove the requirement on %.*s", TEXT_ARGS(at->key)),
        });
}

void choice_judge_workload(const struct choice *choice)
{
    struct arena *arena = choice->judgement->arena;
    struct workload workload;
    struct node_selection selection;
    if (!workload_read(choice->judgement->object, arena, &workload))
        return;
    node_selection_read(&workload, arena, &selection);
    bool selector_told = judge_values(choice, &selection.selector, SEVERITY_RAIL);
    for (size_t i = 0; i < selection.required.count; i++) {
        const struct expressions *term = &selection.required.items[i].expressions;
        bool told = judge_values(choice, term, SEVERITY_RAIL);
        if (!told && !selector_told)
            judge_reach(choice, &selection.selector, term);
    }
    for (size_t i = 0; i < selection.preferred.count; i++)
        judge_values(choice, &selection.preferred.items[i].expressions,
                     severity_of_preference(choice->judgement));
}

/* ---- pools ---- */

static struct expressions join(const struct expressions *a, const struct expressions *b,
                               struct arena *arena)
{
    struct expressions all = {0};
    for (size_t i = 0; i < a->count; i++)
        *LIST_PUSH(arena, &all) = a->items[i];
    for (size_t i = 0; i < b->count; i++)
        *LIST_PUSH(arena, &all) = b->items[i];
    return all;
}

/* Judges the values that are named and that the other requirements leave; whether any is named. */
static bool judge_named(const struct choice *choice, const struct expressions *all)
{
    bool named = false;
    for (size_t i = 0; i < all->count; i++) {
        const struct expression *expression = &all->items[i];
        if (!is_about(choice, expression) || expression->op != SOLVER_IN)
            continue;
        named = true;
        for (size_t j = 0; j < expression->value_count; j++) {
            const struct expression_value *value = &expression->values[j];
            enum choice_answer answer = choice->answer(choice, expression->key, value->text);
            if (answer == CHOICE_ALLOWED)
                judge_idle(choice, expression, SEVERITY_RAIL);
            if (answer == CHOICE_ALLOWED || !all_pass(choice, all, value->text))
                continue;
            choice_report(choice, answer, SEVERITY_RAIL, value->field, value->text);
        }
    }
    return named;
}

/* The values of reach that the requirements leave and that are not allowed. */
static struct zones left_outside(const struct choice *choice, const struct expressions *all,
                                 const struct zones *reach)
{
    struct zones outside = {0};
    for (size_t i = 0; i < reach->count; i++)
        if (!choice_lists(choice, reach->items[i]) && all_pass(choice, all, reach->items[i]))
            zones_add(&outside, reach->items[i], choice->judgement->arena);
    return outside;
}

void choice_judge_pool(const struct choice *choice, const struct pool *pool,
                       const struct zones *reach)
{
    enum { SHOWN = 5 };
    struct arena *arena = choice->judgement->arena;
    struct expressions all = join(&pool->requirements, &pool->labels, arena);
    if (judge_named(choice, &all))
        return;
    struct draft draft = {
        .field = pool->requirements_field,
        .statement =
            arena_printf(arena, "no requirement names a %s: the pool is open to all", choice->what),
        .allowed = choice->allow,
        .allowed_count = choice->allow_count,
        .fix = arena_printf(arena, "add to %.*s: %.*s",
                            TEXT_ARGS(field_path(arena, pool->requirements_field)),
                            TEXT_ARGS(requirement_to_add(choice))),
    };
    if (reach != NULL) {
        struct zones outside = left_outside(choice, &all, reach);
        if (outside.count == 0)
            return;
        struct text_builder names = {.arena = arena};
        for (size_t i = 0; i < outside.count && i < SHOWN; i++)
            text_builder_printf(&names, "%s%.*s", i == 0 ? "" : ", ", TEXT_ARGS(outside.items[i]));
        if (outside.count > SHOWN)
            text_builder_printf(&names, ", ... (%zu)", outside.count);
        draft.found = text_builder_text(&names);
        draft.statement =
            arena_printf(arena, "no requirement names a %s: the pool may launch nodes of %.*s",
                         choice->what, TEXT_ARGS(draft.found));
    }
    judgement_report(choice->judgement, &draft);
}
