#include <string.h>

#include "solver/rework.h"

/* ---- where an affinity group may begin (docs/reference/karpenter.md 10) ---- */

static bool fits_somewhere(struct solver_run *run, const struct pool *pool,
                           const struct shape *shape, const struct node_requirements *set)
{
    const uint64_t *options = node_requirements_options(run, set);
    for (size_t w = 0; w < run->problem->option_words; w++)
        run->scratch_options[w] = options[w] & pool->options[w];
    return options_with_room(run->problem, pool, shape->requests, run->scratch_options,
                             run->scratch_fits);
}

/* Whether a pool could launch something for the shape in a domain, its volumes with it. */
static bool pool_reaches(struct solver_run *run, uint32_t number, const struct shape *shape,
                         const struct relaxation *relaxation, uint32_t key, const uint64_t *domain,
                         size_t word_count)
{
    const struct solver_problem *problem = run->problem;
    const struct pool *pool = &problem->pools.items[number];
    if (!taints_tolerated(pool->taints, &shape->tolerations, relaxation->prefer, NULL) ||
        !hostname_allows_new(relaxation->full.hostname))
        return false;
    const struct node_requirements *base = node_requirements_add(
        run, run->empty_node_claims[number].set, &relaxation->full, relaxation->number);
    size_t count = shape->volume_alternative_count;
    for (size_t i = 0; base != NULL && i < (count > 0 ? count : 1); i++) {
        const struct node_requirements *set = base;
        if (count > 0)
            set = node_requirements_add(run, set, &shape->volumes[i],
                                        problem->relaxation_count + shape->first_volume_term +
                                            (uint32_t)i);
        if (set != NULL)
            set = node_requirements_narrow(run, set, key, domain, word_count);
        if (set != NULL && fits_somewhere(run, pool, shape, set))
            return true;
    }
    return false;
}

static bool node_holds(const struct solver_run *run, uint32_t number, const struct shape *shape,
                       const struct relaxation *relaxation)
{
    const struct solver_problem *problem = run->problem;
    const struct state_node *node = &problem->nodes.items[number];
    return node_has_room(run, number, shape) && node_suits_volumes(problem, node, shape) &&
           taints_tolerated(node->taints, &shape->tolerations, relaxation->prefer, NULL) &&
           hostname_allows(problem, relaxation->full.hostname, node->hostname) &&
           compatible(problem, &node->labels, &relaxation->full.requirements, true, NULL);
}

static bool reaches(struct solver_run *run, const struct shape *shape, uint32_t key, size_t value,
                    size_t word_count)
{
    const struct solver_problem *problem = run->problem;
    const struct relaxation *relaxation = &shape->relaxations[shape->relaxation_count - 1];
    uint64_t *domain = ARENA_ARRAY(run->arena, word_count, uint64_t);
    bits_add(domain, value);
    for (uint32_t i = 0; i < problem->pools.count; i++)
        if (pool_reaches(run, i, shape, relaxation, key, domain, word_count))
            return true;
    for (uint32_t i = 0; i < problem->nodes.count; i++)
        if (state_node_value(&problem->nodes.items[i], key) == value &&
            node_holds(run, i, shape, relaxation))
            return true;
    return false;
}

static bool is_member(const struct solver_problem *problem, const struct shape *shape,
                      uint32_t group)
{
    if (shape->relaxation_count == 0)
        return false;
    const struct relaxation *last = &shape->relaxations[shape->relaxation_count - 1];
    const struct label_class *class = &problem->label_classes.items[shape->label_class];
    bool owns = false, selected = false;
    for (size_t i = 0; i < last->group_count; i++)
        owns |= last->groups[i] == group;
    for (size_t i = 0; i < class->counted_by.count; i++)
        selected |= class->counted_by.items[i] == group;
    return owns && selected;
}

/* The domains every member of an affinity group can be in; NULL when that says nothing. */
static uint64_t *common_domains(struct solver_run *run, uint32_t number)
{
    const struct solver_problem *problem = run->problem;
    const struct topology_group *group = &problem->groups.items[number];
    size_t word_count = bits_words(group->count_size) + 1;
    uint64_t *domains = ARENA_ARRAY(run->arena, word_count, uint64_t);
    bool any_member = false;
    for (size_t v = 0; v < group->count_size; v++)
        if (group->counts[v] >= 0)
            bits_add(domains, v);
    for (size_t i = 0; i < problem->shapes.count; i++) {
        const struct shape *shape = &problem->shapes.items[i];
        if (!shape->pending || !is_member(problem, shape, number))
            continue;
        any_member = true;
        for (BITS_EACH(value, domains, word_count))
            if (!reaches(run, shape, group->key, value, word_count))
                bits_remove(domains, value);
    }
    return any_member && bits_any(domains, word_count) ? domains : NULL;
}

void joint_zones_make(struct solver_run *run)
{
    const struct solver_problem *problem = run->problem;
    run->start_domains = ARENA_ARRAY(run->arena, problem->groups.count, uint64_t *);
    for (uint32_t i = 0; i < problem->groups.count; i++) {
        const struct topology_group *group = &problem->groups.items[i];
        if (group->kind == TOPOLOGY_POD_AFFINITY && !group->hostname)
            run->start_domains[i] = common_domains(run, i);
    }
}

/* ---- strategies ---- */

struct score {
    size_t unschedulable, unpriced;
    int64_t cost_usd_micro;
    size_t claims;
    int64_t left_cpu_milli; /* asked by the pods that are unschedulable */
};

static struct score score_of(const struct solver_run *run)
{
    const struct solver_problem *problem = run->problem;
    const struct solver_plan *plan = &run->plan;
    struct score score = {.unschedulable = plan->unschedulable_count, .claims = plan->claim_count};
    for (size_t i = 0; i < problem->queue_count && score.unschedulable > 0; i++) {
        uint32_t pod = problem->queue[i];
        const struct shape *shape = &problem->shapes.items[problem->pods.items[pod].shape];
        if (run->places[pod].kind == SOLVER_UNSCHEDULABLE)
            score.left_cpu_milli = add_capped(score.left_cpu_milli, shape->requests[SOLVER_CPU]);
    }
    for (size_t i = 0; i < plan->claim_count; i++) {
        if (plan->claims[i].price_usd_micro < 0)
            score.unpriced++;
        else
            score.cost_usd_micro =
                add_capped(score.cost_usd_micro, plan->claims[i].price_usd_micro);
    }
    return score;
}

static bool is_better(struct score a, struct score b)
{
    if (a.unschedulable != b.unschedulable)
        return a.unschedulable < b.unschedulable;
    if (a.unpriced != b.unpriced)
        return a.unpriced < b.unpriced;
    if (a.cost_usd_micro != b.cost_usd_micro)
        return a.cost_usd_micro < b.cost_usd_micro;
    return a.claims < b.claims;
}

static struct solver_run *solve_by(const struct solver_problem *problem, struct strategy strategy,
                                   struct arena *arena)
{
    struct solver_run *run = run_create(problem, strategy, arena);
    if (strategy.old != NULL)
        place_as_before(run, strategy.old, strategy.lots);
    if (strategy.cheapest && problem->reservations.count == 0)
        place_densely(run); /* it chooses types without a look at what reservations are left */
    place_queue(run);
    plan_finish(run);
    return run;
}

/* More tries in which ties between domains, and between pods of one size, are drawn: Karpenter
 * draws them, too, and its luck should not beat us. A small problem is worth many. */
#define DRAWS_MIN 4
#define DRAWS_MAX 96
#define DRAWN_EFFORT 10000 /* over all draws: pods, and options that take time and memory, too */
#define ROWS_AS_A_POD 4
/* To weigh growth takes many tries a pod. */
#define GROWTH_EFFORT_MAX 3000
#define DRAWN_GROWTH_EFFORT_MAX 600
#define TRIAL_BUDGET_BYTES ((size_t)1 << 30)
#define STRATEGIES_MAX (9 + 3 * DRAWS_MAX)

static size_t effort_of(const struct solver_problem *problem)
{
    return 1 + problem->queue_count + problem->options.count / ROWS_AS_A_POD;
}

static size_t list_strategies(const struct solver_problem *problem, struct strategy *strategies)
{
    const struct solver_optimize *wanted = &problem->settings.optimize;
    const struct strategy as_karpenter = {.sound = true};
    const struct strategy all = {
        .joint_zones = wanted->joint_zones,
        .spread_in_one = wanted->spread_in_one,
        .exact_limits = wanted->exact_limits,
        .sound = true,
        .look_ahead = true,
    };
    size_t count = 0;
    strategies[count++] = as_karpenter;
    for (int tight = 0; tight <= (wanted->joint_zones ? 1 : 0); tight++)
        for (int cheap = 0; cheap <= (wanted->cheapest ? 1 : 0); cheap++)
            for (int fit = 0; fit <= (wanted->best_fit && tight == 0 ? 1 : 0); fit++) {
                struct strategy strategy = all;
                strategy.tight_first = tight == 1;
                strategy.cheapest = cheap == 1;
                strategy.best_fit = fit == 1;
                strategies[count++] = strategy;
            }
    size_t effort = effort_of(problem);
    struct strategy by_growth = all;
    by_growth.least_growth = true;
    for (int tight = 0; tight <= (wanted->joint_zones ? 1 : 0); tight++)
        if (wanted->cheapest && effort <= GROWTH_EFFORT_MAX) {
            strategies[count] = by_growth;
            strategies[count++].tight_first = tight == 1;
        }
    size_t draws = DRAWN_EFFORT / effort;
    draws = draws < DRAWS_MIN ? DRAWS_MIN : draws > DRAWS_MAX ? DRAWS_MAX : draws;
    const struct strategy *drawn[] = {&as_karpenter, &all, &by_growth};
    size_t kinds = effort <= DRAWN_GROWTH_EFFORT_MAX ? 3 : 2;
    for (uint64_t seed = 1; seed <= draws && wanted->cheapest; seed++)
        for (size_t i = 0; i < kinds; i++) {
            strategies[count] = *drawn[i];
            strategies[count++].lots = seed;
        }
    return count;
}

struct trial {
    const struct solver_problem *problem;
    struct strategy strategy;
    struct arena *arena;
    struct score score;
    bool cut_short; /* patience was over, before it or within */
};

static int ask_patience(void *patience_pointer)
{
    const struct solver_patience *patience = patience_pointer;
    return patience->is_over(patience->context) ? 1 : 0;
}

/* Runs body on the trial's arena, which then is empty. False when it came to no end: patience or
 * memory was over. */
static bool attempt(struct trial *trial, void (*body)(void *), void *argument)
{
    struct solver_patience patience = trial->problem->settings.patience;
    const struct arena_watch watch = {ask_patience, &patience};
    if (patience.is_over != NULL) {
        trial->cut_short = patience.is_over(patience.context);
        if (trial->cut_short)
            return false;
        arena_watch(trial->arena, &watch);
    }
    struct error error;
    int reason;
    bool done = arena_guard(trial->arena, body, argument, &error);
    trial->cut_short = !done && arena_ended(trial->arena, &reason) == ARENA_STOPPED;
    arena_reset(trial->arena);
    return done;
}

static void try_strategy(void *argument)
{
    struct trial *trial = argument;
    trial->score = score_of(solve_by(trial->problem, trial->strategy, trial->arena));
}

/* The place of the one whose plan is best, the first of equals. Each is tried in memory of its own,
 * which goes before the next: all plans together would take hundreds of megabytes. One there is no
 * memory for does not count. */
static size_t best_strategy(const struct solver_problem *problem, const struct strategy *strategies,
                            size_t count, bool *cut_short)
{
    struct trial trial = {.problem = problem, .arena = arena_create(TRIAL_BUDGET_BYTES)};
    struct score best_score = {.unschedulable = SIZE_MAX};
    size_t best = 0;
    for (size_t i = 0; i < count && trial.arena != NULL && !trial.cut_short; i++) {
        trial.strategy = strategies[i];
        if (attempt(&trial, try_strategy, &trial) && is_better(trial.score, best_score)) {
            best = i;
            best_score = trial.score;
        }
    }
    arena_destroy(trial.arena);
    *cut_short = trial.cut_short;
    return best;
}

/* ---- a part of the best plan made anew, again and again ---- */

#define REWORKS_MIN 4
#define REWORKS_MAX 400
#define REWORK_EFFORT 30000 /* over all of them, as above */
#define DETOUR_PART 20      /* of the cost: as much more is put up with on the way */

/* How the pods of the part are placed. */
static struct strategy rework_strategy(const struct solver_problem *problem, uint64_t seed,
                                       const struct old_plan *old)
{
    const struct solver_optimize *wanted = &problem->settings.optimize;
    struct strategy strategy = {
        .joint_zones = wanted->joint_zones,
        .spread_in_one = wanted->spread_in_one,
        .exact_limits = wanted->exact_limits,
        .sound = true,
        .look_ahead = true,
        .lots = seed,
        .old = old,
    };
    switch (seed % 4) {
    case 0:
        strategy.cheapest = true;
        strategy.best_fit = wanted->best_fit;
        break;
    case 1:
        strategy.any_order = true;
        strategy.least_growth = true;
        break;
    case 2:
        strategy.any_order = true;
        break;
    default:
        strategy.least_growth = true;
        break;
    }
    return strategy;
}

/* What may be put up with on the way: at first a plan that costs a little more. */
static struct score allowed(struct score score, size_t left, size_t count)
{
    int64_t share = score.cost_usd_micro / DETOUR_PART / (int64_t)count;
    score.cost_usd_micro = add_capped(score.cost_usd_micro, share * (int64_t)left);
    score.claims = SIZE_MAX;
    return score;
}

/* To leave a large pod instead of a small one is no saving. */
static bool leaves_larger(struct score score, struct score than)
{
    return score.unschedulable == than.unschedulable && score.left_cpu_milli > than.left_cpu_milli;
}

struct rework {
    struct trial trial;
    struct arena *notes; /* of plans that are gone on from */
    const struct solver_run *from;
    const struct old_plan *old; /* that the trial came to */
    struct score best_score;
    struct strategy best; /* without an old plan: nothing better was found */
};

static void try_rework(void *argument)
{
    struct rework *rework = argument;
    struct trial *trial = &rework->trial;
    struct solver_run *run = solve_by(trial->problem, trial->strategy, trial->arena);
    trial->score = score_of(run);
    rework->old = old_plan_of(run, rework->notes);
}

static void try_reworks(void *argument)
{
    struct rework *rework = argument;
    struct trial *trial = &rework->trial;
    const struct solver_problem *problem = trial->problem;
    size_t count = REWORK_EFFORT / effort_of(problem);
    count = count < REWORKS_MIN ? REWORKS_MIN : count > REWORKS_MAX ? REWORKS_MAX : count;
    const struct old_plan *old = old_plan_of(rework->from, rework->notes);
    struct score score = rework->best_score;
    for (uint64_t seed = 1; seed <= count && !trial->cut_short; seed++) {
        trial->strategy = rework_strategy(problem, seed, old);
        if (!attempt(trial, try_rework, rework) ||
            is_better(allowed(score, count - seed, count), trial->score) ||
            leaves_larger(trial->score, score))
            continue;
        score = trial->score;
        old = rework->old;
        if (is_better(score, rework->best_score)) {
            rework->best_score = score;
            rework->best = trial->strategy;
        }
    }
}

/* ---- the whole ---- */

struct solving {
    struct solver_run *run; /* its arena holds the outcome */
    struct strategy strategy;
};

static void solve_again(void *argument)
{
    struct solving *solving = argument;
    struct solver_run *run = solving->run;
    run = solve_by(run->problem, solving->strategy, run->arena);
    run->strategy.old = NULL;
    *solving->run = *run;
}

/* What was done until the memory ended counts. */
static void do_guarded(struct arena *arena, void (*body)(void *), void *argument)
{
    struct error error;
    bool done = arena_guard(arena, body, argument, &error);
    (void)done;
}

/* Whether patience was over before all was tried. */
static bool make_better(struct solver_run *run)
{
    struct rework rework = {
        .trial = {.problem = run->problem, .arena = arena_create(TRIAL_BUDGET_BYTES)},
        .notes = arena_create(TRIAL_BUDGET_BYTES),
        .from = run,
        .best_score = score_of(run),
    };
    if (rework.trial.arena != NULL && rework.notes != NULL)
        do_guarded(rework.notes, try_reworks, &rework);
    arena_destroy(rework.trial.arena);
    struct solving solving = {run, rework.best};
    if (rework.best.old != NULL)
        do_guarded(run->arena, solve_again, &solving);
    arena_destroy(rework.notes);
    return rework.trial.cut_short;
}

void optimize(struct solver_run *run)
{
    struct strategy strategies[STRATEGIES_MAX];
    size_t count = list_strategies(run->problem, strategies);
    bool cut_short;
    size_t best = best_strategy(run->problem, strategies, count, &cut_short);
    *run = *solve_by(run->problem, strategies[best], run->arena);
    if (run->problem->settings.optimize.cheapest && !cut_short)
        cut_short = make_better(run);
    run->plan.cut_short = cut_short;
}
