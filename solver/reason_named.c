/* Reasons that name what excludes a type. */
#include "solver/explain.h"
#include "solver/well_known.h"

static struct wanted_type wanted_type(const struct question *q, const struct solver_requirement *r)
{
    struct wanted_type first = {.option = SIZE_MAX};
    const struct key_index *index = &q->problem->key_index[r->key];
    for (BITS_EACH(value, r->words, r->word_count)) {
        struct wanted_type type = {.option = SIZE_MAX};
        type.name.data =
            solver_names_value_text(q->problem->names, r->key, (uint32_t)value, &type.name.size);
        if (index->defined && value < index->value_count && index->values[value] != NULL)
            type.option = bits_next(index->values[value], q->problem->option_words, 0);
        if (first.name.data == NULL || text_compare(type.name, first.name) < 0)
            first = type;
    }
    return first;
}

static struct text family_of(struct text name)
{
    struct text family, size;
    return text_split(name, '.', &family, &size) ? family : name;
}

struct text reason_nearest_type(const struct question *q, const struct wanted_type *wanted,
                                const uint64_t *options)
{
    const struct solver_problem *problem = q->problem;
    const int64_t *cpu = &problem->capacity[SOLVER_CPU * problem->options.count];
    struct text best = {0};
    double least_size = 0;
    size_t least_family = 0;
    for (BITS_EACH(option, options, problem->option_words)) {
        struct text name = text_of(words_type(problem, option));
        size_t family = text_distance(family_of(name), family_of(wanted->name), 64);
        double size = (double)text_distance(name, wanted->name, 64);
        if (wanted->option != SIZE_MAX) {
            double a = (double)cpu[option] + 1, b = (double)cpu[wanted->option] + 1;
            size = a > b ? a / b : b / a;
        }
        if (best.data != NULL &&
            (family > least_family ||
             (family == least_family &&
              (size > least_size || (size >= least_size && text_compare(name, best) >= 0)))))
            continue;
        best = name;
        least_family = family;
        least_size = size;
    }
    return best;
}

static struct text words_value_of_type(struct question *q, const struct wanted_type *wanted,
                                       uint32_t key)
{
    const struct instance_type *type =
        &q->problem->types.items[q->problem->options.items[wanted->option].type];
    const struct solver_requirement *r = solver_requirements_get(&type->requirements, key);
    if (r == NULL || solver_requirement_op(r) != SOLVER_IN)
        return TEXT("none");
    return words_values(q->problem, q->run->arena, key, r->words, r->word_count, " and ");
}

/* The pool's requirement that a type does not meet, the first by key; NULL. */
static const struct solver_requirement *excluding(struct question *q,
                                                  const struct wanted_type *wanted)
{
    const struct solver_problem *problem = q->problem;
    const struct solver_requirements *own = &problem->pools.items[q->pool].requirements;
    const struct solver_requirement *first = NULL;
    for (size_t i = 0; i < own->count; i++) {
        const struct solver_requirement *r = &own->items[i];
        uint64_t *options = ARENA_ARRAY(q->run->arena, problem->option_words, uint64_t);
        bits_add(options, wanted->option);
        if (reason_type_says(problem, r->key))
            reason_keep(q, r, options);
        if (!bits_any(options, problem->option_words) &&
            (first == NULL ||
             text_compare(words_key(problem, r->key), words_key(problem, first->key)) < 0))
            first = r;
    }
    return first;
}

/* Why a known type is none of the pool's. */
static struct text why_not(struct question *q, const struct wanted_type *wanted)
{
    const struct solver_problem *problem = q->problem;
    struct arena *arena = q->run->arena;
    const struct pool *pool = &problem->pools.items[q->pool];
    const struct solver_requirement *r = excluding(q, wanted);
    if (r != NULL) {
        struct text allowed = words_requirement(problem, arena, r);
        if (text_is(words_key(problem, r->key), LABEL_INSTANCE_TYPE))
            return arena_printf(arena, "the NodePool allows %.*s", TEXT_ARGS(allowed));
        return arena_printf(arena, "the NodePool allows %.*s; %.*s has %.*s", TEXT_ARGS(allowed),
                            TEXT_ARGS(wanted->name),
                            TEXT_ARGS(words_value_of_type(q, wanted, r->key)));
    }
    if (!bits_has(pool->all_options, wanted->option))
        return TEXT("the NodePool's class does not offer it");
    uint64_t *offered = ARENA_ARRAY(arena, problem->option_words, uint64_t);
    offerings_select(problem, &pool->requirements, offered);
    if (!bits_has(offered, wanted->option))
        return TEXT("it is not on offer in the zones and capacity types of the NodePool");
    return TEXT("DaemonSets leave no room on it");
}

void reason_of_named(struct question *q, struct solver_reason *reason,
                     const struct solver_requirement *r)
{
    struct arena *arena = q->run->arena;
    const uint64_t *options = q->problem->pools.items[q->pool].options;
    struct wanted_type wanted = wanted_type(q, r);
    struct text nearest = reason_nearest_type(q, &wanted, options);
    struct text names = words_values(q->problem, arena, r->key, r->words, r->word_count, " or ");
    if (wanted.option == SIZE_MAX) {
        bool near = text_distance(nearest, wanted.name, TYPO_EDITS) <= TYPO_EDITS;
        reason->message = arena_printf(arena, "asks for %.*s; no instance type %.*s is known",
                                       TEXT_ARGS(names), TEXT_ARGS(wanted.name))
                              .data;
        reason->nearest = near ? arena_printf(arena, "did you mean %.*s?", TEXT_ARGS(nearest)).data
                               : arena_printf(arena, "%.*s", TEXT_ARGS(nearest)).data;
        return;
    }
    reason->message =
        arena_printf(arena, "asks for %.*s; %.*s", TEXT_ARGS(names), TEXT_ARGS(why_not(q, &wanted)))
            .data;
    reason->nearest = arena_printf(arena, "%.*s", TEXT_ARGS(nearest)).data;
}

bool reason_names_types(const struct question *q, const struct solver_requirement *r)
{
    return text_is(words_key(q->problem, r->key), LABEL_INSTANCE_TYPE) &&
           solver_requirement_op(r) == SOLVER_IN;
}
