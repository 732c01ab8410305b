/* Makes the supply of a cluster, and says which changes of the cluster make another one
 * necessary. */
#include <stdlib.h>

#include "kube/object.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "kube/volume_zones.h"
#include "simulation/cluster.h"
#include "simulation/owner.h"
#include "simulation/stock.h"
#include "simulation/supply_internal.h"
#include "solver/well_known.h"

enum {
    SUPPLY_BYTES = 256 << 20,
    READING_BYTES = 1 << 30,
    ASKING_BYTES = 16 << 20, /* for one question */
};

/* ---- reading the cluster ---- */

/* Attached volumes and free reservations depend on running pods, so they do not count. */
static void read_cluster(const struct supply *supply, const struct snapshot *snapshot,
                         struct arena *arena, struct cluster *cluster)
{
    struct problems problems = {.arena = arena};
    cluster_read_supply(snapshot, supply->catalog, arena, cluster, &problems);
    cluster->reserved =
        (struct reserved_capacity){.off = supply->settings.no_reserved_capacity, .uncounted = true};
    for (size_t i = 0; i < cluster->state_nodes.count; i++)
        cluster->state_nodes.items[i].attach_limit_count = 0;
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_DAEMON_SET); i++)
        daemon_add(snapshot_object(snapshot, KIND_DAEMON_SET, i), NULL, arena, &cluster->daemons);
    cluster_read_daemons(cluster, &problems);
}

static bool make_problem(struct supply *supply, struct cluster *cluster)
{
    struct solver_settings settings = karpenter_solver_settings(&supply->settings);
    struct solver_builder *builder = solver_builder_create(supply->arena);
    struct error error;
    return cluster_add_supply(cluster, builder, &error) &&
           cluster_add_daemons(cluster, builder, &error) &&
           solver_build(builder, &settings, &supply->problem, &error);
}

/* Sorted by name. */
static void name_zones(struct supply *supply)
{
    const struct solver_names *names = solver_problem_names(supply->problem);
    uint32_t key = solver_names_find_key(names, LABEL_ZONE, sizeof LABEL_ZONE - 1);
    size_t count = key == SOLVER_NONE ? 0 : solver_names_value_count(names, key);
    struct zones *zones = &supply->zones;
    zones->items = ARENA_ARRAY(supply->arena, count, struct text);
    for (uint32_t i = 0; i < count; i++) {
        struct text name;
        name.data = solver_names_value_text(names, key, i, &name.size);
        if (name.size > 0)
            zones->items[zones->count++] = name;
    }
    zones->capacity = zones->count;
    texts_sort(zones->items, zones->count);
}

static void find_reached(struct supply *supply, const struct snapshot *snapshot,
                         struct arena *scratch)
{
    struct zones reached = {0};
    const struct pod_requirements none = pod_requirements_none(supply->catalog, scratch);
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++)
        if (pool_makes_nodes(snapshot_pool(snapshot, i)))
            pool_add_zones(snapshot, snapshot_pool(snapshot, i), &none, &supply->zones, &reached);
    for (size_t i = 0; i < reached.count; i++)
        zones_add(&supply->reached, reached.items[i], supply->arena);
}

/* Asks one question of each run, which prepares it for all others. */
static bool make_runs(struct supply *supply, struct arena *scratch)
{
    const struct solver_shape any = {.namespace = ""};
    const struct solver_question question = {.shape = &any};
    for (size_t i = 0; i < SUPPLY_RUNS; i++) {
        struct solver_answer answer;
        supply->runs[i].run = solver_run_create(supply->problem, supply->arena);
        if (!solver_query(supply->runs[i].run, &question, scratch, &answer, NULL))
            return false;
    }
    return true;
}

static bool make_stock(struct supply *supply, const struct snapshot *snapshot)
{
    const struct simulation_settings settings = simulation_settings_of(&supply->settings);
    struct stock *stock = ARENA_NEW(supply->arena, struct stock);
    struct error error;
    supply->stock = stock;
    return stock_make(snapshot, supply->catalog, &settings, supply->arena, stock, &error);
}

struct making {
    struct supply *supply;
    const struct snapshot *snapshot;
    struct arena *scratch;
    bool plans, made;
};

static void make(void *argument)
{
    struct making *making = argument;
    struct supply *supply = making->supply;
    struct cluster cluster;
    read_cluster(supply, making->snapshot, making->scratch, &cluster);
    if (!make_problem(supply, &cluster))
        return;
    name_zones(supply);
    find_reached(supply, making->snapshot, making->scratch);
    cache_create(&supply->cache, supply->arena);
    making->made = (!making->plans || make_stock(supply, making->snapshot)) &&
                   make_runs(supply, making->scratch);
}

static void make_within_both(void *argument)
{
    struct making *making = argument;
    struct error error;
    making->made = arena_guard(making->scratch, make, making, &error) && making->made;
}

/* ---- creating and holding it ---- */

static void destroy(struct supply *supply)
{
    for (size_t i = 0; i < SUPPLY_RUNS; i++)
        arena_destroy(supply->runs[i].arena);
    arena_destroy(supply->arena);
    free(supply);
}

static bool take_memory(struct supply *supply)
{
    bool taken = (supply->arena = arena_create(SUPPLY_BYTES)) != NULL;
    for (size_t i = 0; i < SUPPLY_RUNS; i++)
        taken &= (supply->runs[i].arena = arena_create(ASKING_BYTES)) != NULL;
    return taken;
}

const struct supply *supply_create(const struct snapshot *snapshot, const struct catalog *catalog,
                                   const struct karpenter_settings *settings, bool plans)
{
    bool nothing_there =
        snapshot_pool_count(snapshot) == 0 && snapshot_count(snapshot, KIND_NODE) == 0;
    struct supply *supply = nothing_there ? NULL : calloc(1, sizeof *supply);
    if (supply == NULL)
        return NULL;
    atomic_init(&supply->holds, 1);
    supply->catalog = catalog;
    if (settings != NULL)
        supply->settings = *settings;
    struct making making = {supply, snapshot, arena_create(READING_BYTES), plans, false};
    struct error error;
    bool made = take_memory(supply) && making.scratch != NULL &&
                arena_guard(supply->arena, make_within_both, &making, &error) && making.made;
    arena_destroy(making.scratch);
    if (made)
        return supply;
    destroy(supply);
    return NULL;
}

/* Only the count of holders changes; the supply itself does not. */
static struct supply *counted(const struct supply *supply)
{
    return (struct supply *)(uintptr_t)supply;
}

const struct supply *supply_hold(const struct supply *supply)
{
    if (supply != NULL)
        atomic_fetch_add(&counted(supply)->holds, 1);
    return supply;
}

void supply_release(const struct supply *supply)
{
    if (supply != NULL && atomic_fetch_sub(&counted(supply)->holds, 1) == 1)
        destroy(counted(supply));
}

size_t supply_bytes(const struct supply *supply)
{
    size_t bytes = arena_used_bytes(supply->arena);
    for (size_t i = 0; i < SUPPLY_RUNS; i++)
        bytes += arena_used_bytes(supply->runs[i].arena);
    return bytes;
}

/* ---- which changes make another supply ---- */

static bool have_all(const struct zones *zones, const struct zones *wanted)
{
    for (size_t i = 0; i < wanted->count; i++)
        if (!zones_have(zones, wanted->items[i]))
            return false;
    return true;
}

static void zones_of_volume(const struct snapshot *snapshot, const struct object *volume,
                            struct arena *arena, struct zones *zones)
{
    if (volume != NULL)
        volume_add_zones(snapshot, volume, arena, zones);
}

struct dependence {
    const struct supply *supply;
    const struct snapshot *snapshot;
    const struct object *before, *after;
    struct arena *arena;
    bool depends;
};

/* A volume counts when it names a zone that is new, or that nothing else may name. */
static void compare_zones(void *argument)
{
    struct dependence *dependence = argument;
    struct zones before = {0}, after = {0};
    zones_of_volume(dependence->snapshot, dependence->before, dependence->arena, &before);
    zones_of_volume(dependence->snapshot, dependence->after, dependence->arena, &after);
    dependence->depends = !have_all(&dependence->supply->zones, &after) ||
                          (!have_all(&after, &before) &&
                           !have_all(snapshot_node_zones(dependence->snapshot), &before));
}

static bool depends_on_volume(struct dependence *dependence)
{
    enum { VOLUME_BYTES = 1 << 20 };
    struct error error;
    dependence->arena = arena_create(VOLUME_BYTES);
    bool known = dependence->arena != NULL &&
                 arena_guard(dependence->arena, compare_zones, dependence, &error);
    arena_destroy(dependence->arena);
    return !known || dependence->depends;
}

bool supply_depends_on(const struct supply *supply, const struct snapshot *snapshot, enum kind kind,
                       const struct object *before, const struct object *after)
{
    struct dependence dependence = {supply, snapshot, before, after, NULL, false};
    switch (kind) {
    case KIND_NODE_POOL:
    case KIND_PROVISIONER:
    case KIND_EC2_NODE_CLASS:
    case KIND_DAEMON_SET:
    case KIND_LIMIT_RANGE: /* for the requests of DaemonSets' pods */
    case KIND_STORAGE_CLASS:
    case KIND_NODE:
    case KIND_NODE_CLAIM:
        return true;
    case KIND_PERSISTENT_VOLUME:
        return depends_on_volume(&dependence);
    default:
        return false;
    }
}
