/* The strategy that places a pod where it adds least to the price. */
#include "solver_strategy.h"

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

/* Karpenter expects the second pod on the node of the first, whatever another one costs. */
static void test_port_that_karpenter_does_not_see(void)
{
    world_empty();
    sell("small", "cpu 4100m", "a", 1000);
    POOL(.name = "default");
    struct span pods = PODS(2, .requests = "cpu 1", .ports = {{"", "", 80, true}});
    place_by((struct strategy){.sound = true, .by_price = true});
    EXPECT_INT(scheduled(pods), 1);
    EXPECT_INT(world.plan->claim_count, 1);
}

/* Of NodeClaims that become dearer by as much the one with the fewest pods, as Karpenter takes it.
 */
static void test_equally_dear(void)
{
    static const char *const families[] = {"a", "b"};
    for (size_t i = 0; i < COUNT_OF(families); i++) {
        world_empty();
        world.title = families[i];
        sell("a.small", "cpu 2100m", "a", 1000);
        sell("a.large", "cpu 4100m", "a", 1500);
        sell("b.small", "cpu 2100m", "b", 1000);
        sell("b.large", "cpu 4100m", "b", 1500);
        POOL(.name = "default");
        size_t alone = POD(.requests = "cpu 1900m", .selector = i == 0 ? "family=a" : "family=b");
        struct span two =
            PODS(2, .requests = "cpu 900m", .selector = i == 0 ? "family=b" : "family=a");
        size_t pod = POD(.requests = "cpu 800m");
        place_by((struct strategy){.sound = true, .by_price = true});
        EXPECT_ALL_SCHEDULED(two);
        EXPECT_SAME_NODE(pod, alone);
        EXPECT_INT(world.plan->claim_count, 2);
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

const char unit_suite[] = "solver place by price";
const struct unit_test unit_tests[] = {
    {"a port that Karpenter does not see", test_port_that_karpenter_does_not_see},
    {"the least added price", test_least_added_price},
    {"equally dear", test_equally_dear},
    {"joining or opening", test_joining_or_opening},
    {"no price is not cheap", test_no_price_is_not_cheap},
    {"weighed at most", test_weighed_at_most},
    {NULL, NULL},
};
