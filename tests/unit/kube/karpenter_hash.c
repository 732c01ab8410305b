/* The hashes of NodePools and EC2NodeClasses. The expected ones are those of Karpenter's own code
 * (docs/reference/karpenter.md 6.8) and of its AWS provider's tests; tests/conformance/drift.test
 * compares random objects. */
#include "kube/karpenter_hash.h"

#include <stdio.h>

#include "kube/go_hash.h"
#include "object_fixture.h"

const char unit_suite[] = "kube karpenter hash";

enum { BUDGET_BYTES = 16 << 20 };

struct hash_case {
    const char *yaml;
    uint64_t hash;
};

/* Each hash, XOR that of a CA bundle. */
static void run(const struct hash_case *cases, size_t count, uint64_t bundle)
{
    for (size_t i = 0; i < count; i++) {
        struct arena *arena = arena_create(BUDGET_BYTES);
        uint64_t hash = 0;
        CU_ASSERT(karpenter_hash_value(fixture_object(arena, cases[i].yaml, ""), arena, &hash));
        if ((hash ^ bundle) != cases[i].hash)
            fprintf(stderr, "%s\n", cases[i].yaml);
        ASSERT_INT(hash ^ bundle, cases[i].hash);
        arena_destroy(arena);
    }
}

#define POOL(template)                                                                            \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general}, spec: {weight: 3, " \
    "template: {" template "}}}"
#define REFERENCE "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}"
#define TAINTS_AB                                                                          \
    "taints: [{key: dedicated, value: batch, effect: NoSchedule}, {key: example.com/gpu, " \
    "effect: NoExecute}]"
#define TAINTS_BA                                                                         \
    "taints: [{key: example.com/gpu, effect: NoExecute}, {key: dedicated, value: batch, " \
    "effect: NoSchedule}]"
#define EXAMPLE_B(taints)                                                                       \
    POOL("metadata: {labels: {tier: batch, team: data}, annotations: {note: x}}, spec: "        \
         "{" REFERENCE ", expireAfter: 43200m, terminationGracePeriod: 48h, requirements: "     \
         "[{key: a, operator: Exists}], startupTaints: [{key: node.cilium.io/agent-not-ready, " \
         "value: \"true\", effect: NoExecute}], " taints "}")

static void pools(void)
{
    static const struct hash_case cases[] = {
        {POOL("spec: {" REFERENCE "}"), UINT64_C(6821555240594823858)},
        {POOL("metadata: {}, spec: {" REFERENCE ", expireAfter: 720h0m0s, requirements: []}"),
         UINT64_C(6821555240594823858)},
        {POOL("spec: {" REFERENCE ", expireAfter: null}"), UINT64_C(6821555240594823858)},
        {EXAMPLE_B(TAINTS_AB), UINT64_C(13383914465997530287)},
        {EXAMPLE_B(TAINTS_BA), UINT64_C(13383914465997530287)},
        {POOL("spec: {" REFERENCE ", expireAfter: Never}"), UINT64_C(17369979337536258260)},
        {POOL("spec: {" REFERENCE ", expireAfter: 0s}"), UINT64_C(15640125381500602090)},
        {POOL("spec: {" REFERENCE ", taints: []}"), UINT64_C(17700736223175069915)},
        {POOL("spec: {" REFERENCE ", startupTaints: []}"), UINT64_C(3067911395857640775)},
        {POOL("metadata: {labels: {}}, spec: {" REFERENCE "}"), UINT64_C(1287117484082965808)},
        {POOL("metadata: {annotations: {}}, spec: {" REFERENCE "}"),
         UINT64_C(15221960927805607518)},
        {POOL("metadata: {labels: {}, annotations: {}}, spec: {" REFERENCE "}"),
         UINT64_C(13917081368405759920)},
        {POOL("spec: {" REFERENCE ", taints: [{key: a, effect: NoSchedule}]}"),
         UINT64_C(8919242258545757417)},
        {POOL("spec: {" REFERENCE ", taints: [{key: a, value: \"\", effect: NoSchedule}]}"),
         UINT64_C(8919242258545757417)},
        {POOL("spec: {" REFERENCE ", startupTaints: [{key: a, effect: NoSchedule}]}"),
         UINT64_C(7486790991185812591)},
        {POOL("spec: {" REFERENCE ", terminationGracePeriod: 0s}"), UINT64_C(10356118934572431967)},
        {POOL("metadata: {labels: {team: \"\"}}, spec: {" REFERENCE "}"),
         UINT64_C(2957325844761436115)},
    };
    run(cases, COUNT_OF(cases), 0);
}

#define CLASS(spec)                                                                            \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: default}, spec: " \
    "{" spec "}}"
#define TAGS "tags: {keyTag-1: valueTag-1, keyTag-2: valueTag-2}, "
#define OPTIONS                                                                          \
    "metadataOptions: {httpEndpoint: disabled, httpProtocolIPv6: disabled, httpTokens: " \
    "optional}, "
#define ROLE "role: role-1, "
#define DEVICES(size, more)                                                                   \
    "blockDeviceMappings: [{deviceName: map-device-1, rootVolume: false, ebs: "               \
    "{deleteOnTermination: false, encrypted: false, iops: 0, kmsKeyID: fakeKMSKeyID, "        \
    "snapshotID: fakeSnapshot, throughput: 0, volumeSize: " size ", volumeType: standard}}, " \
    "{deviceName: map-device-2}" more "], "
#define REST                                                                              \
    "context: fake-context, detailedMonitoring: false, associatePublicIPAddress: false, " \
    "userData: userdata-test-1"
#define BASE ROLE TAGS OPTIONS DEVICES("2G", "") REST

static void classes(void)
{
    static const struct hash_case cases[] = {
        {CLASS(BASE), UINT64_C(11148166120438674859)},
        {CLASS(BASE ", amiFamily: Custom, kubelet: {}, ipPrefixCount: 3, subnetSelectorTerms: "
                    "[{tags: {a: b}}]"),
         UINT64_C(11148166120438674859)},
        {CLASS(ROLE TAGS OPTIONS DEVICES("2000M", "") REST), UINT64_C(11148166120438674859)},
        {CLASS(ROLE TAGS OPTIONS DEVICES("10G", "") REST), UINT64_C(10372902467896351912)},
        {CLASS("instanceProfile: test-instance-profile, " TAGS OPTIONS DEVICES("2G", "") REST),
         UINT64_C(10323991363677716244)},
        {CLASS(BASE ", instanceStorePolicy: RAID0"), UINT64_C(16697988646989909967)},
        {CLASS(BASE ", enclaveOptions: {enabled: true}"), UINT64_C(7236976372141148292)},
        {CLASS(BASE ", enclaveOptions: {enabled: false}"), UINT64_C(12655667132181172925)},
        {CLASS(BASE ", connectionTracking: {tcpEstablishedTimeout: 300}"),
         UINT64_C(1619669030802245540)},
        {CLASS(BASE ", cpuOptions: {nestedVirtualization: enabled}"),
         UINT64_C(6157846767212910604)},
        /* The kubelet is hashed as Go's JSON, which escapes what HTML and JavaScript know: the
         * first hash, XOR FNV-1 of null, XOR FNV-1 of that JSON. */
        {CLASS(BASE ", kubelet: {evictionHard: {memory.available: \"<5%>&\\u2028\\u2029\"}}"),
         UINT64_C(17409172419300527724)},
        /* The image family: Custom, where no alias names one. */
        {CLASS(BASE ", amiSelectorTerms: [{id: ami-1}]"), UINT64_C(11148166120438674859)},
        {CLASS(BASE ", amiSelectorTerms: [{id: ami-1}, {alias: al2023@latest}]"),
         UINT64_C(15896338494418317994)},
    };
    run(cases, COUNT_OF(cases), UINT64_C(6953592710408757555)); /* of "test-ca-bundle" */
}

/* What the CRD's defaults write into a class is hashed where a file does not have it, too
 * (docs/reference/karpenter.md 6.8). */
static void defaults_are_hashed_as_if_written(void)
{
#define WRITTEN                                                             \
    "metadataOptions: {httpEndpoint: enabled, httpProtocolIPv6: disabled, " \
    "httpPutResponseHopLimit: 1, httpTokens: required}"
    static const char *const cases[] = {
        CLASS(""),
        CLASS("metadataOptions: {}"),
        CLASS("metadataOptions: {httpEndpoint: enabled}"),
        CLASS("metadataOptions: {httpProtocolIPv6: disabled, httpTokens: required}"),
        CLASS("metadataOptions: {httpPutResponseHopLimit: 1}"),
    };
    struct arena *arena = arena_create(BUDGET_BYTES);
    uint64_t written = 0;
    CU_ASSERT(karpenter_hash_value(fixture_object(arena, CLASS(WRITTEN), ""), arena, &written));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t hash = 0;
        CU_ASSERT(karpenter_hash_value(fixture_object(arena, cases[i], ""), arena, &hash));
        ASSERT_INT(hash, written);
    }
    arena_destroy(arena);
#undef WRITTEN
}

static void some_values_have_no_hash(void)
{
    static const char *const objects[] = {
        POOL("spec: {" REFERENCE ", expireAfter: soon}"),
        POOL("spec: {" REFERENCE ", expireAfter: 9999999h}"),
        POOL("spec: {" REFERENCE ", taints: {}}"),
        POOL("metadata: {labels: {a: 1}}, spec: {" REFERENCE "}"),
        POOL("spec: {" REFERENCE ", taints: [{key: a, timeAdded: \"2026-01-01T00:00:00Z\"}]}"),
        CLASS("amiSelectorTerms: [{alias: ubuntu@latest}]"),
        CLASS("kubelet: {imageGCHighThresholdPercent: 8.5}"),
        CLASS("kubelet: {a: [1, 8.5], maxPods: 10}"),
        CLASS("blockDeviceMappings: [{ebs: {iops: many}}]"),
        CLASS("kubelet: []"),
        CLASS("associatePublicIPAddress: \"yes\""),
        CLASS("blockDeviceMappings: [{ebs: {volumeSize: much}}]"),
    };
    for (size_t i = 0; i < COUNT_OF(objects); i++) {
        struct arena *arena = arena_create(BUDGET_BYTES);
        uint64_t hash = 0;
        bool known = karpenter_hash_value(fixture_object(arena, objects[i], ""), arena, &hash);
        if (known)
            fprintf(stderr, "%s\n", objects[i]);
        CU_ASSERT_FALSE(known);
        arena_destroy(arena);
    }
}

struct compare_case {
    const char *before, *after, *paths;
};

static void fields_that_differ(void)
{
    static const struct compare_case cases[] = {
        {POOL("spec: {" REFERENCE "}"), POOL("spec: {" REFERENCE ", expireAfter: 720h}"), ""},
        {EXAMPLE_B(TAINTS_AB), EXAMPLE_B(TAINTS_BA), ""},
        {POOL("spec: {" REFERENCE "}"),
         POOL("metadata: {labels: {a: b}, annotations: {}}, spec: {nodeClassRef: {group: "
              "karpenter.k8s.aws, kind: EC2NodeClass, name: other}, taints: [], expireAfter: 0s, "
              "terminationGracePeriod: 1h}"),
         "spec.template.metadata.labels, spec.template.metadata.annotations, "
         "spec.template.spec.taints, spec.template.spec.nodeClassRef.name, "
         "spec.template.spec.terminationGracePeriod, spec.template.spec.expireAfter"},
        {POOL("spec: {" REFERENCE ", taints: [{key: a, timeAdded: \"2026-01-01T00:00:00Z\"}]}"),
         POOL("spec: {" REFERENCE ", taints: [{key: a, timeAdded: \"2026-01-02T00:00:00Z\"}]}"),
         "spec.template.spec.taints"},
        {CLASS(""), CLASS("metadataOptions: {httpPutResponseHopLimit: 1}"), ""},
        {CLASS(""), CLASS("metadataOptions: {httpPutResponseHopLimit: 2}"),
         "spec.metadataOptions.httpPutResponseHopLimit"},
        {CLASS("amiSelectorTerms: [{alias: al2023@v1}]"),
         CLASS("amiFamily: AL2023, amiSelectorTerms: [{alias: al2023@v2}]"), ""},
        {CLASS("amiSelectorTerms: [{alias: al2023@v1}]"),
         CLASS("amiSelectorTerms: [{alias: bottlerocket@v1}]"), "spec.amiSelectorTerms"},
        {CLASS("amiFamily: AL2, kubelet: {maxPods: 10, systemReserved: {cpu: 1, a: b}}"),
         CLASS("amiFamily: AL2023, kubelet: {systemReserved: {a: b, cpu: 1}, maxPods: 11}"),
         "spec.amiFamily, spec.kubelet"},
        {CLASS("kubelet: {maxPods: 10, systemReserved: {cpu: 1, a: b}}"),
         CLASS("kubelet: {systemReserved: {a: b, cpu: 1}, maxPods: 10}"), ""},
        {CLASS("kubelet: {clusterDNS: [10.0.1.100, 10.0.1.101]}"),
         CLASS("kubelet: {clusterDNS: [10.0.1.101, 10.0.1.100]}"), "spec.kubelet"},
        {CLASS("amiFamily: AL2"), CLASS("amiSelectorTerms: [{id: ami-1}, {alias: al2023@v1}]"),
         "spec.amiFamily"},
        {CLASS("enclaveOptions: {enabled: true}"), CLASS(""), "spec.enclaveOptions"},
        {CLASS("placementGroupSelector: {name: a}"), CLASS("placementGroupSelector: {id: a}"),
         "spec.placementGroupSelector.name, spec.placementGroupSelector.id"},
        {CLASS(""), CLASS("detailedMonitoring: false"), "spec.detailedMonitoring"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(BUDGET_BYTES);
        struct text_list paths = {0};
        karpenter_hash_compare(fixture_object(arena, cases[i].before, ""),
                               fixture_object(arena, cases[i].after, ""), arena, &paths);
        ASSERT_TEXT(texts_join(paths.items, paths.count, paths.count, arena), cases[i].paths);
        arena_destroy(arena);
    }
}

/* Karpenter's AWS provider hashes what Go's encoding/json makes of the kubelet's settings, which
 * escapes the characters of HTML. */
static void kubelet_settings_are_hashed_as_json(void)
{
    static const struct {
        const char *kubelet, *json;
    } cases[] = {
        {"{evictionHard: {a: \"<5%\"}}", "{\"evictionHard\":{\"a\":\"\\u003c5%\"}}"},
        {"{b: \"a > b && c\", a: 1}", "{\"a\":1,\"b\":\"a \\u003e b \\u0026\\u0026 c\"}"},
        {"{clusterDNS: [k, l]}", "{\"clusterDNS\":[\"k\",\"l\"]}"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(BUDGET_BYTES);
        uint64_t with = 0, without = 0;
        struct text class = arena_printf(arena, CLASS("kubelet: %s"), cases[i].kubelet);
        CU_ASSERT(karpenter_hash_value(fixture_object(arena, class.data, ""), arena, &with));
        CU_ASSERT(karpenter_hash_value(fixture_object(arena, CLASS(""), ""), arena, &without));
        ASSERT_INT(with ^ without,
                   go_hash_text(TEXT("null")) ^ go_hash_text(text_of(cases[i].json)));
        arena_destroy(arena);
    }
}

static void a_claim_is_unlike_its_pool(void)
{
#define CLAIM(labels, spec)                                                                      \
    "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: c, labels: {" labels "}}, " \
    "spec: {" spec "}}"
    static const struct {
        const char *pool, *claim, *path;
    } cases[] = {
        {POOL("metadata: {labels: {a: b}}, spec: {" REFERENCE "}"), CLAIM("a: b, c: d", REFERENCE),
         ""},
        {POOL("metadata: {labels: {a: b}}, spec: {" REFERENCE "}"), CLAIM("c: d", REFERENCE),
         "spec.template.metadata.labels"},
        {POOL("metadata: {labels: {a: b, e: f}}, spec: {" REFERENCE "}"),
         CLAIM("a: c, e: f", REFERENCE), "spec.template.metadata.labels"},
        {POOL("spec: {" REFERENCE ", terminationGracePeriod: 1h}"), CLAIM("", REFERENCE),
         "spec.template.spec.terminationGracePeriod"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(BUDGET_BYTES);
        ASSERT_TEXT(karpenter_hash_unlike(fixture_object(arena, cases[i].pool, ""),
                                          fixture_object(arena, cases[i].claim, ""), arena),
                    cases[i].path);
        arena_destroy(arena);
    }
}

/* Of a key that stands twice the last value counts, as in Go. */
static void of_equal_keys_the_last_counts(void)
{
    static const struct {
        const char *twice, *once;
    } cases[] = {
        {"{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodePool\",\"spec\":{\"template\":{"
         "\"metadata\":{\"labels\":{\"a\":\"1\",\"a\":\"2\"}}}}}",
         POOL("metadata: {labels: {a: '2'}}")},
        {"{\"apiVersion\":\"karpenter.k8s.aws/"
         "v1\",\"kind\":\"EC2NodeClass\",\"spec\":{\"kubelet\":{"
         "\"maxPods\":1,\"maxPods\":2}}}",
         CLASS("kubelet: {maxPods: 2}")},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(BUDGET_BYTES);
        struct source source = {.text = text_of(cases[i].twice)};
        struct problems duplicates = {.arena = arena};
        struct error error = {0};
        const struct node *root = NULL;
        struct object twice;
        uint64_t of_twice = 0, of_once = 1;
        CU_ASSERT_FATAL(
            doc_read_json(&source, &doc_limits_manifest, &duplicates, arena, &root, &error));
        CU_ASSERT_FATAL(object_read(root, NULL, TEXT(""), arena, &twice, &error));
        CU_ASSERT(karpenter_hash_value(&twice, arena, &of_twice));
        CU_ASSERT(karpenter_hash_value(fixture_object(arena, cases[i].once, ""), arena, &of_once));
        ASSERT_INT(of_twice, of_once);
        arena_destroy(arena);
    }
}

static void two_kinds_have_hashes(void)
{
    struct arena *arena = arena_create(BUDGET_BYTES);
    CU_ASSERT_PTR_NOT_NULL(karpenter_hash(fixture_object(arena, POOL(""), "")));
    CU_ASSERT_PTR_NOT_NULL(karpenter_hash(fixture_object(arena, CLASS(""), "")));
    CU_ASSERT_PTR_NULL(karpenter_hash(fixture_object(arena, "{apiVersion: v1, kind: Node}", "")));
    arena_destroy(arena);
}

const struct unit_test unit_tests[] = {
    {"pools", pools},
    {"classes", classes},
    {"defaults are hashed as if written", defaults_are_hashed_as_if_written},
    {"some values have no hash", some_values_have_no_hash},
    {"fields that differ", fields_that_differ},
    {"kubelet settings are hashed as JSON", kubelet_settings_are_hashed_as_json},
    {"a claim is unlike its pool", a_claim_is_unlike_its_pool},
    {"of equal keys the last counts", of_equal_keys_the_last_counts},
    {"two kinds have hashes", two_kinds_have_hashes},
    {NULL, NULL},
};
