/* Topology spread over domains. Expected skews are those of Karpenter's own tests of the same
 * names; "1 1 2" are the numbers of matching pods in the domains that have any. */
#include "solver_fixture.h"

#define ALL "test=test"
/* More than half of the smallest node. */
#define BULKY "cpu 1.1"

static void test_unknown_key(void)
{
    world_fresh();
    POOL(.name = "default");
    size_t hard = POD(.labels = ALL, .spreads = {SPREAD("unknown", 1, ALL)});
    size_t soft = POD(.labels = ALL, .spreads = {SPREAD("unknown", 1, ALL, .soft = true)});
    size_t none = POD(.requests = NULL);
    provision();
    EXPECT_PENDING(hard);
    EXPECT_PLACED(soft);
    EXPECT_PLACED(none);
}

/* A Node whose labels of the zone, the old and the new one, contradict each other is in no zone. */
static void test_two_zones_of_a_node(void)
{
    for (int apart = 0; apart < 2; apart++) {
        world_fresh();
        NODE(.name = "torn",
             .labels = apart == 1
                           ? "failure-domain.beta.kubernetes.io/zone=test-zone-1; zone=test-zone-2"
                           : "zone=test-zone-2",
             .allocatable = "cpu 8; memory 8Gi; pods 9");
        size_t pod = POD(.labels = ALL, .spreads = {SPREAD("zone", 1, ALL)});
        provision();
        if (apart == 1)
            EXPECT_PENDING(pod);
        else
            EXPECT_PLACED(pod);
    }
}

/* Pods that a spread's selector does not select share a node. */
static void test_selectors_that_select_nothing(void)
{
    static const struct {
        const char *name, *labels, *key, *selector;
        size_t count;
    } cases[] = {
        {"nil label selector", ALL, "zone", NULL, 2},
        {"invalid label selector", ALL, "zone", "!", 2},
        {"interdependent selectors", NULL, "host", ALL, 5},
        {"nil label selector, hostname", ALL, "host", NULL, 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        POOL(.name = "default");
        struct span pods = PODS(cases[i].count, .labels = cases[i].labels,
                                .spreads = {SPREAD(cases[i].key, 1, cases[i].selector)});
        provision();
        EXPECT_ALL_SCHEDULED(pods);
        EXPECT_NODES(pods, 1);
    }
}

static void test_nil_selector_and_pods_that_are_there(void)
{
    /* Without a selector Karpenter counts every pod that is there, and none of the batch. */
    world_fresh();
    POOL(.name = "default");
    NODE(.name = "one", .labels = "zone=test-zone-1", .allocatable = "cpu 8; memory 8Gi; pods 9");
    POD(.labels = "any=thing", .node = "one");
    POD(.requests = "cpu 1", .node = "one");
    struct span pods = PODS(3, .spreads = {SPREAD("zone", 1, NULL)});
    provision();
    EXPECT_NODES(pods, 1);
    EXPECT_INT(strcmp(label_of(pods.first, "zone"), "test-zone-1") != 0, 1);
}

/* One batch of pods under one or two pools. */
static void test_one_batch(void)
{
    static const struct {
        const char *name, *requirements, *labels, *second_labels; /* of pools */
        struct a_spread spread;
        size_t count;
        const char *skew;
    } cases[] = {
        {"zones (match labels)", NULL, NULL, NULL, SPREAD("zone", 1, ALL), 4, "1 1 2"},
        {"zones (match expressions)", NULL, NULL, NULL, SPREAD("zone", 1, "test In test"), 4,
         "1 1 2"},
        {"a selector of everything", NULL, NULL, NULL, SPREAD("zone", 1, ""), 4, "1 1 2"},
        {"pool zonal constraints", "zone In test-zone-1 test-zone-2 test-zone-3", NULL, NULL,
         SPREAD("zone", 1, ALL), 4, "1 1 2"},
        {"subset with requirements", "zone In test-zone-1 test-zone-2", NULL, NULL,
         SPREAD("zone", 1, ALL), 4, "2 2"},
        {"subset with labels", NULL, "zone=test-zone-1", NULL, SPREAD("zone", 1, ALL), 4, "4"},
        {"subset with requirements and labels", "zone In test-zone-1 test-zone-2",
         "zone=test-zone-1", NULL, SPREAD("zone", 1, ALL), 4, "4"},
        {"subset with labels across pools", "zone In test-zone-1 test-zone-2", "zone=test-zone-1",
         "zone=test-zone-2", SPREAD("zone", 1, ALL), 4, "2 2"},
        {"respect minDomains", "zone In test-zone-1 test-zone-2", NULL, NULL,
         SPREAD("zone", 1, ALL, .min_domains = 3), 3, "1 1"},
        {"satisfied minDomains (equal)", "zone In test-zone-1 test-zone-2 test-zone-3", NULL, NULL,
         SPREAD("zone", 1, ALL, .min_domains = 3), 11, "3 4 4"},
        {"satisfied minDomains (greater)", "zone In test-zone-1 test-zone-2 test-zone-3", NULL,
         NULL, SPREAD("zone", 1, ALL, .min_domains = 2), 11, "3 4 4"},
        {"minDomains with one zone", "zone=test-zone-1", NULL, NULL,
         SPREAD("zone", 1, ALL, .min_domains = 3), 3, "1"},
        {"minDomains with one zone, anyway", "zone=test-zone-1", NULL, NULL,
         SPREAD("zone", 1, ALL, .min_domains = 3, .soft = true), 3, "3"},
        {"pods across nodes", NULL, NULL, NULL, SPREAD("host", 1, ALL), 4, "1 1 1 1"},
        {"same hostname up to maxskew", NULL, NULL, NULL, SPREAD("host", 4, ALL), 4, "4"},
        {"capacity types", NULL, NULL, NULL, SPREAD("capacity", 1, ALL), 4, "2 2"},
        {"pool capacity type constraints", "capacity In spot on-demand", NULL, NULL,
         SPREAD("capacity", 1, ALL), 4, "2 2"},
        {"architectures", NULL, NULL, NULL, SPREAD("arch", 1, ALL), 5, "2 3"},
        {"an unknown label in matchLabelKeys", NULL, NULL, NULL,
         SPREAD("host", 1, ALL, .match_key = "test-label"), 4, "1 1 1 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        POOL(.name = "default", .requirements = cases[i].requirements, .labels = cases[i].labels);
        if (cases[i].second_labels != NULL)
            POOL(.name = "second", .labels = cases[i].second_labels);
        PODS(cases[i].count, .labels = ALL, .spreads = {cases[i].spread});
        provision();
        EXPECT_SKEW(cases[i].spread.key, ALL, cases[i].skew);
        /* A node holds five, so one a domain is enough. */
        EXPECT_INT(world.nodes.count, domain_counts(cases[i].spread.key, ALL).count);
    }
}

/* A step: pods under the pool as it is now, and what all pods come to. */
struct step {
    const char *requirements; /* of the pool */
    struct a_pod pod;
    size_t count;
    const char *skew;
};

static void test_rounds(void)
{
    static const struct {
        const char *name, *key;
        struct step steps[4];
    } cases[] = {
        {"existing pod",
         "zone",
         {{NULL, {.labels = ALL, .requests = BULKY, .selector = "zone=test-zone-3"}, 1, "1"},
          {"zone In test-zone-1 test-zone-2",
           {.labels = ALL, .requests = BULKY, .spreads = {SPREAD("zone", 1, ALL)}},
           6,
           "1 2 2"}}},
        {"non-minimum domain if that's all that's available",
         "zone",
         {{"zone=test-zone-1",
           {.labels = ALL, .requests = BULKY, .spreads = {SPREAD("zone", 5, ALL)}},
           1,
           "1"},
          {"zone=test-zone-2",
           {.labels = ALL, .requests = BULKY, .spreads = {SPREAD("zone", 5, ALL)}},
           1,
           "1 1"},
          {"zone=test-zone-3",
           {.labels = ALL, .requests = BULKY, .spreads = {SPREAD("zone", 5, ALL)}},
           10,
           "1 1 6"}}},
        {"not violate max-skew",
         "zone",
         {{"zone=test-zone-1",
           {.labels = ALL, .requests = BULKY, .spreads = {SPREAD("zone", 1, ALL)}},
           1,
           "1"},
          {"zone In test-zone-2 test-zone-3",
           {.labels = ALL, .requests = BULKY, .spreads = {SPREAD("zone", 1, ALL)}},
           10,
           "1 2 2"}}},
        {"not violate max-skew (discover domains)",
         "zone",
         {{"zone=test-zone-1", {.labels = ALL, .requests = BULKY}, 1, "1"},
          {"zone In test-zone-2 test-zone-3",
           {.labels = ALL, .requests = BULKY, .spreads = {SPREAD("zone", 1, ALL)}},
           10,
           "1 2 2"}}},
        {"not violate max-skew (capacity type)",
         "capacity",
         {{"capacity=spot",
           {.labels = ALL, .requests = BULKY, .spreads = {SPREAD("capacity", 1, ALL)}},
           1,
           "1"},
          {"capacity=on-demand",
           {.labels = ALL, .requests = BULKY, .spreads = {SPREAD("capacity", 1, ALL)}},
           5,
           "1 2"}}},
        {"schedule anyway (capacity type)",
         "capacity",
         {{"capacity=spot",
           {.labels = ALL,
            .requests = BULKY,
            .spreads = {SPREAD("capacity", 1, ALL, .soft = true)}},
           1,
           "1"},
          {"capacity=on-demand",
           {.labels = ALL,
            .requests = BULKY,
            .spreads = {SPREAD("capacity", 1, ALL, .soft = true)}},
           5,
           "1 5"}}},
        {"capacity types (node required affinity constrained)",
         "capacity",
         {{NULL, {.labels = ALL, .required = {"zone=test-zone-1; capacity=on-demand"}}, 1, "1"},
          {NULL,
           {.labels = ALL,
            .required = {"zone=test-zone-2; capacity=spot"},
            .spreads = {SPREAD("capacity", 1, ALL)}},
           5,
           "1 5"}}},
        {"capacity types (no constraints)",
         "capacity",
         {{NULL,
           {.labels = ALL,
            .selector = "type=single-pod-instance-type",
            .required = {"capacity=on-demand"}},
           1,
           "1"},
          {"capacity=spot",
           {.labels = ALL, .requests = "cpu 2", .spreads = {SPREAD("capacity", 1, ALL)}},
           5,
           "1 2"}}},
        {"arch (no constraints)",
         "arch",
         {{NULL,
           {.labels = ALL, .selector = "type=single-pod-instance-type", .required = {"arch=amd64"}},
           1,
           "1"},
          {"arch=arm64",
           {.labels = ALL, .requests = "cpu 2", .spreads = {SPREAD("arch", 1, ALL)}},
           5,
           "1 2"}}},
        {"limit spread options by required node affinity",
         "zone",
         {{NULL,
           {.labels = ALL,
            .required = {"zone In test-zone-1 test-zone-2"},
            .spreads = {SPREAD("zone", 1, ALL)}},
           6,
           "3 3"},
          {"zone In test-zone-1 test-zone-2 test-zone-3",
           {.labels = ALL,
            .required = {"zone In test-zone-2 test-zone-3"},
            .spreads = {SPREAD("zone", 1, ALL)}},
           1,
           "1 3 3"},
          {"zone In test-zone-1 test-zone-2 test-zone-3",
           {.labels = ALL, .spreads = {SPREAD("zone", 1, ALL)}},
           5,
           "4 4 4"}}},
        {"not limit spread options by preferred node affinity",
         "zone",
         {{NULL,
           {.labels = ALL,
            .preferred = {"1 zone In test-zone-1 test-zone-2"},
            .spreads = {SPREAD("zone", 1, ALL)}},
           6,
           "2 2 2"}}},
        {"limit spread options by node affinity (capacity type)",
         "capacity",
         {{NULL,
           {.labels = ALL, .required = {"capacity=spot"}, .spreads = {SPREAD("capacity", 1, ALL)}},
           3,
           "3"},
          {NULL,
           {.labels = ALL,
            .required = {"capacity In on-demand spot"},
            .spreads = {SPREAD("capacity", 1, ALL)}},
           1,
           "1 3"},
          {NULL, {.labels = ALL, .spreads = {SPREAD("capacity", 1, ALL)}}, 5, "4 5"}}},
        {"zones with in-flight nodes",
         "zone",
         {{NULL, {.labels = ALL, .spreads = {SPREAD("zone", 1, ALL)}}, 4, "1 1 2"},
          {NULL, {.labels = ALL, .spreads = {SPREAD("zone", 1, ALL)}}, 5, "3 3 3"}}},
        {"hostnames with in-flight nodes",
         "host",
         {{NULL, {.labels = ALL, .spreads = {SPREAD("host", 1, ALL)}}, 4, "1 1 1 1"},
          {NULL, {.labels = ALL, .spreads = {SPREAD("host", 1, ALL)}}, 5, "1 1 1 1 1 1 1 1 1"}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        for (size_t j = 0; j < 4 && cases[i].steps[j].skew != NULL; j++) {
            const struct step *step = &cases[i].steps[j];
            POOL(.name = "default", .requirements = step->requirements);
            world_pods(step->count, &step->pod);
            provision();
            EXPECT_SKEW(cases[i].key, ALL, step->skew);
            pending_pods_gone();
        }
    }
}

static void test_zones_of_in_flight_nodes_are_reused(void)
{
    world_fresh();
    POOL(.name = "default");
    PODS(4, .labels = ALL, .spreads = {SPREAD("zone", 1, ALL)});
    provision();
    size_t nodes = world.nodes.count;
    PODS(5, .labels = ALL, .spreads = {SPREAD("zone", 1, ALL)});
    provision();
    EXPECT_INT(world.nodes.count, nodes);
}

static void test_only_minimum_domains_when_violating(void)
{
    world_fresh();
    POOL(.name = "default");
    struct span pods =
        PODS(9, .labels = ALL, .requests = BULKY, .spreads = {SPREAD("zone", 1, ALL)});
    provision();
    EXPECT_SKEW("zone", ALL, "3 3 3");
    for (size_t i = 0; i < pods.count; i++)
        if (strcmp(label_of(pods.first + i, "zone"), "test-zone-1") != 0)
            pod_gone(pods.first + i);
    EXPECT_SKEW("zone", ALL, "3");
    PODS(3, .labels = ALL, .requests = BULKY, .spreads = {SPREAD("zone", 1, ALL)});
    provision();
    EXPECT_SKEW("zone", ALL, "1 2 3");
}

static void test_which_pods_count(void)
{
    static const struct {
        const char *key, *first, *second, *skew;
    } cases[] = {
        {"zone", "zone=test-zone-1", "zone=test-zone-2", "1 2 2"},
        {"capacity", "capacity=spot", "capacity=on-demand", "2 3"},
    };
    for (size_t i = 0; i < 2; i++) {
        world_fresh();
        world.title = cases[i].key;
        POOL(.name = "default");
        NODE(.name = "first", .labels = cases[i].first);
        NODE(.name = "second", .labels = cases[i].second);
        NODE(.name = "third");
        POD(.node = "first");                                          /* no labels */
        POD(.labels = ALL, .node = "third");                           /* no domain on the node */
        POD(.labels = ALL, .namespace = "elsewhere", .node = "first"); /* another namespace */
        POD(.labels = ALL, .leaving = true, .node = "first");          /* terminating */
        POD(.labels = ALL, .node = "first");
        POD(.labels = ALL, .node = "first");
        POD(.labels = ALL, .node = "second");
        PODS(2, .labels = ALL, .spreads = {SPREAD(cases[i].key, 1, ALL)});
        provision();
        EXPECT_SKEW(cases[i].key, ALL, cases[i].skew);
    }
}

static void test_namespaces_do_not_mix(void)
{
    world_fresh();
    POOL(.name = "default");
    NODE(.name = "one", .labels = "zone=test-zone-1");
    for (size_t i = 0; i < 3; i++)
        POD(.labels = ALL, .namespace = "elsewhere", .node = "one");
    PODS(3, .labels = ALL, .namespace = "elsewhere", .requests = "cpu 2",
         .selector = "zone=test-zone-1");
    PODS(3, .labels = ALL, .spreads = {SPREAD("zone", 1, ALL)});
    provision();
    EXPECT_SKEW("zone", ALL, "1 1 1");
}

static void test_two_deployments(void)
{
    static const struct {
        const char *first, *second; /* architectures */
        size_t nodes;
    } cases[] = {{NULL, NULL, 2}, {"arch=amd64", "arch=arm64", 4}};
    for (size_t i = 0; i < 2; i++) {
        world_fresh();
        POOL(.name = "default");
        struct span pods = PODS(2, .labels = "app=app1", .required = {cases[i].first},
                                .spreads = {SPREAD("host", 1, "app=app1")});
        PODS(2, .labels = "app=app2", .required = {cases[i].second},
             .spreads = {SPREAD("host", 1, "app=app2")});
        pods.count = 4;
        provision();
        EXPECT_ALL_SCHEDULED(pods);
        EXPECT_NODES(pods, cases[i].nodes);
    }
}

/* A selector leaves each pod one domain, which is then the least. */
static void test_limited_by_selector(void)
{
    static const struct {
        const char *key, *first, *second;
        bool soft;
        size_t second_count;
        const char *skew;
    } cases[] = {
        {"zone", "zone=test-zone-1", "zone=test-zone-2", false, 10, "5 10"},
        {"capacity", "capacity=spot", "capacity=on-demand", true, 5, "5 5"},
    };
    for (size_t i = 0; i < 2; i++) {
        world_fresh();
        world.title = cases[i].key;
        POOL(.name = "default");
        PODS(5, .labels = ALL, .selector = cases[i].first,
             .spreads = {SPREAD(cases[i].key, 1, ALL, .soft = cases[i].soft)});
        PODS(cases[i].second_count, .labels = ALL, .selector = cases[i].second,
             .spreads = {SPREAD(cases[i].key, 1, ALL, .soft = cases[i].soft)});
        provision();
        EXPECT_SKEW(cases[i].key, ALL, cases[i].skew);
    }
}

static void test_effective_zone(void)
{
    world_fresh();
    POOL(.name = "default");
    POD(.labels = ALL, .selector = "zone=test-zone-1", .spreads = {SPREAD("zone", 1, ALL)});
    POD(.labels = ALL, .selector = "zone=test-zone-2", .spreads = {SPREAD("zone", 1, ALL)});
    provision();
    size_t third = POD(.labels = ALL, .spreads = {SPREAD("zone", 1, ALL)});
    provision();
    EXPECT_LABEL(third, "zone", "test-zone-3");

    /* Two pods in each of three zones, four zones wanted: the least counts as none. */
    world_fresh();
    POOL(.name = "default");
    PODS(2, .labels = ALL, .selector = "zone=test-zone-1");
    PODS(2, .labels = ALL, .selector = "zone=test-zone-2");
    PODS(2, .labels = ALL, .selector = "zone=test-zone-3");
    provision();
    size_t unsatisfiable = POD(.spreads = {SPREAD("zone", 1, ALL, .min_domains = 4)});
    provision();
    EXPECT_PENDING(unsatisfiable);
}

static void test_a_valid_node_that_is_not_the_least(void)
{
    /* Existing nodes come first, so a spread may stay uneven as far as maxSkew allows. */
    world_fresh();
    POOL(.name = "default");
    NODE(.name = "one", .labels = "zone=test-zone-1", .allocatable = "cpu 8; memory 8Gi; pods 9");
    PODS(4, .labels = ALL, .spreads = {SPREAD("zone", 2, ALL)});
    provision();
    EXPECT_INT(strcmp(node_of(0), "one"), 0);
    EXPECT_INT(strcmp(node_of(1), "one"), 0);
    EXPECT_SKEW("zone", ALL, "2 2");
}

/* Karpenter leaves ties to chance; here the price decides, then the NodeClaims that may be launched
 * in a domain, then its name. */
static void test_ties(void)
{
    static const struct {
        const char *name;
        int64_t usd_micro[3];       /* by zone */
        const char *first, *second; /* the zone of a pod, and of one that joins its NodeClaim */
        const char *zone;           /* of the pod with the spread */
    } cases[] = {
        {"the first by name", {1000, 1000, 1000}, NULL, NULL, "test-zone-1"},
        {"the cheapest", {1000, 1000, 900}, NULL, NULL, "test-zone-3"},
        {"the fewest NodeClaims", {1000, 1000, 1000}, "zone=test-zone-1", NULL, "test-zone-2"},
        {"the price before the NodeClaims",
         {900, 1000, 1000},
         "zone=test-zone-1",
         NULL,
         "test-zone-1"},
        {"a NodeClaim of two zones",
         {1000, 1000, 1000},
         "zone In test-zone-1 test-zone-2",
         NULL,
         "test-zone-3"},
        {"a NodeClaim of two zones that is narrowed to one",
         {1000, 1000, 1000},
         "zone In test-zone-1 test-zone-2",
         "zone=test-zone-1",
         "test-zone-2"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const int64_t *usd_micro = cases[i].usd_micro;
        world_empty();
        world.title = cases[i].name;
        TYPE(.name = "four",
             .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = usd_micro[0]),
                           OFFER("on-demand", "test-zone-2", .usd_micro = usd_micro[1]),
                           OFFER("on-demand", "test-zone-3", .usd_micro = usd_micro[2])});
        POOL(.name = "default");
        if (cases[i].first != NULL)
            POD(.requests = "cpu 2", .required = {cases[i].first});
        if (cases[i].second != NULL)
            POD(.requests = "cpu 1.5", .required = {cases[i].second});
        size_t pod = POD(.requests = "cpu 1.2", .labels = ALL, .spreads = {SPREAD("zone", 1, ALL)},
                         .affinities = {APART("host", "")});
        provision();
        EXPECT_LABEL(pod, "zone", cases[i].zone);
        EXPECT_INT(world.plan->claim_count, cases[i].first == NULL ? 1 : 2);
    }
}

/* Of zones with as many pods, the one where a machine is large enough, whatever the others cost. */
static void test_zones_where_nothing_fits(void)
{
    static const char *const zones[] = {"test-zone-1", "test-zone-2", "test-zone-3"};
    for (size_t i = 0; i < COUNT_OF(zones); i++) {
        const char *zone = zones[i];
        world_empty();
        world.title = zone;
        TYPE(.name = "small", .resources = "cpu 2",
             .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = 10),
                           OFFER("on-demand", "test-zone-2", .usd_micro = 10),
                           OFFER("on-demand", "test-zone-3", .usd_micro = 10)});
        TYPE(.name = "large", .resources = "cpu 8",
             .offerings = {OFFER("on-demand", zone, .usd_micro = 1000)});
        POOL(.name = "default");
        size_t pod = POD(.requests = "cpu 4", .labels = ALL, .spreads = {SPREAD("zone", 1, ALL)});
        provision();
        EXPECT_LABEL(pod, "zone", zone);
    }
}

const char unit_suite[] = "solver topology";
const struct unit_test unit_tests[] = {
    {"ignore unknown topology keys", test_unknown_key},
    {"two zones of a node", test_two_zones_of_a_node},
    {"selectors that select nothing", test_selectors_that_select_nothing},
    {"a nil selector and pods that are there", test_nil_selector_and_pods_that_are_there},
    {"one batch", test_one_batch},
    {"round after round", test_rounds},
    {"zones of in-flight nodes are reused", test_zones_of_in_flight_nodes_are_reused},
    {"only minimum domains if already violating max skew",
     test_only_minimum_domains_when_violating},
    {"only count matching pods on nodes with a domain", test_which_pods_count},
    {"namespaces do not mix", test_namespaces_do_not_mix},
    {"multiple deployments with hostname spread and varying arch", test_two_deployments},
    {"limit spread options by nodeSelector", test_limited_by_selector},
    {"effective zone", test_effective_zone},
    {"ties between domains", test_ties},
    {"zones where nothing fits", test_zones_where_nothing_fits},
    {"a valid domain that is not the least", test_a_valid_node_that_is_not_the_least},
    {NULL, NULL},
};
