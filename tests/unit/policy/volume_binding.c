/* The rail volume-binding: which StorageClasses bind too early, and what uses one. */
#include "rail_modes.h"
#include "rail_table.h"

#define CLASS(name, provisioner, rest)                                           \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " name \
    "}, provisioner: " provisioner rest "}"
#define EBS(rest) CLASS("a", "ebs.csi.aws.com", rest)
#define AUTO_EBS(rest) CLASS("a", "ebs.csi.eks.amazonaws.com", rest)
#define WAITS ", volumeBindingMode: WaitForFirstConsumer"
#define EARLY ", volumeBindingMode: Immediate"
#define TOPOLOGY(key, values) \
    ", allowedTopologies: [{matchLabelExpressions: [{key: " key ", values: [" values "]}]}]"
#define ZONE "topology.kubernetes.io/zone"

static void a_zonal_class_must_wait(void)
{
    static const char missing[] = "deny volumeBindingMode ";
    static const char early[] = "deny volumeBindingMode Immediate";
    static const struct rail_case cases[] = {
        {EBS(WAITS), ""},
        {EBS(EARLY), early},
        {EBS(""), missing},
        {EBS(", volumeBindingMode: null"), missing},
        {EBS(", volumeBindingMode: ''"), missing},
        {EBS(", volumeBindingMode: waitForFirstConsumer"),
         "deny volumeBindingMode waitForFirstConsumer"},
        {CLASS("a", "kubernetes.io/aws-ebs", ""), missing},
        {CLASS("a", "disk.csi.azure.com", ", parameters: {skuName: Premium_LRS}"), missing},
        {CLASS("a", "disk.csi.azure.com", ", parameters: {skuName: Premium_ZRS}"), ""},
        /* disks of storage accounts, and of both zones that the class names */
        {CLASS("a", "kubernetes.io/azure-disk", ", parameters: {kind: Dedicated}" EARLY), ""},
        {CLASS("a", "kubernetes.io/gce-pd",
               ", parameters: {replication-type: regional-pd, zones: 'a, b'}" EARLY),
         ""},
        /* file systems that every zone reaches */
        {CLASS("a", "efs.csi.aws.com", EARLY), ""},
        {CLASS("a", "efs.csi.aws.com", ""), ""},
        {"{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: a}}", ""},
        /* one zone leaves no choice; two do, and so does a term that names none */
        {EBS(EARLY TOPOLOGY(ZONE, "eu-west-1a")), ""},
        {EBS(TOPOLOGY("topology.ebs.csi.aws.com/zone", "eu-west-1a")), ""},
        {EBS(TOPOLOGY("topology.k8s.aws/zone-id", "euw1-az1")), ""},
        {EBS(EARLY TOPOLOGY(ZONE, "eu-west-1a, eu-west-1b")), early},
        {EBS(EARLY TOPOLOGY("topology.kubernetes.io/region", "eu-west-1")), early},
        {AUTO_EBS(EARLY TOPOLOGY("eks.amazonaws.com/compute-type", "auto")), early},
        {EBS(EARLY ", allowedTopologies: []"), early},
        {EBS(EARLY ", allowedTopologies: [{matchLabelExpressions: [{key: " ZONE
                   ", values: [a]}]}, {matchLabelExpressions: [{key: " ZONE ", values: [b]}]}]"),
         early},
        {EBS(EARLY ", allowedTopologies: [{matchLabelExpressions: [{key: " ZONE
                   ", values: [a]}]}, {}]"),
         early},
        {EBS(EARLY ", allowedTopologies: [{}, {matchLabelExpressions: [{key: " ZONE
                   ", values: [a]}, {key: topology.ebs.csi.aws.com/zone, values: [a]}]}]"),
         early},
        {EBS(EARLY ", allowedTopologies: [{matchLabelExpressions: [{key: " ZONE
                   ", values: [a]}]}, {matchLabelExpressions: [{key: kubernetes.io/os, values: "
                   "[linux]}, {key: topology.ebs.csi.aws.com/zone, values: [a]}]}]"),
         ""},
        /* a key twice in one term, as drivers had two: both hold, and one zone is left */
        {EBS(EARLY ", allowedTopologies: [{matchLabelExpressions: [{key: " ZONE
                   ", values: [a]}, {key: topology.ebs.csi.aws.com/zone, values: [a]}]}]"),
         ""},
        {EBS(EARLY ", allowedTopologies: [{matchLabelExpressions: [{key: " ZONE
                   ", values: [a, b]}, {key: topology.ebs.csi.aws.com/zone, values: [a]}]}]"),
         ""},
        {EBS(EARLY ", allowedTopologies: [{matchLabelExpressions: [{key: " ZONE
                   ", values: [a]}, {key: topology.ebs.csi.aws.com/zone, values: [a]}]}, "
                   "{matchLabelExpressions: [{key: " ZONE ", values: [b]}]}]"),
         early},
        {EBS(EARLY ", allowedTopologies: [{matchLabelExpressions: [{key: " ZONE
                   ", values: [a]}]}, {matchLabelExpressions: [{key: " ZONE ", values: [a]}]}]"),
         ""},
        {EBS(EARLY TOPOLOGY(ZONE, "")), early},
        {EBS(EARLY ", allowedTopologies: [{matchLabelExpressions: [{key: " ZONE ", values: a}]}]"),
         early},
        {EBS(EARLY ", allowedTopologies: [{matchLabelExpressions: [{key: " ZONE
                   ", values: {a: b}}]}]"),
         early},
        /* malformed: the API server's business, and no reason to stumble */
        {EBS(WAITS ", allowedTopologies: {a: b}"), ""},
        {EBS(WAITS ", allowedTopologies: [null, 5, {matchLabelExpressions: [5, {key: 5}]}]"), ""},
        {EBS(WAITS TOPOLOGY(ZONE, "5, null, ''")), ""},
    };
    rail_table_run(&(struct rail_table){"volume-binding: {}", NULL, cases, COUNT_OF(cases)});
}

/* In-tree and CSI, of every cloud; a class that waits is named instead, of the same cloud alone. */
static void every_zonal_driver_is_known(void)
{
    static const struct {
        const char *early, *waits, *elsewhere;
    } drivers[] = {
        {"kubernetes.io/aws-ebs", "ebs.csi.aws.com", "pd.csi.storage.gke.io"},
        {"kubernetes.io/aws-ebs", "ebs.csi.eks.amazonaws.com", "disk.csi.azure.com"},
        {"ebs.csi.aws.com", "ebs.csi.eks.amazonaws.com", "cinder.csi.openstack.org"},
        {"ebs.csi.eks.amazonaws.com", "kubernetes.io/aws-ebs", "kubernetes.io/cinder"},
        {"kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "ebs.csi.aws.com"},
        {"pd.csi.storage.gke.io", "kubernetes.io/gce-pd", "kubernetes.io/aws-ebs"},
        {"kubernetes.io/azure-disk", "disk.csi.azure.com", "kubernetes.io/gce-pd"},
        {"disk.csi.azure.com", "kubernetes.io/azure-disk", "ebs.csi.eks.amazonaws.com"},
        {"kubernetes.io/cinder", "cinder.csi.openstack.org", "kubernetes.io/azure-disk"},
        {"cinder.csi.openstack.org", "kubernetes.io/cinder", "kubernetes.io/aws-ebs"},
    };
    for (size_t i = 0; i < COUNT_OF(drivers); i++) {
        char class[256], cluster[1024];
        (void)snprintf(class, sizeof class, CLASS("a", "%s", EARLY), drivers[i].early);
        (void)snprintf(cluster, sizeof cluster,
                       "%s\n---\n" CLASS("mine", "%s", WAITS) "\n---\n" CLASS("b", "%s", WAITS),
                       class, drivers[i].waits, drivers[i].elsewhere);
        const struct rail_case wrong = {class, "deny volumeBindingMode Immediate"};
        rail_table_run(&(struct rail_table){"volume-binding: {}", NULL, &wrong, 1});
        static const struct rail_words words = {
            "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: "
            "{storageClassName: a}}",
            "StorageClass \"a\" binds Immediately, so the disk is created before the pod is "
            "scheduled, perhaps in a zone where the pod cannot run.",
            "Name a class that waits for the pod: mine."};
        rail_words_run("volume-binding: {}", cluster, &words, 1);
    }
}

static void the_list_of_provisioners_can_be_your_own(void)
{
    static const struct rail_case cases[] = {
        {CLASS("a", "csi.example.com", EARLY), "deny volumeBindingMode Immediate"},
        {CLASS("a", "csi.example.com", WAITS TOPOLOGY("csi.example.com/place", "b1")), ""},
        {EBS(EARLY), ""},
    };
    rail_table_run(&(struct rail_table){"volume-binding: {zonalProvisioners: [csi.example.com]}",
                                        NULL, cases, COUNT_OF(cases)});
    /* two drivers that no cloud is known of do not stand in for each other */
    static const struct rail_words claim = {
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: "
        "{storageClassName: a}}",
        "StorageClass \"a\" binds Immediately, so the disk is created before the pod is scheduled, "
        "perhaps in a zone where the pod cannot run.",
        "Name a class that waits for the pod: same."};
    rail_words_run(
        "volume-binding: {zonalProvisioners: [csi.example.com, csi.example.org]}",
        CLASS("a", "csi.example.com", EARLY) "\n---\n" CLASS(
            "other", "csi.example.org", WAITS) "\n---\n" CLASS("same", "csi.example.com", WAITS),
        &claim, 1);
}

#define AT "allowedTopologies[0].matchLabelExpressions[0]."

static void keys_and_zones_must_be_possible(void)
{
    static const struct rail_case cases[] = {
        {EBS(WAITS TOPOLOGY("failure-domain.beta.kubernetes.io/zone", "eu-west-1a")), ""},
        {EBS(WAITS TOPOLOGY("topology.ebs.csi.aws.com/outpost-id", "op-1")), ""},
        {EBS(WAITS TOPOLOGY("zone", "eu-west-1a")), "deny " AT "key zone"},
        {EBS(WAITS TOPOLOGY("zone-id", "euw1-az1")), "deny " AT "key zone-id"},
        {EBS(WAITS TOPOLOGY("z", "eu-west-1a")), "deny " AT "key z"},
        {EBS(WAITS TOPOLOGY("os", "linux")), "deny " AT "key os"},
        {EBS(WAITS TOPOLOGY("topology.kubernetes.io/zones", "eu-west-1a")),
         "deny " AT "key topology.kubernetes.io/zones"},
        {EBS(WAITS TOPOLOGY("example.com/rack", "1a")), "deny " AT "key example.com/rack"},
        {CLASS("a", "local.csi.example.com", WAITS TOPOLOGY("example.com/rack", "b1")), ""},
        {EBS(WAITS TOPOLOGY(ZONE, "\"<<AVAILABILITY_ZONE>>\"")),
         "deny " AT "values[0] <<AVAILABILITY_ZONE>>"},
        {CLASS("a", "efs.csi.aws.com", TOPOLOGY(ZONE, "\"${ZONE}\"")),
         "deny " AT "values[0] ${ZONE}"},
        /* what the drivers' nodes are told by */
        {EBS(WAITS TOPOLOGY("kubernetes.io/hostname", "a")), ""},
        {EBS(WAITS TOPOLOGY("kubernetes.io/os", "linux")), ""},
        {EBS(WAITS TOPOLOGY("topology.k8s.aws/zone-id", "euw1-az1")), ""},
        {EBS(WAITS TOPOLOGY("failure-domain.beta.kubernetes.io/region", "eu-west-1")), ""},
        {EBS(WAITS TOPOLOGY("topology.cinder.csi.openstack.org/zon", "a")),
         "deny " AT "key topology.cinder.csi.openstack.org/zon"},
        {EBS(WAITS TOPOLOGY("topology.gke.io/zon", "a")), "deny " AT "key topology.gke.io/zon"},
        {EBS(WAITS TOPOLOGY("topology.disk.csi.azure.com/zoen", "a")),
         "deny " AT "key topology.disk.csi.azure.com/zoen"},
        {EBS(WAITS TOPOLOGY("topology.ebs.csi.eks.amazonaws.com/zon", "a")),
         "deny " AT "key topology.ebs.csi.eks.amazonaws.com/zon"},
        /* the class of the EKS user guide; to the driver outside of Auto Mode the key says nothing
         */
        {AUTO_EBS(WAITS TOPOLOGY("eks.amazonaws.com/compute-type", "auto")), ""},
        {AUTO_EBS(WAITS TOPOLOGY(ZONE, "eu-west-1a")), ""},
        {AUTO_EBS(WAITS TOPOLOGY("eks.amazonaws.com/compute-typ", "auto")),
         "deny " AT "key eks.amazonaws.com/compute-typ"},
        {AUTO_EBS(WAITS TOPOLOGY("eks.amazonaws.com/nodegroup", "a")),
         "deny " AT "key eks.amazonaws.com/nodegroup"},
        {EBS(WAITS TOPOLOGY("eks.amazonaws.com/compute-type", "auto")),
         "deny " AT "key eks.amazonaws.com/compute-type"},
        /* nothing visible says which zones there are */
        {EBS(WAITS TOPOLOGY(ZONE, "us-east-2c")), ""},
    };
    rail_table_run(&(struct rail_table){"volume-binding: {}", NULL, cases, COUNT_OF(cases)});
}

#define NODE \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: node, labels: {" ZONE ": eu-west-1a}}}\n"
#define POOL(name, requirements)                                                \
    "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name \
    "}, spec: {template: {spec: {requirements: [" requirements "]}}}}\n"
#define IN_ZONE_B "{key: " ZONE ", operator: In, values: [eu-west-1b]}"
#define NODE_CLASS                                                                              \
    "---\n{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: c}, status: " \
    "{subnets: [{id: s, zone: eu-west-1c, zoneID: euw1-az3}]}}\n"

static const struct rail_case zone_a = {EBS(WAITS TOPOLOGY(ZONE, "eu-west-1a")), ""};

static void zones_are_held_against_what_is_visible(void)
{
    static const char denied[] = "deny " AT "values[0] us-east-2c";
    static const char warned[] = "warn " AT "values[0] us-east-2c";
#define ELSEWHERE EBS(WAITS TOPOLOGY(ZONE, "us-east-2c"))
    const struct {
        const char *cluster, *elsewhere;
    } clusters[] = {
        {NODE, denied},
        {NODE POOL("p", IN_ZONE_B), denied},
        {NODE POOL("p", IN_ZONE_B) POOL("q", ""), warned},
        {NODE POOL("p", IN_ZONE_B) POOL("q", "") NODE_CLASS, denied},
        {POOL("q", ""), ""},
        {POOL("p", IN_ZONE_B) POOL("q", ""), ""},
    };
    for (size_t i = 0; i < COUNT_OF(clusters); i++) {
        const struct rail_case elsewhere = {ELSEWHERE, clusters[i].elsewhere};
        rail_table_run(
            &(struct rail_table){"volume-binding: {}", clusters[i].cluster, &elsewhere, 1});
    }
    rail_table_run(&(struct rail_table){"volume-binding: {}", NODE, &zone_a, 1});
    static const struct rail_case everywhere[] = {
        {EBS(WAITS TOPOLOGY("topology.ebs.csi.aws.com/zone", "eu-west-1a")), ""},
        {EBS(WAITS TOPOLOGY(ZONE, "eu-west-1b")), ""},
        {EBS(WAITS TOPOLOGY(ZONE, "eu-west-1c")), ""},
        {EBS(WAITS TOPOLOGY("topology.k8s.aws/zone-id", "euw1-az3")), ""},
        {EBS(WAITS TOPOLOGY("topology.k8s.aws/zone-id", "euw1-az1")),
         "deny " AT "values[0] euw1-az1"},
    };
    rail_table_run(&(struct rail_table){"volume-binding: {}", NODE POOL("p", IN_ZONE_B) NODE_CLASS,
                                        everywhere, COUNT_OF(everywhere)});
}

#define CLASSES                                                                  \
    CLASS("gp2", "kubernetes.io/aws-ebs", "")                                    \
    "\n---\n" CLASS("gp3", "ebs.csi.aws.com", WAITS) "\n---\n" CLASS(            \
        "pd", "pd.csi.storage.gke.io",                                           \
        WAITS) "\n---\n" CLASS("efs", "efs.csi.aws.com",                         \
                               EARLY) "\n---\n" CLASS("here", "ebs.csi.aws.com", \
                                                      TOPOLOGY(ZONE, "eu-west-1a"))
#define DEFAULT_CLASS(name, created, rest)                                                      \
    "\n---\n{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " name         \
    ", creationTimestamp: '" created "', annotations: "                                         \
    "{storageclass.kubernetes.io/is-default-class: 'true'}}, provisioner: ebs.csi.aws.com" rest \
    "}"
#define CLAIM(annotations, spec)                                                                   \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, annotations: {" annotations \
    "}}, spec: {" spec "}}"
#define RESERVED(claim)                                                                        \
    "\n---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: for-" claim "}, spec: {" \
    "capacity: {storage: 5Gi}, claimRef: {namespace: default, name: " claim "}}}"
#define LEGACY "volume.beta.kubernetes.io/storage-class"
#define ANNOTATION "metadata.annotations[" LEGACY "] "

static void claims_must_use_a_class_that_waits(void)
{
    static const struct rail_case cases[] = {
        {CLAIM("", "storageClassName: gp3"), ""},
        {CLAIM("", "storageClassName: gp2"), "deny spec.storageClassName gp2"},
        {CLAIM("", "storageClassName: efs"), ""},
        {CLAIM("", "storageClassName: here"), ""},
        {CLAIM("", "storageClassName: ''"), ""},
        {CLAIM("", "storageClassName: gp2, volumeName: pv-1"), ""},
        {CLAIM("", "storageClassName: unseen"), "undecided spec.storageClassName unseen"},
        {CLAIM("", ""), "undecided spec.storageClassName "},
        {CLAIM("", "storageClassName: null"), "undecided spec.storageClassName "},
        {CLAIM("", "volumeName: pv-1"), ""},
        {CLAIM(LEGACY ": gp2", ""), "deny " ANNOTATION "gp2"},
        {CLAIM(LEGACY ": gp3", "storageClassName: gp2"), ""},
        {CLAIM(LEGACY ": ''", ""), ""},
        {"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}}",
         "undecided spec.storageClassName "},
    };
    rail_table_run(&(struct rail_table){"volume-binding: {}", CLASSES, cases, COUNT_OF(cases)});
    /* a volume that names the claim is bound to it, if it is large enough */
    static const struct rail_case restored[] = {
        {CLAIM("", "storageClassName: gp2"), ""},
        {CLAIM("", "storageClassName: unseen"), ""},
        {CLAIM("", "storageClassName: gp2, resources: {requests: {storage: 6Gi}}"),
         "deny spec.storageClassName gp2"},
    };
    rail_table_run(&(struct rail_table){"volume-binding: {}", CLASSES RESERVED("c"), restored,
                                        COUNT_OF(restored)});
}

/* ---- what is written by hand ---- */

#define SELECTED "volume.kubernetes.io/selected-node"
#define BY_HAND(key) "deny metadata.annotations[" key "] ip-1"
#define SET_OF(annotations)                                                                       \
    "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {template: {spec: {}}, " \
    "volumeClaimTemplates: [{metadata: {name: d, annotations: {" annotations                      \
    "}}, spec: {storageClassName: gp3}}]}}"

static void a_node_selected_by_hand(void)
{
    static const struct rail_case cases[] = {
        {CLAIM(SELECTED ": ip-1", "storageClassName: gp3"), BY_HAND(SELECTED)},
        {CLAIM("volume.alpha.kubernetes.io/selected-node: ip-1", "storageClassName: gp3"),
         BY_HAND("volume.alpha.kubernetes.io/selected-node")},
        {CLAIM(SELECTED ": ip-1", "storageClassName: gp3, volumeName: ''"), BY_HAND(SELECTED)},
        {CLAIM(SELECTED ": ip-1", "storageClassName: efs"), BY_HAND(SELECTED)},
        /* none, or of a claim that has its volume, as a dump shows it */
        {CLAIM(SELECTED ": ''", "storageClassName: gp3"), ""},
        {CLAIM(SELECTED ": null", "storageClassName: gp3"), ""},
        {CLAIM(SELECTED ": [ip-1]", "storageClassName: gp3"), ""},
        {CLAIM("Volume.kubernetes.io/selected-node: ip-1", "storageClassName: gp3"), ""},
        {CLAIM(SELECTED ": ip-1", "storageClassName: gp3, volumeName: pv-1"), ""},
        {SET_OF(SELECTED ": ip-1"),
         "deny spec.volumeClaimTemplates[0].metadata.annotations[" SELECTED "] ip-1"},
        {SET_OF(""), ""},
        {"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {volumes: [{name: d, ephemeral: "
         "{volumeClaimTemplate: {metadata: {annotations: {" SELECTED ": ip-1}}, spec: "
         "{storageClassName: gp3}}}}]}}",
         "deny spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.annotations[" SELECTED
         "] ip-1"},
    };
    rail_table_run(&(struct rail_table){"volume-binding: {}", CLASSES, cases, COUNT_OF(cases)});
    static const struct rail_words words = {
        CLAIM(SELECTED ": ip-1", "storageClassName: gp3"),
        "Only kube-scheduler should name node \"ip-1\" here. Otherwise the disk is made in that "
        "node's zone, wherever its pod may run.",
        "Remove the annotation, and choose a zone by the pod's node affinity."};
    rail_words_run("volume-binding: {}", CLASSES, &words, 1);
}

/* The claims that Kubernetes' own controllers make, and those that are there. */
static void what_controllers_write(void)
{
    static const struct {
        const char *object, *user;
        bool existing;
        enum action action;
    } rows[] = {
        {CLAIM(SELECTED ": ip-1", "storageClassName: gp3"), "jane", false, ACTION_DENY},
        {CLAIM(SELECTED ": ip-1", "storageClassName: gp3"),
         "system:serviceaccount:kube-system:statefulset-controller", false, ACTION_NONE},
        {CLAIM(SELECTED ": ip-1", "storageClassName: gp3"), "system:kube-scheduler", false,
         ACTION_NONE},
        {CLAIM(SELECTED ": ip-1", "storageClassName: gp3"), "system:serviceaccount:team:restore",
         false, ACTION_DENY},
        {CLAIM(SELECTED ": ip-1", "storageClassName: gp3"), "", true, ACTION_NONE},
        {SET_OF(SELECTED ": ip-1"), "", true, ACTION_DENY},
    };
    struct arena *arena = arena_create((size_t)32 << 20);
    struct world world = rail_table_world("volume-binding: {}", CLASSES, arena);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct rail_documents objects = rail_table_read(rows[i].object, arena);
        struct subject subject = {.operation = OPERATION_CREATE,
                                  .object = &objects.items[0],
                                  .existing = rows[i].existing,
                                  .requester = {.name = text_of(rows[i].user)}};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        ASSERT_INT(verdict.action, rows[i].action);
    }
    arena_destroy(arena);
}

#define VOLUME(name, zones)                                                                   \
    "\n---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name                  \
    "}, spec: {nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: " ZONE \
    ", operator: In, values: [" zones "]}]}]}}}}"
#define POOL_IN(requirements)                                                                     \
    "\n---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: p}, spec: {template: " \
    "{spec: {requirements: [" requirements "]}}}}"
#define VOLUMES                                                                                   \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: nfs}, spec: {}}" VOLUME("a", "za") \
        VOLUME("b", "zb") VOLUME("ab", "za, zb") VOLUME("labelled, labels: {" ZONE ": zb}",       \
                                                        "za, zb")                                 \
            VOLUME("torn, labels: {" ZONE ": zc}", "za, zb") "\n---\n" CLASS(                     \
                "in-a", "ebs.csi.aws.com",                                                        \
                WAITS TOPOLOGY(                                                                   \
                    ZONE,                                                                         \
                    "za")) "\n---\n" CLASS("anywhere", "ebs.csi.aws.com",                         \
                                           WAITS) "\n---\n" CLASS("in-none", "ebs.csi.aws.com",   \
                                                                  WAITS                           \
                                                                  ", allowedTopologies: "         \
                                                                  "[{matchLabelExpressions: "     \
                                                                  "[{key: " ZONE                  \
                                                                  ", values: [za]}, {key: " ZONE  \
                                                                  ", values: [zb]}]}]")

static void a_volume_named_by_hand(void)
{
    static const struct rail_case cases[] = {
        {CLAIM("", "storageClassName: in-a, volumeName: a"), ""},
        {CLAIM("", "storageClassName: in-a, volumeName: ab"), ""},
        {CLAIM("", "storageClassName: in-a, volumeName: b"), "warn spec.volumeName b"},
        /* its affinity has both zones, its label only one of them */
        {CLAIM("", "storageClassName: in-a, volumeName: labelled"),
         "warn spec.volumeName labelled"},
        {CLAIM("", "storageClassName: in-a, volumeName: nfs"), ""},
        /* its label and its affinity have no zone in common */
        {CLAIM("", "storageClassName: in-a, volumeName: torn"), ""},
        /* of a template many claims are made */
        {"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {template: {spec: "
         "{}}, volumeClaimTemplates: [{metadata: {name: d}, spec: {storageClassName: in-a, "
         "volumeName: b}}]}}",
         ""},
        {CLAIM("", "storageClassName: in-a, volumeName: unseen"), ""},
        {CLAIM("", "storageClassName: anywhere, volumeName: b"), ""},
        {CLAIM("", "storageClassName: in-none, volumeName: b"), ""},
        {CLAIM("", "storageClassName: unseen, volumeName: b"), ""},
        {CLAIM("", "storageClassName: '', volumeName: b"), ""},
    };
    rail_table_run(&(struct rail_table){"volume-binding: {}", VOLUMES, cases, COUNT_OF(cases)});
    static const struct rail_case nodes[] = {
        {CLAIM("", "storageClassName: anywhere, volumeName: a"), ""},
        {CLAIM("", "storageClassName: '', volumeName: b"), "warn spec.volumeName b"},
        {CLAIM("", "storageClassName: '', volumeName: ab"), ""},
    };
    rail_table_run(&(struct rail_table){
        "volume-binding: {}", VOLUMES POOL_IN("{key: " ZONE ", operator: In, values: [za]}"), nodes,
        COUNT_OF(nodes)});
    /* A pool that is open to all zones may make a node in any. */
    static const struct rail_case open[] = {{CLAIM("", "storageClassName: '', volumeName: b"), ""}};
    rail_table_run(&(struct rail_table){"volume-binding: {}", VOLUMES POOL_IN(""), open, 1});
    static const struct rail_words words = {
        CLAIM("", "storageClassName: in-a, volumeName: b"),
        "Volume \"b\" is in zb, which is none of the zones of StorageClass \"in-a\".",
        "Name a volume of a zone where the pod can run."};
    rail_words_run("volume-binding: {}", VOLUMES, &words, 1);
}

/* Five fit into a sentence. */
static void the_nearest_five_are_named(void)
{
#define ANOTHER(name) "\n---\n" CLASS(name, "ebs.csi.aws.com", WAITS)
#define EARLY_AND_FIVE                     \
    CLASS("gp2", "ebs.csi.aws.com", EARLY) \
    ANOTHER("gold") ANOTHER("fast") ANOTHER("slow") ANOTHER("gp3") ANOTHER("plain")
    static const char found[] =
        "StorageClass \"gp2\" binds Immediately, so the disk is created before the pod is "
        "scheduled, perhaps in a zone where the pod cannot run.";
    const struct rail_words of_five = {
        CLAIM("", "storageClassName: gp2"), found,
        "Name a class that waits for the pod: gp3, gold, fast, slow, plain."};
    const struct rail_words of_six = {
        CLAIM("", "storageClassName: gp2"), found,
        "Name a class that waits for the pod: gp3, gp4, gold, fast, slow (of 6)."};
    rail_words_run("volume-binding: {}", EARLY_AND_FIVE, &of_five, 1);
    rail_words_run("volume-binding: {}", EARLY_AND_FIVE ANOTHER("gp4"), &of_six, 1);
}

static void a_claim_without_a_class_gets_the_newest_default(void)
{
    static const struct rail_case early = {CLAIM("", ""), "deny spec.storageClassName "};
    static const struct rail_case fine = {CLAIM("", ""), ""};
#define OLD "2024-01-01T00:00:00Z"
#define NEW "2025-01-01T00:00:00Z"
    rail_table_run(&(struct rail_table){"volume-binding: {}",
                                        CLASSES DEFAULT_CLASS("first", OLD, ""), &early, 1});
    rail_table_run(&(struct rail_table){
        "volume-binding: {}",
        CLASSES DEFAULT_CLASS("first", OLD, "") DEFAULT_CLASS("second", NEW, WAITS), &fine, 1});
    rail_table_run(&(struct rail_table){
        "volume-binding: {}",
        CLASSES DEFAULT_CLASS("first", NEW, "") DEFAULT_CLASS("second", OLD, WAITS), &early, 1});
}

#define SET(spec) "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {" spec "}}"
#define EPHEMERAL(spec) "{name: e, ephemeral: {volumeClaimTemplate: {spec: {" spec "}}}}"
#define POD(volumes) \
    "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {volumes: [" volumes "]}}"
#define MOUNTED(claim) POD("{name: m, persistentVolumeClaim: {claimName: " claim "}}")
#define NAMED_CLAIM(name, spec)                                                   \
    "\n---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " name \
    "}, spec: {" spec "}}"

static void workloads_are_judged_by_their_claims(void)
{
    static const struct rail_case cases[] = {
        {SET("volumeClaimTemplates: [{spec: {storageClassName: gp3}}]"), ""},
        {SET("volumeClaimTemplates: [{metadata: {name: a}, spec: {storageClassName: gp3}}, "
             "{metadata: {name: b}, spec: {storageClassName: gp2}}]"),
         "deny spec.volumeClaimTemplates[1].spec.storageClassName gp2"},
        {SET("volumeClaimTemplates: [{metadata: {annotations: {" LEGACY ": gp2}}}]"),
         "deny spec.volumeClaimTemplates[0]." ANNOTATION "gp2"},
        {SET("volumeClaimTemplates: [null, 5]"),
         "undecided spec.volumeClaimTemplates[0].spec.storageClassName \n"
         "undecided spec.volumeClaimTemplates[1].spec.storageClassName "},
        {SET("volumeClaimTemplates: {}"), ""},
        {SET("template: {spec: {volumes: [" EPHEMERAL("storageClassName: gp2") "]}}"),
         "deny spec.template.spec.volumes[0].ephemeral.volumeClaimTemplate.spec.storageClassName "
         "gp2"},
        {POD("null, {name: x, emptyDir: {}}, " EPHEMERAL("storageClassName: gp3")), ""},
        {MOUNTED("early"), "deny spec.volumes[0].persistentVolumeClaim.claimName early"},
        {MOUNTED("bound"), ""},
        {MOUNTED("restored"), ""},
        {MOUNTED("late"), ""},
        {MOUNTED("unseen"), ""},
        {MOUNTED("elsewhere"), ""},
    };
    rail_table_run(&(struct rail_table){
        "volume-binding: {}",
        CLASSES NAMED_CLAIM("early", "storageClassName: gp2")
            NAMED_CLAIM("bound", "storageClassName: gp2, volumeName: pv-1")
                NAMED_CLAIM("restored", "storageClassName: gp2") RESERVED("restored")
                    NAMED_CLAIM("late", "storageClassName: gp3")
                        NAMED_CLAIM("elsewhere, namespace: other", "storageClassName: gp2"),
        cases, COUNT_OF(cases)});
}

#define STATIC(labels, spec) \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v" labels "}, spec: {" spec "}}"
#define CSI(driver, handle) "csi: {driver: " driver ", volumeHandle: " handle "}"

static void volumes_of_zonal_disks_name_their_zone(void)
{
#define FOUND "deny spec.nodeAffinity "
    static const struct rail_case cases[] = {
        {STATIC("", CSI("ebs.csi.aws.com", "vol-1")), FOUND},
        {STATIC("", CSI("ebs.csi.eks.amazonaws.com", "vol-1")), FOUND},
        {STATIC("", CSI("ebs.csi.aws.com", "vol-1") ", nodeAffinity: {}"), ""},
        {STATIC("", "awsElasticBlockStore: {volumeID: vol-1}"), FOUND},
        {STATIC("", "awsElasticBlockStore: {volumeID: {a: null}}"), FOUND},
        {STATIC("", "awsElasticBlockStore: {volumeID: 'aws://eu-west-1a'}"), FOUND},
        {STATIC("", "gcePersistentDisk: {pdName: d}"), FOUND},
        {STATIC(", labels: {" ZONE ": a__b}", "gcePersistentDisk: {pdName: d}"), ""},
        {STATIC("", CSI("pd.csi.storage.gke.io", "projects/p/zones/z/disks/d")), FOUND},
        {STATIC("", CSI("pd.csi.storage.gke.io", "projects/p/regions/r/disks/d")), ""},
        /* disks that may be in no zone, or in all */
        {STATIC("", CSI("disk.csi.azure.com", "/subscriptions/s/disks/d")), ""},
        {STATIC("", CSI("efs.csi.aws.com", "fs-1")), ""},
        {STATIC("", "nfs: {server: n, path: /}"), ""},
        {STATIC("", "csi: [5]"), ""},
    };
    rail_table_run(&(struct rail_table){"volume-binding: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case others[] = {{STATIC("", CSI("ebs.csi.aws.com", "vol-1")), ""}};
    rail_table_run(&(struct rail_table){"volume-binding: {zonalProvisioners: [example.com/disks]}",
                                        NULL, others, 1});
#define SAID                                                                                      \
    "Without nodeAffinity Karpenter may buy a node in a zone where the disk is not, and the pod " \
    "waits for ever."
#define IN_ZONE(zone)                                                                        \
    "Add spec.nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: " ZONE \
    ", operator: In, values: [" zone "]}]}]}}."
    static const struct rail_words words[] = {
        {STATIC(", labels: {" ZONE ": eu-west-1a}", CSI("ebs.csi.aws.com", "vol-1")), SAID,
         IN_ZONE("eu-west-1a")},
        {STATIC("", "awsElasticBlockStore: {volumeID: 'aws://eu-west-1b/vol-1'}"), SAID,
         IN_ZONE("eu-west-1b")},
        {STATIC("", CSI("pd.csi.storage.gke.io", "projects/p/zones/europe-west1-b/disks/d")), SAID,
         IN_ZONE("europe-west1-b")},
        {STATIC("", CSI("ebs.csi.aws.com", "'aws://<<ZONE>>/vol-1'")), SAID,
         "Add spec.nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: " ZONE
         ", operator: In, values: [ZONE]}]}]}}, with the zone of the disk for ZONE."},
    };
    rail_words_run("volume-binding: {}", NULL, words, COUNT_OF(words));
}

const char unit_suite[] = "policy volume-binding";
const struct unit_test unit_tests[] = {
    {"a zonal class must wait", a_zonal_class_must_wait},
    {"every zonal driver is known", every_zonal_driver_is_known},
    {"the list of provisioners can be your own", the_list_of_provisioners_can_be_your_own},
    {"keys and zones must be possible", keys_and_zones_must_be_possible},
    {"zones are held against what is visible", zones_are_held_against_what_is_visible},
    {"claims must use a class that waits", claims_must_use_a_class_that_waits},
    {"a node selected by hand", a_node_selected_by_hand},
    {"what controllers write", what_controllers_write},
    {"a volume named by hand", a_volume_named_by_hand},
    {"the nearest five are named", the_nearest_five_are_named},
    {"a claim without a class gets the newest default",
     a_claim_without_a_class_gets_the_newest_default},
    {"workloads are judged by their claims", workloads_are_judged_by_their_claims},
    {"volumes of zonal disks name their zone", volumes_of_zonal_disks_name_their_zone},
    {NULL, NULL},
};
