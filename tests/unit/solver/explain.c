/* Why a pod fits nowhere: which criteria exclude it, and that the words name the cause. Whole
 * sentences are in tests/unit/simulation/reason_words.c. */
#include "solver_fixture.h"

struct explain_case {
    const char *name;
    struct a_pool pool;
    struct a_pod pod;
    const char *kinds;    /* in order */
    const char *words[4]; /* parts of the messages and nearest misses */
};

static struct reasons_words explain(size_t pod)
{
    EXPECT_INT(world.pods.items[pod].place.kind, SOLVER_UNSCHEDULABLE);
    return reasons_tell(solver_explain(world.run, world.pods.items[pod].number), world.arena);
}

static const char *kinds_of(struct reasons_words reasons)
{
    struct text_builder out = {.arena = world.arena};
    for (size_t i = 0; i < reasons.count; i++)
        text_builder_printf(&out, i == 0 ? "%s" : " %s", solver_reason_name(reasons.items[i].kind));
    return reasons.count == 0 ? "" : text_builder_text(&out).data;
}

static const char *words_of(struct reasons_words reasons)
{
    struct text_builder out = {.arena = world.arena};
    for (size_t i = 0; i < reasons.count; i++)
        text_builder_printf(&out, "%s; %s; ", reasons.items[i].message, reasons.items[i].nearest);
    return reasons.count == 0 ? "" : text_builder_text(&out).data;
}

static void expect_words(struct reasons_words reasons, const char *const *words, size_t count)
{
    const char *said = words_of(reasons);
    for (size_t i = 0; i < count && words[i] != NULL; i++) {
        if (strstr(said, words[i]) == NULL)
            fprintf(stderr, "in \"%s\": no \"%s\" in \"%s\"\n", world.title, words[i], said);
        CU_ASSERT_PTR_NOT_NULL(strstr(said, words[i]));
    }
}

static void run(const struct explain_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        world_fresh();
        world.title = cases[i].name;
        world_pool(&cases[i].pool);
        size_t pod = world_pod(&cases[i].pod);
        solve();
        struct reasons_words reasons = explain(pod);
        EXPECT_TEXT(kinds_of(reasons), cases[i].kinds);
        expect_words(reasons, cases[i].words, 4);
        for (size_t j = 0; j < reasons.count; j++)
            EXPECT_INT(reasons.items[j].pool, 0);
    }
}
#define RUN(cases) run((cases), sizeof(cases) / sizeof *(cases))

static void test_labels_and_taints(void)
{
    static const struct explain_case cases[] = {
        {"taint",
         {.name = "default", .taints = "dedicated=gpu:NoSchedule"},
         {.requests = NULL},
         "taint",
         {"dedicated=gpu", "NoSchedule"}},
        {"the taint that is not tolerated",
         {.name = "default", .taints = "one=x:NoSchedule; two=y:NoExecute"},
         {.tolerations = "one"},
         "taint",
         {"two=y", "NoExecute"}},
        {"a key the pool does not define",
         {.name = "default"},
         {.selector = "team=payments"},
         "requirement",
         {"team", "payments"}},
        {"another value",
         {.name = "default", .labels = "team=search"},
         {.selector = "team=payments"},
         "requirement",
         {"team", "payments", "search"}},
        {"another zone than the pool's",
         {.name = "default", .requirements = "zone=test-zone-1"},
         {.selector = "zone=test-zone-2"},
         "requirement",
         {"topology.kubernetes.io/zone", "test-zone-2", "test-zone-1"}},
        {"a zone no type has",
         {.name = "default"},
         {.selector = "zone=test-zone-9"},
         "requirement",
         {"topology.kubernetes.io/zone", "test-zone-9", "test-zone-1"}},
        {"an architecture no type has",
         {.name = "default"},
         {.required = {"arch=s390x"}},
         "requirement",
         {"kubernetes.io/arch", "s390x", "arm64"}},
        {"a hostname",
         {.name = "default"},
         {.selector = "host=red-node"},
         "requirement",
         {"kubernetes.io/hostname", "red-node"}},
        {"a preference is not to blame",
         {.name = "default"},
         {.selector = "zone=test-zone-9", .preferred = {"1 arch=s390x"}},
         "requirement",
         {"test-zone-9"}},
    };
    RUN(cases);
}

static void test_types(void)
{
    static const struct explain_case cases[] = {
        {"more cpu than any type has",
         {.name = "default"},
         {.requests = "cpu 512"},
         "resources",
         {"512 cpu", "15.9", "arm-instance-type"}},
        {"of several terms the one that the pool may meet is told",
         {.name = "default", .requirements = "zone=test-zone-1"},
         {.requests = "cpu 512", .required = {"zone=test-zone-1", "zone=test-zone-9"}},
         "resources",
         {"512 cpu"}},
        {"more memory than any type has",
         {.name = "default"},
         {.requests = "memory 2Ti"},
         "resources",
         {"2Ti", "memory"}},
        {"storage is told as memory is",
         {.name = "default"},
         {.requests = "ephemeral-storage 100Gi"},
         "resources",
         {"100Gi ephemeral-storage"}},
        {"a resource nobody has",
         {.name = "default"},
         {.requests = "nvidia.com/gpu 1"},
         "resources",
         {"nvidia.com/gpu"}},
        {"an offering that is not there",
         {.name = "default"},
         {.selector = "zone=test-zone-3; capacity=spot"},
         "offering",
         {"spot", "test-zone-3"}},
        {"one type has the arch, another the GPU",
         {.name = "default"},
         {.selector = "arch=arm64", .requests = "fake.com/vendor-a 1"},
         "requirement resources",
         {"only arm-instance-type has kubernetes.io/arch arm64",
          "gpu-vendor-instance-type would do otherwise", "fake.com/vendor-a"}},
        {"limit",
         {.name = "default", .limits = "cpu 1"},
         {.requests = "cpu 500m"},
         "limit",
         {"1 cpu", "small-instance-type"}},
        {"a limit of no cpu",
         {.name = "default", .limits = "cpu 0"},
         {.requests = "cpu 500m"},
         "limit",
         {"limit of 0 cpu allows no node",
          "small-instance-type, the smallest type that would do, has 2 cpu"}},
        {"a limit of no nodes",
         {.name = "default", .limits = "nodes 0"},
         {.requests = "cpu 500m"},
         "limit",
         {"limit of 0 nodes allows no node"}},
        {"a limit that no type is under",
         {.name = "default", .limits = "cpu 1"},
         {.requests = "cpu 500m"},
         "limit",
         {"limit of 1 cpu is too small for any type it may use"}},
        {"minValues",
         {.name = "default", .requirements = "type Exists min 7"},
         {.requests = NULL},
         "min-values",
         {"minValues", "node.kubernetes.io/instance-type"}},
    };
    RUN(cases);
}

static void test_topology_and_volumes(void)
{
    static const struct explain_case cases[] = {
        {"unknown topology key",
         {.name = "default"},
         {.labels = "app=a", .spreads = {SPREAD("unknown", 1, "app=a")}},
         "topology",
         {"unknown"}},
        {"affinity to nobody",
         {.name = "default"},
         {.affinities = {NEAR("zone", "app=b")}},
         "topology",
         {"affinity", "topology.kubernetes.io/zone"}},
        {"a volume in another zone",
         {.name = "default", .requirements = "zone=test-zone-1"},
         {.volumes = {VOLUME("zone=test-zone-3", .claim = "data", .driver = "csi")}},
         "volume",
         {"data", "test-zone-3", "test-zone-1"}},
    };
    RUN(cases);
}

static void test_daemons(void)
{
    world_fresh();
    world.title = "what daemons leave";
    POOL(.name = "default");
    DAEMON(.requests = "cpu 15");
    size_t large = POD(.requests = "cpu 2");
    solve();
    EXPECT_TEXT(kinds_of(explain(large)), "resources");
    static const char *const words[] = {"2 cpu", "0.9"};
    expect_words(explain(large), words, 2);

    world_fresh();
    world.title = "a daemon's port";
    POOL(.name = "default");
    DAEMON(.ports = {{"", "", 8080, false}});
    size_t port = POD(.ports = {{"", "", 80, false}, {"", "", 8080, false}});
    solve();
    EXPECT_TEXT(kinds_of(explain(port)), "port");
    static const char *const port_words[] = {"8080"};
    expect_words(explain(port), port_words, 1);
}

/* Daemons of which some run on a part of the types. */
static void test_port_of_a_daemon_of_all(void)
{
    world_empty();
    world.title = "a port of a daemon of all";
    TYPE(.name = "a");
    TYPE(.name = "b");
    POOL(.name = "default");
    DAEMON(.ports = {{"", "", 8080, false}});
    DAEMON(.requests = "cpu 100m", .selector = "type=b");
    size_t pod = POD(.ports = {{"", "", 8080, false}});
    solve();
    static const char *const words[] = {"8080"};
    EXPECT_TEXT(kinds_of(explain(pod)), "port");
    expect_words(explain(pod), words, 1);
}

/* Whole clusters, whose types, Nodes and pools are the cases'. */
#define CATEGORY "karpenter.k8s.aws/instance-category"
struct cluster_case {
    const char *name;
    struct a_type types[3];
    struct a_node nodes[2];
    struct a_pool pool;
    struct a_pod pod;
    const char *kinds;
    const char *words[4];
    const char *silent; /* what is not among the words; NULL: nothing */
};

static void test_clusters(void)
{
    static const struct cluster_case cases[] = {
        {"offerings that name no zone",
         {{.name = "one",
           .offerings = {OFFER("on-demand", "", .usd_micro = 1000),
                         OFFER("on-demand", "test-zone-2", .usd_micro = 1000),
                         OFFER("spot", "test-zone-1", .usd_micro = 1000)}}},
         {{0}},
         {.name = "default"},
         {.selector = "zone=test-zone-2; capacity=spot"},
         "offering",
         {"on offer: on-demand, on-demand in test-zone-2 and spot in test-zone-1;"},
         NULL},
        {"the reservations of another zone",
         {{.name = "one",
           .offerings = {OFFER("reserved", "test-zone-1", .usd_micro = 1, .reservation = "r1"),
                         OFFER("reserved", "test-zone-2", .usd_micro = 1, .reservation = "r2"),
                         OFFER("on-demand", "test-zone-3", .usd_micro = 1000)}}},
         {{0}},
         {.name = "default"},
         {.selector = "zone=test-zone-1; capacity=reserved"},
         "offering",
         {"r1"},
         "r2"},
        {"of machines with as much the first by name",
         {{.name = "b", .resources = "cpu 2"}, {.name = "a", .resources = "cpu 2"}},
         {{0}},
         {.name = "default"},
         {.requests = "cpu 3"},
         "resources",
         {"; a, the largest type"},
         NULL},
        {"of machines over the limit the first by name",
         {{.name = "b", .resources = "cpu 4"}, {.name = "a", .resources = "cpu 4"}},
         {{0}},
         {.name = "default", .limits = "cpu 3"},
         {.requests = "cpu 1"},
         "limit",
         {"; a, the smallest type"},
         NULL},
        {"of machines that attach as much the first by name",
         {{.name = "b", .attach = "csi 1; other 9"}, {.name = "a", .attach = "other 9; csi 1"}},
         {{0}},
         {.name = "default"},
         {.volumes = {VOLUME("", .claim = "x-#", .driver = "csi"),
                      VOLUME("", .claim = "y-#", .driver = "csi")}},
         "volume",
         {"2 volumes of driver csi", "attaches is 1, a;"},
         NULL},
        {"a limit of which a Node has used all",
         {{.name = "one", .resources = "cpu 4"}},
         {{.name = "a", .pool = "default", .taints = "x=y:NoSchedule", .allocatable = "cpu 8"}},
         {.name = "default", .limits = "cpu 8"},
         {.requests = "cpu 1"},
         "taint limit",
         {"limit of 8 cpu is used up", "one, the smallest type that would do, has 4 cpu"},
         NULL},
        {"a limit of which a Node has used more than all",
         {{.name = "one", .resources = "cpu 4"}},
         {{.name = "a", .pool = "default", .taints = "x=y:NoSchedule", .allocatable = "cpu 9"}},
         {.name = "default", .limits = "cpu 8"},
         {.requests = "cpu 1"},
         "taint limit",
         {"limit of 8 cpu is used up"},
         NULL},
        {"a limit of which a Node leaves less than a type has",
         {{.name = "one", .resources = "cpu 4"}},
         {{.name = "a", .pool = "default", .taints = "x=y:NoSchedule", .allocatable = "cpu 5"}},
         {.name = "default", .limits = "cpu 8"},
         {.requests = "cpu 1"},
         "taint limit",
         {"of the NodePool's limit of 8 cpu only 3 cpu is left"},
         NULL},
        {"a limit of Nodes that is used up",
         {{.name = "one"}},
         {{.name = "a", .pool = "default", .taints = "x=y:NoSchedule", .allocatable = "cpu 5"}},
         {.name = "default", .limits = "nodes 1"},
         {.requests = "cpu 1"},
         "taint limit",
         {"limit of 1 node is used up"},
         NULL},
        {"a type that is left with more than one offering is named once",
         {{.name = "one",
           .arch = "arm64",
           .offerings = {OFFER("on-demand", "test-zone-1", .usd_micro = 1000),
                         OFFER("on-demand", "test-zone-2", .usd_micro = 1000,
                               .more = "fake.com/vendor-b 1")}},
          {.name = "two", .resources = "fake.com/vendor-a 1"}},
         {{0}},
         {.name = "default"},
         {.selector = "arch=arm64", .requests = "fake.com/vendor-a 1"},
         "requirement resources",
         {"only one has kubernetes.io/arch arm64", "two would do otherwise"},
         NULL},
        {"types that are left are all named, and none beyond them",
         {{.name = "one", .arch = "arm64"},
          {.name = "other", .arch = "arm64"},
          {.name = "two", .resources = "fake.com/vendor-a 1"}},
         {{0}},
         {.name = "default"},
         {.selector = "arch=arm64", .requests = "fake.com/vendor-a 1"},
         "requirement resources",
         {"only one and other have kubernetes.io/arch arm64"},
         "would do otherwise"},
        {"a Node that lacks half of one resource and more of another",
         {{.name = "one"}},
         {{.name = "a", .allocatable = "cpu 1.6; memory 4Gi; pods 9; fake.com/vendor-a 2"}},
         {.name = "default", .taints = "dedicated=x:NoSchedule"},
         {.requests = "cpu 4; fake.com/vendor-a 4"},
         "resources taint",
         {"lacks cpu", "a has 1.6 cpu left"},
         NULL},
        {"a Node that lacks half of the cpu and half of the memory",
         {{.name = "one"}},
         {{.name = "a", .allocatable = "cpu 2; memory 2Gi; pods 9"}},
         {.name = "default", .taints = "dedicated=x:NoSchedule"},
         {.requests = "cpu 4; memory 4Gi"},
         "resources taint",
         {"lacks cpu", "a has 2 cpu left; it needs 4 cpu"},
         NULL},
        {"a Node that lacks the one device asked for and most of the cpu",
         {{.name = "one"}},
         {{.name = "a", .allocatable = "cpu 1; memory 4Gi; pods 9"}},
         {.name = "default", .taints = "dedicated=x:NoSchedule"},
         {.requests = "cpu 4; fake.com/vendor-a 1"},
         "resources taint",
         {"lacks fake.com/vendor-a"},
         "lacks cpu"},
        {"a Node that has room for no pod and lacks most of the cpu",
         {{.name = "one"}},
         {{.name = "a", .allocatable = "cpu 1; memory 4Gi; pods 0"}},
         {.name = "default", .taints = "dedicated=x:NoSchedule"},
         {.requests = "cpu 4"},
         "resources taint",
         {"lacks room for a further pod"},
         "lacks cpu"},
        {"a type without the one device asked for is farther than one with too little cpu",
         {{.name = "device", .resources = "cpu 2; fake.com/vendor-a 1"},
          {.name = "large", .resources = "cpu 16"}},
         {{0}},
         {.name = "default"},
         {.requests = "cpu 8; fake.com/vendor-a 1"},
         "resources",
         {"needs 8 cpu and 1 fake.com/vendor-a on one node", "; device, "},
         "large,"},
        {"of two limits the one that is exceeded by more",
         {{.name = "eight", .resources = "cpu 8; memory 8Gi"},
          {.name = "more", .resources = "cpu 16; memory 8Gi"}},
         {{0}},
         {.name = "default", .limits = "cpu 6; memory 1Gi"},
         {.requests = "cpu 1"},
         "limit",
         {"limit of 1Gi memory is too small", "eight, the smallest type that would do, has 8Gi"},
         "cpu"},
        {"of types over the limit the smallest one that would do",
         {{.name = "a", .resources = "cpu 32"},
          {.name = "b", .resources = "cpu 16"},
          {.name = "c", .resources = "cpu 8"}},
         {{0}},
         {.name = "default", .limits = "cpu 6"},
         {.requests = "cpu 12"},
         "limit",
         {"limit of 6 cpu is too small", "; b, the smallest type that would do, has 16 cpu"},
         NULL},
        {"of Nodes the one that lacks least",
         {{.name = "one"}},
         {{.name = "a", .allocatable = "cpu 1; memory 4Gi; pods 9"},
          {.name = "b", .allocatable = "cpu 2; memory 4Gi; pods 9"}},
         {.name = "default", .taints = "dedicated=x:NoSchedule"},
         {.requests = "cpu 4"},
         "resources taint",
         {"b has 2 cpu left"},
         "a has"},
        {"of Nodes that lack as much the first by name",
         {{.name = "one"}},
         {{.name = "b", .allocatable = "cpu 2; memory 4Gi; pods 9"},
          {.name = "a", .allocatable = "cpu 2; memory 4Gi; pods 9", .uninitialized = true}},
         {.name = "default", .taints = "dedicated=x:NoSchedule"},
         {.requests = "cpu 3"},
         "resources taint",
         {"a has 2 cpu left"},
         "b has"},
        {"more cpu than can be",
         {{.name = "one"}},
         {{0}},
         {.name = "default"},
         {.requests = "cpu 2000000"},
         "resources",
         {"2000000"},
         NULL},
        {"a Node whose number is too small",
         {{.name = "one"}},
         {{.name = "a", .labels = "slots=3", .allocatable = "cpu 2; memory 4Gi; pods 9"}},
         {.name = "default"},
         {.required = {"slots Gt 5"}},
         "requirement requirement",
         {"slots"},
         NULL},
        {"a Node whose number is too small, and another that is excluded",
         {{.name = "one"}},
         {{.name = "a", .labels = "slots=3", .allocatable = "cpu 2; memory 4Gi; pods 9"}},
         {.name = "default", .taints = "dedicated=x:NoSchedule"},
         {.required = {"slots Gt 5; slots NotIn 7"}},
         "requirement taint",
         {"slots"},
         NULL},
        {"a Node whose number is too large, and another that is excluded",
         {{.name = "one"}},
         {{.name = "a", .labels = "slots=9", .allocatable = "cpu 2; memory 4Gi; pods 9"}},
         {.name = "default", .taints = "dedicated=x:NoSchedule"},
         {.required = {"slots Lt 5; slots NotIn 3"}},
         "requirement taint",
         {"slots"},
         NULL},
        {"the first of two ports",
         {{.name = "one"}},
         {{0}},
         {.name = "default"},
         {.ports = {{"", "", 8080, false}, {"", "", 80, false}}},
         "port",
         {"8080"},
         NULL},
        {"the first of the pool's requirements that the type does not meet",
         {{.name = "big", .arch = "arm64", .resources = "cpu 16; memory 32Gi"}, {.name = "one"}},
         {{0}},
         {.name = "default", .requirements = "arch=amd64; integer Lt 10"},
         {.required = {"type=big"}},
         "requirement",
         {"big", "karpenter.k8s.aws/instance-cpu"},
         NULL},
        {"a pool that wants what its types do not have",
         {{.name = "small"}, {.name = "big", .resources = "cpu 16; memory 32Gi"}},
         {{0}},
         {.name = "default", .requirements = "special Exists"},
         {.required = {"type=small"}},
         "requirement",
         {"small", "karpenter.k8s.aws/instance-gpu-name"},
         NULL},
        {"a type's name beside another requirement",
         {{.name = "small"}, {.name = "big", .resources = "cpu 16; memory 32Gi"}},
         {{0}},
         {.name = "default"},
         {.required = {"type In small big; size=small"}, .requests = "cpu 8"},
         "requirement resources",
         {"small"},
         NULL},
        {"names of types, and an architecture that only a small one has",
         {{.name = "small", .resources = "cpu 2; memory 2Gi"},
          {.name = "arm", .arch = "arm64", .resources = "cpu 16; memory 32Gi"},
          {.name = "large", .resources = "cpu 16; memory 32Gi"}},
         {{0}},
         {.name = "default"},
         {.required = {"type In small arm; arch=amd64"}, .requests = "cpu 8"},
         "requirement resources",
         {"small", "arm"},
         NULL},
        {"what no type has a value of",
         {{.name = "small"}},
         {{0}},
         {.name = "default"},
         {.selector = "special=x"},
         "requirement",
         {"karpenter.k8s.aws/instance-gpu-name", "x"},
         NULL},
        {"what excludes a value beside another requirement",
         {{.name = "small", .arch = "arm64"}, {.name = "big", .resources = "cpu 16; memory 32Gi"}},
         {{0}},
         {.name = "default"},
         {.required = {"arch NotIn amd64; size=large"}},
         "requirement",
         {"kubernetes.io/arch", "size"},
         NULL},
        {"more keys than are tried together",
         {{.name = "one",
           .requirements = CATEGORY "=c; karpenter.k8s.aws/instance-family=c5; "
                                    "karpenter.k8s.aws/instance-generation=5; "
                                    "karpenter.k8s.aws/instance-hypervisor=nitro; "
                                    "karpenter.k8s.aws/instance-memory=4096; "
                                    "karpenter.k8s.aws/instance-ebs-bandwidth=1; "
                                    "karpenter.k8s.aws/instance-network-bandwidth=1"}},
         {{0}},
         {.name = "default"},
         {.required = {CATEGORY
                       "=c; karpenter.k8s.aws/instance-family=c5; "
                       "karpenter.k8s.aws/instance-generation=5; "
                       "karpenter.k8s.aws/instance-hypervisor=nitro; "
                       "karpenter.k8s.aws/instance-memory=4096; "
                       "karpenter.k8s.aws/instance-ebs-bandwidth=1; "
                       "karpenter.k8s.aws/instance-network-bandwidth=1; type=one; os=linux; "
                       "size=small; integer=4; special DoesNotExist; "
                       "zone In test-zone-1 test-zone-2; capacity In spot; arch=s390x"}},
         "requirement",
         {"kubernetes.io/arch"},
         NULL},
        {"a pool that wants what is not there, in a zone that is none",
         {{.name = "small"}},
         {{0}},
         {.name = "default", .requirements = "special DoesNotExist; zone=test-zone-9"},
         {.requests = NULL},
         "requirement",
         {"test-zone-9"},
         NULL},
        {"a volume on a machine, or in a zone where the pod may not be",
         {{.name = "one"}},
         {{0}},
         {.name = "default"},
         {.selector = "zone=test-zone-2",
          .volumes = {VOLUME("host=gone | zone=test-zone-1", .claim = "data")}},
         "requirement volume",
         {"test-zone-1"},
         NULL},
        {"of machines with a number that is written in two ways the first by name",
         {{.name = "b", .requirements = "slots=5"}, {.name = "a", .requirements = "slots=05"}},
         {{0}},
         {.name = "default"},
         {.required = {"slots Gt 9"}},
         "requirement",
         {"slots", "5", "a"},
         NULL},
        {"a number too high beside a label: the highest of those that have the label",
         {{.name = "a", .requirements = "slots=4; tier=red"},
          {.name = "b", .requirements = "slots=3; tier=red"},
          {.name = "c", .requirements = "slots=9; tier=blue"}},
         {{0}},
         {.name = "default"},
         {.required = {"slots Gt 5; tier=red"}},
         "requirement",
         {"the highest slots left is 4, a"},
         "blue"},
        {"a number too low beside a label: the lowest of those that have the label",
         {{.name = "a", .requirements = "slots=14; tier=red"},
          {.name = "b", .requirements = "slots=13; tier=red"},
          {.name = "c", .requirements = "slots=1; tier=blue"}},
         {{0}},
         {.name = "default"},
         {.required = {"slots Lt 5; tier=red"}},
         "requirement",
         {"the lowest slots left is 13, b"},
         "blue"},
        {"a reservation that is named by what it is not",
         {{.name = "one",
           .offerings = {OFFER("reserved", "test-zone-1", .usd_micro = 1, .machines = 3,
                               .reservation = "NotIn r1"),
                         OFFER("on-demand", "test-zone-1", .usd_micro = 1000)}}},
         {{0}},
         {.name = "default"},
         {.selector = "capacity=reserved"},
         "offering",
         {"names no capacity reservation"},
         NULL},
        {"an offering of any zone and capacity type, of another reservation",
         {{.name = "one", .offerings = {OFFER("", "", .usd_micro = 1000, .reservation = "r1")}}},
         {{0}},
         {.name = "default"},
         {.selector = "reservation=r2"},
         "offering",
         {"nothing that would do is on offer"},
         "on offer:"},
        {"a volume where an offering of any zone is not",
         {{.name = "one",
           .offerings = {OFFER("on-demand", "", .usd_micro = 1000),
                         OFFER("on-demand", "test-zone-2", .usd_micro = 1000)}}},
         {{0}},
         {.name = "default"},
         {.volumes = {VOLUME("zone=test-zone-1", .claim = "data")}},
         "volume",
         {"test-zone-1", "test-zone-2"},
         NULL},
        {"a volume outside of the pool, whose machines have no zones",
         {{.name = "one", .offerings = {OFFER("on-demand", "", .usd_micro = 1000)}}},
         {{0}},
         {.name = "default", .requirements = "zone=test-zone-2"},
         {.volumes = {VOLUME("zone=test-zone-1", .claim = "data")}},
         "volume",
         {"test-zone-1"},
         NULL},
        {"a spread that leaves no room for one more",
         {{.name = "one"}},
         {{0}},
         {.name = "default"},
         {.labels = "app=a", .spreads = {SPREAD("zone", 0, "app=a")}},
         "topology",
         {"zone"},
         NULL},
        {"a node with two architectures has none",
         {{.name = "one"}},
         {{.name = "a",
           .labels = "beta.kubernetes.io/arch=amd64; arch=arm64",
           .allocatable = "cpu 9; memory 9Gi; pods 9"}},
         {.name = "default", .taints = "dedicated=x:NoSchedule"},
         {.selector = "arch=amd64"},
         "requirement taint",
         {"kubernetes.io/arch"},
         NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct cluster_case *c = &cases[i];
        world_empty();
        world.title = c->name;
        for (size_t j = 0; j < COUNT_OF(c->types) && c->types[j].name != NULL; j++)
            *LIST_PUSH(world.arena, &world.types) = c->types[j];
        for (size_t j = 0; j < COUNT_OF(c->nodes) && c->nodes[j].name != NULL; j++)
            *LIST_PUSH(world.arena, &world.nodes) = (struct world_node){.as = c->nodes[j]};
        world_pool(&c->pool);
        if (c->pod.ports[0].port != 0) {
            DAEMON(.ports = {{"", "", 8080, false}});
            DAEMON(.ports = {{"", "", 9090, false}});
        }
        size_t pod = world_pod(&c->pod);
        solve();
        struct reasons_words reasons = explain(pod);
        EXPECT_TEXT(kinds_of(reasons), c->kinds);
        expect_words(reasons, c->words, 4);
        if (c->silent != NULL)
            CU_ASSERT_PTR_NULL(strstr(words_of(reasons), c->silent));
    }
}

/* A Node whose pods ask for more cpu than it has takes no pod, even if it asks for none. */
static void test_overcommitted_node(void)
{
    for (int over = 0; over < 2; over++) {
        world_fresh();
        world.title = over == 1 ? "overcommitted" : "full";
        NODE(.name = "a", .allocatable = "cpu 2; memory 4Gi; pods 9");
        POD(.requests = over == 1 ? "cpu 2500m" : "cpu 2", .node = "a");
        size_t pod = POD(.requests = "memory 1Gi");
        solve();
        EXPECT_INT(world.pods.items[pod].place.kind,
                   over == 1 ? SOLVER_UNSCHEDULABLE : SOLVER_ON_NODE);
        if (over == 0)
            continue;
        static const char *const words[] = {"lacks cpu"};
        expect_words(explain(pod), words, 1);
    }
}

/* A pod that wants to be away from two others keeps either of them away. */
static void test_kept_away(void)
{
    world_fresh();
    world.title = "kept away";
    POOL(.name = "default");
    POD(.name = "a", .requests = "cpu 3", .labels = "app=a",
        .affinities = {APART("zone", "app=z"), APART("zone", "app=b")});
    size_t pod = POD(.name = "b", .requests = "cpu 1", .labels = "app=b");
    solve();
    static const char *const words[] = {"default/a"};
    EXPECT_TEXT(kinds_of(explain(pod)), "topology");
    expect_words(explain(pod), words, 1);
}

/* The pod that mounts a claim first decides the zone of its volume; what else stands in the way is
 * told as ever. */
static void test_shared_claims(void)
{
    struct a_volume data = {.claim = "data", .binds = true};
    struct a_volume own = {.claim = "own-#", .binds = true};
    struct a_volume there = VOLUME("zone In test-zone-1 test-zone-2", .claim = "there-#");
    for (int led = 0; led < 3; led++) {
        world_fresh();
        world.title = led > 0 ? "led away" : "minValues";
        world.settings.optimize.cheapest = true;
        POOL(.name = "default", .requirements = led > 0 ? NULL : "type Exists min 7");
        NODE(.name = "there", .labels = "zone=test-zone-1",
             .allocatable = "cpu 9; memory 9Gi; pods 1");
        size_t first = POD(.name = "a", .requests = "cpu 3", .selector = "zone=test-zone-1",
                           .volumes = {data});
        /* whichever of its volumes it is */
        struct a_volume before = led == 1 ? there : data;
        struct a_volume after = led == 1 ? data : there;
        size_t second = led > 0
                            ? POD(.name = "b", .requests = "cpu 1", .selector = "zone=test-zone-2",
                                  .volumes = {before, own, after})
                            : POD(.name = "b", .requests = "cpu 1", .volumes = {data});
        solve();
        EXPECT_INT(world.pods.items[first].place.kind, SOLVER_ON_NODE);
        EXPECT_TEXT(kinds_of(explain(second)),
                    led > 0 ? "requirement volume" : "resources min-values");
    }
    world_fresh();
    world.title = "no pod is placed";
    world.settings.optimize.cheapest = true;
    POOL(.name = "default", .requirements = "type Exists min 7");
    struct span pods = PODS(2, .requests = "cpu 1", .volumes = {data});
    solve();
    EXPECT_TEXT(kinds_of(explain(pods.first)), "min-values");
}

/* Reasons that are none of a pool's. */
static void test_whatever_the_pool(void)
{
    static const struct {
        const char *name;
        size_t pools;
        struct a_pod pod;
        const char *kinds, *words[2];
    } cases[] = {
        {"devices", 2, {.needs_devices = true}, "devices", {"resourceClaims"}},
        {"volumes that lie apart",
         2,
         {.volumes = {VOLUME("zone=test-zone-1"), VOLUME("zone=test-zone-2")}},
         "volume",
         {"test-zone-1", "test-zone-2"}},
        {"no pool", 0, {.requests = NULL}, "requirement", {"NodePool"}},
        {"devices without a pool", 0, {.needs_devices = true}, "devices", {"resourceClaims"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        for (size_t j = 0; j < cases[i].pools; j++)
            POOL(.name = j == 0 ? "one" : "two");
        size_t pod = world_pod(&cases[i].pod);
        solve();
        struct reasons_words reasons = explain(pod);
        EXPECT_TEXT(kinds_of(reasons), cases[i].kinds);
        expect_words(reasons, cases[i].words, 2);
        for (size_t j = 0; j < reasons.count; j++)
            EXPECT_INT(reasons.items[j].pool, SOLVER_NONE);
    }
}

static void test_each_pool(void)
{
    world_fresh();
    world.title = "each pool";
    POOL(.name = "tainted", .taints = "dedicated=gpu:NoSchedule");
    POOL(.name = "elsewhere", .requirements = "zone=test-zone-2");
    POOL(.name = "full", .limits = "cpu 0");
    size_t pod = POD(.selector = "zone=test-zone-1", .requests = "cpu 1");
    solve();
    struct reasons_words reasons = explain(pod);
    EXPECT_INT(reasons.count, 3);
    uint32_t before = 0;
    for (size_t i = 0; i < reasons.count; i++) {
        const char *pool = solver_pool_name(world.problem, reasons.items[i].pool);
        const char *expected = strcmp(pool, "tainted") == 0     ? "taint"
                               : strcmp(pool, "elsewhere") == 0 ? "requirement"
                                                                : "limit";
        EXPECT_TEXT(solver_reason_name(reasons.items[i].kind), expected);
        EXPECT_INT(i == 0 || reasons.items[i].pool > before, 1);
        before = reasons.items[i].pool;
    }
}

/* Those of no pool come first, by kind. */
static void test_order(void)
{
    world_fresh();
    world.title = "the nodes, then the pools";
    POOL(.name = "one", .taints = "dedicated=gpu:NoSchedule");
    NODE(.name = "full", .allocatable = "cpu 1; memory 1Gi; pods 1");
    size_t pod = POD(.requests = "cpu 2");
    solve();
    EXPECT_TEXT(kinds_of(explain(pod)), "resources taint");
    EXPECT_INT(explain(pod).items[0].pool, SOLVER_NONE);

    world_fresh();
    world.title = "a taint, then that there is no pool";
    NODE(.name = "own", .taints = "x=y:NoSchedule", .allocatable = "cpu 9; memory 1Gi; pods 9");
    pod = POD(.requests = NULL);
    solve();
    EXPECT_TEXT(kinds_of(explain(pod)), "taint requirement");
}

/* What was free before the round, and was taken in it. */
static void test_taken_in_the_round(void)
{
    static const struct {
        const char *name, *limits;
        struct a_pod pod;
        size_t count, scheduled;
        const char *kinds, *word;
    } cases[] = {
        {"limit",
         "cpu 3",
         {.labels = "app=a", .requests = "cpu 1.5", .affinities = {APART("host", "app=a")}},
         2,
         1,
         "limit",
         "cpu"},
        {"zone anti-affinity",
         NULL,
         {.labels = "app=a", .affinities = {APART("zone", "app=a")}},
         2,
         1,
         "topology",
         "anti-affinity"},
        {"hostname affinity",
         NULL,
         {.labels = "app=a", .affinities = {NEAR("host", "app=a")}},
         6,
         5,
         "topology",
         "kubernetes.io/hostname"},
        {"spread",
         NULL,
         {.labels = "app=a",
          .volumes = {VOLUME("zone=test-zone-1")},
          .spreads = {SPREAD("zone", 1, "app=a")}},
         2,
         1,
         "topology volume",
         "topology.kubernetes.io/zone"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        POOL(.name = "default", .limits = cases[i].limits);
        struct span pods = world_pods(cases[i].count, &cases[i].pod);
        solve();
        EXPECT_SCHEDULED(pods, cases[i].scheduled);
        struct reasons_words reasons = {0};
        for (size_t j = 0; j < pods.count; j++)
            if (node_of(pods.first + j) == NULL)
                reasons = explain(pods.first + j);
        EXPECT_TEXT(kinds_of(reasons), cases[i].kinds);
        expect_words(reasons, &cases[i].word, 1);
    }
}

static void test_required_terms(void)
{
    /* Of alternatives, the one that comes closest. */
    world_fresh();
    world.title = "required terms";
    POOL(.name = "default");
    size_t pod = POD(.required = {"team=payments", "zone=test-zone-1"}, .requests = "cpu 512");
    solve();
    EXPECT_TEXT(kinds_of(explain(pod)), "resources");
}

/* A reason takes no memory for each type. */
static void test_many_types(void)
{
    enum { TYPE_COUNT = 800, POOL_COUNT = 20, BYTES_A_POOL = 4096 };
    world_fresh();
    for (size_t i = 0; i < TYPE_COUNT; i++)
        TYPE(.name = arena_printf(world.arena, "type-%zu", i).data);
    for (size_t i = 0; i < POOL_COUNT; i++)
        POOL(.name = arena_printf(world.arena, "pool-%zu", i).data);
    size_t pod = POD(.requests = "cpu 512");
    solve();
    size_t before = arena_used_bytes(world.arena);
    struct solver_reasons reasons = solver_explain(world.run, world.pods.items[pod].number);
    EXPECT_INT(reasons.count, POOL_COUNT);
    CU_ASSERT(arena_used_bytes(world.arena) - before < (size_t)POOL_COUNT * BYTES_A_POOL);
}

static void test_names(void)
{
    static const char *const names[] = {"taint",      "requirement", "resources", "offering",
                                        "topology",   "volume",      "limit",     "port",
                                        "min-values", "devices"};
    EXPECT_INT(SOLVER_REASON_COUNT, sizeof names / sizeof *names);
    for (int i = 0; i < SOLVER_REASON_COUNT; i++)
        EXPECT_TEXT(solver_reason_name((enum solver_reason_kind)i), names[i]);
}

const char unit_suite[] = "solver explain";
const struct unit_test unit_tests[] = {
    {"labels and taints", test_labels_and_taints},
    {"types", test_types},
    {"topology and volumes", test_topology_and_volumes},
    {"daemons", test_daemons},
    {"a port of a daemon of all", test_port_of_a_daemon_of_all},
    {"clusters", test_clusters},
    {"an overcommitted node", test_overcommitted_node},
    {"kept away", test_kept_away},
    {"shared claims", test_shared_claims},
    {"whatever the pool", test_whatever_the_pool},
    {"each pool", test_each_pool},
    {"order", test_order},
    {"taken in the round", test_taken_in_the_round},
    {"required terms", test_required_terms},
    {"many types", test_many_types},
    {"names of kinds", test_names},
    {NULL, NULL},
};
