/* The rail pool-shape: requirements on a key that is nearly a well-known one. */
#include "pool_shape_pools.h"
#include "rail_catalog.h"

#define KEY(key) POOL2(CMR, IN(key, "a"))
#define KEY_AT AT "[1].key "
#define CLASS_OF(group, kind, requirements)                                               \
    HEAD "{template: {spec: {nodeClassRef: {group: " group ", kind: " kind ", name: a}, " \
         "requirements: [" requirements "]}}}}"

static void keys_that_narrow_nothing_are_found(void)
{
    static const struct rail_case cases[] = {
        {KEY("arch"), "warn " KEY_AT "arch"},
        {KEY("os"), "warn " KEY_AT "os"},
        {KEY("zone"), "warn " KEY_AT "zone"},
        {KEY("region"), "warn " KEY_AT "region"},
        {KEY("instance-type"), "warn " KEY_AT "instance-type"},
        {KEY("capacity-type"), "warn " KEY_AT "capacity-type"},
        {KEY("node.kubernetes.io/arch"), "warn " KEY_AT "node.kubernetes.io/arch"},
        {KEY("topology.kubernetes.io/zones"), "warn " KEY_AT "topology.kubernetes.io/zones"},
        {KEY("kubernetes.io/instance-type"), "warn " KEY_AT "kubernetes.io/instance-type"},
        {KEY("node.kubernetes.io/instance-category"),
         "warn " KEY_AT "node.kubernetes.io/instance-category"},
        /* whatever the operator, it is about that label */
        {POOL2(CMR, "{key: node.kubernetes.io/arch, operator: NotIn, values: [arm64]}"),
         "warn " KEY_AT "node.kubernetes.io/arch"},
        {POOL2(CMR, "{key: node.kubernetes.io/arch, operator: Exists}"),
         "warn " KEY_AT "node.kubernetes.io/arch"},
        {POOL3(IN("zones", "a"), CMR, IN("zone", "a")), "warn " AT "[2].key zone"},
        /* managed node groups say it so */
        {KEY("eks.amazonaws.com/capacityType"), "warn " KEY_AT "eks.amazonaws.com/capacityType"},
        {CLASS_OF("eks.amazonaws.com", "NodeClass",
                  CMR ", " IN("eks.amazonaws.com/capacityType", "SPOT")),
         "warn " KEY_AT "eks.amazonaws.com/capacityType"},
        /* and EKS Auto Mode's own pools so, which Karpenter's EC2NodeClass knows nothing of */
        {KEY("eks.amazonaws.com/instance-cpu-manufacturer"),
         "warn " KEY_AT "eks.amazonaws.com/instance-cpu-manufacturer"},
        /* so that nothing is left that says which machines */
        {POOL("{key: eks.amazonaws.com/instance-category, operator: In, values: [c]}"),
         "deny " AT " \nwarn " AT "[0].key eks.amazonaws.com/instance-category"},
        /* one that is malformed is spoken of as that */
        {POOL2(CMR, "{key: zone, operator: In}"), "deny " AT "[1] zone"},
        /* the domain is Karpenter's own: it does not take the pool at all */
        {KEY("karpenter.sh/capacitytype"), "deny " KEY_AT "karpenter.sh/capacitytype"},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
}

static void keys_of_ones_own_stay_silent(void)
{
    static const struct rail_case cases[] = {
        {KEY("team"), ""},
        {KEY("example.com/zone"), ""},
        {KEY("example.com/instance-category"), ""},
        /* a host is nothing that a pool is narrowed to: the word means something else */
        {KEY("node"), ""},
        {KEY("hostname"), ""},
        {KEY("node-restriction.kubernetes.io/arch"), ""},
        {KEY("node-role.kubernetes.io/worker"), ""},
        {KEY("kubernetes.io/role"), ""},
        {KEY("node.kubernetes.io/lifecycle"), ""},
        {KEY("kops.k8s.io/instancegroup"), ""},
        {KEY("nvidia.com/gpu.product"), ""},
        {KEY("eks.amazonaws.com/nodegroup"), ""},
        /* well-known, under each of its names */
        {POOL2(CMR, IN("beta.kubernetes.io/arch", "amd64")), ""},
        {POOL2(CMR, IN("failure-domain.beta.kubernetes.io/zone", "a")), ""},
        {POOL2(CMR, IN("topology.ebs.csi.aws.com/zone", "a")), ""},
        {POOL2(CMR, IN("topology.k8s.aws/zone-id", "use1-az1")), ""},
        {POOL2(CMR, IN("node.kubernetes.io/windows-build", "10.0.20348")), ""},
        {CLASS_OF("eks.amazonaws.com", "NodeClass", IN("eks.amazonaws.com/instance-family", "c5")),
         ""},
        /* which Karpenter reads it is not said */
        {HEAD
         "{template: {spec: {requirements: [" IN("eks.amazonaws.com/instance-family", "c5") "]}}}}",
         ""},
        /* as a label it may be meant: pods select it */
        {LABELS("zone: a, arch: amd64, node.kubernetes.io/arch: amd64"), ""},
        /* another cloud's provider may know it */
        {CLASS_OF("karpenter.azure.com", "AKSNodeClass",
                  IN("topology.disk.csi.azure.com/zone", "eastus-1") ", " IN("zone", "a")),
         ""},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
}

static void it_says_which_key_was_meant(void)
{
    static const struct rail_words rows[] = {
        {KEY("node.kubernetes.io/arch"),
         "The key node.kubernetes.io/arch narrows nothing. Karpenter takes it for a label of your "
         "own.",
         "Use kubernetes.io/arch."},
        {KEY("eks.amazonaws.com/capacityType"),
         "The key eks.amazonaws.com/capacityType narrows nothing. Karpenter takes it for a label "
         "of your own.",
         "Use karpenter.sh/capacity-type."},
        {KEY("eks.amazonaws.com/instance-family"),
         "The key eks.amazonaws.com/instance-family narrows nothing. Karpenter takes it for a "
         "label of your own.",
         "Use karpenter.k8s.aws/instance-family."},
        {KEY("karpenter.sh/capacitytype"),
         "A NodePool must not set karpenter.sh/capacitytype. Karpenter refuses the pool and never "
         "uses it.",
         "Use karpenter.sh/capacity-type."},
        /* what it is near to a NodePool must not set either */
        {KEY("karpenter.sh/provisioner-name"),
         "A NodePool must not set karpenter.sh/provisioner-name. Karpenter refuses the pool and "
         "never uses it.",
         "Remove it, or use a label of your own domain, such as example.com/team."},
    };
    rail_words_run("pool-shape: {}, capacity-types: {mode: off}", NULL, rows, COUNT_OF(rows));
}

/* A label that a user's own types carry says something of them. */
static void keys_of_a_users_catalogue_stay_silent(void)
{
    static const char types[] =
        "[{\"name\": \"large\", \"architecture\": \"amd64\", \"operatingSystems\": [\"linux\"], "
        "\"resources\": {\"cpu\": \"4\", \"memory\": \"16Gi\", \"pods\": \"50\"}, \"offerings\": "
        "[{\"Price\": 0.1, \"Available\": true, \"Requirements\": [{\"key\": "
        "\"node.kubernetes.io/instance-category\", \"operator\": \"In\", \"values\": [\"a\"]}]}]}]";
    static const struct rail_case cases[] = {
        {POOL(IN("node.kubernetes.io/instance-category", "a")), ""},
        {POOL2(IN("node.kubernetes.io/instance-category", "a"), IN("zone", "b")),
         "warn " KEY_AT "zone"},
    };
    rail_catalog_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL,
                                          cases, COUNT_OF(cases)},
                     types);
}

const char unit_suite[] = "policy pool-shape: keys";
const struct unit_test unit_tests[] = {
    {"keys that narrow nothing are found", keys_that_narrow_nothing_are_found},
    {"keys of one's own stay silent", keys_of_ones_own_stay_silent},
    {"it says which key was meant", it_says_which_key_was_meant},
    {"keys of a user's catalogue stay silent", keys_of_a_users_catalogue_stay_silent},
    {NULL, NULL},
};
