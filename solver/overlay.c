#include <string.h>

#include "solver/query.h"

/* ---- changes that are undone ---- */

static void note(struct solver_run *run, void *at, size_t size_bytes)
{
    struct warm *warm = run->warm;
    struct overwritten *change = LIST_PUSH(warm->arena, &warm->changes);
    change->at = at;
    change->size_bytes = size_bytes;
    memcpy(change->old, at, size_bytes);
}
/* Only of what is the run's own. */
#define NOTE(run, lvalue) note((run), &(lvalue), sizeof(lvalue))

void overlay_undo(struct warm *warm)
{
    while (warm->changes.count > 0) {
        const struct overwritten *change = &warm->changes.items[--warm->changes.count];
        memcpy(change->at, change->old, change->size_bytes);
    }
}

/* ---- groups ---- */

static void adjust(struct solver_run *run, uint32_t number, uint32_t node, int32_t by)
{
    const struct solver_problem *problem = run->problem;
    const struct topology_group *group = &problem->groups.items[number];
    struct topology_group_state *state = &run->groups[number];
    uint32_t domain = topology_group_counts_node(group, node)
                          ? topology_group_domain(problem, group, node)
                          : SOLVER_NONE;
    if (domain == SOLVER_NONE)
        return;
    int32_t *count = &state->counts[domain];
    int32_t before = *count < 0 ? 0 : *count;
    bool own = number < run->warm->base.groups.count;
    if (own)
        NOTE(run, *count);
    *count = topology_group_count_after(problem, group, domain, before + by);
    if ((before > 0) == (*count > 0))
        return;
    if (own)
        NOTE(run, state->occupied);
    state->occupied += *count > 0 ? 1 : (size_t)-1;
}

static bool is_gone(const struct overlaid *overlaid, size_t node)
{
    return overlaid->gone != NULL && bits_has(overlaid->gone, node);
}

/* Takes off the domains only gone nodes were in. */
static void drop_domains(struct solver_run *run, const struct overlaid *overlaid, uint32_t number)
{
    const struct topology_group *group = &run->problem->groups.items[number];
    for (size_t i = 0; i < overlaid->gone_count && !group->hostname; i++) {
        uint32_t node = overlaid->gone_list[i];
        uint32_t domain = topology_group_counts_node(group, node)
                              ? topology_group_domain(run->problem, group, node)
                              : SOLVER_NONE;
        if (domain == SOLVER_NONE || run->groups[number].counts[domain] != 0 ||
            topology_group_has_domain(run->problem, group, domain, overlaid->gone))
            continue;
        if (number < run->warm->base.groups.count)
            NOTE(run, run->groups[number].counts[domain]);
        run->groups[number].counts[domain] = -1;
    }
}

static const struct label_class *class_of(const struct solver_problem *problem, uint32_t shape)
{
    return &problem->label_classes.items[problem->shapes.items[shape].label_class];
}

/* A pod more or less in every group that knows it. */
static void count_pod(struct solver_run *run, uint32_t shape_number, bool leaving, uint32_t node,
                      int32_t by)
{
    const struct shape *shape = &run->problem->shapes.items[shape_number];
    const struct label_class *class = class_of(run->problem, shape_number);
    for (size_t i = 0; i < class->counted_by.count && !leaving; i++)
        adjust(run, class->counted_by.items[i], node, by);
    for (size_t i = 0; i < class->listed_by.count && !leaving; i++)
        adjust(run, class->listed_by.items[i], node, by);
    for (size_t i = 0; i < shape->inverse_group_count; i++) {
        struct topology_group_state *state = &run->groups[shape->inverse_groups[i]];
        NOTE(run, state->owners);
        state->owners += by > 0 ? 1 : (size_t)-1;
        adjust(run, shape->inverse_groups[i], node, by);
    }
}

void overlay_apply_to(struct solver_run *run, const struct overlaid *overlaid, uint32_t number)
{
    const struct solver_problem *problem = run->problem;
    const struct topology_group *group = &problem->groups.items[number];
    /* An inverse one that is new is nobody's but the asker's. */
    for (size_t i = 0; i < overlaid->gone_count && !group->inverse; i++) {
        uint32_t node = overlaid->gone_list[i];
        for (size_t j = problem->node_starts[node]; j < problem->node_starts[node + 1]; j++) {
            const struct pod *pod = &run->warm->base.pods.items[problem->node_pods[j]];
            if (!pod->leaving &&
                topology_group_lists(problem, group, class_of(problem, pod->shape)))
                adjust(run, number, node, -1);
        }
    }
    drop_domains(run, overlaid, number);
    for (size_t i = 0; i < overlaid->pod_count && !group->inverse; i++)
        if (topology_group_lists(problem, group, class_of(problem, overlaid->pods[i].shape)))
            adjust(run, number, overlaid->pods[i].node, 1);
}

/* ---- nodes ---- */

static void drop_node(struct solver_run *run, uint32_t node)
{
    const struct solver_problem *problem = run->problem;
    int64_t *room = &run->room[(size_t)node * problem->resource_count];
    NOTE(run, *room);
    *room = -1; /* nothing fits, not even what asks for nothing */
    for (size_t i = problem->node_starts[node]; i < problem->node_starts[node + 1]; i++) {
        const struct pod *pod = &run->warm->base.pods.items[problem->node_pods[i]];
        count_pod(run, pod->shape, pod->leaving, node, -1);
    }
}

/* What gone nodes took off the limits of their pools is there again. */
static void give_back_limits(struct solver_run *run, const struct overlaid *overlaid)
{
    const struct solver_problem *problem = run->problem;
    bool *done = ARENA_ARRAY(run->arena, problem->pools.count, bool);
    for (size_t i = 0; i < overlaid->gone_count; i++) {
        uint32_t pool = problem->nodes.items[overlaid->gone_list[i]].pool;
        if (pool == SOLVER_NONE || !problem->pools.items[pool].has_limits || done[pool])
            continue;
        done[pool] = true;
        NOTE(run, run->limits[pool]);
        NOTE(run, run->limit_options[pool]);
        NOTE(run, run->limit_options_fresh[pool]);
        run->limits[pool] = ARENA_ARRAY(run->arena, problem->resource_count, int64_t);
        run->limit_options[pool] = ARENA_ARRAY(run->arena, problem->option_words, uint64_t);
        run->limit_options_fresh[pool] = false;
        pool_limits(problem, pool, overlaid->gone, run->limits[pool]);
    }
}

static void add_pod(struct solver_run *run, struct solver_problem *view,
                    const struct solver_overlay_pod *pod)
{
    const struct shape *shape = &view->shapes.items[pod->shape];
    int64_t *room = &run->room[(size_t)pod->node * view->resource_count];
    for (size_t r = 0; r < view->resource_count; r++) {
        if (shape->requests[r] == 0)
            continue;
        NOTE(run, room[r]);
        room[r] = subtract_capped(room[r], shape->requests[r]);
    }
    if (shape->port_count > 0)
        NOTE(run, run->node_ports[pod->node]);
    for (size_t i = 0; i < shape->port_count; i++)
        *LIST_PUSH(run->arena, &run->node_ports[pod->node]) = shape->ports[i];
    if (pod->mount_count > 0)
        NOTE(run, run->node_mounts[pod->node]);
    for (size_t i = 0; i < pod->mount_count; i++)
        *LIST_PUSH(run->arena, &run->node_mounts[pod->node]) = mount_make(view, &pod->mounts[i]);
    count_pod(run, pod->shape, false, pod->node, 1);
}

/* ---- the whole ---- */

static bool node_is_there(const struct solver_problem *problem, uint32_t node, struct error *error)
{
    return (node < problem->nodes.count && !problem->nodes.items[node].gone) ||
           error_set(error, ERROR_INPUT, NOWHERE, "there is no node %u", node);
}

static bool check(const struct solver_run *run, const struct solver_overlay *overlay,
                  const struct overlaid *overlaid, struct error *error)
{
    const struct solver_problem *problem = &run->warm->base;
    for (size_t i = 0; i < overlay->pod_count; i++) {
        const struct solver_overlay_pod *pod = &overlay->pods[i];
        if (pod->shape >= problem->shapes.count)
            return error_set(error, ERROR_INPUT, NOWHERE,
                             "a pod in flight is of shape %u, which is not there", pod->shape);
        if (!node_is_there(problem, pod->node, error))
            return false;
        if (is_gone(overlaid, pod->node))
            return error_set(error, ERROR_INPUT, NOWHERE,
                             "a pod in flight is on node %s, which is "
                             "gone",
                             problem->nodes.items[pod->node].name);
        if (pod->mount_count != 0 &&
            pod->mount_count != problem->shapes.items[pod->shape].volume_count)
            return error_set(error, ERROR_INPUT, NOWHERE,
                             "a pod in flight has %zu mounts and its shape %zu volumes",
                             pod->mount_count, problem->shapes.items[pod->shape].volume_count);
    }
    return true;
}

bool overlay_apply(struct solver_run *run, const struct solver_overlay *overlay,
                   struct overlaid *overlaid, struct error *error)
{
    *overlaid = (struct overlaid){0};
    if (overlay == NULL)
        return true;
    size_t node_count = run->problem->nodes.count;
    uint64_t *gone = ARENA_ARRAY(run->arena, bits_words(node_count), uint64_t);
    uint32_t *list = ARENA_ARRAY(run->arena, overlay->gone_node_count, uint32_t);
    for (size_t i = 0; i < overlay->gone_node_count; i++) {
        uint32_t node = overlay->gone_nodes[i];
        if (!node_is_there(run->problem, node, error))
            return false;
        if (bits_has(gone, node))
            continue;
        bits_add(gone, node);
        list[overlaid->gone_count++] = node;
    }
    overlaid->gone = gone;
    overlaid->gone_list = list;
    overlaid->pods = overlay->pods;
    overlaid->pod_count = overlay->pod_count;
    if (!check(run, overlay, overlaid, error))
        return false;
    for (size_t i = 0; i < overlaid->gone_count; i++)
        drop_node(run, list[i]);
    for (uint32_t i = 0; i < run->warm->base.groups.count && overlaid->gone_count > 0; i++)
        drop_domains(run, overlaid, i);
    give_back_limits(run, overlaid);
    for (size_t i = 0; i < overlay->pod_count; i++)
        add_pod(run, &run->warm->view, &overlay->pods[i]);
    return true;
}
