#include "rail_table.h"

/* A pod on each node: an m5.large at $0.096 an hour has room for one. */
#define POOL(more)                                                                               \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general}, spec: {template: " \
    "{spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, "      \
    "requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}, " \
    "{key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a]}, "                   \
    "{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}" more "]}}}}\n"
#define CONTAINERS "containers: [{name: main, resources: {requests: {cpu: 1500m, memory: 1Gi}}}]"
#define POD_SPEC "{" CONTAINERS "}"
#define METADATA(name, namespace) "{name: " name ", namespace: " namespace "}"
#define DEPLOYMENT_OF(namespace, replicas, spec)                                         \
    "{apiVersion: apps/v1, kind: Deployment, metadata: " METADATA(                       \
        "web", namespace) ", spec: "                                                     \
                          "{replicas: " replicas                                         \
                          ", selector: {matchLabels: {app: web}}, template: {metadata: " \
                          "{labels: {app: web}}, spec: " spec "}}}"
#define DEPLOYMENT_IN(namespace, replicas) DEPLOYMENT_OF(namespace, replicas, POD_SPEC)
#define DEPLOYMENT_WITH(replicas, more) DEPLOYMENT_OF("shop", replicas, "{" CONTAINERS more "}")
#define DEPLOYMENT(replicas) DEPLOYMENT_IN("shop", replicas)
#define JOB(kind, spec) \
    "{apiVersion: batch/v1, kind: " kind ", metadata: " METADATA("web", "shop") ", spec: " spec "}"
#define JOB_SPEC(more) "{" more "template: {spec: " POD_SPEC "}}"
#define AUTOSCALER(kind, most)                                                         \
    "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: " METADATA( \
        "a", "shop") ", spec: {maxReplicas: " most                                     \
                     ", scaleTargetRef: {apiVersion: apps/v1, kind: " kind ", name: web}}}"

#define MAX "{shop: 300, \"team-*\": 200, \"team-a*\": 150, \"team-c*\": 120, \"team-*z\": 900}"
#define RAIL "cost: {warnAbove: 100, max: " MAX "}"

static void what_it_adds_is_compared(void)
{
    static const struct rail_case cases[] = {
        {DEPLOYMENT("0"), ""},
        {DEPLOYMENT("1"), ""},
        {DEPLOYMENT("2"), "warn spec.replicas $140.16 a month"},
        {DEPLOYMENT("4"), "warn spec.replicas $280.32 a month"},
        {DEPLOYMENT("5"), "deny spec.replicas $350.40 a month"},
        {DEPLOYMENT_IN("team-b", "2"), "warn spec.replicas $140.16 a month"},
        {DEPLOYMENT_IN("team-b", "3"), "deny spec.replicas $210.24 a month"},
        {DEPLOYMENT_IN("team-a1", "3"), "deny spec.replicas $210.24 a month"},
        {DEPLOYMENT_IN("team-a1", "2"), "warn spec.replicas $140.16 a month"},
        {DEPLOYMENT_IN("team-bz", "3"), "deny spec.replicas $210.24 a month"},
        {DEPLOYMENT_IN("team-c1", "2"), "deny spec.replicas $140.16 a month"}, /* the least */
        {DEPLOYMENT_IN("other", "50"), "warn spec.replicas $3,504.00 a month"},
        {DEPLOYMENT("20000000"), "deny spec.replicas about $1,401,600,000.00 a month"},
        {JOB("Job", JOB_SPEC("parallelism: 5, completions: 9, ")),
         "deny spec.parallelism $350.40 a month"},
        {JOB("Job", JOB_SPEC("parallelism: 5, completions: 9, suspend: true, ")), ""},
        {JOB("CronJob",
             "{schedule: '* * * * *', jobTemplate: {spec: " JOB_SPEC("parallelism: 3, "
                                                                     "completions: 3, ") "}}"),
         "warn spec.jobTemplate.spec.parallelism $210.24 a month"},
        {"{apiVersion: v1, kind: Pod, metadata: {name: one, namespace: shop}, spec: " POD_SPEC "}",
         ""},
    };
    rail_table_run(&(struct rail_table){RAIL, POOL(""), cases, COUNT_OF(cases)});
}

static void autoscalers_count(void)
{
    static const char cluster[] =
        POOL("") "---\n" AUTOSCALER("Deployment", "5") "\n---\n" DEPLOYMENT("1") "\n";
    static const struct rail_case cases[] = {
        {DEPLOYMENT("1"), "deny spec.replicas $350.40 a month"},
        {DEPLOYMENT("0"), ""}, /* it is off */
        {AUTOSCALER("Deployment", "2"), "warn spec.maxReplicas $140.16 a month"},
        {AUTOSCALER("Deployment", "6"), "deny spec.maxReplicas $420.48 a month"},
        {AUTOSCALER("StatefulSet", "6"), ""}, /* there is none */
        {AUTOSCALER("Rollout", "6"), ""},
        {AUTOSCALER("DaemonSet", "6"), ""}, /* which nothing scales */
    };
    static const char switched_off[] = POOL("") "---\n" DEPLOYMENT("0") "\n";
    static const struct rail_case to_zero[] = {
        {AUTOSCALER("Deployment", "6"), ""},
        {AUTOSCALER("Deployment", "6, minReplicas: 0"), "deny spec.maxReplicas $420.48 a month"},
    };
    rail_table_run(&(struct rail_table){RAIL, cluster, cases, COUNT_OF(cases)});
    rail_table_run(&(struct rail_table){RAIL, switched_off, to_zero, COUNT_OF(to_zero)});
    /* in an audit its workload is judged, and tells of it */
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world(RAIL, cluster, arena);
    struct rail_documents documents = rail_table_read(AUTOSCALER("Deployment", "6"), arena);
    struct subject subject = {
        .operation = OPERATION_CREATE, .object = &documents.items[0], .existing = true};
    struct verdict verdict;
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    CU_ASSERT_EQUAL(verdict.finding_count, 0);
    arena_destroy(arena);
}

static void what_cannot_be_known(void)
{
    static const struct rail_case blind[] = {
        {DEPLOYMENT("1"), "undecided spec.replicas "},
        {DEPLOYMENT("0"), ""},
    };
    static const struct rail_case nothing_fits[] = {{DEPLOYMENT("5"), ""}};
    rail_table_run(&(struct rail_table){RAIL, NULL, blind, COUNT_OF(blind)});
    rail_table_run_unseen(&(struct rail_table){RAIL, POOL(""), blind, COUNT_OF(blind)},
                          KIND_BIT(KIND_NODE_POOL));
    rail_table_run(&(struct rail_table){
        RAIL, POOL(", {key: kubernetes.io/arch, operator: In, values: [arm64]}"), nothing_fits,
        COUNT_OF(nothing_fits)});
}

static void what_a_plan_does_not_know(void)
{
    static const char elsewhere[] =
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general}, spec: {template: "
        "{spec: {nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: "
        "default}}}}}\n";
    static const struct rail_case cases[] = {{DEPLOYMENT("5"), "undecided spec.replicas "}};
    static const struct rail_case devices[] = {
        {"{apiVersion: v1, kind: Pod, metadata: {name: one, namespace: shop}, spec: "
         "{resourceClaims: "
         "[{name: gpu, resourceClaimTemplateName: gpu}], containers: [{name: main, resources: "
         "{claims: [{name: gpu}]}}]}}",
         "undecided spec "},
    };
    rail_table_run(&(struct rail_table){RAIL, elsewhere, cases, COUNT_OF(cases)});
    rail_table_run(&(struct rail_table){RAIL, POOL(""), devices, COUNT_OF(devices)});
}

/* One of so many terms of affinity, of which none is met. */
static struct text with_terms(size_t count, const char *replicas, struct arena *arena)
{
    struct text_builder terms = {.arena = arena};
    for (size_t i = 0; i < count; i++)
        text_builder_printf(&terms, "{matchExpressions: [{key: k%zu, operator: Exists}]}, ", i);
    return arena_printf(arena,
                        DEPLOYMENT_WITH("%s", ", affinity: {nodeAffinity: "
                                              "{requiredDuringSchedulingIgnoredDuringExecution: "
                                              "{nodeSelectorTerms: [%.*s]}}}"),
                        replicas, TEXT_ARGS(text_builder_text(&terms)));
}

static void what_is_too_much_to_plan_is_not_spared(void)
{
    static const struct {
        const char *rails, *finding;
    } cases[] = {
        {RAIL, "deny spec.replicas "},
        {"cost: {warnAbove: 100}", "warn spec.replicas "},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)256 << 20);
        const struct rail_case row = {with_terms(50000, "1", arena).data, cases[i].finding};
        struct world world = rail_table_world(cases[i].rails, POOL(""), arena);
        rail_table_run_in(&world, &(struct rail_table){.cases = &row, .case_count = 1}, arena);
        arena_destroy(arena);
    }
}

/* A type at $0.10 an hour with a limit of one node, then one as large without a price. */
static void what_has_no_price(void)
{
#define TYPE(name, price)                                                                       \
    "{\"name\": \"" name "\", \"architecture\": \"amd64\", \"operatingSystems\": [\"linux\"], " \
    "\"resources\": {\"cpu\": \"2\", \"memory\": \"8Gi\"}, \"offerings\": [{" price             \
    "\"Available\": true, \"Requirements\": [{\"key\": \"karpenter.sh/capacity-type\", "        \
    "\"operator\": "                                                                            \
    "\"In\", \"values\": [\"on-demand\"]}, {\"key\": \"topology.kubernetes.io/zone\", "         \
    "\"operator\": "                                                                            \
    "\"In\", \"values\": [\"a\"]}]}]}"
#define POOL_WITH(name, type, more)                                                           \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: {" more  \
    "template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: "   \
    "default}, requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: " \
    "[" type "]}]}}}}\n"
    static const char types[] = "[" TYPE("priced", "\"Price\": 0.1, ") ", " TYPE("odd", "") "]";
    static const char both[] = POOL_WITH(
        "first", "priced", "weight: 9, limits: {cpu: 2}, ") "---\n" POOL_WITH("second", "odd", "");
    static const char none[] = POOL_WITH("second", "odd", "");
    static const struct rail_case unknown = {DEPLOYMENT("5"), "undecided spec.replicas "};
    struct arena *arena = arena_create((size_t)64 << 20);
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = TEXT(types);
    const struct catalog *catalog = NULL;
    struct error error = {0};
    CU_ASSERT_FATAL(catalog_read(source, arena, &catalog, &error));
    struct world world = rail_table_world_of("cost: {warnAbove: 50}", none, catalog, arena);
    rail_table_run_in(&world, &(struct rail_table){.cases = &unknown, .case_count = 1}, arena);
    world = rail_table_world_of("cost: {warnAbove: 50}", both, catalog, arena);
    static const struct {
        const char *before, *after;
        enum action action;
    } updates[] = {
        {DEPLOYMENT("1"), DEPLOYMENT("1"), ACTION_AUDIT},
        {DEPLOYMENT("1"), DEPLOYMENT("3"), ACTION_WARN}, /* what nobody knows is a raise, too */
        {DEPLOYMENT("3"), DEPLOYMENT("2"), ACTION_AUDIT},
    };
    for (size_t i = 0; i < COUNT_OF(updates); i++) {
        const struct subject subject = {.operation = OPERATION_UPDATE,
                                        .object = rail_table_read(updates[i].after, arena).items,
                                        .old_object =
                                            rail_table_read(updates[i].before, arena).items};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        CU_ASSERT_EQUAL_FATAL(verdict.finding_count, 1);
        ASSERT_INT(verdict.action, updates[i].action);
        static const char said[] = " add 3 nodes, $73.00 a month without 2 of no known price.";
        struct text message = verdict.findings[0].message;
        CU_ASSERT_EQUAL(memmem(message.data, message.size, said, sizeof said - 1) != NULL, i == 1);
    }
    arena_destroy(arena);
}

static void buffers_count(void)
{
#define BUFFER(spec)                                                                            \
    "{apiVersion: autoscaling.x-k8s.io/v1beta1, kind: CapacityBuffer, metadata: {name: spare, " \
    "namespace: shop}, spec: {" spec "}}"
    static const char cluster[] = POOL("") "---\n" DEPLOYMENT(
        "10") "\n---\n{apiVersion: v1, kind: PodTemplate, metadata: {name: small, namespace: "
              "shop}, template: {metadata: {labels: {app: a}}, spec: " POD_SPEC "}}\n";
    static const struct rail_case cases[] = {
        {BUFFER("podTemplateRef: {name: small}, replicas: 1"), ""},
        {BUFFER("podTemplateRef: {name: small}, replicas: 5"),
         "deny spec.replicas $350.40 a month"},
        {BUFFER("scalableRef: {apiGroup: apps, kind: Deployment, name: web}, percentage: 20"),
         "warn spec.percentage $140.16 a month"},
        {BUFFER("podTemplateRef: {name: small}, replicas: 50, limits: {cpu: 3}"),
         "warn spec.limits $140.16 a month"},
        {BUFFER("podTemplateRef: {name: none}, replicas: 5"), ""}, /* capacity-buffer says it */
        {BUFFER("podTemplateRef: {name: small}"), ""},
        {BUFFER("podTemplateRef: {name: small}, replicas: 0"), ""},
    };
    rail_table_run(&(struct rail_table){RAIL, cluster, cases, COUNT_OF(cases)});
}

static void without_a_limit_nothing_is_compared(void)
{
    static const struct rail_case cases[] = {
        {DEPLOYMENT("500"), ""},
        {DEPLOYMENT_IN("dear", "500"), "deny spec.replicas $35,040.00 a month"},
    };
    rail_table_run(&(struct rail_table){"cost: {max: {dear: 1000}}", POOL(""), cases, 2});
    /* more than can be counted is no limit */
    static const struct rail_case huge = {DEPLOYMENT_IN("huge", "500"), ""};
    rail_table_run(
        &(struct rail_table){"cost: {max: {huge: 9000000000000000}}", POOL(""), &huge, 1});
    rail_table_run(&(struct rail_table){"cost: {}", POOL(""), cases, 1});
}

/* ---- updates ---- */

static struct text message_of_update(const char *pool, const char *before, const char *after,
                                     enum action *action, struct arena *arena)
{
    struct world world = rail_table_world(RAIL, pool, arena);
    struct rail_documents old = rail_table_read(before, arena);
    struct rail_documents now = rail_table_read(after, arena);
    struct subject subject = {
        .operation = OPERATION_UPDATE, .object = now.items, .old_object = old.items};
    struct verdict verdict;
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    *action = verdict.action;
    return verdict.finding_count == 0 ? TEXT("") : verdict.findings[0].message;
}

static void an_update_that_raises_nothing_is_not_new(void)
{
    static const struct {
        const char *before, *after;
        enum action action;
    } cases[] = {
        {DEPLOYMENT("9"), DEPLOYMENT("9"), ACTION_AUDIT},
        {DEPLOYMENT("9"), DEPLOYMENT("7"), ACTION_AUDIT},
        {DEPLOYMENT("9"), DEPLOYMENT("10"), ACTION_DENY},
        {DEPLOYMENT("9"), DEPLOYMENT("4"), ACTION_AUDIT},
        {DEPLOYMENT("4"), DEPLOYMENT("5"), ACTION_DENY},
        {DEPLOYMENT("2"), DEPLOYMENT("3"), ACTION_WARN},
        {DEPLOYMENT("1"), DEPLOYMENT("2"), ACTION_WARN},
        {DEPLOYMENT("0"), DEPLOYMENT("5"), ACTION_DENY},
        /* Beyond what is planned. */
        {DEPLOYMENT("2000"), DEPLOYMENT("3000"), ACTION_DENY},
        {DEPLOYMENT("3000"), DEPLOYMENT("2000"), ACTION_AUDIT},
        /* The API server sends no such old object; whoever reaches the port may. */
        {"{apiVersion: apps/v1, kind: Deploiment, metadata: {name: d, namespace: web}}",
         DEPLOYMENT("9"), ACTION_DENY},
        {"{apiVersion: v1, kind: Node, metadata: {name: d}}", DEPLOYMENT("9"), ACTION_DENY},
        {"{apiVersion: apps/v1, kind: StatefulSet, metadata: " METADATA(
             "web", "shop") ", spec: "
                            "{replicas: 9, template: {spec: " POD_SPEC "}}}",
         DEPLOYMENT("9"), ACTION_DENY},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        enum action action;
        (void)message_of_update(POOL(""), cases[i].before, cases[i].after, &action, arena);
        ASSERT_INT(action, cases[i].action);
        arena_destroy(arena);
    }
}

/* What it was before is not known, so that it may be more now. */
static void what_could_not_be_planned_before_is_a_raise(void)
{
    struct arena *arena = arena_create((size_t)256 << 20);
    enum action action;
    (void)message_of_update(POOL(""), with_terms(50000, "9", arena).data, DEPLOYMENT("9"), &action,
                            arena);
    ASSERT_INT(action, ACTION_DENY);
    arena_destroy(arena);
}

/* Of those that are planned no more find a place; of the others nobody knows it. */
static void more_pods_than_are_planned_are_a_raise(void)
{
    static const char full[] =
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general}, spec: {limits: "
        "{cpu: 40}, template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, "
        "name: default}, requirements: [{key: node.kubernetes.io/instance-type, operator: In, "
        "values: [m5.large]}, {key: karpenter.sh/capacity-type, operator: In, values: "
        "[on-demand]}]}}}}\n";
    struct arena *arena = arena_create((size_t)64 << 20);
    enum action action;
    (void)message_of_update(full, DEPLOYMENT("2000"), DEPLOYMENT("3000"), &action, arena);
    ASSERT_INT(action, ACTION_DENY);
    (void)message_of_update(full, DEPLOYMENT("3000"), DEPLOYMENT("2000"), &action, arena);
    ASSERT_INT(action, ACTION_AUDIT);
    /* there are 20 nodes with a place for one */
    struct text message =
        message_of_update(full, DEPLOYMENT("1"), DEPLOYMENT("21"), &action, arena);
    static const char one[] = " 1 of them fits nowhere and adds nothing.";
    CU_ASSERT_PTR_NOT_NULL(memmem(message.data, message.size, one, sizeof one - 1));
    arena_destroy(arena);
}

static void the_message_says_it_all(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    enum action action;
    ASSERT_TEXT(
        message_of_update(POOL(""), DEPLOYMENT("1"), DEPLOYMENT("5"), &action, arena),
        "Its 5 pods add 5 nodes, $350.40 a month, and a workload in namespace shop may add "
        "$300.00. These are on-demand prices of us-east-1 of 2026-07. Ask for fewer pods, or "
        "for less in each; taffrail plan shows which nodes they need.");
    arena_destroy(arena);
}

/* A Node with room for one of the pods, and a pod that runs on it. */
static void what_is_there_makes_room(void)
{
#define NODE                                                                                     \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {karpenter.sh/nodepool: "    \
    "general, node.kubernetes.io/instance-type: m5.large, topology.kubernetes.io/zone: "         \
    "us-east-1a, karpenter.sh/capacity-type: on-demand, kubernetes.io/arch: amd64, "             \
    "kubernetes.io/os: linux}}, spec: {providerID: 'aws:///us-east-1a/i-1'}, status: "           \
    "{allocatable: {cpu: 2, memory: 8Gi, pods: 29}, capacity: {cpu: 2, memory: 8Gi, pods: 29}, " \
    "conditions: [{type: Ready, status: 'True'}]}}\n"
#define SMALL_POD                                                                                  \
    "---\n{apiVersion: v1, kind: Pod, metadata: {name: small, namespace: shop}, spec: {nodeName: " \
    "n1, containers: [{name: a, resources: {requests: {cpu: 100m}}}]}, status: {phase: "           \
    "Running}}\n"
    struct arena *arena = arena_create((size_t)256 << 20);
    struct text_builder nodes = {.arena = arena};
    text_builder_add(&nodes, TEXT(POOL("") NODE SMALL_POD));
    for (size_t i = 0; i < 500; i++)
        text_builder_printf(&nodes,
                            "---\n{apiVersion: v1, kind: Node, metadata: {name: other-%zu}}\n", i);
    const char *many = text_builder_text(&nodes).data;
    const struct {
        const char *cluster;
        kind_set unseen;
        bool existing, beside;
    } rows[] = {
        {many, 0, false, false}, /* so many that a plan would hold the request up */
        {POOL("") NODE SMALL_POD, 0, false, true},
        {POOL("") NODE SMALL_POD, 0, true, false},
        {POOL("") NODE, 0, false, false},
        {POOL("") SMALL_POD, 0, false, false},
        {POOL("") NODE SMALL_POD, KIND_BIT(KIND_NODE), false, false},
        {POOL("") NODE SMALL_POD, KIND_BIT(KIND_POD), false, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world world = rail_table_world(RAIL, rows[i].cluster, arena);
        world.unseen = rows[i].unseen;
        struct rail_documents documents = rail_table_read(DEPLOYMENT("5"), arena);
        const struct subject subject = {
            .operation = OPERATION_CREATE, .object = documents.items, .existing = rows[i].existing};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        CU_ASSERT_FATAL(verdict.finding_count == 1);
        struct text problem = verdict.findings[0].problem;
        static const char beside[] = " Beside what runs it adds 4 nodes, $280.32 a month.";
        bool found = memmem(problem.data, problem.size, beside, sizeof beside - 1) != NULL;
        if (found != rows[i].beside)
            fprintf(stderr, "row %zu: %.*s\n", i, TEXT_ARGS(problem));
        CU_ASSERT_EQUAL(found, rows[i].beside);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "policy cost";
const struct unit_test unit_tests[] = {
    {"what it adds is compared", what_it_adds_is_compared},
    {"autoscalers count", autoscalers_count},
    {"what cannot be known", what_cannot_be_known},
    {"what a plan does not know", what_a_plan_does_not_know},
    {"what is too much to plan is not spared", what_is_too_much_to_plan_is_not_spared},
    {"what has no price", what_has_no_price},
    {"buffers count", buffers_count},
    {"without a limit nothing is compared", without_a_limit_nothing_is_compared},
    {"an update that raises nothing is not new", an_update_that_raises_nothing_is_not_new},
    {"what could not be planned before is a raise", what_could_not_be_planned_before_is_a_raise},
    {"more pods than are planned are a raise", more_pods_than_are_planned_are_a_raise},
    {"the message says it all", the_message_says_it_all},
    {"what is there makes room", what_is_there_makes_room},
    {NULL, NULL},
};
