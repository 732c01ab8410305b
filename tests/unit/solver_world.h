/* A small cluster to place pods in, written in the notation of solver_notation.h. Instance types,
 * prices and overheads are those of Karpenter's fake cloud provider, because the expected results
 * in these tests are Karpenter's own. */
#ifndef TAFFRAIL_UNIT_SOLVER_WORLD_H
#define TAFFRAIL_UNIT_SOLVER_WORLD_H

#include <stdio.h>
#include <string.h>

#include "solver_notation.h"

struct an_offering {
    const char *capacity, *zone;
    int64_t usd_micro; /* 0: follows from the type's resources */
    bool unavailable, free;
    const char *more;        /* resources beyond the type's */
    const char *reservation; /* "r1", or "NotIn r1" */
    const char *labels;      /* "rack=r1"; none beside a reservation */
    uint32_t machines;       /* free instances of the reservation */
    int64_t list_usd_micro;
};
struct a_type {
    const char *name;
    const char *resources; /* cpu 4, memory 4Gi and pods 5 are added when missing */
    const char *arch;      /* NULL: amd64 */
    const char *os;        /* NULL: linux windows darwin */
    const char *requirements;
    const char *attach;  /* "driver 10; other 2" */
    const char *only_of; /* only this pool has this type, and the pool has no other types */
    struct an_offering offerings[8]; /* none: spot in zones 1 and 2, on-demand in 1, 2 and 3 */
    uint32_t number;                 /* of this round */
};
#define OFFER(where_capacity, where_zone, ...)                        \
    {                                                                 \
        .capacity = where_capacity, .zone = where_zone, ##__VA_ARGS__ \
    }
struct a_pool {
    const char *name;
    uint32_t weight;
    const char *requirements, *labels, *taints, *limits;
};
struct a_node {
    const char *name, *pool, *labels, *taints;
    const char *capacity; /* NULL: as allocatable */
    const char *allocatable;
    const char *attach;
    bool uninitialized;
};
struct a_spread {
    const char *key;
    int32_t skew;
    const char *selector;
    int32_t min_domains;
    bool soft, ignore_affinity, honor_taints;
    const char *match_key;
};
#define SPREAD(of_key, at_most, of_pods, ...)                              \
    {                                                                      \
        .key = of_key, .skew = at_most, .selector = of_pods, ##__VA_ARGS__ \
    }
struct an_affinity {
    const char *key, *selector;
    bool anti;
    int32_t weight;         /* 0: required */
    const char *namespaces; /* one namespace */
    const char *namespace_selector;
};
#define NEAR(of_key, of_pods, ...)                        \
    {                                                     \
        .key = of_key, .selector = of_pods, ##__VA_ARGS__ \
    }
#define APART(of_key, of_pods, ...) NEAR(of_key, of_pods, .anti = true, ##__VA_ARGS__)
struct a_volume {
    const char *where; /* alternatives; NULL: anywhere */
    const char *claim; /* NULL: attaches nothing that counts; a '#' becomes the pod's number */
    const char *driver;
    bool binds, local;
};
#define VOLUME(can_be, ...)            \
    {                                  \
        .where = can_be, ##__VA_ARGS__ \
    }
struct a_pod {
    const char *name, *namespace;
    const char *uid; /* NULL: one of its own, later for later pods */
    const char *labels, *requests, *selector, *tolerations;
    const char *required[4], *preferred[4]; /* preferred: "WEIGHT EXPRESSIONS" */
    struct a_spread spreads[3];
    struct an_affinity affinities[17];
    struct a_volume volumes[12];
    struct solver_host_port ports[2];
    const char *node; /* NULL: pending */
    bool daemon, leaving, needs_devices;
    int64_t created_unix_s;
};

struct world_node {
    struct a_node as; /* for a bought NodeClaim: without strings */
    struct solver_labels labels;
    const struct a_type *type; /* for a bought NodeClaim */
    uint32_t number;           /* of this round */
};
struct world_pod {
    struct a_pod as;
    const char *name;
    bool gone;
    uint32_t number; /* of this round, as are the others */
    struct solver_placement place;
    const char *on; /* the node's name; NULL: none */
};
static struct {
    struct arena *arena;
    struct solver_settings settings;
    LIST(struct a_type) types;
    LIST(struct a_pool) pools;
    LIST(struct world_node) nodes;
    LIST(struct solver_label) namespaces; /* name, and labels in the notation */
    LIST(struct a_pod) daemons;
    LIST(struct world_pod) pods;
    uint32_t shuffle; /* the order in which things are added; 0: as written */
    struct solver_builder *builder;
    const struct solver_problem *problem;
    struct solver_run *run;
    const struct solver_plan *plan;
    size_t claims_bought;
    const char *title; /* the case's name in a failure's message */
} world;

struct span {
    size_t first, count;
};

static inline struct span world_pods(size_t count, const struct a_pod *pod)
{
    struct span span = {world.pods.count, count};
    for (size_t i = 0; i < count; i++) {
        size_t number = world.pods.count;
        struct world_pod *added = LIST_PUSH(world.arena, &world.pods);
        added->as = *pod;
        const char *namespace = pod->namespace == NULL ? "default" : pod->namespace;
        added->name = pod->name != NULL && count == 1
                          ? arena_printf(world.arena, "%s/%s", namespace, pod->name).data
                          : arena_printf(world.arena, "%s/pod-%04zu", namespace, number).data;
    }
    return span;
}
static inline size_t world_pod(const struct a_pod *pod)
{
    return world_pods(1, pod).first;
}
#define PODS(count, ...) world_pods((count), &(struct a_pod){__VA_ARGS__})
#define POD(...) world_pod(&(struct a_pod){__VA_ARGS__})
#define DAEMON(...) ((void)(*LIST_PUSH(world.arena, &world.daemons) = (struct a_pod){__VA_ARGS__}))
#define TYPE(...) ((void)(*LIST_PUSH(world.arena, &world.types) = (struct a_type){__VA_ARGS__}))
#define NODE(...) \
    ((void)(*LIST_PUSH(world.arena, &world.nodes) = (struct world_node){.as = {__VA_ARGS__}}))
#define NAMESPACE(...) \
    ((void)(*LIST_PUSH(world.arena, &world.namespaces) = (struct solver_label){__VA_ARGS__}))

/* Adds a pool, or replaces the one of that name. */
static inline void world_pool(const struct a_pool *pool)
{
    for (size_t i = 0; i < world.pools.count; i++)
        if (strcmp(world.pools.items[i].name, pool->name) == 0) {
            world.pools.items[i] = *pool;
            return;
        }
    *LIST_PUSH(world.arena, &world.pools) = *pool;
}
#define POOL(...) world_pool(&(struct a_pool){__VA_ARGS__})

/* An empty cluster with no types. */
static inline void world_empty(void)
{
    arena_destroy(world.arena);
    memset(&world, 0, sizeof world);
    world.arena = arena_create((size_t)2 << 30);
    CU_ASSERT_PTR_NOT_NULL_FATAL(world.arena);
}

/* An empty cluster with the default instance types of Karpenter's fake provider. */
static inline void world_fresh(void)
{
    world_empty();
    TYPE(.name = "default-instance-type");
    TYPE(.name = "small-instance-type", .resources = "cpu 2; memory 2Gi");
    TYPE(.name = "gpu-vendor-instance-type", .resources = "fake.com/vendor-a 2");
    TYPE(.name = "gpu-vendor-b-instance-type", .resources = "fake.com/vendor-b 2");
    TYPE(.name = "arm-instance-type", .arch = "arm64", .os = "ios linux windows darwin",
         .resources = "cpu 16; memory 128Gi");
    TYPE(.name = "single-pod-instance-type", .resources = "pods 1");
}

/* fake-it-0 with 1 cpu, 2Gi and 10 pods, fake-it-1 with twice that, ... */
static inline void world_incrementing(size_t count)
{
    world_empty();
    for (size_t i = 1; i <= count; i++)
        TYPE(.name = arena_printf(world.arena, "fake-it-%zu", i - 1).data,
             .resources =
                 arena_printf(world.arena, "cpu %zu; memory %zuGi; pods %zu", i, 2 * i, 10 * i)
                     .data);
}

/* One type for each combination; its name says which. */
static inline void world_assorted(void)
{
    static const char *const zones[] = {"test-zone-1", "test-zone-2", "test-zone-3"};
    static const char *const capacities[] = {"spot", "on-demand"};
    static const char *const systems[] = {"linux", "windows"};
    static const char *const archs[] = {"amd64", "arm64"};
    world_empty();
    for (size_t i = 0; i < (size_t)7 * 8 * 3 * 2 * 2 * 2; i++) {
        const char *arch = archs[i % 2], *os = systems[i / 2 % 2];
        const char *capacity = capacities[i / 4 % 2], *zone = zones[i / 8 % 3];
        int memory = 1 << i / 24 % 8, cpu = 1 << i / 192;
        TYPE(.name = arena_printf(world.arena, "%d-cpu-%d-mem-%s-%s-%s-%s", cpu, memory, arch, os,
                                  zone, capacity)
                         .data,
             .resources = arena_printf(world.arena, "cpu %d; memory %dGi", cpu, memory).data,
             .arch = arch, .os = os, .offerings = {OFFER(capacity, zone)});
    }
}

/* The i-th of count things in this round's order: an affine permutation. */
static inline size_t world_order(size_t i, size_t count)
{
    static const size_t steps[] = {1, 7919, 104729, 1299709};
    if (world.shuffle == 0 || count == 0)
        return i;
    size_t step = steps[world.shuffle % 4], offset = world.shuffle;
    if (world.shuffle % 2 == 1)
        i = count - 1 - i;
    return (i * (step % count == 0 ? 1 : step) + offset) % count;
}

static inline const struct solver_attach_limit *world_attach(const char *written, size_t *count)
{
    LIST(struct solver_attach_limit) list = {0};
    struct text rest = text_of(written), part, name, value;
    while (notation_next(&rest, ';', &part)) {
        CU_ASSERT_TRUE_FATAL(text_split(part, ' ', &name, &value));
        *LIST_PUSH(world.arena, &list) = (struct solver_attach_limit){
            notation_copy(world.arena, name),
            (uint32_t)atoi(notation_copy(world.arena, value)),
        };
    }
    *count = list.count;
    return list.items;
}

/* The resources of a type with the defaults; allocatable: less its overhead. */
static inline struct solver_amounts world_resources(const struct a_type *type, const char *more,
                                                    bool allocatable)
{
    static const struct {
        const char *name, *amount;
        int64_t overhead;
    } defaults[] = {
        {"cpu", "cpu 4", 100}, {"memory", "memory 4Gi", 10485760}, {"pods", "pods 5", 0}};
    struct text_builder written = {.arena = world.arena};
    text_builder_printf(&written, "%s", type->resources == NULL ? "" : type->resources);
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (type->resources == NULL || strstr(type->resources, defaults[i].name) == NULL)
            text_builder_printf(&written, "; %s", defaults[i].amount);
    if (more != NULL)
        text_builder_printf(&written, "; %s", more);
    struct text text = text_builder_text(&written);
    while (text.size > 0 && (text.data[0] == ';' || text.data[0] == ' '))
        text = (struct text){text.data + 1, text.size - 1};
    struct solver_amounts amounts = notation_amounts(world.arena, world.builder, text.data);
    struct solver_amount *items = ARENA_ARRAY(world.arena, amounts.count, struct solver_amount);
    memcpy(items, amounts.items, amounts.count * sizeof *items);
    for (size_t i = 0; allocatable && i < amounts.count; i++)
        for (size_t j = 0; j < sizeof defaults / sizeof *defaults; j++)
            if (items[i].resource == solver_builder_resource(world.builder, defaults[j].name))
                items[i].quantity -= defaults[j].overhead;
    return (struct solver_amounts){items, amounts.count};
}

static inline int64_t world_amount(struct solver_amounts amounts, const char *name)
{
    for (size_t i = 0; i < amounts.count; i++)
        if (amounts.items[i].resource == solver_builder_resource(world.builder, name))
            return amounts.items[i].quantity;
    return 0;
}

/* As in the fake provider: 0.1 $ for each cpu and each 10^9 bytes, 1 $ for each kind of GPU. */
static inline int64_t world_price(struct solver_amounts capacity)
{
    return world_amount(capacity, "cpu") * 100 + world_amount(capacity, "memory") / 10000 +
           (world_amount(capacity, "fake.com/vendor-a") > 0 ? 1000000 : 0) +
           (world_amount(capacity, "fake.com/vendor-b") > 0 ? 1000000 : 0);
}

static inline size_t world_offerings(const struct a_type *type, struct an_offering *offerings)
{
    static const struct an_offering usual[] = {
        OFFER("spot", "test-zone-1"),      OFFER("spot", "test-zone-2"),
        OFFER("on-demand", "test-zone-1"), OFFER("on-demand", "test-zone-2"),
        OFFER("on-demand", "test-zone-3"),
    };
    size_t count = 0;
    while (count < 8 && type->offerings[count].zone != NULL)
        count++;
    const struct an_offering *from = count == 0 ? usual : type->offerings;
    count = count == 0 ? sizeof usual / sizeof *usual : count;
    memcpy(offerings, from, count * sizeof *from);
    return count;
}

static inline struct solver_expressions world_type_expressions(const struct a_type *type,
                                                               const struct an_offering *offerings,
                                                               size_t count)
{
    struct solver_amounts capacity = world_resources(type, NULL, false);
    int64_t cpu_milli = world_amount(capacity, "cpu");
    bool large = cpu_milli > 4000 && world_amount(capacity, "memory") > 8 * 1073741824LL;
    struct text_builder out = {.arena = world.arena};
    text_builder_printf(&out, "type=%s; arch=%s; os In %s; size=%s; special %s; integer=%lld",
                        type->name, type->arch == NULL ? "amd64" : type->arch,
                        type->os == NULL ? "linux windows darwin" : type->os,
                        large ? "large" : "small", large ? "In optional" : "DoesNotExist",
                        (long long)(cpu_milli + 999) / 1000);
    bool zonal = false;
    for (size_t i = 0; i < count; i++)
        zonal |= offerings[i].zone[0] != '\0';
    if (zonal)
        text_builder_printf(&out, "; zone In");
    for (size_t i = 0; i < count && zonal; i++)
        if (!offerings[i].unavailable)
            text_builder_printf(&out, " %s", offerings[i].zone);
    text_builder_printf(&out, "; capacity In");
    for (size_t i = 0; i < count; i++)
        if (!offerings[i].unavailable)
            text_builder_printf(&out, " %s", offerings[i].capacity);
    if (type->requirements != NULL)
        text_builder_printf(&out, "; %s", type->requirements);
    return notation_expressions(world.arena, text_builder_text(&out).data);
}

static inline void world_add_type(struct a_type *type)
{
    struct an_offering offerings[8];
    size_t count = world_offerings(type, offerings);
    struct solver_offering *sold = ARENA_ARRAY(world.arena, count, struct solver_offering);
    struct solver_instance_type added = {
        .name = type->name,
        .node_class = type->only_of,
        .requirements = world_type_expressions(type, offerings, count),
        .capacity = world_resources(type, NULL, false),
        .allocatable = world_resources(type, NULL, true),
        .offerings = sold,
        .offering_count = count,
    };
    added.attach_limits = world_attach(type->attach, &added.attach_limit_count);
    for (size_t i = 0; i < count; i++) {
        sold[i] = (struct solver_offering){
            .zone = offerings[i].zone,
            .capacity_type = offerings[i].capacity,
            .price_usd_micro = offerings[i].free             ? 0
                               : offerings[i].usd_micro != 0 ? offerings[i].usd_micro
                                                             : world_price(added.capacity),
            .available = !offerings[i].unavailable,
        };
        sold[i].reservation_capacity = offerings[i].machines;
        sold[i].list_price_usd_micro = offerings[i].list_usd_micro;
        if (offerings[i].reservation != NULL)
            sold[i].more = notation_expressions(
                world.arena,
                arena_printf(world.arena, "reservation %s%s",
                             strchr(offerings[i].reservation, ' ') == NULL ? "In " : "",
                             offerings[i].reservation)
                    .data);
        if (offerings[i].labels != NULL)
            sold[i].more = notation_expressions(world.arena, offerings[i].labels);
        if (offerings[i].more != NULL) {
            struct solver_amounts *own = ARENA_NEW(world.arena, struct solver_amounts);
            *own = world_resources(type, offerings[i].more, true);
            sold[i].allocatable = own;
        }
    }
    struct error error;
    bool good = solver_add_type(world.builder, &added, &type->number, &error);
    CU_ASSERT_TRUE_FATAL(good);
}

/* The types of a pool: those that only it has, or else those without a pool of their own. */
static inline const uint32_t *world_pool_types(const char *pool, size_t *count)
{
    LIST(uint32_t) own = {0}, common = {0};
    for (size_t i = 0; i < world.types.count; i++) {
        const struct a_type *type = &world.types.items[i];
        if (type->only_of == NULL)
            *LIST_PUSH(world.arena, &common) = type->number;
        else if (strcmp(type->only_of, pool) == 0)
            *LIST_PUSH(world.arena, &own) = type->number;
    }
    *count = own.count > 0 ? own.count : common.count;
    if (own.count == 0 && common.count == world.types.count)
        return NULL;
    return own.count > 0 ? own.items : common.items;
}

static inline void world_add_pool(const struct a_pool *pool)
{
    struct solver_pool added = {
        .name = pool->name,
        .weight = pool->weight,
        .requirements = notation_expressions(world.arena, pool->requirements),
        .labels = notation_labels(world.arena, pool->labels),
        .taints = notation_taints(world.arena, pool->taints),
        .limits = notation_amounts(world.arena, world.builder, pool->limits),
    };
    added.types = world_pool_types(pool->name, &added.type_count);
    uint32_t number;
    struct error error;
    bool good = solver_add_pool(world.builder, &added, &number, &error);
    CU_ASSERT_TRUE_FATAL(good);
}

static inline void world_add_node(struct world_node *node)
{
    const struct a_node *as = &node->as;
    struct solver_node added = {
        .name = as->name,
        .pool = as->pool,
        .labels = node->labels,
        .taints = notation_taints(world.arena, as->taints),
        .initialized = !as->uninitialized,
    };
    const char *attach = as->attach;
    if (node->type != NULL) {
        added.capacity = world_resources(node->type, NULL, false);
        added.allocatable = world_resources(node->type, NULL, true);
        attach = attach == NULL ? node->type->attach : attach;
    } else {
        added.labels = notation_labels(world.arena, as->labels);
        added.allocatable = notation_amounts(world.arena, world.builder, as->allocatable);
        added.capacity = as->capacity == NULL
                             ? added.allocatable
                             : notation_amounts(world.arena, world.builder, as->capacity);
    }
    added.attach_limits = world_attach(attach, &added.attach_limit_count);
    struct error error;
    bool good = solver_add_node(world.builder, &added, &node->number, &error);
    CU_ASSERT_TRUE_FATAL(good);
}

#endif
