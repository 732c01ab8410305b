/* A small catalogue, simulations as text, and tables of clusters with their simulations. */
#ifndef TAFFRAIL_TESTS_FORECAST_FIXTURE_H
#define TAFFRAIL_TESTS_FORECAST_FIXTURE_H

#include "catalog/catalog.h"
#include "cluster_fixture.h"
#include "simulation/simulation.h"

struct catalog;
struct snapshot;

/* small: 2 CPU and 4 GiB for 0.10 $; large: 8 CPU and 32 GiB for 0.40 $. Both are on demand in
 * zones a, b and c; large is also spot in a for 0.15 $. Each reserves 0.1 CPU and 10 MiB. */
#define FIXTURE_OFFERING(zone, capacity_type, price)                                             \
    "{\"Price\": " price ", \"Available\": true, \"Requirements\": ["                            \
    "{\"key\": \"karpenter.sh/capacity-type\", \"operator\": \"In\", \"values\": "               \
    "[\"" capacity_type "\"]}, {\"key\": \"topology.kubernetes.io/zone\", \"operator\": \"In\"," \
    " \"values\": [\"" zone "\"]}]}"
#define FIXTURE_TYPE(name, cpu, memory, offerings)                                              \
    "{\"name\": \"" name "\", \"architecture\": \"amd64\", \"operatingSystems\": [\"linux\"], " \
    "\"resources\": {\"cpu\": \"" cpu "\", \"memory\": \"" memory                               \
    "\"}, \"offerings\": [" offerings "]}"

#define FIXTURE_IN_ALL(price)                 \
    FIXTURE_OFFERING("a", "on-demand", price) \
    ", " FIXTURE_OFFERING("b", "on-demand", price) ", " FIXTURE_OFFERING("c", "on-demand", price)
#define FIXTURE_SMALL FIXTURE_TYPE("small", "2", "4Gi", FIXTURE_IN_ALL("0.1"))
#define FIXTURE_LARGE                  \
    FIXTURE_TYPE("large", "8", "32Gi", \
                 FIXTURE_IN_ALL("0.4") ", " FIXTURE_OFFERING("a", "spot", "0.15"))
static const char fixture_catalog_text[] = "[" FIXTURE_SMALL ", " FIXTURE_LARGE "]";

static const struct catalog *fixture_catalog(struct fixture *fixture)
{
    struct source *source = ARENA_NEW(fixture->arena, struct source);
    source->text = TEXT(fixture_catalog_text);
    const struct catalog *catalog = NULL;
    struct error error = {0};
    if (!catalog_read(source, fixture->arena, &catalog, &error)) {
        fprintf(stderr, "%s\n", error.what);
        CU_FAIL_FATAL("the test's catalogue is none");
    }
    return catalog;
}

static void fixture_write_pods(struct text_builder *text, const struct simulation *simulation,
                               const struct simulation_node *node)
{
    for (size_t i = 0; i < node->pod_count; i++) {
        const struct simulation_pod *pod = &simulation->pods[node->pods[i]];
        text_builder_printf(text, " %.*s%s", TEXT_ARGS(pod->name), pod->running ? "!" : "");
    }
}

/* " (in vain one two)" */
static void fixture_write_misplaced(struct text_builder *text, const struct simulation *simulation,
                                    const struct simulation_node *node)
{
    for (size_t i = 0; i < node->misplaced_count; i++)
        text_builder_printf(text, "%s%.*s", i == 0 ? " (in vain " : " ",
                            TEXT_ARGS(simulation->pods[node->misplaced[i]].name));
    text_builder_printf(text, "%s\n", node->misplaced_count > 0 ? ")" : "");
}

static void fixture_write_misfits(struct text_builder *text, const struct simulation *simulation,
                                  const char *word, const struct simulation_unschedulable *misfits,
                                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_builder_printf(text, "%s %.*s:", word,
                            TEXT_ARGS(simulation->pods[misfits[i].pod].name));
        for (size_t j = 0; j < misfits[i].reason_count; j++)
            text_builder_printf(text, " %s", misfits[i].reasons[j].kind);
        text_builder_printf(text, "\n");
    }
}

/* One line each: "node NAME: pods", "POOL TYPE CAPACITY ZONE ROUND: pods", "nowhere POD: KIND",
 * "undecided POD: KIND". Pods that had a node before have a "!". Nodes without pods are left out.
 */
static struct text fixture_lines(struct fixture *fixture, const struct simulation *simulation)
{
    struct text_builder text = {.arena = fixture->arena};
    for (size_t i = 0; i < simulation->node_count; i++) {
        const struct simulation_node *node = &simulation->nodes[i];
        if (node->round == 0 && node->pod_count == 0)
            continue;
        if (node->round == 0)
            text_builder_printf(&text, "node %.*s:", TEXT_ARGS(node->name));
        else
            text_builder_printf(&text, "%.*s %.*s %.*s %.*s %zu:", TEXT_ARGS(node->node_pool),
                                TEXT_ARGS(node->instance_type), TEXT_ARGS(node->capacity_type),
                                TEXT_ARGS(node->zone), node->round);
        fixture_write_pods(&text, simulation, node);
        fixture_write_misplaced(&text, simulation, node);
    }
    fixture_write_misfits(&text, simulation, "nowhere", simulation->unschedulable,
                          simulation->unschedulable_count);
    fixture_write_misfits(&text, simulation, "undecided", simulation->undecided,
                          simulation->undecided_count);
    return text_builder_text(&text);
}

/* ---- tables of clusters and what is simulation for them ---- */

enum { MOST_DOCUMENTS = 12, BUDGET_BYTES = 256 << 20 };

#define POOL                                                                             \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}, spec: "    \
    "{template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, " \
    "values: [on-demand]}]}}}}"
#define POD_SPEC(cpu, more) \
    "{containers: [{name: main, resources: {requests: {cpu: " cpu "}}}]" more "}"
#define POD(name, cpu, more)                                                     \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name ", labels: {app: " name \
    "}}, spec: " POD_SPEC(cpu, more) "}"
#define WORKLOAD(kind, name, spec, cpu, more)                                        \
    "{apiVersion: apps/v1, kind: " kind ", metadata: {name: " name "}, spec: {" spec \
    ", template: {metadata: {labels: {app: " name "}}, spec: " POD_SPEC(cpu, more) "}}}"
#define NODE(name, zone, cpu)                                                              \
    "{apiVersion: v1, kind: Node, metadata: {name: " name                                  \
    ", labels: {topology.kubernetes.io/zone: " zone "}}, status: {allocatable: {cpu: " cpu \
    ", memory: 8Gi, pods: 110}}}"
#define CLASS(name, mode, more)                                                  \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " name \
    "}, provisioner: ebs.csi.aws.com, volumeBindingMode: " mode more "}"
#define CLAIM(name, spec) \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " name "}, spec: " spec "}"
#define MOUNTS(claim) ", volumes: [{name: data, persistentVolumeClaim: {claimName: " claim "}}]"
#define VOLUME(name, more)                                                                   \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name "}, spec: {capacity: " \
    "{storage: 1Gi}, csi: {driver: ebs.csi.aws.com}" more "}}"
#define IN_ZONES(zones)                                                          \
    ", nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: " \
    "topology.ebs.csi.aws.com/zone, operator: In, values: " zones "}]}]}}"
#define SPREAD(key)                                                                        \
    ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: " key ", whenUnsatisfiable: " \
    "DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]"
#define ANTI(key)                                                                       \
    ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{" \
    "topologyKey: " key ", labelSelector: {matchLabels: {app: web}}}]}}"

struct simulation_case {
    const char *name;
    const char *documents[MOST_DOCUMENTS];
    const char *lines;
    size_t max_rounds, problems;
};

static inline struct text fixture_run(struct fixture *fixture, const struct simulation_case *test,
                                      bool backwards)
{
    const char *documents[MOST_DOCUMENTS];
    size_t count = 0;
    while (count < MOST_DOCUMENTS && test->documents[count] != NULL)
        count++;
    for (size_t i = 0; i < count; i++)
        documents[i] = test->documents[backwards ? count - 1 - i : i];
    const struct snapshot *snapshot = fixture_snapshot(fixture, documents, count);
    const struct simulation_settings settings = {.max_rounds = test->max_rounds};
    struct simulation simulation;
    struct error error = {0};
    CU_ASSERT_FATAL(simulation_run(snapshot, fixture_catalog(fixture), &settings, fixture->arena,
                                   &simulation, &fixture->problems, &error));
    ASSERT_INT(fixture->problems.count, test->problems);
    for (size_t i = 0; i < fixture->problems.count && test->problems == 0; i++)
        fprintf(stderr, "%s: %s\n", test->name, fixture->problems.items[i].what);
    return fixture_lines(fixture, &simulation);
}

/* The documents in reverse order must give the same simulation. */
static inline void fixture_run_cases(const struct simulation_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct text lines = fixture_run(&fixture, &cases[i], false);
        if (!text_is(lines, cases[i].lines))
            fprintf(stderr, "in \"%s\":\n", cases[i].name);
        ASSERT_TEXT(lines, cases[i].lines);
        ASSERT_TEXT(fixture_run(&fixture, &cases[i], true), cases[i].lines);
        arena_destroy(fixture.arena);
    }
}

#endif
