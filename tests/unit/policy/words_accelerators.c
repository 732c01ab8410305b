/* What the rails accelerators and instance-types say: the sentence and the fix of a finding. */
#include "rail_modes.h"

#define AWS "karpenter.k8s.aws/instance-"
#define TYPE "node.kubernetes.io/instance-type"
#define IN(key, values) "{key: " key ", operator: In, values: [" values "]}"
#define CLASS(group, kind) "nodeClassRef: {group: " group ", kind: " kind ", name: c}"
#define EC2 CLASS("karpenter.k8s.aws", "EC2NodeClass")
#define AUTO CLASS("eks.amazonaws.com", "NodeClass")
#define AZURE CLASS("karpenter.azure.com", "AKSNodeClass")
#define POOL(name, class, limits, requirements, more)                                           \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: {limits: " \
    "{" limits "}, template: {spec: {" class ", requirements: [" requirements "]" more "}}}}\n"
#define POD(spec) "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {" spec "}}"
#define ASKS(resources) "containers: [{name: a, resources: {limits: {" resources "}}}]"
#define TAINTS(taints) ", taints: [" taints "]"
#define HARD TAINTS("{key: nvidia.com/gpu, effect: NoSchedule}")

static void accelerator_pools(void)
{
    static const struct rail_words rows[] = {
        {POOL("a", EC2, "cpu: 1", IN(AWS "family", "p3"), ""),
         "Any pod may take a place on these accelerator nodes, since no NoSchedule or "
         "NoExecute taint keeps it off.",
         "Add to spec.template.spec.taints: [{key: nvidia.com/gpu, value: \"true\", "
         "effect: NoSchedule}]."},
        /* the taint is that of the device, of Neuron and of AMD here */
        {POOL("a", EC2, "cpu: 1", IN(AWS "family", "inf2"), ""),
         "Any pod may take a place on these accelerator nodes, since no NoSchedule or "
         "NoExecute taint keeps it off.",
         "Add to spec.template.spec.taints: [{key: aws.amazon.com/neuron, value: "
         "\"true\", effect: NoSchedule}]."},
        {POOL("a", EC2, "cpu: 1", IN(AWS "family", "g4ad"), ""),
         "Any pod may take a place on these accelerator nodes, since no NoSchedule or "
         "NoExecute taint keeps it off.",
         "Add to spec.template.spec.taints: [{key: amd.com/gpu, value: \"true\", effect: "
         "NoSchedule}]."},
        /* one generic type among them */
        {POOL("a", EC2, "cpu: 1", IN(TYPE, "m5.large, g5.xlarge"), ""),
         "Any pod may take a place on these accelerator nodes, since no NoSchedule or "
         "NoExecute taint keeps it off.",
         "Add to spec.template.spec.taints: [{key: nvidia.com/gpu, value: \"true\", "
         "effect: NoSchedule}], or give the accelerators a NodePool of their own."},
        {POOL("a", EC2, "cpu: 1", IN(AWS "family", "p3"),
              ", startupTaints: [{key: nvidia.com/gpu, effect: NoSchedule}]"),
         "Any pod may take a place on these accelerator nodes, since startupTaints are "
         "removed once a node is up and no other NoSchedule or NoExecute taint keeps it "
         "off.",
         "Move the taint nvidia.com/gpu from startupTaints to taints."},
        {POOL("a", EC2, "cpu: 1", IN(AWS "family", "p3"),
              ", startupTaints: [{key: nvidia.com/gpu, effect: NoExecute}, {key: other, effect: "
              "NoSchedule}]"),
         "Any pod may take a place on these accelerator nodes, since startupTaints are "
         "removed once a node is up and no other NoSchedule or NoExecute taint keeps it off.",
         "Add to spec.template.spec.taints: [{key: nvidia.com/gpu, value: \"true\", effect: "
         "NoSchedule}]."},
        {POOL("a", EC2, "cpu: 1", IN(AWS "family", "p3"),
              TAINTS("{key: a, effect: PreferNoSchedule}")),
         "PreferNoSchedule keeps no pod off these accelerator nodes.", "Use NoSchedule."},
        {POOL("a", EC2, "cpu: 1", IN(AWS "family", "p3"),
              TAINTS("{key: nvidia.com/gpus, effect: NoSchedule}")),
         "Pods that tolerate nvidia.com/gpu do not tolerate the taint "
         "\"nvidia.com/gpus\", so they would stay off these nodes.",
         "Use nvidia.com/gpu."},
        /* by the vendor's name alone */
        {POOL("a", EC2, "cpu: 1", IN(AWS "family", "g4ad"),
              TAINTS("{key: amd-gpus, effect: NoSchedule}")),
         "Pods that tolerate amd.com/gpu do not tolerate the taint \"amd-gpus\", so they "
         "would stay off these nodes.",
         "Use amd.com/gpu."},
        {POOL("a", EC2, "cpu: 1", IN(AWS "family", "inf2"),
              TAINTS("{key: aws/neuron, effect: NoSchedule}")),
         "Pods that tolerate aws.amazon.com/neuron do not tolerate the taint "
         "\"aws/neuron\", so they would stay off these nodes.",
         "Use aws.amazon.com/neuron."},
        {POOL("a", EC2, "cpu: 1", IN(AWS "family", "dl1"), ""),
         "Any pod may take a place on these accelerator nodes, since no NoSchedule or "
         "NoExecute taint keeps it off.",
         "Add to spec.template.spec.taints: [{key: habana.ai/gaudi, value: \"true\", "
         "effect: NoSchedule}]."},
        {POOL("a", EC2, "", IN(AWS "family", "p3"), HARD),
         "Nothing limits how many accelerator nodes this pool buys.",
         "Set a limit on nvidia.com/gpu in spec.limits."},
        {POOL("a", EC2, "", IN(AWS "family", "g4dn, g4ad, inf2"), HARD),
         "Nothing limits how many accelerator nodes this pool buys.",
         "Set a limit on nvidia.com/gpu, amd.com/gpu, aws.amazon.com/neuron in "
         "spec.limits."},
        /* a mixture: the keys that rule accelerators out, then the types they do not reach */
        {POOL("a", EC2, "cpu: 1", IN(AWS "category", "m, c, inf"), ""),
         "Any pod may take a place on these accelerator nodes, since no NoSchedule or "
         "NoExecute taint keeps it off.",
         "Add to spec.template.spec.taints: [{key: aws.amazon.com/neuron, value: "
         "\"true\", effect: NoSchedule}], or give the accelerators a NodePool of their "
         "own."},
        {POOL(
             "a", EC2, "cpu: 1",
             IN(AWS "cpu", "'4'") ", " IN(AWS "memory", "'16384'") ", " IN(AWS "generation", "'5'"),
             ""),
         "1 of the 8 instance types this pool can launch carries accelerators: g5.xlarge.",
         "Add to spec.template.spec.requirements: [{key: "
         "karpenter.k8s.aws/instance-gpu-count, operator: DoesNotExist}], or name the "
         "accelerators it is for, then taint and limit it."},
        {POOL("a", AUTO, "cpu: 1",
              IN("eks.amazonaws.com/instance-cpu",
                 "'4'") ", " IN("eks.amazonaws.com/instance-memory",
                                "'16384'") ", " IN("eks.amazonaws.com/instance-generation", "'5'"),
              ""),
         "1 of the 8 instance types this pool can launch carries accelerators: g5.xlarge.",
         "Add to spec.template.spec.requirements: [{key: "
         "eks.amazonaws.com/instance-gpu-count, operator: DoesNotExist}], or name the "
         "accelerators it is for, then taint and limit it."},
        {POOL("a", EC2, "cpu: 1",
              "{key: " TYPE ", operator: In, values: [g2.2xlarge, m5.large]}, {key: " AWS
              "category, operator: Exists}",
              ""),
         "Any pod may take a place on these accelerator nodes, since no NoSchedule or "
         "NoExecute taint keeps it off.",
         "Add to spec.template.spec.taints: [{key: nvidia.com/gpu, value: \"true\", "
         "effect: NoSchedule}], or give the accelerators a NodePool of their own."},
        {POOL("a", EC2, "cpu: 1", IN(AWS "size", "2xlarge"), ""),
         "13 of the 148 instance types this pool can launch carry accelerators: "
         "g2.2xlarge, g4ad.2xlarge, g4dn.2xlarge, g5.2xlarge, g5g.2xlarge, ... (13).",
         "Add to spec.template.spec.requirements: [{key: "
         "karpenter.k8s.aws/instance-gpu-count, operator: DoesNotExist}, {key: "
         "karpenter.k8s.aws/instance-accelerator-count, operator: DoesNotExist}], or "
         "name the accelerators it is for, then taint and limit it."},
        {POOL("a", EC2, "cpu: 1", IN(AWS "size", "2xlarge, 8xlarge"), ""),
         "27 of the 282 instance types this pool can launch carry accelerators: "
         "g2.2xlarge, g2.8xlarge, g3.8xlarge, g4ad.2xlarge, g4ad.8xlarge, ... (27).",
         "Add to spec.template.spec.requirements: [{key: "
         "karpenter.k8s.aws/instance-gpu-count, operator: DoesNotExist}, {key: "
         "karpenter.k8s.aws/instance-accelerator-count, operator: DoesNotExist}], or "
         "name the accelerators it is for, then taint and limit it."},
        /* its category tells of one whose hardware is not known */
        {POOL("a", EC2, "cpu: 1", IN(AWS "size", "2xlarge") ", " IN(AWS "generation", "'2'"), ""),
         "1 of the 8 instance types this pool can launch carries accelerators: g2.2xlarge.",
         "Add to spec.template.spec.requirements: [{key: "
         "karpenter.k8s.aws/instance-gpu-count, operator: DoesNotExist}], or "
         "name the accelerators it is for, then taint and limit it."},
        {POOL("a", EC2, "cpu: 1",
              IN(AWS "size", "6xlarge") ", " IN(
                  AWS "cpu", "'24'") ", {key: " AWS "gpu-count, operator: DoesNotExist}",
              ""),
         "1 of the 12 instance types this pool can launch carries accelerators: "
         "inf1.6xlarge.",
         "Add to spec.template.spec.requirements: [{key: "
         "karpenter.k8s.aws/instance-accelerator-count, operator: DoesNotExist}], or name "
         "the accelerators it is for, then taint and limit it."},
        {POOL("a", AZURE, "cpu: 1", IN("karpenter.azure.com/sku-family", "N"), ""),
         "Whether these nodes carry accelerators is not known: they are of "
         "karpenter.azure.com, and the catalogue has EC2 instance types.",
         "Give this cloud's instance types with --catalog FILE."},
    };
    rail_words_run("accelerators: {}", NULL, rows, COUNT_OF(rows));
    static const struct rail_words limited[] = {
        {POOL("a", EC2, "cpu: 1", IN(AWS "family", "p3"), HARD),
         "Nothing limits how much nvidia.com/gpu this pool buys.",
         "Add nvidia.com/gpu to spec.limits."},
        {POOL("a", EC2, "nvidia.com/gpu: 1", IN(AWS "family", "g4dn, g4ad, inf2"), HARD),
         "Nothing limits how much amd.com/gpu, aws.amazon.com/neuron this pool buys.",
         "Add amd.com/gpu, aws.amazon.com/neuron to spec.limits."},
        {POOL("a", EC2, "cpu: 1", IN(AWS "family", "p99"), HARD),
         "Nothing limits how much nvidia.com/gpu this pool buys.",
         "Add nvidia.com/gpu to spec.limits."},
    };
    rail_words_run("accelerators: {requireLimits: accelerator}", NULL, limited, COUNT_OF(limited));
    static const struct rail_words own[] = {
        {POOL("a", EC2, "cpu: 1", IN(AWS "family", "p3"), ""),
         "Any pod may take a place on these accelerator nodes, since no NoSchedule or "
         "NoExecute taint keeps it off.",
         "Add to spec.template.spec.taints: [{key: dedicated, value: \"true\", effect: "
         "NoSchedule}]."},
        {POOL("a", EC2, "", IN(AWS "family", "p3"), HARD),
         "Nothing limits how many accelerator nodes this pool buys.",
         "Set a limit on example.com/fpga in spec.limits."},
    };
    rail_words_run("accelerators: {resources: [example.com/fpga, x], taints: [dedicated]}", NULL,
                   own, COUNT_OF(own));
    /* the device's taint before one that tells no device */
    rail_words_run(
        "accelerators: {taints: [dedicated, amd.com/gpu, nvidia.com/gpu, nvidia.com/all]}", NULL,
        &(struct rail_words){
            POOL("a", EC2, "cpu: 1", IN(AWS "family", "p3"), ""),
            "Any pod may take a place on these accelerator nodes, since no NoSchedule or "
            "NoExecute taint keeps it off.",
            "Add to spec.template.spec.taints: [{key: nvidia.com/gpu, value: \"true\", "
            "effect: NoSchedule}]."},
        1);
    /* nothing tells which key */
    rail_words_run(
        "accelerators: {resources: ['*/vgpu?']}", NULL,
        &(struct rail_words){
            POOL("a", EC2, "cpu: 1", IN(AWS "family", "p3"), ""),
            "Any pod may take a place on these accelerator nodes, since no NoSchedule or "
            "NoExecute taint keeps it off.",
            "Add a taint with the effect NoSchedule."},
        1);
    /* spec.limits takes no patterns: a name goes before them */
    static const struct rail_words patterns[] = {
        {POOL("a", EC2, "", IN(AWS "family", "p3"), HARD),
         "Nothing limits how many accelerator nodes this pool buys.",
         "Set a limit on a resource that nvidia.com/* matches in spec.limits."},
        {POOL("a", EC2, "cpu: 1", IN(AWS "family", "g4dn, g4ad"), HARD),
         "Nothing limits how much amd.com/gpu, a resource that nvidia.com/* matches this "
         "pool buys.",
         "Add amd.com/gpu, a resource that nvidia.com/* matches to spec.limits, or keep "
         "out g4ad.16xlarge, g4ad.2xlarge, g4ad.4xlarge, g4ad.8xlarge, g4ad.xlarge with "
         "the requirement {key: karpenter.k8s.aws/instance-gpu-manufacturer, operator: "
         "In, values: [nvidia]}."},
        {POOL("a", EC2, "", IN(AWS "family", "inf2"), HARD),
         "Nothing limits how many accelerator nodes this pool buys.",
         "Set a limit on amd.com/gpu in spec.limits."},
        {POOL("a", AUTO, "cpu: 1", IN("eks.amazonaws.com/instance-family", "g4dn, g4ad"), HARD),
         "Nothing limits how much amd.com/gpu, a resource that nvidia.com/* matches this "
         "pool buys.",
         "Add amd.com/gpu, a resource that nvidia.com/* matches to spec.limits, or keep "
         "out g4ad.16xlarge, g4ad.2xlarge, g4ad.4xlarge, g4ad.8xlarge, g4ad.xlarge with "
         "the requirement {key: eks.amazonaws.com/instance-gpu-manufacturer, operator: "
         "In, values: [nvidia]}."},
        /* types without a GPU have no maker */
        {POOL("a", EC2, "cpu: 1", IN(AWS "family", "g4dn, g4ad, m5"), HARD),
         "Nothing limits how much amd.com/gpu, a resource that nvidia.com/* matches this "
         "pool buys.",
         "Add amd.com/gpu, a resource that nvidia.com/* matches to spec.limits."},
    };
    rail_words_run("accelerators: {resources: ['nvidia.com/*', amd.com/gpu], requireLimits: "
                   "accelerator, taints: [nvidia.com/gpu]}",
                   NULL, patterns, COUNT_OF(patterns));
    rail_words_run(
        "accelerators: {resources: ['habana.ai/gaud?', aws.amazon.com/neuron], requireLimits: "
        "accelerator}",
        NULL,
        &(struct rail_words){
            POOL("a", EC2, "cpu: 1", IN(AWS "family", "dl1, inf2"), HARD),
            "Nothing limits how much aws.amazon.com/neuron, a resource that habana.ai/gaud? "
            "matches this pool buys.",
            "Add aws.amazon.com/neuron, a resource that habana.ai/gaud? matches to "
            "spec.limits."},
        1);
    rail_words_run(
        "accelerators: {resources: ['*/vgpu?'], taints: [nvidia.com/gpu]}", NULL,
        &(struct rail_words){POOL("a", EC2, "", IN(AWS "family", "p3"), HARD),
                             "Nothing limits how many accelerator nodes this pool buys.",
                             "Set a limit on a resource that */vgpu? matches in spec.limits."},
        1);
}

static void replacements(void)
{
    rail_replaces("accelerators: {}",
                  POOL("a", EC2, "cpu: 1", IN(AWS "family", "p3"),
                       TAINTS("{key: nvidia.com/gpus, effect: NoSchedule}")),
                  "nvidia.com/gpu");
    rail_replaces("accelerators: {}",
                  POOL("a", EC2, "cpu: 1", IN(AWS "family", "p3"),
                       TAINTS("{key: a, effect: PreferNoSchedule}")),
                  "NoSchedule");
    rail_replaces("accelerators: {}", POOL("a", EC2, "cpu: 1", IN(AWS "family", "p3"), ""), "");
}

#define CLOSED(name, taints) \
    "---\n" POOL(name, EC2, "cpu: 1", IN(AWS "family", "g5"), TAINTS(taints))
#define TAINT(key) "{key: " key ", effect: NoSchedule}"

static void accelerator_pods(void)
{
    static const struct rail_words idle[] = {
        {POD("tolerations: [" TAINT("nvidia.com/gpu") "], containers: [{name: a}]"),
         "The pod tolerates nvidia.com/gpu but asks for no accelerator. It takes a place "
         "on a node that is kept for pods that do.",
         "Remove the toleration, or ask for nvidia.com/gpu under resources.limits of a "
         "container."},
    };
    rail_words_run("accelerators: {}", NULL, idle, COUNT_OF(idle));
    static const struct rail_words own[] = {
        {POD("tolerations: [" TAINT("dedicated") "], containers: [{name: a}]"),
         "The pod tolerates dedicated but asks for no accelerator. It takes a place on a "
         "node that is kept for pods that do.",
         "Remove the toleration, or ask for example.com/fpga under resources.limits of a "
         "container."},
    };
    rail_words_run("accelerators: {resources: [example.com/fpga, b], taints: [dedicated]}", NULL,
                   own, COUNT_OF(own));
    /* a taint that is a resource names itself, and a container asks for no pattern */
    static const struct rail_words of_pattern[] = {
        {POD("tolerations: [" TAINT("amd.com/gpu") "], containers: [{name: a}]"),
         "The pod tolerates amd.com/gpu but asks for no accelerator. It takes a place on "
         "a node that is kept for pods that do.",
         "Remove the toleration, or ask for amd.com/gpu under resources.limits of a "
         "container."},
        {POD("tolerations: [" TAINT("dedicated") "], containers: [{name: a}]"),
         "The pod tolerates dedicated but asks for no accelerator. It takes a place on a "
         "node that is kept for pods that do.",
         "Remove the toleration, or ask for a resource that nvidia.com/* matches under "
         "resources.limits of a container."},
    };
    rail_words_run("accelerators: {resources: ['nvidia.com/*', amd.com/gpu], taints: [dedicated, "
                   "amd.com/gpu]}",
                   NULL, of_pattern, COUNT_OF(of_pattern));
    static const struct rail_words asks[] = {
        {POD(ASKS("nvidia.com/gpu: 1")),
         "Whether the pod tolerates the taints of nodes with nvidia.com/gpu is not known, "
         "since no NodePool is visible.",
         "Make the NodePools visible (--state DIR)."}};
    rail_words_run("accelerators: {}", NULL, asks, 1);
    static const struct rail_words asks_of_two[] = {
        {POD(ASKS("nvidia.com/gpu: 1")),
         "The pod asks for nvidia.com/gpu but does not tolerate the taints of the "
         "NodePools that could serve it: one (b:NoSchedule, c=d:NoExecute), two "
         "(b:NoSchedule, d:NoSchedule).",
         "Add to spec.tolerations: [{key: b, operator: Exists, effect: NoSchedule}, {key: "
         "c, operator: Exists, effect: NoExecute}]."},
        {POD(ASKS("nvidia.com/gpu: 1") ", tolerations: [" TAINT("d") "]"),
         "The pod asks for nvidia.com/gpu but does not tolerate the taints of the "
         "NodePools that could serve it: one (b:NoSchedule, c=d:NoExecute), two "
         "(b:NoSchedule).",
         "Add to spec.tolerations: [{key: b, operator: Exists, effect: NoSchedule}]."},
    };
    /* The second lacks less. */
    rail_words_run(
        "accelerators: {}",
        CLOSED(
            "one",
            TAINT(
                "b") ", {key: c, value: d, effect: NoExecute}, {key: e, effect: PreferNoSchedule}")
            CLOSED("two", TAINT("b") ", " TAINT("d")),
        asks_of_two, 2);
    static const struct rail_words asks_of_many[] = {
        {POD(ASKS("nvidia.com/gpu: 1")),
         "The pod asks for nvidia.com/gpu but does not tolerate the taints of the "
         "NodePools that could serve it: a (x:NoSchedule), b (x:NoSchedule), c "
         "(x:NoSchedule), d (x:NoSchedule), e (x:NoSchedule).",
         "Add to spec.tolerations: [{key: x, operator: Exists, effect: NoSchedule}]."}};
    rail_words_run("accelerators: {}",
                   CLOSED("a", TAINT("x")) CLOSED("b", TAINT("x")) CLOSED("c", TAINT("x"))
                       CLOSED("d", TAINT("x")) CLOSED("e", TAINT("x")),
                   asks_of_many, 1);
    static const struct rail_words asks_of_six[] = {
        {POD(ASKS("nvidia.com/gpu: 1")),
         "The pod asks for nvidia.com/gpu but does not tolerate the taints of the "
         "NodePools that could serve it: a (x:NoSchedule), b (x:NoSchedule), c "
         "(x:NoSchedule), d (x:NoSchedule), e (x:NoSchedule), ... (6).",
         "Add to spec.tolerations: [{key: x, operator: Exists, effect: NoSchedule}]."}};
    rail_words_run("accelerators: {}",
                   CLOSED("a", TAINT("x")) CLOSED("b", TAINT("x")) CLOSED("c", TAINT("x"))
                       CLOSED("d", TAINT("x")) CLOSED("e", TAINT("x")) CLOSED("f", TAINT("x")),
                   asks_of_six, 1);
}

#define SELECTS(labels) POD("nodeSelector: {" labels "}")
#define REQUIRES(expressions)                                                        \
    POD("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: " \
        "{nodeSelectorTerms: [{matchExpressions: [" expressions "]}]}}}")

static void instance_types(void)
{
    static const struct rail_words rows[] = {
        {SELECTS(TYPE ": m5.4xlarge"), "Instance type m5.4xlarge is not allowed here.",
         "Remove this entry of the nodeSelector, or choose one of 4 allowed types, such as "
         "m5.xlarge."},
        {SELECTS(TYPE ": m5.lrge"), "Instance type m5.lrge is not allowed here.",
         "Remove this entry of the nodeSelector, or choose one of 4 allowed types, such as "
         "m5.large."},
        {SELECTS(TYPE ": m5.77xlarge"), "Instance type m5.77xlarge is not allowed here.",
         "Remove this entry of the nodeSelector, or choose one of 4 allowed types, such as "
         "m5.xlarge."},
        {SELECTS(TYPE ": p9.large"), "Instance type p9.large is not allowed here.",
         "Remove this entry of the nodeSelector."},
        {SELECTS(TYPE ": nonsense"),
         "Instance type nonsense is not in the catalogue, and may not exist.",
         "Check the name: taffrail catalog filter type lists those there are."},
        {SELECTS(AWS "family: c5"), "Instance family c5 is not allowed here.",
         "Remove this entry of the nodeSelector, or choose one of 2 allowed families, such as m5."},
        {SELECTS(AWS "family: m5, kubernetes.io/arch: arm64"),
         "Architecture arm64 is not allowed here.",
         "Remove this entry of the nodeSelector, or choose amd64."},
        {REQUIRES("{key: " AWS "family, operator: In, values: [c5, c6i]}"),
         "Instance families c5 and c6i are not allowed here.",
         "Remove the requirement, or choose one of 2 allowed families, such as m5."},
        {REQUIRES("{key: " AWS "memory, operator: Gt, values: ['1000000']}"),
         "This reaches 140 instance types, none of which is allowed: f2.48xlarge, g6e.48xlarge, "
         "g7e.24xlarge, g7e.48xlarge, hpc6id.32xlarge, ... (140).",
         "Widen the requirements until they reach an allowed type, or leave the choice to the "
         "NodePools."},
        {REQUIRES("{key: " AWS "family, operator: In, values: [m5]}, {key: " AWS
                  "cpu, operator: In, values: ['96']}"),
         "This reaches 2 instance types, none of which is allowed: m5.24xlarge, m5.metal.",
         "Widen the requirements until they reach an allowed type, or leave the choice to the "
         "NodePools."},
        {REQUIRES("{key: " AWS "family, operator: In, values: [m5]}, {key: " AWS
                  "cpu, operator: In, values: ['32']}"),
         "This reaches one instance type, m5.8xlarge, which is not allowed.",
         "Widen the requirements until they reach an allowed type, or leave the choice to the "
         "NodePools."},
        {POOL("a", EC2, "", IN(AWS "family", "m5"), ""),
         "7 of the 9 instance types that the pool can launch are not allowed: m5.12xlarge, "
         "m5.16xlarge, m5.24xlarge, m5.2xlarge, m5.4xlarge, ... (7).",
         "Add to spec.template.spec.requirements: [{key: karpenter.k8s.aws/instance-size, "
         "operator: In, values: [large, xlarge]}]."},
        {POOL("a", EC2, "", IN(TYPE, "m5.large, m5.4xlarge"), ""),
         "1 of the 2 instance types that the pool can launch is not allowed: m5.4xlarge.",
         "Add to spec.template.spec.requirements: [{key: karpenter.k8s.aws/instance-size, "
         "operator: In, values: [large, xlarge]}]."},
        {POOL("a", EC2, "", IN(AWS "size", "large") ", " IN(AWS "family", "m5, c5, r5"), ""),
         "1 of the 3 instance types that the pool can launch is not allowed: c5.large.",
         "Add to spec.template.spec.requirements: [{key: karpenter.k8s.aws/instance-family, "
         "operator: In, values: [m5, r5]}]."},
        {POOL("a", EC2, "", IN(AWS "family", "c5"), ""),
         "All 9 instance types that the pool can launch are not allowed: c5.12xlarge, c5.18xlarge, "
         "c5.24xlarge, c5.2xlarge, c5.4xlarge, ... (9).",
         "Replace the values of karpenter.k8s.aws/instance-family, which no allowed type has, with "
         "[m5], and add to spec.template.spec.requirements: [{key: "
         "karpenter.k8s.aws/instance-size, operator: In, values: [large, xlarge]}]."},
        {POOL("a", EC2, "", IN(AWS "family", "m5") ", " IN(AWS "size", "4xlarge"), ""),
         "The one instance type that the pool can launch is not allowed: m5.4xlarge.",
         "Replace the values of karpenter.k8s.aws/instance-size, which no allowed type has, with "
         "[xlarge]."},
        {POOL("a", EC2, "",
              IN(AWS "family", "m5, r5") ", " IN(AWS "size", "4xlarge, 8xlarge") ", " IN(AWS "cpu",
                                                                                         "'16'"),
              ""),
         "All 2 instance types that the pool can launch are not allowed: m5.4xlarge, r5.4xlarge.",
         "Change the requirements on karpenter.k8s.aws/instance-size, "
         "karpenter.k8s.aws/instance-cpu, which no allowed type meets."},
        {POOL("a", EC2, "", IN(AWS "family", "m5") ", " IN(AWS "cpu", "'3'"), ""),
         "No instance type fits these requirements, so the pool can launch none.",
         "Remove one of the requirements."},
        {POOL("a", EC2, "", IN(AWS "family", "m5x"), ""),
         "Instance family m5x is not allowed here.",
         "Remove the requirement, or choose one of 2 allowed families, such as m5."},
        {POOL("a", AUTO, "", IN("eks.amazonaws.com/instance-family", "m5"), ""),
         "7 of the 9 instance types that the pool can launch are not allowed: m5.12xlarge, "
         "m5.16xlarge, m5.24xlarge, m5.2xlarge, m5.4xlarge, ... (7).",
         "Add to spec.template.spec.requirements: [{key: eks.amazonaws.com/instance-size, "
         "operator: In, values: [large, xlarge]}]."},
        {POOL("a", AZURE, "", "", ""),
         "The catalogue has EC2 instance types alone, and the nodes of this pool are of "
         "karpenter.azure.com.",
         "Give this cloud's instance types with --catalog FILE."},
    };
    rail_words_run("instance-types: {allow: {families: [m5, r5], sizes: [large, xlarge]}}", NULL,
                   rows, COUNT_OF(rows));
    static const struct rail_words bounded[] = {
        {SELECTS(TYPE ": m5.8xlarge"), "Instance type m5.8xlarge is not allowed here.",
         "Remove this entry of the nodeSelector, or choose one of 102 allowed types, such as "
         "m5.4xlarge."},
        {SELECTS(TYPE ": m4.large"), "Instance type m4.large is not allowed here.",
         "Remove this entry of the nodeSelector, or choose one of 102 allowed types, such as "
         "m5.large."},
        {SELECTS(TYPE ": m5.metal"), "Instance type m5.metal is not allowed here.",
         "Remove this entry of the nodeSelector, or choose one of 102 allowed types, such as "
         "m5.4xlarge."},
        {POOL("a", EC2, "", IN(AWS "category", "m"), ""),
         "277 of the 389 instance types that the pool can launch are not allowed: m1.large, "
         "m1.medium, m1.small, m1.xlarge, m2.2xlarge, ... (277).",
         "Add to spec.template.spec.requirements: [{key: kubernetes.io/arch, operator: In, values: "
         "[amd64]}, {key: karpenter.k8s.aws/instance-generation, operator: Gt, values: [\"4\"]}, "
         "{key: karpenter.k8s.aws/instance-cpu, operator: Lt, values: [\"17\"]}]."},
        {POOL("a", EC2, "", IN(AWS "family", "m5, g5"), ""),
         "13 of the 17 instance types that the pool can launch are not allowed: g5.12xlarge, "
         "g5.16xlarge, g5.24xlarge, g5.2xlarge, g5.48xlarge, ... (13).",
         "Add to spec.template.spec.requirements: [{key: karpenter.k8s.aws/instance-cpu, operator: "
         "Lt, values: [\"17\"]}, {key: node.kubernetes.io/instance-type, operator: NotIn, values: "
         "[g5.2xlarge, g5.4xlarge, g5.xlarge]}]."},
        {POOL("a", EC2, "", IN(AWS "family", "m7i, m7g, r7i"), ""),
         "27 of the 31 instance types that the pool can launch are not allowed: m7g.12xlarge, "
         "m7g.16xlarge, m7g.2xlarge, m7g.4xlarge, m7g.8xlarge, ... (27).",
         "Add to spec.template.spec.requirements: [{key: karpenter.k8s.aws/instance-category, "
         "operator: In, values: [m, g]}, {key: kubernetes.io/arch, operator: In, values: [amd64]}, "
         "{key: karpenter.k8s.aws/instance-cpu, operator: Lt, values: [\"17\"]}]."},
    };
    rail_words_run(
        "instance-types: {allow: {categories: [m, g], architectures: [amd64], minGeneration: 5}, "
        "deny: {sizes: [metal, 24xlarge]}, max: {cpu: 16, memory: 64Gi, gpus: 0}}",
        NULL, bounded, COUNT_OF(bounded));
}

static void what_to_add_or_change(void)
{
    static const struct rail_words memory[] = {
        {POOL("a", EC2, "", IN(AWS "family", "r5"), ""),
         "6 of the 9 instance types that the pool can launch are not allowed: r5.12xlarge, "
         "r5.16xlarge, r5.24xlarge, r5.4xlarge, r5.8xlarge, ... (6).",
         "Add to spec.template.spec.requirements: [{key: karpenter.k8s.aws/instance-memory, "
         "operator: Lt, values: [\"65537\"]}]."}};
    rail_words_run("instance-types: {max: {memory: 64Gi}}", NULL, memory, 1);
    static const struct rail_words denied[] = {
        {POOL("a", EC2, "", IN(AWS "family", "m5"), ""),
         "1 of the 9 instance types that the pool can launch is not allowed: m5.large.",
         "Add to spec.template.spec.requirements: [{key: node.kubernetes.io/instance-type, "
         "operator: NotIn, values: [m5.large]}]."},
        {POOL("a", EC2, "", IN(TYPE, "m5.large, m5.xlarge"), ""),
         "1 of the 2 instance types that the pool can launch is not allowed: m5.large.",
         "Add to spec.template.spec.requirements: [{key: node.kubernetes.io/instance-type, "
         "operator: In, values: [m5.xlarge]}]."},
    };
    rail_words_run("instance-types: {deny: {types: [m5.large]}}", NULL, denied, COUNT_OF(denied));
    /* Each requirement alone meets the list. */
    static const struct rail_words together[] = {
        {POOL("a", EC2, "", IN(AWS "family", "m5") ", " IN(AWS "size", "xlarge"), ""),
         "The one instance type that the pool can launch is not allowed: m5.xlarge.",
         "Change the requirements, which no allowed type meets together."}};
    rail_words_run("instance-types: {allow: {types: [m5.large, c5.xlarge]}}", NULL, together, 1);
    static const struct rail_words unknown[] = {
        {SELECTS(TYPE ": m99.large"),
         "Instance type m99.large is not in the catalogue, and may not exist.",
         "Replace with m9g.large."},
        {SELECTS(TYPE ": m5.lrge"),
         "Instance type m5.lrge is not in the catalogue, and may not exist.",
         "Replace with m5.large."},
        {SELECTS(TYPE ": m5.16xlg"),
         "Instance type m5.16xlg is not in the catalogue, and may not exist.",
         "Replace with m5.16xlarge."},
        {SELECTS(AWS "family: m99"),
         "Instance family m99 is not in the catalogue, and may not exist.", "Replace with m9g."},
        {SELECTS(AWS "family: m5zn8"),
         "Instance family m5zn8 is not in the catalogue, and may not exist.", "Replace with m5zn."},
    };
    rail_words_run("instance-types: {allow: {categories: [m]}}", NULL, unknown, COUNT_OF(unknown));
    static const struct rail_words nothing[] = {{SELECTS(TYPE ": m5.large"),
                                                 "Instance type m5.large is not allowed here.",
                                                 "Remove this entry of the nodeSelector."}};
    rail_words_run("instance-types: {deny: {types: ['*']}}", NULL, nothing, 1);
}

const char unit_suite[] = "policy words: accelerators and instance types";
const struct unit_test unit_tests[] = {
    {"accelerator pools", accelerator_pools},         {"replacements", replacements},
    {"accelerator pods", accelerator_pods},           {"instance types", instance_types},
    {"what to add or change", what_to_add_or_change}, {NULL, NULL},
};
