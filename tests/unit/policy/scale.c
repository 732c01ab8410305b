/* Replicas set by the subresource scale: judged at the workload that has them. */
#include "rail_table.h"

#define WORKLOAD(api, kind, name, more)                                                          \
    "{apiVersion: " api ", kind: " kind ", metadata: {name: " name                               \
    ", namespace: default, uid: u-" name "}, spec: {replicas: 1, template: {metadata: {labels: " \
    "{app: a}}, spec: {containers: [{name: main}]" more "}}}}\n---\n"
#define SPREAD                                                                              \
    ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, " \
    "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: a}}}]"
#define DISK ", volumes: [{name: d, persistentVolumeClaim: {claimName: disk}}]"

static const char cluster[] = WORKLOAD("apps/v1", "Deployment", "web", "")
    WORKLOAD("apps/v1", "ReplicaSet", "web", "") WORKLOAD("apps/v1", "StatefulSet", "web", "")
        WORKLOAD("v1", "ReplicationController", "web", "") WORKLOAD("apps/v1", "Deployment",
                                                                    "spread", SPREAD)
            WORKLOAD("apps/v1", "Deployment", "disk",
                     SPREAD DISK) "{apiVersion: apps/v1, kind: Deployment, metadata: {name: bare, "
                                  "namespace: default}, spec: "
                                  "{replicas: 1, template: {metadata: {labels: {app: a}}}}}\n---\n"
                                  "{apiVersion: apps/v1, kind: Deployment, metadata: {name: empty, "
                                  "namespace: default}}\n---\n"
                                  "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: "
                                  "disk, namespace: default}, "
                                  "spec: {accessModes: [ReadWriteOnce]}}\n";

#define NODE_POOL(name, replicas)                                                                \
    "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: "      \
    "{replicas: " replicas ", template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: " \
    "EC2NodeClass, name: d}, requirements: []}}}}\n"
static const char node_pools[] = NODE_POOL("fixed", "3") NODE_POOL("other", "8");

#define NOT_SPREAD "spec.template.spec.topologySpreadConstraints "
#define SHARED "spec.template.spec.volumes[0].persistentVolumeClaim.claimName disk"
#define HPA "system:serviceaccount:kube-system:horizontal-pod-autoscaler"

struct scale_case {
    enum kind kind;
    const char *name, *user;
    const char *before, *after; /* specs of the Scales */
    const char *findings;
};

static struct object *scale_of(const char *name, const char *spec, struct arena *arena)
{
    struct text yaml = arena_printf(arena,
                                    "{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: "
                                    "%s, namespace: default}, spec: %s}",
                                    name, spec);
    return rail_table_read(yaml.data, arena).items;
}

static void run_each_in(const char *state, const char *rails, const struct scale_case *rows,
                        size_t count)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world(rails, state, arena);
    for (size_t i = 0; i < count; i++) {
        const struct scale_case *row = &rows[i];
        struct subject subject = {
            .operation = OPERATION_UPDATE,
            .object = scale_of(row->name, row->after, arena),
            .old_object = row->before == NULL ? NULL : scale_of(row->name, row->before, arena),
            .subresource = TEXT("scale"),
            .resource_kind = row->kind,
            .requester = {.name = text_of(row->user)},
        };
        struct verdict verdict;
        subject_of_scale(&world, arena, &subject);
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        struct text_builder lines = {.arena = arena};
        for (size_t j = 0; j < verdict.finding_count; j++) {
            const struct finding *finding = &verdict.findings[j];
            text_builder_printf(&lines, "%s%s %.*s %.*s", j == 0 ? "" : "\n",
                                finding->undecided ? "undecided" : action_name(finding->action),
                                TEXT_ARGS(finding->path), TEXT_ARGS(finding->found));
        }
        struct text found = text_builder_text(&lines);
        if (!text_is(found, row->findings))
            fprintf(stderr, "%s %s from %s to %s by %s\n", kind_table[row->kind].name, row->name,
                    row->before, row->after, row->user);
        ASSERT_TEXT(found, row->findings);
    }
    arena_destroy(arena);
}

static void run_each(const char *rails, const struct scale_case *rows, size_t count)
{
    run_each_in(cluster, rails, rows, count);
}

/* As no API server sends them. */
static void a_review_without_its_objects_scales_nothing(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("zone-spread: {}", cluster, arena);
    const struct object *scale = scale_of("web", "{replicas: 3}", arena);
    const struct object *const objects[][2] = {{NULL, scale}, {scale, NULL}, {NULL, NULL}};
    for (size_t i = 0; i < COUNT_OF(objects); i++) {
        struct subject subject = {.operation = OPERATION_UPDATE,
                                  .subresource = TEXT("scale"),
                                  .resource_kind = KIND_DEPLOYMENT,
                                  .object = objects[i][0],
                                  .old_object = objects[i][1]};
        subject_of_scale(&world, arena, &subject);
        CU_ASSERT_PTR_EQUAL(subject.object, objects[i][0]);
        CU_ASSERT_PTR_EQUAL(subject.old_object, objects[i][1]);
    }
    arena_destroy(arena);
}

static void what_is_scaled_is_judged(void)
{
    static const struct scale_case rows[] = {
        {KIND_DEPLOYMENT, "web", "jane", "{replicas: 1}", "{replicas: 3}", "deny " NOT_SPREAD},
        {KIND_REPLICA_SET, "web", "jane", "{replicas: 1}", "{replicas: 3}", "deny " NOT_SPREAD},
        {KIND_STATEFUL_SET, "web", "jane", "{replicas: 1}", "{replicas: 3}", "deny " NOT_SPREAD},
        {KIND_REPLICATION_CONTROLLER, "web", "jane", "{replicas: 1}", "{replicas: 3}",
         "deny " NOT_SPREAD},
        {KIND_DEPLOYMENT, "web", "jane", "{}", "{replicas: 2}", "deny " NOT_SPREAD},
        /* zero is left out, null is none, and other words no API server takes */
        {KIND_DEPLOYMENT, "web", "jane", "{replicas: null}", "{replicas: 2}", "deny " NOT_SPREAD},
        {KIND_DEPLOYMENT, "web", "jane", "{replicas: 3}", "{}", ""},
        {KIND_DEPLOYMENT, "web", "jane", "{replicas: 1}", "{replicas: many}", ""},
        {KIND_DEPLOYMENT, "web", "jane", "{replicas: 1}", "{replicas: -5}", ""},
        {KIND_DEPLOYMENT, "web", "jane", "{replicas: 0}", "{replicas: 1}", ""},
        {KIND_DEPLOYMENT, "spread", "jane", "{replicas: 1}", "{replicas: 3}", ""},
        {KIND_DEPLOYMENT, "disk", "jane", "{replicas: 1}", "{replicas: 3}", "deny " SHARED},
        /* how it is updated is not its scale's business */
        {KIND_DEPLOYMENT, "disk", "jane", "{replicas: 0}", "{replicas: 1}", ""},
        /* what was wrong before, with as many or fewer */
        {KIND_DEPLOYMENT, "web", "jane", "{replicas: 2}", "{replicas: 5}", "audit " NOT_SPREAD},
        {KIND_DEPLOYMENT, "web", "jane", "{replicas: 5}", "{replicas: 2}", "audit " NOT_SPREAD},
        {KIND_DEPLOYMENT, "disk", "jane", "{replicas: 2}", "{replicas: 5}", "audit " SHARED},
        /* controllers */
        {KIND_DEPLOYMENT, "web", HPA, "{replicas: 1}", "{replicas: 3}", "audit " NOT_SPREAD},
        {KIND_DEPLOYMENT, "disk", HPA, "{replicas: 1}", "{replicas: 3}", "audit " SHARED},
        {KIND_DEPLOYMENT, "web", "system:serviceaccount:team:horizontal-pod-autoscaler",
         "{replicas: 1}", "{replicas: 3}", "deny " NOT_SPREAD},
        /* one without a spec, which the API server lets nobody have */
        {KIND_DEPLOYMENT, "empty", "jane", "{replicas: 1}", "{replicas: 3}", ""},
        /* kinds that have no scale, or that nobody knows */
        {KIND_DAEMON_SET, "web", "jane", "{replicas: 1}", "{replicas: 3}", ""},
        {KIND_UNKNOWN, "web", "jane", "{replicas: 1}", "{replicas: 3}", ""},
        {KIND_DEPLOYMENT, "web", "jane", NULL, "{replicas: 3}", ""},
    };
    run_each("zone-spread: {}, shared-volume: {mode: enforce}", rows, COUNT_OF(rows));
    /* Other rails have nothing to say of how many there are. */
    static const struct scale_case others[] = {
        {KIND_DEPLOYMENT, "web", "jane", "{replicas: 1}", "{replicas: 3}", ""},
        {KIND_DEPLOYMENT, "gone", "jane", "{replicas: 1}", "{replicas: 3}", ""},
    };
    run_each("resource-requests: {}, placeable: {mode: enforce}", others, COUNT_OF(others));
}

static void a_pool_of_a_fixed_size_is_judged(void)
{
    static const struct scale_case rows[] = {
        {KIND_NODE_POOL, "fixed", "jane", "{replicas: 3}", "{replicas: 7}", ""},
        {KIND_NODE_POOL, "fixed", "jane", "{replicas: 3}", "{replicas: 8}", "deny spec.replicas 8"},
        {KIND_NODE_POOL, "fixed", "jane", "{replicas: 3}", "{replicas: 11}",
         "deny spec.replicas 11"},
        {KIND_NODE_POOL, "gone", "jane", "{replicas: 3}", "{replicas: 11}",
         "deny spec.replicas 11"},
        {KIND_NODE_POOL, "fixed", "jane", "{replicas: 11}", "{replicas: 11}",
         "audit spec.replicas 11"},
        /* fewer than too many */
        {KIND_NODE_POOL, "fixed", "jane", "{replicas: 12}", "{replicas: 11}",
         "audit spec.replicas 11"},
        {KIND_NODE_POOL, "fixed", "jane", "{replicas: 11}", "{replicas: 3}", ""},
    };
    run_each_in(node_pools, "pool-limits: {max: {nodes: 10}, maxTotal: {nodes: 15}}", rows,
                COUNT_OF(rows));
}

static void what_is_not_seen_is_undecided(void)
{
    static const struct scale_case rows[] = {
        {KIND_DEPLOYMENT, "gone", "jane", "{replicas: 1}", "{replicas: 3}",
         "undecided spec.replicas 3"},
        {KIND_DEPLOYMENT, "bare", "jane", "{replicas: 1}", "{replicas: 3}",
         "undecided spec.replicas 3"},
        {KIND_STATEFUL_SET, "spread", "jane", "{replicas: 1}", "{replicas: 3}",
         "undecided spec.replicas 3"},
        {KIND_DEPLOYMENT, "gone", "jane", "{replicas: 3}", "{replicas: 2}", ""},
        {KIND_DEPLOYMENT, "gone", "jane", "{replicas: 3}", "{replicas: 3}", ""},
        {KIND_DEPLOYMENT, "gone", "jane", "{}", "{replicas: 1}", ""},
    };
    run_each("zone-spread: {}", rows, COUNT_OF(rows));
}

/* Another workload of the name is not the one that is scaled. */
static void a_workload_is_known_by_its_uid(void)
{
    struct arena *arena = arena_create((size_t)32 << 20);
    struct world world = rail_table_world("zone-spread: {}", cluster, arena);
    static const struct {
        const char *uid;
        bool unseen;
    } rows[] = {{"u-web", false}, {"", false}, {"u-other", true}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct object *after = scale_of("web", "{replicas: 3}", arena);
        after->uid = text_of(rows[i].uid);
        struct subject subject = {.operation = OPERATION_UPDATE,
                                  .object = after,
                                  .old_object = scale_of("web", "{replicas: 1}", arena),
                                  .subresource = TEXT("scale"),
                                  .resource_kind = KIND_DEPLOYMENT};
        subject_of_scale(&world, arena, &subject);
        ASSERT_TEXT(subject.object->kind_name, "Deployment");
        ASSERT_TEXT(subject.object->api_version, "apps/v1");
        ASSERT_TEXT(subject.object->name, "web");
        ASSERT_INT(subject.template_unseen, rows[i].unseen);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "policy scale";
const struct unit_test unit_tests[] = {
    {"a review without its objects scales nothing", a_review_without_its_objects_scales_nothing},
    {"what is scaled is judged", what_is_scaled_is_judged},
    {"a pool of a fixed size is judged", a_pool_of_a_fixed_size_is_judged},
    {"what is not seen is undecided", what_is_not_seen_is_undecided},
    {"a workload is known by its uid", a_workload_is_known_by_its_uid},
    {NULL, NULL},
};
