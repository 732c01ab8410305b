/* Shapes: pods with equal fields, as far as the solver looks at them, have one shape. */
#include <string.h>

#include "solver/problem.h"

#define ALTERNATIVES_MAX 4096 /* combinations of the volumes of one pod */

/* ---- equal shapes ---- */

static void sign_expressions(struct fingerprint *s, struct solver_expressions expressions)
{
    fingerprint_number(s, expressions.count);
    for (size_t i = 0; i < expressions.count; i++) {
        const struct solver_expression *e = &expressions.items[i];
        fingerprint_string(s, e->key);
        fingerprint_number(s, (uint64_t)e->op);
        fingerprint_number(s, e->value_count);
        for (size_t j = 0; j < e->value_count; j++)
            fingerprint_string(s, e->values[j]);
    }
}

static void sign_labels(struct fingerprint *s, struct solver_labels labels)
{
    fingerprint_number(s, labels.count);
    for (size_t i = 0; i < labels.count; i++) {
        fingerprint_string(s, labels.items[i].key);
        fingerprint_string(s, labels.items[i].value);
    }
}

static void sign_strings(struct fingerprint *s, const char *const *strings, size_t count)
{
    fingerprint_number(s, count);
    for (size_t i = 0; i < count; i++)
        fingerprint_string(s, strings[i]);
}

static void sign_selector(struct fingerprint *s, const struct solver_selector *selector)
{
    fingerprint_number(s, (uint64_t)selector->kind);
    if (selector->kind == SOLVER_SELECTOR_GIVEN)
        sign_expressions(s, selector->expressions);
}

static uint64_t operator_bits(const struct solver_toleration *toleration)
{
    return (uint64_t)toleration->exists | (uint64_t)toleration->gt << 1 |
           (uint64_t)toleration->lt << 2;
}

static void sign_nodes(struct fingerprint *s, const struct solver_shape *shape)
{
    sign_labels(s, shape->node_selector);
    fingerprint_number(s, shape->required_count);
    for (size_t i = 0; i < shape->required_count; i++)
        sign_expressions(s, shape->required[i]);
    fingerprint_number(s, shape->preferred_count);
    for (size_t i = 0; i < shape->preferred_count; i++) {
        fingerprint_number(s, (uint64_t)shape->preferred[i].weight);
        sign_expressions(s, shape->preferred[i].expressions);
    }
    fingerprint_number(s, shape->toleration_count);
    for (size_t i = 0; i < shape->toleration_count; i++) {
        const struct solver_toleration *t = &shape->tolerations[i];
        fingerprint_string(s, t->key);
        fingerprint_string(s, t->value);
        fingerprint_number(s, operator_bits(t) << 8 | (uint64_t)t->any_effect << 4 |
                                  (uint64_t)t->effect);
    }
}

static void sign_topology(struct fingerprint *s, const struct solver_shape *shape)
{
    fingerprint_number(s, shape->spread_count);
    for (size_t i = 0; i < shape->spread_count; i++) {
        const struct solver_spread *t = &shape->spreads[i];
        fingerprint_string(s, t->key);
        fingerprint_number(s, (uint64_t)(uint32_t)t->max_skew << 32 | (uint32_t)t->min_domains);
        fingerprint_number(s, (uint64_t)t->hard << 2 | (uint64_t)t->ignore_node_affinity << 1 |
                                  (uint64_t)t->honor_node_taints);
        sign_selector(s, &t->selector);
        sign_strings(s, t->match_label_keys, t->match_label_key_count);
    }
    fingerprint_number(s, shape->affinity_count);
    for (size_t i = 0; i < shape->affinity_count; i++) {
        const struct solver_pod_affinity *t = &shape->affinities[i];
        fingerprint_string(s, t->key);
        fingerprint_number(s, (uint64_t)(uint32_t)t->weight << 2 | (uint64_t)t->anti << 1 |
                                  (uint64_t)t->required);
        sign_selector(s, &t->selector);
        sign_strings(s, t->namespaces, t->namespace_count);
        sign_selector(s, &t->namespace_selector);
    }
}

static void sign_shape(struct fingerprint *s, const struct solver_shape *shape)
{
    fingerprint_string(s, shape->namespace);
    sign_labels(s, shape->labels);
    fingerprint_number(s, shape->requests.count);
    for (size_t i = 0; i < shape->requests.count; i++) {
        fingerprint_number(s, shape->requests.items[i].resource);
        fingerprint_number(s, (uint64_t)shape->requests.items[i].quantity);
    }
    sign_nodes(s, shape);
    sign_topology(s, shape);
    fingerprint_number(s, shape->host_port_count);
    for (size_t i = 0; i < shape->host_port_count; i++) {
        fingerprint_string(s, shape->host_ports[i].ip);
        fingerprint_string(s, shape->host_ports[i].protocol);
        fingerprint_number(s, shape->host_ports[i].port);
        fingerprint_number(s, shape->host_ports[i].unseen);
    }
    fingerprint_number(s, shape->volume_count);
    for (size_t i = 0; i < shape->volume_count; i++) {
        fingerprint_number(s, shape->volumes[i].alternative_count);
        fingerprint_number(s, shape->volumes[i].local);
        for (size_t j = 0; j < shape->volumes[i].alternative_count; j++)
            sign_expressions(s, shape->volumes[i].alternatives[j]);
    }
    fingerprint_number(s, shape->needs_devices);
}

/* ---- reading a shape ---- */

static void read_nodes(struct solver_problem *problem, const struct solver_shape *given,
                       struct shape *shape)
{
    for (size_t i = 0; i < given->node_selector.count; i++) {
        const struct solver_label *label = &given->node_selector.items[i];
        struct solver_expression expression = {label->key, SOLVER_IN, &label->value, 1, 0};
        struct term one = term_make(problem, (struct solver_expressions){&expression, 1});
        term_add(problem, &shape->selector, &one);
    }
    struct term *required = ARENA_ARRAY(problem->arena, given->required_count, struct term);
    for (size_t i = 0; i < given->required_count; i++) {
        struct term own = term_make(problem, given->required[i]);
        term_add(problem, &required[i], &shape->selector);
        term_add(problem, &required[i], &own);
    }
    shape->required = required;
    shape->required_count = given->required_count;
    struct preferred_term *preferred =
        ARENA_ARRAY(problem->arena, given->preferred_count, struct preferred_term);
    for (size_t i = 0; i < given->preferred_count; i++)
        preferred[i] = (struct preferred_term){given->preferred[i].weight,
                                               term_make(problem, given->preferred[i].expressions)};
    shape->preferred = preferred;
    shape->preferred_count = given->preferred_count;
}

static struct toleration_list read_tolerations(struct solver_builder *builder,
                                               const struct solver_shape *given)
{
    struct solver_problem *problem = builder->problem;
    struct toleration *items =
        ARENA_ARRAY(problem->arena, given->toleration_count, struct toleration);
    struct fingerprint fingerprint = {.arena = problem->arena};
    for (size_t i = 0; i < given->toleration_count; i++) {
        const struct solver_toleration *t = &given->tolerations[i];
        items[i] = (struct toleration){
            .key = *t->key == '\0' ? SOLVER_NONE : intern_string(&problem->words, t->key, NULL),
            .value = intern_string(&problem->words, t->value, NULL),
            .exists = t->exists,
            .gt = t->gt,
            .lt = t->lt,
            .any_effect = t->any_effect,
            .effect = t->any_effect ? SOLVER_NO_SCHEDULE : t->effect,
        };
        items[i].is_number = text_to_canonical_int64(text_of(t->value), &items[i].number);
        fingerprint_number(&fingerprint, (uint64_t)items[i].key << 32 | items[i].value);
        fingerprint_number(&fingerprint, operator_bits(t) << 8 | (uint64_t)t->any_effect << 4 |
                                             (uint64_t)items[i].effect);
    }
    uint32_t number =
        intern_number(&problem->toleration_fingerprints, fingerprint.bytes, fingerprint.size, NULL);
    return (struct toleration_list){number, items, given->toleration_count};
}

static void read_topology(struct solver_builder *builder, const struct solver_shape *given,
                          struct shape *shape)
{
    struct solver_problem *problem = builder->problem;
    struct label_list own = problem->label_classes.items[shape->label_class].labels;
    struct spread *spreads = ARENA_ARRAY(problem->arena, given->spread_count, struct spread);
    for (size_t i = 0; i < given->spread_count; i++) {
        const struct solver_spread *t = &given->spreads[i];
        spreads[i] = (struct spread){
            .key = solver_names_key(problem->names, t->key, strlen(t->key)),
            .selector = selector_add(builder, &t->selector, own, t->match_label_keys,
                                     t->match_label_key_count),
            .max_skew = t->max_skew,
            .min_domains = t->min_domains,
            .hard = t->hard,
            .honor_affinity = !t->ignore_node_affinity,
            .honor_taints = t->honor_node_taints,
        };
    }
    struct pod_affinity *affinities =
        ARENA_ARRAY(problem->arena, given->affinity_count, struct pod_affinity);
    for (size_t i = 0; i < given->affinity_count; i++) {
        const struct solver_pod_affinity *t = &given->affinities[i];
        uint32_t *namespaces = ARENA_ARRAY(problem->arena, t->namespace_count, uint32_t);
        for (size_t j = 0; j < t->namespace_count; j++)
            namespaces[j] = intern_string(&problem->namespaces, t->namespaces[j], NULL);
        affinities[i] = (struct pod_affinity){
            .anti = t->anti,
            .required = t->required,
            .weight = t->weight,
            .key = solver_names_key(problem->names, t->key, strlen(t->key)),
            .selector = selector_add(builder, &t->selector, own, NULL, 0),
            .namespaces = namespaces,
            .namespace_count = t->namespace_count,
            .namespace_selector = t->namespace_selector.kind == SOLVER_SELECTOR_ABSENT
                                      ? SOLVER_NONE
                                      : selector_add(builder, &t->namespace_selector, own, NULL, 0),
        };
    }
    shape->spreads = spreads;
    shape->spread_count = given->spread_count;
    shape->affinities = affinities;
    shape->affinity_count = given->affinity_count;
}

static void read_ports(struct solver_problem *problem, const struct solver_shape *given,
                       struct shape *shape)
{
    static const char *const every[] = {"", "0.0.0.0", "::"};
    struct host_port *ports = ARENA_ARRAY(problem->arena, given->host_port_count, struct host_port);
    for (size_t i = 0; i < given->host_port_count; i++) {
        const struct solver_host_port *p = &given->host_ports[i];
        ports[i].ip = intern_string(&problem->words, p->ip, NULL);
        for (size_t j = 0; j < COUNT_OF(every); j++)
            if (strcmp(p->ip, every[j]) == 0)
                ports[i].ip = SOLVER_NONE;
        const char *protocol = *p->protocol == '\0' ? "TCP" : p->protocol;
        ports[i].protocol = intern_string(&problem->words, protocol, NULL);
        ports[i].port = p->port;
        ports[i].unseen = p->unseen;
    }
    shape->ports = ports;
    shape->port_count = given->host_port_count;
}

/* ---- volumes ---- */

struct terms {
    struct term *items;
    size_t count, capacity;
};

static bool hostnames_meet(struct solver_problem *problem, const struct term *a,
                           const struct term *b)
{
    return a->hostname == NULL || b->hostname == NULL ||
           solver_requirement_intersects(problem->names, a->hostname, b->hostname);
}

/* Combines the terms found so far with the alternatives of one more volume. Combinations that
 * contradict themselves are dropped, unless all do. */
static bool combine(struct solver_problem *problem, struct terms *found, const struct term *terms,
                    size_t count, struct error *error)
{
    for (int pruned = 1; pruned >= 0; pruned--) {
        struct terms next = {0};
        for (size_t i = 0; i < found->count; i++)
            for (size_t j = 0; j < count; j++) {
                if (pruned == 1 &&
                    (!solver_requirements_intersect(problem->names, &found->items[i].requirements,
                                                    &terms[j].requirements, NULL) ||
                     !hostnames_meet(problem, &found->items[i], &terms[j])))
                    continue;
                if (next.count == ALTERNATIVES_MAX)
                    return error_set(error, ERROR_LIMIT, NOWHERE,
                                     "the volumes of one pod can be combined in more than %d ways",
                                     ALTERNATIVES_MAX);
                struct term *both = LIST_PUSH(problem->arena, &next);
                term_add(problem, both, &found->items[i]);
                term_add(problem, both, &terms[j]);
            }
        if (next.count > 0) {
            *found = next;
            return true;
        }
    }
    return true;
}

static bool read_volumes(struct solver_problem *problem, const struct solver_shape *given,
                         struct shape *shape, struct error *error)
{
    const struct term **volumes =
        ARENA_ARRAY(problem->arena, given->volume_count, const struct term *);
    size_t *counts = ARENA_ARRAY(problem->arena, given->volume_count, size_t);
    struct terms found = {0};
    bool others = false;
    for (size_t i = 0; i < given->volume_count; i++) {
        const struct solver_volume *volume = &given->volumes[i];
        if (volume->alternative_count == 0)
            continue;
        struct term *terms = ARENA_ARRAY(problem->arena, volume->alternative_count, struct term);
        for (size_t j = 0; j < volume->alternative_count; j++) {
            terms[j] = term_make(problem, volume->alternatives[j]);
            shape->local_hosts |= volume->local && terms[j].hostname != NULL;
            others |= !volume->local && terms[j].hostname != NULL;
        }
        volumes[i] = terms;
        counts[i] = volume->alternative_count;
        if (found.count == 0)
            (void)LIST_PUSH(problem->arena, &found);
        if (!combine(problem, &found, terms, counts[i], error))
            return false;
    }
    shape->volume_terms = volumes;
    shape->volume_term_counts = counts;
    shape->volume_count = given->volume_count;
    shape->volumes = found.items;
    shape->volume_alternative_count = found.count;
    for (size_t i = 0; i < found.count; i++)
        others |= hostname_allows_new(found.items[i].hostname);
    shape->local_hosts &= !others;
    return true;
}

bool shape_add(struct solver_builder *builder, const struct solver_shape *given, uint32_t *number,
               struct error *error)
{
    struct solver_problem *problem = builder->problem;
    struct fingerprint *fingerprint = &builder->scratch;
    fingerprint->size = 0;
    sign_shape(fingerprint, given);
    *number = intern_find(&problem->shape_fingerprints, fingerprint->bytes, fingerprint->size);
    if (*number != SOLVER_NONE)
        return true;
    struct shape shape = {
        .namespace = intern_string(&problem->namespaces, given->namespace, NULL),
        .needs_devices = given->needs_devices,
    };
    shape.label_class = label_class_add(builder, shape.namespace, given->labels);
    struct solver_amount *amounts =
        ARENA_ARRAY(problem->arena, given->requests.count, struct solver_amount);
    if (given->requests.count > 0)
        memcpy(amounts, given->requests.items, given->requests.count * sizeof *amounts);
    shape.amounts = (struct solver_amounts){amounts, given->requests.count};
    read_nodes(problem, given, &shape);
    shape.tolerations = read_tolerations(builder, given);
    read_topology(builder, given, &shape);
    read_ports(problem, given, &shape);
    if (!read_volumes(problem, given, &shape, error))
        return false;
    *number =
        intern_number(&problem->shape_fingerprints, fingerprint->bytes, fingerprint->size, NULL);
    shape.number = *number;
    *LIST_PUSH(problem->arena, &problem->shapes) = shape;
    return true;
}
