/* A cluster with running pods, for questions about one more pod. */
#include "solver_warm.h"

#include <stdio.h>
#include <string.h>

#include "solver_mix.h"

#define ZONE "topology.kubernetes.io/zone"
#define HOSTNAME "kubernetes.io/hostname"
#define CAPACITY_TYPE "karpenter.sh/capacity-type"
#define TEAM "example.com/team"

enum { ZONES = 3, TEAMS = 5, NODE_CPU_MILLI = 16000 };

static const int64_t mib = (int64_t)1 << 20;
static const char *const zones[ZONES] = {"test-zone-1", "test-zone-2", "test-zone-3"};
static const char *const teams[TEAMS] = {"a", "b", "c", "d", "e"};

/* ---- pools and nodes ---- */

/* Every fifth pool is tainted, half of them are of a team. */
static bool add_pools(struct solver_builder *builder, struct error *error)
{
    static const struct solver_taint taint = {"dedicated", "yes", SOLVER_NO_SCHEDULE};
    static const char *const on_demand[] = {"on-demand"};
    const struct solver_expression requirement = {
        .key = CAPACITY_TYPE, .op = SOLVER_IN, .values = on_demand, .value_count = 1};
    for (uint32_t i = 0; i < WARM_POOLS; i++) {
        char name[32];
        uint32_t number;
        const struct solver_label team = {TEAM, teams[i % TEAMS]};
        snprintf(name, sizeof name, "pool-%u", i);
        if (!solver_add_pool(builder,
                             &(struct solver_pool){.name = name,
                                                   .weight = i % 4,
                                                   .requirements = {&requirement, i % 3 == 0},
                                                   .labels = {&team, i % 2},
                                                   .taints = {&taint, i % 5 == 0}},
                             &number, error))
            return false;
    }
    return true;
}

static bool add_nodes(struct solver_builder *builder, struct error *error)
{
    static const struct solver_taint taint = {"dedicated", "yes", SOLVER_NO_SCHEDULE};
    const struct solver_amount capacity[] = {
        {SOLVER_CPU, NODE_CPU_MILLI}, {SOLVER_MEMORY, 65536 * mib}, {SOLVER_PODS, 110}};
    const struct solver_amount allocatable[] = {
        {SOLVER_CPU, NODE_CPU_MILLI - 100}, {SOLVER_MEMORY, 65526 * mib}, {SOLVER_PODS, 110}};
    for (uint32_t i = 0; i < WARM_NODES; i++) {
        uint32_t number, pool = i % WARM_POOLS;
        char name[32], pool_name[32];
        snprintf(name, sizeof name, "node-%u", i);
        snprintf(pool_name, sizeof pool_name, "pool-%u", pool);
        const struct solver_label labels[] = {
            {HOSTNAME, name},
            {ZONE, zones[i / 7 % ZONES]},
            {CAPACITY_TYPE, "on-demand"},
            {"kubernetes.io/arch", "amd64"},
            {"kubernetes.io/os", "linux"},
            {"node.kubernetes.io/instance-type", "fake-it-15"},
            {"karpenter.sh/nodepool", pool_name},
            {TEAM, teams[pool % TEAMS]},
        };
        const struct solver_node node = {.name = name,
                                         .pool = pool_name,
                                         .labels = {labels, 7 + pool % 2},
                                         .taints = {&taint, pool % 5 == 0},
                                         .capacity = {capacity, 3},
                                         .allocatable = {allocatable, 3},
                                         .initialized = true};
        if (!solver_add_node(builder, &node, &number, error))
            return false;
    }
    return true;
}

/* ---- pods ---- */

/* A copy in the arena. */
#define KEEP(arena, type, ...) \
    ((const type *)memcpy(arena_alloc((arena), sizeof(type)), &(type){__VA_ARGS__}, sizeof(type)))

/* A mixture of what workloads ask for; each is told apart by its app label. */
static const struct solver_shape *make_workload(uint32_t index, uint64_t *state,
                                                struct arena *arena)
{
    uint64_t drawn = mix_random(state) >> 8;
    const char **app = ARENA_NEW(arena, const char *);
    *app = arena_printf(arena, "app-%u", index).data;
    struct solver_amount *requests = ARENA_ARRAY(arena, 2, struct solver_amount);
    requests[0] = (struct solver_amount){SOLVER_CPU, 50 + (int64_t)(drawn % 16) * 50};
    requests[1] =
        (struct solver_amount){SOLVER_MEMORY, (128 + (int64_t)(drawn / 16 % 16) * 128) * mib};
    const struct solver_selector selector = {
        SOLVER_SELECTOR_GIVEN,
        {KEEP(arena, struct solver_expression, .key = "app", .op = SOLVER_IN, .values = app,
              .value_count = 1),
         1}};
    const struct solver_expression *volume_zone =
        KEEP(arena, struct solver_expression, .key = ZONE, .op = SOLVER_IN,
             .values = &zones[drawn % ZONES], .value_count = 1);
    struct solver_spread *spreads = ARENA_ARRAY(arena, 2, struct solver_spread);
    spreads[0] =
        (struct solver_spread){.key = ZONE, .max_skew = 1, .hard = true, .selector = selector};
    spreads[1] = (struct solver_spread){.key = HOSTNAME, .max_skew = 2, .selector = selector};
    return KEEP(
        arena, struct solver_shape, .namespace = "default",
        .labels = {KEEP(arena, struct solver_label, "app", *app), 1}, .requests = {requests, 2},
        .node_selector = {KEEP(arena, struct solver_label, TEAM, teams[drawn % TEAMS]),
                          index % 7 == 0},
        .tolerations = KEEP(arena, struct solver_toleration, .key = "dedicated", .exists = true,
                            .value = "", .any_effect = true),
        .toleration_count = index % 4 == 0, .spreads = spreads, .spread_count = index % 3,
        .affinities =
            KEEP(arena, struct solver_pod_affinity, .anti = index % 2, .required = index % 3 != 0,
                 .weight = 100, .key = index % 2 ? HOSTNAME : ZONE, .selector = selector),
        .affinity_count = index % 5 == 0,
        .volumes = KEEP(arena, struct solver_volume,
                        .alternatives = KEEP(arena, struct solver_expressions, volume_zone, 1),
                        .alternative_count = 1),
        .volume_count = index % 11 == 0);
}

static bool add_pod(struct solver_builder *builder, uint32_t index, uint32_t shape, uint32_t node,
                    struct error *error)
{
    char name[32], uid[32];
    uint32_t number;
    snprintf(name, sizeof name, "default/pod-%u", index);
    snprintf(uid, sizeof uid, "%08u", index);
    return solver_add_pod(
        builder, &(struct solver_pod){.name = name, .uid = uid, .shape = shape, .node = node},
        &number, error);
}

bool warm_build(const struct solver_settings *settings, struct arena *arena, struct warm *warm,
                struct error *error)
{
    struct solver_builder *builder = solver_builder_create(arena);
    uint32_t shapes[WARM_WORKLOADS];
    uint64_t state = 42;
    if (!mix_add_types(builder, arena, error) || !add_pools(builder, error) ||
        !add_nodes(builder, error))
        return false;
    for (uint32_t i = 0; i < WARM_WORKLOADS; i++) {
        warm->shapes[i] = make_workload(i, &state, arena);
        if (!solver_add_shape(builder, warm->shapes[i], &shapes[i], error))
            return false;
    }
    for (uint32_t i = 0; i < WARM_PODS; i++)
        if (!add_pod(builder, i, shapes[i % WARM_WORKLOADS],
                     (uint32_t)(mix_random(&state) >> 32) % WARM_NODES, error))
            return false;
    for (uint32_t i = 0; i < WARM_WORKLOADS; i++)
        if (!add_pod(builder, WARM_PODS + i, shapes[i], SOLVER_NONE, error))
            return false;
    return solver_build(builder, settings, &warm->problem, error);
}
