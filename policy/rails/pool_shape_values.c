/* Requirements and labels of a NodePool that the API server takes and Karpenter refuses,
 * and values that no machine has. */
#include "catalog/catalog.h"
#include "kube/pool.h"
#include "kube/zone.h"
#include "policy/rails/pool_shape.h"
#include "policy/rails/requirement_fault.h"

/* ---- zones ---- */

/* As AWS names regions: "eu-west-1", "us-gov-east-1". A zone has a letter after it, or more. */
static bool is_region(struct text t)
{
    struct text words, number;
    if (!text_split_last(t, '-', &words, &number) || !text_is_digits(number) ||
        !text_split(words, '-', NULL, NULL))
        return false;
    for (size_t i = 0; i < words.size; i++)
        if (words.data[i] != '-' && (words.data[i] < 'a' || words.data[i] > 'z'))
            return false;
    return true;
}

static void judge_zones(struct rail_call *call, const struct pool *pool,
                        const struct expression *expression)
{
    struct arena *arena = call->arena;
    size_t regions = 0;
    if (!expression->valid || expression->op != SOLVER_IN ||
        zone_key_of(expression->key) != ZONE_KEY_NAME ||
        !catalog_is_builtin(call->world->catalog) ||
        !pool_is_covered_by(call->world->catalog, pool))
        return;
    for (size_t i = 0; i < expression->value_count; i++)
        regions += is_region(expression->values[i].text);
    for (size_t i = 0; i < expression->value_count; i++) {
        const struct expression_value *value = &expression->values[i];
        if (!is_region(value->text))
            continue;
        report(call, regions == expression->value_count ? SEVERITY_RAIL : SEVERITY_WARN,
               expression_value_field(value, call->arena),
               arena_printf(arena, "Name its zones, such as %.*sa.", TEXT_ARGS(value->text)),
               "\"%.*s\" is a region and no zone%s", TEXT_ARGS(value->text),
               regions == expression->value_count ? LAUNCHES_NONE : ".");
    }
}

static void judge_count(struct rail_call *call, const struct expression *requirement)
{
    if (requirement->valid && requirement->op == SOLVER_IN &&
        requirement->min_values > requirement->value_count)
        report(call, SEVERITY_RAIL, field_get(call->arena, requirement->field, "minValues"),
               TEXT("List more values, or lower minValues."),
               "The requirement wants %u different values and lists %zu" NEVER_USED,
               requirement->min_values, requirement->value_count);
}

void pool_shape_judge_values(struct rail_call *call, const struct pool *pool)
{
    const struct requirement_owner *owner = &requirements_of_pool;
    FOR_EACH(requirement, &pool->requirements) {
        requirement_judge(call, requirement, owner);
        judge_count(call, requirement);
        requirement_judge_closed(call, requirement, owner->refused, LAUNCHES_NONE);
        judge_zones(call, pool, requirement);
    }
    FOR_EACH(label, &pool->labels) {
        if (!label->valid)
            continue;
        requirement_judge_key(call, label->field, label->key, "label", owner);
        requirement_judge_restricted(call, label->field, label->key, owner);
        requirement_judge_value(call, &label->values[0], owner);
        requirement_judge_closed(call, label, LAUNCHES_NONE, LAUNCHES_NONE);
        judge_zones(call, pool, label);
    }
}
