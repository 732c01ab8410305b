/* Whose an object is: which references count, and where the chain ends. */
#include "rail_table.h"

#include "policy/owner.h"

#define KUBE_SYSTEM "system:serviceaccount:kube-system:"
#define MANAGER "system:kube-controller-manager"
#define ARGO "system:serviceaccount:argo-rollouts:argo-rollouts"
#define RAY "system:serviceaccount:ray-system:kuberay-operator"
#define OWNED(version, kind, name, uid)                                                          \
    "ownerReferences: [{apiVersion: " version ", kind: " kind ", name: " name ", uid: " uid ", " \
    "controller: true}]"
#define OBJECT(version, kind, name, more) \
    "{apiVersion: " version ", kind: " kind ", metadata: {name: " name ", " more "}, spec: {}}"
#define POD(more) OBJECT("v1", "Pod", "p", more)

#define IN_CLUSTER(version, kind, name, uid) OBJECT(version, kind, name, "uid: " uid) "\n---\n"
#define SET_OF(name, uid, version, kind, owner, owner_uid)                                         \
    OBJECT("apps/v1", "ReplicaSet", name, "uid: " uid ", " OWNED(version, kind, owner, owner_uid)) \
    "\n---\n"

/* clang-format off */
static const char cluster[] =
    IN_CLUSTER("apps/v1", "Deployment", "web", "d1")
    IN_CLUSTER("apps/v1", "StatefulSet", "db", "s1")
    IN_CLUSTER("apps/v1", "DaemonSet", "agent", "a1")
    IN_CLUSTER("v1", "ReplicationController", "rc", "c1")
    IN_CLUSTER("v1", "Node", "node-1", "n1")
    IN_CLUSTER("batch/v1", "CronJob", "nightly", "k1")
    SET_OF("web-7d9", "r1", "apps/v1", "Deployment", "web", "d1")
    /* of a Deployment that was there under this name before, and of one that is not there */
    SET_OF("web-1", "r2", "apps/v1", "Deployment", "web", "d0")
    SET_OF("gone-1", "r3", "apps/v1", "Deployment", "gone", "d9")
    /* no controller makes ReplicaSets for these */
    SET_OF("odd-1", "r4", "apps/v1", "StatefulSet", "db", "s1")
    SET_OF("odd-2", "r5", "v1", "Node", "node-1", "n1")
    SET_OF("odd-3", "r6", "evil.io/v1", "Deployment", "web", "d1")
    SET_OF("odd-4", "r7", "example.com/v1", "Shop", "shop", "x1")
    /* one that a policy trusts with them, and of which no kind is seen */
    SET_OF("roll-1", "r8", "argoproj.io/v1alpha1", "Rollout", "roll", "x2")
    OBJECT("batch/v1", "Job", "nightly-1", "uid: j1, " OWNED("batch/v1", "CronJob", "nightly", "k1"));
/* clang-format on */

struct owner_case {
    const char *user, *object, *root;
    bool named, believed;
    enum kind awaited;
};

#define OF_RS(name, uid) POD(OWNED("apps/v1", "ReplicaSet", name, uid))
#define NEW_RS(version, kind, name, uid) \
    OBJECT("apps/v1", "ReplicaSet", "x-1", OWNED(version, kind, name, uid))

static const struct owner_case cases[] = {
    /* each controller for what it makes */
    {KUBE_SYSTEM "replicaset-controller", OF_RS("web-7d9", "r1"), "web", true, false, 0},
    {MANAGER, OF_RS("web-7d9", "r1"), "web", true, false, 0},
    {KUBE_SYSTEM "statefulset-controller", POD(OWNED("apps/v1", "StatefulSet", "db", "s1")), "db",
     true, false, 0},
    {KUBE_SYSTEM "daemon-set-controller", POD(OWNED("apps/v1", "DaemonSet", "agent", "a1")),
     "agent", true, false, 0},
    {KUBE_SYSTEM "replication-controller", POD(OWNED("v1", "ReplicationController", "rc", "c1")),
     "rc", true, false, 0},
    {KUBE_SYSTEM "job-controller", POD(OWNED("batch/v1", "Job", "nightly-1", "j1")), "nightly",
     true, false, 0},
    {KUBE_SYSTEM "deployment-controller", NEW_RS("apps/v1", "Deployment", "web", "d1"), "web", true,
     false, 0},
    {KUBE_SYSTEM "deployment-controller", NEW_RS("extensions/v1beta1", "Deployment", "web", "d1"),
     "web", true, false, 0},
    {KUBE_SYSTEM "cronjob-controller",
     OBJECT("batch/v1", "Job", "x", OWNED("batch/v1", "CronJob", "nightly", "k1")), "nightly", true,
     false, 0},
    /* and nobody else, nor for anything else */
    {"jane", OF_RS("web-7d9", "r1"), "p", false, false, 0},
    {"", OF_RS("web-7d9", "r1"), "p", false, false, 0},
    {KUBE_SYSTEM "deployment-controller", OF_RS("web-7d9", "r1"), "p", false, false, 0},
    {KUBE_SYSTEM "replicaset-controller-2", OF_RS("web-7d9", "r1"), "p", false, false, 0},
    {KUBE_SYSTEM "default", OF_RS("web-7d9", "r1"), "p", false, false, 0},
    {"system:serviceaccount:team:replicaset-controller", OF_RS("web-7d9", "r1"), "p", false, false,
     0},
    {"system:node:n", POD(OWNED("v1", "Node", "node-1", "n1")), "p", false, false, 0},
    {KUBE_SYSTEM "job-controller", OF_RS("web-7d9", "r1"), "p", false, false, 0},
    {MANAGER, POD(OWNED("apps/v1", "Deployment", "web", "d1")), "p", false, false, 0},
    {"jane", NEW_RS("apps/v1", "Deployment", "web", "d1"), "x-1", false, false, 0},
    {MANAGER, NEW_RS("apps/v1", "StatefulSet", "db", "s1"), "x-1", false, false, 0},
    {MANAGER, NEW_RS("evil.io/v1", "Deployment", "web", "d1"), "x-1", false, false, 0},
    {KUBE_SYSTEM "replicaset-controller",
     "{apiVersion: v1, kind: Pod, metadata: {name: p, ownerReferences: [{apiVersion: apps/v1, "
     "kind: ReplicaSet, name: web-7d9, uid: r1}]}}",
     "p", false, false, 0},
    /* a step above counts when such things are made, and the owner is seen with that uid */
    {MANAGER, OF_RS("web-1", "r2"), "web-1", true, false, KIND_DEPLOYMENT},
    {MANAGER, OF_RS("gone-1", "r3"), "gone-1", true, false, KIND_DEPLOYMENT},
    {MANAGER, OF_RS("odd-1", "r4"), "odd-1", true, false, 0},
    {MANAGER, OF_RS("odd-2", "r5"), "odd-2", true, false, 0},
    {MANAGER, OF_RS("odd-3", "r6"), "odd-3", true, false, 0},
    {MANAGER, OF_RS("odd-4", "r7"), "odd-4", true, false, 0},
    /* what is not seen may be in a moment; its name is what the reference says */
    {MANAGER, OF_RS("later-1", "r9"), "later-1", true, false, KIND_REPLICA_SET},
    {MANAGER, OF_RS("web-7d9", "r0"), "web-7d9", true, false, KIND_REPLICA_SET},
    {MANAGER,
     "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {pod-template-hash: '1'}, "
     "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: later-1, uid: r9, "
     "controller: true}]}}",
     "later-1", true, false, KIND_REPLICA_SET},
    /* whom a policy trusts */
    {ARGO, NEW_RS("argoproj.io/v1alpha1", "Rollout", "roll", "x2"), "roll", true, true, 0},
    {"system:serviceaccount:argo-rollouts:other", NEW_RS("argoproj.io/v1", "Rollout", "roll", "x2"),
     "x-1", false, false, 0},
    {ARGO, NEW_RS("argoproj.io/v1", "Workflow", "roll", "x2"), "x-1", false, false, 0},
    {ARGO, NEW_RS("other.io/v1", "Rollout", "roll", "x2"), "x-1", false, false, 0},
    {ARGO, OBJECT("batch/v1", "Job", "x", OWNED("argoproj.io/v1", "Rollout", "roll", "x2")), "x",
     false, false, 0},
    {ARGO, POD(OWNED("argoproj.io/v1", "Rollout", "roll", "x2")), "p", false, false, 0},
    {MANAGER, OF_RS("roll-1", "r8"), "roll", true, true, 0},
    {"system:serviceaccount:ops:canary-7", NEW_RS("apps/v1", "Deployment", "web", "d1"), "web",
     true, false, 0},
    {RAY, POD(OWNED("ray.io/v1", "RayCluster", "train", "x3")), "train", true, true, 0},
    {RAY, OBJECT("apps/v1", "StatefulSet", "x", OWNED("ray.io/v1", "RayCluster", "train", "x3")),
     "train", true, true, 0},
    {RAY, POD(OWNED("ray.io/v1", "RayService", "train", "x3")), "p", false, false, 0},
    {ARGO, POD(OWNED("ray.io/v1", "RayCluster", "train", "x3")), "p", false, false, 0},
};

#define TRUST                                                                                   \
    "trustedControllers: [{account: argo-rollouts/argo-rollouts, owner: Rollout.argoproj.io, "  \
    "makes: ReplicaSet}, {account: ops/canary-*, owner: Deployment.apps, makes: ReplicaSet}], " \
    "podTemplates: [{group: ray.io, kind: RayCluster, paths: [spec.template], controllers: ["   \
    "ray-system/kuberay-operator]}, {group: ray.io, kind: RayService, paths: [spec.template]}], "

static struct world world_of(const char *yaml, struct arena *arena)
{
    struct world world = rail_table_world("topology-keys: {}", yaml, arena);
    struct policy *policy = ARENA_NEW(arena, struct policy);
    struct policy_set *policies = ARENA_NEW(arena, struct policy_set);
    *policy = rail_table_read_policy(
        TEXT("{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: p}, spec: "
             "{" TRUST "mode: enforce, rails: {topology-keys: {}}}}"),
        world.catalog, arena);
    *policies = (struct policy_set){.items = policy, .count = 1};
    world.policies = policies;
    return world;
}

static struct root_owner root_of(const struct world *world, const struct owner_case *row,
                                 bool existing, struct arena *arena)
{
    struct rail_documents documents = rail_table_read(row->object, arena);
    const struct subject subject = {.operation = OPERATION_CREATE,
                                    .object = &documents.items[0],
                                    .requester = {.name = text_of(row->user)},
                                    .existing = existing};
    return root_owner_find(world, &subject);
}

static void assert_root(const struct world *world, const struct owner_case *row,
                        struct arena *arena)
{
    struct root_owner root = root_of(world, row, false, arena);
    if (!text_is(root.name, row->root) || root.awaited.kind != row->awaited)
        fprintf(stderr, "%s asks for %s\n", row->user, row->object);
    ASSERT_TEXT(root.name, row->root);
    CU_ASSERT_EQUAL(root.named, row->named);
    CU_ASSERT_EQUAL(root.believed, row->believed);
    ASSERT_INT(root.awaited.kind, row->awaited);
    CU_ASSERT(root.awaited.kind == KIND_UNKNOWN || !world_has_owner(world, &root.awaited));
}

static void references_count_when_their_author_is_known(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = world_of(cluster, arena);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_root(&world, &cases[i], arena);
    arena_destroy(arena);
}

static void what_cannot_be_seen_is_believed(void)
{
    static const struct owner_case rows[] = {
        {MANAGER, OF_RS("web-7d9", "r1"), "web-7d9", true, true, 0},
        {MANAGER,
         "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {pod-template-hash: 7d9}, "
         "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-7d9, uid: r1, "
         "controller: true}]}}",
         "web", true, true, 0},
        /* a name that is not of the hash is one that somebody gave */
        {MANAGER,
         "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {pod-template-hash: 7d9}, "
         "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-8, uid: r1, "
         "controller: true}]}}",
         "web-8", true, true, 0},
        {MANAGER,
         "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {pod-template-hash: 7d9}, "
         "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: 7d9, uid: r1, "
         "controller: true}]}}",
         "7d9", true, true, 0},
        {"jane", OF_RS("web-7d9", "r1"), "p", false, false, 0},
    };
    static const char *const kinds[] = {"ReplicaSet", "Deployment", "ReplicaSet", "ReplicaSet",
                                        "Pod"};
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = world_of("", arena);
    for (size_t i = 0; i < 2 * COUNT_OF(rows); i++) {
        const struct owner_case *row = &rows[i / 2];
        world.blind = i % 2 == 0;
        world.unseen = i % 2 == 0 ? 0 : KIND_BIT(KIND_REPLICA_SET);
        struct root_owner root = root_of(&world, row, false, arena);
        ASSERT_TEXT(root.kind, kinds[i / 2]);
        ASSERT_TEXT(root.name, row->root);
        CU_ASSERT_EQUAL(root.believed, row->believed);
        ASSERT_INT(root.awaited.kind, 0);
    }
    /* Its ReplicaSet is seen, and of Deployments none can be. */
    world = world_of(cluster, arena);
    world.unseen = KIND_BIT(KIND_DEPLOYMENT);
    struct root_owner root =
        root_of(&world, &(struct owner_case){.user = MANAGER, .object = OF_RS("gone-1", "r3")},
                false, arena);
    ASSERT_TEXT(root.kind, "Deployment");
    ASSERT_TEXT(root.name, "gone");
    CU_ASSERT(root.believed);
    arena_destroy(arena);
}

/* Of what is there nobody knows who asked. */
static void what_is_there_is_believed(void)
{
    static const struct owner_case rows[] = {
        {"", OF_RS("web-7d9", "r1"), "web", true, false, 0},
        {"", OF_RS("left-1", "r9"), "left-1", true, true, 0},
        {"", POD(OWNED("example.com/v1", "Shop", "s", "x1")), "s", true, true, 0},
    };
    static const char *const kinds[] = {"Deployment", "ReplicaSet", "Shop"};
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = world_of(cluster, arena);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct root_owner root = root_of(&world, &rows[i], true, arena);
        ASSERT_TEXT(root.kind, kinds[i]);
        ASSERT_TEXT(root.name, rows[i].root);
        CU_ASSERT_EQUAL(root.believed, rows[i].believed);
    }
    arena_destroy(arena);
}

/* ---- custom owners ---- */

/* A cluster of ReplicaSets of Rollouts, of which those named are seen. */
static struct world world_of_rollouts(struct arena *arena)
{
    static const struct {
        const char *namespace, *name, *uid;
    } rollouts[] = {{"default", "old", "o1"}, {"default", "changed", "o2"}, {"", "wide", "o3"}};
    /* clang-format off */
    static const char sets[] =
        SET_OF("old-1", "q1", "argoproj.io/v1", "Rollout", "old", "o1")
        SET_OF("changed-1", "q2", "argoproj.io/v1", "Rollout", "changed", "o0")
        SET_OF("gone-1", "q3", "argoproj.io/v1", "Rollout", "gone", "o9")
        SET_OF("wide-1", "q4", "argoproj.io/v1alpha1", "Rollout", "wide", "o3")
        SET_OF("flow-1", "q5", "argoproj.io/v1", "Workflow", "old", "o1")
        OBJECT("v1", "Node", "node-1", "uid: n1");
    /* clang-format on */
    enum { SLOT = 3 };
    struct world world = world_of(sets, arena);
    struct snapshot_builder *builder = snapshot_builder_create(arena);
    for (size_t i = 0; i < snapshot_count(world.snapshot, KIND_REPLICA_SET); i++)
        snapshot_put(builder, snapshot_object(world.snapshot, KIND_REPLICA_SET, i));
    for (size_t i = 0; i < COUNT_OF(rollouts); i++) {
        const struct object object = {.kind = (enum kind)(KIND_OWNER_FIRST + SLOT),
                                      .namespace = text_of(rollouts[i].namespace),
                                      .name = text_of(rollouts[i].name),
                                      .uid = text_of(rollouts[i].uid),
                                      .created_unix_s = 1};
        snapshot_put(builder, &object);
    }
    world.snapshot = snapshot_build(builder);
    world.owners.ids[SLOT] = custom_kind_id(TEXT("argoproj.io"), TEXT("Rollout"));
    return world;
}

static void a_custom_owner_counts_as_far_as_it_is_seen(void)
{
    const enum kind slot = KIND_OWNER_FIRST + 3;
    const struct owner_case rows[] = {
        {MANAGER, OF_RS("old-1", "q1"), "old", true, false, 0},
        {MANAGER, OF_RS("wide-1", "q4"), "wide", true, false, 0}, /* it has no namespace */
        {MANAGER, OF_RS("changed-1", "q2"), "changed-1", true, false, slot},
        {MANAGER, OF_RS("gone-1", "q3"), "gone-1", true, false, slot},
        {MANAGER, OF_RS("flow-1", "q5"), "flow-1", true, false, 0}, /* nobody makes these */
        {ARGO, NEW_RS("argoproj.io/v1", "Rollout", "old", "o1"), "old", true, false, 0},
        {ARGO, NEW_RS("argoproj.io/v1", "Rollout", "later", "o8"), "later", true, false, slot},
        {"jane", NEW_RS("argoproj.io/v1", "Rollout", "old", "o1"), "x-1", false, false, 0},
        {RAY, POD(OWNED("ray.io/v1", "RayCluster", "old", "o1")), "old", true, true, 0},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = world_of_rollouts(arena);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_root(&world, &rows[i], arena);
    struct root_owner root = root_of(&world, &rows[0], false, arena);
    CU_ASSERT_FATAL(root.object != NULL && root.maker != NULL);
    ASSERT_INT(root.object->created_unix_s, 1);
    CU_ASSERT(root.above == root.object);
    /* As soon as the kind cannot be seen what is referred to is believed. */
    world.owners = (struct seen_owners){{0}};
    root = root_of(&world, &rows[3], false, arena);
    ASSERT_TEXT(root.name, "gone");
    CU_ASSERT(root.believed);
    arena_destroy(arena);
}

/* As a RayJob makes a RayCluster, and that makes the Pods. */
static void a_custom_owner_can_have_one_above_it(void)
{
    const struct owner_case row = {.user = RAY,
                                   .object = POD(OWNED("ray.io/v1", "RayCluster", "inner", "i1"))};
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = world_of("", arena);
    struct snapshot_builder *builder = snapshot_builder_create(arena);
    const struct object outer = {.kind = KIND_OWNER_LAST,
                                 .namespace = TEXT("default"),
                                 .name = TEXT("outer"),
                                 .uid = TEXT("i0")};
    struct object inner = outer;
    inner.name = TEXT("inner");
    inner.uid = TEXT("i1");
    inner.controller =
        (struct owner){TEXT("ray.io/v1alpha1"), TEXT("RayCluster"), outer.name, outer.uid};
    snapshot_put(builder, &outer);
    snapshot_put(builder, &inner);
    world.snapshot = snapshot_build(builder);
    world.owners.ids[OWNER_KINDS_MAX - 1] = custom_kind_id(TEXT("ray.io"), TEXT("RayCluster"));
    struct root_owner root = root_of(&world, &row, false, arena);
    ASSERT_TEXT(root.name, "outer");
    CU_ASSERT(root.object != NULL && !root.believed);
    arena_destroy(arena);
}

static void the_custom_owners_are_those_that_policies_trust(void)
{
    static const struct custom_kind expected[] = {
        {{"argoproj.io", 11}, {"Rollout", 7}, {"rollouts", 8}},
        {{"shop.io", 7}, {"Lady", 4}, {"ladies", 6}},
        {{"evil.io", 7}, {"Deployment", 10}, {"deployments", 11}},
        {{"ray.io", 6}, {"RayCluster", 10}, {"rayclusters", 11}},
        {{"ray.io", 6}, {"RayJob", 6}, {"rayjobs", 7}},
    };
    static const char yaml[] =
        "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: p}, spec: {"
        "trustedControllers: [{account: a/b, owner: Rollout.argoproj.io, makes: ReplicaSet}, "
        "{account: a/b, owner: Rollout.argoproj.io, makes: Pod}, "
        "{account: a/b, owner: Lady.shop.io, makes: Pod}, "
        "{account: a/c, owner: Lady.shop.io, resource: ladies, makes: Pod}, "
        "{account: a/d, owner: Lady.shop.io, resource: ladys, makes: Pod}, "
        "{account: a/b, owner: Deployment, makes: Pod}, "
        "{account: a/b, owner: Deployment.evil.io, makes: Pod}], "
        "podTemplates: [{group: ray.io, kind: RayCluster, paths: [spec.template], controllers: ["
        "a/b]}, {group: ray.io, kind: RayService, paths: [spec.template]}, "
        "{group: ray.io, kind: RayJob, paths: [spec.template], controllers: [a/b]}], "
        "rails: {topology-keys: {}}}}";
    struct arena *arena = arena_create((size_t)64 << 20);
    struct policy policy = rail_table_read_policy(text_of(yaml), catalog_builtin(arena), arena);
    const struct policy_set policies = {.items = &policy, .count = 1};
    struct custom_kinds kinds;
    policy_set_owner_kinds(&policies, arena, &kinds);
    CU_ASSERT_FATAL(kinds.count == COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        CU_ASSERT(text_equal(kinds.items[i].group, expected[i].group));
        CU_ASSERT(text_equal(kinds.items[i].kind, expected[i].kind));
        CU_ASSERT(text_equal(kinds.items[i].plural, expected[i].plural));
    }
    arena_destroy(arena);
}

/* ---- who is judged in another's place ---- */

#define SPREAD "topologySpreadConstraints: [{topologyKey: zone}]"
#define WRONG(version, kind, reference)                                                     \
    "{apiVersion: " version ", kind: " kind ", metadata: {name: x, " reference "}, spec: {" \
    "template: {metadata: {labels: {a: b}}, spec: {" SPREAD "}}}}"

static void only_what_its_controller_makes_is_not_denied(void)
{
    static const struct {
        const char *user, *object;
        enum action asked, existing;
    } rows[] = {
        {KUBE_SYSTEM "deployment-controller",
         WRONG("apps/v1", "ReplicaSet", OWNED("apps/v1", "Deployment", "web", "d1")), ACTION_AUDIT,
         ACTION_AUDIT},
        {KUBE_SYSTEM "cronjob-controller",
         WRONG("batch/v1", "Job", OWNED("batch/v1", "CronJob", "nightly", "k1")), ACTION_AUDIT,
         ACTION_AUDIT},
        /* what a person writes is a person's: of one that is there, and of one that is not */
        {"jane", WRONG("apps/v1", "ReplicaSet", OWNED("apps/v1", "Deployment", "web", "d1")),
         ACTION_DENY, ACTION_AUDIT},
        {"jane", WRONG("apps/v1", "ReplicaSet", OWNED("apps/v1", "Deployment", "none", "d8")),
         ACTION_DENY, ACTION_AUDIT},
        {"jane", WRONG("batch/v1", "Job", OWNED("batch/v1", "CronJob", "none", "k8")), ACTION_DENY,
         ACTION_AUDIT},
        {"jane", WRONG("batch/v1", "Job", OWNED("apps/v1", "StatefulSet", "db", "s1")), ACTION_DENY,
         ACTION_DENY},
        {MANAGER, WRONG("apps/v1", "ReplicaSet", OWNED("apps/v1", "StatefulSet", "db", "s1")),
         ACTION_DENY, ACTION_DENY},
        {KUBE_SYSTEM "replicaset-controller",
         WRONG("apps/v1", "ReplicaSet", OWNED("apps/v1", "Deployment", "web", "d1")), ACTION_DENY,
         ACTION_AUDIT},
        {ARGO, WRONG("apps/v1", "ReplicaSet", OWNED("argoproj.io/v1alpha1", "Rollout", "r", "x")),
         ACTION_AUDIT, ACTION_AUDIT},
        {"jane", WRONG("apps/v1", "ReplicaSet", OWNED("argoproj.io/v1alpha1", "Rollout", "r", "x")),
         ACTION_DENY, ACTION_AUDIT},
        {RAY, WRONG("apps/v1", "StatefulSet", OWNED("ray.io/v1", "RayCluster", "t", "x")),
         ACTION_AUDIT, ACTION_AUDIT},
        {RAY, WRONG("apps/v1", "StatefulSet", OWNED("ray.io/v1", "RayService", "t", "x")),
         ACTION_DENY, ACTION_AUDIT},
        {RAY, WRONG("apps/v1", "Deployment", OWNED("example.com/v1", "Shop", "t", "x")),
         ACTION_DENY, ACTION_DENY},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = world_of(cluster, arena);
    for (size_t i = 0; i < 2 * COUNT_OF(rows); i++) {
        struct rail_documents documents = rail_table_read(rows[i / 2].object, arena);
        const struct subject subject = {.operation = OPERATION_CREATE,
                                        .object = &documents.items[0],
                                        .requester = {.name = text_of(rows[i / 2].user)},
                                        .existing = i % 2 == 1};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        enum action expected = i % 2 == 1 ? rows[i / 2].existing : rows[i / 2].asked;
        if (verdict.action != expected)
            fprintf(stderr, "%s%s\n", i % 2 == 1 ? "existing: " : "", rows[i / 2].object);
        ASSERT_INT(verdict.action, expected);
    }
    arena_destroy(arena);
}

static void what_is_believed_is_named(void)
{
    static const struct {
        const char *spec;
        kind_set unseen;
        const char *seen_group, *seen_kind; /* of a custom owner */
        const char *kinds;
    } rows[] = {
        {"since: 2026-01-01", ~(kind_set)0, NULL, NULL,
         "Deployment, CronJob, ReplicaSet, ReplicationController, StatefulSet, DaemonSet, Job, "
         "Rollout.argoproj.io, RayCluster.ray.io"},
        {"since: 2026-01-01", KIND_BIT(KIND_JOB) | KIND_BIT(KIND_NODE), "ray.io", "RayCluster",
         "Job, Rollout.argoproj.io"},
        {"since: 2026-01-01", 0, "argoproj.io", "Rollout", "RayCluster.ray.io"},
        {"since: 2026-01-01", 0, "ray.io", "Rollout", "Rollout.argoproj.io, RayCluster.ray.io"},
        {"mode: enforce", ~(kind_set)0, NULL, NULL, ""},
        {"since: 2026-01-01, mode: off", ~(kind_set)0, NULL, NULL, ""},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct text yaml =
            arena_printf(arena,
                         "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: "
                         "p}, spec: {" TRUST "%s, rails: {topology-keys: {}}}}",
                         rows[i].spec);
        struct policy policy = rail_table_read_policy(yaml, catalog_builtin(arena), arena);
        const struct policy_set policies = {.items = &policy, .count = 1};
        struct seen_owners seen = {{0}};
        if (rows[i].seen_kind != NULL)
            seen.ids[OWNER_KINDS_MAX - 1] =
                custom_kind_id(text_of(rows[i].seen_group), text_of(rows[i].seen_kind));
        ASSERT_TEXT(policy_set_believed(&policies, rows[i].unseen, &seen, arena), rows[i].kinds);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "policy owner";
const struct unit_test unit_tests[] = {
    {"references count when their author is known", references_count_when_their_author_is_known},
    {"what cannot be seen is believed", what_cannot_be_seen_is_believed},
    {"what is there is believed", what_is_there_is_believed},
    {"a custom owner counts as far as it is seen", a_custom_owner_counts_as_far_as_it_is_seen},
    {"a custom owner can have one above it", a_custom_owner_can_have_one_above_it},
    {"the custom owners are those that policies trust",
     the_custom_owners_are_those_that_policies_trust},
    {"only what its controller makes is not denied", only_what_its_controller_makes_is_not_denied},
    {"what is believed is named", what_is_believed_is_named},
    {NULL, NULL},
};
