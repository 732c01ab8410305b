/* What Nodes and NodeClaims are to a simulation (docs/reference/karpenter.md 2.3, 2.4). */
#include "simulation/state_nodes.h"
#include "simulation/simulation.h"

#include "cluster_fixture.h"
#include "kube/object.h"
#include "simulation/claim_of_node.h"

const char unit_suite[] = "simulation nodes";

enum { MOST = 6 };

#define NODE(name, labels, spec, more)                                                            \
    "{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {" labels "}}, spec: {" spec \
    "}, status: {allocatable: {cpu: 2}" more "}}"
#define CLAIM(name, metadata, spec, status)                                          \
    "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: " name metadata \
    "}, spec: {" spec "}, status: {" status "}}"
#define OF_POOL "karpenter.sh/nodepool: default"
#define STARTING OF_POOL ", karpenter.sh/registered: 'true'"
#define INITIALIZED ", karpenter.sh/initialized: 'true'"
#define TAINT(key, effect) "{key: " key ", effect: " effect "}"
#define POOL_STARTING_WITH(taints)                                                               \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}, spec: {template: " \
    "{spec: {startupTaints: [" taints "]}}}}"
#define DISRUPTED(effect) TAINT("karpenter.sh/disrupted", effect)
#define CSI_NODE(drivers)                                                         \
    "{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1}, spec: " \
    "{drivers: " drivers "}}"

static struct text lines_of(struct fixture *fixture, const char *const *documents)
{
    size_t count = 0;
    while (count < MOST && documents[count] != NULL)
        count++;
    struct state_nodes nodes = {0};
    const struct snapshot *snapshot = fixture_snapshot(fixture, documents, count);
    state_nodes_read(snapshot, fixture->arena, &nodes, &fixture->problems);
    struct text_builder text = {.arena = fixture->arena};
    for (size_t i = 0; i < nodes.count; i++) {
        const struct state_node *node = &nodes.items[i];
        text_builder_printf(&text, "%s%s%s%s", i == 0 ? "" : "; ", node->node_name,
                            node->initialized ? "" : " starting", node->leaving ? " leaving" : "");
        for (size_t j = 0; j < node->taints.count; j++)
            text_builder_printf(&text, " %s", node->taints.items[j].key);
        for (size_t j = 0; j < node->allocatable.count; j++)
            text_builder_printf(&text, " %s=%lld", node->allocatable.items[j].resource,
                                (long long)node->allocatable.items[j].quantity);
        for (size_t j = 0; j < node->attach_limit_count; j++)
            text_builder_printf(&text, " %s:%u", node->attach_limits[j].driver,
                                node->attach_limits[j].count);
    }
    FOR_EACH(claim, &nodes.unlaunched)
        text_builder_printf(&text, "; %.*s is not launched", TEXT_ARGS(*claim));
    for (size_t i = 0; i < fixture->problems.count; i++)
        text_builder_printf(&text, "; %s", fixture->problems.items[i].what);
    return text_builder_text(&text);
}

static void nodes_are_read(void)
{
    static const struct {
        const char *name;
        const char *documents[MOST];
        const char *lines;
    } cases[] = {
        {"written by hand", {NODE("n1", "", "", "")}, "n1 cpu=2000"},
        {"of a NodePool, written by hand", {NODE("n1", OF_POOL, "", "")}, "n1 cpu=2000"},
        {"registered, and not initialized", {NODE("n1", STARTING, "", "")}, "n1 starting cpu=2000"},
        {"not registered yet",
         {NODE("n1", OF_POOL, "taints: [" TAINT("karpenter.sh/unregistered", "NoExecute") "]", "")},
         "n1 starting cpu=2000"},
        {"initialized", {NODE("n1", STARTING INITIALIZED, "", "")}, "n1 cpu=2000"},
        /* taints that it loses while it starts */
        {"taints of the start pass",
         {NODE("n1", STARTING,
               "taints: [" TAINT("node.kubernetes.io/not-ready", "NoSchedule") ", " TAINT(
                   "readiness.k8s.io/agent", "NoSchedule") ", " TAINT("mine", "NoSchedule") "]",
               "")},
         "n1 starting mine cpu=2000"},
        {"not those of another effect",
         {NODE("n1", STARTING, "taints: [" TAINT("node.kubernetes.io/unreachable", "NoExecute") "]",
               "")},
         "n1 starting node.kubernetes.io/unreachable cpu=2000"},
        {"and not once it is initialized",
         {NODE("n1", STARTING INITIALIZED,
               "taints: [" TAINT("readiness.k8s.io/agent", "NoSchedule") "]", "")},
         "n1 readiness.k8s.io/agent cpu=2000"},
        {"the startup taints of its NodePool pass",
         {NODE("n1", STARTING,
               "taints: [" TAINT("agent", "NoSchedule") ", " TAINT("agent", "NoExecute") ", " TAINT(
                   "mine", "NoSchedule") "]",
               ""),
          POOL_STARTING_WITH(TAINT("first", "NoSchedule") ", " TAINT("agent", "NoSchedule"))},
         "n1 starting agent mine cpu=2000"},
        {"those of its NodeClaim go before",
         {NODE("n1", STARTING, "taints: [" TAINT("agent", "NoSchedule") "]", ""),
          POOL_STARTING_WITH(TAINT("agent", "NoSchedule")),
          CLAIM("c1", "", "startupTaints: []", "nodeName: n1")},
         "n1 starting agent cpu=2000"},
        /* cordoned */
        {"cordoned",
         {NODE("n1", "", "unschedulable: true", "")},
         "n1 node.kubernetes.io/unschedulable cpu=2000"},
        {"cordoned, with the taint that a controller adds",
         {NODE("n1", "",
               "unschedulable: true, taints: [" TAINT("mine", "NoSchedule") ", " TAINT(
                   "node.kubernetes.io/unschedulable", "NoSchedule") "]",
               "")},
         "n1 mine node.kubernetes.io/unschedulable cpu=2000"},
        /* what it has */
        {"until it is initialized, its NodeClaim has its resources",
         {NODE("n1", STARTING, "", ""),
          CLAIM("c1", "", "", "nodeName: n1, allocatable: {cpu: 3, memory: 5}")},
         "n1 starting cpu=2000 memory=5"},
        {"a NodeClaim that was launched",
         {CLAIM("c1", "", "", "allocatable: {cpu: 3}")},
         "c1 starting cpu=3000"},
        {"one that was not", {CLAIM("c1", "", "", "")}, "; c1 is not launched"},
        {"nor will be", {CLAIM("c1", ", deletionTimestamp: '2026-01-01T00:00:00Z'", "", "")}, ""},
        {"one that cannot be understood",
         {NODE("n1", STARTING, "", ""), CLAIM("c1", "", "", "nodeName: n1, capacity: {cpu: x}")},
         "; Node n1 is left out: status.capacity.cpu is \"x\", which is no quantity of 0 or more"},
        {"a Node that cannot be understood",
         {"{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: x}}}"},
         "; Node n1 is left out: status.allocatable.cpu is \"x\", which is no quantity of 0 or "
         "more"},
        {"and is leaving, which it is all the same",
         {"{apiVersion: v1, kind: Node, metadata: {name: n1, deletionTimestamp: "
          "'2026-01-01T00:00:00Z'}, status: {allocatable: {cpu: x}}}"},
         "n1 leaving"},
        /* on its way out */
        {"Karpenter replaces it",
         {NODE("n1", STARTING INITIALIZED, "taints: [" DISRUPTED("NoSchedule") "]", ""),
          CLAIM("c1", "", "", "nodeName: n1")},
         "n1 leaving karpenter.sh/disrupted cpu=2000"},
        {"and no NodeClaim is in the files",
         {NODE("n1", STARTING INITIALIZED, "taints: [" DISRUPTED("NoSchedule") "]", "")},
         "n1 leaving karpenter.sh/disrupted cpu=2000"},
        {"a taint of another effect",
         {NODE("n1", STARTING INITIALIZED, "taints: [" DISRUPTED("NoExecute") "]", ""),
          CLAIM("c1", "", "", "nodeName: n1")},
         "n1 karpenter.sh/disrupted cpu=2000"},
        {"on a Node of others",
         {NODE("n1", "", "taints: [" DISRUPTED("NoSchedule") "]", "")},
         "n1 karpenter.sh/disrupted cpu=2000"},
        {"on the only Node without a NodeClaim",
         {NODE("n1", STARTING INITIALIZED, "taints: [" DISRUPTED("NoSchedule") "]", ""),
          CLAIM("c1", "", "", "nodeName: n2, providerID: p2")},
         "n1 karpenter.sh/disrupted cpu=2000"},
        {"its NodeClaim is deleted",
         {NODE("n1", STARTING INITIALIZED, "", ""),
          CLAIM("c1", ", deletionTimestamp: '2026-01-01T00:00:00Z'", "", "nodeName: n1")},
         "n1 leaving cpu=2000"},
        {"its machine ends",
         {NODE("n1", STARTING INITIALIZED, "", ""),
          CLAIM("c1", "", "",
                "nodeName: n1, conditions: [{type: InstanceTerminating, status: 'True'}]")},
         "n1 leaving cpu=2000"},
        /* volumes that drivers attach */
        {"drivers",
         {NODE("n1", "", "", ""),
          CSI_NODE("[{name: a, allocatable: {count: 25}}, {name: b, allocatable: {}}, {name: c}, "
                   "{name: d, allocatable: {count: 2147483647}}, {name: e, allocatable: {count: "
                   "0}}, {name: f, allocatable: {count: -1}}, {name: g, allocatable: {count: "
                   "null}}]")},
         "n1 cpu=2000 a:25 d:2147483647 e:0 f:0"},
        {"no list of drivers", {NODE("n1", "", "", ""), CSI_NODE("{}")}, "n1 cpu=2000"},
        /* which NodeClaim */
        {"the NodeClaim of another Node of its name",
         {NODE("n1", "", "", ""), CLAIM("n1", "", "", "nodeName: n2, allocatable: {cpu: 3}")},
         "n1 cpu=2000; NodeClaim n1 is left out: a Node has its name, and neither status.nodeName "
         "nor status.providerID says that it is its own"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create((size_t)16 << 20)};
        struct text lines = lines_of(&fixture, cases[i].documents);
        if (!text_is(lines, cases[i].lines))
            fprintf(stderr, "in \"%s\":\n", cases[i].name);
        ASSERT_TEXT(lines, cases[i].lines);
        arena_destroy(fixture.arena);
    }
}

/* Of several NodeClaims that say they are a Node's the first by name is its own. */
static void a_node_has_one_claim(void)
{
    static const struct {
        const char *documents[MOST];
        const char *claim;
    } cases[] = {
        {{NODE("n1", "", "providerID: p1", "")}, ""},
        {{NODE("n1", "", "providerID: p1", ""), CLAIM("c1", "", "", "nodeName: n1")}, "c1"},
        {{NODE("n1", "", "providerID: p1", ""), CLAIM("c1", "", "", "providerID: p1")}, "c1"},
        {{NODE("n1", "", "providerID: p1", ""),
          CLAIM("c1", "", "", "nodeName: n2, providerID: p1")},
         ""},
        {{NODE("n1", "", "providerID: p1", ""), CLAIM("c1", "", "", "providerID: p1"),
          CLAIM("c2", "", "", "nodeName: n1")},
         "c1"},
        {{NODE("n1", "", "providerID: p1", ""), CLAIM("c2", "", "", "providerID: p1"),
          CLAIM("c1", "", "", "nodeName: n1")},
         "c1"},
        {{NODE("n1", "", "providerID: p1", ""), CLAIM("c3", "", "", "nodeName: n1"),
          CLAIM("c2", "", "", "nodeName: n1"), CLAIM("c1", "", "", "nodeName: n1")},
         "c1"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create((size_t)16 << 20)};
        size_t count = 0;
        while (count < MOST && cases[i].documents[count] != NULL)
            count++;
        const struct snapshot *snapshot = fixture_snapshot(&fixture, cases[i].documents, count);
        struct claims_of_nodes claims = claims_of_nodes_read(snapshot, fixture.arena);
        const struct object *claim =
            claim_of_node(&claims, snapshot_object(snapshot, KIND_NODE, 0));
        ASSERT_TEXT(claim == NULL ? TEXT("") : claim->name, cases[i].claim);
        arena_destroy(fixture.arena);
    }
}

const struct unit_test unit_tests[] = {
    {"Nodes are read", nodes_are_read},
    {"a Node has one claim", a_node_has_one_claim},
    {NULL, NULL},
};
