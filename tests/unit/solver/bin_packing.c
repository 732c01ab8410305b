/* The strategy that packs the pods which no topology ties to others. */
#include "solver_strategy.h"

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
    size_t port = POD(.requests = "cpu 3", .ports = {{"", "", 80, false}});
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
    size_t port = POD(.requests = "cpu 3", .ports = {{"", "", 80, false}});
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

const char unit_suite[] = "solver bin packing";
const struct unit_test unit_tests[] = {
    {"each on its own", test_each_on_its_own},
    {"what goes together", test_what_goes_together},
    {"the rest is small", test_the_rest_is_small},
    {"what is there is used", test_what_is_there_is_used},
    {"no growth for packed pods", test_no_growth_for_packed_pods},
    {"small pods", test_small_pods},
    {"weights", test_weights},
    {"types of packed claims", test_types_of_packed_claims},
    {NULL, NULL},
};
