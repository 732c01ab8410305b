/* Gives up a pod's preferences, one after another, as Karpenter's Preferences.Relax does. */
#include <stdlib.h>
#include <string.h>

#include "solver/problem.h"

/* The preferences that a shape still has. Items are indices into the shape's lists. */
struct preferences {
    size_t required_from;
    uint32_t *preferred, *affinities[2], *spreads; /* affinities: preferred; [1]: anti */
    size_t preferred_count, affinity_counts[2], spread_count;
    bool prefer;
};

static int heavier(int32_t a, int32_t b, uint32_t a_place, uint32_t b_place)
{
    if (a != b)
        return a > b ? -1 : 1;
    return a_place < b_place ? -1 : a_place > b_place;
}

static int compare_preferred(const void *a, const void *b, void *argument)
{
    const struct shape *shape = argument;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return heavier(shape->preferred[x].weight, shape->preferred[y].weight, x, y);
}

static int compare_affinities(const void *a, const void *b, void *argument)
{
    const struct shape *shape = argument;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return heavier(shape->affinities[x].weight, shape->affinities[y].weight, x, y);
}

static void all_preferences(const struct solver_problem *problem, const struct shape *shape,
                            struct preferences *preferences)
{
    bool ignore = problem->settings.ignore_preferences;
    struct arena *arena = problem->arena;
    *preferences = (struct preferences){
        .preferred = ARENA_ARRAY(arena, shape->preferred_count, uint32_t),
        .affinities = {ARENA_ARRAY(arena, shape->affinity_count, uint32_t),
                       ARENA_ARRAY(arena, shape->affinity_count, uint32_t)},
        .spreads = ARENA_ARRAY(arena, shape->spread_count, uint32_t),
    };
    void *argument = (void *)(uintptr_t)shape;
    for (uint32_t i = 0; i < shape->preferred_count && !ignore; i++)
        preferences->preferred[preferences->preferred_count++] = i;
    if (preferences->preferred_count > 1)
        qsort_r(preferences->preferred, preferences->preferred_count, sizeof(uint32_t),
                compare_preferred, argument);
    for (uint32_t i = 0; i < shape->affinity_count && !ignore; i++) {
        size_t anti = shape->affinities[i].anti ? 1 : 0;
        if (!shape->affinities[i].required)
            preferences->affinities[anti][preferences->affinity_counts[anti]++] = i;
    }
    for (size_t anti = 0; anti < 2; anti++)
        if (preferences->affinity_counts[anti] > 1)
            qsort_r(preferences->affinities[anti], preferences->affinity_counts[anti],
                    sizeof(uint32_t), compare_affinities, argument);
    for (uint32_t i = 0; i < shape->spread_count; i++)
        if (shape->spreads[i].hard || !ignore)
            preferences->spreads[preferences->spread_count++] = i;
}

static void drop_first(uint32_t *items, size_t *count)
{
    (*count)--;
    memmove(items, items + 1, *count * sizeof *items);
}

static bool drop_soft_spread(const struct shape *shape, struct preferences *preferences)
{
    for (size_t i = 0; i < preferences->spread_count; i++)
        if (!shape->spreads[preferences->spreads[i]].hard) {
            preferences->spreads[i] = preferences->spreads[--preferences->spread_count];
            return true;
        }
    return false;
}

/* One step of relaxation, in Karpenter's order (docs/reference/karpenter.md 2.7); false: none is
 * left. */
static bool relax(const struct shape *shape, struct preferences *preferences, bool may_prefer)
{
    if (shape->required_count > preferences->required_from + 1) {
        preferences->required_from++;
        return true;
    }
    for (size_t anti = 0; anti < 2; anti++)
        if (preferences->affinity_counts[anti] > 0) {
            drop_first(preferences->affinities[anti], &preferences->affinity_counts[anti]);
            return true;
        }
    if (preferences->preferred_count > 0) {
        drop_first(preferences->preferred, &preferences->preferred_count);
        return true;
    }
    if (drop_soft_spread(shape, preferences))
        return true;
    if (!may_prefer || preferences->prefer)
        return false;
    preferences->prefer = true;
    return true;
}

/* ---- a relaxation ---- */

static int compare_numbers(const void *a_pointer, const void *b_pointer)
{
    uint32_t a = *(const uint32_t *)a_pointer, b = *(const uint32_t *)b_pointer;
    return a < b ? -1 : a > b;
}

static void make_groups(struct solver_builder *builder, const struct shape *shape,
                        const struct preferences *preferences, struct relaxation *relaxation)
{
    struct arena *arena = builder->problem->arena;
    uint32_t *groups = ARENA_ARRAY(arena, shape->spread_count + shape->affinity_count, uint32_t);
    size_t count = 0;
    struct topology_node_filter filter = {
        .required_from = preferences->required_from,
        .prefer = preferences->prefer,
    };
    for (size_t i = 0; i < preferences->spread_count; i++)
        groups[count++] = topology_group_of_spread(
            builder, shape, &shape->spreads[preferences->spreads[i]], &filter);
    for (size_t i = 0; i < shape->affinity_count; i++)
        if (shape->affinities[i].required)
            groups[count++] =
                topology_group_of_affinity(builder, shape, &shape->affinities[i], false);
    for (size_t anti = 0; anti < 2; anti++)
        for (size_t i = 0; i < preferences->affinity_counts[anti]; i++)
            groups[count++] = topology_group_of_affinity(
                builder, shape, &shape->affinities[preferences->affinities[anti][i]], false);
    if (count > 1)
        qsort(groups, count, sizeof *groups, compare_numbers);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || groups[i] != groups[i - 1])
            groups[relaxation->group_count++] = groups[i];
    relaxation->groups = groups;
}

static bool is_required_affinity(const struct pod_affinity *affinity)
{
    return affinity->required && !affinity->anti;
}

/* Of several required affinities, unless they are very many: kube-scheduler lets the pod join only
 * pods that all of them select. */
static void add_joint_groups(struct solver_builder *builder, const struct shape *shape,
                             struct relaxation *relaxation, uint32_t *groups)
{
    enum { MOST = 16 };
    if (!settings_optimize(&builder->problem->settings))
        return;
    uint32_t *joined = ARENA_ARRAY(builder->problem->arena, shape->affinity_count, uint32_t);
    size_t count = 0;
    for (size_t i = 0; i < shape->affinity_count; i++)
        if (is_required_affinity(&shape->affinities[i]))
            joined[count++] =
                topology_group_of_affinity(builder, shape, &shape->affinities[i], false);
    for (size_t i = 0; i < shape->affinity_count && count > 1 && count <= MOST; i++)
        if (is_required_affinity(&shape->affinities[i]))
            groups[relaxation->whole_group_count++] = topology_group_of_joint_affinity(
                builder, shape, &shape->affinities[i], joined, count);
}

static void make_whole_groups(struct solver_builder *builder, const struct shape *shape,
                              struct relaxation *relaxation)
{
    static const struct topology_node_filter whole = {0};
    uint32_t *groups =
        ARENA_ARRAY(builder->problem->arena, shape->spread_count + shape->affinity_count, uint32_t);
    for (size_t i = 0; i < shape->spread_count && relaxation->required_from > 0; i++)
        if (shape->spreads[i].hard && shape->spreads[i].honor_affinity)
            groups[relaxation->whole_group_count++] =
                topology_group_of_spread(builder, shape, &shape->spreads[i], &whole);
    add_joint_groups(builder, shape, relaxation, groups);
    relaxation->whole_groups = groups;
}

static struct relaxation relaxation_make(struct solver_builder *builder, const struct shape *shape,
                                         const struct preferences *preferences)
{
    struct solver_problem *problem = builder->problem;
    struct relaxation relaxation = {
        .prefer = preferences->prefer,
        .required_from = preferences->required_from,
    };
    term_add(problem, &relaxation.strict,
             shape->required_count > 0 ? &shape->required[preferences->required_from]
                                       : &shape->selector);
    term_add(problem, &relaxation.full, &relaxation.strict);
    if (preferences->preferred_count > 0)
        term_add(problem, &relaxation.full, &shape->preferred[preferences->preferred[0]].term);
    make_groups(builder, shape, preferences, &relaxation);
    make_whole_groups(builder, shape, &relaxation);
    return relaxation;
}

/* Whether the shape already has the toleration that the last step of relaxation adds. */
static bool prefers_by_itself(const struct shape *shape)
{
    for (size_t i = 0; i < shape->tolerations.count; i++) {
        const struct toleration *t = &shape->tolerations.items[i];
        if (t->key == SOLVER_NONE && t->exists &&
            (t->any_effect || t->effect == SOLVER_PREFER_NO_SCHEDULE))
            return true;
    }
    return false;
}

static bool some_pool_prefers(const struct solver_problem *problem)
{
    for (size_t i = 0; i < problem->pools.count; i++)
        for (size_t j = 0; j < problem->pools.items[i].taints.count; j++)
            if (problem->pools.items[i].taints.items[j].effect == SOLVER_PREFER_NO_SCHEDULE)
                return true;
    return false;
}

void inverse_groups_make(struct solver_builder *builder, struct shape *shape)
{
    uint32_t *groups = ARENA_ARRAY(builder->problem->arena, shape->affinity_count, uint32_t);
    for (size_t i = 0; i < shape->affinity_count; i++)
        if (shape->affinities[i].required && shape->affinities[i].anti)
            groups[shape->inverse_group_count++] =
                topology_group_of_affinity(builder, shape, &shape->affinities[i], true);
    shape->inverse_groups = groups;
}

/* ---- all relaxations ---- */

struct relaxation_steps {
    struct solver_builder *builder;
    const struct shape *shape;
    struct preferences preferences;
    bool may_prefer, begun;
};

struct relaxation_steps *relaxation_steps(struct solver_builder *builder, const struct shape *shape)
{
    struct solver_problem *problem = builder->problem;
    struct relaxation_steps *steps = ARENA_NEW(problem->arena, struct relaxation_steps);
    *steps = (struct relaxation_steps){
        .builder = builder,
        .shape = shape,
        .may_prefer = some_pool_prefers(problem) && !prefers_by_itself(shape),
    };
    all_preferences(problem, shape, &steps->preferences);
    return steps;
}

bool relaxation_next(struct relaxation_steps *steps, struct relaxation *relaxation)
{
    if (steps->begun && !relax(steps->shape, &steps->preferences, steps->may_prefer))
        return false;
    steps->begun = true;
    *relaxation = relaxation_make(steps->builder, steps->shape, &steps->preferences);
    return true;
}

size_t relaxations_most(const struct shape *shape)
{
    return shape->required_count + shape->preferred_count + shape->affinity_count +
           shape->spread_count + 2;
}

struct relaxation relaxation_of_required(struct solver_builder *builder, const struct shape *shape,
                                         size_t required_from)
{
    uint32_t *spreads = ARENA_ARRAY(builder->problem->arena, shape->spread_count, uint32_t);
    struct preferences preferences = {
        .required_from = required_from, .spreads = spreads, .prefer = true};
    for (uint32_t i = 0; i < shape->spread_count; i++)
        if (shape->spreads[i].hard)
            spreads[preferences.spread_count++] = i;
    return relaxation_make(builder, shape, &preferences);
}

void relaxations_make(struct solver_builder *builder)
{
    struct solver_problem *problem = builder->problem;
    for (size_t i = 0; i < problem->shapes.count; i++) {
        struct shape *shape = &problem->shapes.items[i];
        inverse_groups_make(builder, shape);
        shape->first_volume_term = problem->volume_term_count;
        problem->volume_term_count += (uint32_t)shape->volume_alternative_count;
        if (!shape->pending)
            continue;
        LIST(struct relaxation) relaxations = {0};
        struct relaxation_steps *steps = relaxation_steps(builder, shape);
        for (struct relaxation relaxation; relaxation_next(steps, &relaxation);) {
            relaxation.number = problem->relaxation_count++;
            *LIST_PUSH(problem->arena, &relaxations) = relaxation;
        }
        shape->relaxations = relaxations.items;
        shape->relaxation_count = relaxations.count;
    }
}
