/* Problems derived from one another: what they say is what one built from nothing says. */
#include "solver_random.h"
#include "solver_told.h"

enum { SEEDS = 400, STEPS = 5, AMENDMENTS = 10 };

/* ---- deltas, to the model and to a builder ---- */

static const char *new_name(struct random_cluster *c, const char *what, size_t number)
{
    return arena_printf(c->arena, "%s-%03zu", what, number).data;
}

static void remove_pod(struct random_cluster *c, struct solver_builder *builder)
{
    struct random_pod *pod = &c->pods[draw(c, (uint32_t)c->pod_count)];
    struct error error;
    if (pod->gone) {
        CU_ASSERT_FALSE(solver_remove_pod(builder, pod->number, &error));
        return;
    }
    pod->gone = true;
    MUST(solver_remove_pod(builder, pod->number, &error));
}

static void place_pod(struct random_cluster *c, struct solver_builder *builder)
{
    struct random_pod *pod = &c->pods[draw(c, (uint32_t)c->pod_count)];
    uint32_t node = draw(c, (uint32_t)c->node_count);
    struct error error;
    if (pod->gone || c->nodes[node].gone || pod->node != SOLVER_NONE) {
        CU_ASSERT_FALSE(solver_place_pod(builder, pod->number, c->nodes[node].number, &error));
        return;
    }
    pod->node = node;
    MUST(solver_place_pod(builder, pod->number, c->nodes[node].number, &error));
}

/* One with a name of its own, or one that comes again. */
static void add_pod(struct random_cluster *c, struct solver_builder *builder)
{
    size_t index = draw(c, (uint32_t)c->pod_count);
    if (!c->pods[index].gone) {
        if (c->pod_count == PODS_MOST)
            return;
        index = c->pod_count++;
        c->pods[index].name = new_name(c, "ns/pod", index);
    }
    if (chance(c, 30) && c->shape_count < SHAPES_MOST)
        c->shapes[c->shape_count++] = random_shape(c);
    c->pods[index] = random_pod(c, c->pods[index].name, 50);
    tell_pod(c, builder, index);
}

static void remove_node(struct random_cluster *c, struct solver_builder *builder)
{
    uint32_t node = draw(c, (uint32_t)c->node_count);
    struct error error;
    if (c->nodes[node].gone) {
        CU_ASSERT_FALSE(solver_remove_node(builder, c->nodes[node].number, &error));
        return;
    }
    c->nodes[node].gone = true;
    for (size_t i = 0; i < c->pod_count; i++)
        c->pods[i].gone = c->pods[i].gone || c->pods[i].node == node;
    MUST(solver_remove_node(builder, c->nodes[node].number, &error));
}

static void add_node(struct random_cluster *c, struct solver_builder *builder)
{
    size_t index = draw(c, (uint32_t)c->node_count);
    if (!c->nodes[index].gone) {
        if (c->node_count == NODES_MOST)
            return;
        index = c->node_count++;
    }
    c->nodes[index] = random_node(c, new_name(c, "node", index));
    /* Pods that went with the node that had the name do not come again with it. */
    for (size_t i = 0; i < c->pod_count; i++)
        if (c->pods[i].gone && c->pods[i].node == index)
            c->pods[i].node = SOLVER_NONE;
    tell_node(c, builder, index);
}

static void change_supply(struct random_cluster *c, struct solver_builder *builder)
{
    if (chance(c, 50) && !c->labels_other) {
        c->labels_other = true;
        tell_namespace(builder, "other", "test");
    } else if (c->pool_count < 5) {
        tell_pool(c, builder, c->pool_count++);
    }
}

static const struct solver_problem *build_changed(struct random_cluster *c,
                                                  struct solver_builder *builder, bool pods_only)
{
    static void (*const pod_deltas[])(struct random_cluster *, struct solver_builder *) = {
        remove_pod, place_pod, add_pod, add_pod};
    static void (*const deltas[])(struct random_cluster *, struct solver_builder *) = {
        remove_pod, place_pod, add_pod, remove_node, add_node, change_supply};
    for (size_t count = draw(c, 10); count > 0; count--)
        (pods_only ? PICK(c, pod_deltas) : PICK(c, deltas))(c, builder);
    struct solver_settings settings = random_settings(c);
    const struct solver_problem *problem;
    struct error error;
    MUST(solver_build(builder, &settings, &problem, &error));
    return problem;
}

static const struct solver_problem *derive(struct random_cluster *c,
                                           const struct solver_problem *before, bool pods_only)
{
    return build_changed(c, solver_derive(before, c->arena), pods_only);
}

static const char *tell(struct random_cluster *c, const struct solver_problem *problem)
{
    return tell_plan(c->arena, problem, solver_run_create(problem, c->arena));
}

/* ---- tests ---- */

static void derived_problems_are_as_built_from_nothing(void)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct arena *arena = arena_create((size_t)256 << 20);
        CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
        struct random_cluster *c = random_cluster(arena, seed);
        const struct solver_problem *problem = random_build(c), *first = problem;
        const char *first_told = tell(c, first);
        bool same = true;
        for (size_t step = 0; step < STEPS && same; step++) {
            problem = derive(c, problem, chance(c, 60));
            struct random_cluster *copy = ARENA_NEW(arena, struct random_cluster);
            *copy = *c;
            same =
                same_told(seed, "a derived problem", tell(c, problem), tell(c, random_build(copy)));
        }
        /* The one they began with is what it was. */
        same = same_told(seed, "the first problem", tell(c, first), first_told) && same;
        arena_destroy(arena);
        if (!same)
            break;
    }
}

/* One that changes where it is, and now and then is derived from. */
static void amended_problems_are_as_built_from_nothing(void)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct arena *arena = arena_create((size_t)256 << 20);
        CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
        struct random_cluster *c = random_cluster(arena, seed);
        const struct solver_problem *problem = random_build(c);
        bool same = true;
        for (size_t step = 0; step < AMENDMENTS && same; step++) {
            struct solver_builder *builder =
                chance(c, 15) ? solver_derive(problem, arena) : solver_amend(problem);
            problem = build_changed(c, builder, chance(c, 60));
            struct random_cluster *copy = ARENA_NEW(arena, struct random_cluster);
            *copy = *c;
            same = same_told(seed, "an amended problem", tell(c, problem),
                             tell(c, random_build(copy)));
        }
        arena_destroy(arena);
        if (!same)
            break;
    }
}

/* Two that are derived from one do not see each other's deltas. */
static void siblings_are_apart(void)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct arena *arena = arena_create((size_t)256 << 20);
        CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
        struct random_cluster *c = random_cluster(arena, seed);
        const struct solver_problem *parent = random_build(c);
        struct random_cluster *other = ARENA_NEW(arena, struct random_cluster);
        *other = *c;
        other->state += 12345;
        const struct solver_problem *problem = derive(c, parent, true);
        const char *told = tell(c, problem);
        const struct solver_problem *sibling = derive(other, parent, seed % 2 == 0);
        (void)same_told(seed, "a problem after its sibling", tell(c, problem), told);
        (void)same_told(seed, "the sibling", tell(other, sibling),
                        tell(other, random_build(other)));
        arena_destroy(arena);
    }
}

/* A removed pod has no reasons and no place; its name comes again with its number. */
static void numbers_stay(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    struct solver_settings settings = {0};
    const struct solver_problem *problem;
    struct error error;
    uint32_t shape, node, pods[3];
    struct solver_builder *builder = solver_builder_create(arena);
    const struct solver_amount one_cpu = {SOLVER_CPU, 1000}, three = {SOLVER_CPU, 3000};
    const struct solver_amount room[] = {{SOLVER_CPU, 2000}, {SOLVER_PODS, 5}};
    MUST(solver_add_node(builder, &(struct solver_node){.name = "n", .allocatable = {room, 2}},
                         &node, &error));
    MUST(solver_add_shape(builder,
                          &(struct solver_shape){.namespace = "default", .requests = {&one_cpu, 1}},
                          &shape, &error));
    static const char *const names[] = {"default/a", "default/b", "default/c"};
    for (size_t i = 0; i < 3; i++)
        MUST(solver_add_pod(builder,
                            &(struct solver_pod){.name = names[i],
                                                 .uid = names[i],
                                                 .shape = shape,
                                                 .node = i == 0 ? node : SOLVER_NONE},
                            &pods[i], &error));
    MUST(solver_build(builder, &settings, &problem, &error));
    const struct solver_plan *plan = solver_solve(solver_run_create(problem, arena));
    ASSERT_INT(plan->place_count, 2);
    ASSERT_INT(plan->unschedulable_count, 1);

    builder = solver_derive(problem, arena);
    MUST(solver_remove_pod(builder, pods[0], &error));
    CU_ASSERT_FALSE(solver_remove_pod(builder, pods[0], &error));
    ASSERT_TEXT(text_of(error.what), "there is no pod 0");
    MUST(solver_remove_pod(builder, pods[2], &error));
    CU_ASSERT_FALSE(solver_place_pod(builder, pods[1], 7, &error));
    ASSERT_TEXT(text_of(error.what), "there is no node 7");
    MUST(solver_build(builder, &settings, &problem, &error));
    struct solver_run *run = solver_run_create(problem, arena);
    plan = solver_solve(run);
    ASSERT_INT(plan->place_count, 1);
    ASSERT_INT(plan->places[0].pod, pods[1]);
    ASSERT_INT(plan->unschedulable_count, 0);
    ASSERT_INT(solver_explain(run, pods[2]).count, 0);

    builder = solver_derive(problem, arena);
    uint32_t number, larger;
    MUST(solver_add_shape(builder,
                          &(struct solver_shape){.namespace = "default", .requests = {&three, 1}},
                          &larger, &error));
    MUST(solver_add_pod(
        builder,
        &(struct solver_pod){.name = names[2], .uid = "", .shape = larger, .node = SOLVER_NONE},
        &number, &error));
    ASSERT_INT(number, pods[2]);
    CU_ASSERT_FALSE(solver_add_pod(
        builder,
        &(struct solver_pod){.name = names[1], .uid = "", .shape = shape, .node = SOLVER_NONE},
        &number, &error));
    ASSERT_TEXT(text_of(error.what), "Pod default/b is given twice");
    MUST(solver_build(builder, &settings, &problem, &error));
    plan = solver_solve(solver_run_create(problem, arena));
    ASSERT_INT(plan->place_count, 2);
    ASSERT_INT(plan->places[0].kind, SOLVER_ON_NODE);
    ASSERT_INT(plan->places[1].kind, SOLVER_UNSCHEDULABLE);
    arena_destroy(arena);
}

const char unit_suite[] = "solver derive";
const struct unit_test unit_tests[] = {
    {"derived problems are as built from nothing", derived_problems_are_as_built_from_nothing},
    {"amended problems are as built from nothing", amended_problems_are_as_built_from_nothing},
    {"siblings are apart", siblings_are_apart},
    {"numbers stay", numbers_stay},
    {NULL, NULL},
};
