#include <stdlib.h>
#include <string.h>

#include "solver/run.h"
#include "solver/simplex.h"

/* Pods that no topology ties to others are bought for as a whole: what a unit of each resource is
 * worth at the least cost of all of them (the dual of a covering program) tells which machine holds
 * most for its price, and which pods to put on it. One machine after another, the densest first. */

#define CANDIDATES_MAX 16
#define FILL_STEP 0.02 /* of a machine: as much of one shape is added before looking again */

/* Shapes that every pool of a tier sees alike. */
struct lot {
    LIST(uint32_t) shapes;
    const struct claim_set **sets; /* by pool of the tier; NULL: cannot be there */
    size_t row_count;              /* that would do, over the pools: the fewest go first */
};
struct column { /* a machine that can be bought */
    uint32_t pool;
    size_t row;
    double cost, worth;
};
struct dense {
    struct solver_run *run;
    const struct solver_problem *problem;
    uint32_t *left;  /* by shape: pods that wait */
    uint32_t **pods; /* by shape: which, in the order of the queue; the last of them wait */
    uint32_t *pod_count;
    const uint32_t *pools; /* of the tier */
    size_t pool_count;
    size_t resources[SIMPLEX_ROWS_MAX]; /* that the lot asks for */
    size_t resource_count;
    double demands[SIMPLEX_ROWS_MAX];
    double prices[SIMPLEX_ROWS_MAX];
    struct column *columns;
    size_t column_count;
    double *supplies, *costs;
    uint32_t *filled, *best_filled; /* by shape of the lot: how many */
};

/* ---- which pods ---- */

static bool is_loose(const struct solver_problem *problem, const struct shape *shape)
{
    const struct label_class *class = &problem->label_classes.items[shape->label_class];
    return shape->pending && !shape->needs_devices && shape->variant_count == 1 &&
           shape->variants[0].group_count == 0 && class->kept_away_by.count == 0 &&
           shape->port_count == 0 && shape->volume_alternative_count == 0;
}

static void collect(struct dense *dense)
{
    const struct solver_problem *problem = dense->problem;
    struct solver_run *run = dense->run;
    dense->left = ARENA_ARRAY(run->arena, problem->shapes.count, uint32_t);
    dense->pod_count = ARENA_ARRAY(run->arena, problem->shapes.count, uint32_t);
    dense->pods = ARENA_ARRAY(run->arena, problem->shapes.count, uint32_t *);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < problem->queue_count; i++) {
            const struct pod *pod = &problem->pods.items[problem->queue[i]];
            if (!run->postponed[pod->shape] || pod->mount_count > 0 ||
                run->places[problem->queue[i]].kind != SOLVER_UNSCHEDULABLE)
                continue;
            if (pass == 0)
                dense->pod_count[pod->shape]++;
            else
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

/* ---- lots ---- */

static const struct claim_set *set_for(const struct dense *dense, uint32_t pool_number,
                                       const struct shape *shape)
{
    const struct pool *pool = &dense->problem->pools.items[pool_number];
    const struct variant *variant = &shape->variants[0];
    const struct claim_set *empty = dense->run->empty_claims[pool_number].set;
    if (empty->has_min_values || !hostname_allows_new(variant->full.hostname) ||
        !taints_tolerated(pool->taints, &shape->tolerations, false, NULL))
        return NULL;
    return claim_set_add(dense->run, empty, &variant->full, variant->number);
}

static size_t count_rows(const struct dense *dense, const struct lot *lot)
{
    size_t count = 0;
    for (size_t i = 0; i < dense->pool_count; i++) {
        if (lot->sets[i] == NULL)
            continue;
        const uint64_t *rows = claim_set_rows(dense->run, lot->sets[i]);
        for (size_t w = 0; w < dense->problem->row_words; w++)
            count += (size_t)__builtin_popcountll(
                rows[w] & dense->problem->pools.items[dense->pools[i]].rows[w]);
    }
    return count;
}

static int compare_lots(const void *a_pointer, const void *b_pointer)
{
    const struct lot *a = a_pointer;
    const struct lot *b = b_pointer;
    if (a->row_count != b->row_count)
        return a->row_count < b->row_count ? -1 : 1;
    return a->shapes.items[0] < b->shapes.items[0] ? -1 : 1;
}

static struct lot *make_lots(struct dense *dense, size_t *lot_count)
{
    struct arena *arena = dense->run->arena;
    LIST(struct lot) lots = {0};
    struct intern signatures = {.arena = arena};
    for (uint32_t i = 0; i < dense->problem->shapes.count; i++) {
        if (dense->left[i] == 0)
            continue;
        const struct claim_set **sets =
            ARENA_ARRAY(arena, dense->pool_count, const struct claim_set *);
        for (size_t j = 0; j < dense->pool_count; j++)
            sets[j] = set_for(dense, dense->pools[j], &dense->problem->shapes.items[i]);
        bool added = false;
        uint32_t number =
            intern_number(&signatures, sets, dense->pool_count * sizeof *sets, &added);
        if (added)
            *LIST_PUSH(arena, &lots) = (struct lot){.sets = sets};
        *LIST_PUSH(arena, &lots.items[number].shapes) = i;
    }
    for (size_t i = 0; i < lots.count; i++)
        lots.items[i].row_count = count_rows(dense, &lots.items[i]);
    if (lots.count > 1)
        qsort(lots.items, lots.count, sizeof *lots.items, compare_lots);
    *lot_count = lots.count;
    return lots.items;
}

/* ---- what a lot asks, and what can be bought for it ---- */

static bool measure_demand(struct dense *dense, const struct lot *lot)
{
    dense->resource_count = 0;
    for (size_t r = 0; r < dense->problem->resource_count; r++) {
        double demand = 0;
        for (size_t i = 0; i < lot->shapes.count; i++) {
            uint32_t shape = lot->shapes.items[i];
            demand += (double)dense->left[shape] *
                      (double)dense->problem->shapes.items[shape].requests[r];
        }
        if (demand <= 0)
            continue;
        if (dense->resource_count == SIMPLEX_ROWS_MAX)
            break;
        dense->resources[dense->resource_count] = r;
        dense->demands[dense->resource_count++] = demand;
    }
    return dense->resource_count > 0;
}

/* Something of the lot fits it. */
static bool holds_any(const struct dense *dense, const struct lot *lot, const struct pool *pool,
                      size_t row)
{
    size_t row_count = dense->problem->rows.count;
    for (size_t i = 0; i < lot->shapes.count; i++) {
        const struct shape *shape = &dense->problem->shapes.items[lot->shapes.items[i]];
        bool fits = dense->left[lot->shapes.items[i]] > 0;
        for (size_t r = 0; r < dense->problem->resource_count && fits; r++)
            fits = shape->requests[r] <= pool->room[r * row_count + row];
        if (fits)
            return true;
    }
    return false;
}

static void list_columns(struct dense *dense, const struct lot *lot)
{
    const struct solver_problem *problem = dense->problem;
    size_t row_count = problem->rows.count;
    uint64_t *rows = ARENA_ARRAY(dense->run->arena, problem->row_words, uint64_t);
    dense->column_count = 0;
    for (size_t i = 0; i < dense->pool_count; i++) {
        uint32_t number = dense->pools[i];
        const uint64_t *limited = pool_limit_rows(dense->run, number);
        if (lot->sets[i] == NULL || limited == NULL)
            continue;
        const struct pool *pool = &problem->pools.items[number];
        const uint64_t *suitable = claim_set_rows(dense->run, lot->sets[i]);
        for (size_t w = 0; w < problem->row_words; w++)
            rows[w] = suitable[w] & limited[w];
        for (BITS_EACH(row, rows, problem->row_words)) {
            int64_t price = row_price(dense->run, lot->sets[i], row);
            if (price == INT64_MAX || price == 0 || !holds_any(dense, lot, pool, row))
                continue;
            size_t j = dense->column_count++;
            dense->columns[j] = (struct column){.pool = number, .row = row, .cost = (double)price};
            dense->costs[j] = (double)price;
            for (size_t k = 0; k < dense->resource_count; k++)
                dense->supplies[j * dense->resource_count + k] =
                    (double)pool->room[dense->resources[k] * row_count + row];
        }
    }
}

static int compare_columns(const void *a_pointer, const void *b_pointer)
{
    const struct column *a = a_pointer;
    const struct column *b = b_pointer;
    if (a->worth > b->worth || a->worth < b->worth)
        return a->worth > b->worth ? -1 : 1;
    if (a->cost > b->cost || a->cost < b->cost)
        return a->cost < b->cost ? -1 : 1;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return a->pool < b->pool ? -1 : a->pool > b->pool;
}

/* Sorts the columns by what they could hold for their price, were pods a fluid. */
static bool rate_columns(struct dense *dense)
{
    struct simplex program = {dense->resource_count, dense->column_count, dense->demands,
                              dense->supplies, dense->costs};
    if (dense->column_count == 0 || !simplex_prices(&program, dense->prices))
        return false;
    for (size_t j = 0; j < dense->column_count; j++) {
        double worth = 0;
        for (size_t k = 0; k < dense->resource_count; k++) {
            double supply = dense->supplies[j * dense->resource_count + k];
            worth += dense->prices[k] * (supply < dense->demands[k] ? supply : dense->demands[k]);
        }
        dense->columns[j].worth = worth / dense->columns[j].cost;
    }
    qsort(dense->columns, dense->column_count, sizeof *dense->columns, compare_columns);
    return true;
}

/* ---- filling one machine ---- */

/* How many of a shape fit, at most limit. */
static uint32_t how_many(const struct dense *dense, const struct shape *shape, const int64_t *room,
                         uint32_t limit)
{
    int64_t most = limit;
    for (size_t r = 0; r < dense->problem->resource_count && most > 0; r++)
        if (shape->requests[r] > 0 && room[r] / shape->requests[r] < most)
            most = room[r] / shape->requests[r];
    return most > 0 ? (uint32_t)most : 0;
}

/* How well a shape goes with what is left: large where much is left. */
static double match(const struct dense *dense, const struct shape *shape, const int64_t *room,
                    const double *size)
{
    double score = 0;
    for (size_t k = 0; k < dense->resource_count; k++) {
        size_t r = dense->resources[k];
        if (size[k] > 0)
            score += (double)shape->requests[r] / size[k] * ((double)room[r] / size[k]);
    }
    return score;
}

/* Fills a machine with pods of the lot; filled says how many of each shape. What they are worth. */
static double fill(const struct dense *dense, const struct lot *lot, const struct column *column,
                   int64_t *room, uint32_t *filled)
{
    const struct solver_problem *problem = dense->problem;
    const struct pool *pool = &problem->pools.items[column->pool];
    double size[SIMPLEX_ROWS_MAX], worth = 0;
    for (size_t r = 0; r < problem->resource_count; r++)
        room[r] = pool->room[r * problem->rows.count + column->row];
    for (size_t k = 0; k < dense->resource_count; k++)
        size[k] = (double)room[dense->resources[k]];
    memset(filled, 0, lot->shapes.count * sizeof *filled);
    for (;;) {
        size_t best = SIZE_MAX;
        double best_score = -1;
        for (size_t i = 0; i < lot->shapes.count; i++) {
            uint32_t number = lot->shapes.items[i];
            const struct shape *shape = &problem->shapes.items[number];
            if (dense->left[number] == filled[i] || how_many(dense, shape, room, 1) == 0)
                continue;
            double score = match(dense, shape, room, size);
            if (score > best_score) {
                best = i;
                best_score = score;
            }
        }
        if (best == SIZE_MAX)
            return worth;
        uint32_t number = lot->shapes.items[best];
        const struct shape *shape = &problem->shapes.items[number];
        double largest = 0;
        for (size_t k = 0; k < dense->resource_count; k++) {
            double part = size[k] > 0 ? (double)shape->requests[dense->resources[k]] / size[k] : 0;
            largest = part > largest ? part : largest;
        }
        double at_once = largest > 0 && largest < FILL_STEP ? FILL_STEP / largest : 1;
        uint32_t limit = dense->left[number] - filled[best];
        if (at_once < (double)limit)
            limit = (uint32_t)at_once;
        uint32_t count = how_many(dense, shape, room, limit);
        filled[best] += count;
        for (size_t r = 0; r < problem->resource_count; r++)
            room[r] -= shape->requests[r] * (int64_t)count;
        for (size_t k = 0; k < dense->resource_count; k++)
            worth +=
                dense->prices[k] * (double)shape->requests[dense->resources[k]] * (double)count;
    }
}

/* ---- buying ---- */

static bool put(struct dense *dense, uint32_t shape_number, uint32_t claim_number)
{
    struct solver_run *run = dense->run;
    uint32_t pod = next_pod(dense, shape_number);
    struct candidate candidate;
    const struct claim *claim = &run->claims.items[claim_number];
    if (claim_try(run, claim, (uint32_t)dense->problem->nodes.count + claim_number, pod,
                  &dense->problem->shapes.items[shape_number].variants[0], false,
                  &candidate) != ACCEPTED)
        return false;
    put_on_claim(run, pod, claim_number, &candidate);
    dense->left[shape_number]--;
    return true;
}

static bool buy(struct dense *dense, const struct lot *lot, const struct column *column,
                const uint32_t *filled)
{
    struct solver_run *run = dense->run;
    uint64_t *rows = ARENA_ARRAY(run->arena, dense->problem->row_words, uint64_t);
    bits_add(rows, column->row);
    uint32_t claim = SOLVER_NONE;
    for (size_t i = 0; i < lot->shapes.count; i++) {
        uint32_t number = lot->shapes.items[i];
        for (uint32_t j = 0; j < filled[i]; j++) {
            if (claim != SOLVER_NONE) {
                if (!put(dense, number, claim))
                    break;
                continue;
            }
            struct claim empty = run->empty_claims[column->pool];
            empty.rows = rows;
            struct candidate candidate;
            uint32_t pod = next_pod(dense, number);
            uint32_t host = (uint32_t)(dense->problem->nodes.count + run->claims.count);
            const struct variant *variant = &dense->problem->shapes.items[number].variants[0];
            (void)topology_want(run, &dense->problem->shapes.items[number], variant, NULL);
            if (claim_try(run, &empty, host, pod, variant, false, &candidate) != ACCEPTED)
                break;
            claim_open(run, column->pool, pod, &candidate);
            dense->left[number]--;
            claim = (uint32_t)run->claims.count - 1;
        }
    }
    return claim != SOLVER_NONE;
}

/* One machine for the lot; false when nothing can be bought for what is left of it. */
static bool buy_one(struct dense *dense, const struct lot *lot)
{
    if (!measure_demand(dense, lot))
        return false;
    list_columns(dense, lot);
    if (!rate_columns(dense))
        return false;
    int64_t *room = dense->run->scratch_total;
    const struct column *best = NULL;
    double best_density = 0;
    for (size_t j = 0; j < dense->column_count && j < CANDIDATES_MAX; j++) {
        double worth = fill(dense, lot, &dense->columns[j], room, dense->filled);
        double density = worth / dense->columns[j].cost;
        if (density <= best_density)
            continue;
        best_density = density;
        best = &dense->columns[j];
        uint32_t *filled = dense->filled;
        dense->filled = dense->best_filled;
        dense->best_filled = filled;
    }
    return best != NULL && buy(dense, lot, best, dense->best_filled);
}

/* ---- the whole ---- */

/* What of a shape goes where room is left and paid for. */
static void use_what_is_there(struct dense *dense, uint32_t number)
{
    struct solver_run *run = dense->run;
    const struct variant *variant = &dense->problem->shapes.items[number].variants[0];
    while (dense->left[number] > 0 && place_on_node(run, next_pod(dense, number), variant))
        dense->left[number]--;
    if (!topology_want(run, &dense->problem->shapes.items[number], variant, NULL))
        return;
    while (dense->left[number] > 0 && join_claim(run, next_pod(dense, number), variant))
        dense->left[number]--;
}

/* Claims keep to what they would be bought as: to grow is not free. */
static void keep_to_cheapest(struct solver_run *run)
{
    for (size_t i = 0; i < run->claims.count; i++) {
        struct claim *claim = &run->claims.items[i];
        size_t row = 0;
        if (claim_cheapest(run, claim->set, claim->rows, &row) == NULL)
            continue;
        memset(claim->rows, 0, run->problem->row_words * sizeof *claim->rows);
        bits_add(claim->rows, row);
        claim_measure(run, claim);
    }
}

/* Any type that can hold a claim's pods may be launched for it. */
static void widen(struct solver_run *run)
{
    const struct solver_problem *problem = run->problem;
    for (size_t i = 0; i < run->claims.count; i++) {
        struct claim *claim = &run->claims.items[i];
        const struct pool *pool = &problem->pools.items[claim->pool];
        if (pool->has_limits)
            continue;
        const uint64_t *suitable = claim_set_rows(run, claim->set);
        for (BITS_EACH(row, pool->rows, problem->row_words)) {
            bool fits = bits_has(suitable, row);
            for (size_t r = 0; r < problem->resource_count && fits; r++)
                fits = claim->requests[r] <= pool->room[r * problem->rows.count + row];
            if (fits && claim->mounts.count == 0 && claim->ports.count == 0)
                bits_add(claim->rows, row);
        }
        claim_measure(run, claim);
    }
}

static void buy_tier(struct dense *dense, size_t first, size_t end)
{
    const struct solver_problem *problem = dense->problem;
    dense->pools = &problem->pool_order[first];
    dense->pool_count = end - first;
    size_t lot_count = 0;
    const struct lot *lots = make_lots(dense, &lot_count);
    for (size_t i = 0; i < lot_count; i++) {
        for (size_t j = 0; j < lots[i].shapes.count; j++)
            use_what_is_there(dense, lots[i].shapes.items[j]);
        while (buy_one(dense, &lots[i]))
            continue;
    }
}

void place_densely(struct solver_run *run)
{
    const struct solver_problem *problem = run->problem;
    run->postponed = ARENA_ARRAY(run->arena, problem->shapes.count, bool);
    size_t longest = 1;
    for (size_t i = 0; i < problem->shapes.count; i++)
        run->postponed[i] = is_loose(problem, &problem->shapes.items[i]);
    place_queue(run);
    keep_to_cheapest(run);
    struct dense dense = {.run = run, .problem = problem};
    collect(&dense);
    size_t most = problem->pools.count * problem->rows.count;
    dense.columns = ARENA_ARRAY(run->arena, most, struct column);
    dense.costs = ARENA_ARRAY(run->arena, most, double);
    dense.supplies = ARENA_ARRAY(run->arena, most * SIMPLEX_ROWS_MAX, double);
    longest += problem->shapes.count;
    dense.filled = ARENA_ARRAY(run->arena, longest, uint32_t);
    dense.best_filled = ARENA_ARRAY(run->arena, longest, uint32_t);
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
