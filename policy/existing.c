/* Judges existing objects, the owners before what is made of them. */
#include "policy/existing.h"

#include "kube/pod.h"

enum { LONGEST_CHAIN = 8 }; /* of owners, which may be a circle */

/* ---- objects that no longer count ---- */

static bool is_ended_job(const struct object *object)
{
    static const char *const ends[] = {"Complete", "Failed"};
    for (size_t i = 0; object->kind == KIND_JOB && i < COUNT_OF(ends); i++)
        if (object_condition_holds(object, ends[i]))
            return true;
    return false;
}

/* An old revision for a rollback: nothing of it runs. */
static bool is_empty_revision(const struct object *object)
{
    return object->kind == KIND_REPLICA_SET && object->controller.name.size > 0 &&
           node_int32(object->root->node, "spec.replicas", 1) == 0;
}

bool existing_is_left_out(const struct object *object)
{
    return object->deleting || (object->kind == KIND_POD && pod_is_done(object)) ||
           is_ended_job(object) || is_empty_revision(object);
}

/* ---- judging ---- */

static bool is_told(const struct existing *owner, const struct finding *finding, struct text path)
{
    for (int i = 0; owner != NULL && i < LONGEST_CHAIN; i++, owner = owner->owner)
        FOR_EACH(told, &owner->told) {
            /* A template's field has the same end as the Pod's: ".spec.template" and
             * ".spec.nodeSelector". */
            if (told->action >= finding->action && text_equal(told->found, finding->found) &&
                text_ends_with(told->path, path) && text_equal(told->policy, finding->policy) &&
                text_equal(text_of(told->rail), text_of(finding->rail)))
                return true;
        }
    return false;
}

struct verdict existing_judge(const struct world *world, const struct object *object,
                              const struct existing *owner, int64_t now_unix_s, struct arena *arena)
{
    const struct subject subject = {
        .operation = OPERATION_CREATE, .object = object, .existing = true};
    struct verdict all;
    policy_evaluate(world, &subject, now_unix_s, arena, &all);
    struct verdict verdict = {0};
    struct finding *findings = ARENA_ARRAY(arena, all.finding_count, struct finding);
    for (size_t i = 0; i < all.finding_count; i++) {
        const struct finding *finding = &all.findings[i];
        if (is_told(owner, finding, finding_identity(finding, arena)))
            continue;
        findings[verdict.finding_count++] = *finding;
        if (finding->action > verdict.action && !finding->undecided)
            verdict.action = finding->action;
    }
    verdict.findings = findings;
    return verdict;
}

/* An object of a controller is not denied itself, whatever its pods would be. */
static bool is_made(const struct object *object)
{
    return (object->kind == KIND_REPLICA_SET || object->kind == KIND_JOB) &&
           object->controller.name.size > 0;
}

void existing_tell(struct existing *existing, const struct object *object,
                   const struct verdict *verdict, struct arena *arena)
{
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const struct finding *finding = &verdict->findings[i];
        *LIST_PUSH(arena, &existing->told) = (struct told){
            .rail = finding->rail,
            .policy = arena_text(arena, finding->policy),
            .found = arena_text(arena, finding->found),
            .path = finding_identity(finding, arena),
            .action = is_made(object) ? ACTION_DENY : finding->action,
        };
    }
}
