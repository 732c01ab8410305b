/* NodePools whose instance types are not known: only their requirements, taints and subnets
 * count. */
#include "catalog/catalog.h"
#include "kube/expression.h"
#include "kube/object.h"
#include "kube/pool.h"
#include "simulation/supply_internal.h"
#include "solver/well_known.h"

struct meeting {
    const struct catalog *catalog;
    const struct pool *pool;
    struct solver_names *names;
    struct arena *arena;
};

static struct meeting meeting_of(const struct catalog *catalog, const struct pool *pool,
                                 struct arena *arena)
{
    return (struct meeting){catalog, pool, solver_names_create(arena, catalog_names(catalog)),
                            arena};
}

static struct solver_requirements of_pool(const struct meeting *meeting)
{
    const struct pool *pool = meeting->pool;
    struct solver_requirements set = {0};
    struct expression_value name = {.text = pool->object->name};
    const struct expression label = {.key = TEXT(LABEL_NODE_POOL),
                                     .op = SOLVER_IN,
                                     .valid = true,
                                     .values = &name,
                                     .value_count = 1};
    expressions_add(&pool->requirements, meeting->names, &set, meeting->arena);
    expressions_add(&pool->labels, meeting->names, &set, meeting->arena);
    expression_add(&label, meeting->names, &set, meeting->arena);
    return set;
}

static void add_alternative(const struct meeting *meeting, const struct node_selection *selection,
                            size_t alternative, struct solver_requirements *set)
{
    expressions_add(&selection->selector, meeting->names, set, meeting->arena);
    if (alternative < selection->required.count)
        expressions_add(&selection->required.items[alternative].expressions, meeting->names, set,
                        meeting->arena);
}

static size_t alternatives_of(const struct node_selection *selection)
{
    size_t count = selection->required.count;
    return count == 0 ? 1 : count < SUPPLY_TERMS_MAX ? count : SUPPLY_TERMS_MAX;
}

/* The requirements of a node of the pool for such a pod; false: they contradict each other. */
static bool meet(const struct meeting *meeting, const struct node_selection *selection,
                 size_t alternative, struct solver_requirements *both, uint32_t *conflict)
{
    struct solver_requirements pool = of_pool(meeting);
    struct solver_requirements pod = {0};
    add_alternative(meeting, selection, alternative, &pod);
    if (!solver_requirements_compatible(meeting->names, &pool, &pod, solver_is_well_known,
                                        conflict))
        return false;
    *both = of_pool(meeting);
    add_alternative(meeting, selection, alternative, both);
    return true;
}

static const struct taint *not_tolerated(const struct tolerations *tolerations,
                                         const struct pool *pool)
{
    FOR_EACH(taint, &pool->taints)
        if (taint_is_hard(taint) && !tolerations_cover(tolerations, taint))
            return taint;
    return NULL;
}

struct pod_requirements pod_requirements_read(const struct workload *workload, struct arena *arena)
{
    struct pod_requirements wanted;
    node_selection_read(workload, arena, &wanted.selection);
    tolerations_read(workload, arena, &wanted.tolerations);
    return wanted;
}

bool pool_is_selected(const struct catalog *catalog, const struct pool *pool,
                      const struct node_selection *selection, struct arena *arena)
{
    const struct arena_mark mark = arena_mark(arena);
    struct meeting meeting = meeting_of(catalog, pool, arena);
    bool selected = false;
    for (size_t i = 0; !selected && i < alternatives_of(selection); i++) {
        struct solver_requirements both;
        selected = meet(&meeting, selection, i, &both, NULL);
    }
    arena_rewind(arena, mark);
    return selected;
}

bool pool_may_suit(const struct catalog *catalog, const struct pool *pool,
                   const struct pod_requirements *wanted, struct arena *arena)
{
    return not_tolerated(&wanted->tolerations, pool) == NULL &&
           pool_is_selected(catalog, pool, &wanted->selection, arena);
}

bool pool_takes(const struct catalog *catalog, const struct pool *pool,
                const struct workload *workload, struct arena *arena)
{
    const struct pod_requirements wanted = pod_requirements_read(workload, arena);
    return pool_may_suit(catalog, pool, &wanted, arena);
}

void pool_misfit(const struct catalog *catalog, const struct pool *pool,
                 const struct pod_requirements *wanted, struct arena *arena,
                 struct supply_reason *reason)
{
    struct meeting meeting = meeting_of(catalog, pool, arena);
    const struct taint *taint = not_tolerated(&wanted->tolerations, pool);
    struct solver_requirements both;
    uint32_t key = SOLVER_NONE;
    reason->nearest = TEXT("");
    if (taint != NULL) {
        reason->kind = SOLVER_REASON_TAINT;
        reason->message = arena_printf(arena, "does not tolerate the taint %.*s%s%.*s:%.*s",
                                       TEXT_ARGS(taint->key), taint->value.size > 0 ? "=" : "",
                                       TEXT_ARGS(taint->value), TEXT_ARGS(taint->effect));
    } else if (!meet(&meeting, &wanted->selection, 0, &both, &key) && key != SOLVER_NONE) {
        struct text name;
        name.data = solver_names_key_text(meeting.names, key, &name.size);
        reason->kind = SOLVER_REASON_REQUIREMENT;
        reason->message = arena_printf(
            arena, "asks for another %.*s than the NodePool gives its nodes", TEXT_ARGS(name));
    }
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

static void add_zones(const struct meeting *meeting, const struct node *subnets,
                      const struct solver_requirements *both, const struct zones *all,
                      struct zones *zones)
{
    uint32_t key = solver_names_key(meeting->names, LABEL_ZONE, sizeof LABEL_ZONE - 1);
    const struct solver_requirement *allowed = solver_requirements_get(both, key);
    for (size_t i = 0; i < all->count; i++) {
        struct text zone = all->items[i];
        uint32_t value = solver_names_value(meeting->names, key, zone.data, zone.size);
        if ((subnets == NULL || subnets_have(subnets, zone)) &&
            is_sold_in(meeting->catalog, zone) &&
            (allowed == NULL || solver_requirement_has(meeting->names, allowed, value)))
            zones_add(zones, zone, meeting->arena);
    }
}

void pool_add_zones(const struct snapshot *snapshot, const struct catalog *catalog,
                    const struct pool *pool, const struct pod_requirements *wanted,
                    const struct zones *all, struct arena *arena, struct zones *zones)
{
    static const struct pod_requirements none;
    struct meeting meeting = meeting_of(catalog, pool, arena);
    const struct node_selection *selection = wanted == NULL ? &none.selection : &wanted->selection;
    if (wanted != NULL && not_tolerated(&wanted->tolerations, pool) != NULL)
        return;
    for (size_t i = 0; i < alternatives_of(selection); i++) {
        struct solver_requirements both;
        if (meet(&meeting, selection, i, &both, NULL))
            add_zones(&meeting, pool_subnets(snapshot, pool), &both, all, zones);
    }
}
