#include "policy/rails/instance_types.h"

void instance_report_outside(struct judgement *judgement, const struct instance_list *list,
                             enum dimension dimension, const struct expression_value *value,
                             enum severity severity)
{
    struct arena *arena = judgement->arena;
    struct draft draft = {.severity = severity, .field = value->field, .found = value->text};
    draft.allowed =
        instance_list_nearest(list, dimension, value->text, &draft.allowed_count, arena);
    if (draft.allowed_count > 0)
        draft.fix = arena_printf(arena, "replace with %.*s, or leave the choice to the NodePools",
                                 TEXT_ARGS(draft.allowed[0]));
    else
        draft.fix = TEXT("leave the choice to the NodePools");
    judgement_report(judgement, &draft);
}

/* A value of the list's types; empty when none is near. */
static struct text value_meant(const struct instance_list *list, enum dimension dimension,
                               struct text value, struct arena *arena)
{
    enum { TYPO_EDITS = 3 };
    struct text_list known = instance_list_values(list, dimension, false, arena);
    struct text meant =
        label_value_meant(list->catalog, text_of(dimension_keys[dimension]), value, arena);
    if (text_list_has(&known, meant))
        return meant;
    /* It is outside the list; or is the nearest within meant? Short values are near to each other
     * without being meant. */
    size_t edits = value.size / 2 < TYPO_EDITS ? value.size / 2 : TYPO_EDITS;
    size_t nearest = text_nearest(value, known.items, known.count, edits);
    return nearest < known.count ? known.items[nearest] : TEXT("");
}

/* Catalogues age: what the built-in one does not know may exist all the same. */
void instance_report_unknown(struct judgement *judgement, const struct instance_list *list,
                             enum dimension dimension, const struct expression_value *value)
{
    struct text meant = value_meant(list, dimension, value->text, judgement->arena);
    struct draft draft = {
        .severity = catalog_is_builtin(list->catalog) ? SEVERITY_WARN : SEVERITY_RAIL,
        .field = value->field,
        .found = value->text,
        .statement =
            arena_printf(judgement->arena, "found \"%.*s\", which the catalogue does not know",
                         TEXT_ARGS(value->text)),
        .fix = TEXT("check the name"),
    };
    if (meant.size > 0)
        draft.fix = arena_printf(judgement->arena, "did you mean %.*s?", TEXT_ARGS(meant));
    judgement_report(judgement, &draft);
}
