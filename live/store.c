/* The objects of a watched cluster, as they are now. */
#include "live/store.h"

#include <stdlib.h>

#include "live/store_internal.h"

enum { FIRST_BUCKETS = 16, FIRST_TOUCHED = 16 };

struct store *store_create(void)
{
    struct store *store = calloc(1, sizeof *store);
    if (store == NULL || !versions_begin(store)) {
        free(store);
        return NULL;
    }
    store->limit_bytes = SIZE_MAX;
    return store;
}

static void destroy_entries(struct store *store, struct entries *entries)
{
    for (size_t i = 0; i < entries->bucket_count; i++)
        for (struct entry *entry = entries->buckets[i]; entry != NULL;) {
            struct entry *next = entry->next;
            if (entry->now != entry->version)
                stored_destroy(entry->now, &store->trees);
            stored_destroy(entry->version, &store->trees);
            free(entry);
            entry = next;
        }
    free(entries->buckets);
    free(entries->touched);
}

void store_destroy(struct store *store)
{
    if (store == NULL)
        return;
    versions_destroy(store);
    for (size_t kind = 0; kind < KIND_COUNT; kind++)
        destroy_entries(store, &store->kinds[kind]);
    shared_trees_destroy(&store->trees);
    free(store->changes);
    free(store->injuries);
    free(store);
}

/* ---- entries by name ---- */

/* FNV-1a */
static uint64_t mix(uint64_t hash, struct text t)
{
    for (size_t i = 0; i < t.size; i++)
        hash = (hash ^ (unsigned char)t.data[i]) * UINT64_C(1099511628211);
    return (hash ^ 0xFF) * UINT64_C(1099511628211);
}

static uint64_t hash_of(struct text namespace, struct text name)
{
    uint64_t hash = mix(mix(UINT64_C(14695981039346656037), namespace), name);
    return hash ^ (hash >> 32);
}

static struct entry **bucket_of(const struct entries *entries, uint64_t hash)
{
    return &entries->buckets[hash & (entries->bucket_count - 1)];
}

/* An entry that is gone and in no version has no name any more. */
static bool has_name(const struct entry *entry, struct text namespace, struct text name)
{
    const struct stored *kept = entry->now != NULL ? entry->now : entry->version;
    return kept != NULL && text_equal(kept->object.name, name) &&
           text_equal(kept->object.namespace, namespace);
}

static struct entry *find(const struct entries *entries, struct text namespace, struct text name)
{
    if (entries->bucket_count == 0)
        return NULL;
    uint64_t hash = hash_of(namespace, name);
    struct entry *entry = *bucket_of(entries, hash);
    while (entry != NULL && !(entry->hash == hash && has_name(entry, namespace, name)))
        entry = entry->next;
    return entry;
}

static bool spread(struct entries *entries)
{
    struct entries wider = {.bucket_count = entries->bucket_count == 0 ? FIRST_BUCKETS
                                                                       : entries->bucket_count * 2};
    wider.buckets = calloc(wider.bucket_count, sizeof(struct entry *));
    if (wider.buckets == NULL)
        return false;
    for (size_t i = 0; i < entries->bucket_count; i++)
        for (struct entry *entry = entries->buckets[i]; entry != NULL;) {
            struct entry *next = entry->next;
            struct entry **bucket = bucket_of(&wider, entry->hash);
            entry->next = *bucket;
            *bucket = entry;
            entry = next;
        }
    free(entries->buckets);
    entries->buckets = wider.buckets;
    entries->bucket_count = wider.bucket_count;
    return true;
}

/* NULL: malloc failed. */
static struct entry *add(struct entries *entries, struct text namespace, struct text name)
{
    /* Without memory for more buckets the chains only get longer. */
    if (entries->count >= entries->bucket_count && !spread(entries) && entries->bucket_count == 0)
        return NULL;
    struct entry *entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return NULL;
    entry->hash = hash_of(namespace, name);
    struct entry **bucket = bucket_of(entries, entry->hash);
    entry->next = *bucket;
    *bucket = entry;
    entries->count++;
    return entry;
}

void entry_forget(struct entries *entries, struct entry *entry)
{
    struct entry **at = bucket_of(entries, entry->hash);
    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    entries->count--;
    free(entry);
}

/* ---- changes ---- */

/* False: malloc failed. */
static bool touch(struct entries *entries, struct entry *entry)
{
    if (entry->touched)
        return true;
    if (entries->touched_count == entries->touched_capacity) {
        size_t capacity =
            entries->touched_capacity == 0 ? FIRST_TOUCHED : entries->touched_capacity * 2;
        struct entry **wider = realloc(entries->touched, capacity * sizeof(struct entry *));
        if (wider == NULL)
            return false;
        entries->touched = wider;
        entries->touched_capacity = capacity;
    }
    entries->touched[entries->touched_count++] = entry;
    entry->touched = true;
    return true;
}

static size_t differs(const struct entry *entry)
{
    return entry->now != entry->version ? 1 : 0;
}

static void replace(struct store *store, struct entries *entries, struct entry *entry,
                    struct stored *now)
{
    struct stored *before = entry->now;
    store->change_count -= differs(entry);
    entry->now = now;
    store->change_count += differs(entry);
    if (before != NULL) {
        entries->object_count--;
        entries->unreadable_count -= before->unreadable ? 1 : 0;
        entries->object_bytes -= before->size_bytes;
        if (before != entry->version)
            stored_destroy(before, &store->trees);
    }
    if (now != NULL) {
        entries->object_count++;
        entries->unreadable_count += now->unreadable ? 1 : 0;
        entries->object_bytes += now->size_bytes;
    }
}

/* ---- room ---- */

void store_limit(struct store *store, size_t bytes)
{
    store->limit_bytes = bytes;
}

static size_t used_bytes(const struct store *store)
{
    size_t bytes = 0;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        bytes += store_bytes(store, kind) + store->kinds[kind].count * sizeof(struct entry);
    return bytes;
}

/* Kinds that anybody can make leave room for the others, and all but claims leave room for claims.
 */
static size_t limit_of(const struct store *store, enum kind kind)
{
    if (!kind_table[kind].namespaced)
        return store->limit_bytes;
    size_t quarter = store->limit_bytes / 4;
    return kind == KIND_PERSISTENT_VOLUME_CLAIM ? 3 * quarter : 2 * quarter;
}

/* Room for an object that replaces before (may be NULL). Names get an eighth more. */
static bool has_room(const struct store *store, enum kind kind, const struct stored *kept,
                     const struct stored *before)
{
    size_t limit = limit_of(store, kind);
    if (store->limit_bytes == SIZE_MAX)
        return true;
    if (kept->unreadable)
        limit += limit / 8;
    return used_bytes(store) + kept->size_bytes <=
           limit + (before == NULL ? 0 : before->size_bytes);
}

bool store_has_room(const struct store *store)
{
    return used_bytes(store) < store->limit_bytes / 4;
}

bool store_lacks(const struct store *store, enum kind kind)
{
    return store->kinds[kind].lack.objects;
}

bool store_misses(const struct store *store, enum kind kind)
{
    return store->kinds[kind].lack.names;
}

/* ---- putting and removing ---- */

/* Takes ownership. False: malloc failed. */
static bool keep(struct store *store, struct entries *entries, struct entry *entry,
                 struct stored *kept)
{
    const struct object *object = &kept->object;
    bool is_new = entry == NULL;
    if (is_new)
        entry = add(entries, object->namespace, object->name);
    if (!is_new && entry->now != NULL && stored_equal(entry->now, kept)) {
        entry->list = entries->list;
        stored_destroy(kept, &store->trees);
        return true;
    }
    if (entry == NULL || !touch(entries, entry)) {
        if (is_new && entry != NULL)
            entry_forget(entries, entry);
        stored_destroy(kept, &store->trees);
        return false;
    }
    if (entry->version != NULL && stored_equal(entry->version, kept)) {
        stored_destroy(kept, &store->trees);
        kept = entry->version;
    }
    entry->list = entries->list;
    replace(store, entries, entry, kept);
    return true;
}

/* False: malloc failed. */
static bool put(struct store *store, const struct object *object, bool unreadable)
{
    struct entries *entries = &store->kinds[object->kind];
    struct entry *entry = find(entries, object->namespace, object->name);
    struct stored *kept = stored_create(object, &store->trees);
    if (kept == NULL)
        return false;
    kept->unreadable = unreadable;
    if (has_room(store, object->kind, kept, entry == NULL ? NULL : entry->now))
        return keep(store, entries, entry, kept);
    stored_destroy(kept, &store->trees);
    entries->lack.objects = entries->lack_of_list.objects = true;
    if (!unreadable)
        return store_put_unreadable(store, object->kind, object->namespace, object->name);
    entries->lack.names = entries->lack_of_list.names = true;
    return store_remove(store, object->kind, object->namespace, object->name);
}

bool store_put(struct store *store, const struct object *object)
{
    return put(store, object, false);
}

bool store_put_unreadable(struct store *store, enum kind kind, struct text namespace,
                          struct text name)
{
    static const struct node nothing = {.kind = NODE_MAP};
    static const struct field root = {.node = &nothing};
    const struct object object = {
        .kind = kind, .namespace = namespace, .name = name, .root = &root};
    return put(store, &object, true);
}

bool store_remove(struct store *store, enum kind kind, struct text namespace, struct text name)
{
    struct entries *entries = &store->kinds[kind];
    struct entry *entry = find(entries, namespace, name);
    if (entry == NULL || entry->now == NULL)
        return true;
    if (!touch(entries, entry))
        return false;
    replace(store, entries, entry, NULL);
    return true;
}

void store_list_begin(struct store *store, enum kind kind)
{
    struct entries *entries = &store->kinds[kind];
    entries->list++;
    entries->lack_of_list = (struct lack){0};
}

/* An object that is missing from this list was deleted. What found no room before it may have come
 * in any part of it, so that only its end shows what is still lacking. */
bool store_list_end(struct store *store, enum kind kind)
{
    struct entries *entries = &store->kinds[kind];
    for (size_t i = 0; i < entries->bucket_count; i++)
        for (struct entry *entry = entries->buckets[i]; entry != NULL; entry = entry->next) {
            if (entry->now == NULL || entry->list == entries->list)
                continue;
            if (!touch(entries, entry))
                return false;
            replace(store, entries, entry, NULL);
        }
    entries->lack = entries->lack_of_list;
    return true;
}

size_t store_count(const struct store *store, enum kind kind)
{
    return store->kinds[kind].object_count;
}

size_t store_unreadable_count(const struct store *store, enum kind kind)
{
    return store->kinds[kind].unreadable_count;
}

bool store_is_unreadable(const struct store *store, enum kind kind, struct text namespace,
                         struct text name)
{
    const struct entry *entry = find(&store->kinds[kind], namespace, name);
    return entry != NULL && entry->now != NULL && entry->now->unreadable;
}

size_t store_bytes(const struct store *store, enum kind kind)
{
    return store->kinds[kind].object_bytes + store->trees.size_bytes[kind];
}

bool store_has_changed(const struct store *store)
{
    return store->change_count > 0;
}
