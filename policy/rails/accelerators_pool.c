/* What accelerators says of NodePools. */
#include "catalog/catalog.h"
#include "kube/pool.h"
#include "policy/rails/accelerators.h"
#include "policy/rails/instance_list.h"
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
                .allowed = ALLOWED_LIST(&settings->taints), .nearest_to = meant, .meant = meant);
}

static void report_soft_taint(struct rail_call *call, const struct taint *taint)
{
    static const struct text hard_effects[] = {{"NoSchedule", 10}, {"NoExecute", 9}};
    report_with(
        call, .field = field_get(call->arena, taint->field, "effect"), .found = taint->effect,
        .statement = TEXT("found \"PreferNoSchedule\", which keeps no pod off these "
                          "accelerator nodes"),
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
    report_found(call, SEVERITY_RAIL, count->field, found,
                 arena_printf(arena,
                              "to keep accelerators out, write {key: %.*s, operator: "
                              "DoesNotExist}; if shares of them are meant, taint the pool",
                              TEXT_ARGS(count->key)),
                 "found %.*s, which leaves only types with a share of a GPU: "
                 "those without one do not have the label",
                 TEXT_ARGS(found));
    return true;
}

static void report_no_taint(struct rail_call *call, const struct accelerators *settings,
                            const struct pool *pool, const struct pool_purpose *purpose)
{
    struct arena *arena = call->arena;
    struct text key = taint_to_add(settings, purpose->devices);
    struct draft draft = {
        .field = pool->taints_field,
        .statement = TEXT("no NoSchedule or NoExecute taint: any pod may take a place on these "
                          "accelerator nodes"),
        .fix = TEXT("add a taint with the effect NoSchedule"),
    };
    if (some_taint_is_hard(&pool->startup_taints))
        draft.statement = TEXT("no NoSchedule or NoExecute taint (startupTaints are removed once "
                               "a node is up): any pod may take a place on these accelerator "
                               "nodes");
    if (key.size > 0)
        draft.fix = arena_printf(
            arena, "add to %.*s: [{key: %.*s, value: \"true\", effect: NoSchedule}]%s",
            TEXT_ARGS(field_path(arena, pool->taints_field)), TEXT_ARGS(key),
            has_generic_types(purpose) ? "; or give the accelerators a NodePool of their own" : "");
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

/* spec.limits has names, no patterns. */
static void add_to_limit(struct text_builder *names, struct text resource)
{
    text_builder_list(names, accelerators_name_of(resource, names->arena));
}

/* What to limit: for each kind of device the resource that names it; else the first of all. */
static struct text resources_to_limit(const struct accelerators *settings, device_set devices,
                                      struct arena *arena)
{
    const struct key_strings *resources = &settings->resources;
    struct text_builder names = {.arena = arena};
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
            add_to_limit(&names, name);
            devices &= ~DEVICE_BIT(device);
        }
    if (names.size == 0)
        add_to_limit(&names, first);
    return text_builder_text(&names);
}

static void judge_limits(struct rail_call *call, const struct accelerators *settings,
                         const struct pool *pool, device_set devices)
{
    struct arena *arena = call->arena;
    struct bounds bounds = read_bounds(settings, pool);
    if (limits_will_do(settings, pool, &bounds, devices))
        return;
    if (!bounds.any) {
        struct text names = resources_to_limit(settings, devices, arena);
        report(call, SEVERITY_RAIL, pool->limits_field,
               arena_printf(arena, "set %.*s, by cpu, memory or %.*s",
                            TEXT_ARGS(field_path(arena, pool->limits_field)), TEXT_ARGS(names)),
               "no limit: nothing bounds how many accelerator "
               "nodes it buys");
        return;
    }
    struct text names = resources_to_limit(settings, devices & ~bounds.devices, arena);
    report(call, SEVERITY_RAIL, pool->limits_field,
           arena_printf(arena, "add %.*s to %.*s", TEXT_ARGS(names),
                        TEXT_ARGS(field_path(arena, pool->limits_field))),
           "no limit on %.*s", TEXT_ARGS(names));
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
    if (type_set_count(&left) == 0)
        return text_builder_text(&exclusion.yaml);
    struct text_builder names = {.arena = arena};
    for (size_t i = 0; i < catalog_count(settings->catalog); i++)
        if (type_set_has(&left, i))
            text_builder_list(&names, catalog_type(settings->catalog, i)->name);
    text_builder_list(&exclusion.yaml,
                      arena_printf(arena, "{key: %s, operator: NotIn, values: [%.*s]}",
                                   dimension_keys[DIMENSION_TYPE],
                                   TEXT_ARGS(text_builder_text(&names))));
    return text_builder_text(&exclusion.yaml);
}

static void report_mixture(struct rail_call *call, const struct accelerators *settings,
                           const struct pool *pool, const struct pool_purpose *purpose)
{
    struct arena *arena = call->arena;
    struct text carriers = type_set_text(settings->catalog, &purpose->carried, arena);
    const struct type_set *types = &purpose->launchable->types;
    report_found(
        call, SEVERITY_WARN, pool->requirements_field, carriers,
        arena_printf(
            arena,
            "add to %.*s: [%.*s]; or name the accelerators it is for, then taint and limit it",
            TEXT_ARGS(field_path(arena, pool->requirements_field)),
            TEXT_ARGS(requirements_to_add(settings, pool, types, arena))),
        "%zu of the %zu instance types it can launch carr%s accelerators: %.*s",
        purpose->carried_count, purpose->launchable->count,
        purpose->carried_count == 1 ? "ies" : "y", TEXT_ARGS(carriers));
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
           TEXT("give this cloud's instance types with --catalog FILE"),
           "the catalogue describes EC2 instance types, and this "
           "pool's nodes are %.*s: whether they carry accelerators "
           "is not known",
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
        judge_limits(call, settings, pool, purpose.devices);
        break;
    case FOR_BOTH:
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
