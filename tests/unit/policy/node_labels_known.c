/* The rail node-labels on labels that everybody knows: processors, zones, hosts, and what the
 * catalogue says of instance types. */
#include "rail_catalog.h"

#define POD(spec) "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: " spec "}"
#define SELECTS(labels) POD("{nodeSelector: {" labels "}}")
#define REQUIRES(terms)                                                               \
    POD("{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: " \
        "{nodeSelectorTerms: [" terms "]}}}}")
#define TERM(expressions) "{matchExpressions: [" expressions "]}"
#define IN(key, values) "{key: " key ", operator: In, values: [" values "]}"
#define AT(label) "spec.nodeSelector[" label "] "
#define TERMS \
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"

#define ARCH "kubernetes.io/arch"
#define ZONE "topology.kubernetes.io/zone"
#define OLD_ZONE "failure-domain.beta.kubernetes.io/zone"
#define ZONE_ID "topology.k8s.aws/zone-id"
#define REGION "topology.kubernetes.io/region"
#define HOST "kubernetes.io/hostname"
#define TYPE "node.kubernetes.io/instance-type"
#define CATEGORY "karpenter.k8s.aws/instance-category"
#define FAMILY "karpenter.k8s.aws/instance-family"

#define POOL_OF(group, kind, requirements)                                                  \
    "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " kind "}, spec: " \
    "{template: {spec: {nodeClassRef: {group: " group ", kind: " kind ", name: d}, "        \
    "requirements: [" requirements "]}}}}\n"
#define POOL(requirements) POOL_OF("karpenter.k8s.aws", "EC2NodeClass", requirements)
#define NODE(name, labels) \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {" labels "}}}\n"
#define CLASS                                                                                     \
    "---\n{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: d}, spec: {}, " \
    "status: {subnets: [{id: s, zone: eu-west-1a, zoneID: euw1-az2}]}}\n"

/* One finding: its sentence, its fix, and what a tool puts in the place of the value. */
struct replaced_case {
    const char *object, *message, *fix, *replacement;
};

static void hold(const char *rails, const char *cluster, const struct replaced_case *rows,
                 size_t count)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world(rails, cluster, arena);
    for (size_t i = 0; i < count; i++) {
        struct rail_documents documents = rail_table_read(rows[i].object, arena);
        struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        CU_ASSERT_EQUAL_FATAL(verdict.finding_count, 1);
        ASSERT_TEXT(verdict.findings[0].message, rows[i].message);
        ASSERT_TEXT(verdict.findings[0].fix, rows[i].fix);
        ASSERT_TEXT(verdict.findings[0].replacement, rows[i].replacement);
    }
    arena_destroy(arena);
}

/* What Docker, uname, AWS and people call them. */
static void other_words_for_what_is_meant(void)
{
#define CAPACITY "karpenter.sh/capacity-type"
    static const struct replaced_case rows[] = {
        {SELECTS(ARCH ": x86_64"),
         "No node has kubernetes.io/arch=x86_64, so these pods would stay Pending. Use amd64.",
         "Use amd64.", "amd64"},
        {SELECTS(ARCH ": x86"),
         "No node has kubernetes.io/arch=x86, so these pods would stay Pending. Use amd64.",
         "Use amd64.", "amd64"},
        {SELECTS(ARCH ": x64"),
         "No node has kubernetes.io/arch=x64, so these pods would stay Pending. Use amd64.",
         "Use amd64.", "amd64"},
        {SELECTS(ARCH ": aarch64"),
         "No node has kubernetes.io/arch=aarch64, so these pods would stay Pending. Use arm64.",
         "Use arm64.", "arm64"},
        {SELECTS(ARCH ": arm"),
         "No node has kubernetes.io/arch=arm, so these pods would stay Pending. Use arm64.",
         "Use arm64.", "arm64"},
        {SELECTS(CAPACITY ": ondemand"),
         "No node has karpenter.sh/capacity-type=ondemand, so these pods would stay Pending. Use "
         "on-demand.",
         "Use on-demand.", "on-demand"},
        {SELECTS(CAPACITY ": ON_DEMAND"),
         "No node has karpenter.sh/capacity-type=ON_DEMAND, so these pods would stay Pending. Use "
         "on-demand.",
         "Use on-demand.", "on-demand"},
        {SELECTS(CAPACITY ": SPOT"),
         "No node has karpenter.sh/capacity-type=SPOT, so these pods would stay Pending. Use spot.",
         "Use spot.", "spot"},
        {SELECTS(CAPACITY ": spt"),
         "No node has karpenter.sh/capacity-type=spt, so these pods would stay Pending. Use spot.",
         "Use spot.", "spot"},
        {SELECTS("kubernetes.io/os: darwin"),
         "No node has kubernetes.io/os=darwin, so these pods would stay Pending. Use linux or "
         "windows.",
         "Use linux or windows.", ""},
    };
    hold("node-labels: {}", NULL, rows, COUNT_OF(rows));
    static const struct rail_case known[] = {
        {SELECTS(ARCH ": amd64"), ""},
        {SELECTS(ARCH ": arm64"), ""},
        {SELECTS("kubernetes.io/os: linux"), ""},
        {SELECTS("kubernetes.io/os: windows"), ""},
        {SELECTS(CAPACITY ": on-demand"), ""},
        {SELECTS(CAPACITY ": spot"), ""},
        {SELECTS(CAPACITY ": reserved"), ""},
        /* each value by itself, right ones beside it or not */
        /* images are built for many; a slip beside right ones only misleads */
        {REQUIRES(TERM(IN(ARCH, "amd64, arm64, ppc64le, riscv64, s390x"))), ""},
        {REQUIRES(TERM(IN(ARCH, "amd64, x86_64"))),
         "warn " TERMS "[0].matchExpressions[0].values[1] x86_64"},
        {SELECTS(ARCH ": s390x"), "undecided " AT(ARCH) "s390x"},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}", NULL, known, COUNT_OF(known)});
}

/* A zone is wrong for sure only where all zones are known. */
static void zones_that_a_cluster_names(void)
{
    static const struct rail_case named[] = {
        {SELECTS(ZONE ": eu-west-1a"), ""},
        {SELECTS(ZONE ": eu-west-1b"), ""},
        {SELECTS(ZONE ": eu-west-1c"), "deny " AT(ZONE) "eu-west-1c"},
        {SELECTS(OLD_ZONE ": eu-west-1c"),
         "warn " AT(OLD_ZONE) OLD_ZONE "\ndeny " AT(OLD_ZONE) "eu-west-1c"},
        {REQUIRES(TERM(IN(ZONE, "eu-west-1a, eu-west-1c"))),
         "deny " TERMS "[0].matchExpressions[0].values[1] eu-west-1c"},
        {SELECTS(REGION ": eu-west-1"), ""},
        {SELECTS(REGION ": eu-west-2"), "warn " AT(REGION) "eu-west-2"},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}", POOL(IN(ZONE, "eu-west-1a, eu-west-1b")),
                                        named, COUNT_OF(named)});
    static const struct rail_case two_regions[] = {
        {SELECTS(REGION ": us-east-1"), ""},
        {SELECTS(REGION ": us-east-2"), "warn " AT(REGION) "us-east-2"},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}", POOL(IN(ZONE, "eu-west-1a, us-east-1a")),
                                        two_regions, COUNT_OF(two_regions)});
    /* the pool may launch anywhere: a Node shows one zone of many */
    static const struct rail_case open[] = {
        {SELECTS(ZONE ": eu-west-1a"), ""},
        {SELECTS(ZONE ": eu-west-1c"), "warn " AT(ZONE) "eu-west-1c"},
        {SELECTS(REGION ": us-east-1"), ""},
    };
    rail_table_run(&(struct rail_table){
        "node-labels: {}", POOL("") NODE("one", ZONE ": eu-west-1a"), open, COUNT_OF(open)});
    static const struct rail_case nothing[] = {
        {SELECTS(ZONE ": eu-west-1c"), ""},
        {SELECTS(ZONE_ID ": euw1-az9"), ""},
        {SELECTS(REGION ": us-east-1"), ""},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}", POOL(""), nothing, COUNT_OF(nothing)});
    static const struct rail_case by_id[] = {
        {SELECTS(ZONE_ID ": euw1-az2"), ""},
        {SELECTS(ZONE_ID ": euw1-az3"), "deny " AT(ZONE_ID) "euw1-az3"},
        {SELECTS(ZONE_ID ": eu-west-1a"), "deny " AT(ZONE_ID) "eu-west-1a"},
        {SELECTS(ZONE ": euw1-az2"), "deny " AT(ZONE) "euw1-az2"},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}", CLASS POOL(""), by_id, COUNT_OF(by_id)});
    static const struct replaced_case words[] = {
        {SELECTS(ZONE_ID ": euw1-az3"),
         "This cluster has no zone euw1-az3, so these pods would stay Pending. Use euw1-az2.",
         "Use euw1-az2.", "euw1-az2"},
        {SELECTS(ZONE ": us-east-1c"),
         "This cluster has no zone us-east-1c, so these pods would stay Pending. Use eu-west-1a.",
         "Use eu-west-1a.", ""},
    };
    hold("node-labels: {}", CLASS POOL(""), words, COUNT_OF(words));
}

static void hosts_by_name(void)
{
    static const char cluster[] = POOL("") NODE("ip-1", HOST ": host-1") NODE("bare", "");
    static const struct rail_case cases[] = {
        {SELECTS(HOST ": host-1"), ""},
        {SELECTS(HOST ": ip-1"), ""},
        {SELECTS(HOST ": bare"), ""},
        {SELECTS(HOST ": bear"), "deny " AT(HOST) "bear"},
        {REQUIRES(TERM(IN(HOST, "bare, gone"))),
         "deny " TERMS "[0].matchExpressions[0].values[1] gone"},
        /* Karpenter refuses pods that require anything of it */
        {REQUIRES(TERM("{key: " HOST ", operator: Exists}")),
         "warn " TERMS "[0].matchExpressions[0].key " HOST},
        {REQUIRES(TERM("{key: " HOST ", operator: NotIn, values: [gone]}")),
         "warn " TERMS "[0].matchExpressions[0].key " HOST},
        /* a host that is there does not make the rest possible */
        {SELECTS(HOST ": host-1, " FAMILY ": m5, " ARCH ": arm64"), "warn spec.nodeSelector "},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}", cluster, cases, COUNT_OF(cases)});
    static const struct rail_case without_nodes[] = {
        {SELECTS(HOST ": host-1"), "undecided " AT(HOST) "host-1"}};
    rail_table_run(&(struct rail_table){"node-labels: {}", POOL(""), without_nodes, 1});

    /* Of a live cluster the Nodes may not be for us to see. */
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("node-labels: {}", cluster, arena);
    world.unseen = KIND_BIT(KIND_NODE);
    static const struct rail_case hidden[] = {
        {SELECTS(HOST ": bear"), "undecided " AT(HOST) "bear"},
        {SELECTS("intent: apps"), "undecided spec.nodeSelector.intent intent"},
    };
    rail_table_run_in(&world, &(struct rail_table){.cases = hidden, .case_count = COUNT_OF(hidden)},
                      arena);
    world.unseen = KIND_BIT(KIND_NODE_POOL);
    static const struct rail_case pools_hidden[] = {
        {SELECTS(HOST ": bear"), "deny " AT(HOST) "bear"},
        {SELECTS("intent: apps"), "undecided spec.nodeSelector.intent intent"},
        {SELECTS("karpenter.sh/nodepool: other"),
         "undecided spec.nodeSelector[karpenter.sh/nodepool] other"},
    };
    rail_table_run_in(
        &world, &(struct rail_table){.cases = pools_hidden, .case_count = COUNT_OF(pools_hidden)},
        arena);
    world.unseen = KIND_BIT(KIND_EC2_NODE_CLASS);
    static const struct rail_case classes_hidden[] = {
        {SELECTS("intent: apps"), "deny spec.nodeSelector.intent intent"}};
    rail_table_run_in(&world, &(struct rail_table){.cases = classes_hidden, .case_count = 1},
                      arena);
    arena_destroy(arena);
}

/* The built-in catalogue grows old: only what can never be a name is wrong for sure. */
static void names_that_can_never_be(void)
{
    static const struct rail_case cases[] = {
        {SELECTS(CATEGORY ": ''"), "warn " AT(CATEGORY)},
        {SELECTS(CATEGORY ": q"), "warn " AT(CATEGORY) "q"},
        {SELECTS(CATEGORY ": high-memory"), "warn " AT(CATEGORY) "high-memory"},
        {SELECTS(CATEGORY ": q0"), "deny " AT(CATEGORY) "q0"},
        {SELECTS(CATEGORY ": q9"), "deny " AT(CATEGORY) "q9"},
        {SELECTS(CATEGORY ": 7q"), "deny " AT(CATEGORY) "7q"},
        {SELECTS(FAMILY ": q9z"), "warn " AT(FAMILY) "q9z"},
        {SELECTS(FAMILY ": q9z.large"), "deny " AT(FAMILY) "q9z.large"},
        {SELECTS(FAMILY ": m5.large"), "deny " AT(FAMILY) "m5.large"},
        {SELECTS(FAMILY ": ''"), "warn " AT(FAMILY)},
        /* a family that is there, and no dot: without a NodePool it may be another cloud's name */
        {SELECTS(TYPE ": trn1-32xl"), "deny " AT(TYPE) "trn1-32xl"},
        {SELECTS(TYPE ": m5-of-another-cloud"), "warn " AT(TYPE) "m5-of-another-cloud"},
        {SELECTS(TYPE ": m9-large"), "warn " AT(TYPE) "m9-large"},
        {SELECTS(TYPE ": ml.zz99.enormous"), "warn " AT(TYPE) "ml.zz99.enormous"},
        {SELECTS(TYPE ": ml"), "warn " AT(TYPE) "ml"},
        {SELECTS("karpenter.k8s.aws/instance-size: m5.large"),
         "warn " AT("karpenter.k8s.aws/instance-size") "m5.large"},
        /* labels of a node that no type tells of */
        {SELECTS("node.kubernetes.io/windows-build: 10.0.20348"), ""},
        {SELECTS("karpenter.k8s.aws/capacity-reservation-id: cr-0123"), ""},
        /* one of them is there: the other only misleads */
        {REQUIRES(TERM(IN(CATEGORY, "m, q9"))),
         "warn " TERMS "[0].matchExpressions[0].values[1] q9"},
        {REQUIRES(TERM(IN(CATEGORY, "q9, m"))),
         "warn " TERMS "[0].matchExpressions[0].values[0] q9"},
        {REQUIRES(TERM(IN(CATEGORY, "m, q9, c"))),
         "warn " TERMS "[0].matchExpressions[0].values[1] q9"},
        {REQUIRES(TERM(IN(CATEGORY, "q8, q9"))),
         "deny " TERMS "[0].matchExpressions[0].values[0] q8\n"
         "deny " TERMS "[0].matchExpressions[0].values[1] q9"},
        {REQUIRES(TERM("{key: " CATEGORY ", operator: NotIn, values: [q9]}")), ""},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}", NULL, cases, COUNT_OF(cases)});
    /* its NodePools are of EC2 */
    static const struct rail_case of_ec2[] = {
        {SELECTS(TYPE ": m5-of-another-cloud"), "deny " AT(TYPE) "m5-of-another-cloud"},
        {SELECTS(TYPE ": m99.large"), "warn " AT(TYPE) "m99.large"},
        {SELECTS(TYPE ": ''"), "deny " AT(TYPE)},
        {SELECTS("karpenter.azure.com/sku-family: D"),
         "undecided " AT("karpenter.azure.com/sku-family") "karpenter.azure.com/sku-family"},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}", POOL(""), of_ec2, COUNT_OF(of_ec2)});
    /* and here some are of another cloud, whichever stands first */
    static const struct rail_case mixed[] = {
        {SELECTS(TYPE ": Standard_D4s_v5"), ""},
        {SELECTS("karpenter.azure.com/sku-family: D"), ""},
        {SELECTS(FAMILY ": m5, " ARCH ": arm64"), ""},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}",
                                        POOL("") POOL_OF("karpenter.azure.com", "ZNodeClass", "")
                                            POOL_OF("eks.amazonaws.com", "ZzNodeClass", ""),
                                        mixed, COUNT_OF(mixed)});
}

static void it_says_what_was_meant(void)
{
    static const struct replaced_case rows[] = {
        {SELECTS(TYPE ": ml.r5.larg"),
         "The catalogue has no instance type with node.kubernetes.io/instance-type=ml.r5.larg. Use "
         "r5.large if that is meant.",
         "Use r5.large if that is meant.", "r5.large"},
        {SELECTS(TYPE ": ml.zz99.enormous"),
         "The catalogue has no instance type with "
         "node.kubernetes.io/instance-type=ml.zz99.enormous. Check the name: taffrail catalog "
         "filter type lists those there are.",
         "Check the name: taffrail catalog filter type lists those there are.", ""},
        {SELECTS(CATEGORY ": m5.large"),
         "No node has karpenter.k8s.aws/instance-category=m5.large, so these pods would stay "
         "Pending. Write node.kubernetes.io/instance-type: m5.large.",
         "Write node.kubernetes.io/instance-type: m5.large.", ""},
        {SELECTS(TYPE ": m"),
         "No node has node.kubernetes.io/instance-type=m, so these pods would stay Pending. Write "
         "karpenter.k8s.aws/instance-category: m.",
         "Write karpenter.k8s.aws/instance-category: m.", ""},
        {SELECTS(FAMILY ": hpc"),
         "No node has karpenter.k8s.aws/instance-family=hpc, so these pods would stay Pending. "
         "Write karpenter.k8s.aws/instance-category: hpc.",
         "Write karpenter.k8s.aws/instance-category: hpc.", ""},
        /* other keys' values are not looked for elsewhere */
        {SELECTS("karpenter.k8s.aws/instance-gpu-name: m5.large"),
         "The catalogue has no instance type with karpenter.k8s.aws/instance-gpu-name=m5.large. "
         "Check the name: taffrail catalog filter type lists those there are.",
         "Check the name: taffrail catalog filter type lists those there are.", ""},
        {SELECTS("karpenter.k8s.aws/instance-gpu-name: l40"),
         "The catalogue has no instance type with karpenter.k8s.aws/instance-gpu-name=l40. Use l4 "
         "if that is meant.",
         "Use l4 if that is meant.", "l4"},
        {SELECTS(TYPE ": ''"),
         "The catalogue has no instance type with node.kubernetes.io/instance-type=. Check the "
         "name: taffrail catalog filter type lists those there are.",
         "Check the name: taffrail catalog filter type lists those there are.", ""},
    };
    hold("node-labels: {}", NULL, rows, COUNT_OF(rows));
}

/* A Node may be what no NodePool buys: then nothing is said of it, nor of what stands beside it. */
static void what_a_node_is(void)
{
    static const char cluster[] = POOL(IN(ZONE, "a")) NODE("one", ARCH ": amd64")
        NODE("two", ARCH ": s390x, " TYPE ": mainframe, " ZONE ": cellar");
    static const struct rail_case cases[] = {
        {SELECTS(ARCH ": s390x"), ""},
        {SELECTS(TYPE ": mainframe"), ""},
        {SELECTS(ZONE ": cellar"), ""},
        {SELECTS(ARCH ": ppc64le"), "deny " AT(ARCH) "ppc64le"},
        {SELECTS(ARCH ": s390x, " FAMILY ": m5"), ""},
        /* of this term, not of the next */
        {REQUIRES(TERM(IN(ARCH, "s390x") ", " IN(FAMILY, "m5")) ", " TERM(
             IN(ARCH, "arm64") ", " IN(FAMILY, "m5"))),
         "warn " TERMS "[1] "},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}", cluster, cases, COUNT_OF(cases)});
}

/* It is the whole of what there is: what it does not know no node will have. */
static void of_a_catalogue_of_ones_own(void)
{
    static const char types[] =
        "[" OWN_TYPE("m5.large", "\"ephemeral-storage\": \"20Gi\"",
                     "{\"Price\": 0.1, \"Available\": true, \"Requirements\": ["
                     "{\"key\": \"karpenter.sh/capacity-type\", \"operator\": \"In\", "
                     "\"values\": [\"spot\"]}, "
                     "{\"key\": \"example.com/hall\", \"operator\": \"In\", "
                     "\"values\": [\"h1\"]}, "
                     "{\"key\": \"topology.kubernetes.io/zone\", \"operator\": \"In\", "
                     "\"values\": [\"a\"]}]}") "]";
    static const struct rail_case cases[] = {
        {SELECTS(TYPE ": m5.large"), ""},
        {SELECTS(TYPE ": m5.xlarge"), "deny " AT(TYPE) "m5.xlarge"},
        {SELECTS(FAMILY ": c5"), "deny " AT(FAMILY) "c5"},
        {SELECTS(TYPE ": m5.large, " ARCH ": arm64"), "deny spec.nodeSelector "},
        {SELECTS(ZONE ": a"), ""},
        {SELECTS(ZONE ": b"), "deny " AT(ZONE) "b"},
        /* a label of its own offerings */
        {SELECTS("example.com/hall: h1"), ""},
        {SELECTS("example.com/hall: h2"), "deny " AT("example.com/hall") "h2"},
    };
    rail_catalog_run(&(struct rail_table){"node-labels: {}", NULL, cases, COUNT_OF(cases)}, types);
    /* a NodePool may buy what is granted, whatever the Nodes of today have */
    static const struct rail_case granted[] = {
        {REQUIRES(TERM("{key: example.com/hall, operator: Exists}")), ""},
    };
    rail_catalog_run(&(struct rail_table){"node-labels: {allow: {example.com/hall: [h1]}}",
                                          POOL("") NODE("one", "example.com/hall: h2"), granted,
                                          COUNT_OF(granted)},
                     types);
}

/* Which of very many names is near to one that exists is not looked up: each may be. */
static void of_very_many_names_each_is_taken_for_a_slip(void)
{
    for (size_t count = 500; count <= 501; count++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        struct text_builder values = {.arena = arena};
        for (size_t i = 0; i < count; i++)
            text_builder_printf(&values, "m5-zzzzzzzzzzzzzzz%zu, ", i);
        struct text pod = arena_printf(arena, REQUIRES(TERM(IN(TYPE, "%.*s"))),
                                       TEXT_ARGS(text_builder_text(&values)));
        struct world world = rail_table_world("node-labels: {}", NULL, arena);
        struct rail_documents documents = rail_table_read(pod.data, arena);
        struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        ASSERT_INT(verdict.action, count == 500 ? ACTION_WARN : ACTION_DENY);
        arena_destroy(arena);
    }
}

const char unit_suite[] = "policy node-labels, well-known";
const struct unit_test unit_tests[] = {
    {"of very many names each is taken for a slip", of_very_many_names_each_is_taken_for_a_slip},
    {"other words for what is meant", other_words_for_what_is_meant},
    {"zones that a cluster names", zones_that_a_cluster_names},
    {"hosts by name", hosts_by_name},
    {"names that can never be", names_that_can_never_be},
    {"it says what was meant", it_says_what_was_meant},
    {"what a node is", what_a_node_is},
    {"of a catalogue of one's own", of_a_catalogue_of_ones_own},
    {NULL, NULL},
};
