/* Requirements and labels that the API server or Karpenter refuses, and values that no machine has.
 */
#include "policy/rails/requirement_fault.h"

#include "catalog/catalog.h"
#include "catalog/label.h"
#include "kube/label.h"
#include "kube/placeholder.h"
#include "solver/well_known.h"

const struct requirement_owner requirements_of_pool = {
    .must_not = "A NodePool must not set",
    .refused = NEVER_USED,
};
const struct requirement_owner requirements_of_overlay = {
    .must_not = "A NodeOverlay must not ask for",
    .refused = ". The overlay is refused, and has no effect.",
    .is_overlay = true,
};

/* ---- keys that are Karpenter's own ---- */

bool requirement_judge_restricted(struct rail_call *call, const struct field *field,
                                  struct text key, const struct requirement_owner *owner)
{
    if (!label_is_restricted(key) || (owner->is_overlay && text_is(key, LABEL_NODE_POOL)))
        return true;
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
        report_found(call, SEVERITY_RAIL, field, key, fix, "%s %.*s%s", owner->must_not,
                     TEXT_ARGS(key), owner->refused);
    return may_exist;
}

/* ---- keys and values that no label has ---- */

bool requirement_judge_key(struct rail_call *call, const struct field *field, struct text key,
                           const char *what, const struct requirement_owner *owner)
{
    if (label_key_is_valid(key) || text_has_placeholder(key))
        return true;
    report_found(call, SEVERITY_RAIL, field, key,
                 TEXT("Write a name of at most 63 letters, digits, '-', '_' and "
                      "'.', perhaps after a domain in lower case and '/', such "
                      "as example.com/team."),
                 "\"%.*s\" cannot be the key of a %s%s", TEXT_ARGS(key), what, owner->refused);
    return false;
}

bool requirement_judge_value(struct rail_call *call, const struct expression_value *of,
                             const struct requirement_owner *owner)
{
    struct text value = of->text;
    if (label_value_is_valid(value) || text_has_placeholder(value))
        return true;
    report(call, SEVERITY_RAIL, expression_value_field(of, call->arena),
           TEXT("Write at most 63 letters, digits, '-', '_' and '.'."),
           "No node can carry the label value \"%.*s\"%s", TEXT_ARGS(value), owner->refused);
    return false;
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
static struct fault fault_of(const struct expression *expression, bool old)
{
    const char *operators =
        old ? "Use In, NotIn, Exists, DoesNotExist, Gt or Lt."
            : "Use In, NotIn, Exists, DoesNotExist, Gt, Lt, or, of Karpenter 1.9 or newer, Gte or "
              "Lte.";
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
    if (node_has_placeholder(node_get(expression->field->node, "values")))
        return (struct fault){0};
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

bool requirement_judge(struct rail_call *call, const struct expression *expression,
                       const struct requirement_owner *owner)
{
    struct arena *arena = call->arena;
    const struct field *key = field_get(arena, expression->field, "key");
    /* of one without a key it is said that it has none */
    bool good = expression->key.size == 0 ||
                requirement_judge_key(call, key, expression->key, "label", owner);
    if (!owner->is_overlay && judge_nothing_ruled_out(call, expression))
        return good;
    struct fault fault = fault_of(expression, object_is_v1beta1(call->object));
    if (fault.what != NULL) {
        report_found(call, SEVERITY_RAIL, expression->field, expression->key, text_of(fault.fix),
                     "%s%s", fault.what, owner->refused);
        return false;
    }
    good = requirement_judge_restricted(call, key, expression->key, owner) && good;
    for (size_t i = 0; i < expression->value_count; i++)
        good = requirement_judge_value(call, &expression->values[i], owner) && good;
    return good;
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

bool requirement_is_closed(const struct expression *expression)
{
    const struct text *all;
    return label_values_all(expression_canonical_key(expression), &all) > 0;
}

bool requirement_knows_none(const struct catalog *catalog, const struct expression *expression)
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

static bool judge_closed(struct rail_call *call, const struct expression *expression,
                         const struct closed *of, const char *consequence)
{
    const struct catalog *catalog = call->world->catalog;
    size_t known_count = count_known(catalog, expression);
    bool enough = known_count > 0 && known_count >= expression->min_values;
    for (size_t i = 0; i < expression->value_count; i++)
        if (!is_known(catalog, text_of(of->key), expression->values[i].text))
            report_unknown(call, of, &expression->values[i], enough ? "" : consequence);
    return enough;
}

bool requirement_judge_closed(struct rail_call *call, const struct expression *expression,
                              const char *if_refused, const char *if_none)
{
    bool good = true;
    if (!expression->valid || expression->op != SOLVER_IN)
        return true;
    struct text key = expression_canonical_key(expression);
    for (size_t i = 0; i < COUNT_OF(closed); i++) {
        const char *consequence = closed[i].refused ? if_refused : if_none;
        if (text_is(key, closed[i].key) && consequence != NULL)
            good = judge_closed(call, expression, &closed[i], consequence);
    }
    return good;
}
