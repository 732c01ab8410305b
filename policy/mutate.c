/* The verdict's changes: Pods are changed one change after the other, and each rail sees what the
 * ones before have done, so that two policies with the same rail add a thing once. */
#include "policy/evaluation.h"

const char *outcome_name(enum change_outcome outcome)
{
    static const char *const names[] = {
        [OUTCOME_EXCEPTED] = "excepted", [OUTCOME_FAILED] = "failed",
        [OUTCOME_AUDITED] = "audited",   [OUTCOME_WARNED] = "warned",
        [OUTCOME_APPLIED] = "applied",
    };
    return names[outcome];
}

/* ---- a patch, built up ---- */

static void add(struct patch *patch, struct arena *arena, struct text path, struct node value)
{
    *LIST_PUSH(arena, patch) = (struct patch_op){
        .op = PATCH_ADD,
        .path = path,
        .value = node_keep(arena, value),
    };
}

static bool is_added(const struct patch *patch, struct text path)
{
    for (size_t i = 0; i < patch->count; i++)
        if (text_equal(patch->items[i].path, path))
            return true;
    return false;
}

/* A second `add` of an empty map would take away what the first has got since. */
static void ensure(struct patch *patch, struct arena *arena, const struct field *field,
                   struct node empty)
{
    bool is_there = field->node != NULL && !node_is(field->node, NODE_NULL);
    struct text path = field_pointer(arena, field);
    if (is_there || is_added(patch, path))
        return;
    ensure(patch, arena, field->parent, node_of_members(NULL, 0)); /* the root is there */
    add(patch, arena, path, empty);
}

void patch_set(struct patch *patch, struct arena *arena, const struct field *map, struct text key,
               struct node value)
{
    ensure(patch, arena, map, node_of_members(NULL, 0));
    add(patch, arena, field_pointer(arena, field_member(arena, map, key)), value);
}

void patch_append(struct patch *patch, struct arena *arena, const struct field *list,
                  struct node value)
{
    ensure(patch, arena, list, node_of_items(NULL, 0));
    add(patch, arena, arena_printf(arena, "%.*s/-", TEXT_ARGS(field_pointer(arena, list))), value);
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
        struct text key = member_key(member);
        const struct member *old = i < before->size ? &before->members[i] : NULL;
        if (old != NULL && !text_equal(key, member_key(old)))
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

/* The pod after the patch; false when it cannot be made, or it would be no pod, or changed where
 * nothing may be. */
static bool try_patch(const struct object *pod, const struct patch *patch, struct arena *arena,
                      struct object *changed)
{
    const struct node *root = NULL;
    struct workload workload;
    if (!doc_patch(pod->root->node, patch->items, patch->count, arena, &root, NULL) ||
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

/* An exception stops a change; where it is not known whether the policy reaches the pod, or the pod
 * is spared, the change is only spoken of. */
static void decide(const struct rail_call *call, struct change *change)
{
    bool expired = false;
    bool exception_unknown = false;
    const struct exception *exception = call_exception(call, &expired, &exception_unknown);
    change->outcome = outcome_of_mode(call->mode);
    if (change->outcome == OUTCOME_APPLIED &&
        (call->match_unknown || exception_unknown || call_is_spared(call)))
        change->outcome = OUTCOME_WARNED;
    if (exception == NULL)
        return;
    change->exception = exception->id;
    if (!expired)
        change->outcome = OUTCOME_EXCEPTED;
}

static void apply(struct evaluation *evaluation, struct change *change)
{
    struct arena *arena = evaluation->arena;
    struct object *changed = ARENA_NEW(arena, struct object);
    if (!try_patch(evaluation->subject.object, &change->patch, arena, changed)) {
        change->outcome = OUTCOME_FAILED;
        return;
    }
    evaluation->subject.object = changed;
    for (size_t i = 0; i < change->patch.count; i++)
        *LIST_PUSH(arena, &evaluation->patch) = change->patch.items[i];
}

void propose_change(struct rail_call *call, const struct change *proposed)
{
    enum { TEXT_LIMIT = 1024 };
    struct evaluation *evaluation = call->evaluation;
    struct arena *arena = call->arena;
    struct change *change = LIST_PUSH(arena, &evaluation->changes);
    *change = (struct change){
        .rail = call->use->rail->name,
        .added = message_printable(proposed->added, TEXT_LIMIT, arena),
        .policy = call->policy->name,
        .patch = proposed->patch,
    };
    decide(call, change);
    evaluation->hangs_on_owner |= change->outcome == OUTCOME_APPLIED && call_asks_owner(call);
    if (change->outcome == OUTCOME_APPLIED)
        apply(evaluation, change);
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

static void mutate_by(struct evaluation *evaluation, const struct policy *policy)
{
    enum match_result match = match_evaluate(&policy->match, &evaluation->match);
    evaluation->hangs_on_owner |= policy->match.names.given;
    for (size_t i = 0; match != MATCH_NO && i < policy->rail_count; i++) {
        const struct rail *rail = policy->rails[i].rail;
        if (rail->change == NULL)
            continue;
        struct rail_call call = evaluation_call(evaluation, policy, &policy->rails[i], match);
        if (call.mode != MODE_OFF)
            rail->change(&call);
    }
}

void policy_mutate(const struct world *world, const struct subject *subject, int64_t now_unix_s,
                   struct arena *arena, struct verdict *verdict)
{
    *verdict = (struct verdict){0};
    if (!is_changed(subject))
        return;
    struct evaluation evaluation = evaluation_begin(world, subject, now_unix_s, arena);
    for (size_t i = 0; i < world->policies->count; i++)
        mutate_by(&evaluation, &world->policies->items[i]);
    verdict->patch = evaluation.patch;
    verdict->changes = evaluation.changes.items;
    verdict->change_count = evaluation.changes.count;
    verdict->is_controlled = evaluation.root.named;
    if (evaluation.hangs_on_owner)
        verdict->awaited = evaluation.root.awaited;
}
