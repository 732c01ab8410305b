/* Reasons of requirements: which of them no type of a pool meets, and which value would be met. */
#include <string.h>

#include "solver/explain.h"
#include "solver/well_known.h"

#define KEYS_TRIED 12 /* of a set, in every combination */

/* ---- which requirements exclude all types ---- */

/* Requirements that no option meets together, with the operand for each. */
struct clash {
    const struct solver_requirement *items[KEYS_TRIED], *told[KEYS_TRIED];
    size_t count;
};

/* Whether any instance type has a requirement on the key. */
static bool type_says(const struct solver_problem *problem, uint32_t key)
{
    return key < problem->key_count && problem->key_index[key].defined;
}

/* Removes the options whose type does not meet the requirement. */
static void keep(const struct explanation *q, const struct solver_requirement *r, uint64_t *options)
{
    uint64_t *some = ARENA_ARRAY(q->run->arena, q->problem->option_words, uint64_t);
    struct solver_requirement copy = *r;
    const struct solver_requirements one = {&copy, 1, 1};
    instance_types_select(q->problem, &one, some);
    for (size_t w = 0; w < q->problem->option_words; w++)
        options[w] &= some[w];
}

/* Whether a requirement lists types by name. */
static bool names_types(const struct explanation *q, const struct solver_requirement *r)
{
    return text_is(key_text(q->problem, r->key), LABEL_INSTANCE_TYPE) &&
           solver_requirement_op(r) == SOLVER_IN;
}

static uint64_t *copy_options(const struct explanation *q, const uint64_t *options)
{
    uint64_t *copy = ARENA_ARRAY(q->run->arena, q->problem->option_words, uint64_t);
    memcpy(copy, options, q->problem->option_words * sizeof *copy);
    return copy;
}

/* The fewest requirements that together leave none of the options; none when all together leave
 * some. */
static struct clash fewest(const struct explanation *q, const struct clash *all,
                           const uint64_t *left)
{
    size_t words = q->problem->option_words;
    uint64_t *kept[KEYS_TRIED];
    for (size_t i = 0; i < all->count; i++) {
        kept[i] = copy_options(q, left);
        keep(q, all->items[i], kept[i]);
    }
    for (int size = 1; size <= (int)all->count; size++)
        for (unsigned set = 1; set < 1u << all->count; set++) {
            uint64_t any = 0;
            for (size_t w = 0; w < words && __builtin_popcount(set) == size; w++) {
                uint64_t word = left[w];
                for (size_t i = 0; i < all->count; i++)
                    word &= (set >> i & 1) != 0 ? kept[i][w] : UINT64_MAX;
                any |= word;
            }
            if (__builtin_popcount(set) != size || any != 0)
                continue;
            struct clash found = {.count = 0};
            for (size_t i = 0; i < all->count; i++)
                if ((set >> i & 1) != 0) {
                    found.items[found.count] = all->items[i];
                    found.told[found.count++] = all->told[i];
                }
            return found;
        }
    return (struct clash){.count = 0};
}

static void swap_items(struct clash *clash, size_t a, size_t b)
{
    const struct solver_requirement *item = clash->items[a], *told = clash->told[a];
    clash->items[a] = clash->items[b];
    clash->told[a] = clash->told[b];
    clash->items[b] = item;
    clash->told[b] = told;
}

static bool comes_before(const struct explanation *q, const struct solver_requirement *a,
                         const struct solver_requirement *b)
{
    bool a_names = names_types(q, a), b_names = names_types(q, b);
    return a_names != b_names
               ? a_names
               : text_compare(key_text(q->problem, a->key), key_text(q->problem, b->key)) < 0;
}

/* The requirements of a set on keys that instance types have; combined has them merged with what
 * else is asked of these keys. */
static struct clash gather(const struct explanation *q, const struct solver_requirements *set,
                           const struct solver_requirements *combined)
{
    struct clash all = {.count = 0};
    for (size_t i = 0; i < set->count && all.count < KEYS_TRIED; i++) {
        if (!type_says(q->problem, set->items[i].key))
            continue;
        all.told[all.count] = &set->items[i];
        all.items[all.count++] = solver_requirements_get(combined, set->items[i].key);
    }
    /* Of several that exclude the same options the first is reported: the name of a type says
     * most. */
    for (size_t i = 1; i < all.count; i++)
        for (size_t j = i; j > 0 && comes_before(q, all.told[j], all.told[j - 1]); j--)
            swap_items(&all, j, j - 1);
    return all;
}

/* ---- what types have instead ---- */

/* The number nearest to the bounds, and the type that has it; false when no option has a number. */
static bool nearest_number(struct explanation *q, const struct solver_requirement *r,
                           const uint64_t *options, struct solver_saying *saying)
{
    const struct key_index *index = &q->problem->key_index[r->key];
    int64_t best = 0;
    size_t best_option = SIZE_MAX;
    for (uint32_t v = 0; v < index->value_count; v++) {
        int64_t number = 0;
        if (index->values[v] == NULL ||
            !solver_names_value_number(q->problem->names, r->key, v, &number))
            continue;
        for (BITS_EACH(option, index->values[v], q->problem->option_words)) {
            bool same = best_option != SIZE_MAX && number == best;
            bool nearer = best_option == SIZE_MAX || (r->has_gte ? number > best : number < best) ||
                          (same && strcmp(option_type_name(q->problem, option),
                                          option_type_name(q->problem, best_option)) < 0);
            if (!nearer || !bits_has(options, option))
                continue;
            best = number;
            best_option = option;
        }
    }
    if (best_option == SIZE_MAX)
        return false;
    const struct solver_operand operands[] = {
        operand_name(key_text(q->problem, r->key)), operand_number(best),
        operand_name(text_of(option_type_name(q->problem, best_option)))};
    *saying =
        reason_say(q, r->has_gte ? SOLVER_SAYS_HIGHEST_LEFT : SOLVER_SAYS_LOWEST_LEFT, operands, 3);
    return true;
}

static struct solver_operand operand_values_of(const struct explanation *q, uint32_t key,
                                               const uint64_t *options)
{
    const struct key_index *index = &q->problem->key_index[key];
    size_t word_count = bits_words(index->value_count) + 1;
    uint64_t *values = ARENA_ARRAY(q->run->arena, word_count, uint64_t);
    for (size_t v = 0; v < index->value_count; v++)
        if (index->values[v] != NULL &&
            bits_meet(index->values[v], options, q->problem->option_words))
            bits_add(values, v);
    return operand_values(q, key, values, word_count);
}

/* ---- types by name ---- */

struct wanted_type {
    struct text name;
    size_t option; /* SIZE_MAX: no such type */
};

static struct wanted_type wanted_type(const struct explanation *q,
                                      const struct solver_requirement *r)
{
    struct wanted_type first = {.option = SIZE_MAX};
    const struct key_index *index = &q->problem->key_index[r->key];
    for (BITS_EACH(value, r->words, r->word_count)) {
        struct wanted_type type = {.option = SIZE_MAX};
        type.name = value_text(q->problem, r->key, value);
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

/* The type with the nearest name among the options: of the same family the nearest in size, of
 * equals the first by name, in whose order options are. */
static struct text nearest_type(const struct explanation *q, const struct wanted_type *wanted,
                                const uint64_t *options)
{
    const struct solver_problem *problem = q->problem;
    const int64_t *cpu = &problem->capacity[SOLVER_CPU * problem->options.count];
    struct text best = {0};
    double least_size = 0;
    size_t least_family = 0;
    for (BITS_EACH(option, options, problem->option_words)) {
        struct text name = text_of(option_type_name(problem, option));
        size_t family = text_distance(family_of(name), family_of(wanted->name), 64);
        double size = (double)text_distance(name, wanted->name, 64);
        if (wanted->option != SIZE_MAX) {
            double a = (double)cpu[option] + 1, b = (double)cpu[wanted->option] + 1;
            size = a > b ? a / b : b / a;
        }
        if (best.data != NULL &&
            (family > least_family || (family == least_family && size >= least_size)))
            continue;
        best = name;
        least_family = family;
        least_size = size;
    }
    return best;
}

/* The values of a type for a key; NULL: none. */
static const struct solver_requirement *values_of_type(const struct explanation *q,
                                                       const struct wanted_type *wanted,
                                                       uint32_t key)
{
    const struct instance_type *type =
        &q->problem->types.items[q->problem->options.items[wanted->option].type];
    const struct solver_requirement *r = solver_requirements_get(&type->requirements, key);
    return r != NULL && solver_requirement_op(r) == SOLVER_IN ? r : NULL;
}

/* The first requirement of the pool, by key, that a type does not meet; NULL: none. */
static const struct solver_requirement *excluding(struct explanation *q,
                                                  const struct wanted_type *wanted)
{
    const struct solver_problem *problem = q->problem;
    const struct solver_requirements *own = &problem->pools.items[q->pool].requirements;
    const struct solver_requirement *first = NULL;
    for (size_t i = 0; i < own->count; i++) {
        const struct solver_requirement *r = &own->items[i];
        uint64_t *options = ARENA_ARRAY(q->run->arena, problem->option_words, uint64_t);
        bits_add(options, wanted->option);
        if (type_says(problem, r->key))
            keep(q, r, options);
        if (!bits_any(options, problem->option_words) &&
            (first == NULL ||
             text_compare(key_text(problem, r->key), key_text(problem, first->key)) < 0))
            first = r;
    }
    return first;
}

/* Why the pool does not launch a known type. */
static struct solver_saying why_not(struct explanation *q, const struct wanted_type *wanted)
{
    const struct solver_problem *problem = q->problem;
    const struct pool *pool = &problem->pools.items[q->pool];
    const struct solver_requirement *r = excluding(q, wanted);
    if (r != NULL) {
        struct solver_operand allowed = operand_requirement(q, r);
        struct solver_operand name = operand_name(wanted->name);
        if (text_is(key_text(problem, r->key), LABEL_INSTANCE_TYPE))
            return SAY(q, POOL_ALLOWS, allowed);
        const struct solver_requirement *has = values_of_type(q, wanted, r->key);
        return has == NULL ? SAY(q, POOL_ALLOWS_TYPE_HAS_NONE, allowed, name)
                           : SAY(q, POOL_ALLOWS_TYPE_HAS, allowed, name,
                                 operand_values(q, r->key, has->words, has->word_count));
    }
    if (!bits_has(pool->all_options, wanted->option))
        return SAY_ONLY(CLASS_LACKS_TYPE);
    uint64_t *offered = ARENA_ARRAY(q->run->arena, problem->option_words, uint64_t);
    offerings_select(problem, &pool->requirements, offered);
    if (!bits_has(offered, wanted->option))
        return SAY_ONLY(TYPE_NOT_OFFERED);
    return SAY_ONLY(DAEMONS_FILL_TYPE);
}

/* The pod lists types by name, and the pool has none of them. */
static void tell_named(struct explanation *q, struct solver_reason *reason,
                       const struct solver_requirement *r)
{
    const uint64_t *options = q->problem->pools.items[q->pool].options;
    struct wanted_type wanted = wanted_type(q, r);
    struct text nearest = nearest_type(q, &wanted, options);
    struct solver_operand names = operand_values(q, r->key, r->words, r->word_count);
    bool near = text_distance(nearest, wanted.name, TYPO_EDITS) <= TYPO_EDITS;
    if (wanted.option == SIZE_MAX && near)
        reason->nearest = SAY(q, DID_YOU_MEAN, operand_name(nearest));
    else
        reason->nearest = SAY(q, IT, operand_name(nearest));
    if (wanted.option == SIZE_MAX) {
        reason->message = SAY(q, NAMES_UNKNOWN_TYPE, names, operand_name(wanted.name));
        return;
    }
    struct sayings why = {0};
    *LIST_PUSH(q->run->arena, &why) = why_not(q, &wanted);
    reason->message = SAY(q, NAMES_TYPE, names, operand_sayings(&why));
}

/* ---- the pod's requirements ---- */

/* The pod's requirements leave some types, and other reasons exclude these: names those types. */
static void tell_what_they_leave(struct explanation *q, struct solver_reason *reason,
                                 const struct clash *clash, const struct clash *all)
{
    uint64_t *options = copy_options(q, q->problem->pools.items[q->pool].options);
    for (size_t i = 0; i < clash->count; i++)
        keep(q, clash->items[i], options);
    struct text_list types = option_type_names(q, options);
    struct solver_operand wants = operand_asked(q, clash->told, clash->count);
    if (names_types(q, clash->told[0]) && clash->count == 1)
        reason->message = SAY(q, ASKS, wants);
    else
        reason->message = types.count == 1 ? SAY(q, ONLY_TYPE, operand_texts(&types), wants)
                                           : SAY(q, ONLY_TYPES, operand_texts(&types), wants);
    if (types.count != 1)
        return;
    struct wanted_type wanted = {.name = types.items[0],
                                 .option = bits_next(options, q->problem->option_words, 0)};
    uint64_t *would_do = reason_left(q, SOLVER_REASON_REQUIREMENT, EVERY_CRITERION);
    for (size_t i = 0; i < all->count; i++) {
        bool excludes = false;
        for (size_t j = 0; j < clash->count; j++)
            excludes |= clash->items[j] == all->items[i];
        if (!excludes)
            keep(q, all->items[i], would_do);
    }
    struct text nearest = nearest_type(q, &wanted, would_do);
    if (nearest.size > 0)
        reason->nearest = SAY(q, WOULD_DO, operand_name(nearest));
}

/* Puts a numeric requirement last: for it the nearest number is reported. */
static void put_number_last(struct clash *clash)
{
    for (size_t i = 0; i + 1 < clash->count; i++)
        if (clash->told[i]->has_gte || clash->told[i]->has_lte) {
            swap_items(clash, i, clash->count - 1);
            return;
        }
}

/* of_pool: among the types of the pool; else among all that its node class offers. */
static void tell_no_type(struct explanation *q, struct solver_reason *reason,
                         const struct clash *clash, const uint64_t *left, bool of_pool)
{
    const struct solver_requirement *last = clash->told[clash->count - 1];
    struct solver_operand asked = operand_asked(q, clash->told, clash->count);
    reason->message = of_pool ? SAY(q, NO_TYPE_OF_POOL, asked) : SAY(q, NO_TYPE_FOR_POOL, asked);
    uint64_t *options = copy_options(q, left);
    for (size_t i = 0; i + 1 < clash->count; i++)
        keep(q, clash->items[i], options);
    if ((last->has_gte || last->has_lte) && nearest_number(q, last, options, &reason->nearest))
        return;
    struct solver_operand key = operand_name(key_text(q->problem, last->key));
    struct solver_operand values = operand_values_of(q, last->key, options);
    if (values.texts.count == 0)
        return;
    if (clash->count > 1)
        reason->nearest =
            SAY(q, THOSE_WITH_HAVE, key, values, operand_asked(q, clash->told, clash->count - 1));
    else
        reason->nearest =
            of_pool ? SAY(q, ITS_TYPES_HAVE, key, values) : SAY(q, TYPES_LEFT_HAVE, key, values);
}

void reason_of_types(struct explanation *q, struct solver_reason *reason, unsigned set)
{
    const uint64_t *left = reason_left(q, SOLVER_REASON_REQUIREMENT, set);
    const struct solver_requirements *wanted = &q->relaxation->full.requirements;
    struct clash all = gather(q, wanted, &q->set->requirements);
    struct clash clash = fewest(q, &all, left);
    put_number_last(&clash);
    if (clash.count == 0) {
        const struct solver_requirement **asked =
            ARENA_ARRAY(q->run->arena, wanted->count, const struct solver_requirement *);
        for (size_t i = 0; i < wanted->count; i++)
            asked[i] = &wanted->items[i];
        reason->message = wanted->count == 0 ? SAY_ONLY(NOT_IN_ONE_PLACE)
                                             : SAY(q, ASKS, operand_asked(q, asked, wanted->count));
        return;
    }
    if (set != 1u << SOLVER_REASON_REQUIREMENT)
        tell_what_they_leave(q, reason, &clash, &all);
    else if (clash.count == 1 && names_types(q, clash.told[0]))
        tell_named(q, reason, clash.told[0]);
    else
        tell_no_type(q, reason, &clash, left, true);
}

/* The label of the pool's nodes with the most similar key. */
static struct text nearest_label(struct explanation *q, uint32_t key)
{
    struct arena *arena = q->run->arena;
    const struct solver_requirements *own = &q->problem->pools.items[q->pool].requirements;
    struct text *keys = ARENA_ARRAY(arena, own->count, struct text);
    for (size_t i = 0; i < own->count; i++)
        keys[i] = key_text(q->problem, own->items[i].key);
    size_t nearest = text_nearest(key_text(q->problem, key), keys, own->count, TYPO_EDITS);
    return nearest < own->count ? keys[nearest] : TEXT("");
}

void reason_of_conflict(struct explanation *q, struct solver_reason *reason)
{
    const struct solver_problem *problem = q->problem;
    bool hostname = q->conflict == problem->hostname_key;
    const struct solver_requirement *wanted =
        hostname ? q->relaxation->full.hostname
                 : solver_requirements_get(&q->relaxation->full.requirements, q->conflict);
    const struct solver_requirement *own =
        solver_requirements_get(&problem->pools.items[q->pool].requirements, q->conflict);
    if (!hostname && own != NULL && names_types(q, wanted)) {
        tell_named(q, reason, wanted);
        return;
    }
    reason->message = SAY(q, ASKS, operand_requirement(q, wanted));
    if (hostname) {
        reason->nearest = SAY_ONLY(NO_SUCH_HOSTNAME);
        return;
    }
    if (own == NULL) {
        struct text near = nearest_label(q, q->conflict);
        reason->nearest =
            near.size == 0 ? SAY_ONLY(NO_SUCH_LABEL) : SAY(q, LABEL_OF_POOL, operand_name(near));
        return;
    }
    size_t first = bits_next(own->words, own->word_count, 0);
    bool restricts = own->complement || first == SIZE_MAX ||
                     bits_next(own->words, own->word_count, first + 1) != SIZE_MAX;
    struct solver_operand has = operand_requirement(q, own);
    reason->nearest = restricts ? SAY(q, POOL_ALLOWS, has) : SAY(q, POOL_HAS, has);
}

/* ---- pools that launch nothing ---- */

/* The requirement of the pool that no value meets. */
static const struct solver_requirement *contradiction(const struct explanation *q)
{
    const struct solver_requirements *own = &q->problem->pools.items[q->pool].requirements;
    for (size_t i = 0; i < own->count; i++) {
        const struct solver_requirement *r = &own->items[i];
        if (solver_requirement_op(r) != SOLVER_DOES_NOT_EXIST || !type_says(q->problem, r->key))
            continue;
        uint64_t *options = copy_options(q, q->problem->pools.items[q->pool].all_options);
        keep(q, r, options);
        if (!bits_any(options, q->problem->option_words))
            return r;
    }
    return NULL;
}

static void tell_unoffered(struct explanation *q, struct solver_reason *reason)
{
    struct solver_operand where =
        operand_offering(q, &q->problem->pools.items[q->pool].requirements);
    reason->message =
        where.asked.count == 0 ? SAY_ONLY(POOL_NOT_OFFERED) : SAY(q, POOL_NOT_OFFERED_WITH, where);
}

void reason_of_pool(struct explanation *q, struct solver_reason *reason)
{
    const struct solver_problem *problem = q->problem;
    struct arena *arena = q->run->arena;
    const struct pool *pool = &problem->pools.items[q->pool];
    if (!bits_any(pool->all_options, problem->option_words)) {
        reason->message = SAY_ONLY(CLASS_HAS_NO_TYPE);
        return;
    }
    const struct solver_requirement *none = contradiction(q);
    if (none != NULL) {
        reason->message =
            SAY(q, POOL_CONTRADICTS_ITSELF, operand_name(key_text(problem, none->key)));
        return;
    }
    struct clash all = gather(q, &pool->requirements, &pool->requirements);
    struct clash clash = fewest(q, &all, pool->all_options);
    put_number_last(&clash);
    if (clash.count > 0) {
        tell_no_type(q, reason, &clash, pool->all_options, false);
        return;
    }
    uint64_t *options = ARENA_ARRAY(arena, problem->option_words, uint64_t);
    uint64_t *offered = ARENA_ARRAY(arena, problem->option_words, uint64_t);
    instance_types_select(problem, &pool->requirements, options);
    offerings_select(problem, &pool->requirements, offered);
    uint64_t any = 0;
    for (size_t w = 0; w < problem->option_words; w++)
        any |= options[w] & offered[w] & pool->all_options[w];
    if (any == 0)
        tell_unoffered(q, reason);
    else
        reason->message = SAY_ONLY(DAEMONS_FILL_POOL);
}
