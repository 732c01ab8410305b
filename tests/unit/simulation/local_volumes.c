/* Pods with local volumes: kube-scheduler takes them to the nodes of these, and Karpenter does not
 * look at which nodes they are (docs/reference/karpenter.md 4.2). */
#include "simulation_fixture.h"

const char unit_suite[] = "simulation local volumes";

#define HOST(name, zone, cpu)                                                         \
    "{apiVersion: v1, kind: Node, metadata: {name: " name                             \
    ", labels: {kubernetes.io/hostname: " name ", topology.kubernetes.io/zone: " zone \
    "}}, status: {allocatable: {cpu: " cpu ", memory: 8Gi, pods: 110}}}"
#define BOUND(volume) "{volumeName: " volume ", storageClassName: static}"
#define ON_HOST(source, name, more, host)                                                    \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name "}, spec: {capacity: " \
    "{storage: 1Gi}, storageClassName: static, accessModes: [ReadWriteOnce], " source        \
    ", nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [" more              \
    "{key: kubernetes.io/hostname, operator: In, values: [" host "]}]}]}}}}"
#define LOCAL(name, host) ON_HOST("local: {path: /d}", name, "", host)
#define STATIC                                                                       \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: static}, " \
    "provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}"
#define FREE_CLAIM(name) CLAIM(name, "{storageClassName: static, accessModes: [ReadWriteOnce]}")
#define RUNS(name, node, cpu)                                                         \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name "}, spec: {nodeName: " node  \
    ", containers: [{name: main, resources: {requests: {cpu: " cpu "}}}]}, status: {" \
    "phase: Running}}"

static void bound_volumes_hold_their_pods(void)
{
    static const struct simulation_case cases[] = {
        {"its node has room, and so has another, which Karpenter would look at first",
         {POOL, HOST("n1", "a", "8"), HOST("n2", "a", "4"), LOCAL("v1", "n2"),
          CLAIM("d1", BOUND("v1")), POD("one", "1", MOUNTS("d1"))},
         "node n2: one\n",
         0,
         0},
        {"its node is full: Karpenter counts it to the other, and buys nothing",
         {POOL, HOST("n1", "a", "8"), HOST("n2", "a", "4"), RUNS("other", "n2", "4"),
          LOCAL("v1", "n2"), CLAIM("d1", BOUND("v1")), POD("one", "1", MOUNTS("d1"))},
         "node n2: other!\nnowhere one: volume volume\n",
         0,
         0},
        {"which takes no room there from others",
         {POOL, HOST("n1", "a", "4"), HOST("n2", "a", "4"), RUNS("other", "n2", "4"),
          LOCAL("v1", "n2"), CLAIM("d1", BOUND("v1")), POD("one", "3", MOUNTS("d1")),
          POD("two", "2", "")},
         "node n1: two\nnode n2: other!\ndefault large on-demand a 2: (in vain one)\n"
         "nowhere one: volume volume volume\n",
         0,
         0},
        {"no node has room: Karpenter buys one, once, and the pod cannot run on it",
         {POOL, HOST("n1", "a", "1"), LOCAL("v1", "n1"), CLAIM("d1", BOUND("v1")),
          POD("one", "1500m", MOUNTS("d1"))},
         "default small on-demand a 1: (in vain one)\nnowhere one: resources volume volume\n",
         0,
         0},
        {"in one round, too",
         {POOL, HOST("n1", "a", "1"), LOCAL("v1", "n1"), CLAIM("d1", BOUND("v1")),
          POD("one", "1500m", MOUNTS("d1"))},
         "default small on-demand a 1: (in vain one)\nnowhere one: resources volume volume\n",
         1,
         0},
        {"its node is gone",
         {POOL, LOCAL("v1", "gone"), CLAIM("d1", BOUND("v1")), POD("one", "1", MOUNTS("d1"))},
         "default small on-demand a 1: (in vain one)\nnowhere one: volume volume\n",
         0,
         0},
        {"a folder of a node is no other",
         {POOL, ON_HOST("hostPath: {path: /d}", "v1", "", "gone"), CLAIM("d1", BOUND("v1")),
          POD("one", "1", MOUNTS("d1"))},
         "default small on-demand a 1: (in vain one)\nnowhere one: volume volume\n",
         0,
         0},
        {"what else is said of the volume Karpenter looks at",
         {POOL,
          ON_HOST("local: {path: /d}", "v1",
                  "{key: topology.kubernetes.io/zone, operator: In, values: [b]}, ", "gone"),
          CLAIM("d1", BOUND("v1")), POD("one", "1", MOUNTS("d1"))},
         "default small on-demand b 1: (in vain one)\nnowhere one: volume volume\n",
         0,
         0},
        {"a node that is bought for it takes others, and is as large as both need",
         {POOL, LOCAL("v1", "gone"), CLAIM("d1", BOUND("v1")), POD("one", "4", MOUNTS("d1")),
          POD("two", "3", "")},
         "default large on-demand a 1: two (in vain one)\nnowhere one: volume volume\n",
         0,
         0},
        {"several may be bought in vain, and one for several",
         {POOL, LOCAL("v1", "gone"), LOCAL("v2", "lost"), LOCAL("v3", "gone"),
          CLAIM("d1", BOUND("v1")), CLAIM("d2", BOUND("v2")), CLAIM("d3", BOUND("v3")),
          POD("one", "4", MOUNTS("d1")), POD("three", "3", MOUNTS("d3")),
          POD("two", "5", MOUNTS("d2"))},
         "default large on-demand a 1: (in vain two)\n"
         "default large on-demand a 1: (in vain one three)\n"
         "nowhere one: volume volume\nnowhere three: volume volume\nnowhere two: volume volume\n",
         0,
         0},
        {"what it would rather have does not keep it from its node",
         {POOL, HOST("n1", "a", "4"), HOST("n2", "b", "4"), LOCAL("v1", "n1"),
          CLAIM("d1", BOUND("v1")),
          POD("one", "1",
              MOUNTS("d1") ", affinity: {nodeAffinity: {"
                           "preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, "
                           "preference: {matchExpressions: [{key: topology.kubernetes.io/zone, "
                           "operator: In, values: [b]}]}}]}}")},
         "node n1: one\n",
         0,
         0},
        {"beside a disk that a driver made on a node Karpenter sees that nothing helps",
         {POOL, LOCAL("v1", "gone"), ON_HOST("csi: {driver: topolvm.io}", "v2", "", "gone"),
          CLAIM("d1", BOUND("v1")), CLAIM("d2", BOUND("v2")),
          POD("one", "1",
              ", volumes: [{name: a, persistentVolumeClaim: {claimName: d1}}, {name: b, "
              "persistentVolumeClaim: {claimName: d2}}]")},
         "nowhere one: volume\n",
         0,
         0},
        {"two volumes of two nodes",
         {POOL, HOST("n1", "a", "4"), HOST("n2", "a", "4"), LOCAL("v1", "n1"), LOCAL("v2", "n2"),
          CLAIM("d1", BOUND("v1")), CLAIM("d2", BOUND("v2")),
          POD("one", "1",
              ", volumes: [{name: a, persistentVolumeClaim: {claimName: d1}}, {name: b, "
              "persistentVolumeClaim: {claimName: d2}}]")},
         "nowhere one: volume volume\n",
         0,
         0},
        {"a volume that is on all nodes but one is no hindrance",
         {POOL,
          "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v1}, spec: {capacity: "
          "{storage: 1Gi}, local: {path: /d}, nodeAffinity: {required: {nodeSelectorTerms: "
          "[{matchExpressions: [{key: kubernetes.io/hostname, operator: NotIn, values: "
          "[n1]}]}]}}}}",
          CLAIM("d1", BOUND("v1")), POD("one", "1", MOUNTS("d1"))},
         "default small on-demand a 1: one\n",
         0,
         0},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

static void free_volumes_are_offered_on_their_nodes(void)
{
    static const struct simulation_case cases[] = {
        {"a claim that waits goes where a volume is",
         {POOL, STATIC, HOST("n1", "a", "8"), HOST("n2", "a", "4"), LOCAL("v1", "n2"),
          FREE_CLAIM("d1"), POD("one", "1", MOUNTS("d1"))},
         "node n2: one\n",
         0,
         0},
        {"each volume is for one",
         {POOL, STATIC, HOST("n1", "a", "8"), HOST("n2", "a", "4"), LOCAL("v1", "n2"),
          LOCAL("v2", "n1"), FREE_CLAIM("d1"), FREE_CLAIM("d2"), POD("one", "1", MOUNTS("d1")),
          POD("two", "1", MOUNTS("d2"))},
         "node n1: one\nnode n2: two\n",
         0,
         0},
        {"and where there are none left, no pod has a place",
         {POOL, STATIC, HOST("n1", "a", "8"), LOCAL("v1", "n1"), FREE_CLAIM("d1"), FREE_CLAIM("d2"),
          POD("one", "1", MOUNTS("d1")), POD("two", "1", MOUNTS("d2"))},
         "node n1: one\nnowhere two: volume\n",
         0,
         0},
        {"their nodes are full",
         {POOL, STATIC, HOST("n1", "a", "1"), RUNS("other", "n1", "1"), LOCAL("v1", "n1"),
          FREE_CLAIM("d1"), POD("one", "1", MOUNTS("d1"))},
         "node n1: other!\ndefault small on-demand a 1: (in vain one)\n"
         "nowhere one: resources volume volume\n",
         0,
         0},
        {"one that a driver can make besides",
         {POOL, CLASS("static", "WaitForFirstConsumer", ""), LOCAL("v1", "gone"), FREE_CLAIM("d1"),
          POD("one", "1", MOUNTS("d1"))},
         "default small on-demand a 1: one\n",
         0,
         0},
    };
    fixture_run_cases(cases, COUNT_OF(cases));
}

const struct unit_test unit_tests[] = {
    {"bound volumes hold their pods", bound_volumes_hold_their_pods},
    {"free volumes are offered on their nodes", free_volumes_are_offered_on_their_nodes},
    {NULL, NULL},
};
