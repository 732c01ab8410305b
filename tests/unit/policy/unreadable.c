/* Objects of a cluster that are there and cannot be read: what is concluded from the rest of it. */
#include "live/store.h"
#include "pinning/pin.h"
#include "rail_table.h"

struct injury {
    enum kind kind;
    const char *namespace, *name;
};
static const struct injury none = {KIND_UNKNOWN, NULL, NULL};

/* The cluster with this object of it unreadable. The live is the caller's to destroy. */
static const struct snapshot *snapshot_of(const char *cluster, const struct injury *injury,
                                          struct arena *arena, struct store **store)
{
    struct store_changes changes;
    struct rail_documents documents = rail_table_read(cluster, arena);
    *store = store_create();
    CU_ASSERT_PTR_NOT_NULL_FATAL(*store);
    for (size_t i = 0; i < documents.count; i++)
        CU_ASSERT(store_put(*store, &documents.items[i]));
    if (injury->name != NULL)
        CU_ASSERT(store_put_unreadable(*store, injury->kind, text_of(injury->namespace),
                                       text_of(injury->name)));
    return store_version(*store, &changes);
}

/* ---- rails ---- */

#define POOL                                                                                       \
    "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: pool}, spec: {template: " \
    "{metadata: {labels: {team: a}}, spec: {requirements: [], nodeClassRef: {group: "              \
    "karpenter.k8s.aws, kind: EC2NodeClass, name: c}}}}}\n"
#define NODE "---\n{apiVersion: v1, kind: Node, metadata: {name: node-a, labels: {team: a}}}\n"
#define RANGE                                                                              \
    "---\n{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: shop}, spec: " \
    "{limits: "                                                                            \
    "[{type: Pod}]}}\n"
#define CLASS(name, more)                                                                    \
    "---\n{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " name        \
    ", annotations: {storageclass.kubernetes.io/is-default-class: \"true\"}}, provisioner: " \
    "ebs.csi.aws.com, volumeBindingMode: " more "}\n"
#define CLAIM(spec)                                                                        \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: shop}, " \
    "spec: {" spec "}}"
#define DEPLOYMENT(spec)                                                                    \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: shop}, spec: {" \
    "template: {spec: {" spec "}}}}"

static void rails_do_not_decide_without_it(void)
{
    static const struct {
        const char *rails, *cluster, *object, *seen, *injured;
        struct injury injury;
    } cases[] = {
        {"node-labels: {}",
         POOL NODE,
         DEPLOYMENT("nodeSelector: {team: b}"),
         "deny spec.template.spec.nodeSelector.team b",
         "undecided spec.template.spec.nodeSelector.team b",
         {KIND_NODE, "", "m"}},
        {"node-labels: {}",
         POOL NODE,
         DEPLOYMENT("nodeSelector: {team: b}"),
         "deny spec.template.spec.nodeSelector.team b",
         "undecided spec.template.spec.nodeSelector.team b",
         {KIND_NODE_POOL, "", "other"}},
        {"resource-requests: {require: [cpu]}",
         RANGE,
         DEPLOYMENT("containers: [{name: a}]"),
         "deny spec.template.spec.containers[0].resources.requests.cpu ",
         "undecided spec.template.spec.containers[0].resources.requests.cpu ",
         {KIND_LIMIT_RANGE, "shop", "l"}},
        /* That of another namespace is nothing to this one. */
        {"resource-requests: {require: [cpu]}",
         RANGE,
         DEPLOYMENT("containers: [{name: a}]"),
         "deny spec.template.spec.containers[0].resources.requests.cpu ",
         "deny spec.template.spec.containers[0].resources.requests.cpu ",
         {KIND_LIMIT_RANGE, "other", "l"}},
        {"volume-binding: {}",
         CLASS("fast", "Immediate"),
         CLAIM("storageClassName: fast"),
         "deny spec.storageClassName fast",
         "undecided spec.storageClassName fast",
         {KIND_STORAGE_CLASS, "", "fast"}},
        /* Another may be the default. */
        {"volume-binding: {}",
         CLASS("fast", "Immediate"),
         CLAIM(""),
         "deny spec.storageClassName ",
         "undecided spec.storageClassName ",
         {KIND_STORAGE_CLASS, "", "newer"}},
        {"volume-binding: {}",
         CLASS("fast", "Immediate"),
         CLAIM("storageClassName: fast"),
         "deny spec.storageClassName fast",
         "deny spec.storageClassName fast",
         {KIND_STORAGE_CLASS, "", "newer"}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int injured = 0; injured < 2; injured++) {
            struct arena *arena = arena_create(16 << 20);
            struct store *store;
            struct world world = rail_table_world(cases[i].rails, NULL, arena);
            world.snapshot =
                snapshot_of(cases[i].cluster, injured ? &cases[i].injury : &none, arena, &store);
            struct rail_documents object = rail_table_read(cases[i].object, arena);
            ASSERT_TEXT(rail_table_findings(&world, &object.items[0], arena),
                        injured ? cases[i].injured : cases[i].seen);
            store_release(store, world.snapshot);
            store_destroy(store);
            arena_destroy(arena);
        }
}

/* ---- where claims are ---- */

#define VOLUME(name, zone, claim)                                                          \
    "---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name "}, spec: {"    \
    "capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: wait" claim \
    ", nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "           \
    "topology.kubernetes.io/zone, operator: In, values: [" zone "]}]}]}}}}\n"
#define WAITING                                                                                \
    "---\n{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: wait, "         \
    "annotations: "                                                                            \
    "{storageclass.kubernetes.io/is-default-class: \"true\"}}, provisioner: ebs.csi.aws.com, " \
    "volumeBindingMode: WaitForFirstConsumer, allowedTopologies: [{matchLabelExpressions: "    \
    "[{key: topology.kubernetes.io/zone, values: [a]}]}]}\n"
#define OWN(annotations, spec)                                                                     \
    "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: shop, "     \
    "annotations: {" annotations "}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: " \
    "{storage: 1Gi}}" spec "}}\n"
#define BOUND \
    OWN("pv.kubernetes.io/bind-completed: \"yes\"", ", volumeName: v, storageClassName: wait")
#define SELECTED                                                          \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: node-a, labels: " \
    "{topology.kubernetes.io/zone: a}}}\n"

static void a_zone_is_never_a_guess(void)
{
    static const char template_text[] =
        "{spec: {accessModes: [ReadWriteOnce], storageClassName: wait, resources: {requests: "
        "{storage: 1Gi}}}}";
    static const struct {
        const char *cluster;
        enum claim_hold seen, injured;
        struct injury injury;
    } cases[] = {
        {VOLUME("v", "b", "") BOUND,
         CLAIM_BOUND,
         CLAIM_UNKNOWN,
         {KIND_PERSISTENT_VOLUME_CLAIM, "shop", "c"}},
        {VOLUME("v", "b", "") BOUND, CLAIM_BOUND, CLAIM_UNKNOWN, {KIND_PERSISTENT_VOLUME, "", "v"}},
        /* What is another's is nothing to it. */
        {VOLUME("v", "b", "") BOUND, CLAIM_BOUND, CLAIM_BOUND, {KIND_PERSISTENT_VOLUME, "", "w"}},
        {VOLUME("v", "b", "") BOUND,
         CLAIM_BOUND,
         CLAIM_BOUND,
         {KIND_PERSISTENT_VOLUME_CLAIM, "shop", "d"}},
        {VOLUME("v", "b", "") WAITING BOUND,
         CLAIM_BOUND,
         CLAIM_BOUND,
         {KIND_STORAGE_CLASS, "", "wait"}},
        /* A claim that is not there is made by its StatefulSet; one that is unreadable is there. */
        {WAITING, CLAIM_UNBOUND, CLAIM_UNKNOWN, {KIND_PERSISTENT_VOLUME_CLAIM, "shop", "c"}},
        {WAITING, CLAIM_UNBOUND, CLAIM_UNBOUND, {KIND_PERSISTENT_VOLUME_CLAIM, "else", "c"}},
        {WAITING, CLAIM_UNBOUND, CLAIM_UNKNOWN, {KIND_STORAGE_CLASS, "", "wait"}},
        {WAITING, CLAIM_UNBOUND, CLAIM_UNBOUND, {KIND_STORAGE_CLASS, "", "other"}},
        {WAITING, CLAIM_UNBOUND, CLAIM_UNKNOWN, {KIND_PERSISTENT_VOLUME, "", "v"}},
        {WAITING OWN("", ""), CLAIM_UNBOUND, CLAIM_UNKNOWN, {KIND_STORAGE_CLASS, "", "newer"}},
        {WAITING SELECTED OWN("volume.kubernetes.io/selected-node: node-a", ""),
         CLAIM_UNBOUND,
         CLAIM_UNKNOWN,
         {KIND_NODE, "", "node-a"}},
        {WAITING SELECTED OWN("volume.kubernetes.io/selected-node: node-a", ""),
         CLAIM_UNBOUND,
         CLAIM_UNBOUND,
         {KIND_NODE, "", "m"}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int injured = 0; injured < 2; injured++) {
            struct arena *arena = arena_create(16 << 20);
            struct store *store;
            struct claim_zones zones;
            const struct snapshot *snapshot =
                snapshot_of(cases[i].cluster, injured ? &cases[i].injury : &none, arena, &store);
            const struct node *root = NULL;
            struct source source = {.text = text_of(template_text)};
            struct problems problems = {.arena = arena};
            doc_read_yaml(&source, YAML_MANIFEST, &doc_limits_manifest, arena, &problems,
                          rail_table_take_root, (void *)&root);
            claim_zones_read(snapshot, TEXT("shop"), TEXT("c"), field_root(arena, root), arena,
                             &zones);
            ASSERT_INT(zones.hold, injured ? cases[i].injured : cases[i].seen);
            store_release(store, snapshot);
            store_destroy(store);
            arena_destroy(arena);
        }
}

/* An owner that is there and cannot be read is not waited for. */
static void an_unreadable_owner_is_not_awaited(void)
{
    static const struct {
        struct injury injury;
        enum kind awaited;
    } rows[] = {
        {{KIND_UNKNOWN, NULL, NULL}, KIND_REPLICA_SET},
        {{KIND_REPLICA_SET, "shop", "web-1"}, KIND_UNKNOWN},
        {{KIND_REPLICA_SET, "shop", "web-2"}, KIND_REPLICA_SET},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store *store;
        struct world world = rail_table_world("topology-keys: {since: 2026-01-01}", NULL, arena);
        world.snapshot = snapshot_of(NODE, &rows[i].injury, arena, &store);
        struct rail_documents documents = rail_table_read(
            "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop, ownerReferences: "
            "[{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: u, controller: true}]}, "
            "spec: {topologySpreadConstraints: [{topologyKey: zone}]}}",
            arena);
        const struct subject subject = {
            .operation = OPERATION_CREATE,
            .object = documents.items,
            .requester = {.name = TEXT("system:kube-controller-manager")}};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        ASSERT_INT(verdict.action, ACTION_DENY);
        ASSERT_INT(verdict.awaited.kind, rows[i].awaited);
        store_release(store, world.snapshot);
        store_destroy(store);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "policy unreadable";
const struct unit_test unit_tests[] = {
    {"rails do not decide without it", rails_do_not_decide_without_it},
    {"a zone is never a guess", a_zone_is_never_a_guess},
    {"an unreadable owner is not awaited", an_unreadable_owner_is_not_awaited},
    {NULL, NULL},
};
