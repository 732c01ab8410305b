#include "solver/dense.h"

#include <stdlib.h>
#include <string.h>

/* ---- which pods ---- */

static bool is_loose(const struct solver_problem *problem, const struct shape *shape)
{
    const struct label_class *class = &problem->label_classes.items[shape->label_class];
    return shape->pending && !shape->needs_devices && shape->relaxation_count == 1 &&
           shape->relaxations[0].group_count == 0 && class->kept_away_by.count == 0 &&
           shape->port_count == 0 && shape->volume_alternative_count == 0;
}

static void collect(struct dense *dense)
{
    const struct solver_problem *problem = dense->problem;
    struct solver_run *run = dense->run;
    dense->left = ARENA_ARRAY(run->arena, problem->shapes.count, uint32_t);
    dense->pod_count = ARENA_ARRAY(run->arena, problem->shapes.count, uint32_t);
    dense->pods = ARENA_ARRAY(run->arena, problem->shapes.count, uint32_t *);
    dense->order = ARENA_ARRAY(run->arena, problem->shapes.count, uint32_t);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < problem->queue_count; i++) {
            const struct pod *pod = &problem->pods.items[problem->queue[i]];
            if (!run->postponed[pod->shape] || pod->mount_count > 0 ||
                run->places[problem->queue[i]].kind != SOLVER_UNSCHEDULABLE)
                continue;
            if (pass == 0) {
                if (dense->pod_count[pod->shape]++ == 0)
                    dense->order[dense->order_count++] = pod->shape;
            } else
                dense->pods[pod->shape][dense->left[pod->shape]++] = problem->queue[i];
        }
        for (size_t i = 0; i < problem->shapes.count && pass == 0; i++)
            dense->pods[i] = ARENA_ARRAY(run->arena, dense->pod_count[i], uint32_t);
    }
}

static uint32_t next_pod(const struct dense *dense, uint32_t shape)
{
    return dense->pods[shape][dense->pod_count[shape] - dense->left[shape]];
}

/* ---- buying ---- */

static bool put(struct dense *dense, uint32_t shape_number, uint32_t claim_number)
{
    struct solver_run *run = dense->run;
    uint32_t pod = next_pod(dense, shape_number);
    struct candidate candidate;
    const struct node_claim *claim = &run->node_claims.items[claim_number];
    if (node_claim_can_add(run, claim, (uint32_t)dense->problem->nodes.count + claim_number, pod,
                           &dense->problem->shapes.items[shape_number].relaxations[0], false,
                           &candidate) != CAN_ADD)
        return false;
    node_claim_add(run, pod, claim_number, &candidate);
    dense->left[shape_number]--;
    return true;
}

static uint32_t open_for(struct dense *dense, uint32_t number, const struct column *column)
{
    struct solver_run *run = dense->run;
    const struct shape *shape = &dense->problem->shapes.items[number];
    uint64_t *options = ARENA_ARRAY(run->arena, dense->problem->option_words, uint64_t);
    bits_add(options, column->option);
    struct node_claim empty = run->empty_node_claims[column->pool];
    empty.options = options;
    struct candidate candidate;
    uint32_t pod = next_pod(dense, number);
    uint32_t host = (uint32_t)(dense->problem->nodes.count + run->node_claims.count);
    if (node_claim_can_add(run, &empty, host, pod, &shape->relaxations[0], false, &candidate) !=
        CAN_ADD)
        return SOLVER_NONE;
    node_claim_open(run, column->pool, pod, &candidate);
    dense->left[number]--;
    return (uint32_t)run->node_claims.count - 1;
}

static bool buy(struct dense *dense, const struct column *column, const uint32_t *filled)
{
    uint32_t claim = SOLVER_NONE;
    for (size_t i = 0; i < dense->shape_count; i++) {
        uint32_t number = dense->shapes[i];
        const struct shape *shape = &dense->problem->shapes.items[number];
        if (filled[i] > 0)
            (void)topology_match(dense->run, shape, &shape->relaxations[0], NULL);
        for (uint32_t j = 0; j < filled[i]; j++) {
            if (claim == SOLVER_NONE)
                claim = open_for(dense, number, column);
            else if (!put(dense, number, claim))
                break;
            if (claim == SOLVER_NONE)
                break;
        }
    }
    return claim != SOLVER_NONE;
}

static int compare_totals(const void *a_pointer, const void *b_pointer)
{
    const struct lot *a = *(const struct lot *const *)a_pointer;
    const struct lot *b = *(const struct lot *const *)b_pointer;
    if (a->total > b->total || a->total < b->total)
        return a->total > b->total ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* The lots whose machines are considered next: those with most to place. */
static size_t list_lots(struct dense *dense, struct lot **chosen)
{
    size_t count = 0;
    lots_rate(dense);
    for (size_t i = 0; i < dense->lots.count; i++)
        if (dense->lots.items[i].best_count > 0)
            chosen[count++] = &dense->lots.items[i];
    if (count > 1)
        qsort(chosen, count, sizeof *chosen, compare_totals);
    return count < LOTS_MAX ? count : LOTS_MAX;
}

static void list_shapes(struct dense *dense)
{
    dense->shape_count = 0;
    for (size_t i = 0; i < dense->lots.count; i++)
        for (size_t j = 0; j < dense->lots.items[i].shapes.count; j++)
            if (dense->left[dense->lots.items[i].shapes.items[j]] > 0)
                dense->shapes[dense->shape_count++] = dense->lots.items[i].shapes.items[j];
}

/* Whether an earlier lot offers the same machine. */
static bool was_offered(struct lot *const *chosen, size_t lot, size_t place)
{
    const struct column *column = &chosen[lot]->best[place];
    for (size_t i = 0; i < lot; i++)
        for (size_t j = 0; j < chosen[i]->best_count; j++)
            if (chosen[i]->best[j].option == column->option &&
                chosen[i]->best[j].pool == column->pool)
                return true;
    return false;
}

/* One machine, the densest of all lots; false when nothing can be bought for what is left. */
static bool buy_one(struct dense *dense, struct lot **chosen, bool *allowed)
{
    size_t lot_count = list_lots(dense, chosen);
    list_shapes(dense);
    struct column best = {.cost = 0};
    double best_density = 0;
    for (size_t i = 0; i < lot_count; i++)
        for (size_t j = 0; j < chosen[i]->best_count * FILL_RULES; j++) {
            const struct column *column = &chosen[i]->best[j / FILL_RULES];
            if (was_offered(chosen, i, j / FILL_RULES))
                continue;
            double worth = fill_machine(dense, column, (enum fill_rule)(j % FILL_RULES), allowed,
                                        dense->filled);
            if (worth / column->cost <= best_density)
                continue;
            best_density = worth / column->cost;
            best = *column;
            uint32_t *filled = dense->filled;
            dense->filled = dense->best_filled;
            dense->best_filled = filled;
        }
    return best_density > 0 && buy(dense, &best, dense->best_filled);
}

/* ---- the whole ---- */

/* What of a shape goes where room is left and paid for. */
static void use_what_is_there(struct dense *dense, uint32_t number)
{
    struct solver_run *run = dense->run;
    const struct relaxation *relaxation = &dense->problem->shapes.items[number].relaxations[0];
    while (dense->left[number] > 0 &&
           add_to_existing_node(run, next_pod(dense, number), relaxation))
        dense->left[number]--;
    if (!topology_match(run, &dense->problem->shapes.items[number], relaxation, NULL))
        return;
    while (dense->left[number] > 0 &&
           add_to_inflight_node(run, next_pod(dense, number), relaxation))
        dense->left[number]--;
}

/* NodeClaims keep to what they would be bought as: to grow is not free. */
static void keep_to_cheapest(struct solver_run *run)
{
    for (size_t i = 0; i < run->node_claims.count; i++) {
        struct node_claim *claim = &run->node_claims.items[i];
        size_t option = 0;
        if (node_claim_cheapest(run, claim->set, claim->options, &option) == NULL)
            continue;
        memset(claim->options, 0, run->problem->option_words * sizeof *claim->options);
        bits_add(claim->options, option);
        node_claim_measure(run, claim);
    }
}

/* Any type that can hold a NodeClaim's pods may be launched for it. */
static void widen(struct solver_run *run)
{
    const struct solver_problem *problem = run->problem;
    for (size_t i = 0; i < run->node_claims.count; i++) {
        struct node_claim *claim = &run->node_claims.items[i];
        const struct pool *pool = &problem->pools.items[claim->pool];
        if (pool->has_limits || claim->mounts.count > 0 || claim->ports.count > 0)
            continue;
        const uint64_t *suitable = node_requirements_options(run, claim->set);
        for (BITS_EACH(option, pool->options, problem->option_words)) {
            bool fits = bits_has(suitable, option);
            for (size_t r = 0; r < problem->resource_count && fits; r++)
                fits = claim->requests[r] <= pool->room[r * problem->options.count + option];
            if (fits)
                bits_add(claim->options, option);
        }
        node_claim_measure(run, claim);
    }
}

static void buy_tier(struct dense *dense, size_t first, size_t end)
{
    struct arena *arena = dense->run->arena;
    dense->pools = &dense->problem->pool_order[first];
    dense->pool_count = end - first;
    lots_make(dense);
    for (size_t i = 0; i < dense->lots.count; i++)
        for (size_t j = 0; j < dense->lots.items[i].shapes.count; j++)
            use_what_is_there(dense, dense->lots.items[i].shapes.items[j]);
    struct lot **chosen = ARENA_ARRAY(arena, dense->lots.count, struct lot *);
    bool *allowed = ARENA_ARRAY(arena, dense->problem->shapes.count, bool);
    while (buy_one(dense, chosen, allowed))
        continue;
}

void place_densely(struct solver_run *run)
{
    const struct solver_problem *problem = run->problem;
    run->postponed = ARENA_ARRAY(run->arena, problem->shapes.count, bool);
    size_t shape_count = problem->shapes.count;
    for (size_t i = 0; i < shape_count; i++)
        run->postponed[i] = is_loose(problem, &problem->shapes.items[i]);
    place_queue(run);
    keep_to_cheapest(run);
    struct dense dense = {.run = run, .problem = problem};
    collect(&dense);
    size_t most = problem->pools.count * problem->options.count;
    dense.columns = ARENA_ARRAY(run->arena, most, struct column);
    dense.costs = ARENA_ARRAY(run->arena, most, double);
    dense.supplies = ARENA_ARRAY(run->arena, most * SIMPLEX_ROWS_MAX, double);
    dense.filled = ARENA_ARRAY(run->arena, shape_count, uint32_t);
    dense.best_filled = ARENA_ARRAY(run->arena, shape_count, uint32_t);
    dense.shapes = ARENA_ARRAY(run->arena, shape_count, uint32_t);
    dense.lot_of = ARENA_ARRAY(run->arena, shape_count, const struct lot *);
    dense.worth = ARENA_ARRAY(run->arena, shape_count, double);
    for (size_t first = 0, end = 0; first < problem->pools.count; first = end) {
        uint32_t weight = problem->pools.items[problem->pool_order[first]].weight;
        while (end < problem->pools.count &&
               problem->pools.items[problem->pool_order[end]].weight == weight)
            end++;
        buy_tier(&dense, first, end);
    }
    widen(run);
    run->postponed = NULL;
}
