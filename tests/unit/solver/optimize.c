/* What each improvement of --optimize changes, compared with Karpenter's own choices. */
#include "solver_fixture.h"

static const struct solver_optimize none;

static void one_size(const char *name, const char *resources, int64_t usd_micro)
{
    TYPE(.name = name, .resources = resources,
         .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = usd_micro),
                       OFFER("on-demand", "test-zone-2", .usd_micro = usd_micro),
                       OFFER("on-demand", "test-zone-3", .usd_micro = usd_micro)});
}

static void begin(struct solver_optimize optimize)
{
    world_empty();
    world.settings.optimize = optimize;
}

static int64_t plan_usd_micro(void)
{
    int64_t sum = 0;
    for (size_t i = 0; i < world.plan->claim_count; i++)
        sum += world.plan->claims[i].price_usd_micro;
    return sum;
}

static void test_spread_in_one(void)
{
    for (int in_one = 0; in_one < 2; in_one++) {
        begin((struct solver_optimize){.spread_in_one = in_one == 1});
        one_size("four", "cpu 4; memory 4Gi; pods 10", 400000);
        POOL(.name = "default");
        struct span pods = PODS(4, .labels = "app=x", .affinities = {APART("zone", "app=x")});
        provision();
        EXPECT_SCHEDULED(pods, in_one == 1 ? 3 : 1);
        if (in_one == 1)
            EXPECT_SKEW("zone", "app=x", "1 1 1");
    }
}

/* Each claim could become the large type, so that Karpenter counts it twice over and stops. */
static void test_exact_limits(void)
{
    for (int exact = 0; exact < 2; exact++) {
        begin((struct solver_optimize){.exact_limits = exact == 1});
        one_size("large", "cpu 8; memory 8Gi; pods 1", 800000);
        one_size("small", "cpu 2; memory 2Gi; pods 1", 200000);
        POOL(.name = "default", .limits = "cpu 9");
        struct span pods = PODS(5, .requests = "cpu 1");
        provision();
        EXPECT_SCHEDULED(pods, exact == 1 ? 4 : 1);
    }
}

/* Packing buys no machine beyond a limit: neither the first one, nor one more when a part of the
 * pods has one. */
static void test_limits_of_packing(void)
{
    static const struct {
        const char *limits;
        size_t scheduled;
    } cases[] = {{"cpu 3", 0}, {"cpu 4", 1}, {"cpu 7", 1}, {"cpu 8", 2}, {"cpu 12", 3}, {NULL, 3}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin((struct solver_optimize){.cheapest = true, .exact_limits = true});
        world.title = cases[i].limits;
        one_size("four", "cpu 4; memory 4Gi; pods 10", 400000);
        POOL(.name = "default", .limits = cases[i].limits);
        struct span pods = PODS(3, .requests = "cpu 3");
        provision();
        EXPECT_SCHEDULED(pods, cases[i].scheduled);
        EXPECT_INT(world.plan->claim_count, cases[i].scheduled);
    }
}

/* One small pod counts as one, however many of its size an instance holds: a machine that is cheap
 * for what it has is not cheap for one pod. */
static void test_one_small_pod(void)
{
    begin((struct solver_optimize){.cheapest = true, .exact_limits = true});
    one_size("large", "cpu 100; memory 100Gi; pods 200", 300000);
    one_size("small", "cpu 1; memory 1Gi; pods 10", 30000);
    POOL(.name = "default");
    size_t pod = POD(.requests = "cpu 100m");
    provision();
    EXPECT_LABEL(pod, "type", "small");
    EXPECT_INT(plan_usd_micro(), 30000);
}

/* The emptiest first leaves room on both claims, and on neither enough for the last pod. */
static void test_best_fit(void)
{
    for (int fit = 0; fit < 2; fit++) {
        begin((struct solver_optimize){.best_fit = fit == 1});
        one_size("four", "cpu 4100m; memory 4106Mi; pods 10", 400000);
        POOL(.name = "default");
        struct span apart =
            PODS(2, .labels = "app=x", .requests = "cpu 2", .affinities = {APART("host", "app=x")});
        struct span even = PODS(2, .requests = "cpu 1; memory 1Gi");
        size_t wide = POD(.requests = "cpu 500m; memory 3500Mi");
        provision();
        EXPECT_ALL_SCHEDULED(apart);
        EXPECT_ALL_SCHEDULED(even);
        EXPECT_PLACED(wide);
        EXPECT_INT(world.plan->claim_count, fit == 1 ? 2 : 3);
    }
}

/* At equal weight Karpenter takes the last by name. */
static void test_cheapest_pool(void)
{
    for (int cheapest = 0; cheapest < 2; cheapest++) {
        begin((struct solver_optimize){.cheapest = cheapest == 1});
        one_size("cheap", "cpu 4; memory 4Gi; pods 10", 100000);
        one_size("dear", "cpu 4; memory 4Gi; pods 10", 900000);
        POOL(.name = "a", .requirements = "type In cheap");
        POOL(.name = "b", .requirements = "type In dear");
        size_t pod = POD(.requests = "cpu 1");
        provision();
        EXPECT_LABEL(pod, "pool", cheapest == 1 ? "a" : "b");
    }
}

static void test_weight_before_price(void)
{
    begin((struct solver_optimize){.cheapest = true});
    one_size("cheap", "cpu 4; memory 4Gi; pods 10", 100000);
    one_size("dear", "cpu 4; memory 4Gi; pods 10", 900000);
    POOL(.name = "light", .requirements = "type In cheap");
    POOL(.name = "heavy", .weight = 10, .requirements = "type In dear");
    size_t pod = POD(.requests = "cpu 1");
    provision();
    EXPECT_LABEL(pod, "pool", "heavy");
}

/* One kind of pod wants cpu, the other memory: on one kind of machine half of it idles. */
static void test_cheapest_mix(void)
{
    int64_t cost[2];
    for (int cheapest = 0; cheapest < 2; cheapest++) {
        begin((struct solver_optimize){.cheapest = cheapest == 1});
        one_size("compute", "cpu 8; memory 8Gi; pods 100", 300000);
        one_size("memory", "cpu 2; memory 16Gi; pods 100", 200000);
        one_size("all", "cpu 64; memory 512Gi; pods 1000", 9000000);
        POOL(.name = "default");
        struct span hungry = PODS(24, .requests = "cpu 900m; memory 64Mi");
        struct span fat = PODS(12, .requests = "cpu 100m; memory 5Gi");
        provision();
        EXPECT_ALL_SCHEDULED(hungry);
        EXPECT_ALL_SCHEDULED(fat);
        cost[cheapest] = plan_usd_micro();
    }
    /* 24 at 8 on a machine for cpu are 3, 12 at 3 on a machine for memory 4: 1.7 dollars. */
    EXPECT_INT(cost[1] <= 1700000, 1);
    EXPECT_INT(cost[1] < cost[0], 1);
}

/* A spread takes a zone with few pods before a cheap one, however uneven it may be. */
static void test_fewest_pods_before_price(void)
{
    for (int cheapest = 0; cheapest < 2; cheapest++) {
        begin((struct solver_optimize){.cheapest = cheapest == 1});
        world.title = cheapest == 1 ? "cheapest" : "as Karpenter";
        TYPE(.name = "four", .resources = "cpu 4; memory 4Gi; pods 10",
             .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = 900000),
                           OFFER("on-demand", "test-zone-2", .usd_micro = 100000),
                           OFFER("on-demand", "test-zone-3", .usd_micro = 900000)});
        POOL(.name = "default");
        struct span pods = PODS(6, .labels = "app=x", .requests = "cpu 3",
                                .spreads = {SPREAD("zone", 5, "app=x")});
        provision();
        EXPECT_ALL_SCHEDULED(pods);
        EXPECT_SKEW("zone", "app=x", "2 2 2");
    }
}

struct patience {
    size_t asked, most;
};

static bool is_over(void *patience_pointer)
{
    struct patience *patience = patience_pointer;
    return ++patience->asked > patience->most;
}

/* However early it is over, there is a sound plan, which says that it was cut short. */
static void test_patience(void)
{
    struct patience patience = {0};
    int64_t cost[4] = {0};
    static const size_t most[] = {0, 1, 3, SIZE_MAX};
    for (size_t i = 0; i < COUNT_OF(most); i++) {
        begin((struct solver_optimize){true, true, true, true, true});
        patience = (struct patience){0, most[i]};
        world.settings.patience = (struct solver_patience){is_over, &patience};
        one_size("compute", "cpu 8; memory 8Gi; pods 100", 300000);
        one_size("memory", "cpu 2; memory 16Gi; pods 100", 200000);
        one_size("all", "cpu 64; memory 512Gi; pods 1000", 9000000);
        POOL(.name = "default");
        struct span hungry = PODS(24, .requests = "cpu 900m; memory 64Mi");
        struct span fat = PODS(12, .requests = "cpu 100m; memory 5Gi");
        solve();
        EXPECT_ALL_SCHEDULED(hungry);
        EXPECT_ALL_SCHEDULED(fat);
        EXPECT_INT(world.plan->cut_short, most[i] != SIZE_MAX);
        EXPECT_INT(patience.asked - 1 <= most[i], 1);
        cost[i] = plan_usd_micro();
        CU_ASSERT(i == 0 || cost[i] <= cost[i - 1]);
    }
    CU_ASSERT(cost[3] < cost[0]);

    /* Also at the last try, which moves the pods of a plan that is whole. */
    patience = (struct patience){0, patience.asked - 2};
    solve();
    EXPECT_INT(world.plan->cut_short, 1);
    EXPECT_INT(plan_usd_micro() <= cost[0], 1);
}

/* How often the search tries: two strategies, draws of an effort of 10,000, and reschedulings of
 * one of 30,000, where a try costs one, one for each pod and one for four types; at most 96 and
 * 400. It asks before each try, and tries of small problems are too short to ask within them. */
static void test_tries(void)
{
    static const struct {
        size_t pods, types, draws, reschedulings;
    } cases[] = {{1, 1, 96, 400},
                 {100, 1, 96, 30000 / 101},
                 {150, 1, 10000 / 151, 30000 / 151},
                 {100, 200, 10000 / 151, 30000 / 151}};
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int cheapest = 0; cheapest < 2; cheapest++) {
            begin((struct solver_optimize){.cheapest = cheapest == 1, .best_fit = true});
            struct patience patience = {0, SIZE_MAX};
            world.settings.patience = (struct solver_patience){is_over, &patience};
            for (size_t j = 0; j < cases[i].types; j++)
                one_size(arena_printf(world.arena, "type-%zu", j).data,
                         "cpu 2100m; memory 4Gi; pods 400", 100000);
            POOL(.name = "default");
            (void)PODS(cases[i].pods, .requests = "cpu 1m");
            solve();
            EXPECT_INT(patience.asked,
                       2 + (cheapest == 1 ? cases[i].draws + cases[i].reschedulings : 0));
        }
}

/* A volume that is nowhere yet will be where its first pod is: the pods that share it stay
 * together, though each alone would be cheaper elsewhere. */
static void test_shared_claim(void)
{
    begin((struct solver_optimize){.cheapest = true});
    TYPE(.name = "there", .resources = "cpu 3; memory 4Gi; pods 2",
         .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = 100000)});
    TYPE(.name = "anywhere", .resources = "cpu 5; memory 4Gi; pods 2",
         .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = 300000),
                       OFFER("on-demand", "test-zone-2", .usd_micro = 150000)});
    POOL(.name = "default");
    struct a_volume data = {.claim = "data", .binds = true};
    size_t small = POD(.name = "small", .requests = "cpu 1", .volumes = {data},
                       .affinities = {APART("host", "app=x")}, .labels = "app=x");
    size_t large = POD(.name = "large", .requests = "cpu 4", .volumes = {data},
                       .affinities = {APART("host", "app=x")}, .labels = "app=x");
    provision();
    EXPECT_PLACED(small);
    EXPECT_PLACED(large);
    EXPECT_TEXT(label_of(small, "zone"), label_of(large, "zone"));
}

/* More zones than a word has bits, and no topology over them. */
static void test_shared_claim_of_many_zones(void)
{
    begin((struct solver_optimize){.cheapest = true});
    for (int i = 0; i < 10; i++) {
        struct a_type type = {
            .name = arena_printf(world.arena, "type-%d", i).data,
            .resources = "cpu 3; memory 4Gi; pods 1",
        };
        for (int j = 0; j < 8; j++)
            type.offerings[j] = (struct an_offering){
                .capacity = "on-demand",
                .zone = arena_printf(world.arena, "test-zone-%d", i * 8 + j).data,
                .usd_micro = 500000 - i * 8 - j};
        *LIST_PUSH(world.arena, &world.types) = type;
    }
    POOL(.name = "default");
    struct a_volume data = {.claim = "data", .binds = true};
    struct span pods = PODS(3, .requests = "cpu 1", .volumes = {data});
    provision();
    EXPECT_ALL_SCHEDULED(pods);
    for (size_t i = 0; i < pods.count; i++)
        EXPECT_LABEL(pods.first + i, "zone", "test-zone-79");
}

/* A pod that is placed on a Node decides the zone of the volume, also for those that need a new
 * one; a volume that is there does not wait for anybody. */
static void test_shared_claim_and_nodes(void)
{
    begin((struct solver_optimize){.cheapest = true});
    TYPE(.name = "cheap", .resources = "cpu 4; memory 4Gi; pods 1",
         .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = 100000),
                       OFFER("on-demand", "test-zone-2", .usd_micro = 200000)});
    POOL(.name = "default");
    NODE(.name = "there", .labels = "zone=test-zone-2", .allocatable = "cpu 8; memory 8Gi; pods 1");
    NODE(.name = "elsewhere", .labels = "zone=test-zone-1",
         .allocatable = "cpu 1; memory 8Gi; pods 1");
    struct a_volume data = {.claim = "data", .binds = true};
    struct a_volume own = VOLUME("zone In test-zone-1 test-zone-2", .claim = "own-#");
    size_t first = POD(.name = "a", .requests = "cpu 3", .volumes = {data});
    size_t second = POD(.name = "b", .requests = "cpu 2", .volumes = {data, own});
    size_t third = POD(.name = "c", .requests = "cpu 500m", .volumes = {data});
    provision();
    EXPECT_PLACED(first);
    EXPECT_LABEL(second, "zone", label_of(first, "zone"));
    EXPECT_LABEL(third, "zone", label_of(first, "zone"));
}

/* What may not have a label joins what may have any value of it but one: the node gets none. */
static void test_label_that_may_not_be(void)
{
    begin((struct solver_optimize){.cheapest = true});
    one_size("type", "cpu 4; memory 4Gi; pods 5", 100000);
    POOL(.name = "default");
    size_t some = POD(.requests = "cpu 2", .required = {"team NotIn x"});
    size_t none_of_it = POD(.requests = "cpu 1", .required = {"team DoesNotExist"});
    provision();
    EXPECT_PLACED(some);
    EXPECT_PLACED(none_of_it);
    EXPECT_INT(world.plan->claim_count, 1);
}

/* On a NodeClaim that is yet to be opened no pod needs the label, whatever others need elsewhere.
 */
static void test_label_that_no_pod_needs_yet(void)
{
    begin((struct solver_optimize){.cheapest = true});
    one_size("type", "cpu 4; memory 4Gi; pods 1", 100000);
    POOL(.name = "default", .requirements = "team NotIn x");
    struct span pods = PODS(2, .requests = "cpu 1", .required = {"team DoesNotExist"});
    provision();
    EXPECT_ALL_SCHEDULED(pods);
    EXPECT_INT(world.plan->claim_count, 2);

    begin((struct solver_optimize){.cheapest = true});
    one_size("type", "cpu 4; memory 4Gi; pods 5", 100000);
    POOL(.name = "default", .requirements = "team NotIn x");
    size_t some = POD(.requests = "cpu 2", .required = {"team In y"});
    size_t none_of_it = POD(.requests = "cpu 1", .required = {"team DoesNotExist"});
    provision();
    EXPECT_PLACED(some);
    EXPECT_PLACED(none_of_it);
}

/* Of two shared claims in two zones nobody can mount both; a Node without a zone decides nothing.
 */
static void test_shared_claims_apart(void)
{
    begin((struct solver_optimize){.cheapest = true});
    NODE(.name = "one", .labels = "zone=test-zone-1", .allocatable = "cpu 4; memory 8Gi; pods 1");
    NODE(.name = "two", .labels = "zone=test-zone-2", .allocatable = "cpu 3; memory 8Gi; pods 1");
    NODE(.name = "nowhere", .allocatable = "cpu 2; memory 8Gi; pods 1");
    one_size("type", "cpu 4; memory 4Gi; pods 5", 100000);
    POOL(.name = "default");
    struct a_volume a = {.claim = "a", .binds = true}, b = {.claim = "b", .binds = true};
    struct a_volume c = {.claim = "c", .binds = true};
    size_t first =
        POD(.name = "1", .requests = "cpu 4", .volumes = {a}, .selector = "zone=test-zone-1");
    size_t second =
        POD(.name = "2", .requests = "cpu 3", .volumes = {b}, .selector = "zone=test-zone-2");
    size_t both = POD(.name = "3", .requests = "cpu 1", .volumes = {a, b});
    size_t third =
        POD(.name = "4", .requests = "cpu 2", .volumes = {c}, .required = {"zone DoesNotExist"});
    size_t fourth = POD(.name = "5", .requests = "cpu 1", .volumes = {c});
    provision();
    EXPECT_LABEL(first, "zone", "test-zone-1");
    EXPECT_LABEL(second, "zone", "test-zone-2");
    EXPECT_PENDING(both);
    EXPECT_PLACED(third);
    EXPECT_PLACED(fourth);
}

/* A pod in the zone of one shared claim and not in that of another, in either order. */
static void test_shared_claims_elsewhere(void)
{
    begin((struct solver_optimize){.cheapest = true});
    one_size("type", "cpu 4; memory 4Gi; pods 5", 100000);
    POOL(.name = "default");
    struct a_volume a = {.claim = "a", .binds = true}, b = {.claim = "b", .binds = true};
    struct span there =
        PODS(3, .requests = "cpu 2", .volumes = {a}, .selector = "zone=test-zone-1");
    size_t away = POD(.requests = "cpu 1", .volumes = {a, b}, .selector = "zone=test-zone-2");
    size_t too = POD(.requests = "cpu 1", .volumes = {b, a}, .selector = "zone=test-zone-2");
    provision();
    EXPECT_ALL_SCHEDULED(there);
    EXPECT_PENDING(away);
    EXPECT_PENDING(too);
}

/* Of two zones at one price the first by name. */
static void test_shared_claim_at_one_price(void)
{
    static const char *const zones[][2] = {{"test-zone-1", "test-zone-2"},
                                           {"test-zone-2", "test-zone-1"}};
    for (size_t i = 0; i < COUNT_OF(zones); i++) {
        begin((struct solver_optimize){.cheapest = true});
        TYPE(.name = "one", .resources = "cpu 4; memory 4Gi; pods 1",
             .offerings = {OFFER("on-demand", zones[i][0], .usd_micro = 100000),
                           OFFER("on-demand", zones[i][1], .usd_micro = 100000),
                           OFFER("spot", "test-zone-3", .usd_micro = 10000)});
        POOL(.name = "default", .requirements = "capacity=on-demand");
        struct a_volume data = {.claim = "data", .binds = true};
        struct span pods = PODS(2, .requests = "cpu 1", .volumes = {data});
        provision();
        EXPECT_ALL_SCHEDULED(pods);
        for (size_t j = 0; j < pods.count; j++)
            EXPECT_LABEL(pods.first + j, "zone", "test-zone-1");
    }
}

/* What one pod may use as spot another has to buy on demand: one machine has two prices. */
static void test_two_prices_of_a_type(void)
{
    begin((struct solver_optimize){.cheapest = true});
    TYPE(.name = "one", .resources = "cpu 4; memory 8Gi; pods 10",
         .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = 100000),
                       OFFER("spot", "test-zone-1", .usd_micro = 40000)});
    POOL(.name = "default", .requirements = "capacity In spot on-demand");
    struct span any = PODS(3, .requests = "cpu 1");
    struct span steady = PODS(3, .requests = "cpu 1", .selector = "capacity=on-demand");
    provision();
    EXPECT_ALL_SCHEDULED(any);
    EXPECT_ALL_SCHEDULED(steady);
    for (size_t i = 0; i < steady.count; i++)
        EXPECT_LABEL(steady.first + i, "capacity", "on-demand");
    EXPECT_INT(plan_usd_micro() <= 200000, 1);
}

/* Machines that cost nothing, and machines whose price nobody knows, are bought as Karpenter buys
 * them. */
static void test_no_price(void)
{
    static const struct an_offering offerings[] = {
        OFFER("on-demand", "test-zone-1", .usd_micro = -1),
        OFFER("on-demand", "test-zone-1", .free = true),
        OFFER("on-demand", "test-zone-1", .usd_micro = 100000),
    };
    for (size_t i = 0; i < COUNT_OF(offerings); i++) {
        begin((struct solver_optimize){true, true, true, true, true});
        TYPE(.name = "one", .resources = "cpu 4; memory 8Gi; pods 10", .offerings = {offerings[i]});
        POOL(.name = "default", .limits = "nodes 3");
        struct span pods = PODS(5, .requests = "cpu 1");
        struct span apart =
            PODS(2, .requests = "cpu 1", .labels = "app=x", .affinities = {APART("host", "app=x")});
        provision_unbound();
        EXPECT_ALL_SCHEDULED(pods);
        EXPECT_ALL_SCHEDULED(apart);
    }
}

/* Where machines cost the same whatever their number, as few as can be: of the pods with 3 Gi one
 * goes to each machine at first, and then there is no room for the one with 5 Gi. */
static void test_few_machines(void)
{
    for (int cheapest = 0; cheapest < 2; cheapest++) {
        begin((struct solver_optimize){.cheapest = cheapest == 1, .best_fit = cheapest == 1});
        TYPE(.name = "one", .resources = "cpu 4100m; memory 8202Mi; pods 10",
             .offerings = {OFFER("on-demand", "test-zone-1", .free = true)});
        POOL(.name = "default");
        struct span apart = PODS(2, .requests = "cpu 2; memory 1Gi", .labels = "app=x",
                                 .affinities = {APART("host", "app=x")});
        struct span middling = PODS(2, .requests = "cpu 1; memory 3Gi");
        size_t large = POD(.requests = "cpu 500m; memory 5Gi");
        provision();
        EXPECT_ALL_SCHEDULED(apart);
        EXPECT_ALL_SCHEDULED(middling);
        EXPECT_PLACED(large);
        EXPECT_INT(world.plan->claim_count, cheapest == 1 ? 2 : 3);
    }
}

/* A pool that may have no more nodes buys none, whatever its machines cost. */
static void test_no_nodes_left(void)
{
    begin((struct solver_optimize){.cheapest = true, .exact_limits = true});
    one_size("one", "cpu 4; memory 8Gi; pods 10", 100000);
    POOL(.name = "none", .limits = "nodes 0");
    POOL(.name = "other", .requirements = "zone=test-zone-2");
    struct span pods = PODS(6, .requests = "cpu 1");
    provision();
    EXPECT_ALL_SCHEDULED(pods);
    for (size_t i = 0; i < pods.count; i++)
        EXPECT_LABEL(pods.first + i, "pool", "other");
}

/* To join the claim that is there would make a large machine of it; two small ones cost less. */
static void test_growth_costs(void)
{
    int64_t cost[2];
    for (int cheapest = 0; cheapest < 2; cheapest++) {
        begin((struct solver_optimize){.cheapest = cheapest == 1});
        one_size("small", "cpu 2100m; memory 4Gi; pods 10", 100000);
        one_size("large", "cpu 5; memory 8Gi; pods 10", 900000);
        POOL(.name = "default");
        struct span pods = PODS(2, .labels = "app=x", .requests = "cpu 2",
                                .spreads = {SPREAD("host", 2, "app=x")});
        provision();
        EXPECT_ALL_SCHEDULED(pods);
        cost[cheapest] = plan_usd_micro();
    }
    EXPECT_INT(cost[0], 900000);
    EXPECT_INT(cost[1], 200000);
}

/* The same of more claims than are weighed against each other. */
static void test_growth_of_many_costs(void)
{
    begin((struct solver_optimize){.cheapest = true});
    one_size("small", "cpu 2100m; memory 4Gi; pods 10", 100000);
    one_size("large", "cpu 5; memory 8Gi; pods 10", 900000);
    POOL(.name = "default");
    struct span apart =
        PODS(30, .requests = "cpu 2", .labels = "app=x", .affinities = {APART("host", "app=x")});
    size_t alone = POD(.requests = "cpu 1");
    provision();
    EXPECT_ALL_SCHEDULED(apart);
    EXPECT_PLACED(alone);
    EXPECT_INT(plan_usd_micro(), 31 * 100000);
}

/* Machines of many types, each of which a pod with much cpu and one with much memory fill together:
 * more types than rounds in which the worths of their pods settle. */
static void test_many_that_fit_together(void)
{
    const size_t many = 40;
    begin((struct solver_optimize){.cheapest = true});
    POOL(.name = "default");
    for (size_t i = 0; i < many; i++) {
        const char *name = arena_printf(world.arena, "type-%zu", i).data;
        const char *selector = arena_printf(world.arena, "type=%s", name).data;
        one_size(name, "cpu 8100m; memory 9Gi; pods 10", 100000);
        POD(.requests = "cpu 6; memory 2Gi", .selector = selector);
        POD(.requests = "cpu 2; memory 6Gi", .selector = selector);
    }
    provision();
    struct span pods = {0, 2 * many};
    EXPECT_ALL_SCHEDULED(pods);
    EXPECT_INT(plan_usd_micro(), many * 100000);
}

/* Pods on machines that may not have the labels over which others are spread. */
static void test_labels_that_may_not_be_domains(void)
{
    begin((struct solver_optimize){true, true, true, true, true});
    one_size("small", "cpu 2100m; memory 4Gi; pods 10", 100000);
    one_size("large", "cpu 5; memory 8Gi; pods 10", 220000);
    POOL(.name = "default");
    struct span bare =
        PODS(7, .requests = "cpu 1", .required = {"rack DoesNotExist; row DoesNotExist"});
    struct span spread = PODS(4, .requests = "cpu 800m", .labels = "app=x",
                              .spreads = {SPREAD("rack", 1, "app=x", .soft = true),
                                          SPREAD("row", 1, "app=x", .soft = true)});
    provision();
    EXPECT_ALL_SCHEDULED(bare);
    EXPECT_ALL_SCHEDULED(spread);
}

/* Pods that two spreads put on Nodes stay spread over zones when a part of them is placed anew. */
static void test_two_spreads_over_nodes(void)
{
    begin((struct solver_optimize){true, true, true, true, true});
    one_size("small", "cpu 2100m; memory 4Gi; pods 10", 100000);
    one_size("large", "cpu 5; memory 8Gi; pods 10", 220000);
    POOL(.name = "default");
    NODE(.name = "1", .labels = "zone=test-zone-1", .allocatable = "cpu 4; memory 8Gi; pods 9");
    NODE(.name = "2", .labels = "zone=test-zone-2", .allocatable = "cpu 4; memory 8Gi; pods 9");
    NODE(.name = "3", .labels = "zone=test-zone-3", .allocatable = "cpu 1; memory 8Gi; pods 9");
    struct span both = PODS(6, .requests = "cpu 1", .labels = "app=x; tier=y",
                            .spreads = {SPREAD("zone", 1, "app=x"), SPREAD("zone", 1, "tier=y")});
    struct span one =
        PODS(5, .requests = "cpu 900m", .labels = "app=x", .spreads = {SPREAD("zone", 1, "app=x")});
    struct span other = PODS(4, .requests = "cpu 800m", .labels = "tier=y",
                             .spreads = {SPREAD("zone", 1, "tier=y")});
    provision();
    EXPECT_ALL_SCHEDULED(both);
    EXPECT_ALL_SCHEDULED(one);
    EXPECT_ALL_SCHEDULED(other);
    EXPECT_SKEW("zone", "app=x", "3 4 4");
    EXPECT_SKEW("zone", "tier=y", "3 3 4");
}

/* Pods that would fill a machine together, and may not be in one zone. */
static void test_zones_apart(void)
{
    begin((struct solver_optimize){.cheapest = true});
    one_size("type", "cpu 8; memory 9Gi; pods 10", 100000);
    POOL(.name = "default");
    struct span first = PODS(2, .requests = "cpu 1", .selector = "zone=test-zone-1");
    struct span second = PODS(3, .requests = "cpu 1", .selector = "zone=test-zone-2");
    provision();
    EXPECT_ALL_SCHEDULED(first);
    EXPECT_ALL_SCHEDULED(second);
    EXPECT_INT(plan_usd_micro(), 200000);
}

/* All off is Karpenter; all on never places fewer or costs more. Drawn at random, seed printed. */
static void test_never_worse(void)
{
    unsigned seed = 20261121;
    printf("seed %u\n", seed);
    for (int round = 0; round < 40; round++) {
        size_t placed[2];
        int64_t cost[2];
        for (int on = 0; on < 2; on++) {
            unsigned state = seed + (unsigned)round;
            bool all = on == 1;
            begin(all ? (struct solver_optimize){true, true, true, true, true} : none);
            one_size("large", "cpu 16; memory 32Gi; pods 50", 1600000);
            one_size("medium", "cpu 8; memory 8Gi; pods 20", 700000);
            one_size("small", "cpu 2; memory 4Gi; pods 10", 190000);
            POOL(.name = "a", .limits = rand_r(&state) % 2 == 0 ? "cpu 64" : NULL);
            POOL(.name = "b", .requirements = "type NotIn large");
            for (int i = 0; i < 4; i++) {
                static const char *const requests[] = {"cpu 1; memory 1Gi", "cpu 3; memory 1Gi",
                                                       "cpu 500m; memory 6Gi", "cpu 250m"};
                const char *request = requests[rand_r(&state) % 4];
                size_t count = 1 + (size_t)rand_r(&state) % 12;
                switch (rand_r(&state) % 4) {
                case 0:
                    (void)PODS(count, .labels = "app=s", .requests = request,
                               .spreads = {SPREAD("zone", 1, "app=s")});
                    break;
                case 1:
                    (void)PODS(count, .labels = "app=n", .requests = request,
                               .affinities = {NEAR("zone", "app=n")});
                    break;
                case 2:
                    (void)PODS(count, .labels = "app=h", .requests = request,
                               .affinities = {APART("host", "app=h")});
                    break;
                default:
                    (void)PODS(count, .requests = request);
                }
            }
            provision();
            placed[on] = world.plan->placement_count - world.plan->unschedulable_count;
            cost[on] = plan_usd_micro();
        }
        EXPECT_INT(placed[1] >= placed[0], 1);
        if (placed[1] == placed[0])
            EXPECT_INT(cost[1] <= cost[0], 1);
    }
}

const char unit_suite[] = "solver optimize";
const struct unit_test unit_tests[] = {
    {"anti-affine replicas in one pass", test_spread_in_one},
    {"exact limits", test_exact_limits},
    {"limits of packing", test_limits_of_packing},
    {"one small pod", test_one_small_pod},
    {"best fit", test_best_fit},
    {"cheapest of pools of equal weight", test_cheapest_pool},
    {"weight before price", test_weight_before_price},
    {"cheapest mix", test_cheapest_mix},
    {"fewest pods before price", test_fewest_pods_before_price},
    {"patience", test_patience},
    {"tries", test_tries},
    {"a claim that is shared", test_shared_claim},
    {"a claim that is shared, of many zones", test_shared_claim_of_many_zones},
    {"a claim that is shared, and Nodes", test_shared_claim_and_nodes},
    {"a label that may not be", test_label_that_may_not_be},
    {"a label that no pod needs yet", test_label_that_no_pod_needs_yet},
    {"claims that are shared, apart", test_shared_claims_apart},
    {"claims that are shared, elsewhere", test_shared_claims_elsewhere},
    {"growth of many costs", test_growth_of_many_costs},
    {"many that fit together", test_many_that_fit_together},
    {"zones apart", test_zones_apart},
    {"two spreads over nodes", test_two_spreads_over_nodes},
    {"labels that may not be domains", test_labels_that_may_not_be_domains},
    {"a claim that is shared, at one price", test_shared_claim_at_one_price},
    {"two prices of a type", test_two_prices_of_a_type},
    {"no price", test_no_price},
    {"few machines", test_few_machines},
    {"no nodes left", test_no_nodes_left},
    {"growth costs", test_growth_costs},
    {"never worse than Karpenter's choices", test_never_worse},
    {NULL, NULL},
};
