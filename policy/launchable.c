/* The instance types that a NodePool can launch, remembered for the evaluation. */
#include "policy/launchable.h"

#include "policy/evaluation.h"

static struct launchable find(const struct rail_call *call, const struct pool *pool)
{
    const struct catalog *catalog = call->world->catalog;
    struct launchable launchable = {.covered = pool_is_covered_by(catalog, pool)};
    if (!launchable.covered)
        return launchable;
    launchable.types = expressions_select(catalog, &pool->requirements, &pool->labels, call->arena);
    launchable.count = type_set_count(&launchable.types);
    return launchable;
}

const struct launchable *pool_launchable(const struct rail_call *call, const struct pool *pool)
{
    struct evaluation *evaluation = call->evaluation;
    for (size_t i = 0; i < evaluation->launchables.count; i++)
        if (evaluation->launchables.items[i].pool == pool->object)
            return evaluation->launchables.items[i].launchable;
    struct launchable *launchable = ARENA_NEW(call->arena, struct launchable);
    *launchable = find(call, pool);
    struct launchable_of *known = LIST_PUSH(call->arena, &evaluation->launchables);
    *known = (struct launchable_of){pool->object, launchable};
    return launchable;
}

struct expressions requirement_of(const char *key, enum solver_op op, const struct text *values,
                                  size_t value_count, struct arena *arena)
{
    struct expression *expression = ARENA_NEW(arena, struct expression);
    *expression = (struct expression){
        .key = text_of(key),
        .op = op,
        .valid = true,
        .values = ARENA_ARRAY(arena, value_count, struct expression_value),
        .value_count = value_count,
    };
    for (size_t i = 0; i < value_count; i++)
        expression->values[i].text = values[i];
    return (struct expressions){.items = expression, .count = 1};
}

struct type_set requirement_select(const struct catalog *catalog, const char *key,
                                   enum solver_op op, const struct text *values, size_t value_count,
                                   struct arena *arena)
{
    const struct expressions one = requirement_of(key, op, values, value_count, arena);
    return expressions_select(catalog, &one, NULL, arena);
}
