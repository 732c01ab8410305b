/* metav1.LabelSelectors in policy files, checked. */
#include "policy/schema.h"

enum { NAME_BYTES_MAX = 63, PREFIX_BYTES_MAX = 253 };

/* In the order of the choices below. */
enum selector_op { SELECTOR_IN, SELECTOR_NOT_IN, SELECTOR_EXISTS, SELECTOR_DOES_NOT_EXIST };
static const char *const operators[] = {"In", "NotIn", "Exists", "DoesNotExist", NULL};

struct requirement {
    struct text key;
    int op;
    const struct node *values;
};

static const struct key requirement_keys[] = {
    {.name = "key",
     .type = KEY_STRING,
     .offset = offsetof(struct requirement, key),
     .summary = "a label key",
     .required = true},
    {.name = "operator",
     .type = KEY_ENUM,
     .offset = offsetof(struct requirement, op),
     .summary = "In, NotIn, Exists or DoesNotExist",
     .choices = operators,
     .required = true},
    {.name = "values",
     .type = KEY_NODE,
     .offset = offsetof(struct requirement, values),
     .summary = "what In and NotIn compare with"},
    {0},
};

struct selector {
    const struct node *labels;
    struct key_maps requirements;
};

const struct key selector_keys[] = {
    {.name = "matchLabels",
     .type = KEY_NODE,
     .offset = offsetof(struct selector, labels),
     .summary = "labels and the values they must have"},
    {.name = "matchExpressions",
     .type = KEY_MAPS,
     .offset = offsetof(struct selector, requirements),
     .summary = "requirements, all of which must hold",
     .children = requirement_keys,
     .item_size = sizeof(struct requirement)},
    {0},
};

static bool is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Letters, digits, and between them '-', '_' and '.'. */
static bool is_label_name(struct text t)
{
    for (size_t i = 0; i < t.size; i++) {
        bool inner = i > 0 && i + 1 < t.size;
        bool mark = t.data[i] == '-' || t.data[i] == '_' || t.data[i] == '.';
        if (!is_alphanumeric(t.data[i]) && !(inner && mark))
            return false;
    }
    return t.size > 0 && t.size <= NAME_BYTES_MAX;
}

static bool is_label_prefix(struct text t)
{
    if (t.size == 0 || t.size > PREFIX_BYTES_MAX)
        return false;
    for (size_t i = 0; i < t.size; i++) {
        char c = t.data[i];
        bool mark = c == '-' || c == '.';
        bool edge = i == 0 || i + 1 == t.size || t.data[i - 1] == '.' || t.data[i + 1] == '.';
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && (!mark || edge))
            return false;
    }
    return true;
}

static bool is_label_key(struct text t)
{
    struct text prefix = TEXT("a");
    struct text name = t;
    text_split(t, '/', &prefix, &name);
    return is_label_prefix(prefix) && is_label_name(name);
}

static bool check_key(const struct schema *schema, const struct field *field, struct text key,
                      uint32_t offset)
{
    if (is_label_key(key))
        return true;
    return schema_problem(schema, field, offset,
                          "found \"%.*s\", expected a label key such as team or example.com/team",
                          TEXT_ARGS(schema_printable(schema->arena, key)));
}

static bool check_value(const struct schema *schema, const struct field *value)
{
    const struct node *node = value->node;
    if (node_is(node, NODE_STRING) && (node->size == 0 || is_label_name(node_string(node))))
        return true;
    bool quote = node_is(node, NODE_BOOL) || node_is(node, NODE_NUMBER);
    return schema_refuse(schema, value, TEXT("a label value (at most 63 letters, digits, -, _, .)"),
                         quote ? TEXT("; quote it") : TEXT(""));
}

static bool check_labels(const struct schema *schema, const struct field *labels)
{
    if (labels->node == NULL)
        return true;
    if (!node_is(labels->node, NODE_MAP))
        return schema_refuse(schema, labels, TEXT("a map of labels"), TEXT(""));
    bool good = true;
    for (size_t i = 0; i < node_count(labels->node); i++) {
        const struct member *member = &labels->node->members[i];
        struct text key = member_key(member);
        if (check_key(schema, labels, key, member->key_offset))
            good = check_value(schema, field_member(schema->arena, labels, key)) && good;
        else
            good = false;
    }
    return good;
}

static bool check_values(const struct schema *schema, const struct field *requirement,
                         enum selector_op op)
{
    const struct field *values = field_get(schema->arena, requirement, "values");
    size_t count = node_count(values->node);
    if (op == SELECTOR_EXISTS || op == SELECTOR_DOES_NOT_EXIST) {
        if (values->node == NULL || (node_is(values->node, NODE_LIST) && count == 0))
            return true;
        return schema_refuse(schema, values, TEXT("no values"),
                             arena_printf(schema->arena, " with the operator %s", operators[op]));
    }
    if (values->node == NULL)
        return schema_problem(schema, requirement, requirement->node->offset,
                              "`values` is missing: the operator %s needs some", operators[op]);
    if (!node_is(values->node, NODE_LIST) || count == 0)
        return schema_refuse(schema, values, TEXT("a list of label values"), TEXT(""));
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good = check_value(schema, field_item(schema->arena, values, i)) && good;
    return good;
}

static bool check_requirements(const struct schema *schema, const struct field *expressions,
                               const struct key_maps *requirements)
{
    const struct requirement *items = requirements->items;
    bool good = true;
    for (size_t i = 0; i < requirements->count; i++) {
        const struct field *requirement = field_item(schema->arena, expressions, i);
        const struct field *key = field_get(schema->arena, requirement, "key");
        good = check_key(schema, key, items[i].key, key->node->offset) && good;
        good = check_values(schema, requirement, (enum selector_op)items[i].op) && good;
    }
    return good;
}

bool schema_check_selector(const struct schema *schema, const struct field *field)
{
    struct selector selector = {0};
    struct schema_part part = {selector_keys, &selector};
    bool good = schema_read(schema, field, &part, 1);
    bool labels_good = check_labels(schema, field_get(schema->arena, field, "matchLabels"));
    return good && labels_good &&
           check_requirements(schema, field_get(schema->arena, field, "matchExpressions"),
                              &selector.requirements);
}
