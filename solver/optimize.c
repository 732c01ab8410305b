/* What --optimize tries (docs/reference/karpenter.md 10). Each strategy places pods in a way that
 * Karpenter and kube-scheduler accept. The plan that places most pods wins, then the cheapest.
 *
 * strategy      what it does                                        without it
 * as Karpenter  Karpenter's choices, also valid for kube-scheduler  3 pods more fit nowhere
 * packing       a domain is chosen only where something fits; pods  33 % over the bound, not 1.9 %
 *               without topology are packed (bin_packing.c), the
 *               others join the fullest NodeClaim
 * drawn         as Karpenter, ties and equal pods in an order that  2 plans of 1,000 dearer than
 *               each try draws anew                                 Karpenter's luckiest run
 *
 * Then a part of the best plan is rescheduled (reschedule.c), again and again, by these strategies
 * in turn. Without all of them plans cost 4 % more, and 24 pods more fit nowhere.
 *
 * packing       as above                                            1.9 % dearer
 * price, drawn  a pod goes where it adds least to the price         0.1 % dearer, and 3.7 % without
 *               (place_by_price.c), pods in an order that is drawn  the last one, too
 * drawn         pods in an order that is drawn                      0.2 % dearer
 * price         as "price, drawn", large pods first                 a pod more fits nowhere
 *
 * Measured by scripts/bench-solver bound, and on 300 to 600 generated clusters of
 * scripts/conformance with 200 usd an hour and 1,000 pods that fit nowhere. */
#include <string.h>

#include "solver/optimize.h"

/* ---- strategies ---- */

#define LOOKING_AHEAD                                                                \
    .joint_zones = true, .spread_in_one = true, .exact_limits = true, .sound = true, \
    .look_ahead = true

static const struct strategy strategies[] = {
    {.sound = true},
    {LOOKING_AHEAD, .cheapest = true, .best_fit = true},
};
static const struct strategy rescheduling_strategies[] = {
    {LOOKING_AHEAD, .cheapest = true, .best_fit = true},
    {LOOKING_AHEAD, .by_price = true, .any_order = true},
    {LOOKING_AHEAD, .any_order = true},
    {LOOKING_AHEAD, .by_price = true},
};

/* The strategy without the improvements that were not asked for. */
static struct strategy as_wanted(struct strategy way, const struct solver_optimize *wanted)
{
    way.joint_zones &= wanted->joint_zones;
    way.spread_in_one &= wanted->spread_in_one;
    way.exact_limits &= wanted->exact_limits;
    way.best_fit &= wanted->best_fit;
    way.cheapest &= wanted->cheapest;
    return way;
}

/* ---- scores ---- */

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
        if (run->placements[pod].kind == SOLVER_UNSCHEDULABLE)
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

/* ---- trying ---- */

static struct solver_run *solve_by(const struct solver_problem *problem, struct strategy strategy,
                                   struct arena *arena)
{
    struct solver_run *run = run_create(problem, strategy, arena);
    if (strategy.old != NULL)
        place_as_before(run, strategy.old, strategy.seed);
    if (strategy.cheapest && problem->reservations.count == 0)
        pack_bins(run); /* it does not look at what reservations have left */
    place_queue(run);
    plan_finish(run);
    return run;
}

/* Efforts bound the sum over all tries. A try costs as many as there are pods, and some for the
 * options; small problems get more tries. */
#define OPTIONS_AS_A_POD 4
#define DRAW_EFFORT 10000
#define DRAWS_MIN 4
#define DRAWS_MAX 96
#define RESCHEDULING_EFFORT 30000
#define RESCHEDULINGS_MIN 4
#define RESCHEDULINGS_MAX 400

static size_t tries(const struct solver_problem *problem, size_t effort, size_t least, size_t most)
{
    size_t count = effort / (1 + problem->queue_count + problem->options.count / OPTIONS_AS_A_POD);
    return count < least ? least : count > most ? most : count;
}

#define TRIAL_BUDGET_BYTES ((size_t)1 << 30)

struct trial {
    const struct solver_problem *problem;
    struct strategy strategy;
    struct arena *arena;
    struct score score;
    bool cut_short; /* patience ran out, before the trial or within it */
};

static int ask_patience(void *patience_pointer)
{
    const struct solver_patience *patience = patience_pointer;
    return patience->is_over(patience->context) ? 1 : 0;
}

/* Runs body on the trial's arena and empties it. False: patience or memory ran out. */
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

/* The strategy with the best plan, the first of equals. The memory of each try is freed before the
 * next: all plans together would take hundreds of megabytes. A try that runs out of memory does not
 * count. */
static struct strategy best_strategy(const struct solver_problem *problem, bool *cut_short)
{
    const struct solver_optimize *wanted = &problem->settings.optimize;
    struct trial trial = {.problem = problem, .arena = arena_create(TRIAL_BUDGET_BYTES)};
    struct score best_score = {.unschedulable = SIZE_MAX};
    struct strategy best = strategies[0];
    size_t draws = wanted->cheapest ? tries(problem, DRAW_EFFORT, DRAWS_MIN, DRAWS_MAX) : 0;
    size_t count = COUNT_OF(strategies) + draws;
    for (size_t i = 0; i < count && trial.arena != NULL && !trial.cut_short; i++) {
        trial.strategy = as_wanted(strategies[i < COUNT_OF(strategies) ? i : 0], wanted);
        trial.strategy.seed = i < COUNT_OF(strategies) ? 0 : i;
        if (attempt(&trial, try_strategy, &trial) && is_better(trial.score, best_score)) {
            best = trial.strategy;
            best_score = trial.score;
        }
    }
    arena_destroy(trial.arena);
    *cut_short = trial.cut_short;
    return best;
}

/* ---- rescheduling a part of the best plan ---- */

#define DETOUR_PART 20 /* of the cost: how much more the first plans may cost */

/* The worst score that is accepted. At first a plan may cost a little more, at the end nothing
 * more. */
static struct score allowed(struct score score, size_t left, size_t count)
{
    int64_t share = score.cost_usd_micro / DETOUR_PART / (int64_t)count;
    score.cost_usd_micro = add_capped(score.cost_usd_micro, share * (int64_t)left);
    score.claims = SIZE_MAX;
    return score;
}

/* A plan that leaves out a large pod instead of a small one is not better. */
static bool leaves_larger(struct score score, struct score than)
{
    return score.unschedulable == than.unschedulable && score.left_cpu_milli > than.left_cpu_milli;
}

struct rescheduling {
    struct trial trial;
    struct arena *notes; /* holds the plans that tries start from */
    const struct solver_run *from;
    const struct old_plan *old; /* the plan of the last trial */
    struct score best_score;
    struct strategy best; /* old NULL: nothing better was found */
};

static void reschedule_once(void *argument)
{
    struct rescheduling *rescheduling = argument;
    struct trial *trial = &rescheduling->trial;
    struct solver_run *run = solve_by(trial->problem, trial->strategy, trial->arena);
    trial->score = score_of(run);
    rescheduling->old = old_plan_of(run, rescheduling->notes);
}

static void reschedule_repeatedly(void *argument)
{
    struct rescheduling *rescheduling = argument;
    struct trial *trial = &rescheduling->trial;
    const struct solver_problem *problem = trial->problem;
    size_t count = tries(problem, RESCHEDULING_EFFORT, RESCHEDULINGS_MIN, RESCHEDULINGS_MAX);
    const struct old_plan *old = old_plan_of(rescheduling->from, rescheduling->notes);
    struct score score = rescheduling->best_score;
    for (uint64_t seed = 1; seed <= count && !trial->cut_short; seed++) {
        trial->strategy =
            as_wanted(rescheduling_strategies[seed % COUNT_OF(rescheduling_strategies)],
                      &problem->settings.optimize);
        trial->strategy.seed = seed;
        trial->strategy.old = old;
        if (!attempt(trial, reschedule_once, rescheduling) ||
            is_better(allowed(score, count - seed, count), trial->score) ||
            leaves_larger(trial->score, score))
            continue;
        score = trial->score;
        old = rescheduling->old;
        if (is_better(score, rescheduling->best_score)) {
            rescheduling->best_score = score;
            rescheduling->best = trial->strategy;
        }
    }
}

/* ---- optimize() ---- */

struct solving {
    struct solver_run *run; /* its arena holds the result */
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

/* Memory may run out: what was done before counts. */
static void do_guarded(struct arena *arena, void (*body)(void *), void *argument)
{
    struct error error;
    bool done = arena_guard(arena, body, argument, &error);
    (void)done;
}

/* Returns whether patience ran out before all tries were made. */
static bool make_better(struct solver_run *run)
{
    struct rescheduling rescheduling = {
        .trial = {.problem = run->problem, .arena = arena_create(TRIAL_BUDGET_BYTES)},
        .notes = arena_create(TRIAL_BUDGET_BYTES),
        .from = run,
        .best_score = score_of(run),
    };
    if (rescheduling.trial.arena != NULL && rescheduling.notes != NULL)
        do_guarded(rescheduling.notes, reschedule_repeatedly, &rescheduling);
    arena_destroy(rescheduling.trial.arena);
    struct solving solving = {run, rescheduling.best};
    if (rescheduling.best.old != NULL)
        do_guarded(run->arena, solve_again, &solving);
    arena_destroy(rescheduling.notes);
    return rescheduling.trial.cut_short;
}

void optimize(struct solver_run *run)
{
    bool cut_short;
    struct strategy way = best_strategy(run->problem, &cut_short);
    *run = *solve_by(run->problem, way, run->arena);
    if (run->problem->settings.optimize.cheapest && !cut_short)
        cut_short = make_better(run);
    run->plan.cut_short = cut_short;
}
