/* Words that all reasons share. */
#include <stdlib.h>
#include <string.h>

#include "solver/explain.h"

#define VALUES_SHOWN 5

struct text words_key(const struct solver_problem *problem, uint32_t key)
{
    struct text text;
    text.data = solver_names_key_text(problem->names, key, &text.size);
    return text;
}

/* No label is longer; of what is, as much as tells which it is. */
static struct text shortened(struct arena *arena, struct text text)
{
    enum { LONGEST = 317, SHOWN = 60 };
    if (text.size <= LONGEST)
        return text;
    size_t size = SHOWN;
    while (size > 0 && ((unsigned char)text.data[size] & 0xC0) == 0x80)
        size--; /* not within a code point */
    return arena_printf(arena, "%.*s...", (int)size, text.data);
}

static int compare_texts(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

/* What is shown of a long list comes first, in no order yet; returns how many that is. */
static size_t first_to_front(struct texts *texts)
{
    struct text *items = texts->items;
    for (size_t i = 1; i < texts->count; i++) {
        size_t last = i < VALUES_SHOWN ? i : VALUES_SHOWN - 1;
        if (text_compare(items[i], items[last]) > 0)
            continue;
        struct text moved = items[i];
        items[i] = items[last];
        for (; last > 0 && text_compare(items[last - 1], moved) > 0; last--)
            items[last] = items[last - 1];
        items[last] = moved;
    }
    return VALUES_SHOWN;
}

struct text words_list(struct arena *arena, struct texts *texts, const char *last)
{
    struct text result = TEXT("");
    size_t shown = texts->count > VALUES_SHOWN + 1 ? VALUES_SHOWN : texts->count;
    size_t sorted = shown < texts->count ? first_to_front(texts) : texts->count;
    if (sorted > 1)
        qsort(texts->items, sorted, sizeof *texts->items, compare_texts);
    for (size_t i = 0; i < shown; i++) {
        const char *between = i == 0 ? "" : i + 1 < texts->count ? ", " : last;
        result = arena_printf(arena, "%.*s%s%.*s", TEXT_ARGS(result), between,
                              TEXT_ARGS(texts->items[i]));
    }
    if (shown < texts->count)
        result = arena_printf(arena, "%.*s and %zu more", TEXT_ARGS(result), texts->count - shown);
    return result;
}

struct text words_values(const struct solver_problem *problem, struct arena *arena, uint32_t key,
                         const uint64_t *values, size_t word_count, const char *last)
{
    struct texts texts = {0};
    for (BITS_EACH(value, values, word_count)) {
        struct text *text = LIST_PUSH(arena, &texts);
        text->data = solver_names_value_text(problem->names, key, (uint32_t)value, &text->size);
        *text = text->size == 0 ? TEXT("\"\"") : shortened(arena, *text);
    }
    return words_list(arena, &texts, last);
}

static struct text words_bounds(struct arena *arena, const struct solver_requirement *r)
{
    if (r->has_gte && r->has_lte)
        return arena_printf(arena, " of at least %lld and at most %lld", (long long)r->gte,
                            (long long)r->lte);
    if (r->has_gte)
        return arena_printf(arena, " of at least %lld", (long long)r->gte);
    return r->has_lte ? arena_printf(arena, " of at most %lld", (long long)r->lte) : TEXT("");
}

struct text words_requirement(const struct solver_problem *problem, struct arena *arena,
                              const struct solver_requirement *r)
{
    struct text key = shortened(arena, words_key(problem, r->key)), bounds = words_bounds(arena, r);
    struct text values = words_values(problem, arena, r->key, r->words, r->word_count, " or ");
    switch (solver_requirement_op(r)) {
    case SOLVER_IN:
        return arena_printf(arena, "%.*s %.*s", TEXT_ARGS(key), TEXT_ARGS(values));
    case SOLVER_NOT_IN:
        return arena_printf(arena, "%.*s%.*s other than %.*s", TEXT_ARGS(key), TEXT_ARGS(bounds),
                            TEXT_ARGS(values));
    case SOLVER_DOES_NOT_EXIST:
        return arena_printf(arena, "no label %.*s", TEXT_ARGS(key));
    case SOLVER_EXISTS:
    default:
        return bounds.size > 0 ? arena_printf(arena, "%.*s%.*s", TEXT_ARGS(key), TEXT_ARGS(bounds))
                               : arena_printf(arena, "any %.*s", TEXT_ARGS(key));
    }
}

struct text words_offering(const struct solver_problem *problem, struct arena *arena,
                           const struct solver_requirements *set)
{
    const uint32_t keys[] = {problem->zone_key, problem->capacity_type_key};
    struct text words = TEXT("");
    for (size_t i = 0; i < 2; i++) {
        const struct solver_requirement *r = solver_requirements_get(set, keys[i]);
        if (r != NULL)
            words =
                arena_printf(arena, "%.*s%s%.*s", TEXT_ARGS(words), words.size == 0 ? "" : " and ",
                             TEXT_ARGS(words_requirement(problem, arena, r)));
    }
    return words;
}

/* ---- taints ---- */

static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};

struct text words_taint(const struct solver_problem *problem, struct arena *arena,
                        const struct taint *taint)
{
    const char *value = intern_text(&problem->words, taint->value);
    return arena_printf(arena, "%s%s%s:%s", intern_text(&problem->words, taint->key),
                        *value == '\0' ? "" : "=", value, effects[taint->effect]);
}

struct text words_toleration(const struct solver_problem *problem, struct arena *arena,
                             const struct toleration *t)
{
    const char *value = t->exists ? "" : intern_text(&problem->words, t->value);
    return arena_printf(arena, "%s%s%s%s%s", intern_text(&problem->words, t->key),
                        *value == '\0' ? "" : "=", value, t->any_effect ? "" : ":",
                        t->any_effect ? "" : effects[t->effect]);
}

/* ---- quantities ---- */

static struct text words_cpu(struct arena *arena, int64_t thousandths)
{
    long long whole = (long long)(thousandths / 1000);
    unsigned rest = (unsigned)(thousandths % 1000);
    if (rest == 0)
        return arena_printf(arena, "%lld cpu", whole);
    if (rest % 100 == 0)
        return arena_printf(arena, "%lld.%u cpu", whole, rest / 100);
    return rest % 10 == 0 ? arena_printf(arena, "%lld.%02u cpu", whole, rest / 10)
                          : arena_printf(arena, "%lld.%03u cpu", whole, rest);
}

/* In the largest unit in which it is a whole number, unless that is long. */
static struct text words_bytes(struct arena *arena, int64_t bytes, const char *name, bool up)
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    enum { UNITS = COUNT_OF(units), WHOLE_MOST = 9999 };
    int64_t whole = bytes;
    size_t unit = 0;
    for (; whole % 1024 == 0 && whole != 0 && unit + 1 < UNITS; unit++)
        whole /= 1024;
    if (whole <= WHOLE_MOST)
        return arena_printf(arena, "%lld%s %s", (long long)whole, units[unit], name);
    int64_t size_bytes = 1;
    for (unit = 0; bytes / size_bytes >= 1024 && unit + 1 < UNITS; unit++)
        size_bytes *= 1024;
    int64_t over = bytes % size_bytes * 100;
    long long hundredths = bytes / size_bytes * 100 + over / size_bytes;
    if (up && over % size_bytes != 0)
        hundredths++;
    if (hundredths % 100 == 0)
        return arena_printf(arena, "%lld%s %s", hundredths / 100, units[unit], name);
    if (hundredths % 10 == 0)
        return arena_printf(arena, "%lld.%lld%s %s", hundredths / 100, hundredths / 10 % 10,
                            units[unit], name);
    return arena_printf(arena, "%lld.%02lld%s %s", hundredths / 100, hundredths % 100, units[unit],
                        name);
}

struct text words_quantity(const struct solver_problem *problem, struct arena *arena,
                           uint32_t resource, int64_t quantity, bool up)
{
    const char *name = solver_resource_name(problem, resource);
    if (quantity < 0)
        quantity = 0;
    if (quantity == INT64_MAX)
        return arena_printf(arena, "more %s than can be counted", name);
    if (resource == SOLVER_CPU)
        return words_cpu(arena, quantity);
    if (resource == SOLVER_MEMORY || strstr(name, "storage") != NULL ||
        strncmp(name, "hugepages-", strlen("hugepages-")) == 0)
        return words_bytes(arena, quantity, name, up);
    if (quantity == 1 && (resource == SOLVER_PODS || resource == SOLVER_NODES))
        return resource == SOLVER_PODS ? TEXT("1 pod") : TEXT("1 node");
    return arena_printf(arena, "%lld %s", (long long)quantity, name);
}

/* ---- pods ---- */

static struct text words_item(const struct solver_problem *problem, struct arena *arena,
                              const struct selector_item *item)
{
    struct text key;
    key.data = solver_names_key_text(problem->pod_names, item->key, &key.size);
    struct texts values = {0};
    for (size_t i = 0; i < item->value_count; i++) {
        struct text *value = LIST_PUSH(arena, &values);
        value->data =
            solver_names_value_text(problem->pod_names, item->key, item->values[i], &value->size);
    }
    struct text list = words_list(arena, &values, " or ");
    switch (item->op) {
    case SOLVER_IN:
        return arena_printf(arena, "%.*s=%.*s", TEXT_ARGS(key), TEXT_ARGS(list));
    case SOLVER_NOT_IN:
        return arena_printf(arena, "%.*s other than %.*s", TEXT_ARGS(key), TEXT_ARGS(list));
    case SOLVER_DOES_NOT_EXIST:
        return arena_printf(arena, "no label %.*s", TEXT_ARGS(key));
    default:
        return arena_printf(arena, "any %.*s", TEXT_ARGS(key));
    }
}

struct text words_selector(const struct solver_problem *problem, struct arena *arena,
                           const struct topology_group *group)
{
    const struct selector *selector = &problem->selectors.items[group->selector];
    struct text_builder result = {.arena = arena};
    if (selector->nothing)
        return TEXT("its selector is none");
    for (size_t i = 0; i < selector->count; i++)
        text_builder_printf(&result, "%s%.*s", i == 0 ? "" : ", ",
                            TEXT_ARGS(words_item(problem, arena, &selector->items[i])));
    return selector->count == 0 ? TEXT("any pod") : text_builder_text(&result);
}

/* ---- types ---- */

const char *words_type(const struct solver_problem *problem, size_t option)
{
    return problem->types.items[problem->options.items[option].type].name;
}

struct texts words_types(const struct solver_problem *problem, struct arena *arena,
                         const uint64_t *options)
{
    struct texts types = {0};
    uint32_t last = SOLVER_NONE; /* options of a type follow each other */
    for (BITS_EACH(option, options, problem->option_words)) {
        if (problem->options.items[option].type != last)
            *LIST_PUSH(arena, &types) = text_of(words_type(problem, option));
        last = problem->options.items[option].type;
    }
    return types;
}
