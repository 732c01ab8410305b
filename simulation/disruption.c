/* Forecasts what would happen to Nodes that are to be replaced or deleted. */
#include "simulation/disruption.h"

#include <stdlib.h>

#include "kube/object.h"
#include "kube/snapshot.h"
#include "kube/time.h"
#include "simulation/claim_of_node.h"
#include "simulation/disruption_internal.h"
#include "solver/well_known.h"

/* ---- the nodes in question ---- */

static int64_t grace_of(const struct object *claim)
{
    const struct node *grace =
        claim == NULL ? NULL : node_at(claim->root->node, "spec.terminationGracePeriod");
    int64_t seconds = 0;
    return duration_parse(node_string(grace), &seconds) ? seconds : -1;
}

static void pair_nodes(const struct disruption_question *question,
                       const struct claims_of_nodes *claims, struct arena *arena,
                       struct disruption *disruption)
{
    const struct snapshot *snapshot = question->snapshot;
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_NODE); i++)
        (void)claim_of_node(claims, snapshot_object(snapshot, KIND_NODE, i));
    disruption->node_count = question->node_count;
    disruption->nodes = ARENA_ARRAY(arena, question->node_count, struct disruption_node);
    for (size_t i = 0; i < question->node_count; i++) {
        const struct object *object = question->nodes[i];
        struct disruption_node *node = &disruption->nodes[i];
        if (object->kind == KIND_NODE_CLAIM) {
            size_t index = snapshot_index(snapshot, KIND_NODE_CLAIM, TEXT(""), object->name);
            node->claim = object;
            node->node = index < claims->count ? claims->items[index].node : NULL;
        } else {
            node->node = object;
            node->claim = claim_of_node(claims, object);
        }
        node->grace_s = grace_of(node->claim);
    }
}

struct text disruption_node_name(const struct disruption_node *node)
{
    return (node->node != NULL ? node->node : node->claim)->name;
}

/* ---- their pools ---- */

static struct text pool_name_of(const struct disruption_node *node)
{
    struct text name =
        node_string(node_get(node->node == NULL ? NULL : node->node->labels, LABEL_NODE_POOL));
    if (name.size > 0 || node->claim == NULL)
        return name;
    return node_string(node_get(node->claim->labels, LABEL_NODE_POOL));
}

static int compare_pools(const void *a, const void *b)
{
    return text_compare(((const struct disruption_pool *)a)->name,
                        ((const struct disruption_pool *)b)->name);
}

static const struct object *pool_object(const struct disruption_question *question,
                                        struct text name)
{
    if (question->pool != NULL && text_equal(question->pool->name, name))
        return question->pool;
    return snapshot_find(question->snapshot, KIND_NODE_POOL, TEXT(""), name);
}

static void find_pools(const struct disruption_question *question, struct arena *arena,
                       struct disruption *disruption)
{
    struct text_map names = {0};
    for (size_t i = 0; i < disruption->node_count; i++) {
        struct text name = pool_name_of(&disruption->nodes[i]);
        if (name.size > 0)
            (void)text_map_add(&names, arena, name);
    }
    disruption->pool_count = names.count;
    disruption->pools = ARENA_ARRAY(arena, names.count, struct disruption_pool);
    for (size_t i = 0; i < names.count; i++)
        disruption->pools[i].name = names.items[i].key;
    if (names.count > 1)
        qsort(disruption->pools, names.count, sizeof *disruption->pools, compare_pools);
    for (size_t i = 0; i < names.count; i++) {
        struct disruption_pool *pool = &disruption->pools[i];
        pool->object = pool_object(question, pool->name);
        *text_map_at(&names, arena, pool->name) = i;
    }
    for (size_t i = 0; i < disruption->node_count; i++)
        disruption->nodes[i].pool =
            text_map_get(&names, pool_name_of(&disruption->nodes[i]), names.count);
}

/* ---- the whole ---- */

/* Kinds that a forecast reads. */
static const kind_set needed = KIND_BIT(KIND_NODE) | KIND_BIT(KIND_NODE_CLAIM) |
                               KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_POD) |
                               KIND_BIT(KIND_POD_DISRUPTION_BUDGET);

void disruption_forecast(const struct disruption_question *question, struct arena *arena,
                         struct disruption *disruption)
{
    *disruption =
        (struct disruption){.unseen = snapshot_unseen(question->snapshot, needed, question->seen)};
    struct claims_of_nodes claims = claims_of_nodes_read(question->snapshot, arena);
    pair_nodes(question, &claims, arena, disruption);
    find_pools(question, arena, disruption);
    disruption_find_blocks(question, &claims, arena, disruption);
    disruption_read_pools(question, &claims, arena, disruption);
}
