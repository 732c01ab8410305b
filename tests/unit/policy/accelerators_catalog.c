/* The rail accelerators with the user's own catalogue: another cloud's pools are judged by the
 * types that it describes. */
#include "rail_catalog.h"

#define TYPE(name, resource) OWN_TYPE(name, resource, OWN_OFFERING("1", "on-demand", "a"))
#define A100 TYPE("a100", "\"nvidia.com/gpu\": \"8\"")
#define GENERAL TYPE("general", "\"ephemeral-storage\": \"20Gi\"")
#define MI300 TYPE("mi300", "\"amd.com/gpu\": \"8\"")

/* The first and the last carry one. */
static const char types[] = "[" A100 ", " GENERAL ", " MI300 "]";

#define POOL(name, limits, types, more)                                                         \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: {limits: " \
    "{" limits "}, template: {spec: {nodeClassRef: {group: karpenter.azure.com, kind: "         \
    "AKSNodeClass, name: a}, requirements: [" types "]" more "}}}}\n"
#define OF(types) "{key: node.kubernetes.io/instance-type, operator: In, values: [" types "]}"
#define TAINTED ", taints: [{key: a, effect: NoSchedule}]"
#define ASKS(resource)                                                                           \
    "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, resources: " \
    "{limits: {" resource ": 1}}}]}}"

static void pools(void)
{
    static const char untainted[] = "deny spec.template.spec.taints ";
    static const struct rail_case cases[] = {
        {POOL("p", "cpu: 1", OF("a100"), ""), untainted},
        {POOL("p", "cpu: 1", OF("mi300"), ""), untainted},
        {POOL("p", "cpu: 1", OF("general"), ""), ""},
        {POOL("p", "cpu: 1", OF("general, mi300"), ""), untainted},
        {POOL("p", "cpu: 1", "", ""), "warn spec.template.spec.requirements a100, mi300"},
        {POOL("p", "cpu: 1", OF("unheard-of"), ""), ""},
    };
    static const struct rail_case limited[] = {
        {POOL("p", "nvidia.com/gpu: 8", OF("a100"), TAINTED), ""},
        {POOL("p", "nvidia.com/gpu: 8", OF("mi300"), TAINTED), "deny spec.limits "},
        {POOL("p", "amd.com/gpu: 8", OF("mi300"), TAINTED), ""},
        {POOL("p", "amd.com/gpu: 8", OF("a100, mi300"), TAINTED), "deny spec.limits "},
    };
    static const struct rail_words words[] = {
        {POOL("p", "cpu: 1", "", ""),
         "2 of the 3 instance types this pool can launch carry accelerators: a100, mi300.",
         "Add to spec.template.spec.requirements: [{key: "
         "node.kubernetes.io/instance-type, operator: NotIn, values: [a100, mi300]}], or "
         "name the accelerators it is for, then taint and limit it."},
        {POOL("p", "cpu: 1", OF("mi300"), ""),
         "Any pod may take a place on these accelerator nodes, since no NoSchedule or "
         "NoExecute taint keeps it off.",
         "Add to spec.template.spec.taints: [{key: amd.com/gpu, value: \"true\", effect: "
         "NoSchedule}]."},
    };
    rail_catalog_run(&(struct rail_table){"accelerators: {}", NULL, cases, COUNT_OF(cases)}, types);
    rail_catalog_words_run("accelerators: {}", NULL, types, words, COUNT_OF(words));
    rail_catalog_run(&(struct rail_table){"accelerators: {requireLimits: accelerator}", NULL,
                                          limited, COUNT_OF(limited)},
                     types);
}

static void pods(void)
{
    static const struct rail_case cases[] = {
        {ASKS("nvidia.com/gpu"), "deny spec.tolerations nvidia.com/gpu"},
        {ASKS("amd.com/gpu"), ""}, /* no pool has them */
    };
    rail_catalog_run(&(struct rail_table){"accelerators: {}",
                                          POOL("gpu", "", OF("a100, general"), TAINTED), cases,
                                          COUNT_OF(cases)},
                     types);
}

const char unit_suite[] = "policy accelerators: the user's own catalogue";
const struct unit_test unit_tests[] = {
    {"pools", pools},
    {"pods", pods},
    {NULL, NULL},
};
