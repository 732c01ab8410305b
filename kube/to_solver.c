/* Converts labels, expressions and objects into the solver's types. */
#include "kube/to_solver.h"

#include <string.h>

#include "kube/pod.h"
#include "kube/taint.h"

const char *terminated(struct arena *arena, struct text t)
{
    return arena_text(arena, t).data;
}

struct solver_labels labels_of(const struct node *map, struct arena *arena)
{
    size_t count = node_is(map, NODE_MAP) ? node_count(map) : 0;
    struct solver_label *items = ARENA_ARRAY(arena, count, struct solver_label);
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &map->members[i];
        items[i] = (struct solver_label){terminated(arena, member_key(member)),
                                         terminated(arena, node_string(&member->value))};
    }
    return (struct solver_labels){items, count};
}

const char *label_of(struct solver_labels labels, const char *key)
{
    for (size_t i = 0; i < labels.count; i++)
        if (strcmp(labels.items[i].key, key) == 0)
            return labels.items[i].value;
    return NULL;
}

struct solver_labels labels_with(struct solver_labels labels, const char *key, const char *value,
                                 struct arena *arena)
{
    if (label_of(labels, key) != NULL)
        return labels;
    struct solver_label *items = ARENA_ARRAY(arena, labels.count + 1, struct solver_label);
    if (labels.count > 0)
        memcpy(items, labels.items, labels.count * sizeof *items);
    items[labels.count] = (struct solver_label){key, value};
    return (struct solver_labels){items, labels.count + 1};
}

bool expressions_convert(const struct expressions *expressions, struct arena *arena,
                         struct solver_expressions *converted)
{
    struct solver_expression *items =
        ARENA_ARRAY(arena, expressions->count, struct solver_expression);
    for (size_t i = 0; i < expressions->count; i++) {
        const struct expression *expression = &expressions->items[i];
        if (!expression->valid)
            return false;
        const char **values = ARENA_ARRAY(arena, expression->value_count, const char *);
        for (size_t j = 0; j < expression->value_count; j++)
            values[j] = terminated(arena, expression->values[j].text);
        items[i] = (struct solver_expression){.key = terminated(arena, expression->key),
                                              .op = expression->op,
                                              .values = values,
                                              .value_count = expression->value_count,
                                              .min_values = expression->min_values};
    }
    *converted = (struct solver_expressions){items, expressions->count};
    return true;
}

struct solver_expressions expressions_with(struct solver_expressions expressions,
                                           struct solver_expression more, struct arena *arena)
{
    struct solver_expression *items =
        ARENA_ARRAY(arena, expressions.count + 1, struct solver_expression);
    if (expressions.count > 0)
        memcpy(items, expressions.items, expressions.count * sizeof *items);
    items[expressions.count] = more;
    return (struct solver_expressions){items, expressions.count + 1};
}

static bool effect_parse(struct text t, enum solver_effect *effect)
{
    static const char *const names[] = {
        [SOLVER_NO_SCHEDULE] = "NoSchedule",
        [SOLVER_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
        [SOLVER_NO_EXECUTE] = "NoExecute",
    };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (text_is(t, names[i])) {
            *effect = (enum solver_effect)i;
            return true;
        }
    return false;
}

struct solver_taints taints_convert(const struct taints *taints, struct arena *arena)
{
    struct solver_taint *items = ARENA_ARRAY(arena, taints->count, struct solver_taint);
    size_t count = 0;
    for (size_t i = 0; i < taints->count; i++) {
        const struct taint *taint = &taints->items[i];
        struct solver_taint converted = {terminated(arena, taint->key),
                                         terminated(arena, taint->value), SOLVER_NO_SCHEDULE};
        if (effect_parse(taint->effect, &converted.effect))
            items[count++] = converted;
    }
    return (struct solver_taints){items, count};
}

const struct solver_toleration *tolerations_convert(const struct tolerations *tolerations,
                                                    struct arena *arena, size_t *count)
{
    struct solver_toleration *items =
        ARENA_ARRAY(arena, tolerations->count, struct solver_toleration);
    *count = 0;
    FOR_EACH(toleration, tolerations) {
        struct solver_toleration converted = {
            .key = terminated(arena, toleration->key),
            .exists = text_is(toleration->op, "Exists"),
            .gt = text_is(toleration->op, "Gt"),
            .lt = text_is(toleration->op, "Lt"),
            .value = terminated(arena, toleration->value),
            .any_effect = toleration->effect.size == 0,
        };
        bool known = converted.exists || converted.gt || converted.lt || toleration->op.size == 0 ||
                     text_is(toleration->op, "Equal");
        if (known && (converted.any_effect || effect_parse(toleration->effect, &converted.effect)))
            items[(*count)++] = converted;
    }
    return items;
}
