/* Reads lists and watches. One unreadable object affects only itself: its name is found by quotes
 * and brackets. */
#include <string.h>

#include "kube/label.h"
#include "live/stored.h"
#include "live/watch.h"

enum {
    KEPT_NODES_MAX = 100000, /* of the stored fields of one object */
    WHOLE_NODES_MAX = 1000000,
    HEAD_NODES_MAX = 1000,
    DEPTH_MAX = 128,
};

static bool read_tree(struct text json, size_t nodes, const struct doc_choice *choice,
                      struct arena *arena, const struct node **root, struct error *error)
{
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = json;
    struct doc_limits limits = {
        .bytes = json.size, .nodes = nodes, .depth = DEPTH_MAX, .choice = choice};
    return doc_read_json(source, &limits, NULL, arena, root, error);
}

/* ---- an object ---- */

/* Items of a list of a built-in kind have neither apiVersion nor kind. */
static const struct node *name_type(const struct node *node, struct text api_version,
                                    struct text kind_name, struct arena *arena)
{
    if (!node_is(node, NODE_MAP) ||
        (node_get(node, "apiVersion") != NULL && node_get(node, "kind") != NULL))
        return node;
    struct member *members = ARENA_ARRAY(arena, node->size + 2, struct member);
    size_t count = 0;
    members[count++] = member_of(TEXT("apiVersion"), node_of_text(api_version));
    members[count++] = member_of(TEXT("kind"), node_of_text(kind_name));
    for (size_t i = 0; i < node->size; i++) {
        struct text key = member_key(&node->members[i]);
        if (!text_is(key, "apiVersion") && !text_is(key, "kind"))
            members[count++] = node->members[i];
    }
    return node_keep(arena, node_of_members(members, count));
}

/* The identity of an object, as written. */
struct identity {
    struct text api_version, kind, namespace, name, resource_version;
};
struct slot {
    const char *key;
    size_t offset;
};

static struct text *text_at(struct identity *identity, size_t offset)
{
    return (struct text *)(void *)((char *)identity + offset);
}

/* Reads the plain strings of a map for the wanted keys, and its metadata as written (may be NULL).
 */
static void read_slots(struct text map, const struct slot *slots, struct identity *identity,
                       struct text *metadata)
{
    struct json_walk walk;
    struct text key, value;
    bool goes_on = json_walk_begin(&walk, map);
    while (goes_on) {
        goes_on = json_walk_next(&walk, &key, &value);
        if (metadata != NULL && text_is(key, "metadata"))
            *metadata = value; /* may be cut off */
        for (const struct slot *slot = slots; goes_on && slot->key != NULL; slot++)
            if (text_is(key, slot->key))
                *text_at(identity, slot->offset) = json_plain_string(value);
    }
}

static struct identity identity_read(struct text object)
{
    static const struct slot of_root[] = {{"apiVersion", offsetof(struct identity, api_version)},
                                          {"kind", offsetof(struct identity, kind)},
                                          {NULL, 0}};
    static const struct slot of_metadata[] = {
        {"namespace", offsetof(struct identity, namespace)},
        {"name", offsetof(struct identity, name)},
        {"resourceVersion", offsetof(struct identity, resource_version)},
        {NULL, 0}};
    struct identity identity = {.name = TEXT("")};
    struct text metadata = TEXT("");
    read_slots(object, of_root, &identity, &metadata);
    read_slots(metadata, of_metadata, &identity, NULL);
    return identity;
}

static struct text kind_name_of(const struct object_reader *reader)
{
    return reader->custom != NULL ? reader->custom->kind : text_of(kind_table[reader->kind].name);
}

struct reading {
    const struct object_reader *reader;
    struct text body;
    struct object *object;
    struct error *error;
    bool done;
};

static void read_object_body(void *context)
{
    struct reading *reading = context;
    const struct object_reader *reader = reading->reader;
    const struct doc_choice choice = reader->whole ? whole_choice : transform_choice(reader->kind);
    size_t nodes = reader->whole ? WHOLE_NODES_MAX : KEPT_NODES_MAX;
    const struct node *root = NULL;
    if (!read_tree(reading->body, nodes, &choice, reader->arena, &root, reading->error))
        return;
    const struct custom_kind *custom = reader->custom;
    const struct kind_info *info = &kind_table[reader->kind];
    struct text api_version = api_version_of(custom != NULL ? custom->group : text_of(info->group),
                                             reader->version, reader->arena);
    struct text kind_name = kind_name_of(reader);
    root = name_type(root, api_version, kind_name, reader->arena);
    reading->done =
        object_read(root, NULL, TEXT(""), reader->arena, reading->object, reading->error);
    if (custom != NULL) {
        reading->object->kind = reader->kind;
        reading->object->api_version = api_version;
        reading->object->kind_name = kind_name;
    }
}

static bool is_of_custom_kind(const struct custom_kind *custom, const struct identity *identity)
{
    bool partial = text_starts_with(identity->api_version, TEXT("meta.k8s.io/")) &&
                   text_is(identity->kind, "PartialObjectMetadata");
    return partial || (text_equal(group_of(identity->api_version), custom->group) &&
                       text_equal(identity->kind, custom->kind));
}

/* apiVersion and kind may be absent. */
static bool is_of_kind(const struct object_reader *reader, const struct identity *identity)
{
    bool said = identity->api_version.size > 0 && identity->kind.size > 0;
    if (reader->custom != NULL)
        return identity->name.size > 0 && (!said || is_of_custom_kind(reader->custom, identity));
    bool named = identity->name.size > 0 &&
                 (!kind_table[reader->kind].namespaced || identity->namespace.size > 0);
    return named && (!said || kind_of(identity->api_version, identity->kind) == reader->kind);
}

static enum read_result read_object(const struct object_reader *reader, struct text body, bool cut,
                                    const struct identity *identity, struct object *object,
                                    struct error *error)
{
    struct reading reading = {reader, body, object, error, false};
    struct object named = {.kind = reader->kind, .name = identity->name};
    *error = (struct error){0};
    if (kind_table[reader->kind].namespaced)
        named.namespace = identity->namespace;
    *object = named;
    if (!is_of_kind(reader, identity)) {
        error_fill(error, ERROR_CLUSTER, NOWHERE, "an object is no %.*s with a name",
                   TEXT_ARGS(kind_name_of(reader)));
        return READ_FAILED;
    }
    if (cut) {
        error_fill(error, ERROR_LIMIT, NOWHERE, "it is larger than the allowed %zu bytes",
                   body.size);
    } else if (arena_guard(reader->arena, read_object_body, &reading, error) && reading.done) {
        bool same = object->kind == reader->kind && text_equal(object->name, named.name) &&
                    text_equal(object->namespace, named.namespace);
        if (same)
            return READ_DONE;
        error_fill(error, ERROR_CLUSTER, NOWHERE, "it is not what its name says");
    }
    *object = named;
    return error->kind == ERROR_MEMORY ? READ_FAILED : READ_UNREADABLE;
}

/* ---- a list ---- */

struct head_reading {
    struct text head;
    struct arena *arena;
    struct list_head *read;
    struct error *error;
    bool done;
};

static void read_head_body(void *context)
{
    struct head_reading *reading = context;
    struct list_head *read = reading->read;
    const struct node *root = NULL;
    if (!read_tree(reading->head, HEAD_NODES_MAX, NULL, reading->arena, &root, reading->error))
        return;
    const struct node *items = node_get(root, "items");
    read->resource_version = node_string(node_at(root, "metadata.resourceVersion"));
    read->continue_token = node_string(node_at(root, "metadata.continue"));
    /* Go sometimes writes an empty list as null. */
    bool listed = node_is(items, NODE_LIST) || node_is(items, NODE_NULL);
    reading->done = text_ends_with(node_string(node_get(root, "kind")), TEXT("List")) && listed &&
                    read->resource_version.size > 0;
    if (!reading->done)
        error_fill(reading->error, ERROR_CLUSTER, NOWHERE,
                   "the answer is no list with a resourceVersion");
}

bool list_head_read(struct text head, struct arena *arena, struct list_head *read,
                    struct error *error)
{
    struct head_reading reading = {head, arena, read, error, false};
    *read = (struct list_head){0};
    return arena_guard(arena, read_head_body, &reading, error) && reading.done;
}

enum read_result list_item_read(const struct object_reader *reader, struct text head,
                                struct text item, bool cut, struct object *object,
                                struct error *error)
{
    struct identity identity = identity_read(item);
    struct text of_list = json_plain_string(json_find(head, "kind"));
    if (identity.kind.size == 0 && !text_ends_with(of_list, TEXT("List"))) {
        error_fill(error, ERROR_CLUSTER, NOWHERE, "the answer is no list of %s",
                   kind_table[reader->kind].plural);
        return READ_FAILED;
    }
    return read_object(reader, item, cut, &identity, object, error);
}

/* ---- the versions of a group ---- */

struct group_reading {
    struct text body;
    struct arena *arena;
    struct api_versions *versions;
    struct error *error;
};

/* Ignores one that is too long, or one too many. */
static void add_version(struct api_versions *versions, const struct node *item)
{
    struct text version = node_string(node_get(item, "version"));
    for (size_t i = 0; i < versions->count; i++)
        if (text_is(version, versions->items[i]))
            return;
    if (domain_is_valid(version) && versions->count < API_VERSIONS_MAX &&
        version_keep(versions->items[versions->count], version))
        versions->count++;
}

static void read_group_body(void *context)
{
    struct group_reading *reading = context;
    const struct node *root = NULL;
    if (!read_tree(reading->body, HEAD_NODES_MAX, NULL, reading->arena, &root, reading->error))
        return;
    const struct node *all = node_get(root, "versions");
    add_version(reading->versions, node_get(root, "preferredVersion"));
    FOR_ITEMS(item, all)
        add_version(reading->versions, item);
    if (reading->versions->count == 0)
        error_fill(reading->error, ERROR_CLUSTER, NOWHERE,
                   "the answer is no API group with a version");
}

bool api_versions_read(struct text body, struct arena *arena, struct api_versions *versions,
                       struct error *error)
{
    struct group_reading reading = {body, arena, versions, error};
    *versions = (struct api_versions){.count = 0};
    return arena_guard(arena, read_group_body, &reading, error) && versions->count > 0;
}

/* ---- an event ---- */

static bool contains(struct text t, const char *part)
{
    return t.size > 0 && memmem(t.data, t.size, part, strlen(part)) != NULL;
}

/* Old servers say "Too large resource version" only in the message, not as a cause. */
static bool read_status(const struct node *root, struct watch_event *event)
{
    if (!text_is(node_string(node_get(root, "kind")), "Status"))
        return false;
    struct text reason = node_string(node_get(root, "reason"));
    event->type = EVENT_ERROR;
    event->message = node_string(node_get(root, "message"));
    if (!node_integer(node_get(root, "code"), &event->code))
        event->code = 0;
    event->expired = event->code == 410 || text_is(reason, "Expired") || text_is(reason, "Gone");
    event->too_new = contains(event->message, "Too large resource version");
    const struct node *causes = node_at(root, "details.causes");
    FOR_ITEMS(item, causes)
        event->too_new |= text_is(node_string(node_get(item, "reason")), "ResourceVersionTooLarge");
    return true;
}

struct status_reading {
    struct text body;
    struct arena *arena;
    struct watch_event *event;
    bool done;
};

static void read_status_body(void *context)
{
    struct status_reading *reading = context;
    struct error error;
    const struct node *root = NULL;
    reading->done = read_tree(reading->body, HEAD_NODES_MAX, NULL, reading->arena, &root, &error) &&
                    read_status(root, reading->event);
}

bool status_read(struct text body, struct arena *arena, struct watch_event *event)
{
    struct error error = {0};
    struct status_reading reading = {body, arena, event, false};
    *event = (struct watch_event){0};
    return arena_guard(arena, read_status_body, &reading, &error) && reading.done;
}

/* The type, and the object as written. False: it is no event. */
static bool read_envelope(struct text body, bool cut, struct watch_event *event,
                          struct text *object)
{
    static const struct {
        const char *name;
        enum event_type type;
    } types[] = {{"ADDED", EVENT_PUT},
                 {"MODIFIED", EVENT_PUT},
                 {"DELETED", EVENT_REMOVE},
                 {"BOOKMARK", EVENT_BOOKMARK},
                 {"ERROR", EVENT_ERROR}};
    struct json_walk walk;
    struct text key, value, name = TEXT("");
    size_t names = 0, objects = 0, type = 0;
    bool goes_on = json_walk_begin(&walk, body);
    while (goes_on) {
        goes_on = json_walk_next(&walk, &key, &value);
        if (text_is(key, "object") && (goes_on || cut)) {
            *object = value;
            objects++;
        } else if (text_is(key, "type") && goes_on) {
            name = json_plain_string(value);
            names++;
        }
    }
    while (type < COUNT_OF(types) && !text_is(name, types[type].name))
        type++;
    if (type == COUNT_OF(types) || names != 1 || objects != 1 || object->data[0] != '{' ||
        !(walk.ended || cut))
        return false;
    event->type = types[type].type;
    return true;
}

enum read_result watch_event_read(const struct object_reader *reader, struct text body, bool cut,
                                  struct watch_event *event, struct error *error)
{
    struct text object = TEXT("");
    *event = (struct watch_event){0};
    if (!read_envelope(body, cut, event, &object)) {
        error_fill(error, ERROR_CLUSTER, NOWHERE, "an event is of no known type");
        return READ_FAILED;
    }
    if (event->type == EVENT_ERROR) {
        if (!status_read(object, reader->arena, event)) {
            event->type = EVENT_ERROR;
            event->message = TEXT("an error that says nothing");
        }
        return READ_DONE;
    }
    struct identity identity = identity_read(object);
    event->resource_version = identity.resource_version;
    if (event->resource_version.size == 0) {
        error_fill(error, ERROR_CLUSTER, NOWHERE, "an event has no resourceVersion");
        return READ_FAILED;
    }
    if (event->type == EVENT_BOOKMARK)
        return READ_DONE;
    return read_object(reader, object, cut, &identity, &event->object, error);
}
