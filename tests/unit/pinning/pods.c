/* The pin of a pod by its volumes, and by the pods that it must be beside. */
#include "catalog/catalog.h"
#include "cluster_fixture.h"
#include "object_fixture.h"
#include "pinning/pin.h"
#include "simulation/supply.h"

#define ZONE_KEY "topology.kubernetes.io/zone"
#define VOLUME(name, zones)                                                             \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name "}, spec: {"      \
    "nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: " ZONE_KEY \
    ", operator: In, values: [" zones "]}]}]}}}}\n---\n"
#define CLASS(name, more)                                                        \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " name \
    "}, provisioner: ebs.csi.aws.com, volumeBindingMode: WaitForFirstConsumer" more "}\n---\n"
#define IN_ZONES(zones)                                                                           \
    ", allowedTopologies: [{matchLabelExpressions: [{key: topology.ebs.csi.aws.com/zone, values:" \
    " [" zones "]}]}]"
#define CLAIM_IN(namespace, name, notes, spec)                                                     \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: " namespace ", "          \
                                                                                     "name: " name \
                                                                                     ", "          \
                                                                                     "annotations" \
                                                                                     ": {" notes   \
                                                                                     "}}, spec: "  \
                                                                                     "{accessMode" \
                                                                                     "s: "         \
                                                                                     "[ReadWriteO" \
                                                                                     "nce], " spec \
                                                                                     "}}\n---\n"
#define BOUND(name, volume) \
    CLAIM_IN("shop", name, "pv.kubernetes.io/bind-completed: 'yes'", "volumeName: " volume)
#define CLAIM(name, class) CLAIM_IN("shop", name, "", "storageClassName: " class)
#define ON(name, class, node) \
    CLAIM_IN("shop", name, "volume.kubernetes.io/selected-node: " node, "storageClassName: " class)
#define NODE(name, zone)                                                                   \
    "{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {" ZONE_KEY ": " zone \
    "}}}\n---\n"
#define MOUNT(claim) "{name: " claim ", persistentVolumeClaim: {claimName: " claim "}}"
#define EPHEMERAL(class)                                                                      \
    "{name: scratch, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], " \
    "storageClassName: " class "}}}}"

static const char *const objects[] = {
    VOLUME("in-a", "a") VOLUME("in-b", "b") VOLUME("in-c", "c") VOLUME("in-a-b", "a, b"),
    VOLUME("at-an-edge", "'edge!'"),
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: apart, labels: {" ZONE_KEY
    ": a}}, spec: {nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: "
    "[{key: " ZONE_KEY ", operator: In, values: [b]}]}]}}}}",
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: on-disk}, spec: {local: {path: /d}, "
    "nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "
    "kubernetes.io/hostname, operator: In, values: [n1]}]}]}}}}",
    BOUND("on-disk", "on-disk"),
    CLASS("wait", "") CLASS("near", IN_ZONES("c, a")) CLASS("far", IN_ZONES("e, f")),
    BOUND("a", "in-a") BOUND("b", "in-b") BOUND("a-b", "in-a-b") BOUND("edge", "at-an-edge"),
    BOUND("apart", "apart"),
    CLAIM("waits", "wait") CLAIM("waits-too", "wait") CLAIM("near", "near") CLAIM("far", "far"),
    ON("on-n1", "near", "n1") ON("on-n2", "near", "n2"),
    NODE("n1", "a") NODE("n2", "b"),
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}, spec: {template: "
    "{spec: {requirements: [{key: " ZONE_KEY ", operator: In, values: [a, b, c]}]}}}}",
};

struct cluster {
    struct fixture fixture;
    const struct snapshot *snapshot;
    const struct supply *supply;
};

static void cluster_open(struct cluster *cluster)
{
    *cluster = (struct cluster){.fixture.arena = arena_create((size_t)64 << 20)};
    cluster->snapshot = fixture_snapshot(&cluster->fixture, objects, COUNT_OF(objects));
    cluster->supply =
        supply_create(cluster->snapshot, catalog_builtin(cluster->fixture.arena), NULL, false);
}

static void cluster_close(struct cluster *cluster)
{
    supply_release(cluster->supply);
    arena_destroy(cluster->fixture.arena);
}

static const struct object *pod_with(struct arena *arena, const char *meta, const char *spec)
{
    struct text yaml = arena_printf(
        arena, "{apiVersion: v1, kind: Pod, metadata: {name: p%s}, spec: {%s}}", meta, spec);
    return fixture_object(arena, yaml.data, "shop");
}

static struct text names_of(const struct zones *zones, struct arena *arena)
{
    struct text_builder names = {.arena = arena};
    for (size_t i = 0; i < zones->count; i++)
        text_builder_printf(&names, "%s%.*s", i == 0 ? "" : ",", TEXT_ARGS(zones->items[i]));
    return text_builder_text(&names);
}

/* ---- by its volumes ---- */

static struct text pin_line(const struct pin *pin, struct arena *arena)
{
    static const char *const kinds[] = {
        [PIN_NONE] = "none",       [PIN_IMPOSSIBLE] = "impossible", [PIN_CANDIDATES] = "candidates",
        [PIN_UNBOUND] = "unbound", [PIN_RESERVED] = "reserved",     [PIN_BOUND] = "bound",
    };
    return arena_printf(arena, "%s %.*s%s%s", kinds[pin->kind],
                        TEXT_ARGS(names_of(&pin->zones, arena)), pin->chosen ? " chosen" : "",
                        pin->reachable ? "" : " unreachable");
}

/* Whoever must be beside others is given no zone: candidates are told. */
#define BESIDE                                                                      \
    ", affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{" \
    "topologyKey: " ZONE_KEY ", labelSelector: {matchLabels: {app: nobody}}}]}}"

static void volumes_pin_a_pod(void)
{
    static const struct {
        const char *spec, *line;
    } cases[] = {
        {"volumes: [" MOUNT("a") "]", "bound a chosen"},
        {"volumes: [" MOUNT("a-b") "]", "bound a,b"},
        {"volumes: [" MOUNT("a-b") ", " MOUNT("b") "]", "bound b chosen"},
        {"volumes: [" MOUNT("a") ", " MOUNT("b") "]", "impossible  unreachable"},
        {"volumes: [" MOUNT("edge") "]", "bound edge! chosen unreachable"},
        {"volumes: [" MOUNT("near") "]" BESIDE, "unbound a,c"},
        {"volumes: [" MOUNT("far") "]", "candidates e,f unreachable"},
        {"volumes: [" MOUNT("waits") ", " EPHEMERAL("near") "]" BESIDE, "unbound a,c"},
        /* a node holds one of its volumes */
        {"volumes: [" MOUNT("on-disk") "]", "none  unreachable"},
        {"volumes: [" MOUNT("on-disk") ", " MOUNT("waits") "]", "none  unreachable"},
        {"volumes: [" MOUNT("on-disk") ", " MOUNT("a") "]", "bound a chosen"},
        /* kube-scheduler has chosen a node, where the volume can be, and where it cannot */
        {"volumes: [" MOUNT("on-n1") "]", "unbound a chosen"},
        {"volumes: [" MOUNT("on-n2") "]" BESIDE, "unbound a,c"},
    };
    struct cluster cluster;
    cluster_open(&cluster);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct pin pin;
        pin_read(cluster.snapshot, cluster.supply,
                 pod_with(cluster.fixture.arena, "", cases[i].spec), cluster.fixture.arena, &pin);
        struct text line = pin_line(&pin, cluster.fixture.arena);
        if (!text_is(line, cases[i].line))
            fprintf(stderr, "pod %s\n", cases[i].spec);
        ASSERT_TEXT(line, cases[i].line);
    }
    cluster_close(&cluster);
}

/* Pods that mount one of these alone, or both, in whatever order, must meet in one zone. */
static void pods_that_share_claims_agree(void)
{
    static const char *const specs[] = {
        "volumes: [" MOUNT("waits") "]",
        "volumes: [" MOUNT("waits") ", " MOUNT("waits-too") "]",
        "volumes: [" MOUNT("waits-too") ", " MOUNT("waits") "]",
        "volumes: [" EPHEMERAL("wait") ", " MOUNT("waits") "]",
    };
    struct cluster cluster;
    cluster_open(&cluster);
    struct text first = TEXT("");
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct pin pin;
        pin_read(cluster.snapshot, cluster.supply, pod_with(cluster.fixture.arena, "", specs[i]),
                 cluster.fixture.arena, &pin);
        CU_ASSERT_TRUE_FATAL(pin.chosen);
        first = i == 0 ? pin.zones.items[0] : first;
        CU_ASSERT_TRUE(text_equal(pin.zones.items[0], first));
    }
    cluster_close(&cluster);
}

/* More volumes than any node attaches are not looked at. */
static void a_pod_of_too_many_volumes_has_no_pin(void)
{
    enum { MOST = 256 };
    for (int count = MOST; count <= MOST + 1; count++) {
        struct cluster cluster;
        cluster_open(&cluster);
        struct arena *arena = cluster.fixture.arena;
        struct text_builder spec = {.arena = arena};
        text_builder_add(&spec, TEXT("volumes: [" MOUNT("a") ", " EPHEMERAL("wait")));
        for (int i = 2; i < count; i++)
            text_builder_add(&spec, TEXT(", " MOUNT("b")));
        text_builder_add(&spec, TEXT("]"));
        const struct object *pod = pod_with(arena, "", text_builder_text(&spec).data);
        struct pin pin;
        struct zones zones;
        struct text volumes;
        pin_read(cluster.snapshot, cluster.supply, pod, arena, &pin);
        ASSERT_INT(pin.kind, count == MOST ? PIN_IMPOSSIBLE : PIN_NONE);
        ASSERT_INT(pin_is_impossible(cluster.snapshot, pod, arena, &volumes), count == MOST);
        CU_ASSERT_FALSE(pin_bound_zones(cluster.snapshot, pod, arena, &zones, &volumes));
        cluster_close(&cluster);
    }
}

static void volumes_are_told_with_their_zones(void)
{
    static const struct {
        const char *spec, *impossible, *bound;
    } cases[] = {
        {"volumes: [" MOUNT("a") "]", "", "a: a in a"},
        {"volumes: [" MOUNT("a-b") ", " MOUNT("waits") "]", "", "a,b: a-b in a or b"},
        {"volumes: [" MOUNT("a") ", " MOUNT("b") "]", "a in a, b in b", ""},
        {"volumes: [" MOUNT("apart") "]", "apart in no zone", ""},
        {"volumes: [" MOUNT("waits") "]", "", ""},
        {"volumes: [" MOUNT("near") "]", "", ""},
    };
    struct cluster cluster;
    cluster_open(&cluster);
    struct arena *arena = cluster.fixture.arena;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct object *pod = pod_with(arena, "", cases[i].spec);
        struct zones zones;
        struct text volumes;
        bool impossible = pin_is_impossible(cluster.snapshot, pod, arena, &volumes);
        ASSERT_TEXT(impossible ? volumes : TEXT(""), cases[i].impossible);
        bool bound = pin_bound_zones(cluster.snapshot, pod, arena, &zones, &volumes);
        ASSERT_TEXT(bound ? arena_printf(arena, "%.*s: %.*s", TEXT_ARGS(names_of(&zones, arena)),
                                         TEXT_ARGS(volumes))
                          : TEXT(""),
                    cases[i].bound);
    }
    cluster_close(&cluster);
}

/* ---- by the pods that it must be beside ---- */

#define NAMESPACE(name, team)                                                                      \
    "{apiVersion: v1, kind: Namespace, metadata: {name: " name ", labels: {team: " team "}}}\n---" \
    "\n"
#define POD(namespace, name, labels, more, volumes)                                               \
    "{apiVersion: v1, kind: Pod, metadata: {namespace: " namespace ", name: " name                \
                                                                   ", labels: {" labels "}" more  \
                                                                   "}, spec: {volumes: [" volumes \
                                                                   "]}}\n---\n"
#define DB(namespace, name, more, volumes) POD(namespace, name, "app: db" more, "", volumes)

static const char *const neighbours[] = {
    NAMESPACE("shop", "red") NAMESPACE("zoo", "blue"),
    VOLUME("in-a", "a") VOLUME("in-b", "b") VOLUME("in-c", "c") VOLUME("in-a-b", "a, b"),
    BOUND("a", "in-a") BOUND("b", "in-b") BOUND("c", "in-c") BOUND("a-b", "in-a-b"),
    CLAIM_IN("shop", "reserved", "", "volumeName: in-c") CLAIM("waits", "wait"),
    CLAIM_IN("zoo", "c", "pv.kubernetes.io/bind-completed: 'yes'", "volumeName: in-c"),
    CLAIM_IN("hidden", "b", "pv.kubernetes.io/bind-completed: 'yes'", "volumeName: in-b"),
    DB("shop", "db-0", ", track: x", MOUNT("a")) DB("shop", "db-1", ", track: y", MOUNT("b")),
    DB("zoo", "db-0", "", MOUNT("c")) DB("zoo", "db-1", "", MOUNT("c")),
    POD("hidden", "h-0", "app: hidden", "", MOUNT("b")),
    POD("hidden", "far-0", "app: far", "", MOUNT("b")),
    POD("shop", "far-0", "app: far", "", MOUNT("a")),
    POD("shop", "two", "app: two", "", MOUNT("a-b") ", " MOUNT("b")),
    POD("shop", "more", "app: more", "",
        MOUNT("absent") ", " MOUNT("reserved") ", " MOUNT("waits") ", " MOUNT("a")),
    POD("shop", "going", "app: db", ", deletionTimestamp: '2027-01-01T00:00:00Z'", MOUNT("c")),
    "{apiVersion: v1, kind: Pod, metadata: {name: done, labels: {app: db}}, spec: {volumes: "
    "[" MOUNT("c") "]}, status: {phase: Succeeded}}",
};

#define NAME "kubernetes.io/metadata.name"
#define TERM(app, more) \
    "{topologyKey: " ZONE_KEY ", labelSelector: {matchLabels: {app: " app "}}" more "}"
#define REQUIRED(terms) \
    "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" terms "]}}"

static void pods_that_it_must_be_beside_pin_a_pod(void)
{
    static const struct {
        const char *meta, *spec, *zones;
    } cases[] = {
        {"", REQUIRED(TERM("db", "")), "a,b"},
        {"", REQUIRED(TERM("two", "")), "b"},
        {"", REQUIRED(TERM("more", "")), "a"},
        {"", REQUIRED(TERM("nobody", "")), ""},
        {"", REQUIRED(TERM("db", "") ", " TERM("two", "")), "b"},
        {"", REQUIRED(TERM("nobody", "") ", " TERM("two", "")), "b"},
        {"",
         "affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, "
         "podAffinityTerm: " TERM("two", "") "}]}}",
         ""},
        {"",
         REQUIRED(
             "{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: two}}}"),
         ""},
        /* whose pods */
        {"", REQUIRED(TERM("db", ", namespaces: []")), "a,b"},
        {"", REQUIRED(TERM("db", ", namespaces: [zoo]")), "c"},
        {"", REQUIRED(TERM("db", ", namespaces: [nowhere, zoo]")), "c"},
        {"", REQUIRED(TERM("db", ", namespaces: [nowhere]")), ""},
        {"", REQUIRED(TERM("db", ", namespaceSelector: {}")), "a,b,c"},
        {"", REQUIRED(TERM("db", ", namespaceSelector: {matchLabels: {team: blue}}")), "c"},
        {"",
         REQUIRED(TERM("db", ", namespaces: [zoo], namespaceSelector: {matchLabels: {team: red}}")),
         "a,b,c"},
        {"", REQUIRED(TERM("hidden", ", namespaceSelector: {}")), "b"},
        {"", REQUIRED(TERM("hidden", ", namespaceSelector: {matchLabels: {team: red}}")), ""},
        /* whose labels are not seen, and whose name tells enough */
        {"", REQUIRED(TERM("far", ", namespaceSelector: {matchLabels: {team: red}}")), ""},
        {"",
         REQUIRED(TERM("far", ", namespaceSelector: {matchExpressions: [{key: team, operator: "
                              "DoesNotExist}]}")),
         ""},
        {"", REQUIRED(TERM("far", ", namespaceSelector: {matchLabels: {" NAME ": hidden}}")), "b"},
        {"", REQUIRED(TERM("far", ", namespaceSelector: {matchLabels: {" NAME ": shop}}")), "a"},
        {"",
         REQUIRED(TERM("far", ", namespaceSelector: {matchLabels: {" NAME ": shop, team: red}}")),
         "a"},
        /* keys of its own labels */
        {", labels: {track: x}", REQUIRED(TERM("db", ", matchLabelKeys: [track]")), "a"},
        {", labels: {track: x}", REQUIRED(TERM("db", ", mismatchLabelKeys: [track]")), "b"},
        {", labels: {track: x}",
         REQUIRED(TERM("db", ", mismatchLabelKeys: [track], namespaces: [zoo]")), "c"},
        {", labels: {track: x}",
         REQUIRED(TERM("db", ", matchLabelKeys: [track], namespaces: [zoo]")), ""},
        {"", REQUIRED(TERM("db", ", matchLabelKeys: [track]")), "a,b"},
        /* each term looks at all pods: there is an end */
        {"",
         REQUIRED(
             TERM("db", "") ", " TERM("db", "") ", " TERM("db", "") ", " TERM("db", "") ", " TERM(
                 "db", "") ", " TERM("db", "") ", " TERM("db", "") ", " TERM("db", "")),
         "a,b"},
        {"",
         REQUIRED(
             TERM("db", "") ", " TERM("db", "") ", " TERM("db", "") ", " TERM("db", "") ", " TERM(
                 "db", "") ", " TERM("db", "") ", " TERM("db", "") ", " TERM("db",
                                                                             "") ", " TERM("db",
                                                                                           "")),
         ""},
    };
    struct fixture fixture = {.arena = arena_create((size_t)64 << 20)};
    const struct snapshot *snapshot = fixture_snapshot(&fixture, neighbours, COUNT_OF(neighbours));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct zones zones;
        bool pinned = pin_by_affinity(
            snapshot, pod_with(fixture.arena, cases[i].meta, cases[i].spec), fixture.arena, &zones);
        struct text names = names_of(&zones, fixture.arena);
        if (!text_is(names, cases[i].zones))
            fprintf(stderr, "pod %s %s\n", cases[i].meta, cases[i].spec);
        ASSERT_TEXT(names, cases[i].zones);
        ASSERT_INT(pinned, cases[i].zones[0] != '\0');
    }
    arena_destroy(fixture.arena);
}

const char unit_suite[] = "pinning pods";
const struct unit_test unit_tests[] = {
    {"volumes pin a pod", volumes_pin_a_pod},
    {"pods that share claims agree", pods_that_share_claims_agree},
    {"a pod of too many volumes has no pin", a_pod_of_too_many_volumes_has_no_pin},
    {"volumes are told with their zones", volumes_are_told_with_their_zones},
    {"pods that it must be beside pin a pod", pods_that_it_must_be_beside_pin_a_pod},
    {NULL, NULL},
};
