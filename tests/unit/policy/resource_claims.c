/* The rail resource-claims: devices of classes that there are, and not too many. */
#include "rail_modes.h"
#include "rail_table.h"

#define CLASS(name) \
    "---\n{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: " name "}}\n"
static const char cluster[] = CLASS("gpu.nvidia.com") CLASS("mig.nvidia.com") CLASS("efa");

#define CLAIM_OF(version, requests)                                                              \
    "{apiVersion: resource.k8s.io/" version ", kind: ResourceClaim, metadata: {name: c}, spec: " \
    "{devices: {requests: [" requests "]}}}"
#define CLAIM(requests) CLAIM_OF("v1", requests)
#define EXACTLY(rest) "{name: a, exactly: {" rest "}}"
#define ONE(class, rest) EXACTLY("deviceClassName: " class rest)
#define ANY(alternatives) "{name: a, firstAvailable: [" alternatives "]}"
#define SUB(class, rest) "{name: s, deviceClassName: " class rest "}"
#define AT "spec.devices.requests[0]"

static void classes_must_be_there(void)
{
    static const struct rail_case cases[] = {
        {CLAIM(ONE("gpu.nvidia.com", "")), ""},
        {CLAIM(ONE("gpu.nvidia.co", "")), "deny " AT ".exactly.deviceClassName gpu.nvidia.co"},
        {CLAIM(ANY(SUB("mig.nvidia.com", "") ", " SUB("none", ""))),
         "deny " AT ".firstAvailable[1].deviceClassName none"},
        {CLAIM_OF("v1beta1", "{name: a, deviceClassName: other}"),
         "deny " AT ".deviceClassName other"},
        {CLAIM_OF("v1beta1", "{name: a, deviceClassName: efa}"), ""},
        /* where v1beta1 had it */
        {CLAIM("{name: a, deviceClassName: efa}"), "deny " AT ".deviceClassName efa"},
        {CLAIM_OF("v1beta2", "{name: a, deviceClassName: efa}"), "deny " AT ".deviceClassName efa"},
        {"{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: t}, spec: "
         "{spec: {devices: {requests: [" ONE("other", "") "]}}}}",
         "deny spec.spec.devices.requests[0].exactly.deviceClassName other"},
        {CLAIM(""), ""},
        {CLAIM("{name: a}, {name: b, exactly: null}"), ""},
        {"{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: c}}", ""},
        /* another kind of that name */
        {"{apiVersion: example.com/v1, kind: ResourceClaim, metadata: {name: c}, spec: {devices: "
         "{requests: [" ONE("other", "") "]}}}",
         ""},
    };
    rail_table_run(&(struct rail_table){"resource-claims: {}", cluster, cases, COUNT_OF(cases)});
    static const struct rail_case unseen[] = {
        {CLAIM(ONE("efa", "")), "undecided " AT ".exactly.deviceClassName efa"},
    };
    rail_table_run(&(struct rail_table){"resource-claims: {}", NULL, unseen, 1});
}

/* Of a live cluster classes may be there that cannot be listed. */
static void hidden_classes_are_not_denied(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("resource-claims: {}", cluster, arena);
    struct rail_documents documents = rail_table_read(CLAIM(ONE("other", "")), arena);
    world.unseen = KIND_BIT(KIND_DEVICE_CLASS);
    ASSERT_TEXT(rail_table_findings(&world, &documents.items[0], arena),
                "undecided " AT ".exactly.deviceClassName other");
    arena_destroy(arena);
}

/* Of a template Kubernetes makes a claim for each Pod. */
static void claims_of_templates_are_not_judged_again(void)
{
    static const char made[] =
        "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: c, "
        "ownerReferences: "
        "[{apiVersion: v1, kind: Pod, name: p, uid: u, controller: true}]}, spec: {devices: "
        "{requests: [" ONE("other", "") "]}}}";
    static const struct {
        const char *who, *claim;
        size_t findings;
    } cases[] = {
        {"system:serviceaccount:kube-system:resource-claim-controller", made, 0},
        {"jane", made, 1},
        {"system:serviceaccount:kube-system:resource-claim-controller", CLAIM(ONE("other", "")), 1},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("resource-claims: {}", cluster, arena);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct rail_documents documents = rail_table_read(cases[i].claim, arena);
        struct subject subject = {.operation = OPERATION_CREATE,
                                  .object = &documents.items[0],
                                  .requester = {.name = text_of(cases[i].who)}};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        ASSERT_INT(verdict.finding_count, cases[i].findings);
    }
    arena_destroy(arena);
}

#define MAX_8 "resource-claims: {max: {gpu.nvidia.com: 8}}"
#define GPUS(count) ONE("gpu.nvidia.com", ", count: " count)

static void claims_ask_for_few(void)
{
    static const struct rail_case cases[] = {
        {CLAIM(GPUS("8")), ""},
        {CLAIM(GPUS("9")), "deny " AT ".exactly.count 9"},
        {CLAIM(GPUS("9223372036854775807")), "deny " AT ".exactly.count 9223372036854775807"},
        {CLAIM(GPUS("-9")), ""},
        {CLAIM(ONE("efa", ", count: 9")), ""},
        {CLAIM_OF("v1beta1", "{name: a, deviceClassName: gpu.nvidia.com, count: 9}"),
         "deny " AT ".count 9"},
        /* together: told once, where it becomes too many */
        {CLAIM(GPUS("4") ", " GPUS("4")), ""},
        {CLAIM(GPUS("4") ", " GPUS("5") ", " GPUS("6")),
         "deny spec.devices.requests[1].exactly.count 5"},
        {CLAIM(GPUS("8") ", " ONE("gpu.nvidia.com", "")),
         "deny spec.devices.requests[1].exactly.count 1"},
        /* one of several */
        {CLAIM(ANY(SUB("gpu.nvidia.com", ", count: 8") ", " SUB("gpu.nvidia.com", ", count: 4"))),
         ""},
        {CLAIM(ANY(SUB("gpu.nvidia.com", ", count: 4") ", " SUB("gpu.nvidia.com", ", count: 9"))),
         "deny " AT ".firstAvailable[1].count 9"},
        {CLAIM(ANY(SUB("gpu.nvidia.com", ", count: 6") ", " SUB("gpu.nvidia.com", "")) ", " GPUS(
             "3")),
         "deny spec.devices.requests[1].exactly.count 3"},
        /* all that a node has */
        {CLAIM(ONE("gpu.nvidia.com", ", allocationMode: All")),
         "deny " AT ".exactly.allocationMode All"},
        {CLAIM(ONE("efa", ", allocationMode: All")), ""},
        /* a look at devices that others have */
        {CLAIM(ONE("gpu.nvidia.com", ", adminAccess: true, allocationMode: All")), ""},
        {CLAIM(GPUS("8") ", " ONE("gpu.nvidia.com", ", adminAccess: true")), ""},
        {CLAIM(GPUS("8") ", " ONE("gpu.nvidia.com", ", adminAccess: false")),
         "deny spec.devices.requests[1].exactly.count 1"},
        /* a class that there is not, once */
        {CLAIM(ONE("other", "") ", " ONE("other", "") ", " ONE("third", "")),
         "deny " AT ".exactly.deviceClassName other\n"
         "deny spec.devices.requests[2].exactly.deviceClassName third"},
    };
    rail_table_run(&(struct rail_table){MAX_8, cluster, cases, COUNT_OF(cases)});
}

/* Of what containers ask for by name kube-scheduler makes one claim. */
static void pods_ask_for_few(void)
{
#define EXTENDED                                                                             \
    "---\n{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: tpu}, spec: " \
    "{extendedResourceName: example.com/tpu}}"
#define LIMITS(limits) "{name: a, resources: {limits: {" limits "}}}"
#define PODS(containers)                                                                     \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {" \
    "containers: [" containers "]}}}}"
#define GPU "deviceclass.resource.kubernetes.io/gpu.nvidia.com: "
#define OF_CONTAINER(index) "deny spec.template.spec.containers[" #index "].resources.limits["
#define OF_INIT(index) "deny spec.template.spec.initContainers[" #index "].resources.limits["
#define SIDECAR(limits) "{name: s, restartPolicy: Always, resources: {limits: {" limits "}}}"
    static const struct rail_case cases[] = {
        {PODS(LIMITS(GPU "8")), ""},
        {PODS(LIMITS("cpu: 64, " GPU "9")),
         OF_CONTAINER(0) "deviceclass.resource.kubernetes.io/gpu.nvidia.com] 9"},
        {PODS(LIMITS(GPU "4") ", " LIMITS(GPU "5") ", " LIMITS(GPU "6")),
         OF_CONTAINER(1) "deviceclass.resource.kubernetes.io/gpu.nvidia.com] 5"},
        {PODS(LIMITS(GPU "9223372036854775807") ", " LIMITS(GPU "9223372036854775807")),
         OF_CONTAINER(0) "deviceclass.resource.kubernetes.io/gpu.nvidia.com] 9223372036854775807"},
        {PODS(LIMITS("example.com/tpu: 2")), OF_CONTAINER(0) "example.com/tpu] 2"},
        {PODS(LIMITS("example.com/tpu: 1, " GPU "8")), ""},
        /* what init containers ask for beyond what comes after them */
        {PODS(LIMITS(GPU "8") "], initContainers: [" LIMITS(GPU "8") ", " LIMITS(GPU "8")), ""},
        {PODS(LIMITS(GPU "2") "], initContainers: [" LIMITS(GPU "8")), ""},
        {PODS(LIMITS(GPU "2") "], initContainers: [" LIMITS(GPU "9") ", " LIMITS(GPU "10")),
         OF_INIT(1) "deviceclass.resource.kubernetes.io/gpu.nvidia.com] 10"},
        {PODS("{name: b}], initContainers: [" LIMITS("example.com/tpu: 2")),
         OF_INIT(0) "example.com/tpu] 2"},
        {PODS(LIMITS(GPU "4") "], initContainers: [" SIDECAR(GPU "4")), ""},
        {PODS(LIMITS(GPU "4") "], initContainers: [" SIDECAR(GPU "5")),
         OF_INIT(0) "deviceclass.resource.kubernetes.io/gpu.nvidia.com] 5"},
        /* it begins before the sidecar, and then after it, which keeps what it has */
        {PODS("{name: b}], initContainers: [" LIMITS(GPU "8") ", " SIDECAR(GPU "4")), ""},
        {PODS("{name: b}], initContainers: [" SIDECAR(GPU "4") ", " LIMITS(GPU "5")),
         OF_INIT(1) "deviceclass.resource.kubernetes.io/gpu.nvidia.com] 5"},
        {PODS(LIMITS(GPU "8") "], initContainers: {a: " LIMITS(GPU "9") "}, more: ["), ""},
        {PODS(LIMITS("example.com/other: 99")), ""},
        {PODS(LIMITS("deviceclass.resource.kubernetes.io/efa: 99")), ""},
        {PODS(LIMITS(GPU "x")), ""},
        {PODS(LIMITS("'': 99")), ""},
        {PODS(LIMITS(GPU "-9")), ""},
        {PODS("{name: a, resources: {limits: x}}, 5"), ""},
    };
    rail_table_run(&(struct rail_table){"resource-claims: {max: {gpu.nvidia.com: 8, tpu: 1}}",
                                        EXTENDED, cases, COUNT_OF(cases)});
    static const struct rail_case any = {PODS(LIMITS(GPU "99")), ""};
    rail_table_run(&(struct rail_table){"resource-claims: {}", EXTENDED, &any, 1});
    static const struct rail_words words = {
        PODS(LIMITS(GPU "9")),
        "The pod asks for 9 devices of gpu.nvidia.com, and a claim may have 8.",
        "Ask for 8 at most, in all containers."};
    rail_words_run(MAX_8, EXTENDED, &words, 1);
}

static void extended_resources_of_classes_are_warned_of(void)
{
    static const struct rail_case cases[] = {
        {"{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: c}, spec: "
         "{extendedResourceName: example.com/gpu}}",
         "warn spec.extendedResourceName example.com/gpu"},
        {"{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: c}, spec: {}}", ""},
    };
    rail_table_run(&(struct rail_table){"resource-claims: {}", NULL, cases, COUNT_OF(cases)});
}

static void it_says_what_to_do(void)
{
    static const struct rail_words words[] = {
        {CLAIM("{name: a, deviceClassName: efa}"),
         "A request of resource.k8s.io/v1 has no field deviceClassName. The API server refuses the "
         "claim.",
         "Move it under exactly of the request, and all else but name with it."},
        {CLAIM(ONE("gpu.nvidia.co", "")),
         "There is no DeviceClass \"gpu.nvidia.co\", so pods with this claim stay Pending.",
         "Use gpu.nvidia.com."},
        {CLAIM(ONE("tpu", "")),
         "There is no DeviceClass \"tpu\", so pods with this claim stay Pending.",
         "Name a DeviceClass of this cluster."},
        {CLAIM(GPUS("4") ", " GPUS("5")),
         "The claim asks for 9 devices of gpu.nvidia.com, and a claim may have 8.",
         "Ask for 8 at most, in all requests."},
        {CLAIM(ONE("gpu.nvidia.com", ", allocationMode: All")),
         "This takes all devices of gpu.nvidia.com that a node has, and a claim may have 8.",
         "Set allocationMode: ExactCount with a count of 8 at most."},
    };
    rail_words_run(MAX_8, cluster, words, COUNT_OF(words));
}

/* An audit finds the claims that were made of templates, which it judges. */
static void claims_of_pods_that_are_there_are_not_judged(void)
{
    static const char claim[] =
        "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: c, "
        "ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u, controller: true}]}, spec: "
        "{devices: {requests: [{name: a, exactly: {deviceClassName: tpu}}]}}}";
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("resource-claims: {}", cluster, arena);
    struct rail_documents documents = rail_table_read(claim, arena);
    for (int existing = 0; existing < 2; existing++) {
        const struct subject subject = {.operation = OPERATION_CREATE,
                                        .object = documents.items,
                                        .requester = {.name = TEXT("jane")},
                                        .existing = existing == 1};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        ASSERT_INT(verdict.finding_count, 1 - existing);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "policy resource-claims";
const struct unit_test unit_tests[] = {
    {"classes must be there", classes_must_be_there},
    {"hidden classes are not denied", hidden_classes_are_not_denied},
    {"claims of templates are not judged again", claims_of_templates_are_not_judged_again},
    {"claims ask for few", claims_ask_for_few},
    {"pods ask for few", pods_ask_for_few},
    {"extended resources of classes are warned of", extended_resources_of_classes_are_warned_of},
    {"it says what to do", it_says_what_to_do},
    {"claims of Pods that are there are not judged", claims_of_pods_that_are_there_are_not_judged},
    {NULL, NULL},
};
