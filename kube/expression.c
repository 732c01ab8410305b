/* Reads and compares requirements as people write them. */
#include "kube/expression.h"

#include "base/hash.h"

void expressions_add_labels(struct expressions *expressions, const struct field *labels,
                            struct arena *arena)
{
    FOR_MEMBERS(label, arena, labels) {
        struct expression_value *value = ARENA_NEW(arena, struct expression_value);
        *value = (struct expression_value){node_string(label->node), label, 0};
        *LIST_PUSH(arena, expressions) = (struct expression){
            .field = label,
            .key = label->key,
            .op = SOLVER_IN,
            .valid = node_is(label->node, NODE_STRING),
            .values = value,
            .value_count = 1,
        };
    }
}

const struct field *expression_value_field(const struct expression_value *value,
                                           struct arena *arena)
{
    return value->position == 0 ? value->within
                                : field_item(arena, value->within, value->position - 1);
}

bool expression_takes_values(enum solver_op op)
{
    return op != SOLVER_EXISTS && op != SOLVER_DOES_NOT_EXIST;
}

static bool takes_one_integer(enum solver_op op)
{
    return op == SOLVER_GT || op == SOLVER_LT || op == SOLVER_GTE || op == SOLVER_LTE;
}

/* Without most of those that came before: what a million values cost that are one and the same is
 * only their reading. Returns how many are left. */
static size_t drop_repeated(struct expression_value *values, size_t count, struct arena *arena)
{
    enum { FEW = 64, SLOTS = 1024 }; /* stays in the fastest cache */
    if (count <= FEW)
        return count;
    const struct hash_seed seed = hash_seed_new();
    uint32_t *last = ARENA_ARRAY(arena, SLOTS, uint32_t); /* of those that hash alike, from 1 */
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t *slot = &last[hash_text(seed, values[i].text) % SLOTS];
        if (*slot != 0 && text_equal(values[*slot - 1].text, values[i].text))
            continue;
        values[kept] = values[i];
        *slot = (uint32_t)++kept;
    }
    return kept;
}

static struct expression read_one(const struct field *field, struct arena *arena)
{
    struct expression expression = {.field = field};
    expression.key = node_string(node_get(field->node, "key"));
    struct text op = node_string(node_get(field->node, "operator"));
    bool valid = expression.key.size > 0 && solver_op_parse(op.data, op.size, &expression.op);

    const struct field *values = field_get(arena, field, "values");
    size_t count = node_is(values->node, NODE_LIST) ? node_count(values->node) : 0;
    expression.values = ARENA_ARRAY(arena, count, struct expression_value);
    for (size_t i = 0; i < count; i++) {
        const struct node *value = node_item(values->node, i);
        expression.values[i] = (struct expression_value){node_string(value), values, i + 1};
        valid = valid && node_is(value, NODE_STRING);
    }
    int64_t number = 0;
    if (valid && takes_one_integer(expression.op))
        valid = count == 1 && text_to_int64(expression.values[0].text, &number);
    else if (valid && expression_takes_values(expression.op))
        valid = count > 0;
    expression.value_count = drop_repeated(expression.values, count, arena);

    int64_t min_values = 0;
    if (node_integer(node_get(field->node, "minValues"), &min_values) && min_values > 0 &&
        min_values <= 50)
        expression.min_values = (uint32_t)min_values;
    expression.valid = valid;
    return expression;
}

void expressions_add_list(struct expressions *expressions, const struct field *list,
                          struct arena *arena)
{
    if (!node_is(list->node, NODE_LIST))
        return;
    for (size_t i = 0; i < node_count(list->node); i++)
        *LIST_PUSH(arena, expressions) = read_one(field_item(arena, list, i), arena);
}

bool expression_names(const struct expression *expression, struct text value)
{
    for (size_t i = 0; i < expression->value_count; i++)
        if (text_equal(expression->values[i].text, value))
            return true;
    return false;
}

/* The values that all expressions of one key exclude together. */
struct excluded {
    uint32_t key;
    LIST(uint32_t) values;
};

/* By key; zero-initialise. */
struct exclusions {
    LIST(struct excluded) items;
    struct text_map numbers; /* from 1 */
};

struct text canonical_key(struct text key)
{
    key.data = solver_canonical_key(key.data, &key.size);
    return key;
}

struct text expression_canonical_key(const struct expression *expression)
{
    return canonical_key(expression->key);
}

struct expressions expressions_join(const struct expressions *a, const struct expressions *b,
                                    struct arena *arena)
{
    struct expressions all = {0};
    FOR_EACH(expression, a)
        *LIST_PUSH(arena, &all) = *expression;
    FOR_EACH(expression, b)
        *LIST_PUSH(arena, &all) = *expression;
    return all;
}

static uint32_t value_number(struct solver_names *names, uint32_t key, struct text value)
{
    return solver_names_value(names, key, value.data, value.size);
}

void expression_add(const struct expression *expression, struct solver_names *names,
                    struct solver_requirements *set, struct arena *arena)
{
    if (!expression->valid)
        return;
    struct text canonical = expression_canonical_key(expression);
    uint32_t key = solver_names_key(names, canonical.data, canonical.size);
    uint32_t *values = ARENA_ARRAY(arena, expression->value_count, uint32_t);
    for (size_t i = 0; i < expression->value_count; i++)
        values[i] = value_number(names, key, expression->values[i].text);
    struct solver_requirement requirement = solver_requirement_make(
        names, key, expression->op, values, expression->value_count, expression->min_values, arena);
    solver_requirements_add(names, set, requirement, arena);
}

void expression_add_label(struct text key, struct text value, struct solver_names *names,
                          struct solver_requirements *set, struct arena *arena)
{
    struct expression_value only = {.text = value};
    const struct expression label = {
        .key = key, .op = SOLVER_IN, .valid = true, .values = &only, .value_count = 1};
    expression_add(&label, names, set, arena);
}

static void exclude(struct exclusions *exclusions, const struct expression *expression,
                    struct solver_names *names, struct arena *arena)
{
    struct text canonical = expression_canonical_key(expression);
    size_t *number = text_map_at(&exclusions->numbers, arena, canonical);
    if (*number == 0) {
        LIST_PUSH(arena, &exclusions->items)->key =
            solver_names_key(names, canonical.data, canonical.size);
        *number = exclusions->items.count;
    }
    struct excluded *excluded = &exclusions->items.items[*number - 1];
    for (size_t i = 0; i < expression->value_count; i++)
        *LIST_PUSH(arena, &excluded->values) =
            value_number(names, excluded->key, expression->values[i].text);
}

/* Excluded values of a key are added all at once; otherwise the whole set would be copied for each
 * expression. */
void expressions_add(const struct expressions *expressions, struct solver_names *names,
                     struct solver_requirements *set, struct arena *arena)
{
    struct exclusions exclusions = {0};
    for (size_t i = 0; i < expressions->count; i++) {
        const struct expression *expression = &expressions->items[i];
        if (expression->valid && expression->op == SOLVER_NOT_IN && expression->min_values == 0)
            exclude(&exclusions, expression, names, arena);
        else
            expression_add(expression, names, set, arena);
    }
    for (size_t i = 0; i < exclusions.items.count; i++) {
        const struct excluded *excluded = &exclusions.items.items[i];
        struct solver_requirement requirement =
            solver_requirement_make(names, excluded->key, SOLVER_NOT_IN, excluded->values.items,
                                    excluded->values.count, 0, arena);
        solver_requirements_add(names, set, requirement, arena);
    }
}

bool requirement_takes_label(const struct solver_requirement *requirement, const struct node *label,
                             struct solver_names *names)
{
    if (!node_is(label, NODE_STRING))
        return solver_requirement_is_negative(requirement);
    uint32_t value = value_number(names, requirement->key, node_string(label));
    return solver_requirement_has(names, requirement, value);
}
