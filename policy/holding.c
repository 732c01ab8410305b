/* What holds for an object, found as an evaluation finds it (evaluation.h), without judging. */
#include "policy/holding.h"

#include "policy/evaluation.h"

static enum mode_source mode_source_of(const struct policy *policy, const struct rail_use *use,
                                       struct arena *arena)
{
    const struct field *rails = field_get(arena, policy->spec, "rails");
    const struct field *rail = field_get(arena, rails, use->rail->name);
    if (node_get(rail->node, "mode") != NULL)
        return MODE_OF_RAIL;
    const struct node *mode = node_get(policy->spec->node, "mode");
    if (use->rail->only_warns && use->mode == MODE_WARN)
        return MODE_OF_WARN_RAIL;
    return mode != NULL ? MODE_OF_POLICY : MODE_BY_DEFAULT;
}

static enum action action_of(const struct rail_holding *holding)
{
    static const enum action actions[] = {[MODE_OFF] = ACTION_NONE,
                                          [MODE_AUDIT] = ACTION_AUDIT,
                                          [MODE_WARN] = ACTION_WARN,
                                          [MODE_ENFORCE] = ACTION_DENY};
    enum action action = actions[holding->mode];
    if (action == ACTION_DENY && holding->audited_only)
        action = ACTION_AUDIT;
    if (action == ACTION_DENY && holding->since_spares)
        action = ACTION_WARN;
    if (action != ACTION_NONE && holding->exception != NULL && !holding->exception_expired)
        action = ACTION_EXCEPTED;
    return action;
}

static struct rail_holding hold(struct evaluation *evaluation, const struct policy *policy,
                                const struct rail_use *use, enum match_result match)
{
    struct rail_call call = evaluation_call(evaluation, policy, use, match);
    struct rail_holding holding = {
        .use = use,
        .mode_source = mode_source_of(policy, use, evaluation->arena),
        .mode = call.mode,
        .override = call.override,
        .since_spares = call_is_spared(&call),
        .audited_only = evaluation->controlled,
    };
    bool unknown = false;
    holding.exception = call_exception(&call, &holding.exception_expired, &unknown);
    holding.unknown = unknown || call.match_unknown;
    holding.action = action_of(&holding);
    return holding;
}

/* KIND_UNKNOWN: the policy does not look into such objects. */
static enum kind judged_as(const struct policy *policy, const struct object *object)
{
    if (object->kind != KIND_UNKNOWN)
        return object->kind;
    return templated_kind_find(policy, object->api_version, object->kind_name) == NULL
               ? KIND_UNKNOWN
               : KIND_CUSTOM;
}

static struct policy_holding hold_policy(struct evaluation *evaluation, const struct policy *policy)
{
    struct policy_holding holding = {.policy = policy};
    holding.match = match_decide(&policy->match, &evaluation->match, &holding.key);
    enum kind kind = judged_as(policy, evaluation->subject.object);
    evaluation->controlled =
        object_is_controlled(evaluation->world, &evaluation->subject, &evaluation->root, kind);
    struct rail_holding *rails =
        ARENA_ARRAY(evaluation->arena, policy->rail_count, struct rail_holding);
    for (size_t i = 0; holding.match != MATCH_NO && i < policy->rail_count; i++) {
        const struct rail_use *use = &policy->rails[i];
        if (kind != KIND_UNKNOWN && (use->rail->kinds & KIND_BIT(kind)) != 0)
            rails[holding.rail_count++] = hold(evaluation, policy, use, holding.match);
        else
            holding.other_rails++;
    }
    holding.rails = rails;
    return holding;
}

void holding_find(const struct world *world, const struct subject *subject, int64_t now_unix_s,
                  struct arena *arena, struct object_holding *holding)
{
    const struct policy_set *policies = world->policies;
    struct evaluation evaluation = evaluation_begin(world, subject, now_unix_s, arena);
    struct policy_holding *items = ARENA_ARRAY(arena, policies->count, struct policy_holding);
    for (size_t i = 0; i < policies->count; i++)
        items[i] = hold_policy(&evaluation, &policies->items[i]);
    *holding = (struct object_holding){
        .object = subject->object,
        .root_name = evaluation.root.name,
        .policies = items,
        .policy_count = policies->count,
    };
}
