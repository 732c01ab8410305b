/* How many pods more and fewer a Deployment may have while it replaces them. */
#include "kube/rollout.h"

#include <stdio.h>

#include "unit.h"

enum { BUDGET_BYTES = 1 << 20 };

#define DEPLOYMENT(strategy)                                                                       \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {strategy: {" strategy "}" \
    "}"                                                                                            \
    "}"
#define UPDATE(text) DEPLOYMENT("rollingUpdate: {" text "}")

static struct arena *arena;

static void read_object(void *object, const struct node *root)
{
    struct error error;
    CU_ASSERT_FATAL(object_read(root, NULL, TEXT("shop"), arena, object, &error));
}

static struct object object_of(const char *document)
{
    struct object object = {0};
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = text_of(document);
    struct problems problems = {.arena = arena};
    doc_read_yaml(source, YAML_MANIFEST, &doc_limits_manifest, arena, &problems, read_object,
                  &object);
    CU_ASSERT_EQUAL_FATAL(problems.count, 0);
    return object;
}

/* As maxSurge and maxUnavailable are documented: shares are of the replicas, surge is rounded up,
 * unavailable down, and both are a quarter where nothing is written. */
static void shares_are_counted(void)
{
    static const struct {
        const char *deployment;
        int64_t replicas;
        bool read, chosen;
        int64_t surge, unavailable;
    } cases[] = {
        {DEPLOYMENT(""), 10, true, false, 3, 2},
        {UPDATE("maxSurge: 2, maxUnavailable: 0"), 10, true, true, 2, 0},
        {UPDATE("maxSurge: 30%, maxUnavailable: 30%"), 5, true, true, 2, 1},
        {UPDATE("maxSurge: 0, maxUnavailable: 0%"), 5, true, true, 0, 1},
        {UPDATE("maxSurge: 0, maxUnavailable: 2"), 5, true, true, 0, 2},
        {UPDATE("maxSurge: 100%"), 2147483647, true, true, 2147483647, 536870911},
        {DEPLOYMENT("type: Recreate"), 10, false, false, 0, 0},
        {DEPLOYMENT(""), -1, false, false, 0, 0},
        {DEPLOYMENT(""), INT64_MAX, false, false, 0, 0},
        {UPDATE("maxSurge: 9223372036854775807"), 10, false, false, 0, 0},
        {UPDATE("maxUnavailable: 9223372036854775807%"), 10, false, false, 0, 0},
        {UPDATE("maxUnavailable: 9223372036854775807"), 10, false, false, 0, 0},
        {UPDATE("maxSurge: some"), 10, false, false, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arena = arena_create(BUDGET_BYTES);
        struct object deployment = object_of(cases[i].deployment);
        struct rollout rollout = {0};
        bool read = rollout_read(&deployment, cases[i].replicas, &rollout);
        if (read != cases[i].read || rollout.surge != cases[i].surge)
            fprintf(stderr, "case %zu:\n", i);
        CU_ASSERT_EQUAL(read, cases[i].read);
        CU_ASSERT_EQUAL(rollout.chosen, cases[i].chosen);
        CU_ASSERT_EQUAL(rollout.surge, cases[i].surge);
        CU_ASSERT_EQUAL(rollout.unavailable, cases[i].unavailable);
        arena_destroy(arena);
    }
}

const char unit_suite[] = "kube rollout";
const struct unit_test unit_tests[] = {
    {"shares are counted", shares_are_counted},
    {NULL, NULL},
};
