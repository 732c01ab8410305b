/* The rail pool-limits: pools that may buy without end, or more than they should. */
#include "rail_catalog.h"

#define POOL(name, limits, requirements)                                               \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: " \
    "{" limits "template: {spec: {requirements: [" requirements "]}}}}"
#define LIMITS(limits) "limits: {" limits "}, "
#define PLAIN(limits) POOL("a", limits, "")
#define FAMILY(values) \
    "{key: karpenter.k8s.aws/instance-family, operator: In, values: [" values "]}"
#define NONE "deny spec.limits "
/* Of another cloud: the catalogue has none of its machines. */
#define AZURE(limits)                                                                \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: "      \
    "{" limits "template: {spec: {nodeClassRef: {group: karpenter.azure.com, kind: " \
    "AKSNodeClass, name: c}}}}}"
#define PROVISIONER(limits)                                                                       \
    "{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: a}, spec: {limits: " \
    "{resources: {" limits "}}}}"

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
        {PLAIN(LIMITS("pods: 1000")), ""},
        {PLAIN(LIMITS("ephemeral-storage: 10Ti")), ""},
        {PLAIN(LIMITS("cpu: null, memory: 400Gi")), ""},
        {PLAIN("replicas: 3, "), ""},
        {PLAIN("replicas: null, "), NONE},
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
        {POOL("a", LIMITS("nvidia.com/gpu: 8"), FAMILY("m5")), NONE "nvidia.com/gpu"},
        /* no node is made of a Mac; what m99 carries, or another cloud's machines, nobody knows */
        {POOL("a", LIMITS("nvidia.com/gpu: 8"), FAMILY("g5, mac2")), ""},
        {POOL("a", LIMITS("nvidia.com/gpu: 8"), FAMILY("m99")), ""},
        {AZURE(LIMITS("nvidia.com/gpu: 8")), ""},
        {AZURE(""), NONE},
        /* senseless, but a quantity */
        {PLAIN(LIMITS("memory: 100Pi")), ""},
        {PLAIN(LIMITS("cpu: 10 cores")), "deny spec.limits.cpu 10 cores"},
        {PLAIN(LIMITS("cpu: [1]")), "deny spec.limits.cpu "},
        {PLAIN(LIMITS("cpu: ''")), "deny spec.limits.cpu "},
        {PLAIN(LIMITS("cpu: many, memory: 1Ti, nodes: few")),
         "deny spec.limits.cpu many\ndeny spec.limits.nodes few"},
    };
    rail_table_run(&(struct rail_table){"pool-limits: {}", NULL, cases, COUNT_OF(cases)});
}

/* Of one's own types one may say that it has no GPU, by a 0. */
static void the_machines_may_be_ones_own(void)
{
#define SOLD OWN_OFFERING("0.1", "on-demand", "a")
    static const char types[] =
        "[" OWN_TYPE("plain", "\"nvidia.com/gpu\": \"0\"",
                     SOLD) ", " OWN_TYPE("fast", "\"nvidia.com/gpu\": \"1\"", SOLD) "]";
#define TYPES(values) "{key: node.kubernetes.io/instance-type, operator: In, values: [" values "]}"
    static const struct rail_case cases[] = {
        {POOL("a", LIMITS("nvidia.com/gpu: 8"), TYPES("fast")), ""},
        {POOL("a", LIMITS("nvidia.com/gpu: 8"), TYPES("fast, plain")), NONE "nvidia.com/gpu"},
        {POOL("a", LIMITS("nvidia.com/gpu: 8"), TYPES("plain")), NONE "nvidia.com/gpu"},
    };
    rail_catalog_run(&(struct rail_table){"pool-limits: {}", NULL, cases, COUNT_OF(cases)}, types);
    static const struct rail_case asked[] = {
        {POOL("a", LIMITS("cpu: 8"), TYPES("fast")), "deny spec.limits[nvidia.com/gpu] "},
        {POOL("a", LIMITS("cpu: 8"), TYPES("plain")), ""},
    };
    rail_catalog_run(
        &(struct rail_table){"pool-limits: {require: [nvidia.com/gpu]}", NULL, asked, 2}, types);
}

static void some_limits_are_required(void)
{
    static const struct rail_case cases[] = {
        {PLAIN(""), NONE},
        {PLAIN(LIMITS("cpu: 100, memory: 1Ti")), ""},
        {PLAIN(LIMITS("cpu: 100")), "deny spec.limits.memory "},
        {PLAIN(LIMITS("nodes: 9")), "deny spec.limits.cpu \ndeny spec.limits.memory "},
        {PLAIN(LIMITS("cpu: 100, memory: null")), "deny spec.limits.memory "},
        {AZURE(LIMITS("cpu: 100")), "deny spec.limits.memory "},
        {PROVISIONER("cpu: 100"), "deny spec.limits.resources.memory "},
        /* each is asked for, not any that would do */
        {POOL("a", LIMITS("nvidia.com/gpu: 8"), FAMILY("g5, m5")),
         "deny spec.limits.cpu \ndeny spec.limits.memory "},
    };
    rail_table_run(&(struct rail_table){"pool-limits: {require: [cpu, memory]}", NULL, cases,
                                        COUNT_OF(cases)});
    /* what each node has, whoever makes it */
    static const struct rail_case of_each[] = {
        {AZURE(LIMITS("cpu: 100")), "deny spec.limits.ephemeral-storage \ndeny spec.limits.nodes \n"
                                    "deny spec.limits.pods "},
    };
    rail_table_run(&(struct rail_table){
        "pool-limits: {require: [cpu, nodes, pods, ephemeral-storage, nvidia.com/gpu]}", NULL,
        of_each, 1});
    static const struct rail_case one[] = {
        {POOL("a", LIMITS("nvidia.com/gpu: 8"), FAMILY("g5, m5")), "deny spec.limits.cpu "},
        {PLAIN(LIMITS("nodes: 9")), "deny spec.limits.cpu "},
        {PLAIN(LIMITS("cpu: 9")), ""},
    };
    rail_table_run(&(struct rail_table){"pool-limits: {require: [cpu]}", NULL, one, COUNT_OF(one)});
}

static void a_limit_has_a_ceiling(void)
{
    static const struct rail_case cases[] = {
        {PLAIN(LIMITS("cpu: 1000, nodes: 50")), ""},
        {PLAIN(LIMITS("cpu: 1000001m, nodes: 50")), "deny spec.limits.cpu 1000001m"},
        {PLAIN(LIMITS("cpu: 1k, nodes: 51")), "deny spec.limits.nodes 51"},
        {PLAIN(LIMITS("memory: 1Gi, cpu: 5")), "deny spec.limits.nodes "},
        {PLAIN(LIMITS("cpu: 5, nodes: null")), "deny spec.limits.nodes "},
        {PLAIN(LIMITS("cpu: 2000, nodes: 51")),
         "deny spec.limits.cpu 2000\ndeny spec.limits.nodes 51"},
        {PLAIN(LIMITS("cpu: '1e30', nodes: 1")), "deny spec.limits.cpu 1e30"},
        {PLAIN(LIMITS("cpu: x, nodes: 1")), "deny spec.limits.cpu x"},
        {PLAIN(""), NONE},
        {PLAIN("replicas: 50, "), ""},
        {PLAIN("replicas: 51, "), "deny spec.replicas 51"},
        /* its limit leaves it fewer, or does not matter */
        {PLAIN("replicas: 51, " LIMITS("nodes: 50")), ""},
        {PLAIN("replicas: 61, " LIMITS("nodes: 60")), "deny spec.limits.nodes 60"},
        {PLAIN("replicas: 50, " LIMITS("nodes: 90")), ""},
        {PLAIN("replicas: 51, " LIMITS("nodes: few")),
         "deny spec.limits.nodes few\ndeny spec.replicas 51"},
        {PLAIN("replicas: '51', "), NONE},
    };
    rail_table_run(&(struct rail_table){"pool-limits: {max: {cpu: 1000, nodes: 50}}", NULL, cases,
                                        COUNT_OF(cases)});
    /* nodes of which nobody counts the CPUs */
    static const struct rail_case fixed = {PLAIN("replicas: 5000, "), ""};
    rail_table_run(&(struct rail_table){"pool-limits: {max: {cpu: 1000}}", NULL, &fixed, 1});
}

/* A pool that has no GPUs to buy needs no limit on them. */
static void a_ceiling_is_for_those_who_could_reach_it(void)
{
    static const struct rail_case cases[] = {
        {POOL("a", LIMITS("cpu: 8"), FAMILY("m5")), ""},
        {POOL("a", LIMITS("cpu: 8"), FAMILY("m5, g5")), "deny spec.limits[nvidia.com/gpu] "},
        {POOL("a", LIMITS("cpu: 8, nvidia.com/gpu: 9"), FAMILY("m5, g5")),
         "deny spec.limits[nvidia.com/gpu] 9"},
        {POOL("a", LIMITS("cpu: 1"), FAMILY("m99")), ""},
        {AZURE(LIMITS("cpu: 1")), ""},
    };
    rail_table_run(&(struct rail_table){"pool-limits: {max: {nvidia.com/gpu: 8}}", NULL, cases,
                                        COUNT_OF(cases)});
    static const struct rail_case total[] = {
        {POOL("a", LIMITS("cpu: 8"), FAMILY("m5")), ""},
        {POOL("a", LIMITS("cpu: 8"), FAMILY("g5")), "deny spec.limits[nvidia.com/gpu] "},
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
    static const struct rail_case ceiling_and_budget = {PLAIN(LIMITS("memory: 1Gi")),
                                                        "deny spec.limits.cpu "};
    rail_table_run(&(struct rail_table){"pool-limits: {max: {cpu: 9}, maxTotal: {cpu: 90}}", NULL,
                                        &ceiling_and_budget, 1});
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
        {PROVISIONER("cpu: 0"), ""},
    };
    rail_table_run(&(struct rail_table){"pool-limits: {maxTotal: {cpu: 1000}}", cluster, cases,
                                        COUNT_OF(cases)});
    static const struct rail_case both = {PLAIN(LIMITS("cpu: 700, memory: 2Ti")),
                                          "deny spec.limits.cpu 700\ndeny spec.limits.memory 2Ti"};
    rail_table_run(&(struct rail_table){"pool-limits: {maxTotal: {cpu: 1000, memory: 1Ti}}",
                                        cluster, &both, 1});
    /* Provisioners and NodePools draw on one budget. */
    static const char provisioners[] =
        "{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: p}, spec: "
        "{limits: "
        "{resources: {cpu: 100}}}}\n---\n{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, "
        "metadata: {name: q}, spec: {limits: {resources: {cpu: 400}}}}";
    static const struct rail_case beside[] = {
        {PLAIN(LIMITS("cpu: 500")), ""},
        {PLAIN(LIMITS("cpu: 501")), "deny spec.limits.cpu 501"},
    };
    rail_table_run(
        &(struct rail_table){"pool-limits: {maxTotal: {cpu: 1000}}", provisioners, beside, 2});
    /* A pool that is going buys nothing; a limit that is none, or below none, gives nothing. */
    static const char others[] =
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: b, deletionTimestamp: "
        "'2026-01-01T00:00:00Z'}, spec: {limits: {cpu: 900}}}\n---\n" POOL(
            "c", LIMITS("cpu: many"), "") "\n---\n" POOL("d", LIMITS("cpu: -900"), "");
    static const struct rail_case full[] = {
        {PLAIN(LIMITS("cpu: 1000")), ""},
        {PLAIN(LIMITS("cpu: 1001")), "deny spec.limits.cpu 1001"},
        {PLAIN(LIMITS("cpu: many")), "deny spec.limits.cpu many"},
        {PLAIN(LIMITS("cpu: -1001")), "deny spec.limits.cpu -1001"},
    };
    rail_table_run(
        &(struct rail_table){"pool-limits: {maxTotal: {cpu: 1000}}", others, full, COUNT_OF(full)});
}

/* Karpenter keeps as many nodes as replicas says, or as limits.nodes leaves. */
static void pools_of_a_fixed_size_share_it(void)
{
    static const char rails[] = "pool-limits: {maxTotal: {nodes: 10}}";
    static const char cluster[] = POOL("b", "replicas: 3, ", "") "\n---\n" POOL(
        "c", "replicas: 2, " LIMITS("nodes: 900"), "");
    static const struct rail_case cases[] = {
        {PLAIN("replicas: 5, "), ""},
        {PLAIN("replicas: 6, "), "deny spec.replicas 6"},
        {PLAIN("replicas: 0, "), ""},
        {PLAIN("replicas: 6, " LIMITS("nodes: '5'")), ""},
        {PLAIN("replicas: 9, " LIMITS("nodes: '6'")), "deny spec.limits.nodes 6"},
        {PLAIN(LIMITS("nodes: '5'")), ""},
        {PLAIN(LIMITS("nodes: '6'")), "deny spec.limits.nodes 6"},
        {PLAIN(LIMITS("cpu: '6'")), "deny spec.limits.nodes "},
    };
    rail_table_run(&(struct rail_table){rails, cluster, cases, COUNT_OF(cases)});
    /* nobody counts their CPUs */
    rail_table_run(&(struct rail_table){"pool-limits: {maxTotal: {cpu: 10}}", cluster,
                                        &(struct rail_case){PLAIN("replicas: 500, "), ""}, 1});
    static const struct rail_words words[] = {
        {PLAIN("replicas: 6, "),
         "With b 3, c 2 the limits on nodes come to 11, above the budget of 10 for all pools.",
         "Set it to at most 5, or lower the others."},
    };
    rail_words_run(rails, cluster, words, COUNT_OF(words));
    static const struct rail_words alone[] = {
        {PLAIN("replicas: 500, "), "500 nodes are above the budget of 10 for all pools.",
         "Set it to at most 10, or lower the others."},
    };
    rail_words_run(rails, NULL, alone, COUNT_OF(alone));
    static const struct rail_words both[] = {
        {PLAIN("replicas: 8000, "), "8000 nodes are above the ceiling of 5k.",
         "Set it to at most 5000."},
        {PLAIN("replicas: 9999, "),
         "9999 nodes are above the ceiling of 5k for one pool, and above the 9000 that are left "
         "for "
         "it of the budget for all.",
         "Set it to at most 5000."},
    };
    rail_words_run("pool-limits: {max: {nodes: 5k}, maxTotal: {nodes: 9k}}", NULL, both,
                   COUNT_OF(both));
}

/* A pool that may buy nothing takes nothing of the budget, however full it is. */
static void a_limit_of_none_is_within_any_budget(void)
{
    static const struct rail_case cases[] = {
        {PLAIN(LIMITS("cpu: 0")), ""},
        {PLAIN(LIMITS("cpu: -1")), "deny spec.limits.cpu -1"},
        {PLAIN(LIMITS("cpu: 1")), "deny spec.limits.cpu 1"},
    };
    static const char cluster[] = POOL("b", LIMITS("cpu: 1200"), "");
    const char *rails = "pool-limits: {maxTotal: {cpu: 1000}}";
    rail_table_run(&(struct rail_table){rails, cluster, cases, COUNT_OF(cases)});
}

static void it_says_what_to_write(void)
{
    static const char none[] = "No limit bounds how many nodes the pool buys.";
    static const struct rail_words any[] = {
        {PLAIN(""), none, "Set spec.limits, by cpu, memory or nodes."},
        {POOL("a", LIMITS("nvidia.com/gpu: 8, amd.com/gpu: 8"), FAMILY("g5, m5")),
         "Only nvidia.com/gpu, amd.com/gpu has a limit, and the pool can buy any number of nodes "
         "without it.",
         "Set spec.limits, by cpu, memory or nodes."},
        {POOL("a",
              LIMITS("r/a: 1, r/b: 1, r/c: 1, r/d: 1, r/e: 1, r/f: 1, r/g: 1, r/h: 1, r/i: 1, "
                     "r/j: 1, r/k: 1, nvidia.com/l: 1"),
              FAMILY("g5, m5")),
         "Only r/a, r/b, r/c, r/d, r/e, r/f, r/g, r/h, r/i, r/j and 2 more has a limit, and the "
         "pool can buy any number of nodes without it.",
         "Set spec.limits, by cpu, memory or nodes."},
        {PLAIN(LIMITS("cpu: many")), "\"many\" is no quantity, so the API server refuses the pool.",
         "Write a number with a unit, as in 100, 512Gi or 4Ti."},
        {PLAIN(LIMITS("cpu: [1]")), "This is no quantity, so the API server refuses the pool.",
         "Write a number with a unit, as in 100, 512Gi or 4Ti."},
        {PLAIN(LIMITS("cpu: ''")), "This is no quantity, so the API server refuses the pool.",
         "Write a number with a unit, as in 100, 512Gi or 4Ti."},
        {PLAIN(LIMITS("cpu: 1, resources: {memory: 1Gi}")),
         "This is no quantity, so the API server refuses the pool.",
         "Move what is in it to spec.limits: only a Provisioner has it."},
        {PLAIN(LIMITS("cpu: 1, resources: [1]")),
         "This is no quantity, so the API server refuses the pool.",
         "Write a number with a unit, as in 100, 512Gi or 4Ti."},
        {PLAIN(LIMITS("cpu: {value: 1}")),
         "This is no quantity, so the API server refuses the pool.",
         "Write a number with a unit, as in 100, 512Gi or 4Ti."},
    };
    rail_words_run("pool-limits: {}", NULL, any, COUNT_OF(any));
    static const struct rail_words old[] = {
        {"{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: a}, spec: {}}",
         none, "Set spec.limits.resources, by cpu or memory."},
        {"{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: a}, spec: {}}", none,
         "Set spec.limits, by cpu or memory."},
    };
    rail_words_run("pool-limits: {}", NULL, old, COUNT_OF(old));
    static const struct rail_words accelerated[] = {
        {POOL("a", "", FAMILY("g5")), none, "Set spec.limits to {nvidia.com/gpu: 8} or less."},
        {POOL("a", "", FAMILY("g5, m5")), none, "Set spec.limits, by cpu, memory or nodes."},
        {POOL("a", "", FAMILY("m5")), none, "Set spec.limits, by cpu, memory or nodes."},
    };
    rail_words_run("pool-limits: {max: {nvidia.com/gpu: 8}}", NULL, accelerated,
                   COUNT_OF(accelerated));
    static const struct rail_words required[] = {
        {PLAIN(""), none, "Set spec.limits, by cpu, memory."},
        {PLAIN(LIMITS("cpu: 1")), "The pool has no limit on memory.", "Add memory to spec.limits."},
        {PROVISIONER("cpu: 1"), "The pool has no limit on memory.",
         "Add memory to spec.limits.resources."},
    };
    rail_words_run("pool-limits: {require: [cpu, memory]}", NULL, required, COUNT_OF(required));
    static const struct rail_words in_part[] = {
        {POOL("a", "", FAMILY("m5")), none, "Set spec.limits to {cpu: 1k} or less."},
        {POOL("a", "", FAMILY("g5")), none,
         "Set spec.limits to {nvidia.com/gpu: 8, cpu: 1k} or less."},
    };
    rail_words_run("pool-limits: {max: {nvidia.com/gpu: 8, cpu: 1k}}", NULL, in_part,
                   COUNT_OF(in_part));
    static const struct rail_words besides[] = {
        {POOL("a", "", FAMILY("m5")), none,
         "Set spec.limits to {cpu: 1k} or less, and a limit on memory, nodes, pods."},
        {AZURE(""), none,
         "Set spec.limits to {nvidia.com/gpu: 8, cpu: 1k} or less, and a limit on memory, nodes, "
         "pods."},
    };
    rail_words_run(
        "pool-limits: {require: [memory, amd.com/gpu, cpu, nodes], max: {nvidia.com/gpu: "
        "8, cpu: 1k}, maxTotal: {cpu: 9k, nodes: 9, pods: 900}}",
        NULL, besides, COUNT_OF(besides));
    static const struct rail_words shared[] = {
        {POOL("a", "", FAMILY("g5")), none, "Set spec.limits, by nvidia.com/gpu, memory."},
        {POOL("a", "", FAMILY("m5")), none, "Set spec.limits, by memory."},
    };
    rail_words_run("pool-limits: {maxTotal: {nvidia.com/gpu: 8, memory: 9Ti}}", NULL, shared,
                   COUNT_OF(shared));
    /* A limit on GPUs would not do for a pool that may do without; one that is required does. */
    static const struct rail_words in_vain = {POOL("a", "", FAMILY("g5, m5")), none,
                                              "Set spec.limits, by cpu, memory or nodes."};
    rail_words_run("pool-limits: {maxTotal: {nvidia.com/gpu: 8}}", NULL, &in_vain, 1);
    static const struct rail_words enough = {POOL("a", "", FAMILY("g5, m5")), none,
                                             "Set spec.limits, by nvidia.com/gpu."};
    rail_words_run("pool-limits: {require: [nvidia.com/gpu]}", NULL, &enough, 1);
    static const struct rail_words one_bounds = {
        POOL("a", "", FAMILY("g5, m5")), none,
        "Set spec.limits to {cpu: 1k, nvidia.com/gpu: 8} or less."};
    rail_words_run("pool-limits: {max: {cpu: 1k, nvidia.com/gpu: 8}}", NULL, &one_bounds, 1);
    static const struct rail_words bounded[] = {
        {PLAIN(""), none, "Set spec.limits to {cpu: 1k, nodes: 50} or less."},
        {PLAIN(LIMITS("cpu: 5")), "The pool has no limit on nodes.", "Set a limit of at most 50."},
        {PLAIN(LIMITS("cpu: 2k, nodes: 1")), "The limit 2k is above the ceiling of 1k.",
         "Set it to at most 1k."},
        {PLAIN("replicas: 51, "), "51 nodes are above the ceiling of 50.", "Set it to at most 50."},
    };
    rail_words_run("pool-limits: {max: {cpu: 1k, nodes: 50}}", NULL, bounded, COUNT_OF(bounded));
}

static void tools_can_lower_it(void)
{
    rail_replaces("pool-limits: {max: {cpu: 1k}}", PLAIN(LIMITS("cpu: 2000")), "1k");
    rail_replaces("pool-limits: {maxTotal: {cpu: 1k}}", PLAIN(LIMITS("cpu: 2000")), "");
}

/* Sums are written in the largest unit that leaves no rest. */
static void it_says_what_the_pools_come_to(void)
{
    static const struct rail_words one[] = {
        {PLAIN(LIMITS("memory: 3Ti")), "The limit 3Ti is above the budget of 2Ti for all pools.",
         "Set it to at most 2Ti, or lower the others."},
    };
    rail_words_run("pool-limits: {maxTotal: {memory: 2Ti}}", NULL, one, COUNT_OF(one));
    static const char cluster[] =
        POOL("b", LIMITS("cpu: 1500m, memory: 512Gi, ephemeral-storage: 1Ki"), "");
    static const struct rail_words more[] = {
        {PLAIN(LIMITS("memory: 1Ti")),
         "With b 512Gi the limits on memory come to 1536Gi, above the budget of 1Ti for all pools.",
         "Set it to at most 512Gi, or lower the others."},
    };
    rail_words_run("pool-limits: {maxTotal: {memory: 1Ti}}", cluster, more, COUNT_OF(more));
    static const struct rail_words parts[] = {
        {PLAIN(LIMITS("cpu: 2")),
         "With b 1500m the limits on cpu come to 3500m, above the budget of 3 for all pools.",
         "Set it to at most 1500m, or lower the others."},
        {PLAIN(LIMITS("cpu: 2000")),
         "With b 1500m the limits on cpu come to 2001500m, above the budget of 3 for all pools.",
         "Set it to at most 1500m, or lower the others."},
    };
    rail_words_run("pool-limits: {maxTotal: {cpu: 3}}", cluster, parts, COUNT_OF(parts));
    static const struct rail_words bytes[] = {
        {PLAIN(LIMITS("ephemeral-storage: 1500")),
         "With b 1Ki the limits on ephemeral-storage come to 2524, above the budget of 1Ki for all "
         "pools.",
         "Lower the limits of the other pools first: they take the whole budget."},
        {PLAIN(LIMITS("ephemeral-storage: 1023Ki")),
         "With b 1Ki the limits on ephemeral-storage come to 1Mi, above the budget of 1Ki for all "
         "pools.",
         "Lower the limits of the other pools first: they take the whole budget."},
    };
    rail_words_run("pool-limits: {maxTotal: {ephemeral-storage: 1Ki}}", cluster, bytes,
                   COUNT_OF(bytes));
    static const struct rail_words pages = {PLAIN(LIMITS("hugepages-2Mi: 1Gi")),
                                            "With b 512Mi the limits on hugepages-2Mi come to "
                                            "1536Mi, above the budget of 1Gi for all pools.",
                                            "Set it to at most 512Mi, or lower the others."};
    rail_words_run("pool-limits: {require: [hugepages-2Mi], maxTotal: {hugepages-2Mi: 1Gi}}",
                   POOL("b", LIMITS("hugepages-2Mi: 512Mi"), ""), &pages, 1);
    static const struct rail_words vast[] = {
        {PLAIN(LIMITS("memory: 100Pi")),
         "With b 512Gi the limits on memory come to more than 9P, above the budget of 1Ti for all "
         "pools.",
         "Set it to at most 512Gi, or lower the others."},
    };
    rail_words_run("pool-limits: {maxTotal: {memory: 1Ti}}", cluster, vast, COUNT_OF(vast));
    /* Two of 8Pi are more than 64 bits hold of thousandths, and yet they are two. */
    static const struct rail_words two_vast[] = {
        {PLAIN(LIMITS("memory: 1Ti")),
         "With b 8Pi, c 8Pi the limits on memory come to more than 9P, above the budget of 1Ti for "
         "all pools.",
         "Lower the limits of the other pools first: they take the whole budget."},
    };
    rail_words_run(
        "pool-limits: {maxTotal: {memory: 1Ti}}",
        POOL("b", LIMITS("memory: 8Pi"), "") "\n---\n" POOL("c", LIMITS("memory: 8Pi"), ""),
        two_vast, COUNT_OF(two_vast));
    static const struct rail_words nothing_left[] = {
        {PLAIN(LIMITS("cpu: 2")),
         "With b 1 the limits on cpu come to 3, above the budget of 1 for all pools.",
         "Lower the limits of the other pools first: they take the whole budget."},
    };
    rail_words_run("pool-limits: {maxTotal: {cpu: 1}}", POOL("b", LIMITS("cpu: 1"), ""),
                   nothing_left, COUNT_OF(nothing_left));
    static const struct rail_words little_left = {
        PLAIN(LIMITS("cpu: 2")),
        "With b 999m the limits on cpu come to 2999m, above the budget of 1 for all pools.",
        "Set it to at most 1m, or lower the others."};
    rail_words_run("pool-limits: {maxTotal: {cpu: 1}}", POOL("b", LIMITS("cpu: 999m"), ""),
                   &little_left, 1);
}

#define ONE(name) "---\n" POOL(name, LIMITS("cpu: 1"), "") "\n"

static void it_names_five_pools(void)
{
    static const char fix[] =
        "Lower the limits of the other pools first: they take the whole budget.";
    static const struct rail_words five = {PLAIN(LIMITS("cpu: 1")),
                                           "With b 1, c 1, d 1, e 1, f 1 the limits on cpu come to "
                                           "6, above the budget of 5 for all pools.",
                                           fix};
    rail_words_run("pool-limits: {maxTotal: {cpu: 5}}",
                   ONE("b") ONE("c") ONE("d") ONE("e") ONE("f"), &five, 1);
    static const struct rail_words seven = {PLAIN(LIMITS("cpu: 1")),
                                            "With b 1, c 1, d 1, e 1, f 1, ... the limits on cpu "
                                            "come to 8, above the budget of 5 for all pools.",
                                            fix};
    rail_words_run("pool-limits: {maxTotal: {cpu: 5}}",
                   ONE("b") ONE("c") ONE("d") ONE("e") ONE("f") ONE("g") ONE("h"), &seven, 1);
    static const struct rail_words six[] = {
        {PLAIN(LIMITS("cpu: 1018")), /* CPUs are counted by 1000, not by 1024 */
         "With b 1, c 1, d 1, e 1, f 1, ... the limits on cpu come to 1024, above the budget of 6 "
         "for all pools.",
         "Lower the limits of the other pools first: they take the whole budget."},
    };
    rail_words_run("pool-limits: {maxTotal: {cpu: 6}}",
                   ONE("b") ONE("c") ONE("d") ONE("e") ONE("f") ONE("g"), six, COUNT_OF(six));
}

/* Above both ceilings it is said once, and the fix keeps to the lower one. */
static void two_ceilings_are_said_once(void)
{
    static const struct rail_words alone[] = {
        {PLAIN(LIMITS("cpu: 90")),
         "The limit 90 is above the ceiling of 20 for one pool, and above the 30 that are left for "
         "it of the budget for all.",
         "Set it to at most 20."},
        {PLAIN(LIMITS("cpu: 25")), "The limit 25 is above the ceiling of 20.",
         "Set it to at most 20."},
    };
    /* of a budget that others have there is nothing to name */
    static const struct rail_case used[] = {
        {POOL("a", LIMITS("cpu: 90"), ""), "deny spec.limits.cpu 90\ndeny spec.limits.cpu 90"}};
    rail_table_run(&(struct rail_table){"pool-limits: {max: {cpu: 20}, maxTotal: {cpu: 30}}",
                                        POOL("b", LIMITS("cpu: 30"), ""), used, 1});
    static const struct rail_words over[] = {{POOL("a", LIMITS("cpu: 90"), ""),
                                              "The limit 90 is above the ceiling of 20.",
                                              "Set it to at most 20."}};
    rail_words_run("pool-limits: {max: {cpu: 20}, maxTotal: {cpu: 30}}",
                   POOL("b", LIMITS("cpu: 30"), ""), over, 1);
    /* the largest unit there is */
    static const struct rail_words large[] = {
        {PLAIN(LIMITS("memory: 8193Ti")),
         "The limit 8193Ti is above the budget of 8Pi for all pools.",
         "Set it to at most 8Pi, or lower the others."}};
    rail_words_run("pool-limits: {maxTotal: {memory: 8Pi}}", NULL, large, 1);
    static const struct rail_words beside[] = {
        {POOL("a", LIMITS("cpu: 90"), ""),
         "The limit 90 is above the ceiling of 20 for one pool, and above the 10 that are left for "
         "it of the budget for all.",
         "Set it to at most 10."},
    };
    rail_words_run("pool-limits: {max: {cpu: 20}, maxTotal: {cpu: 30}}", NULL, alone,
                   COUNT_OF(alone));
    rail_words_run("pool-limits: {max: {cpu: 20}, maxTotal: {cpu: 30}}",
                   POOL("b", LIMITS("cpu: 20"), ""), beside, COUNT_OF(beside));
}

#define OF_AUTO_MODE(name, by)                                                                \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name                    \
    ", labels: {app.kubernetes.io/managed-by: " by                                            \
    "}}, spec: {template: {spec: {nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, " \
    "name: default}, requirements: []}}}}"

static void built_in_pools_cannot_be_changed(void)
{
    static const struct rail_case cases[] = {
        {OF_AUTO_MODE("general-purpose", "eks"), ""},
        {OF_AUTO_MODE("system", "eks"), ""},
        {OF_AUTO_MODE("copied", "eks"), "deny spec.limits "},
        {OF_AUTO_MODE("system", "us"), "deny spec.limits "},
    };
    rail_table_run(&(struct rail_table){"pool-limits: {}", NULL, cases, COUNT_OF(cases)});
}

static void it_speaks_in_every_mode(void)
{
    rail_modes_run("pool-limits", "", NULL, PLAIN(""));
}

#define LIMITED(name, limits)                                                                   \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: {" limits  \
    "template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}, " \
    "requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [p5]}]}}}}"

/* No fix proposes more than the ceiling of one pool, and what is left of the budget for all. */
static void no_fix_is_above_a_ceiling(void)
{
    static const char some[] = LIMITED("other", "limits: {cpu: 500}, ");
    static const struct rail_words left[] = {
        {LIMITED("a", ""), "No limit bounds how many nodes the pool buys.",
         "Set spec.limits to {cpu: 100, memory: 1Ti} or less."},
        {LIMITED("a", "limits: {memory: 9Ti, nodes: 2}, "), "The pool has no limit on cpu.",
         "Set a limit of at most 100."},
        {LIMITED("a", "limits: {cpu: 9, memory: 1Ti}, "),
         "The pool never buys a node: p5.4xlarge, the smallest type that it may launch, has 16, "
         "and "
         "the limit is 9.",
         "Set it to at least 16, or to 0 if it is to buy none."},
        {LIMITED("a", "limits: {cpu: 99, memory: 1Gi}, "),
         "The pool never buys a node: p5.4xlarge, the smallest type that it may launch, has "
         "242483Mi, and the limit is 1Gi.",
         "Set it to at least 242483Mi, or to 0 if it is to buy none."},
    };
    rail_words_run("pool-limits: {max: {cpu: 1000, memory: 1Ti}, maxTotal: {cpu: 600}}", some, left,
                   COUNT_OF(left));
    static const struct rail_words none = {
        LIMITED("a", "limits: {memory: 1Ti}, "), "The pool has no limit on cpu.",
        "Lower the limits of the other pools first: they take the whole budget."};
    rail_words_run("pool-limits: {max: {cpu: 1000}, maxTotal: {cpu: 500}}", some, &none, 1);
    static const struct rail_words small = {
        LIMITED("a", "limits: {memory: 1Gi}, "),
        "The pool never buys a node: p5.4xlarge, the smallest type that it may launch, has "
        "242483Mi, and the limit is 1Gi.",
        "Choose smaller types, since the policy allows no higher limit, or set it to 0 if it is to "
        "buy none."};
    rail_words_run("pool-limits: {max: {memory: 100Gi}}", NULL, &small, 1);
}

const char unit_suite[] = "policy pool-limits";
const struct unit_test unit_tests[] = {
    {"a pool has a limit", a_pool_has_a_limit},
    {"the machines may be one's own", the_machines_may_be_ones_own},
    {"some limits are required", some_limits_are_required},
    {"a limit has a ceiling", a_limit_has_a_ceiling},
    {"a ceiling is for those who could reach it", a_ceiling_is_for_those_who_could_reach_it},
    {"a limit that is missing is said once", a_limit_that_is_missing_is_said_once},
    {"all pools share a budget", all_pools_share_a_budget},
    {"pools of a fixed size share it", pools_of_a_fixed_size_share_it},
    {"a limit of none is within any budget", a_limit_of_none_is_within_any_budget},
    {"it says what to write", it_says_what_to_write},
    {"tools can lower it", tools_can_lower_it},
    {"it says what the pools come to", it_says_what_the_pools_come_to},
    {"it names five pools", it_names_five_pools},
    {"two ceilings are said once", two_ceilings_are_said_once},
    {"built-in pools cannot be changed", built_in_pools_cannot_be_changed},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {"no fix is above a ceiling", no_fix_is_above_a_ceiling},
    {NULL, NULL},
};
