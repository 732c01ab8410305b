/* Answers everywhere one pod could be placed. */
#include "solver/explain.h"
#include "solver/query.h"

struct search {
    struct query *q;
    const struct solver_node_claim **claims;
    bool *takes;
    uint64_t *pools, *nodes; /* the same as bits */
    struct query_tried tried;
};

static void search_nodes(struct search *search, const struct relaxation *relaxation)
{
    struct query *q = search->q;
    query_choose_nodes(q, relaxation);
    for (BITS_EACH(node, q->nodes, bits_words(q->view->nodes.count)))
        if (!search->takes[node] && query_node_takes(q, relaxation, (uint32_t)node)) {
            search->takes[node] = true;
            bits_add(search->nodes, node);
        }
}

static void search_pools(struct search *search, const struct relaxation *relaxation)
{
    struct query *q = search->q;
    if (!query_choose_types(q, relaxation))
        return;
    for (uint32_t pool = 0; pool < q->view->pools.count; pool++) {
        struct node_claim claim;
        struct candidate candidate;
        if (search->claims[pool] == NULL && query_empty_node_claim(q, pool, &claim) &&
            query_try_node_claim(q, &claim, relaxation, &candidate)) {
            search->claims[pool] = query_buy(q, &claim, &candidate);
            bits_add(search->pools, pool);
        }
    }
}

/* A preference that one pool or Node meets keeps the pod from no other. */
static void search_all(struct search *search)
{
    struct query *q = search->q;
    struct query_relaxations relaxations = {0};
    struct relaxation relaxation;
    while (query_next_relaxation(q, &relaxations, &relaxation)) {
        bool may_be = query_take_relaxation(q, &relaxation);
        *LIST_PUSH(q->run->arena, &search->tried) = relaxation;
        if (!may_be)
            continue;
        search_nodes(search, &relaxation);
        if (!bits_any(search->nodes, bits_words(q->view->nodes.count)) &&
            held_by_port(q->run, 0, &relaxation) != NULL)
            return;
        search_pools(search, &relaxation);
    }
}

bool solver_query_outlook(struct solver_run *run, const struct solver_question *question,
                          struct arena *arena, struct solver_outlook *outlook, struct error *error)
{
    size_t pools = run->problem->pools.count, nodes = run->problem->nodes.count;
    struct query q;
    struct search search = {
        .q = &q,
        .claims = ARENA_ARRAY(arena, pools, const struct solver_node_claim *),
        .takes = ARENA_ARRAY(arena, nodes, bool),
        .pools = ARENA_ARRAY(arena, bits_words(pools), uint64_t),
        .nodes = ARENA_ARRAY(arena, bits_words(nodes), uint64_t),
    };
    bool good = query_begin(&q, run, question, arena, error);
    *outlook = (struct solver_outlook){.claims = search.claims, .nodes = search.takes};
    if (good && q.asks_for_unknown) {
        outlook->reasons = (struct solver_reasons){&query_nothing_has_it, 1};
    } else if (good) {
        if (!q.shape->needs_devices)
            search_all(&search);
        const struct fitting fitting = {search.pools, search.nodes};
        outlook->reasons = query_explain(&q, &search.tried, &fitting);
    }
    query_end(run);
    return good;
}
