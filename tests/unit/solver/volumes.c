/* Where volumes can be attached, and how many. Expected results are those of Karpenter's own tests
 * of the same names. The caller knows which claims and classes are valid. */
#include "solver_fixture.h"

#define CSI "fake-csi-provider"
#define ZONE_1_OR_2 "zone=test-zone-1 | zone=test-zone-2"
/* One volume of a claim of its own. */
#define OWN(name) VOLUME("zone=test-zone-1", .claim = name "-#", .driver = CSI)

struct volume_case {
    const char *name;
    struct a_pod pod;
    const char *zone; /* NULL: pending; "": any */
};

static void run(const struct volume_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        world_fresh();
        world.title = cases[i].name;
        POOL(.name = "default");
        size_t pod = world_pod(&cases[i].pod);
        size_t other = POD(.requests = NULL);
        provision();
        EXPECT_INT(node_of(pod) != NULL, cases[i].zone != NULL);
        if (cases[i].zone != NULL && cases[i].zone[0] != '\0')
            EXPECT_LABEL(pod, "zone", cases[i].zone);
        EXPECT_PLACED(other);
    }
}

static void test_volume_zones(void)
{
    static const struct volume_case cases[] = {
        {"bound volume without affinity", {.volumes = {VOLUME("")}}, ""},
        {"to storage class zones if volume does not exist",
         {.required = {"zone In test-zone-1 test-zone-3"},
          .volumes = {VOLUME("zone In test-zone-2 test-zone-3")}},
         "test-zone-3"},
        {"storage class zones are incompatible",
         {.required = {"zone=test-zone-1"}, .volumes = {VOLUME("zone In test-zone-2 test-zone-3")}},
         NULL},
        {"to volume zones if volume already bound",
         {.volumes = {VOLUME("zone=test-zone-3")}},
         "test-zone-3"},
        {"volume zones are incompatible",
         {.required = {"zone=test-zone-1"}, .volumes = {VOLUME("zone=test-zone-3")}},
         NULL},
        {"a driver's own zone key",
         {.volumes = {VOLUME("topology.ebs.csi.aws.com/zone=test-zone-2")}},
         "test-zone-2"},
        {"hostname affinity of local volumes is ignored",
         {.volumes = {VOLUME(" | zone=invalid-zone")}},
         ""},
        {"hostname affinity of non-local volumes is not",
         {.volumes = {VOLUME("host=somewhere")}},
         NULL},
        {"a zone no type is sold in", {.volumes = {VOLUME("zone=test-zone-9")}}, NULL},
        {"not relax an added volume topology away",
         {.required = {"example.com/label=unsupported", "capacity=on-demand"},
          .volumes = {VOLUME("zone=test-zone-3")}},
         "test-zone-3"},
        {"a preference gives way to a volume",
         {.preferred = {"1 zone=test-zone-1"}, .volumes = {VOLUME("zone=test-zone-3")}},
         "test-zone-3"},
        {"the first alternative that does",
         {.volumes = {VOLUME("zone=test-zone-9 | zone=test-zone-2 | zone=test-zone-1")}},
         "test-zone-2"},
        {"an alternative the pod allows",
         {.selector = "zone=test-zone-1",
          .volumes = {VOLUME("zone=test-zone-3 | zone=test-zone-2 | zone=test-zone-1")}},
         "test-zone-1"},
        {"a key the types do not have",
         {.volumes = {VOLUME("topology.gke.io/zone=test-zone-1")}},
         NULL},
        {"volumes in one zone",
         {.volumes = {VOLUME("zone=test-zone-2"), VOLUME("zone=test-zone-2")}},
         "test-zone-2"},
        {"volumes in two zones",
         {.volumes = {VOLUME("zone=test-zone-1"), VOLUME("zone=test-zone-2")}},
         NULL},
        {"volumes with one zone in common",
         {.volumes = {VOLUME(ZONE_1_OR_2), VOLUME("zone=test-zone-3 | zone=test-zone-2")}},
         "test-zone-2"},
        {"volumes with lists that have one zone in common",
         {.volumes = {VOLUME("zone In test-zone-1 test-zone-2"),
                      VOLUME("zone In test-zone-2 test-zone-3")}},
         "test-zone-2"},
        {"a volume that can be anywhere beside one that cannot",
         {.volumes = {VOLUME(""), VOLUME("zone=test-zone-2")}},
         "test-zone-2"},
        {"capacity type and zone of a volume that is not sold",
         {.selector = "capacity=spot", .volumes = {VOLUME("zone=test-zone-3")}},
         NULL},
    };
    run(cases, sizeof cases / sizeof *cases);
}

/* Two pods that may not share a zone take one alternative each. */
static void test_multiple_zones_and_anti_affinity(void)
{
    world_fresh();
    POOL(.name = "default");
    struct span pods = PODS(3, .labels = "app=multi", .volumes = {VOLUME(ZONE_1_OR_2)},
                            .affinities = {APART("zone", "app=multi")});
    provision();
    EXPECT_SCHEDULED(pods, 2);
    EXPECT_SKEW("zone", "app=multi", "1 1");
    EXPECT_LABEL(pods.first, "zone", "test-zone-1");
    EXPECT_LABEL(pods.first + 1, "zone", "test-zone-2");
}

static void test_pruned_branches(void)
{
    world_incrementing(5);
    POOL(.name = "default");
    size_t pod = POD(.volumes = {VOLUME("special=required | special=optional"),
                                 VOLUME("zone=test-zone-1; special=optional | "
                                        "zone=test-zone-2; special=required")});
    provision();
    EXPECT_LABEL(pod, "zone", "test-zone-1");
    EXPECT_LABEL(pod, "special", "optional");
}

static void test_existing_nodes(void)
{
    static const struct {
        const char *name, *where, *node;
    } cases[] = {
        {"in the zone", "zone=test-zone-2", "two"},
        {"the first alternative a node has", "zone=test-zone-9 | " ZONE_1_OR_2, "one"},
        {"pinned to a node", "host=two", "two"},
        {"pinned to one of two nodes", "host=one | host=two", "one"},
        {"anywhere", "", "one"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        NODE(.name = "one", .allocatable = "cpu 8; memory 8Gi; pods 9",
             .labels = "zone=test-zone-1; host=one");
        NODE(.name = "two", .allocatable = "cpu 8; memory 8Gi; pods 9",
             .labels = "zone=test-zone-2; host=two");
        size_t pod = POD(.volumes = {VOLUME(cases[i].where)});
        provision();
        EXPECT_PLACED(pod);
        EXPECT_LABEL(pod, "host", cases[i].node);
    }
}

/* Volumes that name machines: both must name the same one. */
static void test_volumes_of_machines(void)
{
    static const struct {
        const char *name, *first, *second, *node; /* NULL: pending */
    } cases[] = {
        {"the same", "host=two", "host=two", "two"},
        {"one in common", "host=one | host=two", "host=two", "two"},
        {"none in common", "host=one", "host=two", NULL},
        {"beside a zone", "host=two", "zone=test-zone-2", "two"},
        {"beside another zone", "host=two", "zone=test-zone-1", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_fresh();
        world.title = cases[i].name;
        NODE(.name = "one", .allocatable = "cpu 8; memory 8Gi; pods 9",
             .labels = "zone=test-zone-1; host=one");
        NODE(.name = "two", .allocatable = "cpu 8; memory 8Gi; pods 9",
             .labels = "zone=test-zone-2; host=two");
        size_t pod = POD(.volumes = {VOLUME(cases[i].first), VOLUME(cases[i].second)});
        provision();
        EXPECT_INT(node_of(pod) != NULL, cases[i].node != NULL);
        EXPECT_LABEL(pod, "host", cases[i].node == NULL ? "" : cases[i].node);
    }
}

static void test_min_domains_and_a_volume(void)
{
    /* A volume narrows the claim, not the domains a spread counts. */
    world_fresh();
    POOL(.name = "default", .requirements = "capacity=on-demand");
    PODS(3, .labels = "app=test", .spreads = {SPREAD("zone", 1, "app=test", .min_domains = 3)});
    provision();
    EXPECT_SKEW("zone", "app=test", "1 1 1");
    size_t pod = POD(.labels = "app=test", .volumes = {VOLUME("zone=test-zone-1")},
                     .spreads = {SPREAD("zone", 1, "app=test", .min_domains = 3)});
    provision();
    EXPECT_LABEL(pod, "zone", "test-zone-1");
    EXPECT_SKEW("zone", "app=test", "1 1 2");

    /* Its zone is ahead of the others by maxSkew: it has to wait. */
    size_t another = POD(.labels = "app=test", .volumes = {VOLUME("zone=test-zone-1")},
                         .spreads = {SPREAD("zone", 1, "app=test", .min_domains = 3)});
    provision();
    EXPECT_PENDING(another);
}

/* Pods of one shape may mount different claims: that one of them fits nowhere says nothing of the
 * next, whose volume is attached already. */
static void test_alike_but_for_their_claims(void)
{
    world_fresh();
    NODE(.name = "one", .attach = CSI " 1", .allocatable = "cpu 100; memory 100Gi; pods 1000");
    POD(.node = "one", .volumes = {VOLUME("", .claim = "shared", .driver = CSI)});
    size_t first = POD(.name = "a", .volumes = {VOLUME("", .claim = "own-a", .driver = CSI)});
    size_t second = POD(.name = "b", .volumes = {VOLUME("", .claim = "shared", .driver = CSI)});
    size_t third = POD(.name = "c", .volumes = {VOLUME("", .claim = "own-c", .driver = CSI)});
    provision();
    EXPECT_PENDING(first);
    EXPECT_PLACED(second);
    EXPECT_PENDING(third);
}

/* A type that holds 1024 pods, with or without a limit of its own. */
static void one_type(const char *attach)
{
    world_empty();
    TYPE(.name = "instance-type", .resources = "cpu 1024; pods 1024", .attach = attach);
    POOL(.name = "default");
}

static void test_attach_limit_of_a_node(void)
{
    one_type(NULL);
    POD(.requests = NULL);
    provision();
    world.nodes.items[0].as.attach = CSI " 10";
    struct span pods = PODS(6, .volumes = {OWN("a"), OWN("b")});
    if (strcmp(label_of(0, "zone"), "test-zone-1") != 0)
        CU_FAIL_FATAL("the claim's cheapest offering is in zone 1");
    provision();
    EXPECT_ALL_SCHEDULED(pods);
    EXPECT_INT(world.nodes.count, 2);
}

static void test_limit_of_a_node(void)
{
    static const struct {
        const char *name, *attach;
        struct a_volume volume;
        size_t count, on_node;
    } cases[] = {
        {"all pods use the same claim", CSI " 10",
         VOLUME("zone=test-zone-1", .claim = "mine", .driver = CSI), 100, 100},
        {"claims of their own", CSI " 10", OWN("mine"), 11, 10},
        {"nothing that is counted", CSI " 1", VOLUME("zone=test-zone-1", .claim = "nfs-#"), 5, 5},
        {"a driver without a limit", "other 1", OWN("mine"), 20, 20},
        {"a limit of none", CSI " 0", OWN("mine"), 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        NODE(.name = "one", .labels = "zone=test-zone-1", .attach = cases[i].attach,
             .allocatable = "cpu 100; memory 100Gi; pods 1000");
        struct span pods = PODS(cases[i].count, .volumes = {cases[i].volume});
        provision();
        EXPECT_SCHEDULED(pods, cases[i].on_node);
    }
}

static void test_volumes_of_bound_pods_count(void)
{
    world_fresh();
    NODE(.name = "one", .labels = "zone=test-zone-1", .attach = CSI " 3",
         .allocatable = "cpu 100; memory 100Gi; pods 1000");
    POD(.node = "one", .volumes = {OWN("a"), VOLUME("", .claim = "shared", .driver = CSI)});
    size_t two = POD(.volumes = {OWN("a"), OWN("b")});
    size_t shared = POD(.volumes = {VOLUME("", .claim = "shared", .driver = CSI)});
    size_t one = POD(.volumes = {OWN("a"), VOLUME("", .claim = "shared", .driver = CSI)});
    provision();
    EXPECT_PENDING(two);
    EXPECT_PLACED(shared);
    EXPECT_PLACED(one);
}

static void test_limits_of_types(void)
{
    static const struct {
        const char *name, *attach;
        struct a_pod pod;
        size_t count, scheduled, nodes;
    } cases[] = {
        {"enough nodes for all pods in a single loop",
         CSI " 10",
         {.volumes = {OWN("a")}},
         100,
         100,
         10},
        {"multiple volumes", CSI " 10", {.volumes = {OWN("a"), OWN("b")}}, 6, 6, 2},
        {"each claim once when shared",
         CSI " 10",
         {.volumes = {VOLUME("zone=test-zone-1", .claim = "mine", .driver = CSI)}},
         100,
         100,
         1},
        {"drivers without a declared limit",
         "other.csi.provider 1",
         {.volumes = {OWN("a")}},
         20,
         20,
         1},
        {"exceed the limits of every type",
         CSI " 10",
         {.volumes = {OWN("a"), OWN("b"), OWN("c"), OWN("d"), OWN("e"), OWN("f"), OWN("g"),
                      OWN("h"), OWN("i"), OWN("j"), OWN("k")}},
         1,
         0,
         0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        one_type(cases[i].attach);
        world.title = cases[i].name;
        struct span pods = world_pods(cases[i].count, &cases[i].pod);
        provision();
        EXPECT_SCHEDULED(pods, cases[i].scheduled);
        EXPECT_NODES(pods, cases[i].nodes);
    }
}

static void test_types_by_their_limits(void)
{
    static const struct {
        const char *name, *small, *large;
        struct a_pod pod;
        const char *types;
    } cases[] = {
        {"filter out types which cannot support the pod's volumes",
         CSI " 2",
         CSI " 20",
         {.volumes = {OWN("a"), OWN("b"), OWN("c"), OWN("d"), OWN("e")}},
         "large"},
        {"across multiple drivers",
         CSI " 10; local 1",
         CSI " 10; local 10",
         {.volumes = {OWN("a"), OWN("b"),
                      VOLUME("zone=test-zone-1", .claim = "c", .driver = "local"),
                      VOLUME("zone=test-zone-1", .claim = "d", .driver = "local")}},
         "large"},
        {"either does", CSI " 2", CSI " 20", {.volumes = {OWN("a"), OWN("b")}}, "small large"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_empty();
        world.title = cases[i].name;
        TYPE(.name = "small", .resources = "cpu 16; pods 1024", .attach = cases[i].small);
        TYPE(.name = "large", .resources = "cpu 1024; pods 1024", .attach = cases[i].large);
        POOL(.name = "default");
        size_t pod = world_pod(&cases[i].pod);
        provision();
        EXPECT_TEXT(claim_types(claim_of(pod)), cases[i].types);
    }
}

static void test_limits_of_types_until_the_node_has_its_own(void)
{
    one_type(CSI " 10");
    POD(.requests = NULL, .selector = "zone=test-zone-1");
    provision();
    struct span pods = PODS(11, .volumes = {OWN("a")});
    provision();
    EXPECT_ALL_SCHEDULED(pods);
    EXPECT_INT(world.nodes.count, 2);
}

const char unit_suite[] = "solver volumes";
const struct unit_test unit_tests[] = {
    {"zones of volumes", test_volume_zones},
    {"multiple zones and anti-affinity", test_multiple_zones_and_anti_affinity},
    {"an alternative remains after pruning disjoint branches", test_pruned_branches},
    {"existing nodes", test_existing_nodes},
    {"volumes of machines", test_volumes_of_machines},
    {"minDomains and a volume", test_min_domains_and_a_volume},
    {"multiple nodes if required due to volume limits", test_attach_limit_of_a_node},
    {"volume limits of a node", test_limit_of_a_node},
    {"volumes of bound pods count", test_volumes_of_bound_pods_count},
    {"alike but for their claims", test_alike_but_for_their_claims},
    {"volume limits of types", test_limits_of_types},
    {"types by their volume limits", test_types_by_their_limits},
    {"limits of types until the node has its own", test_limits_of_types_until_the_node_has_its_own},
    {NULL, NULL},
};
