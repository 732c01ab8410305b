/* Matches a label selector against one object. */
#include "kube/selector.h"

static bool values_contain(const struct node *values, struct text value)
{
    for (size_t i = 0; i < node_count(values); i++)
        if (text_equal(node_string(node_item(values, i)), value))
            return true;
    return false;
}

static bool expression_matches(const struct node *expression, const struct node *labels)
{
    const struct node *label = node_member(labels, node_string(node_get(expression, "key")));
    const struct node *values = node_get(expression, "values");
    struct text op = node_string(node_get(expression, "operator"));
    if (text_is(op, "In"))
        return label != NULL && values_contain(values, node_string(label));
    if (text_is(op, "NotIn"))
        return label == NULL || !values_contain(values, node_string(label));
    if (text_is(op, "Exists"))
        return label != NULL;
    if (text_is(op, "DoesNotExist"))
        return label == NULL;
    return false;
}

bool selector_matches(const struct node *selector, const struct node *labels)
{
    if (!node_is(selector, NODE_MAP))
        return false;
    const struct node *wanted = node_get(selector, "matchLabels");
    for (size_t i = 0; i < node_count(wanted); i++) {
        if (!node_is(wanted, NODE_MAP))
            return false;
        const struct member *member = &wanted->members[i];
        const struct node *label = node_member(labels, member_key(member));
        if (label == NULL || !text_equal(node_string(label), node_string(&member->value)))
            return false;
    }
    const struct node *expressions = node_get(selector, "matchExpressions");
    for (size_t i = 0; i < node_count(expressions); i++)
        if (!expression_matches(node_item(expressions, i), labels))
            return false;
    return true;
}
