/* Objects as they are told, each as its text: small, and independent of what told it. */
#include <stdlib.h>
#include <string.h>

#include "kube/client/watch.h"

struct kept {
    struct kept *next;
    enum kind kind;
    uint64_t list; /* the last one it came in, or after which it came */
    size_t namespace_size, name_size, api_version_size, json_size;
    char bytes[]; /* namespace, name, apiVersion, JSON */
};

struct store {
    struct kept **buckets;
    size_t bucket_count, count;
    size_t counts[KIND_COUNT];
    uint64_t lists[KIND_COUNT];
    uint64_t version;
};

struct store *store_create(void)
{
    struct store *store = calloc(1, sizeof *store);
    struct kept **buckets = calloc(64, sizeof *buckets);
    if (store == NULL || buckets == NULL) {
        free(store);
        free(buckets);
        return NULL;
    }
    store->buckets = buckets;
    store->bucket_count = 64;
    return store;
}

void store_destroy(struct store *store)
{
    if (store == NULL)
        return;
    for (size_t i = 0; i < store->bucket_count; i++)
        for (struct kept *kept = store->buckets[i]; kept != NULL;) {
            struct kept *next = kept->next;
            free(kept);
            kept = next;
        }
    free(store->buckets);
    free(store);
}

/* FNV-1a */
static uint64_t mix(uint64_t hash, struct text t)
{
    for (size_t i = 0; i < t.size; i++)
        hash = (hash ^ (unsigned char)t.data[i]) * UINT64_C(1099511628211);
    return (hash ^ 0xFF) * UINT64_C(1099511628211);
}

static size_t bucket_of(const struct store *store, enum kind kind, struct text namespace,
                        struct text name)
{
    uint64_t hash = mix(mix(UINT64_C(14695981039346656037) + (uint64_t)kind, namespace), name);
    return (size_t)(hash % store->bucket_count);
}

static struct text kept_namespace(const struct kept *kept)
{
    return (struct text){kept->bytes, kept->namespace_size};
}

static struct text kept_name(const struct kept *kept)
{
    return (struct text){kept->bytes + kept->namespace_size, kept->name_size};
}

static struct kept **find(struct store *store, const struct object *object)
{
    struct kept **at =
        &store->buckets[bucket_of(store, object->kind, object->namespace, object->name)];
    while (*at != NULL &&
           !((*at)->kind == object->kind && text_equal(kept_namespace(*at), object->namespace) &&
             text_equal(kept_name(*at), object->name)))
        at = &(*at)->next;
    return at;
}

/* Without memory for more buckets the chains are longer, and that is all. */
static void spread(struct store *store)
{
    struct store wider = {.bucket_count = store->bucket_count * 2};
    wider.buckets = calloc(wider.bucket_count, sizeof *wider.buckets);
    if (wider.buckets == NULL)
        return;
    for (size_t i = 0; i < store->bucket_count; i++)
        for (struct kept *kept = store->buckets[i]; kept != NULL;) {
            struct kept *next = kept->next;
            size_t bucket = bucket_of(&wider, kept->kind, kept_namespace(kept), kept_name(kept));
            kept->next = wider.buckets[bucket];
            wider.buckets[bucket] = kept;
            kept = next;
        }
    free(store->buckets);
    store->buckets = wider.buckets;
    store->bucket_count = wider.bucket_count;
}

static char *append(char *at, struct text t)
{
    if (t.size > 0)
        memcpy(at, t.data, t.size);
    return at + t.size;
}

static void unlink_kept(struct store *store, struct kept **at)
{
    struct kept *gone = *at;
    *at = gone->next;
    store->count--;
    store->counts[gone->kind]--;
    store->version++;
    free(gone);
}

static bool put(void *context, const struct watch_object *told)
{
    struct store *store = context;
    const struct object *object = told->object;
    struct kept *kept = malloc(sizeof *kept + object->namespace.size + object->name.size +
                               object->api_version.size + told->json.size);
    if (kept == NULL)
        return false;
    *kept = (struct kept){.kind = object->kind,
                          .list = store->lists[object->kind],
                          .namespace_size = object->namespace.size,
                          .name_size = object->name.size,
                          .api_version_size = object->api_version.size,
                          .json_size = told->json.size};
    char *end = append(append(kept->bytes, object->namespace), object->name);
    append(append(end, object->api_version), told->json);
    struct kept **at = find(store, object);
    if (*at != NULL)
        unlink_kept(store, at);
    kept->next = *at;
    *at = kept;
    store->count++;
    store->counts[kept->kind]++;
    store->version++;
    if (store->count > store->bucket_count)
        spread(store);
    return true;
}

static bool remove_object(void *context, const struct watch_object *told)
{
    struct store *store = context;
    struct kept **at = find(store, told->object);
    if (*at != NULL)
        unlink_kept(store, at);
    return true;
}

static bool begin_list(void *context, enum kind kind)
{
    struct store *store = context;
    store->lists[kind]++;
    return true;
}

/* What did not come in this list has been deleted unseen. */
static bool end_list(void *context, enum kind kind)
{
    struct store *store = context;
    for (size_t i = 0; i < store->bucket_count; i++)
        for (struct kept **at = &store->buckets[i]; *at != NULL;) {
            if ((*at)->kind == kind && (*at)->list != store->lists[kind])
                unlink_kept(store, at);
            else
                at = &(*at)->next;
        }
    return true;
}

static void say(void *context, enum kind kind, enum log_level level, const char *message)
{
    (void)context;
    log_line(level, "client", kind_table[kind].plural, NULL, "%s", message);
}

struct watch_sink store_sink(struct store *store)
{
    return (struct watch_sink){.context = store,
                               .list_begin = begin_list,
                               .list_end = end_list,
                               .put = put,
                               .remove = remove_object,
                               .say = say};
}

size_t store_count(const struct store *store, enum kind kind)
{
    return store->counts[kind];
}

uint64_t store_version(const struct store *store)
{
    return store->version;
}

struct building {
    const struct store *store;
    struct arena *arena;
    const struct snapshot *snapshot;
};

static void build(void *context)
{
    struct building *building = context;
    struct arena *arena = building->arena;
    struct snapshot_builder *builder = snapshot_builder_create(arena);
    for (size_t i = 0; i < building->store->bucket_count; i++)
        for (const struct kept *kept = building->store->buckets[i]; kept != NULL;
             kept = kept->next) {
            const char *api_version = kept->bytes + kept->namespace_size + kept->name_size;
            struct text versions = {api_version, kept->api_version_size};
            struct text json = {api_version + kept->api_version_size, kept->json_size};
            struct object object;
            struct error ignored; /* it was an object when it was put */
            if (object_reread(arena_text(arena, json), arena_text(arena, versions), kept->kind,
                              arena, &object, &ignored))
                snapshot_put(builder, &object);
        }
    building->snapshot = snapshot_build(builder);
}

bool store_snapshot(const struct store *store, struct arena *arena,
                    const struct snapshot **snapshot, struct error *error)
{
    struct building building = {store, arena, NULL};
    if (!arena_guard(arena, build, &building, error))
        return false;
    *snapshot = building.snapshot;
    return true;
}
