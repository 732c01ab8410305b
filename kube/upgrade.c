/* Converts Provisioners and v1beta1 NodePools to NodePools v1. */
#include "kube/upgrade.h"

#include <stdarg.h>

#include "kube/object.h"
#include "solver/well_known.h"

/* ---- writing ---- */

void members_put(struct members *members, struct arena *arena, const char *key,
                 const struct node *value)
{
    if (value != NULL)
        *LIST_PUSH(arena, members) = member_of(text_of(key), *value);
}

void members_put_text(struct members *members, struct arena *arena, const char *key,
                      struct text value)
{
    *LIST_PUSH(arena, members) = member_of(text_of(key), node_of_text(value));
}

void members_put_map(struct members *members, struct arena *arena, const char *key,
                     const struct members *map)
{
    if (map->count > 0)
        *LIST_PUSH(arena, members) =
            member_of(text_of(key), node_of_members(map->items, map->count));
}

void upgrade_note(struct upgrade *upgrade, struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *LIST_PUSH(arena, &upgrade->notes) = arena_vprintf(arena, format, args);
    va_end(args);
}

/* ---- what all objects have ---- */

/* Annotations of controllers and kubectl are left out: they write them again. */
static bool is_kept_annotation(struct text key)
{
    return !text_is(key, "kubectl.kubernetes.io/last-applied-configuration") &&
           !text_starts_with(key, TEXT("karpenter.")) &&
           !text_starts_with(key, TEXT("compatibility.karpenter.sh/"));
}

static void put_metadata(const struct object *object, struct arena *arena, struct members *root)
{
    const struct node *old = node_get(object->root->node, "metadata");
    const struct node *annotations = node_get(old, "annotations");
    struct members metadata = {0};
    struct members kept = {0};
    members_put(&metadata, arena, "name", node_get(old, "name"));
    members_put(&metadata, arena, "generateName", node_get(old, "generateName"));
    members_put(&metadata, arena, "labels", node_get(old, "labels"));
    for (size_t i = 0; node_is(annotations, NODE_MAP) && i < node_count(annotations); i++) {
        struct text key = {annotations->members[i].key, annotations->members[i].key_size};
        if (is_kept_annotation(key))
            *LIST_PUSH(arena, &kept) = member_of(key, annotations->members[i].value);
    }
    members_put_map(&metadata, arena, "annotations", &kept);
    members_put_map(root, arena, "metadata", &metadata);
}

static void finish(const struct object *object, struct arena *arena, const char *api_version,
                   const char *kind, const struct members *spec, struct upgrade *upgrade)
{
    struct members root = {0};
    members_put_text(&root, arena, "apiVersion", text_of(api_version));
    members_put_text(&root, arena, "kind", text_of(kind));
    put_metadata(object, arena, &root);
    members_put_map(&root, arena, "spec", spec);
    upgrade->objects[upgrade->object_count++] =
        node_keep(arena, node_of_members(root.items, root.count));
}

#define POOL_VERSION "karpenter.sh/v1"
#define CLASS_VERSION "karpenter.k8s.aws/v1"

static void put_class_ref(const struct node *reference, struct text name, struct arena *arena,
                          struct members *spec)
{
    struct text group = node_string(node_get(reference, "group"));
    struct text kind = node_string(node_get(reference, "kind"));
    struct members written = {0};
    if (group.size == 0)
        text_split(node_string(node_get(reference, "apiVersion")), '/', &group, NULL);
    if (group.size == 0)
        group = TEXT("karpenter.k8s.aws");
    if (kind.size == 0 || text_is(kind, "AWSNodeTemplate"))
        kind = TEXT("EC2NodeClass");
    members_put_text(&written, arena, "group", group);
    members_put_text(&written, arena, "kind", kind);
    members_put_text(&written, arena, "name", name);
    members_put_map(spec, arena, "nodeClassRef", &written);
}

static void note_kubelet(const struct node *kubelet, struct text class_name, struct arena *arena,
                         struct upgrade *upgrade)
{
    struct members kept = {0};
    for (size_t i = 0; node_is(kubelet, NODE_MAP) && i < node_count(kubelet); i++) {
        const struct member *member = &kubelet->members[i];
        /* A field of v1alpha5; containerd is its only value, and v1 has no such field. */
        if (!text_is((struct text){member->key, member->key_size}, "containerRuntime"))
            *LIST_PUSH(arena, &kept) = *member;
    }
    struct node written = node_of_members(kept.items, kept.count);
    if (kept.count > 0)
        upgrade_note(upgrade, arena, "in EC2NodeClass %.*s write spec.kubelet: %.*s",
                     TEXT_ARGS(class_name), TEXT_ARGS(node_yaml_line(&written, arena)));
}

/* ---- NodePool v1beta1 ---- */

static void put_disruption(const struct node *old, struct arena *arena, struct members *spec)
{
    struct members disruption = {0};
    struct text policy = node_string(node_get(old, "consolidationPolicy"));
    if (!node_is(old, NODE_MAP))
        return;
    if (policy.size == 0 || text_is(policy, "WhenUnderutilized"))
        policy = TEXT("WhenEmptyOrUnderutilized");
    members_put_text(&disruption, arena, "consolidationPolicy", policy);
    const struct node *after = node_get(old, "consolidateAfter");
    members_put_text(&disruption, arena, "consolidateAfter",
                     after == NULL ? TEXT("0s") : node_text(after));
    members_put(&disruption, arena, "budgets", node_get(old, "budgets"));
    members_put_map(spec, arena, "disruption", &disruption);
}

static void upgrade_pool(const struct object *object, struct arena *arena, struct upgrade *upgrade)
{
    static const char *const kept[] = {"taints", "startupTaints", "requirements"};
    const struct node *old = node_get(object->root->node, "spec");
    const struct node *old_template = node_at(old, "template.spec");
    struct text class_name = node_string(node_at(old_template, "nodeClassRef.name"));
    struct members spec = {0};
    struct members template = {0};
    struct members inside = {0};
    members_put(&template, arena, "metadata", node_at(old, "template.metadata"));
    for (size_t i = 0; i < COUNT_OF(kept); i++)
        members_put(&inside, arena, kept[i], node_get(old_template, kept[i]));
    if (node_get(old_template, "requirements") == NULL)
        members_put(&inside, arena, "requirements", node_keep(arena, node_of_items(NULL, 0)));
    put_class_ref(node_get(old_template, "nodeClassRef"), class_name, arena, &inside);
    members_put(&inside, arena, "expireAfter", node_at(old, "disruption.expireAfter"));
    members_put(&inside, arena, "terminationGracePeriod",
                node_get(old_template, "terminationGracePeriod"));
    members_put_map(&template, arena, "spec", &inside);
    members_put_map(&spec, arena, "template", &template);
    put_disruption(node_get(old, "disruption"), arena, &spec);
    members_put(&spec, arena, "limits", node_get(old, "limits"));
    members_put(&spec, arena, "weight", node_get(old, "weight"));
    note_kubelet(node_get(old_template, "kubelet"), class_name, arena, upgrade);
    if (node_get(old_template, "resources") != NULL)
        upgrade_note(upgrade, arena,
                     "spec.template.spec.resources is left out: v1 has no such "
                     "field");
    upgrade->wanted = TEXT(POOL_VERSION);
    finish(object, arena, POOL_VERSION, "NodePool", &spec, upgrade);
}

/* ---- Provisioner ---- */

static bool mentions(const struct node *spec, const char *key)
{
    const struct node *requirements = node_get(spec, "requirements");
    for (size_t i = 0; i < node_count(requirements); i++)
        if (text_is(node_string(node_get(node_item(requirements, i), "key")), key))
            return true;
    return node_get(node_get(spec, "labels"), key) != NULL;
}

struct nodes {
    struct node *items;
    size_t count, capacity;
};

static void add_requirement(struct nodes *list, struct arena *arena, const char *key,
                            const char *op, const struct text *values, size_t value_count)
{
    struct node *items = ARENA_ARRAY(arena, value_count, struct node);
    struct members requirement = {0};
    for (size_t i = 0; i < value_count; i++)
        items[i] = node_of_text(values[i]);
    members_put_text(&requirement, arena, "key", text_of(key));
    members_put_text(&requirement, arena, "operator", text_of(op));
    members_put(&requirement, arena, "values", node_keep(arena, node_of_items(items, value_count)));
    *LIST_PUSH(arena, list) = node_of_members(requirement.items, requirement.count);
}

/* The defaults that v1alpha5 added to a Provisioner. */
static void add_old_defaults(const struct node *spec, struct arena *arena, struct nodes *list)
{
    static const struct {
        const char *key;
        struct text value;
    } plain[] = {
        {LABEL_OS, TEXT("linux")},
        {LABEL_ARCH, TEXT("amd64")},
        {LABEL_CAPACITY_TYPE, TEXT("on-demand")},
    };
    static const char *const of_types[] = {
        LABEL_INSTANCE_TYPE,
        "karpenter.k8s.aws/instance-family",
        "karpenter.k8s.aws/instance-category",
        "karpenter.k8s.aws/instance-generation",
    };
    static const struct text categories[] = {TEXT("c"), TEXT("m"), TEXT("r")};
    static const struct text generation = TEXT("2");
    bool chooses_types = false;
    for (size_t i = 0; i < COUNT_OF(plain); i++)
        if (!mentions(spec, plain[i].key))
            add_requirement(list, arena, plain[i].key, "In", &plain[i].value, 1);
    for (size_t i = 0; i < COUNT_OF(of_types); i++)
        chooses_types = chooses_types || mentions(spec, of_types[i]);
    if (chooses_types)
        return;
    add_requirement(list, arena, of_types[2], "In", categories, COUNT_OF(categories));
    add_requirement(list, arena, of_types[3], "Gt", &generation, 1);
}

static const struct node *new_requirements(const struct node *spec, struct arena *arena,
                                           struct upgrade *upgrade)
{
    const struct node *old = node_get(spec, "requirements");
    struct nodes list = {0};
    for (size_t i = 0; node_is(old, NODE_LIST) && i < node_count(old); i++) {
        const struct node *item = node_item(old, i);
        if (text_is(node_string(node_get(item, "key")), "karpenter.sh/provisioner-name"))
            upgrade_note(upgrade, arena,
                         "the requirement on karpenter.sh/provisioner-name is left out: nodes are "
                         "labelled karpenter.sh/nodepool with the pool's name");
        else
            *LIST_PUSH(arena, &list) = *item;
    }
    add_old_defaults(spec, arena, &list);
    return node_keep(arena, node_of_items(list.items, list.count));
}

/* As a duration; whole hours as people write them. */
static struct text seconds_text(const struct node *seconds, struct arena *arena)
{
    enum { HOUR_S = 3600 };
    int64_t seconds_s = 0;
    if (text_to_int64(node_text(seconds), &seconds_s) && seconds_s > 0 && seconds_s % HOUR_S == 0)
        return arena_printf(arena, "%lldh", (long long)(seconds_s / HOUR_S));
    return arena_printf(arena, "%.*ss", TEXT_ARGS(node_text(seconds)));
}

static void put_old_disruption(const struct node *old, struct arena *arena, struct members *spec)
{
    struct members disruption = {0};
    const struct node *empty_s = node_get(old, "ttlSecondsAfterEmpty");
    bool consolidates = node_true(node_at(old, "consolidation.enabled"));
    struct text after = TEXT("Never");
    if (consolidates)
        after = TEXT("0s");
    else if (empty_s != NULL)
        after = seconds_text(empty_s, arena);
    members_put_text(&disruption, arena, "consolidationPolicy",
                     consolidates ? TEXT("WhenEmptyOrUnderutilized") : TEXT("WhenEmpty"));
    members_put_text(&disruption, arena, "consolidateAfter", after);
    members_put_map(spec, arena, "disruption", &disruption);
}

static void upgrade_provisioner(const struct object *object, struct arena *arena,
                                struct upgrade *upgrade)
{
    const struct node *old = node_get(object->root->node, "spec");
    const struct node *provider = node_get(old, "provider");
    const struct node *expires_s = node_get(old, "ttlSecondsUntilExpired");
    struct text class_name = node_string(node_at(old, "providerRef.name"));
    struct members spec = {0};
    struct members template = {0};
    struct members metadata = {0};
    struct members inside = {0};
    if (class_name.size == 0)
        class_name = object->name;
    members_put(&metadata, arena, "labels", node_get(old, "labels"));
    members_put(&metadata, arena, "annotations", node_get(old, "annotations"));
    members_put_map(&template, arena, "metadata", &metadata);
    members_put(&inside, arena, "taints", node_get(old, "taints"));
    members_put(&inside, arena, "startupTaints", node_get(old, "startupTaints"));
    members_put(&inside, arena, "requirements", new_requirements(old, arena, upgrade));
    put_class_ref(node_get(old, "providerRef"), class_name, arena, &inside);
    members_put_text(&inside, arena, "expireAfter",
                     expires_s == NULL ? TEXT("Never") : seconds_text(expires_s, arena));
    members_put_map(&template, arena, "spec", &inside);
    members_put_map(&spec, arena, "template", &template);
    put_old_disruption(old, arena, &spec);
    members_put(&spec, arena, "limits", node_at(old, "limits.resources"));
    members_put(&spec, arena, "weight", node_get(old, "weight"));
    note_kubelet(node_get(old, "kubeletConfiguration"), class_name, arena, upgrade);
    upgrade->wanted = TEXT("NodePool of " POOL_VERSION);
    finish(object, arena, POOL_VERSION, "NodePool", &spec, upgrade);
    if (node_is(provider, NODE_MAP)) {
        struct members of_class = {0};
        upgrade_node_class(provider, arena, upgrade, &of_class);
        finish(object, arena, CLASS_VERSION, "EC2NodeClass", &of_class, upgrade);
    }
}

/* ---- the whole object ---- */

static void upgrade_template(const struct object *object, struct arena *arena,
                             struct upgrade *upgrade)
{
    struct members spec = {0};
    upgrade_node_class(node_get(object->root->node, "spec"), arena, upgrade, &spec);
    upgrade->wanted = object->kind == KIND_EC2_NODE_CLASS ? TEXT(CLASS_VERSION)
                                                          : TEXT("EC2NodeClass of " CLASS_VERSION);
    finish(object, arena, CLASS_VERSION, "EC2NodeClass", &spec, upgrade);
}

bool upgrade_applies(const struct object *object)
{
    switch (object->kind) {
    case KIND_PROVISIONER:
    case KIND_AWS_NODE_TEMPLATE:
        return true;
    case KIND_NODE_POOL:
    case KIND_EC2_NODE_CLASS:
        return object_is_v1beta1(object);
    default:
        return false;
    }
}

void upgrade_make(const struct object *object, struct arena *arena, struct upgrade *upgrade)
{
    *upgrade = (struct upgrade){0};
    if (object->kind == KIND_NODE_POOL)
        upgrade_pool(object, arena, upgrade);
    else if (object->kind == KIND_PROVISIONER)
        upgrade_provisioner(object, arena, upgrade);
    else
        upgrade_template(object, arena, upgrade);
}
