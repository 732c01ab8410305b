/* The zones of claims, and the zones chosen for pods of a StatefulSet. */
#include <stdlib.h>

#include "catalog/catalog.h"
#include "cluster_fixture.h"
#include "pinning/pin.h"
#include "simulation/supply.h"

#define CLASS(name, rest)                                                        \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " name \
    "}, provisioner: ebs.csi.aws.com" rest "}\n---\n"
#define WAITS ", volumeBindingMode: WaitForFirstConsumer"
#define TOPOLOGY(values) \
    "{matchLabelExpressions: [{key: topology.ebs.csi.aws.com/zone, values: [" values "]}]}"
#define VOLUME(name, meta, spec)                                                        \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name meta "}, spec: {" \
    "capacity: {storage: 10Gi}, accessModes: [ReadWriteOnce]" spec                      \
    "}, status: {phase: Bound}}\n---\n"
#define FREE(name, class, zone)                                                                  \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name "}, spec: {"               \
    "capacity: {storage: 10Gi}, accessModes: [ReadWriteOnce], storageClassName: '" class "'" IN( \
        "topology.kubernetes.io/zone", zone) "}, status: {phase: Available}}\n---\n"
#define TERM(key, values) "{matchExpressions: [{key: " key ", operator: In, values: [" values "]}]}"
#define TERMS(terms) ", nodeAffinity: {required: {nodeSelectorTerms: [" terms "]}}"
#define IN(key, values) TERMS(TERM(key, values))
#define NEAR(zone) \
    TERMS("{matchExpressions: [{key: " ZONE_KEY ", operator: Near, values: [" zone "]}]}")
#define SHARE(name, class)                                                                        \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name "}, spec: {"                \
    "capacity: {storage: 10Gi}, accessModes: [ReadWriteOnce], storageClassName: " class "}}\n---" \
                                                                                        "\n"
#define FOR(claim, uid) ", claimRef: {namespace: shop, name: " claim ", uid: " uid "}"
/* A free volume of zone c that names its claim. */
#define KEPT(claim, spec)                                                                         \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: for-" claim "}, spec: {capacity: " \
    "{storage: 10Gi}, accessModes: [ReadWriteOnce], claimRef: {namespace: shop, name: " claim     \
    "}" IN(ZONE_KEY, "c") spec "}, status: {phase: Available}}\n---\n"
#define CLASS_OF(name, provisioner)                                              \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " name \
    "}, provisioner: " provisioner WAITS "}"
#define CLASS_OF_NONE(name) CLASS_OF(name, "kubernetes.io/no-provisioner")
#define ZONE_KEY "topology.kubernetes.io/zone"
#define CLAIM(name, meta, spec)                                                                  \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " name ", uid: u-" name meta \
    "}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 8Gi}}, " spec       \
    "}}\n---\n"
#define DONE ", annotations: {pv.kubernetes.io/bind-completed: 'yes'}"
#define BOUND(name, volume) CLAIM(name, DONE, "volumeName: " volume)
#define ON(node) ", annotations: {volume.kubernetes.io/selected-node: " node "}"
#define NODE(name, zone)                                                                   \
    "{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {" ZONE_KEY ": " zone \
    "}}}\n---\n"

static const char *const visible[] = {
    VOLUME("in-a", "", IN(ZONE_KEY, "a")),
    VOLUME("csi-b", "", IN("topology.ebs.csi.aws.com/zone", "b")),
    VOLUME("beta-b", "", IN("failure-domain.beta.kubernetes.io/zone", "b")),
    VOLUME("gke-b", "", IN("topology.gke.io/zone", "b")),
    VOLUME("id-c", "", IN("topology.k8s.aws/zone-id", "use1-az3")),
    VOLUME("azure-1", "", IN("topology.disk.csi.azure.com/zone", "eastus-1")),
    VOLUME("id-x", "", IN("topology.k8s.aws/zone-id", "use1-az9")),
    VOLUME("azure-none", "", IN("topology.disk.csi.azure.com/zone", "''")),
    VOLUME("regional", "", IN(ZONE_KEY, "b, a")),
    VOLUME("either", "", TERMS(TERM(ZONE_KEY, "a") ", " TERM(ZONE_KEY, "c"))),
    VOLUME("half", "", TERMS(TERM(ZONE_KEY, "a") ", " TERM("kubernetes.io/os", "linux"))),
    VOLUME("not-a", "",
           TERMS("{matchExpressions: [{key: " ZONE_KEY ", operator: NotIn, values: [a]}]}")),
    VOLUME("labelled", ", labels: {" ZONE_KEY ": a__b}", ""),
    VOLUME("cut", ", labels: {" ZONE_KEY ": a__b}", IN(ZONE_KEY, "b, c")),
    VOLUME("labelled-apart", ", labels: {" ZONE_KEY ": b}", IN(ZONE_KEY, "a")),
    VOLUME("twice", "",
           TERMS("{matchExpressions: [{key: " ZONE_KEY ", operator: In, values: [a, b]}, {key: "
                 "topology.ebs.csi.aws.com/zone, operator: In, values: [b]}]}")),
    VOLUME("near", "", NEAR("a")),
    VOLUME("nfs", "", ""),
    VOLUME("local", "", IN("kubernetes.io/hostname", "n1")),
    VOLUME("going", ", deletionTimestamp: '2027-01-01T00:00:00Z'", IN(ZONE_KEY, "a")),
    VOLUME("remade", "", FOR("remade", "another") IN(ZONE_KEY, "a")),
    VOLUME("mine", "", FOR("mine", "u-mine") IN(ZONE_KEY, "a")),
    VOLUME("taken", "", FOR("mine", "u-mine") IN(ZONE_KEY, "a")),
    FREE("free-1", "manual", "a"),
    FREE("free-2", "manual", "c"),
    FREE("free-3", "static", "b"),
    FREE("free-4", "", "b"),
    FREE("free-5", "made-and-there", "a"),
    FREE("mixed-1", "mixed", "b"),
    FREE("mixed-2", "mixed", "b"),
    FREE("mixed-3", "mixed", "a, b"),
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: of-no-size}, spec: {accessModes: "
    "[ReadWriteOnce], storageClassName: mixed" IN(ZONE_KEY, "c") "}}",
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: free-near}, spec: {capacity: "
    "{storage: 10Gi}, accessModes: [ReadWriteOnce], storageClassName: mixed" NEAR("c") "}}",
    SHARE("share-1", "shares"),
    SHARE("share-2", "made-or-shared"),

    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: fast, labels: {disk: fast}}, spec: {"
    "capacity: {storage: 10Gi}, accessModes: [ReadWriteOnce], storageClassName: manual" IN(
        ZONE_KEY, "b") "}, status: {phase: Available}}",
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: promised}, spec: {capacity: "
    "{storage:"
    " 10Gi}, accessModes: [ReadWriteOnce], storageClassName: promised" FOR("for-me", "u-for-me")
        IN(ZONE_KEY, "c") "}, status: {phase: Available}}",
    CLASS_OF_NONE("promised"),
    KEPT("kept", ", storageClassName: wait"),
    KEPT("kept-early", ", storageClassName: early"),
    KEPT("kept-of-no-class", ", storageClassName: nowhere"),
    KEPT("kept-blocks", ", storageClassName: wait, volumeMode: Block"),
    CLASS("wait", WAITS),
    CLASS("early", ""),
    CLASS("two", WAITS ", allowedTopologies: [" TOPOLOGY("c") ", " TOPOLOGY("a") "]"),
    CLASS("one", WAITS ", allowedTopologies: [" TOPOLOGY("b") "]"),
    CLASS("made-and-there", WAITS ", allowedTopologies: [" TOPOLOGY("b") "]"),
    CLASS("zrs", WAITS ", parameters: {skuName: Premium_ZRS}"),
    CLASS_OF("efs", "efs.csi.aws.com"),
    CLASS_OF("cephfs", "rook-ceph.cephfs.csi.ceph.com"),
    CLASS_OF("own", "disks.example.com"),
    CLASS_OF_NONE("manual"),
    CLASS_OF_NONE("empty"),
    CLASS_OF_NONE("mixed"),
    CLASS_OF_NONE("shares"),
    CLASS("made-or-shared", WAITS ", allowedTopologies: [" TOPOLOGY("b") "]"),
    NODE("n1", "a"),
    NODE("n2", "b"),
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: default}, status: "
    "{subnets: [{zone: c, zoneID: use1-az3}]}}",

    BOUND("in-a", "in-a"),
    BOUND("csi-b", "csi-b"),
    BOUND("beta-b", "beta-b"),
    BOUND("gke-b", "gke-b"),
    BOUND("id-c", "id-c"),
    BOUND("id-x", "id-x"),
    BOUND("azure-none", "azure-none"),
    BOUND("azure-1", "azure-1"),
    BOUND("labelled-apart", "labelled-apart"),
    BOUND("twice", "twice"),
    BOUND("regional", "regional"),
    BOUND("either", "either"),
    BOUND("half", "half"),
    BOUND("not-a", "not-a"),
    BOUND("labelled", "labelled"),
    BOUND("cut", "cut"),
    BOUND("near", "near"),
    BOUND("nfs", "nfs"),
    BOUND("local", "local"),
    BOUND("going", "going"),
    BOUND("remade", "remade"),
    BOUND("mine", "mine"),
    BOUND("unseen-volume", "nowhere"),
    CLAIM("leaving", DONE ", deletionTimestamp: '2027-01-01T00:00:00Z'", "volumeName: in-a"),
    CLAIM("reserved", "", "volumeName: in-a"),
    CLAIM("reserved-taken", "", "volumeName: taken"),
    CLAIM("waits", "", "storageClassName: wait"),
    CLAIM("early", "", "storageClassName: early"),
    CLAIM("early-selected", ON("n1"), "storageClassName: early"),
    CLAIM("selected", ON("n2"), "storageClassName: wait"),
    CLAIM("selected-unseen", ON("n9"), "storageClassName: two"),
    CLAIM("two", "", "storageClassName: two"),
    CLAIM("one", "", "storageClassName: one"),
    CLAIM("unseen-class", "", "storageClassName: nowhere"),
    CLAIM("no-class", "", "volumeMode: Block"),
    CLAIM("manual", "", "storageClassName: manual"),
    CLAIM("static", "", "storageClassName: ''"),
    CLAIM("of-blocks", "", "storageClassName: manual, volumeMode: Block"),
    CLAIM("selects", "", "storageClassName: manual, selector: {matchLabels: {disk: fast}}"),
    CLAIM("for-me", "", "storageClassName: promised"),
    CLAIM("not-for-me", "", "storageClassName: promised"),
    CLAIM("kept", "", "storageClassName: wait"),
    CLAIM("kept-early", "", "storageClassName: early"),
    CLAIM("kept-of-no-class", "", "storageClassName: nowhere"),
    CLAIM("kept-blocks", "", "storageClassName: wait"),
    CLAIM("both", "", "storageClassName: made-and-there"),
    CLAIM("nothing-left", "", "storageClassName: empty"),
    CLAIM("mixed", "", "storageClassName: mixed"),
    CLAIM("shares", "", "storageClassName: shares"),
    CLAIM("made-or-shared", "", "storageClassName: made-or-shared"),
    CLAIM("zrs", "", "storageClassName: zrs"),
    CLAIM("efs", "", "storageClassName: efs"),
    CLAIM("efs-selected", ON("n2"), "storageClassName: efs"),
    CLAIM("cephfs", "", "storageClassName: cephfs"),
    CLAIM("own", "", "storageClassName: own"),
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: lost" DONE
    "}, spec: {volumeName: in-a}, status: {phase: Lost}}",
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: many}, spec: {accessModes: "
    "[ReadWriteMany], storageClassName: wait}}",
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: many-two}, spec: {accessModes: "
    "[ReadWriteMany], storageClassName: two}}",
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: big}, spec: {accessModes: "
    "[ReadWriteOnce], storageClassName: manual, resources: {requests: {storage: 1Ti}}}}",
};

static struct text claim_line(const struct claim_zones *claim, struct arena *arena)
{
    static const char *const holds[] = {
        [CLAIM_ANYWHERE] = "anywhere", [CLAIM_NARROWS] = "narrows",   [CLAIM_UNKNOWN] = "unknown",
        [CLAIM_UNBOUND] = "unbound",   [CLAIM_RESERVED] = "reserved", [CLAIM_BOUND] = "bound",
    };
    struct text_builder line = {.arena = arena};
    text_builder_printf(&line, "%s", holds[claim->hold]);
    for (size_t i = 0; i < claim->zones.count; i++)
        text_builder_printf(&line, "%s%.*s", i == 0 ? " " : ",", TEXT_ARGS(claim->zones.items[i]));
    if (claim->any_zone && claim->hold > CLAIM_UNKNOWN)
        text_builder_printf(&line, " any");
    if (claim->selected.size > 0)
        text_builder_printf(&line, " selected %.*s", TEXT_ARGS(claim->selected));
    return text_builder_text(&line);
}

static void each_claim_means_what_the_table_says(void)
{
    static const struct {
        const char *claim, *meaning;
    } cases[] = {
        /* the volume's affinity, by whatever key, cut with its labels */
        {"in-a", "bound a"},
        {"csi-b", "bound b"},
        {"beta-b", "bound b"},
        {"gke-b", "bound b"},
        {"id-c", "bound c"},
        {"regional", "bound a,b"},
        {"either", "bound a,c"},
        {"labelled", "bound a,b"},
        {"cut", "bound b"},
        {"azure-1", "bound eastus-1"},
        {"twice", "bound b"},
        {"labelled-apart", "bound"},
        {"mine", "bound a"},
        /* no zone */
        {"azure-none", "anywhere"},
        {"half", "anywhere"},
        {"nfs", "anywhere"},
        {"many", "anywhere"},
        {"zrs", "anywhere"},
        {"efs", "anywhere"},
        {"efs-selected", "anywhere"},
        {"cephfs", "anywhere"},
        {"shares", "anywhere"},
        /* made for pods on many nodes, in some zones */
        {"many-two", "narrows a,c"},
        /* not to be known */
        {"near", "unknown"},
        {"id-x", "unknown"},
        {"not-a", "unknown"},
        {"local", "unknown"},
        {"going", "unknown"},
        {"remade", "unknown"},
        {"unseen-volume", "unknown"},
        {"leaving", "unknown"},
        {"lost", "unknown"},
        {"absent", "unknown"},
        {"unseen-class", "unknown"},
        {"no-class", "unknown"},
        {"early", "unknown"},
        {"early-selected", "unknown"},
        {"nothing-left", "unknown"},
        {"big", "unknown"},
        {"reserved-taken", "unknown"},
        /* named, and free */
        {"reserved", "reserved a"},
        /* named by a volume that is free */
        {"for-me", "reserved c"},
        {"kept", "reserved c"},
        {"kept-early", "reserved c"},
        {"kept-of-no-class", "reserved c"},
        {"kept-blocks", "unbound any"},
        /* made where the pod goes */
        {"waits", "unbound any"},
        {"own", "unbound any"},
        {"two", "unbound a,c"},
        {"one", "unbound b"},
        {"selected", "unbound any selected b"},
        {"selected-unseen", "unbound a,c"},
        {"manual", "unbound a,b,c"},
        {"selects", "unbound b"},
        {"of-blocks", "unknown"},
        {"not-for-me", "unknown"},
        {"both", "unbound a,b"},
        {"mixed", "unbound a,b"},
        {"made-or-shared", "unbound any"},
        /* whoever makes no volume does not wait either */
        {"static", "reserved b"},
    };
    struct fixture fixture = {.arena = arena_create((size_t)64 << 20)};
    const struct snapshot *snapshot = fixture_snapshot(&fixture, visible, COUNT_OF(visible));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct claim_zones claim;
        claim_zones_read(snapshot, TEXT("shop"), text_of(cases[i].claim), NULL, fixture.arena,
                         &claim);
        struct text line = claim_line(&claim, fixture.arena);
        if (!text_is(line, cases[i].meaning))
            fprintf(stderr, "claim %s\n", cases[i].claim);
        ASSERT_TEXT(line, cases[i].meaning);
    }
    arena_destroy(fixture.arena);
}

static void a_claim_is_settled_in_one_zone(void)
{
    static const struct {
        const char *claim, *zone;
    } cases[] = {
        {"in-a", "a"}, {"reserved", "a"}, {"selected", "b"},     {"regional", ""},
        {"nfs", ""},   {"waits", ""},     {"unseen-volume", ""}, {"leaving", ""},
    };
    struct fixture fixture = {.arena = arena_create((size_t)64 << 20)};
    const struct snapshot *snapshot = fixture_snapshot(&fixture, visible, COUNT_OF(visible));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct object *claim = snapshot_find(snapshot, KIND_PERSISTENT_VOLUME_CLAIM,
                                                   TEXT("shop"), text_of(cases[i].claim));
        ASSERT_TEXT(claim_settled_zone(snapshot, claim, fixture.arena), cases[i].zone);
    }
    arena_destroy(fixture.arena);
}

/* Volumes in two zones, volumes in a zone each, and a class that lists zones; its term counts, too.
 */
static void many_zones_are_unknown(void)
{
    enum { MOST = 256 };
    for (int count = MOST; count <= MOST + 1; count++) {
        struct fixture fixture = {.arena = arena_create((size_t)256 << 20)};
        struct text_builder yaml = {.arena = fixture.arena};
        text_builder_add(&yaml, TEXT(CLASS_OF_NONE("regional") "\n---\n"));
        text_builder_add(&yaml, TEXT(CLASS_OF_NONE("scattered") "\n---\n"));
        text_builder_add(&yaml, TEXT(CLAIM("c0", "", "storageClassName: regional")));
        text_builder_add(&yaml, TEXT(CLAIM("c1", "", "storageClassName: scattered")));
        text_builder_add(&yaml, TEXT(CLAIM("c2", "", "storageClassName: wide")));
        for (int i = 0; i < count; i++)
            text_builder_printf(
                &yaml, FREE("r%d", "regional", "a, b") FREE("s%d", "scattered", "z%d"), i, i, i);
        text_builder_add(&yaml, TEXT("{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata:"
                                     " {name: wide}, provisioner: ebs.csi.aws.com" WAITS
                                     ", allowedTopologies: [{matchLabelExpressions: [{key: "
                                     "topology.ebs.csi.aws.com/zone, values: [z1"));
        for (int i = 2; i < count; i++)
            text_builder_printf(&yaml, ", z%d", i);
        text_builder_add(&yaml, TEXT("]}]}]}"));
        const char *documents[] = {text_builder_text(&yaml).data};
        const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, 1);
        for (int i = 0; i < 3; i++) {
            struct claim_zones claim;
            struct text name = arena_printf(fixture.arena, "c%d", i);
            claim_zones_read(snapshot, TEXT("shop"), name, NULL, fixture.arena, &claim);
            ASSERT_INT(claim.hold, count <= MOST ? CLAIM_UNBOUND : CLAIM_UNKNOWN);
            ASSERT_INT(claim.zones.count, count > MOST ? 0 : i == 0 ? 2 : i == 1 ? MOST : MOST - 1);
        }
        arena_destroy(fixture.arena);
    }
}

/* ---- the balance ---- */

enum { ZONES = 3, REPLICAS = 20, SEEDS = 1000, STARTS = 6, CLAIM_STATES = 1 + 2 * ZONES };

/* All objects a set could have, read once. */
struct stage {
    struct arena *arena;
    struct fixture fixture;
    const struct snapshot *all;
    const struct supply *supply;
    uint64_t seed, state;
    struct object claims[REPLICAS + STARTS][CLAIM_STATES]; /* read when they are first wanted */
};

static uint32_t next_random(struct stage *stage, uint32_t below)
{
    stage->state = stage->state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(stage->state >> 33) % below;
}

#define POOL                                                                           \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}, spec: {" \
    "template: {spec: {requirements: [{key: " ZONE_KEY                                 \
    ", operator: In, values: [z0, z1, z2]}]}}}}\n---\n"

/* The claims, bound and unbound, are told apart by namespace; web's own is "shop". */
static void stage_open(struct stage *stage)
{
    *stage = (struct stage){.arena = arena_create((size_t)64 << 20)};
    stage->fixture.arena = stage->arena;
    struct text_builder yaml = {.arena = stage->arena};
    text_builder_add(&yaml, TEXT(CLASS("wait", WAITS) POOL));
    for (int zone = 0; zone < ZONES; zone++)
        text_builder_printf(&yaml, VOLUME("v%d", "", IN(ZONE_KEY, "z%d")) NODE("n%d", "z%d"), zone,
                            zone, zone, zone);
    const char *documents[] = {text_builder_text(&yaml).data};
    stage->all = fixture_snapshot(&stage->fixture, documents, 1);
    stage->supply = supply_create(stage->all, catalog_builtin(stage->arena), NULL, false);
}

static void stage_close(struct stage *stage)
{
    supply_release(stage->supply);
    arena_destroy(stage->arena);
}

static struct object read_object(struct arena *arena, struct text yaml)
{
    struct fixture fixture = {.arena = arena};
    const char *documents[] = {yaml.data};
    const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, 1);
    for (enum kind kind = KIND_POD; kind < KIND_COUNT; kind++)
        if (snapshot_count(snapshot, kind) > 0)
            return *snapshot_object(snapshot, kind, 0);
    CU_FAIL_FATAL("no object");
    abort();
}

static struct object set_object(struct stage *stage, struct arena *arena, int replicas, int start)
{
    return read_object(
        arena,
        arena_printf(arena,
                     "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web, uid: s%llu},"
                     " spec: {replicas: %d, ordinals: {start: %d}, volumeClaimTemplates:"
                     " [{metadata: {name: data}, spec: {storageClassName: wait}}]}}",
                     (unsigned long long)stage->seed, replicas, start));
}

static struct object pod_object(struct stage *stage, struct arena *arena, int ordinal)
{
    return read_object(
        arena, arena_printf(arena,
                            "{apiVersion: v1, kind: Pod, metadata: {name: web-%d, ownerReferences:"
                            " [{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: s%llu,"
                            " controller: true}]}, spec: {volumes: [{name: data,"
                            " persistentVolumeClaim: {claimName: data-web-%d}}]}}",
                            ordinal, (unsigned long long)stage->seed, ordinal));
}

/* zone -1: not made yet; -2 - z: not bound yet, though its node is chosen. */
static void put_claim(struct stage *stage, struct snapshot_builder *builder, int ordinal, int zone)
{
    struct arena *arena = stage->arena;
    struct object *claim = &stage->claims[ordinal][zone + 1 + ZONES];
    if (zone == -1)
        return;
    if (claim->kind == KIND_UNKNOWN && zone >= 0)
        *claim = read_object(
            arena, arena_printf(arena, BOUND("data-web-%d", "v%d"), ordinal, ordinal, zone));
    else if (claim->kind == KIND_UNKNOWN)
        *claim = read_object(
            arena, arena_printf(arena, CLAIM("data-web-%d", ON("n%d"), "storageClassName: wait"),
                                ordinal, ordinal, -2 - zone));
    snapshot_put(builder, claim);
}

/* zones: of each claim by index, start is the first ordinal. */
static int zone_of(struct stage *stage, const int *zones, int replicas, int start, int index)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct snapshot_builder *builder = snapshot_builder_create(arena);
    for (enum kind kind = KIND_POD; kind < KIND_COUNT; kind++)
        for (size_t i = 0; i < snapshot_count(stage->all, kind); i++)
            snapshot_put(builder, snapshot_object(stage->all, kind, i));
    struct object set = set_object(stage, arena, replicas, start);
    snapshot_put(builder, &set);
    for (int i = 0; i < replicas; i++)
        put_claim(stage, builder, start + i, zones[i]);
    struct object pod = pod_object(stage, arena, start + index);
    struct pin pin;
    pin_read(snapshot_build(builder), stage->supply, &pod, arena, &pin);
    int zone = -1;
    if (pin.kind == PIN_UNBOUND && pin.chosen && pin.reachable && pin.of_replicas &&
        pin.source == PIN_FROM_SOLVER && pin.zones.count == 1 && pin.zones.items[0].size == 2)
        zone = pin.zones.items[0].data[1] - '0';
    arena_destroy(arena);
    return zone;
}

static void shuffle(struct stage *stage, int *order, int count)
{
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int j = (int)next_random(stage, (uint32_t)i + 1);
        int swapped = order[i];
        order[i] = order[j];
        order[j] = swapped;
    }
}

static int spread_of(const int *zones, int count)
{
    int in[ZONES] = {0};
    for (int i = 0; i < count; i++)
        in[zones[i]]++;
    int least = in[0];
    int most = in[0];
    for (int i = 1; i < ZONES; i++) {
        least = in[i] < least ? in[i] : least;
        most = in[i] > most ? in[i] : most;
    }
    return most - least;
}

static void check(struct stage *stage, bool good, const char *what)
{
    if (!good)
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)stage->seed, what);
    CU_ASSERT_TRUE_FATAL(good);
}

/* Pods come in any order, are asked again, seen by a replica that is one step behind, and their
 * claims are bound late or first only given a node. */
static void a_set_is_balanced_however_it_comes_up(void)
{
    struct stage stage;
    stage_open(&stage);
    for (stage.seed = 1; stage.seed <= SEEDS; stage.seed++) {
        stage.state = stage.seed;
        int order[REPLICAS];
        int now[REPLICAS];
        int before[REPLICAS];
        int final[REPLICAS];
        int start = (int)next_random(&stage, 2) * 5;
        for (int i = 0; i < REPLICAS; i++)
            now[i] = before[i] = final[i] = -1;
        shuffle(&stage, order, REPLICAS);
        for (int i = 0; i < REPLICAS; i++) {
            int index = order[i];
            bool stale = next_random(&stage, 2) == 0;
            final[index] = zone_of(&stage, stale ? before : now, REPLICAS, start, index);
            check(&stage, final[index] >= 0, "no zone was chosen");
            if (next_random(&stage, 8) == 0)
                check(&stage, zone_of(&stage, now, REPLICAS, start, index) == final[index],
                      "asked again, the zone is another one");
            memcpy(before, now, sizeof now);
            now[index] = next_random(&stage, 4) == 0 ? -2 - final[index] : final[index];
        }
        check(&stage, spread_of(final, REPLICAS) <= 1, "the zones are not balanced");
    }
    stage_close(&stage);
}

static void what_is_bound_unevenly_is_levelled(void)
{
    struct stage stage;
    stage_open(&stage);
    for (stage.seed = 1; stage.seed <= SEEDS; stage.seed++) {
        stage.state = stage.seed;
        int order[REPLICAS];
        int zones[REPLICAS];
        int seen[REPLICAS];
        int in[ZONES] = {0};
        shuffle(&stage, order, REPLICAS);
        for (int i = 0; i < REPLICAS; i++)
            seen[i] = zones[i] = -1;
        /* half of them, at most six in a zone: seven is what balance leaves room for */
        for (int i = 0; i < REPLICAS / 2; i++) {
            int zone = next_random(&stage, 3) > 0 ? 0 : (int)next_random(&stage, ZONES);
            zone = in[zone] < 6 ? zone : in[1] < 6 ? 1 : 2;
            in[zone]++;
            zones[order[i]] = zone;
            seen[order[i]] = next_random(&stage, 4) == 0 ? -2 - zone : zone;
        }
        for (int i = REPLICAS / 2; i < REPLICAS; i++)
            seen[order[i]] = zones[order[i]] = zone_of(&stage, seen, REPLICAS, 0, order[i]);
        check(&stage, spread_of(zones, REPLICAS) <= 1, "the rest does not level it");
    }
    stage_close(&stage);
}

static void sets_do_not_all_begin_in_one_zone(void)
{
    struct stage stage;
    stage_open(&stage);
    int in[ZONES] = {0};
    for (stage.seed = 1; stage.seed <= 300; stage.seed++) {
        static const int none[] = {-1};
        int zone = zone_of(&stage, none, 1, 0, 0);
        check(&stage, zone == -1, "one replica is no set to balance");
        static const int neither[] = {-1, -1};
        in[zone_of(&stage, neither, 2, 0, 0)]++;
    }
    for (int i = 0; i < ZONES; i++)
        CU_ASSERT_TRUE(in[i] > 60);
    stage_close(&stage);
}

static void an_ordinal_beyond_the_replicas_counts(void)
{
    struct stage stage;
    stage_open(&stage);
    stage.seed = 7;
    static const int bound[] = {0, 1};
    CU_ASSERT_EQUAL(zone_of(&stage, bound, 2, 0, 2), 2);
    CU_ASSERT_EQUAL(zone_of(&stage, bound, 2, 5, 2), 2);
    stage_close(&stage);
}

/* ---- claims that pods share ---- */

static struct text zone_of_pod(const struct snapshot *snapshot, const struct supply *supply,
                               const char *owner, const char *volumes_yaml, struct arena *arena)
{
    struct pin pin;
    struct object pod =
        read_object(arena, arena_printf(arena,
                                        "{apiVersion: v1, kind: Pod, metadata: {name: p, %s}, spec:"
                                        " {volumes: [%s]}}",
                                        owner, volumes_yaml));
    pin_read(snapshot, supply, &pod, arena, &pin);
    CU_ASSERT_TRUE_FATAL(pin.chosen);
    return pin.zones.items[0];
}

#define MOUNT(claim) "{name: " claim ", persistentVolumeClaim: {claimName: " claim "}}"

static void pods_that_share_a_claim_go_to_one_zone(void)
{
    struct stage stage;
    stage_open(&stage);
    struct arena *arena = stage.arena;
    struct zones seen = {0};
    for (int i = 0; i < 40; i++) {
        struct object claim = read_object(
            arena, arena_printf(arena, CLAIM("c%d", "", "storageClassName: wait"), i, i));
        snapshot_put(stage.fixture.builder, &claim);
    }
    for (enum kind kind = KIND_POD; kind < KIND_COUNT; kind++)
        for (size_t i = 0; i < snapshot_count(stage.all, kind); i++)
            snapshot_put(stage.fixture.builder, snapshot_object(stage.all, kind, i));
    const struct snapshot *snapshot = snapshot_build(stage.fixture.builder);
    for (int i = 0; i < 40; i++) {
        const char *mount = arena_printf(arena, MOUNT("c%d"), i, i).data;
        struct text zone = zone_of_pod(snapshot, stage.supply, "uid: a", mount, arena);
        zones_add(&seen, zone, arena);
        struct text other =
            zone_of_pod(snapshot, stage.supply, "uid: b, labels: {a: b}", mount, arena);
        CU_ASSERT_TRUE(text_equal(zone, other));
    }
    ASSERT_INT(seen.count, ZONES);
    stage_close(&stage);
}

const char unit_suite[] = "kube pin";
const struct unit_test unit_tests[] = {
    {"each claim means what the table says", each_claim_means_what_the_table_says},
    {"a claim is settled in one zone", a_claim_is_settled_in_one_zone},
    {"many zones are unknown", many_zones_are_unknown},
    {"a set is balanced however it comes up", a_set_is_balanced_however_it_comes_up},
    {"what is bound unevenly is levelled", what_is_bound_unevenly_is_levelled},
    {"sets do not all begin in one zone", sets_do_not_all_begin_in_one_zone},
    {"an ordinal beyond the replicas counts", an_ordinal_beyond_the_replicas_counts},
    {"pods that share a claim go to one zone", pods_that_share_a_claim_go_to_one_zone},
    {NULL, NULL},
};
