/* The rail volume-binding: volumes are made where their pod runs. */
#include "policy/rails/volume_binding.h"

#include "catalog/zones.h"
#include "kube/claim_binding.h"
#include "kube/label.h"
#include "kube/placeholder.h"
#include "kube/pod.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "kube/volume.h"
#include "policy/reading.h"
#include "solver/well_known.h"

struct settings {
    struct key_strings zonal_provisioners;
};

#define AUTO_MODE_DRIVER "ebs.csi.eks.amazonaws.com"

/* Drivers whose disks live in one zone; those of one cloud stand in for each other. */
static const struct {
    const char *provisioner, *cloud;
} drivers[] = {
    {"ebs.csi.aws.com", "aws"},
    {AUTO_MODE_DRIVER, "aws"},
    {"kubernetes.io/aws-ebs", "aws"},
    {"pd.csi.storage.gke.io", "gce"},
    {"kubernetes.io/gce-pd", "gce"},
    {"disk.csi.azure.com", "azure"},
    {"kubernetes.io/azure-disk", "azure"},
    {"cinder.csi.openstack.org", "openstack"},
    {"kubernetes.io/cinder", "openstack"},
};

static const struct key keys[] = {
    {.name = "zonalProvisioners",
     .type = KEY_STRINGS,
     .offset = offsetof(struct settings, zonal_provisioners),
     .summary = "the provisioners whose volumes live in one zone",
     .default_value = "[ebs.csi.aws.com, ebs.csi.eks.amazonaws.com, kubernetes.io/aws-ebs, "
                      "pd.csi.storage.gke.io, kubernetes.io/gce-pd, disk.csi.azure.com, "
                      "kubernetes.io/azure-disk, cinder.csi.openstack.org, kubernetes.io/cinder]",
     .minimum = 1},
    {0},
};

/* ---- which classes are wrong ---- */

static const char *cloud_of(struct text provisioner)
{
    for (size_t i = 0; i < COUNT_OF(drivers); i++)
        if (text_is(provisioner, drivers[i].provisioner))
            return drivers[i].cloud;
    return NULL;
}

static bool same_kind(struct text a, struct text b)
{
    const char *cloud = cloud_of(a);
    return text_equal(a, b) || (cloud != NULL && cloud == cloud_of(b));
}

static bool is_zonal(const struct rail_call *call, const struct storage_class *class)
{
    const struct settings *settings = call->settings;
    return texts_have(settings->zonal_provisioners.items, settings->zonal_provisioners.count,
                      class->provisioner) &&
           !storage_class_is_zone_redundant(class) && !storage_class_is_unmanaged(class) &&
           !storage_class_is_in_all_its_zones(class);
}

static bool binds_too_early(const struct rail_call *call, const struct storage_class *class)
{
    return !class->waits && is_zonal(call, class) && !storage_class_names_one_zone(class);
}

/* ---- StorageClass: the mode ---- */

#define TOO_EARLY \
    "the disk is created before the pod is scheduled, perhaps in a zone where the pod cannot run."

static void judge_mode(struct rail_call *call, const struct storage_class *class)
{
    static const struct text waits = TEXT("WaitForFirstConsumer");
    struct arena *arena = call->arena;
    if (!binds_too_early(call, class) ||
        text_has_placeholder(node_string(class->binding_mode->node)))
        return;
    struct draft draft = {
        .field = class->binding_mode,
        .found = node_string(class->binding_mode->node),
        .allowed = ALLOWED_TEXTS(&waits, 1),
        .fix = TEXT("Set WaitForFirstConsumer (in a new StorageClass)."),
    };
    if (draft.found.size == 0)
        draft.statement = TEXT("Without volumeBindingMode " TOO_EARLY);
    else if (text_is(draft.found, "Immediate"))
        draft.statement = TEXT("With volumeBindingMode Immediate " TOO_EARLY);
    else
        draft.statement =
            arena_printf(arena, "\"%.*s\" is no volumeBindingMode.", TEXT_ARGS(draft.found));
    if (node_at(class->object->root->node, "parameters.zone") != NULL ||
        node_at(class->object->root->node, "parameters.zones") != NULL)
        draft.fix = arena_printf(arena, "%.*s Name zones in allowedTopologies, not in parameters.",
                                 TEXT_ARGS(draft.fix));
    report_draft(call, &draft);
}

/* ---- StorageClass: allowedTopologies ---- */

/* What the drivers above report of a node, besides what begins with "topology.". The last is for
 * the driver of EKS Auto Mode alone: by it a class keeps to nodes of Auto Mode. */
static const struct text topology_keys[] = {
    TEXT(LABEL_ZONE),
    TEXT(LABEL_REGION),
    TEXT(LABEL_HOSTNAME),
    TEXT(LABEL_ZONE_ID),
    TEXT("topology.ebs.csi.aws.com/zone"),
    TEXT("topology.ebs.csi.eks.amazonaws.com/zone"),
    TEXT("topology.gke.io/zone"),
    TEXT("topology.disk.csi.azure.com/zone"),
    TEXT("topology.cinder.csi.openstack.org/zone"),
    TEXT("failure-domain.beta.kubernetes.io/zone"),
    TEXT("failure-domain.beta.kubernetes.io/region"),
    TEXT(LABEL_OS),
    TEXT(LABEL_COMPUTE_TYPE),
};
enum { TOPOLOGY_KEYS_SHOWN = 4, TOPOLOGY_KEYS_COMMON = COUNT_OF(topology_keys) - 1 };

/* The key that was meant: a name without its domain, or two edits away; empty when none is near. */
static struct text key_meant(const struct storage_class *class, struct text key,
                             struct arena *arena)
{
    size_t count = text_is(class->provisioner, AUTO_MODE_DRIVER) ? COUNT_OF(topology_keys)
                                                                 : TOPOLOGY_KEYS_COMMON;
    struct text ending = arena_printf(arena, "/%.*s", TEXT_ARGS(key));
    for (size_t i = 0; i < TOPOLOGY_KEYS_SHOWN; i++)
        if (text_ends_with(topology_keys[i], ending))
            return topology_keys[i];
    size_t nearest = text_nearest(key, topology_keys, count, TYPO_EDITS);
    return nearest < count ? topology_keys[nearest] : TEXT("");
}

static void judge_key(struct rail_call *call, const struct storage_class *class,
                      const struct field *field)
{
    struct arena *arena = call->arena;
    struct text key = node_string(field->node);
    if (cloud_of(class->provisioner) == NULL)
        return;
    struct text meant = key_meant(class, key, arena);
    if (text_equal(meant, key) || (meant.size == 0 && text_starts_with(key, TEXT("topology."))))
        return;

    struct draft draft = {
        .field = field,
        .found = key,
        .allowed = ALLOWED_TEXTS(topology_keys, TOPOLOGY_KEYS_SHOWN),
        .nearest_to = meant,
        .statement = arena_printf(arena, "%.*s does not place volumes by \"%.*s\".",
                                  TEXT_ARGS(class->provisioner), TEXT_ARGS(key)),
        .fix = meant.size > 0 ? arena_printf(arena, "Use %.*s.", TEXT_ARGS(meant))
                              : TEXT("Use " LABEL_ZONE "."),
    };
    report_draft(call, &draft);
}

static void judge_zone(struct rail_call *call, const struct field *field, const struct zones *zones)
{
    struct text value = node_string(field->node);
    bool valid = label_value_is_valid(value);
    if (valid && (value.size == 0 || (!zones->complete && !zones->from_node) ||
                  texts_have(zones->items, zones->count, value)))
        return;
    report_as(call, valid && !zones->complete ? SEVERITY_WARN : SEVERITY_RAIL, .field = field,
              .found = value,
              .statement =
                  arena_printf(call->arena, "\"%.*s\" is %s.", TEXT_ARGS(value),
                               valid ? "a zone that no visible Node, NodePool or EC2NodeClass names"
                                     : "no value that a node can carry as a label"),
              .allowed = ALLOWED_LIST(zones), .nearest_to = value,
              .fix = valid ? TEXT("Name a zone of this cluster.")
                           : TEXT("Put a real value in place of the placeholder."));
}

static void judge_topologies(struct rail_call *call, const struct storage_class *class)
{
    struct zones zones[ZONE_KEY_ID + 1] = {0};
    for (enum zone_key key = ZONE_KEY_NAME; key <= ZONE_KEY_ID; key++)
        zones_read(call->world->snapshot, call->world->catalog, key, call->arena, &zones[key]);
    FOR_EACH(choice, &class->topologies) {
        judge_key(call, class, choice->key);
        enum zone_key key = zone_key_of(node_string(choice->key->node));
        for (size_t j = 0; j < node_count(choice->values->node); j++)
            judge_zone(call, field_item(call->arena, choice->values, j), &zones[key]);
    }
}

/* ---- claims ---- */

/* The classes to use instead of others, each looked up once: a pod may have many claims. */
struct instead {
    struct text_map numbers; /* of a class by its name, + 1 */
    LIST(struct text_list) classes;
};

static void add_classes_that_wait(struct rail_call *call, const struct storage_class *instead_of,
                                  struct text_list *names)
{
    const struct snapshot *snapshot = call->world->snapshot;
    struct arena *arena = call->arena;
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_STORAGE_CLASS); i++) {
        struct storage_class class;
        const struct object *object = snapshot_object(snapshot, KIND_STORAGE_CLASS, i);
        if (storage_class_read(object, arena, &class) && class.waits &&
            same_kind(class.provisioner, instead_of->provisioner))
            *LIST_PUSH(arena, names) = object->name;
    }
}

/* The classes that make the same kind of volume and wait for the pod. */
static const struct text_list *classes_that_wait(struct rail_call *call, struct instead *instead,
                                                 const struct storage_class *class)
{
    struct arena *arena = call->arena;
    size_t *number = text_map_at(&instead->numbers, arena, class->object->name);
    if (*number == 0) {
        add_classes_that_wait(call, class, LIST_PUSH(arena, &instead->classes));
        *number = instead->classes.count;
    }
    return &instead->classes.items[*number - 1];
}

static struct text fix_of_claim(const struct text_list *names, const char *what,
                                const struct storage_class *class, struct arena *arena)
{
    if (names->count == 0)
        return arena_printf(arena,
                            "Make a class with provisioner %.*s and volumeBindingMode "
                            "WaitForFirstConsumer.",
                            TEXT_ARGS(class->provisioner));
    struct text_list nearest = nearest_allowed(&ALLOWED_LIST(names), class->object->name, arena);
    struct text list = texts_join(nearest.items, nearest.count, SIZE_MAX, arena);
    if (names->count > nearest.count)
        list = arena_printf(arena, "%.*s (of %zu)", TEXT_ARGS(list), names->count);
    return arena_printf(arena, "%s that waits for the pod: %.*s.", what, TEXT_ARGS(list));
}

/* The class of a claim when it binds too early; false for any other, and for one that is not
 * visible (*unseen). */
static bool uses_early_class(struct rail_call *call, const struct claim *claim,
                             struct storage_class *class, bool *unseen)
{
    *unseen = false;
    if (claim->bound || (claim->class_named && claim->class_name.size == 0))
        return false;
    const struct object *object = claim_class(call->world->snapshot, claim);
    /* The default class may be one that cannot be read. */
    *unseen = object == NULL ||
              (!claim->class_named && !world_sees(call->world, KIND_BIT(KIND_STORAGE_CLASS)));
    return !*unseen && storage_class_read(object, call->arena, class) &&
           binds_too_early(call, class);
}

/* A free volume names the claim: the two are bound, and no disk is made. */
static bool gets_a_volume(const struct rail_call *call, const struct object *claim)
{
    struct claim_binding binding;
    claim_binding_of(call->world->snapshot, claim, call->arena, &binding);
    return binding.state == BINDING_RESERVED;
}

static void report_unseen(struct rail_call *call, const struct claim *claim)
{
    const struct text fix = advice_to_show(call, KIND_BIT(KIND_STORAGE_CLASS), "");
    if (claim->class_named)
        report_found(call, SEVERITY_UNDECIDED, claim->class_field, claim->class_name, fix,
                     "StorageClass \"%.*s\" is not visible.", TEXT_ARGS(claim->class_name));
    else
        report_found(call, SEVERITY_UNDECIDED, claim->class_field, claim->class_name, fix,
                     "The claim names no class, and no default StorageClass is visible.");
}

static void judge_claim(struct rail_call *call, const struct claim *claim, struct instead *instead)
{
    struct arena *arena = call->arena;
    struct storage_class class;
    bool unseen;
    if (!uses_early_class(call, claim, &class, &unseen)) {
        if (unseen)
            report_unseen(call, claim);
        return;
    }
    const struct text_list *names = classes_that_wait(call, instead, &class);
    struct text name = class.object->name;
    struct text statement =
        claim->class_named
            ? arena_printf(arena, "StorageClass \"%.*s\" binds Immediately, so " TOO_EARLY,
                           TEXT_ARGS(name))
            : arena_printf(arena,
                           "The default StorageClass \"%.*s\" binds Immediately, so " TOO_EARLY,
                           TEXT_ARGS(name));
    report_with(call, .field = claim->class_field, .found = claim->class_name,
                .statement = statement, .allowed = ALLOWED_LIST(names), .nearest_to = name,
                .fix = fix_of_claim(names, "Name a class", &class, arena));
}

/* A claim that a workload mounts; where it is not visible, it is judged when it is made. */
static void judge_mounted(struct rail_call *call, const struct field *claim_name,
                          struct instead *instead)
{
    struct arena *arena = call->arena;
    struct text name = node_string(claim_name->node);
    const struct object *object = snapshot_find(call->world->snapshot, KIND_PERSISTENT_VOLUME_CLAIM,
                                                call->object->namespace, name);
    if (object == NULL || gets_a_volume(call, object))
        return;
    struct claim claim;
    struct storage_class class;
    bool unseen;
    claim_read(object->root, arena, &claim);
    if (!uses_early_class(call, &claim, &class, &unseen))
        return;
    const struct text_list *names = classes_that_wait(call, instead, &class);
    report_found(call, SEVERITY_RAIL, claim_name, name,
                 fix_of_claim(names, "Make the claim anew with a class", &class, arena),
                 "Claim \"%.*s\" is not bound, and its StorageClass \"%.*s\" binds "
                 "Immediately, so " TOO_EARLY,
                 TEXT_ARGS(name), TEXT_ARGS(class.object->name));
}

static void judge(struct rail_call *call)
{
    struct arena *arena = call->arena;
    const struct object *object = call->object;
    struct storage_class class;
    if (storage_class_read(object, arena, &class)) {
        judge_mode(call, &class);
        judge_topologies(call, &class);
        return;
    }
    if (object->kind == KIND_PERSISTENT_VOLUME) {
        const struct settings *settings = call->settings;
        volume_binding_judge_static(call, &settings->zonal_provisioners);
        return;
    }
    struct workload workload;
    struct instead instead = {0};
    if (!call_workload(call, &workload)) {
        struct claim claim;
        claim_read(object->root, arena, &claim);
        if (!gets_a_volume(call, object))
            judge_claim(call, &claim, &instead);
        volume_binding_judge_by_hand(call, &claim);
        return;
    }
    struct claims templates;
    claim_templates_read(&workload, arena, &templates);
    FOR_EACH(template, &templates) {
        judge_claim(call, template, &instead);
        volume_binding_judge_by_hand(call, template);
    }
    const struct claim_names *mounted = call_claims(call, &workload);
    for (size_t i = 0; i < mounted->count; i++)
        judge_mounted(call, mounted->items[i], &instead);
}

const struct rail rail_volume_binding = {
    .name = "volume-binding",
    .summary = "disks that get their zone from the pod, not before it",
    .detail =
        "A disk of a zonal provisioner can only be attached in its own zone. A StorageClass that "
        "binds Immediately, which is what an unset volumeBindingMode means, picks that zone "
        "before the scheduler has seen the pod; the pod must then follow, even where its other "
        "constraints forbid it. With WaitForFirstConsumer the disk follows the pod. Immediate is "
        "right for file systems that every zone reaches, and for a class whose allowedTopologies "
        "name one zone.\n\n"
        "The rail finds such classes when they are made; claims and claim templates (of "
        "StatefulSets and ephemeral volumes) that use one, by name or by default; and workloads "
        "that mount a visible claim that uses one and is not bound yet; not a claim that a free "
        "PersistentVolume names in its claimRef, because none is made for it. A class that is not "
        "visible cannot be judged. In allowedTopologies it finds keys that the provisioner does "
        "not know, values that no label can hold, and zones that this cluster does not have, as "
        "far as it shows: where some NodePool is open to all zones and no EC2NodeClass lists "
        "them, that is only a warning.\n\n"
        "The annotation volume.kubernetes.io/selected-node, by which kube-scheduler tells the "
        "provisioner what it has chosen, is found in a claim that anybody but a controller makes, "
        "and in templates of claims. A claim may name its volume, as static volumes and restores "
        "do; it is warned of one whose zones are none of its class's allowedTopologies, or none "
        "that nodes come up in. A PersistentVolume of EBS or of Google's zonal disks that has no "
        "node "
        "affinity is found: Karpenter takes the zone of a volume from there alone. Claims and "
        "volumes are judged when they are made: what is written into one afterwards is not.",
    .example = "volume-binding:\n"
               "  mode: enforce\n"
               "  zonalProvisioners: [ebs.csi.aws.com, kubernetes.io/aws-ebs]\n",
    .kinds = KINDS_WORKLOADS | KIND_BIT(KIND_STORAGE_CLASS) |
             KIND_BIT(KIND_PERSISTENT_VOLUME_CLAIM) | KIND_BIT(KIND_PERSISTENT_VOLUME),
    .sources = KIND_BIT(KIND_STORAGE_CLASS),
    .keys = keys,
    .settings_size = sizeof(struct settings),
    .judge = judge,
};
