/* Which Pods have one shape for certain. */
#include "simulation/pod_shape.h"

#include "cluster_fixture.h"

const char unit_suite[] = "simulation shapes of pods";

#define POD_OF(metadata, spec, status)                                                 \
    "{apiVersion: v1, kind: Pod, metadata: {name: web-a, namespace: shop" metadata     \
    "}, spec: {containers: [{name: main, resources: {requests: {cpu: 1}}}]" spec "}, " \
    "status: {" status "}}"
#define LABELS ", labels: {app: web}, uid: u1"
#define STATUS "containerStatuses: [{name: main, resources: {requests: {cpu: 1}}}]"

static void pods_that_differ_in_what_is_read_have_two(void)
{
    static const struct {
        const char *pod;
        bool agrees;
    } cases[] = {
        {POD_OF(LABELS, "", STATUS), true},
        {POD_OF(", labels: {app: web}, uid: u2, annotations: {a: b}", "", STATUS), true},
        {POD_OF(LABELS, ", nodeName: n1", STATUS ", phase: Running"), true},
        {POD_OF(LABELS, ", volumes: [{name: d, persistentVolumeClaim: {claimName: d}}]", STATUS),
         true},
        {POD_OF(", labels: {app: db}, uid: u1", "", STATUS), false},
        {POD_OF(", uid: u1", "", STATUS), false},
        {POD_OF(", labels: {app: web}", "", STATUS), false}, /* takes defaults of LimitRanges */
        {POD_OF(LABELS, ", nodeSelector: {a: b}", STATUS), false},
        {POD_OF(LABELS, ", tolerations: [{operator: Exists}]", STATUS), false},
        {POD_OF(LABELS, ", hostNetwork: true", STATUS), false},
        {POD_OF(LABELS, ", resources: {requests: {cpu: 2}}", STATUS), false},
        {POD_OF(LABELS, ", resourceClaims: [{name: gpu}]", STATUS), false},
        {POD_OF(LABELS, "", ""), false},
        {POD_OF(LABELS, "", "containerStatuses: [{name: main, resources: {requests: {cpu: 2}}}]"),
         false},
        {POD_OF(LABELS, "", STATUS ", conditions: [{type: PodResizePending, reason: Infeasible}]"),
         false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create((size_t)16 << 20)};
        const char *const documents[] = {cases[0].pod};
        const char *const others[] = {cases[i].pod};
        const struct object *a =
            snapshot_object(fixture_snapshot(&fixture, documents, 1), KIND_POD, 0);
        const struct object *b =
            snapshot_object(fixture_snapshot(&fixture, others, 1), KIND_POD, 0);
        CU_ASSERT_EQUAL(pod_shapes_agree(a, b), cases[i].agrees);
        CU_ASSERT_EQUAL(pod_shapes_agree(b, a), cases[i].agrees);
        if (pod_shapes_agree(a, b) != cases[i].agrees)
            fprintf(stderr, "%s\n", cases[i].pod);
        arena_destroy(fixture.arena);
    }
}

static void pods_without_a_spec_agree(void)
{
    static const char *const documents[] = {
        "{apiVersion: v1, kind: Pod, metadata: {name: a}}",
        "{apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {volumes: []}}",
        "{apiVersion: v1, kind: Pod, metadata: {name: c}, spec: {nodeSelector: {a: b}}}",
    };
    struct fixture fixture = {.arena = arena_create((size_t)16 << 20)};
    const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, COUNT_OF(documents));
    const struct object *a = snapshot_object(snapshot, KIND_POD, 0);
    CU_ASSERT_TRUE(pod_shapes_agree(a, a));
    CU_ASSERT_TRUE(pod_shapes_agree(a, snapshot_object(snapshot, KIND_POD, 1)));
    CU_ASSERT_FALSE(pod_shapes_agree(a, snapshot_object(snapshot, KIND_POD, 2)));
    arena_destroy(fixture.arena);
}

const struct unit_test unit_tests[] = {
    {"pods without a spec agree", pods_without_a_spec_agree},
    {"pods that differ in what is read have two", pods_that_differ_in_what_is_read_have_two},
    {NULL, NULL},
};
