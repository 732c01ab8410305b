/* The findings of instance-types at a value. */
#include "catalog/catalog.h"
#include "catalog/label.h"
#include "kube/expression.h"
#include "policy/rails/instance_list.h"

static void advise_nearest(struct draft *draft, struct arena *arena)
{
    if (draft->allowed.count > 0)
        draft->fix = arena_printf(arena, "Use %.*s, or leave the choice to the NodePools.",
                                  TEXT_ARGS(draft->allowed.items[0]));
}

void instance_report_outside(struct rail_call *call, const struct instance_list *list,
                             enum dimension dimension, const struct expression_value *value,
                             enum severity severity)
{
    report_as(call, severity, .field = expression_value_field(value, call->arena),
              .found = value->text, .allowed = ALLOWED_LIST(&list->values[dimension]),
              .nearest_to = value->text, .fix = TEXT("leave the choice to the NodePools"),
              .advise = advise_nearest);
}

/* The list whose values of a dimension may have been meant. */
struct meant {
    const struct instance_list *list;
    enum dimension dimension;
};

/* A value of the list's types; empty when none is near. */
static struct text value_meant(const struct meant *adviser, struct text value, struct arena *arena)
{
    enum { VALUE_EDITS = 3 };
    const struct text_list *known = &adviser->list->values[adviser->dimension];
    struct text meant = label_value_meant(
        adviser->list->catalog, text_of(dimension_keys[adviser->dimension]), value, arena);
    if (texts_have(known->items, known->count, meant))
        return meant;
    /* It is outside the list; or is the nearest within meant? Short values are near to each other
     * without being meant. */
    size_t edits = value.size / 2 < VALUE_EDITS ? value.size / 2 : TYPO_EDITS;
    size_t nearest = text_nearest(value, known->items, known->count, edits);
    return nearest < known->count ? known->items[nearest] : TEXT("");
}

static void advise_meant(struct draft *draft, struct arena *arena)
{
    struct text meant = value_meant(draft->adviser, draft->found, arena);
    if (meant.size > 0)
        draft->fix = arena_printf(arena, "did you mean %.*s?", TEXT_ARGS(meant));
}

/* Catalogues age: what the built-in one does not know may exist all the same. */
void instance_report_unknown(struct rail_call *call, const struct instance_list *list,
                             enum dimension dimension, const struct expression_value *value)
{
    enum severity severity = catalog_is_builtin(list->catalog) ? SEVERITY_WARN : SEVERITY_RAIL;
    if (report_counts(call, severity))
        return;
    struct meant *adviser = ARENA_NEW(call->arena, struct meant);
    *adviser = (struct meant){list, dimension};
    report_say(call, &(struct draft){
                         .severity = severity,
                         .field = expression_value_field(value, call->arena),
                         .found = value->text,
                         .statement = arena_printf(call->arena,
                                                   "found \"%.*s\", which the catalogue does not "
                                                   "know",
                                                   TEXT_ARGS(value->text)),
                         .fix = TEXT("check the name"),
                         .advise = advise_meant,
                         .adviser = adviser,
                     });
}
