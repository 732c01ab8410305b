/* The NodePools that could serve a pod. */
#include "catalog/catalog.h"
#include "kube/label.h"
#include "kube/pod.h"
#include "kube/pool.h"
#include "policy/rails/accelerators_pod.h"
#include "solver/well_known.h"

static void add_label(struct solver_names *names, struct solver_requirements *set, struct text key,
                      struct text text, struct arena *arena)
{
    struct expression_value value = {.text = text};
    const struct expression label = {
        .key = key,
        .op = SOLVER_IN,
        .valid = true,
        .values = &value,
        .value_count = 1,
    };
    expression_add(&label, names, set, arena);
}

static bool some_type_carries(const struct accelerators_pod *pod, struct type_set types)
{
    for (int device = 0; device < DEVICE_COUNT; device++)
        if ((pod->wanted & DEVICE_BIT(device)) != 0)
            types = type_set_and(&types, &pod->settings->carriers_of[device], pod->call->arena);
    return !type_set_is_empty(&types);
}

/* The labels that each of the pool's nodes has besides those of its template. */
static void add_own_labels(const struct pool *pool, struct solver_names *names,
                           struct solver_requirements *set, struct arena *arena)
{
    struct pool_label labels[POOL_OWN_LABELS_MAX];
    size_t count = pool_own_labels(pool, labels);
    for (size_t i = 0; i < count; i++)
        add_label(names, set, labels[i].key, labels[i].value, arena);
    add_label(names, set, TEXT(LABEL_REGISTERED), TEXT("true"), arena);
    add_label(names, set, TEXT(LABEL_INITIALIZED), TEXT("true"), arena);
    add_label(names, set, TEXT(LABEL_HOSTNAME), TEXT("hostname-placeholder"), arena);
}

/* docs/reference/karpenter.md 1.3 and 2.5: the pool's labels, with those of each of its nodes, must
 * fit the pod's selection, and some type that fits both must carry what is wanted. term may be
 * NULL. */
static bool could_serve(const struct accelerators_pod *pod, const struct pool *pool,
                        const struct node_term *term)
{
    struct arena *arena = pod->call->arena;
    const struct catalog *catalog = pod->settings->catalog;
    struct solver_names *names = solver_names_create(arena, catalog_names(catalog));
    struct solver_requirements pool_set = {0};
    struct solver_requirements pod_set = {0};
    expressions_add(&pool->requirements, names, &pool_set, arena);
    expressions_add(&pool->labels, names, &pool_set, arena);
    add_own_labels(pool, names, &pool_set, arena);
    expressions_add(&pod->selection->selector, names, &pod_set, arena);
    if (term != NULL)
        expressions_add(&term->expressions, names, &pod_set, arena);
    if (!solver_requirements_compatible(names, &pool_set, &pod_set, solver_is_well_known, NULL))
        return false;
    if (!pool_is_covered_by(catalog, pool))
        return true;
    for (size_t i = 0; i < pod_set.count; i++)
        solver_requirements_add(names, &pool_set, pod_set.items[i], arena);
    return some_type_carries(pod, catalog_select_launchable(catalog, names, &pool_set, arena));
}

/* No node that a NodePool makes later has the name that a term gives. */
bool accelerators_could_serve(const struct accelerators_pod *pod, const struct pool *pool)
{
    const struct node_terms *terms = &pod->selection->required;
    if (terms->count == 0)
        return could_serve(pod, pool, NULL);
    for (size_t i = 0; i < terms->count && i < ACCELERATORS_TERMS_MAX; i++)
        if (node_term_node(&terms->items[i]).size == 0 && could_serve(pod, pool, &terms->items[i]))
            return true;
    return false;
}

bool accelerators_has_more_terms(const struct accelerators_pod *pod)
{
    const struct node_terms *terms = &pod->selection->required;
    for (size_t i = ACCELERATORS_TERMS_MAX; i < terms->count; i++)
        if (node_term_node(&terms->items[i]).size == 0)
            return true;
    return false;
}

bool accelerators_are_closed_by(const struct accelerators_pod *pod, const struct taint *taint)
{
    return taint_is_hard(taint) && !tolerations_cover(&pod->tolerations, taint);
}

size_t accelerators_count_closing(const struct accelerators_pod *pod, const struct pool *pool)
{
    size_t count = 0;
    for (size_t i = 0; i < pool->taints.count; i++)
        if (accelerators_are_closed_by(pod, &pool->taints.items[i]))
            count++;
    return count;
}

bool accelerators_opens_a_door(const struct toleration *toleration)
{
    return !text_is(toleration->effect, "PreferNoSchedule");
}
