/* Objects by kind, found by name. */
#include "kube/snapshot.h"

#include <stdlib.h>

#include "kube/label.h"
#include "kube/object.h"
#include "kube/pool.h"
#include "kube/snapshot_internal.h"

/* ---- order ---- */

int compare_names(struct text a_namespace, struct text a_name, struct text b_namespace,
                  struct text b_name)
{
    int order = text_compare(a_namespace, b_namespace);
    return order != 0 ? order : text_compare(a_name, b_name);
}

int compare_objects(const struct object *a, const struct object *b)
{
    return compare_names(a->namespace, a->name, b->namespace, b->name);
}

size_t object_list_search(struct object_list list, struct text namespace, struct text name)
{
    size_t low = 0;
    size_t high = list.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct object *object = list.items[middle];
        if (compare_names(object->namespace, object->name, namespace, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- facts computed from the objects ---- */

static bool is_free_volume(const struct object *volume)
{
    struct text phase = node_string(node_at(volume->root->node, "status.phase"));
    return !volume->deleting && (phase.size == 0 || text_is(phase, "Available"));
}

static bool is_reserved_volume(const struct object *volume)
{
    return is_free_volume(volume) &&
           node_string(node_at(volume->root->node, "spec.claimRef.name")).size > 0;
}

static bool mounts_claim(const struct object *pod)
{
    const struct node *volumes = node_at(pod->root->node, "spec.volumes");
    FOR_ITEMS(item, volumes)
        if (node_get(item, "persistentVolumeClaim") != NULL)
            return true;
    return false;
}

const struct pick snapshot_picks[PICK_COUNT] = {
    [PICK_FREE_VOLUMES] = {KIND_PERSISTENT_VOLUME, is_free_volume},
    [PICK_RESERVED_VOLUMES] = {KIND_PERSISTENT_VOLUME, is_reserved_volume},
    [PICK_CLAIMING_PODS] = {KIND_POD, mounts_claim},
};

static void add_pool_keys(struct text_map *keys, const struct pool *pool, struct arena *arena)
{
    const struct expressions *const lists[] = {&pool->labels, &pool->requirements};
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        for (size_t j = 0; j < lists[i]->count; j++)
            (void)text_map_add(keys, arena, lists[i]->items[j].key);
    struct pool_label own[POOL_OWN_LABELS_MAX];
    size_t count = pool_own_labels(pool, own);
    for (size_t i = 0; i < count; i++)
        (void)text_map_add(keys, arena, own[i].key);
}

void snapshot_read_pools(struct snapshot *snapshot, struct arena *arena)
{
    struct object_list objects = snapshot->kinds[KIND_NODE_POOL];
    struct pool *pools = ARENA_ARRAY(arena, objects.count, struct pool);
    snapshot->pool_count = 0;
    snapshot->pool_keys = (struct text_map){0};
    for (size_t i = 0; i < objects.count; i++)
        if (pool_read(objects.items[i], arena, &pools[snapshot->pool_count]))
            add_pool_keys(&snapshot->pool_keys, &pools[snapshot->pool_count++], arena);
    snapshot->pools = pools;
}

void snapshot_read_node_zones(struct snapshot *snapshot, struct arena *arena)
{
    struct object_list nodes = snapshot->kinds[KIND_NODE];
    snapshot->node_zones = (struct zones){0};
    for (size_t i = 0; i < nodes.count; i++)
        zones_add(&snapshot->node_zones, node_zone(nodes.items[i]), arena);
}

/* ---- a snapshot of a complete set of objects ---- */

struct objects {
    const struct object **items;
    size_t count, capacity;
};
struct snapshot_builder {
    struct arena *arena;
    struct objects kinds[KIND_COUNT];
};

struct snapshot_builder *snapshot_builder_create(struct arena *arena)
{
    struct snapshot_builder *builder = ARENA_NEW(arena, struct snapshot_builder);
    builder->arena = arena;
    return builder;
}

void snapshot_put(struct snapshot_builder *builder, const struct object *object)
{
    struct object *copy = ARENA_NEW(builder->arena, struct object);
    *copy = *object;
    *LIST_PUSH(builder->arena, &builder->kinds[object->kind]) = copy;
}

/* Objects stay in order of arrival in the array, so that the last of equal ones wins: entry i was
 * put before entry i + 1. */
struct entry {
    const struct object *object;
    size_t arrival;
};

static int compare_entries(const void *a_pointer, const void *b_pointer)
{
    const struct entry *a = a_pointer;
    const struct entry *b = b_pointer;
    int order = compare_objects(a->object, b->object);
    if (order != 0)
        return order;
    return a->arrival < b->arrival ? -1 : a->arrival > b->arrival;
}

/* ---- what a manifest leaves out that is applied again, and the API server keeps ---- */

static bool loses_text(const struct object *stored, const struct object *change, const char *path)
{
    return node_string(node_at(stored->root->node, path)).size > 0 &&
           node_string(node_at(change->root->node, path)).size == 0;
}

/* The status of a class tells which subnets and reservations it selects: it stays while the terms
 * do. */
static bool loses_status(const struct object *stored, const struct object *change)
{
    static const char *const terms[] = {"spec.subnetSelectorTerms",
                                        "spec.capacityReservationSelectorTerms"};
    const struct node *was = stored->root->node, *is = change->root->node;
    if (node_get(was, "status") == NULL || node_get(is, "status") != NULL)
        return false;
    for (size_t i = 0; i < COUNT_OF(terms); i++)
        if (!node_equal(node_at(was, terms[i]), node_at(is, terms[i])))
            return false;
    return true;
}

static const struct object *with_status(const struct object *change, const struct node *status,
                                        struct arena *arena)
{
    const struct node *root = change->root->node;
    struct member *members = ARENA_ARRAY(arena, node_count(root) + 1, struct member);
    for (size_t i = 0; i < node_count(root); i++)
        members[i] = root->members[i];
    members[node_count(root)] = member_of(TEXT("status"), *status);
    struct object *object = ARENA_NEW(arena, struct object);
    *object = *change;
    object->root =
        field_root(arena, node_keep(arena, node_of_members(members, node_count(root) + 1)));
    return object;
}

/* stored: what the cluster has of it; NULL: nothing. */
static const struct object *as_applied(const struct object *stored, const struct object *object,
                                       struct arena *arena)
{
    if (stored == NULL || object->origin != ORIGIN_CHANGE)
        return object;
    switch (object->kind) {
    case KIND_PERSISTENT_VOLUME_CLAIM:
        return loses_text(stored, object, "spec.volumeName") ? stored : object;
    case KIND_PERSISTENT_VOLUME:
        return loses_text(stored, object, "spec.claimRef.name") ? stored : object;
    case KIND_EC2_NODE_CLASS:
        return loses_status(stored, object)
                   ? with_status(object, node_get(stored->root->node, "status"), arena)
                   : object;
    default:
        return object;
    }
}

/* twice: of objects that differ and come from the same place, all but the last. */
static struct object_list sort_and_deduplicate(const struct objects *objects, struct objects *twice,
                                               struct arena *arena)
{
    struct entry *entries = ARENA_ARRAY(arena, objects->count, struct entry);
    for (size_t i = 0; i < objects->count; i++)
        entries[i] = (struct entry){objects->items[i], i};
    if (objects->count > 0)
        qsort(entries, objects->count, sizeof *entries, compare_entries);
    const struct object **sorted = ARENA_ARRAY(arena, objects->count, const struct object *);
    const struct object *stored = NULL; /* of the name of the last one */
    size_t count = 0;
    for (size_t i = 0; i < objects->count; i++) {
        const struct object *object = entries[i].object;
        /* Objects that only have a generateName are all different. */
        bool same =
            count > 0 && object->name.size > 0 && compare_objects(sorted[count - 1], object) == 0;
        if (!same) {
            if (count > 0)
                sorted[count - 1] = as_applied(stored, sorted[count - 1], arena);
            stored = NULL;
            count++;
        } else if (sorted[count - 1]->origin == object->origin &&
                   !node_equal(sorted[count - 1]->root->node, object->root->node)) {
            *LIST_PUSH(arena, twice) = sorted[count - 1];
        }
        sorted[count - 1] = object;
        if (object->origin != ORIGIN_CHANGE)
            stored = object;
    }
    if (count > 0)
        sorted[count - 1] = as_applied(stored, sorted[count - 1], arena);
    return (struct object_list){sorted, count};
}

static struct object_list pick_objects(const struct snapshot *snapshot, const struct pick *pick,
                                       struct arena *arena)
{
    struct object_list all = snapshot->kinds[pick->kind];
    struct objects picked = {0};
    for (size_t i = 0; i < all.count; i++)
        if (pick->takes(all.items[i]))
            *LIST_PUSH(arena, &picked) = all.items[i];
    return (struct object_list){picked.items, picked.count};
}

const struct snapshot *snapshot_build(struct snapshot_builder *builder)
{
    struct arena *arena = builder->arena;
    struct snapshot *snapshot = ARENA_NEW(arena, struct snapshot);
    struct objects twice = {0};
    for (size_t kind = 0; kind < KIND_COUNT; kind++)
        snapshot->kinds[kind] = sort_and_deduplicate(&builder->kinds[kind], &twice, arena);
    snapshot->twice = (struct object_list){twice.items, twice.count};
    for (size_t i = 0; i < PICK_COUNT; i++)
        snapshot->picks[i] = pick_objects(snapshot, &snapshot_picks[i], arena);
    snapshot_read_pools(snapshot, arena);
    snapshot_read_node_zones(snapshot, arena);
    snapshot_read_node_labels(snapshot, arena);
    snapshot_read_autoscalers(snapshot, arena);
    return snapshot;
}

/* ---- lookup ---- */

static const struct object *item_of(struct object_list list, size_t index)
{
    return index < list.count ? list.items[index] : NULL;
}

size_t snapshot_index(const struct snapshot *snapshot, enum kind kind, struct text namespace,
                      struct text name)
{
    struct object_list list = snapshot->kinds[kind];
    size_t index = object_list_search(list, namespace, name);
    const struct object *object = item_of(list, index);
    bool found =
        object != NULL && compare_names(object->namespace, object->name, namespace, name) == 0;
    return found ? index : list.count;
}

const struct object *snapshot_find(const struct snapshot *snapshot, enum kind kind,
                                   struct text namespace, struct text name)
{
    return snapshot_object(snapshot, kind, snapshot_index(snapshot, kind, namespace, name));
}

size_t snapshot_count(const struct snapshot *snapshot, enum kind kind)
{
    return snapshot->kinds[kind].count;
}

const struct object *snapshot_object(const struct snapshot *snapshot, enum kind kind, size_t index)
{
    return item_of(snapshot->kinds[kind], index);
}

size_t snapshot_unreadable_count(const struct snapshot *snapshot, enum kind kind)
{
    return snapshot->unreadable[kind].count;
}

kind_set snapshot_unseen(const struct snapshot *snapshot, kind_set kinds, kind_set seen)
{
    kind_set unseen = kinds & ~seen;
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (snapshot->unreadable[i].count > 0)
            unseen |= kinds & KIND_BIT(i);
    return unseen;
}

const struct object *snapshot_unreadable(const struct snapshot *snapshot, enum kind kind,
                                         size_t index)
{
    return item_of(snapshot->unreadable[kind], index);
}

bool snapshot_has_pool_twice(const struct snapshot *snapshot, struct text name)
{
    for (size_t i = 0; i < snapshot->twice.count; i++)
        if (snapshot->twice.items[i]->kind == KIND_NODE_POOL &&
            text_equal(snapshot->twice.items[i]->name, name))
            return true;
    return false;
}

bool snapshot_is_unreadable(const struct snapshot *snapshot, enum kind kind, struct text namespace,
                            struct text name)
{
    struct object_list list = snapshot->unreadable[kind];
    const struct object *object = item_of(list, object_list_search(list, namespace, name));
    return object != NULL && compare_names(object->namespace, object->name, namespace, name) == 0;
}

bool snapshot_reads_all(const struct snapshot *snapshot, enum kind kind, struct text namespace)
{
    struct object_list list = snapshot->unreadable[kind];
    const struct object *first = item_of(list, object_list_search(list, namespace, TEXT("")));
    if (!kind_table[kind].namespaced)
        return list.count == 0;
    return first == NULL || !text_equal(first->namespace, namespace);
}

size_t snapshot_pool_count(const struct snapshot *snapshot)
{
    return snapshot->pool_count;
}

const struct pool *snapshot_pool(const struct snapshot *snapshot, size_t index)
{
    return index < snapshot->pool_count ? &snapshot->pools[index] : NULL;
}

const struct pool *snapshot_pool_named(const struct snapshot *snapshot, struct text name)
{
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++)
        if (text_equal(snapshot_pool(snapshot, i)->object->name, name))
            return snapshot_pool(snapshot, i);
    return NULL;
}

bool snapshot_pools_name(const struct snapshot *snapshot, struct text key)
{
    return text_map_has(&snapshot->pool_keys, key);
}

size_t snapshot_free_volume_count(const struct snapshot *snapshot)
{
    return snapshot->picks[PICK_FREE_VOLUMES].count;
}

const struct object *snapshot_free_volume(const struct snapshot *snapshot, size_t index)
{
    return item_of(snapshot->picks[PICK_FREE_VOLUMES], index);
}

size_t snapshot_reserved_volume_count(const struct snapshot *snapshot)
{
    return snapshot->picks[PICK_RESERVED_VOLUMES].count;
}

const struct object *snapshot_reserved_volume(const struct snapshot *snapshot, size_t index)
{
    return item_of(snapshot->picks[PICK_RESERVED_VOLUMES], index);
}

size_t snapshot_claiming_pod_count(const struct snapshot *snapshot)
{
    return snapshot->picks[PICK_CLAIMING_PODS].count;
}

const struct object *snapshot_claiming_pod(const struct snapshot *snapshot, size_t index)
{
    return item_of(snapshot->picks[PICK_CLAIMING_PODS], index);
}

const struct zones *snapshot_node_zones(const struct snapshot *snapshot)
{
    return &snapshot->node_zones;
}
