/* The rail node-overlay: overlays that Karpenter can use, each for machines of its own. */
#include "catalog/catalog.h"
#include "kube/placeholder.h"
#include "kube/pool.h"
#include "kube/quantity.h"
#include "kube/snapshot.h"
#include "policy/launchable.h"
#include "policy/rails/crd_shape.h"
#include "policy/rails/instance_list.h"
#include "policy/rails/requirement_fault.h"
#include "policy/reading.h"
#include "solver/well_known.h"

static const struct key keys[] = {{0}};

/* An overlay, and what it selects: machines by what Karpenter's types say of themselves, and pools
 * by their name and the labels that people give them (docs/reference/karpenter.md 11). */
struct overlay {
    const struct object *object;
    const struct field *spec;
    struct expressions all, of_types, of_pools;
    int64_t weight;
    bool prices;                 /* it changes the price of machines */
    const struct node *capacity; /* NULL: it adds none */
};

static struct overlay overlay_read(const struct rail_call *call, const struct object *object)
{
    struct arena *arena = call->arena;
    const struct field *spec = field_get(arena, object->root, "spec");
    struct overlay overlay = {.object = object, .spec = spec};
    const struct node *capacity = node_get(spec->node, "capacity");
    expressions_add_list(&overlay.all, field_get(arena, spec, "requirements"), arena);
    FOR_EACH(expression, &overlay.all) {
        struct text key = expression_canonical_key(expression);
        bool is_known =
            !text_is(key, LABEL_NODE_POOL) && (solver_is_well_known(key.data, key.size) ||
                                               catalog_has_key(call->world->catalog, key));
        *LIST_PUSH(arena, is_known ? &overlay.of_types : &overlay.of_pools) = *expression;
    }
    (void)node_integer(node_get(spec->node, "weight"), &overlay.weight);
    overlay.prices = node_is_given(node_get(spec->node, "price")) ||
                     node_is_given(node_get(spec->node, "priceAdjustment"));
    overlay.capacity = node_count(capacity) > 0 && node_is(capacity, NODE_MAP) ? capacity : NULL;
    return overlay;
}

/* ---- what it selects ---- */

/* Whether name and labels of the pool are such. A label that it does not give its nodes is none. */
static bool selects_pool(const struct rail_call *call, const struct overlay *overlay,
                         const struct pool *pool)
{
    struct arena *arena = call->arena;
    struct solver_names *names = solver_names_create(arena, catalog_names(call->world->catalog));
    struct solver_requirements has = {0}, wants = {0};
    expression_add_label(TEXT(LABEL_NODE_POOL), pool->object->name, names, &has, arena);
    expressions_add(&pool->labels, names, &has, arena);
    expressions_add(&overlay->of_pools, names, &wants, arena);
    return solver_requirements_compatible(names, &has, &wants, NULL, NULL);
}

/* The types of the pool (NULL: of any) that all of these overlays touch. */
static struct type_set selected_types(const struct rail_call *call, const struct overlay *overlay,
                                      const struct overlay *other, const struct pool *pool)
{
    struct arena *arena = call->arena;
    struct expressions all = overlay->of_types;
    if (other != NULL)
        all = expressions_join(&all, &other->of_types, arena);
    return expressions_select(call->world->catalog, &all, pool == NULL ? NULL : &pool->labels,
                              arena);
}

/* Whether both may mean the same zone and the same way to buy a machine, too. */
static bool share_offerings(const struct rail_call *call, const struct overlay *a,
                            const struct overlay *b)
{
    struct arena *arena = call->arena;
    struct solver_names *names = solver_names_create(arena, catalog_names(call->world->catalog));
    struct solver_requirements of_a = {0}, of_b = {0};
    expressions_add(&a->of_types, names, &of_a, arena);
    expressions_add(&b->of_types, names, &of_b, arena);
    return solver_requirements_intersect(names, &of_a, &of_b, NULL);
}

/* ---- numbers ---- */

/* Digits, with a point between or, where that is allowed, before them. */
static bool is_decimal(struct text t, bool may_begin_with_point)
{
    size_t whole = text_leading_digits(t);
    if (whole == t.size)
        return whole > 0;
    size_t part = text_leading_digits((struct text){t.data + whole + 1, t.size - whole - 1});
    return t.data[whole] == '.' && part > 0 && whole + 1 + part == t.size &&
           (whole > 0 || may_begin_with_point);
}

/* docs/reference/karpenter.md 11 */
static bool is_adjustment(struct text t)
{
    bool percent = text_ends_with(t, TEXT("%"));
    if (t.size < 2 || (t.data[0] != '+' && t.data[0] != '-'))
        return false;
    struct text amount = {t.data + 1, t.size - 1 - (percent ? 1 : 0)};
    bool falls_by_percent = percent && t.data[0] == '-';
    if (!falls_by_percent)
        return is_decimal(amount, true);
    return text_is(amount, "100") ||
           (text_leading_digits(amount) <= 2 && is_decimal(amount, false));
}

/* In millionths, of a decimal; -1: too large. */
static int64_t micro_of(struct text t)
{
    int64_t micro;
    return quantity_scaled(t, 6, &micro) ? micro : -1;
}

/* ---- what its fields say ---- */

static void judge_prices(struct rail_call *call, const struct overlay *overlay)
{
    const struct field *price = field_get(call->arena, overlay->spec, "price");
    const struct field *adjustment = field_get(call->arena, overlay->spec, "priceAdjustment");
    bool both = node_is_given(price->node) && node_is_given(adjustment->node);
    if (both)
        report(call, SEVERITY_RAIL, adjustment, TEXT("Keep one of them."),
               "With price and priceAdjustment the API server refuses this overlay.");
    if (node_is_given(price->node) && !node_has_placeholder(price->node) &&
        !is_decimal(node_text(price->node), false))
        report(call, SEVERITY_RAIL, price, TEXT("Write dollars an hour, as in \"0.25\"."),
               "This is no price, so the API server refuses the overlay.");
    else
        crd_shape_judge_quotes(call, price);
    if (both || !node_is_given(adjustment->node) || node_has_placeholder(adjustment->node))
        return;
    if (is_adjustment(node_text(adjustment->node)))
        crd_shape_judge_quotes(call, adjustment);
    else
        report(call, SEVERITY_RAIL, adjustment,
               TEXT("Write a sign and dollars or a percentage, as in \"-10%\" or \"+0.05\"."),
               "This is no adjustment, so the API server refuses the overlay.");
}

static void judge_effect(struct rail_call *call, const struct overlay *overlay)
{
    if (!overlay->prices && overlay->capacity == NULL)
        report(call, SEVERITY_WARN, overlay->spec,
               TEXT("Give it a price, a priceAdjustment or a capacity."),
               "The overlay changes neither price nor capacity, so it has no effect.");
}

static void judge_capacity(struct rail_call *call, const struct overlay *overlay)
{
    static const char *const own[] = {"cpu", "memory", "ephemeral-storage", "pods"};
    const struct field *capacity = field_get(call->arena, overlay->spec, "capacity");
    for (size_t i = 0; i < COUNT_OF(own); i++) {
        const struct field *resource = field_get(call->arena, capacity, own[i]);
        if (node_is_given(resource->node))
            report(call, SEVERITY_RAIL, resource, TEXT("Remove it."),
                   "An overlay may not change %s, so the API server refuses this one.", own[i]);
    }
}

static void judge_weight(struct rail_call *call, const struct overlay *overlay)
{
    enum { LARGEST = 10000 };
    const struct field *weight = field_get(call->arena, overlay->spec, "weight");
    int64_t number;
    if (node_is_given(weight->node) && !node_has_placeholder(weight->node) &&
        (!node_integer(weight->node, &number) || number < 1 || number > LARGEST))
        report(call, SEVERITY_RAIL, weight,
               arena_printf(call->arena,
                            "Write a number from 1 to %d, or remove it for a weight of 0.",
                            LARGEST),
               "This is no weight, so the API server refuses the overlay.");
}

/* Whether what it selects is taken as it is written. */
static bool judge_requirements(struct rail_call *call, const struct overlay *overlay)
{
    const struct requirement_owner *owner = &requirements_of_overlay;
    const struct field *list = field_get(call->arena, overlay->spec, "requirements");
    bool good = node_is(list->node, NODE_LIST);
    if (!good)
        report(call, SEVERITY_RAIL, list,
               TEXT("Write requirements: [] for all machines, or name some, as in [{key: "
                    "karpenter.k8s.aws/instance-family, operator: In, values: [m5]}]."),
               "Without a list of requirements the API server refuses the overlay.");
    FOR_EACH(requirement, &overlay->all) {
        good = requirement_judge(call, requirement, owner) && good;
        good = requirement_judge_closed(call, requirement, owner->refused, NULL) && good;
    }
    return good;
}

/* ---- two of them on one machine ---- */

/* A resource that both add; data NULL: there is none. */
static struct text shared_resource(const struct overlay *a, const struct overlay *b)
{
    if (a->capacity == NULL || b->capacity == NULL)
        return (struct text){0};
    for (size_t i = 0; i < node_count(a->capacity); i++) {
        struct text key = member_key(&a->capacity->members[i]);
        if (node_member(b->capacity, key) != NULL)
            return key;
    }
    return (struct text){0};
}

static void report_conflict(struct rail_call *call, const struct overlay *overlay,
                            const struct overlay *other, const struct pool *pool,
                            const struct type_set *types, struct text resource)
{
    struct arena *arena = call->arena;
    struct text own = overlay->object->name, theirs = other->object->name;
    /* Of equals the last by name is taken first. */
    struct text rejected = text_compare(own, theirs) < 0 ? own : theirs;
    struct text what = resource.data == NULL ? TEXT("the price") : resource;
    report_with(
        call, .field = field_get(arena, overlay->spec, "weight"), .found = theirs,
        .statement = arena_printf(
            arena,
            "NodeOverlays %.*s and %.*s of equal weight both set %.*s of machines of NodePool "
            "%.*s: %.*s. Karpenter rejects %.*s as a whole.",
            TEXT_ARGS(own), TEXT_ARGS(theirs), TEXT_ARGS(what), TEXT_ARGS(pool->object->name),
            TEXT_ARGS(type_set_text(call->world->catalog, types, arena)), TEXT_ARGS(rejected)),
        .fault = arena_printf(arena, "Both NodeOverlays set %.*s.", TEXT_ARGS(what)),
        .fix = TEXT("Give them different weights, or requirements that share no machine."));
}

static void judge_pair(struct rail_call *call, const struct overlay *overlay,
                       const struct overlay *other)
{
    const struct snapshot *snapshot = call->world->snapshot;
    bool both_price = overlay->prices && other->prices && share_offerings(call, overlay, other);
    struct text resource = {0};
    if (!both_price)
        resource = shared_resource(overlay, other);
    if (!both_price && resource.data == NULL)
        return;
    struct type_set anywhere = selected_types(call, overlay, other, NULL);
    if (type_set_is_empty(&anywhere))
        return;
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++) {
        const struct pool *pool = snapshot_pool(snapshot, i);
        if (!pool_is_covered_by(call->world->catalog, pool) || !selects_pool(call, overlay, pool) ||
            !selects_pool(call, other, pool))
            continue;
        struct type_set types = selected_types(call, overlay, other, pool);
        if (type_set_is_empty(&types))
            continue;
        report_conflict(call, overlay, other, pool, &types, resource);
        return;
    }
}

static void judge_others(struct rail_call *call, const struct overlay *overlay)
{
    const struct snapshot *snapshot = call->world->snapshot;
    bool is_seen = call_is_seen(call, "spec");
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_NODE_OVERLAY); i++) {
        const struct object *object = snapshot_object(snapshot, KIND_NODE_OVERLAY, i);
        int64_t weight = 0;
        (void)node_integer(node_at(object->root->node, "spec.weight"), &weight);
        if (object->deleting || weight != overlay->weight ||
            text_equal(object->name, overlay->object->name) ||
            call_leaves_to(call, is_seen, object))
            continue;
        struct overlay other = overlay_read(call, object);
        judge_pair(call, overlay, &other);
    }
}

/* ---- what it draws in ---- */

static bool lowers(const struct overlay *overlay, const struct instance_type *type)
{
    struct text price = node_text(node_get(overlay->spec->node, "price"));
    struct text adjustment = node_text(node_get(overlay->spec->node, "priceAdjustment"));
    if (price.size == 0)
        return adjustment.size > 0 && adjustment.data[0] == '-';
    int64_t micro = is_decimal(price, false) ? micro_of(price) : -1;
    return micro >= 0 && type->usd_micro_per_hour > micro;
}

/* The types that the pool may launch, that no list allows, and that become cheaper. */
static struct type_set drawn_in(const struct rail_call *call, const struct overlay *overlay,
                                const struct pool *pool, const struct type_set *types,
                                const struct instance_list *list)
{
    const struct catalog *catalog = call->world->catalog;
    struct type_set drawn = type_set_create(catalog, call->arena);
    const struct launchable *launchable = pool_launchable(call, pool);
    FOR_TYPES(i, types)
        if (type_set_has(&launchable->types, i) && !type_set_has(&list->possible, i) &&
            lowers(overlay, catalog_type(catalog, i)))
            type_set_add(&drawn, i);
    return drawn;
}

static void report_drawn(struct rail_call *call, const struct overlay *overlay,
                         const struct pool *pool, const struct type_set *drawn)
{
    struct arena *arena = call->arena;
    const struct catalog *catalog = call->world->catalog;
    bool has_price = node_is_given(node_get(overlay->spec->node, "price"));
    report_with(
        call, .field = field_get(arena, overlay->spec, has_price ? "price" : "priceAdjustment"),
        .found = pool->object->name, .values = type_set_names(catalog, drawn, arena),
        .statement = arena_printf(
            arena,
            "The price draws in instance types that are not allowed here, and that NodePool "
            "%.*s may launch: %.*s.",
            TEXT_ARGS(pool->object->name), TEXT_ARGS(type_set_text(catalog, drawn, arena))),
        .fix = TEXT("Keep the overlay, or the NodePool, to instance types that are "
                    "allowed."));
}

/* Returns whether it touches a machine of the pool. */
static bool judge_pool(struct rail_call *call, const struct overlay *overlay,
                       const struct pool *pool)
{
    const struct instance_list *list = rail_settings(call, &rail_instance_types);
    if (!selects_pool(call, overlay, pool))
        return false;
    struct type_set types = selected_types(call, overlay, NULL, pool);
    if (list != NULL) {
        struct type_set drawn = drawn_in(call, overlay, pool, &types, list);
        if (!type_set_is_empty(&drawn))
            report_drawn(call, overlay, pool, &drawn);
    }
    return !type_set_is_empty(&types);
}

static void judge_pools(struct rail_call *call, const struct overlay *overlay)
{
    const struct snapshot *snapshot = call->world->snapshot;
    const struct field *requirements = field_get(call->arena, overlay->spec, "requirements");
    bool touches = false, told = world_sees(call->world, KIND_BIT(KIND_NODE_POOL)) &&
                                 !node_has_placeholder(requirements->node);
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++) {
        const struct pool *pool = snapshot_pool(snapshot, i);
        if (pool_is_covered_by(call->world->catalog, pool))
            touches |= judge_pool(call, overlay, pool);
        else
            told = false; /* the catalogue says nothing of its machines */
    }
    if (!touches && told && snapshot_pool_count(snapshot) > 0)
        report(call, SEVERITY_WARN, requirements,
               TEXT("Name types, or labels of a NodePool's template, that there are."),
               "No visible NodePool has a machine that these requirements select, so the overlay "
               "has no effect.");
}

static void judge(struct rail_call *call)
{
    struct overlay overlay = overlay_read(call, call->object);
    judge_prices(call, &overlay);
    judge_effect(call, &overlay);
    judge_capacity(call, &overlay);
    judge_weight(call, &overlay);
    if (!judge_requirements(call, &overlay))
        return;
    judge_others(call, &overlay);
    judge_pools(call, &overlay);
}

const struct rail rail_node_overlay = {
    .name = "node-overlay",
    .summary = "overlays that take effect, and draw in nothing else",
    .detail =
        "A NodeOverlay changes what Karpenter takes the price or the resources of machines for. "
        "Of two overlays of equal weight that set the price, or the same resource, of one "
        "machine, Karpenter rejects one as a whole: that with the smaller name. The rail finds "
        "such pairs among the visible overlays, with a NodePool and types that both touch; of "
        "overlays that are judged together the later by name tells of both.\n\n"
        "Where the policy has instance-types, the rail finds overlays that make types cheaper "
        "which are not allowed, and which a visible NodePool may launch: Karpenter buys what is "
        "cheap.\n\n"
        "It also finds overlays that the API server or Karpenter refuses (price and "
        "priceAdjustment together, a price that is no string, a capacity of cpu, memory, "
        "ephemeral-storage or pods, a weight of 0, no requirements, and requirements that "
        "pool-shape finds on a NodePool, but for karpenter.sh/nodepool), and warns of those "
        "that change nothing, or select no machine of any visible NodePool. NodePools of a cloud "
        "that the catalogue does not have are passed over. Karpenter reads overlays only with "
        "its feature gate NodeOverlay.",
    .example = "node-overlay:\n"
               "  mode: enforce\n",
    .kinds = KIND_BIT(KIND_NODE_OVERLAY),
    .keys = keys,
    .judge = judge,
};
