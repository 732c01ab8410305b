/* The instance types of a problem, as options of its NodePools. */
#include <stdlib.h>
#include <string.h>

#include "solver/problem.h"
#include "solver/well_known.h"

/* ---- options and their offerings ---- */

static uint32_t offering_shape_add(struct solver_problem *problem, struct intern *fingerprints,
                                   const struct solver_offering *offering)
{
    const char *zone = offering->zone, *capacity_type = offering->capacity_type;
    struct solver_expression own[] = {
        {LABEL_ZONE, SOLVER_IN, &zone, 1, 0},
        {LABEL_CAPACITY_TYPE, SOLVER_IN, &capacity_type, 1, 0},
    };
    struct fingerprint fingerprint = {.arena = problem->arena};
    fingerprint_string(&fingerprint, zone);
    fingerprint_string(&fingerprint, capacity_type);
    for (size_t i = 0; i < offering->more.count; i++) {
        const struct solver_expression *more = &offering->more.items[i];
        fingerprint_string(&fingerprint, more->key);
        fingerprint_number(&fingerprint, (uint64_t)more->op);
        for (size_t j = 0; j < more->value_count; j++)
            fingerprint_string(&fingerprint, more->values[j]);
    }
    bool added = false;
    uint32_t number = intern_number(fingerprints, fingerprint.bytes, fingerprint.size, &added);
    if (!added)
        return number;
    struct term term = {0};
    for (size_t i = 0; i < 2; i++) {
        if (*own[i].values[0] == '\0')
            continue; /* any zone, or any capacity type */
        struct term one = term_make(problem, (struct solver_expressions){&own[i], 1});
        term_add(problem, &term, &one);
    }
    struct term more = term_make(problem, offering->more);
    term_add(problem, &term, &more);
    *LIST_PUSH(problem->arena, &problem->offering_shapes) =
        (struct offering_shape){.requirements = term.requirements};
    return number;
}

static bool same_amounts(const struct solver_amounts *a, const struct solver_amounts *b)
{
    if (a == b)
        return true;
    if (a == NULL || b == NULL || a->count != b->count)
        return false;
    return a->count == 0 || memcmp(a->items, b->items, a->count * sizeof *a->items) == 0;
}

/* Adds an option: the offerings with the same allocatable as the one at first. */
static void option_add(struct solver_problem *problem, struct intern *fingerprints, uint32_t type,
                       size_t first)
{
    const struct instance_type *source = &problem->types.items[type];
    const struct solver_amounts *own = source->source[first].allocatable;
    struct offering *offerings =
        ARENA_ARRAY(problem->arena, source->source_count - first, struct offering);
    size_t count = 0;
    for (size_t i = first; i < source->source_count; i++) {
        const struct solver_offering *given = &source->source[i];
        if (!same_amounts(given->allocatable, own))
            continue;
        offerings[count++] = (struct offering){
            .shape = offering_shape_add(problem, fingerprints, given),
            .zone = given->zone,
            .capacity_type = given->capacity_type,
            .price_usd_micro = given->price_usd_micro < 0 ? -1 : given->price_usd_micro,
            .available = given->available,
            .launchable = given->available,
            .reservation = SOLVER_NONE,
            .reservation_capacity = given->reservation_capacity,
            .list_price_usd_micro = given->list_price_usd_micro,
        };
    }
    *LIST_PUSH(problem->arena, &problem->options) = (struct instance_type_option){
        type, own != NULL ? *own : source->allocatable, offerings, count};
}

static bool seen_before(const struct instance_type *type, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (same_amounts(type->source[i].allocatable, type->source[at].allocatable))
            return true;
    return false;
}

static int compare_types(const void *a_pointer, const void *b_pointer, void *argument)
{
    const struct solver_problem *problem = argument;
    uint32_t a = *(const uint32_t *)a_pointer, b = *(const uint32_t *)b_pointer;
    int order = strcmp(problem->types.items[a].name, problem->types.items[b].name);
    return order != 0 ? order : a < b ? -1 : a > b;
}

/* Options are sorted by the name of the type, so that the order in which types are added does not
 * matter. */
static void make_options(struct solver_problem *problem)
{
    struct intern fingerprints = {.arena = problem->arena};
    uint32_t *order = ARENA_ARRAY(problem->arena, problem->types.count, uint32_t);
    for (uint32_t i = 0; i < problem->types.count; i++)
        order[i] = i;
    if (problem->types.count > 1)
        qsort_r(order, problem->types.count, sizeof *order, compare_types, problem);
    for (size_t i = 0; i < problem->types.count; i++)
        for (size_t j = 0; j < problem->types.items[order[i]].source_count; j++)
            if (!seen_before(&problem->types.items[order[i]], j))
                option_add(problem, &fingerprints, order[i], j);
    problem->option_words = bits_words(problem->options.count);
    for (size_t i = 0; i < problem->offering_shapes.count; i++)
        problem->offering_shapes.items[i].options =
            ARENA_ARRAY(problem->arena, problem->option_words, uint64_t);
    for (size_t i = 0; i < problem->options.count; i++) {
        const struct instance_type_option *option = &problem->options.items[i];
        for (size_t j = 0; j < option->offering_count; j++)
            if (option->offerings[j].available)
                bits_add(problem->offering_shapes.items[option->offerings[j].shape].options, i);
    }
}

static void make_capacity(struct solver_problem *problem)
{
    size_t option_count = problem->options.count;
    int64_t *capacity =
        ARENA_ARRAY(problem->arena, option_count * problem->resource_count, int64_t);
    for (size_t i = 0; i < option_count; i++) {
        struct solver_amounts amounts =
            problem->types.items[problem->options.items[i].type].capacity;
        for (size_t j = 0; j < amounts.count; j++)
            capacity[amounts.items[j].resource * option_count + i] = amounts.items[j].quantity;
    }
    problem->capacity = capacity;
}

/* ---- prices ---- */

static int compare_offering_prices(const struct offering *a, const struct offering *b)
{
    int64_t a_price = a->price_usd_micro, b_price = b->price_usd_micro;
    if (a_price != b_price)
        return b_price < 0 || (a_price >= 0 && a_price < b_price) ? -1 : 1;
    int64_t a_list = a->list_price_usd_micro, b_list = b->list_price_usd_micro;
    return a_list < b_list ? -1 : a_list > b_list;
}

static int compare_prices(const void *a_pointer, const void *b_pointer, void *argument)
{
    const struct solver_problem *problem = argument;
    const struct priced_offering *a = a_pointer;
    const struct priced_offering *b = b_pointer;
    uint32_t x = problem->options.items[a->option].type, y = problem->options.items[b->option].type;
    int order = compare_offering_prices(a->offering, b->offering);
    if (order == 0)
        order = strcmp(problem->types.items[x].name, problem->types.items[y].name);
    if (order == 0)
        order = strcmp(a->offering->zone, b->offering->zone);
    if (order == 0)
        order = strcmp(a->offering->capacity_type, b->offering->capacity_type);
    return order != 0 ? order : a->option < b->option ? -1 : a->option > b->option;
}

static void order_offerings(struct solver_problem *problem)
{
    size_t count = 0;
    for (size_t i = 0; i < problem->options.count; i++)
        count += problem->options.items[i].offering_count;
    struct priced_offering *order = ARENA_ARRAY(problem->arena, count, struct priced_offering);
    count = 0;
    for (uint32_t i = 0; i < problem->options.count; i++)
        for (size_t j = 0; j < problem->options.items[i].offering_count; j++)
            if (problem->options.items[i].offerings[j].launchable)
                order[count++] =
                    (struct priced_offering){i, problem->options.items[i].offerings[j].shape,
                                             &problem->options.items[i].offerings[j]};
    if (count > 1)
        qsort_r(order, count, sizeof *order, compare_prices, problem);
    for (size_t i = 0; i < count; i++)
        order[i].offering->order = i;
    problem->offering_order = order;
    problem->offering_order_count = count;
}

/* ---- the index by label ---- */

struct filling {
    uint64_t *unsaid, *absent, *open, **values;
};

static void index_option(struct solver_problem *problem, struct filling *keys, size_t option)
{
    const struct solver_requirements *set =
        &problem->types.items[problem->options.items[option].type].requirements;
    for (size_t i = 0; i < set->count; i++) {
        const struct solver_requirement *r = &set->items[i];
        struct filling *key = &keys[r->key];
        if (key->unsaid == NULL) {
            key->unsaid = ARENA_ARRAY(problem->arena, problem->option_words, uint64_t);
            key->absent = ARENA_ARRAY(problem->arena, problem->option_words, uint64_t);
            key->open = ARENA_ARRAY(problem->arena, problem->option_words, uint64_t);
            key->values = ARENA_ARRAY(problem->arena,
                                      solver_names_value_count(problem->names, r->key), uint64_t *);
            bits_fill(key->unsaid, problem->options.count);
        }
        bits_remove(key->unsaid, option);
        if (r->complement)
            bits_add(key->open, option);
        else if (!bits_any(r->words, r->word_count))
            bits_add(key->absent, option);
        else
            for (BITS_EACH(value, r->words, r->word_count)) {
                if (key->values[value] == NULL)
                    key->values[value] =
                        ARENA_ARRAY(problem->arena, problem->option_words, uint64_t);
                bits_add(key->values[value], option);
            }
    }
}

void instance_types_make(struct solver_problem *problem)
{
    make_options(problem);
    reservations_make(problem);
    order_offerings(problem);
    make_capacity(problem);
    problem->key_count = solver_names_key_count(problem->names);
    struct filling *keys = ARENA_ARRAY(problem->arena, problem->key_count, struct filling);
    for (size_t i = 0; i < problem->options.count; i++)
        index_option(problem, keys, i);
    struct key_index *index = ARENA_ARRAY(problem->arena, problem->key_count, struct key_index);
    bool *well_known = ARENA_ARRAY(problem->arena, problem->key_count, bool);
    for (uint32_t i = 0; i < problem->key_count; i++) {
        size_t size = 0;
        const char *key = solver_names_key_text(problem->names, i, &size);
        index[i] = (struct key_index){
            .defined = keys[i].unsaid != NULL,
            .unsaid = keys[i].unsaid,
            .absent = keys[i].absent,
            .open = keys[i].open,
            .values = keys[i].values,
            .value_count = solver_names_value_count(problem->names, i),
        };
        /* As in Karpenter, labels of instance types and offerings count as well known. */
        well_known[i] = index[i].defined || solver_is_well_known(key, size);
    }
    for (size_t i = 0; i < problem->offering_shapes.count; i++) {
        const struct solver_requirements *set = &problem->offering_shapes.items[i].requirements;
        for (size_t j = 0; j < set->count; j++)
            well_known[set->items[j].key] = true;
    }
    problem->key_index = index;
    problem->well_known = well_known;
}

/* ---- questions ---- */

static void select_key(const struct solver_problem *problem, const struct solver_requirement *r,
                       uint64_t *options)
{
    const struct key_index *index = &problem->key_index[r->key];
    enum solver_op op = solver_requirement_op(r);
    bool absent = solver_op_is_negative(op);
    bool open = op != SOLVER_DOES_NOT_EXIST;
    for (size_t w = 0; w < problem->option_words; w++) {
        uint64_t kept = index->unsaid[w];
        kept |= absent ? index->absent[w] : 0;
        kept |= open ? index->open[w] : 0;
        for (uint32_t v = 0; v < index->value_count && (options[w] & ~kept) != 0; v++)
            if (index->values[v] != NULL && (index->values[v][w] & ~kept & options[w]) != 0 &&
                solver_requirement_has(problem->names, r, v))
                kept |= index->values[v][w];
        options[w] &= kept;
    }
}

void instance_types_select(const struct solver_problem *problem,
                           const struct solver_requirements *set, uint64_t *options)
{
    bits_fill(options, problem->options.count);
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].key < problem->key_count && problem->key_index[set->items[i].key].defined)
            select_key(problem, &set->items[i], options);
}

void offerings_select(const struct solver_problem *problem, const struct solver_requirements *set,
                      uint64_t *options)
{
    memset(options, 0, problem->option_words * sizeof *options);
    for (size_t i = 0; i < problem->offering_shapes.count; i++) {
        const struct offering_shape *shape = &problem->offering_shapes.items[i];
        if (compatible(problem, set, &shape->requirements, false, NULL))
            for (size_t w = 0; w < problem->option_words; w++)
                options[w] |= shape->options[w];
    }
}
