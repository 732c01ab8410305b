/* Consolidation policies that a pool may have. */
#include "kube/pool.h"
#include "policy/rails/crd_shape.h"
#include "policy/rails/disruption_budgets.h"
#include "policy/rails/disruption_opt_out.h"
#include "policy/reading.h"

#define EMPTY "WhenEmpty"
#define UNDERUTILIZED "WhenEmptyOrUnderutilized"
#define OLD_UNDERUTILIZED "WhenUnderutilized" /* its name in v1beta1 */

struct consolidation {
    const struct field *after;
    bool old;
    struct text found;        /* empty: it is not written */
    struct text_list allowed; /* in the words of the object's API */
};

/* What the API version of the object does not have is left out. */
static struct text_list allowed_in_version(const struct key_strings *policies, bool old,
                                           struct arena *arena)
{
    const struct crd_shape *shape =
        crd_shape_at(old ? &crd_shape_node_pool_v1beta1 : &crd_shape_node_pool_v1,
                     "spec.disruption.consolidationPolicy");
    struct text_list allowed = {0};
    for (size_t i = 0; i < policies->count; i++) {
        struct text name = policies->items[i];
        if (old && text_is(name, UNDERUTILIZED))
            name = TEXT(OLD_UNDERUTILIZED);
        if (crd_shape_has_choice(shape, name))
            *LIST_PUSH(arena, &allowed) = name;
    }
    return allowed;
}

/* A list that is not given allows all. */
static bool is_allowed(const struct key_strings *policies, struct text found)
{
    struct text meant =
        found.size == 0 || text_is(found, OLD_UNDERUTILIZED) ? TEXT(UNDERUTILIZED) : found;
    return policies->count == 0 || texts_have(policies->items, policies->count, meant);
}

/* Where only empty nodes went, pods may be moved now. */
static bool moves_pods(const struct consolidation *own)
{
    return text_is(own->found, EMPTY) && own->allowed.count > 0;
}

static struct text statement_of(const struct consolidation *own, struct arena *arena)
{
    const char *unwritten = own->old ? OLD_UNDERUTILIZED : UNDERUTILIZED;
    if (own->found.size == 0)
        return arena_printf(
            arena, "Without consolidationPolicy it is %s, which is not allowed here.", unwritten);
    if (moves_pods(own))
        return arena_printf(arena,
                            "consolidationPolicy WhenEmpty keeps half-empty nodes, and is not "
                            "allowed here. %.*s evicts their pods.",
                            TEXT_ARGS(own->allowed.items[0]));
    return arena_printf(arena, "consolidationPolicy %.*s is not allowed here.",
                        TEXT_ARGS(own->found));
}

/* What else the API server wants: in v1beta1 one policy needs consolidateAfter, and the other does
 * not take it. */
static struct text beside_it(const struct consolidation *own, struct text policy)
{
    bool waits = node_is_given(own->after->node);
    if (!own->old || text_is(policy, EMPTY) == waits)
        return TEXT("");
    return waits ? TEXT(" and remove consolidateAfter") : TEXT(" with consolidateAfter: 30s");
}

/* Durations are newer than v1beta1. */
static struct text for_pods(const struct rail_call *call, const struct consolidation *own)
{
    struct text most = disruption_opt_out_most(call);
    bool for_good = text_is(most, "true");
    if (most.size == 0 || (own->old && !for_good))
        return TEXT(", or ask for an exception");
    return arena_printf(call->arena,
                        ", and give pods that must stay karpenter.sh/do-not-disrupt: \"%.*s\"%s, "
                        "or ask for an exception",
                        TEXT_ARGS(most), for_good ? "" : " (Karpenter 1.12 or newer)");
}

static struct text fix_of(const struct rail_call *call, const struct consolidation *own)
{
    if (own->allowed.count == 0)
        return TEXT("Convert the pool to v1 (taffrail convert), which has the policies that are "
                    "allowed.");
    struct text policy = own->allowed.items[0];
    return arena_printf(call->arena, "Set it to %.*s%.*s%.*s.", TEXT_ARGS(policy),
                        TEXT_ARGS(beside_it(own, policy)),
                        TEXT_ARGS(moves_pods(own) ? for_pods(call, own) : TEXT("")));
}

void disruption_budgets_judge_policy(struct rail_call *call,
                                     const struct disruption_budgets *settings)
{
    struct arena *arena = call->arena;
    const struct field *root = call->object->root;
    const struct field *field = field_at(arena, root, "spec.disruption.consolidationPolicy");
    const struct pool *pool = call_pool(call);
    struct consolidation own = {
        .after = field_at(arena, root, "spec.disruption.consolidateAfter"),
        .old = object_is_v1beta1(call->object),
        .found = node_text(field->node),
    };
    /* Karpenter consolidates no pool with a fixed number of nodes, whatever its policy. */
    bool never = pool != NULL && pool_is_static(pool);
    if (never || is_allowed(&settings->policies, own.found)) {
        disruption_budgets_judge_policy_name(call, field);
        return;
    }
    own.allowed = allowed_in_version(&settings->policies, own.old, arena);
    report_with(call, .field = field, .found = own.found, .statement = statement_of(&own, arena),
                .allowed = ALLOWED_LIST(&own.allowed), .fix = fix_of(call, &own));
}
