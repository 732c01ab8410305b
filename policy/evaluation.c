#include "policy/evaluation.h"

bool world_sees_in(const struct world *world, kind_set kinds, struct text namespace)
{
    bool sees = world_lists(world, kinds);
    for (enum kind kind = 0; sees && kind < KIND_COUNT; kind++)
        if ((kinds & KIND_BIT(kind)) != 0)
            sees = snapshot_reads_all(world->snapshot, kind, namespace);
    return sees;
}

static void look_up_namespace(struct evaluation *evaluation)
{
    struct text name = evaluation->subject->object->namespace;
    const struct object *found = NULL;
    if (name.size > 0)
        found = snapshot_find(evaluation->world->snapshot, KIND_NAMESPACE, TEXT(""), name);
    evaluation->match.namespace_labels_known = found != NULL;
    evaluation->match.namespace_labels = found == NULL ? NULL : found->labels;
}

struct evaluation evaluation_begin(const struct world *world, const struct subject *subject,
                                   int64_t now_unix_s, struct arena *arena)
{
    struct evaluation evaluation = {
        .world = world,
        .subject = subject,
        .now_unix_s = now_unix_s,
        .arena = arena,
        .root = root_owner_find(world, subject),
        .passing = passing_create(arena),
    };
    evaluation.match = (struct match_subject){.object = subject->object,
                                              .root_name = evaluation.root.name,
                                              .requester = &subject->requester,
                                              .operation = subject->operation};
    look_up_namespace(&evaluation);
    return evaluation;
}

struct ruling evaluation_rule(const struct evaluation *evaluation, const struct policy *policy,
                              const struct rail_use *use, enum match_result match)
{
    struct ruling ruling = {.policy = policy, .use = *use};
    bool unknown = false;
    ruling.override = override_find(policy, use, &evaluation->match, &ruling.use.mode, &unknown);
    ruling.match_unknown = unknown || match == MATCH_UNKNOWN;
    return ruling;
}
