/* The cluster of the bench of pins, as JSON objects. */
#include "pin_cluster.h"

#include <stdio.h>

enum { NAMESPACES = 50, ZONES = 3 };

static const char *const zones[ZONES] = {"us-east-1a", "us-east-1b", "us-east-1c"};

struct making {
    struct arena *arena;
    void (*put)(void *context, struct text json);
    void *context;
    size_t claims;
};
#define PUT(making, ...) \
    (making)->put((making)->context, arena_printf((making)->arena, __VA_ARGS__))

/* ---- nodes ---- */

struct text pin_node(struct arena *arena, size_t node, bool cordoned)
{
    return arena_printf(
        arena,
        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"ip-10-0-%zu-%zu\","
        "\"uid\":\"node-%zu\",\"creationTimestamp\":\"2026-11-01T10:00:00Z\",\"labels\":{"
        "\"beta.kubernetes.io/arch\":\"amd64\",\"beta.kubernetes.io/instance-type\":\"m5.4xlarge\","
        "\"beta.kubernetes.io/os\":\"linux\",\"failure-domain.beta.kubernetes.io/region\":"
        "\"us-east-1\",\"failure-domain.beta.kubernetes.io/zone\":\"%s\","
        "\"karpenter.k8s.aws/instance-category\":\"m\",\"karpenter.k8s.aws/instance-cpu\":\"16\","
        "\"karpenter.k8s.aws/instance-family\":\"m5\",\"karpenter.k8s.aws/instance-size\":"
        "\"4xlarge\",\"karpenter.sh/capacity-type\":\"on-demand\",\"karpenter.sh/initialized\":"
        "\"true\",\"karpenter.sh/nodepool\":\"general\",\"karpenter.sh/registered\":\"true\","
        "\"kubernetes.io/arch\":\"amd64\",\"kubernetes.io/hostname\":\"ip-10-0-%zu-%zu\","
        "\"kubernetes.io/os\":\"linux\",\"node.kubernetes.io/instance-type\":\"m5.4xlarge\","
        "\"topology.ebs.csi.aws.com/zone\":\"%s\",\"topology.kubernetes.io/region\":\"us-east-1\","
        "\"topology.kubernetes.io/zone\":\"%s\"}},\"spec\":{\"providerID\":\"aws:///%s/i-%zu\"%s},"
        "\"status\":{\"capacity\":{\"cpu\":\"16\",\"ephemeral-storage\":\"83873772Ki\",\"memory\":"
        "\"64028052Ki\",\"pods\":\"110\"},\"allocatable\":{\"cpu\":\"15890m\","
        "\"ephemeral-storage\":\"76224326324\",\"memory\":\"61011348Ki\",\"pods\":\"110\"},"
        "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"KubeletReady\"}]}}",
        node / 250, node % 250, node, zones[node % ZONES], node / 250, node % 250,
        zones[node % ZONES], zones[node % ZONES], zones[node % ZONES], node,
        cordoned ? ",\"unschedulable\":true" : "");
}

static void put_nodes(const struct making *making)
{
    for (size_t i = 0; i < PIN_NODES; i++) {
        making->put(making->context, pin_node(making->arena, i, false));
        PUT(making,
            "{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodeClaim\",\"metadata\":{\"name\":"
            "\"general-%05zu\",\"labels\":{\"karpenter.sh/nodepool\":\"general\"}},\"spec\":{},"
            "\"status\":{\"nodeName\":\"ip-10-0-%zu-%zu\",\"providerID\":\"aws:///%s/i-%zu\"}}",
            i, i / 250, i % 250, zones[i % ZONES], i);
        PUT(making,
            "{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"CSINode\",\"metadata\":{\"name\":"
            "\"ip-10-0-%zu-%zu\"},\"spec\":{\"drivers\":[{\"name\":\"ebs.csi.aws.com\",\"nodeID\":"
            "\"i-%zu\",\"allocatable\":{\"count\":25}}]}}",
            i / 250, i % 250, i);
    }
}

static void put_supply(const struct making *making)
{
    static const char *const sizes[] = {"general", "batch", "memory"};
    for (size_t i = 0; i < 3; i++)
        PUT(making,
            "{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodePool\",\"metadata\":{\"name\":"
            "\"%s\"},\"spec\":{\"weight\":%zu,\"limits\":{\"cpu\":\"40000\"},\"template\":{"
            "\"metadata\":{\"labels\":{\"team\":\"%s\"}},\"spec\":{\"nodeClassRef\":{\"group\":"
            "\"karpenter.k8s.aws\",\"kind\":\"EC2NodeClass\",\"name\":\"default\"},"
            "\"requirements\":[{\"key\":\"karpenter.k8s.aws/instance-category\",\"operator\":"
            "\"In\",\"values\":[\"%s\"]},{\"key\":\"karpenter.sh/capacity-type\",\"operator\":"
            "\"In\",\"values\":[\"on-demand\"]}]}}}}",
            sizes[i], 10 - i, sizes[i],
            i == 0   ? "m"
            : i == 1 ? "c"
                     : "r");
    PUT(making,
        "{\"apiVersion\":\"karpenter.k8s.aws/v1\",\"kind\":\"EC2NodeClass\",\"metadata\":{\"name\":"
        "\"default\"},\"status\":{\"subnets\":[{\"id\":\"s-1\",\"zone\":\"us-east-1a\"},{\"id\":"
        "\"s-2\",\"zone\":\"us-east-1b\"},{\"id\":\"s-3\",\"zone\":\"us-east-1c\"}]}}");
    PUT(making,
        "{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"StorageClass\",\"metadata\":{\"name\":"
        "\"gp3\"},\"provisioner\":\"ebs.csi.aws.com\",\"volumeBindingMode\":"
        "\"WaitForFirstConsumer\"}");
    for (size_t i = 0; i < NAMESPACES; i++)
        PUT(making,
            "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"team-%zu\","
            "\"labels\":{\"kubernetes.io/metadata.name\":\"team-%zu\",\"tier\":\"%zu\"}}}",
            i, i, i % 3);
}

/* ---- pods ---- */

/* What a pod looks like after it was stored, but for its volumes and how it chooses a node. */
#define CONTAINERS(cpu, memory)                                                                    \
    "\"containers\":[{\"name\":\"main\",\"image\":\"registry.example.com/team/app:1.42.0\","       \
    "\"env\":[{\"name\":\"LOG_LEVEL\",\"value\":\"info\"},{\"name\":\"POD_NAME\",\"valueFrom\":{"  \
    "\"fieldRef\":{\"fieldPath\":\"metadata.name\"}}}],\"ports\":[{\"containerPort\":8080,"        \
    "\"name\":\"http\",\"protocol\":\"TCP\"}],\"readinessProbe\":{\"httpGet\":{\"path\":"          \
    "\"/"                                                                                          \
    "ready\",\"port\":\"http\"},\"periodSeconds\":10},\"resources\":{\"requests\":{\"cpu\":\"" cpu \
    "\",\"memory\":\"" memory "\"},\"limits\":{\"memory\":\"" memory                               \
    "\"}},\"securityContext\":{\"allowPrivilegeEscalation\":false},\"volumeMounts\":[{"            \
    "\"mountPath\":\"/data\",\"name\":\"data\"}]}],\"restartPolicy\":\"Always\","                  \
    "\"schedulerName\":\"default-scheduler\",\"serviceAccountName\":\"app\","                      \
    "\"terminationGracePeriodSeconds\":30"
#define TOLERATIONS                                                                         \
    "\"tolerations\":[{\"effect\":\"NoExecute\",\"key\":\"node.kubernetes.io/not-ready\","  \
    "\"operator\":\"Exists\",\"tolerationSeconds\":300},{\"effect\":\"NoExecute\",\"key\":" \
    "\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\",\"tolerationSeconds\":300}]"

static struct text node_name(struct arena *arena, size_t node)
{
    return node == PIN_NODES
               ? TEXT("")
               : arena_printf(arena, ",\"nodeName\":\"ip-10-0-%zu-%zu\"", node / 250, node % 250);
}

/* How the pods of a set choose their nodes. */
static struct text placement_of_set(struct arena *arena, size_t set)
{
    switch (set % 4) {
    case 1:
        return arena_printf(arena,
                            ",\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":"
                            "\"topology.kubernetes.io/zone\",\"whenUnsatisfiable\":"
                            "\"DoNotSchedule\",\"labelSelector\":{\"matchLabels\":{\"app\":"
                            "\"set-%zu\"}}}]",
                            set);
    case 2:
        return arena_printf(arena,
                            ",\"affinity\":{\"podAntiAffinity\":{"
                            "\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"topologyKey\":"
                            "\"kubernetes.io/hostname\",\"labelSelector\":{\"matchLabels\":{"
                            "\"app\":\"set-%zu\"}}}]}}",
                            set);
    case 3:
        return TEXT(",\"affinity\":{\"nodeAffinity\":{"
                    "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{"
                    "\"matchExpressions\":[{\"key\":\"topology.kubernetes.io/zone\",\"operator\":"
                    "\"In\",\"values\":[\"us-east-1a\",\"us-east-1b\"]}]}]}}}");
    default:
        return TEXT("");
    }
}

size_t pin_set_replicas(size_t set)
{
    return set == 0 ? PIN_LARGE_REPLICAS : PIN_SET_REPLICAS;
}

struct text pin_set_pod(struct arena *arena, size_t set, size_t ordinal, size_t node)
{
    struct text chosen = node_name(arena, node);
    struct text placement = placement_of_set(arena, set);
    return arena_printf(
        arena,
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"set-%zu-%zu\","
        "\"namespace\":\"team-%zu\",\"uid\":\"pod-%zu-%zu\",\"creationTimestamp\":"
        "\"2026-11-02T10:00:00Z\",\"labels\":{\"app\":\"set-%zu\",\"apps.kubernetes.io/pod-index\":"
        "\"%zu\",\"controller-revision-hash\":\"set-%zu-5d4f\","
        "\"statefulset.kubernetes.io/pod-name\":\"set-%zu-%zu\"},\"ownerReferences\":[{"
        "\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"name\":\"set-%zu\",\"uid\":"
        "\"set-%zu\",\"controller\":true}]},\"spec\":{" CONTAINERS(
            "500m",
            "2Gi") "," TOLERATIONS
                   ",\"volumes\":[{\"name\":\"data\",\"persistentVolumeClaim\":{\"claimName\":"
                   "\"data-set-%zu-%zu\"}}]%.*s%.*s},\"status\":{\"phase\":\"%s\"}}",
        set, ordinal, set % NAMESPACES, set, ordinal, set, ordinal, set, set, ordinal, set, set,
        set, ordinal, TEXT_ARGS(placement), TEXT_ARGS(chosen),
        node == PIN_NODES ? "Pending" : "Running");
}

struct text pin_deployment_pod(struct arena *arena, size_t deployment, size_t number, size_t node,
                               struct text claim, size_t follows)
{
    struct text chosen = node_name(arena, node);
    struct text volumes = TEXT("");
    struct text affinity = TEXT("");
    if (claim.size > 0)
        volumes = arena_printf(arena,
                               ",\"volumes\":[{\"name\":\"data\",\"persistentVolumeClaim\":{"
                               "\"claimName\":\"%.*s\"}}]",
                               TEXT_ARGS(claim));
    if (follows < PIN_SETS)
        affinity = arena_printf(arena,
                                ",\"affinity\":{\"podAffinity\":{"
                                "\"requiredDuringSchedulingIgnoredDuringExecution\":[{"
                                "\"topologyKey\":\"topology.kubernetes.io/zone\",\"namespaces\":["
                                "\"team-%zu\"],\"labelSelector\":{\"matchLabels\":{\"app\":"
                                "\"set-%zu\"}}}]}}",
                                follows % NAMESPACES, follows);
    return arena_printf(
        arena,
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-%zu-7d9-%zu\","
        "\"namespace\":\"team-%zu\",\"uid\":\"web-%zu-%zu\",\"creationTimestamp\":"
        "\"2026-11-03T10:00:00Z\",\"labels\":{\"app\":\"web-%zu\",\"pod-template-hash\":\"7d9\"},"
        "\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":"
        "\"web-%zu-7d9\",\"uid\":\"rs-%zu\",\"controller\":true}]},\"spec\":{" CONTAINERS(
            "250m", "512Mi") "," TOLERATIONS "%.*s%.*s%.*s},\"status\":{\"phase\":\"Running\"}}",
        deployment, number, deployment % NAMESPACES, deployment, number, deployment, deployment,
        deployment, TEXT_ARGS(volumes), TEXT_ARGS(affinity), TEXT_ARGS(chosen));
}

static void put_daemons(const struct making *making)
{
    for (size_t i = 0; i < PIN_DAEMONS; i++) {
        PUT(making,
            "{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\",\"metadata\":{\"name\":"
            "\"agent-%zu\",\"namespace\":\"kube-system\",\"uid\":\"ds-%zu\"},\"spec\":{\"template\""
            ":{\"metadata\":{\"labels\":{\"app\":\"agent-%zu\"}},\"spec\":{" CONTAINERS(
                "100m", "128Mi") ",\"tolerations\":[{\"operator\":\"Exists\"}]}}}}",
            i, i, i);
        for (size_t j = 0; j < PIN_NODES; j++)
            PUT(making,
                "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"agent-%zu-%zu\","
                "\"namespace\":\"kube-system\",\"uid\":\"agent-%zu-%zu\",\"labels\":{\"app\":"
                "\"agent-%zu\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":"
                "\"DaemonSet\",\"name\":\"agent-%zu\",\"uid\":\"ds-%zu\",\"controller\":true}]},"
                "\"spec\":{" CONTAINERS("100m",
                                        "128Mi") ",\"tolerations\":[{\"operator\":"
                                                 "\"Exists\"}],\"nodeName\":\"ip-10-0-%zu-%zu\"},"
                                                 "\"status\":{\"phase\":\"Running\"}}",
                i, j, i, j, i, i, i, j / 250, j % 250);
    }
}

/* ---- claims and volumes ---- */

static void put_volume(struct making *making, size_t namespace, struct text claim, size_t zone)
{
    making->claims++;
    PUT(making,
        "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\",\"metadata\":{\"name\":\"pv-%zu-%.*"
        "s\","
        "\"uid\":\"pv-%zu-%.*s\"},\"spec\":{\"capacity\":{\"storage\":\"20Gi\"},\"accessModes\":["
        "\"ReadWriteOnce\"],\"storageClassName\":\"gp3\",\"volumeMode\":\"Filesystem\",\"csi\":{"
        "\"driver\":\"ebs.csi.aws.com\",\"volumeHandle\":\"vol-%.*s\"},\"claimRef\":{\"namespace\":"
        "\"team-%zu\",\"name\":\"%.*s\",\"uid\":\"claim-%.*s\"},\"nodeAffinity\":{\"required\":{"
        "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"topology.kubernetes.io/zone\","
        "\"operator\":\"In\",\"values\":[\"%s\"]}]}]}}},\"status\":{\"phase\":\"Bound\"}}",
        namespace, TEXT_ARGS(claim), namespace, TEXT_ARGS(claim), TEXT_ARGS(claim), namespace,
        TEXT_ARGS(claim), TEXT_ARGS(claim), zones[zone]);
}

static struct text claim_json(struct arena *arena, size_t namespace, struct text name, bool bound)
{
    struct text volume = TEXT("");
    if (bound)
        volume = arena_printf(arena, ",\"volumeName\":\"pv-%zu-%.*s\"", namespace, TEXT_ARGS(name));
    return arena_printf(
        arena,
        "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":\"%.*s\","
        "\"namespace\":\"team-%zu\",\"uid\":\"claim-%.*s\",\"annotations\":{%s}},\"spec\":{"
        "\"accessModes\":[\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":\"20Gi\"}},"
        "\"storageClassName\":\"gp3\",\"volumeMode\":\"Filesystem\"%.*s},\"status\":{\"phase\":"
        "\"%s\"}}",
        TEXT_ARGS(name), namespace, TEXT_ARGS(name),
        bound ? "\"pv.kubernetes.io/bind-completed\":\"yes\"" : "", TEXT_ARGS(volume),
        bound ? "Bound" : "Pending");
}

struct text pin_set_claim(struct arena *arena, size_t set, size_t ordinal, bool bound)
{
    return claim_json(arena, set % NAMESPACES,
                      arena_printf(arena, "data-set-%zu-%zu", set, ordinal), bound);
}

/* ---- workloads ---- */

static void put_sets(struct making *making)
{
    struct arena *arena = making->arena;
    for (size_t i = 0; i < PIN_SETS; i++) {
        struct text placement = placement_of_set(arena, i);
        PUT(making,
            "{\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"metadata\":{\"name\":"
            "\"set-%zu\",\"namespace\":\"team-%zu\",\"uid\":\"set-%zu\"},\"spec\":{\"replicas\":"
            "%zu,\"serviceName\":\"set-%zu\",\"selector\":{\"matchLabels\":{\"app\":\"set-%zu\"}},"
            "\"template\":{\"metadata\":{\"labels\":{\"app\":\"set-%zu\"}},\"spec\":{" CONTAINERS(
                "500m", "2Gi") "%.*s}},\"volumeClaimTemplates\":[{\"metadata\":{\"name\":\"data\"},"
                               "\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],"
                               "\"storageClassName\":\"gp3\",\"resources\":{\"requests\":{"
                               "\"storage\":\"20Gi\"}}}}]}}",
            i, i % NAMESPACES, i, pin_set_replicas(i), i, i, i, TEXT_ARGS(placement));
        for (size_t j = 0; j < pin_set_replicas(i); j++) {
            size_t node = (i * 37 + j * 7) % PIN_NODES;
            if ((i == PIN_HALF_LARGE || i == PIN_HALF_SMALL) && j >= pin_set_replicas(i) / 2)
                break;
            making->put(making->context, pin_set_pod(arena, i, j, node));
            making->put(making->context, pin_set_claim(arena, i, j, true));
            put_volume(making, i % NAMESPACES, arena_printf(arena, "data-set-%zu-%zu", i, j),
                       node % ZONES);
        }
    }
}

static void put_deployments(struct making *making)
{
    struct arena *arena = making->arena;
    making->put(making->context, claim_json(arena, 0, TEXT("shared"), false));
    for (size_t i = 0; i < PIN_DEPLOYMENTS; i++) {
        PUT(making,
            "{\"apiVersion\":\"apps/"
            "v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web-%zu\","
            "\"namespace\":\"team-%zu\",\"uid\":\"web-%zu\"},\"spec\":{\"replicas\":%d,"
            "\"selector\":{\"matchLabels\":{\"app\":\"web-%zu\"}}}}",
            i, i % NAMESPACES, i, PIN_DEPLOYMENT_REPLICAS, i);
        PUT(making,
            "{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"metadata\":{\"name\":"
            "\"web-%zu-7d9\",\"namespace\":\"team-%zu\",\"uid\":\"rs-%zu\",\"ownerReferences\":[{"
            "\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"name\":\"web-%zu\",\"uid\":"
            "\"web-%zu\",\"controller\":true}]},\"spec\":{\"replicas\":%d,\"selector\":{"
            "\"matchLabels\":{\"app\":\"web-%zu\"}}}}",
            i, i % NAMESPACES, i, i, i, PIN_DEPLOYMENT_REPLICAS, i);
        for (size_t j = 0; j < PIN_DEPLOYMENT_REPLICAS; j++) {
            size_t node = (i * 20 + j) % PIN_NODES;
            struct text claim = TEXT("");
            if (making->claims < PIN_CLAIMS) {
                claim = arena_printf(arena, "web-%zu-%zu", i, j);
                making->put(making->context, claim_json(arena, i % NAMESPACES, claim, true));
                put_volume(making, i % NAMESPACES, claim, node % ZONES);
            }
            making->put(making->context, pin_deployment_pod(arena, i, j, node, claim, PIN_SETS));
        }
    }
}

void pin_cluster_make(struct arena *arena, void (*put)(void *context, struct text json),
                      void *context)
{
    struct making making = {.arena = arena, .put = put, .context = context};
    put_supply(&making);
    put_nodes(&making);
    put_daemons(&making);
    put_sets(&making);
    put_deployments(&making);
}

void pin_cluster_make_team_pools(struct arena *arena, void (*put)(void *context, struct text json),
                                 void *context)
{
    static const char *const categories[] = {"m", "c", "r"};
    const struct making making = {.arena = arena, .put = put, .context = context};
    for (size_t i = PIN_POOLS; i < PIN_POOLS_OF_ALL; i++)
        PUT(&making,
            "{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodePool\",\"metadata\":{"
            "\"name\":\"team-%zu\"},\"spec\":{\"weight\":%zu,\"limits\":{\"cpu\":"
            "\"1000\"},\"template\":{\"metadata\":{\"labels\":{\"team\":\"team-%zu\"}}"
            ",\"spec\":{\"nodeClassRef\":{\"group\":\"karpenter.k8s.aws\",\"kind\":"
            "\"EC2NodeClass\",\"name\":\"default\"},\"taints\":[{\"key\":\"team\","
            "\"value\":\"team-%zu\",\"effect\":\"NoSchedule\"}],\"requirements\":[{"
            "\"key\":\"karpenter.k8s.aws/instance-category\",\"operator\":\"In\","
            "\"values\":[\"%s\"]},{\"key\":\"karpenter.sh/capacity-type\","
            "\"operator\":\"In\",\"values\":[\"spot\",\"on-demand\"]}]}}}}",
            i, i, i, i, categories[i % 3]);
}
