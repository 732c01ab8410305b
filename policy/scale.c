/* Replicas that are set by the subresource scale, or that a HorizontalPodAutoscaler may set, judged
 * at the workload, or the static NodePool, that has them. */
#include "kube/autoscaler.h"
#include "kube/snapshot.h"
#include "policy/evaluation.h"

/* Zero is left out of a Scale. */
static int64_t replicas_of(const struct object *scale)
{
    return node_int32(scale->root->node, "spec.replicas", 0);
}

/* Of an object that is known by name alone. */
static const struct node *bare_root(const struct object *object, struct arena *arena)
{
    struct member *members = ARENA_ARRAY(arena, 3, struct member);
    members[0] = member_of(TEXT("apiVersion"), node_of_text(object->api_version));
    members[1] = member_of(TEXT("kind"), node_of_text(object->kind_name));
    members[2] = member_of(TEXT("spec"), node_of_members(NULL, 0));
    return node_keep(arena, node_of_members(members, 3));
}

static bool has_template(const struct object *workload)
{
    return workload != NULL &&
           node_count(node_at(workload->root->node, "spec.template.spec.containers")) > 0;
}

static struct text namespace_of(enum kind kind, const struct object *scale)
{
    return kind_table[kind].namespaced ? scale->namespace : TEXT("");
}

static const struct object *find_scaled(const struct world *world, const struct subject *subject)
{
    const struct object *scale = subject->object;
    enum kind kind = subject->resource_kind;
    const struct object *found =
        snapshot_find(world->snapshot, kind, namespace_of(kind, scale), scale->name);
    return found != NULL && uids_agree(found->uid, scale->uid) ? found : NULL;
}

/* The workload (NULL: not seen) that is scaled, with so many replicas. */
static struct object *with_replicas(const struct object *workload, enum kind kind,
                                    const struct object *scale, int64_t count, struct arena *arena)
{
    const struct kind_info *info = &kind_table[kind];
    struct object *object = ARENA_NEW(arena, struct object);
    if (workload != NULL) {
        *object = *workload;
    } else {
        struct text version =
            info->group[0] == '\0' ? TEXT("v1") : arena_printf(arena, "%s/v1", info->group);
        *object = (struct object){.kind = kind,
                                  .api_version = version,
                                  .kind_name = text_of(info->name),
                                  .namespace = namespace_of(kind, scale),
                                  .name = scale->name,
                                  .uid = scale->uid};
    }
    const struct node *root = workload != NULL ? workload->root->node : bare_root(object, arena);
    const struct node replicas = node_of_integer(count, arena);
    const struct patch_op set = {PATCH_ADD, TEXT("/spec/replicas"), &replicas};
    struct error error;
    if (!doc_patch(root, &set, 1, arena, &root, &error))
        return NULL; /* it has no spec, so that nothing could be judged */
    object->root = field_root(arena, root);
    object->source = NULL;
    return object;
}

bool is_scaled_by_controller(const struct subject *subject)
{
    return subject_is_scale(subject) && (KIND_BIT(subject->resource_kind) & KINDS_SCALED) != 0 &&
           requester_is_controller(&subject->requester);
}

bool subject_is_scale(const struct subject *subject)
{
    return text_is(subject->subresource, "scale");
}

void subject_of_scale(const struct world *world, struct arena *arena, struct subject *subject)
{
    enum kind kind = subject->resource_kind;
    if (!subject_is_scale(subject) || (KIND_BIT(kind) & KINDS_WITH_SCALE) == 0 ||
        subject->object == NULL || subject->old_object == NULL)
        return;
    const struct object *scaled = find_scaled(world, subject);
    const struct object *after =
        with_replicas(scaled, kind, subject->object, replicas_of(subject->object), arena);
    const struct object *before =
        with_replicas(scaled, kind, subject->old_object, replicas_of(subject->old_object), arena);
    if (after == NULL)
        return; /* and no before */
    subject->object = after;
    subject->old_object = before;
    subject->template_unseen = kind != KIND_NODE_POOL && !has_template(scaled);
}

/* ---- autoscalers ---- */

/* How many the autoscaler lets the workload have: with none (NULL), and with one that does not act,
 * what it says itself. */
static int64_t most_replicas(const struct autoscaler_target *autoscaler,
                             const struct object *workload)
{
    int64_t own = workload == NULL ? 1 : node_int32(workload->root->node, "spec.replicas", 1);
    return autoscaler != NULL && autoscaler_acts(autoscaler, own) ? autoscaler->most : own;
}

/* The target as an autoscaler has it that says so. */
static const struct object *scaled_by(const struct autoscaler_target *autoscaler,
                                      const struct autoscaler_target *target,
                                      const struct object *workload, struct arena *arena)
{
    const struct object head = {.namespace = target->namespace, .name = target->name};
    struct object *scaled =
        with_replicas(workload, target->kind, &head, most_replicas(autoscaler, workload), arena);
    if (scaled != NULL)
        scaled->replicas_told = true;
    return scaled;
}

/* What the old one scaled is another's matter when that was another workload. */
static const struct autoscaler_target *same_target(const struct object *old,
                                                   const struct autoscaler_target *target,
                                                   struct autoscaler_target *before)
{
    return old != NULL && autoscaler_target_read(old, before) && before->kind == target->kind &&
                   text_equal(before->name, target->name)
               ? before
               : NULL;
}

const struct object *subject_of_autoscaler(const struct world *world, struct arena *arena,
                                           struct subject *subject)
{
    const struct object *autoscaler = subject->object;
    struct autoscaler_target target, target_before;
    if (autoscaler->kind != KIND_HORIZONTAL_POD_AUTOSCALER || subject->existing ||
        !autoscaler_target_read(autoscaler, &target) || (KIND_BIT(target.kind) & KINDS_SCALED) == 0)
        return NULL;
    const struct object *workload =
        snapshot_find(world->snapshot, target.kind, target.namespace, target.name);
    /* One that comes with it, or after it, is judged itself. */
    bool comes = workload == NULL ? world->live && world_lists(world, KIND_BIT(target.kind))
                                  : workload->origin == ORIGIN_CHANGE;
    if (comes || (workload != NULL && !autoscaler_is_alone(world->snapshot, autoscaler, workload)))
        return NULL;
    const struct object *after = scaled_by(&target, &target, workload, arena);
    const struct object *before = scaled_by(
        same_target(subject->old_object, &target, &target_before), &target, workload, arena);
    if (after == NULL)
        return NULL; /* and no before */
    subject->operation = OPERATION_UPDATE;
    subject->subresource = TEXT("scale");
    subject->resource_kind = target.kind;
    subject->object = after;
    subject->old_object = before;
    subject->template_unseen = !has_template(workload);
    return autoscaler;
}

void scale_undecided(const struct rail_call *call, struct record *record)
{
    const struct subject *subject = call->subject;
    struct arena *arena = call->arena;
    int64_t replicas = replicas_of(subject->object);
    if (replicas <= 1 || replicas <= replicas_of(subject->old_object))
        return;
    record->object = subject->object;
    const struct draft draft = {
        .severity = SEVERITY_UNDECIDED,
        .field = field_at(arena, subject->object->root, "spec.replicas"),
        .found = arena_printf(arena, "%lld", (long long)replicas),
        .statement = arena_printf(arena,
                                  "The pod template of this %.*s cannot be seen, so nobody knows "
                                  "what more replicas of it do.",
                                  TEXT_ARGS(subject->object->kind_name)),
        .wanted = WANTS_ONE,
        .fix = advice_to_show_one(call, subject->object->kind, "it"),
    };
    record_add(record, &draft);
}
