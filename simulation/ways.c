/* Holds what pods select and tolerate against many Nodes: read once, decided by label and taint. */
#include "simulation/ways.h"

#include "catalog/catalog.h"
#include "kube/object.h"
#include "kube/pod.h"
#include "kube/snapshot.h"
#include "kube/taint.h"
#include "simulation/supply.h"

/* What a Node must have under one label. */
struct wanted {
    struct text key;
    const struct solver_requirement *values;
};
/* One way to a Node. Labels that no Node carries are decided already. */
struct way {
    struct text node; /* the only one that it leads to; empty: any */
    LIST(struct wanted) labels;
    bool leads_nowhere;
};
struct ways {
    struct arena *arena;
    struct solver_names *names;
    LIST(struct way) of;
    struct tolerations tolerations;
    struct text_map tolerated; /* by taint: 1 no, 2 yes */
};

/* ---- what is asked of a Node ---- */

static void add_way(const struct snapshot *snapshot, const struct node_selection *selection,
                    const struct node_term *term, struct ways *ways)
{
    struct arena *arena = ways->arena;
    struct solver_requirements *set = ARENA_NEW(arena, struct solver_requirements);
    expressions_add(&selection->selector, ways->names, set, arena);
    if (term != NULL)
        expressions_add(&term->expressions, ways->names, set, arena);
    struct way *way = LIST_PUSH(arena, &ways->of);
    if (term != NULL)
        way->node = node_term_node(term);
    FOR_EACH(requirement, set) {
        struct text key;
        key.data = solver_names_key_text(ways->names, requirement->key, &key.size);
        if (snapshot_node_values(snapshot, key) != NULL)
            *LIST_PUSH(arena, &way->labels) = (struct wanted){key, requirement};
        else
            way->leads_nowhere |= !solver_requirement_is_negative(requirement);
    }
}

struct ways *ways_read(const struct workload *workload, const struct tolerations *tolerations,
                       const struct snapshot *snapshot, const struct catalog *catalog,
                       struct arena *arena)
{
    struct node_selection selection;
    struct ways *ways = ARENA_NEW(arena, struct ways);
    ways->arena = arena;
    ways->names = solver_names_create(arena, catalog_names(catalog));
    node_selection_read(workload, arena, &selection);
    if (tolerations != NULL)
        ways->tolerations = *tolerations;
    else
        tolerations_read(workload, arena, &ways->tolerations);
    if (selection.required.count == 0)
        add_way(snapshot, &selection, NULL, ways);
    for (size_t i = 0; i < selection.required.count && i < SUPPLY_TERMS_MAX; i++)
        if (!node_term_is_empty(&selection.required.items[i]))
            add_way(snapshot, &selection, &selection.required.items[i], ways);
    return ways;
}

/* ---- a Node ---- */

static bool leads_to(const struct ways *ways, const struct way *way, const struct object *node)
{
    if (way->leads_nowhere || (way->node.size > 0 && !text_equal(way->node, node->name)))
        return false;
    FOR_EACH(wanted, &way->labels)
        if (!requirement_takes_label(wanted->values, node_member(node->labels, wanted->key),
                                     ways->names))
            return false;
    return true;
}

/* Taints that DaemonSets tolerate by themselves, and those that a Node loses while it starts. */
static bool is_no_hindrance(const struct taint *taint)
{
    return !taint_is_hard(taint) || text_starts_with(taint->key, TEXT("node.kubernetes.io/")) ||
           text_starts_with(taint->key, TEXT("readiness.k8s.io/")) ||
           TEXT_IS_ONE_OF(taint->key, "karpenter.sh/unregistered",
                          "node.cloudprovider.kubernetes.io/uninitialized");
}

static bool tolerates(struct ways *ways, const struct taint *taint)
{
    struct text text = arena_printf(ways->arena, "%.*s=%.*s:%.*s", TEXT_ARGS(taint->key),
                                    TEXT_ARGS(taint->value), TEXT_ARGS(taint->effect));
    size_t *known = text_map_at(&ways->tolerated, ways->arena, text);
    if (*known == 0)
        *known = tolerations_cover(&ways->tolerations, taint) ? 2 : 1;
    return *known == 2;
}

bool ways_lead_to(struct ways *ways, const struct object *node)
{
    struct taints taints = {0};
    bool selected = false;
    FOR_EACH(way, &ways->of)
        selected = selected || leads_to(ways, way, node);
    if (!selected)
        return false;
    taints_read(field_at(ways->arena, node->root, "spec.taints"), ways->arena, &taints);
    FOR_EACH(taint, &taints)
        if (text_is(taint->key, TAINT_DISRUPTED) ||
            (!is_no_hindrance(taint) && !tolerates(ways, taint)))
            return false;
    return true;
}
