/* The rail node-class: disks, metadata service, images and tags of the nodes to come. */
#include "policy/rails/node_class.h"
#include "policy/launchable.h"
#include "policy/rails/crd_shape.h"

#include "catalog/catalog.h"
#include "kube/image_family.h"
#include "kube/placeholder.h"
#include "kube/pool.h"
#include "kube/snapshot.h"

static const struct key keys[] = {
    {.name = "amiFamilies",
     .type = KEY_STRINGS,
     .offset = offsetof(struct node_class, families),
     .summary = "the families of images that may be used; by default any",
     .choices = (const char *const[]){"AL2", "AL2023", "Bottlerocket", "Custom", "Ubuntu",
                                      "Windows2019", "Windows2022", "Windows2025", NULL},
     .minimum = 1},
    {.name = "requireEncryption",
     .type = KEY_BOOL,
     .offset = offsetof(struct node_class, require_encryption),
     .summary = "every volume of a node says that it is encrypted",
     .default_value = "true"},
    {.name = "requireImdsv2",
     .type = KEY_BOOL,
     .offset = offsetof(struct node_class, require_imdsv2),
     .summary = "the metadata service answers to version 2 alone",
     .default_value = "true"},
    {.name = "maxHopLimit",
     .type = KEY_INTEGER,
     .offset = offsetof(struct node_class, max_hop_limit),
     .given_offset = offsetof(struct node_class, max_hop_limit_given),
     .summary = "how many hops an answer of the metadata service may go: with 1 pods that have an "
                "address of their own get none",
     .minimum = 1,
     .maximum = 64},
    {.name = "requireTags",
     .type = KEY_STRINGS,
     .offset = offsetof(struct node_class, tags),
     .summary = "tags that every machine must have, by key",
     .minimum = 1},
    {0},
};

/* ---- the family of images ---- */

const struct field *node_class_alias(const struct object *class, struct arena *arena,
                                     struct text *family)
{
    FOR_FIELDS(term, arena, field_at(arena, class->root, "spec.amiSelectorTerms")) {
        const struct field *alias = field_get(arena, term, "alias");
        *family = image_family_of_alias(node_string(alias->node));
        if (family->size > 0)
            return alias;
    }
    *family = TEXT("");
    return NULL;
}

const struct field *node_class_family(const struct object *class, struct arena *arena,
                                      struct text *family)
{
    const struct field *field = field_at(arena, class->root, "spec.amiFamily");
    *family = node_string(field->node);
    if (family->size > 0)
        return field;
    const struct field *alias = node_class_alias(class, arena, family);
    return alias != NULL ? alias : field;
}

/* docs/reference/karpenter.md 5.5. */
static void judge_end(struct rail_call *call, const struct field *field, struct text family)
{
    if (text_is(family, "AL2"))
        report(call, SEVERITY_WARN, field, TEXT("Use images of AL2023 or Bottlerocket."),
               "Amazon Linux 2 has no images for Kubernetes 1.33 and later, and the last are of "
               "November 2025.");
}

static void judge_family(struct rail_call *call, const struct node_class *settings)
{
    struct arena *arena = call->arena;
    struct text family;
    const struct field *field = node_class_family(call->object, arena, &family);
    const struct key_strings *families = &settings->families;
    if (family.size == 0 || families->count == 0 ||
        texts_have(families->items, families->count, family)) {
        judge_end(call, field, family);
        return;
    }
    report_with(call, .field = field, .found = node_string(field->node),
                .statement =
                    arena_printf(arena, "Images of %.*s are not allowed here.", TEXT_ARGS(family)),
                .allowed = ALLOWED_LIST(&settings->families),
                .fix = arena_printf(arena, "Use images of %.*s.",
                                    TEXT_ARGS(texts_or(families->items, families->count, arena))));
}

/* ---- values that are still to be filled in ---- */

/* What stands in braces in a script is the script's own, and a tag may be called anything. */
static void judge_placeholders(struct rail_call *call)
{
    struct arena *arena = call->arena;
    static const char *const but[] = {"userData", "tags", NULL};
    const struct field *found =
        field_placeholder(arena, field_get(arena, call->object->root, "spec"), but);
    if (found != NULL)
        report(call, SEVERITY_UNDECIDED, found,
               TEXT("Fill it in first, as envsubst or a chart does, and check the result."),
               "\"%.*s\" holds a placeholder. The class is judged without such values.",
               TEXT_ARGS(node_string(found->node)));
}

/* ---- the metadata service ---- */

static void judge_hop_limit(struct rail_call *call, const struct node_class *settings,
                            const struct field *options)
{
    struct arena *arena = call->arena;
    const struct field *field = field_get(arena, options, "httpPutResponseHopLimit");
    int64_t limit = object_is_v1beta1(call->object) ? 2 : 1;
    bool given = node_integer(field->node, &limit);
    if (!settings->max_hop_limit_given && given && limit > 1)
        report(call, SEVERITY_WARN, field,
               TEXT("Set it to 1, and give pods their rights by Pod Identity or IRSA."),
               "With httpPutResponseHopLimit: %lld pods reach the metadata service, which gives "
               "them the credentials of the node.",
               (long long)limit);
    if (!settings->max_hop_limit_given || limit <= settings->max_hop_limit)
        return;
    long long most = (long long)settings->max_hop_limit;
    report_found(call, SEVERITY_RAIL, field, given ? node_text(field->node) : TEXT(""),
                 arena_printf(arena,
                              "Set it to %lld, and give pods their rights by Pod Identity "
                              "or IRSA.",
                              most),
                 "The metadata service answers over %lld hops%s, above the maximum of %lld.",
                 (long long)limit, given ? "" : " by default", most);
}

static void judge_metadata_service(struct rail_call *call, const struct node_class *settings)
{
    struct arena *arena = call->arena;
    const struct field *options = field_at(arena, call->object->root, "spec.metadataOptions");
    const struct field *tokens = field_get(arena, options, "httpTokens");
    if (text_is(node_string(node_get(options->node, "httpEndpoint")), "disabled"))
        return;
    judge_hop_limit(call, settings, options);
    if (!settings->require_imdsv2 || !text_is(node_string(tokens->node), "optional"))
        return;
    report_with(call, .field = tokens, .found = node_string(tokens->node),
                .statement = TEXT("With httpTokens: optional IMDSv1 answers. Whoever makes a "
                                  "pod fetch an address gets the node's credentials."),
                .meant = TEXT("required"));
}

/* ---- tags ---- */

static void judge_tags(struct rail_call *call, const struct node_class *settings)
{
    struct arena *arena = call->arena;
    const char *list = node_class_tags_key(call->object->kind);
    const struct field *tags = field_get(arena, field_get(arena, call->object->root, "spec"), list);
    const int one = (int)strlen(list) - 1; /* "tag" of "tags" */
    for (size_t i = 0; i < settings->tags.count; i++) {
        struct text key = settings->tags.items[i];
        const struct field *tag = field_member(arena, tags, key);
        if (node_string(tag->node).size > 0)
            continue;
        report_found(call, SEVERITY_RAIL, tag, TEXT(""),
                     arena_printf(arena, "Add %.*s to spec.%s.", TEXT_ARGS(key), list),
                     "The %.*s %.*s is %s. Machines and volumes are made without it.", one, list,
                     TEXT_ARGS(key), tag->node == NULL ? "missing" : "empty");
    }
}

/* ---- pods to a node ---- */

/* What the visible NodePools of the class may launch. */
static struct type_set types_of_class(struct rail_call *call)
{
    const struct snapshot *snapshot = call->world->snapshot;
    const struct catalog *catalog = call->world->catalog;
    struct type_set types = type_set_create(catalog, call->arena);
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++) {
        const struct pool *pool = snapshot_pool(snapshot, i);
        if (text_is(pool->node_class_kind, "EC2NodeClass") &&
            text_equal(pool->node_class_name, call->object->name))
            type_set_add_all(&types, &pool_launchable(call, pool)->types);
    }
    return types;
}

/* How many pods the addresses of its network interfaces are enough for. */
static int64_t pods_of_type(const struct catalog *catalog, size_t index, struct arena *arena)
{
    struct catalog_amounts amounts = catalog_type_amounts(catalog, index, arena);
    for (size_t i = 0; i < amounts.count; i++)
        if (text_is(TEXT("pods"), amounts.items[i].resource))
            return amounts.items[i].capacity;
    return INT64_MAX;
}

static void judge_max_pods(struct rail_call *call)
{
    const struct catalog *catalog = call->world->catalog;
    struct arena *arena = call->arena;
    const struct field *field = field_at(arena, call->object->root, "spec.kubelet.maxPods");
    int64_t most = 0;
    if (!node_integer(field->node, &most) || !catalog_is_builtin(catalog))
        return;
    struct type_set types = types_of_class(call);
    struct type_set small = type_set_create(catalog, arena);
    FOR_TYPES(i, &types)
        if (pods_of_type(catalog, i, arena) < most)
            type_set_add(&small, i);
    size_t small_count = type_set_count(&small);
    size_t type_count = type_set_count(&types);
    if (small_count == 0)
        return;
    struct text which = type_count == 1 ? TEXT("the one instance type")
                                        : arena_printf(arena, "%zu of the %zu instance types",
                                                       small_count, type_count);
    report(call, SEVERITY_WARN, field,
           TEXT("Remove maxPods, which leaves each type what it has addresses for, or turn "
                "prefix delegation on."),
           "maxPods is %lld, and %s of its NodePools %s fewer addresses, unless the network "
           "plugin assigns prefixes: %.*s.",
           (long long)most, which.data, small_count == 1 ? "has" : "have",
           TEXT_ARGS(type_set_text(catalog, &small, arena)));
}

/* ---- fields that it does not have ---- */

/* Of AWSNodeTemplates, Provisioners and NodePools. */
static const struct moved_field moved[] = {
    {"kubeletConfiguration", "Write spec.kubelet."},
    {"subnetSelector", "Write spec.subnetSelectorTerms, a list."},
    {"securityGroupSelector", "Write spec.securityGroupSelectorTerms, a list."},
    {"amiSelector", "Write spec.amiSelectorTerms, a list."},
    {"requirements", "Move it to the NodePool, as spec.template.spec.requirements."},
    {"taints", "Move it to the NodePool, as spec.template.spec.taints."},
    {"limits", "Move it to the NodePool, as spec.limits."},
    {"size", "Write volumeSize, such as 100Gi."},
    {0},
};

static const struct crd_shape_words words = {SHAPE_DROPPED("An EC2NodeClass of v1"),
                                             .moved = moved};

/* spec.kubelet is open: the API server keeps all that is in it. */
static void judge_fields(struct rail_call *call)
{
    struct text version = TEXT("");
    text_split(call->object->api_version, '/', NULL, &version);
    if (text_is(version, "v1"))
        crd_shape_judge_names(call, &crd_shape_ec2_node_class_v1, call->object->root, &words);
}

static void judge(struct rail_call *call)
{
    const struct node_class *settings = call->settings;
    if (node_class_judge_cloud(call)) {
        judge_placeholders(call);
        judge_tags(call, settings);
        return;
    }
    judge_family(call, settings);
    node_class_judge_volumes(call, settings);
    judge_metadata_service(call, settings);
    node_class_judge_user_data(call);
    judge_placeholders(call);
    judge_tags(call, settings);
    judge_max_pods(call);
    node_class_judge_kubelet(call);
    judge_fields(call);
}

const struct rail rail_node_class = {
    .name = "node-class",
    .summary = "encrypted disks, IMDSv2, known images and tags",
    .detail =
        "An EC2NodeClass says what every node of its pools is made of. What is in a field that it "
        "does not have (blockDeviceMapping, metadataOptions.httpToken, kubeletConfiguration) the "
        "API server drops, and says so only to those who ask: the rail finds it, with the name "
        "that was meant. Of a name that means nothing to it the rail only warns, since a newer "
        "Karpenter may know it.\n\n"
        "Disks: Karpenter encrypts the volumes it lays out itself. As soon as "
        "blockDeviceMappings is there it lays out none: each volume is encrypted if it says so, "
        "and a device that the list leaves out, the root or on Bottlerocket /dev/xvdb, is as the "
        "image has it. Which is the root of images that no alias names the rail cannot see, unless "
        "the list has the usual one of amiFamily or an entry says rootVolume: true. On "
        "Bottlerocket the system lives on /dev/xvda, and images, logs and emptyDir on /dev/xvdb: a "
        "large xvda with no xvdb beside it is found, and an entry without ebs, on which "
        "Karpenter fails.\n\n"
        "Metadata service: httpTokens optional is IMDSv1. maxHopLimit, if given, holds for "
        "httpPutResponseHopLimit, which is 1 where it is left out (2 on v1beta1); if it is not "
        "given, a class that asks for more than 1 is warned of.\n\n"
        "It warns of Amazon Linux 2, which has come to its end, of user data that calls "
        "/etc/eks/bootstrap.sh where Karpenter does (AL2) or where it fails (AL2023). Of a "
        "placeholder such as ${CLUSTER} or <<ROLE>> it says once that it is there.\n\n"
        "kubelet.maxPods is held against the instance types that the visible NodePools of this "
        "class may launch; more pods than addresses is a warning, since prefix delegation is not "
        "visible. The API server takes any map as spec.kubelet, and Karpenter launches no node "
        "while it does not like what is in it: names that no kubelet has, eviction signals without "
        "their grace periods, reservations below zero are found here. Images of AL2, Bottlerocket "
        "and Windows take few settings, and any other is found. The rail warns of what only "
        "Karpenter 1.15 and later refuse: podsPerCore on Bottlerocket, a second clusterDNS, and "
        "expressions, for which the feature gate NodeClassCEL must be on.\n\n"
        "Of the node classes of other clouds (NodeClass of EKS Auto Mode, AKSNodeClass, "
        "GCENodeClass) it judges the fields, their types and values as the CRDs have them, and the "
        "tags of requireTags (of a GCENodeClass labels).",
    .example = "node-class:\n"
               "  mode: enforce\n"
               "  amiFamilies: [AL2023, Bottlerocket]\n"
               "  requireEncryption: true\n"
               "  requireImdsv2: true\n"
               "  maxHopLimit: 1\n"
               "  requireTags: [team, cost-center]\n",
    .kinds = KIND_BIT(KIND_EC2_NODE_CLASS) | KIND_BIT(KIND_AUTO_NODE_CLASS) |
             KIND_BIT(KIND_AKS_NODE_CLASS) | KIND_BIT(KIND_GCE_NODE_CLASS),
    .keys = keys,
    .settings_size = sizeof(struct node_class),
    .judge = judge,
};
