/* Reasons of resources: which resource no type of a pool has enough of, and which limit of the pool
 * is exceeded. */
#include <string.h>

#include "solver/explain.h"

/* ---- resources ---- */

static int64_t room_of(const struct explanation *q, size_t resource, size_t option)
{
    int64_t room =
        q->problem->pools.items[q->pool].room[resource * q->problem->options.count + option];
    return room > 0 ? room : 0;
}

/* The option that lacks least, and the resource it lacks; of equals the first by name, in whose
 * order options are. */
static size_t nearest_option(const struct explanation *q, const uint64_t *options, size_t *resource)
{
    size_t best = SIZE_MAX;
    double least = 0;
    for (BITS_EACH(option, options, q->problem->option_words)) {
        double worst = 0;
        size_t at = SOLVER_CPU;
        for (size_t r = 0; r < q->problem->resource_count; r++) {
            double lacks = lacking_share(q->shape->requests[r], room_of(q, r, option));
            if (lacks > worst) {
                worst = lacks;
                at = r;
            }
        }
        if (best == SIZE_MAX || worst < least) {
            best = option;
            least = worst;
            *resource = at;
        }
    }
    return best;
}

struct most { /* the largest amount of a resource among some options */
    int64_t room, capacity;
};

static struct most most_of(const struct explanation *q, const uint64_t *options, size_t resource)
{
    struct most most = {0, 0};
    for (BITS_EACH(option, options, q->problem->option_words)) {
        int64_t room = room_of(q, resource, option);
        int64_t capacity = q->problem->capacity[resource * q->problem->options.count + option];
        most.room = room > most.room ? room : most.room;
        most.capacity = capacity > most.capacity ? capacity : most.capacity;
    }
    return most;
}

/* The resources that one node needs together: types may have enough cpu, or enough memory, but not
 * both. */
static struct solver_saying say_needs(struct explanation *q, const uint64_t *options,
                                      size_t nearest)
{
    const int64_t *requests = q->shape->requests;
    if (most_of(q, options, nearest).room < requests[nearest]) {
        /* Probably whole cpu where thousandths were meant. */
        bool slip = nearest == SOLVER_CPU && requests[nearest] >= (int64_t)1000000 * 1000 &&
                    requests[nearest] != INT64_MAX;
        struct solver_operand needs = operand_quantity(q, nearest, requests[nearest], true);
        return slip ? SAY(q, NEEDS_MISTAKEN, needs) : SAY(q, NEEDS, needs);
    }
    struct sayings needs = {0};
    for (uint32_t r = 0; r < q->problem->resource_count; r++) {
        bool some_lack = false;
        for (BITS_EACH(option, options, q->problem->option_words))
            some_lack |= requests[r] > room_of(q, r, option);
        if (some_lack)
            *LIST_PUSH(q->run->arena, &needs) =
                SAY(q, IT, operand_quantity(q, r, requests[r], true));
    }
    return SAY(q, NEEDS_TOGETHER, operand_sayings(&needs));
}

/* Options of a type follow each other. */
static bool are_of_one_type(const struct explanation *q, const uint64_t *options)
{
    uint32_t type = SOLVER_NONE;
    for (BITS_EACH(option, options, q->problem->option_words)) {
        uint32_t own = q->problem->options.items[option].type;
        if (type != SOLVER_NONE && own != type)
            return false;
        type = own;
    }
    return true;
}

/* Which sentence names the nearest type. */
static enum solver_says nearest_says(const struct explanation *q, const uint64_t *options,
                                     bool alone, size_t option, size_t resource)
{
    if (are_of_one_type(q, options))
        return alone ? SOLVER_SAYS_ROOM_OF_ONLY_TYPE_OF_POOL : SOLVER_SAYS_ROOM_OF_ONLY_TYPE;
    return room_of(q, resource, option) == most_of(q, options, resource).room
               ? SOLVER_SAYS_ROOM_OF_LARGEST
               : SOLVER_SAYS_ROOM_OF_NEAREST;
}

/* As if it were alone there. left: of each resource, to be used here. */
static bool holds(const struct explanation *q, const struct solver_amounts *allocatable,
                  int64_t *left)
{
    memset(left, 0, q->problem->resource_count * sizeof *left);
    for (size_t i = 0; i < allocatable->count; i++)
        left[allocatable->items[i].resource] = allocatable->items[i].quantity;
    for (size_t r = 0; r < q->problem->resource_count; r++)
        if (q->shape->requests[r] > left[r])
            return false;
    return true;
}

/* Whatever the pool: of each pod this is asked once. */
static bool some_type_holds(struct explanation *q)
{
    const struct solver_problem *problem = q->problem;
    if (q->types_asked)
        return q->some_type_holds;
    const struct arena_mark mark = arena_mark(q->run->arena);
    int64_t *left = ARENA_ARRAY(q->run->arena, problem->resource_count, int64_t);
    for (size_t i = 0; i < problem->options.count && !q->some_type_holds; i++)
        q->some_type_holds = holds(q, &problem->options.items[i].allocatable, left);
    arena_rewind(q->run->arena, mark);
    q->types_asked = true;
    return q->some_type_holds;
}

static bool some_type_has(const struct solver_problem *problem, size_t resource)
{
    const int64_t *capacity = &problem->capacity[resource * problem->options.count];
    bool some = false;
    for (size_t i = 0; i < problem->options.count; i++)
        some |= capacity[i] > 0;
    return some;
}

void reason_of_room(struct explanation *q, struct solver_reason *reason, unsigned set)
{
    const struct solver_problem *problem = q->problem;
    bool alone = set == 1u << SOLVER_REASON_RESOURCES;
    const uint64_t *left = reason_left(q, SOLVER_REASON_RESOURCES, set);
    size_t resource = SOLVER_CPU;
    for (size_t r = 0; r < problem->resource_count; r++) {
        if (q->shape->requests[r] <= 0 || most_of(q, left, r).capacity > 0)
            continue;
        struct solver_operand name =
            operand_name(text_of(solver_resource_name(problem, (uint32_t)r)));
        reason->message = SAY(q, NEEDS, operand_quantity(q, r, q->shape->requests[r], true));
        reason->nearest =
            alone ? SAY(q, NO_TYPE_OF_POOL_HAS, name) : SAY(q, NO_TYPE_IT_MAY_USE_HAS, name);
        reason->too_large = !some_type_has(problem, r);
        return;
    }
    size_t option = nearest_option(q, left, &resource);
    if (option == SIZE_MAX) {
        reason->message = SAY_ONLY(NO_TYPE_LEFT);
        return;
    }
    reason->message = say_needs(q, left, resource);
    reason->too_large = !some_type_holds(q);
    const struct solver_operand room[] = {
        operand_name(text_of(option_type_name(problem, option))),
        operand_quantity(q, resource, room_of(q, resource, option), false)};
    reason->nearest = reason_say(q, nearest_says(q, left, alone, option, resource), room, 2);
}

/* ---- limits ---- */

static bool is_limited(const struct explanation *q, size_t resource)
{
    return resource != SOLVER_NODES && q->run->limits[q->pool][resource] != INT64_MAX;
}

static int64_t capacity_of(const struct explanation *q, size_t resource, size_t option)
{
    return q->problem->capacity[resource * q->problem->options.count + option];
}

/* The option that exceeds the limits least, and the limit it exceeds. */
static size_t smallest_option(const struct explanation *q, const uint64_t *options,
                              size_t *resource)
{
    const int64_t *limits = q->run->limits[q->pool];
    size_t best = SIZE_MAX;
    double least = 0;
    for (BITS_EACH(option, options, q->problem->option_words)) {
        double most = 0;
        size_t at = SIZE_MAX;
        for (size_t r = 0; r < q->problem->resource_count; r++) {
            if (!is_limited(q, r) || capacity_of(q, r, option) <= limits[r])
                continue;
            double excess =
                (double)capacity_of(q, r, option) / ((limits[r] > 0 ? (double)limits[r] : 0) + 1);
            if (at == SIZE_MAX || excess > most) {
                most = excess;
                at = r;
            }
        }
        if (at == SIZE_MAX || (best != SIZE_MAX && most >= least))
            continue;
        best = option;
        least = most;
        *resource = at;
    }
    return best;
}

static void tell_what_is_left(struct explanation *q, struct solver_reason *reason, size_t resource)
{
    const struct solver_amounts limits = q->problem->pools.items[q->pool].limit_amounts;
    int64_t left = q->run->limits[q->pool][resource], limit = 0;
    for (size_t i = 0; i < limits.count; i++)
        if (limits.items[i].resource == resource)
            limit = limits.items[i].quantity;
    const struct solver_operand operands[] = {operand_quantity(q, resource, limit, false),
                                              operand_quantity(q, resource, left, false)};
    enum solver_says says = limit <= 0      ? SOLVER_SAYS_LIMIT_ALLOWS_NONE
                            : left <= 0     ? SOLVER_SAYS_LIMIT_USED_UP
                            : left == limit ? SOLVER_SAYS_LIMIT_TOO_SMALL
                                            : SOLVER_SAYS_LIMIT_LEFT;
    reason->message = reason_say(q, says, operands, 2);
}

void reason_of_limit(struct explanation *q, struct solver_reason *reason, unsigned set)
{
    const struct solver_problem *problem = q->problem;
    if (q->run->limits[q->pool][SOLVER_NODES] <= 0) {
        tell_what_is_left(q, reason, SOLVER_NODES);
        return;
    }
    /* The options that all other criteria leave, if there are any. */
    const uint64_t *left = reason_left(q, SOLVER_REASON_LIMIT, EVERY_CRITERION);
    bool would_do = bits_any(left, problem->option_words);
    if (!would_do)
        left = reason_left(q, SOLVER_REASON_LIMIT, set);
    size_t resource = SOLVER_CPU;
    size_t option = smallest_option(q, left, &resource);
    tell_what_is_left(q, reason, resource);
    if (option != SIZE_MAX && would_do)
        reason->nearest =
            SAY(q, SMALLEST_HAS, operand_name(text_of(option_type_name(problem, option))),
                operand_quantity(q, resource, capacity_of(q, resource, option), true));
}
