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

/* So many zones for each of two volumes that their combinations are more than anyone needs. */
static void test_volumes_in_many_ways(void)
{
    enum { WAYS = 300 };
    fresh();
    static const char *values[WAYS];
    static struct solver_expression expressions[WAYS];
    static struct solver_expressions ways[WAYS];
    for (size_t i = 0; i < WAYS; i++) {
        values[i] = arena_printf(world.arena, "%zu", i).data;
        expressions[i] = (struct solver_expression){
            .key = "example.com/a", .op = SOLVER_NOT_IN, .values = &values[i], .value_count = 1};
        ways[i] = (struct solver_expressions){&expressions[i], 1};
    }
    const struct solver_volume volumes[] = {{ways, WAYS}, {ways, WAYS}};
    const struct solver_shape shape = {
        .namespace = "default", .volumes = volumes, .volume_count = 2};
    EXPECT_INT(solver_add_shape(builder, &shape, &number, &error), 0);
    EXPECT_INT(error.kind, ERROR_LIMIT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.what, "can be combined in more than"));
    const struct solver_shape one = {.namespace = "default", .volumes = volumes, .volume_count = 1};
    EXPECT_INT(solver_add_shape(builder, &one, &number, &error), 1);
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
    {"volumes in many ways", test_volumes_in_many_ways},
    {"sums are capped", test_sums_are_capped},
    {"nothing at all", test_nothing_at_all},
    {NULL, NULL},
};
