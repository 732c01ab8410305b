/* One pod asked of a warm run: as a solve of a problem built with that pod alone would answer. */
#include <pthread.h>

#include "solver_random.h"
#include "solver_told.h"

enum { SEEDS = 400, QUESTIONS = 12 };

/* ---- what is to be answered ---- */

struct asked {
    struct solver_overlay_pod pods[4];
    uint32_t pod_models[4], pod_nodes[4]; /* shapes and nodes of the model */
    uint32_t gone[3], gone_models[3];
    struct solver_mount mounts[5];
    struct solver_overlay overlay;
    struct solver_shape shape;
    struct solver_question question;
};

static struct asked *draw_question(struct random_cluster *c)
{
    struct asked *asked = ARENA_NEW(c->arena, struct asked);
    asked->shape = chance(c, 50) ? c->shapes[draw(c, (uint32_t)c->shape_count)] : random_shape(c);
    asked->mounts[4] = random_mount(c, draw(c, 8));
    asked->question = (struct solver_question){.shape = &asked->shape,
                                               .mounts = &asked->mounts[4],
                                               .mount_count = asked->shape.volume_count,
                                               .explain = true};
    if (chance(c, 40))
        return asked;
    asked->question.overlay = &asked->overlay;
    asked->overlay.pods = asked->pods;
    asked->overlay.gone_nodes = asked->gone;
    while (asked->overlay.gone_node_count < 3 && chance(c, 40)) {
        uint32_t node = draw(c, (uint32_t)c->node_count);
        asked->gone_models[asked->overlay.gone_node_count] = node;
        asked->gone[asked->overlay.gone_node_count++] = c->nodes[node].number;
    }
    while (asked->overlay.pod_count < 4 && chance(c, 60)) {
        size_t i = asked->overlay.pod_count;
        uint32_t shape = draw(c, (uint32_t)c->shape_count / 2);
        uint32_t node = draw(c, (uint32_t)c->node_count);
        bool gone = false;
        for (size_t j = 0; j < asked->overlay.gone_node_count; j++)
            gone = gone || asked->gone_models[j] == node;
        if (gone)
            break;
        asked->pod_models[i] = shape;
        asked->pod_nodes[i] = node;
        asked->mounts[i] = random_mount(c, draw(c, 8));
        asked->pods[i] =
            (struct solver_overlay_pod){c->shape_numbers[shape], c->nodes[node].number,
                                        &asked->mounts[i], c->shapes[shape].volume_count};
        asked->overlay.pod_count++;
    }
    return asked;
}

static const char *tell_answer(struct arena *arena, const struct solver_problem *problem,
                               const struct solver_answer *answer)
{
    if (answer->kind == SOLVER_UNSCHEDULABLE)
        return tell_reasons(arena, problem, answer->reasons);
    if (answer->kind == SOLVER_ON_NODE)
        return solver_node_name(problem, answer->node);
    return tell_claim(arena, problem, answer->claim, answer->names);
}

static struct solver_answer ask(struct solver_run *run, const struct solver_question *question,
                                struct arena *arena)
{
    struct solver_answer answer;
    struct error error;
    MUST(solver_query(run, question, arena, &answer, &error));
    return answer;
}

/* The problem with the overlay in it and the pod as the only pending one, built from nothing. */
static const char *expected_answer(struct random_cluster *c, const struct asked *asked)
{
    struct solver_builder *builder = solver_builder_create(c->arena);
    struct solver_settings settings = random_settings(c);
    struct random_cluster *copy = ARENA_NEW(c->arena, struct random_cluster);
    *copy = *c;
    for (size_t i = 0; i < asked->overlay.gone_node_count; i++)
        copy->nodes[asked->gone_models[i]].gone = true;
    tell_supply(copy, builder);
    tell_daemon(builder);
    for (size_t i = 0; i < copy->node_count; i++)
        if (!copy->nodes[i].gone)
            tell_node(copy, builder, i);
    for (size_t i = 0; i < copy->pod_count; i++) {
        const struct random_pod *pod = &copy->pods[i];
        if (!pod->gone && pod->node != SOLVER_NONE && !copy->nodes[pod->node].gone)
            tell_pod(copy, builder, i);
    }
    struct error error;
    uint32_t number;
    for (size_t i = 0; i <= asked->overlay.pod_count; i++) {
        bool last = i == asked->overlay.pod_count;
        const struct solver_shape *shape =
            last ? &asked->shape : &copy->shapes[asked->pod_models[i]];
        struct solver_pod pod = {
            .name = arena_printf(c->arena, "asked/%zu", i).data,
            .node = last ? SOLVER_NONE : copy->nodes[asked->pod_nodes[i]].number,
            .mounts = &asked->mounts[last ? 4 : i],
            .mount_count = shape->volume_count,
        };
        MUST(solver_add_shape(builder, shape, &pod.shape, &error) &&
             solver_add_pod(builder, &pod, &number, &error));
    }
    const struct solver_problem *problem = NULL;
    MUST(solver_build(builder, &settings, &problem, &error));
    struct solver_run *run = solver_run_create(problem, c->arena);
    const struct solver_plan *plan = solver_solve(run);
    MUST(plan->place_count == 1);
    struct solver_answer answer = {.kind = plan->places[0].kind,
                                   .node = plan->places[0].index,
                                   .names = solver_problem_names(problem)};
    if (answer.kind == SOLVER_ON_CLAIM)
        answer.claim = &plan->claims[0];
    if (answer.kind == SOLVER_UNSCHEDULABLE)
        answer.reasons = solver_explain(run, plan->places[0].pod);
    return tell_answer(c->arena, problem, &answer);
}

/* ---- tests ---- */

static void as_a_solve_and_as_it_was(void)
{
    size_t kinds[3] = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct arena *arena = arena_create((size_t)256 << 20);
        struct arena *own = arena_create((size_t)64 << 20);
        CU_ASSERT_TRUE_FATAL(arena != NULL && own != NULL);
        struct random_cluster *c = random_cluster(arena, seed);
        const struct solver_problem *problem = random_build(c);
        struct solver_run *run = solver_run_create(problem, arena);
        bool same = true;
        for (size_t i = 0; i < QUESTIONS && same; i++) {
            const struct asked *asked = draw_question(c);
            struct solver_answer answer = ask(run, &asked->question, own);
            same = same_told(seed, "an answer", tell_answer(arena, problem, &answer),
                             expected_answer(c, asked));
            kinds[answer.kind]++;
            arena_reset(own);
        }
        /* After all these the run solves as one that was never asked. */
        const char *plan = tell_plan(arena, problem, run);
        (void)same_told(seed, "the plan afterwards", plan,
                        tell_plan(arena, problem, solver_run_create(problem, arena)));
        arena_destroy(own);
        arena_destroy(arena);
        if (!same)
            break;
    }
    for (size_t i = 0; i < 3; i++)
        CU_ASSERT_TRUE(kinds[i] > SEEDS);
}

/* Zones against a pod that is told to be in one: of shapes that nothing ties to others by zone. */
static void zones_are_where_it_could_be_told_to_go(void)
{
    size_t counts[5] = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct arena *arena = arena_create((size_t)256 << 20);
        CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
        struct random_cluster *c = random_cluster(arena, seed);
        struct solver_run *run = solver_run_create(random_build(c), arena);
        struct asked *asked = draw_question(c);
        asked->shape.spread_count = asked->shape.affinity_count = 0;
        asked->shape.preferred_count = 0;
        /* kube-scheduler does not mind such a taint, Karpenter minds where no pool has one. */
        const struct solver_toleration tolerations[] = {
            {.key = "soft", .exists = true, .value = "", .any_effect = true},
            {.key = "dedicated", .exists = true, .value = "", .any_effect = true},
        };
        asked->shape.tolerations = tolerations;
        asked->shape.toleration_count = 1 + chance(c, 30);
        struct solver_zones zones = {0};
        struct error error;
        MUST(solver_query_zones(run, &asked->question, arena, &zones, &error));
        struct lines actual = {0}, expected = {0};
        for (size_t i = 0; i < zones.all.count; i++)
            *LIST_PUSH(arena, &actual) = zones.all.items[i];
        static const char *const all[] = {"z1", "z2", "z3", "z-elsewhere"};
        struct solver_labels before = asked->shape.node_selector;
        for (size_t i = 0; i < 4; i++) {
            struct solver_label *labels = ARENA_ARRAY(arena, 2, struct solver_label);
            labels[0] = (struct solver_label){ZONE, all[i]};
            if (before.count > 0)
                labels[1] = before.items[0];
            asked->shape.node_selector = (struct solver_labels){labels, 1 + before.count};
            if (ask(run, &asked->question, arena).kind != SOLVER_UNSCHEDULABLE)
                *LIST_PUSH(arena, &expected) = all[i];
        }
        counts[zones.all.count]++;
        bool same = same_told(seed, "zones", join_sorted(arena, &actual, " "),
                              join_sorted(arena, &expected, " "));
        arena_destroy(arena);
        if (!same)
            break;
    }
    CU_ASSERT_TRUE(counts[0] > 0 && counts[1] > 0 && counts[2] > 0 && counts[3] > 0);
}

/* ---- by hand ---- */

/* A pool over all zones and nothing else. */
static struct random_cluster *bare_cluster(struct arena *arena, struct solver_builder **builder)
{
    struct random_cluster *c = ARENA_NEW(arena, struct random_cluster);
    c->arena = arena;
    c->pool_count = 1;
    *builder = solver_builder_create(arena);
    tell_supply(c, *builder);
    return c;
}

static uint32_t add_node(struct solver_builder *builder, const char *name, const char *key,
                         const char *value)
{
    const struct solver_label label = {key, value};
    const struct solver_amount room[] = {{SOLVER_CPU, 4000}, {SOLVER_PODS, 9}};
    uint32_t number;
    struct error error;
    MUST(solver_add_node(
        builder,
        &(struct solver_node){
            .name = name, .labels = {&label, 1}, .allocatable = {room, 2}, .initialized = true},
        &number, &error));
    return number;
}

/* Two racks, of which one is empty: with it gone the other is level with the least. */
static void a_domain_goes_with_its_last_node(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    struct solver_builder *builder;
    struct random_cluster *c = bare_cluster(arena, &builder);
    const uint32_t full = add_node(builder, "full", "rack", "r1");
    const uint32_t empty = add_node(builder, "empty", "rack", "r2");
    const struct solver_label app = {"app", "a"};
    const struct solver_spread spread = {
        .key = "rack",
        .max_skew = 1,
        .hard = true,
        .ignore_node_affinity = true,
        .selector = {SOLVER_SELECTOR_GIVEN, one_expression(c, "app", SOLVER_IN, "a")}};
    const struct solver_shape runs = {.namespace = "default", .labels = {&app, 1}};
    const struct solver_shape shapes[] = {
        {.namespace = "default", .labels = {&app, 1}, .spreads = &spread, .spread_count = 1},
        /* Known or not, the same. */
        {.namespace = "other", .labels = {&app, 1}, .spreads = &spread, .spread_count = 1},
    };
    uint32_t shape, number;
    struct error error;
    const struct solver_problem *problem = NULL;
    const struct solver_settings settings = {0};
    for (uint32_t i = 0; i < 4; i++) { /* two of each namespace run, one of the first waits */
        struct solver_shape of = i == 3 ? shapes[0] : runs;
        of.namespace = i == 2 ? "other" : "default";
        MUST(solver_add_shape(builder, &of, &shape, &error) &&
             solver_add_pod(
                 builder,
                 &(struct solver_pod){.name = arena_printf(arena, "default/pod-%u", i).data,
                                      .uid = "",
                                      .shape = shape,
                                      .node = i == 3 ? SOLVER_NONE : full},
                 &number, &error));
    }
    MUST(solver_build(builder, &settings, &problem, &error));
    struct solver_run *run = solver_run_create(problem, arena);
    for (size_t i = 0; i < 2; i++) {
        const struct solver_overlay overlay = {.gone_nodes = &empty, .gone_node_count = 1};
        struct solver_question question = {.shape = &shapes[i]};
        ASSERT_INT(ask(run, &question, arena).node, empty);
        question.overlay = &overlay;
        ASSERT_INT(ask(run, &question, arena).node, full);
    }
    arena_destroy(arena);
}

static void zones_are_all_a_spread_allows(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    struct solver_builder *builder;
    struct random_cluster *c = bare_cluster(arena, &builder);
    const struct solver_settings settings = {0};
    const struct solver_problem *problem = NULL;
    struct error error;
    const struct solver_label app = {"app", "a"};
    const uint32_t node = add_node(builder, "full", TYPE_KEY, "t3");
    uint32_t shape, pod;
    MUST(solver_add_shape(builder,
                          &(struct solver_shape){.namespace = "default", .labels = {&app, 1}},
                          &shape, &error) &&
         solver_add_pod(
             builder,
             &(struct solver_pod){.name = "default/a", .uid = "", .shape = shape, .node = node},
             &pod, &error) &&
         solver_build(builder, &settings, &problem, &error));
    struct solver_run *run = solver_run_create(problem, arena);
    const struct solver_selector itself = {SOLVER_SELECTOR_GIVEN,
                                           one_expression(c, "app", SOLVER_IN, "a")};
    const struct solver_spread spread = {
        .key = ZONE, .max_skew = 1, .hard = true, .selector = itself};
    const struct solver_pod_affinity near = {.required = true, .key = ZONE, .selector = itself};
    /* Where the only type is that holds it, though a claim would choose one with fewer pods. */
    const struct solver_spread by_type = {
        .key = TYPE_KEY, .max_skew = 2, .hard = true, .selector = itself};
    const struct solver_amount much = {SOLVER_CPU, 5500};
    const struct solver_shape shapes[] = {
        {.namespace = "default", .labels = {&app, 1}, .spreads = &spread, .spread_count = 1},
        {.namespace = "default", .labels = {&app, 1}, .affinities = &near, .affinity_count = 1},
        {.namespace = "default",
         .labels = {&app, 1},
         .requests = {&much, 1},
         .spreads = &by_type,
         .spread_count = 1},
    };
    for (size_t i = 0; i < 3; i++) {
        struct solver_zones zones = {0};
        const struct solver_question question = {.shape = &shapes[i]};
        MUST(solver_query_zones(run, &question, arena, &zones, &error));
        ASSERT_INT(zones.all.count, i == 2 ? 1 : 3);
        for (size_t j = 0; j < zones.all.count && j < 3; j++)
            ASSERT_TEXT(text_of(zones.all.items[j]), random_zones[j]);
    }
    arena_destroy(arena);
}

/* A well-known key that nothing names may be asked for all the same
 * (docs/reference/karpenter.md 1.3); a custom one may not. */
static void well_known_keys_need_not_be_named(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    struct solver_builder *builder;
    (void)bare_cluster(arena, &builder);
    const struct solver_settings settings = {0};
    const struct solver_problem *problem = NULL;
    struct error error;
    MUST(solver_build(builder, &settings, &problem, &error));
    struct solver_run *run = solver_run_create(problem, arena);
    const struct solver_label labels[] = {{"topology.kubernetes.io/region", "eu"},
                                          {"example.com/region", "eu"}};
    static const enum solver_place_kind expected[] = {SOLVER_ON_CLAIM, SOLVER_UNSCHEDULABLE};
    for (size_t i = 0; i < 2; i++) {
        const struct solver_shape shape = {.namespace = "default",
                                           .node_selector = {&labels[i], 1}};
        const struct solver_question question = {.shape = &shape};
        ASSERT_INT(ask(run, &question, arena).kind, expected[i]);
        struct solver_builder *more = solver_derive(problem, arena);
        const struct solver_problem *derived = NULL;
        uint32_t number, pod;
        MUST(solver_add_shape(more, &shape, &number, &error) &&
             solver_add_pod(
                 more,
                 &(struct solver_pod){
                     .name = "default/more", .uid = "", .shape = number, .node = SOLVER_NONE},
                 &pod, &error) &&
             solver_build(more, &settings, &derived, &error));
        ASSERT_INT(solver_solve(solver_run_create(derived, arena))->places[0].kind, expected[i]);
    }
    arena_destroy(arena);
}

/* ---- threads ---- */

struct asker {
    const struct solver_problem *problem;
    struct asked *const *asked;
    struct arena *arena;
    const char *told;
};

static void *ask_all(void *argument)
{
    struct asker *asker = argument;
    struct text_builder out = {.arena = asker->arena};
    struct solver_run *run = solver_run_create(asker->problem, asker->arena);
    for (size_t i = 0; i < QUESTIONS; i++) {
        struct solver_answer answer;
        struct error error;
        bool good = solver_query(run, &asker->asked[i]->question, asker->arena, &answer, &error);
        text_builder_printf(&out, "%s\n",
                            good ? tell_answer(asker->arena, asker->problem, &answer) : "error");
    }
    asker->told = text_builder_text(&out).data;
    return NULL;
}

static void two_threads_are_answered_the_same(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct arena *arena = arena_create((size_t)256 << 20);
        CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
        struct random_cluster *c = random_cluster(arena, seed);
        const struct solver_problem *problem = random_build(c);
        struct asked *asked[QUESTIONS];
        for (size_t i = 0; i < QUESTIONS; i++)
            asked[i] = draw_question(c);
        struct asker askers[2];
        pthread_t threads[2];
        for (size_t i = 0; i < 2; i++) {
            askers[i] = (struct asker){problem, asked, arena_create((size_t)256 << 20), NULL};
            CU_ASSERT_PTR_NOT_NULL_FATAL(askers[i].arena);
            CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, ask_all, &askers[i]), 0);
        }
        for (size_t i = 0; i < 2; i++)
            CU_ASSERT_EQUAL_FATAL(pthread_join(threads[i], NULL), 0);
        (void)same_told(seed, "a thread", askers[0].told, askers[1].told);
        for (size_t i = 0; i < 2; i++)
            arena_destroy(askers[i].arena);
        arena_destroy(arena);
    }
}

/* ---- what goes wrong ---- */

struct starved {
    struct solver_run *run;
    const struct solver_question *question;
    struct arena *arena;
};

static void ask_starved(void *argument)
{
    struct starved *starved = argument;
    (void)ask(starved->run, starved->question, starved->arena);
}

static void a_query_without_memory_leaves_no_trace(void)
{
    size_t failures = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct arena *arena = arena_create((size_t)256 << 20);
        CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
        struct random_cluster *c = random_cluster(arena, seed);
        const struct solver_problem *problem = random_build(c);
        struct solver_run *run = solver_run_create(problem, arena);
        for (size_t i = 0; i < QUESTIONS; i++) {
            const struct asked *asked = draw_question(c);
            for (size_t budget_bytes = 1000; budget_bytes < 20000; budget_bytes += 3000) {
                struct arena *small = arena_create(budget_bytes);
                CU_ASSERT_PTR_NOT_NULL_FATAL(small);
                struct starved starved = {run, &asked->question, small};
                struct error error;
                failures += !arena_guard(small, ask_starved, &starved, &error);
                arena_destroy(small);
            }
            struct solver_answer answer = ask(run, &asked->question, arena);
            (void)same_told(seed, "an answer", tell_answer(arena, problem, &answer),
                            expected_answer(c, asked));
        }
        arena_destroy(arena);
    }
    CU_ASSERT_TRUE(failures > 1000);
}

static void senseless_questions_are_refused(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    struct random_cluster *c = random_cluster(arena, 1);
    const struct solver_problem *problem = random_build(c);
    struct solver_run *run = solver_run_create(problem, arena);
    const uint32_t none = 999, first = 0;
    const struct solver_overlay_pod no_shape = {.shape = none}, no_node = {.node = none},
                                    on_gone = {.node = 0};
    const struct solver_amount unknown = {SOLVER_NONE, 1}, odd = {77, 1}, negative = {0, -1};
    const struct solver_shape plain = {.namespace = "default"},
                              wants_unknown = {.namespace = "default", .requests = {&unknown, 1}},
                              wants_odd = {.namespace = "default", .requests = {&odd, 1}},
                              wants_negative = {.namespace = "default", .requests = {&negative, 1}};
    const struct {
        struct solver_overlay overlay;
        const struct solver_shape *shape;
        size_t mount_count;
        const char *expected;
    } cases[] = {
        {{&no_shape, 1, NULL, 0}, &plain, 0, "a pod in flight is of shape 999, which is not there"},
        {{&no_node, 1, NULL, 0}, &plain, 0, "there is no node 999"},
        {{NULL, 0, &none, 1}, &plain, 0, "there is no node 999"},
        {{&on_gone, 1, &first, 1}, &plain, 0, "a pod in flight is on node node-00, which is gone"},
        {{0}, &plain, 1, "the pod has 1 mounts and its shape 0 volumes"},
        {{0}, &wants_odd, 0, "a pod of namespace default: there is no resource 77"},
        {{0},
         &wants_negative,
         0,
         "a pod of namespace default: cpu is negative (-1); a quantity "
         "is 0 or more"},
    };
    struct solver_answer answer;
    struct error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct solver_question question = {.overlay = &cases[i].overlay,
                                                 .shape = cases[i].shape,
                                                 .mount_count = cases[i].mount_count};
        CU_ASSERT_FALSE(solver_query(run, &question, arena, &answer, &error));
        ASSERT_TEXT(text_of(error.what), cases[i].expected);
    }
    const struct solver_question fine = {.shape = &plain},
                                 unhad = {.shape = &wants_unknown, .explain = true};
    CU_ASSERT_NOT_EQUAL(ask(run, &fine, arena).kind, SOLVER_UNSCHEDULABLE);
    answer = ask(run, &unhad, arena);
    CU_ASSERT_EQUAL(answer.kind, SOLVER_UNSCHEDULABLE);
    ASSERT_INT(answer.reasons.count, 1);
    ASSERT_INT(answer.reasons.items[0].kind, SOLVER_REASON_RESOURCES);
    (void)solver_solve(run);
    CU_ASSERT_FALSE(solver_query(run, &fine, arena, &answer, &error));
    ASSERT_TEXT(text_of(error.what), "the run was solved; ask another one");
    arena_destroy(arena);
}

const char unit_suite[] = "solver query";
const struct unit_test unit_tests[] = {
    {"as a solve, and the run as it was", as_a_solve_and_as_it_was},
    {"zones are where it could be told to go", zones_are_where_it_could_be_told_to_go},
    {"a domain goes with its last node", a_domain_goes_with_its_last_node},
    {"zones are all that a spread allows", zones_are_all_a_spread_allows},
    {"well-known keys need not be named", well_known_keys_need_not_be_named},
    {"two threads are answered the same", two_threads_are_answered_the_same},
    {"a query without memory leaves no trace", a_query_without_memory_leaves_no_trace},
    {"senseless questions are refused", senseless_questions_are_refused},
    {NULL, NULL},
};
