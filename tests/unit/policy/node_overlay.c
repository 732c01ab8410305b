/* The rail node-overlay: what Karpenter rejects, what has no effect, and what it draws in. */
#include "rail_catalog.h"

#define TYPE "node.kubernetes.io/instance-type"
#define IN(key, values) "{key: " key ", operator: In, values: [" values "]}"
#define OVERLAY(name, requirements, rest)                                                \
    "---\n{apiVersion: karpenter.sh/v1alpha1, kind: NodeOverlay, metadata: {name: " name \
    "}, spec: {requirements: [" requirements "]" rest "}}\n"
#define POOL(name, labels, requirements)                                                          \
    "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: "       \
    "{template: {metadata: {labels: {" labels "}}, spec: {nodeClassRef: {group: "                 \
    "karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: [" requirements "]}}}}" \
    "\n"
#define FAMILY(values) IN("karpenter.k8s.aws/instance-family", values)
#define PRICE(price) ", price: \"" price "\""
#define ADJUST(by) ", priceAdjustment: \"" by "\""
#define WEIGHT(weight) ", weight: " weight
#define HAS(resources) ", capacity: {" resources "}"

static const char pools[] =
    POOL("general", "team: web", FAMILY("m5, c5")) POOL("other", "", FAMILY("m5"));

static void it_says_what_the_api_server_refuses(void)
{
#define ONE(rest) OVERLAY("a", FAMILY("m5"), rest)
    static const struct rail_case cases[] = {
        {ONE(PRICE("0.25")), ""},
        {ONE(PRICE("1")), ""},
        {ONE(PRICE(".5")), "deny spec.price .5"},
        {ONE(PRICE("1.")), "deny spec.price 1."},
        {ONE(PRICE("-1")), "deny spec.price -1"},
        {ONE(PRICE("1 USD")), "deny spec.price 1 USD"},
        {ONE(PRICE("")), "deny spec.price "},
        {ONE(ADJUST("+10%")), ""},
        {ONE(ADJUST("+250%")), ""},
        {ONE(ADJUST("-10%")), ""},
        {ONE(ADJUST("-99.5%")), ""},
        {ONE(ADJUST("-100%")), ""},
        {ONE(ADJUST("-101%")), "deny spec.priceAdjustment -101%"},
        {ONE(ADJUST("-.5%")), "deny spec.priceAdjustment -.5%"},
        {ONE(ADJUST("+.5")), ""},
        {ONE(ADJUST("-250")), ""},
        {ONE(ADJUST("10%")), "deny spec.priceAdjustment 10%"},
        {ONE(ADJUST("+")), "deny spec.priceAdjustment +"},
        {ONE(PRICE("1") ADJUST("-10%")), "deny spec.priceAdjustment -10%"},
        {ONE(""), "warn spec "},
        {ONE(HAS("")), "warn spec "},
        {ONE(HAS("example.com/fpga: 1")), ""},
        {ONE(HAS("cpu: 1, pods: 3")), "deny spec.capacity.cpu 1\ndeny spec.capacity.pods 3"},
        {ONE(", price: 0.25"), "deny spec.price 0.25"},
        {ONE(", price: 1"), "deny spec.price 1"},
        {ONE(", priceAdjustment: -0.05"), "deny spec.priceAdjustment -0.05"},
        {ONE(", priceAdjustment: -10%"), ""},
        {ONE(PRICE("1") WEIGHT("1")), ""},
        {ONE(PRICE("1") WEIGHT("10000")), ""},
        {ONE(PRICE("1") WEIGHT("null")), ""},
        {ONE(PRICE("1") WEIGHT("0")), "deny spec.weight 0"},
        {ONE(PRICE("1") WEIGHT("10001")), "deny spec.weight 10001"},
        {ONE(PRICE("1") WEIGHT("'10'")), "deny spec.weight 10"},
    };
    rail_table_run(&(struct rail_table){"node-overlay: {}", pools, cases, COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {ONE(", price: 0.25"), "The API server takes price as a string, and 0.25 is a number.",
         "Put it in quotes: \"0.25\"."},
        {ONE(PRICE("1") WEIGHT("0")), "This is no weight, so the API server refuses the overlay.",
         "Write a number from 1 to 10000, or remove it for a weight of 0."},
    };
    rail_words_run("node-overlay: {}", pools, words, COUNT_OF(words));
}

/* As of a NodePool, but that it may name one, and that NotIn rules something out. */
static void requirements_that_are_refused_are_found(void)
{
#define OF(requirements) OVERLAY("a", requirements, PRICE("1"))
#define BARE(spec)                                                                               \
    "{apiVersion: karpenter.sh/v1alpha1, kind: NodeOverlay, metadata: {name: a}, spec: {price: " \
    "'1'" spec "}}"
#define AT "spec.requirements"
    static const struct rail_case cases[] = {
        {BARE(""), "deny " AT " "},
        {BARE(", requirements: null"), "deny " AT " "},
        {BARE(", requirements: {}"), "deny " AT " "},
        {BARE(", requirements: []"), ""},
        {OF("{key: team, operator: NotIn, values: []}"), "deny " AT "[0] team"},
        {OF("{key: team, operator: In}"), "deny " AT "[0] team"},
        {OF("{key: team, operator: Near}"), "deny " AT "[0] team"},
        {OF("{operator: Exists}"), "deny " AT "[0] "},
        {OF("{key: karpenter.k8s.aws/instance-cpu, operator: Gte, values: ['4']}"), ""},
        {OF("{key: karpenter.k8s.aws/instance-cpu, operator: Gt, values: ['-4']}"),
         "deny " AT "[0] karpenter.k8s.aws/instance-cpu"},
        {OF(IN("karpenter.sh/foo", "a")), "deny " AT "[0].key karpenter.sh/foo"},
        {OF(IN("kubernetes.io/hostname", "a")), "deny " AT "[0].key kubernetes.io/hostname"},
        {OF(IN("karpenter.sh/nodepool", "general")), ""},
        {OF("{key: a b, operator: DoesNotExist}"), "deny " AT "[0].key a b"},
        {OF(IN("a b", "c") ", " FAMILY("m5")), "deny " AT "[0].key a b"},
        {OF("{key: team, operator: NotIn, values: [a-]}"), "deny " AT "[0].values[0] a-"},
        {OF(IN("karpenter.sh/capacity-type", "spot")), ""},
        {OF(IN("karpenter.sh/capacity-type", "Spot")), "deny " AT "[0].values[0] Spot"},
        {OF(IN("karpenter.sh/capacity-type", "spot, cheap")), "warn " AT "[0].values[1] cheap"},
        /* of what only finds no machine that alone is said */
        {OF(IN("kubernetes.io/arch", "x86")), "warn " AT " "},
    };
    rail_table_run(&(struct rail_table){"node-overlay: {}", pools, cases, COUNT_OF(cases)});
    /* what is refused is in conflict with none */
    static const struct rail_case alone = {
        OVERLAY("a", FAMILY("m5") ", {key: team, operator: NotIn, values: []}", ADJUST("-1%")),
        "deny " AT "[1] team"};
    rail_table_run(&(struct rail_table){"node-overlay: {}",
                                        POOL("general", "", FAMILY("m5"))
                                            OVERLAY("cheap", FAMILY("m5"), ADJUST("-10%")),
                                        &alone, 1});
    static const struct rail_words words[] = {
        {BARE(""), "Without a list of requirements the API server refuses the overlay.",
         "Write requirements: [] for all machines, or name some, as in [{key: "
         "karpenter.k8s.aws/instance-family, operator: In, values: [m5]}]."},
        {OF("{key: team, operator: NotIn, values: []}"),
         "The values of this requirement are missing or no strings. The overlay is refused, and "
         "has no effect.",
         "List the values, as strings in quotes."},
        {OF(IN("karpenter.sh/foo", "a")),
         "A NodeOverlay must not ask for karpenter.sh/foo. The overlay is refused, and has no "
         "effect.",
         "Remove it, or use a label of your own domain, such as example.com/team."},
        {OF(IN("karpenter.sh/capacity-type", "Spot")),
         "\"Spot\" is no capacity type. The overlay is refused, and has no effect.", "Use spot."},
    };
    rail_words_run("node-overlay: {}", pools, words, COUNT_OF(words));
}

/* A label that types of somebody's own catalogue have chooses types, not NodePools. */
static void a_users_catalogue_has_its_own_labels(void)
{
    static const char types[] =
        "[" OWN_TYPE("m5.large", "\"x\": 1", OWN_OFFERING("0.1", "on-demand", "a")) "]";
    static const struct rail_case cases[] = {
        {OVERLAY("a", IN("karpenter.kwok.sh/instance-cpu", "'4'"), PRICE("1")), ""},
        {OVERLAY("a", IN("karpenter.kwok.sh/instance-cpu", "'5'"), PRICE("1")),
         "warn spec.requirements "},
        {OVERLAY("a", IN(TYPE, "m5.large"), ", capacity: [a]"), "warn spec "},
    };
    rail_catalog_run(&(struct rail_table){"node-overlay: {}", pools, cases, COUNT_OF(cases)},
                     types);
}

static void one_without_a_machine_is_warned_of(void)
{
    static const struct rail_case cases[] = {
        {OVERLAY("a", "", ADJUST("-1%")), ""},
        {OVERLAY("a", IN("karpenter.sh/nodepool", "general"), ADJUST("-1%")), ""},
        {OVERLAY("a", IN("karpenter.sh/nodepool", "generl"), ADJUST("-1%")),
         "warn spec.requirements "},
        {OVERLAY("a", IN("team", "web"), ADJUST("-1%")), ""},
        {OVERLAY("a", IN("team", "ops"), ADJUST("-1%")), "warn spec.requirements "},
        {OVERLAY("a", "{key: team, operator: DoesNotExist}", ADJUST("-1%")), ""},
        {OVERLAY("a", "{key: owner, operator: Exists}", ADJUST("-1%")), "warn spec.requirements "},
        {OVERLAY("a", IN(TYPE, "m5.large"), ADJUST("-1%")), ""},
        {OVERLAY("a", IN(TYPE, "m5.huge"), ADJUST("-1%")), "warn spec.requirements "},
        /* what the pool requires is not asked, only its labels */
        {OVERLAY("a", IN(TYPE, "r5.large"), ADJUST("-1%")), ""},
    };
    rail_table_run(&(struct rail_table){"node-overlay: {}", pools, cases, COUNT_OF(cases)});
    static const struct rail_case unseen[] = {
        {OVERLAY("a", IN(TYPE, "m5.huge"), ADJUST("-1%")), ""},
    };
    rail_table_run(&(struct rail_table){"node-overlay: {}", NULL, unseen, 1});
    static const char azure[] =
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: p}, spec: {template: "
        "{spec: "
        "{nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: d}, requirements: "
        "[]}}}}";
    rail_table_run(&(struct rail_table){"node-overlay: {}", azure, unseen, 1});
    /* nor where there may be other pools */
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("node-overlay: {}", pools, arena);
    struct rail_documents documents = rail_table_read(unseen[0].object, arena);
    ASSERT_TEXT(rail_table_findings(&world, &documents.items[0], arena), "warn spec.requirements ");
    world.unseen = KIND_BIT(KIND_NODE_POOL);
    ASSERT_TEXT(rail_table_findings(&world, &documents.items[0], arena), "");
    arena_destroy(arena);
}

#define CHEAP OVERLAY("cheap", FAMILY("m5"), ADJUST("-10%") WEIGHT("10"))
#define FPGA OVERLAY("fpga", IN(TYPE, "c5.large"), HAS("example.com/fpga: 1"))
#define SPOT OVERLAY("spot", IN("karpenter.sh/capacity-type", "spot"), ADJUST("-10%") WEIGHT("3"))

static void equals_on_one_machine_are_found(void)
{
    static const char cluster[] = POOL("general", "team: web", FAMILY("m5, c5")) CHEAP FPGA SPOT;
#define WITH(what) "deny spec.weight " what
    static const struct rail_case cases[] = {
        {OVERLAY("a", IN(TYPE, "m5.large"), PRICE("1") WEIGHT("10")), WITH("cheap")},
        {OVERLAY("a", IN(TYPE, "m5.large"), PRICE("1") WEIGHT("11")), ""},
        {OVERLAY("a", IN(TYPE, "m5.large"), PRICE("1")), ""},
        {OVERLAY("a", IN(TYPE, "r5.large"), PRICE("1") WEIGHT("10")), ""},
        {OVERLAY("a", IN("karpenter.sh/nodepool", "general"), PRICE("1") WEIGHT("10")),
         WITH("cheap")},
        {OVERLAY("a", "{key: team, operator: DoesNotExist}", PRICE("1") WEIGHT("10")),
         "warn spec.requirements "},
        /* its own self, as it was */
        {CHEAP, ""},
        /* one sets the price, the other adds a resource */
        {OVERLAY("a", IN(TYPE, "m5.large"), HAS("example.com/fpga: 1") WEIGHT("10")), ""},
        {OVERLAY("a", IN(TYPE, "c5.large"), HAS("example.com/fpga: 2")), WITH("fpga")},
        {OVERLAY("a", IN(TYPE, "c5.large"), HAS("example.com/other: 2")), ""},
        {OVERLAY("a", IN(TYPE, "c5.xlarge"), HAS("example.com/fpga: 2")), ""},
        /* bought in another way */
        {OVERLAY("a", IN("karpenter.sh/capacity-type", "on-demand"), PRICE("1") WEIGHT("3")), ""},
        {OVERLAY("a", IN("karpenter.sh/capacity-type", "spot"), PRICE("1") WEIGHT("3")),
         WITH("spot")},
    };
    rail_table_run(&(struct rail_table){"node-overlay: {}", cluster, cases, COUNT_OF(cases)});
    /* whose labels leave the NodePool other machines */
    static const struct rail_case labelled = {
        OVERLAY("a", IN(TYPE, "m5.large"), PRICE("1") WEIGHT("10")), "warn spec.requirements "};
    rail_table_run(&(struct rail_table){
        "node-overlay: {}", POOL("labelled", "karpenter.k8s.aws/instance-family: c5", "") CHEAP,
        &labelled, 1});
#define REJECTED(name)                                                                            \
    "NodeOverlays " name " and cheap of equal weight both set the price of machines of NodePool " \
    "general: m5.large. Karpenter rejects "
#define APART "Give them different weights, or requirements that share no machine."
    static const struct rail_words words[] = {
        {OVERLAY("a", IN(TYPE, "m5.large"), PRICE("1") WEIGHT("10")), REJECTED("a") "a as a whole.",
         APART},
        {OVERLAY("z", IN(TYPE, "m5.large"), PRICE("1") WEIGHT("10")),
         REJECTED("z") "cheap as a whole.", APART},
    };
    rail_words_run("node-overlay: {}", cluster, words, COUNT_OF(words));
}

static void types_outside_the_list_are_not_drawn_in(void)
{
    static const char rails[] = "node-overlay: {}, instance-types: {allow: {families: [m5]}}";
    static const struct rail_case cases[] = {
        {OVERLAY("a", FAMILY("c5"), ADJUST("-10%")), "deny spec.priceAdjustment general"},
        {OVERLAY("a", FAMILY("c5"), ADJUST("+10%")), ""},
        {OVERLAY("a", FAMILY("m5"), ADJUST("-10%")), ""},
        {OVERLAY("a", FAMILY("c5"), PRICE("0.0001")), "deny spec.price general"},
        {OVERLAY("a", FAMILY("c5"), PRICE("1000")), ""},
        {OVERLAY("a", FAMILY("c5"), PRICE("99999999999999999999")), ""},
        {OVERLAY("a", IN(TYPE, "c5.large"), PRICE("0.084999")), "deny spec.price general"},
        {OVERLAY("a", IN(TYPE, "c5.large"), PRICE("0.085")), ""}, /* which it costs */
        /* that no pool launches */
        {OVERLAY("a", FAMILY("r5"), ADJUST("-10%")), ""},
        {OVERLAY("a", FAMILY("c5") ", " IN("karpenter.sh/nodepool", "other"), ADJUST("-10%")), ""},
    };
    rail_table_run(&(struct rail_table){rails, pools, cases, COUNT_OF(cases)});
    rail_table_run(&(struct rail_table){
        "node-overlay: {}", pools,
        (const struct rail_case[]){{OVERLAY("a", FAMILY("c5"), ADJUST("-10%")), ""}}, 1});
}

static void overlays_that_go_count_no_more(void)
{
    static const char cluster[] =
        POOL("general", "", FAMILY("m5")) "---\n{apiVersion: karpenter.sh/v1alpha1, kind: "
                                          "NodeOverlay, metadata: {name: cheap, "
                                          "deletionTimestamp: '2026-01-01T00:00:00Z'}, spec: "
                                          "{requirements: [" FAMILY("m5") "]" ADJUST("-10%")
                                              WEIGHT("10") "}}\n";
    static const struct rail_case cases[] = {
        {OVERLAY("a", FAMILY("m5"), ADJUST("-20%") WEIGHT("10")), ""},
    };
    rail_table_run(&(struct rail_table){"node-overlay: {}", cluster, cases, COUNT_OF(cases)});
}

const char unit_suite[] = "policy node-overlay";
const struct unit_test unit_tests[] = {
    {"it says what the API server refuses", it_says_what_the_api_server_refuses},
    {"requirements that are refused are found", requirements_that_are_refused_are_found},
    {"a user's catalogue has its own labels", a_users_catalogue_has_its_own_labels},
    {"one without a machine is warned of", one_without_a_machine_is_warned_of},
    {"equals on one machine are found", equals_on_one_machine_are_found},
    {"types outside the list are not drawn in", types_outside_the_list_are_not_drawn_in},
    {"overlays that go count no more", overlays_that_go_count_no_more},
    {NULL, NULL},
};
