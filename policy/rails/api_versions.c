/* The rail api-versions: pool objects of APIs that Karpenter no longer serves. */
#include "kube/upgrade.h"
#include "policy/rails/node_rotation.h"

static const struct key keys[] = {{0}};

/* The whole new object on one line, if a message can hold it. */
static struct text fix_of(const struct upgrade *upgrade, struct arena *arena)
{
    enum { OBJECT_MOST = 3000 };
    struct text_builder fix = {.arena = arena};
    for (size_t i = 0; i < upgrade->object_count; i++)
        text_builder_printf(&fix, "%s%.*s", i == 0 ? "Write instead: " : " and ",
                            TEXT_ARGS(node_yaml_line(upgrade->objects[i], arena)));
    if (fix.size > OBJECT_MOST)
        fix = (struct text_builder){.arena = arena};
    if (fix.size == 0)
        text_builder_add(&fix, TEXT("Run taffrail convert -f FILE, which writes the new object"));
    for (size_t i = 0; i < upgrade->notes.count; i++)
        text_builder_printf(&fix, "%s%.*s", i == 0 ? ". By hand: " : "; ",
                            TEXT_ARGS(upgrade->notes.items[i]));
    text_builder_add(&fix, TEXT("."));
    return text_builder_text(&fix);
}

static void judge(struct rail_call *call)
{
    struct arena *arena = call->arena;
    const struct object *object = call->object;
    bool of_v1beta1 = object_is_v1beta1(object);
    struct upgrade upgrade;
    if (!upgrade_applies(object))
        return;
    upgrade_make(object, node_rotation_most(call), arena, &upgrade);
    struct text *allowed = ARENA_NEW(arena, struct text);
    *allowed = upgrade.wanted;
    report_with(
        call, .field = field_get(arena, object->root, "apiVersion"), .found = object->api_version,
        .statement = arena_printf(
            arena, "Karpenter %s and later have no %.*s of %.*s, so the API server refuses it.",
            of_v1beta1 ? "1.1" : "0.33", TEXT_ARGS(object->kind_name),
            TEXT_ARGS(object->api_version)),
        .allowed = ALLOWED_TEXTS(allowed, 1), .fix = fix_of(&upgrade, arena));
}

const struct rail rail_api_versions = {
    .name = "api-versions",
    .summary = "pools and node classes of Karpenter's present API",
    .detail =
        "Karpenter 1.1 and later serve NodePool and EC2NodeClass as v1 only. Provisioner and "
        "AWSNodeTemplate (v1alpha5, v1alpha1) and v1beta1 objects are found, and the fix is the "
        "whole v1 object to write instead, with what the old API filled in silently: linux, amd64, "
        "on-demand and the categories c, m, r of a Provisioner that did not choose; a pool that "
        "never expired; the metadata hop limit of 2. What has no counterpart, such as a kubelet "
        "configuration, which is the EC2NodeClass's now, is listed after it.\n\n"
        "taffrail convert -f FILE prints the same objects as files.",
    .example = "api-versions:\n"
               "  mode: enforce\n",
    .kinds = KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_PROVISIONER) | KIND_BIT(KIND_EC2_NODE_CLASS) |
             KIND_BIT(KIND_AWS_NODE_TEMPLATE),
    .keys = keys,
    .judge = judge,
};
