/* Which volume a PersistentVolumeClaim is bound to, and which volumes suit it. */
#include "kube/claim_binding.h"
#include "cluster_fixture.h"

enum { BUDGET_BYTES = 1 << 20 };

#define CLAIM(meta, rest)                                                              \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: ns, name: c " \
    ", uid: u-c" meta "}, spec: {volumeName: v}" rest "}"
#define DONE ", annotations: {pv.kubernetes.io/bind-completed: 'yes'}"
#define VOLUME(rest) \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {" rest "}}"
#define FOR(namespace, name, uid) \
    VOLUME("claimRef: {namespace: " namespace ", name: " name ", uid: " uid "}")

static const struct snapshot *snapshot_of(struct fixture *fixture, const char *claim,
                                          const char *volume)
{
    const char *documents[] = {claim, volume};
    return claim == NULL ? fixture_snapshot(fixture, &documents[1], 1)
                         : fixture_snapshot(fixture, documents, volume == NULL ? 1 : 2);
}

static void a_claim_names_its_volume(void)
{
    static const struct {
        const char *claim, *volume;
        enum claim_binding_state state;
    } cases[] = {
        {CLAIM(DONE, ""), VOLUME(""), BINDING_BOUND},
        {CLAIM("", ""), VOLUME(""), BINDING_NAMED},
        {CLAIM(DONE, ""), FOR("ns", "c", "u-c"), BINDING_BOUND},
        {CLAIM("", ""), FOR("ns", "c", "u-c"), BINDING_NAMED},
        {CLAIM("", ""), VOLUME("claimRef: {namespace: ns, name: c}"), BINDING_NAMED},
        {CLAIM(DONE, ""), FOR("ns", "c", "u-before"), BINDING_VOLUME_OF_ANOTHER},
        {CLAIM("", ""), FOR("ns", "c", "u-before"), BINDING_VOLUME_OF_ANOTHER},
        {CLAIM(DONE, ""), FOR("ns", "d", "u-c"), BINDING_VOLUME_OF_ANOTHER},
        {CLAIM(DONE, ""), FOR("other", "c", "u-c"), BINDING_VOLUME_OF_ANOTHER},
        {CLAIM(DONE, ""), NULL, BINDING_VOLUME_NOT_SEEN},
        {CLAIM(DONE, ""),
         "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v, deletionTimestamp: "
         "'2027-01-01T00:00:00Z'}}",
         BINDING_VOLUME_DELETING},
        {NULL, VOLUME(""), BINDING_CLAIM_NOT_SEEN},
        {CLAIM(DONE, ", status: {phase: Lost}"), VOLUME(""), BINDING_CLAIM_LOST},
        {CLAIM(DONE ", deletionTimestamp: '2027-01-01T00:00:00Z'", ""), VOLUME(""),
         BINDING_CLAIM_DELETING},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct claim_binding binding;
        claim_binding_read(snapshot_of(&fixture, cases[i].claim, cases[i].volume), TEXT("ns"),
                           TEXT("c"), NULL, fixture.arena, &binding);
        if (binding.state != cases[i].state)
            fprintf(stderr, "case %zu:\n", i);
        CU_ASSERT_EQUAL(binding.state, cases[i].state);
        arena_destroy(fixture.arena);
    }
}

/* "" is the name of no class, and asks for no volume to be made; a claim that does not speak of its
 * class gets that of the cluster. */
static void a_claim_waits_for_its_class(void)
{
#define CLASS(name, meta, mode)                                                             \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " name meta "}, " \
    "provisioner: ebs.csi.aws.com" mode "}"
#define DEFAULT ", annotations: {storageclass.kubernetes.io/is-default-class: 'true'}"
#define LATER ", volumeBindingMode: WaitForFirstConsumer"
    static const struct {
        const char *meta, *spec, *class;
        enum claim_binding_state state;
    } cases[] = {
        {"", "", CLASS("gp3", "", LATER), BINDING_CLASS_NOT_SEEN},
        {"", "storageClassName: null", CLASS("gp3", "", LATER), BINDING_CLASS_NOT_SEEN},
        {"", "", CLASS("gp3", DEFAULT, LATER), BINDING_WAITS},
        {"", "", CLASS("gp3", DEFAULT, ""), BINDING_IMMEDIATE},
        {"", "", CLASS("gp3", DEFAULT, ", volumeBindingMode: Immediate"), BINDING_IMMEDIATE},
        {"", "storageClassName: ''", CLASS("gp3", DEFAULT, LATER), BINDING_NO_CLASS},
        {"", "storageClassName: gp3", CLASS("gp3", "", LATER), BINDING_WAITS},
        {"", "storageClassName: gp3", CLASS("gp3", "", ""), BINDING_IMMEDIATE},
        {"", "storageClassName: io2", CLASS("gp3", DEFAULT, LATER), BINDING_CLASS_NOT_SEEN},
        /* the annotation is older than the field and wins over it */
        {", annotations: {volume.beta.kubernetes.io/storage-class: ''}", "storageClassName: gp3",
         CLASS("gp3", "", LATER), BINDING_NO_CLASS},
        {", annotations: {volume.beta.kubernetes.io/storage-class: gp3}", "storageClassName: ''",
         CLASS("gp3", "", LATER), BINDING_WAITS},
        {"", "storageClassName: gp3, volumeName: ''", CLASS("gp3", "", LATER), BINDING_WAITS},
        {", deletionTimestamp: '2027-01-01T00:00:00Z'", "storageClassName: gp3",
         CLASS("gp3", "", LATER), BINDING_CLAIM_DELETING},
    };
#undef LATER
#undef DEFAULT
#undef CLASS
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct claim_binding binding;
        struct text claim = arena_printf(fixture.arena,
                                         "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: "
                                         "{namespace: ns, name: c%s}, spec: {%s}}",
                                         cases[i].meta, cases[i].spec);
        const struct snapshot *snapshot = snapshot_of(&fixture, claim.data, cases[i].class);
        claim_binding_read(snapshot, TEXT("ns"), TEXT("c"), NULL, fixture.arena, &binding);
        if (binding.state != cases[i].state)
            fprintf(stderr, "case %zu:\n", i);
        CU_ASSERT_EQUAL(binding.state, cases[i].state);
        CU_ASSERT_EQUAL(binding.class != NULL,
                        cases[i].state == BINDING_WAITS || cases[i].state == BINDING_IMMEDIATE);
        arena_destroy(fixture.arena);
    }
}

/* KK pkg/volume/util, FindMatchingVolume: the class and the labels of a volume that names the claim
 * do not count, and no volume is made. */
static void a_volume_names_its_claim(void)
{
#define GP3                                                                                    \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: gp3}, provisioner: " \
    "ebs.csi.aws.com, volumeBindingMode: WaitForFirstConsumer}"
#define OF_C ", claimRef: {namespace: ns, name: c}"
    static const struct {
        const char *claim, *volume, *phase; /* specs, and the phase of the volume */
        enum claim_binding_state state;
        const char *size; /* of the volume; NULL: 10Gi */
    } cases[] = {
        {"storageClassName: gp3", "storageClassName: gp3", "Available", BINDING_WAITS, NULL},
        {"storageClassName: gp3", "storageClassName: gp3" OF_C, "Available", BINDING_RESERVED,
         NULL},
        {"storageClassName: gp3", "storageClassName: other" OF_C, "Available", BINDING_RESERVED,
         NULL},
        {"storageClassName: none", "storageClassName: none" OF_C, "Available", BINDING_RESERVED,
         NULL},
        {"storageClassName: ''", "persistentVolumeReclaimPolicy: Retain" OF_C, "Available",
         BINDING_RESERVED, NULL},
        {"storageClassName: gp3, selector: {matchLabels: {disk: fast}}",
         "storageClassName: gp3" OF_C, "Available", BINDING_RESERVED, NULL},
        {"storageClassName: gp3", "claimRef: {namespace: ns, name: c, uid: u-c}", "Available",
         BINDING_RESERVED, NULL},
        {"storageClassName: gp3", "claimRef: {namespace: ns, name: c, uid: u-before}", "Available",
         BINDING_WAITS, NULL},
        {"storageClassName: gp3", "claimRef: {namespace: ns, name: d}", "Available", BINDING_WAITS,
         NULL},
        {"storageClassName: gp3", "claimRef: {}", "Available", BINDING_WAITS, NULL},
        {"storageClassName: gp3", "storageClassName: gp3" OF_C, "Released", BINDING_WAITS, NULL},
        {"storageClassName: gp3, resources: {requests: {storage: 11Gi}}",
         "storageClassName: gp3" OF_C, "Available", BINDING_WAITS, NULL},
        {"storageClassName: gp3, volumeMode: Block", "storageClassName: gp3" OF_C, "Available",
         BINDING_WAITS, NULL},
        {"storageClassName: gp3, accessModes: [ReadWriteMany]", "storageClassName: gp3" OF_C,
         "Available", BINDING_WAITS, NULL},
        {"storageClassName: gp3, volumeAttributesClassName: fast", "storageClassName: gp3" OF_C,
         "Available", BINDING_WAITS, NULL},
        {"storageClassName: gp3, volumeAttributesClassName: fast",
         "volumeAttributesClassName: fast" OF_C, "Available", BINDING_RESERVED, NULL},
        {"storageClassName: gp3", "storageClassName: gp3" OF_C, "Available", BINDING_WAITS,
         "unknown"},
    };
    for (size_t i = 0; i < 2 * COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct claim_binding binding;
        bool of_template = i % 2 == 1; /* the claim of a template has no uid yet */
        struct text claim = arena_printf(
            fixture.arena,
            "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: ns, name: %s, "
            "uid: u-c}, spec: {%s}}",
            of_template ? "template" : "c", cases[i / 2].claim);
        struct text volume = arena_printf(
            fixture.arena,
            "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {capacity: "
            "{storage: %s}, accessModes: [ReadWriteOnce], %s}, status: {phase: %s}}",
            cases[i / 2].size == NULL ? "10Gi" : cases[i / 2].size, cases[i / 2].volume,
            cases[i / 2].phase);
        const char *documents[] = {claim.data, volume.data, GP3};
        const struct snapshot *snapshot =
            fixture_snapshot(&fixture, documents, COUNT_OF(documents));
        const struct object *object = snapshot_object(snapshot, KIND_PERSISTENT_VOLUME_CLAIM, 0);
        if (of_template && strstr(cases[i / 2].volume, "u-before") != NULL) {
            arena_destroy(fixture.arena);
            continue;
        }
        claim_binding_read(snapshot, TEXT("ns"), TEXT("c"), of_template ? object->root : NULL,
                           fixture.arena, &binding);
        if (binding.state != cases[i / 2].state)
            fprintf(stderr, "case %zu:\n", i);
        CU_ASSERT_EQUAL(binding.state, cases[i / 2].state);
        CU_ASSERT_EQUAL(binding.volume != NULL, binding.state == BINDING_RESERVED);
        arena_destroy(fixture.arena);
    }
#undef OF_C
#undef GP3
}

/* A file may leave out the uid of either. */
static void a_volume_is_kept_for_its_claim_alone(void)
{
    static const struct {
        const char *volume;
        struct text uid;
        bool suits;
    } cases[] = {
        {VOLUME(""), TEXT("u-c"), true},
        {VOLUME("claimRef: {namespace: ns, name: c}"), TEXT("u-c"), true},
        {FOR("ns", "c", "u-c"), TEXT("u-c"), true},
        {FOR("ns", "c", "u-c"), TEXT(""), true},
        {FOR("ns", "c", "u-before"), TEXT("u-c"), false},
        {FOR("ns", "d", "u-c"), TEXT("u-c"), false},
        {FOR("other", "c", "u-c"), TEXT("u-c"), false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        const struct snapshot *snapshot = snapshot_of(&fixture, cases[i].volume, NULL);
        const struct claim_binding binding = {
            .namespace = TEXT("ns"), .name = TEXT("c"), .uid = cases[i].uid};
        const struct object *volume = snapshot_object(snapshot, KIND_PERSISTENT_VOLUME, 0);
        if (volume_suits(volume, 0, &binding) != cases[i].suits)
            fprintf(stderr, "case %zu:\n", i);
        CU_ASSERT_EQUAL(volume_suits(volume, 0, &binding), cases[i].suits);
        arena_destroy(fixture.arena);
    }
}

/* KK pkg/volume/util, FindMatchingVolume. */
static void a_volume_has_what_its_claim_wants(void)
{
    static const struct {
        const char *claim, *volume; /* of their specs */
        bool suits;
    } cases[] = {
        {"accessModes: [ReadWriteOnce]", "accessModes: [ReadWriteOnce]", true},
        {"accessModes: [ReadWriteOnce]", "accessModes: [ReadWriteMany, ReadWriteOnce]", true},
        {"accessModes: [ReadWriteMany]", "accessModes: [ReadWriteOnce]", false},
        {"accessModes: [ReadWriteOnce, ReadOnlyMany]", "accessModes: [ReadWriteOnce]", false},
        {"accessModes: [ReadWriteOnce]", "volumeMode: Block", false},
        {"volumeMode: Block", "volumeMode: Block", true},
        {"volumeMode: Block", "", false},
        {"", "volumeMode: Filesystem", true},
        {"volumeMode: Filesystem", "", true},
        {"resources: {requests: {storage: 10Gi}}", "capacity: {storage: 10Gi}", true},
        {"resources: {requests: {storage: 11Gi}}", "capacity: {storage: 10Gi}", false},
        {"resources: {requests: {storage: 10737418241}}", "capacity: {storage: 10Gi}", false},
        {"resources: {requests: {storage: much}}", "capacity: {storage: 10Gi}", false},
        {"selector: {matchLabels: {disk: fast}}", "capacity: {storage: 10Gi}", true},
        {"selector: {matchLabels: {disk: slow}}", "capacity: {storage: 10Gi}", false},
        {"", "storageClassName: gp3", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct claim_binding binding;
        int64_t milli = 0;
        struct text claim = arena_printf(fixture.arena,
                                         "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: "
                                         "{namespace: ns, name: c}, spec: {storageClassName: '', "
                                         "%s}}",
                                         cases[i].claim);
        struct text volume = arena_printf(fixture.arena,
                                          "{apiVersion: v1, kind: PersistentVolume, metadata: "
                                          "{name: v, labels: {disk: fast}}, spec: {%s}}",
                                          cases[i].volume);
        const struct snapshot *snapshot = snapshot_of(&fixture, claim.data, volume.data);
        claim_binding_read(snapshot, TEXT("ns"), TEXT("c"), NULL, fixture.arena, &binding);
        const struct object *object = snapshot_object(snapshot, KIND_PERSISTENT_VOLUME, 0);
        bool sized = volume_capacity(object, &milli);
        CU_ASSERT_EQUAL(sized, strstr(cases[i].volume, "capacity") != NULL);
        if (volume_suits(object, milli, &binding) != cases[i].suits)
            fprintf(stderr, "case %zu:\n", i);
        CU_ASSERT_EQUAL(volume_suits(object, milli, &binding), cases[i].suits);
        arena_destroy(fixture.arena);
    }
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    int64_t milli = 0;
    const struct snapshot *snapshot =
        snapshot_of(&fixture, VOLUME("capacity: {storage: much}"), NULL);
    CU_ASSERT_FALSE(volume_capacity(snapshot_object(snapshot, KIND_PERSISTENT_VOLUME, 0), &milli));
    arena_destroy(fixture.arena);
}

const char unit_suite[] = "kube claim binding";
const struct unit_test unit_tests[] = {
    {"a claim names its volume", a_claim_names_its_volume},
    {"a claim waits for its class", a_claim_waits_for_its_class},
    {"a volume names its claim", a_volume_names_its_claim},
    {"a volume is kept for its claim alone", a_volume_is_kept_for_its_claim_alone},
    {"a volume has what its claim wants", a_volume_has_what_its_claim_wants},
    {NULL, NULL},
};
