/* Adds a case to a builder. */
#include "solver_case.h"

struct building {
    struct solver_builder *builder;
    struct arena *arena;
    bool backwards;
    const struct built *before;
    struct built *built;
};

static struct taken taken_create(struct arena *arena, size_t count)
{
    struct taken taken = {ARENA_ARRAY(arena, count, uint32_t), ARENA_ARRAY(arena, count, uint32_t),
                          0};
    for (size_t i = 0; i < count; i++)
        taken.numbers[i] = SOLVER_NONE;
    return taken;
}

static size_t nth(const struct building *building, size_t i, size_t count)
{
    return building->backwards ? count - 1 - i : i;
}

static bool wanted(const struct taken *before, size_t index)
{
    return before == NULL || before->numbers[index] != SOLVER_NONE;
}

/* A refusal has a reason, and does not hang on the order. */
static bool accepted(const struct building *building, bool added, const struct error *error)
{
    REQUIRE(added ||
            ((error->kind == ERROR_INPUT || error->kind == ERROR_LIMIT) && error->what[0] != '\0'));
    REQUIRE(added || building->before == NULL);
    return added;
}

static void take_number(struct taken *taken, size_t index, uint32_t number)
{
    REQUIRE(number == taken->count);
    taken->numbers[index] = number;
    taken->indices[taken->count++] = (uint32_t)index;
}

/* An unknown one stays unknown. */
static uint32_t number_of(const struct taken *taken, uint32_t index)
{
    return index < CASE_UNKNOWN ? taken->numbers[index] : index;
}

static void add_types(struct building *building)
{
    const struct solver_case *input = building->built->input;
    struct taken *taken = &building->built->types;
    for (size_t i = 0; i < input->type_count; i++) {
        size_t at = nth(building, i, input->type_count);
        uint32_t number = SOLVER_NONE;
        struct error error = {0};
        if (wanted(building->before == NULL ? NULL : &building->before->types, at) &&
            accepted(building,
                     solver_add_type(building->builder, &input->types[at], &number, &error),
                     &error))
            take_number(taken, at, number);
    }
}

static void add_pools(struct building *building)
{
    const struct solver_case *input = building->built->input;
    struct taken *taken = &building->built->pools;
    for (size_t i = 0; i < input->pool_count; i++) {
        size_t at = nth(building, i, input->pool_count);
        struct solver_pool pool = input->pools[at];
        uint32_t *types = ARENA_ARRAY(building->arena, pool.type_count, uint32_t);
        uint32_t number = SOLVER_NONE;
        struct error error = {0};
        pool.type_count = 0;
        for (size_t j = 0; j < input->pools[at].type_count; j++) {
            uint32_t type = number_of(&building->built->types, pool.types[j]);
            if (type != SOLVER_NONE)
                types[pool.type_count++] = type;
        }
        if (pool.types != NULL)
            pool.types = types;
        if (wanted(building->before == NULL ? NULL : &building->before->pools, at) &&
            accepted(building, solver_add_pool(building->builder, &pool, &number, &error), &error))
            take_number(taken, at, number);
    }
}

static void add_nodes(struct building *building)
{
    const struct solver_case *input = building->built->input;
    struct taken *taken = &building->built->nodes;
    for (size_t i = 0; i < input->node_count; i++) {
        size_t at = nth(building, i, input->node_count);
        uint32_t number = SOLVER_NONE;
        struct error error = {0};
        if (wanted(building->before == NULL ? NULL : &building->before->nodes, at) &&
            accepted(building,
                     solver_add_node(building->builder, &input->nodes[at], &number, &error),
                     &error))
            take_number(taken, at, number);
    }
}

static void add_namespaces(struct building *building)
{
    const struct solver_case *input = building->built->input;
    for (size_t i = 0; i < input->namespace_count; i++) {
        const struct case_namespace *namespace =
            &input->namespaces[nth(building, i, input->namespace_count)];
        struct error error = {0};
        REQUIRE(
            solver_add_namespace(building->builder, namespace->name, namespace->labels, &error));
    }
}

/* Shapes that are alike share a number. */
static void add_shapes(struct building *building)
{
    const struct solver_case *input = building->built->input;
    struct taken *taken = &building->built->shapes;
    for (size_t i = 0; i < input->shape_count; i++) {
        size_t at = nth(building, i, input->shape_count);
        uint32_t number = SOLVER_NONE;
        struct error error = {0};
        if (input->only_asked[at] ||
            !wanted(building->before == NULL ? NULL : &building->before->shapes, at) ||
            !accepted(building,
                      solver_add_shape(building->builder, &input->shapes[at], &number, &error),
                      &error))
            continue;
        REQUIRE(number <= taken->count);
        taken->numbers[at] = number;
        taken->indices[number] = (uint32_t)at;
        if (number == taken->count)
            taken->count++;
    }
}

static void add_daemons(struct building *building)
{
    const struct solver_case *input = building->built->input;
    for (size_t i = 0; i < input->daemon_count; i++) {
        uint32_t shape = number_of(&building->built->shapes,
                                   input->daemons[nth(building, i, input->daemon_count)]);
        struct error error = {0};
        REQUIRE(shape == SOLVER_NONE ||
                solver_add_daemon(building->builder, shape, &error) == (shape != CASE_UNKNOWN));
    }
}

static void add_pods(struct building *building)
{
    const struct solver_case *input = building->built->input;
    struct built *built = building->built;
    for (size_t i = 0; i < input->pod_count; i++) {
        size_t at = nth(building, i, input->pod_count);
        struct solver_pod pod = input->pods[at];
        uint32_t number = SOLVER_NONE;
        struct error error = {0};
        bool running = pod.node != SOLVER_NONE;
        pod.shape = number_of(&built->shapes, pod.shape);
        if (running)
            pod.node = number_of(&built->nodes, pod.node);
        if (pod.shape == SOLVER_NONE || (running && pod.node == SOLVER_NONE))
            continue;
        if (wanted(building->before == NULL ? NULL : &building->before->pods, at) &&
            accepted(building, solver_add_pod(building->builder, &pod, &number, &error), &error))
            take_number(&built->pods, at, number);
    }
}

static void name_resources(struct solver_builder *builder)
{
    REQUIRE(solver_builder_resource(builder, "nvidia.com/gpu") == CASE_GPU);
    REQUIRE(solver_builder_resource(builder, "example.com/disk") == CASE_DISK);
    REQUIRE(solver_builder_resource(builder, "cpu") == SOLVER_CPU);
}

static struct built nothing_built(const struct solver_case *input, struct arena *arena)
{
    return (struct built){
        .input = input,
        .types = taken_create(arena, input->type_count),
        .pools = taken_create(arena, input->pool_count),
        .nodes = taken_create(arena, input->node_count),
        .shapes = taken_create(arena, input->shape_count),
        .pods = taken_create(arena, input->pod_count),
    };
}

bool case_build(const struct solver_case *input, bool backwards, const struct built *before,
                struct arena *arena, struct built *built)
{
    *built = nothing_built(input, arena);
    struct building building = {solver_builder_create(arena), arena, backwards, before, built};
    name_resources(building.builder);
    add_types(&building);
    add_pools(&building);
    add_nodes(&building);
    add_namespaces(&building);
    add_shapes(&building);
    add_daemons(&building);
    add_pods(&building);
    struct error error = {0};
    return accepted(&building,
                    solver_build(building.builder, &input->settings, &built->problem, &error),
                    &error);
}

/* ---- over a stock ---- */

/* The shapes of daemons come first, with the stock. */
static const struct solver_problem *make_stock(struct building *building)
{
    const struct solver_case *input = building->built->input;
    const struct solver_problem *stock;
    struct error error = {0};
    add_types(building);
    add_pools(building);
    for (size_t i = 0; i < input->daemon_count; i++) {
        uint32_t shape, at = input->daemons[i];
        if (at != CASE_UNKNOWN && wanted(&building->before->shapes, at))
            REQUIRE(solver_add_shape(building->builder, &input->shapes[at], &shape, &error) &&
                    solver_add_daemon(building->builder, shape, &error));
    }
    REQUIRE(solver_build_stock(building->builder, &input->settings, &stock, &error));
    return stock;
}

static void add_shapes_over(struct building *building)
{
    const struct solver_case *input = building->built->input;
    struct error error = {0};
    for (size_t i = 0; i < input->shape_count; i++)
        if (wanted(&building->before->shapes, i))
            REQUIRE(solver_add_shape(building->builder, &input->shapes[i],
                                     &building->built->shapes.numbers[i], &error));
}

const struct solver_problem *case_build_over(const struct solver_case *input,
                                             const struct built *before, struct arena *arena)
{
    struct built built = nothing_built(input, arena);
    struct building building = {solver_builder_create(arena), arena, false, before, &built};
    const struct solver_problem *problem;
    struct error error = {0};
    name_resources(building.builder);
    const struct solver_problem *stock = make_stock(&building);
    struct solver_builder *strange = solver_builder_over(stock, arena);
    (void)solver_builder_resource(strange, "example.com/strange");
    REQUIRE(!solver_build(strange, &input->settings, &problem, &error) && error.what[0] != '\0');
    building.builder = solver_builder_over(stock, arena);
    add_nodes(&building);
    add_namespaces(&building);
    add_shapes_over(&building);
    add_pods(&building);
    REQUIRE(solver_build(building.builder, &input->settings, &problem, &error));
    return problem;
}
