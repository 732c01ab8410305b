/* Places: they outlive the snapshot they were made of, are shared, and are made anew only when
 * something changes that could run a pod. What they answer is in policy_placeable.c. */
#include "pinning/places.h"
#include "catalog/catalog.h"
#include "cluster_fixture.h"
#include "kube/pod.h"

static const char pool[] =
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general}, spec: {template: "
    "{spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: d}, requirements: "
    "[{key: karpenter.k8s.aws/instance-family, operator: In, values: [m5]}]}}}}";
static const char pods[] =
    "{apiVersion: v1, kind: Pod, metadata: {name: large}, spec: {containers: [{name: m, resources: "
    "{requests: {cpu: 97}}}]}}\n---\n"
    "{apiVersion: v1, kind: Pod, metadata: {name: small}, spec: {containers: [{name: m, resources: "
    "{requests: {cpu: 1}}}]}}";

static const struct snapshot *cluster(struct arena *arena)
{
    struct fixture fixture = {.arena = arena};
    return fixture_snapshot(&fixture, (const char *const[]){pool, pods}, 2);
}

static void they_outlive_their_snapshot(void)
{
    struct arena *kept = arena_create((size_t)64 << 20);
    struct arena *passing = arena_create((size_t)64 << 20);
    const struct catalog *catalog = catalog_builtin(kept);
    const struct snapshot *now = cluster(kept);
    const struct places *places = places_make(cluster(passing), catalog, NULL);
    arena_destroy(passing);
    CU_ASSERT_PTR_NOT_NULL_FATAL(places);
    const struct places *shared = places_hold(places);
    CU_ASSERT_PTR_EQUAL(shared, places);
    places_release(places);
    for (size_t i = 0; i < snapshot_count(now, KIND_POD); i++) {
        const struct object *pod = snapshot_object(now, KIND_POD, i);
        struct workload workload;
        struct places_answer answer;
        CU_ASSERT_TRUE_FATAL(workload_read(pod, kept, &workload));
        places_ask(shared, now, catalog, &workload, kept, &answer);
        CU_ASSERT_EQUAL(answer.kind, text_is(pod->name, "large") ? PLACE_NOWHERE : PLACE_THERE);
        if (answer.kind == PLACE_NOWHERE) {
            ASSERT_INT(answer.reason_count, 1);
            ASSERT_TEXT(answer.reasons[0].node_pool, "general");
        }
    }
    places_release(shared);
    places_release(NULL);
    arena_destroy(kept);
}

static void only_what_can_run_pods_matters(void)
{
    for (enum kind kind = KIND_UNKNOWN; kind < KIND_COUNT; kind++) {
        const struct store_change change = {.kind = kind};
        const struct store_changes changes = {&change, 1};
        bool matters = kind == KIND_NODE_POOL || kind == KIND_PROVISIONER ||
                       kind == KIND_EC2_NODE_CLASS || kind == KIND_NODE ||
                       kind == KIND_NODE_CLAIM || kind == KIND_DAEMON_SET ||
                       kind == KIND_STORAGE_CLASS || kind == KIND_PERSISTENT_VOLUME;
        CU_ASSERT_EQUAL(places_mind(&changes), matters);
    }
    CU_ASSERT_FALSE(places_mind(&(struct store_changes){NULL, 0}));
}

const char unit_suite[] = "kube places";
const struct unit_test unit_tests[] = {
    {"they outlive their snapshot", they_outlive_their_snapshot},
    {"only what can run pods matters", only_what_can_run_pods_matters},
    {NULL, NULL},
};
