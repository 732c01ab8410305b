#include "policy/evaluation.h"
#include "policy/message.h"

/* Pods are changed one proposal after the other: each rail sees what the ones before have done, so
 * that two policies with the same rail add a thing once. */
struct mutation {
    struct evaluation evaluation;
    struct subject subject; /* its object is the pod as it is by now */
    struct changes changes;
    LIST(struct amendment) amendments;
    bool hangs_on_owner; /* something would be otherwise, were the owner seen */
};

void judgement_propose(struct judgement *judgement, const struct proposal *proposal)
{
    struct hearing *hearing = (struct hearing *)judgement;
    *LIST_PUSH(judgement->arena, &hearing->proposals) = *proposal;
}

const char *outcome_name(enum change_outcome outcome)
{
    static const char *const names[] = {
        [OUTCOME_EXCEPTED] = "excepted", [OUTCOME_FAILED] = "failed",
        [OUTCOME_AUDITED] = "audited",   [OUTCOME_WARNED] = "warned",
        [OUTCOME_APPLIED] = "applied",
    };
    return names[outcome];
}

/* ---- the copy ---- */

enum shape { SHAPE_MAP, SHAPE_MAP_OF_TEXTS, SHAPE_LIST_OF_MAPS };

/* All that a change may touch, and what it must be afterwards: the API server answers 500 to a
 * patch that it cannot read, whatever the failurePolicy. */
static const struct {
    const char *parent, *key;
    enum shape shape;
} open_fields[] = {
    {"metadata", "annotations", SHAPE_MAP_OF_TEXTS},
    {"spec", "affinity", SHAPE_MAP},
    {"spec", "nodeSelector", SHAPE_MAP_OF_TEXTS},
    {"spec", "tolerations", SHAPE_LIST_OF_MAPS},
    {"spec", "topologySpreadConstraints", SHAPE_LIST_OF_MAPS},
};

static bool has_shape(const struct node *node, enum shape shape)
{
    if (!node_is(node, shape == SHAPE_LIST_OF_MAPS ? NODE_LIST : NODE_MAP))
        return false;
    for (size_t i = 0; i < node->size; i++)
        if ((shape == SHAPE_LIST_OF_MAPS && !node_is(&node->items[i], NODE_MAP)) ||
            (shape == SHAPE_MAP_OF_TEXTS && !node_is(&node->members[i].value, NODE_STRING)))
            return false;
    return true;
}

static bool is_open(const char *parent, struct text key, const struct node *value)
{
    for (size_t i = 0; i < COUNT_OF(open_fields); i++)
        if (text_is(text_of(parent), open_fields[i].parent) && text_is(key, open_fields[i].key))
            return has_shape(value, open_fields[i].shape);
    return false;
}

/* By position: a patch keeps the order, and puts what is new at the end. parent NULL: the root. */
static bool is_right(const char *parent, const struct node *after, const struct node *before)
{
    if (!node_is(after, NODE_MAP) || !node_is(before, NODE_MAP) || after->size < before->size)
        return false;
    for (size_t i = 0; i < after->size; i++) {
        const struct member *member = &after->members[i];
        struct text key = {member->key, member->key_size};
        const struct member *old = i < before->size ? &before->members[i] : NULL;
        if (old != NULL && !text_equal(key, (struct text){old->key, old->key_size}))
            return false;
        if (old != NULL && node_equal(&member->value, &old->value))
            continue;
        if (parent != NULL && is_open(parent, key, &member->value))
            continue;
        if (parent != NULL || old == NULL)
            return false;
        const char *name = text_is(key, "metadata") ? "metadata" : "spec";
        if (!text_is(key, name) || !is_right(name, &member->value, &old->value))
            return false;
    }
    return true;
}

/* The pod after the changes; false when they cannot be made, or it would be no pod, or changed
 * where nothing may be. */
static bool try_changes(const struct object *pod, const struct change *changes, size_t count,
                        struct arena *arena, struct object *changed)
{
    const struct node *root = NULL;
    struct workload workload;
    if (!doc_patch(pod->root->node, changes, count, arena, &root, NULL) ||
        !is_right(NULL, root, pod->root->node) ||
        !object_read(root, pod->source, pod->namespace, arena, changed, NULL) ||
        !workload_read(changed, arena, &workload))
        return false;
    if (changed->name.size == 0)
        changed->name = pod->name; /* as the request says it */
    return true;
}

/* ---- one rail ---- */

static enum change_outcome outcome_of_mode(enum mode mode)
{
    return mode == MODE_ENFORCE ? OUTCOME_APPLIED
           : mode == MODE_WARN  ? OUTCOME_WARNED
                                : OUTCOME_AUDITED;
}

/* An exception stops a patch; where it is not known whether the policy reaches the pod, or the pod
 * is spared, the patch is only spoken of. */
static void decide(const struct mutation *mutation, const struct ruling *ruling,
                   struct amendment *amendment)
{
    const struct rail_use *use = &ruling->use;
    const struct evaluation *evaluation = &mutation->evaluation;
    bool expired = false;
    bool exception_unknown = false;
    const struct exception *exception =
        exception_find(ruling->policy, use->rail->name, &evaluation->match, evaluation->now_unix_s,
                       &expired, &exception_unknown);
    amendment->outcome = outcome_of_mode(use->mode);
    if (amendment->outcome == OUTCOME_APPLIED &&
        (ruling->match_unknown || exception_unknown || evaluation_spares(evaluation, use)))
        amendment->outcome = OUTCOME_WARNED;
    if (exception == NULL)
        return;
    amendment->exception = exception->id;
    if (!expired)
        amendment->outcome = OUTCOME_EXCEPTED;
}

static void amend(struct mutation *mutation, const struct ruling *ruling,
                  const struct proposal *proposal)
{
    enum { TEXT_LIMIT = 1024 };
    struct arena *arena = mutation->evaluation.arena;
    struct text audit = proposal->audit.size > 0 ? proposal->audit : proposal->added;
    struct amendment *amendment = LIST_PUSH(arena, &mutation->amendments);
    *amendment = (struct amendment){
        .rail = ruling->use.rail->name,
        .added = message_printable(proposal->added, TEXT_LIMIT, arena),
        .audit = message_printable(audit, TEXT_LIMIT, arena),
        .policy = ruling->policy->name,
    };
    decide(mutation, ruling, amendment);
    mutation->hangs_on_owner |=
        amendment->outcome == OUTCOME_APPLIED && evaluation_asks_owner(ruling);
    if (amendment->outcome != OUTCOME_APPLIED)
        return;
    struct object *changed = ARENA_NEW(arena, struct object);
    if (!try_changes(mutation->subject.object, proposal->changes, proposal->change_count, arena,
                     changed)) {
        amendment->outcome = OUTCOME_FAILED;
        return;
    }
    mutation->subject.object = changed;
    for (size_t i = 0; i < proposal->change_count; i++)
        *LIST_PUSH(arena, &mutation->changes) = proposal->changes[i];
}

static void mutate_rail(struct mutation *mutation, const struct ruling *ruling)
{
    const struct rail_use *use = &ruling->use;
    if (use->mode == MODE_OFF || use->rail->change == NULL)
        return;
    struct hearing hearing = {.judgement = {.world = mutation->evaluation.world,
                                            .subject = &mutation->subject,
                                            .object = mutation->subject.object,
                                            .arena = mutation->evaluation.arena}};
    use->rail->change(&hearing.judgement, use->settings);
    for (size_t i = 0; i < hearing.proposals.count; i++)
        amend(mutation, ruling, &hearing.proposals.items[i]);
}

/* ---- the whole ---- */

/* A mirror pod runs already, and the kubelet wants to find it as it made it. */
static bool is_changed(const struct subject *subject)
{
    const struct object *object = subject->object;
    return subject->operation == OPERATION_CREATE && subject->subresource.size == 0 &&
           object->kind == KIND_POD && !object->deleting &&
           node_member(node_at(object->root->node, "metadata.annotations"),
                       TEXT("kubernetes.io/config.mirror")) == NULL;
}

void policy_mutate(const struct world *world, const struct subject *subject, int64_t now_unix_s,
                   struct arena *arena, struct verdict *verdict)
{
    *verdict = (struct verdict){0};
    if (!is_changed(subject))
        return;
    struct mutation mutation = {
        .evaluation = evaluation_begin(world, subject, now_unix_s, arena),
        .subject = *subject,
    };
    for (size_t i = 0; i < world->policies->count; i++) {
        const struct policy *policy = &world->policies->items[i];
        enum match_result match = match_evaluate(&policy->match, &mutation.evaluation.match);
        mutation.hangs_on_owner |= policy->match.names.given;
        for (size_t j = 0; match != MATCH_NO && j < policy->rail_count; j++) {
            const struct ruling ruling =
                evaluation_rule(&mutation.evaluation, policy, &policy->rails[j], match);
            mutate_rail(&mutation, &ruling);
        }
    }
    verdict->changes = mutation.changes.items;
    verdict->change_count = mutation.changes.count;
    verdict->amendments = mutation.amendments.items;
    verdict->amendment_count = mutation.amendments.count;
    if (mutation.hangs_on_owner)
        verdict->awaited = mutation.evaluation.root.awaited;
}
