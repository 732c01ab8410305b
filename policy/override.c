/* Overrides: another mode for some objects. */
#include "policy/document.h"

/* In the order of enum mode, one to the left or to the right. */
static enum mode stepped(enum mode mode, int step)
{
    if (step == STEP_SOFTER)
        return mode == MODE_OFF ? MODE_OFF : mode - 1;
    return mode == MODE_ENFORCE ? MODE_ENFORCE : mode + 1;
}

/* One that names no rails is for all of them. */
static bool covers_rail(const struct override *override, const char *rail)
{
    for (size_t i = 0; i < override->rails.count; i++)
        if (text_is(override->rails.items[i], rail))
            return true;
    return !override->rails.given;
}

/* ---- loading ---- */

static const struct rail_use *find_use(const struct policy *policy, struct text rail)
{
    for (size_t i = 0; i < policy->rail_count; i++)
        if (text_is(rail, policy->rails[i].rail->name))
            return &policy->rails[i];
    return NULL;
}

/* What an override does to no rail is a mistake: somebody relies on it. */
static bool check_steps(const struct schema *schema, const struct field *item,
                        const struct override *override, const struct policy *policy)
{
    static const char *const already[] = {[STEP_SOFTER] = "off already; nothing is softer",
                                          [STEP_STRICTER] =
                                              "enforced already; nothing is stricter"};
    bool good = true;
    for (size_t i = 0; i < override->rails.count; i++) {
        const struct rail_use *use = find_use(policy, override->rails.items[i]);
        if (use == NULL || stepped(use->mode, override->step) != use->mode)
            continue;
        const struct field *list = field_get(schema->arena, item, "rails");
        good = schema_problem(schema, field_item(schema->arena, list, i),
                              override->rails.nodes[i]->offset,
                              "found \"%s\", which is %s: take it out of the override",
                              use->rail->name, already[override->step]);
    }
    bool moves = override->rails.given;
    for (size_t i = 0; !moves && i < policy->rail_count; i++)
        moves = stepped(policy->rails[i].mode, override->step) != policy->rails[i].mode;
    if (!moves && policy->rail_count > 0) {
        const struct field *step = field_get(schema->arena, item, "step");
        good = schema_problem(schema, step, step->node->offset,
                              "every rail of this policy is %s: take the override out",
                              already[override->step]);
    }
    return good;
}

static bool step_is_read(const struct field *item)
{
    struct text step = node_string(node_get(item->node, "step"));
    return text_is(step, "softer") || text_is(step, "stricter");
}

static bool check_match(const struct schema *schema, const struct field *item,
                        const struct override *override)
{
    const struct field *match = field_get(schema->arena, item, "match");
    if (!node_is(match->node, NODE_MAP) || override->match.namespaces.given ||
        override->match.namespace_selector != NULL)
        return true;
    return schema_problem(schema, match, match->node->offset,
                          "says no namespaces: an override is for some of them, so give "
                          "`namespaces` or `namespaceSelector`; what holds for all is the rail's "
                          "`mode`");
}

bool override_check(const struct schema *schema, const struct rails_named *named,
                    const struct field *item, const struct override *override,
                    const struct policy *policy)
{
    bool good = rails_check(schema, named, item, &override->rails);
    /* Of a step that was refused there is no more to say. */
    return !step_is_read(item) || (check_steps(schema, item, override, policy) && good);
}

bool overrides_read(const struct schema *schema, const struct field *spec,
                    struct override *overrides, size_t count)
{
    struct arena *arena = schema->arena;
    const struct field *list = field_get(arena, spec, "overrides");
    struct text *ids = ARENA_ARRAY(arena, count, struct text);
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        const struct field *item = field_item(arena, list, i);
        ids[i] = overrides[i].id;
        overrides[i].at = source_place(schema->source, arena, field_offset(item));
        good = check_match(schema, item, &overrides[i]) && good;
    }
    return ids_check(schema, list, ids, count, "override") && good;
}

/* ---- deciding ---- */

bool policy_may_use(const struct policy *policy, const struct rail_use *use)
{
    bool used = use->mode != MODE_OFF;
    for (size_t i = 0; !used && i < policy->override_count; i++)
        used = policy->overrides[i].step == STEP_STRICTER &&
               covers_rail(&policy->overrides[i], use->rail->name);
    return used;
}

const struct override *override_find(const struct policy *policy, const struct rail_use *use,
                                     const struct match_subject *subject, enum mode *mode,
                                     bool *unknown)
{
    const struct override *first[STEP_COUNT] = {NULL};
    bool waits[STEP_COUNT] = {false};
    for (size_t i = 0; i < policy->override_count; i++) {
        const struct override *override = &policy->overrides[i];
        int step = override->step;
        if (!covers_rail(override, use->rail->name) || stepped(use->mode, step) == use->mode)
            continue;
        enum match_result match = match_evaluate(&override->match, subject);
        if (match == MATCH_YES && first[step] == NULL)
            first[step] = override;
        waits[step] |= match == MATCH_UNKNOWN;
    }
    /* Whoever asked for more care gets it, whatever else applies. */
    const struct override *applied = first[STEP_STRICTER];
    *unknown = applied == NULL &&
               (waits[STEP_STRICTER] || (waits[STEP_SOFTER] && first[STEP_SOFTER] == NULL));
    if (*unknown) {
        *mode = waits[STEP_STRICTER] ? stepped(use->mode, STEP_STRICTER) : use->mode;
        return NULL;
    }
    if (applied == NULL)
        applied = first[STEP_SOFTER];
    *mode = applied == NULL ? use->mode : stepped(use->mode, applied->step);
    return applied;
}
