/* Bytes as a small cluster: no crash, a plan that keeps every hard rule and is the same each time
 * and in whatever order things are added, and a reason for each pod that fits nowhere. A query is
 * answered as a problem built with that pod. */
/* reads: solver */
#include <string.h>

#include "simulation/reason_words.h"
#include "solver_case.h"

enum { ARENA_BYTES = 256 << 20, QUESTIONS = 3 };

struct job {
    const uint8_t *data;
    size_t size;
    struct arena *arena;
};

/* ---- one plan and another ---- */

static void check_same_claim(const struct solver_node_claim *a, const struct solver_node_claim *b)
{
    REQUIRE(a->pool == b->pool && a->type == b->type && a->price_usd_micro == b->price_usd_micro);
    REQUIRE(strcmp(a->zone, b->zone) == 0 && strcmp(a->capacity_type, b->capacity_type) == 0);
    REQUIRE(a->type_count == b->type_count && a->pod_count == b->pod_count);
    REQUIRE(memcmp(a->types, b->types, a->type_count * sizeof *a->types) == 0);
    REQUIRE(memcmp(a->pods, b->pods, a->pod_count * sizeof *a->pods) == 0);
    REQUIRE(a->misplaced_count == b->misplaced_count);
    REQUIRE(a->misplaced_count == 0 ||
            memcmp(a->misplaced, b->misplaced, a->misplaced_count * sizeof *a->misplaced) == 0);
    REQUIRE(a->requirements->count == b->requirements->count);
    for (size_t i = 0; i < a->requirements->count; i++)
        REQUIRE(solver_requirement_equal(&a->requirements->items[i], &b->requirements->items[i]));
}

/* Of one problem, or of two that were built alike. */
static void check_same_plan(const struct solver_plan *a, const struct solver_plan *b)
{
    REQUIRE(a->placement_count == b->placement_count && a->claim_count == b->claim_count);
    for (size_t i = 0; i < a->placement_count; i++)
        REQUIRE(a->placements[i].pod == b->placements[i].pod &&
                a->placements[i].kind == b->placements[i].kind &&
                a->placements[i].misplaced == b->placements[i].misplaced &&
                (a->placements[i].kind == SOLVER_UNSCHEDULABLE ||
                 a->placements[i].index == b->placements[i].index));
    for (size_t i = 0; i < a->claim_count; i++)
        check_same_claim(&a->claims[i], &b->claims[i]);
}

/* ---- pods that fit nowhere ---- */

bool reasons_may_lack(const struct built *built)
{
    bool any = false;
    for (uint32_t i = 0; i < built->pools.count; i++)
        any |= built->input->pools[built->pools.indices[i]].unlisted_types;
    return any;
}

void reasons_check(const struct built *built, struct solver_reasons told, struct arena *arena)
{
    struct reasons_words reasons = reasons_tell(told, arena);
    for (size_t j = 0; j < reasons.count; j++) {
        const struct reason_words *reason = &reasons.items[j], *last = reason - (j > 0);
        REQUIRE(reason->kind < SOLVER_REASON_COUNT && solver_reason_name(reason->kind)[0]);
        REQUIRE(reason->pool == SOLVER_NONE || reason->pool < built->pools.count);
        REQUIRE(reason->message[0] != '\0' && strchr(reason->message, '\n') == NULL);
        REQUIRE(reason->nearest != NULL && strchr(reason->nearest, '\n') == NULL);
        /* Reasons that are of no pool come first. */
        uint32_t at = reason->pool + 1, before = last->pool + 1;
        REQUIRE(before < at || (before == at && last->kind <= reason->kind));
    }
}

static void check_reasons(struct solver_run *run, const struct built *built,
                          const struct solver_plan *plan, struct arena *arena)
{
    for (size_t i = 0; i < plan->placement_count; i++) {
        if (plan->placements[i].kind != SOLVER_UNSCHEDULABLE)
            continue;
        struct solver_reasons reasons = solver_explain(run, plan->placements[i].pod);
        REQUIRE(reasons.count > 0 || reasons_may_lack(built));
        reasons_check(built, reasons, arena);
    }
}

/* A pod that asks for nothing but room. */
static bool is_plain(const struct solver_shape *shape)
{
    return shape->node_selector.count == 0 && shape->required_count == 0 &&
           shape->preferred_count == 0 && shape->spread_count == 0 && shape->affinity_count == 0 &&
           shape->host_port_count == 0 && shape->volume_count == 0 && !shape->needs_devices;
}

static bool has_room(const struct built *built, const struct solver_pool *pool,
                     const struct solver_shape *shape)
{
    for (uint32_t i = 0; pool->types == NULL && i < built->types.count; i++) {
        const struct solver_instance_type *type = &built->input->types[built->types.indices[i]];
        bool offered = false, fits = false;
        for (size_t j = 0; j < type->offering_count; j++)
            /* What is reserved may be taken, or be of no machine. */
            offered |= type->offerings[j].available && type->offerings[j].allocatable == NULL &&
                       strcmp(type->offerings[j].capacity_type, "reserved") != 0;
        for (size_t j = 0; j < type->allocatable.count; j++)
            fits |= type->allocatable.items[j].resource == SOLVER_PODS &&
                    type->allocatable.items[j].quantity > 0;
        for (size_t j = 0; j < shape->requests.count; j++) {
            const struct solver_amount *request = &shape->requests.items[j];
            int64_t left = 0;
            for (size_t k = 0; k < type->allocatable.count; k++)
                if (type->allocatable.items[k].resource == request->resource)
                    left = type->allocatable.items[k].quantity;
            fits &= request->quantity + (request->resource == SOLVER_PODS) <= left;
        }
        if (offered && fits)
            return true;
    }
    return false;
}

/* Whether pods may wait until it is known which reservations are left, whatever else is on offer.
 */
static bool may_wait(const struct solver_case *input)
{
    bool reserved = false;
    for (size_t i = 0; i < input->type_count; i++)
        for (size_t j = 0; j < input->types[i].offering_count; j++)
            reserved |= input->types[i].offerings[j].available &&
                        strcmp(input->types[i].offerings[j].capacity_type, "reserved") == 0;
    return reserved && !input->settings.reserved_fallback;
}

/* Where pods have no quarrel with each other, a plain one finds a place in a plain pool. */
static void check_plain_pods(const struct built *built, const struct solver_plan *plan)
{
    const struct solver_case *input = built->input;
    bool quarrels = input->daemon_count > 0 || may_wait(input) || input->odd_types;
    for (size_t i = 0; i < input->shape_count; i++)
        quarrels |= input->shapes[i].affinity_count > 0;
    for (size_t i = 0; i < plan->placement_count && !quarrels; i++) {
        const struct solver_pod *pod = &input->pods[built->pods.indices[plan->placements[i].pod]];
        if (plan->placements[i].kind != SOLVER_UNSCHEDULABLE ||
            !is_plain(&input->shapes[pod->shape]))
            continue;
        for (uint32_t j = 0; j < built->pools.count; j++) {
            const struct solver_pool *pool = &input->pools[built->pools.indices[j]];
            bool open = pool->requirements.count == 0 && pool->labels.count == 0 &&
                        pool->taints.count == 0 && pool->limits.count == 0;
            REQUIRE(!open || !has_room(built, pool, &input->shapes[pod->shape]));
        }
    }
}

/* A question is answered as Karpenter would, whatever else is chosen for a plan. */
static void check_questions(const struct built *built, uint64_t seed, struct arena *arena)
{
    struct solver_case *input = ARENA_NEW(arena, struct solver_case);
    struct built plain;
    *input = *built->input;
    input->settings.optimize = (struct solver_optimize){0};
    REQUIRE(case_build(input, false, built, arena, &plain));
    struct solver_run *run = solver_run_create(plain.problem, arena);
    for (uint64_t i = 0; i < QUESTIONS; i++)
        check_question(run, &plain, seed + i, arena);
    for (size_t i = 0; i < input->question_count; i++)
        check_case_question(run, &plain, &input->questions[i], arena);
    if (!input->stocked)
        return;
    plain.problem = case_build_over(input, &plain, arena);
    run = solver_run_create(plain.problem, arena);
    check_question(run, &plain, seed, arena);
    for (size_t i = 0; i < input->question_count; i++)
        check_case_question(run, &plain, &input->questions[i], arena);
}

/* ---- other ways to the same ---- */

/* A problem over a stock has the same plan. */
static void check_stocked(const struct built *built, const struct solver_plan *plan,
                          struct arena *arena)
{
    const struct solver_problem *problem = case_build_over(built->input, built, arena);
    const struct solver_plan *over = solver_solve(solver_run_create(problem, arena));
    require_same(plan_text(problem, over, arena).data, plan_text(built->problem, plan, arena).data);
}

static bool is_over(void *left)
{
    size_t *times = left;
    *times -= *times > 0;
    return *times == 0;
}

/* A plan that was cut short keeps the rules, too. */
static void check_cut_short(const struct built *built, struct arena *arena)
{
    struct solver_case *input = ARENA_NEW(arena, struct solver_case);
    struct built hasty;
    *input = *built->input;
    input->settings.patience = (struct solver_patience){is_over, &input->patience};
    REQUIRE(case_build(input, false, built, arena, &hasty));
    plan_check(&hasty, solver_solve(solver_run_create(hasty.problem, arena)), arena);
}

/* A question leaves the run as it was; a run that was solved answers none. */
static void check_solved(const struct built *built, const struct solver_plan *plan,
                         struct arena *arena)
{
    const struct solver_question question = {.shape = &built->input->shapes[0]};
    struct solver_run *run = solver_run_create(built->problem, arena);
    struct solver_answer answer;
    struct error error = {0};
    (void)solver_query(run, &question, arena, &answer, &error);
    check_same_plan(plan, solver_solve(run));
    REQUIRE(!solver_query(run, &question, arena, &answer, &error) && error.what[0] != '\0');
}

/* ---- */

static void solve(void *argument)
{
    const struct job *job = argument;
    struct arena *arena = job->arena;
    const struct solver_case *input = case_make(job->data, job->size, arena);
    struct built built, again, reversed;
    if (!case_build(input, false, NULL, arena, &built))
        return;
    struct solver_run *run = solver_run_create(built.problem, arena);
    const struct solver_plan *plan = solver_solve(run);
    plan_check(&built, plan, arena);
    check_reasons(run, &built, plan, arena);
    check_plain_pods(&built, plan);

    check_solved(&built, plan, arena);
    REQUIRE(case_build(input, false, &built, arena, &again));
    check_same_plan(plan, solver_solve(solver_run_create(again.problem, arena)));
    REQUIRE(case_build(input, true, &built, arena, &reversed));
    const struct solver_plan *reversed_plan =
        solver_solve(solver_run_create(reversed.problem, arena));
    require_same(plan_text(reversed.problem, reversed_plan, arena).data,
                 plan_text(built.problem, plan, arena).data);

    if (input->stocked)
        check_stocked(&built, plan, arena);
    if (input->patience > 0)
        check_cut_short(&built, arena);
    check_questions(&built, job->size, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct arena *arena;
    if (arena == NULL)
        arena = arena_create(ARENA_BYTES);
    REQUIRE(arena != NULL);
    arena_reset(arena);
    struct job job = {data, size, arena};
    struct error error = {0};
    REQUIRE(arena_guard(arena, solve, &job, &error));
    return 0;
}
