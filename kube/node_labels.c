/* The labels that Nodes carry, by key: read once a snapshot, because pods may name very many. */
#include "kube/object.h"
#include "kube/snapshot.h"
#include "kube/snapshot_internal.h"

static struct text_map *values_of(struct node_labels *labels, struct text key, struct arena *arena)
{
    size_t *number = text_map_at(&labels->keys, arena, key);
    if (*number == 0) {
        (void)LIST_PUSH(arena, &labels->values);
        *number = labels->values.count;
    }
    return &labels->values.items[*number - 1];
}

void snapshot_read_node_labels(struct snapshot *snapshot, struct arena *arena)
{
    struct object_list nodes = snapshot->kinds[KIND_NODE];
    snapshot->node_labels = (struct node_labels){0};
    for (size_t i = 0; i < nodes.count; i++) {
        const struct node *map = nodes.items[i]->labels;
        for (size_t j = 0; node_is(map, NODE_MAP) && j < node_count(map); j++) {
            const struct member *label = &map->members[j];
            struct text_map *values = values_of(&snapshot->node_labels, member_key(label), arena);
            (void)text_map_add(values, arena, node_string(&label->value));
        }
    }
}

size_t snapshot_node_label_count(const struct snapshot *snapshot)
{
    return snapshot->node_labels.keys.count;
}

struct text snapshot_node_label(const struct snapshot *snapshot, size_t index,
                                const struct text_map **values)
{
    *values = &snapshot->node_labels.values.items[index];
    return snapshot->node_labels.keys.items[index].key;
}

const struct text_map *snapshot_node_values(const struct snapshot *snapshot, struct text key)
{
    size_t number = text_map_get(&snapshot->node_labels.keys, key, 0);
    return number == 0 ? NULL : &snapshot->node_labels.values.items[number - 1];
}
