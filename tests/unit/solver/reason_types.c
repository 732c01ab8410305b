/* Reasons of a pool's types: which requirement no type meets and what there is instead, types that
 * are asked for by name, labels of the pool, and pools that launch nothing. */
#include "solver_reasons.h"

#define TYPE_LABEL "node.kubernetes.io/instance-type "

struct types_case {
    const char *name;
    struct a_pool pool;
    struct a_pod pod;
    const char *said;
};

static void run(const struct types_case *cases, size_t count, void (*sell)(void))
{
    for (size_t i = 0; i < count; i++) {
        sell();
        world.title = cases[i].name;
        world_pool(&cases[i].pool);
        size_t pod = world_pod(&cases[i].pod);
        solve();
        EXPECT_TEXT(told(pod), cases[i].said);
    }
}
#define RUN(cases, sell) run((cases), sizeof(cases) / sizeof *(cases), (sell))

/* Four types of two families and two architectures. */
static void sell_families(void)
{
    world_empty();
    TYPE(.name = "c5.large", .resources = "cpu 2; memory 4Gi", .requirements = "family=c5");
    TYPE(.name = "c5.xlarge", .resources = "cpu 4; memory 8Gi", .requirements = "family=c5");
    TYPE(.name = "m6g.large", .resources = "cpu 2; memory 8Gi", .arch = "arm64",
         .requirements = "family=m6g");
    TYPE(.name = "m6g.xlarge", .resources = "cpu 4; memory 16Gi", .arch = "arm64",
         .requirements = "family=m6g; fast=yes");
}

static void test_labels_of_the_pool(void)
{
    static const struct types_case cases[] = {
        {"one value",
         {.name = "default", .labels = "team=search"},
         {.selector = "team=shop"},
         "requirement: asks for team shop; the NodePool has team search"},
        {"one value of a requirement",
         {.name = "default", .requirements = "team In search"},
         {.selector = "team=shop"},
         "requirement: asks for team shop; the NodePool has team search"},
        {"a list of values",
         {.name = "default", .requirements = "team In search data"},
         {.selector = "team=shop"},
         "requirement: asks for team shop; the NodePool allows team data or search"},
        {"all but one",
         {.name = "default", .requirements = "team NotIn shop"},
         {.selector = "team=shop"},
         "requirement: asks for team shop; the NodePool allows team other than shop"},
        {"none at all",
         {.name = "default", .requirements = "team Exists"},
         {.required = {"team DoesNotExist"}},
         "requirement: asks for no label team; the NodePool allows any team"},
        {"a number that is too small",
         {.name = "default", .requirements = "slots Lt 5"},
         {.required = {"slots Gt 5"}},
         "requirement: asks for slots of at least 6; the NodePool allows slots of at most 4"},
        {"a label that is not the pool's",
         {.name = "default", .labels = "team=search"},
         {.selector = "owner=shop"},
         "requirement: asks for owner shop; the NodePool gives its nodes no such label"},
        {"three letters off",
         {.name = "default", .labels = "department=search"},
         {.selector = "departXYZt=shop"},
         "requirement: asks for departXYZt shop; the NodePool gives its nodes the label "
         "department"},
        {"four letters off",
         {.name = "default", .labels = "department=search"},
         {.selector = "deparWXYZt=shop"},
         "requirement: asks for deparWXYZt shop; the NodePool gives its nodes no such label"},
        {"a hostname",
         {.name = "default"},
         {.selector = "host=red"},
         "requirement: asks for kubernetes.io/hostname red; a node that is yet to be bought has no "
         "such name"},
        {"taints: a toleration of the key that says another value",
         {.name = "default", .taints = "team=a:NoSchedule"},
         {.tolerations = "other; team=b:NoSchedule; team=c"},
         "taint: does not tolerate the taint team=a:NoSchedule; it tolerates team=b:NoSchedule"},
        {"taints: a toleration of the key for another effect",
         {.name = "default", .taints = "team=a:NoSchedule"},
         {.tolerations = "team:NoExecute"},
         "taint: does not tolerate the taint team=a:NoSchedule; it tolerates team:NoExecute"},
        {"taints: no toleration of the key",
         {.name = "default", .taints = "team:NoExecute"},
         {.tolerations = "other"},
         "taint: does not tolerate the taint team:NoExecute"},
    };
    RUN(cases, sell_families);
}

static void test_requirements(void)
{
    static const struct types_case cases[] = {
        {"a value that no type has",
         {.name = "default"},
         {.selector = "family=r5"},
         "requirement: no instance type of this NodePool has family r5; its types have family c5 "
         "and m6g"},
        {"a value that only types outside of the pool have",
         {.name = "default", .requirements = "arch=amd64"},
         {.selector = "family=m6g"},
         "requirement: no instance type of this NodePool has family m6g; its types have family "
         "c5"},
        {"two that do not go together",
         {.name = "default"},
         {.selector = "family=c5; arch=arm64"},
         "requirement: no instance type of this NodePool has both family c5 and "
         "kubernetes.io/arch arm64; those with family c5 have kubernetes.io/arch amd64"},
        {"three of which two do not go together",
         {.name = "default"},
         {.selector = "family=c5; arch=arm64; os=linux"},
         "requirement: no instance type of this NodePool has both family c5 and "
         "kubernetes.io/arch arm64; those with family c5 have kubernetes.io/arch amd64"},
        {"three that do not go together, though any two do",
         {.name = "default"},
         {.required = {"type In c5.xlarge m6g.large; family=c5; integer Lt 3"}},
         "requirement: no instance type of this NodePool has " TYPE_LABEL
         "c5.xlarge or m6g.large and family c5 and karpenter.k8s.aws/instance-cpu of at most 2; "
         "the lowest karpenter.k8s.aws/instance-cpu left is 4, c5.xlarge"},
        {"a number that is too high",
         {.name = "default"},
         {.required = {"integer Gt 4"}},
         "requirement: no instance type of this NodePool has karpenter.k8s.aws/instance-cpu of at "
         "least 5; the highest karpenter.k8s.aws/instance-cpu left is 4, c5.xlarge"},
        {"a number that is too low",
         {.name = "default"},
         {.required = {"integer Lt 2"}},
         "requirement: no instance type of this NodePool has karpenter.k8s.aws/instance-cpu of at "
         "most 1; the lowest karpenter.k8s.aws/instance-cpu left is 2, c5.large"},
        {"a number of what has none",
         {.name = "default"},
         {.required = {"family Gt 5"}},
         "requirement: no instance type of this NodePool has family of at least 6; its types have "
         "family c5 and m6g"},
        {"no number between",
         {.name = "default"},
         {.required = {"integer Gt 2; integer Lt 4"}},
         "requirement: no instance type of this NodePool has karpenter.k8s.aws/instance-cpu of at "
         "least 3 and at most 3; the highest karpenter.k8s.aws/instance-cpu left is 4, c5.xlarge"},
        {"a zone where nothing is sold",
         {.name = "default"},
         {.selector = "zone=test-zone-9"},
         "requirement: no instance type of this NodePool is on offer with "
         "topology.kubernetes.io/zone test-zone-9; its types have topology.kubernetes.io/zone "
         "test-zone-1, test-zone-2 and test-zone-3"},
        {"a family, and more memory than it has",
         {.name = "default"},
         {.selector = "family=c5", .requests = "memory 12Gi"},
         "requirement: only c5.large and c5.xlarge have family c5\n"
         "resources: needs 12Gi memory; c5.xlarge, the largest type left, has room for 8182Mi "
         "memory"},
        {"the fewest requirements that exclude what has the memory",
         {.name = "default"},
         {.selector = "family=c5; integer=2", .requests = "memory 12Gi"},
         "requirement: only c5.large and c5.xlarge have family c5\n"
         "resources: needs 12Gi memory; c5.large, the only type it may use, has room for 4086Mi "
         "memory"},
    };
    RUN(cases, sell_families);
}

static void test_rooms(void)
{
    static const struct types_case cases[] = {
        {"too much for the largest",
         {.name = "default"},
         {.requests = "cpu 5"},
         "resources: needs 5 cpu; c5.xlarge, the largest type left, has room for 3.9 cpu"},
        {"too much for the only type",
         {.name = "default", .requirements = "type=c5.large"},
         {.requests = "cpu 5"},
         "resources: needs 5 cpu; c5.large, the only type of this NodePool, has room for 1.9 cpu"},
        {"too much for the only type that is left",
         {.name = "default"},
         {.selector = "type=c5.large", .requests = "cpu 5"},
         "resources: needs 5 cpu; c5.xlarge, the largest type left, has room for 3.9 cpu"},
        {"what only types have that it may not use",
         {.name = "default"},
         {.selector = "arch=arm64", .requests = "fake.com/vendor-a 1"},
         "resources: needs 1 fake.com/vendor-a; no type of this NodePool has fake.com/vendor-a"},
        {"a hundred hugepages",
         {.name = "default"},
         {.requests = "hugepages-2Mi 200Mi"},
         "resources: needs 200Mi hugepages-2Mi; no type of this NodePool has hugepages-2Mi"},
        {"as many as a million cpu",
         {.name = "default"},
         {.requests = "cpu 1000000"},
         "resources: needs 1000000 cpu (M written where m was meant?); c5.xlarge, the largest type "
         "left, has room for 3.9 cpu"},
        {"one cpu less than a million",
         {.name = "default"},
         {.requests = "cpu 999999"},
         "resources: needs 999999 cpu; c5.xlarge, the largest type left, has room for 3.9 cpu"},
        {"a limit that no type is under, where no type would do anyway",
         {.name = "default", .limits = "cpu 1"},
         {.selector = "type=c5.large", .requests = "cpu 3"},
         "limit: the NodePool's limit of 1 cpu is too small for any type it may use"},
        {"a limit that the types which would do are over",
         {.name = "default", .limits = "cpu 3"},
         {.selector = "family=c5", .requests = "cpu 3"},
         "resources: needs 3 cpu; c5.large, the largest type left, has room for 1.9 cpu\n"
         "limit: the NodePool's limit of 3 cpu is too small for any type it may use; c5.xlarge, "
         "the "
         "smallest type that would do, has 4 cpu"},
        {"a limit of two resources: the one that is exceeded by more",
         {.name = "default", .limits = "cpu 1; memory 3Gi"},
         {.requests = "cpu 1"},
         "limit: the NodePool's limit of 1 cpu is too small for any type it may use; c5.large, the "
         "smallest type that would do, has 2 cpu"},
        {"values that are not reached",
         {.name = "default", .requirements = "family Exists min 2"},
         {.requests = "cpu 3; memory 8Gi"},
         "min-values: the NodePool wants minValues 2 of family; the types that would hold it have "
         "1 between them"},
    };
    RUN(cases, sell_families);
}

static void test_names(void)
{
    static const struct types_case cases[] = {
        {"one that is nearly right",
         {.name = "default"},
         {.selector = "type=c5.larg"},
         "requirement: asks for c5.larg; no instance type c5.larg is known; did you mean "
         "c5.large?"},
        {"one of another family",
         {.name = "default"},
         {.selector = "type=x2idn.16xlarge"},
         "requirement: asks for x2idn.16xlarge; no instance type x2idn.16xlarge is known; "
         "c5.xlarge"},
        {"the first by name of several",
         {.name = "default"},
         {.required = {"type In z9.huge x9.huge y9.huge"}},
         "requirement: asks for x9.huge, y9.huge or z9.huge; no instance type x9.huge is known; "
         "c5.large"},
        {"one that the pool does not list: the same size of another family",
         {.name = "default", .requirements = "type In c5.large m6g.xlarge"},
         {.selector = "type=c5.xlarge"},
         "requirement: asks for c5.xlarge; the NodePool allows " TYPE_LABEL
         "c5.large or m6g.xlarge; c5.large"},
        {"one whose label the pool excludes",
         {.name = "default", .requirements = "arch=amd64"},
         {.selector = "type=m6g.large"},
         "requirement: asks for m6g.large; the NodePool allows kubernetes.io/arch amd64; m6g.large "
         "has arm64; c5.large"},
    };
    RUN(cases, sell_families);
}

/* Sizes double from one to the next: of 8 cpu, 13 are nearer than 4. */
static void test_nearest_size(void)
{
    static const struct {
        const char *wanted, *nearest;
    } cases[] = {{"c5.d", "c5.e"}, {"c5.c", "c5.b"}, {"c5.a", "c5.b"}, {"c5.f", "c5.e"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_empty();
        world.title = cases[i].wanted;
        TYPE(.name = "c5.a", .resources = "cpu 1; memory 4Gi");
        TYPE(.name = "c5.b", .resources = "cpu 4; memory 4Gi");
        TYPE(.name = "c5.c", .resources = "cpu 7; memory 4Gi");
        TYPE(.name = "c5.d", .resources = "cpu 8; memory 4Gi");
        TYPE(.name = "c5.e", .resources = "cpu 13; memory 4Gi");
        TYPE(.name = "c5.f", .resources = "cpu 96; memory 4Gi");
        POOL(.name = "default", .requirements = "type In c5.b c5.e");
        size_t pod = POD(.selector = arena_printf(world.arena, "type=%s", cases[i].wanted).data);
        solve();
        EXPECT_TEXT(told(pod), arena_printf(world.arena,
                                            "requirement: asks for %s; the NodePool allows "
                                            "" TYPE_LABEL "c5.b or c5.e; %s",
                                            cases[i].wanted, cases[i].nearest)
                                   .data);
    }
}

/* DaemonSets that take ports on some types only. */
static void test_ports_of_some_types(void)
{
#define ON_AMD64 .selector = "arch=amd64"
#define ON_ARM64 .selector = "arch=arm64"
    static const struct {
        const char *name;
        struct a_pod daemons[2], pod;
        const char *said;
    } cases[] = {
        {"on the type it asks for",
         {{.ports = {{"", "", 7070, false}, {"", "", 9090, false}}, ON_AMD64},
          {.ports = {{"", "", 7071, false}, {"", "", 8080, false}}, ON_ARM64}},
         {.selector = "type=c5.large", .ports = {{"", "", 6060, false}, {"", "", 9090, false}}},
         "requirement: asks for " TYPE_LABEL "c5.large; m6g.large would do otherwise\n"
         "port: a DaemonSet takes host port 9090 on every type it may use"},
        {"of two DaemonSets that of the type it asks for",
         {{.ports = {{"", "", 7070, false}, {"", "", 9090, false}}, ON_AMD64},
          {.ports = {{"", "", 7071, false}, {"", "", 8080, false}}, ON_ARM64}},
         {.selector = "type=m6g.large", .ports = {{"", "", 6060, false}, {"", "", 8080, false}}},
         "requirement: asks for " TYPE_LABEL "m6g.large; c5.large would do otherwise\n"
         "port: a DaemonSet takes host port 8080 on every type it may use"},
        {"on the type it asks for, and by another DaemonSet on the others: c5.large",
         {{.ports = {{"", "", 8080, false}}, .selector = "type=c5.large"},
          {.ports = {{"", "", 8080, false}}, .selector = "type=c5.xlarge"}},
         {.selector = "type=c5.large", .ports = {{"", "", 8080, false}}},
         "requirement: asks for " TYPE_LABEL "c5.large; m6g.large would do otherwise\n"
         "port: a DaemonSet takes host port 8080 on every type it may use"},
        {"on the type it asks for, and by another DaemonSet on the others: m6g.large",
         {{.ports = {{"", "", 8080, false}}, .selector = "type=m6g.large"},
          {.ports = {{"", "", 8080, false}}, .selector = "type=c5.xlarge"}},
         {.selector = "type=m6g.large", .ports = {{"", "", 8080, false}}},
         "requirement: asks for " TYPE_LABEL "m6g.large; m6g.xlarge would do otherwise\n"
         "port: a DaemonSet takes host port 8080 on every type it may use"},
        {"on those that are large enough",
         {{.ports = {{"", "", 8080, false}}, .selector = "type=c5.xlarge"},
          {.ports = {{"", "", 8080, false}}, .selector = "type=m6g.xlarge"}},
         {.requests = "cpu 3", .ports = {{"", "", 8080, false}}},
         "resources: needs 3 cpu; c5.large, the largest type left, has room for 1.9 cpu\n"
         "port: a DaemonSet takes host port 8080 on every type it may use"},
        {"the same on all types, by two DaemonSets",
         {{.ports = {{"", "", 8080, false}}, ON_AMD64},
          {.ports = {{"", "", 8080, false}}, ON_ARM64}},
         {.ports = {{"", "", 8080, false}}},
         "port: a DaemonSet takes host port 8080 on every node of this NodePool"},
        {"one here and one there",
         {{.ports = {{"", "", 8080, false}}, ON_AMD64},
          {.ports = {{"", "", 9090, false}}, ON_ARM64}},
         {.ports = {{"", "", 9090, false}, {"", "", 8080, false}}},
         "port: a DaemonSet takes host port 8080 or 9090 on every node of this NodePool"},
        {"one of the two everywhere",
         {{.ports = {{"", "", 8080, false}}, ON_AMD64}, {.ports = {{"", "", 9090, false}}}},
         {.ports = {{"", "", 8080, false}, {"", "", 9090, false}}},
         "port: a DaemonSet takes host port 9090 on every node of this NodePool"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sell_families();
        world.title = cases[i].name;
        POOL(.name = "default");
        for (size_t j = 0; j < COUNT_OF(cases[i].daemons); j++)
            *LIST_PUSH(world.arena, &world.daemons) = cases[i].daemons[j];
        size_t pod = world_pod(&cases[i].pod);
        solve();
        EXPECT_TEXT(told(pod), cases[i].said);
    }
}

/* A pool from which nothing can be bought. */
static void test_pools_of_nothing(void)
{
    static const struct types_case cases[] = {
        {"an architecture that no type has",
         {.name = "default", .requirements = "arch=s390x"},
         {.requests = NULL},
         "requirement: no instance type has kubernetes.io/arch s390x, as the NodePool requires; "
         "types left have kubernetes.io/arch amd64 and arm64"},
        {"a number that is too low",
         {.name = "default", .requirements = "integer Lt 2"},
         {.requests = NULL},
         "requirement: no instance type has karpenter.k8s.aws/instance-cpu of at most 1, as the "
         "NodePool requires; the lowest karpenter.k8s.aws/instance-cpu left is 2, c5.large"},
        {"two that do not go together",
         {.name = "default", .requirements = "arch=arm64; family=c5"},
         {.requests = NULL},
         "requirement: no instance type has both family c5 and kubernetes.io/arch arm64, as the "
         "NodePool requires; those with family c5 have kubernetes.io/arch amd64"},
        {"no value is allowed",
         {.name = "default", .requirements = "arch In amd64; arch In arm64"},
         {.requests = NULL},
         "requirement: no instance type is left: the NodePool's requirements on "
         "kubernetes.io/arch allow no value of it"},
        {"a zone where it is not sold as spot",
         {.name = "default", .requirements = "zone=test-zone-3; capacity=spot"},
         {.requests = NULL},
         "requirement: no instance type of this NodePool is on offer with "
         "topology.kubernetes.io/zone test-zone-3 and karpenter.sh/capacity-type spot"},
    };
    RUN(cases, sell_families);

    world_empty();
    world.title = "no types";
    POOL(.name = "default");
    size_t pod = POD(.requests = NULL);
    solve();
    EXPECT_TEXT(told(pod),
                "requirement: no instance type that the NodePool's class offers is known");

    world_empty();
    world.title = "all sold out";
    TYPE(.name = "one",
         .offerings = {OFFER("spot", "test-zone-1", .usd_micro = 1, .unavailable = true)});
    POOL(.name = "default");
    pod = POD(.requests = NULL);
    solve();
    EXPECT_TEXT(told(pod), "requirement: none of the NodePool's instance types is on offer");
}

/* Why a pool does not launch a type that is asked for by name. */
static void test_why_not_this_type(void)
{
    sell_families();
    world.title = "the class does not offer it";
    TYPE(.name = "p5.large", .only_of = "gpus");
    POOL(.name = "default");
    size_t pod = POD(.selector = "type=p5.large");
    solve();
    EXPECT_TEXT(
        told(pod),
        "requirement: asks for p5.large; the NodePool's class does not offer it; c5.xlarge");

    world_fresh();
    world.title = "it has no value of what the pool wants";
    POOL(.name = "default", .requirements = "special Exists");
    pod = POD(.selector = "type=small-instance-type");
    solve();
    EXPECT_TEXT(told(pod), "requirement: asks for small-instance-type; the NodePool allows any "
                           "karpenter.k8s.aws/instance-gpu-name; small-instance-type has none; "
                           "arm-instance-type");

    sell_families();
    world.title = "DaemonSets fill it";
    POOL(.name = "default");
    DAEMON(.requests = "cpu 2", .selector = "type=c5.large");
    pod = POD(.selector = "type=c5.large");
    solve();
    EXPECT_TEXT(told(pod),
                "requirement: asks for c5.large; DaemonSets leave no room on it; c5.xlarge");

    sell_families();
    world.title = "it is not sold where the pool is";
    world.types.items[0].offerings[0] =
        (struct an_offering)OFFER("on-demand", "test-zone-1", .usd_micro = 1000);
    world.types.items[0].offerings[1] =
        (struct an_offering)OFFER("spot", "test-zone-3", .usd_micro = 1000);
    POOL(.name = "default", .requirements = "zone=test-zone-1; capacity=spot");
    pod = POD(.selector = "type=c5.large");
    solve();
    EXPECT_TEXT(told(pod), "requirement: asks for c5.large; it is not on offer in the zones and "
                           "capacity types of the NodePool; c5.xlarge");
}

const char unit_suite[] = "solver reason types";
const struct unit_test unit_tests[] = {
    {"labels of the pool", test_labels_of_the_pool},
    {"requirements", test_requirements},
    {"rooms", test_rooms},
    {"names", test_names},
    {"the nearest size", test_nearest_size},
    {"ports of some types", test_ports_of_some_types},
    {"pools of nothing", test_pools_of_nothing},
    {"why not this type", test_why_not_this_type},
    {NULL, NULL},
};
