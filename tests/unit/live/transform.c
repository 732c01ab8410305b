/* Which fields of an object are stored, and what objects share. */
#include <stdio.h>
#include <stdlib.h>

#include "dump.h"
#include "live/stored.h"
#include "unit.h"

const char unit_suite[] = "kube kept";

static struct arena *arena;
static struct shared_trees trees;

static void begin(void)
{
    arena = arena_create(8 << 20);
    trees = (struct shared_trees){0};
}

static void end(void)
{
    ASSERT_INT(trees.count, 0);
    for (size_t kind = 0; kind < KIND_COUNT; kind++)
        ASSERT_INT(trees.size_bytes[kind], 0);
    shared_trees_destroy(&trees);
    arena_destroy(arena);
}

static struct stored *keep(const char *json)
{
    struct source source = {.text = text_of(json)};
    struct problems duplicates = {.arena = arena};
    const struct node *root = NULL;
    struct object object;
    struct error error = {0};
    if (!doc_read_json(&source, &doc_limits_review, &duplicates, arena, &root, &error) ||
        !object_read(root, &source, TEXT("shop"), arena, &object, &error)) {
        fprintf(stderr, "%s\n%s\n", json, error.what);
        CU_FAIL_FATAL("the test's object is none");
    }
    struct stored *kept = stored_create(&object, &trees);
    CU_ASSERT_PTR_NOT_NULL_FATAL(kept);
    return kept;
}

/* Of templates what rails judge. */
#define TEMPLATE                                                                                  \
    "\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"},\"annotations\":{\"x\":\"y\","          \
    "\"karpenter.sh/do-not-disrupt\":\"true\"}},\"spec\":{\"schedulerName\":\"s\","               \
    "\"serviceAccountName\":\"a\",\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":" \
    "{\"limits\":{\"cpu\":\"1\"}}}],\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}]}}"
#define KEPT_TEMPLATE                                                                              \
    "\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"},\"annotations\":{"                       \
    "\"karpenter.sh/do-not-disrupt\":\"true\"}},\"spec\":{\"schedulerName\":\"s\","                \
    "\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"cpu\":\"1\"}}}],\"volumes\":[]}" \
    "}"
#define HEAD(group, kind) \
    "{\"apiVersion\":\"" group "v1\",\"kind\":\"" kind "\",\"metadata\":{\"name\":\"n\"},"
/* Of an object without apiVersion and kind. */
#define SAME(group, kind, rest) \
    "{\"apiVersion\":\"" group "v1\",\"kind\":\"" kind "\"," rest, "{" rest

static const struct {
    const char *object, *kept;
} cases[] = {
    {HEAD("", "Pod") "\"spec\":{\"schedulerName\":\"fargate-scheduler\"},\"status\":{"
                     "\"nominatedNodeName\":\"n1\"}}",
     "{\"metadata\":{},\"spec\":{\"schedulerName\":\"fargate-scheduler\"},\"status\":{"
     "\"nominatedNodeName\":\"n1\"}}"},
    {HEAD("", "Pod") "\"spec\":{\"schedulerName\":\"default-scheduler\",\"nodeName\":\"n1\"}}",
     "{\"metadata\":{},\"spec\":{\"nodeName\":\"n1\"}}"},
    {HEAD("apps/", "Deployment") "\"spec\":{\"replicas\":3,\"selector\":{\"matchLabels\":{\"a\":"
                                 "\"b\"}},\"strategy\":{}," TEMPLATE
                                 "},\"status\":{\"replicas\":3,\"readyReplicas\":2,"
                                 "\"updatedReplicas\":1}}",
     "{\"metadata\":{},\"spec\":{\"replicas\":3,\"selector\":{\"matchLabels\":{\"a\":\"b\"}}"
     "," KEPT_TEMPLATE "},\"status\":{\"replicas\":3,\"updatedReplicas\":1}}"},
    {HEAD("apps/", "ReplicaSet") "\"spec\":{\"replicas\":3," TEMPLATE "}}",
     "{\"metadata\":{},\"spec\":{\"replicas\":3," KEPT_TEMPLATE "}}"},
    {HEAD("", "ReplicationController") "\"spec\":{\"replicas\":3,\"selector\":{\"a\":\"b\"}}}",
     "{\"metadata\":{},\"spec\":{\"replicas\":3,\"selector\":{\"a\":\"b\"}}}"},
    {HEAD("batch/", "Job") "\"spec\":{\"parallelism\":2,\"completions\":4,"
                           "\"activeDeadlineSeconds\":60,\"suspend\":true,"
                           "\"selector\":{}},\"status\":{\"succeeded\":1,\"failed\":2,"
                           "\"conditions\":[{\"type\":\"Suspended\",\"status\":\"True\"},{\"type\":"
                           "\"Failed\",\"status\":\"True\",\"message\":\"m\"},{\"type\":"
                           "\"Complete\",\"status\":\"False\"}]}}",
     "{\"metadata\":{},\"spec\":{\"parallelism\":2,\"completions\":4,\"activeDeadlineSeconds\":60,"
     "\"suspend\":true,\"selector\":"
     "{}},\"status\":{\"succeeded\":1,\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\"},{"
     "\"type\":\"Complete\",\"status\":\"False\"}]}}"},
    {HEAD("batch/",
          "CronJob") "\"spec\":{\"schedule\":\"@daily\",\"suspend\":true,"
                     "\"jobTemplate\":{\"metadata\":{},\"spec\":{\"parallelism\":2,"
                     "\"completions\":4," TEMPLATE "}}},\"status\":{\"lastScheduleTime\":"
                     "\"t\",\"active\":[{\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"u\"}]}}",
     "{\"metadata\":{},\"spec\":{\"suspend\":true,\"jobTemplate\":{\"spec\":{\"parallelism\":2,"
     "\"completions\":4," KEPT_TEMPLATE "}}},\"status\":{\"active\":[{\"name\":\"j\",\"uid\":"
     "\"u\"}]}}"},
    /* What is kept of them whole. */
    {SAME("", "Pod",
          "\"metadata\":{\"labels\":{\"l\":\"1\"},\"annotations\":{\"kubernetes.io/config.mirror\":"
          "\"x\",\"karpenter.sh/do-not-disrupt\":\"true\"}},\"spec\":{\"nodeName\":\"n\","
          "\"schedulingGates\":[{\"name\":\"g\"}],\"nodeSelector\":{\"a\":\"b\"},\"affinity\":{"
          "\"nodeAffinity\":{}},\"topologySpreadConstraints\":[{\"maxSkew\":1}],\"tolerations\":[{"
          "\"key\":\"k\"}],\"containers\":[{\"name\":\"c\",\"resources\":{\"claims\":[{\"name\":"
          "\"d\"}]},\"restartPolicy\":\"Always\",\"ports\":[{\"hostPort\":1,\"containerPort\":2,"
          "\"hostIP\":\"1.2.3.4\",\"protocol\":\"UDP\"}]}],\"initContainers\":[{\"name\":\"i\"}],"
          "\"resources\":{\"limits\":{\"cpu\":\"1\"}},\"overhead\":{\"cpu\":\"1m\"},"
          "\"hostNetwork\":true,\"resourceClaims\":[{\"name\":\"d\"}],\"volumes\":[{\"name\":\"v\","
          "\"ephemeral\":{\"volumeClaimTemplate\":{\"metadata\":{\"name\":\"t\",\"annotations\":{"
          "\"volume.beta.kubernetes.io/storage-class\":\"s\"}},\"spec\":{\"storageClassName\":"
          "\"s\"}}}}]},\"status\":{\"phase\":\"Running\",\"containerStatuses\":[{\"name\":\"c\","
          "\"resources\":{\"requests\":{\"cpu\":\"1\"}},\"allocatedResources\":{\"cpu\":\"2\"}}],"
          "\"initContainerStatuses\":[{\"name\":\"i\",\"allocatedResources\":{}}]}}")},
    {SAME("apps/", "StatefulSet",
          "\"metadata\":{},\"spec\":{\"replicas\":2,\"selector\":{},\"ordinals\":{\"start\":1},"
          "\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"tolerations\":[]}},"
          "\"volumeClaimTemplates\":[{\"metadata\":{\"name\":\"t\"},\"spec\":{\"volumeMode\":"
          "\"Block\"}}]}}")},
    {SAME("apps/", "DaemonSet",
          "\"metadata\":{},\"spec\":{\"selector\":{},\"template\":{\"spec\":{\"overhead\":{}}}}}")},
    {SAME("", "PersistentVolumeClaim",
          "\"metadata\":{\"annotations\":{\"volume.beta.kubernetes.io/storage-class\":\"s\","
          "\"pv.kubernetes.io/bind-completed\":\"yes\",\"volume.kubernetes.io/selected-node\":"
          "\"n\"}},\"spec\":{\"volumeName\":\"v\",\"storageClassName\":\"s\",\"accessModes\":["
          "\"ReadWriteOnce\"],\"volumeMode\":\"Block\",\"selector\":{\"matchLabels\":{}},"
          "\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}},\"status\":{\"phase\":\"Lost\"}}")},
    {SAME(
        "", "PersistentVolume",
        "\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"storageClassName\":\"s\","
        "\"accessModes\":[\"ReadWriteOnce\"],\"volumeMode\":\"Block\",\"nodeAffinity\":{"
        "\"required\":{}},\"capacity\":{\"storage\":\"1Gi\"},\"claimRef\":{\"namespace\":\"n\","
        "\"name\":\"c\",\"uid\":\"u\"},\"csi\":{\"driver\":\"d\"},\"awsElasticBlockStore\":{},"
        "\"local\":{},\"hostPath\":{},\"nfs\":{},\"cephfs\":{},\"azureFile\":{},\"glusterfs\":{}},"
        "\"status\":{\"phase\":\"Bound\"}}")},
    {SAME("storage.k8s.io/", "StorageClass",
          "\"metadata\":{\"annotations\":{\"storageclass.kubernetes.io/is-default-class\":\"true\","
          "\"storageclass.beta.kubernetes.io/is-default-class\":\"true\"}},\"provisioner\":\"p\","
          "\"volumeBindingMode\":\"Immediate\",\"allowedTopologies\":[{}],\"parameters\":{\"a\":"
          "\"b\"}}")},
    {SAME("", "Node",
          "\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"providerID\":\"p\","
          "\"unschedulable\":true,\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":"
          "\"NoSchedule\"}]},\"status\":{\"capacity\":{\"cpu\":\"2\"},\"allocatable\":{\"cpu\":"
          "\"1\"}}}")},
    {SAME("karpenter.sh/", "NodeClaim",
          "\"metadata\":{},\"spec\":{\"taints\":[{\"key\":\"k\"}],\"startupTaints\":[{\"key\":"
          "\"k\"}]},\"status\":{\"nodeName\":\"n\",\"providerID\":\"p\",\"capacity\":{},"
          "\"allocatable\":{}}}")},
    {SAME("karpenter.sh/", "NodePool",
          "\"metadata\":{},\"spec\":{\"weight\":1,\"replicas\":2,\"limits\":{\"cpu\":\"1\"},"
          "\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"requirements\":[{}],"
          "\"taints\":[{}],\"startupTaints\":[{}],\"nodeClassRef\":{\"name\":\"n\"}}}},\"status\":{"
          "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"r\"}]}}")},
    {SAME("storage.k8s.io/", "CSINode",
          "\"metadata\":{},\"spec\":{\"drivers\":[{\"name\":\"d\",\"allocatable\":{\"count\":"
          "1}}]}}")},
    {SAME("karpenter.k8s.aws/", "EC2NodeClass",
          "\"metadata\":{},\"spec\":{\"amiFamily\":\"AL2023\",\"amiSelectorTerms\":[{\"alias\":"
          "\"al2023@latest\"}],\"blockDeviceMappings\":[{}],\"instanceStorePolicy\":\"RAID0\","
          "\"kubelet\":{\"maxPods\":1},\"capacityReservationSelectorTerms\":[{}]},\"status\":{"
          "\"subnets\":[{\"zone\":\"a\",\"zoneID\":\"1\"}],\"capacityReservations\":[{\"id\":"
          "\"r\"}]}}")},
    {SAME("", "LimitRange", "\"metadata\":{},\"spec\":{\"limits\":[{\"type\":\"Pod\"}]}}")},
    {SAME("policy/", "PodDisruptionBudget",
          "\"metadata\":{},\"spec\":{\"selector\":{},\"minAvailable\":1,\"maxUnavailable\":1}}")},
    /* Of lists only the items that are read. */
    {HEAD("",
          "Pod") "\"spec\":{\"volumes\":[{\"name\":\"t\",\"projected\":{}},{\"name\":\"d\","
                 "\"persistentVolumeClaim\":{\"claimName\":\"c\",\"readOnly\":false}}]},"
                 "\"status\":{\"phase\":\"Running\",\"podIP\":\"1.2.3.4\",\"conditions\":[{"
                 "\"type\":\"Ready\"},{\"type\":\"PodResizePending\",\"reason\":\"Deferred\"}]}}",
     "{\"metadata\":{},\"spec\":{\"volumes\":[{\"name\":\"d\",\"persistentVolumeClaim\":{"
     "\"claimName\":\"c\"}}]},\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":"
     "\"PodResizePending\",\"reason\":\"Deferred\"}]}}"},
    /* What is of another type than it should be stays so. */
    {HEAD("", "Pod") "\"spec\":{\"volumes\":\"none\",\"containers\":[1,null,[{\"name\":\"c\","
                     "\"image\":\"i\"}]],\"affinity\":null},\"status\":[]}",
     "{\"metadata\":{},\"spec\":{\"volumes\":\"none\",\"containers\":[1,null,[{\"name\":\"c\"}]],"
     "\"affinity\":null},\"status\":[]}"},
};

static void only_what_is_read_is_kept(void)
{
    begin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stored *kept = keep(cases[i].object);
        ASSERT_TEXT(dump(arena, kept->object.root->node), cases[i].kept);
        CU_ASSERT_PTR_NULL(kept->object.source);
        stored_destroy(kept, &trees);
    }
    end();
}

#define POD(name, label, containers)                                                           \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name                   \
    "\",\"uid\":\"u-" name "\",\"labels\":{\"is\":\"" label "\"}},\"spec\":{\"containers\":[{" \
    "\"name\":\"" containers "\",\"resources\":{\"limits\":{\"memory\":\"1Gi\"}}}]}}"

static const struct node *containers_of(const struct stored *kept)
{
    return node_at(kept->object.root->node, "spec.containers");
}

static void what_is_alike_is_there_once(void)
{
    begin();
    struct stored *a = keep(POD("a", "1", "same"));
    struct stored *b = keep(POD("b", "2", "same"));
    struct stored *c = keep(POD("c", "2", "other"));
    CU_ASSERT_PTR_EQUAL(containers_of(a)->items, containers_of(b)->items);
    CU_ASSERT(containers_of(a)->items != containers_of(c)->items);
    CU_ASSERT_PTR_EQUAL(b->object.labels->members, c->object.labels->members);
    ASSERT_INT(trees.count, 4);
    CU_ASSERT(trees.size_bytes[KIND_POD] > 0);
    stored_destroy(a, &trees);
    stored_destroy(c, &trees);
    ASSERT_TEXT(node_string(node_get(node_item(containers_of(b), 0), "name")), "same");
    ASSERT_INT(trees.count, 2);
    stored_destroy(b, &trees);
    end();
}

static void many_trees_are_found_again(void)
{
    enum { MANY = 500 };
    static struct stored *kept[2][MANY];
    begin();
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < MANY; i++)
            kept[round][i] = keep(arena_printf(arena,
                                               "{\"apiVersion\":\"v1\",\"kind\":\"Pod\","
                                               "\"metadata\":{\"name\":\"p\",\"labels\":{"
                                               "\"is\":\"%d\"}}}",
                                               i)
                                      .data);
    ASSERT_INT(trees.count, MANY);
    for (int i = 0; i < MANY; i++) {
        CU_ASSERT(stored_equal(kept[0][i], kept[1][i]));
        CU_ASSERT(!stored_equal(kept[0][i], kept[1][(i + 1) % MANY]));
        stored_destroy(kept[0][i], &trees);
    }
    ASSERT_INT(trees.count, MANY);
    for (int i = 0; i < MANY; i++)
        stored_destroy(kept[1][i], &trees);
    end();
}

static void every_field_of_an_object_tells_it_apart(void)
{
    static const char *const objects[] = {
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\"}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"namespace\":\"x\"}"
        "}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"uid\":\"u\"}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"generateName\":"
        "\"g\"}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\","
        "\"deletionTimestamp\":"
        "\"2026-01-01T00:00:00Z\"}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\","
        "\"creationTimestamp\":"
        "\"2026-01-01T00:00:00Z\"}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"labels\":{}}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"ownerReferences\":["
        "{"
        "\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"name\":\"s\",\"uid\":\"1\","
        "\"controller\":true}]}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"ownerReferences\":["
        "{"
        "\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"name\":\"s\",\"uid\":\"2\","
        "\"controller\":true}]}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"},\"spec\":{"
        "\"hostNetwork\":true}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"},\"spec\":{"
        "\"hostNetwork\":false}}",
    };
    enum { COUNT = sizeof objects / sizeof *objects };
    begin();
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < COUNT; j++) {
            struct stored *a = keep(objects[i]);
            struct stored *b = keep(objects[j]);
            CU_ASSERT(stored_equal(a, b) == (i == j));
            stored_destroy(a, &trees);
            stored_destroy(b, &trees);
        }
    end();
}

const struct unit_test unit_tests[] = {
    {"only what is read is kept", only_what_is_read_is_kept},
    {"what is alike is there once", what_is_alike_is_there_once},
    {"many trees are found again", many_trees_are_found_again},
    {"every field of an object tells it apart", every_field_of_an_object_tells_it_apart},
    {NULL, NULL},
};
