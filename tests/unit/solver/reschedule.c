/* Making a part of a plan anew: what is given up, and what stays where it was. */
#include "solver_strategy.h"

enum { PODS_EACH = 4 };

static void build_plan(size_t claims)
{
    world_empty();
    sell("four", "cpu 4100m; memory 8Gi; pods 20", "a", 1000);
    POOL(.name = "default");
    PODS(claims, .requests = "cpu 1300m", .labels = "app=x",
         .affinities = {APART("host", "app=x")});
    PODS(claims * (PODS_EACH - 1), .requests = "cpu 900m");
    place_by((struct strategy){.sound = true});
    EXPECT_INT(world.plan->unschedulable_count, 0);
    EXPECT_INT(world.plan->claim_count, claims);
    for (size_t i = 0; i < claims; i++)
        EXPECT_INT(world.plan->claims[i].pod_count, PODS_EACH);
}

/* Some NodeClaims are given up: one at least, of few up to four, of many up to a sixth. All other
 * pods are where they were, together with those they were with, but for single ones every other
 * time. */
static void test_part_of_a_plan(void)
{
    static const struct {
        size_t claims, most;
    } cases[] = {{12, 4}, {23, 4}, {60, 10}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t fewest = SIZE_MAX, most = 0, with_loose = 0;
        build_plan(cases[i].claims);
        const struct old_plan *old = old_plan_of(world.run, world.arena);
        const struct solver_placement *before = world.run->placements;
        for (uint64_t seed = 1; seed <= 200; seed++) {
            struct solver_run *run =
                run_create(world.problem, (struct strategy){.sound = true}, world.arena);
            place_as_before(run, old, seed);
            size_t *kept = ARENA_ARRAY(world.arena, cases[i].claims, size_t);
            size_t given_up = 0, loose = 0, apart = 0;
            for (size_t pod = 0; pod < world.pods.count; pod++)
                kept[before[pod].index] += run->placements[pod].kind == SOLVER_ON_NODE_CLAIM;
            for (size_t j = 0; j < cases[i].claims; j++) {
                given_up += kept[j] == 0;
                loose += kept[j] > 0 && kept[j] < PODS_EACH;
            }
            for (size_t a = 0; a < world.pods.count; a++)
                for (size_t b = 0; b < a; b++)
                    if (run->placements[a].kind == SOLVER_ON_NODE_CLAIM &&
                        run->placements[b].kind == SOLVER_ON_NODE_CLAIM)
                        apart += (before[a].index == before[b].index) !=
                                 (run->placements[a].index == run->placements[b].index);
            EXPECT_INT(apart, 0);
            with_loose += loose > 0;
            if (loose == 0) {
                fewest = given_up < fewest ? given_up : fewest;
                most = given_up > most ? given_up : most;
            }
        }
        EXPECT_INT(fewest, 1);
        EXPECT_INT(most, cases[i].most);
        EXPECT_INT(with_loose > 60 && with_loose < 140, 1);
    }
}

/* What was given up is placed again, and a plan with Nodes keeps those that are on them. */
static void test_plan_on_nodes(void)
{
    world_empty();
    sell("four", "cpu 4100m; memory 8Gi; pods 20", "a", 1000);
    POOL(.name = "default");
    NODE(.name = "there", .allocatable = "cpu 8; memory 8Gi; pods 9");
    struct span pods = PODS(16, .requests = "cpu 1");
    place_by((struct strategy){.sound = true});
    const struct old_plan *old = old_plan_of(world.run, world.arena);
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct solver_run *run =
            run_create(world.problem, (struct strategy){.sound = true}, world.arena);
        place_as_before(run, old, seed);
        place_queue(run);
        plan_finish(run);
        take_plan(run);
        EXPECT_ALL_SCHEDULED(pods);
        EXPECT_INT(world.plan->claim_count, 2);
        size_t there = 0;
        for (size_t i = 0; i < pods.count; i++)
            there += strcmp(node_of(pods.first + i), "there") == 0;
        EXPECT_INT(there, 8);
    }
}

/* A pod does not stay in a lighter pool where the heavier one takes it again. */
static void test_part_of_a_plan_and_weights(void)
{
    world_empty();
    sell("four", "cpu 4100m; memory 8Gi; pods 20", "a", 1000);
    POOL(.name = "heavy", .weight = 10, .limits = "cpu 17");
    POOL(.name = "light");
    PODS(8, .requests = "cpu 3");
    place_by((struct strategy){.sound = true});
    EXPECT_INT(world.plan->claim_count, 8);
    const struct old_plan *old = old_plan_of(world.run, world.arena);
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct solver_run *run =
            run_create(world.problem, (struct strategy){.sound = true}, world.arena);
        place_as_before(run, old, seed);
        size_t in_pools[2] = {0};
        for (size_t i = 0; i < run->node_claims.count; i++)
            in_pools[run->node_claims.items[i].pool]++;
        EXPECT_INT(in_pools[0] <= 4, 1);
        EXPECT_INT(in_pools[1] == 0 || in_pools[0] == 4, 1);
    }
}

/* What is placed again is in the zone where it was. */
static void test_part_of_a_plan_and_zones(void)
{
    world_fresh();
    POOL(.name = "default");
    PODS(9, .requests = "cpu 1.1", .labels = "app=x", .affinities = {APART("host", "app=x")},
         .spreads = {SPREAD("zone", 1, "app=x")});
    place_by((struct strategy){.sound = true});
    EXPECT_INT(world.plan->unschedulable_count, 0);
    const struct old_plan *old = old_plan_of(world.run, world.arena);
    const struct solver_run *before = world.run;
    size_t placed = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct solver_run *run =
            run_create(world.problem, (struct strategy){.sound = true}, world.arena);
        place_as_before(run, old, seed);
        for (size_t pod = 0; pod < world.pods.count; pod++) {
            if (run->placements[pod].kind != SOLVER_ON_NODE_CLAIM)
                continue;
            const struct solver_requirement *zones[2];
            for (size_t i = 0; i < 2; i++) {
                const struct solver_run *one = i == 0 ? before : run;
                zones[i] = solver_requirements_get(
                    &one->node_claims.items[one->placements[pod].index].set->requirements,
                    world.problem->zone_key);
                CU_ASSERT_PTR_NOT_NULL_FATAL(zones[i]);
            }
            EXPECT_INT(solver_requirement_equal(zones[0], zones[1]), 1);
            placed++;
        }
    }
    EXPECT_INT(placed > 400, 1);
}

const char unit_suite[] = "solver reschedule";
const struct unit_test unit_tests[] = {
    {"a part of a plan", test_part_of_a_plan},
    {"a plan on nodes", test_plan_on_nodes},
    {"a part of a plan, and weights", test_part_of_a_plan_and_weights},
    {"a part of a plan, and zones", test_part_of_a_plan_and_zones},
    {NULL, NULL},
};
