/* What DaemonSets take from every node that they suit. Expected results are those of Karpenter's
 * own tests of the same names: a pod of 1 cpu and 1Gi fits on 2 cpu and 2Gi without the daemon, and
 * needs 4 cpu and 4Gi with it. */
#include "solver_fixture.h"

#define LARGE "cpu 2; memory 2Gi"
#define POD_SIZE "cpu 1; memory 1Gi"

struct daemon_case {
    const char *name;
    struct a_pool pool;
    struct a_pod daemon, pod;
    const char *type; /* NULL: pending */
};

static void test_overhead(void)
{
    static const char with[] = "default-instance-type", without[] = "small-instance-type";
    static const struct daemon_case cases[] = {
        {"account for daemonsets",
         {.name = "default"},
         {.requests = LARGE},
         {.requests = POD_SIZE},
         with},
        {"overhead is too large",
         {.name = "default"},
         {.requests = "cpu 10000; memory 10000Gi"},
         {.requests = NULL},
         NULL},
        {"a resource no type has so much of",
         {.name = "default"},
         {.requests = "cpu 1; memory 10000Gi"},
         {.requests = NULL},
         NULL},
        {"the most its containers need",
         {.name = "default"},
         {.requests = "cpu 3; memory 3Gi"},
         {.requests = NULL},
         with},
        {"resource requests are not defined",
         {.name = "default"},
         {.requests = NULL},
         {.requests = NULL},
         without},
        {"without matching tolerations",
         {.name = "default", .taints = "foo=bar:NoSchedule"},
         {.requests = LARGE},
         {.requests = POD_SIZE, .tolerations = "*"},
         without},
        {"with matching tolerations",
         {.name = "default", .taints = "foo=bar:NoSchedule"},
         {.requests = LARGE, .tolerations = "foo"},
         {.requests = POD_SIZE, .tolerations = "*"},
         with},
        {"an invalid selector",
         {.name = "default"},
         {.requests = LARGE, .selector = "node=invalid"},
         {.requests = POD_SIZE},
         without},
        {"no types meet the daemonset requirements",
         {.name = "default"},
         {.requests = LARGE, .required = {"type=non-existent"}},
         {.requests = POD_SIZE},
         without},
        {"a custom label that matches the pool",
         {.name = "default", .labels = "purpose=monitoring"},
         {.requests = LARGE, .selector = "purpose=monitoring"},
         {.requests = POD_SIZE},
         with},
        {"NotIn operator and unspecified key",
         {.name = "default"},
         {.requests = LARGE, .required = {"foo NotIn bar"}},
         {.requests = POD_SIZE, .required = {"zone=test-zone-2"}},
         with},
        {"multiple node affinity terms",
         {.name = "default", .labels = "foo=bar"},
         {.requests = LARGE, .required = {"foo=voo", "foo=bar"}},
         {.requests = POD_SIZE},
         with},
        {"an incompatible preference",
         {.name = "default"},
         {.requests = LARGE, .preferred = {"1 node=invalid"}},
         {.requests = POD_SIZE},
         with},
        {"a PreferNoSchedule taint",
         {.name = "default", .taints = "test=:PreferNoSchedule"},
         {.requests = LARGE},
         {.requests = POD_SIZE},
         with},
        {"another zone than the pod's",
         {.name = "default", .requirements = "zone=test-zone-1"},
         {.requests = LARGE, .selector = "zone=test-zone-2"},
         {.requests = POD_SIZE},
         without},
        {"its port is the pod's",
         {.name = "default"},
         {.requests = LARGE, .ports = {{"", "", 8080, false}}},
         {.requests = POD_SIZE, .ports = {{"", "", 8080, false}}},
         NULL},
        {"its port is not the pod's",
         {.name = "default"},
         {.requests = LARGE, .ports = {{"", "", 8081, false}}},
         {.requests = POD_SIZE, .ports = {{"", "", 8080, false}}},
         with},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        world_pool(&cases[i].pool);
        *LIST_PUSH(world.arena, &world.daemons) = cases[i].daemon;
        size_t pod = world_pod(&cases[i].pod);
        provision();
        EXPECT_INT(node_of(pod) != NULL, cases[i].type != NULL);
        EXPECT_LABEL(pod, "type", cases[i].type == NULL ? "" : cases[i].type);
    }
}

static void test_by_type(void)
{
    /* The daemon of the large types does not count on small ones. */
    world_fresh();
    POOL(.name = "default");
    DAEMON(.requests = "cpu 1", .required = {"size=small"});
    DAEMON(.requests = "cpu 10", .required = {"size=large"});
    size_t pod = POD(.requests = POD_SIZE);
    provision();
    EXPECT_LABEL(pod, "type", "default-instance-type");

    /* 10 cpu of 16 on the large type: 6 are left there. */
    world_fresh();
    POOL(.name = "default");
    DAEMON(.requests = "cpu 10", .required = {"size=large"});
    size_t most = POD(.requests = "cpu 5.9"), more = POD(.requests = "cpu 5.901");
    provision();
    EXPECT_LABEL(most, "type", "arm-instance-type");
    EXPECT_PENDING(more);
}

static void test_ports_by_type(void)
{
    world_fresh();
    POOL(.name = "default");
    DAEMON(.requests = "cpu 4; memory 4Gi", .required = {"size=large"},
           .ports = {{"", "", 8080, false}});
    DAEMON(.requests = LARGE, .required = {"size=small"}, .ports = {{"", "", 8081, false}});
    size_t pod =
        POD(.requests = POD_SIZE, .required = {"size=small"}, .ports = {{"", "", 8080, false}});
    size_t large = POD(.requests = "cpu 6", .ports = {{"", "", 8080, false}});
    provision();
    EXPECT_LABEL(pod, "type", "default-instance-type");
    EXPECT_PENDING(large);
}

static void test_one_term_for_each_type(void)
{
    /* Every type is tried with every term, whatever types came before it. */
    for (uint32_t shuffle = 0; shuffle < 4; shuffle++) {
        world_fresh();
        world.shuffle = shuffle;
        POOL(.name = "default");
        DAEMON(.requests = LARGE, .required = {"arch=amd64", "arch=arm64"});
        size_t amd = POD(.requests = POD_SIZE, .selector = "arch=amd64");
        size_t arm = POD(.requests = "cpu 14", .selector = "arch=arm64");
        provision();
        EXPECT_LABEL(amd, "type", "default-instance-type");
        EXPECT_PENDING(arm);
    }
}

static void test_registered_and_initialized(void)
{
    world_fresh();
    POOL(.name = "default");
    DAEMON(.requests = "cpu 1", .required = {"karpenter.sh/initialized=true"});
    DAEMON(.requests = "cpu 1", .required = {"karpenter.sh/registered=true"});
    size_t pod = POD(.requests = "cpu 2");
    provision();
    /* 3.9 cpu of 4 hold the pod and one daemon, not both. */
    const struct solver_node_claim *claim = claim_of(pod);
    EXPECT_TEXT(claim_types(claim), "arm-instance-type");
    EXPECT_INT(claim_requirement(claim, "karpenter.sh/initialized") == NULL, 1);
    EXPECT_INT(claim_requirement(claim, "karpenter.sh/registered") == NULL, 1);
}

static void test_requests_of_claims(void)
{
    static const struct {
        const char *name, *daemon, *pod;
        size_t count;
        int64_t cpu_milli, memory_bytes, pods, gpus;
    } cases[] = {
        {"resource requests", NULL, "cpu 1; memory 1Mi; fake.com/vendor-a 1", 1, 1000, 1048576, 1,
         1},
        {"with daemon overhead", "cpu 1; memory 1Mi", "cpu 1; memory 1Mi", 1, 2000, 2097152, 2, 0},
        {"not double-count daemon overhead", "cpu 1; memory 1Mi", "cpu 1; memory 1Mi", 2, 3000,
         3145728, 3, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        POOL(.name = "default");
        if (cases[i].daemon != NULL)
            DAEMON(.requests = cases[i].daemon);
        struct span pods = PODS(cases[i].count, .requests = cases[i].pod);
        provision();
        EXPECT_NODES(pods, 1);
        const struct solver_node_claim *claim = claim_of(pods.first);
        EXPECT_INT(claim_request(claim, "cpu"), cases[i].cpu_milli);
        EXPECT_INT(claim_request(claim, "memory"), cases[i].memory_bytes);
        EXPECT_INT(claim_request(claim, "pods"), cases[i].pods);
        EXPECT_INT(claim_request(claim, "fake.com/vendor-a"), cases[i].gpus);
    }
}

static void test_least_overhead_of_the_types_left(void)
{
    /* Small types have a daemon of 1 cpu, the large one has one of 2. */
    world_fresh();
    POOL(.name = "default");
    DAEMON(.requests = "cpu 1", .required = {"size=small"});
    DAEMON(.requests = "cpu 2", .required = {"size=large"});
    size_t either = POD(.requests = "cpu 1");
    provision();
    EXPECT_INT(claim_request(claim_of(either), "cpu"), 2000);
    pod_gone(either);
    size_t large = POD(.requests = "cpu 8");
    provision();
    EXPECT_INT(claim_request(claim_of(large), "cpu"), 10000);
}

static void test_headroom_of_nodes(void)
{
    static const struct {
        const char *name, *selector, *bound_selector, *node_labels;
        bool bound;
        const char *pod;
        bool placed;
    } cases[] = {
        {"its pod is still to come", NULL, NULL, NULL, false, "cpu 15", false},
        {"room beside the pod to come", NULL, NULL, NULL, false, "cpu 14.9", true},
        {"its pod is there, nothing is kept free for it", NULL, NULL, NULL, true, "cpu 14.9", true},
        {"its pod is there, and more is asked for", NULL, NULL, NULL, true, "cpu 15", false},
        {"it does not suit the node", "zone=test-zone-1", NULL, NULL, false, "cpu 15.9", true},
        {"an unexpected daemon pod", "unknown=value", NULL, NULL, true, "cpu 15.5", false},
        {"an unexpected daemon pod and the rest", "unknown=value", NULL, NULL, true, "cpu 14.9",
         true},
        {"by a label of the node", "team=a", NULL, "team=a", false, "cpu 15", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        NODE(.name = "one", .labels = cases[i].node_labels,
             .allocatable = "cpu 15.9; memory 100Gi; pods 10");
        DAEMON(.requests = "cpu 1", .selector = cases[i].selector);
        if (cases[i].bound)
            POD(.requests = "cpu 1", .node = "one", .daemon = true);
        size_t pod = POD(.requests = cases[i].pod);
        provision();
        EXPECT_INT(node_of(pod) != NULL, cases[i].placed);
    }
}

static void test_more_bound_than_expected_of_one_daemon(void)
{
    /* What an unexpected pod takes does not make up for a small one that is still to come. */
    world_fresh();
    NODE(.name = "one", .allocatable = "cpu 15.9; memory 100Gi; pods 10");
    DAEMON(.requests = "memory 1Gi");
    POD(.requests = "cpu 1", .node = "one", .daemon = true);
    size_t large = POD(.requests = "cpu 14.9; memory 99.5Gi");
    size_t pod = POD(.requests = "cpu 14.9; memory 99Gi");
    provision();
    EXPECT_PENDING(large);
    EXPECT_PLACED(pod);
}

static void test_strictly_incompatible(void)
{
    world_fresh();
    POOL(.name = "default");
    NODE(.name = "one", .pool = "default", .allocatable = "cpu 1; memory 1Gi; pods 110");
    DAEMON(.requests = "cpu 100; memory 100Gi", .required = {"zone=test-zone-1"});
    size_t pod = POD(.requests = POD_SIZE);
    provision();
    EXPECT_TEXT(node_of(pod), "one");
    /* A new node might come up in the zone, so the daemon counts there. */
    size_t another = POD(.requests = POD_SIZE);
    provision();
    EXPECT_PENDING(another);
}

const char unit_suite[] = "solver daemons";
const struct unit_test unit_tests[] = {
    {"overhead", test_overhead},
    {"filter out daemonsets based on instance type requirements", test_by_type},
    {"hostports when daemonset would not schedule on selected node", test_ports_by_type},
    {"one term for each type", test_one_term_for_each_type},
    {"karpenter.sh/initialized and karpenter.sh/registered", test_registered_and_initialized},
    {"requests of claims", test_requests_of_claims},
    {"the least overhead of the types left", test_least_overhead_of_the_types_left},
    {"headroom of nodes", test_headroom_of_nodes},
    {"unexpected daemonset pods binding to the node", test_more_bound_than_expected_of_one_daemon},
    {"not strictly compatible with an existing node", test_strictly_incompatible},
    {NULL, NULL},
};
