/* What the builder accepts and what it refuses: an error is an input error and names the object. */
#include "solver/problem.h"
#include "solver_fixture.h"

static struct solver_builder *builder;
static struct error error;
static uint32_t number;

static void fresh(void)
{
    world_empty();
    builder = solver_builder_create(world.arena);
    memset(&error, 0, sizeof error);
}

static void expect_refused(bool added, const char *object)
{
    EXPECT_INT(added, 0);
    EXPECT_INT(error.kind, ERROR_INPUT);
    if (strstr(error.what, object) == NULL)
        fprintf(stderr, "no \"%s\" in \"%s\"\n", object, error.what);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.what, object));
    memset(&error, 0, sizeof error);
}

static void test_resources(void)
{
    fresh();
    EXPECT_INT(solver_builder_resource(builder, "cpu"), SOLVER_CPU);
    EXPECT_INT(solver_builder_resource(builder, "memory"), SOLVER_MEMORY);
    EXPECT_INT(solver_builder_resource(builder, "pods"), SOLVER_PODS);
    EXPECT_INT(solver_builder_resource(builder, "nodes"), SOLVER_NODES);
    uint32_t gpu = solver_builder_resource(builder, "nvidia.com/gpu");
    EXPECT_INT(gpu >= SOLVER_FIXED_RESOURCES, 1);
    EXPECT_INT(solver_builder_resource(builder, "nvidia.com/gpu"), gpu);
    EXPECT_INT(solver_builder_resource(builder, "amd.com/gpu") != gpu, 1);
}

static void test_names_given_twice(void)
{
    fresh();
    struct solver_instance_type type = {.name = "m5.large"};
    EXPECT_INT(solver_add_type(builder, &type, &number, &error), 1);
    EXPECT_INT(number, 0);
    expect_refused(solver_add_type(builder, &type, &number, &error), "m5.large");
    struct solver_pool pool = {.name = "default"};
    EXPECT_INT(solver_add_pool(builder, &pool, &number, &error), 1);
    expect_refused(solver_add_pool(builder, &pool, &number, &error), "default");
    struct solver_node node = {.name = "ip-10-0-0-1"};
    EXPECT_INT(solver_add_node(builder, &node, &number, &error), 1);
    expect_refused(solver_add_node(builder, &node, &number, &error), "ip-10-0-0-1");
    struct solver_shape shape = {.namespace = "default"};
    EXPECT_INT(solver_add_shape(builder, &shape, &number, &error), 1);
    struct solver_pod pod = {.name = "default/shop", .uid = "1", .node = SOLVER_NONE};
    EXPECT_INT(solver_add_pod(builder, &pod, &number, &error), 1);
    expect_refused(solver_add_pod(builder, &pod, &number, &error), "default/shop");
}

static void test_quantities(void)
{
    static const struct solver_amount below_zero = {SOLVER_MEMORY, -1};
    static const struct solver_amount twice[] = {{SOLVER_CPU, 1}, {SOLVER_CPU, 2}};
    static const struct solver_amount nobodys = {12345, 1};
    static const struct solver_amounts cases[] = {{&below_zero, 1}, {twice, 2}, {&nobodys, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fresh();
        struct solver_instance_type capacity = {.name = "large", .capacity = cases[i]};
        expect_refused(solver_add_type(builder, &capacity, &number, &error), "large");
        struct solver_instance_type allocatable = {.name = "small", .allocatable = cases[i]};
        expect_refused(solver_add_type(builder, &allocatable, &number, &error), "small");
        struct solver_offering offering = {"z", "spot", .allocatable = &cases[i]};
        struct solver_instance_type own = {
            .name = "own", .offerings = &offering, .offering_count = 1};
        expect_refused(solver_add_type(builder, &own, &number, &error), "own");
        struct solver_pool pool = {.name = "limited", .limits = cases[i]};
        expect_refused(solver_add_pool(builder, &pool, &number, &error), "limited");
        struct solver_node node = {.name = "there", .allocatable = cases[i]};
        expect_refused(solver_add_node(builder, &node, &number, &error), "there");
        struct solver_node large = {.name = "wide", .capacity = cases[i]};
        expect_refused(solver_add_node(builder, &large, &number, &error), "wide");
        struct solver_shape shape = {.namespace = "shop", .requests = cases[i]};
        expect_refused(solver_add_shape(builder, &shape, &number, &error), "shop");
    }
}

/* The first number that nothing has is refused like any later one. */
static void test_numbers_of_nothing(void)
{
    fresh();
    struct solver_shape shape = {.namespace = "default"};
    EXPECT_INT(solver_add_shape(builder, &shape, &number, &error), 1);
    struct solver_pod shapeless = {.name = "default/a", .shape = 1, .node = SOLVER_NONE};
    expect_refused(solver_add_pod(builder, &shapeless, &number, &error), "default/a");
    struct solver_pod nowhere = {.name = "default/b", .node = 0};
    expect_refused(solver_add_pod(builder, &nowhere, &number, &error), "default/b");
    struct solver_mount mount = {.claim = "default/data"};
    struct solver_pod mounting = {
        .name = "default/c", .node = SOLVER_NONE, .mounts = &mount, .mount_count = 1};
    expect_refused(solver_add_pod(builder, &mounting, &number, &error), "default/c");
    expect_refused(solver_add_daemon(builder, 1, &error), "1");
    uint32_t type = 0;
    struct solver_pool pool = {.name = "default", .types = &type, .type_count = 1};
    const struct solver_problem *problem;
    struct solver_settings settings = {0};
    bool good = solver_add_pool(builder, &pool, &number, &error) &&
                solver_build(builder, &settings, &problem, &error);
    expect_refused(good, "default");
}

static void test_equal_shapes_are_one(void)
{
    static const struct {
        const char *namespace, *requests;
        uint32_t expected;
    } cases[] = {
        {"default", "cpu 1; memory 1Gi", 0},
        {"default", "cpu 2", 1},
        {"default", "cpu 1; memory 1Gi", 0},
        {"other", "cpu 2", 2},
        {"default", "cpu 2", 1},
    };
    fresh();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct solver_shape shape = {
            .namespace = notation_copy(world.arena, text_of(cases[i].namespace)),
            .labels = notation_labels(world.arena, "app=a"),
            .requests = notation_amounts(world.arena, builder, cases[i].requests),
        };
        EXPECT_INT(solver_add_shape(builder, &shape, &number, &error), 1);
        EXPECT_INT(number, cases[i].expected);
    }
}

static void test_names_by_number(void)
{
    world_fresh();
    POOL(.name = "one");
    POOL(.name = "two");
    NODE(.name = "there");
    POD(.name = "shop");
    solve();
    EXPECT_INT(solver_pool_count(world.problem), 2);
    EXPECT_TEXT(solver_pool_name(world.problem, 1), "two");
    EXPECT_TEXT(solver_type_name(world.problem, 1), "small-instance-type");
    EXPECT_TEXT(solver_node_name(world.problem, 0), "there");
    EXPECT_TEXT(solver_pod_name(world.problem, 0), "default/shop");
    EXPECT_TEXT(solver_resource_name(world.problem, SOLVER_NODES), "nodes");
}

static void test_types_of_pools(void)
{
    /* A pool may offer some of the types only, or none at all. */
    static const uint32_t one[] = {1};
    for (size_t count = 0; count < 2; count++) {
        world_fresh();
        world.builder = solver_builder_create(world.arena);
        for (size_t i = 0; i < world.types.count; i++)
            world_add_type(&world.types.items[i]);
        struct solver_pool pool = {.name = "default", .types = one, .type_count = count};
        struct solver_shape shape = {.namespace = "default"};
        struct solver_pod pod = {.name = "default/a", .uid = "a", .node = SOLVER_NONE};
        const struct solver_problem *problem = NULL;
        bool good = solver_add_pool(world.builder, &pool, &number, &error) &&
                    solver_add_shape(world.builder, &shape, &pod.shape, &error) &&
                    solver_add_pod(world.builder, &pod, &number, &error) &&
                    solver_build(world.builder, &world.settings, &problem, &error);
        CU_ASSERT_TRUE_FATAL(good);
        const struct solver_plan *plan = solver_solve(solver_run_create(problem, world.arena));
        EXPECT_INT(plan->claim_count, count);
        EXPECT_INT(plan->unschedulable_count, 1 - count);
        if (plan->claim_count == 1)
            EXPECT_TEXT(solver_type_name(problem, plan->claims[0].type), "small-instance-type");
    }
}

static char *scratch(char *at, const char *text)
{
    memcpy(at, text, strlen(text) + 1);
    return at;
}

/* The caller's memory may change as soon as something is added. */
static void test_all_is_copied(void)
{
    static const char gone[] = "gone";
    fresh();
    const uint32_t slots = solver_builder_resource(builder, "example.com/slots");
    char texts[16][64];
    const char *value = scratch(texts[0], "yes");
    struct solver_expression more = {scratch(texts[1], "example.com/fast"), SOLVER_IN, &value, 1,
                                     0};
    struct solver_amount amounts[] = {{SOLVER_CPU, 4000}, {SOLVER_PODS, 9}};
    struct solver_amount own[] = {{SOLVER_CPU, 4000}, {SOLVER_PODS, 9}, {slots, 3}};
    struct solver_amounts allocatable = {own, 3};
    struct solver_offering offering = {.zone = scratch(texts[2], "zone-1"),
                                       .capacity_type = scratch(texts[3], "spot"),
                                       .more = {&more, 1},
                                       .price_usd_micro = 5,
                                       .available = true,
                                       .allocatable = &allocatable};
    struct solver_attach_limit attach = {scratch(texts[4], "csi"), 1};
    struct solver_instance_type type = {.name = scratch(texts[5], "one"),
                                        .capacity = {amounts, 2},
                                        .allocatable = {amounts, 2},
                                        .attach_limits = &attach,
                                        .attach_limit_count = 1,
                                        .offerings = &offering,
                                        .offering_count = 1};
    uint32_t types[] = {0};
    struct solver_label team = {scratch(texts[6], "team"), scratch(texts[7], "search")};
    struct solver_taint taint = {scratch(texts[8], "own"), scratch(texts[9], "it"),
                                 SOLVER_NO_SCHEDULE};
    struct solver_amount limit = {SOLVER_CPU, 4000};
    struct solver_pool pool = {.name = scratch(texts[10], "default"),
                               .labels = {&team, 1},
                               .taints = {&taint, 1},
                               .limits = {&limit, 1},
                               .types = types,
                               .type_count = 1};
    struct solver_toleration toleration = {.key = texts[8], .value = texts[9], .any_effect = true};
    struct solver_amount requests[] = {{SOLVER_CPU, 1000}, {slots, 2}};
    struct solver_shape shape = {.namespace = scratch(texts[11], "shop"),
                                 .requests = {requests, 2},
                                 .node_selector = {&team, 1},
                                 .tolerations = &toleration,
                                 .toleration_count = 1};
    struct solver_pod pod = {
        .name = scratch(texts[12], "shop/a"), .uid = scratch(texts[13], "u"), .node = SOLVER_NONE};
    const struct solver_problem *problem = NULL;
    struct solver_settings settings = {0};
    bool good = solver_add_type(builder, &type, &number, &error) &&
                solver_add_pool(builder, &pool, &number, &error) &&
                solver_add_shape(builder, &shape, &pod.shape, &error) &&
                solver_add_pod(builder, &pod, &number, &error);
    CU_ASSERT_TRUE_FATAL(good);
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        memcpy(texts[i], gone, sizeof gone);
    memset(amounts, 0, sizeof amounts);
    memset(own, 0, sizeof own);
    memset(requests, 0xff, sizeof requests);
    types[0] = 7;
    limit.quantity = 0;
    CU_ASSERT_TRUE_FATAL(solver_build(builder, &settings, &problem, &error));
    const struct solver_plan *plan = solver_solve(solver_run_create(problem, world.arena));
    CU_ASSERT_TRUE_FATAL(plan->claim_count == 1);
    const struct solver_node_claim *claim = &plan->claims[0];
    EXPECT_TEXT(solver_type_name(problem, claim->type), "one");
    EXPECT_TEXT(solver_pool_name(problem, claim->pool), "default");
    EXPECT_TEXT(solver_pod_name(problem, claim->pods[0]), "shop/a");
    EXPECT_TEXT(claim->zone, "zone-1");
    EXPECT_TEXT(claim->capacity_type, "spot");
    EXPECT_INT(claim->price_usd_micro, 5);
    EXPECT_INT(claim->requests[SOLVER_CPU], 1000);
    EXPECT_INT(claim->requests[slots], 2);
}

/* A Node that is being deleted takes no pod and counts towards no limit; one that is to come does
 * both, and no reason names it. */
static void test_nodes_that_leave_or_come(void)
{
    static const struct {
        const char *name;
        bool leaving, to_come;
        size_t claims, on_node, causes;
    } cases[] = {
        {"there", false, false, 0, 1, 1},
        {"leaving", true, false, 1, 0, 0},
        {"to come", false, true, 0, 1, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        fresh();
        world.title = cases[i].name;
        const struct solver_amount amounts[] = {{SOLVER_CPU, 4000}, {SOLVER_PODS, 9}};
        const struct solver_amount limit = {SOLVER_CPU, 4000}, much = {SOLVER_CPU, 3000};
        const struct solver_offering offering = {"zone-1", "spot", .available = true};
        const struct solver_instance_type type = {.name = "one",
                                                  .capacity = {amounts, 2},
                                                  .allocatable = {amounts, 2},
                                                  .offerings = &offering,
                                                  .offering_count = 1};
        const struct solver_pool pool = {.name = "default", .limits = {&limit, 1}};
        const struct solver_node node = {.name = "there",
                                         .pool = "default",
                                         .capacity = {amounts, 2},
                                         .allocatable = {amounts, 2},
                                         .initialized = true,
                                         .leaving = cases[i].leaving,
                                         .to_come = cases[i].to_come};
        const struct solver_shape shape = {.namespace = "shop", .requests = {&much, 1}};
        struct solver_pod pods[] = {{.name = "shop/a", .uid = "1", .node = SOLVER_NONE},
                                    {.name = "shop/b", .uid = "2", .node = SOLVER_NONE}};
        const struct solver_problem *problem = NULL;
        struct solver_settings settings = {0};
        bool good = solver_add_type(builder, &type, &number, &error) &&
                    solver_add_pool(builder, &pool, &number, &error) &&
                    solver_add_node(builder, &node, &number, &error) &&
                    solver_add_shape(builder, &shape, &pods[0].shape, &error) &&
                    solver_add_pod(builder, &pods[0], &number, &error) &&
                    solver_add_pod(builder, &pods[1], &number, &error) &&
                    solver_build(builder, &settings, &problem, &error);
        CU_ASSERT_TRUE_FATAL(good);
        struct solver_run *run = solver_run_create(problem, world.arena);
        const struct solver_plan *plan = solver_solve(run);
        EXPECT_INT(plan->claim_count, cases[i].claims);
        EXPECT_INT(plan->placements[0].kind == SOLVER_ON_NODE, cases[i].on_node);
        EXPECT_INT(plan->unschedulable_count, 1);
        struct solver_reasons reasons = solver_explain(run, 1);
        size_t causes = 0;
        for (size_t j = 0; j < reasons.count; j++)
            causes += reasons_tell(reasons, world.arena).items[j].cause_count;
        EXPECT_INT(causes, cases[i].causes);
    }
}

/* So many places for each of two volumes that their combinations are more than anyone needs. */
static void test_volumes_in_many_ways(void)
{
    enum { WAYS = 4097 };
    static const struct {
        size_t first, second;
        bool accepted;
    } cases[] = {{1, 0, true},     {4096, 0, true},   {4097, 0, false}, {64, 64, true},
                 {17, 241, false}, {300, 300, false}, {1, 4096, true},  {2, 2049, false}};
    static const char *values[WAYS];
    static struct solver_expression expressions[WAYS];
    static struct solver_expressions ways[WAYS];
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        fresh();
        for (size_t j = 0; j < WAYS; j++) {
            values[j] = arena_printf(world.arena, "%zu", j).data;
            expressions[j] = (struct solver_expression){.key = "example.com/a",
                                                        .op = SOLVER_NOT_IN,
                                                        .values = &values[j],
                                                        .value_count = 1};
            ways[j] = (struct solver_expressions){&expressions[j], 1};
        }
        const struct solver_volume volumes[] = {
            {.alternatives = ways, .alternative_count = cases[i].first},
            {.alternatives = ways, .alternative_count = cases[i].second}};
        const struct solver_shape shape = {
            .namespace = "default", .volumes = volumes, .volume_count = 2};
        EXPECT_INT(solver_add_shape(builder, &shape, &number, &error), cases[i].accepted);
        if (cases[i].accepted)
            continue;
        EXPECT_INT(error.kind, ERROR_LIMIT);
        EXPECT_TEXT(error.what, "the volumes of one pod can be combined in more than 4096 ways");
    }
}

/* Sums of amounts stay within 64 bits. */
static void test_sums_are_capped(void)
{
    EXPECT_INT(add_capped(INT64_MAX, 1), INT64_MAX);
    EXPECT_INT(add_capped(INT64_MIN, -1), INT64_MIN);
    EXPECT_INT(subtract_capped(INT64_MAX, -1), INT64_MAX);
    EXPECT_INT(subtract_capped(INT64_MIN, 1), INT64_MIN);
    EXPECT_INT(subtract_capped(3, 5), -2);
}

static void test_nothing_at_all(void)
{
    world_empty();
    solve();
    EXPECT_INT(world.plan->placement_count, 0);
    EXPECT_INT(world.plan->claim_count, 0);
    EXPECT_INT(world.plan->unschedulable_count, 0);
}

const char unit_suite[] = "solver problem";
const struct unit_test unit_tests[] = {
    {"resources", test_resources},
    {"names given twice", test_names_given_twice},
    {"quantities", test_quantities},
    {"numbers of nothing", test_numbers_of_nothing},
    {"equal shapes are one", test_equal_shapes_are_one},
    {"names by number", test_names_by_number},
    {"types of pools", test_types_of_pools},
    {"all is copied", test_all_is_copied},
    {"nodes that leave, or come", test_nodes_that_leave_or_come},
    {"volumes in many ways", test_volumes_in_many_ways},
    {"sums are capped", test_sums_are_capped},
    {"nothing at all", test_nothing_at_all},
    {NULL, NULL},
};
