/* Simulations with volumes: zones, binding and attach limits. */
#include "simulation_fixture.h"

const char unit_suite[] = "simulation volumes";

/* The volumes of one pod can be combined in more ways than are looked at. */
static void too_many_ways_are_told(void)
{
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    struct text_builder terms = {.arena = fixture.arena};
    for (int i = 0; i < 65; i++)
        text_builder_printf(&terms,
                            "%s{matchExpressions: [{key: kubernetes.io/hostname, operator: NotIn, "
                            "values: [h%d]}]}",
                            i == 0 ? "" : ", ", i);
#define OF_MANY_TERMS(name) VOLUME(name, ", nodeAffinity: {required: {nodeSelectorTerms: [%.*s]}}")
#define BOUND_TO(volume) "{volumeName: " volume ", storageClassName: gp3}"
    struct text list = text_builder_text(&terms);
    const struct simulation_case test = {
        "too many ways",
        {POOL, CLAIM("d1", BOUND_TO("v1")), CLAIM("d2", BOUND_TO("v2")),
         arena_printf(fixture.arena, OF_MANY_TERMS("v1"), TEXT_ARGS(list)).data,
         arena_printf(fixture.arena, OF_MANY_TERMS("v2"), TEXT_ARGS(list)).data,
         POD("one", "1",
             ", volumes: [{name: a, persistentVolumeClaim: {claimName: d1}}, {name: b, "
             "persistentVolumeClaim: {claimName: d2}}]"),
         POD("two", "1", MOUNTS("d1"))},
        "default small on-demand a 1: two\nnowhere one: resources\n",
        0,
        0};
    ASSERT_TEXT(fixture_run(&fixture, &test, false), test.lines);
    arena_destroy(fixture.arena);
}

static void volumes_choose_zones(void)
{
#define BOUND "{volumeName: v1, storageClassName: gp3}"
#define GP3 CLASS("gp3", "WaitForFirstConsumer", "")
#define STATIC                                                                       \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: static}, " \
    "provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}"
#define FREE(name, size, zones)                                                              \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name "}, spec: {capacity: " \
    "{storage: " size                                                                        \
    "}, storageClassName: static, accessModes: [ReadWriteOnce]" IN_ZONES(zones) "}}"
#define FREE_BY(name, key, operator, values)                                                 \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name "}, spec: {capacity: " \
    "{storage: 1Gi}, storageClassName: static, accessModes: [ReadWriteOnce], nodeAffinity: " \
    "{required: {nodeSelectorTerms: [{matchExpressions: [{key: " key ", operator: "          \
    operator", values: [" values "]}]}]}}}}"
/* Of an operator that there is not. */
#define FREE_NEAR(name)                                                                       \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name "}, spec: {capacity: "  \
    "{storage: 2Gi}, storageClassName: static, accessModes: [ReadWriteOnce], nodeAffinity: "  \
    "{required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, " \
    "operator: Near, values: [a]}]}]}}}}"
    static const struct simulation_case cases[] = {
        {"where its volume is",
         {POOL, CLAIM("d1", BOUND), VOLUME("v1", IN_ZONES("[c]")), POD("one", "1", MOUNTS("d1"))},
         "default small on-demand c 1: one\n",
         0,
         0},
        {"the labels of a volume cut its affinity",
         {POOL, CLAIM("d1", BOUND),
          "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v1, labels: "
          "{failure-domain.beta.kubernetes.io/zone: b__c}}, spec: {capacity: {storage: "
          "1Gi}" IN_ZONES("[a, c]") "}}",
          POD("one", "1", MOUNTS("d1"))},
         "default small on-demand c 1: one\n",
         0,
         0},
        {"a zone id that a class's subnets tell",
         {POOL, CLAIM("d1", BOUND),
          "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: c}, status: "
          "{subnets: [{zone: b, zoneID: use1-az4}]}}",
          VOLUME("v1", ", nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "
                       "topology.k8s.aws/zone-id, operator: In, values: [use1-az4]}]}]}}"),
          POD("one", "1", MOUNTS("d1"))},
         "default small on-demand b 1: one\n",
         0,
         0},
        {"a driver that says \"\" means no zone",
         {POOL, CLAIM("d1", BOUND),
          VOLUME("v1", ", nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "
                       "topology.disk.csi.azure.com/zone, operator: In, values: ['']}]}]}}"),
          POD("one", "1", MOUNTS("d1"))},
         "default small on-demand a 1: one\n",
         0,
         0},
        {"a volume of a driver that makes it on a node",
         {POOL, CLAIM("d1", BOUND),
          VOLUME("v1", ", nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "
                       "kubernetes.io/hostname, operator: In, values: [gone]}]}]}}"),
          POD("one", "1", MOUNTS("d1"))},
         "nowhere one: volume\n",
         0,
         0},
        {"where its class makes volumes",
         {POOL,
          CLASS("gp3", "WaitForFirstConsumer",
                ", allowedTopologies: [{matchLabelExpressions: [{key: "
                "topology.ebs.csi.aws.com/zone, values: [b]}]}]"),
          CLAIM("d1", "{storageClassName: gp3}"), POD("one", "1", MOUNTS("d1"))},
         "default small on-demand b 1: one\n",
         0,
         0},
        {"the class of a claim that names none",
         {POOL,
          "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: gp3, annotations: "
          "{storageclass.kubernetes.io/is-default-class: 'true'}}, provisioner: ebs.csi.aws.com, "
          "volumeBindingMode: WaitForFirstConsumer, allowedTopologies: [{matchLabelExpressions: "
          "[{key: topology.kubernetes.io/zone, values: [b]}]}]}",
          CLAIM("d1", "{}"), POD("one", "1", MOUNTS("d1"))},
         "default small on-demand b 1: one\n",
         0,
         0},
        {"the node that was selected",
         {POOL, GP3, NODE("n1", "c", "1"),
          "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d1, annotations: "
          "{volume.kubernetes.io/selected-node: n1}}, spec: {storageClassName: gp3}}",
          POD("one", "1500m", MOUNTS("d1"))},
         "default small on-demand c 1: one\n",
         0,
         0},
        {"a volume that is free, where the class makes none",
         {POOL,
          "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: static}, "
          "provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}",
          "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v1}, spec: {capacity: "
          "{storage: 5Gi}, storageClassName: static, accessModes: [ReadWriteOnce]" IN_ZONES(
              "[b]") "}}",
          "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v2}, spec: {capacity: "
          "{storage: 1Gi}, storageClassName: static, accessModes: [ReadWriteOnce]" IN_ZONES(
              "[c]") "}}",
          CLAIM("d1", "{storageClassName: static, accessModes: [ReadWriteOnce], resources: "
                      "{requests: {storage: 2Gi}}}"),
          POD("one", "1", MOUNTS("d1"))},
         "default small on-demand b 1: one\n",
         0,
         0},
        {"the smallest of those that are large enough",
         {POOL, STATIC, FREE("v1", "9Gi", "[a]"), FREE("v2", "3Gi", "[b]"),
          FREE("v3", "5Gi", "[c]"),
          "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v0}, spec: {storageClassName: "
          "static, accessModes: [ReadWriteOnce]" IN_ZONES("[a]") "}}",
          FREE_NEAR("v4"),
          CLAIM("d1", "{storageClassName: static, accessModes: [ReadWriteOnce], resources: "
                      "{requests: {storage: 2Gi}}}"),
          POD("one", "1", MOUNTS("d1"))},
         "default small on-demand b 1: one\n",
         0,
         1},
        {"the one of several whose words differ a little",
         {POOL, STATIC, FREE("v1", "1Gi", "[a]"), FREE("v2", "1Gi", "[a, b]"),
          FREE("v3", "1Gi", "[b]"), FREE_BY("v4", "topology.kubernetes.io/region", "In", "a"),
          FREE_BY("v5", "topology.kubernetes.io/zone", "NotIn", "a"),
          FREE_BY("v6", "topology.kubernetes.io/zone", "In",
                  "a]}, {key: rack, operator: In, "
                  "values: [c"),
          CLAIM("d1", "{storageClassName: static, accessModes: [ReadWriteOnce]}"),
          POD("one", "1", MOUNTS("d1") ", nodeSelector: {topology.kubernetes.io/zone: c}")},
         "default small on-demand c 1: one\n",
         0,
         0},
        {"a free volume that is anywhere",
         {POOL, STATIC,
          "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v1}, spec: {capacity: "
          "{storage: 5Gi}, storageClassName: static}}",
          "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v2}, spec: {capacity: "
          "{storage: 5Gi}, storageClassName: static}}",
          FREE("v3", "1Gi", "[c]"), CLAIM("d1", "{storageClassName: static}"),
          POD("one", "1", MOUNTS("d1"))},
         "default small on-demand a 1: one\n",
         0,
         0},
        {"a claim of many nodes goes where its pod goes, whatever node was selected",
         {POOL, GP3, NODE("n1", "c", "1"),
          "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d1, annotations: "
          "{volume.kubernetes.io/selected-node: n1}}, spec: {storageClassName: gp3, accessModes: "
          "[ReadWriteMany]}}",
          POD("one", "1500m", MOUNTS("d1"))},
         "default small on-demand a 1: one\n",
         0,
         0},
        {"a volume that is being deleted",
         {POOL, CLAIM("d1", BOUND),
          "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v1, deletionTimestamp: "
          "'2026-01-01T00:00:00Z'}, spec: {capacity: {storage: 1Gi}}}",
          POD("one", "1", MOUNTS("d1"))},
         "nowhere one: volume\n",
         0,
         0},
        {"a claim that is made on a node of no zone holds nobody to one",
         {"{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 1, "
          "memory: "
          "1Gi, pods: 9}}}",
          POOL, GP3, CLAIM("d1", "{storageClassName: gp3}"), POD("one", "1", MOUNTS("d1")),
          POD("two", "7", MOUNTS("d1"))},
         "node n1: one\ndefault large on-demand a 1: two\n",
         0,
         0},
        {"volumes that may come with their nodes",
         {POOL,
          "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: static}, "
          "provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}",
          CLAIM("d1", "{storageClassName: static}"), POD("one", "1", MOUNTS("d1"))},
         "default small on-demand a 1: one\n",
         0,
         0},
        {"each takes one of those that are free, and then none is left",
         {POOL,
          "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: static}, "
          "provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}",
          "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v1}, spec: {capacity: "
          "{storage: 1Gi}, storageClassName: static" IN_ZONES("[b]") "}}",
          "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v2}, spec: {capacity: "
          "{storage: 1Gi}, storageClassName: static" IN_ZONES("[c]") "}}",
          CLAIM("d1", "{storageClassName: static}"), CLAIM("d2", "{storageClassName: static}"),
          CLAIM("d3", "{storageClassName: static}"), POD("one", "7", MOUNTS("d1")),
          POD("three", "5", MOUNTS("d3")), POD("two", "6", MOUNTS("d2"))},
         "default large on-demand b 1: one\ndefault large on-demand c 2: two\n"
         "nowhere three: volume\n",
         0,
         0},
        {"when the free one is taken, the class makes none where it was",
         {POOL,
          CLASS("gp3", "WaitForFirstConsumer",
                ", allowedTopologies: [{matchLabelExpressions: [{key: "
                "topology.kubernetes.io/zone, values: [c]}]}]"),
          VOLUME("v1", ", storageClassName: gp3" IN_ZONES("[b]")),
          CLAIM("d1", "{storageClassName: gp3}"), CLAIM("d2", "{storageClassName: gp3}"),
          POD("one", "7", MOUNTS("d1") ", nodeSelector: {topology.kubernetes.io/zone: b}"),
          POD("two", "6", MOUNTS("d2") ", nodeSelector: {topology.kubernetes.io/zone: b}")},
         "default large on-demand b 1: one\nnowhere two: requirement volume\n",
         0,
         0},
        {"the volume that names the claim, where its class could make another",
         {POOL, GP3,
          VOLUME("v1",
                 ", storageClassName: gp3, claimRef: {namespace: shop, name: d1}" IN_ZONES("[c]")),
          VOLUME("v2", ", storageClassName: gp3" IN_ZONES("[b]")),
          CLAIM("d1", "{storageClassName: gp3}"), POD("one", "1", MOUNTS("d1"))},
         "default small on-demand c 1: one\n",
         0,
         0},
        {"the volume that names a claim without a class",
         {POOL, GP3, VOLUME("v1", ", claimRef: {namespace: shop, name: d1}" IN_ZONES("[c]")),
          CLAIM("d1", "{storageClassName: ''}"), POD("one", "1", MOUNTS("d1"))},
         "default small on-demand c 1: one\n",
         0,
         0},
        {"an ephemeral volume's class",
         {POOL,
          CLASS("gp3", "WaitForFirstConsumer",
                ", allowedTopologies: [{matchLabelExpressions: [{key: "
                "topology.kubernetes.io/zone, values: [c]}]}]"),
          POD("one", "1",
              ", volumes: [{name: tmp, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: "
              "gp3}}}}]")},
         "default small on-demand c 1: one\n",
         0,
         0},
        {"two pods of one claim share its zone: the second waits for the first's round",
         {POOL, GP3, CLAIM("d1", "{storageClassName: gp3}"),
          POD("one", "7", MOUNTS("d1") ", nodeSelector: {topology.kubernetes.io/zone: b}"),
          POD("two", "7", MOUNTS("d1"))},
         "default large on-demand b 1: one\ndefault large on-demand b 2: two\n",
         0,
         0},
        {"and after one round it still waits",
         {POOL, GP3, CLAIM("d1", "{storageClassName: gp3}"),
          POD("one", "7", MOUNTS("d1") ", nodeSelector: {topology.kubernetes.io/zone: b}"),
          POD("two", "7", MOUNTS("d1"))},
         "default large on-demand b 1: one\nnowhere two: volume\n",
         1,
         0},
        {"also where another of its claims does not",
         {POOL, GP3, CLAIM("d1", "{storageClassName: gp3}"),
          CLAIM("d2", "{storageClassName: gp3, accessModes: [ReadWriteMany]}"),
          POD("one", "7", MOUNTS("d1") ", nodeSelector: {topology.kubernetes.io/zone: b}"),
          POD("two", "7",
              ", volumes: [{name: a, persistentVolumeClaim: {claimName: d2}}, {name: b, "
              "persistentVolumeClaim: {claimName: d1}}]")},
         "default large on-demand b 1: one\nnowhere two: volume\n",
         1,
         0},
        {"the second of two volumes that differ by their zone alone",
         {POOL, STATIC, FREE("v1", "1Gi", "[a]"), FREE("v2", "1Gi", "[b]"),
          CLAIM("d1", "{storageClassName: static, accessModes: [ReadWriteOnce]}"),
          POD("one", "1", MOUNTS("d1") ", nodeSelector: {topology.kubernetes.io/zone: b}")},
         "default small on-demand b 1: one\n",
         0,
         0},
        {"two on one node, and a volume for one of them",
         {POOL, STATIC, FREE("v1", "1Gi", "[b]"),
          CLAIM("d1", "{storageClassName: static, accessModes: [ReadWriteOnce]}"),
          CLAIM("d2", "{storageClassName: static, accessModes: [ReadWriteOnce]}"),
          POD("one", "600m", MOUNTS("d1")), POD("two", "500m", MOUNTS("d2"))},
         "default small on-demand b 1: one\nnowhere two: volume\n",
         0,
         0},
        {"a claim that nobody has bound yet is not lost in the last round",
         {POOL, GP3, CLAIM("d1", "{storageClassName: gp3}"), POD("one", "1", ""),
          POD("two", "64", MOUNTS("d1"))},
         "default small on-demand a 1: one\nnowhere two: resources\n",
         1,
         0},
        {"nor is one that was bound in the round before",
         {POOL, GP3, CLAIM("d1", "{storageClassName: gp3}"), POD("one", "1", MOUNTS("d1")),
          POD("two", "64", MOUNTS("d1")),
          POD("three", "100m",
              ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
              "{nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: "
              "Exists}]}]}}}")},
         "default small on-demand a 1: one three\nnowhere two: resources\n",
         2,
         0},
        {"a volume that is no claim",
         {POOL, POD("one", "1", ", volumes: [{name: c, configMap: {name: c}}]")},
         "default small on-demand a 1: one\n",
         0,
         0},
        {"a claim of a file system has none either",
         {POOL,
          "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: efs}, provisioner: "
          "efs.csi.aws.com, volumeBindingMode: WaitForFirstConsumer}",
          CLAIM("d1", "{storageClassName: efs, accessModes: [ReadWriteOnce]}"),
          POD("one", "7", MOUNTS("d1") ", nodeSelector: {topology.kubernetes.io/zone: b}"),
          POD("two", "7", MOUNTS("d1"))},
         "default large on-demand a 1: two\ndefault large on-demand b 1: one\n",
         0,
         0},
        {"a claim of many nodes has no zone",
         {POOL, GP3, CLAIM("d1", "{storageClassName: gp3, accessModes: [ReadWriteMany]}"),
          POD("one", "7", MOUNTS("d1") ", nodeSelector: {topology.kubernetes.io/zone: b}"),
          POD("two", "7", MOUNTS("d1"))},
         "default large on-demand a 1: two\ndefault large on-demand b 1: one\n",
         0,
         0},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

/* A Node attaches as many volumes as its CSINode says, whatever the name of what makes them. */
static void the_old_names_of_drivers_count_with_the_new(void)
{
#define CSI_NODE(driver, count)                                                             \
    "{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1}, spec: {drivers: " \
    "[{name: " driver ", allocatable: {count: " count "}}]}}"
#define BOUND_OF(volume) "{volumeName: " volume ", storageClassName: old}"
#define OLD_VOLUME(name)                                                                     \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name "}, spec: {capacity: " \
    "{storage: 1Gi}, awsElasticBlockStore: {volumeID: vol-1}" IN_ZONES("[a]") "}}"
    static const struct simulation_case cases[] = {
        {"a class of the old name",
         {NODE("n1", "a", "4"), CSI_NODE("ebs.csi.aws.com", "1"),
          "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: old}, provisioner: "
          "kubernetes.io/aws-ebs, volumeBindingMode: WaitForFirstConsumer}",
          CLAIM("d1", "{storageClassName: old}"), CLAIM("d2", "{storageClassName: old}"),
          POD("one", "1", MOUNTS("d1")), POD("two", "1", MOUNTS("d2"))},
         "node n1: one\nnowhere two: requirement volume\n",
         0,
         0},
        {"a volume of the old plugin",
         {NODE("n1", "a", "4"), CSI_NODE("ebs.csi.aws.com", "1"), OLD_VOLUME("v1"),
          OLD_VOLUME("v2"), CLAIM("d1", BOUND_OF("v1")), CLAIM("d2", BOUND_OF("v2")),
          POD("one", "1", MOUNTS("d1")), POD("two", "1", MOUNTS("d2"))},
         "node n1: one\nnowhere two: requirement volume\n",
         0,
         0},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

/* A volume of a class that binds at once is made when its claim is stored, before anything is
 * bought for its pods. */
static void claims_that_are_yet_to_be_stored(void)
{
#define AT_ONCE(provisioner, more)                                                \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: now}, " \
    "provisioner: " provisioner more "}"
#define MADE_IN(zones)                                                                   \
    ", allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, " \
    "values: " zones "}]}]"
#define OF_NOW CLAIM("d1", "{storageClassName: now}")
#define IN_C ", nodeSelector: {topology.kubernetes.io/zone: c}"
    static const struct simulation_case cases[] = {
        {"a file system is mounted anywhere",
         {POOL, AT_ONCE("efs.csi.aws.com", ""), OF_NOW, POD("one", "1", MOUNTS("d1") IN_C)},
         "default small on-demand c 1: one\n",
         0,
         0},
        {"by replicas in several zones, with the claims of a set, too",
         {POOL, AT_ONCE("rook-ceph.cephfs.csi.ceph.com", MADE_IN("[a]")),
          "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {replicas: 2, "
          "volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: now}}], "
          "template: {metadata: {labels: {app: web}}, spec: " POD_SPEC(
              "1500m", SPREAD("topology.kubernetes.io/zone")) "}}}"},
         "default small on-demand a 1: db-0\ndefault small on-demand b 1: db-1\n",
         0,
         0},
        {"a disk is in the one zone of its class",
         {POOL, AT_ONCE("ebs.csi.aws.com", MADE_IN("[b]")), OF_NOW, POD("one", "1", MOUNTS("d1"))},
         "default small on-demand b 1: one\n",
         0,
         0},
        {"and where it has several nobody knows",
         {POOL, AT_ONCE("ebs.csi.aws.com", MADE_IN("[b, c]")), OF_NOW,
          POD("one", "1", MOUNTS("d1"))},
         "nowhere one: volume\n",
         0,
         0},
        {"a volume that is free is taken instead, where nobody knows",
         {POOL, AT_ONCE("efs.csi.aws.com", ""), OF_NOW, VOLUME("v1", ", storageClassName: now"),
          POD("one", "1", MOUNTS("d1"))},
         "nowhere one: volume\n",
         0,
         0},
        {"no volume is made",
         {POOL, AT_ONCE("kubernetes.io/no-provisioner", MADE_IN("[b]")), OF_NOW,
          POD("one", "1", MOUNTS("d1"))},
         "nowhere one: volume\n",
         0,
         0},
        {"a claim that is stored waits for its volume",
         {POOL, AT_ONCE("efs.csi.aws.com", ""),
          "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d1, uid: u1}, spec: "
          "{storageClassName: now}}",
          POD("one", "1", MOUNTS("d1"))},
         "nowhere one: volume\n",
         0,
         0},
        {"as one that has a status",
         {POOL, AT_ONCE("efs.csi.aws.com", ""),
          "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d1}, spec: "
          "{storageClassName: now}, status: {phase: Pending}}",
          POD("one", "1", MOUNTS("d1"))},
         "nowhere one: volume\n",
         0,
         0},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

/* As many free volumes as make too many ways by twos, if each were a place of its own. */
static void volumes_of_one_place_are_one_way(void)
{
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    struct text_builder volumes = {.arena = fixture.arena};
    for (int i = 0; i < 65; i++)
        text_builder_printf(&volumes, FREE("v%d", "1Gi", "[b, c]") "\n---\n", i);
    const struct simulation_case test = {
        "one place",
        {POOL, STATIC, text_builder_text(&volumes).data,
         CLAIM("d1", "{storageClassName: static, accessModes: [ReadWriteOnce]}"),
         CLAIM("d2", "{storageClassName: static, accessModes: [ReadWriteOnce]}"),
         POD("one", "1",
             ", volumes: [{name: a, persistentVolumeClaim: {claimName: d1}}, {name: b, "
             "persistentVolumeClaim: {claimName: d2}}]")},
        "default small on-demand b 1: one\n",
        0,
        0};
    ASSERT_TEXT(fixture_run(&fixture, &test, false), test.lines);
    arena_destroy(fixture.arena);
}

/* Claims of several wants, by turns: those that want the same share what is left. */
static void each_claim_is_offered_what_suits_it(void)
{
    enum { WANTS = 10, ROUNDS = 2 };
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    struct arena *arena = fixture.arena;
    struct text_builder claims = {.arena = arena}, pods = {.arena = arena},
                        lines = {.arena = arena};
    text_builder_add(&claims, TEXT(STATIC "\n---\n" FREE("large", "100Gi", "[c]") "\n---\n" FREE(
                                  "small", "1Gi", "[b]")));
    for (int i = 0; i < ROUNDS * WANTS; i++) {
        text_builder_printf(&claims,
                            "\n---\n" CLAIM("d%02d", "{storageClassName: static, accessModes: "
                                                     "[ReadWriteOnce], resources: {requests: "
                                                     "{storage: %dGi}}}"),
                            i, 1 + i % WANTS);
        text_builder_printf(&pods, "%s" POD("p%02d", "1", MOUNTS("d%02d")), i == 0 ? "" : "\n---\n",
                            i, i, i);
    }
    /* the first takes the small one, the second the large one, and none is left for the others */
    text_builder_add(&lines, TEXT("default large on-demand b 1: p00\n"
                                  "default large on-demand c 1: p01\n"));
    for (int i = 2; i < ROUNDS * WANTS; i++)
        text_builder_printf(&lines, "nowhere p%02d: volume\n", i);
    const struct simulation_case test = {
        "ten wants",
        {POOL, text_builder_text(&claims).data, text_builder_text(&pods).data},
        text_builder_text(&lines).data,
        0,
        0};
    ASSERT_TEXT(fixture_run(&fixture, &test, false), test.lines);
    arena_destroy(fixture.arena);
}

/* Karpenter reads spec.storageClassName alone, of a claim without a volume. */
static void a_class_that_an_annotation_names_brings_no_node(void)
{
#define ANNOTATED(spec)                                                                \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d1, annotations: " \
    "{volume.beta.kubernetes.io/storage-class: gp3}}, spec: {" spec "}}"
    static const struct simulation_case cases[] = {
        {"none is bought",
         {POOL, GP3, ANNOTATED(""), POD("one", "1", MOUNTS("d1"))},
         "nowhere one: volume\n",
         0,
         0},
        {"the field says nothing",
         {POOL, GP3, ANNOTATED("storageClassName: ''"), POD("one", "1", MOUNTS("d1"))},
         "nowhere one: volume\n",
         0,
         0},
        {"a Node that is there takes it",
         {POOL, GP3, NODE("n1", "c", "2"), ANNOTATED(""), POD("one", "1", MOUNTS("d1"))},
         "node n1: one\n",
         0,
         0},
        {"and has it bound for whoever comes next",
         {POOL, GP3, NODE("n1", "c", "2"), ANNOTATED(""), POD("one", "2", MOUNTS("d1")),
          POD("two", "1500m", MOUNTS("d1"))},
         "node n1: one\ndefault small on-demand c 2: two\n",
         0,
         0},
        {"the field says it, too",
         {POOL, GP3, ANNOTATED("storageClassName: gp3"), POD("one", "1", MOUNTS("d1"))},
         "default small on-demand a 1: one\n",
         0,
         0},
        {"it is bound",
         {POOL, GP3, ANNOTATED("volumeName: v1"), VOLUME("v1", IN_ZONES("[b]")),
          POD("one", "1", MOUNTS("d1"))},
         "default small on-demand b 1: one\n",
         0,
         0},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

static void a_set_makes_its_claims(void)
{
#define SET(more)                                                                       \
    "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {" more       \
    "volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: gp3}}], " \
    "template: {metadata: {labels: {app: web}}, spec: " POD_SPEC(                       \
        "1500m", SPREAD("topology.kubernetes.io/zone")) "}}}"
    static const struct simulation_case cases[] = {
        {"none are there yet",
         {POOL, GP3, SET("replicas: 2, ordinals: {start: 3}, ")},
         "default small on-demand a 1: db-3\ndefault small on-demand b 1: db-4\n",
         0,
         0},
        {"the claims that are there hold their pods",
         {POOL, GP3, SET("replicas: 2, "), CLAIM("data-db-0", BOUND),
          VOLUME("v1", IN_ZONES("[b]"))},
         "default small on-demand a 1: db-1\ndefault small on-demand b 1: db-0\n",
         0,
         0},
        {"a template goes before a volume of its name",
         {POOL, GP3,
          "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: "
          "{volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: gp3}}], "
          "template: {spec: " POD_SPEC("1", MOUNTS("none")) "}}}"},
         "default small on-demand a 1: db-0\n",
         0,
         0},
        {"a pod whose claim is not in the files",
         {POOL, GP3, SET("replicas: 1, "),
          "{apiVersion: v1, kind: Pod, metadata: {name: db-0, ownerReferences: [{apiVersion: "
          "apps/v1, kind: StatefulSet, name: db, controller: true}]}, spec: " POD_SPEC(
              "1", MOUNTS("data-db-0")) "}"},
         "default small on-demand a 1: db-0\n",
         0,
         0},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

static void pods_that_cannot_be_placed_are_named(void)
{
    static const struct simulation_case cases[] = {
        {"no such claim",
         {POOL, POD("one", "1", MOUNTS("d1")), POD("two", "1", "")},
         "default small on-demand a 1: two\nnowhere one: volume\n",
         0,
         0},
        {"lost",
         {POOL,
          "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d1}, spec: {volumeName: "
          "v1}, status: {phase: Lost}}",
          POD("one", "1", MOUNTS("d1"))},
         "nowhere one: volume\n",
         0,
         0},
        {"being deleted",
         {POOL, GP3,
          "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d1, deletionTimestamp: "
          "'2026-11-21T00:00:00Z'}, spec: {storageClassName: gp3}}",
          POD("one", "1", MOUNTS("d1"))},
         "nowhere one: volume\n",
         0,
         0},
        {"no such volume",
         {POOL, CLAIM("d1", "{volumeName: v1}"), POD("one", "1", MOUNTS("d1"))},
         "nowhere one: volume\n",
         0,
         0},
        {"names a volume but is not bound to it",
         {POOL, VOLUME("v1", ""),
          "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d1}, spec: {volumeName: "
          "v1}, status: {phase: Pending}}",
          POD("one", "1", MOUNTS("d1"))},
         "nowhere one: volume\n",
         0,
         0},
        {"names a volume that is bound to the claim it replaces",
         {POOL, VOLUME("v1", ", claimRef: {namespace: shop, name: d1, uid: before}"),
          "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d1, uid: now, "
          "annotations: {pv.kubernetes.io/bind-completed: 'yes'}}, spec: {volumeName: v1}}",
          POD("one", "1", MOUNTS("d1"))},
         "nowhere one: volume\n",
         0,
         0},
        {"no such class",
         {POOL, CLAIM("d1", "{storageClassName: gp2}"), POD("one", "1", MOUNTS("d1"))},
         "nowhere one: volume\n",
         0,
         0},
        {"no class by choice",
         {POOL, GP3, CLAIM("d1", "{storageClassName: ''}"), POD("one", "1", MOUNTS("d1"))},
         "nowhere one: volume\n",
         0,
         0},
        {"no default class",
         {POOL, GP3, CLAIM("d1", "{}"), POD("one", "1", MOUNTS("d1"))},
         "nowhere one: volume\n",
         0,
         0},
        {"Immediate is the default mode, and it is not bound",
         {POOL,
          "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: gp2}, provisioner: "
          "ebs.csi.aws.com}",
          CLAIM("d1", "{storageClassName: gp2}"), POD("one", "1", MOUNTS("d1"))},
         "nowhere one: volume\n",
         0,
         0},
        {"those that run are not asked",
         {POOL, NODE("n1", "a", "4"), POD("old", "1", ", nodeName: n1" MOUNTS("d1"))},
         "node n1: old!\n",
         0,
         0},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

static void what_is_wrong_with_a_claim_is_said(void)
{
#define CLAIM_THAT(metadata, rest)                                                                \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d1" metadata "}, spec: " rest \
    "}"
#define LEAVING ", deletionTimestamp: '2026-01-01T00:00:00Z'"
    static const struct {
        const char *documents[MOST_DOCUMENTS], *message;
    } cases[] = {
        {{POOL}, "claim shop/d1 is not in the cluster"},
        {{GP3, CLAIM_THAT(LEAVING, "{storageClassName: gp3}")}, "claim shop/d1 is being deleted"},
        {{CLAIM_THAT("", "{volumeName: v1}, status: {phase: Lost}")},
         "claim shop/d1 has lost its volume"},
        {{CLAIM_THAT("", BOUND)}, "the volume v1 of claim shop/d1 is not in the cluster"},
        {{CLAIM_THAT("", BOUND),
          "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v1" LEAVING
          "}, spec: {capacity: {storage: 1Gi}}}"},
         "the volume v1 of claim shop/d1 is being deleted"},
        {{CLAIM_THAT("", "{volumeName: v1}, status: {phase: Pending}"), VOLUME("v1", "")},
         "claim shop/d1 names the volume v1 but is not bound to it yet"},
        {{GP3, CLAIM_THAT("", "{storageClassName: ''}")},
         "claim shop/d1 is not bound and wants no StorageClass to make its volume"},
        {{GP3, CLAIM_THAT("", "{}")},
         "claim shop/d1 names no StorageClass and there is no default one"},
        {{CLAIM_THAT("", "{storageClassName: gp2}")},
         "the StorageClass \"gp2\" of claim shop/d1 is not in the cluster"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        const char *documents[MOST_DOCUMENTS] = {POD("one", "1", MOUNTS("d1"))};
        size_t count = 1;
        for (size_t j = 0; cases[i].documents[j] != NULL; j++)
            documents[count++] = cases[i].documents[j];
        const struct simulation_settings settings = {0};
        struct simulation simulation;
        struct error error = {0};
        CU_ASSERT_FATAL(simulation_run(fixture_snapshot(&fixture, documents, count),
                                       fixture_catalog(&fixture), &settings, fixture.arena,
                                       &simulation, &fixture.problems, &error));
        CU_ASSERT_FATAL(simulation.unschedulable_count == 1 &&
                        simulation.unschedulable[0].reason_count == 1);
        ASSERT_TEXT(simulation.unschedulable[0].reasons[0].message, cases[i].message);
        arena_destroy(fixture.arena);
    }
}

/* Only nodes of EKS Auto Mode have its driver. */
static void volumes_of_auto_mode_stay_there(void)
{
#define OF_AUTO_MODE(more)                                                             \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v1}, spec: {capacity: " \
    "{storage: 1Gi}, claimRef: {namespace: shop, name: d1}, csi: {driver: "            \
    "ebs.csi.eks.amazonaws.com}" more "}}"
#define AUTO_POOL                                                                             \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: auto}, spec: {template: " \
    "{spec: {nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: default}, "      \
    "requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}}}"
#define AUTO_NODE                                                                              \
    "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {topology.kubernetes.io/zone: " \
    "b, eks.amazonaws.com/compute-type: auto}}, status: {allocatable: {cpu: 4, memory: 8Gi, "  \
    "pods: 110}}}"
    static const struct simulation_case cases[] = {
        {"not on a NodePool of self-managed Karpenter",
         {POOL, CLAIM("d1", BOUND), OF_AUTO_MODE(IN_ZONES("[b]")), POD("one", "1", MOUNTS("d1"))},
         "nowhere one: volume\n",
         0,
         0},
        {"on one of Auto Mode",
         {POOL, AUTO_POOL, CLAIM("d1", BOUND), OF_AUTO_MODE(IN_ZONES("[b]")),
          POD("one", "1", MOUNTS("d1"))},
         "auto small on-demand b 1: one\n",
         0,
         0},
        {"where the volume itself does not say where it is",
         {POOL, NODE("n0", "b", "4"), AUTO_NODE, CLAIM("d1", BOUND), OF_AUTO_MODE(""),
          POD("one", "1", MOUNTS("d1"))},
         "node n1: one\n",
         0,
         0},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

static void a_claim_of_one_pod_is_for_one(void)
{
#define ONE_POD(name) CLAIM(name, "{accessModes: [ReadWriteOncePod], storageClassName: gp3}")
#define LEAVES(name) name ", deletionTimestamp: '2026-01-01T00:00:00Z'"
#define SINCE(name, hour) name ", creationTimestamp: '2026-01-01T" hour ":00:00Z'"
    static const struct simulation_case cases[] = {
        {"replicas",
         {POOL, GP3, ONE_POD("d1"),
          WORKLOAD("Deployment", "web", "replicas: 3", "1", MOUNTS("d1"))},
         "default small on-demand a 1: web-0\nnowhere web-1: volume\nnowhere web-2: volume\n",
         0,
         0},
        {"of one node there may be more",
         {POOL, GP3, CLAIM("d1", "{accessModes: [ReadWriteOnce], storageClassName: gp3}"),
          WORKLOAD("Deployment", "web", "replicas: 2", "100m", MOUNTS("d1"))},
         "default small on-demand a 1: web-0 web-1\n",
         0,
         0},
        {"one that runs has it",
         {POOL, GP3, NODE("n1", "a", "4"), ONE_POD("d1"), ONE_POD("d2"),
          POD("old", "1", ", nodeName: n1" MOUNTS("d1")), POD("one", "1", MOUNTS("d1")),
          POD("two", "1", MOUNTS("d2"))},
         "node n1: old! two\nnowhere one: volume\n",
         0,
         0},
        {"not one that is leaving",
         {POOL, GP3, NODE("n1", "a", "4"), ONE_POD("d1"),
          POD(LEAVES("old"), "1", ", nodeName: n1" MOUNTS("d1")), POD("one", "1", MOUNTS("d1"))},
         "node n1: old! one\n",
         0,
         0},
        {"nor one that waits for another claim that is not there",
         {POOL, GP3, NODE("n1", "a", "4"), ONE_POD("d1"),
          POD("aa", "1",
              ", volumes: [{name: data, persistentVolumeClaim: {claimName: d1}}, {name: more, "
              "persistentVolumeClaim: {claimName: absent}}]"),
          POD("one", "1", MOUNTS("d1"))},
         "node n1: one\nnowhere aa: volume\n",
         0,
         0},
        {"of those that wait the older one, and what it mounts besides is for others, too",
         {POOL, GP3, NODE("n1", "a", "4"), ONE_POD("d1"),
          CLAIM("d2", "{accessModes: [ReadWriteOnce], storageClassName: gp3}"),
          POD(SINCE("aa", "01"), "1",
              ", volumes: [{name: a, persistentVolumeClaim: {claimName: d1}}, {name: b, "
              "persistentVolumeClaim: {claimName: d2}}]"),
          POD(SINCE("bb", "02"), "1", MOUNTS("d1")), POD("cc", "1", MOUNTS("d2"))},
         "node n1: aa cc\nnowhere bb: volume\n",
         0,
         0},
        {"of those that wait the oldest, whichever claims they share",
         {POOL, GP3, NODE("n1", "a", "4"), ONE_POD("d1"), ONE_POD("d2"),
          POD(SINCE("one", "03"), "1", MOUNTS("d1")), POD(SINCE("two", "01"), "1", MOUNTS("d2")),
          POD(SINCE("three", "02"), "1",
              ", volumes: [{name: a, persistentVolumeClaim: {claimName: d1}}, {name: b, "
              "persistentVolumeClaim: {claimName: d2}}]"),
          POD("new", "1", MOUNTS("d1"))},
         "node n1: one two\nnowhere new: volume\nnowhere three: volume\n",
         0,
         0},
        {"the next, where that one has no place",
         {POOL, GP3, NODE("n1", "a", "4"), ONE_POD("d1"), ONE_POD("d2"),
          POD(SINCE("aa", "01"), "100", MOUNTS("d1")), POD(SINCE("bb", "02"), "100", MOUNTS("d1")),
          POD(SINCE("cc", "03"), "1", MOUNTS("d1")), POD(SINCE("dd", "04"), "1", MOUNTS("d1")),
          POD("other", "1", MOUNTS("d2"))},
         "node n1: cc other\nnowhere aa: resources resources\nnowhere bb: resources resources\n"
         "nowhere dd: volume\n",
         0,
         0},
        {"and before them one that has it until its node goes",
         {POOL, GP3,
          "{apiVersion: v1, kind: Node, metadata: {" LEAVES(
              "name: n1") "}, status: "
                          "{allocatable: {cpu: 4, memory: 8Gi, pods: 9}}}",
          NODE("n2", "a", "4"), ONE_POD("d1"), POD("old", "1", ", nodeName: n1" MOUNTS("d1")),
          POD(SINCE("one", "03"), "1", MOUNTS("d1"))},
         "node n2: old\nnowhere one: volume\n",
         0,
         0},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

const struct unit_test unit_tests[] = {
    {"what is wrong with a claim is said", what_is_wrong_with_a_claim_is_said},
    {"volumes of Auto Mode stay there", volumes_of_auto_mode_stay_there},
    {"a claim of one pod is for one", a_claim_of_one_pod_is_for_one},
    {"too many ways are told", too_many_ways_are_told},
    {"volumes choose zones", volumes_choose_zones},
    {"the old names of drivers count with the new", the_old_names_of_drivers_count_with_the_new},
    {"volumes of one place are one way", volumes_of_one_place_are_one_way},
    {"each claim is offered what suits it", each_claim_is_offered_what_suits_it},
    {"claims that are yet to be stored", claims_that_are_yet_to_be_stored},
    {"a class that an annotation names brings no node",
     a_class_that_an_annotation_names_brings_no_node},
    {"a set makes its claims", a_set_makes_its_claims},
    {"pods that cannot be placed are named", pods_that_cannot_be_placed_are_named},
    {NULL, NULL},
};
