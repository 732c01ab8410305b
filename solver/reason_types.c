/* Reasons of requirements that leave no instance type. */
#include <string.h>

#include "solver/explain.h"
#include "solver/names.h"

#define KEYS_TRIED 12 /* of a set, in every combination */

/* ---- which requirements exclude all types ---- */

/* Requirements that some options do not meet together, with the words for each. */
struct clash {
    const struct solver_requirement *items[KEYS_TRIED], *told[KEYS_TRIED];
    size_t count;
};

bool reason_type_says(const struct solver_problem *problem, uint32_t key)
{
    return key < problem->key_count && problem->key_index[key].defined;
}

void reason_keep(const struct question *q, const struct solver_requirement *r, uint64_t *options)
{
    uint64_t *some = ARENA_ARRAY(q->run->arena, q->problem->option_words, uint64_t);
    struct solver_requirement copy = *r;
    const struct solver_requirements one = {&copy, 1, 1};
    instance_types_select(q->problem, &one, some);
    for (size_t w = 0; w < q->problem->option_words; w++)
        options[w] &= some[w];
}

static uint64_t *copy_options(const struct question *q, const uint64_t *options)
{
    uint64_t *copy = ARENA_ARRAY(q->run->arena, q->problem->option_words, uint64_t);
    memcpy(copy, options, q->problem->option_words * sizeof *copy);
    return copy;
}

/* The fewest of all that leave nothing of left; none when all together leave something. */
static struct clash fewest(const struct question *q, const struct clash *all, const uint64_t *left)
{
    size_t words = q->problem->option_words;
    uint64_t *kept[KEYS_TRIED];
    for (size_t i = 0; i < all->count; i++) {
        kept[i] = copy_options(q, left);
        reason_keep(q, all->items[i], kept[i]);
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

static bool comes_before(const struct question *q, const struct solver_requirement *a,
                         const struct solver_requirement *b)
{
    bool a_names = reason_names_types(q, a), b_names = reason_names_types(q, b);
    return a_names != b_names
               ? a_names
               : text_compare(words_key(q->problem, a->key), words_key(q->problem, b->key)) < 0;
}

/* What types are asked for by a set; options are chosen by what else, of the same keys, says. */
static struct clash gather(const struct question *q, const struct solver_requirements *set,
                           const struct solver_requirements *combined)
{
    struct clash all = {.count = 0};
    for (size_t i = 0; i < set->count && all.count < KEYS_TRIED; i++) {
        if (!reason_type_says(q->problem, set->items[i].key))
            continue;
        all.told[all.count] = &set->items[i];
        all.items[all.count++] = solver_requirements_get(combined, set->items[i].key);
    }
    /* Of several that exclude the same the first is told: the name of a type says most. */
    for (size_t i = 1; i < all.count; i++)
        for (size_t j = i; j > 0 && comes_before(q, all.told[j], all.told[j - 1]); j--)
            swap_items(&all, j, j - 1);
    return all;
}

static struct text words_clash(struct question *q, const struct clash *clash, size_t count)
{
    struct arena *arena = q->run->arena;
    struct text result = TEXT("");
    for (size_t i = 0; i < count; i++)
        result = arena_printf(arena, "%.*s%s%.*s", TEXT_ARGS(result), i == 0 ? "" : " and ",
                              TEXT_ARGS(words_requirement(q->problem, arena, clash->told[i])));
    return result;
}

/* ---- what types have instead ---- */

/* "m5.xlarge has 4", the number nearest to the bounds; empty when no option has a number. */
static struct text nearest_number(struct question *q, const struct solver_requirement *r,
                                  const uint64_t *options)
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
                          (same && strcmp(words_type(q->problem, option),
                                          words_type(q->problem, best_option)) < 0);
            if (!nearer || !bits_has(options, option))
                continue;
            best = number;
            best_option = option;
        }
    }
    if (best_option == SIZE_MAX)
        return TEXT("");
    struct text key = words_key(q->problem, r->key);
    return arena_printf(q->run->arena, "the %s %.*s left is %lld, %s",
                        r->has_gte ? "highest" : "lowest", TEXT_ARGS(key), (long long)best,
                        words_type(q->problem, best_option));
}

static struct text words_values_of(struct question *q, uint32_t key, const uint64_t *options)
{
    const struct key_index *index = &q->problem->key_index[key];
    size_t word_count = bits_words(index->value_count) + 1;
    uint64_t *values = ARENA_ARRAY(q->run->arena, word_count, uint64_t);
    for (size_t v = 0; v < index->value_count; v++)
        if (index->values[v] != NULL &&
            bits_meet(index->values[v], options, q->problem->option_words))
            bits_add(values, v);
    return words_values(q->problem, q->run->arena, key, values, word_count, " and ");
}

/* ---- the pod's requirements ---- */

/* What types do with what is asked of them. */
static const char *verb(const struct question *q, const struct clash *clash, bool plural)
{
    uint32_t key = clash->told[0]->key;
    if (clash->count == 1 && (key == q->problem->zone_key || key == q->problem->capacity_type_key))
        return plural ? "are on offer with" : "is on offer with";
    return plural ? "have" : "has";
}

/* Other reasons exclude what these leave: what that is. */
static void tell_what_they_leave(struct question *q, struct solver_reason *reason,
                                 const struct clash *clash, const struct clash *all)
{
    struct arena *arena = q->run->arena;
    uint64_t *options = copy_options(q, q->problem->pools.items[q->pool].options);
    for (size_t i = 0; i < clash->count; i++)
        reason_keep(q, clash->items[i], options);
    struct texts types = words_types(q->problem, arena, options);
    struct text wants = words_clash(q, clash, clash->count);
    reason->message = reason_names_types(q, clash->told[0]) && clash->count == 1
                          ? arena_printf(arena, "asks for %.*s", TEXT_ARGS(wants)).data
                          : arena_printf(arena, "only %.*s %s %.*s",
                                         TEXT_ARGS(words_list(arena, &types, " and ")),
                                         verb(q, clash, types.count != 1), TEXT_ARGS(wants))
                                .data;
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
            reason_keep(q, all->items[i], would_do);
    }
    struct text nearest = reason_nearest_type(q, &wanted, would_do);
    if (nearest.size > 0)
        reason->nearest = arena_printf(arena, "%.*s would do otherwise", TEXT_ARGS(nearest)).data;
}

/* A number comes last: of that the nearest is told. */
static void put_number_last(struct clash *clash)
{
    for (size_t i = 0; i + 1 < clash->count; i++)
        if (clash->told[i]->complement && (clash->told[i]->has_gte || clash->told[i]->has_lte)) {
            swap_items(clash, i, clash->count - 1);
            return;
        }
}

static void tell_no_type(struct question *q, struct solver_reason *reason,
                         const struct clash *clash, const uint64_t *left, const char *whose)
{
    const struct solver_problem *problem = q->problem;
    struct arena *arena = q->run->arena;
    const struct solver_requirement *last = clash->told[clash->count - 1];
    reason->message = arena_printf(arena, "no instance type%s %s %s%.*s", whose,
                                   verb(q, clash, false), clash->count == 2 ? "both " : "",
                                   TEXT_ARGS(words_clash(q, clash, clash->count)))
                          .data;
    uint64_t *options = copy_options(q, left);
    for (size_t i = 0; i + 1 < clash->count; i++)
        reason_keep(q, clash->items[i], options);
    struct text nearest = TEXT("");
    if ((last->has_gte || last->has_lte) && last->complement)
        nearest = nearest_number(q, last, options);
    struct text values = words_values_of(q, last->key, options);
    if (nearest.size == 0 && values.size > 0)
        nearest = clash->count == 1
                      ? arena_printf(arena, "%s have %.*s %.*s",
                                     *whose == '\0' ? "types left" : "its types",
                                     TEXT_ARGS(words_key(problem, last->key)), TEXT_ARGS(values))
                      : arena_printf(arena, "those with %.*s have %.*s %.*s",
                                     TEXT_ARGS(words_clash(q, clash, clash->count - 1)),
                                     TEXT_ARGS(words_key(problem, last->key)), TEXT_ARGS(values));
    if (nearest.size > 0)
        reason->nearest = nearest.data;
}

void reason_of_types(struct question *q, struct solver_reason *reason, unsigned set)
{
    struct arena *arena = q->run->arena;
    const uint64_t *left = reason_left(q, SOLVER_REASON_REQUIREMENT, set);
    const struct solver_requirements *wanted = &q->relaxation->full.requirements;
    struct clash all = gather(q, wanted, &q->set->requirements);
    struct clash clash = fewest(q, &all, left);
    put_number_last(&clash);
    if (clash.count == 0) {
        struct text asks = TEXT("");
        for (size_t i = 0; i < wanted->count; i++)
            asks = arena_printf(arena, "%.*s%s%.*s", TEXT_ARGS(asks), i == 0 ? "" : " and ",
                                TEXT_ARGS(words_requirement(q->problem, arena, &wanted->items[i])));
        reason->message = asks.size == 0
                              ? "what it asks for is not all to be had in one place"
                              : arena_printf(arena, "asks for %.*s", TEXT_ARGS(asks)).data;
        return;
    }
    if (set != 1u << SOLVER_REASON_REQUIREMENT)
        tell_what_they_leave(q, reason, &clash, &all);
    else if (clash.count == 1 && reason_names_types(q, clash.told[0]))
        reason_of_named(q, reason, clash.told[0]);
    else
        tell_no_type(q, reason, &clash, left, " of this NodePool");
}

/* The label of the pool's nodes whose key is nearest. */
static struct text nearest_label(struct question *q, uint32_t key)
{
    struct arena *arena = q->run->arena;
    const struct solver_requirements *own = &q->problem->pools.items[q->pool].requirements;
    struct text *keys = ARENA_ARRAY(arena, own->count, struct text);
    for (size_t i = 0; i < own->count; i++)
        keys[i] = words_key(q->problem, own->items[i].key);
    size_t nearest = text_nearest(words_key(q->problem, key), keys, own->count, TYPO_EDITS);
    return nearest < own->count ? keys[nearest] : TEXT("");
}

void reason_of_conflict(struct question *q, struct solver_reason *reason)
{
    const struct solver_problem *problem = q->problem;
    struct arena *arena = q->run->arena;
    bool hostname = q->conflict == problem->hostname_key;
    const struct solver_requirement *wanted =
        hostname ? q->relaxation->full.hostname
                 : solver_requirements_get(&q->relaxation->full.requirements, q->conflict);
    const struct solver_requirement *own =
        solver_requirements_get(&problem->pools.items[q->pool].requirements, q->conflict);
    if (!hostname && own != NULL && reason_names_types(q, wanted)) {
        reason_of_named(q, reason, wanted);
        return;
    }
    struct text wants = words_requirement(problem, arena, wanted);
    reason->message = arena_printf(arena, "asks for %.*s", TEXT_ARGS(wants)).data;
    if (hostname) {
        reason->nearest = "a node that is yet to be bought has no such name";
        return;
    }
    if (own == NULL) {
        struct text near = nearest_label(q, q->conflict);
        reason->nearest = near.size == 0
                              ? "the NodePool gives its nodes no such label"
                              : arena_printf(arena, "the NodePool gives its nodes the label %.*s",
                                             TEXT_ARGS(near))
                                    .data;
        return;
    }
    size_t first = bits_next(own->words, own->word_count, 0);
    bool restricts = own->complement || first == SIZE_MAX ||
                     bits_next(own->words, own->word_count, first + 1) != SIZE_MAX;
    struct text has = words_requirement(problem, arena, own);
    reason->nearest =
        arena_printf(arena, "the NodePool %s %.*s", restricts ? "allows" : "has", TEXT_ARGS(has))
            .data;
}

/* ---- pools that launch nothing ---- */

/* What the pool says of one key can be no value. */
static const struct solver_requirement *contradiction(const struct question *q)
{
    const struct solver_requirements *own = &q->problem->pools.items[q->pool].requirements;
    for (size_t i = 0; i < own->count; i++) {
        const struct solver_requirement *r = &own->items[i];
        if (solver_requirement_op(r) != SOLVER_DOES_NOT_EXIST ||
            !reason_type_says(q->problem, r->key))
            continue;
        uint64_t *options = copy_options(q, q->problem->pools.items[q->pool].all_options);
        reason_keep(q, r, options);
        if (!bits_any(options, q->problem->option_words))
            return r;
    }
    return NULL;
}

static void tell_unoffered(struct question *q, struct solver_reason *reason)
{
    struct arena *arena = q->run->arena;
    struct text where =
        words_offering(q->problem, arena, &q->problem->pools.items[q->pool].requirements);
    reason->message =
        where.size == 0
            ? "none of the NodePool's instance types is on offer"
            : arena_printf(arena, "no instance type of this NodePool is on offer with %.*s",
                           TEXT_ARGS(where))
                  .data;
}

void reason_of_pool(struct question *q, struct solver_reason *reason)
{
    const struct solver_problem *problem = q->problem;
    struct arena *arena = q->run->arena;
    const struct pool *pool = &problem->pools.items[q->pool];
    if (!bits_any(pool->all_options, problem->option_words)) {
        reason->message = "no instance type that the NodePool's class offers is known";
        return;
    }
    const struct solver_requirement *none = contradiction(q);
    if (none != NULL) {
        reason->message = arena_printf(arena,
                                       "no instance type is left: the NodePool's requirements on "
                                       "%.*s allow no value of it",
                                       TEXT_ARGS(words_key(problem, none->key)))
                              .data;
        return;
    }
    struct clash all = gather(q, &pool->requirements, &pool->requirements);
    struct clash clash = fewest(q, &all, pool->all_options);
    put_number_last(&clash);
    if (clash.count > 0) {
        tell_no_type(q, reason, &clash, pool->all_options, "");
        reason->message = arena_printf(arena, "%s, as the NodePool requires", reason->message).data;
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
        reason->message = "DaemonSets leave no room on any instance type of this NodePool";
}
