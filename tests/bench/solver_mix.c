/* The pods of Karpenter's scheduling benchmark, and the types they may be placed on. */
#include "solver_mix.h"

#include <stdio.h>

enum { TYPE_COUNT = 400, MEMORY_OVERHEAD_MIB = 10, CPU_OVERHEAD_MILLI = 100 };

static const int64_t mib = (int64_t)1 << 20, gib = (int64_t)1 << 30;

#define ZONE "topology.kubernetes.io/zone"
#define HOSTNAME "kubernetes.io/hostname"
#define CAPACITY_TYPE "karpenter.sh/capacity-type"

/* What pods of a kind are told apart by, and what their term is about. */
static const struct kind {
    const char *name, *label_key, *topology_key;
} kinds[MIX_KIND_COUNT] = {
    [MIX_GENERIC] = {"generic", "my-label", NULL},
    [MIX_ZONE_SPREAD] = {"zone-spread", "my-label", ZONE},
    [MIX_HOST_SPREAD] = {"host-spread", "my-label", HOSTNAME},
    [MIX_ZONE_AFFINITY] = {"zone-affinity", "my-affinity", ZONE},
    [MIX_HOST_ANTI] = {"host-anti", "app", HOSTNAME},
};

/* ---- the pods ---- */

uint64_t mix_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545f4914f6cdd1d;
}

static size_t draw(uint64_t *state, size_t count)
{
    return (size_t)((mix_random(state) >> 32) % count);
}

void mix_make(struct mix *mix, size_t count, uint64_t seed, struct arena *arena)
{
    static const char *const values[] = {"a", "b", "c", "d", "e", "f", "g"};
    static const int64_t cpu_milli[] = {100, 250, 500, 1000, 1500};
    static const int64_t memory_mib[] = {100, 256, 512, 1024, 2048, 4096};
    uint64_t state = seed;
    for (size_t i = 0; i < count; i++) {
        size_t kind = count < MIX_KIND_COUNT ? MIX_GENERIC : i / (count / MIX_KIND_COUNT);
        if (kind >= MIX_KIND_COUNT)
            kind = MIX_GENERIC;
        const char *label = values[draw(&state, sizeof values / sizeof values[0])];
        const char *selected = values[draw(&state, sizeof values / sizeof values[0])];
        if (kind == MIX_HOST_ANTI)
            label = "nginx";
        if (kind == MIX_HOST_ANTI || kind == MIX_ZONE_AFFINITY)
            selected = label;
        *LIST_PUSH(arena, mix) = (struct mix_pod){
            .cpu_milli = cpu_milli[draw(&state, sizeof cpu_milli / sizeof cpu_milli[0])],
            .memory_mib = memory_mib[draw(&state, sizeof memory_mib / sizeof memory_mib[0])],
            .kind = (enum mix_kind)kind,
            .label_key = kinds[kind].label_key,
            .label_value = label,
            .selected = selected,
        };
    }
}

/* What stands before the next separator, which *rest then goes on after. */
static struct text next_part(struct text *rest, char separator)
{
    struct text part;
    if (!text_split(*rest, separator, &part, rest)) {
        part = *rest;
        *rest = (struct text){0};
    }
    return part;
}

static bool read_pod(struct text line, struct arena *arena, struct mix_pod *pod)
{
    struct text kind, key, value;
    if (!text_to_int64(next_part(&line, ' '), &pod->cpu_milli) ||
        !text_to_int64(next_part(&line, ' '), &pod->memory_mib))
        return false;
    kind = next_part(&line, ' ');
    if (!text_split(next_part(&line, ' '), '=', &key, &value))
        return false;
    pod->label_key = arena_text(arena, key).data;
    pod->label_value = arena_text(arena, value).data;
    pod->selected = arena_text(arena, next_part(&line, ' ')).data;
    for (size_t i = 0; i < MIX_KIND_COUNT; i++)
        if (text_is(kind, kinds[i].name)) {
            pod->kind = (enum mix_kind)i;
            return line.size == 0;
        }
    return false;
}

bool mix_read(struct mix *mix, const char *path, struct arena *arena, struct error *error)
{
    struct text rest;
    if (!file_read(path, (size_t)1 << 28, arena, &rest, error))
        return false;
    for (uint32_t number = 1; rest.size > 0; number++) {
        struct text line = next_part(&rest, '\n');
        if (line.size == 0 || line.data[0] == '#')
            continue;
        if (!read_pod(line, arena, LIST_PUSH(arena, mix)))
            return error_set(error, ERROR_INPUT, ((struct place){path, number, 1}),
                             "\"%.*s\" is not a pod: CPU_MILLI MEMORY_MIB KIND KEY=VALUE SELECTED",
                             TEXT_ARGS(line));
    }
    return true;
}

/* ---- what they may be placed on ---- */

/* In one of the values. */
static struct solver_expression in(const char *key, const char *const *values, size_t count)
{
    return (struct solver_expression){
        .key = key, .op = SOLVER_IN, .values = values, .value_count = count};
}

static bool add_type(struct solver_builder *builder, int64_t index, struct arena *arena,
                     struct error *error)
{
    static const char *const architectures[] = {"amd64"};
    static const char *const systems[] = {"darwin", "linux", "windows"};
    static const char *const zones[] = {"test-zone-1", "test-zone-2", "test-zone-3"};
    static const char *const capacity_types[] = {"on-demand", "spot"};
    const int64_t cores = index + 1, memory = 2 * cores * gib, pods = 10 * cores;
    const char *name = arena_printf(arena, "fake-it-%lld", (long long)index).data;
    const struct solver_expression requirements[] = {
        in("node.kubernetes.io/instance-type", &name, 1),
        in("kubernetes.io/arch", architectures, 1),
        in("kubernetes.io/os", systems, 3),
        in(ZONE, zones, 3),
        in(CAPACITY_TYPE, capacity_types, 2),
    };
    struct solver_offering offerings[5];
    for (size_t i = 0; i < 5; i++)
        offerings[i] = (struct solver_offering){
            .zone = zones[i < 2 ? i : i - 2],
            .capacity_type = capacity_types[i < 2],
            .price_usd_micro = 100000 * cores + memory / 10000,
            .available = true,
        };
    const struct solver_amount capacity[] = {
        {SOLVER_CPU, 1000 * cores}, {SOLVER_MEMORY, memory}, {SOLVER_PODS, pods}};
    const struct solver_amount allocatable[] = {{SOLVER_CPU, 1000 * cores - CPU_OVERHEAD_MILLI},
                                                {SOLVER_MEMORY, memory - MEMORY_OVERHEAD_MIB * mib},
                                                {SOLVER_PODS, pods}};
    uint32_t number;
    return solver_add_type(builder,
                           &(struct solver_instance_type){.name = name,
                                                          .requirements = {requirements, 5},
                                                          .capacity = {capacity, 3},
                                                          .allocatable = {allocatable, 3},
                                                          .offerings = offerings,
                                                          .offering_count = 5},
                           &number, error);
}

bool mix_add_types(struct solver_builder *builder, struct arena *arena, struct error *error)
{
    for (int64_t i = 0; i < TYPE_COUNT; i++)
        if (!add_type(builder, i, arena, error))
            return false;
    return true;
}

static bool add_supply(struct solver_builder *builder, struct arena *arena, struct error *error)
{
    /* Ten times the benchmark's own, which 100,000 pods would reach. */
    const struct solver_amount limits[] = {{SOLVER_CPU, (int64_t)100000000 * 1000},
                                           {SOLVER_MEMORY, 100000000 * gib}};
    uint32_t number;
    return mix_add_types(builder, arena, error) &&
           solver_add_pool(builder, &(struct solver_pool){.name = "default", .limits = {limits, 2}},
                           &number, error);
}

static bool add_pod(struct solver_builder *builder, const struct mix_pod *pod, size_t index,
                    size_t *shape_count, struct error *error)
{
    const struct kind *kind = &kinds[pod->kind];
    const struct solver_label label = {pod->label_key, pod->label_value};
    const struct solver_amount requests[] = {{SOLVER_CPU, pod->cpu_milli},
                                             {SOLVER_MEMORY, pod->memory_mib * mib}};
    const struct solver_expression selects = in(kind->label_key, &pod->selected, 1);
    const struct solver_selector selector = {.kind = SOLVER_SELECTOR_GIVEN,
                                             .expressions = {&selects, 1}};
    const struct solver_spread spread = {
        .key = kind->topology_key, .max_skew = 1, .hard = true, .selector = selector};
    const struct solver_pod_affinity affinity = {.anti = pod->kind == MIX_HOST_ANTI,
                                                 .required = true,
                                                 .key = kind->topology_key,
                                                 .selector = selector};
    bool spreads = pod->kind == MIX_ZONE_SPREAD || pod->kind == MIX_HOST_SPREAD;
    bool gathers = pod->kind == MIX_ZONE_AFFINITY || pod->kind == MIX_HOST_ANTI;
    uint32_t shape, number;
    if (!solver_add_shape(builder,
                          &(struct solver_shape){.namespace = "default",
                                                 .labels = {&label, 1},
                                                 .requests = {requests, 2},
                                                 .spreads = &spread,
                                                 .spread_count = spreads,
                                                 .affinities = &affinity,
                                                 .affinity_count = gathers},
                          &shape, error))
        return false;
    if (shape >= *shape_count)
        *shape_count = shape + 1;
    char name[32], uid[32];
    snprintf(name, sizeof name, "default/p-%zu", index);
    snprintf(uid, sizeof uid, "%08zu", index);
    return solver_add_pod(
        builder,
        &(struct solver_pod){.name = name, .uid = uid, .shape = shape, .node = SOLVER_NONE},
        &number, error);
}

bool mix_build(const struct mix *mix, const struct solver_settings *settings, struct arena *arena,
               const struct solver_problem **problem, size_t *shape_count, struct error *error)
{
    struct solver_builder *builder = solver_builder_create(arena);
    *shape_count = 0;
    if (!add_supply(builder, arena, error))
        return false;
    for (size_t i = 0; i < mix->count; i++)
        if (!add_pod(builder, &mix->items[i], i, shape_count, error))
            return false;
    return solver_build(builder, settings, problem, error);
}
