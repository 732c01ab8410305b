/* Prepares a run for questions about one pod at a time, and one question. */
#include "solver/query.h"

#include <stdlib.h>
#include <string.h>

/* How many items a query may add to a list before the list moves to the query's arena. */
#define SPARE 64
/* Beyond all numbers of relaxations, also of those that a query adds. */
#define FIRST_VOLUME_TERM (1u << 30)

/* ---- a run at rest ---- */

static void *with_spare(struct arena *arena, const void *items, size_t count, size_t size_bytes)
{
    void *copy = arena_array(arena, count + SPARE, size_bytes);
    if (count > 0)
        memcpy(copy, items, count * size_bytes);
    return copy;
}
#define WITH_SPARE(arena, list)                                                            \
    ((list).items = with_spare((arena), (list).items, (list).count, sizeof *(list).items), \
     (list).capacity = (list).count + SPARE)

static struct query_state *query_state_make(struct solver_run *run)
{
    struct query_state *state = ARENA_NEW(run->arena, struct query_state);
    state->base = *run->problem;
    WITH_SPARE(run->arena, state->base.shapes);
    WITH_SPARE(run->arena, state->base.label_classes);
    WITH_SPARE(run->arena, state->base.selectors);
    WITH_SPARE(run->arena, state->base.groups);
    WITH_SPARE(run->arena, state->base.inverse_groups);
    WITH_SPARE(run->arena, run->sets.sets);
    run->groups =
        with_spare(run->arena, run->groups, state->base.groups.count, sizeof *run->groups);
    run->relaxations = with_spare(run->arena, run->relaxations, state->base.relaxation_count,
                                  sizeof *run->relaxations);
    /* Every query needs the empty NodeClaim of each pool. */
    for (uint32_t i = 0; i < state->base.pools.count; i++) {
        size_t option;
        const struct node_requirements *set = run->empty_node_claims[i].set;
        (void)node_claim_cheapest(run, set, node_requirements_options(run, set), &option);
        (void)pool_limit_options(run, i);
    }
    state->rest = *run;
    state->rest.query_state = state;
    return state;
}

static void rest(struct solver_run *run)
{
    struct query_state *state = run->query_state;
    *run = state->rest;
    state->asking = false;
}

/* ---- a query ---- */

static bool asks_for_nothing_known(const struct solver_question *question)
{
    for (size_t i = 0; i < question->shape->requests.count; i++)
        if (question->shape->requests.items[i].resource == SOLVER_NONE)
            return true;
    return false;
}

/* Copies the requests without resources that nothing in the problem has; false when the pod asks
 * for one of these. */
static bool take_known(const struct solver_question *question, struct arena *arena,
                       struct solver_shape *shape)
{
    *shape = *question->shape;
    if (!asks_for_nothing_known(question))
        return true;
    struct solver_amount *items = ARENA_ARRAY(arena, shape->requests.count, struct solver_amount);
    bool all_known = true;
    shape->requests = (struct solver_amounts){items, 0};
    for (size_t i = 0; i < question->shape->requests.count; i++) {
        struct solver_amount amount = question->shape->requests.items[i];
        if (amount.resource != SOLVER_NONE)
            items[shape->requests.count++] = amount;
        else
            all_known = all_known && amount.quantity == 0;
    }
    return all_known;
}

/* The shape by its number in the view, made ready when it is new. */
static bool take_shape(struct query *q, const struct solver_shape *given, struct error *error)
{
    struct solver_problem *view = q->view;
    const struct solver_problem *base = &q->run->query_state->base;
    uint32_t number;
    if (!amounts_check(view, given->requests, "a pod of namespace", given->namespace, error) ||
        !shape_add(&q->builder, given, &number, error))
        return false;
    struct shape *shape = &view->shapes.items[number];
    if (number >= base->shapes.count) {
        int64_t *requests = amounts_vector(view, shape->amounts);
        requests[SOLVER_PODS] = add_capped(requests[SOLVER_PODS], 1);
        shape->requests = requests;
        shape->first_volume_term = FIRST_VOLUME_TERM;
        inverse_groups_make(&q->builder, shape);
        if (shape->label_class >= base->label_classes.count)
            class_kept_away(view, &view->label_classes.items[shape->label_class]);
    }
    q->shape = shape;
    return true;
}

static void take_room(struct query *q)
{
    struct solver_run *run = q->run;
    struct solver_problem *view = q->view;
    struct arena *arena = run->arena;
    size_t most = relaxations_most(q->shape) + q->shape->required_count;
    uint32_t known = run->query_state->base.relaxation_count;
    if (most > SPARE)
        run->relaxations = ARENA_ARRAY(arena, known + most, struct relaxation_state);
    else
        memset(&run->relaxations[known], 0, most * sizeof *run->relaxations);
    view->relaxation_count = known + (uint32_t)most;
    q->nodes = ARENA_ARRAY(arena, bits_words(view->nodes.count), uint64_t);
    q->some_nodes = ARENA_ARRAY(arena, bits_words(view->nodes.count), uint64_t);
    q->types = ARENA_ARRAY(arena, view->option_words, uint64_t);
    q->options = ARENA_ARRAY(arena, view->option_words, uint64_t);
}

static bool begin(struct query *q, struct solver_run *run, const struct solver_question *question,
                  const struct solver_shape *shape, struct arena *arena, struct error *error)
{
    if (run->plan.placements != NULL)
        return error_set(error, ERROR_INPUT, NOWHERE, "the run was solved; ask another one");
    if (run->query_state == NULL)
        run->query_state = query_state_make(run);
    struct query_state *state = run->query_state;
    if (state->asking)
        rest(run);
    state->asking = true;
    problem_over(&state->view, &state->base, arena);
    run->problem = &state->view;
    run->asked = true;
    run->beyond_limits = question->beyond_limits;
    run->reserved_fallback = question->reserved_fallback;
    run->arena = arena;
    run->sets.fingerprints = intern_over(arena, &state->rest.sets.fingerprints);
    run->sets.scratch = (struct fingerprint){.arena = arena};
    *q = (struct query){
        .run = run,
        .view = &state->view,
        .builder = {.problem = &state->view, .scratch = {.arena = arena}},
        .known_groups = state->base.groups.count,
    };
    if (!take_shape(q, shape, error))
        return false;
    if (question->mount_count != 0 && question->mount_count != q->shape->volume_count)
        return error_set(error, ERROR_INPUT, NOWHERE,
                         "the pod has %zu mounts and its shape %zu volumes", question->mount_count,
                         q->shape->volume_count);
    struct mount *mounts = ARENA_ARRAY(arena, question->mount_count, struct mount);
    for (size_t i = 0; i < question->mount_count; i++)
        mounts[i] = mount_make(&state->view, &question->mounts[i]);
    state->pod = (struct pod){
        .uid = "",
        .shape = q->shape->number,
        .node = SOLVER_NONE,
        .mounts = mounts,
        .mount_count = question->mount_count,
    };
    state->view.pods.items = &state->pod;
    state->view.pods.count = 1;
    take_room(q);
    return true;
}

bool query_begin(struct query *q, struct solver_run *run, const struct solver_question *question,
                 struct arena *arena, struct error *error)
{
    struct solver_shape shape;
    bool all_known = take_known(question, arena, &shape);
    bool good = begin(q, run, question, &shape, arena, error);
    q->asks_for_unknown = !all_known;
    return good;
}

void query_end(struct solver_run *run)
{
    if (run->query_state != NULL && run->query_state->asking)
        rest(run);
}

/* ---- relaxations ---- */

/* Counts the topology groups that a relaxation has added. */
static void count_new_groups(struct query *q)
{
    struct solver_run *run = q->run;
    struct solver_problem *view = q->view;
    size_t count = view->groups.count;
    if (count > run->query_state->base.groups.count + SPARE) {
        struct topology_group_state *states =
            ARENA_ARRAY(run->arena, count, struct topology_group_state);
        memcpy(states, run->groups, q->known_groups * sizeof *states);
        run->groups = states;
    }
    /* The counts come from the problem's index of pods by label class and node. */
    for (; q->known_groups < count; q->known_groups++) {
        struct topology_group *group = &view->groups.items[q->known_groups];
        topology_group_count(view, group);
        run->groups[q->known_groups] = (struct topology_group_state){
            .counts = group->counts,
            .count_size = group->count_size,
            .occupied = group->occupied,
        };
    }
}

/* Only this pod is pending, so its own anti-affinity can keep away only itself. */
static void add_own_inverse(struct query *q, struct relaxation *relaxation)
{
    const struct shape *shape = q->shape;
    const struct solver_problem *view = q->view;
    uint32_t *groups =
        ARENA_ARRAY(q->run->arena, relaxation->group_count + shape->inverse_group_count, uint32_t);
    memcpy(groups, relaxation->groups, relaxation->group_count * sizeof *groups);
    for (size_t i = 0; i < shape->inverse_group_count; i++)
        if (topology_group_selects(view, &view->groups.items[shape->inverse_groups[i]],
                                   &view->label_classes.items[shape->label_class]))
            groups[relaxation->group_count++] = shape->inverse_groups[i];
    relaxation->groups = groups;
}

bool query_take_relaxation(struct query *q, struct relaxation *relaxation)
{
    struct solver_run *run = q->run;
    relaxation->number = run->query_state->base.relaxation_count + (uint32_t)q->relaxation_count++;
    add_own_inverse(q, relaxation);
    count_new_groups(q);
    if (!topology_match(run, q->shape, relaxation, NULL))
        return false;
    const struct relaxation_state *state = &run->relaxations[relaxation->number];
    for (size_t i = 0; i < state->matching_count; i++)
        if (state->matching[i].word_count > run->scratch_domain_words) {
            run->scratch_domain_words = state->matching[i].word_count;
            run->scratch_domains = ARENA_ARRAY(run->arena, run->scratch_domain_words, uint64_t);
        }
    return true;
}

/* ---- nodes ---- */

void query_choose_nodes(struct query *q, const struct relaxation *relaxation)
{
    const struct solver_problem *view = q->view;
    const struct shape *shape = q->shape;
    size_t words = bits_words(view->nodes.count);
    bits_fill(q->nodes, view->nodes.count);
    nodes_keep_tolerated(view, &shape->tolerations, relaxation->prefer, q->nodes);
    nodes_keep(view, &relaxation->full, q->nodes);
    if (shape->volume_alternative_count > 0) {
        uint64_t *before = ARENA_ARRAY(q->run->arena, words, uint64_t);
        memcpy(before, q->nodes, words * sizeof *before);
        memset(q->nodes, 0, words * sizeof *q->nodes);
        for (size_t i = 0; i < shape->volume_alternative_count; i++) {
            memcpy(q->some_nodes, before, words * sizeof *before);
            nodes_keep(view, &shape->volumes[i], q->some_nodes);
            for (size_t w = 0; w < words; w++)
                q->nodes[w] |= q->some_nodes[w];
        }
    }
    const struct relaxation_state *state = &q->run->relaxations[relaxation->number];
    for (size_t i = 0; i < state->matching_count; i++) {
        const struct matching_topology *matching = &state->matching[i];
        if (matching->domains != NULL)
            nodes_keep_domains(view, view->groups.items[matching->group].key, matching->domains,
                               matching->word_count, q->nodes);
    }
}

bool query_node_takes(const struct query *q, const struct relaxation *relaxation, uint32_t node)
{
    const struct solver_run *run = q->run;
    return node_has_room(run, node, q->shape) &&
           topology_host(run, &run->relaxations[relaxation->number], node, NULL) == CAN_ADD &&
           !host_ports_conflict(run->node_ports[node].items, run->node_ports[node].count,
                                q->shape->ports, q->shape->port_count) &&
           node_attaches(run, node, &run->query_state->pod);
}

/* ---- NodeClaims ---- */

bool query_choose_types(struct query *q, const struct relaxation *relaxation)
{
    const struct solver_problem *view = q->view;
    const struct shape *shape = q->shape;
    instance_types_select(view, &relaxation->full.requirements, q->types);
    if (shape->volume_alternative_count == 0)
        return bits_any(q->types, view->option_words);
    uint64_t *any = ARENA_ARRAY(q->run->arena, view->option_words, uint64_t);
    for (size_t i = 0; i < shape->volume_alternative_count; i++) {
        instance_types_select(view, &shape->volumes[i].requirements, q->options);
        for (size_t w = 0; w < view->option_words; w++)
            any[w] |= q->options[w];
    }
    for (size_t w = 0; w < view->option_words; w++)
        q->types[w] &= any[w];
    return bits_any(q->types, view->option_words);
}

bool query_empty_node_claim(struct query *q, uint32_t pool, struct node_claim *claim)
{
    const uint64_t *limited = pool_limit_options(q->run, pool);
    bool any = false;
    for (size_t w = 0; w < q->view->option_words && limited != NULL; w++) {
        q->options[w] = limited[w] & q->types[w];
        any |= q->options[w] != 0;
    }
    *claim = q->run->empty_node_claims[pool];
    claim->options = q->options;
    return any;
}

bool query_try_node_claim(struct query *q, const struct node_claim *claim,
                          const struct relaxation *relaxation, struct candidate *candidate)
{
    enum can_add can_add =
        node_claim_can_add(q->run, claim, (uint32_t)q->view->nodes.count, 0, relaxation,
                           q->view->settings.best_effort_min_values, candidate);
    q->run->deferred = can_add == DEFERRED;
    return can_add == CAN_ADD;
}
