/* What blocks the disruption of Nodes: they themselves, and their pods. */
#include "kube/object.h"
#include "kube/opt_out.h"
#include "kube/pod.h"
#include "kube/snapshot.h"
#include "simulation/claim_of_node.h"
#include "simulation/disruption_internal.h"
#include "simulation/eviction_budgets.h"
#include "simulation/owner.h"
#include "simulation/pods.h"
#include "solver/well_known.h"

struct search {
    const struct disruption_question *question;
    const struct claims_of_nodes *claims;
    struct arena *arena;
    struct disruption *disruption;
    struct eviction_budgets *budgets;
    size_t kept; /* blocks, so far */
};

/* Nodes are asked before their pods, and leave them half of the places. */
static bool is_full(const struct search *search, const struct disruption_node *node,
                    const struct disruption_block *block)
{
    size_t most = search->question->most_blocks;
    size_t places = block->pod == NULL ? most - most / 2 : most;
    return node->block_count == DISRUPTION_BLOCKS_KEPT || (most > 0 && search->kept >= places);
}

static void add_block(struct search *search, struct disruption_node *node,
                      const struct disruption_block *block)
{
    node->block_total++;
    if (is_full(search, node, block))
        return;
    search->kept++;
    if (node->blocks == NULL)
        node->blocks = ARENA_ARRAY(search->arena, DISRUPTION_BLOCKS_KEPT, struct disruption_block);
    struct disruption_block *kept = &node->blocks[node->block_count++];
    *kept = *block;
    if (block->pod == NULL)
        return;
    struct lineage lineage;
    lineage_find(search->question->snapshot, block->pod, search->arena, &lineage);
    kept->owner = lineage.root;
}

/* ---- the node itself ---- */

bool disruption_is_initialized(const struct object *node)
{
    return node != NULL && text_is(node_string(node_get(node->labels, LABEL_INITIALIZED)), "true");
}

/* In Karpenter's order. False: nothing of the node blocks. */
static bool node_blocks(const struct search *search, const struct disruption_node *node,
                        enum disruption_block_kind *kind)
{
    const struct disruption *disruption = search->disruption;
    bool of_pool = node->pool < disruption->pool_count;
    bool sees_pools = (search->question->seen & KIND_BIT(KIND_NODE_POOL)) != 0;
    const struct {
        enum disruption_block_kind kind;
        bool holds;
    } tests[] = {
        {BLOCK_NOT_KARPENTERS, !node_is_managed(search->claims, node->node, node->claim)},
        {BLOCK_NO_NODE, node->node == NULL},
        {BLOCK_LEAVING, node_is_leaving(search->claims, node->node, node->claim)},
        {BLOCK_NOT_INITIALIZED, !disruption_is_initialized(node->node)},
        {BLOCK_NODE_OPTS_OUT,
         node->node != NULL && text_is(object_annotation(node->node, OPT_OUT), "true")},
        {BLOCK_NOT_KARPENTERS, !of_pool},
        {BLOCK_NO_POOL, of_pool && sees_pools && disruption->pools[node->pool].object == NULL},
    };
    for (size_t i = 0; i < COUNT_OF(tests); i++)
        if (tests[i].holds) {
            *kind = tests[i].kind;
            return true;
        }
    return false;
}

/* ---- its pods ---- */

/* Budgets that keep a pod from being evicted. False: none does. */
static bool budgets_block(const struct search *search, const struct object *pod,
                          struct disruption_block *block)
{
    struct eviction_cover cover =
        eviction_budgets_blocking(search->budgets, pod, EVICTION_BLOCKED_NOW);
    if (cover.count == 0)
        return false;
    block->kind = cover.count == 1 ? BLOCK_BUDGET : BLOCK_SEVERAL_BUDGETS;
    block->budget_count = cover.count;
    block->computed = cover.count == 1 && cover.budgets[0]->computed;
    for (size_t i = 0; i < cover.count && i < COUNT_OF(block->budgets); i++)
        block->budgets[i] = cover.budgets[i]->object;
    return true;
}

/* What keeps a pod from being evicted. False: nothing. Pods are many and few of them block: what
 * spares a pod is asked last. */
static bool pod_blocks(const struct search *search, const struct object *pod,
                       struct disruption_block *block)
{
    *block = (struct disruption_block){.kind = BLOCK_POD_OPTS_OUT, .pod = pod};
    if (pod->deleting)
        return false;
    if (!opt_out_of_pod(pod, search->question->now_unix_s, &block->until_unix_s) &&
        !budgets_block(search, pod, block))
        return false;
    return !pod_is_done(pod);
}

/* ---- all of them ---- */

/* A pod of a DaemonSet and a static pod go with their node. */
static bool is_moved(const struct object *pod)
{
    return !pod->deleting && !object_is_of_daemon_set(pod) && !pod_is_mirror(pod) &&
           !pod_is_done(pod);
}

bool disruption_ends_pod(const struct object *pod)
{
    return pod->controller.name.size == 0 && is_moved(pod);
}

static void add_pod_blocks(struct search *search)
{
    const struct disruption_question *question = search->question;
    struct disruption *disruption = search->disruption;
    struct text_map numbers = {0}; /* of the nodes, from 1 */
    for (size_t i = 0; i < disruption->node_count; i++)
        if (disruption->nodes[i].node != NULL)
            *text_map_at(&numbers, search->arena, disruption->nodes[i].node->name) = i + 1;
    for (size_t i = 0; i < snapshot_count(question->snapshot, KIND_POD); i++) {
        const struct object *pod = snapshot_object(question->snapshot, KIND_POD, i);
        struct text name = node_string(node_at(pod->root->node, "spec.nodeName"));
        size_t number = name.size == 0 ? 0 : text_map_get(&numbers, name, 0);
        struct disruption_block block;
        if (number == 0)
            continue;
        disruption->nodes[number - 1].gone += disruption_ends_pod(pod);
        disruption->nodes[number - 1].moving += is_moved(pod) && !disruption_ends_pod(pod);
        if (pod_blocks(search, pod, &block))
            add_block(search, &disruption->nodes[number - 1], &block);
    }
}

void disruption_find_blocks(const struct disruption_question *question,
                            const struct claims_of_nodes *claims, struct arena *arena,
                            struct disruption *disruption)
{
    struct search search = {
        question, claims, arena, disruption, eviction_budgets_read(question->snapshot, arena), 0};
    bool drift = question->reason == REASON_DRIFTED;
    for (size_t i = 0; i < disruption->node_count; i++) {
        struct disruption_block block = {.until_unix_s = INT64_MAX};
        struct disruption_node *node = &disruption->nodes[i];
        node->blocked = node_blocks(&search, node, &block.kind);
        node->blocks_itself = node->blocked;
        node->leaving = node->blocked && block.kind == BLOCK_LEAVING;
        if (node->blocked)
            add_block(&search, node, &block);
    }
    add_pod_blocks(&search);
    for (size_t i = 0; i < disruption->node_count; i++) {
        struct disruption_node *node = &disruption->nodes[i];
        size_t of_pods = node->block_total - (node->blocks_itself ? 1 : 0);
        if (question->verb == DISRUPTION_DELETE)
            node->blocked = node->leaving;
        else
            node->blocked |= of_pods > 0 && !(drift && node->grace_s >= 0);
        node->waits = of_pods > 0 && !node->blocked;
        disruption->blocked += node->blocked;
        disruption->waiting += node->waits;
    }
}

struct text disruption_block_text(const struct disruption_block *block, struct arena *arena)
{
    static const char *const of_nodes[] = {
        [BLOCK_NOT_KARPENTERS] = "it is none of Karpenter's",
        [BLOCK_NO_NODE] = "its Node has not come yet",
        [BLOCK_LEAVING] = "it is leaving already",
        [BLOCK_NOT_INITIALIZED] = "it is not initialized",
        [BLOCK_NODE_OPTS_OUT] = "karpenter.sh/do-not-disrupt on the Node",
        [BLOCK_NO_POOL] = "its NodePool is not there",
    };
    if (block->kind < BLOCK_POD_OPTS_OUT)
        return text_of(of_nodes[block->kind]);
    if (block->kind == BLOCK_BUDGET)
        return arena_printf(arena, "PodDisruptionBudget %.*s", TEXT_ARGS(block->budgets[0]->name));
    if (block->kind == BLOCK_POD_OPTS_OUT && block->until_unix_s == INT64_MAX)
        return TEXT(OPT_OUT);
    if (block->kind == BLOCK_POD_OPTS_OUT)
        return arena_printf(arena, OPT_OUT " until %.*s UTC",
                            TEXT_ARGS(window_time_text(block->until_unix_s, arena)));
    struct text more = TEXT("");
    if (block->budget_count > 2)
        more = arena_printf(arena, " and %zu more", block->budget_count - 2);
    return arena_printf(arena, "PodDisruptionBudgets %.*s%s %.*s%.*s",
                        TEXT_ARGS(block->budgets[0]->name), more.size > 0 ? "," : " and",
                        TEXT_ARGS(block->budgets[1]->name), TEXT_ARGS(more));
}
