/* Converts old pool objects: what all of them have. */
#include "kube/upgrade.h"

#include <stdarg.h>

#include "kube/object.h"

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
        struct text key = member_key(&annotations->members[i]);
        if (is_kept_annotation(key))
            *LIST_PUSH(arena, &kept) = member_of(key, annotations->members[i].value);
    }
    members_put_map(&metadata, arena, "annotations", &kept);
    members_put_map(root, arena, "metadata", &metadata);
}

void upgrade_add(const struct object *object, const char *api_version, const char *kind,
                 const struct members *spec, struct arena *arena, struct upgrade *upgrade)
{
    struct members root = {0};
    members_put_text(&root, arena, "apiVersion", text_of(api_version));
    members_put_text(&root, arena, "kind", text_of(kind));
    put_metadata(object, arena, &root);
    members_put_map(&root, arena, "spec", spec);
    upgrade->objects[upgrade->object_count++] =
        node_keep(arena, node_of_members(root.items, root.count));
}

/* ---- the whole object ---- */

static void upgrade_template(const struct object *object, struct arena *arena,
                             struct upgrade *upgrade)
{
    struct members spec = {0};
    upgrade_node_class(node_get(object->root->node, "spec"), arena, upgrade, &spec);
    upgrade->wanted = object->kind == KIND_EC2_NODE_CLASS ? TEXT(CLASS_VERSION)
                                                          : TEXT("EC2NodeClass of " CLASS_VERSION);
    upgrade_add(object, CLASS_VERSION, "EC2NodeClass", &spec, arena, upgrade);
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

void upgrade_make(const struct object *object, struct text most, struct arena *arena,
                  struct upgrade *upgrade)
{
    *upgrade = (struct upgrade){0};
    if (object->name.size == 0 &&
        !node_is_given(node_at(object->root->node, "metadata.generateName")))
        upgrade_note(upgrade, arena, "the object has no metadata.name: give it one");
    if (object->kind == KIND_NODE_POOL)
        upgrade_pool(object, most, arena, upgrade);
    else if (object->kind == KIND_PROVISIONER)
        upgrade_provisioner(object, most, arena, upgrade);
    else
        upgrade_template(object, arena, upgrade);
}
