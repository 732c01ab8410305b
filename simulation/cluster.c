/* Reads the cluster once: NodePools, Nodes, pods and their claims, as the solver needs them. */
#include "simulation/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "catalog/zones.h"
#include "kube/complaint.h"
#include "kube/label.h"
#include "kube/object.h"
#include "kube/opt_out.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "kube/to_solver.h"
#include "kube/volume.h"
#include "kube/volume_zones.h"
#include "simulation/drill.h"
#include "simulation/eviction_budgets.h"
#include "simulation/simulation.h"
#include "simulation/supply_pools.h"
#include "simulation/volume_claims.h"
#include "solver/well_known.h"

/* ---- pools ---- */

/* Sets a label; replaces one with the same key. */
static struct solver_labels labels_set(struct solver_labels labels, struct solver_label label,
                                       struct arena *arena)
{
    struct solver_label *items = ARENA_ARRAY(arena, labels.count + 1, struct solver_label);
    size_t count = 0;
    for (size_t i = 0; i < labels.count; i++)
        if (strcmp(labels.items[i].key, label.key) != 0)
            items[count++] = labels.items[i];
    items[count++] = label;
    return (struct solver_labels){items, count};
}

/* Without karpenter.sh/nodepool, which the solver adds. */
static struct solver_labels pool_labels(const struct pool *pool, struct arena *arena)
{
    struct solver_labels labels = labels_of(pool->labels_field->node, arena);
    struct pool_label own[POOL_OWN_LABELS_MAX];
    size_t count = pool_own_labels(pool, own);
    for (size_t i = 0; i < count; i++)
        if (!text_is(own[i].key, LABEL_NODE_POOL))
            labels = labels_set(labels,
                                (struct solver_label){terminated(arena, own[i].key),
                                                      terminated(arena, own[i].value)},
                                arena);
    return labels;
}

/* Whether instance types are offered under an id of a zone that none of the subnets has. */
static bool has_foreign_id(const struct zones *zones, const struct node *subnets)
{
    for (size_t i = 0; i < zones->count; i++) {
        bool own = zones->ids[i].size == 0;
        FOR_ITEMS(subnet, subnets)
            own = own || text_equal(node_string(node_get(subnet, "zoneID")), zones->ids[i]);
        if (!own)
            return true;
    }
    return false;
}

/* What the subnets in a node class's status say under the member: its nodes have no other value of
 * the label. */
static void add_of_subnets(const struct node *subnets, const char *member, const char *label,
                           struct arena *arena, struct solver_expressions *requirements)
{
    size_t most = node_count(subnets);
    const char **values = ARENA_ARRAY(arena, most, const char *);
    size_t count = 0;
    for (size_t i = 0; i < most; i++) {
        struct text value = node_string(node_get(node_item(subnets, i), member));
        if (value.size > 0)
            values[count++] = terminated(arena, value);
    }
    if (count > 0)
        *requirements = expressions_with(
            *requirements,
            (struct solver_expression){
                .key = label, .op = SOLVER_IN, .values = values, .value_count = count},
            arena);
}

/* Of EKS Auto Mode's classes none is read. */
static const struct class_settings *settings_unseen(const struct cluster *cluster,
                                                    const struct pool *pool)
{
    if (!cluster->assumes_disks)
        return &unseen_settings;
    return pool_is_of_auto_mode(pool) ? &auto_mode_settings : &assumed_settings;
}

static bool read_settings(const struct cluster *cluster, const struct pool *pool,
                          struct cluster_pool *read, struct error *error)
{
    const struct object *class = pool_node_class(cluster->snapshot, pool);
    if (!catalog_is_builtin(cluster->catalog))
        return true;
    if (class == NULL) {
        read->settings = settings_unseen(cluster, pool);
        return true;
    }
    read->class_types = class_types_read(class);
    if (!class_settings_read(class, cluster->arena, &read->settings, error))
        return false;
    for (size_t i = 0; i < cluster->pool_count; i++)
        if (class_settings_equal(cluster->pools[i].settings, read->settings))
            read->settings = cluster->pools[i].settings;
    return true;
}

static bool read_pool(const struct cluster *cluster, const struct pool *pool,
                      struct cluster_pool *read, struct error *error)
{
    struct arena *arena = cluster->arena;
    const struct object *object = pool->object;
    struct complaint wrong = {0};
    int64_t weight = 0;
    if (node_integer(node_at(object->root->node, "spec.weight"), &weight) &&
        (weight < 0 || weight > INT32_MAX))
        weight = 0;
    *read = (struct cluster_pool){
        .pool = pool,
        .name = terminated(arena, object->name),
        .weight = (uint32_t)weight,
        .labels = pool_labels(pool, arena),
        .taints = taints_convert(&pool->taints, arena),
        .offers_nothing = !pool_is_covered_by(cluster->catalog, pool),
    };
    if (read->offers_nothing)
        read->label_domains = pool_label_domains(pool, arena);
    pool_requirements_check(pool, arena, &wrong);
    if (!complaint_is_none(&wrong, object, arena, error))
        return false;
    if (!expressions_convert(&pool->requirements, arena, &read->requirements))
        return error_set(error, ERROR_INPUT, object_place(object, pool->requirements_field, arena),
                         "its requirements cannot be understood");
    if (!named_amounts_read(object, pool->limits_field, arena, &read->limits, error) ||
        !read_settings(cluster, pool, read, error))
        return false;
    const struct node *subnets = pool_subnets(cluster->snapshot, pool);
    add_of_subnets(subnets, "zone", LABEL_ZONE, arena, &read->requirements);
    if (has_foreign_id(&cluster->zones, subnets))
        add_of_subnets(subnets, "zoneID", LABEL_ZONE_ID, arena, &read->requirements);
    return true;
}

const struct cluster_pool *cluster_pool_of(const struct cluster *cluster, const struct pool *pool)
{
    for (size_t i = 0; i < cluster->pool_count; i++)
        if (cluster->pools[i].pool == pool)
            return &cluster->pools[i];
    return NULL;
}

bool cluster_loses_pool(const struct cluster *cluster, const struct pool *pool)
{
    const struct drill *drill = cluster->drill;
    struct text name = pool->object->name;
    return drill != NULL && (texts_have(drill->pools.items, drill->pools.count, name) ||
                             texts_have(drill->stopped.items, drill->stopped.count, name));
}

static void report_pool(const struct pool *pool, const struct error *wrong,
                        struct problems *problems)
{
    problems_add(problems, wrong->kind, wrong->place, "%s %.*s is left out: %s",
                 kind_table[pool->object->kind].name, TEXT_ARGS(pool->object->name), wrong->what);
}

static void read_pools(struct cluster *cluster, struct problems *problems)
{
    const struct snapshot *snapshot = cluster->snapshot;
    cluster->pools =
        ARENA_ARRAY(cluster->arena, snapshot_pool_count(snapshot), struct cluster_pool);
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++) {
        const struct pool *pool = snapshot_pool(snapshot, i);
        struct error wrong = {0};
        if (!pool_makes_nodes(pool) || cluster_loses_pool(cluster, pool))
            continue;
        struct cluster_pool *read = &cluster->pools[cluster->pool_count];
        if (read_pool(cluster, pool, read, &wrong)) {
            struct arena_mark mark = arena_mark(cluster->arena);
            read->unlisted_types = read->offers_nothing ||
                                   pool_is_of_unknown_types(cluster->catalog, pool, cluster->arena);
            arena_rewind(cluster->arena, mark);
            cluster->pool_count++;
            continue;
        }
        report_pool(pool, &wrong, problems);
    }
}

/* A plan buys nothing for a NodePool that the API server would refuse, whichever field it is. */
static void leave_out_refused(struct cluster *cluster, struct problems *problems)
{
    size_t count = 0;
    for (size_t i = 0; i < cluster->pool_count; i++) {
        const struct pool *pool = cluster->pools[i].pool;
        struct complaint wrong = {0};
        struct error error;
        pool_check(pool, cluster->arena, &wrong);
        if (complaint_is_none(&wrong, pool->object, cluster->arena, &error))
            cluster->pools[count++] = cluster->pools[i];
        else
            report_pool(pool, &error, problems);
    }
    cluster->pool_count = count;
}

struct text cluster_pool_fault(const struct cluster *cluster, const struct pool *pool)
{
    struct cluster_pool read;
    struct complaint wrong = {0};
    struct error error = {0};
    if (read_pool(cluster, pool, &read, &error)) {
        pool_check(pool, cluster->arena, &wrong);
        if (complaint_is_none(&wrong, pool->object, cluster->arena, &error))
            return TEXT("");
    }
    return arena_printf(cluster->arena, "%s", error.what);
}

/* ---- pods ---- */

static int compare_to_state_node(const void *name, const void *state_node)
{
    return text_compare(*(const struct text *)name,
                        text_of(((const struct state_node *)state_node)->node_name));
}

/* The index of the node of that name; NO_NODE: none. The nodes must be sorted. */
static size_t state_node_find(const struct state_nodes *state_nodes, struct text name)
{
    if (state_nodes->count == 0)
        return NO_NODE;
    const struct state_node *found = bsearch(&name, state_nodes->items, state_nodes->count,
                                             sizeof *state_nodes->items, compare_to_state_node);
    return found == NULL ? NO_NODE : (size_t)(found - state_nodes->items);
}

/* Without a clock, nobody knows how long a duration still lasts. */
static bool is_held(const struct cluster *cluster, const struct object *pod)
{
    int64_t until_unix_s = 0;
    return opt_out_of_pod(pod, cluster->now_unix_s, &until_unix_s) &&
           (until_unix_s == INT64_MAX || cluster->now_unix_s > 0);
}

/* Whether a pod is rescheduled when its Node is removed (docs/reference/karpenter.md 2.1): not one
 * of a DaemonSet, a mirror pod, or one that nobody evicts; of pods that are being deleted only a
 * StatefulSet's, which come back under the same name. */
static bool pod_moves(const struct cluster *cluster, const struct object *pod)
{
    if (object_is_of_daemon_set(pod) || pod_is_mirror(pod))
        return false;
    if (pod->deleting)
        return kind_of(pod->controller.api_version, pod->controller.kind) == KIND_STATEFUL_SET;
    return !is_held(cluster, pod) &&
           eviction_budgets_blocking(cluster->budgets, pod, EVICTION_BLOCKED_FOR_GOOD).count == 0;
}

static bool state_nodes_leave(const struct state_nodes *state_nodes)
{
    bool any = false;
    FOR_EACH(state_node, state_nodes)
        any |= state_node->leaving;
    return any;
}

static bool drill_bounds(const struct cluster *cluster)
{
    return cluster->drill != NULL && cluster->drill->bounded != NULL;
}

static void find_node(struct cluster *cluster, struct cluster_pod *pod)
{
    if (pod->phase != POD_RUNNING)
        return;
    pod->state_node = state_node_find(&cluster->state_nodes, pod->node_name);
    if (pod->state_node == NO_NODE &&
        state_node_find(&cluster->lost_nodes, pod->node_name) != NO_NODE) {
        drill_move_pod(cluster, pod);
        if (drill_bounds(cluster) && text_map_has(cluster->drill->bounded, pod->node_name) &&
            !pod_moves(cluster, pod->object))
            pod->phase = POD_WAITING;
        return;
    }
    bool leaving =
        pod->state_node != NO_NODE && cluster->state_nodes.items[pod->state_node].leaving;
    if (leaving && pod_moves(cluster, pod->object)) {
        pod->phase = POD_PENDING;
        pod->state_node = NO_NODE;
        pod->had_node = false;
        pod->leaving = false;
    }
}

struct claim_list {
    struct volume_claim **items;
    size_t count, capacity;
};

static void add_claim(struct cluster *cluster, const struct cluster_pod *pod, struct text name,
                      const struct field *template, struct claim_list *claims)
{
    *LIST_PUSH(cluster->arena, claims) =
        volume_claim_get(cluster->claims, pod->namespace, name, template);
}

/* A claim template of a StatefulSet replaces a volume of its name. */
static void add_set_claims(struct cluster *cluster, const struct cluster_pod *pod,
                           struct text_list *volumes, struct claim_list *claims)
{
    if (pod->object->kind != KIND_STATEFUL_SET)
        return;
    struct arena *arena = cluster->arena;
    const struct field *templates = field_at(arena, pod->object->root, "spec.volumeClaimTemplates");
    FOR_FIELDS(template, arena, templates) {
        struct text name = node_string(node_at(template->node, "metadata.name"));
        *LIST_PUSH(arena, volumes) = name;
        add_claim(cluster, pod,
                  arena_printf(arena, "%.*s-%.*s", TEXT_ARGS(name), TEXT_ARGS(pod->name)), template,
                  claims);
    }
}

static void read_claims(struct cluster *cluster, struct cluster_pod *pod)
{
    struct arena *arena = cluster->arena;
    struct text_list from_set = {0};
    struct claim_list claims = {0};
    add_set_claims(cluster, pod, &from_set, &claims);
    const struct field *spec = pod->source->workload.spec;
    const struct node *volumes = node_get(spec->node, "volumes");
    for (size_t i = 0; node_is(volumes, NODE_LIST) && i < node_count(volumes); i++) {
        const struct node *volume = node_item(volumes, i);
        struct text name = node_string(node_get(volume, "name"));
        struct text claim = node_string(node_at(volume, "persistentVolumeClaim.claimName"));
        if (texts_have(from_set.items, from_set.count, name))
            continue;
        if (claim.size > 0)
            add_claim(cluster, pod, claim, set_claim_template(pod->set, pod->name, claim, arena),
                      &claims);
        else if (node_is(node_at(volume, "ephemeral.volumeClaimTemplate"), NODE_MAP))
            add_claim(cluster, pod,
                      arena_printf(arena, "%.*s-%.*s", TEXT_ARGS(pod->name), TEXT_ARGS(name)),
                      field_at(arena, field_item(arena, field_get(arena, spec, "volumes"), i),
                               "ephemeral.volumeClaimTemplate"),
                      &claims);
    }
    pod->claims = claims.items;
    pod->claim_count = claims.count;
}

static void check_volumes(const struct cluster *cluster, struct problems *problems)
{
    for (size_t i = 0; i < snapshot_count(cluster->snapshot, KIND_PERSISTENT_VOLUME); i++) {
        const struct object *volume = snapshot_object(cluster->snapshot, KIND_PERSISTENT_VOLUME, i);
        struct complaint wrong = {0};
        volume_check(volume, cluster->arena, &wrong);
        if (wrong.field != NULL)
            problems_add(problems, ERROR_INPUT, object_place(volume, wrong.field, cluster->arena),
                         "PersistentVolume %.*s is left out: %.*s", TEXT_ARGS(volume->name),
                         TEXT_ARGS(wrong.message));
    }
}

static void take_claim_faults(struct cluster_pod *pod)
{
    for (size_t i = 0; i < pod->claim_count && pod->fault.message.size == 0; i++)
        pod->fault = pod->claims[i]->fault;
}

const struct pod_fault *cluster_pod_nodes_only(const struct cluster_pod *pod)
{
    const struct pod_fault *fault = &pod->shape->nodes_only;
    for (size_t i = 0; i < pod->claim_count && fault->message.size == 0; i++)
        fault = &pod->claims[i]->nodes_only;
    return fault;
}

void cluster_locate_volumes(struct cluster *cluster, struct cluster_pod *pod)
{
    for (size_t i = 0; i < pod->claim_count; i++)
        volume_claim_locate(cluster->claims, pod->claims[i]);
    take_claim_faults(pod);
}

/* before: the pod before it by name, whose shape is read; NULL: none. */
static void read_pod(struct cluster *cluster, const struct cluster_pod *before,
                     struct cluster_pod *pod)
{
    if (before != NULL && !before->shape->fault.broken &&
        pod_shapes_agree(before->object, pod->object))
        pod->shape = before->shape;
    if (pod->shape == NULL)
        pod->shape = ARENA_NEW(cluster->arena, struct pod_shape);
    if (!pod->shape->read) {
        pod_shape_read(cluster->snapshot, pod->source, cluster->arena, pod->shape);
        if (cluster->extends_tolerations)
            tolerate_extended_resources(&pod->shape->solver, &pod->shape->requests, cluster->arena);
    }
    read_claims(cluster, pod);
    pod->fault = pod->shape->fault;
    if (pod->phase == POD_RUNNING)
        take_claim_faults(pod);
    else
        cluster_locate_volumes(cluster, pod);
}

/* Reports what cannot be understood once, for the workload that makes the pods. */
static void report_broken(const struct object *object, struct text name, struct pod_shape *shape,
                          struct problems *problems)
{
    if (shape->reported)
        return;
    shape->reported = true;
    problems_add(problems, ERROR_INPUT, shape->fault.place, "%s %.*s/%.*s is left out: %.*s",
                 kind_table[object->kind].name, TEXT_ARGS(object->namespace), TEXT_ARGS(name),
                 TEXT_ARGS(shape->fault.message));
}

static void leave_out_broken(struct cluster_pod *pod, struct arena *arena,
                             struct problems *problems)
{
    if (pod->phase != POD_PENDING || !pod->fault.broken)
        return;
    bool itself = pod->object->kind == KIND_POD;
    report_broken(pod->object, itself ? pod->name : object_display_name(pod->object, arena),
                  pod->shape, problems);
    pod->phase = POD_WAITING;
}

static bool read_daemon(const struct cluster *cluster, struct daemon *daemon,
                        struct problems *problems)
{
    struct node_selection selection;
    node_selection_read(&daemon->template, cluster->arena, &selection);
    if (selection.required.count > 0)
        daemon->source.affinity_of = &daemon->template;
    pod_shape_read(cluster->snapshot, &daemon->source, cluster->arena, &daemon->shape);
    if (daemon->shape.fault.broken)
        report_broken(daemon->object, object_display_name(daemon->object, cluster->arena),
                      &daemon->shape, problems);
    return !daemon->shape.fault.broken;
}

void cluster_read_daemons(struct cluster *cluster, struct problems *problems)
{
    struct daemons *daemons = &cluster->daemons;
    size_t count = 0;
    for (size_t i = 0; i < daemons->count; i++)
        if (read_daemon(cluster, &daemons->items[i], problems))
            daemons->items[count++] = daemons->items[i];
    daemons->count = count;
}

/* ---- claims of one pod ---- */

static bool holds_claim(const struct cluster_pod *pod)
{
    return pod->phase == POD_RUNNING && !pod->leaving;
}

static bool wants_claim(const struct cluster_pod *pod)
{
    return pod->phase == POD_PENDING && pod->fault.message.size == 0;
}

/* One that another pod has, as this one has none yet; NULL: none. */
static const struct volume_claim *held_claim(const struct cluster_pod *pod)
{
    for (size_t i = 0; i < pod->claim_count; i++)
        if (pod->claims[i]->holder != NULL)
            return pod->claims[i];
    return NULL;
}

static void take_claims(const struct cluster_pod *pod)
{
    for (size_t i = 0; i < pod->claim_count; i++)
        if (pod->claims[i]->of_one_pod)
            pod->claims[i]->holder = pod;
}

static void hold_back(struct cluster_pod *pod, const struct volume_claim *held, struct arena *arena)
{
    bool has_it = holds_claim(held->holder);
    pod->held_back = !has_it;
    pod->fault = (struct pod_fault){
        .kind = SOLVER_REASON_VOLUME,
        .message = arena_printf(
            arena, "claim %s is for one pod alone (ReadWriteOncePod), and pod %.*s %s", held->id,
            TEXT_ARGS(held->holder->name), has_it ? "has it" : "comes first"),
        .fix = TEXT("give it a claim of its own")};
}

/* First the pod that has a node until now, then the oldest. */
static int compare_claimants(const void *a_pointer, const void *b_pointer)
{
    const struct cluster_pod *a = *(struct cluster_pod *const *)a_pointer;
    const struct cluster_pod *b = *(struct cluster_pod *const *)b_pointer;
    if ((a->node_name.size > 0) != (b->node_name.size > 0))
        return a->node_name.size > 0 ? -1 : 1;
    if (a->created_unix_s != b->created_unix_s)
        return a->created_unix_s < b->created_unix_s ? -1 : 1;
    return a < b ? -1 : a > b;
}

struct claimants {
    struct cluster_pod **items;
    size_t count, capacity;
};

/* To the first that wants them, and all others are held back. How many got theirs. */
static size_t give_in_turn(struct claimants *wanting, struct arena *arena)
{
    size_t given = 0;
    if (wanting->count > 0)
        qsort(wanting->items, wanting->count, sizeof *wanting->items, compare_claimants);
    for (size_t i = 0; i < wanting->count; i++) {
        struct cluster_pod *pod = wanting->items[i];
        const struct volume_claim *held = held_claim(pod);
        if (held != NULL) {
            hold_back(pod, held, arena);
            continue;
        }
        take_claims(pod);
        pod->held_back = false;
        pod->fault = (struct pod_fault){0};
        given++;
    }
    return given;
}

/* kube-scheduler places no pod while another has a claim of it with ReadWriteOncePod. Karpenter
 * does not look at that (docs/reference/karpenter.md 4.2). */
static void give_out_claims(struct cluster *cluster)
{
    struct claimants wanting = {0};
    for (size_t p = 0; p < cluster->pods.count; p++) {
        struct cluster_pod *pod = &cluster->pods.items[p];
        bool of_one_pod = false;
        for (size_t i = 0; i < pod->claim_count; i++)
            of_one_pod |= pod->claims[i]->of_one_pod;
        if (of_one_pod && holds_claim(pod))
            take_claims(pod);
        else if (of_one_pod && wants_claim(pod))
            *LIST_PUSH(cluster->arena, &wanting) = pod;
    }
    (void)give_in_turn(&wanting, cluster->arena);
}

size_t cluster_pass_on_claims(struct cluster *cluster)
{
    struct claimants wanting = {0};
    for (size_t p = 0; p < cluster->pods.count; p++) {
        struct cluster_pod *pod = &cluster->pods.items[p];
        if (pod->held_back)
            *LIST_PUSH(cluster->arena, &wanting) = pod;
        for (size_t i = 0; i < pod->claim_count; i++)
            if (pod->claims[i]->holder == pod && wants_claim(pod))
                pod->claims[i]->holder = NULL;
    }
    return give_in_turn(&wanting, cluster->arena);
}

/* ---- the cluster ---- */

void cluster_read_pools(struct cluster *cluster, struct problems *problems)
{
    const struct snapshot *snapshot = cluster->snapshot;
    zones_read(snapshot, cluster->catalog, ZONE_KEY_NAME, cluster->arena, &cluster->zones);
    claims_add_zones(snapshot, cluster->arena, &cluster->zones);
    zones_read_ids(snapshot, cluster->arena, &cluster->zones);
    read_pools(cluster, problems);
}

void cluster_read_pods(struct cluster *cluster, struct problems *problems)
{
    cluster->claims = volume_claims_create(cluster->snapshot, cluster->arena);
    if (state_nodes_leave(&cluster->state_nodes) || drill_bounds(cluster))
        cluster->budgets = eviction_budgets_read(cluster->snapshot, cluster->arena);
    for (size_t i = 0; i < cluster->pods.count; i++) {
        struct cluster_pod *pod = &cluster->pods.items[i];
        find_node(cluster, pod);
        read_pod(cluster, i == 0 ? NULL : pod - 1, pod);
        leave_out_broken(pod, cluster->arena, problems);
    }
    give_out_claims(cluster);
}

void cluster_read_supply(const struct snapshot *snapshot, const struct catalog *catalog,
                         struct arena *arena, struct cluster *cluster, struct problems *problems)
{
    *cluster = (struct cluster){.arena = arena, .snapshot = snapshot, .catalog = catalog};
    cluster_read_pools(cluster, problems);
    state_nodes_read(snapshot, arena, &cluster->state_nodes, problems);
}

void cluster_read(const struct snapshot *snapshot, const struct catalog *catalog,
                  const struct simulation_settings *settings, struct arena *arena,
                  struct cluster *cluster, struct problems *problems)
{
    const struct drill *drill = settings->drill;
    *cluster = (struct cluster){.arena = arena,
                                .snapshot = snapshot,
                                .catalog = catalog,
                                .drill = drill,
                                .now_unix_s = settings->now_unix_s,
                                .extends_tolerations = !settings->no_extended_resource_toleration,
                                .assumes_disks = true};
    cluster_read_pools(cluster, problems);
    leave_out_refused(cluster, problems);
    state_nodes_read(snapshot, arena, &cluster->state_nodes, problems);
    drill_take_nodes(cluster);
    drill_limit_pools(cluster);
    cluster->drill_problems.arena = arena;
    drill_check(cluster, &cluster->drill_problems);
    cluster->scaled = scaled_find(snapshot, drill, arena, &cluster->drill_problems);
    expand_pods(snapshot, &cluster->scaled, arena, &cluster->pods, &cluster->daemons, problems);
    check_volumes(cluster, problems);
    cluster_read_pods(cluster, problems);
    cluster_read_daemons(cluster, problems);
}
