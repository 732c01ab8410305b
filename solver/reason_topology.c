/* Reasons of topology: spreads, affinity and anti-affinity. */
#include <string.h>

#include "solver/explain.h"

/* ---- names ---- */

static const char *kind_name(const struct topology_group *group)
{
    switch (group->kind) {
    case TOPOLOGY_SPREAD:
        return "its spread";
    case TOPOLOGY_POD_AFFINITY:
        return "its affinity";
    case TOPOLOGY_POD_ANTI_AFFINITY:
    default:
        return group->inverse ? "the anti-affinity of other pods" : "its anti-affinity";
    }
}

struct text reason_group_name(const struct question *q, uint32_t number)
{
    struct arena *arena = q->run->arena;
    const struct topology_group *group = group_at(q, number);
    struct text key = words_key(q->problem, group->key);
    struct text skew = group->kind == TOPOLOGY_SPREAD
                           ? arena_printf(arena, "maxSkew %d", group->max_skew)
                           : TEXT("");
    const char *common = group->hostname                      ? "nodes"
                         : group->key == q->problem->zone_key ? "zones"
                                                              : NULL;
    if (common != NULL)
        return arena_printf(arena, "%s over %s (%.*s%s%.*s)", kind_name(group), common,
                            TEXT_ARGS(key), skew.size == 0 ? "" : ", ", TEXT_ARGS(skew));
    return arena_printf(arena, "%s over %.*s%s%.*s%s", kind_name(group), TEXT_ARGS(key),
                        skew.size == 0 ? "" : " (", TEXT_ARGS(skew), skew.size == 0 ? "" : ")");
}

/* ---- where a group lets the pod be ---- */

static const struct matching_topology *matching_of(const struct question *q, uint32_t number)
{
    const struct relaxation_state *state = &q->run->relaxations[q->relaxation->number];
    for (size_t i = 0; i < state->matching_count; i++)
        if (state->matching[i].group == number)
            return &state->matching[i];
    return NULL;
}

static const struct node_requirements *base_of(const struct question *q)
{
    return q->set != NULL ? q->set : q->run->empty_node_claims[q->pool].set;
}

/* Whether something of options can be bought in one of the domains. */
static bool reaches(const struct question *q, const uint64_t *options, uint32_t key,
                    const uint64_t *domains, size_t word_count)
{
    const struct node_requirements *there =
        node_requirements_narrow(q->run, base_of(q), key, domains, word_count);
    if (there == NULL)
        return false;
    return bits_meet(node_requirements_options(q->run, there), options, q->problem->option_words);
}

uint32_t reason_group(struct question *q, const uint64_t *options)
{
    const struct relaxation_state *state = &q->run->relaxations[q->relaxation->number];
    for (size_t i = 0; i < state->matching_count; i++) {
        const struct matching_topology *matching = &state->matching[i];
        if (matching->domains != NULL && !reaches(q, options, group_at(q, matching->group)->key,
                                                  matching->domains, matching->word_count))
            return matching->group;
    }
    return state->matching_count > 0 ? state->matching[0].group : SOLVER_NONE;
}

static struct text words_domains(const struct question *q, const struct matching_topology *matching,
                                 const char *last)
{
    return words_values(q->problem, q->run->arena, group_at(q, matching->group)->key,
                        matching->domains, matching->word_count, last);
}

/* "eu-west-1a 2, eu-west-1b 1": the pods a group counts. */
static struct text words_counts(const struct question *q, uint32_t number)
{
    const struct topology_group *group = group_at(q, number);
    const struct topology_group_state *state = &q->run->groups[number];
    struct arena *arena = q->run->arena;
    struct texts domains = {0};
    for (size_t v = 0; v < state->count_size && !group->hostname; v++) {
        if (state->counts[v] < 0 || (state->counts[v] == 0 && group->kind != TOPOLOGY_SPREAD))
            continue;
        struct text name;
        name.data = solver_names_value_text(q->problem->names, group->key, (uint32_t)v, &name.size);
        *LIST_PUSH(arena, &domains) =
            arena_printf(arena, "%.*s %d", TEXT_ARGS(name), state->counts[v]);
    }
    return words_list(arena, &domains, ", ");
}

static bool has_domains(const struct question *q, uint32_t number)
{
    const struct topology_group_state *state = &q->run->groups[number];
    for (size_t v = 0; v < state->count_size; v++)
        if (state->counts[v] >= 0)
            return true;
    return false;
}

/* Where the node of a NodeClaim may come up, of what its set names. */
static struct text words_open(const struct question *q, const struct node_claim *claim,
                              const struct solver_requirement *r)
{
    const struct solver_problem *problem = q->problem;
    uint64_t *one = ARENA_ARRAY(q->run->arena, r->word_count, uint64_t);
    uint64_t *sold = ARENA_ARRAY(q->run->arena, r->word_count, uint64_t);
    size_t count = 0;
    for (BITS_EACH(value, r->words, r->word_count)) {
        bits_add(one, value);
        const struct node_requirements *there =
            node_requirements_narrow(q->run, claim->set, r->key, one, r->word_count);
        bits_remove(one, value);
        if (there == NULL || !bits_meet(node_requirements_options(q->run, there), claim->options,
                                        problem->option_words))
            continue;
        bits_add(sold, value);
        count++;
    }
    return words_values(problem, q->run->arena, r->key, count > 1 ? sold : r->words, r->word_count,
                        " or ");
}

/* One on a node yet to be bought that may come up in several domains, and in which. */
static uint32_t undecided_pod(const struct question *q, uint32_t number, struct text *domains)
{
    const struct solver_run *run = q->run;
    uint32_t key = group_at(q, number)->key;
    for (size_t i = 0; i < run->node_claims.count && !run->asked; i++) {
        const struct node_claim *claim = &run->node_claims.items[i];
        const struct solver_requirement *r =
            solver_requirements_get(&claim->set->requirements, key);
        size_t first =
            r == NULL || r->complement ? SIZE_MAX : bits_next(r->words, r->word_count, 0);
        if (first == SIZE_MAX || bits_next(r->words, r->word_count, first + 1) == SIZE_MAX)
            continue;
        for (uint32_t pod = claim->first_pod; pod != SOLVER_NONE; pod = run->next_pod[pod])
            if (reason_matters(q, number, pod)) {
                *domains = words_open(q, claim, r);
                return pod;
            }
    }
    return SOLVER_NONE;
}

/* An affinity that nobody satisfies yet. */
static void tell_nobody(struct question *q, struct solver_reason *reason)
{
    struct arena *arena = q->run->arena;
    struct text selector = words_selector(q->problem, arena, group_at(q, q->group));
    struct text open = {0};
    uint32_t undecided = undecided_pod(q, q->group, &open);
    uint32_t waiting = SOLVER_NONE;
    for (uint32_t i = 0; i < q->problem->pods.count && waiting == SOLVER_NONE && !q->run->asked;
         i++)
        if (reason_waits(q, i) && reason_matters(q, q->group, i))
            waiting = i;
    struct text name = reason_group_name(q, q->group);
    if (undecided != SOLVER_NONE) {
        reason->message = arena_printf(arena, "%.*s waits for the node of %s", TEXT_ARGS(name),
                                       solver_pod_name(q->problem, undecided))
                              .data;
        reason->nearest =
            arena_printf(arena, "that node may still come up in any of %.*s", TEXT_ARGS(open)).data;
        return;
    }
    if (waiting == SOLVER_NONE) {
        reason->message = arena_printf(arena, "%.*s selects no pod that %s (%.*s)", TEXT_ARGS(name),
                                       q->run->asked ? "runs" : "exists", TEXT_ARGS(selector))
                              .data;
        return;
    }
    reason->message = arena_printf(arena, "the pods %.*s selects (%.*s) wait themselves",
                                   TEXT_ARGS(name), TEXT_ARGS(selector))
                          .data;
    struct text circle = reason_circle(q);
    reason->nearest = circle.size > 0 ? circle.data
                                      : arena_printf(arena, "%s fits nowhere either",
                                                     solver_pod_name(q->problem, waiting))
                                            .data;
}

/* ---- each kind ---- */

/* Why not there. */
static const char *where_not(unsigned set)
{
    if (set == 1u << SOLVER_REASON_TOPOLOGY)
        return "which this NodePool cannot reach";
    if ((set >> SOLVER_REASON_VOLUME & 1) != 0)
        return "where its volumes cannot be";
    if ((set >> SOLVER_REASON_REQUIREMENT & 1) != 0)
        return "where what it asks for is not to be had";
    if ((set >> SOLVER_REASON_RESOURCES & 1) != 0)
        return "where no type has room for it";
    return "where nothing that suits it is left";
}

static void tell_hosts(struct question *q, struct solver_reason *reason)
{
    struct arena *arena = q->run->arena;
    const struct topology_group *group = group_at(q, q->group);
    struct text name = reason_group_name(q, q->group);
    if (group->kind != TOPOLOGY_POD_AFFINITY) {
        reason->message = arena_printf(arena, "%.*s allows no further node", TEXT_ARGS(name)).data;
        return;
    }
    if (q->run->groups[q->group].occupied == 0) {
        tell_nobody(q, reason);
        return;
    }
    reason->message =
        arena_printf(arena, "%.*s needs a node where a pod it selects is (%.*s)", TEXT_ARGS(name),
                     TEXT_ARGS(words_selector(q->problem, arena, group)))
            .data;
    reason->nearest = "a new node has none, and those that have one do not take it";
}

static void tell_anti_affinity(struct question *q, struct solver_reason *reason,
                               const struct matching_topology *matching, unsigned set)
{
    struct arena *arena = q->run->arena;
    struct text open = {0};
    uint32_t undecided = undecided_pod(q, q->group, &open);
    struct text name = reason_group_name(q, q->group), free = words_domains(q, matching, " or ");
    if (undecided != SOLVER_NONE) {
        reason->message = arena_printf(arena, "%.*s makes it wait for the node of %s",
                                       TEXT_ARGS(name), solver_pod_name(q->problem, undecided))
                              .data;
        reason->nearest = arena_printf(arena,
                                       "that node may still come up in any of %.*s, so the "
                                       "others wait for it",
                                       TEXT_ARGS(open))
                              .data;
        return;
    }
    reason->message =
        free.size == 0 ? arena_printf(arena, "%.*s leaves none free for it", TEXT_ARGS(name)).data
                       : arena_printf(arena, "%.*s leaves only %.*s, %s", TEXT_ARGS(name),
                                      TEXT_ARGS(free), where_not(set))
                             .data;
}

/* A spread chooses one domain before anything else does. */
static void tell_spread(struct question *q, struct solver_reason *reason,
                        const struct matching_topology *matching, unsigned set, bool reached)
{
    struct arena *arena = q->run->arena;
    const struct topology_group *group = group_at(q, q->group);
    struct text name = reason_group_name(q, q->group);
    struct text domains = words_domains(q, matching, " or ");
    if (domains.size == 0 && group->min_domains > 0)
        reason->message = arena_printf(arena, "%.*s wants minDomains %d, and there are fewer",
                                       TEXT_ARGS(name), group->min_domains)
                              .data;
    else if (domains.size == 0)
        reason->message = arena_printf(arena, "%.*s allows nothing", TEXT_ARGS(name)).data;
    else if (reached)
        reason->message =
            arena_printf(arena, "%.*s takes the emptiest of %.*s, where nothing suits it",
                         TEXT_ARGS(name), TEXT_ARGS(domains))
                .data;
    else
        reason->message = arena_printf(arena, "%.*s would need %.*s, %s", TEXT_ARGS(name),
                                       TEXT_ARGS(domains), where_not(set))
                              .data;
}

static void tell_affinity(struct question *q, struct solver_reason *reason,
                          const struct matching_topology *matching, unsigned set)
{
    struct arena *arena = q->run->arena;
    struct text name = reason_group_name(q, q->group);
    struct text domains = words_domains(q, matching, " or ");
    if (q->run->groups[q->group].occupied == 0 && !matching->self)
        tell_nobody(q, reason);
    else if (domains.size == 0)
        reason->message =
            arena_printf(arena, "%.*s has pods to join only where it may not be", TEXT_ARGS(name))
                .data;
    else
        reason->message = arena_printf(arena, "%.*s would need %.*s, %s", TEXT_ARGS(name),
                                       TEXT_ARGS(domains), where_not(set))
                              .data;
}

/* Several groups that leave no place together. */
static void tell_together(struct question *q, struct solver_reason *reason)
{
    struct arena *arena = q->run->arena;
    const struct relaxation_state *state = &q->run->relaxations[q->relaxation->number];
    struct text all = TEXT("");
    for (size_t i = 0; i < state->matching_count; i++) {
        const struct matching_topology *matching = &state->matching[i];
        if (matching->domains == NULL)
            continue;
        all = arena_printf(arena, "%.*s%s%s needs %.*s %.*s", TEXT_ARGS(all),
                           all.size == 0 ? "" : ", ", kind_name(group_at(q, matching->group)),
                           TEXT_ARGS(words_key(q->problem, group_at(q, matching->group)->key)),
                           TEXT_ARGS(words_domains(q, matching, " or ")));
    }
    reason->message = arena_printf(arena, "%.*s", TEXT_ARGS(all)).data;
    reason->nearest = "nothing that suits it is in all of these at once";
}

void reason_of_topology(struct question *q, struct solver_reason *reason, unsigned set)
{
    struct arena *arena = q->run->arena;
    const uint64_t *left = reason_left(q, SOLVER_REASON_TOPOLOGY, set);
    const struct topology_group *group = group_at(q, q->group);
    const struct matching_topology *matching = matching_of(q, q->group);
    if (group->hostname || matching == NULL) {
        tell_hosts(q, reason);
        return;
    }
    if (!has_domains(q, q->group)) {
        reason->message =
            arena_printf(arena, "no NodePool and no Node has the label %.*s of %s",
                         TEXT_ARGS(words_key(q->problem, group->key)), kind_name(group))
                .data;
        return;
    }
    bool reached = reaches(q, left, group->key, matching->domains, matching->word_count);
    size_t zonal = 0;
    const struct relaxation_state *state = &q->run->relaxations[q->relaxation->number];
    for (size_t i = 0; i < state->matching_count; i++)
        zonal += state->matching[i].domains != NULL;
    if (reached && zonal > 1)
        tell_together(q, reason);
    else if (group->kind == TOPOLOGY_SPREAD)
        tell_spread(q, reason, matching, set, reached);
    else if (group->kind == TOPOLOGY_POD_AFFINITY)
        tell_affinity(q, reason, matching, set);
    else
        tell_anti_affinity(q, reason, matching, set);
    struct text counts = words_counts(q, q->group);
    if (counts.size > 0 && *reason->nearest == '\0')
        reason->nearest =
            arena_printf(arena, "%s: %.*s", group->inverse ? "pods that have it" : "matching pods",
                         TEXT_ARGS(counts))
                .data;
}
