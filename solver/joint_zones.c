/* The domains where the first pod of an affinity group may go (docs/reference/karpenter.md 10):
 * those that every pod of the group can reach with its volumes. */
#include "solver/optimize.h"

static bool fits_somewhere(struct solver_run *run, const struct pool *pool,
                           const struct shape *shape, const struct node_requirements *set)
{
    const uint64_t *options = node_requirements_options(run, set);
    for (size_t w = 0; w < run->problem->option_words; w++)
        run->scratch_options[w] = options[w] & pool->options[w];
    return options_with_room(run->problem, pool, shape->requests, run->scratch_options,
                             run->scratch_fits);
}

/* Whether a pool can launch a node for the shape in a domain that its volumes reach. */
static bool pool_reaches(struct solver_run *run, uint32_t number, const struct shape *shape,
                         const struct relaxation *relaxation, uint32_t key, size_t domain)
{
    const struct solver_problem *problem = run->problem;
    const struct pool *pool = &problem->pools.items[number];
    if (!taints_tolerated(pool->taints, &shape->tolerations, relaxation->prefer, NULL) ||
        !hostname_allows_new(relaxation->full.hostname))
        return false;
    const struct node_requirements *base = node_requirements_add(
        run, run->empty_node_claims[number].set, &relaxation->full, relaxation->number);
    size_t count = shape->volume_alternative_count;
    for (size_t i = 0; base != NULL && i < (count > 0 ? count : 1); i++) {
        const struct node_requirements *set = base;
        if (count > 0)
            set = node_requirements_add(run, set, &shape->volumes[i],
                                        problem->relaxation_count + shape->first_volume_term +
                                            (uint32_t)i);
        if (set != NULL)
            set = node_requirements_in(run, set, key, domain);
        if (set != NULL && fits_somewhere(run, pool, shape, set))
            return true;
    }
    return false;
}

static bool node_holds(const struct solver_run *run, uint32_t number, const struct shape *shape,
                       const struct relaxation *relaxation)
{
    const struct solver_problem *problem = run->problem;
    const struct state_node *node = &problem->nodes.items[number];
    return node_has_room(run, number, shape) && node_suits_volumes(run, node, shape) &&
           taints_tolerated(node->taints, &shape->tolerations, relaxation->prefer, NULL) &&
           hostname_allows(problem, relaxation->full.hostname, node->hostname) &&
           compatible(problem, &node->labels, &relaxation->full.requirements, true, NULL);
}

static bool reaches(struct solver_run *run, const struct shape *shape, uint32_t key, size_t value)
{
    const struct solver_problem *problem = run->problem;
    const struct relaxation *relaxation = &shape->relaxations[shape->relaxation_count - 1];
    for (uint32_t i = 0; i < problem->pools.count; i++)
        if (pool_reaches(run, i, shape, relaxation, key, value))
            return true;
    for (uint32_t i = 0; i < problem->nodes.count; i++)
        if (state_node_value(&problem->nodes.items[i], key) == value &&
            node_holds(run, i, shape, relaxation))
            return true;
    return false;
}

static bool is_member(const struct solver_problem *problem, const struct shape *shape,
                      uint32_t group)
{
    const struct relaxation *last = &shape->relaxations[shape->relaxation_count - 1];
    const struct label_class *class = &problem->label_classes.items[shape->label_class];
    bool owns = false, selected = false;
    for (size_t i = 0; i < last->group_count; i++)
        owns |= last->groups[i] == group;
    for (size_t i = 0; i < class->counted_by.count; i++)
        selected |= class->counted_by.items[i] == group;
    return owns && selected;
}

/* The domains that every pod of an affinity group can be in; NULL: all of them. */
static uint64_t *common_domains(struct solver_run *run, uint32_t number)
{
    const struct solver_problem *problem = run->problem;
    const struct topology_group *group = &problem->groups.items[number];
    size_t word_count = bits_words(group->count_size) + 1;
    uint64_t *domains = ARENA_ARRAY(run->arena, word_count, uint64_t);
    bool any_member = false;
    for (size_t v = 0; v < group->count_size; v++)
        if (group->counts[v] >= 0)
            bits_add(domains, v);
    for (size_t i = 0; i < problem->shapes.count; i++) {
        const struct shape *shape = &problem->shapes.items[i];
        if (!shape->pending || !is_member(problem, shape, number))
            continue;
        any_member = true;
        for (BITS_EACH(value, domains, word_count))
            if (!reaches(run, shape, group->key, value))
                bits_remove(domains, value);
    }
    return any_member && bits_any(domains, word_count) ? domains : NULL;
}

void joint_zones_make(struct solver_run *run)
{
    const struct solver_problem *problem = run->problem;
    run->start_domains = ARENA_ARRAY(run->arena, problem->groups.count, uint64_t *);
    for (uint32_t i = 0; i < problem->groups.count; i++) {
        const struct topology_group *group = &problem->groups.items[i];
        if (group->kind == TOPOLOGY_POD_AFFINITY && !group->hostname)
            run->start_domains[i] = common_domains(run, i);
    }
}
