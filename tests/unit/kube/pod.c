/* How a pod chooses nodes, and what becomes of it. */
#include "kube/pod.h"

#include "object_fixture.h"

enum { BUDGET_BYTES = 1 << 20 };

static void pods_are_on_fargate(void)
{
    static const struct {
        const char *metadata, *spec;
        bool fargate;
    } rows[] = {
        {"{labels: {eks.amazonaws.com/fargate-profile: web}}", "{}", true},
        {"{}", "{schedulerName: fargate-scheduler}", true},
        {"{}", "{nodeSelector: {eks.amazonaws.com/compute-type: fargate}}", true},
        {"{}", "{nodeSelector: {eks.amazonaws.com/compute-type: auto}}", false},
        {"{}", "{schedulerName: default-scheduler}", false},
        {"{labels: {app: fargate}}", "{nodeSelector: {app: fargate}}", false},
        {"{}", "{}", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_create(BUDGET_BYTES);
        struct text yaml =
            arena_printf(arena, "{apiVersion: v1, kind: Pod, metadata: %s, spec: %s}",
                         rows[i].metadata, rows[i].spec);
        const struct node *root = fixture_object(arena, yaml.data, "shop")->root->node;
        if (pod_is_on_fargate(node_at(root, "metadata.labels"), node_get(root, "spec")) !=
            rows[i].fargate)
            fprintf(stderr, "%s\n", yaml.data);
        CU_ASSERT_EQUAL(pod_is_on_fargate(node_at(root, "metadata.labels"), node_get(root, "spec")),
                        rows[i].fargate);
        arena_destroy(arena);
    }
}

/* The API server has added those of a RuntimeClass to a Pod that it sends. */
static void a_runtime_class_may_tolerate(void)
{
    static const struct {
        const char *yaml, *file;
        bool may;
    } rows[] = {
        {"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {runtimeClassName: a}}", NULL,
         false},
        {"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {runtimeClassName: a}}", "p.yaml",
         true},
        {"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {}}", "p.yaml", false},
        {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {template: {spec: "
         "{runtimeClassName: a}}}}",
         NULL, true},
        {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {template: {spec: "
         "{runtimeClassName: ''}}}}",
         NULL, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_create(BUDGET_BYTES);
        const struct object *object = fixture_object(arena, rows[i].yaml, "shop");
        struct workload workload;
        object->source->file = rows[i].file;
        CU_ASSERT_FATAL(workload_read(object, arena, &workload));
        CU_ASSERT_EQUAL(workload_may_get_tolerations(&workload), rows[i].may);
        arena_destroy(arena);
    }
}

static void pods_are_done(void)
{
    static const struct {
        const char *phase;
        bool done;
    } rows[] = {
        {"Succeeded", true}, {"Failed", true},   {"Running", false},
        {"Pending", false},  {"Unknown", false}, {"''", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_create(BUDGET_BYTES);
        struct text yaml = arena_printf(
            arena, "{apiVersion: v1, kind: Pod, metadata: {name: p}, status: {phase: %s}}",
            rows[i].phase);
        CU_ASSERT_EQUAL(pod_is_done(fixture_object(arena, yaml.data, "shop")), rows[i].done);
        arena_destroy(arena);
    }
}

#define TERM(key) "{matchExpressions: [{key: " key ", operator: Exists}]}"

static void what_nodes_must_have_is_read(void)
{
    struct arena *arena = arena_create(BUDGET_BYTES);
    struct workload workload;
    struct node_selection selection;
    CU_ASSERT_FATAL(workload_read(
        fixture_object(arena,
                       "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeSelector: {a: "
                       "x, b: w}, affinity: {nodeAffinity: {"
                       "requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
                       "[" TERM("c") ", " TERM(
                           "d") "]}, preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, "
                                "preference: " TERM("e") "}]}}}}",
                       "shop"),
        arena, &workload));
    node_selection_read(&workload, arena, &selection);
    CU_ASSERT_EQUAL_FATAL(selection.selector.count, 2);
    ASSERT_TEXT(selection.selector.items[0].key, "a");
    ASSERT_TEXT(selection.selector.items[1].key, "b");
    CU_ASSERT_EQUAL_FATAL(selection.required.count, 2);
    CU_ASSERT_EQUAL_FATAL(selection.preferred.count, 1);
    const struct {
        const struct node_term *term;
        const char *key;
    } terms[] = {
        {&selection.required.items[0], "c"},
        {&selection.required.items[1], "d"},
        {&selection.preferred.items[0], "e"},
    };
    for (size_t i = 0; i < COUNT_OF(terms); i++) {
        CU_ASSERT_EQUAL_FATAL(terms[i].term->expressions.count, 1);
        ASSERT_TEXT(terms[i].term->expressions.items[0].key, terms[i].key);
    }
    ASSERT_TEXT(field_path(arena, selection.preferred.items[0].field),
                "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
                "preference");
    arena_destroy(arena);
}

const char unit_suite[] = "kube pods";
const struct unit_test unit_tests[] = {
    {"pods are on Fargate", pods_are_on_fargate},
    {"a runtime class may tolerate", a_runtime_class_may_tolerate},
    {"pods are done", pods_are_done},
    {"what nodes must have is read", what_nodes_must_have_is_read},
    {NULL, NULL},
};
