/* minValues: how many different values of a key the remaining types must have. Expected results are
 * those of Karpenter's own tests of the same names. */
#include "solver_fixture.h"

#define NEARLY_ONE "cpu 0.9; memory 0.9Gi"
#define NUMBER "karpenter/numerical-value"
#define SPOT_1                            \
    {                                     \
        OFFER("spot", "test-zone-1-spot") \
    }

/* A type: its size in cpu and Gi, its price and what else it says. */
static void sell(const char *name, const char *arch, int size, int64_t usd_micro,
                 const char *requirements)
{
    TYPE(.name = name, .arch = arch, .os = "linux",
         .resources = arena_printf(world.arena, "cpu %d; memory %dGi", size, size).data,
         .requirements = requirements,
         .offerings = {OFFER("spot", "test-zone-1-spot", .usd_micro = usd_micro)});
}

/* Two pods that would share a node of the largest type if the pool were content with it. */
static void test_two_pods(void)
{
    static const struct {
        const char *name;
        struct {
            int size;
            const char *arch, *number;
        } types[4];
        const char *pool, *required;
        size_t scheduled, nodes, least_types;
    } cases[] = {
        {"none asked for", {{1, "arm64", NULL}, {4, "arm64", NULL}}, NULL, NULL, 2, 1, 1},
        {"respecting the minValues from instance-type requirements",
         {{1, "arm64", NULL}, {4, "arm64", NULL}},
         "type In type-1 type-2 min 2",
         NULL,
         2,
         2,
         2},
        {"respecting the minValues in Gt operator",
         {{1, "arm64", "2"}, {1, "arm64", "3"}, {4, "arm64", "4"}},
         NUMBER " Gt 2 min 2",
         NULL,
         2,
         2,
         2},
        {"fail if the minValues in Gt operator is not satisfied",
         {{1, "arm64", "2"}, {4, "arm64", "3"}},
         NUMBER " Exists min 2",
         NUMBER " Gt 2",
         0,
         0,
         0},
        {"respecting the minValues in Lt operator",
         {{1, "arm64", "2"}, {2, "arm64", "3"}, {4, "arm64", "4"}},
         NUMBER " Lt 4 min 2",
         NULL,
         2,
         2,
         2},
        {"fail if the minValues in Lt operator is not satisfied",
         {{2, "arm64", "2"}, {4, "arm64", "4"}},
         NUMBER " Lt 4 min 2",
         NULL,
         0,
         0,
         0},
        {"the max of In and NotIn",
         {{1, "arm64", NULL}, {2, "arm64", NULL}, {4, "arm64", NULL}},
         "type In type-1 type-2 type-3 min 1; type NotIn type-3 min 2",
         NULL,
         2,
         2,
         2},
        {"the max of Gt and Lt",
         {{1, "arm64", "2"}, {1, "arm64", "3"}, {4, "arm64", "4"}, {4, "arm64", "5"}},
         NUMBER " Gt 2 min 1; " NUMBER " Lt 5 min 2",
         NULL,
         2,
         2,
         2},
        {"the max if multiple operators are used for the same requirement",
         {{1, "arm64", NULL}, {4, "arm64", NULL}},
         "type Exists min 1; type In type-1 type-2 min 2",
         NULL,
         2,
         2,
         2},
        {"multiple requirement keys",
         {{1, "arm64", NULL}, {4, "amd64", NULL}},
         "arch Exists min 2; type In type-1 type-2 min 1",
         NULL,
         2,
         2,
         2},
        {"more than there are",
         {{1, "arm64", NULL}, {4, "arm64", NULL}},
         "type Exists min 3",
         NULL,
         0,
         0,
         0},
        {"as many as there are",
         {{2, "arm64", NULL}, {4, "arm64", NULL}},
         "type Exists min 2",
         NULL,
         2,
         1,
         2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_empty();
        world.title = cases[i].name;
        for (size_t j = 0; j < 4 && cases[i].types[j].size != 0; j++) {
            const char *number = cases[i].types[j].number;
            sell(arena_printf(world.arena, "type-%zu", j + 1).data, cases[i].types[j].arch,
                 cases[i].types[j].size, (int64_t)j * 300000 + 500000,
                 number == NULL ? NULL : arena_printf(world.arena, NUMBER "=%s", number).data);
        }
        POOL(.name = "default", .requirements = cases[i].pool);
        struct span pods = PODS(2, .requests = NEARLY_ONE, .required = {cases[i].required});
        provision();
        EXPECT_SCHEDULED(pods, cases[i].scheduled);
        EXPECT_NODES(pods, cases[i].nodes);
        for (size_t j = 0; j < cases[i].scheduled; j++)
            EXPECT_INT(claim_of(pods.first + j)->type_count >= cases[i].least_types, 1);
    }
}

static void test_fewer_types_than_min_values(void)
{
    world_assorted();
    world.types.count = 10;
    POOL(.name = "default", .requirements = "type Exists min 11");
    size_t pod = POD(.requests = NULL);
    provision();
    EXPECT_PENDING(pod);
    POOL(.name = "default", .requirements = "type Exists min 10");
    provision();
    EXPECT_PLACED(pod);
}

/* Of three types, or three zones, there are but two. */
static void two_types(void)
{
    world_empty();
    TYPE(.name = "type-1", .arch = "arm64", .os = "linux", .offerings = SPOT_1);
    TYPE(.name = "type-2", .arch = "arm64", .os = "linux", .offerings = SPOT_1);
}
static void two_zones(void)
{
    world_empty();
    TYPE(.name = "type-1", .arch = "arm64", .os = "linux",
         .offerings = {OFFER("spot", "test-zone-1", .usd_micro = 520000),
                       OFFER("spot", "test-zone-2", .usd_micro = 540000)});
}
static void three_zones(void)
{
    world_empty();
    TYPE(.name = "type-1", .arch = "arm64", .os = "linux",
         .offerings = {OFFER("spot", "test-zone-1"), OFFER("spot", "test-zone-2"),
                       OFFER("spot", "test-zone-3")});
}

#define THREE_TYPES "type In type-1 type-2 type-3 min 3"
#define THREE_ZONES "zone In test-zone-1 test-zone-2 test-zone-3 min 3"

static void test_policies(void)
{
    static const struct {
        const char *name;
        void (*sold)(void);
        const char *pool, *volume;
        uint32_t types_left, zones_left; /* minValues of the claim, when lowered as far as needed */
    } cases[] = {
        {"instance types", two_types, THREE_TYPES, NULL, 2, 0},
        {"zones", two_zones, THREE_ZONES, NULL, 0, 2},
        {"volume topology narrows zones", three_zones, THREE_ZONES, "zone=test-zone-1", 0, 1},
        {"both instance types and zones", two_zones, THREE_TYPES "; " THREE_ZONES, NULL, 1, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int best_effort = 0; best_effort < 2; best_effort++) {
            cases[i].sold();
            world.title = cases[i].name;
            world.settings.best_effort_min_values = best_effort != 0;
            POOL(.name = "default", .requirements = cases[i].pool);
            size_t pod = POD(.requests = NEARLY_ONE, .volumes = {VOLUME(cases[i].volume)});
            provision();
            EXPECT_INT(node_of(pod) != NULL, best_effort);
            if (best_effort == 0 || node_of(pod) == NULL)
                continue;
            EXPECT_LABEL(pod, "type", "type-1");
            const struct solver_node_claim *claim = claim_of(pod);
            const struct solver_requirement *types = claim_requirement(claim, "type");
            const struct solver_requirement *zones = claim_requirement(claim, "zone");
            EXPECT_INT(types == NULL ? 0 : types->min_values, cases[i].types_left);
            EXPECT_INT(zones == NULL ? 0 : zones->min_values, cases[i].zones_left);
        }
}

static void test_pools_and_relaxing(void)
{
    static const struct {
        const char *name, *lower;
        bool best_effort;
        const char *pool;
    } cases[] = {
        {"relax minValues before falling back", "type In type-1 type-2 type-3", true, "heavy"},
        {"the pool with higher weight when relaxing", THREE_TYPES, true, "heavy"},
        {"strict falls back", "type In type-1 type-2 type-3", false, "light"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        two_types();
        world.title = cases[i].name;
        world.settings.best_effort_min_values = cases[i].best_effort;
        POOL(.name = "heavy", .weight = 100, .requirements = THREE_TYPES);
        POOL(.name = "light", .weight = 10, .requirements = cases[i].lower);
        size_t pod = POD(.requests = NEARLY_ONE);
        provision();
        EXPECT_LABEL(pod, "pool", cases[i].pool);
        EXPECT_LABEL(pod, "type", "type-1");
    }
}

const char unit_suite[] = "solver minValues";
const struct unit_test unit_tests[] = {
    {"two pods", test_two_pods},
    {"minimum number of InstanceTypes is not met", test_fewer_types_than_min_values},
    {"Strict and BestEffort", test_policies},
    {"pools and relaxing", test_pools_and_relaxing},
    {NULL, NULL},
};
