/* A strategy of --optimize: places a pod where it adds least to the price. */
#include "solver/run.h"

/* Karpenter adds a pod to an open NodeClaim before it opens a new one. A NodeClaim whose small
 * instance type is full becomes a large type then, which may cost more than a second NodeClaim.
 * Here the price decides. */

#define TRIES_MAX 24 /* of NodeClaims that take the pod, the best of so many is taken */

struct price_search {
    uint32_t pod;
    const struct relaxation *relaxation;
    size_t tries;
    uint32_t best; /* a NodeClaim; SOLVER_NONE: none yet */
    int64_t least;
};

static bool weigh(struct solver_run *run, uint32_t number, void *argument)
{
    struct price_search *search = argument;
    const struct node_claim *claim = &run->node_claims.items[number];
    struct candidate candidate;
    if (!try_joining(run, number, search->pod, search->relaxation, &candidate))
        return false;
    int64_t added_price = subtract_capped(options_price(run, candidate.set, candidate.options),
                                          options_price(run, claim->set, claim->options));
    if (search->best == SOLVER_NONE || added_price < search->least) {
        search->best = number;
        search->least = added_price;
    }
    return search->least <= 0 || ++search->tries == TRIES_MAX;
}

bool place_by_price(struct solver_run *run, uint32_t pod, const struct relaxation *relaxation)
{
    struct price_search search = {.pod = pod, .relaxation = relaxation, .best = SOLVER_NONE};
    (void)each_node_claim(run, relaxation, weigh, &search);
    struct candidate candidate;
    uint32_t pool = 0;
    if (search.best == SOLVER_NONE && waits_for_port(run, pod, relaxation))
        return false;
    if ((search.best == SOLVER_NONE || search.least > 0) &&
        try_opening(run, pod, relaxation, &pool, &candidate) &&
        (search.best == SOLVER_NONE ||
         options_price(run, candidate.set, candidate.options) < search.least)) {
        node_claim_open(run, pool, pod, &candidate);
        return true;
    }
    /* The candidate is made again: a later try has overwritten its memory. */
    if (search.best == SOLVER_NONE || !try_joining(run, search.best, pod, relaxation, &candidate))
        return false;
    node_claim_add(run, pod, search.best, &candidate);
    return true;
}
