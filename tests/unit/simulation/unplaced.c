/* Pods that Karpenter ignores, and pods that cannot be understood. */
#include "simulation_fixture.h"

const char unit_suite[] = "simulation unplaced";

#define NAMED(name, hostname)                                                                    \
    "{apiVersion: v1, kind: Node, metadata: {name: " name                                        \
    ", labels: {kubernetes.io/hostname: " hostname "}}, status: {allocatable: {cpu: 4, memory: " \
    "8Gi, pods: 110}}}"
#define BY_HOSTNAME(hostname) ", nodeSelector: {kubernetes.io/hostname: " hostname "}"
#define OF_TERMS(terms)                                                             \
    ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {" \
    "nodeSelectorTerms: [" terms "]}}}"
#define FIELDS(fields) "{matchFields: [" fields "]}"
#define NAME "key: metadata.name"
#define REQUIRES(expression) OF_TERMS("{matchExpressions: [" expression "]}")

/* kube-scheduler places such pods on nodes that are there; nothing is bought for them. */
static void pods_left_alone_go_to_nodes_there_are(void)
{
    static const struct simulation_case cases[] = {
        {"the node of that hostname",
         {POOL, NAMED("n1", "h1"), NAMED("n2", "h2"), POD("one", "1", BY_HOSTNAME("h2"))},
         "node n2: one\n",
         0,
         0},
        {"it has no room",
         {POOL, NAMED("n1", "h1"), NAMED("n2", "h2"), POD("one", "5", BY_HOSTNAME("h2"))},
         "nowhere one: requirement\n",
         0,
         0},
        {"there is no such node",
         {POOL, POD("one", "1", BY_HOSTNAME("h2"))},
         "nowhere one: requirement\n",
         0,
         0},
        {"any other hostname: a node there is, not one to buy",
         {POOL, NAMED("n1", "h1"), NAMED("n2", "h2"),
          POD("one", "1",
              REQUIRES("{key: kubernetes.io/hostname, operator: NotIn, values: [h1]}"))},
         "node n2: one\n",
         0,
         0},
        {"and when none has room, none",
         {POOL, NAMED("n1", "h1"),
          POD("one", "1",
              REQUIRES("{key: kubernetes.io/hostname, operator: NotIn, values: [h1]}"))},
         "nowhere one: requirement\n",
         0,
         0},
        {"what was bought is there in the next round",
         {POOL, NAMED("n1", "h1"),
          POD("big", "1", ", nodeSelector: {node.kubernetes.io/instance-type: large}"),
          POD("one", "1",
              REQUIRES("{key: kubernetes.io/hostname, operator: NotIn, values: [h1]}"))},
         "default large on-demand a 1: big one\n",
         0,
         0},
        {"off Karpenter's nodes",
         {POOL, NODE("n1", "a", "4"),
          POD("one", "1", REQUIRES("{key: karpenter.sh/nodepool, operator: DoesNotExist}"))},
         "node n1: one\n",
         0,
         0},
        {"labels that only Karpenter sets",
         {POOL, POD("one", "1", ", nodeSelector: {karpenter.sh/initialized: 'true'}"),
          POD("three", "1", ", nodeSelector: {karpenter.sh/nodepool: default}"),
          POD("four", "1", ", nodeSelector: {karpenter.k8s.aws/ec2nodeclass: default}")},
         "default small on-demand a 1: three\n"
         "nowhere four: requirement\nnowhere one: requirement\n",
         0,
         0},
        {"matchFields",
         {POOL, POD("one", "1", OF_TERMS(FIELDS("{" NAME ", operator: In, values: [n1]}")))},
         "nowhere one: requirement\n",
         0,
         0},
        {"the node of that name, whatever its hostname",
         {POOL, NAMED("n1", "n2"), NAMED("n2", "h2"), NAMED("n3", "h3"),
          POD("five", "1", OF_TERMS(FIELDS("{" NAME ", operator: In, values: [h3]}"))),
          POD("four", "1", OF_TERMS(FIELDS("{key: metadata.uid, operator: In, values: [n3]}"))),
          POD("one", "1", OF_TERMS(FIELDS("{" NAME ", operator: In, values: [n2]}"))),
          POD("six", "1",
              OF_TERMS(FIELDS("{" NAME ", operator: Near, values: [n3]}") ", " FIELDS(
                  "{" NAME ", operator: In, values: [n3]}, {" NAME
                  ", operator: NotIn, values: [n3]}"))),
          POD("three", "1",
              OF_TERMS(FIELDS("{" NAME
                              ", operator: In, values: [n9]}") ", {matchExpressions: [{"
                                                               "key: kubernetes.io/hostname, "
                                                               "operator: In, values: [h3]}]}")),
          POD("two", "1", OF_TERMS(FIELDS("{" NAME ", operator: NotIn, values: [n1, n2]}")))},
         "node n2: one\nnode n3: three two\nnowhere five: requirement\nnowhere four: "
         "requirement\nnowhere six: requirement\n",
         0,
         0},
        {"it has no room",
         {POOL, NAMED("n1", "h1"), NAMED("n2", "h2"),
          POD("one", "5", OF_TERMS(FIELDS("{" NAME ", operator: In, values: [n2]}")))},
         "nowhere one: requirement\n",
         0,
         0},
        {"an empty term, as an alternative to none and to another",
         {POOL, NODE("n1", "a", "4"), POD("one", "1", OF_TERMS("{}, {matchExpressions: []}")),
          POD("two", "1",
              OF_TERMS("{matchExpressions: []}, {matchExpressions: [{key: "
                       "topology.kubernetes.io/zone, operator: In, values: [b]}]}"))},
         "default small on-demand b 1: two\nnowhere one: requirement\n",
         0,
         0},
        {"a wish to be off Karpenter's nodes",
         {POOL, POD("one", "1",
                    ", affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
                    "[{weight: 1, preference: {matchExpressions: [{key: karpenter.sh/nodepool, "
                    "operator: DoesNotExist}]}}]}}")},
         "nowhere one: requirement\n",
         0,
         0},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

static void what_is_broken_does_not_stop_the_rest(void)
{
    static const struct simulation_case cases[] = {
        {"a pool",
         {POOL,
          "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: bad}, spec: {weight: 9, "
          "limits: {cpu: lots}}}",
          POD("one", "1", "")},
         "default small on-demand a 1: one\n",
         0,
         1},
        {"a node, with its pods",
         {POOL, NODE("n1", "a", "-4"), POD("old", "1", ", nodeName: n1"), POD("one", "1", "")},
         "default small on-demand a 1: one\n",
         0,
         1},
        {"a NodeClaim under the name of a Node",
         {POOL, NODE("n1", "a", "4"),
          "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: n1}, status: "
          "{allocatable: {cpu: 4}}}",
          POD("one", "1", "")},
         "node n1: one\n",
         0,
         1},
        {"a volume, with the pods that want it",
         {POOL, CLAIM("d1", "{volumeName: v1}"),
          VOLUME("v1", ", nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "
                       "topology.kubernetes.io/zone, operator: Within, values: [a]}]}]}}"),
          POD("one", "1", MOUNTS("d1")), POD("two", "1", "")},
         "default small on-demand a 1: two\nnowhere one: volume\n",
         0,
         1},
        {"pods of a workload, said once",
         {POOL, WORKLOAD("Deployment", "web", "replicas: 3", "a lot", ""),
          WORKLOAD("Deployment", "web-1", "replicas: 1", "1", "")},
         "default small on-demand a 1: web-1-0\n",
         0,
         1},
        {"so many replicas",
         {POOL, WORKLOAD("Deployment", "a", "replicas: -5", "1", ""),
          WORKLOAD("Deployment", "b", "replicas: three", "1", ""),
          WORKLOAD("StatefulSet", "c", "replicas: 100000000000000000000", "1", ""),
          WORKLOAD("ReplicaSet", "d", "replicas: 200000", "1", ""),
          "{apiVersion: batch/v1, kind: Job, metadata: {name: e}, spec: {parallelism: -1, "
          "template: "
          "{spec: " POD_SPEC("1", "") "}}}",
          "{apiVersion: batch/v1, kind: CronJob, metadata: {name: f}, spec: {jobTemplate: {spec: "
          "{completions: many, template: {spec: " POD_SPEC("1", "") "}}}}}",
          POD("one", "1", "")},
         "default small on-demand a 1: one\n",
         0,
         6},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

/* Which round places a pod that the rounds that were asked for leave over. */
static void later_rounds_are_known(void)
{
    static const char *const documents[] = {POOL, WORKLOAD("Deployment", "web", "replicas: 4", "1",
                                                           ANTI("topology.kubernetes.io/zone"))};
    static const size_t rounds[] = {2, 3, 0};
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, COUNT_OF(documents));
    const struct simulation_settings settings = {.max_rounds = 1};
    struct simulation simulation;
    struct error error = {0};
    CU_ASSERT_FATAL(simulation_run(snapshot, fixture_catalog(&fixture), &settings, fixture.arena,
                                   &simulation, &fixture.problems, &error));
    ASSERT_TEXT(fixture_lines(&fixture, &simulation),
                "default small on-demand a 1: web-0\nnowhere web-1: topology\n"
                "nowhere web-2: topology\nnowhere web-3: topology\n");
    CU_ASSERT_FATAL(simulation.unschedulable_count == COUNT_OF(rounds));
    for (size_t i = 0; i < COUNT_OF(rounds); i++)
        ASSERT_INT(simulation.unschedulable[i].later_round, rounds[i]);
    CU_ASSERT_FALSE(simulation.incomplete);
    arena_destroy(fixture.arena);
}

/* The memory of a plan of pods that all differ, for which nobody knows what the NodePools launch.
 */
static size_t bytes_of_undecided(size_t pods, size_t pools)
{
    enum { MOST = 128 };
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    const char *documents[MOST];
    size_t count = 0;
    for (size_t i = 0; i < pools; i++)
        documents[count++] =
            arena_printf(fixture.arena,
                         "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: p%zu}, "
                         "spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: "
                         "EC2NodeClass, name: a}, requirements: [{key: "
                         "node.kubernetes.io/instance-type, operator: In, values: [g2.2xlarge]}]}"
                         "}}}",
                         i)
                .data;
    for (size_t i = 0; i < pods; i++)
        documents[count++] = arena_printf(fixture.arena,
                                          "{apiVersion: v1, kind: Pod, metadata: {name: q%zu}, "
                                          "spec: " POD_SPEC("%zum", "") "}",
                                          i, i + 1)
                                 .data;
    const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, count);
    const struct simulation_settings settings = {0};
    struct simulation simulation;
    struct error error = {0};
    CU_ASSERT_FATAL(simulation_run(snapshot, catalog_builtin(fixture.arena), &settings,
                                   fixture.arena, &simulation, &fixture.problems, &error));
    ASSERT_INT(simulation.undecided_count, pods);
    size_t bytes = arena_used_bytes(fixture.arena);
    arena_destroy(fixture.arena);
    return bytes;
}

static void what_is_not_known_costs_little_memory(void)
{
    enum { FEW = 10, MANY = 110, POOLS = 4, EACH_BYTES = 12 << 10 };
    size_t bytes = bytes_of_undecided(MANY, POOLS) - bytes_of_undecided(FEW, POOLS);
    CU_ASSERT(bytes / ((size_t)(MANY - FEW) * POOLS) < EACH_BYTES);
}

const struct unit_test unit_tests[] = {
    {"what is not known costs little memory", what_is_not_known_costs_little_memory},
    {"pods left alone go to nodes there are", pods_left_alone_go_to_nodes_there_are},
    {"what is broken does not stop the rest", what_is_broken_does_not_stop_the_rest},
    {"later rounds are known", later_rounds_are_known},
    {NULL, NULL},
};
