/* The rail capacity-buffer: whose pods, how many, and whether there can be room for one. */
#include "rail_modes.h"
#include "rail_table.h"

#define BUFFER(spec)                                                                             \
    "{apiVersion: autoscaling.x-k8s.io/v1beta1, kind: CapacityBuffer, metadata: {name: spare}, " \
    "spec: {" spec "}}"
#define CONTAINER(requests) "{name: a, image: a, resources: {requests: {" requests "}}}"
#define TEMPLATE(name, spec)                                                                     \
    "---\n{apiVersion: v1, kind: PodTemplate, metadata: {name: " name "}, template: {metadata: " \
    "{labels: {app: a}}, spec: {" spec "}}}\n"
#define WEB(replicas)                                                                        \
    "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {" replicas   \
    "selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: " \
    "{containers: [" CONTAINER("cpu: 1, memory: 1Gi") "]}}}}\n"
#define NODE                                                                                    \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: node}, status: {allocatable: {cpu: 2, " \
    "memory: 8Gi, pods: 29}}}\n"
#define POOL                                                                                       \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general}, spec: {template: "   \
    "{spec: "                                                                                      \
    "{nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: " \
    "[{key: karpenter.k8s.aws/instance-family, operator: In, values: [m5]}]}}}}\n"
#define WORKLOADS                                                                                  \
    TEMPLATE("small", "containers: [" CONTAINER("cpu: 500m, memory: 1Gi") "]")                     \
    TEMPLATE("huge", "containers: [" CONTAINER("cpu: 2000") "]")                                   \
    TEMPLATE("pods", "containers: [" CONTAINER("cpu: 1, pods: 1") "]")                             \
    TEMPLATE("endless", "containers: [{name: a, resources: {requests: {memory: 7Ei}}}, {name: b, " \
                        "resources: {requests: {memory: 7Ei}}}]")                                  \
    TEMPLATE("gpu", "containers: [" CONTAINER("nvidia.com/gpu: 1") "]") WEB("replicas: 10, ")
static const char cluster[] = POOL NODE WORKLOADS;

#define SMALL "podTemplateRef: {name: small}"
#define OF_WEB "scalableRef: {apiGroup: apps, kind: Deployment, name: web}"

static void they_name_their_pods(void)
{
    static const struct rail_case cases[] = {
        {BUFFER(SMALL ", replicas: 3"), ""},
        {BUFFER(OF_WEB ", replicas: 3"), ""},
        {BUFFER("scalableRef: {kind: Deployment, name: web}, replicas: 3"), ""},
        {BUFFER("scalableRef: {apiGroup: apps, kind: ReplicaSet, name: web}, replicas: 3"),
         "undecided spec.scalableRef.name web"},
        {BUFFER(""), "deny spec "},
        {BUFFER(SMALL ", " OF_WEB ", replicas: 3"), "deny spec.scalableRef "},
        {BUFFER("scalableRef: {apiGroup: argoproj.io, kind: Rollout, name: web}, replicas: 3"),
         "deny spec.scalableRef.kind Rollout"},
        {BUFFER("scalableRef: {apiGroup: batch, kind: Job, name: web}, replicas: 3"),
         "deny spec.scalableRef.kind Job"},
        {BUFFER("scalableRef: {apiGroup: example.com, kind: Deployment, name: web}, replicas: 3"),
         "deny spec.scalableRef.kind Deployment"},
        {BUFFER("podTemplateRef: {name: none}, replicas: 3"),
         "undecided spec.podTemplateRef.name none"},
        {BUFFER("scalableRef: {apiGroup: apps, kind: StatefulSet, name: web}, replicas: 3"),
         "undecided spec.scalableRef.name web"},
    };
    rail_table_run(&(struct rail_table){"capacity-buffer: {}", cluster, cases, COUNT_OF(cases)});
}

static void how_many_is_meant(void)
{
    static const struct rail_case cases[] = {
        {BUFFER(SMALL ", replicas: 5"), ""},
        {BUFFER(SMALL ", replicas: 6"), "deny spec.replicas 6"},
        {BUFFER(SMALL ", replicas: 0"), "warn spec.replicas 0"},
        {BUFFER(OF_WEB), "warn spec "},
        /* of ten, rounded up; the larger of both counts */
        {BUFFER(OF_WEB ", percentage: 50"), ""},
        {BUFFER(OF_WEB ", percentage: 51"), "deny spec.percentage 6"},
        {BUFFER(OF_WEB ", percentage: 0"), "warn spec.percentage 0"},
        {BUFFER(OF_WEB ", percentage: 10, replicas: 7"), "deny spec.replicas 7"},
        {BUFFER(OF_WEB ", percentage: 70, replicas: 1"), "deny spec.percentage 7"},
        {BUFFER(SMALL ", percentage: 900, replicas: 1"), ""},
        /* cut to the limits, which alone say as many as there is room for */
        {BUFFER(SMALL ", replicas: 9, limits: {cpu: 2}"), ""},
        {BUFFER(SMALL ", replicas: 9, limits: {cpu: 4}"), "deny spec.limits 8"},
        {BUFFER(SMALL ", limits: {cpu: 2}"), ""},
        {BUFFER(SMALL ", limits: {cpu: 100, memory: 5Gi}"), ""},
        {BUFFER(SMALL ", limits: {cpu: 100, memory: 6Gi}"), "deny spec.limits 6"},
        {BUFFER(SMALL ", limits: {cpu: 3, memory: 6Gi}"), "deny spec.limits 6"},
        {BUFFER(SMALL ", limits: {cpu: 100m}"), "warn spec.limits "},
        /* pods of a template may say what no pod requests */
        {BUFFER("podTemplateRef: {name: pods}, replicas: 2, limits: {pods: 1}"),
         "warn spec.limits "},
        /* what no reader takes says nothing */
        {BUFFER(SMALL ", replicas: 2, limits: {cpu: many}"), "warn spec.limits "},
        {BUFFER(OF_WEB ", percentage: -1, replicas: 6"), "deny spec.replicas 6"},
        {BUFFER(OF_WEB ", percentage: 2147483648, replicas: 2"), ""},
        {BUFFER(OF_WEB ", percentage: 2147483647, replicas: 2"), "deny spec.percentage 214748365"},
        {BUFFER(SMALL ", replicas: 2, limits: {nvidia.com/gpu: 1}"), "warn spec.limits "},
        {BUFFER(SMALL ", replicas: 2, limits: {pods: 1}"), "warn spec.limits "},
        /* of pods that may come later: replicas, which limits could cut */
        {BUFFER("podTemplateRef: {name: none}, replicas: 5"),
         "undecided spec.podTemplateRef.name none"},
        {BUFFER("podTemplateRef: {name: none}, replicas: 6"),
         "undecided spec.podTemplateRef.name none\ndeny spec.replicas 6"},
        {BUFFER("scalableRef: {kind: Deployment, name: none}, replicas: 6"),
         "deny spec.replicas 6\nundecided spec.scalableRef.name none"},
        {BUFFER("podTemplateRef: {name: none}, replicas: 6, limits: {cpu: 1}"),
         "undecided spec.podTemplateRef.name none"},
        {BUFFER("podTemplateRef: {name: none}, replicas: 6, limits: {pods: 1, cpu: 1}"),
         "undecided spec.podTemplateRef.name none"},
        {BUFFER("podTemplateRef: {name: none}, replicas: 6, limits: {pods: 1}"),
         "undecided spec.podTemplateRef.name none\ndeny spec.replicas 6"},
        {BUFFER("scalableRef: {apiGroup: batch, kind: Job, name: web}, replicas: 6"),
         "deny spec.scalableRef.kind Job"},
    };
    rail_table_run(
        &(struct rail_table){"capacity-buffer: {maxReplicas: 5}", cluster, cases, COUNT_OF(cases)});
    static const struct rail_case any[] = {{BUFFER(SMALL ", replicas: 1000"), ""}};
    rail_table_run(&(struct rail_table){"capacity-buffer: {}", cluster, any, 1});
    /* At 0 a workload's percentage says nothing, and the limits alone decide. */
    static const struct rail_case asleep[] = {
        {BUFFER(OF_WEB ", percentage: 10, limits: {cpu: 9}"), "deny spec.limits 9"}};
    rail_table_run(&(struct rail_table){"capacity-buffer: {maxReplicas: 5}",
                                        POOL WEB("replicas: 0, "), asleep, 1});
}

static void there_can_be_room(void)
{
    static const struct rail_case cases[] = {
        {BUFFER("podTemplateRef: {name: huge}, replicas: 1"), "deny spec.podTemplateRef.name "},
        {BUFFER("podTemplateRef: {name: gpu}, replicas: 1"), "deny spec.podTemplateRef.name "},
    };
    rail_table_run(&(struct rail_table){"capacity-buffer: {}", cluster, cases, COUNT_OF(cases)});
    static const struct rail_case no_nodes[] = {
        {BUFFER("podTemplateRef: {name: huge}, replicas: 1"),
         "undecided spec.podTemplateRef.name "},
        {BUFFER("podTemplateRef: {name: gpu}, replicas: 1"), "undecided spec.podTemplateRef.name "},
        {BUFFER(SMALL ", replicas: 1"), ""},
        /* on no machine, whatever Nodes there are */
        {BUFFER("podTemplateRef: {name: endless}, replicas: 1, limits: {memory: 1Gi}"),
         "warn spec.limits \ndeny spec.podTemplateRef.name "},
    };
    rail_table_run(
        &(struct rail_table){"capacity-buffer: {}", POOL WORKLOADS, no_nodes, COUNT_OF(no_nodes)});
    rail_table_run_unseen(
        &(struct rail_table){"capacity-buffer: {}", cluster, no_nodes, COUNT_OF(no_nodes)},
        KIND_BIT(KIND_NODE));
    static const struct rail_case blind[] = {
        {BUFFER(SMALL ", replicas: 1"), "undecided spec.podTemplateRef.name "}};
    rail_table_run(&(struct rail_table){"capacity-buffer: {}", WORKLOADS, blind, 1});
    rail_table_run_unseen(&(struct rail_table){"capacity-buffer: {}", cluster, blind, 1},
                          KIND_BIT(KIND_NODE_POOL));
}

static void it_says_what_to_do(void)
{
    static const struct rail_words words[] = {
        {BUFFER(SMALL ", replicas: 6"),
         "The buffer holds room for 6 pods, and this policy allows 5.", "Ask for 5 at most."},
        {BUFFER(OF_WEB), "The buffer is for no pod, so Karpenter holds no room.",
         "Set spec.replicas to the pods to hold room for."},
    };
    rail_words_run("capacity-buffer: {maxReplicas: 5}", cluster, words, COUNT_OF(words));
}

const char unit_suite[] = "policy capacity-buffer";
const struct unit_test unit_tests[] = {
    {"they name their pods", they_name_their_pods},
    {"how many is meant", how_many_is_meant},
    {"there can be room", there_can_be_room},
    {"it says what to do", it_says_what_to_do},
    {NULL, NULL},
};
