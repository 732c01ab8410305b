/* What node-class says of the node classes of EKS Auto Mode, Azure and Google Cloud: the fields and
 * values of their CRDs. */
#include "policy/rails/crd_shape.h"
#include "policy/rails/node_class.h"

struct cloud_class {
    enum kind kind;
    const struct crd_shape *shape;
    struct crd_shape_words words;
    const char *tags; /* the field under spec that holds the tags of machines */
};

static const struct moved_field moved[] = {
    {"amiFamily", "Write imageFamily."},
    {"amiSelectorTerms", "Write imageSelectorTerms."},
    {"blockDeviceMappings", "Write disks, or the size of the OS disk."},
    {"requirements", "Move it to the NodePool, as spec.template.spec.requirements."},
    {"taints", "Move it to the NodePool, as spec.template.spec.taints."},
    {"limits", "Move it to the NodePool, as spec.limits."},
    {0},
};
/* Auto Mode chooses images itself, and reads no user data. */
static const struct moved_field moved_of_auto[] = {
    {"amiFamily", "Remove it: Auto Mode chooses the images."},
    {"amiSelectorTerms", "Remove it: Auto Mode chooses the images."},
    {"userData", "Remove it: Auto Mode runs none. A DaemonSet can set nodes up."},
    {"blockDeviceMappings", "Write ephemeralStorage.size."},
    {"metadataOptions", "Remove it: Auto Mode asks for IMDSv2 by itself."},
    {"kubelet", "Remove it: Auto Mode sets the kubelet up."},
    {"requirements", "Move it to the NodePool, as spec.template.spec.requirements."},
    {"taints", "Move it to the NodePool, as spec.template.spec.taints."},
    {"limits", "Move it to the NodePool, as spec.limits."},
    {0},
};

static const struct cloud_class classes[] = {
    {KIND_AUTO_NODE_CLASS,
     &crd_shape_auto_node_class,
     {SHAPE_DROPPED("A NodeClass of EKS Auto Mode"), .moved = moved_of_auto},
     "tags"},
    {KIND_AKS_NODE_CLASS,
     &crd_shape_aks_node_class,
     {SHAPE_DROPPED("An AKSNodeClass"), .moved = moved},
     "tags"},
    {KIND_GCE_NODE_CLASS,
     &crd_shape_gce_node_class,
     {SHAPE_DROPPED("A GCENodeClass"), .moved = moved},
     "labels"},
};

static const struct cloud_class *class_of(enum kind kind)
{
    for (size_t i = 0; i < COUNT_OF(classes); i++)
        if (classes[i].kind == kind)
            return &classes[i];
    return NULL;
}

const char *node_class_tags_key(enum kind kind)
{
    const struct cloud_class *class = class_of(kind);
    return class == NULL ? "tags" : class->tags;
}

/* ---- values ---- */

static const char *type_name(const struct crd_shape *shape)
{
    static const char *const names[] = {
        [SHAPE_STRING] = "a string",
        [SHAPE_BOOLEAN] = "true or false",
        [SHAPE_INTEGER] = "a whole number",
        [SHAPE_STRING_LIST] = "a list of strings",
        [SHAPE_STRING_MAP] = "a map of strings",
        [SHAPE_LIST] = "a list of maps",
        [SHAPE_MAP] = "a map",
    };
    return names[shape->type];
}

static void report_type(struct rail_call *call, const struct crd_shape *shape,
                        const struct field *field)
{
    report(call, SEVERITY_RAIL, field, arena_printf(call->arena, "Write %s.", type_name(shape)),
           "This is no value for %.*s, so the API server refuses the class.",
           TEXT_ARGS(shape->name));
}

/* A newer CRD may have more of them. */
static void report_choice(struct rail_call *call, const struct crd_shape *shape,
                          const struct field *field)
{
    struct text found = node_string(field->node);
    report_with(
        call, .field = field, .found = found,
        .statement = arena_printf(call->arena,
                                  "There is no %.*s \"%.*s\", so the API server refuses "
                                  "the class.",
                                  TEXT_ARGS(shape->name), TEXT_ARGS(found)),
        .allowed = ALLOWED_TEXTS(shape->choices, shape->choice_count), .nearest_to = found,
        .typo_edits = TYPO_EDITS,
        .fix = arena_printf(call->arena, "Use %.*s.",
                            TEXT_ARGS(texts_or(shape->choices, shape->choice_count, call->arena))));
}

static void judge_values(struct rail_call *call, const struct crd_shape *shape,
                         const struct field *map)
{
    for (size_t i = 0; i < shape->field_count; i++) {
        const struct crd_shape *of = &shape->fields[i];
        const struct field *field = field_member(call->arena, map, of->name);
        if (!node_is_given(field->node) || of->type == SHAPE_ANY)
            continue;
        if (!crd_shape_fits(of, field->node)) {
            report_type(call, of, field);
        } else if (of->choice_count > 0 && !crd_shape_has_choice(of, node_string(field->node))) {
            report_choice(call, of, field);
        } else if (of->type == SHAPE_LIST) {
            FOR_FIELDS(item, call->arena, field)
                judge_values(call, of, item);
        } else if (of->fields != NULL) {
            judge_values(call, of, field);
        }
    }
}

/* ---- what the CRDs demand beside types ---- */

struct bound {
    enum kind kind;
    const char *path;
    int64_t least, most;
};

static void judge_bounds(struct rail_call *call)
{
    static const struct bound bounds[] = {
        {KIND_AKS_NODE_CLASS, "spec.maxPods", 10, 250},
        {KIND_AKS_NODE_CLASS, "spec.osDiskSizeGB", 30, 2048},
    };
    for (size_t i = 0; i < COUNT_OF(bounds); i++) {
        const struct bound *bound = &bounds[i];
        int64_t value;
        if (bound->kind != call->object->kind)
            continue;
        const struct field *field = field_at(call->arena, call->object->root, bound->path);
        if (node_integer(field->node, &value) && (value < bound->least || value > bound->most))
            report(call, SEVERITY_RAIL, field,
                   arena_printf(call->arena, "Write %lld to %lld.", (long long)bound->least,
                                (long long)bound->most),
                   "It is out of bounds, so the API server refuses the class.");
    }
}

static void judge_azure(struct rail_call *call)
{
    const struct field *spec = field_get(call->arena, call->object->root, "spec");
    const struct field *swap = field_at(call->arena, spec, "linuxOSConfig.swapFileSize");
    const struct node *fails = node_at(spec->node, "kubelet.failSwapOn");
    struct text family = node_string(node_get(spec->node, "imageFamily"));
    bool starts = node_is(fails, NODE_BOOL) && !node_true(fails);
    if (node_is_given(swap->node) && !starts)
        report(call, SEVERITY_RAIL, swap, TEXT("Set kubelet.failSwapOn: false, too."),
               "With a swap file the kubelet does not start, so the API server refuses the class.");
    if (text_is(node_string(node_get(spec->node, "fipsMode")), "FIPS") &&
        TEXT_IS_ONE_OF(family, "Ubuntu2204", "Ubuntu2404"))
        report(call, SEVERITY_RAIL, field_get(call->arena, spec, "fipsMode"),
               TEXT("Use imageFamily AzureLinux."),
               "There are no FIPS images of this family, so the API server refuses the class.");
}

static void judge_google(struct rail_call *call)
{
    enum { DISK_GIB_LEAST = 10 };
    const struct field *spec = field_get(call->arena, call->object->root, "spec");
    const struct field *terms = field_get(call->arena, spec, "imageSelectorTerms");
    if (node_count(terms->node) == 0)
        report(call, SEVERITY_RAIL, terms, TEXT("Write [{alias: ContainerOptimizedOS@latest}]."),
               "It names no image, so the API server refuses the class.");
    FOR_FIELDS(disk, call->arena, field_get(call->arena, spec, "disks")) {
        const struct field *size = field_get(call->arena, disk, "sizeGiB");
        int64_t gib;
        if (node_integer(size->node, &gib) && gib < DISK_GIB_LEAST)
            report(call, SEVERITY_RAIL, size, TEXT("Write 10 at least."),
                   "There is no disk so small, so the API server refuses the class.");
    }
}

bool node_class_judge_cloud(struct rail_call *call)
{
    const struct cloud_class *class = class_of(call->object->kind);
    if (class == NULL)
        return false;
    crd_shape_judge_names(call, class->shape, call->object->root, &class->words);
    judge_values(call, crd_shape_field(class->shape, TEXT("spec")),
                 field_get(call->arena, call->object->root, "spec"));
    judge_bounds(call);
    if (call->object->kind == KIND_AKS_NODE_CLASS)
        judge_azure(call);
    if (call->object->kind == KIND_GCE_NODE_CLASS)
        judge_google(call);
    return true;
}
