/* Places one pod: on a Node, on an open NodeClaim, or on a new one. */
#include <string.h>

#include "solver/run.h"

/* To look at one (base.h, arena_tick). */
enum { NODE_STEPS = 10, NODE_CLAIM_STEPS = 100 };

/* ---- nodes ---- */

bool node_has_room(const struct solver_run *run, uint32_t node, const struct shape *shape)
{
    size_t width = run->problem->resource_count;
    const int64_t *room = &run->room[node * width];
    for (size_t r = 0; r < width; r++)
        if (shape->requests[r] > room[r])
            return false;
    return true;
}

bool node_attaches(const struct solver_run *run, uint32_t number, const struct pod *pod)
{
    const struct state_node *node = &run->problem->nodes.items[number];
    for (size_t i = 0; i < node->attach_limit_count && pod->mount_count > 0; i++)
        if (mounts_count(run->node_mounts[number].items, run->node_mounts[number].count,
                         pod->mounts, pod->mount_count,
                         node->attach_limits[i].driver) > node->attach_limits[i].count)
            return false;
    return true;
}

bool misses_label(const struct solver_run *run, const struct solver_requirements *labels,
                  const struct solver_requirements *wanted)
{
    for (size_t i = 0; i < wanted->count && run->strategy.sound; i++) {
        const struct solver_requirement *r = &wanted->items[i];
        if (!r->needs_label || !solver_requirement_is_negative(r))
            continue;
        const struct solver_requirement *label = solver_requirements_get(labels, r->key);
        if (label == NULL || solver_requirement_op(label) == SOLVER_DOES_NOT_EXIST)
            return true;
    }
    return false;
}

bool node_suits_volumes(const struct solver_run *run, const struct state_node *node,
                        const struct shape *shape)
{
    const struct solver_problem *problem = run->problem;
    for (size_t i = 0; i < shape->volume_alternative_count; i++)
        if ((run->ignores_local ||
             hostname_allows(problem, shape->volumes[i].hostname, node->hostname)) &&
            compatible(problem, &node->labels, &shape->volumes[i].requirements, true, NULL) &&
            !misses_label(run, &node->labels, &shape->volumes[i].requirements))
            return true;
    return shape->volume_alternative_count == 0;
}

static enum can_add existing_node_can_add(const struct solver_run *run, uint32_t number,
                                          const struct pod *pod,
                                          const struct relaxation *relaxation,
                                          const struct host_port_list *taken_ports)
{
    const struct solver_problem *problem = run->problem;
    const struct state_node *node = &problem->nodes.items[number];
    const struct shape *shape = &problem->shapes.items[pod->shape];
    const struct relaxation_state *state = &run->relaxations[relaxation->number];
    if (!node_has_room(run, number, shape) ||
        !taints_tolerated(node->taints, &shape->tolerations, relaxation->prefer, NULL) ||
        host_ports_conflict(taken_ports->items, taken_ports->count, shape->ports,
                            shape->port_count) ||
        !hostname_allows(problem, relaxation->full.hostname, node->hostname) ||
        !compatible(problem, &node->labels, &relaxation->full.requirements, true, NULL) ||
        !node_suits_volumes(run, node, shape) ||
        misses_label(run, &node->labels, &relaxation->strict.requirements))
        return NEVER;
    enum can_add can_add = topology_host(run, state, number, NULL);
    if (can_add != CAN_ADD)
        return can_add;
    return node_attaches(run, number, pod) && topology_allows_node(run, state, node, NULL) &&
                   shared_volumes_allow(run, pod, state_node_value(node, problem->zone_key))
               ? CAN_ADD
               : NOT_NOW;
}

/* Of 64 nodes in node_order, those in a domain that every topology group allows. */
static uint64_t matching_nodes(const struct solver_run *run, const struct relaxation_state *state,
                               size_t word)
{
    const struct solver_problem *problem = run->problem;
    uint64_t nodes = UINT64_MAX;
    for (size_t i = 0; i < state->matching_count && nodes != 0; i++) {
        const struct matching_topology *matching = &state->matching[i];
        const struct topology_group *group = &problem->groups.items[matching->group];
        if (group->hostname) {
            if (group->kind == TOPOLOGY_POD_AFFINITY && !matching->anywhere)
                nodes &= wide_bits_word(&run->groups[matching->group].nodes, word);
            continue;
        }
        uint64_t *const *nodes_of = problem->nodes_of[problem->topology_index[group->key]];
        uint64_t in_domains = 0;
        for (BITS_EACH(value, matching->domains, matching->word_count))
            if (nodes_of[value] != NULL)
                in_domains |= nodes_of[value][word];
        nodes &= in_domains;
    }
    return nodes;
}

/* The first node that takes the pod, or SOLVER_NONE. */
static uint32_t find_node(struct solver_run *run, const struct pod *pod,
                          const struct relaxation *relaxation)
{
    const struct solver_problem *problem = run->problem;
    struct relaxation_state *state = &run->relaxations[relaxation->number];
    for (size_t w = 0; w < problem->node_words; w++) {
        uint64_t left = ~state->turned_away_nodes[w];
        if (w + 1 == problem->node_words && problem->nodes.count % BITS_WORD != 0)
            left &= ((uint64_t)1 << (problem->nodes.count % BITS_WORD)) - 1;
        if (left != 0)
            left &= matching_nodes(run, state, w);
        for (; left != 0; left &= left - 1) {
            size_t place = w * BITS_WORD + (size_t)__builtin_ctzll(left);
            uint32_t node = problem->node_order[place];
            run->steps += NODE_STEPS + state->matching_count;
            enum can_add can_add =
                existing_node_can_add(run, node, pod, relaxation, &run->node_ports[node]);
            if (can_add == CAN_ADD)
                return node;
            if (can_add == NEVER)
                bits_add(state->turned_away_nodes, place);
        }
    }
    return SOLVER_NONE;
}

static void note_placed(struct solver_run *run, uint32_t pod)
{
    if (run->placed_as != NULL)
        *LIST_PUSH(run->arena, &run->placed) = pod;
}

static void existing_node_add(struct solver_run *run, uint32_t pod_number, uint32_t node)
{
    const struct solver_problem *problem = run->problem;
    const struct pod *pod = &problem->pods.items[pod_number];
    const struct shape *shape = &problem->shapes.items[pod->shape];
    int64_t *room = &run->room[(size_t)node * problem->resource_count];
    for (size_t r = 0; r < problem->resource_count; r++)
        room[r] -= shape->requests[r];
    for (size_t i = 0; i < shape->port_count; i++)
        *LIST_PUSH(run->arena, &run->node_ports[node]) = shape->ports[i];
    for (size_t i = 0; i < pod->mount_count; i++)
        *LIST_PUSH(run->arena, &run->node_mounts[node]) = pod->mounts[i];
    topology_record(run, shape, node, SOLVER_NONE);
    shared_volumes_record(run, pod,
                          state_node_value(&problem->nodes.items[node], problem->zone_key));
    note_placed(run, pod_number);
    run->placements[pod_number].kind = SOLVER_ON_NODE;
    run->placements[pod_number].index = node;
}

/* ---- NodeClaims ---- */

/* Indexes a NodeClaim under the domains of its new requirements instead of those of its old
 * ones. */
static void enter_domains(struct solver_run *run, uint32_t number,
                          const struct node_requirements *before,
                          const struct node_requirements *now)
{
    const struct solver_problem *problem = run->problem;
    for (size_t i = 0; i < problem->topology_key_count; i++) {
        uint32_t key = problem->topology_keys[i];
        const struct solver_requirement *old =
            before == NULL ? NULL : solver_requirements_get(&before->requirements, key);
        const struct solver_requirement *new = solver_requirements_get(&now->requirements, key);
        if (before != NULL && old != NULL && new != NULL && old->words == new->words)
            continue;
        if (old != NULL && !old->complement)
            for (BITS_EACH(value, old->words, old->word_count))
                wide_bits_remove(&run->claims_of[i][value], number);
        else if (before != NULL)
            wide_bits_remove(&run->claims_open[i], number);
        if (new != NULL && !new->complement)
            for (BITS_EACH(value, new->words, new->word_count))
                wide_bits_add(run->arena, &run->claims_of[i][value], number);
        else
            wide_bits_add(run->arena, &run->claims_open[i], number);
    }
}

static void measure_resource(const struct solver_run *run, struct node_claim *claim, size_t r)
{
    const struct solver_problem *problem = run->problem;
    const struct pool *pool = &problem->pools.items[claim->pool];
    const int64_t *room = &pool->room[r * problem->options.count];
    claim->most[r] = 0;
    claim->roomiest[r] = SOLVER_NONE;
    for (BITS_EACH(option, claim->options, problem->option_words))
        if (room[option] > claim->most[r]) {
            claim->most[r] = room[option];
            claim->roomiest[r] = (uint32_t)option;
        }
}

void node_claim_measure(const struct solver_run *run, struct node_claim *claim)
{
    for (size_t r = 0; r < run->problem->resource_count; r++)
        measure_resource(run, claim, r);
}

/* The same where options have only been removed. */
static void measure_fewer(const struct solver_run *run, struct node_claim *claim)
{
    for (size_t r = 0; r < run->problem->resource_count; r++)
        if (claim->roomiest[r] != SOLVER_NONE && !bits_has(claim->options, claim->roomiest[r]))
            measure_resource(run, claim, r);
}

/* Charges the capacity of the NodeClaim's cheapest option to its pool's limits, instead of what it
 * was charged before. */
static void charge(struct solver_run *run, struct node_claim *claim)
{
    const struct solver_problem *problem = run->problem;
    int64_t *limits = run->limits[claim->pool];
    size_t option = 0;
    const struct offering *offering = node_claim_cheapest(run, claim->set, claim->options, &option);
    for (size_t r = 0; r < problem->resource_count; r++) {
        int64_t now = offering == NULL ? 0 : problem->capacity[r * problem->options.count + option];
        if (r == SOLVER_NODES || limits[r] == INT64_MAX)
            continue;
        limits[r] = subtract_capped(add_capped(limits[r], claim->charged[r]), now);
        claim->charged[r] = now;
    }
    run->limit_options_fresh[claim->pool] = false;
}

/* The zone, where the requirements leave one; else SOLVER_NONE. */
static uint32_t claim_zone(const struct solver_problem *problem,
                           const struct node_requirements *set)
{
    const struct solver_requirement *zone =
        solver_requirements_get(&set->requirements, problem->zone_key);
    size_t first =
        zone == NULL || zone->complement ? SIZE_MAX : bits_next(zone->words, zone->word_count, 0);
    return first == SIZE_MAX || bits_next(zone->words, zone->word_count, first + 1) != SIZE_MAX
               ? SOLVER_NONE
               : (uint32_t)first;
}

void node_claim_add(struct solver_run *run, uint32_t pod_number, uint32_t number,
                    const struct candidate *candidate)
{
    const struct solver_problem *problem = run->problem;
    struct node_claim *claim = &run->node_claims.items[number];
    const struct pod *pod = &problem->pods.items[pod_number];
    const struct shape *shape = &problem->shapes.items[pod->shape];
    size_t options_size = problem->option_words * sizeof *claim->options;
    bool other_options =
        claim->pod_count == 0 || memcmp(claim->options, candidate->options, options_size) != 0;
    if (other_options) {
        memcpy(claim->options, candidate->options, options_size);
        measure_fewer(run, claim);
    }
    bool other_set = claim->pod_count > 0 && claim->set != candidate->set;
    if (claim->pod_count == 0 || claim->set != candidate->set)
        enter_domains(run, number, claim->pod_count == 0 ? NULL : claim->set, candidate->set);
    claim->set = candidate->set;
    reserved_hold(run, claim, candidate->held);
    if (claim->charged != NULL && (other_options || other_set))
        charge(run, claim);
    for (size_t r = 0; r < problem->resource_count; r++)
        claim->requests[r] = add_capped(claim->requests[r], shape->requests[r]);
    for (size_t i = 0; i < shape->port_count; i++)
        *LIST_PUSH(run->arena, &claim->ports) = shape->ports[i];
    for (size_t i = 0; i < pod->mount_count; i++)
        *LIST_PUSH(run->arena, &claim->mounts) = pod->mounts[i];
    if (claim->pod_count++ == 0)
        claim->first_pod = pod_number;
    else
        run->next_pod[claim->last_pod] = pod_number;
    claim->last_pod = pod_number;
    run->next_pod[pod_number] = SOLVER_NONE;
    node_claim_enter(run, number);
    /* A pod that cannot run there counts for no other. */
    if (!run->ignores_local) {
        topology_record(run, shape, SOLVER_NONE, number);
        shared_volumes_record(run, pod, claim_zone(problem, claim->set));
    }
    note_placed(run, pod_number);
    run->placements[pod_number].kind = SOLVER_ON_NODE_CLAIM;
    run->placements[pod_number].index = number;
}

struct joining {
    uint32_t pod;
    const struct relaxation *relaxation;
};

static void turn_away(struct solver_run *run, struct relaxation_state *state, uint32_t claim)
{
    wide_bits_add(run->arena, &state->turned_away_claims, claim);
    while (wide_bits_word(&state->turned_away_claims, state->first_word) == UINT64_MAX)
        state->first_word++;
}

bool try_joining(struct solver_run *run, uint32_t number, uint32_t pod,
                 const struct relaxation *relaxation, struct candidate *candidate)
{
    uint32_t host = (uint32_t)run->problem->nodes.count + number;
    run->steps += NODE_CLAIM_STEPS + run->relaxations[relaxation->number].matching_count;
    enum can_add can_add = node_claim_can_add(run, &run->node_claims.items[number], host, pod,
                                              relaxation, false, candidate);
    if (can_add == NEVER)
        turn_away(run, &run->relaxations[relaxation->number], number);
    return can_add == CAN_ADD;
}

static bool join_one(struct solver_run *run, uint32_t number, void *argument)
{
    const struct joining *joining = argument;
    struct candidate candidate;
    if (!try_joining(run, number, joining->pod, joining->relaxation, &candidate))
        return false;
    node_claim_add(run, joining->pod, number, &candidate);
    return true;
}

/* The emptiest NodeClaim that takes the pod (docs/reference/karpenter.md 2.3); with best_fit the
 * fullest. */
bool add_to_inflight_node(struct solver_run *run, uint32_t pod, const struct relaxation *relaxation)
{
    struct joining joining = {pod, relaxation};
    return each_node_claim(run, relaxation, join_one, &joining);
}

/* The pods of a round may hold a place in Karpenter's eyes that kube-scheduler does not give them:
 * there the next pod does not fit for Karpenter. */
static void expect(struct solver_run *run, uint32_t pod, struct host_port_list *ports)
{
    const struct shape *shape = &run->problem->shapes.items[run->problem->pods.items[pod].shape];
    for (size_t i = 0; i < ports->count; i++)
        if (ports->items[i].expected == pod + 1)
            return;
    for (size_t i = 0; i < shape->port_count; i++) {
        if (shape->ports[i].unseen)
            continue;
        struct host_port *port = LIST_PUSH(run->arena, ports);
        *port = shape->ports[i];
        port->expected = pod + 1;
        run->version++; /* others of its shape may be placed now */
    }
}

/* *at: the ports of the place. */
static const struct host_port *find_held(struct solver_run *run, uint32_t pod_number,
                                         const struct relaxation *relaxation,
                                         struct host_port_list **at)
{
    static const struct host_port_list no_ports;
    const struct solver_problem *problem = run->problem;
    const struct pod *pod = &problem->pods.items[pod_number];
    const struct shape *shape = &problem->shapes.items[pod->shape];
    for (uint32_t i = 0; i < problem->nodes.count && shape->port_count > 0; i++) {
        *at = &run->node_ports[i];
        const struct host_port *port =
            host_ports_conflict_unseen(*at, shape->ports, shape->port_count, pod_number);
        if (port != NULL && existing_node_can_add(run, i, pod, relaxation, &no_ports) == CAN_ADD)
            return port;
    }
    for (uint32_t i = 0; i < run->node_claims.count && shape->port_count > 0; i++) {
        struct node_claim claim = run->node_claims.items[i];
        struct candidate candidate;
        *at = &run->node_claims.items[i].ports;
        const struct host_port *port =
            host_ports_conflict_unseen(*at, shape->ports, shape->port_count, pod_number);
        claim.ports = no_ports;
        if (port != NULL &&
            node_claim_can_add(run, &claim, (uint32_t)problem->nodes.count + i, pod_number,
                               relaxation, false, &candidate) == CAN_ADD)
            return port;
    }
    return NULL;
}

const struct host_port *held_by_port(struct solver_run *run, uint32_t pod,
                                     const struct relaxation *relaxation)
{
    struct host_port_list *at;
    return find_held(run, pod, relaxation, &at);
}

bool waits_for_port(struct solver_run *run, uint32_t pod, const struct relaxation *relaxation)
{
    struct host_port_list *at;
    run->deferred = find_held(run, pod, relaxation, &at) != NULL;
    if (run->deferred)
        expect(run, pod, at);
    return run->deferred;
}

/* A new NodeClaim charges its largest options to its pool's limits: any of them may be launched
 * (docs/reference/karpenter.md 2.8). */
static void take_off_limits(struct solver_run *run, struct node_claim *claim)
{
    const struct solver_problem *problem = run->problem;
    if (!problem->pools.items[claim->pool].has_limits)
        return;
    if (run->strategy.exact_limits) {
        claim->charged = ARENA_ARRAY(run->arena, problem->resource_count, int64_t);
        charge(run, claim);
        return;
    }
    size_t option_count = problem->options.count;
    int64_t *limits = run->limits[claim->pool];
    for (size_t r = 0; r < problem->resource_count; r++) {
        if (r == SOLVER_NODES || limits[r] == INT64_MAX)
            continue;
        int64_t most = 0;
        for (BITS_EACH(option, claim->options, problem->option_words))
            if (problem->capacity[r * option_count + option] > most)
                most = problem->capacity[r * option_count + option];
        limits[r] = subtract_capped(limits[r], most);
    }
    run->limit_options_fresh[claim->pool] = false;
}

enum can_add try_pool(struct solver_run *run, uint32_t pool, const struct node_requirements *set,
                      uint32_t pod, const struct relaxation *relaxation,
                      struct candidate *candidate)
{
    const struct solver_problem *problem = run->problem;
    struct node_claim empty = run->empty_node_claims[pool];
    empty.set = set;
    empty.options = (uint64_t *)(uintptr_t)pool_limit_options(run, pool);
    uint32_t host = (uint32_t)(problem->nodes.count + run->node_claims.count);
    return empty.options == NULL
               ? NOT_NOW
               : node_claim_can_add(run, &empty, host, pod, relaxation,
                                    problem->settings.best_effort_min_values, candidate);
}

/* Of the pools with the weight of the one at first, the one where a NodeClaim for the pod is
 * cheapest. */
static size_t cheapest_pool(struct solver_run *run, size_t first, uint32_t pod,
                            const struct relaxation *relaxation)
{
    const struct solver_problem *problem = run->problem;
    uint32_t weight = problem->pools.items[problem->pool_order[first]].weight;
    size_t best = first;
    int64_t best_price = INT64_MAX;
    for (size_t i = first; i < problem->pools.count; i++) {
        uint32_t pool = problem->pool_order[i];
        struct candidate candidate;
        if (problem->pools.items[pool].weight != weight)
            break;
        if (try_pool(run, pool, run->empty_node_claims[pool].set, pod, relaxation, &candidate) !=
            CAN_ADD)
            continue;
        int64_t price = options_price(run, candidate.set, candidate.options);
        if (price < best_price) {
            best = i;
            best_price = price;
        }
    }
    return best;
}

void node_claim_open(struct solver_run *run, uint32_t pool, uint32_t pod,
                     const struct candidate *candidate)
{
    const struct solver_problem *problem = run->problem;
    size_t resource_count = problem->resource_count;
    const struct node_claim *empty = &run->empty_node_claims[pool];
    struct node_claim *claim = LIST_PUSH(run->arena, &run->node_claims);
    *claim = *empty;
    claim->options = ARENA_ARRAY(run->arena, problem->option_words, uint64_t);
    claim->requests = ARENA_ARRAY(run->arena, resource_count, int64_t);
    claim->most = ARENA_ARRAY(run->arena, resource_count, int64_t);
    claim->roomiest = ARENA_ARRAY(run->arena, resource_count, uint32_t);
    memcpy(claim->most, empty->most, resource_count * sizeof *claim->most);
    memcpy(claim->roomiest, empty->roomiest, resource_count * sizeof *claim->roomiest);
    node_claim_add(run, pod, (uint32_t)run->node_claims.count - 1, candidate);
    take_off_limits(run, claim);
}

/* Takes the pool with the highest weight that takes the pod (docs/reference/karpenter.md 2.3).
 * None, when a pool before that one has reserved capacity that the pod may get later. */
bool try_opening(struct solver_run *run, uint32_t pod, const struct relaxation *relaxation,
                 uint32_t *pool, struct candidate *candidate)
{
    const struct solver_problem *problem = run->problem;
    for (size_t i = 0; i < problem->pools.count; i++) {
        *pool = problem->pool_order[i];
        enum can_add can_add =
            try_pool(run, *pool, run->empty_node_claims[*pool].set, pod, relaxation, candidate);
        run->deferred = can_add == DEFERRED;
        if (run->deferred)
            return false;
        if (can_add != CAN_ADD)
            continue;
        if (run->strategy.cheapest || run->strategy.by_price)
            *pool = problem->pool_order[cheapest_pool(run, i, pod, relaxation)];
        return try_pool(run, *pool, run->empty_node_claims[*pool].set, pod, relaxation,
                        candidate) == CAN_ADD;
    }
    return false;
}

static bool add_to_new_node_claim(struct solver_run *run, uint32_t pod,
                                  const struct relaxation *relaxation)
{
    uint32_t pool = 0;
    struct candidate candidate;
    if (!try_opening(run, pod, relaxation, &pool, &candidate))
        return false;
    node_claim_open(run, pool, pod, &candidate);
    return true;
}

bool add_to_node_claim(struct solver_run *run, uint32_t pod, const struct relaxation *relaxation)
{
    return add_to_inflight_node(run, pod, relaxation) ||
           (!waits_for_port(run, pod, relaxation) && add_to_new_node_claim(run, pod, relaxation));
}

static bool wants_something(struct solver_run *run, uint32_t pod,
                            const struct relaxation *relaxation)
{
    const struct solver_problem *problem = run->problem;
    const struct shape *shape = &problem->shapes.items[problem->pods.items[pod].shape];
    return topology_match(run, shape, relaxation, NULL);
}

static bool join_node(struct solver_run *run, uint32_t pod, const struct relaxation *relaxation)
{
    uint32_t node = find_node(run, &run->problem->pods.items[pod], relaxation);
    if (node != SOLVER_NONE)
        existing_node_add(run, pod, node);
    return node != SOLVER_NONE;
}

bool add_to_this_node(struct solver_run *run, uint32_t pod, const struct relaxation *relaxation,
                      uint32_t node)
{
    if (existing_node_can_add(run, node, &run->problem->pods.items[pod], relaxation,
                              &run->node_ports[node]) != CAN_ADD)
        return false;
    existing_node_add(run, pod, node);
    return true;
}

bool some_node_takes(struct solver_run *run, uint32_t pod, const struct relaxation *relaxation)
{
    for (uint32_t i = 0; i < run->problem->nodes.count; i++) {
        run->steps += NODE_STEPS;
        if (existing_node_can_add(run, i, &run->problem->pods.items[pod], relaxation,
                                  &run->node_ports[i]) == CAN_ADD)
            return true;
    }
    return false;
}

bool add_to_existing_node(struct solver_run *run, uint32_t pod, const struct relaxation *relaxation)
{
    return wants_something(run, pod, relaxation) && join_node(run, pod, relaxation);
}

bool try_relaxation(struct solver_run *run, uint32_t pod, const struct relaxation *relaxation)
{
    arena_tick(run->arena, run->steps);
    run->steps = 0;
    run->deferred = false;
    if (!wants_something(run, pod, relaxation))
        return false;
    if (join_node(run, pod, relaxation))
        return true;
    if (run->strategy.by_price)
        return place_by_price(run, pod, relaxation);
    return add_to_node_claim(run, pod, relaxation);
}
