/* Taints and tolerations. */
#include "kube/taint.h"

#include "kube/pod.h"

void taints_read(const struct field *list, struct arena *arena, struct taints *taints)
{
    FOR_FIELDS(field, arena, list) {
        *LIST_PUSH(arena, taints) = (struct taint){
            .field = field,
            .key = node_string(node_get(field->node, "key")),
            .value = node_string(node_get(field->node, "value")),
            .effect = node_string(node_get(field->node, "effect")),
        };
    }
}

bool taint_is_hard(const struct taint *taint)
{
    return text_is(taint->effect, "NoSchedule") || text_is(taint->effect, "NoExecute");
}

void tolerations_read(const struct workload *workload, struct arena *arena,
                      struct tolerations *tolerations)
{
    *tolerations = (struct tolerations){0};
    if (node_get(workload->spec->node, "tolerations") == NULL)
        return;
    const struct field *list = field_get(arena, workload->spec, "tolerations");
    FOR_FIELDS(field, arena, list) {
        *LIST_PUSH(arena, tolerations) = (struct toleration){
            .field = field,
            .key = node_string(node_get(field->node, "key")),
            .op = node_string(node_get(field->node, "operator")),
            .value = node_string(node_get(field->node, "value")),
            .effect = node_string(node_get(field->node, "effect")),
        };
    }
}

bool toleration_compares(const struct toleration *toleration)
{
    return text_is(toleration->op, "Gt") || text_is(toleration->op, "Lt");
}

/* Of integers in canonical form alone: 005 is none. */
static bool compares(const struct toleration *toleration, const struct taint *taint)
{
    int64_t wanted = 0;
    int64_t found = 0;
    if (!text_to_canonical_int64(toleration->value, &wanted) ||
        !text_to_canonical_int64(taint->value, &found))
        return false;
    return text_is(toleration->op, "Gt") ? found > wanted : found < wanted;
}

static bool toleration_covers(const struct toleration *toleration, const struct taint *taint)
{
    if (toleration->effect.size > 0 && !text_equal(toleration->effect, taint->effect))
        return false;
    if (toleration->key.size > 0 && !text_equal(toleration->key, taint->key))
        return false;
    if (text_is(toleration->op, "Exists"))
        return true;
    if (toleration->key.size == 0)
        return false;
    if (toleration_compares(toleration))
        return compares(toleration, taint);
    return (toleration->op.size == 0 || text_is(toleration->op, "Equal")) &&
           text_equal(toleration->value, taint->value);
}

bool tolerations_cover(const struct tolerations *tolerations, const struct taint *taint)
{
    for (size_t i = 0; i < tolerations->count; i++)
        if (toleration_covers(&tolerations->items[i], taint))
            return true;
    return false;
}
