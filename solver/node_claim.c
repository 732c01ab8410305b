/* NodeClaims while pods are placed on them: whether one more pod fits, and which options remain. */
#include <string.h>

#include "solver/run.h"

/* ---- options ---- */

/* A total of nothing fits every option of a pool. */
bool options_with_room(const struct solver_problem *problem, const struct pool *pool,
                       const int64_t *total, const uint64_t *options, uint64_t *fits)
{
    memcpy(fits, options, problem->option_words * sizeof *fits);
    for (size_t r = 0; r < problem->resource_count; r++) {
        const int64_t *room = &pool->room[r * problem->options.count];
        for (size_t w = 0; w < problem->option_words && total[r] > 0; w++) {
            uint64_t kept = fits[w];
            for (uint64_t left = kept; left != 0; left &= left - 1)
                if (total[r] > room[w * BITS_WORD + (size_t)__builtin_ctzll(left)])
                    kept &= ~(left & -left);
            fits[w] = kept;
        }
    }
    return bits_any(fits, problem->option_words);
}

void drop_taken_ports(const struct solver_problem *problem, const struct pool *pool,
                      const struct shape *shape, uint64_t *options)
{
    for (size_t i = 0; i < pool->daemon_count && shape->port_count > 0; i++)
        if (host_ports_conflict(pool->daemons[i].ports, pool->daemons[i].port_count, shape->ports,
                                shape->port_count))
            for (size_t w = 0; w < problem->option_words; w++)
                options[w] &= ~pool->daemons[i].options[w];
}

static bool has_mount(const struct mount *mounts, size_t count, struct mount mount)
{
    for (size_t i = 0; i < count; i++)
        if (mounts[i].volume_claim == mount.volume_claim && mounts[i].driver == mount.driver)
            return true;
    return false;
}

size_t mounts_count(const struct mount *there, size_t there_count, const struct mount *more,
                    size_t more_count, uint32_t driver)
{
    size_t count = 0;
    for (size_t i = 0; i < there_count; i++)
        count += there[i].driver == driver && !has_mount(there, i, there[i]);
    for (size_t i = 0; i < more_count; i++)
        count += more[i].driver == driver && !has_mount(there, there_count, more[i]) &&
                 !has_mount(more, i, more[i]);
    return count;
}

bool option_attaches(const struct solver_problem *problem, size_t option, uint32_t driver,
                     size_t count)
{
    const struct instance_type *type = &problem->types.items[problem->options.items[option].type];
    for (size_t i = 0; i < type->attach_limit_count; i++)
        if (type->attach_limits[i].driver == driver && type->attach_limits[i].count < count)
            return false;
    return true;
}

/* Removes the options whose types do not attach so many volumes. */
static void drop_unattachable(const struct solver_problem *problem, const struct node_claim *claim,
                              const struct pod *pod, uint64_t *options)
{
    for (size_t i = 0; i < pod->mount_count; i++) {
        uint32_t driver = pod->mounts[i].driver;
        if (driver == SOLVER_NONE)
            continue;
        size_t count = mounts_count(claim->mounts.items, claim->mounts.count, pod->mounts,
                                    pod->mount_count, driver);
        for (BITS_EACH(option, options, problem->option_words))
            if (!option_attaches(problem, option, driver, count))
                bits_remove(options, option);
    }
}

/* ---- limits (docs/reference/karpenter.md 2.8) ---- */

const uint64_t *pool_limit_options(struct solver_run *run, uint32_t number)
{
    const struct solver_problem *problem = run->problem;
    const struct pool *pool = &problem->pools.items[number];
    if (!pool->has_limits || run->beyond_limits)
        return pool->options;
    const int64_t *limits = run->limits[number];
    if (limits[SOLVER_NODES] <= 0)
        return NULL;
    uint64_t *options = run->limit_options[number];
    if (run->limit_options_fresh[number])
        return options;
    size_t option_count = problem->options.count;
    memcpy(options, pool->options, problem->option_words * sizeof *options);
    for (BITS_EACH(option, pool->options, problem->option_words))
        for (size_t r = 0; r < problem->resource_count; r++)
            if (r != SOLVER_NODES && limits[r] != INT64_MAX &&
                problem->capacity[r * option_count + option] > limits[r])
                bits_remove(options, option);
    run->limit_options_fresh[number] = true;
    return options;
}

/* Removes the options over the limits, to which the open NodeClaim's own charge is added back. */
static void drop_over_limits(const struct solver_run *run, const struct node_claim *claim,
                             uint64_t *options)
{
    const struct solver_problem *problem = run->problem;
    const int64_t *limits = run->limits[claim->pool];
    size_t option_count = problem->options.count;
    if (claim->charged == NULL) /* nor has the pool limits */
        return;
    for (BITS_EACH(option, options, problem->option_words))
        for (size_t r = 0; r < problem->resource_count; r++)
            if (r != SOLVER_NODES && limits[r] != INT64_MAX &&
                problem->capacity[r * option_count + option] >
                    add_capped(limits[r], claim->charged[r])) {
                bits_remove(options, option);
                break;
            }
}

/* ---- trying ---- */

static bool has_room(const struct solver_run *run, const struct node_claim *claim,
                     const struct shape *shape)
{
    for (size_t r = 0; r < run->problem->resource_count; r++) {
        run->scratch_total[r] = add_capped(claim->requests[r], shape->requests[r]);
        if (run->scratch_total[r] > claim->most[r])
            return false;
    }
    return true;
}

/* The requirements after volumes and topology, and their options. NULL: none; then also whether
 * topology is the reason. */
static const struct node_requirements *settle(struct solver_run *run,
                                              const struct relaxation_state *state,
                                              const struct pod *pod,
                                              const struct node_requirements *base,
                                              const struct term *volume, uint32_t volume_number,
                                              bool relax, bool *topology)
{
    const struct node_requirements *set = base;
    if (volume != NULL) {
        if (!run->ignores_local && !hostname_allows_new(volume->hostname))
            return NULL;
        set = node_requirements_add(run, set, volume, volume_number);
        if (set == NULL)
            return NULL;
    }
    const struct node_requirements *narrowed =
        topology_narrow(run, state, set, run->scratch_fits, NULL);
    *topology |= narrowed != set;
    if (narrowed != NULL)
        narrowed = shared_volumes_narrow(run, pod, narrowed, run->scratch_fits);
    if (narrowed == NULL)
        return NULL;
    const uint64_t *options = node_requirements_options(run, narrowed);
    bool any = false;
    for (size_t w = 0; w < run->problem->option_words; w++) {
        run->scratch_options[w] = run->scratch_fits[w] & options[w];
        any |= run->scratch_options[w] != 0;
    }
    if (!any)
        return NULL;
    return node_requirements_min_values(run, narrowed, run->scratch_options, relax);
}

static bool needs_label(const struct term *term, uint32_t key)
{
    const struct solver_requirement *r = solver_requirements_get(&term->requirements, key);
    return r != NULL && r->needs_label;
}

/* Whether a pod on the NodeClaim, as it was placed, or a volume of it needs the label. */
static bool is_label_needed(const struct solver_run *run, const struct node_claim *claim,
                            uint32_t key)
{
    const struct solver_problem *problem = run->problem;
    for (uint32_t pod = claim->first_pod; pod != SOLVER_NONE; pod = run->next_pod[pod]) {
        const struct shape *shape = &problem->shapes.items[problem->pods.items[pod].shape];
        if (needs_label(&shape->relaxations[run->placed_as[pod]].strict, key))
            return true;
        for (size_t i = 0; i < shape->volume_alternative_count; i++)
            if (needs_label(&shape->volumes[i], key))
                return true;
    }
    return false;
}

/* Whether the new requirements exclude a label that a pod on the NodeClaim needs. */
static bool takes_label_away(const struct solver_run *run, const struct node_claim *claim,
                             const struct solver_requirements *after)
{
    for (size_t i = 0; i < after->count; i++) {
        const struct solver_requirement *now = &after->items[i];
        if (solver_requirement_op(now) != SOLVER_DOES_NOT_EXIST)
            continue;
        const struct solver_requirement *then =
            solver_requirements_get(&claim->set->requirements, now->key);
        if (then != NULL && solver_requirement_op(then) != SOLVER_DOES_NOT_EXIST &&
            is_label_needed(run, claim, now->key))
            return true;
    }
    return false;
}

/* Whether a node of these requirements has each label that the pod, its volume (NULL: none) and the
 * pods on the NodeClaim need. Karpenter does not ask, since NotIn and DoesNotExist are compatible
 * for it; kube-scheduler does. */
static bool has_labels(const struct solver_run *run, const struct node_claim *claim,
                       const struct term *pod, const struct term *volume,
                       const struct node_requirements *set)
{
    const struct solver_requirements *labels = &set->requirements;
    if (misses_label(run, labels, &pod->requirements) ||
        (volume != NULL && misses_label(run, labels, &volume->requirements)))
        return false;
    return !run->strategy.sound || set == claim->set || !takes_label_away(run, claim, labels);
}

enum can_add node_claim_can_add(struct solver_run *run, const struct node_claim *claim,
                                uint32_t host, uint32_t pod_number,
                                const struct relaxation *relaxation, bool relax_min_values,
                                struct candidate *candidate)
{
    const struct solver_problem *problem = run->problem;
    const struct pod *pod = &problem->pods.items[pod_number];
    const struct shape *shape = &problem->shapes.items[pod->shape];
    const struct pool *pool = &problem->pools.items[claim->pool];
    const struct relaxation_state *state = &run->relaxations[relaxation->number];
    if (!has_room(run, claim, shape) || !hostname_allows_new(relaxation->full.hostname) ||
        !taints_tolerated(pool->taints, &shape->tolerations, relaxation->prefer, NULL) ||
        host_ports_conflict(claim->ports.items, claim->ports.count, shape->ports,
                            shape->port_count))
        return NEVER;
    enum can_add can_add = topology_host(run, state, host, NULL);
    if (can_add != CAN_ADD)
        return can_add;
    const struct node_requirements *base =
        node_requirements_add(run, claim->set, &relaxation->full, relaxation->number);
    if (base == NULL && solver_requirements_intersect(problem->names, &claim->set->requirements,
                                                      &relaxation->full.requirements, NULL))
        return NOT_NOW; /* only a label is missing, which another pod may add */
    if (base == NULL ||
        !options_with_room(problem, pool, run->scratch_total, claim->options, run->scratch_fits))
        return NEVER;
    drop_taken_ports(problem, pool, shape, run->scratch_fits);
    drop_over_limits(run, claim, run->scratch_fits);
    bool depends = pod->mount_count > 0 || claim->charged != NULL;
    if (depends)
        drop_unattachable(problem, claim, pod, run->scratch_fits);
    size_t count = shape->volume_alternative_count;
    enum can_add reserved = NOT_NOW;
    for (size_t i = 0; i < (count > 0 ? count : 1); i++) {
        const struct term *volume = count > 0 ? &shape->volumes[i] : NULL;
        const struct node_requirements *set =
            settle(run, state, pod, base, volume,
                   problem->relaxation_count + shape->first_volume_term + (uint32_t)i,
                   relax_min_values, &depends);
        bool suits = set != NULL && has_labels(run, claim, &relaxation->strict, volume, set);
        /* Of several alternatives the last one decides whether the pod waits. */
        reserved = suits ? reserved_try(run, claim, set, run->scratch_options) : NOT_NOW;
        depends |= set != NULL;
        if (reserved != CAN_ADD)
            continue;
        *candidate = (struct candidate){set, run->scratch_options, run->scratch_held};
        return CAN_ADD;
    }
    if (reserved == DEFERRED)
        return DEFERRED;
    return depends ? NOT_NOW : NEVER;
}
