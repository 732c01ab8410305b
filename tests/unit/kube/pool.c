/* NodePools: the labels of their nodes, whether they make some, and the class they name. */
#include "kube/pool.h"
#include "cluster_fixture.h"
#include "kube/label.h"

#define POOL(name, meta, rest)                                                              \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name meta "}, spec: " \
    "{template: {" rest "}}}"

static struct text listed(const struct label_offers *offers, struct arena *arena)
{
    struct text_list values = label_offers_list(offers, arena);
    return texts_join(values.items, values.count, values.count, arena);
}

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
    ASSERT_TEXT(listed(&offers, fixture.arena), "red, blue, green");
    CU_ASSERT_FALSE(offers.any_value);
    label_offers_read(snapshot, TEXT("rack"), fixture.arena, &offers);
    CU_ASSERT_TRUE(offers.any_value && offers.from_pool);
    ASSERT_TEXT(listed(&offers, fixture.arena), "");
    arena_destroy(fixture.arena);
}

/* What the template says, what Karpenter puts on each node by itself, and what nodes have. */
static void labels_come_from_pools_and_nodes(void)
{
#define CLASSED(name, meta, group, kind)                                                  \
    POOL(name, meta,                                                                      \
         "spec: {nodeClassRef: {group: " group ", kind: " kind ", name: c-" name "}, "    \
         "requirements: [{key: team, operator: NotIn, values: [blue]}, {key: rack, "      \
         "operator: DoesNotExist}, {key: size, operator: Gt, values: ['2']}, {key: row, " \
         "operator: In, values: [x, w, x]}]}")
    static const char *const documents[] = {
        CLASSED("a", "", "karpenter.k8s.aws", "EC2NodeClass"),
        CLASSED("b", "", "eks.amazonaws.com", "NodeClass"),
        CLASSED("d", ", deletionTimestamp: '2027-01-01T00:00:00Z'", "example.com", "Gone"),
        "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {rack: r1, row: z}}}",
        "{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {rack: r2, row: x}}}",
    };
#undef CLASSED
    static const struct {
        const char *key, *values;
        bool any_value, from_pool, from_node, in_template;
    } cases[] = {
        {"team", "", true, true, false, true},
        {"size", "", true, true, false, true},
        {"row", "x, w, z", false, true, true, true},
        {"rack", "r1, r2", false, false, true, false},
        {"karpenter.sh/nodepool", "a, b", false, true, false, false},
        {"karpenter.k8s.aws/ec2nodeclass", "c-a", false, true, false, false},
        {"eks.amazonaws.com/nodeclass", "c-b", false, true, false, false},
        {"eks.amazonaws.com/compute-type", "auto", false, true, false, false},
        {"example.com/gone", "", false, false, false, false},
        {"other", "", false, false, false, false},
    };
    struct fixture fixture = {.arena = arena_create(1 << 20)};
    const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, COUNT_OF(documents));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text key = text_of(cases[i].key);
        struct label_offers offers;
        label_offers_read(snapshot, key, fixture.arena, &offers);
        ASSERT_TEXT(listed(&offers, fixture.arena), cases[i].values);
        ASSERT_INT(offers.any_value, cases[i].any_value);
        ASSERT_INT(offers.from_pool, cases[i].from_pool);
        ASSERT_INT(offers.of_nodes != NULL, cases[i].from_node);
        ASSERT_INT(label_offers_some(&offers), cases[i].from_pool || cases[i].from_node);
        ASSERT_INT(label_offers_have(&offers, TEXT("z")),
                   cases[i].any_value || text_is(key, "row"));
        ASSERT_INT(some_pool_produces(snapshot, key), cases[i].in_template);
    }
    arena_destroy(fixture.arena);
}

/* Amazon's own pools of EKS Auto Mode, whose copies keep the label that names the manager. */
static void the_pools_of_auto_mode_are_known(void)
{
#define OF(name, group, labels)          \
    POOL(name, ", labels: {" labels "}", \
         "spec: {nodeClassRef: {group: " group ", kind: NodeClass, name: default}}")
#define BY_EKS "app.kubernetes.io/managed-by: eks"
    static const struct {
        const char *pool;
        bool of_auto_mode, built_in;
    } cases[] = {
        {OF("general-purpose", "eks.amazonaws.com", BY_EKS), true, true},
        {OF("system", "eks.amazonaws.com", BY_EKS), true, true},
        {OF("general-purpose-2", "eks.amazonaws.com", BY_EKS), true, false},
        {OF("system", "eks.amazonaws.com", "app.kubernetes.io/managed-by: Helm"), true, false},
        {OF("system", "eks.amazonaws.com", ""), true, false},
        {OF("system", "karpenter.k8s.aws", BY_EKS), false, false},
    };
#undef OF
#undef BY_EKS
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(1 << 20)};
        const struct snapshot *snapshot = fixture_snapshot(&fixture, &cases[i].pool, 1);
        ASSERT_INT(pool_is_of_auto_mode(snapshot_pool(snapshot, 0)), cases[i].of_auto_mode);
        ASSERT_INT(pool_is_built_in(snapshot_pool(snapshot, 0)), cases[i].built_in);
        arena_destroy(fixture.arena);
    }
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
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, status: {conditions: "
         "[{type: Ready, status: Unknown}]}}",
         false},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, status: {conditions: "
         "[{type: NodeClassReady, status: 'False'}]}}",
         true},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {replicas: 0}}",
         false},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {replicas: "
         "null}}",
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

/* The domain is the API group of the class; where the reference names none, its kind tells, then
 * what the pool requires. */
static void the_name_of_a_node_class_is_a_label(void)
{
#define NODE_POOL(reference) POOL("a", "", "spec: {nodeClassRef: {" reference "}}")
#define REQUIRES(reference, key)                                           \
    POOL("a", "",                                                          \
         "spec: {nodeClassRef: {" reference "}, requirements: [{key: " key \
         ", operator: Exists}]}")
    static const struct {
        const char *pool, *label;
    } cases[] = {
        {NODE_POOL("group: karpenter.k8s.aws, kind: EC2NodeClass, name: c"),
         "karpenter.k8s.aws/ec2nodeclass"},
        {NODE_POOL("group: example.com, kind: ABCDEFGHIJKLMNOPQRSTUVWXYZ, name: c"),
         "example.com/abcdefghijklmnopqrstuvwxyz"},
        {NODE_POOL("group: example.com, kind: az09, name: c"), "example.com/az09"},
        {NODE_POOL("group: example.com, kind: '@[', name: c"), "example.com/@["},
        {NODE_POOL("group: a.com, apiVersion: b.com/v1, apiGroup: c.com, kind: K, name: c"),
         "a.com/k"},
        {NODE_POOL("apiVersion: b.com/v1, apiGroup: c.com, kind: K, name: c"), "b.com/k"},
        {NODE_POOL("apiGroup: c.com, kind: AKSNodeClass, name: c"), "c.com/aksnodeclass"},
        {NODE_POOL("apiVersion: v1, kind: K, name: c"), ""},
        {NODE_POOL("kind: AKSNodeClass, name: c"), "karpenter.azure.com/aksnodeclass"},
        {NODE_POOL("kind: GCENodeClass, name: c"), "karpenter.k8s.gcp/gcenodeclass"},
        {NODE_POOL("kind: IBMNodeClass, name: c"), "karpenter-ibm.sh/ibmnodeclass"},
        {NODE_POOL("kind: ECSNodeClass, name: c"), "karpenter.k8s.alibabacloud/ecsnodeclass"},
        {NODE_POOL("kind: KWOKNodeClass, name: c"), "karpenter.kwok.sh/kwoknodeclass"},
        {REQUIRES("kind: K, name: c", "karpenter.azure.com/sku-cpu"), "karpenter.azure.com/k"},
        {REQUIRES("kind: K, name: c", "karpenter.k8s.gcp/instance-cpu"), "karpenter.k8s.gcp/k"},
        {REQUIRES("kind: K, name: c", "karpenter-ibm.sh/zone"), "karpenter-ibm.sh/k"},
        {REQUIRES("kind: K, name: c", "karpenter.k8s.alibabacloud/instance-cpu"),
         "karpenter.k8s.alibabacloud/k"},
        {REQUIRES("kind: K, name: c", "example.com/team"), ""},
        {REQUIRES("kind: AKSNodeClass, name: c", "karpenter.k8s.gcp/instance-cpu"),
         "karpenter.azure.com/aksnodeclass"},
        {REQUIRES("group: a.com, kind: K, name: c", "karpenter.k8s.gcp/instance-cpu"), "a.com/k"},
        {NODE_POOL("group: a.com, kind: K"), ""},
        {NODE_POOL("group: a.com, name: c"), ""},
        {"{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: a}, spec: "
         "{providerRef: {apiVersion: karpenter.k8s.aws/v1alpha1, kind: AWSNodeTemplate, name: c}}}",
         "karpenter.k8s.aws/awsnodetemplate"},
    };
#undef NODE_POOL
#undef REQUIRES
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(1 << 20)};
        const struct snapshot *snapshot = fixture_snapshot(&fixture, &cases[i].pool, 1);
        const struct object *old = snapshot_object(snapshot, KIND_PROVISIONER, 0);
        struct pool pool;
        CU_ASSERT_TRUE_FATAL(
            pool_read(old != NULL ? old : snapshot_object(snapshot, KIND_NODE_POOL, 0),
                      fixture.arena, &pool));
        if (!text_is(pool.node_class_label, cases[i].label))
            fprintf(stderr, "%s\n", cases[i].pool);
        ASSERT_TEXT(pool.node_class_label, cases[i].label);
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
    {"labels come from pools and nodes", labels_come_from_pools_and_nodes},
    {"the pools of Auto Mode are known", the_pools_of_auto_mode_are_known},
    {"a pool makes nodes", a_pool_makes_nodes},
    {"the name of a node class is a label", the_name_of_a_node_class_is_a_label},
    {"a reference names a node class", a_reference_names_a_node_class},
    {NULL, NULL},
};
