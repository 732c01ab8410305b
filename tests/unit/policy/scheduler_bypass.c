/* The rail scheduler-bypass: a node named by hand, and a scheduler that nobody runs. */
#include "policy/rails/scheduler_bypass.h"
#include "rail_modes.h"

#define POD(spec) "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: " spec "}"
#define ON_NODE "{nodeName: ip-1}"
#define WITH_TOKEN(more) POD("{" more ", volumes: [{name: kube-api-access-9wklg, projected: {}}]}")

static void pods_placed_by_hand(void)
{
    static const struct rail_case cases[] = {
        {POD("{}"), ""},
        {POD("{nodeName: ''}"), ""},
        {POD("{nodeName: [ip-1]}"), ""},
        {POD(ON_NODE), "deny spec.nodeName ip-1"},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: " ON_NODE
         ", status: {phase: Pending, qosClass: Burstable}}",
         "deny spec.nodeName ip-1"},
        /* the scheduler has been there, or a kubelet speaks of what it runs */
        {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: " ON_NODE
         ", status: {conditions: [{type: PodScheduled, status: 'True'}]}}",
         ""},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: " ON_NODE
         ", status: {startTime: '2026-01-01T00:00:00Z'}}",
         ""},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: " ON_NODE
         ", status: {phase: Running}}",
         ""},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: " ON_NODE ", status: {phase: ''}}",
         "deny spec.nodeName ip-1"},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: "
         "{kubernetes.io/config.mirror: x}}, spec: " ON_NODE "}",
         ""},
        /* the API server has been there: in a file it is a dump */
        {WITH_TOKEN("nodeName: ip-1"), ""},
        {POD("{nodeName: ip-1, volumes: [{name: data, emptyDir: {}}]}"), "deny spec.nodeName ip-1"},
        /* what a workload has become says nothing of its pods */
        {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, annotations: "
         "{kubernetes.io/config.mirror: x}}, spec: {template: {spec: " ON_NODE "}}, status: "
         "{conditions: [{type: Available, status: 'True'}], startTime: '2026-01-01T00:00:00Z'}}",
         "deny spec.template.spec.nodeName ip-1"},
    };
    rail_table_run(&(struct rail_table){"scheduler-bypass: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case allowed[] = {{POD(ON_NODE), ""}};
    rail_table_run(&(struct rail_table){"scheduler-bypass: {allowNodeName: true}", NULL, allowed,
                                        COUNT_OF(allowed)});
}

/* ---- a node named by affinity ---- */

#define NODE_FIELDS(kind, terms) "{affinity: {nodeAffinity: {" kind ": " terms "}}}"
#define REQUIRED(terms)                                           \
    NODE_FIELDS("requiredDuringSchedulingIgnoredDuringExecution", \
                "{nodeSelectorTerms: [" terms "]}")
#define BY_NAME(op, values) \
    "{matchFields: [{key: metadata.name, operator: " op ", values: [" values "]}]}"
#define AT_TERMS \
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
#define OF_A_DAEMON_SET                                                                        \
    "{apiVersion: v1, kind: Pod, metadata: {name: a, ownerReferences: [{apiVersion: apps/v1, " \
    "kind: "                                                                                   \
    "DaemonSet, name: d, uid: u, controller: true}]}, spec: " REQUIRED(BY_NAME("In", "ip-1")) "}"

static void nodes_named_by_affinity(void)
{
    static const char found[] = "deny " AT_TERMS "[0].matchFields[0].values[0] ip-1";
    static const struct rail_case cases[] = {
        {POD(REQUIRED(BY_NAME("In", "ip-1"))), found},
        {POD(REQUIRED("{matchExpressions: [{key: a, operator: Exists}]}, " BY_NAME("In", "ip-1"))),
         "deny " AT_TERMS "[1].matchFields[0].values[0] ip-1"},
        {POD(REQUIRED("{matchFields: [5, {key: metadata.name, operator: In, values: [ip-1]}]}")),
         "deny " AT_TERMS "[0].matchFields[1].values[0] ip-1"},
        {"{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a}, spec: {template: "
         "{spec: " REQUIRED(BY_NAME("In", "ip-1")) "}}}",
         "deny spec.template." AT_TERMS "[0].matchFields[0].values[0] ip-1"},
        {"{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {jobTemplate: {spec: "
         "{template: {spec: " REQUIRED(BY_NAME("In", "ip-1")) "}}}}}",
         "deny spec.jobTemplate.spec.template." AT_TERMS "[0].matchFields[0].values[0] ip-1"},
        /* who writes an owner down has none */
        {OF_A_DAEMON_SET, found},
        /* keeping off a node is not going to one, nor is a wish; the rest no API server takes */
        {POD(REQUIRED(BY_NAME("NotIn", "ip-1"))), ""},
        {POD(NODE_FIELDS("preferredDuringSchedulingIgnoredDuringExecution",
                         "[{weight: 100, preference: " BY_NAME("In", "ip-1") "}]")),
         ""},
        {POD(REQUIRED(BY_NAME("In", ""))), ""},
        {POD(REQUIRED(BY_NAME("In", "''"))), ""},
        {POD(REQUIRED(BY_NAME("in", "ip-1"))), ""},
        {POD(REQUIRED("{matchFields: [{key: metadata.namespace, operator: In, values: [a]}]}")),
         ""},
        {POD(REQUIRED("{matchFields: {key: metadata.name, operator: In, values: [a]}}")), ""},
        {POD(REQUIRED("{matchFields: null}, null, 5")), ""},
        {POD("{affinity: {nodeAffinity: null}}"), ""},
    };
    rail_table_run(&(struct rail_table){"scheduler-bypass: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case allowed[] = {{POD(REQUIRED(BY_NAME("In", "ip-1"))), ""}};
    rail_table_run(&(struct rail_table){"scheduler-bypass: {allowNodeName: true}", NULL, allowed,
                                        COUNT_OF(allowed)});
    static const struct rail_words words = {
        POD(REQUIRED(BY_NAME("In", "ip-1"))),
        "The pod may run on node \"ip-1\" alone, and Karpenter buys no other for it. "
        "When the node is replaced, the pod stays Pending.",
        "Remove matchFields, and select nodes by their labels."};
    rail_words_run("scheduler-bypass: {}", NULL, &words, 1);
}

/* A node's own label names it as nodeName does. */
static void nodes_named_by_their_label(void)
{
#define HOST "kubernetes.io/hostname"
    static const struct rail_case cases[] = {
        {POD("{nodeSelector: {" HOST ": ip-1}}"), "warn spec.nodeSelector[" HOST "] ip-1"},
        {POD(REQUIRED("{matchExpressions: [{key: " HOST ", operator: In, values: [ip-1, ip-2]}]}")),
         "warn " AT_TERMS "[0].matchExpressions[0].values[0] ip-1"},
        {POD(REQUIRED("{matchExpressions: [{key: " HOST ", operator: NotIn, values: [ip-1]}]}")),
         ""},
        {POD(REQUIRED("{matchExpressions: [{key: " HOST ", operator: Exists}]}")), ""},
        {WITH_TOKEN("nodeSelector: {" HOST ": ip-1}"), ""},
        {POD("{nodeSelector: {disk: ssd}}"), ""},
        /* it has its place */
        {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeSelector: {" HOST
         ": ip-1}}, status: {startTime: '2026-01-01T00:00:00Z'}}",
         ""},
        {"{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a}, spec: {template: {spec: "
         "{nodeSelector: {" HOST ": ip-1}}}}}",
         ""},
    };
    rail_table_run(&(struct rail_table){"scheduler-bypass: {}", NULL, cases, COUNT_OF(cases)});
}

struct asking {
    const char *object, *user;
    bool existing;
    const char *old; /* the object before; NULL: it is created */
    enum action action;
};

static void ask_each(const char *rails, const struct asking *rows, size_t count)
{
    struct arena *arena = arena_create((size_t)32 << 20);
    struct world world = rail_table_world(rails, NULL, arena);
    for (size_t i = 0; i < count; i++) {
        const struct asking *row = &rows[i];
        struct rail_documents objects = rail_table_read(row->object, arena);
        objects.source->file = NULL; /* the API server sends it */
        struct subject subject = {.operation = OPERATION_CREATE,
                                  .object = &objects.items[0],
                                  .existing = row->existing,
                                  .requester = {.name = text_of(row->user)}};
        struct rail_documents before = {0};
        struct verdict verdict;
        if (row->old != NULL) {
            before = rail_table_read(row->old, arena);
            subject.operation = OPERATION_UPDATE;
            subject.old_object = &before.items[0];
        }
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        if (verdict.action != row->action)
            fprintf(stderr, "%s by \"%s\"\n", row->object, row->user);
        ASSERT_INT(verdict.action, row->action);
    }
    arena_destroy(arena);
}

/* daemon-set-controller writes a node's name into every pod it makes. */
static void the_node_of_a_daemon_sets_pod(void)
{
#define ON_IT "{nodeName: ip-1}"
#define WAITS "{schedulingGates: [{name: a}]}"
#define CONTROLLER "system:serviceaccount:kube-system:daemon-set-controller"
    static const struct asking rows[] = {
        {OF_A_DAEMON_SET, CONTROLLER, false, NULL, ACTION_NONE},
        {OF_A_DAEMON_SET, "system:kube-controller-manager", false, NULL, ACTION_NONE},
        {OF_A_DAEMON_SET, "", true, NULL, ACTION_NONE},
        {OF_A_DAEMON_SET, "jane", false, NULL, ACTION_DENY},
        {OF_A_DAEMON_SET, "system:serviceaccount:team:daemon-set-controller", false, NULL,
         ACTION_DENY},
        {OF_A_DAEMON_SET, "system:serviceaccount:kube-system:job-controller", false, NULL,
         ACTION_DENY},
        /* that of nobody's */
        {POD(REQUIRED(BY_NAME("In", "ip-1"))), CONTROLLER, false, NULL, ACTION_DENY},
        {POD(REQUIRED(BY_NAME("In", "ip-1"))), "", true, NULL, ACTION_DENY},
        /* what has its node cannot be given another; what waits can */
        {OF_A_DAEMON_SET, "jane", false, POD(ON_IT), ACTION_NONE},
        {OF_A_DAEMON_SET, "jane", false, POD(WAITS), ACTION_DENY},
        {OF_A_DAEMON_SET, "jane", false, OF_A_DAEMON_SET, ACTION_AUDIT},
    };
    ask_each("scheduler-bypass: {}", rows, COUNT_OF(rows));
}

/* The API server gives the volume of a token to a Pod as it is created: only of what is there it
 * tells that a node's name need not be somebody's hand. */
static void the_token_of_a_pod_that_is_there(void)
{
    static const struct asking rows[] = {
        {WITH_TOKEN("nodeName: ip-1"), "jane", false, NULL, ACTION_DENY},
        {WITH_TOKEN("nodeName: ip-1"), "", true, NULL, ACTION_NONE},
        {WITH_TOKEN("nodeName: ip-1"), "jane", false, WITH_TOKEN("nodeName: ip-1"), ACTION_NONE},
        {WITH_TOKEN("nodeSelector: {" HOST ": ip-1}"), "jane", false, NULL, ACTION_WARN},
        {WITH_TOKEN("nodeSelector: {" HOST ": ip-1}"), "", true, NULL, ACTION_NONE},
        {POD(ON_NODE), "", true, NULL, ACTION_DENY},
    };
    ask_each("scheduler-bypass: {}", rows, COUNT_OF(rows));
}

/* The API server says of a Pod with gates that it is not scheduled, and lets its selectors change.
 */
static void a_pod_that_waits_at_a_gate(void)
{
#define GATED(gates, more)                                                                        \
    "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {schedulingGates: [" gates "], "      \
    "volumes: [{name: kube-api-access-9wklg, projected: {}}]" more "}, status: {phase: Pending, " \
    "conditions: [{type: PodScheduled, status: 'False', reason: SchedulingGated}]}}"
#define GATE "{name: a.com/b}"
#define ON_HOST ", nodeSelector: {" HOST ": ip-1}"
    static const struct asking rows[] = {
        {GATED(GATE, ""), "jane", false, NULL, ACTION_NONE},
        {GATED(GATE, ON_HOST), "jane", false, NULL, ACTION_WARN},
        {GATED(GATE, ON_HOST), "jane", false, GATED(GATE, ""), ACTION_WARN},
        {GATED("", ON_HOST), "jane", false, GATED(GATE, ""), ACTION_WARN},
        {GATED("", ON_HOST), "jane", false, GATED(GATE, ON_HOST), ACTION_AUDIT},
        {GATED("", ON_HOST), "jane", false, GATED("", ON_HOST), ACTION_NONE},
    };
    ask_each("scheduler-bypass: {}", rows, COUNT_OF(rows));
}

/* ---- NodeClaims ---- */

#define CLAIM_OF(labels, more)                                                                   \
    "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: c, labels: {" labels "}}, " \
    "spec: {requirements: []}" more "}"
#define OF_POOL "karpenter.sh/nodepool: default"

static void node_claims_made_by_hand(void)
{
    static const char karpenter[] = "system:serviceaccount:karpenter:karpenter";
    static const struct asking unnamed[] = {
        {CLAIM_OF("", ""), "jane", false, NULL, ACTION_WARN},
        {CLAIM_OF(OF_POOL, ""), "jane", false, NULL, ACTION_WARN},
        {CLAIM_OF(OF_POOL, ""), karpenter, false, NULL, ACTION_NONE},
        {CLAIM_OF("", ""), "system:serviceaccount:kaito:kaito", false, NULL, ACTION_NONE},
        {CLAIM_OF("", ""), "eks:node-manager", false, NULL, ACTION_NONE},
        {CLAIM_OF(OF_POOL, ", status: {providerID: 'aws:///a/i-1'}"), "jane", false, NULL,
         ACTION_NONE},
        {CLAIM_OF(OF_POOL, ", status: {}"), "jane", false, NULL, ACTION_WARN},
        {CLAIM_OF(OF_POOL, ""), "", true, NULL, ACTION_NONE},
        {CLAIM_OF("", ""), "", true, NULL, ACTION_WARN},
    };
    ask_each("scheduler-bypass: {}", unnamed, COUNT_OF(unnamed));
    static const struct asking named[] = {
        {CLAIM_OF(OF_POOL, ""), "jane", false, NULL, ACTION_DENY},
        {CLAIM_OF(OF_POOL, ", status: {providerID: 'aws:///a/i-1'}"), "jane", false, NULL,
         ACTION_DENY},
        {CLAIM_OF(OF_POOL, ""), karpenter, false, NULL, ACTION_NONE},
        {CLAIM_OF(OF_POOL, ""), "system:serviceaccount:team:karpenter", false, NULL, ACTION_DENY},
        {CLAIM_OF(OF_POOL, ""), "", true, NULL, ACTION_NONE},
        {CLAIM_OF("", ""), "", true, NULL, ACTION_WARN},
    };
    ask_each("scheduler-bypass: {nodeClaimAccounts: [karpenter/karpenter]}", named,
             COUNT_OF(named));
    static const struct rail_words words = {
        CLAIM_OF(OF_POOL, ""),
        "Karpenter did not make this NodeClaim. It buys a machine that no NodePool's "
        "requirements, limits and budgets hold for.",
        "Let Karpenter make it: change a NodePool, or add one."};
    rail_words_run("scheduler-bypass: {}", NULL, &words, 1);
}

static void schedulers_that_nobody_runs(void)
{
    static const struct rail_case cases[] = {
        {POD("{schedulerName: default-scheduler}"), ""},
        {POD("{schedulerName: fargate-scheduler}"), ""},
        {POD("{schedulerName: default-schedular}"), "deny spec.schedulerName default-schedular"},
        /* it may run; who names the schedulers knows */
        {POD("{schedulerName: volcano}"), "warn spec.schedulerName volcano"},
        {POD("{schedulerName: my-scheduler}"), "warn spec.schedulerName my-scheduler"},
        {POD("{schedulerName: 5}"), ""},
    };
    rail_table_run(&(struct rail_table){"scheduler-bypass: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case named[] = {
        {POD("{schedulerName: volcano}"), ""},
        {POD("{schedulerName: default-scheduler}"), "deny spec.schedulerName default-scheduler"},
    };
    rail_table_run(&(struct rail_table){"scheduler-bypass: {schedulers: [volcano]}", NULL, named,
                                        COUNT_OF(named)});
    /* What most names end with tells nothing of what was meant. */
    static const struct rail_words other[] = {
        {POD("{schedulerName: my-scheduler}"),
         "The policy lists no scheduler \"my-scheduler\". If none of that name runs, the "
         "pod stays Pending without an event.",
         "Name it under schedulers in the policy if it runs, or remove schedulerName."},
    };
    rail_words_run("scheduler-bypass: {schedulers: [default-scheduler, kai-scheduler]}", NULL,
                   other, 1);
    /* A node's name that is allowed makes a scheduler that nobody runs no better. */
    static const struct rail_case both[] = {
        {POD("{nodeName: ip-1, schedulerName: volcano}"), "warn spec.schedulerName volcano"}};
    rail_table_run(&(struct rail_table){"scheduler-bypass: {allowNodeName: true}", NULL, both,
                                        COUNT_OF(both)});
}

/* Three edits are a typo, four another name. */
static void the_scheduler_that_was_meant(void)
{
#define NOBODY(name, fix)                                   \
    "The policy lists no scheduler \"" name                 \
    "\". If none of that name runs, the pod stays Pending " \
    "without an event.",                                    \
        fix
#define NAME_IT "Name it under schedulers in the policy if it runs, or remove schedulerName."
    static const struct rail_words rows[] = {
        {POD("{schedulerName: default-schedu}"),
         NOBODY("default-schedu", "Use default-scheduler.")},
        {POD("{schedulerName: default-sched}"), NOBODY("default-sched", NAME_IT)},
        {POD("{schedulerName: fargate-schedular}"),
         NOBODY("fargate-schedular", "Use fargate-scheduler.")},
    };
    rail_words_run("scheduler-bypass: {}", NULL, rows, COUNT_OF(rows));
    rail_replaces("scheduler-bypass: {}", rows[0].object, "default-scheduler");
    rail_replaces("scheduler-bypass: {}", rows[1].object, "");
    static const struct rail_words many[] = {
        {POD("{schedulerName: volcan}"), NOBODY("volcan", "Use volcano.")},
    };
    rail_words_run("scheduler-bypass: {schedulers: [j, k, q, w, z, volcano]}", NULL, many, 1);
    static const struct rail_words another_project[] = {
        {POD("{schedulerName: hami-scheduler}"), NOBODY("hami-scheduler", NAME_IT)},
    };
    rail_words_run("scheduler-bypass: {schedulers: [default-scheduler, kai-scheduler]}", NULL,
                   another_project, 1);
}

static void every_kind_of_workload(void)
{
#define TEMPLATE "{spec: {nodeName: ip-1, schedulerName: mine}}"
#define OF(api, kind, spec) \
    "{apiVersion: " api ", kind: " kind ", metadata: {name: a}, spec: " spec "}"
#define FOUND(path) "deny " path ".nodeName ip-1\nwarn " path ".schedulerName mine"
    static const char found[] = FOUND("spec.template.spec");
    static const struct rail_case cases[] = {
        {OF("apps/v1", "Deployment", "{template: " TEMPLATE "}"), found},
        {OF("apps/v1", "ReplicaSet", "{template: " TEMPLATE "}"), found},
        {OF("v1", "ReplicationController", "{template: " TEMPLATE "}"), found},
        {OF("apps/v1", "StatefulSet", "{template: " TEMPLATE "}"), found},
        {OF("apps/v1", "DaemonSet", "{template: " TEMPLATE "}"), found},
        {OF("batch/v1", "Job", "{template: " TEMPLATE "}"), found},
        {OF("batch/v1", "CronJob", "{jobTemplate: {spec: {template: " TEMPLATE "}}}"),
         FOUND("spec.jobTemplate.spec.template.spec")},
    };
    rail_table_run(&(struct rail_table){"scheduler-bypass: {}", NULL, cases, COUNT_OF(cases)});
}

static void other_rails_learn_which_schedulers_run(void)
{
    struct arena *arena = arena_create((size_t)32 << 20);
    struct world named = rail_table_world("scheduler-bypass: {schedulers: [mine]}", NULL, arena);
    struct world silent = rail_table_world("topology-keys: {}", NULL, arena);
    CU_ASSERT_TRUE(scheduler_is_named(&named, TEXT("mine")));
    CU_ASSERT_FALSE(scheduler_is_named(&named, TEXT("default-scheduler")));
    CU_ASSERT_FALSE(scheduler_is_named(&silent, TEXT("mine")));
    struct world beside = rail_table_world(
        "placeable: {}, scheduler-bypass: {schedulers: [other, mine]}, zones: {}", NULL, arena);
    CU_ASSERT_TRUE(scheduler_is_named(&beside, TEXT("mine")));
    /* Of several policies any may. */
    const struct policy items[] = {silent.policies->items[0], beside.policies->items[0],
                                   silent.policies->items[0]};
    struct policy_set several = *silent.policies;
    several.items = items;
    several.count = COUNT_OF(items);
    silent.policies = &several;
    CU_ASSERT_TRUE(scheduler_is_named(&silent, TEXT("other")));
    CU_ASSERT_FALSE(scheduler_is_named(&silent, TEXT("default-scheduler")));
    arena_destroy(arena);
}

/* Beside other keys, which place nobody; and what has been launched, or runs. */
static void what_runs_already_has_its_node(void)
{
#define BY_LABELS(labels) POD("{nodeSelector: {" labels "}}")
    static const struct rail_case cases[] = {
        {BY_LABELS("disk: fast, " HOST ": ip-1"), "warn spec.nodeSelector[" HOST "] ip-1"},
        {POD(REQUIRED("{matchExpressions: [{key: " HOST ", operator: In, values: []}]}")), ""},
        {CLAIM_OF(OF_POOL, ", status: {conditions: [{type: Launched, status: 'True'}]}"), ""},
        {CLAIM_OF(OF_POOL, ", status: {providerID: 'aws:///a/i-1'}"), ""},
    };
    rail_table_run(&(struct rail_table){"scheduler-bypass: {}", NULL, cases, COUNT_OF(cases)});
}

const char unit_suite[] = "policy scheduler-bypass";
const struct unit_test unit_tests[] = {
    {"pods placed by hand", pods_placed_by_hand},
    {"nodes named by affinity", nodes_named_by_affinity},
    {"nodes named by their label", nodes_named_by_their_label},
    {"the node of a DaemonSet's pod", the_node_of_a_daemon_sets_pod},
    {"a pod that waits at a gate", a_pod_that_waits_at_a_gate},
    {"the token of a pod that is there", the_token_of_a_pod_that_is_there},
    {"NodeClaims made by hand", node_claims_made_by_hand},
    {"schedulers that nobody runs", schedulers_that_nobody_runs},
    {"the scheduler that was meant", the_scheduler_that_was_meant},
    {"every kind of workload", every_kind_of_workload},
    {"other rails learn which schedulers run", other_rails_learn_which_schedulers_run},
    {"what runs already has its node", what_runs_already_has_its_node},
    {NULL, NULL},
};
