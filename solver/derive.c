#include <string.h>

#include "solver/problem.h"

/* ---- a problem over another ---- */

void problem_over(struct solver_problem *problem, const struct solver_problem *below,
                  struct arena *arena)
{
    *problem = *below;
    problem->arena = arena;
    problem->names = solver_names_create(arena, below->names);
    problem->pod_names = solver_names_create(arena, below->pod_names);
#define OVER(table) problem->table = intern_over(arena, &below->table)
    OVER(words);
    OVER(resources);
    OVER(namespaces);
    OVER(volume_claims);
    OVER(drivers);
    OVER(pod_ids);
    OVER(type_ids);
    OVER(pool_ids);
    OVER(node_ids);
    OVER(shape_fingerprints);
    OVER(class_fingerprints);
    OVER(selector_fingerprints);
    OVER(toleration_fingerprints);
    OVER(group_fingerprints);
#undef OVER
}

/* What may be added to a copied list before it moves. */
enum { SPARE = 16 };

/* Of a list that was copied with its struct an array of its own. */
#define COPY(list)                                                                       \
    ((list).items = copy_items(arena, (list).items, (list).count, sizeof *(list).items), \
     (list).capacity = (list).count + SPARE)
/* What is pushed goes to an array of its own, which is made then. */
#define SHARE(list) ((list).capacity = (list).count)

static void *copy_items(struct arena *arena, const void *items, size_t count, size_t size_bytes)
{
    void *copy = arena_array(arena, count + SPARE, size_bytes);
    if (count > 0)
        memcpy(copy, items, count * size_bytes);
    return copy;
}

struct solver_builder *solver_derive(const struct solver_problem *before, struct arena *arena)
{
    struct solver_builder *builder = ARENA_NEW(arena, struct solver_builder);
    struct solver_problem *problem = ARENA_NEW(arena, struct solver_problem);
    problem_over(problem, before, arena);
    builder->problem = problem;
    builder->before = before;
    builder->scratch.arena = arena;
    COPY(problem->nodes);
    COPY(problem->pods);
    COPY(problem->shapes);
    COPY(problem->pools);
    COPY(problem->groups);
    COPY(problem->label_classes);
    COPY(problem->namespace_labels);
    for (size_t i = 0; i < problem->label_classes.count; i++) {
        SHARE(problem->label_classes.items[i].counted_by);
        SHARE(problem->label_classes.items[i].kept_away_by);
        SHARE(problem->label_classes.items[i].listed_by);
    }
    for (size_t i = 0; i < problem->groups.count; i++)
        problem->groups.items[i].counts_shared = true;
    SHARE(problem->types);
    SHARE(problem->daemons);
    SHARE(problem->selectors);
    SHARE(problem->options);
    SHARE(problem->offering_shapes);
    SHARE(problem->inverse_groups);
    SHARE(problem->node_taints);
    return builder;
}

/* Lists change where they are. Only what is compared afterwards is kept as it was. */
struct solver_builder *solver_amend(const struct solver_problem *problem)
{
    struct arena *arena = problem->arena;
    struct solver_builder *builder = ARENA_NEW(arena, struct solver_builder);
    struct solver_problem *before = ARENA_NEW(arena, struct solver_problem);
    *before = *problem;
    before->pools.items =
        copy_items(arena, problem->pools.items, problem->pools.count, sizeof *problem->pools.items);
    builder->problem = (struct solver_problem *)(uintptr_t)problem;
    builder->before = before;
    builder->scratch.arena = arena;
    return builder;
}

void note_change(struct solver_builder *builder, uint32_t number, const struct pod *was)
{
    static const struct pod nobody = {.node = POD_GONE};
    if (builder->before != NULL)
        *LIST_PUSH(builder->problem->arena, &builder->changed_pods) =
            (struct changed_pod){number, was == NULL ? nobody : *was};
}

/* ---- what is there ---- */

uint32_t solver_find_node(const struct solver_builder *builder, const char *name)
{
    const struct solver_problem *problem = builder->problem;
    uint32_t number = intern_find(&problem->node_ids, name, strlen(name));
    return number == SOLVER_NONE || problem->nodes.items[number].gone ? SOLVER_NONE : number;
}

uint32_t solver_find_pod(const struct solver_builder *builder, const char *name)
{
    const struct solver_problem *problem = builder->problem;
    uint32_t number = intern_find(&problem->pod_ids, name, strlen(name));
    return number == SOLVER_NONE || problem->pods.items[number].node == POD_GONE ? SOLVER_NONE
                                                                                 : number;
}

/* ---- what is taken away or moved ---- */

static bool pod_is_there(const struct solver_builder *builder, uint32_t pod, struct error *error)
{
    const struct solver_problem *problem = builder->problem;
    return (pod < problem->pods.count && problem->pods.items[pod].node != POD_GONE) ||
           error_set(error, ERROR_INPUT, NOWHERE, "there is no pod %u", pod);
}

static bool node_is_there(const struct solver_builder *builder, uint32_t node, struct error *error)
{
    const struct solver_problem *problem = builder->problem;
    return (node < problem->nodes.count && !problem->nodes.items[node].gone) ||
           error_set(error, ERROR_INPUT, NOWHERE, "there is no node %u", node);
}

static void move_pod(struct solver_builder *builder, uint32_t pod, uint32_t node)
{
    note_change(builder, pod, &builder->problem->pods.items[pod]);
    builder->problem->pods.items[pod].node = node;
}

bool solver_remove_pod(struct solver_builder *builder, uint32_t pod, struct error *error)
{
    if (!pod_is_there(builder, pod, error))
        return false;
    move_pod(builder, pod, POD_GONE);
    return true;
}

bool solver_place_pod(struct solver_builder *builder, uint32_t pod, uint32_t node,
                      struct error *error)
{
    if (!pod_is_there(builder, pod, error) || !node_is_there(builder, node, error))
        return false;
    if (builder->problem->pods.items[pod].node != SOLVER_NONE)
        return error_set(error, ERROR_INPUT, NOWHERE, "Pod %s is on a node already",
                         solver_pod_name(builder->problem, pod));
    move_pod(builder, pod, node);
    return true;
}

bool solver_remove_node(struct solver_builder *builder, uint32_t node, struct error *error)
{
    struct solver_problem *problem = builder->problem;
    if (!node_is_there(builder, node, error))
        return false;
    for (uint32_t i = 0; i < problem->pods.count; i++)
        if (problem->pods.items[i].node == node)
            move_pod(builder, i, POD_GONE);
    problem->nodes.items[node] = (struct state_node){
        .name = problem->nodes.items[node].name,
        .pool = SOLVER_NONE,
        .hostname = problem->nodes.items[node].hostname,
        .gone = true,
    };
    builder->nodes_changed = true;
    return true;
}

/* ---- making anew what that touches ---- */

static bool runs(const struct pod *pod)
{
    return pod->node != SOLVER_NONE && pod->node != POD_GONE;
}

void derive_nodes(struct solver_builder *builder)
{
    struct solver_problem *problem = builder->problem;
    uint64_t *touched = ARENA_ARRAY(problem->arena, bits_words(problem->nodes.count), uint64_t);
    for (size_t i = 0; i < builder->changed_pods.count; i++) {
        const struct changed_pod *changed = &builder->changed_pods.items[i];
        const struct pod *now = &problem->pods.items[changed->number];
        if (runs(&changed->was))
            bits_add(touched, changed->was.node);
        if (runs(now))
            bits_add(touched, now->node);
    }
    /* One that was added, removed, or both has no room yet. */
    for (size_t i = 0; i < problem->nodes.count; i++)
        if (problem->nodes.items[i].room == NULL)
            bits_add(touched, i);
    for (BITS_EACH(node, touched, bits_words(problem->nodes.count)))
        node_make(problem, (uint32_t)node);
}

static void adjust_known(struct solver_builder *builder, uint32_t number, uint32_t node, int32_t by)
{
    struct solver_problem *problem = builder->problem;
    if (number >= builder->before->groups.count)
        return; /* counted as a whole */
    topology_group_own_counts(problem, &problem->groups.items[number]);
    topology_group_adjust(problem, &problem->groups.items[number], node, by);
}

/* A pod more or less in the groups that were there before. */
static void adjust_pod(struct solver_builder *builder, const struct pod *pod, int32_t by)
{
    const struct solver_problem *problem = builder->problem;
    const struct shape *shape = &problem->shapes.items[pod->shape];
    const struct label_class *class = &problem->label_classes.items[shape->label_class];
    for (size_t i = 0; i < class->counted_by.count && !pod->leaving; i++)
        adjust_known(builder, class->counted_by.items[i], pod->node, by);
    for (size_t i = 0; i < class->listed_by.count && !pod->leaving; i++)
        adjust_known(builder, class->listed_by.items[i], pod->node, by);
    for (size_t i = 0; i < shape->inverse_group_count; i++)
        adjust_known(builder, shape->inverse_groups[i], pod->node, by);
}

void derive_groups(struct solver_builder *builder)
{
    struct solver_problem *problem = builder->problem;
    const struct solver_problem *before = builder->before;
    relaxations_make(builder, before->shapes.count);
    /* Known classes first learn of new groups, new classes of all; both are counted there. */
    uint64_t *done = ARENA_ARRAY(problem->arena, bits_words(problem->pods.count), uint64_t);
    for (size_t i = 0; i < builder->changed_pods.count; i++) {
        /* The first time it changed it was what it was before. */
        const struct changed_pod *changed = &builder->changed_pods.items[i];
        const struct pod *now = &problem->pods.items[changed->number];
        if (bits_has(done, changed->number))
            continue;
        bits_add(done, changed->number);
        if (runs(&changed->was))
            adjust_pod(builder, &changed->was, -1);
        if (runs(now))
            adjust_pod(builder, now, 1);
    }
    topology_groups_count(problem, before->groups.count, before->label_classes.count);
}

/* ---- what a change of nodes leaves of limits ---- */

static bool is_within(const struct solver_problem *problem, const struct pool *pool, size_t option)
{
    if (pool->limits[SOLVER_NODES] <= 0)
        return false;
    for (size_t r = 0; r < problem->resource_count; r++)
        if (r != SOLVER_NODES && pool->limits[r] != INT64_MAX &&
            problem->capacity[r * problem->options.count + option] > pool->limits[r])
            return false;
    return true;
}

bool derive_limits_agree(const struct solver_problem *before, const struct solver_problem *after)
{
    if (before->pools.count != after->pools.count || before->options.count != after->options.count)
        return false;
    for (size_t i = 0; i < before->pools.count; i++) {
        const struct pool *was = &before->pools.items[i];
        const struct pool *is = &after->pools.items[i];
        for (BITS_EACH(option, is->options, after->option_words))
            if (is->has_limits && is_within(before, was, option) != is_within(after, is, option))
                return false;
    }
    return true;
}
