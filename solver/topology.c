#include <string.h>

#include "solver/run.h"

/* ---- what a group asks, as counts stand ---- */

static bool allows(const struct solver_run *run, const struct solver_requirement *pod_domains,
                   size_t value)
{
    return pod_domains == NULL ||
           solver_requirement_has(run->problem->names, pod_domains, (uint32_t)value);
}

/* The least count among the domains the pod's own requirements allow
 * (docs/reference/karpenter.md 3.4). */
static int32_t least_count(const struct solver_run *run, const struct group *group,
                           const struct group_state *state,
                           const struct solver_requirement *pod_domains)
{
    int32_t least = INT32_MAX, domains = 0;
    for (size_t v = 0; v < state->count_size; v++) {
        if (state->counts[v] < 0 || !allows(run, pod_domains, v))
            continue;
        domains++;
        if (state->counts[v] < least)
            least = state->counts[v];
    }
    return group->min_domains > 0 && domains < group->min_domains ? 0 : least;
}

static bool any_occupied(const struct solver_run *run, const struct group_state *state,
                         const struct solver_requirement *pod_domains)
{
    for (size_t v = 0; v < state->count_size && state->occupied > 0; v++)
        if (state->counts[v] > 0 && allows(run, pod_domains, v))
            return true;
    return false;
}

static bool is_valid(const struct group *group, int32_t count, int32_t least, bool self,
                     bool bootstrap)
{
    if (count < 0)
        return false;
    switch (group->kind) {
    case GROUP_SPREAD:
        return (int64_t)count + (self ? 1 : 0) - least <= group->max_skew;
    case GROUP_AFFINITY:
        return count > 0 || bootstrap;
    case GROUP_ANTI_AFFINITY:
        return count == 0;
    }
    return false;
}

/* Fills the domains; false when there is none. */
static bool want_domains(const struct solver_run *run, const struct group *group,
                         const struct solver_requirement *pod_domains, struct wanted *wanted)
{
    const struct group_state *state = &run->groups[wanted->group];
    int32_t least = group->kind == GROUP_SPREAD ? least_count(run, group, state, pod_domains) : 0;
    bool bootstrap =
        group->kind == GROUP_AFFINITY && wanted->starts && !any_occupied(run, state, pod_domains);
    wanted->pick_one =
        group->kind == GROUP_SPREAD || bootstrap ||
        (group->kind == GROUP_ANTI_AFFINITY && !group->inverse && run->strategy.spread_in_one);
    const uint64_t *start =
        bootstrap && run->start_domains != NULL ? run->start_domains[wanted->group] : NULL;
    bool any = false;
    memset(wanted->domains, 0, wanted->word_count * sizeof *wanted->domains);
    for (size_t v = 0; v < state->count_size; v++) {
        if (!is_valid(group, state->counts[v], least, wanted->self, bootstrap))
            continue;
        /* A spread looks at what the node may be, which the pod has narrowed already. */
        if (group->kind != GROUP_SPREAD && !allows(run, pod_domains, v))
            continue;
        if (start != NULL && !bits_has(start, v))
            continue;
        bits_add(wanted->domains, v);
        any = true;
    }
    return any;
}

static bool selects_itself(const struct solver_problem *problem, const struct shape *shape,
                           uint32_t group)
{
    return group_selects(problem, &problem->groups.items[group],
                         &problem->label_classes.items[shape->label_class]);
}

/* kube-scheduler lets the first pod of an affinity go without one to join only when it matches all
 * of its own required terms. */
static bool selects_itself_throughout(const struct solver_problem *problem,
                                      const struct shape *shape)
{
    const struct variant *last = &shape->variants[shape->variant_count - 1];
    for (size_t i = 0; i < last->group_count; i++)
        if (problem->groups.items[last->groups[i]].kind == GROUP_AFFINITY &&
            !selects_itself(problem, shape, last->groups[i]))
            return false;
    return true;
}

/* An inverse group that nobody has keeps nobody away. */
static bool has_owners(const struct solver_run *run, uint32_t group)
{
    return run->groups[group].owners > 0 ||
           (!run->asked && run->problem->groups.items[group].pending_owners > 0);
}

static void prepare(struct solver_run *run, const struct shape *shape,
                    const struct variant *variant, struct variant_state *state)
{
    const struct solver_problem *problem = run->problem;
    const struct label_class *class = &problem->label_classes.items[shape->label_class];
    size_t most = variant->group_count + class->kept_away_by.count;
    bool starts = !run->strategy.sound || selects_itself_throughout(problem, shape);
    state->wanted = ARENA_ARRAY(run->arena, most, struct wanted);
    for (size_t i = 0; i < most; i++) {
        bool own = i < variant->group_count;
        uint32_t number =
            own ? variant->groups[i] : class->kept_away_by.items[i - variant->group_count];
        if (!own && !has_owners(run, number))
            continue;
        struct wanted *wanted = &state->wanted[state->wanted_count++];
        wanted->group = number;
        run->groups[number].dormant = false;
        wanted->self = own && selects_itself(problem, shape, wanted->group);
        wanted->starts = wanted->self && starts;
        const struct group *group = &problem->groups.items[wanted->group];
        if (group->hostname)
            continue;
        wanted->word_count = bits_words(group->count_size) + 1;
        wanted->domains = ARENA_ARRAY(run->arena, wanted->word_count, uint64_t);
    }
    state->turned_away_nodes = ARENA_ARRAY(run->arena, problem->node_words, uint64_t);
    state->ready = true;
}

/* Nobody to join, on any host the pod may be on. */
static bool may_start(const struct solver_run *run, const struct variant *variant, uint32_t number)
{
    const struct group_state *state = &run->groups[number];
    const struct solver_requirement *hostname = variant->strict.hostname;
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

/* Of two groups the one to name, whatever order they were made in: a pod's own before others'. */
static bool is_named_before(const struct solver_problem *problem, uint32_t one, uint32_t other)
{
    const struct group *a = &problem->groups.items[one], *b = &problem->groups.items[other];
    struct text key_a = {0}, key_b = {0};
    if (a->inverse != b->inverse)
        return !a->inverse;
    key_a.data = solver_names_key_text(problem->names, a->key, &key_a.size);
    key_b.data = solver_names_key_text(problem->names, b->key, &key_b.size);
    int order = text_compare(key_a, key_b);
    return order != 0 ? order < 0 : a->kind < b->kind;
}

/* One more that is in the way, the first when none was before. */
static void note_in_the_way(const struct solver_run *run, uint32_t group, bool first,
                            uint32_t *in_the_way)
{
    if (in_the_way != NULL && (first || is_named_before(run->problem, group, *in_the_way)))
        *in_the_way = group;
}

bool topology_want(struct solver_run *run, const struct shape *shape, const struct variant *variant,
                   uint32_t *in_the_way)
{
    struct variant_state *state = &run->variants[variant->number];
    if (!state->ready)
        prepare(run, shape, variant, state);
    bool any = true;
    for (size_t i = 0; i < state->wanted_count && (any || in_the_way != NULL); i++) {
        struct wanted *wanted = &state->wanted[i];
        const struct group *group = &run->problem->groups.items[wanted->group];
        if (group->hostname) {
            wanted->anywhere = group->kind == GROUP_AFFINITY && wanted->starts &&
                               may_start(run, variant, wanted->group);
            continue;
        }
        const struct solver_requirement *pod_domains =
            solver_requirements_get(&variant->strict.requirements, group->key);
        if (want_domains(run, group, pod_domains, wanted))
            continue;
        note_in_the_way(run, wanted->group, any, in_the_way);
        any = false;
    }
    return any;
}

/* ---- hosts ---- */

static int32_t host_count(const struct group_state *state, uint32_t host)
{
    return host < state->count_size ? state->counts[host] : 0;
}

enum verdict topology_host(const struct solver_run *run, const struct variant_state *state,
                           uint32_t host, uint32_t *in_the_way)
{
    enum verdict verdict = ACCEPTED;
    for (size_t i = 0; i < state->wanted_count; i++) {
        const struct wanted *wanted = &state->wanted[i];
        const struct group *group = &run->problem->groups.items[wanted->group];
        if (!group->hostname || is_valid(group, host_count(&run->groups[wanted->group], host), 0,
                                         wanted->self, wanted->anywhere))
            continue;
        if (in_the_way != NULL)
            *in_the_way = wanted->group;
        if (group->kind != GROUP_AFFINITY)
            return NEVER; /* counts only rise */
        verdict = NOT_NOW;
    }
    return verdict;
}

bool topology_allows_node(const struct solver_run *run, const struct variant_state *state,
                          const struct machine *node, uint32_t *in_the_way)
{
    bool allowed = true;
    for (size_t i = 0; i < state->wanted_count && (allowed || in_the_way != NULL); i++) {
        const struct wanted *wanted = &state->wanted[i];
        if (wanted->domains == NULL)
            continue;
        uint32_t value = machine_value(node, run->problem->groups.items[wanted->group].key);
        if (value / BITS_WORD < wanted->word_count && bits_has(wanted->domains, value))
            continue;
        note_in_the_way(run, wanted->group, allowed, in_the_way);
        allowed = false;
    }
    return allowed;
}

/* ---- claims ---- */

/* Where a claim that may choose would go. */
struct choice {
    size_t domain; /* SIZE_MAX: none */
    int32_t count;
    bool has_something; /* that fits is to be had there */
    int64_t price;      /* of the cheapest there */
    size_t claims;      /* that may be there */
    struct text name;
    uint64_t lot; /* drawn, when the strategy draws lots */
};

/* The pods that those groups count there that leave a claim no more than one domain. */
static int32_t count_there(const struct solver_run *run, const struct variant_state *state,
                           uint32_t key, size_t domain)
{
    int32_t count = 0;
    for (size_t i = 0; i < state->wanted_count; i++) {
        const struct wanted *wanted = &state->wanted[i];
        if (wanted->pick_one && run->problem->groups.items[wanted->group].key == key)
            count += run->groups[wanted->group].counts[domain];
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

static struct choice consider(struct solver_run *run, const struct variant_state *state,
                              const struct claim_set *set, uint32_t key, size_t domain,
                              const uint64_t *fits)
{
    const struct solver_problem *problem = run->problem;
    struct choice choice = {
        .domain = domain, .count = count_there(run, state, key, domain), .price = INT64_MAX};
    choice.name.data =
        solver_names_value_text(problem->names, key, (uint32_t)domain, &choice.name.size);
    if (!run->asked)
        choice.claims = count_claims(run, key, domain);
    if (run->strategy.lots != 0)
        choice.lot = intern_hash(choice.name.data, choice.name.size, run->strategy.lots);
    uint64_t *one = run->scratch_domain;
    memset(one, 0, (domain / BITS_WORD + 1) * sizeof *one);
    bits_add(one, domain);
    const struct claim_set *there = claim_set_narrow(run, set, key, one, domain / BITS_WORD + 1);
    if (there == NULL)
        return choice;
    choice.has_something =
        fits == NULL || bits_meet(claim_set_rows(run, there), fits, problem->row_words);
    if (choice.has_something)
        choice.price = claim_set_price(run, there);
    return choice;
}

/* By count; Karpenter leaves ties to chance, here price, the fewest claims and name decide. A
 * domain that offers nothing comes after its equals; with a strategy that looks ahead it is none.
 */
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

/* Leaves one of the domains. */
static void pick_one(struct solver_run *run, const struct variant_state *state,
                     const struct claim_set *set, uint32_t key, uint64_t *domains,
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

/* Of the domains of a claim those a group would choose: a spread only those with the least count,
 * unless the strategy looks at all groups together. */
static void keep_chosen(const struct solver_run *run, const struct wanted *wanted,
                        const struct solver_requirement *own, uint64_t *domains, size_t word_count)
{
    const int32_t *counts = run->groups[wanted->group].counts;
    int32_t least = INT32_MAX;
    for (BITS_EACH(value, wanted->domains, wanted->word_count))
        if (allows(run, own, value) && counts[value] < least)
            least = counts[value];
    bool least_only = wanted->pick_one && !run->strategy.look_ahead;
    for (BITS_EACH(value, domains, word_count))
        if (value / BITS_WORD >= wanted->word_count || !bits_has(wanted->domains, value) ||
            (least_only && counts[value] != least))
            bits_remove(domains, value);
}

/* What the groups over a key leave a claim. Each chooses by what the claim was before the others
 * did (docs/reference/karpenter.md 3.4); Karpenter draws ties group by group and fails where the
 * draws do not meet, here they meet where they can. */
static const struct claim_set *narrow_key(struct solver_run *run, const struct variant_state *state,
                                          size_t first, const struct claim_set *before,
                                          const struct claim_set *set, const uint64_t *fits)
{
    const struct solver_problem *problem = run->problem;
    const struct wanted *lead = &state->wanted[first];
    uint32_t key = problem->groups.items[lead->group].key;
    const struct solver_requirement *own = solver_requirements_get(&before->requirements, key);
    uint64_t *domains = run->scratch_domains;
    memset(domains, 0, lead->word_count * sizeof *domains);
    for (BITS_EACH(value, lead->domains, lead->word_count))
        if (allows(run, own, value))
            bits_add(domains, value);
    bool pick = false;
    for (size_t i = first; i < state->wanted_count; i++) {
        const struct wanted *wanted = &state->wanted[i];
        if (wanted->domains == NULL || problem->groups.items[wanted->group].key != key)
            continue;
        keep_chosen(run, wanted, own, domains, lead->word_count);
        pick |= wanted->pick_one;
    }
    if (pick)
        pick_one(run, state, before, key, domains, lead->word_count, fits);
    set = claim_set_narrow(run, set, key, domains, lead->word_count);
    const struct solver_requirement *now =
        set == NULL ? NULL : solver_requirements_get(&set->requirements, key);
    return now == NULL || solver_requirement_op(now) == SOLVER_DOES_NOT_EXIST ? NULL : set;
}

const struct claim_set *topology_narrow(struct solver_run *run, const struct variant_state *state,
                                        const struct claim_set *set, const uint64_t *fits,
                                        uint32_t *in_the_way)
{
    const struct solver_problem *problem = run->problem;
    const struct claim_set *before = set;
    for (size_t i = 0; i < state->wanted_count && set != NULL; i++) {
        const struct wanted *wanted = &state->wanted[i];
        bool seen = wanted->domains == NULL;
        for (size_t j = 0; j < i && !seen; j++)
            seen = state->wanted[j].domains != NULL &&
                   problem->groups.items[state->wanted[j].group].key ==
                       problem->groups.items[wanted->group].key;
        if (seen)
            continue;
        set = narrow_key(run, state, i, before, set, fits);
        if (set == NULL && in_the_way != NULL)
            *in_the_way = wanted->group;
    }
    return set;
}

/* ---- recording (docs/reference/karpenter.md 3.7) ---- */

static void count_domain(struct solver_run *run, uint32_t number, size_t domain)
{
    struct group_state *state = &run->groups[number];
    if (domain >= state->count_size) { /* a claim as a host */
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
    struct group_state *state = &run->groups[number];
    size_t nodes = run->problem->nodes.count;
    count_domain(run, number, node != SOLVER_NONE ? node : nodes + claim);
    if (run->problem->groups.items[number].kind != GROUP_AFFINITY)
        return;
    if (node == SOLVER_NONE)
        wide_bits_add(run->arena, &state->claims, claim);
    else
        wide_bits_add(run->arena, &state->nodes, run->problem->node_place[node]);
}

/* Whether a spread counts what is on a claim (docs/reference/karpenter.md 1.3: strict). */
static bool counts_claim(const struct solver_run *run, const struct group *group,
                         const struct claim *claim)
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

static void count_claim(struct solver_run *run, uint32_t number, const struct claim *claim)
{
    const struct group *group = &run->problem->groups.items[number];
    const struct solver_requirement *r =
        solver_requirements_get(&claim->set->requirements, group->key);
    if (r == NULL || r->complement)
        return;
    size_t first = bits_next(r->words, r->word_count, 0);
    if (first == SIZE_MAX)
        return;
    if (group->kind == GROUP_ANTI_AFFINITY) { /* wherever it may come to be */
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
    const struct group *group = &problem->groups.items[number];
    bool counts = node != SOLVER_NONE
                      ? group->filter_nodes == NULL || bits_has(group->filter_nodes, node)
                      : counts_claim(run, group, &run->claims.items[claim]);
    if (!counts)
        return;
    if (group->hostname) {
        count_host(run, number, node, claim);
    } else if (node == SOLVER_NONE) {
        count_claim(run, number, &run->claims.items[claim]);
    } else {
        uint32_t value = machine_value(&problem->nodes.items[node], group->key);
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
