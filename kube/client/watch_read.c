/* The answers to lists and watches: where one ends, and what it says. */
#include "kube/client/watch.h"

#include <string.h>

enum { NODES_MAX = 16000000, DEPTH_MAX = 128 };

/* ---- where a value ends ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

enum value_scan_result value_scan(struct value_scan *scan, struct text bytes, size_t *used)
{
    for (size_t i = 0; i < bytes.size; i++) {
        char c = bytes.data[i];
        if (scan->in_string) {
            if (scan->escaped)
                scan->escaped = false;
            else if (c == '\\')
                scan->escaped = true;
            else if (c == '"')
                scan->in_string = false;
        } else if (scan->depth == 0 && c != '{') {
            if (!is_space(c))
                return SCAN_BAD;
        } else if (c == '"') {
            scan->in_string = true;
        } else if (c == '{' || c == '[') {
            scan->depth++;
        } else if ((c == '}' || c == ']') && --scan->depth == 0) {
            *used = i + 1;
            return SCAN_WHOLE;
        }
    }
    *used = bytes.size;
    return SCAN_MORE;
}

/* ---- what an answer says ---- */

static bool read_tree(struct text json, struct arena *arena, const struct node **root,
                      struct error *error)
{
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = json;
    struct doc_limits limits = {.bytes = json.size, .nodes = NODES_MAX, .depth = DEPTH_MAX};
    return doc_read_json(source, &limits, NULL, arena, root, error);
}

/* Items of a list of a built-in kind say neither apiVersion nor kind. */
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
        struct text key = {node->members[i].key, node->members[i].key_size};
        if (!text_is(key, "apiVersion") && !text_is(key, "kind"))
            members[count++] = node->members[i];
    }
    return node_keep(arena, node_of_members(members, count));
}

static bool read_object(const struct node *node, struct text api_version, enum kind kind,
                        struct arena *arena, struct object *object, struct error *error)
{
    struct text kind_name = text_of(kind_table[kind].name);
    const struct node *named = name_type(node, api_version, kind_name, arena);
    if (!object_read(named, NULL, TEXT(""), arena, object, error))
        return false;
    if (object->kind != kind || object->name.size == 0 ||
        (kind_table[kind].namespaced && object->namespace.size == 0))
        return error_set(error, ERROR_CLUSTER, NOWHERE, "an object is no %s with a name",
                         kind_table[kind].name);
    return true;
}

struct reading {
    struct text body;
    enum kind kind;
    const char *version;
    struct arena *arena;
    struct list_page *page;
    struct watch_event *event;
    struct error *error;
    bool done;
};

static bool read_page(struct reading *reading)
{
    struct arena *arena = reading->arena;
    struct list_page *page = reading->page;
    const struct node *root = NULL;
    if (!read_tree(reading->body, arena, &root, reading->error))
        return false;
    const struct node *items = node_get(root, "items");
    page->resource_version = node_string(node_at(root, "metadata.resourceVersion"));
    page->continue_token = node_string(node_at(root, "metadata.continue"));
    /* Go writes a list of none as null in places. */
    bool listed = node_is(items, NODE_LIST) || node_is(items, NODE_NULL);
    if (!text_ends_with(node_string(node_get(root, "kind")), TEXT("List")) || !listed ||
        page->resource_version.size == 0)
        return error_set(reading->error, ERROR_CLUSTER, NOWHERE,
                         "the answer is no list with a resourceVersion");
    struct text api_version = kind_api_version(reading->kind, reading->version, arena);
    for (size_t i = 0; node_is(items, NODE_LIST) && i < node_count(items); i++)
        if (!read_object(node_item(items, i), api_version, reading->kind, arena,
                         LIST_PUSH(arena, &page->objects), reading->error))
            return false;
    return true;
}

static void read_page_body(void *context)
{
    struct reading *reading = context;
    reading->done = read_page(reading);
}

bool list_page_read(struct text body, enum kind kind, const char *version, struct arena *arena,
                    struct list_page *page, struct error *error)
{
    struct reading reading = {body, kind, version, arena, page, NULL, error, false};
    *page = (struct list_page){0};
    return arena_guard(arena, read_page_body, &reading, error) && reading.done;
}

static bool contains(struct text t, const char *part)
{
    return t.size > 0 && memmem(t.data, t.size, part, strlen(part)) != NULL;
}

/* "Too large resource version" has stood for its cause since before there was one. */
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
    for (size_t i = 0; node_is(causes, NODE_LIST) && i < node_count(causes); i++)
        event->too_new |= text_is(node_string(node_get(node_item(causes, i), "reason")),
                                  "ResourceVersionTooLarge");
    return true;
}

static bool read_event(struct reading *reading)
{
    static const struct {
        const char *name;
        enum event_type type;
    } types[] = {{"ADDED", EVENT_PUT},
                 {"MODIFIED", EVENT_PUT},
                 {"DELETED", EVENT_REMOVE},
                 {"BOOKMARK", EVENT_BOOKMARK},
                 {"ERROR", EVENT_ERROR}};
    struct watch_event *event = reading->event;
    const struct node *root = NULL;
    if (!read_tree(reading->body, reading->arena, &root, reading->error))
        return false;
    struct text name = node_string(node_get(root, "type"));
    const struct node *object = node_get(root, "object");
    size_t type = 0;
    while (type < COUNT_OF(types) && !text_is(name, types[type].name))
        type++;
    if (type == COUNT_OF(types) || !node_is(object, NODE_MAP))
        return error_set(reading->error, ERROR_CLUSTER, NOWHERE, "an event is of no known type");
    event->type = types[type].type;
    if (event->type == EVENT_ERROR) {
        if (!read_status(object, event))
            event->message = TEXT("an error that says nothing");
        return true;
    }
    event->resource_version = node_string(node_at(object, "metadata.resourceVersion"));
    if (event->resource_version.size == 0)
        return error_set(reading->error, ERROR_CLUSTER, NOWHERE, "an event has no resourceVersion");
    if (event->type == EVENT_BOOKMARK)
        return true;
    struct text api_version = kind_api_version(reading->kind, reading->version, reading->arena);
    return read_object(object, api_version, reading->kind, reading->arena, &event->object,
                       reading->error);
}

static void read_event_body(void *context)
{
    struct reading *reading = context;
    reading->done = read_event(reading);
}

bool watch_event_read(struct text body, enum kind kind, const char *version, struct arena *arena,
                      struct watch_event *event, struct error *error)
{
    struct reading reading = {body, kind, version, arena, NULL, event, error, false};
    *event = (struct watch_event){0};
    return arena_guard(arena, read_event_body, &reading, error) && reading.done;
}

static void read_status_body(void *context)
{
    struct reading *reading = context;
    const struct node *root = NULL;
    reading->done = read_tree(reading->body, reading->arena, &root, reading->error) &&
                    read_status(root, reading->event);
}

bool status_read(struct text body, struct arena *arena, struct watch_event *event)
{
    struct error error = {0};
    struct reading reading = {body, KIND_UNKNOWN, "", arena, NULL, event, &error, false};
    *event = (struct watch_event){0};
    return arena_guard(arena, read_status_body, &reading, &error) && reading.done;
}
