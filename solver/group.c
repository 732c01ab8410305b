#include <string.h>

#include "solver/problem.h"

/* ---- the domains pools can make (Karpenter semantics 3.2) ---- */

/* Adds to bits the values a node of the pool may carry under a key. */
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
        for (size_t w = 0; w < problem->row_words; w++)
            if ((index->values[v][w] & pool->all_rows[w]) != 0) {
                bits_add(bits, v);
                break;
            }
    }
}

/* Of every pool, or of those whose taints are tolerated. */
static uint64_t *universe(const struct solver_problem *problem, uint32_t key,
                          const struct toleration_list *tolerations, size_t value_count)
{
    uint64_t *bits = ARENA_ARRAY(problem->arena, bits_words(value_count) + 1, uint64_t);
    for (size_t i = 0; i < problem->pools.count; i++) {
        const struct pool *pool = &problem->pools.items[i];
        if (tolerations == NULL || taints_tolerated(pool->taints, tolerations, false, NULL))
            add_pool_domains(problem, pool, key, bits, value_count);
    }
    return bits;
}

/* ---- which nodes count ---- */

static bool filter_passes(const struct solver_problem *problem, const struct group *group,
                          const struct machine *node)
{
    if (group->filter_tolerations != NULL &&
        !taints_tolerated(node->taints, group->filter_tolerations, false, NULL))
        return false;
    for (size_t i = 0; i < group->filter_term_count; i++)
        if (hostname_allows(problem, group->filter_terms[i].hostname, node->hostname) &&
            compatible(problem, &node->labels, &group->filter_terms[i].requirements, true, NULL))
            return true;
    return group->filter_term_count == 0;
}

static void make_filter(const struct solver_problem *problem, struct group *group)
{
    if (group->filter_term_count == 0 && group->filter_tolerations == NULL)
        return;
    uint64_t *nodes = ARENA_ARRAY(problem->arena, problem->node_words, uint64_t);
    for (size_t i = 0; i < problem->nodes.count; i++)
        if (filter_passes(problem, group, &problem->nodes.items[i]))
            bits_add(nodes, i);
    group->filter_nodes = nodes;
}

/* ---- making groups, each once ---- */

static void sign_term(struct signature *signature, const struct term *term)
{
    size_t count = term->requirements.count + (term->hostname != NULL ? 1 : 0);
    signature_number(signature, count);
    for (size_t i = 0; i < count; i++) {
        const struct solver_requirement *r =
            i < term->requirements.count ? &term->requirements.items[i] : term->hostname;
        signature_number(signature, (uint64_t)r->key << 8 | (uint64_t)r->complement << 2 |
                                        (uint64_t)r->has_gte << 1 | (uint64_t)r->has_lte);
        signature_number(signature, (uint64_t)r->gte);
        signature_number(signature, (uint64_t)r->lte);
        signature_number(signature, r->word_count);
        signature_bytes(signature, r->words, r->word_count * sizeof *r->words);
    }
}

static uint32_t group_number(struct solver_builder *builder, struct group *group,
                             const struct toleration_list *tolerations)
{
    struct solver_problem *problem = builder->problem;
    group->hostname = group->key == problem->hostname_key;
    size_t value_count = solver_names_value_count(problem->names, group->key);
    group->count_size = group->hostname ? problem->nodes.count : value_count;
    uint64_t *domains =
        group->hostname ? NULL : universe(problem, group->key, tolerations, value_count);
    struct signature *signature = &builder->scratch;
    signature->size = 0;
    signature_number(signature, (uint64_t)group->kind << 1 | (uint64_t)group->inverse);
    signature_number(signature, (uint64_t)group->key << 32 | group->selector);
    signature_number(signature,
                     (uint64_t)(uint32_t)group->max_skew << 32 | (uint32_t)group->min_domains);
    signature_bytes(signature, group->namespaces,
                    bits_words(problem->namespaces.count) * sizeof *group->namespaces);
    signature_number(signature, group->filter_tolerations == NULL
                                    ? SOLVER_NONE
                                    : group->filter_tolerations->number);
    signature_number(signature, group->filter_term_count);
    for (size_t i = 0; i < group->filter_term_count; i++)
        sign_term(signature, &group->filter_terms[i]);
    if (domains != NULL)
        signature_bytes(signature, domains, bits_words(value_count) * sizeof *domains);
    bool added = false;
    uint32_t number =
        intern_number(&builder->group_signatures, signature->bytes, signature->size, &added);
    if (!added)
        return number;
    group->counts = ARENA_ARRAY(problem->arena, group->count_size, int32_t);
    for (size_t i = 0; i < group->count_size && domains != NULL; i++)
        group->counts[i] = bits_has(domains, i) ? 0 : -1;
    make_filter(problem, group);
    *LIST_PUSH(problem->arena, &problem->groups) = *group;
    return number;
}

uint32_t group_of_spread(struct solver_builder *builder, const struct shape *shape,
                         const struct spread *spread)
{
    struct solver_problem *problem = builder->problem;
    uint64_t *namespaces =
        ARENA_ARRAY(problem->arena, bits_words(problem->namespaces.count), uint64_t);
    bits_add(namespaces, shape->namespace);
    struct group group = {
        .kind = GROUP_SPREAD,
        .key = spread->key,
        .max_skew = spread->max_skew,
        .min_domains = spread->min_domains,
        .selector = spread->selector,
        .namespaces = namespaces,
        .filter_tolerations = spread->honor_taints ? &shape->tolerations : NULL,
    };
    if (spread->honor_affinity) {
        bool limited = shape->selector.requirements.count > 0 || shape->selector.hostname != NULL;
        group.filter_terms = shape->required_count > 0 ? shape->required : &shape->selector;
        group.filter_term_count = shape->required_count > 0 ? shape->required_count : limited;
    }
    return group_number(builder, &group, group.filter_tolerations);
}

static const uint64_t *namespaces_of(const struct solver_problem *problem,
                                     const struct shape *shape, const struct pod_affinity *affinity)
{
    uint64_t *bits = ARENA_ARRAY(problem->arena, bits_words(problem->namespaces.count), uint64_t);
    if (affinity->namespace_count == 0 && affinity->namespace_selector == SOLVER_NONE)
        bits_add(bits, shape->namespace);
    for (size_t i = 0; i < affinity->namespace_count; i++)
        bits_add(bits, affinity->namespaces[i]);
    if (affinity->namespace_selector == SOLVER_NONE)
        return bits;
    const struct selector *selector = &problem->selectors.items[affinity->namespace_selector];
    for (size_t i = 0; i < problem->namespaces.count; i++) {
        struct label_list labels = {0};
        if (i < problem->namespace_labels.count)
            labels = problem->namespace_labels.items[i];
        if (selector_selects(selector, labels))
            bits_add(bits, i);
    }
    return bits;
}

uint32_t group_of_affinity(struct solver_builder *builder, const struct shape *shape,
                           const struct pod_affinity *affinity, bool inverse)
{
    struct group group = {
        .kind = affinity->anti ? GROUP_ANTI_AFFINITY : GROUP_AFFINITY,
        .inverse = inverse,
        .key = affinity->key,
        .selector = affinity->selector,
        .namespaces = namespaces_of(builder->problem, shape, affinity),
    };
    return group_number(builder, &group, &shape->tolerations);
}

/* ---- counting what the cluster holds (Karpenter semantics 3.3) ---- */

static uint32_t domain_of(const struct group *group, const struct machine *node, uint32_t number)
{
    if (group->hostname)
        return number;
    for (size_t i = 0; i < node->raw.count; i++)
        if (node->raw.items[i].key == group->key)
            return node->raw.items[i].value;
    return SOLVER_NONE;
}

static void count_one(struct group *group, uint32_t domain)
{
    if (domain == SOLVER_NONE)
        return;
    if (group->counts[domain] < 0)
        group->counts[domain] = 0;
    if (group->counts[domain]++ == 0)
        group->occupied++;
}

static bool counts_node(const struct group *group, uint32_t node)
{
    return group->filter_nodes == NULL || bits_has(group->filter_nodes, node);
}

static void register_nodes(const struct solver_problem *problem, struct group *group)
{
    for (uint32_t i = 0; i < problem->nodes.count; i++) {
        if (!counts_node(group, i))
            continue;
        uint32_t domain = domain_of(group, &problem->nodes.items[i], i);
        if (domain != SOLVER_NONE && group->counts[domain] < 0)
            group->counts[domain] = 0;
    }
}

/* Running pods by label class: those of class i are from starts[i] to starts[i + 1]. */
static uint32_t *pods_by_class(const struct solver_problem *problem, size_t *starts)
{
    for (size_t i = 0; i < problem->pods.count; i++)
        if (problem->pods.items[i].node != SOLVER_NONE)
            starts[problem->shapes.items[problem->pods.items[i].shape].label_class + 1]++;
    for (size_t i = 0; i < problem->label_classes.count; i++)
        starts[i + 1] += starts[i];
    uint32_t *pods = ARENA_ARRAY(problem->arena, starts[problem->label_classes.count], uint32_t);
    size_t *next = ARENA_ARRAY(problem->arena, problem->label_classes.count + 1, size_t);
    memcpy(next, starts, (problem->label_classes.count + 1) * sizeof *next);
    for (uint32_t i = 0; i < problem->pods.count; i++)
        if (problem->pods.items[i].node != SOLVER_NONE)
            pods[next[problem->shapes.items[problem->pods.items[i].shape].label_class]++] = i;
    return pods;
}

static void count_class(const struct solver_problem *problem, struct group *group,
                        const uint32_t *pods, size_t pod_count)
{
    for (size_t i = 0; i < pod_count; i++) {
        const struct pod *pod = &problem->pods.items[pods[i]];
        if (!pod->leaving && counts_node(group, pod->node))
            count_one(group, domain_of(group, &problem->nodes.items[pod->node], pod->node));
    }
}

/* Running pods with required anti-affinity of their own keep others away. */
static void count_inverse(struct solver_problem *problem)
{
    for (size_t i = 0; i < problem->pods.count; i++) {
        const struct pod *pod = &problem->pods.items[i];
        const struct shape *shape = &problem->shapes.items[pod->shape];
        for (size_t j = 0; j < shape->inverse_group_count && pod->node != SOLVER_NONE; j++) {
            struct group *group = &problem->groups.items[shape->inverse_groups[j]];
            count_one(group, domain_of(group, &problem->nodes.items[pod->node], pod->node));
        }
    }
}

void groups_count(struct solver_problem *problem)
{
    size_t class_count = problem->label_classes.count;
    size_t *starts = ARENA_ARRAY(problem->arena, class_count + 1, size_t);
    const uint32_t *pods = pods_by_class(problem, starts);
    for (uint32_t i = 0; i < problem->groups.count; i++) {
        struct group *group = &problem->groups.items[i];
        const struct selector *selector = &problem->selectors.items[group->selector];
        register_nodes(problem, group);
        for (size_t j = 0; j < class_count; j++) {
            struct label_class *class = &problem->label_classes.items[j];
            if (!bits_has(group->namespaces, class->namespace))
                continue;
            if (selector->absent && !group->inverse)
                count_class(problem, group, pods + starts[j], starts[j + 1] - starts[j]);
            if (!selector_selects(selector, class->labels))
                continue;
            if (group->inverse) {
                *LIST_PUSH(problem->arena, &class->kept_away_by) = i;
            } else {
                *LIST_PUSH(problem->arena, &class->counted_by) = i;
                count_class(problem, group, pods + starts[j], starts[j + 1] - starts[j]);
            }
        }
    }
    count_inverse(problem);
}
