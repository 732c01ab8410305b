/* What the pods of nodes that a change takes need afterwards, and what that costs. */
#include "object_fixture.h"
#include "simulation/change_impact.h"
#include "simulation_fixture.h"

const char unit_suite[] = "simulation plan of a change";

/* small as in the fixture; odd is as large, and has no price. */
#define ODD_OFFERING(zone)                                                                \
    "{\"Available\": true, \"Requirements\": [{\"key\": \"karpenter.sh/capacity-type\", " \
    "\"operator\": \"In\", \"values\": [\"on-demand\"]}, {\"key\": "                      \
    "\"topology.kubernetes.io/zone\", \"operator\": \"In\", \"values\": [\"" zone "\"]}]}"
static const char priced_and_not[] = "[" FIXTURE_SMALL ", " FIXTURE_LARGE
                                     ", " FIXTURE_TYPE("odd", "2", "4Gi", ODD_OFFERING("a")) "]";

#define POOL_OF(name, spec, class, type, labels)                                                  \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name ", annotations: "      \
    "{karpenter.sh/nodepool-hash: '1', karpenter.sh/nodepool-hash-version: v3}}, spec: {" spec    \
    "template: {metadata: {labels: {" labels                                                      \
    "}}, spec: {nodeClassRef: {" class "}, requirements: [{key: "                                 \
                                       "node.kubernetes.io/instance-type, operator: In, values: " \
                                       "[" type "]}]}}}}"
#define EC2(class) "group: karpenter.k8s.aws, kind: EC2NodeClass, name: " class
#define POOL_WITH(spec, class, type, labels) POOL_OF("default", spec, EC2(class), type, labels)
#define POOL_FOR(type, labels) POOL_WITH("", "default", type, labels)
#define NODE_CLASS \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: default}}"
#define META_OF(pool, name, type)                                                             \
    "metadata: {name: " name ", annotations: {karpenter.sh/nodepool-hash: '1', "              \
    "karpenter.sh/nodepool-hash-version: v3, karpenter.k8s.aws/ec2nodeclass-hash: '1', "      \
    "karpenter.k8s.aws/ec2nodeclass-hash-version: v6}, labels: {karpenter.sh/nodepool: " pool \
    ", karpenter.sh/registered: 'true', karpenter.sh/initialized: 'true', "                   \
    "karpenter.sh/capacity-type: on-demand, node.kubernetes.io/instance-type: " type          \
    ", topology.kubernetes.io/zone: a}}"
#define META(name, type) META_OF("default", name, type)
#define MACHINE_OF(pool, name, type, cpu, of_claim, of_node)                            \
    "{apiVersion: karpenter.sh/v1, kind: NodeClaim, " META_OF(                          \
        pool, name, type) ", spec: {" of_claim "}, status: {nodeName: " name "}}",      \
        "{apiVersion: v1, kind: Node, " META_OF(                                        \
            pool, name, type) ", spec: {" of_node "}, status: {allocatable: {cpu: " cpu \
                              ", memory: 4Gi, pods: 110}}}"
#define MACHINE_WITH(name, type, of_claim, of_node) \
    MACHINE_OF("default", name, type, "2", of_claim, of_node)
#define MACHINE(name, type) MACHINE_WITH(name, type, "", "")
#define LEAVES "taints: [{key: karpenter.sh/disrupted, effect: NoSchedule}]"
#define RUNS_SINCE(name, cpu, node, more, status)                                                 \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name more ", ownerReferences: [{apiVersion: " \
    "apps/v1, kind: ReplicaSet, name: web, controller: true}]}, spec: " POD_SPEC(                 \
        cpu, ", nodeName: " node) ", status: {" status "}}"
#define RUNS_WITH(name, cpu, node, more) RUNS_SINCE(name, cpu, node, more, "")
/* Since an hour, for as long as the value says. */
#define HELD_FOR(value, name, cpu, node)                                                     \
    RUNS_SINCE(name, cpu, node, ", annotations: {karpenter.sh/do-not-disrupt: '" value "'}", \
               "startTime: '2026-01-01T00:00:00Z'")
#define NOW_UNIX_S 1767229200 /* 2026-01-01T01:00:00Z */
#define RUNS(name, cpu, node) RUNS_WITH(name, cpu, node, "")
#define HELD(name, cpu, node) \
    RUNS_WITH(name, cpu, node, ", annotations: {karpenter.sh/do-not-disrupt: 'true'}")

/* A NodePool whose node uses more than its limit. */
#define FULL_POOL_NAMED(name, more)                                                             \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: {limits: " \
    "{cpu: 1}, template: {metadata: {labels: {team: a}}, spec: {" more "requirements: []}}}}",  \
        "{apiVersion: v1, kind: Node, metadata: {name: of-" name                                \
        ", labels: {karpenter.sh/nodepool: " name                                               \
        ", karpenter.sh/registered: 'true', karpenter.sh/initialized: 'true'}}, status: {"      \
        "capacity: {cpu: 2}, allocatable: {cpu: 0, pods: 110}}}"
#define FULL_POOL(more) FULL_POOL_NAMED("full", more)
#define NOT_DECIDED                                                                     \
    "What is bought instead is not known: of some pods it is not decided whether they " \
    "fit."

struct plan_case {
    const char *name, *before, *after; /* after NULL: deleted */
    const char *documents[MOST_DOCUMENTS];
    const char *unschedulable;
    const char *price, *effect; /* NULL: not asked for */
};

static const struct catalog *catalog_of_three(struct arena *arena)
{
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = TEXT(priced_and_not);
    const struct catalog *catalog = NULL;
    struct error error = {0};
    CU_ASSERT_FATAL(catalog_read(source, arena, &catalog, &error));
    return catalog;
}

static void check_with(const struct plan_case *test,
                       const struct catalog *(*make_catalog)(struct arena *), kind_set seen)
{
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    struct arena *arena = fixture.arena;
    const struct catalog *catalog = make_catalog(arena);
    struct error error = {0};
    size_t count = 0;
    while (count < MOST_DOCUMENTS && test->documents[count] != NULL)
        count++;
    const struct change_question question = {
        .snapshot = fixture_snapshot(&fixture, test->documents, count),
        .seen = seen,
        .now_unix_s = NOW_UNIX_S,
        .before = fixture_object(arena, test->before, ""),
        .after = fixture_object(arena, test->after, ""),
        .most_alone = 2,
    };
    const struct simulation_settings settings = {0};
    struct change_impact impact;
    struct impact_plan plan;
    CU_ASSERT_FATAL(change_impact(&question, arena, &impact));
    CU_ASSERT_FATAL(change_impact_plan(&question, &impact, catalog, &settings, arena, &plan,
                                       &fixture.problems, &error));
    const struct impact_plan_words words = change_plan_words(&impact, &plan, arena);
    bool is_price = test->price == NULL || text_is(words.price, test->price);
    if (!text_is(words.unschedulable, test->unschedulable) || !is_price)
        fprintf(stderr, "in \"%s\":\n", test->name);
    ASSERT_TEXT(words.unschedulable, test->unschedulable);
    if (test->price != NULL)
        ASSERT_TEXT(words.price, test->price);
    if (test->effect != NULL)
        ASSERT_TEXT(change_impact_words(&question, &impact, &plan, arena).effect, test->effect);
    arena_destroy(arena);
}

static void check(const struct plan_case *test)
{
    check_with(test, catalog_of_three, ~(kind_set)0);
}

static void pods_and_money_are_told(void)
{
    static const struct plan_case cases[] = {
        {"a deletion: pods that fit nowhere before do not count",
         POOL_FOR("small", ""),
         NULL,
         {POOL_FOR("small", ""), MACHINE("n1", "small"), RUNS("web-1", "1", "n1"),
          POD("huge", "64", "")},
         "1 pod would fit nowhere afterwards: shop/web-1.",
         "The nodes that go cost $0.1000 an hour, and none is bought instead.",
         NULL},
        {"a node that is leaving already goes without the change, too",
         POOL_FOR("small", ""),
         NULL,
         {POOL_FOR("small", ""), MACHINE("n1", "small"), MACHINE_WITH("n2", "small", "", LEAVES)},
         "",
         "The nodes that go cost $0.1000 an hour, and none is bought instead.",
         NULL},
        {"where no other goes no price is told",
         POOL_FOR("small", ""),
         NULL,
         {POOL_FOR("small", ""), MACHINE_WITH("n1", "small", "", LEAVES)},
         "",
         "",
         NULL},
        {"nor does its successor count",
         POOL_FOR("small", ""),
         POOL_FOR("small", "team: a"),
         {POOL_FOR("small", ""), MACHINE_WITH("n1", "small", "", LEAVES),
          RUNS("web-1", "1500m", "n1"), MACHINE_WITH("n2", "small", "", LEAVES),
          RUNS("web-2", "1500m", "n2"), MACHINE("n3", "small"), RUNS("web-3", "1500m", "n3")},
         "",
         "The nodes that go cost $0.1000 an hour, those bought instead $0.1000.",
         NULL},
        {"what would be bought for a pod that then fits nowhere is not taken off",
         POOL_FOR("small", ""),
         POOL_FOR("small", "team: a"),
         {POOL_FOR("small", ""), MACHINE("n1", "small"),
          RUNS("web-1", "1", "n1, nodeSelector: {karpenter.sh/nodepool: default}"),
          POD("wait", "1500m",
              ", affinity: {nodeAffinity: "
              "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
              "[{matchExpressions: [{key: team, operator: DoesNotExist}]}]}}}")},
         "1 pod would fit nowhere afterwards: shop/wait.",
         "The nodes that go cost $0.1000 an hour, those bought instead $0.1000.",
         NULL},
        {"a node for a node",
         POOL_FOR("small", ""),
         POOL_FOR("small", "team: a"),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), RUNS("web-1", "1", "n1")},
         "",
         "The nodes that go cost $0.1000 an hour, those bought instead $0.1000.",
         NULL},
        {"what is bought has no price",
         POOL_FOR("small", ""),
         POOL_FOR("odd", ""),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), RUNS("web-1", "1", "n1")},
         "",
         "What it costs is not known: nodes have no price in the catalogue.",
         NULL},
        {"nor has what would be bought anyway",
         POOL_FOR("odd", ""),
         POOL_FOR("small", ""),
         {POOL_FOR("odd", ""), MACHINE("n1", "odd"), RUNS("web-1", "1500m", "n1"),
          POD("wait", "1500m", "")},
         "",
         "What it costs is not known: nodes have no price in the catalogue.",
         NULL},
        {"nor has what goes",
         POOL_FOR("odd", ""),
         POOL_FOR("small", ""),
         {POOL_FOR("odd", ""), MACHINE("n1", "odd"), RUNS("web-1", "1", "n1")},
         "",
         "What it costs is not known: nodes have no price in the catalogue.",
         NULL},
        {"a pod that fits nowhere is no reason to begin",
         POOL_FOR("small", ""),
         POOL_FOR("none", ""),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), RUNS("web-1", "1", "n1")},
         "1 pod would fit nowhere afterwards: shop/web-1. Karpenter does not begin with a node "
         "whose pods fit nowhere. So 1 node stays.",
         "",
         NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check(&cases[i]);
}

#define TWO                                                                       \
    MACHINE("n1", "small"), MACHINE("n2", "small"), RUNS("web-1", "1500m", "n1"), \
        RUNS("web-2", "1500m", "n2")
/* A node and a pod that wants none of another type. */
#define OLD(name, node)     \
    MACHINE(node, "small"), \
        RUNS(name, "500m", node ", nodeSelector: {node.kubernetes.io/instance-type: small}")
#define NO_LARGE                                                                        \
    ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "      \
    "{nodeSelectorTerms: [{matchExpressions: [{key: node.kubernetes.io/instance-type, " \
    "operator: NotIn, values: [large]}]}]}}}"
/* A machine that is being deleted, which no change takes. */
#define DELETED(name)                                                                           \
    "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: " name                     \
    ", deletionTimestamp: '2026-01-01T00:00:00Z', labels: {karpenter.sh/nodepool: default}}, "  \
    "status: {nodeName: " name "}}",                                                            \
        "{apiVersion: v1, kind: Node, " META(name, "small") ", status: {allocatable: {cpu: 2, " \
                                                            "memory: 4Gi, pods: 110}}}"
#define COMING(name) "{apiVersion: karpenter.sh/v1, kind: NodeClaim, " META(name, "small") "}"
#define BARE_WITH(name, node, more)                           \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name more \
    "}, spec: " POD_SPEC("1500m", ", nodeName: " node) "}"
#define BARE(name, node) BARE_WITH(name, node, "")
#define HELD_BARE(name, node) \
    BARE_WITH(name, node, ", annotations: {karpenter.sh/do-not-disrupt: 'true'}")
#define TOOL_IS_GONE "1 pod is gone for good, since no controller makes it again: shop/tool."
#define BOTH_STAY "Karpenter does not begin with a node whose pods fit nowhere. So 2 nodes stay."
#define NOWHERE_FOR_2 "2 pods would fit nowhere afterwards: shop/web-1 and shop/web-2. " BOTH_STAY
#define OF_LEAVING                                                                     \
    "Karpenter does not begin with a node whose pods fit nowhere, nor with any while " \
    "pods of one that is leaving do."
#define ENDS "terminationGracePeriod: 1h"
#define ONE_STAYS "Karpenter does not begin with a node whose pods fit nowhere. So 1 node stays."
#define NOWHERE_FOR_WEB_1 "1 pod would fit nowhere afterwards: shop/web-1. " ONE_STAYS
#define ALL_GO_AT_ONCE "This change replaces 1 of 1 node, all at once, from now on."
#define ONLY_GOES "The nodes that go cost $0.1000 an hour, and none is bought instead."
#define LOCAL_OF(host)                                                                           \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v1}, spec: {capacity: {storage: " \
    "1Gi}, local: {path: /d}, nodeAffinity: {required: {nodeSelectorTerms: "                     \
    "[{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [" host "]}]}]}}}}"
#define NONE_GOES \
    "This change makes 2 of 2 nodes drift, and Karpenter can replace none of them as things are."

static void nodes_that_karpenter_cannot_begin_with_stay(void)
{
    static const struct plan_case cases[] = {
        {"pods fit on the other node, but not those of both elsewhere",
         POOL_FOR("small", ""),
         POOL_FOR("none", ""),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), MACHINE("n2", "small"),
          RUNS("web-1", "1", "n1"), RUNS("web-2", "500m", "n2")},
         "2 pods would fit nowhere afterwards: shop/web-1 and shop/web-2. Karpenter does not begin "
         "with a node whose pods fit nowhere. So 1 node stays.",
         "The nodes that go cost $0.1000 an hour, and none is bought instead.",
         "This change replaces 2 of 2 nodes, at most 1 at a time, from now on."},
        {"a pod whose local volume stays behind keeps no node: Karpenter buys another for it",
         POOL_FOR("small", ""),
         POOL_FOR("small", "team: a"),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), LOCAL_OF("n1"),
          CLAIM("d1", "{volumeName: v1, storageClassName: local}"),
          RUNS("web-1", "1", "n1" MOUNTS("d1"))},
         "1 pod would fit nowhere afterwards: shop/web-1.",
         NULL,
         ALL_GO_AT_ONCE},
        {"a pod that is pending anyway keeps no node",
         POOL_FOR("small", ""),
         POOL_FOR("none", ""),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), MACHINE("n2", "small"),
          RUNS("web-1", "1", "n1"), RUNS("web-2", "500m", "n2"), POD("wait", "1900m", "")},
         "3 pods would fit nowhere afterwards: shop/wait, shop/web-1 and shop/web-2. Karpenter "
         "does not begin with a node whose pods fit nowhere. So 1 node stays.",
         ONLY_GOES,
         "This change replaces 2 of 2 nodes, at most 1 at a time, from now on."},
        {"nor where it alone fits nowhere",
         POOL_FOR("small", ""),
         POOL_FOR("none", ""),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), POD("wait", "1900m", "")},
         "1 pod would fit nowhere afterwards: shop/wait.",
         ONLY_GOES,
         ALL_GO_AT_ONCE},
        {"a pod that holds up a drain with an end wants a place only when it is evicted",
         POOL_FOR("small", ""),
         POOL_FOR("none", ""),
         {POOL_FOR("small", ""), MACHINE_WITH("n1", "small", ENDS, ""), HELD("web-1", "1", "n1")},
         "1 pod would fit nowhere afterwards: shop/web-1.",
         ONLY_GOES,
         ALL_GO_AT_ONCE},
        {"so does one that does for a time",
         POOL_FOR("small", ""),
         POOL_FOR("none", ""),
         {POOL_FOR("small", ""), MACHINE_WITH("n1", "small", ENDS, ""),
          HELD_FOR("90m", "web-1", "1", "n1")},
         "1 pod would fit nowhere afterwards: shop/web-1.",
         ONLY_GOES,
         ALL_GO_AT_ONCE},
        {"another pod of such a node wants it before",
         POOL_FOR("small", ""),
         POOL_FOR("none", ""),
         {POOL_FOR("small", ""), MACHINE_WITH("n1", "small", ENDS, ""), HELD("web-1", "500m", "n1"),
          RUNS("web-2", "500m", "n1")},
         "2 pods would fit nowhere afterwards: shop/web-1 and shop/web-2. Karpenter does not begin "
         "with a node whose pods fit nowhere. So 1 node stays.",
         "",
         NULL},
        {"without an end the node begins when the pod may go, and then it wants a place",
         POOL_FOR("small", ""),
         POOL_FOR("none", ""),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), HELD("web-1", "1", "n1")},
         "1 pod would fit nowhere afterwards: shop/web-1. Karpenter does not begin with a node "
         "whose pods fit nowhere. So 1 node stays.",
         "",
         NULL},
        {"with a node that is leaving Karpenter has begun",
         POOL_FOR("small", ""),
         POOL_FOR("none", ""),
         {POOL_FOR("small", ""), MACHINE_WITH("n1", "small", "", LEAVES), HELD("web-1", "1", "n1")},
         "1 pod would fit nowhere afterwards: shop/web-1.",
         NULL,
         NULL},
        {"what is blocked takes pods of nodes that go before it, and stays for them",
         POOL_FOR("small, odd", ""),
         POOL_FOR("none", ""),
         {POOL_FOR("small, odd", ""), MACHINE("n1", "odd"), HELD("web-1", "100m", "n1"),
          MACHINE("n2", "small"), RUNS("web-2", "1500m", "n2")},
         "2 pods would fit nowhere afterwards: shop/web-1 and shop/web-2. Karpenter does not begin "
         "with a node whose pods fit nowhere. So 1 node stays.",
         ONLY_GOES,
         "This change replaces 2 of 2 nodes, at most 1 at a time, from now on."},
        {"also where its own fit elsewhere",
         POOL_FOR("small, odd", ""),
         POOL_FOR("large", ""),
         {POOL_FOR("small, odd", ""), MACHINE("n1", "odd"), HELD("web-1", "100m", "n1"),
          MACHINE("n2", "small"), RUNS("web-2", "1500m", "n2" NO_LARGE)},
         "1 pod would fit nowhere afterwards: shop/web-2. Karpenter does not begin with a node "
         "whose pods fit nowhere. So 1 node stays.",
         ONLY_GOES,
         NULL},
        {"more blocked nodes that may take them than are asked about",
         POOL_FOR("small", ""),
         POOL_FOR("large", ""),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), HELD("web-1", "100m", "n1"),
          OLD("web-2", "n2"), COMING("n4"), COMING("n5")},
         "1 pod would fit nowhere afterwards: shop/web-2. Karpenter does not begin with a node "
         "whose pods fit nowhere.",
         NULL,
         NULL},
        {"a pod that nobody evicts wants no place while its node is leaving",
         POOL_FOR("small", ""),
         POOL_FOR("none", ""),
         {POOL_FOR("small", ""), MACHINE_WITH("n1", "small", "", LEAVES),
          HELD("web-1", "1500m", "n1"), MACHINE("n2", "small"), RUNS("web-2", "1", "n2"),
          MACHINE("n3", "small"), RUNS("web-3", "500m", "n3")},
         "3 pods would fit nowhere afterwards: shop/web-1, shop/web-2 and shop/web-3. Karpenter "
         "does not begin with a node whose pods fit nowhere. So 1 node stays.",
         ONLY_GOES,
         NULL},
        {"another pod of such a node does, and keeps the others",
         POOL_FOR("small", ""),
         POOL_FOR("large", ""),
         {POOL_FOR("small", ""), MACHINE_WITH("n1", "small", "", LEAVES),
          RUNS("web-1", "1500m", "n1" NO_LARGE), MACHINE("n2", "small"), RUNS("web-2", "1", "n2")},
         "1 pod would fit nowhere afterwards: shop/web-1. " OF_LEAVING " So 1 node stays.",
         "",
         NULL},
        {"also where it is none of those that the change takes",
         POOL_FOR("small", ""),
         POOL_FOR("large", ""),
         {POOL_FOR("small", ""), DELETED("n1"), RUNS("web-1", "1500m", "n1" NO_LARGE),
          MACHINE("n2", "small"), RUNS("web-2", "1", "n2")},
         "1 pod would fit nowhere afterwards: shop/web-1. " OF_LEAVING " So 1 node stays.",
         "",
         NULL},
        {"also where it is gone with its node",
         POOL_FOR("small", ""),
         POOL_FOR("large", ""),
         {POOL_FOR("small", ""), MACHINE_WITH("n1", "small", "", LEAVES),
          BARE("tool", "n1" NO_LARGE), MACHINE("n2", "small"), RUNS("web-2", "1", "n2")},
         OF_LEAVING " So 1 node stays. " TOOL_IS_GONE,
         "",
         NULL},
        {"where it fits on one of the others that one stays",
         POOL_FOR("small", ""),
         POOL_FOR("large", ""),
         {POOL_FOR("small", ""), MACHINE_WITH("n1", "small", "", LEAVES),
          RUNS("web-1", "1500m", "n1" NO_LARGE), MACHINE("n2", "small"), MACHINE("n3", "small"),
          RUNS("web-3", "1", "n3")},
         "1 pod would fit nowhere afterwards: shop/web-1. " OF_LEAVING " So 1 node stays.",
         "The nodes that go cost $0.1000 an hour, those bought instead $0.1500.",
         NULL},
        {"more nodes in doubt than are asked about",
         POOL_FOR("small", ""),
         POOL_FOR("none", ""),
         {POOL_FOR("small", ""), TWO, MACHINE("n3", "small"), RUNS("web-3", "1500m", "n3")},
         "3 pods would fit nowhere afterwards: shop/web-1, shop/web-2 and shop/web-3. Karpenter "
         "does not begin with a node whose pods fit nowhere.",
         "The nodes that go cost $0.3000 an hour, and none is bought instead.",
         "This change replaces 3 of 3 nodes, at most 1 at a time, from now on."},
        {"a node class that is not there",
         POOL_FOR("small", ""),
         POOL_WITH("", "nope", "small", ""),
         {POOL_FOR("small", ""), NODE_CLASS, TWO},
         "NodePool default launches nothing: there is no EC2NodeClass nope. " NOWHERE_FOR_2,
         "",
         NONE_GOES},
        {"node classes that nobody has exported",
         POOL_FOR("small", ""),
         POOL_WITH("", "nope", "small", ""),
         {POOL_FOR("small", ""), TWO},
         "",
         "The nodes that go cost $0.2000 an hour, those bought instead $0.2000.",
         "This change replaces 2 of 2 nodes, at most 1 at a time, from now on."},
        {"a larger type, which no node leaves room for under the limit",
         POOL_WITH("limits: {cpu: 8}, ", "default", "small", ""),
         POOL_WITH("limits: {cpu: 8}, ", "default", "large", ""),
         {POOL_FOR("small", ""), TWO},
         NOWHERE_FOR_2,
         "",
         NONE_GOES},
        {"a larger type within the limit",
         POOL_WITH("limits: {cpu: 10}, ", "default", "small", ""),
         POOL_WITH("limits: {cpu: 10}, ", "default", "large", ""),
         {POOL_FOR("small", ""), TWO},
         "",
         "The nodes that go cost $0.2000 an hour, those bought instead $0.1500.",
         NULL},
        {"a node for a node at the limit",
         POOL_WITH("limits: {cpu: 4, nodes: 2}, ", "default", "small", ""),
         POOL_WITH("limits: {cpu: 4, nodes: 2}, ", "default", "small", "team: a"),
         {POOL_FOR("small", ""), TWO},
         "",
         "The nodes that go cost $0.2000 an hour, those bought instead $0.2000.",
         NULL},
        {"above a limit nothing is launched",
         POOL_WITH("limits: {cpu: 3}, ", "default", "small", ""),
         POOL_WITH("limits: {cpu: 3}, ", "default", "small", "team: a"),
         {POOL_FOR("small", ""), TWO},
         "NodePool default launches nothing: its nodes use more than its limit of "
         "cpu. " NOWHERE_FOR_2,
         "",
         NONE_GOES},
        {"nor above the limit of nodes",
         POOL_WITH("limits: {nodes: 1}, ", "default", "small", ""),
         POOL_WITH("limits: {nodes: 1}, ", "default", "small", "team: a"),
         {POOL_FOR("small", ""), TWO},
         "NodePool default launches nothing: its nodes use more than its limit of "
         "nodes. " NOWHERE_FOR_2,
         "",
         NONE_GOES},
        {"another NodePool above its limit is named",
         POOL_FOR("small", "team: a"),
         POOL_FOR("small", "team: b"),
         {POOL_FOR("small", "team: a"), FULL_POOL(""), MACHINE("n1", "small"),
          RUNS("web-1", "1", "n1, nodeSelector: {team: a}")},
         "NodePool full launches nothing: its nodes use more than its limit of cpu. "
         "1 pod would fit nowhere afterwards: shop/web-1. Karpenter does not begin with a node "
         "whose pods fit nowhere. So 1 node stays.",
         "",
         NULL},
        {"but not one whose taint keeps the pod out",
         POOL_FOR("small", "team: a"),
         POOL_FOR("small", "team: b"),
         {POOL_FOR("small", "team: a"), FULL_POOL("taints: [{key: gpu, effect: NoSchedule}], "),
          MACHINE("n1", "small"), RUNS("web-1", "1", "n1, nodeSelector: {team: a}")},
         "1 pod would fit nowhere afterwards: shop/web-1. Karpenter does not begin with a node "
         "whose pods fit nowhere. So 1 node stays.",
         "",
         NULL},
        {"a pod without a controller wants a place before its node goes, too",
         POOL_WITH("limits: {cpu: 1}, ", "default", "small", ""),
         POOL_WITH("limits: {cpu: 1}, ", "default", "small", "team: a"),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), BARE("tool", "n1")},
         "NodePool default launches nothing: its nodes use more than its limit of cpu. "
         "1 pod would fit nowhere afterwards: shop/tool. Karpenter does not begin with a node "
         "whose pods fit nowhere. So 1 node stays.",
         "",
         NULL},
        {"a pod that no controller makes again is gone with its node",
         POOL_FOR("small", ""),
         POOL_FOR("small", "team: a"),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), BARE("tool", "n1")},
         TOOL_IS_GONE,
         "The nodes that go cost $0.1000 an hour, those bought instead $0.1000.",
         ALL_GO_AT_ONCE},
        {"two are",
         POOL_FOR("small", ""),
         POOL_FOR("small", "team: a"),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), BARE("tool", "n1"), MACHINE("n2", "small"),
          BARE("tool-2", "n2")},
         "2 pods are gone for good, since no controller makes them again: shop/tool and "
         "shop/tool-2.",
         NULL,
         NULL},
        {"but not where it keeps its node",
         POOL_FOR("small", ""),
         POOL_FOR("small", "team: a"),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), HELD_BARE("tool", "n1")},
         "",
         NULL,
         "This change replaces 1 of 1 node, all of them blocked as things are."},
        {"where a drain has an end, it is gone, and fits nowhere else",
         POOL_FOR("small", ""),
         POOL_FOR("none", ""),
         {POOL_FOR("small", ""), MACHINE_WITH("n1", "small", ENDS, ""), HELD_BARE("tool", "n1")},
         TOOL_IS_GONE,
         ONLY_GOES,
         ALL_GO_AT_ONCE},
        {"as with a node that is leaving",
         POOL_FOR("small", ""),
         POOL_FOR("none", ""),
         {POOL_FOR("small", ""), MACHINE_WITH("n1", "small", "", LEAVES), BARE("tool", "n1")},
         TOOL_IS_GONE,
         "",
         NULL},
        {"of nodes that may stay, but are too many to ask, none is said to be gone",
         POOL_FOR("small", ""),
         POOL_FOR("none", ""),
         {POOL_FOR("small", ""), TWO, MACHINE("n3", "small"), BARE("tool", "n3")},
         "3 pods would fit nowhere afterwards: shop/tool, shop/web-1 and shop/web-2. Karpenter "
         "does not begin with a node whose pods fit nowhere.",
         NULL,
         NULL},
        {"a fixed size: a successor each, and nobody asks for its pods",
         POOL_WITH("replicas: 2, ", "default", "small", ""),
         POOL_WITH("replicas: 2, ", "default", "small", "team: a"),
         {POOL_FOR("small", ""), TWO},
         "",
         "The nodes that go cost $0.2000 an hour. What is bought instead is not known: for a "
         "NodePool of a fixed size the cloud chooses.",
         "This change replaces 2 of 2 nodes, at most 1 at a time, from now on."},
        {"a fixed size whose limit leaves no room for a successor",
         POOL_WITH("replicas: 2, limits: {nodes: 2}, ", "default", "small", ""),
         POOL_WITH("replicas: 2, limits: {nodes: 2}, ", "default", "small", "team: a"),
         {POOL_FOR("small", ""), TWO},
         "Without the gate TerminateFirstDrift no successor fits NodePool default: it has 2 "
         "nodes, and its limit of nodes is 2. So 2 nodes stay.",
         "",
         NONE_GOES},
        {"NodeClaims count, also those whose Node has not come",
         POOL_WITH("replicas: 3, limits: {nodes: 3}, ", "default", "small", ""),
         POOL_WITH("replicas: 3, limits: {nodes: 3}, ", "default", "small", "team: a"),
         {POOL_FOR("small", ""), TWO, COMING("n3")},
         "Without the gate TerminateFirstDrift no successor fits NodePool default: it has 3 "
         "nodes, and its limit of nodes is 3. So 3 nodes stay.",
         "",
         "This change makes 3 of 3 nodes drift, and Karpenter can replace none of them as things "
         "are."},
        {"also where some of them are given up",
         POOL_WITH("replicas: 3, limits: {nodes: 2}, ", "default", "small", ""),
         POOL_WITH("replicas: 2, limits: {nodes: 2}, ", "default", "small", "team: a"),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), COMING("n2"), COMING("n3")},
         "Without the gate TerminateFirstDrift no successor fits NodePool default: it keeps 2 "
         "nodes, and its limit of nodes is 2. So 2 nodes stay.",
         NULL,
         NULL},
        {"a fixed size that is lowered to none: none is left to stay, nor to be replaced",
         POOL_WITH("replicas: 2, limits: {nodes: 2}, ", "default", "small", ""),
         POOL_WITH("replicas: 0, limits: {nodes: 2}, ", "default", "small", "team: a"),
         {POOL_FOR("small", ""), TWO},
         "2 pods would fit nowhere afterwards: shop/web-1 and shop/web-2.",
         "The nodes that go cost $0.2000 an hour, and none is bought instead.",
         "This deletes 2 of 2 nodes at once, before new ones are there, whatever the budgets say. "
         "2 pods need another place."},
        {"nor where the template is as it was",
         POOL_WITH("replicas: 2, ", "default", "small", ""),
         POOL_WITH("replicas: 0, ", "default", "small", ""),
         {POOL_FOR("small", ""), TWO},
         "2 pods would fit nowhere afterwards: shop/web-1 and shop/web-2.",
         "The nodes that go cost $0.2000 an hour, and none is bought instead.",
         NULL},
        {"one that is lowered leaves room for a successor",
         POOL_WITH("replicas: 2, limits: {nodes: 2}, ", "default", "small", ""),
         POOL_WITH("replicas: 1, limits: {nodes: 2}, ", "default", "small", "team: a"),
         {POOL_FOR("small", ""), TWO},
         "",
         "The nodes that go cost $0.2000 an hour. What is bought instead is not known: for a "
         "NodePool of a fixed size the cloud chooses.",
         "This change replaces 1 of 2 nodes, all at once, from now on. It deletes 1 of 2 nodes at "
         "once, before new ones are there, whatever the budgets say. 2 pods need another place."},
        {"or none, and which one stays nobody knows",
         POOL_WITH("replicas: 2, limits: {nodes: 1}, ", "default", "small", ""),
         POOL_WITH("replicas: 1, limits: {nodes: 1}, ", "default", "small", "team: a"),
         {POOL_FOR("small", ""), TWO},
         "Without the gate TerminateFirstDrift no successor fits NodePool default: it keeps 1 "
         "node, and its limit of nodes is 1. So 1 node stays.",
         "What it costs is not known: Karpenter chooses which nodes go.",
         "This change makes 2 of 2 nodes drift, and Karpenter can replace none of them as things "
         "are. It deletes 1 of 2 nodes at once, before new ones are there, whatever the budgets "
         "say."},
        {"a node of a fixed size that is leaving has its successor",
         POOL_WITH("replicas: 2, ", "default", "small", ""),
         POOL_WITH("replicas: 2, ", "nope", "small", ""),
         {POOL_FOR("small", ""), NODE_CLASS, MACHINE("n1", "small"),
          MACHINE_WITH("n2", "small", "", LEAVES)},
         "NodePool default launches nothing: there is no EC2NodeClass nope. So 1 node stays.",
         NULL,
         NULL},
        {"a fixed size whose limit leaves room",
         POOL_WITH("replicas: 2, limits: {nodes: 3}, ", "default", "small", ""),
         POOL_WITH("replicas: 2, limits: {nodes: 3}, ", "default", "small", "team: a"),
         {POOL_FOR("small", ""), TWO},
         "",
         "The nodes that go cost $0.2000 an hour. What is bought instead is not known: for a "
         "NodePool of a fixed size the cloud chooses.",
         NULL},
        {"a fixed size without its node class",
         POOL_WITH("replicas: 2, ", "default", "small", ""),
         POOL_WITH("replicas: 2, ", "nope", "small", ""),
         {POOL_FOR("small", ""), NODE_CLASS, TWO},
         "NodePool default launches nothing: there is no EC2NodeClass nope. So 2 nodes stay.",
         "",
         NONE_GOES},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check(&cases[i]);
}

#define SIZED(name, cpu, of_node) MACHINE_OF("default", name, "small", cpu, "", of_node)
/* Its Node says nothing of a NodePool. */
#define NAMELESS(name)                                                                             \
    "{apiVersion: karpenter.sh/v1, kind: NodeClaim, " META(                                        \
        name, "small") ", status: {nodeName: " name "}}",                                          \
        "{apiVersion: v1, kind: Node, metadata: {name: " name                                      \
        ", labels: {karpenter.sh/registered: 'true', karpenter.sh/initialized: 'true'}}, status: " \
        "{allocatable: {cpu: 2, memory: 4Gi, pods: 110}}}"
#define WITHIN(cpu, type, labels) POOL_WITH("limits: {cpu: " cpu "}, ", "default", type, labels)

static void limits_leave_room_for_successors_or_do_not(void)
{
    static const struct plan_case cases[] = {
        {"a node that is leaving uses none of a limit",
         WITHIN("3", "small", ""),
         WITHIN("3", "small", "team: a"),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), RUNS("web-1", "1500m", "n1"),
          MACHINE_WITH("n2", "small", "", LEAVES)},
         "",
         "The nodes that go cost $0.1000 an hour, those bought instead $0.1000.",
         NULL},
        {"nor does one that the change does not take",
         WITHIN("3", "small", ""),
         WITHIN("3", "small", "team: a"),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), RUNS("web-1", "1500m", "n1"),
          DELETED("n2")},
         "",
         "The nodes that go cost $0.1000 an hour, those bought instead $0.1000.",
         NULL},
        {"and gives no successor room",
         WITHIN("9", "small", ""),
         WITHIN("9", "large", ""),
         {POOL_FOR("small", ""), TWO, SIZED("n3", "5", LEAVES)},
         NOWHERE_FOR_2,
         "",
         NULL},
        {"while one that goes does",
         WITHIN("10", "small", ""),
         WITHIN("10", "large", ""),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), RUNS("web-1", "1500m", "n1"),
          SIZED("n2", "5", "")},
         "",
         "The nodes that go cost $0.2000 an hour, those bought instead $0.1500.",
         NULL},
        {"nodes of no NodePool use none of it",
         WITHIN("2", "small", ""),
         WITHIN("2", "small", "team: a"),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), RUNS("web-1", "1500m", "n1"),
          NAMELESS("n2"), NODE("own", "a", "1")},
         "",
         NULL,
         "This change replaces 2 of 2 nodes, at most 1 at a time, from now on."},
        {"the first of several NodePools above theirs is named",
         POOL_FOR("small", "team: a"),
         POOL_FOR("small", "team: b"),
         {POOL_FOR("small", "team: a"), FULL_POOL_NAMED("first", ""), FULL_POOL_NAMED("second", ""),
          MACHINE("n1", "small"), RUNS("web-1", "1", "n1, nodeSelector: {team: a}")},
         "NodePool first launches nothing: its nodes use more than its limit of "
         "cpu. " NOWHERE_FOR_WEB_1,
         "",
         NULL},
        {"and none that no pod wants, though there are several",
         POOL_FOR("small", "team: a"),
         POOL_FOR("small", "team: b"),
         {POOL_FOR("small", "team: a"), FULL_POOL("taints: [{key: gpu, effect: NoSchedule}], "),
          MACHINE("n1", "small"), RUNS("web-1", "500m", "n1, nodeSelector: {team: a}"),
          RUNS("web-2", "500m", "n1, nodeSelector: {team: a}")},
         "2 pods would fit nowhere afterwards: shop/web-1 and shop/web-2. " ONE_STAYS,
         "",
         NULL},
        {"nor one for a pod that is pending anyway",
         POOL_FOR("small", "role: x"),
         POOL_FOR("small", "role: y"),
         {POOL_FOR("small", "role: x"), FULL_POOL(""), MACHINE("n1", "small"),
          RUNS("web-1", "1", "n1, nodeSelector: {role: x}"),
          POD("wait", "1", ", nodeSelector: {team: a}")},
         NOWHERE_FOR_WEB_1,
         "",
         NULL},
        {"nor for one that is gone for good",
         POOL_FOR("small", ""),
         POOL_FOR("none", ""),
         {POOL_FOR("small", ""), FULL_POOL(""), MACHINE_WITH("n1", "small", "", LEAVES),
          BARE("tool", "n1")},
         TOOL_IS_GONE,
         "",
         NULL},
        {"nor where the changed one launches nothing itself",
         POOL_FOR("small", ""),
         POOL_WITH("", "nope", "small", ""),
         {POOL_FOR("small", ""), NODE_CLASS, FULL_POOL(""), TWO},
         "NodePool default launches nothing: there is no EC2NodeClass nope. " NOWHERE_FOR_2,
         "",
         NONE_GOES},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check(&cases[i]);
}

#define CLASS_WITH(spec)                                                                \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: default, " \
    "annotations: {karpenter.k8s.aws/ec2nodeclass-hash: '1', "                          \
    "karpenter.k8s.aws/ec2nodeclass-hash-version: v6}}, spec: {" spec "}}"
#define OF_DEFAULT "nodeClassRef: {" EC2("default") "}"

static void nodes_of_all_pools_of_a_class_go(void)
{
    static const struct plan_case cases[] = {
        {"a node of another NodePool gives a successor no room",
         CLASS_WITH(""),
         CLASS_WITH("role: other"),
         {CLASS_WITH(""), WITHIN("9", "large", ""),
          POOL_OF("other", "", EC2("default"), "none", ""), TWO,
          MACHINE_OF("other", "o1", "large", "8", "", "")},
         NOWHERE_FOR_2,
         NULL,
         NULL},
        {"a blocked one of a fixed size is not asked about",
         CLASS_WITH(""),
         CLASS_WITH("role: other"),
         {CLASS_WITH(""), POOL_FOR("large", ""),
          POOL_OF("fixed", "replicas: 1, ", EC2("default"), "none", ""), MACHINE("n1", "odd"),
          HELD("web-1", "100m", "n1"), MACHINE("n2", "small"),
          RUNS("web-2", "1500m", "n2" NO_LARGE), MACHINE_OF("fixed", "s1", "small", "2", "", ""),
          HELD("web-3", "2", "s1" NO_LARGE)},
         "1 pod would fit nowhere afterwards: shop/web-2. " ONE_STAYS,
         NULL,
         "This change replaces 3 of 3 nodes, at most 1 at a time, from now on."},
        {"one whose NodePool is not there is of no fixed size",
         CLASS_WITH(""),
         CLASS_WITH("role: other"),
         {CLASS_WITH(""), MACHINE_WITH("n1", "small", OF_DEFAULT, ""),
          RUNS("web-1", "1500m", "n1")},
         NOWHERE_FOR_WEB_1,
         "",
         "This change makes 1 of 1 node drift, and Karpenter can replace none of them as things "
         "are."},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check(&cases[i]);
}

#define KWOK "group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default"
#define NODE_FOR_NODE "The nodes that go cost $0.2000 an hour, those bought instead $0.2000."

static void what_may_be_there_stops_nobody(void)
{
    static const struct plan_case of_other_kind = {
        "a class of another kind",
        POOL_OF("default", "", KWOK, "small", ""),
        POOL_OF("default", "", KWOK, "small", "team: a"),
        {POOL_OF("default", "", KWOK, "small", ""), NODE_CLASS, TWO},
        "",
        NODE_FOR_NODE,
        NULL};
    static const struct plan_case of_some = {"an EC2NodeClass, where not all can be seen",
                                             POOL_FOR("small", ""),
                                             POOL_WITH("", "nope", "small", ""),
                                             {POOL_FOR("small", ""), NODE_CLASS, TWO},
                                             "",
                                             NODE_FOR_NODE,
                                             NULL};
    check(&of_other_kind);
    check_with(&of_some, catalog_of_three, ~KIND_BIT(KIND_EC2_NODE_CLASS));
}

#define POOL_OF_X                                                                              \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: other}, spec: {template: " \
    "{metadata: {labels: {role: x}}, spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: "   \
    "EC2NodeClass, name: default}, requirements: [{key: node.kubernetes.io/instance-type, "    \
    "operator: In, values: [m8g-flex.large]}]}}}}"

/* Of m8g-flex.large the built-in catalogue does not know the hardware. */
static void pods_of_unknown_hardware_are_not_decided(void)
{
    static const struct plan_case cases[] = {
        {"hardware that is not known: nor is what is bought",
         POOL_FOR("m5.large", ""),
         POOL_FOR("m8g-flex.large", ""),
         {POOL_FOR("m5.large", ""), MACHINE("n1", "m5.large"), RUNS("web-1", "1", "n1")},
         "Of 1 pod it is not decided whether it fits afterwards: shop/web-1.",
         "The nodes that go cost $0.0960 an hour. " NOT_DECIDED,
         "This change replaces 1 of 1 node, all at once, from now on."},
        {"a pod that is gone for good wants no hardware",
         POOL_FOR("m5.large", ""),
         POOL_FOR("m8g-flex.large", ""),
         {POOL_FOR("m5.large", ""), MACHINE("n1", "m5.large"), RUNS("web-1", "500m", "n1"),
          BARE("tool", "n1")},
         "Of 1 pod it is not decided whether it fits afterwards: shop/web-1. " TOOL_IS_GONE,
         "The nodes that go cost $0.0960 an hour. " NOT_DECIDED,
         NULL},
        {"a pod that fits nowhere beside one of which that is not decided",
         POOL_FOR("m5.large", ""),
         POOL_FOR("m8g-flex.large", ""),
         {POOL_FOR("m5.large", ""), MACHINE("n1", "m5.large"), RUNS("web-1", "1500m", "n1"),
          MACHINE("n2", "m5.large"),
          RUNS("web-2", "1", "n2, nodeSelector: {node.kubernetes.io/instance-type: m5.large}")},
         "1 pod would fit nowhere afterwards: shop/web-2. Karpenter does not begin with a node "
         "whose pods fit nowhere. So 1 node stays. Of 1 pod it is not decided whether it fits "
         "afterwards: shop/web-1.",
         NULL,
         NULL},
        {"pods that wait for such hardware without the change, too",
         POOL_FOR("m5.large", ""),
         POOL_FOR("m8g-flex.large", ""),
         {POOL_FOR("m5.large", ""), MACHINE("n1", "m5.large"), RUNS("web-1", "1", "n1"),
          POD("wait", "1500m", "")},
         "Of 2 pods it is not decided whether they fit afterwards: shop/wait and shop/web-1.",
         "The nodes that go cost $0.0960 an hour. " NOT_DECIDED,
         NULL},
        {"a pod that waits for such hardware only without the change",
         POOL_FOR("m5.large", ""),
         POOL_FOR("m5.large", "role: x"),
         {POOL_FOR("m5.large", ""), POOL_OF_X, MACHINE("n1", "m5.large"),
          RUNS("web-1", "1500m", "n1"), POD("wait", "1500m", ", nodeSelector: {role: x}")},
         "",
         "The nodes that go cost $0.0960 an hour. " NOT_DECIDED,
         NULL},
        {"a pod that waits for such hardware either way changes nothing",
         POOL_FOR("m5.large", ""),
         POOL_FOR("m5.large", "team: a"),
         {POOL_FOR("m5.large", ""), POOL_OF_X, MACHINE("n1", "m5.large"),
          RUNS("web-1", "1500m", "n1"), POD("wait", "1500m", ", nodeSelector: {role: x}")},
         "",
         "The nodes that go cost $0.0960 an hour, those bought instead $0.0960.",
         NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_with(&cases[i], catalog_builtin, ~(kind_set)0);
}

const struct unit_test unit_tests[] = {
    {"pods and money are told", pods_and_money_are_told},
    {"nodes that Karpenter cannot begin with stay", nodes_that_karpenter_cannot_begin_with_stay},
    {"limits leave room for successors or do not", limits_leave_room_for_successors_or_do_not},
    {"nodes of all pools of a class go", nodes_of_all_pools_of_a_class_go},
    {"what may be there stops nobody", what_may_be_there_stops_nobody},
    {"pods of unknown hardware are not decided", pods_of_unknown_hardware_are_not_decided},
    {NULL, NULL},
};
