/* Pods that are too large for any instance type, whatever NodePools there are. */
#include "kube/device.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "policy/launchable.h"
#include "policy/rails/instance_list.h"
#include "policy/rails/placeable.h"
#include "simulation/amounts.h"
#include "simulation/supply.h"

#define MIB ((int64_t)1 << 20)
#define GPU "nvidia.com/gpu"

/* What tells types apart, and what a pod asks of one machine. */
struct size {
    int64_t cpu_milli, memory_mib, gpus;
    device_set devices;
};

static int64_t whole_mib(int64_t bytes)
{
    return bytes / MIB + (bytes % MIB != 0);
}

static bool read_size(const struct placing *placing, struct size *size)
{
    const struct rail_call *call = placing->call;
    struct named_amounts requests;
    struct error error;
    if (!pod_requests_read(call->world->snapshot, &placing->workload, call->arena, &requests,
                           &error))
        return false;
    *size = (struct size){
        .cpu_milli = named_amount_of(&requests, "cpu"),
        .memory_mib = whole_mib(named_amount_of(&requests, "memory")),
        .gpus = named_amount_of(&requests, GPU),
    };
    for (size_t i = 0; i < requests.count; i++) {
        enum device device = device_of_resource(text_of(requests.items[i].resource));
        if (device != DEVICE_COUNT)
            size->devices |= DEVICE_BIT(device);
    }
    return true;
}

/* What a type may have whose hardware the catalogue does not know. */
static struct size guessed_size(const struct instance_type *type)
{
    enum { MOST_CPU = 2048, MOST_MIB = 32 << 20, MOST_GPUS = 16 };
    int64_t cpu = instance_cpu_of_size(type->size);
    int64_t memory_mib = instance_memory_mib_at_most(type->category, cpu);
    if (cpu > MOST_CPU || memory_mib == 0)
        return (struct size){
            .cpu_milli = (int64_t)MOST_CPU * 1000, .memory_mib = MOST_MIB, .gpus = MOST_GPUS};
    return (struct size){.cpu_milli = cpu * 1000, .memory_mib = memory_mib};
}

static struct size size_of(const struct instance_type *type)
{
    if (type->cpu == 0)
        return guessed_size(type);
    bool nvidia = (type->devices & DEVICE_BIT(DEVICE_NVIDIA)) != 0;
    return (struct size){
        .cpu_milli = (int64_t)type->cpu * 1000,
        .memory_mib = (int64_t)type->memory_mib,
        .gpus = nvidia ? type->gpu_count : 0,
    };
}

static bool holds(const struct size *has, const struct size *wanted)
{
    return has->cpu_milli >= wanted->cpu_milli && has->memory_mib >= wanted->memory_mib &&
           has->gpus >= wanted->gpus;
}

/* As of type_set_next; types NULL: of all. */
static size_t next_type(const struct catalog *catalog, const struct type_set *types, size_t index)
{
    if (types != NULL)
        return type_set_next(types, index);
    return index < catalog_count(catalog) ? index : SIZE_MAX;
}

/* The most of each that a type of the set has; false: some type may hold all that is wanted. types
 * NULL: of all. */
static bool is_too_large(const struct catalog *catalog, const struct type_set *types,
                         const struct size *wanted, struct size *most)
{
    *most = (struct size){0};
    for (size_t i = next_type(catalog, types, 0); i != SIZE_MAX;
         i = next_type(catalog, types, i + 1)) {
        const struct instance_type *type = catalog_type(catalog, i);
        const struct size has = size_of(type);
        if (holds(&has, wanted))
            return false;
        if (type->cpu == 0)
            continue;
        most->cpu_milli = has.cpu_milli > most->cpu_milli ? has.cpu_milli : most->cpu_milli;
        most->memory_mib = has.memory_mib > most->memory_mib ? has.memory_mib : most->memory_mib;
        most->gpus = has.gpus > most->gpus ? has.gpus : most->gpus;
    }
    return most->cpu_milli > 0;
}

/* ---- words ---- */

static struct text cpu_text(int64_t milli, struct arena *arena)
{
    return milli % 1000 == 0 ? arena_printf(arena, "%lld cpu", (long long)(milli / 1000))
                             : arena_printf(arena, "%lldm cpu", (long long)milli);
}

static struct text memory_text(int64_t mib, struct arena *arena)
{
    return mib % 1024 == 0 ? arena_printf(arena, "%lldGi memory", (long long)(mib / 1024))
                           : arena_printf(arena, "%lldMi memory", (long long)mib);
}

/* "200 cpu", or what only together is too much: "90 cpu and 900Gi memory". */
static struct text size_text(const struct size *size, const struct size *most, struct arena *arena)
{
    struct text_builder text = {.arena = arena};
    bool cpu = size->cpu_milli > most->cpu_milli, memory = size->memory_mib > most->memory_mib,
         gpus = size->gpus > most->gpus, together = !cpu && !memory && !gpus;
    if (cpu || (together && size->cpu_milli > 0))
        text_builder_add(&text, cpu_text(size->cpu_milli, arena));
    if (memory || (together && size->memory_mib > 0))
        text_builder_printf(&text, "%s%.*s", text.size > 0 ? " and " : "",
                            TEXT_ARGS(memory_text(size->memory_mib, arena)));
    if (gpus || (together && size->gpus > 0))
        text_builder_printf(&text, "%s%lld " GPU, text.size > 0 ? " and " : "",
                            (long long)size->gpus);
    return text_builder_text(&text);
}

/* "Ask for less than 32 cpu": of what alone is too much, what there is. */
static struct text limit_text(const struct size *size, const struct size *most, struct arena *arena)
{
    const struct size over = {
        .cpu_milli = size->cpu_milli > most->cpu_milli ? most->cpu_milli : 0,
        .memory_mib = size->memory_mib > most->memory_mib ? most->memory_mib : 0,
        .gpus = size->gpus > most->gpus ? most->gpus : 0,
    };
    const struct size none = {0};
    if (over.cpu_milli == 0 && over.memory_mib == 0 && over.gpus == 0)
        return TEXT("Ask for less");
    /* A node keeps some cpu and memory for itself, but no GPU. */
    bool only_gpus = over.cpu_milli == 0 && over.memory_mib == 0;
    return arena_printf(arena, "Ask for %s %.*s", only_gpus ? "at most" : "less than",
                        TEXT_ARGS(size_text(&over, &none, arena)));
}

/* Those of the policy's instance-types; NULL: all. Where a list has no types with such
 * accelerators, who runs them has an exception. */
static const struct type_set *allowed_types(const struct rail_call *call, const struct size *wanted)
{
    const struct instance_list *list = rail_settings(call, &rail_instance_types);
    return list != NULL && !type_set_is_empty(&list->possible) &&
                   (wanted->devices & ~list->devices) == 0
               ? &list->possible
               : NULL;
}

static struct text size_fix(const struct rail_call *call, const struct size *size,
                            const struct size *most, bool by_list)
{
    struct text less = limit_text(size, most, call->arena);
    if (!by_list)
        return arena_printf(call->arena, "%.*s, or split the work over more pods.",
                            TEXT_ARGS(less));
    struct text ask = instance_ask_for_exception(call);
    return arena_printf(call->arena, "%.*s, or a%.*s.", TEXT_ARGS(less), (int)(ask.size - 1),
                        ask.data + 1);
}

bool placeable_report_size(const struct placing *placing)
{
    struct rail_call *call = placing->call;
    struct size size, most;
    /* Which types have what resourceClaims ask for the catalogue does not tell. */
    if (workload_claims_devices(&placing->workload) || !read_size(placing, &size))
        return false;
    const struct type_set *types = allowed_types(call, &size);
    if (!is_too_large(call->world->catalog, types, &size, &most))
        return false;
    struct text statement = arena_printf(
        call->arena, "No %sinstance type has %.*s, so %s.", types != NULL ? "allowed " : "",
        TEXT_ARGS(size_text(&size, &most, call->arena)),
        call->object->kind == KIND_DAEMON_SET ? "this DaemonSet runs on no new node"
        : call->object->kind == KIND_POD      ? "this pod would stay Pending"
                                              : "these pods would stay Pending");
    report_with(call, .field = placing->workload.spec, .statement = statement,
                .fault = TEXT(RUNS_NOWHERE), .fix = size_fix(call, &size, &most, types != NULL));
    return true;
}

/* ---- DaemonSets ---- */

/* Karpenter buys no type on which the DaemonSets of its nodes leave no room. */
static bool leaves_no_room(const struct placing *placing, const struct pool *pool,
                           const struct size *size, struct size *most)
{
    struct rail_call *call = placing->call;
    const struct catalog *catalog = call->world->catalog;
    const struct launchable *launchable = pool_launchable(call, pool);
    return launchable->covered && launchable->count > 0 && pool_makes_nodes(pool) &&
           is_too_large(catalog, &launchable->types, size, most) &&
           pool_takes(catalog, pool, &placing->workload, call->arena);
}

static void judge_pool(const struct placing *placing, const struct pool *pool,
                       const struct size *size)
{
    struct rail_call *call = placing->call;
    struct size most;
    if (!leaves_no_room(placing, pool, size, &most))
        return;
    report_with(call, .field = placing->workload.spec, .found = pool->object->name,
                .statement = arena_printf(
                    call->arena,
                    "No instance type of NodePool %.*s has %.*s, so Karpenter buys no node there "
                    "while this DaemonSet asks for it.",
                    TEXT_ARGS(pool->object->name), TEXT_ARGS(size_text(size, &most, call->arena))),
                .fault = TEXT("The DaemonSet leaves no room on the NodePool's nodes."),
                .fix = arena_printf(call->arena,
                                    "%.*s, or keep its pods off NodePool %.*s with node affinity.",
                                    TEXT_ARGS(limit_text(size, &most, call->arena)),
                                    TEXT_ARGS(pool->object->name)));
}

void placeable_judge_daemon_set(const struct placing *placing)
{
    const struct snapshot *snapshot = placing->call->world->snapshot;
    struct size size;
    if (!read_size(placing, &size) || placeable_report_size(placing))
        return;
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++)
        judge_pool(placing, snapshot_pool(snapshot, i), &size);
}

bool placeable_tells_daemon_set(struct rail_call *call, const struct workload *daemon,
                                const struct pool *pool)
{
    const struct placing placing = {.call = call, .workload = *daemon};
    struct size size, most;
    return rail_settings(call, &rail_placeable) != NULL && read_size(&placing, &size) &&
           leaves_no_room(&placing, pool, &size, &most);
}
