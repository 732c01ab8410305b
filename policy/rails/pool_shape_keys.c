/* Requirements on a key that is nearly a well-known one. Karpenter takes each for a label of the
 * pool's own: its nodes get it, and it says nothing of the machines. */
#include "catalog/catalog.h"
#include "catalog/label.h"
#include "kube/label.h"
#include "kube/pool.h"
#include "policy/rails/pool_shape.h"
#include "solver/well_known.h"

/* Labels of managed node groups, of which Karpenter has its own. */
static const struct {
    const char *written, *meant;
} of_node_groups[] = {
    {"eks.amazonaws.com/capacityType", LABEL_CAPACITY_TYPE},
};

/* "node" and "hostname" may well be labels of one's own: no pool is narrowed to a host. */
static bool narrows_no_pool(struct text key)
{
    return text_is(key, LABEL_HOSTNAME) || text_is(key, LABEL_NODE_POOL);
}

/* EKS Auto Mode's own names of labels, where it is not EKS Auto Mode that reads the pool. */
static bool is_of_auto_mode_alone(const struct pool *pool, struct text key)
{
    return text_starts_with(key, TEXT("eks.amazonaws.com/")) && pool->node_class_group.size > 0 &&
           !pool_is_of_auto_mode(pool);
}

static struct text key_meant(const struct catalog *catalog, const struct pool *pool,
                             struct text key)
{
    struct text canonical = canonical_key(key);
    if (canonical.data != key.data)
        return is_of_auto_mode_alone(pool, key) ? canonical : TEXT("");
    for (size_t i = 0; i < COUNT_OF(of_node_groups); i++)
        if (text_is(key, of_node_groups[i].written))
            return text_of(of_node_groups[i].meant);
    struct text meant = label_key_meant(catalog, key);
    return narrows_no_pool(meant) ? TEXT("") : meant;
}

struct expressions pool_shape_understood(const struct pool *pool, struct arena *arena)
{
    struct expressions understood = {0};
    FOR_EACH(requirement, &pool->requirements)
        if (!is_of_auto_mode_alone(pool, requirement->key))
            *LIST_PUSH(arena, &understood) = *requirement;
    return understood;
}

void pool_shape_judge_keys(struct rail_call *call, const struct pool *pool)
{
    const struct catalog *catalog = call->world->catalog;
    struct arena *arena = call->arena;
    if (!pool_is_covered_by(catalog, pool))
        return;
    FOR_EACH(requirement, &pool->requirements) {
        struct text key = requirement->key;
        struct text meant = key_meant(catalog, pool, key);
        if (!requirement->valid || label_is_restricted(key) || meant.size == 0)
            continue;
        report_as(call, SEVERITY_WARN, .field = field_get(arena, requirement->field, "key"),
                  .found = key,
                  .statement = arena_printf(arena,
                                            "The key %.*s narrows nothing. Karpenter takes it for "
                                            "a label of your own.",
                                            TEXT_ARGS(key)),
                  .meant = meant);
    }
}
