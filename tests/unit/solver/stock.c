/* labels: threads */
/* Problems over a stock: their plans equal those of problems that are built from nothing. */
#include <pthread.h>

#include "solver_random.h"
#include "solver_told.h"

static const struct solver_problem *make_stock(struct random_cluster *c)
{
    struct solver_builder *builder = solver_builder_create(c->arena);
    struct solver_settings settings = random_settings(c);
    const struct solver_problem *stock = NULL;
    struct error error;
    tell_supply(c, builder);
    tell_daemon(builder);
    MUST(solver_build_stock(builder, &settings, &stock, &error));
    return stock;
}

static const struct solver_problem *build_over(struct random_cluster *c,
                                               const struct solver_problem *stock)
{
    struct solver_builder *builder = solver_builder_over(stock, c->arena);
    struct solver_settings settings = random_settings(c);
    const struct solver_problem *problem = NULL;
    struct error error;
    for (size_t i = 0; i < c->node_count; i++)
        tell_node(c, builder, i);
    for (size_t i = 0; i < c->shape_count / 2; i++)
        tell_shape(c, builder, i);
    for (size_t i = 0; i < c->pod_count; i++)
        tell_pod(c, builder, i);
    MUST(solver_build(builder, &settings, &problem, &error));
    return problem;
}

static const char *tell(struct random_cluster *c, const struct solver_problem *problem)
{
    return tell_plan(c->arena, problem, solver_run_create(problem, c->arena));
}

/* The second problem of a stock shows that the first left it as it was. */
static void plans_are_the_same(void)
{
    bool same = true;
    for (uint64_t seed = 1; seed <= SEEDS && same; seed++) {
        struct arena *arena = arena_create(64 << 20);
        struct random_cluster *c = random_cluster(arena, seed);
        const char *expected = tell(c, random_build(c));
        const struct solver_problem *stock = make_stock(c);
        same = same_told(seed, "over the stock", tell(c, build_over(c, stock)), expected) &&
               same_told(seed, "over it again", tell(c, build_over(c, stock)), expected);
        arena_destroy(arena);
    }
}

struct reader {
    const struct solver_problem *stock;
    uint64_t seed;
    const char *expected;
    bool same;
};

static void *read_stock(void *argument)
{
    struct reader *reader = argument;
    struct arena *arena = arena_create(64 << 20);
    struct random_cluster *c = random_cluster(arena, reader->seed);
    reader->same = same_told(reader->seed, "a thread", tell(c, build_over(c, reader->stock)),
                             reader->expected);
    arena_destroy(arena);
    return NULL;
}

/* A stock is only read. */
static void several_threads_build_over_one_stock(void)
{
    enum { THREADS = 4, SHARED_SEEDS = 25 };
    for (uint64_t seed = 1; seed <= SHARED_SEEDS; seed++) {
        struct arena *arena = arena_create(64 << 20);
        struct random_cluster *c = random_cluster(arena, seed);
        const char *expected = tell(c, random_build(c));
        const struct solver_problem *stock = make_stock(c);
        struct reader readers[THREADS];
        pthread_t threads[THREADS];
        for (size_t i = 0; i < THREADS; i++) {
            readers[i] = (struct reader){stock, seed, expected, false};
            CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, read_stock, &readers[i]), 0);
        }
        for (size_t i = 0; i < THREADS; i++) {
            CU_ASSERT_EQUAL_FATAL(pthread_join(threads[i], NULL), 0);
            CU_ASSERT_TRUE(readers[i].same);
        }
        arena_destroy(arena);
    }
}

static void a_stock_knows_its_resources(void)
{
    struct arena *arena = arena_create(64 << 20);
    struct random_cluster *c = random_cluster(arena, 1);
    struct solver_builder *builder = solver_builder_over(make_stock(c), arena);
    const struct solver_settings settings = {0};
    const struct solver_problem *problem = NULL;
    struct error error;
    (void)solver_builder_resource(builder, "example.com/unheard-of");
    CU_ASSERT_FALSE(solver_build(builder, &settings, &problem, &error));
    CU_ASSERT_STRING_EQUAL(error.what,
                           "the stock does not know the resource example.com/unheard-of");
    arena_destroy(arena);
}

const char unit_suite[] = "solver stock";
const struct unit_test unit_tests[] = {
    {"plans over a stock are those of whole problems", plans_are_the_same},
    {"several threads build over one stock", several_threads_build_over_one_stock},
    {"a stock knows its resources", a_stock_knows_its_resources},
    {NULL, NULL},
};
