#include "pinning/standing.h"

#include <stdlib.h>
#include <string.h>

#include "kube/object.h"
#include "kube/snapshot.h"
#include "kube/to_solver.h"
#include "pinning/standing_mark.h"
#include "simulation/cluster.h"
#include "simulation/owner.h"
#include "solver/well_known.h"

/* ---- machines ---- */

static void read_zone(const struct machine *machine, struct arena *arena,
                      struct stood_machine *stood)
{
    for (size_t i = 0; i < machine->labels.count; i++) {
        struct text key = text_of(machine->labels.items[i].key);
        struct text zone = text_of(machine->labels.items[i].value);
        key.data = solver_canonical_key(key.data, &key.size);
        if (!text_is(key, LABEL_ZONE))
            continue;
        stood->zone_unclear |= stood->zone.size > 0 && !text_equal(stood->zone, zone);
        stood->zone = arena_text(arena, zone);
    }
}

static struct stood_machine stand_machine(const struct machine *machine,
                                          const struct machine_source *source,
                                          const struct standing_memory *memory)
{
    struct arena *arena = memory->problem;
    struct stood_machine stood = {
        .node_name = arena_text(arena, text_of(machine->node_name)),
        .name = arena_text(arena, text_of(machine->name)).data,
        .leaving = machine->leaving,
        .mark = mark_of_machine(machine),
    };
    if (source->node != NULL)
        stood.node = arena_text(arena, source->node->name);
    if (source->claim != NULL)
        stood.claim = arena_text(arena, source->claim->name);
    read_zone(machine, arena, &stood);
    return stood;
}

static int compare_stood(const void *a_pointer, const void *b_pointer)
{
    const struct stood_machine *a = a_pointer;
    const struct stood_machine *b = b_pointer;
    int order = text_compare(a->node_name, b->node_name);
    return order != 0 ? order : strcmp(a->name, b->name);
}

static void sort_machines(struct stood_machines *machines)
{
    if (machines->count > 1)
        qsort(machines->items, machines->count, sizeof *machines->items, compare_stood);
}

static const struct stood_machine *find_machine(const struct stood_machines *machines,
                                                struct text node_name)
{
    size_t low = 0;
    size_t high = machines->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (text_compare(machines->items[middle].node_name, node_name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < machines->count && text_equal(machines->items[low].node_name, node_name)
               ? &machines->items[low]
               : NULL;
}

const struct stood_machine *standing_machine(const struct standing *standing, struct text node_name)
{
    return find_machine(&standing->machines, node_name);
}

/* ---- pods ---- */

static struct text node_name_of(const struct object *pod)
{
    return node_string(node_at(pod->root->node, "spec.nodeName"));
}

bool pod_stands(const struct object *pod)
{
    return node_name_of(pod).size > 0 && !pod_is_done(pod);
}

/* Pods that only have a generateName are all different. */
static const char *id_of(const struct object *pod, size_t index, struct arena *arena)
{
    if (pod->name.size > 0)
        return arena_printf(arena, "%.*s/%.*s", TEXT_ARGS(pod->namespace), TEXT_ARGS(pod->name))
            .data;
    return arena_printf(arena, "%.*s/%.*s#%zu", TEXT_ARGS(pod->namespace),
                        TEXT_ARGS(pod->generate_name), index)
        .data;
}

/* What the solver refuses is left out. */
static void add_pod(struct solver_builder *builder, const struct snapshot *snapshot,
                    const struct object *pod, const char *id, uint32_t node, struct arena *arena)
{
    struct shape_source source = {.namespace = pod->namespace};
    struct pod_shape shape;
    struct error error;
    struct solver_pod added = {
        .name = id,
        .uid = "",
        .node = node,
        .daemon = object_is_of_daemon_set(pod),
        .leaving = pod->deleting,
    };
    uint32_t number = 0;
    if (node == SOLVER_NONE || !workload_read(pod, arena, &source.workload))
        return;
    running_shape_read(snapshot, &source, arena, &shape);
    shape.solver.requests = named_amounts_number(&shape.requests, builder, arena);
    (void)!(solver_add_shape(builder, &shape.solver, &added.shape, &error) &&
            solver_add_pod(builder, &added, &number, &error));
}

/* ---- namespaces ---- */

bool standing_knows_namespace(const struct standing *standing, struct text name)
{
    for (size_t i = standing->namespaces.count; i > 0; i--)
        if (text_equal(standing->namespaces.items[i - 1], name))
            return true;
    return false;
}

/* Of those that nobody runs in, nothing matters. */
static bool add_namespace(struct standing *standing, struct solver_builder *builder,
                          const struct snapshot *snapshot, struct text name,
                          const struct standing_memory *memory, struct error *error)
{
    if (standing_knows_namespace(standing, name))
        return true;
    struct text kept = arena_text(memory->problem, name);
    *LIST_PUSH(memory->problem, &standing->namespaces) = kept;
    return solver_add_namespace(builder, kept.data,
                                namespace_labels(snapshot, name, memory->passing), error);
}

static bool add_namespaces_of(struct standing *standing, struct solver_builder *builder,
                              const struct snapshot *snapshot, enum kind kind,
                              const struct standing_memory *memory, struct error *error)
{
    struct text last = {0};
    for (size_t i = 0; i < snapshot_count(snapshot, kind); i++) {
        const struct object *object = snapshot_object(snapshot, kind, i);
        if (i > 0 && text_equal(object->namespace, last))
            continue;
        last = object->namespace;
        if (!add_namespace(standing, builder, snapshot, last, memory, error))
            return false;
    }
    return true;
}

/* ---- daemons ---- */

static bool is_newer(const struct object *pod, const struct object *newest)
{
    return newest == NULL || pod->created_unix_s > newest->created_unix_s;
}

static void find_daemons(const struct snapshot *snapshot, struct arena *arena,
                         struct daemons *daemons)
{
    size_t count = snapshot_count(snapshot, KIND_DAEMON_SET);
    const struct object **newest = ARENA_ARRAY(arena, count, const struct object *);
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_POD) && count > 0; i++) {
        const struct object *pod = snapshot_object(snapshot, KIND_POD, i);
        const struct owner *owner = &pod->controller;
        if (!text_is(owner->kind, "DaemonSet") ||
            kind_of(owner->api_version, owner->kind) != KIND_DAEMON_SET)
            continue;
        size_t index = snapshot_index(snapshot, KIND_DAEMON_SET, pod->namespace, owner->name);
        if (index < count && is_newer(pod, newest[index]) && !pod_is_done(pod) &&
            uids_agree(snapshot_object(snapshot, KIND_DAEMON_SET, index)->uid, owner->uid))
            newest[index] = pod;
    }
    for (size_t i = 0; i < count; i++)
        daemon_add(snapshot_object(snapshot, KIND_DAEMON_SET, i), newest[i], arena, daemons);
}

static void read_daemons(struct cluster *cluster)
{
    struct problems problems = {.arena = cluster->arena};
    find_daemons(cluster->snapshot, cluster->arena, &cluster->daemons);
    cluster_read_daemons(cluster, &problems);
}

bool standing_daemons_agree(const struct standing *standing, const struct snapshot *snapshot,
                            struct arena *arena)
{
    struct cluster cluster = {.arena = arena, .snapshot = snapshot};
    read_daemons(&cluster);
    if (cluster.daemons.count != standing->daemon_count)
        return false;
    for (size_t i = 0; i < standing->daemon_count; i++)
        if (mark_of_daemon(&cluster.daemons.items[i]) != standing->daemons[i])
            return false;
    return true;
}

static void mark_daemons(struct standing *standing, const struct cluster *cluster,
                         struct arena *arena)
{
    standing->daemon_count = cluster->daemons.count;
    standing->daemons = ARENA_ARRAY(arena, standing->daemon_count, uint64_t);
    for (size_t i = 0; i < standing->daemon_count; i++)
        standing->daemons[i] = mark_of_daemon(&cluster->daemons.items[i]);
}

/* ---- zones ---- */

bool standing_zones_agree(const struct standing *standing, const struct snapshot *snapshot,
                          struct arena *arena)
{
    struct zones zones = {0};
    cluster_zones_read(snapshot, standing->catalog, arena, &zones);
    bool agree = zones.count == standing->zones.count;
    for (size_t i = 0; agree && i < zones.count; i++)
        agree = text_equal(zones.items[i], standing->zones.items[i]);
    return agree;
}

/* ---- from nothing ---- */

/* Of each machine what tells whether it changed. */
static void stand_machines(struct standing *standing, const struct snapshot *snapshot,
                           const struct cluster *cluster, const struct standing_memory *memory)
{
    struct machine_sources sources;
    struct problems problems = {.arena = memory->passing};
    machine_sources_find(snapshot, memory->passing, &sources, &problems);
    for (size_t i = 0; i < sources.count; i++) {
        const struct machine_source *source = &sources.items[i];
        const struct object *named = source->node != NULL ? source->node : source->claim;
        size_t found = machine_find(&cluster->machines, named->name);
        if (found != NO_MACHINE)
            *LIST_PUSH(memory->problem, &standing->machines) =
                stand_machine(&cluster->machines.items[found], source, memory);
    }
    sort_machines(&standing->machines);
}

static void add_pods(struct solver_builder *builder, const struct snapshot *snapshot,
                     const struct cluster *cluster, const struct standing_memory *memory)
{
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_POD); i++) {
        const struct object *pod = snapshot_object(snapshot, KIND_POD, i);
        if (!pod_stands(pod))
            continue;
        size_t number = machine_find(&cluster->machines, node_name_of(pod));
        if (number == NO_MACHINE)
            continue;
        const struct machine *machine = &cluster->machines.items[number];
        if (machine->leaving && pod_moves(pod))
            continue;
        add_pod(builder, snapshot, pod, id_of(pod, i, memory->piece), machine->number,
                memory->piece);
        arena_reset(memory->piece);
    }
}

static void keep_zones(struct standing *standing, const struct zones *zones, struct arena *arena)
{
    for (size_t i = 0; i < zones->count; i++)
        zones_add(&standing->zones, arena_text(arena, zones->items[i]), arena);
}

bool standing_build(struct standing *standing, const struct snapshot *snapshot,
                    const struct catalog *catalog, const struct karpenter_settings *settings,
                    const struct standing_memory *memory, struct error *error)
{
    struct solver_settings of_solver = karpenter_solver_settings(settings);
    struct cluster cluster;
    struct problems problems = {.arena = memory->passing};
    *standing = (struct standing){.catalog = catalog, .settings = *settings};
    cluster_read_supply(snapshot, catalog, memory->passing, &cluster, &problems);
    cluster.reserved =
        (struct reserved_capacity){.off = settings->no_reserved_capacity, .uncounted = true};
    for (size_t i = 0; i < cluster.machines.count; i++)
        cluster.machines.items[i].attach_limit_count = 0;
    read_daemons(&cluster);
    struct solver_builder *builder = solver_builder_create(memory->problem);
    if (!cluster_add_supply(&cluster, builder, error) ||
        !cluster_add_daemons(&cluster, builder, error) ||
        !add_namespaces_of(standing, builder, snapshot, KIND_STATEFUL_SET, memory, error) ||
        !add_namespaces_of(standing, builder, snapshot, KIND_POD, memory, error))
        return false;
    add_pods(builder, snapshot, &cluster, memory);
    stand_machines(standing, snapshot, &cluster, memory);
    mark_daemons(standing, &cluster, memory->problem);
    keep_zones(standing, &cluster.zones, memory->problem);
    return solver_build(builder, &of_solver, &standing->problem, error);
}

/* ---- derived ---- */

struct deriving {
    struct standing *standing;
    const struct snapshot *snapshot;
    const struct standing_delta *delta;
    const struct standing_memory *memory;
    struct standing_effect *effect;
    struct solver_builder *builder;
    struct stood_machines machines;
    struct texts arrivals; /* node names of machines that came, or are going now */
};

static bool are_among(const struct texts *names, struct text name)
{
    for (size_t i = 0; name.size > 0 && i < names->count; i++)
        if (text_equal(names->items[i], name))
            return true;
    return false;
}

static struct text name_or_none(const struct object *object)
{
    return object == NULL ? TEXT("") : object->name;
}

/* Whether the machine was read from these very objects, as they are still. */
static bool is_as_it_was(const struct deriving *deriving, const struct stood_machine *machine,
                         const struct machine_source *source)
{
    return machine != NULL && text_equal(machine->node, name_or_none(source->node)) &&
           text_equal(machine->claim, name_or_none(source->claim)) &&
           !are_among(&deriving->delta->nodes, machine->node) &&
           !are_among(&deriving->delta->claims, machine->claim);
}

static bool is_of_pool(const struct solver_problem *problem, const char *pool)
{
    for (uint32_t i = 0; pool != NULL && i < solver_pool_count(problem); i++)
        if (strcmp(solver_pool_name(problem, i), pool) == 0)
            return true;
    return false;
}

/* Machines that changed, with what they are now. */
struct machine_change {
    const struct stood_machine *before;
    struct machine machine;
    struct stood_machine after;
};
struct machine_changes {
    struct machine_change *items;
    size_t count, capacity;
};

/* What is not as it was, in changes; what is, and all that is new, in deriving->machines. */
static void find_changes(struct deriving *deriving, struct machine_changes *changes)
{
    struct arena *arena = deriving->memory->passing;
    struct machine_sources sources;
    struct problems problems = {.arena = arena};
    machine_sources_find(deriving->snapshot, arena, &sources, &problems);
    for (size_t i = 0; i < sources.count; i++) {
        const struct machine_source *source = &sources.items[i];
        const struct object *named = source->node != NULL ? source->node : source->claim;
        const struct stood_machine *before = standing_machine(deriving->standing, named->name);
        struct machines read = {0};
        if (is_as_it_was(deriving, before, source)) {
            *LIST_PUSH(deriving->memory->problem, &deriving->machines) = *before;
            continue;
        }
        machine_add(deriving->snapshot, source, arena, &read, &problems);
        if (read.count == 0)
            continue;
        read.items[0].attach_limit_count = 0;
        struct stood_machine after = stand_machine(&read.items[0], source, deriving->memory);
        *LIST_PUSH(deriving->memory->problem, &deriving->machines) = after;
        if (before == NULL || before->mark != after.mark)
            *LIST_PUSH(arena, changes) = (struct machine_change){before, read.items[0], after};
    }
    sort_machines(&deriving->machines);
}

static void note_machine(struct deriving *deriving, const struct stood_machine *machine)
{
    *LIST_PUSH(deriving->memory->passing, &deriving->effect->machines) = *machine;
}

/* Those that are no more, or have another name in the problem. */
static bool remove_machines(struct deriving *deriving, struct error *error)
{
    const struct stood_machines *before = &deriving->standing->machines;
    for (size_t i = 0; i < before->count; i++) {
        const struct stood_machine *machine = &before->items[i];
        const struct stood_machine *after = find_machine(&deriving->machines, machine->node_name);
        if (after != NULL && strcmp(after->name, machine->name) == 0)
            continue;
        note_machine(deriving, machine);
        if (!solver_remove_node(deriving->builder,
                                solver_find_node(deriving->builder, machine->name), error))
            return false;
    }
    return true;
}

static bool apply_change(struct deriving *deriving, const struct machine_change *change,
                         struct error *error)
{
    const struct solver_problem *problem = deriving->standing->problem;
    struct arena *arena = deriving->memory->passing;
    bool of_pool = is_of_pool(problem, change->machine.pool);
    const struct solver_node node =
        machine_convert(&change->machine, of_pool, deriving->builder, arena);
    note_machine(deriving, &change->after);
    if (change->before != NULL && strcmp(change->before->name, node.name) == 0) {
        note_machine(deriving, change->before);
        if (change->before->leaving != change->after.leaving)
            *LIST_PUSH(arena, &deriving->arrivals) = change->after.node_name;
        return solver_change_node(deriving->builder, solver_find_node(deriving->builder, node.name),
                                  &node, error);
    }
    uint32_t number = 0;
    *LIST_PUSH(arena, &deriving->arrivals) = change->after.node_name;
    return solver_add_node(deriving->builder, &node, &number, error);
}

static bool derive_machines(struct deriving *deriving, struct error *error)
{
    struct machine_changes changes = {0};
    if (deriving->delta->nodes.count == 0 && deriving->delta->claims.count == 0) {
        deriving->machines = deriving->standing->machines;
        return true;
    }
    find_changes(deriving, &changes);
    if (!remove_machines(deriving, error))
        return false;
    for (size_t i = 0; i < changes.count; i++)
        if (!apply_change(deriving, &changes.items[i], error))
            return false;
    return true;
}

/* The pod as it is now, whatever it was. */
static bool derive_pod(struct deriving *deriving, struct text namespace, struct text name,
                       struct error *error)
{
    struct arena *piece = deriving->memory->piece;
    const struct object *pod = snapshot_find(deriving->snapshot, KIND_POD, namespace, name);
    const char *id = arena_printf(piece, "%.*s/%.*s", TEXT_ARGS(namespace), TEXT_ARGS(name)).data;
    uint32_t number = solver_find_pod(deriving->builder, id);
    const struct stood_machine *machine = pod != NULL && pod_stands(pod)
                                              ? find_machine(&deriving->machines, node_name_of(pod))
                                              : NULL;
    if (number != SOLVER_NONE && !solver_remove_pod(deriving->builder, number, error))
        return false;
    if (machine == NULL || (machine->leaving && pod_moves(pod)))
        return true;
    if (!add_namespace(deriving->standing, deriving->builder, deriving->snapshot, namespace,
                       deriving->memory, error))
        return false;
    add_pod(deriving->builder, deriving->snapshot, pod, id,
            solver_find_node(deriving->builder, machine->name), piece);
    return true;
}

static bool derive_pods(struct deriving *deriving, struct error *error)
{
    const struct standing_delta *delta = deriving->delta;
    struct arena *piece = deriving->memory->piece;
    for (size_t i = 0; i < delta->pods.count; i++, arena_reset(piece))
        if (!derive_pod(deriving, delta->pods.items[i].namespace, delta->pods.items[i].name, error))
            return false;
    const struct snapshot *snapshot = deriving->snapshot;
    for (size_t i = 0; deriving->arrivals.count > 0 && i < snapshot_count(snapshot, KIND_POD);
         i++) {
        const struct object *pod = snapshot_object(snapshot, KIND_POD, i);
        if (!are_among(&deriving->arrivals, node_name_of(pod)) || !pod_stands(pod))
            continue;
        *LIST_PUSH(deriving->memory->passing, &deriving->effect->arrived) = pod;
        if (!derive_pod(deriving, pod->namespace, pod->name, error))
            return false;
        arena_reset(piece);
    }
    return true;
}

static bool derive_namespaces(struct deriving *deriving, struct error *error)
{
    const struct texts *names = &deriving->delta->namespaces;
    struct arena *arena = deriving->memory->passing;
    for (size_t i = 0; i < names->count; i++) {
        struct text name = names->items[i];
        if (standing_knows_namespace(deriving->standing, name) &&
            !solver_add_namespace(deriving->builder, terminated(arena, name),
                                  namespace_labels(deriving->snapshot, name, arena), error))
            return false;
    }
    return add_namespaces_of(deriving->standing, deriving->builder, deriving->snapshot,
                             KIND_STATEFUL_SET, deriving->memory, error);
}

bool standing_derive(struct standing *standing, const struct snapshot *snapshot,
                     const struct standing_delta *delta, const struct standing_memory *memory,
                     struct standing_effect *effect, struct error *error)
{
    struct solver_settings of_solver = karpenter_solver_settings(&standing->settings);
    struct deriving deriving = {.standing = standing,
                                .snapshot = snapshot,
                                .delta = delta,
                                .memory = memory,
                                .effect = effect,
                                .builder = solver_amend(standing->problem)};
    *effect = (struct standing_effect){0};
    if (!derive_machines(&deriving, error) || !derive_namespaces(&deriving, error) ||
        !derive_pods(&deriving, error) ||
        !solver_build(deriving.builder, &of_solver, &standing->problem, error))
        return false;
    standing->machines = deriving.machines;
    effect->limits_differ = !solver_limits_agree(standing->problem);
    return true;
}
