/* Answers in which zones one pod could run. */
#include "solver/query.h"

#include <stdlib.h>
#include <string.h>

/* The zones that an offering or a pool names. */
static void known_zones(const struct solver_problem *problem, uint64_t *zones)
{
    uint32_t key = problem->zone_key;
    for (size_t i = 0; i < problem->key_index[key].value_count; i++)
        if (problem->key_index[key].defined && problem->key_index[key].values[i] != NULL)
            bits_add(zones, i);
    size_t count = problem->offering_shapes.count;
    for (size_t i = 0; i < count + problem->pools.count; i++) {
        const struct solver_requirement *r =
            solver_requirements_get(i < count ? &problem->offering_shapes.items[i].requirements
                                              : &problem->pools.items[i - count].requirements,
                                    key);
        for (size_t w = 0; r != NULL && !r->complement && w < r->word_count; w++)
            zones[w] |= r->words[w];
    }
}

struct zone_search {
    uint64_t *known, *found;
    size_t word_count;
};

static void search_nodes(struct query *q, const struct relaxation *relaxation,
                         struct zone_search *search)
{
    const uint32_t *zones = label_values(q->view, q->view->zone_key);
    if (zones == NULL)
        return;
    query_choose_nodes(q, relaxation);
    for (BITS_EACH(node, q->nodes, bits_words(q->view->nodes.count))) {
        if (zones[node] == SOLVER_NONE)
            continue;
        if (!bits_has(search->found, zones[node]) &&
            query_node_takes(q, relaxation, (uint32_t)node))
            bits_add(search->found, zones[node]);
    }
}

static void search_pool(struct query *q, uint32_t pool, const struct relaxation *relaxation,
                        struct zone_search *search)
{
    struct node_claim claim;
    struct candidate candidate;
    if (!query_empty_node_claim(q, pool, &claim))
        return;
    const struct node_requirements *any_zone = claim.set;
    for (BITS_EACH(zone, search->known, search->word_count)) {
        if (bits_has(search->found, zone))
            continue;
        claim.set = node_requirements_in(q->run, any_zone, q->view->zone_key, zone);
        if (claim.set != NULL && query_try_node_claim(q, &claim, relaxation, &candidate)) {
            bits_add(search->found, zone);
        }
    }
}

static void search_zones(struct query *q, struct zone_search *search)
{
    size_t terms = q->shape->required_count > 0 ? q->shape->required_count : 1;
    for (size_t i = 0; i < terms && !q->shape->needs_devices; i++) {
        struct relaxation relaxation = relaxation_of_required(&q->builder, q->shape, i);
        bool may_be = query_take_relaxation(q, &relaxation);
        struct relaxation_state *state = &q->run->relaxations[relaxation.number];
        if (!may_be)
            continue;
        /* All domains that are allowed, not only the one that would be chosen. */
        for (size_t j = 0; j < state->matching_count; j++)
            state->matching[j].pick_one = false;
        for (uint32_t j = 0; j < q->view->pools.count && query_choose_types(q, &relaxation); j++)
            search_pool(q, j, &relaxation, search);
        search_nodes(q, &relaxation, search);
    }
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct solver_strings zone_names(const struct query *q, const uint64_t *zones,
                                        size_t word_count)
{
    struct arena *arena = q->run->arena;
    LIST(const char *) names = {0};
    for (BITS_EACH(zone, zones, word_count)) {
        struct text name = {0};
        name.data =
            solver_names_value_text(q->view->names, q->view->zone_key, (uint32_t)zone, &name.size);
        *LIST_PUSH(arena, &names) = arena_text(arena, name).data;
    }
    if (names.count > 1)
        qsort(names.items, names.count, sizeof *names.items, compare_strings);
    return (struct solver_strings){names.items, names.count};
}

static void answer_zones(struct query *q, struct solver_strings *zones)
{
    struct arena *arena = q->run->arena;
    uint32_t key = q->view->zone_key;
    struct zone_search search = {.word_count =
                                     bits_words(solver_names_value_count(q->view->names, key)) + 1};
    search.known = ARENA_ARRAY(arena, search.word_count, uint64_t);
    search.found = ARENA_ARRAY(arena, search.word_count, uint64_t);
    known_zones(q->view, search.known);
    search_zones(q, &search);
    *zones = zone_names(q, search.found, search.word_count);
}

bool solver_query_zones(struct solver_run *run, const struct solver_question *question,
                        struct arena *arena, struct solver_strings *zones, struct error *error)
{
    struct query q;
    *zones = (struct solver_strings){0};
    bool good = query_begin(&q, run, question, arena, error);
    if (good && !q.asks_for_unknown)
        answer_zones(&q, zones);
    query_end(run);
    return good;
}
