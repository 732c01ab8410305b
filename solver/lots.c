#include <stdlib.h>

#include "solver/dense.h"

/* ---- lots ---- */

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

static size_t count_options(const struct dense *dense, const struct lot *lot)
{
    size_t count = 0;
    for (size_t i = 0; i < dense->pool_count; i++) {
        if (lot->sets[i] == NULL)
            continue;
        const uint64_t *options = node_requirements_options(dense->run, lot->sets[i]);
        for (size_t w = 0; w < dense->problem->option_words; w++)
            count += (size_t)__builtin_popcountll(
                options[w] & dense->problem->pools.items[dense->pools[i]].options[w]);
    }
    return count;
}

static int compare_lots(const void *a_pointer, const void *b_pointer)
{
    const struct lot *a = a_pointer;
    const struct lot *b = b_pointer;
    if (a->option_count != b->option_count)
        return a->option_count < b->option_count ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

void lots_make(struct dense *dense)
{
    struct arena *arena = dense->run->arena;
    struct lots lots = {ARENA_ARRAY(arena, dense->order_count, struct lot), 0, dense->order_count};
    struct intern fingerprints = {.arena = arena};
    for (size_t k = 0; k < dense->order_count; k++) {
        uint32_t i = dense->order[k];
        if (dense->left[i] == 0)
            continue;
        const struct node_requirements **sets =
            ARENA_ARRAY(arena, dense->pool_count, const struct node_requirements *);
        for (size_t j = 0; j < dense->pool_count; j++)
            sets[j] = set_for(dense, dense->pools[j], &dense->problem->shapes.items[i]);
        bool added = false;
        uint32_t number =
            intern_number(&fingerprints, sets, dense->pool_count * sizeof *sets, &added);
        if (added)
            *LIST_PUSH(arena, &lots) = (struct lot){.sets = sets, .place = number};
        struct lot *lot = &lots.items[number];
        *LIST_PUSH(arena, &lot->shapes) = i;
    }
    for (size_t i = 0; i < lots.count; i++)
        lots.items[i].option_count = count_options(dense, &lots.items[i]);
    if (lots.count > 1)
        qsort(lots.items, lots.count, sizeof *lots.items, compare_lots);
    for (size_t i = 0; i < lots.count; i++)
        for (size_t j = 0; j < lots.items[i].shapes.count; j++)
            dense->lot_of[lots.items[i].shapes.items[j]] = &lots.items[i];
    dense->lots = lots;
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
                      size_t option)
{
    size_t option_count = dense->problem->options.count;
    for (size_t i = 0; i < lot->shapes.count; i++) {
        const struct shape *shape = &dense->problem->shapes.items[lot->shapes.items[i]];
        bool fits = dense->left[lot->shapes.items[i]] > 0;
        for (size_t r = 0; r < dense->problem->resource_count && fits; r++)
            fits = shape->requests[r] <= pool->room[r * option_count + option];
        if (fits)
            return true;
    }
    return false;
}

static void list_columns(struct dense *dense, const struct lot *lot)
{
    const struct solver_problem *problem = dense->problem;
    size_t option_count = problem->options.count;
    uint64_t *options = ARENA_ARRAY(dense->run->arena, problem->option_words, uint64_t);
    dense->column_count = 0;
    for (size_t i = 0; i < dense->pool_count; i++) {
        uint32_t number = dense->pools[i];
        const uint64_t *limited = pool_limit_options(dense->run, number);
        if (lot->sets[i] == NULL || limited == NULL)
            continue;
        const struct pool *pool = &problem->pools.items[number];
        const uint64_t *suitable = node_requirements_options(dense->run, lot->sets[i]);
        for (size_t w = 0; w < problem->option_words; w++)
            options[w] = suitable[w] & limited[w];
        for (BITS_EACH(option, options, problem->option_words)) {
            int64_t price = option_price(dense->run, lot->sets[i], option);
            if (price == INT64_MAX || price == 0 || !holds_any(dense, lot, pool, option))
                continue;
            size_t j = dense->column_count++;
            dense->columns[j] = (struct column){
                .pool = number, .place = i, .option = option, .cost = (double)price};
            dense->costs[j] = (double)price;
            for (size_t k = 0; k < dense->resource_count; k++)
                dense->supplies[j * dense->resource_count + k] =
                    (double)pool->room[dense->resources[k] * option_count + option];
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
    if (a->option != b->option)
        return a->option < b->option ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* What a pod of each shape is worth, and the columns that could hold most for their price, were
 * pods a fluid. */
static void rate(struct dense *dense, struct lot *lot)
{
    lot->best_count = 0;
    lot->total = 0;
    if (!measure_demand(dense, lot))
        return;
    list_columns(dense, lot);
    double prices[SIMPLEX_ROWS_MAX];
    struct simplex program = {dense->resource_count, dense->column_count, dense->demands,
                              dense->supplies, dense->costs};
    if (dense->column_count == 0 || !simplex_prices(&program, prices))
        return;
    for (size_t j = 0; j < dense->column_count; j++) {
        double worth = 0;
        for (size_t k = 0; k < dense->resource_count; k++) {
            double supply = dense->supplies[j * dense->resource_count + k];
            worth += prices[k] * (supply < dense->demands[k] ? supply : dense->demands[k]);
        }
        dense->columns[j].worth = worth / dense->columns[j].cost;
    }
    qsort(dense->columns, dense->column_count, sizeof *dense->columns, compare_columns);
    for (size_t j = 0; j < dense->column_count && j < CANDIDATES_MAX; j++)
        lot->best[lot->best_count++] = dense->columns[j];
    for (size_t i = 0; i < lot->shapes.count; i++) {
        uint32_t shape = lot->shapes.items[i];
        dense->worth[shape] = 0;
        for (size_t k = 0; k < dense->resource_count; k++)
            dense->worth[shape] +=
                prices[k] *
                (double)dense->problem->shapes.items[shape].requests[dense->resources[k]];
        lot->total += dense->worth[shape] * dense->left[shape];
    }
}

void lots_rate(struct dense *dense)
{
    for (size_t i = 0; i < dense->lots.count; i++)
        rate(dense, &dense->lots.items[i]);
}
