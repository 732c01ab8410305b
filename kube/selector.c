/* Matches a label selector against one object. */
#include "kube/selector.h"

#include "kube/label.h"
#include "kube/object.h"

static bool values_contain(const struct node *values, struct text value)
{
    for (size_t i = 0; i < node_count(values); i++)
        if (text_equal(node_string(node_item(values, i)), value))
            return true;
    return false;
}

/* What a selector is asked of. */
struct labelled {
    const struct node *labels;         /* NULL: none */
    const struct node *namespace_name; /* a Namespace's, which is a label, too; NULL: none */
    bool open;                         /* there may be other labels */
};

static const struct node *label_of(const struct labelled *labelled, struct text key)
{
    return labelled->namespace_name != NULL && text_is(key, LABEL_NAMESPACE_NAME)
               ? labelled->namespace_name
               : node_member(labelled->labels, key);
}

static bool expression_matches(const struct node *expression, const struct labelled *labelled)
{
    const struct node *label = label_of(labelled, node_string(node_get(expression, "key")));
    if (label == NULL && labelled->open)
        return true;
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

static bool matches(const struct node *selector, const struct labelled *labelled)
{
    if (!node_is(selector, NODE_MAP))
        return false;
    const struct node *wanted = node_get(selector, "matchLabels");
    for (size_t i = 0; i < node_count(wanted); i++) {
        if (!node_is(wanted, NODE_MAP))
            return false;
        const struct member *member = &wanted->members[i];
        const struct node *label = label_of(labelled, member_key(member));
        if (label == NULL ? !labelled->open
                          : !text_equal(node_string(label), node_string(&member->value)))
            return false;
    }
    const struct node *expressions = node_get(selector, "matchExpressions");
    for (size_t i = 0; i < node_count(expressions); i++)
        if (!expression_matches(node_item(expressions, i), labelled))
            return false;
    return true;
}

bool selector_matches(const struct node *selector, const struct node *labels)
{
    const struct labelled labelled = {.labels = labels};
    return matches(selector, &labelled);
}

/* ---- of a namespace ---- */

/* Whether it asks for nothing but names of namespaces. */
static bool asks_names_alone(const struct node *selector)
{
    const struct node *labels = node_get(selector, "matchLabels");
    for (size_t i = 0; node_is(labels, NODE_MAP) && i < node_count(labels); i++)
        if (!text_is(member_key(&labels->members[i]), LABEL_NAMESPACE_NAME))
            return false;
    FOR_ITEMS(expression, node_get(selector, "matchExpressions"))
        if (!text_is(node_string(node_get(expression, "key")), LABEL_NAMESPACE_NAME))
            return false;
    return true;
}

enum selected namespace_selected(const struct node *selector, struct text name,
                                 const struct object *seen)
{
    const struct node name_node = node_of_text(name);
    const struct labelled labelled = {.labels = seen == NULL ? NULL : seen->labels,
                                      .namespace_name = &name_node,
                                      .open = seen == NULL};
    if (!matches(selector, &labelled))
        return NOT_SELECTED;
    return seen != NULL || asks_names_alone(selector) ? SELECTED : MAY_BE_SELECTED;
}

/* ---- one within another ---- */

static void add_demand(struct text_map *demands, struct text key, const struct node *value,
                       struct arena *arena)
{
    (void)text_map_add(
        demands, arena,
        arena_printf(arena, "%.*s=%.*s", TEXT_ARGS(key), TEXT_ARGS(node_text(value))));
}

/* What a selector asks for: all of it must hold. One value of a key is asked for in two ways. */
static void add_demands(const struct node *selector, struct arena *arena, struct text_map *demands)
{
    const struct node *labels = node_get(selector, "matchLabels");
    for (size_t i = 0; node_is(labels, NODE_MAP) && i < labels->size; i++)
        add_demand(demands, member_key(&labels->members[i]), &labels->members[i].value, arena);
    if (node_is(labels, NODE_LIST))
        (void)text_map_add(demands, arena, node_json(labels, arena));
    FOR_ITEMS(expression, node_get(selector, "matchExpressions")) {
        const struct node *values = node_get(expression, "values");
        if (text_is(node_string(node_get(expression, "operator")), "In") &&
            node_is(values, NODE_LIST) && values->size == 1)
            add_demand(demands, node_string(node_get(expression, "key")), &values->items[0], arena);
        else
            (void)text_map_add(demands, arena, node_json(expression, arena));
    }
}

bool selector_selects_no_more(const struct node *selector, const struct node *other,
                              struct arena *arena)
{
    struct text_map demands = {0};
    struct text_map of_other = {0};
    if (!node_is(other, NODE_MAP))
        return false;
    add_demands(selector, arena, &demands);
    add_demands(other, arena, &of_other);
    for (size_t i = 0; i < of_other.count; i++)
        if (!text_map_has(&demands, of_other.items[i].key))
            return false;
    return true;
}
