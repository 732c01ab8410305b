/* Which pool a pod comes to: taints and tolerations, weights, names. Expected results are those of
 * Karpenter's own tests of the same names. */
#include "solver_fixture.h"

static void test_tolerations(void)
{
    static const struct {
        const char *name, *taint, *tolerations;
        bool placed;
    } cases[] = {
        {"Exists", "test-key=test-value:NoSchedule", "test-key:NoSchedule", true},
        {"Equal", "test-key=test-value:NoSchedule", "test-key=test-value:NoSchedule", true},
        {"missing", "test-key=test-value:NoSchedule", NULL, false},
        {"key mismatch", "test-key=test-value:NoSchedule", "invalid", false},
        {"value mismatch", "test-key=test-value:NoSchedule", "test-key=:NoSchedule", false},
        {"key and any effect", "nvidia.com/gpu=true:NoSchedule", "nvidia.com/gpu", true},
        {"every key", "nvidia.com/gpu=true:NoSchedule", "*", true},
        {"every key of the effect", "test=bar:NoSchedule", "*:NoSchedule", true},
        {"every key of another effect", "test=bar:NoSchedule", "*:NoExecute", false},
        {"effect mismatch", "test=bar:NoExecute", "test=bar:NoSchedule", false},
        {"one of two taints", "a=1:NoSchedule; b=1:NoSchedule", "a=1:NoSchedule", false},
        {"both taints", "a=1:NoSchedule; b=1:NoExecute", "b:NoExecute; a=1:NoSchedule", true},
        {"PreferNoSchedule does not keep a pod out", "a=1:PreferNoSchedule", NULL, true},
        {"PreferNoSchedule beside NoSchedule", "a=1:PreferNoSchedule; b=1:NoSchedule", NULL, false},
        {"no toleration needed", NULL, "test-key:NoExecute", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        POOL(.name = "default", .taints = cases[i].taint);
        size_t pod = POD(.tolerations = cases[i].tolerations);
        provision();
        EXPECT_INT(node_of(pod) != NULL, cases[i].placed);
    }
}

static void test_prefer_no_schedule_comes_last(void)
{
    world_fresh();
    POOL(.name = "default", .taints = "foo=bar:PreferNoSchedule");
    size_t pod = POD(.preferred = {"1 zone=invalid", "1 type=invalid"});
    provision();
    EXPECT_PLACED(pod);

    /* The taint is tolerated only after the preference is gone: zone 2 is never tried. */
    world_fresh();
    POOL(.name = "tainted", .requirements = "zone=test-zone-2",
         .taints = "foo=bar:PreferNoSchedule");
    POOL(.name = "clean", .requirements = "zone=test-zone-1");
    pod = POD(.preferred = {"1 zone=test-zone-2"});
    provision();
    EXPECT_LABEL(pod, "pool", "clean");
}

static void test_pools(void)
{
    static const struct {
        const char *name;
        struct a_pool pools[3];
        const char *selector, *expected;
    } cases[] = {
        {"explicitly selected", {{.name = "one"}, {.name = "two"}}, "pool=one", "one"},
        {"by labels", {{.name = "one", .labels = "foo=bar"}, {.name = "two"}}, "foo=bar", "one"},
        {"not the one with PreferNoSchedule",
         {{.name = "two", .taints = "foo=bar:PreferNoSchedule"}, {.name = "one"}},
         NULL,
         "one"},
        {"highest weight always",
         {{.name = "a"}, {.name = "b", .weight = 20}, {.name = "c", .weight = 100}},
         NULL,
         "c"},
        {"highest weight, told first",
         {{.name = "a", .weight = 100}, {.name = "b", .weight = 20}, {.name = "c"}},
         NULL,
         "a"},
        {"explicitly selected beats weight",
         {{.name = "a"}, {.name = "b", .weight = 20}, {.name = "c", .weight = 100}},
         "pool=a",
         "a"},
        {"of equal weight the last by name",
         {{.name = "b"}, {.name = "c"}, {.name = "a"}},
         NULL,
         "c"},
        {"a lower weight when the higher cannot",
         {{.name = "a"}, {.name = "b", .weight = 10, .requirements = "zone=test-zone-2"}},
         "zone=test-zone-1",
         "a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        for (size_t j = 0; j < 3 && cases[i].pools[j].name != NULL; j++)
            world_pool(&cases[i].pools[j]);
        struct span pods = PODS(3, .selector = cases[i].selector);
        provision();
        EXPECT_ALL_SCHEDULED(pods);
        for (size_t j = 0; j < pods.count; j++)
            EXPECT_LABEL(pods.first + j, "pool", cases[i].expected);
    }
}

static void test_no_pool(void)
{
    world_fresh();
    size_t pod = POD(.requests = "cpu 1");
    provision();
    EXPECT_PENDING(pod);
}

static void test_devices_are_not_placed(void)
{
    world_fresh();
    POOL(.name = "default");
    NODE(.name = "one", .allocatable = "cpu 8; memory 8Gi; pods 9");
    size_t claiming = POD(.needs_devices = true), other = POD(.requests = "cpu 1");
    provision();
    EXPECT_PENDING(claiming);
    EXPECT_TEXT(node_of(other), "one");
}

const char unit_suite[] = "solver pools";
const struct unit_test unit_tests[] = {
    {"taints and tolerations", test_tolerations},
    {"PreferNoSchedule tolerated only after affinity relaxation",
     test_prefer_no_schedule_comes_last},
    {"multiple and weighted NodePools", test_pools},
    {"no NodePool", test_no_pool},
    {"pods with resource claims", test_devices_are_not_placed},
    {NULL, NULL},
};
