/* Many pods: which types hold them, how they are packed, and existing nodes and NodeClaims.
 * Expected results are those of Karpenter's own tests of the same names. */
#include "solver_reasons.h"

static void test_types_by_requirement(void)
{
    static const struct {
        const char *name, *requirements;
        struct a_pod first, second;
        size_t scheduled, nodes;
    } cases[] = {
        {"more resources than any type has", NULL, {.requests = "cpu 512"}, {0}, 1, 1},
        {"different archs",
         "arch In arm64 amd64",
         {.selector = "arch=amd64"},
         {.selector = "arch=arm64"},
         2,
         2},
        {"type outside of the pool's arch",
         "arch=amd64",
         {.required = {"type=arm-instance-type"}},
         {0},
         1,
         1},
        {"system outside of the pool's arch", "arch=amd64", {.required = {"os=ios"}}, {0}, 1, 1},
        {"resources outside of the pool's arch", "arch=amd64", {.requests = "cpu 14"}, {0}, 1, 1},
        {"different operating systems",
         "arch In arm64 amd64",
         {.selector = "os=linux"},
         {.selector = "os=windows"},
         2,
         2},
        {"different types",
         "arch In arm64 amd64",
         {.selector = "beta.kubernetes.io/instance-type=small-instance-type"},
         {.selector = "type=default-instance-type"},
         2,
         2},
        {"different zones",
         "arch In arm64 amd64",
         {.selector = "zone=test-zone-1"},
         {.selector = "zone=test-zone-2"},
         2,
         2},
        {"different accelerators",
         NULL,
         {.requests = "fake.com/vendor-a 1"},
         {.requests = "fake.com/vendor-b 1"},
         2,
         2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        POOL(.name = "default", .requirements = cases[i].requirements);
        struct span pods = world_pods(1, &cases[i].first);
        world_pod(&cases[i].second);
        pods.count = 2;
        provision();
        EXPECT_SCHEDULED(pods, cases[i].scheduled);
        EXPECT_NODES(pods, cases[i].nodes);
    }
}

/* A type that has some value of a label, and does not say which, may have any. */
static void test_open_values(void)
{
#define GPU_MEMORY "karpenter.k8s.aws/instance-gpu-memory"
    world_empty();
    TYPE(.name = "open", .requirements = GPU_MEMORY " Exists");
    TYPE(.name = "without", .requirements = GPU_MEMORY " DoesNotExist");
    POOL(.name = "default");
    size_t some = POD(.selector = GPU_MEMORY "=16384");
    size_t none = POD(.required = {GPU_MEMORY " DoesNotExist"});
#undef GPU_MEMORY
    provision();
    EXPECT_LABEL(some, "type", "open");
    EXPECT_LABEL(none, "type", "without");
}

/* A toleration without a key covers all taints only where it says Exists. */
static void test_toleration_without_a_key(void)
{
    world_fresh();
    POOL(.name = "default", .taints = "soft=x:PreferNoSchedule");
    size_t soft = POD(.tolerations = "=x");
    provision();
    EXPECT_PLACED(soft);
    world_fresh();
    POOL(.name = "default", .taints = "hard=x:NoSchedule");
    size_t hard = POD(.tolerations = "=x");
    size_t all = POD(.tolerations = "*");
    provision();
    EXPECT_PENDING(hard);
    EXPECT_PLACED(all);
}

/* What a Node is called may stand beside an affinity and a spread. */
static void test_topology_and_a_host(void)
{
    world_fresh();
    NODE(.name = "one", .labels = "zone=test-zone-1; host=one",
         .allocatable = "cpu 8; memory 8Gi; pods 9");
    NODE(.name = "two", .labels = "zone=test-zone-2; host=two",
         .allocatable = "cpu 8; memory 8Gi; pods 9");
    POD(.node = "one", .labels = "app=x");
    size_t joins =
        POD(.labels = "app=x", .selector = "host=one", .affinities = {NEAR("host", "app=x")});
    size_t starts =
        POD(.labels = "app=x", .selector = "host=two", .affinities = {NEAR("host", "app=x")});
    size_t spread =
        POD(.labels = "app=y", .selector = "host=two", .spreads = {SPREAD("zone", 1, "app=y")});
    provision();
    EXPECT_LABEL(joins, "host", "one");
    EXPECT_LABEL(starts, "host", "two");
    EXPECT_LABEL(spread, "host", "two");
}

static void test_gpus_of_different_types(void)
{
    world_incrementing(5);
    world.types.items[0].resources = "cpu 1; memory 2Gi; pods 10; example.com/super-gpu 25";
    world.types.items[1].resources = "cpu 2; memory 4Gi; pods 20; example.com/better-gpu 25";
    POOL(.name = "default");
    size_t super = POD(.requests = "example.com/super-gpu 1");
    size_t better = POD(.requests = "example.com/better-gpu 1");
    size_t both = POD(.requests = "example.com/super-gpu 1; example.com/better-gpu 1");
    provision();
    EXPECT_PLACED(super);
    EXPECT_PLACED(better);
    EXPECT_OTHER_NODE(super, better);
    EXPECT_PENDING(both);
}

static void test_provider_labels(void)
{
    static const struct {
        const char *selector, *required, *type; /* NULL: pending */
    } cases[] = {
        {"size=large", NULL, "fake-it-4"},
        {"size=small", NULL, "fake-it-0"},
        {"size=large; type=fake-it-0", NULL, NULL},
        {"size=small; type=fake-it-4", NULL, NULL},
        {NULL, "special Exists", "fake-it-4"},
        {NULL, "special DoesNotExist", "fake-it-0"},
        {NULL, "special NotIn optional", "fake-it-0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_incrementing(5);
        world.title = cases[i].selector != NULL ? cases[i].selector : cases[i].required;
        POOL(.name = "default");
        size_t pod = POD(.selector = cases[i].selector, .required = {cases[i].required});
        provision();
        EXPECT_INT(node_of(pod) != NULL, cases[i].type != NULL);
        EXPECT_LABEL(pod, "type", cases[i].type == NULL ? "" : cases[i].type);
    }
}

static void test_bin_packing(void)
{
    static const char small[] = "small-instance-type", usual[] = "default-instance-type";
    static const struct {
        const char *name, *selector, *requests;
        size_t count, nodes;
        const char *type;
    } cases[] = {
        {"small pod on the smallest instance", NULL, "memory 100M", 1, 1, small},
        {"small pod on the smallest possible type", NULL, "memory 2000M", 1, 1, small},
        {"what overhead and init containers come to", NULL, "cpu 3", 1, 1, usual},
        {"init container beside overhead of the type", NULL, "cpu 2; memory 1Gi", 1, 1, usual},
        {"multiple small pods", NULL, "memory 10M", 5, 1, small},
        {"new nodes when a node is at capacity", "arch=amd64", "memory 1.8G", 40, 20, usual},
        {"new nodes at the pod limit", "arch=amd64", "cpu 1m; memory 1", 25, 5, small},
        {"zero-quantity requests", NULL, "foo.com/weird-resources 0", 1, 1, small},
        {"more than every type's capacity", NULL, "memory 2Ti", 1, 0, NULL},
        {"no requests", NULL, NULL, 5, 1, small},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        POOL(.name = "default");
        struct span pods =
            PODS(cases[i].count, .selector = cases[i].selector, .requests = cases[i].requests);
        provision();
        EXPECT_SCHEDULED(pods, cases[i].nodes == 0 ? 0 : pods.count);
        EXPECT_NODES(pods, cases[i].nodes);
        for (size_t j = 0; j < pods.count && cases[i].type != NULL; j++)
            EXPECT_LABEL(pods.first + j, "type", cases[i].type);
    }
}

static void test_small_and_large(void)
{
    world_fresh();
    POOL(.name = "default");
    struct span pods = PODS(40, .selector = "arch=amd64", .requests = "memory 1.8G");
    PODS(20, .selector = "arch=amd64", .requests = "memory 400M");
    pods.count += 20;
    provision();
    /* Two large pods fill a node but for one small one. */
    EXPECT_ALL_SCHEDULED(pods);
    EXPECT_NODES(pods, 20);
}

static void test_pack_tightly(void)
{
    world_incrementing(5);
    POOL(.name = "default");
    size_t large = POD(.requests = "cpu 4.5"), small = POD(.requests = "cpu 1");
    provision();
    EXPECT_LABEL(large, "type", "fake-it-4");
    EXPECT_LABEL(small, "type", "fake-it-1");
}

static void test_one_pod_a_node(void)
{
    world_fresh();
    POOL(.name = "default", .requirements = "type=single-pod-instance-type");
    struct span pods = PODS(3, .requests = NULL);
    provision();
    EXPECT_ALL_SCHEDULED(pods);
    EXPECT_NODES(pods, 3);
}

static void test_in_flight_node_is_used(void)
{
    static const struct {
        const char *name;
        struct a_pod first, second;
        bool same;
    } cases[] = {
        {"an in-flight node that can support the pod",
         {.requests = "cpu 10m"},
         {.requests = "cpu 10m"},
         true},
        {"node selectors",
         {.required = {"zone=test-zone-2"}},
         {.required = {"zone In test-zone-1 test-zone-2"}},
         true},
        {"other node selectors",
         {.required = {"zone=test-zone-2"}},
         {.required = {"zone In test-zone-1 test-zone-3"}},
         false},
        {"won't fit", {.requests = "cpu 1001m"}, {.requests = "cpu 1"}, false},
        {"isn't compatible", {.requests = "cpu 10m"}, {.selector = "arch=arm64"}, false},
        {"an extended resource",
         {.requests = "cpu 10m; fake.com/vendor-a 1"},
         {.requests = "cpu 10m; fake.com/vendor-a 1"},
         true},
        {"an extended resource used up",
         {.requests = "fake.com/vendor-a 2"},
         {.requests = "fake.com/vendor-a 1"},
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        POOL(.name = "default");
        size_t first = world_pod(&cases[i].first);
        provision();
        size_t second = world_pod(&cases[i].second);
        provision();
        EXPECT_PLACED(second);
        EXPECT_INT(same_node(first, second), cases[i].same);
    }
}

static void test_in_flight_without_binding(void)
{
    world_fresh();
    POOL(.name = "default");
    size_t first = POD(.requests = "cpu 10m");
    provision_unbound();
    size_t second = POD(.requests = "cpu 10m");
    provision_unbound();
    EXPECT_INT(world.nodes.count, 1);
    EXPECT_SAME_NODE(first, second);
}

static void test_in_flight_are_packed_first(void)
{
    static const size_t batches[] = {3, 0, 9, 1, 6, 2, 7, 5, 8, 4};
    world_empty();
    TYPE(.name = "medium", .resources = "cpu 4.25; pods 4");
    POOL(.name = "default");
    size_t count = 0;
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        struct span pods = PODS(batches[i], .requests = "cpu 1");
        provision();
        EXPECT_ALL_SCHEDULED(pods);
        count += batches[i];
        EXPECT_INT(world.nodes.count, (count + 3) / 4);
    }
}

static void test_taints_of_nodes(void)
{
    static const struct {
        const char *taint, *tolerations;
        bool on_node;
    } cases[] = {
        {NULL, NULL, true},
        {"foo.com/taint=tainted:NoSchedule", NULL, false},
        {"foo.com/taint=tainted:NoSchedule", "foo.com/taint", true},
        {"foo.com/taint=tainted:NoExecute", NULL, false},
        {"sla=950:NoSchedule", "sla>900", true},
        {"sla=900:NoSchedule", "sla>900", false},
        {"sla=-2:NoSchedule", "sla<-1:NoSchedule", true},
        {"sla=-1:NoSchedule", "sla<-1", false},
        {"sla=950:NoSchedule", "sla>high", false},
        {"sla=high:NoSchedule", "sla>900", false},
        {"sla=0950:NoSchedule", "sla>900", false},
        {"sla=+950:NoSchedule", "sla>900", false},
        {"sla=950:NoSchedule", "sla>0900", false},
        {"sla=950:NoSchedule", "other>900", false},
        {"sla=950:NoExecute", "sla>900:NoSchedule", false},
        /* A new node without the taint is preferred to one with it. */
        {"foo.com/taint=tainted:PreferNoSchedule", NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].taint;
        POOL(.name = "default");
        NODE(.name = "there", .pool = "default", .taints = cases[i].taint,
             .allocatable = "cpu 16; memory 16Gi; pods 10");
        size_t pod = POD(.tolerations = cases[i].tolerations);
        provision();
        EXPECT_PLACED(pod);
        EXPECT_INT(strcmp(node_of(pod), "there") == 0, cases[i].on_node);
    }
}

static void test_initialized_nodes_come_first(void)
{
    static const char roomy[] = "cpu 10; memory 10Gi; pods 110";
    world_fresh();
    POOL(.name = "default");
    NODE(.name = "a", .pool = "default", .allocatable = roomy, .uninitialized = true);
    NODE(.name = "c", .pool = "default", .allocatable = roomy);
    NODE(.name = "b", .pool = "default", .allocatable = roomy, .uninitialized = true);
    NODE(.name = "d", .pool = "default", .allocatable = roomy);
    size_t pod = POD(.requests = "cpu 1");
    provision();
    EXPECT_TEXT(node_of(pod), "c");
}

static void test_existing_nodes(void)
{
    world_fresh();
    POOL(.name = "default");
    NODE(.name = "unowned", .allocatable = "cpu 10; memory 100Gi; pods 110");
    struct span pods = PODS(100, .requests = "cpu 10m");
    provision();
    for (size_t i = 0; i < pods.count; i++)
        EXPECT_TEXT(node_of(pods.first + i), "unowned");
    struct span more = PODS(20, .requests = "cpu 10m");
    provision();
    size_t on_node = 0;
    for (size_t i = 0; i < more.count; i++)
        on_node += strcmp(node_of(more.first + i), "unowned") == 0;
    EXPECT_INT(on_node, 10);
}

static void test_node_without_the_zone(void)
{
    world_fresh();
    NODE(.name = "there", .allocatable = "cpu 10; memory 10Gi; pods 110");
    size_t pod = POD(.required = {"zone=test-zone-1"});
    provision();
    EXPECT_PENDING(pod);
    POOL(.name = "default");
    provision();
    EXPECT_LABEL(pod, "zone", "test-zone-1");
}

static void test_node_with_less_than_nothing(void)
{
    /* More memory is bound than the node has: it takes nothing, not even what needs no memory. */
    world_fresh();
    NODE(.name = "there", .allocatable = "cpu 10; memory 1Gi; pods 110");
    POD(.requests = "memory 2Gi", .node = "there");
    size_t pod = POD(.requests = "cpu 1");
    provision();
    EXPECT_PENDING(pod);
}

static void test_host_ports(void)
{
    static const struct {
        const char *name;
        struct solver_host_port first, second;
        bool same;
    } cases[] = {
        {"same port", {"", "", 8080, false}, {"", "TCP", 8080, false}, false},
        {"other port", {"", "", 8080, false}, {"", "", 8081, false}, true},
        {"other protocol", {"", "TCP", 8080, false}, {"", "UDP", 8080, false}, true},
        {"other address", {"1.2.3.4", "", 8080, false}, {"4.5.6.7", "", 8080, false}, true},
        {"same address", {"1.2.3.4", "", 8080, false}, {"1.2.3.4", "", 8080, false}, false},
        {"every address and one",
         {"0.0.0.0", "", 8080, false},
         {"1.2.3.4", "", 8080, false},
         false},
        {"one and every IPv6 address",
         {"1.2.3.4", "", 8080, false},
         {"::", "", 8080, false},
         false},
        {"no address and one", {"", "", 8080, false}, {"1.2.3.4", "", 8080, false}, false},
        {"every address, other protocol",
         {"0.0.0.0", "SCTP", 8080, false},
         {"", "TCP", 8080, false},
         true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int rounds = 1; rounds <= 2; rounds++) {
            world_fresh();
            world.title = cases[i].name;
            POOL(.name = "default");
            size_t first = POD(.ports = {cases[i].first});
            if (rounds == 2)
                provision();
            size_t second = POD(.ports = {cases[i].second});
            provision();
            EXPECT_PLACED(first);
            EXPECT_PLACED(second);
            EXPECT_INT(same_node(first, second), cases[i].same);
        }
}

/* Karpenter expects the second pod on the node of the first, and buys no other, unless that one is
 * full. */
static void test_host_ports_that_karpenter_does_not_see(void)
{
#define SIDECAR            \
    {                      \
        "", "", 8080, true \
    }
#define CONTAINER           \
    {                       \
        "", "", 8080, false \
    }
    enum place { SAME, OTHER, NONE };
    static const struct {
        const char *name;
        struct solver_host_port first, second[2];
        const char *requests;
        enum place place;
    } cases[] = {
        {"of sidecars both", SIDECAR, {SIDECAR}, "cpu 1", NONE},
        {"of the first", SIDECAR, {CONTAINER}, "cpu 1", NONE},
        {"of the second", CONTAINER, {SIDECAR}, "cpu 1", NONE},
        {"of neither", CONTAINER, {CONTAINER}, "cpu 1", OTHER},
        {"one is seen beside it", CONTAINER, {SIDECAR, CONTAINER}, "cpu 1", OTHER},
        {"no room there", SIDECAR, {SIDECAR}, "cpu 4", OTHER},
        {"another port", SIDECAR, {{"", "", 8081, true}}, "cpu 1", SAME},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int rounds = 1; rounds <= 2; rounds++) {
            world_empty();
            world.title = cases[i].name;
            TYPE(.name = "medium", .resources = "cpu 4.25; pods 4");
            POOL(.name = "default");
            size_t first = POD(.requests = "cpu 1", .ports = {cases[i].first});
            if (rounds == 2)
                provision();
            size_t second = POD(.requests = cases[i].requests, .created_unix_s = 1,
                                .ports = {cases[i].second[0], cases[i].second[1]});
            provision();
            EXPECT_PLACED(first);
            EXPECT_INT(node_of(second) != NULL, cases[i].place != NONE);
            EXPECT_INT(same_node(first, second), cases[i].place == SAME);
            if (cases[i].place == NONE)
                EXPECT_TEXT(told(second),
                            "port: host port 8080 is taken on the node where Karpenter, which "
                            "looks at no sidecar's ports, expects the pod: it buys no other");
        }
}

/* Two pods and room for one of them. */
static void test_who_comes_first(void)
{
    static const struct {
        const char *name;
        struct a_pod first, second;
        bool second_wins;
    } cases[] = {
        {"more cpu", {.requests = "cpu 1; memory 2Gi"}, {.requests = "cpu 2; memory 1Gi"}, true},
        {"more memory",
         {.requests = "cpu 1; memory 1Gi"},
         {.requests = "cpu 1; memory 2Gi", .created_unix_s = 5},
         true},
        {"created before",
         {.requests = "cpu 1", .created_unix_s = 7},
         {.requests = "cpu 1", .created_unix_s = 5},
         true},
        {"least uid", {.requests = "cpu 1"}, {.requests = "cpu 1"}, false},
        {"least name, of one uid",
         {.name = "b", .uid = "copied", .requests = "cpu 1"},
         {.name = "a", .uid = "copied", .requests = "cpu 1"},
         true},
        {"no other resource counts",
         {.requests = "cpu 1"},
         {.requests = "cpu 1; fake.com/vendor-a 1"},
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        NODE(.name = "one", .allocatable = "cpu 2; memory 2Gi; fake.com/vendor-a 1; pods 1");
        size_t first = world_pod(&cases[i].first), second = world_pod(&cases[i].second);
        provision();
        EXPECT_INT(node_of(first) != NULL, !cases[i].second_wins);
        EXPECT_INT(node_of(second) != NULL, cases[i].second_wins);
    }
}

static void test_emptiest_claim_first(void)
{
    /* Large pods make two claims of one and two pods; a small one joins the emptier. */
    world_empty();
    TYPE(.name = "medium", .resources = "cpu 4.1; pods 9");
    POOL(.name = "default");
    struct span pair = PODS(2, .requests = "cpu 1.5", .selector = "zone=test-zone-1");
    size_t lone = POD(.requests = "cpu 1.4", .selector = "zone=test-zone-2");
    size_t small = POD(.requests = "cpu 500m");
    provision();
    EXPECT_NODES(pair, 1);
    EXPECT_SAME_NODE(small, lone);
}

static void test_leaving_pods_take_room(void)
{
    world_fresh();
    NODE(.name = "there", .allocatable = "cpu 2; memory 2Gi; pods 10");
    POD(.requests = "cpu 1.5", .node = "there", .leaving = true);
    size_t large = POD(.requests = "cpu 1"), small = POD(.requests = "cpu 0.5");
    provision();
    EXPECT_PENDING(large);
    EXPECT_TEXT(node_of(small), "there");
}

const char unit_suite[] = "solver packing";
const struct unit_test unit_tests[] = {
    {"instance type compatibility", test_types_by_requirement},
    {"open values", test_open_values},
    {"a toleration without a key", test_toleration_without_a_key},
    {"topology and a host", test_topology_and_a_host},
    {"resources that aren't on any single instance type", test_gpus_of_different_types},
    {"provider specific labels", test_provider_labels},
    {"bin packing", test_bin_packing},
    {"pack small and large pods together", test_small_and_large},
    {"pack nodes tightly", test_pack_tightly},
    {"multiple nodes when maxPods is set", test_one_pod_a_node},
    {"in-flight node is used", test_in_flight_node_is_used},
    {"no second node without pre-binding", test_in_flight_without_binding},
    {"pack in-flight nodes before launching new nodes", test_in_flight_are_packed_first},
    {"taints of nodes", test_taints_of_nodes},
    {"initialized nodes come first", test_initialized_nodes_come_first},
    {"existing nodes unowned by Karpenter", test_existing_nodes},
    {"incompatible with an existing node but compatible with NodePool", test_node_without_the_zone},
    {"a node with less than nothing left", test_node_with_less_than_nothing},
    {"host ports", test_host_ports},
    {"host ports that Karpenter does not see", test_host_ports_that_karpenter_does_not_see},
    {"who comes first", test_who_comes_first},
    {"the emptiest claim first", test_emptiest_claim_first},
    {"leaving pods take room", test_leaving_pods_take_room},
    {NULL, NULL},
};
