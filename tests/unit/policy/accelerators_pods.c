/* The rail accelerators on pods: who tolerates and does not ask, who asks and is kept out. */
#include "rail_modes.h"

#define IN(key, values) "{key: " key ", operator: In, values: [" values "]}"
#define NOT_IN(key, values) "{key: " key ", operator: NotIn, values: [" values "]}"
#define AWS "karpenter.k8s.aws/instance-"
/* Where the API server adds no toleration. */
#define AS_WRITTEN "accelerators: {}}, extendedResourceToleration: false, karpenter: {"

/* ---- who tolerates ---- */

#define TEMPLATE(kind, tolerations, more)                                         \
    "{apiVersion: apps/v1, kind: " kind                                           \
    ", metadata: {name: a}, spec: {strategy: {type: Recreate}, template: {spec: " \
    "{tolerations: [" tolerations "], " more "}}}}"
#define ASKS(resource) "containers: [{name: a, resources: {limits: {" resource ": 1}}}]"
#define ASKS_NOTHING "containers: [{name: a, resources: {limits: {cpu: 1}}}]"
#define TOLERATES "{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}"

static void who_tolerates_must_ask(void)
{
    static const char idle[] = "deny spec.template.spec.tolerations[0].key nvidia.com/gpu";
    static const struct rail_case cases[] = {
        {TEMPLATE("Deployment", TOLERATES, ASKS_NOTHING), idle},
        {TEMPLATE("StatefulSet", "{key: nvidia.com/gpu, value: 'true'}", ASKS_NOTHING), idle},
        {TEMPLATE("Deployment", TOLERATES ", {key: nvidia.com/gpu, effect: NoExecute}",
                  ASKS_NOTHING),
         idle},
        {TEMPLATE("Deployment", TOLERATES ", {key: amd.com/gpu, operator: Exists}", ASKS_NOTHING),
         "deny spec.template.spec.tolerations[0].key nvidia.com/gpu\n"
         "deny spec.template.spec.tolerations[1].key amd.com/gpu"},
        {TEMPLATE("Deployment", "{key: dedicated}, " TOLERATES ", {key: amd.com/gpu}, " TOLERATES,
                  ASKS_NOTHING),
         "deny spec.template.spec.tolerations[1].key nvidia.com/gpu\n"
         "deny spec.template.spec.tolerations[2].key amd.com/gpu"},
        {TEMPLATE("DaemonSet", TOLERATES, ASKS_NOTHING), ""},
        {TEMPLATE("DaemonSet", "{operator: Exists}", ASKS_NOTHING), ""},
        /* not this rail's business */
        {TEMPLATE("Deployment", "{key: dedicated, operator: Exists}", ASKS_NOTHING), ""},
        {TEMPLATE("Deployment", "{key: nvidia.com/gpu, effect: PreferNoSchedule}", ASKS_NOTHING),
         ""},
        /* the second opens what the first does not */
        {TEMPLATE("Deployment", "{key: nvidia.com/gpu, effect: PreferNoSchedule}, " TOLERATES,
                  ASKS_NOTHING),
         "deny spec.template.spec.tolerations[1].key nvidia.com/gpu"},
        /* a patch of some object, without its containers */
        {TEMPLATE("Deployment", TOLERATES, "nodeSelector: {a: b}"), ""},
        /* every way of asking */
        {TEMPLATE("Deployment", TOLERATES, ASKS("nvidia.com/gpu")), ""},
        {TEMPLATE("Deployment", TOLERATES, ASKS("amd.com/gpu")), ""},
        {TEMPLATE("Deployment", TOLERATES, ASKS("aws.amazon.com/neurondevice")), ""},
        {TEMPLATE("Deployment", TOLERATES, ASKS("nvidia.com/mig-1g.5gb")), ""},
        {TEMPLATE("Deployment", TOLERATES, ASKS("deviceclass.resource.kubernetes.io/gpu")), ""},
        {TEMPLATE("Deployment", TOLERATES, ASKS("deviceclass.resource.kubernetes.io/")), idle},
        {TEMPLATE("Deployment", TOLERATES, ASKS("nvidia.com/gpu.shared")), ""},
        {TEMPLATE("Deployment", TOLERATES, ASKS("nvidia.com/GRID_T4-1Q")), ""},
        {TEMPLATE("Deployment", TOLERATES, ASKS("4paradigm.com/vgpu")), ""},
        {TEMPLATE("Deployment", TOLERATES,
                  "containers: [{name: a, resources: {requests: {nvidia.com/gpu: '2'}}}]"),
         ""},
        {TEMPLATE("Deployment", TOLERATES,
                  "initContainers: [{name: i, resources: "
                  "{limits: {nvidia.com/gpu: 1}}}], " ASKS_NOTHING),
         ""},
        /* and of not asking */
        {TEMPLATE("Deployment", TOLERATES,
                  "containers: [{name: a, resources: {limits: {nvidia.com/gpu: '0'}}}]"),
         idle},
        {TEMPLATE("Deployment", TOLERATES, "resourceClaims: [], " ASKS_NOTHING), idle},
        {TEMPLATE("Deployment", TOLERATES, ASKS("example.com/fpga")), idle},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, cases, COUNT_OF(cases)});

    static const struct rail_case own[] = {
        {TEMPLATE("Deployment", TOLERATES, ASKS_NOTHING), ""},
        {TEMPLATE("Deployment", "{key: dedicated}", ASKS("nvidia.com/gpu")),
         "deny spec.template.spec.tolerations[0].key dedicated"},
        {TEMPLATE("Deployment", "{key: dedicated}", ASKS("example.com/fpga")), ""},
    };
    rail_table_run(
        &(struct rail_table){"accelerators: {resources: ['example.com/*'], taints: [dedicated]}",
                             NULL, own, COUNT_OF(own)});
}

#define EVERY "{operator: Exists}"
#define CHOOSES(key, value) "nodeSelector: {" key ": " value "}, "
#define AFFINITY(terms)                                                          \
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: " \
    "{nodeSelectorTerms: [" terms "]}}}, "
#define TERM(expression) "{matchExpressions: [" expression "]}"
#define NODE_NAMED(op, name) \
    "{matchFields: [{key: metadata.name, operator: " op ", values: [" name "]}]}"
#define TERM_OF(key) "{matchExpressions: [{key: " key ", operator: Exists}]}"

/* No key is that of every taint. */
static void who_tolerates_everything_must_ask(void)
{
    static const char idle[] = "deny spec.template.spec.tolerations[0].operator Exists";
    static const struct rail_case cases[] = {
        {TEMPLATE("Deployment", EVERY, ASKS_NOTHING), idle},
        {TEMPLATE("Deployment", "{operator: Exists, effect: NoSchedule}", ASKS_NOTHING), idle},
        {TEMPLATE("Deployment", "{key: '', operator: Exists}", ASKS_NOTHING), idle},
        {TEMPLATE("Deployment", EVERY ", " EVERY, ASKS_NOTHING), idle},
        {TEMPLATE("Deployment", "{key: a}, " EVERY, ASKS_NOTHING),
         "deny spec.template.spec.tolerations[1].operator Exists"},
        {TEMPLATE("Deployment", EVERY, ASKS("nvidia.com/gpu")), ""},
        {TEMPLATE("Deployment", EVERY, ASKS("FILLED_BY_OPERATOR")), ""},
        {TEMPLATE("DaemonSet", EVERY, ASKS_NOTHING), ""},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {tolerations: [" EVERY
         "], " ASKS_NOTHING "}}",
         "deny spec.tolerations[0].operator Exists"},
        /* as kubectl debug makes it */
        {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: node, tolerations: "
         "[" EVERY "], " ASKS_NOTHING "}}",
         ""},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: kube-system}, spec: "
         "{priorityClassName: system-cluster-critical, tolerations: [" EVERY "], " ASKS_NOTHING
         "}}",
         ""},
        /* these leave NoSchedule, or everything, as it is */
        {TEMPLATE("Deployment", "{operator: Exists, effect: NoExecute}", ASKS_NOTHING), ""},
        {TEMPLATE("Deployment", "{operator: Exists, effect: PreferNoSchedule}", ASKS_NOTHING), ""},
        {TEMPLATE("Deployment", "{operator: Equal}", ASKS_NOTHING), ""},
        /* who chooses nodes, and who does not */
        {TEMPLATE("Deployment", EVERY,
                  CHOOSES("node-role.kubernetes.io/control-plane", "''") ASKS_NOTHING),
         ""},
        {TEMPLATE("Deployment", EVERY, CHOOSES("kubernetes.io/os", "linux") ASKS_NOTHING), idle},
        {TEMPLATE("Deployment", EVERY, CHOOSES("kubernetes.io/os", "windows") ASKS_NOTHING), ""},
        {TEMPLATE("Deployment", EVERY, CHOOSES("beta.kubernetes.io/arch", "amd64") ASKS_NOTHING),
         idle},
        {TEMPLATE("Deployment", EVERY, AFFINITY(TERM_OF("a")) ASKS_NOTHING), ""},
        /* what every node of Karpenter has */
        {TEMPLATE("Deployment", EVERY, CHOOSES("karpenter.sh/registered", "'true'") ASKS_NOTHING),
         idle},
        {TEMPLATE("Deployment", EVERY, CHOOSES("karpenter.sh/registered", "'false'") ASKS_NOTHING),
         ""},
        {TEMPLATE("Deployment", EVERY, AFFINITY(TERM_OF("karpenter.sh/initialized")) ASKS_NOTHING),
         idle},
        {TEMPLATE("Deployment", EVERY,
                  AFFINITY(TERM("{key: karpenter.sh/initialized, operator: NotIn, values: "
                                "['false']}")) ASKS_NOTHING),
         idle},
        {TEMPLATE("Deployment", EVERY,
                  AFFINITY(TERM("{key: karpenter.sh/initialized, operator: NotIn, values: "
                                "['true']}")) ASKS_NOTHING),
         ""},
        {TEMPLATE("Deployment", EVERY,
                  AFFINITY(TERM("{key: karpenter.sh/registered, operator: DoesNotExist}"))
                      ASKS_NOTHING),
         ""},
        {TEMPLATE("Deployment", EVERY, AFFINITY(TERM_OF("kubernetes.io/hostname")) ASKS_NOTHING),
         idle},
        {TEMPLATE("Deployment", EVERY, CHOOSES("kubernetes.io/hostname", "g1") ASKS_NOTHING), ""},
        {TEMPLATE("Deployment", EVERY,
                  AFFINITY(TERM(NOT_IN("kubernetes.io/hostname", "c1"))) ASKS_NOTHING),
         idle},
        {TEMPLATE("Deployment", EVERY, AFFINITY(TERM_OF("karpenter.sh/nodepool")) ASKS_NOTHING),
         idle},
        {TEMPLATE("Deployment", EVERY, CHOOSES("karpenter.sh/nodepool", "c") ASKS_NOTHING), ""},
        {TEMPLATE("Deployment", EVERY,
                  AFFINITY(TERM(NOT_IN("karpenter.sh/nodepool", "g"))) ASKS_NOTHING),
         ""},
        {TEMPLATE("Deployment", EVERY,
                  AFFINITY(TERM_OF("karpenter.sh/capacity-type")) ASKS_NOTHING),
         idle},
        {TEMPLATE("Deployment", EVERY, CHOOSES("karpenter.sh/capacity-type", "spot") ASKS_NOTHING),
         ""},
        {TEMPLATE("Deployment", EVERY,
                  AFFINITY(TERM_OF("node.kubernetes.io/instance-type")) ASKS_NOTHING),
         idle},
        {TEMPLATE("Deployment", EVERY,
                  AFFINITY(TERM(NOT_IN("node.kubernetes.io/instance-type", "g5.xlarge")))
                      ASKS_NOTHING),
         ""},
        {TEMPLATE("Deployment", EVERY,
                  AFFINITY(TERM_OF("failure-domain.beta.kubernetes.io/zone")) ASKS_NOTHING),
         idle},
        {TEMPLATE("Deployment", EVERY,
                  AFFINITY(TERM_OF("topology.kubernetes.io/region")) ASKS_NOTHING),
         idle},
        {TEMPLATE("Deployment", EVERY,
                  AFFINITY(TERM("{key: topology.kubernetes.io/zone, operator: DoesNotExist}"))
                      ASKS_NOTHING),
         ""},
        {TEMPLATE("Deployment", EVERY,
                  AFFINITY(TERM(NOT_IN("kubernetes.io/os", "windows"))) ASKS_NOTHING),
         idle},
        {TEMPLATE("Deployment", EVERY,
                  AFFINITY(TERM(IN("kubernetes.io/os", "linux, windows"))) ASKS_NOTHING),
         idle},
        {TEMPLATE("Deployment", EVERY,
                  AFFINITY(TERM(NOT_IN("kubernetes.io/os", "linux"))) ASKS_NOTHING),
         ""},
        {TEMPLATE("Deployment", EVERY, CHOOSES("kubernetes.io/os", "darwin") ASKS_NOTHING), ""},
        {TEMPLATE("Deployment", EVERY, AFFINITY(NODE_NAMED("In", "g1")) ASKS_NOTHING), ""},
        {TEMPLATE("Deployment", EVERY, AFFINITY(NODE_NAMED("NotIn", "g1")) ASKS_NOTHING), idle},
        {TEMPLATE("Deployment", EVERY,
                  AFFINITY(NODE_NAMED("In", "g1") ", " TERM_OF("kubernetes.io/os")) ASKS_NOTHING),
         idle},
        {TEMPLATE("Deployment", EVERY, AFFINITY(TERM_OF("kubernetes.io/os")) ASKS_NOTHING), idle},
        {TEMPLATE("Deployment", EVERY,
                  AFFINITY(TERM_OF("a") ", " TERM_OF("kubernetes.io/os")) ASKS_NOTHING),
         idle},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {TEMPLATE("Deployment", EVERY, ASKS_NOTHING),
         "The pod tolerates every taint, also those of nodes with accelerators such as "
         "nvidia.com/gpu, but asks for no accelerator. It takes a place on a node that is kept "
         "for pods that do.",
         "Name the keys of the taints that the pod must tolerate, or ask for nvidia.com/gpu under "
         "resources.limits of a container."},
        {TEMPLATE("Deployment", "{operator: Exists, effect: NoSchedule}", ASKS_NOTHING),
         "The pod tolerates every NoSchedule taint, also those of nodes with accelerators such as "
         "nvidia.com/gpu, but asks for no accelerator. It takes a place on a node that is kept "
         "for pods that do.",
         "Name the keys of the taints that the pod must tolerate, or ask for nvidia.com/gpu under "
         "resources.limits of a container."},
    };
    rail_words_run("accelerators: {}", NULL, words, COUNT_OF(words));
}

/* What a claim is of cannot be seen; that no container has a use for it can. */
static void claims_of_devices(void)
{
#define CLAIM "resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}], "
#define USES(list, name) list ": [{name: a, resources: {claims: [{name: " name "}]}}]"
    static const char idle[] = "deny spec.template.spec.tolerations[0].key nvidia.com/gpu";
    static const struct rail_case cases[] = {
        {TEMPLATE("Deployment", TOLERATES, CLAIM USES("containers", "gpu")), ""},
        {TEMPLATE("Deployment", TOLERATES, CLAIM ASKS_NOTHING ", " USES("initContainers", "gpu")),
         ""},
        {TEMPLATE("Deployment", TOLERATES, CLAIM ASKS_NOTHING), idle},
        {TEMPLATE("Deployment", TOLERATES, CLAIM USES("containers", "''")), idle},
        {TEMPLATE("Deployment", TOLERATES,
                  CLAIM "containers: [{name: a, resources: {claims: []}}]"),
         idle},
        {TEMPLATE("Deployment", TOLERATES,
                  CLAIM "containers: [{name: a, resources: {claims: gpu}}]"),
         idle},
        {TEMPLATE("Deployment", TOLERATES, "resourceClaims: null, " USES("containers", "gpu")),
         idle},
        {TEMPLATE("Deployment", TOLERATES, CLAIM ASKS("nvidia.com/gpu")), ""},
        {TEMPLATE("Deployment", "", CLAIM USES("containers", "gpu")), ""},
        {TEMPLATE("DaemonSet", TOLERATES, CLAIM ASKS_NOTHING), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {TEMPLATE("Deployment", TOLERATES, CLAIM ASKS_NOTHING),
         "The pod tolerates nvidia.com/gpu and names resourceClaims, but no container "
         "uses one. It takes a place on a node that is kept for pods that do.",
         "Remove the toleration, or ask for nvidia.com/gpu under resources.limits of a "
         "container."},
    };
    rail_words_run("accelerators: {}", NULL, words, COUNT_OF(words));
}

/* ---- who takes without asking ---- */

static void the_runtime_gives_gpus(void)
{
#define ENV(list, entries) list ": [{name: a, env: [" entries "]}]"
#define ALL "{name: NVIDIA_VISIBLE_DEVICES, value: all}"
#define RUNTIME(name, more) "{spec: {runtimeClassName: " name ", " more "}}"
#define WITH(kind, name, more)                                                           \
    "{apiVersion: apps/v1, kind: " kind                                                  \
    ", metadata: {name: a}, spec: {strategy: {type: Recreate}, template: " RUNTIME(name, \
                                                                                   more) "}}"
#define TAKES(path) "deny " path ".env[0].value all"
    static const char found[] = TAKES("spec.template.spec.containers[0]");
    static const struct rail_case cases[] = {
        {WITH("Deployment", "nvidia", ENV("containers", ALL)), found},
        {WITH("StatefulSet", "nvidia-legacy", ENV("containers", ALL)), found},
        {WITH("DaemonSet", "nvidia", ENV("containers", ALL)), ""},
        {"{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {jobTemplate: {spec: "
         "{template: " RUNTIME("nvidia", ENV("containers", ALL)) "}}}}",
         TAKES("spec.jobTemplate.spec.template.spec.containers[0]")},
        {WITH("Deployment", "nvidia", "containers: [{name: b}], " ENV("initContainers", ALL)),
         TAKES("spec.template.spec.initContainers[0]")},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {runtimeClassName: nvidia, "
         "containers: [{name: b}], " ENV("ephemeralContainers", ALL) "}}",
         TAKES("spec.ephemeralContainers[0]")},
        {WITH("Deployment", "nvidia",
              ENV("containers", "{name: NVIDIA_VISIBLE_DEVICES, value: '0,1'}")),
         "deny spec.template.spec.containers[0].env[0].value 0,1"},
        /* the last of several counts */
        {WITH("Deployment", "nvidia",
              ENV("containers", "{name: NVIDIA_VISIBLE_DEVICES, value: void}, " ALL)),
         "deny spec.template.spec.containers[0].env[1].value all"},
        {WITH("Deployment", "nvidia",
              ENV("containers", ALL ", {name: NVIDIA_VISIBLE_DEVICES, value: void}")),
         ""},
        /* where it comes from cannot be seen */
        {WITH("Deployment", "nvidia",
              ENV("containers", "{name: NVIDIA_VISIBLE_DEVICES, valueFrom: {configMapKeyRef: "
                                "{name: c, key: k}}}")),
         "undecided spec.template.spec.containers[0].env[0].valueFrom "},
        /* no device is asked for, or by the usual way */
        {WITH("Deployment", "nvidia", ENV("containers", "{name: NVIDIA_VISIBLE_DEVICES}")), ""},
        {WITH("Deployment", "nvidia",
              ENV("containers", "{name: NVIDIA_VISIBLE_DEVICES, value: ''}")),
         ""},
        {WITH("Deployment", "nvidia",
              ENV("containers", "{name: NVIDIA_VISIBLE_DEVICES, value: none}")),
         ""},
        {WITH("Deployment", "nvidia",
              ENV("containers", "{name: nvidia_visible_devices, value: all}")),
         ""},
        {WITH("Deployment", "nvidia", ENV("containers", "null, 5")), ""},
        {WITH("Deployment", "nvidia", "containers: [{name: a, env: {a: b}}]"), ""},
        {WITH("Deployment", "nvidia",
              "containers: [{name: a, env: [" ALL "], resources: {limits: {nvidia.com/gpu: 1}}}]"),
         ""},
        {WITH("Deployment", "nvidia", CLAIM ENV("containers", ALL)), ""},
        {WITH("Deployment", "gvisor", ENV("containers", ALL)), ""},
        {WITH("Deployment", "''", ENV("containers", ALL)), ""},
        {WITH("Deployment", "null", ENV("containers", ALL)), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case own[] = {
        {WITH("Deployment", "gpu", ENV("containers", ALL)), found},
        {WITH("Deployment", "nvidia", ENV("containers", ALL)), ""},
    };
    rail_table_run(
        &(struct rail_table){"accelerators: {runtimeClasses: [gpu]}", NULL, own, COUNT_OF(own)});
    rail_table_run(&(struct rail_table){"accelerators: {runtimeClasses: []}", NULL, &own[1], 1});
    static const struct rail_words words = {
        WITH("Deployment", "nvidia", ENV("containers", ALL)),
        "This container takes GPUs by NVIDIA_VISIBLE_DEVICES without asking for them. "
        "The scheduler gives them to other pods, too.",
        "Ask for nvidia.com/gpu under resources.limits of the container, or set "
        "NVIDIA_VISIBLE_DEVICES to void."};
    rail_words_run("accelerators: {}", NULL, &words, 1);
}

/* Who makes the pods of DaemonSets may leave them as they are. */
static void pods_of_daemon_sets(void)
{
    static const char pod[] =
        "{apiVersion: v1, kind: Pod, metadata: {name: a, ownerReferences: [{apiVersion: apps/v1, "
        "kind: DaemonSet, name: d, uid: u, controller: true}]}, spec: {tolerations: [" TOLERATES
        "], " ASKS_NOTHING "}}";
    static const struct {
        const char *user;
        enum action action;
    } users[] = {
        {"system:serviceaccount:kube-system:daemon-set-controller", ACTION_NONE},
        {"system:kube-controller-manager", ACTION_NONE},
        {"system:serviceaccount:kube-system:replicaset-controller", ACTION_DENY},
        {"jane", ACTION_DENY},
    };
    struct arena *arena = arena_create((size_t)32 << 20);
    struct world world = rail_table_world("accelerators: {}", NULL, arena);
    for (size_t i = 0; i < COUNT_OF(users); i++)
        ASSERT_INT(rail_modes_action(&world, "mode: enforce, rails: {accelerators: {}}", pod,
                                     users[i].user, arena),
                   users[i].action);
    arena_destroy(arena);
}

static void every_kind_that_has_pods(void)
{
#define OF(api, kind, spec) \
    "{apiVersion: " api ", kind: " kind ", metadata: {name: a}, spec: " spec "}"
#define IDLE "{spec: {tolerations: [" TOLERATES "], " ASKS_NOTHING "}}"
    static const char found[] = "deny spec.template.spec.tolerations[0].key nvidia.com/gpu";
    static const struct rail_case cases[] = {
        {OF("apps/v1", "Deployment", "{template: " IDLE "}"), found},
        {OF("apps/v1", "ReplicaSet", "{template: " IDLE "}"), found},
        {OF("apps/v1", "StatefulSet", "{template: " IDLE "}"), found},
        {OF("v1", "ReplicationController", "{template: " IDLE "}"), found},
        {OF("batch/v1", "Job", "{template: " IDLE "}"), found},
        {OF("batch/v1", "CronJob", "{jobTemplate: {spec: {template: " IDLE "}}}"),
         "deny spec.jobTemplate.spec.template.spec.tolerations[0].key nvidia.com/gpu"},
        {OF("v1", "Pod", "{tolerations: [" TOLERATES "], " ASKS_NOTHING "}"),
         "deny spec.tolerations[0].key nvidia.com/gpu"},
        {OF("v1", "Pod", "{nodeName: n, tolerations: [" TOLERATES "], " ASKS_NOTHING "}"),
         "deny spec.tolerations[0].key nvidia.com/gpu"},
        {OF("apps/v1", "DaemonSet", "{template: " IDLE "}"), ""},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a, ownerReferences: [{apiVersion: apps/v1, "
         "kind: DaemonSet, name: d, uid: u, controller: true}]}, spec: {tolerations: "
         "[" TOLERATES "], " ASKS_NOTHING "}}",
         "deny spec.tolerations[0].key nvidia.com/gpu"}, /* as anybody can write it */
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, cases, COUNT_OF(cases)});
}

/* ---- who asks ---- */

#define VISIBLE(name, version, labels, requirements, taints)                                  \
    "{apiVersion: karpenter.sh/" version ", kind: NodePool, metadata: {name: " name "}, "     \
    "spec: {template: {metadata: {labels: {" labels "}}, spec: {requirements: [" requirements \
    "], taints: [" taints "]}}}}\n"
#define DELETED                                                                         \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: gone, "             \
    "deletionTimestamp: 2026-01-01T00:00:00Z}, spec: {template: {spec: {requirements: " \
    "[" IN(AWS "category", "g") "]}}}}\n"
#define ELSEWHERE(name, taints)                                                                   \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: {template: " \
    "{spec: {nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: a}, "           \
    "requirements: [], taints: [" taints "]}}}}\n"
#define CLOSED                                                 \
    VISIBLE("gpu", "v1", "group: gpu", IN(AWS "family", "g5"), \
            "{key: nvidia.com/gpu, value: '5', effect: NoSchedule}")
#define POD(tolerations, more)                                                           \
    "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {tolerations: [" tolerations \
    "], " more "}}"
#define GPU ASKS("nvidia.com/gpu")

/* Of who chooses nodes a NodePool of accelerators that is visible says it. */
static void who_tolerates_everything_and_chooses_accelerators(void)
{
    static const char more[] = CLOSED
        "---\n" VISIBLE("old", "v1", "group: old", IN(AWS "family", "g4dn"), "{key: nvidia.com/gpu, effect: NoExecute}") "---\n" VISIBLE(
            "soft", "v1", "group: soft", IN(AWS "family", "g6"),
            "{key: nvidia.com/gpu, effect: PreferNoSchedule}") "---\n" VISIBLE("batch", "v1",
                                                                               "group: batch",
                                                                               IN(AWS "family",
                                                                                  "m5"),
                                                                               "{key: team, "
                                                                               "effect: "
                                                                               "NoSchedule}");
    static const char idle[] = "deny spec.tolerations[0].operator Exists";
    static const struct rail_case cases[] = {
        {POD(EVERY, CHOOSES("group", "gpu") ASKS_NOTHING), idle},
        {POD(EVERY, CHOOSES("node.kubernetes.io/instance-type", "g5.xlarge") ASKS_NOTHING), idle},
        {POD(EVERY, CHOOSES("node.kubernetes.io/instance-type", "m5.large") ASKS_NOTHING), ""},
        {POD(EVERY, AFFINITY(TERM_OF("none") ", " TERM_OF("group")) ASKS_NOTHING), idle},
        {POD(EVERY, AFFINITY(TERM_OF("group") ", " TERM_OF("none")) ASKS_NOTHING), idle},
        {POD(EVERY, CHOOSES("group", "batch") ASKS_NOTHING), ""},
        {POD(EVERY, CHOOSES("group", "soft") ASKS_NOTHING), ""},
        {POD(EVERY, CHOOSES("group", "old") ASKS_NOTHING), idle},
        {POD("{operator: Exists, effect: NoSchedule}", CHOOSES("group", "old") ASKS_NOTHING), ""},
        {POD(EVERY, CHOOSES("group", "other") ASKS_NOTHING), ""},
        {POD(EVERY, "nodeSelector: {group: gpu, karpenter.sh/registered: 'true'}, " ASKS_NOTHING),
         idle},
        {POD(EVERY, "nodeSelector: {group: gpu}, " AFFINITY(TERM_OF("kubernetes.io/hostname"))
                        ASKS_NOTHING),
         idle},
        {POD(EVERY, "nodeSelector: {group: gpu, kubernetes.io/hostname: g1}, " ASKS_NOTHING), ""},
        {POD(EVERY, AFFINITY(NODE_NAMED("In", "g1")) ASKS_NOTHING), ""},
        {POD(EVERY, AFFINITY(NODE_NAMED("In", "g1") ", " TERM_OF("group")) ASKS_NOTHING), idle},
        {POD(EVERY, AFFINITY(NODE_NAMED("In", "g1") ", " TERM_OF("none")) ASKS_NOTHING), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", more, cases, COUNT_OF(cases)});
    static const struct rail_case deleted[] = {
        {POD(EVERY, CHOOSES("karpenter.sh/nodepool", "gone") ASKS_NOTHING), ""},
    };
    rail_table_run(&(struct rail_table){
        "accelerators: {}",
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: gone, deletionTimestamp: "
        "2026-01-01T00:00:00Z}, spec: {template: {spec: {requirements: [" IN(
            AWS "category", "g") "], taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}}}}\n",
        deleted, COUNT_OF(deleted)});
}

/* The labels that a NodePool's nodes have though its template does not say so. */
static void nodes_have_labels_of_their_own(void)
{
#define OF_CLASS(group, kind, requirements, taints)                                               \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: g}, spec: {template: {spec: " \
    "{nodeClassRef: {group: " group ", kind: " kind                                               \
    ", name: default}, requirements: [" requirements "], taints: [" taints "]}}}}\n"
#define AUTO_MODE(taints)                                                                     \
    OF_CLASS("eks.amazonaws.com", "NodeClass", IN("eks.amazonaws.com/instance-family", "g5"), \
             taints)
#define SELF_MANAGED(taints) \
    OF_CLASS("karpenter.k8s.aws", "EC2NodeClass", IN(AWS "family", "g5"), taints)
#define GPU_TAINT "{key: nvidia.com/gpu, effect: NoSchedule}"
#define TEAM_TAINT "{key: team, effect: NoSchedule}"
    static const char idle[] = "deny spec.tolerations[0].operator Exists";
    static const struct rail_case self_managed[] = {
        {POD(EVERY, CHOOSES("karpenter.k8s.aws/ec2nodeclass", "default") ASKS_NOTHING), idle},
        {POD(EVERY, CHOOSES("karpenter.k8s.aws/ec2nodeclass", "other") ASKS_NOTHING), ""},
        {POD(EVERY, CHOOSES("eks.amazonaws.com/compute-type", "auto") ASKS_NOTHING), ""},
    };
    static const struct rail_case auto_mode[] = {
        {POD(EVERY, CHOOSES("eks.amazonaws.com/nodeclass", "default") ASKS_NOTHING), idle},
        {POD(EVERY, CHOOSES("eks.amazonaws.com/nodeclass", "other") ASKS_NOTHING), ""},
        {POD(EVERY, CHOOSES("eks.amazonaws.com/compute-type", "auto") ASKS_NOTHING), idle},
        {POD(EVERY, CHOOSES("eks.amazonaws.com/compute-type", "hybrid") ASKS_NOTHING), ""},
    };
    static const struct rail_case asking[] = {
        {POD("", CHOOSES("karpenter.k8s.aws/ec2nodeclass", "default") GPU),
         "deny spec.tolerations nvidia.com/gpu"},
        {POD("", CHOOSES("karpenter.k8s.aws/ec2nodeclass", "other") GPU), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", SELF_MANAGED(GPU_TAINT), self_managed,
                                        COUNT_OF(self_managed)});
    rail_table_run(&(struct rail_table){"accelerators: {}", AUTO_MODE(GPU_TAINT), auto_mode,
                                        COUNT_OF(auto_mode)});
    rail_table_run(&(struct rail_table){"accelerators: {}", SELF_MANAGED(TEAM_TAINT), asking,
                                        COUNT_OF(asking)});
}

/* Types of which the catalogue does not know the hardware run Linux. What else they have it does
 * not say, but a pool of such types alone launches them. */
static void hardware_may_not_be_known(void)
{
#define UNKNOWN(more, taints) \
    OF_CLASS("karpenter.k8s.aws", "EC2NodeClass", IN(AWS "family", "p6e-gb200") more, taints)
#define LINUX_POOL ", " IN("kubernetes.io/os", "linux")
#define ARM_POOL LINUX_POOL ", " IN("kubernetes.io/arch", "arm64")
    static const char idle[] = "deny spec.tolerations[0].operator Exists";
    static const char unsure[] = "undecided spec.tolerations[0].operator Exists";
    static const char closed[] = "deny spec.tolerations nvidia.com/gpu";
    static const char unsure_closed[] = "undecided spec.tolerations nvidia.com/gpu";
    static const struct {
        const char *selects, *idle, *closed;
    } rows[] = {
        {CHOOSES("karpenter.sh/nodepool", "g"), idle, closed},
        {"nodeSelector: {karpenter.sh/nodepool: g, kubernetes.io/os: linux}, ", idle, closed},
        {"nodeSelector: {karpenter.sh/nodepool: g, kubernetes.io/arch: arm64}, ", unsure,
         unsure_closed},
        {"nodeSelector: {karpenter.sh/nodepool: g, " AWS "gpu-count: '4'}, ", unsure,
         unsure_closed},
        {"nodeSelector: {karpenter.sh/nodepool: g, " AWS "category: m}, ", "", ""},
    };
    static const struct {
        const char *gpu, *team;
    } pools[] = {
        {UNKNOWN("", GPU_TAINT), UNKNOWN("", TEAM_TAINT)},
        {UNKNOWN(LINUX_POOL, GPU_TAINT), UNKNOWN(LINUX_POOL, TEAM_TAINT)},
        {UNKNOWN(ARM_POOL, GPU_TAINT), UNKNOWN(ARM_POOL, TEAM_TAINT)},
    };
    for (size_t i = 0; i < COUNT_OF(pools); i++) {
        for (size_t j = 0; j < COUNT_OF(rows); j++) {
            struct arena *arena = arena_create((size_t)1 << 20);
            const struct rail_case idles = {
                arena_printf(arena, POD(EVERY, "%s" ASKS_NOTHING), rows[j].selects).data,
                rows[j].idle};
            const struct rail_case asks = {
                arena_printf(arena, POD("", "%s" GPU), rows[j].selects).data, rows[j].closed};
            rail_table_run(&(struct rail_table){"accelerators: {}", pools[i].gpu, &idles, 1});
            rail_table_run(&(struct rail_table){"accelerators: {}", pools[i].team, &asks, 1});
            arena_destroy(arena);
        }
    }
    static const struct rail_words words = {
        POD(EVERY,
            "nodeSelector: {karpenter.sh/nodepool: g, kubernetes.io/arch: arm64}, " ASKS_NOTHING),
        "The pod tolerates every taint, also those of nodes with accelerators such as "
        "nvidia.com/gpu, but asks for no accelerator. Nodes of g are kept for pods that do, and "
        "whether they have the labels that it selects is not known.",
        "Name the keys of the taints that the pod must tolerate, or ask for nvidia.com/gpu under "
        "resources.limits of a container."};
    rail_words_run("accelerators: {}", UNKNOWN("", GPU_TAINT), &words, 1);
}

/* Karpenter of another cloud may know labels of that cloud. */
static void labels_of_other_clouds(void)
{
#define AKS(requirements, taints) \
    OF_CLASS("karpenter.azure.com", "AKSNodeClass", requirements, taints)
    static const char idle[] = "deny spec.tolerations[0].operator Exists";
    static const char unsure[] = "undecided spec.tolerations[0].operator Exists";
    static const struct rail_case cases[] = {
        {POD(EVERY, CHOOSES("karpenter.sh/nodepool", "g") ASKS_NOTHING), idle},
        {POD(EVERY, CHOOSES("karpenter.azure.com/aksnodeclass", "default") ASKS_NOTHING), idle},
        {POD(EVERY, CHOOSES("karpenter.azure.com/sku-gpu-name", "A100") ASKS_NOTHING), unsure},
        {POD(EVERY, CHOOSES("kubernetes.azure.com/mode", "user") ASKS_NOTHING), unsure},
        {POD(EVERY, AFFINITY(TERM(NOT_IN("kubernetes.azure.com/mode", "user"))) ASKS_NOTHING),
         unsure},
        {POD(EVERY, "nodeSelector: {karpenter.azure.com/sku-gpu-name: A100, "
                    "karpenter.sh/nodepool: other}, " ASKS_NOTHING),
         ""},
        {POD(EVERY, CHOOSES("karpenter.azure.com/aksnodeclass", "other") ASKS_NOTHING), ""},
        {POD(EVERY, CHOOSES("example.com/team", "a") ASKS_NOTHING), ""},
    };
    rail_table_run(
        &(struct rail_table){"accelerators: {}", AKS("", GPU_TAINT), cases, COUNT_OF(cases)});
    static const struct rail_case required[] = {
        {POD(EVERY, CHOOSES("karpenter.azure.com/sku-gpu-name", "A100") ASKS_NOTHING), idle},
        {POD(EVERY, CHOOSES("karpenter.azure.com/sku-gpu-name", "T4") ASKS_NOTHING), ""},
    };
    rail_table_run(&(struct rail_table){
        "accelerators: {}", AKS(IN("karpenter.azure.com/sku-gpu-name", "A100"), GPU_TAINT),
        required, COUNT_OF(required)});
    static const struct rail_case asking[] = {
        {POD("", CHOOSES("karpenter.azure.com/sku-gpu-name", "A100") GPU),
         "undecided spec.tolerations nvidia.com/gpu"},
        {POD("", CHOOSES("example.com/team", "a") GPU), ""},
    };
    rail_table_run(
        &(struct rail_table){"accelerators: {}", AKS("", TEAM_TAINT), asking, COUNT_OF(asking)});
    static const struct rail_words words = {
        POD(EVERY, CHOOSES("karpenter.azure.com/sku-gpu-name", "A100") ASKS_NOTHING),
        "The pod tolerates every taint, also those of nodes with accelerators such as "
        "nvidia.com/gpu, but asks for no accelerator. Nodes of g are kept for pods that do, and "
        "whether they have the labels that it selects is not known.",
        "Name the keys of the taints that the pod must tolerate, or ask for nvidia.com/gpu under "
        "resources.limits of a container."};
    rail_words_run("accelerators: {}", AKS("", GPU_TAINT), &words, 1);
}

/* Or a Node of accelerators. */
static void who_tolerates_everything_and_chooses_a_node(void)
{
#define NODE_OF(name, more, taint)                                                   \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", " more "labels: {" \
    "kubernetes.io/hostname: " name ", kubernetes.io/os: linux}}, spec: {taints: [" taint "]}}\n"
#define CHOOSES_NODE(name) CHOOSES("kubernetes.io/hostname", name) ASKS_NOTHING
    static const char nodes[] = NODE_OF("g1", "", "{key: nvidia.com/gpu, effect: NoSchedule}")
        NODE_OF("g2", "",
                "{key: team, effect: NoSchedule}, {key: nvidia.com/gpu, effect: NoExecute}")
            NODE_OF("soft", "", "{key: nvidia.com/gpu, effect: PreferNoSchedule}")
                NODE_OF("c1", "", "{key: team, effect: NoSchedule}")
                    NODE_OF("gone", "deletionTimestamp: '2026-01-01T00:00:00Z', ",
                            "{key: nvidia.com/gpu, effect: NoSchedule}");
    static const char idle[] = "deny spec.tolerations[0].operator Exists";
    static const struct rail_case cases[] = {
        {POD(EVERY, CHOOSES_NODE("g1")), idle},
        {POD(EVERY, CHOOSES_NODE("g2")), idle},
        {POD("{operator: Exists, effect: NoSchedule}", CHOOSES_NODE("g1")), idle},
        {POD("{operator: Exists, effect: NoSchedule}", CHOOSES_NODE("g2")), ""},
        {POD(EVERY,
             AFFINITY(TERM_OF("none") ", " TERM(IN("kubernetes.io/hostname", "g1"))) ASKS_NOTHING),
         idle},
        {POD(EVERY, AFFINITY(NODE_NAMED("In", "g1")) ASKS_NOTHING), idle},
        {POD(EVERY, AFFINITY(NODE_NAMED("In", "c1")) ASKS_NOTHING), ""},
        {POD(EVERY, AFFINITY("{matchFields: [{key: metadata.namespace, operator: In, values: "
                             "[c1]}]}") ASKS_NOTHING),
         idle},
        {POD(EVERY, AFFINITY(NODE_NAMED("In", "c1") ", " NODE_NAMED("In", "g1")) ASKS_NOTHING),
         idle},
        {POD(EVERY, CHOOSES_NODE("soft")), ""},
        {POD(EVERY, CHOOSES_NODE("c1")), ""},
        {POD(EVERY, CHOOSES_NODE("gone")), ""},
        {POD(EVERY, CHOOSES_NODE("other")), ""},
        {POD(EVERY, CHOOSES_NODE("g1") ", nodeName: g1"), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", nodes, cases, COUNT_OF(cases)});
}

/* tolerations says it, unless it grants it, or weighs less. */
static void what_tolerations_says_is_said_once(void)
{
    static const struct {
        const char *rails, *findings;
    } policies[] = {
        {"accelerators: {}, tolerations: {}", "deny spec.tolerations[0].operator Exists"},
        {"accelerators: {}, tolerations: {allow: ['*']}",
         "deny spec.tolerations[0].operator Exists"},
        {"accelerators: {}, tolerations: {mode: warn}",
         "deny spec.tolerations[0].operator Exists\nwarn spec.tolerations[0].operator Exists"},
        {"accelerators: {mode: warn}, tolerations: {}", "deny spec.tolerations[0].operator Exists"},
    };
    for (size_t i = 0; i < COUNT_OF(policies); i++)
        rail_table_run(&(struct rail_table){
            policies[i].rails, NULL,
            &(struct rail_case){POD(EVERY, ASKS_NOTHING), policies[i].findings}, 1});
}

static const char kept_out[] = "deny spec.tolerations nvidia.com/gpu";

static void who_asks_must_be_let_in(void)
{
    static const struct rail_case cases[] = {
        {POD("", GPU), kept_out},
        {POD("", ASKS("nvidia.com/gpumem")), "deny spec.tolerations nvidia.com/gpumem"},
        /* of several the first is told */
        {POD("", ASKS("cpu: 1, nvidia.com/gpu: 1, nvidia.com/mig-1g.5gb")), kept_out},
        {POD("", ASKS("4paradigm.com/vgpu")), "deny spec.tolerations 4paradigm.com/vgpu"},
        {TEMPLATE("Deployment", "", GPU), "deny spec.template.spec.tolerations nvidia.com/gpu"},
        /* a RuntimeClass may tolerate it */
        {TEMPLATE("Deployment", "", "runtimeClassName: own, " GPU),
         "undecided spec.template.spec.tolerations nvidia.com/gpu"},
        {POD("", ASKS_NOTHING), ""},
        /* what tolerates a taint */
        {POD(TOLERATES, GPU), ""},
        {POD("{operator: Exists}", GPU), ""},
        {POD("{operator: Exists, effect: NoSchedule}", GPU), ""},
        {POD("{operator: Exists, effect: NoExecute}", GPU), kept_out},
        {POD("{key: nvidia.com/gpu, value: '5'}", GPU), ""},
        {POD("{key: nvidia.com/gpu, operator: Equal, value: '6'}", GPU), kept_out},
        {POD("{key: nvidia.com/gpu}", GPU), kept_out},
        {POD("{key: nvidia.com/gpu, operator: Gt, value: '4'}", GPU), ""},
        {POD("{key: nvidia.com/gpu, operator: Lt, value: '4'}", GPU), kept_out},
        {POD("{key: nvidia.com/gpus, operator: Exists}", GPU), kept_out},
        /* no visible pool could serve it */
        {POD("", ASKS("amd.com/gpu")), ""},
        {POD("", ASKS("nvidia.com/gpu: 1, amd.com/gpu")), ""}, /* both on one node */
        {POD("", AFFINITY(TERM(IN("node.kubernetes.io/instance-type", "p3.2xlarge"))) GPU), ""},
        {POD("", "nodeSelector: {group: gpu}, " AFFINITY(TERM(IN(AWS "size", "nano"))) GPU), ""},
        {POD("", AFFINITY(TERM(IN("group", "other")) ", " TERM(IN("group", "third"))) GPU), ""},
        {POD("", "nodeSelector: {group: other}, " GPU), ""},
        {POD("", "nodeSelector: {node.kubernetes.io/instance-type: p3.2xlarge}, " GPU), ""},
        {POD("", "nodeSelector: {karpenter.sh/nodepool: other}, " GPU), ""},
        {POD("", AFFINITY(TERM("{key: group, operator: DoesNotExist}")) GPU), ""},
        {POD("", "nodeSelector: {group: gpu, example.com/rack: r1}, " GPU), ""},
        {POD("", AFFINITY(TERM(IN("group", "gpu") ", " IN("example.com/rack", "r1"))) GPU), ""},
        /* this one could */
        {POD("", "nodeSelector: {group: gpu}, " GPU), kept_out},
        {POD("", "nodeSelector: {karpenter.sh/nodepool: gpu}, " GPU), kept_out},
        {POD("", "nodeSelector: {topology.kubernetes.io/zone: a, karpenter.sh/capacity-type: "
                 "spot}, " GPU),
         kept_out},
        {POD("", AFFINITY(TERM("{key: group, operator: In, values: [other]}") ", " TERM(
                     "{key: group, operator: Exists}")) GPU),
         kept_out},
        {POD("", AFFINITY(TERM(IN(AWS "size", "xlarge, nano"))) GPU), kept_out},
        {POD("", "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
                 "[{weight: 1, preference: " TERM(IN("group", "other")) "}]}}, " GPU),
         kept_out},
        {POD("", "nodeName: a, " GPU), ""}, /* it is placed */
        {POD("", AFFINITY(NODE_NAMED("In", "g1")) GPU), ""},
        {POD("", AFFINITY(NODE_NAMED("NotIn", "g1")) GPU), kept_out},
    };
    rail_table_run(&(struct rail_table){AS_WRITTEN, CLOSED, cases, COUNT_OF(cases)});
}

/* The API server's ExtendedResourceToleration tolerates the resource's own taint NoSchedule. */
static void what_the_api_server_adds_counts(void)
{
    static const struct rail_case cases[] = {
        {POD("", GPU), ""},
        {TEMPLATE("Deployment", "", GPU), ""},
        /* the resource of a share is another key */
        {POD("", ASKS("nvidia.com/mig-1g.5gb")), "deny spec.tolerations nvidia.com/mig-1g.5gb"},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", CLOSED, cases, COUNT_OF(cases)});
    static const char dedicated[] = VISIBLE("ml", "v1", "group: gpu", IN(AWS "family", "g5"),
                                            "{key: nvidia.com/gpu, effect: NoSchedule}, "
                                            "{key: dedicated, value: ml, effect: NoSchedule}");
    static const struct rail_case more[] = {
        {POD("", GPU), kept_out},
        {TEMPLATE("Deployment", "", GPU), "deny spec.template.spec.tolerations nvidia.com/gpu"},
        {POD("{key: dedicated, operator: Exists}", GPU), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", dedicated, more, COUNT_OF(more)});
    static const char evicts[] = VISIBLE("ml", "v1", "group: gpu", IN(AWS "family", "g5"),
                                         "{key: nvidia.com/gpu, effect: NoExecute}");
    rail_table_run(&(struct rail_table){"accelerators: {}", evicts, more, 1});
}

/* Those whose accelerator comes from elsewhere, or that run where all nodes have some. */
static void who_need_not_ask(void)
{
#define CONTAINER(name) "containers: [{name: " name "}]"
    static const struct rail_case cases[] = {
        {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: kube-system}, "
         "spec: {template: {spec: {tolerations: [" TOLERATES "], " ASKS_NOTHING
         ", priorityClassName: system-node-critical}}}}",
         ""},
        {TEMPLATE("Deployment", TOLERATES,
                  ASKS_NOTHING ", priorityClassName: system-node-critical"),
         "deny spec.template.spec.tolerations[0].key nvidia.com/gpu"},
        {TEMPLATE("Deployment", TOLERATES, ASKS_NOTHING ", priorityClassName: high"),
         "deny spec.template.spec.tolerations[0].key nvidia.com/gpu"},
        {TEMPLATE("Deployment", TOLERATES, ASKS("FILLED_BY_AN_OPERATOR")), ""},
        {TEMPLATE("Deployment", TOLERATES, ASKS("hugepages-2Mi")),
         "deny spec.template.spec.tolerations[0].key nvidia.com/gpu"},
        {TEMPLATE("Deployment", TOLERATES, CONTAINER("spark-kubernetes-executor")), ""},
        /* a Pod is complete, whatever its parts are called */
        {POD(TOLERATES, CONTAINER("spark-kubernetes-executor")),
         "deny spec.tolerations[0].key nvidia.com/gpu"},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: "
         "{cdi.k8s.io/gpu: vendor.com/gpu=all}}, spec: {tolerations: [" TOLERATES "], " ASKS_NOTHING
         "}}",
         "deny spec.tolerations[0].key nvidia.com/gpu"},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, cases, COUNT_OF(cases)});
}

/* The settings of a SparkApplication say what its executors ask for, besides their template. */
static void spark_completes_its_pods(void)
{
#define OF_GROUP(kind, version, group)                                                           \
    "{apiVersion: " group "/" version ", kind: " kind ", metadata: {name: a}, spec: {executor: " \
    "{template: {spec: {tolerations: [" TOLERATES "], " ASKS_NOTHING "}}}}}"
#define HELD(kind, group) "{group: " group ", kind: " kind ", paths: [spec.executor.template]}"
    static const struct rail_case cases[] = {
        {OF_GROUP("SparkApplication", "v1beta2", "sparkoperator.k8s.io"), ""},
        {OF_GROUP("ScheduledSparkApplication", "v1beta2", "sparkoperator.k8s.io"), ""},
        {OF_GROUP("RayCluster", "v1", "ray.io"),
         "deny spec.executor.template.spec.tolerations[0].key nvidia.com/gpu"},
    };
    rail_table_run(&(struct rail_table){
        "accelerators: {}}, podTemplates: [" HELD(
            "SparkApplication",
            "sparkoperator.k8s.io") ", " HELD("ScheduledSparkApplication",
                                              "sparkoperator.k8s.io") ", " HELD("RayCluster",
                                                                                "ray.io") "], "
                                                                                          "karpente"
                                                                                          "r: {",
        NULL, cases, COUNT_OF(cases)});
}

/* A pod asks every NodePool by each of its terms. */
static void so_many_terms_are_looked_at(void)
{
#define NONE TERM("{key: group, operator: In, values: [other]}")
#define EIGHT(term) term ", " term ", " term ", " term ", " term ", " term ", " term ", " term
    static const struct rail_case cases[] = {
        {POD("", AFFINITY(EIGHT(EIGHT(NONE))) GPU), ""},
        {POD("", AFFINITY(EIGHT(EIGHT(NONE)) ", " NONE) GPU), kept_out},
        {POD("", AFFINITY(EIGHT(EIGHT(NONE)) ", " NODE_NAMED("In", "g1")) GPU), ""},
        {POD("", AFFINITY(EIGHT(EIGHT(NONE)) ", " TERM("{key: group, operator: Exists}")) GPU),
         kept_out},
    };
    rail_table_run(&(struct rail_table){AS_WRITTEN, CLOSED, cases, COUNT_OF(cases)});
#define OTHERS NODE_NAMED("In", "c1")
    static const char idle[] = "deny spec.tolerations[0].operator Exists";
    static const struct rail_case idle_cases[] = {
        {POD(EVERY, AFFINITY(EIGHT(EIGHT(NONE))) ASKS_NOTHING), ""},
        {POD(EVERY, AFFINITY(EIGHT(EIGHT(NONE)) ", " NONE) ASKS_NOTHING), idle},
        {POD(EVERY, AFFINITY(EIGHT(EIGHT(NONE)) ", " OTHERS) ASKS_NOTHING), ""},
        {POD("{operator: Exists, effect: NoSchedule}",
             AFFINITY(EIGHT(EIGHT(NONE)) ", " NONE) ASKS_NOTHING),
         idle},
    };
    rail_table_run(
        &(struct rail_table){"accelerators: {}", CLOSED, idle_cases, COUNT_OF(idle_cases)});
    static const struct rail_case node_cases[] = {
        {POD(EVERY, AFFINITY(EIGHT(EIGHT(OTHERS))) ASKS_NOTHING), ""},
        {POD(EVERY, AFFINITY(EIGHT(EIGHT(OTHERS)) ", " NODE_NAMED("In", "g1")) ASKS_NOTHING), idle},
        {POD(EVERY, AFFINITY(EIGHT(EIGHT(OTHERS)) ", " NONE) ASKS_NOTHING), idle},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}",
                                        NODE_OF("g1", "", GPU_TAINT) NODE_OF("c1", "", ""),
                                        node_cases, COUNT_OF(node_cases)});
    rail_table_run(&(struct rail_table){
        "accelerators: {}",
        VISIBLE("batch", "v1", "", "", TEAM_TAINT) "---\n" VISIBLE(
            "evicts", "v1", "", "", "{key: nvidia.com/gpu, effect: NoExecute}")
            NODE_OF("c1", "", TEAM_TAINT),
        &(struct rail_case){POD("{operator: Exists, effect: NoSchedule}",
                                AFFINITY(EIGHT(EIGHT(NONE)) ", " NONE) ASKS_NOTHING),
                            ""},
        1});
    static const struct rail_words idle_words = {
        POD(EVERY, AFFINITY(EIGHT(EIGHT(NONE)) ", " NONE) ASKS_NOTHING),
        "The pod tolerates every taint, also those of nodes with accelerators such as "
        "nvidia.com/gpu, but asks for no accelerator. None of the first 64 of its 65 "
        "nodeSelectorTerms leads to such nodes. No more are looked at.",
        "Name the keys of the taints that the pod must tolerate, write at most 64 "
        "nodeSelectorTerms, or ask for nvidia.com/gpu under resources.limits of a container."};
    rail_words_run("accelerators: {}", CLOSED, &idle_words, 1);
    static const struct rail_words words = {
        POD("", AFFINITY(EIGHT(EIGHT(NONE)) ", " NONE) GPU),
        "No NodePool serves this pod, which asks for nvidia.com/gpu, by the first 64 of its 65 "
        "nodeSelectorTerms. No more are looked at.",
        "Write at most 64 nodeSelectorTerms."};
    rail_words_run(AS_WRITTEN, CLOSED, &words, 1);
}

/* What it takes to ask a pool is given back, so that a review has memory for many. */
static void many_pools_are_asked_by_many_terms(void)
{
#define TOO_LARGE TERM(IN(AWS "cpu", "'9000'"))
    struct arena *arena = arena_create((size_t)64 << 20);
    struct text_builder pools = {.arena = arena};
    for (int i = 0; i < 100; i++)
        text_builder_printf(
            &pools, "---\n" VISIBLE("pool-%d", "v1", "", IN(AWS "family", "g5"), GPU_TAINT), i);
    struct world world =
        rail_table_world("accelerators: {}", text_builder_text(&pools).data, arena);
    struct rail_documents documents =
        rail_table_read(POD(EVERY, AFFINITY(EIGHT(EIGHT(TOO_LARGE))) ASKS_NOTHING), arena);
    struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
    struct arena *of_review = arena_create((size_t)2 << 20);
    struct verdict verdict;
    policy_evaluate_within(&world, &subject, 0, of_review, &verdict);
    ASSERT_TEXT(text_of(limit_name(verdict.limit)), "none");
    ASSERT_INT(verdict.finding_count, 0);
    arena_destroy(of_review);
    arena_destroy(arena);
}

static void daemon_sets_for_accelerators(void)
{
#define DAEMON(tolerations, selects) TEMPLATE("DaemonSet", tolerations, selects ASKS_NOTHING)
#define TYPES(values) AFFINITY(TERM(IN("node.kubernetes.io/instance-type", values)))
    static const char shut_out[] = "warn spec.template.spec.tolerations nvidia.com/gpu";
    static const struct rail_case cases[] = {
        {DAEMON("", "nodeSelector: {nvidia.com/gpu.present: 'true'}, "), shut_out},
        {DAEMON("", "nodeSelector: {node.kubernetes.io/instance-type: p5.48xlarge}, "), shut_out},
        {DAEMON("{key: CriticalAddonsOnly, operator: Exists}", TYPES("m5.large, g5.xlarge")),
         shut_out},
        {DAEMON("", AFFINITY(TERM("{key: feature.node.kubernetes.io/pci-10de.present, operator: "
                                  "Exists}"))),
         shut_out},
        {DAEMON("", AFFINITY(TERM("{key: " AWS "gpu-count, operator: Gt, values: ['0']}"))),
         shut_out},
        {DAEMON("", AFFINITY(TERM("{key: " AWS "gpu-count, operator: Gte, values: ['1']}"))),
         shut_out},
        /* what every node may be tainted with, or what keeps nobody out */
        {DAEMON("{key: node.kubernetes.io/not-ready, operator: Exists}", TYPES("g5.xlarge")),
         shut_out},
        {DAEMON("{key: node-role.kubernetes.io/control-plane}", TYPES("g5.xlarge")), shut_out},
        {DAEMON("{key: dedicated, operator: Exists, effect: PreferNoSchedule}", TYPES("g5.xlarge")),
         shut_out},
        {DAEMON("", TYPES("inf2.xlarge")),
         "warn spec.template.spec.tolerations aws.amazon.com/neuron"},
        /* it gets in, or the nodes have a taint of another key */
        {DAEMON(TOLERATES, TYPES("g5.xlarge")), ""},
        {DAEMON("{operator: Exists}", TYPES("g5.xlarge")), ""},
        {DAEMON("{key: dedicated, operator: Exists}", TYPES("g5.xlarge")), ""},
        {TEMPLATE("DaemonSet", "", TYPES("g5.xlarge") GPU), ""},
        /* it is for no such nodes */
        {DAEMON("", TYPES("m5.large")), ""},
        {DAEMON("", "nodeSelector: {nvidia.com/gpu.present: 'false'}, "), ""},
        {DAEMON("", AFFINITY(TERM("{key: nvidia.com/gpu.present, operator: DoesNotExist}"))), ""},
        {DAEMON("", AFFINITY(TERM("{key: " AWS "gpu-count, operator: Gt, values: [none]}"))), ""},
        {DAEMON("", AFFINITY(TERM("{key: node.kubernetes.io/instance-type, operator: Exists}"))),
         ""},
        {DAEMON("", ""), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, cases, COUNT_OF(cases)});
    /* which taint such nodes have the policy does not say */
    static const struct rail_case own[] = {{DAEMON("", TYPES("g5.xlarge")), ""}};
    rail_table_run(&(struct rail_table){"accelerators: {taints: [dedicated]}", NULL, own, 1});
    static const struct rail_words words = {
        DAEMON("", TYPES("g5.xlarge")),
        "This DaemonSet selects nodes with accelerators but does not tolerate their "
        "taint nvidia.com/gpu, so it never starts there.",
        "Add to spec.template.spec.tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: "
        "NoSchedule}]."};
    rail_words_run("accelerators: {}", NULL, &words, 1);
}

static void one_open_pool_is_enough(void)
{
    static const struct rail_case open[] = {{POD("", GPU), ""}};
    static const struct rail_case closed[] = {{POD("", GPU), kept_out}};
    static const struct rail_case undecided[] = {
        {POD("", GPU), "undecided spec.tolerations nvidia.com/gpu"}};
    static const struct {
        const char *more;
        const struct rail_case *cases;
    } tables[] = {
        {VISIBLE("open", "v1", "", IN(AWS "category", "g"), ""), open},
        {VISIBLE("open", "v1beta1", "", IN(AWS "category", "g"),
                 "{key: a, effect: PreferNoSchedule}"),
         open},
        {VISIBLE("open", "v1", "", "", ""), open},
        {VISIBLE("other", "v1", "", IN(AWS "category", "c"), ""), closed},
        {VISIBLE("other", "v1", "", IN(AWS "family", "g4ad"), ""), closed},
        {VISIBLE("other", "v1beta1", "", IN(AWS "category", "g"), "{key: a, effect: NoExecute}"),
         closed},
        {VISIBLE("other", "v1", AWS "family: c5", "", ""), closed},
        {VISIBLE("other", "v1", "", IN(AWS "category", "g, c") ", " IN(AWS "family", "c5"), ""),
         closed},
        {VISIBLE("open", "v1", "", IN("node.kubernetes.io/instance-type", "p3.2xlarge"), ""), open},
        {ELSEWHERE("other", "{key: a, effect: NoSchedule}"), closed},
        {ELSEWHERE("open", ""), open},
        {DELETED, closed},
    };
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        char cluster[4096];
        snprintf(cluster, sizeof cluster, "%s---\n%s", CLOSED, tables[i].more);
        rail_table_run(&(struct rail_table){AS_WRITTEN, cluster, tables[i].cases, 1});
    }
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, undecided, 1});
    /* Whether that cloud's types carry it is not known. */
    rail_table_run(&(struct rail_table){
        "accelerators: {}", ELSEWHERE("aks", "{key: a, effect: NoSchedule}"), undecided, 1});
    rail_table_run(&(struct rail_table){"accelerators: {}", DELETED, open, 1});
}

/* ExtendedResourceToleration asks for no quantity. */
static void none_of_a_resource_is_tolerated_too(void)
{
#define NONE_OF(where) "[{name: a, resources: {" where ": {nvidia.com/gpu: 0}}}]"
#define SIDE ", containers: [{name: b}]"
    static const char warned[] = "warn spec.template.spec.containers[0].resources.limits"
                                 "[nvidia.com/gpu] 0";
    static const struct rail_case cases[] = {
        {TEMPLATE("Deployment", "", "containers: " NONE_OF("limits")), warned},
        {TEMPLATE("Deployment", "", "initContainers: " NONE_OF("requests") SIDE),
         "warn spec.template.spec.initContainers[0].resources.requests[nvidia.com/gpu] 0"},
        {TEMPLATE("Deployment", "",
                  "containers: [{name: b, resources: {limits: {nvidia.com/gpu: null}}}, {name: a, "
                  "resources: {limits: {nvidia.com/gpu: 0}}}]"),
         "warn spec.template.spec.containers[1].resources.limits[nvidia.com/gpu] 0"},
        /* one that asks for some */
        {TEMPLATE("Deployment", "",
                  "containers: [{name: b, resources: {limits: {nvidia.com/gpu: 1}}}, {name: a, "
                  "resources: {limits: {nvidia.com/gpu: 0}}}]"),
         ""},
        /* a resource of no taint, and one of Kubernetes' own */
        {TEMPLATE("Deployment", "",
                  "containers: [{name: a, resources: {limits: {a.com/b: 0, cpu: 0}}}]"),
         ""},
        {POD("", "containers: " NONE_OF("limits")), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case as_written = {
        TEMPLATE("Deployment", "", "containers: " NONE_OF("limits")), ""};
    rail_table_run(&(struct rail_table){AS_WRITTEN, NULL, &as_written, 1});
    /* A taint that is no resource, and a resource that the API server adds nothing for. */
#define ASKS_NONE_OF(resource) \
    TEMPLATE("Deployment", "", "containers: [{name: a, resources: {limits: {" resource ": 0}}}]")
    static const struct rail_case others[] = {{ASKS_NONE_OF("a.com/room"), ""},
                                              {ASKS_NONE_OF("gpu"), ""}};
    rail_table_run(
        &(struct rail_table){"accelerators: {resources: [gpu], taints: [a.com/room, gpu]}", NULL,
                             others, COUNT_OF(others)});
    static const struct rail_words words[] = {
        {TEMPLATE("Deployment", "", "containers: " NONE_OF("limits")),
         "With nvidia.com/gpu: 0 the API server adds a toleration of nvidia.com/gpu to the pods, "
         "and they may take a place on nodes that are kept for pods with accelerators.",
         "Remove nvidia.com/gpu."},
        {POD(TOLERATES, "containers: " NONE_OF("limits")),
         "The pod tolerates nvidia.com/gpu but asks for no accelerator. It takes a place on a "
         "node that is kept for pods that do.",
         "Remove nvidia.com/gpu: 0, for which the API server adds this toleration."},
        {POD("{key: nvidia.com/gpu, effect: NoSchedule}", "containers: " NONE_OF("limits")),
         "The pod tolerates nvidia.com/gpu but asks for no accelerator. It takes a place on a "
         "node that is kept for pods that do.",
         "Remove the toleration, or ask for nvidia.com/gpu under resources.limits of a container."},
        {POD("{key: nvidia.com/gpu, operator: Exists}", "containers: " NONE_OF("limits")),
         "The pod tolerates nvidia.com/gpu but asks for no accelerator. It takes a place on a "
         "node that is kept for pods that do.",
         "Remove the toleration, or ask for nvidia.com/gpu under resources.limits of a container."},
    };
    rail_words_run("accelerators: {}", NULL, words, COUNT_OF(words));
}

/* As those of a node group. */
static void an_open_node_serves_as_well(void)
{
#define GPU_NODE(name, more, spec, gpus)                                                         \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", " more "labels: {group: " name \
    "}}, spec: {" spec "}, status: {allocatable: {cpu: 8" gpus "}}}\n"
    static const char nodes[] =
        CLOSED GPU_NODE("none", "", "", "") GPU_NODE("zero", "", "", ", nvidia.com/gpu: 0")
            GPU_NODE("closed", "", "taints: [{key: nvidia.com/gpu, effect: NoSchedule}]",
                     ", nvidia.com/gpu: 4")
                GPU_NODE("gone", "deletionTimestamp: '2026-01-01T00:00:00Z', ", "",
                         ", nvidia.com/gpu: 4");
    static const char open[] = CLOSED GPU_NODE(
        "two", "", "taints: [{key: a, effect: PreferNoSchedule}]", ", nvidia.com/gpu: '2'")
        GPU_NODE("cordoned", "",
                 "unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, "
                 "effect: NoSchedule}]",
                 ", nvidia.com/gpu: 1, aws.amazon.com/neuron: 1");
    static const struct rail_case none_serves[] = {
        {POD("", GPU), kept_out},
    };
    static const struct rail_case cases[] = {
        {POD("", GPU), ""},
        {POD("", ASKS("nvidia.com/gpu: 1, cpu")), ""},
        {TEMPLATE("Deployment", "", GPU), ""},
        {POD("", "nodeSelector: {group: two}, " GPU), ""},
        {POD("", "nodeSelector: {group: cordoned}, " GPU), ""},
        {POD("", "nodeSelector: {group: gpu}, " GPU), kept_out},
        {POD("", "containers: [{name: a, resources: {limits: {nvidia.com/gpu: 2}}}]"), ""},
        {POD("", "containers: [{name: a, resources: {limits: {nvidia.com/gpu: 2}}}, {name: b, "
                 "resources: {limits: {nvidia.com/gpu: 1}}}]"),
         kept_out},
    };
    static const struct rail_case alone[] = {{POD("", GPU), ""}};
    rail_table_run(&(struct rail_table){AS_WRITTEN, nodes, none_serves, 1});
    rail_table_run(&(struct rail_table){AS_WRITTEN, open, cases, COUNT_OF(cases)});
    rail_table_run(
        &(struct rail_table){AS_WRITTEN, GPU_NODE("two", "", "", ", nvidia.com/gpu: 2"), alone, 1});
}

static void no_execute_alone_opens_what_no_other_taint_closes(void)
{
#define GPUS(taints) VISIBLE("gpus", "v1", "", IN(AWS "family", "g5"), taints)
#define EVICTS "{key: nvidia.com/gpu, effect: NoExecute}"
#define NODE                                                                                     \
    "{apiVersion: v1, kind: Node, metadata: {name: one}, spec: {taints: [" EVICTS "]}, status: " \
    "{allocatable: {cpu: 8, nvidia.com/gpu: 1}}}"
#define STAYS "{operator: Exists, effect: NoExecute, tolerationSeconds: 300}"
    static const char first[] = "deny spec.tolerations[0].operator Exists";
    static const struct {
        const char *cluster, *tolerations, *found;
        const char *rails; /* NULL: accelerators alone */
    } rows[] = {
        {GPUS(EVICTS), STAYS, first, NULL},
        /* tolerations without a list excuses what leaves in time, and finds the other one */
        {GPUS(EVICTS), STAYS, first, "accelerators: {}, tolerations: {}"},
        {GPUS(EVICTS), "{operator: Exists, effect: NoExecute}", first,
         "accelerators: {mode: warn}, tolerations: {}"},
        {NODE, STAYS, first, NULL},
        {GPUS("{key: nvidia.com/gpu, effect: NoSchedule}"), STAYS, "", NULL},
        {GPUS(EVICTS ", {key: a, effect: NoSchedule}"), STAYS, "", NULL},
        {NULL, STAYS, "", NULL},
        /* of two the one that opens more is told of, with no pool to be seen either */
        {NULL, STAYS ", {operator: Exists}", "deny spec.tolerations[1].operator Exists", NULL},
        {GPUS(EVICTS), STAYS ", " STAYS, first, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char pod[1024];
        snprintf(pod, sizeof pod,
                 "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {tolerations: [%s], %s}}",
                 rows[i].tolerations, ASKS_NOTHING);
        const struct rail_case cases[] = {{pod, rows[i].found}};
        const char *policy = rows[i].rails == NULL ? "accelerators: {}" : rows[i].rails;
        rail_table_run(&(struct rail_table){policy, rows[i].cluster, cases, 1});
    }
}

static void what_will_be_added_counts(void)
{
    static const struct rail_case cases[] = {
        {POD("", GPU), ""},
        {POD("{key: nvidia.com/gpu, value: '6'}", GPU), ""},
        /* a part of a device, on nodes that are tainted for the whole */
        {POD("", ASKS("nvidia.com/mig-1g.5gb")), ""},
        /* of which device it is a part is not known */
        {POD("", ASKS("4paradigm.com/vgpu")), "deny spec.tolerations 4paradigm.com/vgpu"},
        /* only for those that ask */
        {POD(TOLERATES, ASKS_NOTHING), "deny spec.tolerations[0].key nvidia.com/gpu"},
    };
    static const char rails[] = "accelerators: {addToleration: true}";
    rail_table_run(&(struct rail_table){rails, CLOSED, cases, COUNT_OF(cases)});
    /* Another taint still keeps it out. */
    static const struct rail_words dedicated[] = {
        {POD("", GPU),
         "The pod asks for nvidia.com/gpu but does not tolerate the taints of the "
         "NodePools that could serve it: ml (dedicated=ml:NoSchedule).",
         "Add to spec.tolerations: [{key: dedicated, operator: Exists, effect: "
         "NoSchedule}]."}};
    rail_words_run(rails,
                   VISIBLE("ml", "v1", "", IN(AWS "family", "g5"),
                           "{key: nvidia.com/gpu, effect: NoSchedule}, {key: dedicated, value: ml, "
                           "effect: NoSchedule}"),
                   dedicated, 1);
    static const struct rail_case unseen[] = {
        {POD("", GPU), "undecided spec.tolerations nvidia.com/gpu"}};
    rail_table_run(&(struct rail_table){rails, NULL, unseen, 1});
}

/* The webhook adds what any policy says. */
static void what_another_policy_adds_counts(void)
{
#define OTHER(mode)                                                                         \
    "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: other}, spec: " \
    "{mode: " mode ", rails: {accelerators: {addToleration: true, requireLimits: off}}}}"
    static const char found[] = "deny spec.tolerations nvidia.com/mig-1g.5gb";
    static const struct {
        const char *policy, *found;
    } rows[] = {{OTHER("enforce"), ""}, {OTHER("audit"), found}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        const struct catalog *catalog = catalog_builtin(arena);
        struct world world = rail_table_world_of("accelerators: {}", CLOSED, catalog, arena);
        struct policy policies[] = {
            rail_table_read_policy(text_of(rows[i].policy), catalog, arena),
            world.policies->items[0],
        };
        const struct policy_set set = {.items = policies, .count = COUNT_OF(policies)};
        world.policies = &set;
        struct rail_documents documents =
            rail_table_read(POD("", ASKS("nvidia.com/mig-1g.5gb")), arena);
        ASSERT_TEXT(rail_table_findings(&world, documents.items, arena), rows[i].found);
        arena_destroy(arena);
    }
}

#define UPDATED(replicas, strategy, resource)                                                 \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: " replicas \
    ", strategy: " strategy                                                                   \
    ", template: {spec: {containers: [{name: a, resources: {limits: {" resource "}}}]}}}}"

/* Of less than four pods a quarter is one more, and none fewer. */
static void updates_need_room(void)
{
    static const char found[] = "warn spec.strategy ";
    static const struct rail_case cases[] = {
        {UPDATED("1", "null", "nvidia.com/gpu: 2"), found},
        {UPDATED("null", "{}", "nvidia.com/gpu: 2"), found},
        {UPDATED("3", "{type: RollingUpdate}", "aws.amazon.com/neuron: 1"), found},
        {UPDATED("3", "{type: RollingUpdate, rollingUpdate: {}}", "nvidia.com/gpu: 1"), found},
        {UPDATED("4", "null", "nvidia.com/gpu: 2"), ""},
        {UPDATED("0", "null", "nvidia.com/gpu: 2"), ""},
        {UPDATED("1", "{type: Recreate}", "nvidia.com/gpu: 2"), ""},
        /* who wrote numbers has weighed that */
        {UPDATED("1", "{rollingUpdate: {maxSurge: 1}}", "nvidia.com/gpu: 2"), ""},
        /* a part of a device is to be had, and what is no device is bought with any node */
        {UPDATED("1", "null", "nvidia.com/mig-1g.5gb: 2"), ""},
        {UPDATED("1", "null", "cpu: 2"), ""},
        {UPDATED("1", "null", "nvidia.com/gpu: 0"),
         "warn spec.template.spec.containers[0].resources.limits[nvidia.com/gpu] 0"},
        {UPDATED("1", "null", "nvidia.com/gpu: many"), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, cases, COUNT_OF(cases)});
#define MORE(count, resource)                                                                 \
    "An update starts a new pod before it ends an old one (maxSurge 25%), so it needs " count \
    " more " resource ", and waits while no node has them."
    static const struct rail_words words[] = {
        {UPDATED("1", "null", "nvidia.com/gpu: 2"), MORE("2", "nvidia.com/gpu"),
         "Set spec.strategy to {type: Recreate} where that is too much: the pod then stops for the "
         "time of an update."},
        {UPDATED("2", "null", "aws.amazon.com/neuron: 6"), MORE("6", "aws.amazon.com/neuron"),
         "Set spec.strategy to {type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: "
         "1}} where that is too much."},
    };
    rail_words_run("accelerators: {}", NULL, words, COUNT_OF(words));
}

static void with_no_pool_visible_nothing_is_decided(void)
{
    static const char undecided[] = "undecided spec.tolerations nvidia.com/gpu";
    static const struct rail_case cases[] = {
        {POD("", GPU), undecided},
        {POD(TOLERATES, GPU), undecided},
        {POD("{operator: Exists, effect: NoSchedule}", GPU), undecided},
        {POD("{operator: Equal}", GPU), undecided},
        {POD(TOLERATES ", {operator: Exists}", GPU), ""}, /* whatever taints there are */
        {POD("", "nodeName: a, " GPU), ""},
        {TEMPLATE("Deployment", "", GPU), ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, cases, COUNT_OF(cases)});
    /* There may be others than the one that was sent along. */
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world(AS_WRITTEN, CLOSED, arena);
    struct rail_documents documents = rail_table_read(POD("", GPU), arena);
    ASSERT_TEXT(rail_table_findings(&world, &documents.items[0], arena), kept_out);
    world.unseen = KIND_BIT(KIND_NODE_POOL);
    ASSERT_TEXT(rail_table_findings(&world, &documents.items[0], arena), undecided);
    world.unseen = KIND_BIT(KIND_NODE);
    ASSERT_TEXT(rail_table_findings(&world, &documents.items[0], arena), undecided);
    arena_destroy(arena);
}

#define REPLICAS(replicas, type, gpus)                                                      \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {strategy: {type: " \
    "Recreate}, replicas: " replicas ", template: {spec: {nodeSelector: {" type             \
    "}, containers: [{name: a, resources: {limits: "                                        \
    "{nvidia.com/gpu: " gpus "}}}, {name: b}]}}}}"
#define P4DE "node.kubernetes.io/instance-type: p4de.24xlarge"
#define G6 "karpenter.k8s.aws/instance-family: g6"
#define G6_OF_FOUR G6 ", karpenter.k8s.aws/instance-gpu-count: '4'"

/* Two containers that ask. */
#define BOTH(selector, first, second)                                                       \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {strategy: {type: " \
    "Recreate}, template: {spec: "                                                          \
    "{nodeSelector: {" selector                                                             \
    "}, containers: [{name: a, resources: {limits: {nvidia.com/gpu: " first                 \
    "}}}, {name: b, resources: {limits: {nvidia.com/gpu: " second "}}}]}}}}"

static void gpus_that_stay_idle(void)
{
    static const char idle[] = "warn spec.template.spec.containers[0].resources.limits[nvidia.com/"
                               "gpu] 1";
    static const struct rail_case cases[] = {
        {REPLICAS("1", P4DE, "1"), idle},
        {REPLICAS("null", P4DE, "1"), idle},
        {REPLICAS("7", P4DE, "1"), idle},
        {REPLICAS("8", P4DE, "1"), ""},
        {REPLICAS("0", P4DE, "1"), ""},
        {REPLICAS("1", P4DE, "8"), ""},
        {REPLICAS("1", P4DE, "x"), ""},
        {REPLICAS("4294967296", P4DE, "1"), ""},
        /* each container asks; of none it asks for nothing */
        {BOTH(P4DE, "1", "1"), idle},
        {BOTH(P4DE, "7", "1"), ""},
        {BOTH(P4DE, "0", "1"), "warn spec.template.spec.containers[1].resources.limits[nvidia.com/"
                               "gpu] 1"},
        {BOTH(P4DE, "0", "0"),
         "warn spec.template.spec.containers[0].resources.limits[nvidia.com/gpu] 0"},
        {BOTH(P4DE, "100000000", "1"), ""},
        /* the term that it requires, when it is one */
        {TEMPLATE("Deployment", "", TYPES("p4de.24xlarge") GPU), idle},
        {TEMPLATE("Deployment", "",
                  AFFINITY(TERM(IN("node.kubernetes.io/instance-type", "p4de.24xlarge")) ", " TERM(
                      IN("node.kubernetes.io/instance-type", "p4d.24xlarge"))) GPU),
         ""},
        /* of another maker it has none of these */
        {REPLICAS("1", "node.kubernetes.io/instance-type: g4ad.16xlarge", "1"), ""},
        /* a type with one GPU is among them; and one with none */
        {REPLICAS("1", G6, "1"), ""},
        {REPLICAS("1", G6_OF_FOUR, "1"), idle},
        {REPLICAS("1", "karpenter.k8s.aws/instance-category: g", "1"), ""},
        {REPLICAS("1", "kubernetes.io/arch: amd64", "1"), ""},
        {REPLICAS("1", "node.kubernetes.io/instance-type: unknown.large", "1"), ""},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeSelector: {" P4DE
         "}, " ASKS("nvidia.com/gpu") "}}",
         "undecided spec.tolerations nvidia.com/gpu"},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {REPLICAS("1", P4DE, "1"),
         "p4de.24xlarge has 8 GPUs, and all replicas together ask for 1. The others stay idle "
         "unless other pods use them.",
         "Select a type with fewer GPUs, or ask for all 8."},
        {REPLICAS("3", G6_OF_FOUR, "1"),
         "Each selected type, such as g6.12xlarge, has 4 GPUs, and all replicas together ask for "
         "3. The other stays idle unless other pods use it.",
         "Select a type with fewer GPUs, or ask for all 4."},
    };
    rail_words_run("accelerators: {}", NULL, words, COUNT_OF(words));
}

const char unit_suite[] = "policy accelerators: pods";
const struct unit_test unit_tests[] = {
    {"who tolerates must ask", who_tolerates_must_ask},
    {"who tolerates everything must ask", who_tolerates_everything_must_ask},
    {"claims of devices", claims_of_devices},
    {"the runtime gives GPUs", the_runtime_gives_gpus},
    {"pods of DaemonSets", pods_of_daemon_sets},
    {"every kind that has pods", every_kind_that_has_pods},
    {"who tolerates everything and chooses accelerators",
     who_tolerates_everything_and_chooses_accelerators},
    {"who tolerates everything and chooses a node", who_tolerates_everything_and_chooses_a_node},
    {"nodes have labels of their own", nodes_have_labels_of_their_own},
    {"hardware may not be known", hardware_may_not_be_known},
    {"labels of other clouds", labels_of_other_clouds},
    {"what tolerations says is said once", what_tolerations_says_is_said_once},
    {"who asks must be let in", who_asks_must_be_let_in},
    {"what the API server adds counts", what_the_api_server_adds_counts},
    {"who need not ask", who_need_not_ask},
    {"Spark completes its pods", spark_completes_its_pods},
    {"so many terms are looked at", so_many_terms_are_looked_at},
    {"many pools are asked by many terms", many_pools_are_asked_by_many_terms},
    {"DaemonSets for accelerators", daemon_sets_for_accelerators},
    {"one open pool is enough", one_open_pool_is_enough},
    {"none of a resource is tolerated, too", none_of_a_resource_is_tolerated_too},
    {"an open Node serves as well", an_open_node_serves_as_well},
    {"NoExecute alone opens what no other taint closes",
     no_execute_alone_opens_what_no_other_taint_closes},
    {"what will be added counts", what_will_be_added_counts},
    {"what another policy adds counts", what_another_policy_adds_counts},
    {"GPUs that stay idle", gpus_that_stay_idle},
    {"updates need room", updates_need_room},
    {"with no pool visible nothing is decided", with_no_pool_visible_nothing_is_decided},
    {NULL, NULL},
};
