/* Zones: the labels that name them, and sets of them. */
#include "kube/zone.h"

#include "kube/object.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "solver/well_known.h"

enum zone_key zone_key_of(struct text key)
{
    static const struct {
        const char *key;
        enum zone_key means;
    } keys[] = {
        {LABEL_ZONE, ZONE_KEY_NAME},
        {"topology.ebs.csi.eks.amazonaws.com/zone", ZONE_KEY_NAME},
        {"topology.gke.io/zone", ZONE_KEY_NAME},
        {"topology.disk.csi.azure.com/zone", ZONE_KEY_NAME},
        {"topology.cinder.csi.openstack.org/zone", ZONE_KEY_NAME},
        {LABEL_ZONE_ID, ZONE_KEY_ID},
    };
    if (key.size == 0)
        return ZONE_KEY_NONE;
    struct text canonical = key;
    canonical.data = solver_canonical_key(key.data, &canonical.size);
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        if (text_is(canonical, keys[i].key))
            return keys[i].means;
    return ZONE_KEY_NONE;
}

struct text node_zone(const struct object *node)
{
    struct text zone = node_string(node_get(node->labels, LABEL_ZONE));
    return zone.size > 0
               ? zone
               : node_string(node_get(node->labels, "failure-domain.beta.kubernetes.io/zone"));
}

const struct node *pool_subnets(const struct snapshot *snapshot, const struct pool *pool)
{
    const struct object *class = pool_node_class(snapshot, pool);
    if (class == NULL)
        return NULL;
    const struct node *subnets = node_at(class->root->node, "status.subnets");
    return node_is(subnets, NODE_LIST) && node_count(subnets) > 0 ? subnets : NULL;
}

/* Of the first subnet whose one member has the value, the other member. */
static struct text find_subnet(const struct snapshot *snapshot, const char *by, struct text value,
                               const char *wanted)
{
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_EC2_NODE_CLASS); i++) {
        const struct object *class = snapshot_object(snapshot, KIND_EC2_NODE_CLASS, i);
        const struct node *subnets = node_at(class->root->node, "status.subnets");
        FOR_ITEMS(subnet, subnets) {
            if (text_equal(node_string(node_get(subnet, by)), value))
                return node_string(node_get(subnet, wanted));
        }
    }
    return TEXT("");
}

struct text zone_of_id(const struct snapshot *snapshot, struct text id)
{
    return find_subnet(snapshot, "zoneID", id, "zone");
}

/* ---- sets of zones ---- */

void zones_add(struct zones *zones, struct text zone, struct arena *arena)
{
    if (zone.size == 0 || zones_have(zones, zone))
        return;
    (void)LIST_PUSH(arena, zones);
    size_t at = zones->count - 1;
    for (; at > 0 && text_compare(zones->items[at - 1], zone) > 0; at--)
        zones->items[at] = zones->items[at - 1];
    zones->items[at] = zone;
}

void zones_read_ids(const struct snapshot *snapshot, struct arena *arena, struct zones *zones)
{
    struct text *ids = ARENA_ARRAY(arena, zones->count, struct text);
    for (size_t i = 0; i < zones->count; i++)
        ids[i] = arena_text(arena, find_subnet(snapshot, "zone", zones->items[i], "zoneID"));
    zones->ids = ids;
}

struct text zones_id_of(const struct zones *zones, struct text zone)
{
    for (size_t i = 0; zones->ids != NULL && i < zones->count; i++)
        if (text_equal(zones->items[i], zone))
            return zones->ids[i];
    return TEXT("");
}

bool zones_have(const struct zones *zones, struct text zone)
{
    for (size_t i = 0; i < zones->count; i++)
        if (text_equal(zones->items[i], zone))
            return true;
    return false;
}

struct zones zones_intersect(const struct zones *a, const struct zones *b, struct arena *arena)
{
    struct zones both = {0};
    for (size_t i = 0; i < a->count; i++)
        if (zones_have(b, a->items[i]))
            zones_add(&both, a->items[i], arena);
    return both;
}

struct text zone_region(struct text zone)
{
    size_t size = 0;
    while (size < zone.size && !(zone.data[size] >= '0' && zone.data[size] <= '9'))
        size++;
    size_t digits = text_leading_digits((struct text){zone.data + size, zone.size - size});
    bool named = size >= 2 && zone.data[size - 1] == '-' && digits > 0 && size + digits < zone.size;
    return named ? (struct text){zone.data, size + digits} : TEXT("");
}
