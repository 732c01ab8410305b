/* The rail accelerators: which pools are made for them, which taints and limits will do, who asks,
 * and whom a taint keeps out. */
#include "rail_table.h"

/* ---- pools ---- */

#define NODE_CLASS "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}"
#define POOL_OF(class, limits, requirements, more)                           \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, "    \
    "spec: {limits: " limits ", template: {spec: {" class ", requirements: " \
                                                          "[" requirements "]" more "}}}}"
#define POOL(requirements, more) POOL_OF(NODE_CLASS, "{cpu: 100}", requirements, more)
#define LIMITED(limits, requirements) \
    POOL_OF(NODE_CLASS, limits, requirements, ", taints: [{key: a, effect: NoSchedule}]")

#define IN(key, values) "{key: " key ", operator: In, values: [" values "]}"
#define TYPE "node.kubernetes.io/instance-type"
#define AWS "karpenter.k8s.aws/instance-"
#define P3 IN(TYPE, "p3.2xlarge")
#define TAINTED(key, effect) ", taints: [{key: " key ", effect: " effect "}]"

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
        /* a requirement asks for one */
        {POOL("{key: " AWS "gpu-count, operator: Exists}", ""), UNTAINTED},
        {POOL("{key: " AWS "gpu-count, operator: Gt, values: ['0']}", ""), UNTAINTED},
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
        {POOL(
             IN(AWS "cpu", "'4'") ", " IN(AWS "memory", "'16384'") ", " IN(AWS "generation", "'5'"),
             ""),
         MIXED "g5.xlarge"},
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
        /* misspelt: within two edits, or a variant */
        {POOL(P3, TAINTED("nvidia.com/gup", "NoSchedule")), KEY "nvidia.com/gup"},
        {POOL(P3, TAINTED("nvidia.com/gpus", "NoSchedule")), KEY "nvidia.com/gpus"},
        {POOL(P3, TAINTED("nvidia/gpu", "NoSchedule")), KEY "nvidia/gpu"},
        {POOL(P3, TAINTED("NVIDIA.com/GPU", "NoSchedule")), KEY "NVIDIA.com/GPU"},
        {POOL(P3, TAINTED("nvidia-gpus", "NoSchedule")), KEY "nvidia-gpus"},
        {POOL(P3, TAINTED("nvidia_gpu", "NoSchedule")), KEY "nvidia_gpu"},
        {POOL(P3, TAINTED("aws.amazon.com/neurons", "NoSchedule")), KEY "aws.amazon.com/neurons"},
        /* misspelt and soft: two things to mend */
        {POOL(P3, TAINTED("nvidia.com/gpus", "PreferNoSchedule")),
         "deny spec.template.spec.taints[0].effect PreferNoSchedule\n" KEY "nvidia.com/gpus"},
        /* other keys, however near to the subject */
        {POOL(P3, TAINTED("gpu", "NoSchedule")), ""},
        {POOL(P3, TAINTED("nvidia.com/mig-1g.5gb", "NoSchedule")), ""},
        {POOL(P3, TAINTED("aws.amazon.com/neuroncore", "NoSchedule")), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, cases, COUNT_OF(cases)});

    static const struct rail_case own[] = {
        {POOL(P3, TAINTED("cpu", "NoSchedule")), ""},
        {POOL(P3, TAINTED("accelerators", "NoSchedule")), KEY "accelerators"},
        {POOL(P3, TAINTED("nvidia.com/gpus", "NoSchedule")), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {taints: [gpu, accelerator, '/']}", NULL,
                                        own, COUNT_OF(own)});
}

static void a_limit_of_the_kind_required(void)
{
    static const char missing[] = "deny spec.limits ";
    static const struct rail_case any[] = {
        {LIMITED("{cpu: 1}", P3), ""},          {LIMITED("{}", P3), missing},
        {LIMITED("null", P3), missing},         {LIMITED("{cpu: null}", P3), missing},
        {LIMITED("null, replicas: 3", P3), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, any, COUNT_OF(any)});
    static const struct rail_case accelerator[] = {
        {LIMITED("{cpu: 1}", P3), missing},
        {LIMITED("{nvidia.com/gpu: 1}", P3), ""},
        {LIMITED("{amd.com/gpu: 1}", P3), missing},
        {LIMITED("{nvidia.com/gpu: 1}", IN(AWS "family", "g4dn, g4ad")), missing},
        {LIMITED("{nvidia.com/gpu: 1, amd.com/gpu: 1}", IN(AWS "family", "g4dn, g4ad")), ""},
        {LIMITED("{aws.amazon.com/neuroncore: 1}", IN(AWS "family", "inf2")), ""},
        {LIMITED("{habana.ai/gaudi: 8}", IN(AWS "family", "dl1")), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {requireLimits: accelerator}", NULL,
                                        accelerator, COUNT_OF(accelerator)});
    static const struct rail_case off[] = {{LIMITED("{}", P3), ""}};
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
        {ELSEWHERE("{cpu: 1}", IN("karpenter.azure.com/sku-family", "N"), ""), undecided},
        {ELSEWHERE("{}", IN("karpenter.azure.com/sku-family", "N"), TAINTED("a", "NoSchedule")),
         undecided},
        /* whatever it launches, it is tainted and limited */
        {ELSEWHERE("{cpu: 1}", IN("karpenter.azure.com/sku-family", "N"),
                   TAINTED("a", "NoSchedule")),
         ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, cases, COUNT_OF(cases)});
}

/* ---- pods ---- */

#define TEMPLATE(kind, tolerations, more)                                                 \
    "{apiVersion: apps/v1, kind: " kind ", metadata: {name: a}, spec: {template: {spec: " \
    "{tolerations: [" tolerations "], " more "}}}}"
#define ASKS(resource) "containers: [{name: a, resources: {limits: {" resource ": 1}}}]"
#define ASKS_NOTHING "containers: [{name: a, resources: {limits: {cpu: 1}}}]"
#define TOLERATES "{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}"

static void who_tolerates_must_ask(void)
{
    static const char idle[] = "deny spec.template.spec.tolerations[0].key nvidia.com/gpu";
    static const struct rail_case cases[] = {
        {TEMPLATE("Deployment", TOLERATES, ASKS_NOTHING), idle},
        {TEMPLATE("StatefulSet", "{key: nvidia.com/gpu, value: 'true'}", ASKS_NOTHING), idle},
        {TEMPLATE("Deployment", TOLERATES ", {key: nvidia.com/gpu, effect: NoExecute}",
                  ASKS_NOTHING),
         idle},
        {TEMPLATE("Deployment", TOLERATES ", {key: amd.com/gpu, operator: Exists}", ASKS_NOTHING),
         "deny spec.template.spec.tolerations[0].key nvidia.com/gpu\n"
         "deny spec.template.spec.tolerations[1].key amd.com/gpu"},
        {TEMPLATE("DaemonSet", TOLERATES, ASKS_NOTHING), ""},
        /* not this rail's business */
        {TEMPLATE("Deployment", "{operator: Exists}", ASKS_NOTHING), ""},
        {TEMPLATE("Deployment", "{key: dedicated, operator: Exists}", ASKS_NOTHING), ""},
        {TEMPLATE("Deployment", "{key: nvidia.com/gpu, effect: PreferNoSchedule}", ASKS_NOTHING),
         ""},
        /* a patch of some object, without its containers */
        {TEMPLATE("Deployment", TOLERATES, "nodeSelector: {a: b}"), ""},
        /* every way of asking */
        {TEMPLATE("Deployment", TOLERATES, ASKS("nvidia.com/gpu")), ""},
        {TEMPLATE("Deployment", TOLERATES, ASKS("amd.com/gpu")), ""},
        {TEMPLATE("Deployment", TOLERATES, ASKS("aws.amazon.com/neurondevice")), ""},
        {TEMPLATE("Deployment", TOLERATES, ASKS("nvidia.com/mig-1g.5gb")), ""},
        {TEMPLATE("Deployment", TOLERATES, ASKS("nvidia.com/gpu.shared")), ""},
        {TEMPLATE("Deployment", TOLERATES, ASKS("nvidia.com/GRID_T4-1Q")), ""},
        {TEMPLATE("Deployment", TOLERATES, ASKS("4paradigm.com/vgpu")), ""},
        {TEMPLATE("Deployment", TOLERATES,
                  "containers: [{name: a, resources: {requests: {nvidia.com/gpu: '2'}}}]"),
         ""},
        {TEMPLATE("Deployment", TOLERATES,
                  "initContainers: [{name: i, resources: "
                  "{limits: {nvidia.com/gpu: 1}}}], " ASKS_NOTHING),
         ""},
        {TEMPLATE("Deployment", TOLERATES, "resourceClaims: [{name: a}], " ASKS_NOTHING), ""},
        /* and of not asking */
        {TEMPLATE("Deployment", TOLERATES,
                  "containers: [{name: a, resources: {limits: {nvidia.com/gpu: '0'}}}]"),
         idle},
        {TEMPLATE("Deployment", TOLERATES, "resourceClaims: [], " ASKS_NOTHING), idle},
        {TEMPLATE("Deployment", TOLERATES, ASKS("example.com/fpga")), idle},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, cases, COUNT_OF(cases)});

    static const struct rail_case own[] = {
        {TEMPLATE("Deployment", TOLERATES, ASKS_NOTHING), ""},
        {TEMPLATE("Deployment", "{key: dedicated}", ASKS("nvidia.com/gpu")),
         "deny spec.template.spec.tolerations[0].key dedicated"},
        {TEMPLATE("Deployment", "{key: dedicated}", ASKS("example.com/fpga")), ""},
    };
    rail_table_run(
        &(struct rail_table){"accelerators: {resources: ['example.com/*'], taints: [dedicated]}",
                             NULL, own, COUNT_OF(own)});
}

#define VISIBLE(name, version, labels, requirements, taints)                                  \
    "{apiVersion: karpenter.sh/" version ", kind: NodePool, metadata: {name: " name "}, "     \
    "spec: {template: {metadata: {labels: {" labels "}}, spec: {requirements: [" requirements \
    "], taints: [" taints "]}}}}\n"
#define DELETED                                                                         \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: gone, "             \
    "deletionTimestamp: 2026-01-01T00:00:00Z}, spec: {template: {spec: {requirements: " \
    "[" IN(AWS "category", "g") "]}}}}\n"
#define CLOSED                                                 \
    VISIBLE("gpu", "v1", "group: gpu", IN(AWS "family", "g5"), \
            "{key: nvidia.com/gpu, value: '5', effect: NoSchedule}")
#define POD(tolerations, more)                                                           \
    "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {tolerations: [" tolerations \
    "], " more "}}"
#define GPU ASKS("nvidia.com/gpu")
#define AFFINITY(terms)                                                          \
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: " \
    "{nodeSelectorTerms: [" terms "]}}}, "
#define TERM(expression) "{matchExpressions: [" expression "]}"

static const char kept_out[] = "deny spec.tolerations nvidia.com/gpu";

static void who_asks_must_be_let_in(void)
{
    static const struct rail_case cases[] = {
        {POD("", GPU), kept_out},
        {POD("", ASKS("nvidia.com/gpumem")), "deny spec.tolerations nvidia.com/gpumem"},
        {TEMPLATE("Deployment", "", GPU), ""},
        {POD("", ASKS_NOTHING), ""},
        /* what tolerates a taint */
        {POD(TOLERATES, GPU), ""},
        {POD("{operator: Exists}", GPU), ""},
        {POD("{operator: Exists, effect: NoSchedule}", GPU), ""},
        {POD("{operator: Exists, effect: NoExecute}", GPU), kept_out},
        {POD("{key: nvidia.com/gpu, value: '5'}", GPU), ""},
        {POD("{key: nvidia.com/gpu, operator: Equal, value: '6'}", GPU), kept_out},
        {POD("{key: nvidia.com/gpu}", GPU), kept_out},
        {POD("{key: nvidia.com/gpu, operator: Gt, value: '4'}", GPU), ""},
        {POD("{key: nvidia.com/gpu, operator: Lt, value: '4'}", GPU), kept_out},
        {POD("{key: nvidia.com/gpus, operator: Exists}", GPU), kept_out},
        /* no visible pool could serve it */
        {POD("", ASKS("amd.com/gpu")), ""},
        {POD("", "nodeSelector: {group: other}, " GPU), ""},
        {POD("", "nodeSelector: {node.kubernetes.io/instance-type: p3.2xlarge}, " GPU), ""},
        {POD("", "nodeSelector: {karpenter.sh/nodepool: other}, " GPU), ""},
        {POD("", AFFINITY(TERM("{key: group, operator: DoesNotExist}")) GPU), ""},
        /* this one could */
        {POD("", "nodeSelector: {group: gpu}, " GPU), kept_out},
        {POD("", "nodeSelector: {karpenter.sh/nodepool: gpu}, " GPU), kept_out},
        {POD("", "nodeSelector: {topology.kubernetes.io/zone: a, karpenter.sh/capacity-type: "
                 "spot}, " GPU),
         kept_out},
        {POD("", AFFINITY(TERM("{key: group, operator: In, values: [other]}") ", " TERM(
                     "{key: group, operator: Exists}")) GPU),
         kept_out},
        /* it is placed, or a DaemonSet's */
        {POD("", "nodeName: a, " GPU), ""},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a, ownerReferences: [{apiVersion: apps/v1, "
         "kind: DaemonSet, name: d, uid: u, controller: true}]}, spec: {" GPU "}}",
         ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", CLOSED, cases, COUNT_OF(cases)});
}

static void one_open_pool_is_enough(void)
{
    static const struct rail_case open[] = {{POD("", GPU), ""}};
    static const struct rail_case closed[] = {{POD("", GPU), kept_out}};
    static const struct rail_case undecided[] = {
        {POD("", GPU), "undecided spec.tolerations nvidia.com/gpu"}};
    static const struct {
        const char *more;
        const struct rail_case *cases;
    } tables[] = {
        {VISIBLE("open", "v1", "", IN(AWS "category", "g"), ""), open},
        {VISIBLE("open", "v1beta1", "", IN(AWS "category", "g"),
                 "{key: a, effect: PreferNoSchedule}"),
         open},
        {VISIBLE("open", "v1", "", "", ""), open},
        {VISIBLE("other", "v1", "", IN(AWS "category", "c"), ""), closed},
        {VISIBLE("other", "v1", "", IN(AWS "family", "g4ad"), ""), closed},
        {VISIBLE("other", "v1beta1", "", IN(AWS "category", "g"), "{key: a, effect: NoExecute}"),
         closed},
        {DELETED, closed},
    };
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        char cluster[4096];
        snprintf(cluster, sizeof cluster, "%s---\n%s", CLOSED, tables[i].more);
        rail_table_run(&(struct rail_table){"accelerators: {}", cluster, tables[i].cases, 1});
    }
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, undecided, 1});
}

const char unit_suite[] = "policy accelerators";
const struct unit_test unit_tests[] = {
    {"pools made for accelerators are known", pools_made_for_accelerators_are_known},
    {"a taint must keep pods out", a_taint_must_keep_pods_out},
    {"a limit of the kind required", a_limit_of_the_kind_required},
    {"other clouds are judged by their keys", other_clouds_are_judged_by_their_keys},
    {"who tolerates must ask", who_tolerates_must_ask},
    {"who asks must be let in", who_asks_must_be_let_in},
    {"one open pool is enough", one_open_pool_is_enough},
    {NULL, NULL},
};
