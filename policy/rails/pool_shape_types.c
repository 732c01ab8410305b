/* NodePools that may launch any machine, and NodePools that can launch none. */
#include "catalog/catalog.h"
#include "catalog/label.h"
#include "kube/pool.h"
#include "kube/zone.h"
#include "policy/launchable.h"
#include "policy/rails/pool_shape.h"
#include "solver/well_known.h"

/* ---- a pool that may launch anything ---- */

/* Whether it says something of the machines, beyond what every machine has a choice of. */
static bool narrows(const struct catalog *catalog, const struct expressions *expressions)
{
    FOR_EACH(expression, expressions) {
        struct text key = expression_canonical_key(expression);
        bool of_all = zone_key_of(key) != ZONE_KEY_NONE ||
                      TEXT_IS_ONE_OF(key, LABEL_ARCH, LABEL_OS, LABEL_CAPACITY_TYPE, LABEL_REGION);
        if (expression->valid && !of_all && catalog_has_key(catalog, key))
            return true;
    }
    return false;
}

static struct text open_text(const struct catalog *catalog, const struct type_set *launchable,
                             struct arena *arena)
{
    size_t accelerated = 0;
    size_t metal = 0;
    for (size_t i = 0; i < catalog_count(catalog); i++) {
        const struct instance_type *type = catalog_type(catalog, i);
        if (!type_set_has(launchable, i))
            continue;
        accelerated += type->has_gpu || type->has_accelerator;
        metal += text_starts_with(type->size, TEXT("metal"));
    }
    return arena_printf(arena,
                        "No requirement says which machines the pool is for. It may launch any of "
                        "%zu instance types, %zu with accelerators and %zu of bare metal among "
                        "them.",
                        type_set_count(launchable), accelerated, metal);
}

static void report_open(struct rail_call *call, const struct pool *pool,
                        const struct type_set *launchable)
{
    struct arena *arena = call->arena;
    const char *domain = pool_is_of_auto_mode(pool) ? "eks.amazonaws.com" : "karpenter.k8s.aws";
    bool own_catalog = !catalog_is_builtin(call->world->catalog);
    report_as(call, pool->requirements.count == 0 ? SEVERITY_RAIL : SEVERITY_WARN,
              .field = pool->requirements_field,
              .statement = open_text(call->world->catalog, launchable, arena),
              .fix = own_catalog
                         ? TEXT("Add a requirement on the machines it is for.")
                         : arena_printf(arena,
                                        "Add {key: %s/instance-category, operator: In, "
                                        "values: [c, m, r]} to %.*s.",
                                        domain,
                                        TEXT_ARGS(field_path(arena, pool->requirements_field))));
}

/* ---- a pool that can launch nothing ---- */

/* The key under which types have the value; empty when none does. */
static struct text key_of_value(const struct catalog *catalog, struct text value)
{
    static const char *const tried[] = {LABEL_INSTANCE_TYPE, "karpenter.k8s.aws/instance-family",
                                        "karpenter.k8s.aws/instance-category",
                                        "karpenter.k8s.aws/instance-size"};
    for (size_t i = 0; i < COUNT_OF(tried); i++)
        if (catalog_has_value(catalog, text_of(tried[i]), value))
            return text_of(tried[i]);
    return TEXT("");
}

/* A value that no type has. Returns whether it was one. */
static bool judge_unknown(struct rail_call *call, const struct expression *expression,
                          const struct expression_value *value)
{
    const struct catalog *catalog = call->world->catalog;
    struct arena *arena = call->arena;
    struct text key = expression_canonical_key(expression);
    bool is_known = catalog_knows_value(catalog, value->text);
    if (is_known && catalog_has_value(catalog, key, value->text))
        return false;
    struct text home = is_known ? key_of_value(catalog, value->text) : TEXT("");
    bool may_exist = home.size == 0 && catalog_is_builtin(catalog);
    enum severity severity = may_exist ? SEVERITY_WARN : SEVERITY_RAIL;
    if (report_counts(call, severity))
        return true;
    struct text near = label_value_meant(catalog, key, value->text, arena);
    struct draft draft = {
        .severity = severity,
        .field = expression_value_field(value, call->arena),
        .found = value->text,
        .statement = arena_printf(arena, "No %sinstance type has \"%.*s\" as %.*s" LAUNCHES_NONE,
                                  may_exist ? "known " : "", TEXT_ARGS(value->text),
                                  TEXT_ARGS(expression->key)),
        .fix = TEXT("Check the name."),
    };
    if (home.size > 0)
        draft.fix = arena_printf(arena, "Use the key %.*s for this value.", TEXT_ARGS(home));
    else if (near.size > 0)
        draft.fix = arena_printf(arena, "Write %.*s.", TEXT_ARGS(near));
    report_say(call, &draft);
    return true;
}

static bool judge_unknown_values(struct rail_call *call, const struct pool *pool)
{
    const struct expressions all =
        expressions_join(&pool->requirements, &pool->labels, call->arena);
    bool some = false;
    FOR_EACH(expression, &all) {
        if (!expression->valid || expression->op != SOLVER_IN ||
            zone_key_of(expression->key) != ZONE_KEY_NONE ||
            text_is(expression->key, LABEL_CAPACITY_TYPE) ||
            !catalog_has_key(call->world->catalog, expression_canonical_key(expression)))
            continue;
        if (pool_shape_is_closed(expression)) {
            some = some || pool_shape_knows_none(call->world->catalog, expression);
            continue;
        }
        for (size_t i = 0; i < expression->value_count; i++)
            some = judge_unknown(call, expression, &expression->values[i]) || some;
    }
    return some;
}

bool pool_shape_leave_none(const struct catalog *catalog, const struct expression *first,
                           const struct expression *second, struct arena *arena)
{
    struct expressions a = {.items = (struct expression *)first, .count = 1};
    struct expressions b = {.items = (struct expression *)second, .count = 1};
    struct type_set left = expressions_select(catalog, &a, &b, arena);
    return type_set_count(&left) == 0;
}

struct text pool_shape_text(const struct expression *expression, struct arena *arena)
{
    enum { SHOWN = 3 };
    struct text_builder builder = {.arena = arena};
    text_builder_printf(&builder, "%.*s %s", TEXT_ARGS(expression->key),
                        solver_op_name(expression->op));
    for (size_t i = 0; i < expression->value_count && i < SHOWN; i++)
        text_builder_printf(&builder, "%s%.*s", i == 0 ? " " : ", ",
                            TEXT_ARGS(expression->values[i].text));
    if (expression->value_count > SHOWN)
        text_builder_printf(&builder, " and %zu more", expression->value_count - SHOWN);
    return text_builder_text(&builder);
}

/* Whether no type fits both. One that is not valid rules out nothing. */
static bool report_if_none(struct rail_call *call, const struct expression *first,
                           const struct expression *second)
{
    struct arena *arena = call->arena;
    bool alone = first == second;
    if (!first->valid || !pool_shape_leave_none(call->world->catalog, first, second, arena))
        return false;
    struct text other =
        alone ? TEXT("")
              : arena_printf(arena, " beside %.*s", TEXT_ARGS(pool_shape_text(first, arena)));
    struct text found = pool_shape_text(second, arena);
    report_found(call, SEVERITY_RAIL, second->field, found,
                 alone ? TEXT("Change it.") : TEXT("Change one of the two."),
                 "No instance type fits %.*s%.*s" LAUNCHES_NONE, TEXT_ARGS(found),
                 TEXT_ARGS(other));
    return true;
}

/* A requirement that rules out all, or else two that rule each other out; false when it takes more
 * of them. */
static bool report_pair(struct rail_call *call, const struct pool *pool)
{

    struct expressions all = expressions_join(&pool->requirements, &pool->labels, call->arena);
    FOR_EACH(expression, &all)
        if (report_if_none(call, expression, expression))
            return true;
    for (size_t i = 0; i < all.count; i++)
        for (size_t j = i + 1; j < all.count; j++)
            if (report_if_none(call, &all.items[i], &all.items[j]))
                return true;
    return false;
}

static void report_none(struct rail_call *call, const struct pool *pool)
{
    if (judge_unknown_values(call, pool) || pool_shape_judge_no_devices(call, pool) ||
        report_pair(call, pool))
        return;
    report(call, SEVERITY_RAIL, pool->requirements_field, TEXT("Remove one of the requirements."),
           "No instance type fits these requirements together" LAUNCHES_NONE);
}

static bool is_open(const struct catalog *catalog, const struct pool *understood)
{
    return !narrows(catalog, &understood->requirements) && !narrows(catalog, &understood->labels);
}

bool pool_shape_is_open(const struct catalog *catalog, const struct pool *pool, struct arena *arena)
{
    struct pool understood = *pool;
    understood.requirements = pool_shape_understood(pool, arena);
    return is_open(catalog, &understood);
}

void pool_shape_judge_types(struct rail_call *call, const struct pool *pool)
{
    const struct catalog *catalog = call->world->catalog;
    struct pool understood = *pool;
    if (!pool_is_covered_by(catalog, &understood))
        return;
    understood.requirements = pool_shape_understood(pool, call->arena);
    struct type_set launchable =
        understood.requirements.count == pool->requirements.count
            ? pool_launchable(call, pool)->types
            : expressions_select(catalog, &understood.requirements, &pool->labels, call->arena);
    bool told = pool_shape_judge_units(call, &understood);
    if (type_set_count(&launchable) == 0) {
        if (!told)
            report_none(call, &understood);
        return;
    }
    pool_shape_judge_min_values(call, &understood, &launchable);
    if (is_open(catalog, &understood))
        report_open(call, &understood, &launchable);
}
