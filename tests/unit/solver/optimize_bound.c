/* Small random clusters with --optimize, compared with the cheapest plan, which is found by trying
 * every distribution of the pods. */
#include "solver_fixture.h"

enum { PODS_MOST = 9, CLUSTERS = 120, ZONES = 3 };

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(state >> 33) % limit;
}

static const struct size {
    const char *name, *resources;
    int64_t cpu_milli, memory_mib; /* without the overhead of the fixture's types */
    int64_t usd_micro;
} sizes[] = {
    {"c-2", "cpu 2100m; memory 4106Mi; pods 100", 2000, 4096, 38000},
    {"c-4", "cpu 4100m; memory 8202Mi; pods 100", 4000, 8192, 76000},
    {"c-8", "cpu 8100m; memory 16394Mi; pods 100", 8000, 16384, 153000},
    {"c-16", "cpu 16100m; memory 32778Mi; pods 100", 16000, 32768, 304000},
    {"s-2", "cpu 2100m; memory 8202Mi; pods 100", 2000, 8192, 42000},
    {"s-4", "cpu 4100m; memory 16394Mi; pods 100", 4000, 16384, 83000},
    {"s-8", "cpu 8100m; memory 32778Mi; pods 100", 8000, 32768, 166000},
    {"m-4", "cpu 4100m; memory 32778Mi; pods 100", 4000, 32768, 96000},
    {"m-8", "cpu 8100m; memory 65546Mi; pods 100", 8000, 65536, 191000},
};

static const struct kind {
    const char *requests;
    int64_t cpu_milli, memory_mib;
} kinds[] = {
    {"cpu 3; memory 1Gi", 3000, 1024},
    {"cpu 1500m; memory 4Gi", 1500, 4096},
    {"cpu 250m; memory 6Gi", 250, 6144},
    {"cpu 1; memory 512Mi", 1000, 512},
};

struct pod {
    const struct kind *kind;
    uint32_t zone; /* of its volume; ZONES: any */
};

/* What one machine for these pods costs at least; INT64_MAX: none holds them. */
static int64_t machine_usd_micro(const struct pod *pods, uint32_t chosen)
{
    int64_t cpu_milli = 0, memory_mib = 0, least = INT64_MAX;
    uint32_t zone = ZONES;
    for (uint32_t i = 0; i < PODS_MOST; i++) {
        if ((chosen >> i & 1) == 0)
            continue;
        cpu_milli += pods[i].kind->cpu_milli;
        memory_mib += pods[i].kind->memory_mib;
        if (pods[i].zone == ZONES)
            continue;
        if (zone != ZONES && zone != pods[i].zone)
            return INT64_MAX;
        zone = pods[i].zone;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (cpu_milli <= sizes[i].cpu_milli && memory_mib <= sizes[i].memory_mib &&
            sizes[i].usd_micro < least)
            least = sizes[i].usd_micro;
    return least;
}

/* By the set of pods: the machine of its first pod takes every possible part of the others. */
static int64_t least_usd_micro(const struct pod *pods, size_t count)
{
    static int64_t least[1 << PODS_MOST];
    for (uint32_t all = 1; all < (uint32_t)1 << count; all++) {
        uint32_t first = all & -all;
        least[all] = INT64_MAX;
        for (uint32_t part = all; part > 0; part = (part - 1) & all) {
            int64_t cost = (part & first) == 0 ? INT64_MAX : machine_usd_micro(pods, part);
            if (cost < INT64_MAX && cost + least[all ^ part] < least[all])
                least[all] = cost + least[all ^ part];
        }
    }
    return least[((uint32_t)1 << count) - 1];
}

static int64_t plan_usd_micro(void)
{
    int64_t sum = 0;
    for (size_t i = 0; i < world.plan->claim_count; i++)
        sum += world.plan->claims[i].price_usd_micro;
    return sum;
}

static size_t random_pods(struct pod *pods)
{
    static const char *const places[] = {"zone=test-zone-1", "zone=test-zone-2", "zone=test-zone-3",
                                         NULL};
    size_t count = 4 + below(PODS_MOST - 3);
    for (size_t i = 0; i < count; i++) {
        uint32_t zone = below(2 * ZONES);
        pods[i] =
            (struct pod){&kinds[below(sizeof kinds / sizeof *kinds)], zone < ZONES ? zone : ZONES};
        (void)POD(.requests = pods[i].kind->requests,
                  .volumes = {VOLUME(places[pods[i].zone], .claim = "own-#", .driver = "csi")});
    }
    return count;
}

static void random_cluster(uint64_t seed)
{
    world_empty();
    world.title = arena_printf(world.arena, "seed %llu", (unsigned long long)seed).data;
    world.settings.optimize = (struct solver_optimize){true, true, true, true, true};
    state = seed * 2654435761U + 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        TYPE(.name = sizes[i].name, .resources = sizes[i].resources,
             .offerings = {OFFER("spot", "test-zone-1", .usd_micro = sizes[i].usd_micro),
                           OFFER("spot", "test-zone-2", .usd_micro = sizes[i].usd_micro),
                           OFFER("spot", "test-zone-3", .usd_micro = sizes[i].usd_micro)});
    POOL(.name = "default");
}

static void test_least_cost(void)
{
    size_t least_reached = 0;
    int64_t sum = 0, least_sum = 0;
    for (uint64_t seed = 1; seed <= CLUSTERS; seed++) {
        struct pod pods[PODS_MOST];
        random_cluster(seed);
        size_t count = random_pods(pods);
        solve();
        int64_t cost = plan_usd_micro(), least = least_usd_micro(pods, count);
        EXPECT_INT(world.plan->unschedulable_count, 0);
        EXPECT_INT(cost >= least, 1);
        least_reached += cost == least;
        sum += cost;
        least_sum += least;
    }
    world.title = "all of them";
    EXPECT_INT(least_reached >= CLUSTERS * 97 / 100, 1);
    EXPECT_INT(sum * 1000 <= least_sum * 1001, 1);
}

const char unit_suite[] = "solver optimize, bound";
const struct unit_test unit_tests[] = {
    {"plans cost the least they can", test_least_cost},
    {NULL, NULL},
};
