/* How many nodes of a NodePool may go at once, now and when the next window opens. */
#include "kube/object.h"
#include "kube/snapshot.h"
#include "simulation/claim_of_node.h"
#include "simulation/disruption_internal.h"
#include "solver/well_known.h"

/* ---- the nodes that its budgets count ---- */

/* A Node that says nothing about itself, as in a file, is ready. */
static bool is_ready(const struct object *node)
{
    return object_condition(node, "Ready") == NULL || object_condition_holds(node, "Ready");
}

static void count_node(struct disruption_pool *pool, const struct claims_of_nodes *claims,
                       const struct object *node)
{
    const struct object *claim = claim_of_node(claims, node);
    if (!node_is_managed(claims, node, claim) || !disruption_is_initialized(node) ||
        claim_is_terminating(claim))
        return;
    pool->counted++;
    pool->disrupted += node_is_leaving(claims, node, claim) || !is_ready(node);
}

static void count_nodes(const struct snapshot *snapshot, const struct claims_of_nodes *claims,
                        struct arena *arena, struct disruption *disruption)
{
    struct text_map numbers = {0}; /* of the pools, from 1 */
    for (size_t i = 0; i < disruption->pool_count; i++)
        *text_map_at(&numbers, arena, disruption->pools[i].name) = i + 1;
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_NODE); i++) {
        const struct object *node = snapshot_object(snapshot, KIND_NODE, i);
        struct text name = node_string(node_get(node->labels, LABEL_NODE_POOL));
        size_t number = name.size == 0 ? 0 : text_map_get(&numbers, name, 0);
        if (number > 0)
            count_node(&disruption->pools[number - 1], claims, node);
    }
    for (size_t i = 0; i < disruption->node_count; i++) {
        const struct disruption_node *node = &disruption->nodes[i];
        if (node->pool == disruption->pool_count)
            continue;
        struct disruption_pool *pool = &disruption->pools[node->pool];
        pool->asked++;
        pool->blocked += node->blocked;
        pool->leaving += node->leaving;
    }
}

/* ---- what its budgets allow ---- */

struct allowance {
    const struct budgets *budgets;
    const struct disruption_question *question;
    int64_t free; /* nodes in question that nothing blocks */
};

static size_t at_most(int64_t allowed, int64_t free)
{
    int64_t least = allowed < free ? allowed : free;
    return least > 0 ? (size_t)least : 0;
}

static int64_t allowed_of(const struct allowance *allowance, size_t nodes, int64_t unix_s)
{
    return budgets_allowed(allowance->budgets, allowance->question->reason, (int64_t)nodes, unix_s);
}

/* Successors that are up count as nodes while those they replace are still there: a percentage
 * grows with them, until it brings no more. */
static size_t at_once_later(const struct allowance *allowance, const struct disruption_pool *pool,
                            int64_t unix_s)
{
    size_t at_once = pool->at_once;
    for (;;) {
        int64_t allowed = allowed_of(allowance, pool->counted + at_once, unix_s);
        size_t next = at_most(allowed - (int64_t)pool->disrupted, allowance->free);
        if (next <= at_once)
            return at_once;
        at_once = next;
    }
}

static void read_windows(struct disruption_pool *pool, const struct allowance *allowance)
{
    const struct budgets *budgets = allowance->budgets;
    int64_t now = allowance->question->now_unix_s;
    size_t steps_left = WINDOW_STEPS;
    pool->windows = window_next_within(budgets, now, &steps_left, &pool->window);
    if (pool->windows != WINDOW_FOUND)
        return;
    pool->at_once_in_window =
        at_most(allowed_of(allowance, pool->counted, pool->window.open_unix_s), allowance->free);
    pool->opens_again = pool->window.close_unix_s != INT64_MAX &&
                        window_next_within(budgets, pool->window.close_unix_s, &steps_left,
                                           &pool->next) == WINDOW_FOUND;
}

static void read_pool(struct disruption_pool *pool, const struct disruption_question *question,
                      struct arena *arena)
{
    struct budgets written;
    if (pool->object == NULL) {
        pool->windows = WINDOW_UNKNOWN;
        return;
    }
    budgets_read(pool->object, question->now_unix_s, arena, &written);
    struct budgets all = budgets_with_default(&written, arena);
    FOR_EACH(budget, &all)
        pool->unreadable |= !budget_is_valid(budget);
    pool->windows = WINDOW_NEVER;
    if (pool->unreadable)
        return;
    struct budgets of_reason = budgets_of_reason(&all, question->reason, arena);
    const struct allowance allowance = {&of_reason, question,
                                        (int64_t)pool->asked - (int64_t)pool->blocked};
    pool->allowed = allowed_of(&allowance, pool->counted, question->now_unix_s);
    pool->at_once = at_most(pool->allowed - (int64_t)pool->disrupted, allowance.free);
    pool->at_once_later = at_once_later(&allowance, pool, question->now_unix_s);
    read_windows(pool, &allowance);
}

/* No budget holds up a deletion. */
static void delete_pool(struct disruption_pool *pool, int64_t now_unix_s)
{
    pool->allowed = BUDGETS_UNLIMITED;
    pool->at_once = pool->asked - pool->leaving;
    pool->at_once_later = pool->at_once_in_window = pool->at_once;
    pool->windows = WINDOW_FOUND;
    pool->window = (struct window){now_unix_s, INT64_MAX};
}

void disruption_read_pools(const struct disruption_question *question,
                           const struct claims_of_nodes *claims, struct arena *arena,
                           struct disruption *disruption)
{
    count_nodes(question->snapshot, claims, arena, disruption);
    for (size_t i = 0; i < disruption->pool_count; i++) {
        struct disruption_pool *pool = &disruption->pools[i];
        if (question->verb == DISRUPTION_DELETE)
            delete_pool(pool, question->now_unix_s);
        else
            read_pool(pool, question, arena);
        disruption->at_once += pool->at_once;
        if (pool->windows != WINDOW_FOUND)
            continue;
        if (!disruption->opens || pool->window.open_unix_s < disruption->opens_unix_s)
            disruption->opens_unix_s = pool->window.open_unix_s;
        disruption->opens = true;
    }
}
