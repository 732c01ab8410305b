/* The fields that are read of the objects of a snapshot. A new field that code reads must be added
 * here, or it is missing in a watched cluster. tests/unit/report/kept.c compares decisions over
 * whole and stored objects.
 *
 * If others make the Pods of a workload, the parts of its template that rails judge are stored,
 * because a young ReplicaSet or Job is compared with its owner's template (policy/inherited.c). The
 * revisions of one Deployment mostly differ in other fields, and so share one template. */
#include <stdlib.h>
#include <string.h>

#include "kube/pod.h"
#include "live/transform.h"

/* ---- lists of which only some items are stored, and fields of which only some values are ---- */

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

/* Pods that are ready are many, and nobody asks about them. */
static bool is_unready_or_resize(const struct node *condition)
{
    return is_resize(condition) ||
           (is_ready(condition) && text_is(node_string(node_get(condition, "status")), "False"));
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

/* Variables by which a container runtime gives GPUs. */
static bool names_devices(const struct node *variable)
{
    return text_is(node_string(node_get(variable, "name")), "NVIDIA_VISIBLE_DEVICES");
}

/* Every Pod names a scheduler. */
static bool is_of_fargate(const struct node *scheduler)
{
    return text_is(node_string(scheduler), FARGATE_SCHEDULER);
}

/* ---- how the table is written ---- */

/* Nested parts have names of their own: nested tables take clang-tidy hours. */
/* clang-format off */
#define KEY(name) .key = {(name), sizeof(name) - 1}
#define WHOLE(name) {KEY(name)}
#define SHARED(name) {KEY(name), .shared = true}
#define INSIDE(name, fields) {KEY(name), .inside = (fields)}
#define SHARED_INSIDE(name, fields) {KEY(name), .inside = (fields), .shared = true}
#define ITEMS(name, function, fields) {KEY(name), .inside = (fields), .takes = (function)}
#define ONLY(name, function) {KEY(name), .takes = (function)}
#define FIELDS(name, ...) static const struct transform_field name[] = {__VA_ARGS__, {.key = {NULL, 0}}}
/* clang-format on */

/* ---- parts of several kinds ---- */

/* What object_read reads is in struct object, and is not stored twice. */
FIELDS(labels, SHARED("labels"));
FIELDS(path_alone, WHOLE("path"));
FIELDS(phase, WHOLE("phase"));
FIELDS(condition, WHOLE("type"), WHOLE("status"), WHOLE("reason"));
FIELDS(told_condition, WHOLE("type"), WHOLE("status"), WHOLE("reason"), WHOLE("message"));
FIELDS(ready, ITEMS("conditions", is_ready, told_condition));
FIELDS(taint, WHOLE("key"), WHOLE("value"), WHOLE("effect"));
#define METADATA INSIDE("metadata", labels)
#define CAPACITIES SHARED("capacity"), SHARED("allocatable")

/* Claims, and templates of claims. */
#define CLASS_ANNOTATION WHOLE("volume.beta.kubernetes.io/storage-class")
FIELDS(storage, WHOLE("storage"));
FIELDS(claim_resources, INSIDE("requests", storage));
FIELDS(claim_spec, WHOLE("volumeName"), WHOLE("storageClassName"), WHOLE("accessModes"),
       WHOLE("volumeMode"), WHOLE("volumeAttributesClassName"), WHOLE("selector"),
       INSIDE("resources", claim_resources));
FIELDS(claim_template_annotations, CLASS_ANNOTATION, WHOLE("volume.kubernetes.io/selected-node"));
FIELDS(claim_template_metadata, WHOLE("name"), INSIDE("annotations", claim_template_annotations));
FIELDS(claim_template, INSIDE("metadata", claim_template_metadata), INSIDE("spec", claim_spec));

/* Pods, and pod templates. */
FIELDS(port, WHOLE("hostPort"), WHOLE("containerPort"), WHOLE("hostIP"), WHOLE("protocol"));
FIELDS(container, WHOLE("name"), WHOLE("resources"), WHOLE("restartPolicy"), INSIDE("ports", port));
FIELDS(claim_source, WHOLE("claimName"));
FIELDS(ephemeral_source, INSIDE("volumeClaimTemplate", claim_template));
FIELDS(volume, WHOLE("name"), INSIDE("persistentVolumeClaim", claim_source),
       INSIDE("ephemeral", ephemeral_source));
FIELDS(pod_spec, WHOLE("nodeName"), ONLY("schedulerName", is_of_fargate), WHOLE("schedulingGates"),
       SHARED("nodeSelector"), SHARED("affinity"), SHARED("topologySpreadConstraints"),
       SHARED("tolerations"), SHARED_INSIDE("containers", container),
       SHARED_INSIDE("initContainers", container), WHOLE("resources"), WHOLE("overhead"),
       WHOLE("hostNetwork"), WHOLE("resourceClaims"), WHOLE("priorityClassName"),
       ITEMS("volumes", has_claim, volume));
FIELDS(pod_template, METADATA, INSIDE("spec", pod_spec));

/* ---- kinds ---- */

FIELDS(any, METADATA);

FIELDS(requests, WHOLE("requests"));
FIELDS(container_status, WHOLE("name"), INSIDE("resources", requests), WHOLE("allocatedResources"));
FIELDS(pod_status, WHOLE("phase"), WHOLE("startTime"), WHOLE("nominatedNodeName"),
       ITEMS("conditions", is_unready_or_resize, condition),
       SHARED_INSIDE("containerStatuses", container_status),
       SHARED_INSIDE("initContainerStatuses", container_status));
FIELDS(pod_annotations, WHOLE("kubernetes.io/config.mirror"), WHOLE("karpenter.sh/do-not-disrupt"),
       WHOLE("controller.kubernetes.io/pod-deletion-cost"));
FIELDS(pod_metadata, SHARED("labels"), INSIDE("annotations", pod_annotations));
FIELDS(pod, INSIDE("metadata", pod_metadata), INSIDE("spec", pod_spec),
       INSIDE("status", pod_status));

/* The parts of compared templates that rails judge. */
FIELDS(judged_annotations, WHOLE("karpenter.sh/do-not-disrupt"), WHOLE("karpenter.sh/do-not-evict"),
       WHOLE("karpenter.sh/do-not-consolidate"));
FIELDS(judged_metadata, SHARED("labels"), INSIDE("annotations", judged_annotations));
FIELDS(variable, WHOLE("name"), WHOLE("value"), WHOLE("valueFrom"));
FIELDS(judged_container, WHOLE("name"), WHOLE("resources"), WHOLE("restartPolicy"),
       INSIDE("ports", port), ITEMS("env", names_devices, variable));
FIELDS(judged_spec, WHOLE("nodeName"), WHOLE("schedulerName"), WHOLE("schedulingGates"),
       WHOLE("nodeSelector"), WHOLE("affinity"), WHOLE("topologySpreadConstraints"),
       WHOLE("tolerations"), INSIDE("containers", judged_container),
       INSIDE("initContainers", judged_container), WHOLE("resources"), WHOLE("overhead"),
       WHOLE("hostNetwork"), WHOLE("resourceClaims"), WHOLE("runtimeClassName"),
       WHOLE("restartPolicy"), WHOLE("activeDeadlineSeconds"), ITEMS("volumes", has_claim, volume));
FIELDS(judged_template, INSIDE("metadata", judged_metadata), SHARED_INSIDE("spec", judged_spec));

FIELDS(revision_spec, WHOLE("replicas"), WHOLE("selector"), INSIDE("template", judged_template));
FIELDS(replica_set, METADATA, INSIDE("spec", revision_spec));
FIELDS(rollout_status, WHOLE("replicas"), WHOLE("updatedReplicas"));
FIELDS(deployment, METADATA, INSIDE("spec", revision_spec), INSIDE("status", rollout_status));

FIELDS(ordinals, WHOLE("start"));
FIELDS(stateful_set_spec, WHOLE("replicas"), WHOLE("selector"), INSIDE("ordinals", ordinals),
       INSIDE("template", pod_template), INSIDE("volumeClaimTemplates", claim_template));
FIELDS(stateful_set, METADATA, INSIDE("spec", stateful_set_spec));

FIELDS(daemon_set_spec, WHOLE("selector"), INSIDE("template", pod_template));
FIELDS(daemon_set, METADATA, INSIDE("spec", daemon_set_spec));

#define JOB_BOUNDS WHOLE("parallelism"), WHOLE("completions"), WHOLE("activeDeadlineSeconds")
FIELDS(job_spec, JOB_BOUNDS, WHOLE("suspend"), WHOLE("selector"),
       INSIDE("template", judged_template));
FIELDS(job_status, WHOLE("succeeded"), ITEMS("conditions", is_end_of_job, condition));
FIELDS(job, METADATA, INSIDE("spec", job_spec), INSIDE("status", job_status));

FIELDS(future_job_spec, JOB_BOUNDS, INSIDE("template", judged_template));
FIELDS(job_template, INSIDE("spec", future_job_spec));
FIELDS(cron_job_spec, WHOLE("suspend"), INSIDE("jobTemplate", job_template));
FIELDS(active_job, WHOLE("name"), WHOLE("uid"));
FIELDS(cron_job_status, INSIDE("active", active_job));
FIELDS(cron_job, METADATA, INSIDE("spec", cron_job_spec), INSIDE("status", cron_job_status));

FIELDS(pool_annotations, WHOLE("karpenter.sh/nodepool-hash"),
       WHOLE("karpenter.sh/nodepool-hash-version"), WHOLE("taffrail.dev/confirm-nodes"));
FIELDS(pool_metadata, SHARED("labels"), INSIDE("annotations", pool_annotations));
FIELDS(pool_node_metadata, SHARED("labels"), WHOLE("annotations"));
FIELDS(pool_node_spec, WHOLE("requirements"), WHOLE("taints"), WHOLE("startupTaints"),
       WHOLE("nodeClassRef"), WHOLE("expireAfter"), WHOLE("terminationGracePeriod"));
FIELDS(pool_template, INSIDE("metadata", pool_node_metadata), INSIDE("spec", pool_node_spec));
FIELDS(pool_spec, WHOLE("weight"), WHOLE("replicas"), WHOLE("limits"), WHOLE("disruption"),
       INSIDE("template", pool_template));
FIELDS(pool, INSIDE("metadata", pool_metadata), INSIDE("spec", pool_spec), INSIDE("status", ready));
FIELDS(provisioner, METADATA, WHOLE("spec"), INSIDE("status", ready));

FIELDS(class_annotations, WHOLE("karpenter.k8s.aws/ec2nodeclass-hash"),
       WHOLE("karpenter.k8s.aws/ec2nodeclass-hash-version"));
FIELDS(class_metadata, SHARED("labels"), INSIDE("annotations", class_annotations));
FIELDS(subnet, WHOLE("zone"), WHOLE("zoneID"));
FIELDS(class_status, INSIDE("subnets", subnet), WHOLE("capacityReservations"));
/* Nearly all of the spec is hashed (kube/karpenter_hash.c). */
FIELDS(node_class, INSIDE("metadata", class_metadata), WHOLE("spec"),
       INSIDE("status", class_status));

FIELDS(node_spec, WHOLE("providerID"), WHOLE("unschedulable"), INSIDE("taints", taint));
FIELDS(node_status, CAPACITIES, ITEMS("conditions", is_ready, condition));
FIELDS(opt_out, WHOLE("karpenter.sh/do-not-disrupt"));
FIELDS(node_metadata, WHOLE("labels"),
       INSIDE("annotations", opt_out)); /* no other has these labels */
FIELDS(node, INSIDE("metadata", node_metadata), INSIDE("spec", node_spec),
       INSIDE("status", node_status));

FIELDS(storage_class_annotations, WHOLE("storageclass.kubernetes.io/is-default-class"),
       WHOLE("storageclass.beta.kubernetes.io/is-default-class"));
FIELDS(storage_class_metadata, SHARED("labels"), INSIDE("annotations", storage_class_annotations));
FIELDS(storage_class, INSIDE("metadata", storage_class_metadata), WHOLE("provisioner"),
       WHOLE("volumeBindingMode"), WHOLE("allowedTopologies"), WHOLE("parameters"));

FIELDS(claim_annotations, CLASS_ANNOTATION, WHOLE("pv.kubernetes.io/bind-completed"),
       WHOLE("volume.kubernetes.io/selected-node"));
FIELDS(claim_metadata, SHARED("labels"), INSIDE("annotations", claim_annotations));
FIELDS(claim, INSIDE("metadata", claim_metadata), INSIDE("spec", claim_spec),
       INSIDE("status", phase));

FIELDS(claim_reference, WHOLE("namespace"), WHOLE("name"), WHOLE("uid"));
FIELDS(csi_source, WHOLE("driver"));
FIELDS(ebs_source, WHOLE("volumeID"));
FIELDS(azure_file_source, WHOLE("shareName"));
FIELDS(persistent_volume_spec, WHOLE("storageClassName"), WHOLE("persistentVolumeReclaimPolicy"),
       WHOLE("accessModes"), WHOLE("volumeMode"), WHOLE("volumeAttributesClassName"),
       SHARED("nodeAffinity"), INSIDE("capacity", storage), INSIDE("claimRef", claim_reference),
       INSIDE("csi", csi_source), INSIDE("awsElasticBlockStore", ebs_source),
       INSIDE("local", path_alone), INSIDE("hostPath", path_alone), INSIDE("nfs", path_alone),
       INSIDE("cephfs", path_alone), INSIDE("azureFile", azure_file_source),
       INSIDE("glusterfs", path_alone));
FIELDS(persistent_volume, METADATA, INSIDE("spec", persistent_volume_spec),
       INSIDE("status", phase));

FIELDS(budget_spec, WHOLE("selector"), WHOLE("minAvailable"), WHOLE("maxUnavailable"),
       WHOLE("unhealthyPodEvictionPolicy"));
FIELDS(budget_status, WHOLE("disruptionsAllowed"));
FIELDS(budget, METADATA, INSIDE("spec", budget_spec), INSIDE("status", budget_status));
FIELDS(limit_range_spec, WHOLE("limits"));
FIELDS(limit_range, METADATA, INSIDE("spec", limit_range_spec));

FIELDS(node_claim_annotations, WHOLE("karpenter.sh/nodepool-hash"),
       WHOLE("karpenter.sh/nodepool-hash-version"), WHOLE("karpenter.k8s.aws/ec2nodeclass-hash"),
       WHOLE("karpenter.k8s.aws/ec2nodeclass-hash-version"));
FIELDS(node_claim_metadata, SHARED("labels"), SHARED_INSIDE("annotations", node_claim_annotations));
FIELDS(node_claim_spec, WHOLE("expireAfter"), INSIDE("taints", taint),
       INSIDE("startupTaints", taint), SHARED("nodeClassRef"), WHOLE("terminationGracePeriod"));
FIELDS(node_claim_condition, WHOLE("type"), WHOLE("status"), WHOLE("reason"),
       WHOLE("lastTransitionTime"));
FIELDS(node_claim_status, WHOLE("nodeName"), WHOLE("providerID"), WHOLE("imageID"),
       INSIDE("conditions", node_claim_condition), CAPACITIES);
FIELDS(node_claim, INSIDE("metadata", node_claim_metadata), INSIDE("spec", node_claim_spec),
       INSIDE("status", node_claim_status));

FIELDS(attach_count, WHOLE("count"));
FIELDS(driver, WHOLE("name"), INSIDE("allocatable", attach_count));
FIELDS(csi_node_spec, SHARED_INSIDE("drivers", driver));
FIELDS(csi_node, METADATA, INSIDE("spec", csi_node_spec));

FIELDS(scale_target, WHOLE("apiVersion"), WHOLE("kind"), WHOLE("name"));
FIELDS(autoscaler_spec, WHOLE("minReplicas"), WHOLE("maxReplicas"),
       INSIDE("scaleTargetRef", scale_target));
FIELDS(autoscaler, METADATA, INSIDE("spec", autoscaler_spec));
FIELDS(priority_class, METADATA, WHOLE("value"), WHOLE("globalDefault"), WHOLE("preemptionPolicy"));
FIELDS(template_alone, METADATA, INSIDE("template", pod_template));
FIELDS(whole_spec, METADATA, WHOLE("spec"));

/* Devices, and what asks for them. What single devices are is many times the rest. */
FIELDS(device_requests, SHARED("requests"));
FIELDS(device_claim_spec, INSIDE("devices", device_requests));
FIELDS(resource_claim, METADATA, INSIDE("spec", device_claim_spec));
FIELDS(resource_claim_template_spec, INSIDE("spec", device_claim_spec));
FIELDS(resource_claim_template, METADATA, INSIDE("spec", resource_claim_template_spec));
FIELDS(device_class_spec, WHOLE("selectors"), WHOLE("extendedResourceName"));
FIELDS(device_class, METADATA, INSIDE("spec", device_class_spec));
FIELDS(resource_slice_spec, WHOLE("driver"), WHOLE("nodeName"));
FIELDS(resource_slice, METADATA, INSIDE("spec", resource_slice_spec));

/* Custom owners have only metadata. */
static const struct transform_field nothing_more[] = {{.key = {NULL, 0}}};
FIELDS(custom_owner, INSIDE("metadata", nothing_more));

const struct transform_field transform_fields[KIND_COUNT] = {
    [KIND_UNKNOWN] = {.inside = any},
    [KIND_POD] = {.inside = pod},
    [KIND_DEPLOYMENT] = {.inside = deployment},
    [KIND_REPLICA_SET] = {.inside = replica_set},
    [KIND_REPLICATION_CONTROLLER] = {.inside = replica_set},
    [KIND_STATEFUL_SET] = {.inside = stateful_set},
    [KIND_DAEMON_SET] = {.inside = daemon_set},
    [KIND_JOB] = {.inside = job},
    [KIND_CRON_JOB] = {.inside = cron_job},
    [KIND_NODE_POOL] = {.inside = pool},
    [KIND_PROVISIONER] = {.inside = provisioner},
    [KIND_AWS_NODE_TEMPLATE] = {.inside = any},
    [KIND_EC2_NODE_CLASS] = {.inside = node_class},
    [KIND_NODE] = {.inside = node},
    [KIND_NAMESPACE] = {.inside = any},
    [KIND_STORAGE_CLASS] = {.inside = storage_class},
    [KIND_PERSISTENT_VOLUME_CLAIM] = {.inside = claim},
    [KIND_PERSISTENT_VOLUME] = {.inside = persistent_volume},
    [KIND_POD_DISRUPTION_BUDGET] = {.inside = budget},
    [KIND_LIMIT_RANGE] = {.inside = limit_range},
    [KIND_NODE_CLAIM] = {.inside = node_claim},
    [KIND_CSI_NODE] = {.inside = csi_node},
    [KIND_AUTO_NODE_CLASS] = {.inside = any},
    [KIND_AKS_NODE_CLASS] = {.inside = any},
    [KIND_GCE_NODE_CLASS] = {.inside = any},
    [KIND_NODE_OVERLAY] = {.inside = whole_spec},
    [KIND_CAPACITY_BUFFER] = {.inside = whole_spec},
    [KIND_POD_TEMPLATE] = {.inside = template_alone},
    [KIND_HORIZONTAL_POD_AUTOSCALER] = {.inside = autoscaler},
    [KIND_PRIORITY_CLASS] = {.inside = priority_class},
    [KIND_DEVICE_CLASS] = {.inside = device_class},
    [KIND_RESOURCE_CLAIM] = {.inside = resource_claim},
    [KIND_RESOURCE_CLAIM_TEMPLATE] = {.inside = resource_claim_template},
    [KIND_RESOURCE_SLICE] = {.inside = resource_slice},
    [KIND_OWNER_FIRST] = {.inside = custom_owner},
    {.inside = custom_owner},
    {.inside = custom_owner},
    {.inside = custom_owner},
    {.inside = custom_owner},
    {.inside = custom_owner},
    {.inside = custom_owner},
    [KIND_OWNER_LAST] = {.inside = custom_owner},
};

/* ---- words that most objects have ---- */

/* clang-format off */
/* By size, then bytewise. Other words are stored with their object. */
static const char *const words[] = {
    "Gt", "In", "Lt", "v1", "Job", "Pod", "TCP", "UDP", "app", "cpu", "key", "yes", "Node", "pods",
    "spot", "true", "Block", "Bound", "Equal", "NotIn", "amd64", "arm64", "false", "linux", "value",
    "Always", "Exists", "Failed", "claims", "effect", "limits", "memory", "values", "weight",
    "CronJob", "Pending", "Running", "apps/v1", "default", "maxSkew", "storage", "windows",
    "NodePool", "batch/v1", "job-name", "operator", "requests", "required", "Available",
    "DaemonSet", "NoExecute", "NodeClaim", "Succeeded", "on-demand", "Deployment", "Filesystem",
    "NoSchedule", "ReplicaSet", "minDomains", "namespaces", "preference", "StatefulSet",
    "kube-system", "matchFields", "matchLabels", "podAffinity", "topologyKey", "DoesNotExist",
    "EC2NodeClass", "ReadOnlyMany", "nodeAffinity", "DoNotSchedule", "ReadWriteMany",
    "ReadWriteOnce", "helm.sh/chart", "hugepages-1Gi", "hugepages-2Mi", "labelSelector",
    "ScheduleAnyway", "controller-uid", "matchLabelKeys", "nvidia.com/gpu", "ebs.csi.aws.com",
    "karpenter.sh/v1", "podAffinityTerm", "podAntiAffinity", "PreferNoSchedule", "ReadWriteOncePod",
    "kubernetes.io/os", "matchExpressions", "nodeTaintsPolicy", "ephemeral-storage",
    "karpenter.k8s.aws", "mismatchLabelKeys", "namespaceSelector", "nodeSelectorTerms",
    "pod-template-hash", "tolerationSeconds", "whenUnsatisfiable", "kubernetes.io/arch",
    "nodeAffinityPolicy", "beta.kubernetes.io/os", "karpenter.sh/nodepool",
    "app.kubernetes.io/name", "kubernetes.io/hostname", "beta.kubernetes.io/arch",
    "karpenter.sh/registered", "pod-template-generation", "controller-revision-hash",
    "karpenter.sh/initialized", "app.kubernetes.io/part-of", "app.kubernetes.io/version",
    "vpc.amazonaws.com/pod-eni", "app.kubernetes.io/instance", "attachable-volumes-aws-ebs",
    "karpenter.sh/capacity-type", "app.kubernetes.io/component", "kubernetes.io/metadata.name",
    "topology.kubernetes.io/zone", "app.kubernetes.io/managed-by", "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/job-name", "node.kubernetes.io/not-ready", "topology.ebs.csi.aws.com/zone",
    "topology.kubernetes.io/region", "karpenter.k8s.aws/ec2nodeclass",
    "karpenter.k8s.aws/instance-cpu", "node.kubernetes.io/unreachable",
    "karpenter.k8s.aws/instance-size", "node.kubernetes.io/pid-pressure",
    "beta.kubernetes.io/instance-type", "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/instance-type", "node.kubernetes.io/unschedulable",
    "karpenter.k8s.aws/instance-family", "karpenter.k8s.aws/instance-memory",
    "batch.kubernetes.io/controller-uid", "node.kubernetes.io/memory-pressure",
    "statefulset.kubernetes.io/pod-name", "karpenter.k8s.aws/instance-category",
    "karpenter.k8s.aws/instance-generation", "karpenter.k8s.aws/instance-hypervisor",
    "karpenter.k8s.aws/instance-local-nvme", "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region", "karpenter.k8s.aws/instance-ebs-bandwidth",
    "karpenter.k8s.aws/instance-cpu-manufacturer", "karpenter.k8s.aws/instance-network-bandwidth",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
    "karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz",
    "karpenter.k8s.aws/instance-encryption-in-transit-supported",
};
/* clang-format on */

static int compare_to_word(const void *text_pointer, const void *word_pointer)
{
    struct text text = *(const struct text *)text_pointer;
    const char *word = *(const char *const *)word_pointer;
    size_t size = strlen(word);
    if (text.size != size)
        return text.size < size ? -1 : 1;
    return memcmp(text.data, word, size);
}

const char *transform_word(struct text text)
{
    static const struct text none = {"", 0};
    if (text.size == 0)
        return none.data;
    const char *const *found =
        bsearch(&text, words, COUNT_OF(words), sizeof *words, compare_to_word);
    return found == NULL ? NULL : *found;
}
