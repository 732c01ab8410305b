/* labels: threads */
/* Queries about one pod: the answer equals that of a problem built with that pod alone. */
#include <pthread.h>

#include "solver/run.h"
#include "solver_random.h"
#include "solver_told.h"

enum { QUESTIONS = 12 };

/* ---- what is to be answered ---- */

struct asked {
    struct solver_mount mount;
    struct solver_shape shape;
    struct solver_question question;
};

static struct asked *draw_question(struct random_cluster *c)
{
    struct asked *asked = ARENA_NEW(c->arena, struct asked);
    asked->shape = chance(c, 50) ? c->shapes[draw(c, (uint32_t)c->shape_count)] : random_shape(c);
    asked->mount = random_mount(c, draw(c, 8));
    asked->question = (struct solver_question){.shape = &asked->shape,
                                               .mounts = &asked->mount,
                                               .mount_count = asked->shape.volume_count,
                                               .beyond_limits = chance(c, 30),
                                               .explain = true};
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

/* The problem with the pod as the only pending one, built from nothing. */
static const char *expected_answer(struct random_cluster *c, const struct asked *asked)
{
    struct solver_builder *builder = solver_builder_create(c->arena);
    struct solver_settings settings = random_settings(c);
    struct random_cluster *copy = ARENA_NEW(c->arena, struct random_cluster);
    *copy = *c;
    copy->limits &= !asked->question.beyond_limits;
    tell_supply(copy, builder);
    tell_daemon(builder);
    for (size_t i = 0; i < copy->node_count; i++)
        tell_node(copy, builder, i);
    for (size_t i = 0; i < copy->pod_count; i++)
        if (copy->pods[i].node != SOLVER_NONE)
            tell_pod(copy, builder, i);
    struct error error;
    uint32_t number;
    struct solver_pod pod = {
        .name = "asked",
        .node = SOLVER_NONE,
        .mounts = &asked->mount,
        .mount_count = asked->shape.volume_count,
    };
    MUST(solver_add_shape(builder, &asked->shape, &pod.shape, &error) &&
         solver_add_pod(builder, &pod, &number, &error));
    const struct solver_problem *problem = NULL;
    MUST(solver_build(builder, &settings, &problem, &error));
    struct solver_run *run = solver_run_create(problem, c->arena);
    const struct solver_plan *plan = solver_solve(run);
    MUST(plan->placement_count == 1);
    struct solver_answer answer = {.kind = plan->placements[0].kind,
                                   .node = plan->placements[0].index,
                                   .names = solver_problem_names(problem)};
    if (answer.kind == SOLVER_ON_NODE_CLAIM)
        answer.claim = &plan->claims[0];
    if (answer.kind == SOLVER_UNSCHEDULABLE)
        answer.reasons = solver_explain(run, plan->placements[0].pod);
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
        struct solver_strings zones = {0};
        struct error error;
        MUST(solver_query_zones(run, &asked->question, arena, &zones, &error));
        struct lines actual = {0}, expected = {0};
        for (size_t i = 0; i < zones.count; i++)
            *LIST_PUSH(arena, &actual) = zones.items[i];
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
        counts[zones.count]++;
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

/* What a query waits for is gone with its memory. */
static void a_query_leaves_no_ports(void)
{
    enum { PORTS = 100 };
    struct arena *arena = arena_create((size_t)64 << 20), *own = arena_create((size_t)64 << 20);
    CU_ASSERT_FATAL(arena != NULL && own != NULL);
    struct solver_builder *builder;
    (void)bare_cluster(arena, &builder);
    const struct solver_settings settings = {0};
    const struct solver_problem *problem = NULL;
    struct error error;
    const struct solver_host_port of_sidecar = {"", "TCP", 7000, true};
    const uint32_t node = add_node(builder, "n", TYPE_KEY, "t3");
    uint32_t shape, pod;
    MUST(solver_add_shape(builder,
                          &(struct solver_shape){.namespace = "default",
                                                 .host_ports = &of_sidecar,
                                                 .host_port_count = 1},
                          &shape, &error) &&
         solver_add_pod(
             builder,
             &(struct solver_pod){.name = "default/a", .uid = "", .shape = shape, .node = node},
             &pod, &error) &&
         solver_build(builder, &settings, &problem, &error));
    struct solver_run *run = solver_run_create(problem, arena);
    struct solver_host_port ports[PORTS];
    for (uint32_t i = 0; i < PORTS; i++)
        ports[i] = (struct solver_host_port){"", "TCP", 7000 + i, false};
    const struct solver_shape asked = {
        .namespace = "default", .host_ports = ports, .host_port_count = PORTS};
    const struct solver_question question = {.shape = &asked};
    for (size_t i = 0; i < 2; i++) {
        struct solver_answer answer;
        struct solver_outlook outlook;
        MUST(solver_query(run, &question, own, &answer, &error));
        ASSERT_INT(answer.kind, SOLVER_UNSCHEDULABLE);
        arena_reset(own);
        MUST(solver_query_outlook(run, &question, own, &outlook, &error));
        arena_reset(own);
        ASSERT_INT(run->node_ports[node].count, 1);
    }
    arena_destroy(own);
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
        struct solver_strings zones = {0};
        const struct solver_question question = {.shape = &shapes[i]};
        MUST(solver_query_zones(run, &question, arena, &zones, &error));
        ASSERT_INT(zones.count, i == 2 ? 1 : 3);
        for (size_t j = 0; j < zones.count && j < 3; j++)
            ASSERT_TEXT(text_of(zones.items[j]), random_zones[j]);
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
    static const enum solver_placement_kind expected[] = {SOLVER_ON_NODE_CLAIM,
                                                          SOLVER_UNSCHEDULABLE};
    for (size_t i = 0; i < 2; i++) {
        const struct solver_shape shape = {.namespace = "default",
                                           .node_selector = {&labels[i], 1}};
        const struct solver_question question = {.shape = &shape};
        ASSERT_INT(ask(run, &question, arena).kind, expected[i]);
    }
    /* Nor is it the reason when something else is. */
    const struct solver_label both[] = {{"topology.kubernetes.io/region", "eu"},
                                        {TYPE_KEY, "none-such"}};
    const struct solver_shape shape = {.namespace = "default", .node_selector = {both, 2}};
    const struct solver_question question = {.shape = &shape, .explain = true};
    struct reasons_words told = reasons_tell(ask(run, &question, arena).reasons, arena);
    CU_ASSERT_TRUE_FATAL(told.count > 0);
    for (size_t i = 0; i < told.count; i++)
        CU_ASSERT_PTR_NULL(strstr(told.items[i].message, "region"));
    arena_destroy(arena);
}

/* Where all preferences are tried the pod may be wherever an answer says that it is, and nowhere
 * when it says so. */
static void an_outlook_has_what_an_answer_says(void)
{
    size_t kinds[3] = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct arena *arena = arena_create((size_t)256 << 20);
        CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
        struct random_cluster *c = random_cluster(arena, seed);
        const struct solver_problem *problem = random_build(c);
        struct solver_run *run = solver_run_create(problem, arena);
        for (size_t i = 0; i < QUESTIONS; i++) {
            const struct asked *asked = draw_question(c);
            struct solver_answer answer = ask(run, &asked->question, arena);
            struct solver_outlook outlook;
            struct error error;
            size_t places = 0;
            MUST(solver_query_outlook(run, &asked->question, arena, &outlook, &error));
            for (size_t j = 0; j < c->node_count; j++)
                places += outlook.nodes[j];
            for (size_t j = 0; j < solver_pool_count(problem); j++)
                places += outlook.claims[j] != NULL;
            if (answer.kind == SOLVER_ON_NODE)
                CU_ASSERT_TRUE(outlook.nodes[answer.node]);
            if (answer.kind == SOLVER_ON_NODE_CLAIM)
                CU_ASSERT_PTR_NOT_NULL(outlook.claims[answer.claim->pool]);
            ASSERT_INT(places > 0, answer.kind != SOLVER_UNSCHEDULABLE);
            kinds[answer.kind]++;
        }
        arena_destroy(arena);
    }
    for (size_t i = 0; i < 3; i++)
        CU_ASSERT_TRUE(kinds[i] > SEEDS);
}

static void an_outlook_of_what_nothing_has(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    struct random_cluster *c = random_cluster(arena, 1);
    struct solver_run *run = solver_run_create(random_build(c), arena);
    const struct solver_amount unknown = {SOLVER_NONE, 1};
    const struct {
        struct solver_shape shape;
        enum solver_reason_kind kind;
    } cases[] = {
        {{.namespace = "default", .requests = {&unknown, 1}}, SOLVER_REASON_RESOURCES},
        {{.namespace = "default", .needs_devices = true}, SOLVER_REASON_DEVICES},
    };
    struct solver_builder *builder = solver_builder_create(arena);
    const struct solver_settings settings = {0};
    const struct solver_problem *empty = NULL;
    struct solver_outlook outlook;
    struct error error;
    MUST(solver_build(builder, &settings, &empty, &error));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct solver_question question = {.shape = &cases[i].shape};
        MUST(solver_query_outlook(run, &question, arena, &outlook, &error));
        ASSERT_INT(outlook.reasons.count, 1);
        ASSERT_INT(reasons_tell(outlook.reasons, arena).items[0].kind, cases[i].kind);
        ASSERT_INT(reasons_tell(outlook.reasons, arena).items[0].pool, SOLVER_NONE);
        /* Nor without Nodes and pools. */
        struct solver_run *of_nothing = solver_run_create(empty, arena);
        MUST(solver_query_outlook(of_nothing, &question, arena, &outlook, &error));
        ASSERT_INT(outlook.reasons.count, 1);
        ASSERT_INT(reasons_tell(outlook.reasons, arena).items[0].kind, cases[i].kind);
    }
    arena_destroy(arena);
}

/* A key and a namespace that nobody has named before. */
static void a_question_may_be_new(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    struct solver_builder *builder;
    struct random_cluster *c = bare_cluster(arena, &builder);
    const struct solver_settings settings = {0};
    const struct solver_problem *problem = NULL;
    struct error error;
    const uint32_t node = add_node(builder, "guarded", ZONE, "a");
    const struct solver_selector everyone = {SOLVER_SELECTOR_GIVEN, {NULL, 0}},
                                 of_team = {SOLVER_SELECTOR_GIVEN,
                                            one_expression(c, "team", SOLVER_IN, "x")};
    const struct solver_pod_affinity apart = {.anti = true,
                                              .required = true,
                                              .key = "kubernetes.io/hostname",
                                              .selector = everyone,
                                              .namespace_selector = of_team};
    uint32_t shape, pod;
    MUST(solver_add_shape(builder,
                          &(struct solver_shape){
                              .namespace = "default", .affinities = &apart, .affinity_count = 1},
                          &shape, &error) &&
         solver_add_pod(
             builder,
             &(struct solver_pod){.name = "default/a", .uid = "", .shape = shape, .node = node},
             &pod, &error) &&
         solver_build(builder, &settings, &problem, &error));
    struct solver_run *run = solver_run_create(problem, arena);
    /* A namespace without labels is not kept away. */
    const struct solver_shape later = {.namespace = "later"};
    const struct solver_question of_later = {.shape = &later};
    ASSERT_INT(ask(run, &of_later, arena).kind, SOLVER_ON_NODE);
    /* A label that nothing has is not what stands in the way. */
    const struct solver_expression both[] = {
        {"example.com/new", SOLVER_DOES_NOT_EXIST, NULL, 0, 0},
        one_expression(c, TYPE_KEY, SOLVER_IN, "none-such").items[0]};
    const struct solver_expressions terms[] = {{both, 2}};
    const struct solver_shape wants = {
        .namespace = "default", .required = terms, .required_count = 1};
    const struct solver_question of_wants = {.shape = &wants, .explain = true};
    struct solver_answer answer = ask(run, &of_wants, arena);
    ASSERT_INT(answer.kind, SOLVER_UNSCHEDULABLE);
    for (size_t i = 0; i < answer.reasons.count; i++)
        CU_ASSERT_FALSE(text_holds(text_of(reasons_tell(answer.reasons, arena).items[i].message),
                                   TEXT("example.com/new")));
    /* No machine has a value of it, and so none of the values that are to be had at least. */
    const struct solver_amount much = {SOLVER_CPU, 5500};
    for (uint32_t least = 0; least < 2; least++) {
        const char *value = "x";
        const struct solver_expression newer = {"example.com/newer", SOLVER_NOT_IN, &value, 1,
                                                least};
        const struct solver_expressions term = {&newer, 1};
        const struct solver_shape large = {
            .namespace = "default", .requests = {&much, 1}, .required = &term, .required_count = 1};
        const struct solver_question of_large = {.shape = &large};
        ASSERT_INT(ask(run, &of_large, arena).kind,
                   least == 0 ? SOLVER_ON_NODE_CLAIM : SOLVER_UNSCHEDULABLE);
    }
    arena_destroy(arena);
}

/* Constraints and domains beyond those that the problem has room for. */
static void a_question_may_be_large(void)
{
    enum { MANY = 70 };
    struct arena *arena = arena_create((size_t)64 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    struct solver_builder *builder;
    struct random_cluster *c = bare_cluster(arena, &builder);
    const struct solver_settings settings = {0};
    const struct solver_problem *problem = NULL;
    struct error error;
    for (size_t i = 0; i < MANY; i++) {
        const char *name = arena_printf(arena, "rack-%zu", i).data;
        (void)add_node(builder, name, "example.com/rack", name);
    }
    MUST(solver_build(builder, &settings, &problem, &error));
    const struct solver_label app = {"app", "a"};
    const struct solver_selector itself = {SOLVER_SELECTOR_GIVEN,
                                           one_expression(c, "app", SOLVER_IN, "a")};
    struct solver_spread spreads[MANY];
    for (size_t i = 0; i < MANY; i++)
        spreads[i] = (struct solver_spread){.key = i == 0 ? "example.com/rack" : ZONE,
                                            .max_skew = (int32_t)i + 1,
                                            .hard = i != 1,
                                            .selector = itself};
    const size_t counts[] = {1, MANY};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        const struct solver_shape shape = {.namespace = "default",
                                           .labels = {&app, 1},
                                           .spreads = spreads,
                                           .spread_count = counts[i]};
        const struct solver_question question = {.shape = &shape};
        struct solver_run *run = solver_run_create(problem, arena);
        /* No Node has a zone, and a NodeClaim has no rack. */
        ASSERT_INT(ask(run, &question, arena).kind, i == 0 ? SOLVER_ON_NODE : SOLVER_UNSCHEDULABLE);
    }
    struct solver_run *solved = solver_run_create(problem, arena);
    (void)solver_solve(solved);
    const struct solver_shape plain = {.namespace = "default"};
    const struct solver_question late = {.shape = &plain};
    struct solver_answer answer;
    CU_ASSERT_FALSE(solver_query(solved, &late, arena, &answer, &error));
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
    const struct solver_amount unknown = {SOLVER_NONE, 1}, odd = {77, 1}, negative = {0, -1};
    const struct solver_shape plain = {.namespace = "default"},
                              wants_unknown = {.namespace = "default", .requests = {&unknown, 1}},
                              wants_odd = {.namespace = "default", .requests = {&odd, 1}},
                              wants_negative = {.namespace = "default", .requests = {&negative, 1}};
    const struct {
        const struct solver_shape *shape;
        size_t mount_count;
        const char *expected;
    } cases[] = {
        {&plain, 1, "the pod has 1 mounts and its shape 0 volumes"},
        {&wants_odd, 0, "a pod of namespace default: there is no resource 77"},
        {&wants_negative, 0,
         "a pod of namespace default: cpu is negative (-1); a quantity "
         "is 0 or more"},
    };
    struct solver_answer answer;
    struct solver_strings zones;
    struct solver_outlook outlook;
    struct error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct solver_question question = {.shape = cases[i].shape,
                                                 .mount_count = cases[i].mount_count};
        CU_ASSERT_FALSE(solver_query(run, &question, arena, &answer, &error));
        ASSERT_TEXT(text_of(error.what), cases[i].expected);
        CU_ASSERT_FALSE(solver_query_zones(run, &question, arena, &zones, &error));
        ASSERT_TEXT(text_of(error.what), cases[i].expected);
        CU_ASSERT_FALSE(solver_query_outlook(run, &question, arena, &outlook, &error));
        ASSERT_TEXT(text_of(error.what), cases[i].expected);
    }
    const struct solver_question fine = {.shape = &plain},
                                 unhad = {.shape = &wants_unknown, .explain = true};
    CU_ASSERT_NOT_EQUAL(ask(run, &fine, arena).kind, SOLVER_UNSCHEDULABLE);
    answer = ask(run, &unhad, arena);
    CU_ASSERT_EQUAL(answer.kind, SOLVER_UNSCHEDULABLE);
    ASSERT_INT(answer.reasons.count, 1);
    ASSERT_INT(reasons_tell(answer.reasons, arena).items[0].kind, SOLVER_REASON_RESOURCES);
    /* More than can be said is no slip of the pen. */
    const struct solver_amount vast = {SOLVER_CPU, INT64_MAX};
    const struct solver_shape wants_vast = {.namespace = "default", .requests = {&vast, 1}};
    const struct solver_question unheard = {.shape = &wants_vast, .explain = true};
    struct reasons_words told = reasons_tell(ask(run, &unheard, arena).reasons, arena);
    CU_ASSERT_TRUE(told.count > 0);
    for (size_t i = 0; i < told.count; i++)
        CU_ASSERT_PTR_NULL(strstr(told.items[i].message, "write m where M stands"));
    /* None of what nobody has is not much to ask for. */
    const struct solver_amount none[] = {{SOLVER_NONE, 0}, {SOLVER_CPU, 1}};
    const struct solver_shape wants_none = {.namespace = "default", .requests = {none, 2}};
    const struct solver_question modest = {.shape = &wants_none};
    CU_ASSERT_NOT_EQUAL(ask(run, &modest, arena).kind, SOLVER_UNSCHEDULABLE);
    (void)solver_solve(run);
    CU_ASSERT_FALSE(solver_query(run, &fine, arena, &answer, &error));
    ASSERT_TEXT(text_of(error.what), "the run was solved; ask another one");
    arena_destroy(arena);
}

const char unit_suite[] = "solver query";
const struct unit_test unit_tests[] = {
    {"as a solve, and the run as it was", as_a_solve_and_as_it_was},
    {"zones are where it could be told to go", zones_are_where_it_could_be_told_to_go},
    {"a query leaves no ports", a_query_leaves_no_ports},
    {"zones are all that a spread allows", zones_are_all_a_spread_allows},
    {"well-known keys need not be named", well_known_keys_need_not_be_named},
    {"an outlook has what an answer says", an_outlook_has_what_an_answer_says},
    {"an outlook of what nothing has", an_outlook_of_what_nothing_has},
    {"a question may be new", a_question_may_be_new},
    {"a question may be large", a_question_may_be_large},
    {"two threads are answered the same", two_threads_are_answered_the_same},
    {"a query without memory leaves no trace", a_query_without_memory_leaves_no_trace},
    {"senseless questions are refused", senseless_questions_are_refused},
    {NULL, NULL},
};
