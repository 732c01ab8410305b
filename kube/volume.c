/* StorageClasses, claims and templates of claims. */
#include "kube/volume.h"

#include "kube/defaults.h"
#include "kube/object.h"
#include "kube/pod.h"
#include "kube/snapshot.h"
#include "kube/zone.h"

/* ---- StorageClasses ---- */

static void read_term(const struct field *term, size_t number, struct arena *arena,
                      struct topology_choices *choices)
{
    const struct field *list = field_get(arena, term, "matchLabelExpressions");
    FOR_FIELDS(expression, arena, list) {
        *LIST_PUSH(arena, choices) = (struct topology_choice){
            .term = number,
            .key = field_get(arena, expression, "key"),
            .values = field_get(arena, expression, "values"),
        };
    }
}

/* The API server writes Immediate where nothing is written. */
bool storage_class_waits(const struct object *class)
{
    return text_is(node_string(node_get(class->root->node, "volumeBindingMode")),
                   "WaitForFirstConsumer");
}

bool storage_class_read(const struct object *object, struct arena *arena,
                        struct storage_class *class)
{
    if (object->kind != KIND_STORAGE_CLASS)
        return false;
    *class = (struct storage_class){
        .object = object,
        .provisioner = node_string(node_get(object->root->node, "provisioner")),
        .binding_mode = field_get(arena, object->root, "volumeBindingMode"),
        .waits = storage_class_waits(object),
    };
    const struct field *terms = field_get(arena, object->root, "allowedTopologies");
    class->term_count = node_is(terms->node, NODE_LIST) ? node_count(terms->node) : 0;
    for (size_t i = 0; i < class->term_count; i++)
        read_term(field_item(arena, terms, i), i, arena, &class->topologies);
    return true;
}

/* The one zone an expression names; empty when it is about something else, or leaves a choice. */
static struct text zone_of(const struct topology_choice *choice)
{
    const struct node *values = choice->values->node;
    if (node_count(values) != 1 || zone_key_of(node_string(choice->key->node)) == ZONE_KEY_NONE)
        return TEXT("");
    return node_string(node_item(values, 0));
}

/* Whether every term of allowedTopologies names one zone, and all the same. */
static bool topologies_name_one_zone(const struct storage_class *class)
{
    struct text only = TEXT("");
    size_t terms_seen = 0;
    FOR_EACH(choice, &class->topologies) {
        struct text zone = zone_of(choice);
        if (zone.size == 0 || choice->term < terms_seen)
            continue;
        if (choice->term > terms_seen || (terms_seen > 0 && !text_equal(zone, only)))
            return false;
        only = zone;
        terms_seen++;
    }
    return terms_seen > 0 && terms_seen == class->term_count;
}

/* How many zones the parameters name: as a list with commas, which only in-tree provisioners read.
 */
static size_t zones_in_parameters(const struct storage_class *class)
{
    const struct node *parameters = node_get(class->object->root->node, "parameters");
    struct text zone = node_string(node_get(parameters, "zone"));
    struct text zones = zone.size > 0 ? zone : node_string(node_get(parameters, "zones"));
    if (!text_starts_with(class->provisioner, TEXT("kubernetes.io/")) || zones.size == 0)
        return 0;
    size_t count = 1;
    for (size_t i = 0; i < zones.size; i++)
        count += zones.data[i] == ',';
    return count;
}

bool storage_class_names_one_zone(const struct storage_class *class)
{
    return topologies_name_one_zone(class) || zones_in_parameters(class) == 1;
}

bool storage_class_is_in_all_its_zones(const struct storage_class *class)
{
    const struct node *parameters = node_get(class->object->root->node, "parameters");
    return text_is(node_string(node_get(parameters, "replication-type")), "regional-pd") &&
           zones_in_parameters(class) == 2;
}

bool storage_class_is_unmanaged(const struct storage_class *class)
{
    const struct node *parameters = node_get(class->object->root->node, "parameters");
    struct text kind = node_string(node_get(parameters, "kind"));
    return text_is(class->provisioner, "kubernetes.io/azure-disk") &&
           (node_get(parameters, "storageAccount") != NULL || text_is(kind, "Shared") ||
            text_is(kind, "Dedicated"));
}

bool storage_class_is_zone_redundant(const struct storage_class *class)
{
    const struct node *parameters = node_get(class->object->root->node, "parameters");
    for (size_t i = 0; node_is(parameters, NODE_MAP) && i < node_count(parameters); i++)
        if (text_ends_with(node_string(&parameters->members[i].value), TEXT("_ZRS")))
            return true;
    return false;
}

static const char *const shared_drivers[] = {
    "efs.csi.aws.com",
    "fsx.csi.aws.com",
    "file.csi.azure.com",
    "nfs.csi.k8s.io",
    "smb.csi.k8s.io",
    "filestore.csi.storage.gke.io",
    "gcsfuse.csi.storage.gke.io",
    "s3.csi.aws.com",
    "kubernetes.io/azure-file",
    "kubernetes.io/glusterfs",
};

bool driver_is_shared(struct text driver)
{
    if (text_is_one_of(driver, shared_drivers, COUNT_OF(shared_drivers)))
        return true;
    /* Rook puts its namespace before the name. */
    return text_ends_with(driver, TEXT("cephfs.csi.ceph.com"));
}

/* ---- claims ---- */

void claim_read(const struct field *root, struct arena *arena, struct claim *claim)
{
    const struct field *annotation = field_member(
        arena, field_at(arena, root, "metadata.annotations"), TEXT(CLAIM_CLASS_ANNOTATION));
    const struct field *spec = field_get(arena, root, "spec");
    const struct field *name = field_get(arena, spec, "storageClassName");
    const struct field *class_field = node_is(annotation->node, NODE_STRING) ? annotation : name;
    *claim = (struct claim){
        .root = root,
        .class_field = class_field,
        .class_name = node_string(class_field->node),
        .class_named = node_is(class_field->node, NODE_STRING),
        .bound = node_string(node_get(spec->node, "volumeName")).size > 0,
    };
}

const struct object *claim_class(const struct snapshot *snapshot, const struct claim *claim)
{
    if (!claim->class_named)
        return default_storage_class(snapshot);
    return snapshot_find(snapshot, KIND_STORAGE_CLASS, TEXT(""), claim->class_name);
}

void claim_templates_read(const struct workload *workload, struct arena *arena,
                          struct claims *claims)
{
    *claims = (struct claims){0};
    if (workload->object->kind == KIND_STATEFUL_SET) {
        const struct field *templates =
            field_at(arena, workload->object->root, "spec.volumeClaimTemplates");
        size_t count = node_is(templates->node, NODE_LIST) ? node_count(templates->node) : 0;
        for (size_t i = 0; i < count; i++)
            claim_read(field_item(arena, templates, i), arena, LIST_PUSH(arena, claims));
    }
    const struct field *volumes = field_get(arena, workload->spec, "volumes");
    FOR_FIELDS(volume, arena, volumes) {
        if (node_is(node_at(volume->node, "ephemeral.volumeClaimTemplate"), NODE_MAP))
            claim_read(field_at(arena, volume, "ephemeral.volumeClaimTemplate"), arena,
                       LIST_PUSH(arena, claims));
    }
}

const struct field *set_claim_template(const struct object *set, struct text pod_name,
                                       struct text claim, struct arena *arena)
{
    if (set == NULL)
        return NULL;
    const struct field *templates = field_at(arena, set->root, "spec.volumeClaimTemplates");
    FOR_FIELDS(item, arena, templates) {
        struct text name = node_string(node_at(item->node, "metadata.name"));
        if (text_equal(claim,
                       arena_printf(arena, "%.*s-%.*s", TEXT_ARGS(name), TEXT_ARGS(pod_name))))
            return item;
    }
    return NULL;
}

void claim_names_read(const struct workload *workload, struct arena *arena,
                      struct claim_names *names)
{
    *names = (struct claim_names){0};
    const struct field *volumes = field_get(arena, workload->spec, "volumes");
    FOR_FIELDS(item, arena, volumes) {
        const struct node *name = node_at(item->node, "persistentVolumeClaim.claimName");
        if (node_string(name).size > 0)
            *LIST_PUSH(arena, names) = field_at(arena, item, "persistentVolumeClaim.claimName");
    }
}
