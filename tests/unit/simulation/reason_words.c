/* The sentences that say why a pod fits nowhere: each one whole, for a cluster in which it is
 * true. */
#include "solver_reasons.h"

struct words_case {
    const char *name;
    struct a_pool pool;
    struct a_pod pod;
    const char *said;
};

/* A family in sizes, as a cloud has it. */
static void sell_m5(void)
{
    world_empty();
    TYPE(.name = "m5.large", .resources = "cpu 2; memory 8Gi",
         .requirements = "integer=2; family=m5");
    TYPE(.name = "m5.xlarge", .resources = "cpu 4; memory 16Gi",
         .requirements = "integer=4; family=m5");
    TYPE(.name = "m5.16xlarge", .resources = "cpu 64; memory 256Gi",
         .requirements = "integer=64; family=m5");
    TYPE(.name = "r5.24xlarge", .resources = "cpu 96; memory 768Gi",
         .requirements = "integer=96; family=r5");
    TYPE(.name = "r5.16xlarge", .resources = "cpu 64; memory 512Gi",
         .requirements = "integer=64; family=r5");
    TYPE(.name = "c5.24xlarge", .resources = "cpu 96; memory 192Gi",
         .requirements = "integer=96; family=c5",
         .offerings = {OFFER("spot", "test-zone-1"), OFFER("on-demand", "test-zone-2")});
}

static void run(const struct words_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sell_m5();
        world.title = cases[i].name;
        world_pool(&cases[i].pool);
        size_t pod = world_pod(&cases[i].pod);
        solve();
        EXPECT_TEXT(told(pod), cases[i].said);
    }
}
#define RUN(cases) run((cases), sizeof(cases) / sizeof *(cases))

#define X60 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

/* Letters of two bytes. */
#define O29                                                        \
    "\u00F6\u00F6\u00F6\u00F6\u00F6\u00F6\u00F6\u00F6\u00F6\u00F6" \
    "\u00F6\u00F6\u00F6\u00F6\u00F6\u00F6\u00F6\u00F6\u00F6\u00F6" \
    "\u00F6\u00F6\u00F6\u00F6\u00F6\u00F6\u00F6\u00F6\u00F6"
#define O30 O29 "\u00F6"

static void test_types(void)
{
    static const struct words_case cases[] = {
        {"a type that is there and too small",
         {.name = "default"},
         {.selector = "type=m5.large; zone=test-zone-1", .requests = "cpu 3"},
         "requirement: asks for node.kubernetes.io/instance-type m5.large; "
         "m5.xlarge would do otherwise\n"
         "resources: needs 3 cpu; m5.large, the only type it may use, has room for 1.9 cpu"},
        {"what would do is not sold there",
         {.name = "default", .requirements = "type In m5.large c5.24xlarge"},
         {.selector = "type=m5.large; zone=test-zone-3", .requests = "cpu 3"},
         "requirement: asks for node.kubernetes.io/instance-type m5.large\n"
         "resources: needs 3 cpu; m5.large, the only type it may use, has room for 1.9 cpu"},
        {"a type the pool's requirement excludes",
         {.name = "default", .requirements = "integer Lte 64"},
         {.selector = "type=r5.24xlarge"},
         "requirement: asks for r5.24xlarge; the NodePool allows karpenter.k8s.aws/instance-cpu of "
         "at most 64; r5.24xlarge has 96; r5.16xlarge"},
        {"a type of a list that is not on it",
         {.name = "default", .requirements = "type In m5.large m5.16xlarge"},
         {.selector = "type=r5.24xlarge"},
         "requirement: asks for r5.24xlarge; the NodePool allows node.kubernetes.io/instance-type "
         "m5.16xlarge or m5.large; m5.16xlarge"},
        {"a type nobody knows",
         {.name = "default"},
         {.selector = "type=m5.huge"},
         "requirement: asks for m5.huge; no instance type m5.huge is known; did you mean "
         "m5.large?"},
        {"a type that is not sold there",
         {.name = "default", .requirements = "zone=test-zone-2; capacity=spot"},
         {.selector = "type=c5.24xlarge"},
         "requirement: asks for c5.24xlarge; it is not on offer in the zones and capacity types of "
         "the NodePool; r5.24xlarge"},
        {"only the keys that exclude",
         {.name = "default"},
         {.selector = "zone=test-zone-1; capacity=spot; family=m6"},
         "requirement: no instance type of this NodePool has family m6; its types have family c5, "
         "m5 and r5"},
        {"a value that is longer than any",
         {.name = "default"},
         {.selector = "family=" X60 X60 X60 X60 X60 X60},
         "requirement: no instance type of this NodePool has family " X60 "...; its types have "
         "family c5, m5 and r5"},
        {"a longer one is not cut within a letter",
         {.name = "default"},
         {.selector = "family=x" O30 O30 O30 O30 O30 O30},
         "requirement: no instance type of this NodePool has family x" O29 "...; its types have "
         "family c5, m5 and r5"},
        {"two keys that do not go together",
         {.name = "default"},
         {.selector = "family=m5; zone=test-zone-1", .required = {"integer Gt 64"}},
         "requirement: no instance type of this NodePool has both family m5 and "
         "karpenter.k8s.aws/instance-cpu of at least 65; the highest "
         "karpenter.k8s.aws/instance-cpu left is 64, m5.16xlarge"},
        {"what is left is too small",
         {.name = "default"},
         {.selector = "family=m5", .requests = "cpu 70"},
         "requirement: only m5.16xlarge, m5.large and m5.xlarge have family m5\n"
         "resources: needs 70 cpu; m5.16xlarge, the largest type left, has room for 63.9 cpu"},
        {"an offering",
         {.name = "default", .requirements = "type=c5.24xlarge"},
         {.selector = "zone=test-zone-1; capacity=on-demand"},
         "offering: nothing that would do is on offer with topology.kubernetes.io/zone test-zone-1 "
         "and karpenter.sh/capacity-type on-demand; on offer: on-demand in test-zone-2 and spot in "
         "test-zone-1"},
        {"a label that is nearly there",
         {.name = "default", .labels = "team=search"},
         {.selector = "teem=search"},
         "requirement: asks for teem search; the NodePool gives its nodes the label team"},
        {"a label without a value",
         {.name = "default"},
         {.selector = "role="},
         "requirement: asks for role \"\"; the NodePool gives its nodes no such label"},
    };
    RUN(cases);
}

static void test_amounts(void)
{
    static const struct words_case cases[] = {
        {"the most there is",
         {.name = "default"},
         {.requests = "cpu 200"},
         "resources: needs 200 cpu; c5.24xlarge, the largest type left, has room for 95.9 cpu"},
        {"what nobody has",
         {.name = "default"},
         {.requests = "nvidia.com/gpu 1"},
         "resources: needs 1 nvidia.com/gpu; no type of this NodePool has nvidia.com/gpu"},
        {"each is there, not both",
         {.name = "default", .requirements = "type In c5.24xlarge r5.16xlarge"},
         {.requests = "cpu 80; memory 400Gi"},
         "resources: needs 80 cpu and 400Gi memory on one node; r5.16xlarge, the nearest type, has "
         "room for 63.9 cpu"},
        {"in the units it was written in",
         {.name = "default"},
         {.requests = "memory 2000Gi"},
         "resources: needs 2000Gi memory; r5.24xlarge, the largest type left, has room for "
         "767.99Gi memory"},
        {"bytes that make the largest unit many times over",
         {.name = "default"},
         {.requests = "memory 2305843009213693952"},
         "resources: needs 2048Pi memory; r5.24xlarge, the largest type left, has room for "
         "767.99Gi memory"},
        {"and one more than that is rounded up",
         {.name = "default"},
         {.requests = "memory 2305843009213693953"},
         "resources: needs 2048.01Pi memory; r5.24xlarge, the largest type left, has room for "
         "767.99Gi memory"},
        {"more than any number",
         {.name = "default"},
         {.requests = "cpu 9223372036854775"},
         "resources: needs 9223372036854775 cpu (M written where m was meant?); c5.24xlarge, the "
         "largest type left, has room for 95.9 cpu"},
        {"a limit that is too small from the start",
         {.name = "default", .limits = "cpu 1"},
         {.requests = "cpu 500m"},
         "limit: the NodePool's limit of 1 cpu is too small for any type it may use; m5.large, the "
         "smallest type that would do, has 2 cpu"},
        {"a limit of nothing",
         {.name = "default", .limits = "cpu 0"},
         {.requests = "cpu 500m"},
         "limit: the NodePool's limit of 0 cpu allows no node; m5.large, the smallest type that "
         "would do, has 2 cpu"},
        {"a toleration that misses",
         {.name = "default", .taints = "dedicated=gpu:NoSchedule"},
         {.tolerations = "dedicated=cpu:NoSchedule"},
         "taint: does not tolerate the taint dedicated=gpu:NoSchedule; it tolerates "
         "dedicated=cpu:NoSchedule"},
    };
    RUN(cases);
}

static void test_limits_in_use(void)
{
    static const struct {
        const char *limits, *said;
    } cases[] = {
        {"cpu 6", "limit: the NodePool's limit of 6 cpu is used up; m5.large, the smallest type "
                  "that would do, has 2 cpu\nresources: the only node lacks cpu; "
                  "there has 1.5 cpu left; it needs 1.6 cpu"},
        {"cpu 7", "limit: of the NodePool's limit of 7 cpu only 1 cpu is left; m5.large, the "
                  "smallest type that would do, has 2 cpu\nresources: the only node lacks cpu; "
                  "there has 1.5 cpu left; it needs 1.6 cpu"},
        {"nodes 1", "limit: the NodePool's limit of 1 node is used up\nresources: the only node "
                    "lacks cpu; there has 1.5 cpu left; it needs 1.6 cpu"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sell_m5();
        world.title = cases[i].limits;
        POOL(.name = "default", .limits = cases[i].limits);
        NODE(.name = "there", .pool = "default", .capacity = "cpu 6; memory 8Gi; pods 10",
             .allocatable = "cpu 1.5; memory 8Gi; pods 10");
        size_t pod = POD(.requests = "cpu 1.6");
        solve();
        EXPECT_TEXT(told(pod), cases[i].said);
    }
}

static void test_pools(void)
{
    static const struct words_case cases[] = {
        {"two requirements of the pool",
         {.name = "default", .requirements = "type=m5.large; integer Gt 4"},
         {.requests = NULL},
         "requirement: no instance type has both node.kubernetes.io/instance-type m5.large and "
         "karpenter.k8s.aws/instance-cpu of at least 5, as the NodePool requires; the highest "
         "karpenter.k8s.aws/instance-cpu left is 2, m5.large"},
        {"no number between",
         {.name = "default", .requirements = "integer Gt 8; integer Lt 8"},
         {.requests = NULL},
         "requirement: no instance type is left: the NodePool's requirements on "
         "karpenter.k8s.aws/instance-cpu allow no value of it"},
        {"nothing on offer",
         {.name = "default", .requirements = "type=c5.24xlarge; zone=test-zone-2; capacity=spot"},
         {.requests = NULL},
         "requirement: no instance type of this NodePool is on offer with "
         "topology.kubernetes.io/zone test-zone-2 and karpenter.sh/capacity-type spot"},
    };
    RUN(cases);
    world_empty();
    world.title = "a zone without what the NodePool wants of its offerings";
    TYPE(.name = "racked", .requirements = "rack In r1 r2",
         .offerings = {OFFER("spot", "test-zone-1", .labels = "rack=r1"),
                       OFFER("on-demand", "test-zone-2", .labels = "rack=r2")});
    POOL(.name = "default", .requirements = "rack=r2");
    size_t apart = POD(.selector = "zone=test-zone-1");
    solve();
    EXPECT_TEXT(told(apart),
                "offering: nothing that would do is on offer with topology.kubernetes.io/zone "
                "test-zone-1 and rack r2; on offer: on-demand in test-zone-2");
    sell_m5();
    world.title = "DaemonSets take all";
    POOL(.name = "default", .requirements = "type=m5.large");
    DAEMON(.requests = "cpu 2");
    size_t pod = POD(.requests = "cpu 1");
    solve();
    EXPECT_TEXT(told(pod), "requirement: DaemonSets leave no room on any instance type of this "
                           "NodePool");
}

static void test_spread(void)
{
    static const char *const zones[] = {"a", "b"};
    sell_m5();
    world.title = "a zone the pool cannot reach";
    POOL(.name = "default", .requirements = "zone In test-zone-1 test-zone-2");
    POOL(.name = "other", .requirements = "zone=test-zone-3", .taints = "own=x:NoSchedule");
    for (size_t i = 0; i < 2; i++) {
        NODE(.name = zones[i], .labels = i == 0 ? "zone=test-zone-1" : "zone=test-zone-2",
             .allocatable = "cpu 1; memory 8Gi; pods 10");
        POD(.labels = "app=a", .requests = "cpu 1", .node = zones[i]);
    }
    size_t pod =
        POD(.labels = "app=a", .requests = "cpu 1", .spreads = {SPREAD("zone", 1, "app=a")});
    solve();
    EXPECT_TEXT(
        told(pod),
        "topology: its spread over zones (topology.kubernetes.io/zone, maxSkew 1) would "
        "need test-zone-3, where this NodePool launches nothing; matching pods: test-zone-1 1, "
        "test-zone-2 1, test-zone-3 0\n"
        "taint: does not tolerate the taint own=x:NoSchedule\n"
        "resources: both nodes lack cpu");
}

static void test_topology(void)
{
    static const struct words_case cases[] = {
        {"nobody to join",
         {.name = "default"},
         {.affinities = {NEAR("zone", "app=b")}},
         "topology: its affinity over zones (topology.kubernetes.io/zone) selects no pod that "
         "exists (app=b)"},
        {"a key nobody has",
         {.name = "default"},
         {.labels = "app=a", .spreads = {SPREAD("rack", 1, "app=a")}},
         "topology: no NodePool and no Node has the label rack of its spread"},
    };
    RUN(cases);

    sell_m5();
    world.title = "each waits for the other";
    POOL(.name = "default");
    size_t hen = POD(.name = "a-0", .labels = "app=a", .affinities = {NEAR("zone", "app=b")});
    (void)POD(.name = "b", .labels = "app=b", .affinities = {NEAR("zone", "app=a")});
    solve();
    EXPECT_TEXT(told(hen), "topology: the pods its affinity over zones "
                           "(topology.kubernetes.io/zone) selects (app=b) wait themselves; "
                           "default/a-0 needs default/b, "
                           "default/b needs default/a-0");

    sell_m5();
    world.title = "whom it waits for fits nowhere";
    POOL(.name = "default");
    size_t near = POD(.name = "near", .labels = "app=a", .affinities = {NEAR("zone", "app=b")});
    (void)POD(.name = "vast", .labels = "app=b", .requests = "cpu 200");
    solve();
    EXPECT_TEXT(
        told(near),
        "topology: the pods its affinity over zones "
        "(topology.kubernetes.io/zone) selects (app=b) wait themselves; default/vast fits nowhere "
        "either");

    sell_m5();
    world.title = "a node that may be anywhere yet";
    POOL(.name = "default", .requirements = "capacity=spot");
    struct span apart = PODS(2, .labels = "app=a", .affinities = {APART("zone", "app=a")});
    solve();
    size_t second = node_of(apart.first) == NULL ? apart.first : apart.first + 1;
    const char *first = world.pods.items[apart.first + apart.first + 1 - second].name;
    EXPECT_TEXT(told(second),
                arena_printf(world.arena,
                             "topology: its anti-affinity over zones (topology.kubernetes.io/zone) "
                             "makes it wait for the node of %s; that node may still come up in any "
                             "of test-zone-1 or test-zone-2, so the others wait for it",
                             first)
                    .data);

    sell_m5();
    world.title = "no zone is free";
    POOL(.name = "default", .requirements = "zone=test-zone-1");
    NODE(.name = "full", .labels = "zone=test-zone-1", .allocatable = "cpu 1; memory 8Gi; pods 1");
    POD(.labels = "app=a", .node = "full");
    size_t pod = POD(.labels = "app=a", .affinities = {APART("zone", "app=a")});
    solve();
    EXPECT_TEXT(told(pod),
                "topology: its anti-affinity over zones (topology.kubernetes.io/zone) leaves none "
                "free for it; matching pods: test-zone-1 1\n"
                "resources: the only node lacks room for a further pod");

    sell_m5();
    world.title = "others keep it away, but for a zone out of reach";
    POOL(.name = "default", .requirements = "zone=test-zone-1");
    POOL(.name = "far", .requirements = "zone=test-zone-3; type=m5.large");
    NODE(.name = "full", .labels = "zone=test-zone-1", .allocatable = "cpu 1; memory 8Gi; pods 9");
    POD(.labels = "app=a", .node = "full", .affinities = {APART("zone", "app=b")});
    pod = POD(.labels = "app=b", .requests = "cpu 3");
    solve();
    EXPECT_TEXT(
        told(pod),
        "topology: the anti-affinity of other pods over zones (topology.kubernetes.io/zone) "
        "leaves only test-zone-3, where this NodePool launches nothing; pods that have it: "
        "test-zone-1 1\n"
        "resources: needs 3 cpu; m5.large, the only type of this NodePool, has room for "
        "1.9 cpu\n"
        "resources: the only node lacks cpu; full has 1 cpu left; it needs 3 cpu");

    sell_m5();
    world.title = "with a pod on whose node there is no room";
    POOL(.name = "default");
    NODE(.name = "full", .allocatable = "cpu 1; memory 8Gi; pods 1");
    POD(.labels = "app=b", .node = "full");
    pod = POD(.affinities = {NEAR("host", "app=b")});
    solve();
    EXPECT_TEXT(told(pod),
                "topology: its affinity over nodes (kubernetes.io/hostname) needs a node "
                "where a pod it selects is (app=b); a new node has none, and those that "
                "have one do not take it\n"
                "resources: the only node lacks room for a further pod");

    sell_m5();
    world.title = "two affinities, each to another pod";
    world.settings.optimize = (struct solver_optimize){.cheapest = true};
    POOL(.name = "default", .requirements = "zone=test-zone-1");
    NODE(.name = "there", .labels = "zone=test-zone-1", .allocatable = "cpu 4; memory 8Gi; pods 9");
    POD(.labels = "app=a", .node = "there");
    POD(.labels = "app=b", .node = "there");
    pod = POD(.affinities = {NEAR("zone", "app=a"), NEAR("zone", "app=b")});
    solve();
    EXPECT_TEXT(told(pod),
                "topology: kube-scheduler lets it join only a pod that all of its required "
                "affinities select, and there is none where it may be\n"
                "topology: the only node is ruled out by its affinity over zones "
                "(topology.kubernetes.io/zone)");

    sell_m5();
    world.title = "two affinities to one pod, which is elsewhere";
    world.settings.optimize = (struct solver_optimize){.cheapest = true};
    POOL(.name = "default", .requirements = "zone=test-zone-1");
    NODE(.name = "full", .labels = "zone=test-zone-2", .allocatable = "cpu 1; memory 8Gi; pods 1");
    POD(.labels = "app=a; tier=b", .node = "full");
    NODE(.name = "two", .labels = "zone=test-zone-1", .allocatable = "cpu 1; memory 8Gi; pods 2");
    POD(.labels = "app=a", .node = "two");
    POD(.labels = "tier=b", .node = "two");
    pod = POD(.selector = "zone=test-zone-1",
              .affinities = {NEAR("zone", "app=a"), NEAR("zone", "tier=b")});
    solve();
    EXPECT_TEXT(told(pod),
                "topology: kube-scheduler lets it join only a pod that all of its required "
                "affinities select, and there is none where it may be\n"
                "resources: of 2 nodes 1 lacks room for a further pod, 1 lacks "
                "topology.kubernetes.io/zone test-zone-1");

    sell_m5();
    world.title = "a spread and an affinity that do not go together";
    POOL(.name = "default", .requirements = "zone In test-zone-1 test-zone-2; capacity=on-demand");
    NODE(.name = "full", .labels = "zone=test-zone-1", .allocatable = "cpu 1; memory 8Gi; pods 1");
    POD(.labels = "app=a", .node = "full");
    pod = POD(.labels = "app=a", .affinities = {NEAR("zone", "app=a")},
              .spreads = {SPREAD("zone", 1, "app=a")});
    solve();
    EXPECT_TEXT(told(pod),
                "topology: its spread needs topology.kubernetes.io/zone test-zone-2, its affinity "
                "needs topology.kubernetes.io/zone test-zone-1; nothing that suits it is in all of "
                "these at once\n"
                "resources: the only node lacks room for a further pod");
}

static void test_volumes(void)
{
    static const struct words_case cases[] = {
        {"another zone",
         {.name = "default", .requirements = "zone=test-zone-1"},
         {.volumes = {VOLUME("zone=test-zone-3", .claim = "ebs")}},
         "volume: claim default/ebs can be in test-zone-3 only; the NodePool reaches test-zone-1"},
        {"apart",
         {.name = "default"},
         {.volumes = {VOLUME("zone=test-zone-1", .claim = "a"),
                      VOLUME("zone=test-zone-2", .claim = "b")}},
         "volume: claim default/a can be in test-zone-1 only, claim default/b in test-zone-2: no "
         "place holds all of them"},
        {"on a node that is gone",
         {.name = "default"},
         {.volumes = {VOLUME("host=old", .claim = "disk")}},
         "volume: claim default/disk can be in kubernetes.io/hostname old only; a node that is yet "
         "to be bought has no such name"},
        {"where the pod does not want to be",
         {.name = "default"},
         {.selector = "zone=test-zone-2", .volumes = {VOLUME("zone=test-zone-1", .claim = "a")}},
         "requirement: asks for topology.kubernetes.io/zone test-zone-2\n"
         "volume: claim default/a can be in test-zone-1 only; the NodePool reaches test-zone-1, "
         "test-zone-2 and test-zone-3"},
    };
    RUN(cases);

    world_empty();
    world.title = "more than can be attached";
    TYPE(.name = "two", .attach = "csi 2");
    TYPE(.name = "one", .attach = "csi 1");
    POOL(.name = "default");
    size_t pod = POD(.volumes = {VOLUME(NULL, .claim = "a", .driver = "csi"),
                                 VOLUME(NULL, .claim = "b", .driver = "csi"),
                                 VOLUME(NULL, .claim = "c", .driver = "csi")});
    solve();
    EXPECT_TEXT(told(pod), "volume: attaches 3 volumes of driver csi; the most a type of this "
                           "NodePool attaches is 2, two");

    sell_m5();
    world.title = "a volume that is made for another pod, elsewhere";
    world.settings.optimize.cheapest = true;
    POOL(.name = "default");
    struct a_volume data = {.claim = "data", .binds = true};
    (void)POD(.name = "first", .requests = "cpu 2", .selector = "zone=test-zone-1",
              .volumes = {data});
    pod = POD(.name = "second", .requests = "cpu 1", .selector = "zone=test-zone-2",
              .volumes = {data});
    solve();
    EXPECT_TEXT(told(pod), "volume: claim default/data is made in test-zone-1, with the first pod "
                           "that mounts it, and there is no place for this one there");
}

static void test_nodes(void)
{
    sell_m5();
    world.title = "by cause";
    NODE(.name = "a", .allocatable = "cpu 1; memory 8Gi; pods 10", .labels = "zone=test-zone-1");
    NODE(.name = "b", .allocatable = "cpu 2; memory 8Gi; pods 10", .labels = "zone=test-zone-1");
    NODE(.name = "c", .allocatable = "cpu 9; memory 8Gi; pods 10", .labels = "zone=test-zone-1",
         .taints = "x=y:NoSchedule");
    NODE(.name = "d", .allocatable = "cpu 9; memory 8Gi; pods 10", .labels = "zone=test-zone-2");
    NODE(.name = "e", .allocatable = "cpu 9; memory 8Gi; pods 10", .labels = "zone=test-zone-1");
    POD(.labels = "app=a", .ports = {{"", "", 80, false}}, .node = "e");
    size_t pod =
        POD(.requests = "cpu 3", .selector = "zone=test-zone-1", .ports = {{"", "", 80, false}});
    solve();
    EXPECT_TEXT(told(pod), "requirement: there is no NodePool that could buy a node for it\n"
                           "resources: of 5 nodes 2 lack cpu, 1 has host port 80 taken, 1 has the "
                           "taint x=y:NoSchedule, 1 more for other reasons; b has 2 cpu left; it "
                           "needs 3 cpu");

    sell_m5();
    world.title = "a label it does not want, and one it asks for";
    NODE(.name = "a", .labels = "zone=test-zone-1; team=x");
    NODE(.name = "b", .labels = "zone=test-zone-2");
    NODE(.name = "c", .labels = "zone=test-zone-3; team=x");
    size_t picky = POD(.required = {"zone NotIn test-zone-1 test-zone-3; team=x"});
    solve();
    EXPECT_TEXT(told(picky),
                "requirement: there is no NodePool that could buy a node for it\n"
                "requirement: of 3 nodes 2 have topology.kubernetes.io/zone test-zone-1 or "
                "test-zone-3, 1 lacks team x");

    sell_m5();
    world.title = "by topology";
    NODE(.name = "a", .allocatable = "cpu 9; memory 8Gi; pods 10", .labels = "zone=test-zone-1");
    POD(.labels = "app=a", .node = "a");
    size_t apart = POD(.affinities = {APART("host", "app=a")});
    solve();
    EXPECT_TEXT(told(apart), "requirement: there is no NodePool that could buy a node for it\n"
                             "topology: the only node is ruled out by its anti-affinity over nodes "
                             "(kubernetes.io/hostname)");
}

const char unit_suite[] = "simulation reason words";
const struct unit_test unit_tests[] = {
    {"types", test_types},     {"amounts", test_amounts}, {"limits in use", test_limits_in_use},
    {"pools", test_pools},     {"spread", test_spread},   {"topology", test_topology},
    {"volumes", test_volumes}, {"nodes", test_nodes},     {NULL, NULL},
};
