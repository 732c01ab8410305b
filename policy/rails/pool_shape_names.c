/* Keys, values and durations that no node, taint or controller can take. The API server leaves
 * their judgement to Karpenter, in part or altogether. */
#include "kube/label.h"
#include "kube/pool.h"
#include "kube/time.h"
#include "policy/rails/duration_fault.h"
#include "policy/rails/pool_shape.h"

static void judge_key(struct rail_call *call, const struct field *field, struct text key,
                      const char *what)
{
    if (label_key_is_valid(key))
        return;
    report_draft(call, &(struct draft){
                           .field = field,
                           .found = key,
                           .statement = arena_printf(call->arena,
                                                     "found \"%.*s\", which cannot be the key of a "
                                                     "%s" NEVER_USED,
                                                     TEXT_ARGS(key), what),
                           .fix = TEXT("write a name of at most 63 letters, digits, '-', '_' and "
                                       "'.', before it perhaps a domain in lower case and '/', as "
                                       "in example.com/team"),
                       });
}

static void judge_taints(struct rail_call *call, const struct taints *taints)
{
    struct arena *arena = call->arena;
    for (size_t i = 0; i < taints->count; i++) {
        const struct taint *taint = &taints->items[i];
        judge_key(call, field_get(arena, taint->field, "key"), taint->key, "taint");
        /* Karpenter wants of a value what it wants of a key. */
        if (taint->value.size == 0 || label_key_is_valid(taint->value))
            continue;
        report_draft(call,
                     &(struct draft){
                         .field = field_get(arena, taint->field, "value"),
                         .found = taint->value,
                         .statement = arena_printf(arena,
                                                   "found \"%.*s\", which cannot be the value of "
                                                   "a taint" NEVER_USED,
                                                   TEXT_ARGS(taint->value)),
                         .fix = TEXT("write at most 63 letters, digits, '-', '_' and '.'"),
                     });
    }
}

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
    report_draft(call, &(struct draft){
                           .field = field,
                           .found = found,
                           .statement = arena_printf(call->arena,
                                                     "found \"%.*s\", which Karpenter cannot read: "
                                                     "the longest duration is %dh",
                                                     TEXT_ARGS(found), LONGEST_H),
                           .fix = text_of(fix),
                       });
}

static void judge_durations(struct rail_call *call)
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
    const struct field *budgets = field_at(arena, root, "spec.disruption.budgets");
    for (size_t i = 0; node_is(budgets->node, NODE_LIST) && i < node_count(budgets->node); i++)
        judge_duration(call, field_get(arena, field_item(arena, budgets, i), "duration"),
                       "remove schedule and duration, if the budget is to hold always");
}

void pool_shape_judge_names(struct rail_call *call, const struct pool *pool)
{
    struct arena *arena = call->arena;
    for (size_t i = 0; i < pool->requirements.count; i++) {
        const struct expression *requirement = &pool->requirements.items[i];
        if (requirement->key.size > 0) /* one without a key is spoken of elsewhere */
            judge_key(call, field_get(arena, requirement->field, "key"), requirement->key, "label");
    }
    for (size_t i = 0; i < pool->labels.count; i++)
        if (pool->labels.items[i].valid)
            judge_key(call, pool->labels.items[i].field, pool->labels.items[i].key, "label");
    judge_taints(call, &pool->taints);
    judge_taints(call, &pool->startup_taints);
    judge_durations(call);
}
