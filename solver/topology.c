/* Topology groups during a run. topology_match() says in which domains the groups let the next pod
 * be, as the counts stand. topology_record() counts a pod in its groups once it is placed on a Node
 * or a NodeClaim. The groups, and their counts of the pods that run in the cluster already, come
 * from topology_group.c. */
#include <string.h>

#include "solver/run.h"

/* ---- the domains that groups allow ---- */

static bool allows(const struct solver_run *run, const struct solver_requirement *pod_domains,
                   size_t value)
{
    return pod_domains == NULL ||
           solver_requirement_has(run->problem->names, pod_domains, (uint32_t)value);
}

/* Whether a NodeClaim may become a Node in the domain that a whole group counts. */
static bool may_become(struct solver_run *run, const struct topology_group *group,
                       const struct node_claim *claim, size_t domain)
{
    const struct solver_problem *problem = run->problem;
    const struct node_requirements *there =
        node_requirements_in(run, claim->set, group->key, domain);
    if (there == NULL ||
        !bits_meet(node_requirements_options(run, there), claim->options, problem->option_words))
        return false;
    for (size_t i = 0; i < group->filter_term_count; i++)
        if (hostname_allows_new(group->filter_terms[i].hostname) &&
            solver_requirements_intersect(problem->names, &there->requirements,
                                          &group->filter_terms[i].requirements, NULL))
            return true;
    return false;
}

/* Whether a Node that the group counts is in the domain, or a NodeClaim may be. */
static bool is_there(struct solver_run *run, const struct topology_group *group, size_t domain)
{
    const struct solver_problem *problem = run->problem;
    const uint64_t *nodes = problem->nodes_of[problem->topology_index[group->key]][domain];
    if (nodes != NULL)
        for (BITS_EACH(place, nodes, problem->node_words))
            if (topology_group_counts_node(group, problem->node_order[place]))
                return true;
    run->steps += run->node_claims.count;
    for (size_t i = 0; i < run->node_claims.count; i++)
        if (may_become(run, group, &run->node_claims.items[i], domain))
            return true;
    return false;
}

/* The least count among the domains the pod's own requirements allow
 * (docs/reference/karpenter.md 3.4). Karpenter counts the domains of instance types, too. A whole
 * group is as kube-scheduler counts: the domains of Nodes alone. */
static int32_t least_count(struct solver_run *run, const struct topology_group *group,
                           const struct matching_topology *matching,
                           const struct solver_requirement *pod_domains)
{
    const struct topology_group_state *state = &run->groups[matching->group];
    int32_t least = INT32_MAX, domains = 0;
    for (size_t v = 0; v < state->count_size; v++) {
        if (state->counts[v] < 0 || !allows(run, pod_domains, v) ||
            (matching->whole && state->counts[v] == 0 && !is_there(run, group, v)))
            continue;
        domains++;
        if (state->counts[v] < least)
            least = state->counts[v];
    }
    return group->min_domains > 0 && domains < group->min_domains ? 0 : least;
}

static bool any_occupied(const struct solver_run *run, const struct topology_group_state *state,
                         const struct solver_requirement *pod_domains)
{
    for (size_t v = 0; v < state->count_size && state->occupied > 0; v++)
        if (state->counts[v] > 0 && allows(run, pod_domains, v))
            return true;
    return false;
}

static bool is_valid(const struct topology_group *group, int32_t count, int32_t least, bool self,
                     bool bootstrap)
{
    if (count < 0)
        return false;
    switch (group->kind) {
    case TOPOLOGY_SPREAD:
        return (int64_t)count + (self ? 1 : 0) - least <= group->max_skew;
    case TOPOLOGY_POD_AFFINITY:
        return count > 0 || bootstrap;
    case TOPOLOGY_POD_ANTI_AFFINITY:
        return count == 0;
    }
    return false;
}

/* Fills the domains that the group allows; false when there is none. */
static bool match_domains(struct solver_run *run, const struct topology_group *group,
                          const struct solver_requirement *pod_domains,
                          struct matching_topology *matching)
{
    const struct topology_group_state *state = &run->groups[matching->group];
    int32_t least =
        group->kind == TOPOLOGY_SPREAD ? least_count(run, group, matching, pod_domains) : 0;
    bool bootstrap = group->kind == TOPOLOGY_POD_AFFINITY && matching->starts &&
                     !any_occupied(run, state, pod_domains);
    matching->pick_one = (group->kind == TOPOLOGY_SPREAD && !matching->whole) || bootstrap ||
                         (group->kind == TOPOLOGY_POD_ANTI_AFFINITY && !group->inverse &&
                          run->strategy.spread_in_one);
    const uint64_t *start =
        bootstrap && run->start_domains != NULL ? run->start_domains[matching->group] : NULL;
    bool any = false;
    memset(matching->domains, 0, matching->word_count * sizeof *matching->domains);
    for (size_t v = 0; v < state->count_size; v++) {
        if (!is_valid(group, state->counts[v], least, matching->self, bootstrap))
            continue;
        /* A spread looks at the requirements of the node, which the pod has narrowed already. */
        if (group->kind != TOPOLOGY_SPREAD && !allows(run, pod_domains, v))
            continue;
        if (start != NULL && !bits_has(start, v))
            continue;
        bits_add(matching->domains, v);
        any = true;
    }
    return any;
}

static bool selects_itself(const struct solver_problem *problem, const struct shape *shape,
                           uint32_t group)
{
    return topology_group_selects(problem, &problem->groups.items[group],
                                  &problem->label_classes.items[shape->label_class]);
}

/* kube-scheduler lets the first pod of an affinity be placed only when the pod matches all of its
 * own required terms. */
static bool selects_itself_throughout(const struct solver_problem *problem,
                                      const struct shape *shape)
{
    const struct relaxation *last = &shape->relaxations[shape->relaxation_count - 1];
    for (size_t i = 0; i < last->group_count; i++)
        if (problem->groups.items[last->groups[i]].kind == TOPOLOGY_POD_AFFINITY &&
            !selects_itself(problem, shape, last->groups[i]))
            return false;
    return true;
}

/* An inverse group without an owner keeps no pod away. */
static bool has_owners(const struct solver_run *run, uint32_t group)
{
    return run->groups[group].owners > 0 ||
           (!run->asked && run->problem->groups.items[group].pending_owners > 0);
}

static void prepare(struct solver_run *run, const struct shape *shape,
                    const struct relaxation *relaxation, struct relaxation_state *state)
{
    const struct solver_problem *problem = run->problem;
    const struct label_class *class = &problem->label_classes.items[shape->label_class];
    size_t whole = run->strategy.sound ? relaxation->whole_group_count : 0;
    size_t own_count = relaxation->group_count + whole;
    size_t most = own_count + class->kept_away_by.count;
    bool starts = !run->strategy.sound || selects_itself_throughout(problem, shape);
    state->matching = ARENA_ARRAY(run->arena, most, struct matching_topology);
    for (size_t i = 0; i < most; i++) {
        bool own = i < own_count;
        uint32_t number = i < relaxation->group_count ? relaxation->groups[i]
                          : own ? relaxation->whole_groups[i - relaxation->group_count]
                                : class->kept_away_by.items[i - own_count];
        if (!own && !has_owners(run, number))
            continue;
        struct matching_topology *matching = &state->matching[state->matching_count++];
        matching->group = number;
        run->groups[number].dormant = false;
        matching->self = own && selects_itself(problem, shape, matching->group);
        matching->starts = matching->self && starts;
        matching->whole = own && i >= relaxation->group_count;
        const struct topology_group *group = &problem->groups.items[matching->group];
        if (group->hostname)
            continue;
        matching->word_count = bits_words(group->count_size) + 1;
        matching->domains = ARENA_ARRAY(run->arena, matching->word_count, uint64_t);
    }
    state->turned_away_nodes = ARENA_ARRAY(run->arena, problem->node_words, uint64_t);
    state->ready = true;
}

/* Whether no host that the pod may be on has a pod to join. */
static bool may_start(const struct solver_run *run, const struct relaxation *relaxation,
                      uint32_t number)
{
    const struct topology_group_state *state = &run->groups[number];
    const struct solver_requirement *hostname = relaxation->strict.hostname;
    if (state->occupied == 0 || hostname == NULL)
        return state->occupied == 0;
    const struct solver_problem *problem = run->problem;
    for (size_t i = 0; i < problem->nodes.count; i++)
        if (state->counts[i] > 0 &&
            hostname_allows(problem, hostname, problem->nodes.items[i].hostname))
            return false;
    return !hostname_allows_new(hostname) ||
           !bits_any(state->claims.words, state->claims.word_count);
}

/* Which of two groups a reason names, independent of the order they were made in: a pod's own
 * before others'. */
static bool is_named_before(const struct solver_problem *problem, uint32_t one, uint32_t other)
{
    const struct topology_group *a = &problem->groups.items[one],
                                *b = &problem->groups.items[other];
    struct text key_a = {0}, key_b = {0};
    if (a->inverse != b->inverse)
        return !a->inverse;
    key_a.data = solver_names_key_text(problem->names, a->key, &key_a.size);
    key_b.data = solver_names_key_text(problem->names, b->key, &key_b.size);
    int order = text_compare(key_a, key_b);
    return order != 0 ? order < 0 : a->kind < b->kind;
}

/* Notes a group that leaves no domain, unless one that is named before it was noted already. */
static void note_in_the_way(const struct solver_run *run, uint32_t group, bool first,
                            uint32_t *in_the_way)
{
    if (in_the_way != NULL && (first || is_named_before(run->problem, group, *in_the_way)))
        *in_the_way = group;
}

bool topology_match(struct solver_run *run, const struct shape *shape,
                    const struct relaxation *relaxation, uint32_t *in_the_way)
{
    struct relaxation_state *state = &run->relaxations[relaxation->number];
    if (!state->ready)
        prepare(run, shape, relaxation, state);
    bool any = true;
    for (size_t i = 0; i < state->matching_count && (any || in_the_way != NULL); i++) {
        struct matching_topology *matching = &state->matching[i];
        const struct topology_group *group = &run->problem->groups.items[matching->group];
        if (group->hostname) {
            matching->anywhere = group->kind == TOPOLOGY_POD_AFFINITY && matching->starts &&
                                 may_start(run, relaxation, matching->group);
            continue;
        }
        const struct solver_requirement *pod_domains =
            solver_requirements_get(&relaxation->strict.requirements, group->key);
        if (match_domains(run, group, pod_domains, matching))
            continue;
        note_in_the_way(run, matching->group, any, in_the_way);
        any = false;
    }
    return any;
}

/* ---- hosts ---- */

static int32_t host_count(const struct topology_group_state *state, uint32_t host)
{
    return host < state->count_size ? state->counts[host] : 0;
}

enum can_add topology_host(const struct solver_run *run, const struct relaxation_state *state,
                           uint32_t host, uint32_t *in_the_way)
{
    enum can_add can_add = CAN_ADD;
    for (size_t i = 0; i < state->matching_count; i++) {
        const struct matching_topology *matching = &state->matching[i];
        const struct topology_group *group = &run->problem->groups.items[matching->group];
        if (!group->hostname || is_valid(group, host_count(&run->groups[matching->group], host), 0,
                                         matching->self, matching->anywhere))
            continue;
        if (in_the_way != NULL && (can_add == CAN_ADD || !matching->whole))
            *in_the_way = matching->group;
        if (group->kind != TOPOLOGY_POD_AFFINITY)
            return NEVER; /* counts only grow */
        can_add = NOT_NOW;
    }
    return can_add;
}

bool topology_allows_node(const struct solver_run *run, const struct relaxation_state *state,
                          const struct state_node *node, uint32_t *in_the_way)
{
    bool allowed = true;
    for (size_t i = 0; i < state->matching_count && (allowed || in_the_way != NULL); i++) {
        const struct matching_topology *matching = &state->matching[i];
        if (matching->domains == NULL)
            continue;
        uint32_t value = state_node_value(node, run->problem->groups.items[matching->group].key);
        if (value / BITS_WORD < matching->word_count && bits_has(matching->domains, value))
            continue;
        note_in_the_way(run, matching->group, allowed, in_the_way);
        allowed = false;
    }
    return allowed;
}

/* ---- NodeClaims ---- */

/* A domain that a NodeClaim may choose. */
struct choice {
    size_t domain; /* SIZE_MAX: none */
    int32_t count;
    bool has_something; /* an option that fits is offered there */
    int64_t price;      /* of the cheapest option there */
    size_t claims;      /* NodeClaims that may be launched there */
    struct text name;
    uint64_t lot; /* drawn by the strategy's seed, if it has one */
};

/* The pods counted in a domain by the groups that leave a NodeClaim one domain only. */
static int32_t count_there(const struct solver_run *run, const struct relaxation_state *state,
                           uint32_t key, size_t domain)
{
    int32_t count = 0;
    for (size_t i = 0; i < state->matching_count; i++) {
        const struct matching_topology *matching = &state->matching[i];
        if (matching->pick_one && run->problem->groups.items[matching->group].key == key)
            count += run->groups[matching->group].counts[domain];
    }
    return count;
}

static size_t count_claims(const struct solver_run *run, uint32_t key, size_t domain)
{
    const struct wide_bits *claims = &run->claims_of[run->problem->topology_index[key]][domain];
    size_t count = 0;
    for (size_t w = 0; w < claims->word_count; w++)
        count += (size_t)__builtin_popcountll(claims->words[w]);
    return count;
}

static struct choice consider(struct solver_run *run, const struct relaxation_state *state,
                              const struct node_requirements *set, uint32_t key, size_t domain,
                              const uint64_t *fits)
{
    const struct solver_problem *problem = run->problem;
    struct choice choice = {
        .domain = domain, .count = count_there(run, state, key, domain), .price = INT64_MAX};
    choice.name.data =
        solver_names_value_text(problem->names, key, (uint32_t)domain, &choice.name.size);
    if (!run->asked)
        choice.claims = count_claims(run, key, domain);
    if (run->strategy.seed != 0)
        choice.lot = intern_hash(choice.name.data, choice.name.size, run->strategy.seed);
    const struct node_requirements *there = node_requirements_in(run, set, key, domain);
    if (there == NULL)
        return choice;
    choice.has_something = fits == NULL || bits_meet(node_requirements_options(run, there), fits,
                                                     problem->option_words);
    if (choice.has_something)
        choice.price = node_requirements_price(run, there);
    return choice;
}

/* Fewer pods are better. Karpenter leaves ties to chance; here price, fewer NodeClaims and name
 * decide. A domain without an offering that fits comes after its equals, and a strategy that looks
 * ahead does not take it. */
static bool is_better(const struct choice *a, const struct choice *b)
{
    if (b->domain == SIZE_MAX || a->count != b->count)
        return b->domain == SIZE_MAX || a->count < b->count;
    if (a->has_something != b->has_something)
        return a->has_something;
    if (a->lot != b->lot)
        return a->lot < b->lot;
    if (a->price != b->price)
        return a->price < b->price;
    if (a->claims != b->claims)
        return a->claims < b->claims;
    return text_compare(a->name, b->name) < 0;
}

/* Leaves the best of the domains. */
static void pick_one(struct solver_run *run, const struct relaxation_state *state,
                     const struct node_requirements *set, uint32_t key, uint64_t *domains,
                     size_t word_count, const uint64_t *fits)
{
    struct choice best = {.domain = SIZE_MAX};
    size_t first = bits_next(domains, word_count, 0);
    if (first == SIZE_MAX || bits_next(domains, word_count, first + 1) == SIZE_MAX)
        return;
    for (BITS_EACH(value, domains, word_count)) {
        struct choice choice = consider(run, state, set, key, value, fits);
        if ((choice.has_something || !run->strategy.look_ahead) && is_better(&choice, &best))
            best = choice;
    }
    memset(domains, 0, word_count * sizeof *domains);
    if (best.domain != SIZE_MAX)
        bits_add(domains, best.domain);
}

/* Leaves the domains that a group would choose: a spread only those with the least count, unless
 * the strategy looks at all groups together. */
static void keep_chosen(const struct solver_run *run, const struct matching_topology *matching,
                        const struct solver_requirement *own, uint64_t *domains, size_t word_count)
{
    const int32_t *counts = run->groups[matching->group].counts;
    int32_t least = INT32_MAX;
    for (BITS_EACH(value, matching->domains, matching->word_count))
        if (allows(run, own, value) && counts[value] < least)
            least = counts[value];
    bool least_only = matching->pick_one && !run->strategy.look_ahead;
    for (BITS_EACH(value, domains, word_count))
        if (value / BITS_WORD >= matching->word_count || !bits_has(matching->domains, value) ||
            (least_only && counts[value] != least))
            bits_remove(domains, value);
}

/* Narrows a NodeClaim to what the groups over a key leave. Each group chooses by the requirements
 * from before the others chose (docs/reference/karpenter.md 3.4). Karpenter draws ties group by
 * group and fails where two draws differ; here the groups agree where they can. */
static const struct node_requirements *narrow_key(struct solver_run *run,
                                                  const struct relaxation_state *state,
                                                  size_t first,
                                                  const struct node_requirements *before,
                                                  const struct node_requirements *set,
                                                  const uint64_t *fits)
{
    const struct solver_problem *problem = run->problem;
    const struct matching_topology *lead = &state->matching[first];
    uint32_t key = problem->groups.items[lead->group].key;
    const struct solver_requirement *own = solver_requirements_get(&before->requirements, key);
    uint64_t *domains = run->scratch_domains;
    memset(domains, 0, lead->word_count * sizeof *domains);
    for (BITS_EACH(value, lead->domains, lead->word_count))
        if (allows(run, own, value))
            bits_add(domains, value);
    bool pick = false;
    for (size_t i = first; i < state->matching_count; i++) {
        const struct matching_topology *matching = &state->matching[i];
        if (matching->domains == NULL || problem->groups.items[matching->group].key != key)
            continue;
        keep_chosen(run, matching, own, domains, lead->word_count);
        pick |= matching->pick_one;
    }
    if (pick)
        pick_one(run, state, before, key, domains, lead->word_count, fits);
    set = node_requirements_narrow(run, set, key, domains, lead->word_count);
    const struct solver_requirement *now =
        set == NULL ? NULL : solver_requirements_get(&set->requirements, key);
    return now == NULL || solver_requirement_op(now) == SOLVER_DOES_NOT_EXIST ? NULL : set;
}

const struct node_requirements *topology_narrow(struct solver_run *run,
                                                const struct relaxation_state *state,
                                                const struct node_requirements *set,
                                                const uint64_t *fits, uint32_t *in_the_way)
{
    const struct solver_problem *problem = run->problem;
    const struct node_requirements *before = set;
    for (size_t i = 0; i < state->matching_count && set != NULL; i++) {
        const struct matching_topology *matching = &state->matching[i];
        bool seen = matching->domains == NULL;
        for (size_t j = 0; j < i && !seen; j++)
            seen = state->matching[j].domains != NULL &&
                   problem->groups.items[state->matching[j].group].key ==
                       problem->groups.items[matching->group].key;
        if (seen)
            continue;
        set = narrow_key(run, state, i, before, set, fits);
        if (set == NULL && in_the_way != NULL)
            *in_the_way = matching->group;
    }
    return set;
}

/* ---- recording (docs/reference/karpenter.md 3.7) ---- */

static void count_domain(struct solver_run *run, uint32_t number, size_t domain)
{
    struct topology_group_state *state = &run->groups[number];
    if (domain >= state->count_size) { /* a new NodeClaim as a host */
        size_t size = state->count_size < 64 ? 64 : state->count_size * 2;
        while (size <= domain)
            size *= 2;
        int32_t *counts = ARENA_ARRAY(run->arena, size, int32_t);
        if (state->count_size > 0)
            memcpy(counts, state->counts, state->count_size * sizeof *counts);
        state->counts = counts;
        state->count_size = size;
    }
    if (state->counts[domain] < 0)
        state->counts[domain] = 0;
    if (state->counts[domain]++ == 0)
        state->occupied++;
}

static void count_host(struct solver_run *run, uint32_t number, uint32_t node, uint32_t claim)
{
    struct topology_group_state *state = &run->groups[number];
    size_t nodes = run->problem->nodes.count;
    count_domain(run, number, node != SOLVER_NONE ? node : nodes + claim);
    if (run->problem->groups.items[number].kind != TOPOLOGY_POD_AFFINITY)
        return;
    if (node == SOLVER_NONE)
        wide_bits_add(run->arena, &state->claims, claim);
    else
        wide_bits_add(run->arena, &state->nodes, run->problem->node_rank[node]);
}

/* Whether a spread counts pods on a NodeClaim (docs/reference/karpenter.md 1.3: strict). */
static bool counts_claim(const struct solver_run *run, const struct topology_group *group,
                         const struct node_claim *claim)
{
    const struct solver_problem *problem = run->problem;
    if (group->filter_tolerations != NULL &&
        !taints_tolerated(problem->pools.items[claim->pool].taints, group->filter_tolerations,
                          group->filter_prefers, NULL))
        return false;
    for (size_t i = 0; i < group->filter_term_count; i++)
        if (hostname_allows_new(group->filter_terms[i].hostname) &&
            compatible(problem, &claim->set->requirements, &group->filter_terms[i].requirements,
                       true, NULL))
            return true;
    return group->filter_term_count == 0;
}

static void count_claim(struct solver_run *run, uint32_t number, const struct node_claim *claim)
{
    const struct topology_group *group = &run->problem->groups.items[number];
    const struct solver_requirement *r =
        solver_requirements_get(&claim->set->requirements, group->key);
    if (r == NULL || r->complement)
        return;
    size_t first = bits_next(r->words, r->word_count, 0);
    if (first == SIZE_MAX)
        return;
    if (group->kind == TOPOLOGY_POD_ANTI_AFFINITY) { /* in each domain where it may be launched */
        for (BITS_EACH(value, r->words, r->word_count))
            count_domain(run, number, value);
        return;
    }
    if (bits_next(r->words, r->word_count, first + 1) == SIZE_MAX)
        count_domain(run, number, first);
}

static void record_one(struct solver_run *run, uint32_t number, uint32_t node, uint32_t claim)
{
    if (run->groups[number].dormant)
        return;
    const struct solver_problem *problem = run->problem;
    const struct topology_group *group = &problem->groups.items[number];
    bool counts = node != SOLVER_NONE
                      ? group->filter_nodes == NULL || bits_has(group->filter_nodes, node)
                      : counts_claim(run, group, &run->node_claims.items[claim]);
    if (!counts)
        return;
    if (group->hostname) {
        count_host(run, number, node, claim);
    } else if (node == SOLVER_NONE) {
        count_claim(run, number, &run->node_claims.items[claim]);
    } else {
        uint32_t value = state_node_value(&problem->nodes.items[node], group->key);
        if (value != SOLVER_NONE)
            count_domain(run, number, value);
    }
}

void topology_record(struct solver_run *run, const struct shape *shape, uint32_t node,
                     uint32_t claim)
{
    const struct label_class *class = &run->problem->label_classes.items[shape->label_class];
    for (size_t i = 0; i < class->counted_by.count; i++)
        record_one(run, class->counted_by.items[i], node, claim);
    for (size_t i = 0; i < shape->inverse_group_count; i++)
        record_one(run, shape->inverse_groups[i], node, claim);
}
