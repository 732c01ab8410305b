/* Reads Events of audit.k8s.io/v1. */
#include "kube/audit_event.h"

/* ---- what is read ---- */

/* No rail reads who last wrote which field; it may be nested deeper than any object. */
static const char root_part, object_part, metadata_part;

static enum doc_want wants(const void *within, struct text key, const void **inside)
{
    *inside = NULL;
    if (within == &root_part && (text_is(key, "requestObject") || text_is(key, "responseObject")))
        *inside = &object_part;
    else if (within == &object_part && text_is(key, "metadata"))
        *inside = &metadata_part;
    return within != &metadata_part || !text_is(key, "managedFields") ? DOC_READ : DOC_SKIP;
}

static const struct node *read_json(struct text json, struct arena *arena)
{
    static const struct doc_choice choice = {.root = &root_part, .wants = wants};
    struct doc_limits limits = doc_limits_review;
    limits.choice = &choice;
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = json;
    const struct node *root = NULL;
    struct error error;
    return doc_read_json(source, &limits, NULL, arena, &root, &error) ? root : NULL;
}

/* ---- parts ---- */

static void read_user(const struct node *root, struct arena *arena, struct audit_event *event)
{
    const struct node *user = node_get(root, "impersonatedUser");
    if (!node_is(user, NODE_MAP))
        user = node_get(root, "user");
    const struct node *groups = node_get(user, "groups");
    size_t count = node_is(groups, NODE_LIST) ? node_count(groups) : 0;
    struct text *items = ARENA_ARRAY(arena, count, struct text);
    for (size_t i = 0; i < count; i++)
        items[i] = node_string(node_item(groups, i));
    event->user = node_string(node_get(user, "username"));
    event->groups = items;
    event->group_count = count;
}

static bool has_dry_run(struct text uri)
{
    struct text path = TEXT("");
    struct text query = TEXT("");
    struct text option = TEXT("");
    if (!text_split(uri, '?', &path, &query))
        return false;
    while (query.size > 0) {
        struct text rest = {query.data + query.size, 0};
        option = query;
        text_split(query, '&', &option, &rest);
        if (text_starts_with(option, TEXT("dryRun=")) && !text_is(option, "dryRun="))
            return true;
        query = rest;
    }
    return false;
}

static const struct node *given(const struct node *node)
{
    return node_is(node, NODE_MAP) ? node : NULL;
}

static void read_event(const struct node *root, struct text json, struct arena *arena,
                       struct audit_event *event)
{
    const struct node *ref = node_get(root, "objectRef");
    const struct node *status = node_get(root, "responseStatus");
    *event = (struct audit_event){
        .stage = node_string(node_get(root, "stage")),
        .verb = node_string(node_get(root, "verb")),
        .received = node_string(node_get(root, "requestReceivedTimestamp")),
        .group = node_string(node_get(ref, "apiGroup")),
        .resource = node_string(node_get(ref, "resource")),
        .subresource = node_string(node_get(ref, "subresource")),
        .namespace = node_string(node_get(ref, "namespace")),
        .name = node_string(node_get(ref, "name")),
        .message = node_string(node_get(status, "message")),
        .dry_run = has_dry_run(node_string(node_get(root, "requestURI"))),
        .request_object = given(node_get(root, "requestObject")),
        .response_object = given(node_get(root, "responseObject")),
        .annotations = given(node_get(root, "annotations")),
    };
    (void)!node_integer(node_get(status, "code"), &event->code);
    event->cut =
        text_is(node_string(node_get(event->annotations, "audit.k8s.io/truncated")), "true");
    if (event->request_object != NULL)
        event->request_json = json_find(json, "requestObject");
    if (event->response_object != NULL)
        event->response_json = json_find(json, "responseObject");
    read_user(root, arena, event);
}

/* ---- the whole ---- */

static bool is_event(const struct node *root)
{
    return text_is(node_string(node_get(root, "kind")), "Event") &&
           text_starts_with(node_string(node_get(root, "apiVersion")), TEXT("audit.k8s.io/"));
}

bool audit_event_read(struct text record, struct arena *arena, struct audit_event *event)
{
    const struct node *root = read_json(record, arena);
    const struct node *message = node_get(root, "message");
    if (root != NULL && !is_event(root) && node_is(message, NODE_STRING)) {
        record = node_string(message);
        root = read_json(record, arena);
    }
    if (root == NULL || !is_event(root))
        return false;
    read_event(root, record, arena, event);
    return true;
}
