/* The rail accelerators: which pools are made for them, and which taints and limits will do. */
#include "rail_table.h"

#define NODE_CLASS "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}"
#define POOL_OF(class, limits, requirements, more)                                              \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {limits: " limits \
    ", template: {spec: {" class ", requirements: [" requirements "]" more "}}}}"
#define POOL(requirements, more) POOL_OF(NODE_CLASS, "{cpu: 100}", requirements, more)
#define LIMITED(limits, requirements) \
    POOL_OF(NODE_CLASS, limits, requirements, ", taints: [{key: a, effect: NoSchedule}]")

#define IN(key, values) "{key: " key ", operator: In, values: [" values "]}"
#define TYPE "node.kubernetes.io/instance-type"
#define AWS "karpenter.k8s.aws/instance-"
#define P3 IN(TYPE, "p3.2xlarge")
#define TAINTED(key, effect) ", taints: [{key: " key ", effect: " effect "}]"

/* Reaches g5.xlarge, and seven types without accelerators. */
#define NEAR_G5 \
    IN(AWS "cpu", "'4'") ", " IN(AWS "memory", "'16384'") ", " IN(AWS "generation", "'5'")
#define LABELLED(labels, requirements)                                                   \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {limits: " \
    "{cpu: 1}, template: {metadata: {labels: {" labels "}}, spec: {" NODE_CLASS          \
    ", requirements: [" requirements "]}}}}"

#define UNTAINTED "deny spec.template.spec.taints "
#define KEY "deny spec.template.spec.taints[0].key "
#define MIXED "warn spec.template.spec.requirements "

static void pools_made_for_accelerators_are_known(void)
{
    static const struct rail_case cases[] = {
        /* every type carries one */
        {POOL(P3, ""), UNTAINTED},
        {POOL(IN(AWS "family", "g6f, gr6f"), ""), UNTAINTED},
        {POOL(IN("beta.kubernetes.io/instance-type", "trn1.2xlarge"), ""), UNTAINTED},
        {POOL(IN(AWS "memory", "'1179648'") ", " IN(AWS "cpu", "'96'") ", " IN(AWS "family", "p4d"),
              ""),
         UNTAINTED},
        {POOL(IN(AWS "cpu", "'4'") ", " IN(AWS "memory", "'62464'"), ""),
         UNTAINTED}, /* p2.xlarge */
        /* a requirement asks for one */
        {POOL("{key: " AWS "gpu-count, operator: Exists}", ""), UNTAINTED},
        {POOL("{key: " AWS "gpu-count, operator: Gt, values: ['0']}", ""), UNTAINTED},
        {POOL("{key: " AWS "gpu-count, operator: Gte, values: ['1']}", ""), UNTAINTED},
        {POOL(IN("eks.amazonaws.com/instance-gpu-name", "t4"), ""), UNTAINTED},
        {POOL(IN(AWS "accelerator-name", "inferentia2"), ""), UNTAINTED},
        {POOL(IN(TYPE, "m5.large, g5.xlarge"), ""), UNTAINTED},
        {POOL(IN(AWS "family", "m5, inf2"), ""), UNTAINTED},
        {POOL(IN(AWS "category", "c, p"), ""), UNTAINTED},
        /* the catalogue does not know it, its name does */
        {POOL(IN(TYPE, "p99.48xlarge"), ""), UNTAINTED},
        {POOL(IN(AWS "family", "g99"), ""), UNTAINTED},
        {POOL(IN(AWS "accelerator-name", "trainium9"), ""), UNTAINTED},
        {POOL(IN("eks.amazonaws.com/instance-gpu-name", "b900"), ""), UNTAINTED},
        {LABELLED(AWS "family: p99", ""), UNTAINTED},
        /* nor does its name tell anything: what is wrong with it is another rail's */
        {POOL(IN(TYPE, "nonsense"), ""), ""},
        {POOL(IN(AWS "family", "zz9"), ""), ""},
        {POOL(IN(AWS "category", "p5"), ""), ""},
        /* named, and then ruled out */
        {POOL(IN(AWS "family", "m5, g5") ", {key: " AWS "gpu-count, operator: DoesNotExist}", ""),
         ""},
        {POOL("{key: " AWS "gpu-count, operator: DoesNotExist}, "
              "{key: " AWS "accelerator-count, operator: DoesNotExist}, "
              "{key: " TYPE ", operator: NotIn, values: "
              "[g2.2xlarge, g2.8xlarge, p6e-gb200.36xlarge, trn2u.48xlarge]}",
              ""),
         ""},
        {POOL(IN(AWS "category", "c, m, r"), ""), ""},
        {POOL(IN(AWS "family", "m99"), ""), ""},
        /* reached, not named */
        {POOL(NEAR_G5, ""), MIXED "g5.xlarge"},
        /* what else is said of a type names no accelerator, and another operator than In none */
        {POOL(NEAR_G5 ", " IN(AWS "size", "xlarge"), ""), MIXED "g5.xlarge"},
        {POOL(NEAR_G5 ", {key: " AWS "family, operator: NotIn, values: [p3, g4dn]}", ""),
         MIXED "g5.xlarge"},
        {POOL(NEAR_G5 ", {key: " AWS "family, operator: Exists}", ""), MIXED "g5.xlarge"},
        {POOL(NEAR_G5 ", {key: " AWS "accelerator-count, operator: DoesNotExist}", ""),
         MIXED "g5.xlarge"},
        {POOL(NEAR_G5 ", {key: " AWS "gpu-count, operator: exists}", ""), MIXED "g5.xlarge"},
        {LABELLED(AWS "cpu: '4'", IN(AWS "memory", "'16384'") ", " IN(AWS "generation", "'5'")),
         MIXED "g5.xlarge"},
        /* ruled out by a label as by a requirement */
        {LABELLED(AWS "family: m5", NEAR_G5), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, cases, COUNT_OF(cases)});
}

static void a_taint_must_keep_pods_out(void)
{
    static const struct rail_case cases[] = {
        {POOL(P3, TAINTED("nvidia.com/gpu", "NoSchedule")), ""},
        {POOL(P3, TAINTED("nvidia.com/gpu", "NoExecute")), ""},
        {POOL(P3, TAINTED("dedicated", "NoSchedule")), ""},
        {POOL(P3, ", startupTaints: [{key: nvidia.com/gpu, effect: NoSchedule}]"), UNTAINTED},
        {POOL(P3, ", taints: []"), UNTAINTED},
        {POOL(P3, ", taints: {nvidia.com/gpu: NoSchedule}"), UNTAINTED},
        {POOL(P3, TAINTED("dedicated", "PreferNoSchedule")),
         "deny spec.template.spec.taints[0].effect PreferNoSchedule"},
        /* a soft taint beside a hard one */
        {POOL(P3, ", taints: [{key: a, effect: PreferNoSchedule}, {key: b, effect: NoSchedule}]"),
         ""},
        {POOL(P3, ", taints: [{key: b, effect: NoExecute}, {key: a, effect: PreferNoSchedule}]"),
         ""},
        /* one of two made hard will do */
        {POOL(P3, ", taints: [{key: a, effect: PreferNoSchedule}, "
                  "{key: b, effect: PreferNoSchedule}]"),
         "deny spec.template.spec.taints[0].effect PreferNoSchedule"},
        /* no effect at all, which the API server refuses */
        {POOL(P3, ", taints: [{key: nvidia.com/gpu}]"), UNTAINTED},
        /* misspelt: within two edits, or a variant */
        {POOL(P3, TAINTED("nvidia.com/gup", "NoSchedule")), KEY "nvidia.com/gup"},
        {POOL(P3, TAINTED("nvidia.com/gpus", "NoSchedule")), KEY "nvidia.com/gpus"},
        {POOL(P3, TAINTED("nvidia/gpu", "NoSchedule")), KEY "nvidia/gpu"},
        {POOL(P3, TAINTED("NVIDIA.com/GPU", "NoSchedule")), KEY "NVIDIA.com/GPU"},
        {POOL(P3, TAINTED("nvidia-gpus", "NoSchedule")), KEY "nvidia-gpus"},
        {POOL(P3, TAINTED("nvidia_gpu", "NoSchedule")), KEY "nvidia_gpu"},
        {POOL(P3, TAINTED("aws.amazon.com/neurons", "NoSchedule")), KEY "aws.amazon.com/neurons"},
        {POOL(P3, TAINTED("nvidia.com/GPUs", "NoSchedule")), KEY "nvidia.com/GPUs"},
        {POOL(P3, TAINTED("amd/gpu", "NoSchedule")), KEY "amd/gpu"},
        {POOL(P3, TAINTED("habana-gaudi", "NoSchedule")), KEY "habana-gaudi"},
        {POOL(P3, TAINTED("aws/neuroncore", "NoSchedule")), KEY "aws/neuroncore"},
        {POOL(P3, TAINTED("aws-amazon-com-neuron", "NoSchedule")), KEY "aws-amazon-com-neuron"},
        /* each of them */
        {POOL(P3, ", taints: [{key: nvidia.com/gup, effect: NoSchedule}, {key: a, effect: "
                  "NoSchedule}, {key: amd/gpu, effect: NoExecute}]"),
         KEY "nvidia.com/gup\ndeny spec.template.spec.taints[2].key amd/gpu"},
        /* misspelt and soft: two things to mend */
        {POOL(P3, TAINTED("nvidia.com/gpus", "PreferNoSchedule")),
         "deny spec.template.spec.taints[0].effect PreferNoSchedule\n" KEY "nvidia.com/gpus"},
        /* other keys, however near to the subject */
        {POOL(P3, TAINTED("gpu", "NoSchedule")), ""},
        {POOL(P3, TAINTED("nvidia.com/gpushare", "NoSchedule")), ""},
        {POOL(P3, TAINTED("nvidia.com/dra", "NoSchedule")), ""}, /* three edits */
        {POOL(P3, TAINTED("example.com/gpu", "NoSchedule")), ""},
        {POOL(P3, TAINTED("nvidia.com/mig-1g.5gb", "NoSchedule")), ""},
        {POOL(P3, TAINTED("aws.amazon.com/neuroncore", "NoSchedule")), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, cases, COUNT_OF(cases)});

    static const struct rail_case own[] = {
        {POOL(P3, TAINTED("cpu", "NoSchedule")), ""},
        {POOL(P3, TAINTED("s", "NoSchedule")), ""},
        {POOL(P3, TAINTED("accelerators", "NoSchedule")), KEY "accelerators"},
        {POOL(P3, TAINTED("nvidia.com/gpus", "NoSchedule")), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {taints: [gpu, accelerator, '/']}", NULL,
                                        own, COUNT_OF(own)});
    /* an s makes many of one, and not of what ends with one */
    static const struct rail_case plural[] = {
        {POOL(P3, TAINTED("abs", "NoSchedule")), KEY "abs"},
        {POOL(P3, TAINTED("cdss", "NoSchedule")), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {taints: [a/b, c/ds]}", NULL, plural,
                                        COUNT_OF(plural)});
    /* An edit for four letters, two at most: the shorter a key, the more it may mean. */
    static const struct rail_case near[] = {
        {POOL(P3, TAINTED("acl", "NoSchedule")), ""},
        {POOL(P3, TAINTED("acel", "NoSchedule")), KEY "acel"},
        {POOL(P3, TAINTED("traning", "NoSchedule")), KEY "traning"},
        {POOL(P3, TAINTED("trainin", "NoSchedule")), KEY "trainin"},
        {POOL(P3, TAINTED("tranign", "NoSchedule")), ""}, /* two edits, of seven letters */
        {POOL(P3, TAINTED("trainign", "NoSchedule")), KEY "trainign"},
        {POOL(P3, TAINTED("straiinigg", "NoSchedule")), ""}, /* three, of ten */
        /* a taint that is a plural itself, and digits, which tell devices apart */
        {POOL(P3, TAINTED("example-gpus", "NoSchedule")), KEY "example-gpus"},
        {POOL(P3, TAINTED("example-com-a109", "NoSchedule")), KEY "example-com-a109"},
        {POOL(P3, TAINTED("example-com-a", "NoSchedule")), ""},
    };
    rail_table_run(&(struct rail_table){
        "accelerators: {taints: [accel, training, example.com/gpus, example.com/a109]}", NULL, near,
        COUNT_OF(near)});
}

/* Kubernetes allows a domain of 253 bytes before a name of 63. */
static void keys_may_be_long(void)
{
#define TEN "abcdefghi."
#define FIFTY TEN TEN TEN TEN TEN
    static const struct rail_case cases[] = {
        {POOL(P3, TAINTED(FIFTY FIFTY TEN "example.com/gpu", "NoSchedule")), ""},
        {POOL(P3, TAINTED(FIFTY FIFTY TEN "example-com-gpus", "NoSchedule")),
         KEY FIFTY FIFTY TEN "example-com-gpus"},
        {POOL(P3, TAINTED(FIFTY FIFTY FIFTY FIFTY FIFTY "com/gpu", "NoSchedule")), ""},
        {POOL(P3, TAINTED(FIFTY FIFTY FIFTY FIFTY FIFTY "com-gpus", "NoSchedule")),
         KEY FIFTY FIFTY FIFTY FIFTY FIFTY "com-gpus"},
        {POOL(P3, TAINTED("nvidia.com/" FIFTY FIFTY FIFTY, "NoSchedule")), ""},
        {POOL(P3, TAINTED("dedicated", "NoSchedule")), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {taints: [" FIFTY FIFTY TEN
                                        "example.com/gpu, " FIFTY FIFTY FIFTY FIFTY FIFTY
                                        "com/gpu]}",
                                        NULL, cases, COUNT_OF(cases)});
}

static void a_limit_of_the_kind_required(void)
{
    static const char missing[] = "deny spec.limits ";
    static const struct rail_case any[] = {
        {LIMITED("{cpu: 1}", P3), ""},          {LIMITED("{}", P3), missing},
        {LIMITED("null", P3), missing},         {LIMITED("{cpu: null}", P3), missing},
        {LIMITED("null, replicas: 3", P3), ""}, {LIMITED("{cpu: null, memory: 1Gi}", P3), ""},
        {LIMITED("[cpu]", P3), missing},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, any, COUNT_OF(any)});
    static const struct rail_case accelerator[] = {
        {LIMITED("{cpu: 1}", P3), missing},
        {LIMITED("{nvidia.com/gpu: 1}", P3), ""},
        {LIMITED("{amd.com/gpu: 1}", P3), missing},
        {LIMITED("{nvidia.com/gpu: 1}", IN(AWS "family", "g4dn, g4ad")), missing},
        {LIMITED("{cpu: 1}", IN(AWS "family", "g4ad")), missing},
        {LIMITED("{nvidia.com/gpu: 1, amd.com/gpu: 1}", IN(AWS "family", "g4dn, g4ad")), ""},
        {LIMITED("{aws.amazon.com/neuroncore: 1}", IN(AWS "family", "inf2")), ""},
        {LIMITED("{habana.ai/gaudi: 8}", IN(AWS "family", "dl1")), ""},
        {LIMITED("null, replicas: 3", P3), ""},
        /* whatever it is a part of, and not what is no limit */
        {LIMITED("{nvidia.com/mig-1g.5gb: 7}", P3), ""},
        {LIMITED("{cpu: 1, nvidia.com/gpu: null}", P3), missing},
        {LIMITED("{4paradigm.com/vgpu: 4}", P3), missing},
        /* which accelerators it launches is not known: any will do */
        {LIMITED("{cpu: 1}", IN(AWS "family", "p99")), missing},
        {LIMITED("{cpu: 1, amd.com/gpu: 1}", IN(AWS "family", "p99")), ""},
        {LIMITED("{4paradigm.com/vgpu: 4}", IN(AWS "family", "p99")), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {requireLimits: accelerator}", NULL,
                                        accelerator, COUNT_OF(accelerator)});
    static const struct rail_case off[] = {{LIMITED("{}", P3), ""}, {POOL(P3, ""), UNTAINTED}};
    rail_table_run(
        &(struct rail_table){"accelerators: {requireLimits: 'off'}", NULL, off, COUNT_OF(off)});
}

#define AZURE "nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: a}"
#define ELSEWHERE(limits, requirements, more) POOL_OF(AZURE, limits, requirements, more)

static void other_clouds_are_judged_by_their_keys(void)
{
    static const char undecided[] = "undecided spec.template.spec.requirements ";
    static const struct rail_case cases[] = {
        {ELSEWHERE("{cpu: 1}",
                   "{key: karpenter.azure.com/sku-gpu-count, operator: Gt, values: "
                   "['0']}",
                   ""),
         UNTAINTED},
        {ELSEWHERE("{cpu: 1}", IN("karpenter.azure.com/sku-gpu-count", "'0'"), ""), ""},
        {ELSEWHERE("{cpu: 1}",
                   "{key: karpenter.azure.com/sku-gpu-count, operator: Gte, values: ['1']}", ""),
         UNTAINTED},
        {ELSEWHERE("{cpu: 1}", "{key: karpenter.azure.com/sku-gpu-name, operator: Exists}", ""),
         UNTAINTED},
        {ELSEWHERE("{cpu: 1}", IN("karpenter.azure.com/sku-gpu-count", "'0', '1'"), ""), UNTAINTED},
        {ELSEWHERE("{cpu: 1}", IN("cloud.google.com/gke-accelerator", "l4"), ""), UNTAINTED},
        {ELSEWHERE("{cpu: 1}", IN("karpenter.example.com/instance-gpu-name", "t4"), ""), UNTAINTED},
        {ELSEWHERE("{cpu: 1}", IN("karpenter.example.com/instance-accelerator-name", "tpu"), ""),
         UNTAINTED},
        {ELSEWHERE("{cpu: 1}",
                   "{key: karpenter.azure.com/sku-gpu-count, operator: Gt, values: ['1']}", ""),
         UNTAINTED},
        {ELSEWHERE("{cpu: 1}",
                   "{key: karpenter.azure.com/sku-gpu-count, operator: NotIn, values: ['0']}", ""),
         undecided},
        {ELSEWHERE("{cpu: 1}",
                   "{key: karpenter.azure.com/sku-gpu-count, operator: Lt, values: ['2']}", ""),
         undecided},
        /* not one GPU each; two are not ruled out */
        {ELSEWHERE("{cpu: 1}",
                   "{key: karpenter.azure.com/sku-gpu-count, operator: NotIn, values: ['1']}", ""),
         undecided},
        {ELSEWHERE("{cpu: 1}", "{key: karpenter.azure.com/sku-gpu-count, operator: DoesNotExist}",
                   ""),
         ""},
        {ELSEWHERE("{cpu: 1}",
                   IN("karpenter.azure.com/sku-family",
                      "D") ", " IN("karpenter.azure.com/sku-gpu-count", "'0'"),
                   ""),
         ""},
        {ELSEWHERE("{cpu: 1}",
                   "{key: karpenter.azure.com/sku-gpu-count, operator: Lt, values: "
                   "['1']}",
                   ""),
         ""},
        {ELSEWHERE("{cpu: 1}",
                   "{key: karpenter.azure.com/sku-gpu-count, operator: Lte, values: ['0']}", ""),
         ""},
        {ELSEWHERE("{cpu: 1}",
                   "{key: karpenter.azure.com/sku-gpu-count, operator: Lte, values: ['1']}", ""),
         undecided},
        {ELSEWHERE("{cpu: 1}", "{key: karpenter.azure.com/sku-gpu-count, operator: exists}", ""),
         undecided},
        {ELSEWHERE("{cpu: 1}", "{key: karpenter.azure.com/sku-family, operator: DoesNotExist}", ""),
         undecided},
        {ELSEWHERE("{cpu: 1}", IN("karpenter.azure.com/sku-family", "N"), ""), undecided},
        /* a label asks as a requirement does */
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {limits: {cpu: "
         "1}, template: {metadata: {labels: {karpenter.azure.com/sku-gpu-name: A100}}, spec: "
         "{" AZURE ", requirements: []}}}}",
         UNTAINTED},
        {ELSEWHERE("{}", IN("karpenter.azure.com/sku-family", "N"), TAINTED("a", "NoSchedule")),
         undecided},
        /* whatever it launches, it is tainted and limited */
        {ELSEWHERE("{cpu: 1}", IN("karpenter.azure.com/sku-family", "N"),
                   TAINTED("a", "NoSchedule")),
         ""},
        {ELSEWHERE("null, replicas: 3", IN("karpenter.azure.com/sku-family", "N"),
                   TAINTED("a", "NoExecute")),
         ""},
        {ELSEWHERE("{cpu: 1}", IN("karpenter.azure.com/sku-family", "N"),
                   TAINTED("a", "PreferNoSchedule")),
         undecided},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case off[] = {
        {ELSEWHERE("{}", IN("karpenter.azure.com/sku-family", "N"), TAINTED("a", "NoSchedule")),
         ""},
        {ELSEWHERE("{}", IN("karpenter.azure.com/sku-family", "N"), ""), undecided},
    };
    rail_table_run(
        &(struct rail_table){"accelerators: {requireLimits: 'off'}", NULL, off, COUNT_OF(off)});
    /* Were it for accelerators, a limit of its cpus would not do. */
    static const struct rail_case accelerator[] = {
        {ELSEWHERE("{cpu: 1}", IN("karpenter.azure.com/sku-family", "N"),
                   TAINTED("a", "NoSchedule")),
         undecided},
        {ELSEWHERE("{nvidia.com/gpu: 1}", IN("karpenter.azure.com/sku-family", "N"),
                   TAINTED("a", "NoSchedule")),
         ""},
        {ELSEWHERE("{cpu: 1}", IN("karpenter.azure.com/sku-gpu-count", "'1'"),
                   TAINTED("a", "NoSchedule")),
         "deny spec.limits "},
        {ELSEWHERE("{nvidia.com/gpu: 1}", IN("karpenter.azure.com/sku-gpu-count", "'1'"),
                   TAINTED("a", "NoSchedule")),
         ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {requireLimits: accelerator}", NULL,
                                        accelerator, COUNT_OF(accelerator)});
}

/* Where no group is written, the kind and the keys tell whose nodes they are. */
static void other_clouds_without_a_group(void)
{
    static const char undecided[] = "undecided spec.template.spec.requirements ";
    static const struct rail_case cases[] = {
        {POOL_OF("nodeClassRef: {kind: AKSNodeClass, name: a}", "{cpu: 1}", "", ""), undecided},
        {POOL_OF("nodeClassRef: {apiGroup: karpenter-ibm.sh, kind: IBMNodeClass, name: a}",
                 "{cpu: 1}", "", ""),
         undecided},
        {POOL_OF("nodeClassRef: {name: a}", "{cpu: 1}", IN("karpenter.azure.com/sku-family", "D"),
                 ""),
         undecided},
        {POOL_OF("nodeClassRef: {name: a}", "{cpu: 1}", P3, ""), UNTAINTED},
        {POOL_OF("nodeClassRef: {kind: EC2NodeClass, name: a}", "{cpu: 1}", P3, ""), UNTAINTED},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, cases, COUNT_OF(cases)});
}

/* The owner of the subject says it, where the same policy has that rail on. */
static void what_others_say_is_not_said_again(void)
{
    static const char both[] = "accelerators: {requireLimits: accelerator}, pool-limits: {max: "
                               "{nvidia.com/gpu: 64}}";
    static const struct rail_case limits[] = {
        {LIMITED("{cpu: 10000}", P3), "deny spec.limits[nvidia.com/gpu] "},
        /* AMD's are in no list of pool-limits */
        {LIMITED("{cpu: 10000}", IN(AWS "family", "g4ad, g5")),
         "deny spec.limits \ndeny spec.limits[nvidia.com/gpu] "},
        {LIMITED("{cpu: null, memory: 1Ti}", P3), "deny spec.limits[nvidia.com/gpu] "},
        {LIMITED("{cpu: 10000, nvidia.com/gpu: 1}", IN(AWS "family", "g4dn, g4ad")),
         "deny spec.limits "},
    };
    rail_table_run(&(struct rail_table){both, NULL, limits, COUNT_OF(limits)});
    /* however pool-limits asks for it: by name, or for all pools together */
    static const struct rail_case named[] = {
        {LIMITED("{cpu: 10000}", P3), "deny spec.limits[nvidia.com/gpu] "},
        {LIMITED("{nvidia.com/gpu: 1}", P3), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {requireLimits: accelerator}, pool-limits: "
                                        "{require: [nvidia.com/gpu]}",
                                        NULL, named, COUNT_OF(named)});
    rail_table_run(&(struct rail_table){"accelerators: {requireLimits: accelerator}, pool-limits: "
                                        "{maxTotal: {nvidia.com/gpu: 64}}",
                                        NULL, named, COUNT_OF(named)});
    /* of two it asks for the one that the pool can buy */
    static const struct rail_case of_two[] = {
        {LIMITED("{cpu: 10000}", P3), "deny spec.limits[nvidia.com/gpu] "},
        {LIMITED("{cpu: 10000}", IN(AWS "family", "g4ad")), "deny spec.limits[amd.com/gpu] "},
    };
    rail_table_run(&(struct rail_table){"accelerators: {requireLimits: accelerator}, pool-limits: "
                                        "{require: [nvidia.com/gpu, amd.com/gpu]}",
                                        NULL, of_two, COUNT_OF(of_two)});
    /* without a limit that binds pool-limits asks for any */
    static const struct rail_case unbound[] = {
        {LIMITED("{cpu: null}", P3), "deny spec.limits \ndeny spec.limits "},
        {LIMITED("{example.com/disk: 1}", P3),
         "deny spec.limits \ndeny spec.limits example.com/disk"},
    };
    rail_table_run(&(struct rail_table){both, NULL, unbound, COUNT_OF(unbound)});
    static const struct rail_case weaker[] = {
        {LIMITED("{cpu: 10000}", P3), "deny spec.limits \nwarn spec.limits[nvidia.com/gpu] "}};
    rail_table_run(&(struct rail_table){"accelerators: {requireLimits: accelerator}, pool-limits: "
                                        "{mode: warn, max: {nvidia.com/gpu: 64}}",
                                        NULL, weaker, 1});
    static const struct rail_case alone[] = {
        {POOL_OF(NODE_CLASS, "{cpu: 1}", "", ""), "deny spec.template.spec.requirements "}};
    rail_table_run(&(struct rail_table){"accelerators: {}, pool-shape: {}", NULL, alone, 1});
}

const char unit_suite[] = "policy accelerators: pools";
const struct unit_test unit_tests[] = {
    {"pools made for accelerators are known", pools_made_for_accelerators_are_known},
    {"a taint must keep pods out", a_taint_must_keep_pods_out},
    {"keys may be long", keys_may_be_long},
    {"a limit of the kind required", a_limit_of_the_kind_required},
    {"other clouds are judged by their keys", other_clouds_are_judged_by_their_keys},
    {"other clouds without a group", other_clouds_without_a_group},
    {"what others say is not said again", what_others_say_is_not_said_again},
    {NULL, NULL},
};
