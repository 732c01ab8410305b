/* Buying for pods as a whole: pods that no topology ties to others are bought for together. A pod
 * is worth what it costs at least, on the instance that suits it best and were it full of its like.
 * The instance whose pods are worth most for its price is bought, filled with those that take least
 * of what is scarce on it; then the next one. */
#include <math.h>
#include <string.h>

#include "solver/optimize.h"

struct waiting_shape {
    const struct shape *shape;
    const uint32_t *pods; /* in the order of the queue; the last of them wait */
    uint32_t pod_count, left;
    double worth;                          /* of one pod */
    const struct node_requirements **sets; /* by pool of the tier; NULL: cannot be there */
};
/* An instance that can be bought, for pods that can be had at its price. */
struct column {
    uint32_t pool;
    size_t place; /* of the pool in its tier */
    size_t option;
    int64_t price;
    double density; /* it has no more worth for its price */
};
struct dense {
    struct solver_run *run;
    const struct solver_problem *problem;
    struct waiting_shape *shapes; /* as the queue brings them: not as they were added */
    size_t shape_count;
    const uint32_t *pools; /* of the tier */
    size_t pool_count;
    LIST(struct column) columns;
    uint32_t *filled; /* by shape: how many */
    bool *allowed;    /* by shape: on the instance that is being filled */
    int64_t *room;    /* left there */
};

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
    size_t shape_count = problem->shapes.count;
    uint32_t *counts = ARENA_ARRAY(run->arena, shape_count, uint32_t);
    struct waiting_shape **by_shape = ARENA_ARRAY(run->arena, shape_count, struct waiting_shape *);
    dense->shapes = ARENA_ARRAY(run->arena, shape_count, struct waiting_shape);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < problem->queue_count; i++) {
            uint32_t number = problem->queue[i];
            const struct pod *pod = &problem->pods.items[number];
            if (!run->postponed[pod->shape] || pod->mount_count > 0 ||
                run->places[number].kind != SOLVER_UNSCHEDULABLE)
                continue;
            if (pass == 0) {
                counts[pod->shape]++;
                continue;
            }
            struct waiting_shape **waiting = &by_shape[pod->shape];
            if (*waiting == NULL) {
                *waiting = &dense->shapes[dense->shape_count++];
                (*waiting)->shape = &problem->shapes.items[pod->shape];
                (*waiting)->pods = ARENA_ARRAY(run->arena, counts[pod->shape], uint32_t);
            }
            ((uint32_t *)(uintptr_t)(*waiting)->pods)[(*waiting)->pod_count++] = number;
            (*waiting)->left++;
        }
}

static uint32_t next_pod(const struct waiting_shape *waiting)
{
    return waiting->pods[waiting->pod_count - waiting->left];
}

/* ---- what can be bought, and what pods are worth ---- */

static const struct node_requirements *set_for(const struct dense *dense, uint32_t pool_number,
                                               const struct shape *shape)
{
    const struct pool *pool = &dense->problem->pools.items[pool_number];
    const struct relaxation *relaxation = &shape->relaxations[0];
    const struct node_requirements *empty = dense->run->empty_node_claims[pool_number].set;
    if (empty->has_min_values || !hostname_allows_new(relaxation->full.hostname) ||
        !taints_tolerated(pool->taints, &shape->tolerations, false, NULL))
        return NULL;
    return node_requirements_add(dense->run, empty, &relaxation->full, relaxation->number);
}

static int64_t room_of(const struct dense *dense, uint32_t pool, size_t option, size_t resource)
{
    return dense->problem->pools.items[pool]
        .room[resource * dense->problem->options.count + option];
}

/* The part of an instance that a pod takes of what it takes most; above 1: it does not fit. */
static double largest_part(const struct dense *dense, uint32_t pool, size_t option,
                           const struct shape *shape)
{
    double largest = 0;
    for (size_t r = 0; r < dense->problem->resource_count; r++) {
        int64_t room = room_of(dense, pool, option, r);
        if (shape->requests[r] > room)
            return 2;
        double part = room > 0 ? (double)shape->requests[r] / (double)room : 0;
        largest = part > largest ? part : largest;
    }
    return largest;
}

static void add_column(struct dense *dense, size_t place, size_t option, int64_t price)
{
    for (size_t i = dense->columns.count; i > 0; i--) {
        const struct column *last = &dense->columns.items[i - 1];
        if (last->place != place || last->option != option)
            break;
        if (last->price == price)
            return;
    }
    *LIST_PUSH(dense->run->arena, &dense->columns) =
        (struct column){dense->pools[place], place, option, price, HUGE_VAL};
}

static void list_columns(struct dense *dense)
{
    dense->columns.count = 0;
    for (size_t p = 0; p < dense->pool_count; p++) {
        const uint64_t *limited = pool_limit_options(dense->run, dense->pools[p]);
        for (BITS_EACH(option, limited, limited == NULL ? 0 : dense->problem->option_words))
            for (size_t i = 0; i < dense->shape_count; i++) {
                struct waiting_shape *waiting = &dense->shapes[i];
                const struct node_requirements *set = waiting->sets[p];
                if (waiting->left == 0 || set == NULL ||
                    !bits_has(node_requirements_options(dense->run, set), option))
                    continue;
                int64_t price = option_price(dense->run, set, option);
                double part = largest_part(dense, dense->pools[p], option, waiting->shape);
                if (price == INT64_MAX || price == 0 || part > 1)
                    continue;
                if (waiting->worth <= 0 || (double)price * part < waiting->worth)
                    waiting->worth = (double)price * part;
                add_column(dense, p, option, price);
            }
    }
}

/* ---- filling one ---- */

#define FILL_PART 0.02 /* of an instance: as much of one shape is added before looking again */

/* How many of a shape fit, at most limit. */
static uint32_t how_many(const struct dense *dense, const struct shape *shape, uint32_t limit)
{
    int64_t most = limit;
    for (size_t r = 0; r < dense->problem->resource_count && most > 0; r++)
        if (shape->requests[r] > 0 && dense->room[r] / shape->requests[r] < most)
            most = dense->room[r] / shape->requests[r];
    return most > 0 ? (uint32_t)most : 0;
}

/* What a pod is worth for what it takes of what is scarce on the instance. */
static double prefer(const struct dense *dense, const struct waiting_shape *waiting)
{
    double scarce = 0;
    for (size_t r = 0; r < dense->problem->resource_count; r++)
        if (waiting->shape->requests[r] > 0)
            scarce += (double)waiting->shape->requests[r] / (double)dense->room[r];
    return scarce > 0 ? waiting->worth / scarce : waiting->worth;
}

/* The shape to add next, by its place; SIZE_MAX: nothing fits any more. */
static size_t choose_shape(const struct dense *dense)
{
    size_t best = SIZE_MAX;
    double best_score = -1;
    for (size_t i = 0; i < dense->shape_count; i++) {
        const struct waiting_shape *waiting = &dense->shapes[i];
        if (!dense->allowed[i] || waiting->left == dense->filled[i] ||
            how_many(dense, waiting->shape, 1) == 0)
            continue;
        double score = prefer(dense, waiting);
        if (score > best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

/* Fills an instance with pods that wait; filled says how many of each shape. What they are worth.
 */
static double fill(struct dense *dense, const struct column *column)
{
    for (size_t r = 0; r < dense->problem->resource_count; r++)
        dense->room[r] = room_of(dense, column->pool, column->option, r);
    for (size_t i = 0; i < dense->shape_count; i++) {
        const struct node_requirements *set = dense->shapes[i].sets[column->place];
        dense->allowed[i] = set != NULL && dense->shapes[i].left > 0 &&
                            bits_has(node_requirements_options(dense->run, set), column->option) &&
                            option_price(dense->run, set, column->option) <= column->price;
        dense->filled[i] = 0;
    }
    double worth = 0;
    for (size_t next; (next = choose_shape(dense)) != SIZE_MAX;) {
        const struct waiting_shape *waiting = &dense->shapes[next];
        double part = largest_part(dense, column->pool, column->option, waiting->shape);
        double at_once = part > 0 && part < FILL_PART ? FILL_PART / part : 1;
        uint32_t limit = waiting->left - dense->filled[next];
        uint32_t count =
            how_many(dense, waiting->shape, at_once < (double)limit ? (uint32_t)at_once : limit);
        for (size_t r = 0; r < dense->problem->resource_count; r++)
            dense->room[r] -= waiting->shape->requests[r] * (int64_t)count;
        dense->filled[next] += count;
        worth += waiting->worth * count;
    }
    return worth;
}

/* ---- buying ---- */

static bool put(struct dense *dense, struct waiting_shape *waiting, uint32_t claim_number)
{
    struct solver_run *run = dense->run;
    uint32_t pod = next_pod(waiting);
    struct candidate candidate;
    const struct node_claim *claim = &run->node_claims.items[claim_number];
    if (node_claim_can_add(run, claim, (uint32_t)dense->problem->nodes.count + claim_number, pod,
                           &waiting->shape->relaxations[0], false, &candidate) != CAN_ADD)
        return false;
    node_claim_add(run, pod, claim_number, &candidate);
    waiting->left--;
    return true;
}

static bool open_for(struct dense *dense, struct waiting_shape *waiting,
                     const struct column *column)
{
    struct solver_run *run = dense->run;
    struct node_claim empty = run->empty_node_claims[column->pool];
    empty.options = ARENA_ARRAY(run->arena, dense->problem->option_words, uint64_t);
    bits_add(empty.options, column->option);
    struct candidate candidate;
    uint32_t pod = next_pod(waiting);
    uint32_t host = (uint32_t)(dense->problem->nodes.count + run->node_claims.count);
    if (node_claim_can_add(run, &empty, host, pod, &waiting->shape->relaxations[0], false,
                           &candidate) != CAN_ADD)
        return false;
    node_claim_open(run, column->pool, pod, &candidate);
    waiting->left--;
    return true;
}

/* False when nothing could be put on it. */
static bool buy(struct dense *dense, const struct column *column)
{
    uint32_t claim = (uint32_t)dense->run->node_claims.count;
    bool bought = false;
    for (size_t i = 0; i < dense->shape_count; i++) {
        struct waiting_shape *waiting = &dense->shapes[i];
        if (dense->filled[i] > 0)
            (void)topology_match(dense->run, waiting->shape, &waiting->shape->relaxations[0], NULL);
        bool fits = true;
        for (uint32_t j = 0; j < dense->filled[i] && fits; j++) {
            fits = bought ? put(dense, waiting, claim) : open_for(dense, waiting, column);
            bought |= fits;
        }
    }
    return bought;
}

static struct column *densest(const struct dense *dense)
{
    struct column *best = NULL;
    for (size_t i = 0; i < dense->columns.count; i++)
        if (best == NULL || dense->columns.items[i].density > best->density)
            best = &dense->columns.items[i];
    return best;
}

/* Fills what might be the densest until one is: what an instance holds is worth less and less, so
 * one that was filled before is no denser by now. NULL: nothing can be bought for what is left. */
static struct column *fill_densest(struct dense *dense)
{
    for (struct column *best; (best = densest(dense)) != NULL && best->density > 0;) {
        const uint64_t *limited = pool_limit_options(dense->run, best->pool);
        bool allowed = limited != NULL && bits_has(limited, best->option);
        best->density = allowed ? fill(dense, best) / (double)best->price : 0;
        if (best->density > 0 && densest(dense) == best)
            return best;
    }
    return NULL;
}

#define SETTLING_ROUNDS 30
#define SETTLED_DENSITY 1.005

/* Pods that go well together are worth less than each of them alone: no instance holds more than
 * its price. */
static void settle_worths(struct dense *dense)
{
    for (int round = 0; round < SETTLING_ROUNDS; round++) {
        const struct column *best = fill_densest(dense);
        if (best == NULL || best->density < SETTLED_DENSITY)
            return;
        for (size_t i = 0; i < dense->shape_count; i++)
            if (dense->filled[i] > 0)
                dense->shapes[i].worth /= best->density;
    }
}

/* Buys the densest, one after another. */
static void buy_all(struct dense *dense)
{
    for (struct column *best; (best = fill_densest(dense)) != NULL;)
        if (!buy(dense, best))
            best->density = 0;
}

/* ---- the whole ---- */

/* What of a shape goes where room is left and paid for. */
static void use_what_is_there(struct dense *dense, struct waiting_shape *waiting)
{
    struct solver_run *run = dense->run;
    const struct relaxation *relaxation = &waiting->shape->relaxations[0];
    while (waiting->left > 0 && add_to_existing_node(run, next_pod(waiting), relaxation))
        waiting->left--;
    if (!topology_match(run, waiting->shape, relaxation, NULL))
        return;
    while (waiting->left > 0 && add_to_inflight_node(run, next_pod(waiting), relaxation))
        waiting->left--;
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
    dense->pools = &dense->problem->pool_order[first];
    dense->pool_count = end - first;
    for (size_t i = 0; i < dense->shape_count; i++) {
        struct waiting_shape *waiting = &dense->shapes[i];
        waiting->worth = 0;
        waiting->sets =
            ARENA_ARRAY(dense->run->arena, dense->pool_count, const struct node_requirements *);
        for (size_t p = 0; p < dense->pool_count; p++)
            waiting->sets[p] = set_for(dense, dense->pools[p], waiting->shape);
        use_what_is_there(dense, waiting);
    }
    list_columns(dense);
    settle_worths(dense);
    buy_all(dense);
}

void place_densely(struct solver_run *run)
{
    const struct solver_problem *problem = run->problem;
    size_t shape_count = problem->shapes.count;
    run->postponed = ARENA_ARRAY(run->arena, shape_count, bool);
    for (size_t i = 0; i < shape_count; i++)
        run->postponed[i] = is_loose(problem, &problem->shapes.items[i]);
    place_queue(run);
    keep_to_cheapest(run);
    struct dense dense = {
        .run = run,
        .problem = problem,
        .filled = ARENA_ARRAY(run->arena, shape_count, uint32_t),
        .allowed = ARENA_ARRAY(run->arena, shape_count, bool),
        .room = ARENA_ARRAY(run->arena, problem->resource_count, int64_t),
    };
    collect(&dense);
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
