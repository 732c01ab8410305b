/* What a DaemonSet takes of Nodes and of instance types, and which Nodes it runs on. */
#include "simulation/daemon_fit.h"

#include "kube/pod.h"
#include "kube/pool.h"
#include "object_fixture.h"
#include "simulation/ways.h"
#include "simulation_fixture.h"

#define DAEMON(name, cpu, more) WORKLOAD("DaemonSet", name, "selector: {}", cpu, more)
#define NODE_WITH(name, metadata, spec, status)                                      \
    "{apiVersion: v1, kind: Node, metadata: {name: " name metadata "}, spec: {" spec \
    "}, status: {" status "}}"
#define OF_TYPE(type) ", labels: {node.kubernetes.io/instance-type: " type "}"
#define ROOM(cpu) "allocatable: {cpu: " cpu ", memory: 4Gi, pods: 9}"
#define RUNS(name, node, cpu, metadata, status)                   \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name metadata \
    "}, spec: " POD_SPEC(cpu, ", nodeName: " node) status "}"
#define OF_DAEMON_SET(name)                                                                   \
    ", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: " name ", controller: " \
    "true}]"

/* ---- Nodes ---- */

struct nodes_case {
    const char *name;
    const char *documents[MOST_DOCUMENTS]; /* beside the DaemonSet "agent" of one cpu */
    const char *nodes;                     /* "COUNT full NAME; PRICED USD_MICRO" */
};

static void nodes_have_room_or_not(void)
{
    static const struct nodes_case cases[] = {
        {"none", {POOL}, "0; 0 0"},
        {"room and no room",
         {NODE_WITH("n1", OF_TYPE("small"), "", ROOM("2")), NODE_WITH("n2", "", "", ROOM("1")),
          NODE_WITH("n3", "", "", ROOM("900m"))},
         "3 full n3; 1 50000"},
        {"the larger part of the price",
         {NODE_WITH("n1", OF_TYPE("small"), "", "allocatable: {cpu: 500m, memory: 4Gi, pods: 9}")},
         "1 full n1; 1 100000"},
        {"a Node that has nothing of it costs nothing",
         {NODE_WITH("n1", OF_TYPE("small"), "", "allocatable: {memory: 4Gi, pods: 9}")},
         "1 full n1; 1 0"},
        {"what a Node is made of counts where it does not say what it has left",
         {NODE_WITH("n1", "", "", "capacity: {cpu: 2, pods: 9}")},
         "1; 0 0"},
        {"not those that do not say, or that nobody understands, or that are leaving",
         {NODE_WITH("n1", "", "", ""), NODE_WITH("n2", "", "", "allocatable: {cpu: x}"),
          NODE_WITH("n3", ", deletionTimestamp: '2026-01-01T00:00:00Z'", "", ROOM("2"))},
         "0; 0 0"},
        {"pods take room",
         {NODE_WITH("n1", "", "", ROOM("2")), RUNS("p", "n1", "1500m", "", "")},
         "1 full n1; 0 0"},
        {"not pods that are leaving, or done, or nobody understands, or are on other Nodes",
         {NODE_WITH("n1", "", "", ROOM("2")),
          RUNS("p", "n1", "1500m", ", deletionTimestamp: '2026-01-01T00:00:00Z'", ""),
          RUNS("q", "n1", "1500m", "", ", status: {phase: Failed}"),
          RUNS("r", "n1", "lots", "", ""), RUNS("s", "n2", "1500m", "", ""), POD("t", "1500m", "")},
         "1; 0 0"},
        {"nor its own; those of another DaemonSet do, and those of its name elsewhere",
         {NODE_WITH("n1", "", "", ROOM("2")), RUNS("p", "n1", "1500m", OF_DAEMON_SET("agent"), ""),
          NODE_WITH("n2", "", "", ROOM("2")), RUNS("q", "n2", "1500m", OF_DAEMON_SET("log"), ""),
          NODE_WITH("n3", "", "", ROOM("2")),
          RUNS("r", "n3", "1500m", ", namespace: bank" OF_DAEMON_SET("agent"), "")},
         "3 full n2 n3; 0 0"},
        {"more pods than a Node has room for",
         {NODE_WITH("n1", "", "", ROOM("2")), RUNS("p", "n1", "9P", "", ""),
          RUNS("q", "n1", "9P", "", "")},
         "1 full n1; 0 0"},
        /* which Nodes */
        {"taints that its pods tolerate by themselves, and soft ones",
         {NODE_WITH("n1", "", "taints: [{key: a, effect: PreferNoSchedule}]", ROOM("2")),
          NODE_WITH("n2", "", "taints: [{key: readiness.k8s.io/net, effect: NoSchedule}]",
                    ROOM("2")),
          NODE_WITH("n3", "",
                    "taints: [{key: node.kubernetes.io/disk-pressure, effect: NoSchedule}]",
                    ROOM("2")),
          NODE_WITH("n4", "", "taints: [{key: karpenter.sh/unregistered, effect: NoExecute}]",
                    ROOM("2"))},
         "4; 0 0"},
        {"not others",
         {NODE_WITH("n1", "", "taints: [{key: a, effect: NoSchedule}]", ROOM("2")),
          NODE_WITH("n2", "", "taints: [{key: a, effect: NoSchedule}]", ROOM("2")),
          NODE_WITH("n3", "", "taints: [{key: karpenter.sh/disrupted, effect: NoSchedule}]",
                    ROOM("2"))},
         "0; 0 0"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct arena *arena = fixture.arena;
        size_t count = 0;
        while (count < MOST_DOCUMENTS && cases[i].documents[count] != NULL)
            count++;
        const struct snapshot *snapshot = fixture_snapshot(&fixture, cases[i].documents, count);
        struct workload daemon;
        struct daemon_fit fit;
        CU_ASSERT_FATAL(
            workload_read(fixture_object(arena, DAEMON("agent", "1", ""), "shop"), arena, &daemon));
        CU_ASSERT_FATAL(daemon_fit_read(snapshot, fixture_catalog(&fixture), &daemon, arena, &fit));
        const struct daemon_nodes nodes = daemon_fit_nodes(&fit);
        struct text_builder text = {.arena = arena};
        text_builder_printf(&text, "%zu%s", nodes.count, nodes.full.count > 0 ? " full" : "");
        FOR_EACH(name, &nodes.full)
            text_builder_printf(&text, " %.*s", TEXT_ARGS(*name));
        text_builder_printf(&text, "; %zu %lld", nodes.priced, (long long)nodes.usd_micro_per_hour);
        if (!text_is(text_builder_text(&text), cases[i].nodes))
            fprintf(stderr, "in \"%s\":\n", cases[i].name);
        ASSERT_TEXT(text_builder_text(&text), cases[i].nodes);
        arena_destroy(arena);
    }
}

/* ---- instance types ---- */

#define SELECTS(type) ", nodeSelector: {node.kubernetes.io/instance-type: " type "}"
#define TERM_OF(type)                                                                          \
    "{matchExpressions: [{key: node.kubernetes.io/instance-type, operator: In, values: [" type \
    "]}]}"
#define TERMS_OF(terms)                                                             \
    ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {" \
    "nodeSelectorTerms: [" terms "]}}}"
#define IN_ZONE_A ", nodeSelector: {topology.kubernetes.io/zone: a}"
#define LEAVING(name, cpu)                                                                 \
    "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: " name                        \
    ", deletionTimestamp: '2026-01-01T00:00:00Z'}, spec: {template: {spec: " POD_SPEC(cpu, \
                                                                                      "") "}}}"

#define OF_CLASS                                                                                 \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}, spec: {template: " \
    "{spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, "      \
    "requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}}}"

/* small has 2 cpu, large 8. */
static void types_have_room_or_not(void)
{
    static const struct {
        const char *name;
        const char *daemon;
        const char *others[4];
        const char *lost; /* names of types; then on how many there is room without it */
    } cases[] = {
        {"room on all", DAEMON("agent", "1", ""), {0}, " of 2"},
        {"too large for one", DAEMON("agent", "3", ""), {0}, "small of 2"},
        {"too large for all", DAEMON("agent", "9", ""), {0}, "large small of 2"},
        {"beside another one",
         DAEMON("agent", "1", ""),
         {DAEMON("log", "1500m", "")},
         "small of 2"},
        {"beside itself, as it was",
         DAEMON("agent", "1", ""),
         {DAEMON("agent", "1500m", "")},
         " of 2"},
        {"beside one of its name elsewhere",
         DAEMON("agent", "1", ""),
         {DAEMON("agent, namespace: bank", "1500m", "")},
         "small of 2"},
        {"beside one that is leaving",
         DAEMON("agent", "1", ""),
         {LEAVING("log", "1500m")},
         " of 2"},
        {"beside one that nobody understands",
         DAEMON("agent", "1", ""),
         {DAEMON("log", "lots", "")},
         " of 2"},
        {"beside one that has no room itself",
         DAEMON("agent", "1", ""),
         {DAEMON("log", "3", "")},
         " of 1"},
        {"beside one of other types",
         DAEMON("agent", "1", ""),
         {DAEMON("log", "1500m", SELECTS("large"))},
         " of 2"},
        {"beside one of its types",
         DAEMON("agent", "1", ""),
         {DAEMON("log", "1500m", SELECTS("small"))},
         "small of 2"},
        {"by terms, of which any will do",
         DAEMON("agent", "1", ""),
         {DAEMON("log", "1500m", TERMS_OF(TERM_OF("large") ", " TERM_OF("small")))},
         "small of 2"},
        {"an empty term selects no type",
         DAEMON("agent", "1", ""),
         {DAEMON("log", "1500m", TERMS_OF("{}, " TERM_OF("large")))},
         " of 2"},
        {"a selector that tells no types apart",
         DAEMON("agent", "1", ""),
         {DAEMON("log", "1500m", IN_ZONE_A)},
         "small of 2"},
        {"on some types itself", DAEMON("agent", "3", SELECTS("large")), {0}, " of 2"},
        {"several, as much as fits no number",
         DAEMON("agent", "1", ""),
         {DAEMON("log", "9P", SELECTS("small")), DAEMON("net", "9P", SELECTS("small")),
          DAEMON("web", "9P", SELECTS("small"))},
         " of 1"},
        {"the same on all types",
         DAEMON("agent", "1", ""),
         {DAEMON("log", "9P", ""), DAEMON("net", "9P", ""), DAEMON("web", "9P", "")},
         " of 0"},
        {"a node class that nobody understands is as one that is not visible",
         DAEMON("agent", "3", ""),
         {"{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: default}, spec: "
          "{blockDeviceMappings: [{ebs: {volumeSize: lots}}]}}"},
         "small of 2"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct arena *arena = fixture.arena;
        const char *documents[6] = {OF_CLASS};
        size_t count = 1;
        for (size_t j = 0; j < COUNT_OF(cases[i].others) && cases[i].others[j] != NULL; j++)
            documents[count++] = cases[i].others[j];
        const struct catalog *catalog = fixture_catalog(&fixture);
        const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, count);
        struct workload daemon;
        struct daemon_fit fit;
        CU_ASSERT_FATAL(
            workload_read(fixture_object(arena, cases[i].daemon, "shop"), arena, &daemon));
        CU_ASSERT_FATAL(daemon_fit_read(snapshot, catalog, &daemon, arena, &fit));
        struct type_set all = type_set_create(catalog, arena);
        for (size_t type = 0; type < catalog_count(catalog); type++)
            type_set_add(&all, type);
        size_t roomy;
        const struct type_set lost =
            daemon_fit_lost(&fit, snapshot_pool(snapshot, 0), &all, &roomy);
        struct text_builder text = {.arena = arena};
        FOR_TYPES(type, &lost)
            text_builder_printf(&text, "%s%.*s", text.size == 0 ? "" : " ",
                                TEXT_ARGS(catalog_type(catalog, type)->name));
        text_builder_printf(&text, " of %zu", roomy);
        if (!text_is(text_builder_text(&text), cases[i].lost))
            fprintf(stderr, "in \"%s\":\n", cases[i].name);
        ASSERT_TEXT(text_builder_text(&text), cases[i].lost);
        arena_destroy(arena);
    }
}

/* Terms beyond the first 64 lead nowhere, nor does an empty one. */
static void of_many_terms_the_first_count(void)
{
    for (int count = 64; count <= 65; count++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct arena *arena = fixture.arena;
        struct text_builder terms = {.arena = arena};
        for (int i = 1; i < count; i++)
            text_builder_add(&terms, i == 1 ? TEXT("{}, ") : TEXT(TERM_OF("none") ", "));
        text_builder_add(&terms, TEXT(TERM_OF("small")));
        const struct object *object =
            fixture_object(arena,
                           arena_printf(arena, DAEMON("agent", "1500m", TERMS_OF("%.*s")),
                                        TEXT_ARGS(text_builder_text(&terms)))
                               .data,
                           "shop");
        static const char *const documents[] = {
            OF_CLASS, NODE_WITH("n1", OF_TYPE("small"), "", ROOM("2")), DAEMON("log", "1", "")};
        const struct catalog *catalog = fixture_catalog(&fixture);
        const struct snapshot *snapshot =
            fixture_snapshot(&fixture, documents, COUNT_OF(documents));
        struct workload daemon;
        struct daemon_fit fit;
        CU_ASSERT_FATAL(workload_read(object, arena, &daemon));
        CU_ASSERT_FATAL(daemon_fit_read(snapshot, catalog, &daemon, arena, &fit));
        ASSERT_INT(daemon_fit_nodes(&fit).count, count == 64);
        struct type_set all = type_set_create(catalog, arena);
        for (size_t type = 0; type < catalog_count(catalog); type++)
            type_set_add(&all, type);
        size_t roomy;
        const struct type_set lost =
            daemon_fit_lost(&fit, snapshot_pool(snapshot, 0), &all, &roomy);
        ASSERT_INT(type_set_count(&lost), count == 64);
        arena_destroy(arena);
    }
}

static void requests_that_nobody_understands_fit_nothing(void)
{
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    const struct snapshot *snapshot = fixture_snapshot(&fixture, NULL, 0);
    struct workload daemon;
    struct daemon_fit fit;
    CU_ASSERT_FATAL(
        workload_read(fixture_object(fixture.arena, DAEMON("agent", "lots", ""), "shop"),
                      fixture.arena, &daemon));
    CU_ASSERT_FALSE(
        daemon_fit_read(snapshot, fixture_catalog(&fixture), &daemon, fixture.arena, &fit));
    arena_destroy(fixture.arena);
}

const char unit_suite[] = "simulation daemon fit";
const struct unit_test unit_tests[] = {
    {"Nodes have room or not", nodes_have_room_or_not},
    {"types have room or not", types_have_room_or_not},
    {"of many terms the first count", of_many_terms_the_first_count},
    {"requests that nobody understands fit nothing", requests_that_nobody_understands_fit_nothing},
    {NULL, NULL},
};
