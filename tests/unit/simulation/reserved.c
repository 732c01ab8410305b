/* Simulations with reserved capacity, and with node classes that change the built-in types. */
#include "catalog/catalog.h"
#include "catalog/prices.h"
#include "cluster_fixture.h"
#include "simulation/drill.h"
#include "simulation/simulation.h"

enum { BUDGET_BYTES = 512 << 20, MOST_DOCUMENTS = 8 };

#define OFFERING(zone, capacity_type, price, more)                                                \
    "{\"Price\": " price ", \"Available\": true, \"Requirements\": ["                             \
    "{\"key\": \"karpenter.sh/capacity-type\", \"operator\": \"In\", \"values\": "                \
    "[\"" capacity_type                                                                           \
    "\"]}, {\"key\": \"topology.kubernetes.io/zone\", \"operator\": \"In\", \"values\": [\"" zone \
    "\"]}" more
#define RESERVED(id, state_nodes)                                                                \
    OFFERING("b", "reserved", "0.00001",                                                         \
             ", {\"key\": \"karpenter.k8s.aws/capacity-reservation-id\", \"operator\": \"In\", " \
             "\"values\": [\"" id "\"]}], \"ReservationCapacity\": " state_nodes "}")
/* small: on demand in zone a, and two machines reserved in zone b. */
static const char own_catalog[] =
    "[{\"name\": \"small\", \"architecture\": \"amd64\", \"operatingSystems\": [\"linux\"], "
    "\"resources\": {\"cpu\": \"2\", \"memory\": \"4Gi\"}, \"offerings\": [" OFFERING(
        "a", "on-demand", "0.1", "]}") ", " RESERVED("cr-1", "2") "]}]";

#define POOL(name, class, requirements)                                                         \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name                      \
    "}, spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, " \
    "name: " class "}, requirements: [" requirements "]}}}}"
#define NODE_CLASS(name, spec, status)                                                          \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: " name             \
    "}, spec: {amiSelectorTerms: [{alias: al2023@latest}]" spec "}, status: {subnets: [{zone: " \
    "us-east-1a}]" status "}}"
#define PODS(count, cpu)                                                                       \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: " count   \
    ", selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: " \
    "{containers: [{name: main, resources: {requests: {cpu: '" cpu "'}}}]}}}}"
#define MOUNTING(name, more)                                                                    \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name "}, spec: {containers: [{name: main, " \
    "resources: {requests: {cpu: 1500m}}}], volumes: [{name: d, persistentVolumeClaim: "        \
    "{claimName: d}}]" more "}}"
#define RATHER_IN_A                                                                            \
    ", affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{"          \
    "weight: 1, preference: {matchExpressions: [{key: topology.kubernetes.io/zone, operator: " \
    "In, values: [a]}]}}]}}"
#define ONLY(type) "{key: node.kubernetes.io/instance-type, operator: In, values: [" type "]}"
#define CR(id, more)                                                                        \
    ", capacityReservations: [{id: " id ", availabilityZone: us-east-1a, instanceType: "    \
    "m5.large, instanceMatchCriteria: targeted, ownerID: '000000000000', reservationType: " \
    "default" more "}]"

/* small: two reservations of one machine each, and what a reservation offers without its name. */
#define RESERVED_IN(zone, price, more) \
    OFFERING(zone, "reserved", price, more "], \"ReservationCapacity\": 1}")
#define OF_RESERVATION(id)                                                              \
    ", {\"key\": \"karpenter.k8s.aws/capacity-reservation-id\", \"operator\": \"In\", " \
    "\"values\": "                                                                      \
    "[\"" id "\"]}"
static const char catalog_of_several[] =
    "[{\"name\": \"small\", \"architecture\": \"amd64\", \"operatingSystems\": [\"linux\"], "
    "\"resources\": {\"cpu\": \"2\", \"memory\": \"4Gi\"}, \"offerings\": [" OFFERING(
        "a", "on-demand", "0.1",
        "]}") ", " RESERVED_IN("b", "0.00001",
                               OF_RESERVATION(
                                   "cr-1")) ", " RESERVED_IN("c", "0.00002",
                                                             OF_RESERVATION(
                                                                 "cr-2")) ", " RESERVED_IN("d",
                                                                                           "0."
                                                                                           "00003",
                                                                                           "") "]}"
                                                                                               "]";

/* m5.large: spot costs more than what is on demand. */
static const char dear_spot[] =
    "{\"schema\": \"taffrail.dev/prices/v1\", \"prices\": [{\"instanceType\": \"m5.large\", "
    "\"capacityType\": \"on-demand\", \"usdPerHour\": 0.1}, {\"instanceType\": \"m5.large\", "
    "\"capacityType\": \"spot\", \"usdPerHour\": 0.2}]}";

struct reserved_case {
    const char *name;
    enum { OWN, OF_SEVERAL, BUILTIN, PRICED } catalog;
    struct reserved_capacity reserved;
    const char *documents[MOST_DOCUMENTS];
    const char *bought; /* "TYPE CAPACITY ZONE ROUND; ..." in order of round */
    size_t nowhere, problems;
};

static const struct catalog *catalog_for(const struct reserved_case *test, struct arena *arena)
{
    static const char *const texts[] = {own_catalog, catalog_of_several, NULL, dear_spot};
    if (test->catalog == BUILTIN)
        return catalog_builtin(arena);
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = text_of(texts[test->catalog]);
    const struct catalog *catalog = NULL;
    struct error error = {0};
    bool good =
        (test->catalog == PRICED ? prices_read : catalog_read)(source, arena, &catalog, &error);
    CU_ASSERT_TRUE_FATAL(good);
    return catalog;
}

static void run_drill(const struct reserved_case *test, const struct drill *drill)
{
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    size_t count = 0;
    while (count < MOST_DOCUMENTS && test->documents[count] != NULL)
        count++;
    const struct snapshot *snapshot = fixture_snapshot(&fixture, test->documents, count);
    const struct simulation_settings settings = {.reserved = test->reserved, .drill = drill};
    struct simulation simulation;
    struct error error = {0};
    bool good = simulation_run(snapshot, catalog_for(test, fixture.arena), &settings, fixture.arena,
                               &simulation, &fixture.problems, &error);
    CU_ASSERT_TRUE_FATAL(good);
    struct text_builder text = {.arena = fixture.arena};
    for (size_t i = 0; i < simulation.node_count; i++) {
        const struct simulation_node *node = &simulation.nodes[i];
        text_builder_printf(&text, "%s%.*s %.*s %.*s %zu", i == 0 ? "" : "; ",
                            TEXT_ARGS(node->instance_type), TEXT_ARGS(node->capacity_type),
                            TEXT_ARGS(node->zone), node->round);
        if (test->catalog != OF_SEVERAL)
            ASSERT_INT(node->zone_count, 1);
    }
    struct text bought = text_builder_text(&text);
    if (!text_is(bought, test->bought) || simulation.unschedulable_count != test->nowhere ||
        fixture.problems.count != test->problems)
        fprintf(stderr, "in \"%s\":\n", test->name);
    ASSERT_TEXT(bought, test->bought);
    ASSERT_INT(simulation.unschedulable_count, test->nowhere);
    ASSERT_INT(fixture.problems.count, test->problems);
    arena_destroy(fixture.arena);
}

static void run(const struct reserved_case *test)
{
    run_drill(test, NULL);
}

static void reservations_of_a_catalogue(void)
{
    static const struct reservation_count one[] = {{"cr-1", 1}}, none[] = {{"cr-1", 0}},
                                          other[] = {{"cr-2", 1}}, first[] = {{"cr-1", 2}};
    static const struct reserved_case cases[] = {
        /* A machine of the reservation each, until it is used up; the last one is bought once that
         * is known. */
        {"two machines, three nodes",
         OWN,
         {0},
         {POOL("default", "none", ""), PODS("3", "1500m")},
         "small reserved b 1; small reserved b 1; small on-demand a 2",
         0,
         0},
        {"the gate is off",
         OWN,
         {.off = true},
         {POOL("default", "none", ""), PODS("2", "1500m")},
         "small on-demand a 1; small on-demand a 1",
         0,
         0},
        {"a count wins over the file",
         OWN,
         {.items = one, .count = 1},
         {POOL("default", "none", ""), PODS("2", "1500m")},
         "small reserved b 1; small on-demand a 2",
         0,
         0},
        {"none is free",
         OWN,
         {.items = none, .count = 1},
         {POOL("default", "none", ""), PODS("1", "1500m")},
         "small on-demand a 1",
         0,
         0},
        {.name = "several, and one without a name, which nobody can take",
         .reserved = {.items = first, .count = 1},
         .documents = {POOL("default", "none", ""), PODS("4", "1500m")},
         .bought =
             "small reserved b 1; small reserved b 1; small reserved c 2; small on-demand a 3",
         .catalog = OF_SEVERAL},
        {.name = "none is free, and none is counted",
         .reserved = {.items = none, .count = 1, .uncounted = true},
         .documents = {POOL("default", "none", ""), PODS("1", "1500m")},
         .bought = "small reserved b 1"},
        {.name = "one is free, and none is counted",
         .reserved = {.items = one, .count = 1, .uncounted = true},
         .documents = {POOL("default", "none", ""), PODS("1", "1500m")},
         .bought = "small reserved b 1"},
        {.name = "one in the first round, and one that waits for its volume in the second",
         .documents = {POOL("default", "none", ""),
                       "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: gp3}, "
                       "provisioner: ebs.csi.aws.com, volumeBindingMode: WaitForFirstConsumer}",
                       "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d}, spec: "
                       "{storageClassName: gp3}}",
                       MOUNTING("one", ""), MOUNTING("two", RATHER_IN_A)},
         .bought = "small reserved b 1; small reserved b 2"},
        {"a reservation nobody knows",
         OWN,
         {.items = other, .count = 1},
         {POOL("default", "none", ""), PODS("1", "1500m")},
         "small reserved b 1",
         0,
         1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run(&cases[i]);
}

static void what_is_bought_is_of_the_class_and_of_the_price(void)
{
#define WINDOWS_CLASS                                                                        \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: main}, spec: {" \
    "amiSelectorTerms: [{alias: windows2022@latest}]}, status: {subnets: [{zone: us-east-1a}]}}"
#define ON_WINDOWS(name, build)                                                                 \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name "}, spec: {containers: [{name: main, " \
    "resources: {requests: {cpu: 1}}}], nodeSelector: {kubernetes.io/os: windows" build "}}}"
    static const struct reserved_case cases[] = {
        {.name = "Windows",
         .catalog = BUILTIN,
         .documents = {WINDOWS_CLASS, POOL("default", "main", ONLY("m5.large")),
                       ON_WINDOWS("one", "")},
         .bought = "m5.large spot us-east-1a 1"},
        {.name = "Windows of its build",
         .catalog = BUILTIN,
         .documents = {WINDOWS_CLASS, POOL("default", "main", ONLY("m5.large")),
                       ON_WINDOWS("one", ", node.kubernetes.io/windows-build: 10.0.20348")},
         .bought = "m5.large spot us-east-1a 1"},
        {.name = "spot that is dearer",
         .catalog = PRICED,
         .documents = {NODE_CLASS("main", "", ""),
                       POOL("default", "main",
                            ONLY("m5.large") ", {key: karpenter.sh/capacity-type, operator: In, "
                                             "values: [spot, on-demand]}"),
                       PODS("1", "1500m")},
         .bought = "m5.large on-demand us-east-1a 1"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        run(&cases[i]);
}

static void a_drill_takes_reservations(void)
{
    static struct text b = TEXT("b"), reserved = TEXT("reserved");
    static const struct reserved_case own = {
        "in a zone that is lost", OWN, {0}, {POOL("default", "none", ""), PODS("1", "1500m")},
        "small on-demand a 1",    0,   0,
    };
    static const struct reservation_count one[] = {{"cr-1", 1}};
    static const struct reserved_case builtin = {
        "sold out",
        BUILTIN,
        {.items = one, .count = 1},
        {NODE_CLASS("main", "", CR("cr-1", "")), POOL("default", "main", ONLY("m5.large")),
         PODS("1", "1500m")},
        "m5.large spot us-east-1a 1",
        0,
        0,
    };
    static struct text spot = TEXT("spot");
    static const struct reserved_case no_spot = {
        .name = "no spot",
        .catalog = BUILTIN,
        .documents = {NODE_CLASS("main", "", ""), POOL("default", "main", ONLY("m5.large")),
                      PODS("1", "1500m")},
        .bought = "m5.large on-demand us-east-1a 1",
    };
    run_drill(&no_spot, &(struct drill){.sold_out = {&spot, 1, 1}});
    run_drill(&own, &(struct drill){.zones = {&b, 1, 1}});
    run_drill(&own, &(struct drill){.sold_out = {&reserved, 1, 1}});
    run_drill(&builtin, &(struct drill){.sold_out = {&reserved, 1, 1}});
}

static void reservations_of_a_node_class(void)
{
#define OF_CAPACITY(types) ", {key: karpenter.sh/capacity-type, operator: In, values: [" types "]}"
#define RESERVED_ALONE POOL("b", "main", ONLY("m5.large") OF_CAPACITY("reserved"))
    static const struct reservation_count one[] = {{"cr-1", 1}}, none[] = {{"cr-1", 0}};
    static const struct reserved_case cases[] = {
        {"counted",
         BUILTIN,
         {.items = one, .count = 1},
         {NODE_CLASS("main", "", CR("cr-1", "")), POOL("default", "main", ONLY("m5.large")),
          PODS("2", "1500m")},
         "m5.large reserved us-east-1a 1; m5.large spot us-east-1a 2",
         0,
         0},
        {"not counted",
         BUILTIN,
         {0},
         {NODE_CLASS("main", "", CR("cr-1", "")), POOL("default", "main", ONLY("m5.large")),
          PODS("1", "1500m")},
         "m5.large spot us-east-1a 1",
         0,
         0},
        {"expiring",
         BUILTIN,
         {.items = one, .count = 1},
         {NODE_CLASS("main", "", CR("cr-1", ", state: expiring")),
          POOL("default", "main", ONLY("m5.large")), PODS("1", "1500m")},
         "m5.large spot us-east-1a 1",
         0,
         1},
        {"of another class",
         BUILTIN,
         {.items = one, .count = 1},
         {NODE_CLASS("main", "", CR("cr-1", "")), NODE_CLASS("other", "", ""),
          POOL("default", "other", ONLY("m5.large")), PODS("1", "1500m")},
         "m5.large spot us-east-1a 1",
         0,
         1},
        {"selected by id",
         BUILTIN,
         {.items = one, .count = 1},
         {NODE_CLASS("main", "", CR("cr-1", "")),
          POOL("default", "main",
               ONLY("m5.large") ", {key: karpenter.k8s.aws/capacity-reservation-id, operator: In, "
                                "values: [cr-1]}"),
          PODS("2", "1500m")},
         "m5.large reserved us-east-1a 1",
         1,
         0},
        {.name = "full, and nothing else in the heavier NodePool, which its pods wait for",
         .catalog = BUILTIN,
         .reserved = {.items = none, .count = 1},
         .documents = {NODE_CLASS("main", "", CR("cr-1", "")), RESERVED_ALONE,
                       POOL("a", "main", ONLY("m5.large")), PODS("1", "1500m")},
         .bought = "",
         .nowhere = 1},
        {.name = "full after one, and nothing else in the heavier NodePool",
         .catalog = BUILTIN,
         .reserved = {.items = one, .count = 1},
         .documents = {NODE_CLASS("main", "", CR("cr-1", "")), RESERVED_ALONE,
                       POOL("a", "main", ONLY("m5.large")), PODS("2", "1500m")},
         .bought = "m5.large reserved us-east-1a 1",
         .nowhere = 1},
        {.name = "not counted, and nothing else in the heavier NodePool",
         .catalog = BUILTIN,
         .documents = {NODE_CLASS("main", "", CR("cr-1", "")), RESERVED_ALONE,
                       POOL("a", "main", ONLY("m5.large")), PODS("1", "1500m")},
         .bought = "m5.large spot us-east-1a 1"},
        {.name = "full, and on demand beside it",
         .catalog = BUILTIN,
         .reserved = {.items = none, .count = 1},
         .documents = {NODE_CLASS("main", "", CR("cr-1", "")),
                       POOL("b", "main", ONLY("m5.large") OF_CAPACITY("reserved, on-demand")),
                       POOL("a", "main", ONLY("m5.large")), PODS("1", "1500m")},
         .bought = "m5.large on-demand us-east-1a 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run(&cases[i]);
}

/* m5.large leaves 1930m of cpu, and 1000m with a whole cpu for kubelet. */
static void classes_with_other_allocatables(void)
{
    static const struct reserved_case cases[] = {
        {"the usual",
         BUILTIN,
         {0},
         {NODE_CLASS("main", "", ""), POOL("default", "main", ONLY("'m5.large', 'm5.xlarge'")),
          PODS("1", "1500m")},
         "m5.large spot us-east-1a 1",
         0,
         0},
        {"kubelet keeps a cpu",
         BUILTIN,
         {0},
         {NODE_CLASS("main", ", kubelet: {kubeReserved: {cpu: '1'}}", ""),
          POOL("default", "main", ONLY("'m5.large', 'm5.xlarge'")), PODS("1", "1500m")},
         "m5.xlarge spot us-east-1a 1",
         0,
         0},
        /* The heavier by name, b, has small machines of the same type. */
        {"each pool its own",
         BUILTIN,
         {0},
         {NODE_CLASS("main", "", ""),
          NODE_CLASS("kept", ", kubelet: {kubeReserved: {cpu: '1'}}", ""),
          POOL("a", "main", ONLY("m5.large")), POOL("b", "kept", ONLY("m5.large")),
          PODS("1", "1500m")},
         "m5.large spot us-east-1a 1",
         0,
         0},
        {"few pods a node",
         BUILTIN,
         {0},
         {NODE_CLASS("main", ", kubelet: {maxPods: 2}", ""),
          POOL("default", "main", ONLY("m5.large")), PODS("4", "100m")},
         "m5.large spot us-east-1a 1; m5.large spot us-east-1a 1",
         0,
         0},
        {"a class that cannot be understood",
         BUILTIN,
         {0},
         {NODE_CLASS("main", ", kubelet: {maxPods: many}", ""),
          POOL("default", "main", ONLY("m5.large")), PODS("1", "100m")},
         "",
         1,
         1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run(&cases[i]);
}

const char unit_suite[] = "simulation of node classes";
const struct unit_test unit_tests[] = {
    {"reservations of a catalogue", reservations_of_a_catalogue},
    {"a drill takes reservations", a_drill_takes_reservations},
    {"what is bought is of the class and of the price",
     what_is_bought_is_of_the_class_and_of_the_price},
    {"reservations of a node class", reservations_of_a_node_class},
    {"classes with other allocatables", classes_with_other_allocatables},
    {NULL, NULL},
};
