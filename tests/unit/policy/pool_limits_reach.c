/* The rail pool-limits: limits under which no node fits. */
#include "rail_catalog.h"

#define POOL_OF(group, limits, requirements)                                                     \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {limits: {" limits \
    "}, template: {spec: {nodeClassRef: {group: " group ", kind: EC2NodeClass, name: a}, "       \
    "requirements: [" requirements "]}}}}"
#define POOL(limits, requirements) POOL_OF("karpenter.k8s.aws", limits, requirements)
#define IN(key, values) \
    "{key: karpenter.k8s.aws/instance-" key ", operator: In, values: [" values "]}"
#define TYPE(values) "{key: node.kubernetes.io/instance-type, operator: In, values: [" values "]}"

/* A node counts with its capacity: m5.24xlarge has 96 CPUs, and of its 384 GiB 92.5 % as Karpenter
 * reckons: 363724.8 MiB, rounded down; p5.48xlarge has 8 GPUs. */
static void limits_that_no_node_fits_are_found(void)
{
    static const struct rail_case cases[] = {
        {POOL("cpu: 96", TYPE("m5.24xlarge")), ""},
        {POOL("cpu: 95999m", TYPE("m5.24xlarge")), "warn spec.limits.cpu 95999m"},
        {POOL("cpu: 64", TYPE("m5.24xlarge")), "warn spec.limits.cpu 64"},
        {POOL("cpu: 64", TYPE("m5.24xlarge, m5.16xlarge")), ""},
        {POOL("cpu: 64", TYPE("m5.24xlarge, m5.4xlarge, m5.16xlarge")), ""},
        {POOL("cpu: 63", TYPE("m5.24xlarge, m5.16xlarge")), "warn spec.limits.cpu 63"},
        {POOL("memory: 1000", IN("category", "m")), "warn spec.limits.memory 1000"},
        {POOL("memory: 363724Mi", TYPE("m5.24xlarge")), ""},
        {POOL("memory: 363723Mi", TYPE("m5.24xlarge")), "warn spec.limits.memory 363723Mi"},
        {POOL("memory: 1000Gi", IN("category", "m")), ""},
        {POOL("cpu: 1000, nvidia.com/gpu: 4", TYPE("p5.48xlarge")),
         "warn spec.limits[nvidia.com/gpu] 4"},
        {POOL("cpu: 1000, nvidia.com/gpu: 8", TYPE("p5.48xlarge")), ""},
        {POOL("cpu: 64, memory: 1000", TYPE("m5.24xlarge")),
         "warn spec.limits.cpu 64\nwarn spec.limits.memory 1000"},
        /* types without GPUs fit under any limit on them */
        {POOL("cpu: 1000, nvidia.com/gpu: 4", IN("family", "m5, p5")), ""},
        /* 0 switches a pool off, or keeps GPUs out of it */
        {POOL("cpu: 0", IN("category", "m")), ""},
        {POOL("cpu: 1000, nvidia.com/gpu: 0", IN("category", "m")), ""},
        {POOL("cpu: 0, memory: 0", IN("category", "m")), ""},
        /* what the node class decides on, too, or Karpenter counts otherwise */
        {POOL("cpu: 1000, ephemeral-storage: 1, pods: 1, nodes: 1, example.com/a: 1",
              IN("category", "m")),
         ""},
        {POOL("cpu: 1000, nodes: -1", IN("category", "m")), "deny spec.limits.nodes -1"},
        {POOL("cpu: -1", IN("category", "m")), "deny spec.limits.cpu -1"},
        {POOL("cpu: 1000, memory: -5Gi", IN("category", "m")), "deny spec.limits.memory -5Gi"},
        /* more than can be counted, and what is no quantity */
        {POOL("cpu: 1e40", IN("category", "m")), ""},
        {POOL("cpu: 100, memory: null", IN("category", "m")), ""},
        {POOL("cpu: many", IN("category", "m")), "deny spec.limits.cpu many"},
        /* of which no type is known, or none is left */
        {POOL("cpu: 1", IN("family", "m99")), ""},
        {POOL_OF("karpenter.azure.com", "cpu: 1", ""), ""},
        {POOL_OF("karpenter.azure.com", "cpu: -1", ""), "deny spec.limits.cpu -1"},
        /* a fixed number of nodes has a ceiling of its own */
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {replicas: 1, "
         "limits: {cpu: 1}, template: {spec: {requirements: [" TYPE("m5.24xlarge") "]}}}}",
         ""},
        {"{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: a}, spec: "
         "{limits: {resources: {cpu: 64}}, requirements: [" TYPE("m5.24xlarge") "]}}",
         "warn spec.limits.resources.cpu 64"},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {limits: {cpu: "
         "64}, template: {metadata: {labels: {node.kubernetes.io/instance-type: m5.24xlarge}}}}}",
         "warn spec.limits.cpu 64"},
    };
    rail_table_run(&(struct rail_table){"pool-limits: {}", NULL, cases, COUNT_OF(cases)});
}

static void it_says_what_a_node_has(void)
{
    static const struct rail_words words[] = {
        {POOL("cpu: 64", TYPE("m5.24xlarge")),
         "The pool never buys a node: m5.24xlarge, the smallest type that it may launch, has 96, "
         "and the limit is 64.",
         "Set it to at least 96, or to 0 if it is to buy none."},
        {POOL("cpu: 64", TYPE("m5.metal, m5.24xlarge, c5.metal, c5.18xlarge")),
         "The pool never buys a node: c5.18xlarge, the smallest type that it may launch, has 72, "
         "and the limit is 64.",
         "Set it to at least 72, or to 0 if it is to buy none."},
        {POOL("memory: 1000", TYPE("m5.24xlarge")),
         "The pool never buys a node: m5.24xlarge, the smallest type that it may launch, has "
         "363724Mi, and the limit is 1000.",
         "Write a unit, as in 1000Gi."},
        {POOL("memory: 99999", TYPE("m5.24xlarge")),
         "The pool never buys a node: m5.24xlarge, the smallest type that it may launch, has "
         "363724Mi, and the limit is 99999.",
         "Write a unit, as in 99999Gi."},
        {POOL("memory: 100000", TYPE("m5.24xlarge")),
         "The pool never buys a node: m5.24xlarge, the smallest type that it may launch, has "
         "363724Mi, and the limit is 100000.",
         "Set it to at least 363724Mi, or to 0 if it is to buy none."},
        {POOL("memory: 1Gi", TYPE("m5.24xlarge")),
         "The pool never buys a node: m5.24xlarge, the smallest type that it may launch, has "
         "363724Mi, and the limit is 1Gi.",
         "Set it to at least 363724Mi, or to 0 if it is to buy none."},
        {POOL("nvidia.com/gpu: 4", TYPE("p5.48xlarge")),
         "The pool never buys a node: p5.48xlarge, the smallest type that it may launch, has 8, "
         "and the limit is 4.",
         "Set it to at least 8, or to 0 if it is to buy none."},
        {POOL("cpu: -1", TYPE("m5.large")),
         "The limit -1 is below zero, so the pool never buys a node.",
         "Write what it may buy; 0, if that is nothing."},
    };
    rail_words_run("pool-limits: {}", NULL, words, COUNT_OF(words));
}

/* A user's own machines: 4 CPUs and 16 GiB each, of which nothing is kept back. */
static void the_machines_may_be_ones_own(void)
{
    static const char types[] =
        "[" OWN_TYPE("large", "\"x\": 1", OWN_OFFERING("0.1", "on-demand", "a")) "]";
    static const struct rail_case cases[] = {
        {POOL("cpu: 4, memory: 16Gi", ""), ""},
        {POOL("cpu: 3", ""), "warn spec.limits.cpu 3"},
        {POOL_OF("karpenter.azure.com", "cpu: 3", ""), "warn spec.limits.cpu 3"},
        {POOL("memory: 15Gi", ""), "warn spec.limits.memory 15Gi"},
    };
    rail_catalog_run(&(struct rail_table){"pool-limits: {}", NULL, cases, COUNT_OF(cases)}, types);
}

const char unit_suite[] = "policy pool-limits: reach";
const struct unit_test unit_tests[] = {
    {"limits that no node fits are found", limits_that_no_node_fits_are_found},
    {"it says what a node has", it_says_what_a_node_has},
    {"the machines may be one's own", the_machines_may_be_ones_own},
    {NULL, NULL},
};
