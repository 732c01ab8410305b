/* The order in which open NodeClaims are tried: the emptiest first, as in Karpenter, and equally
 * full ones as Go's sort leaves them (go_sort.c). To sort very many NodeClaims for each pod takes
 * too long. Above NODE_CLAIM_ORDER_MAX equally full ones come in the order that sort mostly gives:
 * the one that got its last pod latest is first, and those with one pod are in the order they were
 * opened. */
#include "solver/run.h"

static uint64_t matching_claims(const struct solver_run *run, const struct relaxation_state *state,
                                size_t word)
{
    const struct solver_problem *problem = run->problem;
    uint64_t claims = UINT64_MAX;
    for (size_t i = 0; i < state->matching_count && claims != 0; i++) {
        const struct matching_topology *matching = &state->matching[i];
        const struct topology_group *group = &problem->groups.items[matching->group];
        if (group->hostname) {
            if (group->kind == TOPOLOGY_POD_AFFINITY && !matching->anywhere)
                claims &= wide_bits_word(&run->groups[matching->group].claims, word);
            continue;
        }
        uint32_t index = problem->topology_index[group->key];
        uint64_t in_domains = wide_bits_word(&run->claims_open[index], word);
        for (BITS_EACH(value, matching->domains, matching->word_count))
            in_domains |= wide_bits_word(&run->claims_of[index][value], word);
        claims &= in_domains;
    }
    return claims;
}

static struct node_claim_rank *rank_of(struct solver_run *run, uint32_t pod_count)
{
    while (run->ranks.count <= pod_count)
        (void)LIST_PUSH(run->arena, &run->ranks);
    return &run->ranks.items[pod_count];
}

/* Drops NodeClaims that have left the rank, once they are the majority. */
static void tidy(struct node_claim_rank *rank)
{
    if (rank->arrivals.count < 2 * rank->count + BITS_WORD)
        return;
    size_t kept = 0;
    for (size_t i = 0; i < rank->arrivals.count; i++)
        if (bits_has(rank->claims.words, rank->arrivals.items[i]))
            rank->arrivals.items[kept++] = rank->arrivals.items[i];
    rank->arrivals.count = kept;
}

/* Fills the ranks from the sorted order when that becomes too long. */
static void leave_to_ranks(struct solver_run *run)
{
    for (size_t i = 0; i < run->ranks.count; i++)
        run->ranks.items[i].arrivals.count = 0;
    for (size_t i = 0; i < run->order.count; i++) {
        uint32_t from_front = run->order.items[i];
        uint32_t from_back = run->order.items[run->order.count - 1 - i];
        if (run->node_claims.items[from_front].pod_count == 1)
            *LIST_PUSH(run->arena, &rank_of(run, 1)->arrivals) = from_front;
        uint32_t pod_count = run->node_claims.items[from_back].pod_count;
        if (pod_count > 1)
            *LIST_PUSH(run->arena, &rank_of(run, pod_count)->arrivals) = from_back;
    }
}

/* Updates Karpenter's order for a NodeClaim that has one pod more. */
static void enter_order(struct solver_run *run, uint32_t number, uint32_t pod_count)
{
    run->order_fresh = false;
    if (pod_count > 1 || number > NODE_CLAIM_ORDER_MAX)
        return;
    if (number == NODE_CLAIM_ORDER_MAX)
        leave_to_ranks(run);
    else
        *LIST_PUSH(run->arena, &run->order) = number;
}

void node_claim_enter(struct solver_run *run, uint32_t number)
{
    uint32_t pod_count = run->node_claims.items[number].pod_count;
    enter_order(run, number, pod_count);
    struct node_claim_rank *rank = rank_of(run, pod_count);
    wide_bits_add(run->arena, &rank->claims, number);
    if (rank->count == 0 || number / BITS_WORD < rank->first_word)
        rank->first_word = number / BITS_WORD;
    *LIST_PUSH(run->arena, &rank->arrivals) = number;
    rank->count++;
    if (pod_count <= 1)
        return;
    struct node_claim_rank *before = rank_of(run, pod_count - 1);
    wide_bits_remove(&before->claims, number);
    before->count--;
    tidy(before);
}

/* Whether a NodeClaim may still take the pod. */
static bool may_join(const struct solver_run *run, const struct relaxation_state *state,
                     uint32_t claim)
{
    size_t word = claim / BITS_WORD;
    if (word < state->first_word)
        return false;
    uint64_t bit = (uint64_t)1 << (claim % BITS_WORD);
    return (wide_bits_word(&state->turned_away_claims, word) & bit) == 0 &&
           (matching_claims(run, state, word) & bit) != 0;
}

static bool any_may_join(const struct solver_run *run, const struct relaxation_state *state,
                         struct node_claim_rank *rank)
{
    if (rank->count == 0)
        return false;
    while (rank->claims.words[rank->first_word] == 0)
        rank->first_word++;
    size_t first = rank->first_word > state->first_word ? rank->first_word : state->first_word;
    for (size_t w = first; w < rank->claims.word_count; w++) {
        uint64_t left = rank->claims.words[w] & ~wide_bits_word(&state->turned_away_claims, w);
        if (left != 0 && (left & matching_claims(run, state, w)) != 0)
            return true;
    }
    return false;
}

static bool each_ordered(struct solver_run *run, const struct relaxation_state *state,
                         bool (*visit)(struct solver_run *run, uint32_t claim, void *argument),
                         void *argument)
{
    uint64_t may[NODE_CLAIM_ORDER_MAX / BITS_WORD] = {0};
    bool any = false;
    for (size_t w = 0; w <= (run->node_claims.count - 1) / BITS_WORD; w++) {
        may[w] = matching_claims(run, state, w) & ~wide_bits_word(&state->turned_away_claims, w);
        any |= may[w] != 0;
    }
    if (!run->order_fresh)
        node_claims_sort(run->node_claims.items, run->order.items, run->order.count);
    run->order_fresh = true;
    for (size_t i = 0; i < run->order.count && any; i++)
        if (bits_has(may, run->order.items[i]) && visit(run, run->order.items[i], argument))
            return true;
    return false;
}

bool each_node_claim(struct solver_run *run, const struct relaxation *relaxation,
                     bool (*visit)(struct solver_run *run, uint32_t claim, void *argument),
                     void *argument)
{
    const struct relaxation_state *state = &run->relaxations[relaxation->number];
    if (run->node_claims.count == 0)
        return false;
    if (!run->strategy.best_fit && run->node_claims.count <= NODE_CLAIM_ORDER_MAX)
        return each_ordered(run, state, visit, argument);
    for (size_t i = 1; i < run->ranks.count; i++) {
        size_t pod_count = run->strategy.best_fit ? run->ranks.count - i : i;
        struct node_claim_rank *rank = &run->ranks.items[pod_count];
        if (!any_may_join(run, state, rank))
            continue;
        size_t count = rank->arrivals.count;
        for (size_t j = 0; j < count; j++) {
            uint32_t claim = rank->arrivals.items[pod_count == 1 ? j : count - 1 - j];
            if (bits_has(rank->claims.words, claim) && may_join(run, state, claim) &&
                visit(run, claim, argument))
                return true;
        }
    }
    return false;
}
