/* Combinations of topology spreads: several at once, with their policies, with several pools.
 * Expected skews are those of Karpenter's own tests of the same names. */
#include "solver_fixture.h"

#define ALL "test=test"

/* Rounds of growing batches under two constraints at once. */
static void test_hostname_and_another(void)
{
    static const struct {
        const char *key, *skews[4];
    } cases[] = {
        {"zone", {"1 1", "1 2 2", "3 3 4", "7 7 7"}},
        {"capacity", {"1 1", "2 3", "5 5", "10 11"}},
    };
    static const size_t counts[] = {2, 3, 5, 11};
    for (size_t i = 0; i < 2; i++) {
        world_fresh();
        world.title = cases[i].key;
        POOL(.name = "default");
        for (size_t j = 0; j < 4; j++) {
            PODS(counts[j], .labels = ALL,
                 .spreads = {SPREAD(cases[i].key, 1, ALL), SPREAD("host", 3, ALL)});
            provision();
            EXPECT_SKEW(cases[i].key, ALL, cases[i].skews[j]);
            EXPECT_INT(fullest("host", ALL) <= 3, 1);
        }
    }
}

static void test_across_pools_by_a_custom_key(void)
{
    world_fresh();
    POOL(.name = "spot", .requirements = "capacity=spot; capacity.spread.4-1 In 2 3 4 5");
    POOL(.name = "on-demand", .requirements = "capacity=on-demand; capacity.spread.4-1=1");
    struct span pods = PODS(20, .labels = ALL, .spreads = {SPREAD("capacity.spread.4-1", 1, ALL)});
    provision();
    EXPECT_ALL_SCHEDULED(pods);
    EXPECT_SKEW("capacity.spread.4-1", ALL, "4 4 4 4 4");
    EXPECT_SKEW("capacity", ALL, "4 16");
}

static void test_a_pool_that_cannot_provision(void)
{
    world_fresh();
    POOL(.name = "default", .requirements = "zone In test-zone-1 test-zone-2");
    POOL(.name = "disabled", .requirements = "zone=test-zone-3", .limits = "cpu 0");
    PODS(10, .labels = ALL,
         .spreads = {SPREAD("zone", 1, ALL), SPREAD("host", 1, ALL, .soft = true)});
    provision();
    /* Its zone counts as empty all the same. */
    EXPECT_SKEW("zone", ALL, "1 1");
    EXPECT_SKEW("host", ALL, "1 1");
}

static void test_zonal_and_capacity_type(void)
{
    static const size_t counts[] = {2, 3, 3, 11}, capacity[] = {1, 3, 5, 11}, zone[] = {1, 2, 4, 7};
    world_fresh();
    POOL(.name = "default");
    for (size_t i = 0; i < 4; i++) {
        PODS(counts[i], .labels = ALL,
             .spreads = {SPREAD("capacity", 1, ALL), SPREAD("zone", 1, ALL)});
        provision();
        EXPECT_INT(fullest("capacity", ALL) <= capacity[i], 1);
        EXPECT_INT(fullest("zone", ALL) <= zone[i], 1);
    }
}

static void test_hostname_zonal_and_capacity_type(void)
{
    world_assorted();
    POOL(.name = "default");
    for (size_t i = 1; i < 15; i++) {
        struct span pods = PODS(i, .labels = ALL,
                                .spreads = {SPREAD("capacity", 1, ALL), SPREAD("zone", 2, ALL),
                                            SPREAD("host", 3, ALL)});
        provision();
        EXPECT_ALL_SCHEDULED(pods);
        EXPECT_INT(skew_range("capacity", ALL) <= 1, 1);
        EXPECT_INT(skew_range("zone", ALL) <= 2, 1);
        EXPECT_INT(skew_range("host", ALL) <= 3, 1);
    }
}

static void test_match_label_keys(void)
{
    world_fresh();
    POOL(.name = "default");
    PODS(2, .labels = ALL "; test-label=value-a",
         .spreads = {SPREAD("host", 1, ALL, .match_key = "test-label")});
    PODS(2, .labels = ALL "; test-label=value-b",
         .spreads = {SPREAD("host", 1, ALL, .match_key = "test-label")});
    provision();
    EXPECT_SKEW("host", ALL, "2 2");
}

/* Two nodes no pod fits on have domains of their own, "foo" and "bar"; new nodes are "baz". */
static void test_policies(void)
{
    static const struct {
        const char *name, *taint, *node_labels, *selector;
        struct a_spread spread;
        const char *skew;
    } cases[] = {
        {"NodeTaintsPolicy=ignore", "taintname=taintvalue:NoSchedule", "", NULL,
         SPREAD("fake-label", 1, ALL), "1"},
        {"NodeTaintsPolicy=honor", "taintname=taintvalue:NoSchedule", "", NULL,
         SPREAD("fake-label", 1, ALL, .honor_taints = true), "5"},
        {"NodeAffinityPolicy=ignore", NULL, "; selector=mismatch", "selector=value",
         SPREAD("fake-label", 1, ALL, .ignore_affinity = true), "1"},
        {"NodeAffinityPolicy=honor", NULL, "; selector=mismatch", "selector=value",
         SPREAD("fake-label", 1, ALL), "5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        POOL(.name = "default", .labels = "fake-label=baz; selector=value");
        const char *rest = cases[i].node_labels;
        NODE(.name = "one", .taints = cases[i].taint, .allocatable = "cpu 100m",
             .labels = arena_printf(world.arena, "fake-label=foo%s", rest).data);
        NODE(.name = "two", .taints = cases[i].taint, .allocatable = "cpu 100m",
             .labels = arena_printf(world.arena, "fake-label=bar%s", rest).data);
        PODS(5, .labels = ALL, .requests = "cpu 1", .selector = cases[i].selector,
             .spreads = {cases[i].spread});
        provision();
        EXPECT_SKEW("fake-label", ALL, cases[i].skew);
    }
}

static void test_taints_policy_and_pools(void)
{
    for (int honor = 0; honor < 2; honor++) {
        world_fresh();
        POOL(.name = "default", .requirements = "fake-label=foo");
        POOL(.name = "tainted", .requirements = "fake-label=bar", .taints = "key=value:NoSchedule");
        PODS(2, .labels = ALL,
             .spreads = {SPREAD("fake-label", 1, ALL, .honor_taints = honor != 0)});
        provision();
        EXPECT_SKEW("fake-label", ALL, honor != 0 ? "2" : "1");
    }
}

/* Once a pod tolerates PreferNoSchedule, the domains of pools with such a taint are there for it.
 */
static void test_domains_of_a_pool_with_prefer_no_schedule(void)
{
    static const struct {
        struct a_pod pod;
        const char *key, *skew;
    } cases[] = {
        {{.labels = ALL, .spreads = {SPREAD("zone", 1, ALL, .honor_taints = true)}},
         "zone",
         "1 1 1"},
        {{.labels = ALL, .spreads = {SPREAD("zone", 1, ALL)}}, "zone", "1 1 1"},
        {{.labels = ALL, .affinities = {NEAR("host", ALL)}}, "zone", "3"},
        /* But what it is near was settled before that. */
        {{.labels = ALL, .affinities = {NEAR("zone", ALL)}}, "zone", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        POOL(.name = "default", .taints = "foo=bar:PreferNoSchedule");
        world_pods(3, &cases[i].pod);
        provision();
        EXPECT_SKEW(cases[i].key, ALL, cases[i].skew);
    }
}

static void test_mutually_exclusive_pools_share_domains(void)
{
    world_fresh();
    POOL(.name = "zero", .requirements = "fake-label In foo bar", .taints = "key=zero:NoSchedule");
    POOL(.name = "one", .requirements = "fake-label In foo baz", .taints = "key=one:NoSchedule");
    PODS(2, .labels = ALL, .tolerations = "key=zero:NoSchedule",
         .spreads = {SPREAD("fake-label", 1, ALL, .honor_taints = true)});
    PODS(4, .labels = ALL, .tolerations = "key=one:NoSchedule",
         .spreads = {SPREAD("fake-label", 1, ALL, .honor_taints = true)});
    provision();
    EXPECT_SKEW("fake-label", ALL, "1 2 3");
}

const char unit_suite[] = "solver topology, combined";
const struct unit_test unit_tests[] = {
    {"hostname and zonal, hostname and capacity type", test_hostname_and_another},
    {"balance pods across NodePool requirements", test_across_pools_by_a_custom_key},
    {"a second NodePool that can't provision at all", test_a_pool_that_cannot_provision},
    {"zonal and capacity type", test_zonal_and_capacity_type},
    {"hostname, zonal, and capacity type", test_hostname_zonal_and_capacity_type},
    {"support matchLabelKeys", test_match_label_keys},
    {"NodeTaintsPolicy and NodeAffinityPolicy", test_policies},
    {"NodeTaintsPolicy and domains of pools", test_taints_policy_and_pools},
    {"domains of a NodePool with a PreferNoSchedule taint",
     test_domains_of_a_pool_with_prefer_no_schedule},
    {"mutually exclusive NodePools share domains", test_mutually_exclusive_pools_share_domains},
    {NULL, NULL},
};
