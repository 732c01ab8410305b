/* A label selector prepared for many objects: an index from the labels of an object to what the
 * selector asks of each key. Both may be long. */
#include "kube/selector.h"

/* What the selector asks of one key. */
struct rule {
    bool must, must_not;
    size_t in_count;          /* of the lists that must contain its value */
    struct text_map named;    /* by how many of them */
    struct text_map excluded; /* forbidden values */
};

struct selector_index {
    const struct node *plain; /* too short for an index; NULL: it is indexed */
    bool never;               /* it selects nothing */
    struct text_map numbers;  /* of the rules by key, from 1 */
    LIST(struct rule) rules;
    size_t must_count;
};

static struct rule *rule_of(struct selector_index *index, struct text key, struct arena *arena)
{
    size_t *number = text_map_at(&index->numbers, arena, key);
    if (*number == 0) {
        (void)LIST_PUSH(arena, &index->rules);
        *number = index->rules.count;
    }
    return &index->rules.items[*number - 1];
}

static void require(struct selector_index *index, struct rule *rule)
{
    index->must_count += rule->must ? 0 : 1;
    rule->must = true;
}

static void add_named(struct rule *rule, struct text value, struct arena *arena)
{
    /* A value that one list names twice counts once. */
    if (text_map_get(&rule->named, value, 0) == rule->in_count)
        (void)text_map_add(&rule->named, arena, value);
}

static void add_expression(struct selector_index *index, const struct node *expression,
                           struct arena *arena)
{
    struct rule *rule = rule_of(index, node_string(node_get(expression, "key")), arena);
    const struct node *values = node_get(expression, "values");
    struct text op = node_string(node_get(expression, "operator"));
    if (text_is(op, "In")) {
        for (size_t i = 0; i < node_count(values); i++)
            add_named(rule, node_string(node_item(values, i)), arena);
        rule->in_count++;
        require(index, rule);
    } else if (text_is(op, "NotIn")) {
        for (size_t i = 0; i < node_count(values); i++)
            (void)text_map_add(&rule->excluded, arena, node_string(node_item(values, i)));
    } else if (text_is(op, "Exists")) {
        require(index, rule);
    } else if (text_is(op, "DoesNotExist")) {
        rule->must_not = true;
    } else {
        index->never = true;
    }
}

static void add_labels(struct selector_index *index, const struct node *wanted, struct arena *arena)
{
    index->never |= node_count(wanted) > 0 && !node_is(wanted, NODE_MAP);
    for (size_t i = 0; node_is(wanted, NODE_MAP) && i < node_count(wanted); i++) {
        const struct member *member = &wanted->members[i];
        struct rule *rule = rule_of(index, member_key(member), arena);
        add_named(rule, node_string(&member->value), arena);
        rule->in_count++;
        require(index, rule);
    }
}

static bool is_short(const struct node *selector)
{
    enum { SHORT = 8 };
    const struct node *expressions = node_get(selector, "matchExpressions");
    if (node_count(node_get(selector, "matchLabels")) + node_count(expressions) > SHORT)
        return false;
    for (size_t i = 0; i < node_count(expressions); i++)
        if (node_count(node_get(node_item(expressions, i), "values")) > SHORT)
            return false;
    return true;
}

const struct selector_index *selector_index_make(const struct node *selector, struct arena *arena)
{
    struct selector_index *index = ARENA_NEW(arena, struct selector_index);
    if (is_short(selector)) {
        index->plain = selector;
        index->never = selector == NULL;
        return index;
    }
    add_labels(index, node_get(selector, "matchLabels"), arena);
    const struct node *expressions = node_get(selector, "matchExpressions");
    for (size_t i = 0; i < node_count(expressions); i++)
        add_expression(index, node_item(expressions, i), arena);
    return index;
}

static bool obeys(const struct rule *rule, struct text value)
{
    return !rule->must_not && !text_map_has(&rule->excluded, value) &&
           text_map_get(&rule->named, value, 0) == rule->in_count;
}

bool selector_index_matches(const struct selector_index *index, const struct node *labels)
{
    if (index->never || index->plain != NULL)
        return !index->never && selector_matches(index->plain, labels);
    size_t count = node_is(labels, NODE_MAP) ? node_count(labels) : 0;
    size_t there = 0;
    for (size_t i = 0; i < count && index->must_count <= count; i++) {
        const struct member *label = &labels->members[i];
        size_t number = text_map_get(&index->numbers, member_key(label), 0);
        if (number == 0)
            continue;
        const struct rule *rule = &index->rules.items[number - 1];
        if (!obeys(rule, node_string(&label->value)))
            return false;
        there += rule->must ? 1 : 0;
    }
    return there == index->must_count;
}
