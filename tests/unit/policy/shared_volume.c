/* The rail shared-volume: several pods, one disk, and nothing that keeps them on one node. */
#include "rail_modes.h"

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

#define STORAGE_CLASS(name, provisioner)                                              \
    "---\n{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " name \
    "}, provisioner: " provisioner "}\n"
#define VOLUME(name, source)                                                                   \
    "---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name "}, spec: {" source \
    "}}\n"

#define OF_MODE(name, modes) CLAIM(name, modes, "")
#define OF_CLASS(name, class) CLAIM(name, "ReadWriteOnce", ", storageClassName: " class)
#define OF_VOLUME(name, volume) CLAIM(name, "ReadWriteOnce", ", volumeName: " volume)
#define ONE_NODE OF_MODE("disk", "ReadWriteOnce") OF_MODE("pod", "ReadWriteOncePod")
#define ONE_NODE_TWICE OF_MODE("twice", "ReadWriteOncePod, ReadWriteOnce")
#define MANY OF_MODE("many", "ReadWriteMany") OF_MODE("mixed", "ReadWriteOnce, ReadWriteMany")
#define READERS OF_MODE("both", "ReadWriteOnce, ReadOnlyMany")
#define NO_MODE OF_MODE("none", "")
#define BY_CLASS OF_CLASS("lustre", "fsx") OF_CLASS("efs", "efs") OF_CLASS("ebs", "ebs")
#define BY_OLD_CLASS OF_CLASS("gluster", "gluster")
#define BY_VOLUME OF_VOLUME("nfs", "pv-nfs") OF_VOLUME("bound", "pv-ebs")
#define CLASSES STORAGE_CLASS("efs", "efs.csi.aws.com") STORAGE_CLASS("fsx", "fsx.csi.aws.com")
#define OLD_CLASS STORAGE_CLASS("gluster", "kubernetes.io/glusterfs")
#define DISK_CLASS STORAGE_CLASS("ebs", "ebs.csi.aws.com")
#define NFS_VOLUME VOLUME("pv-nfs", "nfs: {path: /}")
#define EBS_VOLUME VOLUME("pv-ebs", "csi: {driver: ebs.csi.aws.com}")

static const char cluster[] = ONE_NODE ONE_NODE_TWICE MANY READERS NO_MODE BY_CLASS BY_OLD_CLASS
    BY_VOLUME CLASSES OLD_CLASS DISK_CLASS NFS_VOLUME EBS_VOLUME;

#define PVC(name, more)                                                          \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " name "}, " \
    "spec: {accessModes: [ReadWriteOnce]" more "}}\n"

/* A StorageClass of this driver, or a PersistentVolume of this source; the claim is of one node. */
static void run_one(const char *visible, const char *found)
{
    const struct rail_case cases[] = {{DEPLOYMENT("replicas: 2", MOUNTS("data")), found}};
    rail_table_run(&(struct rail_table){"shared-volume: {mode: enforce}", visible, cases, 1});
}

static void file_systems_are_for_all_nodes(void)
{
    static const struct {
        const char *driver;
        bool shared;
    } drivers[] = {
        {"efs.csi.aws.com", true},
        {"fsx.csi.aws.com", true},
        {"s3.csi.aws.com", true},
        {"file.csi.azure.com", true},
        {"kubernetes.io/azure-file", true},
        {"kubernetes.io/glusterfs", true},
        {"nfs.csi.k8s.io", true},
        {"smb.csi.k8s.io", true},
        {"filestore.csi.storage.gke.io", true},
        {"gcsfuse.csi.storage.gke.io", true},
        {"cephfs.csi.ceph.com", true},
        {"rook-ceph.cephfs.csi.ceph.com", true},
        {"ebs.csi.aws.com", false},
        {"ebs.csi.eks.amazonaws.com", false},
        {"disk.csi.azure.com", false},
        {"pd.csi.storage.gke.io", false},
        {"rbd.csi.ceph.com", false},
        {"kubernetes.io/aws-ebs", false},
        {"''", false},
    };
    struct arena *arena = arena_create(1 << 20);
    for (size_t i = 0; i < COUNT_OF(drivers); i++) {
        const char *found = drivers[i].shared ? "" : "deny " FIELD "data";
        struct text by_class =
            arena_printf(arena, PVC("data", ", storageClassName: c") STORAGE_CLASS("c", "%s"),
                         drivers[i].driver);
        run_one(by_class.data, found);
        struct text by_volume =
            arena_printf(arena, PVC("data", ", volumeName: pv") VOLUME("pv", "csi: {driver: %s}"),
                         drivers[i].driver);
        run_one(by_volume.data, found);
    }
    static const struct {
        const char *source;
        bool shared;
    } sources[] = {
        {"nfs", true},       {"cephfs", true},
        {"azureFile", true}, {"glusterfs", true},
        {"hostPath", true},  {"local", true},
        {"iscsi", false},    {"awsElasticBlockStore", false},
        {"fc", false},       {"gcePersistentDisk", false},
    };
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        struct text by_volume = arena_printf(
            arena, PVC("data", ", volumeName: pv") VOLUME("pv", "%s: {}"), sources[i].source);
        run_one(by_volume.data, sources[i].shared ? "" : "deny " FIELD "data");
    }
    arena_destroy(arena);
}

/* Its volume says more of a claim than its class does, and the class more than nothing. */
static void a_claim_is_what_it_is_bound_to(void)
{
#define EFS(more) STORAGE_CLASS("efs" more, "efs.csi.aws.com")
#define BOUND(driver) VOLUME("pv", "csi: {driver: " driver "}")
    static const char found[] = "deny " FIELD "data";
    run_one(PVC("data", ", storageClassName: efs, volumeName: pv") EFS("") BOUND("ebs.csi.aws.com"),
            found);
    run_one(PVC("data", ", storageClassName: efs, volumeName: pv") EFS(""), "");
    run_one(PVC("data", ", storageClassName: unseen") EFS(""), found);
    run_one(PVC("data", "") EFS(""), found);
    run_one(PVC("data", "")
                EFS(", annotations: {storageclass.kubernetes.io/is-default-class: 'true'}"),
            "");
    run_one(PVC("data", ", storageClassName: ''")
                EFS(", annotations: {storageclass.kubernetes.io/is-default-class: 'true'}"),
            found);
}

static void several_replicas_on_one_disk(void)
{
    static const struct rail_case cases[] = {
        {DEPLOYMENT("replicas: 3", MOUNTS("disk")), "deny " FIELD "disk"},
        {DEPLOYMENT("replicas: 3", MOUNTS("ebs")), "deny " FIELD "ebs"},
        {DEPLOYMENT("replicas: 3", MOUNTS("bound")), "deny " FIELD "bound"},
        {DEPLOYMENT("replicas: 3", MOUNTS("many")), ""},
        {DEPLOYMENT("replicas: 3", MOUNTS("both")), ""},
        {DEPLOYMENT("replicas: 3", MOUNTS("mixed")), ""},
        {DEPLOYMENT("replicas: 3", MOUNTS("twice")), "deny " FIELD "twice"},
        {DEPLOYMENT("replicas: 3", MOUNTS("none")), ""},
        {DEPLOYMENT("replicas: 2", MOUNTS("disk")), "deny " FIELD "disk"},
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
        {DEPLOYMENT("replicas: 3", "volumes: [{name: v, persistentVolumeClaim: {claimName: disk}}, "
                                   "{name: w, persistentVolumeClaim: {claimName: many}}, "
                                   "{name: x, persistentVolumeClaim: {claimName: ebs}}, "
                                   "{name: y, persistentVolumeClaim: {claimName: ebs}}]"),
         "deny " FIELD "disk\ndeny "
         "spec.template.spec.volumes[2].persistentVolumeClaim.claimName ebs"},
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
        {DEPLOYMENT(STRATEGY("rollingUpdate: {maxSurge: '0'}"), MOUNTS("disk")), ""},
        {DEPLOYMENT(STRATEGY("rollingUpdate: {maxSurge: 25%}"), MOUNTS("disk")),
         "warn " FIELD "disk"},
        {DEPLOYMENT(STRATEGY("rollingUpdate: {maxSurge: 1}"), MOUNTS("disk")),
         "warn " FIELD "disk"},
        {DEPLOYMENT(STRATEGY("type: RollingUpdate"), MOUNTS("disk")), "warn " FIELD "disk"},
        {DEPLOYMENT("replicas: null", MOUNTS("disk")), "warn " FIELD "disk"},
        {DEPLOYMENT("replicas: 1", MOUNTS("many")), ""},
        {DEPLOYMENT("replicas: 1", MOUNTS("disk") ", nodeName: ip-1"), ""},
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
#define TOGETHER_IN(spaces) \
    "{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: a}}" spaces "}"
#define TOGETHER TOGETHER_IN("")
#define IN_TEAM(team) TOGETHER_IN(", namespaceSelector: {matchLabels: {team: " team "}}")
#define IN_OTHER                                                                                 \
    TOGETHER_IN(", namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: other, team: " \
                "a}}")
#define AFFINITIES(terms)                                                         \
    MOUNTS("disk")                                                                \
    ", affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: " \
    "[" terms "]}}"
#define IN_ZONE \
    "{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [z]}]}"
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
        {DEPLOYMENT("replicas: 3",
                    AFFINITIES("{topologyKey: topology.kubernetes.io/zone, "
                               "labelSelector: {matchLabels: {app: a}}}, " TOGETHER)),
         ""},
        /* by labels of the Namespace, which is not seen; by its name */
        {DEPLOYMENT("replicas: 3", AFFINITIES(IN_TEAM("a"))), ""},
        {DEPLOYMENT("replicas: 3", AFFINITIES(IN_OTHER)), found},
        {DEPLOYMENT("replicas: 3", MOUNTS("disk") ", nodeName: a"), ""},
        {DEPLOYMENT("replicas: 3", MOUNTS("disk") ", nodeName: ''"), found},
        {DEPLOYMENT("replicas: 3", MOUNTS("disk") ", nodeSelector: {kubernetes.io/hostname: ''}"),
         found},
        {DEPLOYMENT("replicas: 3", MOUNTS("disk") ", nodeSelector: {kubernetes.io/hostname: a}"),
         ""},
        {DEPLOYMENT("replicas: 3", MOUNTS("disk") ", nodeSelector: {intent: a}"), found},
        {DEPLOYMENT("replicas: 3", ON_HOSTS(TERM("a"))), ""},
        {DEPLOYMENT("replicas: 3", ON_HOSTS(TERM("a, b"))), found},
        {DEPLOYMENT("replicas: 3", ON_HOSTS(TERM("a") ", " TERM("b"))), found},
        {DEPLOYMENT("replicas: 3", ON_HOSTS(TERM("a") ", " TERM("a"))), ""},
        /* either term may be the one that is met, and each of its expressions must be */
        {DEPLOYMENT("replicas: 3", ON_HOSTS(TERM("a") ", " IN_ZONE)), found},
        {DEPLOYMENT("replicas: 3", ON_HOSTS(IN_ZONE ", " TERM("a"))), found},
        {DEPLOYMENT("replicas: 3", ON_HOSTS(IN_ZONE)), found},
        {DEPLOYMENT("replicas: 3",
                    ON_HOSTS("{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, "
                             "values: [z]}, {key: kubernetes.io/hostname, operator: In, values: "
                             "[a]}]}")),
         ""},
        {DEPLOYMENT("replicas: 3", ON_HOSTS("{matchExpressions: [{key: kubernetes.io/hostname, "
                                            "operator: NotIn, values: [a]}]}")),
         found},
        {DEPLOYMENT("replicas: 3", ON_HOSTS("{matchExpressions: [{key: kubernetes.io/hostname, "
                                            "operator: In, values: [5]}]}")),
         found},
        /* one that is only preferred */
        {DEPLOYMENT("replicas: 3",
                    MOUNTS("disk") ", affinity: {nodeAffinity: "
                                   "{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, "
                                   "preference: " TERM("a") "}]}}"),
         found},
    };
    rail_table_run(
        &(struct rail_table){"shared-volume: {mode: enforce}", cluster, cases, COUNT_OF(cases)});
    static const char in_space[] = ONE_NODE
        "---\n{apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {team: a}}}\n";
    static const struct rail_case seen[] = {
        {DEPLOYMENT("replicas: 3", AFFINITIES(IN_TEAM("a"))), ""},
        {DEPLOYMENT("replicas: 3", AFFINITIES(IN_TEAM("b"))), found},
    };
    rail_table_run(
        &(struct rail_table){"shared-volume: {mode: enforce}", in_space, seen, COUNT_OF(seen)});
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
        {OF("apps/v1", "StatefulSet",
            "replicas: 2, volumeClaimTemplates: [{metadata: {name: w}}], " TEMPLATE(
                MOUNTS("disk"))),
         found},
        {OF("apps/v1", "StatefulSet",
            "replicas: 2, volumeClaimTemplates: [{metadata: {name: w}}, {metadata: {name: "
            "v}}], " TEMPLATE(MOUNTS("disk"))),
         ""},
        {OF("v1", "ReplicationController", "replicas: 1, " TEMPLATE(MOUNTS("disk"))), ""},
        {OF("apps/v1", "DaemonSet", TEMPLATE(MOUNTS("disk"))), found},
        {OF("apps/v1", "DaemonSet", "replicas: 1, " TEMPLATE(MOUNTS("disk"))), found},
        {OF("batch/v1", "Job", "parallelism: 2, " TEMPLATE(MOUNTS("disk"))), found},
        {OF("batch/v1", "Job", "parallelism: 2, completions: 1, " TEMPLATE(MOUNTS("disk"))), ""},
        {OF("batch/v1", "Job", "parallelism: 1, completions: 5, " TEMPLATE(MOUNTS("disk"))), ""},
        {OF("batch/v1", "Job", "parallelism: 0, completions: 5, " TEMPLATE(MOUNTS("disk"))), ""},
        {OF("batch/v1", "Job", "parallelism: 2, completions: 2, " TEMPLATE(MOUNTS("disk"))), found},
        {OF("batch/v1", "Job", "completions: 5, " TEMPLATE(MOUNTS("disk"))), ""},
        {OF("batch/v1", "Job", TEMPLATE(MOUNTS("disk"))), ""},
        {OF("batch/v1", "CronJob",
            "jobTemplate: {spec: {parallelism: 2, completions: 1, " TEMPLATE(MOUNTS("disk")) "}}"),
         ""},
        {OF("batch/v1", "CronJob",
            "jobTemplate: {spec: {parallelism: 2, " TEMPLATE(MOUNTS("disk")) "}}"),
         "deny spec.jobTemplate." FIELD "disk"},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {" MOUNTS("disk") "}}", ""},
    };
    rail_table_run(
        &(struct rail_table){"shared-volume: {mode: enforce}", cluster, cases, COUNT_OF(cases)});
}

static void it_says_how_many_mount_it(void)
{
    static const char fix[] = "Use a ReadWriteMany claim of a shared file system (EFS, FSx, NFS), "
                              "a volume of its own for each pod (ephemeral), or a required "
                              "podAffinity of the pods to themselves by kubernetes.io/hostname.";
    static const struct rail_words rows[] = {
        {OF("batch/v1", "Job", "parallelism: 2, completions: 5, " TEMPLATE(MOUNTS("disk"))),
         "Several pods mount claim \"disk\" (ReadWriteOnce), which only one node can attach. On "
         "another node a pod waits for ever (Multi-Attach).",
         fix},
        {OF("batch/v1", "CronJob",
            "jobTemplate: {spec: {parallelism: 9, completions: 3, " TEMPLATE(MOUNTS("disk")) "}}"),
         "Several pods mount claim \"disk\" (ReadWriteOnce), which only one node can attach. On "
         "another node a pod waits for ever (Multi-Attach).",
         fix},
        {OF("apps/v1", "ReplicaSet", "replicas: 2, " TEMPLATE(MOUNTS("disk"))),
         "Several pods mount claim \"disk\" (ReadWriteOnce), which only one node can attach. On "
         "another node a pod waits for ever (Multi-Attach).",
         "Use a ReadWriteMany claim of a shared file system (EFS, FSx, NFS), a StatefulSet with "
         "volumeClaimTemplates, or a required podAffinity of the pods to themselves by "
         "kubernetes.io/hostname."},
        {OF("apps/v1", "DaemonSet", TEMPLATE(MOUNTS("unseen"))),
         "A pod on every node mounts claim \"unseen\", which is not visible. ReadWriteOnce would "
         "keep it to one node.",
         "Make the claim visible: name its file with -f, or use --state DIR."},
    };
    rail_words_run("shared-volume: {}", cluster, rows, COUNT_OF(rows));
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
    {"file systems are for all nodes", file_systems_are_for_all_nodes},
    {"a claim is what it is bound to", a_claim_is_what_it_is_bound_to},
    {"it says how many mount it", it_says_how_many_mount_it},
    {"several replicas on one disk", several_replicas_on_one_disk},
    {"one replica that is two while it is updated", one_replica_that_is_two_while_it_is_updated},
    {"what keeps them on one node", what_keeps_them_on_one_node},
    {"every kind with replicas", every_kind_with_replicas},
    {"it only warns unless it has a mode of its own",
     it_only_warns_unless_it_has_a_mode_of_its_own},
    {NULL, NULL},
};
