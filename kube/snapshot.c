#include <stdlib.h>
#include <string.h>

#include "kube/kube.h"

struct objects {
    const struct object **items;
    size_t count, capacity;
};

struct snapshot {
    struct objects kinds[KIND_COUNT];
    struct pool *pools;
    size_t pool_count;
    struct objects free_volumes;
    struct zones node_zones;
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

static int compare_names(struct text a_namespace, struct text a_name, struct text b_namespace,
                         struct text b_name)
{
    int order = text_compare(a_namespace, b_namespace);
    return order != 0 ? order : text_compare(a_name, b_name);
}

/* Objects keep their order of arrival in the array they were put in, which is what makes the last
 * of equal ones win: entry i was put before entry i + 1. */
struct entry {
    const struct object *object;
    size_t arrival;
};

static int compare_entries(const void *a_pointer, const void *b_pointer)
{
    const struct entry *a = a_pointer;
    const struct entry *b = b_pointer;
    int order =
        compare_names(a->object->namespace, a->object->name, b->object->namespace, b->object->name);
    if (order != 0)
        return order;
    return a->arrival < b->arrival ? -1 : a->arrival > b->arrival;
}

static struct objects sort_and_deduplicate(const struct objects *objects, struct arena *arena)
{
    struct entry *entries = ARENA_ARRAY(arena, objects->count, struct entry);
    for (size_t i = 0; i < objects->count; i++)
        entries[i] = (struct entry){objects->items[i], i};
    if (objects->count > 0)
        qsort(entries, objects->count, sizeof *entries, compare_entries);
    struct objects sorted = {
        .items = ARENA_ARRAY(arena, objects->count, const struct object *),
        .capacity = objects->count,
    };
    for (size_t i = 0; i < objects->count; i++) {
        const struct object *object = entries[i].object;
        const struct object *last = sorted.count > 0 ? sorted.items[sorted.count - 1] : NULL;
        bool same = last != NULL && compare_names(last->namespace, last->name, object->namespace,
                                                  object->name) == 0;
        /* Objects that only have a generateName are all different. */
        if (same && object->name.size > 0)
            sorted.items[sorted.count - 1] = object;
        else
            sorted.items[sorted.count++] = object;
    }
    return sorted;
}

static bool is_free(const struct object *volume)
{
    struct text phase = node_string(node_at(volume->root->node, "status.phase"));
    return !volume->deleting && (phase.size == 0 || text_is(phase, "Available"));
}

static void find_free_volumes(struct snapshot *snapshot, struct arena *arena)
{
    const struct objects *volumes = &snapshot->kinds[KIND_PERSISTENT_VOLUME];
    for (size_t i = 0; i < volumes->count; i++)
        if (is_free(volumes->items[i]))
            *LIST_PUSH(arena, &snapshot->free_volumes) = volumes->items[i];
}

static void find_node_zones(struct snapshot *snapshot, struct arena *arena)
{
    const struct objects *nodes = &snapshot->kinds[KIND_NODE];
    for (size_t i = 0; i < nodes->count; i++)
        zones_add(&snapshot->node_zones, node_zone(nodes->items[i]), arena);
}

const struct snapshot *snapshot_build(struct snapshot_builder *builder)
{
    struct arena *arena = builder->arena;
    struct snapshot *snapshot = ARENA_NEW(arena, struct snapshot);
    for (size_t kind = 0; kind < KIND_COUNT; kind++)
        snapshot->kinds[kind] = sort_and_deduplicate(&builder->kinds[kind], arena);

    const struct objects *pools = &snapshot->kinds[KIND_NODE_POOL];
    snapshot->pools = ARENA_ARRAY(arena, pools->count, struct pool);
    for (size_t i = 0; i < pools->count; i++)
        if (pool_read(pools->items[i], arena, &snapshot->pools[snapshot->pool_count]))
            snapshot->pool_count++;
    find_free_volumes(snapshot, arena);
    find_node_zones(snapshot, arena);
    return snapshot;
}

size_t snapshot_index(const struct snapshot *snapshot, enum kind kind, struct text namespace,
                      struct text name)
{
    const struct objects *objects = &snapshot->kinds[kind];
    size_t low = 0;
    size_t high = objects->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct object *object = objects->items[middle];
        int order = compare_names(object->namespace, object->name, namespace, name);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return objects->count;
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
    return index < snapshot->kinds[kind].count ? snapshot->kinds[kind].items[index] : NULL;
}

size_t snapshot_pool_count(const struct snapshot *snapshot)
{
    return snapshot->pool_count;
}

const struct pool *snapshot_pool(const struct snapshot *snapshot, size_t index)
{
    return index < snapshot->pool_count ? &snapshot->pools[index] : NULL;
}

size_t snapshot_free_volume_count(const struct snapshot *snapshot)
{
    return snapshot->free_volumes.count;
}

const struct object *snapshot_free_volume(const struct snapshot *snapshot, size_t index)
{
    return index < snapshot->free_volumes.count ? snapshot->free_volumes.items[index] : NULL;
}

const struct zones *snapshot_node_zones(const struct snapshot *snapshot)
{
    return &snapshot->node_zones;
}
