/* What each claim says about zones. */
#include <string.h>

#include "kube/object.h"
#include "kube/quantity.h"
#include "kube/snapshot.h"
#include "kube/volume.h"
#include "kube/volume_zones.h"
#include "pinning/pin.h"
#include "simulation/claims.h"
#include "solver/well_known.h"

/* Of the volumes that a claim may get: no cluster has so many zones, and to read the affinity of
 * more would keep an admission waiting. Where there are more, the zone is unknown. */
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

/* ---- zones of places ---- */

/* False when the place says none by the operator In. */
static bool add_place(const struct solver_expressions *place, struct arena *arena,
                      struct zones *zones)
{
    struct zones of_place = {0};
    bool named = false;
    for (size_t i = 0; i < place->count; i++) {
        const struct solver_expression *expression = &place->items[i];
        if (strcmp(expression->key, LABEL_ZONE) != 0 || expression->op != SOLVER_IN)
            continue;
        struct zones values = {0};
        for (size_t j = 0; j < expression->value_count; j++)
            zones_add(&values, text_of(expression->values[j]), arena);
        of_place = named ? zones_intersect(&of_place, &values, arena) : values;
        named = true;
    }
    for (size_t i = 0; i < of_place.count; i++)
        zones_add(zones, of_place.items[i], arena);
    return named;
}

/* Places are alternatives; false when there is one that can be in any zone. */
static bool add_places(const struct solver_volume *places, struct arena *arena, struct zones *zones)
{
    for (size_t i = 0; i < places->alternative_count; i++)
        if (!add_place(&places->alternatives[i], arena, zones))
            return false;
    return places->alternative_count > 0;
}

static bool is_same_zone(struct text value, struct text *zone)
{
    if (zone->size == 0)
        *zone = value;
    return value.size > 0 && text_equal(value, *zone);
}

/* Nearly all volumes are in one zone, which one term says: that is read without memory, since a set
 * or a class may have thousands of them. False: another way has to be taken. */
static bool is_in_one_zone(const struct object *volume, struct text *zone)
{
    static const char *const labels[] = {LABEL_ZONE, "failure-domain.beta.kubernetes.io/zone"};
    const struct node *terms =
        node_at(volume->root->node, "spec.nodeAffinity.required.nodeSelectorTerms");
    *zone = TEXT("");
    if (!node_is(terms, NODE_LIST) || node_count(terms) != 1)
        return false;
    const struct node *list = node_get(node_item(terms, 0), "matchExpressions");
    for (size_t i = 0; node_is(list, NODE_LIST) && i < node_count(list); i++) {
        const struct node *values = node_get(node_item(list, i), "values");
        struct text key = node_string(node_get(node_item(list, i), "key"));
        enum zone_key means = zone_key_of(key);
        if (key.size == 0 || means == ZONE_KEY_ID ||
            !text_is(node_string(node_get(node_item(list, i), "operator")), "In") ||
            !node_is(values, NODE_LIST) || node_count(values) != 1 ||
            !node_is(node_item(values, 0), NODE_STRING) ||
            (means == ZONE_KEY_NAME && !is_same_zone(node_string(node_item(values, 0)), zone)))
            return false;
    }
    for (size_t i = 0; zone->size > 0 && i < COUNT_OF(labels); i++) {
        struct text label = node_string(node_get(volume->labels, labels[i]));
        if (label.size > 0 && !text_equal(label, *zone))
            return false;
    }
    return zone->size > 0;
}

/* What a volume says. */
enum volume_zones { VOLUME_UNKNOWN, VOLUME_IN_ZONES, VOLUME_ANYWHERE };
static enum volume_zones add_volume(const struct snapshot *snapshot, const struct object *volume,
                                    struct arena *arena, struct zones *zones)
{
    struct text zone;
    struct solver_volume places;
    if (is_in_one_zone(volume, &zone)) {
        if (zones->capacity == 0)
            *zones = (struct zones){.items = ARENA_NEW(arena, struct text), .capacity = 1};
        zones_add(zones, zone, arena);
        return VOLUME_IN_ZONES;
    }
    if (!volume_places_read(snapshot, volume, arena, &places))
        return VOLUME_UNKNOWN;
    return add_places(&places, arena, zones) ? VOLUME_IN_ZONES : VOLUME_ANYWHERE;
}

/* ---- claims that name their volume ---- */

static bool belongs_to(const struct object *volume, const struct object *claim)
{
    const struct node *reference = node_at(volume->root->node, "spec.claimRef");
    if (!node_is(reference, NODE_MAP))
        return true;
    struct text uid = node_string(node_get(reference, "uid"));
    return text_equal(node_string(node_get(reference, "namespace")), claim->namespace) &&
           text_equal(node_string(node_get(reference, "name")), claim->name) &&
           uids_agree(uid, claim->uid);
}

static void read_volume(const struct snapshot *snapshot, const struct object *claim,
                        struct text volume_name, struct arena *arena, struct claim_zones *result)
{
    const struct object *volume =
        snapshot_find(snapshot, KIND_PERSISTENT_VOLUME, TEXT(""), volume_name);
    const struct node *annotations = node_at(claim->root->node, "metadata.annotations");
    if (volume == NULL || volume->deleting || !belongs_to(volume, claim))
        return;
    bool bound = node_get(annotations, "pv.kubernetes.io/bind-completed") != NULL;
    struct claim_zones read = {.hold = bound ? CLAIM_BOUND : CLAIM_RESERVED,
                               .source = PIN_FROM_VOLUME};
    enum volume_zones says = add_volume(snapshot, volume, arena, &read.zones);
    if (says == VOLUME_ANYWHERE)
        read = (struct claim_zones){.hold = CLAIM_ANYWHERE, .any_zone = true};
    if (says != VOLUME_UNKNOWN)
        *result = read;
}

/* ---- claims that do not ---- */

/* The union of where the volumes are that it may be bound to; *found: there are some. */
static enum volume_zones add_free_volumes(const struct snapshot *snapshot, struct text namespace,
                                          struct text name, const struct node *spec,
                                          struct text class_name, struct arena *arena,
                                          struct zones *zones, bool *found)
{
    size_t long_ways = 0;
    for (size_t i = 0; i < snapshot_free_volume_count(snapshot); i++) {
        const struct object *volume = snapshot_free_volume(snapshot, i);
        const struct node *volume_spec = node_get(volume->root->node, "spec");
        struct volume_choice choice = {.volume = volume};
        if (!text_equal(node_string(node_get(volume_spec, "storageClassName")), class_name))
            continue;
        struct text zone;
        bool in_one_zone = is_in_one_zone(volume, &zone);
        const struct node *capacity = node_at(volume_spec, "capacity.storage");
        if ((in_one_zone && zones_have(zones, zone)) || capacity == NULL ||
            !quantity_milli(node_text(capacity), &choice.capacity_milli) ||
            !volume_suits(&choice, namespace, name, spec, class_name))
            continue;
        if (!in_one_zone && ++long_ways > MOST_VOLUMES)
            return VOLUME_UNKNOWN;
        enum volume_zones says = add_volume(snapshot, volume, arena, zones);
        *found = *found || says != VOLUME_UNKNOWN;
        if (says == VOLUME_ANYWHERE || zones->count > MOST_ZONES)
            return says == VOLUME_ANYWHERE ? says : VOLUME_UNKNOWN;
    }
    return VOLUME_IN_ZONES;
}

/* One that is there and cannot be read may be what decides: a volume that the claim gets, the class
 * that is the default, the Node that is selected. */
static bool something_is_unreadable(const struct snapshot *snapshot, const struct claim *claim,
                                    const struct node *root)
{
    const struct node *annotations = node_at(root, "metadata.annotations");
    struct text node = node_string(node_get(annotations, "volume.kubernetes.io/selected-node"));
    return !snapshot_reads_all(snapshot, KIND_PERSISTENT_VOLUME, TEXT("")) ||
           (!claim->class_named && !snapshot_reads_all(snapshot, KIND_STORAGE_CLASS, TEXT(""))) ||
           (node.size > 0 && snapshot_is_unreadable(snapshot, KIND_NODE, TEXT(""), node));
}

static void read_unbound(const struct snapshot *snapshot, struct text namespace, struct text name,
                         const struct field *root, struct arena *arena, struct claim_zones *result)
{
    struct claim claim;
    struct storage_class class = {0};
    struct solver_volume made = {0};
    claim_read(root, arena, &claim);
    if (something_is_unreadable(snapshot, &claim, root->node))
        return;
    bool wants_none = claim.class_named && claim.class_name.size == 0;
    const struct object *object = wants_none ? NULL : claim_class(snapshot, &claim);
    if (!wants_none && (object == NULL ||
                        !places_are_few(node_get(object->root->node, "allowedTopologies"),
                                        "matchLabelExpressions") ||
                        !storage_class_read(object, arena, &class) || !class.waits))
        return;
    const struct node *spec = node_get(root->node, "spec");
    bool can_be_made = !wants_none && !text_is(class.provisioner, "kubernetes.io/no-provisioner");
    struct zones zones = {0};
    bool found = false;
    enum volume_zones says =
        add_free_volumes(snapshot, namespace, name, spec, wants_none ? TEXT("") : object->name,
                         arena, &zones, &found);
    bool confined = says == VOLUME_IN_ZONES;
    if (says == VOLUME_UNKNOWN || (!can_be_made && !found))
        return;
    if (can_be_made) {
        class_places_read(snapshot, &class, arena, &made);
        confined = add_places(&made, arena, &zones) && confined;
    }
    bool everywhere = can_be_made && !found &&
                      (claim_is_of_many_nodes(spec) || storage_class_is_zone_redundant(&class));
    if ((everywhere || !can_be_made) && !confined) {
        *result = (struct claim_zones){.hold = CLAIM_ANYWHERE, .any_zone = true};
        return;
    }
    *result = (struct claim_zones){
        .hold = everywhere ? CLAIM_NARROWS : CLAIM_UNBOUND,
        .source = found ? PIN_FROM_VOLUME : PIN_FROM_STORAGE_CLASS,
        .any_zone = !confined,
        .zones = confined ? zones : (struct zones){0},
        .selected = everywhere ? TEXT("") : claim_selected_zone(snapshot, root->node),
    };
    /* Who makes no volume does not wait for the pod either: the claim may be bound to any of them
     * at any moment. */
    if (wants_none)
        result->hold = CLAIM_RESERVED;
}

/* ---- all claims ---- */

void claim_zones_read(const struct snapshot *snapshot, struct text namespace, struct text name,
                      const struct field *template, struct arena *arena, struct claim_zones *result)
{
    const struct object *claim =
        snapshot_find(snapshot, KIND_PERSISTENT_VOLUME_CLAIM, namespace, name);
    *result = (struct claim_zones){.hold = CLAIM_UNKNOWN, .any_zone = true};
    if (claim == NULL) {
        if (template != NULL &&
            !snapshot_is_unreadable(snapshot, KIND_PERSISTENT_VOLUME_CLAIM, namespace, name))
            read_unbound(snapshot, namespace, name, template, arena, result);
        return;
    }
    const struct node *root = claim->root->node;
    struct text volume = node_string(node_at(root, "spec.volumeName"));
    if (claim->deleting || text_is(node_string(node_at(root, "status.phase")), "Lost"))
        return;
    if (volume.size > 0)
        read_volume(snapshot, claim, volume, arena, result);
    else
        read_unbound(snapshot, namespace, name, claim->root, arena, result);
}

void ephemeral_zones_read(const struct snapshot *snapshot, const struct field *template,
                          struct arena *arena, struct claim_zones *result)
{
    *result = (struct claim_zones){.hold = CLAIM_UNKNOWN, .any_zone = true};
    read_unbound(snapshot, TEXT(""), TEXT(""), template, arena, result);
    if (result->hold > CLAIM_UNKNOWN)
        result->hold = CLAIM_NARROWS;
    result->selected = TEXT("");
}

struct text claim_settled_zone(const struct snapshot *snapshot, const struct object *claim,
                               struct arena *arena)
{
    if (claim->deleting)
        return TEXT("");
    struct claim_zones zones = {.hold = CLAIM_UNKNOWN};
    struct text volume = node_string(node_at(claim->root->node, "spec.volumeName"));
    if (volume.size == 0)
        return claim_selected_zone(snapshot, claim->root->node);
    read_volume(snapshot, claim, volume, arena, &zones);
    return zones.zones.count == 1 ? zones.zones.items[0] : TEXT("");
}
