/* The rail placeable: pods that nothing could ever run, and what does not count. */
#include "rail_catalog.h"

#define POD(spec) "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {" spec "}}"
#define ASKS(requests) "containers: [{name: m, resources: {requests: {" requests "}}}]"
#define ANY ASKS("cpu: 1")
#define POOL(name, more, requirements)                                                       \
    "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: {" \
    "limits: {cpu: 1}, template: {metadata: {labels: {pool: " name "}}, spec: {" more        \
    "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: d}, requirements: "  \
    "[" requirements "]}}}}\n"
#define FAMILY(family) \
    "{key: karpenter.k8s.aws/instance-family, operator: In, values: [" family "]}"
#define ZONES "{key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a]}"

/* The largest m5 has 96 cpu, the Node, which is full, 200. */
static const char cluster[] = POOL("general", "", FAMILY("m5") ", " ZONES) POOL(
    "gpu", "taints: [{key: nvidia.com/gpu, effect: NoSchedule}], ",
    FAMILY("g5")) "---\n{apiVersion: v1, kind: Node, metadata: {name: big, labels: "
                  "{kubernetes.io/hostname: big, "
                  "rack: r1}}, status: {capacity: {cpu: 200, memory: 1Ti, pods: 110}, allocatable: "
                  "{cpu: 200, "
                  "memory: 1Ti, pods: 110}}}\n"
                  "---\n{apiVersion: v1, kind: Pod, metadata: {name: full}, spec: {nodeName: "
                  "big, " ASKS("cpu: 200") "}}\n"
                                           "---\n{apiVersion: v1, kind: PersistentVolume, "
                                           "metadata: {name: pv}, spec: {claimRef: "
                                           "{namespace: default, name: far}, csi: {driver: "
                                           "ebs.csi.aws.com}, nodeAffinity: {required: "
                                           "{nodeSelectorTerms: [{matchExpressions: [{key: "
                                           "topology.kubernetes.io/zone, operator: In, "
                                           "values: [eu-west-1c]}]}]}}}}\n"
                                           "---\n{apiVersion: v1, kind: PersistentVolumeClaim, "
                                           "metadata: {name: far, annotations: "
                                           "{pv.kubernetes.io/bind-completed: 'yes'}}, spec: "
                                           "{volumeName: pv}}\n"
                                           "---\n{apiVersion: v1, kind: PersistentVolume, "
                                           "metadata: {name: torn}, spec: {claimRef: "
                                           "{namespace: default, name: torn}, csi: {driver: "
                                           "ebs.csi.aws.com}, nodeAffinity: {required: "
                                           "{nodeSelectorTerms: [{matchExpressions: [{key: "
                                           "topology.kubernetes.io/zone, operator: In, "
                                           "values: [eu-west-1a]}, {key: "
                                           "topology.kubernetes.io/zone, operator: In, values: "
                                           "[eu-west-1b]}]}]}}}}\n"
                                           "---\n{apiVersion: v1, kind: PersistentVolumeClaim, "
                                           "metadata: {name: torn, annotations: "
                                           "{pv.kubernetes.io/bind-completed: 'yes'}}, spec: "
                                           "{volumeName: torn}}\n";

#define OF_DAEMON_SET_ON(requests, more)                                                          \
    "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a}, spec: {template: {spec: {" ASKS( \
        requests) ", " more "}}}}"
#define OF_DAEMON_SET(requests) OF_DAEMON_SET_ON(requests, "tolerations: []")

static void pods_are_tried_on_pools_and_nodes(void)
{
    static const struct rail_case cases[] = {
        {POD(ANY), ""},
        /* beyond the limit of the pool, which does not count */
        {POD(ASKS("cpu: 90")), ""},
        /* no type has it, and the Node would, were it empty */
        {POD(ASKS("cpu: 190")), ""},
        {POD(ASKS("cpu: 201")), "deny spec "},
        {POD(ASKS("cpu: 190") ", nodeSelector: {pool: general}"), "deny spec "},
        {POD(ANY ", nodeSelector: {pool: general}"), ""},
        {POD(ANY ", nodeSelector: {rack: r1}"), ""},
        {POD(ANY ", nodeSelector: {rack: r2}"), "deny spec "},
        {POD(ANY ", nodeSelector: {topology.kubernetes.io/zone: eu-west-1a}"), ""},
        {POD(ANY ", nodeSelector: {topology.kubernetes.io/zone: eu-west-1c}"), "deny spec "},
        {POD(ANY ", nodeSelector: {kubernetes.io/arch: arm64}"), "deny spec "},
        /* NotIn and DoesNotExist of keys that nobody has */
        {POD(ANY ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                 "{nodeSelectorTerms: [{matchExpressions: [{key: x, operator: DoesNotExist}, {key: "
                 "y, operator: NotIn, values: [a]}]}]}}}"),
         ""},
        /* one of two alternatives */
        {POD(ANY ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                 "{nodeSelectorTerms: [{matchExpressions: [{key: x, operator: Exists}]}, "
                 "{matchExpressions: [{key: pool, operator: Exists}]}]}}}"),
         ""},
        /* an empty alternative selects no node */
        {POD(ANY ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                 "{nodeSelectorTerms: [{}]}}}"),
         "deny spec "},
        {POD(ANY
             ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
             "{nodeSelectorTerms: [{}, {matchExpressions: [{key: pool, operator: Exists}]}]}}}"),
         ""},
        /* the API server adds the toleration */
        {POD(ASKS("cpu: 1, nvidia.com/gpu: 1")), ""},
        {POD(ASKS("cpu: 1, nvidia.com/gpu: 1") ", tolerations: [{key: nvidia.com/gpu, operator: "
                                               "Exists}]"),
         ""},
        {POD(ASKS("cpu: 1, nvidia.com/gpu: 9") ", tolerations: [{operator: Exists}]"),
         "deny spec "},
        {POD(ANY ", volumes: [{name: v, persistentVolumeClaim: {claimName: far}}]"), "deny spec "},
        /* zones that contradict each other, of which zone-pin tells */
        {POD(ANY ", volumes: [{name: v, persistentVolumeClaim: {claimName: torn}}]"), ""},
        /* other pods, preferences, devices and what is settled do not count */
        {POD(ANY ", affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                 "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: "
                 "none}}}]}}"),
         ""},
        {POD(ANY ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: nowhere, "
                 "whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]"),
         ""},
        {POD(ASKS("cpu: 201") ", resourceClaims: [{name: gpu, resourceClaimName: gpu}]"), ""},
        {POD(ASKS("cpu: 201") ", nodeName: big"), ""},
        {POD(ASKS("cpu: 201") ", nodeName: b"), ""},
        {POD(ASKS("cpu: 201") ", nodeName: ''"), "deny spec "},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a, ownerReferences: [{apiVersion: apps/v1, "
         "kind: DaemonSet, name: d, uid: u, controller: true}]}, spec: {" ASKS("cpu: 201") "}}",
         "deny spec "}, /* as anybody can write it: policy_daemon_pods.c */
        {POD("containers: []"), ""},
    };
    rail_table_run(
        &(struct rail_table){"placeable: {mode: enforce}", cluster, cases, COUNT_OF(cases)});
}

/* kube-scheduler makes a claim of such a resource. */
static void what_a_device_class_has_is_not_decided(void)
{
#define BY_CLASS "deviceclass.resource.kubernetes.io/tpu"
    static const struct rail_case cases[] = {
        {POD(ASKS("cpu: 1, a.com/tpu: 1")), ""},
        {POD(ASKS("cpu: 1, a.com/tpu: 1") ", nodeSelector: {pool: flex}"), ""},
        {POD(ASKS("cpu: 1, " BY_CLASS ": 1")), ""},
        {POD(ASKS("cpu: 1, a.com/other: 1")), "deny spec "},
        {POD(ASKS("cpu: 201")), "deny spec "},
    };
    struct arena *arena = arena_create(1 << 20);
    struct text state = arena_printf(
        arena,
        "%s---\n{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: tpu}, spec: "
        "{extendedResourceName: a.com/tpu}}\n",
        cluster);
    rail_table_run(
        &(struct rail_table){"placeable: {mode: enforce}", state.data, cases, COUNT_OF(cases)});
    arena_destroy(arena);
    static const struct rail_case without[] = {
        {POD(ASKS("cpu: 1, a.com/tpu: 1")), "deny spec "},
        {POD(ASKS("cpu: 1, " BY_CLASS ": 1")), ""},
    };
    rail_table_run(
        &(struct rail_table){"placeable: {mode: enforce}", cluster, without, COUNT_OF(without)});
}

static void what_accelerators_adds_counts(void)
{
#define AS_WRITTEN ", placeable: {mode: enforce}}, extendedResourceToleration: false, karpenter: {"
    static const struct {
        const char *rails, *found;
    } rows[] = {
        {"accelerators: {addToleration: true}" AS_WRITTEN, ""},
        {"accelerators: {addToleration: true, mode: warn}" AS_WRITTEN, "deny spec "},
        {"accelerators: {addToleration: false, mode: warn}" AS_WRITTEN,
         "deny spec \nwarn spec.tolerations nvidia.com/gpu"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct rail_case cases[] = {{POD(ASKS("cpu: 1, nvidia.com/gpu: 1")), rows[i].found}};
        rail_table_run(&(struct rail_table){rows[i].rails, cluster, cases, 1});
    }
}

static void pools_that_are_given_the_benefit_of_the_doubt(void)
{
    static const char others[] =
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: azure}, spec: {template: "
        "{spec: {taints: [{key: azure, effect: NoSchedule}], nodeClassRef: {group: "
        "karpenter.azure.com, kind: AKSNodeClass, name: d}, requirements: []}}}}\n"
        "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: static}, spec: "
        "{replicas: 3, template: {metadata: {labels: {pool: static}}, spec: {nodeClassRef: {group: "
        "karpenter.k8s.aws, kind: EC2NodeClass, name: d}, requirements: ["
        "{key: pool, operator: Exists}]}}}}\n";
    static const struct rail_case cases[] = {
        {POD(ASKS("cpu: 201")), ""},
        {POD(ANY ", nodeSelector: {pool: static}"), ""},
        {POD(ANY ", nodeSelector: {pool: other}"), "deny spec "},
        {POD(ANY ", nodeSelector: {karpenter.sh/nodepool: azure}"), "deny spec "},
        {POD(ANY ", nodeSelector: {karpenter.sh/nodepool: azure}, tolerations: [{key: azure, "
                 "operator: Exists}]"),
         ""},
    };
    rail_table_run(
        &(struct rail_table){"placeable: {mode: enforce}", others, cases, COUNT_OF(cases)});
    /* of these types the catalogue knows no more than the names */
    static const char unknown[] =
        POOL("flex", "", FAMILY("m8g-flex")) POOL("m", "taints: [{key: m, effect: NoSchedule}], ",
                                                  "{key: karpenter.k8s.aws/instance-category, "
                                                  "operator: In, values: [m]}");
    static const struct rail_case pods[] = {
        {POD(ANY ", nodeSelector: {pool: flex}"), ""},
        {POD(ANY ", nodeSelector: {pool: flex, kubernetes.io/arch: arm64}"), ""},
        {POD(ANY ", nodeSelector: {pool: flex, karpenter.k8s.aws/instance-family: m5}"),
         "deny spec "},
        {POD(ASKS("cpu: 1, nvidia.com/gpu: 1") ", nodeSelector: {pool: flex}"), "deny spec "},
        {POD(ASKS("cpu: 1, example.com/foo: 1") ", nodeSelector: {pool: flex}"), "deny spec "},
        {POD(ANY ", nodeSelector: {pool: m, karpenter.k8s.aws/instance-family: m8g-flex}"),
         "deny spec "},
        {POD(ANY ", nodeSelector: {pool: m, karpenter.k8s.aws/instance-family: m8g-flex}, "
                 "tolerations: [{operator: Exists}]"),
         ""},
    };
    rail_table_run(
        &(struct rail_table){"placeable: {mode: enforce}", unknown, pods, COUNT_OF(pods)});
}

#define REQUIRES(terms)                                                          \
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: " \
    "{nodeSelectorTerms: [" terms "]}}}"
#define KEY(key, rest) "{matchExpressions: [{key: " key ", operator: " rest "}]}"
#define SELECTS(key, value) POD(ANY ", nodeSelector: {" key ": " value "}")
#define EKS "eks.amazonaws.com/"
#define NODE_OF(name, labels)                                                                      \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {" labels "}}, status: " \
    "{capacity: {cpu: 4, memory: 8Gi, pods: 50}, allocatable: {cpu: 4, memory: 8Gi, pods: 50}}}\n"

/* Node groups, Fargate and other provisioners make nodes, too: where none of theirs is to be seen,
 * it is not known that there is none. */
static void nodes_that_others_make(void)
{
    static const char pools[] = POOL("general", "", FAMILY("m5") ", " ZONES);
    static const char managed[] = POOL("general", "", FAMILY("m5") ", " ZONES)
        NODE_OF("node-1", "karpenter.sh/nodepool: general");
    static const char group[] = POOL("general", "", FAMILY("m5") ", " ZONES)
        NODE_OF("node-1", "karpenter.sh/nodepool: general")
            NODE_OF("node-2", EKS "nodegroup: system")
                NODE_OF("node-3", EKS "compute-type: fargate");
#define BY(path) "undecided spec." path " "
#define BY_LABEL(key) BY("nodeSelector[" key "]") key
#define BY_TERM(i)                                                             \
    BY("affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution." \
       "nodeSelectorTerms[" i "].matchExpressions[0]")
    static const struct rail_case cases[] = {
        {SELECTS(EKS "nodegroup", "system"), BY_LABEL(EKS "nodegroup")},
        {SELECTS("node-role.kubernetes.io/worker", "''"),
         BY_LABEL("node-role.kubernetes.io/worker")},
        {SELECTS(EKS "compute-type", "hybrid"), BY_LABEL(EKS "compute-type")},
        {POD(ANY ", " REQUIRES(KEY(EKS "nodegroup", "Exists"))), BY_TERM("0") EKS "nodegroup"},
        {POD(ANY ", " REQUIRES(KEY("karpenter.sh/nodepool", "DoesNotExist"))),
         BY_TERM("0") "karpenter.sh/nodepool"},
        /* one of two ways */
        /* a node of its own for each pod */
        {SELECTS(EKS "compute-type", "fargate"), ""},
        {POD(ANY ", " REQUIRES(KEY(EKS "compute-type", "In, values: [fargate]"))), ""},
        {POD(ASKS("cpu: 201") ", schedulerName: fargate-scheduler"), ""},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {" EKS
         "fargate-profile: web}}, spec: {" ASKS("cpu: 201") "}}",
         ""},
        {SELECTS(EKS "nodegroup", "fargate"), BY_LABEL(EKS "nodegroup")},
        /* these ask for nothing of theirs, and a pool can be asked for no more than it has */
        {POD(ANY ", " REQUIRES(KEY(EKS "compute-type", "NotIn, values: [fargate]"))), ""},
        {POD(ANY ", " REQUIRES(KEY(EKS "nodegroup", "DoesNotExist"))), ""},
        {SELECTS("karpenter.sh/nodepool", "other"), "deny spec "},
        {SELECTS(EKS "instance-category", "c"), "deny spec "},
    };
    rail_table_run(
        &(struct rail_table){"placeable: {mode: enforce}", pools, cases, COUNT_OF(cases)});
    rail_table_run(
        &(struct rail_table){"placeable: {mode: enforce}", managed, cases, COUNT_OF(cases)});
    static const struct rail_case with_nodes[] = {
        {POD(ANY ", " REQUIRES(KEY("team", "Exists") ", " KEY(EKS "nodegroup", "In, values: [a]"))),
         BY_TERM("1") EKS "nodegroup"},
        {POD(ASKS("cpu: 201") ", schedulerName: default-scheduler"), "deny spec "},
        {SELECTS("team", "a"), "deny spec "},
        {SELECTS("node.kubernetes.io/instance-type", "c5.large"), "deny spec "},
        {POD(ASKS("cpu: 201") ", " REQUIRES(KEY(EKS "nodegroup", "NotIn, values: [a]"))),
         "deny spec "},
        {POD(ASKS("cpu: 201") ", " REQUIRES(KEY(EKS "nodegroup", "DoesNotExist"))), "deny spec "},
    };
    rail_table_run(&(struct rail_table){"placeable: {mode: enforce}", managed, with_nodes,
                                        COUNT_OF(with_nodes)});
    /* a node group may have what NodePools lack */
    static const struct rail_case without_nodes[] = {
        {POD(ANY ", " REQUIRES(KEY("team", "Exists") ", " KEY(EKS "nodegroup", "In, values: [a]"))),
         BY_TERM("0") "team"},
        {POD(ASKS("cpu: 201") ", schedulerName: default-scheduler"), "undecided spec "},
        {SELECTS("team", "a"), "undecided spec.nodeSelector.team team"},
        {SELECTS("node.kubernetes.io/instance-type", "c5.large"), "undecided spec "},
        {POD(ASKS("cpu: 201") ", " REQUIRES(KEY(EKS "nodegroup", "NotIn, values: [a]"))),
         "undecided spec "},
        {POD(ASKS("cpu: 1, nvidia.com/gpu: 1")), "undecided spec "},
        /* but not what is asked of the NodePools themselves */
        {SELECTS("pool", "general"), ""},
        {POD(ASKS("cpu: 201") ", nodeSelector: {pool: general}"), "deny spec "},
        {POD(ASKS("cpu: 201") ", nodeSelector: {karpenter.sh/capacity-type: spot}"), "deny spec "},
        /* nor what no machine has */
        {POD(ASKS("cpu: 5k")), "deny spec "},
        {POD(ASKS("nvidia.com/gpu: 99")), "deny spec "},
    };
    rail_table_run(&(struct rail_table){"placeable: {mode: enforce}", pools, without_nodes,
                                        COUNT_OF(without_nodes)});
    static const struct rail_case seen[] = {
        {SELECTS(EKS "nodegroup", "system"), ""},
        {SELECTS(EKS "nodegroup", "spot"), BY_LABEL(EKS "nodegroup")},
        /* where Fargate is, its nodes are not for others */
        {POD(ASKS("cpu: 5") ", nodeSelector: {" EKS "compute-type: fargate}"), ""},
        {POD(ASKS("cpu: 5") ", " REQUIRES(
             KEY("team", "Exists") ", " KEY(EKS "compute-type", "In, values: [fargate]"))),
         ""},
        {POD(ASKS("cpu: 5") ", " REQUIRES(
             KEY(EKS "compute-type", "NotIn, values: [fargate]")) ", nodeSelector: {team: a}"),
         "deny spec "},
        {POD(ANY ", " REQUIRES(KEY("karpenter.sh/nodepool", "DoesNotExist"))), ""},
        /* the node is there, and too small */
        {POD(ASKS("cpu: 5") ", nodeSelector: {" EKS "nodegroup: system}"), "deny spec "},
        {POD(ASKS("cpu: 5") ", " REQUIRES(KEY(EKS "nodegroup", "Exists"))), "deny spec "},
        {POD(ASKS("cpu: 5") ", " REQUIRES(KEY("karpenter.sh/nodepool", "DoesNotExist"))),
         "deny spec "},
    };
    rail_table_run(&(struct rail_table){"placeable: {mode: enforce}", group, seen, COUNT_OF(seen)});
    /* Karpenter itself, where it runs on Fargate */
    static const char fargate[] =
        POOL("general", "", FAMILY("m5") ", " ZONES) NODE_OF("node-1", EKS "compute-type: fargate");
    static const struct rail_case off_pools = {
        POD(ASKS("cpu: 5") ", " REQUIRES(KEY("karpenter.sh/nodepool", "DoesNotExist"))),
        BY_TERM("0") "karpenter.sh/nodepool"};
    rail_table_run(&(struct rail_table){"placeable: {mode: enforce}", fargate, &off_pools, 1});
    static const struct rail_words words[] = {
        {SELECTS(EKS "nodegroup", "system"),
         "It asks for nodes with the label " EKS "nodegroup, and none is visible that has it.",
         "Make the Nodes visible (--state DIR); those of a node group at zero cannot be seen."},
        {POD(ANY ", " REQUIRES(KEY("karpenter.sh/nodepool", "DoesNotExist"))),
         "It keeps off the nodes of NodePools, and no other Node is visible.",
         "Make the Nodes visible (--state DIR); those of a node group at zero cannot be seen."},
        /* the nearest that is a name is introduced */
        {SELECTS("node.kubernetes.io/instance-type", "c5.large"),
         "No NodePool and no Node can run this pod. NodePool general: the pod asks for c5.large; "
         "the NodePool allows karpenter.k8s.aws/instance-family m5; c5.large has c5 (nearest: "
         "m5.large); the only node lacks node.kubernetes.io/instance-type c5.large.",
         "Select m5.large, or widen the requirements of NodePool general."},
    };
    rail_words_run("placeable: {mode: enforce}", managed, words, COUNT_OF(words));
    /* beside a list that allows it */
    rail_words_run("placeable: {mode: enforce}, instance-types: {allow: {families: [c5, m5]}}",
                   managed, &words[2], 1);
}

/* Who tolerates a NodePool's taint is meant for it, whatever node groups there are. */
static void a_taint_tells_whom_a_pool_is_for(void)
{
    static const char pools[] =
        POOL("gpu", "taints: [{key: team, value: a, effect: NoSchedule}], ", FAMILY("g5"));
#define TOLERATES(what) ", tolerations: [{" what "}]"
    static const struct rail_case cases[] = {
        {POD(ASKS("nvidia.com/gpu: 9") TOLERATES("key: team, value: a")), "deny spec "},
        {POD(ASKS("nvidia.com/gpu: 9") TOLERATES("key: team, operator: Exists")), "deny spec "},
        {POD(ASKS("nvidia.com/gpu: 9") TOLERATES("key: team, value: b")), "undecided spec "},
        {POD(ASKS("nvidia.com/gpu: 9") TOLERATES("operator: Exists")), "undecided spec "},
    };
    rail_table_run(
        &(struct rail_table){"placeable: {mode: enforce}", pools, cases, COUNT_OF(cases)});
    /* one that keeps nobody out is for nobody */
    static const struct rail_case soft[] = {
        {POD(ASKS("nvidia.com/gpu: 9") TOLERATES("key: team, operator: Exists")),
         "undecided spec "},
    };
    rail_table_run(&(struct rail_table){
        "placeable: {mode: enforce}",
        POOL("gpu", "taints: [{key: team, value: a, effect: PreferNoSchedule}], ", FAMILY("g5")),
        soft, 1});
}

static void what_a_runtime_class_tolerates_is_not_seen(void)
{
#define OF_RUNTIME "runtimeClassName: gvisor, "
    static const struct rail_case cases[] = {
        {POD(ANY ", nodeSelector: {pool: gpu}"), "deny spec "},
        {POD(OF_RUNTIME ANY ", nodeSelector: {pool: gpu}"), ""},
        {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: "
         "{" OF_RUNTIME ANY ", nodeSelector: {pool: gpu}}}}}",
         ""},
        /* it takes nothing away */
        {POD(OF_RUNTIME ANY ", nodeSelector: {pool: none}"), "deny spec "},
        {POD(OF_RUNTIME ASKS("cpu: 300")), "deny spec "},
    };
    rail_table_run(
        &(struct rail_table){"placeable: {mode: enforce}", cluster, cases, COUNT_OF(cases)});
}

/* Of a pod that nothing is large enough for, NodePools need not be seen. */
static void what_no_type_is_large_enough_for(void)
{
    static const struct rail_words any[] = {
        {POD(ASKS("cpu: 5k")), "No instance type has 5000 cpu, so this pod would stay Pending.",
         "Ask for less than 896 cpu, or split the work over more pods."},
        {POD(ASKS("memory: 40Ti")),
         "No instance type has 40960Gi memory, so this pod would stay Pending.",
         "Ask for less than 32768Gi memory, or split the work over more pods."},
        {OF_DAEMON_SET("cpu: 5k"),
         "No instance type has 5000 cpu, so this DaemonSet runs on no new node.",
         "Ask for less than 896 cpu, or split the work over more pods."},
    };
    rail_words_run("placeable: {}", NULL, any, COUNT_OF(any));
#define WITH_LIST \
    "placeable: {}, instance-types: {allow: {families: [r5, g5], sizes: [large, xlarge]}}"
    static const struct rail_words allowed[] = {
        {POD(ASKS("cpu: 5")), "No allowed instance type has 5 cpu, so this pod would stay Pending.",
         "Ask for less than 4 cpu, or ask the owner of policy table for an exception."},
        {POD(ASKS("cpu: 4500m")),
         "No allowed instance type has 4500m cpu, so this pod would stay Pending.",
         "Ask for less than 4 cpu, or ask the owner of policy table for an exception."},
        {POD(ASKS("memory: 40Gi")),
         "No allowed instance type has 40Gi memory, so this pod would stay Pending.",
         "Ask for less than 32Gi memory, or ask the owner of policy table for an exception."},
        {POD(ASKS("cpu: 3, memory: 20Gi, nvidia.com/gpu: 1")),
         "No allowed instance type has 3 cpu and 20Gi memory and 1 nvidia.com/gpu, so this pod "
         "would stay Pending.",
         "Ask for less, or ask the owner of policy table for an exception."},
        {POD(ASKS("nvidia.com/gpu: 2")),
         "No allowed instance type has 2 nvidia.com/gpu, so this pod would stay Pending.",
         "Ask for at most 1 nvidia.com/gpu, or ask the owner of policy table for an exception."},
    };
    rail_words_run(WITH_LIST, NULL, allowed, COUNT_OF(allowed));
    static const struct rail_words more[] = {
        {POD(ASKS("memory: 41000Mi")),
         "No allowed instance type has 41000Mi memory, so this pod would stay Pending.",
         "Ask for less than 32Gi memory, or ask the owner of policy table for an exception."},
        {POD(ASKS("memory: 20Gi, nvidia.com/gpu: 1")),
         "No allowed instance type has 20Gi memory and 1 nvidia.com/gpu, so this pod would stay "
         "Pending.",
         "Ask for less, or ask the owner of policy table for an exception."}};
    rail_words_run(WITH_LIST, NULL, more, COUNT_OF(more));
    static const struct rail_words pairs[] = {
        {POD(ASKS("cpu: 10, nvidia.com/gpu: 1")),
         "No allowed instance type has 10 cpu and 1 nvidia.com/gpu, so this pod would stay "
         "Pending.",
         "Ask for less, or ask the owner of policy table for an exception."},
        {POD(ASKS("cpu: 14, memory: 100Gi")),
         "No allowed instance type has 14 cpu and 100Gi memory, so this pod would stay Pending.",
         "Ask for less, or ask the owner of policy table for an exception."}};
    rail_words_run("placeable: {}, instance-types: {allow: {types: [g5.xlarge, c5.4xlarge, "
                   "r5.4xlarge]}}",
                   NULL, pairs, 1);
    rail_words_run("placeable: {}, instance-types: {allow: {types: [c5.9xlarge, r5.2xlarge, "
                   "x1e.xlarge]}}",
                   NULL, &pairs[1], 1);
    /* a list of nothing lists nothing that is too small */
    static const struct rail_words none[] = {
        {POD(ASKS("cpu: 5k")), "No instance type has 5000 cpu, so this pod would stay Pending.",
         "Ask for less than 896 cpu, or split the work over more pods."}};
    rail_words_run("placeable: {}, instance-types: {deny: {types: ['*']}}", NULL, none, 1);
    static const struct rail_case held[] = {
        {POD(ASKS("cpu: 4, memory: 16Gi, nvidia.com/gpu: 1")), "undecided spec "},
        {POD(ASKS("cpu: many")), "undecided spec "},
        /* of accelerators that the list has none of, whoever runs them has an exception */
        {POD(ASKS("cpu: 90, aws.amazon.com/neuron: 16")), "undecided spec "},
        {POD("containers: [{name: m, resources: {claims: [{name: c}], requests: {cpu: 90}}}], "
             "resourceClaims: [{name: c, resourceClaimName: c}]"),
         "undecided spec "},
        {OF_DAEMON_SET("cpu: 4"), ""},
        {OF_DAEMON_SET("cpu: many"), ""},
    };
    rail_table_run(&(struct rail_table){WITH_LIST, NULL, held, COUNT_OF(held)});
}

static void a_daemon_set_leaves_room(void)
{
    static const char pools[] = POOL("small", "", FAMILY("t3")) POOL("large", "", FAMILY("m5"))
        POOL("own", "taints: [{key: own, effect: NoSchedule}], ", FAMILY("t3"));
    static const struct rail_case cases[] = {
        {OF_DAEMON_SET("cpu: 8"), ""},
        {OF_DAEMON_SET("cpu: 9"), "deny spec.template.spec small"},
        {OF_DAEMON_SET("cpu: 97"), "deny spec.template.spec large\ndeny spec.template.spec small"},
        {OF_DAEMON_SET_ON("cpu: 97", "nodeSelector: {pool: small}"),
         "deny spec.template.spec small"},
        {OF_DAEMON_SET_ON("cpu: 9", "nodeSelector: {pool: large}"), ""},
        {OF_DAEMON_SET_ON("cpu: 9", "nodeSelector: {pool: own}, tolerations: [{operator: Exists}]"),
         "deny spec.template.spec own"},
    };
    rail_table_run(
        &(struct rail_table){"placeable: {mode: enforce}", pools, cases, COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {OF_DAEMON_SET("memory: 33Gi"),
         "No instance type of NodePool small has 33Gi memory, so Karpenter buys no node there "
         "while "
         "this DaemonSet asks for it.",
         "Ask for less than 32Gi memory, or keep its pods off NodePool small with node affinity."},
    };
    rail_words_run("placeable: {mode: enforce}", pools, words, COUNT_OF(words));
}

#define AUTO_POOL                                                                         \
    "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: auto}, spec: "   \
    "{template: {spec: {nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: " \
    "default}, requirements: [{key: " EKS "instance-family, operator: In, values: [c5]}]}}}}\n"

/* What EKS Auto Mode makes says so; a pool of one's own does not. */
static void nodes_of_auto_mode_are_known_by_their_label(void)
{
    static const char own[] = POOL("own", "", FAMILY("m5"));
    static const char auto_mode[] = POOL("own", "", FAMILY("m5")) AUTO_POOL;
    static const struct rail_case cases[] = {
        {SELECTS(EKS "compute-type", "auto"), ""},
        {POD(ANY ", nodeSelector: {" EKS "compute-type: auto, " EKS "instance-family: c5}"), ""},
        {POD(ANY ", nodeSelector: {" EKS "compute-type: auto, " EKS "instance-family: m5}"),
         "deny spec "},
        {POD(ASKS("cpu: 201") ", nodeSelector: {" EKS "compute-type: auto}"), "deny spec "},
        {POD(ASKS("cpu: 201") ", " REQUIRES(KEY(EKS "compute-type", "In, values: [auto]"))),
         "deny spec "},
        /* general-purpose, too, by one of several terms */
        {POD(ASKS("cpu: 120") ", " REQUIRES(KEY("pool", "In, values: [own]") ", " KEY(
             "kubernetes.io/arch", "In, values: [amd64]"))),
         "undecided spec "},
        {POD(ASKS("cpu: 120") ", " REQUIRES(KEY("team", "DoesNotExist"))), "undecided spec "},
        {SELECTS(EKS "compute-type", "fargate"), ""},
        /* general-purpose, which the cluster brings along, takes it */
        {POD(ASKS("cpu: 120")), "undecided spec "},
        {POD(ANY ", nodeSelector: {karpenter.k8s.aws/instance-family: c6i}"), "undecided spec "},
        /* and these it does not */
        {POD(ANY ", nodeSelector: {karpenter.k8s.aws/instance-family: c6g}"), "deny spec "},
        {POD(ANY ", nodeSelector: {karpenter.k8s.aws/instance-family: c4}"), "deny spec "},
        {POD(ANY ", nodeSelector: {karpenter.k8s.aws/instance-family: g5}"), "deny spec "},
        {POD(ASKS("cpu: 120") ", nodeSelector: {pool: own}"), "deny spec "},
        {POD(ASKS("nvidia.com/gpu: 1") ", nodeSelector: {karpenter.sh/capacity-type: spot}"),
         "deny spec "},
    };
    rail_table_run(
        &(struct rail_table){"placeable: {mode: enforce}", auto_mode, cases, COUNT_OF(cases)});
    /* a live cluster shows it, where it is */
    static const struct rail_case live = {
        POD(ANY ", nodeSelector: {karpenter.k8s.aws/instance-family: c6i}"), "deny spec "};
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("placeable: {mode: enforce}", auto_mode, arena);
    world.of_cluster = true;
    rail_table_run_in(&world, &(struct rail_table){.cases = &live, .case_count = 1}, arena);
    arena_destroy(arena);
    /* so do files that have it */
    rail_table_run(&(struct rail_table){"placeable: {mode: enforce}",
                                        POOL("general-purpose", "", FAMILY("m5")) AUTO_POOL, &live,
                                        1});
    static const struct rail_case labels[] = {{SELECTS(EKS "compute-type", "auto"), ""}};
    rail_table_run(&(struct rail_table){"node-labels: {}", auto_mode, labels, 1});
    static const struct rail_case unseen[] = {
        {SELECTS(EKS "compute-type", "auto"), BY_LABEL(EKS "compute-type")}};
    rail_table_run(&(struct rail_table){"placeable: {mode: enforce}", own, unseen, 1});
    static const struct rail_case undecided[] = {
        {SELECTS(EKS "compute-type", "auto"), BY_LABEL(EKS "compute-type")}};
    rail_table_run(&(struct rail_table){"node-labels: {}", own, undecided, 1});
}

/* A label that types of somebody's own catalogue have is no label of Nodes from elsewhere. */
static void labels_of_a_users_catalogue(void)
{
    static const char types[] =
        "[" OWN_TYPE("small", "\"x\": 1", OWN_OFFERING("0.1", "on-demand", "a")) "]";
    static const char pool[] = POOL("own", "", "{key: kubernetes.io/arch, operator: Exists}");
    static const struct rail_case cases[] = {
        {POD(ASKS("cpu: 5") ", nodeSelector: {karpenter.kwok.sh/instance-cpu: '4'}"), "deny spec "},
        {POD(ASKS("cpu: 5") ", nodeSelector: {shelf: a}"),
         "undecided spec.nodeSelector.shelf shelf"},
    };
    rail_catalog_run(
        &(struct rail_table){"placeable: {mode: enforce}", pool, cases, COUNT_OF(cases)}, types);
}

/* No machine has what no number holds. */
static void more_than_can_be_counted(void)
{
    static const char pool[] = POOL("own", "", FAMILY("m5"));
    static const struct rail_case cases[] = {
        {POD(ASKS("cpu: 1e30")), "deny spec "},
        {POD(ANY ", overhead: {cpu: 1e30}"), "deny spec "},
        {POD(ANY ", overhead: {cpu: -1e30}"), ""},
        /* whatever labels it selects besides */
        {POD(ASKS("cpu: 1e30") ", nodeSelector: {eks.amazonaws.com/nodegroup: a}"), "deny spec "},
    };
    rail_table_run(
        &(struct rail_table){"placeable: {mode: enforce}", pool, cases, COUNT_OF(cases)});
    /* and whatever node-labels says of them */
    static const struct rail_case told[] = {
        {POD(ASKS("cpu: 1e30") ", nodeSelector: {shelf: a}"),
         "deny spec \nundecided spec.nodeSelector.shelf shelf"},
        {POD(ANY ", nodeSelector: {shelf: a}"), "undecided spec.nodeSelector.shelf shelf"},
        {POD(ASKS("cpu: 1e30") ", " REQUIRES(KEY("pool", "Gt, values: [a]"))), "deny spec "},
    };
    rail_table_run(&(struct rail_table){"placeable: {mode: enforce}, node-labels: {}", pool, told,
                                        COUNT_OF(told)});
}

static void every_kind_of_workload(void)
{
#define TEMPLATE(spec) "{spec: {" spec "}}"
#define OF(api, kind, spec) \
    "{apiVersion: " api ", kind: " kind ", metadata: {name: a}, spec: {" spec "}}"
#define LARGE TEMPLATE(ASKS("cpu: 201"))
    static const char found[] = "deny spec.template.spec ";
    static const struct rail_case cases[] = {
        {OF("apps/v1", "Deployment", "template: " LARGE), found},
        {OF("apps/v1", "ReplicaSet", "template: " LARGE), found},
        {OF("v1", "ReplicationController", "template: " LARGE), found},
        {OF("apps/v1", "StatefulSet", "template: " LARGE), found},
        {OF("batch/v1", "Job", "template: " LARGE), found},
        {OF("batch/v1", "CronJob", "jobTemplate: {spec: {template: " LARGE "}}"),
         "deny spec.jobTemplate.spec.template.spec "},
        {OF("apps/v1", "DaemonSet", "template: " LARGE), "deny spec.template.spec general"},
        /* to its pods the API server adds the toleration */
        {OF("apps/v1", "Deployment", "template: " TEMPLATE(ASKS("cpu: 1, nvidia.com/gpu: 1"))), ""},
    };
    rail_table_run(
        &(struct rail_table){"placeable: {mode: enforce}", cluster, cases, COUNT_OF(cases)});
}

static void with_nothing_visible_nothing_is_decided(void)
{
    static const struct rail_case cases[] = {
        {POD(ANY), "undecided spec "},
    };
    rail_table_run(&(struct rail_table){"placeable: {}", NULL, cases, COUNT_OF(cases)});
}

/* Nodes alone, or NodePools alone, are something to go by. */
static void either_kind_is_enough_to_decide(void)
{
    static const char node[] =
        "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}, "
        "status: {capacity: {cpu: 8, memory: 8Gi, pods: 9}, allocatable: {cpu: 8, memory: 8Gi, "
        "pods: 9}}}";
    static const struct rail_case cases[] = {
        {POD(ASKS("cpu: 8")), ""},
        {POD(ASKS("cpu: 9")), "deny spec "},
    };
    rail_table_run(
        &(struct rail_table){"placeable: {mode: enforce}", node, cases, COUNT_OF(cases)});
    static const struct rail_case on_pools[] = {
        {POD(ASKS("cpu: 90")), ""},
        {POD(ASKS("cpu: 97") ", nodeSelector: {pool: m}"), "deny spec "},
    };
    rail_table_run(&(struct rail_table){"placeable: {mode: enforce}", POOL("m", "", FAMILY("m5")),
                                        on_pools, COUNT_OF(on_pools)});
}

/* Of a live cluster one of the kinds may not be visible: what could be there is not known. */
static void with_half_of_it_unseen_nothing_is_decided(void)
{
    static const struct {
        enum kind unseen;
        const char *findings;
    } rows[] = {
        {KIND_UNKNOWN, "deny spec "},
        {KIND_NODE, "undecided spec "},
        {KIND_NODE_POOL, "undecided spec "},
        {KIND_EC2_NODE_CLASS, "deny spec "},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("placeable: {mode: enforce}", cluster, arena);
    struct rail_documents pod = rail_table_read(POD(ASKS("cpu: 201")), arena);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        world.unseen = KIND_BIT(rows[i].unseen);
        ASSERT_TEXT(rail_table_findings(&world, &pod.items[0], arena), rows[i].findings);
    }
    arena_destroy(arena);
}

#define NODE(name)                                                                           \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: "                  \
    "{kubernetes.io/hostname: " name "}}, status: {capacity: {cpu: 200, memory: 1Ti, pods: " \
    "110}, allocatable: {cpu: 200, memory: 1Ti, pods: 110}}}\n"
#define NO_PLACE "No NodePool and no Node can run this pod. "
#define NO_RACK "the pod asks for rack r1 (the NodePool gives its nodes no such label)"

/* NodePools with one reason are told together, wherever they stand, and three are named. */
static void reasons_are_told_once(void)
{
    static const char fix[] = "Select what NodePool a has, or change its requirements or labels.";
    static const char rack[] = POD(ANY ", nodeSelector: {rack: r1}");
#define M5(name) POOL(name, "", FAMILY("m5"))
#define OF_RACK_2(name) POOL(name, "", FAMILY("m5") ", {key: rack, operator: In, values: [r2]}")
#define RACK_2 "the pod asks for rack r1 (the NodePool has rack r2)"
#define NODE_LACKS "; the only node lacks rack r1."
    static const struct {
        const char *cluster;
        struct rail_words words;
    } rows[] = {
        {NODE("n1") M5("a"), {rack, NO_PLACE "NodePool a: " NO_RACK NODE_LACKS, fix}},
        {NODE("n1") M5("a") M5("b") M5("c"),
         {rack, NO_PLACE "NodePools a, b, c: " NO_RACK NODE_LACKS, fix}},
        {NODE("n1") M5("a") M5("b") M5("c") M5("d") M5("e"),
         {rack, NO_PLACE "NodePools a, b, c and 2 more: " NO_RACK NODE_LACKS, fix}},
        {NODE("n1") M5("a") M5("b") M5("c") M5("d") M5("e") M5("f") M5("g"),
         {rack, NO_PLACE "NodePools a, b, c and 4 more: " NO_RACK NODE_LACKS, fix}},
        {NODE("n1") M5("a") OF_RACK_2("b") M5("c"),
         {rack, NO_PLACE "NodePools a, c: " NO_RACK "; NodePool b: " RACK_2 ".", fix}},
        {NODE("n1") OF_RACK_2("a") M5("b") M5("c") OF_RACK_2("d"),
         {rack, NO_PLACE "NodePools a, d: " RACK_2 "; NodePools b, c: " NO_RACK ".", fix}},
        {NODE("n1") NODE("n2"),
         {rack,
          "No Node can run this pod. There is no NodePool that could buy a node for it; both nodes "
          "lack rack r1.",
          "Ask for what some Node has, or add a NodePool."}},
        {NODE("n1") M5("a"),
         {POD(ANY ", " REQUIRES("{}")),
          NO_PLACE
          "Every nodeSelectorTerm of its node affinity is empty, and an empty term selects "
          "no node.",
          "Write matchExpressions into a nodeSelectorTerm, or remove the required node affinity."}},
        /* what is nearest may tell two NodePools apart; two reasons are told */
        {NODE("n1") M5("a") POOL("b", "", FAMILY("c5")) POOL("c", "", FAMILY("r5")),
         {POD(ASKS("cpu: 201")),
          NO_PLACE
          "NodePool a: the pod needs 201 cpu (m5.24xlarge, the largest type left, has room "
          "for 95.69 cpu); NodePool b: the pod needs 201 cpu (c5.24xlarge, the largest "
          "type left, has room for 95.69 cpu). 1 other NodePool does not suit either.",
          "Ask for less, or let NodePool a launch types that hold it."}},
        {NODE("n1")
             POOL("a", "taints: [{key: t, effect: NoSchedule}, {key: u, effect: NoExecute}], ",
                  FAMILY("m5")),
         {POD(ANY ", nodeSelector: {pool: a}"),
          NO_PLACE "NodePool a: the pod does not tolerate the taints t:NoSchedule and u:NoExecute; "
                   "the only node lacks pool a.",
          "Tolerate t:NoSchedule and u:NoExecute, or let a NodePool without them run the pod."}},
        /* those whose taints it does not tolerate come behind */
        {NODE("n1") POOL("a", "taints: [{key: t, effect: NoSchedule}], ", FAMILY("m5")) M5("b"),
         {rack,
          NO_PLACE "NodePool b: " NO_RACK
                   "; NodePool a: the pod does not tolerate the taint t:NoSchedule.",
          "Select what NodePool b has, or change its requirements or labels."}},
        /* and those that it does not select behind those that it does */
        {M5("a") POOL("b", "taints: [{key: t, effect: NoSchedule}], ", FAMILY("m5")),
         {POD(ANY ", nodeSelector: {pool: b}"),
          "No NodePool can run this pod. NodePool b: the pod does not tolerate the taint "
          "t:NoSchedule; NodePool a: the pod asks for pool b (the NodePool has pool a).",
          "Tolerate t:NoSchedule, or let a NodePool without it run the pod."}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        rail_words_run("placeable: {mode: enforce}", rows[i].cluster, &rows[i].words, 1);
}

/* What is asked for is not to blame where a volume is. */
static void the_fix_is_about_what_is_in_the_way(void)
{
    static const char data[] =
        "---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv}, spec: {claimRef: "
        "{namespace: default, name: far}, csi: {driver: ebs.csi.aws.com}, nodeAffinity: {required: "
        "{nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, "
        "values: [eu-west-1c]}]}]}}}}\n---\n{apiVersion: v1, kind: PersistentVolumeClaim, "
        "metadata: {name: far, annotations: {pv.kubernetes.io/bind-completed: 'yes'}}, spec: "
        "{volumeName: pv}}\n";
    static const char mounts[] =
        POD(ANY ", nodeSelector: {karpenter.sh/capacity-type: spot}, volumes: [{name: v, "
                "persistentVolumeClaim: {claimName: far}}]");
    static const char of_volume[] = "Let a NodePool launch where the volume is, or move the data.";
    static const struct {
        const char *pools, *fix;
    } rows[] = {
        {POOL("a", "", FAMILY("m5") ", " ZONES), of_volume},
        {POOL("a", "", FAMILY("m5") ", " ZONES)
             POOL("b", "taints: [{key: t, effect: NoSchedule}], ", FAMILY("c5")),
         of_volume},
        {POOL("a", "", FAMILY("m5") ", " ZONES) NODE_OF("node-1", "rack: r1"), of_volume},
        {POOL("a", "", FAMILY("m5") ", " ZONES)
             POOL("b", "", "{key: karpenter.k8s.aws/instance-cpu, operator: Lt, values: ['1']}"),
         of_volume},
        {POOL("a", "taints: [{key: t, effect: NoSchedule}], ", FAMILY("m5")),
         "Tolerate t:NoSchedule, or let a NodePool without it run the pod."},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        struct text all = arena_printf(arena, "%s%s", rows[i].pools, data);
        struct world world = rail_table_world("placeable: {mode: enforce}", all.data, arena);
        struct rail_documents pod = rail_table_read(mounts, arena);
        struct subject subject = {.operation = OPERATION_CREATE, .object = &pod.items[0]};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        CU_ASSERT_EQUAL_FATAL(verdict.finding_count, 1);
        ASSERT_TEXT(verdict.findings[0].fix, rows[i].fix);
        arena_destroy(arena);
    }
}

static void it_only_warns_unless_it_has_a_mode_of_its_own(void)
{
    static const struct rail_case cases[] = {
        {POD(ASKS("cpu: 201")), "warn spec "},
    };
    rail_table_run(&(struct rail_table){"placeable: {}", cluster, cases, COUNT_OF(cases)});
}

static void more_terms_than_are_looked_at(void)
{
#define NO_RACK_1 KEY("rack", "In, values: [r1]")
#define EIGHT(term) term ", " term ", " term ", " term ", " term ", " term ", " term ", " term
    static const char pod[] =
        POD(ANY ", " REQUIRES(EIGHT(EIGHT(NO_RACK_1)) ", " KEY("pool", "Exists")));
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world =
        rail_table_world("placeable: {mode: enforce}", M5("general") NODE("n1"), arena);
    struct rail_documents documents = rail_table_read(pod, arena);
    const struct subject subject = {.operation = OPERATION_CREATE, .object = documents.items};
    struct verdict verdict;
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    CU_ASSERT_FATAL(verdict.finding_count == 1);
    struct text problem = verdict.findings[0].problem;
    static const char cut[] = " Only the first 64 of its 65 nodeSelectorTerms count here.";
    CU_ASSERT_PTR_NOT_NULL(memmem(problem.data, problem.size, cut, sizeof cut - 1));
    arena_destroy(arena);
}

/* A template for envsubst or sed: another rail tells of it. */
static void placeholders_select_nothing(void)
{
    static const struct rail_case cases[] = {
        {SELECTS("topology.kubernetes.io/zone", "\"${ZONE}\""), ""},
        {POD(ANY ", " REQUIRES(KEY("topology.kubernetes.io/zone", "In, values: [\"${ZONE}\"]"))),
         ""},
        {SELECTS("topology.kubernetes.io/zone", "ZONE"), ""},
    };
    rail_table_run(&(struct rail_table){"placeable: {mode: enforce}",
                                        POOL("general", "", FAMILY("m5") ", " ZONES) NODE("n1"),
                                        cases, COUNT_OF(cases)});
}

const char unit_suite[] = "policy placeable";
const struct unit_test unit_tests[] = {
    {"labels of a user's catalogue", labels_of_a_users_catalogue},
    {"pods are tried on pools and Nodes", pods_are_tried_on_pools_and_nodes},
    {"what a device class has is not decided", what_a_device_class_has_is_not_decided},
    {"what accelerators adds counts", what_accelerators_adds_counts},
    {"pools that are given the benefit of the doubt",
     pools_that_are_given_the_benefit_of_the_doubt},
    {"nodes that others make", nodes_that_others_make},
    {"a taint tells whom a pool is for", a_taint_tells_whom_a_pool_is_for},
    {"what a runtime class tolerates is not seen", what_a_runtime_class_tolerates_is_not_seen},
    {"what no type is large enough for", what_no_type_is_large_enough_for},
    {"a DaemonSet leaves room", a_daemon_set_leaves_room},
    {"nodes of Auto Mode are known by their label", nodes_of_auto_mode_are_known_by_their_label},
    {"more than can be counted", more_than_can_be_counted},
    {"every kind of workload", every_kind_of_workload},
    {"with nothing visible nothing is decided", with_nothing_visible_nothing_is_decided},
    {"either kind is enough to decide", either_kind_is_enough_to_decide},
    {"with half of it unseen nothing is decided", with_half_of_it_unseen_nothing_is_decided},
    {"reasons are told once", reasons_are_told_once},
    {"the fix is about what is in the way", the_fix_is_about_what_is_in_the_way},
    {"it only warns unless it has a mode of its own",
     it_only_warns_unless_it_has_a_mode_of_its_own},
    {"more terms than are looked at", more_terms_than_are_looked_at},
    {"placeholders select nothing", placeholders_select_nothing},
    {NULL, NULL},
};
