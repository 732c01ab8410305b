/* Gathers what a change does: which nodes it takes, how fast, and what blocks. What uses classes,
 * claims and namespaces is in change_users.c. */
#include "simulation/change_impact.h"

#include "kube/object.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "simulation/change_internal.h"
#include "solver/well_known.h"

/* ---- reasons ---- */

void impact_add_reason(const struct impact_reading *reading, struct text reason)
{
    struct change_impact *impact = reading->impact;
    if (impact->reason_total++ < IMPACT_REASONS_KEPT)
        *LIST_PUSH(reading->arena, &impact->reasons) = reason;
}

static void add_reason_at(const struct impact_reading *reading, const char *what, struct text path)
{
    impact_add_reason(reading, arena_printf(reading->arena, "%s: %.*s", what, TEXT_ARGS(path)));
}

/* ---- which NodePools ---- */

static void add_pool(const struct impact_reading *reading, struct text name)
{
    *LIST_PUSH(reading->arena, &reading->impact->pools) = name;
}

static void find_pools(const struct impact_reading *reading)
{
    const struct snapshot *snapshot = reading->question->snapshot;
    const struct object *object = reading->question->before;
    if (object->kind == KIND_NODE_POOL) {
        add_pool(reading, object->name);
        return;
    }
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++) {
        const struct pool *pool = snapshot_pool(snapshot, i);
        if (node_class_is_named(pool->node_class_group, pool->node_class_kind,
                                pool->node_class_name, object))
            add_pool(reading, pool->object->name);
    }
}

/* ---- which nodes ---- */

struct nodes {
    const struct object **items;
    size_t count, capacity;
};

void impact_need(const struct impact_reading *reading, kind_set kinds)
{
    const struct change_question *question = reading->question;
    reading->impact->unseen |= snapshot_unseen(question->snapshot, kinds, question->seen);
}

/* Nodes or NodeClaims of the NodePools in question that are not leaving. */
static void find_nodes(const struct impact_reading *reading, enum kind kind, struct nodes *nodes)
{
    const struct snapshot *snapshot = reading->question->snapshot;
    struct text_map pools = {0};
    FOR_EACH(pool, &reading->impact->pools)
        (void)text_map_add(&pools, reading->arena, *pool);
    for (size_t i = 0; i < snapshot_count(snapshot, kind); i++) {
        const struct object *object = snapshot_object(snapshot, kind, i);
        struct text pool = node_string(node_get(object->labels, LABEL_NODE_POOL));
        if (!object->deleting && pool.size > 0 && text_map_has(&pools, pool))
            *LIST_PUSH(reading->arena, nodes) = object;
    }
}

/* Each machine once: by its NodeClaim, and where nobody sees those by its Node. */
static struct nodes nodes_in_question(const struct impact_reading *reading)
{
    struct nodes nodes = {0};
    impact_need(reading, KIND_BIT(KIND_NODE_CLAIM));
    if (snapshot_count(reading->question->snapshot, KIND_NODE_CLAIM) > 0) {
        find_nodes(reading, KIND_NODE_CLAIM, &nodes);
    } else {
        impact_need(reading, KIND_BIT(KIND_NODE));
        find_nodes(reading, KIND_NODE, &nodes);
        if (nodes.count > 0)
            reading->impact->unseen |= KIND_BIT(KIND_NODE_CLAIM);
    }
    reading->impact->nodes_total = nodes.count;
    return nodes;
}

static void cut(const struct impact_reading *reading, struct nodes *nodes)
{
    size_t most = reading->question->most_nodes;
    if (most == 0 || nodes->count <= most)
        return;
    nodes->count = most;
    reading->impact->at_least = true;
}

/* ---- how fast, and what blocks ---- */

/* The pool whose nodes go first tells the window; pools of one class may differ. */
static void read_pace(const struct impact_reading *reading)
{
    struct change_impact *impact = reading->impact;
    const struct disruption *forecast = &impact->forecast;
    const struct disruption_pool *first = NULL;
    bool unknown = false;
    for (size_t i = 0; i < forecast->pool_count; i++) {
        const struct disruption_pool *pool = &forecast->pools[i];
        unknown |= pool->windows == WINDOW_UNKNOWN;
        if (pool->windows == WINDOW_FOUND &&
            (first == NULL || pool->window.open_unix_s < first->window.open_unix_s))
            first = pool;
    }
    impact->windows = unknown ? WINDOW_UNKNOWN : WINDOW_NEVER;
    if (first == NULL)
        return;
    impact->windows = WINDOW_FOUND;
    impact->window = first->window;
    impact->opens_again = first->opens_again;
    impact->next = first->next;
    bool is_open = first->window.open_unix_s <= reading->question->now_unix_s;
    for (size_t i = 0; i < forecast->pool_count; i++) {
        const struct disruption_pool *pool = &forecast->pools[i];
        if (pool->windows != WINDOW_FOUND || pool->window.open_unix_s != first->window.open_unix_s)
            continue;
        size_t at_once = is_open ? pool->at_once : pool->at_once_in_window;
        impact->at_once += at_once;
        impact->at_once_most += pool->at_once_later > at_once ? pool->at_once_later : at_once;
    }
}

/* There are no more than the forecast keeps. */
static void keep_block(const struct impact_reading *reading, const struct disruption_node *node,
                       const struct disruption_block *block)
{
    struct change_impact *impact = reading->impact;
    if (impact->blocks == NULL)
        impact->blocks = ARENA_ARRAY(reading->arena, IMPACT_BLOCKS_KEPT, struct impact_block);
    impact->blocks[impact->block_count++] = (struct impact_block){
        .node = node->node != NULL ? node->node : node->claim,
        .pod = block->pod,
        .by = disruption_block_text(block, reading->arena),
        .owner = block->owner,
    };
}

/* For a deletion only pods that hold up a drain are told: that a node is leaving, or has not come
 * yet, is no news. */
static void read_blocks(const struct impact_reading *reading)
{
    struct change_impact *impact = reading->impact;
    const struct disruption *forecast = &impact->forecast;
    bool replaces = impact->nodes_replaced > 0;
    for (size_t i = 0; i < forecast->node_count; i++) {
        const struct disruption_node *node = &forecast->nodes[i];
        size_t of_pods = node->block_total - (node->blocks_itself ? 1 : 0);
        impact->pods_moving += node->moving;
        impact->pods_gone += node->gone;
        if (!replaces && !node->waits)
            continue;
        for (size_t j = 0; j < node->block_count; j++)
            if (replaces || node->blocks[j].pod != NULL)
                keep_block(reading, node, &node->blocks[j]);
        impact->block_total += replaces ? node->block_total : of_pods;
        impact->pods_blocking += of_pods;
    }
    impact->nodes_blocked = forecast->blocked;
    impact->nodes_held = forecast->waiting;
}

static void forecast(const struct impact_reading *reading, const struct nodes *nodes,
                     enum disruption_verb verb)
{
    const struct change_question *question = reading->question;
    bool of_pool = verb == DISRUPTION_REPLACE && question->after->kind == KIND_NODE_POOL;
    const struct disruption_question asked = {
        .snapshot = question->snapshot,
        .seen = question->seen,
        .now_unix_s = question->now_unix_s,
        .verb = verb,
        .reason = REASON_DRIFTED,
        .pool = of_pool ? question->after : NULL,
        .nodes = nodes->items,
        .node_count = nodes->count,
        .most_blocks = IMPACT_BLOCKS_KEPT,
    };
    disruption_forecast(&asked, reading->arena, &reading->impact->forecast);
    reading->impact->unseen |= reading->impact->forecast.unseen;
    read_pace(reading);
    read_blocks(reading);
}

/* ---- an update ---- */

/* Whether a NodeClaim is drifted for what a NodePool says; else for what its node class says. */
static bool is_of_pool(struct text reason)
{
    return TEXT_IS_ONE_OF(reason, "NodePoolDrifted", "RequirementsDrifted");
}

static struct nodes take_drifted(const struct impact_reading *reading)
{
    struct change_impact *impact = reading->impact;
    bool of_pool = reading->question->after->kind == KIND_NODE_POOL;
    struct nodes nodes = {0};
    FOR_EACH(claim, &impact->drift.claims) {
        if (claim->verdict == DRIFT_NEWLY)
            *LIST_PUSH(reading->arena, &nodes) = claim->claim;
        else if (claim->verdict == DRIFT_ALREADY && is_of_pool(claim->reason) == of_pool)
            impact->nodes_waiting++;
    }
    /* NodeClaims of a NodePool that cannot be seen follow their node class, too. */
    if (impact->nodes_total < impact->drift.claims.count)
        impact->nodes_total = impact->drift.claims.count;
    impact->nodes_replaced = nodes.count;
    impact->nodes_spared = impact->drift.counts[DRIFT_UNDONE];
    impact->nodes_unknown = impact->drift.counts[DRIFT_UNKNOWN];
    return nodes;
}

/* A NodePool of a fixed size gives up what is above it, at once, and replaces none before
 * (docs/reference/karpenter.md 6.11): what drifts goes once. */
static void read_scale_down(const struct impact_reading *reading)
{
    struct change_impact *impact = reading->impact;
    int64_t before = 0, after = 0, have = (int64_t)impact->nodes_total;
    if (!node_integer(node_at(reading->question->before->root->node, "spec.replicas"), &before) ||
        !node_integer(node_at(reading->question->after->root->node, "spec.replicas"), &after))
        return;
    int64_t kept = before < have ? before : have;
    if (after < 0 || after >= kept)
        return;
    impact->nodes_deleted = (size_t)(kept - after);
    size_t left = impact->nodes_total - impact->nodes_deleted;
    if (impact->nodes_replaced > left)
        impact->nodes_replaced = left;
    impact_add_reason(reading, TEXT("scale-down: spec.replicas"));
}

/* Whether nothing that may take a node differs: then nothing need be seen. */
static bool is_harmless(const struct impact_reading *reading)
{
    static const char *const fields[] = {"spec.template.spec.requirements", "spec.replicas"};
    const struct node *before = reading->question->before->root->node;
    const struct node *after = reading->question->after->root->node;
    kind_set told_by_paths = KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_EC2_NODE_CLASS);
    if ((KIND_BIT(reading->question->after->kind) & told_by_paths) == 0)
        return node_equal(node_get(before, "spec"), node_get(after, "spec"));
    bool harmless = reading->impact->drift.paths.count == 0;
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        harmless &= node_equal(node_at(before, fields[i]), node_at(after, fields[i]));
    return harmless;
}

static bool read_update(const struct impact_reading *reading)
{
    const struct change_question *question = reading->question;
    struct change_impact *impact = reading->impact;
    if (!drift_of_edit(question->snapshot, question->before, question->after, reading->arena,
                       &impact->drift))
        return false;
    find_pools(reading);
    const struct nodes all = nodes_in_question(reading);
    if (is_harmless(reading)) {
        impact->unseen = 0;
        return true;
    }
    struct nodes nodes = take_drifted(reading);
    FOR_EACH(path, &impact->drift.paths)
        if (nodes.count + impact->nodes_unknown > 0)
            add_reason_at(reading, "drift", *path);
    if (question->after->kind == KIND_NODE_POOL)
        read_scale_down(reading);
    bool deletes_all = impact->nodes_deleted > 0 && impact->nodes_deleted == impact->nodes_total;
    if (deletes_all)
        nodes = all;
    cut(reading, &nodes);
    if (nodes.count > 0)
        forecast(reading, &nodes, deletes_all ? DISRUPTION_DELETE : DISRUPTION_REPLACE);
    return true;
}

/* ---- a deletion ---- */

/* An EC2NodeClass has a finalizer, and waits until the last NodeClaim of it is gone. */
static void read_class_deletion(const struct impact_reading *reading)
{
    struct change_impact *impact = reading->impact;
    impact_need(reading, KIND_BIT(KIND_NODE_POOL));
    impact->nodes_kept = nodes_in_question(reading).count;
    if (impact->pools.count > 0)
        impact_add_reason(reading, TEXT("deletion"));
}

static void read_pool_deletion(const struct impact_reading *reading)
{
    struct nodes nodes = nodes_in_question(reading);
    if (nodes.count == 0)
        return;
    impact_add_reason(reading, TEXT("deletion"));
    if (reading->question->orphans) {
        reading->impact->nodes_kept = nodes.count;
        return;
    }
    reading->impact->nodes_deleted = nodes.count;
    cut(reading, &nodes);
    forecast(reading, &nodes, DISRUPTION_DELETE);
}

static bool read_deletion(const struct impact_reading *reading)
{
    const struct object *object = reading->question->before;
    bool of_pool = object->kind == KIND_NODE_POOL;
    kind_set versioned = KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_EC2_NODE_CLASS);
    if ((KIND_BIT(object->kind) & versioned) != 0 && object_is_v1beta1(object))
        return false;
    find_pools(reading);
    (of_pool ? read_pool_deletion : read_class_deletion)(reading);
    return true;
}

/* ---- the whole ---- */

static bool read(const struct impact_reading *reading)
{
    const struct change_question *question = reading->question;
    kind_set kind = KIND_BIT(question->before->kind);
    bool leaving = question->before->deleting && question->after == NULL;
    if ((kind & KINDS_OF_IMPACT) == 0)
        return false;
    if (leaving)
        return true;
    if ((kind & KINDS_WITH_NODES) == 0) {
        impact_read_users(reading);
        return true;
    }
    return question->after == NULL ? read_deletion(reading) : read_update(reading);
}

bool change_impact(const struct change_question *question, struct arena *arena,
                   struct change_impact *impact)
{
    const struct impact_reading reading = {question, arena, impact};
    *impact = (struct change_impact){.windows = WINDOW_UNKNOWN};
    return read(&reading);
}

bool change_impact_is_felt(const struct change_impact *impact)
{
    return change_impact_nodes(impact) > 0 || impact->nodes_kept > 0 || impact->nodes_unknown > 0 ||
           impact->user_total > 0;
}
