/* In which zones a volume is: its node affinity, its zone labels, and both where they differ. */
#include "kube/volume_zones.h"
#include "cluster_fixture.h"
#include "kube/zone.h"

enum { BUDGET_BYTES = 1 << 20 };

#define ZONE "topology.kubernetes.io/zone"
#define OLD_ZONE "failure-domain.beta.kubernetes.io/zone"
#define REGION "topology.kubernetes.io/region"
#define VOLUME(labels, terms)                                                              \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v, labels: {" labels "}}, " \
    "spec: {nodeAffinity: {required: {nodeSelectorTerms: [" terms "]}}}}"
#define TERM(expressions) "{matchExpressions: [" expressions "]}"
#define IN(key, values) "{key: " key ", operator: In, values: [" values "]}"

static struct text words(const struct zones *zones, struct arena *arena)
{
    struct text all = TEXT("");
    for (size_t i = 0; i < zones->count; i++)
        all = arena_printf(arena, "%.*s%s%.*s", TEXT_ARGS(all), i == 0 ? "" : " ",
                           TEXT_ARGS(zones->items[i]));
    return all;
}

static void a_volume_is_where_labels_and_affinity_both_say(void)
{
    static const struct {
        const char *volume;
        enum volume_zones says;
        const char *zones;
        bool zonal;
    } cases[] = {
        {VOLUME("", TERM(IN(ZONE, "a"))), VOLUME_IN_ZONES, "a", true},
        {VOLUME("", TERM(IN(ZONE, "b, a"))), VOLUME_IN_ZONES, "a b", true},
        {VOLUME("", TERM(IN(ZONE, "a")) ", " TERM(IN(ZONE, "b"))), VOLUME_IN_ZONES, "a b", true},
        {VOLUME("", TERM(IN("topology.ebs.csi.aws.com/zone", "a"))), VOLUME_IN_ZONES, "a", true},
        {VOLUME(ZONE ": a", ""), VOLUME_IN_ZONES, "a", true},
        {VOLUME(OLD_ZONE ": a__b", ""), VOLUME_IN_ZONES, "a b", true},
        /* a label and the affinity: what both say */
        {VOLUME(ZONE ": a", TERM(IN(ZONE, "a"))), VOLUME_IN_ZONES, "a", true},
        {VOLUME(ZONE ": a", TERM(IN(ZONE, "a, b"))), VOLUME_IN_ZONES, "a", true},
        {VOLUME(ZONE ": a__b", TERM(IN(ZONE, "b, c"))), VOLUME_IN_ZONES, "b", true},
        {VOLUME(ZONE ": a", TERM(IN(ZONE, "b"))), VOLUME_IN_ZONES, "", true},
        {VOLUME(ZONE ": a, " OLD_ZONE ": b", ""), VOLUME_IN_ZONES, "", true},
        {VOLUME(ZONE ": a", TERM(IN(REGION, "r"))), VOLUME_IN_ZONES, "a", true},
        /* keys of one term that all hold */
        {VOLUME("", TERM(IN(ZONE, "a, b") ", " IN("topology.ebs.csi.aws.com/zone", "b"))),
         VOLUME_IN_ZONES, "b", true},
        /* no zone */
        {VOLUME("", ""), VOLUME_ANYWHERE, "", false},
        {VOLUME("", TERM(IN(REGION, "r"))), VOLUME_ANYWHERE, "", false},
        {VOLUME("", TERM(IN(ZONE, "a")) ", " TERM(IN(REGION, "r"))), VOLUME_ANYWHERE, NULL, true},
        {VOLUME("", TERM("{key: " ZONE ", operator: NotIn, values: [a]}")), VOLUME_ANYWHERE, "",
         true},
        /* what cannot be read */
        {VOLUME("", TERM("{key: " ZONE ", operator: Near, values: [a]}")), VOLUME_UNKNOWN, NULL,
         true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        const struct snapshot *snapshot = fixture_snapshot(&fixture, &cases[i].volume, 1);
        const struct object *volume = snapshot_object(snapshot, KIND_PERSISTENT_VOLUME, 0);
        struct zones zones = {0};
        enum volume_zones says = volume_zones_read(snapshot, volume, fixture.arena, &zones);
        struct text found = words(&zones, fixture.arena);
        if (says != cases[i].says || (cases[i].zones != NULL && !text_is(found, cases[i].zones)))
            fprintf(stderr, "case %zu: %d, \"%.*s\"\n", i, says, TEXT_ARGS(found));
        CU_ASSERT_EQUAL(says, cases[i].says);
        CU_ASSERT_TRUE(cases[i].zones == NULL || text_is(found, cases[i].zones));
        CU_ASSERT_EQUAL(volume_is_zonal(volume), cases[i].zonal);
        arena_destroy(fixture.arena);
    }
}

/* The short way and the long one say the same. */
static void one_zone_is_read_without_memory(void)
{
    static const struct {
        const char *volume, *zone; /* NULL: the long way is needed */
    } cases[] = {
        {VOLUME("", TERM(IN(ZONE, "a"))), "a"},
        {VOLUME(ZONE ": a", TERM(IN(ZONE, "a") ", " IN(REGION, "r"))), "a"},
        {VOLUME(ZONE ": a__b", TERM(IN(ZONE, "a"))), NULL},
        {VOLUME(ZONE ": b", TERM(IN(ZONE, "a"))), NULL},
        {VOLUME(OLD_ZONE ": b", TERM(IN(ZONE, "a"))), NULL},
        {VOLUME("", TERM(IN(ZONE, "a, b"))), NULL},
        {VOLUME("", TERM(IN(ZONE, "a") ", " IN("topology.ebs.csi.aws.com/zone", "b"))), NULL},
        {VOLUME("", TERM(IN("topology.k8s.aws/zone-id", "use1-az1"))), NULL},
        {VOLUME(ZONE ": a", ""), NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        const struct snapshot *snapshot = fixture_snapshot(&fixture, &cases[i].volume, 1);
        struct text zone;
        bool one =
            volume_is_in_one_zone(snapshot_object(snapshot, KIND_PERSISTENT_VOLUME, 0), &zone);
        if (one != (cases[i].zone != NULL))
            fprintf(stderr, "case %zu:\n", i);
        CU_ASSERT_EQUAL(one, cases[i].zone != NULL);
        CU_ASSERT_TRUE(cases[i].zone == NULL || text_is(zone, cases[i].zone));
        arena_destroy(fixture.arena);
    }
}

const char unit_suite[] = "kube volume zones";
const struct unit_test unit_tests[] = {
    {"a volume is where labels and affinity both say",
     a_volume_is_where_labels_and_affinity_both_say},
    {"one zone is read without memory", one_zone_is_read_without_memory},
    {NULL, NULL},
};
