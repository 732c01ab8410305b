/* Which types a NodeClaim may be launched as, and which is cheapest. Expected results are those of
 * Karpenter's own tests of instance selection, over one type for each combination of cpu, memory,
 * architecture, system, zone and capacity type. */
#include "solver_fixture.h"

/* 1 cpu and 1Gi: a tenth of a dollar for each cpu and each 10^9 bytes. */
#define LEAST_USD_MICRO (100000 + 107374)

static void test_one_of_the_cheapest(void)
{
    static const struct {
        const char *pool, *pod, *all_types[4]; /* parts of the names of all types left */
    } cases[] = {
        {NULL, NULL, {"-cpu-"}},
        {NULL, "arch=amd64", {"amd64"}},
        {NULL, "arch=arm64", {"arm64"}},
        {"arch=amd64", NULL, {"amd64"}},
        {"arch=arm64", NULL, {"arm64"}},
        {"os=windows", NULL, {"windows"}},
        {NULL, "os=windows", {"windows"}},
        {"os=linux", NULL, {"linux"}},
        {NULL, "os=linux", {"linux"}},
        {"zone=test-zone-2", NULL, {"test-zone-2"}},
        {NULL, "zone=test-zone-2", {"test-zone-2"}},
        {"capacity=spot", NULL, {"spot"}},
        {NULL, "capacity=spot", {"spot"}},
        {"capacity=on-demand; zone=test-zone-1", NULL, {"test-zone-1-on-demand"}},
        {NULL, "capacity=spot; zone=test-zone-1", {"test-zone-1-spot"}},
        {"capacity=spot", "zone=test-zone-2", {"test-zone-2-spot"}},
        {"capacity=on-demand; zone=test-zone-1; arch=arm64; os=windows",
         NULL,
         {"test-zone-1-on-demand", "arm64", "windows"}},
        {"capacity=spot; zone=test-zone-2",
         "arch=amd64; os=linux",
         {"test-zone-2-spot", "amd64", "linux"}},
        {NULL,
         "capacity=spot; zone=test-zone-2; arch=amd64; os=linux",
         {"test-zone-2-spot", "amd64", "linux"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_assorted();
        world.title = cases[i].pod != NULL ? cases[i].pod : cases[i].pool;
        world.shuffle = (uint32_t)i;
        POOL(.name = "default", .requirements = cases[i].pool);
        size_t pod = POD(.required = {cases[i].pod});
        provision();
        const struct solver_node_claim *claim = claim_of(pod);
        EXPECT_INT(claim->price_usd_micro, LEAST_USD_MICRO);
        EXPECT_INT(claim->type_count > 0, 1);
        size_t wrong = 0;
        for (size_t j = 0; j < claim->type_count; j++)
            for (size_t k = 0; k < 4 && cases[i].all_types[k] != NULL; k++)
                wrong += strstr(solver_type_name(world.problem, claim->types[j]),
                                cases[i].all_types[k]) == NULL;
        EXPECT_INT(wrong, 0);
    }
}

static void test_no_type_matches(void)
{
    static const struct {
        const char *zone; /* whose arm64 types are not sold; NULL: of every zone */
        const char *pool, *pod;
        bool placed;
    } cases[] = {
        {NULL, NULL, "arch=arm64", false},
        {"test-zone-2", NULL, "arch=arm64; zone=test-zone-2", false},
        {"test-zone-2", "arch=arm64", "zone=test-zone-2", false},
        {"test-zone-2", "arch=arm64", "zone=test-zone-1", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_assorted();
        size_t left = 0;
        for (size_t j = 0; j < world.types.count; j++) {
            const struct a_type *type = &world.types.items[j];
            bool sold = strcmp(type->arch, "arm64") != 0 ||
                        (cases[i].zone != NULL && strstr(type->name, cases[i].zone) == NULL);
            if (sold)
                world.types.items[left++] = *type;
        }
        world.types.count = left;
        world.title = cases[i].pod;
        POOL(.name = "default", .requirements = cases[i].pool);
        size_t pod = POD(.required = {cases[i].pod});
        provision();
        EXPECT_INT(node_of(pod) != NULL, cases[i].placed);
    }
}

static void test_enough_resources(void)
{
    static const char *const cpu[] = {"0.1", "1", "2", "2.5", "4", "8", "16"};
    static const char *const memory[] = {"0.1", "1", "2", "4", "8", "16", "32"};
    for (size_t i = 0; i < 49; i++) {
        world_assorted();
        world.title =
            arena_printf(world.arena, "cpu %s; memory %sGi", cpu[i / 7], memory[i % 7]).data;
        POOL(.name = "default");
        struct span pods = PODS(3, .requests = world.title);
        solve();
        EXPECT_ALL_SCHEDULED(pods);
        EXPECT_NODES(pods, 1);
        const struct solver_node_claim *claim = claim_of(pods.first);
        int64_t wanted_cpu = 3 * notation_quantity(text_of("cpu"), text_of(cpu[i / 7])) + 100;
        int64_t wanted_memory =
            3 * notation_quantity(text_of("memory"),
                                  arena_printf(world.arena, "%sGi", memory[i % 7])) +
            10485760;
        size_t small = 0;
        for (size_t j = 0; j < claim->type_count; j++) {
            long has_cpu = 0, has_memory = 0;
            CU_ASSERT_EQUAL_FATAL(sscanf(solver_type_name(world.problem, claim->types[j]),
                                         "%ld-cpu-%ld-mem", &has_cpu, &has_memory),
                                  2);
            small += has_cpu * 1000 < wanted_cpu || has_memory * 1073741824 < wanted_memory;
        }
        EXPECT_INT(small, 0);
    }
}

static void test_cheaper_on_demand(void)
{
    world_empty();
    TYPE(.name = "test-instance1", .resources = "cpu 1; memory 1Gi",
         .offerings = {OFFER("on-demand", "test-zone-1a", .usd_micro = 1000000),
                       OFFER("spot", "test-zone-1a", .usd_micro = 200000)});
    TYPE(.name = "test-instance2", .resources = "cpu 1; memory 1Gi",
         .offerings = {OFFER("on-demand", "test-zone-1a", .usd_micro = 1300000),
                       OFFER("spot", "test-zone-1a", .usd_micro = 100000)});
    POOL(.name = "default", .requirements = "capacity=on-demand");
    size_t pod = POD(.requests = NULL);
    provision();
    EXPECT_TEXT(claim_types(claim_of(pod)), "test-instance1 test-instance2");
    EXPECT_INT(claim_of(pod)->price_usd_micro, 1000000);
    EXPECT_LABEL(pod, "type", "test-instance1");
    EXPECT_LABEL(pod, "capacity", "on-demand");

    POOL(.name = "default");
    size_t spot = POD(.requests = NULL, .selector = "capacity=spot");
    provision();
    EXPECT_TEXT(claim_types(claim_of(spot)), "test-instance2 test-instance1");
    EXPECT_LABEL(spot, "capacity", "spot");
}

static void test_price_and_size_do_not_go_together(void)
{
    world_empty();
    TYPE(.name = "medium", .resources = "cpu 2; memory 2Gi",
         .offerings = {OFFER("on-demand", "test-zone-1a", .usd_micro = 3000000)});
    TYPE(.name = "small", .resources = "cpu 1; memory 1Gi",
         .offerings = {OFFER("on-demand", "test-zone-1a", .usd_micro = 2000000)});
    TYPE(.name = "large", .resources = "cpu 4; memory 4Gi",
         .offerings = {OFFER("on-demand", "test-zone-1a", .usd_micro = 1000000)});
    POOL(.name = "default");
    size_t pod = POD(.requests = "cpu 1m; memory 1Mi");
    provision();
    EXPECT_TEXT(claim_types(claim_of(pod)), "large small medium");
    EXPECT_INT(claim_of(pod)->price_usd_micro, 1000000);
}

static void test_offerings(void)
{
    world_empty();
    TYPE(.name = "a",
         .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = 1000000, .unavailable = true),
                       OFFER("on-demand", "test-zone-2", .usd_micro = 3000000)});
    TYPE(.name = "b", .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = 2000000)});
    TYPE(.name = "c",
         .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = 1, .unavailable = true)});
    TYPE(.name = "d", .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = -1)});
    POOL(.name = "default");
    size_t pod = POD(.requests = NULL);
    solve();
    /* What is not available counts for nothing, what has no price comes last. */
    EXPECT_TEXT(claim_types(claim_of(pod)), "b a d");
    EXPECT_INT(claim_of(pod)->price_usd_micro, 2000000);
    EXPECT_TEXT(claim_of(pod)->zone, "test-zone-1");

    TYPE(.name = "e", .offerings = {OFFER("spot", "test-zone-3", .free = true)});
    for (world.shuffle = 0; world.shuffle < 6; world.shuffle++) {
        solve();
        EXPECT_TEXT(claim_types(claim_of(pod)), "e b a d");
        EXPECT_INT(claim_of(pod)->price_usd_micro, 0);
    }

    world_empty();
    TYPE(.name = "d", .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = -1)});
    POOL(.name = "default");
    size_t no_price = POD(.requests = NULL);
    solve();
    EXPECT_INT(claim_of(no_price)->price_usd_micro, -1);
}

static void test_ties(void)
{
    /* Of equal price the first by type, then by zone, then by capacity type. */
    world_empty();
    TYPE(.name = "b", .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = 5)});
    TYPE(.name = "a", .offerings = {OFFER("spot", "test-zone-2", .usd_micro = 5),
                                    OFFER("spot", "test-zone-1", .usd_micro = 5),
                                    OFFER("on-demand", "test-zone-1", .usd_micro = 5),
                                    OFFER("on-demand", "test-zone-3", .usd_micro = 5)});
    POOL(.name = "default");
    for (world.shuffle = 0; world.shuffle < 6; world.shuffle++) {
        size_t pod = POD(.requests = NULL);
        solve();
        const struct solver_node_claim *claim = claim_of(pod);
        EXPECT_TEXT(claim_types(claim), "a b");
        EXPECT_TEXT(claim->zone, "test-zone-1");
        EXPECT_TEXT(claim->capacity_type, "on-demand");
        pod_gone(pod);
    }
}

static void test_claims_requirements(void)
{
    static const struct {
        const char *name, *pool, *requests, *types, *key, *value;
    } cases[] = {
        {"expected requirements", NULL, NULL, NULL, "pool", "default"},
        {"additional expected requirements", "custom-requirement-key=value", NULL, NULL,
         "custom-requirement-key", "value"},
        {"restricting types on architecture", "arch=arm64", NULL, "arm-instance-type", "arch",
         "arm64"},
        {"restricting types on operating system", "os=ios", NULL, "arm-instance-type", "os", "ios"},
        {"restricting types based on pod resource requests", NULL, "fake.com/vendor-a 1",
         "gpu-vendor-instance-type", "pool", "default"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        POOL(.name = "default", .requirements = cases[i].pool);
        size_t pod = POD(.requests = cases[i].requests);
        provision();
        const struct solver_node_claim *claim = claim_of(pod);
        if (cases[i].types != NULL)
            EXPECT_TEXT(claim_types(claim), cases[i].types);
        else
            EXPECT_INT(claim->type_count, 6);
        const struct solver_requirement *requirement = claim_requirement(claim, cases[i].key);
        CU_ASSERT_PTR_NOT_NULL_FATAL(requirement);
        EXPECT_TEXT(world_first_value(requirement), cases[i].value);
        EXPECT_INT(claim_requirement(claim, "host") == NULL, 1);
    }
}

/* Offerings with resources of their own: a pod must fit, and be sold, in one and the same. */
static void test_offering_overrides(void)
{
    static const char slots[] = "test.com/extended-slots 4";
    for (int available = 0; available < 2; available++) {
        world_empty();
        TYPE(.name = "override-capable", .resources = "cpu 4; memory 8Gi",
             .offerings = {
                 OFFER("spot", "test-zone-1"), OFFER("on-demand", "test-zone-1"),
                 OFFER("spot", "test-zone-1", .more = slots, .unavailable = available == 0),
                 OFFER("on-demand", "test-zone-1", .more = slots, .unavailable = available == 0)});
        TYPE(.name = "normal", .resources = "cpu 4; memory 8Gi");
        POOL(.name = "default");
        size_t pod = POD(.requests = "test.com/extended-slots 1");
        provision();
        EXPECT_INT(node_of(pod) != NULL, available);
        if (available != 0 && node_of(pod) != NULL)
            EXPECT_TEXT(claim_types(claim_of(pod)), "override-capable");
    }
}

static void test_overrides_that_differ(void)
{
    static const struct {
        const char *requests, *capacity; /* NULL: pending */
    } cases[] = {
        {"test.com/slots 2", "spot"},
        {"test.com/slots 6", "on-demand"},
        {"test.com/slots 9", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_empty();
        world.title = cases[i].requests;
        TYPE(.name = "only",
             .offerings = {
                 OFFER("spot", "test-zone-1", .usd_micro = 1, .more = "test.com/slots 4"),
                 OFFER("on-demand", "test-zone-1", .usd_micro = 2, .more = "test.com/slots 8")});
        POOL(.name = "default");
        size_t pod = POD(.requests = cases[i].requests);
        provision();
        EXPECT_INT(node_of(pod) != NULL, cases[i].capacity != NULL);
        EXPECT_LABEL(pod, "capacity", cases[i].capacity == NULL ? "" : cases[i].capacity);
    }
}

const char unit_suite[] = "solver choice";
const struct unit_test unit_tests[] = {
    {"one of the cheapest instances", test_one_of_the_cheapest},
    {"no instance type matches selector", test_no_type_matches},
    {"an instance with enough resources", test_enough_resources},
    {"cheaper on-demand instance", test_cheaper_on_demand},
    {"valid instance types, regardless of price", test_price_and_size_do_not_go_together},
    {"offerings", test_offerings},
    {"ties", test_ties},
    {"requirements of claims", test_claims_requirements},
    {"offering overrides", test_offering_overrides},
    {"overrides that differ", test_overrides_that_differ},
    {NULL, NULL},
};
