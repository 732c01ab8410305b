/* Questions where a pod could be, in clusters that are unlike those drawn at random: of very many
 * Nodes, and of machines that name no zone. */
#include "solver_fixture.h"

enum { NODES = 140 };

struct many_case {
    const char *name;
    struct a_node other, one; /* the others, and the one that takes the pod */
    struct a_pod asked;       /* selector, tolerations, affinities and volumes[0] of it */
};

static const char *name_of(size_t node)
{
    return arena_printf(world.arena, "node-%03zu", node).data;
}

/* A pod that others want to join runs on the one Node. */
static void build(const struct many_case *c, size_t one)
{
    world_empty();
    world.title = arena_printf(world.arena, "%s, %s", c->name, name_of(one)).data;
    for (size_t i = 0; i < NODES; i++) {
        struct a_node node = i == one ? c->one : c->other;
        node.name = name_of(i);
        node.allocatable = "cpu 4; memory 8Gi; pods 9";
        *LIST_PUSH(world.arena, &world.nodes) = (struct world_node){.as = node};
    }
    POD(.labels = "app=there", .node = name_of(one));
    world_build();
}

static void expect_only(const struct many_case *c, size_t one)
{
    struct solver_shape shape = {.namespace = "default"};
    world_shape_topology(&c->asked, &shape);
    shape.node_selector = notation_labels(world.arena, c->asked.selector);
    struct solver_volume volume = {0};
    volume.alternatives =
        notation_alternatives(world.arena, c->asked.volumes[0].where, &volume.alternative_count);
    shape.volumes = &volume;
    shape.volume_count = c->asked.volumes[0].where != NULL;
    const struct solver_question question = {.shape = &shape};
    struct solver_run *run = solver_run_create(world.problem, world.arena);
    struct solver_answer answer;
    struct solver_outlook outlook;
    struct solver_strings zones;
    struct error error;
    CU_ASSERT_TRUE_FATAL(solver_query(run, &question, world.arena, &answer, &error));
    EXPECT_INT(answer.kind, SOLVER_ON_NODE);
    if (answer.kind == SOLVER_ON_NODE)
        EXPECT_TEXT(solver_node_name(world.problem, answer.node), name_of(one));
    CU_ASSERT_TRUE_FATAL(solver_query_outlook(run, &question, world.arena, &outlook, &error));
    for (uint32_t i = 0; i < NODES; i++)
        EXPECT_INT(outlook.nodes[i], strcmp(solver_node_name(world.problem, i), name_of(one)) == 0);
    CU_ASSERT_TRUE_FATAL(solver_query_zones(run, &question, world.arena, &zones, &error));
    EXPECT_INT(zones.count, 1);
    if (zones.count == 1)
        EXPECT_TEXT(zones.items[0], "b");
}

/* So many Nodes that sets of them take several words: one alone takes the pod, wherever it stands.
 */
static void test_one_of_many_nodes(void)
{
    static const struct many_case cases[] = {
        {"a label",
         {.labels = "zone=a; rack=x"},
         {.labels = "zone=b; rack=y"},
         {.selector = "rack=y"}},
        {"a taint", {.labels = "zone=a", .taints = "x=y:NoSchedule"}, {.labels = "zone=b"}, {0}},
        {"an affinity over zones",
         {.labels = "zone=a"},
         {.labels = "zone=b"},
         {.affinities = {NEAR("zone", "app=there")}}},
        {"an affinity over nodes",
         {.labels = "zone=a"},
         {.labels = "zone=b"},
         {.affinities = {NEAR("host", "app=there")}}},
        {"an affinity over another label",
         {.labels = "zone=a; rack=x"},
         {.labels = "zone=b; rack=y"},
         {.affinities = {NEAR("rack", "app=there")}}},
        {"a volume",
         {.labels = "zone=a"},
         {.labels = "zone=b"},
         {.volumes = {VOLUME("zone=c | zone=b")}}},
    };
    static const size_t places[] = {0, 63, 64, 127, 128, NODES - 1};
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (size_t j = 0; j < COUNT_OF(places); j++) {
            build(&cases[i], places[j]);
            expect_only(&cases[i], places[j]);
        }
}

/* What is sold in any zone is to be had in those that the pool, or another machine, names. */
static void test_zones_of_machines_without(void)
{
    static const struct {
        const char *pool, *other; /* the zone of another machine; NULL: there is none */
        const char *zones;
    } cases[] = {
        {NULL, NULL, ""},
        {"zone=z1", NULL, "z1"},
        {"zone In z1 z2", NULL, "z1 z2"},
        {"zone In z1 z2", "z3", "z1 z2"},
        {NULL, "z3", "z3"},
        {"zone NotIn z2", "z3", "z3"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_empty();
        world.title = cases[i].pool;
        TYPE(.name = "any", .resources = "cpu 4; memory 8Gi; pods 9",
             .offerings = {OFFER("on-demand", "", .usd_micro = 1000)});
        if (cases[i].other != NULL)
            TYPE(.name = "other", .resources = "cpu 1; memory 1Gi; pods 9",
                 .offerings = {OFFER("on-demand", cases[i].other, .usd_micro = 1000)});
        POOL(.name = "default", .requirements = cases[i].pool);
        world_build();
        const struct solver_amount cpu = {SOLVER_CPU, 2000};
        const struct solver_shape shape = {.namespace = "default", .requests = {&cpu, 1}};
        const struct solver_question question = {.shape = &shape};
        struct solver_strings zones;
        struct error error;
        CU_ASSERT_TRUE_FATAL(solver_query_zones(solver_run_create(world.problem, world.arena),
                                                &question, world.arena, &zones, &error));
        struct text_builder out = {.arena = world.arena};
        for (size_t j = 0; j < zones.count; j++)
            text_builder_printf(&out, "%s%s", j == 0 ? "" : " ", zones.items[j]);
        EXPECT_TEXT(zones.count == 0 ? "" : text_builder_text(&out).data, cases[i].zones);
    }
}

const char unit_suite[] = "solver query places";
const struct unit_test unit_tests[] = {
    {"one of many nodes", test_one_of_many_nodes},
    {"zones of machines without", test_zones_of_machines_without},
    {NULL, NULL},
};
