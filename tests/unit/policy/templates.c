/* Values that envsubst, sed or a chart fills in: as they stand the API server refuses them, and
 * what they become nobody knows yet. */
#include "rail_table.h"

#define META "metadata: {name: a}, "
#define NODE_POOL "{apiVersion: karpenter.sh/v1, kind: NodePool, " META "spec: {"
#define POD "{apiVersion: v1, kind: Pod, " META "spec: {"
#define RESOURCES POD "containers: [{name: app, resources: {requests: {memory: 1Gi, cpu: "
#define OVERLAY "{apiVersion: karpenter.sh/v1alpha1, kind: NodeOverlay, " META "spec: {"
#define FAMILY "requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: ["
#define CLASS                                                   \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, " META \
    "provisioner: ebs.csi.aws.com, volumeBindingMode: "

static const char pools[] = NODE_POOL "template: {spec: {" FAMILY "m5]}]}}}}\n";

/* One object with a placeholder, and with a value that is found. */
#define ROW(rail, before, wrong, after, finding)                                     \
    {                                                                                \
        rail ": {}", {before "'${VALUE}'" after, ""}, {before wrong after, finding}, \
    }

static void values_to_come_are_not_judged(void)
{
    static const struct {
        const char *rails;
        struct rail_case open, wrong;
    } rows[] = {
        ROW("pool-limits", NODE_POOL "limits: {cpu: ", "many", "}}}", "deny spec.limits.cpu many"),
        ROW("node-rotation", NODE_POOL "template: {spec: {expireAfter: ", "long", "}}}}",
            "deny spec.template.spec.expireAfter long"),
        ROW("node-rotation", NODE_POOL "template: {spec: {terminationGracePeriod: ", "long", "}}}}",
            "deny spec.template.spec.terminationGracePeriod long"),
        ROW("disruption-budgets", NODE_POOL "disruption: {consolidateAfter: ", "long", "}}}",
            "deny spec.disruption.consolidateAfter long"),
        ROW("disruption-budgets", NODE_POOL "disruption: {consolidationPolicy: ", "Always", "}}}",
            "deny spec.disruption.consolidationPolicy Always"),
        ROW("disruption-budgets", NODE_POOL "disruption: {budgets: [{nodes: ", "some", "}]}}}",
            "deny spec.disruption.budgets[0].nodes some"),
        ROW("disruption-budgets",
            NODE_POOL "disruption: {budgets: [{nodes: '1', schedule: '@daily', duration: ", "long",
            "}]}}}", "deny spec.disruption.budgets[0].duration long"),
        ROW("disruption-budgets",
            NODE_POOL "disruption: {budgets: [{nodes: '1', duration: 1h, schedule: ", "daily",
            "}]}}}", "deny spec.disruption.budgets[0].schedule daily"),
        ROW("resource-requests", RESOURCES, "many", "}}}]}}",
            "deny spec.containers[0].resources.requests.cpu many"),
        ROW("resource-requests", RESOURCES "1}, limits: {a/b: ", "many", "}}}]}}",
            "deny spec.containers[0].resources.limits[a/b] many"),
        ROW("scheduler-bypass", POD "nodeName: ", "ip-1", "}}", "deny spec.nodeName ip-1"),
        ROW("tolerations", POD "tolerations: [{operator: Exists, key: ", "a b", "}]}}",
            "deny spec.tolerations[0].key a b"),
        ROW("topology-keys", POD "topologySpreadConstraints: [{topologyKey: ", "rack", "}]}}",
            "deny spec.topologySpreadConstraints[0].topologyKey rack"),
        ROW("volume-binding", CLASS, "Sometimes", "}", "deny volumeBindingMode Sometimes"),
        ROW("node-overlay", OVERLAY FAMILY "m5]}], price: ", "low", "}}", "deny spec.price low"),
        ROW("node-overlay", OVERLAY FAMILY "m5]}], priceAdjustment: ", "low", "}}",
            "deny spec.priceAdjustment low"),
        ROW("node-overlay", OVERLAY FAMILY "m5]}], price: '1', weight: ", "first", "}}",
            "deny spec.weight first"),
        ROW("node-overlay",
            OVERLAY
            "price: '1', requirements: [{key: karpenter.sh/nodepool, operator: In, values: [",
            "b", "]}]}}", "warn spec.requirements "),
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        rail_table_run(&(struct rail_table){rows[i].rails, pools, &rows[i].open, 1});
        rail_table_run(&(struct rail_table){rows[i].rails, pools, &rows[i].wrong, 1});
    }
}

const char unit_suite[] = "policy templates";
const struct unit_test unit_tests[] = {
    {"values to come are not judged", values_to_come_are_not_judged},
    {NULL, NULL},
};
