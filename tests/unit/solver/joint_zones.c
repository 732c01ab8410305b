/* The zone where the first pod of an affinity goes, so that the others can follow. */
#include "solver_strategy.h"

static void begin(struct solver_optimize optimize)
{
    world_empty();
    world.settings.optimize = optimize;
}

static void one_size(const char *name, const char *resources, int64_t usd_micro)
{
    TYPE(.name = name, .resources = resources,
         .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = usd_micro),
                       OFFER("on-demand", "test-zone-2", .usd_micro = usd_micro),
                       OFFER("on-demand", "test-zone-3", .usd_micro = usd_micro)});
}

/* aws/karpenter-provider-aws#8914: the pod without a volume is larger, comes first and takes any
 * zone; the one whose volume is elsewhere cannot follow. */
static void test_joint_zones(void)
{
    for (int joint = 0; joint < 2; joint++) {
        begin((struct solver_optimize){.joint_zones = joint == 1});
        world.title = joint == 1 ? "joint" : "as Karpenter";
        one_size("four", "cpu 4; memory 4Gi; pods 10", 400000);
        POOL(.name = "default");
        size_t free =
            POD(.labels = "app=x", .requests = "cpu 2", .affinities = {NEAR("zone", "app=x")});
        size_t tied =
            POD(.labels = "app=x", .requests = "cpu 1", .affinities = {NEAR("zone", "app=x")},
                .volumes = {VOLUME("zone=test-zone-2")});
        provision();
        EXPECT_PLACED(free);
        EXPECT_INT(node_of(tied) != NULL, joint);
        EXPECT_LABEL(free, "zone", joint == 1 ? "test-zone-2" : "test-zone-1");
    }
}

/* Where one of them is tied to a Node, all that stay with it go to its zone. */
static void test_joint_zones_and_a_host(void)
{
    begin((struct solver_optimize){true, true, true, true, true});
    NODE(.name = "one", .labels = "zone=test-zone-1; host=one",
         .allocatable = "cpu 4; memory 8Gi; pods 9");
    NODE(.name = "two", .labels = "zone=test-zone-2; host=two",
         .allocatable = "cpu 4; memory 8Gi; pods 9");
    one_size("type", "cpu 4; memory 4Gi; pods 5", 100000);
    POOL(.name = "default");
    struct span free =
        PODS(2, .labels = "app=x", .requests = "cpu 2", .affinities = {NEAR("zone", "app=x")});
    size_t tied = POD(.labels = "app=x", .requests = "cpu 1", .selector = "host=two",
                      .affinities = {NEAR("zone", "app=x")});
    provision();
    EXPECT_LABEL(tied, "zone", "test-zone-2");
    for (size_t i = 0; i < free.count; i++)
        EXPECT_LABEL(free.first + i, "zone", "test-zone-2");
}

/* What keeps a pod of the affinity from a zone, of NodePools and of Nodes: the first pod, which
 * could be in any, goes to test-zone-2, as the other one can be there alone. */
static void test_what_keeps_from_a_zone(void)
{
#define ROOM "cpu 1500m; memory 8Gi; pods 9"
#define NODE_1 .name = "one", .labels = "zone=test-zone-1; rack=a"
#define NODE_2                                                                           \
    {                                                                                    \
        .name = "two", .labels = "zone=test-zone-2; rack=a; side=b", .allocatable = ROOM \
    }
#define TIED .labels = "app=x", .affinities = {NEAR("zone", "app=x")}
    static const struct {
        const char *name;
        struct a_pool pools[2];
        struct a_node nodes[2];
        struct a_pod tied; /* cpu 1 */
    } cases[] = {
        {"too much memory for what is sold elsewhere",
         {{.name = "default"}},
         {{0}},
         {TIED, .requests = "cpu 1; memory 30Gi"}},
        {"a taint of the pool elsewhere",
         {{.name = "a", .taints = "x=y:NoSchedule"},
          {.name = "b", .requirements = "zone=test-zone-2"}},
         {{0}},
         {TIED, .requests = "cpu 1"}},
        {"the last of several places of its volume",
         {{.name = "default"}},
         {{0}},
         {TIED, .requests = "cpu 1", .volumes = {VOLUME("zone=test-zone-9 | zone=test-zone-2")}}},
        {"its volume, whatever it prefers",
         {{.name = "default"}},
         {{0}},
         {TIED, .requests = "cpu 1", .preferred = {"1 zone=test-zone-3"},
          .volumes = {VOLUME("zone=test-zone-2")}}},
        {"the last of its required terms",
         {{.name = "default"}},
         {{0}},
         {TIED, .requests = "cpu 1", .required = {"rack=none", "zone=test-zone-2"}}},
        {"room of a Node",
         {{.name = "default"}},
         {{NODE_1, .allocatable = "cpu 500m; memory 8Gi; pods 9"}, NODE_2},
         {TIED, .requests = "cpu 1", .selector = "rack=a"}},
        {"a taint of a Node",
         {{.name = "default"}},
         {{NODE_1, .allocatable = ROOM, .taints = "x=y:NoSchedule"}, NODE_2},
         {TIED, .requests = "cpu 1", .selector = "rack=a"}},
        {"a label of a Node",
         {{.name = "default"}},
         {{NODE_1, .allocatable = ROOM}, NODE_2},
         {TIED, .requests = "cpu 1", .selector = "side=b"}},
        {"a volume, of Nodes",
         {{.name = "default"}},
         {{NODE_1, .allocatable = ROOM}, NODE_2},
         {TIED, .requests = "cpu 1", .selector = "rack=a",
          .volumes = {VOLUME("zone=test-zone-2")}}},
        {"the name of a Node",
         {{.name = "default"}},
         {{NODE_1, .allocatable = ROOM}, NODE_2},
         {TIED, .requests = "cpu 1", .selector = "host=two"}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin((struct solver_optimize){.joint_zones = true});
        world.title = cases[i].name;
        one_size("type", "cpu 4; memory 8Gi; pods 10", 400000);
        TYPE(.name = "large", .resources = "cpu 4; memory 64Gi; pods 10",
             .offerings = {OFFER("on-demand", "test-zone-2", .usd_micro = 900000)});
        for (size_t j = 0; j < COUNT_OF(cases[i].pools) && cases[i].pools[j].name != NULL; j++)
            world_pool(&cases[i].pools[j]);
        for (size_t j = 0; j < COUNT_OF(cases[i].nodes) && cases[i].nodes[j].name != NULL; j++)
            *LIST_PUSH(world.arena, &world.nodes) = (struct world_node){.as = cases[i].nodes[j]};
        size_t free = POD(TIED, .requests = "cpu 2", .tolerations = "x");
        size_t tied = world_pod(&cases[i].tied);
        provision();
        EXPECT_LABEL(free, "zone", "test-zone-2");
        EXPECT_LABEL(tied, "zone", "test-zone-2");
    }
}

/* Which other pods have a say: those that have the affinity, match it and wait. */
static void test_who_has_a_say(void)
{
    static const struct {
        const char *name;
        struct a_pod other;
        const char *zone; /* of the first pod */
        bool follows;     /* the one that is tied to test-zone-2 */
    } cases[] = {
        {"one that nobody ties",
         {.labels = "app=x", .affinities = {NEAR("zone", "app=x")}},
         "test-zone-2",
         true},
        {"one that is tied elsewhere: then nothing suits all, and the first is where it would be",
         {.labels = "app=x",
          .affinities = {NEAR("zone", "app=x")},
          .volumes = {VOLUME("zone=test-zone-3")}},
         "test-zone-1",
         false},
        {"one without the affinity",
         {.labels = "app=x", .selector = "rack=b"},
         "test-zone-2",
         true},
        {"one that it does not select",
         {.labels = "app=y",
          .affinities = {NEAR("zone", "app=x")},
          .volumes = {VOLUME("zone=test-zone-3")}},
         "test-zone-2",
         true},
        {"one that runs, in no zone",
         {.labels = "app=x",
          .affinities = {NEAR("zone", "app=x")},
          .node = "lost",
          .requests = "cpu 99"},
         "test-zone-2",
         true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_empty();
        world.title = cases[i].name;
        one_size("type", "cpu 4; memory 8Gi; pods 10", 400000);
        POOL(.name = "default");
        NODE(.name = "lost", .allocatable = "cpu 99; memory 99Gi; pods 99");
        world_pod(&cases[i].other);
        size_t free =
            POD(.labels = "app=x", .requests = "cpu 2", .affinities = {NEAR("zone", "app=x")});
        size_t tied =
            POD(.labels = "app=x", .requests = "cpu 1", .volumes = {VOLUME("zone=test-zone-2")},
                .affinities = {NEAR("zone", "app=x")});
        place_by((struct strategy){.joint_zones = true});
        EXPECT_TEXT(claim_of(free)->zone, cases[i].zone);
        EXPECT_INT(world.pods.items[tied].place.kind == SOLVER_ON_NODE_CLAIM, cases[i].follows);
    }
}

const char unit_suite[] = "solver joint zones";
const struct unit_test unit_tests[] = {
    {"joint zones", test_joint_zones},
    {"joint zones and a host", test_joint_zones_and_a_host},
    {"what keeps from a zone", test_what_keeps_from_a_zone},
    {"who has a say", test_who_has_a_say},
    {NULL, NULL},
};
