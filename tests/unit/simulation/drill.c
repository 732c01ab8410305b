/* Drills: zones and NodePools that are lost, what is sold out, workloads that are scaled. */
#include "simulation/drill.h"
#include "simulation_fixture.h"

const char unit_suite[] = "simulation drill";

#define POOL_OF(name, more)                                                             \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: {" \
    "template: {spec: {requirements: [" more "]}}}}"
#define ON_DEMAND "{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}"
#define NODE_OF(name, pool, zone, cpu)                                                     \
    "{apiVersion: v1, kind: Node, metadata: {name: " name                                  \
    ", labels: {karpenter.sh/nodepool: " pool                                              \
    ", karpenter.sh/registered: 'true', karpenter.sh/initialized: 'true', "                \
    "karpenter.sh/capacity-type: on-demand, node.kubernetes.io/instance-type: small, "     \
    "kubernetes.io/hostname: " name ", topology.kubernetes.io/zone: " zone "}}, status: {" \
    "capacity: {cpu: " cpu ", memory: 4Gi, pods: 110}, allocatable: {cpu: " cpu            \
    ", memory: 4Gi, pods: 110}}}"
#define OWNED(kind, owner, name, node, cpu, more)                                 \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name ", labels: {app: web}, " \
    "ownerReferences: [{apiVersion: apps/v1, kind: " kind ", name: " owner        \
    ", controller: true}]}, spec: " POD_SPEC(cpu, ", nodeName: " node more) "}"
#define DEPLOYMENT(name, replicas)                                                              \
    WORKLOAD("Deployment", name, "replicas: " replicas ", selector: {matchLabels: {app: web}}", \
             "1", "")
#define WEB(number, node) OWNED("Deployment", "web", "web-" number, "n" node, "1", "")
#define BOUND(claim, volume)                                                               \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " claim                \
    ", annotations: {pv.kubernetes.io/bind-completed: 'yes'}}, spec: {volumeName: " volume \
    ", storageClassName: gp3}, status: {phase: Bound}}"
#define LOCAL(name, host)                                                                     \
    VOLUME(name, ", nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: " \
                 "kubernetes.io/hostname, operator: In, values: [" host "]}]}]}}")

#define TERMS(expressions) \
    ", nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [" expressions "]}]}}"
#define OF_ZONE(zone) "{key: topology.kubernetes.io/zone, operator: In, values: [" zone "]}"
#define MOUNT_OF(claim) "{name: " claim ", persistentVolumeClaim: {claimName: " claim "}}"
#define MOUNT_BOTH(one, other) ", volumes: [" MOUNT_OF(one) ", " MOUNT_OF(other) "]"
#define LEAVING(kind, owner, name)                                                 \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name                           \
    ", deletionTimestamp: '2026-01-01T00:00:00Z', ownerReferences: [{apiVersion: " \
    "apps/v1, kind: " kind ", name: " owner                                        \
    ", controller: true}]}, spec: " POD_SPEC("1", ", nodeName: n1") "}"
#define HOSTED(name, zone, label)                              \
    "{apiVersion: v1, kind: Node, metadata: {name: " name      \
    ", labels: {topology.kubernetes.io/zone: " zone ", " label \
    "}}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}}"
/* The built-in catalogue does not have its types. */
#define UNKNOWN_POOL                                                             \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: unknown}, "  \
    "spec: {template: {spec: {nodeClassRef: {group: karpenter.azure.com, kind: " \
    "AKSNodeClass, name: a}, requirements: []}}}}"

struct drill_case {
    const char *name;
    const char *documents[MOST_DOCUMENTS];
    bool builtin; /* the catalogue; else the fixture's */
    const char *zone, *pool, *sold_out;
    struct drill_scale scale, second; /* no name: none */
    const char *lines;
    const char *told; /* "NODES USD_MICRO MOVED; gone POD; POD CLAIM PLACE" */
};

static void add_word(struct fixture *fixture, const char *word, struct text_list *list)
{
    if (word != NULL)
        *LIST_PUSH(fixture->arena, list) = text_of(word);
}

static struct drill drill_of(struct fixture *fixture, const struct drill_case *test)
{
    struct drill drill = {.namespace = TEXT("shop")};
    add_word(fixture, test->zone, &drill.zones);
    add_word(fixture, test->pool, &drill.pools);
    add_word(fixture, test->sold_out, &drill.sold_out);
    if (test->scale.name.size > 0)
        *LIST_PUSH(fixture->arena, &drill.scales) = test->scale;
    if (test->second.name.size > 0)
        *LIST_PUSH(fixture->arena, &drill.scales) = test->second;
    return drill;
}

static bool run(struct fixture *fixture, const struct drill_case *test, const struct drill *drill,
                struct simulation *simulation)
{
    size_t count = 0;
    while (count < MOST_DOCUMENTS && test->documents[count] != NULL)
        count++;
    const struct snapshot *snapshot = fixture_snapshot(fixture, test->documents, count);
    const struct simulation_settings settings = {.drill = drill};
    struct error error = {0};
    const struct catalog *catalog =
        test->builtin ? catalog_builtin(fixture->arena) : fixture_catalog(fixture);
    return simulation_run(snapshot, catalog, &settings, fixture->arena, simulation,
                          &fixture->problems, &error);
}

static struct text told(struct fixture *fixture, const struct simulation *simulation)
{
    const struct drilled *drilled = simulation->drilled;
    struct text_builder text = {.arena = fixture->arena};
    text_builder_printf(&text, "%zu %lld %zu", drilled->node_count,
                        (long long)drilled->usd_micro_per_hour, drilled->moved_count);
    if (drilled->unpriced_count > 0)
        text_builder_printf(&text, "; %zu without a price", drilled->unpriced_count);
    FOR_EACH(gone, &drilled->gone)
        text_builder_printf(&text, "; gone %.*s", TEXT_ARGS(*gone));
    for (size_t i = 0; i < drilled->disk_count; i++) {
        const struct drilled_disk *disk = &drilled->disks[i];
        text_builder_printf(&text, "; %.*s %.*s %.*s", TEXT_ARGS(simulation->pods[disk->pod].name),
                            TEXT_ARGS(disk->claim), TEXT_ARGS(disk->place));
    }
    for (size_t i = 0; i < drilled->workload_count; i++)
        text_builder_printf(&text, "; %lld to %lld", (long long)drilled->workloads[i].before,
                            (long long)drilled->workloads[i].replicas);
    return text_builder_text(&text);
}

static void run_cases(const struct drill_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct drill drill = drill_of(&fixture, &cases[i]);
        struct simulation simulation;
        CU_ASSERT_FATAL(run(&fixture, &cases[i], &drill, &simulation));
        struct text lines = fixture_lines(&fixture, &simulation);
        if (!text_is(lines, cases[i].lines) || !text_is(told(&fixture, &simulation), cases[i].told))
            fprintf(stderr, "in \"%s\":\n", cases[i].name);
        ASSERT_TEXT(lines, cases[i].lines);
        ASSERT_TEXT(told(&fixture, &simulation), cases[i].told);
        ASSERT_INT(fixture.problems.count, 0);
        arena_destroy(fixture.arena);
    }
}

static void zones_are_lost(void)
{
    static const struct drill_case cases[] = {
        {.name = "pods of its nodes go where there is room, or to what is bought elsewhere",
         .documents = {POOL, NODE_OF("n1", "default", "a", "2"), NODE_OF("n2", "default", "b", "2"),
                       DEPLOYMENT("web", "3"), WEB("1", "1"), WEB("2", "1"), WEB("3", "2")},
         .zone = "a",
         .lines = "node n2: web-1 web-3!\ndefault small on-demand b 1: web-2\n",
         .told = "1 100000 2"},
        {.name = "what nobody makes again is gone, and daemons go with their node",
         .documents = {POOL, NODE_OF("n1", "default", "a", "4"),
                       POD("alone", "1", ", nodeName: n1"),
                       OWNED("DaemonSet", "agent", "agent-1", "n1", "1", "")},
         .zone = "a",
         .lines = "",
         .told = "1 100000 0; gone shop/alone"},
        {.name = "a pod on Fargate gets its next node from Fargate",
         .documents = {POOL, NODE_OF("n1", "default", "a", "4"),
                       OWNED("Deployment", "web", "web-1", "n1", "1",
                             ", schedulerName: fargate-scheduler")},
         .zone = "a",
         .lines = "",
         .told = "1 100000 1"},
        {.name = "a disk stays where it is",
         .documents = {POOL, NODE_OF("n1", "default", "a", "4"), CLASS("gp3", "Immediate", ""),
                       VOLUME("v1", IN_ZONES("[a]")), BOUND("data", "v1"),
                       OWNED("StatefulSet", "db", "db-0", "n1", "1", MOUNTS("data"))},
         .zone = "a",
         .lines = "nowhere db-0: volume\n",
         .told = "1 100000 1; db-0 shop/data a"},
        {.name = "a disk of two zones goes to the other one",
         .documents = {POOL, NODE_OF("n1", "default", "a", "4"), CLASS("gp3", "Immediate", ""),
                       VOLUME("v1", IN_ZONES("[a, b]")), BOUND("data", "v1"),
                       OWNED("StatefulSet", "db", "db-0", "n1", "1", MOUNTS("data"))},
         .zone = "a",
         .lines = "default small on-demand b 1: db-0\n",
         .told = "1 100000 1"},
        {.name = "and so does one of the node itself",
         .documents = {POOL, NODE_OF("n1", "default", "a", "4"), CLASS("gp3", "Immediate", ""),
                       LOCAL("v1", "n1"), BOUND("data", "v1"),
                       OWNED("StatefulSet", "db", "db-0", "n1", "1", MOUNTS("data"))},
         .zone = "a",
         .lines = "nowhere db-0: volume\n",
         .told = "1 100000 1; db-0 shop/data node n1"},
        {.name = "pods that are leaving with their node: of a set they come back",
         .documents = {POOL, NODE_OF("n1", "default", "a", "8"), DEPLOYMENT("web", "0"),
                       LEAVING("Deployment", "web", "web-1"), LEAVING("StatefulSet", "db", "db-0"),
                       "{apiVersion: v1, kind: Pod, metadata: {name: static-n1, annotations: "
                       "{kubernetes.io/config.mirror: x}, ownerReferences: [{apiVersion: v1, kind: "
                       "Node, name: n1, controller: true}]}, spec: " POD_SPEC(
                           "1", ", nodeName: n1") "}"},
         .zone = "a",
         .lines = "default small on-demand b 1: db-0\n",
         .told = "1 100000 1"},
        {.name = "the first disk of a pod is told",
         .documents = {NODE_OF("n1", "default", "a", "4"), CLASS("gp3", "Immediate", ""),
                       VOLUME("v1", IN_ZONES("[a]")), BOUND("data", "v1"),
                       VOLUME("v2", IN_ZONES("[a]")), BOUND("logs", "v2"),
                       OWNED("StatefulSet", "db", "db-0", "n1", "1", MOUNT_BOTH("data", "logs"))},
         .zone = "a",
         .lines = "nowhere db-0: requirement\n",
         .told = "1 100000 1; db-0 shop/data a"},
        {.name = "the disk that is lost, and not one that no NodePool reaches either",
         .documents = {POOL_OF("other", OF_ZONE("c")), NODE_OF("n1", "default", "a", "4"),
                       CLASS("gp3", "Immediate", ""), VOLUME("v1", IN_ZONES("[a, b]")),
                       BOUND("data", "v1"), VOLUME("v2", IN_ZONES("[a]")), BOUND("logs", "v2"),
                       OWNED("StatefulSet", "db", "db-0", "n1", "1", MOUNT_BOTH("data", "logs"))},
         .zone = "a",
         .lines = "nowhere db-0: volume\n",
         .told = "1 100000 1; db-0 shop/logs a"},
        {.name = "whatever a NodePool launches whose types nobody knows",
         .documents = {UNKNOWN_POOL, NODE_OF("n1", "default", "a", "4"),
                       CLASS("gp3", "Immediate", ""), VOLUME("v1", IN_ZONES("[a]")),
                       BOUND("data", "v1"), LOCAL("v2", "n1"), BOUND("logs", "v2"),
                       VOLUME("v3", IN_ZONES("[b]")), BOUND("rest", "v3"),
                       OWNED("StatefulSet", "db", "db-0", "n1", "1", MOUNTS("data")),
                       OWNED("StatefulSet", "db", "db-1", "n1", "1", MOUNTS("logs")),
                       OWNED("StatefulSet", "db", "db-2", "n1", "1", MOUNTS("rest"))},
         .builtin = true,
         .zone = "a",
         .lines = "nowhere db-0: volume\nnowhere db-1: volume\nundecided db-2: undecided\n",
         .told = "1 0 3; 1 without a price; db-0 shop/data a; db-1 shop/logs node n1"},
        {.name = "a disk that is elsewhere, too, or nowhere, is not behind",
         .documents = {NODE_OF("n1", "default", "a", "4"), CLASS("gp3", "Immediate", ""),
                       VOLUME("v1", IN_ZONES("[a, b]")), BOUND("data", "v1"), VOLUME("v2", ""),
                       BOUND("logs", "v2"),
                       OWNED("StatefulSet", "db", "db-0", "n1", "1", MOUNT_BOTH("data", "logs"))},
         .zone = "a",
         .lines = "nowhere db-0: requirement\n",
         .told = "1 100000 1"},
        {.name = "nor is one in no zone, or of no claim",
         .documents = {NODE_OF("n1", "default", "a", "4"), CLASS("gp3", "Immediate", ""),
                       VOLUME("v1", TERMS(OF_ZONE("a") ", " OF_ZONE("b"))), BOUND("data", "v1"),
                       OWNED("StatefulSet", "db", "db-0", "n1", "1", MOUNT_BOTH("data", "absent"))},
         .zone = "a",
         .lines = "nowhere db-0: volume\n",
         .told = "1 100000 1"},
        {.name = "a disk of a node is named by the host",
         .documents = {HOSTED("n1", "a", "kubernetes.io/hostname: h1"),
                       HOSTED("n0", "a",
                              "kubernetes.io/os: linux, node.kubernetes.io/instance-type: unknown"),
                       CLASS("gp3", "Immediate", ""), LOCAL("v1", "h1"), BOUND("data", "v1"),
                       OWNED("StatefulSet", "db", "db-0", "n1", "1", MOUNTS("data"))},
         .zone = "a",
         .lines = "nowhere db-0: requirement\n",
         .told = "2 0 1; 2 without a price; db-0 shop/data node h1"},
        {.name = "also where Karpenter does not look at the node and counts the pod to another",
         .documents = {NODE_OF("n1", "default", "a", "4"), NODE_OF("n2", "default", "b", "4"),
                       "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v1}, spec: "
                       "{capacity: {storage: 1Gi}, local: {path: /d}" TERMS(
                           "{key: kubernetes.io/hostname, operator: In, values: [n1]}") "}}",
                       BOUND("data", "v1"),
                       OWNED("StatefulSet", "db", "db-0", "n1", "1", MOUNTS("data"))},
         .zone = "a",
         .lines = "nowhere db-0: requirement volume\n",
         .told = "1 100000 1; db-0 shop/data node n1"},
        {.name = "not one of another node, or of several",
         .documents = {NODE_OF("n1", "default", "a", "4"), NODE_OF("n2", "default", "b", "1"),
                       CLASS("gp3", "Immediate", ""), LOCAL("v1", "n2"), BOUND("data", "v1"),
                       LOCAL("v2", "n1, n2"), BOUND("logs", "v2"),
                       VOLUME("v3", TERMS("{key: kubernetes.io/hostname, operator: NotIn, values: "
                                          "[n1]}, {key: kubernetes.io/os, operator: In, values: "
                                          "[linux]}")),
                       BOUND("rest", "v3"),
                       OWNED("StatefulSet", "db", "db-0", "n1", "2",
                             ", volumes: [" MOUNT_OF("data") ", " MOUNT_OF("logs") ", " MOUNT_OF(
                                 "rest") "]")},
         .zone = "a",
         .lines = "nowhere db-0: requirement volume\n",
         .told = "1 100000 1"},
        {.name = "nor one that another pod has been given before",
         .documents = {POOL, POD("one", "1", MOUNTS("data")), POD("two", "64", MOUNTS("data")),
                       CLASS("gp3", "WaitForFirstConsumer", ""),
                       CLAIM("data", "{storageClassName: gp3}")},
         .zone = "a",
         .lines = "default small on-demand b 1: one\nnowhere two: resources\n",
         .told = "0 0 0"},
        {.name = "a disk that is not made yet strands nobody",
         .documents = {POOL, POD("db", "1", MOUNTS("data")),
                       CLASS("gp3", "WaitForFirstConsumer",
                             ", allowedTopologies: [{matchLabelExpressions: [{key: "
                             "topology.kubernetes.io/zone, values: [a]}]}]"),
                       CLAIM("data", "{storageClassName: gp3}")},
         .zone = "a",
         .lines = "nowhere db: volume\n",
         .told = "0 0 0"},
        {.name = "a machine of no known type has no price",
         .documents = {POOL, NODE("n1", "a", "2"), NODE_OF("n2", "default", "a", "2")},
         .zone = "a",
         .lines = "",
         .told = "2 100000 0; 1 without a price"},
        {.name = "a zone without a machine is still one of those to spread over",
         .documents = {POOL, NODE_OF("n1", "default", "a", "2"), NODE_OF("n2", "default", "b", "2"),
                       NODE_OF("n3", "default", "c", "2"),
                       OWNED("ReplicaSet", "web", "web-1", "n1", "1",
                             SPREAD("topology.kubernetes.io/zone")),
                       OWNED("ReplicaSet", "web", "web-2", "n2", "1",
                             SPREAD("topology.kubernetes.io/zone")),
                       OWNED("ReplicaSet", "web", "web-3", "n3", "1",
                             SPREAD("topology.kubernetes.io/zone"))},
         .zone = "a",
         .lines = "node n2: web-2!\nnode n3: web-3!\nnowhere web-1: topology topology\n",
         .told = "1 100000 1"},
    };
    run_cases(cases, COUNT_OF(cases));
}

static void pools_are_deleted(void)
{
    static const struct drill_case cases[] = {
        {.name = "its nodes go, and another one buys",
         .documents = {POOL_OF("old", ON_DEMAND), POOL_OF("other", ON_DEMAND),
                       NODE_OF("n1", "old", "a", "2"), DEPLOYMENT("web", "1"), WEB("1", "1")},
         .pool = "old",
         .lines = "other small on-demand a 1: web-1\n",
         .told = "1 100000 1"},
        {.name = "no other reaches the zone of the disk",
         .documents = {POOL_OF("old", ON_DEMAND),
                       POOL_OF("other", "{key: topology.kubernetes.io/zone, operator: In, values: "
                                        "[b]}"),
                       NODE_OF("n1", "old", "a", "4"), CLASS("gp3", "Immediate", ""),
                       VOLUME("v1", IN_ZONES("[a]")), BOUND("data", "v1"),
                       OWNED("StatefulSet", "db", "db-0", "n1", "1", MOUNTS("data"))},
         .pool = "old",
         .lines = "nowhere db-0: volume\n",
         .told = "1 100000 1; db-0 shop/data a"},
    };
    run_cases(cases, COUNT_OF(cases));
}

static void what_is_sold_out_is_not_bought(void)
{
    static const struct drill_case cases[] = {
        {.name = "a type: what runs stays",
         .documents = {POOL, NODE_OF("n1", "default", "a", "2"), DEPLOYMENT("web", "3"),
                       WEB("1", "1"), WEB("2", "1")},
         .sold_out = "small",
         .lines = "node n1: web-1! web-2!\ndefault large on-demand a 1: web-0\n",
         .told = "0 0 0"},
        {.name = "a capacity type",
         .documents = {POOL_OF("any", ""), POD("big", "4", "")},
         .sold_out = "spot",
         .lines = "any large on-demand a 1: big\n",
         .told = "0 0 0"},
        {.name = "all there is",
         .documents = {POOL, POD("one", "1", "")},
         .sold_out = "on-demand",
         .lines = "nowhere one: requirement\n",
         .told = "0 0 0"},
    };
    run_cases(cases, COUNT_OF(cases));
}

#define OF_TEAM(namespace) DEPLOYMENT("web, namespace: " namespace, "1")
#define AGED(number, day, annotations)                                             \
    "{apiVersion: v1, kind: Pod, metadata: {name: web-" number                     \
    ", creationTimestamp: '2026-11-" day "T00:00:00Z', annotations: {" annotations \
    "}, ownerReferences: [{apiVersion: apps/v1, "                                  \
    "kind: Deployment, name: web, controller: true}]}, spec: " POD_SPEC("1", ", nodeName: n1") "}"
#define SCALE(kind_of, name_of, count)                                \
    {                                                                 \
        .kind = (kind_of), .name = TEXT(name_of), .replicas = (count) \
    }

static void workloads_are_scaled(void)
{
    static const struct drill_case cases[] = {
        {.name = "more replicas",
         .documents = {POOL, NODE_OF("n1", "default", "a", "2"), DEPLOYMENT("web", "1"),
                       WEB("1", "1")},
         .scale = SCALE(KIND_DEPLOYMENT, "web", 4),
         .lines = "node n1: web-0 web-1!\ndefault large on-demand a 1: web-2 web-3\n",
         .told = "0 0 0; 1 to 4"},
        {.name = "fewer: those that wait go first",
         .documents = {POOL, NODE_OF("n1", "default", "a", "2"), DEPLOYMENT("web", "3"),
                       WEB("1", "1"), WEB("2", "1"),
                       OWNED("Deployment", "web", "web-3", "''", "1", "")},
         .scale = SCALE(KIND_DEPLOYMENT, "web", 2),
         .lines = "node n1: web-1! web-2!\n",
         .told = "0 0 0; 3 to 2"},
        {.name = "and their room is free for others",
         .documents = {POOL, NODE_OF("n1", "default", "a", "2"), DEPLOYMENT("web", "2"),
                       WEB("1", "1"), WEB("2", "1"), POD("other", "1", "")},
         .scale = SCALE(KIND_DEPLOYMENT, "web", 1),
         .lines = "node n1: other web-2!\n",
         .told = "0 0 0; 2 to 1"},
        {.name = "of those that run first the one that says it is cheap, then the youngest",
         .documents = {POOL, NODE_OF("n1", "default", "a", "8"), DEPLOYMENT("web", "4"),
                       AGED("1", "01", ""), AGED("2", "03", ""), AGED("3", "02", ""),
                       AGED("4", "01", "controller.kubernetes.io/pod-deletion-cost: '-5'")},
         .scale = SCALE(KIND_DEPLOYMENT, "web", 2),
         .lines = "node n1: web-1! web-3!\n",
         .told = "0 0 0; 4 to 2"},
        {.name = "of several with the name the one in the namespace",
         .documents = {POOL, OF_TEAM("shop"), OF_TEAM("other")},
         .scale = SCALE(KIND_DEPLOYMENT, "web", 0),
         .lines = "default small on-demand a 1: web-0\n",
         .told = "0 0 0; 1 to 0"},
        {.name = "ordinals begin where the StatefulSet says",
         .documents = {POOL, NODE_OF("n1", "default", "a", "4"),
                       WORKLOAD("StatefulSet", "db", "replicas: 2, ordinals: {start: 5}", "1", ""),
                       OWNED("StatefulSet", "db", "db-5", "n1", "1", ""),
                       OWNED("StatefulSet", "db", "db-6", "n1", "1", "")},
         .scale = SCALE(KIND_STATEFUL_SET, "db", 1),
         .lines = "node n1: db-5!\n",
         .told = "0 0 0; 2 to 1"},
        {.name = "a StatefulSet loses its highest ordinals",
         .documents = {POOL, NODE_OF("n1", "default", "a", "4"),
                       WORKLOAD("StatefulSet", "db", "replicas: 3", "1", ""),
                       OWNED("StatefulSet", "db", "db-0", "n1", "1", ""),
                       OWNED("StatefulSet", "db", "db-2", "n1", "1", "")},
         .scale = SCALE(KIND_STATEFUL_SET, "db", 2),
         .lines = "node n1: db-0! db-1\n",
         .told = "0 0 0; 3 to 2"},
        {.name = "pods that are leaving or done are none of its replicas",
         .documents = {POOL, NODE_OF("n1", "default", "a", "8"), DEPLOYMENT("web", "2"),
                       WEB("1", "1"), WEB("2", "1"), LEAVING("Deployment", "web", "web-0"),
                       "{apiVersion: v1, kind: Pod, metadata: {name: web-9, ownerReferences: "
                       "[{apiVersion: apps/v1, kind: Deployment, name: web, controller: true}]}, "
                       "spec: " POD_SPEC("1", ", nodeName: n1") ", status: {phase: Failed}}"},
         .scale = SCALE(KIND_DEPLOYMENT, "web", 1),
         .lines = "node n1: web-0! web-2!\n",
         .told = "0 0 0; 2 to 1"},
        {.name = "of those without a node, and of those with one, the cheapest",
         .documents = {POOL, NODE_OF("n1", "default", "a", "8"), DEPLOYMENT("web", "4"),
                       OWNED("Deployment", "web", "web-0", "''", "1", ""),
                       AGED("1", "01", "controller.kubernetes.io/pod-deletion-cost: '-5'"),
                       AGED("2", "03", ""),
                       AGED("3", "02", "controller.kubernetes.io/pod-deletion-cost: cheap")},
         .scale = SCALE(KIND_DEPLOYMENT, "web", 2),
         .lines = "node n1: web-2! web-3!\n",
         .told = "0 0 0; 4 to 2"},
        {.name = "pods of a StatefulSet that have no ordinal stay",
         .documents = {POOL, NODE_OF("n1", "default", "a", "8"),
                       WORKLOAD("StatefulSet", "db", "replicas: 1", "1", ""),
                       OWNED("StatefulSet", "db", "db-0", "n1", "1", ""),
                       OWNED("StatefulSet", "db", "db", "n1", "1", ""),
                       OWNED("StatefulSet", "db", "db-x", "n1", "1", ""),
                       OWNED("StatefulSet", "db", "db-99999999999999999999", "n1", "1", "")},
         .scale = SCALE(KIND_STATEFUL_SET, "db", 0),
         .lines = "node n1: db! db-99999999999999999999! db-x!\n",
         .told = "0 0 0; 1 to 0"},
        {.name = "to none",
         .documents = {POOL, DEPLOYMENT("web", "2")},
         .scale = SCALE(KIND_DEPLOYMENT, "web", 0),
         .lines = "",
         .told = "0 0 0; 2 to 0"},
    };
    run_cases(cases, COUNT_OF(cases));
}

/* A drill that did nothing because of a slip would be good news that is none. */
static void names_that_are_not_there_are_refused(void)
{
    static const struct {
        struct drill_case test;
        const char *problem;
    } cases[] = {
        {{.documents = {POOL}, .zone = "d"}, "no zone has the name \"d\": there is a, b and c"},
        {{.documents = {POOL}, .pool = "defualt"},
         "no NodePool has the name \"defualt\": there is default"},
        {{.documents = {NODE("n1", "a", "4")}, .pool = "default"},
         "no NodePool has the name \"default\": there is none"},
        {{.documents = {POOL},
          .scale = {.kind = KIND_DEPLOYMENT,
                    .namespace = TEXT("zoo"),
                    .name = TEXT("web"),
                    .replicas = 2}},
         "Deployment zoo/web cannot be scaled: there is no such workload"},
        {{.documents = {POOL}, .sold_out = "medium"},
         "\"medium\" cannot be sold out: it is no instance type and no family of the catalogue, "
         "and none of on-demand, spot and reserved"},
        {{.documents = {POOL}, .sold_out = ""},
         "\"\" cannot be sold out: it is no instance type and no family of the catalogue, and none "
         "of on-demand, spot and reserved"},
        {{.documents = {POOL}, .scale = SCALE(KIND_DEPLOYMENT, "web", 2)},
         "Deployment web cannot be scaled: there is no such workload"},
        {{.documents = {POOL, OF_TEAM("one"), OF_TEAM("two")},
          .scale = SCALE(KIND_DEPLOYMENT, "web", 2)},
         "Deployment web cannot be scaled: there is one in one and two; write "
         "KIND/NAMESPACE/NAME=N"},
        {{.documents = {POOL, DEPLOYMENT("web", "1")},
          .scale = SCALE(KIND_DEPLOYMENT, "web", 2),
          .second = SCALE(KIND_DEPLOYMENT, "web", 3)},
         "Deployment web cannot be scaled: it is named twice"},
        {{.documents = {POOL, DEPLOYMENT("web", "1"),
                        "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, "
                        "ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, "
                        "controller: true}]}, spec: {replicas: 1}}"},
          .scale = SCALE(KIND_REPLICA_SET, "web-1", 2)},
         "ReplicaSet web-1 cannot be scaled: Deployment web sets its replicas; scale that"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct drill drill = drill_of(&fixture, &cases[i].test);
        struct simulation simulation;
        CU_ASSERT_FALSE(run(&fixture, &cases[i].test, &drill, &simulation));
        CU_ASSERT_FATAL(fixture.problems.count == 1);
        ASSERT_TEXT(text_of(fixture.problems.items[0].what), cases[i].problem);
        arena_destroy(fixture.arena);
    }
}

const struct unit_test unit_tests[] = {
    {"zones are lost", zones_are_lost},
    {"NodePools are deleted", pools_are_deleted},
    {"what is sold out is not bought", what_is_sold_out_is_not_bought},
    {"workloads are scaled", workloads_are_scaled},
    {"names that are not there are refused", names_that_are_not_there_are_refused},
    {NULL, NULL},
};
