/* Amounts of resources, and their defaults. */
#include "kube/container.h"
#include "cluster_fixture.h"
#include "kube/autoscaler.h"
#include "kube/limit_range.h"

/* More than fits is the most; less than nothing is no amount, however much less. */
static void amounts_are_not_negative(void)
{
    static const struct {
        const char *text;
        bool valid;
        int64_t milli;
    } cases[] = {
        {"500m", true, 500}, {"1e30", true, INT64_MAX}, {"-1", false, 0},
        {"-1e30", false, 0}, {"lots", false, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(1 << 20);
        struct amount amount;
        struct node node = node_of_text(text_of(cases[i].text));
        amount_read(field_root(arena, &node), &amount);
        CU_ASSERT_EQUAL(amount.valid, cases[i].valid);
        if (cases[i].valid)
            ASSERT_INT(amount.milli, cases[i].milli);
        arena_destroy(arena);
    }
}

#define RANGE(name, item)                                                              \
    "{apiVersion: v1, kind: LimitRange, metadata: {namespace: shop, name: " name "}, " \
    "spec: {limits: [{type: Container, " item "}]}}"

/* docs/reference/admission.md: of two defaults the first counts, in order of the ranges' names. */
static void the_first_default_counts(void)
{
    static const struct {
        const char *documents[2];
        const char *request, *limit; /* of cpu; empty: none */
    } cases[] = {
        {{RANGE("a", "default: {cpu: 2}"), RANGE("b", "default: {cpu: 3}")}, "2", "2"},
        {{RANGE("a", "default: {cpu: 2}, defaultRequest: {cpu: 1}"),
          RANGE("b", "defaultRequest: {cpu: 3}")},
         "1",
         "2"},
        {{RANGE("a", "default: {cpu: null}"), RANGE("b", "max: {cpu: 3}")}, "3", "3"},
        {{RANGE("a", "min: {cpu: 1}"), RANGE("b", "max: {memory: 1Gi}")}, "1", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(1 << 20)};
        struct limit_defaults defaults = {0};
        const struct snapshot *snapshot = fixture_snapshot(&fixture, cases[i].documents, 2);
        limit_defaults_read(snapshot, TEXT("shop"), fixture.arena, &defaults);
        const struct limit_default *cpu = limit_defaults_find(&defaults, TEXT("cpu"));
        CU_ASSERT_PTR_NOT_NULL_FATAL(cpu);
        ASSERT_TEXT(cpu->request == NULL ? TEXT("") : node_text(cpu->request), cases[i].request);
        ASSERT_TEXT(cpu->limit == NULL ? TEXT("") : node_text(cpu->limit), cases[i].limit);
        arena_destroy(fixture.arena);
    }
}

/* docs/reference/admission.md 9. */
static void an_autoscaler_says_how_many_pods_there_may_be(void)
{
    static const struct {
        const char *target;
        int64_t most;
    } cases[] = {
        {"{apiVersion: apps/v1, kind: Deployment, name: web}", 7},
        {"{apiVersion: apps/v1, kind: Deployment}", 2},
        {"{apiVersion: apps/v1, kind: Deployment, name: other}", 2},
        {"{apiVersion: example.com/v1, kind: Scaled, name: web}", 2},
        {"{apiVersion: extensions/v1beta1, kind: Deployment, name: web}", 2},
        {"{apiVersion: apps/v1beta2, kind: Deployment, name: web}", 7},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(1 << 20)};
        const char *documents[] = {
            "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2}}",
            arena_printf(fixture.arena,
                         "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: "
                         "{name: web}, spec: {scaleTargetRef: %s, minReplicas: 3, maxReplicas: 7}}",
                         cases[i].target)
                .data,
        };
        const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, 2);
        const struct object *web = snapshot_object(snapshot, KIND_DEPLOYMENT, 0);
        ASSERT_INT(replicas_read(snapshot, web).most, cases[i].most);
        arena_destroy(fixture.arena);
    }
}

const char unit_suite[] = "kube containers";
const struct unit_test unit_tests[] = {
    {"amounts are not negative", amounts_are_not_negative},
    {"the first default counts", the_first_default_counts},
    {"an autoscaler says how many pods there may be",
     an_autoscaler_says_how_many_pods_there_may_be},
    {NULL, NULL},
};
