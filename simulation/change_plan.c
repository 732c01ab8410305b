/* What the pods of the nodes that a change takes need afterwards: a plan of the changed cluster,
 * without those nodes, beside the plan of the cluster as it is. */
#include "kube/object.h"
#include "kube/snapshot.h"
#include "simulation/change_impact.h"
#include "simulation/drill.h"
#include "simulation/simulation.h"

/* The snapshot with the object as it will be. */
static const struct snapshot *changed(const struct change_question *question, struct arena *arena)
{
    struct snapshot_builder *builder = snapshot_builder_create(arena);
    for (size_t kind = 0; kind < KIND_COUNT; kind++)
        for (size_t i = 0; i < snapshot_count(question->snapshot, (enum kind)kind); i++)
            snapshot_put(builder, snapshot_object(question->snapshot, (enum kind)kind, i));
    snapshot_put(builder, question->after != NULL ? question->after : question->before);
    return snapshot_build(builder);
}

/* ---- nodes and money ---- */

static void take_nodes(const struct change_impact *impact, struct arena *arena,
                       struct text_map *names)
{
    for (size_t i = 0; i < impact->forecast.node_count; i++) {
        const struct disruption_node *node = &impact->forecast.nodes[i];
        (void)text_map_add(names, arena, (node->node != NULL ? node->node : node->claim)->name);
    }
}

/* What is bought costs; -1: the price of some is not known. */
static int64_t bought_usd_micro(const struct simulation *simulation)
{
    size_t first = simulation->node_count - simulation->claim_count;
    for (size_t i = first; i < simulation->node_count; i++)
        if (simulation->nodes[i].usd_micro_per_hour < 0)
            return -1;
    return simulation->usd_micro_per_hour;
}

/* A NodeClaim whose Node has not come has no price that is known. */
static void read_prices(const struct simulation *with, const struct simulation *without,
                        size_t node_count, struct impact_plan *plan)
{
    int64_t bought = bought_usd_micro(with), anyway = bought_usd_micro(without);
    const struct drilled *drilled = with->drilled;
    bool all_priced = drilled->unpriced_count == 0 && drilled->node_count == node_count;
    plan->usd_micro_per_hour_before = all_priced ? drilled->usd_micro_per_hour : -1;
    plan->usd_micro_per_hour_after = -1;
    if (bought >= 0 && anyway >= 0)
        plan->usd_micro_per_hour_after = bought > anyway ? bought - anyway : 0;
}

/* ---- pods that fit nowhere ---- */

static struct text name_of_pod(const struct simulation *simulation, size_t index,
                               struct arena *arena)
{
    const struct simulation_pod *pod = &simulation->pods[simulation->unschedulable[index].pod];
    return arena_printf(arena, "%.*s/%.*s", TEXT_ARGS(pod->namespace), TEXT_ARGS(pod->name));
}

static void read_unschedulable(const struct simulation *with, const struct simulation *without,
                               struct arena *arena, struct impact_plan *plan)
{
    struct text_map before = {0};
    for (size_t i = 0; i < without->unschedulable_count; i++)
        (void)text_map_add(&before, arena, name_of_pod(without, i, arena));
    for (size_t i = 0; i < with->unschedulable_count; i++) {
        struct text name = name_of_pod(with, i, arena);
        if (!text_map_has(&before, name))
            *LIST_PUSH(arena, &plan->unschedulable) = name;
    }
}

bool change_impact_plan(const struct change_question *question, const struct change_impact *impact,
                        const struct catalog *catalog, const struct simulation_settings *settings,
                        struct arena *arena, struct impact_plan *plan, struct problems *problems,
                        struct error *error)
{
    struct simulation *with = ARENA_NEW(arena, struct simulation);
    struct simulation *without = ARENA_NEW(arena, struct simulation);
    struct problems twice = {.arena = arena};
    struct simulation_settings drilled = *settings;
    struct text_map nodes = {0};
    struct drill drill = {.nodes = &nodes};
    bool all_named = impact->forecast.node_count == change_impact_nodes(impact);
    *plan = (struct impact_plan){0};
    if (!all_named)
        plan->usd_micro_per_hour_before = plan->usd_micro_per_hour_after = -1;
    if (impact->forecast.node_count == 0)
        return true;
    take_nodes(impact, arena, &nodes);
    if (question->after == NULL)
        *LIST_PUSH(arena, &drill.pools) = question->before->name;
    drilled.drill = &drill;
    const struct snapshot *after = changed(question, arena);
    if (!simulation_run(question->snapshot, catalog, settings, arena, without, &twice, error) ||
        !simulation_run(after, catalog, &drilled, arena, with, problems, error))
        return false;
    if (all_named)
        read_prices(with, without, impact->forecast.node_count, plan);
    read_unschedulable(with, without, arena, plan);
    plan->simulation = with;
    return true;
}
