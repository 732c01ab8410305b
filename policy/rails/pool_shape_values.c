/* Requirements and labels of a NodePool that the API server takes and Karpenter refuses,
 * and values that no machine has. */
#include "catalog/catalog.h"
#include "catalog/label.h"
#include "kube/label.h"
#include "kube/placeholder.h"
#include "kube/pool.h"
#include "kube/zone.h"
#include "policy/rails/pool_shape.h"
#include "solver/well_known.h"

/* ---- keys that are Karpenter's own ---- */

static void judge_restricted(struct rail_call *call, const struct field *field, struct text key)
{
    if (!label_is_restricted(key))
        return;
    struct text meant = label_key_meant(call->world->catalog, key);
    if (label_is_restricted(meant))
        meant = TEXT("");
    /* A provider that is newer than our list of keys may have it. */
    bool may_exist = label_is_in_domain(key, TEXT("karpenter.k8s.aws")) && meant.size == 0;
    struct text fix = meant.size > 0 ? arena_printf(call->arena, "Use %.*s.", TEXT_ARGS(meant))
                                     : TEXT("Remove it, or use a label of your own domain, such as "
                                            "example.com/team.");
    if (may_exist)
        report_found(call, SEVERITY_WARN, field, key, fix,
                     "Karpenter is not known to give its nodes the label %.*s.", TEXT_ARGS(key));
    else
        report_found(call, SEVERITY_RAIL, field, key, fix,
                     "A NodePool must not set %.*s" NEVER_USED, TEXT_ARGS(key));
}

/* ---- keys and values that no label has ---- */

void pool_shape_judge_key(struct rail_call *call, const struct field *field, struct text key,
                          const char *what)
{
    if (label_key_is_valid(key) || text_has_placeholder(key))
        return;
    report_found(call, SEVERITY_RAIL, field, key,
                 TEXT("Write a name of at most 63 letters, digits, '-', '_' and "
                      "'.', perhaps after a domain in lower case and '/', such "
                      "as example.com/team."),
                 "\"%.*s\" cannot be the key of a %s" NEVER_USED, TEXT_ARGS(key), what);
}

static void judge_value(struct rail_call *call, const struct expression_value *of)
{
    struct text value = of->text;
    if (label_value_is_valid(value) || text_has_placeholder(value))
        return;
    report(call, SEVERITY_RAIL, expression_value_field(of, call->arena),
           TEXT("Write at most 63 letters, digits, '-', '_' and '.'."),
           "No node can carry the label value \"%.*s\"" NEVER_USED, TEXT_ARGS(value));
}

static bool compares_with_less_than_nothing(const struct expression *expression)
{
    bool compares = expression->op != SOLVER_IN && expression->op != SOLVER_NOT_IN;
    return compares && expression->value_count == 1 &&
           text_starts_with(expression->values[0].text, TEXT("-"));
}

struct fault {
    const char *what, *fix;
};

/* Why an expression is none; what is NULL when it is one. */
static struct fault fault_of(const struct expression *expression)
{
    static const char operators[] = "Use In, NotIn, Exists, DoesNotExist, Gt or Lt.";
    struct text op = node_string(node_get(expression->field->node, "operator"));
    enum solver_op parsed;
    if (expression->valid && !compares_with_less_than_nothing(expression))
        return (struct fault){0};
    if (expression->key.size == 0)
        return (struct fault){"This requirement has no key",
                              "Name a label, such as kubernetes.io/arch."};
    if (op.size == 0)
        return (struct fault){"This requirement has no operator", operators};
    if (!solver_op_parse(op.data, op.size, &parsed))
        return (struct fault){"The operator of this requirement does not exist", operators};
    if (parsed == SOLVER_IN || parsed == SOLVER_NOT_IN)
        return (struct fault){"The values of this requirement are missing or no strings",
                              "List the values, as strings in quotes."};
    return (struct fault){"This requirement compares with no whole number",
                          "Give one whole number of 0 or more, in quotes."};
}

/* NotIn is the one operator that may come without values. */
static bool judge_nothing_ruled_out(struct rail_call *call, const struct expression *expression)
{
    struct arena *arena = call->arena;
    const struct field *values = field_get(arena, expression->field, "values");
    bool none = !node_is_given(values->node) ||
                (node_is(values->node, NODE_LIST) && node_count(values->node) == 0);
    if (!none || expression->key.size == 0 ||
        !text_is(node_string(node_get(expression->field->node, "operator")), "NotIn"))
        return false;
    report(call, SEVERITY_WARN, values,
           TEXT("List what is to be kept out, or remove the "
                "requirement."),
           "NotIn without values rules nothing out.");
    return true;
}

static void judge_expression(struct rail_call *call, const struct expression *expression)
{
    struct arena *arena = call->arena;
    if (judge_nothing_ruled_out(call, expression))
        return;
    struct fault fault = fault_of(expression);
    if (fault.what != NULL) {
        report_found(call, SEVERITY_RAIL, expression->field, expression->key, text_of(fault.fix),
                     "%s" NEVER_USED, fault.what);
        return;
    }
    judge_restricted(call, field_get(arena, expression->field, "key"), expression->key);
    for (size_t i = 0; i < expression->value_count; i++)
        judge_value(call, &expression->values[i]);
    if (expression->op == SOLVER_IN && expression->min_values > expression->value_count)
        report(call, SEVERITY_RAIL, field_get(arena, expression->field, "minValues"),
               TEXT("List more values, or lower minValues."),
               "The requirement wants %u different values and lists %zu" NEVER_USED,
               expression->min_values, expression->value_count);
}

/* ---- values that Karpenter knows all of ---- */

static const struct closed {
    const char *key, *what;
    bool refused; /* by Karpenter, which otherwise only finds no type */
} closed[] = {
    {LABEL_CAPACITY_TYPE, "capacity type", true},
    {"karpenter.k8s.aws/instance-tenancy", "tenancy", true},
    {LABEL_ARCH, "architecture", false},
    {LABEL_OS, "operating system", false},
};

/* By what it says; a user's catalogue may have others, and a placeholder may become one. */
static bool is_known(const struct catalog *catalog, struct text key, struct text value)
{
    const struct text *known;
    size_t count = label_values_all(key, &known);
    return texts_have(known, count, value) || catalog_has_value(catalog, key, value) ||
           text_has_placeholder(value);
}

static size_t count_known(const struct catalog *catalog, const struct expression *expression)
{
    struct text key = expression_canonical_key(expression);
    size_t count = 0;
    for (size_t i = 0; i < expression->value_count; i++)
        count += is_known(catalog, key, expression->values[i].text);
    return count;
}

bool pool_shape_is_closed(const struct expression *expression)
{
    const struct text *all;
    return label_values_all(expression_canonical_key(expression), &all) > 0;
}

bool pool_shape_knows_none(const struct catalog *catalog, const struct expression *expression)
{
    return count_known(catalog, expression) == 0;
}

static void report_unknown(struct rail_call *call, const struct closed *of,
                           const struct expression_value *value, const char *consequence)
{
    struct arena *arena = call->arena;
    const struct text *known;
    size_t count = label_values_all(text_of(of->key), &known);
    struct text meant =
        label_value_meant(call->world->catalog, text_of(of->key), value->text, arena);
    report_as(call, consequence[0] == '\0' ? SEVERITY_WARN : SEVERITY_RAIL,
              .field = expression_value_field(value, call->arena), .found = value->text,
              .statement = arena_printf(arena, "\"%.*s\" is no %s%s", TEXT_ARGS(value->text),
                                        of->what, consequence[0] == '\0' ? "." : consequence),
              .allowed = ALLOWED_TEXTS(known, count), .meant = meant,
              .fix = arena_printf(arena, "Use %.*s.", TEXT_ARGS(texts_or(known, count, arena))));
}

static void judge_closed(struct rail_call *call, const struct expression *expression,
                         const struct closed *of, const char *consequence)
{
    const struct catalog *catalog = call->world->catalog;
    size_t known_count = count_known(catalog, expression);
    for (size_t i = 0; i < expression->value_count; i++)
        if (!is_known(catalog, text_of(of->key), expression->values[i].text))
            report_unknown(call, of, &expression->values[i],
                           known_count == 0 || known_count < expression->min_values ? consequence
                                                                                    : "");
}

/* Of a requirement Karpenter looks at the values; a label it takes as it is, and finds no machine.
 */
static void judge_values_of(struct rail_call *call, const struct expression *expression,
                            const char *if_refused)
{
    if (!expression->valid || expression->op != SOLVER_IN)
        return;
    struct text key = expression_canonical_key(expression);
    for (size_t i = 0; i < COUNT_OF(closed); i++)
        if (text_is(key, closed[i].key))
            judge_closed(call, expression, &closed[i],
                         closed[i].refused ? if_refused : LAUNCHES_NONE);
}

/* ---- zones ---- */

/* As AWS names regions: "eu-west-1", "us-gov-east-1". A zone has a letter after it, or more. */
static bool is_region(struct text t)
{
    struct text words, number;
    if (!text_split_last(t, '-', &words, &number) || !text_is_digits(number) ||
        !text_split(words, '-', NULL, NULL))
        return false;
    for (size_t i = 0; i < words.size; i++)
        if (words.data[i] != '-' && (words.data[i] < 'a' || words.data[i] > 'z'))
            return false;
    return true;
}

static void judge_zones(struct rail_call *call, const struct pool *pool,
                        const struct expression *expression)
{
    struct arena *arena = call->arena;
    size_t regions = 0;
    if (!expression->valid || expression->op != SOLVER_IN ||
        zone_key_of(expression->key) != ZONE_KEY_NAME ||
        !catalog_is_builtin(call->world->catalog) ||
        !pool_is_covered_by(call->world->catalog, pool))
        return;
    for (size_t i = 0; i < expression->value_count; i++)
        regions += is_region(expression->values[i].text);
    for (size_t i = 0; i < expression->value_count; i++) {
        const struct expression_value *value = &expression->values[i];
        if (!is_region(value->text))
            continue;
        report(call, regions == expression->value_count ? SEVERITY_RAIL : SEVERITY_WARN,
               expression_value_field(value, call->arena),
               arena_printf(arena, "Name its zones, such as %.*sa.", TEXT_ARGS(value->text)),
               "\"%.*s\" is a region and no zone%s", TEXT_ARGS(value->text),
               regions == expression->value_count ? LAUNCHES_NONE : ".");
    }
}

void pool_shape_judge_values(struct rail_call *call, const struct pool *pool)
{
    FOR_EACH(requirement, &pool->requirements) {
        if (requirement->key.size > 0) /* of one without a key judge_expression speaks */
            pool_shape_judge_key(call, field_get(call->arena, requirement->field, "key"),
                                 requirement->key, "label");
        judge_expression(call, requirement);
        judge_values_of(call, requirement, NEVER_USED);
        judge_zones(call, pool, requirement);
    }
    FOR_EACH(label, &pool->labels) {
        if (!label->valid)
            continue;
        pool_shape_judge_key(call, label->field, label->key, "label");
        judge_restricted(call, label->field, label->key);
        judge_value(call, &label->values[0]);
        judge_values_of(call, label, LAUNCHES_NONE);
        judge_zones(call, pool, label);
    }
}
