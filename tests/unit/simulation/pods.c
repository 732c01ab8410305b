/* Which pods a cluster has, and which its workloads would make. */
#include "simulation/pods.h"
#include "cluster_fixture.h"
#include "kube/to_solver.h"
#include "simulation/scaling.h"

const char unit_suite[] = "simulation pods";

enum { MOST_DOCUMENTS = 12, BUDGET_BYTES = 64 << 20 };

#define TEMPLATE "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main}]}}"
#define WORKLOAD(kind, name, spec) WORKLOAD_OF(kind, "name: " name, spec)
#define WORKLOAD_OF(kind, metadata, spec) \
    "{apiVersion: apps/v1, kind: " kind ", metadata: {" metadata "}, spec: {" spec TEMPLATE "}}"
#define JOB(metadata, spec, more) \
    "{apiVersion: batch/v1, kind: Job, metadata: {" metadata "}, spec: {" spec TEMPLATE "}" more "}"
#define CRON_JOB(spec, job)                                                         \
    "{apiVersion: batch/v1, kind: CronJob, metadata: {name: nightly}, spec: {" spec \
    "jobTemplate: {spec: {" job TEMPLATE "}}}}"
#define OWNER(kind, name) \
    "ownerReferences: [{apiVersion: apps/v1, kind: " kind ", name: " name ", controller: true}]"
#define BATCH_OWNER(kind, name) \
    "ownerReferences: [{apiVersion: batch/v1, kind: " kind ", name: " name ", controller: true}]"
#define POD(metadata, more)                            \
    "{apiVersion: v1, kind: Pod, metadata: {" metadata \
    "}, spec: {containers: [{name: main}]}" more "}"
#define POD_ON(node, metadata) \
    "{apiVersion: v1, kind: Pod, metadata: {" metadata "}, spec: {nodeName: " node "}}"
#define HASH "labels: {pod-template-hash: 7d9}, "

struct expand_case {
    const char *name;
    const char *documents[MOST_DOCUMENTS];
    const char *pods; /* "NAME (OWNER)", with "!" when it runs, "?" when it waits */
    size_t problems;
};

static struct text pods_of(struct fixture *fixture, const struct expand_case *test)
{
    size_t count = 0;
    while (count < MOST_DOCUMENTS && test->documents[count] != NULL)
        count++;
    struct cluster_pods pods = {0};
    struct daemons daemons = {0};
    expand_pods(fixture_snapshot(fixture, test->documents, count), &(struct scaled_list){0},
                fixture->arena, &pods, &daemons, &fixture->problems);
    struct text_builder text = {.arena = fixture->arena};
    static const char *const marks[] = {
        [POD_PENDING] = "", [POD_RUNNING] = "!", [POD_WAITING] = "?"};
    for (size_t i = 0; i < pods.count; i++)
        text_builder_printf(&text, "%s%.*s%s (%.*s)", i == 0 ? "" : ", ",
                            TEXT_ARGS(pods.items[i].name), marks[pods.items[i].phase],
                            TEXT_ARGS(pods.items[i].owner));
    return text_builder_text(&text);
}

static void run_cases(const struct expand_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct text pods = pods_of(&fixture, &cases[i]);
        if (!text_is(pods, cases[i].pods))
            fprintf(stderr, "in \"%s\":\n", cases[i].name);
        ASSERT_TEXT(pods, cases[i].pods);
        ASSERT_INT(fixture.problems.count, cases[i].problems);
        arena_destroy(fixture.arena);
    }
}

static void pods_run_wait_or_need_a_node(void)
{
    static const struct expand_case cases[] = {
        {"pending", {POD("name: a", "")}, "a (a)", 0},
        {"running", {POD_ON("n1", "name: a")}, "a! (a)", 0},
        {"done",
         {POD("name: a", ", status: {phase: Succeeded}"),
          POD("name: b", ", status: {phase: Failed}")},
         "",
         0},
        {"gated",
         {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {schedulingGates: [{name: g}]}}"},
         "a? (a)",
         0},
        {"Fargate makes a node for it",
         {POD("name: a, labels: {eks.amazonaws.com/fargate-profile: fp}", ""),
          "{apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {schedulerName: "
          "fargate-scheduler}}"},
         "a? (a), b? (b)",
         0},
        {"kube-scheduler evicts others for it",
         {POD("name: a", ", status: {nominatedNodeName: n1}")},
         "a? (a)",
         0},
        {"it did",
         {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: n1}, status: "
          "{nominatedNodeName: n1}}"},
         "a! (a)",
         0},
        {"on its way out",
         {POD("name: a, deletionTimestamp: '2026-11-21T00:00:00Z'", "")},
         "a? (a)",
         0},
        {"a DaemonSet's",
         {POD("name: a, " OWNER("DaemonSet", "agent"), "")},
         "a? (DaemonSet agent)",
         0},
        {"a mirror of a static pod",
         {POD("name: a, annotations: {kubernetes.io/config.mirror: x}", ""),
          POD("name: b, ownerReferences: [{apiVersion: v1, kind: Node, name: n1, controller: "
              "true}]",
              "")},
         "a? (a), b? (Node n1)",
         0},
        {"without a name yet",
         {POD("generateName: a-", ""), POD("generateName: a-", ""), POD("name: a-1", "")},
         "a-0 (a-0), a-1 (a-1), a-2 (a-2)",
         0},
    };
    run_cases(cases, COUNT_OF(cases));
}

static void workloads_make_the_pods_that_are_missing(void)
{
    static const struct expand_case cases[] = {
        {"one by default", {WORKLOAD("Deployment", "web", "")}, "web-0 (Deployment web)", 0},
        {"so many",
         {WORKLOAD("ReplicaSet", "web", "replicas: 2, ")},
         "web-0 (ReplicaSet web), web-1 (ReplicaSet web)",
         0},
        {"a ReplicationController",
         {"{apiVersion: v1, kind: ReplicationController, metadata: {name: web}, spec: "
          "{" TEMPLATE "}}"},
         "web-0 (ReplicationController web)",
         0},
        {"one that runs on Fargate",
         {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: "
          "{metadata: {labels: {eks.amazonaws.com/fargate-profile: fp}}}}}"},
         "web-0? (Deployment web)",
         0},
        {"none", {WORKLOAD("Deployment", "web", "replicas: 0, ")}, "", 0},
        {"one that is going",
         {WORKLOAD_OF("Deployment", "name: web, deletionTimestamp: '2026-11-21T00:00:00Z'", "")},
         "",
         0},
        {"some are there",
         {WORKLOAD("Deployment", "web", "replicas: 3, "),
          WORKLOAD_OF("ReplicaSet", "name: web-7d9, " OWNER("Deployment", "web"), "replicas: 3, "),
          POD_ON("n1", "name: web-7d9-x, " OWNER("ReplicaSet", "web-7d9"))},
         "web-0 (Deployment web), web-1 (Deployment web), web-7d9-x! (Deployment web)",
         0},
        {"those of a ReplicaSet on its own",
         {WORKLOAD("ReplicaSet", "web", "replicas: 2, "),
          POD_ON("n1", "name: web-x, " OWNER("ReplicaSet", "web"))},
         "web-0 (ReplicaSet web), web-x! (ReplicaSet web)",
         0},
        {"owners of one name that are not one",
         {WORKLOAD("ReplicaSet", "web", "replicas: 2, "),
          WORKLOAD("StatefulSet", "web", "replicas: 2, "),
          POD_ON("n1", "name: a-1, " OWNER("ReplicaSet", "web")),
          POD_ON("n1", "name: a-2, " OWNER("StatefulSet", "web")),
          POD_ON("n1", "name: a-3, ownerReferences: [{apiVersion: example.com/v1, kind: "
                       "StatefulSet, name: web, controller: true}]"),
          POD_ON("n1", "name: a-4, ownerReferences: [{apiVersion: example.com/v1, kind: "
                       "StatefulSet, name: web, uid: u, controller: true}]"),
          POD_ON("n1",
                 "name: a-5, labels: {pod-template-hash: '1'}, " OWNER("ReplicaSet", "api-1")),
          POD_ON("n1",
                 "name: a-6, labels: {pod-template-hash: '2'}, " OWNER("ReplicaSet", "api-1"))},
         "a-1! (ReplicaSet web), a-2! (StatefulSet web), a-3! (StatefulSet web), a-4! (StatefulSet "
         "web), a-5! (Deployment api), a-6! (ReplicaSet api-1), web-0 (StatefulSet web), web-1 "
         "(StatefulSet web), web-replicasets-0 (ReplicaSet web)",
         0},
        {"a StatefulSet makes a pod of its own name again once that is done",
         {WORKLOAD("StatefulSet", "db", "replicas: 2, "),
          POD("name: db-0, " OWNER("StatefulSet", "db"), ", status: {phase: Failed}"),
          POD("name: db-1", "")},
         "db-0 (StatefulSet db), db-1 (db-1)",
         0},
        {"the ReplicaSet between is not visible",
         {WORKLOAD("Deployment", "web", "replicas: 2, "),
          POD_ON("n1", "name: web-7d9-x, " HASH OWNER("ReplicaSet", "web-7d9"))},
         "web-0 (Deployment web), web-7d9-x! (Deployment web)",
         0},
        {"nor the Deployment",
         {POD_ON("n1", "name: web-7d9-x, " HASH OWNER("ReplicaSet", "web-7d9"))},
         "web-7d9-x! (Deployment web)",
         0},
        {"one that is going or done is replaced",
         {WORKLOAD("ReplicaSet", "web", "replicas: 2, "),
          POD("name: web-x, deletionTimestamp: '2026-11-21T00:00:00Z', " OWNER("ReplicaSet", "web"),
              ""),
          POD("name: web-y, " OWNER("ReplicaSet", "web"), ", status: {phase: Failed}")},
         "web-0 (ReplicaSet web), web-1 (ReplicaSet web), web-x? (ReplicaSet web)",
         0},
        {"another's pods do not count: the uid differs",
         {WORKLOAD_OF("ReplicaSet", "name: web, uid: new", ""),
          POD_ON("n1", "name: web-x, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, "
                       "name: web, uid: old, controller: true}]")},
         "web-0 (ReplicaSet web), web-x! (ReplicaSet web)",
         0},
        {"a name that is taken is passed over",
         {WORKLOAD("ReplicaSet", "web", ""), POD("name: web-0", "")},
         "web-0 (web-0), web-1 (ReplicaSet web)",
         0},
        {"two of a name and of different kinds",
         {WORKLOAD("Deployment", "web", ""), WORKLOAD("StatefulSet", "web", "")},
         "web-0 (StatefulSet web), web-deployments-0 (Deployment web)",
         0},
        {"more than a cluster holds",
         {WORKLOAD("Deployment", "web", "replicas: 2000000000, ")},
         "",
         1},
    };
    run_cases(cases, COUNT_OF(cases));
}

static void sets_count_by_ordinal(void)
{
    static const struct expand_case cases[] = {
        {"from where it starts",
         {WORKLOAD("StatefulSet", "db", "replicas: 2, ordinals: {start: 5}, ")},
         "db-5 (StatefulSet db), db-6 (StatefulSet db)",
         0},
        {"the one that is missing",
         {WORKLOAD("StatefulSet", "db", "replicas: 3, "),
          POD_ON("n1", "name: db-0, " OWNER("StatefulSet", "db")),
          POD_ON("n1", "name: db-2, " OWNER("StatefulSet", "db"))},
         "db-0! (StatefulSet db), db-1 (StatefulSet db), db-2! (StatefulSet db)",
         0},
        {"an ordinal is free when its pod is gone",
         {WORKLOAD("StatefulSet", "db", ""),
          POD("name: db-0, deletionTimestamp: '2026-11-21T00:00:00Z', " OWNER("StatefulSet", "db"),
              "")},
         "db-0? (StatefulSet db)",
         0},
    };
    run_cases(cases, COUNT_OF(cases));
}

static void jobs_run_what_is_left_to_do(void)
{
    static const struct expand_case cases[] = {
        {"one", {JOB("name: j", "", "")}, "j-0 (Job j)", 0},
        {"at a time",
         {JOB("name: j", "parallelism: 2, completions: 5, ", "")},
         "j-0 (Job j), j-1 (Job j)",
         0},
        {"completions alone", {JOB("name: j", "completions: 5, ", "")}, "j-0 (Job j)", 0},
        {"left",
         {JOB("name: j", "parallelism: 3, completions: 5, ", ", status: {succeeded: 4}")},
         "j-0 (Job j)",
         0},
        {"its pods say so, too",
         {JOB("name: j", "parallelism: 3, completions: 2, ", ""),
          POD("name: j-x, " BATCH_OWNER("Job", "j"), ", status: {phase: Succeeded}"),
          POD_ON("n1", "name: j-y, " BATCH_OWNER("Job", "j"))},
         "j-y! (Job j)",
         0},
        {"a work queue",
         {JOB("name: j", "parallelism: 2, ", ", status: {succeeded: 1}")},
         "j-0 (Job j), j-1 (Job j)",
         0},
        {"suspended", {JOB("name: j", "suspend: true, ", "")}, "", 0},
        {"over",
         {JOB("name: j", "", ", status: {conditions: [{type: Failed, status: 'True'}]}")},
         "",
         0},
        {"one run of a CronJob",
         {CRON_JOB("", "parallelism: 2, completions: 2, ")},
         "nightly-0 (CronJob nightly), nightly-1 (CronJob nightly)",
         0},
        {"a suspended one", {CRON_JOB("suspend: true, ", "")}, "", 0},
        {"a run that is under way is the one",
         {CRON_JOB("", ""), JOB("name: nightly-1, " BATCH_OWNER("CronJob", "nightly"), "", "")},
         "nightly-1-0 (CronJob nightly)",
         0},
        {"one that is over is not",
         {CRON_JOB("", ""), JOB("name: nightly-1, " BATCH_OWNER("CronJob", "nightly"), "",
                                ", status: {conditions: [{type: Complete, status: 'True'}]}")},
         "nightly-0 (CronJob nightly)",
         0},
        {"its pod tells of a run that is not visible",
         {CRON_JOB("", ""),
          POD_ON("n1", "name: nightly-28391040-x, " BATCH_OWNER("Job", "nightly-28391040"))},
         "nightly-28391040-x! (CronJob nightly)",
         0},
    };
    run_cases(cases, COUNT_OF(cases));
}

static void daemons_are_like_their_newest_pod(void)
{
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    static const char *const documents[] = {
        WORKLOAD("DaemonSet", "agent", ""),
        POD("name: agent-a, creationTimestamp: '2026-01-01T00:00:00Z', " OWNER("DaemonSet",
                                                                               "agent"),
            ""),
        POD("name: agent-b, creationTimestamp: '2026-02-01T00:00:00Z', " OWNER("DaemonSet",
                                                                               "agent"),
            ""),
        WORKLOAD("DaemonSet", "new", ""),
    };
    struct cluster_pods pods = {0};
    struct daemons daemons = {0};
    expand_pods(fixture_snapshot(&fixture, documents, COUNT_OF(documents)),
                &(struct scaled_list){0}, fixture.arena, &pods, &daemons, &fixture.problems);
    ASSERT_INT(pods.count, 2);
    CU_ASSERT_FATAL(daemons.count == 2);
    ASSERT_TEXT(daemons.items[0].source.workload.object->name, "agent-b");
    ASSERT_TEXT(daemons.items[1].source.workload.object->name, "new");
    arena_destroy(fixture.arena);
}

/* What a controller adds to the labels of a pod it makes. */
static void pods_carry_the_labels_of_their_controllers(void)
{
    static const struct {
        const char *documents[2], *key, *value;
    } cases[] = {
        {{WORKLOAD("Deployment", "web", "")}, "pod-template-hash", "new"},
        {{WORKLOAD("Deployment", "web", "replicas: 2, "),
          POD_ON("n1", "name: web-7d9-x, " HASH OWNER("ReplicaSet", "web-7d9"))},
         "pod-template-hash",
         "7d9"},
        {{JOB("name: j", "", "")}, "batch.kubernetes.io/job-name", "j"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct cluster_pods pods = {0};
        struct daemons daemons = {0};
        size_t count = cases[i].documents[1] == NULL ? 1 : 2;
        expand_pods(fixture_snapshot(&fixture, cases[i].documents, count), &(struct scaled_list){0},
                    fixture.arena, &pods, &daemons, &fixture.problems);
        const struct solver_labels labels = pods.items[0].source->more_labels;
        ASSERT_TEXT(text_of(label_of(labels, cases[i].key)), cases[i].value);
        arena_destroy(fixture.arena);
    }
}

const struct unit_test unit_tests[] = {
    {"pods run, wait, or need a node", pods_run_wait_or_need_a_node},
    {"workloads make the pods that are missing", workloads_make_the_pods_that_are_missing},
    {"sets count by ordinal", sets_count_by_ordinal},
    {"jobs run what is left to do", jobs_run_what_is_left_to_do},
    {"daemons are like their newest pod", daemons_are_like_their_newest_pod},
    {"pods carry the labels of their controllers", pods_carry_the_labels_of_their_controllers},
    {NULL, NULL},
};
