/* A HorizontalPodAutoscaler that comes or changes: judged at the workload that it scales, and told
 * of where it says how many. */
#include "rail_table.h"

#define WORKLOAD(kind, name, replicas, spec)                                                   \
    "---\n{apiVersion: apps/v1, kind: " kind ", metadata: {name: " name                        \
    ", namespace: default}, spec: {" replicas                                                  \
    "selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {" spec \
    "containers: [{name: main, image: a}]}}}}\n"
#define SPREAD                                                                            \
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, " \
    "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: a}}}], "
#define DISK "volumes: [{name: d, persistentVolumeClaim: {claimName: disk}}], "
#define AUTOSCALER(name, more, target, bounds)                                            \
    "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: " name  \
    ", namespace: default" more "}, spec: {scaleTargetRef: {apiVersion: apps/v1, " target \
    "}, " bounds "}}"
#define SCALER(target, bounds) AUTOSCALER("scaler", "", target, bounds)
#define WEB "kind: Deployment, name: web"

static const char cluster[] = WORKLOAD("Deployment", "web", "replicas: 1, ", "")
    WORKLOAD("StatefulSet", "web", "", "") WORKLOAD("Deployment", "several", "replicas: 3, ", "")
        WORKLOAD("Deployment", "asleep", "replicas: 0, ",
                 "") "---\n{apiVersion: apps/v1, kind: "
                     "Deployment, metadata: {name: empty, namespace: default}}\n" WORKLOAD(
                         "Deployment", "spread", "replicas: 1, ",
                         SPREAD) WORKLOAD("Deployment", "disk", "replicas: 1, ", SPREAD DISK)
                         WORKLOAD("Deployment", "taken", "replicas: 1, ", "") "---\n" AUTOSCALER(
                             "first", "", "kind: Deployment, name: taken",
                             "maxReplicas: 3") "\n"
                                               "---\n{apiVersion: v1, kind: PersistentVolumeClaim, "
                                               "metadata: {name: disk, namespace: default},"
                                               " spec: {accessModes: [ReadWriteOnce]}}\n";

struct scaling {
    const char *before, *after; /* before NULL: it is created */
    const char *findings;
    const char *user;
};

static void run(const struct world *world, const struct scaling *rows, size_t count,
                struct arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        const struct scaling *row = &rows[i];
        struct rail_documents after = rail_table_read(row->after, arena);
        struct subject subject = {.operation = OPERATION_CREATE,
                                  .object = &after.items[0],
                                  .requester = {.name = text_of(row->user)}};
        struct rail_documents before = {0};
        if (row->before != NULL) {
            before = rail_table_read(row->before, arena);
            subject.operation = OPERATION_UPDATE;
            subject.old_object = &before.items[0];
        }
        struct verdict verdict;
        policy_evaluate(world, &subject, 0, arena, &verdict);
        struct text_builder lines = {.arena = arena};
        for (size_t j = 0; j < verdict.finding_count; j++) {
            const struct finding *finding = &verdict.findings[j];
            text_builder_printf(&lines, "%s%s %s %.*s %.*s", j == 0 ? "" : "\n",
                                finding->undecided ? "undecided" : action_name(finding->action),
                                finding->rail, TEXT_ARGS(finding->path), TEXT_ARGS(finding->found));
        }
        struct text found = text_builder_text(&lines);
        if (!text_is(found, row->findings))
            fprintf(stderr, "%s\nafter %s\n", row->after, row->before);
        ASSERT_TEXT(found, row->findings);
    }
}

static void run_in(const char *rails, const char *objects, bool live, const struct scaling *rows,
                   size_t count)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world(rails, objects, arena);
    world.live = live;
    run(&world, rows, count, arena);
    arena_destroy(arena);
}

#define RAILS "zone-spread: {}, shared-volume: {mode: enforce}"
#define SPREAD_AT "zone-spread spec.maxReplicas "

static void what_it_may_set_is_judged(void)
{
    static const struct scaling rows[] = {
        {NULL, SCALER(WEB, "maxReplicas: 4"), "deny " SPREAD_AT "4", ""},
        {NULL, SCALER("kind: StatefulSet, name: web", "maxReplicas: 4"), "deny " SPREAD_AT "4", ""},
        {NULL, SCALER(WEB, "minReplicas: 1, maxReplicas: 1"), "", ""},
        {NULL, SCALER("kind: Deployment, name: spread", "maxReplicas: 4"), "", ""},
        {NULL, SCALER("kind: Deployment, name: disk", "maxReplicas: 4"),
         "deny shared-volume spec.maxReplicas 4", ""},
        /* what was so before */
        {NULL, SCALER("kind: Deployment, name: several", "maxReplicas: 4"), "audit " SPREAD_AT "4",
         ""},
        {SCALER(WEB, "maxReplicas: 1"), SCALER(WEB, "maxReplicas: 4"), "deny " SPREAD_AT "4", ""},
        {SCALER(WEB, "maxReplicas: 3"), SCALER(WEB, "maxReplicas: 9"), "audit " SPREAD_AT "9", ""},
        {SCALER(WEB, "maxReplicas: 9"), SCALER(WEB, "maxReplicas: 1"), "", ""},
        {SCALER("kind: Deployment, name: spread", "maxReplicas: 9"), SCALER(WEB, "maxReplicas: 9"),
         "deny " SPREAD_AT "9", ""},
        {SCALER("kind: StatefulSet, name: web", "maxReplicas: 9"), SCALER(WEB, "maxReplicas: 9"),
         "deny " SPREAD_AT "9", ""},
        /* one that said no number was none */
        {SCALER(WEB, "minReplicas: 5"), SCALER(WEB, "maxReplicas: 9"), "deny " SPREAD_AT "9", ""},
        /* a workload without a spec, which the API server lets nobody have */
        {NULL, SCALER("kind: Deployment, name: empty", "maxReplicas: 4"), "", ""},
        /* an autoscaler that does nothing */
        {NULL, SCALER("kind: Deployment, name: asleep", "maxReplicas: 4"), "", ""},
        {NULL, SCALER("kind: Deployment, name: asleep", "minReplicas: 0, maxReplicas: 4"),
         "deny " SPREAD_AT "4", ""},
        {NULL, SCALER("kind: Deployment, name: taken", "maxReplicas: 4"), "", ""},
        {NULL, SCALER(WEB, "minReplicas: 5, maxReplicas: 4"), "", ""},
        {NULL, SCALER(WEB, "minReplicas: 5"), "", ""},
        {NULL, SCALER("kind: DaemonSet, name: web", "maxReplicas: 4"), "", ""},
        {NULL, SCALER("kind: Rollout, name: web", "maxReplicas: 4"), "", ""},
        {NULL,
         AUTOSCALER("scaler", ", deletionTimestamp: '2026-01-01T00:00:00Z'", WEB, "maxReplicas: 4"),
         "", ""},
        /* nobody reads what a controller is told */
        {NULL, SCALER(WEB, "maxReplicas: 4"), "audit " SPREAD_AT "4",
         "system:serviceaccount:kube-system:helm"},
    };
    run_in(RAILS, cluster, true, rows, COUNT_OF(rows));
    /* the one that is there under its name gives way to it */
    static const struct scaling again[] = {
        {AUTOSCALER("first", "", "kind: Deployment, name: taken", "maxReplicas: 1"),
         AUTOSCALER("first", "", "kind: Deployment, name: taken", "maxReplicas: 4"),
         "deny " SPREAD_AT "4", ""}};
    run_in(RAILS, cluster, true, again, 1);
    static const struct scaling others[] = {{NULL, SCALER(WEB, "maxReplicas: 4"), "", ""}};
    run_in("resource-requests: {}, placeable: {mode: enforce}", cluster, true, others, 1);
}

static void a_workload_that_is_not_seen(void)
{
    static const struct scaling absent[] = {
        {NULL, SCALER("kind: Deployment, name: later", "maxReplicas: 4"), "", ""}};
    run_in("zone-spread: {}", cluster, true, absent, 1);
    static const struct scaling unseen[] = {
        {NULL, SCALER("kind: Deployment, name: later", "maxReplicas: 4"),
         "undecided " SPREAD_AT "4", ""},
        {NULL, SCALER("kind: Deployment, name: later", "maxReplicas: 1"), "", ""},
        {SCALER("kind: Deployment, name: later", "maxReplicas: 5"),
         SCALER("kind: Deployment, name: later", "maxReplicas: 4"), "", ""},
    };
    run_in("zone-spread: {}", NULL, false, unseen, COUNT_OF(unseen));
    /* nor of a cluster whose workloads may not be listed */
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("zone-spread: {}", NULL, arena);
    world.live = true;
    world.unseen = KIND_BIT(KIND_DEPLOYMENT);
    run(&world, unseen, COUNT_OF(unseen), arena);
    arena_destroy(arena);
    /* one rail tells for all */
    static const struct scaling once[] = {
        {NULL, SCALER("kind: Deployment, name: later", "maxReplicas: 4"),
         "undecided shared-volume spec.maxReplicas 4", ""}};
    run_in(RAILS, NULL, false, once, 1);
}

/* With both in one change the workload tells. */
static void it_leaves_to_a_workload_that_comes_with_it(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("zone-spread: {}", NULL, arena);
    struct snapshot_builder *builder = snapshot_builder_create(arena);
    struct rail_documents documents = rail_table_read(WORKLOAD("Deployment", "web", "", ""), arena);
    documents.items[0].origin = ORIGIN_CHANGE;
    snapshot_put(builder, &documents.items[0]);
    world.snapshot = snapshot_build(builder);
    static const struct scaling rows[] = {{NULL, SCALER(WEB, "maxReplicas: 4"), "", ""}};
    run(&world, rows, 1, arena);
    arena_destroy(arena);
}

static void what_is_there_is_the_workloads(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("zone-spread: {}", cluster, arena);
    struct rail_documents documents = rail_table_read(SCALER(WEB, "maxReplicas: 4"), arena);
    struct subject subject = {
        .operation = OPERATION_CREATE, .object = &documents.items[0], .existing = true};
    struct verdict verdict;
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    ASSERT_INT(verdict.finding_count, 0);
    arena_destroy(arena);
}

static void it_says_which_workload(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("zone-spread: {}", cluster, arena);
    struct rail_documents documents = rail_table_read(SCALER(WEB, "maxReplicas: 4"), arena);
    struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
    struct verdict verdict;
    policy_evaluate_within(&world, &subject, 0, arena, &verdict);
    ASSERT_INT(verdict.finding_count, 1);
    ASSERT_TEXT(verdict.findings[0].problem,
                "Deployment web may have 4 replicas. "
                "spec.template.spec.topologySpreadConstraints: Nothing spreads the replicas over "
                "zones, so they may all be in one.");
    ASSERT_TEXT(verdict.findings[0].replacement, "");
    arena_destroy(arena);
}

const char unit_suite[] = "policy autoscaler subject";
const struct unit_test unit_tests[] = {
    {"what it may set is judged", what_it_may_set_is_judged},
    {"a workload that is not seen", a_workload_that_is_not_seen},
    {"it leaves to a workload that comes with it", it_leaves_to_a_workload_that_comes_with_it},
    {"what is there is the workload's", what_is_there_is_the_workloads},
    {"it says which workload", it_says_which_workload},
    {NULL, NULL},
};
