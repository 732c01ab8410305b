/* One pod against one pool: labels, operators, undefined keys, preferences. Expected results are
 * those of Karpenter's own tests of the same names. */
#include "solver_fixture.h"

/* What becomes of one pod under one pool. */
struct place_case {
    const char *name;
    const char *requirements, *labels; /* of the pool */
    struct a_pod pod;
    const char *expected; /* NULL: pending; "": placed; "k=v": with that label; "k=": without it */
};

static void expect_place(size_t pod, const char *expected)
{
    EXPECT_INT(node_of(pod) != NULL, expected != NULL);
    struct solver_labels labels = notation_labels(world.arena, expected);
    for (size_t i = 0; i < labels.count; i++)
        EXPECT_LABEL(pod, labels.items[i].key, labels.items[i].value);
}

static void run(const struct place_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        world_fresh();
        world.title = cases[i].name;
        POOL(.name = "default", .requirements = cases[i].requirements, .labels = cases[i].labels);
        size_t pod = world_pod(&cases[i].pod);
        provision();
        expect_place(pod, cases[i].expected);
    }
}
#define RUN(cases) run((cases), sizeof(cases) / sizeof *(cases))

static void test_pool_labels(void)
{
    static const struct place_case cases[] = {
        {"unconstrained pods", NULL, "test-key=test-value", {0}, "test-key=test-value"},
        {"conflicting node selectors",
         NULL,
         "test-key=test-value",
         {.selector = "test-key=different-value"},
         NULL},
        {"node selectors with undefined key",
         NULL,
         NULL,
         {.selector = "test-key=test-value"},
         NULL},
        {"matching requirements",
         NULL,
         "test-key=test-value",
         {.required = {"test-key In test-value another-value"}},
         "test-key=test-value"},
        {"conflicting requirements",
         NULL,
         "test-key=test-value",
         {.required = {"test-key In another-value"}},
         NULL},
        {"label in the kubernetes domain",
         "kubernetes.io/test=test-value",
         NULL,
         {0},
         "kubernetes.io/test=test-value"},
        {"label in a subdomain of a kubernetes domain",
         "sub.k8s.io/test=test-value",
         NULL,
         {0},
         "sub.k8s.io/test=test-value"},
    };
    RUN(cases);
}

static void test_well_known_labels(void)
{
    static const struct place_case cases[] = {
        {"use pool constraints", "zone=test-zone-2", NULL, {0}, "zone=test-zone-2"},
        {"use node selectors",
         "zone In test-zone-1 test-zone-2",
         NULL,
         {.selector = "zone=test-zone-2"},
         "zone=test-zone-2"},
        {"hostname selector", NULL, NULL, {.selector = "host=red-node"}, NULL},
        {"selector unknown", "zone=test-zone-1", NULL, {.selector = "zone=unknown"}, NULL},
        {"selector outside of pool constraints",
         "zone=test-zone-1",
         NULL,
         {.selector = "zone=test-zone-2"},
         NULL},
        {"compatible In", NULL, NULL, {.required = {"zone=test-zone-3"}}, "zone=test-zone-3"},
        {"compatible Gt", "integer Gt 8", NULL, {0}, "integer=16"},
        {"compatible Lt", "integer Lt 8", NULL, {0}, "integer=2"},
        {"compatible Gte", "integer Gte 16", NULL, {0}, "integer=16"},
        {"compatible Lte", "integer Lte 2", NULL, {0}, "integer=2"},
        {"pod Gt", NULL, NULL, {.required = {"integer Gt 8"}}, "integer=16"},
        {"pod Lt", NULL, NULL, {.required = {"integer Lt 3"}}, "integer=2"},
        {"no integer between", NULL, NULL, {.required = {"integer Gt 4; integer Lt 16"}}, NULL},
        {"incompatible In", NULL, NULL, {.required = {"zone=unknown"}}, NULL},
        {"compatible NotIn",
         NULL,
         NULL,
         {.required = {"zone NotIn test-zone-1 test-zone-2 unknown"}},
         "zone=test-zone-3"},
        {"incompatible NotIn",
         NULL,
         NULL,
         {.required = {"zone NotIn test-zone-1 test-zone-2 test-zone-3 unknown"}},
         NULL},
        {"Exists", NULL, NULL, {.required = {"zone Exists"}}, ""},
        {"DoesNotExist", NULL, NULL, {.required = {"zone DoesNotExist"}}, NULL},
        {"an alias of a well-known key",
         NULL,
         NULL,
         {.selector = "failure-domain.beta.kubernetes.io/zone=test-zone-3"},
         "zone=test-zone-3"},
        {"an alias in the pool", "beta.kubernetes.io/arch=arm64", NULL, {0}, "arch=arm64"},
        {"compatible preference In",
         NULL,
         NULL,
         {.required = {"zone In test-zone-1 test-zone-2 test-zone-3 unknown"},
          .preferred = {"1 zone In test-zone-2 unknown"}},
         "zone=test-zone-2"},
        {"incompatible preference In",
         NULL,
         NULL,
         {.required = {"zone In test-zone-1 test-zone-2 test-zone-3 unknown"},
          .preferred = {"1 zone=unknown"}},
         ""},
        {"compatible preference NotIn",
         NULL,
         NULL,
         {.required = {"zone In test-zone-1 test-zone-2 test-zone-3 unknown"},
          .preferred = {"1 zone NotIn test-zone-1 test-zone-3"}},
         "zone=test-zone-2"},
        {"incompatible preference NotIn",
         NULL,
         NULL,
         {.required = {"zone In test-zone-1 test-zone-2 test-zone-3 unknown"},
          .preferred = {"1 zone NotIn test-zone-1 test-zone-2 test-zone-3"}},
         ""},
        {"selector, preference and requirement",
         NULL,
         NULL,
         {.selector = "zone=test-zone-3",
          .required = {"zone In test-zone-1 test-zone-2 test-zone-3"},
          .preferred = {"1 zone In test-zone-1 test-zone-2 test-zone-3"}},
         "zone=test-zone-3"},
        {"combine multidimensional",
         NULL,
         NULL,
         {.selector = "zone=test-zone-3; type=arm-instance-type",
          .required = {"zone In test-zone-1 test-zone-3; "
                       "type In default-instance-type arm-instance-type"},
          .preferred = {"1 zone NotIn unknown; type NotIn unknown"}},
         "zone=test-zone-3; type=arm-instance-type"},
        {"constrained by zone", NULL, NULL, {.selector = "zone=test-zone-1"}, "zone=test-zone-1"},
        {"constrained by type",
         NULL,
         NULL,
         {.selector = "type=default-instance-type"},
         "type=default-instance-type"},
        {"constrained by architecture", NULL, NULL, {.selector = "arch=arm64"}, "arch=arm64"},
        {"constrained by system", NULL, NULL, {.selector = "os=linux"}, ""},
        {"constrained by capacity type",
         NULL,
         NULL,
         {.selector = "capacity=spot"},
         "capacity=spot"},
        {"constrained by pool", NULL, NULL, {.selector = "pool=default"}, "pool=default"},
        {"another pool", NULL, NULL, {.selector = "pool=unknown"}, NULL},
        {"unknown type", NULL, NULL, {.selector = "type=unknown"}, NULL},
        {"unknown architecture", NULL, NULL, {.selector = "arch=unknown"}, NULL},
        {"unknown system", NULL, NULL, {.selector = "os=unknown"}, NULL},
        {"unknown capacity type", NULL, NULL, {.selector = "capacity=unknown"}, NULL},
        {"zone without an offering of the capacity type",
         NULL,
         NULL,
         {.selector = "zone=test-zone-3; capacity=spot"},
         NULL},
    };
    RUN(cases);
}

static void test_undefined_keys(void)
{
    static const char defined[] = "test-key=test-value";
    static const struct place_case cases[] = {
        {"In and undefined key", NULL, NULL, {.required = {"test-key In test-value"}}, NULL},
        {"NotIn and undefined key",
         NULL,
         NULL,
         {.required = {"test-key NotIn test-value"}},
         "test-key="},
        {"Exists and undefined key", NULL, NULL, {.required = {"test-key Exists"}}, NULL},
        {"DoesNotExist and undefined key",
         NULL,
         NULL,
         {.required = {"test-key DoesNotExist"}},
         "test-key="},
        {"Gt and undefined key", NULL, NULL, {.required = {"test-key Gt 1"}}, NULL},
        {"Lt and undefined key", NULL, NULL, {.required = {"test-key Lt 1"}}, NULL},
        {"unconstrained pod", defined, NULL, {0}, "test-key=test-value"},
        {"In and matching value",
         defined,
         NULL,
         {.required = {"test-key In test-value"}},
         "test-key=test-value"},
        {"NotIn and matching value",
         defined,
         NULL,
         {.required = {"test-key NotIn test-value"}},
         NULL},
        {"Exists and defined key", defined, NULL, {.required = {"test-key Exists"}}, ""},
        {"DoesNotExist and defined key",
         defined,
         NULL,
         {.required = {"test-key DoesNotExist"}},
         NULL},
        {"In and different value",
         defined,
         NULL,
         {.required = {"test-key In another-value"}},
         NULL},
        {"NotIn and different value",
         defined,
         NULL,
         {.required = {"test-key NotIn another-value"}},
         "test-key=test-value"},
        {"DoesNotExist and a pool that says Exists",
         "test-key Exists",
         NULL,
         {.required = {"test-key DoesNotExist"}},
         NULL},
        {"a pool's Exists takes the pod's value",
         "test-key Exists",
         NULL,
         {.selector = "test-key=mine"},
         "test-key=mine"},
        {"Exists should not overwrite the existing value",
         NULL,
         NULL,
         {.required = {"zone In non-existent-zone; zone Exists"}},
         NULL},
        /* Of an undefined well-known key the types decide. */
        {"a well-known key only some types have",
         NULL,
         NULL,
         {.required = {"special Exists"}},
         "type=arm-instance-type"},
        {"a well-known key not all types have",
         NULL,
         NULL,
         {.required = {"special DoesNotExist"}},
         "special="},
    };
    RUN(cases);
}

static void test_two_pods_and_a_key(void)
{
    static const struct {
        const char *name, *first, *second;
        bool same;
        const char *second_value;
    } cases[] = {
        {"compatible pods to the same node", "test-key=test-value", "test-key NotIn another-value",
         true, "test-value"},
        {"incompatible pods to different nodes", "test-key=test-value", "test-key=another-value",
         false, "another-value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_fresh();
        world.title = cases[i].name;
        POOL(.name = "default", .requirements = "test-key In test-value another-value");
        size_t first = POD(.required = {cases[i].first});
        size_t second = POD(.required = {cases[i].second});
        provision();
        EXPECT_LABEL(first, "test-key", "test-value");
        EXPECT_LABEL(second, "test-key", cases[i].second_value);
        EXPECT_INT(same_node(first, second), cases[i].same);
    }
}

static void test_preferential_fallback(void)
{
    static const struct place_case cases[] = {
        {"not relax the final term",
         "zone=test-zone-1; type=default-instance-type",
         NULL,
         {.required = {"zone=invalid"}},
         NULL},
        {"relax multiple terms",
         NULL,
         NULL,
         {.required = {"zone=invalid", "zone=invalid", "zone=test-zone-1", "zone=test-zone-2"}},
         "zone=test-zone-1"},
        {"relax all preferred terms",
         NULL,
         NULL,
         {.preferred = {"1 zone=invalid", "1 type=invalid"}},
         ""},
        {"relax to use lighter weights",
         "zone In test-zone-1 test-zone-2",
         NULL,
         {.preferred = {"100 type=test-zone-3", "50 zone=test-zone-2", "1 zone=test-zone-1"}},
         "zone=test-zone-2"},
        {"heavier preference first, however ordered",
         "zone In test-zone-1 test-zone-2",
         NULL,
         {.preferred = {"1 zone=test-zone-1", "50 zone=test-zone-2", "100 type=test-zone-3"}},
         "zone=test-zone-2"},
        {"preference conflicting with requirement",
         NULL,
         NULL,
         {.required = {"zone=test-zone-3"}, .preferred = {"1 zone NotIn test-zone-3"}},
         "zone=test-zone-3"},
        {"preference requirements are conflicting",
         NULL,
         NULL,
         {.preferred = {"1 zone=invalid; zone NotIn invalid"}},
         ""},
        /* Terms go before preferences do, so an impossible preference takes them all along. */
        {"an impossible preference leaves the last term",
         NULL,
         NULL,
         {.required = {"zone=test-zone-1", "zone=test-zone-2"}, .preferred = {"1 zone=invalid"}},
         "zone=test-zone-2"},
    };
    RUN(cases);
}

static void test_ignored_preferences(void)
{
    world_fresh();
    world.settings.ignore_preferences = true;
    POOL(.name = "default");
    size_t one = POD(.labels = "app=foo", .selector = "zone=test-zone-1", .requests = "cpu 2");
    struct span two =
        PODS(2, .labels = "app=bar", .selector = "zone=test-zone-2", .requests = "cpu 3");
    size_t wishing = POD(.requests = "cpu 1", .preferred = {"1 zone=test-zone-2"});
    size_t affine = POD(.requests = "cpu 1", .affinities = {NEAR("zone", "app=bar", .weight = 1)});
    provision();
    /* By the preference they would share the nodes of zone 2; by the number of pods, zone 1's. */
    EXPECT_ALL_SCHEDULED(two);
    EXPECT_SAME_NODE(wishing, one);
    EXPECT_PLACED(affine);

    static const struct {
        struct a_pod pod;
        size_t nodes; /* when preferences are respected */
    } soft[] = {
        {{.labels = "app=foo", .spreads = {SPREAD("zone", 1, "app=foo", .soft = true)}}, 3},
        {{.labels = "app=foo", .spreads = {SPREAD("host", 1, "app=foo", .soft = true)}}, 5},
        /* The first pod's claim may still land in any zone, so the others give up at once. */
        {{.labels = "app=foo", .affinities = {APART("zone", "app=foo", .weight = 1)}}, 1},
        {{.labels = "app=foo", .affinities = {APART("host", "app=foo", .weight = 1)}}, 5},
    };
    for (size_t i = 0; i < sizeof soft / sizeof *soft; i++)
        for (int respected = 0; respected < 2; respected++) {
            world_fresh();
            world.settings.ignore_preferences = respected == 0;
            POOL(.name = "default");
            struct span pods = world_pods(5, &soft[i].pod);
            provision();
            EXPECT_ALL_SCHEDULED(pods);
            EXPECT_NODES(pods, respected == 0 ? 1 : soft[i].nodes);
        }
}

static void test_preferences_that_cannot_be(void)
{
    static const char *const preferences[] = {"1 zone=value-1", "1 host=value-1"};
    for (size_t i = 0; i < sizeof preferences / sizeof *preferences; i++) {
        world_fresh();
        POOL(.name = "default");
        size_t first = POD(.requests = "cpu 2");
        size_t second = POD(.requests = "cpu 1", .preferred = {preferences[i]});
        provision();
        EXPECT_SAME_NODE(first, second);
    }
}

static void test_a_preference_beats_a_node(void)
{
    /* A preference is dropped only when neither a node nor a new claim honours it. */
    world_fresh();
    POOL(.name = "default");
    NODE(.name = "one", .labels = "zone=test-zone-1", .allocatable = "cpu 8; memory 8Gi; pods 9");
    size_t pod = POD(.preferred = {"1 zone=test-zone-2"});
    size_t content = POD(.preferred = {"1 zone=test-zone-1"});
    provision();
    EXPECT_LABEL(pod, "zone", "test-zone-2");
    EXPECT_TEXT(node_of(content), "one");
}

/* An impossible wish takes along what is given up before it, and nothing that would be given up
 * after it. */
static void test_order_of_relaxation(void)
{
    static const struct {
        const char *name;
        struct a_pod pod;
        const char *zone;
    } cases[] = {
        {"pod affinity before node affinity",
         {.affinities = {NEAR("zone", "no=body", .weight = 1)},
          .preferred = {"100 zone=test-zone-2"}},
         "test-zone-2"},
        {"heavier pod affinity first",
         {.affinities = {NEAR("zone", "app=in-2", .weight = 1),
                         NEAR("zone", "no=body", .weight = 2)}},
         "test-zone-2"},
        {"lighter pod affinity last",
         {.affinities = {NEAR("zone", "app=in-2", .weight = 2),
                         NEAR("zone", "no=body", .weight = 1)}},
         "test-zone-1"},
        {"pod affinity before anti-affinity",
         {.affinities = {NEAR("zone", "no=body", .weight = 1),
                         APART("zone", "app=in-1", .weight = 100)}},
         "test-zone-2"},
        {"anti-affinity takes pod affinity along",
         {.affinities = {NEAR("zone", "app=in-2", .weight = 1),
                         APART("zone", "app=everywhere", .weight = 100)}},
         "test-zone-1"},
        {"anti-affinity before node affinity",
         {.affinities = {APART("zone", "app=everywhere", .weight = 1)},
          .preferred = {"1 zone=test-zone-2"}},
         "test-zone-2"},
        {"node affinity takes anti-affinity along",
         {.affinities = {APART("zone", "app=in-1", .weight = 100)},
          .preferred = {"1 zone=nowhere"}},
         "test-zone-1"},
        {"node affinity before spread",
         {.preferred = {"1 zone=nowhere"},
          .labels = "app=in-1",
          .spreads = {SPREAD("zone", 1, "app=in-1", .soft = true)}},
         "test-zone-2"},
        {"of node affinities that weigh the same the first counts",
         {.preferred = {"5 zone=test-zone-2", "5 zone=test-zone-1"}},
         "test-zone-2"},
        {"of node affinities that weigh the same the first is given up first",
         {.preferred = {"5 zone=nowhere", "5 zone=test-zone-2"}},
         "test-zone-2"},
        {"of pod affinities that weigh the same the first is given up first",
         {.affinities = {NEAR("zone", "no=body", .weight = 5),
                         NEAR("zone", "app=in-2", .weight = 5)}},
         "test-zone-2"},
        {"of pod affinities that weigh the same the last stays longest",
         {.affinities = {NEAR("zone", "app=in-2", .weight = 5),
                         NEAR("zone", "no=body", .weight = 5)}},
         "test-zone-1"},
        /* The last takes the place of the first that is given up, as in Karpenter. */
        {"after the first spread the last one",
         {.labels = "app=in-1",
          .spreads = {SPREAD("unknown", 1, "app=in-1", .soft = true),
                      SPREAD("zone", 1, "app=in-1", .soft = true),
                      SPREAD("unheard-of", 1, "app=in-1", .soft = true)}},
         "test-zone-2"},
        {"the spread in the middle after the last one",
         {.labels = "app=in-1",
          .spreads = {SPREAD("unknown", 1, "app=in-1", .soft = true),
                      SPREAD("unheard-of", 1, "app=in-1", .soft = true),
                      SPREAD("zone", 1, "app=in-1", .soft = true)}},
         "test-zone-1"},
        {"a soft spread behind a hard one",
         {.labels = "app=in-1",
          .spreads = {SPREAD("zone", 1, "app=in-1"),
                      SPREAD("unknown", 1, "app=in-1", .soft = true)}},
         "test-zone-2"},
        {"spread takes node affinity along",
         {.preferred = {"1 zone=test-zone-2"},
          .labels = "app=in-1",
          .spreads = {SPREAD("unknown", 1, "app=in-1", .soft = true)}},
         "test-zone-1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const char roomy[] = "cpu 8; memory 8Gi; pods 9";
        world_fresh();
        world.title = cases[i].name;
        NODE(.name = "one", .labels = "zone=test-zone-1", .allocatable = roomy);
        NODE(.name = "two", .labels = "zone=test-zone-2", .allocatable = roomy);
        POD(.labels = "app=in-1", .node = "one");
        POD(.labels = "app=in-2", .node = "two");
        POD(.labels = "app=everywhere", .node = "one");
        POD(.labels = "app=everywhere", .node = "two");
        size_t pod = world_pod(&cases[i].pod);
        provision();
        EXPECT_LABEL(pod, "zone", cases[i].zone);
    }
}

const char unit_suite[] = "solver place";
const struct unit_test unit_tests[] = {
    {"NodePool with labels", test_pool_labels},
    {"well-known labels", test_well_known_labels},
    {"undefined-key logic", test_undefined_keys},
    {"two pods and a key", test_two_pods_and_a_key},
    {"preferential fallback", test_preferential_fallback},
    {"order of relaxation", test_order_of_relaxation},
    {"ignore preferences", test_ignored_preferences},
    {"an impossible node preference costs no node", test_preferences_that_cannot_be},
    {"a preference beats a node", test_a_preference_beats_a_node},
    {NULL, NULL},
};
