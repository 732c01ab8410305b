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
static const char priced_and_not[] =
    "[" FIXTURE_SMALL ", " FIXTURE_TYPE("odd", "2", "4Gi", ODD_OFFERING("a")) "]";

#define POOL_FOR(type, labels)                                                              \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default, annotations: " \
    "{karpenter.sh/nodepool-hash: '1', karpenter.sh/nodepool-hash-version: v3}}, spec: "    \
    "{template: {metadata: {labels: {" labels "}}, spec: {nodeClassRef: {group: "           \
    "karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: [{key: "          \
    "node.kubernetes.io/instance-type, operator: In, values: [" type "]}]}}}}"
#define META(name, type)                                                                 \
    "metadata: {name: " name ", annotations: {karpenter.sh/nodepool-hash: '1', "         \
    "karpenter.sh/nodepool-hash-version: v3}, labels: {karpenter.sh/nodepool: default, " \
    "karpenter.sh/registered: 'true', karpenter.sh/initialized: 'true', "                \
    "karpenter.sh/capacity-type: on-demand, node.kubernetes.io/instance-type: " type     \
    ", topology.kubernetes.io/zone: a}}"
#define MACHINE(name, type)                                                                  \
    "{apiVersion: karpenter.sh/v1, kind: NodeClaim, " META(                                  \
        name, type) ", status: {nodeName: " name "}}",                                       \
        "{apiVersion: v1, kind: Node, " META(name, type) ", status: {allocatable: {cpu: 2, " \
                                                         "memory: 4Gi, pods: 110}}}"
#define RUNS(name, cpu, node)                                                                \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name ", ownerReferences: [{apiVersion: " \
    "apps/v1, kind: ReplicaSet, name: web, controller: true}]}, spec: " POD_SPEC(            \
        cpu, ", nodeName: " node) "}"

struct plan_case {
    const char *name, *before, *after; /* after NULL: deleted */
    const char *documents[MOST_DOCUMENTS];
    const char *unschedulable, *price;
};

static void check(const struct plan_case *test)
{
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    struct arena *arena = fixture.arena;
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = TEXT(priced_and_not);
    const struct catalog *catalog = NULL;
    struct error error = {0};
    CU_ASSERT_FATAL(catalog_read(source, arena, &catalog, &error));
    size_t count = 0;
    while (count < MOST_DOCUMENTS && test->documents[count] != NULL)
        count++;
    const struct change_question question = {
        .snapshot = fixture_snapshot(&fixture, test->documents, count),
        .seen = ~(kind_set)0,
        .before = fixture_object(arena, test->before, ""),
        .after = fixture_object(arena, test->after, ""),
    };
    const struct simulation_settings settings = {0};
    struct change_impact impact;
    struct impact_plan plan;
    CU_ASSERT_FATAL(change_impact(&question, arena, &impact));
    CU_ASSERT_FATAL(change_impact_plan(&question, &impact, catalog, &settings, arena, &plan,
                                       &fixture.problems, &error));
    const struct impact_plan_words words = change_plan_words(&impact, &plan, arena);
    if (!text_is(words.unschedulable, test->unschedulable) || !text_is(words.price, test->price))
        fprintf(stderr, "in \"%s\":\n", test->name);
    ASSERT_TEXT(words.unschedulable, test->unschedulable);
    ASSERT_TEXT(words.price, test->price);
    arena_destroy(arena);
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
         "The nodes that go cost $0.1000 an hour, and none is bought instead."},
        {"a node for a node",
         POOL_FOR("small", ""),
         POOL_FOR("small", "team: a"),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), RUNS("web-1", "1", "n1")},
         "",
         "The nodes that go cost $0.1000 an hour, those bought instead $0.1000."},
        {"what is bought has no price",
         POOL_FOR("small", ""),
         POOL_FOR("odd", ""),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), RUNS("web-1", "1", "n1")},
         "",
         "What it costs is not known: nodes have no price in the catalogue."},
        {"nor has what would be bought anyway",
         POOL_FOR("odd", ""),
         POOL_FOR("small", ""),
         {POOL_FOR("odd", ""), MACHINE("n1", "odd"), RUNS("web-1", "1500m", "n1"),
          POD("wait", "1500m", "")},
         "",
         "What it costs is not known: nodes have no price in the catalogue."},
        {"nor has what goes",
         POOL_FOR("odd", ""),
         POOL_FOR("small", ""),
         {POOL_FOR("odd", ""), MACHINE("n1", "odd"), RUNS("web-1", "1", "n1")},
         "",
         "What it costs is not known: nodes have no price in the catalogue."},
        {"a pod that fits nowhere is no reason to begin",
         POOL_FOR("small", ""),
         POOL_FOR("none", ""),
         {POOL_FOR("small", ""), MACHINE("n1", "small"), RUNS("web-1", "1", "n1")},
         "1 pod would fit nowhere afterwards: shop/web-1. Karpenter does not begin with a node "
         "whose pods fit nowhere.",
         "The nodes that go cost $0.1000 an hour, and none is bought instead."},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check(&cases[i]);
}

const struct unit_test unit_tests[] = {
    {"pods and money are told", pods_and_money_are_told},
    {NULL, NULL},
};
