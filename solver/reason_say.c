/* Makes the operands of reasons. An operand holds texts and numbers and does not refer to the
 * problem. */
#include "solver/explain.h"

struct solver_saying reason_say(const struct explanation *q, enum solver_says says,
                                const struct solver_operand *operands, size_t count)
{
    struct solver_operand *copy = ARENA_ARRAY(q->run->arena, count, struct solver_operand);
    for (size_t i = 0; i < count; i++)
        copy[i] = operands[i];
    return (struct solver_saying){says, copy, count};
}

struct text key_text(const struct solver_problem *problem, uint32_t key)
{
    struct text text;
    text.data = solver_names_key_text(problem->names, key, &text.size);
    return text;
}

struct text value_text(const struct solver_problem *problem, uint32_t key, size_t value)
{
    struct text text;
    text.data = solver_names_value_text(problem->names, key, (uint32_t)value, &text.size);
    return text;
}

struct text_list option_type_names(const struct explanation *q, const uint64_t *options)
{
    struct text_list types = {0};
    uint32_t last = SOLVER_NONE; /* options of a type follow each other */
    for (BITS_EACH(option, options, q->problem->option_words)) {
        if (q->problem->options.items[option].type != last)
            *LIST_PUSH(q->run->arena, &types) = text_of(option_type_name(q->problem, option));
        last = q->problem->options.items[option].type;
    }
    return types;
}

/* ---- operands ---- */

struct solver_operand operand_name(struct text name)
{
    return (struct solver_operand){.kind = SOLVER_OPERAND_NAME, .name = name};
}

struct solver_operand operand_number(int64_t number)
{
    return (struct solver_operand){.kind = SOLVER_OPERAND_NUMBER, .number = number};
}

struct solver_operand operand_quantity(const struct explanation *q, size_t resource, int64_t amount,
                                       bool up)
{
    const char *name = solver_resource_name(q->problem, (uint32_t)resource);
    return (struct solver_operand){.kind = SOLVER_OPERAND_QUANTITY,
                                   .quantity = {(uint32_t)resource, name, amount, up}};
}

struct solver_operand operand_texts(const struct text_list *texts)
{
    return (struct solver_operand){.kind = SOLVER_OPERAND_TEXTS,
                                   .texts = {texts->items, texts->count, 0}};
}

/* Keeps the first SOLVER_VALUES_TOLD, in order. */
static void keep_first(struct text text, struct text *items, struct solver_texts *texts)
{
    size_t at = texts->count;
    while (at > 0 && text_compare(items[at - 1], text) > 0)
        at--;
    if (texts->count < SOLVER_VALUES_TOLD)
        texts->count++;
    else
        texts->more++;
    for (size_t i = texts->count - 1; i > at; i--)
        items[i] = items[i - 1];
    if (at < texts->count)
        items[at] = text;
}

struct solver_operand operand_values(const struct explanation *q, uint32_t key,
                                     const uint64_t *values, size_t word_count)
{
    struct text first[SOLVER_VALUES_TOLD] = {{0}};
    struct solver_texts texts = {0};
    for (BITS_EACH(value, values, word_count))
        keep_first(value_text(q->problem, key, value), first, &texts);
    struct text *items = ARENA_ARRAY(q->run->arena, texts.count, struct text);
    for (size_t i = 0; i < texts.count; i++)
        items[i] = first[i];
    texts.items = items;
    return (struct solver_operand){.kind = SOLVER_OPERAND_TEXTS, .texts = texts};
}

struct solver_operand operand_asked(const struct explanation *q,
                                    const struct solver_requirement *const *items, size_t count)
{
    struct solver_asked *asked = ARENA_ARRAY(q->run->arena, count, struct solver_asked);
    for (size_t i = 0; i < count; i++) {
        const struct solver_requirement *r = items[i];
        asked[i] = (struct solver_asked){
            .key = key_text(q->problem, r->key),
            .op = solver_requirement_op(r),
            .has_gte = r->has_gte,
            .has_lte = r->has_lte,
            .gte = r->gte,
            .lte = r->lte,
            .values = operand_values(q, r->key, r->words, r->word_count).texts,
        };
    }
    bool of_offering = count == 1 && (items[0]->key == q->problem->zone_key ||
                                      items[0]->key == q->problem->capacity_type_key);
    return (struct solver_operand){
        .kind = SOLVER_OPERAND_ASKED,
        .asked = {.items = asked, .count = count, .of_offering = of_offering}};
}

struct solver_operand operand_requirement(const struct explanation *q,
                                          const struct solver_requirement *r)
{
    return operand_asked(q, &r, 1);
}

struct solver_operand operand_taint(const struct explanation *q, const struct taint *taint)
{
    return (struct solver_operand){
        .kind = SOLVER_OPERAND_TAINT,
        .taint = {.key = text_of(intern_text(&q->problem->words, taint->key)),
                  .value = text_of(intern_text(&q->problem->words, taint->value)),
                  .effect = taint->effect}};
}

struct solver_operand operand_toleration(const struct explanation *q, const struct toleration *t)
{
    struct text key = text_of(intern_text(&q->problem->words, t->key));
    struct text value = t->exists ? TEXT("") : text_of(intern_text(&q->problem->words, t->value));
    if (t->gt || t->lt) {
        key = arena_printf(q->run->arena, "%.*s %s %.*s", TEXT_ARGS(key), t->gt ? "above" : "below",
                           TEXT_ARGS(value));
        value = TEXT("");
    }
    return (struct solver_operand){
        .kind = SOLVER_OPERAND_TAINT,
        .taint = {.key = key, .value = value, .any_effect = t->any_effect, .effect = t->effect}};
}

static enum solver_constraint constraint_of(const struct topology_group *group)
{
    switch (group->kind) {
    case TOPOLOGY_SPREAD:
        return SOLVER_SPREAD;
    case TOPOLOGY_POD_AFFINITY:
        return SOLVER_AFFINITY;
    case TOPOLOGY_POD_ANTI_AFFINITY:
        break;
    }
    return group->inverse ? SOLVER_ANTI_AFFINITY_OF_OTHERS : SOLVER_ANTI_AFFINITY;
}

struct solver_operand operand_group(const struct explanation *q, uint32_t number)
{
    const struct topology_group *group = group_at(q, number);
    return (struct solver_operand){.kind = SOLVER_OPERAND_CONSTRAINT,
                                   .constraint = {.kind = constraint_of(group),
                                                  .key = key_text(q->problem, group->key),
                                                  .over_nodes = group->hostname,
                                                  .over_zones = group->key == q->problem->zone_key,
                                                  .max_skew = group->max_skew}};
}

struct solver_operand operand_selector(const struct explanation *q, uint32_t number)
{
    const struct solver_names *names = q->problem->pod_names;
    const struct selector *selector = &q->problem->selectors.items[group_at(q, number)->selector];
    struct solver_asked *asked = ARENA_ARRAY(q->run->arena, selector->count, struct solver_asked);
    for (size_t i = 0; i < selector->count; i++) {
        const struct selector_item *item = &selector->items[i];
        struct text *values = ARENA_ARRAY(q->run->arena, item->value_count, struct text);
        for (size_t j = 0; j < item->value_count; j++)
            values[j].data =
                solver_names_value_text(names, item->key, item->values[j], &values[j].size);
        asked[i] = (struct solver_asked){.op = item->op, .values = {values, item->value_count, 0}};
        asked[i].key.data = solver_names_key_text(names, item->key, &asked[i].key.size);
    }
    return (struct solver_operand){
        .kind = SOLVER_OPERAND_SELECTOR,
        .asked = {.items = asked, .count = selector->count, .of_none = selector->nothing}};
}

struct solver_operand operand_sayings(const struct sayings *sayings)
{
    return (struct solver_operand){.kind = SOLVER_OPERAND_SAYINGS,
                                   .sayings = {sayings->items, sayings->count}};
}
