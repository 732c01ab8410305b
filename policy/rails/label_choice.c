/* Labels of which some values are allowed, in workloads and NodePools. */
#include "policy/rails/label_choice.h"

#include "kube/label.h"
#include "kube/pod.h"
#include "kube/pool.h"
#include "kube/zone.h"
#include "policy/rails/label_filter.h"
#include "policy/reading.h"

enum { SHOWN = 5 };

bool label_choice_lists(const struct label_choice *choice, struct text value)
{
    return texts_match(choice->allow.items, choice->allow.count, value);
}

void label_choice_take(const struct label_choice *choice, struct choice_values *values,
                       struct text value, size_t position)
{
    struct arena *arena = choice->call->arena;
    switch (choice->answer(choice, values->key, value)) {
    case CHOICE_ALLOWED:
        *LIST_PUSH(arena, &values->inside) = value;
        break;
    case CHOICE_OUTSIDE:
        if (values->outside.count == 0)
            values->first_outside = position;
        *LIST_PUSH(arena, &values->outside) = value;
        break;
    case CHOICE_UNKNOWN:
        if (values->unknown.count == 0)
            values->first_unknown = position;
        *LIST_PUSH(arena, &values->unknown) = value;
        break;
    case CHOICE_PASSED:
        break;
    }
}

/* ---- what is said ---- */

static bool is_of_pods(const struct label_choice *choice)
{
    return (KIND_BIT(choice->call->object->kind) & KINDS_WORKLOADS) != 0;
}

/* The allowed values as the key spells them. */
static struct text_list spelt(const struct label_choice *choice, struct text key)
{
    struct text_list values = {0};
    FOR_EACH(item, &choice->allow) {
        struct text value = choice->spell(key, *item);
        if (value.size > 0)
            *LIST_PUSH(choice->call->arena, &values) = value;
    }
    return values;
}

/* "Use a or b": what may stand in the place of what is outside. */
static struct text instead(const struct label_choice *choice, const struct choice_values *values)
{
    struct arena *arena = choice->call->arena;
    struct text_list use = spelt(choice, values->key);
    FOR_EACH(item, &choice->allow)
        if (text_is_glob(*item))
            return arena_printf(
                arena, "Name a %s that matches %.*s", choice->what,
                TEXT_ARGS(texts_or(choice->allow.items, choice->allow.count, arena)));
    if (use.count == 0)
        return arena_printf(arena, "Use the label %s with %.*s", choice->key,
                            TEXT_ARGS(texts_or(choice->allow.items, choice->allow.count, arena)));
    if (use.count > SHOWN)
        return arena_printf(arena, "Use one of %zu allowed %ss, such as %.*s", use.count,
                            choice->what, TEXT_ARGS(use.items[0]));
    if (values->outside.count > 1 && values->first_outside > 0)
        return arena_printf(arena, "Write values: [%.*s]",
                            TEXT_ARGS(texts_join(use.items, use.count, SIZE_MAX, arena)));
    return arena_printf(arena, "Use %.*s", TEXT_ARGS(texts_or(use.items, use.count, arena)));
}

/* A pod can leave the choice to the NodePools; they, and StorageClasses, cannot. */
static struct text fix_of_outside(const struct label_choice *choice,
                                  const struct choice_values *values)
{
    struct arena *arena = choice->call->arena;
    const struct text_list *out = &values->outside, *in = &values->inside;
    if (in->count > 0)
        return arena_printf(arena, "Remove %.*s; %.*s %s.",
                            TEXT_ARGS(texts_and(out->items, out->count, SHOWN, arena)),
                            TEXT_ARGS(texts_and(in->items, in->count, SHOWN, arena)),
                            in->count == 1 ? "stays" : "stay");
    return arena_printf(arena, "%.*s%s.", TEXT_ARGS(instead(choice, values)),
                        is_of_pods(choice) ? ", or leave the choice to the NodePools" : "");
}

static const struct field *field_of(const struct choice_values *values,
                                    const struct text_list *told, size_t first, struct arena *arena)
{
    return told->count == 1 && first > 0 ? field_item(arena, values->field, first - 1)
                                         : values->field;
}

static void report_outside(const struct label_choice *choice, const struct choice_values *values,
                           enum severity severity)
{
    struct arena *arena = choice->call->arena;
    const struct text_list *told = &values->outside;
    bool one = told->count == 1;
    if (severity == SEVERITY_RAIL && is_of_daemon_set(choice->call))
        severity = SEVERITY_WARN;
    if (report_counts(choice->call, severity))
        return;
    struct draft draft = {
        .severity = severity,
        .field = field_of(values, told, values->first_outside, arena),
        .found = texts_join(told->items, told->count, SHOWN, arena),
        .values = *told,
        .statement = arena_printf(
            arena, "%s%s %.*s %s not allowed here.", choice->title, one ? "" : "s",
            TEXT_ARGS(texts_and(told->items, told->count, SHOWN, arena)), one ? "is" : "are"),
        .allowed = choice->allow,
        .nearest_to = told->items[0],
        .fix = fix_of_outside(choice, values),
    };
    choice->describe(choice, values, &draft);
    report_say(choice->call, &draft);
}

static void report_unknown(const struct label_choice *choice, const struct choice_values *values)
{
    struct arena *arena = choice->call->arena;
    const struct text_list *told = &values->unknown;
    struct text names = texts_and(told->items, told->count, SHOWN, arena);
    report_as(choice->call, SEVERITY_UNDECIDED,
              .field = field_of(values, told, values->first_unknown, arena),
              .found = texts_join(told->items, told->count, SHOWN, arena), .values = *told,
              .statement =
                  told->count == 1
                      ? arena_printf(arena, "No visible EC2NodeClass tells which %s %.*s is.",
                                     choice->what, TEXT_ARGS(names))
                      : arena_printf(arena, "No visible EC2NodeClass tells which %ss %.*s are.",
                                     choice->what, TEXT_ARGS(names)),
              .allowed = choice->allow,
              .fix = arena_printf(arena, "Use the label %s, or make the EC2NodeClasses visible.",
                                  choice->key));
}

void label_choice_report(const struct label_choice *choice, const struct choice_values *values,
                         enum severity severity)
{
    if (values->outside.count > 0)
        report_outside(choice, values, severity);
    if (values->unknown.count > 0)
        report_unknown(choice, values);
}

/* ---- expressions ---- */

/* An allowed value that leaves nothing to buy; where it stands beside others it does no harm. */
static void judge_idle(const struct label_choice *choice, const struct expression *expression,
                       enum severity severity)
{
    struct arena *arena = choice->call->arena;
    const struct expression_value *value = &expression->values[0];
    const char *why = choice->idle == NULL || expression->value_count != 1
                          ? NULL
                          : choice->idle(choice, expression->key, value->text);
    if (why == NULL)
        return;
    report_as(choice->call, severity == SEVERITY_RAIL ? SEVERITY_WARN : severity,
              .field = expression_value_field(value, arena), .found = value->text,
              .statement = arena_printf(arena, "No node is bought for \"%.*s\" alone, because %s.",
                                        TEXT_ARGS(value->text), why),
              .fix = arena_printf(arena, "%s another %s%s.", value->position > 0 ? "Add" : "Use",
                                  choice->what, value->position > 0 ? " beside it" : ""));
}

static bool is_about(const struct label_choice *choice, const struct expression *expression)
{
    return expression->valid && choice->is_key(expression->key);
}

/* The values that expressions of the choice's own key leave. Other labels spell their values in
 * other ways: they are judged where they are named. */
static struct label_filter filter_of(const struct label_choice *choice,
                                     const struct expressions *expressions)
{
    struct label_filter filter = {0};
    FOR_EACH(expression, expressions)
        if (expression->valid && text_is(expression_canonical_key(expression), choice->key))
            label_filter_add(&filter, expression, choice->call->arena);
    return filter;
}

/* Judges the values that an In names, of a pool those that its other requirements leave (filter);
 * whether one is not allowed, or is no value of a label: a placeholder may become an allowed one.
 */
static bool judge_expression(const struct label_choice *choice, const struct expression *expression,
                             const struct label_filter *filter, enum severity severity)
{
    struct choice_values values = {.key = expression->key, .field = expression->field};
    bool open = false;
    for (size_t i = 0; i < expression->value_count; i++) {
        const struct expression_value *value = &expression->values[i];
        values.field = value->within;
        open |= !label_value_is_valid(value->text);
        if (filter == NULL || label_filter_passes(filter, value->text) ||
            choice->answer(choice, expression->key, value->text) == CHOICE_ALLOWED)
            label_choice_take(choice, &values, value->text, value->position);
    }
    label_choice_report(choice, &values, severity);
    if (values.inside.count == expression->value_count && values.inside.count > 0)
        judge_idle(choice, expression, severity);
    return open || values.outside.count + values.unknown.count > 0;
}

/* Whether a value that an In names is not allowed, or is none. */
static bool judge_values(const struct label_choice *choice, const struct expressions *expressions,
                         enum severity severity)
{
    bool some = false;
    FOR_EACH(expression, expressions)
        if (is_about(choice, expression) && expression->op == SOLVER_IN)
            some |= judge_expression(choice, expression, NULL, severity);
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

static void report_ruled_out(const struct label_choice *choice, const struct expression *at)
{
    struct arena *arena = choice->call->arena;
    enum severity severity = is_of_daemon_set(choice->call) ? SEVERITY_WARN : SEVERITY_RAIL;
    report_as(choice->call, severity, .field = at->field, .found = text_of(solver_op_name(at->op)),
              .statement = arena_printf(
                  arena, "This rules out every allowed %s: %.*s.", choice->what,
                  TEXT_ARGS(texts_and(choice->allow.items, choice->allow.count, SHOWN, arena))),
              .allowed = choice->allow,
              .fix = arena_printf(arena, "Remove the requirement on %.*s.", TEXT_ARGS(at->key)));
}

/* Of another label of the choice, which some nodes lack: whether the term wants it to be there and
 * leaves no allowed value, as that label spells them. Values that an In names are judged there. */
static bool rules_out_spelt(const struct label_choice *choice, const struct expressions *term,
                            struct text key)
{
    static const struct label_filter none;
    struct label_filter filter = {0};
    bool must_exist = false;
    FOR_EACH(expression, term) {
        if (!expression->valid || !text_equal(expression->key, key))
            continue;
        label_filter_add(&filter, expression, choice->call->arena);
        must_exist |= expression->op == SOLVER_EXISTS;
    }
    if (!must_exist || filter.in_count > 0)
        return false;
    struct text_list allowed = spelt(choice, key);
    return allowed.count == choice->allow.count &&
           !label_filters_leave(&none, &filter, allowed.items, allowed.count);
}

static void judge_reach(const struct label_choice *choice, const struct label_filter *selector,
                        const struct expressions *term)
{
    const struct expression *at = last_about(choice, term);
    if (at == NULL)
        return;
    struct label_filter of_term = filter_of(choice, term);
    bool leaves_some =
        label_filters_leave(selector, &of_term, choice->allow.items, choice->allow.count);
    bool is_other = !text_is(expression_canonical_key(at), choice->key);
    if (!leaves_some || (is_other && rules_out_spelt(choice, term, at->key)))
        report_ruled_out(choice, at);
}

void label_choice_judge_workload(const struct label_choice *choice)
{
    struct workload workload;
    if (!call_workload(choice->call, &workload))
        return;
    const struct node_selection *selection = call_selection(choice->call, &workload);
    bool selector_told = judge_values(choice, &selection->selector, SEVERITY_RAIL);
    struct label_filter of_selector = filter_of(choice, &selection->selector);
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
                        const struct label_filter *filter)
{
    bool named = false;
    FOR_EACH(expression, all) {
        if (!is_about(choice, expression) || expression->op != SOLVER_IN)
            continue;
        named = true;
        judge_expression(choice, expression, filter, SEVERITY_RAIL);
    }
    return named;
}

/* The values of reach that the requirements leave, as they are allowed or not. */
static void sort_reach(const struct label_choice *choice, const struct label_filter *filter,
                       const struct zones *reach, struct text_list *inside,
                       struct text_list *outside)
{
    FOR_EACH(value, reach) {
        struct text_list *list = label_choice_lists(choice, *value) ? inside : outside;
        if (label_filter_passes(filter, *value))
            *LIST_PUSH(choice->call->arena, list) = *value;
    }
}

/* What a requirement can name: globs give way to what they allow of reach. */
static struct text_list nameable(const struct label_choice *choice, const struct text_list *inside)
{
    struct text_list values = {0};
    FOR_EACH(item, &choice->allow)
        if (!text_is_glob(*item))
            *LIST_PUSH(choice->call->arena, &values) = *item;
    return values.count == choice->allow.count ? values : *inside;
}

static struct text fix_of_open_pool(const struct label_choice *choice, const struct pool *pool,
                                    const struct text_list *inside)
{
    struct arena *arena = choice->call->arena;
    struct text path = field_path(arena, pool->requirements_field);
    struct text_list values = nameable(choice, inside);
    if (values.count == 0)
        return arena_printf(
            arena, "Add to %.*s a requirement on %s that names %ss of this list: %.*s.",
            TEXT_ARGS(path), choice->key, choice->what,
            TEXT_ARGS(texts_and(choice->allow.items, choice->allow.count, SHOWN, arena)));
    return arena_printf(arena, "Add to %.*s: [{key: %s, operator: In, values: [%.*s]}].",
                        TEXT_ARGS(path), choice->key,
                        TEXT_ARGS(texts_join(values.items, values.count, SIZE_MAX, arena)));
}

void label_choice_judge_pool(const struct label_choice *choice, const struct pool *pool,
                             const struct pool_reach *reach)
{
    struct arena *arena = choice->call->arena;
    struct expressions all = expressions_join(&pool->requirements, &pool->labels, arena);
    struct label_filter filter = filter_of(choice, &all);
    if (judge_named(choice, &all, &filter))
        return;
    struct text_list inside = {0}, outside = {0};
    struct draft draft = {
        .field = pool->requirements_field,
        .statement = reach->unknown,
        .allowed = choice->allow,
    };
    if (reach->values != NULL) {
        sort_reach(choice, &filter, reach->values, &inside, &outside);
        if (outside.count == 0)
            return;
        draft.found = texts_join(outside.items, outside.count, SHOWN, arena);
        draft.values = outside;
        draft.statement =
            arena_printf(arena,
                         "No requirement lists the %ss to use, so the pool may launch %s%.*s%s, "
                         "which %s not allowed here.",
                         choice->what, choice->before,
                         TEXT_ARGS(texts_and(outside.items, outside.count, SHOWN, arena)),
                         choice->after, outside.count == 1 && choice->after[0] == 0 ? "is" : "are");
    }
    bool dead_end = reach->values != NULL && inside.count == 0 && reach->dead_end.size > 0;
    draft.fix = dead_end ? reach->dead_end : fix_of_open_pool(choice, pool, &inside);
    report_draft(choice->call, &draft);
}
