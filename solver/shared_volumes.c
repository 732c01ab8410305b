/* Volume claims that several pods mount and that are not bound yet. */
#include "solver/run.h"

/* Karpenter places such pods independently of each other. Once the volume is provisioned for one of
 * them, pods in other zones cannot mount it. A sound strategy keeps them in one zone. */

void shared_volumes_make(struct solver_run *run)
{
    const struct solver_problem *problem = run->problem;
    uint32_t *pods = ARENA_ARRAY(run->arena, intern_count(&problem->volume_claims), uint32_t);
    bool any = false;
    for (size_t i = 0; i < problem->queue_count; i++) {
        const struct pod *pod = &problem->pods.items[problem->queue[i]];
        for (size_t j = 0; j < pod->mount_count; j++)
            if (pod->mounts[j].binds && ++pods[pod->mounts[j].volume_claim] > 1)
                any = true;
    }
    if (!any)
        return;
    run->volume_claim_zones =
        ARENA_ARRAY(run->arena, intern_count(&problem->volume_claims), uint32_t);
    run->volume_claim_shared = ARENA_ARRAY(run->arena, intern_count(&problem->volume_claims), bool);
    for (size_t i = 0; i < intern_count(&problem->volume_claims); i++) {
        run->volume_claim_zones[i] = SOLVER_NONE;
        run->volume_claim_shared[i] = pods[i] > 1;
    }
}

static bool is_shared(const struct solver_run *run, const struct mount *mount)
{
    return run->volume_claim_shared != NULL && mount->binds &&
           run->volume_claim_shared[mount->volume_claim];
}

bool shared_volumes_allow(const struct solver_run *run, const struct pod *pod, uint32_t zone)
{
    for (size_t i = 0; i < pod->mount_count; i++) {
        const struct mount *mount = &pod->mounts[i];
        if (is_shared(run, mount) && run->volume_claim_zones[mount->volume_claim] != SOLVER_NONE &&
            run->volume_claim_zones[mount->volume_claim] != zone)
            return false;
    }
    return true;
}

/* Narrows the set to the zone of the cheapest option that fits; ties by name. */
static const struct node_requirements *narrow_to_cheapest(struct solver_run *run,
                                                          const struct node_requirements *set,
                                                          const uint64_t *fits)
{
    const struct solver_problem *problem = run->problem;
    const struct solver_requirement *own =
        solver_requirements_get(&set->requirements, problem->zone_key);
    const struct node_requirements *best = NULL;
    int64_t best_price = 0;
    struct text best_name = {0};
    size_t count = solver_names_value_count(problem->names, problem->zone_key);
    for (uint32_t v = 0; v < count; v++) {
        if (own != NULL && !solver_requirement_has(problem->names, own, v))
            continue;
        const struct node_requirements *there =
            node_requirements_in(run, set, problem->zone_key, v);
        if (there == NULL ||
            !bits_meet(node_requirements_options(run, there), fits, problem->option_words))
            continue;
        int64_t price = node_requirements_price(run, there);
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

const struct node_requirements *shared_volumes_narrow(struct solver_run *run, const struct pod *pod,
                                                      const struct node_requirements *set,
                                                      const uint64_t *fits)
{
    bool free = false;
    for (size_t i = 0; i < pod->mount_count && set != NULL; i++) {
        if (!is_shared(run, &pod->mounts[i]))
            continue;
        uint32_t zone = run->volume_claim_zones[pod->mounts[i].volume_claim];
        if (zone == SOLVER_NONE)
            free = true;
        else
            set = node_requirements_in(run, set, run->problem->zone_key, zone);
    }
    return free && set != NULL ? narrow_to_cheapest(run, set, fits) : set;
}

void shared_volumes_record(struct solver_run *run, const struct pod *pod, uint32_t zone)
{
    for (size_t i = 0; i < pod->mount_count; i++)
        if (is_shared(run, &pod->mounts[i]) && zone != SOLVER_NONE)
            run->volume_claim_zones[pod->mounts[i].volume_claim] = zone;
}
