#include "kube/places.h"

#include "policy/rail.h"

static const struct key keys[] = {{0}};

static bool is_placed(const struct workload *workload)
{
    return node_string(node_get(workload->spec->node, "nodeName")).size > 0;
}

/* ---- what is said ---- */

static bool same_reason(const struct places_reason *a, const struct places_reason *b)
{
    return text_equal(a->message, b->message) && text_equal(a->nearest, b->nearest) &&
           (a->node_pool.size == 0) == (b->node_pool.size == 0);
}

static bool is_told(const struct places_answer *answer, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (same_reason(&answer->reasons[i], &answer->reasons[index]))
            return true;
    return false;
}

/* "NodePool a: ", "NodePools a, b and 3 more: ": all that fail for one reason. */
static void add_pools(struct text_builder *text, const struct places_answer *answer, size_t index)
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

static void report_nowhere(struct judgement *judgement, const struct workload *workload,
                           const struct places_answer *answer)
{
    struct text_builder why = {.arena = judgement->arena};
    text_builder_add(&why, TEXT("no NodePool or Node could ever run it"));
    for (size_t i = 0; i < answer->reason_count; i++) {
        const struct places_reason *reason = &answer->reasons[i];
        if (is_told(answer, i))
            continue;
        text_builder_add(&why, i == 0 ? TEXT(": ") : TEXT("; "));
        if (reason->node_pool.size > 0)
            add_pools(&why, answer, i);
        text_builder_add(&why, reason->message);
        if (reason->nearest.size > 0)
            text_builder_printf(&why, " (%.*s)", TEXT_ARGS(reason->nearest));
    }
    judgement_report(judgement, &(struct draft){
                                    .field = workload->spec,
                                    .statement = text_builder_text(&why),
                                    .fix = TEXT("ask for what some NodePool has; taffrail plan "
                                                "shows what would be bought"),
                                });
}

static void judge(struct judgement *judgement, const void *settings)
{
    (void)settings;
    const struct world *world = judgement->world;
    struct arena *arena = judgement->arena;
    struct workload workload;
    struct places_answer answer;
    if (object_is_of_daemon_set(judgement->object) ||
        !workload_read(judgement->object, arena, &workload) || is_placed(&workload) ||
        node_count(node_get(workload.spec->node, "containers")) == 0)
        return;
    bool nothing_there = snapshot_pool_count(world->snapshot) == 0 &&
                         snapshot_count(world->snapshot, KIND_NODE) == 0;
    if (nothing_there || !world_sees(world, KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_NODE))) {
        judgement_report(
            judgement,
            &(struct draft){
                .severity = SEVERITY_UNDECIDED,
                .field = workload.spec,
                .statement = TEXT("no NodePool and no Node is visible that could run it"),
                .fix = TEXT("make the NodePools and Nodes visible (--state DIR)"),
            });
        return;
    }
    const struct places *places = world->places;
    if (places == NULL)
        return;
    places_ask(places, world->snapshot, world->catalog, &workload, arena, &answer);
    if (answer.kind == PLACE_NOWHERE)
        report_nowhere(judgement, &workload, &answer);
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
        "DaemonSets are left alone, and so are pods that ask for devices by resourceClaims. A "
        "NodePool of another cloud, one that is not ready and one with a fixed number of nodes "
        "are given the benefit of the doubt. How Karpenter is set (spec.karpenter of the policy) "
        "counts: minValues that it may give up, reserved capacity that it does not buy.\n\n"
        "Node groups at zero and other autoscalers are not visible, so the rail only warns unless "
        "the policy gives it a mode of its own.",
    .example = "placeable:\n"
               "  mode: enforce\n",
    .kinds = KINDS_WORKLOADS & ~KIND_BIT(KIND_DAEMON_SET),
    .only_warns = true,
    .keys = keys,
    .settings_size = 1,
    .judge = judge,
};
