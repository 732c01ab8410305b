/* The volumes of the nodes: whether they are encrypted, and on Bottlerocket where the space is. */
#include "kube/quantity.h"
#include "policy/rails/node_class.h"

#define BOTTLEROCKET_DATA "/dev/xvdb"
#define BOTTLEROCKET_ROOT_SIZE "6Gi"
#define USUAL_SIZE "20Gi"

/* The volumes that Karpenter lays out for a family: docs/reference/karpenter.md 5.7. A root cannot
 * be smaller than the image's snapshot of it. */
struct layout {
    const char *family, *root, *root_size;
    const char *data; /* where what pods leave is; NULL: on the root */
};
static const struct layout layouts[] = {
    {"AL2", "/dev/xvda", USUAL_SIZE, NULL},
    {"AL2023", "/dev/xvda", USUAL_SIZE, NULL},
    {"Bottlerocket", "/dev/xvda", BOTTLEROCKET_ROOT_SIZE, BOTTLEROCKET_DATA},
    {"Ubuntu", "/dev/sda1", USUAL_SIZE, NULL},
    {"Windows2019", "/dev/sda1", "50Gi", NULL},
    {"Windows2022", "/dev/sda1", "50Gi", NULL},
    {"Windows2025", "/dev/sda1", "50Gi", NULL},
};

struct volumes {
    struct rail_call *call;
    const struct field *list;
    bool is_custom;       /* Karpenter lays out none */
    bool own_images;      /* no alias names them: they may be laid out in another way */
    struct layout layout; /* of the images, or else of amiFamily; all NULL: not known */
    /* The first entries of two devices; NULL: there is none. */
    const struct field *of_root, *of_data;
    bool names_root; /* an entry says that it is the root's */
};

static struct layout layout_of_family(struct text family)
{
    for (size_t i = 0; i < COUNT_OF(layouts); i++)
        if (text_is(family, layouts[i].family))
            return layouts[i];
    return (struct layout){0};
}

static bool is_of(const struct node *mapping, const char *device)
{
    return device != NULL && text_is(node_string(node_get(mapping, "deviceName")), device);
}

/* There may be a million entries: they are gone through once. */
static void find_mappings(struct volumes *volumes)
{
    struct arena *arena = volumes->call->arena;
    for (size_t i = 0, count = node_count(volumes->list->node); i < count; i++) {
        const struct node *mapping = node_item(volumes->list->node, i);
        if (node_count(mapping) == 0)
            continue;
        if (volumes->of_root == NULL && is_of(mapping, volumes->layout.root))
            volumes->of_root = field_item(arena, volumes->list, i);
        if (volumes->of_data == NULL && is_of(mapping, volumes->layout.data))
            volumes->of_data = field_item(arena, volumes->list, i);
        volumes->names_root |= node_true(node_get(mapping, "rootVolume"));
    }
}

/* ---- entries without a volume ---- */

/* Karpenter reads what is under ebs of every entry; the CRD lets it be missing. */
static void judge_volume(const struct volumes *volumes, size_t index)
{
    struct rail_call *call = volumes->call;
    struct arena *arena = call->arena;
    const struct node *mapping = node_item(volumes->list->node, index);
    if (!node_is(mapping, NODE_MAP) || node_is_given(node_get(mapping, "ebs")))
        return;
    bool is_root = is_of(mapping, volumes->layout.root);
    report(call, SEVERITY_RAIL, field_get(arena, field_item(arena, volumes->list, index), "ebs"),
           arena_printf(arena, "Add ebs: {encrypted: true, volumeSize: %s, volumeType: gp3}.",
                        is_root ? volumes->layout.root_size : USUAL_SIZE),
           "The entry has no ebs. Karpenter fails on it, and launches no node of the class.");
}

/* ---- Bottlerocket ---- */

/* Its system volume is a few gigabytes; a large one was meant for data. */
static bool is_large(const struct node *mapping)
{
    enum { SYSTEM_GIB = 8 };
    int64_t milli = 0;
    struct text size = node_text(node_at(mapping, "ebs.volumeSize"));
    return quantity_milli(size, &milli) && milli / 1000 > ((int64_t)SYSTEM_GIB << 30);
}

static bool has_data_on_root(const struct volumes *volumes)
{
    return volumes->layout.data != NULL && volumes->of_data == NULL && volumes->of_root != NULL &&
           is_large(volumes->of_root->node);
}

static void judge_bottlerocket(const struct volumes *volumes)
{
    if (has_data_on_root(volumes))
        report(volumes->call, SEVERITY_RAIL,
               field_get(volumes->call->arena, volumes->of_root, "deviceName"),
               TEXT("Add an entry for " BOTTLEROCKET_DATA
                    " with this size, and leave " BOTTLEROCKET_ROOT_SIZE " to /dev/xvda."),
               "On Bottlerocket /dev/xvda holds the system alone. Images, logs and emptyDir live "
               "on " BOTTLEROCKET_DATA ", which stays as small as the image has it.");
}

/* ---- encryption ---- */

static void judge_mapping(struct rail_call *call, const struct field *list, size_t index)
{
    struct arena *arena = call->arena;
    const struct node *mapping = node_item(list->node, index);
    const struct node *ebs = node_get(mapping, "ebs");
    const struct node *encrypted = node_get(ebs, "encrypted");
    struct text device = node_string(node_get(mapping, "deviceName"));
    if (!node_is(ebs, NODE_MAP) || node_true(encrypted))
        return;
    report(call, SEVERITY_RAIL, field_at(arena, field_item(arena, list, index), "ebs.encrypted"),
           TEXT("Set encrypted: true."),
           node_is_given(encrypted)
               ? "The volume %.*s is not encrypted."
               : "The volume %.*s is encrypted only where the account encrypts all of them.",
           TEXT_ARGS(device));
}

static void judge_device(const struct volumes *volumes, const char *what, const char *device,
                         const char *size)
{
    struct text fix = arena_printf(volumes->call->arena,
                                   "Add {deviceName: %s, ebs: {encrypted: true, volumeSize: %s, "
                                   "volumeType: gp3}}.",
                                   device, size);
    if (volumes->own_images)
        report(volumes->call, SEVERITY_UNDECIDED, volumes->list, fix,
               "No entry is for the %s device %s. Whether images of your own have it encrypted "
               "cannot be seen.",
               what, device);
    else
        report(volumes->call, SEVERITY_RAIL, volumes->list, fix,
               "No entry is for the %s device %s. It is as the image has it, not encrypted.", what,
               device);
}

/* A list takes the place of all that Karpenter lays out. rootVolume changes no device: it only
 * says which is the root of images that are not known. */
static void judge_devices(const struct volumes *volumes)
{
    const struct layout *layout = &volumes->layout;
    if (volumes->own_images && layout->data == NULL) {
        if (volumes->of_root == NULL && !volumes->names_root &&
            (layout->root != NULL || volumes->is_custom))
            report(volumes->call, SEVERITY_UNDECIDED, volumes->list,
                   TEXT("List their root device with rootVolume: true and ebs.encrypted: true."),
                   "The root device of images of your own cannot be seen, and no entry says that "
                   "it is theirs.");
        return;
    }
    if (layout->root != NULL && volumes->of_root == NULL)
        judge_device(volumes, "root", layout->root, layout->root_size);
    if (layout->data != NULL && volumes->of_data == NULL && !has_data_on_root(volumes))
        judge_device(volumes, "data", layout->data, USUAL_SIZE);
}

static void judge_layout(const struct volumes *volumes)
{
    if (node_count(volumes->list->node) > 0)
        judge_devices(volumes);
    else if (volumes->is_custom)
        report(volumes->call, SEVERITY_UNDECIDED, volumes->list,
               TEXT("List its root device with rootVolume: true and ebs.encrypted: true."),
               "With a Custom image the volumes are as the image has them, which cannot be seen.");
}

void node_class_judge_volumes(struct rail_call *call, const struct node_class *settings)
{
    struct arena *arena = call->arena;
    struct volumes volumes = {
        .call = call,
        .list = field_at(arena, call->object->root, "spec.blockDeviceMappings"),
    };
    struct text family, alias;
    node_class_family(call->object, arena, &family);
    node_class_alias(call->object, arena, &alias);
    volumes.is_custom = text_is(family, "Custom");
    volumes.layout = layout_of_family(alias.size > 0 ? alias : family);
    volumes.own_images =
        alias.size == 0 && (volumes.is_custom || node_count(node_at(call->object->root->node,
                                                                    "spec.amiSelectorTerms")) > 0);
    if (volumes.list->node != NULL && !node_is(volumes.list->node, NODE_LIST))
        return;
    find_mappings(&volumes);
    for (size_t i = 0, count = node_count(volumes.list->node); i < count; i++)
        judge_volume(&volumes, i);
    judge_bottlerocket(&volumes);
    if (!settings->require_encryption)
        return;
    judge_layout(&volumes);
    for (size_t i = 0, count = node_count(volumes.list->node); i < count; i++)
        judge_mapping(call, volumes.list, i);
}
