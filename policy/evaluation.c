/* The beginning of an evaluation, and what each rail is given. */
#include "policy/evaluation.h"

#include "kube/snapshot.h"

bool world_sees_in(const struct world *world, kind_set kinds, struct text namespace)
{
    bool sees = world_lists(world, kinds);
    for (kind_set left = kinds; sees && left != 0; left &= left - 1)
        sees = snapshot_reads_all(world->snapshot, (enum kind)__builtin_ctzll(left), namespace);
    return sees;
}

static void look_up_namespace(struct evaluation *evaluation)
{
    struct text name = evaluation->subject.object->namespace;
    if (name.size > 0)
        evaluation->match.namespace =
            snapshot_find(evaluation->world->snapshot, KIND_NAMESPACE, TEXT(""), name);
}

/* The API server sends no old object of another kind; whoever reaches the port may. No rail is to
 * meet one that it does not judge. */
static bool has_old_of_its_kind(const struct subject *subject)
{
    return subject->old_object != NULL && subject->old_object->kind == subject->object->kind;
}

struct evaluation evaluation_begin(const struct world *world, const struct subject *subject,
                                   int64_t now_unix_s, struct arena *arena)
{
    struct evaluation evaluation = {
        .world = world,
        .subject = *subject,
        .now_unix_s = now_unix_s,
        .arena = arena,
        .root = root_owner_find(world, subject),
    };
    if (!has_old_of_its_kind(subject))
        evaluation.subject.old_object = NULL;
    evaluation.match = (struct match_subject){.object = subject->object,
                                              .root_name = evaluation.root.name,
                                              .requester = &subject->requester,
                                              .operation = subject->operation};
    look_up_namespace(&evaluation);
    return evaluation;
}

struct rail_call evaluation_call(struct evaluation *evaluation, const struct policy *policy,
                                 const struct rail_use *use, enum match_result match)
{
    struct rail_call call = {
        .world = evaluation->world,
        .subject = &evaluation->subject,
        .object = evaluation->subject.object,
        .settings = use->settings,
        .now_unix_s = evaluation->now_unix_s,
        .arena = evaluation->arena,
        .evaluation = evaluation,
        .policy = policy,
        .use = use,
        .mode = use->mode,
    };
    bool unknown = false;
    call.override = override_find(policy, use, &evaluation->match, &call.mode, &unknown);
    call.match_unknown = unknown || match == MATCH_UNKNOWN;
    return call;
}

const struct exception *call_exception(const struct rail_call *call, bool *expired, bool *unknown)
{
    return exception_find(call->policy, call->use->rail->name, &call->evaluation->match,
                          call->now_unix_s, expired, unknown);
}
