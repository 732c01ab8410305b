/* Answers where one pod would be placed. */
#include "solver/explain.h"
#include "solver/query.h"
#include "solver/reason.h"

static uint32_t find_node(struct query *q, const struct relaxation *relaxation)
{
    query_choose_nodes(q, relaxation);
    for (size_t i = 0; i < q->view->nodes.count; i++) {
        uint32_t node = q->view->node_order[i];
        if (bits_has(q->nodes, node) && query_node_takes(q, relaxation, node))
            return node;
    }
    return SOLVER_NONE;
}

const struct solver_node_claim *query_buy(struct query *q, const struct node_claim *empty,
                                          const struct candidate *candidate)
{
    struct node_claim claim = *empty;
    claim.set = candidate->set;
    claim.options = (uint64_t *)(uintptr_t)candidate->options;
    claim.requests = (int64_t *)(uintptr_t)q->shape->requests;
    claim.held = (uint64_t *)(uintptr_t)candidate->held;
    struct solver_node_claim *bought = ARENA_NEW(q->run->arena, struct solver_node_claim);
    *bought = plan_claim(q->run, &claim);
    return bought;
}

static const struct solver_node_claim *find_claim(struct query *q,
                                                  const struct relaxation *relaxation)
{
    if (!query_choose_types(q, relaxation))
        return NULL;
    q->run->deferred = false;
    for (size_t i = 0; i < q->view->pools.count && !q->run->deferred; i++) {
        struct node_claim claim;
        struct candidate candidate;
        if (query_empty_node_claim(q, q->view->pool_order[i], &claim) &&
            query_try_node_claim(q, &claim, relaxation, &candidate))
            return query_buy(q, &claim, &candidate);
    }
    return NULL;
}

static bool place(struct query *q, struct relaxation relaxation, struct query_tried *tried,
                  struct solver_answer *answer)
{
    bool may_be = query_take_relaxation(q, &relaxation);
    *LIST_PUSH(q->run->arena, tried) = relaxation;
    if (!may_be)
        return false;
    answer->node = find_node(q, &relaxation);
    if (answer->node != SOLVER_NONE) {
        answer->kind = SOLVER_ON_NODE;
        return true;
    }
    q->run->deferred = held_by_port(q->run, 0, &relaxation) != NULL;
    if (q->run->deferred)
        return false;
    answer->claim = find_claim(q, &relaxation);
    if (answer->claim != NULL)
        answer->kind = SOLVER_ON_NODE_CLAIM;
    return answer->claim != NULL;
}

bool query_next_relaxation(struct query *q, struct query_relaxations *relaxations,
                           struct relaxation *relaxation)
{
    const struct shape *shape = q->shape;
    if (shape->relaxation_count > 0) {
        if (relaxations->next == shape->relaxation_count)
            return false;
        *relaxation = shape->relaxations[relaxations->next++];
        return true;
    }
    if (relaxations->steps == NULL)
        relaxations->steps = relaxation_steps(&q->builder, shape);
    return relaxation_next(relaxations->steps, relaxation);
}

static bool try_schedule(struct query *q, struct query_tried *tried, struct solver_answer *answer)
{
    struct query_relaxations relaxations = {0};
    struct relaxation relaxation;
    while (!q->run->deferred && query_next_relaxation(q, &relaxations, &relaxation))
        if (place(q, relaxation, tried, answer))
            return true;
    return false;
}

struct solver_reasons query_explain(struct query *q, const struct query_tried *tried,
                                    const struct fitting *fitting)
{
    /* The shape as a pod of the view has it, with the relaxations under their numbers in the
     * view. */
    struct shape shape = *q->shape;
    shape.number = (uint32_t)q->view->shapes.count;
    shape.relaxations = tried->items;
    shape.relaxation_count = tried->count;
    *LIST_PUSH(q->run->arena, &q->view->shapes) = shape;
    q->run->query_state->pod.shape = shape.number;
    return explain_misfits(q->run, 0, fitting);
}

static void answer_query(struct query *q, bool explain, struct solver_answer *answer)
{
    struct query_tried tried = {0};
    if ((!q->shape->needs_devices && try_schedule(q, &tried, answer)) || !explain)
        return;
    answer->reasons = query_explain(q, &tried, NULL);
}

const struct solver_reason query_nothing_has_it = {
    .pool = SOLVER_NONE,
    .kind = SOLVER_REASON_RESOURCES,
    .message = {.says = SOLVER_SAYS_UNKNOWN_RESOURCE},
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
        answer->reasons = (struct solver_reasons){&query_nothing_has_it, 1};
    answer->names = run->problem->names;
    query_end(run);
    return good;
}
