/* Reasons of topology: which domains a spread or an affinity leaves, and which pods stand against
 * the others. */
#include "solver/explain.h"

/* ---- domains of a group ---- */

static const struct matching_topology *matching_of(const struct explanation *q, uint32_t number)
{
    const struct relaxation_state *state = &q->run->relaxations[q->relaxation->number];
    for (size_t i = 0; i < state->matching_count; i++)
        if (state->matching[i].group == number)
            return &state->matching[i];
    return NULL;
}

/* Whether one of the options can be bought in one of the domains. The set is there: requirements
 * that contradict the pool exclude it by themselves. */
static bool reaches(const struct explanation *q, const uint64_t *options, uint32_t key,
                    const uint64_t *domains, size_t word_count)
{
    const struct node_requirements *there =
        node_requirements_narrow(q->run, q->set, key, domains, word_count);
    if (there == NULL)
        return false;
    return bits_meet(node_requirements_options(q->run, there), options, q->problem->option_words);
}

uint32_t reason_group(struct explanation *q, const uint64_t *options)
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

static struct solver_operand operand_domains(const struct explanation *q,
                                             const struct matching_topology *matching)
{
    return operand_values(q, group_at(q, matching->group)->key, matching->domains,
                          matching->word_count);
}

/* "eu-west-1a 2, eu-west-1b 1": how many pods a group counts in each domain. */
static struct sayings list_counts(const struct explanation *q, uint32_t number)
{
    const struct topology_group *group = group_at(q, number);
    const struct topology_group_state *state = &q->run->groups[number];
    struct sayings counts = {0};
    for (size_t v = 0; v < state->count_size; v++)
        if (state->counts[v] > 0 || (state->counts[v] == 0 && group->kind == TOPOLOGY_SPREAD))
            *LIST_PUSH(q->run->arena, &counts) =
                SAY(q, COUNT, operand_name(value_text(q->problem, group->key, v)),
                    operand_number(state->counts[v]));
    return counts;
}

static bool has_domains(const struct explanation *q, uint32_t number)
{
    const struct topology_group_state *state = &q->run->groups[number];
    for (size_t v = 0; v < state->count_size; v++)
        if (state->counts[v] >= 0)
            return true;
    return false;
}

static bool has_several_values(const struct solver_requirement *r)
{
    size_t count = 0;
    for (BITS_EACH(value, r->words, r->word_count))
        count++;
    return count > 1;
}

/* The domains in which the node of a NodeClaim may be launched; false: none. A NodeClaim that does
 * not list its domains may have each that its offerings have. One that lists a single domain may
 * have come to it after the pod that is looked for, which is then not counted. */
static bool open_domains(const struct explanation *q, const struct node_claim *claim,
                         const struct topology_group *group, struct solver_operand *domains)
{
    const struct solver_problem *problem = q->problem;
    const struct solver_requirement *r =
        solver_requirements_get(&claim->set->requirements, group->key);
    bool lists = r != NULL && !r->complement;
    uint32_t value_count = solver_names_value_count(problem->names, group->key);
    size_t word_count = bits_words(value_count);
    uint64_t *sold = ARENA_ARRAY(q->run->arena, word_count, uint64_t);
    size_t count = 0;
    for (uint32_t value = 0; value < value_count; value++) {
        if (r != NULL && !solver_requirement_has(problem->names, r, value))
            continue;
        const struct node_requirements *there =
            node_requirements_in(q->run, claim->set, group->key, value);
        if (there == NULL || !bits_meet(node_requirements_options(q->run, there), claim->options,
                                        problem->option_words))
            continue;
        bits_add(sold, value);
        count++;
    }
    if (lists && count < 2)
        *domains = operand_values(q, group->key, r->words, r->word_count);
    else
        *domains = operand_values(q, group->key, sold, word_count);
    return lists || count > 0;
}

/* From this pod of a NodeClaim on the first that the group counts; SOLVER_NONE: there is none. */
static uint32_t next_counted(const struct explanation *q, uint32_t pod)
{
    while (pod != SOLVER_NONE && !reason_matters(q, q->group, pod))
        pod = q->run->next_pod[pod];
    return pod;
}

/* The domains that a NodeClaim lists; NULL: it has one already, or lists none. */
static const struct solver_requirement *listed_domains(const struct explanation *q,
                                                       const struct node_claim *claim)
{
    const struct solver_requirement *r =
        solver_requirements_get(&claim->set->requirements, group_at(q, q->group)->key);
    return r != NULL && !r->complement && has_several_values(r) ? r : NULL;
}

static bool lists_one(const struct explanation *q, const struct node_claim *claim,
                      const uint64_t *domains)
{
    const struct solver_requirement *r = listed_domains(q, claim);
    size_t word_count = bits_words(q->run->groups[q->group].count_size);
    for (BITS_EACH(value, domains, word_count))
        if (r != NULL && value / BITS_WORD < r->word_count && bits_has(r->words, value))
            return true;
    return false;
}

/* Whether a volume alternative may be in the domain. */
static bool volumes_allow(const struct explanation *q, uint32_t key, uint32_t value)
{
    const struct shape *shape = q->shape;
    for (size_t i = 0; i < shape->volume_alternative_count; i++) {
        const struct solver_requirement *r =
            solver_requirements_get(&shape->volumes[i].requirements, key);
        if (r == NULL || solver_requirement_has(q->problem->names, r, value))
            return true;
    }
    return shape->volume_alternative_count == 0;
}

/* The domains that an anti-affinity has taken only for NodeClaims that may still be launched in
 * another one, and where nothing else is in the pod's way. */
static uint64_t *awaited_domains(struct explanation *q)
{
    const struct solver_run *run = q->run;
    const struct topology_group_state *state = &run->groups[q->group];
    uint32_t key = group_at(q, q->group)->key;
    int32_t *open = ARENA_ARRAY(run->arena, state->count_size, int32_t);
    for (size_t i = 0; i < run->node_claims.count; i++) {
        const struct node_claim *claim = &run->node_claims.items[i];
        const struct solver_requirement *r = listed_domains(q, claim);
        uint32_t pod = r == NULL ? SOLVER_NONE : next_counted(q, claim->first_pod);
        for (; pod != SOLVER_NONE; pod = next_counted(q, run->next_pod[pod]))
            for (BITS_EACH(value, r->words, r->word_count))
                open[value]++;
    }
    size_t word_count = bits_words(state->count_size);
    const uint64_t *left = reason_left(q, SOLVER_REASON_TOPOLOGY, EVERY_CRITERION);
    uint64_t *one = ARENA_ARRAY(run->arena, word_count, uint64_t);
    uint64_t *awaited = ARENA_ARRAY(run->arena, word_count, uint64_t);
    for (uint32_t value = 0; value < state->count_size; value++) {
        if (state->counts[value] <= 0 || open[value] < state->counts[value] ||
            !volumes_allow(q, key, value))
            continue;
        bits_add(one, value);
        if (reaches(q, left, key, one, word_count))
            bits_add(awaited, value);
        bits_remove(one, value);
    }
    return awaited;
}

/* A selected pod on a NodeClaim that may be launched in these domains. wanted: only on one that
 * lists several, and one of these; NULL: any. */
static uint32_t undecided_pod(const struct explanation *q, const uint64_t *wanted,
                              struct solver_operand *domains)
{
    const struct solver_run *run = q->run;
    for (size_t i = 0; i < run->node_claims.count && !run->asked; i++) {
        const struct node_claim *claim = &run->node_claims.items[i];
        uint32_t pod = next_counted(q, claim->first_pod);
        if (pod != SOLVER_NONE && (wanted == NULL || lists_one(q, claim, wanted)) &&
            open_domains(q, claim, group_at(q, q->group), domains))
            return pod;
    }
    return SOLVER_NONE;
}

static struct solver_operand operand_pod(const struct explanation *q, uint32_t pod)
{
    return operand_name(text_of(solver_pod_name(q->problem, pod)));
}

/* A node on which a selected pod runs and stays; SOLVER_NONE: there is none. */
static uint32_t node_of_selected(const struct explanation *q)
{
    const struct solver_problem *problem = q->problem;
    const size_t *starts = problem->class_starts;
    for (size_t i = 0; i < problem->started_class_count; i++)
        if (starts[i] < starts[i + 1] && topology_group_selects(problem, group_at(q, q->group),
                                                                &problem->label_classes.items[i]))
            return problem->class_nodes[starts[i]];
    return SOLVER_NONE;
}

/* A selected pod that is placed now; SOLVER_NONE: there is none. */
static uint32_t placed_pod(const struct explanation *q)
{
    for (uint32_t i = 0; i < q->problem->pods.count && !q->run->asked; i++)
        if (q->problem->pods.items[i].node == SOLVER_NONE && !reason_waits(q, i) &&
            reason_matters(q, q->group, i))
            return i;
    return SOLVER_NONE;
}

static bool selects_leaving(const struct explanation *q)
{
    for (uint32_t i = 0; i < q->problem->pods.count; i++)
        if (q->problem->pods.items[i].leaving && reason_matters(q, q->group, i))
            return true;
    return false;
}

/* An affinity to pods whose nodes have no domain; false: there are none. */
static bool tell_without_domain(struct explanation *q, struct solver_reason *reason)
{
    struct solver_operand name = operand_group(q, q->group);
    struct solver_operand key = operand_name(key_text(q->problem, group_at(q, q->group)->key));
    uint32_t node = node_of_selected(q);
    if (node != SOLVER_NONE) {
        reason->message = SAY(q, SELECTED_ON_NODE, name,
                              operand_name(text_of(solver_node_name(q->problem, node))), key);
        return true;
    }
    uint32_t pod = placed_pod(q);
    if (pod != SOLVER_NONE)
        reason->message = SAY(q, SELECTED_WITHOUT_DOMAIN, name, operand_pod(q, pod), key);
    return pod != SOLVER_NONE;
}

/* An affinity to pods none of which is in a domain yet. */
static void tell_nobody(struct explanation *q, struct solver_reason *reason)
{
    struct solver_operand name = operand_group(q, q->group), open;
    struct solver_operand selector = operand_selector(q, q->group);
    uint32_t undecided = undecided_pod(q, NULL, &open);
    uint32_t waiting = SOLVER_NONE;
    for (uint32_t i = 0; i < q->problem->pods.count && waiting == SOLVER_NONE && !q->run->asked;
         i++)
        if (reason_waits(q, i) && reason_matters(q, q->group, i))
            waiting = i;
    if (undecided != SOLVER_NONE) {
        reason->message = SAY(q, WAITS_FOR_NODE, name, operand_pod(q, undecided));
        reason->nearest =
            open.texts.count == 1 ? SAY(q, NODE_COMES_UP_IN, open) : SAY(q, NODE_MAY_BE_IN, open);
        return;
    }
    if (waiting != SOLVER_NONE) {
        reason->message = SAY(q, SELECTED_WAIT, name, selector);
        if (!reason_circle(q, &reason->nearest))
            reason->nearest = SAY(q, POD_FITS_NOWHERE, operand_pod(q, waiting));
    } else if (!tell_without_domain(q, reason)) {
        reason->message = selects_leaving(q) ? SAY(q, SELECTS_LEAVING, name, selector)
                          : q->run->asked    ? SAY(q, SELECTS_NONE_RUNNING, name, selector)
                                             : SAY(q, SELECTS_NONE, name, selector);
    }
}

/* ---- each kind ---- */

/* Why the pod cannot be in the domains that the group allows. */
static struct solver_operand where_not(const struct explanation *q, unsigned set)
{
    static const struct {
        unsigned reason;
        enum solver_says says;
    } wheres[] = {
        {SOLVER_REASON_VOLUME, SOLVER_SAYS_WHERE_VOLUMES_ARE_NOT},
        {SOLVER_REASON_REQUIREMENT, SOLVER_SAYS_WHERE_NOTHING_IS_TO_BE_HAD},
        {SOLVER_REASON_RESOURCES, SOLVER_SAYS_WHERE_NO_ROOM_IS},
    };
    enum solver_says says = SOLVER_SAYS_WHERE_NOTHING_IS_LEFT;
    if (set == 1u << SOLVER_REASON_TOPOLOGY)
        says = SOLVER_SAYS_WHERE_POOL_IS_NOT;
    for (size_t i = COUNT_OF(wheres); i-- > 0;)
        if ((set >> wheres[i].reason & 1) != 0)
            says = wheres[i].says;
    struct sayings where = {0};
    LIST_PUSH(q->run->arena, &where)->says = says;
    return operand_sayings(&where);
}

static void tell_hosts(struct explanation *q, struct solver_reason *reason)
{
    struct solver_operand name = operand_group(q, q->group);
    if (group_at(q, q->group)->kind != TOPOLOGY_POD_AFFINITY) {
        reason->message = SAY(q, NO_FURTHER_NODE, name);
        return;
    }
    if (q->run->groups[q->group].occupied == 0) {
        tell_nobody(q, reason);
        return;
    }
    reason->message = SAY(q, NEEDS_POD_THERE, name, operand_selector(q, q->group));
    reason->nearest = SAY_ONLY(NEW_NODE_HAS_NONE);
}

static void tell_anti_affinity(struct explanation *q, struct solver_reason *reason,
                               const struct matching_topology *matching, unsigned set)
{
    struct solver_operand name = operand_group(q, q->group), open;
    struct solver_operand free = operand_domains(q, matching);
    uint32_t awaited = undecided_pod(q, awaited_domains(q), &open);
    if (awaited != SOLVER_NONE) {
        reason->message = SAY(q, MADE_TO_WAIT, name, operand_pod(q, awaited));
        reason->nearest = SAY(q, NODE_MAY_BE_IN_OTHERS_WAIT, open);
        return;
    }
    reason->message = free.texts.count == 0 ? SAY(q, NONE_FREE, name)
                                            : SAY(q, LEAVES_ONLY, name, free, where_not(q, set));
}

/* A spread chooses one domain first, before other requirements count. */
static void tell_spread(struct explanation *q, struct solver_reason *reason,
                        const struct matching_topology *matching, unsigned set, bool reached)
{
    int32_t min_domains = group_at(q, q->group)->min_domains;
    struct solver_operand name = operand_group(q, q->group);
    struct solver_operand domains = operand_domains(q, matching);
    if (domains.texts.count == 0)
        reason->message = min_domains > 0 ? SAY(q, MIN_DOMAINS, name, operand_number(min_domains))
                                          : SAY(q, ALLOWS_NOTHING, name);
    else if (reached)
        reason->message = SAY(q, EMPTIEST_OF, name, domains);
    else
        reason->message = SAY(q, WOULD_NEED, name, domains, where_not(q, set));
}

static void tell_affinity(struct explanation *q, struct solver_reason *reason,
                          const struct matching_topology *matching, unsigned set)
{
    struct solver_operand name = operand_group(q, q->group);
    struct solver_operand domains = operand_domains(q, matching);
    if (q->run->groups[q->group].occupied == 0 && !matching->self)
        tell_nobody(q, reason);
    else if (domains.texts.count == 0)
        reason->message = SAY(q, JOINS_ELSEWHERE, name);
    else
        reason->message = SAY(q, WOULD_NEED, name, domains, where_not(q, set));
}

/* Several groups that together leave no domain. */
static void tell_together(struct explanation *q, struct solver_reason *reason)
{
    const struct relaxation_state *state = &q->run->relaxations[q->relaxation->number];
    struct sayings all = {0};
    for (size_t i = 0; i < state->matching_count; i++) {
        const struct matching_topology *matching = &state->matching[i];
        if (matching->domains == NULL)
            continue;
        uint32_t key = group_at(q, matching->group)->key;
        *LIST_PUSH(q->run->arena, &all) =
            SAY(q, GROUP_NEEDS, operand_group(q, matching->group),
                operand_name(key_text(q->problem, key)), operand_domains(q, matching));
    }
    reason->message = SAY(q, ALL, operand_sayings(&all));
    reason->nearest = SAY_ONLY(NOT_ALL_AT_ONCE);
}

void reason_of_topology(struct explanation *q, struct solver_reason *reason, unsigned set)
{
    const uint64_t *left = reason_left(q, SOLVER_REASON_TOPOLOGY, set);
    const struct topology_group *group = group_at(q, q->group);
    const struct matching_topology *matching = matching_of(q, q->group);
    if (group->also_count > 0) {
        reason->message = SAY_ONLY(NO_POD_OF_ALL);
        return;
    }
    if (group->hostname || matching == NULL) {
        tell_hosts(q, reason);
        return;
    }
    if (!has_domains(q, q->group)) {
        reason->message = SAY(q, NO_SUCH_TOPOLOGY, operand_name(key_text(q->problem, group->key)),
                              operand_group(q, q->group));
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
    struct sayings counts = list_counts(q, q->group);
    if (counts.count > 0 && reason->nearest.says == SOLVER_SAYS_NOTHING)
        reason->nearest = group->inverse ? SAY(q, PODS_THAT_HAVE_IT, operand_sayings(&counts))
                                         : SAY(q, MATCHING_PODS, operand_sayings(&counts));
}
