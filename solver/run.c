/* Creates a run: the state of the nodes, pools and groups before the first pod is placed. */
#include "solver/optimize.h"

#include <string.h>

static void copy_groups(struct solver_run *run)
{
    const struct solver_problem *problem = run->problem;
    run->groups = ARENA_ARRAY(run->arena, problem->groups.count, struct topology_group_state);
    for (size_t i = 0; i < problem->groups.count; i++) {
        const struct topology_group *group = &problem->groups.items[i];
        struct topology_group_state *state = &run->groups[i];
        state->counts = ARENA_ARRAY(run->arena, group->count_size, int32_t);
        if (group->count_size > 0)
            memcpy(state->counts, group->counts, group->count_size * sizeof *state->counts);
        state->count_size = group->count_size;
        state->occupied = group->occupied;
        state->dormant = problem->late_groups[i] && !run->strategy.look_ahead;
        state->owners = group->running_owners;
        for (size_t j = 0; group->hostname && j < group->count_size; j++)
            if (group->counts[j] > 0)
                wide_bits_add(run->arena, &state->nodes, problem->node_rank[j]);
    }
}

static void copy_nodes(struct solver_run *run)
{
    const struct solver_problem *problem = run->problem;
    size_t count = problem->nodes.count, width = problem->resource_count;
    run->room = ARENA_ARRAY(run->arena, count * width, int64_t);
    run->node_ports = ARENA_ARRAY(run->arena, count, struct host_port_list);
    run->node_mounts = arena_array(run->arena, count, sizeof *run->node_mounts);
    for (size_t i = 0; i < count; i++) {
        const struct state_node *node = &problem->nodes.items[i];
        memcpy(&run->room[i * width], node->room, width * sizeof *run->room);
        for (size_t j = 0; j < node->ports.count; j++)
            *LIST_PUSH(run->arena, &run->node_ports[i]) = node->ports.items[j];
        for (size_t j = 0; j < node->mounts.count; j++)
            *LIST_PUSH(run->arena, &run->node_mounts[i]) = node->mounts.items[j];
    }
}

/* A NodeClaim of the pool before its first pod. */
static struct node_claim empty_node_claim(struct solver_run *run, uint32_t number)
{
    const struct solver_problem *problem = run->problem;
    const struct pool *pool = &problem->pools.items[number];
    struct node_claim claim = {
        .pool = number,
        .first_pod = SOLVER_NONE,
        .set = node_requirements_of(run, &pool->requirements),
        .options = (uint64_t *)(uintptr_t)pool->options,
        .requests = ARENA_ARRAY(run->arena, problem->resource_count, int64_t),
        .most = ARENA_ARRAY(run->arena, problem->resource_count, int64_t),
        .roomiest = ARENA_ARRAY(run->arena, problem->resource_count, uint32_t),
    };
    node_claim_measure(run, &claim);
    return claim;
}

static void copy_pools(struct solver_run *run)
{
    const struct solver_problem *problem = run->problem;
    size_t count = problem->pools.count;
    run->limits = ARENA_ARRAY(run->arena, count, int64_t *);
    run->limit_options = ARENA_ARRAY(run->arena, count, uint64_t *);
    run->limit_options_fresh = ARENA_ARRAY(run->arena, count, bool);
    run->empty_node_claims = ARENA_ARRAY(run->arena, count, struct node_claim);
    for (uint32_t i = 0; i < count; i++) {
        run->limits[i] = ARENA_ARRAY(run->arena, problem->resource_count, int64_t);
        memcpy(run->limits[i], problem->pools.items[i].limits,
               problem->resource_count * sizeof **run->limits);
        run->limit_options[i] = ARENA_ARRAY(run->arena, problem->option_words, uint64_t);
        run->empty_node_claims[i] = empty_node_claim(run, i);
    }
}

struct solver_run *solver_run_create(const struct solver_problem *problem, struct arena *arena)
{
    return run_create(problem, (struct strategy){0}, arena);
}

struct solver_run *run_create(const struct solver_problem *problem, struct strategy strategy,
                              struct arena *arena)
{
    struct solver_run *run = ARENA_NEW(arena, struct solver_run);
    run->strategy = strategy;
    run->problem = problem;
    run->arena = arena;
    run->sets.fingerprints.arena = run->sets.scratch.arena = arena;
    run->version = 1;
    /* For the domains of a topology key, and for the zones of shared volume claims. */
    size_t domain_words =
        bits_words(solver_names_value_count(problem->names, problem->zone_key)) + 1;
    run->claims_of = ARENA_ARRAY(arena, problem->topology_key_count, struct wide_bits *);
    run->claims_open = ARENA_ARRAY(arena, problem->topology_key_count, struct wide_bits);
    for (size_t i = 0; i < problem->topology_key_count; i++) {
        size_t values = solver_names_value_count(problem->names, problem->topology_keys[i]);
        run->claims_of[i] = ARENA_ARRAY(arena, values, struct wide_bits);
        if (bits_words(values) + 1 > domain_words)
            domain_words = bits_words(values) + 1;
    }
    run->scratch_domain_words = domain_words;
    run->scratch_domains = ARENA_ARRAY(arena, domain_words, uint64_t);
    run->scratch_fits = ARENA_ARRAY(arena, problem->option_words, uint64_t);
    run->scratch_options = ARENA_ARRAY(arena, problem->option_words, uint64_t);
    run->scratch_held = ARENA_ARRAY(arena, bits_words(problem->reservations.count), uint64_t);
    run->reservations_free = ARENA_ARRAY(arena, problem->reservations.count, uint32_t);
    for (size_t i = 0; i < problem->reservations.count; i++)
        run->reservations_free[i] = problem->reservations.items[i].free;
    run->scratch_total = ARENA_ARRAY(arena, problem->resource_count, int64_t);
    run->relaxations = ARENA_ARRAY(arena, problem->relaxation_count, struct relaxation_state);
    run->shape_failed_at = ARENA_ARRAY(arena, problem->shapes.count, uint64_t);
    run->placements = ARENA_ARRAY(arena, problem->pods.count, struct solver_placement);
    run->next_pod = ARENA_ARRAY(arena, problem->pods.count, uint32_t);
    copy_groups(run);
    copy_nodes(run);
    copy_pools(run);
    if (strategy.joint_zones)
        joint_zones_make(run);
    if (strategy.sound) {
        run->placed_as = ARENA_ARRAY(arena, problem->pods.count, uint32_t);
        shared_volumes_make(run);
    }
    return run;
}
