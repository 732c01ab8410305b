/* The order in which open NodeClaims are tried. Karpenter sorts them by pods with Go's sort.Slice,
 * which is not stable: expected results are those of Go's own sort and of Karpenter's own runs. */
#include "solver/run.h"
#include "solver_fixture.h"

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)((state >> 33) % limit);
}

/* NodeClaims come and get pods, sorted before each. The sums are those of a Go program that does
 * the same with sort.Slice (Go 1.26). */
static void test_sort(void)
{
    static const struct {
        uint32_t size;
        uint64_t seed;
        uint32_t sum;
    } cases[] = {
        {12, 1, 3551620569},  {12, 2, 2160236251},  {12, 3, 585224610},   {13, 1, 1680846493},
        {13, 2, 1228353972},  {13, 3, 2486523289},  {16, 1, 4134964501},  {16, 2, 4103521186},
        {16, 3, 4023919048},  {49, 1, 2063119899},  {49, 2, 1582542478},  {49, 3, 4268843920},
        {50, 1, 3418287536},  {50, 2, 1938590552},  {50, 3, 126487651},   {75, 1, 1057171495},
        {75, 2, 2586247973},  {75, 3, 1792521247},  {120, 1, 112506241},  {120, 2, 497376646},
        {120, 3, 3826284360}, {512, 1, 2582215088}, {512, 2, 3145647955}, {512, 3, 3466576520},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct node_claim claims[512];
        uint32_t size = cases[i].size, order[512], count = 0, sum = 2166136261U;
        memset(claims, 0, sizeof claims);
        state = cases[i].seed * 2654435761U + size;
        for (uint32_t step = 0; step < size * 6; step++) {
            node_claims_sort(claims, order, count);
            for (uint32_t j = 0; j < count; j++)
                sum = (sum ^ order[j]) * 16777619U;
            if (count < size && (count == 0 || below(3) == 0)) {
                claims[count].pod_count = 1;
                order[count] = count;
                count++;
            } else
                claims[order[below(below(count) + 1)]].pod_count++;
        }
        EXPECT_INT(sum, cases[i].sum);
    }
}

/* How many pods the NodeClaims of one order have: few or many different numbers, in order but for a
 * part, and so that splits go wrong. */
static uint32_t draw_pods(size_t kind, uint32_t i, uint32_t size)
{
    uint32_t pods = 0;
    switch (kind) {
    case 0: /* three numbers */
        return below(3);
    case 1: /* eight of each */
        return below(size / 8 + 1);
    case 2: /* any */
        return below(size);
    case 3: /* up and down again */
        return i < size / 2 ? i : size - i;
    case 4: /* up, seven by seven */
        return i % 7;
    case 5: /* down, in pairs */
        return (size - i) / 2;
    case 6: /* two parts that are in order */
        return i < size / 3 ? i : i - size / 3;
    case 7: /* half of them none, a quarter one, and so on */
        while (below(2) == 0)
            pods++;
        return pods;
    case 8: /* up, but for a few */
        return below(16) == 0 ? below(size) : i;
    case 9: /* down, but for a few */
        return below(16) == 0 ? below(size) : size - i;
    default: /* alike, but for the last */
        return i < size - size / 9 ? 1 : below(4);
    }
}

/* The sums are those of a Go program that draws the same numbers and sorts them with sort.Slice (Go
 * 1.26). */
static void test_sort_of_kinds(void)
{
    static const uint32_t sizes[] = {13, 14, 16, 24,  32,  33,  48,  49,  50,
                                     51, 64, 65, 100, 128, 200, 256, 350, 512};
    static const uint32_t sums[] = {1980257181, 3334456017, 429266599,  3607221857,
                                    2157253505, 405118161,  3415440761, 1944092659,
                                    3050618913, 1125574075, 2697637785};
    for (size_t kind = 0; kind < COUNT_OF(sums); kind++) {
        uint32_t sum = 2166136261U;
        for (size_t i = 0; i < COUNT_OF(sizes); i++)
            for (uint64_t seed = 1; seed <= 20; seed++) {
                static struct node_claim claims[512];
                uint32_t size = sizes[i], order[512];
                state = seed * 2654435761U + size;
                for (uint32_t j = 0; j < size; j++) {
                    claims[j].pod_count = draw_pods(kind, j, size);
                    order[j] = j;
                }
                node_claims_sort(claims, order, size);
                for (uint32_t j = 0; j < size; j++)
                    sum = (sum ^ order[j]) * 16777619U;
            }
        EXPECT_INT(sum, sums[kind]);
    }
}

/* Pods in such numbers that every split goes wrong, as McIlroy's "A Killer Adversary for Quicksort"
 * finds them: the rest is sorted as a heap. The sum is that of sort.Slice, too. */
static void test_sort_of_bad_splits(void)
{
    static const uint8_t pods[] = {2,  3,  4,  5,  6,  7,  8,  9,  23, 0,  10, 19, 23,
                                   20, 23, 23, 24, 11, 1,  20, 15, 20, 16, 12, 22, 21,
                                   17, 18, 22, 13, 22, 22, 21, 14, 21, 21, 20};
    static struct node_claim claims[COUNT_OF(pods)];
    uint32_t order[COUNT_OF(pods)], sum = 2166136261U;
    for (uint32_t i = 0; i < COUNT_OF(pods); i++) {
        claims[i].pod_count = pods[i];
        order[i] = i;
    }
    node_claims_sort(claims, order, COUNT_OF(pods));
    for (size_t i = 0; i < COUNT_OF(pods); i++)
        sum = (sum ^ order[i]) * 16777619U;
    EXPECT_INT(sum, 1256987721);
}

/* Sorts 60 NodeClaims, whose numbers of pods all differ; they come out in ascending order. */
static void expect_sorted(const uint32_t *pods)
{
    enum { CLAIMS = 60 };
    static struct node_claim claims[CLAIMS];
    uint32_t order[CLAIMS];
    for (uint32_t i = 0; i < CLAIMS; i++) {
        claims[i].pod_count = pods[i];
        order[i] = i;
    }
    node_claims_sort(claims, order, CLAIMS);
    for (uint32_t i = 0; i < CLAIMS; i++)
        EXPECT_INT(claims[order[i]].pod_count, i + 1);
}

/* What is nearly in order, and what is in the opposite one, is sorted in ways of their own. */
static void test_sort_of_orders(void)
{
    uint32_t pods[60];
    for (uint32_t i = 0; i < 60; i++)
        pods[i] = 60 - i;
    expect_sorted(pods);
    for (uint32_t swapped = 0; swapped < 10; swapped++) {
        for (uint32_t i = 0; i < 60; i++)
            pods[i] = i + 1;
        for (uint32_t i = 0; i < swapped; i++) {
            uint32_t at = 1 + 5 * i + (i > 1 ? 2 : 0), first = pods[at];
            pods[at] = pods[at + 1];
            pods[at + 1] = first;
        }
        expect_sorted(pods);
    }
}

/* 16 NodeClaims with a pod each: the first of two small pods goes to the NodeClaim that was opened
 * first, the second to the one that the sort has put there in between, the ninth. */
static void test_second_of_many(void)
{
    world_empty();
    TYPE(.name = "small", .resources = "cpu 4; memory 16Gi; pods 49",
         .offerings = {OFFER("spot", "test-zone-1", .usd_micro = 83100)});
    TYPE(.name = "large", .resources = "cpu 16; memory 64Gi; pods 41",
         .offerings = {OFFER("spot", "test-zone-1", .usd_micro = 330100)});
    POOL(.name = "default");
    struct span large = PODS(8, .requests = "cpu 3; memory 4Gi", .ports = {{"", "", 80, false}});
    struct span middling =
        PODS(8, .requests = "cpu 2; memory 128Mi", .ports = {{"", "", 80, false}});
    struct span small = PODS(2, .requests = "cpu 1; memory 256Mi");
    provision();
    EXPECT_ALL_SCHEDULED(large);
    EXPECT_ALL_SCHEDULED(middling);
    EXPECT_ALL_SCHEDULED(small);
    EXPECT_SAME_NODE(small.first, large.first);
    EXPECT_SAME_NODE(small.first + 1, middling.first);
}

/* So many NodeClaims that their order is no longer kept: nothing is lost on the way. */
static void test_very_many(void)
{
    world_empty();
    TYPE(.name = "one", .resources = "cpu 4100m; memory 16Gi; pods 3",
         .offerings = {OFFER("spot", "test-zone-1", .usd_micro = 100000)});
    POOL(.name = "default");
    struct span alone =
        PODS(700, .requests = "cpu 2", .labels = "app=x", .affinities = {APART("host", "app=x")});
    struct span more = PODS(1400, .requests = "cpu 1");
    provision();
    EXPECT_ALL_SCHEDULED(alone);
    EXPECT_ALL_SCHEDULED(more);
    EXPECT_INT(world.plan->claim_count, 700);
}

/* The same where many of them have two pods when the order becomes too long. */
static void test_very_many_of_two(void)
{
    world_empty();
    TYPE(.name = "one", .resources = "cpu 8100m; memory 16Gi; pods 4",
         .offerings = {OFFER("spot", "test-zone-1", .usd_micro = 100000)});
    POOL(.name = "default");
    struct span large =
        PODS(300, .requests = "cpu 5", .labels = "app=x", .affinities = {APART("host", "app=x")});
    struct span beside = PODS(300, .requests = "cpu 3");
    struct span alone = PODS(400, .requests = "cpu 2900m", .labels = "app=y",
                             .affinities = {APART("host", "app=y")});
    struct span more = PODS(1200, .requests = "cpu 1");
    provision();
    EXPECT_ALL_SCHEDULED(large);
    EXPECT_ALL_SCHEDULED(beside);
    EXPECT_ALL_SCHEDULED(alone);
    EXPECT_ALL_SCHEDULED(more);
    EXPECT_INT(world.plan->claim_count, 700);
}

/* More NodeClaims than an order is kept of, the first hundred in zone 1. Of those with two pods one
 * in zone 2 comes first, and one in zone 1 later: who has to join the latter finds it. */
static void test_late_among_those_with_two(void)
{
    world_empty();
    TYPE(.name = "one", .resources = "cpu 4100m; memory 16Gi; pods 3",
         .offerings = {OFFER("spot", "test-zone-1", .usd_micro = 100000),
                       OFFER("spot", "test-zone-2", .usd_micro = 100000)});
    POOL(.name = "default");
    struct span first = PODS(100, .requests = "cpu 2200m", .selector = "zone=test-zone-1",
                             .labels = "app=x", .affinities = {APART("host", "app=x")});
    struct span others = PODS(550, .requests = "cpu 2", .selector = "zone=test-zone-2",
                              .labels = "app=x", .affinities = {APART("host", "app=x")});
    size_t beside_others = POD(.requests = "cpu 1500m", .selector = "zone=test-zone-2");
    size_t beside_first =
        POD(.requests = "cpu 1400m", .selector = "zone=test-zone-1", .labels = "app=y");
    size_t joins = POD(.requests = "cpu 400m", .affinities = {NEAR("host", "app=y")});
    provision();
    EXPECT_ALL_SCHEDULED(first);
    EXPECT_ALL_SCHEDULED(others);
    EXPECT_SAME_NODE(beside_others, others.first);
    EXPECT_SAME_NODE(beside_first, first.first);
    EXPECT_SAME_NODE(joins, beside_first);
    EXPECT_INT(world.plan->claim_count, 650);
}

/* A spread that counts other pods says nothing between zones as long as there are none. Karpenter
 * draws then; where prices are equal, too, the zone with the fewest NodeClaims is next. */
static void test_ties_between_zones(void)
{
    world_empty();
    TYPE(.name = "one", .resources = "cpu 4; memory 16Gi; pods 9",
         .offerings = {OFFER("spot", "test-zone-1", .usd_micro = 100000),
                       OFFER("spot", "test-zone-2", .usd_micro = 100000),
                       OFFER("spot", "test-zone-3", .usd_micro = 100000)});
    POOL(.name = "default");
    struct span pods =
        PODS(6, .requests = "cpu 1", .labels = "app=x", .affinities = {APART("host", "app=x")},
             .spreads = {SPREAD("zone", 1, "app=y")});
    provision();
    EXPECT_ALL_SCHEDULED(pods);
    EXPECT_SKEW("zone", "app=x", "2 2 2");
}

const char unit_suite[] = "solver NodeClaim order";
const struct unit_test unit_tests[] = {
    {"equals are in the order of Go's sort", test_sort},
    {"equals are in that order, whatever the numbers", test_sort_of_kinds},
    {"equals are in that order after bad splits", test_sort_of_bad_splits},
    {"what is nearly in order, or in the opposite one", test_sort_of_orders},
    {"the second of many", test_second_of_many},
    {"more than an order is kept of", test_very_many},
    {"more than an order is kept of, with two pods", test_very_many_of_two},
    {"late among those with two pods", test_late_among_those_with_two},
    {"ties between zones", test_ties_between_zones},
    {NULL, NULL},
};
