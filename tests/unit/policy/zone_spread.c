/* The rail zone-spread: which workloads are spread, and what their pods are given. */
#include "change_table.h"
#include "rail_modes.h"

#define ZONE "topology.kubernetes.io/zone"
#define WORKLOAD(kind, replicas, spec)                                                           \
    "{apiVersion: apps/v1, kind: " kind ", metadata: {name: web}, spec: {" replicas "selector: " \
    "{matchLabels: {app: web}}, template: {metadata: {labels: {app: web, tier: front}}, "        \
    "spec: {" spec "}}}}"
#define WEB(spec) WORKLOAD("Deployment", "replicas: 3, ", spec)
#define PATCH(spec)                                                                       \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 3, " \
    "template: {spec: {" spec "}}}}"
#define SPREAD(key, rest) "topologySpreadConstraints: [{maxSkew: 1, topologyKey: " key rest "}]"
#define SELECTS(labels) ", labelSelector: {matchLabels: {" labels "}}"
#define ANTI_TERM(rest) "{topologyKey: " ZONE rest "}"
#define ANTI(rest)                                                                              \
    "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" ANTI_TERM( \
        rest) "]}}"
#define NAMESPACE "kubernetes.io/metadata.name"
#define IN_SPACES(labels) ", namespaceSelector: {matchLabels: {" labels "}}"
#define DEFAULT_SPACE \
    "{apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {team: a}}}"
#define NODE_AFFINITY(terms)                                                     \
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: " \
    "{nodeSelectorTerms: [" terms "]}}}"
#define IN_ZONE "{matchExpressions: [{key: " ZONE ", operator: In, values: [a]}]}"

#define NOTHING "deny spec.template.spec.topologySpreadConstraints "
#define MISSES "deny spec.template.spec.topologySpreadConstraints[0].labelSelector "

static void workloads_must_be_spread(void)
{
    static const struct rail_case cases[] = {
        {WEB(""), NOTHING},
        {WORKLOAD("StatefulSet", "replicas: 2, ", ""), NOTHING},
        {WORKLOAD("ReplicaSet", "replicas: 2, ", ""), NOTHING},
        {"{apiVersion: v1, kind: ReplicationController, metadata: {name: a}, spec: {replicas: 2, "
         "template: {metadata: {labels: {app: a}}, spec: {}}}}",
         NOTHING},
        /* too few to spread, which is 1 when nothing is said */
        {WORKLOAD("Deployment", "replicas: 1, ", ""), ""},
        {WORKLOAD("Deployment", "replicas: 0, ", ""), ""},
        {WORKLOAD("Deployment", "", ""), ""},
        {WORKLOAD("Deployment", "replicas: null, ", ""), ""},
        {WORKLOAD("Deployment", "replicas: '3', ", ""), ""},
        {WORKLOAD("Deployment", "replicas: 2.5, ", ""), ""},
        /* no replicas to speak of */
        {WORKLOAD("DaemonSet", "", ""), ""},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {}}", ""},
        /* spread */
        {WEB(SPREAD(ZONE, SELECTS("app: web"))), ""},
        {WEB(SPREAD(ZONE, ", whenUnsatisfiable: ScheduleAnyway" SELECTS("tier: front"))), ""},
        {WEB(SPREAD("failure-domain.beta.kubernetes.io/zone", SELECTS("app: web"))), ""},
        {WEB(SPREAD("topology.k8s.aws/zone-id", SELECTS("app: web"))), ""},
        {WEB(SPREAD(ZONE, ", labelSelector: {}")), MISSES},
        {PATCH(SPREAD(ZONE, ", labelSelector: {}")), MISSES},
        {WEB(SPREAD(ZONE, ", labelSelector: {}, matchLabelKeys: [app]")), ""},
        {PATCH(SPREAD(ZONE, ", labelSelector: {}, matchLabelKeys: [app]")), ""},
        {WEB(SPREAD(ZONE, ", labelSelector: {}, matchLabelKeys: [pod-template-hash]")), ""},
        /* of a label that no pod has */
        {WEB(SPREAD(ZONE, ", labelSelector: {}, matchLabelKeys: [nope]")), MISSES},
        {WEB(SPREAD(ZONE, ", labelSelector: {}, matchLabelKeys: [controller-revision-hash]")),
         MISSES},
        {WEB(SPREAD(ZONE, ", labelSelector: {matchExpressions: [{key: tier, operator: Exists}]}")),
         ""},
        {WEB(ANTI(SELECTS("app: web"))), ""},
        {WEB("affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
             "[{weight: 1, podAffinityTerm: " ANTI_TERM(SELECTS("app: web")) "}]}}"),
         ""},
        /* by another key, or of other pods */
        {WEB(SPREAD("kubernetes.io/hostname", SELECTS("app: web"))), NOTHING},
        {WEB(SPREAD(ZONE, SELECTS("app: api"))), MISSES},
        {WEB(SPREAD(ZONE, "")), MISSES},
        {WEB(ANTI(SELECTS("app: api"))), NOTHING},
        {WEB(ANTI("")), NOTHING},
        {WEB(ANTI(", namespaces: [other]" SELECTS("app: web"))), NOTHING},
        {WEB(ANTI(", namespaces: [other, default]" SELECTS("app: web"))), ""},
        {WEB(ANTI(", namespaces: [other], namespaceSelector: {}" SELECTS("app: web"))), ""},
        /* where labels of the Namespace decide, which is not seen, unless its name does */
        {WEB(ANTI(IN_SPACES("team: a") SELECTS("app: web"))), ""},
        {WEB(ANTI(IN_SPACES(NAMESPACE ": other, team: a") SELECTS("app: web"))), NOTHING},
        {WEB(ANTI(", mismatchLabelKeys: [tier]" SELECTS("app: web"))), NOTHING},
        {WEB(ANTI(", mismatchLabelKeys: [other]" SELECTS("app: web"))), ""},
        /* a Kustomize patch, whose labels stand in what it patches */
        {PATCH(ANTI(SELECTS("app: web"))), ""},
        {PATCH(SPREAD(ZONE, SELECTS("app: web"))), ""},
        {PATCH(SPREAD(ZONE, "")), MISSES},
        /* nothing could be selected */
        {PATCH(ANTI("")), ""},
        {PATCH(ANTI(", namespaces: [other]" SELECTS("app: web"))), ""},
        {PATCH(""), ""},
        /* one that misses beside one that does not, and two that do */
        {WEB(SPREAD(ZONE, SELECTS("app: api")) ", " ANTI(SELECTS("app: web"))), ""},
        {WEB("topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname}, "
             "{topologyKey: " ZONE
             ", labelSelector: {matchLabels: {app: api}}}, {topologyKey: " ZONE "}]"),
         "deny spec.template.spec.topologySpreadConstraints[1].labelSelector "},
        /* no zone at all */
        {WEB("topologySpreadConstraints: [{maxSkew: 1, labelSelector: {}}]"), NOTHING},
    };
    rail_table_run(&(struct rail_table){"zone-spread: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case in_space[] = {
        {WEB(ANTI(IN_SPACES("team: a") SELECTS("app: web"))), ""},
        {WEB(ANTI(IN_SPACES("team: b") SELECTS("app: web"))), NOTHING},
    };
    rail_table_run(
        &(struct rail_table){"zone-spread: {}", DEFAULT_SPACE, in_space, COUNT_OF(in_space)});
}

static void who_chooses_zones_is_exempt(void)
{
    static const struct rail_case cases[] = {
        {WEB("nodeSelector: {" ZONE ": a}"), ""},
        {WEB("nodeSelector: {failure-domain.beta.kubernetes.io/zone: a}"), ""},
        {WEB("nodeSelector: {kubernetes.io/arch: arm64}"), NOTHING},
        {WEB("nodeSelector: {kubernetes.io/arch: arm64, topology.k8s.aws/zone-id: euw1-az1}"), ""},
        {WEB(NODE_AFFINITY(IN_ZONE)), ""},
        {WEB(NODE_AFFINITY(IN_ZONE ", " IN_ZONE)), ""},
        {WEB(NODE_AFFINITY(IN_ZONE ", {matchExpressions: [{key: a, operator: Exists}]}")), NOTHING},
        {WEB(NODE_AFFINITY("{matchExpressions: [{key: a, operator: Exists}, {key: " ZONE
                           ", operator: In, values: [a, a]}]}")),
         ""},
        /* of several zones all replicas may still be in one */
        {WEB(NODE_AFFINITY("{matchExpressions: [{key: a, operator: Exists}, {key: " ZONE
                           ", operator: In, values: [a, b]}]}")),
         NOTHING},
        {WEB(NODE_AFFINITY(IN_ZONE ", {matchExpressions: [{key: " ZONE
                                   ", operator: In, values: [b]}]}")),
         NOTHING},
        {WEB(NODE_AFFINITY("{matchExpressions: [{key: topology.k8s.aws/zone-id, operator: In, "
                           "values: [use1-az1, use1-az2]}]}")),
         NOTHING},
        {WEB("nodeSelector: {" ZONE ": a}, " NODE_AFFINITY("{matchExpressions: [{key: " ZONE
                                                           ", operator: In, values: [a, b]}]}")),
         ""},
        {WEB(NODE_AFFINITY("{matchExpressions: [{key: " ZONE
                           ", operator: In, values: [a, b]}, {key: "
                           "failure-domain.beta.kubernetes.io/zone, operator: NotIn, values: "
                           "[b]}]}")),
         ""},
        {WEB(NODE_AFFINITY("{matchExpressions: [{key: " ZONE
                           ", operator: In, values: [a, b]}, {key: " ZONE
                           ", operator: In, values: [b, c]}]}")),
         ""},
        /* the name and the id may be of one zone */
        {WEB(NODE_AFFINITY(IN_ZONE ", {matchExpressions: [{key: topology.k8s.aws/zone-id, "
                                   "operator: In, values: [use1-az1]}]}")),
         ""},
        /* which zones hosts are in is not to be seen */
        {WEB(NODE_AFFINITY("{matchExpressions: [{key: kubernetes.io/hostname, operator: In, "
                           "values: [m, n]}]}")),
         ""},
        {WEB(NODE_AFFINITY("{matchExpressions: [{key: " ZONE ", operator: Exists}]}")), NOTHING},
        {WEB(NODE_AFFINITY("")), NOTHING},
        {WEB(NODE_AFFINITY("{matchExpressions: [{key: " ZONE ", operator: NotIn, values: [a]}]}")),
         NOTHING},
        {WEB("affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
             "[{topologyKey: " ZONE ", labelSelector: {matchLabels: {app: db}}}]}}"),
         ""},
        {WEB("affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
             "[{topologyKey: kubernetes.io/hostname}]}}"),
         ""},
        {WEB("affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
             "[{topologyKey: topology.kubernetes.io/region}]}}"),
         NOTHING},
        {WEB("nodeSelector: {kubernetes.io/hostname: a}"), ""},
        {WEB("nodeName: a"), ""},
        {WEB("nodeName: ''"), NOTHING},
        {WEB("nodeSelector: {eks.amazonaws.com/compute-type: hybrid}"), ""},
        {WEB("nodeSelector: {eks.amazonaws.com/compute-type: fargate}"), ""},
        {WEB("nodeSelector: {eks.amazonaws.com/compute-type: auto}"), NOTHING},
        {WEB(NODE_AFFINITY("{matchExpressions: [{key: eks.amazonaws.com/compute-type, operator: "
                           "In, values: [hybrid]}]}")),
         ""},
        {WEB("affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: "
             "1, preference: {matchExpressions: [{key: eks.amazonaws.com/compute-type, operator: "
             "In, values: [hybrid]}]}}]}}"),
         ""},
        {WEB("containers: [{name: a, imagePullPolicy: Never}]"), ""},
        {WEB("containers: [{name: a, imagePullPolicy: Always}]"), NOTHING},
        {WEB("containers: [{name: a, imagePullPolicy: Never}, {name: b, imagePullPolicy: Never}]"),
         ""},
        /* what is pulled beside it comes from a registry, which zones reach */
        {WEB("containers: [{name: a}, {name: b, imagePullPolicy: Never}]"), NOTHING},
        {WEB("priorityClassName: low, containers: [{name: a, image: registry.k8s.io/pause:3.10}]"),
         ""},
        {WEB("containers: [{name: a, image: registry.k8s.io/pause:3.10}]"), NOTHING},
        {WEB("priorityClassName: low, containers: [{name: a, image: "
             "'localhost:5000/k8s/pause:3.8@sha256:880e'}]"),
         ""},
        {WEB("priorityClassName: low, containers: [{name: a, image: gcr.io/g/pause-amd64:3.1}]"),
         ""},
        {WEB("priorityClassName: low, containers: [{name: a, image: rancher/mirrored-pause}]"), ""},
        {WEB("priorityClassName: low, containers: [{name: a, image: shop/unpaused:1}]"), NOTHING},
        {WEB("priorityClassName: low, containers: [{name: a, image: pause/shop:1}]"), NOTHING},
        {WEB("priorityClassName: low, containers: [{name: a, image: 'shop:pause'}]"), NOTHING},
        {WEB("priorityClassName: low, containers: [{name: a, image: pause}, {name: b, image: b}]"),
         NOTHING},
        {WEB("resourceClaims: [{name: a, resourceClaimName: channel}]"), ""},
        {WEB("resourceClaims: [{name: a, resourceClaimTemplateName: gpu}]"), NOTHING},
        {WEB("affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
             "[{weight: 1, podAffinityTerm: {topologyKey: " ZONE "}}]}}"),
         NOTHING},
        /* to be together, if it can be, is no spread either */
        {WEB("affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
             "[{weight: 1, podAffinityTerm: {topologyKey: " ZONE SELECTS("app: web") "}}]}}"),
         NOTHING},
    };
    rail_table_run(&(struct rail_table){"zone-spread: {}", NULL, cases, COUNT_OF(cases)});
}

#define COMPUTE(types)                                                                             \
    "{matchExpressions: [{key: eks.amazonaws.com/compute-type, operator: In, values: [" types "]}" \
    "]}"
#define A_NODE(name, labels) \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {" labels "}}}\n"

/* What may run elsewhere, too, runs there where no such node is. */
static void hybrid_nodes_must_be_there_to_be_preferred(void)
{
#define PREFERS                                                                                    \
    WEB("affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, " \
        "preference: " COMPUTE("hybrid") "}]}}")
    static const struct rail_case none[] = {
        {PREFERS, NOTHING},
        {WEB(NODE_AFFINITY(COMPUTE("hybrid") ", {matchExpressions: [{key: a, operator: Exists}]}")),
         NOTHING},
        {WEB(NODE_AFFINITY(COMPUTE("hybrid, auto"))), NOTHING},
        /* nowhere else */
        {WEB("nodeSelector: {eks.amazonaws.com/compute-type: hybrid}"), ""},
        {WEB(NODE_AFFINITY(COMPUTE("hybrid") ", " COMPUTE("hybrid"))), ""},
    };
    static const struct rail_case some[] = {
        {PREFERS, ""},
        {WEB(NODE_AFFINITY(COMPUTE("hybrid") ", {matchExpressions: [{key: a, operator: Exists}]}")),
         ""},
        {WEB(NODE_AFFINITY(COMPUTE("hybrid, auto"))), ""},
    };
    rail_table_run(&(struct rail_table){"zone-spread: {}",
                                        A_NODE("a", "eks.amazonaws.com/compute-type: auto")
                                            A_NODE("b", "team: web"),
                                        none, COUNT_OF(none)});
    rail_table_run(
        &(struct rail_table){"zone-spread: {}", A_NODE("b", "team: web"), none, COUNT_OF(none)});
    rail_table_run(&(struct rail_table){"zone-spread: {}", NULL, some, COUNT_OF(some)});
    rail_table_run_unseen(
        &(struct rail_table){"zone-spread: {}", A_NODE("b", "team: web"), some, COUNT_OF(some)},
        KIND_BIT(KIND_NODE));
    rail_table_run(&(struct rail_table){"zone-spread: {}",
                                        A_NODE("a", "eks.amazonaws.com/compute-type: hybrid")
                                            A_NODE("b", "team: web"),
                                        some, COUNT_OF(some)});
}

/* Where it is seen which zone an id, or a host, is in, it is compared with the names of zones. */
static void alternatives_are_of_one_zone(void)
{
#define TERM_IN(key, values) \
    "{matchExpressions: [{key: " key ", operator: In, values: [" values "]}]}"
#define OF_ID(values) TERM_IN("topology.k8s.aws/zone-id", values)
#define OF_HOST(values) TERM_IN("kubernetes.io/hostname", values)
    static const char seen[] =
        "---\n{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: x}, status: "
        "{subnets: [{id: s1, zone: a, zoneID: az1}, {id: s2, zone: b, zoneID: az2}]}}\n" A_NODE(
            "n1", ZONE ": a") A_NODE("n2", ZONE ": b")
            A_NODE("ip-4.internal", ZONE ": b, kubernetes.io/hostname: n4")
                A_NODE("n5", ZONE ": b, kubernetes.io/hostname: another") A_NODE("n6", "");
    static const struct rail_case cases[] = {
        {WEB(NODE_AFFINITY(IN_ZONE ", " OF_ID("az2"))), NOTHING},
        {WEB(NODE_AFFINITY(OF_ID("az2") ", " IN_ZONE)), NOTHING},
        {WEB(NODE_AFFINITY(IN_ZONE ", " OF_HOST("n2"))), NOTHING},
        {WEB(NODE_AFFINITY(OF_HOST("n1, n2") ", " IN_ZONE)), NOTHING},
        {WEB(NODE_AFFINITY(OF_HOST("n1") ", " OF_ID("az2"))), NOTHING},
        {WEB(NODE_AFFINITY(IN_ZONE ", " OF_ID("az1") ", " OF_HOST("n1"))), ""},
        /* a host is selected by its label, not by its Node's name */
        {WEB(NODE_AFFINITY(IN_ZONE ", " OF_HOST("n4"))), NOTHING},
        {WEB(NODE_AFFINITY(IN_ZONE ", " OF_HOST("n5, ip-4.internal"))), ""},
        /* hosts alone are a choice of their own */
        {WEB(NODE_AFFINITY(OF_HOST("n1") ", " OF_HOST("n2"))), ""},
        /* not seen */
        {WEB(NODE_AFFINITY(IN_ZONE ", " OF_ID("az3"))), ""},
        {WEB(NODE_AFFINITY(IN_ZONE ", " OF_HOST("n3"))), ""},
        {WEB(NODE_AFFINITY(IN_ZONE ", " OF_HOST("n6"))), ""},
    };
    rail_table_run(&(struct rail_table){"zone-spread: {}", seen, cases, COUNT_OF(cases)});
}

#define DAEMON_SET_OF(metadata, labels, more)                                                 \
    "---\n{apiVersion: apps/v1, kind: DaemonSet, metadata: {" metadata "}, spec: {template: " \
    "{metadata: {labels: {" labels "}}, spec: {" more "}}}}\n"
#define DAEMON_SET(name, more) DAEMON_SET_OF("name: " name, "app: " name, more)
#define AFFINITY(key, labels, more)                                             \
    "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: " \
    "[{topologyKey: " key                                                       \
    SELECTS(labels) more "}]}}"
#define BESIDE(key, labels, more) WEB(AFFINITY(key, labels, more))
#define HOST "kubernetes.io/hostname"

/* Beside the pods of a DaemonSet is on any node. */
static void daemons_are_everywhere(void)
{
    static const char state[] = DAEMON_SET("agent", "nodeSelector: {kubernetes.io/os: linux}")
        DAEMON_SET("proxy",
                   NODE_AFFINITY("{matchExpressions: [{key: kubernetes.io/arch, operator: In, "
                                 "values: [amd64]}, {key: eks.amazonaws.com/compute-type, "
                                 "operator: NotIn, values: [fargate]}]}"))
            DAEMON_SET("disk", "nodeSelector: {disk: local}")
                DAEMON_SET("here", NODE_AFFINITY(IN_ZONE))
                    DAEMON_SET("elsewhere", NODE_AFFINITY("{matchExpressions: [{key: " HOST
                                                          ", operator: NotIn, values: [n1]}]}"))
                        DAEMON_SET_OF("name: tiered", "app: tiered, tier: front", "")
                            DAEMON_SET_OF("name: far, namespace: other", "app: far", "");
    static const struct rail_case cases[] = {
        {BESIDE(HOST, "app: agent", ""), NOTHING},
        {BESIDE(HOST, "app: proxy", ""), NOTHING},
        {BESIDE(ZONE, "app: agent", ""), NOTHING},
        {BESIDE(HOST, "app: agent", ", namespaces: [other, default]"), NOTHING},
        {BESIDE(HOST, "app: agent", ", namespaceSelector: {}"), NOTHING},
        {BESIDE(HOST, "app: agent", ", namespaceSelector: {matchLabels: {" NAMESPACE ": default}}"),
         NOTHING},
        {BESIDE(HOST, "app: far", ", namespaces: [other]"), NOTHING},
        /* a key that the pods do not have is ignored */
        {BESIDE(HOST, "app: agent", ", matchLabelKeys: [nope]"), NOTHING},
        {BESIDE(HOST, "app: agent", ", mismatchLabelKeys: [nope]"), NOTHING},
        /* where those run, or whether they are meant, is not to be seen */
        {BESIDE(HOST, "app: disk", ""), ""},
        {BESIDE(HOST, "app: here", ""), ""},
        {BESIDE(HOST, "app: elsewhere", ""), ""},
        {BESIDE(HOST, "app: db", ""), ""},
        {BESIDE(HOST, "app: agent", ", namespaces: [other]"), ""},
        {BESIDE(HOST, "app: far", ""), ""},
        {BESIDE(HOST, "app: agent", ", namespaceSelector: {matchLabels: {a: b}}"), ""},
        {BESIDE(HOST, "app: agent", ", namespaceSelector: {matchLabels: {" NAMESPACE ": other}}"),
         ""},
        {BESIDE(HOST, "app: agent", ", matchLabelKeys: [tier]"), ""},
        {BESIDE(HOST, "app: agent", ", matchLabelKeys: [nope, pod-template-hash]"), ""},
        {BESIDE(HOST, "app: tiered", ", mismatchLabelKeys: [tier]"), ""},
        /* a Kustomize patch, whose labels stand in what it patches */
        {PATCH(AFFINITY(HOST, "app: agent", "") ", " SPREAD(ZONE, "")), MISSES},
        {PATCH(AFFINITY(HOST, "app: agent", ", matchLabelKeys: [tier]") ", " SPREAD(ZONE, "")), ""},
    };
    rail_table_run(&(struct rail_table){"zone-spread: {}", state, cases, COUNT_OF(cases)});
    static const struct rail_case unseen[] = {{BESIDE(HOST, "app: agent", ""), ""}};
    rail_table_run(&(struct rail_table){"zone-spread: {}", NULL, unseen, COUNT_OF(unseen)});
}

#define MOUNTS(claim) "volumes: [{name: data, persistentVolumeClaim: {claimName: " claim "}}]"
#define MANIFEST(kind, name, more) \
    "{apiVersion: v1, kind: " kind ", metadata: {name: " name "}" more "}\n---\n"
#define CLASS(name, provisioner, more)                                                      \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " name            \
    "}, provisioner: " provisioner ", volumeBindingMode: WaitForFirstConsumer, " more "}\n" \
    "---\n"
#define MAKES(class)                                                                              \
    "}}, volumeClaimTemplates: [{metadata: {name: v}, spec: {storageClassName: " class "}}], x: " \
                                                                                       "{y: {"

/* Where the disk is in one zone, so are all who mount it. */
static void volumes_of_one_zone_hold_their_pods(void)
{
    static const char state[] = CLASS(
        "here", "ebs.csi.aws.com",
        "allowedTopologies: [{matchLabelExpressions: [{key: " ZONE
        ", values: [a]}]}]") CLASS("old", "kubernetes.io/gce-pd",
                                   "parameters: {zone: a}") CLASS("both", "kubernetes.io/gce-pd",
                                                                  "parameters: {zones: 'a, b'}")
        CLASS("unread", "ebs.csi.aws.com", "parameters: {zone: a}") CLASS(
            "efs", "efs.csi.aws.com",
            "parameters: {}") MANIFEST("PersistentVolumeClaim", "disk",
                                       ", spec: {accessModes: [ReadWriteOnce]}")
            MANIFEST("PersistentVolumeClaim", "many-here",
                     ", spec: {accessModes: [ReadWriteMany], storageClassName: here}")
                MANIFEST("PersistentVolumeClaim", "bound",
                         ", spec: {accessModes: [ReadWriteMany], volumeName: pv}")
                    MANIFEST("PersistentVolumeClaim", "files",
                             ", spec: {accessModes: [ReadWriteOnce], storageClassName: efs}")
                        MANIFEST(
                            "PersistentVolumeClaim", "many",
                            ", spec: {accessModes: [ReadWriteMany]}") "{apiVersion: v1, kind: "
                                                                      "PersistentVolume, metadata: "
                                                                      "{name: pv}"
                                                                      ", spec: {nodeAffinity: "
                                                                      "{required: "
                                                                      "{nodeSelectorTerms: "
                                                                      "[{matchExpressions: "
                                                                      "[{key: " ZONE
                                                                      ", operator: In, values: "
                                                                      "[a]}]}]}}}}";
    static const struct rail_case cases[] = {
        {WEB(MOUNTS("disk")), ""},
        {WEB(MOUNTS("bound")), ""},
        {WEB(MOUNTS("files")), NOTHING},
        {WEB(MOUNTS("many")), NOTHING},
        {WEB(MOUNTS("many-here")), ""},
        {WEB(MOUNTS("unseen")), NOTHING},
        {WORKLOAD("StatefulSet", "replicas: 2, ", MAKES("here")), ""},
        {WORKLOAD("StatefulSet", "replicas: 2, ", MAKES("old")), ""},
        {WORKLOAD("StatefulSet", "replicas: 2, ", MAKES("both")), NOTHING},
        {WORKLOAD("StatefulSet", "replicas: 2, ", MAKES("unread")), NOTHING},
        {WORKLOAD("StatefulSet", "replicas: 2, ", MAKES("efs")), NOTHING},
        {WORKLOAD("StatefulSet", "replicas: 2, ", MAKES("unseen")), NOTHING},
    };
    rail_table_run(&(struct rail_table){"zone-spread: {}", state, cases, COUNT_OF(cases)});
}

#define NODE_CLASS(zones)                                                                   \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: c}, status: {" \
    "subnets: [" zones "]}}"
#define SCALED(kind, replicas, more, spec)                                                       \
    "{apiVersion: apps/v1, kind: " kind ", metadata: {name: web}, spec: {replicas: " replicas    \
    ", " more "selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, " \
    "spec: {" spec "}}}}"
#define CROWDED                                                                                   \
    " spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution" \
    "[0].topologyKey " ZONE

static void zones_take_one_replica_each(void)
{
    static const char two[] = NODE_CLASS("{zone: a}, {zone: b}");
#define APART ANTI(SELECTS("app: web"))
    static const struct rail_case cases[] = {
        {SCALED("StatefulSet", "3", "", APART), "deny" CROWDED},
        {SCALED("StatefulSet", "2", "", APART), ""},
        {SCALED("Deployment", "3", "", APART), "deny" CROWDED},
        {SCALED("Deployment", "2", "", APART), "warn" CROWDED},
        {SCALED("Deployment", "1", "", APART), ""},
        {SCALED("Deployment", "2", "strategy: {type: Recreate}, ", APART), ""},
        {SCALED("Deployment", "2", "strategy: {rollingUpdate: {maxUnavailable: 0}}, ", APART),
         "warn" CROWDED},
        {SCALED("Deployment", "2", "strategy: {rollingUpdate: {maxUnavailable: 1}}, ", APART), ""},
        {SCALED("Deployment", "2", "strategy: {rollingUpdate: {maxUnavailable: 49%}}, ", APART),
         "warn" CROWDED},
        {SCALED("Deployment", "2", "strategy: {rollingUpdate: {maxUnavailable: 50%}}, ", APART),
         ""},
        {SCALED("Deployment", "2", "",
                ANTI(", matchLabelKeys: [pod-template-hash]" SELECTS("app: web"))),
         ""},
        {SCALED("Deployment", "3", "",
                ANTI(", matchLabelKeys: [pod-template-hash]" SELECTS("app: web"))),
         "deny" CROWDED},
        {SCALED("Deployment", "2", "", ANTI(", matchLabelKeys: [app]" SELECTS("app: web"))),
         "warn" CROWDED},
        {SCALED("Deployment", "3", "", SPREAD(ZONE, SELECTS("app: web"))), ""},
        /* whether it selects the replicas is not seen */
        {SCALED("Deployment", "3", "", ANTI(IN_SPACES("team: a") SELECTS("app: web"))), ""},
        {PATCH(APART), ""},
        /* the second term is known to */
        {SCALED("Deployment", "3", "",
                "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                "[" ANTI_TERM(IN_SPACES("team: a")
                                  SELECTS("app: web")) ", " ANTI_TERM(SELECTS("app: web")) "]}}"),
         "deny spec.template.spec.affinity.podAntiAffinity."
         "requiredDuringSchedulingIgnoredDuringExecution[1].topologyKey " ZONE},
    };
    /* those of other namespaces do not get in each other's way */
    static const struct rail_case in_space[] = {
        {SCALED("Deployment", "3", "", ANTI(IN_SPACES("team: a") SELECTS("app: web"))),
         "deny" CROWDED},
        {SCALED(
             "Deployment", "3", "",
             SPREAD(ZONE, SELECTS("app: web")) ", " ANTI(IN_SPACES("team: b") SELECTS("app: web"))),
         ""},
    };
    rail_table_run(&(struct rail_table){"zone-spread: {}",
                                        NODE_CLASS("{zone: a}, {zone: b}") "\n---\n" DEFAULT_SPACE,
                                        in_space, COUNT_OF(in_space)});
    static const struct rail_case fewer[] = {{SCALED("Deployment", "2", "", APART), ""}};
    rail_table_run(&(struct rail_table){"zone-spread: {}",
                                        NODE_CLASS("{zone: a}, {zone: b}, {zone: c}"), fewer, 1});
    /* a class that has no subnets yet has no zones */
    rail_table_run(&(struct rail_table){"zone-spread: {}", NODE_CLASS(""), fewer, 1});
    rail_table_run(&(struct rail_table){"zone-spread: {}", two, cases, COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {SCALED("Deployment", "5", "", APART),
         "Only 2 of 5 replicas can run, since this anti-affinity allows one in each zone.",
         "Replace the anti-affinity with topologySpreadConstraints: [{maxSkew: 1, "
         "topologyKey: " ZONE
         ", whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]."},
        {SCALED("Deployment", "2", "", APART),
         "With one replica in each of the 2 zones, an update finds no zone for its first pod.",
         "Set spec.strategy.rollingUpdate to {maxSurge: 0, maxUnavailable: 1}."},
    };
    rail_words_run("zone-spread: {}", two, words, COUNT_OF(words));
    /* zones that nobody names */
    static const struct rail_case unseen[] = {{SCALED("Deployment", "9", "", APART), ""}};
    rail_table_run(&(struct rail_table){"zone-spread: {}", NULL, unseen, COUNT_OF(unseen)});
}

/* Another constraint would only be added to one that was meant so. */
static void a_misspelt_zone_is_told_at_its_key(void)
{
    static const char pools[] =
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: "
        "{metadata: {labels: {zone: dmz}}}}}\n---\n{apiVersion: karpenter.sh/v1, kind: NodePool, "
        "metadata: {name: b}, spec: {template: {spec: {}}}}";
#define BY(key) WEB(SPREAD(key, SELECTS("app: web")))
#define ANTI_BY(key, rest)                                                              \
    WEB("affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: " \
        "[{topologyKey: " key rest "}]}}")
    static const struct rail_case cases[] = {
        {BY("zone"), "deny spec.template.spec.topologySpreadConstraints[0].topologyKey zone"},
        {BY(ZONE "s"),
         "deny spec.template.spec.topologySpreadConstraints[0].topologyKey " ZONE "s"},
        {WEB(SPREAD("zone", "")),
         "deny spec.template.spec.topologySpreadConstraints[0].topologyKey zone"},
        {ANTI_BY("zone", SELECTS("app: web")),
         "deny spec.template.spec.affinity.podAntiAffinity."
         "requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey zone"},
        {WEB("topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname}, {topologyKey: "
             "zone}]"),
         "deny spec.template.spec.topologySpreadConstraints[1].topologyKey zone"},
        /* those to other pods, and beside them, spread nothing */
        {ANTI_BY("zone", SELECTS("app: api")), NOTHING},
        {WEB("affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
             "[{topologyKey: zone" SELECTS("app: web") "}]}}"),
         NOTHING},
        {BY("host"), NOTHING},
        {BY("region"), NOTHING},
        {BY("example.com/rack"), NOTHING},
        /* beside one that is right, or that misses */
        {WEB("topologySpreadConstraints: [{topologyKey: zone}, {topologyKey: " ZONE
             ", labelSelector: {matchLabels: {app: web}}}]"),
         ""},
        {WEB("topologySpreadConstraints: [{topologyKey: zone}, {topologyKey: " ZONE "}]"),
         "deny spec.template.spec.topologySpreadConstraints[1].labelSelector "},
    };
    rail_table_run(&(struct rail_table){"zone-spread: {}", NULL, cases, COUNT_OF(cases)});
    /* a label of somebody's own, which is no zone */
    static const struct rail_case own[] = {
        {BY("zone"), NOTHING},
        {BY("zones"), NOTHING},
        {BY(ZONE "s"),
         "deny spec.template.spec.topologySpreadConstraints[0].topologyKey " ZONE "s"},
    };
    rail_table_run(&(struct rail_table){"zone-spread: {}", pools, own, COUNT_OF(own)});
    static const struct rail_words words = {
        BY("zone"), "\"zone\" is no label of zones, so this spreads nothing over them.",
        "Use topologyKey: topology.kubernetes.io/zone."};
    rail_words_run("zone-spread: {}", NULL, &words, 1);
    static const struct rail_words misses = {
        WEB(SPREAD("zone", "")),
        "\"zone\" is no label of zones, so this spreads nothing over them.",
        "Use topologyKey: topology.kubernetes.io/zone. Set labelSelector: {matchLabels: {app: "
        "web}}."};
    rail_words_run("zone-spread: {}", NULL, &misses, 1);
    /* of a Kustomize patch it may select the labels, which stand in what it patches */
    static const struct rail_words part = {
        PATCH(SPREAD("zone", SELECTS("app: web"))),
        "\"zone\" is no label of zones, so this spreads nothing over them.",
        "Use topologyKey: topology.kubernetes.io/zone."};
    rail_words_run("zone-spread: {}", NULL, &part, 1);
    rail_replaces("zone-spread: {}", part.object, ZONE);
    rail_replaces("zone-spread: {}", misses.object, "");
    rail_replaces("zone-spread: {}", words.object, ZONE);
}

#define SKEW(skew, rest) \
    "topologySpreadConstraints: [{maxSkew: " skew ", topologyKey: " ZONE rest "}]"
#define ITS_SKEW "deny spec.template.spec.topologySpreadConstraints[0].maxSkew "

/* As many as there are replicas: a zone may have all, and the next one none. */
static void a_skew_may_let_one_zone_have_all(void)
{
    static const struct rail_case cases[] = {
        {WEB(SKEW("2", SELECTS("app: web"))), ""},
        {WEB(SKEW("3", SELECTS("app: web"))), ITS_SKEW "3"},
        {WEB(SKEW("100", ", whenUnsatisfiable: DoNotSchedule" SELECTS("app: web"))),
         ITS_SKEW "100"},
        {WORKLOAD("Deployment", "replicas: 4, ", SKEW("3", SELECTS("app: web"))), ""},
        /* a preference for the zone with fewer whatever the skew */
        {WEB(SKEW("100", ", whenUnsatisfiable: ScheduleAnyway" SELECTS("app: web"))), ""},
        {WEB(SKEW("100", SELECTS("app: web")) ", " ANTI(SELECTS("app: web"))), ""},
        {WEB("topologySpreadConstraints: [{maxSkew: 3, topologyKey: " ZONE SELECTS(
             "app: web") "}, {maxSkew: 1, topologyKey: "
                         "topology.k8s.aws/zone-id" SELECTS("app: web") "}]"),
         ""},
        {WEB(SKEW("100", SELECTS("app: api"))), MISSES},
        {PATCH(SKEW("100", SELECTS("app: web"))), ITS_SKEW "100"},
    };
    rail_table_run(&(struct rail_table){"zone-spread: {}", NULL, cases, COUNT_OF(cases)});
    /* one that an autoscaler gives more */
    static const char autoscaler[] =
        "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: "
        "{scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 2, "
        "maxReplicas: 9}}";
    static const struct rail_case scaled[] = {
        {WEB(SKEW("8", SELECTS("app: web"))), ""},
        {WEB(SKEW("9", SELECTS("app: web"))), ITS_SKEW "9"},
    };
    rail_table_run(&(struct rail_table){"zone-spread: {}", autoscaler, scaled, COUNT_OF(scaled)});
    static const struct rail_words words[] = {
        {WEB(SKEW("100", SELECTS("app: web"))),
         "A skew of 100 lets all 3 replicas run in one zone.", "Set maxSkew: 1."},
        {WEB(SKEW("3", SELECTS("app: api"))),
         "The spread over zones does not select the pod's own labels, so its replicas do not "
         "count.",
         "Set labelSelector: {matchLabels: {app: web}}. Set maxSkew: 1."},
        {WEB("topologySpreadConstraints: [{maxSkew: 3, topologyKey: zone" SELECTS("app: web") "}]"),
         "\"zone\" is no label of zones, so this spreads nothing over them.",
         "Use topologyKey: topology.kubernetes.io/zone. Set maxSkew: 1."},
    };
    rail_words_run("zone-spread: {}", NULL, words, COUNT_OF(words));
    rail_replaces("zone-spread: {}", words[0].object, "1");
    rail_replaces("zone-spread: {}", words[2].object, "");
}

static void a_widened_skew_is_a_new_finding(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("zone-spread: {}", NULL, arena);
    struct rail_documents before = rail_table_read(WEB(SKEW("1", SELECTS("app: web"))), arena);
    struct rail_documents after = rail_table_read(WEB(SKEW("50", SELECTS("app: web"))), arena);
    const struct subject subject = {
        .operation = OPERATION_UPDATE, .object = after.items, .old_object = before.items};
    struct verdict verdict;
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    CU_ASSERT_EQUAL_FATAL(verdict.finding_count, 1);
    CU_ASSERT_EQUAL(verdict.findings[0].action, ACTION_DENY);
    ASSERT_TEXT(verdict.findings[0].found, "50");
    arena_destroy(arena);
}

#define SET(spec) WORKLOAD("StatefulSet", "replicas: 3, ", spec)
#define BY_KEYS(keys) ", matchLabelKeys: [" keys "]"
#define ITS_KEY(index) \
    "deny spec.template.spec.topologySpreadConstraints[0].matchLabelKeys[" index "] "
#define POD_NAME "statefulset.kubernetes.io/pod-name"
#define POD_INDEX "apps.kubernetes.io/pod-index"

/* A pod that meets no other one of its workload. */
static void each_pod_of_a_set_may_count_alone(void)
{
    static const struct rail_case cases[] = {
        {SET(SPREAD(ZONE, BY_KEYS(POD_NAME) SELECTS("app: web"))), ITS_KEY("0") POD_NAME},
        {SET(SPREAD(ZONE, BY_KEYS("controller-revision-hash, " POD_INDEX) SELECTS("app: web"))),
         ITS_KEY("1") POD_INDEX},
        {SET(SPREAD(ZONE,
                    ", whenUnsatisfiable: ScheduleAnyway" BY_KEYS(POD_NAME) SELECTS("app: web"))),
         ITS_KEY("0") POD_NAME},
        {SET(SPREAD(ZONE, BY_KEYS("controller-revision-hash") SELECTS("app: web"))), ""},
        {SET(ANTI(BY_KEYS(POD_NAME) SELECTS("app: web"))), NOTHING},
        /* kept from all others of the set */
        {SET(ANTI(", mismatchLabelKeys: [" POD_NAME "]" SELECTS("app: web"))), ""},
        {SET("affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
             "[{topologyKey: " ZONE BY_KEYS(POD_NAME) SELECTS("app: web") "}]}}"),
         NOTHING},
        /* whose pods have no such label, and a key that they lack counts for nothing */
        {WEB(SPREAD(ZONE, BY_KEYS(POD_NAME) SELECTS("app: web"))), ""},
        {WEB(SPREAD(ZONE, BY_KEYS("pod-template-hash") SELECTS("app: web"))), ""},
    };
    rail_table_run(&(struct rail_table){"zone-spread: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {SET(SPREAD(ZONE, BY_KEYS(POD_NAME) SELECTS("app: web"))),
         "Each replica has its own " POD_NAME
         ", so this spread counts each alone and may leave all in one zone.",
         "Remove matchLabelKeys."},
        {SET(SPREAD(ZONE, BY_KEYS(POD_NAME) SELECTS("app: api"))),
         "Each replica has its own " POD_NAME
         ", so this spread counts each alone and may leave all in one zone.",
         "Set labelSelector: {matchLabels: {app: web}}. Remove matchLabelKeys."},
    };
    rail_words_run("zone-spread: {}", NULL, words, COUNT_OF(words));
}

static void few_replicas_are_let_alone(void)
{
    static const struct rail_case cases[] = {
        {WORKLOAD("Deployment", "replicas: 4, ", ""), ""},
        {WORKLOAD("Deployment", "replicas: 5, ", ""), NOTHING},
    };
    rail_table_run(
        &(struct rail_table){"zone-spread: {minReplicas: 5}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case defaulted[] = {{WEB(""), ""}};
    rail_table_run(&(struct rail_table){"zone-spread: {action: default}", NULL, defaulted,
                                        COUNT_OF(defaulted)});
}

#define MAKE_HARD                                                                           \
    "Add to spec.template.spec.topologySpreadConstraints: [{maxSkew: 1, topologyKey: " ZONE \
    ", whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]."
#define IGNORED "zone-spread: {}}, karpenter: {preferencePolicy: Ignore"
#define ONLY_PREFERRED "Karpenter ignores preferences here, so it may buy every node in one zone."
#define ANTI_PREFERRED                                                               \
    "affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: " \
    "[{weight: 1, podAffinityTerm: " ANTI_TERM(SELECTS("app: web")) "}]}}"

/* A spread that is only preferred can be made a hard one in its place; of an anti-affinity that
 * would let no more replicas run than there are zones. */
static void what_karpenter_ignores_is_made_hard(void)
{
    static const char make_hard[] =
        "Set whenUnsatisfiable: DoNotSchedule, with which a pod waits when its zone has no room.";
    static const struct rail_words rows[] = {
        {WEB(SPREAD(ZONE, ", whenUnsatisfiable: ScheduleAnyway" SELECTS("app: web"))),
         ONLY_PREFERRED, make_hard},
        {WEB(ANTI_PREFERRED), ONLY_PREFERRED, MAKE_HARD},
        {WEB(SPREAD(ZONE,
                    ", whenUnsatisfiable: ScheduleAnyway" SELECTS("app: web")) ", " ANTI_PREFERRED),
         ONLY_PREFERRED, make_hard},
        {WEB(SKEW("3", ", whenUnsatisfiable: ScheduleAnyway" SELECTS("app: web"))), ONLY_PREFERRED,
         "Set maxSkew: 1 and whenUnsatisfiable: DoNotSchedule, with which a pod waits when its "
         "zone has no room."},
        {WEB(""), "Nothing spreads the replicas over zones, so they may all be in one.", MAKE_HARD},
    };
    rail_words_run(IGNORED, NULL, rows, COUNT_OF(rows));
    rail_replaces(IGNORED, rows[0].object, "DoNotSchedule");
    rail_replaces(IGNORED, rows[1].object, "");
    rail_replaces(IGNORED, rows[3].object, "");
    static const struct rail_case second = {
        WEB("topologySpreadConstraints: [{topologyKey: " ZONE "}, {topologyKey: " ZONE
            ", whenUnsatisfiable: ScheduleAnyway" SELECTS(
                "tier: front") "}, {topologyKey: " ZONE
                               ", whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: "
                               "{app: web}}}]"),
        "warn spec.template.spec.topologySpreadConstraints[1].whenUnsatisfiable ScheduleAnyway"};
    rail_table_run(&(struct rail_table){IGNORED, NULL, &second, 1});
}

/* ---- what pods are given ---- */

/* A volume and its claim, of one name. */
#define BOUND_TO(name, labels, expressions)                                                      \
    "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-" name "}, spec: " \
    "{volumeName: " name                                                                         \
    "}}\n---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name                   \
    ", labels: {" labels "}}, spec: {nodeAffinity: {required: {nodeSelectorTerms: "              \
    "[{matchExpressions: [" expressions "]}]}}}}\n"
#define ITS(key, value) "{key: " key ", operator: In, values: [" value "]}"
#define ITS_REGION ITS("topology.kubernetes.io/region", "r")
#define ITS_OLD_REGION ITS("failure-domain.beta.kubernetes.io/region", "r")
#define ITS_ZONE ITS(ZONE, "a")
#define ITS_MACHINE ITS("kubernetes.io/os", "linux") ", " ITS("kubernetes.io/arch", "arm64")
#define LABELLED BOUND_TO("labelled", "team: data", "")
#define OF_REGION BOUND_TO("of-region", "", ITS_REGION ", " ITS_OLD_REGION)
#define OF_LINUX BOUND_TO("of-linux", "", ITS_MACHINE)
#define OF_NODE BOUND_TO("of-node", "", ITS("kubernetes.io/hostname", "n1"))
#define OF_BOTH BOUND_TO("of-both", "", ITS_REGION ", " ITS_ZONE)
#define LATER_TERM BOUND_TO("later-term", "", "]}, {matchExpressions: [" ITS_ZONE)
#define OF_ZONE BOUND_TO("v", "", ITS_ZONE)

static const char cluster[] =
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 3, selector: "
    "{matchLabels: {app: web}, matchExpressions: [{key: tier, operator: Exists}]}}}\n---\n"
    "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-7d9, ownerReferences: "
    "[{apiVersion: apps/v1, kind: Deployment, name: web, controller: true}]}, spec: {replicas: 3, "
    "selector: {matchLabels: {app: web, pod-template-hash: 7d9}}}}\n---\n"
    "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: left-5f4}, spec: {replicas: 2, "
    "selector: {matchLabels: {app: left, pod-template-hash: 5f4}, matchExpressions: "
    "[{key: pod-template-hash, operator: Exists}]}}}\n---\n"
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: one}, spec: {replicas: 1, selector: "
    "{matchLabels: {app: one}}}}\n---\n"
    "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {replicas: 3, selector: "
    "{matchLabels: {app: db}}}}\n---\n"
    "{apiVersion: v1, kind: ReplicationController, metadata: {name: rc}, spec: {replicas: 2, "
    "selector: {app: rc}}}\n---\n"
    "{apiVersion: v1, kind: ReplicationController, metadata: {name: plain}, spec: {replicas: 2, "
    "template: {metadata: {labels: {app: plain, tier: front}}}}}\n---\n"
    "{apiVersion: v1, kind: ReplicationController, metadata: {name: bare}, spec: {replicas: 2, "
    "template: {metadata: {labels: {}}}}}\n---\n"
    "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: old}, spec: {replicas: 2, selector: "
    "{}, template: {metadata: {labels: {app: old}}}}}\n---\n"
    "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: broken}, spec: {replicas: 2, "
    "selector: [app], template: {metadata: {labels: {app: broken}}}}}\n---\n"
    "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: picky-5f4}, spec: {replicas: 2, "
    "selector: {matchLabels: {app: picky, pod-template-hash: 5f4, tier: front}, matchExpressions: "
    "[{key: app, operator: Exists}, {key: pod-template-hash, operator: Exists}, {key: tier, "
    "operator: Exists}]}}}\n---\n"
    "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: alone}, spec: {replicas: 2, "
    "selector: {matchExpressions: [{key: app, operator: In, values: [alone]}]}}}\n---\n"
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-db-0}, spec: {volumeName: "
    "pv-0}}\n---\n"
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-db-1}, spec: {}}\n---\n"
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-db-2}, spec: {volumeName: "
    "pv-2}}\n---\n"
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-db-3}, spec: {volumeName: "
    "pv-3}}\n---\n"
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-0}, spec: {nodeAffinity: "
    "{required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.ebs.csi.aws.com/zone, "
    "operator: In, values: [a]}]}]}}}}\n---\n"
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-2}, spec: {}}\n---\n"
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-3, labels: "
    "{team: data, failure-domain.beta.kubernetes.io/zone: a}}, spec: {}}\n---\n"
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-lost}, spec: {volumeName: "
    "lost}}\n" LABELLED OF_REGION OF_LINUX OF_NODE OF_BOTH LATER_TERM OF_ZONE;

#define POD(labels, version, kind, owner, spec)                                                 \
    "{apiVersion: v1, kind: Pod, metadata: {generateName: " owner "-, labels: {" labels "}, "   \
    "ownerReferences: [{apiVersion: " version ", kind: " kind ", name: " owner ", controller: " \
    "true}]}, spec: {" spec "}}"
#define WEB_POD(spec) \
    POD("app: web, tier: front, pod-template-hash: 7d9", "apps/v1", "ReplicaSet", "web-7d9", spec)
#define DB_POD(spec) POD("app: db", "apps/v1", "StatefulSet", "db", spec)

#define NO_LIST "\nadd /spec/topologySpreadConstraints []"
#define ITEM(unsatisfiable, selector, keys)                                           \
    "\nadd /spec/topologySpreadConstraints/- {\"maxSkew\":1,\"topologyKey\":\"" ZONE  \
    "\",\"whenUnsatisfiable\":\"" unsatisfiable "\",\"labelSelector\":" selector keys \
    ",\"nodeTaintsPolicy\":\"Honor\"}"
#define HASHED ",\"matchLabelKeys\":[\"pod-template-hash\"]"
#define LABELS(labels) "{\"matchLabels\":{" labels "}}"
#define ANYWAY "applied a spread over zones (ScheduleAnyway)"
#define WAITS "applied a spread over zones (DoNotSchedule)"
#define WEB_ITEM                                                                       \
    ITEM("ScheduleAnyway",                                                             \
         "{\"matchLabels\":{\"app\":\"web\"},\"matchExpressions\":[{\"key\":\"tier\"," \
         "\"operator\":\"Exists\"}]}",                                                 \
         HASHED)

static void pods_are_given_a_spread(void)
{
    static const struct change_case cases[] = {
        {WEB_POD(""), ANYWAY NO_LIST WEB_ITEM},
        {WEB_POD(SPREAD("kubernetes.io/hostname", SELECTS("app: web"))), ANYWAY WEB_ITEM},
        {DB_POD(""), ANYWAY NO_LIST ITEM("ScheduleAnyway", LABELS("\"app\":\"db\""), "")},
        {POD("app: rc", "v1", "ReplicationController", "rc", ""),
         ANYWAY NO_LIST ITEM("ScheduleAnyway", LABELS("\"app\":\"rc\""), "")},
        /* the hash of a ReplicaSet whose Deployment is gone stands in one place only */
        {POD("app: left, pod-template-hash: 5f4", "apps/v1", "ReplicaSet", "left-5f4", ""),
         ANYWAY NO_LIST ITEM("ScheduleAnyway",
                             "{\"matchLabels\":{\"app\":\"left\"},\"matchExpressions\":[]}",
                             HASHED)},
        {POD("app: picky, pod-template-hash: 5f4, tier: front", "apps/v1", "ReplicaSet",
             "picky-5f4", ""),
         ANYWAY NO_LIST ITEM("ScheduleAnyway",
                             "{\"matchLabels\":{\"app\":\"picky\",\"tier\":\"front\"},"
                             "\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"Exists\"},"
                             "{\"key\":\"tier\",\"operator\":\"Exists\"}]}",
                             HASHED)},
        /* no Deployment made it, so there is no hash */
        {POD("app: alone", "apps/v1", "ReplicaSet", "alone", ""),
         ANYWAY NO_LIST ITEM("ScheduleAnyway",
                             "{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"In\","
                             "\"values\":[\"alone\"]}]}",
                             "")},
        /* without a selector the template's labels are it, as the API server has it */
        {POD("app: plain, tier: front", "v1", "ReplicationController", "plain", ""),
         ANYWAY NO_LIST ITEM("ScheduleAnyway", LABELS("\"app\":\"plain\",\"tier\":\"front\""), "")},
        {POD("app: old", "apps/v1", "StatefulSet", "old", ""),
         ANYWAY NO_LIST ITEM("ScheduleAnyway", LABELS("\"app\":\"old\""), "")},
        {DB_POD("nodeName: ''"),
         ANYWAY NO_LIST ITEM("ScheduleAnyway", LABELS("\"app\":\"db\""), "")},
        /* the ReplicaSet is not visible, the Deployment is */
        {POD("app: web, tier: front, pod-template-hash: 8f1", "apps/v1", "ReplicaSet", "web-8f1",
             ""),
         ANYWAY NO_LIST WEB_ITEM},
    };
    change_table_run(&(struct change_table){"zone-spread: {action: default}", cluster, CONTROLLER,
                                            cases, COUNT_OF(cases)});
}

static void some_pods_are_let_alone(void)
{
    static const struct change_case cases[] = {
        {WEB_POD(SPREAD(ZONE, SELECTS("app: web"))), ""},
        {WEB_POD(ANTI(SELECTS("app: web"))), ""},
        {WEB_POD("nodeSelector: {" ZONE ": a}"), ""},
        {WEB_POD("nodeName: a"), ""},
        {WEB_POD(SPREAD(ZONE, ", whenUnsatisfiable: ScheduleAnyway" SELECTS("app: web"))), ""},
        {WEB_POD("affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                 "[{topologyKey: " ZONE ", labelSelector: {matchLabels: {app: db}}}]}}"),
         ""},
        /* two with one key would be refused by the API server */
        {WEB_POD(SPREAD(ZONE, ", whenUnsatisfiable: ScheduleAnyway" SELECTS("app: api"))), ""},
        /* too few, not visible, not its own, no replicas */
        {POD("app: one, pod-template-hash: 5f4", "apps/v1", "ReplicaSet", "one-5f4", ""), ""},
        {POD("app: gone", "apps/v1", "StatefulSet", "gone", ""), ""},
        {POD("app: other", "apps/v1", "StatefulSet", "db", ""), ""},
        {POD("app: db", "batch/v1", "Job", "db", ""), ""},
        /* of a Deployment's name, and not of the Deployment */
        {POD("app: web, tier: front", "apps/v1", "StatefulSet", "web", ""), ""},
        {POD("app: web, tier: front, pod-template-hash: 8f1}, namespace: elsewhere, annotations: {",
             "apps/v1", "ReplicaSet", "web-8f1", ""),
         ""},
        /* no labels that its replicas would be known by */
        {POD("app: bare", "v1", "ReplicationController", "bare", ""), ""},
        {POD("app: broken", "apps/v1", "StatefulSet", "broken", ""), ""},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {app: db}}, spec: {}}", ""},
        {WEB(""), ""},
    };
    change_table_run(&(struct change_table){"zone-spread: {action: default}", cluster, CONTROLLER,
                                            cases, COUNT_OF(cases)});
    static const struct change_case required[] = {{WEB_POD(""), ""}};
    change_table_run(&(struct change_table){"zone-spread: {}", cluster, CONTROLLER, required,
                                            COUNT_OF(required)});
    /* a person who writes an owner down does not have one */
    change_table_run(&(struct change_table){"zone-spread: {action: default}", cluster, "jane",
                                            required, COUNT_OF(required)});
}

static void volumes_in_a_zone_are_not_kept_waiting(void)
{
    static const struct change_case cases[] = {
        {DB_POD(""), WAITS NO_LIST ITEM("DoNotSchedule", LABELS("\"app\":\"db\""), "")},
        {DB_POD(MOUNTS("data-db-0")),
         ANYWAY NO_LIST ITEM("ScheduleAnyway", LABELS("\"app\":\"db\""), "")},
        {DB_POD(MOUNTS("data-db-3")),
         ANYWAY NO_LIST ITEM("ScheduleAnyway", LABELS("\"app\":\"db\""), "")},
        /* not bound, or bound to what every zone reaches */
        {DB_POD(MOUNTS("data-db-1")),
         WAITS NO_LIST ITEM("DoNotSchedule", LABELS("\"app\":\"db\""), "")},
        {DB_POD(MOUNTS("data-db-2")),
         WAITS NO_LIST ITEM("DoNotSchedule", LABELS("\"app\":\"db\""), "")},
        /* one of two */
        {DB_POD("volumes: [{name: a, persistentVolumeClaim: {claimName: data-db-1}}, {name: b, "
                "persistentVolumeClaim: {claimName: data-db-0}}]"),
         ANYWAY NO_LIST ITEM("ScheduleAnyway", LABELS("\"app\":\"db\""), "")},
        {DB_POD("volumes: [{name: a, emptyDir: {}}, {name: b, azureDisk: {diskName: a}}]"),
         ANYWAY NO_LIST ITEM("ScheduleAnyway", LABELS("\"app\":\"db\""), "")},
        {DB_POD("volumes: [{name: a, gcePersistentDisk: {pdName: a}}]"),
         ANYWAY NO_LIST ITEM("ScheduleAnyway", LABELS("\"app\":\"db\""), "")},
        {DB_POD("volumes: [{name: a, cinder: {volumeID: a}}]"),
         ANYWAY NO_LIST ITEM("ScheduleAnyway", LABELS("\"app\":\"db\""), "")},
        /* held to a node, which is in a zone; or to what every zone has */
        {DB_POD(MOUNTS("data-of-node")),
         ANYWAY NO_LIST ITEM("ScheduleAnyway", LABELS("\"app\":\"db\""), "")},
        {DB_POD(MOUNTS("data-of-both")),
         ANYWAY NO_LIST ITEM("ScheduleAnyway", LABELS("\"app\":\"db\""), "")},
        {DB_POD(MOUNTS("data-later-term")),
         ANYWAY NO_LIST ITEM("ScheduleAnyway", LABELS("\"app\":\"db\""), "")},
        {DB_POD(MOUNTS("data-v")),
         ANYWAY NO_LIST ITEM("ScheduleAnyway", LABELS("\"app\":\"db\""), "")},
        {DB_POD(MOUNTS("data-of-region")),
         WAITS NO_LIST ITEM("DoNotSchedule", LABELS("\"app\":\"db\""), "")},
        {DB_POD(MOUNTS("data-of-linux")),
         WAITS NO_LIST ITEM("DoNotSchedule", LABELS("\"app\":\"db\""), "")},
        {DB_POD(MOUNTS("data-labelled")),
         WAITS NO_LIST ITEM("DoNotSchedule", LABELS("\"app\":\"db\""), "")},
        /* bound to a volume that is not visible */
        {DB_POD(MOUNTS("data-lost")),
         ANYWAY NO_LIST ITEM("ScheduleAnyway", LABELS("\"app\":\"db\""), "")},
        /* a disk named by the pod itself */
        {DB_POD("volumes: [{name: data, awsElasticBlockStore: {volumeID: a}}]"),
         ANYWAY NO_LIST ITEM("ScheduleAnyway", LABELS("\"app\":\"db\""), "")},
        /* not visible */
        {DB_POD(MOUNTS("data-db-9")),
         ANYWAY NO_LIST ITEM("ScheduleAnyway", LABELS("\"app\":\"db\""), "")},
    };
    change_table_run(
        &(struct change_table){"zone-spread: {action: default, whenUnsatisfiable: DoNotSchedule}",
                               cluster, CONTROLLER, cases, COUNT_OF(cases)});
}

static void few_replicas_get_none(void)
{
    static const struct change_case cases[] = {
        {DB_POD(""), ANYWAY NO_LIST ITEM("ScheduleAnyway", LABELS("\"app\":\"db\""), "")},
        {POD("app: rc", "v1", "ReplicationController", "rc", ""), ""},
    };
    change_table_run(&(struct change_table){"zone-spread: {action: default, minReplicas: 3}",
                                            cluster, CONTROLLER, cases, COUNT_OF(cases)});
}

/* Who asks for nothing to be added has no webhook that adds. */
static void only_the_default_changes_pods(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    CU_ASSERT_FALSE(
        policy_set_changes_pods(rail_table_world("zone-spread: {}", NULL, arena).policies));
    CU_ASSERT(policy_set_changes_pods(
        rail_table_world("zone-spread: {action: default}", NULL, arena).policies));
    arena_destroy(arena);
}

const char unit_suite[] = "policy zone-spread";
const struct unit_test unit_tests[] = {
    {"workloads must be spread", workloads_must_be_spread},
    {"who chooses zones is exempt", who_chooses_zones_is_exempt},
    {"hybrid nodes must be there to be preferred", hybrid_nodes_must_be_there_to_be_preferred},
    {"alternatives are of one zone", alternatives_are_of_one_zone},
    {"daemons are everywhere", daemons_are_everywhere},
    {"volumes of one zone hold their pods", volumes_of_one_zone_hold_their_pods},
    {"zones take one replica each", zones_take_one_replica_each},
    {"a misspelt zone is told at its key", a_misspelt_zone_is_told_at_its_key},
    {"a skew may let one zone have all", a_skew_may_let_one_zone_have_all},
    {"a widened skew is a new finding", a_widened_skew_is_a_new_finding},
    {"each pod of a set may count alone", each_pod_of_a_set_may_count_alone},
    {"few replicas are let alone", few_replicas_are_let_alone},
    {"what Karpenter ignores is made hard", what_karpenter_ignores_is_made_hard},
    {"pods are given a spread", pods_are_given_a_spread},
    {"some pods are let alone", some_pods_are_let_alone},
    {"few replicas get none", few_replicas_get_none},
    {"only the default changes pods", only_the_default_changes_pods},
    {"volumes in a zone are not kept waiting", volumes_in_a_zone_are_not_kept_waiting},
    {NULL, NULL},
};
