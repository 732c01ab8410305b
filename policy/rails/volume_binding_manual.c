/* A claim that names the node of its pod, or its volume, before the scheduler has been asked. */
#include "catalog/zones.h"
#include "kube/snapshot.h"
#include "kube/volume.h"
#include "kube/volume_zones.h"
#include "policy/rails/volume_binding.h"

/* ---- a node ---- */

/* kube-scheduler writes the first once it has chosen; provisioners read the old one, too. */
static const char *const selected_node_keys[] = {
    "volume.kubernetes.io/selected-node",
    "volume.alpha.kubernetes.io/selected-node",
};

static void judge_selected_node(struct rail_call *call, const struct claim *claim, const char *key)
{
    struct arena *arena = call->arena;
    const struct field *field =
        field_member(arena, field_at(arena, claim->root, "metadata.annotations"), text_of(key));
    struct text node = node_string(field->node);
    if (node.size == 0)
        return;
    report_found(
        call, SEVERITY_RAIL, field, node,
        TEXT("Remove the annotation, and choose a zone by the pod's node affinity."),
        "Only kube-scheduler should name node \"%.*s\" here. Otherwise the disk is made in "
        "that node's zone, wherever its pod may run.",
        TEXT_ARGS(node));
}

/* ---- a volume ---- */

static bool meet(const struct zones *a, const struct zones *b, struct arena *arena)
{
    return zones_intersect(a, b, arena).count > 0;
}

static void report_apart(struct rail_call *call, const struct field *field,
                         const struct zones *zones, struct text where)
{
    struct text name = node_string(field->node);
    report_found(call, SEVERITY_WARN, field, name,
                 TEXT("Name a volume of a zone where the pod can run."),
                 "Volume \"%.*s\" is in %.*s%s, %.*s.", TEXT_ARGS(name), TEXT_ARGS(zones->items[0]),
                 zones->count > 1 ? " and others" : "", TEXT_ARGS(where));
}

/* Static volumes and restores name their volume rightly; it is told only when no zone of the volume
 * is one of the class, or one that any node comes up in. */
static void judge_volume(struct rail_call *call, const struct claim *claim)
{
    const struct world *world = call->world;
    struct arena *arena = call->arena;
    const struct field *field = field_at(arena, claim->root, "spec.volumeName");
    const struct object *volume =
        snapshot_find(world->snapshot, KIND_PERSISTENT_VOLUME, TEXT(""), node_string(field->node));
    struct solver_volume places = {0};
    struct zones zones = {0}, others = {0};
    if (volume == NULL ||
        volume_zones_read(world->snapshot, volume, arena, &zones) != VOLUME_IN_ZONES ||
        zones.count == 0)
        return;
    struct storage_class class;
    const struct object *of_claim = claim_class(world->snapshot, claim);
    if (of_claim != NULL && storage_class_read(of_claim, arena, &class)) {
        class_terms_read(world->snapshot, &class, arena, &places);
        if (volume_terms_add_zones(&places, arena, &others) && others.count > 0 &&
            !meet(&zones, &others, arena)) {
            report_apart(call, field, &zones,
                         arena_printf(arena, "which is none of the zones of StorageClass \"%.*s\"",
                                      TEXT_ARGS(of_claim->name)));
            return;
        }
    }
    zones_read(world->snapshot, world->catalog, ZONE_KEY_NAME, arena, &others);
    if (others.complete && !meet(&zones, &others, arena))
        report_apart(call, field, &zones, TEXT("where no Node is and no NodePool makes one"));
}

void volume_binding_judge_by_hand(struct rail_call *call, const struct claim *claim)
{
    const struct subject *subject = call->subject;
    bool is_template = claim->root != call->object->root;
    /* In a claim that is there already the scheduler wrote it, in a template nobody but its author.
     */
    if (!is_template && (subject->existing || requester_is_controller(&subject->requester)))
        return;
    /* One volume is for one claim: templates name none, and of claims there is one at a time. */
    if (claim->bound) {
        if (!is_template)
            judge_volume(call, claim);
        return;
    }
    for (size_t i = 0; i < COUNT_OF(selected_node_keys); i++)
        judge_selected_node(call, claim, selected_node_keys[i]);
}
