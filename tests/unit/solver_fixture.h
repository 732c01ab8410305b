/* The fixture of the solver's tests: a small cluster (solver_world.h), rounds of the solver over it
 * (solver_round.h), and checks of where its pods are placed. */
#ifndef TAFFRAIL_UNIT_SOLVER_FIXTURE_H
#define TAFFRAIL_UNIT_SOLVER_FIXTURE_H

#include "simulation/reason_words.h"
#include "solver_round.h"

#define EXPECT_INT(actual, expected) \
    expect_int((long long)(actual), (long long)(expected), #actual, __FILE__, __LINE__)
#define EXPECT_TEXT(actual, expected) expect_text((actual), (expected), __FILE__, __LINE__)
/* How many pods of a span are placed. */
#define EXPECT_SCHEDULED(span, expected) EXPECT_INT(scheduled(span), (expected))
#define EXPECT_ALL_SCHEDULED(span) EXPECT_INT(scheduled(span), (span).count)
#define EXPECT_PLACED(pod) EXPECT_INT(node_of(pod) != NULL, 1)
#define EXPECT_PENDING(pod) EXPECT_INT(node_of(pod) != NULL, 0)
/* On how many nodes the pods of a span are. */
#define EXPECT_NODES(span, expected) EXPECT_INT(nodes_used(span), (expected))
#define EXPECT_SAME_NODE(a, b) EXPECT_INT(same_node((a), (b)), 1)
#define EXPECT_OTHER_NODE(a, b) EXPECT_INT(same_node((a), (b)), 0)
/* The label of a bound pod's node; "": none. */
#define EXPECT_LABEL(pod, key, expected) EXPECT_TEXT(label_of((pod), (key)), (expected))
/* "1 1 2": the numbers of matching pods in the domains that have any, sorted. */
#define EXPECT_SKEW(key, selector, expected) EXPECT_TEXT(skew((key), (selector)), (expected))

static inline void expect_int(long long actual, long long expected, const char *expression,
                              const char *file, int line)
{
    if (actual != expected && world.title != NULL)
        fprintf(stderr, "in \"%s\":\n", world.title);
    unit_assert_int(actual, expected, expression, file, line);
}

static inline void expect_text(const char *actual, const char *expected, const char *file, int line)
{
    if (strcmp(actual, expected) != 0 && world.title != NULL)
        fprintf(stderr, "in \"%s\":\n", world.title);
    unit_assert_text(text_of(actual), text_of(expected), file, line);
}

static inline size_t scheduled(struct span span)
{
    size_t count = 0;
    for (size_t i = 0; i < span.count; i++)
        count += node_of(span.first + i) != NULL;
    return count;
}

static inline bool same_node(size_t a, size_t b)
{
    const char *on_a = node_of(a), *on_b = node_of(b);
    return on_a != NULL && on_b != NULL && strcmp(on_a, on_b) == 0;
}

static inline size_t nodes_used(struct span span)
{
    size_t count = 0;
    for (size_t i = 0; i < span.count; i++) {
        bool first = node_of(span.first + i) != NULL;
        for (size_t j = 0; j < i; j++)
            first = first && !same_node(span.first + i, span.first + j);
        count += first;
    }
    return count;
}

/* After provision(), for a node by its name. */
static inline const char *node_label(const char *name, const char *key)
{
    struct text wanted = notation_key(text_of(key));
    for (size_t i = 0; name != NULL && i < world.nodes.count; i++) {
        const struct world_node *node = &world.nodes.items[i];
        if (strcmp(node->as.name, name) != 0)
            continue;
        struct solver_labels labels =
            node->type != NULL ? node->labels : notation_labels(world.arena, node->as.labels);
        for (size_t j = 0; j < labels.count; j++)
            if (text_is(wanted, labels.items[j].key))
                return labels.items[j].value;
        if (text_is(wanted, "kubernetes.io/hostname"))
            return name;
    }
    return "";
}

static inline const char *label_of(size_t pod, const char *key)
{
    const char *node = node_of(pod);
    return node == NULL ? "" : node_label(node, key);
}

static inline bool has_labels(const struct a_pod *pod, const char *selector)
{
    struct solver_labels wanted = notation_labels(world.arena, selector);
    struct solver_labels has = notation_labels(world.arena, pod->labels);
    for (size_t i = 0; i < wanted.count; i++) {
        bool found = false;
        for (size_t j = 0; j < has.count; j++)
            found = found || (strcmp(wanted.items[i].key, has.items[j].key) == 0 &&
                              strcmp(wanted.items[i].value, has.items[j].value) == 0);
        if (!found)
            return false;
    }
    return true;
}

static inline int compare_counts(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return left < right ? -1 : left > right;
}

struct counts {
    struct {
        const char *domain;
        size_t pods;
    } items[256];
    size_t count;
};

static inline struct counts domain_counts(const char *key, const char *selector)
{
    struct counts counts = {.count = 0};
    for (size_t i = 0; i < world.pods.count; i++) {
        const struct world_pod *pod = &world.pods.items[i];
        const char *domain = label_of(i, key);
        size_t at = 0;
        if (pod->gone || pod->as.leaving || domain[0] == '\0' || pod->as.namespace != NULL ||
            !has_labels(&pod->as, selector))
            continue;
        while (at < counts.count && strcmp(counts.items[at].domain, domain) != 0)
            at++;
        CU_ASSERT_TRUE_FATAL(at < 256);
        counts.items[at].domain = domain;
        counts.items[at].pods++;
        counts.count += at == counts.count;
    }
    return counts;
}

static inline const char *skew(const char *key, const char *selector)
{
    struct counts counts = domain_counts(key, selector);
    size_t sorted[256] = {0};
    for (size_t i = 0; i < counts.count; i++)
        sorted[i] = counts.items[i].pods;
    qsort(sorted, counts.count, sizeof *sorted, compare_counts);
    struct text_builder out = {.arena = world.arena};
    for (size_t i = 0; i < counts.count; i++)
        text_builder_printf(&out, i == 0 ? "%zu" : " %zu", sorted[i]);
    return counts.count == 0 ? "" : text_builder_text(&out).data;
}

/* The largest number of matching pods in one domain. */
static inline size_t fullest(const char *key, const char *selector)
{
    struct counts counts = domain_counts(key, selector);
    size_t most = 0;
    for (size_t i = 0; i < counts.count; i++)
        most = counts.items[i].pods > most ? counts.items[i].pods : most;
    return most;
}

/* The difference of the largest and the smallest number, of domains that have any. */
static inline size_t skew_range(const char *key, const char *selector)
{
    struct counts counts = domain_counts(key, selector);
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < counts.count; i++)
        least = counts.items[i].pods < least ? counts.items[i].pods : least;
    return counts.count == 0 ? 0 : fullest(key, selector) - least;
}

/* The NodeClaim of the last round that a pod was placed on; ends the test when there is none. */
static inline const struct solver_node_claim *claim_of(size_t pod)
{
    const struct solver_placement *place = &world.pods.items[pod].place;
    expect_int(place->kind, SOLVER_ON_NODE_CLAIM, "a claim holds the pod", __FILE__, __LINE__);
    CU_ASSERT_TRUE_FATAL(place->kind == SOLVER_ON_NODE_CLAIM);
    return &world.plan->claims[place->index];
}

/* "a b c": the names of a NodeClaim's types, in order. */
static inline const char *claim_types(const struct solver_node_claim *claim)
{
    struct text_builder out = {.arena = world.arena};
    for (size_t i = 0; i < claim->type_count; i++)
        text_builder_printf(&out, i == 0 ? "%s" : " %s",
                            solver_type_name(world.problem, claim->types[i]));
    return claim->type_count == 0 ? "" : text_builder_text(&out).data;
}

static inline int64_t claim_request(const struct solver_node_claim *claim, const char *resource)
{
    for (uint32_t i = 0; i < solver_resource_count(world.problem); i++)
        if (strcmp(solver_resource_name(world.problem, i), resource) == 0)
            return claim->requests[i];
    return 0;
}

/* NULL when the NodeClaim has no requirement on the key. */
static inline const struct solver_requirement *claim_requirement(
    const struct solver_node_claim *claim, const char *key)
{
    struct text wanted = notation_key(text_of(key));
    uint32_t number =
        solver_names_find_key(solver_problem_names(world.problem), wanted.data, wanted.size);
    return number == SOLVER_NONE ? NULL : solver_requirements_get(claim->requirements, number);
}

#endif
