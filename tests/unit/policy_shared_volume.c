/* The rail shared-volume: several pods, one disk, and nothing that keeps them on one node. */
#include "rail_table.h"

#define MOUNTS(claim)                                                                            \
    "volumes: [{name: v, persistentVolumeClaim: {claimName: " claim "}}, {name: tmp, emptyDir: " \
    "{}}]"
#define OF(api, kind, spec) \
    "{apiVersion: " api ", kind: " kind ", metadata: {name: a}, spec: {" spec "}}"
#define TEMPLATE(spec) "template: {metadata: {labels: {app: a}}, spec: {" spec "}}"
#define DEPLOYMENT(more, spec) OF("apps/v1", "Deployment", more ", " TEMPLATE(spec))
#define CLAIM(name, mode, more)                                                 \
    "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " name \
    "}, spec: {accessModes: [" mode "]" more "}}\n"
#define FIELD "spec.template.spec.volumes[0].persistentVolumeClaim.claimName "

static const char cluster[] = CLAIM("lustre", "ReadWriteOnce", ", storageClassName: fsx") CLAIM(
    "gluster", "ReadWriteOnce", ", storageClassName: gluster") CLAIM("disk", "ReadWriteOnce", "")
    CLAIM("many", "ReadWriteMany", "") CLAIM("both", "ReadWriteOnce, ReadOnlyMany", "") CLAIM(
        "pod", "ReadWriteOncePod", "") CLAIM("efs", "ReadWriteOnce", ", storageClassName: efs")
        CLAIM("ebs", "ReadWriteOnce", ", storageClassName: ebs")
            CLAIM("nfs", "ReadWriteOnce", ", volumeName: pv-nfs")
                CLAIM("bound", "ReadWriteOnce",
                      ", volumeName: pv-ebs") "---\n{apiVersion: storage.k8s.io/v1, kind: "
                                              "StorageClass, metadata: {name: efs}, provisioner: "
                                              "efs.csi.aws.com}\n"
                                              "---\n{apiVersion: storage.k8s.io/v1, kind: "
                                              "StorageClass, metadata: {name: fsx}, provisioner: "
                                              "fsx.csi.aws.com}\n"
                                              "---\n{apiVersion: storage.k8s.io/v1, kind: "
                                              "StorageClass, metadata: {name: gluster}, "
                                              "provisioner: kubernetes.io/glusterfs}\n"
                                              "---\n{apiVersion: storage.k8s.io/v1, kind: "
                                              "StorageClass, metadata: {name: ebs}, provisioner: "
                                              "ebs.csi.aws.com}\n"
                                              "---\n{apiVersion: v1, kind: PersistentVolume, "
                                              "metadata: {name: pv-nfs}, spec: {nfs: {path: "
                                              "/}}}\n"
                                              "---\n{apiVersion: v1, kind: PersistentVolume, "
                                              "metadata: {name: pv-ebs}, spec: {csi: {driver: "
                                              "ebs.csi.aws.com}}}\n";

static void several_replicas_on_one_disk(void)
{
    static const struct rail_case cases[] = {
        {DEPLOYMENT("replicas: 3", MOUNTS("disk")), "deny " FIELD "disk"},
        {DEPLOYMENT("replicas: 3", MOUNTS("ebs")), "deny " FIELD "ebs"},
        {DEPLOYMENT("replicas: 3", MOUNTS("bound")), "deny " FIELD "bound"},
        {DEPLOYMENT("replicas: 3", MOUNTS("many")), ""},
        {DEPLOYMENT("replicas: 3", MOUNTS("both")), ""},
        {DEPLOYMENT("replicas: 3", MOUNTS("pod")), ""},
        {DEPLOYMENT("replicas: 3", MOUNTS("efs")), ""},
        {DEPLOYMENT("replicas: 3", MOUNTS("nfs")), ""},
        {DEPLOYMENT("replicas: 3", MOUNTS("lustre")), ""},
        {DEPLOYMENT("replicas: 3", MOUNTS("gluster")), ""},
        {DEPLOYMENT("replicas: 3", MOUNTS("unseen")), "undecided " FIELD "unseen"},
        {DEPLOYMENT("replicas: 0", MOUNTS("disk")), ""},
        {DEPLOYMENT("replicas: 3", "volumes: [{name: v, ephemeral: {volumeClaimTemplate: {}}}]"),
         ""},
        {DEPLOYMENT("replicas: 3", "volumes: [{name: v, persistentVolumeClaim: {claimName: disk}}, "
                                   "{name: w, persistentVolumeClaim: {claimName: disk}}]"),
         "deny " FIELD "disk"},
    };
    rail_table_run(
        &(struct rail_table){"shared-volume: {mode: enforce}", cluster, cases, COUNT_OF(cases)});
}

static void one_replica_that_is_two_while_it_is_updated(void)
{
#define STRATEGY(strategy) "strategy: {" strategy "}"
    static const struct rail_case cases[] = {
        {DEPLOYMENT("replicas: 1", MOUNTS("disk")), "warn " FIELD "disk"},
        {DEPLOYMENT("paused: false", MOUNTS("disk")), "warn " FIELD "disk"},
        {DEPLOYMENT(STRATEGY("type: Recreate"), MOUNTS("disk")), ""},
        {DEPLOYMENT(STRATEGY("rollingUpdate: {maxSurge: 0}"), MOUNTS("disk")), ""},
        {DEPLOYMENT(STRATEGY("rollingUpdate: {maxSurge: 0%}"), MOUNTS("disk")), ""},
        {DEPLOYMENT(STRATEGY("rollingUpdate: {maxSurge: 25%}"), MOUNTS("disk")),
         "warn " FIELD "disk"},
        {DEPLOYMENT("replicas: 1", MOUNTS("unseen")), ""},
        {OF("apps/v1", "ReplicaSet", "replicas: 1, " TEMPLATE(MOUNTS("disk"))), ""},
        {OF("apps/v1", "StatefulSet", "replicas: 1, " TEMPLATE(MOUNTS("disk"))), ""},
    };
    rail_table_run(
        &(struct rail_table){"shared-volume: {mode: enforce}", cluster, cases, COUNT_OF(cases)});
}

static void what_keeps_them_on_one_node(void)
{
#define AFFINITY(key, label)                                                      \
    MOUNTS("disk")                                                                \
    ", affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: " \
    "[{topologyKey: " key ", labelSelector: {matchLabels: {app: " label "}}}]}}"
#define TERM(hosts) \
    "{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [" hosts "]}]}"
#define ON_HOSTS(terms)                                                            \
    MOUNTS("disk")                                                                 \
    ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: " \
    "{nodeSelectorTerms: [" terms "]}}}"
    static const char found[] = "deny " FIELD "disk";
    static const struct rail_case cases[] = {
        {DEPLOYMENT("replicas: 3", AFFINITY("kubernetes.io/hostname", "a")), ""},
        {DEPLOYMENT("replicas: 3", AFFINITY("topology.kubernetes.io/zone", "a")), found},
        {DEPLOYMENT("replicas: 3", AFFINITY("kubernetes.io/hostname", "b")), found},
        /* what keeps them apart, or would like to have them together */
        {DEPLOYMENT(
             "replicas: 3",
             MOUNTS("disk") ", affinity: {podAntiAffinity: "
                            "{requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
                            "kubernetes.io/hostname, labelSelector: {matchLabels: {app: "
                            "a}}}]}}"),
         found},
        {DEPLOYMENT("replicas: 3",
                    MOUNTS("disk") ", affinity: {podAffinity: "
                                   "{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, "
                                   "podAffinityTerm: {topologyKey: kubernetes.io/hostname, "
                                   "labelSelector: {matchLabels: {app: a}}}}]}}"),
         found},
        {DEPLOYMENT("replicas: 3", MOUNTS("disk") ", nodeName: ip-1"), ""},
        {DEPLOYMENT("replicas: 3", MOUNTS("disk") ", nodeSelector: {kubernetes.io/hostname: a}"),
         ""},
        {DEPLOYMENT("replicas: 3", MOUNTS("disk") ", nodeSelector: {intent: a}"), found},
        {DEPLOYMENT("replicas: 3", ON_HOSTS(TERM("a"))), ""},
        {DEPLOYMENT("replicas: 3", ON_HOSTS(TERM("a, b"))), found},
        {DEPLOYMENT("replicas: 3", ON_HOSTS(TERM("a") ", " TERM("b"))), found},
        {DEPLOYMENT("replicas: 3", ON_HOSTS(TERM("a") ", " TERM("a"))), ""},
    };
    rail_table_run(
        &(struct rail_table){"shared-volume: {mode: enforce}", cluster, cases, COUNT_OF(cases)});
}

static void every_kind_with_replicas(void)
{
    static const char found[] = "deny " FIELD "disk";
    static const struct rail_case cases[] = {
        {OF("apps/v1", "ReplicaSet", "replicas: 2, " TEMPLATE(MOUNTS("disk"))), found},
        {OF("v1", "ReplicationController", "replicas: 2, " TEMPLATE(MOUNTS("disk"))), found},
        {OF("apps/v1", "StatefulSet", "replicas: 2, " TEMPLATE(MOUNTS("disk"))), found},
        /* its own claim takes the volume's place */
        {OF("apps/v1", "StatefulSet",
            "replicas: 2, volumeClaimTemplates: [{metadata: {name: v}}], " TEMPLATE(
                MOUNTS("disk"))),
         ""},
        {OF("apps/v1", "DaemonSet", TEMPLATE(MOUNTS("disk"))), found},
        {OF("batch/v1", "Job", "parallelism: 2, " TEMPLATE(MOUNTS("disk"))), found},
        {OF("batch/v1", "Job", "parallelism: 2, completions: 1, " TEMPLATE(MOUNTS("disk"))), ""},
        {OF("batch/v1", "Job", TEMPLATE(MOUNTS("disk"))), ""},
        {OF("batch/v1", "CronJob",
            "jobTemplate: {spec: {parallelism: 2, " TEMPLATE(MOUNTS("disk")) "}}"),
         "deny spec.jobTemplate." FIELD "disk"},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {" MOUNTS("disk") "}}", ""},
    };
    rail_table_run(
        &(struct rail_table){"shared-volume: {mode: enforce}", cluster, cases, COUNT_OF(cases)});
}

static void it_only_warns_unless_it_has_a_mode_of_its_own(void)
{
    static const struct rail_case cases[] = {
        {DEPLOYMENT("replicas: 3", MOUNTS("disk")), "warn " FIELD "disk"},
    };
    rail_table_run(&(struct rail_table){"shared-volume: {}", cluster, cases, COUNT_OF(cases)});
    static const struct rail_case audited[] = {
        {DEPLOYMENT("replicas: 3", MOUNTS("disk")), "audit " FIELD "disk"},
    };
    rail_table_run(
        &(struct rail_table){"shared-volume: {mode: audit}", cluster, audited, COUNT_OF(audited)});
}

const char unit_suite[] = "policy shared-volume";
const struct unit_test unit_tests[] = {
    {"several replicas on one disk", several_replicas_on_one_disk},
    {"one replica that is two while it is updated", one_replica_that_is_two_while_it_is_updated},
    {"what keeps them on one node", what_keeps_them_on_one_node},
    {"every kind with replicas", every_kind_with_replicas},
    {"it only warns unless it has a mode of its own",
     it_only_warns_unless_it_has_a_mode_of_its_own},
    {NULL, NULL},
};
