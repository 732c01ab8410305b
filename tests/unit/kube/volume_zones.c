/* In which zones a volume is: its node affinity, its zone labels, and both where they differ. */
#include "kube/volume_zones.h"
#include "cluster_fixture.h"
#include "kube/zone.h"
#include "solver/well_known.h"

enum { BUDGET_BYTES = 1 << 20 };

#define ZONE "topology.kubernetes.io/zone"
#define OLD_ZONE "failure-domain.beta.kubernetes.io/zone"
#define REGION "topology.kubernetes.io/region"
#define VOLUME(labels, terms)                                                              \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v, labels: {" labels "}}, " \
    "spec: {nodeAffinity: {required: {nodeSelectorTerms: [" terms "]}}}}"
#define ON_MACHINE(type, terms)                                                  \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {" type \
    ": {path: /d}, nodeAffinity: {required: {nodeSelectorTerms: [" terms "]}}}}"
#define HOST "kubernetes.io/hostname"
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
        {VOLUME("", TERM(IN("rack", "r")) ", " TERM(IN(REGION, "r"))), VOLUME_ANYWHERE, "", true},
        {ON_MACHINE("local", ""), VOLUME_ANYWHERE, "", false},
        {ON_MACHINE("hostPath", ""), VOLUME_ANYWHERE, "", false},
        /* some nodes, or zones that it is not in */
        {ON_MACHINE("local", TERM(IN(HOST, "n1"))), VOLUME_UNKNOWN, "", true},
        {ON_MACHINE("hostPath", TERM(IN(HOST, "n1"))), VOLUME_UNKNOWN, "", true},
        {ON_MACHINE("local", TERM(IN(HOST, "n1") ", " IN(ZONE, "a"))), VOLUME_IN_ZONES, "a", true},
        {VOLUME("", TERM(IN(HOST, "n1"))), VOLUME_UNKNOWN, "", true},
        {VOLUME("", TERM(IN("topology.topolvm.io/node", "n1"))), VOLUME_UNKNOWN, "", true},
        {VOLUME("", TERM(IN(REGION, "r") ", " IN("rack", "r"))), VOLUME_UNKNOWN, "", true},
        {VOLUME("", TERM("{key: " ZONE ", operator: NotIn, values: [a]}")), VOLUME_UNKNOWN, "",
         true},
        {VOLUME("", TERM("{key: topology.k8s.aws/zone-id, operator: Exists}")), VOLUME_UNKNOWN, "",
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
        {VOLUME("", TERM("{operator: In, values: [a]}")), NULL},
        {VOLUME("", TERM("{key: " ZONE ", operator: In, values: {a: b}}")), NULL},
        {VOLUME("", TERM(IN(ZONE, "1"))), NULL},
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

/* Whether a node with these labels is one that the only volume of a snapshot can be mounted on. */
static bool volume_fits(struct fixture *fixture, struct text volume,
                        const struct solver_label *labels, size_t label_count)
{
    struct solver_volume terms;
    const struct snapshot *snapshot = fixture_snapshot(fixture, &volume.data, 1);
    const struct object *object = snapshot_object(snapshot, KIND_PERSISTENT_VOLUME, 0);
    CU_ASSERT_TRUE_FATAL(volume_terms_read(snapshot, object, fixture->arena, &terms));
    return volume_terms_fit(&terms, (struct solver_labels){labels, label_count});
}

/* KK component-helpers, MatchNodeSelectorTerms: any of the terms, and all that is in one. */
static void a_node_is_where_the_volume_can_be_attached(void)
{
    static const struct solver_label labels[] = {
        {LABEL_ZONE, "a"}, {"disk", "ssd"}, {"cpus", "8"}, {"beta.kubernetes.io/arch", "arm64"}};
    static const struct {
        const char *terms;
        bool fits;
    } cases[] = {
        {"", true},
        {TERM(IN(ZONE, "a")), true},
        {TERM(IN(ZONE, "b")), false},
        {TERM(IN(ZONE, "b")) ", " TERM(IN("disk", "hdd, ssd")), true},
        {TERM(IN(ZONE, "a") ", " IN("disk", "hdd")), false},
        {TERM(IN("rack", "a")), false},
        {TERM("{key: disk, operator: NotIn, values: [ssd]}"), false},
        {TERM("{key: disk, operator: NotIn, values: [hdd]}"), true},
        {TERM("{key: rack, operator: NotIn, values: [a]}"), true},
        {TERM("{key: disk, operator: Exists}"), true},
        {TERM("{key: rack, operator: Exists}"), false},
        {TERM("{key: disk, operator: DoesNotExist}"), false},
        {TERM("{key: rack, operator: DoesNotExist}"), true},
        {TERM("{key: cpus, operator: Gt, values: ['7']}"), true},
        {TERM("{key: cpus, operator: Gt, values: ['8']}"), false},
        {TERM("{key: cpus, operator: Lt, values: ['9']}"), true},
        {TERM("{key: cpus, operator: Lt, values: ['8']}"), false},
        {TERM("{key: disk, operator: Lt, values: ['8']}"), false}, /* no number */
        {TERM("{key: rack, operator: Gt, values: ['1']}"), false},
        /* spelt as an alias */
        {TERM(IN("kubernetes.io/arch", "arm64")), true},
        {TERM(IN("kubernetes.io/arch", "amd64")), false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct text volume = arena_printf(fixture.arena, VOLUME("", "%s"), cases[i].terms);
        bool fits = volume_fits(&fixture, volume, labels, COUNT_OF(labels));
        if (fits != cases[i].fits)
            fprintf(stderr, "case %zu:\n", i);
        CU_ASSERT_EQUAL(fits, cases[i].fits);
        arena_destroy(fixture.arena);
    }
}

static void a_local_volume_is_on_its_node(void)
{
    static const struct solver_label labels[] = {{LABEL_ZONE, "a"}, {LABEL_HOSTNAME, "other"}};
    static const struct {
        const char *source, *terms;
        bool fits;
    } cases[] = {
        {"csi: {driver: ebs.csi.aws.com}", TERM(IN(LABEL_HOSTNAME, "one")), false},
        {"local: {path: /mnt}", TERM(IN(LABEL_HOSTNAME, "one")), false},
        {"local: {path: /mnt}", TERM(IN(LABEL_HOSTNAME, "one, other")), true},
        {"hostPath: {path: /mnt}", TERM(IN(LABEL_HOSTNAME, "one")), false},
        {"hostPath: {path: /mnt}", TERM(IN(LABEL_HOSTNAME, "other") ", " IN(ZONE, "b, c")), false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct text volume =
            arena_printf(fixture.arena,
                         "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {%s, "
                         "nodeAffinity: {required: {nodeSelectorTerms: [%s]}}}}",
                         cases[i].source, cases[i].terms);
        bool fits = volume_fits(&fixture, volume, labels, COUNT_OF(labels));
        if (fits != cases[i].fits)
            fprintf(stderr, "case %zu:\n", i);
        CU_ASSERT_EQUAL(fits, cases[i].fits);
        arena_destroy(fixture.arena);
    }
}

/* Of volumes and classes; the lists of some are longer than anyone writes. */
static void volumes_and_classes_name_zones(void)
{
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    struct text_builder many = {.arena = fixture.arena};
    for (int i = 0; i < 300; i++)
        text_builder_printf(&many, "%sm%d", i == 0 ? "" : ", ", i);
    struct text names = text_builder_text(&many);
#define CLASS(name, values)                                                                       \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " name "}, "            \
    "provisioner: ebs.csi.aws.com, allowedTopologies: [{matchLabelExpressions: [{key: " ZONE ", " \
    "values: [" values "]}]}]}"
    const char *documents[] = {
        VOLUME("", TERM(IN(ZONE, "b, a"))),
        CLASS("few", "c"),
        arena_printf(fixture.arena, CLASS("many", "%.*s"), TEXT_ARGS(names)).data,
        "{apiVersion: v1, kind: PersistentVolume, metadata: {name: w}, spec: {nodeAffinity: "
        "{required: {nodeSelectorTerms: [{matchExpressions: [{key: " ZONE
        ", operator: NotIn, values: [d]}]}]}}}}",
        arena_printf(
            fixture.arena,
            "{apiVersion: v1, kind: PersistentVolume, metadata: {name: many}, spec: "
            "{nodeAffinity: {required: {nodeSelectorTerms: [" TERM(IN(ZONE, "%.*s")) "]}}}}",
            TEXT_ARGS(names))
            .data,
    };
#undef CLASS
    const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, COUNT_OF(documents));
    struct zones zones = {0};
    claims_add_zones(snapshot, fixture.arena, &zones);
    ASSERT_TEXT(words(&zones, fixture.arena), "a b c");
    arena_destroy(fixture.arena);
}

const char unit_suite[] = "kube volume zones";
const struct unit_test unit_tests[] = {
    {"a volume is where labels and affinity both say",
     a_volume_is_where_labels_and_affinity_both_say},
    {"one zone is read without memory", one_zone_is_read_without_memory},
    {"a node is where the volume can be attached", a_node_is_where_the_volume_can_be_attached},
    {"a local volume is on its node", a_local_volume_is_on_its_node},
    {"volumes and classes name zones", volumes_and_classes_name_zones},
    {NULL, NULL},
};
