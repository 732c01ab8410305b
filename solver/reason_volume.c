/* Reasons of volumes: zones, and how many a node attaches. */
#include <string.h>

#include "solver/explain.h"

/* What the alternatives of a volume allow: "eu-west-1a or eu-west-1b". */
static struct text places_of(struct question *q, size_t volume)
{
    struct arena *arena = q->run->arena;
    struct texts places = {0};
    for (size_t i = 0; i < q->shape->volume_term_counts[volume]; i++) {
        const struct term *term = &q->shape->volume_terms[volume][i];
        const struct solver_requirement *r =
            solver_requirements_get(&term->requirements, q->problem->zone_key);
        if (r == NULL)
            r = term->hostname != NULL         ? term->hostname
                : term->requirements.count > 0 ? &term->requirements.items[0]
                                               : NULL;
        if (r == NULL)
            continue;
        if (r->key != q->problem->zone_key || solver_requirement_op(r) != SOLVER_IN) {
            *LIST_PUSH(arena, &places) = words_requirement(q->problem, arena, r);
            continue;
        }
        for (BITS_EACH(value, r->words, r->word_count)) {
            struct text *place = LIST_PUSH(arena, &places);
            place->data =
                solver_names_value_text(q->problem->names, r->key, (uint32_t)value, &place->size);
        }
    }
    return words_list(arena, &places, " or ");
}

/* "claim shop/data can be in eu-west-1a only, claim shop/logs in eu-west-1b". */
static struct text words_claims(struct question *q)
{
    struct arena *arena = q->run->arena;
    struct text result = TEXT("");
    for (size_t i = 0; i < q->shape->volume_count; i++) {
        if (q->shape->volume_term_counts[i] == 0)
            continue;
        struct text name = i < q->pod->mount_count
                               ? arena_printf(arena, "claim %s",
                                              intern_text(&q->problem->volume_claims,
                                                          q->pod->mounts[i].volume_claim))
                               : TEXT("its volume");
        struct text places = places_of(q, i);
        result = result.size == 0 ? arena_printf(arena, "%.*s can be in %.*s only", TEXT_ARGS(name),
                                                 TEXT_ARGS(places))
                                  : arena_printf(arena, "%.*s, %.*s in %.*s", TEXT_ARGS(result),
                                                 TEXT_ARGS(name), TEXT_ARGS(places));
    }
    return result;
}

/* More volumes than any type attaches. */
static void tell_attaching(struct question *q, struct solver_reason *reason)
{
    const struct solver_problem *problem = q->problem;
    struct arena *arena = q->run->arena;
    size_t best = SIZE_MAX;
    uint32_t most = 0;
    for (BITS_EACH(option, problem->pools.items[q->pool].options, problem->option_words)) {
        const struct instance_type *type =
            &problem->types.items[problem->options.items[option].type];
        for (size_t i = 0; i < type->attach_limit_count; i++)
            if (type->attach_limits[i].driver == q->driver &&
                (best == SIZE_MAX || type->attach_limits[i].count > most ||
                 (type->attach_limits[i].count == most &&
                  strcmp(type->name, words_type(problem, best)) < 0))) {
                best = option;
                most = type->attach_limits[i].count;
            }
    }
    reason->message =
        arena_printf(arena, "attaches %zu volumes of driver %s",
                     mounts_count(NULL, 0, q->pod->mounts, q->pod->mount_count, q->driver),
                     intern_text(&problem->drivers, q->driver))
            .data;
    if (best != SIZE_MAX)
        reason->nearest = arena_printf(arena, "the most a type of this NodePool attaches is %u, %s",
                                       most, words_type(problem, best))
                              .data;
}

void reason_of_volume(struct question *q, struct solver_reason *reason)
{
    const struct solver_problem *problem = q->problem;
    struct arena *arena = q->run->arena;
    if (q->led != SOLVER_NONE) {
        struct text zone;
        zone.data = solver_names_value_text(problem->names, problem->zone_key,
                                            q->run->volume_claim_zones[q->led], &zone.size);
        reason->message =
            arena_printf(arena,
                         "claim %s is made in %.*s, with the first pod that mounts "
                         "it, and there is no place for this one there",
                         intern_text(&problem->volume_claims, q->led), TEXT_ARGS(zone))
                .data;
        return;
    }
    if (q->driver != SOLVER_NONE) {
        tell_attaching(q, reason);
        return;
    }
    reason->message = words_claims(q).data;
    bool zonal = false, local = false;
    for (size_t i = 0; i < q->shape->volume_alternative_count; i++) {
        zonal |=
            solver_requirements_get(&q->shape->volumes[i].requirements, problem->zone_key) != NULL;
        local |= !hostname_allows_new(q->shape->volumes[i].hostname);
    }
    if (local)
        reason->nearest = "a node that is yet to be bought has no such name";
    if (local || !zonal)
        return;
    const struct solver_requirement *own = solver_requirements_get(
        &q->run->empty_node_claims[q->pool].set->requirements, problem->zone_key);
    const struct key_index *index = &problem->key_index[problem->zone_key];
    size_t word_count = bits_words(index->value_count) + 1;
    uint64_t *zones = ARENA_ARRAY(arena, word_count, uint64_t);
    for (uint32_t v = 0; index->defined && v < index->value_count; v++)
        if (index->values[v] != NULL &&
            bits_meet(index->values[v], problem->pools.items[q->pool].options,
                      problem->option_words) &&
            (own == NULL || solver_requirement_has(problem->names, own, v)))
            bits_add(zones, v);
    struct text here = words_values(problem, arena, problem->zone_key, zones, word_count, " and ");
    if (here.size > 0)
        reason->nearest = arena_printf(arena, "the NodePool reaches %.*s", TEXT_ARGS(here)).data;
}

bool reason_volumes_meet(struct question *q, struct solver_reason *reason)
{
    if (q->shape->volume_alternative_count == 0)
        return true;
    for (size_t i = 0; i < q->shape->volume_alternative_count; i++) {
        bool empty = false;
        const struct solver_requirements *set = &q->shape->volumes[i].requirements;
        for (size_t j = 0; j < set->count; j++)
            empty |= solver_requirement_op(&set->items[j]) == SOLVER_DOES_NOT_EXIST;
        if (!empty)
            return true;
    }
    reason->message =
        arena_printf(q->run->arena, "%.*s: no place holds all of them", TEXT_ARGS(words_claims(q)))
            .data;
    reason->nearest = "";
    return false;
}
