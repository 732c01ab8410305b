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

#define IN_ZONE(zone) "{key: topology.kubernetes.io/zone, operator: In, values: [" zone "]}, "
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution: "
#define POOL_OF_SMALL                                                                           \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}, spec: {"          \
    "template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: " \
    "[on-demand]}, {key: node.kubernetes.io/instance-type, operator: In, values: [small]}]}}}}"

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
         {POOL, ON_HOST("local: {path: /d}", "v1", IN_ZONE("b"), "gone"), CLAIM("d1", BOUND("v1")),
          POD("one", "1", MOUNTS("d1"))},
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
        {"its node is its place later, when a pod that it must be near is there",
         {POOL, HOST("n1", "b", "4"), HOST("n2", "a", "8"), LOCAL("v1", "n1"),
          CLAIM("d1", BOUND("v1")),
          "{apiVersion: v1, kind: Pod, metadata: {name: near, labels: {app: peer}}, spec: "
          "{nodeName: n2, containers: [{name: main}]}, status: {phase: Running}}",
          POD("one", "2",
              MOUNTS("d1") ", affinity: {podAffinity: {" REQUIRED
                           "[{topologyKey: topology.kubernetes.io/zone, labelSelector: "
                           "{matchLabels: {app: peer}}}]}}"),
          "{apiVersion: v1, kind: Pod, metadata: {name: two, labels: {app: peer}}, spec: " POD_SPEC(
              "1", ", nodeSelector: {topology.kubernetes.io/zone: b}") "}"},
         "node n1: one two\nnode n2: near!\n",
         0,
         0},
        {"where nothing is large enough, nothing is bought",
         {POOL, LOCAL("v1", "gone"), CLAIM("d1", BOUND("v1")), POD("one", "64", MOUNTS("d1"))},
         "nowhere one: resources\n",
         0,
         0},
        {"nor for a pod that wants to be near one that is not there",
         {POOL, LOCAL("v1", "gone"), CLAIM("d1", BOUND("v1")),
          POD("one", "1",
              MOUNTS("d1") ", affinity: {podAffinity: {" REQUIRED
                           "[{topologyKey: topology.kubernetes.io/zone, labelSelector: "
                           "{matchLabels: {app: peer}}}]}}")},
         "nowhere one: topology\n",
         0,
         0},
        {"nor where Karpenter expects it on a node whose host port a sidecar has",
         {POOL, HOST("n1", "a", "4"), LOCAL("v1", "gone"), CLAIM("d1", BOUND("v1")),
          "{apiVersion: v1, kind: Pod, metadata: {name: other}, spec: {nodeName: n1, "
          "initContainers: [{name: proxy, restartPolicy: Always, ports: [{containerPort: 7000, "
          "hostPort: 7000}]}], containers: [{name: main}]}, status: {phase: Running}}",
          "{apiVersion: v1, kind: Pod, metadata: {name: one}, spec: {containers: [{name: main, "
          "ports: [{containerPort: 7000, hostPort: 7000}]}]" MOUNTS("d1") "}}"},
         "node n1: other!\nnowhere one: volume volume\n",
         0,
         0},
        {"others may take what was bought in vain, and it is not bought again",
         {POOL_OF_SMALL, ON_HOST("local: {path: /d}", "v1", IN_ZONE("b"), "gone"),
          CLAIM("d1", BOUND("v1")), CLASS("gp3", "WaitForFirstConsumer", ""),
          CLAIM("d2", "{storageClassName: gp3}"), POD("one", "1500m", MOUNTS("d1")),
          POD("two", "1800m", MOUNTS("d2") ", nodeSelector: {topology.kubernetes.io/zone: b}"),
          POD("three", "1", MOUNTS("d2"))},
         "default small on-demand b 1: two\ndefault small on-demand b 1: three (in vain one)\n"
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
        {"terms that differ in their hosts are one, and others are others",
         {POOL, STATIC, HOST("n2", "a", "4"),
          ON_HOST("local: {path: /d}", "v1", IN_ZONE("a"), "n1"),
          ON_HOST("local: {path: /d}", "v2", IN_ZONE("a"), "n2"),
          ON_HOST("local: {path: /d}", "v3", IN_ZONE("b"), "n3"), LOCAL("v4", "n4"),
          "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v5}, spec: {capacity: "
          "{storage: 1Gi}, storageClassName: static, accessModes: [ReadWriteOnce], local: {path: "
          "/d}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "
          "kubernetes.io/hostname, operator: In, values: [n5]}, {key: "
          "topology.kubernetes.io/zone, operator: In, values: [a]}]}]}}}}",
          ON_HOST("local: {path: /d}", "v6", IN_ZONE("a"), "n6"), FREE_CLAIM("d1"),
          POD("one", "1", MOUNTS("d1"))},
         "node n2: one\n",
         0,
         0},
        {"terms that name no host, or name it twice",
         {POOL, STATIC, HOST("n1", "a", "4"),
          ON_HOST("local: {path: /d}", "v1",
                  "{key: kubernetes.io/hostname, operator: In, values: [n1, n2]}, ", "n1"),
          "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v2}, spec: {capacity: "
          "{storage: 1Gi}, storageClassName: static, accessModes: [ReadWriteOnce], local: {path: "
          "/d}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "
          "kubernetes.io/hostname, operator: NotIn, values: [n1]}]}]}}}}",
          FREE_CLAIM("d1"), FREE_CLAIM("d2"), POD("one", "3", MOUNTS("d1")),
          POD("two", "1500m", MOUNTS("d2"))},
         "node n1: one\ndefault small on-demand a 1: two\n",
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
