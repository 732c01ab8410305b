/* Why a pod fits nowhere: by pool, the smallest set of criteria that leaves nothing of it. */
#include "solver/explain.h"

#include <stdlib.h>
#include <string.h>

/* ---- criteria: what each alone leaves of a pool's options ---- */

static void take_options(const struct solver_problem *problem, const uint64_t *from,
                         uint64_t *options)
{
    memcpy(options, from, problem->option_words * sizeof *options);
}

/* The set of a pool with a term; NULL when they contradict each other. */
static const struct node_requirements *with_term(struct explanation *q, const struct term *term,
                                                 uint32_t number, uint32_t *conflict)
{
    const struct node_requirements *base = q->run->empty_node_claims[q->pool].set;
    if (!hostname_allows_new(term->hostname)) {
        *conflict = q->problem->hostname_key;
        return NULL;
    }
    if (!compatible(q->problem, &base->requirements, &term->requirements, false, conflict))
        return NULL;
    return node_requirements_add(q->run, base, term, number);
}

/* A number for an alternative of a shape's volumes that no relaxation has. */
static uint32_t volume_number(const struct explanation *q, size_t alternative)
{
    return q->problem->relaxation_count + q->shape->first_volume_term + (uint32_t)alternative;
}

/* Removes the options that only full reservations offer. */
static void drop_full(struct explanation *q, uint64_t *offered)
{
    const struct solver_problem *problem = q->problem;
    if (problem->reserved.count == 0)
        return;
    const bool *allowed = node_requirements_offerings(q->run, q->set);
    for (BITS_EACH(option, offered, problem->option_words)) {
        const struct instance_type_option *from = &problem->options.items[option];
        bool any = false;
        for (size_t i = 0; i < from->offering_count && !any; i++)
            any = from->offerings[i].launchable && allowed[from->offerings[i].shape];
        if (!any)
            bits_remove(offered, option);
    }
}

static void judge_requirement(struct explanation *q, uint64_t *types, uint64_t *offered)
{
    const struct solver_problem *problem = q->problem;
    const struct relaxation *relaxation = q->relaxation;
    const struct node_requirements *set =
        with_term(q, &relaxation->full, relaxation->number, &q->conflict);
    q->set = set;
    take_options(problem, problem->pools.items[q->pool].options, offered);
    if (set == NULL)
        return; /* types stays empty */
    uint64_t *options = q->run->scratch_options;
    instance_types_select(problem, &set->requirements, options);
    offerings_select(problem, &set->requirements, offered);
    drop_full(q, offered);
    for (size_t w = 0; w < problem->option_words; w++) {
        types[w] = options[w] & problem->pools.items[q->pool].options[w];
        offered[w] &= problem->pools.items[q->pool].options[w];
    }
}

static void judge_resources(struct explanation *q, uint64_t *options)
{
    const struct pool *pool = &q->problem->pools.items[q->pool];
    (void)options_with_room(q->problem, pool, q->shape->requests, pool->options, options);
}

/* Removes the options whose types do not attach so many volumes. */
static void drop_unattachable(struct explanation *q, uint64_t *options)
{
    const struct solver_problem *problem = q->problem;
    const struct pod *pod = q->pod;
    for (size_t i = 0; i < pod->mount_count; i++) {
        uint32_t driver = pod->mounts[i].driver;
        if (driver == SOLVER_NONE)
            continue;
        size_t count = mounts_count(NULL, 0, pod->mounts, pod->mount_count, driver);
        bool any = false, every = true;
        for (BITS_EACH(option, options, problem->option_words)) {
            bool attaches = option_attaches(problem, option, driver, count);
            any |= attaches;
            every &= attaches;
            if (!attaches)
                bits_remove(options, option);
        }
        /* The driver is named where no type attaches so many volumes, or where some types do not
         * and no zone of a volume can be the reason. */
        if ((!any || (!every && q->shape->volume_alternative_count == 0)) &&
            q->driver == SOLVER_NONE)
            q->driver = driver;
    }
}

static void judge_volumes(struct explanation *q, uint64_t *options)
{
    const struct shape *shape = q->shape;
    const uint64_t *own = q->problem->pools.items[q->pool].options;
    q->driver = SOLVER_NONE;
    take_options(q->problem, own, options);
    drop_unattachable(q, options);
    if (shape->volume_alternative_count == 0)
        return;
    uint64_t *some = ARENA_ARRAY(q->run->arena, q->problem->option_words, uint64_t);
    for (size_t i = 0; i < shape->volume_alternative_count; i++) {
        uint32_t conflict = 0;
        const struct node_requirements *set =
            with_term(q, &shape->volumes[i], volume_number(q, i), &conflict);
        const uint64_t *there = set == NULL ? NULL : node_requirements_options(q->run, set);
        for (size_t w = 0; set != NULL && w < q->problem->option_words; w++)
            some[w] |= there[w];
    }
    for (size_t w = 0; w < q->problem->option_words; w++)
        options[w] &= some[w];
}

static void judge_topology(struct explanation *q, uint64_t *options)
{
    struct solver_run *run = q->run;
    const struct relaxation_state *state = &run->relaxations[q->relaxation->number];
    uint32_t new_host = (uint32_t)(q->problem->nodes.count + run->node_claims.count);
    if (!topology_match(run, q->shape, q->relaxation, &q->group) ||
        topology_host(run, state, new_host, &q->group) != CAN_ADD)
        return;
    const struct node_requirements *set =
        topology_narrow(run, state, run->empty_node_claims[q->pool].set, NULL, &q->group);
    if (set == NULL)
        return;
    const uint64_t *some = node_requirements_options(run, set);
    for (size_t w = 0; w < q->problem->option_words; w++)
        options[w] = some[w] & q->problem->pools.items[q->pool].options[w];
}

static void judge_ports(struct explanation *q, uint64_t *options)
{
    const struct pool *pool = &q->problem->pools.items[q->pool];
    take_options(q->problem, pool->options, options);
    drop_taken_ports(q->problem, pool, q->shape, options);
}

static void judge_all(struct explanation *q)
{
    const struct solver_problem *problem = q->problem;
    const struct pool *pool = &problem->pools.items[q->pool];
    for (size_t i = 0; i < CRITERIA; i++)
        memset(q->options[i], 0, problem->option_words * sizeof(uint64_t));
    q->taint = NULL;
    q->group = SOLVER_NONE;
    if (taints_tolerated(pool->taints, &q->shape->tolerations, q->relaxation->prefer, &q->taint))
        take_options(problem, pool->options, q->options[SOLVER_REASON_TAINT]);
    judge_requirement(q, q->options[SOLVER_REASON_REQUIREMENT], q->options[SOLVER_REASON_OFFERING]);
    judge_resources(q, q->options[SOLVER_REASON_RESOURCES]);
    judge_topology(q, q->options[SOLVER_REASON_TOPOLOGY]);
    judge_volumes(q, q->options[SOLVER_REASON_VOLUME]);
    const uint64_t *limited = pool_limit_options(q->run, q->pool);
    if (limited != NULL)
        take_options(problem, limited, q->options[SOLVER_REASON_LIMIT]);
    judge_ports(q, q->options[SOLVER_REASON_PORT]);
}

/* ---- the smallest set of criteria that leaves nothing ---- */

static bool leaves_nothing(const struct explanation *q, unsigned criteria)
{
    for (size_t w = 0; w < q->problem->option_words; w++) {
        uint64_t word = q->problem->pools.items[q->pool].options[w];
        for (size_t i = 0; i < CRITERIA; i++)
            if ((criteria >> i & 1) != 0)
                word &= q->options[i][w];
        if (word != 0)
            return false;
    }
    return true;
}

/* As a set of bits; 0 when even all of them leave something. */
static unsigned smallest_set(const struct explanation *q)
{
    for (int size = 1; size <= CRITERIA; size++)
        for (unsigned set = 1; set <= EVERY_CRITERION; set++)
            if (__builtin_popcount(set) == size && leaves_nothing(q, set))
                return set;
    return 0;
}

/* Whether something that meets all criteria is left by a set, and where topology narrows it to. */
static bool leaves_some(struct explanation *q, const struct node_requirements *set, bool topology)
{
    const struct relaxation_state *state = &q->run->relaxations[q->relaxation->number];
    if (set != NULL && topology)
        set = topology_narrow(q->run, state, set, NULL, NULL);
    if (set == NULL)
        return false;
    const uint64_t *left = reason_left(q, SOLVER_REASON_COUNT, EVERY_CRITERION);
    return bits_meet(node_requirements_options(q->run, set), left, q->problem->option_words);
}

static bool volumes_leave_some(struct explanation *q, const struct node_requirements *base,
                               bool topology)
{
    const struct shape *shape = q->shape;
    for (size_t i = 0; i < shape->volume_alternative_count; i++)
        if (hostname_allows_new(shape->volumes[i].hostname) &&
            leaves_some(
                q, node_requirements_add(q->run, base, &shape->volumes[i], volume_number(q, i)),
                topology))
            return true;
    return false;
}

/* Criteria that each leave options, also the same ones, but in different zones: one criterion asks
 * for a zone that the others rule out. */
static unsigned joint_set(struct explanation *q)
{
    const unsigned requirement = 1u << SOLVER_REASON_REQUIREMENT;
    const unsigned topology = 1u << SOLVER_REASON_TOPOLOGY, volume = 1u << SOLVER_REASON_VOLUME;
    bool has_topology = q->run->relaxations[q->relaxation->number].matching_count > 0;
    bool has_volumes = q->shape->volume_alternative_count > 0;
    if (has_topology && !leaves_some(q, q->set, true))
        return requirement | topology;
    if (has_volumes && !volumes_leave_some(q, q->set, false))
        return requirement | volume;
    if (!has_topology || !has_volumes)
        return requirement | (has_topology ? topology : 0) | (has_volumes ? volume : 0);
    bool all_three = volumes_leave_some(q, q->run->empty_node_claims[q->pool].set, true);
    return topology | volume | (all_three ? requirement : 0);
}

/* Whether a volume claim that the pod shares with others is in a zone where this pod cannot be: the
 * first pod that mounts it decides. */
static bool is_led_away(struct explanation *q)
{
    const struct solver_run *run = q->run;
    if (run->volume_claim_shared == NULL || run->asked)
        return false;
    for (size_t i = 0; i < q->pod->mount_count; i++) {
        const struct mount *mount = &q->pod->mounts[i];
        uint32_t zone = run->volume_claim_zones[mount->volume_claim];
        if (!mount->binds || !run->volume_claim_shared[mount->volume_claim] || zone == SOLVER_NONE)
            continue;
        if (leaves_some(q, node_requirements_in(q->run, q->set, q->problem->zone_key, zone), true))
            continue;
        q->led = mount->volume_claim;
        return true;
    }
    return false;
}

static bool pool_has_min_values(const struct explanation *q)
{
    return q->run->empty_node_claims[q->pool].set->has_min_values;
}

/* The reasons that together exclude the pool for a relaxation. */
static unsigned set_for_relaxation(struct explanation *q, const struct relaxation *relaxation)
{
    q->relaxation = relaxation;
    (void)topology_match(q->run, q->shape, relaxation, NULL);
    judge_all(q);
    unsigned set = smallest_set(q);
    q->led = SOLVER_NONE;
    q->not_tried = set == 0 && q->waits != SOLVER_NONE;
    if (set != 0)
        return set;
    if (q->not_tried)
        return 1u << SOLVER_REASON_OFFERING;
    if (is_led_away(q))
        return 1u << SOLVER_REASON_VOLUME;
    if (pool_has_min_values(q) && q->shape->volume_alternative_count == 0 &&
        q->run->relaxations[relaxation->number].matching_count == 0)
        return 1u << SOLVER_REASON_MIN_VALUES;
    return joint_set(q);
}

/* Whether the pod waits for the pool: only its reservations, which are full, keep the pod out. */
static bool waits_for_pool(struct explanation *q, unsigned set)
{
    const unsigned offering = 1u << SOLVER_REASON_OFFERING;
    bool any = false;
    if ((set & offering) == 0 || leaves_nothing(q, EVERY_CRITERION & ~offering))
        return false;
    const bool *allowed = node_requirements_offerings(q->run, q->set);
    const uint64_t *left = reason_left(q, SOLVER_REASON_OFFERING, EVERY_CRITERION);
    for (size_t i = 0; i < q->problem->reserved.count; i++) {
        const struct reserved_offering *reserved = &q->problem->reserved.items[i];
        any |= bits_has(left, reserved->option) && allowed[reserved->offering->shape];
    }
    return any;
}

/* ---- a pool whose types are not in the problem ---- */

/* Whether its types may have the label though the pool requires nothing of it. */
static bool types_may_have(const struct explanation *q, uint32_t key)
{
    const struct pool *pool = &q->problem->pools.items[q->pool];
    struct text domain, name;
    if (!text_split(key_text(q->problem, key), '/', &domain, &name))
        return false;
    for (size_t i = 0; i < pool->label_domain_count; i++)
        if (text_is(domain, pool->label_domains[i]))
            return true;
    return false;
}

/* Whether the term contradicts what all nodes of the pool have; by *conflict, a key. */
static bool contradicts(const struct explanation *q, const struct term *term, uint32_t *conflict)
{
    const struct solver_requirements *own = &q->run->empty_node_claims[q->pool].set->requirements;
    if (!hostname_allows_new(term->hostname)) {
        *conflict = q->problem->hostname_key;
        return true;
    }
    for (size_t i = 0; i < term->requirements.count; i++) {
        struct solver_requirement *wanted = &term->requirements.items[i];
        struct solver_requirements one = {wanted, 1, 1};
        if (!compatible(q->problem, own, &one, false, conflict) &&
            (solver_requirements_get(own, wanted->key) != NULL || !types_may_have(q, wanted->key)))
            return true;
    }
    return false;
}

static bool every_term_contradicts(struct explanation *q)
{
    const struct shape *shape = q->shape;
    for (size_t i = 0; i < shape->relaxation_count; i++) {
        q->relaxation = &shape->relaxations[i];
        if (!contradicts(q, &q->relaxation->full, &q->conflict))
            return false;
    }
    q->set = NULL;
    return true;
}

static bool every_volume_contradicts(const struct explanation *q)
{
    uint32_t conflict = 0;
    size_t count = q->shape->volume_alternative_count;
    for (size_t i = 0; i < count; i++)
        if (!contradicts(q, &q->shape->volumes[i], &conflict))
            return false;
    return count > 0;
}

/* What holds whatever its types are, or nothing. */
static void explain_unlisted(struct explanation *q, struct reason_list *reasons)
{
    const struct relaxation *last = &q->shape->relaxations[q->shape->relaxation_count - 1];
    const struct pool *pool = &q->problem->pools.items[q->pool];
    enum solver_reason_kind kind = SOLVER_REASON_VOLUME;
    q->led = q->driver = SOLVER_NONE;
    q->relaxation = last;
    if (!taints_tolerated(pool->taints, &q->shape->tolerations, last->prefer, &q->taint))
        kind = SOLVER_REASON_TAINT;
    else if (every_term_contradicts(q))
        kind = SOLVER_REASON_REQUIREMENT;
    else if (!every_volume_contradicts(q))
        return;
    *LIST_PUSH(q->run->arena, reasons) = reason_tell(q, kind, 1u << kind);
}

/* ---- pools ---- */

static void explain_pool(struct explanation *q, struct reason_list *reasons)
{
    /* Karpenter gives up preferences, so only what is required is explained. Of several required
     * terms the one that suits the pool is explained. */
    const struct shape *shape = q->shape;
    const struct pool *pool = &q->problem->pools.items[q->pool];
    if (!bits_any(pool->options, q->problem->option_words)) {
        if (pool->unlisted_types) {
            explain_unlisted(q, reasons);
            return;
        }
        struct solver_reason reason = {.pool = q->pool, .kind = SOLVER_REASON_REQUIREMENT};
        reason_of_pool(q, &reason);
        *LIST_PUSH(q->run->arena, reasons) = reason;
        return;
    }
    const struct relaxation *last = &shape->relaxations[shape->relaxation_count - 1];
    unsigned best = set_for_relaxation(q, last);
    for (size_t i = 0; i + 1 < shape->relaxation_count && shape->required_count > 1; i++) {
        const struct relaxation *relaxation = &shape->relaxations[i];
        if (relaxation->required_from == last->required_from || q->set != NULL)
            break;
        best = set_for_relaxation(q, relaxation);
    }
    if (q->set == NULL && q->relaxation != last)
        best = set_for_relaxation(q, last);
    if ((best >> SOLVER_REASON_TOPOLOGY & 1) != 0 && q->group == SOLVER_NONE)
        q->group = reason_group(q, reason_left(q, SOLVER_REASON_TOPOLOGY, best));
    for (unsigned kind = 0; kind < SOLVER_REASON_COUNT; kind++)
        if ((best >> kind & 1) != 0)
            *LIST_PUSH(q->run->arena, reasons) =
                reason_tell(q, (enum solver_reason_kind)kind, best);
    if (q->waits == SOLVER_NONE && waits_for_pool(q, best))
        q->waits = q->pool;
}

static int compare_reasons(const void *a_pointer, const void *b_pointer)
{
    const struct solver_reason *a = a_pointer;
    const struct solver_reason *b = b_pointer;
    if (a->pool != b->pool)
        return a->pool < b->pool ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

/* In the order in which the pools are tried, since one may keep the pod from those after it. */
static void explain_pools(struct explanation *q, struct reason_list *reasons)
{
    const struct solver_problem *problem = q->problem;
    size_t first = reasons->count;
    for (size_t i = 0; i < problem->pools.count; i++) {
        q->pool = problem->pool_order[i];
        if (q->fitting == NULL || !bits_has(q->fitting->pools, q->pool))
            explain_pool(q, reasons);
    }
    if (reasons->count > first)
        qsort(reasons->items + first, reasons->count - first, sizeof *reasons->items,
              compare_reasons);
}

/* ---- reasons that hold whatever the pool ---- */

/* Where the Nodes or pools found take the pod, nothing holds it. */
static const struct host_port *port_in_the_way(struct explanation *q)
{
    const struct solver_problem *problem = q->problem;
    uint32_t pod = (uint32_t)(q->pod - problem->pods.items);
    const struct host_port *port = NULL;
    if (q->shape->port_count == 0 ||
        (q->fitting != NULL && (bits_any(q->fitting->nodes, bits_words(problem->nodes.count)) ||
                                bits_any(q->fitting->pools, bits_words(problem->pools.count)))))
        return NULL;
    for (size_t i = 0; i < q->shape->relaxation_count && port == NULL; i++)
        if (topology_match(q->run, q->shape, &q->shape->relaxations[i], NULL))
            port = held_by_port(q->run, pod, &q->shape->relaxations[i]);
    return port;
}

static bool explain_alone(struct explanation *q, struct reason_list *reasons)
{
    const struct host_port *port = port_in_the_way(q);
    struct solver_reason reason = {.pool = SOLVER_NONE};
    if (q->shape->needs_devices) {
        reason.kind = SOLVER_REASON_DEVICES;
        reason.message = SAY_ONLY(DEVICES);
    } else if (!reason_volumes_meet(q, &reason)) {
        reason.kind = SOLVER_REASON_VOLUME;
    } else if (q->problem->pools.count == 0) { /* the Nodes add their own reasons */
        reason.kind = SOLVER_REASON_REQUIREMENT;
        reason.message = SAY_ONLY(NO_NODE_POOL);
    } else if (port != NULL) {
        reason.kind = SOLVER_REASON_PORT;
        reason.message = SAY(q, PORT_OF_SIDECAR, operand_number(port->port));
    } else {
        return false;
    }
    *LIST_PUSH(q->run->arena, reasons) = reason;
    return true;
}

struct solver_reasons explain_misfits(struct solver_run *run, uint32_t pod,
                                      const struct fitting *fitting)
{
    const struct solver_problem *problem = run->problem;
    struct explanation q = {
        .run = run,
        .problem = problem,
        .pod = &problem->pods.items[pod],
        .shape = &problem->shapes.items[problem->pods.items[pod].shape],
        .fitting = fitting,
        .waits = SOLVER_NONE,
    };
    for (size_t i = 0; i < CRITERIA; i++)
        q.options[i] = ARENA_ARRAY(run->arena, problem->option_words, uint64_t);
    struct reason_list reasons = {0};
    bool whatever = explain_alone(&q, &reasons);
    struct solver_reason nodes = {.pool = SOLVER_NONE};
    if ((!whatever || problem->pools.count == 0) && reason_of_nodes(&q, &nodes))
        *LIST_PUSH(run->arena, &reasons) = nodes;
    if (!whatever && q.shape->relaxation_count > 0)
        explain_pools(&q, &reasons);
    return (struct solver_reasons){reasons.items, reasons.count};
}

struct solver_reasons solver_explain(struct solver_run *run, uint32_t pod)
{
    return explain_misfits(run, pod, NULL);
}
