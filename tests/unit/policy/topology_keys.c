/* The rail topology-keys: which keys it knows, which it lets be, and which it cannot judge. */
#include "rail_modes.h"
#include "rail_table.h"

#define SPREAD "spec.topologySpreadConstraints[0].topologyKey "
#define POD "{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {app: a}}, spec: "
#define SPREAD_BY(key) POD "{topologySpreadConstraints: [{topologyKey: " key "}]}}"
#define NODE_POOL                                                                           \
    "apiVersion: karpenter.sh/v1\n"                                                         \
    "kind: NodePool\n"                                                                      \
    "metadata: {name: general}\n"                                                           \
    "spec: {template: {metadata: {labels: {example.com/rack: a}}, spec: {requirements: [\n" \
    "  {key: example.com/row, operator: Exists}]}}}\n"                                      \
    "---\n"                                                                                 \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: second}, spec: "        \
    "{template: {metadata: {labels: {example.com/aisle: a}}}}}\n"
#define NODE                                                                              \
    "---\n"                                                                               \
    "{apiVersion: v1, kind: Node, metadata: {name: bare}}\n"                              \
    "---\n"                                                                               \
    "{apiVersion: v1, kind: Node, metadata: {name: old, labels: {example.com/old: a}}}\n" \
    "---\n"                                                                               \
    "{apiVersion: v1, kind: Node, metadata: {name: other}}\n"

static const char zone[] = "deny " SPREAD "zone";

static void keys_are_judged_by_what_pools_produce(void)
{
    static const struct rail_case cases[] = {
        {SPREAD_BY("topology.kubernetes.io/zone"), ""},
        {SPREAD_BY("kubernetes.io/hostname"), ""},
        {SPREAD_BY("karpenter.sh/capacity-type"), ""},
        {SPREAD_BY("topology.kubernetes.io/region"), ""},
        {SPREAD_BY("kubernetes.io/arch"), ""},
        {SPREAD_BY("kubernetes.io/os"), ""},
        {SPREAD_BY("node.kubernetes.io/instance-type"), ""},
        /* made by the NodePool, or by the instance types */
        {SPREAD_BY("example.com/rack"), ""},
        {SPREAD_BY("example.com/row"), ""},
        {SPREAD_BY("example.com/aisle"), ""},
        {SPREAD_BY("karpenter.k8s.aws/instance-family"), ""},
        {SPREAD_BY("zone"), zone},
        /* nobody's, and only an old Node's */
        {SPREAD_BY("example.com/shelf"), "deny " SPREAD "example.com/shelf"},
        {SPREAD_BY("example.com/old"), "warn " SPREAD "example.com/old"},
        /* no key at all: not this rail's business */
        {POD "{topologySpreadConstraints: [{maxSkew: 1}, 5, null]}}", ""},
        {POD "{topologySpreadConstraints: {}, affinity: []}}", ""},
    };
    rail_table_run(
        &(struct rail_table){"topology-keys: {}", NODE_POOL NODE, cases, COUNT_OF(cases)});
}

static void without_a_pool_only_what_is_wrong_anyhow_is_denied(void)
{
    static const struct rail_case cases[] = {
        {SPREAD_BY("zone"), zone},
        {SPREAD_BY("topology.kubernetes.io/zones"), "deny " SPREAD "topology.kubernetes.io/zones"},
        {SPREAD_BY("failure-domain.beta.kubernetes.io/zone"),
         "deny " SPREAD "failure-domain.beta.kubernetes.io/zone"},
        {SPREAD_BY("example.com/shelf"), "undecided " SPREAD "example.com/shelf"},
    };
    rail_table_run(&(struct rail_table){"topology-keys: {}", NULL, cases, COUNT_OF(cases)});
}

static void what_cannot_be_seen_denies_nothing(void)
{
#define UNSEEN_SHELF                \
    SPREAD_BY("example.com/shelf"), \
        "Nodes cannot be seen, and may have the label \"example.com/shelf\"."
    static const struct rail_words shelf[] = {
        {UNSEEN_SHELF, "Make the Nodes visible (--state DIR), or use an allowed key."},
        {UNSEEN_SHELF, "Make the NodePools visible (--state DIR), or use an allowed key."}};
    static const kind_set unseen[] = {KIND_BIT(KIND_NODE), KIND_BIT(KIND_NODE_POOL)};
    for (size_t i = 0; i < COUNT_OF(unseen); i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        struct world world =
            rail_table_world("topology-keys: {allow: [kubernetes.io/hostname]}", NODE_POOL, arena);
        world.unseen = unseen[i];
        rail_words_run_in(&world, &shelf[i], 1, arena);
        struct rail_documents pod = rail_table_read(SPREAD_BY("karpenter.sh/nodepool"), arena);
        ASSERT_TEXT(rail_table_findings(&world, &pod.items[0], arena),
                    "warn " SPREAD "karpenter.sh/nodepool");
        arena_destroy(arena);
    }
}

/* What is preferred leaves the pod without what it was to bring, whoever gives it up. */
static void preferences_are_judged_too(void)
{
    static const struct rail_case cases[] = {
        {POD "{topologySpreadConstraints: [{topologyKey: zone, whenUnsatisfiable: "
             "ScheduleAnyway}]}}",
         zone},
        {POD "{affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
             "[{weight: 1, podAffinityTerm: {topologyKey: zone}}]}}}}",
         "deny spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
         "podAffinityTerm.topologyKey zone"},
        {POD "{affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
             "[{topologyKey: kubernetes.io/hostname}, {topologyKey: zone}]}}}}",
         "deny spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1]."
         "topologyKey zone"},
    };
    rail_table_run(&(struct rail_table){"topology-keys: {}", NULL, cases, COUNT_OF(cases)});
}

static void a_closed_list_is_closed(void)
{
    static const struct rail_case cases[] = {
        {SPREAD_BY("kubernetes.io/hostname"), ""},
        {SPREAD_BY("topology.kubernetes.io/zone"), "deny " SPREAD "topology.kubernetes.io/zone"},
        {SPREAD_BY("example.com/rack"), "deny " SPREAD "example.com/rack"},
    };
    rail_table_run(&(struct rail_table){
        "topology-keys: {allow: [kubernetes.io/hostname], fromNodePools: false}", NODE_POOL, cases,
        COUNT_OF(cases)});
}

/* Every node carries these, so no NodePool could be what lets them through. */
static void what_is_left_off_the_list_stays_off(void)
{
    static const char *const keys[] = {
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "karpenter.sh/capacity-type",
        "kubernetes.io/arch",
        "kubernetes.io/os",
        "node.kubernetes.io/instance-type",
        "kubernetes.io/hostname",
    };
    static const char pool[] =
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general}, spec: {template: "
        "{metadata: {labels: {example.com/rack: a}}, spec: {requirements: ["
        "{key: topology.kubernetes.io/zone, operator: In, values: [a]}, "
        "{key: kubernetes.io/arch, operator: In, values: [arm64]}]}}}}";
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        char object[512], found[128];
        (void)snprintf(object, sizeof object, SPREAD_BY("%s"), keys[i]);
        (void)snprintf(found, sizeof found, "deny " SPREAD "%s", keys[i]);
        const struct rail_case cases[] = {{object, found}, {SPREAD_BY("example.com/rack"), ""}};
        rail_table_run(&(struct rail_table){"topology-keys: {allow: [example.com/cage]}", pool,
                                            cases, COUNT_OF(cases)});
    }
}

/* Nobody is told to use a key that would be denied next. */
static void the_fix_is_a_key_that_passes(void)
{
    static const char one_of[] = "Use a key that the policy allows: kubernetes.io/hostname.";
    static const struct rail_words rows[] = {
        {SPREAD_BY("hostname"),
         "Nodes have no label \"hostname\", so these pods would stay Pending.",
         "Use kubernetes.io/hostname."},
        {SPREAD_BY("zone"), "Nodes have no label \"zone\", so these pods would stay Pending.",
         one_of},
        {SPREAD_BY("topology.kubernetes.io/zonr"),
         "Nodes have no label \"topology.kubernetes.io/zonr\", so these pods would stay Pending.",
         one_of},
        /* of the types' labels */
        {SPREAD_BY("karpenter.k8s.aws/instance-famly"),
         "Nodes have no label \"karpenter.k8s.aws/instance-famly\", so these pods would stay "
         "Pending.",
         "Use karpenter.k8s.aws/instance-family."},
        {SPREAD_BY("karpenter.sh/provisioner-name"),
         "Nodes have no label \"karpenter.sh/provisioner-name\", so these pods would stay Pending.",
         one_of},
    };
    static const struct rail_words closed[] = {
        {SPREAD_BY("karpenter.k8s.aws/instance-famly"),
         "Nodes have no label \"karpenter.k8s.aws/instance-famly\", so these pods would stay "
         "Pending.",
         one_of},
        {SPREAD_BY("example.com/rack"), "The policy does not allow the key example.com/rack here.",
         one_of},
    };
    rail_words_run("topology-keys: {allow: [kubernetes.io/hostname]}", NODE_POOL, rows,
                   COUNT_OF(rows));
    rail_replaces("topology-keys: {}", SPREAD_BY("zone"), "topology.kubernetes.io/zone");
    rail_replaces("topology-keys: {allow: [kubernetes.io/hostname]}", SPREAD_BY("zone"), "");
    rail_words_run("topology-keys: {allow: [kubernetes.io/hostname], fromNodePools: false}",
                   NODE_POOL, closed, COUNT_OF(closed));
}

/* Karpenter makes places of what NodePools write down and of what types have; the NodePool's own
 * name is neither (buildDomainGroups in its topology.go). */
static void a_node_pool_is_no_place(void)
{
#define POOL_NAME "karpenter.sh/nodepool"
#define ITS_NODE \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {" POOL_NAME ": a}}}\n"
    static const struct {
        const char *cluster, *findings;
    } clusters[] = {
        {NODE_POOL, "deny " SPREAD POOL_NAME},
        /* pods are placed among pools that have nodes, and no other is tried */
        {NODE_POOL ITS_NODE, "warn " SPREAD POOL_NAME},
        {ITS_NODE, "warn " SPREAD POOL_NAME},
        {NULL, "warn " SPREAD POOL_NAME},
    };
    for (size_t i = 0; i < COUNT_OF(clusters); i++) {
        const struct rail_case row = {SPREAD_BY(POOL_NAME), clusters[i].findings};
        rail_table_run(&(struct rail_table){"topology-keys: {}", clusters[i].cluster, &row, 1});
    }
    static const struct rail_words words = {
        SPREAD_BY(POOL_NAME),
        "Karpenter does not spread or group pods by NodePool: it knows the label "
        "karpenter.sh/nodepool of existing nodes alone.",
        "Give each NodePool a label of your own under spec.template.metadata.labels and use that, "
        "or use an allowed key."};
    rail_words_run("topology-keys: {allow: [kubernetes.io/hostname]}", NODE_POOL ITS_NODE, &words,
                   1);
    static const struct rail_words class = {
        SPREAD_BY("karpenter.k8s.aws/ec2nodeclass"),
        "Karpenter does not spread or group pods by EC2NodeClass: it knows the label "
        "karpenter.k8s.aws/ec2nodeclass of existing nodes alone.",
        "Give each NodePool a label of your own under spec.template.metadata.labels and use that, "
        "or use an allowed key."};
    rail_words_run("topology-keys: {allow: [kubernetes.io/hostname]}", NODE_POOL, &class, 1);
    static const struct rail_case allowed = {SPREAD_BY(POOL_NAME), ""};
    rail_table_run(
        &(struct rail_table){"topology-keys: {allow: [" POOL_NAME "]}", NODE_POOL, &allowed, 1});
}

static void a_spread_must_count_its_own_pod(void)
{
#define WITH(selector) \
    "topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname" selector "}]"
#define SELECTED_BY(selector) POD "{" WITH(selector) "}}"
#define DEPLOYMENT(template)                                                         \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: " \
    "{" template "}}}"
    static const char missed[] = "deny spec.topologySpreadConstraints[0].labelSelector ";
    static const char missed_deep[] =
        "deny spec.template.spec.topologySpreadConstraints[0].labelSelector ";
    static const struct rail_case cases[] = {
        {SELECTED_BY(", labelSelector: {matchLabels: {app: a}}"), ""},
        {SELECTED_BY(", labelSelector: {matchLabels: {app: b}}"), missed},
        {SELECTED_BY(", labelSelector: {}"), missed},
        {SELECTED_BY(", labelSelector: {}, matchLabelKeys: [app]"), ""},
        {SELECTED_BY(", labelSelector: {}, matchLabelKeys: [nope]"), missed},
        {SELECTED_BY(""), missed},
        {SELECTED_BY(", labelSelector: null"), missed},
        {SELECTED_BY(", labelSelector: 5"), missed},
        {DEPLOYMENT("metadata: {labels: {app: a}}, spec: {" WITH(
             ", labelSelector: {matchLabels: {app: b}}") "}"),
         missed_deep},
        /* a Kustomize patch, whose labels stand in what it patches */
        {DEPLOYMENT("spec: {" WITH(", labelSelector: {matchLabels: {app: a}}") "}"), ""},
        {DEPLOYMENT("spec: {" WITH("") "}"), missed_deep},
        /* a Job needs no labels, so they are all there */
        {"{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: {spec: {" WITH(
             ", labelSelector: {matchLabels: {app: a}}") "}}}}",
         missed_deep},
        /* each is looked at, and what is none is the API server's business */
        {POD "{topologySpreadConstraints: [5, {topologyKey: kubernetes.io/hostname, labelSelector: "
             "{}}, {topologyKey: kubernetes.io/hostname}]}}",
         "deny spec.topologySpreadConstraints[1].labelSelector \n"
         "deny spec.topologySpreadConstraints[2].labelSelector "},
        /* to be away from other pods, or beside them, is what affinity is for */
        {POD "{affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
             "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: b}}}]}}}}",
         ""},
        {POD "{affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
             "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: b}}}]}}}}",
         ""},
    };
    rail_table_run(
        &(struct rail_table){"topology-keys: {selfMatch: true}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case unasked = {SELECTED_BY(""), ""};
    rail_table_run(&(struct rail_table){"topology-keys: {}", NULL, &unasked, 1});
}

/* Keys that the policy allows are named, where there are some. */
static void what_stands_in_the_place_of_a_key(void)
{
#define BY(key)                                                               \
    "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {a: b}}, spec: " \
    "{topologySpreadConstraints: [{maxSkew: 1, topologyKey: " key             \
    ", whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}}]}}"
    static const struct rail_case cases[] = {
        {BY("topology.kubernetes.io/region"),
         "deny spec.topologySpreadConstraints[0].topologyKey topology.kubernetes.io/region"}};
    rail_table_run(&(struct rail_table){"topology-keys: {allow: []}", NULL, cases, 1});
    rail_table_run(&(struct rail_table){
        "topology-keys: {allow: [example.com/rack, example.com/row]}", NULL, cases, 1});
}

const char unit_suite[] = "policy topology-keys";
const struct unit_test unit_tests[] = {
    {"keys are judged by what pools produce", keys_are_judged_by_what_pools_produce},
    {"without a pool only what is wrong anyhow is denied",
     without_a_pool_only_what_is_wrong_anyhow_is_denied},
    {"what cannot be seen denies nothing", what_cannot_be_seen_denies_nothing},
    {"preferences are judged, too", preferences_are_judged_too},
    {"a closed list is closed", a_closed_list_is_closed},
    {"what is left off the list stays off", what_is_left_off_the_list_stays_off},
    {"the fix is a key that passes", the_fix_is_a_key_that_passes},
    {"a NodePool is no place", a_node_pool_is_no_place},
    {"a spread must count its own pod", a_spread_must_count_its_own_pod},
    {"what stands in the place of a key", what_stands_in_the_place_of_a_key},
    {NULL, NULL},
};
