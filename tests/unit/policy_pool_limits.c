/* The rail pool-limits: pools that may buy without end, or more than they should. */
#include "rail_modes.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

#define POOL(name, limits, requirements)                                               \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: " \
    "{" limits "template: {spec: {requirements: [" requirements "]}}}}"
#define LIMITS(limits) "limits: {" limits "}, "
#define PLAIN(limits) POOL("a", limits, "")
#define FAMILY(values) \
    "{key: karpenter.k8s.aws/instance-family, operator: In, values: [" values "]}"
#define NONE "deny spec.limits "

static void a_pool_has_a_limit(void)
{
    static const struct rail_case cases[] = {
        {PLAIN(""), NONE},
        {PLAIN("limits: null, "), NONE},
        {PLAIN(LIMITS("")), NONE},
        {PLAIN(LIMITS("cpu: null")), NONE},
        {PLAIN(LIMITS("cpu: 100")), ""},
        {PLAIN(LIMITS("memory: 400Gi")), ""},
        {PLAIN(LIMITS("nodes: '10'")), ""},
        {PLAIN("replicas: 3, "), ""},
        {"{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: a}, spec: {}}", NONE},
        {"{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: a}, spec: {}}",
         "deny spec.limits.resources "},
        {"{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: a}, spec: "
         "{limits: {resources: {cpu: 1k}}}}",
         ""},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}}", NONE},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {limits: [1]}}",
         NONE},
        /* GPUs bound a pool of which every type has some */
        {POOL("a", LIMITS("nvidia.com/gpu: 8"), FAMILY("g5")), ""},
        {POOL("a", LIMITS("nvidia.com/gpu: 8"), FAMILY("g5, m5")), NONE "nvidia.com/gpu"},
        {POOL("a", LIMITS("nvidia.com/gpu: 8, cpu: 64"), FAMILY("g5, m5")), ""},
        {PLAIN(LIMITS("cpu: 10 cores")), "deny spec.limits.cpu 10 cores"},
        {PLAIN(LIMITS("cpu: [1]")), "deny spec.limits.cpu "},
    };
    rail_table_run(&(struct rail_table){"pool-limits: {}", NULL, cases, COUNT_OF(cases)});
}

static void some_limits_are_required(void)
{
    static const struct rail_case cases[] = {
        {PLAIN(""), NONE},
        {PLAIN(LIMITS("cpu: 100, memory: 1Ti")), ""},
        {PLAIN(LIMITS("cpu: 100")), "deny spec.limits.memory "},
        {PLAIN(LIMITS("nodes: 9")), "deny spec.limits.cpu \ndeny spec.limits.memory "},
    };
    rail_table_run(&(struct rail_table){"pool-limits: {require: [cpu, memory]}", NULL, cases,
                                        COUNT_OF(cases)});
}

static void a_limit_has_a_ceiling(void)
{
    static const struct rail_case cases[] = {
        {PLAIN(LIMITS("cpu: 1000, nodes: 50")), ""},
        {PLAIN(LIMITS("cpu: 1000001m, nodes: 50")), "deny spec.limits.cpu 1000001m"},
        {PLAIN(LIMITS("cpu: 1k, nodes: 51")), "deny spec.limits.nodes 51"},
        {PLAIN(LIMITS("memory: 1Gi, cpu: 5")), "deny spec.limits.nodes "},
        {PLAIN(LIMITS("cpu: x, nodes: 1")), "deny spec.limits.cpu x"},
        {PLAIN(""), NONE},
        {PLAIN("replicas: 50, "), ""},
        {PLAIN("replicas: 51, "), "deny spec.replicas 51"},
    };
    rail_table_run(&(struct rail_table){"pool-limits: {max: {cpu: 1000, nodes: 50}}", NULL, cases,
                                        COUNT_OF(cases)});
}

static void all_pools_share_a_budget(void)
{
    static const char cluster[] = POOL("b", LIMITS("cpu: 400"), "") "\n---\n" POOL(
        "c", LIMITS("memory: 1Ti"),
        "") "\n---\n" POOL("a", LIMITS("cpu: 900"),
                           "") "\n---\n{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, "
                               "metadata: {name: a}, spec: "
                               "{limits: {resources: {cpu: 100}}}}";
    static const struct rail_case cases[] = {
        {PLAIN(LIMITS("cpu: 500")), ""},
        {PLAIN(LIMITS("cpu: 501")), "deny spec.limits.cpu 501"},
        {POOL("new", LIMITS("cpu: 1"), ""), "deny spec.limits.cpu 1"},
        {PLAIN(LIMITS("memory: 1Gi")), "deny spec.limits.cpu "},
        {"{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: a}, spec: "
         "{limits: {resources: {cpu: 1}}}}",
         "deny spec.limits.resources.cpu 1"},
    };
    rail_table_run(&(struct rail_table){"pool-limits: {maxTotal: {cpu: 1000}}", cluster, cases,
                                        COUNT_OF(cases)});
}

static void it_speaks_in_every_mode(void)
{
    rail_modes_run("pool-limits", "", NULL, PLAIN(""));
}

const char unit_suite[] = "policy pool-limits";
const struct unit_test unit_tests[] = {
    {"a pool has a limit", a_pool_has_a_limit},
    {"some limits are required", some_limits_are_required},
    {"a limit has a ceiling", a_limit_has_a_ceiling},
    {"all pools share a budget", all_pools_share_a_budget},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {NULL, NULL},
};
