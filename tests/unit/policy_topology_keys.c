/* The rail topology-keys: which keys it knows, which it lets be, and which it cannot judge. */
#include "rail_table.h"

#define SPREAD "spec.topologySpreadConstraints[0].topologyKey "
#define POD "{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {app: a}}, spec: "
#define SPREAD_BY(key) POD "{topologySpreadConstraints: [{topologyKey: " key "}]}}"
#define NODE_POOL                                                                           \
    "apiVersion: karpenter.sh/v1\n"                                                         \
    "kind: NodePool\n"                                                                      \
    "metadata: {name: general}\n"                                                           \
    "spec: {template: {metadata: {labels: {example.com/rack: a}}, spec: {requirements: [\n" \
    "  {key: example.com/row, operator: Exists}]}}}\n"
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
        /* made by the NodePool, or by the instance types */
        {SPREAD_BY("example.com/rack"), ""},
        {SPREAD_BY("example.com/row"), ""},
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

static void a_spread_must_count_its_own_pod(void)
{
#define SELECTED_BY(selector) \
    POD "{topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname" selector "}]}}"
    static const char missed[] = "deny spec.topologySpreadConstraints[0].labelSelector ";
    static const struct rail_case cases[] = {
        {SELECTED_BY(", labelSelector: {matchLabels: {app: a}}"), ""},
        {SELECTED_BY(", labelSelector: {matchLabels: {app: b}}"), missed},
        {SELECTED_BY(""), missed},
        /* a Kustomize patch, whose labels stand in what it patches */
        {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: "
         "{topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname, labelSelector: "
         "{matchLabels: {app: a}}}]}}}}",
         ""},
    };
    rail_table_run(
        &(struct rail_table){"topology-keys: {selfMatch: true}", NULL, cases, COUNT_OF(cases)});
}

const char unit_suite[] = "policy topology-keys";
const struct unit_test unit_tests[] = {
    {"keys are judged by what pools produce", keys_are_judged_by_what_pools_produce},
    {"without a pool only what is wrong anyhow is denied",
     without_a_pool_only_what_is_wrong_anyhow_is_denied},
    {"a closed list is closed", a_closed_list_is_closed},
    {"a spread must count its own pod", a_spread_must_count_its_own_pod},
    {NULL, NULL},
};
