/* Where one pod would go. */
#include "solver/query.h"

static uint32_t find_node(struct query *q, const struct variant *variant)
{
    query_choose_nodes(q, variant);
    for (size_t i = 0; i < q->view->nodes.count; i++) {
        uint32_t node = q->view->node_order[i];
        if (bits_has(q->nodes, node) && query_node_takes(q, variant, node))
            return node;
    }
    return SOLVER_NONE;
}

static const struct solver_claim *buy(struct query *q, const struct claim *empty,
                                      const struct candidate *candidate)
{
    struct claim claim = *empty;
    claim.set = candidate->set;
    claim.rows = (uint64_t *)(uintptr_t)candidate->rows;
    claim.requests = (int64_t *)(uintptr_t)q->shape->requests;
    claim.first_pod = SOLVER_NONE;
    claim.held = (uint64_t *)(uintptr_t)candidate->held;
    struct solver_claim *bought = ARENA_NEW(q->run->arena, struct solver_claim);
    *bought = plan_claim(q->run, &claim);
    return bought;
}

static const struct solver_claim *find_claim(struct query *q, const struct variant *variant)
{
    if (!query_choose_types(q, variant))
        return NULL;
    q->run->deferred = false;
    for (size_t i = 0; i < q->view->pools.count && !q->run->deferred; i++) {
        struct claim claim;
        struct candidate candidate;
        if (query_empty_claim(q, q->view->pool_order[i], &claim) &&
            query_try_claim(q, &claim, variant, &candidate))
            return buy(q, &claim, &candidate);
    }
    return NULL;
}

struct tried {
    struct variant *items;
    size_t count, capacity;
};

static bool place(struct query *q, struct variant variant, struct tried *tried,
                  struct solver_answer *answer)
{
    bool may_be = query_take_variant(q, &variant);
    *LIST_PUSH(q->run->arena, tried) = variant;
    if (!may_be)
        return false;
    answer->node = find_node(q, &variant);
    if (answer->node != SOLVER_NONE) {
        answer->kind = SOLVER_ON_NODE;
        return true;
    }
    answer->claim = find_claim(q, &variant);
    if (answer->claim != NULL)
        answer->kind = SOLVER_ON_CLAIM;
    return answer->claim != NULL;
}

static bool place_relaxing(struct query *q, struct tried *tried, struct solver_answer *answer)
{
    const struct shape *shape = q->shape;
    for (size_t i = 0; i < shape->variant_count && !q->run->deferred; i++)
        if (place(q, shape->variants[i], tried, answer))
            return true;
    if (shape->variant_count > 0)
        return false;
    struct variant_steps *steps = variant_steps(&q->builder, shape);
    for (struct variant variant; !q->run->deferred && variant_next(steps, &variant);)
        if (place(q, variant, tried, answer))
            return true;
    return false;
}

static void answer_query(struct query *q, bool explain, struct solver_answer *answer)
{
    struct tried tried = {0};
    if ((!q->shape->needs_devices && place_relaxing(q, &tried, answer)) || !explain)
        return;
    /* As the shape of a pod of the view, with what was tried under the numbers it has here. */
    struct shape shape = *q->shape;
    shape.number = (uint32_t)q->view->shapes.count;
    shape.variants = tried.items;
    shape.variant_count = tried.count;
    *LIST_PUSH(q->run->arena, &q->view->shapes) = shape;
    q->run->warm->pod.shape = shape.number;
    answer->reasons = solver_explain(q->run, 0);
}

static const struct solver_reason nothing_has_it = {
    .pool = SOLVER_NONE,
    .kind = SOLVER_REASON_RESOURCES,
    .message = "asks for a resource that no instance type and no node has",
    .nearest = "",
};

bool solver_query(struct solver_run *run, const struct solver_question *question,
                  struct arena *arena, struct solver_answer *answer, struct error *error)
{
    struct query q;
    *answer = (struct solver_answer){.kind = SOLVER_UNSCHEDULABLE, .node = SOLVER_NONE};
    bool good = query_begin(&q, run, question, arena, error);
    if (good && !q.asks_for_unknown)
        answer_query(&q, question->explain, answer);
    if (good && q.asks_for_unknown && question->explain)
        answer->reasons = (struct solver_reasons){&nothing_has_it, 1};
    answer->names = run->problem->names;
    query_end(run);
    return good;
}
