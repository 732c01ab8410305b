/* Whose Pods `since` spares: those of a root owner that is older, as far as what made them passes
 * on no more than the owner has. */
#include "rail_table.h"

#define OLD "2025-12-31T23:59:59Z"
#define YOUNG "2026-01-01T00:00:00Z"
#define OF(version, kind, name, uid)                                                             \
    "ownerReferences: [{apiVersion: " version ", kind: " kind ", name: " name ", uid: " uid ", " \
    "controller: true}]"
#define MADE(name, uid, created, more) \
    "metadata: {name: " name ", uid: " uid ", creationTimestamp: '" created "', " more "}"
#define SPEC(keys) "{topologySpreadConstraints: [" keys "]}"
#define KEY(key) "{topologyKey: " key "}, "
/* Behind the end of a list of keys: another list, which SPEC ends. */
#define APART                                                                        \
    "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" \
    "{topologyKey: zone}]}}, tolerations: ["
#define TEMPLATE(keys) "template: {metadata: {labels: {a: b}}, spec: " SPEC(keys) "}"

#define DEPLOYMENT(created, keys, status)                 \
    "---\n{apiVersion: apps/v1, kind: Deployment, " MADE( \
        "web", "d1", created, "") ", spec: {" TEMPLATE(keys) "}, status: {" status "}}\n"
#define REPLICA_SET_OF(name, uid, created, keys, owner)                      \
    "---\n{apiVersion: apps/v1, kind: ReplicaSet, " MADE(name, uid, created, \
                                                         owner) ", spec: {" TEMPLATE(keys) "}}\n"
#define REPLICA_SET(name, uid, created, keys) \
    REPLICA_SET_OF(name, uid, created, keys, OF("apps/v1", "Deployment", "web", "d1"))
#define CRON_JOB(created, keys, status)                 \
    "---\n{apiVersion: batch/v1, kind: CronJob, " MADE( \
        "tick", "k1", created,                          \
        "") ", spec: {jobTemplate: {spec: {" TEMPLATE(keys) "}}}, status: {" status "}}\n"
#define JOB(name, uid, created, keys)               \
    "---\n{apiVersion: batch/v1, kind: Job, " MADE( \
        name, uid, created,                         \
        OF("batch/v1", "CronJob", "tick", "k1")) ", spec: {" TEMPLATE(keys) "}}\n"
#define POD_OF(kind, version, name, uid)                                       \
    "{apiVersion: v1, kind: Pod, metadata: {name: p, " OF(version, kind, name, \
                                                          uid) "}, spec: " SPEC(KEY("zone")) "}"
#define POD POD_OF("ReplicaSet", "apps/v1", "web-1", "r1")
#define POD_OF_JOB POD_OF("Job", "batch/v1", "tick-1", "j1")
#define MANAGER "system:kube-controller-manager"
#define STEADY "replicas: 3, updatedReplicas: 3"

static const struct {
    const char *cluster, *pod;
    enum action action;
} cases[] = {
    /* the age is the root's */
    {DEPLOYMENT(OLD, KEY("zone"), STEADY) REPLICA_SET("web-1", "r1", OLD, KEY("zone")), POD,
     ACTION_WARN},
    {DEPLOYMENT(YOUNG, KEY("zone"), STEADY) REPLICA_SET("web-1", "r1", YOUNG, KEY("zone")), POD,
     ACTION_DENY},
    {DEPLOYMENT(YOUNG, KEY("zone"), STEADY) REPLICA_SET("web-1", "r1", OLD, KEY("zone")), POD,
     ACTION_DENY},
    {REPLICA_SET_OF("web-1", "r1", OLD, KEY("zone"), ""), POD, ACTION_WARN},
    {REPLICA_SET_OF("web-1", "r1", YOUNG, KEY("zone"), ""), POD, ACTION_DENY},
    /* one that is not known is not old */
    {"{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, uid: r1}}", POD, ACTION_DENY},
    {"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web-1}}", POD, ACTION_DENY},
    /* a young ReplicaSet passes on what its Deployment has, whatever else its Pods came to have */
    {DEPLOYMENT(OLD, KEY("zone"), STEADY) REPLICA_SET("web-1", "r1", YOUNG, KEY("zone")), POD,
     ACTION_WARN},
    {DEPLOYMENT(OLD, KEY("zone") KEY("hostname"), STEADY)
         REPLICA_SET("web-1", "r1", YOUNG, KEY("zone")),
     POD, ACTION_WARN},
    {DEPLOYMENT(OLD, "", STEADY) REPLICA_SET("web-1", "r1", YOUNG, ""), POD, ACTION_WARN},
    /* and nothing that it has not */
    {DEPLOYMENT(OLD, "", STEADY) REPLICA_SET("web-1", "r1", YOUNG, KEY("zone")), POD, ACTION_DENY},
    {DEPLOYMENT(OLD, KEY("hostname"), STEADY) REPLICA_SET("web-1", "r1", YOUNG, KEY("zone")), POD,
     ACTION_DENY},
    {DEPLOYMENT(OLD, KEY("zone"), STEADY)
         REPLICA_SET("web-1", "r1", YOUNG, KEY("zone") KEY("hostname")),
     POD, ACTION_DENY},
    /* a rollback: what a ReplicaSet from before has */
    {DEPLOYMENT(OLD, "", STEADY) REPLICA_SET("web-0", "r0", OLD, KEY("zone"))
         REPLICA_SET("web-1", "r1", YOUNG, KEY("zone")),
     POD, ACTION_WARN},
    {DEPLOYMENT(OLD, "", STEADY) REPLICA_SET("web-0", "r0", YOUNG, KEY("zone"))
         REPLICA_SET("web-1", "r1", YOUNG, KEY("zone")),
     POD, ACTION_DENY},
    {DEPLOYMENT(OLD, KEY("zone"), STEADY) REPLICA_SET("web-0", "r0", OLD, KEY("hostname"))
         REPLICA_SET("web-1", "r1", YOUNG, KEY("zone") KEY("hostname")),
     POD, ACTION_WARN},
    /* not one of another Deployment, nor of one that had the name before */
    {DEPLOYMENT(OLD, "", STEADY)
         REPLICA_SET_OF("web-0", "r0", OLD, KEY("zone"), OF("apps/v1", "Deployment", "web", "d0"))
             REPLICA_SET_OF("we-1", "r2", OLD, KEY("zone"), OF("apps/v1", "Deployment", "we", "d1"))
                 REPLICA_SET_OF("w-1", "r3", OLD, KEY("zone"), "")
                     REPLICA_SET("web-1", "r1", YOUNG, KEY("zone")),
     POD, ACTION_DENY},
    /* a rollout that is paused, is stuck, or has not begun: its template is another already */
    {DEPLOYMENT(OLD, "", "replicas: 4, updatedReplicas: 1")
         REPLICA_SET("web-1", "r1", YOUNG, KEY("zone")),
     POD, ACTION_WARN},
    {DEPLOYMENT(OLD, "", "replicas: 3") REPLICA_SET("web-1", "r1", YOUNG, KEY("zone")), POD,
     ACTION_WARN},
    {DEPLOYMENT(OLD, "", "") REPLICA_SET("web-1", "r1", YOUNG, KEY("zone")), POD, ACTION_DENY},
    {"---\n{apiVersion: apps/v1, kind: Deployment, " MADE(
         "web", "d1", OLD,
         "") ", spec: {replicas: 3, " TEMPLATE("") "}, status: {}}\n" REPLICA_SET("web-1", "r1",
                                                                                  YOUNG,
                                                                                  KEY("zone")),
     POD, ACTION_WARN},
    /* of a young Deployment it passes on nothing */
    {DEPLOYMENT(YOUNG, "", "replicas: 4, updatedReplicas: 1")
         REPLICA_SET("web-1", "r1", OLD, KEY("zone")),
     POD, ACTION_DENY},
    /* nor one of another owner of that name, or of another namespace */
    {DEPLOYMENT(OLD, "", STEADY)
         REPLICA_SET_OF("web-0", "r0", OLD, KEY("zone"), OF("apps/v1", "StatefulSet", "web", "d1"))
             REPLICA_SET("web-1", "r1", YOUNG, KEY("zone")),
     POD, ACTION_DENY},
    {DEPLOYMENT(OLD, "", STEADY) REPLICA_SET("web-0, namespace: aaa", "r0", OLD, KEY("zone"))
         REPLICA_SET("web-0, namespace: zzz", "r2", OLD, KEY("zone"))
             REPLICA_SET("web-1", "r1", YOUNG, KEY("zone")),
     POD, ACTION_DENY},
    /* several fields, in whatever order */
    {DEPLOYMENT(OLD, KEY("zone") "], " APART, STEADY)
         REPLICA_SET("web-1", "r1", YOUNG, KEY("zone") "], " APART),
     POD, ACTION_WARN},
    {DEPLOYMENT(OLD, "], " APART, STEADY)
         REPLICA_SET("web-1", "r1", YOUNG, KEY("zone") "], " APART),
     POD, ACTION_DENY},
    /* Jobs of a CronJob likewise */
    {CRON_JOB(OLD, KEY("zone"), "") JOB("tick-1", "j1", YOUNG, KEY("zone")), POD_OF_JOB,
     ACTION_WARN},
    {CRON_JOB(OLD, "", "") JOB("tick-1", "j1", YOUNG, KEY("zone")), POD_OF_JOB, ACTION_DENY},
    {CRON_JOB(OLD, "", "") JOB("tick-0", "j0", OLD, KEY("zone"))
         JOB("tick-1", "j1", YOUNG, KEY("zone")),
     POD_OF_JOB, ACTION_WARN},
    {CRON_JOB(YOUNG, KEY("zone"), "") JOB("tick-1", "j1", YOUNG, KEY("zone")), POD_OF_JOB,
     ACTION_DENY},
    /* a CronJob that was changed while its Job runs */
    {CRON_JOB(OLD, "", "active: [{name: tick-0, uid: j0}, {name: tick-1, uid: j1}]")
         JOB("tick-1", "j1", YOUNG, KEY("zone")),
     POD_OF_JOB, ACTION_WARN},
    {CRON_JOB(OLD, "", "active: [{name: tick-1, uid: j9}]") JOB("tick-1", "j1", YOUNG, KEY("zone")),
     POD_OF_JOB, ACTION_DENY},
    {CRON_JOB(OLD, "", "active: {name: tick-1}") JOB("tick-1", "j1", YOUNG, KEY("zone")),
     POD_OF_JOB, ACTION_DENY},
    /* others make their Pods themselves */
    {"{apiVersion: apps/v1, kind: StatefulSet, " MADE("db", "s1", OLD, "") "}",
     POD_OF("StatefulSet", "apps/v1", "db", "s1"), ACTION_WARN},
    {"{apiVersion: apps/v1, kind: StatefulSet, " MADE("db", "s1", YOUNG, "") "}",
     POD_OF("StatefulSet", "apps/v1", "db", "s1"), ACTION_DENY},
};

static struct world world_of(const char *cluster, const char *spec, struct arena *arena)
{
    struct world world = rail_table_world("topology-keys: {}", cluster, arena);
    struct policy *policy = ARENA_NEW(arena, struct policy);
    struct policy_set *policies = ARENA_NEW(arena, struct policy_set);
    struct text yaml = arena_printf(arena,
                                    "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, "
                                    "metadata: {name: p}, spec: {mode: enforce, %s}}",
                                    spec);
    *policy = rail_table_read_policy(yaml, world.catalog, arena);
    *policies = (struct policy_set){.items = policy, .count = 1};
    world.policies = policies;
    return world;
}

static struct verdict judge(const struct world *world, const char *object, const char *user,
                            struct arena *arena)
{
    struct rail_documents documents = rail_table_read(object, arena);
    const struct subject subject = {.operation = OPERATION_CREATE,
                                    .object = &documents.items[0],
                                    .requester = {.name = text_of(user)}};
    struct verdict verdict;
    policy_evaluate(world, &subject, 0, arena, &verdict);
    return verdict;
}

#define SINCE "since: 2026-01-01, rails: {topology-keys: {}}"

static void pods_are_spared_for_their_owner(void)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        struct world world = world_of(cases[i].cluster, SINCE, arena);
        struct verdict verdict = judge(&world, cases[i].pod, MANAGER, arena);
        if (verdict.action != cases[i].action)
            fprintf(stderr, "case %zu: %s\n", i, cases[i].cluster);
        ASSERT_INT(verdict.action, cases[i].action);
        CU_ASSERT(verdict.findings[0].spared == (cases[i].action == ACTION_WARN));
        /* nobody else's Pod is */
        ASSERT_INT(judge(&world, cases[i].pod, "jane", arena).action, ACTION_DENY);
        arena_destroy(arena);
    }
}

/* Of an old Deployment without wrong keys, and of so many other ReplicaSets of it, the last of
 * which has had the key of the new one before. */
static enum action of_siblings(size_t count, struct arena *arena)
{
    struct text_builder yaml = {.arena = arena};
    text_builder_add(&yaml, TEXT(DEPLOYMENT(OLD, "", STEADY)));
    for (size_t i = 0; i < count; i++)
        text_builder_printf(&yaml, REPLICA_SET("web-0%02zu", "s%zu", OLD, "%s"), i, i,
                            i + 1 == count ? KEY("zone") : KEY("hostname"));
    text_builder_add(&yaml, TEXT(REPLICA_SET("web-1", "r1", YOUNG, KEY("zone"))));
    struct world world = world_of(text_builder_text(&yaml).data, SINCE, arena);
    return judge(&world, POD, MANAGER, arena).action;
}

static void so_many_replica_sets_are_asked(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    ASSERT_INT(of_siblings(32, arena), ACTION_WARN);
    ASSERT_INT(of_siblings(33, arena), ACTION_DENY);
    arena_destroy(arena);
}

/* What a template has is compared whole, however much it is, and whatever can be seen. */
static void templates_are_compared_whole(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct text_builder keys = {.arena = arena};
    for (size_t i = 0; i < 60; i++) /* more than a verdict lists */
        text_builder_printf(&keys, "{topologyKey: zone, name: c%zu, maxSkew: %zu}, ", i, i);
    const char *many = text_builder_text(&keys).data;
    const struct {
        const char *more;
        enum action action;
    } rows[] = {
        {"", ACTION_WARN},
        {"{topologyKey: hostname}, ", ACTION_DENY},
        /* whether some node has the label nobody knows without a NodePool */
        {"{topologyKey: example.com/shelf}, ", ACTION_DENY},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct text yaml = arena_printf(
            arena, DEPLOYMENT(OLD, "%s", STEADY) REPLICA_SET("web-1", "r1", YOUNG, "%s%s"), many,
            many, rows[i].more);
        struct world world = world_of(yaml.data, SINCE, arena);
        ASSERT_INT(judge(&world, POD, MANAGER, arena).action, rows[i].action);
        struct rail_documents documents = rail_table_read(POD, arena);
        const struct subject subject = {.operation = OPERATION_CREATE,
                                        .object = &documents.items[0],
                                        .requester = {.name = TEXT(MANAGER)}};
        struct verdict verdict;
        policy_evaluate_within(&world, &subject, 0, arena, &verdict);
        ASSERT_INT(verdict.action, rows[i].action);
    }
    arena_destroy(arena);
}

/* What is left undecided for want of any NodePool is said at load, and not of each Pod. */
static void what_is_said_at_load_is_not_said_again(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = world_of(DEPLOYMENT(OLD, "", STEADY) REPLICA_SET("web-1", "r1", YOUNG, ""),
                                  "since: 2026-01-01, rails: {placeable: {mode: enforce}}", arena);
    static const char pod[] = "{apiVersion: v1, kind: Pod, metadata: {name: p, " OF(
        "apps/v1", "ReplicaSet", "web-1",
        "r1") "}, "
              "spec: {containers: [{name: a, resources: {requests: {cpu: 1}}}]}}";
    struct rail_documents documents = rail_table_read(pod, arena);
    const struct subject subject = {.operation = OPERATION_CREATE,
                                    .object = &documents.items[0],
                                    .requester = {.name = TEXT(MANAGER)}};
    struct verdict verdict;
    policy_evaluate_within(&world, &subject, 0, arena, &verdict);
    ASSERT_INT(verdict.finding_count, 0);
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    ASSERT_INT(verdict.finding_count, 1);
    arena_destroy(arena);
}

/* What is left undecided of an owner for want of any Node is of its template all the same. */
static void a_template_is_compared_where_nothing_is_said_of_it(void)
{
#define LARGE(more) "spec: {containers: [{name: a, resources: {requests: {cpu: 201}}}]" more "}"
#define FOR_POOL ", nodeSelector: {pool: m}"
    static const char cluster[] =
        "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: m}, spec: "
        "{template: "
        "{metadata: {labels: {pool: m}}, spec: {nodeClassRef: {group: "
        "karpenter.k8s.aws, kind: "
        "EC2NodeClass, name: d}, requirements: [{key: "
        "karpenter.k8s.aws/instance-family, operator: "
        "In, values: [m5]}]}}}}\n"
        "---\n{apiVersion: apps/v1, kind: Deployment, " MADE(
            "web", "d1", OLD,
            "") ", spec: {template: {metadata: {labels: {a: "
                "b}}, " LARGE("") "}}, status: {" STEADY "}}\n"
                                  "---\n{apiVersion: apps/v1, kind: "
                                  "ReplicaSet, " MADE("web-1", "r1", YOUNG,
                                                      OF("apps/v1", "Deployment", "web",
                                                         "d1")) ", spec: {template: "
                                                                "{metadata: {labels: "
                                                                "{a: b}}, " LARGE(FOR_POOL) "}}}\n";
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world =
        world_of(cluster, "since: 2026-01-01, rails: {placeable: {mode: enforce}}", arena);
    struct karpenter_settings karpenter = {0};
    world.supply = rail_table_supply(world.snapshot, world.catalog, &karpenter, false);
    static const char pod[] = "{apiVersion: v1, kind: Pod, metadata: {name: p, " OF(
        "apps/v1", "ReplicaSet", "web-1", "r1") "}, " LARGE(FOR_POOL) "}";
    struct rail_documents documents = rail_table_read(pod, arena);
    const struct subject subject = {.operation = OPERATION_CREATE,
                                    .object = &documents.items[0],
                                    .requester = {.name = TEXT(MANAGER)}};
    struct verdict verdict;
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    CU_ASSERT_FATAL(verdict.finding_count == 1);
    ASSERT_INT(verdict.action, ACTION_WARN);
    policy_evaluate_within(&world, &subject, 0, arena, &verdict);
    CU_ASSERT_FATAL(verdict.finding_count == 1);
    ASSERT_INT(verdict.action, ACTION_WARN);
    CU_ASSERT_TRUE(verdict.findings[0].spared);
    arena_destroy(arena);
}

/* Of a Rollout nobody knows the template. */
static void a_custom_owner_passes_on_nothing(void)
{
    static const struct {
        const char *created;
        enum action action;
    } rows[] = {{OLD, ACTION_WARN}, {YOUNG, ACTION_DENY}};
    struct arena *arena = arena_create((size_t)64 << 20);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct text sets =
            arena_printf(arena,
                         REPLICA_SET_OF("web-1", "r1", "%s", KEY("zone"),
                                        OF("argoproj.io/v1", "Rollout", "web", "o1")),
                         rows[i].created);
        struct world world = world_of(sets.data,
                                      "trustedControllers: [{account: a/b, owner: "
                                      "Rollout.argoproj.io, makes: ReplicaSet}], " SINCE,
                                      arena);
        struct snapshot_builder *builder = snapshot_builder_create(arena);
        const struct object rollout = {.kind = KIND_OWNER_FIRST,
                                       .namespace = TEXT("default"),
                                       .name = TEXT("web"),
                                       .uid = TEXT("o1"),
                                       .created_unix_s = 1};
        snapshot_put(builder, &rollout);
        snapshot_put(builder, snapshot_object(world.snapshot, KIND_REPLICA_SET, 0));
        world.snapshot = snapshot_build(builder);
        world.owners.ids[0] = custom_kind_id(TEXT("argoproj.io"), TEXT("Rollout"));
        ASSERT_INT(judge(&world, POD, MANAGER, arena).action, rows[i].action);
    }
    arena_destroy(arena);
}

/* Each rail has a date and findings of its own. */
static void rails_are_spared_one_by_one(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    const char *clusters = DEPLOYMENT("2025-06-01T00:00:00Z", "", STEADY)
        REPLICA_SET("web-1", "r1", "2025-09-01T00:00:00Z", KEY("zone"));
    struct world world = world_of(clusters,
                                  "rails: {topology-keys: {since: 2025-07-01}, resource-requests: "
                                  "{since: 2025-07-01, require: [cpu]}, scheduler-bypass: {since: "
                                  "2025-05-01, schedulers: [default-scheduler]}, tolerations: "
                                  "{since: 2025-10-01, allow: [a]}}",
                                  arena);
    static const char pod[] = "{apiVersion: v1, kind: Pod, metadata: {name: p, " OF(
        "apps/v1", "ReplicaSet", "web-1",
        "r1") "}, "
              "spec: {schedulerName: mine, tolerations: [{key: b}], topologySpreadConstraints: "
              "[" KEY("zone") "], containers: [{name: a}]}}";
    struct verdict verdict = judge(&world, pod, MANAGER, arena);
    static const struct {
        const char *rail;
        enum action action;
    } expected[] = {
        {"resource-requests", ACTION_WARN}, /* the Deployment's template has no containers */
        {"scheduler-bypass", ACTION_DENY},  /* the Deployment is younger */
        {"tolerations", ACTION_WARN},       /* the ReplicaSet is older */
        {"topology-keys", ACTION_DENY},     /* the ReplicaSet has what the Deployment has not */
    };
    ASSERT_INT(verdict.finding_count, COUNT_OF(expected));
    for (size_t i = 0; i < verdict.finding_count; i++)
        for (size_t j = 0; j < COUNT_OF(expected); j++)
            if (strcmp(verdict.findings[i].rail, expected[j].rail) == 0)
                ASSERT_INT(verdict.findings[i].action, expected[j].action);
    arena_destroy(arena);
}

/* What spares a Pod from the one rail leaves it to the other that could say the same. */
static void a_rail_that_spares_leaves_it_to_the_other(void)
{
#define EVERY_TAINT "], containers: [{name: a}], tolerations: [{operator: Exists}"
    static const struct {
        const char *rails, *maker_keys;
        enum action action;
        size_t findings;
    } rows[] = {
        {"accelerators: {}, tolerations: {since: 2026-01-01}", EVERY_TAINT, ACTION_DENY, 2},
        {"accelerators: {since: 2026-01-01}, tolerations: {}", EVERY_TAINT, ACTION_DENY, 1},
        {"accelerators: {since: 2026-01-01}, tolerations: {since: 2026-01-01}", EVERY_TAINT,
         ACTION_WARN, 1},
        {"accelerators: {since: 2026-01-01}, tolerations: {since: 2026-01-01}", "", ACTION_WARN, 1},
    };
    static const char pod[] = "{apiVersion: v1, kind: Pod, metadata: {name: p, " OF(
        "apps/v1", "ReplicaSet", "web-1", "r1") "}, spec: " SPEC(EVERY_TAINT) "}";
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        struct text cluster = arena_printf(
            arena, DEPLOYMENT(OLD, "%s", STEADY) REPLICA_SET("web-1", "r1", YOUNG, "%s"),
            EVERY_TAINT, rows[i].maker_keys);
        struct text spec = arena_printf(arena, "rails: {%s}", rows[i].rails);
        struct world world = world_of(cluster.data, spec.data, arena);
        struct verdict verdict = judge(&world, pod, MANAGER, arena);
        if (verdict.action != rows[i].action || verdict.finding_count != rows[i].findings)
            fprintf(stderr, "case %zu\n", i);
        ASSERT_INT(verdict.action, rows[i].action);
        ASSERT_INT(verdict.finding_count, rows[i].findings);
        arena_destroy(arena);
    }
}

/* A verdict waits for an owner where something hangs on it. */
static void an_owner_is_waited_for_where_something_hangs_on_it(void)
{
#define POD_WITH(spec)                                                                      \
    "{apiVersion: v1, kind: Pod, metadata: {name: p, " OF("apps/v1", "ReplicaSet", "web-1", \
                                                          "r1") "}, spec: " SPEC(spec) "}"
#define TWO_RAILS(keys) "since: 2026-01-01, rails: {accelerators: {}, tolerations: {" keys "}}"
#define EXCEPTION(match)                                                                      \
    "exceptions: [{id: EX-1, rails: [topology-keys], match: " match ", owner: o, reason: r, " \
    "expires: 2999-01-01}], "
#define RAILS "rails: {topology-keys: {}}"
    static const struct {
        const char *spec, *cluster, *object, *user;
        enum kind awaited;
    } rows[] = {
        {SINCE, "", POD, MANAGER, KIND_REPLICA_SET},
        {RAILS, "", POD, MANAGER, 0},
        {EXCEPTION("{names: [web]}") RAILS, "", POD, MANAGER, KIND_REPLICA_SET},
        {EXCEPTION("{namespaces: [a]}") RAILS, "", POD, MANAGER, 0},
        {"match: {names: [web]}, " RAILS, "", POD, MANAGER, KIND_REPLICA_SET},
        /* nothing is found, or nothing that denies */
        {SINCE, "",
         "{apiVersion: v1, kind: Pod, metadata: {name: p, " OF("apps/v1", "ReplicaSet", "a",
                                                               "b") "}, spec: {}}",
         MANAGER, 0},
        {"since: 2026-01-01, rails: {topology-keys: {mode: warn}}", "", POD, MANAGER, 0},
        /* a rail that weighs another finds nothing by that */
        {TWO_RAILS(""), "", POD_WITH("], containers: [{name: a}"), MANAGER, 0},
        {TWO_RAILS(""), "", POD_WITH(EVERY_TAINT), MANAGER, KIND_REPLICA_SET},
        {TWO_RAILS("allow: ['*']"), "", POD_WITH(EVERY_TAINT "], nodeSelector: {a: b}, x: ["),
         MANAGER, 0},
        {TWO_RAILS("allow: ['*']"), "", POD_WITH(EVERY_TAINT), MANAGER, KIND_REPLICA_SET},
        /* a person has no owner to wait for */
        {SINCE, "", POD, "jane", 0},
        /* the next one above */
        {SINCE, REPLICA_SET("web-1", "r1", YOUNG, ""), POD, MANAGER, KIND_DEPLOYMENT},
        {SINCE, DEPLOYMENT(YOUNG, "", "") REPLICA_SET("web-1", "r1", YOUNG, ""), POD, MANAGER, 0},
        {SINCE, REPLICA_SET_OF("web-1", "r1", YOUNG, "", ""), POD, MANAGER, 0},
        /* what its controller makes is not denied, and waits for nothing */
        {SINCE, "", REPLICA_SET("web-1", "r1", YOUNG, KEY("zone")), MANAGER, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        struct world world = world_of(rows[i].cluster, rows[i].spec, arena);
        struct verdict verdict = judge(&world, rows[i].object, rows[i].user, arena);
        if (verdict.awaited.kind != rows[i].awaited)
            fprintf(stderr, "case %zu\n", i);
        ASSERT_INT(verdict.awaited.kind, rows[i].awaited);
        world.unseen = KIND_BIT(KIND_REPLICA_SET) | KIND_BIT(KIND_DEPLOYMENT);
        ASSERT_INT(judge(&world, rows[i].object, rows[i].user, arena).awaited.kind, 0);
        arena_destroy(arena);
    }
}

/* A person's ReplicaSet below a Deployment with an exception, and the Pods of one that got in. */
static void an_exception_is_the_root_owners(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    const char *spec = EXCEPTION("{names: [web]}") RAILS;
    struct world world =
        world_of(DEPLOYMENT(OLD, "", STEADY) REPLICA_SET("web-1", "r1", OLD, KEY("zone"))
                     REPLICA_SET_OF("web-2", "r2", OLD, KEY("zone"),
                                    OF("apps/v1", "StatefulSet", "web", "d1")),
                 spec, arena);
    ASSERT_INT(judge(&world, POD, MANAGER, arena).action, ACTION_EXCEPTED);
    ASSERT_INT(judge(&world, POD_OF("ReplicaSet", "apps/v1", "web-2", "r2"), MANAGER, arena).action,
               ACTION_DENY);
    static const char forged[] = REPLICA_SET("web-9", "r9", YOUNG, KEY("zone"));
    ASSERT_INT(judge(&world, forged, "jane", arena).action, ACTION_DENY);
    ASSERT_INT(judge(&world, forged, MANAGER, arena).action, ACTION_EXCEPTED);
    arena_destroy(arena);
}

const char unit_suite[] = "policy since";
const struct unit_test unit_tests[] = {
    {"pods are spared for their owner", pods_are_spared_for_their_owner},
    {"so many ReplicaSets are asked", so_many_replica_sets_are_asked},
    {"templates are compared whole", templates_are_compared_whole},
    {"a template is compared where nothing is said of it",
     a_template_is_compared_where_nothing_is_said_of_it},
    {"what is said at load is not said again", what_is_said_at_load_is_not_said_again},
    {"a custom owner passes on nothing", a_custom_owner_passes_on_nothing},
    {"rails are spared one by one", rails_are_spared_one_by_one},
    {"a rail that spares leaves it to the other", a_rail_that_spares_leaves_it_to_the_other},
    {"an owner is waited for where something hangs on it",
     an_owner_is_waited_for_where_something_hangs_on_it},
    {"an exception is the root owner's", an_exception_is_the_root_owners},
    {NULL, NULL},
};
