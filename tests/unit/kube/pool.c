/* NodePools: the labels of their nodes, whether they make some, and the class they name. */
#include "kube/pool.h"
#include "cluster_fixture.h"
#include "kube/label.h"

#define POOL(name, meta, rest)                                                              \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name meta "}, spec: " \
    "{template: {" rest "}}}"

/* A pool that goes makes no more nodes, and what cannot be read says nothing. */
static void pools_offer_values(void)
{
    static const char *const documents[] = {
        POOL("a", "", "metadata: {labels: {team: red}}"),
        POOL("b", "", "spec: {requirements: [{key: team, operator: In, values: [blue, green]}]}"),
        POOL("c", "", "spec: {requirements: [{key: team, operator: Near, values: [white]}]}"),
        POOL("d", ", deletionTimestamp: '2027-01-01T00:00:00Z'",
             "metadata: {labels: {team: black}}"),
        POOL("e", "", "spec: {requirements: [{key: rack, operator: Exists}]}"),
    };
    struct fixture fixture = {.arena = arena_create(1 << 20)};
    const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, COUNT_OF(documents));
    struct label_offers offers;
    label_offers_read(snapshot, TEXT("team"), fixture.arena, &offers);
    ASSERT_TEXT(texts_join(offers.items, offers.count, offers.count, fixture.arena),
                "red, blue, green");
    CU_ASSERT_FALSE(offers.any_value);
    label_offers_read(snapshot, TEXT("rack"), fixture.arena, &offers);
    CU_ASSERT_TRUE(offers.any_value && offers.from_pool);
    ASSERT_INT(offers.count, 0);
    arena_destroy(fixture.arena);
}

static void a_pool_makes_nodes(void)
{
    static const struct {
        const char *pool;
        bool makes;
    } cases[] = {
        {POOL("a", "", ""), true},
        {POOL("a", ", deletionTimestamp: '2027-01-01T00:00:00Z'", ""), false},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {replicas: 2}}",
         false},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, status: {conditions: "
         "[{type: Ready, status: 'False'}]}}",
         false},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, status: {conditions: "
         "[{type: Ready, status: 'True'}]}}",
         true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(1 << 20)};
        const struct snapshot *snapshot = fixture_snapshot(&fixture, &cases[i].pool, 1);
        if (pool_makes_nodes(snapshot_pool(snapshot, 0)) != cases[i].makes)
            fprintf(stderr, "%s\n", cases[i].pool);
        CU_ASSERT_EQUAL(pool_makes_nodes(snapshot_pool(snapshot, 0)), cases[i].makes);
        arena_destroy(fixture.arena);
    }
}

/* Old references have no group; of two kinds that are called alike it says which is meant. */
static void a_reference_names_a_node_class(void)
{
    static const struct {
        const char *group, *kind, *name;
        bool named;
    } cases[] = {
        {"karpenter.k8s.aws", "EC2NodeClass", "default", true},
        {"", "EC2NodeClass", "default", true},
        {"example.com", "EC2NodeClass", "default", false},
        {"karpenter.k8s.aws", "NodeClass", "default", false},
        {"karpenter.k8s.aws", "EC2NodeClass", "other", false},
    };
    const struct object class = {.api_version = TEXT("karpenter.k8s.aws/v1"),
                                 .kind = KIND_EC2_NODE_CLASS,
                                 .kind_name = TEXT("EC2NodeClass"),
                                 .name = TEXT("default")};
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        ASSERT_INT(node_class_is_named(text_of(cases[i].group), text_of(cases[i].kind),
                                       text_of(cases[i].name), &class),
                   cases[i].named);
}

const char unit_suite[] = "kube pools";
const struct unit_test unit_tests[] = {
    {"pools offer values", pools_offer_values},
    {"a pool makes nodes", a_pool_makes_nodes},
    {"a reference names a node class", a_reference_names_a_node_class},
    {NULL, NULL},
};
