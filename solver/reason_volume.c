/* Reasons of volumes: where they can be, and how many are attached. */
#include <string.h>

#include "solver/explain.h"

/* Whether nothing of the pool has what a volume requires; where its types are not in the problem,
 * only what it requires is known. */
static bool pool_lacks(struct explanation *q, const struct solver_requirement *r)
{
    const uint64_t *own = q->problem->pools.items[q->pool].options;
    const struct node_requirements *set =
        node_requirements_with(q->run, q->run->empty_node_claims[q->pool].set, r);
    return set == NULL ||
           (bits_any(own, q->problem->option_words) &&
            !bits_meet(node_requirements_options(q->run, set), own, q->problem->option_words));
}

/* Whether the volumes of the pod agree on no value of the key. */
static bool volumes_disagree(const struct explanation *q, uint32_t key)
{
    for (size_t i = 0; i < q->shape->volume_alternative_count; i++) {
        const struct solver_requirement *r =
            solver_requirements_get(&q->shape->volumes[i].requirements, key);
        if (r != NULL && solver_requirement_op(r) == SOLVER_DOES_NOT_EXIST)
            return true;
    }
    return false;
}

/* apart: no place holds all volumes, whatever the pool. */
static bool is_in_the_way(struct explanation *q, const struct solver_requirement *r, bool apart)
{
    return apart ? volumes_disagree(q, r->key) : pool_lacks(q, r);
}

/* The requirement of a term that is told: the zone, unless only another is in the way. NULL: it has
 * none. */
static const struct solver_requirement *told_of(struct explanation *q, const struct term *term,
                                                bool apart)
{
    const struct solver_requirements *set = &term->requirements;
    const struct solver_requirement *zone = solver_requirements_get(set, q->problem->zone_key);
    if (zone != NULL && is_in_the_way(q, zone, apart))
        return zone;
    if (term->hostname != NULL && (zone == NULL || !hostname_allows_new(term->hostname)))
        return term->hostname;
    for (size_t i = 0; i < set->count; i++)
        if (is_in_the_way(q, &set->items[i], apart))
            return &set->items[i];
    return zone != NULL ? zone : set->count > 0 ? &set->items[0] : NULL;
}

/* Where the terms of a volume allow it: "eu-west-1a or eu-west-1b". */
static struct solver_operand terms_of(struct explanation *q, size_t volume, bool apart)
{
    struct arena *arena = q->run->arena;
    struct sayings terms = {0};
    for (size_t i = 0; i < q->shape->volume_term_counts[volume]; i++) {
        const struct solver_requirement *r = told_of(q, &q->shape->volume_terms[volume][i], apart);
        if (r == NULL)
            continue;
        if (r->key != q->problem->zone_key || solver_requirement_op(r) != SOLVER_IN) {
            *LIST_PUSH(arena, &terms) = SAY(q, IT, operand_requirement(q, r));
            continue;
        }
        for (BITS_EACH(value, r->words, r->word_count))
            *LIST_PUSH(arena, &terms) =
                SAY(q, IT, operand_name(value_text(q->problem, r->key, value)));
    }
    return operand_sayings(&terms);
}

/* Whether the zones that the pool reaches say more: the zone of a volume is in the way, or nothing
 * is by itself. */
static bool zones_matter(struct explanation *q)
{
    bool zonal = false, others = false;
    for (size_t i = 0; i < q->shape->volume_count; i++)
        for (size_t j = 0; j < q->shape->volume_term_counts[i]; j++) {
            const struct solver_requirement *r = told_of(q, &q->shape->volume_terms[i][j], false);
            if (r != NULL && r->key != q->problem->zone_key)
                others |= pool_lacks(q, r);
            else if (r != NULL && pool_lacks(q, r))
                return true;
            else
                zonal |= r != NULL;
        }
    return zonal && !others;
}

/* "claim shop/data can be in eu-west-1a only, claim shop/logs in eu-west-1b". */
static struct solver_operand all_terms(struct explanation *q, bool apart)
{
    struct sayings volumes = {0};
    for (size_t i = 0; i < q->shape->volume_count; i++) {
        if (q->shape->volume_term_counts[i] == 0)
            continue;
        bool first = volumes.count == 0;
        struct solver_operand terms = terms_of(q, i, apart);
        struct solver_saying *volume = LIST_PUSH(q->run->arena, &volumes);
        if (i >= q->pod->mount_count) {
            *volume = first ? SAY(q, VOLUME_ONLY_IN, terms) : SAY(q, VOLUME_IN, terms);
            continue;
        }
        uint32_t claim = q->pod->mounts[i].volume_claim;
        struct solver_operand name =
            operand_name(text_of(intern_text(&q->problem->volume_claims, claim)));
        *volume = first ? SAY(q, CLAIM_ONLY_IN, name, terms) : SAY(q, CLAIM_IN, name, terms);
    }
    return operand_sayings(&volumes);
}

/* More volumes than any type attaches. */
static void tell_attaching(struct explanation *q, struct solver_reason *reason)
{
    const struct solver_problem *problem = q->problem;
    size_t best = SIZE_MAX;
    uint32_t most = 0;
    for (BITS_EACH(option, problem->pools.items[q->pool].options, problem->option_words)) {
        const struct instance_type *type =
            &problem->types.items[problem->options.items[option].type];
        for (size_t i = 0; i < type->attach_limit_count; i++)
            if (type->attach_limits[i].driver == q->driver &&
                (best == SIZE_MAX || type->attach_limits[i].count > most)) {
                best = option;
                most = type->attach_limits[i].count;
            }
    }
    size_t count = mounts_count(NULL, 0, q->pod->mounts, q->pod->mount_count, q->driver);
    reason->message = SAY(q, ATTACHES, operand_number((int64_t)count),
                          operand_name(text_of(intern_text(&problem->drivers, q->driver))));
    if (best != SIZE_MAX)
        reason->nearest = SAY(q, MOST_ATTACHED, operand_number(most),
                              operand_name(text_of(option_type_name(problem, best))));
}

/* The zones in which the pool has something to launch. */
static struct solver_operand zones_of_pool(const struct explanation *q)
{
    const struct solver_problem *problem = q->problem;
    const struct node_requirements *any_zone = q->run->empty_node_claims[q->pool].set;
    const struct key_index *index = &problem->key_index[problem->zone_key];
    size_t word_count = bits_words(index->value_count) + 1;
    uint64_t *zones = ARENA_ARRAY(q->run->arena, word_count, uint64_t);
    for (uint32_t v = 0; index->defined && v < index->value_count; v++) {
        const struct node_requirements *there =
            node_requirements_in(q->run, any_zone, problem->zone_key, v);
        if (there != NULL &&
            bits_meet(node_requirements_options(q->run, there),
                      problem->pools.items[q->pool].options, problem->option_words))
            bits_add(zones, v);
    }
    return operand_values(q, problem->zone_key, zones, word_count);
}

void reason_of_volume(struct explanation *q, struct solver_reason *reason)
{
    const struct solver_problem *problem = q->problem;
    if (q->led != SOLVER_NONE) {
        uint32_t zone = q->run->volume_claim_zones[q->led];
        reason->message = SAY(q, VOLUME_MADE_IN,
                              operand_name(text_of(intern_text(&problem->volume_claims, q->led))),
                              operand_name(value_text(problem, problem->zone_key, zone)));
        return;
    }
    if (q->driver != SOLVER_NONE) {
        tell_attaching(q, reason);
        return;
    }
    reason->message = SAY(q, ALL, all_terms(q, false));
    bool local = false;
    for (size_t i = 0; i < q->shape->volume_alternative_count; i++)
        local |= !hostname_allows_new(q->shape->volumes[i].hostname);
    if (local)
        reason->nearest = SAY_ONLY(NO_SUCH_HOSTNAME);
    if (local || !zones_matter(q))
        return;
    struct solver_operand zones = zones_of_pool(q);
    const struct pool *pool = &problem->pools.items[q->pool];
    const struct solver_requirement *own =
        solver_requirements_get(&pool->requirements, problem->zone_key);
    if (zones.texts.count > 0)
        reason->nearest = SAY(q, POOL_REACHES, zones);
    else if (pool->unlisted_types && own != NULL)
        reason->nearest = SAY(q, POOL_ALLOWS, operand_requirement(q, own));
}

bool reason_volumes_meet(struct explanation *q, struct solver_reason *reason)
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
    reason->message = SAY(q, VOLUMES_APART, all_terms(q, true));
    return false;
}
