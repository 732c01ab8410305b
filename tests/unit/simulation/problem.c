/* The solver's problem of a cluster: shapes of pods, nodes, pools and daemons. */
#include "catalog/catalog.h"
#include "cluster_fixture.h"
#include "kube/to_solver.h"
#include "simulation/cluster.h"
#include "simulation/node_claims.h"
#include "simulation/simulation.h"

const char unit_suite[] = "simulation problem";

enum { BUDGET_BYTES = 64 << 20 };

static struct fixture fixture;

static void begin(void)
{
    fixture = (struct fixture){.arena = arena_create(BUDGET_BYTES)};
}

static void end(void)
{
    arena_destroy(fixture.arena);
}

/* ---- how a pod looks to the solver ---- */

static void read_shape(const char *spec, struct pod_shape *shape)
{
    const char *pod = arena_printf(fixture.arena,
                                   "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {hash: "
                                   "h1, tenant: t1}}, spec: {%s}}",
                                   spec)
                          .data;
    const struct snapshot *snapshot = fixture_snapshot(&fixture, &pod, 1);
    const struct object *object = snapshot_object(snapshot, KIND_POD, 0);
    struct shape_source source = {.namespace = object->namespace};
    CU_ASSERT_FATAL(workload_read(object, fixture.arena, &source.workload));
    pod_shape_read(snapshot, &source, fixture.arena, shape);
}

static void write_expressions(struct text_builder *text, const struct solver_expressions *all)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct solver_expression *one = &all->items[i];
        text_builder_printf(text, "%s%s %s", i == 0 ? "" : " & ", one->key,
                            solver_op_name(one->op));
        for (size_t j = 0; j < one->value_count; j++)
            text_builder_printf(text, " %s", one->values[j]);
    }
}

static void write_selector(struct text_builder *text, const struct solver_selector *selector)
{
    static const char *const kinds[] = {
        [SOLVER_SELECTOR_ABSENT] = "absent",
        [SOLVER_SELECTOR_GIVEN] = "",
        [SOLVER_SELECTOR_INVALID] = "invalid",
    };
    text_builder_printf(text, "(%s", kinds[selector->kind]);
    write_expressions(text, &selector->expressions);
    text_builder_printf(text, ")");
}

static void write_selection(struct text_builder *text, const struct solver_shape *shape)
{
    for (size_t i = 0; i < shape->node_selector.count; i++)
        text_builder_printf(text, "select %s=%s; ", shape->node_selector.items[i].key,
                            shape->node_selector.items[i].value);
    for (size_t i = 0; i < shape->required_count; i++) {
        text_builder_printf(text, "require ");
        write_expressions(text, &shape->required[i]);
        text_builder_printf(text, "; ");
    }
    for (size_t i = 0; i < shape->preferred_count; i++) {
        text_builder_printf(text, "prefer %d ", shape->preferred[i].weight);
        write_expressions(text, &shape->preferred[i].expressions);
        text_builder_printf(text, "; ");
    }
}

static void write_spreads(struct text_builder *text, const struct solver_shape *shape)
{
    for (size_t i = 0; i < shape->spread_count; i++) {
        const struct solver_spread *spread = &shape->spreads[i];
        text_builder_printf(text, "spread %s %d %d%s%s%s ", spread->key, spread->max_skew,
                            spread->min_domains, spread->hard ? " hard" : "",
                            spread->ignore_node_affinity ? " ignore-affinity" : "",
                            spread->honor_node_taints ? " honor-taints" : "");
        write_selector(text, &spread->selector);
        for (size_t j = 0; j < spread->match_label_key_count; j++)
            text_builder_printf(text, " match %s", spread->match_label_keys[j]);
        text_builder_printf(text, "; ");
    }
}

static void write_affinities(struct text_builder *text, const struct solver_shape *shape)
{
    for (size_t i = 0; i < shape->affinity_count; i++) {
        const struct solver_pod_affinity *affinity = &shape->affinities[i];
        text_builder_printf(text, "%s %s %d ", affinity->anti ? "apart" : "together", affinity->key,
                            affinity->required ? -1 : affinity->weight);
        write_selector(text, &affinity->selector);
        for (size_t j = 0; j < affinity->namespace_count; j++)
            text_builder_printf(text, " in %s", affinity->namespaces[j]);
        if (affinity->namespace_selector.kind != SOLVER_SELECTOR_ABSENT) {
            text_builder_printf(text, " in ");
            write_selector(text, &affinity->namespace_selector);
        }
        text_builder_printf(text, "; ");
    }
}

static void write_rest(struct text_builder *text, const struct solver_shape *shape)
{
    static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
    for (size_t i = 0; i < shape->toleration_count; i++) {
        const struct solver_toleration *toleration = &shape->tolerations[i];
        text_builder_printf(text, "tolerate %s%s%s:%s; ", toleration->key,
                            toleration->exists ? ""
                            : toleration->gt   ? ">"
                            : toleration->lt   ? "<"
                                               : "=",
                            toleration->value,
                            toleration->any_effect ? "*" : effects[toleration->effect]);
    }
    for (size_t i = 0; i < shape->host_port_count; i++)
        text_builder_printf(text, "port %s:%u/%s; ", shape->host_ports[i].ip,
                            shape->host_ports[i].port, shape->host_ports[i].protocol);
    if (shape->needs_devices)
        text_builder_printf(text, "devices; ");
}

static void shapes_say_what_pods_ask_for(void)
{
#define AFFINITY(more) "affinity: {" more "}"
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"
    static const struct {
        const char *spec, *shape;
    } cases[] = {
        {"nodeSelector: {disk: ssd}", "select disk=ssd; "},
        {AFFINITY("nodeAffinity: {" REQUIRED
                  ": {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: NotIn, values: "
                  "[x, z]}, {key: b, operator: Gt, values: ['3']}]}, {matchExpressions: [{key: c, "
                  "operator: Exists}]}]}, " PREFERRED
                  ": [{weight: 7, preference: {matchExpressions: [{key: d, operator: "
                  "DoesNotExist}]}}]}"),
         "require a NotIn x z & b Gt 3; require c Exists; prefer 7 d DoesNotExist; "},
        {"topologySpreadConstraints: [{maxSkew: 2, minDomains: 3, topologyKey: zone, "
         "whenUnsatisfiable: DoNotSchedule, nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor, "
         "matchLabelKeys: [hash], labelSelector: {matchLabels: {app: web}, matchExpressions: "
         "[{key: tier, operator: In, values: [a, b]}]}}]",
         "spread zone 2 3 hard ignore-affinity honor-taints (app In web & tier In a b) match "
         "hash; "},
        {"topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "
         "ScheduleAnyway}]",
         "spread zone 1 0 (absent); "},
        {AFFINITY("podAffinity: {" REQUIRED
                  ": [{topologyKey: zone, labelSelector: {}, namespaces: [x, z]}]}, "
                  "podAntiAffinity: {" PREFERRED
                  ": [{weight: 9, podAffinityTerm: {topologyKey: host, labelSelector: "
                  "{matchLabels: {app: web}}, namespaceSelector: {matchLabels: {team: a}}}}]}"),
         "together zone -1 () in x in z; apart host 9 (app In web) in (team In a); "},
        {AFFINITY("podAntiAffinity: {" REQUIRED
                  ": [{topologyKey: zone, labelSelector: {matchLabels: {app: web}}, "
                  "matchLabelKeys: [hash, absent], mismatchLabelKeys: [tenant]}]}"),
         "apart zone -1 (app In web & hash In h1 & tenant NotIn t1); "},
        {"tolerations: [{key: gpu, operator: Exists, effect: NoSchedule}, {operator: Exists}, "
         "{key: team, value: a}, {key: sla, operator: Gt, value: '1'}, {key: sla, operator: Lt, "
         "value: '9'}, {key: soft, effect: PreferNoSchedule}]",
         "tolerate gpu:NoSchedule; tolerate :*; tolerate team=a:*; tolerate sla>1:*; tolerate "
         "sla<9:*; tolerate soft=:PreferNoSchedule; "},
        {"containers: [{name: c, ports: [{containerPort: 80, hostPort: 8080, hostIP: 10.0.0.1, "
         "protocol: UDP}, {containerPort: 81}]}]",
         "port 10.0.0.1:8080/UDP; "},
        {"hostNetwork: true, containers: [{name: c, ports: [{containerPort: 81}]}]", "port :81/; "},
        {"resourceClaims: [{name: gpu}]", "devices; "},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin();
        struct pod_shape shape;
        read_shape(cases[i].spec, &shape);
        struct text_builder text = {.arena = fixture.arena};
        write_selection(&text, &shape.solver);
        write_spreads(&text, &shape.solver);
        write_affinities(&text, &shape.solver);
        write_rest(&text, &shape.solver);
        ASSERT_TEXT(text_builder_text(&text), cases[i].shape);
        ASSERT_INT(shape.fault.message.size, 0);
        end();
    }
}

static void shapes_say_what_is_wrong(void)
{
#define SPREAD_OF(more) "topologySpreadConstraints: [{topologyKey: zone, " more "}]"
#define NODE_TERMS(terms) AFFINITY("nodeAffinity: {" REQUIRED ": {nodeSelectorTerms: [" terms "]}}")
#define TERMS_PATH "spec.affinity.nodeAffinity." REQUIRED ".nodeSelectorTerms"
#define ONE_OF_NODES "it must be In, NotIn, Exists, DoesNotExist, Gt or Lt"
#define SPREAD_PATH "spec.topologySpreadConstraints[0]."
#define COUNTED "; it must be a whole number from 1 to 2147483647"
    static const struct {
        const char *spec, *fault;
    } cases[] = {
        {NODE_TERMS("{matchExpressions: [{key: a, operator: In}]}"), TERMS_PATH
         "[0].matchExpressions[0].values is missing; it must be a list of one string or more"},
        {NODE_TERMS("{matchExpressions: [{key: a, operator: In, values: []}]}"),
         TERMS_PATH "[0].matchExpressions[0].values is an empty list; it must be a list of one "
                    "string or more"},
        {NODE_TERMS("{matchExpressions: [{key: a, operator: Gte, values: ['1']}]}"),
         TERMS_PATH "[0].matchExpressions[0].operator is \"Gte\"; " ONE_OF_NODES},
        {NODE_TERMS("{matchExpressions: [{key: a, operator: Gt, values: [much]}]}"),
         TERMS_PATH "[0].matchExpressions[0].values[0] is \"much\"; it must be a whole number in "
                    "quotes, and the only value of Gt"},
        {NODE_TERMS("{matchExpressions: [{key: a, operator: In, values: [3]}]}"),
         TERMS_PATH "[0].matchExpressions[0].values[0] is 3; it must be a string"},
        {NODE_TERMS("{matchExpressions: [{operator: Exists}]}"),
         TERMS_PATH "[0].matchExpressions[0].key is missing; it must be the key of a label"},
        {NODE_TERMS(""), TERMS_PATH " is an empty list; it must be a list of one term or more"},
        {"nodeSelector: {disk: 1}", "spec.nodeSelector.disk is 1; it must be a string"},
        {SPREAD_OF("maxSkew: 0"), SPREAD_PATH "maxSkew is 0" COUNTED},
        {SPREAD_OF("maxSkew: -1"), SPREAD_PATH "maxSkew is -1" COUNTED},
        {SPREAD_OF("maxSkew: one"), SPREAD_PATH "maxSkew is \"one\"" COUNTED},
        {SPREAD_OF("maxSkew: 1, minDomains: 0"), SPREAD_PATH "minDomains is 0" COUNTED},
        {SPREAD_OF("maxSkew: 1, whenUnsatisfiable: Never"),
         SPREAD_PATH "whenUnsatisfiable is \"Never\"; it must be DoNotSchedule or ScheduleAnyway"},
        {SPREAD_OF("labelSelector: {matchExpressions: [{key: a, operator: Gt, values: ['1']}]}"),
         SPREAD_PATH "labelSelector.matchExpressions[0].operator is \"Gt\"; it must be In, NotIn, "
                     "Exists or DoesNotExist"},
        {SPREAD_OF("labelSelector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}"),
         SPREAD_PATH "labelSelector.matchExpressions[0].values is a list; it must be absent, since "
                     "Exists takes no values"},
        {SPREAD_OF("labelSelector: [a]"),
         SPREAD_PATH "labelSelector is a list; it must be a map with matchLabels or "
                     "matchExpressions"},
        {AFFINITY("podAffinity: {" REQUIRED
                  ": [{topologyKey: zone, namespaceSelector: {matchLabels: {team: 1}}}]}"),
         "spec.affinity.podAffinity." REQUIRED "[0].namespaceSelector.matchLabels.team is 1; it "
         "must be a string"},
        {"tolerations: [{key: a, operator: Maybe}]",
         "spec.tolerations[0].operator is \"Maybe\"; it must be Exists, Equal, Gt or Lt"},
        {"tolerations: [{key: a, effect: NoWay}]",
         "spec.tolerations[0].effect is \"NoWay\"; it must be NoSchedule, PreferNoSchedule or "
         "NoExecute"},
        {"containers: [{name: c, resources: {requests: {memory: 8E}}}]",
         "the request of memory is \"8E\", which is too large: it may be 9.2P at most"},
        {"containers: [{name: c, resources: {requests: {cpu: 5P}}}, {name: d, resources: "
         "{requests: {cpu: 5P}}}]",
         "the pod's requests of cpu together are too large: they may be 9.2P at most"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin();
        struct pod_shape shape;
        read_shape(cases[i].spec, &shape);
        ASSERT_TEXT(shape.fault.message, cases[i].fault);
        CU_ASSERT_TRUE(shape.fault.broken);
        CU_ASSERT_TRUE(objects_are_kept() || shape.fault.place.column > 82);
        end();
    }
}

static void shapes_say_that_nothing_is_bought(void)
{
    static const struct {
        const char *spec, *why;
    } cases[] = {
        {"nodeSelector: {example.karpenter.sh/x: v}",
         "Karpenter does not look at pods that ask for example.karpenter.sh/x"},
        {"nodeSelector: {kubernetes.io/hostname: n1}",
         "Karpenter does not look at pods that ask for kubernetes.io/hostname"},
        {NODE_TERMS("{matchExpressions: [{key: karpenter.sh/nodepool, operator: DoesNotExist}]}"),
         "the pod asks for a node without karpenter.sh/nodepool, so Karpenter leaves it alone"},
        {"nodeSelector: {notkarpenter.sh/x: v}", ""},
        {"nodeSelector: {karpenter.k8s.aws/instance-family: m5}", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin();
        struct pod_shape shape;
        read_shape(cases[i].spec, &shape);
        ASSERT_TEXT(shape.nodes_only.message, cases[i].why);
        ASSERT_INT(shape.fault.message.size, 0);
        end();
    }
}

/* ---- the cluster ---- */

static void read_cluster(const char *const *documents, size_t count, struct cluster *cluster)
{
    const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, count);
    const struct simulation_settings settings = {.no_extended_resource_toleration = true};
    cluster_read(snapshot, catalog_builtin(fixture.arena), &settings, fixture.arena, cluster,
                 &fixture.problems);
}

static void objects_that_say_nonsense_are_left_out(void)
{
    static const char *const documents[] = {
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {limits: {cpu: "
        "many}}}",
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: b},\nspec: {template: "
        "{spec: {requirements: [{key: x, operator: Among}]}}}}",
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: c}}",
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: d},\nspec: {template: "
        "{spec: {expireAfter: 30d}}}}",
        "{apiVersion: v1, kind: Node, metadata: {name: n1},\nstatus: {allocatable: {cpu: -1}}}",
        "{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 1}}}",
        "{apiVersion: v1, kind: Node, metadata: {name: n3},\nstatus: {capacity: {memory: '1e20'}}}",
        "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d},\nspec: {template: {spec: "
        "{tolerations: [{operator: Any}]}}}}",
    };
    static const struct {
        unsigned line, column;
        const char *what;
    } expected[] = {
        {1, 89,
         "NodePool a is left out: spec.limits.cpu is \"many\", which is no quantity of 0 or more"},
        {2, 60,
         "NodePool b is left out: spec.template.spec.requirements[0].operator is \"Among\"; it "
         "must "
         "be In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte"},
        {2, 39,
         "NodePool d is left out: spec.template.spec.expireAfter is \"30d\"; it must be hours, "
         "minutes and seconds such as 720h or 1h30m, or Never"},
        {2, 29,
         "Node n1 is left out: status.allocatable.cpu is \"-1\", which is no quantity of 0 or "
         "more"},
        {2, 29,
         "Node n3 is left out: status.capacity.memory is \"1e20\", which is too large: it may be "
         "9.2E at most"},
        {2, 51,
         "DaemonSet shop/d is left out: spec.template.spec.tolerations[0].operator is \"Any\"; it "
         "must be Exists, Equal, Gt or Lt"},
    };
    begin();
    struct cluster cluster;
    read_cluster(documents, COUNT_OF(documents), &cluster);
    ASSERT_INT(cluster.pool_count, 1);
    ASSERT_INT(cluster.state_nodes.count, 1);
    ASSERT_INT(cluster.daemons.count, 0);
    ASSERT_INT(fixture.problems.count, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected) && i < fixture.problems.count; i++) {
        ASSERT_TEXT(text_of(fixture.problems.items[i].what), expected[i].what);
        if (objects_are_kept())
            continue;
        ASSERT_INT(fixture.problems.items[i].place.line, expected[i].line);
        ASSERT_INT(fixture.problems.items[i].place.column, expected[i].column);
    }
    end();
}

static void nodes_that_start_take_what_their_claims_say(void)
{
    static const char *const documents[] = {
        "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: c1, labels: {a: claim}}, "
        "status: {nodeName: n1, capacity: {cpu: 4, nvidia.com/gpu: 1}, allocatable: {cpu: 3, "
        "nvidia.com/gpu: 1}}}",
        "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {a: node}}, status: {capacity: "
        "{cpu: 4, nvidia.com/gpu: 0}, allocatable: {cpu: 3500m, nvidia.com/gpu: 0}}}",
    };
    begin();
    struct cluster cluster;
    read_cluster(documents, COUNT_OF(documents), &cluster);
    CU_ASSERT_FATAL(cluster.state_nodes.count == 1);
    const struct state_node *state_node = &cluster.state_nodes.items[0];
    ASSERT_TEXT(text_of(state_node->node_name), "n1");
    ASSERT_TEXT(text_of(label_of(state_node->labels, "a")), "claim");
    ASSERT_TEXT(text_of(label_of(state_node->labels, "kubernetes.io/hostname")), "c1");
    ASSERT_INT(named_amount_of(&state_node->allocatable, "cpu"), 3500);
    ASSERT_INT(named_amount_of(&state_node->allocatable, "nvidia.com/gpu"), 1);
    CU_ASSERT_FALSE(state_node->initialized);
    end();
}

static void pools_are_labelled_with_their_class(void)
{
    static const char document[] =
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {weight: 7, "
        "limits: {cpu: 1500m, memory: 1Ki, nodes: 3}, template: {metadata: {labels: {team: x}}, "
        "spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: fast}, "
        "taints: [{key: t, effect: NoExecute}], startupTaints: [{key: s, effect: NoSchedule}]}}}}";
    static const char *const documents[] = {document};
    begin();
    struct cluster cluster;
    read_cluster(documents, 1, &cluster);
    CU_ASSERT_FATAL(cluster.pool_count == 1);
    const struct cluster_pool *pool = &cluster.pools[0];
    ASSERT_TEXT(text_of(label_of(pool->labels, "karpenter.k8s.aws/ec2nodeclass")), "fast");
    ASSERT_TEXT(text_of(label_of(pool->labels, "team")), "x");
    ASSERT_INT(pool->weight, 7);
    ASSERT_INT(pool->taints.count, 1);
    ASSERT_INT(named_amount_of(&pool->limits, "cpu"), 1500);
    ASSERT_INT(named_amount_of(&pool->limits, "memory"), 1024);
    ASSERT_INT(named_amount_of(&pool->limits, "nodes"), 3);
    end();
}

/* The DaemonSet's controller pins each pod to its node; what the template requires is asked of
 * every node. */
static void daemons_require_what_their_template_does(void)
{
#define NODE_AFFINITY(key)                                                                        \
    "affinity: {nodeAffinity: {" REQUIRED ": {nodeSelectorTerms: [{matchExpressions: [{key: " key \
    ", operator: Exists}]}]}}}"
    static const char *const documents[] = {
        "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent}, spec: {template: {spec: "
        "{" NODE_AFFINITY("gpu") "}}}}",
        "{apiVersion: v1, kind: Pod, metadata: {name: agent-x, ownerReferences: [{apiVersion: "
        "apps/v1, kind: DaemonSet, name: agent, controller: true}]}, spec: {nodeName: n1, "
        "tolerations: [{operator: Exists}], " NODE_AFFINITY("pinned") "}}",
    };
    begin();
    struct cluster cluster;
    read_cluster(documents, COUNT_OF(documents), &cluster);
    CU_ASSERT_FATAL(cluster.daemons.count == 1);
    const struct solver_shape *shape = &cluster.daemons.items[0].shape.solver;
    ASSERT_INT(shape->toleration_count, 1);
    CU_ASSERT_FATAL(shape->required_count == 1 && shape->required[0].count == 1);
    ASSERT_TEXT(text_of(shape->required[0].items[0].key), "gpu");
    end();
}

/* Where no driver has said what it attaches, the type says it. */
static void attach_limits_come_from_drivers_or_types(void)
{
#define M5(name)                                                                               \
    "{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {karpenter.sh/nodepool: " \
    "default, node.kubernetes.io/instance-type: m5.large}}}"
    static const char *const documents[] = {
        M5("n1"),
        M5("n2"),
        M5("n3"),
        "{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n2}, spec: {drivers: "
        "[{name: ebs.csi.aws.com}]}}",
        "{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n3}, spec: {drivers: "
        "[{name: x, allocatable: {}}, {name: ebs.csi.aws.com, allocatable: {count: 7}}]}}",
    };
    begin();
    struct cluster cluster;
    read_cluster(documents, COUNT_OF(documents), &cluster);
    CU_ASSERT_FATAL(cluster.state_nodes.count == 3);
    struct state_node *state_nodes = cluster.state_nodes.items;
    for (size_t i = 0; i < 3; i++)
        state_node_describe(&cluster, &state_nodes[i]);
    CU_ASSERT_FATAL(state_nodes[0].attach_limit_count == 1);
    CU_ASSERT_TRUE(state_nodes[0].attach_limits[0].count > 0);
    ASSERT_INT(state_nodes[1].attach_limit_count, 0);
    CU_ASSERT_FATAL(state_nodes[2].attach_limit_count == 1);
    ASSERT_INT(state_nodes[2].attach_limits[0].count, 7);
    end();
}

const struct unit_test unit_tests[] = {
    {"attach limits come from drivers or types", attach_limits_come_from_drivers_or_types},
    {"shapes say what pods ask for", shapes_say_what_pods_ask_for},
    {"shapes say what is wrong", shapes_say_what_is_wrong},
    {"shapes say that nothing is bought", shapes_say_that_nothing_is_bought},
    {"objects that say nonsense are left out", objects_that_say_nonsense_are_left_out},
    {"nodes that start take what their claims say", nodes_that_start_take_what_their_claims_say},
    {"pools are labelled with their class", pools_are_labelled_with_their_class},
    {"daemons require what their template does", daemons_require_what_their_template_does},
    {NULL, NULL},
};
