/* What node-labels says of labels of which a policy grants some values. */
#include "kube/expression.h"
#include "policy/rails/label_filter.h"
#include "policy/rails/node_labels.h"
#include "solver/well_known.h"

enum { SHOWN = 5 };

/* ---- values that are named ---- */

const struct key_strings *label_granted_values(const struct node_labels *settings, struct text key,
                                               struct text canonical)
{
    FOR_EACH(allowed, &settings->allow)
        if (text_equal(allowed->name, key) || text_equal(allowed->name, canonical))
            return &allowed->values;
    return NULL;
}

static bool is_granted(const struct key_strings *granted, struct text value)
{
    return texts_match(granted->items, granted->count, value);
}

static void word_granted(struct label_inquiry *check, const struct label_note *note,
                         struct draft *draft)
{
    const struct key_strings *granted = label_granted_values(
        check->settings, note->expression->key, expression_canonical_key(note->expression));
    struct arena *arena = check->call->arena;
    draft->statement = arena_printf(arena, "%.*s=%.*s is not granted here.",
                                    TEXT_ARGS(note->expression->key), TEXT_ARGS(draft->found));
    struct text choices = label_choices(granted->items, granted->count, "granted values", arena);
    draft->fix = choices.size == 0 ? TEXT("Leave the label out.")
                                   : arena_printf(arena, "Select %.*s, or leave the label out.",
                                                  TEXT_ARGS(choices));
    label_allow(draft, granted->items, granted->count);
}

void label_judge_granted(struct label_inquiry *check, const struct expression *expression,
                         const struct key_strings *granted)
{
    for (size_t i = 0; expression->op == SOLVER_IN && i < expression->value_count; i++)
        if (!is_granted(granted, expression->values[i].text))
            label_note(check, SEVERITY_RAIL, expression, &expression->values[i], word_granted)
                ->forbidden = true;
}

/* ---- what requirements leave of what is granted ---- */

static bool is_about(const struct key_list *allowed, const struct expression *expression)
{
    return expression->valid && (text_equal(allowed->name, expression->key) ||
                                 text_equal(allowed->name, expression_canonical_key(expression)));
}

void label_read_selected(struct label_inquiry *check, const struct expressions *selector)
{
    const struct key_lists *allow = &check->settings->allow;
    check->selected = ARENA_ARRAY(check->call->arena, allow->count, struct label_filter);
    for (size_t i = 0; i < allow->count; i++)
        FOR_EACH(expression, selector)
            if (is_about(&allow->items[i], expression))
                label_filter_add(&check->selected[i], expression, check->call->arena);
}

/* Labels without which there is no node. */
static bool every_node_has(struct text key)
{
    return TEXT_IS_ONE_OF(key, LABEL_ZONE, LABEL_REGION, LABEL_ARCH, LABEL_OS, LABEL_INSTANCE_TYPE,
                          LABEL_CAPACITY_TYPE);
}

/* What a list of requirements says of one key of allow. */
struct reach {
    const struct key_list *allowed;
    const struct label_filter *selected;
    struct label_filter filter;
    const struct expression *last; /* NULL: nothing */
    bool needs_label;
    bool told; /* a value that is not granted, or not known yet, is named */
};

static void reach_add(struct reach *reach, const struct label_inquiry *check,
                      const struct expression *expression)
{
    label_filter_add(&reach->filter, expression, check->call->arena);
    reach->last = expression;
    reach->needs_label |= !solver_op_is_negative(expression->op);
    reach->told |= label_has_template(check, expression);
    for (size_t i = 0; expression->op == SOLVER_IN && i < expression->value_count; i++)
        reach->told |= !is_granted(&reach->allowed->values, expression->values[i].text);
}

static struct reach reach_of(const struct label_inquiry *check, size_t index,
                             const struct expressions *expressions)
{
    struct reach reach = {.allowed = &check->settings->allow.items[index],
                          .selected = &check->selected[index]};
    const struct text_map *named = &reach.selected->named;
    reach.needs_label = reach.selected->in_count > 0;
    for (size_t i = 0; i < named->count; i++)
        reach.told |= !is_granted(&reach.allowed->values, named->items[i].key);
    FOR_EACH(expression, expressions)
        if (is_about(reach.allowed, expression))
            reach_add(&reach, check, expression);
    return reach;
}

/* NotIn takes nodes without the label, too: whether none of them would be bought, and one with a
 * value that is not granted would. */
static bool reaches_others(struct label_inquiry *check, const struct reach *reach)
{
    struct text key = expression_canonical_key(reach->last);
    if (every_node_has(key))
        return true;
    const struct label_offers *offers = label_offers_of(check, reach->last->key);
    if (check->pools_unseen || !offers->from_all_pools)
        return false;
    for (size_t i = 0; i < offers->count; i++)
        if (label_filter_passes(&reach->filter, offers->items[i]) &&
            !is_granted(&reach->allowed->values, offers->items[i]))
            return true;
    return offers->any_value;
}

static void word_reach(struct label_inquiry *check, const struct label_note *note,
                       struct draft *draft)
{
    struct arena *arena = check->call->arena;
    const struct expression *at = note->expression;
    const struct key_strings *granted =
        label_granted_values(check->settings, at->key, expression_canonical_key(at));
    draft->field = at->field;
    draft->found = text_of(solver_op_name(at->op));
    draft->statement = arena_printf(
        arena, "This rules out every value of %.*s that is granted here: %.*s.", TEXT_ARGS(at->key),
        TEXT_ARGS(texts_and(granted->items, granted->count, SHOWN, arena)));
    draft->fix = arena_printf(
        arena, "Remove the requirements on %.*s.%s", TEXT_ARGS(at->key),
        every_node_has(expression_canonical_key(at))
            ? ""
            : " For nodes without the label, require DoesNotExist of it and nothing else.");
    draft->allowed = ALLOWED_LIST(granted);
}

/* DoesNotExist selects no value, and where none is granted none can be left. */
void label_judge_reach(struct label_inquiry *check, const struct expressions *expressions)
{
    const struct key_lists *allow = &check->settings->allow;
    for (size_t i = 0; i < allow->count; i++) {
        struct reach reach = reach_of(check, i, expressions);
        const struct key_strings *granted = &reach.allowed->values;
        if (reach.last == NULL || reach.told || reach.filter.none || granted->count == 0 ||
            label_filters_leave(reach.selected, &reach.filter, granted->items, granted->count) ||
            (!reach.needs_label && !reaches_others(check, &reach)))
            continue;
        label_note(check, SEVERITY_RAIL, reach.last, NULL, word_reach)->forbidden = true;
    }
}
