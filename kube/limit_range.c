/* The defaults of a namespace's LimitRanges, read once for all containers of a pod. */
#include "kube/limit_range.h"
#include "kube/object.h"
#include "kube/snapshot.h"

/* The defaults of requests in an item of type Container, in the order in which one replaces the
 * other; some are those of limits, too. */
static const struct {
    const char *name;
    bool of_limits;
} sources[] = {{"defaultRequest", false}, {"default", true}, {"max", true}, {"min", false}};

static struct limit_default *entry_of(struct limit_defaults *defaults, struct text resource,
                                      struct arena *arena)
{
    size_t *number = text_map_at(&defaults->numbers, arena, resource);
    if (*number == 0) {
        LIST_PUSH(arena, defaults)->resource = resource;
        *number = defaults->count;
    }
    return &defaults->items[*number - 1];
}

/* The first item with a value fills it in. */
static void add_item(struct limit_defaults *defaults, const struct object *range,
                     const struct node *item, struct arena *arena)
{
    if (!text_is(node_string(node_get(item, "type")), "Container"))
        return;
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        const struct node *map = node_get(item, sources[i].name);
        for (size_t j = 0; node_is(map, NODE_MAP) && j < node_count(map); j++) {
            const struct member *member = &map->members[j];
            if (node_is(&member->value, NODE_NULL))
                continue;
            struct limit_default *entry = entry_of(defaults, member_key(member), arena);
            if (entry->request == NULL) {
                entry->request = &member->value;
                entry->request_by = range;
            }
            if (sources[i].of_limits && entry->limit == NULL) {
                entry->limit = &member->value;
                entry->limit_by = range;
            }
        }
    }
}

/* LimitRanges are sorted by namespace. */
static size_t first_limit_range(const struct snapshot *snapshot, struct text namespace)
{
    size_t low = 0;
    size_t high = snapshot_count(snapshot, KIND_LIMIT_RANGE);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct object *range = snapshot_object(snapshot, KIND_LIMIT_RANGE, middle);
        if (text_compare(range->namespace, namespace) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* By name, because the API server's own order is chance. */
void limit_defaults_read(const struct snapshot *snapshot, struct text namespace,
                         struct arena *arena, struct limit_defaults *defaults)
{
    *defaults = (struct limit_defaults){.read = true};
    size_t count = snapshot_count(snapshot, KIND_LIMIT_RANGE);
    for (size_t i = first_limit_range(snapshot, namespace); i < count; i++) {
        const struct object *range = snapshot_object(snapshot, KIND_LIMIT_RANGE, i);
        if (!text_equal(range->namespace, namespace))
            break;
        const struct node *items = node_at(range->root->node, "spec.limits");
        FOR_ITEMS(item, items)
            add_item(defaults, range, item, arena);
    }
}

const struct limit_default *limit_defaults_find(const struct limit_defaults *defaults,
                                                struct text resource)
{
    size_t number = text_map_get(&defaults->numbers, resource, 0);
    return number == 0 ? NULL : &defaults->items[number - 1];
}
