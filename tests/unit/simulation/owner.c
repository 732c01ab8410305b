/* Who owns a pod, and how many pods a workload would make. */
#include "simulation/owner.h"

#include "cluster_fixture.h"
#include "kube/object.h"
#include "object_fixture.h"

const char unit_suite[] = "simulation owner";

#define OF(kind, name) \
    "ownerReferences: [{apiVersion: apps/v1, kind: " kind ", name: " name ", controller: true}]"
#define OF_BATCH(kind, name) \
    "ownerReferences: [{apiVersion: batch/v1, kind: " kind ", name: " name ", controller: true}]"
#define HASH(hash) ", labels: {pod-template-hash: " hash "}"
#define APP(kind, name, more) \
    "{apiVersion: apps/v1, kind: " kind ", metadata: {name: " name ", " more "}}"

static void owners_are_found_by_reference_and_by_name(void)
{
    static const char *const documents[] = {
        APP("Deployment", "web", ""),
        APP("ReplicaSet", "web-5f6", OF("Deployment", "web")),
        APP("StatefulSet", "db", ""),
        "{apiVersion: batch/v1, kind: CronJob, metadata: {name: night}}",
        /* a ring, which the API server does not refuse */
        APP("ReplicaSet", "ring", OF("ReplicaSet", "ring")),
    };
    static const struct {
        const char *metadata, *root;
        size_t visible;
        const char *set;
    } cases[] = {
        {"a: b", "", 0, ""},
        {OF("ReplicaSet", "web-5f6"), "Deployment web", 2, ""},
        {OF("StatefulSet", "db"), "StatefulSet db", 1, "db"},
        {OF("ReplicaSet", "unseen"), "ReplicaSet unseen", 0, ""},
        /* a ReplicaSet that is not visible is named by its Deployment and the hash */
        {OF("ReplicaSet", "web-77c") HASH("77c"), "Deployment web", 1, ""},
        {OF("ReplicaSet", "api-77c") HASH("77c"), "Deployment api", 0, ""},
        {OF("ReplicaSet", "web-77c") HASH("88d"), "ReplicaSet web-77c", 0, ""},
        {OF("ReplicaSet", "web-77c"), "ReplicaSet web-77c", 0, ""},
        /* a Job by its CronJob and the minute */
        {OF_BATCH("Job", "night-28000000"), "CronJob night", 1, ""},
        {OF_BATCH("Job", "night-once"), "Job night-once", 0, ""},
        {OF_BATCH("Job", "day-28000000"), "Job day-28000000", 0, ""},
        {"ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: web, "
         "controller: true}]",
         "Rollout web", 0, ""},
        {"ownerReferences: [{apiVersion: v1, kind: Node, name: n1, controller: true}]", "Node n1",
         0, ""},
        {OF("ReplicaSet", "ring"), "ReplicaSet ring", 8, ""},
    };
    struct fixture fixture = {.arena = arena_create((size_t)16 << 20)};
    const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, COUNT_OF(documents));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text pod =
            arena_printf(fixture.arena, "{apiVersion: v1, kind: Pod, metadata: {name: p, %s}}",
                         cases[i].metadata);
        struct lineage lineage;
        lineage_find(snapshot, fixture_object(fixture.arena, pod.data, "shop"), fixture.arena,
                     &lineage);
        ASSERT_TEXT(lineage.root, cases[i].root);
        ASSERT_INT(lineage.count, cases[i].visible);
        ASSERT_TEXT(lineage.set == NULL ? TEXT("") : lineage.set->name, cases[i].set);
    }
    arena_destroy(fixture.arena);
}

#define JOB(name, metadata, spec, status)                                                 \
    "{apiVersion: batch/v1, kind: Job, metadata: {name: " name metadata "}, spec: {" spec \
    "}, status: {" status "}}"
#define CRON_JOB(name, spec) \
    "{apiVersion: batch/v1, kind: CronJob, metadata: {name: " name "}, spec: {" spec "}}"
#define WEB "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 3}}"
#define OWNED_BY(kind, name) ", " OF_BATCH(kind, name)

static void a_workload_makes_what_is_missing(void)
{
    static const struct {
        const char *workload, *other; /* other NULL: nothing else is there */
        struct tally tally;
        int64_t pods;
    } cases[] = {
        {WEB, NULL, {0}, 3},
        {WEB, NULL, {.active = 2}, 1},
        {WEB, NULL, {.active = 4}, 0},
        {APP("ReplicaSet", "web-1", OF("Deployment", "web")), WEB, {0}, 0},
        {APP("ReplicaSet", "web-1", OF("Deployment", "gone")), WEB, {0}, 1},
        {APP("StatefulSet", "db", ""), NULL, {.active = 1}, 1},
        /* at most parallelism, and the completions that are left */
        {JOB("j", "", "parallelism: 2, completions: 5", ""), NULL, {0}, 2},
        {JOB("j", "", "parallelism: 2, completions: 5", "succeeded: 4"), NULL, {0}, 1},
        {JOB("j", "", "parallelism: 2, completions: 5", "succeeded: 5"), NULL, {0}, 0},
        {JOB("j", "", "parallelism: 2, completions: 5", "succeeded: 3"), NULL, {.succeeded = 4}, 1},
        {JOB("j", "", "parallelism: 2", "succeeded: 4"), NULL, {.active = 1}, 1},
        {JOB("j", "", "suspend: true", ""), NULL, {0}, 0},
        {JOB("j", "", "", "conditions: [{type: Complete, status: 'True'}]"), NULL, {0}, 0},
        /* a CronJob whose Job runs makes no other now */
        {CRON_JOB("c", ""), NULL, {0}, 1},
        {CRON_JOB("c", "suspend: true"), NULL, {0}, 0},
        {CRON_JOB("c", ""), JOB("c-1", OWNED_BY("CronJob", "c"), "", ""), {0}, 0},
        {CRON_JOB("c", ""), JOB("c-1", OWNED_BY("CronJob", "other"), "", ""), {0}, 1},
        {CRON_JOB("c", ""),
         CRON_JOB("other", "") "\n---\n" JOB("c-1", OWNED_BY("CronJob", "other"), "", ""),
         {0},
         1},
        {CRON_JOB("c", ""),
         JOB("c-1", ", deletionTimestamp: '2026-01-01T00:00:00Z'" OWNED_BY("CronJob", "c"), "", ""),
         {0},
         1},
        {CRON_JOB("c", ""),
         JOB("c-1", OWNED_BY("CronJob", "c"), "", "conditions: [{type: Failed, status: 'True'}]"),
         {0},
         1},
        /* whose pods are not counted by replicas */
        {APP("DaemonSet", "agent", ""), NULL, {0}, 0},
    };
    static const enum kind kinds[] = {KIND_REPLICA_SET, KIND_STATEFUL_SET, KIND_DAEMON_SET,
                                      KIND_CRON_JOB,    KIND_JOB,          KIND_DEPLOYMENT};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create((size_t)16 << 20)};
        const char *documents[] = {cases[i].workload, cases[i].other};
        const struct snapshot *snapshot =
            fixture_snapshot(&fixture, documents, cases[i].other == NULL ? 1 : 2);
        const struct object *object = NULL;
        for (size_t j = 0; object == NULL && j < COUNT_OF(kinds); j++)
            object = snapshot_object(snapshot, kinds[j], 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(object);
        struct demand demand;
        bool makes = demand_of(snapshot, object, &cases[i].tally, &demand);
        if (makes != (cases[i].pods > 0))
            fprintf(stderr, "%s\n", cases[i].workload);
        ASSERT_INT(makes, cases[i].pods > 0);
        ASSERT_INT(makes ? demand.pods : 0, cases[i].pods);
        arena_destroy(fixture.arena);
    }
}

const struct unit_test unit_tests[] = {
    {"owners are found by reference and by name", owners_are_found_by_reference_and_by_name},
    {"a workload makes what is missing", a_workload_makes_what_is_missing},
    {NULL, NULL},
};
