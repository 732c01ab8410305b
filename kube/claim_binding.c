/* The one reader of what binds claims and volumes: volumeName, claimRef, the binder's annotation,
 * the phase and the class. */
#include "kube/claim_binding.h"

#include "kube/object.h"
#include "kube/quantity.h"
#include "kube/selector.h"
#include "kube/snapshot.h"

/* ---- the claim that a volume belongs to ---- */

/* docs/reference/karpenter.md 4.5. */
static bool is_of_another(const struct object *volume, const struct claim_binding *binding)
{
    const struct node *reference = node_at(volume->root->node, "spec.claimRef");
    return node_is(reference, NODE_MAP) &&
           (!text_equal(node_string(node_get(reference, "namespace")), binding->namespace) ||
            !text_equal(node_string(node_get(reference, "name")), binding->name) ||
            !uids_agree(node_string(node_get(reference, "uid")), binding->uid));
}

/* ---- which volumes a claim may get ---- */

static bool list_has(const struct node *list, struct text wanted)
{
    FOR_ITEMS(item, list)
        if (text_equal(node_string(item), wanted))
            return true;
    return false;
}

static struct text volume_mode(const struct node *spec)
{
    struct text mode = node_string(node_get(spec, "volumeMode"));
    return mode.size > 0 ? mode : TEXT("Filesystem");
}

bool volume_capacity(const struct object *volume, int64_t *milli)
{
    const struct node *capacity = node_at(volume->root->node, "spec.capacity.storage");
    return capacity != NULL && quantity_milli(node_text(capacity), milli);
}

static struct text attributes_class(const struct node *spec)
{
    return node_string(node_get(spec, "volumeAttributesClassName"));
}

/* What the binder asks of every volume, also of one that names the claim. */
static bool has_what_it_wants(const struct object *volume, int64_t capacity_milli,
                              const struct claim_binding *binding)
{
    const struct node *spec = node_get(binding->root, "spec");
    const struct node *volume_spec = node_get(volume->root->node, "spec");
    const struct node *modes = node_get(spec, "accessModes");
    const struct node *storage = node_at(spec, "resources.requests.storage");
    int64_t wanted_milli = 0;
    if (is_of_another(volume, binding) ||
        !text_equal(volume_mode(volume_spec), volume_mode(spec)) ||
        !text_equal(attributes_class(volume_spec), attributes_class(spec)))
        return false;
    if (storage != NULL &&
        (!quantity_milli(node_text(storage), &wanted_milli) || capacity_milli < wanted_milli))
        return false;
    FOR_ITEMS(item, modes)
        if (!list_has(node_get(volume_spec, "accessModes"), node_string(item)))
            return false;
    return true;
}

bool volume_suits(const struct object *volume, int64_t capacity_milli,
                  const struct claim_binding *binding)
{
    const struct node *selector = node_at(binding->root, "spec.selector");
    struct text class_name = binding->class == NULL ? TEXT("") : binding->class->name;
    return text_equal(node_string(node_at(volume->root->node, "spec.storageClassName")),
                      class_name) &&
           has_what_it_wants(volume, capacity_milli, binding) &&
           (!node_is(selector, NODE_MAP) || selector_matches(selector, volume->labels));
}

/* docs/reference/karpenter.md 4.5. The class and the labels of such a volume do not count. */
static const struct object *volume_reserved_for(const struct snapshot *snapshot,
                                                const struct claim_binding *binding)
{
    for (size_t i = 0; i < snapshot_reserved_volume_count(snapshot); i++) {
        const struct object *volume = snapshot_reserved_volume(snapshot, i);
        int64_t capacity_milli = 0;
        if (!is_of_another(volume, binding) && volume_capacity(volume, &capacity_milli) &&
            has_what_it_wants(volume, capacity_milli, binding))
            return volume;
    }
    return NULL;
}

/* ---- a claim with a volume name, and one without ---- */

static enum claim_binding_state state_with_volume(const struct claim_binding *binding)
{
    if (binding->volume == NULL)
        return BINDING_VOLUME_NOT_SEEN;
    if (binding->volume->deleting)
        return BINDING_VOLUME_DELETING;
    if (is_of_another(binding->volume, binding))
        return BINDING_VOLUME_OF_ANOTHER;
    const struct node *annotations = node_at(binding->root, "metadata.annotations");
    return node_get(annotations, "pv.kubernetes.io/bind-completed") == NULL ? BINDING_NAMED
                                                                            : BINDING_BOUND;
}

static void read_unbound(const struct snapshot *snapshot, const struct field *root,
                         struct arena *arena, struct claim_binding *binding)
{
    binding->root = root->node;
    claim_read(root, arena, &binding->claim);
    binding->volume = volume_reserved_for(snapshot, binding);
    if (binding->volume != NULL) {
        binding->state = BINDING_RESERVED;
        return;
    }
    if (binding->claim.class_named && binding->claim.class_name.size == 0) {
        binding->state = BINDING_NO_CLASS;
        return;
    }
    binding->class = claim_class(snapshot, &binding->claim);
    if (binding->class == NULL)
        binding->state = BINDING_CLASS_NOT_SEEN;
    else
        binding->state = storage_class_waits(binding->class) ? BINDING_WAITS : BINDING_IMMEDIATE;
}

void claim_binding_of(const struct snapshot *snapshot, const struct object *claim,
                      struct arena *arena, struct claim_binding *binding)
{
    const struct node *root = claim->root->node;
    *binding = (struct claim_binding){
        .namespace = claim->namespace,
        .name = claim->name,
        .root = root,
        .uid = claim->uid,
        .volume_name = node_string(node_at(root, "spec.volumeName")),
    };
    if (claim->deleting) {
        binding->state = BINDING_CLAIM_DELETING;
    } else if (text_is(node_string(node_at(root, "status.phase")), "Lost")) {
        binding->state = BINDING_CLAIM_LOST;
    } else if (binding->volume_name.size > 0) {
        binding->volume =
            snapshot_find(snapshot, KIND_PERSISTENT_VOLUME, TEXT(""), binding->volume_name);
        binding->state = state_with_volume(binding);
    } else {
        read_unbound(snapshot, claim->root, arena, binding);
    }
}

void claim_binding_read(const struct snapshot *snapshot, struct text namespace, struct text name,
                        const struct field *template, struct arena *arena,
                        struct claim_binding *binding)
{
    const struct object *claim =
        snapshot_find(snapshot, KIND_PERSISTENT_VOLUME_CLAIM, namespace, name);
    *binding = (struct claim_binding){
        .state = BINDING_CLAIM_NOT_SEEN, .namespace = namespace, .name = name};
    if (claim != NULL)
        claim_binding_of(snapshot, claim, arena, binding);
    else if (template != NULL)
        read_unbound(snapshot, template, arena, binding);
}

void template_binding_read(const struct snapshot *snapshot, const struct field *template,
                           struct arena *arena, struct claim_binding *binding)
{
    *binding = (struct claim_binding){0};
    read_unbound(snapshot, template, arena, binding);
}
