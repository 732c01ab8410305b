/* NodePools whose instance types are not known: only their requirements, taints and subnets
 * count. */
#include "simulation/supply_pools.h"

#include "catalog/catalog.h"
#include "kube/expression.h"
#include "kube/label.h"
#include "kube/object.h"
#include "kube/pool.h"
#include "solver/well_known.h"

/* ---- what a pod requires ---- */

struct pod_requirements pod_requirements_none(const struct catalog *catalog, struct arena *arena)
{
    return (struct pod_requirements){
        .catalog = catalog,
        .arena = arena,
        .tolerates_all = true,
        .names = solver_names_create(arena, catalog_names(catalog)),
        .alternatives = ARENA_NEW(arena, struct solver_requirements),
        .alternative_count = 1,
    };
}

static struct solver_requirements copied(const struct solver_requirements *set, struct arena *arena)
{
    struct solver_requirements copy = {0};
    for (size_t i = 0; i < set->count; i++)
        *LIST_PUSH(arena, &copy) = set->items[i];
    return copy;
}

struct pod_requirements pod_requirements_read(const struct catalog *catalog,
                                              const struct workload *workload,
                                              const struct named_amounts *requests,
                                              struct arena *arena)
{
    struct pod_requirements wanted = pod_requirements_none(catalog, arena);
    wanted.requests = requests;
    struct node_selection selection;
    node_selection_read(workload, arena, &selection);
    tolerations_read(workload, arena, &wanted.tolerations);
    wanted.tolerates_all = false;
    struct solver_requirements selector = {0};
    expressions_add(&selection.selector, wanted.names, &selector, arena);
    wanted.alternatives[0] = selector;
    if (selection.required.count == 0)
        return wanted;
    size_t most =
        selection.required.count < SUPPLY_TERMS_MAX ? selection.required.count : SUPPLY_TERMS_MAX;
    wanted.alternatives = ARENA_ARRAY(arena, most, struct solver_requirements);
    wanted.alternative_count = 0;
    for (size_t i = 0; i < most; i++) {
        const struct node_term *term = &selection.required.items[i];
        if (node_term_is_empty(term))
            continue;
        struct solver_requirements *alternative = &wanted.alternatives[wanted.alternative_count++];
        *alternative = copied(&selector, arena);
        expressions_add(&term->expressions, wanted.names, alternative, arena);
    }
    return wanted;
}

/* ---- whether a pool gives it ---- */

static struct solver_requirements of_pool(const struct pool *pool,
                                          const struct pod_requirements *wanted)
{
    struct solver_requirements set = {0};
    struct pool_label own[POOL_OWN_LABELS_MAX];
    size_t count = pool_own_labels(pool, own);
    expressions_add(&pool->requirements, wanted->names, &set, wanted->arena);
    expressions_add(&pool->labels, wanted->names, &set, wanted->arena);
    for (size_t i = 0; i < count; i++)
        expression_add_label(own[i].key, own[i].value, wanted->names, &set, wanted->arena);
    return set;
}

/* Without what Karpenter of another cloud may know. */
static struct solver_requirements without_unsaid(const struct pool *pool,
                                                 const struct solver_requirements *of_pool,
                                                 const struct pod_requirements *wanted,
                                                 const struct solver_requirements *of_pod)
{
    const struct label_domains domains = pool_label_domains(pool, wanted->arena);
    struct solver_requirements said = {0};
    for (size_t i = 0; i < of_pod->count; i++) {
        struct text key;
        key.data = solver_names_key_text(wanted->names, of_pod->items[i].key, &key.size);
        if (solver_requirements_get(of_pool, of_pod->items[i].key) != NULL ||
            !label_domains_have(&domains, key))
            *LIST_PUSH(wanted->arena, &said) = of_pod->items[i];
    }
    return said;
}

static bool allows(const struct pool *pool, const struct solver_requirements *of_pool,
                   const struct pod_requirements *wanted, size_t alternative)
{
    struct solver_requirements of_pod = wanted->alternatives[alternative];
    if (!pool_is_covered_by(wanted->catalog, pool))
        of_pod = without_unsaid(pool, of_pool, wanted, &of_pod);
    return solver_requirements_compatible(wanted->names, of_pool, &of_pod, solver_is_well_known,
                                          NULL);
}

static const struct taint *not_tolerated(const struct pod_requirements *wanted,
                                         const struct pool *pool)
{
    if (wanted->tolerates_all)
        return NULL;
    FOR_EACH(taint, &pool->taints)
        if (taint_is_hard(taint) && !tolerations_cover(&wanted->tolerations, taint))
            return taint;
    return NULL;
}

bool pool_is_selected(const struct pool *pool, const struct pod_requirements *wanted)
{
    const struct solver_requirements set = of_pool(pool, wanted);
    for (size_t i = 0; i < wanted->alternative_count; i++)
        if (allows(pool, &set, wanted, i))
            return true;
    return false;
}

bool pool_may_suit(const struct pool *pool, const struct pod_requirements *wanted)
{
    return not_tolerated(wanted, pool) == NULL && pool_is_selected(pool, wanted);
}

bool pool_takes(const struct catalog *catalog, const struct pool *pool,
                const struct workload *workload, struct arena *arena)
{
    const struct pod_requirements wanted = pod_requirements_read(catalog, workload, NULL, arena);
    return pool_may_suit(pool, &wanted);
}

/* ---- whether what it gives is known ---- */

/* The types that may meet what the pool and one alternative of the pod require. */
static struct type_set possible_types(const struct solver_requirements *of_pool,
                                      const struct pod_requirements *wanted, size_t alternative)
{
    struct solver_requirements both = copied(of_pool, wanted->arena);
    const struct solver_requirements *of_pod = &wanted->alternatives[alternative];
    for (size_t i = 0; i < of_pod->count; i++)
        solver_requirements_add(wanted->names, &both, of_pod->items[i], wanted->arena);
    return catalog_select_possible(wanted->catalog, wanted->names, &both, wanted->arena);
}

/* All types that the pool may launch for the pod. */
static struct type_set launchable_types(const struct pool *pool,
                                        const struct pod_requirements *wanted)
{
    struct type_set all = type_set_create(wanted->catalog, wanted->arena);
    const struct solver_requirements set = of_pool(pool, wanted);
    for (size_t i = 0; i < wanted->alternative_count; i++)
        if (allows(pool, &set, wanted, i)) {
            struct type_set types = possible_types(&set, wanted, i);
            type_set_add_all(&all, &types);
        }
    return all;
}

static device_set devices_of(const struct named_amounts *requests)
{
    device_set devices = 0;
    for (size_t i = 0; requests != NULL && i < requests->count; i++) {
        enum device device = device_of_resource(text_of(requests->items[i].resource));
        if (device != DEVICE_COUNT)
            devices |= DEVICE_BIT(device);
    }
    return devices;
}

struct type_set pool_unknown_types(const struct pool *pool, const struct pod_requirements *wanted)
{
    const struct type_set none = {0};
    struct type_set suited = type_set_create(wanted->catalog, wanted->arena);
    if (not_tolerated(wanted, pool) != NULL)
        return none;
    device_set devices = devices_of(wanted->requests);
    struct type_set types = launchable_types(pool, wanted);
    FOR_TYPES(i, &types) {
        if (catalog_type(wanted->catalog, i)->cpu > 0)
            return none;
        if ((devices & ~catalog_type(wanted->catalog, i)->devices) == 0)
            type_set_add(&suited, i);
    }
    return suited;
}

struct text unknown_types_text(const struct catalog *catalog, const struct type_set *types,
                               struct arena *arena)
{
    return arena_printf(arena, "the catalogue does not know the hardware of %.*s",
                        TEXT_ARGS(type_set_text(catalog, types, arena)));
}

bool pool_is_of_unknown_types(const struct catalog *catalog, const struct pool *pool,
                              struct arena *arena)
{
    const struct pod_requirements any = pod_requirements_none(catalog, arena);
    struct type_set types = pool_unknown_types(pool, &any);
    return !type_set_is_empty(&types);
}

enum solver_reason_kind pool_unsuited(const struct pool *pool,
                                      const struct pod_requirements *wanted, struct type_set *types)
{
    const struct type_set suited = pool_unknown_types(pool, wanted);
    if (!type_set_is_empty(&suited))
        return SOLVER_REASON_COUNT;
    const struct type_set without_devices = launchable_types(pool, wanted);
    type_set_add_all(types, &without_devices);
    if (!type_set_is_empty(types))
        return SOLVER_REASON_RESOURCES;
    const struct pod_requirements any = pod_requirements_none(wanted->catalog, wanted->arena);
    const struct type_set all = launchable_types(pool, &any);
    type_set_add_all(types, &all);
    return SOLVER_REASON_REQUIREMENT;
}

/* "nvidia.com/gpu and vpc.amazonaws.com/efa". */
static struct text devices_text(const struct named_amounts *requests, struct arena *arena)
{
    struct text_builder text = {.arena = arena};
    FOR_EACH(amount, requests)
        if (device_of_resource(text_of(amount->resource)) != DEVICE_COUNT)
            text_builder_printf(&text, "%s%s", text.size == 0 ? "" : " and ", amount->resource);
    return text_builder_text(&text);
}

struct text unsuited_text(enum solver_reason_kind kind, const struct type_set *types,
                          const struct named_amounts *requests, const struct catalog *catalog,
                          struct arena *arena)
{
    struct text missing =
        kind == SOLVER_REASON_RESOURCES
            ? arena_printf(arena, "has %.*s", TEXT_ARGS(devices_text(requests, arena)))
            : TEXT("is what the pod asks for");
    return arena_printf(arena, "no type of this NodePool %.*s: it may launch %.*s",
                        TEXT_ARGS(missing), TEXT_ARGS(type_set_text(catalog, types, arena)));
}

/* ---- zones ---- */

static bool subnets_have(const struct node *subnets, struct text zone)
{
    for (size_t i = 0; i < node_count(subnets); i++)
        if (text_equal(node_string(node_get(node_item(subnets, i), "zone")), zone))
            return true;
    return false;
}

/* Only a user's own catalogue knows the zones of the account. */
static bool is_sold_in(const struct catalog *catalog, struct text zone)
{
    const struct solver_names *names = catalog_names(catalog);
    uint32_t key = catalog_is_builtin(catalog)
                       ? SOLVER_NONE
                       : solver_names_find_key(names, LABEL_ZONE, sizeof LABEL_ZONE - 1);
    return key == SOLVER_NONE || solver_names_value_count(names, key) == 0 ||
           solver_names_find_value(names, key, zone.data, zone.size) != SOLVER_NONE;
}

static bool set_has(const struct solver_names *names, const struct solver_requirements *set,
                    uint32_t key, uint32_t value)
{
    const struct solver_requirement *allowed = solver_requirements_get(set, key);
    return allowed == NULL || solver_requirement_has(names, allowed, value);
}

static void add_zones(const struct pod_requirements *wanted, const struct node *subnets,
                      const struct solver_requirements *of_pool,
                      const struct solver_requirements *of_pod, const struct zones *all,
                      struct zones *zones)
{
    uint32_t key = solver_names_key(wanted->names, LABEL_ZONE, sizeof LABEL_ZONE - 1);
    for (size_t i = 0; i < all->count; i++) {
        struct text zone = all->items[i];
        uint32_t value = solver_names_value(wanted->names, key, zone.data, zone.size);
        if ((subnets == NULL || subnets_have(subnets, zone)) && is_sold_in(wanted->catalog, zone) &&
            set_has(wanted->names, of_pool, key, value) &&
            set_has(wanted->names, of_pod, key, value))
            zones_add(zones, zone, wanted->arena);
    }
}

void pool_add_zones(const struct snapshot *snapshot, const struct pool *pool,
                    const struct pod_requirements *wanted, const struct zones *all,
                    struct zones *zones)
{
    if (not_tolerated(wanted, pool) != NULL)
        return;
    const struct solver_requirements set = of_pool(pool, wanted);
    for (size_t i = 0; i < wanted->alternative_count; i++)
        if (allows(pool, &set, wanted, i))
            add_zones(wanted, pool_subnets(snapshot, pool), &set, &wanted->alternatives[i], all,
                      zones);
}
