/* Reasons of room: resources, limits, host ports. */
#include <string.h>

#include "solver/explain.h"

/* ---- resources ---- */

static int64_t room_of(const struct question *q, size_t resource, size_t option)
{
    int64_t room =
        q->problem->pools.items[q->pool].room[resource * q->problem->options.count + option];
    return room > 0 ? room : 0;
}

/* Of the options, the one that lacks least, and of which resource; ties by name. */
static size_t nearest_option(const struct question *q, const uint64_t *options, size_t *resource)
{
    size_t best = SIZE_MAX;
    double least = 0;
    for (BITS_EACH(option, options, q->problem->option_words)) {
        double worst = 0;
        size_t at = SOLVER_CPU;
        for (size_t r = 0; r < q->problem->resource_count; r++) {
            double wanted = (double)q->shape->requests[r];
            double lacks = (wanted - (double)room_of(q, r, option)) / (wanted + 1);
            if (lacks > worst) {
                worst = lacks;
                at = r;
            }
        }
        if (best == SIZE_MAX || worst < least ||
            (worst <= least &&
             strcmp(words_type(q->problem, option), words_type(q->problem, best)) < 0)) {
            best = option;
            least = worst;
            *resource = at;
        }
    }
    return best;
}

struct most { /* the most any of some options has of a resource */
    int64_t room, capacity;
};

static struct most most_of(const struct question *q, const uint64_t *options, size_t resource)
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

/* What one node would have to have; cpu and memory may be there, but not on one type. */
static struct text words_needs(struct question *q, const uint64_t *options, size_t nearest)
{
    struct arena *arena = q->run->arena;
    const int64_t *requests = q->shape->requests;
    if (most_of(q, options, nearest).room < requests[nearest]) {
        /* A request in whole cpu where thousandths were meant. */
        bool slip = nearest == SOLVER_CPU && requests[nearest] >= (int64_t)1000000 * 1000 &&
                    requests[nearest] != INT64_MAX;
        return arena_printf(arena, "needs %.*s%s",
                            TEXT_ARGS(words_quantity(q->problem, arena, (uint32_t)nearest,
                                                     requests[nearest], true)),
                            slip ? " (M written where m was meant?)" : "");
    }
    struct text needs = TEXT("");
    for (uint32_t r = 0; r < q->problem->resource_count; r++) {
        bool some_lack = false;
        for (BITS_EACH(option, options, q->problem->option_words))
            some_lack |= requests[r] > room_of(q, r, option);
        if (!some_lack)
            continue;
        needs = arena_printf(arena, "%.*s%s%.*s", TEXT_ARGS(needs), needs.size == 0 ? "" : " and ",
                             TEXT_ARGS(words_quantity(q->problem, arena, r, requests[r], true)));
    }
    return arena_printf(arena, "needs %.*s on one node", TEXT_ARGS(needs));
}

/* "m5.large, the only type it may use,", "the largest type left, m5.large,". */
static struct text words_nearest(struct question *q, const uint64_t *options, unsigned set,
                                 size_t option, size_t resource)
{
    struct arena *arena = q->run->arena;
    const char *name = words_type(q->problem, option);
    if (words_types(q->problem, arena, options).count == 1)
        return arena_printf(arena, "%s, the only type %s,", name,
                            set == 1u << SOLVER_REASON_RESOURCES ? "of this NodePool"
                                                                 : "it may use");
    bool largest = room_of(q, resource, option) == most_of(q, options, resource).room;
    return arena_printf(arena, "%s, %s,", name,
                        largest ? "the largest type left" : "the nearest type");
}

void reason_of_room(struct question *q, struct solver_reason *reason, unsigned set)
{
    const struct solver_problem *problem = q->problem;
    struct arena *arena = q->run->arena;
    bool alone = set == 1u << SOLVER_REASON_RESOURCES;
    const uint64_t *left = reason_left(q, SOLVER_REASON_RESOURCES, set);
    size_t resource = SOLVER_CPU;
    for (size_t r = 0; r < problem->resource_count; r++) {
        if (q->shape->requests[r] <= 0 || most_of(q, left, r).capacity > 0)
            continue;
        reason->message = arena_printf(arena, "needs %.*s",
                                       TEXT_ARGS(words_quantity(problem, arena, (uint32_t)r,
                                                                q->shape->requests[r], true)))
                              .data;
        reason->nearest =
            arena_printf(arena, "no type %s has %s", alone ? "of this NodePool" : "it may use",
                         solver_resource_name(problem, (uint32_t)r))
                .data;
        return;
    }
    size_t option = nearest_option(q, left, &resource);
    if (option == SIZE_MAX) {
        reason->message = "no type that would hold it is left";
        return;
    }
    reason->message = words_needs(q, left, resource).data;
    int64_t has = room_of(q, resource, option);
    struct text room = words_quantity(problem, arena, (uint32_t)resource, has, false);
    reason->nearest =
        arena_printf(arena, "%.*s has room for %.*s",
                     TEXT_ARGS(words_nearest(q, left, set, option, resource)), TEXT_ARGS(room))
            .data;
}

/* ---- limits ---- */

static bool is_limited(const struct question *q, size_t resource)
{
    return resource != SOLVER_NODES && q->run->limits[q->pool][resource] != INT64_MAX;
}

static int64_t capacity_of(const struct question *q, size_t resource, size_t option)
{
    return q->problem->capacity[resource * q->problem->options.count + option];
}

/* Of the options, the one that exceeds the limits least, and which of them. */
static size_t smallest_option(const struct question *q, const uint64_t *options, size_t *resource)
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
        if (at == SIZE_MAX || (best != SIZE_MAX && most > least) ||
            (best != SIZE_MAX && most >= least &&
             strcmp(words_type(q->problem, option), words_type(q->problem, best)) >= 0))
            continue;
        best = option;
        least = most;
        *resource = at;
    }
    return best;
}

static void tell_what_is_left(struct question *q, struct solver_reason *reason, uint32_t resource)
{
    struct arena *arena = q->run->arena;
    const struct solver_amounts limits = q->problem->pools.items[q->pool].limit_amounts;
    int64_t left = q->run->limits[q->pool][resource], limit = 0;
    for (size_t i = 0; i < limits.count; i++)
        if (limits.items[i].resource == resource)
            limit = limits.items[i].quantity;
    struct text whole = words_quantity(q->problem, arena, resource, limit, false);
    if (limit <= 0)
        reason->message =
            arena_printf(arena, "the NodePool's limit of %.*s allows no node", TEXT_ARGS(whole))
                .data;
    else if (left <= 0)
        reason->message =
            arena_printf(arena, "the NodePool's limit of %.*s is used up", TEXT_ARGS(whole)).data;
    else if (left == limit)
        reason->message =
            arena_printf(arena, "the NodePool's limit of %.*s is too small for any type it may use",
                         TEXT_ARGS(whole))
                .data;
    else
        reason->message =
            arena_printf(arena, "of the NodePool's limit of %.*s only %.*s is left",
                         TEXT_ARGS(whole),
                         TEXT_ARGS(words_quantity(q->problem, arena, resource, left, false)))
                .data;
}

void reason_of_limit(struct question *q, struct solver_reason *reason, unsigned set)
{
    const struct solver_problem *problem = q->problem;
    struct arena *arena = q->run->arena;
    if (q->run->limits[q->pool][SOLVER_NODES] <= 0) {
        tell_what_is_left(q, reason, SOLVER_NODES);
        return;
    }
    /* What would do but for the limit, if anything would. */
    const uint64_t *left = reason_left(q, SOLVER_REASON_LIMIT, EVERY_CRITERION);
    bool would_do = bits_any(left, problem->option_words);
    if (!would_do)
        left = reason_left(q, SOLVER_REASON_LIMIT, set);
    size_t resource = SOLVER_CPU;
    size_t option = smallest_option(q, left, &resource);
    tell_what_is_left(q, reason, (uint32_t)resource);
    if (option == SIZE_MAX || !would_do)
        return;
    struct text has =
        words_quantity(problem, arena, (uint32_t)resource, capacity_of(q, resource, option), true);
    reason->nearest = arena_printf(arena, "%s, the smallest type that would do, has %.*s",
                                   words_type(problem, option), TEXT_ARGS(has))
                          .data;
}
