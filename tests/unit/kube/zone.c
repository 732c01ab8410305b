/* Labels that name zones, and sets of zones. */
#include "kube/zone.h"

#include "kube/snapshot.h"
#include "object_fixture.h"

enum { BUDGET_BYTES = 1 << 20 };

static void keys_are_known(void)
{
    static const struct {
        const char *key;
        enum zone_key means;
    } rows[] = {
        {"topology.kubernetes.io/zone", ZONE_KEY_NAME},
        {"failure-domain.beta.kubernetes.io/zone", ZONE_KEY_NAME},
        {"topology.ebs.csi.aws.com/zone", ZONE_KEY_NAME},
        {"topology.ebs.csi.eks.amazonaws.com/zone", ZONE_KEY_NAME},
        {"topology.gke.io/zone", ZONE_KEY_NAME},
        {"topology.disk.csi.azure.com/zone", ZONE_KEY_NAME},
        {"topology.cinder.csi.openstack.org/zone", ZONE_KEY_NAME},
        {"topology.k8s.aws/zone-id", ZONE_KEY_ID},
        {"topology.kubernetes.io/region", ZONE_KEY_NONE},
        {"kubernetes.io/hostname", ZONE_KEY_NONE},
        {"zone", ZONE_KEY_NONE},
        {"", ZONE_KEY_NONE},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (zone_key_of(text_of(rows[i].key)) != rows[i].means)
            fprintf(stderr, "%s\n", rows[i].key);
        ASSERT_INT(zone_key_of(text_of(rows[i].key)), rows[i].means);
    }
}

/* The zones of a list with commas. */
static struct zones zones_of(const char *list, struct arena *arena)
{
    struct zones zones = {0};
    struct text rest = text_of(list);
    struct text zone = rest;
    while (text_split(rest, ',', &zone, &rest))
        zones_add(&zones, zone, arena);
    zones_add(&zones, rest, arena);
    return zones;
}

static struct text list_of(const struct zones *zones, struct arena *arena)
{
    struct text list = TEXT("");
    for (size_t i = 0; i < zones->count; i++)
        list = arena_printf(arena, "%.*s%s%.*s", TEXT_ARGS(list), i == 0 ? "" : ",",
                            TEXT_ARGS(zones->items[i]));
    return list;
}

static void sets_are_sorted_and_have_each_once(void)
{
    static const struct {
        const char *a, *b, *sorted, *both; /* sorted: a */
    } rows[] = {
        {"", "", "", ""},
        {"a", "", "a", ""},
        {"b,a", "a,b", "a,b", "a,b"},
        {"c,a,b,a,c", "c,d,a", "a,b,c", "a,c"},
        {"a,,b", "d", "a,b", ""},
        {"us-east-1b,us-east-1a", "us-east-1", "us-east-1a,us-east-1b", ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_create(BUDGET_BYTES);
        struct zones a = zones_of(rows[i].a, arena);
        struct zones b = zones_of(rows[i].b, arena);
        struct zones both = zones_intersect(&a, &b, arena);
        ASSERT_TEXT(list_of(&a, arena), rows[i].sorted);
        ASSERT_TEXT(list_of(&both, arena), rows[i].both);
        for (size_t j = 0; j < a.count; j++)
            CU_ASSERT_TRUE(zones_have(&a, a.items[j]));
        CU_ASSERT_FALSE(zones_have(&a, TEXT("other")));
        arena_destroy(arena);
    }
}

static void nodes_name_their_zone(void)
{
    static const struct {
        const char *labels, *zone;
    } rows[] = {
        {"{}", ""},
        {"{topology.kubernetes.io/zone: a}", "a"},
        {"{failure-domain.beta.kubernetes.io/zone: b}", "b"},
        {"{failure-domain.beta.kubernetes.io/zone: b, topology.kubernetes.io/zone: a}", "a"},
        {"{failure-domain.beta.kubernetes.io/zone: b, topology.kubernetes.io/zone: ''}", "b"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_create(BUDGET_BYTES);
        const char *yaml =
            arena_printf(arena, "{apiVersion: v1, kind: Node, metadata: {name: one, labels: %s}}",
                         rows[i].labels)
                .data;
        ASSERT_TEXT(node_zone(fixture_object(arena, yaml, "")), rows[i].zone);
        arena_destroy(arena);
    }
}

#define CLASS(name, subnets)                                                        \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: " name \
    "}, status: {subnets: " subnets "}}"

static void subnets_tell_zones_of_ids(void)
{
    static const char *const classes[] = {
        CLASS("a", "[]"),
        CLASS("b", "[{id: s-1, zone: us-east-1a, zoneID: use1-az4}, {id: s-2, zone: us-east-1b, "
                   "zoneID: use1-az6}]"),
        CLASS("c", "[{id: s-3, zone: us-east-1c, zoneID: use1-az1}]"),
    };
    static const struct {
        const char *id, *zone;
    } rows[] = {
        {"use1-az4", "us-east-1a"}, {"use1-az6", "us-east-1b"}, {"use1-az1", "us-east-1c"},
        {"use1-az2", ""},           {"us-east-1a", ""},
    };
    struct arena *arena = arena_create(BUDGET_BYTES);
    struct snapshot_builder *builder = snapshot_builder_create(arena);
    for (size_t i = 0; i < COUNT_OF(classes); i++)
        snapshot_put(builder, fixture_object(arena, classes[i], ""));
    const struct snapshot *snapshot = snapshot_build(builder);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        ASSERT_TEXT(zone_of_id(snapshot, text_of(rows[i].id)), rows[i].zone);
    struct zones zones = {0};
    zones_add(&zones, TEXT("us-east-1b"), arena);
    zones_add(&zones, TEXT("us-east-1d"), arena);
    ASSERT_TEXT(zones_id_of(&zones, TEXT("us-east-1b")), "");
    zones_read_ids(snapshot, arena, &zones);
    ASSERT_TEXT(zones_id_of(&zones, TEXT("us-east-1b")), "use1-az6");
    ASSERT_TEXT(zones_id_of(&zones, TEXT("us-east-1d")), "");
    ASSERT_TEXT(zones_id_of(&zones, TEXT("us-east-1a")), ""); /* not among them */
    arena_destroy(arena);
}

const char unit_suite[] = "kube zones";
const struct unit_test unit_tests[] = {
    {"keys are known", keys_are_known},
    {"sets are sorted and have each once", sets_are_sorted_and_have_each_once},
    {"nodes name their zone", nodes_name_their_zone},
    {"subnets tell zones of ids", subnets_tell_zones_of_ids},
    {NULL, NULL},
};
