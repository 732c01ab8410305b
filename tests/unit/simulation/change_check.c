/* What the API server refuses of a change, at its place and with what is allowed. */
#include <string.h>

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
#define CLASS_NAMED(name, more) \
    "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: " name "}" more "}"
#define PRIORITY(more) CLASS_NAMED("high", more)
#define OF_SYSTEM(more) CLASS_NAMED("system-node-critical", more)
#define NO_PRIORITY "it must be a whole number from -2147483648 to 1000000000"
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
        /* an old version, of which nothing is known to be fixed */
        {POOL,
         BETA("nodeClassRef: {apiVersion: karpenter.k8s.aws/v1beta1, kind: AKSNodeClass, name: a}"),
         ""},
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
        /* nor is one that the API server takes of no object, wherever it stands */
        {STORAGE(""), STORAGE(", parameters: {iops: '4000', throughput: 200}"),
         "parameters.throughput is 200; it must be a string"},
        {STORAGE(""), STORAGE(", reclaimPolicy: Retain, parameters: {throughput: 200}"),
         "parameters.throughput is 200; it must be a string"},
        {STORAGE(""), STORAGE(", parameters: [a]"), "parameters is a list; it must be a map"},
        {STORAGE(""), STORAGE(", parameters: a"), "parameters is \"a\"; it must be a map"},
        {STORAGE(""), STORAGE(", reclaimPolicy: Recycle"),
         "reclaimPolicy is \"Recycle\"; it must be Delete or Retain"},
        {STORAGE(", reclaimPolicy: Recycle"), STORAGE(", reclaimPolicy: Recycle"), ""},
        {STORAGE(""), STORAGE(", volumeBindingMode: Foo"),
         "volumeBindingMode is \"Foo\"; it must be Immediate or WaitForFirstConsumer"},
        {PRIORITY(""), PRIORITY(", value: 1000000001"), "value is 1000000001; " NO_PRIORITY},
        {PRIORITY(""), PRIORITY(", value: -2147483649"), "value is -2147483649; " NO_PRIORITY},
        {PRIORITY(""), PRIORITY(", value: 1000.5"), "value is 1000.5; " NO_PRIORITY},
        {PRIORITY(", value: 7"), PRIORITY(", value: 1000000000"),
         "value is 1000000000 and cannot change from 7" ANEW},
        {PRIORITY(", value: 2000000000"), PRIORITY(", value: 2000000000"), ""},
        {PRIORITY(""), PRIORITY(", preemptionPolicy: Foo"),
         "preemptionPolicy is \"Foo\"; it must be PreemptLowerPriority or Never"},
        {OF_SYSTEM(", value: 2000001000"), OF_SYSTEM(", value: 2000001000"), ""},
        {OF_SYSTEM(", value: 2000001000"), OF_SYSTEM(", value: 5"),
         "value is 5 and cannot change from 2000001000; make a PriorityClass of another name"},
        {OF_SYSTEM(", value: 2000001000"), OF_SYSTEM(", value: 2000000000"),
         "value is 2000000000; " NO_PRIORITY},
        /* nor of one that is new */
        {NULL, STORAGE(", parameters: {iops: 3000}"),
         "parameters.iops is 3000; it must be a string"},
        {NULL, STORAGE(", parameters: {type: null}, reclaimPolicy: '', volumeBindingMode: null"),
         ""},
        {NULL, STORAGE(", volumeBindingMode: ''"),
         "volumeBindingMode is \"\"; it must be Immediate or WaitForFirstConsumer"},
        {NULL, PRIORITY(", value: 3000000000"), "value is 3000000000; " NO_PRIORITY},
        {NULL, PRIORITY(", value: 1e30"), "value is 1e+30; " NO_PRIORITY},
        {NULL, PRIORITY(", value: 1000.0"), ""},
        {NULL, PRIORITY(", value: 1e3"), ""},
        {NULL, OF_SYSTEM(", value: 2000001000"), ""},
        {NULL, POOL_OF("", CLASS("''", "EC2NodeClass")),
         "spec.template.spec.nodeClassRef.group is \"\"; it must be a name"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(1 << 20);
        struct problems problems = {.arena = arena};
        struct change_refusal refusal =
            change_check(fixture_object(arena, cases[i].before, ""),
                         fixture_object(arena, cases[i].after, ""), arena, &problems);
        ASSERT_TEXT(refusal.first, cases[i].refused);
        CU_ASSERT_EQUAL(problems.count, cases[i].refused[0] == '\0' ? 0 : 1);
        if (refusal.first.size > 0)
            CU_ASSERT_EQUAL(refusal.may_be_made_anew, strstr(cases[i].refused, ANEW) != NULL);
        arena_destroy(arena);
    }
}

static void of_several_the_first_is_the_reason(void)
{
    static const struct {
        const char *before, *after, *first, *second;
    } cases[] = {
        {POOL, POOL_OF("weight: 1000, replicas: 2, ", EC2),
         "spec.weight is 1000; it must be a whole number from 1 to 100",
         "spec.replicas cannot be added to a NodePool" ANOTHER},
        {STORAGE(""), STORAGE(", reclaimPolicy: Retain, parameters: {type: gp2}"),
         "reclaimPolicy is Retain and cannot change from Delete" ANEW,
         "parameters.type cannot change" ANEW},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(1 << 20);
        struct problems problems = {.arena = arena};
        struct change_refusal refusal =
            change_check(fixture_object(arena, cases[i].before, ""),
                         fixture_object(arena, cases[i].after, ""), arena, &problems);
        ASSERT_TEXT(refusal.first, cases[i].first);
        CU_ASSERT_FATAL(problems.count == 2);
        CU_ASSERT(text_ends_with(text_of(problems.items[0].what), text_of(cases[i].first)));
        CU_ASSERT(text_ends_with(text_of(problems.items[1].what), text_of(cases[i].second)));
        arena_destroy(arena);
    }
}

const struct unit_test unit_tests[] = {
    {"what is refused is told", what_is_refused_is_told},
    {"of several the first is the reason", of_several_the_first_is_the_reason},
    {NULL, NULL},
};
