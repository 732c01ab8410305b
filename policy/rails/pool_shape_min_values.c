/* minValues that the types a pool may launch do not have: with Karpenter's own settings it then
 * launches nothing. */
#include "catalog/catalog.h"
#include "kube/pool.h"
#include "kube/zone.h"
#include "policy/rails/pool_shape.h"
#include "solver/well_known.h"

/* How many different values the types have under a key, each type one; false when that is not said
 * of all of them. */
static bool count_values(const struct catalog *catalog, const struct type_set *types,
                         struct text key, struct arena *arena, size_t *count)
{
    const struct solver_names *names = catalog_names(catalog);
    uint32_t number = solver_names_find_key(names, key.data, key.size);
    *count = 0;
    if (number == SOLVER_NONE)
        return !solver_is_well_known(key.data, key.size);
    for (uint32_t i = 0; i < solver_names_value_count(names, number); i++) {
        struct expression_value value = {0};
        value.text.data = solver_names_value_text(names, number, i, &value.text.size);
        struct expression expression = {
            .key = key, .op = SOLVER_IN, .valid = true, .values = &value, .value_count = 1};
        struct expressions one = {.items = &expression, .count = 1};
        struct type_set with = expressions_select(catalog, &one, NULL, arena);
        *count += type_set_intersects(&with, types);
    }
    return true;
}

/* What a cluster's zones, prices and reservations make of it is not in the catalogue. */
static bool is_of_offerings(struct text key)
{
    return zone_key_of(key) != ZONE_KEY_NONE || text_is(key, LABEL_CAPACITY_TYPE) ||
           text_is(key, LABEL_REGION);
}

static void judge_min_values(struct rail_call *call, const struct expression *expression,
                             const struct type_set *launchable)
{
    const struct catalog *catalog = call->world->catalog;
    struct arena *arena = call->arena;
    size_t count;
    struct text key = expression_canonical_key(expression);
    /* Fewer listed than wanted is spoken of already. */
    if (!expression->valid || expression->min_values == 0 || is_of_offerings(key) ||
        (expression->op == SOLVER_IN && expression->min_values > expression->value_count) ||
        !count_values(catalog, launchable, key, arena, &count) || count >= expression->min_values)
        return;
    /* A catalogue ages: types to come may have what is missing, unless most of it is. */
    bool may_come = catalog_is_builtin(catalog) && count > 0 && count * 2 >= expression->min_values;
    enum severity severity = may_come ? SEVERITY_WARN : SEVERITY_RAIL;
    const struct field *field = field_get(arena, expression->field, "minValues");
    struct text found = arena_printf(arena, "%u", expression->min_values);
    if (count == 0)
        report_found(call, severity, field, found,
                     TEXT("Remove minValues, which counts labels of instance types alone."),
                     "minValues wants %u different values of %.*s, a label that no instance type "
                     "has. Karpenter launches no node.",
                     expression->min_values, TEXT_ARGS(expression->key));
    else
        report_as(
            call, severity, .field = field, .found = found,
            .statement = arena_printf(
                arena,
                "minValues wants %u different values of %.*s, and the types that the requirements "
                "leave have %zu. Karpenter launches no node.",
                expression->min_values, TEXT_ARGS(expression->key), count),
            .fault = arena_printf(arena, "There are fewer values of %.*s than minValues.",
                                  TEXT_ARGS(expression->key)),
            .fix =
                arena_printf(arena, "Lower minValues to at most %zu, or leave more types.", count));
}

void pool_shape_judge_min_values(struct rail_call *call, const struct pool *pool,
                                 const struct type_set *launchable)
{
    if (policy_set_karpenter(call->world->policies)->best_effort_min_values)
        return;
    for (size_t i = 0; i < pool->requirements.count; i++)
        judge_min_values(call, &pool->requirements.items[i], launchable);
}
