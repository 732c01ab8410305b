/* Terms of node affinity, taints and tolerations. */
#include <string.h>

#include "solver/problem.h"

struct solver_requirement requirement_make(struct solver_problem *problem,
                                           const struct solver_expression *expression)
{
    size_t size = strlen(expression->key);
    const char *canonical = solver_canonical_key(expression->key, &size);
    uint32_t key = solver_names_key(problem->names, canonical, size);
    uint32_t *values = ARENA_ARRAY(problem->arena, expression->value_count, uint32_t);
    for (size_t j = 0; j < expression->value_count; j++)
        values[j] = solver_names_value(problem->names, key, expression->values[j],
                                       strlen(expression->values[j]));
    return solver_requirement_make(problem->names, key, expression->op, values,
                                   expression->value_count, expression->min_values, problem->arena);
}

struct solver_requirements requirements_for(struct solver_problem *problem, size_t count)
{
    return (struct solver_requirements){
        .items = ARENA_ARRAY(problem->arena, count, struct solver_requirement), .capacity = count};
}

struct term term_make(struct solver_problem *problem, struct solver_expressions expressions)
{
    struct term term = {.requirements = requirements_for(problem, expressions.count)};
    for (size_t i = 0; i < expressions.count; i++) {
        struct solver_requirement requirement = requirement_make(problem, &expressions.items[i]);
        if (requirement.key == problem->hostname_key)
            term_add(problem, &term, &(struct term){.hostname = &requirement});
        else
            solver_requirements_add(problem->names, &term.requirements, requirement,
                                    problem->arena);
    }
    return term;
}

void term_add(struct solver_problem *problem, struct term *term, const struct term *more)
{
    for (size_t i = 0; i < more->requirements.count; i++)
        solver_requirements_add(problem->names, &term->requirements, more->requirements.items[i],
                                problem->arena);
    if (more->hostname == NULL)
        return;
    struct solver_requirement *hostname = ARENA_NEW(problem->arena, struct solver_requirement);
    *hostname = term->hostname == NULL
                    ? *more->hostname
                    : solver_requirement_intersect(problem->names, term->hostname, more->hostname,
                                                   problem->arena);
    term->hostname = hostname;
}

bool compatible(const struct solver_problem *problem, const struct solver_requirements *r,
                const struct solver_requirements *incoming, bool strict, uint32_t *conflict)
{
    size_t at = 0;
    for (size_t i = 0; i < incoming->count; i++) {
        const struct solver_requirement *wanted = &incoming->items[i];
        while (at < r->count && r->items[at].key < wanted->key)
            at++;
        bool fine;
        if (at < r->count && r->items[at].key == wanted->key)
            fine = solver_requirement_intersects(problem->names, &r->items[at], wanted) ||
                   (solver_requirement_is_negative(&r->items[at]) &&
                    solver_requirement_is_negative(wanted));
        else
            fine =
                solver_requirement_is_negative(wanted) ||
                (!strict && wanted->key < problem->key_count && problem->well_known[wanted->key]);
        if (!fine) {
            if (conflict != NULL)
                *conflict = wanted->key;
            return false;
        }
    }
    return true;
}

bool hostname_allows(const struct solver_problem *problem,
                     const struct solver_requirement *hostname, uint32_t value)
{
    return hostname == NULL || solver_requirement_has(problem->names, hostname, value);
}

bool hostname_allows_new(const struct solver_requirement *hostname)
{
    return hostname == NULL || (hostname->complement && !hostname->has_gte && !hostname->has_lte);
}

uint32_t state_node_value(const struct state_node *node, uint32_t key)
{
    const struct solver_requirement *r = solver_requirements_get(&node->labels, key);
    if (r == NULL)
        return SOLVER_NONE;
    size_t value = bits_next(r->words, r->word_count, 0);
    return value == SIZE_MAX ? SOLVER_NONE : (uint32_t)value;
}

int64_t *amounts_vector(const struct solver_problem *problem, struct solver_amounts amounts)
{
    int64_t *vector = ARENA_ARRAY(problem->arena, problem->resource_count, int64_t);
    for (size_t i = 0; i < amounts.count; i++)
        vector[amounts.items[i].resource] = amounts.items[i].quantity;
    return vector;
}

/* ---- taints ---- */

static bool covers(const struct toleration *toleration, const struct taint *taint)
{
    if (!toleration->any_effect && toleration->effect != taint->effect)
        return false;
    if (toleration->key == SOLVER_NONE)
        return toleration->exists;
    if (toleration->key != taint->key)
        return false;
    if (toleration->gt || toleration->lt)
        return toleration->is_number && taint->is_number &&
               (toleration->gt ? taint->number > toleration->number
                               : taint->number < toleration->number);
    return toleration->exists || toleration->value == taint->value;
}

bool taints_tolerated(struct taint_list taints, const struct toleration_list *tolerations,
                      bool prefer, const struct taint **in_the_way)
{
    for (size_t i = 0; i < taints.count; i++) {
        const struct taint *taint = &taints.items[i];
        bool covered = prefer && taint->effect == SOLVER_PREFER_NO_SCHEDULE;
        for (size_t j = 0; j < tolerations->count && !covered; j++)
            covered = covers(&tolerations->items[j], taint);
        if (!covered) {
            if (in_the_way != NULL)
                *in_the_way = taint;
            return false;
        }
    }
    return true;
}

/* ---- host ports ---- */

static bool is_same_port(const struct host_port *a, const struct host_port *b)
{
    return a->port == b->port && a->protocol == b->protocol &&
           (a->ip == SOLVER_NONE || b->ip == SOLVER_NONE || a->ip == b->ip);
}

bool host_ports_conflict(const struct host_port *a, size_t a_count, const struct host_port *b,
                         size_t b_count)
{
    for (size_t i = 0; i < a_count; i++)
        for (size_t j = 0; j < b_count; j++)
            if (a[i].expected == 0 && is_same_port(&a[i], &b[j]))
                return true;
    return false;
}

const struct host_port *host_ports_conflict_unseen(const struct host_port_list *a,
                                                   const struct host_port *b, size_t b_count,
                                                   uint32_t pod)
{
    const struct host_port *taken = NULL;
    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b_count; j++) {
            if (a->items[i].expected == pod + 1 || !is_same_port(&a->items[i], &b[j]))
                continue;
            if (!a->items[i].unseen && !b[j].unseen)
                return NULL;
            if (a->items[i].expected == 0)
                taken = &b[j];
        }
    return taken;
}
