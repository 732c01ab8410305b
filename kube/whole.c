/* Whether an object of a file is one to judge: a whole one, that is still to be created. */
#include "kube/whole.h"

#include <ctype.h>
#include <string.h>

/* docs/reference/admission.md 7. Of older versions nothing is known here. */
static const struct required {
    enum kind kind;
    const char *version, *path;
} required[] = {
    {KIND_DEPLOYMENT, "apps/v1", "spec.selector"},
    {KIND_REPLICA_SET, "apps/v1", "spec.selector"},
    {KIND_STATEFUL_SET, "apps/v1", "spec.selector"},
    {KIND_DAEMON_SET, "apps/v1", "spec.selector"},
    {KIND_CRON_JOB, "batch/v1", "spec.schedule"},
    {KIND_NODE_POOL, "karpenter.sh/v1", "spec.template.spec.nodeClassRef"},
    {KIND_NODE_POOL, "karpenter.sh/v1", "spec.template.spec.requirements"},
    {KIND_NODE_POOL, "karpenter.sh/v1beta1", "spec.template.spec.nodeClassRef"},
    {KIND_NODE_POOL, "karpenter.sh/v1beta1", "spec.template.spec.requirements"},
    {KIND_EC2_NODE_CLASS, "karpenter.k8s.aws/v1", "spec.amiSelectorTerms"},
    {KIND_EC2_NODE_CLASS, "karpenter.k8s.aws/v1", "spec.securityGroupSelectorTerms"},
    {KIND_EC2_NODE_CLASS, "karpenter.k8s.aws/v1", "spec.subnetSelectorTerms"},
    {KIND_STORAGE_CLASS, "storage.k8s.io/v1", "provisioner"},
};

static bool is_given(const struct object *object, const char *path)
{
    return node_is_given(node_at(object->root->node, path));
}

/* A Provisioner's fields, or a NodePool's one level too high: not a part of one, but a mistake. */
static bool is_misplaced(const struct object *object)
{
    static const char *const names[] = {"spec.requirements", "spec.nodeClassRef",
                                        "spec.providerRef", "spec.taints", "spec.labels"};
    bool misplaced = false;
    for (size_t i = 0; object->kind == KIND_NODE_POOL && i < COUNT_OF(names); i++)
        misplaced |= is_given(object, names[i]);
    return misplaced;
}

/* The version that serves the kind's pod templates now. */
static bool is_current(const struct object *object)
{
    const char *group = kind_table[object->kind].group;
    struct text api_version = object->api_version;
    return text_equal(group_of(api_version), text_of(group)) &&
           (text_is(api_version, "v1") || text_ends_with(api_version, TEXT("/v1")));
}

/* "containers[0].image" of a list of containers; empty: none is missing. */
static struct text missing_of_containers(const struct field *list, struct arena *arena)
{
    FOR_FIELDS(container, arena, list) {
        static const char *const names[] = {"name", "image"};
        for (size_t i = 0; i < COUNT_OF(names); i++)
            if (!node_is_given(node_get(container->node, names[i])))
                return field_path(arena, field_get(arena, container, names[i]));
    }
    return TEXT("");
}

/* A Pod is nobody's patch: one without containers is judged, as far as there is something. */
static struct text missing_of_template(const struct object *object, struct arena *arena)
{
    const char *path = kind_table[object->kind].pod_template;
    if (path == NULL || !is_current(object))
        return TEXT("");
    const struct field *spec = field_get(
        arena, *path == '\0' ? object->root : field_at(arena, object->root, path), "spec");
    const struct field *containers = field_get(arena, spec, "containers");
    if (object->kind != KIND_POD && node_count(containers->node) == 0)
        return field_path(arena, containers);
    struct text missing = missing_of_containers(containers, arena);
    return missing.size > 0
               ? missing
               : missing_of_containers(field_get(arena, spec, "initContainers"), arena);
}

/* "base/patches/pdb.yaml", "pdb-patch.yaml", but not "dispatch.yaml". */
static bool has_word_patch(const char *path)
{
    static const char word[] = "patch";
    for (const char *at = path; (at = strstr(at, word)) != NULL; at++)
        if (at == path || !isalpha((unsigned char)at[-1]))
            return true;
    return false;
}

/* The API takes a budget without a selector, so that a part of one is told by its file's name
 * alone. */
static bool is_patch_of_budget(const struct object *object)
{
    const char *file = object->source == NULL ? NULL : object->source->file;
    return object->kind == KIND_POD_DISRUPTION_BUDGET && !is_given(object, "spec.selector") &&
           file != NULL && has_word_patch(file);
}

struct text object_missing_field(const struct object *object, struct arena *arena)
{
    if (object->kind == KIND_UNKNOWN)
        return TEXT("");
    for (size_t i = 0; i < COUNT_OF(required); i++)
        if (required[i].kind == object->kind && text_is(object->api_version, required[i].version) &&
            !is_given(object, required[i].path) && !is_misplaced(object))
            return text_of(required[i].path);
    if (is_patch_of_budget(object))
        return TEXT("spec.selector");
    return missing_of_template(object, arena);
}

bool object_is_stored_pod(const struct object *object)
{
    return object->kind == KIND_POD && (object->deleting || (is_given(object, "spec.nodeName") &&
                                                             is_given(object, "status.phase")));
}
