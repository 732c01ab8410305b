/* Requirements on numbers that mean something else than they say: in another unit, or of devices
 * where the types without any have no such label. */
#include "catalog/catalog.h"
#include "kube/pool.h"
#include "policy/rails/pool_shape.h"

/* ---- units ---- */

static const struct unit {
    const char *key, *name, *larger;
    long long factor;
} units[] = {
    {"karpenter.k8s.aws/instance-memory", "MiB", "GiB", 1024},
    {"karpenter.k8s.aws/instance-gpu-memory", "MiB", "GiB", 1024},
    {"karpenter.k8s.aws/instance-network-bandwidth", "Mbit/s", "Gbit/s", 1000},
    {"karpenter.k8s.aws/instance-ebs-bandwidth", "Mbit/s", "Gbit/s", 1000},
};

/* The least that a type has; 0 when none has the label. */
static int64_t least_of(const struct catalog *catalog, struct text key)
{
    const struct solver_names *names = catalog_names(catalog);
    uint32_t number = solver_names_find_key(names, key.data, key.size);
    int64_t least = 0;
    for (uint32_t i = 0; number != SOLVER_NONE && i < solver_names_value_count(names, number);
         i++) {
        struct text known;
        int64_t value;
        known.data = solver_names_value_text(names, number, i, &known.size);
        if (text_to_int64(known, &value) && value > 0 && (least == 0 || value < least))
            least = value;
    }
    return least;
}

/* Whether it was one. */
static bool judge_unit(struct rail_call *call, const struct unit *unit,
                       const struct expression_value *value, int64_t least, bool leaves_none)
{
    struct arena *arena = call->arena;
    int64_t number;
    if (!text_to_int64(value->text, &number) || number <= 0 || number >= least)
        return false;
    report(call, leaves_none ? SEVERITY_RAIL : SEVERITY_WARN,
           expression_value_field(value, call->arena),
           arena_printf(arena, "Write %lld, if %lld %s is meant.", number * unit->factor,
                        (long long)number, unit->larger),
           "\"%lld\" is %lld %s, and every type has more%s", (long long)number, (long long)number,
           unit->name, leaves_none ? LAUNCHES_NONE : ".");
    return true;
}

static const struct unit *unit_of(struct text key)
{
    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (text_is(key, units[i].key))
            return &units[i];
    return NULL;
}

static bool judge_units(struct rail_call *call, const struct expression *expression)
{
    const struct catalog *catalog = call->world->catalog;
    struct text key = expression_canonical_key(expression);
    const struct unit *unit = unit_of(key);
    if (unit == NULL)
        return false;
    const struct expressions one = {.items = (struct expression *)expression, .count = 1};
    struct type_set left = expressions_select(catalog, &one, NULL, call->arena);
    bool leaves_none = type_set_is_empty(&left);
    int64_t least = least_of(catalog, key);
    bool some = false;
    for (size_t i = 0; i < expression->value_count; i++)
        some = judge_unit(call, unit, &expression->values[i], least, leaves_none) || some;
    return some && leaves_none;
}

bool pool_shape_judge_units(struct rail_call *call, const struct pool *pool)
{
    const struct expressions all =
        expressions_join(&pool->requirements, &pool->labels, call->arena);
    bool some = false;
    FOR_EACH(expression, &all)
        if (expression->valid)
            some = judge_units(call, expression) || some;
    return some;
}

/* ---- devices ---- */

bool pool_shape_judge_no_devices(struct rail_call *call, const struct pool *pool)
{
    const struct catalog *catalog = call->world->catalog;
    struct arena *arena = call->arena;
    for (size_t i = 0; i < pool->requirements.count; i++) {
        const struct expression *written = &pool->requirements.items[i];
        if (!expression_wants_no_devices(written))
            continue;
        struct expressions meant = {0};
        for (size_t j = 0; j < pool->requirements.count; j++)
            *LIST_PUSH(arena, &meant) = pool->requirements.items[j];
        meant.items[i].op = SOLVER_DOES_NOT_EXIST;
        meant.items[i].value_count = 0;
        struct type_set left = expressions_select(catalog, &meant, &pool->labels, arena);
        if (type_set_is_empty(&left))
            continue;
        report_found(
            call, SEVERITY_RAIL, written->field, pool_shape_text(written, arena),
            arena_printf(arena, "To keep them out, write {key: %.*s, operator: DoesNotExist}.",
                         TEXT_ARGS(written->key)),
            "The requirement %.*s fits no type: those without such devices do not have the "
            "label" LAUNCHES_NONE,
            TEXT_ARGS(pool_shape_text(written, arena)));
        return true;
    }
    return false;
}
