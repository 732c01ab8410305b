/* The rail daemon-fit: instance types that have no room left, Nodes that have none, and what it
 * costs. */
#include "rail_modes.h"
#include "rail_table.h"

#define DAEMON_NAMED(name, more, requests)                                                   \
    "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: " name "}, spec: {selector: "   \
    "{matchLabels: {app: agent}}, template: {metadata: {labels: {app: agent}}, spec: {" more \
    "containers: [{name: a, image: a, resources: {requests: {" requests "}}}]}}}}"
#define DAEMON(more, requests) DAEMON_NAMED("agent", more, requests)
/* What is left to pods of t3.nano is 74Mi of memory and 4 pods, of t3.micro 548Mi, of t3.small
 * 1.4Gi, of m5.large 6.9Gi. */
#define POOL(name, more, types)                                                                    \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: {template: "  \
    "{spec: {" more                                                                                \
    "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: [" \
    "{key: node.kubernetes.io/instance-type, operator: In, values: [" types "]}]}}}}\n"
#define SMALL "t3.nano, t3.micro, t3.small, m5.large"
#define OTHER "---\n" DAEMON_NAMED("other", "", "cpu: 100m, memory: 50Mi") "\n"
#define NODE(name, type, labels, more)                                              \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {" labels \
    "node.kubernetes.io/instance-type: " type "}}, spec: {" more                    \
    "}, status: {allocatable: {cpu: 2, memory: 8Gi, pods: 29}}}\n"
#define POD(name, node, more, requests)                                                        \
    "---\n{apiVersion: v1, kind: Pod, metadata: {name: " name more "}, spec: {nodeName: " node \
    ", containers: [{name: a, image: a, resources: {requests: {" requests "}}}]}}\n"

static void types_without_room_are_counted(void)
{
    static const char cluster[] = POOL("general", "", SMALL) OTHER;
    static const struct rail_case cases[] = {
        {DAEMON("priorityClassName: system-node-critical, ", "memory: 24Mi"), ""},
        {DAEMON("priorityClassName: system-node-critical, ", "memory: 25Mi"),
         "deny spec.template.spec general"},
        {DAEMON("priorityClassName: system-node-critical, ", "memory: 10Gi"),
         "deny spec.template.spec general"},
        /* Two types are more than a quarter of four, one is not. */
        {DAEMON("priorityClassName: system-node-critical, ", "cpu: 1950m"),
         "deny spec.template.spec general"},
        /* What keeps off the pool, or off its small types, takes nothing of them. */
        {DAEMON("priorityClassName: system-node-critical, nodeSelector: {karpenter.sh/nodepool: "
                "none}, ",
                "memory: 10Gi"),
         ""},
        {DAEMON("priorityClassName: system-node-critical, nodeSelector: "
                "{karpenter.k8s.aws/instance-family: m5}, ",
                "memory: 2Gi"),
         ""},
    };
    rail_table_run(
        &(struct rail_table){"daemon-fit: {mode: enforce}", cluster, cases, COUNT_OF(cases)});
    static const struct rail_case quarter[] = {
        {DAEMON("priorityClassName: system-node-critical, ", "memory: 25Mi"), ""},
        {DAEMON("priorityClassName: system-node-critical, ", "memory: 600Mi"),
         "deny spec.template.spec general"},
    };
    rail_table_run(&(struct rail_table){"daemon-fit: {mode: enforce, maxLost: 25%}", cluster,
                                        quarter, COUNT_OF(quarter)});
    rail_table_run(&(struct rail_table){"daemon-fit: {mode: enforce, maxLost: 1}", cluster, quarter,
                                        COUNT_OF(quarter)});
}

static void others_of_those_nodes_count(void)
{
    /* The other one runs on m5 alone, and the pool is tainted for the third. */
    /* clang-format off */
    static const char cluster[] =
        POOL("general", "taints: [{key: a, value: b, effect: NoSchedule}], ", SMALL) "---\n"
        DAEMON_NAMED("big", "tolerations: [{operator: Exists}], nodeSelector: "
                            "{karpenter.k8s.aws/instance-family: m5}, ", "memory: 6Gi") "\n---\n"
        DAEMON_NAMED("elsewhere", "", "memory: 60Mi") "\n";
    /* clang-format on */
    static const struct rail_case cases[] = {
        {DAEMON("priorityClassName: system-node-critical, tolerations: [{operator: Exists}], ",
                "memory: 74Mi"),
         ""},
        {DAEMON("priorityClassName: system-node-critical, tolerations: [{operator: Exists}], ",
                "memory: 75Mi"),
         "deny spec.template.spec general"},
        {DAEMON("priorityClassName: system-node-critical, ", "memory: 10Gi"), ""},
        /* The one that is there under its name does not count twice. */
        {DAEMON_NAMED("big",
                      "priorityClassName: system-node-critical, tolerations: [{operator: Exists}], "
                      "nodeSelector: {karpenter.k8s.aws/instance-family: m5}, ",
                      "memory: 6200Mi"),
         ""},
        {DAEMON("priorityClassName: system-node-critical, tolerations: [{operator: Exists}], "
                "nodeSelector: {karpenter.k8s.aws/instance-family: m5}, ",
                "memory: 1Gi"),
         "deny spec.template.spec general"},
    };
    rail_table_run(
        &(struct rail_table){"daemon-fit: {mode: enforce}", cluster, cases, COUNT_OF(cases)});
}

static void placeable_says_it_once(void)
{
    static const char cluster[] = POOL("general", "", "m5.large");
    static const struct rail_case alone[] = {
        {DAEMON("priorityClassName: system-node-critical, ", "memory: 100Gi"),
         "deny spec.template.spec general"}};
    rail_table_run(&(struct rail_table){"daemon-fit: {mode: enforce}", cluster, alone, 1});
    rail_table_run(&(struct rail_table){"placeable: {mode: enforce}, daemon-fit: {mode: enforce}",
                                        cluster, alone, 1});
    /* It fits by size, and not beside what the node keeps for itself. */
    static const struct rail_case kept[] = {
        {DAEMON("priorityClassName: system-node-critical, ", "memory: 7700Mi"),
         "deny spec.template.spec general"}};
    rail_table_run(&(struct rail_table){"placeable: {mode: enforce}, daemon-fit: {mode: enforce}",
                                        cluster, kept, 1});
}

#define CLASSES                                                                                    \
    "---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: " \
    "1000}\n"                                                                                      \
    "---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: usual}, "       \
    "value: 10, globalDefault: true}\n"                                                            \
    "---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: polite}, "      \
    "value: 1000, preemptionPolicy: Never}\n"
static const char busy[] = NODE("n1", "m5.large", "a: b, ", "") NODE("n2", "m5.large", "", "")
    NODE("n3", "m5.large", "", "taints: [{key: a, effect: NoSchedule}]")
        NODE("n4", "m5.large", "",
             "taints: [{key: node.kubernetes.io/disk-pressure, effect: NoSchedule}]")
            NODE("n5", "m5.large", "gone: soon, ",
                 "taints: [{key: karpenter.sh/disrupted, effect: NoSchedule}]")
                POD("p1", "n1", "", "cpu: 1500m") POD("p2", "n2", "", "cpu: 1")
                    POD("p3", "n3", "", "cpu: 2")
                        POD("old", "n2",
                            ", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: "
                            "agent, uid: x, controller: true}]",
                            "cpu: 900m") CLASSES;

static void nodes_without_room_are_named(void)
{
    static const char full[] = "warn spec.template.spec.priorityClassName ";
    static const struct rail_case cases[] = {
        {DAEMON("", "cpu: 500m"), ""},
        {DAEMON("", "cpu: 501m"), full},
        {DAEMON("", "cpu: 1"), full},
        {DAEMON("nodeSelector: {a: b}, ", "cpu: 501m"), full},
        {DAEMON("nodeSelector: {a: c}, ", "cpu: 501m"), ""},
        {DAEMON("nodeSelector: {c: d}, ", "cpu: 501m"), ""},
        {DAEMON("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                "{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: DoesNotExist}, {key: "
                "z, operator: NotIn, values: [x]}]}]}}}, ",
                "cpu: 1"),
         ""},
        {DAEMON("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                "{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: NotIn, values: [b]}]},"
                " {matchExpressions: [{key: a, operator: In, values: [b]}]}]}}}, ",
                "cpu: 1"),
         full},
        {DAEMON("nodeSelector: {a: c}, tolerations: [{operator: Exists}], ", "cpu: 501m"), ""},
        {DAEMON("tolerations: [{key: a, operator: Exists}], ", "cpu: 1m"), full},
        /* what leaves does not count */
        {DAEMON("nodeSelector: {gone: soon}, tolerations: [{operator: Exists}], ", "cpu: 9"), ""},
        {DAEMON("", "vendor.example.com/card: 1"), full},
        /* what no number holds another rail tells */
        {DAEMON("", "cpu: 1e30"), ""},
        {DAEMON("priorityClassName: system-cluster-critical, ", "cpu: 2"), ""},
        {DAEMON("priorityClassName: high, ", "cpu: 2"), ""},
        {DAEMON("priorityClassName: unseen, ", "cpu: 2"), ""},
        {DAEMON("priorityClassName: usual, ", "cpu: 2"),
         "warn spec.template.spec.priorityClassName usual"},
        {DAEMON("priorityClassName: polite, ", "cpu: 2"),
         "warn spec.template.spec.priorityClassName polite"},
    };
    rail_table_run(&(struct rail_table){"daemon-fit: {}", busy, cases, COUNT_OF(cases)});
    static const struct rail_case blind[] = {
        {DAEMON("", "cpu: 500m"), "undecided spec.template.spec.priorityClassName "},
        {DAEMON("priorityClassName: high, ", "cpu: 500m"), ""},
    };
    rail_table_run(&(struct rail_table){"daemon-fit: {}", NODE("n1", "m5.large", "", ""), blind,
                                        COUNT_OF(blind)});
    rail_table_run(&(struct rail_table){"daemon-fit: {}", POD("p1", "n1", "", "cpu: 1"), blind,
                                        COUNT_OF(blind)});
}

static void money_is_told_above_a_sum(void)
{
    /* A quarter of three m5.large (n3 is tainted) for 730 hours at 0.096 is 52.56 dollars. */
    static const struct rail_case cases[] = {
        {DAEMON("priorityClassName: high, ", "cpu: 500m"), "warn spec.template.spec "},
        {DAEMON("priorityClassName: high, ", "cpu: 100m, memory: 2Gi"), "warn spec.template.spec "},
        {DAEMON("priorityClassName: high, ", "cpu: 485m"), ""},
    };
    rail_table_run(
        &(struct rail_table){"daemon-fit: {warnAbove: 52}", busy, cases, COUNT_OF(cases)});
    static const struct rail_case less[] = {{DAEMON("priorityClassName: high, ", "cpu: 500m"), ""}};
    rail_table_run(&(struct rail_table){"daemon-fit: {warnAbove: 53}", busy, less, 1});
    /* where no Node is seen, or one of no known price, it costs nothing that is known */
    rail_table_run(
        &(struct rail_table){"daemon-fit: {warnAbove: 0}", POOL("general", "", SMALL), less, 1});
    rail_table_run(&(struct rail_table){
        "daemon-fit: {warnAbove: 0}",
        NODE("n1", "unheard.of", "", "") POD("web", "n1", "", "cpu: 100m"), less, 1});
}

static void it_says_what_to_do(void)
{
    static const struct rail_words full[] = {
        {DAEMON("", "cpu: 501m, memory: 1Gi"),
         "It fits on 2 of the 3 Nodes that it is for; 1 has no room for it (501m cpu and 1Gi "
         "memory): n1. Without a priority class it stays Pending there, since Karpenter buys no "
         "node for a "
         "DaemonSet.",
         "Set a priorityClassName such as system-node-critical, or ask for less."},
        {DAEMON("priorityClassName: usual, ", "cpu: 2, memory: 1Gi"),
         "It fits on 1 of the 3 Nodes that it is for; 2 have no room for it (2 cpu and 1Gi "
         "memory): n1 and n2. With priority class usual, which displaces no pods, it stays Pending "
         "there, since "
         "Karpenter buys no node for a DaemonSet.",
         "Set a priorityClassName such as system-node-critical, or ask for less."},
    };
    rail_words_run("daemon-fit: {}", busy, full, COUNT_OF(full));
    static const struct rail_words dear[] = {
        {DAEMON("priorityClassName: high, ", "cpu: 500m"),
         "It takes 500m cpu of each of 3 Nodes. That is worth $17.52 a month on a Node and $52.56 "
         "on all (on-demand prices of us-east-1 of 2026-07), above the $50.00 that this policy "
         "warns of.",
         "Ask for less, or run it on fewer nodes with node affinity."}};
    rail_words_run("daemon-fit: {warnAbove: 50}", busy, dear, 1);
#define UNSEEN(kinds)                                                          \
    {                                                                          \
        DAEMON("", "cpu: 500m"),                                               \
            "Without a priority class it needs room on every Node, and " kinds \
            " are not visible.",                                               \
            "Make the " kinds " visible (--state DIR)."                        \
    }
    static const struct rail_words pods = UNSEEN("Pods"), nodes = UNSEEN("Nodes"),
                                   both = UNSEEN("Pods and Nodes");
    rail_words_run("daemon-fit: {}", NODE("n1", "m5.large", "", ""), &pods, 1);
    rail_words_run("daemon-fit: {}", POD("p1", "n1", "", "cpu: 1"), &nodes, 1);
    rail_words_run("daemon-fit: {}", NULL, &both, 1);
    static const struct rail_words any[] = {
        {DAEMON("priorityClassName: high, ", "cpu: 500m"),
         "It takes 500m cpu of each of 3 Nodes. That is worth $17.52 a month on a Node and $52.56 "
         "on all (on-demand prices of us-east-1 of 2026-07).",
         "Ask for less, or run it on fewer nodes with node affinity."}};
    rail_words_run("daemon-fit: {warnAbove: 0}", busy, any, 1);
    static const struct rail_words lost[] = {
        {DAEMON("priorityClassName: high, ", "memory: 600Mi"),
         "With this DaemonSet 2 of 4 instance types of NodePool general have no room for the "
         "DaemonSets of such nodes, so Karpenter buys no more of them: t3.micro, t3.nano.",
         "Ask for less than 600Mi memory, or keep its pods off NodePool general with node "
         "affinity."},
        {DAEMON("priorityClassName: high, ", "memory: 7Gi"),
         "With this DaemonSet no instance type of NodePool general has room for the DaemonSets of "
         "its nodes (m5.large, t3.micro, t3.nano, t3.small), so Karpenter buys no node there.",
         "Ask for less than 7Gi memory, or keep its pods off NodePool general with node "
         "affinity."},
    };
    rail_words_run("daemon-fit: {}", POOL("general", "", SMALL), lost, COUNT_OF(lost));
}

static void few_of_many_resources_are_named(void)
{
    static const char one_place[] = "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: "
                                    "{node.kubernetes.io/instance-type: m5.large}}, status: "
                                    "{allocatable: {cpu: 2, memory: 8Gi, "
                                    "pods: 1}}}\n" POD("web", "n1", "", "cpu: 100m");
    const struct {
        const char *cluster, *object, *part;
    } rows[] = {
        {busy,
         DAEMON("",
                "cpu: 501m, memory: 1Gi, vendor.example.com/card: 1, vendor.example.com/disk: 1"),
         "(501m cpu, 1Gi memory and 1 vendor.example.com/card)"},
        {one_place, DAEMON("", ""), "(no more than its place)"},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world world = rail_table_world("daemon-fit: {}", rows[i].cluster, arena);
        struct rail_documents documents = rail_table_read(rows[i].object, arena);
        const struct subject subject = {.operation = OPERATION_CREATE, .object = documents.items};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        CU_ASSERT_FATAL(verdict.finding_count > 0);
        struct text problem = verdict.findings[0].problem;
        bool found = memmem(problem.data, problem.size, rows[i].part, strlen(rows[i].part)) != NULL;
        if (!found)
            fprintf(stderr, "%.*s\n", TEXT_ARGS(problem));
        CU_ASSERT(found);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "policy daemon-fit";
const struct unit_test unit_tests[] = {
    {"types without room are counted", types_without_room_are_counted},
    {"others of those nodes count", others_of_those_nodes_count},
    {"placeable says it once", placeable_says_it_once},
    {"nodes without room are named", nodes_without_room_are_named},
    {"money is told above a sum", money_is_told_above_a_sum},
    {"it says what to do", it_says_what_to_do},
    {"few of many resources are named", few_of_many_resources_are_named},
    {NULL, NULL},
};
