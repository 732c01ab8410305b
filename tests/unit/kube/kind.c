/* The kinds, as their APIs name them. */
#include "kube/kind.h"

#include "unit.h"

static void kinds_are_named_as_in_their_api(void)
{
    static const struct {
        const char *name, *group, *plural;
        bool namespaced;
        const char *template; /* NULL: it has no pods */
    } rows[] = {
        {"Pod", "", "pods", true, ""},
        {"Deployment", "apps", "deployments", true, "spec.template"},
        {"ReplicaSet", "apps", "replicasets", true, "spec.template"},
        {"ReplicationController", "", "replicationcontrollers", true, "spec.template"},
        {"StatefulSet", "apps", "statefulsets", true, "spec.template"},
        {"DaemonSet", "apps", "daemonsets", true, "spec.template"},
        {"Job", "batch", "jobs", true, "spec.template"},
        {"CronJob", "batch", "cronjobs", true, "spec.jobTemplate.spec.template"},
        {"PodTemplate", "", "podtemplates", true, "template"},
        {"NodePool", "karpenter.sh", "nodepools", false, NULL},
        {"NodeClaim", "karpenter.sh", "nodeclaims", false, NULL},
        {"NodeOverlay", "karpenter.sh", "nodeoverlays", false, NULL},
        {"Provisioner", "karpenter.sh", "provisioners", false, NULL},
        {"EC2NodeClass", "karpenter.k8s.aws", "ec2nodeclasses", false, NULL},
        {"AWSNodeTemplate", "karpenter.k8s.aws", "awsnodetemplates", false, NULL},
        {"NodeClass", "eks.amazonaws.com", "nodeclasses", false, NULL},
        {"AKSNodeClass", "karpenter.azure.com", "aksnodeclasses", false, NULL},
        {"GCENodeClass", "karpenter.k8s.gcp", "gcenodeclasses", false, NULL},
        {"CapacityBuffer", "autoscaling.x-k8s.io", "capacitybuffers", true, NULL},
        {"Node", "", "nodes", false, NULL},
        {"Namespace", "", "namespaces", false, NULL},
        {"StorageClass", "storage.k8s.io", "storageclasses", false, NULL},
        {"CSINode", "storage.k8s.io", "csinodes", false, NULL},
        {"PersistentVolumeClaim", "", "persistentvolumeclaims", true, NULL},
        {"PersistentVolume", "", "persistentvolumes", false, NULL},
        {"PodDisruptionBudget", "policy", "poddisruptionbudgets", true, NULL},
        {"LimitRange", "", "limitranges", true, NULL},
        {"HorizontalPodAutoscaler", "autoscaling", "horizontalpodautoscalers", true, NULL},
        {"PriorityClass", "scheduling.k8s.io", "priorityclasses", false, NULL},
        {"DeviceClass", "resource.k8s.io", "deviceclasses", false, NULL},
        {"ResourceClaim", "resource.k8s.io", "resourceclaims", true, NULL},
        {"ResourceClaimTemplate", "resource.k8s.io", "resourceclaimtemplates", true, NULL},
        {"ResourceSlice", "resource.k8s.io", "resourceslices", false, NULL},
    };
    ASSERT_INT(COUNT_OF(rows), KIND_OWNER_FIRST - KIND_UNKNOWN - 1);
    struct arena *arena = arena_create(1 << 16);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct text name = text_of(rows[i].name), group = text_of(rows[i].group);
        struct text version =
            group.size == 0 ? TEXT("v1") : arena_printf(arena, "%.*s/v1", TEXT_ARGS(group));
        enum kind kind = kind_of(version, name);
        if (kind == KIND_UNKNOWN)
            fprintf(stderr, "%s is not found\n", rows[i].name);
        CU_ASSERT_NOT_EQUAL(kind, KIND_UNKNOWN);
        ASSERT_INT(kind_by_name(name), kind);
        ASSERT_INT(kind_of_resource(group, text_of(rows[i].plural)), kind);
        ASSERT_INT(kind_of_resource(TEXT("example.com"), text_of(rows[i].plural)), KIND_UNKNOWN);
        CU_ASSERT_EQUAL(kind_table[kind].namespaced, rows[i].namespaced);
        const char *template = kind_table[kind].pod_template;
        ASSERT_TEXT(text_of(template == NULL ? "none" : template),
                    rows[i].template == NULL ? "none" : rows[i].template);
    }
    arena_destroy(arena);
    ASSERT_INT(kind_of_resource(TEXT("extensions"), TEXT("deployments")), KIND_DEPLOYMENT);
    ASSERT_INT(kind_of_resource(TEXT("extensions"), TEXT("jobs")), KIND_UNKNOWN);
    ASSERT_INT(kind_of_resource(TEXT(""), TEXT("")), KIND_UNKNOWN);
}

/* Rows of the table that stand for custom owners are found by no name. */
static void custom_owners_have_no_name(void)
{
    ASSERT_INT(kind_by_name(TEXT("custom owner 1")), KIND_UNKNOWN);
    ASSERT_INT(kind_of_resource(TEXT(""), TEXT("custom owners 1")), KIND_UNKNOWN);
    for (enum kind kind = KIND_OWNER_FIRST; kind <= KIND_OWNER_LAST; kind++) {
        CU_ASSERT_TRUE(kind_table[kind].namespaced);
        CU_ASSERT_PTR_NULL(kind_table[kind].pod_template);
        for (enum kind other = KIND_UNKNOWN; other < kind; other++)
            CU_ASSERT_STRING_NOT_EQUAL(kind_table[other].name, kind_table[kind].name);
    }
}

/* The ids are FNV-1a of "group/kind": the same in each replica, whatever it has seen before. */
static void ids_of_custom_kinds_differ(void)
{
    static const struct {
        const char *group, *kind;
    } rows[] = {
        {"argoproj.io", "Rollout"}, {"argoproj.io", "Rollouts"}, {"argoproj.i", "oRollout"},
        {"ray.io", "RayCluster"},   {"", "argoproj.ioRollout"},  {"", ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t id = custom_kind_id(text_of(rows[i].group), text_of(rows[i].kind));
        CU_ASSERT_NOT_EQUAL(id, 0);
        for (size_t j = 0; j < i; j++)
            CU_ASSERT_NOT_EQUAL(id, custom_kind_id(text_of(rows[j].group), text_of(rows[j].kind)));
    }
    /* FNV-1a of one byte, 0x2f: (offset basis ^ 0x2f) * prime */
    CU_ASSERT_EQUAL(custom_kind_id(TEXT(""), TEXT("")),
                    (UINT64_C(0xcbf29ce484222325) ^ 0x2f) * UINT64_C(0x100000001b3));
}

static void sets_are_said_in_words(void)
{
    static const struct {
        kind_set kinds;
        const char *words;
    } rows[] = {
        {0, ""},
        {KIND_BIT(KIND_POD), "Pods"},
        {KIND_BIT(KIND_STORAGE_CLASS), "StorageClasses"},
        {KIND_BIT(KIND_NODE) | KIND_BIT(KIND_NODE_POOL), "NodePools and Nodes"},
        {KIND_BIT(KIND_POD) | KIND_BIT(KIND_EC2_NODE_CLASS) | KIND_BIT(KIND_RESOURCE_SLICE),
         "Pods, EC2NodeClasses and ResourceSlices"},
    };
    struct arena *arena = arena_create(1 << 16);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        ASSERT_TEXT(kinds_in_words(rows[i].kinds, arena), rows[i].words);
    arena_destroy(arena);
}

const char unit_suite[] = "kube kinds";
const struct unit_test unit_tests[] = {
    {"kinds are named as in their API", kinds_are_named_as_in_their_api},
    {"custom owners have no name", custom_owners_have_no_name},
    {"ids of custom kinds differ", ids_of_custom_kinds_differ},
    {"sets are said in words", sets_are_said_in_words},
    {NULL, NULL},
};
