/* What a ReplicaSet or a Job that is younger than `since` passes on to its Pods from an older
 * owner: only what the owner's template has too, or what was made for the owner before. Else
 * whoever can write an ownerReference would have the owner's age. Pods themselves are not compared
 * with templates, since other webhooks change them. */
#include <stdlib.h>

#include "kube/snapshot.h"
#include "policy/evaluation.h"

/* ---- findings of a template ---- */

struct trait {
    struct text path, found;
};
struct traits {
    struct trait *items;
    size_t count, capacity;
};

static int compare_traits(const void *a_pointer, const void *b_pointer)
{
    const struct trait *a = a_pointer;
    const struct trait *b = b_pointer;
    int order = text_compare(a->path, b->path);
    return order != 0 ? order : text_compare(a->found, b->found);
}

/* Paths are those of what is made of the object. */
static struct text path_of_made(const struct object *object, const struct draft *draft,
                                struct arena *arena)
{
    const struct text job_template = TEXT(".spec.jobTemplate");
    const struct finding finding = {.field = draft->field};
    struct text path = finding_identity(&finding, arena);
    if (object->kind == KIND_CRON_JOB && text_starts_with(path, job_template))
        return (struct text){path.data + job_template.size, path.size - job_template.size};
    return path;
}

static void add_traits(const struct rail_call *call, const struct object *object,
                       struct traits *traits)
{
    struct arena *arena = call->arena;
    const struct rail *rail = call->use->rail;
    if ((rail->kinds & KIND_BIT(object->kind)) == 0)
        return;
    const struct subject subject = {
        .operation = OPERATION_CREATE, .object = object, .existing = true};
    struct record record = {.arena = arena, .object = object, .keeps_all = true};
    struct rail_call again = *call;
    again.subject = &subject;
    again.object = object;
    again.record = &record;
    rail->judge(&again);
    FOR_EACH(draft, &record.drafts) {
        *LIST_PUSH(arena, traits) =
            (struct trait){path_of_made(object, draft, arena), draft->found};
    }
}

/* Whether each is among the others, which are put in order. */
static bool are_among(const struct traits *traits, struct traits *others)
{
    if (others->count > 1)
        qsort(others->items, others->count, sizeof *others->items, compare_traits);
    for (size_t i = 0; i < traits->count; i++)
        if (others->count == 0 || bsearch(&traits->items[i], others->items, others->count,
                                          sizeof *others->items, compare_traits) == NULL)
            return false;
    return true;
}

/* ---- what else was made for the owner ---- */

/* The first of its kind that is not before the namespace. */
static size_t begin_of_namespace(const struct snapshot *snapshot, enum kind kind,
                                 struct text namespace)
{
    size_t low = 0, high = snapshot_count(snapshot, kind);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (text_compare(snapshot_object(snapshot, kind, middle)->namespace, namespace) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_older(const struct object *object, int64_t since_unix_s)
{
    return object->created_unix_s != 0 && object->created_unix_s < since_unix_s;
}

static void add_siblings(const struct rail_call *call, struct traits *traits)
{
    enum { SIBLINGS_MAX = 32 }; /* a Deployment keeps ten by default */
    const struct snapshot *snapshot = call->world->snapshot;
    const struct object *maker = call->evaluation->root.maker;
    size_t judged = 0;
    for (size_t i = begin_of_namespace(snapshot, maker->kind, maker->namespace);
         i < snapshot_count(snapshot, maker->kind) && judged < SIBLINGS_MAX; i++) {
        const struct object *other = snapshot_object(snapshot, maker->kind, i);
        if (!text_equal(other->namespace, maker->namespace))
            break;
        if (other == maker || !is_older(other, call->use->since_unix_s) ||
            !text_equal(other->controller.name, maker->controller.name) ||
            !text_equal(other->controller.kind, maker->controller.kind) ||
            !uids_agree(other->controller.uid, maker->controller.uid))
            continue;
        add_traits(call, other, traits);
        judged++;
    }
}

/* ---- an owner that changes ---- */

static bool lists_job(const struct object *cron_job, const struct object *job)
{
    FOR_ITEMS(item, node_at(cron_job->root->node, "status.active"))
        if (text_equal(node_string(node_get(item, "name")), job->name) &&
            uids_agree(node_string(node_get(item, "uid")), job->uid))
            return true;
    return false;
}

/* Its template is not the one any more that the maker was made of, rightly. */
static bool has_moved_on(const struct object *owner, const struct object *maker)
{
    if (owner->kind == KIND_DEPLOYMENT) {
        const struct node *root = owner->root->node;
        int64_t updated = node_int32(root, "status.updatedReplicas", 0);
        return updated < node_int32(root, "status.replicas", 0) ||
               updated < node_int32(root, "spec.replicas", 0);
    }
    return owner->kind == KIND_CRON_JOB && lists_job(owner, maker);
}

/* ---- the whole ---- */

static bool passes_on(const struct rail_call *call)
{
    const struct root_owner *root = &call->evaluation->root;
    struct traits made = {0}, known = {0};
    if (has_moved_on(root->above, root->maker))
        return true;
    add_traits(call, root->maker, &made);
    if (made.count == 0)
        return true;
    add_traits(call, root->above, &known);
    if (are_among(&made, &known))
        return true;
    add_siblings(call, &known);
    return are_among(&made, &known);
}

static bool is_old(const struct root_owner *root, const struct rail_use *use)
{
    return root->believed || (root->object != NULL && is_older(root->object, use->since_unix_s));
}

static bool owner_spares(const struct rail_call *call)
{
    const struct root_owner *root = &call->evaluation->root;
    if (!is_old(root, call->use))
        return false;
    return root->maker == NULL || root->above == NULL ||
           is_older(root->maker, call->use->since_unix_s) || passes_on(call);
}

bool call_is_spared(const struct rail_call *call)
{
    struct evaluation *evaluation = call->evaluation;
    const struct subject *subject = &evaluation->subject;
    const struct root_owner *root = &evaluation->root;
    if (call->use->since_unix_s == 0 || subject->operation != OPERATION_CREATE)
        return false;
    /* Of what says nothing of its age, and has an owner that cannot be seen, nobody knows it. */
    if (subject->existing && root->believed && subject->object->created_unix_s == 0)
        return false;
    if (subject->existing)
        return is_old(root, call->use);
    if (subject->object->kind != KIND_POD || !root->named)
        return false;
    if (evaluation->last.use != call->use) {
        evaluation->last.use = call->use;
        evaluation->last.spared = owner_spares(call);
    }
    return evaluation->last.spared;
}

bool call_asks_owner(const struct rail_call *call)
{
    if (call->use->since_unix_s != 0)
        return true;
    for (size_t i = 0; i < call->policy->exception_count; i++)
        if (call->policy->exceptions[i].match.names.given)
            return true;
    return false;
}
