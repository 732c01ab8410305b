/* Capacity reservations: a NodeClaim holds an instance of each reservation that it could be
 * launched into, and a pod waits for one that it may still get. Expected results are those of
 * Karpenter's own tests of the same names. */
#include "solver/run.h"
#include "solver_fixture.h"

#define USUAL                                                                                      \
    OFFER("spot", "test-zone-1"), OFFER("spot", "test-zone-2"), OFFER("on-demand", "test-zone-1"), \
        OFFER("on-demand", "test-zone-2"), OFFER("on-demand", "test-zone-3")
/* Paid for already, whatever it costs on a list. */
#define RESERVED(id, count, ...)                                                         \
    OFFER("reserved", "test-zone-1", .free = true, .reservation = id, .machines = count, \
          ##__VA_ARGS__)
#define SMALL "cpu 2; memory 2Gi"

/* Karpenter's own: the two smaller types have a reservation of one machine each. */
static void begin(void)
{
    world_empty();
    TYPE(.name = "large", .resources = "cpu 6; memory 6Gi", .offerings = {USUAL});
    TYPE(.name = "medium", .resources = "cpu 3; memory 3Gi",
         .offerings = {USUAL, RESERVED("r-medium", 1, .list_usd_micro = 600000)});
    TYPE(.name = "small", .resources = SMALL,
         .offerings = {USUAL, RESERVED("r-small", 1, .list_usd_micro = 400000)});
}

/* The next round, and how many pods it placed. */
static void expect_round(size_t placed)
{
    provision();
    EXPECT_INT(world.plan->placement_count - world.plan->unschedulable_count, placed);
}

/* The test ends when the round bought fewer. */
static const struct solver_node_claim *claim_at(size_t index)
{
    CU_ASSERT_TRUE_FATAL(index < world.plan->claim_count);
    return &world.plan->claims[index];
}

/* The only claim the round bought, and its reservation. */
static void expect_bought(const char *type, const char *reservation)
{
    EXPECT_INT(world.plan->claim_count, 1);
    const struct solver_node_claim *claim = claim_at(0);
    EXPECT_TEXT(solver_type_name(world.problem, claim->type), type);
    EXPECT_TEXT(claim->reservation, reservation);
    EXPECT_INT(strcmp(claim->capacity_type, "reserved") == 0, reservation[0] != '\0');
}

/* Beside a reservation that is full there is one whose machine another NodeClaim of the round
 * holds: in a simulation of Karpenter's the next pod does not wait. */
static void test_full_and_held(void)
{
    world_empty();
    world.settings.reserved_fallback = true;
    TYPE(.name = "one", .resources = "cpu 2; memory 2Gi",
         .offerings = {OFFER("on-demand", "test-zone-1"), RESERVED("r-full", 0),
                       RESERVED("r-one", 1)});
    POOL(.name = "default");
    struct span pods = PODS(2, .requests = "cpu 1800m");
    expect_round(2);
    EXPECT_ALL_SCHEDULED(pods);
    EXPECT_INT(world.plan->claim_count, 2);
    EXPECT_TEXT(claim_at(0)->reservation, "r-one");
}

/* A reservation that is full, and what else there is: a machine that is sold out is none to wait
 * for instead. */
static void test_full_and_sold_out(void)
{
    for (int i = 0; i < 4; i++) {
        bool sold_out = i % 2 == 1;
        world_empty();
        world.title = sold_out ? "sold out" : "on demand";
        world.settings.reserved_fallback = i >= 2;
        TYPE(.name = "one", .resources = "cpu 2; memory 2Gi",
             .offerings = {OFFER("on-demand", "test-zone-1", .unavailable = sold_out),
                           RESERVED("r-full", 0)});
        POOL(.name = "default");
        struct span pods = PODS(2, .requests = "cpu 1800m");
        solve();
        EXPECT_SCHEDULED(pods, sold_out ? 0 : 2);
        EXPECT_INT(world.plan->claim_count, sold_out ? 0 : 2);
    }
}

/* Where no other capacity type is ever named, too. */
static void test_nothing_else_is_offered(void)
{
    world_empty();
    TYPE(.name = "one", .resources = "cpu 2; memory 2Gi", .offerings = {RESERVED("r-one", 1)});
    POOL(.name = "default");
    POD(.requests = "cpu 1");
    expect_round(1);
    expect_bought("one", "r-one");
    const struct solver_requirement *kind =
        solver_requirements_get(claim_at(0)->requirements, world.problem->capacity_type_key);
    CU_ASSERT_PTR_NOT_NULL_FATAL(kind);
    EXPECT_INT(solver_requirement_op(kind), SOLVER_IN);
}

static void test_no_fallback(void)
{
    begin();
    POOL(.name = "default");
    struct span pods = PODS(3, .requests = "cpu 1800m");
    expect_round(1);
    expect_bought("small", "r-small");
    EXPECT_TEXT(claim_types(claim_at(0)), "small medium");
    expect_round(1);
    expect_bought("medium", "r-medium");
    expect_round(1);
    expect_bought("small", "");
    EXPECT_ALL_SCHEDULED(pods);
}

static void test_shared_by_pools(void)
{
    begin();
    POOL(.name = "np-1");
    POOL(.name = "np-2");
    for (int i = 1; i <= 2; i++)
        (void)POD(.labels = "app=test", .requests = "cpu 1",
                  .required = {i == 1 ? "type In small; pool In np-1"
                                      : "type In small; pool In np-2"},
                  .affinities = {APART("host", "app=test")});
    expect_round(1);
    expect_bought("small", "r-small");
    expect_round(1);
    expect_bought("small", "");
}

static void test_distinct_in_pools(void)
{
    begin();
    TYPE(.name = "small", .only_of = "np-2", .resources = SMALL,
         .offerings = {USUAL, RESERVED("r-distinct", 1)});
    POOL(.name = "np-1");
    POOL(.name = "np-2");
    size_t pods[2];
    for (int i = 0; i < 2; i++)
        pods[i] = POD(.labels = "app=test", .requests = "cpu 1",
                      .required = {i == 0 ? "type In small; pool In np-1"
                                          : "type In small; pool In np-2"},
                      .affinities = {APART("host", "app=test")});
    expect_round(2);
    EXPECT_LABEL(pods[0], "reservation", "r-small");
    EXPECT_LABEL(pods[1], "reservation", "r-distinct");
}

static void test_several_of_one_type(void)
{
    begin();
    world.types.items[2].offerings[6] = (struct an_offering)RESERVED("r-small-2", 2);
    POOL(.name = "default");
    (void)PODS(4, .labels = "app=test", .requests = "cpu 1", .required = {"type In small"},
               .affinities = {APART("host", "app=test")});
    /* The first claim holds one of each, the second what is left of the one with two; which they
     * are launched into is the cheapest by name. */
    expect_round(2);
    EXPECT_INT(claim_at(0)->price_usd_micro, 0);
    EXPECT_INT(claim_at(1)->price_usd_micro, 0);
    expect_round(1);
    EXPECT_INT(claim_at(0)->price_usd_micro, 0);
    expect_round(1);
    expect_bought("small", "");
}

static void test_no_lighter_pool(void)
{
    begin();
    TYPE(.name = "small", .only_of = "fallback", .resources = SMALL,
         .offerings = {USUAL, RESERVED("r-fallback", 1)});
    POOL(.name = "primary", .weight = 100);
    POOL(.name = "fallback", .weight = 50);
    struct span pods =
        PODS(2, .labels = "app=test", .requests = "cpu 1", .required = {"type In small"},
             .affinities = {APART("host", "app=test")});
    expect_round(1);
    expect_bought("small", "r-small");
    EXPECT_LABEL(pods.first, "pool", "primary");
    expect_round(1);
    expect_bought("small", "");
    EXPECT_LABEL(pods.first + 1, "pool", "primary");
}

static void test_no_relaxing(void)
{
    begin();
    TYPE(.name = "small", .only_of = "np-2", .resources = SMALL,
         .offerings = {USUAL, RESERVED("r-distinct", 1)});
    POOL(.name = "np-1");
    POOL(.name = "np-2");
    struct span pods =
        PODS(2, .labels = "app=test", .requests = "cpu 1", .required = {"type In small"},
             .preferred = {"1 pool In np-1"}, .affinities = {APART("host", "app=test")});
    expect_round(1);
    expect_bought("small", "r-small");
    EXPECT_LABEL(pods.first, "pool", "np-1");
    expect_round(1);
    expect_bought("small", "");
    EXPECT_LABEL(pods.first + 1, "pool", "np-1");
}

static void test_several_pods(void)
{
    begin();
    POOL(.name = "np-1");
    struct span pods =
        PODS(2, .labels = "app=test", .requests = "cpu 500m",
             .required = {"type In small; capacity In reserved; zone In test-zone-1"},
             .affinities = {NEAR("zone", "app=test")});
    expect_round(2);
    EXPECT_SAME_NODE(pods.first, pods.first + 1);
    expect_bought("small", "r-small");
}

/* What narrows a claim gives back the reservation it rules out, to a pod that came before. */
static void test_given_back(void)
{
    begin();
    POOL(.name = "default");
    size_t first = POD(.requests = "cpu 1200m", .required = {"type In small medium"});
    size_t waits = POD(.requests = "cpu 1100m", .required = {"type In small"}, .labels = "app=x",
                       .affinities = {APART("host", "app=y")});
    size_t narrows = POD(.requests = "cpu 1", .required = {"type In medium"}, .labels = "app=y");
    expect_round(3);
    EXPECT_SAME_NODE(first, narrows);
    EXPECT_LABEL(first, "reservation", "r-medium");
    EXPECT_LABEL(waits, "reservation", "r-small");
}

/* A pool that buys nothing else does not turn to what it may not buy; in a simulation of a
 * disruption the next pool is asked. */
static void test_only_full_ones(void)
{
    static const struct {
        const char *title;
        bool fallback;
        uint32_t machines;
        const char *pool;
    } cases[] = {
        {"a machine is free", false, 1, "np-2"},
        {"full", false, 0, ""},
        {"full, falling back", true, 0, "np-1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_empty();
        world.title = cases[i].title;
        world.settings.reserved_fallback = cases[i].fallback;
        TYPE(.name = "small", .resources = SMALL,
             .offerings = {USUAL, RESERVED("r-small", cases[i].machines)});
        POOL(.name = "np-2", .requirements = "capacity In reserved");
        POOL(.name = "np-1");
        size_t pod = POD(.requests = "cpu 1");
        provision();
        EXPECT_LABEL(pod, "pool", cases[i].pool);
    }
}

/* A full reservation beside other offerings is as if it were not there. */
static void test_full_beside_others(void)
{
    world_empty();
    TYPE(.name = "small", .resources = SMALL, .offerings = {USUAL, RESERVED("r-small", 0)});
    POOL(.name = "default");
    (void)PODS(2, .requests = "cpu 1", .labels = "app=x", .affinities = {APART("host", "app=x")});
    expect_round(2);
    EXPECT_TEXT(claim_at(0)->reservation, "");
    EXPECT_TEXT(claim_at(1)->reservation, "");
}

/* Offerings of one id are one reservation: the least that any of them says is what it has. */
static void test_one_reservation(void)
{
    world_empty();
    TYPE(.name = "small", .resources = SMALL, .offerings = {RESERVED("r", 5)});
    TYPE(.name = "other", .resources = SMALL, .offerings = {RESERVED("r", 2)});
    POOL(.name = "default");
    (void)PODS(4, .requests = "cpu 1", .labels = "app=x", .affinities = {APART("host", "app=x")});
    expect_round(2);
}

static void test_explained(void)
{
    static const struct {
        const char *reservation, *message;
    } cases[] = {
        {"r-small", "only reserved capacity would do, and no machine is free in the capacity "
                    "reservations there are: r-small"},
        {NULL, "only reserved capacity would do, and what is on offer names no capacity "
               "reservation (karpenter.k8s.aws/capacity-reservation-id)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_empty();
        TYPE(.name = "small", .resources = SMALL, .offerings = {RESERVED(cases[i].reservation, 0)});
        POOL(.name = "default");
        size_t pod = POD(.requests = "cpu 1");
        solve();
        struct reasons_words reasons =
            reasons_tell(solver_explain(world.run, world.pods.items[pod].number), world.arena);
        CU_ASSERT_TRUE_FATAL(reasons.count == 1);
        EXPECT_INT(reasons.items[0].kind, SOLVER_REASON_OFFERING);
        EXPECT_TEXT(reasons.items[0].message, cases[i].message);
    }
}

/* A pod that waits for a reservation is not refused by the NodePools after it. */
static void test_explained_to_others(void)
{
    static const struct {
        const char *requested, *messages[2]; /* of np-1 and of np-2, which is tried first */
    } cases[] = {
        {"cpu 1",
         {"is not tried: the pod waits for reserved capacity of NodePool np-2, which comes first",
          "only reserved capacity would do, and no machine is free in the capacity reservations "
          "there are: r-small"}},
        {"cpu 5", {"needs 5 cpu", "needs 5 cpu"}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_empty();
        TYPE(.name = "small", .resources = SMALL, .offerings = {USUAL, RESERVED("r-small", 0)});
        POOL(.name = "np-1");
        POOL(.name = "np-2", .requirements = "capacity In reserved");
        size_t pod = POD(.requests = cases[i].requested);
        solve();
        struct reasons_words reasons =
            reasons_tell(solver_explain(world.run, world.pods.items[pod].number), world.arena);
        CU_ASSERT_TRUE_FATAL(reasons.count == 2);
        for (size_t j = 0; j < 2; j++)
            EXPECT_TEXT(reasons.items[j].message, cases[i].messages[j]);
    }
}

/* A question about one pod sees the reservations as they are, with no claim that holds any. */
static void test_asked_about_one(void)
{
    begin();
    POOL(.name = "default");
    world_build();
    struct solver_run *run = solver_run_create(world.problem, world.arena);
    static const char *const requested[] = {"cpu 1800m", "cpu 5"};
    static const char *const reservations[] = {"r-small", ""};
    for (size_t i = 0; i < 2; i++) {
        struct solver_shape shape = {
            .namespace = "default",
            .requests = notation_amounts(world.arena, world.builder, requested[i])};
        struct solver_question question = {.shape = &shape};
        struct solver_answer answer;
        struct error error;
        for (int again = 0; again < 2; again++) {
            bool good = solver_query(run, &question, world.arena, &answer, &error);
            CU_ASSERT_TRUE_FATAL(good);
            CU_ASSERT_TRUE_FATAL(answer.kind == SOLVER_ON_NODE_CLAIM);
            EXPECT_TEXT(answer.claim->reservation, reservations[i]);
        }
    }
}

/* A question may fall back where the problem does not, and the next one does not again. */
static void test_asked_with_fallback(void)
{
    static const enum solver_placement_kind kinds[] = {SOLVER_UNSCHEDULABLE, SOLVER_ON_NODE_CLAIM};
    world_empty();
    TYPE(.name = "small", .resources = SMALL, .offerings = {USUAL, RESERVED("r-small", 0)});
    POOL(.name = "np-2", .requirements = "capacity In reserved");
    POOL(.name = "np-1");
    world_build();
    struct solver_run *run = solver_run_create(world.problem, world.arena);
    struct solver_shape shape = {.namespace = "default",
                                 .requests = notation_amounts(world.arena, world.builder, "cpu 1")};
    for (size_t i = 0; i < 4; i++) {
        struct solver_question question = {.shape = &shape, .reserved_fallback = i % 2 == 1};
        struct solver_answer answer;
        struct error error;
        bool good = solver_query(run, &question, world.arena, &answer, &error);
        CU_ASSERT_TRUE_FATAL(good);
        EXPECT_INT(answer.kind, kinds[i % 2]);
    }
}

/* The best plan waits for reservations as Karpenter does, and is never dearer. */
static void test_optimized(void)
{
    begin();
    world.settings.optimize = (struct solver_optimize){true, true, true, true, true};
    POOL(.name = "default");
    struct span pods = PODS(3, .requests = "cpu 1800m");
    expect_round(1);
    expect_bought("small", "r-small");
    expect_round(1);
    expect_bought("medium", "r-medium");
    expect_round(1);
    EXPECT_ALL_SCHEDULED(pods);
}

const char unit_suite[] = "solver reserved";
/* Of what is paid for already, the one that is cheaper on a list is used, whichever is named first.
 */
static void test_cheaper_on_a_list(void)
{
    for (int cheaper = 0; cheaper < 2; cheaper++) {
        world_empty();
        TYPE(.name = "a", .resources = SMALL,
             .offerings = {RESERVED("r-a", 1, .list_usd_micro = cheaper == 0 ? 400000 : 600000)});
        TYPE(.name = "b", .resources = SMALL,
             .offerings = {RESERVED("r-b", 1, .list_usd_micro = cheaper == 1 ? 400000 : 600000)});
        POOL(.name = "default");
        POD(.requests = "cpu 1");
        expect_round(1);
        expect_bought(cheaper == 0 ? "a" : "b", cheaper == 0 ? "r-a" : "r-b");
    }
}

const struct unit_test unit_tests[] = {
    {"the cheaper one on a list", test_cheaper_on_a_list},
    {"a full one and one that is held", test_full_and_held},
    {"full and sold out", test_full_and_sold_out},
    {"nothing else is offered", test_nothing_else_is_offered},
    {"no fallback while reserved capacity is left", test_no_fallback},
    {"one reservation of two pools", test_shared_by_pools},
    {"distinct reservations of two pools", test_distinct_in_pools},
    {"several reservations of one type", test_several_of_one_type},
    {"no lighter pool instead", test_no_lighter_pool},
    {"no preference given up", test_no_relaxing},
    {"several pods on a reserved machine", test_several_pods},
    {"a reservation is given back", test_given_back},
    {"nothing but full reservations", test_only_full_ones},
    {"a full reservation beside other offerings", test_full_beside_others},
    {"one reservation of several offerings", test_one_reservation},
    {"why a pod waits", test_explained},
    {"why the NodePools after it do not take a pod that waits", test_explained_to_others},
    {"asked about one pod", test_asked_about_one},
    {"asked about one pod that falls back", test_asked_with_fallback},
    {"optimized", test_optimized},
    {NULL, NULL},
};
