/* What strategies of --optimize choose: how they count limits, what they draw, and which of two
 * plans is better. */
#include "solver_strategy.h"

/* ---- limits to what is bought ---- */

/* A NodeClaim counts as what it would be bought as: it gives that back when it grows, and takes
 * what it has become. */
static void test_growth_under_limits(void)
{
    static const struct {
        const char *limits;
        size_t scheduled, claims;
    } cases[] = {
        {"cpu 3", 0, 0},
        {"cpu 4", 1, 1},
        {"cpu 7", 1, 1},
        {"cpu 8", 2, 1},
        {"cpu 11", 2, 1},
        {"cpu 12", 3, 2},
        {NULL, 3, 2},
        {"memory 7Gi", 0, 0},
        {"memory 15Gi", 1, 1},
        {"memory 16Gi", 2, 1},
        {"nodes 0", 0, 0},
        {"nodes 1", 3, 2},
        {"cpu 100; memory 23Gi", 2, 1},
        {"cpu 100; memory 24Gi", 3, 2},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_empty();
        world.title = cases[i].limits;
        sell("four", "cpu 4; memory 8Gi; pods 20", "a", 1000);
        sell("eight", "cpu 8; memory 16Gi; pods 20", "a", 2000);
        POOL(.name = "default", .limits = cases[i].limits);
        struct span pods = PODS(3, .requests = "cpu 3");
        place_by((struct strategy){.sound = true, .exact_limits = true});
        EXPECT_SCHEDULED(pods, cases[i].scheduled);
        EXPECT_INT(world.plan->claim_count, cases[i].claims);
    }
}

/* A NodeClaim grows only as far as the others leave room under the limits. */
static void test_growth_beside_others(void)
{
    static const struct {
        const char *limits;
        bool grows;
    } cases[] = {
        {"cpu 12", true},
        {"cpu 11", false},
        {"memory 24Gi", true},
        {"memory 23Gi", false},
        {"cpu 12; memory 23Gi", false},
        {"nodes 2", true},
        {"fake.com/vendor-a 0", true},
        {NULL, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_empty();
        world.title = cases[i].limits;
        sell("four", "cpu 4; memory 8Gi; pods 20", "a", 1000);
        sell("eight", "cpu 8; memory 16Gi; pods 20", "a", 2000);
        POOL(.name = "default", .requirements = "family=a", .limits = cases[i].limits);
        struct span apart =
            PODS(2, .requests = "cpu 3", .labels = "app=x", .affinities = {APART("host", "app=x")});
        size_t pod =
            POD(.requests = "cpu 2", .labels = "app=y", .affinities = {NEAR("host", "app=x")});
        place_by((struct strategy){.sound = true, .exact_limits = true});
        EXPECT_ALL_SCHEDULED(apart);
        EXPECT_INT(node_of(pod) != NULL, cases[i].grows);
        EXPECT_INT(world.plan->claim_count, 2);
    }
}

/* What is charged follows a NodeClaim that is narrowed to a larger type. */
static void test_narrowed_under_limits(void)
{
    static const struct {
        const char *limits;
        bool joins;
    } cases[] = {{"cpu 8", true}, {"cpu 7", false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_empty();
        world.title = cases[i].limits;
        sell("four", "cpu 4; memory 8Gi; pods 20", "a", 1000);
        sell("eight", "cpu 8; memory 16Gi; pods 20", "b", 2000);
        POOL(.name = "default", .limits = cases[i].limits);
        size_t first = POD(.requests = "cpu 2"),
               narrows = POD(.requests = "cpu 1", .selector = "family=b");
        size_t last =
            POD(.requests = "cpu 500m", .labels = "app=x", .affinities = {APART("host", "")});
        place_by((struct strategy){.sound = true, .exact_limits = true});
        EXPECT_PLACED(first);
        EXPECT_INT(same_node(first, narrows), cases[i].joins);
        EXPECT_PENDING(last);
    }
}

/* ---- labels that kube-scheduler needs ---- */

/* Karpenter takes the last pod everywhere: NotIn and DoesNotExist are compatible for it, whatever
 * stood beside the NotIn. */
static void test_labels_that_pods_need(void)
{
    static const struct {
        const char *name, *pool, *node;
        struct a_pod first, second, last;
        bool fits; /* the last one, also for kube-scheduler */
    } cases[] = {
        {"nobody needs it",
         "team Exists",
         NULL,
         {.required = {"team NotIn red"}},
         {.required = {"team NotIn blue"}},
         {.required = {"team DoesNotExist"}},
         true},
        {"the second needs it",
         "team Exists",
         NULL,
         {.required = {"team NotIn red"}},
         {.required = {"team Exists"}},
         {.required = {"team DoesNotExist"}},
         false},
        {"the second only prefers it",
         "team Exists",
         NULL,
         {.required = {"team NotIn red"}},
         {.preferred = {"1 team Exists"}},
         {.required = {"team DoesNotExist"}},
         true},
        {"the first needs it, too",
         "team Exists",
         NULL,
         {.required = {"team Exists; team NotIn red"}},
         {.name = NULL},
         {.required = {"team DoesNotExist"}},
         false},
        {"a volume needs it",
         "team Exists",
         NULL,
         {.required = {"team NotIn red"}},
         {.volumes = {VOLUME("team Exists")}},
         {.required = {"team DoesNotExist"}},
         false},
        {"a volume excludes it",
         "team Exists",
         NULL,
         {.required = {"team NotIn red"}},
         {.required = {"team Exists"}},
         {.volumes = {VOLUME("team DoesNotExist")}},
         false},
        {"a volume excludes what a volume needs",
         "team Exists",
         NULL,
         {.required = {"team NotIn red"}},
         {.volumes = {VOLUME("team Exists", .claim = "one")}},
         {.volumes = {VOLUME("team DoesNotExist", .claim = "two")}},
         false},
        {"its own volume excludes it",
         NULL,
         NULL,
         {.name = NULL},
         {.name = NULL},
         {.required = {"team Exists; team NotIn red"}, .volumes = {VOLUME("team DoesNotExist")}},
         false},
        {"another key",
         "team Exists; other Exists",
         NULL,
         {.required = {"team NotIn red; other Exists"}},
         {.name = NULL},
         {.required = {"team DoesNotExist"}},
         true},
        {"the last needs it of a NodeClaim",
         NULL,
         NULL,
         {.name = NULL},
         {.name = NULL},
         {.required = {"team Exists; team NotIn red"}},
         true}, /* the node gets some value */
        {"no value is left",
         NULL,
         NULL,
         {.name = NULL},
         {.name = NULL},
         {.required = {"team In red; team NotIn red"}},
         false},
        {"the last needs it of a Node",
         NULL,
         "other=x",
         {.name = NULL},
         {.name = NULL},
         {.required = {"team Exists; team NotIn red"}},
         false},
        {"a volume needs it of a Node",
         NULL,
         "other=x",
         {.name = NULL},
         {.name = NULL},
         {.volumes = {VOLUME("team Exists; team NotIn red")}},
         false},
        {"the Node has it for a volume",
         NULL,
         "team=blue",
         {.name = NULL},
         {.name = NULL},
         {.volumes = {VOLUME("team Exists; team NotIn red")}},
         true},
        {"the Node has it",
         NULL,
         "team=blue",
         {.name = NULL},
         {.name = NULL},
         {.required = {"team Exists; team NotIn red"}},
         true},
    };
    for (size_t i = 0; i < 2 * COUNT_OF(cases); i++) {
        bool sound = i % 2 == 1;
        world_empty();
        world.title = cases[i / 2].name;
        if (cases[i / 2].node != NULL)
            NODE(.name = "here", .pool = "default", .labels = cases[i / 2].node,
                 .allocatable = "cpu 8; memory 16Gi; pods 20");
        else
            sell("eight", "cpu 8; memory 16Gi; pods 20", "a", 2000);
        POOL(.name = "default", .requirements = cases[i / 2].pool);
        struct a_pod pods[] = {cases[i / 2].first, cases[i / 2].second, cases[i / 2].last};
        size_t numbers[COUNT_OF(pods)];
        for (size_t j = 0; j < COUNT_OF(pods); j++)
            numbers[j] = world_pod(&pods[j]);
        place_by((struct strategy){.sound = sound});
        EXPECT_PLACED(numbers[0]);
        EXPECT_PLACED(numbers[1]);
        EXPECT_INT(node_of(numbers[2]) != NULL, !sound || cases[i / 2].fits);
    }
}

/* The first pod excludes the label that a volume of the second one needs. */
static void test_label_that_a_volume_needs(void)
{
    for (int sound = 0; sound < 2; sound++) {
        world_empty();
        sell("eight", "cpu 8; memory 16Gi; pods 20", "a", 2000);
        POOL(.name = "default");
        size_t first = POD(.requests = "cpu 2", .required = {"team DoesNotExist"});
        size_t second =
            POD(.requests = "cpu 1", .volumes = {VOLUME("team Exists; team NotIn red")});
        place_by((struct strategy){.sound = sound == 1});
        EXPECT_PLACED(first);
        EXPECT_PLACED(second);
        EXPECT_INT(claim_of(first) == claim_of(second), sound == 0);
    }
}

/* ---- the nodes over which kube-scheduler spreads ---- */

/* The first of two pods takes the room that its first term has. For the other one Karpenter gives
 * up that term, and then spreads over the nodes of the second one, where no pod is. For
 * kube-scheduler the first pod counts, and so does the other zone, where a node of the first term
 * is there. */
static void test_spread_over_all_terms(void)
{
    static const struct {
        const char *name;
        bool node, node_claim; /* of the first term, in the other zone */
        struct a_spread spread;
        size_t sound; /* pods that kube-scheduler takes of the two */
    } cases[] = {
        {"a Node", true, false, SPREAD("zone", 1, "app=x"), 1},
        {"a NodeClaim", false, true, SPREAD("zone", 1, "app=x"), 1},
        {"nothing there", false, false, SPREAD("zone", 1, "app=x"), 2},
        {"nothing there, and two zones wanted", false, false,
         SPREAD("zone", 1, "app=x", .min_domains = 2), 1},
        {"a larger skew", true, true, SPREAD("zone", 2, "app=x"), 2},
        {"soft", true, true, SPREAD("zone", 1, "app=x", .soft = true), 2},
        {"over all nodes", true, true, SPREAD("host", 1, "app=y", .ignore_affinity = true), 2},
    };
    for (size_t i = 0; i < 2 * COUNT_OF(cases); i++) {
        bool sound = i % 2 == 1;
        world_empty();
        world.title = cases[i / 2].name;
        sell("eight", "cpu 8; memory 16Gi; pods 20", "b", 1000);
        TYPE(.name = "little memory", .resources = "cpu 8; memory 4Gi; pods 20",
             .requirements = "family=a",
             .offerings = {OFFER("on-demand", "test-zone-2", .usd_micro = 1000)});
        NODE(.name = "room for one", .pool = "default", .labels = "zone=test-zone-1; family=a",
             .allocatable = "cpu 2; memory 8Gi; pods 20");
        if (cases[i / 2].node)
            NODE(.name = "full", .pool = "default", .labels = "zone=test-zone-2; family=a",
                 .allocatable = "cpu 1; memory 8Gi; pods 20");
        POOL(.name = "default");
        size_t first =
            cases[i / 2].node_claim ? POD(.requests = "cpu 3", .selector = "family=a") : 0;
        struct span pods =
            PODS(2, .requests = "cpu 2; memory 5Gi", .labels = "app=x",
                 .required = {"family=a", "family=b"}, .spreads = {cases[i / 2].spread});
        place_by((struct strategy){.sound = sound});
        if (cases[i / 2].node_claim)
            EXPECT_PLACED(first);
        EXPECT_SCHEDULED(pods, sound ? cases[i / 2].sound : 2);
    }
}

/* ---- the pods that kube-scheduler lets a pod join ---- */

/* All required terms have to select one and the same pod (interpodaffinity/filtering.go). */
static void test_affinities_of_one_pod(void)
{
    static const struct {
        const char *name, *there, *also_there; /* labels of pods that run */
        struct an_affinity first, second;
        const char *own;
        bool karpenter, sound;
    } cases[] = {
        {"two pods", "app=a", "tier=b", NEAR("zone", "app=a"), NEAR("zone", "tier=b"), "app=x",
         true, false},
        {"one pod of both", "app=a; tier=b", "app=c", NEAR("zone", "app=a"), NEAR("zone", "tier=b"),
         "app=x", true, true},
        {"in two kinds of domains", "app=a; tier=b", "app=c", NEAR("zone", "app=a"),
         NEAR("host", "tier=b"), "app=x", true, true},
        {"two pods in two kinds of domains", "app=a", "tier=b", NEAR("zone", "app=a"),
         NEAR("host", "tier=b"), "app=x", true, false},
        {"one term twice", "app=a", "app=c", NEAR("zone", "app=a"), NEAR("host", "app=a"), "app=x",
         true, true},
        {"the first, which both select", "app=c", "app=d", NEAR("zone", "app=a"),
         NEAR("zone", "tier=b"), "app=a; tier=b", true, true},
        {"the first, which one selects", "app=c", "app=d", NEAR("zone", "app=a"),
         NEAR("zone", "tier=b"), "app=a", false, false},
        {"anti-affinity joins nobody", "app=a", "tier=b", NEAR("zone", "app=a"),
         APART("zone", "app=z"), "app=x", true, true},
    };
    for (size_t i = 0; i < 2 * COUNT_OF(cases); i++) {
        bool sound = i % 2 == 1;
        world_empty();
        world.title = cases[i / 2].name;
        world.settings.optimize.cheapest = true;
        NODE(.name = "one", .labels = "zone=test-zone-1",
             .allocatable = "cpu 8; memory 8Gi; pods 20");
        POD(.node = "one", .labels = cases[i / 2].there);
        POD(.node = "one", .labels = cases[i / 2].also_there);
        size_t pod = POD(.requests = "cpu 1", .labels = cases[i / 2].own,
                         .affinities = {cases[i / 2].first, cases[i / 2].second});
        place_by((struct strategy){.sound = sound});
        EXPECT_INT(node_of(pod) != NULL, sound ? cases[i / 2].sound : cases[i / 2].karpenter);
    }
}

/* Of more terms than are looked at together, each is by itself, as for Karpenter. */
static void test_more_affinities_than_are_joined(void)
{
#define NEAR_4(pods) NEAR("zone", pods), NEAR("zone", pods), NEAR("zone", pods), NEAR("zone", pods)
    for (size_t count = 16; count <= 17; count++) {
        world_empty();
        world.settings.optimize.cheapest = true;
        NODE(.name = "one", .labels = "zone=test-zone-1",
             .allocatable = "cpu 8; memory 8Gi; pods 20");
        POD(.node = "one", .labels = "app=a");
        POD(.node = "one", .labels = "app=b");
        struct a_pod wants = {.name = "wants",
                              .requests = "cpu 1",
                              .affinities = {NEAR_4("app=a"), NEAR_4("app=a"), NEAR_4("app=b"),
                                             NEAR_4("app=b"), NEAR("zone", "app=b")}};
        if (count == 16)
            wants.affinities[16].key = NULL;
        size_t pod = world_pod(&wants);
        place_by((struct strategy){.sound = true});
        EXPECT_INT(node_of(pod) != NULL, count > 16);
    }
}

/* ---- what is bought in vain ---- */

/* Karpenter buys it whatever else is chosen, also where a part of a plan is made anew; each volume
 * is on a host of its own, and one of them is there. */
static void test_local_volumes(void)
{
    static const struct strategy strategies[] = {
        {0},
        {.sound = true},
        {.sound = true, .look_ahead = true, .best_fit = true},
        {.sound = true, .look_ahead = true, .by_price = true},
    };
    for (size_t i = 0; i < 2 * COUNT_OF(strategies); i++) {
        struct strategy strategy = strategies[i / 2];
        world_empty();
        sell("four", "cpu 4; memory 8Gi; pods 20", "a", 1000);
        POOL(.name = "default");
        NODE(.name = "here", .allocatable = "cpu 2; memory 8Gi; pods 20");
        size_t placed = POD(.requests = "cpu 2", .volumes = {VOLUME("host=here", .local = true)});
        size_t first = POD(.requests = "cpu 3", .volumes = {VOLUME("host=gone", .local = true)});
        size_t second =
            POD(.requests = "cpu 2500m", .volumes = {VOLUME("host=lost", .local = true)});
        size_t other = POD(.requests = "cpu 1");
        place_by(strategy);
        if (i % 2 == 1 && strategy.sound) {
            strategy.old = old_plan_of(world.run, world.arena);
            strategy.seed = i;
            struct solver_run *run = run_create(world.problem, strategy, world.arena);
            place_as_before(run, strategy.old, strategy.seed);
            place_queue(run);
            plan_finish(run);
            take_plan(run);
        }
        EXPECT_INT(node_of(placed) != NULL, true);
        EXPECT_PENDING(first);
        EXPECT_PENDING(second);
        EXPECT_PLACED(other);
        EXPECT_INT(world.plan->unschedulable_count, 2);
        EXPECT_INT(world.plan->claim_count, 2);
        size_t in_vain = 0;
        for (size_t j = 0; j < world.plan->claim_count; j++)
            in_vain += world.plan->claims[j].misplaced_count;
        EXPECT_INT(in_vain, 2);
    }
}

/* ---- in an order that is drawn ---- */

/* Two pods and room for one: how often each wins when the order is drawn a hundred times. */
static void test_drawn_orders(void)
{
    static const struct {
        const char *name, *first, *second;
        bool any_order;
        bool first_wins, second_wins; /* at times */
    } cases[] = {
        {"equals", "cpu 1", "cpu 1", false, true, true},
        {"the larger one first", "cpu 1", "cpu 2", false, false, true},
        {"more memory first", "cpu 1; memory 2Gi", "cpu 1; memory 1Gi", false, true, false},
        {"no other resource counts", "cpu 1; fake.com/vendor-a 1", "cpu 1", false, true, true},
        {"any order", "cpu 1", "cpu 2", true, true, true},
        {"any order of memory", "memory 2Gi", "memory 1Gi", true, true, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t wins[2] = {0};
        for (uint64_t seed = 1; seed <= 100; seed++) {
            world_empty();
            world.title = cases[i].name;
            NODE(.name = "one", .allocatable = "cpu 2; memory 2Gi; fake.com/vendor-a 1; pods 1");
            size_t first = POD(.requests = cases[i].first),
                   second = POD(.requests = cases[i].second);
            place_by((struct strategy){.seed = seed, .any_order = cases[i].any_order});
            wins[0] += node_of(first) != NULL;
            wins[1] += node_of(second) != NULL;
        }
        EXPECT_INT(wins[0] + wins[1], 100);
        EXPECT_INT(wins[0] >= 20, cases[i].first_wins);
        EXPECT_INT(wins[1] >= 20, cases[i].second_wins);
    }
}

/* Zones that are equal otherwise are drawn as well, each seed one. */
static void test_drawn_zones(void)
{
    size_t drawn[3] = {0};
    for (uint64_t seed = 1; seed <= 100; seed++) {
        static const char *const zones[] = {"test-zone-1", "test-zone-2", "test-zone-3"};
        const char *before = NULL;
        for (int again = 0; again < 2; again++) {
            world_empty();
            TYPE(.name = "one", .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = 10),
                                              OFFER("on-demand", "test-zone-2", .usd_micro = 20),
                                              OFFER("on-demand", "test-zone-3", .usd_micro = 30)});
            POOL(.name = "default");
            size_t pod = POD(.labels = "app=x", .spreads = {SPREAD("zone", 1, "app=x")});
            place_by((struct strategy){.seed = seed});
            const char *zone = claim_of(pod)->zone;
            for (size_t i = 0; i < 3 && again == 0; i++)
                drawn[i] += strcmp(zone, zones[i]) == 0;
            for (size_t i = 0; i < 3; i++)
                if (strcmp(zone, zones[i]) == 0) {
                    EXPECT_INT(before == NULL || before == zones[i], 1);
                    before = zones[i];
                }
        }
    }
    for (size_t i = 0; i < 3; i++)
        EXPECT_INT(drawn[i] >= 15, 1);
}

/* ---- which plan is better ---- */

/* Of two plans that leave out one pod, the one that leaves out the small one stays. */
static void test_large_pod_is_not_left_out(void)
{
    world_empty();
    world.settings.optimize = (struct solver_optimize){true, true, true, true, true};
    sell("large", "cpu 6100m; memory 8Gi; pods 20", "a", 9000);
    sell("small", "cpu 1100m; memory 8Gi; pods 20", "a", 1000);
    POOL(.name = "default", .limits = "nodes 1");
    size_t large =
        POD(.requests = "cpu 6", .labels = "app=x", .affinities = {APART("host", "app=x")});
    size_t small =
        POD(.requests = "cpu 1", .labels = "app=x", .affinities = {APART("host", "app=x")});
    solve();
    EXPECT_INT(node_of(large) != NULL && node_of(small) != NULL, 1);
}

/* At one price as few machines as can be, and a price that is known before one that is not. */
static void test_prices_and_machines(void)
{
    world_empty();
    world.settings.optimize = (struct solver_optimize){true, true, true, true, true};
    sell("two", "cpu 2100m; memory 8Gi; pods 20", "a", 1000);
    sell("four", "cpu 4100m; memory 8Gi; pods 20", "a", 2000);
    sell("free", "cpu 8100m; memory 8Gi; pods 20", "b", -1);
    POOL(.name = "a", .requirements = "family=a");
    POOL(.name = "b", .requirements = "family=b");
    struct span pods = PODS(4, .requests = "cpu 1");
    solve();
    EXPECT_ALL_SCHEDULED(pods);
    EXPECT_INT(plan_usd_micro(), 2000);
    EXPECT_INT(world.plan->claim_count, 1);
}

const char unit_suite[] = "solver strategies";
const struct unit_test unit_tests[] = {
    {"growth under limits", test_growth_under_limits},
    {"growth beside others", test_growth_beside_others},
    {"narrowed under limits", test_narrowed_under_limits},
    {"labels that pods need", test_labels_that_pods_need},
    {"a label that a volume needs", test_label_that_a_volume_needs},
    {"spread over all terms", test_spread_over_all_terms},
    {"affinities of one pod", test_affinities_of_one_pod},
    {"more affinities than are joined", test_more_affinities_than_are_joined},
    {"local volumes", test_local_volumes},
    {"drawn orders", test_drawn_orders},
    {"drawn zones", test_drawn_zones},
    {"a large pod is not left out", test_large_pod_is_not_left_out},
    {"prices and machines", test_prices_and_machines},
    {NULL, NULL},
};
