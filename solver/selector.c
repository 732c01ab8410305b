/* Label selectors, matched against the labels of pods. */
#include <stdlib.h>
#include <string.h>

#include "solver/problem.h"

static int compare_pairs(const void *a_pointer, const void *b_pointer)
{
    const struct label_pair *a = a_pointer;
    const struct label_pair *b = b_pointer;
    return a->key < b->key ? -1 : a->key > b->key;
}

struct label_list label_list_make(struct solver_problem *problem, struct solver_labels labels)
{
    struct label_pair *items = ARENA_ARRAY(problem->arena, labels.count, struct label_pair);
    for (size_t i = 0; i < labels.count; i++) {
        const struct solver_label *label = &labels.items[i];
        items[i].key = solver_names_key(problem->pod_names, label->key, strlen(label->key));
        items[i].value = solver_names_value(problem->pod_names, items[i].key, label->value,
                                            strlen(label->value));
    }
    if (labels.count > 1)
        qsort(items, labels.count, sizeof *items, compare_pairs);
    return (struct label_list){items, labels.count};
}

uint32_t label_class_add(struct solver_builder *builder, uint32_t namespace,
                         struct solver_labels labels)
{
    struct solver_problem *problem = builder->problem;
    struct label_list list = label_list_make(problem, labels);
    struct fingerprint fingerprint = {.arena = problem->arena};
    fingerprint_number(&fingerprint, namespace);
    fingerprint_bytes(&fingerprint, list.items, list.count * sizeof *list.items);
    bool added = false;
    uint32_t number =
        intern_number(&problem->class_fingerprints, fingerprint.bytes, fingerprint.size, &added);
    if (added)
        *LIST_PUSH(problem->arena, &problem->label_classes) =
            (struct label_class){.namespace = namespace, .labels = list};
    return number;
}

static struct selector_item item_make(struct solver_problem *problem,
                                      const struct solver_expression *expression)
{
    uint32_t key = solver_names_key(problem->pod_names, expression->key, strlen(expression->key));
    uint32_t *values = ARENA_ARRAY(problem->arena, expression->value_count, uint32_t);
    for (size_t i = 0; i < expression->value_count; i++)
        values[i] = solver_names_value(problem->pod_names, key, expression->values[i],
                                       strlen(expression->values[i]));
    return (struct selector_item){key, expression->op, values, expression->value_count};
}

static uint32_t own_value(struct label_list labels, uint32_t key)
{
    for (size_t i = 0; i < labels.count; i++)
        if (labels.items[i].key == key)
            return labels.items[i].value;
    return SOLVER_NONE;
}

/* matchLabelKeys add the pod's own value of each key that it has. */
static void add_own_labels(struct solver_problem *problem, struct label_list own,
                           const char *const *keys, size_t key_count, struct selector *selector,
                           struct selector_item *items)
{
    for (size_t i = 0; i < key_count; i++) {
        uint32_t key = solver_names_key(problem->pod_names, keys[i], strlen(keys[i]));
        uint32_t value = own_value(own, key);
        if (value == SOLVER_NONE)
            continue;
        uint32_t *values = ARENA_NEW(problem->arena, uint32_t);
        *values = value;
        items[selector->count++] = (struct selector_item){key, SOLVER_IN, values, 1};
    }
}

static bool is_selector_op(enum solver_op op)
{
    return op == SOLVER_IN || op == SOLVER_NOT_IN || op == SOLVER_EXISTS ||
           op == SOLVER_DOES_NOT_EXIST;
}

uint32_t selector_add(struct solver_builder *builder, const struct solver_selector *given,
                      struct label_list own, const char *const *match_label_keys,
                      size_t match_label_key_count)
{
    struct solver_problem *problem = builder->problem;
    size_t count = given->kind == SOLVER_SELECTOR_GIVEN ? given->expressions.count : 0;
    struct selector_item *items =
        ARENA_ARRAY(problem->arena, count + match_label_key_count, struct selector_item);
    struct selector selector = {
        .nothing = given->kind != SOLVER_SELECTOR_GIVEN,
        .absent = given->kind == SOLVER_SELECTOR_ABSENT,
        .items = items,
    };
    for (size_t i = 0; i < count; i++) {
        items[selector.count++] = item_make(problem, &given->expressions.items[i]);
        selector.nothing |= !is_selector_op(given->expressions.items[i].op);
    }
    add_own_labels(problem, own, match_label_keys, match_label_key_count, &selector, items);
    struct fingerprint fingerprint = {.arena = problem->arena};
    fingerprint_number(&fingerprint, (uint64_t)selector.absent << 1 | (uint64_t)selector.nothing);
    for (size_t i = 0; i < selector.count; i++) {
        fingerprint_number(&fingerprint, items[i].key);
        fingerprint_number(&fingerprint, items[i].op);
        fingerprint_number(&fingerprint, items[i].value_count);
        fingerprint_bytes(&fingerprint, items[i].values, items[i].value_count * sizeof(uint32_t));
    }
    bool added = false;
    uint32_t number =
        intern_number(&problem->selector_fingerprints, fingerprint.bytes, fingerprint.size, &added);
    if (added)
        *LIST_PUSH(problem->arena, &problem->selectors) = selector;
    return number;
}

static bool item_selects(const struct selector_item *item, struct label_list labels)
{
    uint32_t value = own_value(labels, item->key);
    bool listed = false;
    for (size_t i = 0; i < item->value_count && !listed; i++)
        listed = value != SOLVER_NONE && item->values[i] == value;
    switch (item->op) {
    case SOLVER_IN:
        return listed;
    case SOLVER_NOT_IN:
        return !listed;
    case SOLVER_EXISTS:
        return value != SOLVER_NONE;
    case SOLVER_DOES_NOT_EXIST:
        return value == SOLVER_NONE;
    case SOLVER_GT:
    case SOLVER_LT:
    case SOLVER_GTE:
    case SOLVER_LTE:
        break;
    }
    return false;
}

bool selector_selects(const struct selector *selector, struct label_list labels)
{
    if (selector->nothing)
        return false;
    for (size_t i = 0; i < selector->count; i++)
        if (!item_selects(&selector->items[i], labels))
            return false;
    return true;
}
