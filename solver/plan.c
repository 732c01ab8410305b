/* Places all pods, in the order of Karpenter's queue, and makes the plan. */
#include <stdlib.h>
#include <string.h>

#include "solver/optimize.h"

/* ---- the queue (docs/reference/karpenter.md 2.2) ---- */

/* Tries a pod as it is, then gives up one preference after another. */
static bool try_schedule(struct solver_run *run, uint32_t pod)
{
    const struct shape *shape = &run->problem->shapes.items[run->problem->pods.items[pod].shape];
    if (shape->needs_devices)
        return false;
    if (shape->local_hosts)
        return place_with_local_volumes(run, pod);
    for (size_t i = 0; i < shape->relaxation_count; i++) {
        note_relaxation(run, pod, i);
        if (try_relaxation(run, pod, &shape->relaxations[i]))
            return true;
        if (run->deferred)
            return false;
    }
    return false;
}

/* A shape that failed fails again while nothing is placed. Pods with mounts are not alike: their
 * volumes may be attached already. */
static bool is_hopeless(const struct solver_run *run, const struct pod *pod)
{
    return pod->mount_count == 0 && run->shape_failed_at[pod->shape] == run->version;
}

/* By size, as in the queue (docs/reference/karpenter.md 2.2), unless the strategy allows any order.
 * Between equals the seed decides. */
static int compare_drawn(const void *a_pointer, const void *b_pointer, void *argument)
{
    const struct solver_run *run = argument;
    const struct solver_problem *problem = run->problem;
    uint32_t x = *(const uint32_t *)a_pointer, y = *(const uint32_t *)b_pointer;
    const struct shape *a = &problem->shapes.items[problem->pods.items[x].shape];
    const struct shape *b = &problem->shapes.items[problem->pods.items[y].shape];
    for (size_t r = SOLVER_CPU; r <= SOLVER_MEMORY && !run->strategy.any_order; r++)
        if (a->requests[r] != b->requests[r])
            return a->requests[r] > b->requests[r] ? -1 : 1;
    const char *a_name = solver_pod_name(problem, x), *b_name = solver_pod_name(problem, y);
    uint64_t a_lot = intern_hash(a_name, strlen(a_name), run->strategy.seed);
    uint64_t b_lot = intern_hash(b_name, strlen(b_name), run->strategy.seed);
    return a_lot < b_lot ? -1 : a_lot > b_lot;
}

/* Goes over the pods that are left, until a whole pass places none. */
void place_queue(struct solver_run *run)
{
    const struct solver_problem *problem = run->problem;
    uint32_t *left = ARENA_ARRAY(run->arena, problem->queue_count, uint32_t);
    size_t left_count = 0;
    for (size_t i = 0; i < problem->queue_count; i++)
        if (run->placements[problem->queue[i]].kind == SOLVER_UNSCHEDULABLE &&
            (run->postponed == NULL ||
             !run->postponed[problem->pods.items[problem->queue[i]].shape]))
            left[left_count++] = problem->queue[i];
    if (run->strategy.seed != 0 && left_count > 1)
        qsort_r(left, left_count, sizeof *left, compare_drawn, run);
    for (bool progress = true; progress && left_count > 0;) {
        progress = false;
        size_t kept = 0;
        for (size_t i = 0; i < left_count; i++) {
            const struct pod *pod = &problem->pods.items[left[i]];
            const uint64_t before = run->version;
            if (!is_hopeless(run, pod) && try_schedule(run, left[i])) {
                run->version++;
                progress = true;
                continue;
            }
            run->shape_failed_at[pod->shape] = before;
            left[kept++] = left[i];
        }
        left_count = kept;
    }
}

/* ---- NodeClaims of the plan ---- */

/* The price of NodeClaims with the same requirements and options is computed once. */
struct priced {
    const uint32_t *types;
    size_t type_count;
    struct priced_type cheapest;
};
struct prices {
    struct intern fingerprints;
    struct fingerprint scratch;
    LIST(struct priced) items;
    struct priced_type *buffer;
};

/* Types stand by price. Without one nothing is on offer. */
static struct priced_type first_of(const struct priced_type *types, size_t count)
{
    static const struct offering nothing = {
        .zone = "", .capacity_type = "", .price_usd_micro = -1, .reservation = SOLVER_NONE};
    if (count == 0)
        return (struct priced_type){SOLVER_NONE, INT64_MAX, &nothing};
    return types[0];
}

static const struct priced *price_claim(struct solver_run *run, struct prices *prices,
                                        const struct node_claim *claim)
{
    const struct solver_problem *problem = run->problem;
    prices->scratch.size = 0;
    fingerprint_number(&prices->scratch, claim->set->number);
    fingerprint_bytes(&prices->scratch, claim->options,
                      problem->option_words * sizeof *claim->options);
    bool added = false;
    uint32_t number =
        intern_number(&prices->fingerprints, prices->scratch.bytes, prices->scratch.size, &added);
    if (!added)
        return &prices->items.items[number];
    size_t count = price_options(run, claim->set, claim->options, prices->buffer);
    uint32_t *types = ARENA_ARRAY(run->arena, count, uint32_t);
    size_t type_count = 0;
    for (size_t i = 0; i < count; i++) { /* a type has an option for each of its allocatables */
        bool seen = false;
        for (size_t j = 0; j < type_count && !seen && problem->options.count > problem->types.count;
             j++)
            seen = types[j] == prices->buffer[i].type;
        if (!seen)
            types[type_count++] = prices->buffer[i].type;
    }
    struct priced *priced = LIST_PUSH(run->arena, &prices->items);
    *priced = (struct priced){types, type_count, first_of(prices->buffer, count)};
    return priced;
}

/* The requests of its pods, and the least that its daemons may request (docs/reference/karpenter.md
 * 2.6). */
static const int64_t *claim_requests(struct solver_run *run, const struct node_claim *claim)
{
    const struct solver_problem *problem = run->problem;
    const struct pool *pool = &problem->pools.items[claim->pool];
    int64_t *requests = ARENA_ARRAY(run->arena, problem->resource_count, int64_t);
    bool first = true;
    for (size_t i = 0; i < pool->daemon_count; i++) {
        const struct daemon_overhead_group *group = &pool->daemons[i];
        if (!bits_meet(group->options, claim->options, problem->option_words))
            continue;
        for (size_t r = 0; r < problem->resource_count; r++)
            if (first || group->overhead[r] < requests[r])
                requests[r] = group->overhead[r];
        first = false;
    }
    for (size_t r = 0; r < problem->resource_count; r++)
        requests[r] = add_capped(claim->requests[r], requests[r]);
    return requests;
}

static int compare_numbers(const void *a_pointer, const void *b_pointer)
{
    uint32_t a = *(const uint32_t *)a_pointer, b = *(const uint32_t *)b_pointer;
    return a < b ? -1 : a > b;
}

static void sort_numbers(uint32_t *numbers, size_t count)
{
    if (count > 1)
        qsort(numbers, count, sizeof *numbers, compare_numbers);
}

static const char *reservation_id(struct solver_run *run, const struct offering *offering)
{
    const struct solver_problem *problem = run->problem;
    if (offering->reservation == SOLVER_NONE)
        return "";
    struct text id;
    uint32_t value = problem->reservations.items[offering->reservation].value;
    id.data = solver_names_value_text(problem->names, problem->reservation_key, value, &id.size);
    return arena_text(run->arena, id).data;
}

static struct solver_node_claim finish_claim(struct solver_run *run, struct prices *prices,
                                             const struct node_claim *unfinished)
{
    struct node_claim finished = *unfinished;
    const struct node_claim *claim = &finished;
    finished.set = reserved_finish(run, unfinished);
    const struct priced *priced = price_claim(run, prices, claim);
    const struct offering *cheapest = priced->cheapest.offering;
    uint32_t *pods = ARENA_ARRAY(run->arena, claim->pod_count, uint32_t);
    LIST(uint32_t) misplaced = {0};
    size_t count = 0;
    for (uint32_t pod = claim->first_pod; pod != SOLVER_NONE; pod = run->next_pod[pod])
        if (is_misplaced(run, pod))
            *LIST_PUSH(run->arena, &misplaced) = pod;
        else
            pods[count++] = pod;
    sort_numbers(pods, count);
    sort_numbers(misplaced.items, misplaced.count);
    return (struct solver_node_claim){
        .pool = claim->pool,
        .requirements = &claim->set->requirements,
        .types = priced->types,
        .type_count = priced->type_count,
        .pods = pods,
        .pod_count = count,
        .misplaced = misplaced.items,
        .misplaced_count = misplaced.count,
        .requests = claim_requests(run, claim),
        .type = priced->cheapest.type,
        .zone = cheapest->zone,
        .capacity_type = cheapest->capacity_type,
        .reservation = reservation_id(run, cheapest),
        .price_usd_micro = cheapest->price_usd_micro,
    };
}

static struct prices no_prices(struct solver_run *run)
{
    return (struct prices){
        .fingerprints = {.arena = run->arena},
        .scratch = {.arena = run->arena},
        .buffer = ARENA_ARRAY(run->arena, run->problem->options.count, struct priced_type),
    };
}

struct solver_node_claim plan_claim(struct solver_run *run, const struct node_claim *claim)
{
    struct prices prices = no_prices(run);
    return finish_claim(run, &prices, claim);
}

void plan_finish(struct solver_run *run)
{
    const struct solver_problem *problem = run->problem;
    struct solver_node_claim *claims =
        ARENA_ARRAY(run->arena, run->node_claims.count, struct solver_node_claim);
    struct prices prices = no_prices(run);
    for (size_t i = 0; i < run->node_claims.count; i++)
        claims[i] = finish_claim(run, &prices, &run->node_claims.items[i]);
    struct solver_placement *placements =
        ARENA_ARRAY(run->arena, problem->queue_count, struct solver_placement);
    size_t count = 0, unschedulable = 0;
    for (uint32_t i = 0; i < problem->pods.count; i++) {
        if (problem->pods.items[i].node != SOLVER_NONE)
            continue;
        placements[count] = run->placements[i];
        placements[count].pod = i;
        placements[count].misplaced = is_misplaced(run, i);
        if (placements[count].misplaced)
            placements[count].kind = SOLVER_UNSCHEDULABLE;
        unschedulable += placements[count].kind == SOLVER_UNSCHEDULABLE;
        count++;
    }
    run->plan = (struct solver_plan){
        .placements = placements,
        .placement_count = count,
        .claims = claims,
        .claim_count = run->node_claims.count,
        .unschedulable_count = unschedulable,
    };
}

const struct solver_plan *solver_solve(struct solver_run *run)
{
    if (settings_optimize(&run->problem->settings)) {
        optimize(run);
        return &run->plan;
    }
    place_queue(run);
    plan_finish(run);
    return &run->plan;
}
