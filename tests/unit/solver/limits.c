/* What a pool's limits allow to be bought. Expected results are those of Karpenter's own tests of
 * the same names, and of its scheduler beyond them. */
#include "solver_fixture.h"

static void test_limits(void)
{
    static const struct {
        const char *name, *limits, *requests;
        size_t count, scheduled; /* one pod a node */
    } cases[] = {
        {"limits would be met", "cpu 2", "cpu 1.75", 1, 1},
        {"partially schedule if limits would be exceeded", "cpu 3", "cpu 1.5", 2, 1},
        {"limits would be exceeded", "cpu 2", "cpu 2.1", 1, 0},
        {"limits would be exceeded (GPU)", "pods 1", "fake.com/vendor-a 1", 1, 0},
        {"a limit of zero", "cpu 0", "cpu 1", 1, 0},
        {"a limit of zero on what most types lack", "fake.com/vendor-a 0", "cpu 1", 1, 1},
        {"a limit of zero on what is asked for", "fake.com/vendor-a 0", "fake.com/vendor-a 1", 1,
         0},
        /* Each claim counts as the largest type it could be: 16 of 20, then 4, then none. */
        {"a claim counts as its largest type", "cpu 20", "cpu 1.5", 4, 2},
        {"no limit", NULL, "cpu 1.5", 4, 4},
        {"no nodes", "nodes 0", "cpu 1", 1, 0},
        /* The number of nodes is not counted down within a round. */
        {"fewer nodes than pods", "nodes 1", "cpu 1.5", 3, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        POOL(.name = "default", .limits = cases[i].limits);
        struct span pods = PODS(cases[i].count, .labels = "app=foo", .requests = cases[i].requests,
                                .affinities = {APART("host", "app=foo")});
        provision();
        EXPECT_SCHEDULED(pods, cases[i].scheduled);
    }
}

static void test_limits_already_exceeded(void)
{
    static const struct {
        const char *name, *limits, *capacity;
        bool placed;
    } cases[] = {
        {"limits are exceeded", "cpu 20", "cpu 100", false},
        {"used up", "cpu 20", "cpu 20", false},
        {"enough is left", "cpu 20", "cpu 18", true},
        {"less than any type is left", "cpu 20", "cpu 18.5", false},
        {"used up what most types lack", "fake.com/vendor-a 2", "fake.com/vendor-a 2", true},
        {"exceeded what most types lack", "fake.com/vendor-a 2", "fake.com/vendor-a 3", false},
        {"as many nodes as allowed", "nodes 1", "cpu 1", false},
        {"fewer nodes than allowed", "nodes 2", "cpu 1", true},
        {"a resource that is called nodes", "nodes 2", "cpu 1; nodes 5", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        POOL(.name = "default", .limits = cases[i].limits);
        NODE(.name = "there", .pool = "default", .capacity = cases[i].capacity);
        NODE(.name = "another's", .capacity = "cpu 1000; fake.com/vendor-a 1000");
        size_t pod = POD(.requests = "cpu 1");
        provision();
        EXPECT_INT(node_of(pod) != NULL, cases[i].placed);
    }
}

static void test_limits_of_the_second_round(void)
{
    world_fresh();
    POOL(.name = "default", .limits = "cpu 2");
    size_t first = POD(.requests = "cpu 1.75");
    provision();
    EXPECT_PLACED(first);
    size_t second = POD(.requests = "cpu 1.75");
    provision();
    EXPECT_PENDING(second);

    world_fresh();
    POOL(.name = "default", .limits = "nodes 2");
    for (int round = 0; round < 3; round++) {
        size_t pod = POD(.labels = "app=foo", .requests = "cpu 1.5",
                         .affinities = {APART("host", "app=foo")});
        provision();
        EXPECT_INT(node_of(pod) != NULL, round < 2);
    }
}

static void test_limit_falls_back_to_another_pool(void)
{
    world_fresh();
    POOL(.name = "first", .weight = 10, .limits = "cpu 2");
    POOL(.name = "second");
    struct span pods = PODS(3, .labels = "app=foo", .requests = "cpu 1.5",
                            .affinities = {APART("host", "app=foo")});
    provision();
    EXPECT_ALL_SCHEDULED(pods);
    size_t in_first = 0;
    for (size_t i = 0; i < 3; i++)
        in_first += strcmp(label_of(pods.first + i, "pool"), "first") == 0;
    EXPECT_INT(in_first, 1);
}

const char unit_suite[] = "solver limits";
const struct unit_test unit_tests[] = {
    {"limits", test_limits},
    {"limits already exceeded", test_limits_already_exceeded},
    {"limits of the second round", test_limits_of_the_second_round},
    {"a limit falls back to another pool", test_limit_falls_back_to_another_pool},
    {NULL, NULL},
};
