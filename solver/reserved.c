/* Capacity reservations: which NodeClaim holds which. */
#include <string.h>

#include "solver/run.h"

/* Capacity reservations (docs/reference/karpenter.md 2.9): a NodeClaim keeps a machine free in each
 * reservation it could be launched into, until what else it has to be rules that one out. */

/* ---- the reservations of the problem ---- */

/* The id that an offering names, as a value of the reservation key; SOLVER_NONE: none. */
static uint32_t id_of(const struct solver_problem *problem, const struct offering *offering)
{
    const struct solver_requirement *id = solver_requirements_get(
        &problem->offering_shapes.items[offering->shape].requirements, problem->reservation_key);
    size_t value =
        id == NULL || id->complement ? SIZE_MAX : bits_next(id->words, id->word_count, 0);
    return value == SIZE_MAX ? SOLVER_NONE : (uint32_t)value;
}

static uint32_t reservation_add(struct solver_problem *problem, uint32_t value, uint32_t free)
{
    for (uint32_t i = 0; i < problem->reservations.count; i++) {
        struct reservation *known = &problem->reservations.items[i];
        if (known->value != value)
            continue;
        if (free < known->free)
            known->free = free;
        return i;
    }
    *LIST_PUSH(problem->arena, &problem->reservations) = (struct reservation){value, free};
    return (uint32_t)problem->reservations.count - 1;
}

void reservations_make(struct solver_problem *problem)
{
    for (uint32_t option = 0; option < problem->options.count; option++)
        for (size_t i = 0; i < problem->options.items[option].offering_count; i++) {
            struct offering *offering = &problem->options.items[option].offerings[i];
            if (strcmp(offering->capacity_type, "reserved") != 0)
                continue;
            uint32_t value = id_of(problem, offering);
            if (value == SOLVER_NONE) /* without an id there is nothing to count */
                offering->reservation_capacity = 0;
            else
                offering->reservation =
                    reservation_add(problem, value, offering->reservation_capacity);
            offering->launchable = offering->available && offering->reservation_capacity > 0;
            if (offering->available)
                *LIST_PUSH(problem->arena, &problem->reserved) =
                    (struct reserved_offering){option, offering};
        }
}

/* ---- holding ---- */

static bool holds(const struct node_claim *claim, uint32_t reservation)
{
    return claim->held != NULL && bits_has(claim->held, reservation);
}

/* Whether options have an offering that is not reserved and that the set allows. */
static bool sold_otherwise(const struct solver_problem *problem, const bool *allowed,
                           const uint64_t *options)
{
    for (BITS_EACH(option, options, problem->option_words)) {
        const struct instance_type_option *from = &problem->options.items[option];
        for (size_t i = 0; i < from->offering_count; i++)
            if (from->offerings[i].available && allowed[from->offerings[i].shape] &&
                strcmp(from->offerings[i].capacity_type, "reserved") != 0)
                return true;
    }
    return false;
}

enum can_add reserved_try(struct solver_run *run, const struct node_claim *claim,
                          const struct node_requirements *set, const uint64_t *options)
{
    const struct solver_problem *problem = run->problem;
    const bool strict = !problem->settings.reserved_fallback && !run->reserved_fallback;
    if (problem->reserved.count == 0)
        return CAN_ADD;
    size_t words = bits_words(problem->reservations.count);
    memset(run->scratch_held, 0, words * sizeof *run->scratch_held);
    const bool *allowed = node_requirements_offerings(run, set);
    bool with_capacity = false, full = false, any = false;
    for (size_t i = 0; i < problem->reserved.count; i++) {
        const struct reserved_offering *reserved = &problem->reserved.items[i];
        if (!bits_has(options, reserved->option) || !allowed[reserved->offering->shape])
            continue;
        uint32_t number = reserved->offering->reservation;
        with_capacity |= reserved->offering->launchable;
        full |= !reserved->offering->launchable;
        if (!reserved->offering->launchable ||
            (!holds(claim, number) && run->reservations_free[number] == 0))
            continue;
        bits_add(run->scratch_held, number);
        any = true;
    }
    if (any)
        return CAN_ADD;
    /* Another NodeClaim holds the reservation and may release it, or this one would have to release
     * its own. */
    bool held_before = claim->held != NULL && bits_any(claim->held, words);
    if (strict && (with_capacity || held_before))
        return DEFERRED;
    if (full && !with_capacity && !sold_otherwise(problem, allowed, options))
        return strict ? DEFERRED : NOT_NOW;
    return CAN_ADD;
}

void reserved_hold(struct solver_run *run, struct node_claim *claim, const uint64_t *held)
{
    size_t count = run->problem->reservations.count;
    if (count == 0)
        return;
    if (claim->held == NULL)
        claim->held = ARENA_ARRAY(run->arena, bits_words(count), uint64_t);
    for (uint32_t i = 0; i < count; i++) {
        if (bits_has(held, i) && !bits_has(claim->held, i))
            run->reservations_free[i]--;
        else if (!bits_has(held, i) && bits_has(claim->held, i))
            run->reservations_free[i]++;
    }
    memcpy(claim->held, held, bits_words(count) * sizeof *claim->held);
}

/* ---- the NodeClaim that is bought ---- */

const struct node_requirements *reserved_finish(struct solver_run *run,
                                                const struct node_claim *claim)
{
    const struct solver_problem *problem = run->problem;
    struct solver_names *names = problem->names;
    size_t count = problem->reservations.count;
    if (count == 0 || claim->held == NULL || !bits_any(claim->held, bits_words(count)))
        return claim->set;
    uint32_t reserved =
        solver_names_find_value(names, problem->capacity_type_key, "reserved", strlen("reserved"));
    uint64_t *kind = ARENA_ARRAY(run->arena, bits_words(reserved + 1), uint64_t);
    bits_add(kind, reserved);
    struct wide_bits ids = {0};
    for (BITS_EACH(i, claim->held, bits_words(count)))
        wide_bits_add(run->arena, &ids, problem->reservations.items[i].value);
    const struct node_requirements *set = node_requirements_narrow(
        run, claim->set, problem->capacity_type_key, kind, bits_words(reserved + 1));
    if (set != NULL)
        set =
            node_requirements_narrow(run, set, problem->reservation_key, ids.words, ids.word_count);
    return set == NULL ? claim->set : set;
}
