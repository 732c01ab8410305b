#include "solver/explain.h"

#include <string.h>

/* ---- criteria: what each alone leaves of a pool's rows ---- */

static void take_rows(const struct solver_problem *problem, const uint64_t *from, uint64_t *rows)
{
    memcpy(rows, from, problem->row_words * sizeof *rows);
}

/* The set of a pool with a term; NULL when they contradict each other. */
static const struct claim_set *with_term(struct question *q, const struct term *term,
                                         uint32_t number, uint32_t *conflict)
{
    const struct claim_set *base = q->run->empty_claims[q->pool].set;
    if (!hostname_allows_new(term->hostname)) {
        *conflict = q->problem->hostname_key;
        return NULL;
    }
    if (!compatible(q->problem, &base->requirements, &term->requirements, false, conflict))
        return NULL;
    return claim_set_add(q->run, base, term, number);
}

static void judge_requirement(struct question *q, uint64_t *types, uint64_t *offered)
{
    const struct solver_problem *problem = q->problem;
    const struct variant *variant = q->variant;
    const struct claim_set *set = with_term(q, &variant->full, variant->number, &q->conflict);
    q->requirement_fits_pool = set != NULL;
    take_rows(problem, problem->pools.items[q->pool].rows, offered);
    if (set == NULL)
        return; /* types stays empty */
    uint64_t *rows = q->run->scratch_rows;
    catalog_select_types(problem, &set->requirements, rows);
    catalog_select_offerings(problem, &set->requirements, offered);
    for (size_t w = 0; w < problem->row_words; w++) {
        types[w] = rows[w] & problem->pools.items[q->pool].rows[w];
        offered[w] &= problem->pools.items[q->pool].rows[w];
    }
}

static void judge_resources(struct question *q, uint64_t *rows)
{
    const struct pool *pool = &q->problem->pools.items[q->pool];
    size_t row_count = q->problem->rows.count;
    for (BITS_EACH(row, pool->rows, q->problem->row_words)) {
        bool fits = true;
        for (size_t r = 0; r < q->problem->resource_count && fits; r++)
            fits = q->shape->requests[r] <= pool->room[r * row_count + row];
        if (fits)
            bits_add(rows, row);
    }
}

static void judge_volumes(struct question *q, uint64_t *rows)
{
    const struct shape *shape = q->shape;
    if (shape->volume_alternative_count == 0)
        take_rows(q->problem, q->problem->pools.items[q->pool].rows, rows);
    for (size_t i = 0; i < shape->volume_alternative_count; i++) {
        uint32_t conflict = 0;
        const struct claim_set *set = with_term(
            q, &shape->volumes[i],
            q->problem->variant_count + shape->first_volume_term + (uint32_t)i, &conflict);
        if (set == NULL)
            continue;
        const uint64_t *some = claim_set_rows(q->run, set);
        for (size_t w = 0; w < q->problem->row_words; w++)
            rows[w] |= some[w] & q->problem->pools.items[q->pool].rows[w];
    }
}

static void judge_topology(struct question *q, uint64_t *rows)
{
    struct solver_run *run = q->run;
    const struct variant_state *state = &run->variants[q->variant->number];
    uint32_t new_host = (uint32_t)(q->problem->nodes.count + run->claims.count);
    if (!topology_want(run, q->shape, q->variant, &q->group) ||
        topology_host(run, state, new_host, &q->group) != ACCEPTED)
        return;
    const struct claim_set *set =
        topology_narrow(run, state, run->empty_claims[q->pool].set, NULL, &q->group);
    if (set == NULL)
        return;
    const uint64_t *some = claim_set_rows(run, set);
    for (size_t w = 0; w < q->problem->row_words; w++)
        rows[w] = some[w] & q->problem->pools.items[q->pool].rows[w];
    if (q->group == SOLVER_NONE && state->wanted_count > 0)
        q->group = state->wanted[0].group;
}

static void judge_ports(struct question *q, uint64_t *rows)
{
    const struct pool *pool = &q->problem->pools.items[q->pool];
    take_rows(q->problem, pool->rows, rows);
    for (size_t i = 0; i < pool->daemon_count; i++)
        if (host_ports_conflict(pool->daemons[i].ports, pool->daemons[i].port_count,
                                q->shape->ports, q->shape->port_count))
            for (size_t w = 0; w < q->problem->row_words; w++)
                rows[w] &= ~pool->daemons[i].rows[w];
}

static void judge_all(struct question *q)
{
    const struct solver_problem *problem = q->problem;
    const struct pool *pool = &problem->pools.items[q->pool];
    for (size_t i = 0; i < CRITERIA; i++)
        memset(q->rows[i], 0, problem->row_words * sizeof(uint64_t));
    q->taint = NULL;
    q->group = SOLVER_NONE;
    if (taints_tolerated(pool->taints, &q->shape->tolerations, q->variant->prefer, &q->taint))
        take_rows(problem, pool->rows, q->rows[SOLVER_REASON_TAINT]);
    judge_requirement(q, q->rows[SOLVER_REASON_REQUIREMENT], q->rows[SOLVER_REASON_OFFERING]);
    judge_resources(q, q->rows[SOLVER_REASON_RESOURCES]);
    judge_topology(q, q->rows[SOLVER_REASON_TOPOLOGY]);
    judge_volumes(q, q->rows[SOLVER_REASON_VOLUME]);
    const uint64_t *limited = pool_limit_rows(q->run, q->pool);
    if (limited != NULL)
        take_rows(problem, limited, q->rows[SOLVER_REASON_LIMIT]);
    judge_ports(q, q->rows[SOLVER_REASON_PORT]);
}

/* ---- the smallest set of criteria that leaves nothing ---- */

static bool leaves_nothing(const struct question *q, unsigned criteria)
{
    for (size_t w = 0; w < q->problem->row_words; w++) {
        uint64_t word = q->problem->pools.items[q->pool].rows[w];
        for (size_t i = 0; i < CRITERIA; i++)
            if ((criteria >> i & 1) != 0)
                word &= q->rows[i][w];
        if (word != 0)
            return false;
    }
    return true;
}

/* As a set of bits; 0 when even all of them leave something. */
static unsigned smallest_set(const struct question *q)
{
    const unsigned every = (1u << CRITERIA) - 1;
    for (int size = 1; size <= CRITERIA; size++)
        for (unsigned set = 1; set <= every; set++)
            if (__builtin_popcount(set) == size && leaves_nothing(q, set))
                return set;
    return 0;
}

/* Each alone and all row by row leave something, but not in one place: a zone that one wants the
 * others rule out. */
static unsigned joint_set(const struct question *q)
{
    const struct variant_state *state = &q->run->variants[q->variant->number];
    unsigned set = 0;
    if (q->shape->volume_alternative_count > 0)
        set |= 1u << SOLVER_REASON_VOLUME;
    if (state->wanted_count > 0)
        set |= 1u << SOLVER_REASON_TOPOLOGY;
    if (set == 0 || (set & (set - 1)) == 0)
        set |= 1u << SOLVER_REASON_REQUIREMENT;
    return set;
}

static bool pool_has_min_values(const struct question *q)
{
    return q->run->empty_claims[q->pool].set->has_min_values;
}

/* How far a variant gets: fewer criteria against it are better, then later ones. */
static unsigned set_for_variant(struct question *q, const struct variant *variant)
{
    q->variant = variant;
    (void)topology_want(q->run, q->shape, variant, NULL);
    judge_all(q);
    unsigned set = smallest_set(q);
    if (set != 0)
        return set;
    if (pool_has_min_values(q) && q->shape->volume_alternative_count == 0 &&
        q->run->variants[variant->number].wanted_count == 0)
        return 1u << SOLVER_REASON_MIN_VALUES;
    return joint_set(q);
}

static void explain_pool(struct question *q, struct reason_list *reasons)
{
    /* The wishes were given up one by one: what is left to explain are the hard ones. Of several
     * required terms, the one that fits the pool. */
    const struct shape *shape = q->shape;
    if (!bits_any(q->problem->pools.items[q->pool].rows, q->problem->row_words)) {
        *LIST_PUSH(q->run->arena, reasons) = (struct solver_reason){
            .pool = q->pool,
            .kind = SOLVER_REASON_REQUIREMENT,
            .message = "the NodePool can launch no instance type at all",
            .nearest = "",
        };
        return;
    }
    const struct variant *last = &shape->variants[shape->variant_count - 1];
    unsigned best = set_for_variant(q, last);
    const struct variant *chosen = last;
    for (size_t i = 0; i + 1 < shape->variant_count && shape->required_count > 1; i++) {
        const struct variant *variant = &shape->variants[i];
        if (variant->required_from == last->required_from || q->requirement_fits_pool)
            break;
        unsigned set = set_for_variant(q, variant);
        if (q->requirement_fits_pool) {
            best = set;
            chosen = variant;
        }
    }
    q->variant = chosen;
    (void)set_for_variant(q, chosen);
    for (unsigned kind = 0; kind < SOLVER_REASON_COUNT; kind++)
        if ((best >> kind & 1) != 0)
            *LIST_PUSH(q->run->arena, reasons) =
                reason_tell(q, (enum solver_reason_kind)kind, best);
}

/* ---- reasons that hold whatever the pool ---- */

static bool explain_alone(struct question *q, struct reason_list *reasons)
{
    struct solver_reason reason = {.pool = SOLVER_NONE};
    if (q->shape->needs_devices) {
        reason.kind = SOLVER_REASON_DEVICES;
        reason.message = "asks for devices by resourceClaims, which the provisioner does not place";
        reason.nearest = "";
    } else if (!reason_volumes_meet(q, &reason)) {
        reason.kind = SOLVER_REASON_VOLUME;
    } else if (q->problem->pools.count == 0) {
        reason.kind = SOLVER_REASON_REQUIREMENT;
        reason.message = "there is no NodePool, and no node has room for it";
        reason.nearest = "";
    } else {
        return false;
    }
    *LIST_PUSH(q->run->arena, reasons) = reason;
    return true;
}

struct solver_reasons solver_explain(struct solver_run *run, uint32_t pod)
{
    const struct solver_problem *problem = run->problem;
    if (problem->pods.items[pod].node == POD_GONE)
        return (struct solver_reasons){NULL, 0};
    struct question q = {
        .run = run,
        .problem = problem,
        .pod = &problem->pods.items[pod],
        .shape = &problem->shapes.items[problem->pods.items[pod].shape],
    };
    for (size_t i = 0; i < CRITERIA; i++)
        q.rows[i] = ARENA_ARRAY(run->arena, problem->row_words, uint64_t);
    struct reason_list reasons = {0};
    if (!explain_alone(&q, &reasons) && q.shape->variant_count > 0)
        for (q.pool = 0; q.pool < problem->pools.count; q.pool++)
            explain_pool(&q, &reasons);
    return (struct solver_reasons){reasons.items, reasons.count};
}
