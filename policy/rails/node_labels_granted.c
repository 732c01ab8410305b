/* What node-labels says of labels of which a policy grants some values. */
#include "catalog/catalog.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
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
    for (size_t i = 0; expression->op == SOLVER_IN && i < expression->value_count; i++) {
        const struct expression_value *value = &expression->values[i];
        if (!is_granted(granted, value->text) && !label_is_template(check, expression, value))
            label_note(check, SEVERITY_RAIL, expression, value, word_granted)->forbidden = true;
    }
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
                          LABEL_CAPACITY_TYPE, LABEL_HOSTNAME);
}

/* What a list of requirements says of one key of allow. */
struct reach {
    const struct key_list *allowed;
    const struct label_filter *selected;
    const struct expressions *expressions;
    struct label_filter filter;
    const struct expression *last; /* NULL: nothing */
    bool needs_label;
    bool told;                         /* a value that is not granted, or not known yet, is named */
    const struct label_offers *offers; /* of what is told */
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
                          .selected = &check->selected[index],
                          .expressions = expressions};
    const struct text_map *named = &reach.selected->named;
    reach.needs_label = reach.selected->in_count > 0;
    for (size_t i = 0; i < named->count; i++)
        reach.told |= !is_granted(&reach.allowed->values, named->items[i].key);
    FOR_EACH(expression, expressions)
        if (is_about(reach.allowed, expression))
            reach_add(&reach, check, expression);
    return reach;
}

/* Whether the requirements name values. Then they reach no other than granted ones, unless told. */
static bool names_values(const struct reach *reach)
{
    return reach->selected->in_count > 0 || reach->filter.in_count > 0;
}

static bool reach_takes(const struct reach *reach, struct text value)
{
    return label_filter_passes(reach->selected, value) &&
           label_filter_passes(&reach->filter, value);
}

/* Of the values of nodes the next one, from the index on, that is not granted and that the
 * requirements take. Any value may be one where NodePools leave it open. */
static bool next_other(const struct reach *reach, const struct label_offers *offers, size_t *index,
                       struct text *value)
{
    while (!offers->any_value && label_offers_next(offers, index, value))
        if (reach_takes(reach, *value) && !is_granted(&reach->allowed->values, *value))
            return true;
    return false;
}

#define AUTO_MODE "eks.amazonaws.com/instance-"

static bool pool_labels_machines(const struct pool *pool, bool by_auto_mode)
{
    return by_auto_mode ? pool_is_of_auto_mode(pool)
                        : text_is(pool->node_class_label, "karpenter.k8s.aws/ec2nodeclass");
}

/* Whether each node that the visible pools buy has the label. EKS Auto Mode writes those of
 * machines under its own domain, and has no tenancy. */
static bool every_machine_has(const struct label_inquiry *check,
                              const struct expression *expression)
{
    const struct snapshot *snapshot = check->call->world->snapshot;
    struct text key = expression_canonical_key(expression);
    bool by_auto_mode = text_starts_with(expression->key, TEXT(AUTO_MODE));
    if (!text_is(key, LABEL_ZONE_ID) && !catalog_is_of_each_machine(key))
        return false;
    if (by_auto_mode && text_is(expression->key, AUTO_MODE "tenancy"))
        return false;
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++)
        if (!pool_labels_machines(snapshot_pool(snapshot, i), by_auto_mode))
            return false;
    return !check->pools_unseen;
}

/* Whether the value of one of the types is known. A zone's id is no matter of types. */
static bool some_type_has(const struct catalog *catalog, const struct type_set *types,
                          struct text key)
{
    uint32_t number = solver_names_find_key(catalog_names(catalog), key.data, key.size);
    FOR_TYPES(i, types)
        if (number == SOLVER_NONE ||
            solver_requirements_get(&catalog_type(catalog, i)->requirements, number) != NULL)
            return true;
    return false;
}

/* Whether a visible pool may buy a machine that the requirements take. */
static bool some_pool_buys(const struct label_inquiry *check, const struct reach *reach)
{
    const struct snapshot *snapshot = check->call->world->snapshot;
    const struct catalog *catalog = check->settings->catalog;
    struct arena *arena = check->call->arena;
    bool some = false;
    for (size_t i = 0; !some && i < snapshot_pool_count(snapshot); i++) {
        const struct pool *pool = snapshot_pool(snapshot, i);
        struct arena_mark mark = arena_mark(arena);
        struct expressions all = expressions_join(&pool->requirements, &pool->labels, arena);
        struct type_set types =
            expressions_select_possible(catalog, &all, reach->expressions, arena);
        some = !pool->object->deleting &&
               some_type_has(catalog, &types, expression_canonical_key(reach->last));
        arena_rewind(arena, mark);
    }
    return some;
}

/* NotIn takes nodes without the label, too: whether none of them would be bought, and one with a
 * value that is not granted would. */
static bool reaches_others(struct label_inquiry *check, const struct reach *reach)
{
    if (every_node_has(expression_canonical_key(reach->last)))
        return true;
    const struct label_offers *offers = label_offers_of(check, reach->last->key);
    if (check->pools_unseen)
        return false;
    bool of_machines = every_machine_has(check, reach->last);
    if (!offers->from_all_pools)
        return of_machines && some_pool_buys(check, reach);
    size_t index = 0;
    struct text other;
    if (offers->any_value)
        return !of_machines || some_pool_buys(check, reach);
    return next_other(reach, offers, &index, &other);
}

/* Whether nodes have no other values of the label than those that are seen. */
static bool sees_all_values(const struct label_inquiry *check, const struct expression *expression)
{
    struct text key = expression_canonical_key(expression);
    if (text_is(key, LABEL_NODE_POOL))
        return !check->pools_unseen;
    return !check->pools_unseen && !check->nodes_unseen && !text_is(key, LABEL_HOSTNAME) &&
           !label_is_put_by_others(key) && !solver_is_well_known(key.data, key.size) &&
           !catalog_has_key(check->settings->catalog, key);
}

/* Whether nodes are seen whose value the requirements take, and none with one that is granted. */
static bool reaches_others_alone(struct label_inquiry *check, const struct reach *reach)
{
    const struct label_offers *offers = label_offers_of(check, reach->last->key);
    bool some = false;
    struct text value;
    arena_tick(check->call->arena, label_offers_steps(offers));
    for (size_t i = 0; !offers->any_value && label_offers_next(offers, &i, &value);) {
        if (!reach_takes(reach, value))
            continue;
        if (is_granted(&reach->allowed->values, value))
            return false;
        some = true;
    }
    return some;
}

static bool some_takes(const void *const *reaches, size_t count, const struct key_list *allowed,
                       struct text value)
{
    for (size_t i = 0; i < count; i++) {
        const struct reach *reach = reaches[i];
        if (reach->allowed == allowed && reach_takes(reach, value))
            return true;
    }
    return false;
}

/* On UPDATE a finding is new where it reaches a value that the old object did not. While nobody
 * knows which it reaches, it is new unless its requirements are those of one before, or narrower.
 */
static bool was_reached(const void *reach_pointer, const void *const *old, size_t count,
                        struct arena *arena)
{
    const struct reach *reach = reach_pointer;
    for (size_t i = 0; i < count; i++) {
        const struct reach *before = old[i];
        arena_tick(arena, before->filter.excluded.count + 1);
        if (before->allowed == reach->allowed &&
            label_filter_is_within(&reach->filter, &before->filter))
            return true;
    }
    bool some = false;
    struct text other;
    arena_tick(arena, label_offers_steps(reach->offers));
    for (size_t i = 0; next_other(reach, reach->offers, &i, &other); some = true) {
        arena_tick(arena, count);
        if (!some_takes(old, count, reach->allowed, other))
            return false;
    }
    return some;
}

static void say_reach(const struct label_note *note, struct draft *draft)
{
    draft->field = note->expression->field;
    draft->found = text_of(solver_op_name(note->expression->op));
    draft->was_reached = names_values(note->reach) ? NULL : was_reached;
    draft->reach = note->reach;
    draft->allowed = ALLOWED_LIST(&note->reach->allowed->values);
}

static void word_reach(struct label_inquiry *check, const struct label_note *note,
                       struct draft *draft)
{
    struct arena *arena = check->call->arena;
    const struct expression *at = note->expression;
    const struct key_strings *granted = &note->reach->allowed->values;
    say_reach(note, draft);
    draft->statement = arena_printf(
        arena, "This rules out every value of %.*s that is granted here: %.*s.", TEXT_ARGS(at->key),
        TEXT_ARGS(texts_and(granted->items, granted->count, SHOWN, arena)));
    draft->fix = arena_printf(
        arena, "Remove the requirements on %.*s.%s", TEXT_ARGS(at->key),
        every_node_has(expression_canonical_key(at)) || every_machine_has(check, at)
            ? ""
            : " For nodes without the label, require DoesNotExist of it and nothing else.");
}

static void word_nothing_left(struct label_inquiry *check, const struct label_note *note,
                              struct draft *draft)
{
    struct text key = note->expression->key;
    say_reach(note, draft);
    draft->statement =
        arena_printf(check->call->arena, "Beside the nodeSelector this leaves no value of %.*s.",
                     TEXT_ARGS(key));
    draft->fix = arena_printf(check->call->arena,
                              "Remove the requirements on %.*s from the affinity.", TEXT_ARGS(key));
}

static void word_others_alone(struct label_inquiry *check, const struct label_note *note,
                              struct draft *draft)
{
    struct arena *arena = check->call->arena;
    const struct expression *at = note->expression;
    const struct key_strings *granted = &note->reach->allowed->values;
    struct text shown[SHOWN], other;
    size_t others = 0;
    say_reach(note, draft);
    for (size_t i = 0; next_other(note->reach, note->reach->offers, &i, &other);)
        if (others++ < SHOWN)
            shown[others - 1] = other;
    draft->statement = arena_printf(
        arena,
        "Of the values of %.*s that nodes have, this leaves none that is granted here, only %.*s.",
        TEXT_ARGS(at->key), TEXT_ARGS(texts_and(shown, others, SHOWN, arena)));
    draft->fix = arena_printf(
        arena, "Require In of %.*s, with %.*s, in place of what is required of it.",
        TEXT_ARGS(at->key),
        TEXT_ARGS(label_choices(granted->items, granted->count, "granted values", arena)));
}

/* Whether the requirements leave a granted value; selected: of those that the nodeSelector leaves.
 */
static bool leaves_granted(const struct reach *reach, const struct label_filter *selected)
{
    const struct key_strings *granted = &reach->allowed->values;
    return label_filters_leave(selected, &reach->filter, granted->items, granted->count);
}

/* NULL: the requirements leave a granted value, or reach no value that is not. */
static label_wording *wording_of(struct label_inquiry *check, const struct reach *reach)
{
    static const struct label_filter all;
    if (reach->last == NULL || reach->told || reach->filter.none ||
        reach->allowed->values.count == 0)
        return NULL;
    bool leaves = leaves_granted(reach, reach->selected);
    if (leaves && (!sees_all_values(check, reach->last) || !reaches_others_alone(check, reach)))
        return NULL;
    if (!reach->needs_label && !reaches_others(check, reach))
        return NULL;
    if (leaves)
        return word_others_alone;
    return leaves_granted(reach, &all) ? word_nothing_left : word_reach;
}

/* DoesNotExist selects no value, and where none is granted none can be left. */
void label_judge_reach(struct label_inquiry *check, const struct expressions *expressions)
{
    const struct key_lists *allow = &check->settings->allow;
    for (size_t i = 0; i < allow->count; i++) {
        struct reach reach = reach_of(check, i, expressions);
        label_wording *word = wording_of(check, &reach);
        if (word == NULL)
            continue;
        struct reach *kept = ARENA_NEW(check->call->arena, struct reach);
        *kept = reach;
        kept->offers = label_offers_of(check, reach.last->key);
        struct label_note *note = label_note(check, SEVERITY_RAIL, reach.last, NULL, word);
        note->forbidden = !names_values(kept);
        note->reach = kept;
    }
}
