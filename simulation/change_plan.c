/* What the pods of the nodes that a change takes need afterwards: a plan of the changed cluster,
 * without those nodes, beside the plan of the cluster as it is. */
#include "catalog/usd.h"
#include "kube/object.h"
#include "kube/pool.h"
#include "kube/quantity.h"
#include "kube/snapshot.h"
#include "simulation/change_impact.h"
#include "simulation/drill.h"
#include "simulation/simulation.h"
#include "solver/well_known.h"

struct planning {
    const struct change_question *question;
    const struct change_impact *impact;
    const struct catalog *catalog;
    const struct simulation_settings *settings;
    const struct snapshot *after;
    struct arena *arena;
    struct impact_plan *plan;
    struct drill drill; /* without its nodes */
    /* Names of Nodes: all that go, those of them whose pods need a place first, those that leave
     * already, those that are to be replaced and blocked as things are, those whose drain has an
     * end or has begun, and those that stay. */
    struct text_map going, drilled, leaving, blocked, bounded, staying;
    struct text_map begun;    /* all that leave already, also those that the change does not take */
    struct text_map in_doubt; /* those that may stay, where they are too many to ask */
    struct text_map claims;   /* how many NodeClaims a NodePool has */
    /* Pods that fit nowhere as things are, and those that no controller makes again. */
    struct text_map nowhere, gone;
};

/* Else the change deletes all of its nodes at once. */
static bool replaces(const struct planning *planning)
{
    return planning->impact->nodes_replaced > 0;
}

/* The snapshot with the object as it will be, and with what comes beside it. */
static const struct snapshot *changed(const struct change_question *question, struct arena *arena)
{
    struct snapshot_builder *builder = snapshot_builder_create(arena);
    for (size_t kind = 0; kind < KIND_COUNT; kind++)
        for (size_t i = 0; i < snapshot_count(question->snapshot, (enum kind)kind); i++)
            snapshot_put(builder, snapshot_object(question->snapshot, (enum kind)kind, i));
    for (size_t i = 0; i < question->beside_count; i++)
        snapshot_put(builder, question->beside[i]);
    snapshot_put(builder, question->after != NULL ? question->after : question->before);
    return snapshot_build(builder);
}

/* ---- NodePools that launch nothing ---- */

/* Whether the NodePool names an EC2NodeClass that is not there. Without a single one nobody has
 * exported them. */
static bool lacks_class(const struct planning *planning, const struct pool *pool)
{
    kind_set classes = KIND_BIT(KIND_EC2_NODE_CLASS);
    return text_is(pool->node_class_kind, "EC2NodeClass") &&
           snapshot_count(planning->after, KIND_EC2_NODE_CLASS) > 0 &&
           snapshot_unseen(planning->after, classes, planning->question->seen) == 0 &&
           pool_node_class(planning->after, pool) == NULL;
}

static bool stop_without_class(const struct planning *planning, const struct pool *pool)
{
    if (!lacks_class(planning, pool))
        return false;
    planning->plan->stopped = arena_printf(
        planning->arena, "NodePool %.*s launches nothing: there is no EC2NodeClass %.*s.",
        TEXT_ARGS(pool->object->name), TEXT_ARGS(pool->node_class_name));
    return true;
}

static void count_claims(struct planning *planning)
{
    for (size_t i = 0; i < snapshot_count(planning->after, KIND_NODE_CLAIM); i++) {
        const struct object *claim = snapshot_object(planning->after, KIND_NODE_CLAIM, i);
        struct text pool = node_string(node_get(claim->labels, LABEL_NODE_POOL));
        *text_map_at(&planning->claims, planning->arena, pool) += 1;
    }
}

/* A successor is a NodeClaim more for a while, and limits.nodes has to leave it room, when those
 * that the NodePool gives up are gone. */
static bool stop_at_limit(const struct planning *planning, const struct pool *pool)
{
    int64_t limit = 0;
    size_t given_up = planning->impact->nodes_deleted;
    size_t nodes = text_map_get(&planning->claims, pool->object->name, 0) - given_up;
    struct text text = node_text(node_get(pool->limits_field->node, "nodes"));
    if (!quantity_scaled(text, 0, &limit) || (int64_t)nodes < limit)
        return false;
    planning->plan->stopped =
        arena_printf(planning->arena,
                     "Without the gate TerminateFirstDrift no successor fits NodePool %.*s: it %s "
                     "%zu node%s, and its limit of nodes is %.*s.",
                     TEXT_ARGS(pool->object->name), given_up > 0 ? "keeps" : "has", nodes,
                     plural_s(nodes), TEXT_ARGS(text));
    return true;
}

/* ---- nodes ---- */

/* A successor of each node of a fixed size is launched from the template, and nobody asks where its
 * pods fit (docs/reference/karpenter.md 6.11). */
static void take_static_node(struct planning *planning, const struct pool *pool, struct text name)
{
    planning->plan->from_template = true;
    bool is_stopped = stop_without_class(planning, pool) || stop_at_limit(planning, pool);
    if (is_stopped && !text_map_has(&planning->leaving, name))
        (void)text_map_add(&planning->staying, planning->arena, name);
}

/* Each node has a NodePool, by whose label it is found; a node that is deleted is blocked only
 * where it is leaving. */
static void take_nodes(struct planning *planning)
{
    const struct disruption *forecast = &planning->impact->forecast;
    count_claims(planning);
    for (size_t i = 0; i < forecast->node_count; i++) {
        const struct disruption_node *node = &forecast->nodes[i];
        const struct pool *pool =
            snapshot_pool_named(planning->after, forecast->pools[node->pool].name);
        struct text name = disruption_node_name(node);
        (void)text_map_add(&planning->going, planning->arena, name);
        if (node->leaving)
            (void)text_map_add(&planning->leaving, planning->arena, name);
        if (node->blocked && !node->leaving)
            (void)text_map_add(&planning->blocked, planning->arena, name);
        if (node->grace_s >= 0 || node->leaving)
            (void)text_map_add(&planning->bounded, planning->arena, name);
        if (replaces(planning) && pool != NULL && pool_is_static(pool))
            take_static_node(planning, pool, name);
        else
            (void)text_map_add(&planning->drilled, planning->arena, name);
    }
}

/* What is deleted launches nothing anyway. */
static void stop_pool(struct planning *planning)
{
    const struct object *after = planning->question->after;
    const struct pool *pool = !replaces(planning) || after->kind != KIND_NODE_POOL
                                  ? NULL
                                  : snapshot_pool_named(planning->after, after->name);
    if (pool != NULL && stop_without_class(planning, pool))
        *LIST_PUSH(planning->arena, &planning->drill.stopped) = after->name;
}

/* ---- pods that fit nowhere ---- */

static struct text name_of_pod(const struct simulation_pod *pod, struct arena *arena)
{
    return arena_printf(arena, "%.*s/%.*s", TEXT_ARGS(pod->namespace), TEXT_ARGS(pod->name));
}

/* The Node that a pod runs on; empty: none. */
static struct text node_of_pod(const struct planning *planning, const struct simulation_pod *pod)
{
    const struct object *object =
        snapshot_find(planning->after, KIND_POD, pod->namespace, pod->name);
    return object == NULL ? TEXT("") : node_string(node_at(object->root->node, "spec.nodeName"));
}

/* The pods that fit nowhere, and do or would without the change. */
static struct text_list displaced(const struct planning *planning,
                                  const struct simulation *simulation)
{
    struct text_list pods = {0};
    for (size_t i = 0; i < simulation->unschedulable_count; i++) {
        struct text name =
            name_of_pod(&simulation->pods[simulation->unschedulable[i].pod], planning->arena);
        if (!text_map_has(&planning->nowhere, name))
            *LIST_PUSH(planning->arena, &pods) = name;
    }
    return pods;
}

/* The pods of which the one plan decides nothing, and the other does. */
static struct text_list undecided_in(const struct planning *planning,
                                     const struct simulation *simulation,
                                     const struct simulation *other)
{
    struct text_map others = {0};
    struct text_list pods = {0};
    for (size_t i = 0; i < other->undecided_count; i++)
        (void)text_map_add(&others, planning->arena,
                           name_of_pod(&other->pods[other->undecided[i].pod], planning->arena));
    for (size_t i = 0; i < simulation->undecided_count; i++) {
        struct text name =
            name_of_pod(&simulation->pods[simulation->undecided[i].pod], planning->arena);
        if (!text_map_has(&others, name))
            *LIST_PUSH(planning->arena, &pods) = name;
    }
    return pods;
}

/* bounded: nodes whose held pods want no place yet; NULL: none. */
static bool simulate(const struct planning *planning, const struct text_map *nodes,
                     const struct text_map *bounded, struct simulation *simulation,
                     struct problems *problems, struct error *error)
{
    struct simulation_settings settings = *planning->settings;
    struct drill *drill = ARENA_NEW(planning->arena, struct drill);
    *drill = planning->drill;
    drill->nodes = nodes;
    drill->bounded = bounded;
    settings.drill = drill;
    return simulation_run(planning->after, planning->catalog, &settings, planning->arena,
                          simulation, problems, error);
}

/* ---- nodes that stay ---- */

/* The Node of a pod that fits nowhere, where it would fit without the change. Empty: it would not,
 * or Karpenter keeps no node for it: it is pending, or Karpenter counts it to another node. */
static struct text node_of_displaced(const struct planning *planning,
                                     const struct simulation *simulation, size_t unschedulable)
{
    const struct simulation_unschedulable *misfit = &simulation->unschedulable[unschedulable];
    const struct simulation_pod *pod = &simulation->pods[misfit->pod];
    return misfit->misplaced || text_map_has(&planning->nowhere, name_of_pod(pod, planning->arena))
               ? TEXT("")
               : node_of_pod(planning, pod);
}

typedef bool fit_test(const struct planning *planning, const struct simulation *simulation);

/* Asks it of a plan without the nodes, in which pods that nobody evicts want no place yet. */
static bool fits_without(const struct planning *planning, const struct text_map *nodes,
                         fit_test *fit)
{
    struct arena_mark mark = arena_mark(planning->arena);
    struct simulation simulation;
    struct problems problems = {.arena = planning->arena};
    struct error error;
    bool fits = simulate(planning, nodes, &planning->bounded, &simulation, &problems, &error) &&
                fit(planning, &simulation);
    arena_rewind(planning->arena, mark);
    return fits;
}

static bool all_of_leaving_fit(const struct planning *planning, const struct simulation *simulation)
{
    for (size_t i = 0; i < simulation->unschedulable_count; i++)
        if (text_map_has(&planning->begun, node_of_displaced(planning, simulation, i)))
            return false;
    return true;
}

/* Whether pods of nodes that leave already, but for those that nobody evicts, have a place when all
 * nodes are gone; else Karpenter may begin with none (docs/reference/karpenter.md 6.11). */
static bool leaving_have_places(const struct planning *planning, const struct simulation *with)
{
    return all_of_leaving_fit(planning, with) ||
           fits_without(planning, &planning->drilled, all_of_leaving_fit);
}

/* Nodes with which Karpenter may not begin when all of the nodes are gone: those whose pods do not
 * all fit elsewhere, or all of them. With what leaves already it has begun. */
static void find_doubtful(struct planning *planning, const struct simulation *with,
                          struct text_map *doubtful)
{
    planning->plan->of_leaving = !leaving_have_places(planning, with);
    FOR_EACH(node, &planning->drilled)
        if (planning->plan->of_leaving && !text_map_has(&planning->leaving, node->key))
            (void)text_map_add(doubtful, planning->arena, node->key);
    for (size_t i = 0; i < with->unschedulable_count; i++) {
        struct text node = node_of_displaced(planning, with, i);
        if (node.size > 0 && text_map_has(&planning->drilled, node) &&
            !text_map_has(&planning->leaving, node))
            (void)text_map_add(doubtful, planning->arena, node);
    }
}

static bool all_with_nodes_fit(const struct planning *planning, const struct simulation *simulation)
{
    for (size_t i = 0; i < simulation->unschedulable_count; i++)
        if (node_of_displaced(planning, simulation, i).size > 0)
            return false;
    return true;
}

/* Whether the pods of one more node fit, beside those of the nodes that go before; empty: of no
 * more. */
static bool can_go(const struct planning *planning, const struct text_map *doubtful,
                   struct text node)
{
    struct arena *arena = planning->arena;
    struct arena_mark mark = arena_mark(arena);
    struct text_map nodes = {0};
    FOR_EACH(drilled, &planning->drilled)
        if (text_map_get(doubtful, drilled->key, 0) == 0)
            (void)text_map_add(&nodes, arena, drilled->key);
    if (node.size > 0)
        (void)text_map_add(&nodes, arena, node);
    bool fits = fits_without(planning, &nodes, all_with_nodes_fit);
    arena_rewind(arena, mark);
    return fits;
}

/* Asks of those that are blocked, or of the others, and says whether any can go. */
static bool ask_each(const struct planning *planning, struct text_map *doubtful, bool blocked)
{
    bool any = false;
    for (size_t i = 0; i < doubtful->count; i++) {
        struct text_count *node = &doubtful->items[i];
        if (node->value == 0 || text_map_has(&planning->blocked, node->key) != blocked ||
            !can_go(planning, doubtful, node->key))
            continue;
        node->value = 0;
        any = true;
    }
    return any;
}

static void set_from(struct text_map *doubtful, size_t first, size_t value)
{
    for (size_t i = first; i < doubtful->count; i++)
        doubtful->items[i].value = value;
}

/* Karpenter begins with a node when its pods fit elsewhere, also on nodes that are to go later
 * (docs/reference/karpenter.md 6.11), and those that are blocked come last: they may be in doubt
 * for pods that they took before. So it is asked of one after the other. False: they are too many.
 */
static bool ask_all(const struct planning *planning, struct text_map *doubtful)
{
    size_t most = planning->question->most_alone, found = doubtful->count;
    if (found > most)
        return false;
    FOR_EACH(node, &planning->blocked)
        if (found > 0 && text_map_has(&planning->drilled, node->key))
            *text_map_at(doubtful, planning->arena, node->key) = 1;
    bool any = ask_each(planning, doubtful, false);
    set_from(doubtful, found, 0);
    if (any && !can_go(planning, doubtful, TEXT(""))) {
        if (doubtful->count - found > most)
            return false;
        set_from(doubtful, found, 1);
    }
    (void)ask_each(planning, doubtful, true);
    return true;
}

/* Returns how many stay. */
static size_t find_staying(struct planning *planning, const struct simulation *with)
{
    size_t count = 0;
    struct text_map doubtful = {0};
    find_doubtful(planning, with, &doubtful);
    planning->plan->in_doubt = !ask_all(planning, &doubtful);
    if (planning->plan->in_doubt) {
        planning->in_doubt = doubtful;
        return 0;
    }
    FOR_EACH(node, &doubtful)
        if (node->value > 0)
            count += text_map_add(&planning->staying, planning->arena, node->key);
    planning->plan->in_doubt = count > 0;
    return count;
}

static void read_staying(const struct planning *planning)
{
    struct impact_plan *plan = planning->plan;
    size_t most = planning->impact->nodes_replaced;
    FOR_EACH(node, &planning->staying)
        *LIST_PUSH(planning->arena, &plan->staying) = node->key;
    plan->staying_count = plan->staying.count < most ? plan->staying.count : most;
}

/* The plan without the nodes that stay. */
static bool simulate_going(struct planning *planning, struct simulation *with,
                           struct problems *problems, struct error *error)
{
    struct text_map *nodes = ARENA_NEW(planning->arena, struct text_map);
    FOR_EACH(node, &planning->drilled)
        if (!text_map_has(&planning->staying, node->key))
            (void)text_map_add(nodes, planning->arena, node->key);
    return simulate(planning, nodes, NULL, with, problems, error);
}

/* ---- pods that nobody makes again ---- */

static bool goes(const struct planning *planning, struct text node)
{
    return text_map_has(&planning->going, node) && !text_map_has(&planning->staying, node);
}

static void read_gone(struct planning *planning)
{
    for (size_t i = 0; i < snapshot_count(planning->after, KIND_POD); i++) {
        const struct object *pod = snapshot_object(planning->after, KIND_POD, i);
        struct text node = node_string(node_at(pod->root->node, "spec.nodeName"));
        if (node.size == 0 || !goes(planning, node) || text_map_has(&planning->blocked, node) ||
            text_map_has(&planning->in_doubt, node) || !disruption_ends_pod(pod))
            continue;
        struct text name = arena_printf(planning->arena, "%.*s/%.*s", TEXT_ARGS(pod->namespace),
                                        TEXT_ARGS(pod->name));
        (void)text_map_add(&planning->gone, planning->arena, name);
        *LIST_PUSH(planning->arena, &planning->plan->gone) = name;
    }
}

static struct text_list without_gone(const struct planning *planning, const struct text_list *pods)
{
    struct text_list left = {0};
    FOR_EACH(pod, pods)
        if (!text_map_has(&planning->gone, *pod))
            *LIST_PUSH(planning->arena, &left) = *pod;
    return left;
}

/* ---- money ---- */

/* What the nodes that go cost; -1: the price of some is not known. A NodeClaim whose Node has not
 * come has none. A node that is leaving already goes without the change, too. */
static int64_t usd_of_nodes(const struct planning *planning, const struct simulation *without)
{
    size_t nodes = without->node_count - without->claim_count, found = planning->leaving.count;
    int64_t usd_micro = 0;
    for (size_t i = 0; i < nodes; i++) {
        const struct simulation_node *node = &without->nodes[i];
        if (!goes(planning, node->name))
            continue;
        if (node->usd_micro_per_hour < 0)
            return -1;
        found++;
        usd_micro = usd_sum(usd_micro, node->usd_micro_per_hour);
    }
    return found == planning->going.count - planning->staying.count ? usd_micro : -1;
}

/* The pods of a node that is bought. */
static void add_pods(const struct planning *planning, const struct simulation *simulation,
                     const struct simulation_node *claim, struct text_map *pods)
{
    for (size_t i = 0; i < claim->pod_count; i++)
        (void)text_map_add(pods, planning->arena,
                           name_of_pod(&simulation->pods[claim->pods[i]], planning->arena));
}

static bool has_any(const struct planning *planning, const struct simulation *simulation,
                    const struct simulation_node *claim, const struct text_map *pods)
{
    for (size_t i = 0; i < claim->pod_count; i++)
        if (text_map_has(pods, name_of_pod(&simulation->pods[claim->pods[i]], planning->arena)))
            return true;
    return false;
}

/* What is bought costs; -1: the price of some is not known. pods: of a node for none of these it
 * does not count; NULL: all do. */
static int64_t usd_of_claims(const struct planning *planning, const struct simulation *simulation,
                             const struct text_map *pods)
{
    size_t first = simulation->node_count - simulation->claim_count;
    int64_t usd_micro = 0;
    for (size_t i = first; i < simulation->node_count; i++) {
        const struct simulation_node *claim = &simulation->nodes[i];
        if (pods != NULL && !has_any(planning, simulation, claim, pods))
            continue;
        if (claim->usd_micro_per_hour < 0)
            return -1;
        usd_micro = usd_sum(usd_micro, claim->usd_micro_per_hour);
    }
    return usd_micro;
}

static void read_prices(const struct planning *planning, const struct simulation *with,
                        const struct simulation *without)
{
    struct impact_plan *plan = planning->plan;
    struct text_map pods = {0};
    for (size_t i = with->node_count - with->claim_count; i < with->node_count; i++)
        add_pods(planning, with, &with->nodes[i], &pods);
    /* What is bought without the change, too, is no successor, unless none of its pods gets a new
     * node with the change. */
    int64_t bought = usd_of_claims(planning, with, NULL);
    int64_t anyway = usd_of_claims(planning, without, &pods);
    plan->usd_micro_per_hour_before = usd_of_nodes(planning, without);
    plan->usd_micro_per_hour_after = -1;
    if (bought >= 0 && anyway >= 0 && !plan->from_template && !plan->bought_undecided)
        plan->usd_micro_per_hour_after = bought > anyway ? bought - anyway : 0;
}

static bool plan_change(struct planning *planning, struct simulation *with,
                        struct simulation *without, struct problems *problems, struct error *error)
{
    struct problems twice = {.arena = planning->arena};
    if (!simulation_run(planning->question->snapshot, planning->catalog, planning->settings,
                        planning->arena, without, &twice, error) ||
        !simulate(planning, &planning->drilled, NULL, with, problems, error))
        return false;
    for (size_t i = 0; i < without->unschedulable_count; i++)
        (void)text_map_add(
            &planning->nowhere, planning->arena,
            name_of_pod(&without->pods[without->unschedulable[i].pod], planning->arena));
    for (size_t i = 0; i < without->leaving_count; i++)
        (void)text_map_add(&planning->begun, planning->arena, without->leaving[i].name);
    size_t staying = replaces(planning) ? find_staying(planning, with) : 0;
    read_staying(planning);
    read_gone(planning);
    const struct text_list nowhere = displaced(planning, with);
    planning->plan->unschedulable = without_gone(planning, &nowhere);
    const struct drilled *drilled = with->drilled;
    if (drilled->above != NULL && planning->plan->stopped.size == 0 &&
        planning->plan->unschedulable.count > 0)
        planning->plan->stopped =
            arena_printf(planning->arena,
                         "NodePool %.*s launches nothing: its nodes use more than its limit of %s.",
                         TEXT_ARGS(drilled->above_pool), drilled->above);
    twice = (struct problems){.arena = planning->arena};
    if (staying > 0 && !simulate_going(planning, with, &twice, error))
        return false;
    const struct text_list undecided = undecided_in(planning, with, without);
    planning->plan->undecided = without_gone(planning, &undecided);
    planning->plan->bought_undecided =
        undecided.count > 0 || undecided_in(planning, without, with).count > 0;
    return true;
}

bool change_impact_plan(const struct change_question *question, const struct change_impact *impact,
                        const struct catalog *catalog, const struct simulation_settings *settings,
                        struct arena *arena, struct impact_plan *plan, struct problems *problems,
                        struct error *error)
{
    struct simulation *with = ARENA_NEW(arena, struct simulation);
    struct simulation *without = ARENA_NEW(arena, struct simulation);
    struct simulation_settings at_the_time = *settings;
    at_the_time.now_unix_s = question->now_unix_s;
    struct planning planning = {.question = question,
                                .impact = impact,
                                .catalog = catalog,
                                .settings = &at_the_time,
                                .after = changed(question, arena),
                                .arena = arena,
                                .plan = plan,
                                .drill = {.replaces = impact->nodes_replaced > 0}};
    bool all_named = impact->forecast.node_count == change_impact_nodes(impact);
    *plan = (struct impact_plan){0};
    if (impact->forecast.node_count == 0) {
        if (!all_named)
            plan->usd_micro_per_hour_before = plan->usd_micro_per_hour_after = -1;
        return true;
    }
    take_nodes(&planning);
    stop_pool(&planning);
    if (question->after == NULL)
        *LIST_PUSH(arena, &planning.drill.pools) = question->before->name;
    if (!plan_change(&planning, with, without, problems, error))
        return false;
    if (all_named && plan->staying_count == plan->staying.count)
        read_prices(&planning, with, without);
    else
        plan->usd_micro_per_hour_before = plan->usd_micro_per_hour_after = -1;
    plan->simulation = with;
    return true;
}
