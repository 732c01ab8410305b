/* The zones a cluster names. */
#include "catalog/zones.h"

#include "catalog/build.h"
#include "kube/object.h"
#include "kube/pool.h"
#include "kube/snapshot.h"

static void add_nodes(const struct snapshot *snapshot, enum zone_key key, struct arena *arena,
                      struct zones *zones)
{
    for (size_t i = 0; i < snapshot_node_label_count(snapshot); i++) {
        const struct text_map *values;
        if (zone_key_of(snapshot_node_label(snapshot, i, &values)) != key)
            continue;
        for (size_t j = 0; j < values->count; j++)
            zones_add(zones, values->items[j].key, arena);
    }
}

static bool add_expressions(const struct expressions *expressions, enum zone_key key,
                            struct arena *arena, struct zones *zones)
{
    bool named = false;
    for (size_t i = 0; i < expressions->count; i++) {
        const struct expression *expression = &expressions->items[i];
        if (!expression->valid || expression->op != SOLVER_IN ||
            zone_key_of(expression->key) != key)
            continue;
        named = true;
        for (size_t j = 0; j < expression->value_count; j++)
            zones_add(zones, expression->values[j].text, arena);
    }
    return named;
}

/* Whether every pool names its zones. */
static bool add_pools(const struct snapshot *snapshot, enum zone_key key, struct arena *arena,
                      struct zones *zones)
{
    bool all = true;
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++) {
        const struct pool *pool = snapshot_pool(snapshot, i);
        bool labelled = add_expressions(&pool->labels, key, arena, zones);
        bool required = add_expressions(&pool->requirements, key, arena, zones);
        all = all && (labelled || required);
    }
    return all;
}

/* Whether a class knows the zones of its subnets. */
static bool add_node_classes(const struct snapshot *snapshot, enum zone_key key,
                             struct arena *arena, struct zones *zones)
{
    const char *member = key == ZONE_KEY_ID ? "zoneID" : "zone";
    bool named = false;
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_EC2_NODE_CLASS); i++) {
        const struct object *class = snapshot_object(snapshot, KIND_EC2_NODE_CLASS, i);
        const struct node *subnets = node_at(class->root->node, "status.subnets");
        FOR_ITEMS(item, subnets) {
            struct text zone = node_string(node_get(item, member));
            zones_add(zones, zone, arena);
            named = named || zone.size > 0;
        }
    }
    return named;
}

/* Whether the user's own catalogue names zones; the built-in one does not know those of the
 * account. */
static bool add_catalog(const struct catalog *catalog, enum zone_key key, struct arena *arena,
                        struct zones *zones)
{
    if (key != ZONE_KEY_NAME || catalog_is_builtin(catalog))
        return false;
    const struct solver_names *names = catalog_names(catalog);
    uint32_t count = solver_names_value_count(names, CATALOG_ZONE);
    for (uint32_t i = 0; i < count; i++) {
        struct text value;
        value.data = solver_names_value_text(names, CATALOG_ZONE, i, &value.size);
        zones_add(zones, value, arena);
    }
    return count > 0;
}

/* Adds the zones that NodePools, EC2NodeClasses and the user's catalogue name; returns whether
 * nodes can be in no other. */
static bool zones_add_makeable(const struct snapshot *snapshot, const struct catalog *catalog,
                               enum zone_key key, struct arena *arena, struct zones *zones)
{
    bool offered = add_node_classes(snapshot, key, arena, zones);
    offered = add_catalog(catalog, key, arena, zones) || offered;
    bool confined = add_pools(snapshot, key, arena, zones);
    return offered || confined;
}

void zones_read(const struct snapshot *snapshot, const struct catalog *catalog, enum zone_key key,
                struct arena *arena, struct zones *zones)
{
    *zones = (struct zones){0};
    add_nodes(snapshot, key, arena, zones);
    zones->from_node = zones->count > 0;
    bool all = zones_add_makeable(snapshot, catalog, key, arena, zones);
    zones->complete = zones->count > 0 && all;
}
