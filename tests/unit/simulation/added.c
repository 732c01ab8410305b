/* labels: threads */
/* What a workload adds: planned alone from the supply's stock, as a plan of files without Nodes and
 * other pods has it. */
#include "simulation/added.h"

#include <pthread.h>

#include "kube/pod.h"
#include "kube/snapshot.h"
#include "simulation/supply.h"
#include "simulation_fixture.h"

const char unit_suite[] = "simulation added";

#define DEPLOYMENT(replicas, cpu, more)                                                          \
    WORKLOAD("Deployment", "web", "replicas: " replicas ", selector: {matchLabels: {app: web}}", \
             cpu, more)
#define DAEMON(cpu) WORKLOAD("DaemonSet", "agent", "replicas: 0", cpu, "")
#define NAMESPACE(name) "{apiVersion: v1, kind: Namespace, metadata: {name: " name "}}"
#define JOB(spec, cpu)                                                      \
    "{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {" spec \
    ", template: {spec: " POD_SPEC(cpu, ", restartPolicy: Never") "}}}"

struct added_case {
    const char *name;
    const char *documents[MOST_DOCUMENTS]; /* the last is the workload */
    struct added expected;
};

static size_t count_documents(const struct added_case *test)
{
    size_t count = 0;
    while (count < MOST_DOCUMENTS && test->documents[count] != NULL)
        count++;
    return count;
}

static const struct object *find_workload(const struct snapshot *snapshot)
{
    static const enum kind kinds[] = {KIND_DEPLOYMENT, KIND_STATEFUL_SET, KIND_JOB, KIND_POD};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const struct object *found = snapshot_find(snapshot, kinds[i], TEXT("shop"), TEXT("web"));
        if (found != NULL)
            return found;
    }
    return NULL;
}

static struct added ask(const struct snapshot *snapshot, const struct catalog *catalog,
                        int64_t replicas)
{
    struct added added = {0};
    const struct supply *supply = supply_create(snapshot, catalog, NULL, true);
    const struct added_question question = {find_workload(snapshot), replicas, NULL, true};
    CU_ASSERT_FATAL(supply != NULL && question.workload != NULL);
    ASSERT_INT(supply_plan_alone(supply, snapshot, &question, &added), ADDED_KNOWN);
    supply_release(supply);
    return added;
}

static bool is_place_of_pods(const char *document)
{
    return strstr(document, "kind: Node,") != NULL || strstr(document, "kind: Pod,") != NULL;
}

/* The same from a plan of the documents without Nodes and Pods. */
static struct added plan(struct fixture *fixture, const struct added_case *test)
{
    const char *documents[MOST_DOCUMENTS];
    size_t count = 0;
    for (size_t i = 0; i < count_documents(test); i++)
        if (i + 1 == count_documents(test) || !is_place_of_pods(test->documents[i]))
            documents[count++] = test->documents[i];
    const struct simulation_settings settings = {0};
    struct simulation simulation;
    struct problems problems = {.arena = fixture->arena};
    struct error error;
    CU_ASSERT_FATAL(simulation_run(fixture_snapshot(fixture, documents, count),
                                   fixture_catalog(fixture), &settings, fixture->arena, &simulation,
                                   &problems, &error));
    struct added added = {.pods = (int64_t)simulation.pod_count,
                          .unplaced_count = simulation.unschedulable_count,
                          .node_count = simulation.claim_count,
                          .usd_micro_per_hour = simulation.usd_micro_per_hour};
    return added;
}

static void assert_added(const struct added *actual, const struct added *expected)
{
    ASSERT_INT(actual->pods, expected->pods);
    ASSERT_INT(actual->pods_left_out, expected->pods_left_out);
    ASSERT_INT(actual->unplaced_count, expected->unplaced_count);
    ASSERT_INT(actual->node_count, expected->node_count);
    ASSERT_INT(actual->unpriced_count, expected->unpriced_count);
    ASSERT_INT(actual->usd_micro_per_hour, expected->usd_micro_per_hour);
}

static void run(const struct added_case *test)
{
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    unsigned failures = CU_get_number_of_failures();
    const struct snapshot *snapshot =
        fixture_snapshot(&fixture, test->documents, count_documents(test));
    struct added added = ask(snapshot, fixture_catalog(&fixture), -1);
    struct added planned = plan(&fixture, test);
    assert_added(&added, &test->expected);
    assert_added(&added, &planned);
    if (CU_get_number_of_failures() != failures)
        fprintf(stderr, "in \"%s\"\n", test->name);
    arena_destroy(fixture.arena);
}

static void a_workload_is_planned_alone(void)
{
    static const struct added_case cases[] = {
        {"an empty node does not hold it",
         {POOL, NODE("n1", "a", "8"), DEPLOYMENT("1", "1500m", "")},
         {.pods = 1, .node_count = 1, .usd_micro_per_hour = 100000}},
        {"other pods do not count, DaemonSets do",
         {POOL, POD("other", "1", ""), DAEMON("1"), DEPLOYMENT("1", "1500m", "")},
         {.pods = 1, .node_count = 1, .usd_micro_per_hour = 400000}},
        {"Namespaces do not count, whether it is in one of them or makes no pod",
         {POOL, NAMESPACE("shop"), NAMESPACE("zoo"), DEPLOYMENT("1", "1500m", "")},
         {.pods = 1, .node_count = 1, .usd_micro_per_hour = 100000}},
        {"no replicas", {POOL, NAMESPACE("shop"), DEPLOYMENT("0", "1500m", "")}, {0}},
        {"a DaemonSet that is leaving keeps no room",
         {POOL,
          "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent, deletionTimestamp: "
          "'2026-01-01T00:00:00Z'}, spec: {template: {spec: " POD_SPEC("1", "") "}}}",
          DEPLOYMENT("1", "1500m", "")},
         {.pods = 1, .node_count = 1, .usd_micro_per_hour = 100000}},
        {"replicas that are no number", {POOL, DEPLOYMENT("-1", "1500m", "")}, {0}},
        {"its pods that run are planned, too",
         {POOL, NODE("n1", "a", "8"), POD("web-0", "1", ", nodeName: n1"),
          DEPLOYMENT("2", "1500m", "")},
         {.pods = 2, .node_count = 1, .usd_micro_per_hour = 400000}},
        {"where it fits nowhere it adds nothing",
         {POOL, DEPLOYMENT("1", "64", "")},
         {.pods = 1, .unplaced_count = 1}},
        {"none", {POOL, DEPLOYMENT("0", "1", "")}, {0}},
        {"spread over zones",
         {POOL, DEPLOYMENT("3", "1", SPREAD("topology.kubernetes.io/zone"))},
         {.pods = 3, .node_count = 3, .usd_micro_per_hour = 300000}},
        {"one on a host, and a fourth zone there is none",
         {POOL, DEPLOYMENT("4", "1", ANTI("topology.kubernetes.io/zone"))},
         {.pods = 4, .unplaced_count = 1, .node_count = 3, .usd_micro_per_hour = 300000}},
        {"a StatefulSet of which one runs",
         {POOL, NODE("n1", "a", "8"), POD("web-0", "1", ", nodeName: n1"),
          WORKLOAD("StatefulSet", "web", "replicas: 3, serviceName: web", "1500m", "")},
         {.pods = 3, .node_count = 1, .usd_micro_per_hour = 400000}},
        {"a Job, of whose completions some are at once",
         {POOL, JOB("parallelism: 2, completions: 9", "1500m")},
         {.pods = 2, .node_count = 1, .usd_micro_per_hour = 400000}},
        {"a suspended Job", {POOL, JOB("suspend: true", "1")}, {0}},
        {"a Pod",
         {POOL, POD("web", "1", "")},
         {.pods = 1, .node_count = 1, .usd_micro_per_hour = 100000}},
        {"a volume that is bound in a zone",
         {POOL, CLASS("ebs", "WaitForFirstConsumer", ""),
          VOLUME("v1", ", claimRef: {namespace: shop, name: data}" IN_ZONES("[b]")),
          CLAIM("data", "{volumeName: v1, storageClassName: ebs}"),
          DEPLOYMENT("2", "1500m", MOUNTS("data"))},
         {.pods = 2, .node_count = 1, .usd_micro_per_hour = 400000}},
        {"volumes that are made where the pod is",
         {POOL, CLASS("ebs", "WaitForFirstConsumer", ""), CLAIM("data", "{storageClassName: ebs}"),
          DEPLOYMENT("2", "1500m", MOUNTS("data") SPREAD("topology.kubernetes.io/zone"))},
         {.pods = 2, .unplaced_count = 1, .node_count = 1, .usd_micro_per_hour = 100000}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        run(&cases[i]);
}

/* What the stock does not name, nothing has. */
static void beside_what_runs(void)
{
    static const char replica_set[] =
        "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, ownerReferences: "
        "[{apiVersion: apps/v1, kind: Deployment, name: web, controller: true}]}}";
#define OWN_POD(name, more)                                                                 \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name                                    \
    ", ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, controller: " \
    "true}]}, spec: " POD_SPEC("1500m", more) "}"
    static const struct {
        struct added_case as;
        int64_t replicas;
    } cases[] = {
        {{"room for both",
          {POOL, NODE("n1", "a", "8"), POD("other", "1", ", nodeName: n1"),
           DEPLOYMENT("2", "1500m", "")},
          {.pods = 2}},
         -1},
        {{"room for one",
          {POOL, NODE("n1", "a", "2"), DEPLOYMENT("2", "1500m", "")},
          {.pods = 2, .node_count = 1, .usd_micro_per_hour = 100000}},
         -1},
        {{"no room, since others run there",
          {POOL, NODE("n1", "a", "8"), POD("other", "7", ", nodeName: n1"),
           DEPLOYMENT("2", "1500m", "")},
          {.pods = 2, .node_count = 1, .usd_micro_per_hour = 400000}},
         -1},
        {{"those that wait are not its own",
          {POOL, NODE("n1", "a", "2"), POD("other", "7", ""), DEPLOYMENT("1", "1500m", "")},
          {.pods = 1}},
         -1},
        {{"one runs, and one waits",
          {POOL, NODE("n1", "a", "2"), replica_set, OWN_POD("web-1-a", ", nodeName: n1"),
           OWN_POD("web-1-b", ""), DEPLOYMENT("3", "1500m", "")},
          {.pods = 2, .node_count = 1, .usd_micro_per_hour = 400000}},
         -1},
        {{"as many as an autoscaler says",
          {POOL, NODE("n1", "a", "2"), DEPLOYMENT("1", "1500m", "")},
          {.pods = 2, .node_count = 1, .usd_micro_per_hour = 100000}},
         2},
        {{"a Node leaves: its room does not count, and what ran there is another's matter",
          {POOL,
           "{apiVersion: v1, kind: Node, metadata: {name: n1, deletionTimestamp: "
           "'2026-01-01T00:00:00Z'}, status: {allocatable: {cpu: 8, memory: 8Gi, pods: 9}}}",
           POD("other", "4", ", nodeName: n1"), DEPLOYMENT("1", "1500m", "")},
          {.pods = 1, .node_count = 1, .usd_micro_per_hour = 100000}},
         -1},
        {{"pods that are done are none",
          {POOL, NODE("n1", "a", "2"),
           "{apiVersion: v1, kind: Pod, metadata: {name: old}, spec: " POD_SPEC(
               "1500m", ", nodeName: n1") ", status: {phase: Succeeded}}",
           DEPLOYMENT("1", "1500m", "")},
          {.pods = 1}},
         -1},
        {{"no replicas", {POOL, DEPLOYMENT("0", "1500m", "")}, {0}}, -1},
        {{"replicas that are no number", {POOL, DEPLOYMENT("-1", "1500m", "")}, {0}}, -1},
        {{"a Node that nobody else has a resource of",
          {POOL,
           "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, "
           "memory: 8Gi, pods: 9, example.com/gpu: 1}}}",
           DEPLOYMENT("2", "1, example.com/gpu: 1", "")},
          {.pods = 2, .unplaced_count = 1}},
         -1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        unsigned failures = CU_get_number_of_failures();
        const struct snapshot *snapshot =
            fixture_snapshot(&fixture, cases[i].as.documents, count_documents(&cases[i].as));
        const struct supply *supply =
            supply_create(snapshot, fixture_catalog(&fixture), NULL, true);
        const struct added_question question = {find_workload(snapshot), cases[i].replicas, NULL,
                                                true};
        struct added added;
        ASSERT_INT(supply_plan_beside(supply, snapshot, &question, &added), ADDED_KNOWN);
        assert_added(&added, &cases[i].as.expected);
        if (CU_get_number_of_failures() != failures)
            fprintf(stderr, "in \"%s\"\n", cases[i].as.name);
        supply_release(supply);
        arena_destroy(fixture.arena);
    }
}

/* The stock names no resource whose name is that long. */
static void beside_a_node_that_the_stock_does_not_know(void)
{
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    struct text_builder name = {.arena = fixture.arena};
    for (int i = 0; i < 60; i++)
        text_builder_printf(&name, "ten-bytes-");
    const char *documents[] = {
        POOL,
        arena_printf(fixture.arena,
                     "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: "
                     "{cpu: 4, memory: 8Gi, pods: 9, example.com/%.*s: 1}}}",
                     TEXT_ARGS(text_builder_text(&name)))
            .data,
        DEPLOYMENT("2", "1", "")};
    const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, COUNT_OF(documents));
    const struct supply *supply = supply_create(snapshot, fixture_catalog(&fixture), NULL, true);
    const struct added_question question = {find_workload(snapshot), -1, NULL, true};
    struct added added;
    ASSERT_INT(supply_plan_beside(supply, snapshot, &question, &added), ADDED_UNKNOWN);
    ASSERT_INT(supply_plan_alone(supply, snapshot, &question, &added), ADDED_KNOWN);
    supply_release(supply);
    arena_destroy(fixture.arena);
}

/* What is there stays as it is. */
static void pods_of_another_template_are_planned(void)
{
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    static const char *const documents[] = {
        POOL, NODE("n1", "a", "9"), POD("other", "1", ", nodeName: n1"), DEPLOYMENT("2", "1", ""),
        WORKLOAD("StatefulSet", "room", "replicas: 1", "7", "")};
    const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, COUNT_OF(documents));
    const struct supply *supply = supply_create(snapshot, fixture_catalog(&fixture), NULL, true);
    struct workload room;
    CU_ASSERT_FATAL(
        workload_read(snapshot_object(snapshot, KIND_STATEFUL_SET, 0), fixture.arena, &room));
    const struct added_question question = {find_workload(snapshot), -1, &room, true};
    struct added added;
    ASSERT_INT(supply_plan_beside(supply, snapshot, &question, &added), ADDED_KNOWN);
    assert_added(&added, &(struct added){.pods = 2, .node_count = 1, .usd_micro_per_hour = 400000});
    supply_release(supply);
    arena_destroy(fixture.arena);
}

static void what_nothing_has_adds_nothing(void)
{
    static const char *const requests[] = {"1, example.com/gpu: 1", "1, example.com/gpu: 0"};
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        const char *documents[] = {
            POOL, arena_printf(fixture.arena, DEPLOYMENT("2", "%s", ""), requests[i]).data};
        struct added added =
            ask(fixture_snapshot(&fixture, documents, 2), fixture_catalog(&fixture), -1);
        ASSERT_INT(added.unplaced_count, i == 0 ? 2 : 0);
        ASSERT_INT(added.node_count, i == 0 ? 0 : 1);
        arena_destroy(fixture.arena);
    }
}

static void of_very_many_pods_a_thousand_are_planned(void)
{
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    static const char *const documents[] = {POOL, DEPLOYMENT("20000000", "1", "")};
    const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, COUNT_OF(documents));
    struct added added = ask(snapshot, fixture_catalog(&fixture), -1);
    ASSERT_INT(added.pods, 1000);
    ASSERT_INT(added.pods_left_out, 20000000 - 1000);
    ASSERT_INT(added.node_count, 143);
    added = ask(snapshot, fixture_catalog(&fixture), 7);
    ASSERT_INT(added.pods, 7);
    ASSERT_INT(added.pods_left_out, 0);
    arena_destroy(fixture.arena);
}

/* Of very many terms none that a node of the NodePool meets, or the last. */
static void of_very_many_terms(void)
{
    static const struct {
        size_t terms;
        const char *last;
        enum added_kind kind;
        int64_t pods;
        size_t unplaced;
    } cases[] = {
        {50, "topology.kubernetes.io/zone", ADDED_KNOWN, 784, 0},
        {500, "topology.kubernetes.io/zone", ADDED_KNOWN, 79, 0},
        {500, "nowhere", ADDED_KNOWN, 79, 79},
        {50000, "topology.kubernetes.io/zone", ADDED_TOO_MUCH, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct text_builder terms = {.arena = fixture.arena};
        for (size_t j = 1; j < cases[i].terms; j++)
            text_builder_printf(&terms, "{matchExpressions: [{key: k%zu, operator: Exists}]}, ", j);
        text_builder_printf(&terms, "{matchExpressions: [{key: %s, operator: Exists}]}",
                            cases[i].last);
        const char *documents[] = {
            POOL, arena_printf(fixture.arena,
                               DEPLOYMENT("5000", "1",
                                          ", affinity: {nodeAffinity: {"
                                          "requiredDuringSchedulingIgnoredDuringExecution: "
                                          "{nodeSelectorTerms: [%.*s]}}}"),
                               TEXT_ARGS(text_builder_text(&terms)))
                      .data};
        const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, 2);
        const struct supply *supply =
            supply_create(snapshot, fixture_catalog(&fixture), NULL, true);
        const struct added_question question = {find_workload(snapshot), -1, NULL, true};
        struct added added = {0};
        ASSERT_INT(supply_plan_alone(supply, snapshot, &question, &added), cases[i].kind);
        if (cases[i].kind == ADDED_KNOWN) {
            ASSERT_INT(added.pods, cases[i].pods);
            ASSERT_INT(added.unplaced_count, cases[i].unplaced);
        }
        supply_release(supply);
        arena_destroy(fixture.arena);
    }
}

static void without_types_nobody_knows(void)
{
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    static const char *const documents[] = {NODE("n1", "a", "8"), DEPLOYMENT("1", "1", "")};
    const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, COUNT_OF(documents));
    const struct added_question question = {find_workload(snapshot), -1, NULL, true};
    struct added added;
    for (int plans = 0; plans <= 1; plans++) {
        const struct supply *supply =
            supply_create(snapshot, fixture_catalog(&fixture), NULL, plans == 1);
        ASSERT_INT(supply_plan_alone(supply, snapshot, &question, &added), ADDED_UNKNOWN);
        supply_release(supply);
    }
    ASSERT_INT(supply_plan_alone(NULL, snapshot, &question, &added), ADDED_UNKNOWN);
    ASSERT_INT(supply_plan_beside(NULL, snapshot, &question, &added), ADDED_UNKNOWN);
    arena_destroy(fixture.arena);
}

/* A review does not wait for a plan of a large cluster. */
static void beside_very_much_nothing_is_planned(void)
{
    static const struct {
        const char *version, *kind;
        int count;
        enum added_kind planned;
    } cases[] = {
        {"v1", "Node", 500, ADDED_KNOWN},
        {"v1", "Node", 501, ADDED_UNKNOWN},
        {"karpenter.sh/v1", "NodeClaim", 501, ADDED_UNKNOWN},
        {"v1", "Pod", 5001, ADDED_UNKNOWN},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct text_builder yaml = {.arena = fixture.arena};
        text_builder_add(&yaml, TEXT(POOL "\n---\n" DEPLOYMENT("1", "1", "") "\n"));
        for (int j = 0; j < cases[i].count; j++)
            text_builder_printf(&yaml, "---\n{apiVersion: %s, kind: %s, metadata: {name: x%d}}\n",
                                cases[i].version, cases[i].kind, j);
        const char *documents[] = {text_builder_text(&yaml).data};
        const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, 1);
        const struct supply *supply =
            supply_create(snapshot, fixture_catalog(&fixture), NULL, true);
        const struct added_question question = {find_workload(snapshot), -1, NULL, true};
        struct added added;
        ASSERT_INT(supply_plan_beside(supply, snapshot, &question, &added), cases[i].planned);
        ASSERT_INT(supply_plan_alone(supply, snapshot, &question, &added), ADDED_KNOWN);
        supply_release(supply);
        arena_destroy(fixture.arena);
    }
}

/* A catalogue may leave a price out, or say that something costs nothing. */
static void what_has_no_price_is_counted(void)
{
#define PRICED(price)                                                                           \
    "[{\"name\": \"small\", \"architecture\": \"amd64\", \"operatingSystems\": [\"linux\"], "   \
    "\"resources\": {\"cpu\": \"2\", \"memory\": \"4Gi\"}, \"offerings\": [{" price             \
    "\"Available\": "                                                                           \
    "true, \"Requirements\": [{\"key\": \"karpenter.sh/capacity-type\", \"operator\": \"In\", " \
    "\"values\": [\"on-demand\"]}, {\"key\": \"topology.kubernetes.io/zone\", \"operator\": "   \
    "\"In\", \"values\": [\"a\"]}]}]}]"
    static const struct {
        const char *catalog;
        size_t unpriced;
    } cases[] = {{PRICED(""), 2}, {PRICED("\"Price\": 0, "), 0}};
    static const char *const documents[] = {POOL, DEPLOYMENT("2", "1500m", "")};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct source *source = ARENA_NEW(fixture.arena, struct source);
        source->text = text_of(cases[i].catalog);
        const struct catalog *catalog = NULL;
        struct error error = {0};
        CU_ASSERT_FATAL(catalog_read(source, fixture.arena, &catalog, &error));
        struct added added = ask(fixture_snapshot(&fixture, documents, 2), catalog, -1);
        ASSERT_INT(added.node_count, 2);
        ASSERT_INT(added.unpriced_count, cases[i].unpriced);
        ASSERT_INT(added.usd_micro_per_hour, 0);
        arena_destroy(fixture.arena);
    }
}

/* Reviews plan at one time over the stock of one world. */
struct asker {
    const struct supply *supply;
    const struct snapshot *snapshot;
    struct added_question question;
    struct added alone, beside;
    bool same;
};

static bool is_known(const struct asker *asker, struct added *alone, struct added *beside)
{
    return supply_plan_alone(asker->supply, asker->snapshot, &asker->question, alone) ==
               ADDED_KNOWN &&
           supply_plan_beside(asker->supply, asker->snapshot, &asker->question, beside) ==
               ADDED_KNOWN;
}

static void *ask_often(void *argument)
{
    enum { TIMES = 20 };
    struct asker *asker = argument;
    asker->same = is_known(asker, &asker->alone, &asker->beside);
    for (int i = 1; i < TIMES && asker->same; i++) {
        struct added alone, beside;
        asker->same = is_known(asker, &alone, &beside) &&
                      alone.usd_micro_per_hour == asker->alone.usd_micro_per_hour &&
                      beside.node_count == asker->beside.node_count;
    }
    return NULL;
}

static void several_threads_plan_over_one_stock(void)
{
    enum { THREADS = 4 };
    static const char *const documents[] = {POOL, NODE("n1", "a", "2"),
                                            POD("other", "1", ", nodeName: n1"), DAEMON("100m"),
                                            DEPLOYMENT("3", "1500m", "")};
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, COUNT_OF(documents));
    const struct supply *supply = supply_create(snapshot, fixture_catalog(&fixture), NULL, true);
    struct asker askers[THREADS];
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        askers[i] = (struct asker){
            .supply = supply,
            .snapshot = snapshot,
            .question = {find_workload(snapshot), (int64_t)(i / 2) * 20 + 2, NULL, true}};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, ask_often, &askers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        CU_ASSERT_EQUAL_FATAL(pthread_join(threads[i], NULL), 0);
        CU_ASSERT_TRUE(askers[i].same);
    }
    for (size_t i = 0; i < THREADS; i += 2) {
        assert_added(&askers[i].alone, &askers[i + 1].alone);
        assert_added(&askers[i].beside, &askers[i + 1].beside);
    }
    CU_ASSERT_TRUE(askers[0].alone.usd_micro_per_hour < askers[2].alone.usd_micro_per_hour);
    supply_release(supply);
    arena_destroy(fixture.arena);
}

const struct unit_test unit_tests[] = {
    {"a workload is planned alone", a_workload_is_planned_alone},
    {"beside what runs", beside_what_runs},
    {"beside a Node that the stock does not know", beside_a_node_that_the_stock_does_not_know},
    {"pods of another template are planned", pods_of_another_template_are_planned},
    {"what nothing has adds nothing", what_nothing_has_adds_nothing},
    {"of very many pods a thousand are planned", of_very_many_pods_a_thousand_are_planned},
    {"of very many terms", of_very_many_terms},
    {"without types nobody knows", without_types_nobody_knows},
    {"beside very much nothing is planned", beside_very_much_nothing_is_planned},
    {"what has no price is counted", what_has_no_price_is_counted},
    {"several threads plan over one stock", several_threads_plan_over_one_stock},
    {NULL, NULL},
};
