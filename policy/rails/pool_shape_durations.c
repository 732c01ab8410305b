/* Durations of a NodePool that are too long for Karpenter. */
#include "kube/time.h"
#include "policy/rails/duration_fault.h"
#include "policy/rails/pool_shape.h"

/* Karpenter counts in nanoseconds, which fill 63 bits after 292 years. */
static void judge_duration(struct rail_call *call, const struct field *field, const char *fix)
{
    enum { LONGEST_H = 2562047 };
    static const int64_t longest_s = INT64_MAX / 1000000000;
    struct text found = node_string(field->node);
    int64_t seconds = 0;
    if (!node_is_given(field->node) || duration_is_malformed(field) ||
        (duration_parse(found, &seconds) && seconds <= longest_s))
        return;
    report(call, SEVERITY_RAIL, field, text_of(fix),
           "found \"%.*s\", which Karpenter cannot read: the longest duration is %dh",
           TEXT_ARGS(found), LONGEST_H);
}

void pool_shape_judge_durations(struct rail_call *call)
{
    static const struct {
        const char *path, *fix;
    } places[] = {
        {"spec.disruption.consolidateAfter", "write Never, if that is meant"},
        {"spec.disruption.expireAfter", "write Never, if that is meant"},
        {"spec.template.spec.expireAfter", "write Never, if that is meant"},
        {"spec.template.spec.terminationGracePeriod", "remove it, if a drain may take any time"},
    };
    struct arena *arena = call->arena;
    const struct field *root = call->object->root;
    for (size_t i = 0; i < COUNT_OF(places); i++)
        judge_duration(call, field_at(arena, root, places[i].path), places[i].fix);

    FOR_FIELDS(budget, arena, field_at(arena, root, "spec.disruption.budgets"))
        judge_duration(call, field_get(arena, budget, "duration"),
                       "remove schedule and duration, if the budget is to hold always");
}
