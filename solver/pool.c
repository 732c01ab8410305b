/* NodePools: their options, limits and DaemonSets' pods. */
#include <stdlib.h>
#include <string.h>

#include "solver/problem.h"
#include "solver/well_known.h"

/* ---- daemons (docs/reference/karpenter.md 2.6) ---- */

/* The options of a pool that a daemon runs on. One of its required terms is enough. */
static bool daemon_options(const struct solver_problem *problem, const struct pool *pool,
                           const struct solver_requirements *template, const struct shape *daemon,
                           uint64_t *options)
{
    memset(options, 0, problem->option_words * sizeof *options);
    if (daemon->needs_devices || !taints_tolerated(pool->taints, &daemon->tolerations, true, NULL))
        return false;
    uint64_t *types = ARENA_ARRAY(problem->arena, problem->option_words, uint64_t);
    size_t count = daemon->required_count > 0 ? daemon->required_count : 1;
    for (size_t i = 0; i < count; i++) {
        const struct term *term =
            daemon->required_count > 0 ? &daemon->required[i] : &daemon->selector;
        if (!hostname_allows_new(term->hostname) ||
            !compatible(problem, template, &term->requirements, false, NULL))
            continue;
        instance_types_select(problem, &term->requirements, types);
        for (size_t w = 0; w < problem->option_words; w++)
            options[w] |= types[w] & pool->options[w];
    }
    return bits_any(options, problem->option_words);
}

/* A part of a pool's options that run the same daemons. */
struct part {
    uint64_t *options;
    LIST(uint32_t) daemons;
};
struct parts {
    struct part *items;
    size_t count, capacity;
};

static void split_parts(const struct solver_problem *problem, struct parts *parts, uint32_t daemon,
                        const uint64_t *options)
{
    size_t count = parts->count;
    for (size_t i = 0; i < count; i++) {
        struct part inside = {.options =
                                  ARENA_ARRAY(problem->arena, problem->option_words, uint64_t)};
        uint64_t outside = 0;
        for (size_t w = 0; w < problem->option_words; w++) {
            inside.options[w] = parts->items[i].options[w] & options[w];
            outside |= parts->items[i].options[w] & ~options[w];
        }
        if (!bits_any(inside.options, problem->option_words))
            continue;
        for (size_t j = 0; j < parts->items[i].daemons.count; j++)
            *LIST_PUSH(problem->arena, &inside.daemons) = parts->items[i].daemons.items[j];
        *LIST_PUSH(problem->arena, &inside.daemons) = daemon;
        if (outside == 0) {
            parts->items[i] = inside;
            continue;
        }
        for (size_t w = 0; w < problem->option_words; w++)
            parts->items[i].options[w] &= ~options[w];
        *LIST_PUSH(problem->arena, parts) = inside;
    }
}

static struct daemon_overhead_group group_of_part(const struct solver_problem *problem,
                                                  const struct part *part)
{
    int64_t *overhead = ARENA_ARRAY(problem->arena, problem->resource_count, int64_t);
    struct host_port_list ports = {0};
    for (size_t i = 0; i < part->daemons.count; i++) {
        const struct shape *daemon = &problem->shapes.items[part->daemons.items[i]];
        for (size_t r = 0; r < problem->resource_count; r++)
            overhead[r] = add_capped(overhead[r], daemon->requests[r]);
        for (size_t j = 0; j < daemon->port_count; j++)
            *LIST_PUSH(problem->arena, &ports) = daemon->ports[j];
    }
    return (struct daemon_overhead_group){part->options, overhead, ports.items, ports.count};
}

static void make_daemons(struct solver_problem *problem, struct pool *pool)
{
    struct parts parts = {0};
    struct part all = {.options = ARENA_ARRAY(problem->arena, problem->option_words, uint64_t)};
    memcpy(all.options, pool->options, problem->option_words * sizeof *all.options);
    *LIST_PUSH(problem->arena, &parts) = all;
    /* Daemons may select labels that a node gets once it is ready. */
    static const char *const ready[] = {LABEL_REGISTERED, LABEL_INITIALIZED};
    const char *yes = "true";
    struct term template = {.requirements = {0}};
    struct term own = {.requirements = pool->requirements};
    term_add(problem, &template, &own);
    for (size_t i = 0; i < 2; i++) {
        struct solver_expression expression = {ready[i], SOLVER_IN, &yes, 1, 0};
        struct term one = term_make(problem, (struct solver_expressions){&expression, 1});
        term_add(problem, &template, &one);
    }
    uint64_t *options = ARENA_ARRAY(problem->arena, problem->option_words, uint64_t);
    for (size_t i = 0; i < problem->daemons.count; i++) {
        uint32_t daemon = problem->daemons.items[i];
        if (daemon_options(problem, pool, &template.requirements, &problem->shapes.items[daemon],
                           options))
            split_parts(problem, &parts, daemon, options);
    }
    struct daemon_overhead_group *groups =
        ARENA_ARRAY(problem->arena, parts.count, struct daemon_overhead_group);
    for (size_t i = 0; i < parts.count; i++)
        groups[i] = group_of_part(problem, &parts.items[i]);
    pool->daemons = groups;
    pool->daemon_count = parts.count;
}

/* ---- pools ---- */

static void choose_options(struct solver_problem *problem, struct pool *pool)
{
    uint64_t *all = ARENA_ARRAY(problem->arena, problem->option_words, uint64_t);
    uint64_t *options = ARENA_ARRAY(problem->arena, problem->option_words, uint64_t);
    uint64_t *offered = ARENA_ARRAY(problem->arena, problem->option_words, uint64_t);
    bool *member = ARENA_ARRAY(problem->arena, problem->types.count, bool);
    for (size_t i = 0; i < pool->type_count && !pool->all_types; i++)
        if (pool->types[i] < problem->types.count)
            member[pool->types[i]] = true;
    for (size_t i = 0; i < problem->options.count; i++)
        if (pool->all_types || member[problem->options.items[i].type])
            bits_add(all, i);
    instance_types_select(problem, &pool->requirements, options);
    offerings_select(problem, &pool->requirements, offered);
    for (size_t w = 0; w < problem->option_words; w++)
        options[w] &= all[w] & offered[w];
    pool->all_options = all;
    pool->options = options;
}

static void make_room(struct solver_problem *problem, struct pool *pool)
{
    size_t option_count = problem->options.count;
    int64_t *room = ARENA_ARRAY(problem->arena, option_count * problem->resource_count, int64_t);
    for (size_t i = 0; i < option_count; i++) {
        struct solver_amounts amounts = problem->options.items[i].allocatable;
        for (size_t j = 0; j < amounts.count; j++)
            room[amounts.items[j].resource * option_count + i] = amounts.items[j].quantity;
    }
    for (size_t i = 0; i < pool->daemon_count; i++)
        for (BITS_EACH(option, pool->daemons[i].options, problem->option_words))
            for (size_t r = 0; r < problem->resource_count; r++)
                room[r * option_count + option] =
                    subtract_capped(room[r * option_count + option], pool->daemons[i].overhead[r]);
    /* Where the daemons alone do not fit, no pod fits, not even one without requests. */
    uint64_t *options = ARENA_ARRAY(problem->arena, problem->option_words, uint64_t);
    for (BITS_EACH(option, pool->options, problem->option_words)) {
        bool fits = true;
        for (size_t r = 0; r < problem->resource_count; r++)
            fits &= room[r * option_count + option] >= 0;
        if (fits)
            bits_add(options, option);
    }
    pool->options = options;
    pool->room = room;
}

/* The limits less what the nodes of the pool use. */
static void make_limits(const struct solver_problem *problem, uint32_t number)
{
    struct pool *pool = &problem->pools.items[number];
    int64_t *limits = ARENA_ARRAY(problem->arena, problem->resource_count, int64_t);
    pool->has_limits = pool->limit_amounts.count > 0;
    pool->limits = limits;
    for (size_t r = 0; r < problem->resource_count; r++)
        limits[r] = INT64_MAX;
    for (size_t i = 0; i < pool->limit_amounts.count; i++)
        limits[pool->limit_amounts.items[i].resource] = pool->limit_amounts.items[i].quantity;
    for (size_t i = 0; i < problem->nodes.count && pool->has_limits; i++) {
        const struct state_node *node = &problem->nodes.items[i];
        if (node->pool != number || node->leaving)
            continue;
        if (limits[SOLVER_NODES] != INT64_MAX)
            limits[SOLVER_NODES]--;
        for (size_t j = 0; j < node->capacity.count; j++) {
            int64_t *limit = &limits[node->capacity.items[j].resource];
            if (*limit != INT64_MAX && node->capacity.items[j].resource != SOLVER_NODES)
                *limit = subtract_capped(*limit, node->capacity.items[j].quantity);
        }
    }
}

static int compare_pools(const void *a_pointer, const void *b_pointer, void *argument)
{
    const struct solver_problem *problem = argument;
    const struct pool *a = &problem->pools.items[*(const uint32_t *)a_pointer];
    const struct pool *b = &problem->pools.items[*(const uint32_t *)b_pointer];
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return strcmp(b->name, a->name);
}

void pools_make(struct solver_problem *problem)
{
    uint32_t *order = ARENA_ARRAY(problem->arena, problem->pools.count, uint32_t);
    for (uint32_t i = 0; i < problem->pools.count; i++) {
        struct pool *pool = &problem->pools.items[i];
        choose_options(problem, pool);
        make_daemons(problem, pool);
        make_room(problem, pool);
        order[i] = i;
    }
    if (problem->pools.count > 1)
        qsort_r(order, problem->pools.count, sizeof *order, compare_pools, problem);
    problem->pool_order = order;
}

void pools_limit(struct solver_problem *problem)
{
    for (uint32_t i = 0; i < problem->pools.count; i++)
        make_limits(problem, i);
}
