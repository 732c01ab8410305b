/* What is hashed of NodePools and EC2NodeClasses, as tables (docs/reference/karpenter.md 6.7, 6.9).
 * Names and order are those of Karpenter's Go structs. */
#include "kube/karpenter_hash.h"

#include "kube/go_hash.h"
#include "kube/image_family.h"
#include "kube/object.h"

/* clang-format off */
#define STRUCT(variable, go, ...)              \
    static const struct go_struct variable = { \
        go, (const struct go_field[]){__VA_ARGS__, {.name = NULL}}}
#define FIELD(type, go, json) {.name = (go), .key = (json), .kind = (type)}
#define POINTER(type, go, json) {.name = (go), .key = (json), .kind = (type), .pointer = true}
#define DEFAULT(type, go, json, value) \
    {.name = (go), .key = (json), .kind = (type), .pointer = true, .otherwise = &(value)}
#define INSIDE(go, json, fields) \
    {.name = (go), .key = (json), .kind = GO_STRUCT, .inside = &(fields)}
#define POINTER_INSIDE(go, json, fields) \
    {.name = (go), .key = (json), .kind = GO_STRUCT, .pointer = true, .inside = &(fields)}
#define SET(go, json, fields) \
    {.name = (go), .key = (json), .kind = GO_STRUCT_SET, .inside = &(fields)}
/* clang-format on */

/* ---- a NodePool's template ---- */

static const struct node thirty_days = {.kind = NODE_STRING, .bytes = "720h", .size = 4};

STRUCT(metadata, "ObjectMeta", FIELD(GO_STRING_MAP, "Labels", "labels"),
       FIELD(GO_STRING_MAP, "Annotations", "annotations"));
STRUCT(taint, "Taint", FIELD(GO_STRING, "Key", "key"), FIELD(GO_STRING, "Value", "value"),
       FIELD(GO_STRING, "Effect", "effect"), POINTER(GO_TIME, "TimeAdded", "timeAdded"));
STRUCT(class_reference, "NodeClassReference", FIELD(GO_STRING, "Kind", "kind"),
       FIELD(GO_STRING, "Name", "name"), FIELD(GO_STRING, "Group", "group"));
STRUCT(claim_spec, "NodeClaimTemplateSpec", SET("Taints", "taints", taint),
       SET("StartupTaints", "startupTaints", taint),
       POINTER_INSIDE("NodeClassRef", "nodeClassRef", class_reference),
       POINTER(GO_DURATION, "TerminationGracePeriod", "terminationGracePeriod"),
       {.name = "ExpireAfter",
        .key = "expireAfter",
        .kind = GO_NILLABLE_DURATION,
        .otherwise = &thirty_days});
STRUCT(claim_template, "NodeClaimTemplate", INSIDE("ObjectMeta", "metadata", metadata),
       INSIDE("Spec", "spec", claim_spec));

/* ---- an EC2NodeClass' spec ---- */

static const struct node enabled = {.kind = NODE_STRING, .bytes = "enabled", .size = 7};
static const struct node disabled = {.kind = NODE_STRING, .bytes = "disabled", .size = 8};
static const struct node one_hop = {.kind = NODE_NUMBER, .bytes = "1", .size = 1};
static const struct node required = {.kind = NODE_STRING, .bytes = "required", .size = 8};
static const struct node no_members = {.kind = NODE_MAP};

STRUCT(placement_group, "PlacementGroupSelector", POINTER(GO_STRING, "Name", "name"),
       POINTER(GO_STRING, "ID", "id"));
STRUCT(block_device, "BlockDevice", POINTER(GO_BOOL, "DeleteOnTermination", "deleteOnTermination"),
       POINTER(GO_BOOL, "Encrypted", "encrypted"), POINTER(GO_INT64, "IOPS", "iops"),
       POINTER(GO_STRING, "KMSKeyID", "kmsKeyID"), POINTER(GO_STRING, "SnapshotID", "snapshotID"),
       POINTER(GO_INT64, "Throughput", "throughput"),
       POINTER(GO_INT32, "VolumeInitializationRate", "volumeInitializationRate"),
       POINTER(GO_QUANTITY, "VolumeSize", "volumeSize"),
       POINTER(GO_STRING, "VolumeType", "volumeType"));
STRUCT(block_device_mapping, "BlockDeviceMapping", POINTER(GO_STRING, "DeviceName", "deviceName"),
       POINTER_INSIDE("EBS", "ebs", block_device), FIELD(GO_BOOL, "RootVolume", "rootVolume"));
STRUCT(network_interface, "NetworkInterface",
       FIELD(GO_INT32, "NetworkCardIndex", "networkCardIndex"),
       FIELD(GO_INT32, "DeviceIndex", "deviceIndex"),
       FIELD(GO_STRING, "InterfaceType", "interfaceType"));
STRUCT(metadata_options, "MetadataOptions",
       DEFAULT(GO_STRING, "HTTPEndpoint", "httpEndpoint", enabled),
       DEFAULT(GO_STRING, "HTTPProtocolIPv6", "httpProtocolIPv6", disabled),
       DEFAULT(GO_INT64, "HTTPPutResponseHopLimit", "httpPutResponseHopLimit", one_hop),
       DEFAULT(GO_STRING, "HTTPTokens", "httpTokens", required));
STRUCT(enclave_options, "EnclaveOptions", FIELD(GO_BOOL, "Enabled", "enabled"));
STRUCT(connection_tracking, "ConnectionTracking",
       POINTER(GO_INT32, "TCPEstablishedTimeout", "tcpEstablishedTimeout"),
       POINTER(GO_INT32, "UDPStreamTimeout", "udpStreamTimeout"),
       POINTER(GO_INT32, "UDPTimeout", "udpTimeout"));
STRUCT(cpu_options, "CPUOptions",
       POINTER(GO_STRING, "NestedVirtualization", "nestedVirtualization"));
STRUCT(class_spec, "EC2NodeClassSpec",
       POINTER_INSIDE("PlacementGroupSelector", "placementGroupSelector", placement_group),
       POINTER(GO_BOOL, "AssociatePublicIPAddress", "associatePublicIPAddress"),
       POINTER(GO_STRING, "UserData", "userData"), FIELD(GO_STRING, "Role", "role"),
       POINTER(GO_STRING, "InstanceProfile", "instanceProfile"),
       FIELD(GO_STRING_MAP, "Tags", "tags"),
       SET("BlockDeviceMappings", "blockDeviceMappings", block_device_mapping),
       POINTER(GO_STRING, "InstanceStorePolicy", "instanceStorePolicy"),
       SET("NetworkInterfaces", "networkInterfaces", network_interface),
       POINTER(GO_BOOL, "DetailedMonitoring", "detailedMonitoring"),
       {.name = "MetadataOptions",
        .key = "metadataOptions",
        .kind = GO_STRUCT,
        .pointer = true,
        .inside = &metadata_options,
        .otherwise = &no_members},
       POINTER_INSIDE("EnclaveOptions", "enclaveOptions", enclave_options),
       POINTER_INSIDE("ConnectionTracking", "connectionTracking", connection_tracking),
       POINTER(GO_STRING, "Context", "context"),
       POINTER_INSIDE("CPUOptions", "cpuOptions", cpu_options));

/* ---- parts of a class that are hashed apart ---- */

/* Karpenter's AMIFamily(): what is written, else what the alias says. False: the alias is none. */
static bool image_family(const struct node *spec, struct text *family)
{
    *family = TEXT("Custom");
    const struct node *written = node_get(spec, "amiFamily");
    if (node_is_given(written)) {
        *family = node_string(written);
        return node_is(written, NODE_STRING);
    }
    FOR_ITEMS(term, node_get(spec, "amiSelectorTerms")) {
        struct text alias = node_string(node_get(term, "alias"));
        if (alias.size == 0)
            continue;
        *family = image_family_of_alias(alias);
        return family->size > 0;
    }
    return true;
}

/* As Go's encoding/json writes a map: keys in order, and no character that HTML has. In JSON those
 * characters stand in strings alone. */
static struct text go_json(const struct node *map, struct arena *arena)
{
    static const struct {
        struct text bytes, escape;
    } escapes[] = {
        {{"<", 1}, {"\\u003c", 6}},      {{">", 1}, {"\\u003e", 6}},
        {{"&", 1}, {"\\u0026", 6}},      {{"\u2028", 3}, {"\\u2028", 6}},
        {{"\u2029", 3}, {"\\u2029", 6}},
    };
    struct text left = node_json(node_sorted(map, arena), arena);
    struct text_builder json = {.arena = arena};
    while (left.size > 0) {
        struct text piece = {left.data, 1};
        size_t taken = 1;
        for (size_t i = 0; i < COUNT_OF(escapes); i++)
            if (text_starts_with(left, escapes[i].bytes)) {
                piece = escapes[i].escape;
                taken = escapes[i].bytes.size;
            }
        text_builder_add(&json, piece);
        left = (struct text){left.data + taken, left.size - taken};
    }
    return text_builder_text(&json);
}

/* Whether all numbers are integers, which Go and the API server write as they were read. */
static bool has_integers_alone(const struct node *node)
{
    int64_t number = 0;
    if (node_is(node, NODE_NUMBER))
        return node_integer(node, &number);
    bool all = true;
    for (size_t i = 0; i < node_count(node) && all; i++)
        all = has_integers_alone(node_is(node, NODE_MAP) ? &node->members[i].value
                                                         : node_item(node, i));
    return all;
}

static bool kubelet_hash(const struct node *spec, struct arena *arena, uint64_t *hash)
{
    const struct node *kubelet = node_get(spec, "kubelet");
    bool empty = !node_is_given(kubelet) || (node_is(kubelet, NODE_MAP) && kubelet->size == 0);
    *hash = go_hash_text(empty ? TEXT("null") : go_json(kubelet, arena));
    return empty || (node_is(kubelet, NODE_MAP) && has_integers_alone(kubelet));
}

/* ---- both kinds ---- */

static const struct karpenter_hash node_pool = {"karpenter.sh/nodepool-hash",
                                                "karpenter.sh/nodepool-hash-version", "v3"};
static const struct karpenter_hash node_class = {
    "karpenter.k8s.aws/ec2nodeclass-hash", "karpenter.k8s.aws/ec2nodeclass-hash-version", "v6"};

const struct karpenter_hash *karpenter_hash(const struct object *object)
{
    if (object_is_v1beta1(object))
        return NULL;
    return object->kind == KIND_NODE_POOL        ? &node_pool
           : object->kind == KIND_EC2_NODE_CLASS ? &node_class
                                                 : NULL;
}

static const struct node *spec_of(const struct object *object)
{
    return node_get(object->root->node, "spec");
}

static bool node_class_hash(const struct node *spec, struct arena *arena, uint64_t *hash)
{
    uint64_t kubelet = 0;
    struct text family;
    bool known = go_hash_struct(&class_spec, spec, arena, hash);
    known = kubelet_hash(spec, arena, &kubelet) && known;
    known = image_family(spec, &family) && known;
    *hash ^= kubelet ^ go_hash_text(family);
    return known;
}

bool karpenter_hash_value(const struct object *object, struct arena *arena, uint64_t *hash)
{
    if (object->kind == KIND_EC2_NODE_CLASS)
        return node_class_hash(spec_of(object), arena, hash);
    return go_hash_struct(&claim_template, node_get(spec_of(object), "template"), arena, hash);
}

static void compare_classes(const struct node *a, const struct node *b, struct arena *arena,
                            struct text_list *paths)
{
    uint64_t kubelet_a = 0, kubelet_b = 0;
    struct text family_a, family_b;
    (void)!image_family(a, &family_a);
    (void)!image_family(b, &family_b);
    if (!text_equal(family_a, family_b))
        *LIST_PUSH(arena, paths) =
            node_is_given(node_get(b, "amiFamily")) || node_is_given(node_get(a, "amiFamily"))
                ? TEXT("spec.amiFamily")
                : TEXT("spec.amiSelectorTerms");
    (void)!kubelet_hash(a, arena, &kubelet_a);
    (void)!kubelet_hash(b, arena, &kubelet_b);
    if (kubelet_a != kubelet_b)
        *LIST_PUSH(arena, paths) = TEXT("spec.kubelet");
}

void karpenter_hash_compare(const struct object *a, const struct object *b, struct arena *arena,
                            struct text_list *paths)
{
    const struct node *in_a = spec_of(a), *in_b = spec_of(b);
    if (a->kind == KIND_EC2_NODE_CLASS) {
        go_hash_compare(&class_spec, in_a, in_b, TEXT("spec"), arena, paths);
        compare_classes(in_a, in_b, arena, paths);
    } else {
        go_hash_compare(&claim_template, node_get(in_a, "template"), node_get(in_b, "template"),
                        TEXT("spec.template"), arena, paths);
    }
}

/* A NodeClaim has the labels of the template, and others. */
static bool has_labels(const struct object *claim, const struct node *labels)
{
    bool has = true;
    for (size_t i = 0; node_is(labels, NODE_MAP) && i < node_count(labels) && has; i++)
        has = node_equal(&labels->members[i].value,
                         node_member(claim->labels, member_key(&labels->members[i])));
    return has;
}

struct text karpenter_hash_unlike(const struct object *pool, const struct object *claim,
                                  struct arena *arena)
{
    const struct node *template = node_get(spec_of(pool), "template");
    struct text_list paths = {0};
    if (!has_labels(claim, node_at(template, "metadata.labels")))
        return TEXT("spec.template.metadata.labels");
    go_hash_compare(&claim_spec, spec_of(claim), node_get(template, "spec"),
                    TEXT("spec.template.spec"), arena, &paths);
    return paths.count == 0 ? TEXT("") : paths.items[0];
}
