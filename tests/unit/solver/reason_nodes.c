/* Reasons of the Nodes there are: what each of them lacks, which cause is told where there are
 * several, and which Node is the nearest. */
#include "solver_reasons.h"

#define ROOMY "cpu 8; memory 8Gi; pods 9"
#define NO_POOL "requirement: there is no NodePool that could buy a node for it"

/* The line of the Nodes, without the one that says that there is no pool. */
static const char *told_of_nodes(size_t pod)
{
    const char *said = told(pod), *pool = strstr(said, NO_POOL);
    if (pool == said)
        return said + strlen(NO_POOL) + 1;
    CU_ASSERT_PTR_NOT_NULL(pool);
    return arena_printf(world.arena, "%.*s", (int)strcspn(said, "\n"), said).data;
}

/* One Node, and no pool. */
static void test_one_node(void)
{
    static const struct {
        const char *name;
        struct a_node node;
        struct a_pod pod;
        const char *said;
    } cases[] = {
        {"a label that may not be",
         {.labels = "team=x", .allocatable = ROOMY},
         {.required = {"team DoesNotExist"}},
         "requirement: the only node has a label team"},
        {"a value that may not be",
         {.labels = "team=x", .allocatable = ROOMY},
         {.required = {"team NotIn x y"}},
         "requirement: the only node has team x or y"},
        {"a label that is not there",
         {.allocatable = ROOMY},
         {.selector = "team=x"},
         "requirement: the only node lacks team x"},
        {"any value of a label that is not there",
         {.allocatable = ROOMY},
         {.required = {"team Exists"}},
         "requirement: the only node lacks any team"},
        {"a number that is too small",
         {.labels = "slots=3", .allocatable = ROOMY},
         {.required = {"slots Gt 3"}},
         "requirement: the only node lacks slots of at least 4"},
        {"a number that is too small, whatever else it may not be",
         {.labels = "slots=3", .allocatable = ROOMY},
         {.required = {"slots Gt 3; slots NotIn 7"}},
         "requirement: the only node lacks slots of at least 4 other than 7"},
        {"none of two terms",
         {.labels = "team=z", .allocatable = ROOMY},
         {.required = {"team=x", "team=y"}},
         "requirement: the only node lacks what it requires"},
        {"another hostname",
         {.labels = "host=there", .allocatable = ROOMY},
         {.selector = "host=gone"},
         "requirement: the only node lacks kubernetes.io/hostname gone"},
        {"a volume elsewhere",
         {.labels = "zone=test-zone-1", .allocatable = ROOMY},
         {.volumes = {VOLUME("zone=test-zone-2", .claim = "data")}},
         "volume: the only node is not where its volumes are"},
        {"as many volumes as it attaches",
         {.attach = "csi 0", .allocatable = ROOMY},
         {.volumes = {VOLUME("", .claim = "data", .driver = "csi")}},
         "volume: the only node attaches no more volumes"},
        {"nothing is left, and nothing is said to be",
         {.allocatable = "memory 8Gi; pods 9"},
         {.requests = "cpu 1"},
         "resources: the only node lacks cpu"},
        {"a thousandth too little",
         {.allocatable = "cpu 2; memory 8Gi; pods 9"},
         {.requests = "cpu 2001m"},
         "resources: the only node lacks cpu; there has 2 cpu left; it needs 2.001 cpu"},
        {"a device that it does not have",
         {.allocatable = ROOMY},
         {.requests = "fake.com/vendor-a 1"},
         "resources: the only node lacks fake.com/vendor-a"},
        {"more memory than it has, and a little more cpu",
         {.allocatable = "cpu 2; memory 1Gi; pods 9"},
         {.requests = "cpu 2100m; memory 4Gi"},
         "resources: the only node lacks memory; there has 1Gi memory left; it needs 4Gi memory"},
        {"a toleration for another effect",
         {.taints = "a=1:NoSchedule; b=2:NoExecute", .allocatable = ROOMY},
         {.tolerations = "a; b=2:NoSchedule"},
         "taint: the only node has the taint b=2:NoExecute"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_fresh();
        world.title = cases[i].name;
        struct a_node node = cases[i].node;
        node.name = "there";
        *LIST_PUSH(world.arena, &world.nodes) = (struct world_node){.as = node};
        size_t pod = world_pod(&cases[i].pod);
        solve();
        EXPECT_TEXT(told_of_nodes(pod), cases[i].said);
    }
}

/* A Node with everything that a Node can have against a pod; one after the other is mended. What a
 * developer can change least is told first. */
static void test_first_cause(void)
{
    struct a_node node = {.name = "there",
                          .taints = "x=y:NoSchedule",
                          .labels = "zone=test-zone-1",
                          .attach = "csi 0",
                          .allocatable = "cpu 1; memory 8Gi; pods 9"};
    struct a_pod pod = {.requests = "cpu 2",
                        .selector = "team=x",
                        .volumes = {VOLUME("zone=test-zone-2", .claim = "data", .driver = "csi")},
                        .ports = {{"", "", 80, false}},
                        .affinities = {APART("host", "app=there")}};
    static const char *const said[] = {
        "taint: the only node has the taint x=y:NoSchedule",
        "requirement: the only node lacks team x",
        "volume: the only node is not where its volumes are",
        "resources: the only node lacks cpu; there has 1 cpu left; it needs 2 cpu",
        "port: the only node has host port 80 taken",
        "volume: the only node attaches no more volumes",
        ("topology: the only node is ruled out by its anti-affinity over nodes "
         "(kubernetes.io/hostname)"),
    };
    for (size_t mended = 0; mended < COUNT_OF(said); mended++) {
        if (mended == 1)
            pod.tolerations = "x";
        if (mended == 2)
            node.labels = "zone=test-zone-1; team=x";
        if (mended == 3)
            node.labels = "zone=test-zone-2; team=x";
        if (mended == 4)
            node.allocatable = ROOMY;
        if (mended == 5)
            pod.ports[0].port = 81;
        if (mended == 6)
            node.attach = "csi 1";
        world_fresh();
        world.title = said[mended];
        *LIST_PUSH(world.arena, &world.nodes) = (struct world_node){.as = node};
        POD(.labels = "app=there", .ports = {{"", "", 80, false}}, .node = "there");
        size_t asked = world_pod(&pod);
        solve();
        EXPECT_TEXT(told_of_nodes(asked), said[mended]);
    }
}

/* The one that lacks the least part of what is asked for; of equals the first by name. */
static void test_nearest_node(void)
{
    static const struct {
        const char *name, *a, *b; /* allocatable */
        const char *nearest;
    } cases[] = {
        {"the first lacks less", "cpu 3; memory 8Gi; pods 9", "cpu 2; memory 8Gi; pods 9",
         "a has 3 cpu left; it needs 4 cpu"},
        {"the second lacks less", "cpu 2; memory 8Gi; pods 9", "cpu 3; memory 8Gi; pods 9",
         "b has 3 cpu left; it needs 4 cpu"},
        {"as much of two resources", "cpu 2; memory 8Gi; pods 9", "cpu 8; memory 2Gi; pods 9",
         "a has 2 cpu left; it needs 4 cpu"},
        {"more of another resource", "cpu 2; memory 8Gi; pods 9", "cpu 8; memory 1Gi; pods 9",
         "a has 2 cpu left; it needs 4 cpu"},
        {"less of another resource", "cpu 2; memory 8Gi; pods 9", "cpu 8; memory 3Gi; pods 9",
         "b has 3Gi memory left; it needs 4Gi memory"},
        {"one that is full of pods is not near", "cpu 8; memory 8Gi; pods 0",
         "cpu 1; memory 8Gi; pods 9", "b has 1 cpu left; it needs 4 cpu"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int turned = 0; turned < 2; turned++) {
            world_fresh();
            world.title = cases[i].name;
            world.shuffle = turned == 0 ? 0 : 1;
            NODE(.name = "a", .allocatable = cases[i].a);
            NODE(.name = "b", .allocatable = cases[i].b);
            size_t pod = POD(.requests = "cpu 4; memory 4Gi");
            solve();
            const char *nearest = strstr(told_of_nodes(pod), "; ");
            EXPECT_TEXT(nearest == NULL ? "" : nearest + 2, cases[i].nearest);
        }
}

/* A claim that pods share will be made where the first of them is: a Node elsewhere has everything
 * that the second one asks for, and yet it may not be there. */
static void test_node_away_from_a_shared_claim(void)
{
    world_fresh();
    world.settings.optimize.cheapest = true;
    NODE(.name = "a", .labels = "zone=test-zone-1", .allocatable = "cpu 4; memory 8Gi; pods 1");
    NODE(.name = "b", .labels = "zone=test-zone-2", .allocatable = "cpu 2; memory 8Gi; pods 9");
    struct a_volume data = {.claim = "data", .binds = true};
    size_t first = POD(.requests = "cpu 3", .volumes = {data});
    size_t second = POD(.requests = "cpu 1", .volumes = {data});
    solve();
    EXPECT_PLACED(first);
    EXPECT_TEXT(told_of_nodes(second), "requirement: of 2 nodes 1 does not suit all of its "
                                       "requirements together, 1 lacks room for a further pod");
}

/* More zones than a word has bits, and the claim is made in the last one. */
static void test_shared_claim_in_a_late_zone(void)
{
    enum { ZONES = 130 };
    world_empty();
    world.settings.optimize.cheapest = true;
    for (size_t i = 0; i < ZONES; i++)
        NODE(.name = arena_printf(world.arena, "node-%03zu", i).data,
             .labels = arena_printf(world.arena, "zone=zone-%03zu", i).data,
             .allocatable = "cpu 1; memory 8Gi; pods 1");
    TYPE(.name = "one", .resources = "cpu 4; memory 8Gi; pods 9",
         .offerings = {OFFER("on-demand", "zone-000", .usd_micro = 1000),
                       OFFER("on-demand", "zone-129", .usd_micro = 1000)});
    POOL(.name = "default");
    struct a_volume data = {.claim = "data", .binds = true};
    size_t first = POD(.requests = "cpu 3", .volumes = {data}, .selector = "zone=zone-129");
    size_t second = POD(.requests = "cpu 2", .volumes = {data}, .selector = "zone=zone-000");
    solve();
    EXPECT_PLACED(first);
    const char *said = told(second);
    static const char expected[] =
        "volume: claim default/data is made in zone-129, with the first pod that mounts it, and "
        "there is no place for this one there";
    if (strncmp(said, expected, sizeof expected - 1) != 0)
        fprintf(stderr, "\"%s\"\n", said);
    CU_ASSERT_TRUE(strncmp(said, expected, sizeof expected - 1) == 0);
}

const char unit_suite[] = "solver reason nodes";
const struct unit_test unit_tests[] = {
    {"one node", test_one_node},
    {"the first cause", test_first_cause},
    {"the nearest node", test_nearest_node},
    {"a node away from a shared claim", test_node_away_from_a_shared_claim},
    {"a shared claim in a late zone", test_shared_claim_in_a_late_zone},
    {NULL, NULL},
};
