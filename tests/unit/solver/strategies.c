/* The strategies of --optimize, each by itself: without the search that keeps the best of many
 * plans, and so would make up for what one of them does wrong. */
#include "solver/optimize.h"
#include "solver_fixture.h"

static void sell(const char *name, const char *resources, const char *family, int64_t usd_micro)
{
    TYPE(.name = name, .resources = resources,
         .requirements = arena_printf(world.arena, "family=%s", family).data,
         .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = usd_micro)});
}

static void take_plan(struct solver_run *run)
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
static void place_by(struct strategy strategy)
{
    world_build();
    struct solver_run *run = run_create(world.problem, strategy, world.arena);
    if (strategy.cheapest)
        pack_bins(run);
    place_queue(run);
    plan_finish(run);
    take_plan(run);
}

static int64_t plan_usd_micro(void)
{
    int64_t sum = 0;
    for (size_t i = 0; i < world.plan->claim_count; i++)
        sum += world.plan->claims[i].price_usd_micro;
    return sum;
}

/* ---- by price ---- */

/* To be joined is the NodeClaim that becomes dearer by the least, whichever comes first. */
static void test_least_added_price(void)
{
    static const char *const orders[] = {"abc", "acb", "bac", "bca", "cab", "cba"};
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        world_empty();
        world.title = orders[i];
        sell("a.small", "cpu 2100m", "a", 1000);
        sell("a.large", "cpu 4100m", "a", 1900);
        sell("b.small", "cpu 2100m", "b", 1000);
        sell("b.large", "cpu 4100m", "b", 1500);
        sell("c.small", "cpu 2100m", "c", 1000);
        sell("c.large", "cpu 4100m", "c", 1700);
        POOL(.name = "default");
        size_t first[3] = {0};
        for (size_t j = 0; j < 3; j++) {
            char family = orders[i][j];
            first[family - 'a'] =
                POD(.requests = arena_printf(world.arena, "cpu 1%c00m", (char)('9' - j)).data,
                    .selector = arena_printf(world.arena, "family=%c", family).data);
        }
        size_t pod = POD(.requests = "cpu 1500m");
        place_by((struct strategy){.sound = true, .by_price = true});
        EXPECT_SAME_NODE(pod, first['b' - 'a']);
        EXPECT_INT(world.plan->claim_count, 3);
    }
}

/* What joining costs against what a NodeClaim of its own costs. */
static void test_joining_or_opening(void)
{
    static const struct {
        const char *name;
        int64_t small, large; /* in micro-dollars */
        size_t claims;
    } cases[] = {
        {"dearer than a new one", 1000, 2001, 2},  {"as dear as a new one", 1000, 2000, 1},
        {"cheaper than a new one", 1000, 1999, 1}, {"at no price", 1000, 1000, 1},
        {"for nothing at all", 0, 0, 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_empty();
        world.title = cases[i].name;
        sell("small", "cpu 2100m", "a", cases[i].small == 0 ? 1 : cases[i].small);
        sell("large", "cpu 4100m", "a", cases[i].large == 0 ? 1 : cases[i].large);
        for (size_t j = 0; j < 2 && cases[i].large == 0; j++)
            world.types.items[j].offerings[0].free = true;
        POOL(.name = "default");
        struct span pods = PODS(2, .requests = "cpu 2");
        place_by((struct strategy){.sound = true, .by_price = true});
        EXPECT_ALL_SCHEDULED(pods);
        EXPECT_INT(world.plan->claim_count, cases[i].claims);
    }
}

/* A machine without a price is no cheap one: of pools that weigh the same, one with a price comes
 * first, whatever its name. */
static void test_no_price_is_not_cheap(void)
{
    static const char *const unpriced[] = {"a", "b"};
    for (size_t i = 0; i < COUNT_OF(unpriced); i++) {
        world_empty();
        world.title = unpriced[i];
        sell("a.one", "cpu 2100m", "a", i == 0 ? -1 : 5000);
        sell("b.one", "cpu 2100m", "b", i == 1 ? -1 : 5000);
        POOL(.name = "a", .requirements = "family=a");
        POOL(.name = "b", .requirements = "family=b");
        size_t pod = POD(.requests = "cpu 1");
        place_by((struct strategy){.sound = true, .by_price = true});
        EXPECT_TEXT(solver_pool_name(world.problem, claim_of(pod)->pool), i == 0 ? "b" : "a");
    }
}

/* So many NodeClaims are weighed against each other, and none beyond them. */
static void test_weighed_at_most(void)
{
    enum { WEIGHED = 24 };
    for (size_t before = WEIGHED - 1; before <= WEIGHED; before++) {
        world_empty();
        sell("a.small", "cpu 2100m", "a", 1000);
        sell("a.large", "cpu 4100m", "a", 3000);
        sell("b.small", "cpu 2100m", "b", 1000);
        sell("b.large", "cpu 4100m", "b", 1500);
        POOL(.name = "default");
        struct span dear = PODS(before, .requests = "cpu 2", .selector = "family=a",
                                .labels = "app=x", .affinities = {APART("host", "app=x")});
        size_t cheap = POD(.requests = "cpu 1900m", .selector = "family=b");
        size_t pod = POD(.requests = "cpu 1800m");
        place_by((struct strategy){.sound = true, .by_price = true});
        EXPECT_ALL_SCHEDULED(dear);
        EXPECT_PLACED(pod);
        EXPECT_INT(same_node(pod, cheap), before < WEIGHED);
        EXPECT_INT(world.plan->claim_count, before < WEIGHED ? before + 1 : before + 2);
    }
}

/* ---- packing ---- */

static const struct strategy packing = {
    .cheapest = true, .best_fit = true, .exact_limits = true, .sound = true, .look_ahead = true};

/* Pods that fill a cheap machine, and others that may not be on it: neither keeps the other from
 * its own. */
static void test_each_on_its_own(void)
{
    world_empty();
    sell("dear", "cpu 16100m; memory 9Gi; pods 20", "a", 3000);
    sell("cheap", "cpu 8100m; memory 9Gi; pods 20", "b", 1000);
    POOL(.name = "default");
    struct span bound = PODS(4, .requests = "cpu 4", .selector = "family=a");
    struct span free = PODS(16, .requests = "cpu 1");
    place_by(packing);
    EXPECT_ALL_SCHEDULED(bound);
    EXPECT_ALL_SCHEDULED(free);
    EXPECT_INT(plan_usd_micro(), 3000 + 2 * 1000);
}

/* A pod with much cpu and one with much memory share a machine; alike they would idle half of it.
 */
static void test_what_goes_together(void)
{
    world_empty();
    sell("one", "cpu 8100m; memory 8202Mi; pods 20", "a", 1000);
    POOL(.name = "default");
    struct span cpu = PODS(10, .requests = "cpu 7; memory 1Gi");
    struct span memory = PODS(10, .requests = "cpu 1; memory 7Gi");
    place_by(packing);
    EXPECT_ALL_SCHEDULED(cpu);
    EXPECT_ALL_SCHEDULED(memory);
    EXPECT_INT(plan_usd_micro(), 10 * 1000);
}

/* What of a size is bought: as many large machines as are full, and a small one for the rest. */
static void test_the_rest_is_small(void)
{
    static const struct {
        size_t pods;
        int64_t usd_micro;
    } cases[] = {{1, 300}, {2, 500}, {8, 1400}, {9, 1700}, {10, 1900}, {16, 2800}, {17, 3100}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_empty();
        world.title = arena_printf(world.arena, "%zu pods", cases[i].pods).data;
        sell("eight", "cpu 8100m; memory 99Gi; pods 20", "a", 1400);
        sell("two", "cpu 2100m; memory 99Gi; pods 20", "a", 500);
        sell("one", "cpu 1100m; memory 99Gi; pods 20", "a", 300);
        POOL(.name = "default");
        struct span pods = PODS(cases[i].pods, .requests = "cpu 1");
        place_by(packing);
        EXPECT_ALL_SCHEDULED(pods);
        EXPECT_INT(plan_usd_micro(), cases[i].usd_micro);
    }
}

/* Nodes have what they have at no price, and so do NodeClaims that were opened for pods which are
 * not packed. */
static void test_what_is_there_is_used(void)
{
    world_empty();
    sell("four", "cpu 4100m; memory 8Gi; pods 20", "a", 1000);
    POOL(.name = "default");
    NODE(.name = "there", .allocatable = "cpu 2; memory 8Gi; pods 9");
    size_t port = POD(.requests = "cpu 3", .ports = {{"", "", 80}});
    struct span loose = PODS(3, .requests = "cpu 1");
    place_by(packing);
    EXPECT_PLACED(port);
    EXPECT_ALL_SCHEDULED(loose);
    EXPECT_TEXT(node_of(loose.first), "there");
    EXPECT_TEXT(node_of(loose.first + 1), "there");
    EXPECT_SAME_NODE(loose.first + 2, port);
    EXPECT_INT(world.plan->claim_count, 1);
}

/* A NodeClaim that was opened before does not grow for pods that are cheaper elsewhere. */
static void test_no_growth_for_packed_pods(void)
{
    world_empty();
    sell("four", "cpu 4100m; memory 8Gi; pods 20", "a", 1000);
    sell("sixteen", "cpu 16100m; memory 32Gi; pods 80", "a", 9000);
    POOL(.name = "default");
    size_t port = POD(.requests = "cpu 3", .ports = {{"", "", 80}});
    struct span loose = PODS(9, .requests = "cpu 1");
    place_by(packing);
    EXPECT_PLACED(port);
    EXPECT_ALL_SCHEDULED(loose);
    EXPECT_INT(plan_usd_micro(), 3000);
}

/* Pods so small that many of them are added at a time: none too many, and none is forgotten. */
static void test_small_pods(void)
{
    static const struct {
        size_t pods;
        int64_t usd_micro;
    } cases[] = {{99, 1000}, {100, 1000}, {101, 1100}, {110, 1100}, {111, 1200}, {300, 3000}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_empty();
        world.title = arena_printf(world.arena, "%zu pods", cases[i].pods).data;
        sell("ten", "cpu 1100m; memory 99Gi; pods 400", "a", 1000);
        sell("one", "cpu 200m; memory 99Gi; pods 400", "a", 100);
        POOL(.name = "default");
        struct span pods = PODS(cases[i].pods, .requests = "cpu 10m");
        place_by(packing);
        EXPECT_ALL_SCHEDULED(pods);
        EXPECT_INT(plan_usd_micro(), cases[i].usd_micro);
    }
}

/* A heavier pool first, whatever it costs; where it cannot, the next one. */
static void test_weights(void)
{
    world_empty();
    sell("dear", "cpu 4100m; memory 8Gi; pods 20", "a", 9000);
    sell("cheap", "cpu 4100m; memory 8Gi; pods 20", "b", 1000);
    POOL(.name = "heavy", .weight = 10, .requirements = "family=a", .limits = "cpu 5");
    POOL(.name = "light", .requirements = "family=b");
    POOL(.name = "other", .requirements = "family=a");
    struct span pods = PODS(8, .requests = "cpu 1");
    place_by(packing);
    EXPECT_ALL_SCHEDULED(pods);
    EXPECT_INT(world.plan->claim_count, 2);
    EXPECT_TEXT(solver_pool_name(world.problem, claim_of(pods.first)->pool), "heavy");
    EXPECT_TEXT(solver_pool_name(world.problem, claim_of(pods.first + 7)->pool), "light");
    EXPECT_INT(plan_usd_micro(), 9000 + 1000);
}

/* Each NodeClaim may be launched as any type that holds its pods, not only as the one it was bought
 * as; under limits only as that. */
static void test_types_of_packed_claims(void)
{
    static const struct {
        const char *limits, *types;
    } cases[] = {{NULL, "two four eight"}, {"cpu 100", "two"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_empty();
        world.title = cases[i].limits;
        sell("one", "cpu 1100m; memory 8Gi; pods 20", "a", 300);
        sell("two", "cpu 2100m; memory 8Gi; pods 20", "a", 500);
        sell("four", "cpu 4100m; memory 8Gi; pods 20", "a", 1100);
        sell("eight", "cpu 8100m; memory 8Gi; pods 20", "a", 2300);
        POOL(.name = "default", .limits = cases[i].limits);
        struct span pods = PODS(2, .requests = "cpu 1");
        place_by(packing);
        EXPECT_ALL_SCHEDULED(pods);
        EXPECT_INT(world.plan->claim_count, 1);
        EXPECT_TEXT(claim_types(claim_of(pods.first)), cases[i].types);
    }
}

/* ---- limits to what is bought ---- */

/* A NodeClaim counts as what it would be bought as: it gives that back when it grows, and takes
 * what it has become. */
static void test_growth_under_limits(void)
{
    static const struct {
        const char *limits;
        size_t scheduled, claims;
    } cases[] = {
        {"cpu 3", 0, 0},
        {"cpu 4", 1, 1},
        {"cpu 7", 1, 1},
        {"cpu 8", 2, 1},
        {"cpu 11", 2, 1},
        {"cpu 12", 3, 2},
        {NULL, 3, 2},
        {"memory 7Gi", 0, 0},
        {"memory 15Gi", 1, 1},
        {"memory 16Gi", 2, 1},
        {"nodes 0", 0, 0},
        {"nodes 1", 3, 2},
        {"cpu 100; memory 23Gi", 2, 1},
        {"cpu 100; memory 24Gi", 3, 2},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_empty();
        world.title = cases[i].limits;
        sell("four", "cpu 4; memory 8Gi; pods 20", "a", 1000);
        sell("eight", "cpu 8; memory 16Gi; pods 20", "a", 2000);
        POOL(.name = "default", .limits = cases[i].limits);
        struct span pods = PODS(3, .requests = "cpu 3");
        place_by((struct strategy){.sound = true, .exact_limits = true});
        EXPECT_SCHEDULED(pods, cases[i].scheduled);
        EXPECT_INT(world.plan->claim_count, cases[i].claims);
    }
}

/* What is charged follows a NodeClaim that is narrowed to a larger type. */
static void test_narrowed_under_limits(void)
{
    static const struct {
        const char *limits;
        bool joins;
    } cases[] = {{"cpu 8", true}, {"cpu 7", false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_empty();
        world.title = cases[i].limits;
        sell("four", "cpu 4; memory 8Gi; pods 20", "a", 1000);
        sell("eight", "cpu 8; memory 16Gi; pods 20", "b", 2000);
        POOL(.name = "default", .limits = cases[i].limits);
        size_t first = POD(.requests = "cpu 2"),
               narrows = POD(.requests = "cpu 1", .selector = "family=b");
        size_t last =
            POD(.requests = "cpu 500m", .labels = "app=x", .affinities = {APART("host", "")});
        place_by((struct strategy){.sound = true, .exact_limits = true});
        EXPECT_PLACED(first);
        EXPECT_INT(same_node(first, narrows), cases[i].joins);
        EXPECT_PENDING(last);
    }
}

/* ---- in an order that is drawn ---- */

/* Two pods and room for one: how often each wins when the order is drawn a hundred times. */
static void test_drawn_orders(void)
{
    static const struct {
        const char *name, *first, *second;
        bool any_order;
        bool first_wins, second_wins; /* at times */
    } cases[] = {
        {"equals", "cpu 1", "cpu 1", false, true, true},
        {"the larger one first", "cpu 1", "cpu 2", false, false, true},
        {"more memory first", "cpu 1; memory 2Gi", "cpu 1; memory 1Gi", false, true, false},
        {"no other resource counts", "cpu 1; fake.com/vendor-a 1", "cpu 1", false, true, true},
        {"any order", "cpu 1", "cpu 2", true, true, true},
        {"any order of memory", "memory 2Gi", "memory 1Gi", true, true, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t wins[2] = {0};
        for (uint64_t seed = 1; seed <= 100; seed++) {
            world_empty();
            world.title = cases[i].name;
            NODE(.name = "one", .allocatable = "cpu 2; memory 2Gi; fake.com/vendor-a 1; pods 1");
            size_t first = POD(.requests = cases[i].first),
                   second = POD(.requests = cases[i].second);
            place_by((struct strategy){.seed = seed, .any_order = cases[i].any_order});
            wins[0] += node_of(first) != NULL;
            wins[1] += node_of(second) != NULL;
        }
        EXPECT_INT(wins[0] + wins[1], 100);
        EXPECT_INT(wins[0] >= 20, cases[i].first_wins);
        EXPECT_INT(wins[1] >= 20, cases[i].second_wins);
    }
}

/* Zones that are equal otherwise are drawn as well, each seed one. */
static void test_drawn_zones(void)
{
    size_t drawn[3] = {0};
    for (uint64_t seed = 1; seed <= 100; seed++) {
        static const char *const zones[] = {"test-zone-1", "test-zone-2", "test-zone-3"};
        const char *before = NULL;
        for (int again = 0; again < 2; again++) {
            world_empty();
            TYPE(.name = "one", .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = 10),
                                              OFFER("on-demand", "test-zone-2", .usd_micro = 20),
                                              OFFER("on-demand", "test-zone-3", .usd_micro = 30)});
            POOL(.name = "default");
            size_t pod = POD(.labels = "app=x", .spreads = {SPREAD("zone", 1, "app=x")});
            place_by((struct strategy){.seed = seed});
            const char *zone = claim_of(pod)->zone;
            for (size_t i = 0; i < 3 && again == 0; i++)
                drawn[i] += strcmp(zone, zones[i]) == 0;
            for (size_t i = 0; i < 3; i++)
                if (strcmp(zone, zones[i]) == 0) {
                    EXPECT_INT(before == NULL || before == zones[i], 1);
                    before = zones[i];
                }
        }
    }
    for (size_t i = 0; i < 3; i++)
        EXPECT_INT(drawn[i] >= 15, 1);
}

/* ---- a part of a plan anew ---- */

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

/* ---- which plan is better ---- */

/* Of two plans that leave out one pod, the one that leaves out the small one stays. */
static void test_large_pod_is_not_left_out(void)
{
    world_empty();
    world.settings.optimize = (struct solver_optimize){true, true, true, true, true};
    sell("large", "cpu 6100m; memory 8Gi; pods 20", "a", 9000);
    sell("small", "cpu 1100m; memory 8Gi; pods 20", "a", 1000);
    POOL(.name = "default", .limits = "nodes 1");
    size_t large =
        POD(.requests = "cpu 6", .labels = "app=x", .affinities = {APART("host", "app=x")});
    size_t small =
        POD(.requests = "cpu 1", .labels = "app=x", .affinities = {APART("host", "app=x")});
    solve();
    EXPECT_INT(node_of(large) != NULL && node_of(small) != NULL, 1);
}

/* At one price as few machines as can be, and a price that is known before one that is not. */
static void test_prices_and_machines(void)
{
    world_empty();
    world.settings.optimize = (struct solver_optimize){true, true, true, true, true};
    sell("two", "cpu 2100m; memory 8Gi; pods 20", "a", 1000);
    sell("four", "cpu 4100m; memory 8Gi; pods 20", "a", 2000);
    sell("free", "cpu 8100m; memory 8Gi; pods 20", "b", -1);
    POOL(.name = "a", .requirements = "family=a");
    POOL(.name = "b", .requirements = "family=b");
    struct span pods = PODS(4, .requests = "cpu 1");
    solve();
    EXPECT_ALL_SCHEDULED(pods);
    EXPECT_INT(plan_usd_micro(), 2000);
    EXPECT_INT(world.plan->claim_count, 1);
}

const char unit_suite[] = "solver strategies";
const struct unit_test unit_tests[] = {
    {"the least added price", test_least_added_price},
    {"joining or opening", test_joining_or_opening},
    {"no price is not cheap", test_no_price_is_not_cheap},
    {"weighed at most", test_weighed_at_most},
    {"each on its own", test_each_on_its_own},
    {"what goes together", test_what_goes_together},
    {"the rest is small", test_the_rest_is_small},
    {"what is there is used", test_what_is_there_is_used},
    {"no growth for packed pods", test_no_growth_for_packed_pods},
    {"small pods", test_small_pods},
    {"weights", test_weights},
    {"types of packed claims", test_types_of_packed_claims},
    {"growth under limits", test_growth_under_limits},
    {"narrowed under limits", test_narrowed_under_limits},
    {"drawn orders", test_drawn_orders},
    {"drawn zones", test_drawn_zones},
    {"a part of a plan", test_part_of_a_plan},
    {"a plan on nodes", test_plan_on_nodes},
    {"a part of a plan, and weights", test_part_of_a_plan_and_weights},
    {"a part of a plan, and zones", test_part_of_a_plan_and_zones},
    {"a large pod is not left out", test_large_pod_is_not_left_out},
    {"prices and machines", test_prices_and_machines},
    {NULL, NULL},
};
