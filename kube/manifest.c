/* Reads objects from files and streams. */
#include "kube/manifest.h"

#include <string.h>

#include "kube/object.h"

struct manifest_reader {
    struct manifests *manifests;
    struct source *source;
    struct text default_namespace;
};

static void add_object(struct manifest_reader *reader, const struct node *root)
{
    struct manifests *manifests = reader->manifests;
    struct object object;
    struct error error;
    if (!object_read(root, reader->source, reader->default_namespace, manifests->arena, &object,
                     &error)) {
        if (error.place.file == NULL)
            error.place.file = reader->source->file;
        problems_add_error(&manifests->problems, &error);
    } else if (object.kind == KIND_UNKNOWN && !manifests->keep_unknown) {
        manifests->skipped++;
    } else {
        *LIST_PUSH(manifests->arena, manifests) = object;
    }
}

/* The items of a typed list, as the API server sends it, have neither apiVersion nor kind: the list
 * has both. */
static const struct node *complete_item(struct arena *arena, const struct node *item,
                                        const struct node *api_version, struct text item_kind)
{
    if (!node_is(item, NODE_MAP) || node_get(item, "kind") != NULL || item_kind.size == 0)
        return item;
    size_t count = node_count(item);
    struct member *members = ARENA_ARRAY(arena, count + 2, struct member);
    if (count > 0)
        memcpy(members + 2, item->members, count * sizeof *members);
    members[0] = (struct member){"apiVersion", 10, item->offset, *api_version};
    members[1] = (struct member){"kind", 4, item->offset, *api_version};
    members[1].value = node_of_text(item_kind);
    members[1].value.offset = api_version->offset;
    struct node completed = node_of_members(members, count + 2);
    completed.offset = item->offset;
    return node_keep(arena, completed);
}

static void unfold(struct manifest_reader *reader, const struct node *root);

static void unfold_list(struct manifest_reader *reader, const struct node *root, struct text kind)
{
    struct text item_kind = {kind.data, kind.size - strlen("List")};
    const struct node *api_version = node_get(root, "apiVersion");
    const struct node *items = node_get(root, "items");
    for (size_t i = 0; i < node_count(items); i++) {
        const struct node *item = node_item(items, i);
        if (node_is(api_version, NODE_STRING))
            item = complete_item(reader->manifests->arena, item, api_version, item_kind);
        unfold(reader, item);
    }
}

static void unfold(struct manifest_reader *reader, const struct node *root)
{
    struct text kind = node_string(node_get(root, "kind"));
    if (text_ends_with(kind, TEXT("List")) && node_is(node_get(root, "items"), NODE_LIST)) {
        unfold_list(reader, root, kind);
    } else if (text_is(kind, "AdmissionReview")) {
        const struct node *object = node_at(root, "request.object");
        if (!node_is(object, NODE_MAP))
            object = node_at(root, "request.oldObject");
        add_object(reader, object == NULL ? root : object);
    } else {
        add_object(reader, root);
    }
}

static void take_document(void *context, const struct node *root)
{
    if (!node_is(root, NODE_NULL))
        unfold(context, root);
}

static bool looks_like_json(struct text text)
{
    size_t i = 0;
    while (i < text.size && strchr(" \t\r\n", text.data[i]) != NULL && text.data[i] != '\0')
        i++;
    return i < text.size && text.data[i] == '{';
}

/* JSON is tried first where it looks like it: the reader is faster and its errors speak of JSON.
 * What is not JSON may still be YAML in flow style. */
static void read_source(struct manifest_reader *reader, bool only_json)
{
    struct manifests *manifests = reader->manifests;
    struct source *source = reader->source;
    if (only_json || looks_like_json(source->text)) {
        const struct node *root = NULL;
        struct error error;
        struct problems duplicates = {.arena = manifests->arena};
        if (doc_read_json(source, &doc_limits_manifest, &duplicates, manifests->arena, &root,
                          &error)) {
            for (size_t i = 0; i < duplicates.count; i++)
                problems_add_error(&manifests->problems, &duplicates.items[i]);
            take_document(reader, root);
            return;
        }
        if (only_json) {
            problems_add_error(&manifests->problems, &error);
            return;
        }
    }
    doc_read_yaml(source, YAML_MANIFEST, &doc_limits_manifest, manifests->arena,
                  &manifests->problems, take_document, reader);
}

static void read_file(struct manifests *manifests, const char *path, struct text default_namespace)
{
    struct arena *arena = manifests->arena;
    struct source *source = ARENA_NEW(arena, struct source);
    bool standard_input = strcmp(path, "-") == 0;
    source->file = arena_text(arena, text_of(standard_input ? "<stdin>" : path)).data;
    struct error error;
    if (!file_read(path, doc_limits_manifest.bytes, arena, &source->text, &error)) {
        problems_add_error(&manifests->problems, &error);
        return;
    }
    source_find_lines(source, arena);
    struct manifest_reader reader = {manifests, source, default_namespace};
    read_source(&reader, text_ends_with(text_of(path), TEXT(".json")));
}

void manifests_init(struct manifests *manifests, struct arena *arena)
{
    *manifests = (struct manifests){.arena = arena, .problems = {.arena = arena}};
}

void manifests_read(struct manifests *manifests, const char *path, struct text default_namespace)
{
    if (!path_is_folder(path)) {
        read_file(manifests, path, default_namespace);
        return;
    }
    struct path_list files = {0};
    folder_find_documents(path, manifests->arena, &files, &manifests->problems);
    for (size_t i = 0; i < files.count; i++)
        read_file(manifests, files.items[i], default_namespace);
}
