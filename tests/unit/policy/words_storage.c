/* What the rails on disks say: volume-binding and shared-volume, the sentence and the fix. */
#include "rail_modes.h"

#define STORAGE_CLASS(name, more) \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " name "}" more "}\n"
#define EBS ", provisioner: ebs.csi.aws.com"
#define WAITS ", volumeBindingMode: WaitForFirstConsumer"
#define CLAIM(name, spec)                                                                         \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " name "}, spec: {" spec "}}" \
    "\n"
#define TOPOLOGY(key, values) \
    WAITS ", allowedTopologies: [{matchLabelExpressions: [{key: " key ", values: [" values "]}]}]"
#define ZONE "topology.kubernetes.io/zone"

static void storage_classes(void)
{
    static const struct rail_words rows[] = {
        {STORAGE_CLASS("a", EBS),
         "Without volumeBindingMode the disk is created before the pod is scheduled, perhaps in a "
         "zone where the pod cannot run.",
         "Set WaitForFirstConsumer (in a new StorageClass)."},
        {STORAGE_CLASS("a", EBS ", volumeBindingMode: Immediate"),
         "With volumeBindingMode Immediate the disk is created before the pod is scheduled, "
         "perhaps in a zone where the pod cannot run.",
         "Set WaitForFirstConsumer (in a new StorageClass)."},
        {STORAGE_CLASS("a", EBS ", volumeBindingMode: Sometimes"),
         "\"Sometimes\" is no volumeBindingMode.",
         "Set WaitForFirstConsumer (in a new StorageClass)."},
        {STORAGE_CLASS("a", EBS ", parameters: {zone: eu-west-1a}"),
         "Without volumeBindingMode the disk is created before the pod is scheduled, perhaps in a "
         "zone where the pod cannot run.",
         "Set WaitForFirstConsumer (in a new StorageClass). Name zones in allowedTopologies, not "
         "in parameters."},
        {STORAGE_CLASS("a", EBS ", parameters: {zones: 'eu-west-1a,eu-west-1b'}"),
         "Without volumeBindingMode the disk is created before the pod is scheduled, perhaps in a "
         "zone where the pod cannot run.",
         "Set WaitForFirstConsumer (in a new StorageClass). Name zones in allowedTopologies, not "
         "in parameters."},
        /* a key: by its last word, by its letters, or none that is known */
        {STORAGE_CLASS("a", EBS TOPOLOGY("zone", "a")),
         "ebs.csi.aws.com does not place volumes by \"zone\".", "Use topology.kubernetes.io/zone."},
        {STORAGE_CLASS("a", EBS TOPOLOGY("region", "a")),
         "ebs.csi.aws.com does not place volumes by \"region\".",
         "Use topology.kubernetes.io/region."},
        {STORAGE_CLASS("a", EBS TOPOLOGY("topology.kubernetes.io/zonr", "a")),
         "ebs.csi.aws.com does not place volumes by \"topology.kubernetes.io/zonr\".",
         "Use topology.kubernetes.io/zone."},
        {STORAGE_CLASS("a", EBS TOPOLOGY("topology.ebs.csi.aws.com/zon", "a")),
         "ebs.csi.aws.com does not place volumes by \"topology.ebs.csi.aws.com/zon\".",
         "Use topology.ebs.csi.aws.com/zone."},
        {STORAGE_CLASS("a", EBS TOPOLOGY("example.com/rack", "a")),
         "ebs.csi.aws.com does not place volumes by \"example.com/rack\".",
         "Use topology.kubernetes.io/zone."},
        {STORAGE_CLASS("a", EBS TOPOLOGY(ZONE, "'<your zone>'")),
         "\"<your zone>\" is no value that a node can carry as a label.",
         "Put a real value in place of the placeholder."},
    };
    rail_words_run("volume-binding: {}", NULL, rows, COUNT_OF(rows));
    static const struct rail_words elsewhere[] = {
        {STORAGE_CLASS("a", EBS TOPOLOGY(ZONE, "eu-west-1f")),
         "\"eu-west-1f\" is a zone that no visible Node, NodePool or EC2NodeClass names.",
         "Name a zone of this cluster."},
    };
    rail_words_run("volume-binding: {}",
                   "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: c}, "
                   "status: {subnets: [{zone: eu-west-1a}, {zone: eu-west-1b}]}}",
                   elsewhere, 1);
    rail_words_run(
        "volume-binding: {}",
        "{apiVersion: v1, kind: Node, metadata: {name: node-1, labels: {" ZONE ": eu-west-1c}}}",
        &(struct rail_words){
            STORAGE_CLASS("a", EBS TOPOLOGY(ZONE, "eu-west-1f")),
            "\"eu-west-1f\" is a zone that no visible Node, NodePool or EC2NodeClass names.",
            "Name a zone of this cluster."},
        1);
}

#define STATEFUL_SET(replicas, template, more)                                                 \
    "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {replicas: " replicas \
    ", template: {spec: {" template "}}" more "}}"
#define DEPLOYMENT(replicas, template, more)                                                  \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {replicas: " replicas \
    ", template: {spec: {" template "}}" more "}}"
#define MOUNTS(claim) "volumes: [{name: v, persistentVolumeClaim: {claimName: " claim "}}]"
#define EARLY STORAGE_CLASS("gp2", EBS) "---\n" CLAIM("data", "storageClassName: gp2")
#define ANOTHER(name, more) "---\n" STORAGE_CLASS(name, more)

static void claims(void)
{
    static const struct rail_words alone[] = {
        {CLAIM("c", "storageClassName: gp2"),
         "StorageClass \"gp2\" binds Immediately, so the disk is created before the pod is "
         "scheduled, perhaps in a zone where the pod cannot run.",
         "Make a class with provisioner ebs.csi.aws.com and volumeBindingMode "
         "WaitForFirstConsumer."},
        {STATEFUL_SET("2", MOUNTS("data"), ""),
         "Claim \"data\" is not bound, and its StorageClass \"gp2\" binds Immediately, so the disk "
         "is created before the pod is scheduled, perhaps in a zone where the pod cannot run.",
         "Make a class with provisioner ebs.csi.aws.com and volumeBindingMode "
         "WaitForFirstConsumer."},
        {CLAIM("c", "storageClassName: unseen"), "StorageClass \"unseen\" is not visible.",
         "Make the StorageClasses visible (--state DIR)."},
        {CLAIM("c", "accessModes: [ReadWriteOnce]"),
         "The claim names no class, and no default StorageClass is visible.",
         "Make the StorageClasses visible (--state DIR)."},
        {STATEFUL_SET("2", "",
                      ", volumeClaimTemplates: [{metadata: {name: v}, spec: {storageClassName: "
                      "gp2}}]"),
         "StorageClass \"gp2\" binds Immediately, so the disk is created before the pod is "
         "scheduled, perhaps in a zone where the pod cannot run.",
         "Make a class with provisioner ebs.csi.aws.com and volumeBindingMode "
         "WaitForFirstConsumer."},
    };
    rail_words_run("volume-binding: {}", EARLY, alone, COUNT_OF(alone));
    /* Classes that wait, nearest in name first; not those of another kind of disk. */
    static const struct rail_words beside[] = {
        {CLAIM("c", "storageClassName: gp2"),
         "StorageClass \"gp2\" binds Immediately, so the disk is created before the pod is "
         "scheduled, perhaps in a zone where the pod cannot run.",
         "Name a class that waits for the pod: gp3, fast."},
        {STATEFUL_SET("2", MOUNTS("data"), ""),
         "Claim \"data\" is not bound, and its StorageClass \"gp2\" binds Immediately, so the disk "
         "is created before the pod is scheduled, perhaps in a zone where the pod cannot run.",
         "Make the claim anew with a class that waits for the pod: gp3, fast."},
    };
    rail_words_run("volume-binding: {}",
                   EARLY ANOTHER("fast", EBS WAITS) ANOTHER("gp3", EBS WAITS) ANOTHER("gp4", EBS)
                       ANOTHER("gp5", ", provisioner: pd.csi.storage.gke.io" WAITS),
                   beside, COUNT_OF(beside));
    static const struct rail_words many[] = {
        {CLAIM("c", "storageClassName: gp2"),
         "StorageClass \"gp2\" binds Immediately, so the disk is created before the pod is "
         "scheduled, perhaps in a zone where the pod cannot run.",
         "Name a class that waits for the pod: a, b, c, d, e (of 6)."}};
    rail_words_run("volume-binding: {}",
                   EARLY ANOTHER("a", EBS WAITS) ANOTHER("b", EBS WAITS) ANOTHER("c", EBS WAITS)
                       ANOTHER("d", EBS WAITS) ANOTHER("e", EBS WAITS) ANOTHER("f", EBS WAITS),
                   many, 1);
    static const struct rail_words of_default[] = {
        {CLAIM("c", "accessModes: [ReadWriteOnce]"),
         "The default StorageClass \"std\" binds Immediately, so the disk is created before the "
         "pod is scheduled, perhaps in a zone where the pod cannot run.",
         "Make a class with provisioner ebs.csi.aws.com and volumeBindingMode "
         "WaitForFirstConsumer."}};
    rail_words_run("volume-binding: {}",
                   "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: std, "
                   "annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}" EBS "}",
                   of_default, 1);
}

#define ONE_NODE CLAIM("data", "accessModes: [ReadWriteOnce]")

static void shared_volumes(void)
{
    static const struct rail_words rows[] = {
        {DEPLOYMENT("3", MOUNTS("data"), ""),
         "Several pods mount claim \"data\" (ReadWriteOnce), which only one node can attach. On "
         "another node a pod waits for ever (Multi-Attach).",
         "Use a ReadWriteMany claim of a shared file system (EFS, FSx, NFS), a StatefulSet with "
         "volumeClaimTemplates, or a required podAffinity of the pods to themselves by "
         "kubernetes.io/hostname."},
        {DEPLOYMENT("1", MOUNTS("data"), ""),
         "An update starts the new pod before the old one ends, and both mount claim \"data\" "
         "(ReadWriteOnce), which only one node can attach. On another node a pod waits for ever "
         "(Multi-Attach).",
         "Set spec.strategy to {type: Recreate}."},
        {STATEFUL_SET("2", MOUNTS("data"), ""),
         "Several pods mount claim \"data\" (ReadWriteOnce), which only one node can attach. On "
         "another node a pod waits for ever (Multi-Attach).",
         "Give each replica a claim of its own under volumeClaimTemplates, or use a ReadWriteMany "
         "claim of a shared file system (EFS, FSx, NFS)."},
        {DEPLOYMENT("3", MOUNTS("unseen"), ""),
         "Several pods mount claim \"unseen\", which is not visible. ReadWriteOnce would keep it "
         "to one node.",
         "Make the claim visible: name its file with -f, or use --state DIR."},
        {"{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}, spec: {template: {spec: "
         "{" MOUNTS("data") "}}}}",
         "A pod on every node mounts claim \"data\" (ReadWriteOnce), which only one node can "
         "attach. On another node a pod waits for ever (Multi-Attach).",
         "Use a ReadWriteMany claim of a shared file system (EFS, FSx, NFS), or give the pod of "
         "each node a volume of its own: ephemeral (volumes[].ephemeral), or of the node "
         "(hostPath)."},
        {"{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: 4, "
         "completions: 3, template: {spec: {" MOUNTS("data") "}}}}",
         "Several pods mount claim \"data\" (ReadWriteOnce), which only one node can attach. On "
         "another node a pod waits for ever (Multi-Attach).",
         "Use a ReadWriteMany claim of a shared file system (EFS, FSx, NFS), a volume of its own "
         "for each pod (ephemeral), or a required podAffinity of the pods to themselves by "
         "kubernetes.io/hostname."},
        {"{apiVersion: batch/v1, kind: CronJob, metadata: {name: j}, spec: {jobTemplate: {spec: "
         "{parallelism: 2, template: {spec: {" MOUNTS("data") "}}}}}}",
         "Several pods mount claim \"data\" (ReadWriteOnce), which only one node can attach. On "
         "another node a pod waits for ever (Multi-Attach).",
         "Use a ReadWriteMany claim of a shared file system (EFS, FSx, NFS), a volume of its own "
         "for each pod (ephemeral), or a required podAffinity of the pods to themselves by "
         "kubernetes.io/hostname."},
    };
    rail_words_run("shared-volume: {}", ONE_NODE, rows, COUNT_OF(rows));
}

const char unit_suite[] = "policy words: disks";
const struct unit_test unit_tests[] = {
    {"storage classes", storage_classes},
    {"claims", claims},
    {"shared volumes", shared_volumes},
    {NULL, NULL},
};
