/* Reads in which zones a claim's volume is, or may be. */
#include "kube/claim_binding.h"
#include "kube/object.h"
#include "kube/snapshot.h"
#include "kube/volume_zones.h"
#include "pinning/pin.h"

/* For the volumes that a claim may be bound to. No cluster has so many zones, and to read more
 * volumes takes too long for an admission. Beyond this the zone is unknown. */
enum { MOST_ZONES = 256, MOST_VOLUMES = 256 };

const char *pin_source_name(enum pin_source source)
{
    static const char *const names[] = {
        [PIN_FROM_SOLVER] = "solver",
        [PIN_FROM_STORAGE_CLASS] = "storage-class",
        [PIN_FROM_SELECTED_NODE] = "selected-node",
        [PIN_FROM_VOLUME] = "volume",
    };
    return names[source];
}

/* ---- claims that name their volume ---- */

static void read_volume(const struct snapshot *snapshot, const struct claim_binding *binding,
                        struct arena *arena, struct claim_zones *result)
{
    struct claim_zones read = {.source = PIN_FROM_VOLUME};
    read.hold = binding->state == BINDING_BOUND ? CLAIM_BOUND : CLAIM_RESERVED;
    enum volume_zones says = volume_zones_read(snapshot, binding->volume, arena, &read.zones);
    if (says == VOLUME_ANYWHERE)
        read = (struct claim_zones){.hold = CLAIM_ANYWHERE, .any_zone = true};
    if (says != VOLUME_UNKNOWN)
        *result = read;
}

/* ---- claims that do not ---- */

/* The union of the zones of volumes that the claim may be bound to. *found: there is such a
 * volume. */
static enum volume_zones add_free_volumes(const struct snapshot *snapshot,
                                          const struct claim_binding *binding, struct arena *arena,
                                          struct zones *zones, bool *found)
{
    struct text class_name = binding->class == NULL ? TEXT("") : binding->class->name;
    size_t long_ways = 0;
    for (size_t i = 0; i < snapshot_free_volume_count(snapshot); i++) {
        const struct object *volume = snapshot_free_volume(snapshot, i);
        const struct node *volume_spec = node_get(volume->root->node, "spec");
        if (!text_equal(node_string(node_get(volume_spec, "storageClassName")), class_name))
            continue;
        struct text zone;
        int64_t capacity_milli;
        bool in_one_zone = volume_is_in_one_zone(volume, &zone);
        if ((in_one_zone && zones_have(zones, zone)) || !volume_capacity(volume, &capacity_milli) ||
            !volume_suits(volume, capacity_milli, binding))
            continue;
        if (!in_one_zone && ++long_ways > MOST_VOLUMES)
            return VOLUME_UNKNOWN;
        enum volume_zones says = volume_zones_read(snapshot, volume, arena, zones);
        *found = *found || says != VOLUME_UNKNOWN;
        if (says == VOLUME_ANYWHERE || zones->count > MOST_ZONES)
            return says == VOLUME_ANYWHERE ? says : VOLUME_UNKNOWN;
    }
    return VOLUME_IN_ZONES;
}

/* Whether an object that cannot be read may decide: a volume for the claim, the default class, the
 * selected Node. */
static bool something_is_unreadable(const struct snapshot *snapshot,
                                    const struct claim_binding *binding)
{
    const struct node *annotations = node_at(binding->root, "metadata.annotations");
    struct text node = node_string(node_get(annotations, "volume.kubernetes.io/selected-node"));
    return !snapshot_reads_all(snapshot, KIND_PERSISTENT_VOLUME, TEXT("")) ||
           (!binding->claim.class_named &&
            !snapshot_reads_all(snapshot, KIND_STORAGE_CLASS, TEXT(""))) ||
           (node.size > 0 && snapshot_is_unreadable(snapshot, KIND_NODE, TEXT(""), node));
}

static void read_unbound(const struct snapshot *snapshot, const struct claim_binding *binding,
                         struct arena *arena, struct claim_zones *result)
{
    struct storage_class class = {0};
    struct solver_volume made = {0};
    bool wants_none = binding->state == BINDING_NO_CLASS;
    if (something_is_unreadable(snapshot, binding))
        return;
    if (!wants_none && (!terms_are_few(node_get(binding->class->root->node, "allowedTopologies"),
                                       "matchLabelExpressions") ||
                        !storage_class_read(binding->class, arena, &class)))
        return;
    bool can_be_made = !wants_none && !text_is(class.provisioner, "kubernetes.io/no-provisioner");
    struct zones zones = {0};
    bool found = false;
    enum volume_zones says = add_free_volumes(snapshot, binding, arena, &zones, &found);
    bool confined = says == VOLUME_IN_ZONES;
    if (says == VOLUME_UNKNOWN || (!can_be_made && !found))
        return;
    if (can_be_made) {
        class_terms_read(snapshot, &class, arena, &made);
        confined = volume_terms_add_zones(&made, arena, &zones) && confined;
    }
    bool everywhere =
        can_be_made && !found && made_volume_is_everywhere(&class, node_get(binding->root, "spec"));
    if ((everywhere || !can_be_made) && !confined) {
        *result = (struct claim_zones){.hold = CLAIM_ANYWHERE, .any_zone = true};
        return;
    }
    *result = (struct claim_zones){
        .hold = everywhere ? CLAIM_NARROWS : CLAIM_UNBOUND,
        .source = found ? PIN_FROM_VOLUME : PIN_FROM_STORAGE_CLASS,
        .any_zone = !confined,
        .zones = confined ? zones : (struct zones){0},
        .selected = everywhere ? TEXT("") : claim_selected_zone(snapshot, binding->root),
    };
    /* Without a provisioner nothing waits for the pod: the claim may be bound to any of the volumes
     * at any moment. */
    if (wants_none)
        result->hold = CLAIM_RESERVED;
}

/* ---- all claims ---- */

static void read_binding(const struct snapshot *snapshot, const struct claim_binding *binding,
                         struct arena *arena, struct claim_zones *result)
{
    if (binding->state == BINDING_NAMED || binding->state == BINDING_RESERVED ||
        binding->state == BINDING_BOUND)
        read_volume(snapshot, binding, arena, result);
    else if (binding->state == BINDING_NO_CLASS || binding->state == BINDING_WAITS)
        read_unbound(snapshot, binding, arena, result);
}

void claim_zones_read(const struct snapshot *snapshot, struct text namespace, struct text name,
                      const struct field *template, struct arena *arena, struct claim_zones *result)
{
    struct claim_binding binding;
    *result = (struct claim_zones){.hold = CLAIM_UNKNOWN, .any_zone = true};
    if (snapshot_is_unreadable(snapshot, KIND_PERSISTENT_VOLUME_CLAIM, namespace, name))
        return;
    claim_binding_read(snapshot, namespace, name, template, arena, &binding);
    read_binding(snapshot, &binding, arena, result);
}

void ephemeral_zones_read(const struct snapshot *snapshot, const struct field *template,
                          struct arena *arena, struct claim_zones *result)
{
    struct claim_binding binding;
    *result = (struct claim_zones){.hold = CLAIM_UNKNOWN, .any_zone = true};
    template_binding_read(snapshot, template, arena, &binding);
    read_binding(snapshot, &binding, arena, result);
    if (result->hold > CLAIM_UNKNOWN)
        result->hold = CLAIM_NARROWS;
    result->selected = TEXT("");
}

struct text claim_settled_zone(const struct snapshot *snapshot, const struct object *claim,
                               struct arena *arena)
{
    struct claim_binding binding;
    struct claim_zones zones = {.hold = CLAIM_UNKNOWN, .any_zone = true};
    if (claim->deleting)
        return TEXT("");
    if (node_string(node_at(claim->root->node, "spec.volumeName")).size == 0)
        return claim_selected_zone(snapshot, claim->root->node);
    claim_binding_of(snapshot, claim, arena, &binding);
    read_binding(snapshot, &binding, arena, &zones);
    return zones.zones.count == 1 ? zones.zones.items[0] : TEXT("");
}
