/* Requirement sets of NodeClaims. Equal sets are stored once, and so are the results of adding a
 * term. */
#include <string.h>

#include "solver/run.h"

/* ---- growing bit sets ---- */

void wide_bits_add(struct arena *arena, struct wide_bits *bits, size_t number)
{
    size_t word = number / BITS_WORD;
    if (word >= bits->word_count) {
        size_t word_count = bits->word_count < 4 ? 4 : bits->word_count * 2;
        while (word_count <= word)
            word_count *= 2;
        uint64_t *words = ARENA_ARRAY(arena, word_count, uint64_t);
        if (bits->word_count > 0)
            memcpy(words, bits->words, bits->word_count * sizeof *words);
        bits->words = words;
        bits->word_count = word_count;
    }
    bits_add(bits->words, number);
}

void wide_bits_remove(struct wide_bits *bits, size_t number)
{
    if (number / BITS_WORD < bits->word_count)
        bits_remove(bits->words, number);
}

/* ---- sets: equal ones are one ---- */

static void sign(struct fingerprint *fingerprint, const struct solver_requirements *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct solver_requirement *r = &set->items[i];
        uint32_t word_count = r->word_count;
        while (word_count > 0 && r->words[word_count - 1] == 0)
            word_count--;
        fingerprint_number(fingerprint, (uint64_t)r->key << 32 | r->min_values);
        fingerprint_number(fingerprint, (uint64_t)word_count << 8 | (uint64_t)r->complement << 2 |
                                            (uint64_t)r->has_gte << 1 | (uint64_t)r->has_lte);
        fingerprint_number(fingerprint, (uint64_t)(r->has_gte ? r->gte : 0));
        fingerprint_number(fingerprint, (uint64_t)(r->has_lte ? r->lte : 0));
        fingerprint_bytes(fingerprint, r->words, word_count * sizeof *r->words);
    }
}

const struct node_requirements *node_requirements_of(struct solver_run *run,
                                                     const struct solver_requirements *requirements)
{
    struct node_requirements_table *sets = &run->sets;
    sets->scratch.size = 0;
    sign(&sets->scratch, requirements);
    bool added = false;
    uint32_t number =
        intern_number(&sets->fingerprints, sets->scratch.bytes, sets->scratch.size, &added);
    if (!added)
        return sets->sets.items[number];
    struct node_requirements *set = ARENA_NEW(run->arena, struct node_requirements);
    set->number = number;
    set->requirements = *requirements;
    for (size_t i = 0; i < requirements->count; i++)
        set->has_min_values |= requirements->items[i].min_values > 0;
    *LIST_PUSH(run->arena, &sets->sets) = set;
    return set;
}

/* ---- transitions from set to set ---- */

static struct transition *transition_slot(struct node_requirements_table *sets, uint64_t from,
                                          uint64_t what)
{
    uint64_t key[] = {from, what};
    size_t mask = sets->transition_slots - 1, slot = intern_hash(key, sizeof key, 0) & mask;
    while (sets->transitions[slot].used &&
           (sets->transitions[slot].from != from || sets->transitions[slot].what != what))
        slot = (slot + 1) & mask;
    return &sets->transitions[slot];
}

static struct transition *find_transition(struct solver_run *run, uint64_t from, uint64_t what)
{
    struct node_requirements_table *sets = &run->sets;
    if (sets->transition_count * 2 >= sets->transition_slots) {
        const struct transition *old = sets->transitions;
        size_t old_slots = sets->transition_slots;
        sets->transition_slots = old_slots == 0 ? 256 : old_slots * 2;
        sets->transitions = ARENA_ARRAY(run->arena, sets->transition_slots, struct transition);
        for (size_t i = 0; i < old_slots; i++)
            if (old[i].used)
                *transition_slot(sets, old[i].from, old[i].what) = old[i];
    }
    return transition_slot(sets, from, what);
}

/* What find_transition() has not found. */
static void remember(struct solver_run *run, uint64_t from, uint64_t what,
                     const struct node_requirements *to)
{
    *find_transition(run, from, what) = (struct transition){from, what, to, true};
    run->sets.transition_count++;
}

static struct solver_requirements copy(struct solver_run *run,
                                       const struct solver_requirements *set, size_t more)
{
    struct solver_requirements result = {
        ARENA_ARRAY(run->arena, set->count + more, struct solver_requirement), set->count,
        set->count + more};
    if (set->count > 0)
        memcpy(result.items, set->items, set->count * sizeof *result.items);
    return result;
}

#define TRANSITION_TERM 0u
#define TRANSITION_DOMAIN ((uint64_t)1 << 63)

const struct node_requirements *node_requirements_add(struct solver_run *run,
                                                      const struct node_requirements *set,
                                                      const struct term *term, uint32_t number)
{
    if (term->requirements.count == 0)
        return set;
    struct transition *known = find_transition(run, set->number, TRANSITION_TERM | number);
    if (known->used)
        return known->to;
    const struct node_requirements *result = NULL;
    if (compatible(run->problem, &set->requirements, &term->requirements, false, NULL)) {
        struct solver_requirements both = copy(run, &set->requirements, term->requirements.count);
        for (size_t i = 0; i < term->requirements.count; i++)
            solver_requirements_add(run->problem->names, &both, term->requirements.items[i],
                                    run->arena);
        result = node_requirements_of(run, &both);
    }
    remember(run, set->number, TRANSITION_TERM | number, result);
    return result;
}

const struct node_requirements *node_requirements_with(struct solver_run *run,
                                                       const struct node_requirements *set,
                                                       const struct solver_requirement *requirement)
{
    struct solver_requirement one = *requirement;
    struct solver_requirements only = {&one, 1, 1};
    if (!compatible(run->problem, &set->requirements, &only, false, NULL))
        return NULL;
    struct solver_requirements both = copy(run, &set->requirements, 1);
    solver_requirements_add(run->problem->names, &both, one, run->arena);
    return node_requirements_of(run, &both);
}

static const struct node_requirements *narrow(struct solver_run *run,
                                              const struct node_requirements *set, uint32_t key,
                                              const uint64_t *words, size_t word_count)
{
    const struct solver_requirement one = {
        .key = key, .word_count = (uint32_t)word_count, .words = words};
    return node_requirements_with(run, set, &one);
}

const struct node_requirements *node_requirements_in(struct solver_run *run,
                                                     const struct node_requirements *set,
                                                     uint32_t key, size_t value)
{
    uint64_t what = TRANSITION_DOMAIN | (uint64_t)key << 32 | value;
    const struct transition *known = find_transition(run, set->number, what);
    if (known->used)
        return known->to;
    size_t word_count = value / BITS_WORD + 1;
    uint64_t *words = ARENA_ARRAY(run->arena, word_count, uint64_t);
    bits_add(words, value);
    const struct node_requirements *result = narrow(run, set, key, words, word_count);
    remember(run, set->number, what, result);
    return result;
}

const struct node_requirements *node_requirements_narrow(struct solver_run *run,
                                                         const struct node_requirements *set,
                                                         uint32_t key, const uint64_t *domains,
                                                         size_t word_count)
{
    size_t first = bits_next(domains, word_count, 0);
    if (first == SIZE_MAX)
        return NULL;
    if (bits_next(domains, word_count, first + 1) == SIZE_MAX)
        return node_requirements_in(run, set, key, first);
    uint64_t *words = ARENA_ARRAY(run->arena, word_count, uint64_t);
    memcpy(words, domains, word_count * sizeof *words);
    return narrow(run, set, key, words, word_count);
}

const uint64_t *node_requirements_options(struct solver_run *run,
                                          const struct node_requirements *set)
{
    if (set->options != NULL)
        return set->options;
    const struct solver_problem *problem = run->problem;
    uint64_t *options = ARENA_ARRAY(run->arena, problem->option_words, uint64_t);
    uint64_t *offered = ARENA_ARRAY(run->arena, problem->option_words, uint64_t);
    instance_types_select(problem, &set->requirements, options);
    offerings_select(problem, &set->requirements, offered);
    for (size_t w = 0; w < problem->option_words; w++)
        options[w] &= offered[w];
    run->sets.sets.items[set->number]->options = options;
    return options;
}

/* ---- minValues ---- */

uint32_t requirement_count_values(const struct solver_problem *problem,
                                  const struct solver_requirement *r, const uint64_t *options)
{
    uint32_t key = r->key;
    if (key >= problem->key_count || !problem->key_index[key].defined)
        return 0;
    const struct key_index *index = &problem->key_index[key];
    uint32_t count = 0;
    for (uint32_t v = 0; v < index->value_count; v++) {
        if (index->values[v] != NULL && solver_requirement_has(problem->names, r, v))
            count += bits_meet(index->values[v], options, problem->option_words);
    }
    return count;
}

const struct node_requirements *node_requirements_min_values(struct solver_run *run,
                                                             const struct node_requirements *set,
                                                             const uint64_t *options, bool relax)
{
    if (!set->has_min_values)
        return set;
    struct solver_requirements lowered = copy(run, &set->requirements, 0);
    bool changed = false;
    for (size_t i = 0; i < lowered.count; i++) {
        if (lowered.items[i].min_values == 0)
            continue;
        uint32_t reached = requirement_count_values(run->problem, &lowered.items[i], options);
        if (reached >= lowered.items[i].min_values)
            continue;
        if (!relax)
            return NULL;
        lowered.items[i].min_values = reached;
        changed = true;
    }
    return changed ? node_requirements_of(run, &lowered) : set;
}
