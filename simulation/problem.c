/* Makes the solver's problem of a round: instance types, pools, nodes and pods. */
#include <string.h>

#include "kube/label.h"
#include "kube/object.h"
#include "kube/snapshot.h"
#include "kube/to_solver.h"
#include "simulation/cluster.h"
#include "simulation/drill.h"
#include "simulation/reserved.h"
#include "simulation/volume_claims.h"
#include "solver/well_known.h"

struct building {
    struct cluster *cluster;
    struct arena *arena;
    struct solver_builder *builder;
    struct solver_expression there; /* the nodes, by hostname; key NULL: not yet listed */
};

/* ---- what may be bought ---- */

/* Resources keep the numbers of the round before, so that types can be reused. */
static void number_resources(const struct building *building)
{
    const struct solver_problem *last = building->cluster->problem;
    for (uint32_t i = 0; last != NULL && i < solver_resource_count(last); i++)
        (void)solver_builder_resource(building->builder, solver_resource_name(last, i));
}

/* What a drill takes is not available, as what a cloud has sold out: its zone stays a domain of
 * topologies (docs/reference/karpenter.md 3.2). */
static void take_offerings(const struct cluster *cluster, struct cluster_type *type)
{
    size_t count = type->solver.offering_count;
    struct solver_offering *offerings = ARENA_ARRAY(cluster->arena, count, struct solver_offering);
    for (size_t i = 0; i < count; i++) {
        offerings[i] = type->solver.offerings[i];
        if (drill_takes_offering(cluster, type, &offerings[i]))
            offerings[i].available = false;
    }
    type->solver.offerings = offerings;
}

/* Reads the instance types as pools with these settings have them. */
static void read_types(const struct building *building, const struct class_settings *settings)
{
    struct cluster *cluster = building->cluster;
    for (size_t i = 0; i < catalog_count(cluster->catalog); i++) {
        struct cluster_type *type = &cluster->types[cluster->type_count];
        *type = (struct cluster_type){.index = i, .settings = settings};
        if (!catalog_solver_type(cluster->catalog, i, &cluster->zones, settings, building->builder,
                                 building->arena, &type->solver))
            continue;
        if (cluster->drill != NULL)
            take_offerings(cluster, type);
        cluster->type_count++;
    }
}

/* Whether an earlier pool has the same settings. */
static bool seen_before(const struct cluster *cluster, size_t pool)
{
    for (size_t i = 0; i < pool; i++)
        if (cluster->pools[i].settings == cluster->pools[pool].settings)
            return true;
    return false;
}

static size_t count_settings(const struct cluster *cluster)
{
    size_t count = 0;
    for (size_t i = 0; i < cluster->pool_count; i++)
        count += seen_before(cluster, i) ? 0 : 1;
    return count;
}

/* Once for a cluster, however many problems are made of it. */
static void read_all_types(const struct building *building)
{
    struct cluster *cluster = building->cluster;
    if (cluster->types != NULL)
        return;
    size_t kinds = count_settings(cluster);
    cluster->types =
        ARENA_ARRAY(building->arena, catalog_count(cluster->catalog) * (kinds > 0 ? kinds : 1),
                    struct cluster_type);
    for (size_t i = 0; i < cluster->pool_count; i++)
        if (!seen_before(cluster, i))
            read_types(building, cluster->pools[i].settings);
    if (kinds == 0)
        read_types(building, NULL);
}

/* The name of the first pool with these settings identifies them. */
static const char *node_class_of(const struct cluster *cluster,
                                 const struct class_settings *settings)
{
    for (size_t i = 0; settings != NULL && i < cluster->pool_count; i++)
        if (cluster->pools[i].settings == settings)
            return cluster->pools[i].name;
    return NULL;
}

static bool add_types(const struct building *building, struct error *error)
{
    struct cluster *cluster = building->cluster;
    number_resources(building);
    read_all_types(building);
    for (size_t i = 0; i < cluster->type_count; i++) {
        struct solver_instance_type type = reserved_type(cluster, &cluster->types[i]);
        uint32_t number = 0;
        type.node_class = node_class_of(cluster, cluster->types[i].settings);
        if (!solver_add_type(building->builder, &type, &number, error))
            return false;
    }
    return true;
}

/* The types with the settings of the pool's node class that it can launch
 * (docs/reference/karpenter.md 7.6); all, when there are no others. */
static void take_types(const struct building *building, const struct cluster_pool *pool,
                       struct solver_pool *added)
{
    const struct cluster *cluster = building->cluster;
    static const uint32_t no_types[1];
    if (pool->offers_nothing || pool->above != NULL) {
        added->types = no_types;
        return;
    }
    uint32_t *types = ARENA_ARRAY(building->arena, cluster->type_count, uint32_t);
    size_t count = 0;
    for (uint32_t i = 0; i < cluster->type_count; i++)
        if (cluster->types[i].settings == pool->settings &&
            class_types_have(pool->class_types,
                             catalog_type(cluster->catalog, cluster->types[i].index),
                             cluster->catalog) &&
            !drill_limits_type(pool, &cluster->types[i], building->builder))
            types[count++] = i;
    added->types = count < cluster->type_count ? types : NULL;
    added->type_count = count < cluster->type_count ? count : 0;
}

static bool add_pools(struct building *building, struct error *error)
{
    const struct cluster *cluster = building->cluster;
    for (size_t i = 0; i < cluster->pool_count; i++) {
        const struct cluster_pool *pool = &cluster->pools[i];
        uint32_t number = 0;
        struct solver_pool added = {
            .name = pool->name,
            .weight = pool->weight,
            .requirements = pool->requirements,
            .labels = pool->labels,
            .taints = pool->taints,
            .limits = named_amounts_number(&pool->limits, building->builder, building->arena),
            .unlisted_types = pool->unlisted_types,
            .label_domains = pool->label_domains.items,
            .label_domain_count = pool->label_domains.count,
        };
        take_types(building, pool, &added);
        if (!solver_add_pool(building->builder, &added, &number, error))
            return false;
    }
    return true;
}

/* ---- what is there ---- */

static const char *known_pool(const struct cluster *cluster, const char *name)
{
    for (size_t i = 0; name != NULL && i < cluster->pool_count; i++)
        if (strcmp(cluster->pools[i].name, name) == 0)
            return name;
    return NULL;
}

/* Converts a node for the solver. of_pool: its NodePool is in the problem. */
static struct solver_node state_node_convert(const struct state_node *state_node, bool of_pool,
                                             struct solver_builder *builder, struct arena *arena)
{
    return (struct solver_node){
        .name = state_node->name,
        .pool = of_pool ? state_node->pool : NULL,
        .labels = state_node->labels,
        .taints = state_node->taints,
        .capacity = named_amounts_number(&state_node->capacity, builder, arena),
        .allocatable = named_amounts_number(&state_node->allocatable, builder, arena),
        .attach_limits = state_node->attach_limits,
        .attach_limit_count = state_node->attach_limit_count,
        .initialized = state_node->initialized,
        .to_come = state_node->simulation.round > 0,
        .leaving = state_node->leaving,
    };
}

static bool add_state_nodes(struct building *building, struct error *error)
{
    struct cluster *cluster = building->cluster;
    for (size_t i = 0; i < cluster->state_nodes.count; i++) {
        struct state_node *state_node = &cluster->state_nodes.items[i];
        bool of_pool = known_pool(cluster, state_node->pool) != NULL;
        const struct solver_node node =
            state_node_convert(state_node, of_pool, building->builder, building->arena);
        if (!solver_add_node(building->builder, &node, &state_node->number, error))
            return false;
    }
    return true;
}

/* Every namespace has its name as a label; of one that is not visible only this label is known. */
struct solver_labels namespace_labels(const struct snapshot *snapshot, struct text name,
                                      struct arena *arena)
{
    const struct object *object = snapshot_find(snapshot, KIND_NAMESPACE, TEXT(""), name);
    struct solver_labels own = labels_of(object == NULL ? NULL : object->labels, arena);
    return labels_with(own, LABEL_NAMESPACE_NAME, terminated(arena, name), arena);
}

static bool add_namespaces(struct building *building, struct error *error)
{
    const struct cluster *cluster = building->cluster;
    struct arena *arena = building->arena;
    for (size_t i = 0; i < snapshot_count(cluster->snapshot, KIND_NAMESPACE); i++) {
        const struct object *object = snapshot_object(cluster->snapshot, KIND_NAMESPACE, i);
        if (cluster->alone && !text_equal(object->name, cluster->pods.items[0].namespace))
            continue;
        if (!solver_add_namespace(building->builder, terminated(arena, object->name),
                                  namespace_labels(cluster->snapshot, object->name, arena), error))
            return false;
    }
    struct text last = {0};
    for (size_t i = 0; i < cluster->pods.count; i++) {
        struct text name = cluster->pods.items[i].namespace;
        bool seen = i > 0 && text_equal(name, last);
        last = name;
        if (seen || snapshot_find(cluster->snapshot, KIND_NAMESPACE, TEXT(""), name) != NULL)
            continue;
        if (!solver_add_namespace(building->builder, terminated(arena, name),
                                  namespace_labels(cluster->snapshot, name, arena), error))
            return false;
    }
    return true;
}

/* ---- pods ---- */

/* Nodes are selected by no other field. */
static bool fields_allow(struct solver_expressions fields, const char *node_name)
{
    for (size_t i = 0; i < fields.count; i++) {
        const struct solver_expression *field = &fields.items[i];
        bool names_it = false;
        for (size_t j = 0; j < field->value_count; j++)
            names_it |= strcmp(field->values[j], node_name) == 0;
        if ((names_it && strcmp(field->key, "metadata.name") == 0) != (field->op == SOLVER_IN))
            return false;
    }
    return true;
}

/* The nodes that a term's matchFields allow, by hostname. Where there are none a value that no
 * label can have says so. */
static struct solver_expression hostnames_of(const struct cluster *cluster,
                                             struct solver_expressions fields, struct arena *arena)
{
    const struct state_nodes *nodes = &cluster->state_nodes;
    const char **hostnames = ARENA_ARRAY(arena, nodes->count + 1, const char *);
    struct solver_expression there = {.key = LABEL_HOSTNAME, .op = SOLVER_IN, .values = hostnames};
    FOR_EACH(node, nodes)
        if (fields_allow(fields, node->node_name))
            hostnames[there.value_count++] = label_of(node->labels, LABEL_HOSTNAME);
    if (there.value_count == 0 && fields.count > 0)
        hostnames[there.value_count++] = "that its matchFields allow";
    return there;
}

/* Narrows each alternative to the nodes that exist by now and whose name it allows, so that nothing
 * is bought for the pod. */
static void keep_to_nodes(struct building *building, const struct pod_shape *pod,
                          struct solver_shape *shape)
{
    static const struct solver_expressions none;
    struct arena *arena = building->arena;
    if (building->there.key == NULL)
        building->there = hostnames_of(building->cluster, none, arena);
    const struct solver_expressions *old = shape->required_count > 0 ? shape->required : &none;
    size_t count = shape->required_count > 0 ? shape->required_count : 1;
    struct solver_expressions *narrowed = ARENA_ARRAY(arena, count, struct solver_expressions);
    for (size_t i = 0; i < count; i++) {
        bool by_name = pod->fields != NULL && pod->fields[i].count > 0;
        const struct solver_expression there =
            by_name ? hostnames_of(building->cluster, pod->fields[i], arena) : building->there;
        narrowed[i] = expressions_with(old[i], there, arena);
    }
    shape->required = narrowed;
    shape->required_count = count;
}

/* Of a pod that has its place, where its volumes are confines nothing. */
static void add_volumes(struct solver_shape *shape, const struct cluster_pod *pod, bool confine,
                        struct arena *arena)
{
    struct solver_volume *volumes = ARENA_ARRAY(arena, pod->claim_count, struct solver_volume);
    for (size_t i = 0; i < pod->claim_count && confine; i++)
        volumes[i] = pod->claims[i]->terms;
    shape->volumes = volumes;
    shape->volume_count = pod->claim_count;
}

static const struct solver_mount *mounts_of(const struct cluster_pod *pod, struct arena *arena)
{
    struct solver_mount *mounts = ARENA_ARRAY(arena, pod->claim_count, struct solver_mount);
    for (size_t i = 0; i < pod->claim_count; i++)
        mounts[i] = (struct solver_mount){pod->claims[i]->id, pod->claims[i]->driver,
                                          pod->claims[i]->waits};
    return mounts;
}

static bool add_shape(struct building *building, struct pod_shape *shape,
                      const struct cluster_pod *pod, uint32_t *number, struct error *error)
{
    struct arena *arena = building->arena;
    size_t volume_count = pod == NULL ? 0 : pod->claim_count;
    bool confined = volume_count > 0 && pod->phase == POD_PENDING;
    if (!confined && shape->added && shape->added_volume_count == volume_count) {
        *number = shape->number;
        return true;
    }
    struct solver_shape solver = shape->solver;
    solver.requests = named_amounts_number(&shape->requests, building->builder, arena);
    if (pod != NULL && !pod->daemon && cluster_pod_nodes_only(pod)->message.size > 0)
        keep_to_nodes(building, shape, &solver);
    if (volume_count > 0)
        add_volumes(&solver, pod, confined, arena);
    if (!solver_add_shape(building->builder, &solver, number, error))
        return false;
    if (!confined) {
        shape->added = true;
        shape->added_volume_count = volume_count;
        shape->number = *number;
    }
    return true;
}

static bool add_pod(struct building *building, struct cluster_pod *pod, struct error *error)
{
    struct arena *arena = building->arena;
    if (!add_shape(building, pod->shape, pod, &pod->shape_number, error))
        return false;
    const struct solver_pod added = {
        .name =
            arena_printf(arena, "%.*s/%.*s", TEXT_ARGS(pod->namespace), TEXT_ARGS(pod->name)).data,
        .uid = terminated(arena, pod->uid),
        .created_unix_s = pod->created_unix_s,
        .shape = pod->shape_number,
        .node = pod->phase == POD_RUNNING
                    ? building->cluster->state_nodes.items[pod->state_node].number
                    : SOLVER_NONE,
        .daemon = pod->daemon,
        .leaving = pod->leaving,
        .mounts = mounts_of(pod, arena),
        .mount_count = pod->claim_count,
    };
    return solver_add_pod(building->builder, &added, &pod->number, error);
}

struct solver_question cluster_question(struct cluster *cluster, const struct cluster_pod *pod)
{
    struct arena *arena = cluster->arena;
    struct solver_shape *shape = ARENA_NEW(arena, struct solver_shape);
    struct building building = {.cluster = cluster, .arena = arena};
    *shape = pod->shape->solver;
    if (pod->shape->fields != NULL)
        keep_to_nodes(&building, pod->shape, shape);
    shape->requests = named_amounts_find(&pod->shape->requests, cluster->problem, arena);
    add_volumes(shape, pod, true, arena);
    return (struct solver_question){
        .shape = shape, .mounts = mounts_of(pod, arena), .mount_count = pod->claim_count};
}

static bool takes_part(const struct cluster_pod *pod)
{
    if (pod->phase == POD_RUNNING)
        return pod->state_node != NO_NODE;
    return pod->phase == POD_PENDING && pod->fault.message.size == 0;
}

static void add_pods(struct building *building)
{
    struct cluster_pods *pods = &building->cluster->pods;
    for (size_t i = 0; i < pods->count; i++)
        pods->items[i].shape->added = false;
    for (size_t i = 0; i < pods->count; i++) {
        struct cluster_pod *pod = &pods->items[i];
        struct error error = {0};
        pod->number = pod->shape_number = SOLVER_NONE;
        if (!takes_part(pod) || add_pod(building, pod, &error))
            continue;
        pod->number = SOLVER_NONE;
        pod->fault =
            (struct pod_fault){.kind = SOLVER_REASON_RESOURCES,
                               .message = arena_text(building->arena, text_of(error.what))};
    }
}

static bool add_daemons(struct building *building, struct error *error)
{
    struct daemons *daemons = &building->cluster->daemons;
    for (size_t i = 0; i < daemons->count; i++) {
        struct daemon *daemon = &daemons->items[i];
        uint32_t number = 0;
        daemon->shape.added = false;
        if (!add_shape(building, &daemon->shape, NULL, &number, error) ||
            !solver_add_daemon(building->builder, number, error))
            return false;
    }
    return true;
}

bool cluster_add_supply(struct cluster *cluster, struct solver_builder *builder,
                        struct error *error)
{
    struct building building = {.cluster = cluster, .arena = cluster->arena, .builder = builder};
    return add_types(&building, error) && add_pools(&building, error) &&
           add_state_nodes(&building, error);
}

bool cluster_add_daemons(struct cluster *cluster, struct solver_builder *builder,
                         struct error *error)
{
    struct building building = {.cluster = cluster, .arena = cluster->arena, .builder = builder};
    return add_daemons(&building, error);
}

/* What reservations are left of changes the types from round to round. */
static const struct solver_problem *stock_of(const struct cluster *cluster)
{
    return cluster->used.count == 0 ? cluster->stock : NULL;
}

bool cluster_problem(struct cluster *cluster, const struct solver_settings *settings,
                     struct error *error)
{
    const struct solver_problem *stock = stock_of(cluster);
    struct building building = {.cluster = cluster,
                                .arena = cluster->arena,
                                .builder = stock != NULL
                                               ? solver_builder_over(stock, cluster->arena)
                                               : solver_builder_create(cluster->arena)};
    if (stock == NULL && (!add_types(&building, error) || !add_pools(&building, error)))
        return false;
    if (!add_state_nodes(&building, error) || !add_namespaces(&building, error) ||
        (stock == NULL && !add_daemons(&building, error)))
        return false;
    add_pods(&building);
    cluster->is_posed = solver_build(building.builder, settings, &cluster->problem, error);
    return cluster->is_posed;
}
