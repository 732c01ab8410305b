/* Prepares what can be bought for many plans. Reading some nine hundred instance types takes longer
 * than the plan of a workload. */
#include "simulation/stock.h"

#include <stdio.h>
#include <string.h>

#include "kube/object.h"
#include "kube/snapshot.h"

enum { RESOURCE_BYTES = 512 }; /* more than a name may have */

static void name_resources(const struct node *amounts, struct solver_builder *builder)
{
    for (size_t i = 0; node_is(amounts, NODE_MAP) && i < node_count(amounts); i++) {
        char name[RESOURCE_BYTES];
        struct text key = member_key(&amounts->members[i]);
        snprintf(name, sizeof name, "%.*s", TEXT_ARGS(key));
        if (key.size < sizeof name)
            (void)solver_builder_resource(builder, name);
    }
}

/* A problem over the stock can have no more resources: those of machines are named, too. */
static void name_resources_of(const struct snapshot *snapshot, enum kind kind,
                              struct solver_builder *builder)
{
    for (size_t i = 0; i < snapshot_count(snapshot, kind); i++) {
        const struct node *root = snapshot_object(snapshot, kind, i)->root->node;
        name_resources(node_at(root, "status.capacity"), builder);
        name_resources(node_at(root, "status.allocatable"), builder);
    }
}

/* Their texts are the snapshot's. */
static void keep_zones(struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->zones.count; i++)
        cluster->zones.items[i] = arena_text(cluster->arena, cluster->zones.items[i]);
}

static void read_cluster(const struct snapshot *snapshot, struct cluster *cluster)
{
    struct problems problems = {.arena = cluster->arena};
    cluster_read_pools(cluster, &problems);
    keep_zones(cluster);
    for (size_t i = 0; i < cluster->pool_count; i++)
        cluster->pools[i].pool = NULL; /* the snapshot's */
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_DAEMON_SET); i++)
        daemon_add(snapshot_object(snapshot, KIND_DAEMON_SET, i), NULL, cluster->arena,
                   &cluster->daemons);
    cluster_read_daemons(cluster, &problems);
}

bool stock_make(const struct snapshot *snapshot, const struct catalog *catalog,
                const struct simulation_settings *settings, struct arena *arena,
                struct stock *stock, struct error *error)
{
    struct cluster cluster = {
        .arena = arena,
        .snapshot = snapshot,
        .catalog = catalog,
        .reserved = settings->reserved,
        .assumes_disks = true,
    };
    struct solver_builder *builder = solver_builder_create(arena);
    read_cluster(snapshot, &cluster);
    if (!cluster_add_supply(&cluster, builder, error) ||
        !cluster_add_daemons(&cluster, builder, error))
        return false;
    name_resources_of(snapshot, KIND_NODE, builder);
    name_resources_of(snapshot, KIND_NODE_CLAIM, builder);
    *stock = (struct stock){
        .catalog = catalog,
        .zones = cluster.zones,
        .pools = cluster.pools,
        .pool_count = cluster.pool_count,
        .types = cluster.types,
        .type_count = cluster.type_count,
        .daemons = cluster.daemons,
        .settings = *settings,
    };
    return solver_build_stock(builder, &settings->solver, &stock->problem, error);
}

/* Plans write into the DaemonSets which number they have in a problem. */
static struct daemons copy_daemons(const struct daemons *daemons, struct arena *arena)
{
    struct daemons copy = {.items = ARENA_ARRAY(arena, daemons->count, struct daemon),
                           .count = daemons->count,
                           .capacity = daemons->count};
    if (daemons->count > 0)
        memcpy(copy.items, daemons->items, daemons->count * sizeof *copy.items);
    return copy;
}

void stock_cluster(const struct stock *stock, const struct snapshot *snapshot, struct arena *arena,
                   struct cluster *cluster)
{
    *cluster = (struct cluster){
        .arena = arena,
        .snapshot = snapshot,
        .catalog = stock->catalog,
        .zones = stock->zones,
        .pools = (struct cluster_pool *)(uintptr_t)stock->pools,
        .pool_count = stock->pool_count,
        .types = (struct cluster_type *)(uintptr_t)stock->types,
        .type_count = stock->type_count,
        .daemons = copy_daemons(&stock->daemons, arena),
        .reserved = stock->settings.reserved,
        .assumes_disks = true,
        .stock = stock->problem,
    };
}
