/* What accelerators says of NodePools. */
#include "catalog/catalog.h"
#include "kube/pool.h"
#include "policy/policy_set.h"
#include "policy/rails/accelerators.h"
#include "policy/rails/instance_list.h"
#include "policy/rails/pool_limits.h"
#include "policy/rails/pool_shape.h"
#include "policy/reading.h"

/* ---- taints ---- */

/* The taint that fits what the pool's types carry; empty when no taint key is known. */
static struct text taint_to_add(const struct accelerators *settings, device_set devices)
{
    for (size_t i = 0; i < settings->taints.count; i++) {
        enum device device = device_of_resource(settings->taints.items[i]);
        if ((devices & DEVICE_BIT(device)) != 0)
            return settings->taints.items[i];
    }
    return settings->taints.count > 0 ? settings->taints.items[0] : TEXT("");
}

static bool has_generic_types(const struct pool_purpose *purpose)
{
    return purpose->carried_count < purpose->launchable->count;
}

static bool some_taint_is_hard(const struct taints *taints)
{
    for (size_t i = 0; i < taints->count; i++)
        if (taint_is_hard(&taints->items[i]))
            return true;
    return false;
}

static void report_misspelt_taint(struct rail_call *call, const struct accelerators *settings,
                                  const struct taint *taint, struct text meant)
{
    struct arena *arena = call->arena;
    report_with(call, .field = field_get(arena, taint->field, "key"), .found = taint->key,
                .statement = arena_printf(arena,
                                          "Pods that tolerate %.*s do not tolerate the taint "
                                          "\"%.*s\", so they would stay off these nodes.",
                                          TEXT_ARGS(meant), TEXT_ARGS(taint->key)),
                .allowed = ALLOWED_LIST(&settings->taints), .nearest_to = meant, .meant = meant);
}

static void report_soft_taint(struct rail_call *call, const struct taint *taint)
{
    static const struct text hard_effects[] = {{"NoSchedule", 10}, {"NoExecute", 9}};
    report_with(
        call, .field = field_get(call->arena, taint->field, "effect"), .found = taint->effect,
        .statement = TEXT("PreferNoSchedule keeps no pod off these accelerator nodes."),
        .allowed = ALLOWED_TEXTS(hard_effects, COUNT_OF(hard_effects)), .meant = hard_effects[0]);
}

/* Somebody wanted to keep accelerators out, and kept out all but those with a share of one. */
static bool report_count_of_none(struct rail_call *call, const struct pool *pool)
{
    struct arena *arena = call->arena;
    const struct expression *count = NULL;
    for (size_t i = 0; i < pool->requirements.count && count == NULL; i++)
        if (expression_wants_no_devices(&pool->requirements.items[i]))
            count = &pool->requirements.items[i];
    if (count == NULL)
        return false;
    struct text found = arena_printf(arena, "%.*s %s %.*s", TEXT_ARGS(count->key),
                                     solver_op_name(count->op), TEXT_ARGS(count->values[0].text));
    report_found(
        call, SEVERITY_RAIL, count->field, found,
        arena_printf(arena,
                     "To keep accelerators out, write {key: %.*s, operator: "
                     "DoesNotExist}; to have shares of them, taint the pool.",
                     TEXT_ARGS(count->key)),
        "The requirement %.*s leaves only types with a share of a GPU. Types without a GPU do not "
        "have this label.",
        TEXT_ARGS(found));
    return true;
}

/* The startup taint that the one to add would be a second of, which Karpenter refuses. */
static bool starts_with_taint(const struct pool *pool, struct text key)
{
    FOR_EACH(taint, &pool->startup_taints)
        if (text_equal(taint->key, key) && text_is(taint->effect, "NoSchedule"))
            return true;
    return false;
}

static void report_no_taint(struct rail_call *call, const struct accelerators *settings,
                            const struct pool *pool, const struct pool_purpose *purpose)
{
    struct arena *arena = call->arena;
    struct text key = taint_to_add(settings, purpose->devices);
    struct draft draft = {
        .field = pool->taints_field,
        .statement = TEXT("Any pod may take a place on these accelerator nodes, since no "
                          "NoSchedule or NoExecute taint keeps it off."),
        .fix = TEXT("Add a taint with the effect NoSchedule."),
    };
    if (some_taint_is_hard(&pool->startup_taints))
        draft.statement = TEXT("Any pod may take a place on these accelerator nodes, since "
                               "startupTaints are removed once a node is up and no other "
                               "NoSchedule or NoExecute taint keeps it off.");
    if (key.size > 0 && starts_with_taint(pool, key))
        draft.fix = arena_printf(arena, "Move the taint %.*s from startupTaints to taints.",
                                 TEXT_ARGS(key));
    else if (key.size > 0)
        draft.fix = arena_printf(
            arena, "Add to %.*s: [{key: %.*s, value: \"true\", effect: NoSchedule}]%s.",
            TEXT_ARGS(field_path(arena, pool->taints_field)), TEXT_ARGS(key),
            has_generic_types(purpose) ? ", or give the accelerators a NodePool of their own" : "");
    report_draft(call, &draft);
}

static void judge_taints(struct rail_call *call, const struct accelerators *settings,
                         const struct pool *pool, const struct pool_purpose *purpose)
{
    const struct taint *soft = NULL;
    FOR_EACH(taint, &pool->taints) {
        struct text meant = accelerators_taint_meant(settings, taint->key);
        if (meant.size > 0)
            report_misspelt_taint(call, settings, taint, meant);
        if (soft == NULL && text_is(taint->effect, "PreferNoSchedule"))
            soft = taint;
    }
    if (some_taint_is_hard(&pool->taints))
        return;
    if (soft != NULL)
        report_soft_taint(call, soft);
    else if (!report_count_of_none(call, pool))
        report_no_taint(call, settings, pool, purpose);
}

/* ---- limits ---- */

/* What spec.limits bounds: anything, any accelerator, and which devices. */
struct bounds {
    bool any, accelerator;
    device_set devices;
};

static struct bounds read_bounds(const struct accelerators *settings, const struct pool *pool)
{
    struct bounds bounds = {0};
    const struct node *limits = pool->limits_field->node;
    for (size_t i = 0; node_is(limits, NODE_MAP) && i < node_count(limits); i++) {
        struct text name = member_key(&limits->members[i]);
        if (node_is(&limits->members[i].value, NODE_NULL))
            continue;
        bounds.any = true;
        if (!accelerators_is_resource(settings, name))
            continue;
        bounds.accelerator = true;
        bounds.devices |= DEVICE_BIT(device_of_resource(name));
    }
    return bounds;
}

/* Of a pool whose devices are not known any accelerator's limit will do. */
static bool limits_will_do(const struct accelerators *settings, const struct pool *pool,
                           const struct bounds *bounds, device_set devices)
{
    if (settings->require_limits == LIMITS_OFF || pool_is_static(pool))
        return true;
    if (settings->require_limits == LIMITS_ANY)
        return bounds->any;
    return devices == 0 ? bounds->accelerator : (devices & ~bounds->devices) == 0;
}

/* What to limit: for each kind of device the resource that names it; else the first of all.
 * spec.limits has names, no patterns. */
static struct text_list resources_to_limit(const struct accelerators *settings, device_set devices,
                                           struct arena *arena)
{
    const struct key_strings *resources = &settings->resources;
    struct text_list names = {0};
    struct text first = TEXT("");
    for (int patterns = 0; patterns <= 1; patterns++)
        for (size_t i = 0; i < resources->count; i++) {
            struct text name = resources->items[i];
            if (text_is_glob(name) != (patterns == 1))
                continue;
            if (first.size == 0)
                first = name;
            enum device device = device_of_resource(name);
            if ((devices & DEVICE_BIT(device)) == 0)
                continue;
            *LIST_PUSH(arena, &names) = accelerators_name_of(name, arena);
            devices &= ~DEVICE_BIT(device);
        }
    if (names.count == 0)
        *LIST_PUSH(arena, &names) = accelerators_name_of(first, arena);
    return names;
}

/* What Karpenter calls the maker, where types differ by it: of GPUs. */
static const char *manufacturer_of(device_set devices)
{
    /* AMD's alone are never what is left: NVIDIA's are not kept out. */
    return devices == DEVICE_BIT(DEVICE_NVIDIA) ? "nvidia" : NULL;
}

/* "g4ad.16xlarge, g4ad.2xlarge, ... (5)": those of the pool that carry one of the devices. */
static struct text carriers_text(const struct accelerators *settings,
                                 const struct pool_purpose *purpose, device_set devices,
                                 struct arena *arena)
{
    struct type_set some = type_set_create(settings->catalog, arena);
    FOR_TYPES(i, &purpose->carried)
        if ((catalog_type(settings->catalog, i)->devices & devices) != 0)
            type_set_add(&some, i);
    return type_set_text(settings->catalog, &some, arena);
}

/* Somebody who limits one maker's GPUs may not know that the pool buys another's: then a limit, or
 * no such types, will do. */
static struct text fix_of_unlimited(const struct accelerators *settings, const struct pool *pool,
                                    const struct pool_purpose *purpose, device_set missing,
                                    struct text names, struct arena *arena)
{
    struct text path = field_path(arena, pool->limits_field);
    const device_set gpus = DEVICE_BIT(DEVICE_NVIDIA) | DEVICE_BIT(DEVICE_AMD);
    const device_set other = missing & ~DEVICE_BIT(DEVICE_NVIDIA);
    const char *kept = manufacturer_of(purpose->devices & ~other);
    if (other == 0 || (purpose->devices & ~gpus) != 0 || kept == NULL || has_generic_types(purpose))
        return arena_printf(arena, "Add %.*s to %.*s.", TEXT_ARGS(names), TEXT_ARGS(path));
    return arena_printf(arena,
                        "Add %.*s to %.*s, or keep out %.*s with the requirement "
                        "{key: %s/instance-gpu-manufacturer, operator: In, values: [%s]}.",
                        TEXT_ARGS(names), TEXT_ARGS(path),
                        TEXT_ARGS(carriers_text(settings, purpose, other, arena)),
                        pool_is_of_auto_mode(pool) ? "eks.amazonaws.com" : "karpenter.k8s.aws",
                        kept);
}

/* Those on which pool-limits asks for a limit under the same policy. */
static device_set told_by_pool_limits(const struct rail_call *call,
                                      const struct accelerators *settings, const struct pool *pool)
{
    const struct key_strings *resources = &settings->resources;
    const struct rail_use *use = rail_beside(call, &rail_pool_limits);
    device_set told = 0;
    for (size_t i = 0; use != NULL && i < resources->count; i++)
        if (pool_limits_asks_for(call, use->settings, pool, resources->items[i]))
            told |= DEVICE_BIT(device_of_resource(resources->items[i]));
    return told;
}

static void judge_limits(struct rail_call *call, const struct accelerators *settings,
                         const struct pool *pool, const struct pool_purpose *purpose)
{
    struct arena *arena = call->arena;
    device_set devices = purpose->devices;
    struct bounds bounds = read_bounds(settings, pool);
    if (limits_will_do(settings, pool, &bounds, devices))
        return;
    if (bounds.any)
        bounds.devices |= told_by_pool_limits(call, settings, pool);
    if (devices != 0 && (devices & ~bounds.devices) == 0)
        return;
    device_set missing = devices & ~bounds.devices;
    struct text_list unlimited = resources_to_limit(settings, missing, arena);
    struct text names = texts_join(unlimited.items, unlimited.count, unlimited.count, arena);
    struct text fix = bounds.any
                          ? fix_of_unlimited(settings, pool, purpose, missing, names, arena)
                          : arena_printf(arena, "Set a limit on %.*s in %.*s.", TEXT_ARGS(names),
                                         TEXT_ARGS(field_path(arena, pool->limits_field)));
    struct text statement =
        bounds.any
            ? arena_printf(arena, "Nothing limits how much %.*s this pool buys.", TEXT_ARGS(names))
            : TEXT("Nothing limits how many accelerator nodes this pool buys.");
    /* To limit something, such as the cpu, is better than nothing. */
    if (!bounds.any)
        *LIST_PUSH(arena, &unlimited) = TEXT("nodes");
    report_with(call, .field = pool->limits_field, .statement = statement, .fix = fix,
                .values = unlimited);
}

/* ---- generic and accelerator types in one pool ---- */

struct exclusion {
    const struct accelerators *settings;
    struct arena *arena;
    struct type_set launchable; /* what is left of it */
    struct text_builder yaml;
};

static struct type_set carriers_left(const struct exclusion *exclusion)
{
    return type_set_and(&exclusion->launchable, &exclusion->settings->carriers, exclusion->arena);
}

static void exclude_by_key(struct exclusion *exclusion, const char *key)
{
    struct type_set selected = requirement_select(exclusion->settings->catalog, key,
                                                  SOLVER_DOES_NOT_EXIST, NULL, 0, exclusion->arena);
    struct type_set left = type_set_and(&exclusion->launchable, &selected, exclusion->arena);
    if (type_set_count(&left) == type_set_count(&exclusion->launchable))
        return;
    exclusion->launchable = left;
    text_builder_list(&exclusion->yaml,
                      arena_printf(exclusion->arena, "{key: %s, operator: DoesNotExist}", key));
}

/* Requirements that leave the generic types; what the keys do not reach is named. */
static struct text requirements_to_add(const struct accelerators *settings, const struct pool *pool,
                                       const struct type_set *launchable, struct arena *arena)
{
    bool auto_mode = pool_is_of_auto_mode(pool);
    struct exclusion exclusion = {
        .settings = settings, .arena = arena, .launchable = *launchable, .yaml = {.arena = arena}};
    exclude_by_key(&exclusion, auto_mode ? "eks.amazonaws.com/instance-gpu-count"
                                         : "karpenter.k8s.aws/instance-gpu-count");
    exclude_by_key(&exclusion, auto_mode ? "eks.amazonaws.com/instance-accelerator-count"
                                         : "karpenter.k8s.aws/instance-accelerator-count");
    struct type_set left = carriers_left(&exclusion);
    if (type_set_is_empty(&left))
        return text_builder_text(&exclusion.yaml);
    struct text_builder names = {.arena = arena};
    FOR_TYPES(i, &left)
        text_builder_list(&names, catalog_type(settings->catalog, i)->name);
    text_builder_list(&exclusion.yaml,
                      arena_printf(arena, "{key: %s, operator: NotIn, values: [%.*s]}",
                                   dimension_keys[DIMENSION_TYPE],
                                   TEXT_ARGS(text_builder_text(&names))));
    return text_builder_text(&exclusion.yaml);
}

/* pool-shape says of a pool without any requirement on its machines how many carry accelerators. */
static bool pool_shape_tells(const struct rail_call *call, const struct pool *pool)
{
    return rail_beside(call, &rail_pool_shape) != NULL &&
           pool_shape_is_open(call->world->catalog, pool, call->arena);
}

static void report_mixture(struct rail_call *call, const struct accelerators *settings,
                           const struct pool *pool, const struct pool_purpose *purpose)
{
    struct arena *arena = call->arena;
    struct text carriers = type_set_text(settings->catalog, &purpose->carried, arena);
    const struct type_set *types = &purpose->launchable->types;
    report_as(
        call, SEVERITY_WARN, .field = pool->requirements_field, .found = carriers,
        .values = type_set_names(settings->catalog, &purpose->carried, arena),
        .statement = arena_printf(
            arena, "%zu of the %zu instance types this pool can launch carr%s accelerators: %.*s.",
            purpose->carried_count, purpose->launchable->count,
            purpose->carried_count == 1 ? "ies" : "y", TEXT_ARGS(carriers)),
        .fix = arena_printf(
            arena,
            "Add to %.*s: [%.*s], or name the accelerators it is for, then taint and limit it.",
            TEXT_ARGS(field_path(arena, pool->requirements_field)),
            TEXT_ARGS(requirements_to_add(settings, pool, types, arena))));
}

/* ---- the whole ---- */

/* Whether it has the taint and the limit that a pool of accelerators needs. */
static bool is_guarded(const struct accelerators *settings, const struct pool *pool)
{
    struct bounds bounds = read_bounds(settings, pool);
    return some_taint_is_hard(&pool->taints) && limits_will_do(settings, pool, &bounds, 0);
}

static void report_unknown(struct rail_call *call, const struct pool *pool)
{
    report(call, SEVERITY_UNDECIDED, pool->requirements_field,
           TEXT("Give this cloud's instance types with --catalog FILE."),
           "Whether these nodes carry accelerators is not known: they are of %.*s, and the "
           "catalogue has EC2 instance types.",
           TEXT_ARGS(pool->node_class_group));
}

void accelerators_judge_pool(struct rail_call *call, const struct accelerators *settings)
{
    const struct pool *pool = call_pool(call);
    if (pool == NULL)
        return;
    struct pool_purpose purpose = accelerators_find_purpose(call, pool);
    switch (purpose.purpose) {
    case FOR_ACCELERATORS:
        judge_taints(call, settings, pool, &purpose);
        judge_limits(call, settings, pool, &purpose);
        break;
    case FOR_BOTH:
        if (!pool_shape_tells(call, pool))
            report_mixture(call, settings, pool, &purpose);
        break;
    case PURPOSE_UNKNOWN:
        if (!is_guarded(settings, pool))
            report_unknown(call, pool);
        break;
    case FOR_ANYTHING:
        break;
    }
}
