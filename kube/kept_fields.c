/* What is read of the objects of a snapshot. Who reads another field adds it here, or it is not
 * there in a cluster that is watched: tests/unit/report_kept.c decides over whole and kept objects.
 *
 * Of the workloads of which only counts and selectors are kept nobody forecasts the pods from a
 * cluster that is watched: their pods are there, and their templates would be the most of it. */
#include <stdlib.h>
#include <string.h>

#include "kube/kept_internal.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* ---- lists of which only some items are read ---- */

static bool is_of_type(const struct node *item, const char *type)
{
    return text_is(node_string(node_get(item, "type")), type);
}

static bool is_ready(const struct node *condition)
{
    return is_of_type(condition, "Ready");
}

static bool is_resize(const struct node *condition)
{
    return is_of_type(condition, "PodResizePending");
}

static bool is_end_of_job(const struct node *condition)
{
    return is_of_type(condition, "Complete") || is_of_type(condition, "Failed");
}

static bool has_claim(const struct node *volume)
{
    return node_get(volume, "persistentVolumeClaim") != NULL ||
           node_get(volume, "ephemeral") != NULL;
}

/* ---- how the table is written ---- */

/* clang-format off */
#define KEY(name) .key = {(name), sizeof(name) - 1}
#define MEMBERS(...) (const struct keep[]){__VA_ARGS__, {.key = {NULL, 0}}}
#define WHOLE(name) {KEY(name)}
#define SHARED(name) {KEY(name), .shared = true}
#define INSIDE(name, ...) {KEY(name), .inside = MEMBERS(__VA_ARGS__)}
#define SHARED_INSIDE(name, ...) {KEY(name), .inside = MEMBERS(__VA_ARGS__), .shared = true}
#define ITEMS(name, function, ...) {KEY(name), .inside = MEMBERS(__VA_ARGS__), .takes = (function)}
#define OBJECT(...) {.inside = MEMBERS(__VA_ARGS__)}
/* clang-format on */

/* ---- parts of several kinds ---- */

/* What object_read reads is in struct object, and is not kept twice. */
#define METADATA INSIDE("metadata", SHARED("labels"))
#define METADATA_WITH(...) INSIDE("metadata", SHARED("labels"), INSIDE("annotations", __VA_ARGS__))
#define METADATA_OF_ONE INSIDE("metadata", WHOLE("labels")) /* no other has these labels */
#define CONDITIONS(takes_item) \
    ITEMS("conditions", takes_item, WHOLE("type"), WHOLE("status"), WHOLE("reason"))
#define TAINTS(name) INSIDE(name, WHOLE("key"), WHOLE("value"), WHOLE("effect"))
#define CAPACITIES SHARED("capacity"), SHARED("allocatable")

#define CLASS_ANNOTATION WHOLE("volume.beta.kubernetes.io/storage-class")
#define CLAIM_SPEC                                                                       \
    INSIDE("spec", WHOLE("volumeName"), WHOLE("storageClassName"), WHOLE("accessModes"), \
           WHOLE("volumeMode"), WHOLE("selector"),                                       \
           INSIDE("resources", INSIDE("requests", WHOLE("storage"))))
#define CLAIM_TEMPLATE \
    INSIDE("metadata", WHOLE("name"), INSIDE("annotations", CLASS_ANNOTATION)), CLAIM_SPEC

#define CONTAINERS(name)                                                                      \
    SHARED_INSIDE(name, WHOLE("name"), WHOLE("resources"), WHOLE("restartPolicy"),            \
                  INSIDE("ports", WHOLE("hostPort"), WHOLE("containerPort"), WHOLE("hostIP"), \
                         WHOLE("protocol")))
#define POD_SPEC                                                                           \
    INSIDE("spec", WHOLE("nodeName"), WHOLE("schedulingGates"), SHARED("nodeSelector"),    \
           SHARED("affinity"), SHARED("topologySpreadConstraints"), SHARED("tolerations"), \
           CONTAINERS("containers"), CONTAINERS("initContainers"), WHOLE("resources"),     \
           WHOLE("overhead"), WHOLE("hostNetwork"), WHOLE("resourceClaims"),               \
           ITEMS("volumes", has_claim, WHOLE("name"),                                      \
                 INSIDE("persistentVolumeClaim", WHOLE("claimName")),                      \
                 INSIDE("ephemeral", INSIDE("volumeClaimTemplate", CLAIM_TEMPLATE))))
#define CONTAINER_STATUSES(name)                                               \
    SHARED_INSIDE(name, WHOLE("name"), INSIDE("resources", WHOLE("requests")), \
                  WHOLE("allocatedResources"))

#define POD_TEMPLATE INSIDE("template", METADATA, POD_SPEC)
#define REPLICAS WHOLE("replicas"), WHOLE("selector"), INSIDE("template", METADATA)
#define JOB_COUNTS WHOLE("parallelism"), WHOLE("completions")

/* ---- the table ---- */

const struct keep kept_fields[KIND_COUNT] = {
    [KIND_UNKNOWN] = OBJECT(METADATA),
    [KIND_POD] = OBJECT(METADATA_WITH(WHOLE("kubernetes.io/config.mirror")), POD_SPEC,
                        INSIDE("status", WHOLE("phase"), CONDITIONS(is_resize),
                               CONTAINER_STATUSES("containerStatuses"),
                               CONTAINER_STATUSES("initContainerStatuses"))),
    [KIND_DEPLOYMENT] = OBJECT(METADATA, INSIDE("spec", REPLICAS)),
    [KIND_REPLICA_SET] = OBJECT(METADATA, INSIDE("spec", REPLICAS)),
    [KIND_REPLICATION_CONTROLLER] = OBJECT(METADATA, INSIDE("spec", REPLICAS)),
    [KIND_STATEFUL_SET] = OBJECT(METADATA, INSIDE("spec", WHOLE("replicas"), WHOLE("selector"),
                                                  INSIDE("ordinals", WHOLE("start")), POD_TEMPLATE,
                                                  INSIDE("volumeClaimTemplates", CLAIM_TEMPLATE))),
    [KIND_DAEMON_SET] = OBJECT(METADATA, INSIDE("spec", WHOLE("selector"), POD_TEMPLATE)),
    [KIND_JOB] = OBJECT(METADATA, INSIDE("spec", JOB_COUNTS, WHOLE("suspend"), WHOLE("selector")),
                        INSIDE("status", WHOLE("succeeded"), CONDITIONS(is_end_of_job))),
    [KIND_CRON_JOB] = OBJECT(METADATA, INSIDE("spec", WHOLE("suspend"),
                                              INSIDE("jobTemplate", INSIDE("spec", JOB_COUNTS)))),
    [KIND_NODE_POOL] = OBJECT(METADATA,
                              INSIDE("spec", WHOLE("weight"), WHOLE("replicas"), WHOLE("limits"),
                                     INSIDE("template", METADATA,
                                            INSIDE("spec", WHOLE("requirements"), WHOLE("taints"),
                                                   WHOLE("startupTaints"), WHOLE("nodeClassRef")))),
                              INSIDE("status", CONDITIONS(is_ready))),
    [KIND_PROVISIONER] = OBJECT(METADATA, WHOLE("spec"), INSIDE("status", CONDITIONS(is_ready))),
    [KIND_EC2_NODE_CLASS] =
        OBJECT(METADATA,
               INSIDE("spec", WHOLE("amiFamily"), INSIDE("amiSelectorTerms", WHOLE("alias")),
                      WHOLE("blockDeviceMappings"), WHOLE("instanceStorePolicy"), WHOLE("kubelet"),
                      WHOLE("capacityReservationSelectorTerms")),
               INSIDE("status", INSIDE("subnets", WHOLE("zone"), WHOLE("zoneID")),
                      WHOLE("capacityReservations"))),
    [KIND_NODE] =
        OBJECT(METADATA_OF_ONE,
               INSIDE("spec", WHOLE("providerID"), WHOLE("unschedulable"), TAINTS("taints")),
               INSIDE("status", CAPACITIES)),
    [KIND_NAMESPACE] = OBJECT(METADATA),
    [KIND_STORAGE_CLASS] =
        OBJECT(METADATA_WITH(WHOLE("storageclass.kubernetes.io/is-default-class"),
                             WHOLE("storageclass.beta.kubernetes.io/is-default-class")),
               WHOLE("provisioner"), WHOLE("volumeBindingMode"), WHOLE("allowedTopologies"),
               WHOLE("parameters")),
    [KIND_PERSISTENT_VOLUME_CLAIM] =
        OBJECT(METADATA_WITH(CLASS_ANNOTATION, WHOLE("pv.kubernetes.io/bind-completed"),
                             WHOLE("volume.kubernetes.io/selected-node")),
               CLAIM_SPEC, INSIDE("status", WHOLE("phase"))),
    [KIND_PERSISTENT_VOLUME] = OBJECT(
        METADATA,
        INSIDE("spec", WHOLE("storageClassName"), WHOLE("accessModes"), WHOLE("volumeMode"),
               SHARED("nodeAffinity"), INSIDE("capacity", WHOLE("storage")),
               INSIDE("claimRef", WHOLE("namespace"), WHOLE("name"), WHOLE("uid")),
               INSIDE("csi", WHOLE("driver")), INSIDE("awsElasticBlockStore", WHOLE("volumeID")),
               INSIDE("local", WHOLE("path")), INSIDE("hostPath", WHOLE("path")),
               INSIDE("nfs", WHOLE("path")), INSIDE("cephfs", WHOLE("path")),
               INSIDE("azureFile", WHOLE("shareName")), INSIDE("glusterfs", WHOLE("path"))),
        INSIDE("status", WHOLE("phase"))),
    [KIND_POD_DISRUPTION_BUDGET] =
        OBJECT(METADATA,
               INSIDE("spec", WHOLE("selector"), WHOLE("minAvailable"), WHOLE("maxUnavailable"))),
    [KIND_LIMIT_RANGE] = OBJECT(METADATA, INSIDE("spec", WHOLE("limits"))),
    [KIND_NODE_CLAIM] =
        OBJECT(METADATA, INSIDE("spec", TAINTS("taints"), TAINTS("startupTaints")),
               INSIDE("status", WHOLE("nodeName"), WHOLE("providerID"), CAPACITIES)),
    [KIND_CSI_NODE] =
        OBJECT(METADATA, INSIDE("spec", SHARED_INSIDE("drivers", WHOLE("name"),
                                                      INSIDE("allocatable", WHOLE("count"))))),
};

/* ---- words that most objects have ---- */

/* By size, then bytewise. What is not among them is kept with its object. */
static const char *const words[] = {"Gt",
                                    "In",
                                    "Lt",
                                    "v1",
                                    "Job",
                                    "Pod",
                                    "TCP",
                                    "UDP",
                                    "app",
                                    "cpu",
                                    "key",
                                    "yes",
                                    "Node",
                                    "pods",
                                    "spot",
                                    "true",
                                    "Block",
                                    "Bound",
                                    "Equal",
                                    "NotIn",
                                    "amd64",
                                    "arm64",
                                    "false",
                                    "linux",
                                    "value",
                                    "Always",
                                    "Exists",
                                    "Failed",
                                    "claims",
                                    "effect",
                                    "limits",
                                    "memory",
                                    "values",
                                    "weight",
                                    "CronJob",
                                    "Pending",
                                    "Running",
                                    "apps/v1",
                                    "default",
                                    "maxSkew",
                                    "storage",
                                    "windows",
                                    "NodePool",
                                    "batch/v1",
                                    "job-name",
                                    "operator",
                                    "requests",
                                    "required",
                                    "Available",
                                    "DaemonSet",
                                    "NoExecute",
                                    "NodeClaim",
                                    "Succeeded",
                                    "on-demand",
                                    "Deployment",
                                    "Filesystem",
                                    "NoSchedule",
                                    "ReplicaSet",
                                    "minDomains",
                                    "namespaces",
                                    "preference",
                                    "StatefulSet",
                                    "kube-system",
                                    "matchFields",
                                    "matchLabels",
                                    "podAffinity",
                                    "topologyKey",
                                    "DoesNotExist",
                                    "EC2NodeClass",
                                    "ReadOnlyMany",
                                    "nodeAffinity",
                                    "DoNotSchedule",
                                    "ReadWriteMany",
                                    "ReadWriteOnce",
                                    "helm.sh/chart",
                                    "hugepages-1Gi",
                                    "hugepages-2Mi",
                                    "labelSelector",
                                    "ScheduleAnyway",
                                    "controller-uid",
                                    "matchLabelKeys",
                                    "nvidia.com/gpu",
                                    "ebs.csi.aws.com",
                                    "karpenter.sh/v1",
                                    "podAffinityTerm",
                                    "podAntiAffinity",
                                    "PreferNoSchedule",
                                    "ReadWriteOncePod",
                                    "kubernetes.io/os",
                                    "matchExpressions",
                                    "nodeTaintsPolicy",
                                    "ephemeral-storage",
                                    "karpenter.k8s.aws",
                                    "mismatchLabelKeys",
                                    "namespaceSelector",
                                    "nodeSelectorTerms",
                                    "pod-template-hash",
                                    "tolerationSeconds",
                                    "whenUnsatisfiable",
                                    "kubernetes.io/arch",
                                    "nodeAffinityPolicy",
                                    "beta.kubernetes.io/os",
                                    "karpenter.sh/nodepool",
                                    "app.kubernetes.io/name",
                                    "kubernetes.io/hostname",
                                    "beta.kubernetes.io/arch",
                                    "karpenter.sh/registered",
                                    "pod-template-generation",
                                    "controller-revision-hash",
                                    "karpenter.sh/initialized",
                                    "app.kubernetes.io/part-of",
                                    "app.kubernetes.io/version",
                                    "vpc.amazonaws.com/pod-eni",
                                    "app.kubernetes.io/instance",
                                    "attachable-volumes-aws-ebs",
                                    "karpenter.sh/capacity-type",
                                    "app.kubernetes.io/component",
                                    "kubernetes.io/metadata.name",
                                    "topology.kubernetes.io/zone",
                                    "app.kubernetes.io/managed-by",
                                    "apps.kubernetes.io/pod-index",
                                    "batch.kubernetes.io/job-name",
                                    "node.kubernetes.io/not-ready",
                                    "topology.ebs.csi.aws.com/zone",
                                    "topology.kubernetes.io/region",
                                    "karpenter.k8s.aws/ec2nodeclass",
                                    "karpenter.k8s.aws/instance-cpu",
                                    "node.kubernetes.io/unreachable",
                                    "karpenter.k8s.aws/instance-size",
                                    "node.kubernetes.io/pid-pressure",
                                    "beta.kubernetes.io/instance-type",
                                    "node.kubernetes.io/disk-pressure",
                                    "node.kubernetes.io/instance-type",
                                    "node.kubernetes.io/unschedulable",
                                    "karpenter.k8s.aws/instance-family",
                                    "karpenter.k8s.aws/instance-memory",
                                    "batch.kubernetes.io/controller-uid",
                                    "node.kubernetes.io/memory-pressure",
                                    "statefulset.kubernetes.io/pod-name",
                                    "karpenter.k8s.aws/instance-category",
                                    "karpenter.k8s.aws/instance-generation",
                                    "karpenter.k8s.aws/instance-hypervisor",
                                    "karpenter.k8s.aws/instance-local-nvme",
                                    "failure-domain.beta.kubernetes.io/zone",
                                    "failure-domain.beta.kubernetes.io/region",
                                    "karpenter.k8s.aws/instance-ebs-bandwidth",
                                    "karpenter.k8s.aws/instance-cpu-manufacturer",
                                    "karpenter.k8s.aws/instance-network-bandwidth",
                                    "requiredDuringSchedulingIgnoredDuringExecution",
                                    "preferredDuringSchedulingIgnoredDuringExecution",
                                    "karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz",
                                    "karpenter.k8s.aws/instance-encryption-in-transit-supported"};

static int compare_to_word(const void *text_pointer, const void *word_pointer)
{
    struct text text = *(const struct text *)text_pointer;
    const char *word = *(const char *const *)word_pointer;
    size_t size = strlen(word);
    if (text.size != size)
        return text.size < size ? -1 : 1;
    return memcmp(text.data, word, size);
}

const char *kept_word(struct text text)
{
    static const struct text none = {"", 0};
    if (text.size == 0)
        return none.data;
    const char *const *found =
        bsearch(&text, words, COUNT_OF(words), sizeof *words, compare_to_word);
    return found == NULL ? NULL : *found;
}
