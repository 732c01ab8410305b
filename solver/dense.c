#include <stdlib.h>
#include <string.h>

#include "solver/run.h"
#include "solver/simplex.h"

/* Pods that no topology ties to others are bought for as a whole: what a unit of each resource is
 * worth at the least cost of all of them (the dual of a covering program) tells which machine holds
 * most for its price, and which pods to put on it. One machine after another, the densest first. */

#define CANDIDATES_MAX 24 /* machines a lot may offer */
#define LOTS_MAX 8        /* that may offer theirs at once */
#define FILL_STEP 0.02    /* of a machine: as much of one shape is added before looking again */

struct column { /* a machine that can be bought */
    uint32_t pool;
    size_t place; /* of the pool in its tier */
    size_t row;
    double cost, worth;
};
/* Shapes that every pool of a tier sees alike. */
struct lot {
    LIST(uint32_t) shapes;
    const struct claim_set **sets; /* by pool of the tier; NULL: cannot be there */
    size_t row_count;              /* that would do, over the pools */
    size_t place;                  /* among lots, as the queue brings them */
    bool stale;                    /* pods left since it was rated */
    double total;                  /* what its pods are worth */
    struct column best[CANDIDATES_MAX];
    size_t best_count;
};
struct lots {
    struct lot *items;
    size_t count, capacity;
};
struct dense {
    struct solver_run *run;
    const struct solver_problem *problem;
    uint32_t *left;  /* by shape: pods that wait */
    uint32_t **pods; /* by shape: which, in the order of the queue; the last of them wait */
    uint32_t *pod_count;
    uint32_t *order; /* shapes as the queue brings them: not as they were added */
    size_t order_count;
    const struct lot **lot_of; /* by shape */
    double *worth;             /* by shape: of one pod */
    const uint32_t *pools;     /* of the tier */
    size_t pool_count;
    struct lots lots;
    size_t resources[SIMPLEX_ROWS_MAX]; /* that the lot being rated asks for */
    size_t resource_count;
    double demands[SIMPLEX_ROWS_MAX];
    struct column *columns;
    size_t column_count;
    double *supplies, *costs;
    uint32_t *shapes; /* that wait, over all lots */
    size_t shape_count;
    uint32_t *filled, *best_filled; /* by place in shapes: how many */
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
    return a->place < b->place ? -1 : a->place > b->place;
}

static void make_lots(struct dense *dense)
{
    struct arena *arena = dense->run->arena;
    struct lots lots = {ARENA_ARRAY(arena, dense->order_count, struct lot), 0, dense->order_count};
    struct intern signatures = {.arena = arena};
    for (size_t k = 0; k < dense->order_count; k++) {
        uint32_t i = dense->order[k];
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
            *LIST_PUSH(arena, &lots) = (struct lot){.sets = sets, .stale = true, .place = number};
        struct lot *lot = &lots.items[number];
        *LIST_PUSH(arena, &lot->shapes) = i;
    }
    for (size_t i = 0; i < lots.count; i++)
        lots.items[i].row_count = count_rows(dense, &lots.items[i]);
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
            dense->columns[j] =
                (struct column){.pool = number, .place = i, .row = row, .cost = (double)price};
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
    return a->place < b->place ? -1 : a->place > b->place;
}

/* What a pod of each shape is worth, and the columns that could hold most for their price, were
 * pods a fluid. */
static void rate(struct dense *dense, struct lot *lot)
{
    lot->stale = false;
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

/* How a shape is preferred: by how well it goes with what is left, large where much is left; or by
 * what it is worth for what it takes of what is scarce. */
enum fill_rule { FILL_BY_MATCH, FILL_BY_WORTH, FILL_RULES };

struct machine_room {
    int64_t *room;
    const int64_t *size;
    size_t stride;
};

static double size_of(const struct machine_room *machine, size_t resource)
{
    return (double)machine->size[resource * machine->stride];
}

static double prefer(const struct dense *dense, uint32_t number, const struct machine_room *machine,
                     enum fill_rule rule)
{
    const struct shape *shape = &dense->problem->shapes.items[number];
    double match = 0, scarce = 0;
    for (size_t r = 0; r < dense->problem->resource_count; r++) {
        double size = size_of(machine, r);
        if (size <= 0 || shape->requests[r] == 0)
            continue;
        double part = (double)shape->requests[r] / size, left = (double)machine->room[r] / size;
        match += part * left;
        scarce += part / left;
    }
    if (rule == FILL_BY_MATCH)
        return match * dense->worth[number] / (scarce > 0 ? scarce : 1);
    return scarce > 0 ? dense->worth[number] / scarce : dense->worth[number];
}

/* The shape to add next, by its place; SIZE_MAX: nothing fits any more. */
static size_t choose_shape(const struct dense *dense, const bool *allowed, const uint32_t *filled,
                           const struct machine_room *machine, enum fill_rule rule)
{
    size_t best = SIZE_MAX;
    double best_score = -1;
    for (size_t i = 0; i < dense->shape_count; i++) {
        uint32_t number = dense->shapes[i];
        if (!allowed[i] || dense->left[number] == filled[i] ||
            how_many(dense, &dense->problem->shapes.items[number], machine->room, 1) == 0)
            continue;
        double score = prefer(dense, number, machine, rule);
        if (score > best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

static uint32_t add_some(const struct dense *dense, uint32_t number, uint32_t limit,
                         const struct machine_room *machine)
{
    const struct shape *shape = &dense->problem->shapes.items[number];
    double largest = 0;
    for (size_t r = 0; r < dense->problem->resource_count; r++) {
        double size = size_of(machine, r);
        double part = size > 0 ? (double)shape->requests[r] / size : 0;
        largest = part > largest ? part : largest;
    }
    double at_once = largest > 0 && largest < FILL_STEP ? FILL_STEP / largest : 1;
    uint32_t count =
        how_many(dense, shape, machine->room, at_once < (double)limit ? (uint32_t)at_once : limit);
    for (size_t r = 0; r < dense->problem->resource_count; r++)
        machine->room[r] -= shape->requests[r] * (int64_t)count;
    return count;
}

/* Fills a machine; filled says how many of each shape. What they are worth. */
static double fill(const struct dense *dense, const struct column *column, enum fill_rule rule,
                   bool *allowed, uint32_t *filled)
{
    const struct solver_problem *problem = dense->problem;
    const struct pool *pool = &problem->pools.items[column->pool];
    size_t row_count = problem->rows.count, pool_place = 0;
    struct machine_room machine = {dense->run->scratch_total, pool->room + column->row, row_count};
    for (size_t r = 0; r < problem->resource_count; r++)
        machine.room[r] = pool->room[r * row_count + column->row];
    while (dense->pools[pool_place] != column->pool)
        pool_place++;
    for (size_t i = 0; i < dense->shape_count; i++) {
        const struct claim_set *set = dense->lot_of[dense->shapes[i]]->sets[pool_place];
        allowed[i] = set != NULL && bits_has(claim_set_rows(dense->run, set), column->row);
        filled[i] = 0;
    }
    double worth = 0;
    for (;;) {
        size_t next = choose_shape(dense, allowed, filled, &machine, rule);
        if (next == SIZE_MAX)
            return worth;
        uint32_t number = dense->shapes[next];
        uint32_t count = add_some(dense, number, dense->left[number] - filled[next], &machine);
        filled[next] += count;
        worth += dense->worth[number] * count;
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

static uint32_t open_for(struct dense *dense, uint32_t number, const struct column *column)
{
    struct solver_run *run = dense->run;
    const struct shape *shape = &dense->problem->shapes.items[number];
    uint64_t *rows = ARENA_ARRAY(run->arena, dense->problem->row_words, uint64_t);
    bits_add(rows, column->row);
    struct claim empty = run->empty_claims[column->pool];
    empty.rows = rows;
    struct candidate candidate;
    uint32_t pod = next_pod(dense, number);
    uint32_t host = (uint32_t)(dense->problem->nodes.count + run->claims.count);
    (void)topology_want(run, shape, &shape->variants[0], NULL);
    if (claim_try(run, &empty, host, pod, &shape->variants[0], false, &candidate) != ACCEPTED)
        return SOLVER_NONE;
    claim_open(run, column->pool, pod, &candidate);
    dense->left[number]--;
    return (uint32_t)run->claims.count - 1;
}

static bool buy(struct dense *dense, const struct column *column, const uint32_t *filled)
{
    uint32_t claim = SOLVER_NONE;
    for (size_t i = 0; i < dense->shape_count; i++) {
        uint32_t number = dense->shapes[i];
        const struct shape *shape = &dense->problem->shapes.items[number];
        if (filled[i] > 0)
            (void)topology_want(dense->run, shape, &shape->variants[0], NULL);
        for (uint32_t j = 0; j < filled[i]; j++) {
            if (claim == SOLVER_NONE)
                claim = open_for(dense, number, column);
            else if (!put(dense, number, claim))
                break;
            if (claim == SOLVER_NONE)
                break;
        }
    }
    for (size_t i = 0; i < dense->lots.count; i++)
        dense->lots.items[i].stale = true;
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
    for (size_t i = 0; i < dense->lots.count; i++) {
        struct lot *lot = &dense->lots.items[i];
        if (lot->stale)
            rate(dense, lot);
        if (lot->best_count > 0)
            chosen[count++] = lot;
    }
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

/* Whether an earlier lot, or this one before, offers the same machine. */
static bool was_offered(struct lot *const *chosen, size_t lot, size_t place)
{
    const struct column *column = &chosen[lot]->best[place];
    for (size_t i = 0; i < lot; i++)
        for (size_t j = 0; j < chosen[i]->best_count; j++)
            if (chosen[i]->best[j].row == column->row && chosen[i]->best[j].pool == column->pool)
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
            double worth =
                fill(dense, column, (enum fill_rule)(j % FILL_RULES), allowed, dense->filled);
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
    struct arena *arena = dense->run->arena;
    dense->pools = &dense->problem->pool_order[first];
    dense->pool_count = end - first;
    make_lots(dense);
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
