/* Kinds of a live cluster that cannot be seen: what is not found of them decides nothing. */
#include "rail_table.h"

#define ZONE "topology.kubernetes.io/zone"

#define CLUSTER                                                                                  \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general}, spec: {template: " \
    "{spec: {requirements: [{key: " ZONE ", operator: In, values: [a, b]}]}}}}\n---\n"           \
    "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {" ZONE ": a}}}\n---\n"           \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: wait}, provisioner: "  \
    "ebs.csi.aws.com, volumeBindingMode: WaitForFirstConsumer}\n---\n"                           \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {nodeAffinity: "        \
    "{required: {nodeSelectorTerms: [{matchExpressions: [{key: " ZONE                            \
    ", operator: In, values: [a]}]}]}}}}\n---\n"                                                 \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: bound, annotations: "        \
    "{pv.kubernetes.io/bind-completed: 'yes'}}, spec: {volumeName: v}}\n---\n"                   \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: new}, spec: "                \
    "{storageClassName: wait}}\n"
#define POD(spec) \
    "{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {app: a}}, spec: " spec "}"
#define MOUNTS(claim) POD("{volumes: [{name: d, persistentVolumeClaim: {claimName: " claim "}}]}")

struct unseen_case {
    const char *rails;
    kind_set unseen;
    const char *object, *findings;
};

static void nothing_is_denied_for_what_is_unseen(void)
{
#define SHELF POD("{topologySpreadConstraints: [{topologyKey: example.com/shelf}]}")
#define KEY " spec.topologySpreadConstraints[0].topologyKey example.com/shelf"
#define DEPLOYMENT                                                                          \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {template: {spec: " \
    "{containers: [{name: c}]}}}}"
#define REQUESTS "spec.template.spec.containers[0].resources.requests.cpu "
    static const struct unseen_case cases[] = {
        {"topology-keys: {}", 0, SHELF, "deny" KEY},
        {"topology-keys: {}", KIND_BIT(KIND_NODE), SHELF, "undecided" KEY},
        {"topology-keys: {}", KIND_BIT(KIND_NODE_POOL), SHELF, "undecided" KEY},
        {"topology-keys: {}", KIND_BIT(KIND_POD), SHELF, "deny" KEY},
        /* what is wrong whatever there is */
        {"topology-keys: {}", ~(kind_set)0,
         POD("{topologySpreadConstraints: [{topologyKey: zone}]}"),
         "deny spec.topologySpreadConstraints[0].topologyKey zone"},
        {"resource-requests: {require: [cpu]}", 0, DEPLOYMENT, "deny " REQUESTS},
        {"resource-requests: {require: [cpu]}", KIND_BIT(KIND_LIMIT_RANGE), DEPLOYMENT,
         "undecided " REQUESTS},
        /* a Pod has got from them what it gets */
        {"resource-requests: {require: [cpu]}", KIND_BIT(KIND_LIMIT_RANGE),
         POD("{containers: [{name: c}]}"), "deny spec.containers[0].resources.requests.cpu "},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        struct world world = rail_table_world(cases[i].rails, CLUSTER, arena);
        world.unseen = cases[i].unseen;
        struct rail_documents documents = rail_table_read(cases[i].object, arena);
        ASSERT_TEXT(rail_table_findings(&world, &documents.items[0], arena), cases[i].findings);
        arena_destroy(arena);
    }
}

/* Where the labels of a namespace decide, and are not seen, nobody is denied, and nothing is as
 * good as excepted. */
static void labels_that_are_unseen_leave_it_undecided(void)
{
#define ZONE_KEY POD("{topologySpreadConstraints: [{topologyKey: zone}]}")
#define SOME_NAMESPACE "match: {namespaceSelector: {matchLabels: {a: b}}}"
#define EX(match) "exceptions: [{id: e, rails: [topology-keys], " match "expires: 2999-01-01}], "
    static const struct {
        const char *spec;
        enum action action;
        bool undecided;
        const char *exception;
    } rows[] = {
        {"", ACTION_DENY, false, ""},
        {EX(""), ACTION_EXCEPTED, false, "e"},
        {EX(SOME_NAMESPACE ", "), ACTION_WARN, true, ""},
        {SOME_NAMESPACE ", ", ACTION_WARN, true, ""},
        {SOME_NAMESPACE ", " EX(""), ACTION_WARN, true, ""},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world world = rail_table_world("topology-keys: {}", CLUSTER, arena);
        const struct policy policy = rail_table_read_policy(
            arena_printf(arena,
                         "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: "
                         "p}, spec: {mode: enforce, %srails: {topology-keys: {}}}}",
                         rows[i].spec),
            world.catalog, arena);
        const struct policy_set policies = {.items = &policy, .count = 1};
        world.policies = &policies;
        struct rail_documents documents = rail_table_read(ZONE_KEY, arena);
        struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        CU_ASSERT_FATAL(verdict.finding_count == 1);
        ASSERT_INT(verdict.findings[0].action, rows[i].action);
        ASSERT_INT(verdict.findings[0].undecided, rows[i].undecided);
        ASSERT_TEXT(verdict.findings[0].exception, rows[i].exception);
    }
    arena_destroy(arena);
}

/* How many changes a pod gets. */
static size_t changes(kind_set unseen, const char *pod)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("zone-pin: {}", CLUSTER, arena);
    world.unseen = unseen;
    struct rail_documents documents = rail_table_read(pod, arena);
    struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
    struct verdict verdict;
    policy_mutate(&world, &subject, 0, arena, &verdict);
    size_t count = verdict.change_count;
    arena_destroy(arena);
    return count;
}

static void no_zone_is_a_guess(void)
{
    static const struct {
        enum kind unseen;
        size_t bound, new;
    } cases[] = {
        {KIND_UNKNOWN, 1, 1},
        {KIND_PERSISTENT_VOLUME_CLAIM, 0, 0},
        {KIND_PERSISTENT_VOLUME, 0, 0},
        {KIND_STORAGE_CLASS, 0, 0},
        {KIND_NODE, 0, 0},
        /* A volume that is there says its zone; where a new one is best, more than that says. */
        {KIND_POD, 1, 0},
        {KIND_STATEFUL_SET, 1, 0},
        {KIND_NODE_POOL, 1, 0},
        {KIND_EC2_NODE_CLASS, 1, 0},
        {KIND_LIMIT_RANGE, 1, 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        ASSERT_INT(changes(KIND_BIT(cases[i].unseen), MOUNTS("bound")), cases[i].bound);
        ASSERT_INT(changes(KIND_BIT(cases[i].unseen), MOUNTS("new")), cases[i].new);
    }
}

const char unit_suite[] = "policy unseen";
const struct unit_test unit_tests[] = {
    {"nothing is denied for what is unseen", nothing_is_denied_for_what_is_unseen},
    {"labels that are unseen leave it undecided", labels_that_are_unseen_leave_it_undecided},
    {"no zone is a guess", no_zone_is_a_guess},
    {NULL, NULL},
};
