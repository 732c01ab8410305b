/* The values of one label that a list of requirements leaves. */
#include "policy/rails/label_filter.h"

#include "kube/expression.h"

/* Gt 3 is Gte 4. */
static void add_bound(struct label_filter *filter, enum solver_op op, struct text text)
{
    int64_t number;
    if (!filter->bounded) {
        filter->bounded = true;
        filter->least = INT64_MIN;
        filter->most = INT64_MAX;
    }
    if (!text_to_int64(text, &number) || (op == SOLVER_GT && number == INT64_MAX) ||
        (op == SOLVER_LT && number == INT64_MIN)) {
        filter->none = true;
        return;
    }
    number += op == SOLVER_GT ? 1 : op == SOLVER_LT ? -1 : 0;
    if ((op == SOLVER_GT || op == SOLVER_GTE) && number > filter->least)
        filter->least = number;
    if ((op == SOLVER_LT || op == SOLVER_LTE) && number < filter->most)
        filter->most = number;
}

void label_filter_add(struct label_filter *filter, const struct expression *expression,
                      struct arena *arena)
{
    if (!expression->valid)
        return;
    for (size_t i = 0; i < expression->value_count; i++) {
        struct text value = expression->values[i].text;
        if (expression->op == SOLVER_NOT_IN)
            (void)text_map_add(&filter->excluded, arena, value);
        else if (expression->op != SOLVER_IN)
            add_bound(filter, expression->op, value);
        /* A value that one In names twice counts once. */
        else if (text_map_get(&filter->named, value, 0) == filter->in_count)
            (void)text_map_add(&filter->named, arena, value);
    }
    filter->in_count += expression->op == SOLVER_IN;
    filter->none |= expression->op == SOLVER_DOES_NOT_EXIST;
}

static bool is_in_bounds(const struct label_filter *filter, struct text value)
{
    int64_t number;
    return !filter->bounded ||
           (text_to_int64(value, &number) && number >= filter->least && number <= filter->most);
}

bool label_filter_passes(const struct label_filter *filter, struct text value)
{
    return !filter->none && !text_map_has(&filter->excluded, value) &&
           text_map_get(&filter->named, value, 0) == filter->in_count &&
           is_in_bounds(filter, value);
}

static bool bounds_are_within(const struct label_filter *inner, const struct label_filter *outer)
{
    return !outer->bounded ||
           (inner->bounded && inner->least >= outer->least && inner->most <= outer->most);
}

bool label_filter_is_within(const struct label_filter *inner, const struct label_filter *outer)
{
    if (inner->none || outer->none)
        return inner->none;
    for (size_t i = 0; inner->in_count > 0 && i < inner->named.count; i++)
        if (label_filter_passes(inner, inner->named.items[i].key) &&
            !label_filter_passes(outer, inner->named.items[i].key))
            return false;
    if (inner->in_count > 0)
        return true;
    for (size_t i = 0; i < outer->excluded.count; i++)
        if (label_filter_passes(inner, outer->excluded.items[i].key))
            return false;
    return outer->in_count == 0 && bounds_are_within(inner, outer);
}

static bool both_pass(const struct label_filter *a, const struct label_filter *b, struct text value)
{
    return label_filter_passes(a, value) && label_filter_passes(b, value);
}

static bool may_be_number(struct text glob)
{
    for (size_t i = 0; i < glob.size; i++)
        if ((glob.data[i] >= 'a' && glob.data[i] <= 'z') ||
            (glob.data[i] >= 'A' && glob.data[i] <= 'Z'))
            return false;
    return true;
}

bool label_filters_leave(const struct label_filter *a, const struct label_filter *b,
                         const struct text *globs, size_t count)
{
    const struct text_map *named = a->in_count > 0 ? &a->named : &b->named;
    bool are_named = a->in_count + b->in_count > 0, are_numbers = a->bounded || b->bounded;
    bool some_glob = false, open = false;
    for (size_t i = 0; i < count; i++) {
        if (!text_is_glob(globs[i]) && both_pass(a, b, globs[i]))
            return true;
        some_glob |= text_is_glob(globs[i]);
        open |= text_is_glob(globs[i]) && (!are_numbers || may_be_number(globs[i]));
    }
    if (!are_named)
        return open && !a->none && !b->none;
    for (size_t i = 0; some_glob && i < named->count; i++)
        if (texts_match(globs, count, named->items[i].key) && both_pass(a, b, named->items[i].key))
            return true;
    return false;
}
