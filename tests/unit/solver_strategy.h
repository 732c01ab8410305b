/* Runs one strategy of --optimize alone: without the search that keeps the best of many plans, and
 * so would make up for what one of them does wrong. */
#ifndef TAFFRAIL_UNIT_SOLVER_STRATEGY_H
#define TAFFRAIL_UNIT_SOLVER_STRATEGY_H

#include "solver/optimize.h"
#include "solver_fixture.h"

static inline void sell(const char *name, const char *resources, const char *family,
                        int64_t usd_micro)
{
    TYPE(.name = name, .resources = resources,
         .requirements = arena_printf(world.arena, "family=%s", family).data,
         .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = usd_micro)});
}

static inline void take_plan(struct solver_run *run)
{
    world.run = run;
    world.plan = &run->plan;
    for (size_t i = 0; i < world.pods.count; i++)
        for (size_t j = 0; j < run->plan.placement_count; j++)
            if (run->plan.placements[j].pod == world.pods.items[i].number) {
                world.pods.items[i].place = run->plan.placements[j];
                world.pods.items[i].on = world_place_name(&run->plan.placements[j]);
            }
}

/* Places the pods of the world by one strategy alone. */
static inline void place_by(struct strategy strategy)
{
    world_build();
    struct solver_run *run = run_create(world.problem, strategy, world.arena);
    if (strategy.cheapest)
        pack_bins(run);
    place_queue(run);
    plan_finish(run);
    take_plan(run);
}

static inline int64_t plan_usd_micro(void)
{
    int64_t sum = 0;
    for (size_t i = 0; i < world.plan->claim_count; i++)
        sum += world.plan->claims[i].price_usd_micro;
    return sum;
}

#endif
