/* Taints that no node can have, and the same one twice: the API server leaves both to Karpenter. */
#include "kube/label.h"
#include "kube/pool.h"
#include "policy/rails/pool_shape.h"

static void judge_value(struct rail_call *call, const struct taint *taint)
{
    /* Karpenter wants of a value what it wants of a key. */
    if (taint->value.size == 0 || label_key_is_valid(taint->value))
        return;
    report(call, SEVERITY_RAIL, field_get(call->arena, taint->field, "value"),
           TEXT("write at most 63 letters, digits, '-', '_' and '.'"),
           "found \"%.*s\", which cannot be the value of a taint" NEVER_USED,
           TEXT_ARGS(taint->value));
}

static void judge_twice(struct rail_call *call, const struct taint *taint, struct text_map *seen)
{
    struct arena *arena = call->arena;
    struct text name =
        arena_printf(arena, "%.*s:%.*s", TEXT_ARGS(taint->key), TEXT_ARGS(taint->effect));
    if (text_map_add(seen, arena, name))
        return;
    report_found(
        call, SEVERITY_RAIL, taint->field, taint->key, TEXT("remove one of them"),
        "the taint %.*s with the effect %.*s stands twice in taints and startupTaints" NEVER_USED,
        TEXT_ARGS(taint->key), TEXT_ARGS(taint->effect));
}

static void judge_taints(struct rail_call *call, const struct taints *taints, struct text_map *seen)
{
    FOR_EACH(taint, taints) {
        pool_shape_judge_key(call, field_get(call->arena, taint->field, "key"), taint->key,
                             "taint");
        judge_value(call, taint);
        judge_twice(call, taint, seen);
    }
}

void pool_shape_judge_taints(struct rail_call *call, const struct pool *pool)
{
    struct text_map seen = {0};
    judge_taints(call, &pool->taints, &seen);
    judge_taints(call, &pool->startup_taints, &seen);
}
