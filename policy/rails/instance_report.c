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

/* Catalogues age: what the built-in one does not know may exist all the same. */
void instance_report_unknown(struct judgement *judgement, const struct instance_list *list,
                             enum dimension dimension, const struct expression_value *value)
{
    enum { TYPO_EDITS = 3 };
    struct arena *arena = judgement->arena;
    struct text_list known = instance_list_values(list, dimension, false, arena);
    /* Short values are near to each other without being meant. */
    size_t edits = value->text.size / 2 < TYPO_EDITS ? value->text.size / 2 : TYPO_EDITS;
    size_t nearest = text_nearest(value->text, known.items, known.count, edits);
    struct draft draft = {
        .severity = catalog_is_builtin(list->catalog) ? SEVERITY_WARN : SEVERITY_RAIL,
        .field = value->field,
        .found = value->text,
        .statement = arena_printf(arena, "found \"%.*s\", which the catalogue does not know",
                                  TEXT_ARGS(value->text)),
        .fix = TEXT("check the name"),
    };
    if (nearest < known.count)
        draft.fix = arena_printf(arena, "did you mean %.*s?", TEXT_ARGS(known.items[nearest]));
    judgement_report(judgement, &draft);
}
