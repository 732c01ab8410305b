/* NodePools that may launch any machine, and NodePools that can launch none. */
#include "catalog/catalog.h"
#include "catalog/label.h"
#include "kube/placeholder.h"
#include "kube/pool.h"
#include "kube/zone.h"
#include "policy/launchable.h"
#include "policy/rails/capacity_spot.h"
#include "policy/rails/pool_shape.h"
#include "policy/rails/requirement_fault.h"
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
    FOR_TYPES(i, launchable) {
        const struct instance_type *type = catalog_type(catalog, i);
        accelerated += instance_type_is_accelerated(type);
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
    struct text architecture = pool_shape_architecture_to_add(call, pool, launchable);
    bool names_capacity = pool_shape_tells_of_capacity(call) && capacity_is_unasked(pool);
    report_as(call, pool->requirements.count == 0 ? SEVERITY_RAIL : SEVERITY_WARN,
              .field = pool->requirements_field,
              .statement = open_text(call->world->catalog, launchable, arena),
              .fault = TEXT("The pool may launch any machine."),
              .extent = (int64_t)type_set_count(launchable),
              .fix =
                  own_catalog
                      ? TEXT("Add a requirement on the machines it is for.")
                      : arena_printf(arena,
                                     "Add to %.*s: [{key: %s/instance-category, operator: In, "
                                     "values: [c, m, r]}%s%.*s%s].",
                                     TEXT_ARGS(field_path(arena, pool->requirements_field)), domain,
                                     architecture.size > 0 ? ", " : "", TEXT_ARGS(architecture),
                                     names_capacity ? ", {key: " LABEL_CAPACITY_TYPE
                                                      ", operator: In, values: [on-demand]}"
                                                    : ""));
}

/* ---- a pool that can launch nothing ---- */

struct text pool_shape_key_of_value(const struct catalog *catalog, struct text value)
{
    static const char *const tried[] = {LABEL_INSTANCE_TYPE, "karpenter.k8s.aws/instance-family",
                                        "karpenter.k8s.aws/instance-category",
                                        "karpenter.k8s.aws/instance-size"};
    for (size_t i = 0; i < COUNT_OF(tried); i++)
        if (catalog_has_value(catalog, text_of(tried[i]), value))
            return text_of(tried[i]);
    return TEXT("");
}

/* More values of a requirement are not looked up: each is compared with all there are. */
enum { MEANT_MAX = 50 };

/* Values of one requirement that no type has. */
struct unknown_values {
    const struct expression_value *first;
    struct text_list names, meant; /* meant: of those of which it is known */
    struct text home;              /* the key that all of them belong to; empty: there is none */
    bool may_exist;                /* some of them, outside of the catalogue */
};

static void add_unknown(struct unknown_values *unknown, const struct catalog *catalog,
                        struct text key, const struct expression_value *value, struct arena *arena)
{
    bool is_known = catalog_knows_value(catalog, value->text);
    if ((is_known && catalog_has_value(catalog, key, value->text)) ||
        text_has_placeholder(value->text))
        return;
    struct text home = is_known ? pool_shape_key_of_value(catalog, value->text) : TEXT("");
    struct text meant = TEXT("");
    if (unknown->names.count < MEANT_MAX)
        meant = label_value_meant(catalog, key, value->text, arena);
    if (unknown->names.count == 0) {
        unknown->first = value;
        unknown->home = home;
    }
    if (!text_equal(home, unknown->home))
        unknown->home = TEXT("");
    unknown->may_exist |= home.size == 0 && catalog_is_builtin(catalog);
    *LIST_PUSH(arena, &unknown->names) = value->text;
    if (meant.size > 0 && !texts_have(unknown->meant.items, unknown->meant.count, meant))
        *LIST_PUSH(arena, &unknown->meant) = meant;
}

/* Of values that do no harm: what is meant may stand beside them. */
static struct text fix_of_harmless(const struct unknown_values *unknown,
                                   const struct expression *expression, struct arena *arena)
{
    struct text_list meant = {0};
    const char *them = unknown->names.count == 1 ? "it" : "them";
    for (size_t i = 0; i < unknown->meant.count; i++)
        if (!expression_names(expression, unknown->meant.items[i]))
            *LIST_PUSH(arena, &meant) = unknown->meant.items[i];
    if (meant.count == 0)
        return arena_printf(arena, "Remove %s.", them);
    return arena_printf(arena, "Remove %s, or write %.*s.", them,
                        TEXT_ARGS(texts_join(meant.items, meant.count, SIZE_MAX, arena)));
}

static struct text fix_of_unknown(const struct unknown_values *unknown, struct arena *arena)
{
    bool one = unknown->names.count == 1;
    if (unknown->home.size > 0)
        return arena_printf(arena, "Use the key %.*s for %s.", TEXT_ARGS(unknown->home),
                            one ? "this value" : "these values");
    if (unknown->meant.count > 0)
        return arena_printf(
            arena, "Write %.*s.",
            TEXT_ARGS(texts_join(unknown->meant.items, unknown->meant.count, SIZE_MAX, arena)));
    return one ? TEXT("Check the name.") : TEXT("Check the names.");
}

/* One value is named where it stands, several at their list. Returns whether there were any.
 * is_all: they leave the pool without a type. Otherwise they do no harm, and one that is not known
 * to be meant otherwise may be newer than the catalogue. */
static bool judge_unknown(struct rail_call *call, const struct expression *expression, bool is_all)
{
    enum { NAMED = 5 };
    struct arena *arena = call->arena;
    struct unknown_values unknown = {0};
    struct text key = expression_canonical_key(expression);
    for (size_t i = 0; i < expression->value_count; i++)
        add_unknown(&unknown, call->world->catalog, key, &expression->values[i], arena);
    size_t count = unknown.names.count;
    if (count == 0 || (!is_all && unknown.home.size == 0 && unknown.meant.count == 0))
        return false;
    struct text quoted = arena_printf(arena, "\"%.*s\"", TEXT_ARGS(unknown.names.items[0]));
    struct text names = texts_join(unknown.names.items, count, NAMED, arena);
    report_as(
        call, unknown.may_exist || !is_all ? SEVERITY_WARN : SEVERITY_RAIL,
        .field = count == 1 ? expression_value_field(unknown.first, arena) : unknown.first->within,
        .found = names, .values = unknown.names,
        .statement = arena_printf(
            arena, "No %sinstance type has %.*s as %.*s%s", unknown.may_exist ? "known " : "",
            TEXT_ARGS(count == 1 ? quoted : names), TEXT_ARGS(expression->key),
            is_all ? LAUNCHES_NONE : ", so nothing comes of it."),
        .fix = is_all || unknown.home.size > 0 ? fix_of_unknown(&unknown, arena)
                                               : fix_of_harmless(&unknown, expression, arena));
    return true;
}

static bool judge_unknown_values(struct rail_call *call, const struct pool *pool, bool is_all)
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
        if (requirement_is_closed(expression)) {
            some = some || requirement_knows_none(call->world->catalog, expression);
            continue;
        }
        some = judge_unknown(call, expression, is_all) || some;
    }
    return some;
}

static bool leave_none(const struct catalog *catalog, const struct expression *first,
                       const struct expression *second, struct arena *arena)
{
    struct expressions a = {.items = (struct expression *)first, .count = 1};
    struct expressions b = {.items = (struct expression *)second, .count = 1};
    struct type_set left = expressions_select_possible(catalog, &a, &b, arena);
    return type_set_is_empty(&left);
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
    if (!first->valid || !leave_none(call->world->catalog, first, second, arena))
        return false;
    struct text other =
        alone ? TEXT("")
              : arena_printf(arena, " beside %.*s", TEXT_ARGS(pool_shape_text(first, arena)));
    struct text found = pool_shape_text(second, arena);
    report_with(call, .field = second->field, .found = found,
                .statement = arena_printf(arena, "No instance type fits %.*s%.*s" LAUNCHES_NONE,
                                          TEXT_ARGS(found), TEXT_ARGS(other)),
                .fault = TEXT("No instance type fits."),
                .fix = alone ? TEXT("Change it.") : TEXT("Change one of the two."));
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

/* Types whose hardware the catalogue does not know may fit, as a family that it does not know. */
static bool report_possible(struct rail_call *call, const struct pool *pool)
{
    const struct catalog *catalog = call->world->catalog;
    struct arena *arena = call->arena;
    struct type_set possible =
        expressions_select_possible(catalog, &pool->requirements, &pool->labels, arena);
    if (type_set_is_empty(&possible))
        return false;
    struct text types = type_set_text(catalog, &possible, arena);
    report_as(call, SEVERITY_WARN, .field = pool->requirements_field, .found = types,
              .values = type_set_names(catalog, &possible, arena),
              .statement = arena_printf(
                  arena,
                  "No instance type is known to fit these requirements together. The catalogue "
                  "does not know the hardware of those that may: %.*s.",
                  TEXT_ARGS(types)),
              .fix = TEXT("Check that one of them fits."));
    return true;
}

static void report_none(struct rail_call *call, const struct pool *pool)
{
    if (judge_unknown_values(call, pool, true) || pool_shape_judge_no_devices(call, pool) ||
        report_possible(call, pool) || report_pair(call, pool))
        return;
    report(call, SEVERITY_RAIL, pool->requirements_field, TEXT("Remove one of the requirements."),
           "No instance type fits these requirements together" LAUNCHES_NONE);
}

/* ---- labels that every node has, whatever its type ---- */

/* Whether some value of their key fits both; they may be the same, and first need not be valid. */
static bool leave_a_value(struct rail_call *call, const struct expression *first,
                          const struct expression *second)
{
    struct solver_names *names =
        solver_names_create(call->arena, catalog_names(call->world->catalog));
    struct solver_requirements set = {0};
    expression_add(first, names, &set, call->arena);
    expression_add(second, names, &set, call->arena);
    return solver_requirement_op(&set.items[0]) != SOLVER_DOES_NOT_EXIST;
}

/* all: of the pool; the last rules out what those before it leave of the label. */
static void report_no_value(struct rail_call *call, const struct expressions *all,
                            const struct expression *last)
{
    struct arena *arena = call->arena;
    struct text key = expression_canonical_key(last);
    struct text found = pool_shape_text(last, arena);
    struct text other = TEXT(" beside the other requirements of this key");
    bool alone = !leave_a_value(call, last, last);
    for (const struct expression *first = all->items; !alone && first < last; first++)
        if (text_equal(expression_canonical_key(first), key) && !leave_a_value(call, first, last)) {
            other = arena_printf(arena, " beside %.*s", TEXT_ARGS(pool_shape_text(first, arena)));
            break;
        }
    report_with(call, .field = last->field, .found = found,
                .statement = arena_printf(arena, "No node fits %.*s%.*s" LAUNCHES_NONE,
                                          TEXT_ARGS(found), TEXT_ARGS(alone ? TEXT("") : other)),
                .fault = TEXT("No node fits."),
                .fix = alone ? TEXT("Change it.") : TEXT("Change one of them."));
}

/* docs/reference/karpenter.md 1.3: labels are requirements, and a key without a value that is left
 * is one that may not exist, which these do. */
static void judge_labels_of_nodes(struct rail_call *call, const struct pool *pool)
{
    static const char *const keys[] = {LABEL_ZONE, LABEL_CAPACITY_TYPE};
    struct arena *arena = call->arena;
    const struct expressions all = expressions_join(&pool->requirements, &pool->labels, arena);
    struct solver_names *names = solver_names_create(arena, catalog_names(call->world->catalog));
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        struct solver_requirements set = {0};
        FOR_EACH(expression, &all) {
            if (!expression->valid || !text_is(expression_canonical_key(expression), keys[i]))
                continue;
            expression_add(expression, names, &set, arena);
            if (solver_requirement_op(&set.items[0]) != SOLVER_DOES_NOT_EXIST)
                continue;
            report_no_value(call, &all, expression);
            break;
        }
    }
}

/* A value that is still to be filled in says which machines, too. */
bool pool_shape_is_open(const struct catalog *catalog, const struct pool *pool, struct arena *arena)
{
    const struct expressions understood = pool_shape_understood(pool, arena);
    return !narrows(catalog, &understood) && !narrows(catalog, &pool->labels);
}

static struct expressions filled_in(const struct expressions *expressions, struct arena *arena)
{
    struct expressions filled = {0};
    FOR_EACH(expression, expressions) {
        bool has_placeholder = false;
        for (size_t i = 0; i < expression->value_count; i++)
            has_placeholder |= text_has_placeholder(expression->values[i].text);
        if (!has_placeholder)
            *LIST_PUSH(arena, &filled) = *expression;
    }
    return filled;
}

void pool_shape_judge_types(struct rail_call *call, const struct pool *pool)
{
    const struct catalog *catalog = call->world->catalog;
    struct arena *arena = call->arena;
    struct pool understood = *pool;
    if (!pool_is_covered_by(catalog, &understood))
        return;
    struct expressions all = pool_shape_understood(pool, arena);
    understood.requirements = filled_in(&all, arena);
    understood.labels = filled_in(&pool->labels, arena);
    bool is_filled =
        understood.requirements.count == all.count && understood.labels.count == pool->labels.count;
    struct type_set launchable =
        is_filled && all.count == pool->requirements.count
            ? pool_launchable(call, pool)->types
            : expressions_select(catalog, &understood.requirements, &understood.labels, arena);
    bool told = pool_shape_judge_units(call, &understood);
    pool_shape_judge_excluded(call, &understood);
    if (type_set_is_empty(&launchable)) {
        if (!told)
            report_none(call, &understood);
        return;
    }
    (void)judge_unknown_values(call, &understood, false);
    judge_labels_of_nodes(call, &understood);
    pool_shape_judge_min_values(call, &understood, &launchable);
    if (pool_shape_is_open(catalog, pool, arena))
        report_open(call, &understood, &launchable);
    else if (is_filled)
        pool_shape_judge_choice(call, pool, &launchable);
}
