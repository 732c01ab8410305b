/* What an EC2NodeClass changes about the nodes of its NodePools, on the built-in catalogue. */
#include "catalog/catalog.h"
#include "cluster_fixture.h"
#include "simulation/simulation.h"

enum { BUDGET_BYTES = 256 << 20, MOST_DOCUMENTS = 8 };

#define POOL(requirements)                                                                        \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}, spec: {template: {" \
    "spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: main}, "           \
    "requirements: [" requirements "]}}}}"
#define IN(key, values) "{key: " key ", operator: In, values: [" values "]}"
#define FAMILY(values) IN("karpenter.k8s.aws/instance-family", values)
#define ON_DEMAND IN("karpenter.sh/capacity-type", "on-demand")
#define NODE_CLASS(spec, subnets)                                                           \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: main}, spec: " \
    "{" spec "}, status: {subnets: [" subnets "]}}"
#define AL2023 "amiSelectorTerms: [{alias: al2023@latest}]"
#define BOTTLEROCKET "amiSelectorTerms: [{alias: bottlerocket@latest}]"
#define WINDOWS "amiSelectorTerms: [{alias: windows2022@latest}]"
#define ONE_SUBNET "{zone: us-east-1a}"
#define SUBNETS                                                                    \
    "{zone: us-east-1a, zoneID: use1-az4}, {zone: us-east-1b, zoneID: use1-az6}, " \
    "{zone: us-east-1c, zoneID: use1-az1}"
#define POD(name, more)                                                                   \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name ", labels: {app: web}}, spec: {" \
    "containers: [{name: main, resources: {requests: {cpu: 1}}}]" more "}}"
#define SELECTS(key, value) ", nodeSelector: {" key ": " value "}"
#define ID "topology.k8s.aws/zone-id"
#define SPREAD_BY_ID                                              \
    ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: " ID \
    ", whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]"
#define ADDRESS                                                                                   \
    "{apiVersion: v1, kind: Pod, metadata: {name: one}, spec: {nodeSelector: {kubernetes.io/os: " \
    "windows}, containers: [{name: main, resources: {requests: {cpu: 1, "                         \
    "vpc.amazonaws.com/PrivateIPv4Address: 1}, limits: {vpc.amazonaws.com/PrivateIPv4Address: "   \
    "1}}}]}}"

struct class_case {
    const char *name;
    const char *documents[MOST_DOCUMENTS];
    const char *bought; /* "TYPE CAPACITY ZONE USD PODS; ..." then "nowhere POD" */
};

static struct text told(const struct simulation *simulation, struct arena *arena)
{
    struct text_builder out = {.arena = arena};
    for (size_t i = 0; i < simulation->node_count; i++) {
        const struct simulation_node *node = &simulation->nodes[i];
        if (node->round > 0)
            text_builder_printf(&out, "%s%.*s %.*s %.*s %lld %zu", out.size > 0 ? "; " : "",
                                TEXT_ARGS(node->instance_type), TEXT_ARGS(node->capacity_type),
                                TEXT_ARGS(node->zone), (long long)node->usd_micro_per_hour,
                                node->pod_count);
        if (node->round > 0 && node->price_of.size > 0)
            text_builder_printf(&out, " (%.*s)", TEXT_ARGS(node->price_of));
    }
    for (size_t i = 0; i < simulation->unschedulable_count; i++)
        text_builder_printf(&out, "%snowhere %.*s", out.size > 0 ? "; " : "",
                            TEXT_ARGS(simulation->pods[simulation->unschedulable[i].pod].name));
    return text_builder_text(&out);
}

static void run(const struct class_case *test)
{
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    size_t count = 0;
    while (count < MOST_DOCUMENTS && test->documents[count] != NULL)
        count++;
    const struct snapshot *snapshot = fixture_snapshot(&fixture, test->documents, count);
    const struct simulation_settings settings = {0};
    struct simulation simulation;
    struct error error = {0};
    CU_ASSERT_FATAL(simulation_run(snapshot, catalog_builtin(fixture.arena), &settings,
                                   fixture.arena, &simulation, &fixture.problems, &error));
    struct text bought = told(&simulation, fixture.arena);
    if (!text_is(bought, test->bought))
        fprintf(stderr, "in \"%s\":\n", test->name);
    ASSERT_TEXT(bought, test->bought);
    ASSERT_INT(fixture.problems.count, 0);
    arena_destroy(fixture.arena);
}

static void run_all(const struct class_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        run(&cases[i]);
}

static void zones_have_ids(void)
{
    static const char pool[] = POOL(FAMILY("m5") ", " ON_DEMAND);
    static const struct class_case cases[] = {
        {"a pod asks for one",
         {NODE_CLASS(AL2023, SUBNETS), pool, POD("one", SELECTS(ID, "use1-az1"))},
         "m5.large on-demand us-east-1c 96000 1"},
        {"a pod asks for one that is nowhere",
         {NODE_CLASS(AL2023, SUBNETS), pool, POD("one", SELECTS(ID, "use1-az9"))},
         "nowhere one"},
        {"a pod excludes two",
         {NODE_CLASS(AL2023, SUBNETS), pool,
          POD("one", ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                     "{nodeSelectorTerms: [{matchExpressions: [{key: " ID
                     ", operator: NotIn, values: [use1-az4, use1-az1]}]}]}}}")},
         "m5.large on-demand us-east-1b 96000 1"},
        {"a NodePool asks for one, and a pod for its zone",
         {NODE_CLASS(AL2023, SUBNETS), POOL(FAMILY("m5") ", " ON_DEMAND ", " IN(ID, "use1-az1")),
          POD("one", SELECTS("topology.kubernetes.io/zone", "us-east-1c"))},
         "m5.large on-demand us-east-1c 96000 1"},
        {"a NodePool asks for one, and a pod for another zone",
         {NODE_CLASS(AL2023, SUBNETS), POOL(FAMILY("m5") ", " ON_DEMAND ", " IN(ID, "use1-az1")),
          POD("one", SELECTS("topology.kubernetes.io/zone", "us-east-1a"))},
         "nowhere one"},
        {"a spread over them",
         {NODE_CLASS(AL2023, SUBNETS), pool, POD("one", SPREAD_BY_ID), POD("two", SPREAD_BY_ID),
          POD("three", SPREAD_BY_ID)},
         "m5.large on-demand us-east-1a 96000 1; m5.large on-demand us-east-1b 96000 1; "
         "m5.large on-demand us-east-1c 96000 1"},
        {"no subnet says its own",
         {NODE_CLASS(AL2023, ONE_SUBNET), pool, POD("one", SELECTS(ID, "use1-az9"))},
         "m5.large on-demand us-east-1a 96000 1"},
        {"another class has further ones",
         {NODE_CLASS(AL2023, "{zone: us-east-1a, zoneID: use1-az4}"), pool,
          "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: other}, status: "
          "{subnets: [{zone: us-east-1b, zoneID: use1-az6}]}}",
          POD("one", SPREAD_BY_ID), POD("two", SPREAD_BY_ID)},
         "m5.xlarge on-demand us-east-1a 192000 2"},
    };
    run_all(cases, COUNT_OF(cases));
}

static void a_class_launches_not_every_type(void)
{
    static const struct class_case cases[] = {
        {"AL2023 does not run on a1",
         {NODE_CLASS(AL2023, ONE_SUBNET), POOL(FAMILY("a1, m6g") ", " ON_DEMAND), POD("one", "")},
         "m6g.large on-demand us-east-1a 77000 1"},
        {"Bottlerocket does",
         {NODE_CLASS(BOTTLEROCKET, ONE_SUBNET), POOL(FAMILY("a1, m6g") ", " ON_DEMAND),
          POD("one", "")},
         "a1.large on-demand us-east-1a 51000 1"},
        {"nothing else is left",
         {NODE_CLASS(AL2023, ONE_SUBNET), POOL(FAMILY("a1") ", " ON_DEMAND), POD("one", "")},
         "nowhere one"},
        {"connectionTracking needs Nitro",
         {NODE_CLASS(AL2023 ", connectionTracking: {udpTimeout: 60s}", ONE_SUBNET),
          POOL(FAMILY("t2, m5") ", " ON_DEMAND), POD("one", "")},
         "m5.large on-demand us-east-1a 96000 1"},
        {"without it",
         {NODE_CLASS(AL2023, ONE_SUBNET), POOL(FAMILY("t2, m5") ", " ON_DEMAND), POD("one", "")},
         "t2.medium on-demand us-east-1a 46400 1"},
    };
    run_all(cases, COUNT_OF(cases));
}

static void images_run_one_system(void)
{
    static const char pool[] = POOL(FAMILY("m5") ", " ON_DEMAND);
    static const struct class_case cases[] = {
        {"Linux, and a pod for Windows",
         {NODE_CLASS(AL2023, ONE_SUBNET), pool, POD("one", SELECTS("kubernetes.io/os", "windows"))},
         "nowhere one"},
        {"Linux, and a pod for a build of Windows",
         {NODE_CLASS(AL2023, ONE_SUBNET), pool,
          POD("one", SELECTS("node.kubernetes.io/windows-build", "10.0.20348"))},
         "nowhere one"},
        {"Windows, and a pod for Linux",
         {NODE_CLASS(WINDOWS, ONE_SUBNET), pool, POD("one", SELECTS("kubernetes.io/os", "linux"))},
         "nowhere one"},
        {"Windows, and a pod with an address",
         {NODE_CLASS(WINDOWS, ONE_SUBNET), pool, ADDRESS},
         "m5.large on-demand us-east-1a 96000 1"},
        {"a class that is not visible",
         {pool, POD("one", SELECTS("kubernetes.io/os", "windows"))},
         "m5.large on-demand us-east-1a 96000 1"},
    };
    run_all(cases, COUNT_OF(cases));
}

/* Without a price of its own spot has that of on-demand, so that the smallest type comes first. */
static void spot_has_a_price(void)
{
    static const struct class_case cases[] = {
        {"spot alone",
         {NODE_CLASS(AL2023, ONE_SUBNET),
          POOL(FAMILY("m5") ", " IN("karpenter.sh/capacity-type", "spot")), POD("one", "")},
         "m5.large spot us-east-1a 96000 1 (on-demand)"},
        {"spot or on demand",
         {NODE_CLASS(AL2023, ONE_SUBNET),
          POOL(FAMILY("m5") ", " IN("karpenter.sh/capacity-type", "spot, on-demand")),
          POD("one", "")},
         "m5.large spot us-east-1a 96000 1 (on-demand)"},
        {"a type without any",
         {NODE_CLASS(AL2023, ONE_SUBNET),
          POOL(FAMILY("trn2") ", " IN("karpenter.sh/capacity-type", "spot")), POD("one", "")},
         "trn2.3xlarge spot us-east-1a -1 1"},
    };
    run_all(cases, COUNT_OF(cases));
}

const char unit_suite[] = "simulation with an EC2NodeClass";
const struct unit_test unit_tests[] = {
    {"zones have ids", zones_have_ids},
    {"a class launches not every type", a_class_launches_not_every_type},
    {"images run one system", images_run_one_system},
    {"spot has a price", spot_has_a_price},
    {NULL, NULL},
};
