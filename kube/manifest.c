/* Makes objects of the text of a file. */
#include <string.h>

#include "kube/manifest_text.h"
#include "kube/object.h"

struct manifest_reader {
    struct manifests *manifests;
    struct source *source;
    struct text default_namespace;
    bool holds_objects;        /* whole ones or broken ones */
    struct problems strangers; /* documents that are no object */
};

/* With metadata and one of the two a document was meant to be an object. */
static bool is_object(const struct node *root)
{
    bool versioned = node_string(node_get(root, "apiVersion")).size > 0;
    bool kinded = node_string(node_get(root, "kind")).size > 0;
    return (versioned && kinded) ||
           ((versioned || kinded) && node_is(node_get(root, "metadata"), NODE_MAP));
}

static void add_object(struct manifest_reader *reader, const struct node *root)
{
    struct manifests *manifests = reader->manifests;
    struct object object;
    struct error error;
    bool stranger = !is_object(root);
    reader->holds_objects |= !stranger;
    if (!object_read(root, reader->source, reader->default_namespace, manifests->arena, &object,
                     &error)) {
        problems_add_error(stranger ? &reader->strangers : &manifests->problems, &error);
    } else if (object.kind == KIND_UNKNOWN && !manifests->keep_unknown) {
        manifests->skipped++;
    } else {
        object.origin = manifests->origin;
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

/* kubectl takes an object of any kind for a list when it has items, and applies those alone. */
static bool is_list(const struct node *root, struct text kind)
{
    const struct node *items = node_get(root, "items");
    size_t maps = 0;
    if (!node_is(items, NODE_LIST) || text_ends_with(kind, TEXT("List")))
        return node_is(items, NODE_LIST);
    FOR_ITEMS(item, items)
        maps += node_is(item, NODE_MAP);
    return is_object(root) && maps > 0 && maps == node_count(items);
}

static void unfold(struct manifest_reader *reader, const struct node *root);

static void unfold_list(struct manifest_reader *reader, const struct node *root, struct text kind)
{
    struct text item_kind = kind;
    if (text_ends_with(kind, TEXT("List")))
        item_kind.size -= strlen("List");
    const struct node *api_version = node_get(root, "apiVersion");
    const struct node *items = node_get(root, "items");
    reader->holds_objects = true;
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
    if (is_list(root, kind)) {
        unfold_list(reader, root, kind);
    } else if (text_is(kind, "AdmissionReview")) {
        const struct node *object = node_at(root, "request.object");
        if (!node_is(object, NODE_MAP))
            object = node_at(root, "request.oldObject");
        reader->holds_objects = true;
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

/* JSON with comments, as editors and compilers have it, which no tool of Kubernetes reads. What has
 * an apiVersion may be YAML, which kubectl reads in such a file, too. What is wrong with an input
 * has a line and a column. */
static bool is_commented_json(const struct source *source, const struct error *error)
{
    struct text text = source->text;
    if (error->kind != ERROR_INPUT || text_holds(text, TEXT("apiVersion")))
        return false;
    size_t at = source->line_starts[error->place.line - 1] + error->place.column - 1;
    return at + 1 < text.size && text.data[at] == '/' &&
           (text.data[at + 1] == '/' || text.data[at + 1] == '*');
}

static void take_json(struct manifest_reader *reader, const struct node_list *roots,
                      struct problems *duplicates, struct problems *problems)
{
    for (size_t i = 0; i < duplicates->count; i++) {
        duplicates->items[i].kind = ERROR_TWICE;
        problems_add_error(problems, &duplicates->items[i]);
    }
    for (size_t i = 0; i < roots->count; i++)
        take_document(reader, roots->items[i]);
}

/* JSON, of which kubectl takes several values one after the other, is tried first where it looks
 * like it: the reader is faster and its errors speak of JSON. What is not JSON may still be YAML in
 * flow style. */
static void read_documents(struct manifest_reader *reader, bool only_json,
                           struct problems *problems)
{
    struct source *source = reader->source;
    struct arena *arena = reader->manifests->arena;
    if (only_json || text_opens_with(source->text, "{")) {
        struct node_list roots = {0};
        struct error error;
        struct problems duplicates = {.arena = arena};
        bool good =
            doc_read_json_values(source, &doc_limits_manifest, &duplicates, arena, &roots, &error);
        if (good || only_json)
            take_json(reader, &roots, &duplicates, problems);
        if (good)
            return;
        if (only_json) {
            if (!is_commented_json(source, &error))
                problems_add_error(problems, &error);
            return;
        }
    }
    doc_read_yaml(source, YAML_MANIFEST, &doc_limits_manifest, arena, problems, take_document,
                  reader);
}

/* ---- a file ---- */

enum { WARNINGS_OF_A_FILE = 20 };

/* Some of a file's problems are warnings. */
static void sort_problems(struct manifests *manifests, const struct problems *found)
{
    size_t warned = 0;
    for (size_t i = 0; i < found->count; i++) {
        bool twice = found->items[i].kind == ERROR_TWICE;
        warned += twice;
        if (!twice)
            problems_add_error(&manifests->problems, &found->items[i]);
        else if (warned <= WARNINGS_OF_A_FILE)
            problems_add_error(&manifests->warnings, &found->items[i]);
    }
    if (warned <= WARNINGS_OF_A_FILE)
        return;
    size_t more = warned - WARNINGS_OF_A_FILE;
    problems_add(&manifests->warnings, ERROR_TWICE,
                 (struct place){found->items[0].place.file, 0, 0}, "%zu more key%s twice in a map",
                 more, more == 1 ? " stands" : "s stand");
}

static void add_strangers(struct manifests *manifests, const struct problems *strangers)
{
    for (size_t i = 0; i < strangers->count; i++)
        problems_add_error(&manifests->problems, &strangers->items[i]);
}

static void say_no_object(struct manifests *manifests, const char *file)
{
    problems_add(&manifests->problems, ERROR_INPUT, (struct place){file, 0, 0},
                 "holds no Kubernetes object");
}

/* A document without apiVersion and kind is a mistake beside objects, or beside what may have been
 * one; a file of nothing else is another program's. */
void manifests_read_text(struct manifests *manifests, struct source *source,
                         struct text default_namespace, bool only_json)
{
    struct arena *arena = manifests->arena;
    struct problems found = {.arena = arena};
    struct manifest_reader reader = {.manifests = manifests,
                                     .source = source,
                                     .default_namespace = default_namespace,
                                     .strangers = {.arena = arena}};
    source_find_lines(source, arena);
    read_documents(&reader, only_json, &found);
    bool broken = problems_have_errors(&found);
    if (reader.holds_objects || broken || manifests->strict_files)
        add_strangers(manifests, &reader.strangers);
    else
        manifests->skipped_files++;
    sort_problems(manifests, &found);
    if (manifests->strict_files && !broken && !reader.holds_objects && reader.strangers.count == 0)
        say_no_object(manifests, source->file);
}
