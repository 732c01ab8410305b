/* The labels of nodes, as NodePools and Nodes show them. */
#include "kube/label.h"

#include "kube/object.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "solver/well_known.h"

static bool produces(const struct expression *expression, struct text key)
{
    return text_equal(expression->key, key) && expression->valid &&
           expression->op != SOLVER_DOES_NOT_EXIST;
}

/* Whether the pool's nodes carry a label with that key, according to its labels and requirements.
 */
static bool pool_produces(const struct pool *pool, struct text key)
{
    for (size_t i = 0; i < pool->labels.count; i++)
        if (produces(&pool->labels.items[i], key))
            return true;
    for (size_t i = 0; i < pool->requirements.count; i++)
        if (produces(&pool->requirements.items[i], key))
            return true;
    return false;
}

bool some_pool_produces(const struct snapshot *snapshot, struct text key)
{
    size_t count = snapshot_pools_name(snapshot, key) ? snapshot_pool_count(snapshot) : 0;
    for (size_t i = 0; i < count; i++)
        if (pool_produces(snapshot_pool(snapshot, i), key))
            return true;
    return false;
}

/* Whether one of them gives nodes the label. */
static bool add_expressions(struct label_offers *offers, const struct expressions *expressions,
                            struct text key, struct arena *arena)
{
    bool some = false;
    for (size_t i = 0; i < expressions->count; i++) {
        const struct expression *expression = &expressions->items[i];
        if (!produces(expression, key))
            continue;
        some = true;
        if (expression->op != SOLVER_IN)
            offers->any_value = true;
        for (size_t j = 0; expression->op == SOLVER_IN && j < expression->value_count; j++)
            (void)text_map_add(&offers->of_pools, arena, expression->values[j].text);
    }
    return some;
}

bool label_is_in_domain(struct text key, struct text domain)
{
    struct text of_key;
    if (!text_split(key, '/', &of_key, NULL))
        return false;
    return text_equal(of_key, domain) ||
           (text_ends_with(of_key, domain) && of_key.data[of_key.size - domain.size - 1] == '.');
}

bool label_is_restricted(struct text key)
{
    if (text_is(key, LABEL_HOSTNAME) || text_is(key, LABEL_NODE_POOL))
        return true;
    return !solver_is_well_known(key.data, key.size) &&
           (label_is_in_domain(key, TEXT("karpenter.sh")) ||
            label_is_in_domain(key, TEXT("karpenter.k8s.aws")));
}

bool label_is_put_by_others(struct text key)
{
    static const char *const beginnings[] = {
        "eks.amazonaws.com/",          "alpha.eksctl.io/",  "cloud.google.com/",
        "kubernetes.azure.com/",       "agentpool",         "node-role.kubernetes.io/",
        "feature.node.kubernetes.io/", "nvidia.com/",       "amd.com/",
        "node.openshift.io/",          "topology.k8s.aws/", "k8s.amazonaws.com/",
    };
    for (size_t i = 0; i < COUNT_OF(beginnings); i++)
        if (text_starts_with(key, text_of(beginnings[i])))
            return true;
    return false;
}

size_t pool_own_labels(const struct pool *pool, struct pool_label labels[POOL_OWN_LABELS_MAX])
{
    size_t count = 0;
    labels[count++] = (struct pool_label){TEXT(LABEL_NODE_POOL), pool->object->name};
    if (pool_is_of_auto_mode(pool))
        labels[count++] = (struct pool_label){TEXT(LABEL_COMPUTE_TYPE), TEXT("auto")};
    if (pool->node_class_label.size > 0)
        labels[count++] = (struct pool_label){pool->node_class_label, pool->node_class_name};
    return count;
}

/* Whether its nodes have the label. */
static bool add_pool(struct label_offers *offers, const struct pool *pool, struct text key,
                     struct arena *arena)
{
    bool some = add_expressions(offers, &pool->labels, key, arena);
    some |= add_expressions(offers, &pool->requirements, key, arena);
    struct pool_label own[POOL_OWN_LABELS_MAX];
    size_t count = pool_own_labels(pool, own);
    for (size_t i = 0; i < count; i++) {
        if (!text_equal(own[i].key, key))
            continue;
        some = true;
        (void)text_map_add(&offers->of_pools, arena, own[i].value);
    }
    return some;
}

void label_offers_read(const struct snapshot *snapshot, struct text key, struct arena *arena,
                       struct label_offers *offers)
{
    *offers = (struct label_offers){0};
    size_t count = snapshot_pools_name(snapshot, key) ? snapshot_pool_count(snapshot) : 0;
    bool from_all = true;
    for (size_t i = 0; i < count; i++) {
        if (snapshot_pool(snapshot, i)->object->deleting)
            continue;
        bool some = add_pool(offers, snapshot_pool(snapshot, i), key, arena);
        offers->from_pool |= some;
        from_all &= some;
    }
    offers->from_all_pools = offers->from_pool && from_all;
    offers->of_nodes = snapshot_node_values(snapshot, key);
}

bool label_offers_some(const struct label_offers *offers)
{
    return offers->from_pool || offers->of_nodes != NULL;
}

bool label_offers_have(const struct label_offers *offers, struct text value)
{
    return offers->any_value || text_map_has(&offers->of_pools, value) ||
           (offers->of_nodes != NULL && text_map_has(offers->of_nodes, value));
}

size_t label_offers_steps(const struct label_offers *offers)
{
    return offers->of_pools.count + (offers->of_nodes == NULL ? 0 : offers->of_nodes->count);
}

bool label_offers_next(const struct label_offers *offers, size_t *index, struct text *value)
{
    size_t of_pools = offers->of_pools.count;
    while (*index < label_offers_steps(offers)) {
        size_t i = (*index)++;
        *value = i < of_pools ? offers->of_pools.items[i].key
                              : offers->of_nodes->items[i - of_pools].key;
        if (i < of_pools || !text_map_has(&offers->of_pools, *value))
            return true;
    }
    return false;
}

struct text_list label_offers_list(const struct label_offers *offers, struct arena *arena)
{
    struct text_list list = {0};
    struct text value;
    for (size_t i = 0; label_offers_next(offers, &i, &value);)
        *LIST_PUSH(arena, &list) = value;
    return list;
}
