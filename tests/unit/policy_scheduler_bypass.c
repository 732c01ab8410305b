/* The rail scheduler-bypass: a node named by hand, and a scheduler that nobody runs. */
#include "policy/rails/scheduler_bypass.h"
#include "rail_modes.h"

#define POD(spec) "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: " spec "}"
#define ON_NODE "{nodeName: ip-1}"

static void pods_placed_by_hand(void)
{
    static const struct rail_case cases[] = {
        {POD("{}"), ""},
        {POD("{nodeName: ''}"), ""},
        {POD("{nodeName: [ip-1]}"), ""},
        {POD(ON_NODE), "deny spec.nodeName ip-1"},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: " ON_NODE
         ", status: {phase: Pending, qosClass: Burstable}}",
         "deny spec.nodeName ip-1"},
        /* the scheduler has been there, or a kubelet speaks of what it runs */
        {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: " ON_NODE
         ", status: {conditions: [{type: PodScheduled, status: 'True'}]}}",
         ""},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: " ON_NODE
         ", status: {startTime: '2026-01-01T00:00:00Z'}}",
         ""},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: "
         "{kubernetes.io/config.mirror: x}}, spec: " ON_NODE "}",
         ""},
        /* what a workload has become says nothing of its pods */
        {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, annotations: "
         "{kubernetes.io/config.mirror: x}}, spec: {template: {spec: " ON_NODE "}}, status: "
         "{conditions: [{type: Available, status: 'True'}], startTime: '2026-01-01T00:00:00Z'}}",
         "deny spec.template.spec.nodeName ip-1"},
    };
    rail_table_run(&(struct rail_table){"scheduler-bypass: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case allowed[] = {{POD(ON_NODE), ""}};
    rail_table_run(&(struct rail_table){"scheduler-bypass: {allowNodeName: true}", NULL, allowed,
                                        COUNT_OF(allowed)});
}

static void schedulers_that_nobody_runs(void)
{
    static const struct rail_case cases[] = {
        {POD("{schedulerName: default-scheduler}"), ""},
        {POD("{schedulerName: fargate-scheduler}"), ""},
        {POD("{schedulerName: default-schedular}"), "deny spec.schedulerName default-schedular"},
        {POD("{schedulerName: volcano}"), "deny spec.schedulerName volcano"},
        {POD("{schedulerName: 5}"), ""},
    };
    rail_table_run(&(struct rail_table){"scheduler-bypass: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case named[] = {
        {POD("{schedulerName: volcano}"), ""},
        {POD("{schedulerName: default-scheduler}"), "deny spec.schedulerName default-scheduler"},
    };
    rail_table_run(&(struct rail_table){"scheduler-bypass: {schedulers: [volcano]}", NULL, named,
                                        COUNT_OF(named)});
    /* A node's name that is allowed makes a scheduler that nobody runs no better. */
    static const struct rail_case both[] = {
        {POD("{nodeName: ip-1, schedulerName: volcano}"), "deny spec.schedulerName volcano"}};
    rail_table_run(&(struct rail_table){"scheduler-bypass: {allowNodeName: true}", NULL, both,
                                        COUNT_OF(both)});
}

/* Three edits are a slip of the fingers, four another name. */
static void the_scheduler_that_was_meant(void)
{
#define NOBODY "\", a scheduler that nobody runs: the pod would wait for ever; allowed "
    static const struct rail_words rows[] = {
        {POD("{schedulerName: default-schedu}"),
         "found \"default-schedu" NOBODY "default-scheduler, fargate-scheduler",
         "replace with default-scheduler"},
        {POD("{schedulerName: default-sched}"),
         "found \"default-sched" NOBODY "default-scheduler, fargate-scheduler",
         "remove schedulerName"},
        {POD("{schedulerName: fargate-schedular}"),
         "found \"fargate-schedular" NOBODY "fargate-scheduler, default-scheduler",
         "replace with fargate-scheduler"},
    };
    rail_words_run("scheduler-bypass: {}", NULL, rows, COUNT_OF(rows));
    rail_replaces("scheduler-bypass: {}", rows[0].object, "default-scheduler");
    rail_replaces("scheduler-bypass: {}", rows[1].object, "");
    static const struct rail_words many[] = {
        {POD("{schedulerName: volcan}"), "found \"volcan" NOBODY "volcano, j, k, q, w, ... (6)",
         "replace with volcano"},
    };
    rail_words_run("scheduler-bypass: {schedulers: [j, k, q, w, z, volcano]}", NULL, many, 1);
}

static void every_kind_of_workload(void)
{
#define TEMPLATE "{spec: {nodeName: ip-1, schedulerName: mine}}"
#define OF(api, kind, spec) \
    "{apiVersion: " api ", kind: " kind ", metadata: {name: a}, spec: " spec "}"
#define FOUND(path) "deny " path ".nodeName ip-1\ndeny " path ".schedulerName mine"
    static const char found[] = FOUND("spec.template.spec");
    static const struct rail_case cases[] = {
        {OF("apps/v1", "Deployment", "{template: " TEMPLATE "}"), found},
        {OF("apps/v1", "ReplicaSet", "{template: " TEMPLATE "}"), found},
        {OF("v1", "ReplicationController", "{template: " TEMPLATE "}"), found},
        {OF("apps/v1", "StatefulSet", "{template: " TEMPLATE "}"), found},
        {OF("apps/v1", "DaemonSet", "{template: " TEMPLATE "}"), found},
        {OF("batch/v1", "Job", "{template: " TEMPLATE "}"), found},
        {OF("batch/v1", "CronJob", "{jobTemplate: {spec: {template: " TEMPLATE "}}}"),
         FOUND("spec.jobTemplate.spec.template.spec")},
    };
    rail_table_run(&(struct rail_table){"scheduler-bypass: {}", NULL, cases, COUNT_OF(cases)});
}

static void other_rails_learn_which_schedulers_run(void)
{
    struct arena *arena = arena_create((size_t)32 << 20);
    struct world named = rail_table_world("scheduler-bypass: {schedulers: [mine]}", NULL, arena);
    struct world silent = rail_table_world("topology-keys: {}", NULL, arena);
    CU_ASSERT_TRUE(scheduler_is_named(&named, TEXT("mine")));
    CU_ASSERT_FALSE(scheduler_is_named(&named, TEXT("default-scheduler")));
    CU_ASSERT_FALSE(scheduler_is_named(&silent, TEXT("mine")));
    struct world beside = rail_table_world(
        "placeable: {}, scheduler-bypass: {schedulers: [other, mine]}, zones: {}", NULL, arena);
    CU_ASSERT_TRUE(scheduler_is_named(&beside, TEXT("mine")));
    /* Of several policies any may. */
    const struct policy items[] = {silent.policies->items[0], beside.policies->items[0],
                                   silent.policies->items[0]};
    struct policy_set several = *silent.policies;
    several.items = items;
    several.count = COUNT_OF(items);
    silent.policies = &several;
    CU_ASSERT_TRUE(scheduler_is_named(&silent, TEXT("other")));
    CU_ASSERT_FALSE(scheduler_is_named(&silent, TEXT("default-scheduler")));
    arena_destroy(arena);
}

const char unit_suite[] = "policy scheduler-bypass";
const struct unit_test unit_tests[] = {
    {"pods placed by hand", pods_placed_by_hand},
    {"schedulers that nobody runs", schedulers_that_nobody_runs},
    {"the scheduler that was meant", the_scheduler_that_was_meant},
    {"every kind of workload", every_kind_of_workload},
    {"other rails learn which schedulers run", other_rails_learn_which_schedulers_run},
    {NULL, NULL},
};
