/* Reads and writes Secrets, and the CA bundles of webhook configurations. */
#include <string.h>

#include "server/webhook_manager.h"

static const struct doc_limits limits = {.bytes = 8 << 20, .nodes = 200000, .depth = 64};

/* ---- reading ---- */

struct object_reader {
    const char *kind;
    struct arena *arena;
    struct text body;
    const struct node *root;
    bool done;
};

static void read_body(void *context)
{
    struct object_reader *reader = context;
    struct arena *arena = reader->arena;
    struct source *source = ARENA_NEW(arena, struct source);
    struct error error;
    source->text = arena_text(arena, reader->body);
    reader->done = doc_read_json(source, &limits, NULL, arena, &reader->root, &error) &&
                   text_is(node_string(node_get(reader->root, "kind")), reader->kind) &&
                   node_string(node_at(reader->root, "metadata.resourceVersion")).size > 0;
}

const struct node *object_of(enum resource resource, struct text body, struct arena *arena)
{
    struct object_reader reader = {
        .kind = resource_table[resource].kind, .arena = arena, .body = body};
    struct error error;
    return arena_guard(arena, read_body, &reader, &error) && reader.done ? reader.root : NULL;
}

static struct text *item_of(struct rotation_secret *secret, size_t i)
{
    return (struct text *)(void *)((char *)secret + rotation_items[i].offset);
}

void rotation_secret_read(const struct node *object, struct arena *arena,
                          struct rotation_secret *secret)
{
    const struct node *data = node_get(object, "data");
    *secret = (struct rotation_secret){0};
    for (size_t i = 0; i < ROTATION_ITEM_COUNT; i++) {
        struct text encoded = node_string(node_get(data, rotation_items[i].key));
        if (encoded.size == 0 || !text_from_base64(encoded, arena, item_of(secret, i)))
            *item_of(secret, i) = TEXT("");
    }
}

static bool is_ours(const struct webhook_manager_settings *settings, const struct node *entry)
{
    const struct node *service = node_at(entry, "clientConfig.service");
    return text_is(node_string(node_get(service, "name")), settings->service) &&
           text_is(node_string(node_get(service, "namespace")), settings->namespace);
}

struct webhook_entries entries_of(const struct webhook_manager_settings *settings,
                                  const struct node *configuration, struct arena *arena)
{
    const struct node *list = node_get(configuration, "webhooks");
    size_t count = node_is(list, NODE_LIST) ? node_count(list) : 0;
    struct webhook_entries entries = {.ours = ARENA_ARRAY(arena, count, const struct node *)};
    struct text_builder others = {.arena = arena};
    for (size_t i = 0; i < count; i++) {
        const struct node *entry = node_item(list, i);
        struct text name = node_string(node_get(entry, "name"));
        if (is_ours(settings, entry))
            entries.ours[entries.count++] = entry;
        else
            text_builder_printf(&others, "%s%.*s", others.size == 0 ? "" : ", ", TEXT_ARGS(name));
    }
    entries.others = text_builder_text(&others);
    return entries;
}

struct text bundle_of(const struct node *entry, struct arena *arena)
{
    struct text bundle;
    struct text encoded = node_string(node_at(entry, "clientConfig.caBundle"));
    return encoded.size > 0 && text_from_base64(encoded, arena, &bundle) ? bundle : TEXT("");
}

struct text bundle_manager(const struct node *configuration, struct arena *arena)
{
    struct text found = TEXT("");
    const struct node *managed = node_at(configuration, "metadata.managedFields");
    for (size_t i = 0; node_is(managed, NODE_LIST) && i < node_count(managed); i++) {
        const struct node *fields = node_get(node_item(managed, i), "fieldsV1");
        struct text manager = node_string(node_get(node_item(managed, i), "manager"));
        struct text text = fields == NULL ? TEXT("") : node_json(fields, arena);
        if (!text_is(manager, "taffrail") && text.size > 0 &&
            memmem(text.data, text.size, "f:caBundle", strlen("f:caBundle")) != NULL)
            found = manager;
    }
    return found;
}

/* ---- writing ---- */

static struct member *add_type(struct member *members, const struct resource_info *info)
{
    *members++ = member_of(TEXT("apiVersion"), node_of_text(text_of(info->api_version)));
    *members++ = member_of(TEXT("kind"), node_of_text(text_of(info->kind)));
    return members;
}

static bool is_rotated(struct text key)
{
    for (size_t i = 0; i < ROTATION_ITEM_COUNT; i++)
        if (text_is(key, rotation_items[i].key))
            return true;
    return false;
}

static struct node data_of(const struct node *old, const struct rotation_secret *secret,
                           struct arena *arena)
{
    struct rotation_secret copy = *secret;
    size_t old_count = node_is(old, NODE_MAP) ? node_count(old) : 0, count = 0;
    struct member *data = ARENA_ARRAY(arena, old_count + ROTATION_ITEM_COUNT, struct member);
    for (size_t i = 0; old != NULL && i < old_count; i++)
        if (!is_rotated(member_key(&old->members[i])))
            data[count++] = old->members[i];
    for (size_t i = 0; i < ROTATION_ITEM_COUNT; i++)
        if (item_of(&copy, i)->size > 0)
            data[count++] = member_of(text_of(rotation_items[i].key),
                                      node_of_text(text_base64(*item_of(&copy, i), arena)));
    return node_of_members(data, count);
}

static struct node new_metadata(const struct webhook_manager_settings *settings,
                                struct arena *arena)
{
    struct member *metadata = ARENA_ARRAY(arena, 2, struct member);
    metadata[0] = member_of(TEXT("name"), node_of_text(text_of(settings->secret)));
    metadata[1] = member_of(TEXT("namespace"), node_of_text(text_of(settings->namespace)));
    return node_of_members(metadata, 2);
}

struct text secret_body(const struct node *read, const struct webhook_manager_settings *settings,
                        const struct rotation_secret *secret, struct arena *arena)
{
    enum { NEW_MEMBERS = 5 };
    struct member *members = ARENA_ARRAY(arena, NEW_MEMBERS + node_count(read), struct member);
    struct member *end = members;
    if (read == NULL) {
        end = add_type(end, &resource_table[RESOURCE_SECRET]);
        *end++ = member_of(TEXT("metadata"), new_metadata(settings, arena));
        *end++ = member_of(TEXT("type"), node_of_text(TEXT("Opaque")));
    } else {
        for (size_t i = 0; i < node_count(read); i++)
            if (!text_is(member_key(&read->members[i]), "data"))
                *end++ = read->members[i];
    }
    *end++ = member_of(TEXT("data"), data_of(node_get(read, "data"), secret, arena));
    struct node root = node_of_members(members, (size_t)(end - members));
    return node_json(&root, arena);
}

static struct node entry_with(struct text name, struct text bundle, struct arena *arena)
{
    struct member *config = ARENA_NEW(arena, struct member);
    struct member *entry = ARENA_ARRAY(arena, 2, struct member);
    *config = member_of(TEXT("caBundle"), node_of_text(text_base64(bundle, arena)));
    entry[0] = member_of(TEXT("name"), node_of_text(name));
    entry[1] = member_of(TEXT("clientConfig"), node_of_members(config, 1));
    return node_of_members(entry, 2);
}

struct text bundles_body(enum resource resource, const struct node *configuration,
                         const struct webhook_entries *entries, struct text bundle,
                         struct arena *arena)
{
    static const char *const kept[] = {"name", "uid", "resourceVersion"};
    struct member *members = ARENA_ARRAY(arena, 4, struct member);
    struct member *metadata = ARENA_ARRAY(arena, COUNT_OF(kept), struct member);
    struct node *items = ARENA_ARRAY(arena, entries->count, struct node);
    struct member *end = add_type(members, &resource_table[resource]);
    for (size_t i = 0; i < COUNT_OF(kept); i++) {
        struct text value = node_string(node_get(node_get(configuration, "metadata"), kept[i]));
        metadata[i] = member_of(text_of(kept[i]), node_of_text(value));
    }
    for (size_t i = 0; i < entries->count; i++)
        items[i] = entry_with(node_string(node_get(entries->ours[i], "name")), bundle, arena);
    *end++ = member_of(TEXT("metadata"), node_of_members(metadata, COUNT_OF(kept)));
    *end++ = member_of(TEXT("webhooks"), node_of_items(items, entries->count));
    struct node root = node_of_members(members, (size_t)(end - members));
    return node_json(&root, arena);
}
