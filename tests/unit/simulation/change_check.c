/* What the API server refuses of a change, at its place and with what is allowed. */
#include "object_fixture.h"
#include "simulation/change_impact.h"

const char unit_suite[] = "simulation check of a change";

#define CLASS(group, kind) \
    "nodeClassRef: {group: " group ", kind: " kind ", name: default}, requirements: []"
#define EC2 CLASS("karpenter.k8s.aws", "EC2NodeClass")
#define POOL_OF(spec, template)                                                 \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general}, " \
    "spec: {" spec "template: {spec: {" template "}}}}"
#define POOL POOL_OF("", EC2)
#define BETA(template)                                                               \
    "{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: general}, " \
    "spec: {template: {spec: {" template "}}}}"
#define STORAGE(more)                                                            \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: gp}, " \
    "provisioner: ebs.csi.aws.com" more "}"
#define PRIORITY(more) \
    "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}" more "}"
#define ANEW "; delete it and create it again"
#define ANOTHER "; make a NodePool of another name"

static void what_is_refused_is_told(void)
{
    static const struct {
        const char *before, *after; /* before NULL: it is made */
        const char *refused;        /* empty: nothing */
    } cases[] = {
        {POOL, POOL, ""},
        {NULL, POOL, ""},
        {POOL, POOL_OF("weight: 1000, ", EC2),
         "spec.weight is 1000; it must be a whole number from 1 to 100"},
        {NULL, POOL_OF("limits: {cpu: lots}, ", EC2),
         "spec.limits.cpu is \"lots\", which is no quantity of 0 or more"},
        /* what cannot change */
        {POOL, POOL_OF("", CLASS("karpenter.azure.com", "EC2NodeClass")),
         "spec.template.spec.nodeClassRef.group is karpenter.azure.com and cannot change from "
         "karpenter.k8s.aws" ANOTHER},
        {POOL, POOL_OF("", CLASS("karpenter.k8s.aws", "AKSNodeClass")),
         "spec.template.spec.nodeClassRef.kind is AKSNodeClass and cannot change from "
         "EC2NodeClass" ANOTHER},
        {POOL_OF("", "nodeClassRef: {name: default}, requirements: []"), POOL, ""},
        {POOL, POOL_OF("replicas: 2, ", EC2),
         "spec.replicas cannot be added to a NodePool" ANOTHER},
        {POOL_OF("replicas: 2, ", EC2), POOL, ""}, /* somebody else may keep them */
        {POOL_OF("replicas: 2, ", EC2), POOL_OF("replicas: 0, ", EC2), ""},
        {BETA("nodeClassRef: {apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, name: a}"),
         POOL, ""},
        {STORAGE(""), STORAGE(", reclaimPolicy: Delete, volumeBindingMode: Immediate"), ""},
        {STORAGE(", parameters: {}"), STORAGE(""), ""},
        {STORAGE(", parameters: {type: gp3, a: b}"), STORAGE(", parameters: {a: b, type: gp3}"),
         ""},
        {STORAGE(""), STORAGE(", allowVolumeExpansion: true, mountOptions: [a]"), ""},
        {STORAGE(", parameters: {type: gp3}"), STORAGE(", parameters: {type: gp2}"),
         "parameters.type cannot change" ANEW},
        {STORAGE(""), STORAGE(", parameters: {type: gp2}"), "parameters.type cannot change" ANEW},
        {STORAGE(", parameters: {type: gp3, a: b}"), STORAGE(", parameters: {type: gp3}"), ""},
        {STORAGE(""), STORAGE(", reclaimPolicy: Retain"),
         "reclaimPolicy is Retain and cannot change from Delete" ANEW},
        {STORAGE(", volumeBindingMode: WaitForFirstConsumer"), STORAGE(""), ""},
        {STORAGE(", volumeBindingMode: WaitForFirstConsumer"),
         STORAGE(", volumeBindingMode: Immediate"),
         "volumeBindingMode is Immediate and cannot change from WaitForFirstConsumer" ANEW},
        {NULL, STORAGE(", reclaimPolicy: Retain"), ""},
        {PRIORITY(", value: 1000"), PRIORITY(", value: 5"),
         "value is 5 and cannot change from 1000" ANEW},
        /* a value of another kind is no change */
        {PRIORITY(", value: 1000"), PRIORITY(", value: '1000'"),
         "value is \"1000\"; it must be a number"},
        {PRIORITY(", value: 1000"), PRIORITY(", value: null"), ""},
        {STORAGE(", parameters: {iops: '3000'}"), STORAGE(", parameters: {iops: 3000}"),
         "parameters.iops is 3000; it must be a string"},
        {STORAGE(""), STORAGE(", reclaimPolicy: [Delete]"),
         "reclaimPolicy is a list; it must be a string"},
        {POOL, POOL_OF("", CLASS("{a: b}", "EC2NodeClass")),
         "spec.template.spec.nodeClassRef.group is a map; it must be a string"},
        {POOL, POOL_OF("", CLASS("karpenter.k8s.aws", "1")),
         "spec.template.spec.nodeClassRef.kind is 1; it must be a string"},
        {PRIORITY(", value: 7"),
         PRIORITY(", value: 7, globalDefault: true, preemptionPolicy: PreemptLowerPriority"), ""},
        {PRIORITY(", value: 7"), PRIORITY(", value: 7, preemptionPolicy: Never"),
         "preemptionPolicy is Never and cannot change from PreemptLowerPriority" ANEW},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(1 << 20);
        struct problems problems = {.arena = arena};
        struct text refused =
            change_check(fixture_object(arena, cases[i].before, ""),
                         fixture_object(arena, cases[i].after, ""), arena, &problems)
                .first;
        ASSERT_TEXT(refused, cases[i].refused);
        CU_ASSERT_EQUAL(problems.count, cases[i].refused[0] == '\0' ? 0 : 1);
        arena_destroy(arena);
    }
}

const struct unit_test unit_tests[] = {
    {"what is refused is told", what_is_refused_is_told},
    {NULL, NULL},
};
