/* Makes topology groups before a run: the domains of each, the nodes it counts, and how many pods
 * that run in the cluster are in each domain. A run starts with these counts; topology.c adds the
 * pods that it places. */
#include <string.h>

#include "solver/problem.h"

/* ---- the domains pools can make (docs/reference/karpenter.md 3.2) ---- */

/* Adds the values that a node of the pool may have for a key. */
static void add_pool_domains(const struct solver_problem *problem, const struct pool *pool,
                             uint32_t key, uint64_t *bits, size_t value_count)
{
    const struct solver_requirement *own = solver_requirements_get(&pool->requirements, key);
    if (own != NULL && !own->complement)
        for (BITS_EACH(value, own->words, own->word_count))
            bits_add(bits, value);
    if (key >= problem->key_count || !problem->key_index[key].defined)
        return;
    const struct key_index *index = &problem->key_index[key];
    for (size_t v = 0; v < index->value_count && v < value_count; v++) {
        if (index->values[v] == NULL || bits_has(bits, v) ||
            (own != NULL && !solver_requirement_has(problem->names, own, (uint32_t)v)))
            continue;
        for (size_t w = 0; w < problem->option_words; w++)
            if ((index->values[v][w] & pool->all_options[w]) != 0) {
                bits_add(bits, v);
                break;
            }
    }
}

/* The domains of all pools, or of those whose taints are tolerated. */
static uint64_t *universe(const struct solver_problem *problem, uint32_t key,
                          const struct toleration_list *tolerations, bool prefer,
                          size_t value_count)
{
    uint64_t *bits = ARENA_ARRAY(problem->arena, bits_words(value_count) + 1, uint64_t);
    for (size_t i = 0; i < problem->pools.count; i++) {
        const struct pool *pool = &problem->pools.items[i];
        if (tolerations == NULL || taints_tolerated(pool->taints, tolerations, prefer, NULL))
            add_pool_domains(problem, pool, key, bits, value_count);
    }
    return bits;
}

/* ---- which nodes count ---- */

static void make_filter(const struct solver_problem *problem, struct topology_group *group)
{
    if (group->filter_term_count == 0 && group->filter_tolerations == NULL)
        return;
    size_t words = bits_words(problem->nodes.count);
    uint64_t *nodes = ARENA_ARRAY(problem->arena, words, uint64_t);
    uint64_t *some = ARENA_ARRAY(problem->arena, words, uint64_t);
    if (group->filter_term_count == 0)
        bits_fill(nodes, problem->nodes.count);
    for (size_t i = 0; i < group->filter_term_count; i++) {
        bits_fill(some, problem->nodes.count);
        nodes_keep(problem, &group->filter_terms[i], some);
        for (size_t w = 0; w < words; w++)
            nodes[w] |= some[w];
    }
    if (group->filter_tolerations != NULL)
        nodes_keep_tolerated(problem, group->filter_tolerations, group->filter_prefers, nodes);
    group->filter_nodes = nodes;
}

/* ---- making groups: equal ones are one ---- */

static void sign_term(struct fingerprint *fingerprint, const struct term *term)
{
    size_t count = term->requirements.count + (term->hostname != NULL ? 1 : 0);
    fingerprint_number(fingerprint, count);
    for (size_t i = 0; i < count; i++) {
        const struct solver_requirement *r =
            i < term->requirements.count ? &term->requirements.items[i] : term->hostname;
        fingerprint_number(fingerprint, (uint64_t)r->key << 8 | (uint64_t)r->complement << 2 |
                                            (uint64_t)r->has_gte << 1 | (uint64_t)r->has_lte);
        fingerprint_number(fingerprint, (uint64_t)r->gte);
        fingerprint_number(fingerprint, (uint64_t)r->lte);
        fingerprint_number(fingerprint, r->word_count);
        fingerprint_bytes(fingerprint, r->words, r->word_count * sizeof *r->words);
    }
}

/* Leaves out empty words at the end: how many there are depends on how many values are known so
 * far. */
static void sign_bits(struct fingerprint *fingerprint, const uint64_t *bits, size_t count)
{
    size_t words = bits_words(count);
    while (words > 0 && bits[words - 1] == 0)
        words--;
    fingerprint_number(fingerprint, words);
    fingerprint_bytes(fingerprint, bits, words * sizeof *bits);
}

static uint32_t group_number(struct solver_builder *builder, struct topology_group *group,
                             const struct toleration_list *tolerations)
{
    struct solver_problem *problem = builder->problem;
    group->namespace_count = intern_count(&problem->namespaces);
    group->hostname = group->key == problem->hostname_key;
    size_t value_count = solver_names_value_count(problem->names, group->key);
    group->count_size = group->hostname ? problem->nodes.count : value_count;
    uint64_t *domains = group->hostname ? NULL
                                        : universe(problem, group->key, tolerations,
                                                   group->filter_prefers, value_count);
    struct fingerprint *fingerprint = &builder->scratch;
    fingerprint->size = 0;
    fingerprint_number(fingerprint, (uint64_t)group->kind << 1 | (uint64_t)group->inverse);
    fingerprint_number(fingerprint, (uint64_t)group->key << 32 | group->selector);
    fingerprint_number(fingerprint,
                       (uint64_t)(uint32_t)group->max_skew << 32 | (uint32_t)group->min_domains);
    fingerprint_number(fingerprint, group->namespace_selector);
    fingerprint_number(fingerprint, group->also_count);
    for (size_t i = 0; i < group->also_count; i++)
        fingerprint_number(fingerprint, group->also[i]);
    sign_bits(fingerprint, group->namespaces, group->namespace_count);
    fingerprint_number(fingerprint, group->filter_tolerations == NULL
                                        ? SOLVER_NONE
                                        : group->filter_tolerations->number);
    fingerprint_number(fingerprint,
                       (uint64_t)group->filter_term_count << 1 | (uint64_t)group->filter_prefers);
    for (size_t i = 0; i < group->filter_term_count; i++)
        sign_term(fingerprint, &group->filter_terms[i]);
    if (domains != NULL)
        sign_bits(fingerprint, domains, value_count);
    bool added = false;
    uint32_t number =
        intern_number(&problem->group_fingerprints, fingerprint->bytes, fingerprint->size, &added);
    if (!added)
        return number;
    group->counts = ARENA_ARRAY(problem->arena, group->count_size, int32_t);
    for (size_t i = 0; i < group->count_size && domains != NULL; i++)
        group->counts[i] = bits_has(domains, i) ? 0 : -1;
    make_filter(problem, group);
    *LIST_PUSH(problem->arena, &problem->groups) = *group;
    if (group->inverse)
        *LIST_PUSH(problem->arena, &problem->inverse_groups) = number;
    return number;
}

uint32_t topology_group_of_spread(struct solver_builder *builder, const struct shape *shape,
                                  const struct spread *spread,
                                  const struct topology_node_filter *filter)
{
    struct solver_problem *problem = builder->problem;
    uint64_t *namespaces =
        ARENA_ARRAY(problem->arena, bits_words(intern_count(&problem->namespaces)), uint64_t);
    bits_add(namespaces, shape->namespace);
    struct topology_group group = {
        .kind = TOPOLOGY_SPREAD,
        .key = spread->key,
        .max_skew = spread->max_skew,
        .min_domains = spread->min_domains,
        .selector = spread->selector,
        .namespaces = namespaces,
        .namespace_selector = SOLVER_NONE,
        .filter_tolerations = spread->honor_taints ? &shape->tolerations : NULL,
        .filter_prefers = filter->prefer,
    };
    if (spread->honor_affinity) {
        bool limited = shape->selector.requirements.count > 0 || shape->selector.hostname != NULL;
        size_t left = shape->required_count - filter->required_from;
        group.filter_terms = left > 0 ? shape->required + filter->required_from : &shape->selector;
        group.filter_term_count = left > 0 ? left : limited;
    }
    return group_number(builder, &group, group.filter_tolerations);
}

static struct label_list labels_of_namespace(const struct solver_problem *problem, size_t namespace)
{
    return namespace < problem->namespace_labels.count ? problem->namespace_labels.items[namespace]
                                                       : (struct label_list){0};
}

static const uint64_t *namespaces_of(const struct solver_problem *problem,
                                     const struct shape *shape, const struct pod_affinity *affinity)
{
    size_t count = intern_count(&problem->namespaces);
    uint64_t *bits = ARENA_ARRAY(problem->arena, bits_words(count), uint64_t);
    if (affinity->namespace_count == 0 && affinity->namespace_selector == SOLVER_NONE)
        bits_add(bits, shape->namespace);
    for (size_t i = 0; i < affinity->namespace_count; i++)
        bits_add(bits, affinity->namespaces[i]);
    if (affinity->namespace_selector == SOLVER_NONE)
        return bits;
    const struct selector *selector = &problem->selectors.items[affinity->namespace_selector];
    for (size_t i = 0; i < count; i++)
        if (selector_selects(selector, labels_of_namespace(problem, i)))
            bits_add(bits, i);
    return bits;
}

static struct topology_group group_of_affinity(const struct solver_builder *builder,
                                               const struct shape *shape,
                                               const struct pod_affinity *affinity)
{
    return (struct topology_group){
        .kind = affinity->anti ? TOPOLOGY_POD_ANTI_AFFINITY : TOPOLOGY_POD_AFFINITY,
        .key = affinity->key,
        .selector = affinity->selector,
        .namespaces = namespaces_of(builder->problem, shape, affinity),
        .namespace_selector = affinity->namespace_selector,
    };
}

uint32_t topology_group_of_affinity(struct solver_builder *builder, const struct shape *shape,
                                    const struct pod_affinity *affinity, bool inverse)
{
    struct topology_group group = group_of_affinity(builder, shape, affinity);
    group.inverse = inverse;
    return group_number(builder, &group, &shape->tolerations);
}

uint32_t topology_group_of_joint_affinity(struct solver_builder *builder, const struct shape *shape,
                                          const struct pod_affinity *affinity, const uint32_t *also,
                                          size_t also_count)
{
    struct topology_group group = group_of_affinity(builder, shape, affinity);
    group.also = also;
    group.also_count = also_count;
    return group_number(builder, &group, &shape->tolerations);
}

/* ---- which pods a group selects ---- */

static bool means_namespace(const struct solver_problem *problem,
                            const struct topology_group *group, uint32_t namespace)
{
    if (namespace < group->namespace_count)
        return bits_has(group->namespaces, namespace);
    /* A namespace that was added later. */
    return group->namespace_selector != SOLVER_NONE &&
           selector_selects(&problem->selectors.items[group->namespace_selector],
                            labels_of_namespace(problem, namespace));
}

bool topology_group_selects(const struct solver_problem *problem,
                            const struct topology_group *group, const struct label_class *class)
{
    if (!means_namespace(problem, group, class->namespace) ||
        !selector_selects(&problem->selectors.items[group->selector], class->labels))
        return false;
    for (size_t i = 0; i < group->also_count; i++)
        if (!topology_group_selects(problem, &problem->groups.items[group->also[i]], class))
            return false;
    return true;
}

/* Whether it counts running pods of the class. */
static bool lists(const struct solver_problem *problem, const struct topology_group *group,
                  const struct label_class *class)
{
    if (problem->selectors.items[group->selector].absent && !group->inverse &&
        group->also_count == 0)
        return means_namespace(problem, group, class->namespace);
    return topology_group_selects(problem, group, class);
}

void class_kept_away(struct solver_problem *problem, struct label_class *class)
{
    for (size_t i = 0; i < problem->inverse_groups.count; i++) {
        uint32_t number = problem->inverse_groups.items[i];
        if (topology_group_selects(problem, &problem->groups.items[number], class))
            *LIST_PUSH(problem->arena, &class->kept_away_by) = number;
    }
}

/* ---- counting the pods that run in the cluster (docs/reference/karpenter.md 3.3) ---- */

static uint32_t domain_of(const struct solver_problem *problem, const struct topology_group *group,
                          uint32_t node)
{
    if (group->hostname)
        return node;
    const uint32_t *values = written_values(problem, group->key);
    return values == NULL ? SOLVER_NONE : values[node];
}

/* Nodes may have domains that no pool has. Karpenter does not register these for inverse groups: a
 * domain that only nodes have counts as taken there. */
static bool registers_nodes(const struct solver_problem *problem,
                            const struct topology_group *group)
{
    return !group->inverse || settings_optimize(&problem->settings);
}

static bool registers_node(const struct solver_problem *problem, const struct topology_group *group,
                           uint32_t node)
{
    return registers_nodes(problem, group) && !problem->nodes.items[node].leaving &&
           topology_group_counts_node(group, node);
}

/* Counts one pod on a node. */
static void count_one(const struct solver_problem *problem, struct topology_group *group,
                      uint32_t node)
{
    uint32_t domain =
        topology_group_counts_node(group, node) ? domain_of(problem, group, node) : SOLVER_NONE;
    if (domain == SOLVER_NONE)
        return;
    int32_t before = group->counts[domain];
    group->occupied += before <= 0;
    group->counts[domain] = before <= 0 ? 1 : before + 1;
}

static void register_nodes(const struct solver_problem *problem, struct topology_group *group)
{
    for (uint32_t i = 0; i < problem->nodes.count && !group->hostname; i++) {
        uint32_t domain =
            registers_node(problem, group, i) ? domain_of(problem, group, i) : SOLVER_NONE;
        if (domain != SOLVER_NONE && group->counts[domain] < 0)
            group->counts[domain] = 0;
    }
}

static void count_class(const struct solver_problem *problem, struct topology_group *group,
                        size_t class)
{
    if (class >= problem->started_class_count ||
        problem->class_starts[class] == problem->class_starts[class + 1])
        return;
    for (size_t i = problem->class_starts[class]; i < problem->class_starts[class + 1]; i++)
        count_one(problem, group, problem->class_nodes[i]);
}

void topology_group_count(struct solver_problem *problem, struct topology_group *group)
{
    register_nodes(problem, group);
    for (size_t i = 0; i < problem->label_classes.count && !group->inverse; i++)
        if (lists(problem, group, &problem->label_classes.items[i]))
            count_class(problem, group, i);
}

/* Running pods with required anti-affinity keep others away from their domain. */
static void count_inverse(struct solver_problem *problem)
{
    for (size_t i = 0; i < problem->pods.count; i++) {
        const struct pod *pod = &problem->pods.items[i];
        const struct shape *shape = &problem->shapes.items[pod->shape];
        arena_tick(problem->arena, 1 + shape->inverse_group_count);
        for (size_t j = 0; j < shape->inverse_group_count; j++) {
            struct topology_group *group = &problem->groups.items[shape->inverse_groups[j]];
            bool runs = pod->node != SOLVER_NONE;
            group->running_owners += runs ? 1 : 0;
            group->pending_owners += runs ? 0 : 1;
            if (runs)
                count_one(problem, group, pod->node);
        }
    }
}

void topology_groups_count(struct solver_problem *problem)
{
    for (uint32_t i = 0; i < problem->groups.count; i++) {
        struct topology_group *group = &problem->groups.items[i];
        register_nodes(problem, group);
        for (size_t j = 0; j < problem->label_classes.count; j++) {
            struct label_class *class = &problem->label_classes.items[j];
            arena_tick(problem->arena, 1);
            if (!lists(problem, group, class))
                continue;
            if (group->inverse) {
                *LIST_PUSH(problem->arena, &class->kept_away_by) = i;
                continue;
            }
            bool absent = problem->selectors.items[group->selector].absent;
            if (absent)
                *LIST_PUSH(problem->arena, &class->listed_by) = i;
            else
                *LIST_PUSH(problem->arena, &class->counted_by) = i;
            count_class(problem, group, j);
        }
    }
    if (problem->inverse_groups.count > 0)
        count_inverse(problem);
}
