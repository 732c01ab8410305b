/* The rail pool-limits: pools that may buy without end, or more than they should. */
#include "rail_modes.h"

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

/* A pool that has no GPUs to buy needs no limit on them. */
static void a_ceiling_is_for_those_who_could_reach_it(void)
{
    static const struct rail_case cases[] = {
        {POOL("a", LIMITS("cpu: 1"), FAMILY("m5")), ""},
        {POOL("a", LIMITS("cpu: 1"), FAMILY("m5, g5")), "deny spec.limits[nvidia.com/gpu] "},
        {POOL("a", LIMITS("cpu: 1, nvidia.com/gpu: 9"), FAMILY("m5, g5")),
         "deny spec.limits[nvidia.com/gpu] 9"},
        {POOL("a", LIMITS("cpu: 1"), FAMILY("m99")), ""},
    };
    rail_table_run(&(struct rail_table){"pool-limits: {max: {nvidia.com/gpu: 8}}", NULL, cases,
                                        COUNT_OF(cases)});
    static const struct rail_case total[] = {
        {POOL("a", LIMITS("cpu: 1"), FAMILY("m5")), ""},
        {POOL("a", LIMITS("cpu: 1"), FAMILY("g5")), "deny spec.limits[nvidia.com/gpu] "},
    };
    rail_table_run(&(struct rail_table){"pool-limits: {maxTotal: {nvidia.com/gpu: 8}}", NULL, total,
                                        COUNT_OF(total)});
    rail_table_run(&(struct rail_table){"pool-limits: {require: [nvidia.com/gpu]}", NULL, total,
                                        COUNT_OF(total)});
}

static void a_limit_that_is_missing_is_said_once(void)
{
    static const struct rail_case cases[] = {
        {PLAIN(LIMITS("memory: 1Gi")),
         "deny spec.limits.cpu \ndeny spec.limits.nodes \ndeny spec.limits.pods "},
        {PLAIN("replicas: 51, "), "deny spec.replicas 51"},
    };
    rail_table_run(&(struct rail_table){
        "pool-limits: {require: [cpu, pods], max: {nodes: 50, cpu: 9}, maxTotal: {pods: 9}}", NULL,
        cases, COUNT_OF(cases)});
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

/* A pool that may buy nothing takes nothing of the budget, however full it is. */
static void a_limit_of_none_is_within_any_budget(void)
{
    static const struct rail_case none = {PLAIN(LIMITS("cpu: 0")), ""};
    static const struct rail_case one = {PLAIN(LIMITS("cpu: 1")), "deny spec.limits.cpu 1"};
    static const char cluster[] = POOL("b", LIMITS("cpu: 1200"), "");
    const char *rails = "pool-limits: {maxTotal: {cpu: 1000}}";
    rail_table_run(&(struct rail_table){rails, cluster, &none, 1});
    rail_table_run(&(struct rail_table){rails, cluster, &one, 1});
}

static void it_says_what_to_write(void)
{
    static const char none[] = "no limit: nothing bounds how many nodes the pool buys";
    static const struct rail_words any[] = {
        {PLAIN(""), none, "set spec.limits, by cpu, memory or nodes"},
        {POOL("a", LIMITS("nvidia.com/gpu: 8, amd.com/gpu: 8"), FAMILY("g5, m5")),
         "limits only nvidia.com/gpu, amd.com/gpu, and the pool can buy any number of nodes "
         "without "
         "it",
         "set spec.limits, by cpu, memory or nodes"},
        {PLAIN(LIMITS("cpu: many")), "found \"many\", which is no quantity",
         "write a number with a unit, as in 100, 512Gi or 4Ti"},
        {PLAIN(LIMITS("cpu: [1]")), "found no quantity",
         "write a number with a unit, as in 100, 512Gi or 4Ti"},
        {PLAIN(LIMITS("cpu: 1, resources: {memory: 1Gi}")), "found no quantity",
         "move what is in it to spec.limits: only a Provisioner has it"},
    };
    rail_words_run("pool-limits: {}", NULL, any, COUNT_OF(any));
    static const struct rail_words old[] = {
        {"{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: a}, spec: {}}",
         none, "set spec.limits.resources, by cpu or memory"},
        {"{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: a}, spec: {}}", none,
         "set spec.limits, by cpu or memory"},
    };
    rail_words_run("pool-limits: {}", NULL, old, COUNT_OF(old));
    static const struct rail_words accelerated[] = {
        {POOL("a", "", FAMILY("g5")), none, "set spec.limits, at most {nvidia.com/gpu: 8}"},
        {POOL("a", "", FAMILY("g5, m5")), none, "set spec.limits, by cpu, memory or nodes"},
        {POOL("a", "", FAMILY("m5")), none, "set spec.limits, by cpu, memory or nodes"},
    };
    rail_words_run("pool-limits: {max: {nvidia.com/gpu: 8}}", NULL, accelerated,
                   COUNT_OF(accelerated));
    static const struct rail_words required[] = {
        {PLAIN(""), none, "set spec.limits, by cpu, memory"},
        {PLAIN(LIMITS("cpu: 1")), "no limit on memory", "add memory to spec.limits"},
    };
    rail_words_run("pool-limits: {require: [cpu, memory]}", NULL, required, COUNT_OF(required));
    static const struct rail_words bounded[] = {
        {PLAIN(""), none, "set spec.limits, at most {cpu: 1k, nodes: 50}"},
        {PLAIN(LIMITS("cpu: 5")), "no limit on nodes", "set it to at most 50"},
        {PLAIN(LIMITS("cpu: 2k, nodes: 1")), "found \"2k\", above the ceiling of 1k",
         "set it to at most 1k"},
        {PLAIN("replicas: 51, "), "found 51 nodes, above the ceiling of 50",
         "set it to at most 50"},
    };
    rail_words_run("pool-limits: {max: {cpu: 1k, nodes: 50}}", NULL, bounded, COUNT_OF(bounded));
}

/* Sums are written in the largest unit that leaves no rest. */
static void it_says_what_the_pools_come_to(void)
{
    static const struct rail_words one[] = {
        {PLAIN(LIMITS("memory: 3Ti")), "found \"3Ti\", above the budget of 2Ti for all pools",
         "set it to at most 2Ti, or lower the others"},
    };
    rail_words_run("pool-limits: {maxTotal: {memory: 2Ti}}", NULL, one, COUNT_OF(one));
    static const char cluster[] =
        POOL("b", LIMITS("cpu: 1500m, memory: 512Gi, ephemeral-storage: 1Ki"), "");
    static const struct rail_words more[] = {
        {PLAIN(LIMITS("memory: 1Ti")),
         "found \"1Ti\": with b 512Gi the limits on memory come to 1536Gi, above the budget of 1Ti "
         "for all pools",
         "set it to at most 512Gi, or lower the others"},
    };
    rail_words_run("pool-limits: {maxTotal: {memory: 1Ti}}", cluster, more, COUNT_OF(more));
    static const struct rail_words parts[] = {
        {PLAIN(LIMITS("cpu: 2")),
         "found \"2\": with b 1500m the limits on cpu come to 3500m, above the budget of 3 for all "
         "pools",
         "set it to at most 1500m, or lower the others"},
        {PLAIN(LIMITS("cpu: 2000")),
         "found \"2000\": with b 1500m the limits on cpu come to 2001500m, above the budget of 3 "
         "for all pools",
         "set it to at most 1500m, or lower the others"},
    };
    rail_words_run("pool-limits: {maxTotal: {cpu: 3}}", cluster, parts, COUNT_OF(parts));
    static const struct rail_words bytes[] = {
        {PLAIN(LIMITS("ephemeral-storage: 1500")),
         "found \"1500\": with b 1Ki the limits on ephemeral-storage come to 2524, above the "
         "budget "
         "of 1Ki for all pools",
         "lower the limits of the other pools first: they take the whole budget"},
        {PLAIN(LIMITS("ephemeral-storage: 1023Ki")),
         "found \"1023Ki\": with b 1Ki the limits on ephemeral-storage come to 1Mi, above the "
         "budget of 1Ki for all pools",
         "lower the limits of the other pools first: they take the whole budget"},
    };
    rail_words_run("pool-limits: {maxTotal: {ephemeral-storage: 1Ki}}", cluster, bytes,
                   COUNT_OF(bytes));
    static const struct rail_words six[] = {
        {PLAIN(LIMITS("cpu: 1018")), /* CPUs are counted by 1000, not by 1024 */
         "found \"1018\": with b 1, c 1, d 1, e 1, f 1, ... the limits on cpu come to 1024, above "
         "the budget of 6 for all pools",
         "lower the limits of the other pools first: they take the whole budget"},
    };
    rail_words_run(
        "pool-limits: {maxTotal: {cpu: 6}}",
        POOL("b", LIMITS("cpu: 1"), "") "\n---\n" POOL("c", LIMITS("cpu: 1"), "") "\n---\n" POOL(
            "d", LIMITS("cpu: 1"),
            "") "\n---\n" POOL("e", LIMITS("cpu: 1"),
                               "") "\n---\n" POOL("f", LIMITS("cpu: 1"),
                                                  "") "\n---\n" POOL("g", LIMITS("cpu: 1"), ""),
        six, COUNT_OF(six));
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
    {"a ceiling is for those who could reach it", a_ceiling_is_for_those_who_could_reach_it},
    {"a limit that is missing is said once", a_limit_that_is_missing_is_said_once},
    {"all pools share a budget", all_pools_share_a_budget},
    {"a limit of none is within any budget", a_limit_of_none_is_within_any_budget},
    {"it says what to write", it_says_what_to_write},
    {"it says what the pools come to", it_says_what_the_pools_come_to},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {NULL, NULL},
};
