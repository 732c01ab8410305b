/* What would happen to Nodes that are to go. Time begins on Thursday 1970-01-01. */
#include "simulation/disruption.h"

#include <time.h>

#include "cluster_fixture.h"

enum { BUDGET_BYTES = 256 << 20, MOST = 16, HOUR_S = 3600, DAY_S = 24 * HOUR_S };
#define ALL_KINDS ((kind_set)~0U)

#define POOL_WITH(spec) \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general}, spec: {" spec "}}"
#define BUDGETS(items) POOL_WITH("disruption: {budgets: [" items "]}")
#define ANY BUDGETS("{nodes: 100%}")
#define NODE_OF(name, metadata, rest)                                                          \
    "{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {karpenter.sh/nodepool: " \
    "general, karpenter.sh/initialized: 'true'}" metadata "}" rest "}"
#define NODE(name) NODE_OF(name, "", "")
#define CLAIM(name, node, metadata, spec, more)                             \
    "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: " name \
    ", labels: {karpenter.sh/nodepool: general}" metadata "}, spec: {" spec \
    "}, status: {" node more "}}"
#define ON(node) "nodeName: " node
#define POD_OF(name, node, metadata, status)                                             \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name ", labels: {app: web}" metadata \
    "}, spec: {nodeName: " node "}, status: {phase: Running" status "}}"
#define POD(name, node) POD_OF(name, node, "", "")
#define ANNOTATED(value) ", annotations: {karpenter.sh/do-not-disrupt: '" value "'}"
#define CONTROLLER(kind, name) \
    ", ownerReferences: [{apiVersion: apps/v1, kind: " kind ", name: " name ", controller: true}]"
#define PDB_OF(name, spec, status)                                                                \
    "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: " name "}, spec: {" spec \
    "}" status "}"
#define PDB(name, allowed)                              \
    PDB_OF(name, "selector: {matchLabels: {app: web}}", \
           ", status: {disruptionsAllowed: " allowed "}")

/* ---- forecasts as text ---- */

static void write_window(struct text_builder *text, const struct window *window)
{
    text_builder_printf(text, "%lld", (long long)window->open_unix_s);
    if (window->close_unix_s != INT64_MAX)
        text_builder_printf(text, "-%lld", (long long)window->close_unix_s);
}

static void write_pool(struct text_builder *text, const struct disruption_pool *pool)
{
    text_builder_printf(text, "%.*s: %zu, blocked %zu, counted %zu, disrupted %zu, ",
                        TEXT_ARGS(pool->name), pool->asked, pool->blocked, pool->counted,
                        pool->disrupted);
    if (pool->allowed == BUDGETS_UNLIMITED)
        text_builder_printf(text, "any, ");
    text_builder_printf(text, "%zu at once, %zu later, ", pool->at_once, pool->at_once_later);
    if (pool->windows == WINDOW_FOUND) {
        write_window(text, &pool->window);
        text_builder_printf(text, ": %zu", pool->at_once_in_window);
        if (pool->opens_again) {
            text_builder_printf(text, ", then ");
            write_window(text, &pool->next);
        }
    } else {
        text_builder_printf(text, "%s", pool->windows == WINDOW_NEVER ? "never" : "unknown");
    }
    text_builder_printf(text, "%s\n", pool->unreadable ? ", unreadable" : "");
}

static void write_node(struct text_builder *text, const struct disruption_node *node)
{
    if (node->block_total == 0)
        return;
    text_builder_printf(text, "%.*s%s%s:", TEXT_ARGS((node->node ? node->node : node->claim)->name),
                        node->blocked ? "" : " goes", node->waits ? " waits" : "");
    for (size_t i = 0; i < node->block_count; i++) {
        const struct disruption_block *block = &node->blocks[i];
        struct text by = disruption_block_text(block, text->arena);
        if (block->pod != NULL)
            text_builder_printf(text, " %.*s", TEXT_ARGS(block->pod->name));
        if (block->owner.size > 0)
            text_builder_printf(text, " (%.*s)", TEXT_ARGS(block->owner));
        text_builder_printf(text, " %.*s%s;", TEXT_ARGS(by), block->computed ? ", computed" : "");
    }
    if (node->block_total > node->block_count)
        text_builder_printf(text, " %zu in all;", node->block_total);
    text_builder_printf(text, "\n");
}

struct forecast_case {
    const char *name;
    const char *documents[MOST];
    const char *pools, *nodes; /* NULL: are not compared */
    int64_t now_unix_s;
    enum disruption_verb verb;
    unsigned reason; /* 0: drift */
    bool of_claims;  /* asked for NodeClaims, not Nodes */
    kind_set unseen;
};

static struct disruption_question ask(struct fixture *fixture, const struct forecast_case *test)
{
    size_t count = 0;
    while (count < MOST && test->documents[count] != NULL)
        count++;
    const struct snapshot *snapshot = fixture_snapshot(fixture, test->documents, count);
    enum kind kind = test->of_claims ? KIND_NODE_CLAIM : KIND_NODE;
    size_t node_count = snapshot_count(snapshot, kind);
    const struct object **nodes = ARENA_ARRAY(fixture->arena, node_count, const struct object *);
    for (size_t i = 0; i < node_count; i++)
        nodes[i] = snapshot_object(snapshot, kind, i);
    return (struct disruption_question){
        .snapshot = snapshot,
        .seen = ALL_KINDS & ~test->unseen,
        .now_unix_s = test->now_unix_s,
        .verb = test->verb,
        .reason = test->reason == 0 ? REASON_DRIFTED : test->reason,
        .nodes = nodes,
        .node_count = node_count,
    };
}

static void forecast(struct fixture *fixture, const struct forecast_case *test,
                     struct disruption *disruption)
{
    const struct disruption_question question = ask(fixture, test);
    disruption_forecast(&question, fixture->arena, disruption);
    ASSERT_INT(disruption->unseen, test->unseen);
}

static void compare(const struct forecast_case *test, struct text found, const char *expected)
{
    if (expected == NULL)
        return;
    if (!text_is(found, expected))
        fprintf(stderr, "in \"%s\":\n", test->name);
    ASSERT_TEXT(found, expected);
}

static void run_cases(const struct forecast_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct text_builder pools = {.arena = fixture.arena};
        struct text_builder nodes = {.arena = fixture.arena};
        struct disruption disruption;
        forecast(&fixture, &cases[i], &disruption);
        for (size_t j = 0; j < disruption.pool_count; j++)
            write_pool(&pools, &disruption.pools[j]);
        for (size_t j = 0; j < disruption.node_count; j++)
            write_node(&nodes, &disruption.nodes[j]);
        compare(&cases[i], text_builder_text(&pools), cases[i].pools);
        compare(&cases[i], text_builder_text(&nodes), cases[i].nodes);
        arena_destroy(fixture.arena);
    }
}

/* ---- what blocks ---- */

static void nodes_block_by_themselves(void)
{
#define CONDITION(type, status) ", conditions: [{type: " type ", status: '" status "'}]"
    static const struct forecast_case cases[] = {
        {.name = "nothing", .documents = {ANY, NODE("a")}, .nodes = ""},
        {.name = "the annotation",
         .documents = {ANY, NODE_OF("a", ANNOTATED("true"), ""), NODE_OF("b", ANNOTATED("1h"), "")},
         .nodes = "a: karpenter.sh/do-not-disrupt on the Node;\n"},
        {.name = "not the NodeClaim's",
         .documents = {ANY, NODE("a"), CLAIM("c", ON("a"), ANNOTATED("true"), "", "")},
         .nodes = ""},
        {.name = "it starts",
         .documents = {ANY, "{apiVersion: v1, kind: Node, metadata: {name: a, labels: "
                            "{karpenter.sh/nodepool: general}}}"},
         .nodes = "a: it is not initialized;\n"},
        {.name = "it leaves",
         .documents = {ANY, NODE_OF("a", ", deletionTimestamp: '1970-01-01T00:00:00Z'", ""),
                       NODE_OF("b", "",
                               ", spec: {taints: [{key: karpenter.sh/disrupted, effect: "
                               "NoSchedule}]}")},
         .nodes = "a: it is leaving already;\nb: it is leaving already;\n"},
        {.name = "its NodeClaim leaves",
         .documents = {ANY, NODE("a"), NODE("b"),
                       CLAIM("a", ON("a"), ", deletionTimestamp: '1970-01-01T00:00:00Z'", "", ""),
                       CLAIM("b", ON("b"), "", "", CONDITION("InstanceTerminating", "True"))},
         .nodes = "a: it is leaving already;\nb: it is leaving already;\n"},
        {.name = "the only one without a NodeClaim",
         .documents = {ANY, NODE("a"), NODE("b"), CLAIM("b", ON("b"), "", "", "")},
         .pools = "general: 2, blocked 1, counted 1, disrupted 0, 1 at once, 1 later, 0: 1\n",
         .nodes = "a: it is none of Karpenter's;\n"},
        {.name = "its NodeClaim alone has the NodePool",
         .documents = {ANY,
                       "{apiVersion: v1, kind: Node, metadata: {name: a, labels: "
                       "{karpenter.sh/initialized: 'true'}}}",
                       CLAIM("a", ON("a"), "", "", "")},
         .nodes = ""},
        {.name = "others",
         .documents = {ANY, "{apiVersion: v1, kind: Node, metadata: {name: a}}"},
         .nodes = "a: it is none of Karpenter's;\n"},
        {.name = "no NodePool",
         .documents = {NODE("a")},
         .pools = "general: 1, blocked 1, counted 1, disrupted 0, 0 at once, 0 later, "
                  "unknown\n",
         .nodes = "a: its NodePool is not there;\n"},
        {.name = "NodePools are not seen",
         .documents = {NODE("a")},
         .pools = "general: 1, blocked 0, counted 1, disrupted 0, 0 at once, 0 later, "
                  "unknown\n",
         .nodes = "",
         .unseen = KIND_BIT(KIND_NODE_POOL)},
        {.name = "a NodeClaim without its Node",
         .documents = {ANY, CLAIM("c", "", "", "", "")},
         .nodes = "c: its Node has not come yet;\n",
         .of_claims = true},
        {.name = "a NodeClaim, and its Node by providerID",
         .documents = {ANY, CLAIM("c", "providerID: i-1", "", "", ""),
                       NODE_OF("a", "", ", spec: {providerID: i-1}")},
         .nodes = "",
         .of_claims = true},
    };
    run_cases(cases, COUNT_OF(cases));
}

static void pods_opt_out(void)
{
#define START ", startTime: '1970-01-01T01:00:00Z'"
    static const struct forecast_case cases[] = {
        {.name = "for good",
         .documents = {ANY, NODE("a"), POD_OF("p", "a", ANNOTATED("true"), "")},
         .nodes = "a: p karpenter.sh/do-not-disrupt;\n"},
        {.name = "for a time",
         .documents = {ANY, NODE("a"), POD_OF("p", "a", ANNOTATED("90m"), START)},
         .nodes = "a: p karpenter.sh/do-not-disrupt until Thu 1970-01-01 02:30 UTC;\n",
         .now_unix_s = 2 * HOUR_S + HOUR_S / 2 - 1},
        {.name = "which is over",
         .documents = {ANY, NODE("a"), POD_OF("p", "a", ANNOTATED("90m"), START)},
         .nodes = "",
         .now_unix_s = 2 * HOUR_S + HOUR_S / 2},
        {.name = "since nobody knows when",
         .documents = {ANY, NODE("a"), POD_OF("p", "a", ANNOTATED("1m"), "")},
         .nodes = "a: p karpenter.sh/do-not-disrupt;\n",
         .now_unix_s = DAY_S},
        {.name = "for what is no time",
         .documents = {ANY, NODE("a"), POD_OF("p", "a", ANNOTATED("yes"), START),
                       POD_OF("q", "a", ANNOTATED("0s"), START)},
         .nodes = ""},
        {.name = "pods that are done, leave, or run elsewhere",
         .documents = {ANY, NODE("a"),
                       "{apiVersion: v1, kind: Pod, metadata: {name: p" ANNOTATED(
                           "true") "}, spec: {nodeName: a}, status: {phase: Failed}}",
                       POD_OF("q", "a",
                              ANNOTATED("true") ", deletionTimestamp: '1970-01-01T00:00:00Z'", ""),
                       POD_OF("r", "z", ANNOTATED("true"), "")},
         .nodes = ""},
        {.name = "of DaemonSets and of the kubelet, too",
         .documents = {ANY, NODE("a"),
                       POD_OF("p", "a", ANNOTATED("true") CONTROLLER("DaemonSet", "d"), ""),
                       POD_OF("q", "a",
                              ", annotations: {karpenter.sh/do-not-disrupt: 'true', "
                              "kubernetes.io/config.mirror: x}",
                              "")},
         .nodes = "a: p (DaemonSet d) karpenter.sh/do-not-disrupt; q "
                  "karpenter.sh/do-not-disrupt;\n"},
        {.name = "whose they are",
         .documents = {ANY, NODE("a"),
                       POD_OF("p", "a", ANNOTATED("true") CONTROLLER("ReplicaSet", "web-1"), ""),
                       "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: "
                       "web-1" CONTROLLER("Deployment", "web-of-shop") "}}"},
         .nodes = "a: p (Deployment web-of-shop) karpenter.sh/do-not-disrupt;\n"},
    };
    run_cases(cases, COUNT_OF(cases));
}

static void budgets_block_evictions(void)
{
#define UNREADY CONDITION("Ready", "False")
    static const struct forecast_case cases[] = {
        {.name = "none",
         .documents = {ANY, NODE("a"), POD("p", "a"), PDB("web", "0")},
         .nodes = "a: p PodDisruptionBudget web;\n"},
        {.name = "one, for all pods of the node",
         .documents = {ANY, NODE("a"), POD("p", "a"), POD("q", "a"), PDB("web", "1")},
         .nodes = ""},
        {.name = "two budgets, whatever they allow",
         .documents = {ANY, NODE("a"), POD("p", "a"), PDB("web", "1"), PDB("any", "1")},
         .nodes = "a: p PodDisruptionBudgets any and web;\n"},
        {.name = "three",
         .documents = {ANY, NODE("a"), POD("p", "a"), PDB("web", "1"), PDB("any", "1"),
                       PDB_OF("all", "selector: {}", "")},
         .nodes = "a: p PodDisruptionBudgets all, any and 1 more;\n"},
        {.name = "of other pods, and of another namespace",
         .documents = {ANY, NODE("a"), POD("p", "a"),
                       PDB_OF("not-its", "selector: {matchLabels: {app: db}}",
                              ", status: {disruptionsAllowed: 0}"),
                       PDB_OF("of-none", "", ", status: {disruptionsAllowed: 0}"),
                       "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: other, "
                       "namespace: elsewhere}, spec: {selector: {}}, status: {disruptionsAllowed: "
                       "0}}"},
         .nodes = ""},
        {.name = "by an expression, and by one of several labels",
         .documents = {ANY, NODE("a"), NODE("b"), POD("p", "a"),
                       "{apiVersion: v1, kind: Pod, metadata: {name: q, labels: {app: x, name: x, "
                       "tier: db}}, spec: {nodeName: b}}",
                       PDB_OF("e",
                              "selector: {matchExpressions: [{key: app, operator: In, values: "
                              "[web]}]}",
                              ", status: {disruptionsAllowed: 0}"),
                       PDB_OF("f", "selector: {matchLabels: {tier: db, app: x}}",
                              ", status: {disruptionsAllowed: 0}"),
                       PDB_OF("g", "selector: {matchLabels: {tier: db, app: y}}",
                              ", status: {disruptionsAllowed: 0}")},
         .nodes = "a: p PodDisruptionBudget e;\nb: q PodDisruptionBudget f;\n"},
        {.name = "a pod that is not ready may go where the budget says so",
         .documents = {ANY, NODE("a"), POD_OF("p", "a", "", UNREADY), POD("q", "a"),
                       PDB_OF("web",
                              "unhealthyPodEvictionPolicy: AlwaysAllow, selector: {matchLabels: "
                              "{app: web}}",
                              ", status: {disruptionsAllowed: 0}")},
         .nodes = "a: q PodDisruptionBudget web;\n"},
        {.name = "else it may not",
         .documents = {ANY, NODE("a"), POD_OF("p", "a", "", UNREADY), PDB("web", "0")},
         .nodes = "a: p PodDisruptionBudget web;\n"},
        {.name = "pods that nobody evicts",
         .documents = {ANY, NODE("a"), PDB("web", "0"),
                       POD_OF("p", "a", ", annotations: {kubernetes.io/config.mirror: x}", ""),
                       "{apiVersion: v1, kind: Pod, metadata: {name: q, labels: {app: web}}, spec: "
                       "{nodeName: a, tolerations: [{operator: Exists}]}}",
                       POD_OF("r", "a", ", deletionTimestamp: '1970-01-01T00:00:00Z'", "")},
         .nodes = ""},
        {.name = "one that opts out is told of as that",
         .documents = {ANY, NODE("a"), PDB("web", "0"), POD_OF("p", "a", ANNOTATED("true"), "")},
         .nodes = "a: p karpenter.sh/do-not-disrupt;\n"},
        {.name = "the pods are told of beside the node",
         .documents = {ANY, NODE_OF("a", ANNOTATED("true"), ""), POD("p", "a"), PDB("web", "0")},
         .nodes = "a: karpenter.sh/do-not-disrupt on the Node; p PodDisruptionBudget web;\n"},
    };
    run_cases(cases, COUNT_OF(cases));
}

/* What the disruption controller would write into the status. */
static void what_a_budget_allows_is_computed(void)
{
#define OF_WEB ", selector: {matchLabels: {app: web}}"
#define OWNED(name, node) POD_OF(name, node, CONTROLLER("StatefulSet", "web"), "")
#define WEB(replicas)                                                                            \
    "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {replicas: " replicas \
    "}}"
#define HOLDS "a: p (StatefulSet web) PodDisruptionBudget b, computed;\n"
#define TWO_OF(replicas) ANY, NODE("a"), OWNED("p", "a"), OWNED("q", "z"), WEB(replicas)
    static const struct forecast_case cases[] = {
        {.name = "1 of 2",
         .documents = {TWO_OF("2"), PDB_OF("b", "minAvailable: 1" OF_WEB, "")},
         .nodes = ""},
        {.name = "2 of 2",
         .documents = {TWO_OF("2"), PDB_OF("b", "minAvailable: 2" OF_WEB, "")},
         .nodes = HOLDS},
        {.name = "half of 2",
         .documents = {TWO_OF("2"), PDB_OF("b", "minAvailable: 50%" OF_WEB, "")},
         .nodes = ""},
        {.name = "more than half of 2, rounded up",
         .documents = {TWO_OF("2"), PDB_OF("b", "minAvailable: 51%" OF_WEB, "")},
         .nodes = HOLDS},
        {.name = "one may be missing",
         .documents = {TWO_OF("2"), PDB_OF("b", "maxUnavailable: 1" OF_WEB, "")},
         .nodes = ""},
        {.name = "and is",
         .documents = {TWO_OF("3"), PDB_OF("b", "maxUnavailable: 1" OF_WEB, "")},
         .nodes = HOLDS},
        {.name = "a tenth may, rounded up",
         .documents = {TWO_OF("2"), PDB_OF("b", "maxUnavailable: 10%" OF_WEB, "")},
         .nodes = ""},
        {.name = "none may",
         .documents = {TWO_OF("2"), PDB_OF("b", "maxUnavailable: 0" OF_WEB, "")},
         .nodes = HOLDS},
        {.name = "one is not ready",
         .documents = {ANY, NODE("a"), OWNED("p", "a"), WEB("2"),
                       POD_OF("q", "z", CONTROLLER("StatefulSet", "web"), UNREADY),
                       PDB_OF("b", "minAvailable: 1" OF_WEB, "")},
         .nodes = HOLDS},
        {.name = "a taint of its own does not take a node away",
         .documents = {ANY,
                       NODE_OF("a", "", ", spec: {taints: [{key: mine, effect: NoSchedule}]}")},
         .nodes = ""},
        {.name = "one is ready",
         .documents = {ANY, NODE("a"), OWNED("p", "a"), WEB("2"),
                       POD_OF("q", "z", CONTROLLER("StatefulSet", "web"),
                              ", conditions: [{type: Ready, status: 'True'}]"),
                       PDB_OF("b", "minAvailable: 1" OF_WEB, "")},
         .nodes = ""},
        {.name = "one is leaving, and one is done",
         .documents = {ANY, NODE("a"), OWNED("p", "a"), WEB("3"),
                       POD_OF("q", "z",
                              ", deletionTimestamp: '2026-01-01T00:00:00Z'" CONTROLLER(
                                  "StatefulSet", "web"),
                              ""),
                       "{apiVersion: v1, kind: Pod, metadata: {name: r, labels: {app: web}}, spec: "
                       "{nodeName: z}, status: {phase: Succeeded}}",
                       PDB_OF("b", "minAvailable: 1" OF_WEB, "")},
         .nodes = HOLDS},
        {.name = "all may be missing, and more",
         .documents = {TWO_OF("2"), PDB_OF("b", "maxUnavailable: 5" OF_WEB, "")},
         .nodes = ""},
        {.name = "pods elsewhere do not count, with budgets or without",
         .documents = {TWO_OF("2"), PDB_OF("b", "minAvailable: 2" OF_WEB, ""),
                       POD("r, namespace: bank", "z"), POD("s, namespace: zoo", "z"),
                       PDB("all, namespace: bank", "1")},
         .nodes = HOLDS},
        {.name = "nobody can count the pods of a DaemonSet, although it is seen",
         .documents = {ANY, NODE("a"), POD_OF("p", "a", CONTROLLER("DaemonSet", "d"), ""),
                       "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}}",
                       PDB_OF("b", "maxUnavailable: 1" OF_WEB, "")},
         .nodes = "a: p (DaemonSet d) PodDisruptionBudget b, computed;\n"},
        {.name = "one has no node yet",
         .documents = {ANY, NODE("a"), OWNED("p", "a"), WEB("2"),
                       "{apiVersion: v1, kind: Pod, metadata: {name: q, labels: {app: web}}, spec: "
                       "{}}",
                       PDB_OF("b", "minAvailable: 1" OF_WEB, "")},
         .nodes = HOLDS},
        {.name = "the controller is not seen: as many as there are",
         .documents = {ANY, NODE("a"), OWNED("p", "a"), OWNED("q", "z"),
                       PDB_OF("b", "maxUnavailable: 1" OF_WEB, "")},
         .nodes = ""},
        {.name = "a Deployment's replicas count, not those of its ReplicaSets",
         .documents = {ANY, NODE("a"), POD_OF("p", "a", CONTROLLER("ReplicaSet", "web-1"), ""),
                       "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1" CONTROLLER(
                           "Deployment", "web") "}, spec: {replicas: 1}}",
                       "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: "
                       "{replicas: 2}}",
                       PDB_OF("b", "maxUnavailable: 1" OF_WEB, "")},
         .nodes = "a: p (Deployment web) PodDisruptionBudget b, computed;\n"},
        {.name = "nobody can count the pods of a Job",
         .documents = {ANY, NODE("a"), POD_OF("p", "a", CONTROLLER("Job", "j"), ""),
                       PDB_OF("b", "maxUnavailable: 1" OF_WEB, "")},
         .nodes = "a: p (Job j) PodDisruptionBudget b, computed;\n"},
        {.name = "pods of nobody are counted by a number alone",
         .documents = {ANY, NODE("a"), POD("p", "a"), POD("q", "z"),
                       PDB_OF("b", "minAvailable: 1" OF_WEB, "")},
         .nodes = ""},
        {.name = "and not by a share",
         .documents = {ANY, NODE("a"), POD("p", "a"), POD("q", "z"),
                       PDB_OF("b", "minAvailable: 1%" OF_WEB, "")},
         .nodes = "a: p PodDisruptionBudget b, computed;\n"},
        {.name = "beside one whose status says it",
         .documents = {TWO_OF("2"), PDB_OF("b", "minAvailable: 1" OF_WEB, ""),
                       PDB_OF("a", "selector: {matchLabels: {app: db}}",
                              ", status: {disruptionsAllowed: 0}")},
         .nodes = ""},
        {.name = "the status goes before",
         .documents = {TWO_OF("2"), PDB_OF("b", "maxUnavailable: 0" OF_WEB,
                                           ", status: {disruptionsAllowed: 1}")},
         .nodes = ""},
    };
    run_cases(cases, COUNT_OF(cases));
}

static void a_termination_grace_period_lets_drift_go_on(void)
{
#define WITH_GRACE CLAIM("c", ON("a"), "", "terminationGracePeriod: 1h", "")
#define BLOCKED_POD POD_OF("p", "a", ANNOTATED("true"), "")
    static const char blocked[] = "a: p karpenter.sh/do-not-disrupt;\n";
    static const struct forecast_case cases[] = {
        {.name = "drift",
         .documents = {ANY, NODE("a"), BLOCKED_POD, WITH_GRACE},
         .nodes = "a goes waits: p karpenter.sh/do-not-disrupt;\n"},
        {.name = "of NodeClaims",
         .documents = {ANY, NODE("a"), BLOCKED_POD, WITH_GRACE},
         .nodes = "a goes waits: p karpenter.sh/do-not-disrupt;\n",
         .of_claims = true},
        {.name = "consolidation",
         .documents = {ANY, NODE("a"), BLOCKED_POD, WITH_GRACE},
         .nodes = blocked,
         .reason = REASON_UNDERUTILIZED},
        {.name = "without",
         .documents = {ANY, NODE("a"), BLOCKED_POD, CLAIM("c", ON("a"), "", "", "")},
         .nodes = blocked},
        {.name = "it does not lift what the node says",
         .documents = {ANY, NODE_OF("a", ANNOTATED("true"), ""), WITH_GRACE},
         .nodes = "a: karpenter.sh/do-not-disrupt on the Node;\n"},
    };
    run_cases(cases, COUNT_OF(cases));
}

/* ---- how many, and when ---- */

static void budgets_say_how_many(void)
{
#define FOUR NODE("a"), NODE("b"), NODE("c"), NODE("d")
#define ALL_OF_FOUR(rest) "general: 4, blocked 0, counted 4, disrupted 0, " rest "\n"
    static const struct forecast_case cases[] = {
        {.name = "by default a tenth",
         .documents = {POOL_WITH(""), FOUR},
         .pools = ALL_OF_FOUR("1 at once, 1 later, 0: 1")},
        {.name = "a number",
         .documents = {BUDGETS("{nodes: '3'}"), FOUR},
         .pools = ALL_OF_FOUR("3 at once, 3 later, 0: 3")},
        {.name = "more than there are",
         .documents = {BUDGETS("{nodes: '30'}"), FOUR},
         .pools = ALL_OF_FOUR("4 at once, 4 later, 0: 4")},
        {.name = "a percentage grows with successors",
         .documents = {BUDGETS("{nodes: 40%}"), FOUR},
         .pools = ALL_OF_FOUR("2 at once, 3 later, 0: 2")},
        {.name = "the least counts",
         .documents = {BUDGETS("{nodes: '3'}, {nodes: 50%}"), FOUR},
         .pools = ALL_OF_FOUR("2 at once, 3 later, 0: 2")},
        {.name = "of those for the reason",
         .documents = {BUDGETS("{nodes: '3'}, {nodes: '0', reasons: [Empty, Underutilized]}"),
                       FOUR},
         .pools = ALL_OF_FOUR("3 at once, 3 later, 0: 3")},
        {.name = "which is another one",
         .documents = {BUDGETS("{nodes: '3'}, {nodes: '0', reasons: [Empty, Underutilized]}"),
                       FOUR},
         .pools = ALL_OF_FOUR("0 at once, 0 later, never"),
         .reason = REASON_EMPTY},
        {.name = "no budgets",
         .documents = {BUDGETS(""), FOUR},
         .pools = ALL_OF_FOUR("any, 4 at once, 4 later, 0: 4")},
        {.name = "of no reason",
         .documents = {BUDGETS("{nodes: '1', reasons: []}"), FOUR},
         .pools = ALL_OF_FOUR("any, 4 at once, 4 later, 0: 4")},
        {.name = "one that cannot be read, for another reason",
         .documents = {BUDGETS("{nodes: '1'}, {nodes: '2', schedule: '0 8 * * 7', duration: 1h, "
                               "reasons: [Empty]}"),
                       FOUR},
         .pools = ALL_OF_FOUR("0 at once, 0 later, never, unreadable")},
        {.name = "one that never fires is always active",
         .documents = {BUDGETS("{nodes: '0', schedule: '0 0 30 2 *', duration: 1h}"), FOUR},
         .pools = ALL_OF_FOUR("0 at once, 0 later, never")},
    };
    run_cases(cases, COUNT_OF(cases));
}

/* Nodes that are going use up what the budgets allow; those that start are not counted. */
static void nodes_under_way_are_taken_off(void)
{
    static const struct forecast_case cases[] = {
        {.name = "of every sort",
         .documents = {BUDGETS("{nodes: 50%}"), NODE("a"), NODE("b"), NODE("c"),
                       NODE_OF("d", "",
                               ", status: {"
                               "conditions: [{type: Ready, status: "
                               "Unknown}]}"),
                       NODE_OF("e", ", deletionTimestamp: '1970-01-01T00:00:00Z'", ""), NODE("f"),
                       CLAIM("a", ON("a"), "", "", ""), CLAIM("b", ON("b"), "", "", ""),
                       CLAIM("c", ON("c"), "", "", ""), CLAIM("d", ON("d"), "", "", ""),
                       CLAIM("e", ON("e"), ", deletionTimestamp: '1970-01-01T00:00:00Z'", "", ""),
                       CLAIM("g", ON("g"), "", "", ""),
                       CLAIM("f", ON("f"), ", deletionTimestamp: '1970-01-01T00:00:00Z'", "",
                             CONDITION("InstanceTerminating", "True")),
                       "{apiVersion: v1, kind: Node, metadata: {name: g, labels: "
                       "{karpenter.sh/nodepool: general}}}"},
         .pools = "general: 7, blocked 3, counted 5, disrupted 2, 1 at once, 1 later, 0: 3\n"},
        {.name = "a Node that is deleted before its NodeClaim",
         .documents = {BUDGETS("{nodes: '1'}"),
                       NODE_OF("a", ", deletionTimestamp: '1970-01-01T00:00:00Z'", ""),
                       CLAIM("a", ON("a"), "", "", "")},
         .pools = "general: 1, blocked 0, counted 1, disrupted 0, 1 at once, 1 later, 0: 1\n"},
        {.name = "none is left",
         .documents = {BUDGETS("{nodes: '1'}"), NODE("a"),
                       NODE_OF("b", ", deletionTimestamp: '1970-01-01T00:00:00Z'", "")},
         .pools = "general: 2, blocked 1, counted 2, disrupted 1, 0 at once, 0 later, 0: 1\n"},
    };
    run_cases(cases, COUNT_OF(cases));
}

static void windows_say_when(void)
{
    enum { SUNDAY_S = 3 * DAY_S };
#define SUNDAYS BUDGETS("{nodes: '2'}, {nodes: '0', schedule: '0 8 * * 0', duration: 165h}")
#define OFFICE BUDGETS("{nodes: '0', schedule: '0 9 * * mon-fri', duration: 8h}")
    static const struct forecast_case cases[] = {
        {.name = "the next",
         .documents = {SUNDAYS, FOUR},
         .pools = ALL_OF_FOUR("0 at once, 0 later, 277200-288000: 2, then 882000-892800")},
        {.name = "it opens",
         .documents = {SUNDAYS, FOUR},
         .now_unix_s = SUNDAY_S + 5 * HOUR_S,
         .pools = ALL_OF_FOUR("2 at once, 2 later, 277200-288000: 2, then 882000-892800")},
        {.name = "it is about to close",
         .documents = {SUNDAYS, FOUR},
         .now_unix_s = SUNDAY_S + 8 * HOUR_S - 1,
         .pools = ALL_OF_FOUR("2 at once, 2 later, 287999-288000: 2, then 882000-892800")},
        {.name = "it has closed",
         .documents = {SUNDAYS, FOUR},
         .now_unix_s = SUNDAY_S + 8 * HOUR_S,
         .pools = ALL_OF_FOUR("0 at once, 0 later, 882000-892800: 2, then 1486800-1497600")},
        {.name = "outside of all budgets any may go",
         .documents = {OFFICE, FOUR},
         .pools = ALL_OF_FOUR("any, 4 at once, 4 later, 0-32400: 4, then 61200-118800")},
        {.name = "a schedule for another reason",
         .documents = {BUDGETS("{nodes: '1'}, {nodes: '0', schedule: '@daily', duration: 1h, "
                               "reasons: [Empty]}"),
                       FOUR},
         .pools = ALL_OF_FOUR("1 at once, 1 later, 0: 1")},
        {.name = "after the first it is not known when: closed minute by minute from June on",
         .documents = {BUDGETS("{nodes: '0', schedule: '* * * 6-12 *', duration: 1m}"), FOUR},
         .pools = ALL_OF_FOUR("any, 4 at once, 4 later, 0-13046400: 4")},
        {.name = "never",
         .documents = {BUDGETS("{nodes: '0'}"), FOUR},
         .pools = ALL_OF_FOUR("0 at once, 0 later, never")},
    };
    run_cases(cases, COUNT_OF(cases));
}

/* ---- deletion ---- */

static void a_deleted_pool_takes_all_its_nodes_at_once(void)
{
    static const struct forecast_case cases[] = {
        {.name = "whatever budgets and nodes say",
         .documents = {BUDGETS("{nodes: '0'}"), NODE("a"), NODE_OF("b", ANNOTATED("true"), ""),
                       NODE("c"), POD("p", "c"), PDB("web", "0"),
                       NODE_OF("d", ", deletionTimestamp: '1970-01-01T00:00:00Z'", "")},
         .pools = "general: 4, blocked 1, counted 4, disrupted 1, any, 3 at once, 3 later, 0: "
                  "3\n",
         .nodes = "b goes: karpenter.sh/do-not-disrupt on the Node;\n"
                  "c goes waits: p PodDisruptionBudget web;\n"
                  "d: it is leaving already;\n",
         .verb = DISRUPTION_DELETE},
    };
    run_cases(cases, COUNT_OF(cases));
}

/* ---- the whole ---- */

static void a_pool_may_be_as_it_will_be(void)
{
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    const char *stored[] = {
        BUDGETS("{nodes: '0'}"), NODE("a"),
        "{apiVersion: v1, kind: Node, metadata: {name: z, labels: {karpenter.sh/nodepool: batch, "
        "karpenter.sh/initialized: 'true'}}}",
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: batch}, spec: {disruption: "
        "{budgets: [{nodes: '0'}]}}}"};
    const char *edited[] = {BUDGETS("{nodes: '1', schedule: '@weekly', duration: 1h}")};
    struct fixture other = {.arena = fixture.arena};
    const struct snapshot *snapshot = fixture_snapshot(&fixture, stored, COUNT_OF(stored));
    const struct snapshot *future = fixture_snapshot(&other, edited, COUNT_OF(edited));
    const struct object *nodes[] = {snapshot_object(snapshot, KIND_NODE, 0),
                                    snapshot_object(snapshot, KIND_NODE, 1)};
    struct disruption_question question = {.snapshot = snapshot,
                                           .seen = ALL_KINDS,
                                           .reason = REASON_DRIFTED,
                                           .nodes = nodes,
                                           .node_count = COUNT_OF(nodes)};
    struct disruption disruption;
    disruption_forecast(&question, fixture.arena, &disruption);
    ASSERT_INT(disruption.at_once, 0);
    CU_ASSERT_FALSE(disruption.opens);
    question.pool = snapshot_object(future, KIND_NODE_POOL, 0);
    disruption_forecast(&question, fixture.arena, &disruption);
    ASSERT_INT(disruption.at_once, 1);
    CU_ASSERT_TRUE(disruption.opens);
    ASSERT_INT(disruption.opens_unix_s, 0);
    arena_destroy(fixture.arena);
}

static void pools_are_told_apart(void)
{
    static const char other[] =
        "{apiVersion: v1, kind: Node, metadata: {name: z, labels: {karpenter.sh/nodepool: batch, "
        "karpenter.sh/initialized: 'true'}}}";
    static const struct forecast_case cases[] = {
        {.name = "by name",
         .documents = {BUDGETS("{nodes: '0', schedule: '@daily', duration: 2h}"), NODE("a"), other,
                       "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: batch}, "
                       "spec: {disruption: {budgets: [{nodes: '0', schedule: '@daily', duration: "
                       "1h}]}}}"},
         .pools = "batch: 1, blocked 0, counted 1, disrupted 0, 0 at once, 0 later, "
                  "3600-86400: 1, then 90000-172800\n"
                  "general: 1, blocked 0, counted 1, disrupted 0, 0 at once, 0 later, "
                  "7200-86400: 1, then 93600-172800\n"},
    };
    run_cases(cases, COUNT_OF(cases));
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    struct disruption disruption;
    forecast(&fixture, &cases[0], &disruption);
    CU_ASSERT_TRUE(disruption.opens);
    ASSERT_INT(disruption.opens_unix_s, HOUR_S);
    arena_destroy(fixture.arena);
}

static void lists_are_bounded_and_counted(void)
{
    enum { PODS = 20 };
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    struct text_builder pods = {.arena = fixture.arena};
    for (int i = 0; i < PODS; i++)
        text_builder_printf(&pods, "--- " POD_OF("p-%02d", "a", ANNOTATED("true"), "") "\n", i);
    struct forecast_case test = {
        .documents = {ANY, NODE("a"), NODE("b"), text_builder_text(&pods).data}};
    struct disruption disruption;
    forecast(&fixture, &test, &disruption);
    ASSERT_INT(disruption.nodes[0].block_count, DISRUPTION_BLOCKS_KEPT);
    ASSERT_INT(disruption.nodes[0].block_total, PODS);
    ASSERT_TEXT(disruption.nodes[0].blocks[DISRUPTION_BLOCKS_KEPT - 1].pod->name, "p-07");
    ASSERT_INT(disruption.blocked, 1);
    ASSERT_INT(disruption.at_once, 1);
    arena_destroy(fixture.arena);
}

/* As many budgets as pods, and one label that all of them want: compared one by one it takes
 * seconds. */
static void many_budgets_of_one_namespace_cost_little(void)
{
    enum { MANY = 6000, ENOUGH_S = 1 };
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    struct text_builder text = {.arena = fixture.arena};
    for (int i = 0; i < MANY; i++)
        text_builder_printf(&text,
                            "--- {apiVersion: v1, kind: Pod, metadata: {name: p%d, labels: {tier: "
                            "front, app: w%d}}, spec: {nodeName: a}}\n"
                            "--- " PDB_OF("b%d", "selector: {matchLabels: {tier: front, app: w%d}}",
                                          ", status: {disruptionsAllowed: 0}") "\n",
                            i, i, i, i);
    const struct forecast_case test = {
        .documents = {ANY, NODE("a"), text_builder_text(&text).data}};
    struct disruption disruption;
    const struct disruption_question question = ask(&fixture, &test);
    clock_t before = clock();
    disruption_forecast(&question, fixture.arena, &disruption);
    CU_ASSERT_TRUE((clock() - before) / CLOCKS_PER_SEC < ENOUGH_S);
    ASSERT_INT(disruption.nodes[0].block_total, MANY);
    arena_destroy(fixture.arena);
}

static void what_is_not_seen_is_said(void)
{
    static const struct forecast_case cases[] = {
        {.name = "PodDisruptionBudgets and Pods",
         .documents = {ANY, NODE("a")},
         .nodes = "",
         .unseen = KIND_BIT(KIND_POD) | KIND_BIT(KIND_POD_DISRUPTION_BUDGET)},
        {.name = "NodeClaims",
         .documents = {ANY, NODE("a")},
         .nodes = "",
         .unseen = KIND_BIT(KIND_NODE_CLAIM)},
    };
    run_cases(cases, COUNT_OF(cases));
}

const char unit_suite[] = "simulation disruption";
const struct unit_test unit_tests[] = {
    {"nodes block by themselves", nodes_block_by_themselves},
    {"pods opt out", pods_opt_out},
    {"budgets block evictions", budgets_block_evictions},
    {"what a budget allows is computed", what_a_budget_allows_is_computed},
    {"a termination grace period lets drift go on", a_termination_grace_period_lets_drift_go_on},
    {"budgets say how many", budgets_say_how_many},
    {"nodes under way are taken off", nodes_under_way_are_taken_off},
    {"windows say when", windows_say_when},
    {"a deleted pool takes all its nodes at once", a_deleted_pool_takes_all_its_nodes_at_once},
    {"a pool may be as it will be", a_pool_may_be_as_it_will_be},
    {"pools are told apart", pools_are_told_apart},
    {"lists are bounded and counted", lists_are_bounded_and_counted},
    {"many budgets of one namespace cost little", many_budgets_of_one_namespace_cost_little},
    {"what is not seen is said", what_is_not_seen_is_said},
    {NULL, NULL},
};
