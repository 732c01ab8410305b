/* The rail placeable: some NodePool or Node can run the pod. */
#include <string.h>

#include "kube/label.h"
#include "kube/pod.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "kube/volume.h"
#include "pinning/pin.h"
#include "policy/rail.h"
#include "policy/reading.h"
#include "simulation/supply.h"
#include "solver/well_known.h"

static const struct key keys[] = {{0}};

static bool is_placed(const struct workload *workload)
{
    return node_string(node_get(workload->spec->node, "nodeName")).size > 0;
}

/* ---- nodes that NodePools do not make ---- */

/* One of Fargate is for the pod it was made for alone. */
static bool some_node_is_of_no_pool(const struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_NODE); i++) {
        const struct node *labels = snapshot_object(snapshot, KIND_NODE, i)->labels;
        if (node_get(labels, LABEL_NODE_POOL) == NULL &&
            !text_is(node_string(node_get(labels, LABEL_COMPUTE_TYPE)), "fargate"))
            return true;
    }
    return false;
}

/* Whether it keeps a pod on nodes that come from elsewhere, of which none is visible. */
static bool is_elsewhere(const struct snapshot *snapshot, const struct expression *expression,
                         struct arena *arena)
{
    struct text key = expression->key;
    struct text canonical = canonical_key(key);
    struct label_offers offers;
    if (text_is(key, LABEL_NODE_POOL))
        return expression->op == SOLVER_DOES_NOT_EXIST && !some_node_is_of_no_pool(snapshot);
    if (!expression->valid || expression->op == SOLVER_NOT_IN ||
        expression->op == SOLVER_DOES_NOT_EXIST || !label_is_put_by_others(key) ||
        solver_is_well_known(canonical.data, canonical.size))
        return false;
    label_offers_read(snapshot, key, arena, &offers);
    if (expression->op != SOLVER_IN)
        return !offers.from_pool && !offers.from_node;
    for (size_t i = 0; i < expression->value_count; i++)
        if (text_map_has(&offers.values, expression->values[i].text))
            return false;
    return !offers.any_value;
}

static const struct expression *find_elsewhere(const struct snapshot *snapshot,
                                               const struct expressions *expressions,
                                               struct arena *arena)
{
    FOR_EACH(expression, expressions)
        if (is_elsewhere(snapshot, expression, arena))
            return expression;
    return NULL;
}

/* What leads the pod, on one way at least, to nodes that cannot be seen; NULL: nothing does. */
static const struct expression *elsewhere_of(const struct rail_call *call,
                                             const struct node_selection *selection)
{
    const struct snapshot *snapshot = call->world->snapshot;
    const struct expression *found = find_elsewhere(snapshot, &selection->selector, call->arena);
    for (size_t i = 0; i < selection->required.count && found == NULL; i++)
        found = find_elsewhere(snapshot, &selection->required.items[i].expressions, call->arena);
    return found;
}

/* Whether a term of its node affinity lets the pod onto Fargate. */
static bool may_be_on_fargate(const struct node_selection *selection)
{
    for (size_t i = 0; i < selection->required.count; i++) {
        const struct expressions *term = &selection->required.items[i].expressions;
        FOR_EACH(expression, term)
            if (text_is(expression->key, LABEL_COMPUTE_TYPE) && expression->op == SOLVER_IN &&
                expression_names(expression, TEXT("fargate")))
                return true;
    }
    return false;
}

static void report_elsewhere(struct rail_call *call, const struct expression *elsewhere)
{
    struct text key = elsewhere->key;
    struct text statement = TEXT("keeps off the nodes of NodePools, and no other Node is visible");
    if (!text_is(key, LABEL_NODE_POOL))
        statement = arena_printf(call->arena,
                                 "asks for nodes with %.*s, which NodePools do not make, and none "
                                 "is visible",
                                 TEXT_ARGS(key));
    report_found(call, SEVERITY_UNDECIDED, elsewhere->field, key,
                 TEXT("make the Nodes visible (--state DIR); those of a "
                      "node group at zero cannot be seen"),
                 "%.*s", TEXT_ARGS(statement));
}

/* ---- what is asked ---- */

/* With the zones of volumes that are somewhere already, or will be. */
static void ask(const struct world *world, const struct workload *workload, struct arena *arena,
                struct supply_answer *answer)
{
    struct claim_names names;
    claim_names_read(workload, arena, &names);
    struct zones *volumes = ARENA_ARRAY(arena, names.count, struct zones);
    size_t count = 0;
    for (size_t i = 0; i < names.count; i++) {
        struct claim_zones claim;
        claim_zones_read(world->snapshot, workload->object->namespace,
                         node_string(names.items[i]->node), NULL, arena, &claim);
        if (claim.hold >= CLAIM_UNBOUND && !claim.any_zone && claim.zones.count > 0)
            volumes[count++] = claim.zones;
    }
    supply_ask(world->supply, world->snapshot, workload, volumes, count, arena, answer);
}

/* ---- what is said ---- */

static bool same_reason(const struct supply_reason *a, const struct supply_reason *b)
{
    return text_equal(a->message, b->message) && text_equal(a->nearest, b->nearest);
}

/* A name alone, and not a sentence. */
static bool is_name(struct text nearest)
{
    return memchr(nearest.data, ' ', nearest.size) == NULL;
}

static bool is_told(const struct supply_answer *answer, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (same_reason(&answer->reasons[i], &answer->reasons[index]))
            return true;
    return false;
}

/* "NodePool a: ", "NodePools a, b and 3 more: ": all that fail for one reason. */
static void add_pools(struct text_builder *text, const struct supply_answer *answer, size_t index)
{
    enum { SHOWN = 3 };
    struct text_builder names = {.arena = text->arena};
    size_t count = 0;
    for (size_t i = index; i < answer->reason_count; i++)
        if (same_reason(&answer->reasons[index], &answer->reasons[i]) && count++ < SHOWN)
            text_builder_printf(&names, "%s%.*s", count == 1 ? "" : ", ",
                                TEXT_ARGS(answer->reasons[i].node_pool));
    text_builder_printf(text, "NodePool%s %.*s", count == 1 ? "" : "s",
                        TEXT_ARGS(text_builder_text(&names)));
    if (count > SHOWN)
        text_builder_printf(text, " and %zu more", count - SHOWN);
    text_builder_add(text, TEXT(": "));
}

static void add_reason(struct text_builder *why, const struct supply_answer *answer, size_t index)
{
    const struct supply_reason *reason = &answer->reasons[index];
    if (reason->node_pool.size > 0)
        add_pools(why, answer, index);
    text_builder_add(why, reason->message);
    if (reason->nearest.size > 0)
        text_builder_printf(why, " (%s%.*s)", is_name(reason->nearest) ? "nearest: " : "",
                            TEXT_ARGS(reason->nearest));
}

/* What a pod asks of the pools it may enter tells most, and what of the Nodes there are, least. */
enum standing { STANDS_FIRST, STANDS_SECOND, STANDS_LAST };

static enum standing standing_of(const struct supply_reason *reason)
{
    if (reason->node_pool.size == 0)
        return STANDS_LAST;
    return reason->kind == SOLVER_REASON_TAINT ? STANDS_SECOND : STANDS_FIRST;
}

static struct text fix_of(const struct supply_answer *answer)
{
    size_t first = 0;
    size_t by_volume = 0;
    for (size_t i = 0; i < answer->reason_count; i++) {
        bool counts = standing_of(&answer->reasons[i]) == STANDS_FIRST;
        first += counts;
        by_volume += counts && answer->reasons[i].kind == SOLVER_REASON_VOLUME;
    }
    if (first > 0 && by_volume == first)
        return TEXT("let a NodePool launch where the volume is, or move the data");
    return TEXT("ask for what some NodePool has; taffrail plan shows what would be bought");
}

static void report_nowhere(struct rail_call *call, const struct workload *workload,
                           const struct supply_answer *answer)
{
    struct text_builder why = {.arena = call->arena};
    bool some = false;
    text_builder_add(&why, TEXT("no NodePool or Node could ever run it"));
    if (answer->term_count > SUPPLY_TERMS_MAX)
        text_builder_printf(&why, " by the first %d of its %zu nodeSelectorTerms (no more count)",
                            SUPPLY_TERMS_MAX, answer->term_count);
    for (enum standing standing = STANDS_FIRST; standing <= STANDS_LAST; standing++) {
        for (size_t i = 0; i < answer->reason_count; i++) {
            if (standing_of(&answer->reasons[i]) != standing || is_told(answer, i))
                continue;
            text_builder_add(&why, some ? TEXT("; ") : TEXT(": "));
            add_reason(&why, answer, i);
            some = true;
        }
    }
    report_with(call, .field = workload->spec, .statement = text_builder_text(&why),
                .fix = fix_of(answer));
}

static void judge(struct rail_call *call)
{
    const struct world *world = call->world;
    struct arena *arena = call->arena;
    struct workload workload;
    struct supply_answer answer;
    if (is_of_daemon_set(call) || !workload_read(call->object, arena, &workload) ||
        is_placed(&workload) ||
        pod_is_on_fargate(node_get(workload.metadata->node, "labels"), workload.spec->node) ||
        node_count(node_get(workload.spec->node, "containers")) == 0)
        return;
    bool nothing_there = snapshot_pool_count(world->snapshot) == 0 &&
                         snapshot_count(world->snapshot, KIND_NODE) == 0;
    if (nothing_there || !world_sees(world, KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_NODE))) {
        report(call, SEVERITY_UNDECIDED, workload.spec,
               TEXT("make the NodePools and Nodes visible (--state DIR)"),
               "no NodePool and no Node is visible that could run it");
        return;
    }
    ask(world, &workload, arena, &answer);
    if (answer.kind != SUPPLY_NOWHERE)
        return;
    const struct node_selection *selection = call_selection(call, &workload);
    if (may_be_on_fargate(selection))
        return;
    const struct expression *elsewhere = elsewhere_of(call, selection);
    if (elsewhere != NULL)
        report_elsewhere(call, elsewhere);
    else
        report_nowhere(call, &workload, &answer);
}

const struct rail rail_placeable = {
    .name = "placeable",
    .summary = "pods that some NodePool or Node could run",
    .detail =
        "A pod that fits nowhere waits for ever, and Karpenter's event says why only after it is "
        "there. The rail asks the solver, for each workload, whether some NodePool could launch a "
        "type that holds it, or some Node could, were it empty: by its requests and those of "
        "DaemonSets, nodeSelector and required node affinity, tolerations, host ports, and the "
        "zones of its volumes. When none could, it names for each NodePool the reason and the "
        "nearest miss.\n\n"
        "Limits, what runs already and other pods (affinity, spread) do not count: they change. "
        "DaemonSets are left alone, and so are pods that ask for devices by resourceClaims, and "
        "those that Fargate runs. What selects nodes that NodePools do not make (eks.amazonaws.com/"
        "nodegroup, karpenter.sh/nodepool DoesNotExist) cannot be decided while no such Node is "
        "visible. A NodePool of another cloud, one that is not ready and one with a fixed number "
        "of nodes are given the benefit of the doubt. How Karpenter is set (spec.karpenter of the "
        "policy) counts: minValues that it may give up, reserved capacity that it does not buy.\n\n"
        "Node groups at zero and other autoscalers are not visible, so the rail only warns unless "
        "the policy gives it a mode of its own.",
    .example = "placeable:\n"
               "  mode: enforce\n",
    .kinds = KINDS_WORKLOADS & ~KIND_BIT(KIND_DAEMON_SET),
    .sources = KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_NODE),
    .sources_of = KINDS_WORKLOADS,
    .only_warns = true,
    .asks_supply = true,
    .keys = keys,
    .settings_size = 1,
    .judge = judge,
};
