#include "solver/run.h"

/* Claims that are nowhere yet and that several pods mount. Karpenter places those pods apart from
 * each other; once the volume is made for one of them, the others cannot follow. A sound strategy
 * keeps them in one zone. */

void shared_claims_make(struct solver_run *run)
{
    const struct solver_problem *problem = run->problem;
    uint32_t *pods = ARENA_ARRAY(run->arena, intern_count(&problem->claims), uint32_t);
    bool any = false;
    for (size_t i = 0; i < problem->queue_count; i++) {
        const struct pod *pod = &problem->pods.items[problem->queue[i]];
        for (size_t j = 0; j < pod->mount_count; j++)
            if (pod->mounts[j].binds && ++pods[pod->mounts[j].claim] > 1)
                any = true;
    }
    if (!any)
        return;
    run->claim_zones = ARENA_ARRAY(run->arena, intern_count(&problem->claims), uint32_t);
    run->claim_shared = ARENA_ARRAY(run->arena, intern_count(&problem->claims), bool);
    for (size_t i = 0; i < intern_count(&problem->claims); i++) {
        run->claim_zones[i] = SOLVER_NONE;
        run->claim_shared[i] = pods[i] > 1;
    }
}

static bool is_shared(const struct solver_run *run, const struct mount *mount)
{
    return run->claim_shared != NULL && mount->binds && run->claim_shared[mount->claim];
}

bool shared_claims_allow(const struct solver_run *run, const struct pod *pod, uint32_t zone)
{
    for (size_t i = 0; i < pod->mount_count; i++) {
        const struct mount *mount = &pod->mounts[i];
        if (is_shared(run, mount) && run->claim_zones[mount->claim] != SOLVER_NONE &&
            run->claim_zones[mount->claim] != zone)
            return false;
    }
    return true;
}

static const struct claim_set *narrow_to(struct solver_run *run, const struct claim_set *set,
                                         size_t zone)
{
    uint64_t *one = run->scratch_domain;
    size_t word_count = zone / BITS_WORD + 1;
    for (size_t w = 0; w < word_count; w++)
        one[w] = 0;
    bits_add(one, zone);
    return claim_set_narrow(run, set, run->problem->zone_key, one, word_count);
}

/* Of the zones the set allows, that of the cheapest that fits; ties by name. */
static const struct claim_set *narrow_to_cheapest(struct solver_run *run,
                                                  const struct claim_set *set, const uint64_t *fits)
{
    const struct solver_problem *problem = run->problem;
    const struct solver_requirement *own =
        solver_requirements_get(&set->requirements, problem->zone_key);
    const struct claim_set *best = NULL;
    int64_t best_price = 0;
    struct text best_name = {0};
    size_t count = solver_names_value_count(problem->names, problem->zone_key);
    for (uint32_t v = 0; v < count; v++) {
        if (own != NULL && !solver_requirement_has(problem->names, own, v))
            continue;
        const struct claim_set *there = narrow_to(run, set, v);
        if (there == NULL || !bits_meet(claim_set_rows(run, there), fits, problem->row_words))
            continue;
        int64_t price = claim_set_price(run, there);
        struct text name = {0};
        name.data = solver_names_value_text(problem->names, problem->zone_key, v, &name.size);
        if (best == NULL || price < best_price ||
            (price == best_price && text_compare(name, best_name) < 0)) {
            best = there;
            best_price = price;
            best_name = name;
        }
    }
    return best;
}

const struct claim_set *shared_claims_narrow(struct solver_run *run, const struct pod *pod,
                                             const struct claim_set *set, const uint64_t *fits)
{
    bool free = false;
    for (size_t i = 0; i < pod->mount_count && set != NULL; i++) {
        if (!is_shared(run, &pod->mounts[i]))
            continue;
        uint32_t zone = run->claim_zones[pod->mounts[i].claim];
        if (zone == SOLVER_NONE)
            free = true;
        else
            set = narrow_to(run, set, zone);
    }
    return free && set != NULL ? narrow_to_cheapest(run, set, fits) : set;
}

void shared_claims_record(struct solver_run *run, const struct pod *pod, uint32_t zone)
{
    for (size_t i = 0; i < pod->mount_count; i++)
        if (is_shared(run, &pod->mounts[i]) && zone != SOLVER_NONE)
            run->claim_zones[pod->mounts[i].claim] = zone;
}
