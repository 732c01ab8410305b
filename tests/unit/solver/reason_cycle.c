/* Pods that wait for each other in a cycle: which pods are named, and that time and memory are
 * linear in its length. */
#include <string.h>

#include "solver_fixture.h"

/* Each pod must be in the zone of the next, the last in that of the first. */
static struct span tell_circle(size_t count)
{
    world_fresh();
    world.title = "a circle";
    POOL(.name = "default");
    struct span span = {0, count};
    for (size_t i = 0; i < count; i++) {
        char *name = arena_alloc(world.arena, 32);
        char *labels = arena_alloc(world.arena, 32);
        char *next = arena_alloc(world.arena, 32);
        snprintf(name, 32, "p%zu", i);
        snprintf(labels, 32, "app=a%zu", i);
        snprintf(next, 32, "app=a%zu", (i + 1) % count);
        POD(.name = name, .labels = labels, .affinities = {NEAR("zone", next)});
    }
    solve();
    return span;
}

static const char *nearest_of(size_t pod)
{
    struct reasons_words reasons =
        reasons_tell(solver_explain(world.run, world.pods.items[pod].number), world.arena);
    EXPECT_INT(reasons.count, 1);
    return reasons.count == 1 ? reasons.items[0].nearest : "";
}

static void test_named(void)
{
    static const struct {
        size_t count;
        const char *nearest;
    } cases[] = {
        {2, "default/p0 needs default/p1, default/p1 needs default/p0"},
        {7, "default/p0 needs default/p1, default/p1 needs default/p2, default/p2 needs "
            "default/p3, default/p3 needs default/p4, default/p4 needs default/p5, default/p5 "
            "needs default/p6, default/p6 needs default/p0"},
        {8, "default/p0 needs default/p1, default/p1 needs default/p2, default/p2 needs "
            "default/p3, default/p3 needs default/p4, and so on over 2 more pods, default/p7 "
            "needs default/p0"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        tell_circle(cases[i].count);
        EXPECT_TEXT(nearest_of(0), cases[i].nearest);
    }
}

/* Pods that need several others: the shortest way back is told. */
static void test_several_ways(void)
{
    world_fresh();
    world.title = "several ways";
    POOL(.name = "default");
    size_t a = POD(.name = "a", .labels = "app=a", .affinities = {NEAR("zone", "app=b")});
    POD(.name = "b", .labels = "app=b",
        .affinities = {NEAR("zone", "app=c"), NEAR("zone", "app=d"), APART("host", "app=b")});
    POD(.name = "c", .labels = "app=c", .affinities = {NEAR("zone", "app=e")});
    POD(.name = "d", .labels = "app=d", .affinities = {NEAR("zone", "app=e")});
    POD(.name = "e", .labels = "app=e", .affinities = {NEAR("zone", "app=a")});
    solve();
    EXPECT_TEXT(nearest_of(a), "default/a needs default/b, default/b needs default/c, default/c "
                               "needs default/e, default/e needs default/a");
}

/* A pod that needs one like itself on its host, and another that waits: its own needs are no cycle.
 */
static void test_needs_itself(void)
{
    world_fresh();
    world.title = "needs itself";
    world.settings.optimize = (struct solver_optimize){true, true, true, true, true};
    POOL(.name = "default");
    size_t a = POD(.name = "a", .labels = "app=a",
                   .affinities = {NEAR("host", "app=b"), NEAR("host", "app=a")});
    POD(.name = "b", .labels = "app=b", .affinities = {NEAR("host", "app=c")});
    POD(.name = "c", .labels = "app=c", .affinities = {NEAR("host", "app=b")});
    solve();
    CU_ASSERT_PTR_NULL(strstr(nearest_of(a), "default/a needs default/a"));
}

/* A pod that needs any of those like itself and of others: the others may lead back to it. */
static void test_needs_itself_or_others(void)
{
    world_fresh();
    world.title = "needs itself or others";
    world.settings.optimize = (struct solver_optimize){true, true, true, true, true};
    POOL(.name = "default");
    size_t a = POD(.name = "a", .labels = "app=a; team=t",
                   .affinities = {NEAR("host", "app=nobody"), NEAR("host", "team=t")});
    POD(.name = "b", .labels = "app=b; team=t", .affinities = {NEAR("host", "app=a")});
    solve();
    EXPECT_TEXT(nearest_of(a), "default/a needs default/b, default/b needs default/a");
}

static void test_large(void)
{
    enum { PODS_COUNT = 600, BYTES_A_POD = 64 * 1024 };
    struct span span = tell_circle(PODS_COUNT);
    size_t before = arena_used_bytes(world.arena);
    for (size_t i = 0; i < span.count; i++) {
        const char *nearest = nearest_of(span.first + i);
        CU_ASSERT_PTR_NOT_NULL(strstr(nearest, "and so on over 594 more pods"));
        CU_ASSERT(strlen(nearest) < 512);
    }
    CU_ASSERT(arena_used_bytes(world.arena) - before < (size_t)PODS_COUNT * BYTES_A_POD);
}

const char unit_suite[] = "solver reason cycle";
const struct unit_test unit_tests[] = {
    {"who is named", test_named},        {"several ways", test_several_ways},
    {"needs itself", test_needs_itself}, {"needs itself or others", test_needs_itself_or_others},
    {"six hundred", test_large},         {NULL, NULL},
};
