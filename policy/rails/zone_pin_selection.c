/* What zone-pin says of a pod that asks for another zone than its volume's. */
#include "kube/pod.h"
#include "pinning/pin.h"
#include "policy/rails/zone_pin.h"
#include "policy/reading.h"

/* Whether it leaves none of the zones. */
static bool excludes(const struct expression *expression, const struct zones *zones)
{
    bool in = expression->op == SOLVER_IN;
    if (!expression->valid || zone_key_of(expression->key) != ZONE_KEY_NAME ||
        (!in && expression->op != SOLVER_NOT_IN))
        return false;
    for (size_t i = 0; i < zones->count; i++)
        if (expression_names(expression, zones->items[i]) == in)
            return false;
    return true;
}

static const struct expression *find_excluding(const struct expressions *expressions,
                                               const struct zones *zones)
{
    FOR_EACH(expression, expressions)
        if (excludes(expression, zones))
            return expression;
    return NULL;
}

/* In its nodeSelector, or in every alternative of its affinity: then the first. */
static const struct expression *find_obstacle(const struct node_selection *selection,
                                              const struct zones *zones)
{
    const struct expression *first = find_excluding(&selection->selector, zones);
    if (first != NULL)
        return first;
    for (size_t i = 0; i < selection->required.count; i++) {
        const struct expression *found =
            find_excluding(&selection->required.items[i].expressions, zones);
        if (found == NULL)
            return NULL;
        if (first == NULL)
            first = found;
    }
    return first;
}

static struct text values_of(const struct expression *expression, struct arena *arena)
{
    struct text_builder list = {.arena = arena};
    for (size_t i = 0; i < expression->value_count; i++)
        text_builder_printf(&list, "%s%.*s", i == 0 ? "" : " or ",
                            TEXT_ARGS(expression->values[i].text));
    return text_builder_text(&list);
}

void zone_pin_judge_selection(struct rail_call *call)
{
    struct arena *arena = call->arena;
    struct workload workload;
    struct zones zones;
    struct text volumes;
    if (!call_workload(call, &workload))
        return;
    const struct node_selection *selection = call_selection(call, &workload);
    if (selection->selector.count + selection->required.count == 0 ||
        !pin_bound_zones(call->world->snapshot, call->object, arena, &zones, &volumes))
        return;
    const struct expression *obstacle = find_obstacle(selection, &zones);
    if (obstacle == NULL)
        return;
    const struct expression_value *first = &obstacle->values[0];
    bool in = obstacle->op == SOLVER_IN;
    bool one = in && obstacle->value_count == 1 && zones.count == 1;
    report_as(call, SEVERITY_WARN,
              .field = obstacle->value_count == 1 ? expression_value_field(first, call->arena)
                                                  : obstacle->field,
              .found = first->text,
              .statement = arena_printf(
                  arena, "The pod can never start. It %s zone %.*s, and its volumes are %s: %.*s.",
                  in ? "selects" : "keeps out of", TEXT_ARGS(values_of(obstacle, arena)),
                  in ? "elsewhere" : "there", TEXT_ARGS(volumes)),
              .fix = one ? arena_printf(arena, "Use %.*s, where the volumes are.",
                                        TEXT_ARGS(zones.items[0]))
                         : TEXT("Leave the zone out, because the volumes decide it."),
              .replacement = one ? zones.items[0] : TEXT(""));
}
