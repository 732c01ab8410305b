/* Which objects of files are whole. */
#include "kube/whole.h"
#include "object_fixture.h"

#define CONTAINER "containers: [{name: a, image: b}]"

static void parts_of_objects_lack_fields(void)
{
    static const struct {
        const char *yaml, *file, *missing;
    } cases[] = {
        {"{apiVersion: v1, kind: Pod, spec: {" CONTAINER "}}", "pod.yaml", ""},
        {"{apiVersion: v1, kind: Pod, spec: {containers: [{name: a}]}}", "pod.yaml",
         "spec.containers[0].image"},
        {"{apiVersion: v1, kind: Pod, spec: {" CONTAINER ", initContainers: [{image: b}]}}",
         "pod.yaml", "spec.initContainers[0].name"},
        {"{apiVersion: apps/v1, kind: Deployment, spec: {selector: {}}}", "deploy.yaml",
         "spec.template.spec.containers"},
        /* of versions that are no longer served nothing is known */
        {"{apiVersion: extensions/v1beta1, kind: Deployment, spec: {}}", "deploy.yaml", ""},
        {"{apiVersion: apps/v1beta2, kind: Deployment, spec: {}}", "deploy.yaml", ""},
        {"{apiVersion: batch/v1, kind: CronJob, spec: {}}", "job.yaml", "spec.schedule"},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {limits: {cpu: 10}}}", "pool.yaml",
         "spec.template.spec.nodeClassRef"},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {template: {spec: {nodeClassRef: "
         "{name: a}}}}}",
         "pool.yaml", "spec.template.spec.requirements"},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {template: {spec: {nodeClassRef: "
         "{name: a}, requirements: []}}}}",
         "pool.yaml", ""},
        {"{apiVersion: karpenter.sh/v1beta1, kind: NodePool, spec: {template: {spec: "
         "{requirements: []}}}}",
         "pool.yaml", "spec.template.spec.nodeClassRef"},
        {"{apiVersion: karpenter.sh/v1beta1, kind: NodePool, spec: {template: {spec: "
         "{nodeClassRef: {name: a}}}}}",
         "pool.yaml", "spec.template.spec.requirements"},
        /* fields where they do not belong are a mistake, not a part */
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {requirements: []}}", "pool.yaml",
         ""},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {nodeClassRef: {name: a}}}",
         "pool.yaml", ""},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {providerRef: {name: a}}}",
         "pool.yaml", ""},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {taints: []}}", "pool.yaml", ""},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {labels: {}}}", "pool.yaml", ""},
        {"{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, spec: {requirements: []}}",
         "class.yaml", "spec.amiSelectorTerms"},
        {"{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, spec: {amiSelectorTerms: []}}",
         "class.yaml", "spec.securityGroupSelectorTerms"},
        {"{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, spec: {amiSelectorTerms: [], "
         "securityGroupSelectorTerms: []}}",
         "class.yaml", "spec.subnetSelectorTerms"},
        {"{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, spec: {amiSelectorTerms: [], "
         "securityGroupSelectorTerms: [], subnetSelectorTerms: []}}",
         "class.yaml", ""},
        {"{apiVersion: apps/v1, kind: Deployment, spec: {template: {spec: {" CONTAINER "}}}}",
         "deploy.yaml", "spec.selector"},
        {"{apiVersion: apps/v1, kind: ReplicaSet, spec: {}}", "set.yaml", "spec.selector"},
        {"{apiVersion: apps/v1, kind: StatefulSet, spec: {}}", "set.yaml", "spec.selector"},
        {"{apiVersion: apps/v1, kind: DaemonSet, spec: {}}", "set.yaml", "spec.selector"},
        {"{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: a}}", "class.yaml",
         "provisioner"},
        {"{apiVersion: storage.k8s.io/v1, kind: StorageClass, provisioner: a}", "class.yaml", ""},
        {"{apiVersion: batch/v1, kind: CronJob, spec: {schedule: '@daily', jobTemplate: {spec: "
         "{template: {spec: {containers: []}}}}}}",
         "job.yaml", "spec.jobTemplate.spec.template.spec.containers"},
        {"{apiVersion: apps/v1, kind: Deployment, spec: {selector: {}, template: {spec: {"
         "containers: [{name: a, image: b}, {image: b}]}}}}",
         "deploy.yaml", "spec.template.spec.containers[1].name"},
        {"{apiVersion: v1, kind: Pod, spec: {}}", "pod.yaml", ""},
        /* a part of a budget is told by its file's name */
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {minAvailable: 1}}",
         "patches/pdb.yaml", "spec.selector"},
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {minAvailable: 1}}",
         "patch.yaml", "spec.selector"},
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {minAvailable: 1}}",
         "dispatch.yaml", ""},
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {minAvailable: 1}}",
         "dispatch-patch.yaml", "spec.selector"},
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {minAvailable: 1}}", NULL, ""},
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {selector: {}}}", "patch.yaml",
         ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(1 << 20);
        struct object object = *fixture_object(arena, cases[i].yaml, "shop");
        object.source->file = cases[i].file;
        if (!text_is(object_missing_field(&object, arena), cases[i].missing))
            fprintf(stderr, "%s: %s\n", cases[i].file, cases[i].yaml);
        ASSERT_TEXT(object_missing_field(&object, arena), cases[i].missing);
        object.source = NULL; /* of a request: no file's name tells */
        if (object.kind == KIND_POD_DISRUPTION_BUDGET)
            ASSERT_TEXT(object_missing_field(&object, arena), "");
        arena_destroy(arena);
    }
}

static void stored_pods_are_known(void)
{
    static const struct {
        const char *yaml;
        bool stored;
    } cases[] = {
        {"{apiVersion: v1, kind: Pod, spec: {}}", false},
        /* a manifest may name its node; a status alone is of a pod that waits for one */
        {"{apiVersion: v1, kind: Pod, spec: {nodeName: a}}", false},
        {"{apiVersion: v1, kind: Pod, status: {phase: Pending}}", false},
        {"{apiVersion: v1, kind: Pod, spec: {nodeName: a}, status: {phase: Running}}", true},
        {"{apiVersion: v1, kind: Pod, metadata: {deletionTimestamp: '2026-11-23T08:00:00Z'}}",
         true},
        {"{apiVersion: v1, kind: Node, metadata: {deletionTimestamp: '2026-11-23T08:00:00Z'}}",
         false},
        {"{apiVersion: v1, kind: Node, spec: {nodeName: a}, status: {phase: Running}}", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(1 << 20);
        if (object_is_stored_pod(fixture_object(arena, cases[i].yaml, "shop")) != cases[i].stored)
            fprintf(stderr, "%s\n", cases[i].yaml);
        CU_ASSERT_EQUAL(object_is_stored_pod(fixture_object(arena, cases[i].yaml, "shop")),
                        cases[i].stored);
        arena_destroy(arena);
    }
}

const char unit_suite[] = "kube whole objects";
const struct unit_test unit_tests[] = {
    {"parts of objects lack fields", parts_of_objects_lack_fields},
    {"stored Pods are known", stored_pods_are_known},
    {NULL, NULL},
};
