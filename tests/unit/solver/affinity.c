/* Pod affinity and anti-affinity. Expected results are those of Karpenter's own tests of the same
 * names. */
#include "solver_fixture.h"

#define ALL "test=test"
#define S2 "security=s2"

/* Ten nodes of one pod each, unless others join. */
static void ten_spread_pods(void)
{
    PODS(10, .labels = ALL, .spreads = {SPREAD("host", 1, ALL)});
}

static void test_affinity_by_hostname(void)
{
    world_fresh();
    POOL(.name = "default");
    ten_spread_pods();
    size_t target = POD(.labels = S2), follower = POD(.affinities = {NEAR("host", S2)});
    provision();
    EXPECT_SAME_NODE(target, follower);
}

static void test_affinity_by_arch(void)
{
    world_fresh();
    POOL(.name = "default");
    size_t target = POD(.labels = S2, .requests = "cpu 2", .selector = "arch=arm64",
                        .spreads = {SPREAD("host", 1, S2)});
    size_t follower = POD(.labels = S2, .requests = "cpu 1", .spreads = {SPREAD("host", 1, S2)},
                          .affinities = {NEAR("arch", S2)});
    provision();
    EXPECT_LABEL(follower, "arch", "arm64");
    EXPECT_OTHER_NODE(target, follower);
}

static void test_self_affinity(void)
{
    static const struct {
        const char *key, *zone;
    } cases[] = {{"host", NULL}, {"zone", NULL}, {"zone", "zone=test-zone-3"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].key;
        POOL(.name = "default");
        struct span pods = PODS(3, .labels = S2, .required = {cases[i].zone},
                                .affinities = {NEAR(cases[i].key, S2)});
        provision();
        EXPECT_ALL_SCHEDULED(pods);
        EXPECT_NODES(pods, 1);
        if (cases[i].zone != NULL)
            EXPECT_LABEL(pods.first, "zone", "test-zone-3");
    }
}

static void test_first_empty_hostname_only(void)
{
    world_fresh();
    POOL(.name = "default");
    struct span pods = PODS(10, .labels = S2, .affinities = {NEAR("host", S2)});
    provision();
    /* A node holds five. */
    EXPECT_SCHEDULED(pods, 5);
    EXPECT_NODES(pods, 1);
    struct span more = PODS(10, .labels = S2, .affinities = {NEAR("host", S2)});
    provision();
    EXPECT_SCHEDULED(more, 0);
}

static void test_first_empty_hostname_in_other_zones(void)
{
    world_fresh();
    POOL(.name = "default");
    POD(.labels = S2, .selector = "zone=test-zone-1", .affinities = {NEAR("host", S2)});
    provision();
    /* A node selector does not take a pod's place out of the count, unlike with a spread. */
    struct span pods = PODS(10, .labels = S2, .required = {"zone In test-zone-2 test-zone-3"},
                            .affinities = {NEAR("host", S2)});
    provision();
    EXPECT_SCHEDULED(pods, 0);
}

static void test_self_affinity_of_pinned_pods(void)
{
    /* A pod that may only be where none of the others is starts anew there. */
    world_fresh();
    NODE(.name = "one", .labels = "host=one", .allocatable = "cpu 8; memory 8Gi; pods 9");
    NODE(.name = "two", .labels = "host=two", .allocatable = "cpu 8; memory 8Gi; pods 9");
    POD(.labels = S2, .node = "one");
    size_t free = POD(.labels = S2, .affinities = {NEAR("host", S2)});
    size_t pinned = POD(.labels = S2, .selector = "host=two", .affinities = {NEAR("host", S2)});
    size_t other = POD(.selector = "host=two", .affinities = {NEAR("host", S2 "; no=body")});
    provision();
    EXPECT_TEXT(node_of(free), "one");
    EXPECT_PLACED(pinned);
    EXPECT_LABEL(pinned, "host", "two");
    EXPECT_PENDING(other);
}

static void test_matching_affinities_and_incompatible_selectors(void)
{
    world_fresh();
    POOL(.name = "default");
    size_t two =
        POD(.labels = S2, .required = {"zone=test-zone-2"}, .affinities = {NEAR("zone", S2)});
    size_t three =
        POD(.labels = S2, .required = {"zone=test-zone-3"}, .affinities = {NEAR("zone", S2)});
    provision();
    EXPECT_LABEL(two, "zone", "test-zone-2");
    EXPECT_LABEL(three, "zone", "test-zone-3");
}

static void test_self_affinity_without_binding(void)
{
    world_fresh();
    POOL(.name = "default");
    POD(.labels = S2, .affinities = {NEAR("zone", S2)});
    provision_unbound();
    POD(.labels = S2, .affinities = {NEAR("zone", S2)});
    provision_unbound();
    /* An existing node's zone comes before any other viable one. */
    EXPECT_INT(world.nodes.count, 1);
}

static void test_preferred_may_be_violated(void)
{
    world_fresh();
    POOL(.name = "default");
    ten_spread_pods();
    size_t lonely = POD(.affinities = {NEAR("host", S2, .weight = 50)});
    provision();
    EXPECT_PLACED(lonely);

    world_fresh();
    POOL(.name = "default");
    PODS(3, .labels = ALL, .spreads = {SPREAD("zone", 1, ALL)});
    struct span avoiding = PODS(10, .affinities = {APART("zone", ALL, .weight = 50)});
    provision();
    EXPECT_ALL_SCHEDULED(avoiding);

    /* A preference against a required spread: one pod a host all the same. */
    world_fresh();
    POOL(.name = "default");
    struct span pods = PODS(3, .labels = ALL, .spreads = {SPREAD("host", 1, ALL)},
                            .affinities = {NEAR("host", S2, .weight = 50)});
    POD(.labels = S2);
    pods.count = 4;
    provision();
    EXPECT_ALL_SCHEDULED(pods);
    EXPECT_SKEW("host", ALL, "1 1 1");
}

static void test_anti_affinity_by_hostname(void)
{
    for (int order = 0; order < 2; order++) {
        world_fresh();
        POOL(.name = "default");
        size_t one = order == 0 ? POD(.labels = S2) : POD(.affinities = {APART("host", S2)});
        size_t two = order == 1 ? POD(.labels = S2) : POD(.affinities = {APART("host", S2)});
        provision();
        EXPECT_PLACED(one);
        EXPECT_PLACED(two);
        EXPECT_OTHER_NODE(one, two);
    }
}

/* A pod in each zone, and a small one that comes after them. Which of the two sides has the term
 * makes no difference when it is required. */
static void test_anti_affinity_by_zone(void)
{
    static const struct {
        const char *name;
        bool inverse;
        int32_t weight;
        bool existing, placed;
    } cases[] = {
        {"not violate pod anti-affinity on zone", false, 0, false, false},
        {"not violate pod anti-affinity on zone, existing nodes", false, 0, true, false},
        {"not violate (inverse)", true, 0, false, false},
        {"not violate (inverse w/existing nodes)", true, 0, true, false},
        {"violate preferred (inverse)", true, 10, false, true},
        {"violate preferred (inverse w/existing nodes)", true, 10, true, true},
        {"violate preferred", false, 10, false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        POOL(.name = "default");
        struct a_pod large = {.requests = "cpu 2"}, small = {.requests = NULL};
        struct a_pod *owner = cases[i].inverse ? &large : &small;
        struct a_pod *other = cases[i].inverse ? &small : &large;
        owner->affinities[0] = (struct an_affinity)APART("zone", S2, .weight = cases[i].weight);
        other->labels = S2;
        static const char *const zones[] = {"zone=test-zone-1", "zone=test-zone-2",
                                            "zone=test-zone-3"};
        struct span pods = {0, 3};
        for (size_t j = 0; j < 3; j++) {
            large.selector = zones[j];
            world_pod(&large);
        }
        if (cases[i].existing)
            provision();
        size_t last = world_pod(&small);
        provision();
        EXPECT_ALL_SCHEDULED(pods);
        EXPECT_INT(node_of(last) != NULL, cases[i].placed);
    }
}

static void test_other_schedules_first(void)
{
    /* The first one may still land in any zone. */
    world_fresh();
    POOL(.name = "default");
    size_t first = POD(.labels = S2, .requests = "cpu 2");
    size_t second = POD(.affinities = {APART("zone", S2)});
    provision();
    EXPECT_PLACED(first);
    EXPECT_PENDING(second);
}

static void test_schroedinger(void)
{
    world_fresh();
    POOL(.name = "default");
    size_t anywhere = POD(.requests = "cpu 2", .affinities = {APART("zone", S2)});
    size_t avoided = POD(.labels = S2);
    provision();
    EXPECT_PLACED(anywhere);
    EXPECT_PENDING(avoided);
    /* Now that its node is there, so is its zone. */
    provision();
    EXPECT_PLACED(avoided);
    EXPECT_INT(strcmp(label_of(anywhere, "zone"), label_of(avoided, "zone")) != 0, 1);
}

static void test_anti_affinity_by_arch(void)
{
    world_fresh();
    POOL(.name = "default");
    POD(.labels = S2, .requests = "cpu 2", .selector = "arch=arm64",
        .spreads = {SPREAD("host", 1, S2)});
    size_t other = POD(.labels = S2, .requests = "cpu 1", .spreads = {SPREAD("host", 1, S2)},
                       .affinities = {APART("arch", S2)});
    provision();
    EXPECT_LABEL(other, "arch", "amd64");
}

static void test_zone_anti_affine_replicas(void)
{
    static const char *const skews[] = {"1", "1 1", "1 1 1", "1 1 1"};
    world_fresh();
    POOL(.name = "default");
    for (size_t i = 0; i < 4; i++) {
        PODS(3, .labels = S2, .affinities = {APART("zone", S2)});
        provision();
        EXPECT_SKEW("zone", S2, skews[i]);
        pending_pods_gone();
    }
}

static void test_hostname_anti_affine_replicas(void)
{
    world_fresh();
    POOL(.name = "default");
    struct span pods = PODS(130, .labels = S2, .affinities = {APART("host", S2)});
    provision();
    EXPECT_ALL_SCHEDULED(pods);
    EXPECT_NODES(pods, 130);
}

static void test_affinity_to_a_pod_that_is_not_there(void)
{
    static const char *const keys[] = {"zone", "host"};
    for (size_t i = 0; i < 2; i++) {
        world_fresh();
        world.title = keys[i];
        POOL(.name = "default");
        struct span pods = PODS(10, .labels = "type=db", .affinities = {NEAR(keys[i], S2)});
        provision();
        EXPECT_SCHEDULED(pods, 0);
    }
}

static void test_zone_of_an_unconstrained_target(void)
{
    world_fresh();
    POOL(.name = "default");
    struct span followers = PODS(10, .affinities = {NEAR("zone", S2)});
    size_t target = POD(.labels = S2);
    provision();
    EXPECT_PLACED(target);
    EXPECT_SCHEDULED(followers, 0);
    provision();
    EXPECT_ALL_SCHEDULED(followers);
    EXPECT_SKEW("zone", NULL, "11");
}

static void test_zone_of_a_constrained_target(void)
{
    world_fresh();
    POOL(.name = "default");
    PODS(10, .affinities = {NEAR("zone", S2)});
    POD(.labels = S2, .required = {"zone=test-zone-1"});
    provision();
    EXPECT_SKEW("zone", NULL, "11");
}

static void test_dependent_affinities(void)
{
    static const struct a_pod chain[] = {
        {.labels = "type=db"},
        {.labels = "type=web", .affinities = {NEAR("host", "type=db")}},
        {.labels = "type=cache", .affinities = {NEAR("host", "type=web")}},
        {.labels = "type=ui", .affinities = {NEAR("host", "type=cache")}},
    };
    static const size_t orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}, {1, 3, 0, 2}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        world_fresh();
        POOL(.name = "default");
        for (size_t j = 0; j < 4; j++)
            world_pod(&chain[orders[i][j]]);
        provision();
        struct span pods = {0, 4};
        EXPECT_ALL_SCHEDULED(pods);
        EXPECT_NODES(pods, 1);
    }
}

static void test_effective_zone(void)
{
    static const struct {
        const char *name, *zones[3];
        struct an_affinity term;
        const char *expected; /* "": pending */
    } cases[] = {
        {"required pod affinity", {"zone=test-zone-1"}, NEAR("zone", ALL), "test-zone-1"},
        {"required pod anti-affinity",
         {"zone=test-zone-1", "zone=test-zone-2"},
         APART("zone", ALL),
         "test-zone-3"},
        {"anti-affinity is unsatisfiable",
         {"zone=test-zone-1", "zone=test-zone-2", "zone=test-zone-3"},
         APART("zone", ALL),
         ""},
        {"affinity is unsatisfiable", {NULL}, NEAR("zone", "nonexistent=label"), ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        POOL(.name = "default");
        for (size_t j = 0; j < 3 && cases[i].zones[j] != NULL; j++)
            POD(.labels = ALL, .selector = cases[i].zones[j]);
        provision();
        size_t pod = world_pod(&(struct a_pod){.affinities = {cases[i].term}});
        provision();
        EXPECT_LABEL(pod, "zone", cases[i].expected);
    }
}

static void test_terms_of_leaving_pods(void)
{
    /* A pod that is being deleted keeps nobody out, and draws nobody in. */
    world_fresh();
    POOL(.name = "default");
    NODE(.name = "one", .labels = "zone=test-zone-1", .allocatable = "cpu 8; memory 8Gi; pods 9");
    POD(.labels = S2, .node = "one", .leaving = true);
    size_t follower = POD(.affinities = {NEAR("zone", S2)});
    provision();
    EXPECT_PENDING(follower);
    world_fresh();
    POOL(.name = "default");
    NODE(.name = "one", .labels = "zone=test-zone-1", .allocatable = "cpu 8; memory 8Gi; pods 9");
    POD(.labels = S2, .node = "one", .leaving = true);
    size_t avoiding = POD(.affinities = {APART("zone", S2)});
    provision();
    EXPECT_TEXT(node_of(avoiding), "one");
}

/* The first pod of an affinity over hosts may start where none of the hosts it may be on has a pod
 * to join (docs/reference/karpenter.md 3.5), whatever the others have. */
static void test_first_on_its_hosts(void)
{
    static const struct {
        const char *there, *hosts;
        const char *on; /* NULL: nowhere */
    } cases[] = {
        {"two", "host In two three", NULL}, /* two is full */
        {"one", "host In two three", "three"},
        {"two", "host In three", "three"},
        {"two", "host In one two", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_empty();
        world.title = arena_printf(world.arena, "%s, %s", cases[i].there, cases[i].hosts).data;
        NODE(.name = "one", .labels = "host=one", .allocatable = "cpu 1; memory 1Gi; pods 1");
        NODE(.name = "two", .labels = "host=two", .allocatable = "cpu 1; memory 1Gi; pods 1");
        NODE(.name = "three", .labels = "host=three", .allocatable = "cpu 1; memory 1Gi; pods 1");
        POD(.labels = "app=a", .node = cases[i].there);
        if (strcmp(cases[i].there, "one") == 0)
            POD(.labels = "app=b", .node = "two");
        size_t pod = POD(.labels = "app=a", .required = {cases[i].hosts},
                         .affinities = {NEAR("host", "app=a")});
        solve();
        EXPECT_TEXT(node_of(pod) == NULL ? "" : node_of(pod),
                    cases[i].on == NULL ? "" : cases[i].on);
    }
}

const char unit_suite[] = "solver affinity";
const struct unit_test unit_tests[] = {
    {"pod affinity (hostname)", test_affinity_by_hostname},
    {"pod affinity (arch)", test_affinity_by_arch},
    {"self pod affinity (hostname, zone, zone w/ constraint)", test_self_affinity},
    {"self pod affinity for first empty topology domain only", test_first_empty_hostname_only},
    {"first empty domain only (constrained zones)", test_first_empty_hostname_in_other_zones},
    {"self pod affinity of pinned pods", test_self_affinity_of_pinned_pods},
    {"two nodes for matching affinities with incompatible selectors",
     test_matching_affinities_and_incompatible_selectors},
    {"self pod affinity without pod binding", test_self_affinity_without_binding},
    {"preferred terms may be violated", test_preferred_may_be_violated},
    {"anti-affinity on hostname", test_anti_affinity_by_hostname},
    {"anti-affinity on zone, and inverse", test_anti_affinity_by_zone},
    {"anti-affinity on zone (other schedules first)", test_other_schedules_first},
    {"anti-affinity on zone (Schroedinger)", test_schroedinger},
    {"anti-affinity (arch)", test_anti_affinity_by_arch},
    {"anti-affinity with a zone topology", test_zone_anti_affine_replicas},
    {"anti-affinity with a hostname topology", test_hostname_anti_affine_replicas},
    {"affinity to a non-existent pod", test_affinity_to_a_pod_that_is_not_there},
    {"zone topology (unconstrained target)", test_zone_of_an_unconstrained_target},
    {"zone topology (constrained target)", test_zone_of_a_constrained_target},
    {"multiple dependent affinities", test_dependent_affinities},
    {"effective zone", test_effective_zone},
    {"terms of leaving pods", test_terms_of_leaving_pods},
    {"the first on its hosts", test_first_on_its_hosts},
    {NULL, NULL},
};
