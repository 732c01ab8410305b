/* Makes a problem ready to be solved: indexes, the queue, and look-up by name. */
#include "solver/problem.h"

#include <stdlib.h>
#include <string.h>

/* ---- requests ---- */

static void make_requests(struct solver_problem *problem)
{
    for (size_t i = 0; i < problem->shapes.count; i++) {
        struct shape *shape = &problem->shapes.items[i];
        int64_t *requests = amounts_vector(problem, shape->amounts);
        requests[SOLVER_PODS] = add_capped(requests[SOLVER_PODS], 1);
        shape->requests = requests;
    }
}

/* ---- which nodes have which value of a topology key ---- */

static void make_topology_keys(struct solver_problem *problem)
{
    uint32_t key_count = solver_names_key_count(problem->names);
    uint32_t *index = ARENA_ARRAY(problem->arena, key_count, uint32_t);
    uint32_t *keys = ARENA_ARRAY(problem->arena, key_count, uint32_t);
    problem->topology_key_count = 0;
    memset(index, 0xff, key_count * sizeof *index);
    for (size_t i = 0; i < problem->groups.count; i++) {
        const struct topology_group *group = &problem->groups.items[i];
        if (group->hostname || index[group->key] != SOLVER_NONE)
            continue;
        index[group->key] = problem->topology_key_count;
        keys[problem->topology_key_count++] = group->key;
    }
    uint64_t *const **nodes_of =
        ARENA_ARRAY(problem->arena, problem->topology_key_count, uint64_t *const *);
    for (size_t i = 0; i < problem->topology_key_count; i++) {
        uint64_t **values = ARENA_ARRAY(
            problem->arena, solver_names_value_count(problem->names, keys[i]), uint64_t *);
        for (size_t j = 0; j < problem->nodes.count; j++) {
            uint32_t value =
                state_node_value(&problem->nodes.items[problem->node_order[j]], keys[i]);
            if (value == SOLVER_NONE)
                continue;
            if (values[value] == NULL)
                values[value] = ARENA_ARRAY(problem->arena, problem->node_words, uint64_t);
            bits_add(values[value], j);
        }
        nodes_of[i] = values;
    }
    problem->topology_keys = keys;
    problem->topology_index = index;
    problem->nodes_of = nodes_of;
}

/* ---- the queue (docs/reference/karpenter.md 2.2) ---- */

static int compare_pods(const void *a_pointer, const void *b_pointer, void *argument)
{
    const struct solver_problem *problem = argument;
    uint32_t x = *(const uint32_t *)a_pointer, y = *(const uint32_t *)b_pointer;
    const struct pod *a = &problem->pods.items[x], *b = &problem->pods.items[y];
    const int64_t *a_requests = problem->shapes.items[a->shape].requests;
    const int64_t *b_requests = problem->shapes.items[b->shape].requests;
    for (size_t r = SOLVER_CPU; r <= SOLVER_MEMORY; r++)
        if (a_requests[r] != b_requests[r])
            return a_requests[r] > b_requests[r] ? -1 : 1;
    if (a->created_unix_s != b->created_unix_s)
        return a->created_unix_s < b->created_unix_s ? -1 : 1;
    int order = strcmp(a->uid, b->uid);
    return order != 0
               ? order
               : strcmp(intern_text(&problem->pod_ids, x), intern_text(&problem->pod_ids, y));
}

static void make_queue(struct solver_problem *problem)
{
    uint32_t *queue = ARENA_ARRAY(problem->arena, problem->pods.count, uint32_t);
    problem->queue_count = 0;
    for (uint32_t i = 0; i < problem->pods.count; i++)
        if (problem->pods.items[i].node == SOLVER_NONE)
            queue[problem->queue_count++] = i;
    if (problem->queue_count > 1)
        qsort_r(queue, problem->queue_count, sizeof *queue, compare_pods, problem);
    problem->queue = queue;
}

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

/* A list whose items are changed. */
#define COPY_LIST(arena, list)                                                            \
    ((list).items = list_copy((arena), (list).items, (list).count, sizeof *(list).items), \
     (list).capacity = (list).count)
/* A list that only grows: without room for more, growing it copies it. */
#define KEEP_LIST(list) ((list).capacity = (list).count)

static void *list_copy(struct arena *arena, const void *items, size_t count, size_t size_bytes)
{
    void *copy = arena_array(arena, count, size_bytes);
    if (count > 0)
        memcpy(copy, items, count * size_bytes);
    return copy;
}

struct solver_builder *solver_builder_over(const struct solver_problem *stock, struct arena *arena)
{
    struct solver_builder *builder = ARENA_NEW(arena, struct solver_builder);
    struct solver_problem *problem = ARENA_NEW(arena, struct solver_problem);
    builder->problem = problem;
    builder->scratch.arena = arena;
    problem_over(problem, stock, arena);
    COPY_LIST(arena, problem->pools);
    COPY_LIST(arena, problem->shapes);
    COPY_LIST(arena, problem->label_classes);
    KEEP_LIST(problem->selectors);
    KEEP_LIST(problem->namespace_labels);
    return builder;
}

/* ---- building ---- */

static void mark_pending(struct solver_problem *problem)
{
    for (size_t i = 0; i < problem->pods.count; i++)
        if (problem->pods.items[i].node == SOLVER_NONE)
            problem->shapes.items[problem->pods.items[i].shape].pending = true;
}

static bool types_are_there(const struct solver_problem *problem, struct error *error)
{
    for (size_t i = 0; i < problem->pools.count; i++)
        for (size_t j = 0; j < problem->pools.items[i].type_count; j++)
            if (!problem->pools.items[i].all_types &&
                problem->pools.items[i].types[j] >= problem->types.count)
                return error_set(error, ERROR_INPUT, NOWHERE,
                                 "NodePool %s has type %u, which is not there",
                                 problem->pools.items[i].name, problem->pools.items[i].types[j]);
    return true;
}

static void make_late_groups(struct solver_problem *problem)
{
    bool *late = ARENA_ARRAY(problem->arena, problem->groups.count, bool);
    for (size_t i = 0; i < problem->groups.count; i++)
        late[i] = problem->groups.items[i].kind == TOPOLOGY_SPREAD;
    for (size_t i = 0; i < problem->queue_count; i++) {
        const struct relaxation *first =
            &problem->shapes.items[problem->pods.items[problem->queue[i]].shape].relaxations[0];
        for (size_t j = 0; j < first->group_count; j++)
            late[first->groups[j]] = false;
    }
    problem->late_groups = late;
}

/* Types, pools and daemons. */
static bool make_stock(struct solver_problem *problem, const struct solver_settings *settings,
                       struct error *error)
{
    if (!types_are_there(problem, error))
        return false;
    problem->settings = *settings;
    problem->resource_count = (uint32_t)intern_count(&problem->resources);
    make_requests(problem);
    instance_types_make(problem);
    pools_make(problem);
    problem->stocked = true;
    return true;
}

bool solver_build_stock(struct solver_builder *builder, const struct solver_settings *settings,
                        const struct solver_problem **stock, struct error *error)
{
    *stock = builder->problem;
    return make_stock(builder->problem, settings, error);
}

/* The stock's tables are made for its resources. */
static bool take_stock(struct solver_problem *problem, struct error *error)
{
    if (intern_count(&problem->resources) > problem->resource_count)
        return error_set(error, ERROR_INPUT, NOWHERE, "the stock does not know the resource %s",
                         intern_text(&problem->resources, problem->resource_count));
    make_requests(problem);
    return true;
}

bool solver_build(struct solver_builder *builder, const struct solver_settings *settings,
                  const struct solver_problem **built, struct error *error)
{
    struct solver_problem *problem = builder->problem;
    if (problem->stocked ? !take_stock(problem, error) : !make_stock(problem, settings, error))
        return false;
    mark_pending(problem);
    pools_limit(problem);
    pods_index(problem);
    nodes_index(problem);
    relaxations_make(builder);
    topology_groups_count(problem);
    make_topology_keys(problem);
    make_queue(problem);
    make_late_groups(problem);
    *built = problem;
    return true;
}

/* ---- names ---- */

uint32_t solver_pool_count(const struct solver_problem *problem)
{
    return (uint32_t)problem->pools.count;
}

const char *solver_pool_name(const struct solver_problem *problem, uint32_t pool)
{
    return problem->pools.items[pool].name;
}

const char *solver_type_name(const struct solver_problem *problem, uint32_t type)
{
    return problem->types.items[type].name;
}

const char *solver_node_name(const struct solver_problem *problem, uint32_t node)
{
    return problem->nodes.items[node].name;
}

const char *solver_pod_name(const struct solver_problem *problem, uint32_t pod)
{
    return intern_text(&problem->pod_ids, pod);
}

uint32_t solver_problem_resource(const struct solver_problem *problem, const char *name)
{
    return intern_find(&problem->resources, name, strlen(name));
}

uint32_t solver_resource_count(const struct solver_problem *problem)
{
    return (uint32_t)intern_count(&problem->resources);
}

const char *solver_resource_name(const struct solver_problem *problem, uint32_t resource)
{
    return intern_text(&problem->resources, resource);
}

const struct solver_names *solver_problem_names(const struct solver_problem *problem)
{
    return problem->names;
}
