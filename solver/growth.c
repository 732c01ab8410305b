#include "solver/run.h"

/* Karpenter joins a claim before it opens one, whatever that does to the price: a claim that is
 * full as a small machine becomes a large one. Here the price decides. */

#define TRIES_MAX 24 /* claims that would take the pod, before the best of them is taken */

struct growing {
    uint32_t pod;
    const struct variant *variant;
    size_t tries;
    uint32_t best; /* a claim; SOLVER_NONE: none yet */
    int64_t least;
};

static bool weigh(struct solver_run *run, uint32_t number, void *argument)
{
    struct growing *growing = argument;
    const struct claim *claim = &run->claims.items[number];
    struct candidate candidate;
    if (!try_joining(run, number, growing->pod, growing->variant, &candidate))
        return false;
    int64_t growth = subtract_capped(rows_price(run, candidate.set, candidate.rows),
                                     rows_price(run, claim->set, claim->rows));
    if (growing->best == SOLVER_NONE || growth < growing->least) {
        growing->best = number;
        growing->least = growth;
    }
    return growing->least <= 0 || ++growing->tries == TRIES_MAX;
}

bool place_by_growth(struct solver_run *run, uint32_t pod, const struct variant *variant)
{
    struct growing growing = {.pod = pod, .variant = variant, .best = SOLVER_NONE};
    (void)each_claim(run, variant, weigh, &growing);
    struct candidate candidate;
    uint32_t pool = 0;
    if ((growing.best == SOLVER_NONE || growing.least > 0) &&
        try_opening(run, pod, variant, &pool, &candidate) &&
        (growing.best == SOLVER_NONE ||
         rows_price(run, candidate.set, candidate.rows) < growing.least)) {
        claim_open(run, pool, pod, &candidate);
        return true;
    }
    /* Tried again: what it came to was overwritten since. */
    if (growing.best == SOLVER_NONE || !try_joining(run, growing.best, pod, variant, &candidate))
        return false;
    put_on_claim(run, pod, growing.best, &candidate);
    return true;
}
