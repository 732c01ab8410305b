/* Makes a plan better by rescheduling a part of it. Some NodeClaims of the old plan are dropped.
 * All other pods are placed where they were, in the same order; then the queue places the rest.
 * Every pod passes the same checks as in a new plan, so the result is as valid as one. */
#include <string.h>

#include "solver/optimize.h"

/* ---- the old plan ---- */

struct old_claim {
    uint32_t pool;
    struct solver_requirements requirements;
};
struct old_pod {
    uint32_t pod, relaxation; /* index among its shape's relaxations */
    struct solver_placement place;
};
struct old_plan {
    const struct old_pod *pods; /* in the order they were placed */
    size_t pod_count;
    const struct old_claim *claims;
    size_t claim_count;
};

const struct old_plan *old_plan_of(const struct solver_run *run, struct arena *arena)
{
    struct old_plan *plan = ARENA_NEW(arena, struct old_plan);
    struct old_pod *pods = ARENA_ARRAY(arena, run->placed.count, struct old_pod);
    struct old_claim *claims = ARENA_ARRAY(arena, run->node_claims.count, struct old_claim);
    for (size_t i = 0; i < run->placed.count; i++) {
        uint32_t pod = run->placed.items[i];
        pods[i] = (struct old_pod){pod, run->placed_as[pod], run->placements[pod]};
    }
    for (size_t i = 0; i < run->node_claims.count; i++) {
        const struct solver_requirements *from = &run->node_claims.items[i].set->requirements;
        struct solver_requirement *items =
            ARENA_ARRAY(arena, from->count, struct solver_requirement);
        claims[i] = (struct old_claim){run->node_claims.items[i].pool, {items, 0, from->count}};
        for (size_t j = 0; j < from->count; j++) {
            const struct solver_requirement *one = &from->items[j];
            bool is_domain = one->key == run->problem->zone_key ||
                             run->problem->topology_index[one->key] != SOLVER_NONE;
            if (one->complement || !is_domain)
                continue;
            uint64_t *words = ARENA_ARRAY(arena, one->word_count, uint64_t);
            if (one->word_count > 0)
                memcpy(words, one->words, one->word_count * sizeof *words);
            items[claims[i].requirements.count] = *one;
            items[claims[i].requirements.count++].words = words;
        }
    }
    *plan = (struct old_plan){pods, run->placed.count, claims, run->node_claims.count};
    return plan;
}

/* ---- which NodeClaims are dropped ---- */

static uint32_t below(uint64_t *state, size_t limit)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)((*state >> 33) % limit);
}

#define GIVEN_UP_MAX 4 /* NodeClaims at a time, when there are few */
#define LARGE_PART 6   /* when there are many, at most this part */
#define LOOSE_ONE_IN 8 /* of the other pods, every other time */

static bool *choose_claims(const struct old_plan *old, uint64_t *state, struct arena *arena)
{
    bool *given_up = ARENA_ARRAY(arena, old->claim_count, bool);
    size_t most = old->claim_count / LARGE_PART;
    most = most < GIVEN_UP_MAX ? GIVEN_UP_MAX : most;
    size_t count = 1 + below(state, most);
    for (size_t i = 0; i < count && old->claim_count > 0; i++)
        given_up[below(state, old->claim_count)] = true;
    return given_up;
}

/* ---- placing pods where they were ---- */

struct rescheduling {
    struct solver_run *run;
    const struct old_plan *old;
    uint32_t
        *claims; /* by old NodeClaim: the new one that replaces it; SOLVER_NONE: not opened yet */
};

static bool go_back_to_claim(struct rescheduling *rescheduling, uint32_t pod,
                             const struct relaxation *relaxation, uint32_t old_number)
{
    struct solver_run *run = rescheduling->run;
    const struct old_claim *old = &rescheduling->old->claims[old_number];
    struct candidate candidate;
    if (rescheduling->claims[old_number] != SOLVER_NONE) {
        if (!try_joining(run, rescheduling->claims[old_number], pod, relaxation, &candidate))
            return false;
        node_claim_add(run, pod, rescheduling->claims[old_number], &candidate);
        return true;
    }
    uint32_t pool = 0;
    const struct pool *pools = run->problem->pools.items;
    if (!try_opening(run, pod, relaxation, &pool, &candidate) ||
        pools[pool].weight != pools[old->pool].weight)
        return false;
    const struct node_requirements *set = run->empty_node_claims[old->pool].set;
    for (size_t i = 0; i < old->requirements.count && set != NULL; i++) {
        const struct solver_requirement *one = &old->requirements.items[i];
        set = node_requirements_narrow(run, set, one->key, one->words, one->word_count);
    }
    if (set == NULL || try_pool(run, old->pool, set, pod, relaxation, &candidate) != CAN_ADD)
        return false;
    rescheduling->claims[old_number] = (uint32_t)run->node_claims.count;
    node_claim_open(run, old->pool, pod, &candidate);
    return true;
}

/* A relaxation with more preferences than the pod had comes first, wherever it fits. What is bought
 * in vain for a pod with local volumes, the queue buys. */
static void go_back(struct rescheduling *rescheduling, const struct old_pod *old)
{
    struct solver_run *run = rescheduling->run;
    const struct shape *shape =
        &run->problem->shapes.items[run->problem->pods.items[old->pod].shape];
    bool placed = false;
    if (shape->local_hosts && old->place.kind != SOLVER_ON_NODE)
        return;
    for (uint32_t i = 0; i < old->relaxation && !placed && !shape->local_hosts; i++) {
        placed = try_relaxation(run, old->pod, &shape->relaxations[i]);
        run->placed_as[old->pod] = i;
    }
    if (!placed) {
        const struct relaxation *relaxation = &shape->relaxations[old->relaxation];
        run->placed_as[old->pod] = old->relaxation;
        placed = topology_match(run, shape, relaxation, NULL) &&
                 (old->place.kind == SOLVER_ON_NODE
                      ? add_to_this_node(run, old->pod, relaxation, old->place.index)
                      : go_back_to_claim(rescheduling, old->pod, relaxation, old->place.index));
    }
    if (placed)
        run->version++;
}

void place_as_before(struct solver_run *run, const struct old_plan *old, uint64_t seed)
{
    uint64_t state = seed;
    struct rescheduling rescheduling = {run, old,
                                        ARENA_ARRAY(run->arena, old->claim_count, uint32_t)};
    for (size_t i = 0; i < old->claim_count; i++)
        rescheduling.claims[i] = SOLVER_NONE;
    const bool *given_up = choose_claims(old, &state, run->arena);
    bool some_loose = below(&state, 2) == 0;
    for (size_t i = 0; i < old->pod_count; i++) {
        const struct old_pod *pod = &old->pods[i];
        bool loose = some_loose && below(&state, LOOSE_ONE_IN) == 0;
        if (!loose && (pod->place.kind == SOLVER_ON_NODE || !given_up[pod->place.index]))
            go_back(&rescheduling, pod);
    }
}
