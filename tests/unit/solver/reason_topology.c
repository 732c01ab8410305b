/* Reasons of topology: what each constraint would need, why the pod cannot have it there, and which
 * of several constraints is named. */
#include "solver_reasons.h"

#define FULL "cpu 1; memory 1Gi; pods 1"
#define IN_1                                                             \
    {                                                                    \
        .name = "one", .labels = "zone=test-zone-1", .allocatable = FULL \
    }
#define IN_2                                                             \
    {                                                                    \
        .name = "two", .labels = "zone=test-zone-2", .allocatable = FULL \
    }
#define ONLY_NODE "\nresources: the only node lacks room for a further pod"
#define BOTH_NODES "\nresources: both nodes lack room for a further pod"
#define ZONES " over zones (topology.kubernetes.io/zone"

struct topology_case {
    const char *name;
    struct a_pool pool;
    struct a_node nodes[2];  /* which are full; one that is named twice has two pods */
    struct a_pod running[2]; /* of each */
    struct a_pod pod;
    const char *said;
};

static void run(const struct topology_case *cases, size_t count, void (*sell)(void))
{
    for (size_t i = 0; i < count; i++) {
        const struct topology_case *c = &cases[i];
        sell();
        world.title = c->name;
        world_pool(&c->pool);
        for (size_t j = 0; j < COUNT_OF(c->nodes) && c->nodes[j].name != NULL; j++) {
            if (j == 0 || strcmp(c->nodes[j].name, c->nodes[0].name) != 0)
                *LIST_PUSH(world.arena, &world.nodes) = (struct world_node){.as = c->nodes[j]};
            struct a_pod runs = c->running[j];
            runs.node = c->nodes[j].name;
            world_pod(&runs);
        }
        size_t pod = world_pod(&c->pod);
        solve();
        EXPECT_TEXT(told(pod), c->said);
    }
}
#define RUN(cases, sell) run((cases), sizeof(cases) / sizeof *(cases), (sell))

/* Machines of which each is sold in a zone of its own. */
static void sell_by_zone(void)
{
    world_empty();
    TYPE(.name = "large", .resources = "cpu 8; memory 8Gi; pods 9",
         .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = 2000)});
    TYPE(.name = "small", .resources = "cpu 4; memory 16Gi; pods 9",
         .offerings = {OFFER("on-demand", "test-zone-2", .usd_micro = 1000)});
}

static void test_spreads(void)
{
    static const struct topology_case cases[] = {
        {"too few domains",
         {.name = "default", .requirements = "zone In test-zone-1 test-zone-2"},
         {IN_1, IN_2},
         {{.labels = "app=a"}, {.labels = "app=a"}},
         {.labels = "app=a", .spreads = {SPREAD("zone", 1, "app=a", .min_domains = 3)}},
         "topology: its spread" ZONES ", maxSkew 1) wants minDomains 3, and there are fewer; "
         "matching pods: test-zone-1 1, test-zone-2 1" BOTH_NODES},
        {"no room for one more",
         {.name = "default", .requirements = "zone=test-zone-1"},
         {IN_1},
         {{.labels = "app=a"}},
         {.labels = "app=a", .spreads = {SPREAD("zone", 0, "app=a")}},
         "topology: its spread" ZONES ", maxSkew 0) allows nothing; matching pods: test-zone-1 "
         "1" ONLY_NODE},
        {"the emptiest is none where it can be had",
         {.name = "default", .requirements = "capacity=spot"},
         {IN_1, IN_2},
         {{.labels = "app=a"}, {.labels = "app=a"}},
         {.labels = "app=a", .spreads = {SPREAD("zone", 2, "app=a")}},
         "topology: its spread" ZONES ", maxSkew 2) takes the emptiest of test-zone-1, "
         "test-zone-2 or test-zone-3, where nothing suits it; matching pods: test-zone-1 1, "
         "test-zone-2 1, test-zone-3 0" BOTH_NODES},
        {"no further node",
         {.name = "default"},
         {{0}},
         {{0}},
         {.labels = "app=a", .spreads = {SPREAD("host", 0, "app=a")}},
         "topology: its spread over nodes (kubernetes.io/hostname, maxSkew 0) allows no further "
         "node"},
        {"over what is neither zones nor nodes",
         {.name = "default", .requirements = "arch=amd64"},
         {{0}},
         {{0}},
         {.labels = "app=a", .spreads = {SPREAD("arch", 0, "app=a")}},
         "topology: its spread over kubernetes.io/arch (maxSkew 0) allows nothing; matching pods: "
         "amd64 0"},
    };
    RUN(cases, world_fresh);
}

/* Where the pod would have to be, and what keeps it from there. */
static void test_where_it_cannot_be(void)
{
#define SPREAD_TO_2 .labels = "app=a", .spreads = { SPREAD("zone", 1, "app=a") }
#define NEEDS_2 "topology: its spread" ZONES ", maxSkew 1) would need test-zone-2, where "
#define COUNTS "; matching pods: test-zone-1 1, test-zone-2 0"
    static const struct topology_case cases[] = {
        {"its volume",
         {.name = "default"},
         {IN_1},
         {{.labels = "app=a"}},
         {SPREAD_TO_2, .volumes = {VOLUME("zone=test-zone-1", .claim = "data")}},
         NEEDS_2 "its volumes cannot be" COUNTS "\n"
                 "volume: claim default/data can be in test-zone-1 only; the NodePool reaches "
                 "test-zone-1 and test-zone-2" ONLY_NODE},
        {"what it asks for",
         {.name = "default"},
         {IN_1},
         {{.labels = "app=a"}},
         {.labels = "app=a",
          .selector = "type=large",
          .spreads = {SPREAD("zone", 1, "app=a", .ignore_affinity = true)}},
         "requirement: asks for node.kubernetes.io/instance-type large; small would do "
         "otherwise\n" NEEDS_2 "what it asks for is not to be had" COUNTS
         "\nrequirement: the only node lacks node.kubernetes.io/instance-type large"},
        {"its size",
         {.name = "default"},
         {IN_1},
         {{.labels = "app=a"}},
         {SPREAD_TO_2, .requests = "cpu 6"},
         "resources: needs 6 cpu; small, the only type it may use, has room for 3.9 cpu\n" NEEDS_2
         "no type has room for it" COUNTS
         "\nresources: the only node lacks room for a further pod"},
        {"a limit",
         {.name = "default", .limits = "memory 8Gi; nodes 5"},
         {IN_1},
         {{.labels = "app=a"}},
         {SPREAD_TO_2},
         NEEDS_2 "nothing that suits it is left" COUNTS "\n"
                 "limit: the NodePool's limit of 8Gi memory is too small for any type it may use; "
                 "small, the smallest type that would do, has 16Gi memory" ONLY_NODE},
        {"a limit that allows nothing anywhere",
         {.name = "default", .limits = "memory 6Gi"},
         {IN_1},
         {{.labels = "app=a"}},
         {SPREAD_TO_2},
         "limit: the NodePool's limit of 6Gi memory is too small for any type it may use; small, "
         "the smallest type that would do, has 16Gi memory" ONLY_NODE},
    };
    RUN(cases, sell_by_zone);
}

static void test_affinities(void)
{
    static const struct topology_case cases[] = {
        {"pods to join where it may not be",
         {.name = "default"},
         {IN_1},
         {{.labels = "app=a"}},
         {.selector = "zone=test-zone-2", .affinities = {NEAR("zone", "app=a")}},
         "topology: its affinity" ZONES ") has pods to join only where it may not be; matching "
         "pods: test-zone-1 1\n"
         "requirement: the only node lacks topology.kubernetes.io/zone test-zone-2"},
        {"pods to join where the pool is not",
         {.name = "default", .requirements = "zone=test-zone-2"},
         {IN_1},
         {{.labels = "app=a"}},
         {.affinities = {NEAR("zone", "app=a")}},
         "topology: its affinity" ZONES ") would need test-zone-1, where this NodePool launches "
         "nothing; matching pods: test-zone-1 1" ONLY_NODE},
        {"away from pods in all zones of the pool",
         {.name = "default", .requirements = "zone In test-zone-1 test-zone-2"},
         {IN_1, IN_2},
         {{.labels = "app=a"}, {.labels = "app=a"}},
         {.affinities = {APART("zone", "app=a")}},
         "topology: its anti-affinity" ZONES ") leaves none free for it; matching pods: "
         "test-zone-1 1, test-zone-2 1" BOTH_NODES},
        {"who selects nothing",
         {.name = "default"},
         {{0}},
         {{0}},
         {.affinities = {NEAR("zone", NULL)}},
         "topology: its affinity" ZONES ") selects no pod that exists (its selector is none)"},
        {"who selects any pod of another namespace",
         {.name = "default"},
         {{0}},
         {{0}},
         {.affinities = {NEAR("zone", "", .namespaces = "other")}},
         "topology: its affinity" ZONES ") selects no pod that exists (any pod)"},
        {"who selects by all that a selector can say",
         {.name = "default"},
         {{0}},
         {{0}},
         {.affinities = {NEAR("zone", "app In b a; tier NotIn x; team Exists; old DoesNotExist")}},
         "topology: its affinity" ZONES ") selects no pod that exists (app=a or b, tier other than "
         "x, any team, no label old)"},
        {"on the host of a pod that is nowhere",
         {.name = "default"},
         {{0}},
         {{0}},
         {.affinities = {NEAR("host", "app=a")}},
         "topology: its affinity over nodes (kubernetes.io/hostname) selects no pod that exists "
         "(app=a)"},
        {"a pod on a node that is in no zone",
         {.name = "default"},
         {{.name = "one", .labels = "capacity=spot", .allocatable = FULL}},
         {{.name = "there", .labels = "app=a"}},
         {.affinities = {NEAR("zone", "app=a")}},
         "topology: its affinity" ZONES ") selects a pod on the node one, which has no label "
         "topology.kubernetes.io/zone" ONLY_NODE},
        {"beside another pod on that node",
         {.name = "default"},
         {{.name = "one", .labels = "capacity=spot", .allocatable = "cpu 1; memory 1Gi; pods 2"},
          {.name = "one"}},
         {{.name = "another", .labels = "app=b"}, {.name = "there", .labels = "app=a"}},
         {.affinities = {NEAR("zone", "app=a")}},
         "topology: its affinity" ZONES ") selects a pod on the node one, which has no label "
         "topology.kubernetes.io/zone" ONLY_NODE},
        {"a pod that is being deleted",
         {.name = "default"},
         {IN_1},
         {{.labels = "app=a", .leaving = true}},
         {.affinities = {NEAR("zone", "app=a")}},
         "topology: its affinity" ZONES
         ") selects only pods that are being deleted (app=a)" ONLY_NODE},
        {"a pod that is being deleted, and one that is not, in no zone",
         {.name = "default"},
         {{.name = "one", .labels = "capacity=spot", .allocatable = "cpu 1; memory 1Gi; pods 2"},
          {.name = "one"}},
         {{.name = "leaves", .labels = "app=a", .leaving = true},
          {.name = "there", .labels = "app=a"}},
         {.affinities = {NEAR("zone", "app=a")}},
         "topology: its affinity" ZONES ") selects a pod on the node one, which has no label "
         "topology.kubernetes.io/zone" ONLY_NODE},
    };
    RUN(cases, world_fresh);
}

/* What alone leaves machines of every type, and together no zone. */
static void test_what_rules_out_all_zones_together(void)
{
    static const struct topology_case cases[] = {
        {"a zone that is asked for, and a spread",
         {.name = "default"},
         {IN_1},
         {{.labels = "app=a"}},
         {.labels = "app=a",
          .selector = "zone=test-zone-1",
          .spreads = {SPREAD("zone", 1, "app=a", .min_domains = 2)}},
         "requirement: asks for topology.kubernetes.io/zone test-zone-1\n"
         "topology: its spread" ZONES ", maxSkew 1) would need test-zone-2 or test-zone-3, where "
         "what it asks for is not to be had; matching pods: test-zone-1 1, test-zone-2 0, "
         "test-zone-3 0" ONLY_NODE},
        {"a volume, and what is left by an anti-affinity",
         {.name = "default"},
         {IN_1},
         {{.labels = "app=a"}},
         {.required = {"zone In test-zone-1 test-zone-3"},
          .affinities = {APART("zone", "app=a")},
          .volumes = {VOLUME("zone=test-zone-1 | zone=test-zone-2", .claim = "data")}},
         "topology: its anti-affinity" ZONES ") leaves only test-zone-3, where its volumes cannot "
         "be; matching pods: test-zone-1 1\n"
         "volume: claim default/data can be in test-zone-1 or test-zone-2 only; the NodePool "
         "reaches test-zone-1, test-zone-2 and test-zone-3" ONLY_NODE},
        {"three of which each two leave a zone",
         {.name = "default"},
         {IN_1},
         {{.labels = "app=a"}},
         {.labels = "app=a",
          .required = {"zone In test-zone-1 test-zone-3"},
          .spreads = {SPREAD("zone", 1, "app=a")},
          .volumes = {VOLUME("zone=test-zone-1 | zone=test-zone-2", .claim = "data")}},
         "requirement: asks for topology.kubernetes.io/zone test-zone-1 or test-zone-3\n"
         "topology: its spread" ZONES ", maxSkew 1) takes the emptiest of test-zone-2 or "
         "test-zone-3, where nothing suits it; matching pods: test-zone-1 1, test-zone-2 0, "
         "test-zone-3 0\n"
         "volume: claim default/data can be in test-zone-1 or test-zone-2 only; the NodePool "
         "reaches test-zone-1, test-zone-2 and test-zone-3" ONLY_NODE},
    };
    RUN(cases, world_fresh);
}

/* The pod that it would join is placed, and nobody knows yet in which zone. */
static void test_zone_that_is_not_known(void)
{
    static const struct {
        const char *name;
        struct a_pool pool;
        const char *where;
    } cases[] = {
        {"zones of the pool",
         {.name = "default", .requirements = "zone In test-zone-1 test-zone-2"},
         "test-zone-1 or test-zone-2"},
        {"without those where it is not sold",
         {.name = "default",
          .requirements = "zone In test-zone-1 test-zone-2 test-zone-3; capacity=spot"},
         "test-zone-1 or test-zone-2"},
        {"any zone", {.name = "default"}, "test-zone-1, test-zone-2 or test-zone-3"},
        {"any zone but one",
         {.name = "default", .requirements = "zone NotIn test-zone-2"},
         "test-zone-1 or test-zone-3"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_fresh();
        world.title = cases[i].name;
        world_pool(&cases[i].pool);
        POD(.name = "there", .labels = "app=a", .requests = "cpu 2");
        size_t pod =
            POD(.name = "joins", .requests = "cpu 1", .affinities = {NEAR("zone", "app=a")});
        solve();
        EXPECT_TEXT(told(pod), arena_printf(world.arena,
                                            "topology: its affinity" ZONES
                                            ") waits for the node of default/there; that node may "
                                            "still come up in any of %s",
                                            cases[i].where)
                                   .data);
    }
}

/* The pod that it would join is placed now, on a node to come that has no such label. */
static void test_placed_without_the_label(void)
{
    world_fresh();
    POOL(.name = "racks", .requirements = "example.com/rack In 1 2", .weight = 1);
    POOL(.name = "default", .requirements = "arch=amd64", .weight = 100);
    POD(.name = "there", .labels = "app=a", .requests = "cpu 2");
    size_t pod = POD(.name = "joins", .requests = "cpu 1",
                     .affinities = {NEAR("example.com/rack", "app=a")});
    solve();
#define NO_RACK                                                                              \
    "topology: its affinity over example.com/rack selects default/there, whose node has no " \
    "label example.com/rack"
    EXPECT_TEXT(told(pod), NO_RACK "\n" NO_RACK); /* each NodePool's */
}

/* The zone is known by a pod that came after the one that it would join, which is not counted. */
static void test_zone_that_came_later(void)
{
    world_fresh();
    world_pool(&(struct a_pool){.name = "default"});
    POD(.name = "there", .labels = "app=a", .requests = "cpu 3");
    POD(.name = "decides", .requests = "cpu 2", .selector = "zone=test-zone-2");
    size_t pod = POD(.name = "joins", .requests = "cpu 1", .affinities = {NEAR("zone", "app=a")});
    solve();
    EXPECT_TEXT(told(pod), "topology: its affinity" ZONES
                           ") waits for the node of default/there; that node comes up in "
                           "test-zone-2");
}

/* Away from pods on NodeClaims of which nobody knows yet in which zone they come up. It waits only
 * for a zone that may become free, and where nothing else is in its way. */
static void test_zones_that_may_become_free(void)
{
#define AWAY .requests = "cpu 1", .affinities = { APART("zone", "app=a") }
#define WAITS                                                                                      \
    "topology: its anti-affinity" ZONES ") makes it wait for the node of default/open; that node " \
    "may still come up in any of "
#define OTHERS ", so the others wait for it"
#define STAYS_FULL "topology: its anti-affinity" ZONES ") leaves none free for it; matching pods: "
    static const struct {
        const char *name;
        struct a_pod running, open, pod; /* running: on a Node in test-zone-1 */
        const char *said;
    } cases[] = {
        {"a node that may come up in any zone",
         {0},
         {.labels = "app=a", AWAY},
         {.selector = "zone=test-zone-1", AWAY},
         WAITS "test-zone-1, test-zone-2 or test-zone-3" OTHERS},
        {"none of those where the node may come up",
         {.labels = "app=a"},
         {.labels = "app=a", AWAY},
         {.selector = "zone=test-zone-1", AWAY},
         STAYS_FULL "test-zone-1 1, test-zone-2 1, test-zone-3 1" ONLY_NODE},
        {"one that is full whatever happens, though the node may come up there, too",
         {.labels = "app=a"},
         {.labels = "app=a", .requests = "cpu 2"},
         {.selector = "zone=test-zone-1", AWAY},
         STAYS_FULL "test-zone-1 2, test-zone-2 1, test-zone-3 1" ONLY_NODE},
        {"one of two",
         {.labels = "app=a"},
         {.labels = "app=a", .requests = "cpu 2"},
         {.required = {"zone In test-zone-1 test-zone-2"}, AWAY},
         WAITS "test-zone-1, test-zone-2 or test-zone-3" OTHERS ONLY_NODE},
        {"one where its volume cannot be",
         {.labels = "app=a"},
         {.labels = "app=a", AWAY},
         {AWAY, .volumes = {VOLUME("zone=test-zone-1", .claim = "data")}},
         STAYS_FULL "test-zone-1 1, test-zone-2 1, test-zone-3 1" ONLY_NODE},
        {"one where its volume can be",
         {.labels = "app=a"},
         {.labels = "app=a", AWAY},
         {AWAY, .volumes = {VOLUME("zone=test-zone-1 | zone=test-zone-2", .claim = "data")}},
         WAITS "test-zone-2 or test-zone-3" OTHERS ONLY_NODE},
        {"one where it is not to be had as it asks",
         {.labels = "app=a"},
         {.labels = "app=a", .requests = "cpu 2", .required = {"zone In test-zone-1 test-zone-3"}},
         {.selector = "capacity=spot", AWAY, .required = {"zone In test-zone-1 test-zone-3"}},
         STAYS_FULL "test-zone-1 2, test-zone-3 1" ONLY_NODE},
        {"one where no machine is large enough",
         {.labels = "app=a"},
         {.labels = "app=a", .requests = "cpu 2"},
         {.requests = "cpu 60", .affinities = {APART("zone", "app=a")}},
         STAYS_FULL "test-zone-1 2, test-zone-2 1, test-zone-3 1" ONLY_NODE},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_fresh();
        world.title = cases[i].name;
        TYPE(.name = "huge", .resources = "cpu 64; memory 64Gi; pods 9",
             .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = 9000000)});
        POOL(.name = "default");
        if (cases[i].running.labels != NULL) {
            NODE(.name = "one", .labels = "zone=test-zone-1; capacity=spot", .allocatable = FULL);
            struct a_pod running = cases[i].running;
            running.node = "one";
            world_pod(&running);
        }
        struct a_pod open = cases[i].open;
        open.name = "open";
        world_pod(&open);
        size_t pod = world_pod(&cases[i].pod);
        solve();
        EXPECT_TEXT(told(pod), cases[i].said);
    }
}

/* Of several constraints that leave nothing: its own before those of others, then by key, then
 * spread, affinity, anti-affinity. */
static void test_which_is_named(void)
{
    static const struct {
        const char *name;
        struct a_pod others, pod;
        const char *named;
    } cases[] = {
        {"the key of an affinity",
         {.labels = "app=b"},
         {.labels = "app=x",
          .spreads = {SPREAD("zone", 0, "app=x")},
          .affinities = {NEAR("capacity", "no=body")}},
         "topology: its affinity over karpenter.sh/capacity-type selects no pod that exists "
         "(no=body)"},
        {"the key of a spread",
         {.labels = "app=b"},
         {.labels = "app=x",
          .spreads = {SPREAD("capacity", 0, "app=x")},
          .affinities = {NEAR("zone", "no=body")}},
         "topology: its spread over karpenter.sh/capacity-type (maxSkew 0) allows nothing; "
         "matching pods: "
         "on-demand 0"},
        {"a spread before an affinity of the same key",
         {.labels = "app=b"},
         {.labels = "app=x",
          .spreads = {SPREAD("zone", 0, "app=x")},
          .affinities = {NEAR("zone", "no=body")}},
         "topology: its spread" ZONES ", maxSkew 0) allows nothing; matching pods: test-zone-1 0"},
        {"affinity before anti-affinity of the same key",
         {.labels = "app=b"},
         {.affinities = {APART("zone", "app=b"), NEAR("zone", "no=body")}},
         "topology: its affinity" ZONES ") selects no pod that exists (no=body)"},
        {"its own before that of others",
         {.labels = "app=b", .affinities = {APART("zone", "app=x")}},
         {.labels = "app=x", .affinities = {NEAR("zone", "no=body")}},
         "topology: its affinity" ZONES ") selects no pod that exists (no=body)"},
        {"its own before that of others, whatever the keys",
         {.labels = "app=b", .affinities = {APART("capacity", "app=x")}},
         {.labels = "app=x", .affinities = {NEAR("zone", "no=body")}},
         "topology: its affinity" ZONES ") selects no pod that exists (no=body)"},
        {"that of others alone",
         {.labels = "app=b", .affinities = {APART("zone", "app=x")}},
         {.labels = "app=x"},
         "topology: the anti-affinity of other pods" ZONES
         ") leaves none free for it; pods that have "
         "it: test-zone-1 1"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_fresh();
        world.title = cases[i].name;
        POOL(.name = "default", .requirements = "zone=test-zone-1; capacity=on-demand");
        NODE(.name = "one", .labels = "zone=test-zone-1; capacity=on-demand", .allocatable = FULL);
        struct a_pod others = cases[i].others;
        others.node = "one";
        world_pod(&others);
        size_t pod = world_pod(&cases[i].pod);
        solve();
        EXPECT_TEXT(told(pod), arena_printf(world.arena, "%s" ONLY_NODE, cases[i].named).data);
    }
}

static void expect_asked(const char *said)
{
    world_build();
    struct a_pod joins = {.affinities = {NEAR("zone", "app=a")}};
    struct solver_shape shape = {.namespace = "default"};
    world_shape_topology(&joins, &shape);
    struct solver_question question = {.shape = &shape, .explain = true};
    struct solver_answer answer;
    struct error error;
    bool good = solver_query(solver_run_create(world.problem, world.arena), &question, world.arena,
                             &answer, &error);
    CU_ASSERT_TRUE_FATAL(good && answer.kind == SOLVER_UNSCHEDULABLE);
    struct reasons_words reasons = reasons_tell(answer.reasons, world.arena);
    CU_ASSERT_TRUE_FATAL(reasons.count > 0);
    EXPECT_TEXT(reasons.items[reasons.count - 1].message, said); /* after those of nodes */
}

/* A question is about one pod alone: those that wait beside it are none that it could join. */
static void test_asked_about_one(void)
{
    world_fresh();
    POOL(.name = "default");
    POD(.labels = "app=a");
    expect_asked("its affinity" ZONES ") selects no pod that runs (app=a)");
    world_fresh();
    POOL(.name = "default");
    NODE(.name = "one", .labels = "capacity=spot", .allocatable = FULL);
    POD(.labels = "app=a", .node = "one");
    expect_asked("its affinity" ZONES ") selects a pod on the node one, which has no label "
                 "topology.kubernetes.io/zone");
}

const char unit_suite[] = "solver reason topology";
const struct unit_test unit_tests[] = {
    {"spreads", test_spreads},
    {"where it cannot be", test_where_it_cannot_be},
    {"affinities", test_affinities},
    {"what rules out all zones together", test_what_rules_out_all_zones_together},
    {"a zone that is not known", test_zone_that_is_not_known},
    {"a pod placed without the label", test_placed_without_the_label},
    {"a zone that came later", test_zone_that_came_later},
    {"zones that may become free", test_zones_that_may_become_free},
    {"which is named", test_which_is_named},
    {"asked about one", test_asked_about_one},
    {NULL, NULL},
};
