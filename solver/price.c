/* Prices of options and NodeClaims. */
#include <string.h>

#include "solver/run.h"

const bool *node_requirements_offerings(struct solver_run *run, const struct node_requirements *set)
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

static const struct offering *cheapest_of_option(const struct instance_type_option *option,
                                                 const bool *allowed)
{
    const struct offering *best = NULL;
    for (size_t i = 0; i < option->offering_count; i++) {
        const struct offering *offering = &option->offerings[i];
        if (offering->launchable && allowed[offering->shape] &&
            (best == NULL || offering->order < best->order))
            best = offering;
    }
    return best;
}

static struct priced_type price_option(const struct solver_problem *problem, size_t option,
                                       const bool *allowed)
{
    const struct instance_type_option *from = &problem->options.items[option];
    const struct offering *best = cheapest_of_option(from, allowed);
    int64_t price = best == NULL || best->price_usd_micro < 0 ? INT64_MAX : best->price_usd_micro;
    return (struct priced_type){from->type, price, best};
}

int64_t option_price(struct solver_run *run, const struct node_requirements *set, size_t option)
{
    return price_option(run->problem, option, node_requirements_offerings(run, set)).price;
}

size_t price_options(struct solver_run *run, const struct node_requirements *set,
                     const uint64_t *options, struct priced_type *priced)
{
    const struct solver_problem *problem = run->problem;
    const bool *allowed = node_requirements_offerings(run, set);
    uint64_t *left = ARENA_ARRAY(run->arena, problem->option_words, uint64_t);
    memcpy(left, options, problem->option_words * sizeof *left);
    size_t count = 0;
    for (size_t i = 0; i < problem->offering_order_count; i++) {
        const struct priced_offering *next = &problem->offering_order[i];
        if (!bits_has(left, next->option) || !allowed[next->shape])
            continue;
        bits_remove(left, next->option);
        int64_t price = next->offering->price_usd_micro;
        priced[count++] = (struct priced_type){problem->options.items[next->option].type,
                                               price < 0 ? INT64_MAX : price, next->offering};
    }
    return count;
}

const struct offering *node_claim_cheapest(struct solver_run *run,
                                           const struct node_requirements *set,
                                           const uint64_t *options, size_t *option)
{
    const struct solver_problem *problem = run->problem;
    const bool *allowed = node_requirements_offerings(run, set);
    struct priced_type best = {.offering = NULL};
    for (BITS_EACH(candidate, options, problem->option_words)) {
        struct priced_type one = price_option(problem, candidate, allowed);
        if (one.offering == NULL ||
            (best.offering != NULL && one.offering->order > best.offering->order))
            continue;
        best = one;
        *option = candidate;
    }
    return best.offering;
}

int64_t options_price(struct solver_run *run, const struct node_requirements *set,
                      const uint64_t *options)
{
    size_t option = 0;
    const struct offering *offering = node_claim_cheapest(run, set, options, &option);
    return offering == NULL || offering->price_usd_micro < 0 ? INT64_MAX
                                                             : offering->price_usd_micro;
}

int64_t node_requirements_price(struct solver_run *run, const struct node_requirements *set)
{
    if (!set->priced) {
        struct node_requirements *own = run->sets.sets.items[set->number];
        own->price = options_price(run, set, node_requirements_options(run, set));
        own->priced = true;
    }
    return set->price;
}
