/* Which pods an affinity selects: namespaces, selectors, many nodes. Expected results are those of
 * Karpenter's own tests of the same names, and of Kubernetes' label selectors. */
#include "solver_fixture.h"

#define ALL "test=test"
#define S2 "security=s2"

/* Ten nodes of one pod each, unless others join. */
static void ten_spread_pods(void)
{
    PODS(10, .labels = ALL, .spreads = {SPREAD("host", 1, ALL)});
}

static void test_namespaces(void)
{
    static const struct {
        const char *name, *target; /* its namespace */
        struct an_affinity term;
        bool placed;
    } cases[] = {
        {"no matching pods", "other", NEAR("host", S2), false},
        {"its own namespace", NULL, NEAR("host", S2), true},
        {"namespace list", "other", NEAR("host", S2, .namespaces = "other"), true},
        {"another namespace's list", "other", NEAR("host", S2, .namespaces = "third"), false},
        {"own namespace is not of the list", NULL, NEAR("host", S2, .namespaces = "other"), false},
        {"empty namespace selector", "other", NEAR("host", S2, .namespace_selector = ""), true},
        {"empty selector, own namespace", NULL, NEAR("host", S2, .namespace_selector = ""), true},
        {"namespace selector", "other", NEAR("host", S2, .namespace_selector = "foo=bar"), true},
        {"selector of others", "other", NEAR("host", S2, .namespace_selector = "foo=baz"), false},
        {"own namespace is not selected", NULL, NEAR("host", S2, .namespace_selector = "foo=bar"),
         false},
        {"list beside a selector of others", "other",
         NEAR("host", S2, .namespace_selector = "foo=baz", .namespaces = "other"), true},
        {"selector beside a list of others", "other",
         NEAR("host", S2, .namespace_selector = "foo=bar", .namespaces = "third"), true},
        {"a selector of no namespace", "other",
         NEAR("host", S2, .namespace_selector = "foo=nothing"), false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int existing = 0; existing < 2; existing++) {
            world_fresh();
            world.title = cases[i].name;
            POOL(.name = "default");
            NAMESPACE("default", "");
            NAMESPACE("other", "foo=bar");
            NAMESPACE("third", "foo=baz");
            ten_spread_pods();
            size_t target = POD(.labels = S2, .namespace = cases[i].target);
            if (existing != 0)
                provision();
            size_t follower = world_pod(&(struct a_pod){.affinities = {cases[i].term}});
            provision();
            EXPECT_PLACED(target);
            EXPECT_INT(same_node(target, follower), cases[i].placed);
            EXPECT_INT(node_of(follower) != NULL, cases[i].placed);
        }
}

static void test_selectors(void)
{
    static const struct {
        const char *labels, *selector;
        bool selected;
    } cases[] = {
        {"app=a", "app=a", true},
        {"app=a", "app=b", false},
        {"app=a; tier=b", "app=a; tier=b", true},
        {"app=a", "app=a; tier=b", false},
        {"app=a", "app In b a", true},
        {"app=a", "app NotIn b c", true},
        {"app=a", "app NotIn b a", false},
        {"app=a", "tier NotIn b", true},
        {"app=a", "app Exists", true},
        {"app=a", "tier Exists", false},
        {"app=a", "tier DoesNotExist", true},
        {"app=a", "app DoesNotExist", false},
        {"app=a", "", true},
        {NULL, "", true},
        {"app=a", NULL, false},
        {"app=a", "!", false},
        {"app=1", "app Gt 0", false}, /* labels are selected by no number */
        /* Labels of pods have no aliases. */
        {"beta.kubernetes.io/arch=x", "kubernetes.io/arch=x", false},
        {"beta.kubernetes.io/arch=x", "beta.kubernetes.io/arch=x", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int existing = 0; existing < 2; existing++) {
            world_fresh();
            world.title = cases[i].selector == NULL ? "none" : cases[i].selector;
            NODE(.name = "one", .allocatable = "cpu 8; memory 8Gi; pods 9");
            POD(.labels = cases[i].labels, .requests = "cpu 2",
                .node = existing != 0 ? "one" : NULL);
            size_t avoiding = POD(.namespace = "default", .labels = "avoids=it",
                                  .affinities = {APART("host", cases[i].selector)});
            provision();
            /* Karpenter lists the pods that are there without a selector: it lists them all. */
            bool all = cases[i].selector == NULL && existing != 0;
            EXPECT_INT(node_of(avoiding) == NULL, cases[i].selected || all);
        }
}

static void test_many_nodes(void)
{
    static const size_t counts[] = {63, 64, 65, 130};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        world_fresh();
        for (size_t j = 0; j < counts[i]; j++)
            NODE(.name = arena_printf(world.arena, "node-%03zu", j).data,
                 .allocatable = "cpu 2; memory 2Gi; pods 9");
        struct span pods = PODS(counts[i] + 1, .labels = S2, .affinities = {APART("host", S2)});
        provision();
        EXPECT_SCHEDULED(pods, counts[i]);
        EXPECT_NODES(pods, counts[i]);
        EXPECT_INT(world.nodes.count, counts[i]);
    }
}

static void test_empty_nodes(void)
{
    static const struct a_pod cases[] = {
        {.labels = S2, .affinities = {APART("host", S2)}},
        {.labels = S2, .spreads = {SPREAD("host", 1, S2)}},
        {.labels = S2, .affinities = {APART("zone", S2)}},
        {.labels = S2, .spreads = {SPREAD("zone", 1, S2)}},
        {.labels = S2, .affinities = {NEAR("host", S2)}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        POOL(.name = "default");
        NODE(.name = "empty", .labels = "zone=test-zone-1",
             .allocatable = "cpu 2; memory 2Gi; pods 9");
        size_t pod = world_pod(&cases[i]);
        provision();
        EXPECT_PLACED(pod);
        EXPECT_LABEL(pod, "host", "empty");
    }
}

const char unit_suite[] = "solver affinity, scope";
const struct unit_test unit_tests[] = {
    {"filter by namespace", test_namespaces},
    {"selectors", test_selectors},
    {"many nodes", test_many_nodes},
    {"empty nodes", test_empty_nodes},
    {NULL, NULL},
};
