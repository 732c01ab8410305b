/* Bin packing, a strategy of --optimize: places the pods that no topology ties to others. A pod is
 * worth at least what its share of the cheapest suitable instance costs. The instance whose pods
 * are worth most per price is bought, and filled with the pods that take least of what is scarce on
 * it; then the next one. */
#include <math.h>
#include <string.h>

#include "solver/optimize.h"

struct waiting_shape {
    const struct shape *shape;
    const uint32_t *pods; /* in the order of the queue; the last `left` of them wait */
    uint32_t pod_count, left;
    double worth;                          /* of one pod */
    const struct node_requirements **sets; /* by pool of the tier; NULL: cannot be there */
};
/* An instance that can be bought: an option of a NodePool, at the price of one of its offerings. */
struct bin {
    uint32_t pool;
    size_t place; /* the pool's index among the pools of its weight */
    size_t option;
    int64_t price;
    double density; /* an upper bound of the worth of its pods per price */
};
struct packing {
    struct solver_run *run;
    const struct solver_problem *problem;
    struct waiting_shape *shapes; /* in the order of the queue */
    size_t shape_count;
    const uint32_t *pools; /* of one weight */
    size_t pool_count;
    LIST(struct bin) bins;
    uint32_t *filled; /* by shape: how many */
    bool *allowed;    /* by shape: whether the bin that is being filled may hold it */
    int64_t *room;    /* what is left on that instance */
};

/* ---- the pods that wait ---- */

static bool is_loose(const struct solver_problem *problem, const struct shape *shape)
{
    const struct label_class *class = &problem->label_classes.items[shape->label_class];
    return shape->pending && !shape->needs_devices && shape->relaxation_count == 1 &&
           shape->relaxations[0].group_count == 0 && class->kept_away_by.count == 0 &&
           shape->port_count == 0 && shape->volume_alternative_count == 0;
}

static void collect(struct packing *packing)
{
    const struct solver_problem *problem = packing->problem;
    struct solver_run *run = packing->run;
    size_t shape_count = problem->shapes.count;
    uint32_t *counts = ARENA_ARRAY(run->arena, shape_count, uint32_t);
    struct waiting_shape **by_shape = ARENA_ARRAY(run->arena, shape_count, struct waiting_shape *);
    packing->shapes = ARENA_ARRAY(run->arena, shape_count, struct waiting_shape);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < problem->queue_count; i++) {
            uint32_t number = problem->queue[i];
            const struct pod *pod = &problem->pods.items[number];
            if (!run->postponed[pod->shape] || pod->mount_count > 0 ||
                run->placements[number].kind != SOLVER_UNSCHEDULABLE)
                continue;
            if (pass == 0) {
                counts[pod->shape]++;
                continue;
            }
            struct waiting_shape **waiting = &by_shape[pod->shape];
            if (*waiting == NULL) {
                *waiting = &packing->shapes[packing->shape_count++];
                (*waiting)->shape = &problem->shapes.items[pod->shape];
                (*waiting)->pods = ARENA_ARRAY(run->arena, counts[pod->shape], uint32_t);
            }
            ((uint32_t *)(uintptr_t)(*waiting)->pods)[(*waiting)->pod_count++] = number;
            (*waiting)->left++;
        }
}

static uint32_t next_pod(const struct waiting_shape *waiting)
{
    return waiting->pods[waiting->pod_count - waiting->left];
}

/* ---- the bins, and what pods are worth ---- */

static const struct node_requirements *set_for(const struct packing *packing, uint32_t pool_number,
                                               const struct shape *shape)
{
    const struct pool *pool = &packing->problem->pools.items[pool_number];
    const struct relaxation *relaxation = &shape->relaxations[0];
    const struct node_requirements *empty = packing->run->empty_node_claims[pool_number].set;
    if (empty->has_min_values || !hostname_allows_new(relaxation->full.hostname) ||
        !taints_tolerated(pool->taints, &shape->tolerations, false, NULL))
        return NULL;
    return node_requirements_add(packing->run, empty, &relaxation->full, relaxation->number);
}

static int64_t room_of(const struct packing *packing, uint32_t pool, size_t option, size_t resource)
{
    return packing->problem->pools.items[pool]
        .room[resource * packing->problem->options.count + option];
}

/* The largest share of an instance's resources that a pod takes; above 1: it does not fit. */
static double largest_part(const struct packing *packing, uint32_t pool, size_t option,
                           const struct shape *shape)
{
    double largest = 0;
    for (size_t r = 0; r < packing->problem->resource_count; r++) {
        int64_t room = room_of(packing, pool, option, r);
        if (shape->requests[r] > room)
            return 2;
        double part = room > 0 ? (double)shape->requests[r] / (double)room : 0;
        largest = part > largest ? part : largest;
    }
    return largest;
}

static void add_bin(struct packing *packing, size_t place, size_t option, int64_t price)
{
    for (size_t i = packing->bins.count; i > 0; i--) {
        const struct bin *last = &packing->bins.items[i - 1];
        if (last->place != place || last->option != option)
            break;
        if (last->price == price)
            return;
    }
    *LIST_PUSH(packing->run->arena, &packing->bins) =
        (struct bin){packing->pools[place], place, option, price, HUGE_VAL};
}

static void list_bins(struct packing *packing)
{
    packing->bins.count = 0;
    for (size_t p = 0; p < packing->pool_count; p++) {
        const uint64_t *limited = pool_limit_options(packing->run, packing->pools[p]);
        if (limited == NULL)
            continue;
        for (BITS_EACH(option, limited, packing->problem->option_words))
            for (size_t i = 0; i < packing->shape_count; i++) {
                struct waiting_shape *waiting = &packing->shapes[i];
                const struct node_requirements *set = waiting->sets[p];
                if (waiting->left == 0 || set == NULL ||
                    !bits_has(node_requirements_options(packing->run, set), option))
                    continue;
                int64_t price = option_price(packing->run, set, option);
                double part = largest_part(packing, packing->pools[p], option, waiting->shape);
                if (price == INT64_MAX || price == 0 || part > 1)
                    continue;
                if (waiting->worth <= 0 || (double)price * part < waiting->worth)
                    waiting->worth = (double)price * part;
                add_bin(packing, p, option, price);
            }
    }
}

/* ---- filling a bin ---- */

#define FILL_PART                                                                  \
    0.02 /* of an instance: so much of a shape is added before shapes are compared \
          */

/* How many of a shape fit, at most limit. */
static uint32_t how_many(const struct packing *packing, const struct shape *shape, uint32_t limit)
{
    int64_t most = limit;
    for (size_t r = 0; r < packing->problem->resource_count && most > 0; r++)
        if (shape->requests[r] > 0 && packing->room[r] / shape->requests[r] < most)
            most = packing->room[r] / shape->requests[r];
    return most > 0 ? (uint32_t)most : 0;
}

/* A pod's worth per share of the room that is left on the instance: each pod is one of those that
 * it holds. */
static double prefer(const struct packing *packing, const struct waiting_shape *waiting)
{
    double scarce = 0;
    for (size_t r = 0; r < packing->problem->resource_count; r++)
        if (waiting->shape->requests[r] > 0)
            scarce += (double)waiting->shape->requests[r] / (double)packing->room[r];
    return waiting->worth / scarce;
}

/* The shape to add next, by its place; SIZE_MAX: nothing fits any more. */
static size_t choose_shape(const struct packing *packing)
{
    size_t best = SIZE_MAX;
    double best_score = -1;
    for (size_t i = 0; i < packing->shape_count; i++) {
        const struct waiting_shape *waiting = &packing->shapes[i];
        if (!packing->allowed[i] || waiting->left == packing->filled[i] ||
            how_many(packing, waiting->shape, 1) == 0)
            continue;
        double score = prefer(packing, waiting);
        if (score > best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

/* Fills an instance with waiting pods; filled has how many of each shape. Returns their worth. */
static double fill(struct packing *packing, const struct bin *bin)
{
    for (size_t r = 0; r < packing->problem->resource_count; r++)
        packing->room[r] = room_of(packing, bin->pool, bin->option, r);
    for (size_t i = 0; i < packing->shape_count; i++) {
        const struct node_requirements *set = packing->shapes[i].sets[bin->place];
        packing->allowed[i] = set != NULL && packing->shapes[i].left > 0 &&
                              bits_has(node_requirements_options(packing->run, set), bin->option) &&
                              option_price(packing->run, set, bin->option) <= bin->price;
        packing->filled[i] = 0;
    }
    double worth = 0;
    for (size_t next; (next = choose_shape(packing)) != SIZE_MAX;) {
        const struct waiting_shape *waiting = &packing->shapes[next];
        double part = largest_part(packing, bin->pool, bin->option, waiting->shape);
        double at_once = part < FILL_PART ? FILL_PART / part : 1;
        uint32_t limit = waiting->left - packing->filled[next];
        uint32_t count =
            how_many(packing, waiting->shape, at_once < (double)limit ? (uint32_t)at_once : limit);
        for (size_t r = 0; r < packing->problem->resource_count; r++)
            packing->room[r] -= waiting->shape->requests[r] * (int64_t)count;
        packing->filled[next] += count;
        worth += waiting->worth * count;
    }
    return worth;
}

/* ---- buying ---- */

static bool put(struct packing *packing, struct waiting_shape *waiting, uint32_t claim_number)
{
    struct solver_run *run = packing->run;
    uint32_t pod = next_pod(waiting);
    struct candidate candidate;
    const struct node_claim *claim = &run->node_claims.items[claim_number];
    if (node_claim_can_add(run, claim, (uint32_t)packing->problem->nodes.count + claim_number, pod,
                           &waiting->shape->relaxations[0], false, &candidate) != CAN_ADD)
        return false;
    node_claim_add(run, pod, claim_number, &candidate);
    waiting->left--;
    return true;
}

static bool open_for(struct packing *packing, struct waiting_shape *waiting, const struct bin *bin)
{
    struct solver_run *run = packing->run;
    struct node_claim empty = run->empty_node_claims[bin->pool];
    empty.options = ARENA_ARRAY(run->arena, packing->problem->option_words, uint64_t);
    bits_add(empty.options, bin->option);
    struct candidate candidate;
    uint32_t pod = next_pod(waiting);
    uint32_t host = (uint32_t)(packing->problem->nodes.count + run->node_claims.count);
    if (node_claim_can_add(run, &empty, host, pod, &waiting->shape->relaxations[0], false,
                           &candidate) != CAN_ADD)
        return false;
    node_claim_open(run, bin->pool, pod, &candidate);
    waiting->left--;
    return true;
}

/* False when nothing could be put on it. */
static bool buy(struct packing *packing, const struct bin *bin)
{
    uint32_t claim = (uint32_t)packing->run->node_claims.count;
    bool bought = false;
    for (size_t i = 0; i < packing->shape_count; i++) {
        struct waiting_shape *waiting = &packing->shapes[i];
        if (packing->filled[i] > 0)
            (void)topology_match(packing->run, waiting->shape, &waiting->shape->relaxations[0],
                                 NULL);
        bool fits = true;
        for (uint32_t j = 0; j < packing->filled[i] && fits; j++) {
            fits = bought ? put(packing, waiting, claim) : open_for(packing, waiting, bin);
            bought |= fits;
        }
    }
    return bought;
}

static struct bin *densest(const struct packing *packing)
{
    struct bin *best = NULL;
    for (size_t i = 0; i < packing->bins.count; i++)
        if (best == NULL || packing->bins.items[i].density > best->density)
            best = &packing->bins.items[i];
    return best;
}

/* Finds the bin with the highest density. The density of a bin only falls as pods are placed, so
 * the old one is an upper bound: the bin with the highest bound is filled anew until it stays the
 * highest. NULL: nothing can be bought for the pods that wait. */
static struct bin *fill_densest(struct packing *packing)
{
    for (struct bin *best; (best = densest(packing)) != NULL && best->density > 0;) {
        const uint64_t *limited = pool_limit_options(packing->run, best->pool);
        bool allowed = limited != NULL && bits_has(limited, best->option);
        best->density = allowed ? fill(packing, best) / (double)best->price : 0;
        if (best->density > 0 && densest(packing) == best)
            return best;
    }
    return NULL;
}

#define SETTLING_ROUNDS 30
#define SETTLED_DENSITY 1.005

/* Lowers the worth of pods that fit well together until no instance holds pods worth more than its
 * price. */
static void settle_worths(struct packing *packing)
{
    for (int round = 0; round < SETTLING_ROUNDS; round++) {
        const struct bin *best = fill_densest(packing);
        if (best == NULL || best->density < SETTLED_DENSITY)
            return;
        for (size_t i = 0; i < packing->shape_count; i++)
            if (packing->filled[i] > 0)
                packing->shapes[i].worth /= best->density;
    }
}

/* Buys the bin with the highest density, again and again. */
static void buy_all(struct packing *packing)
{
    for (struct bin *best; (best = fill_densest(packing)) != NULL;)
        if (!buy(packing, best))
            best->density = 0;
}

/* ---- pack_bins() ---- */

/* Places pods of a shape on Nodes and NodeClaims that have room, at no price. */
static void use_what_is_there(struct packing *packing, struct waiting_shape *waiting)
{
    struct solver_run *run = packing->run;
    const struct relaxation *relaxation = &waiting->shape->relaxations[0];
    while (waiting->left > 0 && add_to_existing_node(run, next_pod(waiting), relaxation))
        waiting->left--;
    (void)topology_match(run, waiting->shape, relaxation, NULL); /* no group matters to it */
    while (waiting->left > 0 && add_to_inflight_node(run, next_pod(waiting), relaxation))
        waiting->left--;
}

/* Limits each NodeClaim to its cheapest option, since a larger one would cost more. */
static void keep_to_cheapest(struct solver_run *run)
{
    for (size_t i = 0; i < run->node_claims.count; i++) {
        struct node_claim *claim = &run->node_claims.items[i];
        size_t option = 0;
        if (node_claim_cheapest(run, claim->set, claim->options, &option) == NULL)
            continue;
        memset(claim->options, 0, run->problem->option_words * sizeof *claim->options);
        bits_add(claim->options, option);
        node_claim_measure(run, claim);
    }
}

/* Gives each NodeClaim all options that hold its pods: any of them may be launched. */
static void widen(struct solver_run *run)
{
    const struct solver_problem *problem = run->problem;
    for (size_t i = 0; i < run->node_claims.count; i++) {
        struct node_claim *claim = &run->node_claims.items[i];
        const struct pool *pool = &problem->pools.items[claim->pool];
        if (pool->has_limits || claim->mounts.count > 0 || claim->ports.count > 0)
            continue;
        const uint64_t *suitable = node_requirements_options(run, claim->set);
        for (BITS_EACH(option, pool->options, problem->option_words)) {
            bool fits = bits_has(suitable, option);
            for (size_t r = 0; r < problem->resource_count && fits; r++)
                fits = claim->requests[r] <= pool->room[r * problem->options.count + option];
            if (fits)
                bits_add(claim->options, option);
        }
        node_claim_measure(run, claim);
    }
}

static void buy_tier(struct packing *packing, size_t first, size_t end)
{
    packing->pools = &packing->problem->pool_order[first];
    packing->pool_count = end - first;
    for (size_t i = 0; i < packing->shape_count; i++) {
        struct waiting_shape *waiting = &packing->shapes[i];
        waiting->worth = 0;
        waiting->sets =
            ARENA_ARRAY(packing->run->arena, packing->pool_count, const struct node_requirements *);
        for (size_t p = 0; p < packing->pool_count; p++)
            waiting->sets[p] = set_for(packing, packing->pools[p], waiting->shape);
        use_what_is_there(packing, waiting);
    }
    list_bins(packing);
    settle_worths(packing);
    buy_all(packing);
}

void pack_bins(struct solver_run *run)
{
    const struct solver_problem *problem = run->problem;
    size_t shape_count = problem->shapes.count;
    run->postponed = ARENA_ARRAY(run->arena, shape_count, bool);
    for (size_t i = 0; i < shape_count; i++)
        run->postponed[i] = is_loose(problem, &problem->shapes.items[i]);
    place_queue(run);
    keep_to_cheapest(run);
    struct packing packing = {
        .run = run,
        .problem = problem,
        .filled = ARENA_ARRAY(run->arena, shape_count, uint32_t),
        .allowed = ARENA_ARRAY(run->arena, shape_count, bool),
        .room = ARENA_ARRAY(run->arena, problem->resource_count, int64_t),
    };
    collect(&packing);
    for (size_t first = 0, end = 0; first < problem->pools.count; first = end) {
        uint32_t weight = problem->pools.items[problem->pool_order[first]].weight;
        while (end < problem->pools.count &&
               problem->pools.items[problem->pool_order[end]].weight == weight)
            end++;
        buy_tier(&packing, first, end);
    }
    widen(run);
    run->postponed = NULL;
}
