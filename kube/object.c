/* Reads the metadata of objects. */
#include "kube/object.h"

#include "kube/time.h"

static struct text member_string(const struct node *map, const char *key)
{
    return node_string(node_get(map, key));
}

/* Metadata fields that may be absent or null, but never of another type. */
static const struct {
    const char *key;
    enum node_kind kind;
} metadata_types[] = {
    {"name", NODE_STRING}, {"generateName", NODE_STRING}, {"namespace", NODE_STRING},
    {"uid", NODE_STRING},  {"labels", NODE_MAP},          {"annotations", NODE_MAP},
};

static struct place place_of(struct source *source, struct arena *arena, const struct node *node)
{
    return source == NULL ? NOWHERE : source_place(source, arena, node->offset);
}

static bool check_metadata(const struct node *metadata, struct source *source, struct arena *arena,
                           struct error *error)
{
    for (size_t i = 0; i < COUNT_OF(metadata_types); i++) {
        const struct node *value = node_get(metadata, metadata_types[i].key);
        if (value == NULL || node_is(value, NODE_NULL) || node_is(value, metadata_types[i].kind))
            continue;
        return error_set(error, ERROR_INPUT, place_of(source, arena, value),
                         "metadata.%s is %s, not %s", metadata_types[i].key,
                         node_kind_name((enum node_kind)value->kind),
                         node_kind_name(metadata_types[i].kind));
    }
    return true;
}

static struct owner controller_of(const struct node *metadata)
{
    const struct node *references = node_get(metadata, "ownerReferences");
    for (size_t i = 0; i < node_count(references); i++) {
        const struct node *reference = node_item(references, i);
        if (node_true(node_get(reference, "controller")))
            return (struct owner){.api_version = member_string(reference, "apiVersion"),
                                  .kind = member_string(reference, "kind"),
                                  .name = member_string(reference, "name"),
                                  .uid = member_string(reference, "uid")};
    }
    return (struct owner){0};
}

bool object_read(const struct node *root, struct source *source, struct text default_namespace,
                 struct arena *arena, struct object *object, struct error *error)
{
    if (!node_is(root, NODE_MAP))
        return error_set(
            error, ERROR_INPUT, root == NULL ? NOWHERE : place_of(source, arena, root),
            "found %s where a Kubernetes object should be (a map with apiVersion and kind)",
            node_kind_name(root == NULL ? NODE_NULL : (enum node_kind)root->kind));
    struct text api_version = member_string(root, "apiVersion");
    struct text kind_name = member_string(root, "kind");
    if (api_version.size == 0 || kind_name.size == 0)
        return error_set(error, ERROR_INPUT, place_of(source, arena, root),
                         "no Kubernetes object: %s is missing or not a string",
                         kind_name.size == 0 ? "kind" : "apiVersion");
    const struct node *metadata = node_get(root, "metadata");
    if (metadata != NULL && !node_is(metadata, NODE_MAP) && !node_is(metadata, NODE_NULL))
        return error_set(error, ERROR_INPUT, place_of(source, arena, metadata),
                         "metadata is %s, not a map",
                         node_kind_name((enum node_kind)metadata->kind));
    if (!check_metadata(metadata, source, arena, error))
        return false;

    const struct node *labels = node_get(metadata, "labels");
    *object = (struct object){
        .kind = kind_of(api_version, kind_name),
        .api_version = api_version,
        .kind_name = kind_name,
        .namespace = member_string(metadata, "namespace"),
        .name = member_string(metadata, "name"),
        .generate_name = member_string(metadata, "generateName"),
        .uid = member_string(metadata, "uid"),
        .controller = controller_of(metadata),
        .deleting = member_string(metadata, "deletionTimestamp").size > 0,
        .labels = node_is(labels, NODE_MAP) ? labels : NULL,
        .root = field_root(arena, root),
        .source = source,
    };
    if (!time_parse(member_string(metadata, "creationTimestamp"), &object->created_unix_s))
        object->created_unix_s = 0;
    if (!kind_table[object->kind].namespaced && object->kind != KIND_UNKNOWN)
        object->namespace = TEXT("");
    else if (object->namespace.size == 0)
        object->namespace = default_namespace;
    return true;
}

bool object_is_of_file(const struct object *object)
{
    return object->source != NULL && object->source->file != NULL;
}

struct text object_display_name(const struct object *object, struct arena *arena)
{
    if (object->name.size > 0 || object->generate_name.size == 0)
        return object->name;
    return arena_printf(arena, "%.*s*", TEXT_ARGS(object->generate_name));
}

bool object_is_v1beta1(const struct object *object)
{
    return text_ends_with(object->api_version, TEXT("/v1beta1"));
}

bool object_is_of_daemon_set(const struct object *object)
{
    return object->kind == KIND_DAEMON_SET || text_is(object->controller.kind, "DaemonSet");
}

struct text object_annotation(const struct object *object, const char *key)
{
    return node_string(node_get(node_at(object->root->node, "metadata.annotations"), key));
}

const struct node *object_condition(const struct object *object, const char *type)
{
    const struct node *conditions = node_at(object->root->node, "status.conditions");
    FOR_ITEMS(item, conditions)
        if (text_is(node_string(node_get(item, "type")), type))
            return item;
    return NULL;
}

bool object_condition_holds(const struct object *object, const char *type)
{
    return object != NULL &&
           text_is(node_string(node_get(object_condition(object, type), "status")), "True");
}

int64_t node_int32(const struct node *root, const char *path, int64_t absent)
{
    int64_t number = 0;
    if (!node_integer(node_at(root, path), &number) || number < 0)
        return absent;
    return number < INT32_MAX ? number : INT32_MAX;
}

bool uids_agree(struct text a, struct text b)
{
    return a.size == 0 || b.size == 0 || text_equal(a, b);
}
