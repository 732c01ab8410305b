/* The table of kinds. */
#include "kube/kind.h"

#define TEMPLATE "spec.template"
/* Names for kinds of owners where only the table is known. Some have a namespace, some have none.
 */
#define CUSTOM_OWNER(number)                                            \
    {                                                                   \
        "custom owner " number, "", "custom owners " number, NULL, true \
    }

const struct kind_info kind_table[KIND_COUNT] = {
    [KIND_UNKNOWN] = {"", "", "", NULL, false},
    [KIND_POD] = {"Pod", "", "pods", "", true},
    [KIND_DEPLOYMENT] = {"Deployment", "apps", "deployments", TEMPLATE, true},
    [KIND_REPLICA_SET] = {"ReplicaSet", "apps", "replicasets", TEMPLATE, true},
    [KIND_REPLICATION_CONTROLLER] = {"ReplicationController", "", "replicationcontrollers",
                                     TEMPLATE, true},
    [KIND_STATEFUL_SET] = {"StatefulSet", "apps", "statefulsets", TEMPLATE, true},
    [KIND_DAEMON_SET] = {"DaemonSet", "apps", "daemonsets", TEMPLATE, true},
    [KIND_JOB] = {"Job", "batch", "jobs", TEMPLATE, true},
    [KIND_CRON_JOB] = {"CronJob", "batch", "cronjobs", "spec.jobTemplate.spec.template", true},
    [KIND_NODE_POOL] = {"NodePool", "karpenter.sh", "nodepools", NULL, false},
    [KIND_PROVISIONER] = {"Provisioner", "karpenter.sh", "provisioners", NULL, false},
    [KIND_EC2_NODE_CLASS] = {"EC2NodeClass", "karpenter.k8s.aws", "ec2nodeclasses", NULL, false},
    [KIND_NODE] = {"Node", "", "nodes", NULL, false},
    [KIND_NAMESPACE] = {"Namespace", "", "namespaces", NULL, false},
    [KIND_STORAGE_CLASS] = {"StorageClass", "storage.k8s.io", "storageclasses", NULL, false},
    [KIND_PERSISTENT_VOLUME_CLAIM] = {"PersistentVolumeClaim", "", "persistentvolumeclaims", NULL,
                                      true},
    [KIND_PERSISTENT_VOLUME] = {"PersistentVolume", "", "persistentvolumes", NULL, false},
    [KIND_POD_DISRUPTION_BUDGET] = {"PodDisruptionBudget", "policy", "poddisruptionbudgets", NULL,
                                    true},
    [KIND_LIMIT_RANGE] = {"LimitRange", "", "limitranges", NULL, true},
    [KIND_NODE_CLAIM] = {"NodeClaim", "karpenter.sh", "nodeclaims", NULL, false},
    [KIND_CSI_NODE] = {"CSINode", "storage.k8s.io", "csinodes", NULL, false},
    [KIND_AWS_NODE_TEMPLATE] = {"AWSNodeTemplate", "karpenter.k8s.aws", "awsnodetemplates", NULL,
                                false},
    [KIND_AUTO_NODE_CLASS] = {"NodeClass", "eks.amazonaws.com", "nodeclasses", NULL, false},
    [KIND_AKS_NODE_CLASS] = {"AKSNodeClass", "karpenter.azure.com", "aksnodeclasses", NULL, false},
    [KIND_GCE_NODE_CLASS] = {"GCENodeClass", "karpenter.k8s.gcp", "gcenodeclasses", NULL, false},
    [KIND_NODE_OVERLAY] = {"NodeOverlay", "karpenter.sh", "nodeoverlays", NULL, false},
    [KIND_CAPACITY_BUFFER] = {"CapacityBuffer", "autoscaling.x-k8s.io", "capacitybuffers", NULL,
                              true},
    [KIND_POD_TEMPLATE] = {"PodTemplate", "", "podtemplates", "template", true},
    [KIND_HORIZONTAL_POD_AUTOSCALER] = {"HorizontalPodAutoscaler", "autoscaling",
                                        "horizontalpodautoscalers", NULL, true},
    [KIND_PRIORITY_CLASS] = {"PriorityClass", "scheduling.k8s.io", "priorityclasses", NULL, false},
    [KIND_DEVICE_CLASS] = {"DeviceClass", "resource.k8s.io", "deviceclasses", NULL, false},
    [KIND_RESOURCE_CLAIM] = {"ResourceClaim", "resource.k8s.io", "resourceclaims", NULL, true},
    [KIND_RESOURCE_CLAIM_TEMPLATE] = {"ResourceClaimTemplate", "resource.k8s.io",
                                      "resourceclaimtemplates", NULL, true},
    [KIND_RESOURCE_SLICE] = {"ResourceSlice", "resource.k8s.io", "resourceslices", NULL, false},
    [KIND_OWNER_FIRST] = CUSTOM_OWNER("1"),
    CUSTOM_OWNER("2"),
    CUSTOM_OWNER("3"),
    CUSTOM_OWNER("4"),
    CUSTOM_OWNER("5"),
    CUSTOM_OWNER("6"),
    CUSTOM_OWNER("7"),
    [KIND_OWNER_LAST] = CUSTOM_OWNER("8"),
};

struct text group_of(struct text api_version)
{
    struct text group = TEXT("");
    text_split(api_version, '/', &group, NULL);
    return group;
}

/* Workloads were in this group before apps/v1; the paths that rails read are the same. */
static bool group_matches(const struct kind_info *info, struct text group)
{
    return text_is(group, info->group) ||
           (text_is(group, "extensions") && text_is(text_of(info->group), "apps"));
}

enum kind kind_of(struct text api_version, struct text kind)
{
    enum kind found = kind_by_name(kind);
    if (found == KIND_UNKNOWN || !group_matches(&kind_table[found], group_of(api_version)))
        return KIND_UNKNOWN;
    return found;
}

enum kind kind_by_name(struct text name)
{
    for (int kind = KIND_UNKNOWN + 1; kind < KIND_OWNER_FIRST; kind++)
        if (text_is(name, kind_table[kind].name))
            return (enum kind)kind;
    return KIND_UNKNOWN;
}

enum kind kind_of_resource(struct text group, struct text plural)
{
    for (int kind = KIND_UNKNOWN + 1; kind < KIND_OWNER_FIRST; kind++)
        if (text_is(plural, kind_table[kind].plural) && group_matches(&kind_table[kind], group))
            return (enum kind)kind;
    return KIND_UNKNOWN;
}

/* FNV-1a; names have no slash. */
uint64_t custom_kind_id(struct text group, struct text kind)
{
    const struct text parts[] = {group, TEXT("/"), kind};
    uint64_t id = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        for (size_t j = 0; j < parts[i].size; j++)
            id = (id ^ (unsigned char)parts[i].data[j]) * UINT64_C(1099511628211);
    return id == 0 ? 1 : id;
}

struct text kinds_in_words(kind_set kinds, struct arena *arena)
{
    struct text_list names = {0};
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++) {
        const char *name = kind_table[kind].name;
        if ((kinds & KIND_BIT(kind)) != 0)
            *LIST_PUSH(arena, &names) = arena_printf(
                arena, "%s%s", name, text_ends_with(text_of(name), TEXT("s")) ? "es" : "s");
    }
    return texts_and(names.items, names.count, names.count, arena);
}
