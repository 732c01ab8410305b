/* The rail resource-claims on pods and their templates: claims that are there, devices in reach. */
#include "rail_modes.h"
#include "rail_table.h"

#define CONTAINERS "containers: [{name: a, image: a}]"
#define POD(claims, more)                                                                  \
    "{apiVersion: v1, kind: Pod, metadata: {name: train}, spec: {resourceClaims: [" claims \
    "], " more CONTAINERS "}}"
#define DEPLOYMENT(claims, more)                                                                \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: train}, spec: {selector: "        \
    "{matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {resourceClaims: " \
    "[" claims "], " more CONTAINERS "}}}}"
#define BY_CLAIM(name) "{name: d, resourceClaimName: " name "}"
#define BY_TEMPLATE(name) "{name: d, resourceClaimTemplateName: " name "}"

#define CLASS(name, selectors)                                                                    \
    "---\n{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: " name "}, spec: " \
    "{selectors: [" selectors "]}}\n"
#define CEL(expression) "{cel: {expression: '" expression "'}}"
#define DRIVER_CLASS(name) CLASS(name, CEL("device.driver == \"" name ".example.com\""))
#define EXACTLY(class) "{name: a, exactly: {deviceClassName: " class "}}"
#define CLAIM(name, requests)                                                           \
    "---\n{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: " name \
    "}, spec: {devices: {requests: [" requests "]}}}\n"
#define TEMPLATE(name, requests)                                                                \
    "---\n{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: " name \
    "}, spec: {spec: {devices: {requests: [" requests "]}}}}\n"
#define TEMPLATE_OF(class) TEMPLATE(class, EXACTLY(class))
#define SLICE(name, driver, on)                                                         \
    "---\n{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: " name \
    "}, spec: {driver: " driver ", " on "pool: {name: p}}}\n"
#define NODE(name, labels) \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {" labels "}}}\n"
#define TAINTED_NODE(name, labels)                                                               \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {" labels "}}, spec: " \
    "{taints: [{key: gpu, effect: NoSchedule}]}}\n"
#define POOL(name, more)                                                                       \
    "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: "    \
    "{template: {spec: {" more "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, " \
    "name: default}, requirements: []}}}}\n"

/* clang-format off */
#define FIRST(class, other) \
    "{name: a, firstAvailable: [{name: x, deviceClassName: " class "}, " \
                               "{name: y, deviceClassName: " other "}]}"
static const char cluster[] =
    POOL("gpu", "taints: [{key: gpu, effect: NoSchedule}], ")
    POOL("general", "")
    TAINTED_NODE("g1", "karpenter.sh/nodepool: gpu, devices: 'true'")
    NODE("m1", "karpenter.sh/nodepool: general")
    NODE("own", "")
    SLICE("s1", "gpu.example.com", "nodeName: g1, ")
    SLICE("s2", "nic.example.com", "nodeName: m1, ")
    SLICE("s3", "nic.example.com", "nodeName: g1, ")
    SLICE("s4", "net.example.com", "allNodes: true, ")
    SLICE("s5", "own.example.com", "nodeName: own, ")
    SLICE("s6", "gpu.example.com", "nodeName: g1, ")
    NODE("h1", "karpenter.sh/nodepool: gone")
    SLICE("s7", "old.example.com", "nodeName: h1, ")
    CLASS("old", CEL("device.driver == \"old.example.com\""))
    TEMPLATE("old", EXACTLY("old"))
    DRIVER_CLASS("gpu")
    CLASS("large", CEL("device.driver==\"gpu.example.com\" && device.capacity[\"x\"].y > 3"))
    DRIVER_CLASS("nic")
    DRIVER_CLASS("net")
    DRIVER_CLASS("own")
    DRIVER_CLASS("none")
    CLASS("either", CEL("device.driver == \"none.example.com\" || device.driver == \"b\""))
    CLASS("strange", CEL("device.attributes[\"a\"].b"))
    CLASS("open", "")
    CLASS("spaced", CEL("\n  device.driver  ==  \"none.example.com\""))
    CLASS("single", "{cel: {expression: \"\\n device.driver == 'none.example.com'\"}}")
    CLASS("unlike", CEL("device.driver != \"b\""))
    CLASS("ended", CEL("device.driver =="))
    CLASS("named", CEL("device.driver == driver"))
    CLASS("unclosed", CEL("device.driver == \"none.example.com"))
    CLASS("bare", CEL("   "))
    TEMPLATE("spaced", EXACTLY("spaced"))
    TEMPLATE("single", EXACTLY("single"))
    TEMPLATE("unlike", EXACTLY("unlike"))
    TEMPLATE("ended", EXACTLY("ended"))
    TEMPLATE("named", EXACTLY("named"))
    TEMPLATE("unclosed", EXACTLY("unclosed"))
    TEMPLATE("bare", EXACTLY("bare"))
    TEMPLATE("nameless", "{name: a, firstAvailable: [{name: x}, {name: y, deviceClassName: none}]}")
    TEMPLATE("twice", EXACTLY("gpu") ", " EXACTLY("large"))
    CLAIM("gpu", EXACTLY("gpu"))
    CLAIM("nic", EXACTLY("nic"))
    TEMPLATE_OF("gpu")
    TEMPLATE_OF("large")
    TEMPLATE("beta", "{name: a, deviceClassName: gpu}")
    TEMPLATE_OF("nic")
    TEMPLATE_OF("net")
    TEMPLATE_OF("own")
    TEMPLATE_OF("none")
    TEMPLATE_OF("either")
    TEMPLATE_OF("strange")
    TEMPLATE_OF("open")
    TEMPLATE_OF("unknown")
    TEMPLATE("both", EXACTLY("nic") ", " EXACTLY("gpu"))
    TEMPLATE("first", FIRST("gpu", "nic"))
    TEMPLATE("neither", FIRST("gpu", "none"));
/* clang-format on */

#define FIELD "spec.resourceClaims[0].resourceClaimName "
#define OF_TEMPLATE "spec.resourceClaims[0].resourceClaimTemplateName "
#define TOLERATES "tolerations: [{key: gpu, operator: Exists}], "

static void claims_are_there(void)
{
    static const struct rail_case cases[] = {
        {POD(BY_CLAIM("nic"), ""), ""},
        {POD(BY_CLAIM("nik"), ""), "warn " FIELD "nik"},
        {POD(BY_TEMPLATE("nic"), ""), ""},
        {POD(BY_TEMPLATE("nik"), ""), "warn " OF_TEMPLATE "nik"},
        /* of each kind by itself */
        {POD(BY_CLAIM("none"), ""), "warn " FIELD "none"},
        {DEPLOYMENT(BY_TEMPLATE("nik"), ""), "warn spec.template." OF_TEMPLATE "nik"},
        /* once, though two ask for it */
        {POD(BY_TEMPLATE("nik") ", {name: e, resourceClaimTemplateName: nik}", ""),
         "warn " OF_TEMPLATE "nik"},
        {POD("{name: d}", ""), ""},
        {POD("", ""), ""},
    };
    rail_table_run(&(struct rail_table){"resource-claims: {}", cluster, cases, COUNT_OF(cases)});
    static const struct rail_case blind[] = {
        {POD(BY_CLAIM("nic"), ""), "undecided " FIELD "nic"},
        {POD(BY_TEMPLATE("nic"), ""), "undecided " OF_TEMPLATE "nic"},
    };
    rail_table_run(&(struct rail_table){"resource-claims: {}", NULL, blind, COUNT_OF(blind)});
    static const struct rail_case unseen[] = {
        {POD(BY_CLAIM("nic"), ""), ""},
        {POD(BY_CLAIM("nik"), ""), "undecided " FIELD "nik"},
        {POD(BY_TEMPLATE("nik"), ""), "undecided " OF_TEMPLATE "nik"},
    };
    rail_table_run_unseen(
        &(struct rail_table){"resource-claims: {}", cluster, unseen, COUNT_OF(unseen)},
        KIND_BIT(KIND_RESOURCE_CLAIM) | KIND_BIT(KIND_RESOURCE_CLAIM_TEMPLATE));
    /* a cluster that has none has none */
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("resource-claims: {}", NULL, arena);
    static const struct rail_case none[] = {
        {POD(BY_CLAIM("nic"), ""), "warn " FIELD "nic"},
        {POD(BY_TEMPLATE("nic"), ""), "warn " OF_TEMPLATE "nic"},
    };
    world.live = true;
    rail_table_run_in(&world, &(struct rail_table){.cases = none, .case_count = COUNT_OF(none)},
                      arena);
    arena_destroy(arena);
}

static void devices_are_in_reach(void)
{
    /* whose Nodes publish devices nobody sees */
    static const struct rail_case without_nodes = {POD(BY_TEMPLATE("none"), ""),
                                                   "undecided " OF_TEMPLATE "none"};
    rail_table_run_unseen(&(struct rail_table){"resource-claims: {}", cluster, &without_nodes, 1},
                          KIND_BIT(KIND_NODE));
    static const struct rail_case cases[] = {
        {POD(BY_TEMPLATE("gpu"), TOLERATES), ""},
        {POD(BY_TEMPLATE("twice"), TOLERATES), ""},
        {POD(BY_TEMPLATE("old"), ""), ""}, /* its NodePool is gone, and may come back */
        /* however a class says whose its devices are */
        {POD(BY_TEMPLATE("spaced"), ""), "warn " OF_TEMPLATE "spaced"},
        {POD(BY_TEMPLATE("single"), ""), "warn " OF_TEMPLATE "single"},
        {POD(BY_TEMPLATE("nameless"), ""), "warn " OF_TEMPLATE "nameless"},
        {POD(BY_TEMPLATE("unlike"), ""), ""},
        {POD(BY_TEMPLATE("ended"), ""), ""},
        {POD(BY_TEMPLATE("named"), ""), ""},
        {POD(BY_TEMPLATE("unclosed"), ""), ""},
        {POD(BY_TEMPLATE("bare"), ""), ""},
        /* by a label that others put on the Node */
        {POD(BY_TEMPLATE("gpu"), TOLERATES "nodeSelector: {devices: 'true'}, "), ""},
        {POD(BY_TEMPLATE("gpu"), "nodeSelector: {devices: 'true'}, "), "warn " OF_TEMPLATE "gpu"},
        {POD(BY_TEMPLATE("gpu"), TOLERATES "nodeSelector: {devices: 'false'}, "),
         "warn " OF_TEMPLATE "gpu"},
        {POD(BY_TEMPLATE("gpu"), ""), "warn " OF_TEMPLATE "gpu"},
        {POD(BY_CLAIM("gpu"), ""), "warn " FIELD "gpu"},
        {POD(BY_TEMPLATE("beta"), ""), "warn " OF_TEMPLATE "beta"},
        {POD(BY_TEMPLATE("large"), ""), "warn " OF_TEMPLATE "large"},
        {POD(BY_TEMPLATE("large"), TOLERATES), ""},
        {POD(BY_TEMPLATE("gpu"), TOLERATES "nodeSelector: {karpenter.sh/nodepool: general}, "),
         "warn " OF_TEMPLATE "gpu"},
        /* on one of two pools */
        {POD(BY_TEMPLATE("nic"), ""), ""},
        {POD(BY_TEMPLATE("nic"), "nodeSelector: {karpenter.sh/nodepool: gpu}, "),
         "warn " OF_TEMPLATE "nic"},
        {POD(BY_TEMPLATE("nic"), TOLERATES "nodeSelector: {karpenter.sh/nodepool: gpu}, "), ""},
        /* nobody knows, or says, which nodes these are */
        {POD(BY_TEMPLATE("net"), ""), ""},
        {POD(BY_TEMPLATE("own"), ""), ""},
        {POD(BY_TEMPLATE("either"), ""), ""},
        {POD(BY_TEMPLATE("strange"), ""), ""},
        {POD(BY_TEMPLATE("open"), ""), ""},
        {POD(BY_TEMPLATE("unknown"), ""), ""},
        {POD(BY_TEMPLATE("none"), ""), "warn " OF_TEMPLATE "none"},
        {POD(BY_TEMPLATE("both"), ""), "warn " OF_TEMPLATE "both"},
        {POD(BY_TEMPLATE("first"), ""), ""},
        {POD(BY_TEMPLATE("neither"), ""), "warn " OF_TEMPLATE "neither"},
    };
    rail_table_run(&(struct rail_table){"resource-claims: {}", cluster, cases, COUNT_OF(cases)});
    static const struct rail_case unseen[] = {
        {POD(BY_TEMPLATE("gpu"), ""), "undecided " OF_TEMPLATE "gpu"},
        {POD(BY_TEMPLATE("empty"), ""), ""},
    };
    rail_table_run(&(struct rail_table){"resource-claims: {}",
                                        POOL("gpu", "") CLASS("gpu", "")
                                            TEMPLATE("gpu", EXACTLY("gpu")) TEMPLATE("empty", ""),
                                        unseen, COUNT_OF(unseen)});
}

static void it_says_what_to_do(void)
{
    static const struct rail_words words[] = {
        {POD(BY_TEMPLATE("nik"), ""),
         "There is no ResourceClaimTemplate \"nik\" in namespace default, so these pods stay "
         "Pending until there is.",
         "Use nic."},
        {POD(BY_CLAIM("entirely-new"), ""),
         "There is no ResourceClaim \"entirely-new\" in namespace default, so these pods stay "
         "Pending until there is.",
         "Apply the ResourceClaim, too."},
        {POD(BY_TEMPLATE("gpu"), ""),
         "Devices of DeviceClass gpu (gpu.example.com) are on nodes of NodePool gpu, where these "
         "pods cannot run.",
         "Select NodePool gpu, and tolerate its taints. By default Karpenter buys no node for pods "
         "with claims."},
        {POD(BY_TEMPLATE("nic"), "nodeSelector: {karpenter.sh/nodepool: other}, "),
         "Devices of DeviceClass nic (nic.example.com) are on nodes of NodePools general and gpu, "
         "where these pods cannot run.",
         "Select NodePool general, and tolerate its taints. By default Karpenter buys no node for "
         "pods with claims."},
        {POD(BY_TEMPLATE("none"), ""),
         "No Node publishes devices of none.example.com, which DeviceClass none selects, so these "
         "pods stay Pending.",
         "Install the driver on the nodes that are to run these pods."},
    };
    rail_words_run("resource-claims: {}", cluster, words, COUNT_OF(words));
}

const char unit_suite[] = "policy resource-claims of pods";
const struct unit_test unit_tests[] = {
    {"claims are there", claims_are_there},
    {"devices are in reach", devices_are_in_reach},
    {"it says what to do", it_says_what_to_do},
    {NULL, NULL},
};
