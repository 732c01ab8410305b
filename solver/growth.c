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

static int64_t price_of(struct solver_run *run, const struct claim_set *set, const uint64_t *rows)
{
    size_t row = 0;
    const struct offering *offering = claim_cheapest(run, set, rows, &row);
    return offering == NULL || offering->price_usd_micro < 0 ? INT64_MAX
                                                             : offering->price_usd_micro;
}

static bool weigh(struct solver_run *run, uint32_t number, void *argument)
{
    struct growing *growing = argument;
    const struct claim *claim = &run->claims.items[number];
    struct candidate candidate;
    enum verdict verdict = claim_try(run, claim, (uint32_t)run->problem->nodes.count + number,
                                     growing->pod, growing->variant, false, &candidate);
    if (verdict == NEVER)
        wide_bits_add(run->arena, &run->variants[growing->variant->number].turned_away_claims,
                      number);
    if (verdict != ACCEPTED)
        return false;
    int64_t growth = subtract_capped(price_of(run, candidate.set, candidate.rows),
                                     price_of(run, claim->set, claim->rows));
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
         price_of(run, candidate.set, candidate.rows) < growing.least)) {
        claim_open(run, pool, pod, &candidate);
        return true;
    }
    if (growing.best == SOLVER_NONE)
        return false;
    uint32_t host = (uint32_t)run->problem->nodes.count + growing.best;
    if (claim_try(run, &run->claims.items[growing.best], host, pod, variant, false, &candidate) !=
        ACCEPTED)
        return false;
    put_on_claim(run, pod, growing.best, &candidate);
    return true;
}
