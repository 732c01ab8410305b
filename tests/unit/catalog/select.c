/* Which types, zones and labels the expressions of pools and pods mean. */
#include "cluster_fixture.h"

#include "catalog/label.h"
#include "catalog/zones.h"
#include "catalog_fixture.h"
#include "kube/expression.h"
#include "kube/pool.h"
#include "solver/well_known.h"

#define FAMILY "karpenter.k8s.aws/instance-family"
#define POOL(template)                                                                     \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: " \
    "{" template "}}}"

static const struct pool *pool_of(const char *document, const struct snapshot **snapshot)
{
    struct fixture fixture = {.arena = arena};
    *snapshot = fixture_snapshot(&fixture, &document, 1);
    CU_ASSERT_EQUAL_FATAL(snapshot_pool_count(*snapshot), 1);
    return snapshot_pool(*snapshot, 0);
}

/* The built-in catalogue is one of EC2; where no group is written the kind tells the cloud. */
static void pools_of_other_clouds_are_not_covered(void)
{
    static const struct {
        const char *reference;
        bool covered;
    } cases[] = {
        {"{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}", true},
        {"{group: eks.amazonaws.com, kind: NodeClass, name: a}", true},
        {"{group: karpenter.azure.com, kind: AKSNodeClass, name: a}", false},
        {"{name: a}", true},
        {"{kind: EC2NodeClass, name: a}", true},
        {"{kind: AWSNodeTemplate, name: a}", true},
        {"{kind: NodeClass, name: a}", true},
        {"{kind: OtherNodeClass, name: a}", false},
    };
    builtin();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct snapshot *snapshot;
        struct text document =
            arena_printf(arena, POOL("spec: {nodeClassRef: %s}"), cases[i].reference);
        const struct pool *pool = pool_of(document.data, &snapshot);
        if (pool_is_covered_by(catalog, pool) != cases[i].covered)
            fprintf(stderr, "%s\n", cases[i].reference);
        CU_ASSERT_EQUAL(pool_is_covered_by(catalog, pool), cases[i].covered);
    }
    user("[{\"name\": \"t\", \"architecture\": \"amd64\", \"operatingSystems\": [\"linux\"], "
         "\"resources\": {\"cpu\": \"4\", \"memory\": \"16Gi\"}, \"offerings\": [{}]}]");
    const struct snapshot *snapshot;
    const struct pool *pool =
        pool_of(POOL("spec: {nodeClassRef: {kind: OtherNodeClass, name: a}}"), &snapshot);
    CU_ASSERT_TRUE(pool_is_covered_by(catalog, pool)); /* the user says which types there are */
}

/* No type is known to be without a value of them, but Macs, of which no node can be made. */
static void labels_of_each_machine(void)
{
#define AWS "karpenter.k8s.aws/instance-"
    static const struct {
        const char *key;
        bool is_of_each;
    } cases[] = {
        {LABEL_ARCH, true},
        {LABEL_OS, true},
        {AWS "family", true},
        {AWS "category", true},
        {AWS "generation", true},
        {AWS "size", true},
        {AWS "cpu", true},
        {AWS "cpu-manufacturer", true},
        {AWS "memory", true},
        {AWS "hypervisor", true},
        {AWS "tenancy", true},
        {AWS "encryption-in-transit-supported", true},
        {AWS "capability-flex", true},
        {AWS "local-nvme", false},
        {AWS "gpu-count", false},
        {AWS "network-bandwidth", false},
        {AWS "other", false},
        {"team", false},
    };
#undef AWS
    builtin();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text key = text_of(cases[i].key);
        uint32_t number = solver_names_find_key(catalog_names(catalog), key.data, key.size);
        bool is_of_each = number != SOLVER_NONE;
        for (size_t j = 0; is_of_each && j < catalog_count(catalog); j++) {
            const struct instance_type *type = catalog_type(catalog, j);
            const struct solver_requirement *its =
                solver_requirements_get(&type->requirements, number);
            is_of_each = text_starts_with(type->name, TEXT("mac")) || its == NULL ||
                         solver_requirement_op(its) != SOLVER_DOES_NOT_EXIST;
        }
        if (is_of_each != cases[i].is_of_each ||
            catalog_is_of_each_machine(key) != cases[i].is_of_each)
            fprintf(stderr, "%s\n", cases[i].key);
        ASSERT_INT(is_of_each, cases[i].is_of_each);
        ASSERT_INT(catalog_is_of_each_machine(key), cases[i].is_of_each);
    }
}

/* How long a list is makes no difference to what it selects. */
static void long_lists_select_as_short_ones(void)
{
    static const struct {
        const char *key, *op, *values; /* before 200 that no type has */
        size_t count;
    } cases[] = {
        {FAMILY, "In", "m5", 9},
        {FAMILY, "NotIn", "m5", 1432 - 9},
        {FAMILY, "Exists", "m5", 1432},
    };
    builtin();
    struct text_builder strange = {.arena = arena};
    for (int i = 0; i < 200; i++)
        text_builder_printf(&strange, ", strange-%d", i);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct snapshot *snapshot;
        struct text document = arena_printf(
            arena, POOL("spec: {requirements: [{key: %s, operator: %s, values: [%s%.*s]}]}"),
            cases[i].key, cases[i].op, cases[i].values, TEXT_ARGS(text_builder_text(&strange)));
        const struct pool *pool = pool_of(document.data, &snapshot);
        struct type_set set = expressions_select(catalog, &pool->requirements, NULL, arena);
        ASSERT_INT(type_set_count(&set), cases[i].count);
    }
    /* By a label that no type of the user's carries. */
    user("[{\"name\": \"t\", \"architecture\": \"amd64\", \"operatingSystems\": [\"linux\"], "
         "\"resources\": {\"cpu\": \"4\", \"memory\": \"16Gi\"}, \"offerings\": [{}]}]");
    strange = (struct text_builder){.arena = arena};
    for (int i = 0; i < 200; i++)
        text_builder_printf(&strange, "%sstrange-%d", i == 0 ? "" : ", ", i);
    const struct snapshot *snapshot;
    struct text document = arena_printf(
        arena,
        POOL("spec: {requirements: [{key: example.com/team, operator: In, values: [%.*s]}]}"),
        TEXT_ARGS(text_builder_text(&strange)));
    const struct pool *pool = pool_of(document.data, &snapshot);
    struct type_set set = expressions_select(catalog, &pool->requirements, NULL, arena);
    ASSERT_INT(type_set_count(&set), 1);
}

static void pools_name_zones(void)
{
    static const struct {
        const char *pool, *zones;
        bool complete;
    } cases[] = {
        {POOL("metadata: {labels: {topology.kubernetes.io/zone: b}}"), "b", true},
        {POOL("spec: {requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [b, "
              "a]}]}"),
         "a, b", true},
        {POOL("spec: {requirements: [{key: topology.kubernetes.io/zone, operator: NotIn, values: "
              "[a]}]}"),
         "", false},
        {POOL("spec: {}"), "", false},
    };
    builtin();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct snapshot *snapshot;
        struct zones zones;
        (void)pool_of(cases[i].pool, &snapshot);
        zones_read(snapshot, catalog, ZONE_KEY_NAME, arena, &zones);
        ASSERT_TEXT(texts_join(zones.items, zones.count, zones.count, arena), cases[i].zones);
        CU_ASSERT_EQUAL(zones.complete, cases[i].complete);
    }
}

static void a_key_is_meant(void)
{
    static const struct {
        const char *written, *meant;
    } cases[] = {
        {"zone", LABEL_ZONE},        {"node.kubernetes.io/arch", LABEL_ARCH},
        {"node.kubernetes.io/", ""}, {LABEL_ARCH, ""},
        {"example.com/arch", ""},
    };
    builtin();
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        ASSERT_TEXT(label_key_meant(catalog, text_of(cases[i].written)), cases[i].meant);
    /* A key without a domain is none's name. */
    user(
        "[{\"name\": \"t\", \"architecture\": \"amd64\", \"operatingSystems\": [\"linux\"], "
        "\"resources\": {\"cpu\": \"4\", \"memory\": \"16Gi\"}, \"offerings\": [{\"Requirements\": "
        "[{\"key\": \"rack\", \"operator\": \"In\", \"values\": [\"r1\"]}]}]}]");
    ASSERT_TEXT(label_key_meant(catalog, TEXT("node.kubernetes.io/")), "");
    ASSERT_TEXT(label_key_meant(catalog, TEXT("node.kubernetes.io/rack")), "");
    ASSERT_TEXT(label_key_meant(catalog, TEXT("rak")), "rack");
}

static void a_value_is_meant(void)
{
    static const struct {
        const char *key, *written, *meant;
    } cases[] = {
        {LABEL_INSTANCE_TYPE, "m5.", "m5.large"}, /* the shortest that begins so */
        {LABEL_INSTANCE_TYPE, "ml.m5.large", "m5.large"},
        {LABEL_INSTANCE_TYPE, "m5.2xl", "m5.2xlarge"},
        {FAMILY, "m51", "m5"},
        {LABEL_ARCH, "x86_64", "amd64"},
    };
    builtin();
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        ASSERT_TEXT(
            label_value_meant(catalog, text_of(cases[i].key), text_of(cases[i].written), arena),
            cases[i].meant);
    /* An empty value is never what was meant. */
    user(
        "[{\"name\": \"m5.large\", \"architecture\": \"amd64\", \"operatingSystems\": [\"linux\"], "
        "\"resources\": {\"cpu\": \"4\", \"memory\": \"16Gi\"}, \"offerings\": [{\"Requirements\": "
        "[{\"key\": \"" FAMILY "\", \"operator\": \"In\", \"values\": [\"\", \"m5\"]}]}]}]");
    ASSERT_TEXT(label_value_meant(catalog, TEXT(FAMILY), TEXT("m5d"), arena), "m5");
}

/* A word in capitals under a key whose values are known is filled in before it is applied. */
static void some_values_are_templates(void)
{
    static const struct {
        const char *key, *value;
        bool template;
    } cases[] = {
        {LABEL_INSTANCE_TYPE, "INSTANCE_TYPE", true},
        {LABEL_INSTANCE_TYPE, "${TYPE}", true},
        {LABEL_CAPACITY_TYPE, "ON_DEMAND", false},
        {"karpenter.k8s.aws/instance-hypervisor", "NITRO", false},
        {"example.com/team", "TEAM_NAME", false},
    };
    builtin();
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        ASSERT_INT(label_value_is_template(catalog, text_of(cases[i].key), text_of(cases[i].value)),
                   cases[i].template);
}

const char unit_suite[] = "catalog selections";
const struct unit_test unit_tests[] = {
    {"pools of other clouds are not covered", pools_of_other_clouds_are_not_covered},
    {"labels of each machine", labels_of_each_machine},
    {"long lists select as short ones", long_lists_select_as_short_ones},
    {"pools name zones", pools_name_zones},
    {"a key is meant", a_key_is_meant},
    {"a value is meant", a_value_is_meant},
    {"some values are templates", some_values_are_templates},
    {NULL, NULL},
};
