/* What a drill takes away from a cluster, and what that did. */
#include "simulation/drill.h"

#include <string.h>

#include "catalog/catalog.h"
#include "catalog/usd.h"
#include "kube/object.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "kube/to_solver.h"
#include "kube/volume_zones.h"
#include "simulation/cluster.h"
#include "simulation/node_claims.h"
#include "simulation/simulation.h"
#include "simulation/supply.h"
#include "simulation/volume_claims.h"
#include "solver/well_known.h"

static bool has(const struct text_list *list, const char *item)
{
    return item != NULL && texts_have(list->items, list->count, text_of(item));
}

/* ---- names that the cluster does not have ---- */

enum { MOST_NAMED = 8 };

static struct text_list pool_names(const struct cluster *cluster)
{
    struct text_list names = {0};
    for (size_t i = 0; i < snapshot_pool_count(cluster->snapshot); i++)
        *LIST_PUSH(cluster->arena, &names) = snapshot_pool(cluster->snapshot, i)->object->name;
    return names;
}

/* Where the cluster names no zone, those in which the catalogue sells its first type. */
static struct text_list zone_names(const struct cluster *cluster)
{
    struct text_list names = {0};
    for (size_t i = 0; i < cluster->zones.count; i++)
        *LIST_PUSH(cluster->arena, &names) = cluster->zones.items[i];
    if (names.count > 0 || catalog_count(cluster->catalog) == 0)
        return names;
    struct catalog_offerings offerings =
        catalog_type_offerings(cluster->catalog, 0, &cluster->zones, cluster->arena);
    FOR_EACH(offering, &offerings)
        if (!has(&names, offering->zone))
            *LIST_PUSH(cluster->arena, &names) = text_of(offering->zone);
    return names;
}

static void check_names(const struct cluster *cluster, const struct text_list *wanted,
                        const char *what, struct text_list known, struct problems *problems)
{
    for (size_t i = 0; i < wanted->count; i++) {
        if (texts_have(known.items, known.count, wanted->items[i]))
            continue;
        struct text list = known.count == 0
                               ? TEXT("there is none")
                               : arena_printf(cluster->arena, "there is %.*s",
                                              TEXT_ARGS(texts_and(known.items, known.count,
                                                                  MOST_NAMED, cluster->arena)));
        problems_add(problems, ERROR_USAGE, NOWHERE, "no %s has the name \"%.*s\": %.*s", what,
                     TEXT_ARGS(wanted->items[i]), TEXT_ARGS(list));
    }
}

static bool is_capacity_type(struct text word)
{
    return TEXT_IS_ONE_OF(word, "on-demand", "spot", "reserved");
}

static bool is_type_or_family(const struct catalog *catalog, struct text word)
{
    if (catalog_find(catalog, word) < catalog_count(catalog))
        return true;
    for (size_t i = 0; i < catalog_count(catalog); i++)
        if (text_equal(catalog_type(catalog, i)->family, word))
            return true;
    return false;
}

static void check_sold_out(const struct cluster *cluster, struct problems *problems)
{
    const struct text_list *words = &cluster->drill->sold_out;
    for (size_t i = 0; i < words->count; i++)
        if (words->items[i].size == 0 || (!is_capacity_type(words->items[i]) &&
                                          !is_type_or_family(cluster->catalog, words->items[i])))
            problems_add(problems, ERROR_USAGE, NOWHERE,
                         "\"%.*s\" cannot be sold out: it is no instance type and no family of the "
                         "catalogue, and none of on-demand, spot and reserved",
                         TEXT_ARGS(words->items[i]));
}

void drill_check(const struct cluster *cluster, struct problems *problems)
{
    if (cluster->drill == NULL)
        return;
    check_names(cluster, &cluster->drill->zones, "zone", zone_names(cluster), problems);
    check_names(cluster, &cluster->drill->pools, "NodePool", pool_names(cluster), problems);
    check_sold_out(cluster, problems);
}

/* ---- what it takes ---- */

static bool takes_node(const struct drill *drill, const struct state_node *state_node)
{
    if (has(&drill->pools, state_node->pool) ||
        (drill->nodes != NULL && text_map_has(drill->nodes, text_of(state_node->node_name))))
        return true;
    for (size_t i = 0; i < state_node->labels.count; i++) {
        const struct solver_label *label = &state_node->labels.items[i];
        if (zone_key_of(text_of(label->key)) == ZONE_KEY_NAME && has(&drill->zones, label->value))
            return true;
    }
    return false;
}

void drill_take_nodes(struct cluster *cluster)
{
    struct state_nodes *kept = &cluster->state_nodes;
    size_t count = 0;
    if (cluster->drill == NULL)
        return;
    for (size_t i = 0; i < kept->count; i++) {
        if (takes_node(cluster->drill, &kept->items[i]))
            *LIST_PUSH(cluster->arena, &cluster->lost_nodes) = kept->items[i];
        else
            kept->items[count++] = kept->items[i];
    }
    kept->count = count;
}

/* ---- what limits leave to one successor ---- */

/* What the node uses of a limit of the pool. One that is being deleted uses nothing
 * (docs/reference/karpenter.md 6.11). */
static int64_t used_of(const struct state_node *state_node, const struct cluster_pool *pool,
                       const char *resource)
{
    if (state_node->leaving || state_node->pool == NULL ||
        strcmp(state_node->pool, pool->name) != 0)
        return 0;
    return strcmp(resource, "nodes") == 0 ? 1 : named_amount_of(&state_node->capacity, resource);
}

/* Takes what nodes of the pool use off a limit. False: they use more than it. */
static bool take_off(const struct state_nodes *state_nodes, const struct cluster_pool *pool,
                     struct named_amount *limit)
{
    FOR_EACH(state_node, state_nodes) {
        int64_t used = used_of(state_node, pool, limit->resource);
        if (used > limit->quantity)
            return false;
        limit->quantity -= used;
    }
    return true;
}

/* The most that the limit gets back when one node of the pool goes. */
static int64_t most_given_back(const struct cluster *cluster, const struct cluster_pool *pool,
                               const char *resource)
{
    int64_t most = 0;
    FOR_EACH(lost, &cluster->lost_nodes) {
        int64_t used = used_of(lost, pool, resource);
        if (used > most)
            most = used;
    }
    return most;
}

/* Karpenter launches nothing while the nodes use more than a limit. */
static void limit_pool(const struct cluster *cluster, struct cluster_pool *pool)
{
    FOR_EACH(limit, &pool->limits) {
        struct named_amount room = *limit;
        if (!take_off(&cluster->state_nodes, pool, &room) ||
            !take_off(&cluster->lost_nodes, pool, &room)) {
            pool->above = limit->resource;
            return;
        }
        room.quantity += most_given_back(cluster, pool, limit->resource);
        *LIST_PUSH(cluster->arena, &pool->room) = room;
    }
}

void drill_limit_pools(struct cluster *cluster)
{
    if (cluster->drill == NULL || !cluster->drill->replaces)
        return;
    for (size_t i = 0; i < cluster->pool_count; i++)
        limit_pool(cluster, &cluster->pools[i]);
}

static int64_t capacity_of(const struct cluster_type *type, uint32_t resource)
{
    const struct solver_amounts *capacity = &type->solver.capacity;
    for (size_t i = 0; i < capacity->count; i++)
        if (capacity->items[i].resource == resource)
            return capacity->items[i].quantity;
    return 0;
}

/* Every type is one node, so a limit of nodes excludes none of them. */
bool drill_limits_type(const struct cluster_pool *pool, const struct cluster_type *type,
                       struct solver_builder *builder)
{
    FOR_EACH(room, &pool->room)
        if (capacity_of(type, solver_builder_resource(builder, room->resource)) > room->quantity)
            return true;
    return false;
}

bool drill_takes_offering(const struct cluster *cluster, const struct cluster_type *type,
                          const struct solver_offering *offering)
{
    const struct drill *drill = cluster->drill;
    if (drill == NULL)
        return false;
    const struct instance_type *known = catalog_type(cluster->catalog, type->index);
    const struct text_list *sold_out = &drill->sold_out;
    return has(&drill->zones, offering->zone) || has(sold_out, offering->capacity_type) ||
           texts_have(sold_out->items, sold_out->count, known->name) ||
           texts_have(sold_out->items, sold_out->count, known->family);
}

/* Of pods that are being deleted only a StatefulSet's come back. */
static bool comes_back(const struct cluster *cluster, const struct cluster_pod *pod)
{
    const struct owner *controller = &pod->object->controller;
    bool of_set = kind_of(controller->api_version, controller->kind) == KIND_STATEFUL_SET;
    return (controller->name.size > 0 || cluster->drill->replaces) && !pod->daemon &&
           !pod->mirror && (!pod->leaving || of_set);
}

void drill_move_pod(const struct cluster *cluster, struct cluster_pod *pod)
{
    pod->lost_node = true;
    pod->state_node = NO_NODE;
    pod->phase = POD_WAITING;
    if (!comes_back(cluster, pod))
        return;
    if (!cluster_pod_is_on_fargate(pod)) /* which makes it a node */
        pod->phase = POD_PENDING;
    pod->had_node = false;
    pod->leaving = false;
}

/* ---- what it did ---- */

static void tell_workloads(const struct cluster *cluster, struct drilled *told)
{
    struct drilled_workload *workloads =
        ARENA_ARRAY(cluster->arena, cluster->scaled.count, struct drilled_workload);
    for (size_t i = 0; i < cluster->scaled.count; i++) {
        const struct scaled *scaled = &cluster->scaled.items[i];
        workloads[i] =
            (struct drilled_workload){scaled->at.kind, scaled->object->namespace,
                                      scaled->object->name, scaled->before, scaled->replicas};
    }
    told->workloads = workloads;
    told->workload_count = cluster->scaled.count;
}

static void tell_nodes(const struct cluster *cluster, struct drilled *told)
{
    told->node_count = cluster->lost_nodes.count;
    for (size_t i = 0; i < cluster->lost_nodes.count; i++) {
        struct state_node lost = cluster->lost_nodes.items[i];
        state_node_describe(cluster, &lost);
        if (lost.simulation.usd_micro_per_hour < 0)
            told->unpriced_count++;
        else
            told->usd_micro_per_hour =
                usd_sum(told->usd_micro_per_hour, lost.simulation.usd_micro_per_hour);
    }
}

/* A pod that a controller makes again is counted, whether it found a place or not. */
static void tell_pods(const struct cluster *cluster, struct drilled *told)
{
    FOR_EACH(pod, &cluster->pods) {
        if (!pod->lost_node)
            continue;
        if (!pod->had_node)
            told->moved_count++;
        else if (!pod->daemon && !pod->mirror && !pod->leaving)
            *LIST_PUSH(cluster->arena, &told->gone) = arena_printf(
                cluster->arena, "%.*s/%.*s", TEXT_ARGS(pod->namespace), TEXT_ARGS(pod->name));
    }
}

/* ---- disks that stay behind ---- */

static bool is_lost_host(const struct cluster *cluster, const char *host)
{
    FOR_EACH(lost, &cluster->lost_nodes) {
        const char *label = label_of(lost->labels, LABEL_HOSTNAME);
        if (strcmp(host, lost->node_name) == 0 || strcmp(host, label) == 0)
            return true;
    }
    return false;
}

/* The lost node that an alternative of a local volume is on; NULL: it is on none. */
static const char *lost_host_of(const struct cluster *cluster,
                                const struct solver_expressions *alternative)
{
    FOR_EACH(expression, alternative) {
        bool one_host = strcmp(expression->key, LABEL_HOSTNAME) == 0 &&
                        expression->op == SOLVER_IN && expression->value_count == 1;
        if (one_host && is_lost_host(cluster, expression->values[0]))
            return expression->values[0];
    }
    return NULL;
}

static struct text lost_host(const struct cluster *cluster, const struct volume_claim *claim)
{
    const char *host = NULL;
    for (size_t i = 0; i < claim->terms.alternative_count; i++) {
        host = lost_host_of(cluster, &claim->terms.alternatives[i]);
        if (host == NULL)
            return TEXT("");
    }
    return host == NULL ? TEXT("") : arena_printf(cluster->arena, "node %s", host);
}

/* Where the volume of a claim stays behind; empty: it does not. any_zone: wherever it is, because
 * the NodePools that are left reach no zone of it. */
static struct text place_behind(const struct cluster *cluster, const struct volume_claim *claim,
                                bool any_zone)
{
    const struct text_list *lost = &cluster->drill->zones;
    struct zones zones = {0};
    if (claim->waits || claim->bound_in > 0 || claim->fault.message.size > 0)
        return TEXT("");
    if (!volume_terms_add_zones(&claim->terms, cluster->arena, &zones) || zones.count == 0)
        return lost_host(cluster, claim);
    for (size_t i = 0; i < zones.count && !any_zone; i++)
        if (!texts_have(lost->items, lost->count, zones.items[i]))
            return TEXT("");
    return texts_or(zones.items, zones.count, cluster->arena);
}

/* The first claim of the pod whose volume does; NULL: none. */
static const struct volume_claim *claim_behind(const struct cluster *cluster,
                                               const struct cluster_pod *pod, bool any_zone,
                                               struct text *place)
{
    for (size_t i = 0; i < pod->claim_count; i++) {
        *place = place_behind(cluster, pod->claims[i], any_zone);
        if (place->size > 0)
            return pod->claims[i];
    }
    return NULL;
}

struct text drill_strands(const struct cluster *cluster, const struct cluster_pod *pod)
{
    struct text place;
    const struct volume_claim *behind =
        cluster->drill == NULL ? NULL : claim_behind(cluster, pod, false, &place);
    return behind == NULL ? TEXT("")
                          : arena_printf(cluster->arena, "claim %s is in what is lost: %.*s",
                                         behind->id, TEXT_ARGS(place));
}

static bool has_volume_reason(const struct simulation_unschedulable *unschedulable)
{
    const char *volume = solver_reason_name(SOLVER_REASON_VOLUME);
    for (size_t i = 0; i < unschedulable->reason_count; i++)
        if (unschedulable->reasons[i].node_pool.size > 0 &&
            strcmp(unschedulable->reasons[i].kind, volume) == 0)
            return true;
    return false;
}

static void tell_disks(const struct cluster *cluster, const struct simulation *simulation,
                       struct drilled *told)
{
    LIST(struct drilled_disk) disks = {0};
    for (size_t i = 0; i < simulation->unschedulable_count; i++) {
        const struct simulation_unschedulable *unschedulable = &simulation->unschedulable[i];
        const struct cluster_pod *pod = &cluster->pods.items[unschedulable->pod];
        struct text place;
        const struct volume_claim *behind = claim_behind(cluster, pod, false, &place);
        if (behind == NULL && has_volume_reason(unschedulable))
            behind = claim_behind(cluster, pod, true, &place);
        if (behind != NULL)
            *LIST_PUSH(cluster->arena, &disks) =
                (struct drilled_disk){unschedulable->pod, text_of(behind->id), place};
    }
    told->disks = disks.items;
    told->disk_count = disks.count;
}

/* Whether a pod of a lost node that fits nowhere is one for the NodePool. */
static bool is_wanted(const struct cluster *cluster, const struct simulation *simulation,
                      const struct pool *pool)
{
    bool wanted = false;
    const struct pod_shape *asked = NULL; /* pods of a shape follow each other */
    for (size_t i = 0; i < simulation->unschedulable_count && !wanted; i++) {
        const struct cluster_pod *pod = &cluster->pods.items[simulation->unschedulable[i].pod];
        if (!pod->lost_node || pod->shape == asked)
            continue;
        struct arena_mark mark = arena_mark(cluster->arena);
        wanted = pool_takes(cluster->catalog, pool, &pod->source->workload, cluster->arena);
        arena_rewind(cluster->arena, mark);
        asked = pod->shape;
    }
    return wanted;
}

static void tell_limits(const struct cluster *cluster, const struct simulation *simulation,
                        struct drilled *told)
{
    for (size_t i = 0; i < cluster->pool_count && told->above == NULL; i++) {
        const struct cluster_pool *pool = &cluster->pools[i];
        if (pool->above == NULL || !is_wanted(cluster, simulation, pool->pool))
            continue;
        told->above = pool->above;
        told->above_pool = text_of(pool->name);
    }
}

struct drilled *drill_tell(const struct cluster *cluster, const struct simulation *simulation)
{
    if (cluster->drill == NULL)
        return NULL;
    struct drilled *told = ARENA_NEW(cluster->arena, struct drilled);
    told->drill = cluster->drill;
    tell_workloads(cluster, told);
    tell_nodes(cluster, told);
    tell_pods(cluster, told);
    tell_disks(cluster, simulation, told);
    tell_limits(cluster, simulation, told);
    return told;
}
