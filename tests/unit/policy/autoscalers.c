/* Rails that count replicas: of a workload with a HorizontalPodAutoscaler its bounds count. */
#include "kube/autoscaler.h"
#include "rail_modes.h"
#include "rail_table.h"

#define AUTOSCALER(name, target, bounds)                                                      \
    "---\n{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: " name \
    "}, spec: {scaleTargetRef: {" target "}, " bounds "}}\n"
#define OF_WEB "apiVersion: apps/v1, kind: Deployment, name: web"
#define WORKLOAD(kind, name, replicas, spec)                                                  \
    "---\n{apiVersion: apps/v1, kind: " kind ", metadata: {name: " name "}, spec: {" replicas \
    "selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: "  \
    "{" spec "}}}}\n"
#define WEB(replicas, spec) WORKLOAD("Deployment", "web", replicas, spec)

/* ---- how many ---- */

static void check_replicas(const char *autoscalers, const char *workload, struct replicas expected)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("zone-spread: {}", autoscalers, arena);
    struct rail_documents documents = rail_table_read(workload, arena);
    struct replicas found = replicas_read(world.snapshot, &documents.items[0]);
    ASSERT_INT(found.least, expected.least);
    ASSERT_INT(found.most, expected.most);
    CU_ASSERT_EQUAL(found.said, expected.said);
    CU_ASSERT_EQUAL(found.autoscaler != NULL, expected.autoscaler != NULL);
    arena_destroy(arena);
}

static void the_bounds_are_the_autoscalers(void)
{
    static const struct object some;
    static const struct {
        const char *autoscalers, *workload;
        struct replicas expected;
    } cases[] = {
        {NULL, WEB("replicas: 3, ", ""), {3, 3, true, NULL}},
        {NULL, WEB("", ""), {1, 1, false, NULL}},
        {NULL, WEB("replicas: -3, ", ""), {0, 0, true, NULL}},
        {NULL, WEB("replicas: 9223372036854775807, ", ""), {INT32_MAX, INT32_MAX, true, NULL}},
        {AUTOSCALER("a", OF_WEB, "maxReplicas: 9"), WEB("", ""), {1, 9, true, &some}},
        {AUTOSCALER("a", OF_WEB, "minReplicas: 2, maxReplicas: 9"),
         WEB("replicas: 5, ", ""),
         {2, 9, true, &some}},
        /* more than it may have it has no longer */
        {AUTOSCALER("a", OF_WEB, "minReplicas: 2, maxReplicas: 4"),
         WEB("replicas: 50, ", ""),
         {2, 4, true, &some}},
        /* at 0 it is off, unless it may go down to 0 by itself */
        {AUTOSCALER("a", OF_WEB, "maxReplicas: 9"), WEB("replicas: 0, ", ""), {0, 0, true, NULL}},
        {AUTOSCALER("a", OF_WEB, "minReplicas: 0, maxReplicas: 9"),
         WEB("replicas: 0, ", ""),
         {0, 9, true, &some}},
        /* of others */
        {AUTOSCALER("a", "apiVersion: apps/v1, kind: Deployment, name: other", "maxReplicas: 9"),
         WEB("", ""),
         {1, 1, false, NULL}},
        {AUTOSCALER("a", "apiVersion: apps/v1, kind: StatefulSet, name: web", "maxReplicas: 9"),
         WEB("", ""),
         {1, 1, false, NULL}},
        {AUTOSCALER("a", "apiVersion: apps/v1, kind: StatefulSet, name: web", "maxReplicas: 9"),
         WORKLOAD("StatefulSet", "web", "", ""),
         {1, 9, true, &some}},
        {AUTOSCALER("a, namespace: other", OF_WEB, "maxReplicas: 9"),
         WEB("", ""),
         {1, 1, false, NULL}},
        {AUTOSCALER("a, deletionTimestamp: '2026-01-01T00:00:00Z'", OF_WEB, "maxReplicas: 9"),
         WEB("", ""),
         {1, 1, false, NULL}},
        /* two of one workload stop each other */
        {AUTOSCALER("a", OF_WEB, "maxReplicas: 9") AUTOSCALER("b", OF_WEB, "maxReplicas: 8"),
         WEB("replicas: 2, ", ""),
         {2, 2, true, NULL}},
        /* among several */
        {AUTOSCALER("a", "apiVersion: apps/v1, kind: Deployment, name: a",
                    "maxReplicas: 7") AUTOSCALER("b", OF_WEB, "maxReplicas: 8")
             AUTOSCALER("c", "apiVersion: apps/v1, kind: Deployment, name: z", "maxReplicas: 9"),
         WEB("replicas: 2, ", ""),
         {1, 8, true, &some}},
        /* what the API server would not take */
        {AUTOSCALER("a", OF_WEB, "minReplicas: 1"), WEB("", ""), {1, 1, false, NULL}},
        {AUTOSCALER("a", OF_WEB, "minReplicas: 4, maxReplicas: 3"),
         WEB("", ""),
         {1, 1, false, NULL}},
        {AUTOSCALER("a", "kind: Deployment, name: web", "maxReplicas: 9"),
         WEB("", ""),
         {1, 1, false, NULL}},
        {AUTOSCALER("a", "", "maxReplicas: 9"), WEB("", ""), {1, 1, false, NULL}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_replicas(cases[i].autoscalers, cases[i].workload, cases[i].expected);
}

/* ---- who counts with it ---- */

static void replicas_to_come_are_spread(void)
{
    static const char autoscaler[] = AUTOSCALER("web", OF_WEB, "minReplicas: 1, maxReplicas: 4");
    static const struct rail_case cases[] = {
        {WEB("", ""), "deny spec.template.spec.topologySpreadConstraints "},
        {WEB("replicas: 1, ", ""), "deny spec.template.spec.topologySpreadConstraints "},
        {WEB("replicas: 0, ", ""), ""},
        {WORKLOAD("Deployment", "other", "replicas: 1, ", ""), ""},
    };
    rail_table_run(
        &(struct rail_table){"zone-spread: {minReplicas: 4}", autoscaler, cases, COUNT_OF(cases)});
    static const struct rail_case few[] = {{WEB("replicas: 9, ", ""), ""}};
    rail_table_run(&(struct rail_table){"zone-spread: {minReplicas: 5}", autoscaler, few, 1});
}

#define MOUNTS "volumes: [{name: v, persistentVolumeClaim: {claimName: disk}}]"

static void replicas_to_come_mount_a_disk(void)
{
    static const char cluster[] =
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: disk}, spec: {accessModes: "
        "[ReadWriteOnce]}}\n" AUTOSCALER("web", OF_WEB, "minReplicas: 1, maxReplicas: 4");
    static const struct rail_case cases[] = {
        {WEB("strategy: {type: Recreate}, replicas: 1, ", MOUNTS),
         "deny spec.template.spec.volumes[0].persistentVolumeClaim.claimName disk"},
        {WORKLOAD("Deployment", "other", "strategy: {type: Recreate}, replicas: 1, ", MOUNTS), ""},
    };
    rail_table_run(
        &(struct rail_table){"shared-volume: {mode: enforce}", cluster, cases, COUNT_OF(cases)});
}

#define BUDGET(share)                                                                             \
    "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {selector: " \
    "{matchLabels: {app: web}}, minAvailable: " share "}}"
#define LEAST "spec.minAvailable "

static void budgets_reckon_with_the_bounds(void)
{
    static const char cluster[] =
        WEB("replicas: 2, ", "") AUTOSCALER("scaler", OF_WEB, "minReplicas: 2, maxReplicas: 6");
    static const struct rail_case cases[] = {
        {BUDGET("1"), ""},
        {BUDGET("50%"), ""},
        {BUDGET("2"), "warn " LEAST "2"},
        {BUDGET("5"), "warn " LEAST "5"},
        {BUDGET("6"), "deny " LEAST "6"},
        {BUDGET("51%"), "warn " LEAST "51%"},
        {BUDGET("84%"), "deny " LEAST "84%"},
    };
    rail_table_run(
        &(struct rail_table){"pod-disruption-budgets: {}", cluster, cases, COUNT_OF(cases)});
#define FEWEST                                                                                 \
    "HorizontalPodAutoscaler scaler may leave 2 pods of Deployment web, and then none may be " \
    "evicted."
#define KEEP(count) "Set its minReplicas to " count " at least, or write maxUnavailable: 1 instead."
    static const struct rail_words words[] = {
        {BUDGET("2"), FEWEST, KEEP("3")},
        {BUDGET("51%"), FEWEST, KEEP("3")},
        {BUDGET("6"), "6 must stay and Deployment web has at most 6, so none may ever be evicted.",
         "Write maxUnavailable: 1 instead, and run two replicas or more where one must always "
         "run."},
    };
    rail_words_run("pod-disruption-budgets: {}", cluster, words, COUNT_OF(words));
    /* beside three that nobody scales */
    static const struct rail_words beside = {
        BUDGET("5"),
        "HorizontalPodAutoscaler scaler may leave 2 pods of Deployment web, and then none may be "
        "evicted.",
        KEEP("3")};
    rail_words_run("pod-disruption-budgets: {}",
                   WEB("", "") WORKLOAD("Deployment", "fixed", "replicas: 3, ", "")
                       AUTOSCALER("scaler", OF_WEB, "minReplicas: 2, maxReplicas: 6"),
                   &beside, 1);
}

const char unit_suite[] = "policy autoscalers";
const struct unit_test unit_tests[] = {
    {"the bounds are the autoscaler's", the_bounds_are_the_autoscalers},
    {"replicas to come are spread", replicas_to_come_are_spread},
    {"replicas to come mount a disk", replicas_to_come_mount_a_disk},
    {"budgets reckon with the bounds", budgets_reckon_with_the_bounds},
    {NULL, NULL},
};
