#include "solver/dense.h"

#define FILL_STEP 0.02 /* of a machine: as much of one shape is added before looking again */

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

double fill_machine(const struct dense *dense, const struct column *column, enum fill_rule rule,
                    bool *allowed, uint32_t *filled)
{
    const struct solver_problem *problem = dense->problem;
    const struct pool *pool = &problem->pools.items[column->pool];
    size_t option_count = problem->options.count;
    struct machine_room machine = {dense->run->scratch_total, pool->room + column->option,
                                   option_count};
    for (size_t r = 0; r < problem->resource_count; r++)
        machine.room[r] = pool->room[r * option_count + column->option];
    for (size_t i = 0; i < dense->shape_count; i++) {
        const struct node_requirements *set = dense->lot_of[dense->shapes[i]]->sets[column->place];
        allowed[i] =
            set != NULL && bits_has(node_requirements_options(dense->run, set), column->option);
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
