#include <string.h>

#include "solver/run.h"

static int compare_offerings(const struct offering *a, const struct offering *b)
{
    int order = compare_offering_prices(a, b);
    if (order == 0)
        order = strcmp(a->zone, b->zone);
    return order != 0 ? order : strcmp(a->capacity_type, b->capacity_type);
}

static int compare_priced(const void *a_pointer, const void *b_pointer, void *argument)
{
    const struct solver_problem *problem = argument;
    const struct priced_type *a = a_pointer;
    const struct priced_type *b = b_pointer;
    int order = compare_offering_prices(a->offering, b->offering);
    if (order != 0)
        return order;
    if (a->type != b->type)
        return strcmp(problem->types.items[a->type].name, problem->types.items[b->type].name);
    return compare_offerings(a->offering, b->offering);
}

const bool *claim_set_offerings(struct solver_run *run, const struct claim_set *set)
{
    if (set->allowed_offerings != NULL)
        return set->allowed_offerings;
    const struct solver_problem *problem = run->problem;
    bool *allowed = ARENA_ARRAY(run->arena, problem->offering_shapes.count, bool);
    for (size_t i = 0; i < problem->offering_shapes.count; i++)
        allowed[i] = compatible(problem, &set->requirements,
                                &problem->offering_shapes.items[i].requirements, false, NULL);
    run->sets.sets.items[set->number]->allowed_offerings = allowed;
    return allowed;
}

static const struct offering *cheapest_of_row(const struct row *row, const bool *allowed)
{
    const struct offering *best = NULL;
    for (size_t i = 0; i < row->offering_count; i++) {
        const struct offering *offering = &row->offerings[i];
        if (offering->launchable && allowed[offering->shape] &&
            (best == NULL || compare_offerings(offering, best) < 0))
            best = offering;
    }
    return best;
}

static struct priced_type price_row(const struct solver_problem *problem, size_t row,
                                    const bool *allowed)
{
    const struct row *from = &problem->rows.items[row];
    const struct offering *best = cheapest_of_row(from, allowed);
    int64_t price = best == NULL || best->price_usd_micro < 0 ? INT64_MAX : best->price_usd_micro;
    return (struct priced_type){from->type, price, best};
}

int64_t row_price(struct solver_run *run, const struct claim_set *set, size_t row)
{
    return price_row(run->problem, row, claim_set_offerings(run, set)).price;
}

size_t price_rows(struct solver_run *run, const struct claim_set *set, const uint64_t *rows,
                  struct priced_type *priced)
{
    const struct solver_problem *problem = run->problem;
    const bool *allowed = claim_set_offerings(run, set);
    uint64_t *left = ARENA_ARRAY(run->arena, problem->row_words, uint64_t);
    memcpy(left, rows, problem->row_words * sizeof *left);
    size_t count = 0;
    for (size_t i = 0; i < problem->offering_order_count; i++) {
        const struct priced_offering *next = &problem->offering_order[i];
        if (!bits_has(left, next->row) || !allowed[next->shape])
            continue;
        bits_remove(left, next->row);
        int64_t price = next->offering->price_usd_micro;
        priced[count++] = (struct priced_type){problem->rows.items[next->row].type,
                                               price < 0 ? INT64_MAX : price, next->offering};
    }
    return count;
}

const struct offering *claim_cheapest(struct solver_run *run, const struct claim_set *set,
                                      const uint64_t *rows, size_t *row)
{
    const struct solver_problem *problem = run->problem;
    const bool *allowed = claim_set_offerings(run, set);
    struct priced_type best = {.offering = NULL};
    for (BITS_EACH(candidate, rows, problem->row_words)) {
        struct priced_type one = price_row(problem, candidate, allowed);
        if (one.offering == NULL ||
            (best.offering != NULL && compare_priced(&one, &best, (void *)(uintptr_t)problem) >= 0))
            continue;
        best = one;
        *row = candidate;
    }
    return best.offering;
}

int64_t rows_price(struct solver_run *run, const struct claim_set *set, const uint64_t *rows)
{
    size_t row = 0;
    const struct offering *offering = claim_cheapest(run, set, rows, &row);
    return offering == NULL || offering->price_usd_micro < 0 ? INT64_MAX
                                                             : offering->price_usd_micro;
}

int64_t claim_set_price(struct solver_run *run, const struct claim_set *set)
{
    if (!set->priced) {
        struct claim_set *own = run->sets.sets.items[set->number];
        own->price = rows_price(run, set, claim_set_rows(run, set));
        own->priced = true;
    }
    return set->price;
}
