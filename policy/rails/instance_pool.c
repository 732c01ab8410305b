/* What instance-types says of NodePools. */
#include "catalog/catalog.h"
#include "kube/placeholder.h"
#include "kube/pool.h"
#include "policy/launchable.h"
#include "policy/policy_set.h"
#include "policy/rails/instance_list.h"
#include "policy/reading.h"
#include "solver/well_known.h"

/* Whether pool-shape, of the same policy, tells of names that no type has, and of requirements that
 * no type fits. */
static bool pool_shape_tells(const struct rail_call *call)
{
    const struct policy *policy = call->policy;
    for (size_t i = 0; i < policy->rail_count; i++)
        if (policy->rails[i].rail == &rail_pool_shape)
            return policy->rails[i].mode != MODE_OFF;
    return false;
}

static void judge_unknown_value(struct rail_call *call, const struct instance_list *list,
                                enum dimension dimension, const struct expression *expression,
                                const struct expression_value *value)
{
    bool is_machine = dimension == DIMENSION_TYPE || dimension == DIMENSION_FAMILY;
    bool others_tell = pool_shape_tells(call);
    if ((others_tell && !is_machine) || text_has_placeholder(value->text) ||
        text_is_capitals(value->text))
        return;
    enum value_state state = instance_list_value(list, dimension, value->text, call->arena);
    if (others_tell && state == VALUE_UNKNOWN)
        return;
    if (state == VALUE_UNKNOWN) {
        instance_report_unknown(call, list, dimension, value);
        return;
    }
    struct values_outside outside = {.first = value, .others_stay = expression->value_count > 1};
    *LIST_PUSH(call->arena, &outside.names) = value->text;
    instance_report_outside(call, list, dimension, &outside);
}

/* Values of In requirements that the catalogue does not know are judged by name. Returns how many
 * there are. */
static size_t judge_unknown_values(struct rail_call *call, const struct instance_list *list,
                                   const struct pool *pool)
{
    size_t unknown = 0;
    FOR_EACH(expression, &pool->requirements) {
        enum dimension dimension = dimension_of(expression->key);
        if (!expression->valid || expression->op != SOLVER_IN || dimension == DIMENSION_COUNT)
            continue;
        for (size_t j = 0; j < expression->value_count; j++) {
            const struct expression_value *value = &expression->values[j];
            if (instance_list_knows(list, dimension, value->text))
                continue;
            unknown++;
            judge_unknown_value(call, list, dimension, expression, value);
        }
    }
    return unknown;
}

enum { NAMED_MAX = 5 }; /* types that are left out by name, where fewer words would do */

/* One requirement that would narrow a NodePool to the list, and its YAML. */
struct addition {
    const char *key;
    enum solver_op op;
    const struct text *values;
    size_t value_count;
};

struct narrowing {
    const struct instance_list *list;
    const struct pool *pool;
    struct arena *arena;
    struct type_set launchable; /* what is left of it */
    struct text_builder yaml;
    size_t count;
};

/* As the pool's provider spells it: EKS Auto Mode takes none of the AWS provider's own keys. */
static const char *spelt_key(const struct pool *pool, const char *key, struct arena *arena)
{
    static const struct text provider = TEXT("karpenter.k8s.aws");
    if (!pool_is_of_auto_mode(pool) || !text_starts_with(text_of(key), provider))
        return key;
    return arena_printf(arena, "eks.amazonaws.com%s", key + provider.size).data;
}

static void try_addition(struct narrowing *narrowing, const struct addition *addition)
{
    struct arena *arena = narrowing->arena;
    if (addition->value_count == 0)
        return;
    struct expressions one =
        requirement_of(addition->key, addition->op, addition->values, addition->value_count, arena);
    struct type_set selected = expressions_select_sure(narrowing->list->catalog, &one, NULL, arena);
    struct type_set left = type_set_and(&narrowing->launchable, &selected, arena);
    if (type_set_count(&left) == type_set_count(&narrowing->launchable) ||
        !type_set_intersects(&left, &narrowing->list->allowed))
        return;
    narrowing->launchable = left;
    const char *key = spelt_key(narrowing->pool, addition->key, arena);
    text_builder_printf(&narrowing->yaml, "%s{key: %s, operator: %s, values: [",
                        narrowing->count++ == 0 ? "" : ", ", key, solver_op_name(addition->op));
    bool quoted = addition->op == SOLVER_GT || addition->op == SOLVER_LT;
    for (size_t i = 0; i < addition->value_count; i++)
        text_builder_printf(&narrowing->yaml, "%s%s%.*s%s", i == 0 ? "" : ", ", quoted ? "\"" : "",
                            TEXT_ARGS(addition->values[i]), quoted ? "\"" : "");
    text_builder_add(&narrowing->yaml, TEXT("]}"));
}

static void add_strings(struct narrowing *narrowing, enum dimension dimension,
                        const struct key_strings *strings)
{
    try_addition(narrowing, &(struct addition){dimension_keys[dimension], SOLVER_IN, strings->items,
                                               strings->count});
}

static void add_bound(struct narrowing *narrowing, const char *key, enum solver_op op,
                      int64_t bound)
{
    struct text value = arena_printf(narrowing->arena, "%lld", (long long)bound);
    try_addition(narrowing, &(struct addition){key, op, &value, 1});
}

/* Leaves out the values of a dimension of whose types none is allowed: "g" and "p" say in two words
 * what a hundred names of types would. */
static void exclude_values(struct narrowing *narrowing, enum dimension dimension)
{
    const struct instance_list *list = narrowing->list;
    struct arena *arena = narrowing->arena;
    struct text_map inside = {0}, told = {0};
    struct text_list values = {0};
    for (int pass = 0; pass < 2; pass++)
        FOR_TYPES(i, &narrowing->launchable) {
            struct text value = dimension_value(dimension, catalog_type(list->catalog, i), arena);
            if (pass == 0 && type_set_has(&list->allowed, i))
                text_map_add(&inside, arena, value);
            if (pass == 1 && value.size > 0 && !text_map_has(&inside, value) &&
                text_map_add(&told, arena, value))
                *LIST_PUSH(arena, &values) = value;
        }
    texts_sort(values.items, values.count);
    try_addition(narrowing, &(struct addition){dimension_keys[dimension], SOLVER_NOT_IN,
                                               values.items, values.count});
}

/* Requirements that say what the list says, as far as they narrow the pool and leave it an allowed
 * type. A denied pair of keys or a GPU ceiling cannot be said by one requirement each: there what
 * is left is named. */
static struct text requirements_to_add(const struct instance_list *list, const struct pool *pool,
                                       const struct type_set *launchable, struct arena *arena)
{
    struct narrowing narrowing = {.list = list,
                                  .pool = pool,
                                  .arena = arena,
                                  .launchable = *launchable,
                                  .yaml = {.arena = arena}};
    const struct type_filter *allow = &list->allow;
    add_strings(&narrowing, DIMENSION_CATEGORY, &allow->categories);
    add_strings(&narrowing, DIMENSION_FAMILY, &allow->families);
    add_strings(&narrowing, DIMENSION_SIZE, &allow->sizes);
    add_strings(&narrowing, DIMENSION_ARCHITECTURE, &allow->architectures);
    if (allow->min_generation > 0)
        add_bound(&narrowing, dimension_keys[DIMENSION_GENERATION], SOLVER_GT,
                  allow->min_generation - 1);
    if (list->max_cpu_given)
        add_bound(&narrowing, "karpenter.k8s.aws/instance-cpu", SOLVER_LT,
                  list->max_cpu_milli / 1000 + 1);
    if (list->max_memory_given)
        add_bound(&narrowing, "karpenter.k8s.aws/instance-memory", SOLVER_LT,
                  list->max_memory_milli / 1000 / 1024 / 1024 + 1);

    static const enum dimension by_size[] = {DIMENSION_CATEGORY, DIMENSION_FAMILY};
    struct type_set outside = type_set_minus(&narrowing.launchable, &list->allowed, arena);
    for (size_t i = 0; i < COUNT_OF(by_size) && type_set_count(&outside) > NAMED_MAX; i++) {
        exclude_values(&narrowing, by_size[i]);
        outside = type_set_minus(&narrowing.launchable, &list->allowed, arena);
    }
    if (type_set_is_empty(&outside))
        return text_builder_text(&narrowing.yaml);
    struct type_set inside = type_set_and(&narrowing.launchable, &list->allowed, arena);
    bool name_inside = type_set_count(&inside) <= type_set_count(&outside);
    const struct type_set *named = name_inside ? &inside : &outside;
    struct text_list names = type_set_names(list->catalog, named, arena);
    try_addition(&narrowing, &(struct addition){dimension_keys[DIMENSION_TYPE],
                                                name_inside ? SOLVER_IN : SOLVER_NOT_IN,
                                                names.items, names.count});
    return text_builder_text(&narrowing.yaml);
}

/* Whether no type of the list has the accelerators of those that the pool launches. */
static bool needs_other_devices(const struct instance_list *list, const struct type_set *launchable)
{
    device_set asked = 0;
    bool asks = false, has = false;
    FOR_TYPES(i, launchable) {
        const struct instance_type *type = catalog_type(list->catalog, i);
        if (!instance_type_is_accelerated(type))
            return false;
        asked |= type->devices;
        asks = true;
    }
    FOR_TYPES(i, &list->allowed)
        has |= instance_type_is_accelerated(catalog_type(list->catalog, i));
    return asks && (!has || (asked != 0 && (asked & list->devices) == 0));
}

/* What the pool could launch with other values of one requirement. */
static struct type_set launchable_with(const struct instance_list *list, const struct pool *pool,
                                       size_t replaced, const struct text_list *values,
                                       struct arena *arena)
{
    struct expression own = pool->requirements.items[replaced];
    own.values = ARENA_ARRAY(arena, values->count, struct expression_value);
    own.value_count = values->count;
    for (size_t i = 0; i < values->count; i++)
        own.values[i].text = values->items[i];
    struct expressions all = {0};
    for (size_t i = 0; i < pool->requirements.count; i++)
        *LIST_PUSH(arena, &all) = i == replaced ? own : pool->requirements.items[i];
    return expressions_select(list->catalog, &all, &pool->labels, arena);
}

/* The nearest allowed values in place of a requirement's own, and what is to be added beside them;
 * empty where they would not do. */
static struct text replacement(const struct rail_call *call, const struct instance_list *list,
                               const struct pool *pool, size_t requirement)
{
    enum { SHOWN = 5 };
    struct arena *arena = call->arena;
    const struct expression *expression = &pool->requirements.items[requirement];
    enum dimension dimension = dimension_of(expression->key);
    struct text_list nearest = {0};
    if (!expression->valid || expression->op != SOLVER_IN || dimension == DIMENSION_COUNT)
        return TEXT("");
    for (size_t i = 0; i < expression->value_count && nearest.count < SHOWN; i++) {
        struct text value = instance_nearest(call, list, dimension, expression->values[i].text);
        if (value.size > 0 && !texts_have(nearest.items, nearest.count, value))
            *LIST_PUSH(arena, &nearest) = value;
    }
    if (nearest.count == 0)
        return TEXT("");
    struct type_set left = launchable_with(list, pool, requirement, &nearest, arena);
    if (!type_set_intersects(&left, &list->allowed))
        return TEXT("");
    struct text to_add = requirements_to_add(list, pool, &left, arena);
    struct text beside = to_add.size == 0
                             ? TEXT("")
                             : arena_printf(arena, ", and add to %.*s: [%.*s]",
                                            TEXT_ARGS(field_path(arena, pool->requirements_field)),
                                            TEXT_ARGS(to_add));
    return arena_printf(
        arena, "Replace the values of %.*s, which no allowed type has, with [%.*s]%.*s.",
        TEXT_ARGS(expression->key),
        TEXT_ARGS(texts_join(nearest.items, nearest.count, SIZE_MAX, arena)), TEXT_ARGS(beside));
}

/* Where no type of the list fits: which requirements alone keep them out. */
static struct text way_out(const struct rail_call *call, const struct instance_list *list,
                           const struct pool *pool, const struct type_set *launchable)
{
    struct arena *arena = call->arena;
    struct text ask = instance_ask_for_exception(call);
    struct text_list keys = {0};
    struct text instead = {0};
    if (needs_other_devices(list, launchable))
        return arena_printf(arena,
                            "%.*s, or for a policy of its own for this pool, because no allowed "
                            "type has such accelerators.",
                            TEXT_ARGS(ask));
    for (size_t i = 0; i < pool->requirements.count; i++) {
        struct expressions one = {.items = &pool->requirements.items[i], .count = 1};
        struct type_set reached = expressions_select(list->catalog, &one, NULL, arena);
        if (type_set_intersects(&reached, &list->allowed))
            continue;
        instead = replacement(call, list, pool, i);
        *LIST_PUSH(arena, &keys) = one.items[0].key;
    }
    if (keys.count == 0)
        return TEXT("Change the requirements, which no allowed type meets together.");
    if (keys.count == 1 && instead.size > 0)
        return instead;
    return arena_printf(arena, "Change the requirement%s on %.*s, which no allowed type meets.",
                        keys.count == 1 ? "" : "s",
                        TEXT_ARGS(texts_join(keys.items, keys.count, SIZE_MAX, arena)));
}

/* The list, and of it first what the pool can launch. */
static struct allowed allowed_types(const struct instance_list *list,
                                    const struct type_set *launchable, struct arena *arena)
{
    struct text_list names = {0};
    for (int first = 1; first >= 0; first--)
        FOR_TYPES(i, &list->allowed)
            if (type_set_has(launchable, i) == (first == 1))
                *LIST_PUSH(arena, &names) = catalog_type(list->catalog, i)->name;
    return ALLOWED_LIST(&names);
}

/* may_fit: also those of which it is not known whether the pool can launch them. */
static void report_pool_outside(struct rail_call *call, const struct instance_list *list,
                                const struct pool *pool, const struct launchable *launchable,
                                const struct type_set *outside, const struct type_set *may_fit)
{
    struct arena *arena = call->arena;
    size_t outside_count = type_set_count(outside);
    bool all = outside_count == launchable->count;
    struct draft draft = {
        .field = pool->requirements_field,
        .found = type_set_text(list->catalog, outside, arena),
        .values = type_set_names(list->catalog, outside, arena),
    };
    if (launchable->count == 1)
        draft.statement =
            arena_printf(arena,
                         "The one instance type that the pool can launch is not allowed: "
                         "%.*s.",
                         TEXT_ARGS(draft.found));
    else
        draft.statement = arena_printf(
            arena, "%s%zu%s instance types that the pool can launch %s not allowed: %.*s.",
            all ? "All " : "", outside_count,
            all ? "" : arena_printf(arena, " of the %zu", launchable->count).data,
            outside_count == 1 ? "is" : "are", TEXT_ARGS(draft.found));
    draft.allowed = allowed_types(list, &launchable->types, arena);

    if (type_set_intersects(&launchable->types, &list->allowed)) {
        struct type_set to_narrow = type_set_minus(may_fit, &list->possible, arena);
        type_set_add_all(&to_narrow, &launchable->types);
        draft.fix = arena_printf(arena, "Add to %.*s: [%.*s].",
                                 TEXT_ARGS(field_path(arena, pool->requirements_field)),
                                 TEXT_ARGS(requirements_to_add(list, pool, &to_narrow, arena)));
    } else {
        draft.fix = way_out(call, list, pool, &launchable->types);
    }
    report_draft(call, &draft);
}

/* Types outside the list that may be launched beside one of it: their hardware is not known. */
static void report_possible(struct rail_call *call, const struct instance_list *list,
                            const struct pool *pool, const struct type_set *possible)
{
    struct arena *arena = call->arena;
    struct type_set outside = type_set_minus(possible, &list->possible, arena);
    if (type_set_is_empty(&outside))
        return;
    struct text names = type_set_text(list->catalog, &outside, arena);
    bool one = type_set_count(&outside) == 1;
    report_as(call, SEVERITY_WARN, .field = pool->requirements_field, .found = names,
              .values = type_set_names(list->catalog, &outside, arena),
              .allowed = allowed_types(list, possible, arena),
              .statement = arena_printf(
                  arena,
                  "The catalogue does not know the hardware of %.*s, so the pool may launch %s. %s "
                  "not allowed.",
                  TEXT_ARGS(names), one ? "it" : "them", one ? "It is" : "They are"),
              .fix = arena_printf(arena, "Add to %.*s: [%.*s].",
                                  TEXT_ARGS(field_path(arena, pool->requirements_field)),
                                  TEXT_ARGS(requirements_to_add(list, pool, possible, arena))));
}

void instance_judge_pool(struct rail_call *call, const struct instance_list *list)
{
    struct arena *arena = call->arena;
    const struct pool *pool = call_pool(call);
    if (pool == NULL || pool_is_built_in(pool))
        return;
    const struct launchable *launchable = pool_launchable(call, pool);
    if (!launchable->covered) {
        report(call, SEVERITY_UNDECIDED, pool->requirements_field,
               TEXT("Give this cloud's instance types with --catalog FILE."),
               "The catalogue has EC2 instance types alone, and the nodes of this pool are of "
               "%.*s.",
               TEXT_ARGS(pool->node_class_group.size > 0 ? pool->node_class_group
                                                         : pool->node_class_kind));
        return;
    }
    size_t unknown = judge_unknown_values(call, list, pool);
    struct type_set may_fit =
        expressions_select_possible(list->catalog, &pool->requirements, &pool->labels, arena);
    bool some_allowed = type_set_intersects(&may_fit, &list->allowed);
    struct launchable reached = {
        .types = expressions_select_sure(list->catalog, &pool->requirements, &pool->labels, arena)};
    /* Which of them the pool can launch is not known: only that none is in the list. */
    if (type_set_is_empty(&reached.types) && unknown == 0 && !some_allowed)
        reached.types = type_set_intersects(&may_fit, &list->possible)
                            ? type_set_and(&may_fit, &list->possible, arena)
                            : may_fit;
    struct type_set outside = type_set_minus(&reached.types, &list->possible, arena);
    struct type_set unsure = type_set_minus(&reached.types, &list->allowed, arena);
    if (some_allowed && !type_set_intersects(&reached.types, &list->allowed))
        reached.types = may_fit;
    reached.count = type_set_count(&reached.types);
    if (!type_set_is_empty(&outside)) {
        report_pool_outside(call, list, pool, &reached, &outside, &may_fit);
        return;
    }
    if (some_allowed)
        report_possible(call, list, pool, &may_fit);
    if (!type_set_is_empty(&unsure))
        instance_report_unsure(call, list, SEVERITY_WARN, pool->requirements_field, &unsure);
    else if (reached.count == 0 && unknown == 0 && !pool_shape_tells(call))
        report(call, SEVERITY_RAIL, pool->requirements_field,
               TEXT("Remove one of the requirements."),
               "No instance type fits these requirements, so the pool can launch none.");
}
